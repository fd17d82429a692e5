"""Files with a part of the objects of a hub, and links to objects that a file does not have."""

from __future__ import annotations

import random
import uuid
from datetime import datetime, timezone
from typing import Any, List, Optional

import crealm
import pytest
from test_postgres import Bench, bench, close, server  # noqa: F401

TASK = crealm.ClassSchema(
    "Task",
    {
        "id": int,
        "name": Optional[str],
        "n": Optional[int],
        "done": bool,
        "score": Optional[float],
        "due": Optional[datetime],
        "code": Optional[uuid.UUID],
        "project": "Project",
        "others": List["Project"],
    },
    primary_key="id",
)
PROJECT = crealm.ClassSchema("Project", {"id": str, "open": bool}, primary_key="id")
SCHEMA = [TASK, PROJECT]


@pytest.fixture
def tasks(server, tmp_path, request):  # noqa: F811
    made = Bench(server, tmp_path, request.node.name.replace("[", "_").replace("]", "")[:60], SCHEMA)
    yield made
    close(made)


def ids(db: Any, name: str = "Task") -> Any:
    return sorted(one.id for one in db[name])


def add(db: Any, **values: Any) -> Any:
    return db["Task"].create(**{"done": False, **values})


def test_a_file_has_its_subset_only(tasks):
    a = tasks.device("a")
    b = tasks.device("b", subsets={"Task": "done == false AND n >= 2"})
    with a.write():
        for number in range(6):
            add(a, id=number, n=number, done=number == 3)
    tasks.settle(a, b)
    assert ids(a) == [0, 1, 2, 3, 4, 5] and ids(b) == [2, 4, 5]
    assert b.sync.status.classes["Task"].subset == "done == false AND n >= 2"

    # Objects enter and leave by changes of anybody.
    tasks.sql('UPDATE "Task" SET n = 7 WHERE id = 0')
    with a.write():
        a["Task"].get(4).done = True
    tasks.settle(a, b)
    assert ids(b) == [0, 2, 5] and b["Task"].get(0).n == 7
    # A change of this file, after which the object is outside, reaches the hub.
    with b.write():
        b["Task"].get(5).done = True
        add(b, id=9, n=0)
    tasks.settle(b, a)
    assert ids(b) == [0, 2] and ids(a) == [0, 1, 2, 3, 4, 5, 9]
    assert a["Task"].get(5).done and a["Task"].get(9).n == 0


def test_a_subset_can_be_changed(tasks):
    a = tasks.device("a")
    with a.write():
        for number in range(5):
            add(a, id=number, n=number)
    tasks.settle(a)
    with a.write():
        a["Task"].get(4).name = "unsent"
    a.sync.set_subset("Task", "n < 2")
    tasks.settle(a)
    assert ids(a) == [0, 1]
    assert tasks.sql('SELECT id, name FROM "Task" ORDER BY id') == [
        (0, None), (1, None), (2, None), (3, None), (4, "unsent")]  # fmt: skip
    a.sync.set_subset("Task", None)
    tasks.settle(a)
    assert ids(a) == [0, 1, 2, 3, 4] and a["Task"].get(4).name == "unsent"
    assert a.sync.status.classes["Task"].subset == ""


def test_links_return_with_the_objects_that_they_lead_to(tasks):
    a = tasks.device("a")
    b = tasks.device("b", subsets={"Project": "open == true"})
    with a.write():
        one, two = a["Project"].create(id="one", open=True), a["Project"].create(id="two", open=False)
        add(a, id=1, project=one, others=[one, two, one])
        add(a, id=2, project=two, others=[two])
    tasks.settle(a, b)
    first, second = b["Task"].get(1), b["Task"].get(2)
    assert ids(b, "Project") == ["one"]
    assert first.project.id == "one" and [p.id for p in first.others] == ["one", "one"]
    assert second.project is None and list(second.others) == []

    # What the file does not show is not lost on the hub, also when the file changes other properties.
    with b.write():
        second.name = "b"
    b.sync.compare()
    tasks.settle(b, a)
    assert a["Task"].get(2).project.id == "two" and [p.id for p in a["Task"].get(1).others] == ["one", "two", "one"]

    with a.write():
        a["Project"].get("one").open, a["Project"].get("two").open = False, True
    tasks.settle(a, b)
    assert ids(b, "Project") == ["two"]
    assert first.project is None and [p.id for p in first.others] == ["two"]
    assert second.project.id == "two" and [p.id for p in second.others] == ["two"]

    # A link that the program sets instead is a change.
    with b.write():
        first.project = b["Project"].get("two")
    tasks.settle(b, a)
    with a.write():
        a["Project"].get("one").open = True
    tasks.settle(a, b)
    assert a["Task"].get(1).project.id == first.project.id == "two"
    assert [p.id for p in first.others] == ["one", "two", "one"]


def test_an_own_link_is_not_replaced_when_the_missing_object_is_made(tasks):
    a = tasks.device("a")
    b = tasks.device("b", subsets={"Project": "open == true"})
    with a.write():
        a["Project"].create(id="two", open=True)
        add(a, id=1, project=a["Project"].create(id="one", open=False))
    tasks.settle(a, b)
    with b.write():
        b["Project"].create(id="one", open=True)
        b["Task"].get(1).project = b["Project"].get("two")
    # Without the pull that follows the push: it would bring the right value again.
    b.sync.now(tasks.url, most_requests=1)
    assert b["Task"].get(1).project.id == "two"
    tasks.settle(a, b)
    assert a["Task"].get(1).project.id == b["Task"].get(1).project.id == "two"


def test_a_link_to_an_object_that_is_deleted_meanwhile_stays_null(tasks):
    a = tasks.device("a")
    b = tasks.device("b", subsets={"Project": "open == true"})
    with a.write():
        add(a, id=1, project=a["Project"].create(id="one", open=False))
    tasks.settle(a, b)
    with a.write():
        a["Project"].get("one").delete()
    tasks.settle(a, b)
    with a.write():
        a["Project"].create(id="one", open=True)
    tasks.settle(a, b)
    assert ids(b, "Project") == ["one"] and a["Task"].get(1).project is None and b["Task"].get(1).project is None


REFUSED = [
    "project.open == true",
    "name ==[c] 'a'",
    "ANY others.id == 'x'",
    "n > id",
    "name LIKE 'a*'",
    "n == $0",
    "project == NULL",
    "TRUEPREDICATE SORT(n ASC)",
    "n == 'a'",
]


@pytest.mark.parametrize("condition", REFUSED, ids=range(len(REFUSED)))
def test_a_condition_that_sql_cannot_express_is_refused(tasks, condition):
    a = tasks.device("a")
    with pytest.raises((crealm.UsageError, crealm.QueryError)):
        a.sync.set_subset("Task", condition)
    with pytest.raises(crealm.QueryError):
        a.sync.set_subset("Task", "n ==")
    assert a.sync.status.classes["Task"].subset == ""


def test_a_forged_condition_is_no_sql(tasks):
    """The hub takes the condition of a device as data."""
    a = tasks.device("a")
    tasks.sync(a)
    import json

    digest = tasks.sql("SELECT crealm.schema_digest()")[0][0]
    for condition in (
        ["==", 'n" OR true --', "1"],
        ["==", "name", "' OR true --"],
        ["DROP", "name", "x"],
        ["<", "n", "1) OR (true"],
        ["BEGINSWITH", "n", "1"],
    ):
        body = {"schema": digest, "device": a.sync.status.device, "cursor": "", "limit": 10, "classes": ["Task"],
                "compare": [], "where": {"Task": condition}}  # fmt: skip
        tasks.sql('INSERT INTO "Task" (id, done) VALUES (1, false) ON CONFLICT DO NOTHING')
        try:
            found = tasks.sql("SELECT crealm.pull(%s::json)", json.dumps(body))[0][0]
        except Exception as error:
            assert type(error).__module__.startswith("psycopg")
            continue
        assert [row[0] for row in found["rows"]["Task"]["rows"]] == ["out"]


TEXTS = ["", "a", "ab", "b", "Ä", "ä", "zz", "a'b", 'a"b', "\\", "%", None]


def random_condition(numbers: random.Random, depth: int = 0) -> str:
    kind = numbers.randrange(8 if depth < 3 else 6)
    if kind == 0:
        sign, number = numbers.choice(["==", "!=", "<", ">", "<=", ">="]), numbers.choice(["NULL", *range(4)])
        return f"n {sign} {number}" if number != "NULL" or sign in ("==", "!=") else "n == NULL"
    if kind == 1:
        text = numbers.choice([t for t in TEXTS if t is not None])
        quoted = text.replace("\\", "\\\\").replace("'", "\\'")
        return f"name {numbers.choice(['==', '!=', '<', '>', 'BEGINSWITH', 'CONTAINS', 'ENDSWITH'])} '{quoted}'"
    if kind == 2:
        return f"done {numbers.choice(['==', '!='])} {numbers.choice(['true', 'false'])}"
    if kind == 3:
        return f"score {numbers.choice(['<', '>=', '=='])} {numbers.choice(['0.5', '-1', '2.0'])}"
    if kind == 4:
        return f"n IN {{{', '.join(str(numbers.randrange(4)) for _ in range(numbers.randrange(1, 4)))}}}"
    if kind == 5:
        return numbers.choice(["due > 2020-01-02@00:00:00", "due == NULL", "TRUEPREDICATE", "FALSEPREDICATE",
                               f"code == uuid({uuid.UUID(int=1)})", "1 < n"])  # fmt: skip
    if kind == 6:
        return f"NOT ({random_condition(numbers, depth + 1)})"
    word = numbers.choice([" AND ", " OR "])
    return "(" + word.join(random_condition(numbers, depth + 1) for _ in range(numbers.randrange(2, 4))) + ")"


@pytest.mark.parametrize("seed", range(12))
def test_sql_finds_what_the_query_finds(tasks, seed):
    numbers = random.Random(seed)
    a, b = tasks.device("a"), tasks.device("b")
    with a.write():
        for number in range(40):
            add(a, id=number, name=numbers.choice(TEXTS), n=numbers.choice([None, 0, 1, 2, 3]),
                done=numbers.random() < 0.5, score=numbers.choice([None, -1.0, 0.5, 1.5, 2.0]),
                due=numbers.choice([None, datetime(2020, 1, numbers.randrange(1, 4), tzinfo=timezone.utc)]),
                code=numbers.choice([None, uuid.UUID(int=1), uuid.UUID(int=2)]))  # fmt: skip
    tasks.settle(a)
    for _ in range(25):
        condition = random_condition(numbers)
        b.sync.set_subset("Task", condition)
        tasks.sync(b)
        assert ids(b) == sorted(one.id for one in a["Task"].where(condition)), condition
