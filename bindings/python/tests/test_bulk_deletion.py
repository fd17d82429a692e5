"""Deletes many objects at once, of a class that is large enough for inner nodes in its tree and in its indexes: the remaining
objects are found, by scans and by indexes, and the class accepts new objects, also when it is empty.

The seed is printed; CREALM_SEED=n repeats a run.
"""

import os
import random
import time
from typing import Optional

import pytest

import crealm


class Entry(crealm.Model):
    id: int = crealm.field(primary_key=True)
    few: int = crealm.field(index=True)
    many: Optional[int] = crealm.field(index=True)
    word: str = crealm.field(index=True)
    next: Optional["Entry"]


class World:
    """The expected objects: values by primary key."""

    def __init__(self, path, seed):
        self.random = random.Random(seed)
        self.db = crealm.open(path, schema=[Entry])
        self.rows = {}
        self.made = 0

    def add(self, count):
        r = self.random
        for id in range(self.made, self.made + count):
            many = r.randrange(1 << 40) if r.random() < 0.9 else None
            row = {"id": id, "few": r.randrange(3), "many": many, "word": f"w{id % 3000}"}
            entry = self.db.add(Entry(**row))
            if self.rows and r.random() < 0.1:
                entry.next = self.db[Entry].get(r.choice(list(self.rows)))
            self.rows[id] = row
        self.made += count

    def delete(self):
        """Deletes the objects of a condition: all of them, a range, those of a value in an index, or all but one."""
        r, ids = self.random, sorted(self.rows)
        low = r.choice(ids)
        high, few, many = low + r.choice([0, 255, 256, 257, 1000, 1 << 20]), r.randrange(3), r.randrange(1 << 40)
        text, arguments, goes = r.choice(
            [
                ("TRUEPREDICATE", (), lambda row: True),
                ("id BETWEEN {$0, $1}", (low, high), lambda row: low <= row["id"] <= high),
                ("few == $0", (few,), lambda row: row["few"] == few),
                ("many < $0", (many,), lambda row: row["many"] is not None and row["many"] < many),
                ("id != $0", (low,), lambda row: row["id"] != low),
            ]
        )
        self.db[Entry].where(text, *arguments).delete_all()
        self.rows = {id: row for id, row in self.rows.items() if not goes(row)}

    def expect(self):
        entries, r = self.db[Entry], self.random
        assert len(entries) == len(self.rows)
        for few in range(3):
            assert len(entries.where("few == $0", few)) == sum(row["few"] == few for row in self.rows.values())
        for _ in range(20):
            id = r.randrange(self.made + 1)
            entry, row = entries.get(id), self.rows.get(id)
            assert (entry is None) == (row is None)
            if entry is not None and row is not None:
                assert {name: getattr(entry, name) for name in row} == row
                assert entry.next is None or entry.next.id in self.rows
            word = f"w{id % 3000}"
            assert sorted(e.id for e in entries.where("word == $0", word)) == [i for i in sorted(self.rows) if self.rows[i]["word"] == word]
        assert not self.db.verify()


@pytest.mark.parametrize("round", range(3))
def test_what_is_left_is_found(tmp_path, round):
    seed = int(os.environ.get("CREALM_SEED", time.time_ns() % 10**9)) + round
    print(f"CREALM_SEED={seed - round} (round {round})")
    world = World(tmp_path / "bulk.realm", seed)
    with world.db.write():
        world.add(1500)
    for step in range(8):
        before = dict(world.rows), world.made
        try:
            with world.db.write():
                for _ in range(world.random.choice([1, 2])):
                    if world.rows:
                        world.delete()
                    if not world.rows or world.random.random() < 0.6:
                        world.add(world.random.choice([1, 256, 1001, 1500]))
                if world.random.random() < 0.3:
                    world.expect()
                if world.random.random() < 0.2:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            world.rows, world.made = before
        world.expect()
    world.db.close()
