"""Values that are unique without being the primary key.

Before: only the primary key of a Realm class is unique. A program searches for the mail address before it adds a user,
and each program that writes the file must do so.
Now: any property is unique if the class says so, also without regard to case. Values can be swapped in one write.
"""

import tempfile

import crealm


class User(crealm.Model):
    id: int = crealm.field(primary_key=True)
    mail: str
    desk: int = crealm.field(unique=True)

    class Meta:
        unique = [{"properties": ["mail"], "ignore_case": True}]


with tempfile.TemporaryDirectory() as folder, crealm.open(f"{folder}/users.realm", schema=[User]) as db:
    with db.write():
        ann = db.add(User(id=1, mail="ann@example.com", desk=1))
        bob = db.add(User(id=2, mail="bob@example.com", desk=2))
    try:
        with db.write():
            db.add(User(id=3, mail="Ann@Example.com", desk=3))
    except crealm.RuleBroken as error:
        print("refused:", error.message)
    with db.write():
        ann.desk, bob.desk = bob.desk, ann.desk
    found = db.find_unique(User, mail="BOB@example.com")
    assert found == bob and len(db[User]) == 2
    print(f"{found.mail} has desk {found.desk}")
