"""Long calls: time limits, progress functions, interrupts from other threads and by Ctrl-C. Also explanations of queries and facts of files."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import crealm
from conftest import FIXTURES

THING = crealm.ClassSchema("Thing", {"number": int, "words": str, "kind": crealm.Prop(int, indexed=True)})
HOLDER = """
import sys, crealm
db = crealm.open(sys.argv[1])
with db.write():
    print("writing", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def things(path):
    db = crealm.open(path, schema=[THING])
    with db.write():
        db.add_many("Thing", ((i, f"the number {i} in words that take their room", i % 10) for i in range(30_000)), columns=["number", "words", "kind"])
    yield db
    db.close()


@pytest.fixture
def writer(things):
    """Another process that is in the middle of a write."""
    environment = {**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1])}
    process = subprocess.Popen([sys.executable, "-c", HOLDER, things.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    assert process.stdout.readline().strip() == b"writing"
    yield process
    let_go(process)


def let_go(process):
    if process.returncode is None:
        process.communicate(b"\n")
    assert process.returncode == 0


def until(error, call):
    """Repeats a call until it raises the error, because another thread or a signal interrupts it."""
    for _ in range(100_000):
        try:
            call()
        except error:
            return
    raise AssertionError(f"no {error.__name__}")


class Interrupting:
    """A thread that interrupts a database again and again."""

    def __init__(self, db):
        self.db, self.goes_on = db, True
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while self.goes_on:
            try:
                self.db.interrupt()
            except crealm.ClosedError:
                return
            time.sleep(0.0005)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.goes_on = False
        self.thread.join()


def test_a_write_waits_as_long_as_it_is_told(things, writer):
    for timeout in (0, 0.001, 0.05):
        with pytest.raises(crealm.TimedOut) as caught:
            with things.write(timeout=timeout):
                raise AssertionError("somebody else is writing")
        assert caught.value.code == 9003 and isinstance(caught.value, TimeoutError)
        assert not things.is_writing
    with pytest.raises(crealm.UsageError):
        things["Thing"].create(number=1)
    with crealm.open(things.path, timeout=0.01) as db:
        with pytest.raises(crealm.TimedOut):
            with db.write():
                raise AssertionError("somebody else is writing")
    let_go(writer)
    with things.write(timeout=100):
        things["Thing"].create(number=-1, words="", kind=0)


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), 1e300])
def test_what_is_no_timeout(things, timeout):
    with pytest.raises(crealm.DataError):
        things.write(timeout=timeout)
    with pytest.raises(crealm.DataError):
        crealm.open(things.path, timeout=timeout)


def test_another_thread_ends_calls(things):
    slow = things["Thing"].where("words LIKE '*number*7*words*room'")
    count = len(slow)
    with Interrupting(things):
        until(crealm.Interrupted, lambda: len(things["Thing"].where("words LIKE '*number*7*words*room'").snapshot()))
        until(crealm.Interrupted, things.verify)
    assert len(things["Thing"].where("words LIKE '*number*7*words*room'")) == count
    assert things.verify() == []


def test_another_thread_ends_waiting(things, writer):
    with Interrupting(things):
        with pytest.raises(crealm.Interrupted):
            with things.write():
                raise AssertionError("somebody else is writing")


def test_interrupting_what_is_closed_meanwhile(path):
    for _ in range(30):
        db = crealm.open(path, schema=[THING])
        with Interrupting(db):
            db.close()
        with pytest.raises(crealm.ClosedError):
            db.interrupt()


def test_ctrl_c_ends_waiting(things, writer):
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        with things.write():
            raise AssertionError("somebody else is writing")
    timer.join()
    assert not things.is_writing
    let_go(writer)
    with things.write():
        things["Thing"].create(number=-1, words="", kind=0)


def test_ctrl_c_ends_calls(things):
    def interrupt():
        while not done.wait(0.2):
            os.kill(os.getpid(), signal.SIGINT)

    done = threading.Event()
    thread = threading.Thread(target=interrupt)
    thread.start()
    inside = []
    try:
        while not inside:  # The interrupt may also come between two calls.
            try:
                while True:
                    things.verify(progress=lambda *_: time.sleep(0.3))
            except KeyboardInterrupt as error:
                frames = []
                traceback = error.__traceback__
                while traceback:
                    frames.append(traceback.tb_frame.f_code.co_name)
                    traceback = traceback.tb_next
                if "find_faults" in frames:
                    inside.append(error)
    finally:
        done.set()
        thread.join()
    assert things.verify() == []


def test_progress_is_told_and_ends_calls(things, tmp_path):
    told = []
    assert things.verify(progress=lambda *step: told.append(step)) == []
    assert told and all(activity == "checking" and 0 <= done <= total for activity, done, total in told)
    told.clear()
    things.backup(tmp_path / "copy.realm", progress=lambda *step: told.append(step))
    assert told and {activity for activity, _, _ in told} == {"copying"}
    with pytest.raises(crealm.Interrupted):
        things.verify(progress=lambda *_: False)
    with pytest.raises(crealm.Interrupted):
        things.compact(progress=lambda *_: False)
    with pytest.raises(crealm.Interrupted):
        things.backup(tmp_path / "other.realm", progress=lambda *_: False)
    assert sorted(f.name for f in tmp_path.iterdir()) == ["copy.realm", "test.realm", "test.realm.lock"]
    assert len(things["Thing"]) == 30_000 and things.compact()


def test_an_exception_of_the_progress_function_arrives(things):
    class Enough(Exception):
        pass

    def enough(*_):
        raise Enough

    with pytest.raises(Enough):
        things.verify(progress=enough)
    with pytest.raises(Enough):
        things.compact(progress=enough)
    assert things.verify() == []


def test_the_progress_function_cannot_use_the_database(things):
    def uses(*_):
        for call in (lambda: len(things["Thing"]), lambda: things.refresh(), lambda: things.verify(), lambda: crealm.open(things.path)):
            with pytest.raises(crealm.Error):
                call()
        seen.append(True)

    seen = []
    assert things.verify(progress=uses) == [] and seen


def test_the_progress_function_of_the_opening_counts_for_all_calls(things, path, tmp_path):
    told = []
    with crealm.open(path, progress=lambda *step: told.append(step)) as db:
        db.verify()
        assert told and told[0][0] == "checking"
        told.clear()
        db.backup(tmp_path / "copy.realm", progress=lambda *_: None)
        assert not told


def test_a_closed_database_in_the_progress_function(things):
    with pytest.raises(crealm.Error):
        things.verify(progress=lambda *_: things.close())
        len(things["Thing"])
    assert things.is_closed


# Explanations of queries and facts of files


def test_explain(things):
    table = things["Thing"]
    assert table.where("kind = 3").explain()[:5] == ("index", "kind", 30_000, 0, 3000)
    assert table.where("number = 3").explain()[:5] == ("scan", None, 30_000, 30_000, 1)
    assert table.where("kind = 3 AND number < 100").explain()[:5] == ("index", "kind", 30_000, 3000, 10)
    assert table.explain()[:5] == ("nothing", None, 30_000, 0, 30_000)
    assert str(table.where("kind = 3").explain()) == "kind == 3: the index of kind names the candidates; 0 of 30000 tested, 3000 found"


def test_space(things):
    parts = things.space()
    assert sum(part.bytes for part in parts) >= 30_000 * 45
    assert [part.bytes for part in parts] == sorted((part.bytes for part in parts), reverse=True)
    assert max(parts, key=lambda part: part.bytes)[:3] == ("values", "Thing", "words")
    assert ("index", "Thing", "kind") in {part[:3] for part in parts}
    with things.write():
        with pytest.raises(crealm.UsageError):
            things.space()


@pytest.mark.parametrize("file", sorted(FIXTURES.rglob("*.realm")), ids=lambda file: file.stem)
def test_space_of_files_of_others(file):
    key = file.with_suffix(".key")
    try:
        db = crealm.open(file, mode="snapshot", key=key.read_bytes()[:64] if key.exists() else None)
    except crealm.Error as error:
        pytest.skip(f"not opened: {type(error).__name__}")
    with db:
        parts = db.space()
        assert len({part[:3] for part in parts}) == len(parts) and all(part.bytes > 0 for part in parts)
        if not key.exists():
            assert sum(part.bytes for part in parts) <= file.stat().st_size
