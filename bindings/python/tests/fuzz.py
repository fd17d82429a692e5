"""Random calls of all public functions, with arguments of any kind, and with signals, other threads and forks in between.

    python fuzz.py FOLDER [--calls N] [--seed N]

No call may end the process, or raise an error that is not documented. And no data may be lost silently: each write adds a row
to a table that the random calls do not know, and at the end the table has exactly the rows of the successful writes. Prints
the counts as JSON."""

import argparse
import collections
import decimal
import gc
import inspect
import json
import os
import random
import signal
import sys
import threading
import uuid
import warnings
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any, Dict, List, Optional, Set

import crealm
from crealm import Embedded, Model, aggregates, backlinks, field

EXPECTED = (
    crealm.Error, TypeError, ValueError, LookupError, AttributeError, OverflowError, ArithmeticError, StopIteration, StopAsyncIteration,
    NotImplementedError, OSError)  # fmt: skip
# Not called: functions that wait for others, change the key of the file, or need other packages.
AVOIDED = {"wait_for_change", "change_key", "changes", "write_async", "to_polars", "to_pandas", "to_arrow"}
OPERATORS = """__getitem__ __setitem__ __delitem__ __contains__ __len__ __iter__ __eq__ __ne__ __lt__ __repr__ __reversed__ __or__ __and__
    __ior__ __iand__ __isub__ __iadd__ __hash__ __bool__ __dir__ _repr_html_ __getattr__ __setattr__ __delattr__ __arrow_c_schema__""".split()

TEXTS = ["", "id", "text", "things", "a.b", "$0", "\0", "\udc80", "id > 1", "text == $0", "TRUEPREDICATE", "x" * 3000, "Thing", "other.id"]


class Part(Embedded):
    note: str
    sizes: List[int]


class Thing(Model):
    id: int = field(primary_key=True)
    text: Optional[str] = field(index=True, default=None)
    number: float = 0.0
    at: Optional[datetime] = None
    data: bytes = b""
    cost: decimal.Decimal = decimal.Decimal(0)
    any: Any = None
    part: Optional[Part]
    parts: List[Part]
    other: Optional["Thing"]
    things: List["Thing"]
    words: Set[str]
    notes: Dict[str, Any]
    owners = backlinks("Thing", "other")


class Known(Model):
    n: int = field(primary_key=True)


class Rude:
    """A value whose special methods change the database."""

    def __init__(self, fuzz):
        self.fuzz = fuzz

    def act(self):
        self.fuzz.counts["re-entries"] += 1
        return self.fuzz.disturb()

    def __index__(self):
        self.act()
        return self.fuzz.random.choice([0, -1, 1, 2**70])

    def __iter__(self):
        for _ in range(3):
            yield self.act()

    def __len__(self):
        self.act()
        return 2

    def __getitem__(self, key):
        if key == 3:
            raise IndexError
        return self.act()

    def __eq__(self, other):
        self.act()
        return True

    def __hash__(self):
        self.act()
        return 7

    def __repr__(self):
        self.act()
        return "rude"

    def __call__(self, *arguments, **named):
        return self.act()


class RudeText(str):
    def __hash__(self):
        return 0

    def __eq__(self, other):
        return True


class Fuzz:
    def __init__(self, folder, seed):
        self.random = random.Random(seed)
        self.path = folder / "fuzz.realm"
        self.counts = collections.Counter()
        self.errors = collections.Counter()
        self.committed = []
        self.row = 0
        self.depth = 0
        self.rude = Rude(self)
        self.open()

    def open(self):
        for key, value in list(vars(self).items()):
            if isinstance(value, (crealm.Database, list)) and key in ("db", "pool"):
                delattr(self, key)
        self.db = crealm.open(self.path, schema=[Thing, Known])
        self.counts["opened"] += 1
        self.pool = [self.db]
        try:
            self.fill()
        except EXPECTED as error:  # A signal arrived.
            self.errors[type(error).__name__] += 1

    def fill(self):
        """Makes the objects to call; the calls change and delete them."""
        with self.db.write():
            first = self.db.add(Thing(id=1, text="a", parts=[Part(note="p")], words={"w"}, notes={"k": [1, {"x": 2}]}, any=[1, [2]]), update="all")
            first.other, first.part = first, Part(note="q", sizes=[1])
            for number in range(2, 8):
                first.things.append(self.db.add(Thing(id=number, text=str(number), other=first), update="all"))
        table = self.db[Thing]
        self.pool = [
            self.db, table, first, first.parts, first.things, first.words, first.notes, first.any, first.part, first.notes.values(),
            table.where("id > 2"), table.sort("-id"), table.snapshot(), self.db["Thing"][0], Thing(id=1), Thing(), Part(), Thing.text,
            Thing.things.text, Thing.id > 3, table.group_by("text"), table.column("id"), table.select("id"), table.freeze(), first.owners,
        ]  # fmt: skip

    # Values

    def value(self):
        choose = self.random.choice
        return choose([
            lambda: None, lambda: choose([0, 1, -1, 7, 2**63 - 1, 2**63, -(2**200), True]), lambda: choose([0.5, float("nan"), float("-inf"), 1e308]),
            lambda: choose(TEXTS),
            lambda: choose([b"", b"abc", bytearray(b"x"), memoryview(b"yz")]), lambda: choose([Thing, Part, int, list, str, type]),
            lambda: decimal.Decimal(choose(["1", "nan", "1e6000", "snan"])),
            lambda: choose([uuid.UUID(int=1), crealm.ObjectId(bytes(12)), date(2024, 1, 1)]),
            lambda: choose([datetime(2024, 1, 1, tzinfo=timezone.utc), datetime(1, 1, 1), crealm.RawTimestamp(2**62, 5)]),
            lambda: self.rude,
            lambda: RudeText("id"), lambda: [self.value() for _ in range(self.random.randrange(3))],
            lambda: {"id": self.value(), "text": self.value()},
            lambda: {self.random.randrange(3)}, lambda: slice(self.random.randrange(-3, 3), None, choose([None, 1, -1, 0])), lambda: ("text", "desc"),
            lambda: choose(self.pool), lambda: choose(self.pool), lambda: Thing(id=self.random.randrange(1, 50)), lambda: Part(note="n"),
            lambda: self.disturb, lambda: iter([1, 2]), lambda: aggregates.sum("number"), lambda: Thing.id >= self.value(), lambda: object(),
        ])()  # fmt: skip

    def arguments(self, function):
        """Random arguments, mostly as many as the function takes."""
        least, most = 0, 3
        try:
            named = inspect.signature(function).parameters.values()
            takes = [p for p in named if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
            least, most = sum(p.default is p.empty for p in takes), len(takes) + any(p.kind is p.VAR_POSITIONAL for p in named)
        except (TypeError, ValueError):
            pass
        count = self.random.randint(least, most) if self.random.random() < 0.95 else self.random.randrange(4)
        named = ["id", "text", "update", "depth", "x", "any"] if self.random.random() < 0.1 else []
        return [self.value() for _ in range(count)], {self.random.choice(named): self.value() for _ in named[:1]}

    # Calls

    def call(self):
        """One random call. Later calls may use its result."""
        self.counts["calls"] += 1
        try:
            subject = self.random.choice(self.pool)
            names = [name for name in dir(type(subject)) if not name.startswith("_") and name not in AVOIDED]
            name = self.random.choice(names + [n for n in OPERATORS if hasattr(type(subject), n)])
            if name == "close" and self.random.random() < 0.8:
                return
            if name == "observe":
                subject.observe(self.rude)
                return
            if self.random.random() < 0.03:
                setattr(subject, name, self.value())
            found = getattr(subject, name)
            if callable(found):
                arguments, named = self.arguments(found)
                found = found(*arguments, **named)
            if hasattr(found, "__next__"):
                found = [element for element, _ in zip(found, range(5))]
            if isinstance(found, (crealm.Object, crealm.Results, crealm.List, crealm.Dictionary, crealm.SetView, crealm.Path, crealm.Condition)):
                self.pool[self.random.randrange(1, len(self.pool))] = found
            elif isinstance(found, crealm.Database) and found is not self.db:
                found.close()
            self.counts["returned"] += 1
        except EXPECTED as error:
            self.errors[type(error).__name__] += 1

    def disturb(self, *_):
        """An action inside a call: in a signal handler, a comparison or an observer."""
        if self.depth > 2:
            return 0
        self.depth += 1
        try:
            what = self.random.random()
            if what < 0.02:
                self.db.close()
            elif what < 0.2:
                self.db.refresh()
            elif what < 0.3:
                with self.db.write():
                    self.call()
            elif what < 0.35:
                gc.collect(0)
            else:
                self.call()
        except EXPECTED as error:
            self.errors[type(error).__name__] += 1
        finally:
            self.depth -= 1
        return self.random.choice([0, 1, "a", None])

    def write(self):
        """A write with random calls, which also adds a row to the table `Known`."""
        self.row += 1
        known, inside = self.row, False
        try:
            with self.db.write():
                inside = True
                for _ in range(self.random.randrange(4)):
                    self.call()
                self.db[Known].create(known)
                if self.random.random() < 0.2:
                    raise ArithmeticError
            self.committed.append(known)
            self.counts["commits"] += 1
        except EXPECTED as error:
            self.counts["rollbacks" if inside else "refused writes"] += 1
            self.errors[type(error).__name__] += 1

    def elsewhere(self):
        """Calls on another thread: with the same objects, which raise, and with the thread's own database."""
        def work():
            try:
                self.db.local[Thing].get(1)
            except EXPECTED as error:
                self.errors[type(error).__name__] += 1
            for _ in range(5):
                self.call()

        thread = threading.Thread(target=work)
        thread.start()
        thread.join(60)
        self.counts["threads"] += 1
        assert not thread.is_alive(), "A thread hangs"

    def fork(self):
        self.counts["forks"] += 1
        child = os.fork()
        if child == 0:
            status = 1
            try:
                signal.setitimer(signal.ITIMER_REAL, 0)
                for _ in range(10):
                    self.call()
                try:
                    len(self.db[Thing])
                except (crealm.ForkedError, crealm.ClosedError):
                    status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0, "A forked child failed"

    def check(self):
        """Checks that the table `Known` has the rows of all successful writes, and no others."""
        with crealm.open(self.path, schema=[Known], mode="rw") as db:
            assert [row.n for row in db[Known]] == self.committed, "A write is lost, or one that failed is there"
            self.counts["checks"] += 1

    def run(self, calls):
        signal.signal(signal.SIGALRM, self.on_signal)
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        try:
            self.step_until(calls)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.db.close()
        self.check()
        with crealm.open(self.path) as db:
            assert db.verify() == []

    def step_until(self, calls):
        while self.counts["calls"] < calls:
            what = self.random.random()
            if self.db.is_closed:
                self.check()
                self.open()
            elif what < 0.1:
                self.write()
            elif what < 0.103:
                self.elsewhere()
            elif what < 0.104:
                self.fork()
            elif what < 0.106:
                self.open_again()
            elif what < 0.115:
                self.fill_again()
            else:
                self.call()

    def open_again(self):
        try:
            self.db.close()
        except EXPECTED as error:
            self.errors[type(error).__name__] += 1

    def fill_again(self):
        try:
            self.fill()
        except EXPECTED as error:
            self.errors[type(error).__name__] += 1

    def on_signal(self, *_):
        self.counts["signals"] += 1
        self.disturb()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ResourceWarning)
    sys.unraisablehook = lambda raised: None if isinstance(raised.exc_value, EXPECTED) else unexpected.append(repr(raised.exc_value))
    threading.excepthook = lambda raised: unexpected.append(repr(raised.exc_value))
    unexpected = []
    os.chdir(options.folder)
    fuzz = Fuzz(options.folder, options.seed)
    fuzz.run(options.calls)
    assert not unexpected, unexpected
    print(json.dumps({**fuzz.counts, "errors": dict(fuzz.errors.most_common())}))


if __name__ == "__main__":
    main()
