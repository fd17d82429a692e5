"""People and their friends: open a realm file, add some objects, read them back.

    python people.py people.realm

The file is made when it does not exist. The C example, examples/c/people.c, makes the same kind of
file: run it first, and its people are here too.
"""

import sys

import crealm

PERSON = crealm.ClassSchema(
    "Person",
    {
        "id": int,
        "name": str,
        "age": int,
        "city": crealm.Prop(str, indexed=True),
        "friend": "Person",  # A link: None, or another person.
    },
    primary_key="id",
)


def main(path: str) -> None:
    with crealm.open(path, schema=[PERSON], schema_version=1) as db:
        people = db["Person"]
        next_id = max((person.id for person in people), default=0) + 1

        # All of it reaches the disk when the block ends, or none of it if the block fails.
        with db.write():
            ada = people.create(next_id, name="Ada", age=36, city="London")
            bob = people.create(next_id + 1, name="Bob", age=41, city="Oslo", friend=ada)
            ada.friend = bob
            bob.age += 1

        try:
            with db.write():
                bob.city = "Nowhere"
                raise ValueError("changed my mind")
        except ValueError:
            pass  # Bob is still in Oslo.

        print(f"{len(people)} people in {path}")
        for person in people:
            friend = person.friend.name if person.friend else "nobody"
            print(f"  {person.id:3}  {person.name:10} {person.age:3}  {person.city:10} likes {friend}")

        admirers = ada.backlinks("Person", "friend")
        print("Ada is liked by", ", ".join(person.name for person in admirers))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python people.py FILE")
    main(sys.argv[1])
