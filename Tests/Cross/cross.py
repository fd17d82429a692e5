"""A writer and observer of run.py, which describes them.   cross.py FILE LEDGER NUMBER"""

import os
import sys
from pathlib import Path

import crealm


class Counter(crealm.Model):
    id: int = crealm.field(primary_key=True)
    value: int


class Entry(crealm.Model):
    id: int = crealm.field(primary_key=True)
    worker: int
    number: int


def main():
    path, ledger_path, own = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    ledger = os.open(ledger_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    note = lambda *words: os.write(ledger, (" ".join(map(str, words)) + "\n").encode())  # noqa: E731
    is_told = False

    with crealm.open(path, schema=[Counter, Entry]) as db:
        note("start")
        entries = db[Entry]

        def told(change):
            nonlocal is_told
            if not is_told:
                note("sees", *(db[Counter].get(id).value for id in range(9)))
                is_told = True
                return
            rows = [entries[place] for place in change.insertions]
            others = ["changed"] if len(change.deletions) or len(change.modifications) else []
            note("told", *(f"{row.worker}:{row.number}" for row in rows), *others)

        observation = entries.observe(told)
        while not (path.parent / "stop").exists():
            with db.write():
                counter, total = db[Counter].get(own), db[Counter].get(0)
                number = counter.value + 1
                db[Entry].create(own * 1_000_000_000 + number, worker=own, number=number)
                counter.value = number
                total.value += 1
            note("wrote", number)
            db.wait_for_change(0.002)
        note("stopped")
        moved = True
        while not (path.parent / "end").exists() or moved:
            moved = db.wait_for_change(0.2)
        note("end", len(entries))
        observation.cancel()


main()
