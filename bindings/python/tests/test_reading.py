"""The modes without writes. "r" shares the file with writers, "immutable" and "snapshot" change nothing."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

import crealm
from conftest import PERSON
from crealm.cli import main

COUNTER = crealm.ClassSchema("Counter", {"id": int, "n": int, "text": str}, primary_key="id")
KEYS = [None, bytes(range(64))]


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def lock_of(path):
    return path.with_name(path.name + ".lock")


@pytest.fixture
def written(people, path):
    """A file with three people that is not open anywhere, and has no lock file."""
    people.close()
    lock_of(path).unlink()
    return path


@pytest.mark.parametrize("mode", ["r", "immutable", "snapshot"])
def test_nothing_can_be_written(written, mode):
    before = (written.read_bytes(), os.stat(written).st_mtime_ns)
    with crealm.open(written, mode=mode) as db:
        for change in (
            lambda: db.write().__enter__(),
            lambda: setattr(db["Person"].get(1), "name", "x"),
            lambda: db["Person"].create(5),
            db["Person"][0].delete,
            db["Person"].delete_all,
            db.compact,
            lambda: db.change_key(key=bytes(64)),
        ):
            with pytest.raises(crealm.ReadOnlyError):
                change()
        assert db.refresh() is False and db.verify() == [] and db.mode == mode
        assert names(written.parent) == [written.name] + [lock_of(written).name] * (mode == "r")
        db.backup(written.with_name("copy.realm"))
    assert names(written.parent) == ["copy.realm", written.name]
    assert (written.read_bytes(), os.stat(written).st_mtime_ns) == before
    for wrong in ({"migrate": print, "schema": [PERSON], "schema_version": 2}, {"in_memory": True}):
        with pytest.raises(crealm.DataError):
            crealm.open(written, mode=mode, **wrong)
    with pytest.raises(crealm.FileNotFound):
        crealm.open(written.with_name("none.realm"), mode=mode)
    assert names(written.parent) == ["copy.realm", written.name]


def test_a_reader_follows_and_the_lock_file_stays_with_those_who_need_it(written):
    with crealm.open(written, mode="r") as reader:
        ann = reader["Person"].get(1)
        code = (
            "import sys, crealm\n"
            "with crealm.open(sys.argv[1]) as db, db.write():\n"
            "    db['Person'].get(1).age += 1\n"
        )
        python(code, written)
        assert ann.age == 31 and reader.refresh() and ann.age == 32 and not reader.refresh()
        writer = subprocess.Popen(
            [sys.executable, "-c", HELD_OPEN, str(written)],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert writer.stdout.read(1) == b"o"
    assert lock_of(written).exists()
    writer.communicate(b"\n")
    assert writer.returncode == 0
    lock_of(written).unlink()
    with crealm.open(written, mode="r") as first, crealm.open(written, mode="r") as second:
        first.close()
        assert lock_of(written).exists() and second["Person"].get(1).age == 32
    assert names(written.parent) == [written.name]


HELD_OPEN = """
import sys, crealm
db = crealm.open(sys.argv[1])
print('o', end='', flush=True)
sys.stdin.read()
"""


def test_a_lock_file_that_was_there_stays(people, path):
    people.close()
    with crealm.open(path, mode="r"):
        pass
    assert lock_of(path).exists()


@pytest.mark.parametrize("other", ["r", "immutable", "rw"])
@pytest.mark.parametrize("mode", ["r", "immutable", "rw"])
def test_one_process_opens_a_file_in_one_way_at_a_time(written, mode, other):
    with crealm.open(written, mode=mode):
        if mode == other:
            crealm.open(written, mode=other).close()
        else:
            with pytest.raises(crealm.UsageError, match="one way") as info:
                crealm.open(written, mode=other)
            assert info.value.code == 2013


@pytest.mark.parametrize("mode", ["r", "immutable", "rw"])
def test_a_snapshot_goes_beside_every_other_open(written, mode):
    with crealm.open(written, mode=mode) as other, crealm.open(written, mode="snapshot", schema=[PERSON]) as db:
        assert db["Person"].get(1).age == 31
        if mode == "rw":
            with other.write():
                other["Person"].get(1).age = 32
            assert not db.refresh() and db["Person"].get(1).age == 31
            with db.freeze() as frozen:
                assert frozen["Person"].get(1).age == 31
            with pytest.raises(crealm.UsageError):
                db.wait_for_change()
            with crealm.open(written, mode="snapshot") as second:
                assert second["Person"].get(1).age == 32


def test_versions_in_use(written):
    before = datetime.now(timezone.utc) - timedelta(seconds=1)
    with crealm.open(written) as db, crealm.open(written) as old:
        assert old["Person"].get(1).age == 31
        for _ in range(5):
            with db.write():
                db["Person"].get(1).age += 1
        pins = db.versions()
        assert [v.version for v in pins] == [db.version - 5, db.version]
        with crealm.open(written, mode="snapshot") as outside:
            # The bytes that a version holds back are only known in modes that read the file itself.
            assert [v._replace(held_bytes=0) for v in outside.versions()] == [v._replace(held_bytes=0) for v in pins]
        for pin in pins:
            assert (pin.process_id, pin.thread_id) == (os.getpid(), threading.get_native_id())
            assert before < pin.since <= datetime.now(timezone.utc)
        assert pins[0].held_bytes > 0 and pins[1].held_bytes == 0
        old.refresh()
        assert [v.version for v in db.versions()] == [db.version] * 2
    with crealm.open(written, mode="immutable") as fixed:
        assert fixed.versions() == []


def test_warning_of_versions_in_use(path):
    """In a separate process, whose standard error is the log."""
    program = """
import sys, crealm
class Text(crealm.Model):
    text: str
for limit in (100_000, None):
    crealm.set_pin_warning(limit)
    path = sys.argv[1] + str(limit)
    with crealm.open(path, schema=[Text]) as db:
        with db.write():
            text = db.add(Text(text=""))
        with crealm.open(path) as old:
            assert len(old["Text"]) == 1
            kept = []
            for i in range(90):
                kept.append(db.freeze())
                with db.write():
                    text.text = str(i) * 19_000
            for frozen in kept:
                frozen.close()
    print("limit", limit, file=sys.stderr, flush=True)
"""
    run = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stderr
    warned, silent, _ = run.stderr.split("limit")
    assert warned.count("is still in use: it was pinned by thread") == 1, run.stderr
    assert "in use" not in silent
    for wrong in (0, -1, 1 << 64):
        with pytest.raises(crealm.DataError):
            crealm.set_pin_warning(wrong)
    with pytest.raises(TypeError):
        crealm.set_pin_warning("64 MB")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_where_the_lock_file_cannot_be_made(written):
    folder = written.parent
    folder.chmod(0o555)
    try:
        check_unshared(written)
    finally:
        folder.chmod(0o755)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_where_another_user_must_not_make_the_lock_file(written):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # Other users may read it, unlike the folders of a test run.
        file = Path(folder) / "test.realm"
        shutil.copyfile(written, file)
        code = (
            f"import os, pathlib, sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
            "import test_reading\n"
            "os.setuid(65534)\n"
            "test_reading.check_unshared(pathlib.Path(sys.argv[1]))\n"
        )
        python(code, file)


def check_unshared(file):
    """In a folder without write permission, "r" raises, and "immutable" and "snapshot" read."""
    with pytest.raises(crealm.PermissionDenied, match='mode="snapshot"') as info:
        crealm.open(file, mode="r")
    assert str(info.value.path).startswith(str(file))
    for mode in ("immutable", "snapshot"):
        with crealm.open(file, mode=mode) as db:
            assert [p.age for p in db["Person"]] == [31, 42, 53] and not db.refresh()
    assert names(file.parent) == [file.name]


# ------------------------------------------------------------------------------------------------
# Beside a writer
# ------------------------------------------------------------------------------------------------

# All counters always have the same number, which is also in the texts.
WRITER = """
import sys, crealm
key = bytes.fromhex(sys.argv[2]) or None
with crealm.open(sys.argv[1], key=key) as db:
    number = db['Counter'][0].n
    while True:
        number += 1
        with db.write():
            for counter in db['Counter']:
                counter.n = number
                counter.text = str(number) * (1 + (number + counter.id) % 50)
        print(number, flush=True)
"""


def check_state(db, least=0):
    counters = list(db["Counter"])
    assert len(counters) == 40
    number = counters[0].n
    assert number >= least
    for counter in counters:
        assert counter.n == number
        assert counter.text == str(number) * (1 + (number + counter.id) % 50)
    return number


@pytest.mark.parametrize("key", KEYS, ids=["plain", "encrypted"])
def test_readers_beside_a_writer_see_whole_states(path, key):
    count = int(os.environ.get("CREALM_READER_OPENS", 200))
    file = path.with_name("counters.realm")
    with crealm.open(file, schema=[COUNTER], key=key) as db, db.write():
        for number in range(40):
            db["Counter"].create(number, n=0, text="0" * (1 + number % 50))
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file), (key or b"").hex()],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    committed = [0]

    def follow():
        for line in writer.stdout:
            committed[0] = int(line)

    thread = threading.Thread(target=follow)
    thread.start()
    seen = set()
    try:
        for turn in range(count):
            least = committed[0]
            with crealm.open(file, mode="r", key=key) as db:
                seen.add(check_state(db, least))
                db.refresh()
                seen.add(check_state(db, least))
            with crealm.open(file, mode="snapshot", key=key) as db:
                seen.add(check_state(db, least))
            if turn == count // 2:
                assert main(["info", str(file), *key_option(path, key)]) == 0
        assert writer.poll() is None
    finally:
        writer.kill()
        writer.wait()
        thread.join()
        writer.stdout.close()
    assert len(seen) > 10
    with crealm.open(file, key=key) as db:
        assert db.verify() == [] and check_state(db, committed[0]) >= max(seen)


def key_option(path, key):
    if key is None:
        return []
    path.with_name("key").write_bytes(key)
    return ["--key", str(path.with_name("key"))]


def environment():
    return {**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1])}


def python(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
