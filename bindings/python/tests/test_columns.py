"""Columns: one call returns the same values as attributes, from one snapshot, in their own memory."""

import gc
import random
import struct
import threading
import uuid
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Optional

import crealm
import pytest
from conftest import FIXTURES
from crealm import _arrow

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
KINDS = {
    "i": int,
    "b": bool,
    "s": str,
    "y": bytes,
    "t": datetime,
    "f": crealm.Float32,
    "d": float,
    "n": Decimal,
    "o": crealm.ObjectId,
    "u": uuid.UUID,
    "l": "Row",
}


def value(random, kind, rows):
    text = "".join(random.choices("abcäß€𝄞 \0", k=random.choice((0, 1, 5, 14, 15, 16, 63, 64, 200))))
    return {
        "i": lambda: random.getrandbits(random.choice((1, 2, 4, 7, 15, 31, 63))) * random.choice((1, -1)),
        "b": lambda: random.random() < 0.5,
        "s": lambda: text,
        "y": lambda: text.encode(),
        "t": lambda: EPOCH + timedelta(microseconds=random.randrange(-(2**52), 2**52)),
        "f": lambda: random.randrange(-(2**20), 2**20) / 4,
        "d": lambda: random.uniform(-1e9, 1e9),
        "n": lambda: Decimal(random.randrange(-(10**12), 10**12)).scaleb(random.randrange(-9, 9)),
        "o": lambda: crealm.ObjectId(random.randbytes(12)),
        "u": lambda: uuid.UUID(bytes=random.randbytes(16)),
        "l": lambda: random.choice(rows) if rows else None,
    }[kind]()


@pytest.fixture
def rows(path):
    """700 rows with all types of single values, half of them optional, and some rows deleted."""
    randomness = random.Random(5)
    properties: dict[str, Any] = {"any": Any, "list": list[int]}
    for kind, type in KINDS.items():
        properties[kind] = type
        if kind != "l":
            properties[f"{kind}_or_none"] = Optional[type]
    db = crealm.open(path, schema=[crealm.ClassSchema("Row", properties)])
    with db.write():
        table, made = db["Row"], []
        for _ in range(700):
            row = table.create()
            made.append(row)
            for name in properties:
                if name == "any":
                    row.any = randomness.choice((None, 1, "text", 2.5, [1, {"a": None}]))
                elif name == "list":
                    row.list = [1, 2, 3][: randomness.randrange(4)]
                elif name == "l" or not (name.endswith("_none") and randomness.random() < 0.3):
                    row[name] = value(randomness, name[0], made)
        for row in randomness.sample(made, 90):
            row.delete()
    yield db
    db.close()


def expected(found):
    return found.object_key if isinstance(found, crealm.Object) else found


SINGLE = [name for kind in KINDS for name in ([kind] if kind == "l" else [kind, f"{kind}_or_none"])]
QUERIES = {
    "all": lambda table: table,
    "found": lambda table: table.where("i > 0"),
    "sorted": lambda table: table.sort("-s", "d"),
    "limited": lambda table: table.sort("i").limit(70),
    "none": lambda table: table.where("i == 1 AND i == 2"),
    "snapshot": lambda table: table.where("b == true").snapshot(),
}


@pytest.mark.parametrize("query", QUERIES)
def test_columns_are_what_attributes_give(rows, query):
    found = QUERIES[query](rows["Row"])
    objects = [found[i] for i in range(len(found))]
    for name in SINGLE:
        column = found.column(name)
        wanted = [expected(row[name]) for row in objects]
        assert column.to_list() == wanted, name
        assert len(column) == len(objects) and list(column) == wanted
        assert column.null_count == wanted.count(None)
        if wanted:
            assert column[-1] == wanted[-1] and column[1:3] == wanted[1:3]
        bits = column.validity
        assert (bits is None) == (None not in wanted)
        if bits is not None:
            assert [bool(bits[i >> 3] >> (i & 7) & 1) for i in range(len(wanted))] == [w is not None for w in wanted]
    assert found.column("@key").to_list() == [row.object_key for row in objects]
    assert found.column("l.s").to_list() == [None if row.l is None else row.l.s for row in objects]


@pytest.mark.parametrize("query", QUERIES)
def test_dictionaries_are_what_attributes_give(rows, query):
    found = QUERIES[query](rows["Row"])
    assert found.to_dicts() == [found[i].to_dict() for i in range(len(found))]


def test_numbers_where_they_are(rows):
    table = rows["Row"]
    column = table.column("d")
    assert column.values.format == "d" and column.values.readonly
    assert list(column.values) == [row.d for row in table]
    assert list(table.column("b").values) == [row.b for row in table]
    ns = [int(struct.unpack("<q", struct.pack("<q", n))[0]) for n in table.column("t").values]
    assert [crealm.Timestamp.from_ns(n) for n in ns] == [row.t for row in table]
    with pytest.raises(crealm.NotSupportedError):
        table.column("s").values
    for name in ("list", "nothing"):
        with pytest.raises((crealm.NotSupportedError, crealm.NoSuchProperty)):
            table.column(name)


def test_columns_for_numpy(rows):
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")
    table = rows["Row"]
    for name, kind in (("i", "int64"), ("d", "float64"), ("f", "float32"), ("b", "bool"), ("t", "datetime64[ns]")):
        array = numpy.asarray(table.column(name))
        assert array.dtype == kind and len(array) == len(table)
    assert numpy.asarray(table.column("i")).tolist() == [row.i for row in table]
    assert numpy.asarray(table.column("s"), dtype=object).tolist() == [row.s for row in table]


def test_none_is_no_number_for_numpy(path):
    """None does not become an arbitrary number, 1970 or False."""
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")
    kinds = {"i": int, "b": bool, "d": float, "f": crealm.Float32, "t": datetime, "s": str, "u": uuid.UUID}
    with crealm.open(path, schema=[crealm.ClassSchema("A", {name: Optional[kind] for name, kind in kinds.items()})]) as db:
        when = datetime(2020, 1, 1, tzinfo=timezone.utc)
        with db.write():
            for number in (1, None, 2**53 + 1):
                given = {"i": number, "b": True, "d": 0.5, "f": 0.5, "t": when, "s": "x", "u": uuid.UUID(int=5)}
                db["A"].create(**{name: None if number is None else value for name, value in given.items()})
        columns = {name: db["A"].column(name) for name in kinds}
        for name in ("i", "b"):
            with pytest.raises(crealm.DataError, match="1 of 3 values are None"):
                numpy.asarray(columns[name])
            with pytest.raises(crealm.DataError, match="1 of 3 values are None"):
                columns[name].to_numpy()
        assert numpy.asarray(columns["i"], dtype=object).tolist() == [1, None, 2**53 + 1]
        assert numpy.asarray(columns["s"]).tolist() == ["x", None, "x"]
        assert columns["i"].to_numpy(null=-1).tolist() == [1, -1, 2**53 + 1]
        assert columns["b"].to_numpy(null=False).tolist() == [True, False, True]
        assert columns["s"].to_numpy(null="").tolist() == ["x", "", "x"]
        assert columns["i"].to_masked().sum() == 2**53 + 2 and columns["i"].to_masked().mask.tolist() == [False, True, False]
        for name, kind in (("d", "float64"), ("f", "float32")):
            found = numpy.asarray(columns[name])
            assert found.dtype == kind and numpy.isnan(found).tolist() == [False, True, False] and found[0] == 0.5
        found = numpy.asarray(columns["t"])
        assert numpy.isnat(found).tolist() == [False, True, False] and found[0] == numpy.datetime64("2020-01-01")
        assert numpy.isnan(numpy.asarray(columns["i"], dtype=float)).tolist() == [False, True, False]  # The caller asked for floats.
        with pytest.raises(crealm.DataError):
            columns["i"].to_numpy(null=0.5)
        with pytest.raises(crealm.NotSupportedError):
            columns["s"].to_masked()
        for name in kinds:
            with pytest.raises(TypeError if name in "su" else (BufferError, TypeError)):
                memoryview(columns[name])
        with db.write():
            db["A"].where("i == NULL").delete_all()
        assert numpy.asarray(db["A"].column("i")).tolist() == [1, 2**53 + 1] and db["A"].column("b").to_numpy(null=False).all()


def test_integers_for_pandas_keep_their_digits(path):
    """Also with None in the column, for which pandas would use floats."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    large = 2**53 + 1
    schema = crealm.ClassSchema("A", {"n": Optional[int], "all": int, "to": "A", "many": list[Optional[int]]})
    with crealm.open(path, schema=[schema]) as db:
        with db.write():
            first = db["A"].create(n=large, all=large, many=[large, None])
            db["A"].create(n=None, all=-large, to=first)
        frame = db["A"].to_pandas("n", "all", "to", "n", "many")
        assert [str(kind) for kind in frame.dtypes] == ["Int64", "int64", "Int64", "Int64", "object"]
        for index in 0, 3:
            assert frame.iloc[0, index] == large and frame.iloc[1, index] is pandas.NA
        assert frame.iloc[1, 2] == first.object_key and list(frame["many"][0]) == [large, None]
        assert db["A"].where("n == null").to_pandas("n").shape == (1, 1)
        with db.write():
            db.add_many("A", frame[["all"]].assign(n=frame.iloc[:, 0]))
        assert [row.n for row in db["A"]] == [large, None, large, None]


def test_columns_outlive_the_database(path):
    with crealm.open(path, schema=[crealm.ClassSchema("A", {"n": int, "s": str})]) as db:
        with db.write():
            for n in range(100):
                db["A"].create(n=n, s=str(n))
        numbers, texts = db["A"].column("n"), db["A"].column("s")
        view = numbers.values
    del numbers
    gc.collect()
    assert list(view) == list(range(100))
    assert texts.to_list() == [str(n) for n in range(100)]


def test_columns_inside_a_write(people):
    table = people["Person"]
    with people.write():
        table.create(4, name="Dan", age=1)
        assert table.column("age").to_list() == [31, 42, 53, 1]
        for ask in (lambda: table.select("age"), table.__arrow_c_stream__):
            with pytest.raises(crealm.UsageError):
                ask()


def test_wrong_columns(people):
    table = people["Person"]
    for name in ("nothing", "name.age", "friend.nothing", "", "friend."):
        with pytest.raises(crealm.Error) as error:
            table.column(name)
        assert name.split(".")[0] in str(error.value)
    with pytest.raises(crealm.DataError):
        table.column("a\0b")


def test_a_collection_is_refused_before_it_is_read(path, monkeypatch):
    """The type is known without the values, which may be many."""
    properties = {"n": int, "many": list[int], "some": set[str], "by": dict[str, int], "any": Any}
    with crealm.open(path, schema=[crealm.ClassSchema("A", properties)]) as db:
        with db.write():
            db["A"].create(n=1, many=[1, 2], any=[1])
        read = []
        fetch = _arrow.fetch
        monkeypatch.setattr(_arrow, "fetch", lambda *arguments: read.append(arguments) or fetch(*arguments))
        for name in ("many", "some", "by"):
            with pytest.raises(crealm.NotSupportedError):
                db["A"].column(name)
        assert read == []
        assert list(db["A"].column("n")) == [1] and list(db["A"].column("any")) == [[1]] and read


def test_times_too_far_away(path):
    with crealm.open(path, schema=[crealm.ClassSchema("A", {"n": int, "t": Optional[datetime], "z": int})]) as db:
        with db.write():
            for n in range(400):
                db["A"].create(n=n, t=None, z=0)
            db["A"][333].t = datetime(2300, 1, 1, tzinfo=timezone.utc)
        where = f"'t' of the object with key {db['A'][333].object_key}"
        assert db["A"].column("t")[333].year == 2300 and db["A"].column("t").unit == "us"  # Read one by one.
        # The library tells which object; also if later columns were not read.
        for rows in db["A"], db["A"].where("n > 100").sort("n"), db["A"].sort("-n"):
            with pytest.raises(crealm.DataError, match=where):
                _arrow.fetch(rows._rows_handle(), 0, 400, ["n", "t", "z"])
        assert [row.t for row in db["A"]][333].year == 2300  # A loop reads this value by itself.


# Streams


def pins(db):
    return len(db.versions())


def test_an_unused_stream_is_released(people):
    before = pins(people)
    capsule = people["Person"].__arrow_c_stream__()
    schema = people["Person"].__arrow_c_schema__()
    with people.write():
        people["Person"].create(4)
    assert pins(people) == before + 1 and len(_arrow._waiting) == 2  # The stream is not consumed.
    assert "arrow_array_stream" in repr(capsule) and "arrow_schema" in repr(schema)
    del capsule, schema
    assert pins(people) == before and not _arrow._waiting


def test_a_stream_of_a_closed_database(path):
    """Batches that were received before stay valid; at exit nothing leaks."""
    with crealm.open(path, schema=[crealm.ClassSchema("A", {"n": int})]) as db:
        with db.write():
            db["A"].create(n=5)
        selection = db["A"].select("n")
        capsule = db["A"].__arrow_c_stream__()
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    with pytest.raises(crealm.ClosedError):
        db["A"]
    del selection

    class Holder:
        def __arrow_c_stream__(self, requested_schema=None):
            return capsule

    assert pyarrow.RecordBatchReader.from_stream(Holder()).read_all().to_pylist() == [{"n": 5}]
    assert len(_arrow._waiting) == 1
    del capsule
    assert not _arrow._waiting


def test_streams_on_other_threads(people):
    selection, errors, capsules = people["Person"].select("name"), [], []

    def elsewhere():
        try:
            people["Person"]
        except crealm.WrongThreadError as error:
            errors.append(error)
        capsules.append(selection.__arrow_c_stream__())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert len(errors) == 1 and len(capsules) == 1


def test_pyarrow_reads_everything(things):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    with things.write():
        first, second, _ = things["Thing"]
        first.numbers, first.texts, first.words = [1, 2], ["a", None], {"x", None}
        first.anys, first.any = [1, "t", None], {"k": [True]}
        first.parts, first.part = [{"name": "p", "sizes": [7]}], {"name": "q", "bits": [{"n": 3}]}
        first.things, first.links, first.other = [second], {"s": second, "n": None}, second
        first.ages, first.rooms = {"a": 1}, {"r": {"name": "room"}}
    table = things["Thing"].to_arrow()
    table.validate(full=True)
    found = table.to_pylist()[0]
    assert found["numbers"] == [1, 2] and found["texts"] == ["a", None] and set(found["words"]) == {"x", None}
    assert found["anys"] == [{"json": "1"}, {"json": '"t"'}, None] and found["any"] == {"json": '{"k":[true]}'}
    assert found["parts"] == [{"name": "p", "sizes": [7], "of": None, "bits": []}]
    assert found["part"] == {"name": "q", "sizes": [], "of": None, "bits": [{"n": 3}]}
    assert found["things"] == [second.id] and found["other"] == second.id
    assert found["links"] == [("n", None), ("s", second.id)] and found["ages"] == [("a", 1)]
    assert found["rooms"] == [("r", {"name": "room", "sizes": [], "of": None, "bits": []})]
    assert table.field("other").metadata == {b"realm.primaryKey": b"Thing"}
    assert things["Thing"].to_arrow("other.@key").field(0).metadata == {b"realm.link": b"Thing"}
    part = things["Thing"].to_arrow("part.name", "other.id", "@key")
    assert part.column_names == ["part.name", "other.id", "@key"]
    assert part.to_pylist()[0] == {"part.name": "q", "other.id": 2, "@key": first.object_key}
    assert pyarrow.table(things["Thing"].where("id > 1").select("id")).to_pylist() == [{"id": 2}, {"id": 3}]


def test_data_frames(rows):
    table = rows["Row"]
    texts = [row.s for row in table]
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    frame = table.to_pandas("s", "i", "d_or_none")
    assert isinstance(frame, pandas.DataFrame) and frame["s"].tolist() == texts
    assert frame["i"].tolist() == [row.i for row in table]
    assert frame["d_or_none"].isna().tolist() == [row.d_or_none is None for row in table]


def test_polars(rows):
    pytest.importorskip("polars", reason="polars is not installed")
    table = rows["Row"]
    frame = table.to_polars("s", "i_or_none", "t")
    assert frame["s"].to_list() == [row.s for row in table]
    assert frame["i_or_none"].to_list() == [row.i_or_none for row in table]
    assert frame["t"].dt.epoch("us").to_list() == [(row.t - EPOCH) // timedelta(microseconds=1) for row in table]
    everything = table.to_polars()
    assert everything.height == len(table)


def test_duckdb(rows):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    selection = rows["Row"].where("i > 0").select("i", "l.i")
    assert selection is not None  # Found by its name.
    [(count, total)] = duckdb.sql("SELECT count(*), sum(i) FROM selection").fetchall()
    wanted = [row.i for row in rows["Row"].where("i > 0")]
    assert (count, total) == (len(wanted), sum(wanted))


# Files of other implementations


def files():
    return sorted(p for p in FIXTURES.rglob("*.realm") if p.is_file())


@pytest.mark.parametrize("file", files(), ids=lambda p: p.stem)
def test_fixtures(file):
    """In each class of each file that opens without a key, each column has the same values as attributes."""
    try:
        db = crealm.open(file, mode="snapshot")
    except crealm.Error:
        pytest.skip("does not open without a key, or at all")
    with db:
        for name in db.classes:
            table, bound = db[name], db._named(name)
            objects = [table[i] for i in range(min(len(table), 2000))]
            assert table.column("@key").to_list()[: len(objects)] == [row.object_key for row in objects]
            for column, facts in bound.properties.items():
                is_link = facts.type == 12
                if facts.collection or not (is_link or facts.type in _arrow.OF_PROPERTY):
                    continue
                if is_link and db._named(facts.target).schema.embedded:
                    with pytest.raises(crealm.NotSupportedError):
                        table.column(column)
                    continue
                found = table.column(column).to_list()[: len(objects)]
                assert [repr(v) for v in found] == [repr(expected(row[column])) for row in objects], column
