"""Enums and dates as properties of models: the stored values, and all ways to write and read them."""

import csv
import enum
import io
from datetime import date, datetime, timedelta, timezone
from typing import Any, Dict, List, Optional, Set

import pytest

import crealm
from crealm import Embedded, Model, field


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    NONE = 0
    SMALL = 1
    LARGE = 7


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Service(Embedded):
    day: date
    colour: Colour = Colour.BLUE


class Car(Model):
    id: int = field(primary_key=True)
    colour: Colour = Colour.RED
    second: Optional[Colour] = None
    size: Size = field(name="stored_size", index=True)
    access: Access
    built: date
    sold: Optional[date]
    colours: List[Colour]
    days: Set[date]
    by_name: Dict[str, Optional[Size]]
    service: Optional[Service]
    other: Optional["Car"]


class Strict(Model):
    id: int = field(primary_key=True)
    colour: Colour


DAY = date(2024, 2, 29)


@pytest.fixture
def cars(path):
    with crealm.open(path, schema=[Car, Strict]) as db:
        with db.write():
            first = db.add(Car(
                id=1, colour=Colour.BLUE, second=Colour.RED, size=Size.LARGE, access=Access.READ | Access.WRITE, built=DAY, sold=DAY,
                colours=[Colour.RED, Colour.BLUE], days={DAY, date(1, 1, 1)}, by_name={"a": Size.SMALL, "b": None}, service=Service(day=DAY)))
            db.add(Car(id=2, built=date(1969, 12, 31), other=first))
            db.add(Car(id=3, size=Size.SMALL))
        yield db


def test_values_come_back_as_they_were(cars):
    one, two, three = cars[Car]
    for car in (one, cars[Car].get(1)):
        assert (car.colour, car.second, car.size, car.access) == (Colour.BLUE, Colour.RED, Size.LARGE, Access.READ | Access.WRITE)
        assert type(car.size) is Size and type(car.built) is date and car.built == car.sold == DAY
        assert list(car.colours) == [Colour.RED, Colour.BLUE] and car.days == {DAY, date(1, 1, 1)}
        assert dict(car.by_name) == {"a": Size.SMALL, "b": None} and (car.service.day, car.service.colour) == (DAY, Colour.BLUE)
    assert (two.colour, two.second, two.size, two.access, two.sold) == (Colour.RED, None, Size.NONE, Access(0), None)
    assert two.built == date(1969, 12, 31) and three.built == date(1970, 1, 1)
    assert [car.colour for car in cars[Car]] == [Colour.BLUE, Colour.RED, Colour.RED]  # Read from pages.


def test_what_is_stored(path, cars):
    cars.close()
    with crealm.open(path) as db:
        car = db["Car"].get(1)
        assert (car.colour, car.stored_size, car.access) == ("blue", 7, 3)
        assert car.built == datetime(2024, 2, 29, tzinfo=timezone.utc) and list(car.colours) == ["red", "blue"]
        types = {name: str(prop) for name, prop in db.schema["Car"].properties.items()}
        assert (types["colour"], types["second"], types["stored_size"], types["built"]) == ("str", "Optional[str]", "int", "datetime")
        assert db.schema["Car"].properties["stored_size"].indexed


def test_plain_instances_have_the_same_values():
    car = Car(id=1)
    assert (car.colour, car.second, car.size, car.access, car.built, car.sold) == (Colour.RED, None, Size.NONE, Access(0), date(1970, 1, 1), None)
    assert Strict(id=1).colour is None


def test_changes(cars):
    car = cars[Car].get(3)
    with cars.write():
        car.colour, car.size, car.built = Colour.BLUE, 7, DAY  # A value is accepted in place of its member.
        car.colours = [Colour.RED]
        car.colours.append(Colour.BLUE)
        car.colours[0] = "blue"
        car.days.add(DAY)
        car.by_name["x"] = Size.LARGE
        car.access |= Access.WRITE
        car.service = {"day": DAY}
    assert (car.colour, car.size, car.built, car.access) == (Colour.BLUE, Size.LARGE, DAY, Access.WRITE)
    assert list(car.colours) == [Colour.BLUE] * 2 and DAY in car.days and car.by_name["x"] is Size.LARGE
    assert car.service.day == DAY and Colour.BLUE in car.colours and Colour.RED not in car.colours and "green" not in car.colours
    assert car.colours.index(Colour.BLUE) == 0
    with cars.write():
        assert cars[Car].where(Car.id == 3).update(colour=Colour.RED, built=date(2000, 1, 1), second=None) == 1
    assert car.colour is Colour.RED and car.built == date(2000, 1, 1)


@pytest.mark.parametrize("name, value, error, text", [
    ("colour", "gren", crealm.DataError, "Car.colour: 'gren' is no value of Colour"),
    ("colour", "rde", crealm.DataError, "did you mean 'red'"),
    ("colour", 3, crealm.TypeMismatch, "Car.colour: Needs Colour, not int"),
    ("colour", Size.LARGE, crealm.TypeMismatch, "Needs Colour, not Size"),
    ("colour", None, crealm.ConstraintError, "Cannot be None"),
    ("size", 2, crealm.DataError, "Car.size: 2 is no value of Size"),
    ("size", True, crealm.TypeMismatch, "Needs Size, not bool"),
    ("built", datetime(2024, 1, 1, tzinfo=timezone.utc), crealm.TypeMismatch, "Car.built: Needs date, not datetime"),
    ("built", "2024-01-01", crealm.TypeMismatch, "Needs date, not str"),
    ("colours", [Colour.RED, Size.NONE], crealm.TypeMismatch, "Car.colours: Needs Colour, not Size"),
])  # fmt: skip
def test_what_is_no_such_value(cars, name, value, error, text):
    car = cars[Car].get(1)
    before = car.to_dict()
    with cars.write():
        for change in (
            lambda: setattr(car, name, value),
            lambda: cars[Car].create(9, **{name: value}),
            lambda: cars.add(Car(id=9, **{name: value})),
            lambda: cars.add_many(Car, [{"id": number, name: value} for number in range(10, 30)]),
        ):
            with pytest.raises(error, match=text):
                change()
        assert len(cars[Car]) == 3
    assert car.to_dict() == before


def test_queries(cars):
    def found(*conditions):
        return [car.id for car in cars[Car].where(*conditions)]

    assert found(Car.colour == Colour.BLUE) == [1] and found(Car.colour.in_([Colour.RED, Colour.BLUE])) == [1, 2, 3]
    assert found(Car.size > Size.SMALL) == [1] and found(Car.size == Size.SMALL) == [3] and found(Car.second.is_none()) == [2, 3]
    assert found(Car.built == DAY) == [1] and found(Car.built < date(1970, 1, 1)) == [2] and found(Car.built.between(DAY, DAY)) == [1]
    assert found(Car.colours.contains(Colour.RED)) == [1] and found(Car.days == DAY) == [1]
    assert found("colour == $0 AND stored_size == $1 AND built == $2", Colour.BLUE, Size.LARGE, DAY) == [1]
    assert found("colour IN $0", [Colour.BLUE]) == [1] and found("access == $0", Access.READ | Access.WRITE) == [1]
    assert [car.id for car in cars[Car].sort("-built")] == [1, 3, 2]
    assert cars[Car].max("built") == DAY and cars[Car].max("size") is Size.LARGE and cars[Car].sum("size") == 8 and cars[Car].mean("size") == 8 / 3


def test_columns(cars):
    table = cars[Car]
    assert table.column("colour").to_list() == [Colour.BLUE, Colour.RED, Colour.RED]
    assert list(table.column(Car.size)) == [Size.LARGE, Size.NONE, Size.SMALL] and list(table.column("size").values) == [7, 0, 1]
    assert table.column("built")[0] == DAY and table.column("sold").to_list() == [DAY, None, None]
    assert table.column("other.second").to_list() == [None, Colour.RED, None]
    assert table.to_dicts()[0]["colour"] is Colour.BLUE and table.to_dicts()[1]["built"] == date(1969, 12, 31)
    assert table.get(1).to_json().startswith('{"id": 1, "colour": "blue", "second": "red", "size": 7, "access": 3, "built": "2024-02-29"')


@pytest.mark.parametrize("count", [1, 50])
def test_many_rows(path, count):
    rows = [{"id": i, "colour": Colour.BLUE, "size": Size.LARGE, "built": DAY + timedelta(i), "sold": None, "second": None} for i in range(count)]
    with crealm.open(path, schema=[Car]) as db, db.write():
        assert db.add_many(Car, rows) == count
        last = db[Car].get(count - 1)
        assert (last.colour, last.size, last.built, last.sold) == (Colour.BLUE, Size.LARGE, DAY + timedelta(count - 1), None)
        text = io.StringIO()
        csv.writer(text).writerows([["id", "colour", "size", "built", "sold"], *([100 + i, "red", 1, "2020-05-06", ""] for i in range(count))])
        text.seek(0)
        assert db.add_many(Car, text) == count
        last = db[Car].get(100)
        assert (last.colour, last.size, last.built, last.sold) == (Colour.RED, Size.SMALL, date(2020, 5, 6), None)


@pytest.mark.parametrize("count", [1, 50])
def test_a_value_that_cannot_be_left_out(path, count):
    with crealm.open(path, schema=[Car, Strict]) as db, db.write():
        for make in (
            lambda: db.add(Strict(id=1)),
            lambda: db[Strict].create(1),
            lambda: db.add_many(Strict, [{"id": i} for i in range(count)]),
        ):
            with pytest.raises(crealm.DataError, match="Strict.colour: needs a value or a default: '', which new objects have, is no Colour"):
                make()
        assert len(db[Strict]) == 0
        made = db.add(Strict(id=1, colour=Colour.RED))
        db.add_many(Strict, [{"id": 1}], update="modified")  # The object exists, so no new one needs the value.
        assert made.colour is Colour.RED


def test_a_stored_value_without_a_member(path):
    class Car(Model):
        id: int = field(primary_key=True)
        colour: str
        built: datetime

    with crealm.open(path, schema=[Car]) as db, db.write():
        db.add(Car(id=1, colour="green", built=datetime(2024, 5, 6, 23, 30, tzinfo=timezone.utc)))
        db.add(Car(id=2, colour="red"))

    class Car(Model):
        id: int = field(primary_key=True)
        colour: Colour
        built: date

    with crealm.open(path, schema=[Car]) as db:
        car = db[Car].get(1)
        assert car.built == date(2024, 5, 6)
        for _ in range(2):
            for row in (car, next(iter(db[Car]))):
                with pytest.raises(crealm.DataError, match="Car.colour: 'green' is no value of Colour"):
                    row.colour
        read = []
        for row in db[Car]:
            try:
                read.append(row.colour)
            except crealm.DataError:
                read.append(None)
        assert read == [None, Colour.RED]
        assert "DataError" in repr(car)
        with db.write():
            db[Car].where("colour == 'green'").update(colour=Colour.BLUE)
        assert car.colour is Colour.BLUE


class Mixed(enum.Enum):
    A = 1
    B = "b"


class Real(enum.Enum):
    A = 1.5


class Truth(enum.Enum):
    YES = True


@pytest.mark.parametrize("type_", [Mixed, Real, Truth, enum.Enum, enum.Enum("Empty", [])])
def test_enums_that_cannot_be_stored(path, type_):
    made = type("Made", (Model,), {"__annotations__": {"a": type_}, "__module__": __name__})
    with pytest.raises(crealm.SchemaError, match="Made.a: .* cannot be stored"):
        crealm.open(path, schema=[made])


def test_classes_that_are_no_models(path):
    for type_ in (Colour, date, Optional[Colour], List[date]):
        with pytest.raises(crealm.SchemaError, match="belong to model classes"):
            crealm.ClassSchema("Car", {"a": type_})
    with pytest.raises(crealm.TypeMismatch), crealm.memory(schema=[crealm.ClassSchema("Car", {"a": Any})]) as db, db.write():
        db["Car"].create(a=DAY)  # The stored value would not show that it was a date.


def test_a_missing_method_is_asked(path):
    class Known(enum.Enum):
        UNKNOWN = 0
        ONE = 1

        @classmethod
        def _missing_(cls, value):
            return cls.UNKNOWN

    made = type("Made", (Model,), {"__annotations__": {"a": Known}, "__module__": __name__})
    with crealm.open(path, schema=[crealm.ClassSchema("Made", {"a": int})]) as db, db.write():
        db["Made"].create(a=5)
    with crealm.open(path, schema=[made]) as db:
        assert db[made][0].a is Known.UNKNOWN


def test_object_ids_of_clocks_outside_of_32_bits(monkeypatch):
    for seconds in (-1, -(2**40), 2**32, 2**40 + 7):
        monkeypatch.setattr("crealm.values.time.time", lambda: float(seconds))
        assert crealm.ObjectId().bytes[:4] == (seconds & 0xFFFFFFFF).to_bytes(4, "big")
