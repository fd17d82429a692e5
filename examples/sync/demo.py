"""Two programs, a SQL client and a laptop that goes offline share a list of tasks.

    make demo-sync

Starts a PostgreSQL of its own in a temporary folder (a Unix socket only), and stops it at the end.
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests" / "Sync"))
import crealm
import server as servers
from crealm.sync import hub


class Task(crealm.Model):
    id: int = crealm.field(primary_key=True)
    title: str
    done: bool = False
    minutes: int = 0
    tags: list[str] = crealm.field(default_factory=list)


def show(who: str, tasks) -> None:
    print(
        f"  {who:<7} "
        + "; ".join(f"{t[0]} {t[1]} [{'x' if t[2] else ' '}] {t[3]} min {list(t[4])}" for t in sorted(tasks))
    )


def tasks_of(db):
    return [(t.id, t.title, t.done, t.minutes, t.tags) for t in db[Task]]


def sql(url: str, text: str):
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(text)
        return cursor.fetchall() if cursor.description else []


def main() -> int:
    if servers.missing():
        print(f"needed: {servers.missing()}")
        return 1
    server = servers.Server()
    folder = tempfile.TemporaryDirectory()
    try:
        url = server.database("tasks")
        phone = crealm.open(f"{folder.name}/phone.realm", schema=[Task])
        laptop = crealm.open(f"{folder.name}/laptop.realm", schema=[Task])
        hub.init(url, phone)
        for db in (phone, laptop):
            db.sync.enable()

        print("1. The phone makes two tasks; everybody has them, psql too.")
        with phone.write():
            phone.add(Task(id=1, title="write", tags=["home"]))
            phone.add(Task(id=2, title="call", minutes=5))
        phone.sync.now(url), laptop.sync.now(url)
        show("phone", tasks_of(phone)), show("laptop", tasks_of(laptop))
        psql = subprocess.run(
            [f"{servers.programs()}/psql", "-X", "-A", "-t", "-c", 'TABLE "Task"', url],
            capture_output=True,
            text=True,
        )
        print("  psql    " + "; ".join(psql.stdout.split("\n")[:-1]))

        print("2. The laptop is offline. It edits; the phone and a SQL client edit the same tasks.")
        with laptop.write():
            task = laptop[Task].get(1)
            task.title = "write a page"
            task.tags.append("laptop")
            laptop.increment(task, "minutes", 30)
            laptop[Task].get(2).delete()
            laptop.add(Task(id=3, title="read"))
        with phone.write():
            task = phone[Task].get(1)
            task.tags.insert(0, "phone")
            phone.increment(task, "minutes", 10)
            phone[Task].get(2).title = "call back"
        phone.sync.now(url)
        sql(url, 'UPDATE "Task" SET done = true WHERE id = 1')
        print(f"  laptop  {laptop.sync.status.pending} objects unsent")

        print("3. The laptop comes back.")
        for event in laptop.sync.now(url).events:
            print(f"  laptop  {event.kind} {event.class_name} {event.key} {event.detail}")
        for event in phone.sync.now(url).events:
            print(f"  phone   {event.kind} {event.class_name} {event.key} {event.detail}")
        laptop.sync.now(url)
        show("phone", tasks_of(phone)), show("laptop", tasks_of(laptop)), show("hub", sql(url, 'TABLE "Task"'))

        print("4. The hub refuses what its constraint forbids; the change comes back and is kept.")
        sql(url, 'ALTER TABLE "Task" ADD CHECK (minutes < 1000)')
        with laptop.write():
            laptop[Task].get(1).minutes = 5000
        laptop.sync.now(url)
        for refused in laptop.sync.status.refused:
            print(f"  laptop  refused {refused.class_name} {refused.key}: {refused.reason}")
        show("laptop", tasks_of(laptop))
        is_same = sorted(tasks_of(phone)) == sorted(tasks_of(laptop))
        phone.close(), laptop.close()
        print("All are equal." if is_same else "They DIFFER.")
        return 0 if is_same else 1
    finally:
        server.remove()
        folder.cleanup()


if __name__ == "__main__":
    sys.exit(main())
