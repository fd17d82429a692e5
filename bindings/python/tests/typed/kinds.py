"""Enums and dates in models."""

import enum
from datetime import date
from typing import Optional

import crealm


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Car(crealm.Model):
    colour: Colour
    built: crealm.Field[date] = crealm.field(default=date(2000, 1, 1))
    second: Optional[Colour] = None


if __name__ == "__main__":
    with crealm.memory(schema=[Car]) as db:
        with db.write():
            car = db.add(Car(colour=Colour.RED))
            car.colour = "red"  # E: assignment reportAttributeAccessIssue
            Car(colour=3)  # E: arg-type reportArgumentType
        built: date = db[Car].where(Car.colour == Colour.RED, Car.built < date(2001, 1, 1)).one().built
        assert built == date(2000, 1, 1) and car.second is None
