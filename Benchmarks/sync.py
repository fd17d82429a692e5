#!/usr/bin/env python3
"""What synchronisation costs, beside plain PostgreSQL, in one run.

    CREALM_LIBRARY=… sync.py [--rows 20000] [--batch 1000] [--first 100000] [--exchanges 200] [--keep FILE]

Processor time in microseconds for each row: of this program, and of the process of the server that serves it. The peers
write the same rows by psycopg: `executemany` of INSERT … ON CONFLICT DO UPDATE, which uses a pipeline, the same by
arrays and unnest, and COPY. Starts a server of its own in a temporary folder. --keep: the table goes into FILE, too.
"""

from __future__ import annotations

import argparse
import datetime
import pathlib
import statistics
import sys
import tempfile
import time
from typing import Any, Callable, List, Optional, Tuple

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT / "bindings/python"), str(ROOT / "Tests/Sync")]

import crealm  # noqa: E402
from crealm.sync import PostgresTransport  # noqa: E402
from crealm.sync.hub import init  # noqa: E402
from server import Server, missing  # noqa: E402

COLUMNS = ["id", "name", "age", "score", "city", "active", "born"]
TYPES = ["int8", "text", "int8", "float8", "text", "bool", "timestamptz"]
BEGIN = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)


class Person(crealm.Model):
    id: int = crealm.field(primary_key=True)
    name: str
    age: int
    score: float
    city: str
    active: bool
    born: datetime.datetime


def person(number: int) -> Tuple[Any, ...]:
    day = BEGIN + datetime.timedelta(days=number % 1000)
    return number, f"name {number}", number % 90, number / 7, f"city {number % 100}", number % 2 == 0, day


def spent(pid: int) -> float:
    """Processor time of another process, in microseconds."""
    with open(f"/proc/{pid}/schedstat") as file:
        return int(file.read().split()[0]) / 1e3


class Table:
    def __init__(self) -> None:
        self.lines: List[str] = ["| What | program | server | sum |", "| --- | ---: | ---: | ---: |"]

    def add(self, what: str, count: int, work: Callable[[], object], pid: Optional[int] = None) -> float:
        """Measures `work`, which handles `count` rows. Returns microseconds a row."""
        server = spent(pid) if pid else 0.0
        own = time.process_time()
        work()
        own = (time.process_time() - own) * 1e6 / count
        server = (spent(pid) - server) / count if pid else 0.0
        self.note(what, f"{own:.2f}", f"{server:.2f}" if pid else "", f"{own + server:.2f}")
        return own + server

    def note(self, what: str, *cells: str) -> None:
        self.lines.append(f"| {what} | " + " | ".join(cells) + " |")
        print(self.lines[-1], flush=True)


def open_file(folder: str, name: str, is_synced: bool = True) -> Any:
    db = crealm.open(f"{folder}/{name}.realm", schema=[Person])
    if is_synced:
        db.sync.enable()
    return db


def fill(db: Any, first: int, count: int) -> None:
    rows = [dict(zip(COLUMNS, person(number))) for number in range(first, first + count)]
    with db.write():
        db.add_many(Person, rows)


def marking(table: Table, folder: str) -> None:
    """What marks cost a commit. Small commits, and large ones; the same file with and without marks, in turns."""
    plain, synced = open_file(folder, "plain", False), open_file(folder, "synced")
    for db in (plain, synced):
        fill(db, 0, 1000)
    rows = {db: list(db[Person]) for db in (plain, synced)}

    def change(db: Any, count: int, commits: int) -> None:
        objects = rows[db]
        for turn in range(commits):
            with db.write():
                for one in objects[:count]:
                    one.age = one.age + 1

    for count, commits in ((1, 3000), (10, 1500), (1000, 30)):
        spent_by = {plain: [], synced: []}
        for _ in range(5):
            for db in (plain, synced):
                start = time.process_time()
                change(db, count, commits // 5)
                spent_by[db].append((time.process_time() - start) * 1e6 / (commits // 5))
        off, on = (statistics.median(spent_by[db]) for db in (plain, synced))
        table.note(f"a commit that changes {count} objects: off {off:.1f}, on {on:.1f} µs", "", "", f"{on / off:.2f} ×")
    inserts = {plain: [], synced: []}
    for turn in range(5):
        for db in (plain, synced):
            start = time.process_time()
            fill(db, 10_000 + 1000 * turn, 1000)
            inserts[db].append((time.process_time() - start) * 1e3)
    off, on = (statistics.median(inserts[db]) for db in (plain, synced))
    table.note(
        f"a commit that inserts 1,000 objects: off {off:.2f}, on {on:.2f} µs an object", "", "", f"{on / off:.2f} ×"
    )
    for db in (plain, synced):
        db.close()


def plain_sql(table: Table, server: Server, count: int, batch: int) -> None:
    import psycopg

    url = server.database("peers")
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    sets = ", ".join(f'"{name}" = excluded."{name}"' for name in COLUMNS[1:])
    makes = ", ".join(f'"{name}" {kind}' for name, kind in zip(COLUMNS, TYPES))
    one = f"INSERT INTO person ({names}) VALUES ({', '.join(['%s'] * 7)}) ON CONFLICT (id) DO UPDATE SET {sets}"
    arrays = ", ".join(f"%s::{kind}[]" for kind in TYPES)
    many = f"INSERT INTO person ({names}) SELECT * FROM unnest({arrays}) ON CONFLICT (id) DO UPDATE SET {sets}"
    with psycopg.connect(url, autocommit=True) as connection:
        pid = connection.info.backend_pid

        def rows(shift: int) -> List[List[Tuple[Any, ...]]]:
            made = [person(number)[:2] + (shift,) + person(number)[3:] for number in range(count)]
            return [made[start : start + batch] for start in range(0, count, batch)]

        def executemany(parts: Any) -> None:
            for part in parts:
                with connection.transaction():
                    connection.cursor().executemany(one, part)

        def unnest(parts: Any) -> None:
            for part in parts:
                connection.execute(many, [list(column) for column in zip(*part)])

        for name, work in (("executemany", executemany), ("unnest", unnest)):
            connection.execute(f"DROP TABLE IF EXISTS person; CREATE TABLE person ({makes}, PRIMARY KEY (id))")
            table.add(f"psycopg, {name}: insert", count, lambda: work(rows(0)), pid)
            table.add(f"psycopg, {name}: update", count, lambda: work(rows(1)), pid)
        table.add(
            "psycopg: SELECT, all rows", count, lambda: connection.execute("SELECT * FROM person").fetchall(), pid
        )

        def copy() -> None:
            with connection.cursor().copy("COPY person TO STDOUT (FORMAT binary)") as out:
                for _ in out:
                    pass

        table.add("psycopg: COPY, bytes only", count, copy, pid)

        def update() -> None:
            connection.execute("UPDATE person SET age = age + 1")

        table.add("SQL: UPDATE of all rows, plain table", count, update, pid)


def exchanges(table: Table, server: Server, folder: str, count: int, batch: int, first: int, lags: int) -> None:
    url = server.database("people")
    maker = open_file(folder, "maker")
    init(url, maker)
    transport, other_transport = PostgresTransport(url), PostgresTransport(url)
    maker.sync.now(transport)
    pid = transport._open().info.backend_pid
    other = open_file(folder, "other")
    other.sync.now(other_transport)
    other_pid = other_transport._open().info.backend_pid

    def measure(what: str, work: Callable[[int], object]) -> None:
        """Measures the exchanges, without the work that makes the changes."""
        own, served = 0.0, spent(pid)
        for start in range(0, count, batch):
            work(start)
            begin = time.process_time()
            maker.sync.now(transport)
            own += time.process_time() - begin
        program, of_server = own * 1e6 / count, (spent(pid) - served) / count
        table.note(what, f"{program:.2f}", f"{of_server:.2f}", f"{program + of_server:.2f}")

    measure(f"push of {batch} new objects", lambda start: fill(maker, start, batch))
    table.add("pull of these rows", count, lambda: other.sync.now(other_transport), other_pid)

    def change(start: int) -> None:
        with maker.write():
            for one in maker[Person].where(f"id >= {start} AND id < {start + batch}"):
                one.age = one.age + 1

    measure(f"push of {batch} changes of one property", change)
    table.add("pull of these rows", count, lambda: other.sync.now(other_transport), other_pid)
    table.add("empty exchange (each)", 500, lambda: [other.sync.now(other_transport) for _ in range(500)], other_pid)

    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        own_pid = connection.info.backend_pid

        def update() -> None:
            connection.execute('UPDATE "Person" SET age = age + 1')

        table.add("SQL: UPDATE of all rows, table of a hub", count, update, own_pid)
        if first > count:
            connection.execute(
                f"""INSERT INTO "Person" SELECT i, 'name ' || i, i % 90, i / 7.0, 'city ' || i % 100, i % 2 = 0,
                    '2020-01-01'::timestamptz + (i % 1000) * interval '1 day' FROM generate_series({count}, {first - 1}) i"""
            )
    fresh, fresh_transport = open_file(folder, "fresh"), PostgresTransport(url)
    fresh_pid = fresh_transport._open().info.backend_pid
    begin = time.perf_counter()
    table.add(
        f"first exchange of a new file, {first:,} rows", first, lambda: fresh.sync.now(fresh_transport), fresh_pid
    )
    table.note("… its time", "", "", f"{time.perf_counter() - begin:.2f} s")
    assert len(fresh[Person]) == first, len(fresh[Person])
    assert sum(fresh[Person].column("age").to_list()) == connection_sum(url)
    fresh.close()

    # From the commit of one file to the change in another, both with a worker.
    maker.sync.now(transport)
    other.sync.now(other_transport)
    sender = maker.sync.start(url, interval=5)
    receiver = other.sync.start(url, interval=5)
    sender.wait(60), receiver.wait(60)
    found: List[float] = []
    object_, seen = maker[Person].get(1), other[Person].get(1)
    for turn in range(lags):
        with maker.write():
            object_.age = 1000 + turn
        begin = time.perf_counter()
        while seen.age != 1000 + turn:
            other.refresh()
            time.sleep(0.0005)
            assert time.perf_counter() - begin < 30, "the change did not arrive"
        found.append((time.perf_counter() - begin) * 1e3)
        time.sleep(0.01)
    found.sort()
    table.note(
        "commit to the other file: median and 95 %",
        "",
        "",
        f"{found[len(found) // 2]:.1f} and {found[int(len(found) * 0.95)]:.1f} ms",
    )
    sender.stop(), receiver.stop()
    for db in (maker, other):
        db.close()
    with psycopg.connect(url, autocommit=True) as connection:
        before = connection.execute("SELECT pg_total_relation_size('crealm.shadow')").fetchone()[0]
        for _ in range(5):
            connection.execute('UPDATE "Person" SET age = age + 1')
        after = connection.execute("SELECT pg_total_relation_size('crealm.shadow')").fetchone()[0]
        table.note(
            f"shadow table, {first:,} rows: MB before and after 5 updates of all rows",
            "",
            "",
            f"{before / 1e6:.1f} and {after / 1e6:.1f}",
        )


def connection_sum(url: str) -> int:
    import psycopg

    with psycopg.connect(url) as connection:
        return int(connection.execute('SELECT sum(age) FROM "Person"').fetchone()[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--first", type=int, default=100_000)
    parser.add_argument("--exchanges", type=int, default=200)
    parser.add_argument("--keep")
    options = parser.parse_args()
    if missing():
        print(f"needed: {missing()}")
        return 1
    table = Table()
    server = Server()
    try:
        with tempfile.TemporaryDirectory() as folder:
            marking(table, folder)
            plain_sql(table, server, options.rows, options.batch)
            exchanges(table, server, folder, options.rows, options.batch, options.first, options.exchanges)
    finally:
        server.remove()
    if options.keep:
        pathlib.Path(options.keep).write_text("\n".join(table.lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
