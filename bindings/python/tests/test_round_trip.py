"""Data frames are exported and imported again without loss, for every type, through pandas, polars and pyarrow."""

import datetime as dt
import random
import struct
import uuid
from decimal import Decimal
from typing import Any, Dict, List, Optional, Set

import crealm
import pytest

UTC = dt.timezone.utc
EPOCH = dt.datetime(1970, 1, 1, tzinfo=UTC)
KINDS: Dict[str, Any] = {
    "i": int, "b": bool, "s": str, "y": bytes, "t": dt.datetime, "f": crealm.Float32, "d": float, "n": Decimal, "o": crealm.ObjectId, "u": uuid.UUID}
# Classes to link to, by the type of their primary key.
TARGETS = {"ByInt": int, "ByText": str, "ByObjectId": crealm.ObjectId, "ByUuid": uuid.UUID, "NoKey": None}


def properties():
    found: Dict[str, Any] = {"id": int, "age": int, "any": Any, "anys": List[Any], "bag": Dict[str, Any], "set": Set[Any]}
    for name, kind in KINDS.items():
        found.update({
            name: kind, f"{name}_or_none": Optional[kind], f"{name}_list": List[kind], f"{name}_nones": List[Optional[kind]],
            f"{name}_set": Set[kind], f"{name}_dict": Dict[str, Optional[kind]]})
    for target in TARGETS:
        found.update({
            f"to_{target}": target, f"list_{target}": List[target], f"set_{target}": Set[target],  # type: ignore[valid-type]
            f"dict_{target}": Dict[str, target]})  # type: ignore[valid-type]
    found.update({"part": "Part", "parts": list["Part"], "rooms": dict[str, "Part"], "next": "Row"})
    return found


def schema():
    part: Dict[str, Any] = {"name": str, "any": Any, "sizes": List[int], "by": "ByInt", "when": Optional[dt.datetime]}
    classes = [crealm.ClassSchema("Row", properties(), primary_key="id"), crealm.ClassSchema("Part", part, embedded=True)]
    for name, key in TARGETS.items():
        made = {"x": int} if key is None else {"id": key, "x": int}
        classes.append(crealm.ClassSchema(name, made, primary_key=None if key is None else "id"))
    return classes


class Values:
    """Random values of all kinds."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def single(self, kind: str) -> Any:
        r = self.random
        text = "".join(r.choices('abcäß€𝄞 \\"\n\x01{}[]$', k=r.choice((0, 1, 5, 40))))
        return {
            "i": lambda: r.choice((0, -1, 2**63 - 1, -(2**63), r.getrandbits(50))),
            "b": lambda: r.random() < 0.5,
            "s": lambda: r.choice((text, "5", "null", '{"json":"1"}', "[1]")),
            "y": lambda: r.randbytes(r.choice((0, 1, 12, 16))),
            "t": lambda: EPOCH + dt.timedelta(microseconds=r.randrange(-(2**52), 2**52)),
            "f": lambda: crealm.Float32(r.choice((0.1, -0.0, 1e30, float("nan"), float("inf")))),
            "d": lambda: r.choice((0.1, -0.0, 1e300, float("nan"), float("-inf"), -float("nan"), 5.0)),
            "n": lambda: r.choice((Decimal("1.50"), Decimal("-0"), Decimal("1E+10"), Decimal("NaN"), Decimal("-Infinity"), Decimal(10) ** 33)),
            "o": lambda: crealm.ObjectId(r.randbytes(12)),
            "u": lambda: uuid.UUID(bytes=r.randbytes(16)),
        }[kind]()

    def any(self, objects: List[Any], depth: int = 0) -> Any:
        r = self.random
        choice = r.randrange(16)
        if choice < 10:
            return self.single("ibsytfdnou"[choice])
        if choice == 10:
            return None
        if choice == 11:
            return r.choice(objects)
        if depth > 2:
            return 1
        if choice < 14:
            return [self.any(objects, depth + 1) for _ in range(r.randrange(4))]
        return {f"k{number}": self.any(objects, depth + 1) for number in range(r.randrange(4))}

    def flat(self, objects: List[Any]) -> Any:
        found = self.any(objects, 9)
        return 0 if isinstance(found, (list, dict)) else found


def fill(db, seed: int, count: int) -> None:
    values, r = Values(seed), random.Random(seed)
    with db.write():
        targets = {}
        for name, key in TARGETS.items():
            made = []
            for number in range(1, 5):
                keys = {int: number * 10, str: str(number), crealm.ObjectId: crealm.ObjectId(bytes([number] * 12)), uuid.UUID: uuid.UUID(int=number)}
                made.append(db[name].create(x=number, **({} if key is None else {"id": keys[key]})))
            targets[name] = made
        made = [db["Row"].create(id=number * 3 + 1) for number in range(count)]
        everything = made + [one for some in targets.values() for one in some]
        for row in made:
            row.age, row.next = r.randrange(90), r.choice([None, *made])
            row.any, row.anys = values.any(everything), [values.any(everything) for _ in range(r.randrange(5))]
            row.bag = {f"b{number}": values.any(everything) for number in range(r.randrange(4))}
            for _ in range(r.randrange(5)):
                row.set.add(values.flat(everything))
            for name in KINDS:
                row[name] = values.single(name)
                row[f"{name}_or_none"] = r.choice((None, values.single(name), values.single(name)))
                row[f"{name}_list"] = [values.single(name) for _ in range(r.randrange(4))]
                row[f"{name}_nones"] = [r.choice((None, values.single(name))) for _ in range(r.randrange(4))]
                row[f"{name}_set"] = {values.single(name) or 1 if name == "n" else values.single(name) for _ in range(r.randrange(4))}
                row[f"{name}_dict"] = {f"k{number}": r.choice((None, values.single(name))) for number in range(r.randrange(4))}
            for name, some in targets.items():
                row[f"to_{name}"] = r.choice([None, *some])
                row[f"list_{name}"] = r.choices(some, k=r.randrange(4))
                row[f"set_{name}"] = set(r.choices(some, k=r.randrange(4)))
                row[f"dict_{name}"] = {f"k{number}": r.choice([None, *some]) for number in range(r.randrange(3))}

            def part():
                return {
                    "name": values.single("s"), "any": values.any(everything), "sizes": [1, 2], "by": r.choice([None, *targets["ByInt"]]),
                    "when": r.choice((None, values.single("t")))}

            row.part = r.choice((None, part()))
            row.parts = [part() for _ in range(r.randrange(3))]
            row.rooms = {f"r{number}": r.choice((None, part())) for number in range(r.randrange(3))}


def shown(value: Any, named: bool) -> Any:
    """A value in a form that is different for each type; objects by their primary keys, or by their keys."""
    if isinstance(value, crealm.Object):
        bound = value._bound()
        if bound.schema.embedded:
            return {name: shown(value[name], named) for name in bound.properties}
        return (value.class_name, value["id"] if named and bound.primary_key is not None else value.object_key)
    if isinstance(value, float):
        return (type(value).__name__, struct.pack(">d", value))
    if isinstance(value, (str, bytes, bool, int, type(None), dt.datetime, Decimal, uuid.UUID, crealm.ObjectId)):
        return (type(value).__name__, repr(value))
    if hasattr(value, "items"):
        return {key: shown(element, named) for key, element in value.items()}
    found = [shown(element, named) for element in value]
    return sorted(map(repr, found)) if isinstance(value, crealm.SetView) else found


def content(db, without=(), named=False):
    return [{name: shown(row[name], named) for name in row._bound().properties if name not in without} for row in db["Row"].sort("id")]


def differences(found, wanted):
    return [
        (row["id"], name, row[name], other[name]) for row, other in zip(found, wanted) for name in other if row[name] != other[name]]


def through(library: str, rows, change: bool):
    """The rows through a data frame of a package; `change` adds a year to each age in it."""
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    if library == "pandas":
        frame = rows.to_pandas()
        if change:
            frame["age"] += 1
        return frame
    if library == "polars":
        frame = rows.to_polars()
        return frame.with_columns(module.col("age") + 1) if change else frame
    table = rows.to_arrow()
    if change:
        import pyarrow.compute

        place = table.column_names.index("age")
        table = table.set_column(place, "age", pyarrow.compute.add(table["age"], 1))
    return table


LIBRARIES = ("pandas", "polars", "pyarrow")


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("update", ["modified", "all"])
def test_frames_written_back_change_what_was_changed(path, library, update):
    with crealm.open(path, schema=schema()) as db:
        fill(db, 3, 40)
        before = content(db, without=("age",))
        ages = [row.age for row in db["Row"]]
        frame = through(library, db["Row"], change=True)
        with db.write():
            assert db.add_many("Row", frame, update=update) == 40
        assert differences(content(db, without=("age",)), before) == []
        assert [row.age for row in db["Row"]] == [age + 1 for age in ages]
        assert db.verify() == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_keep_unchanged_objects_unchanged(path, library):
    """Nothing differs, so observers are not called."""
    with crealm.open(path, schema=schema()) as db:
        fill(db, 5, 20)
        told = []
        observation = db["Row"].observe(told.append)
        frame = through(library, db["Row"], change=False)
        without = [name for name, prop in db["Row"].schema.properties.items() if name in ("part", "parts", "rooms")]  # Embedded objects are created again.
        frame = frame.drop(columns=without) if library == "pandas" else frame.drop(without)
        with db.write():
            db.add_many("Row", frame, update="modified")
        db.refresh()
        assert not any(getattr(change, "modifications", None) for change in told[1:])
        observation.cancel()


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("seed", range(6))
def test_frames_make_the_same_objects_elsewhere(tmp_path, library, seed):
    """Another database has other object keys, so links are written as primary keys."""
    with crealm.open(tmp_path / "a.realm", schema=schema()) as db, crealm.open(tmp_path / "b.realm", schema=schema()) as other:
        fill(db, seed, 15)
        with other.write():
            for name in TARGETS:  # The targets in another order, after other objects.
                for row in reversed(list(db[name])):
                    values = {prop: row[prop] for prop in row._bound().properties}
                    if name != "NoKey":
                        other[name].create(**values)
        without = [name for name in db["Row"].schema.properties if name.endswith("NoKey")]
        with db.write():  # Links to objects without a primary key cannot be moved to another database.
            for row in db["Row"]:
                for name in ("any", "anys", "bag", "set", "part", "parts", "rooms"):
                    if "NoKey" in repr(shown(row[name], False)):
                        row[name] = None if name in ("any", "part") else {} if name in ("bag", "rooms") else set() if name == "set" else []
        frame = through(library, db["Row"], change=False)
        frame = frame.drop(columns=without) if library == "pandas" else frame.drop(without)
        with other.write():
            assert other.add_many("Row", frame, batch=100) == 15
        assert differences(content(other, without, named=True), content(db, without, named=True)) == []
        assert other.verify() == []


class Person(crealm.Model):
    id: int = crealm.field(primary_key=True)
    age: int = 0
    boss: Optional["Person"] = None
    any: Any = None
    nums: List[int]


@pytest.fixture
def people(path):
    with crealm.open(path, schema=[Person]) as db:
        with db.write():
            first, second, third = (db.add(Person(id=number)) for number in (2, 0, 1))
            first.boss, second.boss = second, third  # Their object keys are 1 and 2, which are primary keys of other objects.
            first.any, second.any, third.any = {"n": [3]}, "text", 5
        yield db


@pytest.mark.parametrize("library", LIBRARIES)
def test_links_are_not_rewired_and_mixed_values_no_texts(people, library):
    frame = through(library, people[Person], change=True)
    with people.write():
        people.add_many(Person, frame, update="modified")
    first, second, third = people[Person]
    assert (first.boss, second.boss, third.boss) == (second, third, None)
    assert first.to_dict()["any"] == {"n": [3]}
    assert (second.any, third.any) == ("text", 5) and [person.age for person in people[Person]] == [1, 1, 1]


def test_values_of_python_in_a_frame_of_pandas(people):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    frame = pandas.DataFrame({"id": [5, 6, 7, 8], "any": [{"n": [3, {"m": b"x"}]}, "5", 7, None]})
    with people.write():
        people.add_many(Person, frame)
    found = [people[Person].get(number).any for number in (5, 6, 7, 8)]
    assert dict(found[0])["n"][1]["m"] == b"x" and found[1:] == ["5", 7, None]
    for wrong in (object(), 2**64):
        bad = pandas.DataFrame({"id": [20, 21], "any": [1, [wrong]]})
        with pytest.raises(crealm.DataError, match="Row 1, column 'any'"), people.write():
            people.add_many(Person, bad)
    bad = pandas.DataFrame({"id": [20, 21], "nums": [[1], ["x"]]})
    with pytest.raises(crealm.DataError, match="Row 1"), people.write():
        people.add_many(Person, bad)
    assert people[Person].get(20) is None


def test_json_texts_of_other_tools(people):
    """A column whose metadata declare JSON of Mixed values is parsed; without such metadata a text stays a text."""
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    fields = [pyarrow.field("id", pyarrow.int64()), pyarrow.field("any", pyarrow.string(), metadata={"realm.mixed": "json"})]
    table = pyarrow.table([[5, 6], ['{"n":[3]}', '"x"']], schema=pyarrow.schema(fields))
    with people.write():
        people.add_many(Person, table)
        people.add_many(Person, pyarrow.table({"id": [7], "any": ['{"n":[3]}']}))
    assert dict(people[Person].get(5).any)["n"][0] == 3 and people[Person].get(6).any == "x"
    assert people[Person].get(7).any == '{"n":[3]}'
    table = pyarrow.table([[8, 9], ["1", "{"]], schema=pyarrow.schema(fields))
    with pytest.raises(crealm.DataError, match="Row 1, property 'Person.any'"), people.write():
        people.add_many(Person, table)
    assert people[Person].get(8) is None


def test_a_link_to_an_object_whose_primary_key_is_null(path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    classes = [
        crealm.ClassSchema("A", {"id": int, "b": "B"}, primary_key="id"), crealm.ClassSchema("B", {"id": Optional[int]}, primary_key="id")]
    with crealm.open(path, schema=classes) as db:
        with db.write():
            db["A"].create(id=1, b=db["B"].create(id=4))
            db["A"].create(id=2, b=db["B"].create(id=None))
        with pytest.raises(Exception, match="Column 'b' of the object with key 1: a link to the object of class 'B' whose primary key is null"):
            db["A"].to_arrow()
        assert db["A"].to_arrow("id", "b.@key").to_pylist()[1] == {"id": 2, "b.@key": 1}
        assert db["A"].column("b").to_list() == [0, 1]
