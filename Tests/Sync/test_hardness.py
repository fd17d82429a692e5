"""Far values, large batches, schemas that change, triggers, forged marks, wrong replies and a server that hangs, with a
real PostgreSQL."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import uuid
from typing import Any, Optional

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import crealm
import server as servers
from crealm import ClassSchema, RawTimestamp
from crealm.sync import hub
from crealm.sync.transports import PostgresTransport

if servers.missing():
    pytest.skip(f"needs {servers.missing()}", allow_module_level=True)

import psycopg
from test_postgres import Bench, close, server  # noqa: F401

SUB = ClassSchema("Sub", {"n": int, "s": str}, embedded=True)
ALL = ClassSchema(
    "All",
    {
        "id": int,
        "s": str,
        "n": int,
        "r": Optional[str],
        "l": list[str],
        "at": list[crealm.Timestamp],
        "d": dict[str, int],
        "m": Any,
        "lm": list[Any],
        "dm": dict[str, Any],
        "e": "Sub",
        "to": "All",
        "links": list["All"],
    },
    primary_key="id",
)


@pytest.fixture
def bench(server, tmp_path, request):  # noqa: F811
    made = Bench(server, tmp_path, request.node.name.replace("[", "_").replace("]", "")[:60], (ALL, SUB))
    yield made
    close(made)


def plain(value: Any) -> Any:
    if isinstance(value, crealm.Object):
        return ("link", value.id) if "id" in type(value).__dict__ or hasattr(value, "id") else value.to_dict()
    if hasattr(value, "items"):
        return {key: plain(one) for key, one in value.items()}
    if hasattr(value, "append") or isinstance(value, list):
        return [plain(one) for one in value]
    return value


def content(db: Any) -> Any:
    return {one.id: {key: plain(value) for key, value in one} for one in db["All"]}


def pair(bench: Any) -> Any:
    a, b = bench.device("a"), bench.device("b")
    with a.write():
        a["All"].create(1, s="one", l=["a", "b", "c", "d"], d={"a": 1, "b": 2}, dm={"a": [1], "b": {"c": 1}})
        a["All"].create(2)
    bench.settle(a, b)
    return a, b


def settled(bench: Any, *dbs: Any) -> Any:
    bench.settle(*dbs)
    for db in dbs[1:]:
        assert content(db) == content(dbs[0])
    return content(dbs[0])


def test_a_property_may_be_named_as_in_the_functions_of_the_hub(server, tmp_path):  # noqa: F811
    names = list("abcdefghijklmnopqrstuvwxyz") + ["crealm_new", "crealm_old", "line", "key", "time"]
    one = ClassSchema("Letters", {"id": int, **{name: str for name in names}}, primary_key="id")
    made = Bench(server, tmp_path, "letters", (one,))
    a, b = made.device("a"), made.device("b")
    with a.write():
        a["Letters"].create(1, r="r", n="n")
    made.settle(a, b)
    made.sql("""UPDATE "Letters" SET r = 'sql', o = 'sql'""")
    with b.write():
        b["Letters"].get(1).n = "b"
    made.settle(a, b)
    assert (a["Letters"].get(1).r, a["Letters"].get(1).o, a["Letters"].get(1).n) == ("sql", "sql", "b")
    close(made)


def test_more_than_16_megabytes_are_sent_at_once(bench):
    a, b = bench.device("a"), bench.device("b")
    with a.write():
        for number in range(9):
            a["All"].create(number, s="x" * 2_000_000)
    bench.settle(a, b)
    assert [len(one.s) for one in b["All"]] == [2_000_000] * 9


def test_a_long_collection_replaces_that_of_the_hub(bench):
    a, b = pair(bench)
    with a.write():
        a["All"].get(1).l = ["y" * 1_000_000] * 17
    bench.settle(a, b)
    with a.write():
        a["All"].get(1).l.append("z")
        a["All"].get(1).s = "both"
    bench.settle(a, b)
    assert len(b["All"].get(1).l) == 18 and b["All"].get(1).s == "both"


def test_an_exchange_ends_though_the_hub_lacks_a_property(bench):
    a, b = pair(bench)
    wide = ClassSchema("All", {**ALL.properties, "new": Optional[str], "list": list[int]}, primary_key="id")
    path = a.path
    a.close()
    a = crealm.open(path, schema=[wide, SUB])
    with a.write():
        a["All"].get(1).new, a["All"].get(1).s = "early", "both"
        a["All"].create(3, new="of a new object", list=[5])
    assert a.sync.now(bench.url, most_requests=10).requests < 10
    bench.sync(b)
    assert b["All"].get(1).s == "both" and a.sync.status.pending == 1
    hub.init(bench.url, a)
    a.sync.now(bench.url)
    bench.sql("""UPDATE "All" SET new = 'sql' WHERE id = 2""")
    bench.sync(b)
    # The other file gets the property after its values.
    path = b.path
    b.close()
    b = crealm.open(path, schema=[wide, SUB])
    settled(bench, a, b)
    assert [one.new for one in b["All"].sort("id")] == ["early", "sql", "of a new object"]
    assert list(b["All"].get(3).list) == [5]
    a.close()
    b.close()


def test_a_class_is_added_later(bench):
    a, b = pair(bench)
    pet = ClassSchema("Pet", {"id": str, "owner": "All"}, primary_key="id")
    path = a.path
    a.close()
    a = crealm.open(path, schema=[ALL, SUB, pet])
    hub.init(bench.url, a)
    a.sync.enable(["Pet"])
    with pytest.raises(crealm.UsageError):
        a.sync.enable()
    with a.write():
        a["Pet"].create("Rex", owner=a["All"].get(1))
    bench.settle(a, b)  # The other file does not have the class.
    assert bench.sql('SELECT id, owner FROM "Pet"') == [("Rex", 1)]
    a.close()


def test_another_type_of_primary_keys_is_an_error(bench):
    a, b = pair(bench)
    other = ClassSchema("All", {"id": str, "s": str}, primary_key="id")
    c = crealm.open(str(bench.folder / "other.realm"), schema=[other])
    c.sync.enable()
    with pytest.raises(crealm.SyncError, match="primary key"):
        c.sync.now(bench.url)
    c.close()


def test_an_object_that_is_made_again_has_nothing_of_the_old_one(bench):
    a, b = pair(bench)
    with a.write():
        a["All"].get(1).delete()
    with a.write():
        a["All"].create(1, s="again")
    bench.settle(a, b)
    assert (
        b["All"].get(1).s == "again"
        and not b["All"].get(1).l
        and not b["All"].get(1).d
        and not b["All"].get(1).dm
    )
    assert content(a) == content(b)


@pytest.mark.parametrize("is_first", [False, True])
def test_an_earlier_deletion_does_not_reach_an_object_that_was_made_again(bench, is_first):
    a, b = pair(bench)
    with a.write():
        a["All"].get(1).delete()
    time.sleep(0.01)
    with b.write():
        b["All"].get(1).delete()
        b["All"].create(1, s="again")
    found = settled(bench, *((a, b) if is_first else (b, a)))
    assert found[1]["s"] == "again" and found[1]["l"] == []


@pytest.mark.parametrize("is_first", [False, True])
def test_a_later_change_of_one_property_does_not_make_the_others_later(bench, is_first):
    a, b = bench.device("a"), bench.device("b")
    bench.settle(a, b)
    with a.write():
        a["All"].create(1, s="first")
    time.sleep(0.01)
    with b.write():
        b["All"].create(1, s="second")
    time.sleep(0.01)
    with a.write():
        a["All"].get(1).n = 5
    found = settled(bench, *((a, b) if is_first else (b, a)))
    assert (found[1]["s"], found[1]["n"]) == ("second", 5)


def test_a_change_of_a_deleted_object_is_told(bench):
    a, b = pair(bench)
    with a.write():
        a["All"].get(1).delete()
    with b.write():
        b["All"].get(1).s = "lost"
    bench.sync(a)
    events = b.sync.now(bench.url).events
    assert [(one.kind, one.key) for one in events] == [("overruled", "1")]
    assert b["All"].get(1) is None


def test_an_object_without_a_primary_key_is_told(server, tmp_path):  # noqa: F811
    one = ClassSchema("Maybe", {"id": Optional[int], "s": str}, primary_key="id")
    made = Bench(server, tmp_path, "maybe", (one,))
    a = made.device("a")
    with a.write():
        a["Maybe"].create(None, s="here")
        a["Maybe"].create(1)
    events = a.sync.now(made.url).events
    assert [(one.kind, one.key) for one in events if one.kind == "refused"] == [("refused", "null")]
    assert made.sql('SELECT id FROM "Maybe"') == [(1,)]
    close(made)


def test_collections_inside_dictionaries_are_replaced(bench):
    a, b = pair(bench)
    with a.write():
        a["All"].get(1).dm["a"].append(2)
        a["All"].get(1).dm["b"]["d"] = 5
    found = settled(bench, a, b)
    assert found[1]["dm"] == {"a": [1, 2], "b": {"c": 1, "d": 5}}


@pytest.mark.parametrize("by_sql", [False, True])
def test_links_in_mixed_lists_to_deleted_objects_leave_all_files(bench, by_sql):
    a, b = pair(bench)
    with a.write():
        two = a["All"].get(2)
        a["All"].get(1).lm, a["All"].get(1).m = [two, 1, [two], {"k": two}], [two, 2]
    bench.settle(a, b)
    if by_sql:
        bench.sql('DELETE FROM "All" WHERE id = 2')
    else:
        with a.write():
            a["All"].get(2).delete()
        with b.write():
            b["All"].get(1).lm.append(b["All"].get(2))
    c = bench.device("c")
    found = settled(bench, a, b, c)
    assert found[1]["lm"] == [1, [], {"k": None}] and found[1]["m"] == [2]


@pytest.mark.parametrize("is_first", [False, True])
def test_an_element_that_was_moved_and_removed_is_removed(bench, is_first):
    a, b = pair(bench)
    with a.write():
        a["All"].get(1).l.move(0, 3)
    with b.write():
        b["All"].get(1).l.remove("a")
    found = settled(bench, *((a, b) if is_first else (b, a)))
    assert found[1]["l"] == ["b", "c", "d"]


def test_long_lists_keep_removals_of_both_sides(bench):
    a, b = pair(bench)
    with a.write():
        a["All"].get(1).l = [f"n{number}" for number in range(6000)]
    bench.settle(a, b)
    with a.write():
        for number in range(3000):
            a["All"].get(1).l.insert(number * 2, f"new{number}")
    with b.write():
        for number in range(3000):
            b["All"].get(1).l.remove(f"n{number * 2}")
    found = settled(bench, a, b)
    assert sorted(found[1]["l"]) == sorted(
        [f"new{number}" for number in range(3000)] + [f"n{number * 2 + 1}" for number in range(3000)]
    )


def test_dates_far_away_arrive_inside_collections(bench):
    a, b = pair(bench)
    far = [RawTimestamp(2**63 - 1, 999_999_999), RawTimestamp(-(2**63), 0), RawTimestamp(-62135596801, -1)]
    with a.write():
        a["All"].get(1).at = far
    bench.settle(a, b)
    assert list(b["All"].get(1).at) == far and not a.sync.status.refused


def test_a_savepoint_causes_no_comparison(bench):
    a, b = pair(bench)
    with a.write():
        a["All"].get(1).s = "kept"
        with pytest.raises(ValueError), a.savepoint():
            a["All"].get(2).s = "gone"
            raise ValueError
    assert not a.sync.status.classes["All"].must_compare
    assert a.sync.now(bench.url).events == []
    assert settled(bench, a, b)[2]["s"] == ""


@pytest.mark.parametrize(
    "change",
    [
        "l = '{a,NULL}'",
        "l = '{{a},{b}}'",
        "links = '{\"a\": 1}'",
        "links = '[\"x\"]'",
        "links = '[1.5]'",
        "d = '[]'",
        "d = '{\"a\": null}'",
        'd = \'{"a": "x"}\'',
        "d = '{\"a.b\": 1}'",
        "d = '{\"$a\": 1}'",
        "e = '5'",
        "at = '[5]'",
        "at = '[null]'",
    ],
    ids=[f"change{number}" for number in range(13)],
)
def test_sql_cannot_store_what_no_file_can_hold(bench, change):
    a, b = pair(bench)
    with pytest.raises(psycopg.errors.CheckViolation):
        bench.sql(f'UPDATE "All" SET {change} WHERE id = 1')
    bench.sql("""UPDATE "All" SET links = '[1, 2.0]', d = '{"a": 5, "é": 7}', l = '{b,a}' WHERE id = 1""")
    found = settled(bench, a, b)
    assert (found[1]["links"], found[1]["d"], found[1]["l"]) == (
        [("link", 1), ("link", 2)],
        {"a": 5, "é": 7},
        ["b", "a"],
    )


def test_a_row_that_no_file_can_hold_is_named_and_hurts_nobody_for_long(bench):
    a, b = pair(bench)
    bench.sql('ALTER TABLE "All" ALTER n DROP NOT NULL')
    bench.sql('UPDATE "All" SET n = NULL WHERE id = 2')
    with pytest.raises(crealm.SyncError, match="the object 2 of class 'All'"):
        b.sync.now(bench.url)
    worker = b.sync.start(bench.url, interval=0.2)
    assert not worker.wait(1) and worker.is_running
    bench.sql('UPDATE "All" SET n = 7 WHERE id = 2')
    assert worker.wait(10)
    worker.stop()
    b.refresh()
    assert b["All"].get(2).n == 7


def test_triggers_of_other_people_find_their_tables(bench):
    a, b = pair(bench)
    bench.sql("""CREATE FUNCTION public.count_names() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN UPDATE "All" SET n = n + 1 WHERE id = 2; RETURN new; END$$""")
    bench.sql(
        'CREATE TRIGGER counted AFTER UPDATE OF s ON "All" FOR EACH ROW EXECUTE FUNCTION public.count_names()'
    )
    with a.write():
        a["All"].get(1).s = "counted"
    found = settled(bench, a, b)
    assert not a.sync.status.refused and found[2]["n"] == 1 and found[1]["s"] == "counted"


def test_a_generated_column_takes_the_place_of_a_property(bench):
    a, b = pair(bench)
    bench.sql('ALTER TABLE "All" DROP COLUMN r')
    bench.sql('ALTER TABLE "All" ADD COLUMN r text GENERATED ALWAYS AS (s || s) STORED')
    with a.write():
        a["All"].create(3, s="x")
        a["All"].get(1).s = "y"
    found = settled(bench, a, b)
    assert (found[1]["r"], found[3]["r"]) == ("yy", "xx") and not a.sync.status.refused


def test_a_role_cannot_write_marks_of_rows_of_others(server, tmp_path):  # noqa: F811
    note = ClassSchema("Note", {"id": int, "owner": str, "text": str}, primary_key="id")
    made = Bench(server, tmp_path, "marks_of_others", (note,))
    made.sql("DROP SCHEMA crealm CASCADE")
    made.sql('DROP TABLE "Note"')
    with server.boss() as connection:
        for role in ("ann", "bob"):
            if not connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (role,)).fetchone():
                connection.execute(f"CREATE ROLE {role} LOGIN")
    a, b = made.device("a"), made.device("b")
    hub.init(made.url, a, owners={"Note": "owner"}, role="ann")
    made.sql(hub._grants(hub.hub_classes(a.schema), "public", "bob"))
    with a.write():
        a["Note"].create(1, owner="ann", text="hers")
    a.sync.now(server.address(made.name, "ann"))
    before = made.sql("SELECT * FROM crealm.shadow")

    def by_bob(*statements: str) -> None:
        with psycopg.connect(server.address(made.name, "bob"), autocommit=True) as connection:
            for one in statements:
                connection.execute(one)

    for definition, statement in (
        (
            "AFTER INSERT ON evil REFERENCING NEW TABLE AS crealm_new",
            "INSERT INTO evil VALUES (1, 'bob', 'x')",
        ),
        ("AFTER DELETE ON evil REFERENCING OLD TABLE AS crealm_old", "DELETE FROM evil"),
    ):
        name = "mark_inserted" if "INSERT" in definition else "mark_deleted"
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            by_bob(
                "CREATE TEMP TABLE evil AS SELECT 1::int8 AS id, 'bob' AS owner, 'x' AS text",
                f"CREATE TRIGGER t {definition} FOR EACH STATEMENT EXECUTE FUNCTION "
                f"crealm.{name}('1', 'id', 'owner')",
                statement,
            )
    # Also not if somebody grants the functions.
    made.sql("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA crealm TO bob")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="is not the table of this class"):
        by_bob(
            "CREATE TEMP TABLE evil AS SELECT 1::int8 AS id, 'bob' AS owner, 'x' AS text",
            "CREATE TRIGGER t AFTER DELETE ON evil REFERENCING OLD TABLE AS crealm_old FOR EACH STATEMENT "
            "EXECUTE FUNCTION crealm.mark_deleted('1', 'id', 'owner')",
            "DELETE FROM evil",
        )
    for arguments in ("1, 'rubbish', 5", "99, '5', 5", "1, NULL, 5"):
        with pytest.raises(psycopg.Error):
            by_bob(f"SELECT crealm.bury_unknown({arguments})")
    assert made.sql("SELECT * FROM crealm.shadow") == before
    close(made)


def test_the_names_of_system_columns_are_refused():
    for name in ("ctid", "xmin", "tableoid"):
        with pytest.raises(crealm.SchemaError):
            hub.hub_classes({"A": ClassSchema("A", {"id": int, name: str}, primary_key="id")})


class Twisted:
    """A hub whose replies are changed."""

    def __init__(self, bench: Any, change: Any) -> None:
        self.real, self.change, self.calls = PostgresTransport(bench.url), change, 0

    def call(self, function: str, body: bytes) -> bytes:
        self.calls += 1
        return self.change(function, self.real.call(function, body))

    def close(self) -> None:
        self.real.close()


@pytest.mark.parametrize(
    "reply",
    [b"", b"<html>", b"[" * 1_000_000, b'{"next": "x"', b'{"a": 1e999999999}', b'"\\ud800"', b"\xff"],
    ids=["empty", "html", "deep", "cut", "big", "half", "byte"],
)
def test_a_reply_that_is_no_reply_does_not_end_the_thread(bench, reply):
    a, b = pair(bench)
    lies = [True]
    worker = b.sync.start(
        Twisted(bench, lambda function, real: reply if lies[0] and function == "pull" else real), interval=0.2
    )
    assert not worker.wait(1) and worker.is_running and isinstance(worker.last_error, crealm.SyncError)
    with a.write():
        a["All"].get(1).s = "news"
    bench.sync(a)
    lies[0] = False
    assert worker.wait(10)
    worker.stop()
    b.refresh()
    assert b["All"].get(1).s == "news"


def test_a_page_without_an_end_is_an_error(bench):
    a, b = pair(bench)
    with a.write():
        a["All"].get(1).s = "news"
    bench.sync(a)

    def change(function: str, reply: bytes) -> bytes:
        found = json.loads(reply)
        if function == "pull":
            found["after"] = {"class": "All", "xid": "1", "key": "1"}
        return json.dumps(found).encode()

    hub_of_lies = Twisted(bench, change)
    with pytest.raises(crealm.SyncError, match="a page that begins"):
        b.sync.now(hub_of_lies)
    assert hub_of_lies.calls < 5 and b["All"].get(1).s == "one"
    hub_of_lies.close()
    assert settled(bench, a, b)[1]["s"] == "news"


def test_the_largest_clock_does_not_overflow(bench):
    a, b = pair(bench)
    with a.write():
        a["All"].get(1).s = "news"
    bench.sync(a)

    def change(function: str, reply: bytes) -> bytes:
        found = json.loads(reply)
        if function == "pull":
            for row in found["rows"].get("All", {}).get("rows", []):
                row[1] = 2**63 - 1
        return json.dumps(found).encode()

    liar = Twisted(bench, change)
    b.sync.now(liar)
    liar.close()
    for number in range(3):
        with b.write():
            b["All"].get(1).n = number
    assert settled(bench, a, b)[1]["n"] == 2


def test_two_exchanges_at_once_do_not_disturb_each_other(bench):
    import asyncio

    a, b = pair(bench)
    with a.write():
        a["All"].get(1).s = "sent"

    async def both() -> Any:
        return await asyncio.gather(
            a.sync.now_async(bench.url), a.sync.now_async(bench.url), return_exceptions=True
        )

    first, second = asyncio.run(both())
    assert first.requests > 0 and isinstance(second, crealm.UsageError)
    assert settled(bench, a, b)[1]["s"] == "sent"


def test_stop_ends_though_the_server_hangs(bench, monkeypatch):
    from crealm.sync.worker import Worker

    monkeypatch.setattr(Worker, "_PATIENCE", 0.5)
    a, b = pair(bench)
    has_begun = threading.Event()

    class Hanging(PostgresTransport):
        hangs = False

        def call(self, function: str, body: bytes) -> bytes:
            if self.hangs:
                has_begun.set()
                self._connection.execute("SELECT pg_sleep(3600)")
            return super().call(function, body)

    transport = Hanging(bench.url, timeout=3600)
    worker = a.sync.start(transport, interval=0.1)
    assert worker.wait(60)
    transport.hangs = True
    worker.wake()
    assert has_begun.wait(60)
    worker.stop()  # Returns long before the server answers.
    assert not worker.is_running
    with a.write():
        a["All"].get(1).s = "later"
    assert settled(bench, a, b)[1]["s"] == "later"


def test_threads_write_and_exchange_one_file_at_once(bench):
    a, b = pair(bench)
    errors: "list[BaseException]" = []
    stopping = threading.Event()

    def write(path: str, number: int) -> None:
        try:
            with crealm.open(path, schema=[ALL, SUB]) as db:
                for i in range(20):
                    with db.write():
                        db["All"].create(number * 100 + i)
                        db.increment(db["All"].get(1), "n", 1)
        except BaseException as error:
            errors.append(error)

    def exchange(path: str) -> None:
        try:
            with crealm.open(path, schema=[ALL, SUB]) as db:
                while not stopping.is_set():
                    db.sync.now(bench.url)
        except BaseException as error:
            errors.append(error)

    writers = [threading.Thread(target=write, args=(db.path, i)) for i, db in enumerate((a, a, b, b), 1)]
    exchangers = [threading.Thread(target=exchange, args=(db.path,)) for db in (a, a, b)]
    for thread in writers + exchangers:
        thread.start()
    for thread in writers:
        thread.join()
    stopping.set()
    for thread in exchangers:
        thread.join()
    found = settled(bench, a, b)
    assert not errors and found[1]["n"] == 80 and len(found) == 82


def test_a_file_that_is_only_read_stays_as_it_is(bench):
    a, b = pair(bench)
    with a.write():
        a["All"].get(1).s = "unsent"
    path = a.path
    a.close()
    with open(path, "rb") as file:
        before = file.read()
    for mode in ("r", "immutable", "snapshot"):
        with crealm.open(path, mode=mode) as db:
            assert db.sync.status.pending == 1 and "crealm_sync" not in "".join(db.classes)
            for call in (
                lambda: db.sync.now(bench.url),
                db.sync.compare,
                db.sync.disable,
                db.sync.forget_refused,
            ):
                with pytest.raises(crealm.Error):
                    call()
    with open(path, "rb") as file:
        assert file.read() == before


def test_uuid_of_the_device_of_another_file_is_not_taken(bench):
    a, b = pair(bench)
    transport = PostgresTransport(bench.url)
    request = {"protocol": 1, "device": str(uuid.uuid4()), "batch": 0, "classes": {"All": {"id": "int"}}}
    reply = json.loads(transport.call("hello", json.dumps(request).encode()))
    assert (reply["batch"], reply["chain"]) == (0, "")
    pull = {
        "schema": reply["schema"],
        "device": str(uuid.uuid4()),
        "cursor": "",
        "limit": 10,
        "classes": ["All"],
    }
    with pytest.raises(crealm.SyncError, match="unknown, or belongs"):
        transport.call("pull", json.dumps({**pull, "compare": []}).encode())
    transport.close()
