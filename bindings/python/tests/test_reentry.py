"""Runs other Python code in the middle of operations: at each bytecode of this package (where signal handlers,
finalizers and trace functions can run), and inside the values that a program passes. That code closes the
database, ends the transaction, moves to another snapshot, or rewrites the file. There must be no crash: each
operation gives the right result or an error of the package, and the contents of the database stay sound.

The attacks run in separate processes, so that a crash is a failed test.
"""

import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import typing
import warnings
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime, timezone, tzinfo
from decimal import Decimal
from pathlib import Path

import pytest

if not os.environ.get("CREALM_TEST_INSTALLED"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import crealm  # noqa: E402

STEP = int(os.environ.get("CREALM_REENTRY_STEP", 293))  # 1 tries every bytecode.
LONG = "text " * 2000


class Part(crealm.Embedded):
    name: str


class Thing(crealm.Model):
    id: int = crealm.field(primary_key=True)
    text: str
    data: bytes
    real: float
    when: typing.Optional[datetime]
    amount: typing.Optional[Decimal]
    any: typing.Any
    texts: typing.List[str]
    numbers: typing.List[int]
    words: typing.Set[str]
    notes: typing.Dict[str, str]
    part: typing.Optional[Part]
    parts: typing.List[Part]
    next: typing.Optional["Thing"]


class World:
    """An open database with some objects, and references to everything that a program can get from it."""

    def __init__(self, path):
        self.path = path
        self.db = crealm.open(path, schema=[Thing])
        if not len(self.db[Thing]):
            with self.db.write():
                for number in range(4):
                    self.db.add(self.make(number))
        self.things = self.db[Thing]
        self.thing = self.things.get(1)
        self.block = None

    @staticmethod
    def make(number):
        return Thing(
            id=number,
            text=LONG,
            data=b"data" * 500,
            any={"list": [LONG, 1], "text": "x"},
            texts=[LONG, "b", "c"],
            numbers=[1, 2, 3],
            words={"x", "y"},
            notes={"k": LONG, "l": "m"},
            part=Part(name="p"),
            parts=[Part(name="q"), Part(name="r")],
        )

    def begin(self):
        self.block = self.db.write()
        self.block.__enter__()

    def end(self):
        block, self.block = self.block, None
        if block is not None and self.db.is_writing:
            block.__exit__(Stop, Stop(), None)

    def close(self):
        self.end()
        self.db.close()


class Stop(Exception):
    pass


def need(found):
    """The value; raises Stop if the other code has removed it."""
    if found is None:
        raise Stop
    return found


# ------------------------------------------------------------------------------------------------
# Actions of the other code
# ------------------------------------------------------------------------------------------------


def close(world):
    world.db.close()


def roll_back(world):
    if world.block is not None:
        world.block.__exit__(Stop, Stop(), None)


def commit(world):
    if world.block is not None:
        world.block.__exit__(None, None, None)


def change(world):
    if not world.db.is_writing:
        world.begin()
    world.thing.text = world.thing.notes["k"] = "short"
    world.thing.texts.clear()
    world.db.add(World.make(max(thing.id for thing in world.things) + 1))
    world.things[0].delete()


def move(world):
    if world.db.is_writing:
        roll_back(world)
    with world.db.write():
        for thing in world.things:
            thing.text, thing.data, thing.any = "moved", b"", None
    world.db.refresh()
    world.db.compact()


def read(world):
    assert world.thing.text in (LONG, "new") and LONG in world.thing.texts and "k" in world.thing.notes
    assert len(world.things) >= 2 and world.things.get(0) and not world.things.get(99)
    with_error(lambda: world.things.where("nonsense"))


def with_error(action):
    try:
        action()
    except crealm.Error:
        return
    raise AssertionError("no error")


ACTIONS = {f.__name__: f for f in (close, roll_back, commit, change, move, read)}


# ------------------------------------------------------------------------------------------------
# At each bytecode
# ------------------------------------------------------------------------------------------------

def observe(world):
    told = []
    with world.thing.texts.observe(told.append), world.things.changes("text") as changes:
        world.db.refresh()
        world.db.wait_for_change(0)
        return (told == [crealm.CollectionChange()] and len(changes._line) == 1) or world.db.is_closed


READS = {
    "observe": observe,
    "int": lambda w: w.thing.id == 1,
    "text": lambda w: w.thing.text == LONG,
    "bytes": lambda w: w.thing.data == b"data" * 500,
    "any": lambda w: need(w.thing.any).copy()["list"][0] == LONG,
    "list": lambda w: list(w.thing.texts) == [LONG, "b", "c"],
    "list item": lambda w: w.thing.texts[-3] == LONG and w.thing.texts.index("c") == 2,
    "set": lambda w: set(w.thing.words) == {"x", "y"} and "x" in w.thing.words,
    "dictionary": lambda w: dict(w.thing.notes) == {"k": LONG, "l": "m"},
    "dictionary items": lambda w: list(w.thing.notes.items()) == [("k", LONG), ("l", "m")],
    "dictionary key": lambda w: w.thing.notes["k"] == LONG and "z" not in w.thing.notes,
    "embedded": lambda w: [p.name for p in w.thing.parts] == ["q", "r"] and need(w.thing.part).name == "p",
    "table": lambda w: [t.id for t in w.things] == [0, 1, 2, 3] and len(w.things) == 4,
    "get": lambda w: need(w.things.get(2)).id == 2 and w.things.get(9) is None,
    "where": lambda w: [t.id for t in w.things.where("id > $0 SORT(id DESC) LIMIT(2)", 0)] == [3, 2],
    "sort": lambda w: w.things.sort("-id")[0].id == 3 and w.things.max("id") == 3,
    "error": lambda w: with_error(lambda: w.things.where("id = nothing")) is None,
    "to_dict": lambda w: w.thing.to_dict(2)["notes"] == {"k": LONG, "l": "m"},
    "schema": lambda w: w.db._read_schema() or "Thing" in w.db.schema,
    "repr": lambda w: isinstance(repr(w.thing) + repr(w.thing.texts) + repr(w.db), str),
}


def plain_value(world):
    world.thing.text = "new"
    world.thing.when = datetime(2024, 1, 1, tzinfo=timezone.utc)
    return world.thing.text == "new"


def fill_list(world):
    world.thing.texts.extend(["x", "y"])
    world.thing.texts[1:3] = ["z"]
    world.thing.texts.insert(0, "first")
    return world.thing.texts.pop() == "y" and world.thing.texts[0] == "first"


def fill_others(world):
    world.thing.words.update({"n", "o"})
    world.thing.notes.update(k="new", n="o")
    world.thing.any = {"a": [1, {"b": "c"}]}
    return "n" in world.thing.words and world.thing.notes["n"] == "o" and need(world.thing.any)["a"][0] == 1


def fill_parts(world):
    world.thing.parts.append(Part(name="new"))
    world.thing.part = {"name": "dict"}
    return [p.name for p in world.thing.parts] == ["q", "r", "new"] and need(world.thing.part).name == "dict"


def add_things(world):
    new = world.db.add(Thing(id=10, text="ten", next=Thing(id=11, texts=["a"]), parts=[Part(name="x")]))
    world.db.add_many(Thing, [{"id": 12, "part": {"name": "y"}}], update="modified")
    return need(new.next).texts[0] == "a" and need(need(world.things.get(12)).part).name == "y"


def delete_things(world):
    need(world.things.get(3)).delete()
    world.things.where("id == 2").delete_all()
    return [t.id for t in world.things] == [0, 1]


def whole_write(world):
    world.end()
    with world.db.write():
        world.thing.real = 1.5
    return world.thing.real == 1.5


WRITES = {f.__name__: f for f in (plain_value, fill_list, fill_others, fill_parts, add_things, delete_things)}
WRITES["whole_write"] = whole_write


class Interrupt:
    """Runs an action before the n-th bytecode of this package, and counts the bytecodes."""

    def __init__(self, number, action):
        self.number, self.action = number, action
        self.count = 0
        self.has_run = False

    def __enter__(self):
        sys.settrace(self.enter_frame)
        return self

    def __exit__(self, *_):
        sys.settrace(None)

    def enter_frame(self, frame, event, argument):
        if not frame.f_globals.get("__name__", "").startswith("crealm"):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self.step

    def step(self, frame, event, argument):
        if event == "opcode":
            self.count += 1
            if self.count == self.number:
                self.has_run = True
                sys.settrace(None)
                try:
                    self.action()
                except (crealm.Error, Stop):
                    pass
        return self.step


def interrupted(path, operation, is_write, action, step):
    """Runs an operation with an action at its n-th bytecode, for all n. Returns the number of bytecodes."""
    number, tries, wrong = 1, 0, []
    world = None
    while True:
        if world is None or world.db.is_closed or action is not read:
            if world is not None:
                world.close()
            for file in path.parent.iterdir():
                if file.is_file():
                    file.unlink()
            world = World(path)
        if is_write:
            world.begin()
        error = result = None
        with Interrupt(number, lambda: action(world)) as interrupt:
            try:
                result = operation(world)
            except (crealm.Error, Stop, KeyError, IndexError, ValueError) as caught:
                error = caught
        if not interrupt.has_run:
            assert result is True, (result, error)
            world.close()
            return tries
        tries += 1
        if error is None and result is not True and action in (close, read):
            wrong.append((number, result))
        if action is read and not is_write and error is not None:
            wrong.append((number, error))
        assert not wrong, wrong
        assert world.db._owner.depth == 0
        check_after(world)
        number += step


def check_after(world):
    """Checks that the database works, or that it is closed and has released all handles."""
    owner = world.db._owner
    if world.db.is_closed:
        assert not owner.live and not owner.later and owner.pointer == 0
        return
    world.end()
    with world.db.write():
        world.db.add(Thing(id=100), update="all")
    assert world.things.get(100).id == 100
    with world.db.write():
        world.things.get(100).delete()
    assert world.db.verify() == []


def run_interrupts(action, names, step):
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            is_write = name in WRITES
            operation = WRITES.get(name) or READS[name]
            tries = interrupted(Path(folder) / "world.realm", operation, is_write, ACTIONS[action], step)
            print(name, tries, flush=True)


@pytest.mark.parametrize("names", [list(READS), list(WRITES)], ids=["reads", "writes"])
@pytest.mark.parametrize("action", list(ACTIONS))
def test_at_each_bytecode(action, names):
    done = attack("run_interrupts", action, names, STEP)
    counts = dict(line.rsplit(" ", 1) for line in done.splitlines())
    assert set(counts) == set(names) and all(int(count) > 0 for count in counts.values())


def attack(function, *arguments):
    """Runs a function of this module in a separate process, and returns what it printed."""
    code = f"import test_reentry as t; t.{function}(*{arguments!r})"
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path])},
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert (done.returncode, done.stderr[-3000:]) == (0, ""), done.stdout
    return done.stdout


# ------------------------------------------------------------------------------------------------
# Inside the values that a program passes
# ------------------------------------------------------------------------------------------------


class Hosts:
    """Values that run the action, once, when the package reads their content."""

    def __init__(self, action):
        self.action = action
        self.is_armed = True
        host = self

        class Index:
            def __index__(self):
                host.strike()
                return 1

        class Number:
            def __float__(self):
                host.strike()
                return 1.5

        class Text(str):
            def encode(self, *arguments):
                host.strike()
                return b"short"

            def __eq__(self, other):
                host.strike()
                return str.__eq__(self, other)

            def __hash__(self):
                host.strike()
                return str.__hash__(self)

            def __contains__(self, part):
                host.strike()
                return False

            def startswith(self, *arguments):
                host.strike()
                return False

        class Bytes(bytes):
            def __len__(self):
                host.strike()
                return 10**9

            def __bytes__(self):
                host.strike()
                return self

        class Zone(tzinfo):
            def utcoffset(self, moment):
                host.strike()
                return timezone.utc.utcoffset(moment)

            def dst(self, moment):
                return None

        class Dict(Mapping):
            def __getitem__(self, key):
                host.strike()
                return "value"

            def __iter__(self):
                host.strike()
                yield "k"
                host.strike()

            def __len__(self):
                return 1

        class Row(Mapping):
            def __getitem__(self, key):
                host.strike()
                return 50

            def __iter__(self):
                host.strike()
                yield "id"

            def __len__(self):
                return 1

        class Many(Sequence):
            def __getitem__(self, index):
                host.strike()
                if index > 1:
                    raise IndexError
                return "text"

            def __len__(self):
                host.strike()
                return 2

        class Group(Set):
            def __contains__(self, value):
                host.strike()
                return True

            def __iter__(self):
                host.strike()
                return iter(["x"])

            def __len__(self):
                return 1

        class Same:
            def __eq__(self, other):
                host.strike()
                return False

            __hash__ = None

        class Sum(Decimal):
            def as_tuple(self):
                host.strike()
                return Decimal.as_tuple(self)

        self.index, self.number, self.text, self.data = Index(), Number(), Text("text"), Bytes(b"data")
        self.when = datetime(2024, 1, 1, tzinfo=Zone())
        self.mapping, self.row, self.many, self.group = Dict(), Row(), Many(), Group()
        self.same, self.sum = Same(), Sum("1.5")

    def strike(self):
        if self.is_armed:
            self.is_armed = False
            try:
                self.action()
            except (crealm.Error, Stop):
                pass

    def texts(self):
        yield "a"
        self.strike()
        yield "b"


ASKS = {
    "item": lambda w, h: w.thing.texts[h.index],
    "slice": lambda w, h: w.thing.texts[h.index :],
    "table item": lambda w, h: w.things[h.index],
    "table slice": lambda w, h: w.things[: h.index],
    "limit": lambda w, h: list(w.things.limit(h.index)),
    "get": lambda w, h: w.things.get(h.index),
    "in list": lambda w, h: h.text in w.thing.texts,
    "index": lambda w, h: w.thing.texts.index(h.text, h.index),
    "count": lambda w, h: w.thing.texts.count(h.same),
    "equal lists": lambda w, h: w.thing.texts == [h.same, h.same, h.same],
    "in set": lambda w, h: h.text in w.thing.words,
    "set and": lambda w, h: w.thing.words & h.group,
    "subset": lambda w, h: w.thing.words <= h.group,
    "key": lambda w, h: w.thing.notes[h.text],
    "get key": lambda w, h: w.thing.notes.get(h.text),
    "argument": lambda w, h: len(w.things.where("text == $0", h.text)),
    "number": lambda w, h: len(w.things.where("id == $0", h.index)),
    "arguments": lambda w, h: len(w.things.where("text IN $0", h.many)),
    "bytes": lambda w, h: len(w.things.where("data == $0", h.data)),
    "moment": lambda w, h: len(w.things.where("when == $when", when=h.when)),
    "results index": lambda w, h: w.thing.texts.sort(h.text),
    "results in": lambda w, h: h.same in w.things.where("id >= 0"),
    "attribute": lambda w, h: w.thing[h.text],
    "class": lambda w, h: w.db[h.text],
    "backup": lambda w, h: w.db.backup(w.path.with_suffix(".copy"), key=h.data),
}

PUTS = {
    "int": lambda w, h: w.thing.numbers.append(h.index),
    "float": lambda w, h: setattr(w.thing, "real", h.number),
    "text": lambda w, h: setattr(w.thing, "text", h.text),
    "bytes": lambda w, h: setattr(w.thing, "data", h.data),
    "moment": lambda w, h: setattr(w.thing, "when", h.when),
    "decimal": lambda w, h: setattr(w.thing, "amount", h.sum),
    "any": lambda w, h: setattr(w.thing, "any", h.mapping),
    "any list": lambda w, h: setattr(w.thing, "any", [h.text, h.index, h.data]),
    "many": lambda w, h: setattr(w.thing, "texts", h.many),
    "generator": lambda w, h: setattr(w.thing, "texts", h.texts()),
    "extend": lambda w, h: w.thing.texts.extend(h.texts()),
    "slice": lambda w, h: w.thing.texts.__setitem__(slice(h.index, None), h.texts()),
    "insert": lambda w, h: w.thing.texts.insert(h.index, h.text),
    "set item": lambda w, h: w.thing.texts.__setitem__(h.index, h.text),
    "delete": lambda w, h: w.thing.texts.__delitem__(h.index),
    "pop": lambda w, h: w.thing.texts.pop(h.index),
    "remove": lambda w, h: w.thing.texts.remove(h.text),
    "move": lambda w, h: w.thing.texts.move(h.index, 0),
    "set add": lambda w, h: w.thing.words.add(h.text),
    "set update": lambda w, h: w.thing.words.update(h.texts(), h.group),
    "set xor": lambda w, h: w.thing.words.symmetric_difference_update(h.group),
    "set and": lambda w, h: w.thing.words.intersection_update(h.group),
    "key": lambda w, h: w.thing.notes.__setitem__(h.text, h.text),
    "pop key": lambda w, h: w.thing.notes.pop(h.text),
    "update": lambda w, h: w.thing.notes.update(h.mapping),
    "embedded": lambda w, h: setattr(w.thing, "part", {"name": h.text}),
    "create": lambda w, h: w.things.create(h.index, text=h.text),
    "create new": lambda w, h: w.things.create(id=60, any=h.mapping, notes=h.mapping),
    "add": lambda w, h: w.db.add(Thing(id=70, text=h.text, numbers=[h.index], any=[h.number])),
    "add many": lambda w, h: w.db.add_many(Thing, ({"id": 80, "text": t} for t in h.texts()), update="all"),
    "rows": lambda w, h: w.db.add_many(Thing, [h.row], update="all"),
    "new values": lambda w, h: w.db.add_many(Thing, [{"id": 1, "texts": h.many}], update="modified"),
}

EXPECTED = (crealm.Error, KeyError, IndexError, ValueError, TypeError)


def elsewhere(world):
    """On another thread, all operations raise."""
    found = []

    def run():
        for action in (world.db.close, lambda: world.thing.text, lambda: world.thing.texts.append("x")):
            try:
                action()
            except crealm.WrongThreadError:
                found.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert len(found) == 3


ACTIONS_OF_HOSTS = {**ACTIONS, "elsewhere": elsewhere}


def run_hosts(action):
    struck = 0
    with tempfile.TemporaryDirectory() as folder:
        world = None
        for operations, is_write in ((ASKS, False), (PUTS, True)):
            for name, operation in operations.items():
                if world is None or world.db.is_closed or action != "elsewhere":
                    path = Path(folder) / f"{name}-{is_write}.realm"
                    world = World(path)
                if is_write:
                    world.begin()
                hosts = Hosts(lambda: ACTIONS_OF_HOSTS[action](world))
                try:
                    operation(world, hosts)
                except EXPECTED:
                    pass
                struck += not hosts.is_armed
                check_after(world)
                world.end()
                if action != "elsewhere":
                    world.close()
    print(struck)


@pytest.mark.parametrize("action", list(ACTIONS_OF_HOSTS))
def test_in_values(action):
    """Most operations call methods of their values, in which the action can run."""
    assert int(attack("run_hosts", action)) >= 40


# ------------------------------------------------------------------------------------------------
# Real signals, finalizers and forks
# ------------------------------------------------------------------------------------------------


def run_signals(count):
    """A timer interrupts a program that reads and writes; the handler reads, closes, or raises."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "world.realm"
        world = World(path)
        turn = [0]

        def handle(*_):
            turn[0] += 1
            if turn[0] % 5 == 0:
                raise KeyboardInterrupt
            try:
                (close if turn[0] % 3 == 0 else read)(world)
            except (crealm.Error, AssertionError):
                pass

        def unraisable(what):
            # Python ignores an interrupt inside a finalizer, and reports it on stderr.
            if not isinstance(what.exc_value, KeyboardInterrupt):
                sys.__unraisablehook__(what)

        sys.unraisablehook = unraisable
        signal.signal(signal.SIGALRM, handle)
        operations = [*READS.values(), fill_list, fill_others, add_things]
        for number in range(count):
            if world.db.is_closed:
                world = World(path)
            operation = operations[number % len(operations)]
            signal.setitimer(signal.ITIMER_REAL, 0.0002 + number % 7 * 0.0003)
            try:
                if operation in READS.values():
                    operation(world)
                else:
                    with world.db.write():
                        operation(world)
                        raise Stop
            except (crealm.Error, Stop, KeyError, IndexError, AttributeError, KeyboardInterrupt):
                pass
            finally:
                while True:
                    try:
                        signal.setitimer(signal.ITIMER_REAL, 0)
                        break
                    except KeyboardInterrupt:
                        pass
            assert world.db._owner.depth == 0
            if number % 50 == 49:
                world.close()
                world = World(path)
                check_after(world)
        world.close()
        print(turn[0])


def test_signals():
    assert int(attack("run_signals", int(os.environ.get("CREALM_SIGNALS", 300)))) > 0


def run_collector():
    """Cycles of garbage whose finalizers use the database, close another one, or drop objects."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder) / "world.realm")
        ran = [0]

        class Ring:
            def __init__(self, held):
                self.held, self.ring = held, self

            def __del__(self):
                ran[0] += 1
                try:
                    read(world)
                    change(world)
                except (crealm.Error, AssertionError):
                    pass

        gc.set_threshold(7)
        for number in range(60):
            other = crealm.open(Path(folder) / f"other{number % 5}.realm", mode="rwc")
            Ring([world.thing.texts, world.things.get(1), world.things.where("id > 0"), other])
            for operation in READS.values():
                try:
                    operation(world)
                except (crealm.Error, AssertionError, Stop, KeyError, IndexError):
                    pass
            world.end()
            world.db.refresh()
        gc.set_threshold(700)
        del other
        gc.collect()
        world.end()
        assert len(world.db._owner.live) < 100 and world.db.verify() == []
        world.close()
        print(ran[0])


def test_the_collector():
    assert int(attack("run_quietly", "run_collector")) == 60


def run_quietly(name):
    """A database that is dropped without close() warns."""
    warnings.simplefilter("ignore", ResourceWarning)
    globals()[name]()


def run_threads(count):
    """Objects of one thread's database, and whole databases, are collected on other threads."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "world.realm"
        World(path).close()
        held, failures = [], []

        def work(number):
            try:
                for turn in range(count):
                    world = World(path)
                    for operation in READS.values():
                        assert operation(world) is True
                    held.append([world.thing.texts, world.things.get(1), world.things.where("id > 0")])
                    if turn % 2:
                        world.close()
                    if len(held) > 6:
                        held.pop(0)
                    gc.collect()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        held.clear()
        gc.collect()
        assert failures == []
        world = World(path)
        check_after(world)
        world.close()
        print(count)


def test_garbage_on_other_threads():
    assert attack("run_quietly_on_threads", 3) == "3\n"


def run_quietly_on_threads(count):
    warnings.simplefilter("ignore", ResourceWarning)
    run_threads(count)


def run_forks():
    """A child that is forked in the middle of an operation refuses to use the parent's databases, opens its own,
    and changes nothing for the parent."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder) / "world.realm")
        memory = crealm.memory(schema=[Thing])
        codes = []

        def fork(world):
            child = os.fork()
            if child:
                codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
                return
            code = 1
            try:
                enter = memory.write().__enter__
                for use in (lambda: world.thing.text, lambda: memory[Thing], enter):
                    try:
                        use()
                    except crealm.ForkedError:
                        code += 1
                world.db.close()
                memory.close()
                gc.collect()
                with crealm.open(world.path) as own:
                    code += own["Thing"].get(1).text == LONG
            finally:
                os._exit(code)

        for number, operation in enumerate([*READS.values()] * 2):
            with Interrupt(1 + number * 3, lambda: fork(world)):
                assert operation(world) is True
        with memory.write():
            memory.add(World.make(1))
            fork(world)
        assert memory[Thing].get(1).text == LONG and os.path.exists(memory.path)
        memory.close()
        world.close()
        print(len(codes), *set(codes))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forks():
    count, *codes = attack("run_forks").split()
    assert int(count) >= 10 and codes == ["5"]
