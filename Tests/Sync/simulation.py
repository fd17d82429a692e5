"""Devices with real files, a hub as a state machine and a bad network, driven by a seed.

    simulation.py [--seeds N] [--first N] [--steps N] [--fault NAME]

Each seed makes devices with clocks that differ by up to an hour. Steps: a device creates, sets, adds, deletes, edits a
list, begins or continues an exchange; requests and replies are lost or arrive twice and late; a device is closed in
the middle, or its file is replaced by a copy or a backup; a SQL program begins and ends transactions. At the end
everybody exchanges until nothing is unsent. Then

    1. all files show the state of the hub;
    2. every sum is exact: the sum of all that was added to objects that live (not with copied files);
    3. no list lost an element that nobody removed, in objects that live;
    4. a change that is made then wins;
    5. no time at the hub is more than a minute ahead, although clocks are.

With --fault the hub makes a mistake (see hub_model); at least one seed must notice. Prints the seed of a failure; the
same seed does the same again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
from typing import Any, Dict, List, Optional, Set, Tuple

sys.path.insert(0, os.path.dirname(__file__))
import crealm
from crealm.sync import _core
from hub_model import FAULTS, HubModel, Open

SCHEMA = [
    crealm.ClassSchema("Item", {"id": int, "name": str, "n": int, "tags": list[str]}, primary_key="id"),
]


class Lost(Exception):
    pass


class Device:
    """A file, and the request on its way."""

    def __init__(self, path: str, offset: int) -> None:
        self.path = path
        self.db = crealm.open(path, schema=SCHEMA)
        self.db.sync.enable(clock_offset=offset)

    def reopen(self) -> None:
        self.db.close()
        self.db = crealm.open(self.path, schema=SCHEMA)


class Simulation:
    SHARED = 6  # Keys below are made by several devices.

    def __init__(self, seed: int, steps: int, faults: frozenset, folder: str) -> None:
        self.random = random.Random(seed)
        self.steps = steps
        self.hub = HubModel(faults)
        self.folder = folder
        self.has_copies = seed % 4 == 0
        offsets = [0, 0, 3_600_000, -3_600_000]
        count = self.random.randint(2, 4)
        self.devices = [Device(f"{folder}/{i}.realm", self.random.choice(offsets)) for i in range(count)]
        self.transactions: List[Open] = []
        self.late: List[Tuple[str, bytes]] = []
        self.added: Dict[int, int] = {}
        self.inserted: Dict[int, Set[str]] = {}
        self.removed: Dict[int, Set[str]] = {}
        self.deleted: Set[int] = set()
        self.copied = False
        self.copies = 0
        self.number = 0
        self.made = 0

    # Steps

    def run(self) -> None:
        actions = [
            self.create,
            self.set,
            self.add,
            self.add,
            self.edit,
            self.edit,
            self.delete,
            self.exchange,
            self.exchange,
            self.exchange,
            self.sql,
            self.end_sql,
            self.close,
        ]
        if self.has_copies:
            actions += [self.copy]
        for _ in range(self.steps):
            self.random.choice(actions)()
            if self.late and self.random.random() < 0.3:
                self.deliver_late()
        while self.late:
            self.deliver_late()
        while self.transactions:
            self.end_sql()
        self.settle()
        self.check()
        self.last_word()

    def last_word(self) -> None:
        """A change that is made when all is quiet wins, whatever the clocks were before."""
        for device in self.devices:
            item = self.item(device)
            if item is None:
                continue
            key, name = item.id, self.fresh()
            with device.db.write():
                item.name = name
            self.settle()
            found = self.hub_content()[key][0]
            assert found == name, f"object {key}: {found} in place of the last word {name}"

    def device(self) -> Device:
        return self.random.choice(self.devices)

    def item(self, device: Device) -> Any:
        items = device.db["Item"]
        return items[self.random.randrange(len(items))] if len(items) else None

    def create(self) -> None:
        device = self.device()
        key = self.random.randrange(self.SHARED)
        if self.random.random() < 0.7:
            self.made += 1
            key = self.SHARED + self.made
        if device.db["Item"].get(key) is not None or key in self.deleted:
            return
        with device.db.write():
            device.db["Item"].create(id=key, name=self.fresh())

    def fresh(self) -> str:
        self.number += 1
        return f"v{self.number}"

    def set(self) -> None:
        device = self.device()
        item = self.item(device)
        if item is not None:
            with device.db.write():
                item.name = self.fresh()

    def add(self) -> None:
        device = self.device()
        item = self.item(device)
        if item is None:
            return
        step = self.random.randrange(1, 100)
        with device.db.write():
            device.db.increment(item, "n", step)
            if self.random.random() < 0.2:
                item.name = self.fresh()
        self.added[item.id] = self.added.get(item.id, 0) + step

    def edit(self) -> None:
        device = self.device()
        item = self.item(device)
        if item is None:
            return
        tags = item.tags
        with device.db.write():
            if len(tags) and self.random.random() < 0.3:
                i = self.random.randrange(len(tags))
                self.removed.setdefault(item.id, set()).add(tags[i])
                del tags[i]
            elif len(tags) > 1 and self.random.random() < 0.2:
                tags.insert(self.random.randrange(len(tags) - 1), tags.pop())
            else:
                tag = self.fresh()
                tags.insert(self.random.randrange(len(tags) + 1), tag)
                self.inserted.setdefault(item.id, set()).add(tag)

    def delete(self) -> None:
        device = self.device()
        item = self.item(device)
        if item is None or self.random.random() < 0.6:
            return
        self.deleted.add(item.id)
        with device.db.write():
            item.delete()

    def close(self) -> None:
        self.device().reopen()

    def copy(self) -> None:
        """The file of a device becomes a second one, or goes back to a copy of itself."""
        device = self.device()
        if self.copies >= 2:
            return
        self.copies += 1
        self.copied = True
        device.db.close()
        path = f"{self.folder}/copy{self.copies}.realm"
        shutil.copy(device.path, path)
        device.db = crealm.open(device.path, schema=SCHEMA)
        other = Device.__new__(Device)
        other.path = path
        other.db = crealm.open(path, schema=SCHEMA)
        self.devices.append(other)

    def sql(self) -> None:
        if len(self.transactions) > 2:
            return
        transaction = self.hub.begin()
        for _ in range(self.random.randint(1, 3)):
            keys = sorted(self.hub.rows) + [str(self.random.randrange(1000, 1010))]
            key = self.random.choice(keys)
            if json.loads(key) not in self.deleted:
                transaction.writes.append((key, {"name": self.fresh()}))
        self.transactions.append(transaction)

    def end_sql(self) -> None:
        if self.transactions:
            transaction = self.transactions.pop(self.random.randrange(len(self.transactions)))
            transaction.writes = [(k, v) for k, v in transaction.writes if json.loads(k) not in self.deleted]
            self.hub.commit(transaction)

    # The network

    def deliver_late(self) -> None:
        """A request that was sent long ago arrives; nobody waits for the reply."""
        function, body = self.late.pop(0)
        self.hub.call(function, body)

    def exchange(self) -> None:
        """A part of an exchange, or a whole one."""
        device = self.device()
        call = device.db._owner.call
        for _ in range(self.random.randint(1, 8)):
            request = call(_core.next_request)
            if request is None:
                return
            function, body = request
            luck = self.random.random()
            if luck < 0.08:  # The request is lost.
                return device.db._owner.call(crealm._marshal.check, crealm._library.lib.crealm_sync_reset)
            if luck < 0.12:  # It arrives later.
                self.late.append((function, body))
                return device.db._owner.call(crealm._marshal.check, crealm._library.lib.crealm_sync_reset)
            reply = self.hub.call(function, body)
            if luck < 0.16:  # It arrives twice.
                self.late.append((function, body))
            if luck < 0.26:  # The reply is lost.
                return device.db._owner.call(crealm._marshal.check, crealm._library.lib.crealm_sync_reset)
            if luck < 0.30:  # The device is closed before it gets the reply.
                return device.reopen()
            if luck < 0.5:
                self.random.choice([self.set, self.add, self.edit])()
            call(_core.apply_reply, reply)

    def settle(self) -> None:
        for _ in range(12):
            for device in self.devices:
                device.db.sync.now(self.hub_transport())
            if all(self.content(d) == self.hub_content() and not d.db.sync.status.pending for d in self.devices):
                return

    def hub_transport(self) -> Any:
        hub = self.hub

        class Direct:
            def call(self, function: str, body: bytes) -> bytes:
                return hub.call(function, body)

        return Direct()

    # What must hold

    @staticmethod
    def content(device: Device) -> Any:
        return {item.id: (item.name, item.n, list(item.tags)) for item in device.db["Item"]}

    def hub_content(self) -> Any:
        return {row["id"]: (row["name"], row["n"], row["tags"]) for row in self.hub.rows.values()}

    def check(self) -> None:
        expected = self.hub_content()
        for device in self.devices:
            status = device.db.sync.status
            assert status.pending == 0 and status.inflight == 0, f"{device.path}: not everything was sent"
            found = self.content(device)
            assert found == expected, f"{device.path} differs: {difference(found, expected)}"
        if not self.copied:
            # Of an object that two devices have made, the later value counts.
            for key, (_, number, _) in ((k, v) for k, v in expected.items() if k >= self.SHARED):
                assert number == self.added.get(
                    key, 0
                ), f"object {key}: {number} in place of {self.added.get(key, 0)}"
        for key, (_, _, tags) in expected.items():
            kept = self.inserted.get(key, set()) - self.removed.get(key, set())
            if not self.copied and key not in self.deleted:  # One that was made again is another object.
                assert kept <= set(tags), f"object {key} lost {kept - set(tags)}"
            assert len(tags) == len(set(tags)), f"object {key} has elements twice: {tags}"
        latest = self.hub.now() + (60_000 << 16) + (1 << 16)
        for key, shadow in self.hub.shadow.items():
            assert shadow["at"] <= latest, f"object {key} has a time that is more than a minute ahead"

    def end(self) -> None:
        for device in self.devices:
            if not device.db.is_closed:
                device.db.close()


def difference(found: Dict[int, Any], expected: Dict[int, Any]) -> Any:
    return {
        key: (found.get(key), expected.get(key))
        for key in {*found, *expected}
        if found.get(key) != expected.get(key)
    }


def run(seed: int, steps: int = 120, faults: frozenset = frozenset()) -> Optional[str]:
    """What went wrong with a seed; None if nothing."""
    folder = tempfile.mkdtemp(prefix="crealm-simulation-")
    simulation = Simulation(seed, steps, faults, folder)
    try:
        simulation.run()
        return None
    except (AssertionError, crealm.Error, KeyError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        simulation.end()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--fault", choices=[*FAULTS, "all"])
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    if options.fault:
        missed = []
        for fault in FAULTS if options.fault == "all" else [options.fault]:
            found = next(((s, m) for s in seeds if (m := run(s, options.steps, frozenset([fault])))), None)
            print(
                f"{fault}: " + (f"found by seed {found[0]}: {found[1][:110]}" if found else "NOT FOUND"),
                flush=True,
            )
            missed += [] if found else [fault]
        return 1 if missed else 0
    for seed in seeds:
        fault = run(seed, options.steps)
        if fault:
            print(f"seed {seed}: {fault}\nAgain: {sys.argv[0]} --first {seed} --seeds 1 --steps {options.steps}")
            return 1
    print(f"{len(seeds)} seeds of {options.steps} steps: all files equal to the hub, sums exact, no element lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
