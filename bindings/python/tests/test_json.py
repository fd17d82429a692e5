"""to_dict() and to_json(): shapes, depths, cycles, and every type of value."""

import json
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Dict, List, Optional, Set
from uuid import UUID

import pytest

import crealm
from crealm import Embedded, Model, field


class Part(Embedded):
    n: int
    of: Optional["Node"]


class Node(Model):
    id: int = field(primary_key=True)
    any: Any
    part: Optional[Part]
    next: Optional["Node"]
    nodes: List["Node"]
    friends: Set["Node"]
    links: Dict[str, Optional["Node"]]
    words: Set[str]


@pytest.fixture
def db(path):
    with crealm.open(path, schema=[Node]) as db:
        with db.write():
            a, b, c = (Node(id=n) for n in (1, 2, 3))
            a.next, b.next, c.next = b, c, a
            a.nodes = [b, b, a]
            a.friends = {c}
            a.links = {"b": b, "none": None}
            a.part = Part(n=1, of=a)
            a.any = {"list": [1, b], "part": None}
            a.words = {"x", "y"}
            db.add(a)
        yield db


def ref(key):
    return {"$ref": key, "$class": "Node"}


EMPTY = {"any": None, "part": None, "nodes": [], "friends": set(), "links": {}, "words": set()}


def test_depth(db):
    a, b, c = db[Node]
    one = a.to_dict()
    assert one == {
        "id": 1,
        "any": {"list": [1, ref(1)], "part": None},
        "part": {"n": 1, "of": ref(0)},
        "next": ref(1),
        "nodes": [ref(1), ref(1), ref(0)],
        "friends": [ref(2)],
        "links": {"b": ref(1), "none": None},
        "words": {"x", "y"},
    }
    assert a.to_dict(0) == a.to_dict(-5) == one
    two = a.to_dict(2)
    assert two["any"]["list"][1] == {"id": 2, **EMPTY, "next": ref(2)}  # The first occurrence of b.
    assert two["next"] == ref(1) and two["nodes"] == [ref(1), ref(1), ref(0)]
    assert two["friends"] == [{"id": 3, **EMPTY, "next": ref(0)}] and two["part"]["of"] == ref(0)
    three = a.to_dict(3)
    assert three["any"]["list"][1]["next"] == {"id": 3, **EMPTY, "next": ref(0)}
    assert three["friends"] == [ref(2)]
    assert a.to_dict(10**9) == three


def test_each_object_comes_once(db):
    with db.write():
        last = db[Node].get(3)
        for number in range(10, 60):  # A ladder of links with 2^50 paths from top to bottom.
            step = db[Node].create(number)
            last.nodes = [step, step]
            last = step
    text = db[Node].get(3).to_json(10**6)
    assert text.count('"id"') == 53 and len(text) < 20_000


def test_plain_instances():
    a, b = Node(id=1, words={"x"}), Node(id=2, any=[b"x", {"y"}, (1, 2)])
    a.next, b.next, a.part = b, a, Part(n=5, of=b)
    none = {"$ref": None, "$class": "Node"}
    assert a.to_dict()["next"] == none and a.to_dict()["part"] == {"n": 5, "of": none}
    two = a.to_dict(2)
    assert two["part"]["of"]["id"] == 2 and two["part"]["of"]["next"] == none and two["next"] == none
    assert two["part"]["of"]["any"] == [b"x", {"y"}, [1, 2]] and two["words"] == {"x"}
    assert json.loads(a.to_json(2))["part"]["of"]["any"] == ["eA==", ["y"], [1, 2]]


VALUES = [
    (None, "null"),
    (True, "true"),
    (-5, "-5"),
    (2**63 - 1, "9223372036854775807"),
    (1.5, "1.5"),
    (-0.0, "-0.0"),
    (1e300, "1e+300"),
    (crealm.Float32(0.1), "0.10000000149011612"),
    (float("nan"), '"NaN"'),
    (float("inf"), '"Infinity"'),
    (float("-inf"), '"-Infinity"'),
    ('ß "\n\u2028', '"ß \\"\\n\u2028"'),
    (b"", '""'),
    (b"\0\xff\xfe", '"AP/+"'),
    (Decimal("1.10"), '"1.10"'),
    (Decimal("NaN"), '"NaN"'),
    (UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
    (crealm.ObjectId("0" * 23 + "f"), '"00000000000000000000000f"'),
    (datetime(2024, 5, 6, 7, 8, 9, tzinfo=timezone.utc), '"2024-05-06T07:08:09Z"'),
    (
        datetime(2024, 5, 6, 7, 8, 9, 120_000, tzinfo=timezone(timedelta(hours=2))),
        '"2024-05-06T05:08:09.12Z"',
    ),
    (crealm.Timestamp.from_ns(1), '"1970-01-01T00:00:00.000000001Z"'),
    (crealm.Timestamp.from_ns(-1), '"1969-12-31T23:59:59.999999999Z"'),
    (datetime(1, 1, 1, tzinfo=timezone.utc), '"0001-01-01T00:00:00Z"'),
    (crealm.RawTimestamp(10**12, 5), '{"$seconds": 1000000000000, "$nanoseconds": 5}'),
    ([1, {"a": [b"x"]}], '[1, {"a": ["eA=="]}]'),
    ({}, "{}"),
]


@pytest.mark.parametrize("value, text", VALUES)
def test_values(db, value, text):
    node = db[Node].get(3)
    with db.write():
        node.any = value
    assert f'"any": {text}, ' in node.to_json()
    assert json.loads(node.to_json()) == json.loads(node.to_json(indent=2))
    assert f'"any": {text}, ' in Node(any=value).to_json()
    found = node.to_dict()["any"]
    assert found == value or value != value
    if isinstance(value, bytes):
        assert type(found) is bytes


def test_closed_and_deleted(db):
    node = db[Node].get(3)
    with db.write():
        node.delete()
        for action in (node.to_dict, node.to_json):
            with pytest.raises(crealm.InvalidatedError):
                action()
    node = db[Node].get(1)
    db.close()
    for action in (node.to_dict, node.to_json):
        with pytest.raises(crealm.ClosedError):
            action()
