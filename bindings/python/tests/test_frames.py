"""Data frames without loss: random tables of all types go out, through five libraries, and come in again as equal
objects.

CREALM_FRAMES sets the number of random tables for each library.
"""

import datetime as dt
import enum
import math
import os
import random
import struct
import uuid
from decimal import Context, Decimal
from typing import Any, Dict, List, Optional, Set

import crealm
import pytest

UTC = dt.timezone.utc
EPOCH = dt.datetime(1970, 1, 1, tzinfo=UTC)
TABLES = int(os.environ.get("CREALM_FRAMES", "12"))
LIBRARIES = ("pandas", "polars", "pyarrow", "numpy", "duckdb", "duckdb over pyarrow")

# ------------------------------------------------------------------------------------------------
# Random classes and values
# ------------------------------------------------------------------------------------------------

KINDS: Dict[str, Any] = {
    "int": int,
    "bool": bool,
    "str": str,
    "bytes": bytes,
    "time": dt.datetime,
    "f32": crealm.Float32,
    "float": float,
    "decimal": Decimal,
    "oid": crealm.ObjectId,
    "uuid": uuid.UUID,
}
KEYS = {"int": int, "str": str, "oid": crealm.ObjectId, "uuid": uuid.UUID}


class Values:
    """Random values. `far`: whether times may lie outside the range of nanoseconds; `tidy`: whether decimals have no
    more than two digits behind the point."""

    def __init__(self, r: random.Random) -> None:
        self.r = r
        self.far, self.tidy = r.random() < 0.4, r.random() < 0.5

    def one(self, kind: str) -> Any:
        return getattr(self, f"of_{kind}")()

    def of_int(self) -> int:
        return self.r.choice((0, -1, 2**63 - 1, -(2**63), 2**53 + 1, self.r.randrange(100)))

    def of_bool(self) -> bool:
        return self.r.random() < 0.5

    def of_str(self) -> str:
        return "".join(self.r.choices('abß€𝄞 \\"\n\x01{}[]$', k=self.r.choice((0, 1, 5, 40)))) or self.r.choice(
            ("", "5", "null", "NaN")
        )

    def of_bytes(self) -> bytes:
        return self.r.randbytes(self.r.choice((0, 1, 12, 16, 40)))

    def of_time(self) -> Any:
        if self.far and self.r.random() < 0.3:
            return self.r.choice(
                (
                    dt.datetime(9999, 12, 31, 23, 59, 59, 999999, UTC),
                    dt.datetime(1, 1, 1, tzinfo=UTC),
                    dt.datetime(1500, 5, 6, tzinfo=UTC),
                )
            )
        return crealm.Timestamp.from_ns(
            self.r.choice((0, self.r.randrange(-(2**61), 2**61), self.r.randrange(2**50) * 1000))
        )

    def of_f32(self) -> float:
        return crealm.Float32(self.r.choice((0.1, -0.0, 1e30, math.nan, math.inf)))

    def of_float(self) -> float:
        return self.r.choice((0.1, -0.0, 1e300, math.nan, -math.inf, 5.0, 1e-7))

    def of_decimal(self) -> Decimal:
        if self.tidy:
            return Decimal(self.r.randrange(-(10**9), 10**9) or 1).scaleb(-self.r.randrange(3))
        return self.r.choice(
            (
                Decimal("1.50"),
                Decimal("-0"),
                Decimal("1E+10"),
                Decimal("NaN"),
                Decimal("-Infinity"),
                Decimal(10) ** 33,
                Decimal("1E-6000"),
            )
        )

    def of_oid(self) -> crealm.ObjectId:
        return crealm.ObjectId(self.r.randbytes(12))

    def of_uuid(self) -> uuid.UUID:
        return uuid.UUID(bytes=self.r.randbytes(16))

    def any(self, objects: List[Any], depth: int = 0) -> Any:
        choice = self.r.randrange(16)
        if choice < 10:
            return self.one(list(KINDS)[choice])
        if choice < 12 or depth > 2:
            return self.r.choice([None, *objects])
        if choice < 14:
            return [self.any(objects, depth + 1) for _ in range(self.r.randrange(4))]
        names = self.r.sample(("k0", "", "json", "a b", "ß"), self.r.randrange(4))
        return {name: self.any(objects, depth + 1) for name in names}


def classes(r: random.Random, only_single: bool) -> List[crealm.ClassSchema]:
    """A class with random properties, a class to link to, and an embedded one."""
    found: Dict[str, Any] = {"id": KEYS[r.choice(list(KEYS))]}
    for number in range(r.randrange(1, 9)):
        kind = KINDS[r.choice(list(KINDS))]
        shape = 0 if only_single else r.randrange(9)
        element = Optional[kind] if r.random() < 0.5 else kind
        found[f"p{number}"] = {
            0: element,
            1: element,
            2: element,
            3: element,
            4: List[element],
            5: Set[element],
            6: Dict[str, element],
        }.get(shape) or r.choice(
            (
                Any,
                Any,
                List[Any],
                Dict[str, Any],
                "Target",
                List["Target"],
                Set["Target"],
                Dict[str, "Target"],
                "Part",
                List["Part"],
                Dict[str, "Part"],
            )
        )
    part: Dict[str, Any] = {
        "a": Optional[KINDS[r.choice(list(KINDS))]],
        "many": List[KINDS[r.choice(list(KINDS))]],
        "any": Any,
        "to": "Target",
    }
    target = {"key": KEYS[r.choice(list(KEYS))], "x": int, "part": "Part"}
    return [
        crealm.ClassSchema("Row", found, primary_key="id"),
        crealm.ClassSchema("Target", target, primary_key="key"),
        crealm.ClassSchema("Part", part, embedded=True),
    ]


def fill(db: crealm.Database, r: random.Random) -> None:
    values = Values(r)
    names = {kind: name for name, kind in KINDS.items()}
    with db.write():
        key = db["Target"].schema.properties["key"].type
        targets = [
            db["Target"].create(values.one(names[key]), x=number) for number in range(1 if key in (int, str) else 3)
        ]

        def element(prop: crealm.Prop) -> Any:
            if prop.type is Any:
                return values.any(targets)
            if prop.type == "Target":
                return r.choice(targets)
            if prop.type == "Part":
                return {name: inner(one) for name, one in db.schema["Part"].properties.items()}
            return None if prop.optional and r.random() < 0.3 else values.one(names[prop.type])

        def inner(prop: crealm.Prop) -> Any:
            if prop.collection is None:
                return element(prop)
            made = [element(prop) for _ in range(r.randrange(4))]
            if prop.collection == "dict":
                return {f"k{number}": one for number, one in enumerate(made)}
            return made if prop.collection == "list" else [one for number, one in enumerate(made) if not number]

        identities = set()
        for _ in range(r.choice((0, 1, 7, 20))):
            identity = values.one(names[db["Row"].schema.properties["id"].type])
            if identity in identities:
                continue
            identities.add(identity)
            given = {name: inner(prop) for name, prop in db["Row"].schema.properties.items() if name != "id"}
            db["Row"].create(identity, **given)


def shown(value: Any) -> Any:
    """A value in a form that differs if the type or the value does; numbers of decimals count, not their zeros."""
    if isinstance(value, crealm.Object):
        bound = value._bound()
        if bound.schema.embedded:
            return {name: shown(value[name]) for name in bound.properties}
        key = bound.primary_key
        return (value.class_name, value.object_key if key is None else repr(value[key.name]))
    if isinstance(value, float):
        return (type(value).__name__, struct.pack(">d", value))
    if isinstance(value, Decimal):
        return ("Decimal", str(value.normalize(Context(prec=40))))
    if isinstance(value, dt.datetime):
        return ("time", crealm.timestamp_ns(value))
    if isinstance(value, crealm.SetView):
        return sorted(repr(shown(one)) for one in value)
    if hasattr(value, "items"):
        return {key: shown(one) for key, one in value.items()}
    if isinstance(value, crealm.List):
        return [shown(one) for one in value]
    return (type(value).__name__, repr(value))


def content(db: crealm.Database) -> List[Any]:
    rows = [{name: shown(row[name]) for name in row._bound().properties} for row in db["Row"]]
    return sorted(rows, key=lambda row: repr(row["id"]))


def has_far_times(value: Any) -> bool:
    """Whether a value of content() has a time that does not fit into nanoseconds of 64 bits."""
    if isinstance(value, tuple) and value[0] == "time":
        return not -(2**63) <= value[1] < 2**63
    if isinstance(value, dict):
        return any(map(has_far_times, value.values()))
    return (
        isinstance(value, (list, tuple))
        and any(map(has_far_times, value))
        or isinstance(value, str)
        and "'time'" in value
    )


def through(library: str, table: Any) -> Any:
    package = library.split()[0]
    module = pytest.importorskip(package, reason=f"{package} is not installed")
    if package == "duckdb":
        if "pyarrow" in library or any(has_far_times(row) for row in content(table._db)):
            return module.connect().from_arrow(table.to_arrow()).to_arrow_table()
        return module.connect().from_arrow(table.select())
    if library == "numpy":
        columns = {name: module.asarray(table.column(name), dtype=object) for name in table.schema.properties}
        return [dict(zip(columns, row)) for row in zip(*columns.values())]
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    return {"pandas": table.to_pandas, "polars": table.to_polars, "pyarrow": table.to_arrow}[library]()


@pytest.mark.parametrize("library", LIBRARIES)
def test_out_and_in_again(tmp_path, library):
    for seed in range(TABLES):
        r = random.Random(f"{library} {seed}")
        schema = classes(r, only_single=library == "numpy")
        with crealm.memory(schema=schema) as db, crealm.memory(schema=schema) as other:
            fill(db, r)
            with other.write():
                for row in db["Target"]:
                    other["Target"].create(row.key, x=row.x)
            frame = through(library, db["Row"])
            with other.write():
                assert other.add_many("Row", frame, batch=r.choice((1, 3, 10_000))) == len(db["Row"]), f"seed {seed}"
            assert content(other) == content(db), f"seed {seed}"
            with other.write():
                other.add_many("Row", frame, update=r.choice(("all", "modified")))
            assert content(other) == content(db), f"seed {seed}, written a second time"
            assert other.verify() == []


# ------------------------------------------------------------------------------------------------
# Out
# ------------------------------------------------------------------------------------------------


class Person(crealm.Model):
    id: crealm.ObjectId = crealm.field(primary_key=True)
    name: str = ""
    born: Optional[dt.datetime] = None
    code: Optional[uuid.UUID] = None
    price: Optional[Decimal] = None
    age: Optional[int] = None
    size: Optional[float] = None
    flag: Optional[bool] = None
    any: Any = None
    boss: Optional["Person"] = None
    codes: List[uuid.UUID]
    days: List[dt.datetime]
    notes: Dict[str, Any]


FAR = dt.datetime(9999, 12, 31, tzinfo=UTC)
FIRST, SECOND = crealm.ObjectId("507f1f77bcf86cd799439011"), crealm.ObjectId("507f1f77bcf86cd799439012")


@pytest.fixture
def db(path):
    with crealm.open(path, schema=[Person]) as db:
        with db.write():
            first = db.add(
                Person(
                    id=FIRST,
                    name="Ann",
                    born=dt.datetime(1990, 5, 6, tzinfo=UTC),
                    code=uuid.UUID(int=7),
                    price=Decimal("1.50"),
                    age=31,
                    size=1.5,
                    flag=True,
                    any={"k": [Decimal("2.5"), None]},
                    codes=[uuid.UUID(int=1)],
                    notes={"a": 1, "b": "x"},
                )
            )
            db.add(Person(id=SECOND, name="Bo", boss=first, price=Decimal("2"), any=5))
        yield db


def module(name):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    return pytest.importorskip(name, reason=f"{name} is not installed")


def test_pandas_has_values_and_no_bytes(db):
    module("pandas")
    frame = db[Person].to_pandas()
    assert frame["id"].tolist() == [FIRST, SECOND] and frame["boss"].tolist() == [None, FIRST]
    assert frame["code"].tolist() == [uuid.UUID(int=7), None] and frame["codes"].tolist() == [[uuid.UUID(int=1)], []]
    assert frame["price"].tolist() == [Decimal("1.50"), Decimal("2")] and frame["price"].sum() == Decimal("3.50")
    assert frame["any"].tolist() == [{"k": [Decimal("2.5"), None]}, 5] and frame["notes"].tolist() == [
        {"a": 1, "b": "x"},
        {},
    ]
    assert [str(frame[name].dtype) for name in ("born", "age", "size", "flag")] == [
        "datetime64[ns, UTC]",
        "Int64",
        "float64",
        "object",
    ]
    assert list(frame.columns) == list(Person._fields)


def test_polars_has_values_and_no_bytes(db):
    polars = module("polars")
    frame = db[Person].to_polars()
    assert frame["id"].to_list() == [str(FIRST), str(SECOND)] and frame["boss"].to_list() == [None, str(FIRST)]
    assert frame["code"][0] == str(uuid.UUID(int=7)) and frame["codes"].to_list() == [[str(uuid.UUID(int=1))], []]
    assert frame.schema["price"] == polars.Decimal(38, 2) and frame["price"].sum() == Decimal("3.50")
    assert frame.columns == list(Person._fields)
    with db.write():
        db[Person][0].any = 7
    assert db[Person].to_polars("any")["any"].to_list() == [7, 5]  # All are of one type.
    with db.write():
        db[Person][0].price = Decimal("NaN")
    assert db[Person].to_polars("price")["price"].to_list() == ["NaN", "2"]


def test_pyarrow_has_values_and_no_bytes(db):
    pyarrow = module("pyarrow")
    table = db[Person].to_arrow()
    assert table["id"].to_pylist() == [FIRST, SECOND] and table["boss"].to_pylist() == [None, FIRST]
    assert table["code"].to_pylist() == [uuid.UUID(int=7), None] and table.schema.field(
        "price"
    ).type == pyarrow.decimal128(38, 2)
    with db.write():
        db[Person][0].price = Decimal("1E+6000")
    assert db[Person].to_arrow("price")["price"].to_pylist() == [Decimal("1E+6000"), Decimal("2")]


def test_one_far_time_does_no_harm(db):
    pandas, polars, pyarrow, numpy = module("pandas"), module("polars"), module("pyarrow"), module("numpy")
    with db.write():
        db[Person][1].born = FAR
        db[Person][1].days = [FAR, dt.datetime(2020, 1, 1, tzinfo=UTC)]
    frame = db[Person].to_pandas("name", "born", "days")
    assert str(frame["born"].dtype) == "datetime64[us, UTC]" and frame["born"].tolist() == [
        pandas.Timestamp("1990-05-06", tz="UTC"),
        FAR,
    ]
    assert frame["days"].tolist() == [[], [FAR, dt.datetime(2020, 1, 1, tzinfo=UTC)]]
    found = db[Person].to_polars("born", "days")
    assert (
        found.schema["born"] == polars.Datetime("us", "UTC")
        and found["born"][1] == FAR
        and found["days"].to_list()[1][0] == FAR
    )
    table = db[Person].to_arrow("born", "days")
    assert table.schema.field("born").type == pyarrow.timestamp("us", "UTC") and table["days"].to_pylist()[1][0] == FAR
    column = db[Person].column("born")
    assert (column.unit, column[1], list(column.values)[1]) == ("us", FAR, crealm.timestamp_ns(FAR) // 1000)
    assert (
        numpy.asarray(column).dtype == "datetime64[us]"
        and numpy.asarray(column, dtype=object).tolist() == column.to_list()
    )
    assert db[Person].column("boss.born").to_list() == [None, dt.datetime(1990, 5, 6, tzinfo=UTC)]
    for out in (frame, found, table):
        with db.write():
            db[Person][1].born = None
        with db.write():
            db.add_many(Person, _with_ids(out, db), update="all")
        assert db[Person][1].born == FAR and list(db[Person][1].days)[0] == FAR


def _with_ids(frame, db):
    """A frame with the primary keys of the objects beside its columns."""
    ids = [str(key) for key in db[Person].column("id")]
    if hasattr(frame, "with_columns"):
        polars = module("polars")
        return frame.with_columns(polars.Series("id", ids))
    return frame.append_column("id", [ids]) if hasattr(frame, "append_column") else frame.assign(id=ids)


def test_units_of_times(db):
    pandas, polars, pyarrow = module("pandas"), module("polars"), module("pyarrow")
    kinds = {
        "ns": "datetime64[ns, UTC]",
        "us": "datetime64[us, UTC]",
        "ms": "datetime64[ms, UTC]",
        "s": "datetime64[s, UTC]",
        "object": "object",
    }
    for unit, kind in kinds.items():
        frame = db[Person].to_pandas("born", timestamps=unit)
        assert (
            str(frame["born"].dtype) == kind
            and frame["born"][0] == dt.datetime(1990, 5, 6, tzinfo=UTC)
            and frame["born"].isna().tolist() == [False, True]
        )
        if unit != "object":
            assert db[Person].to_arrow("born", timestamps=unit).schema.field(0).type == pyarrow.timestamp(unit, "UTC")
            assert db[Person].column("born", timestamps=unit).unit == unit
        if unit not in ("s", "object"):
            assert db[Person].to_polars("born", timestamps=unit).schema["born"] == polars.Datetime(unit, "UTC")
    assert db[Person].to_polars("born", timestamps="object")["born"].to_list() == ["1990-05-06T00:00:00Z", None]
    exact = crealm.Timestamp.from_ns(1_577_836_800_123_456_789)
    with db.write():
        db[Person][1].born = exact
    for read in (db[Person].to_pandas, db[Person].to_polars, db[Person].to_arrow, db[Person].column):
        with pytest.raises(crealm.DataError, match=r"Column 'born', row 1: 2020-01-01T00:00:00\.123456789Z"):
            read("born", timestamps="us")
        with pytest.raises(crealm.DataError, match='timestamps is "ns"'):
            read("born", timestamps="days")
    with db.write():
        db[Person][0].born = FAR  # No unit has both exactly.
    assert db[Person].to_pandas("born")["born"].tolist() == [FAR, exact] and db[Person].column("born").to_list() == [
        FAR,
        exact,
    ]
    assert db[Person].to_polars("born")["born"].to_list() == ["9999-12-31T00:00:00Z", "2020-01-01T00:00:00.123456789Z"]
    with pytest.raises(crealm.DataError, match="Column 'born', row 0: 9999-12-31T00:00:00Z"):
        db[Person].to_arrow("born", timestamps="ns")


def test_times_that_datetime_cannot_express(db):
    module("pandas")
    with db.write():
        db[Person][1].born = crealm.RawTimestamp(10**12, 5)
    assert db[Person].to_pandas("born")["born"][1] == db[Person].column("born")[1] == crealm.RawTimestamp(10**12, 5)
    for read in (module("polars") and db[Person].to_polars, db[Person].to_arrow):
        with db.write():
            db[Person][0].born = crealm.Timestamp.from_ns(1)
        with pytest.raises(crealm.DataError, match="Column 'born', row 1"):
            read("born")


def test_times_of_a_row_that_have_no_unit_in_common():
    """Such a row is written in two steps, with all that its column has beside the times."""
    module("pandas"), module("polars")
    exact = crealm.Timestamp.from_ns(1_577_836_800_123_456_789)
    schema = [
        crealm.ClassSchema("Row", {"id": int, "days": List[dt.datetime], "parts": List["Part"]}, primary_key="id"),
        crealm.ClassSchema(
            "Part",
            {"days": List[dt.datetime], "to": "Row", "note": "Note", "any": Any, "map": Dict[str, dt.datetime]},
            embedded=True,
        ),
        crealm.ClassSchema("Note", {"text": str}),
    ]
    with crealm.memory(schema=schema) as db:
        with db.write():
            first, note = db["Row"].create(1), db["Note"].create(text="n")
            first.days = [FAR, exact]
            marked = [first, note, math.nan, {"json": "5", "k": crealm.Float32(0.1)}]
            first.parts = [{"days": [FAR, exact], "to": first, "note": note, "any": marked, "map": {"a": exact}}]
        before = [shown(db["Row"][0][name]) for name in ("days", "parts")]
        for frame in (db["Row"].to_pandas(), db["Row"].to_polars(), db["Row"].to_arrow()):
            with db.write():
                first.days, first.parts = [], []
                assert db.add_many("Row", frame, update="all") == 1
            assert [shown(db["Row"][0][name]) for name in ("days", "parts")] == before
        with db.write():
            wrong = [{"days": [FAR, exact], "to": 99}]
            with pytest.raises(crealm.DataError, match="Row 0, column 'parts'.*primary key 99"):
                db.add_many("Row", module("pandas").DataFrame({"id": [1], "parts": [wrong]}), update="all")
        assert db.verify() == []


def test_frames_are_not_made_of_rows(db):
    """A list of objects would become a frame of pairs, or of objects, without names."""
    for name in ("pandas", "polars"):
        made = module(name).DataFrame
        for rows in (db[Person], db[Person].where("name == 'Ann'"), db[Person].snapshot()):
            with pytest.raises(crealm.UsageError, match=f"to_{name}"):
                made(rows)
    assert dict(db[Person][0])["name"] == "Ann" and bool(db[Person]) and not db[Person].where("name == 'nobody'")


# ------------------------------------------------------------------------------------------------
# In
# ------------------------------------------------------------------------------------------------


def frames_of(columns):
    """The same columns as a frame of each library."""
    return [module("pandas").DataFrame(columns), module("polars").DataFrame(columns), module("pyarrow").table(columns)]


def test_texts_become_values(db):
    columns = {
        "id": [str(FIRST), "507f1f77bcf86cd799439013"],
        "code": [None, str(uuid.UUID(int=9))],
        "price": ["2.50", None],
        "born": ["2020-01-02", "2020-01-02T03:04:05.123456789+01:00"],
        "boss": ["507f1f77bcf86cd799439013", str(FIRST)],
        "codes": [[str(uuid.UUID(int=3))], []],
        "days": [["2021-05-06T00:00:00Z"], None],
    }
    for frame in frames_of(columns):
        with db.write():
            assert db.add_many(Person, frame, update="all") == 2
        first, last = db[Person].get(FIRST), db[Person].get(crealm.ObjectId("507f1f77bcf86cd799439013"))
        assert (first.price, first.boss, last.boss, last.code) == (Decimal("2.50"), last, first, uuid.UUID(int=9))
        assert last.born == crealm.Timestamp(2020, 1, 2, 2, 4, 5, 123456, tzinfo=UTC, nanosecond=789)
        assert (
            list(first.codes) == [uuid.UUID(int=3)]
            and list(first.days) == [dt.datetime(2021, 5, 6, tzinfo=UTC)]
            and len(last.days) == 0
        )
        with db.write():
            last.delete()


def test_missing_values_and_integers(db):
    pandas, numpy = module("pandas"), module("numpy")
    nan = float("nan")
    frame = pandas.DataFrame(
        {
            "id": [str(FIRST), str(SECOND)],
            "age": [7.0, nan],
            "size": [nan, 2.5],
            "flag": [None, False],
            "price": [0.1, nan],
        }
    )
    with db.write():
        db.add_many(Person, frame, update="all")
    first, second = db[Person]
    assert (first.age, second.age, first.size, second.size, first.flag, second.flag) == (
        7,
        None,
        None,
        2.5,
        None,
        False,
    )
    assert (first.price, second.price) == (Decimal("0.1"), None)
    frame = pandas.DataFrame(
        {
            "id": [str(FIRST)],
            "codes": [numpy.array([uuid.UUID(int=1)], dtype=object)],
            "days": [numpy.array(["2020-01-01"], dtype="M8[s]")],
        }
    )
    with db.write():
        db.add_many(Person, frame, update="all")
    assert list(first.codes) == [uuid.UUID(int=1)] and list(first.days) == [dt.datetime(2020, 1, 1, tzinfo=UTC)]
    frame = pandas.DataFrame({"name": ["x"], "any": [None]}, index=pandas.Index([str(FIRST)], name="id"))
    with db.write():
        db.add_many(Person, frame, update="all")
    assert (first.name, first.any) == ("x", None)


def test_columns_of_pandas(db):
    """Columns of types that only pandas has."""
    pandas = module("pandas")

    def put(name, values):
        with db.write():
            db.add_many(Person, pandas.DataFrame({"id": [str(FIRST), str(SECOND)], name: values}), update="all")
        return [row[name] for row in db[Person]]

    assert put("size", pandas.arrays.SparseArray([0.5, math.nan])) == [0.5, None]
    assert put("age", pandas.arrays.SparseArray([0, 7])) == [0, 7] == put("age", pandas.Categorical([0, 7]))
    assert put("name", pandas.Categorical(["b", "a"])) == ["b", "a"]
    assert put("age", pandas.Series([2**60 + 1, None], dtype="Int64")) == [2**60 + 1, None]
    assert put("age", pandas.Series([5, None], dtype="int64[pyarrow]")) == [5, None]
    assert put("flag", pandas.Series([None, True], dtype="boolean")) == [None, True]
    assert put("born", [dt.date(9999, 12, 31), None]) == [FAR, None]
    for name, values, said in (
        ("born", pandas.period_range("2020-01", periods=2, freq="M"), "'born': no property has values of type period"),
        ("age", pandas.interval_range(0, 2), "'age': no property has values of type interval"),
        ("age", pandas.to_timedelta([1, 2]), "'age': no property has durations"),
        ("size", [1j, 2j], "'size' of type complex128"),
    ):
        with pytest.raises(crealm.Error, match=said):
            put(name, values)
        with pytest.raises(crealm.Error, match=said):
            db.create_from(pandas.DataFrame({name: values}), "New")


def test_a_column_without_values(db):
    polars, pyarrow = module("polars"), module("pyarrow")
    names = [name for name in Person._fields if name not in ("id", "name")]
    for frame in (
        polars.DataFrame({"id": [str(FIRST)], **{name: [None] for name in names}}),
        pyarrow.table({"id": [str(FIRST)], **{name: [None] for name in names}}),
        polars.DataFrame({"id": [str(FIRST)], "codes": [[None]]}).clear(),
        pyarrow.table({"id": pyarrow.array([], pyarrow.null())}),
    ):
        with db.write():
            db.add_many(Person, frame, update="all")
        assert [name for name in names if db[Person].get(FIRST)[name] not in (None, [], {})] == []
    for frame in (
        polars.DataFrame({"id": [str(FIRST)], "name": [None]}),
        pyarrow.table({"id": [str(FIRST)], "name": [None]}),
    ):
        with pytest.raises(crealm.ConstraintError, match="Row 0, .*name"), db.write():
            db.add_many(Person, frame, update="all")


def test_empty_frames(db):
    pandas, polars, pyarrow = module("pandas"), module("polars"), module("pyarrow")
    before = content_of(db)
    empty = pandas.Series([], dtype=object)
    frames = [
        pandas.DataFrame(),
        pandas.DataFrame({"id": []}),
        pandas.DataFrame({name: empty for name in Person._fields}),
        polars.DataFrame(),
        polars.DataFrame({"id": []}),
        pyarrow.table({}),
        pyarrow.table({"id": pyarrow.array([], pyarrow.string())}),
    ]
    for frame in frames:
        with db.write():
            assert db.add_many(Person, frame, update="all") == 0
    assert content_of(db) == before
    none = db[Person].where("name == 'nobody'")
    for frame in (none.to_pandas(), none.to_polars(), none.to_arrow()):
        assert frame.shape == (0, len(Person._fields))
        with db.write():
            assert db.add_many(Person, frame) == 0
    assert str(none.to_pandas()["born"].dtype) == "datetime64[ns, UTC]"


def test_time_zones(db):
    pandas = module("pandas")
    zoned = pandas.to_datetime(["2020-01-01 00:00"]).tz_localize("Europe/Oslo")
    for born in (
        zoned,
        zoned.astype(object),
        pandas.Series(["2020-01-01T00:00:00+01:00"]),
        pandas.to_datetime(["2019-12-31 23:00"]),
    ):
        with db.write():
            db.add_many(Person, pandas.DataFrame({"id": [str(FIRST)], "born": born}), update="all")
        assert db[Person].get(FIRST).born == dt.datetime(2019, 12, 31, 23, tzinfo=UTC)


@pytest.mark.parametrize(
    "column, values",
    [
        ("code", ["507f1f77", "not a code"]),
        ("age", [1.0, 2.5]),
        ("age", ["1", "2"]),
        ("price", ["1", "one"]),
        ("born", ["2020-01-01", "soon"]),
        ("boss", [None, "short"]),
        ("codes", [[], ["no code"]]),
        ("days", [[], ["never"]]),
        ("name", ["a", None]),
        ("boss", [None, "507f1f77bcf86cd7994390ff"]),
    ],
)
def test_errors_name_row_column_and_value(db, column, values):
    if column == "code":
        values = [str(uuid.UUID(int=1)), values[1]]
    for frame in frames_of({"id": [str(FIRST), str(SECOND)], column: values}):
        before = content_of(db)
        with pytest.raises(crealm.Error) as error, db.write():
            db.add_many(Person, frame, update="all")
        told = str(error.value)
        assert "Row 1" in told or "Row 0" in told and column == "age" and isinstance(values[0], str), told
        assert column in told, told
        wrong = values[1][0] if isinstance(values[1], list) else values[1]
        assert str(wrong)[:12] in told or isinstance(values[0], str) and values[0] in told, told
        assert content_of(db) == before


def test_rows_with_values_that_look_like_numbers_or_lists(db):
    numpy = module("numpy")
    for name, value in (("size", bytearray(b"5")), ("size", memoryview(b"5")), ("codes", numpy.array(5))):
        with pytest.raises(crealm.TypeMismatch, match=f"Row 0: Person.{name}: Needs "), db.write():
            db.add_many(Person, [{"id": FIRST, name: value}], update="all")


def test_integers_that_do_not_fit(db):
    numpy = module("numpy")
    for frame in frames_of({"id": [str(FIRST), str(SECOND)], "age": numpy.array([1, 2**63], dtype="uint64")}):
        with pytest.raises(crealm.Error, match=rf"Row 1, .*age.*{2**63}"), db.write():
            db.add_many(Person, frame, update="all")


class Strange:
    """An object whose methods raise."""

    def __repr__(self):
        raise ZeroDivisionError

    __index__ = __iter__ = __float__ = __eq__ = __repr__
    __hash__ = None


class Level(enum.Enum):
    LOW = 1


def strange_values():
    """Values that some property does not take, or none."""
    numpy, pandas = module("numpy"), module("pandas")
    deep, around = [], []
    for _ in range(3000):
        deep = [deep]
    around.append(around)
    plain = [
        None,
        True,
        2**63,
        2**200,
        1.5,
        math.nan,
        math.inf,
        "",
        "x",
        "\ud800",
        "a\0b",
        b"",
        b"y" * 16,
        bytearray(b"z"),
        memoryview(b"m"),
        Decimal("sNaN"),
        Decimal("1E+99999"),
        Decimal("1" * 50),
        dt.datetime(2020, 1, 1),
        dt.datetime.max.replace(tzinfo=UTC),
        dt.date(2020, 1, 1),
        dt.time(1, 2),
        dt.timedelta(1),
        uuid.UUID(int=5),
        FIRST,
        crealm.RawTimestamp(2**80, 5),
        [],
        [None],
        ["a", 1],
        {1},
        {},
        {1: 2},
        {"a.b": 1},
        "2020-13-45",
        "0001-01-01T00:00:00+14:00",
        "1" * 5000,
        "1E999999999",
        type,
        range(3),
        Strange(),
        Level.LOW,
        1j,
        deep,
        around,
    ]
    marked = [
        {"$uuid": 5},
        {"$decimal": []},
        {"$float": "abc"},
        {"$seconds": "a", "$nanoseconds": {}},
        {"$class": "Person", "$ref": "x"},
        {"$class": 5, "$primaryKey": []},
        {"$class": "Person", "$primaryKey": 99},
        {"$bytes": "***"},
        {"json": "{"},
        {"json": "[NaN]"},
        {"json": 5},
    ]
    of_packages = [
        numpy.uint64(2**64 - 1),
        numpy.float16(2),
        numpy.datetime64("NaT"),
        numpy.datetime64("2020", "Y"),
        numpy.array([[1], [2]]),
        numpy.array(5),
        numpy.void(b"abc"),
        numpy.complex128(1),
        pandas.NA,
        pandas.NaT,
        pandas.Timestamp("2020-01-01", tz="Asia/Tokyo"),
        pandas.Period("2020-01"),
        pandas.Interval(1, 2),
        pandas.Series([1, 2]),
    ]
    return plain + marked + of_packages


def frames_of_strange(name, value):
    """Functions that make frames with a value in the second row of a column; some cannot."""
    pandas, polars, pyarrow = module("pandas"), module("polars"), module("pyarrow")

    def objects(one):
        return pandas.DataFrame({"id": [str(FIRST), str(SECOND)], name: pandas.Series([None, one], dtype=object)})

    yield lambda: objects(value)
    yield lambda: objects([value])
    yield lambda: objects({"a": value})
    yield lambda: pandas.DataFrame({"id": [str(FIRST), str(SECOND)], name: [value, value]})
    if not isinstance(value, (list, Decimal)):  # They crash for lists that have themselves as elements.
        yield lambda: polars.DataFrame({"id": [str(FIRST), str(SECOND)], name: [None, value]}, strict=False)
        yield lambda: pyarrow.table({"id": [str(FIRST), str(SECOND)], name: [None, value]})


@pytest.mark.filterwarnings("ignore::Warning:polars")
def test_every_error_names_its_place(db):
    """Any value in any column is stored, or refused with an error that names column and row and changes nothing."""
    module("pandas"), module("polars")
    r, stored, refused = random.Random(7), 0, 0
    values, names = strange_values(), [name for name in Person._fields if name != "id"]
    before = content_of(db)
    for _ in range(30 * TABLES):
        name, value = r.choice(names), r.choice(values)
        try:
            frame = r.choice(list(frames_of_strange(name, value)))()
        except BaseException:  # polars ends with a panic, which is no Exception.
            continue
        try:
            with db.write():
                db.add_many(Person, frame, update="all")
        except crealm.Error as error:
            refused += 1
            assert name in str(error) and ("Row 1" in str(error) or "Row 0" in str(error) or "type" in str(error)), str(
                error
            )
            assert content_of(db) == before
        else:
            stored += 1
            assert db.verify() == []
            with db.write():
                db[Person].delete_all()
                db.add_many(Person, BEFORE_STRANGE)
            before = content_of(db)
        try:
            if r.random() < 0.2:
                db.create_from(frame, f"Made{stored + refused}")
        except crealm.Error as error:
            assert name in str(error), str(error)
    assert stored > 20 and refused > 100


BEFORE_STRANGE = [{"id": FIRST, "name": "a"}, {"id": SECOND, "name": "b"}]


def content_of(db):
    return [row.to_dict() for row in db[Person]]


def test_wrong_frames(db):
    pandas, polars = module("pandas"), module("polars")
    for rows, said in (
        (pandas.DataFrame([[1, 2]], columns=["name", "name"]), "Two columns are called 'name'"),
        (pandas.Series(["a"]), "has no name"),
        (pandas.DataFrame({"nobody": ["a"]}), "nobody"),
        (polars.DataFrame({"nobody": ["a"]}), "nobody"),
        (pandas.DataFrame({"id": ["x" * 24], "name": [1]}), "Row 0, column 'id'"),
    ):
        with pytest.raises(crealm.Error, match=said), db.write():
            db.add_many(Person, rows)


def test_other_frames(db):
    pandas, polars = module("pandas"), module("polars")
    with db.write():
        lazy = polars.LazyFrame({"id": [str(FIRST), str(SECOND)], "age": [1, 2]}).filter(polars.col("age") > 1)
        assert db.add_many(Person, lazy, update="modified") == 1 and [row.age for row in db[Person]] == [31, 2]
        assert (
            db.add_many(Person, polars.Series([{"id": str(FIRST), "age": 8}]), update="modified") == 1
            and db[Person].get(FIRST).age == 8
        )
        series = pandas.Series([9], name="age", index=pandas.Index([str(FIRST)], name="id"))
        assert db.add_many(Person, series, update="modified") == 1 and db[Person].get(FIRST).age == 9
        objects = polars.DataFrame({"id": [FIRST], "any": polars.Series([{"x"}.pop()], dtype=polars.Object)})
        assert db.add_many(Person, objects, update="modified") == 1 and db[Person].get(FIRST).any == "x"


def test_objects_as_links_in_a_frame(db):
    pandas = module("pandas")
    first, second = db[Person]
    with db.write():
        db.add_many(Person, pandas.DataFrame({"id": [FIRST], "boss": [second], "any": [first]}), update="all")
    assert first.boss == second and first.any == first


def test_progress_and_chunks(db):
    polars = module("polars")
    ids = [str(crealm.ObjectId(bytes([number]) * 12)) for number in range(10)]
    for rows in (
        polars.DataFrame({"id": ids}),
        polars.DataFrame({"id": ids}).to_pandas(),
        [{"id": crealm.ObjectId(text)} for text in ids],
    ):
        told = []
        with db.write():
            assert (
                db.add_many(Person, rows, update="all", chunksize=4, progress=lambda *told_now: told.append(told_now))
                == 10
            )
        assert told == [("adding", 4, 10), ("adding", 8, 10), ("adding", 10, 10)]
        with pytest.raises(crealm.Interrupted, match="after 4 rows"), db.write():
            db.add_many(Person, rows, update="all", chunksize=4, progress=lambda *told_now: False)
    with pytest.raises(crealm.DataError, match="at least one row"), db.write():
        db.add_many(Person, [], chunksize=0)


# ------------------------------------------------------------------------------------------------
# New classes
# ------------------------------------------------------------------------------------------------


def test_create_from(db):
    pandas, polars, pyarrow = module("pandas"), module("polars"), module("pyarrow")
    columns = {
        "id": [1, 2],
        "x": [1.5, None],
        "text": ["a", "b"],
        "many": [[1], [2, 3]],
        "when": [dt.datetime(2020, 1, 1), None],
        "price": [Decimal("1.5"), None],
    }
    kinds = {
        "id": "int",
        "x": "Optional[float]",
        "text": "str",
        "when": "Optional[datetime]",
        "price": "Optional[Decimal]",
    }
    for number, frame in enumerate(
        (pandas.DataFrame(columns), polars.DataFrame(columns), polars.LazyFrame(columns), pyarrow.table(columns))
    ):
        table = db.create_from(frame, f"New{number}", primary_key="id", index=["text"])
        properties = table.schema.properties
        assert (
            {name: str(properties[name]) for name in kinds} == kinds
            and table.schema.primary_key == "id"
            and properties["text"].indexed
        )
        assert [list(row.many) for row in table] == [[1], [2, 3]] and table.get(1).when == dt.datetime(
            2020, 1, 1, tzinfo=UTC
        )
        assert [row.x for row in table] == [1.5, None] and table.get(1).price == Decimal("1.5")
    assert [person.name for person in db[Person]] == ["Ann", "Bo"]
    frame = pandas.DataFrame(
        {"any": [1, "x"], "map": [{"a": 1}, {"b": 2}], "code": [uuid.UUID(int=1), None], "deep": [[[1]], []]}
    )
    table = db.create_from(frame, "Objects")
    assert {name: str(prop) for name, prop in table.schema.properties.items()} == {
        "any": "Any",
        "map": "dict[str, int]",
        "code": "Optional[UUID]",
        "deep": "Any",
    }
    assert [row.any for row in table] == [1, "x"] and dict(table[1].map) == {"b": 2} and table[0].deep[0][0] == 1
    table = db.create_from(polars.DataFrame({"at": [{"x": 1, "y": "a"}, None], "all": [[{"z": 1.5}], []]}), "Place")
    assert (table[0].at.y, table[1].at, table[0]["all"][0].z) == ("a", None, 1.5) and db.schema["Place_at"].embedded
    assert db.verify() == []


def test_create_from_refuses(db):
    pandas = module("pandas")
    frame = pandas.DataFrame({"id": [1, None], "x": [1, 2]})
    for error, give in (
        (crealm.SchemaError, lambda: db.create_from(frame, "Person")),
        (crealm.SchemaError, lambda: db.create_from(frame, "New", primary_key="nobody")),
        (crealm.DataError, lambda: db.create_from(frame, "New", primary_key="id")),
        (crealm.DataError, lambda: db.create_from(pandas.DataFrame([[1, 2]], columns=["a", "a"]), "New")),
        (TypeError, lambda: db.create_from([1], "New")),
    ):
        with pytest.raises(error):
            give()
        assert "New" not in db.classes
    with db.write(), pytest.raises(crealm.UsageError):
        db.create_from(frame, "New")
