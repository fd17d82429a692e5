"""A query over a whole class (leaf by leaf) finds what the same query finds among the same objects in a list (row by row)."""

import math
import os
import random
from typing import Optional

import pytest

import crealm

ROW = crealm.ClassSchema(
    "Row",
    {
        "id": int, "tiny": int, "age": int, "big": int, "n": Optional[int], "flag": Optional[bool], "x": float, "xn": Optional[float],
        "f": Optional[crealm.Float32], "short": Optional[str], "text": Optional[str], "long": Optional[str], "friend": "Row",
    },
    primary_key="id",
)
ALL = crealm.ClassSchema("All", {"rows": list["Row"]})
NUMBERS = [0.0, -0.0, 1.5, -3.25, 1e300, math.inf, -math.inf, math.nan, 7.0]
WORDS = ["a", "b", "Ab", "needle", "Needle", "ÅÄ", "åä"]


def text(random, limit):
    s = ""
    while len(s) < limit and random.random() < 0.9:
        s += random.choice(WORDS)
    return s[:limit]


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    seed = int(os.environ.get("CREALM_SEED", "1"))
    print("seed", seed)
    r = random.Random(seed)
    db = crealm.open(str(tmp_path_factory.mktemp("paths") / "paths.realm"), schema=[ROW, ALL])
    with db.write():
        rows = []
        for i in range(1500):
            # The first leaves hold short values only, so that every width and form of a leaf occurs.
            wide = i // 300
            row = db["Row"].create(
                i,
                tiny=r.randrange([1, 2, 4, 16, 3][wide]), age=r.randrange(-100, 100), big=r.choice([0, 1, 200, 70000, 1 << 40, -(1 << 62), (1 << 63) - 1]),
                n=r.choice([None, 0, 1, 5, [15, 100, 3, 30000, 1 << 35][wide]]), flag=r.choice([None, True, False]),
                x=r.choice(NUMBERS), xn=r.choice([None] + NUMBERS), f=r.choice([None, 0.5, 2.0, math.nan]),
                short=r.choice([None, "", text(r, 3 + wide * 3)]), text=r.choice([None, "", text(r, 40)]), long=r.choice([None, text(r, [10, 90][wide % 2])]))
            rows.append(row)
            if r.random() < 0.7:
                row.friend = r.choice(rows)
        for row in r.sample(list(db["Row"]), 200):
            row.delete()
        holder = db["All"].create()
        for row in list(db["Row"]):
            holder.rows.append(row)
    yield db
    db.close()


def conditions():
    for name, values in {
        "tiny": ["0", "1", "3", "15", "16", "1.5", "-1"], "age": ["0", "-100", "42", "127", "128", "2.5"],
        "big": ["0", "200", "70000", str((1 << 63) - 1), str(-(1 << 62)), "1e3"], "n": ["0", "1", "5", "15", "30000", "2.5"],
        "x": ["0", "1.5", "7", "-3.25", "7.1"], "xn": ["0", "1.5", "7", "-inf"], "f": ["0.5", "2"], "friend.age": ["42", "0"], "friend.n": ["5", "1"],
        "friend.friend.tiny": ["1"],
    }.items():
        for op in ("==", "!=", "<", "<=", ">", ">="):
            for v in values:
                yield f"{name} {op} {v}"
    for name in ("n", "flag", "xn", "f", "short", "text", "long", "friend", "friend.n", "friend.text", "friend.friend.flag"):
        yield f"{name} == NULL"
        yield f"{name} != NULL"
    for name in ("flag", "friend.flag"):
        yield f"{name} == true"
        yield f"{name} != false"
    for name in ("short", "text", "long", "friend.text", "friend.short"):
        for op in ("==", "!=", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "<", ">="):
            for fold in ("", "[c]") if op not in ("<", ">=") else ("",):
                for v in ("", "a", "Ab", "ÅÄ", "needle", "eedleaNeedle", "*b?", "needleneedleneedleneedleneedleneedleneedleneedle"):
                    yield f"{name} {op}{fold} '{v}'"
    yield from ("age IN {1, 2, 300}", "tiny IN {0, 3}", "big IN {0, 70000}", "n IN {NULL, 5}", "age BETWEEN {-10, 10}", "x BETWEEN {1, 5}", "xn BETWEEN {-4, 2}")


def test_every_condition_by_leaf_and_by_row(db):
    rows, holder = db["Row"], list(db["All"])[0]
    known, found = list(conditions()), 0
    for q in known:
        whole = [row.id for row in rows.where(q)]
        assert whole == [row.id for row in holder.rows.where(q)], q
        assert len(rows.where(q)) == len(whole), q
        found += bool(whole)
    assert found > len(known) // 2


def test_joined_conditions_by_leaf_and_by_row(db):
    r, known = random.Random(int(os.environ.get("CREALM_SEED", "1"))), list(conditions())
    rows, holder = db["Row"], list(db["All"])[0]
    for _ in range(600):
        parts = [("NOT " if r.random() < 0.25 else "") + f"({r.choice(known)})" for _ in range(r.randint(2, 4))]
        q = r.choice([" AND ", " OR "]).join(parts)
        if r.random() < 0.3:
            q = f"({q}) OR {r.choice(known)}"
        assert [row.id for row in rows.where(q)] == [row.id for row in holder.rows.where(q)], q


@pytest.mark.parametrize("name", ["tiny", "age", "big", "n", "x", "xn", "short", "text", "long", "flag"])
def test_orders_by_leaf_and_by_row(db, name):
    rows, holder = db["Row"], list(db["All"])[0]
    for q in ("TRUEPREDICATE", "age > 10"):
        for order in ("ASC", "DESC"):
            for limit in ("", " LIMIT(0)", " LIMIT(7)", " LIMIT(400)"):
                text = f"{q} SORT({name} {order}){limit}"
                assert [row.id for row in rows.where(text)] == [row.id for row in holder.rows.where(text)], text
