"""A key of several properties.

Before: a class of Realm has one property as its primary key. For a key of two, programs join both values into a text,
such as "1-a", and must keep it right when one of them changes.
Now: any properties together are the key. Objects are found by it, and no two objects have the same.
"""

import tempfile

import crealm


class Seat(crealm.Model):
    row: int
    column: str
    guest: str

    class Meta:
        primary_key = ("row", "column")


with tempfile.TemporaryDirectory() as folder, crealm.open(f"{folder}/hall.realm", schema=[Seat]) as db:
    with db.write():
        db.add(Seat(row=1, column="a", guest="Ann"))
        db.add(Seat(row=1, column="b", guest="Bob"))
        db.add(Seat(row=1, column="b", guest="Cyd"), update="modified")  # The same seat, so it is changed.
    for key in ((1, "a"), (1, "b"), (2, "a")):
        seat = db[Seat].get(key)
        print(key, "is free" if seat is None else f"is the seat of {seat.guest}")
    try:
        with db.write():
            db.add(Seat(row=1, column="a", guest="Dan"))
    except crealm.DuplicateKeyError:
        print("row 1, column a: there is a guest already")
    assert len(db[Seat]) == 2
