"""Makes phone.realm, the file that the examples of these pages read: the diary of an app for hikers.

    python phone.py
"""

from datetime import datetime, timezone
from typing import Optional

import crealm


class Person(crealm.Model):
    id: int = crealm.field(primary_key=True)
    name: str = crealm.field(index=True)
    born: int
    city: Optional[str] = None


class Place(crealm.Embedded):
    name: str
    height: int


class Trip(crealm.Model):
    id: int = crealm.field(primary_key=True)
    title: str
    day: datetime
    km: float
    owner: Optional[Person]
    companions: list[Person]
    places: list[Place]
    tags: set[str]


def make(path: str) -> None:
    ann = Person(id=1, name="Ann", born=1990, city="Oslo")
    bo = Person(id=2, name="Bo", born=1985, city="Bergen")
    chloe = Person(id=3, name="Chloé", born=2001, city="Oslo")
    dan = Person(id=4, name="Dan", born=1972)
    with crealm.open(path, schema=[Person, Trip], schema_version=1) as db, db.write():
        for person in ann, bo, chloe, dan:
            db.add(person)
        for number, (title, day, km, owner, companions, places, tags) in enumerate([
            ("Lakes", 3, 12.5, ann, [bo], [Place(name="Hut", height=420), Place(name="Mill", height=310)], {"easy", "water"}),
            ("Ridge", 9, 21.0, bo, [ann, chloe], [Place(name="Peak", height=1883)], {"steep"}),
            ("Coast", 14, 17.2, chloe, [], [], {"water"}),
            ("Forest", 20, 8.0, ann, [chloe], [Place(name="Hut", height=420)], set()),
            ("Glacier", 28, 25.4, dan, [ann, bo, chloe], [Place(name="Peak", height=2074)], {"steep", "ice"}),
        ], 1):
            db.add(Trip(
                id=number, title=title, day=datetime(2024, 5, day, 8, tzinfo=timezone.utc), km=km, owner=owner,
                companions=companions, places=places, tags=tags))


if __name__ == "__main__":
    make("phone.realm")
