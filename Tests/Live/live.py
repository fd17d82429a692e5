"""A writer or an observer of run.py, which describes them.

    live.py writer FILE JOURNAL SEED
    live.py observer FILE REPORT
"""

import asyncio
import os
import random
import struct
import sys
import time

import crealm

LONGEST, KEPT = 6000, 4000


def broken(text):
    print("BROKEN Python:", text, flush=True)
    os._exit(1)


def write_on(board, journal_path, seed):
    chance = random.Random(seed)
    journal = os.open(journal_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    numbers, times = board.numbers, board.times
    while True:
        with board._db.write():
            number = numbers[-1] + 1 if len(numbers) else 1
            if len(numbers) >= LONGEST:
                del numbers[: LONGEST - KEPT]
                del times[: LONGEST - KEPT]
            numbers.append(number)
            times.append(time.monotonic_ns())
        os.write(journal, struct.pack("q", number))
        if chance.randrange(4):
            time.sleep(chance.random() / 50)


class Observer:
    """The observer's state: the list, as built from the change sets, and its report."""

    def __init__(self, board, report_path):
        self.numbers, self.times = board.numbers, board.times
        self.report = os.open(report_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self.observation = self.numbers.observe(self.told)
        self.copy = list(self.numbers)
        self.last = self.copy[-1] if self.copy else 0
        self.commits = self.callbacks = self.longest = self.missed = 0

    def told(self, change):
        try:
            self.follow(change, time.monotonic_ns())
        except Exception as error:
            broken(repr(error))

    def follow(self, change, arrived):
        if change.modifications or change.moves or change.cleared or change.deleted:
            broken(f"not an insertion: {change}")
        for position in reversed(change.deletions):
            del self.copy[position]
        for position in change.insertions:
            if position != len(self.copy):
                broken(f"inserted at {position} of {len(self.copy)}")
            self.copy.append(self.numbers[position])
        if len(self.copy) != len(self.numbers) or (self.copy and self.copy[0] != self.numbers[0]):
            broken(f"{len(self.copy)} elements followed, {len(self.numbers)} are there")
        for position in change.insertions:
            number = self.copy[position]
            if number != self.last + 1:
                # Only numbers that were removed from the list before a notification may be missing.
                if number <= self.last or self.copy[0] <= self.last + 1:
                    broken(f"commit {number} told after {self.last}")
                self.missed += number - self.last - 1
            self.last = number
            self.commits += 1
            self.longest = max(self.longest, arrived - self.times[position])
        self.callbacks += 1
        report = struct.pack("5q", self.last, self.commits, self.callbacks, self.longest, self.missed)
        os.pwrite(self.report, report, 0)


async def observe(path, report_path):
    with crealm.open(path, mode="r") as db:
        observer = Observer(db["Board"].get(0), report_path)
        await asyncio.Event().wait()
        assert observer.observation.is_active


if sys.argv[1] == "writer":
    with crealm.open(sys.argv[2]) as db:
        write_on(db["Board"].get(0), sys.argv[3], int(sys.argv[4]))
else:
    asyncio.run(observe(sys.argv[2], sys.argv[3]))
