"""SQL statements of programs: generated statements give what plain SQLite gives on the same data, with each engine that is installed."""

import contextlib
import os
import random
import runpy
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import uuid
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, Optional

import crealm
import pytest
from crealm import _extension, _sql_duckdb, _sql_sqlite, _sql_tables
from crealm._sql_values import date_value, decimal_text, json_text

from conftest import REPOSITORY
from documents import Session, examples

UTC = timezone.utc
TEXTS = ["", "a", "A", "ab", "b", "é", "日本", "5", "05", "abc", "it's", '"q"', "x\\y", "z" * 300, ") and (age > 5"]
AGES = [0, 1, -1, 5, 7, 30, 31, 100, -(2**40)]
SCORES = [0.0, 0.5, 1.0, -2.5, 0.25, 1024.0, 1e300, float("inf"), float("nan")]
DATES = [datetime(1970, 1, 1, tzinfo=UTC), datetime(1969, 12, 31, 23, 59, 59, 500000, tzinfo=UTC), datetime(2020, 2, 29, 12, 0, 0, 250000, tzinfo=UTC),
         datetime(2020, 2, 29, 12, tzinfo=UTC), datetime(1900, 5, 6, tzinfo=UTC), datetime(2261, 1, 1, tzinfo=UTC)]  # fmt: skip

CITY = crealm.ClassSchema(
    "City", {"name": str, "size": Optional[int], "founded": Optional[datetime]}, primary_key="name"
)
NOTE = crealm.ClassSchema("Note", {"text": Optional[str]})
PLACE = crealm.ClassSchema("Place", {"x": int}, embedded=True)
PERSON = crealm.ClassSchema(
    "Person",
    {
        "id": int, "name": Optional[str], "word": str, "age": Optional[int], "rank": int, "score": Optional[float], "weight": Optional[crealm.Float32],
        "active": Optional[bool], "born": Optional[datetime], "photo": Optional[bytes], "uid": Optional[uuid.UUID],
        "oid": Optional[crealm.ObjectId], "balance": Optional[Decimal], "tags": list[str], "city": "City", "note": "Note",
        "boss": "Person", "place": "Place", "and": Optional[int],
    },
    primary_key="id",
)  # fmt: skip
PLAIN = """
    CREATE TABLE City (name TEXT, size INTEGER, founded TEXT);
    CREATE TABLE Note (text TEXT);
    CREATE TABLE Person (id INTEGER, name TEXT, word TEXT, age INTEGER, rank INTEGER, score REAL, weight REAL, active INTEGER, born TEXT, photo BLOB,
        uid TEXT, oid TEXT, balance TEXT, tags TEXT, city TEXT, note INTEGER, boss INTEGER, place INTEGER, "and" INTEGER);
"""


def date_text(moment):
    """The form of docs/sql.md, made in another way than the package makes it."""
    if moment is None:
        return None
    text = f"{moment:%Y-%m-%d %H:%M:%S}"
    return text + f".{moment.microsecond:06}".rstrip("0") if moment.microsecond else text


def fill(path, seed, count=150):
    """A file, and a plain database of SQLite with the same data, in the forms of docs/sql.md."""
    pick = random.Random(seed)
    plain = sqlite3.connect(":memory:")
    plain.executescript(PLAIN)

    def or_none(values):
        return None if pick.random() < 0.15 else pick.choice(values)

    with crealm.open(path, schema=[CITY, NOTE, PLACE, PERSON]) as db, db.write():
        cities = []
        for name in "Oslo", "Rome", "", "é", "5":
            size, founded = or_none(AGES), or_none(DATES)
            cities.append(db["City"].create(name, size=size, founded=founded))
            plain.execute(
                "INSERT INTO City (rowid, name, size, founded) VALUES (?, ?, ?, ?)",
                (cities[-1].object_key, name, size, date_text(founded)),
            )
        notes = [db["Note"].create(text=or_none(TEXTS)) for _ in range(4)]
        plain.executemany(
            "INSERT INTO Note (rowid, text) VALUES (?, ?)", [(note.object_key, note.text) for note in notes]
        )
        people, texts = [], []
        for number in range(count):
            values = {
                "name": or_none(TEXTS), "word": pick.choice(TEXTS), "age": or_none(AGES), "rank": pick.randrange(5), "score": or_none(SCORES),
                "weight": or_none([0.5, 0.1, -1.0]), "active": or_none([True, False]), "photo": or_none([b"", b"\0", b"ab", b"\xff"]),
                "born": or_none(DATES + [datetime(2000, 1, 1, tzinfo=UTC) + timedelta(seconds=pick.randrange(10**8))]),
                "uid": or_none([uuid.UUID(int=n) for n in range(4)]), "oid": or_none([crealm.ObjectId(bytes([n] * 12)) for n in range(4)]),
                "balance": or_none([Decimal("1.50"), Decimal("-0.001"), Decimal("1E+40"), Decimal("0E-8")]),
                "tags": [pick.choice(["p", 'q"', "r\n"]) for _ in range(pick.randrange(3))], "city": or_none(cities), "note": or_none(notes),
                "boss": or_none(people) if people else None, "and": or_none([1, 2]),
            }  # fmt: skip
            person = db["Person"].create(number * 3 - 50, **values)
            place = None
            if pick.random() < 0.5:
                person.place = {"x": number}
                place = person.place.object_key
            people.append(person)
            texts.append({
                **values, "id": person.id, "score": values["score"], "weight": None if values["weight"] is None else float(crealm.Float32(values["weight"])),
                "born": date_text(values["born"]), "uid": None if values["uid"] is None else str(values["uid"]),
                "oid": None if values["oid"] is None else values["oid"].hex, "balance": None if values["balance"] is None else str(values["balance"]),
                "tags": "[" + ",".join({"p": '"p"', 'q"': '"q\\""', "r\n": '"r\\u000a"'}[tag] for tag in values["tags"]) + "]",
                "city": None if values["city"] is None else values["city"].name, "note": None if values["note"] is None else values["note"].object_key,
                "boss": None if values["boss"] is None else values["boss"].id, "place": place, "rowid": person.object_key,
            })  # fmt: skip
        for row in texts:
            names = ", ".join(f'"{name}"' for name in row)
            plain.execute(f"INSERT INTO Person ({names}) VALUES ({', '.join('?' * len(row))})", list(row.values()))
    return plain


# ------------------------------------------------------------------------------------------------
# Engines
# ------------------------------------------------------------------------------------------------

WAYS = ["duckdb", "virtual tables", "copies"]


@pytest.fixture(params=WAYS)
def engine(request, monkeypatch):
    """The name of an engine. SQLite has two ways to read the file."""
    if request.param == "duckdb":
        if not _sql_duckdb.is_installed():
            pytest.skip("the packages duckdb and pyarrow are not there")
        return "duckdb"
    if request.param == "copies":
        monkeypatch.setattr(_sql_sqlite, "_has_virtual", lambda db: False)
    elif _extension.problem() is not None:
        pytest.skip(_extension.problem())
    else:
        monkeypatch.setattr(_sql_sqlite, "_on_copies", lambda *_: pytest.fail("the virtual tables were not used"))
    return "sqlite"


@pytest.fixture
def small(path):
    with crealm.open(path, schema=[CITY, NOTE, PLACE, PERSON]) as db:
        with db.write():
            oslo = db["City"].create("Oslo", size=5)
            ann = db["Person"].create(
                1,
                name="Ann",
                age=30,
                city=oslo,
                born=datetime(2000, 1, 2, 3, 4, 5, 600000, tzinfo=UTC),
                active=True,
                word="w",
            )
            db["Person"].create(
                2, name="Bob", age=None, boss=ann, word="w", uid=uuid.UUID(int=5), balance=Decimal("1.50"), tags=["x"]
            )
        yield db


def duckdb_is_there():
    if not _sql_duckdb.is_installed():
        pytest.skip("the packages duckdb and pyarrow are not there")


# ------------------------------------------------------------------------------------------------
# Generated statements
# ------------------------------------------------------------------------------------------------

CONSTANTS = {
    "id": ["0", "1", "-50", "100", "NULL"], "age": ["0", "1", "5", "30", "-1", "1.5", "NULL"], "rank": ["0", "2", "4", "NULL"],
    "score": ["0", "0.5", "1.0", "-2.5", "1e300", "NULL"], "weight": ["0.5", "0", "-1.0"], "active": ["true", "false", "NULL"],
    "name": ["''", "'a'", "'A'", "'ab'", "'é'", "'日本'", "'it''s'", "'\"q\"'", "'x\\y'", "') and (age > 5'", "NULL", "'zz'"],
    "word": ["''", "'a'", "'b'", "'05'", "'it''s'", "'z'"],
    "born": ["'1970-01-01 00:00:00'", "'2020-02-29 12:00:00.25'", "'2020-02-29 12:00:00'", "'1969-12-31 23:59:59.5'", "NULL"],
    "uid": ["'00000000-0000-0000-0000-000000000002'", "'nope'", "NULL"], "oid": ["'010101010101010101010101'", "'nope'"],
    "balance": ["'1.50'", "'1E+40'"], "city": ["'Oslo'", "''", "'é'", "'Nowhere'", "NULL"], "note": ["0", "1", "99"], "boss": ["-50", "10", "NULL"],
    "and": ["1", "2"], "rowid": ["0", "3", "999"],
}  # fmt: skip


def column(name):
    return f'p."{name}"' if name != "rowid" else "p.rowid"


def condition(pick, names=tuple(CONSTANTS)):
    name = pick.choice(names)
    place, constants = column(name), CONSTANTS[name]
    way = pick.randrange(7)
    if way < 3:
        return f"{place} {pick.choice(['=', '<', '<=', '>', '>=', '<>'])} {pick.choice(constants)}"
    if way == 3:
        return f"{place} {pick.choice(['IN', 'NOT IN'])} ({', '.join(pick.sample(constants, min(3, len(constants))))})"
    if way == 4:
        return f"{place} IS {pick.choice(['NULL', 'NOT NULL'])}"
    if way == 5:
        return f"{place} {pick.choice(['', 'NOT'])} BETWEEN {pick.choice(constants)} AND {pick.choice(constants)}"
    return (
        f"{place} IS NOT DISTINCT FROM {pick.choice(constants)}"
        if sqlite3.sqlite_version_info >= (3, 39)
        else f"{place} IS NOT NULL"
    )


def where(pick):
    text = condition(pick)
    for _ in range(pick.randrange(3)):
        text = f"({text}) {pick.choice(['AND', 'AND', 'OR'])} ({condition(pick)})"
    return text if pick.random() < 0.85 else f"NOT ({text})"


def order(pick, names):
    return ", ".join(
        f"{column(name)} {pick.choice(['ASC', 'DESC', '', 'ASC NULLS LAST', 'DESC NULLS FIRST'])}" for name in names
    )


SORTED = [
    "age",
    "rank",
    "score",
    "weight",
    "active",
    "name",
    "word",
    "born",
    "photo",
    "uid",
    "oid",
    "city",
    "note",
    "and",
]
SHOWN = [*SORTED, "id", "balance", "tags", "boss", "place", "rowid"]


def statement(pick):
    way, tested = pick.randrange(12), where(pick)
    if way < 3:
        shown = ", ".join(map(column, pick.sample(SHOWN, pick.randrange(1, 8))))
        limit = pick.choice(
            ["", f" LIMIT {pick.randrange(8)}", f" LIMIT {pick.randrange(8)} OFFSET {pick.randrange(8)}"]
        )
        return f"SELECT p.id, {shown} FROM Person p WHERE {tested} ORDER BY {order(pick, pick.sample(SORTED, pick.randrange(1, 4)))}, p.id{limit}"
    if way == 3:
        place = column(pick.choice(["active", "and", "city", "name", "rank", "uid", "boss"]))
        having = pick.choice(["", " HAVING count(*) > 2", " HAVING max(p.age) IS NOT NULL"])
        shown = f"{place} AS g, count(*), count(p.age), sum(p.rank), min(p.born), max(p.word), avg(p.rank)"
        return f"SELECT {shown} FROM Person p WHERE {tested} GROUP BY {place}{having} ORDER BY 1"
    if way == 4:
        shown = "count(*), count(p.name), count(DISTINCT p.name), sum(p.age), min(p.score), max(p.score), max(p.born)"
        return f"SELECT {shown}, min(p.uid), avg(p.age), sum(p.active) FROM Person p WHERE {tested}"
    if way == 5:
        return f'SELECT DISTINCT p.active, p."and", p.city FROM Person p WHERE {tested} ORDER BY 1, 2, 3'
    if way == 6:
        join = pick.choice(["JOIN", "LEFT JOIN"])
        return f"SELECT p.id, c.name, c.size, c.founded, c.rowid FROM Person p {join} City c ON p.city = c.name WHERE {tested} ORDER BY p.id"
    if way == 7:
        on = pick.choice(
            [
                "p.boss = b.id",
                "b.boss = p.id",
                "p.note = b.note AND p.id < b.id",
                "p.name = b.word AND p.rank = b.rank",
                "p.age = b.age",
            ]
        )
        return f"SELECT p.id, b.id FROM Person p {pick.choice(['JOIN', 'LEFT JOIN'])} Person b ON {on} WHERE {tested} ORDER BY 1, 2"
    if way == 8:
        return f"SELECT c.name, (SELECT count(*) FROM Person p WHERE p.city = c.name AND ({tested})) FROM City c ORDER BY 1"
    if way == 9:
        test = pick.choice(["EXISTS (SELECT 1 FROM Note n WHERE n.rowid = p.note AND n.text IS NULL)", "p.city IN (SELECT c.name FROM City c WHERE c.size > 1)",
                            "p.id NOT IN (SELECT q.boss FROM Person q WHERE q.boss IS NOT NULL)"])  # fmt: skip
        shown = f"CASE WHEN {condition(pick)} THEN 'yes' WHEN p.age IS NULL THEN NULL ELSE 'no' END"
        return f"SELECT p.id, {shown} FROM Person p WHERE {test} AND ({tested}) ORDER BY p.id DESC"
    if way == 10:
        return (f"SELECT p.id, coalesce(p.name, 'none'), coalesce(p.age, 0) + p.rank, p.age * 2 - p.rank, abs(p.age), length(p.word), p.word || '!', "
                f"nullif(p.rank, 2), p.score + 0.5, p.age IS NULL, p.name = p.word FROM Person p WHERE {tested} ORDER BY p.id")  # fmt: skip
    return (f"SELECT p.id, row_number() OVER (PARTITION BY p.rank ORDER BY p.id), sum(p.rank) OVER (ORDER BY p.id) FROM Person p WHERE {tested} "
            f"UNION ALL SELECT n.rowid, NULL, count(*) FROM Note n GROUP BY n.rowid ORDER BY 1, 2, 3")  # fmt: skip


@pytest.mark.parametrize("seed", range(2))
def test_generated_statements(path, engine, seed):
    plain, pick = fill(path, seed), random.Random(100 + seed)
    found = 0
    with crealm.open(path) as db:
        for number in range(150):
            text = statement(pick)
            expected = plain.execute(text).fetchall()
            result = db.sql(text, engine=engine)
            assert list(result) == expected, f"{seed}/{number}: {text}"
            found += len(expected) > 0
    assert found > 90


@pytest.mark.parametrize("seed", range(2))
def test_statements_with_arguments(path, engine, seed):
    plain, pick = fill(path, seed), random.Random(200 + seed)
    given = {
        "age": [0, 5, 30, -1, None], "score": [0.5, 1.0, -2.5, None], "name": TEXTS, "word": TEXTS, "born": DATES, "active": [True, False],
        "photo": [b"ab", b""], "uid": [uuid.UUID(int=2)], "oid": [crealm.ObjectId(bytes([1] * 12))], "balance": [Decimal("1.50")],
    }  # fmt: skip
    with crealm.open(path) as db:
        for _ in range(100):
            name, other = pick.choice(list(given)), pick.choice(["age", "rank", "id"])
            value, least = pick.choice(given[name]), pick.choice([0, 1, 5])
            text = f'SELECT p.id FROM Person p WHERE p."{name}" {pick.choice(["=", "<", ">=", "<>"])} ? AND p."{other}" >= ? ORDER BY p.id'
            stored = (
                date_text(value)
                if isinstance(value, datetime)
                else value
                if value is None or isinstance(value, (int, float, str, bytes))
                else str(value)
            )
            assert (
                list(db.sql(text, [value, least], engine=engine)) == plain.execute(text, [stored, least]).fetchall()
            ), (text, value)


@pytest.mark.parametrize("name", ["Person", "City", "Note", "Place"])
def test_whole_tables(path, engine, name):
    plain = fill(path, 7)
    with crealm.open(path) as db:
        result = db.sql(f"SELECT * FROM {name} ORDER BY 1", engine=engine)
        if name == "Place":
            assert result.columns == ["x"] and len(result) == len(db["Place"]) > 20
            return
        assert result.columns == [part[0] for part in plain.execute(f"SELECT * FROM {name}").description]
        assert list(result) == plain.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall()
        assert {type(value) for row in result for value in row} <= {int, str, float, bytes, type(None)}


# ------------------------------------------------------------------------------------------------
# Values
# ------------------------------------------------------------------------------------------------

ALL = crealm.ClassSchema(
    "All",
    {
        "any": Any, "ints": list[int], "anys": list[Any], "words": set[str], "ages": dict[str, Optional[int]], "links": list["All"], "times": list[datetime],
        "floats": list[crealm.Float32], "doubles": list[float], "data": list[bytes], "a.b": int, "day": Optional[datetime], "rowid": Optional[int],
    },
)  # fmt: skip
VALUES = [5, True, 2.5, crealm.Float32(0.1), "x", b"y", DATES[2], Decimal("1.50"), uuid.UUID(int=3),
          crealm.ObjectId(bytes(12)), None, [1, {"k": None}], {"é": [True, "q\""]}, float("inf"), 1e16, 1e15, 123456789012345680.0, 1e-7]  # fmt: skip


def test_all_kinds_of_values(path, engine):
    """The forms of docs/sql.md; DuckDB has JSON for values of type Any, because its columns have one type."""
    with crealm.open(path, schema=[ALL]) as db:
        with db.write():
            rows = [db["All"].create(any=value, rowid=number, **{"a.b": number}) for number, value in enumerate(VALUES)]
            rows[0].any = rows[3]
            rows[0].ints, rows[0].words, rows[0].ages = [3, 1], {"b", "a"}, {"z": 1, "n": None}
            rows[0].anys, rows[0].links, rows[0].times = (
                VALUES[1:],
                [rows[1], rows[2]],
                [DATES[2], datetime(1, 1, 1, tzinfo=UTC)],
            )
            rows[0].floats, rows[0].doubles, rows[0].data = (
                [0.1, 16777216.0, 1e10],
                [0.1, -0.0, 1e300, float("inf")],
                [b"abc", b""],
            )
        found = {row["rowid"]: row for row in db.sql('SELECT * FROM "All"', engine=engine).to_dicts()}
        keys = [row.object_key for row in rows]
        assert {name: found[0][name] for name in ("ints", "words", "ages", "links", "times", "floats", "doubles", "data", "a.b")} == {
            "ints": "[3,1]", "words": '["a","b"]', "ages": found[0]["ages"], "links": f"[{keys[1]},{keys[2]}]", "a.b": 0,
            "times": '["2020-02-29 12:00:00.25","0001-01-01 00:00:00"]', "floats": "[0.1,16777216.0,1e+10]",
            "doubles": "[0.1,-0.0,1e+300,9.0e+999]", "data": '["YWJj",""]',
        }  # fmt: skip
        assert found[0]["ages"] in ('{"z":1,"n":null}', '{"n":null,"z":1}')
        assert found[0]["anys"] == ('[true,2.5,0.1,"x","eQ==","2020-02-29 12:00:00.25","1.50","00000000-0000-0000-0000-000000000003",'
                                    '"000000000000000000000000",null,[1,{"k":null}],{"é":[true,"q\\""]},9.0e+999,1e+16,1e+15,'
                                    "1.2345678901234568e+17,1e-07]")  # fmt: skip
        anys = [found[number]["any"] for number in range(1, len(VALUES))]
        if engine == "duckdb":
            assert anys == ["true", "2.5", "0.1", '"x"', '"eQ=="', '"2020-02-29 12:00:00.25"', '"1.50"', '"00000000-0000-0000-0000-000000000003"',
                            '"000000000000000000000000"', None, '[1,{"k":null}]', '{"é":[true,"q\\""]}', "9.0e+999", "1e+16", "1e+15",
                            "1.2345678901234568e+17", "1e-07"]  # fmt: skip
            assert found[0]["any"] == str(keys[3])
        else:
            assert anys == [1, 2.5, float(crealm.Float32(0.1)), "x", b"y", "2020-02-29 12:00:00.25", "1.50",
                            "00000000-0000-0000-0000-000000000003", "0" * 24, None,
                            '[1,{"k":null}]', '{"é":[true,"q\\""]}', float("inf"), 1e16, 1e15, 123456789012345680.0, 1e-7]  # fmt: skip
            assert found[0]["any"] == keys[3]


FAR = [
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(1970, 1, 1, tzinfo=UTC),
    None,
]


def test_far_dates(path, engine):
    with crealm.open(path, schema=[ALL]) as db:
        with db.write():
            for moment in FAR:
                db["All"].create(day=moment)
        text = "SELECT day FROM \"All\" WHERE day > '1900-01-01 00:00:00' OR day IS NULL ORDER BY day"
        assert list(db.sql(text, engine=engine)) == [(None,), ("1970-01-01 00:00:00",), ("9999-12-31 23:59:59.999999",)]
        assert list(db.sql('SELECT min(day), max(day) FROM "All"', engine=engine)) == [
            ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999")
        ]
        with db.write():  # Outside of the years of datetime, and with nanoseconds: no unit has all of them.
            db["All"].create(day=crealm.RawTimestamp(-(10**11), 0))
            db["All"].create(day=crealm.RawTimestamp(3 * 10**11, 5))
            db["All"].create(day=crealm.Timestamp(2000, 1, 1, nanosecond=7, tzinfo=UTC))
        days = [day for (day,) in db.sql('SELECT day FROM "All" WHERE day IS NOT NULL', engine=engine)]
        first = ["0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "1970-01-01 00:00:00"]
        last = [-(10**11), b"+000000011476-08-15 05:20:00.000000005", "2000-01-01 00:00:00.000000007"]
        assert days == [
            *first,
            *([day.decode() if isinstance(day, bytes) else str(day) for day in last] if engine == "duckdb" else last),
        ]


@pytest.mark.parametrize("seconds, expected", [
    (-62167219200, "0000-01-01 00:00:00"), (-62167219201, -62167219201), (253402300799, "9999-12-31 23:59:59"), (253402300800, b"+000000010000-01-01 00:00:00"),
    (10**14, b"+000003170843-11-07 09:46:40"),
])  # fmt: skip
def test_dates_outside_of_datetime(seconds, expected):
    assert date_value(crealm.RawTimestamp(seconds, 0)) == expected


def test_texts_of_decimals():
    assert [decimal_text(Decimal(text)) for text in ("-NaN", "sNaN", "Infinity", "-0.00", "1E+3")] == [
        "NaN",
        "NaN",
        "Infinity",
        "-0.00",
        "1E+3",
    ]
    assert json_text(float("nan")) == "null"


def test_nanoseconds(path, engine):
    with crealm.open(path, schema=[ALL]) as db:
        with db.write():
            db["All"].create(day=crealm.Timestamp(2000, 1, 1, nanosecond=7, tzinfo=UTC))
            db["All"].create(day=datetime(2000, 1, 1, tzinfo=UTC))
        moment = crealm.Timestamp(2000, 1, 1, nanosecond=7, tzinfo=UTC)
        assert list(db.sql('SELECT day FROM "All" WHERE day >= ?', [moment], engine=engine)) == [
            ("2000-01-01 00:00:00.000000007",)
        ]
        assert list(db.sql("SELECT day FROM \"All\" WHERE day > '2000-01-01 00:00:00'", engine=engine)) == [
            ("2000-01-01 00:00:00.000000007",)
        ]


def test_names(path, engine):
    """Names that SQL takes for equal, names with quotation marks, and classes without properties."""
    odd = crealm.ClassSchema('say "hi"', {'a"b': int, "name": str, "Name": str, "select": int})
    with crealm.open(
        path, schema=[odd, crealm.ClassSchema("Item", {"n": int}), crealm.ClassSchema("item", {"m": int})]
    ) as db:
        with db.write():
            db['say "hi"'].create(name="low", Name="high", select=3, **{'a"b': 1})
            db["Item"].create(n=1)
            db["item"].create(m=2)
        assert db.sql('SELECT * FROM "say ""hi"""', engine=engine).to_dicts() == [
            {'a"b': 1, "name": "low", "Name_": "high", "select": 3}
        ]
        assert list(db.sql("SELECT n, m FROM Item, item_", engine=engine)) == [(1, 2)]


def test_subclasses_and_other_names_of_properties(path, engine):
    class Kind(Enum):
        BIG = "b"

    class Thing(crealm.Model):
        id: int = crealm.field(primary_key=True)
        label: str = crealm.field(name="title")
        kind: Kind

    with crealm.open(path, schema=[Thing]) as db:
        with db.write():
            db.add(Thing(id=1, label="one", kind=Kind.BIG))
        assert db.sql("SELECT * FROM Thing WHERE kind = ? AND title = 'one'", [Kind.BIG], engine=engine).to_dicts() == [
            {"id": 1, "title": "one", "kind": "b"}
        ]


# ------------------------------------------------------------------------------------------------
# Results and arguments
# ------------------------------------------------------------------------------------------------


def test_the_result(small, engine):
    found = small.sql("SELECT name, age FROM Person ORDER BY id", engine=engine)
    assert found.engine == engine and found.columns == ["name", "age"] and len(found) == 2
    assert list(found) == [("Ann", 30), ("Bob", None)] and found[1] == ("Bob", None) and found[-2:] == list(found)
    assert found.to_dicts() == [{"name": "Ann", "age": 30}, {"name": "Bob", "age": None}]
    assert "2 rows" in repr(found) and "<td>Ann</td>" in found._repr_html_().replace(" ", "")
    double = small.sql("SELECT 1 AS x, 2 AS x", engine=engine)
    assert double.columns == ["x", "x"] and list(double) == [(1, 2)]
    with pytest.raises(crealm.DataError, match="'x'"):
        double.to_dicts()
    assert list(small.sql("SELECT name FROM Person WHERE id > 99", engine=engine)) == []
    small.close()
    assert found[0] == ("Ann", 30)


def test_frames(small, engine):
    pyarrow, pandas = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    found = small.sql("SELECT name, age FROM Person ORDER BY id", engine=engine)
    assert found.to_arrow().to_pydict() == {"name": ["Ann", "Bob"], "age": [30, None]}
    assert found.to_pandas()["name"].tolist() == ["Ann", "Bob"] and isinstance(found.to_pandas(), pandas.DataFrame)
    born = small.sql("SELECT born FROM Person WHERE id = 1", engine=engine)
    assert list(born) == [("2000-01-02 03:04:05.6",)]
    assert born.to_arrow().schema.field("born").type == (
        pyarrow.timestamp("us") if engine == "duckdb" else pyarrow.string()
    )
    assert small.sql("SELECT 1 AS n WHERE 1 = 0", engine=engine).to_arrow().num_rows == 0
    if engine == "sqlite":
        with pytest.raises(crealm.DataError, match="'x'"):
            small.sql("SELECT 1 AS x UNION ALL SELECT 'a'", engine=engine).to_arrow()


def test_arguments(small, engine):
    ann = small["Person"].get(1)
    assert list(small.sql("SELECT id FROM Person WHERE boss = ?", [ann], engine=engine)) == [(2,)]
    assert list(
        small.sql(
            "SELECT id FROM Person WHERE age > $least AND name = $name", {"least": 5, "name": "Ann"}, engine=engine
        )
    ) == [(1,)]
    assert list(
        small.sql(
            "SELECT id FROM Person WHERE city = ? AND active = ?", (small["City"].get("Oslo"), True), engine=engine
        )
    ) == [(1,)]
    east = datetime(2000, 1, 2, 5, 4, 5, 600000, tzinfo=timezone(timedelta(hours=2)))
    assert list(small.sql("SELECT id FROM Person WHERE born = ?", [east], engine=engine)) == [(1,)]
    for wrong, error in (
        ([object()], crealm.TypeMismatch),
        ([2**63], crealm.DataError),
        ([datetime(2000, 1, 1)], crealm.DataError),
    ):
        with pytest.raises(error, match="Argument 1"):
            small.sql("SELECT ?", wrong, engine=engine)
    for wrong in ([], [1, 2]):
        with pytest.raises(crealm.QueryError):
            small.sql("SELECT id FROM Person WHERE id = ?", wrong, engine=engine)
    with pytest.raises(TypeError, match="a list, or a dictionary"):
        small.sql("SELECT ?", "x", engine=engine)
    with pytest.raises(TypeError, match="a text, not int"):
        small.sql(5, engine=engine)
    with pytest.raises(crealm.DataError, match="surrogate"):
        small.sql("SELECT ?", ["\ud800"], engine=engine)
    with pytest.raises(crealm.QueryError, match="surrogate"):
        small.sql("SELECT '\ud800'", engine=engine)


def test_engines(small, monkeypatch):
    with pytest.raises(crealm.DataError, match="'duckdb' or 'sqlite', not 'oracle'"):
        small.sql("SELECT 1", engine="oracle")
    monkeypatch.setattr(_sql_duckdb, "is_installed", lambda: False)
    assert small.sql("SELECT 1").engine == "sqlite"
    with pytest.raises(crealm.NotSupportedError, match="pip install"):
        small.sql("SELECT 1", engine="duckdb")
    monkeypatch.setattr(_sql_duckdb, "is_installed", lambda: True)
    monkeypatch.setattr(_sql_duckdb, "run", lambda *_: _sql_duckdb.Answer(["one"], [(1,)]))
    assert small.sql("SELECT 1").engine == "duckdb"


# ------------------------------------------------------------------------------------------------
# What is refused
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [
    "DELETE FROM Person", "INSERT INTO City (name) VALUES ('x')", "UPDATE Person SET age = 1", "DROP TABLE Person", "CREATE TABLE t (x INTEGER)",
    "ATTACH 'other.db' AS o", "PRAGMA user_version = 5", "SELECT 1; SELECT 2", "BEGIN", "VACUUM INTO 'copy.db'", "COPY (SELECT 1) TO 'copy.csv'",
    "SELECT * FROM 'people.csv'", "SELECT * FROM read_csv('people.csv')", "SELECT load_extension('x')", "SELECT crealm_attach('x.realm')",
    "SELECT crealm_key('x.realm', 'y')", "INSTALL httpfs", "SET threads = 1", "WITH a AS (SELECT 1) DELETE FROM Person", "EXPLAIN DELETE FROM Person",
    "SELECT", "", "   ", "-- nothing", "SELECT nothing FROM Person", "SELECT * FROM Nothing", "SELECT \0", "CREATE VIRTUAL TABLE t USING crealm('x', 'y')",
])  # fmt: skip
def test_statements_that_are_refused(small, engine, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("a\n1\n")
    before, beside = Path(small.path).read_bytes(), sorted(os.listdir(tmp_path))
    with pytest.raises(crealm.QueryError) as info:
        small.sql(text, engine=engine)
    assert info.value.text == text and info.value.message
    assert Path(small.path).read_bytes() == before and sorted(os.listdir(tmp_path)) == beside
    assert len(small.sql("SELECT * FROM Person", engine=engine)) == 2


def test_inside_a_write_and_after_close(small, engine):
    with small.write():
        with pytest.raises(crealm.UsageError, match="not inside a write"):
            small.sql("SELECT 1", engine=engine)
    small.close()
    with pytest.raises(crealm.ClosedError):
        small.sql("SELECT 1", engine=engine)


# ------------------------------------------------------------------------------------------------
# Snapshots and ways to open a file
# ------------------------------------------------------------------------------------------------


def test_one_snapshot(small, engine, monkeypatch):
    """A statement sees the snapshot of the database, not the newest version."""
    if engine == "sqlite":
        monkeypatch.undo()  # Virtual tables cannot show an old version: copies do.
    with crealm.open(small.path) as other, other.write():
        other["Person"].create(3, name="Cyd", word="w")
    assert list(small.sql("SELECT count(*) FROM Person", engine=engine)) == [(2,)]
    small.refresh()
    assert list(small.sql("SELECT count(*) FROM Person", engine=engine)) == [(3,)]


def test_a_commit_between_the_snapshot_and_the_statement(small, monkeypatch):
    """The extension would read the new version: then its rows are thrown away."""
    if _extension.problem() is not None:
        pytest.skip(_extension.problem())
    read = _sql_sqlite._on_virtual

    def late(*arguments):
        def write():
            with crealm.open(small.path) as other, other.write():
                other["Person"].create(9, name="late", word="w")

        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
        found = read(*arguments)
        assert found.rows == [(3,)]
        return found

    monkeypatch.setattr(_sql_sqlite, "_on_virtual", late)
    assert list(small.sql("SELECT count(*) FROM Person", engine="sqlite")) == [(2,)]


@pytest.mark.parametrize("mode", ["r", "immutable", "snapshot", "frozen"])
def test_modes(small, engine, mode, monkeypatch):
    monkeypatch.undo()
    path = small.path
    small.close()
    with crealm.open(path, mode="r" if mode == "frozen" else mode) as db:
        asked = db.freeze() if mode == "frozen" else db
        assert list(asked.sql("SELECT name FROM Person ORDER BY id", engine=engine)) == [("Ann",), ("Bob",)]


def test_memory(engine, monkeypatch):
    monkeypatch.undo()
    with crealm.memory(schema=[NOTE]) as db:
        with db.write():
            db["Note"].create(text="x")
        assert list(db.sql("SELECT text FROM Note", engine=engine)) == [("x",)]


@pytest.mark.parametrize("secret", [{"key": bytes(range(64))}, {"passphrase": "open sesame"}])
def test_encrypted_files(tmp_path, engine, secret, monkeypatch):
    if "passphrase" in secret:
        monkeypatch.undo()
    path = tmp_path / "secret.realm"
    with crealm.open(path, schema=[NOTE], **secret) as db:
        with db.write():
            db["Note"].create(text="x")
        assert list(db.sql("SELECT text FROM Note", engine=engine)) == [("x",)]


def test_a_schema_with_a_part_of_the_file(small, engine, monkeypatch):
    """Tables have the properties that the database shows."""
    monkeypatch.undo()
    path = small.path
    small.close()
    part = crealm.ClassSchema("Person", {"id": int, "name": Optional[str]}, primary_key="id")
    with crealm.open(path, schema=[part]) as db:
        assert db.sql("SELECT * FROM Person WHERE id = 1", engine=engine).to_dicts() == [{"id": 1, "name": "Ann"}]
        with pytest.raises(crealm.QueryError):
            db.sql("SELECT * FROM City", engine=engine)


def test_other_threads(small, engine, monkeypatch):
    monkeypatch.undo()

    def ask():
        found.append(list(frozen.sql("SELECT count(*) FROM Person", engine=engine)))

    frozen, found = small.freeze(), []
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[(2,)]] * 4


@pytest.mark.parametrize("part", range(8))
def test_damaged_files(path, tmp_path, engine, part, monkeypatch):
    """An error of this package, or rows; and the reason if the file is found to be damaged."""
    monkeypatch.undo()
    fill(path, 3)
    data, damaged = bytearray(path.read_bytes()), tmp_path / "damaged.realm"
    pick = random.Random(part)
    for _ in range(4 ** (part % 4)):
        data[pick.randrange(24, len(data))] ^= pick.randrange(1, 256)
    damaged.write_bytes(bytes(data))
    try:
        with crealm.open(damaged, mode="snapshot") as db:
            assert len(db.sql("SELECT rowid, * FROM Person", engine=engine)) >= 0
    except crealm.Error as error:
        assert error.message


# ------------------------------------------------------------------------------------------------
# What the engines are asked to do
# ------------------------------------------------------------------------------------------------


def test_copies_have_what_a_statement_reads(path, monkeypatch):
    fill(path, 1)
    read = []
    monkeypatch.setattr(_sql_sqlite, "_has_virtual", lambda db: False)
    pages = _sql_tables.pages
    monkeypatch.setattr(
        _sql_sqlite,
        "pages",
        lambda rows, columns: read.append(sorted(column.name for column in columns)) or pages(rows, columns),
    )
    with crealm.open(path) as db:
        db.sql("SELECT p.name FROM Person p JOIN City c ON p.city = c.name WHERE p.age > 5", engine="sqlite")
        assert sorted(read) == [["age", "city", "name"], ["name"]]
        read.clear()
        db.sql("SELECT count(*), max(rowid) FROM Note", engine="sqlite")
        assert read == [[]]
        read.clear()
        db.sql("SELECT 1", engine="sqlite")
        assert read == []


def test_duckdb_reads_what_a_statement_uses(path, monkeypatch):
    duckdb_is_there()
    fill(path, 1)
    read = []
    batches = _sql_duckdb._Source._read_batches

    def watched(self, columns, schema, rows):
        read.append((self._name, sorted(column.name for column in columns), len(rows)))
        return batches(self, columns, schema, rows)

    monkeypatch.setattr(_sql_duckdb._Source, "_read_batches", watched)
    with crealm.open(path) as db:
        people = db["Person"]
        db.sql("SELECT p.name FROM Person p WHERE p.age > 5 AND p.born < '2001-01-01 00:00:00'", engine="duckdb")
        moment = datetime(2001, 1, 1, tzinfo=UTC)
        expected = len(people.where("age > 5 AND born < $0", moment))
        assert read == [("Person", ["age", "born", "name"], expected)] and 0 < expected < len(people)
        read.clear()
        db.sql("SELECT p.id FROM Person p WHERE p.word = 'ab' AND (p.age > 5 OR p.age IS NULL)", engine="duckdb")
        assert read == [("Person", ["age", "id", "word"], len(people.where("word == 'ab'")))]
        read.clear()
        db.sql("SELECT count(*) FROM City", engine="duckdb")
        assert [(name, count) for name, _, count in read] == [("City", 5)] and len(read[0][1]) == 1


@pytest.mark.parametrize("condition, expected", [
    ("(age > 1)", [("age", ">", 1)]),
    ("((age > 1) and (name == \"b\"))", [("age", ">", 1), ("name", "==", "b")]),
    ("(((age > 1) and is_valid(name)) and (rank <= -5))", [("age", ">", 1), ("rank", "<=", -5)]),
    ("((age > 1) or (rank > 2))", []),
    ("((name == \"b\") and ((age > 1) or (rank > 2)))", [("name", "==", "b")]),
    ("invert((age > 1))", []),
    ("(name == \"x\\\") and (age > 5\")", []),
    ("(name == \"x) and (age > 5\")", []),
    ("(score > 1)", []), ("(city == \"Oslo\")", []), ("(and > 1)", [("and", ">", 1)]),
    ("(nothing > 1)", []), ("(age > 99999999999999999999)", []), ("(name > \"a\")", []),
    ("(born >= 1969-12-31 23:59:59.500000000)", [("born", ">=", datetime(1969, 12, 31, 23, 59, 59, 500000, tzinfo=UTC))]),
    ("", []), ("()", []), ("true", []),
])  # fmt: skip
def test_conditions_that_are_pushed_down(small, condition, expected):
    (person,) = (table for table in _sql_tables.tables(small) if table.name == "Person")
    assert [tuple(part) for part in _sql_duckdb.pushed_down(condition, person.columns)] == expected


def test_no_conditions_with_names_that_look_like_conditions(path):
    duckdb_is_there()
    name = "x > 1) and (n"
    with crealm.open(path, schema=[crealm.ClassSchema("Odd", {name: int, "x": int, "n": int})]) as db:
        with db.write():
            db["Odd"].create(**{name: 9, "x": 0, "n": 0})
        assert list(db.sql(f'SELECT n FROM Odd WHERE "{name}" > 5', engine="duckdb")) == [(0,)]


# ------------------------------------------------------------------------------------------------
# Interrupts
# ------------------------------------------------------------------------------------------------

ENDLESS = (
    "SELECT count(*) FROM Person a, "
    "(WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1000000000) SELECT x FROM n) b"
)


def test_ctrl_c(small, engine):
    before = threading.active_count()
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        small.sql(ENDLESS, engine=engine)
    assert list(small.sql("SELECT count(*) FROM Person", engine=engine)) == [(2,)]
    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() <= before


def test_interrupt(small, engine):
    threading.Timer(0.3, small.interrupt).start()
    with pytest.raises(crealm.Interrupted):
        small.sql(ENDLESS, engine=engine)
    assert list(small.sql("SELECT count(*) FROM Person", engine=engine)) == [(2,)]


def test_a_signal_handler_that_raises(small, engine):
    class Enough(Exception):
        pass

    def stop(*_):
        raise Enough

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Enough):
            small.sql(ENDLESS, engine=engine)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# ------------------------------------------------------------------------------------------------
# The command line
# ------------------------------------------------------------------------------------------------

STATEMENT = "SELECT id, name, age, city, photo FROM Person ORDER BY id"
OUTPUT = {
    "table": "id  name  age  city  photo\n1   Ann   30   Oslo  3 bytes 610062\n2   Bob   -    -     -\n",
    "csv": "id,name,age,city,photo\n1,Ann,30,Oslo,YQBi\n2,Bob,,,\n",
    "json": '[\n {"id": 1, "name": "Ann", "age": 30, "city": "Oslo", "photo": "YQBi"},\n '
            '{"id": 2, "name": "Bob", "age": null, "city": null, "photo": null}\n]\n',
    "ndjson": '{"id": 1, "name": "Ann", "age": 30, "city": "Oslo", "photo": "YQBi"}\n{"id": 2, "name": "Bob", "age": null, "city": null, "photo": null}\n',
}  # fmt: skip


@pytest.mark.parametrize("form", OUTPUT)
def test_the_command(small, engine, form, capsys, monkeypatch):
    from crealm.cli import main

    monkeypatch.undo()
    with small.write():
        small["Person"].get(1).photo = b"a\0b"
    path = small.path
    small.close()
    before = Path(path).read_bytes(), sorted(os.listdir(Path(path).parent))
    assert main(["sql", path, STATEMENT, "--format", form, "--engine", engine]) == 0
    assert capsys.readouterr().out.replace("\r\n", "\n") == OUTPUT[form]
    assert (Path(path).read_bytes(), sorted(os.listdir(Path(path).parent))) == before


def test_errors_of_the_command(small, engine, capsys, monkeypatch):
    from crealm.cli import main

    monkeypatch.undo()
    assert main(["sql", small.path, "SELECT nothing FROM Person", "--engine", engine]) == 1
    assert "nothing" in capsys.readouterr().err
    assert main(["sql", small.path, "DELETE FROM Person", "--engine", engine]) == 1
    assert main(["sql", small.path, "SELECT 1 AS x, 2 AS x", "--format", "json", "--engine", engine]) == 1
    assert "AS gives" in capsys.readouterr().err
    assert main(["sql", small.path, "SELECT '\x1b[31m' AS x", "--engine", engine]) == 0
    assert "\\x1b[31m" in capsys.readouterr().out


def test_an_encrypted_file_on_the_command_line(tmp_path):
    path, key = tmp_path / "secret.realm", tmp_path / "key"
    key.write_bytes(bytes(range(64)))
    with crealm.open(path, schema=[NOTE], key=bytes(range(64))) as db, db.write():
        db["Note"].create(text="x")
    command = [sys.executable, "-m", "crealm", "sql", str(path), "SELECT text FROM Note", "--format", "csv"]
    environment = {**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1])}
    assert subprocess.run(command, capture_output=True, env=environment).returncode == 1
    done = subprocess.run([*command, "--key", str(key)], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout.split()) == (0, ["text", "x"])


# ------------------------------------------------------------------------------------------------
# The page
# ------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.environ.get("CREALM_TEST_INSTALLED") is not None, reason="an installed package has no pages")
def test_the_examples_of_the_page(tmp_path):
    page = REPOSITORY / "docs" / "sql.md"
    runpy.run_path(str(REPOSITORY / "docs/python/phone.py"))["make"](str(tmp_path / "phone.realm"))
    found = examples(page)
    assert len(found) == 3 and all(example.says_what_it_does() for example in found)
    with contextlib.closing(Session(page, tmp_path)) as session:
        for number in range(len(found)):
            session.run(number)
