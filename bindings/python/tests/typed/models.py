"""Models and what type checkers say of them: `E:` names the errors that belong to a line, every other line is right.

This program runs, too: what the checkers promise is what there is."""

from datetime import datetime, timezone
from typing import Any, List, Optional, Union

import crealm


class Address(crealm.Embedded):
    street: str
    city: str = ""


class Dog(crealm.Model):
    name: str
    age: int = 0


class Person(crealm.Model):
    id: crealm.Field[int] = crealm.field(primary_key=True)
    name: crealm.Field[str]
    age: crealm.Field[int] = crealm.field(default=0)
    born: Optional[datetime] = None
    boss: crealm.Field[Optional["Person"]] = crealm.field(default=None)
    address: Optional[Address] = None
    dogs: crealm.List[Dog] = crealm.field(default_factory=list)
    tags: crealm.SetView[str] = crealm.field(default_factory=set)
    marks: crealm.Dictionary[int] = crealm.field(default_factory=dict)
    nicknames: list[str] = []
    notes: dict[str, Any] = {}
    staff: crealm.Backlinks["Person"] = crealm.backlinks("Person", "boss")


def use(db: crealm.Database) -> None:
    people: crealm.Table[Person] = db[Person]
    with db.write():
        rex = Dog(name="Rex", age=3)
        ann: Person = db.add(Person(id=1, name="Ann", dogs=[rex], tags={"a"}))
        bob = people.create(2, name="Bob", boss=ann, born=datetime(1990, 1, 1, tzinfo=timezone.utc))
        bob.dogs.append(Dog(name="Bo"))
        bob.dogs = [rex]
        bob.nicknames.append("Bobby")
        bob.marks["a"] = 1

    found: crealm.Results[Person] = people.where(Person.age >= 0, Person.name.startswith("A", fold=True)).sort(-Person.age)
    first: Optional[Person] = found.first()
    one: Person = found.one()
    some: Optional[Person] = people.get(1)
    other: Union[Person, int] = people.get(99, 0)
    names: List[str] = [person.name for person in found]
    dogs: crealm.Results[Dog] = one.dogs.where(Dog.age > 1)
    dog: Dog = one.dogs[0]
    staff: crealm.Results[Person] = one.staff
    mark: int = bob.marks["a"]
    condition: crealm.Condition = (Person.age < 3) & ~Person.dogs.any(Dog.name == "Rex") | Person.boss.name.is_none()
    by_age: crealm.Results[Person] = people.where(condition).sort("name").distinct(Person.name).limit(2).snapshot()
    assert first == one == some == ann and other == 0 and names == ["Ann"] and mark == 1
    assert list(dogs) == [dog] == [rex] and list(staff) == [bob] and list(by_age) == [ann]
    plain: Any = db["Person"].first()  # Rows of classes that go by name may have any attribute.
    assert plain.name == "Ann"


def wrong(db: crealm.Database, ann: Person) -> None:
    ann.nmae  # E: attr-defined reportAttributeAccessIssue
    ann.nmae = "Ann"  # E: attr-defined reportAttributeAccessIssue
    Person.agee  # E: attr-defined reportAttributeAccessIssue
    Person(id=1)  # E: call-arg reportCallIssue
    Person(id=1, name="Ann", agee=3)  # E: call-arg reportCallIssue
    Person(id="1", name="Ann")  # E: arg-type reportArgumentType
    Person(1, "Ann")  # E: call-arg reportCallIssue
    ann.age = "3"  # E: assignment reportAttributeAccessIssue
    ann.dogs.append(ann)  # E: arg-type reportArgumentType
    ann.dogs = [ann]  # E: list-item reportAttributeAccessIssue
    db[Person].get(1).name  # E: union-attr reportOptionalMemberAccess
    db[Person].first().name  # E: union-attr reportOptionalMemberAccess
    number: int = db[Person].where("age > 3").one().name  # E: assignment reportAssignmentType
    dog: Dog = db[Person][0]  # E: assignment reportAssignmentType
    db[Dog].add(ann)  # E: attr-defined reportAttributeAccessIssue
    print(number, dog)


if __name__ == "__main__":
    with crealm.memory(schema=[Person]) as memory:
        use(memory)
