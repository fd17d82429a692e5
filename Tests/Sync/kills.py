"""Processes with real files, a real PostgreSQL, and SIGKILL.

    kills.py [--seconds N] [--devices N] [--seed N]

Each device is a process that writes its file and exchanges changes without a pause. Meanwhile devices are killed and
started again, connections of the server are ended, the server itself is killed and started again, and a SQL program
writes. Every transaction of a device adds to a counter and creates an object that says how much, so that the data
themselves tell whether something was lost or came twice: the counter is the sum of these objects. At the end all files
are equal to the hub. Clocks of the devices differ by up to an hour.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from typing import Any, List

sys.path.insert(0, os.path.dirname(__file__))
import crealm
import server as servers

COUNTERS = 5
SCHEMA = [
    crealm.ClassSchema("Counter", {"id": int, "n": int, "tags": list[str], "note": str}, primary_key="id"),
    crealm.ClassSchema("Step", {"id": uuid.UUID, "counter": int, "by": int}, primary_key="id"),
]


def device(path: str, url: str, offset: int, seed: int) -> None:
    """A process: writes and exchanges until it is killed, or SIGTERM lets it end."""
    chance = random.Random(seed)
    going = [True]
    signal.signal(signal.SIGTERM, lambda *_: going.clear())
    with crealm.open(path, schema=SCHEMA) as db:
        if not db.sync.status.enabled:
            db.sync.enable(clock_offset=offset)
        transport = crealm.sync.PostgresTransport(url, timeout=10)
        while going:
            for _ in range(chance.randint(1, 4)):
                with db.write():
                    key = chance.randrange(COUNTERS)
                    counter = db["Counter"].get(key)
                    if counter is None:
                        continue
                    by = chance.randint(1, 9)
                    db.increment(counter, "n", by)
                    db["Step"].create(id=uuid.uuid4(), counter=key, by=by)
                    if chance.random() < 0.3:
                        counter.tags.insert(chance.randrange(len(counter.tags) + 1), uuid.uuid4().hex[:8])
                    if chance.random() < 0.2:
                        counter.note = uuid.uuid4().hex[:4]
            try:
                db.sync._exchange(transport)
            except crealm.errors.SyncError:
                time.sleep(0.1)


def run(seconds: float, count: int, seed: int) -> int:
    import psycopg

    chance = random.Random(seed)
    folder = tempfile.mkdtemp(prefix="crealm-kills-")
    hub = servers.Server(is_quick=False)
    processes: List[Any] = [None] * count
    offsets = [chance.choice([0, 3_600_000, -3_600_000]) for _ in range(count)]
    kills = crashes = cuts = 0
    try:
        url = hub.database("kills")
        with crealm.open(f"{folder}/first.realm", schema=SCHEMA) as first:
            from crealm.sync import hub as making

            making.init(url, first)
            first.sync.enable()
            with first.write():
                for i in range(COUNTERS):
                    first["Counter"].create(id=i, n=0)
            first.sync.now(url)

        def start(i: int) -> None:
            processes[i] = subprocess.Popen(
                [
                    sys.executable,
                    __file__,
                    "--device",
                    f"{folder}/{i}.realm",
                    url,
                    str(offsets[i]),
                    str(chance.randrange(1 << 30)),
                ]
            )

        for i in range(count):
            start(i)
        end = time.monotonic() + seconds
        next_crash = time.monotonic() + seconds / 4
        while time.monotonic() < end:
            time.sleep(chance.uniform(0.1, 0.4))
            i = chance.randrange(count)
            if processes[i].poll() is not None:
                raise RuntimeError(f"device {i} ended with {processes[i].returncode}")
            if chance.random() < 0.6:
                processes[i].send_signal(signal.SIGKILL)
                processes[i].wait()
                kills += 1
                start(i)
            try:
                if chance.random() < 0.3:
                    with hub.boss("kills") as connection:
                        ended = connection.execute(
                            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = %s "
                            "ORDER BY random() LIMIT 1",
                            (servers.OWNER,),
                        ).fetchall()
                        cuts += len(ended)
                else:
                    with psycopg.connect(url, autocommit=True) as connection:
                        connection.execute(
                            'UPDATE "Counter" SET note = %s WHERE id = %s',
                            (f"SQL{chance.randrange(99)}", chance.randrange(COUNTERS)),
                        )
            except psycopg.Error:
                pass  # The server is away.
            if time.monotonic() > next_crash:
                next_crash += seconds / 4
                hub.stop(signal.SIGKILL)
                # Its other processes notice the end of their parent.
                time.sleep(1)
                hub.start()
                crashes += 1
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
            process.wait(60)
        return check(
            folder, url, count, f"{kills} devices killed, {cuts} connections cut, {crashes} crashes of the server"
        )
    finally:
        for process in processes:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
        hub.remove()
        shutil.rmtree(folder, ignore_errors=True)


def check(folder: str, url: str, count: int, told: str) -> int:
    import psycopg

    dbs = [crealm.open(f"{folder}/{name}.realm", schema=SCHEMA) for name in ["first", *range(count)]]
    for _ in range(3):
        for db in dbs:
            if not db.sync.status.enabled:
                db.sync.enable()
            db.sync.now(url)
    with psycopg.connect(url) as connection:
        counters = connection.execute('SELECT id, n, tags, note FROM "Counter" ORDER BY id').fetchall()
        sums = dict(connection.execute('SELECT counter, sum(by)::int8 FROM "Step" GROUP BY counter').fetchall())
        steps = connection.execute('SELECT count(*) FROM "Step"').fetchone()[0]
    faults = 0
    for key, n, tags, _ in counters:
        if n != sums.get(key, 0):
            faults += 1
            print(f"counter {key}: {n} in place of {sums.get(key, 0)}")
        if len(tags) != len(set(tags)):
            faults += 1
            print(f"counter {key}: elements twice")
    for db in dbs:
        found = sorted((c.id, c.n, list(c.tags), c.note) for c in db["Counter"])
        if found != counters or len(db["Step"]) != steps:
            faults += 1
            print(f"{db.path} differs from the hub: {len(db['Step'])} steps of {steps}; {db.sync.status}")
            print("\n".join(f"  {one} {other}" for one, other in zip(found, counters) if one != other))
        if list(db.verify()):
            faults += 1
            print(f"{db.path} is damaged")
        db.close()
    print(
        f"{told}; {steps} transactions of {count} devices: "
        + (f"{faults} FAULTS" if faults else "all files equal, all counters exact")
    )
    return 1 if faults or not steps else 0


def main() -> int:
    if sys.argv[1:2] == ["--device"]:
        device(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
        return 0
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--devices", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if servers.missing():
        print(f"skipped: killed devices of a hub (needs {servers.missing()})")
        return 0
    return run(options.seconds, options.devices, options.seed)


if __name__ == "__main__":
    sys.exit(main())
