"""Synchronisation with a real PostgreSQL: files, the hub and SQL programs that change the same objects.

Each test makes a hub in a database of its own. Skipped, with one line, where PostgreSQL or psycopg is missing.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import threading
import time
import uuid
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Optional

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import crealm
import server as servers
from crealm.sync import hub

if servers.missing():
    pytest.skip(f"needs {servers.missing()}", allow_module_level=True)

import psycopg


@pytest.fixture(scope="session")
def server():
    made = servers.Server()
    yield made
    made.remove()


PERSON = crealm.ClassSchema("Person", {"id": int, "name": str, "n": int, "boss": "Person"}, primary_key="id")


class Bench:
    """A hub, and files that use it."""

    def __init__(self, server: servers.Server, folder: Any, name: str, schema: Any = (PERSON,)) -> None:
        self.server, self.folder, self.schema = server, folder, list(schema)
        self.name = name
        self.url = server.database(name)
        self.files: "dict[str, Any]" = {}
        first = self.device("first", sync=False)
        hub.init(self.url, first)
        first.close()

    def device(self, name: str, *, sync: bool = True, **options: Any) -> Any:
        db = crealm.open(str(self.folder / f"{name}.realm"), schema=self.schema)
        self.files[name] = db
        if sync:
            db.sync.enable(**options)
        return db

    def sql(self, text: str, *values: Any) -> Any:
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(text, values or None)
            return cursor.fetchall() if cursor.description else None

    def sync(self, *dbs: Any) -> Any:
        return [db.sync.now(self.url) for db in dbs]

    def settle(self, *dbs: Any) -> None:
        """Exchanges until nobody has anything new."""
        for _ in range(4):
            self.sync(*dbs)
        for db in dbs:
            status = db.sync.status
            assert status.pending == 0 and status.inflight == 0


@pytest.fixture
def bench(server, tmp_path, request):
    made = Bench(server, tmp_path, request.node.name.replace("[", "_").replace("]", "")[:60])
    yield made
    close(made)


def close(made: Bench) -> None:
    for db in made.files.values():
        if not db.is_closed:
            faults = db.verify()
            assert not list(faults), faults
            db.close()


def people(db: Any) -> Any:
    return sorted((p.id, p.name, p.n, p.boss.id if p.boss else None) for p in db["Person"])


def rows(bench: Bench) -> Any:
    return bench.sql('SELECT id, name, n, boss FROM "Person" ORDER BY id')


def kinds(outcomes: Any) -> Any:
    return [event.kind for outcome in outcomes for event in outcome.events if event.kind != "compared"]


def test_changes_reach_the_hub_and_other_files(bench):
    a, b = bench.device("a"), bench.device("b")
    with a.write():
        ann = a["Person"].create(id=1, name="Ann", n=1)
        a["Person"].create(id=2, name="Bob", n=2, boss=ann)
    bench.sync(a, b)
    assert people(a) == people(b) == rows(bench) == [(1, "Ann", 1, None), (2, "Bob", 2, 1)]
    with b.write():
        b["Person"].get(1).delete()
    bench.settle(b, a)
    assert people(a) == people(b) == rows(bench) == [(2, "Bob", 2, None)]


def test_changes_of_sql_reach_files(bench):
    a = bench.device("a")
    bench.sql("""INSERT INTO "Person" VALUES (1, 'x', 1, NULL), (2, 'y', 2, 1), (3, 'z', 3, NULL)""")
    bench.sync(a)
    assert people(a) == rows(bench)
    bench.sql("""UPDATE "Person" SET n = n * 10 WHERE id > 1; DELETE FROM "Person" WHERE id = 3""")
    bench.sync(a)
    assert people(a) == rows(bench) == [(1, "x", 1, None), (2, "y", 20, 1)]
    bench.sql('TRUNCATE "Person"')
    bench.sync(a)
    assert people(a) == []
    bench.sql("""INSERT INTO "Person" VALUES (1, 'again', 1, NULL)""")
    bench.sync(a)
    assert people(a) == rows(bench) == [(1, "again", 1, None)]


def test_another_primary_key_in_sql_is_another_object(bench):
    a = bench.device("a")
    bench.sql("""INSERT INTO "Person" VALUES (1, 'x', 1, NULL)""")
    bench.sync(a)
    bench.sql('UPDATE "Person" SET id = 9')
    bench.sync(a)
    assert people(a) == rows(bench) == [(9, "x", 1, None)]


def test_replication_role_does_not_hide_changes(bench, server):
    a = bench.device("a")
    bench.sync(a)
    with server.boss(bench.name) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("""INSERT INTO "Person" VALUES (1, 'x', 1, NULL)""")
    bench.sync(a)
    assert people(a) == rows(bench)


def test_an_open_transaction_does_not_hide_later_changes(bench):
    """A transaction with a lower number commits after one with a higher number was pulled."""
    a = bench.device("a")
    bench.sync(a)
    with psycopg.connect(bench.url) as slow:
        slow.execute("""INSERT INTO "Person" VALUES (1, 'slow', 1, NULL)""")
        bench.sql("""INSERT INTO "Person" VALUES (2, 'quick', 1, NULL)""")
        bench.sync(a)
        assert [p.id for p in a["Person"]] == [2]
        slow.commit()
    bench.sync(a)
    assert people(a) == rows(bench) == [(1, "slow", 1, None), (2, "quick", 1, None)]


def test_last_writer_wins_per_property(bench):
    a, b = bench.device("a"), bench.device("b")
    with a.write():
        a["Person"].create(id=1, name="Ann", n=1)
    bench.settle(a, b)
    with a.write():
        a["Person"].get(1).name = "from a"
    time.sleep(0.01)  # Clocks count milliseconds: at equal times the change that arrives later would win.
    with b.write():
        b["Person"].get(1).name = "from b"
        b["Person"].get(1).n = 5
    bench.settle(b, a)  # The earlier change arrives later, and loses.
    assert people(a) == people(b) == rows(bench) == [(1, "from b", 5, None)]


def test_a_clock_far_ahead_does_not_win_for_ever(bench):
    a, b = bench.device("a"), bench.device("b", clock_offset=3_600_000)
    with a.write():
        a["Person"].create(id=1, name="Ann", n=1)
    bench.settle(a, b)
    with b.write():
        b["Person"].get(1).name = "fast"
    bench.settle(b, a)
    (at,) = bench.sql("SELECT (clock ->> 'name')::bigint - crealm.now() FROM crealm.shadow")[0]
    assert at <= 60_000 << 16
    bench.sql("""UPDATE "Person" SET name = 'SQL'""")
    bench.settle(b, a)
    assert people(a) == people(b) == [(1, "SQL", 1, None)]


def test_sums_add_up(bench):
    a, b = bench.device("a"), bench.device("b")
    with a.write():
        a["Person"].create(id=1, name="Ann", n=100)
    bench.settle(a, b)
    for db, step in ((a, 1), (b, 10), (a, 1), (b, 10)):
        with db.write():
            db.increment(db["Person"].get(1), "n", step)
    bench.sql('UPDATE "Person" SET n = n + 1000')
    bench.settle(a, b)
    assert people(a) == people(b) == rows(bench) == [(1, "Ann", 1122, None)]


def test_deletion_wins_over_changes(bench):
    a, b = bench.device("a"), bench.device("b")
    with a.write():
        a["Person"].create(id=1, name="Ann", n=1)
    bench.settle(a, b)
    with a.write():
        a["Person"].get(1).delete()
    with b.write():
        b["Person"].get(1).name = "later"
    found = bench.sync(a, b, a)
    assert people(a) == people(b) == rows(bench) == []
    bench.settle(a, b)


def test_an_object_made_again_after_its_deletion_stays(bench):
    a, b = bench.device("a"), bench.device("b")
    with a.write():
        a["Person"].create(id=1, name="Ann", n=1)
    bench.settle(a, b)
    with a.write():
        a["Person"].get(1).delete()
    with a.write():
        a["Person"].create(id=1, name="second", n=2)
    bench.settle(a, b)
    assert people(a) == people(b) == rows(bench) == [(1, "second", 2, None)]
    with b.write():
        b["Person"].get(1).delete()
    bench.settle(b, a)
    with b.write():
        b["Person"].create(id=1, name="third", n=3)
    bench.settle(b, a)
    assert people(a) == people(b) == rows(bench) == [(1, "third", 3, None)]


def test_the_same_new_key_is_one_object(bench):
    a, b = bench.device("a"), bench.device("b")
    with a.write():
        a["Person"].create(id=1, name="from a", n=1)
    time.sleep(0.01)
    with b.write():
        b["Person"].create(id=1, name="from b", n=2)
    bench.settle(b, a)
    assert people(a) == people(b) == rows(bench) == [(1, "from b", 2, None)]


def test_a_link_to_a_deleted_object_becomes_null(bench):
    a, b = bench.device("a"), bench.device("b")
    with a.write():
        a["Person"].create(id=1, name="Ann", n=1)
        a["Person"].create(id=2, name="Bob", n=1)
    bench.settle(a, b)
    with a.write():
        a["Person"].get(1).delete()
    bench.sync(a)
    with b.write():
        b["Person"].get(2).boss = b["Person"].get(1)
    bench.settle(b, a)
    assert people(a) == people(b) == rows(bench) == [(2, "Bob", 1, None)]


def test_a_refused_change_comes_back_and_is_told(bench):
    a, b = bench.device("a"), bench.device("b")
    bench.sql("""ALTER TABLE "Person" ADD CHECK (n < 100)""")
    with a.write():
        a["Person"].create(id=1, name="Ann", n=1)
    bench.settle(a, b)
    with a.write():
        a["Person"].get(1).n = 1000
        a["Person"].create(id=2, name="Bob", n=2)
        a["Person"].create(id=3, name="Cid", n=3000)
    found = bench.sync(a, b)
    assert kinds(found) == ["refused", "refused"]
    assert people(a) == people(b) == rows(bench) == [(1, "Ann", 1, None), (2, "Bob", 2, None)]
    refused = a.sync.status.refused
    assert [(r.class_name, r.key) for r in refused] == [("Person", "1"), ("Person", "3")]
    assert "check" in refused[0].reason and json.loads(refused[0].change)["v"]["n"][1] == 1000
    a.sync.forget_refused()
    assert a.sync.status.refused == []


def test_an_altered_table_is_noticed(bench):
    a = bench.device("a")
    bench.sync(a)
    bench.sql('ALTER TABLE "Person" ADD COLUMN extra text')
    bench.sql("""INSERT INTO "Person" VALUES (1, 'x', 1, NULL, 'e')""")
    bench.sync(a)
    bench.sql('ALTER TABLE "Person" DROP COLUMN n')
    bench.sql("""UPDATE "Person" SET name = 'y'""")
    with a.write():
        a["Person"].get(1).n = 7
    bench.sync(a)
    assert [(p.id, p.name, p.n) for p in a["Person"]] == [(1, "y", 7)]
    assert a.sync.status.pending == 1, "a change of a property that the hub lacks is kept"
    bench.sql('ALTER TABLE "Person" ADD COLUMN n int8')
    bench.settle(a)
    assert bench.sql('SELECT n FROM "Person"') == [(7,)]


def test_a_reply_that_was_lost_is_repeated(bench):
    a = bench.device("a")
    bench.sync(a)
    with a.write():
        a["Person"].create(id=1, name="Ann", n=1)
    bench.sync(a)
    with a.write():
        a.increment(a["Person"].get(1), "n", 5)

    class Cut(crealm.sync.PostgresTransport):
        def call(self, function: str, body: bytes) -> bytes:
            reply = super().call(function, body)
            if function == "push":
                raise crealm.errors.SyncError("cut")
            return reply

    for _ in range(3):
        with pytest.raises(crealm.errors.SyncError):
            a.sync.now(Cut(bench.url))
        assert a.sync.status.inflight > 0
    bench.settle(a)
    assert people(a) == rows(bench) == [(1, "Ann", 6, None)]


def test_a_copied_file_gets_a_name_of_its_own(bench):
    a = bench.device("a")
    with a.write():
        a["Person"].create(id=1, name="Ann", n=1)
    bench.settle(a)
    a.close()
    shutil.copy(bench.folder / "a.realm", bench.folder / "c.realm")
    a, c = bench.device("a", sync=False), bench.device("c", sync=False)
    with a.write():
        a["Person"].create(id=2, name="from a", n=2)
        a.increment(a["Person"].get(1), "n", 10)
    with c.write():
        c["Person"].create(id=3, name="from c", n=3)
        c.increment(c["Person"].get(1), "n", 100)
    found = bench.sync(a, c)
    assert "forked" in kinds(found)
    bench.settle(a, c)
    assert a.sync.status.device != c.sync.status.device
    assert people(a) == people(c) == rows(bench)
    assert [row[0] for row in rows(bench)] == [1, 2, 3]


def test_a_file_restored_from_a_backup_catches_up(bench):
    a = bench.device("a")
    with a.write():
        a["Person"].create(id=1, name="Ann", n=1)
    bench.settle(a)
    with a.write():
        a.increment(a["Person"].get(1), "n", 1)
    a.close()
    shutil.copy(bench.folder / "a.realm", bench.folder / "backup.realm")
    a = bench.device("a", sync=False)
    bench.settle(a)
    with a.write():
        a["Person"].create(id=2, name="lost", n=2)
    bench.settle(a)
    a.close()
    shutil.copy(bench.folder / "backup.realm", bench.folder / "a.realm")
    a = bench.device("a", sync=False)
    assert "forked" in kinds(bench.sync(a))
    bench.settle(a)
    # The sum was sent before: it must not count twice.
    assert people(a) == rows(bench) == [(1, "Ann", 2, None), (2, "lost", 2, None)]


def test_a_hub_that_was_restored_elsewhere_is_compared(bench, server):
    a, b = bench.device("a"), bench.device("b")
    with a.write():
        a["Person"].create(id=1, name="Ann", n=1)
    bench.settle(a, b)
    dump = bench.folder / "dump"
    folder = servers.programs()
    import subprocess

    subprocess.run([f"{folder}/pg_dump", "-f", str(dump), bench.url], check=True)
    with a.write():
        a["Person"].create(id=2, name="after the dump", n=2)
    bench.settle(a, b)
    other = servers.Server()
    try:
        moved = other.database("moved")
        # Numbers of transactions begin again there.
        subprocess.run(
            [f"{folder}/psql", "-q", "-v", "ON_ERROR_STOP=1", "-f", str(dump), moved],
            check=True,
            capture_output=True,
        )
        with psycopg.connect(moved, autocommit=True) as connection:
            connection.execute("""INSERT INTO "Person" VALUES (3, 'only there', 3, NULL)""")
        bench.url = moved
        assert "moved" in kinds(bench.sync(a, b))
        bench.settle(a, b)
        assert people(a) == people(b) == rows(bench)
        assert [row[0] for row in rows(bench)] == [1, 2, 3]
    finally:
        other.remove()


# Libraries without marks


def rename(bench: Bench, name: str, old: bytes, new: bytes) -> None:
    path = bench.folder / f"{name}.realm"
    data = path.read_bytes()
    assert data.count(old) >= 1
    path.write_bytes(data.replace(old, new))


def test_what_a_library_without_marks_wrote_is_found(bench):
    """Such a library ignores the tables of synchronisation: here they have other names for a while."""
    a, b = bench.device("a"), bench.device("b")
    with a.write():
        for i in range(1, 6):
            a["Person"].create(id=i, name=f"p{i}", n=i)
    bench.settle(a, b)
    a.close()
    rename(bench, "a", b"crealm_sync", b"hidden_sync")
    with crealm.open(str(bench.folder / "a.realm")) as other:
        with other.write():
            other["Person"].get(1).name = "unmarked"
            other["Person"].get(2).delete()
            other["Person"].create(id=9, name="new", n=9)
            other["Person"].get(3).name = "loses"
            other["Person"].get(3).n = 33
    rename(bench, "a", b"hidden_sync", b"crealm_sync")
    with b.write():
        b["Person"].get(3).name = "wins"
    bench.sync(b)
    a = bench.device("a", sync=False)
    with a.write():
        a["Person"].get(4).n = 44  # Marked, by a library that marks.
    assert a.sync.status.classes["Person"].must_compare
    found = bench.sync(a)
    assert "overwritten" in kinds(found)
    bench.settle(a, b)
    assert (
        people(a)
        == people(b)
        == rows(bench)
        == [
            (1, "unmarked", 1, None),
            (3, "wins", 3, None),
            (4, "p4", 44, None),
            (5, "p5", 5, None),
            (9, "new", 9, None),
        ]
    )


# Persons

NOTE = crealm.ClassSchema("Note", {"id": int, "owner": str, "text": str}, primary_key="id")


@pytest.fixture
def owned(server, tmp_path, request):
    made = Bench.__new__(Bench)
    made.server, made.folder, made.schema, made.files, made.name = (
        server,
        tmp_path,
        [NOTE],
        {},
        request.node.name[:60],
    )
    made.url = server.database(made.name)
    with server.boss() as connection:
        for name in ("ann", "bob"):
            if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (name,)).fetchone():
                connection.execute(
                    f"CREATE ROLE {name} LOGIN; GRANT people TO {name}"
                    if name != "ann"
                    else f"CREATE ROLE people; CREATE ROLE {name} LOGIN; GRANT people TO {name}"
                )
    first = made.device("first", sync=False)
    hub.init(made.url, first, owners={"Note": "owner"}, role="people")
    first.close()
    yield made
    close(made)


def notes(db: Any) -> Any:
    return sorted((n.id, n.owner, n.text) for n in db["Note"])


def test_rows_belong_to_persons_and_move(owned, server):
    ann, bob = owned.device("ann"), owned.device("bob")
    as_ann, as_bob = server.address(owned.name, "ann"), server.address(owned.name, "bob")
    with ann.write():
        ann["Note"].create(id=1, owner="ann", text="mine")
        ann["Note"].create(id=2, owner="ann", text="mine too")
    with bob.write():
        bob["Note"].create(id=3, owner="bob", text="his")
    ann.sync.now(as_ann), bob.sync.now(as_bob)
    assert notes(bob) == [(3, "bob", "his")]
    owned.sql("UPDATE \"Note\" SET owner = 'bob' WHERE id = 2")
    ann.sync.now(as_ann), bob.sync.now(as_bob)
    assert notes(ann) == [(1, "ann", "mine")] and notes(bob) == [(2, "bob", "mine too"), (3, "bob", "his")]
    # Another person's row can be neither changed, nor taken, nor deleted.
    with ann.write():
        ann["Note"].create(id=3, owner="ann", text="stolen")
        ann["Note"].create(id=4, owner="bob", text="planted")
    outcome = ann.sync.now(as_ann)
    assert [e.kind for e in outcome.events] == ["refused", "refused"]
    bob.sync.now(as_bob), ann.sync.now(as_ann)
    assert notes(ann) == [(1, "ann", "mine")] and notes(bob) == [(2, "bob", "mine too"), (3, "bob", "his")]
    # Nor can another person's device be used.
    with pytest.raises(crealm.errors.SyncError, match="another person"):
        ann.sync.now(as_bob)


def test_without_a_person_nothing_is_visible(owned, server):
    """A gateway changes the role of its connection; without a token there is no person."""
    with psycopg.connect(server.address(owned.name, "ann"), autocommit=True) as connection:
        connection.execute("SET ROLE people")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute('SELECT crealm.hello(\'{"device":"00000000-0000-0000-0000-000000000001"}\'::json)')
        assert connection.execute('SELECT count(*) FROM "Note"').fetchone() == (0,)
        connection.execute("""SELECT set_config('request.jwt.claims', '{"sub": "bob"}', false)""")
        assert connection.execute("SELECT crealm.me()").fetchone() == ("bob",)


# The thread


def test_a_thread_keeps_files_together(bench):
    import time

    a, b = bench.device("a"), bench.device("b")
    events = []
    workers = [db.sync.start(bench.url, interval=60, on_event=events.append) for db in (a, b)]
    try:
        assert all(w.wait(30) for w in workers)
        with a.write():
            a["Person"].create(id=1, name="Ann", n=1)
        for _ in range(200):
            b.refresh()
            if len(b["Person"]):
                break
            time.sleep(0.05)
        assert people(b) == [(1, "Ann", 1, None)]
    finally:
        for w in workers:
            w.stop()
    assert not any(w.is_running for w in workers) and all(w.error is None for w in workers)


def test_programs_that_exchange_the_changes_of_one_file(bench):
    bench.device("a").close()
    problems = []

    def run(number: int) -> None:
        try:
            with crealm.open(str(bench.folder / "a.realm"), schema=bench.schema) as db:
                for i in range(20):
                    with db.write():
                        db["Person"].create(id=100 * number + i, name=str(i), n=0)
                    found = db.sync.now(bench.url)
                    assert [event.kind for event in found.events if event.kind != "compared"] == []
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    a = crealm.open(str(bench.folder / "a.realm"), schema=bench.schema)
    bench.files["a"] = a
    bench.settle(a)
    assert people(a) == rows(bench) and len(people(a)) == 60
    assert bench.sql("SELECT count(*) FROM crealm.device WHERE batch > 0") == [(1,)]


def test_opening_with_a_hub(bench):
    path = str(bench.folder / "a.realm")
    a = crealm.open(path, schema=bench.schema, sync=bench.url)
    bench.files["a"] = a
    b = bench.device("b")
    with a.write():
        a["Person"].create(id=1, name="Ann", n=1)
    assert a.sync.now().requests >= 1
    told = []

    async def take() -> Any:
        return await b.sync.now_async(bench.url, progress=told.append)

    assert asyncio.run(take()).requests == told[-1].requests == 2
    assert told[-1].pending == 0 and people(b) == [(1, "Ann", 1, None)]
    with b.write():
        b["Person"].get(1).name = "Anna"
    bench.sync(b)
    asyncio.run(a.sync.now_async())
    assert people(a) == [(1, "Anna", 1, None)]
    with pytest.raises(crealm.UsageError, match="already"):
        a.sync.start(bench.url)
    worker = a.sync.worker
    a.close()
    assert not worker.is_running
    with pytest.raises(crealm.UsageError, match="no hub"):
        b.sync.now()


def test_a_thread_wakes_at_a_commit_of_any_program(bench):
    a, b = bench.device("a"), bench.device("b")
    bench.sync(a, b)
    workers = [db.sync.start(bench.url, interval=600) for db in (a, b)]
    assert all(worker.wait(60) for worker in workers)
    with crealm.open(str(bench.folder / "a.realm"), schema=bench.schema) as other, other.write():
        other["Person"].create(id=1, name="Ann", n=1)
    while people(b) != [(1, "Ann", 1, None)]:
        assert b.wait_for_change(60)
    with b.write():
        b["Person"].get(1).n = 5
    while people(a) != [(1, "Ann", 5, None)]:
        assert a.wait_for_change(60)
    for worker in workers:
        worker.stop()
        assert worker.error is None


def test_a_notice_that_came_during_an_exchange_is_not_lost(bench):
    class Heard(crealm.sync.PostgresTransport):
        notices = 1

        def told(self) -> bool:
            found, self.notices = self.notices > 0, 0
            return found

        def fileno(self) -> int:
            return quiet[0]  # The notice is read already: nothing makes it readable.

    quiet = os.pipe()
    a = bench.device("a")
    worker = a.sync.start(Heard(bench.url), interval=600)
    with worker._settled:
        assert worker._settled.wait_for(lambda: worker.rounds >= 2, 60)
    worker.stop()
    for end in quiet:
        os.close(end)


def test_who_waits_for_a_thread_that_ends_is_told(bench):
    class Broken(crealm.sync.PostgresTransport):
        def call(self, function: str, body: bytes) -> bytes:
            asked.wait(60)
            raise RuntimeError("broken")

    asked = threading.Event()
    a = bench.device("a")
    worker = a.sync.start(Broken(bench.url), interval=600)
    threading.Timer(0.2, asked.set).start()
    with pytest.raises(RuntimeError, match="broken"):
        a.sync.now()
    with pytest.raises(RuntimeError, match="broken"):
        a.sync.now()
    assert not worker.wait(60)


def test_a_hub_that_is_away_is_an_error_and_nothing_is_lost(bench, tmp_path):
    a = bench.device("a")
    with a.write():
        a["Person"].create(id=1, name="Ann", n=1)
    with pytest.raises(crealm.errors.SyncError):
        a.sync.now(f"postgresql://nobody@/none?host={tmp_path}")
    bench.settle(a)
    assert people(a) == rows(bench)


# Wrong replies


class Liar:
    """A hub that answers with something else."""

    def __init__(self, bench: Bench, function: str, change: Any) -> None:
        self.real, self.function, self.change = crealm.sync.PostgresTransport(bench.url), function, change

    def call(self, function: str, body: bytes) -> bytes:
        reply = self.real.call(function, body)
        if function != self.function:
            return reply
        changed = self.change(json.loads(reply))
        return changed if isinstance(changed, bytes) else json.dumps(changed).encode()


def put(key: str, value: Any) -> Any:
    return lambda reply: {**reply, key: value}


def row(*values: Any) -> Any:
    return put("rows", {"Person": {"props": ["id", "name", "n", "boss"], "rows": [[False, 1, True, *values]]}})


WRONG = [
    ("hello", put("protocol", 99)),
    ("hello", put("batch", "one")),
    ("hello", put("classes", [])),
    ("hello", lambda _: b"<html>"),
    ("hello", lambda _: b""),
    ("hello", lambda _: b"[]"),
    ("hello", put("stale", True)),
    ("push", put("batch", 77)),
    ("push", put("merge", [{"c": "Person", "k": 1, "p": "none", "hub": []}])),
    ("push", put("refused", [{}])),
    ("pull", row("text", "x", 1, None)),
    ("pull", row(1, 5, 1, None)),
    ("pull", row(1, "x", None, None)),
    ("pull", row(None, "x", 1, None)),
    ("pull", row(1, "x", 1)),
    ("pull", row(1, "x", 2**63, None)),
    ("pull", put("rows", {"Person": {"props": ["name"], "rows": []}})),
    ("pull", put("rows", {"Unknown": {"props": [], "rows": []}})),
    ("pull", put("rows", 7)),
    ("pull", put("next", None)),
    ("pull", lambda _: b'{"next":"1:1:","rows":' + b"[" * 100_000),
]


@pytest.mark.parametrize("function, change", WRONG, ids=range(len(WRONG)))
def test_a_wrong_reply_is_an_error_and_changes_nothing(bench, function, change):
    a = bench.device("a")
    with a.write():
        a["Person"].create(id=1, name="Ann", n=1)
    bench.sync(a)
    with a.write():
        a["Person"].get(1).n = 2
    before = people(a)
    with pytest.raises(
        (
            crealm.errors.SyncError,
            crealm.errors.DataError,
            crealm.errors.ConstraintError,
            crealm.errors.LimitExceeded,
        )
    ):
        a.sync._db._owner.call(crealm._marshal.check, crealm._library.lib.crealm_sync_reset)
        a.sync.now(Liar(bench, function, change))
    assert people(a) == before
    bench.settle(a)
    assert people(a) == rows(bench) == [(1, "Ann", 2, None)]


# Many rows


def test_pages_make_one_checkpoint_while_sql_writes(bench):
    """Two pages and a half; a SQL program changes rows of both sides of the border while they are read."""
    a = bench.device("a")
    bench.sync(a)
    bench.sql("""INSERT INTO "Person" SELECT i, 'p' || i, i, NULL FROM generate_series(1, 12000) i""")
    seen = []

    class Slow(crealm.sync.PostgresTransport):
        def call(self, function: str, body: bytes) -> bytes:
            reply = super().call(function, body)
            if function == "pull":
                seen.append(len(json.loads(reply)["rows"].get("Person", {"rows": []})["rows"]))
                if len(seen) <= 3:
                    bench.sql("""UPDATE "Person" SET n = -n WHERE id IN (1, 6000, 11999)""")
                    bench.sql('DELETE FROM "Person" WHERE id = %s', 100 + len(seen))
                    bench.sql("""INSERT INTO "Person" VALUES (%s, 'late', 0, NULL)""", 20000 + len(seen))
            return reply

    a.sync.now(Slow(bench.url))
    assert seen[:2] == [5000, 5000] and len(seen) >= 4
    bench.settle(a)
    assert people(a) == rows(bench)


def test_numbers_of_transactions_that_a_crash_used_twice(bench, server):
    """A transaction that was rolled back just before a crash leaves no trace: its number is used again. A checkpoint
    that was taken meanwhile must not hide the second transaction."""
    import signal

    a = bench.device("a")
    bench.sync(a)
    for _ in range(20):
        with psycopg.connect(bench.url) as connection:
            (last,) = connection.execute("SELECT pg_current_xact_id()::text::int8").fetchone()
            connection.rollback()
    a.sync.now(bench.url)
    server.stop(signal.SIGKILL)
    server.start()
    bench.sql("""INSERT INTO "Person" VALUES (1, 'again', 1, NULL)""")
    (used,) = bench.sql("SELECT max(xid::text::int8) FROM crealm.shadow")[0]
    assert used <= last, "the crash used no number twice: the test shows nothing"
    bench.sync(a)
    assert people(a) == rows(bench) == [(1, "again", 1, None)]


def test_init_brings_an_older_hub_up_to_date(bench):
    first, second = bench.device("a"), bench.device("b")
    with first.write():
        first["Person"].create(id=1, name="Ann")
    bench.settle(first, second)
    assert "CREATE OR REPLACE FUNCTION" not in hub.init(bench.url, first)

    # A hub of another version: other functions, a view without a column, another comment.
    bench.sql("CREATE OR REPLACE FUNCTION crealm.listing(body json) RETURNS json LANGUAGE sql AS $$ SELECT '1'::json $$")
    bench.sql("COMMENT ON SCHEMA crealm IS 'older'")
    bench.sql("DROP VIEW crealm.present")
    bench.sql("CREATE VIEW crealm.present AS SELECT 1 AS class")
    bench.sql("GRANT USAGE ON SCHEMA crealm TO PUBLIC")
    marks = bench.sql("SELECT class, key, xid::text, at FROM crealm.shadow ORDER BY 1, 2")
    identity = bench.sql("SELECT crealm.identity()")
    assert "CREATE OR REPLACE FUNCTION" in hub.init(bench.url, first)
    assert bench.sql("SELECT class, key, xid::text, at FROM crealm.shadow ORDER BY 1, 2") == marks
    assert bench.sql("SELECT crealm.identity()") == identity
    is_granted = "SELECT relacl::text LIKE '%{=r/%' OR relacl::text LIKE '%,=r/%' FROM pg_class WHERE oid = "
    assert bench.sql(is_granted + "'crealm.present'::regclass") == [(True,)]
    assert "CREATE OR REPLACE FUNCTION" not in hub.init(bench.url, first)
    with second.write():
        second["Person"].create(id=2, name="Bob")
    bench.sql("""UPDATE "Person" SET n = 7 WHERE id = 1""")
    bench.settle(first, second)
    assert [(row.id, row.name, row.n) for row in first["Person"].sort("id")] == [(1, "Ann", 7), (2, "Bob", 0)]
