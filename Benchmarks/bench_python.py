#!/usr/bin/env python3
"""Compares the Python package with others, in one process: sqlite3 of the standard library, and duckdb and peewee if
they are installed.

  bench_python.py [ROWS [ROUNDS [TABLE]]]      default: 1 000 000 rows and 5 rounds; TABLE: file for the results as Markdown

Each row of the table is measured in alternating rounds: ours, theirs, ours, theirs. It shows the medians of the
processor times, and the ratio of our time to theirs: below 1 we are faster. Goals are ratios, or times for operations
that the others do not have. Programs that run at the same time change both sides of a ratio, but not equally: repeat a
measurement that is close to its goal.
"""

import gc
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bindings/python"))
import crealm  # noqa: E402
from bench_writes import writes  # noqa: E402


class Person(crealm.Model):
    id: int = crealm.field(primary_key=True)
    age: int
    name: str


def peewee_model(path):
    """The same table as a model of peewee; None if peewee is not installed."""
    try:
        import peewee
    except ImportError as missing:
        print(f"skipped: peewee ({missing})")
        return None

    class Record(peewee.Model):
        id = peewee.IntegerField(primary_key=True)
        age = peewee.IntegerField()
        name = peewee.TextField()

        class Meta:
            database = peewee.SqliteDatabase(path)
            table_name = "person"

    return Record


class Bench:
    """Files with the same rows for all, and the measurements."""

    def __init__(self, rows, rounds, folder):
        self.rows, self.rounds, self.folder = rows, rounds, Path(folder)
        self.results = []

    def fill(self):
        self.path = self.folder / "people.realm"
        batch = 100_000
        with crealm.open(self.path, schema=[Person]) as db:
            for start in range(0, self.rows, batch):
                with db.write():
                    table = db["Person"]
                    for i in range(start, min(start + batch, self.rows)):
                        table.create(i, age=i * 7 % 90, name=f"name {i}")
        self.sqlite = sqlite3.connect(self.folder / "people.sqlite")
        self.sqlite.execute("CREATE TABLE person (id INTEGER PRIMARY KEY, age INTEGER, name TEXT)")
        with self.sqlite:
            values = ((i, i * 7 % 90, f"name {i}") for i in range(self.rows))
            self.sqlite.executemany("INSERT INTO person VALUES (?, ?, ?)", values)
        self.record = peewee_model(self.folder / "people.sqlite")

    def compare(self, what, ours, theirs, count, goal):
        """`ours` and `theirs` do the same `count` times; `theirs` is None if no other package does it."""
        times = {ours: [], theirs: []}
        for _ in range(self.rounds):
            for side in filter(None, (ours, theirs)):
                gc.collect()
                start = time.process_time()
                side()
                times[side].append((time.process_time() - start) / count * 1e6)
        medians = [statistics.median(times[side]) if side else None for side in (ours, theirs)]
        ratio = None if theirs is None else medians[0] / medians[1]
        self.results.append((what, *medians, ratio, goal))
        ratio_text = "" if ratio is None else f"{ratio:8.2f} ×"
        their_text = f"{medians[1]:10.3f}" if theirs else " " * 10
        print(f"{what:<48}{medians[0]:10.3f}{their_text}{ratio_text:>12}   goal {goal}", flush=True)

    def run(self):
        print(f"{'µs each':<48}{'crealm':>10}{'other':>10}{'ratio':>12}")
        with crealm.open(self.path, schema=[Person]) as db:
            self.loops(db)
            self.frames(db)
            self.single(db)
        self.opening()
        writes(self)

    # Reading

    def loops(self, db):
        def ours():
            for p in db[Person]:
                p.id, p.age, p.name

        def theirs():
            for id, age, name in self.sqlite.execute("SELECT id, age, name FROM person"):
                id, age, name

        self.compare("three properties in a loop: a row (sqlite3)", ours, theirs, self.rows, "≤ 1.5 ×")
        with crealm.open(self.path) as plain:
            table = plain["Person"]

            def untyped():
                for p in table:
                    p.id, p.age, p.name

            self.compare("the same without a model (sqlite3)", untyped, theirs, self.rows, "≤ 1.5 ×")
        if self.record is not None:
            def of_records():
                for p in self.record.select():
                    p.id, p.age, p.name

            self.compare("the same (peewee)", ours, of_records, self.rows, "")

    def frames(self, db):
        try:
            import duckdb
            import pandas  # noqa: F401
            import pyarrow  # noqa: F401
        except ImportError as missing:
            print(f"skipped: columns to pandas ({missing})")
            return
        ducks = duckdb.connect(str(self.folder / "people.duckdb"))
        ducks.execute("CREATE TABLE person (id BIGINT, age BIGINT, name VARCHAR)")
        arrow = db[Person].to_arrow("id", "age", "name")
        ducks.register("arrow", arrow)
        ducks.execute("INSERT INTO person SELECT * FROM arrow")
        ducks.unregister("arrow")
        ducks.execute("SET threads = 1")

        def ours():
            db[Person].to_pandas("id", "age", "name")

        def theirs():
            ducks.execute("SELECT id, age, name FROM person").df()

        self.compare("three columns to pandas: a row (duckdb)", ours, theirs, self.rows, "≤ 1.0 ×")
        self.compare("three columns to Arrow: a row", lambda: db[Person].to_arrow("id", "age", "name"), None, self.rows, "")

    def single(self, db):
        people, count = db[Person], min(self.rows, 20_000)
        keys = [i * 7919 % self.rows for i in range(count)]

        def ours():
            for key in keys:
                people.get(key).name

        def theirs():
            for key in keys:
                self.sqlite.execute("SELECT name FROM person WHERE id = ?", (key,)).fetchone()[0]

        self.compare("get(pk).name (sqlite3)", ours, theirs, count, "≤ 5 µs")
        if self.record is not None:
            def of_records():
                for key in keys:
                    self.record.get_by_id(key).name

            self.compare("the same (peewee)", ours, of_records, count, "")

    def opening(self):
        def ours():
            for _ in range(50):
                crealm.open(self.path, schema=[Person]).close()

        def theirs():
            for _ in range(50):
                connection = sqlite3.connect(self.folder / "people.sqlite")
                connection.execute("SELECT name FROM sqlite_master").fetchall()
                connection.close()

        self.compare("open and close (sqlite3, with its schema)", ours, theirs, 50, "≤ 300 µs")


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(f"{rows} rows, {rounds} rounds, CPython {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        bench = Bench(rows, rounds, folder)
        bench.fill()
        bench.run()
    if len(sys.argv) > 3:
        Path(sys.argv[3]).write_text(table(bench.results), encoding="utf-8")


def table(results):
    """The rows as Markdown."""
    def time_of(microseconds):
        return "" if microseconds is None else f"{microseconds:.3g} µs" if microseconds < 1000 else f"{microseconds / 1000:.3g} ms"

    lines = ["| | CRealm | the other | ours / theirs | goal |", "| --- | ---: | ---: | ---: | ---: |"]
    for what, ours, theirs, ratio, goal in results:
        lines.append(f"| {what} | {time_of(ours)} | {time_of(theirs)} | {'' if ratio is None else f'{ratio:.2f}'} | {goal} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
