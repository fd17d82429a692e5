"""Values of each type and collections of each shape between two files and a real PostgreSQL: the same values arrive."""

from __future__ import annotations

import math
import os
import sys
import uuid
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Optional

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import crealm
from crealm import ClassSchema, Float32, ObjectId, Timestamp
from test_postgres import Bench, close, kinds, server  # noqa: F401

ALL = ClassSchema(
    "All",
    {
        "id": str,
        "i": Optional[int],
        "b": bool,
        "f": Float32,
        "d": float,
        "t": Optional[str],
        "x": Optional[bytes],
        "at": Optional[datetime],
        "dec": Optional[Decimal],
        "oid": Optional[ObjectId],
        "u": Optional[uuid.UUID],
        "any": Any,
        "one": "All",
        "select": str,
        'we"ird; DROP': int,
        "crealm_row": int,
    },
    primary_key="id",
)
ADDRESS = ClassSchema("Address", {"street": str, "tags": list[str], "at": Optional[datetime]}, embedded=True)
MANY = ClassSchema(
    "Many",
    {
        "id": uuid.UUID,
        "li": list[int],
        "lt": list[str],
        "ld": list[float],
        "lat": list[datetime],
        "ldec": list[Decimal],
        "lany": list[Any],
        "lx": list[bytes],
        "links": list["Many"],
        "si": set[int],
        "st": set[str],
        "di": dict[str, int],
        "dany": dict[str, Any],
        "home": "Address",
        "homes": list["Address"],
    },
    primary_key="id",
)


@pytest.fixture
def bench(server, tmp_path, request):  # noqa: F811
    made = Bench(server, tmp_path, request.node.name.replace("[", "_").replace("]", "")[:60], (ALL, ADDRESS, MANY))
    yield made
    close(made)


def plain(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, Decimal) and value.is_nan():
        return "NaN"
    if isinstance(value, float):
        return (value, math.copysign(1, value))
    if hasattr(value, "to_dict") and not isinstance(value, dict):
        return plain(value.to_dict())
    if isinstance(value, dict) or hasattr(value, "items"):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (set, frozenset)) or type(value).__name__ == "SetView":
        return sorted((plain(v) for v in value), key=repr)
    if isinstance(value, (list, tuple)) or hasattr(value, "append"):
        return [plain(v) for v in value]
    return value


def content(db: Any, name: str) -> Any:
    found = {}
    for one in db[name]:
        values = {}
        for key, value in one:
            if key in ("one", "links"):
                value = (value.id if value else None) if key == "one" else [v.id for v in value]
            values[key] = plain(value)
        found[one.id] = values
    return found


NOW = datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=timezone.utc)
SINGLE = [
    dict(
        id="low",
        i=-(2**63),
        b=True,
        f=Float32(1.5),
        d=-0.0,
        t="",
        x=b"",
        at=datetime(1, 1, 1, tzinfo=timezone.utc),
        dec=Decimal("0.10"),
        oid=ObjectId("0123456789abcdef01234567"),
        u=uuid.UUID(int=1),
        any=None,
    ),
    dict(
        id="high",
        i=2**63 - 1,
        d=1.7976931348623157e308,
        f=Float32(3.4028235e38),
        t="ß→🙂\\'\"\n\t",
        x=bytes(range(256)),
        at=NOW,
        dec=Decimal("123456789012345678901234567890.1234"),
        any=7,
    ),
    dict(
        id="special",
        d=float("nan"),
        f=Float32(float("inf")),
        dec=Decimal("NaN"),
        any="text",
        at=datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc),
    ),
    dict(id="small", d=5e-324, f=Float32(1e-45), dec=Decimal("-Infinity"), any=2.5),
    dict(id="mixed1", any=[1, "two", None, {"three": 3.5, "deep": [b"x", Decimal("1.5"), NOW]}]),
    dict(id="mixed2", any={"a": True, "b": [], "c": {}, "u": uuid.UUID(int=5)}),
    dict(id="mixed3", any=1e16),
    dict(id="mixed4", any=-0.0),
    dict(id="mixed5", any=float("inf")),
    dict(id="mixed6", any=b"bytes"),
    dict(id="mixed7", any=1.0),
]


@pytest.mark.parametrize("values", SINGLE, ids=lambda v: v["id"])
def test_values_arrive_as_they_are(bench, values):
    a, b = bench.device("a"), bench.device("b")
    with a.write():
        other = a["All"].create(id="other")
        a["All"].create(one=other, **values)
    found = bench.sync(a, b)
    assert kinds(found) == []
    bench.settle(a, b)
    assert content(a, "All") == content(b, "All")
    one = content(b, "All")[values["id"]]
    for name, value in values.items():
        assert one[name] == plain(value), name
    assert one["one"] == "other"


def test_names_that_look_like_sql(bench):
    a, b = bench.device("a"), bench.device("b")
    with a.write():
        one = a["All"].create(id="x' OR 1=1; --", select="s")
        one['we"ird; DROP'] = 5
        one["crealm_row"] = 6
    bench.settle(a, b)
    bench.sql('UPDATE "All" SET "we""ird; DROP" = 8')
    bench.settle(a, b)
    one = content(b, "All")["x' OR 1=1; --"]
    assert (one["select"], one['we"ird; DROP'], one["crealm_row"]) == ("s", 8, 6)


def test_a_text_with_a_zero_byte_is_refused(bench):
    a = bench.device("a")
    with a.write():
        a["All"].create(id="ok", t="ok")
        a["All"].create(id="bad", t="a\0b")
    found = bench.sync(a)
    assert kinds(found) == ["refused"]
    assert list(content(a, "All")) == ["ok"]
    assert [r.key for r in a.sync.status.refused] == ['"bad"']


KEY = uuid.UUID(int=7)
FULL = dict(
    li=[3, 1, 3],
    lt=["b", "a", ""],
    ld=[1.0, -0.5, 1e300],
    lat=[NOW, NOW],
    ldec=[Decimal("1.50"), Decimal("-2")],
    lany=[1, "x", None, 2.5, [1, {"k": 2}]],
    lx=[b"", b"\x00\xff"],
    si={5, 1},
    st={"q", "p"},
    di={"one": 1, "two": 2},
    dany={"x": None, "y": [1], "z": {"w": 1}},
)


def test_collections_arrive_as_they_are(bench):
    a, b = bench.device("a"), bench.device("b")
    with a.write():
        one = a["Many"].create(id=KEY, **FULL)
        one.links = [one, one]
        one.home = {"street": "s", "tags": ["t", "u"], "at": NOW}
        one.homes = [{"street": "1"}, {"street": "2", "tags": ["x"]}]
    assert kinds(bench.sync(a, b)) == []
    bench.settle(a, b)
    assert content(a, "Many") == content(b, "Many")
    one = content(b, "Many")[KEY]
    for name, value in FULL.items():
        assert one[name] == plain(value), name
    assert one["links"] == [KEY, KEY] and one["home"]["tags"] == ["t", "u"] and len(one["homes"]) == 2
    assert bench.sql("SELECT li, lt, di, home ->> 'street' FROM \"Many\"") == [
        ([3, 1, 3], ["b", "a", ""], {"one": 1, "two": 2}, "s")
    ]


def edited(db: Any, change: Any) -> None:
    with db.write():
        change(db["Many"].get(KEY))


@pytest.mark.parametrize("first", ["a", "b"])
def test_collections_that_both_sides_changed_are_merged(bench, first):
    a, b = bench.device("a"), bench.device("b")
    with a.write():
        one = a["Many"].create(id=KEY, **FULL)
        one.home = {"street": "s", "tags": ["t", "u"]}
    bench.settle(a, b)

    def by_a(one: Any) -> None:
        one.li.insert(0, 100)
        one.lt.remove("a")
        one.si.add(7)
        one.si.remove(1)
        one.di["one"] = 11
        one.di["new"] = 5
        one.home.street = "from a"

    def by_b(one: Any) -> None:
        one.li.append(200)
        one.lt.append("end")
        one.si.add(8)
        one.di["two"] = 22
        del one.di["one"]
        one.home.tags.append("from b")

    edited(a, by_a)
    edited(b, by_b)
    order = (a, b) if first == "a" else (b, a)
    found = bench.sync(*order)
    assert "merged" in kinds(found)
    bench.settle(a, b)
    assert content(a, "Many") == content(b, "Many")
    one = content(a, "Many")[KEY]
    assert one["li"] == [100, 3, 1, 3, 200]
    assert one["lt"] == ["b", "", "end"]
    assert one["si"] == [5, 7, 8]
    assert one["di"] == {"one": 11, "two": 22, "new": 5}
    assert one["home"]["street"] == "from a" and one["home"]["tags"] == ["t", "u", "from b"]


def test_moves_and_replacements_in_lists_are_merged(bench):
    a, b = bench.device("a"), bench.device("b")
    with a.write():
        a["Many"].create(id=KEY, lt=["1", "2", "3", "4", "5"])
    bench.settle(a, b)

    def by_a(one: Any) -> None:
        one.lt = ["2", "3", "4", "5", "1"]  # Moved to the end.

    def by_b(one: Any) -> None:
        one.lt = ["1", "2", "x", "4", "5", "5"]  # Replaced, and a duplicate.

    edited(a, by_a)
    edited(b, by_b)
    bench.settle(a, b)
    assert content(a, "Many") == content(b, "Many")
    assert content(a, "Many")[KEY]["lt"] == ["2", "x", "4", "5", "5", "1"]


def test_sql_changes_collections(bench):
    a = bench.device("a")
    with a.write():
        a["Many"].create(id=KEY, **FULL)
    bench.settle(a)
    bench.sql("""UPDATE "Many" SET li = array_append(li, 9), di = di || '{"sql": 3}', dany = '{"n": 1.5}',
        lat = lat || '["2020-01-01T00:00:00+01:00"]' """)
    edited(a, lambda one: one.li.insert(0, 8))
    bench.settle(a)
    one = content(a, "Many")[KEY]
    assert one["li"] == [8, 3, 1, 3, 9] and one["di"]["sql"] == 3 and one["dany"] == {"n": (1.5, 1.0)}
    assert one["lat"][-1] == datetime(2019, 12, 31, 23, tzinfo=timezone.utc)
