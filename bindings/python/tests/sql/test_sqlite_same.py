"""Statements on the virtual tables give what they give on plain tables of SQLite with the same data."""

import math
import random
import sqlite3
import uuid
from datetime import datetime, timedelta, timezone
from typing import Any, Optional

import crealm
import pytest

TEXTS = ["", "a", "A", "ab", "b", "\0", "a\0b", "é", "日本", "\U0001f600", "5", "05", "5.0", "abc", "z" * 300]
INTS = [0, 1, -1, 5, 7, 100, 2**53 + 1, 2**63 - 1, -(2**63), 2**62]
DOUBLES = [
    0.0,
    -0.0,
    0.1,
    0.5,
    1.0,
    5.0,
    -2.5,
    1e300,
    2.0**53,
    2.0**63,
    -(2.0**63),
    math.inf,
    -math.inf,
    math.nan,
]
FLOATS = [0.0, 0.1, 0.5, 1.0, -2.5, 1e30, math.inf, math.nan]
DATES = [
    datetime(1, 1, 1, tzinfo=timezone.utc), datetime(1969, 12, 31, 23, 59, 59, 500000, tzinfo=timezone.utc),
    datetime(1970, 1, 1, tzinfo=timezone.utc), datetime(2020, 2, 29, 12, 0, 0, 250000, tzinfo=timezone.utc),
    datetime(2020, 2, 29, 12, tzinfo=timezone.utc), datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc),
    datetime(1900, 5, 6, tzinfo=timezone.utc)]  # fmt: skip
BYTES = [b"", b"\0", b"a", b"ab", b"\xff"]

CITY = crealm.ClassSchema("City", {"name": str, "size": Optional[int]}, primary_key="name")
NOTE = crealm.ClassSchema("Note", {"text": Optional[str]})
ROW = crealm.ClassSchema(
    "Row",
    {
        "id": int, "i": Optional[int], "j": int, "b": Optional[bool], "d": Optional[float], "e": float,
        "f": Optional[crealm.Float32], "s": Optional[str], "t": str, "at": Optional[datetime], "bin": Optional[bytes],
        "uid": Optional[uuid.UUID], "any": Any, "list": list[int], "words": set[str], "city": "City", "note": "Note",
        "next": "Row", "and": Optional[int],
    },
    primary_key="id",
)  # fmt: skip


def fill(path, seed, count=120):
    pick = random.Random(seed)

    def or_none(values):
        return None if pick.random() < 0.15 else pick.choice(values)

    with crealm.open(path, schema=[CITY, NOTE, ROW]) as db, db.write():
        cities = [db["City"].create(name, size=or_none(INTS)) for name in ("Oslo", "Rome", "", "é", "5")]
        notes = [db["Note"].create(text=or_none(TEXTS)) for _ in range(4)]
        rows = []
        for number in range(count):
            row = db["Row"].create(
                number * 3 - 50, i=or_none(INTS), j=pick.choice(INTS), b=or_none([True, False]), d=or_none(DOUBLES),
                e=pick.choice(DOUBLES), f=or_none(FLOATS), s=or_none(TEXTS), t=pick.choice(TEXTS),
                at=or_none(DATES + [datetime(2000, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=pick.randrange(10**8))]),
                bin=or_none(BYTES), uid=or_none([uuid.UUID(int=n) for n in range(4)]),
                any=or_none([5, True, 2.5, "x", b"y", DATES[3], [1, {"k": "v"}]]), list=[pick.randrange(5) for _ in range(3)],
                words=set(pick.sample(["p", "q", '"r'], 2)), city=or_none(cities), note=or_none(notes),
                next=or_none(rows) if rows else None, **{"and": or_none([1, 2])})  # fmt: skip
            rows.append(row)
        for row in rows[::17]:
            row.delete()


@pytest.fixture(params=[1, 2])
def both(connection, path, request):
    """The connection with tables v_… of the realm, and p_… with the same rows, types and row ids."""
    fill(path, request.param)
    assert connection.execute("SELECT crealm_attach(?, 'v_')", (str(path),)).fetchone() == (3,)
    for name in "City", "Note", "Row":
        columns = connection.execute(f"SELECT name, type FROM pragma_table_info('v_{name}')").fetchall()
        declared = ", ".join(f'"{column}" {kind}' for column, kind in columns)
        names = ", ".join(f'"{column}"' for column, _ in columns)
        connection.execute(f"CREATE TABLE p_{name} ({declared})")
        connection.execute(f"INSERT INTO p_{name} (rowid, {names}) SELECT rowid, {names} FROM v_{name}")
    return connection


NUMBERS = ["0", "1", "5", "-1", "5.0", "0.1", "0.5", "2.5", "-2.5", "1e300", "-1e300", "9e999", "-9e999", "9007199254740993",
           "9007199254740992.0", "9223372036854775807", "-9223372036854775808", "9223372036854775808.0", "NULL", "'5'",
           "'0.5'", "' 5 '", "'abc'", "''", "x'05'", "CAST('5' AS TEXT)"]  # fmt: skip
STRINGS = ["''", "'a'", "'A'", "'ab'", "'b'", "'é'", "'日本'", "char(0)", "'a' || char(0) || 'b'", "'5'", "5", "5.0", "NULL", "x'61'",
           "'zz'", "CAST(x'ff' AS TEXT)"]  # fmt: skip
TIMES = ["'2020'", "'2020-02-29'", "'2020-02-29 12:00:00'", "'2020-02-29 12:00:00.25'", "'2020-02-29 12:00:00.250'",
         "'2020-02-29T12:00:00Z'", "'1970-01-01 00:00:00'", "'1969-12-31 23:59:59.5'", "'9999-12-31 23:59:59.999999'",
         "'0001-01-01 00:00:00'", "''", "'zzz'", "'-5'", "NULL", "5", "x'32'", "datetime('2000-01-01','+1 day')"]  # fmt: skip
CONSTANTS = {
    "id": NUMBERS, "i": NUMBERS, "j": NUMBERS, "b": NUMBERS, "d": NUMBERS, "e": NUMBERS, "f": NUMBERS, "and": NUMBERS,
    "s": STRINGS, "t": STRINGS, "at": TIMES, "bin": ["x''", "x'61'", "x'6162'", "x'ff'", "'a'", "5", "NULL"],
    "uid": ["'00000000-0000-0000-0000-000000000002'", "'nope'", "5", "NULL"], "city": ["'Oslo'", "''", "'é'", "'Nowhere'", "5", "NULL"],
    "note": ["0", "1", "2.0", "'1'", "99", "NULL"], "next": NUMBERS, "any": NUMBERS + STRINGS, "rowid": ["0", "3", "3.0", "'4'", "999", "NULL"],
}  # fmt: skip


def quoted(name):
    return name if name == "rowid" else f'"{name}"'


def condition(pick):
    name = pick.choice(list(CONSTANTS))
    constants, column = CONSTANTS[name], quoted(name)
    way = pick.randrange(8)
    if way < 4:
        return (
            f"{column} {pick.choice(['=', '<', '<=', '>', '>=', '=', 'IS', '<>'])} {pick.choice(constants)}"
        )
    if way == 4:
        return f"{column} IN ({', '.join(pick.sample(constants, min(3, len(constants))))})"
    if way == 5:
        return f"{column} {pick.choice(['IS NULL', 'IS NOT NULL', 'NOT NULL'])}"
    if way == 6:
        return f"{column} BETWEEN {pick.choice(constants)} AND {pick.choice(constants)}"
    return f"{pick.choice(constants)} {pick.choice(['=', '<', '>='])} {column}"


def where(pick):
    parts = [condition(pick) for _ in range(pick.randrange(1, 4))]
    text = parts[0]
    for part in parts[1:]:
        text = f"{text} {pick.choice(['AND', 'AND', 'OR'])} {part}"
    return text if pick.random() < 0.9 else f"NOT ({text})"


def orders(pick):
    names = pick.sample(
        ["i", "j", "b", "d", "e", "f", "s", "t", "at", "bin", "uid", "any", "city", "note", "and", "id"],
        pick.randrange(1, 4),
    )
    return ", ".join(f"{quoted(name)} {pick.choice(['ASC', 'DESC', ''])}" for name in names)


def statement(pick):
    way = pick.randrange(10)
    tested = where(pick)
    if way < 4:
        # The row id makes the order of equal rows known.
        limit = pick.choice(
            ["", f" LIMIT {pick.randrange(8)}", f" LIMIT {pick.randrange(8)} OFFSET {pick.randrange(8)}"]
        )
        last = pick.choice(["rowid", "rowid DESC", '"id"'])
        order = pick.choice([f"{orders(pick)}, {last}", last])
        return f"SELECT rowid, * FROM T_Row WHERE {tested} ORDER BY {order}{limit}"
    if way == 4:
        return f'SELECT "{pick.choice(["b", "and", "city", "s", "j"])}" AS g, count(*), min("j"), max("t"), sum("b") FROM T_Row WHERE {tested} GROUP BY g ORDER BY g'
    if way == 5:
        return f'SELECT DISTINCT "b", "and", "at" FROM T_Row WHERE {tested} ORDER BY 1, 2, 3'
    if way == 6:
        join = pick.choice(["JOIN", "LEFT JOIN"])
        return f"SELECT T_Row.id, T_City.size FROM T_Row {join} T_City ON T_Row.city = T_City.name WHERE T_Row.id > {pick.randrange(-50, 200)} ORDER BY T_Row.id"
    if way == 7:
        return (
            "SELECT a.id, b.id FROM T_Row a JOIN T_Row b ON "
            + pick.choice(
                [
                    "a.next = b.id",
                    "b.next = a.id",
                    "a.note = b.note AND a.id < b.id",
                    "a.s = b.t",
                    "a.i = b.j AND a.id < b.id",
                    "a.rowid = b.rowid",
                ]
            )
            + " ORDER BY 1, 2"
        )
    if way == 8:
        return f"SELECT c.name, (SELECT count(*) FROM T_Row r WHERE r.city = c.name AND ({tested})) FROM T_City c ORDER BY 1"
    return f'SELECT id FROM T_Row WHERE "i" IN (SELECT "j" FROM T_Row WHERE {tested}) OR EXISTS (SELECT 1 FROM T_Note n WHERE n.rowid = T_Row.note AND n.text IS NULL) ORDER BY id DESC'


def exact(rows):
    """The rows with the types of their values."""
    return [[(type(value).__name__, value) for value in row] for row in rows]


def run(connection, text):
    try:
        return exact(connection.execute(text).fetchall())
    except sqlite3.OperationalError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(6))
def test_generated_statements(both, seed):
    pick = random.Random(seed)
    both.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    found = 0
    for number in range(100):
        text = statement(pick)
        plain, virtual = run(both, text.replace("T_", "p_")), run(both, text.replace("T_", "v_"))
        assert virtual == plain, f"{seed}/{number}: {text}"
        found += len(plain) > 0
    assert found > 30


@pytest.mark.parametrize("seed", range(4))
def test_each_condition_with_arguments(both, seed):
    """Bound values, which SQLite knows only when the statement runs; limits too."""
    pick = random.Random(1000 + seed)
    values = [
        None,
        0,
        1,
        5,
        -1,
        5.0,
        0.1,
        0.5,
        2.5,
        math.inf,
        2**63 - 1,
        2**53 + 1,
        2.0**63,
        "5",
        "a",
        "",
        "Oslo",
        "2020",
        "0.5",
        b"a",
        "é",
    ]
    for _ in range(250):
        name, operator = quoted(pick.choice(list(CONSTANTS))), pick.choice(["=", "<", "<=", ">", ">=", "IS"])
        text = f'SELECT rowid FROM T_Row WHERE {name} {operator} ?1 AND "j" {pick.choice(["<", ">="])} ?2 ORDER BY rowid LIMIT ?3'
        given = (pick.choice(values), pick.choice(values), pick.choice([-1, 0, 3, 1000]))
        plain = both.execute(text.replace("T_", "p_"), given).fetchall()
        assert both.execute(text.replace("T_", "v_"), given).fetchall() == plain, (text, given)
