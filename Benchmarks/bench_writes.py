"""The rows about writing of bench_python.py: objects with a primary key, two texts (one of them indexed), an integer
and a floating-point number, compared with sqlite3's executemany with the same index, each in one transaction that is
flushed to disk."""

import random
import sqlite3

import crealm


class Citizen(crealm.Model):
    id: int = crealm.field(primary_key=True)
    name: str
    city: str = crealm.field(index=True)
    age: int
    score: float


INSERT = "INSERT INTO citizen VALUES (?, ?, ?, ?, ?)"
UPSERT = (
    INSERT + " ON CONFLICT(id) DO UPDATE SET name = excluded.name, city = excluded.city, age = excluded.age, score = excluded.score"
)


def writes(bench):
    """`bench` has the number of rows, a folder, and compare()."""
    count, r = bench.rows, random.Random(1)
    names = ["id", "name", "city", "age", "score"]
    tuples = [
        (i, f"Person number {i} {r.randrange(100_000):x}", f"City{r.randrange(1000):03}", r.randrange(100), r.random())
        for i in range(count)
    ]
    dicts = [dict(zip(names, row)) for row in tuples]

    def ours(rows, update="error", **more):
        def run():
            path = bench.folder / "citizens.realm"
            if update == "error":
                path.unlink(missing_ok=True)
            with crealm.open(path, schema=[Citizen]) as db, db.write():
                db.add_many(Citizen, rows, update, **more)

        return run

    def theirs(statement):
        def run():
            path = bench.folder / "citizens.sqlite"
            if statement is INSERT:
                path.unlink(missing_ok=True)
            connection = sqlite3.connect(path)
            connection.execute(
                "CREATE TABLE IF NOT EXISTS citizen (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, age INTEGER NOT NULL, "
                "score REAL NOT NULL)"
            )
            connection.execute("CREATE INDEX IF NOT EXISTS city ON citizen (city)")
            with connection:
                connection.executemany(statement, tuples)
            connection.close()

        return run

    bench.compare("add_many of dicts: a row (executemany)", ours(dicts), theirs(INSERT), count, "≤ 1.0 ×")
    bench.compare("add_many of tuples: a row (executemany)", ours(tuples, columns=names), theirs(INSERT), count, "")
    try:
        import pyarrow
    except ImportError as missing:
        print(f"skipped: add_many of Arrow tables ({missing})")
    else:
        table = pyarrow.table(dict(zip(names, zip(*tuples))))
        bench.compare("add_many of an Arrow table: a row (executemany)", ours(table), theirs(INSERT), count, "≤ 0.33 ×")
    bench.compare('add_many(update="all"): a row (upserts)', ours(dicts, "all"), theirs(UPSERT), count, "≤ 2.0 ×")
