"""add_many: packed rows give the same objects as single calls, for every type, in every form of rows."""

import datetime as dt
import io
import random
import uuid
from decimal import Decimal
from typing import Any, Dict, List, Optional, Set

import crealm
import pytest
from crealm import _batches

UTC = dt.timezone.utc


class Part(crealm.Embedded):
    label: str = ""


class Item(crealm.Model):
    id: int = crealm.field(primary_key=True)
    n: Optional[int] = None
    flag: bool = False
    d: float = 0.0
    name: Optional[str] = crealm.field(index=True, default=None)
    text: str = ""
    data: Optional[bytes] = None
    when: Optional[dt.datetime] = None
    oid: Optional[crealm.ObjectId] = None
    code: Optional[uuid.UUID] = None
    price: Optional[Decimal] = None
    any: Any = None
    numbers: List[int]
    words: Set[str]
    map: Dict[str, Optional[int]]
    next: Optional["Item"] = None
    part: Optional[Part] = None


@pytest.fixture
def db(path):
    with crealm.open(path, schema=[Item, Part], schema_version=1) as db:
        yield db


@pytest.fixture
def packed(monkeypatch):
    """Counts the rows that were written as batches."""
    sizes = []
    real = _batches.add
    monkeypatch.setattr(_batches, "add", lambda o, b, n, columns, u: (real(o, b, n, columns, u), sizes.append(n))[0])
    return sizes


def plain(item):
    values = {name: getattr(item, name) for name in Item._fields if name not in ("next", "part")}
    values.update(numbers=list(item.numbers), words=set(item.words), map=dict(item.map))
    return values


def some_row(r, i):
    def maybe(value):
        return None if r.random() < 0.25 else value

    text = r.choice(["", "Ann", "größer", "a text of more than sixty-three bytes, " * 2, "\0x", "City%d" % r.randrange(9)])
    return {
        "id": i,
        "n": maybe(r.randrange(-(2**63), 2**63)),
        "flag": r.random() < 0.5,
        "d": r.choice([0.5, float("inf"), -0.0, 3, 1e300]),
        "name": maybe(text),
        "text": text,
        "data": maybe(r.randbytes(r.randrange(80))),
        "when": maybe(dt.datetime(1900 + r.randrange(200), 5, 6, 7, 8, 9, r.randrange(10**6), UTC)),
        "oid": maybe(crealm.ObjectId(r.randbytes(12))),
        "code": maybe(uuid.UUID(bytes=r.randbytes(16))),
        "price": maybe(Decimal(r.randrange(10**9)).scaleb(-r.randrange(9))),
        "any": maybe(text),
        "numbers": [r.randrange(100) for _ in range(r.randrange(4))],
        "words": {r.choice("abc") for _ in range(r.randrange(4))},
        "map": {k: maybe(r.randrange(9)) for k in "xyz"[: r.randrange(4)]},
    }


@pytest.mark.parametrize("seed", range(4))
def test_batches_give_what_single_rows_give(db, tmp_path, packed, monkeypatch, seed):
    r = random.Random(seed)
    with crealm.open(tmp_path / "single.realm", schema=[Item, Part], schema_version=1) as single:
        for start, update in ((2000, "error"), (1950, "modified"), (1975, "all"), (3000, None)):
            rows = [some_row(r, start + i) for i in range(100)]
            if seed == 1 and update == "all":
                rows += [some_row(r, start + 5)]
            names = [name for name in rows[0] if name == "id" or seed == 0 or r.random() < 0.7]
            rows = [{name: row[name] for name in names} for row in rows]
            with db.write(), single.write():
                assert db.add_many(Item, rows, update, batch=37) == len(rows)
                with monkeypatch.context() as m:
                    m.setattr(_batches, "available", lambda: False)
                    assert single.add_many(Item, rows, update or "error") == len(rows)
            assert [plain(a) for a in db[Item]] == [plain(b) for b in single[Item]]
        assert seed or sum(packed) >= 300


def test_rows_of_other_forms(db, packed):
    with db.write():
        assert db.add_many(Item, ((i, f"n{i}") for i in range(50)), columns=["id", "name"]) == 50
        assert db.add_many(Item, [[60, "x"]] * 20, "all", columns=("id", "name")) == 20
        first = db[Item].get(1)
        assert db.add_many(Item, [{"id": 100 + i, "next": first, "part": {"label": "p"}} for i in range(20)]) == 20
        assert db.add_many(Item, [Item(id=200 + i, n=i) for i in range(20)]) == 20
        assert db.add_many(Item, [{"id": 300 + i, "next": {"id": 400 + i}} for i in range(20)]) == 20
    assert db[Item].get(7).name == "n7" and db[Item].get(110).next == first and db[Item].get(111).part.label == "p"
    assert db[Item].get(219).n == 19 and db[Item].get(310).next.id == 410 and sum(packed) == 70
    with db.write():
        with pytest.raises(crealm.DataError, match="Row 1: 1 values for 2 columns"):
            db.add_many(Item, [(1, 2), (3,)], columns=["id", "n"])
        with pytest.raises(TypeError, match="Row 0 is no tuple"):
            db.add_many(Item, ["ab"], columns=["id", "n"])
        with pytest.raises(crealm.NoSuchProperty):
            db.add_many(Item, [(1, 2)] * 20, columns=["id", "nobody"])
        with pytest.raises(crealm.DataError, match="update is"):
            db.add_many(Item, [], update="some")
        with pytest.raises(crealm.DataError, match="at least one row"):
            db.add_many(Item, [], batch=0)


@pytest.mark.parametrize(
    "values, error",
    [
        ({"n": "5"}, crealm.TypeMismatch),
        ({"n": True}, crealm.TypeMismatch),
        ({"n": 2**63}, crealm.LimitExceeded),
        ({"flag": 1}, crealm.TypeMismatch),
        ({"text": None}, crealm.ConstraintError),
        ({"text": "\ud800"}, crealm.DataError),
        ({"when": dt.datetime(2020, 1, 1)}, crealm.DataError),
        ({"numbers": [1, None]}, crealm.ConstraintError),
        ({"map": {"a.b": 1}}, crealm.DataError),
        ({"id": 3}, crealm.DuplicateKeyError),
        ({"id": None}, crealm.ConstraintError),
    ],
)
def test_what_is_wrong_with_a_row_is_said(db, values, error):
    """Earlier rows stay, as they always did."""
    rows = [{"id": i, "n": 1, "flag": True, "text": "x", "when": None, "numbers": [], "map": {}} for i in range(40)]
    rows[25].update(values)
    with db.write():
        with pytest.raises(error, match="Row 25"):
            db.add_many(Item, rows)
        assert len(db[Item]) == 25
        for name, value in values.items():
            if name != "id":
                assert name in str(pytest.raises(error, db.add_many, Item, rows[25:26]).value)


def test_csv(db, tmp_path):
    lines = (
        "id,name,n,flag,d,when,code,price,data,oid\n"
        f'1,"a, b",,true,1.5,2020-01-02T03:04:05Z,{uuid.UUID(int=7)},1.50,00ff,{"ab" * 12}\n'
        "\n2,,7,0,2,2020-01-02 03:04:05,,,,\n"
    )
    file = tmp_path / "items.csv"
    file.write_text("\ufeff" + lines, "utf-8")
    with db.write():
        assert db.add_many(Item, str(file)) == 2
        one, two = db[Item].get(1), db[Item].get(2)
        assert (one.name, one.n, one.flag, one.price, one.data) == ("a, b", None, True, Decimal("1.50"), b"\x00\xff")
        assert one.when == two.when == dt.datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC) and one.code == uuid.UUID(int=7)
        assert (two.name, two.n, two.flag, two.d, two.code, two.oid) == (None, 7, False, 2.0, None, None)
        assert db.add_many(Item, file, update="all") == 2 and db.add_many(Item, io.StringIO("")) == 0
        assert db.add_many(Item, io.StringIO("5,7\n6,8"), columns=["id", "n"]) == 2 and db[Item].get(6).n == 8
        for text, said in (
            ("id,n\n9,x", r"Row 0: Item\.n: .x. is no integer"),
            ("id,n\n9", "Row 0: 1 fields for 2 columns"),
            ("id,numbers\n9,1", r"Item\.numbers cannot be filled"),
            ("id,flag\n9,maybe", "neither true nor false"),
            ("id,\n9,1", "Column 2 of the first line has no name"),
        ):
            with pytest.raises(crealm.DataError, match=said):
                db.add_many(Item, io.StringIO(text))
        with pytest.raises(crealm.NoSuchProperty):
            db.add_many(Item, io.StringIO("id,nobody\n9,1"))


def test_arrow_tables_and_dataframes(db):
    pa = pytest.importorskip("pyarrow")
    r = random.Random(1)
    rows = [some_row(r, i) for i in range(500)]
    table = pa.table(
        {
            "id": pa.chunked_array([[row["id"] for row in rows[:200]], [row["id"] for row in rows[200:]]], pa.int32()),
            "n": pa.array([row["n"] for row in rows], pa.int64()),
            "flag": [row["flag"] for row in rows],
            "name": pa.array([row["name"] for row in rows]).dictionary_encode(),
            "text": pa.array([row["text"] for row in rows], pa.large_string()),
            "data": pa.array([row["data"] for row in rows], pa.binary()),
            "when": pa.array([row["when"] for row in rows], pa.timestamp("us", "Europe/Oslo")),
            "price": pa.array([row["price"] for row in rows], pa.decimal128(38, 9)),
            "numbers": [row["numbers"] for row in rows],
            "map": pa.array([list(row["map"].items()) for row in rows], pa.map_(pa.string(), pa.int8())),
            "part": [None if i % 3 else {"label": f"p{i}"} for i in range(500)],
            "next": pa.array([None if i % 2 else i // 2 for i in range(500)], pa.uint16()),
        }
    )
    with db.write():
        assert db.add_many(Item, table) == 500
    for row, item in zip(rows, db[Item]):
        got = plain(item)
        assert {name: got[name] for name in ("id", "n", "flag", "name", "text", "data", "when", "numbers", "map")} == {
            name: row[name] for name in ("id", "n", "flag", "name", "text", "data", "when", "numbers", "map")
        }
        assert item.price == row["price"]
        assert (item.part.label if item.part else None) == (None if row["id"] % 3 else f"p{row['id']}")
        assert (item.next.id if item.next else None) == (None if row["id"] % 2 else row["id"] // 2)
    with db.write():
        assert db.add_many(Item, table.slice(13, 400), update="modified", batch=7) == 400
        with pytest.raises(crealm.DuplicateKeyError, match=r"Row 300, property 'Item\.id'"):
            ids = pa.table({"id": list(range(1000, 1300)) + [5]})
            db.add_many(Item, ids, batch=100)
        assert len(db[Item]) == 800
        with pytest.raises(crealm.NoSuchProperty, match="nobody"):
            db.add_many(Item, pa.table({"id": [5], "nobody": [1]}))
        with pytest.raises(crealm.NotSupportedError):
            db.add_many(Item, pa.table({"id": [5], "n": pa.array([1], pa.duration("s"))}))


def test_pandas_and_polars(db):
    pytest.importorskip("pyarrow")
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    times = [dt.datetime(2020, 1, 1, tzinfo=UTC), None, dt.datetime(2021, 1, 1, tzinfo=UTC)]
    columns = {"id": [1, 2, 3], "name": ["a", None, "a text of more than twelve bytes"], "when": times}
    with db.write():
        assert db.add_many(Item, pd.DataFrame(columns)) == 3
        frame = pl.DataFrame({**columns, "id": [11, 12, 13], "numbers": [[1], [], [2, 3]]})
        assert db.add_many(Item, frame) == 3 and db.add_many(Item, frame, update="all", batch=1) == 3
    for first in (1, 11):
        items = [db[Item].get(first + i) for i in range(3)]
        assert [i.name for i in items] == columns["name"] and [i.when for i in items] == times
    assert list(db[Item].get(13).numbers) == [2, 3]
