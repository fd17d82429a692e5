"""Compaction, backups, changes of key, databases in memory."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time

import pytest

import crealm
from conftest import PERSON
from crealm.cli import main

KEY, OTHER = bytes(range(64)), bytes(range(1, 65))
SECRETS = [
    {},
    {"key": KEY},
    {"key": KEY, "page_cipher": "aes256gcm"},
    {"key": KEY, "page_cipher": "realm"},
    {"passphrase": "open sesame"},
]


def fill(db, count=2000):
    """Leaves a few people, in a file with the space of many."""
    with db.write():
        db.add_many("Person", ({"id": n, "name": f"person {n}" * 20, "age": n} for n in range(count)))
    with db.write():
        db["Person"].where("id >= 20").delete_all()
    for n in range(3):
        with db.write():
            db["Person"].get(n).age += 1


def contents(db):
    return [(p.id, p.name, p.age) for p in db["Person"]]


@pytest.mark.parametrize("secret", SECRETS)
def test_compact(tmp_path, secret):
    path = tmp_path / "test.realm"
    with crealm.open(path, schema=[PERSON], **secret) as db:
        fill(db)
        before, size = contents(db), path.stat().st_size
        person, version = db["Person"].get(3), db.version
        results = db["Person"].where("age > 10")
        assert db.compact() is True
        assert path.stat().st_size < size / 2 and db.version == version
        assert contents(db) == before and person.name.startswith("person 3") and len(results) == 9
        with db.write():
            person.age = 1000
        assert len(results) == 10 and db.verify() == []
        with crealm.open(path, **secret):
            assert db.compact() is False
        with results.observe(print):
            assert db.compact() is False
        with db.observe(print):
            assert db.compact() is True
        with db.write(), pytest.raises(crealm.UsageError):
            db.compact()
        assert db.compact() is True
    with crealm.open(path, mode="r", **secret) as db:
        with pytest.raises(crealm.ReadOnlyError):
            db.compact()
        assert db["Person"].get(3).age == 1000


@pytest.mark.parametrize("secret", SECRETS)
def test_shrink_beside_readers_and_writers(tmp_path, secret):
    path = tmp_path / "test.realm"
    with crealm.open(path, schema=[PERSON], **secret) as db, crealm.open(path, **secret) as other:
        fill(db)
        with db.write():
            db.add_many("Person", ({"id": n, "name": "to be deleted, " * 4, "age": n} for n in range(1000, 8000)))
        with db.freeze() as frozen:
            with db.write():
                db["Person"].where("id >= 1000").delete_all()
            before, size = contents(db), path.stat().st_size
            assert db.shrink() == (size, path.stat().st_size)
            assert len(frozen["Person"].where("id >= 1000")) == 7000 and frozen.verify() == []
        told = []
        assert db.shrink(progress=lambda *step: told.append(step))[1] == path.stat().st_size < size / 4
        assert told and all(activity == "copying" and 0 <= done <= total for activity, done, total in told)
        other.refresh()
        assert contents(db) == contents(other) == before and db.verify() == []
        with db.write(), pytest.raises(crealm.UsageError):
            db.shrink()
        with other.write():
            other["Person"].get(3).age = 77
        db.refresh()
        assert db["Person"].get(3).age == 77 and db.verify() == []
    with crealm.open(path, mode="r", **secret) as db:
        with pytest.raises(crealm.ReadOnlyError):
            db.shrink()
        assert db["Person"].get(3).age == 77


def test_when_commits_make_a_file_shorter(tmp_path):
    def sizes(shrinking):
        path = tmp_path / f"{shrinking}.realm"
        with crealm.open(path, schema=[PERSON], shrinking=shrinking) as db:
            fill(db)
            with db.write():
                db.add_many("Person", ({"id": n, "name": "to be deleted, " * 4, "age": n} for n in range(1000, 9000)))
            with db.write():
                db["Person"].where("id >= 1000").delete_all()
            size = path.stat().st_size
            for age in range(60):
                with db.write():
                    db["Person"].get(3).age = age
            assert db["Person"].get(3).age == 59 and db.verify() == []
            return size, path.stat().st_size

    def sizes_of_async_writes():
        path = tmp_path / "async.realm"
        with crealm.open(path, schema=[PERSON], shrinking=(65536, 50)) as db:
            fill(db)
            with db.write():
                db.add_many("Person", ({"id": n, "name": "to be deleted, " * 4, "age": n} for n in range(1000, 9000)))
            with db.write():
                db["Person"].where("id >= 1000").delete_all()
            size = path.stat().st_size

            async def write():
                for age in range(60):
                    await db.write_async(lambda: setattr(db["Person"].get(3), "age", age))

            asyncio.run(write())
            assert db["Person"].get(3).age == 59 and db.verify() == []
            return size, path.stat().st_size

    before, after = sizes_of_async_writes()
    assert after < before / 2, (before, after)
    before, after = sizes((sys.maxsize, 0))
    assert after == before
    most, after = sizes((0, 100))
    assert most == after < 1 << 20
    for shrinking in (None, (1 << 20, 0)):
        assert sizes(shrinking) == (most, most), shrinking
    assert sizes((8192, 20))[1] < most / 4
    for wrong in ((1,), (1, 2, 3), (-1, 50), (1, 101), (1, -1), (1 << 63, 50), ("1", 50), 5, (1.5, 50)):
        with pytest.raises(crealm.DataError):
            sizes(wrong)


def test_an_interrupted_shrink_leaves_a_sound_file(tmp_path):
    path = tmp_path / "test.realm"
    with crealm.open(path, schema=[PERSON]) as db:
        with db.write():
            db.add_many("Person", ({"id": n, "name": f"person {n}" * 4, "age": n} for n in range(20_000)))
        with db.write():
            db["Person"].where("NOT name CONTAINS '77'").delete_all()
        before = contents(db)
        with pytest.raises(crealm.Interrupted):
            db.shrink(progress=lambda *_: False)
        assert contents(db) == before and db.verify() == []
        db.shrink()
        assert contents(db) == before and db.verify() == []


@pytest.mark.parametrize("secret", SECRETS)
def test_backup(tmp_path, secret):
    path, copy = tmp_path / "test.realm", tmp_path / "copy.realm"
    with crealm.open(path, schema=[PERSON], **secret) as db:
        fill(db)
        db.backup(copy)
        with pytest.raises(FileExistsError):
            db.backup(copy)
        with crealm.open(copy, **secret) as other:
            assert contents(other) == contents(db) and other.verify() == []
        if secret:
            with pytest.raises(crealm.WrongKeyError):
                crealm.open(copy, key=OTHER)
        plain = tmp_path / "plain.realm"
        db.backup(plain, key=None)
        with crealm.open(plain) as other:
            assert contents(other) == contents(db)
        for number, new in enumerate(SECRETS[1:]):
            target = tmp_path / f"copy{number}.realm"
            db.backup(target, **new)
            with crealm.open(target, **new) as other:
                assert contents(other) == contents(db)
        with db.write():
            db["Person"].create(50_000, name="new", age=1)
            db.backup(tmp_path / "running.realm", key=None)
        with crealm.open(tmp_path / "running.realm") as other:
            assert other["Person"].get(50_000) is not None and other.verify() == []
        with pytest.raises(OSError):
            db.backup(tmp_path / "no folder" / "copy.realm")
        with pytest.raises(crealm.DataError):
            db.backup(tmp_path / "x", key=b"short")
        assert not [f for f in tmp_path.iterdir() if "tmp_" in f.name]


def test_change_key(tmp_path):
    path = tmp_path / "test.realm"
    with crealm.open(path, schema=[PERSON]) as db:
        fill(db, 100)
        before, person = contents(db), db["Person"].get(3)
        for new in SECRETS[1:] + [{"key": OTHER}, {"key": None}, {"key": KEY}]:
            db.change_key(**new)
            assert contents(db) == before and person.id == 3 and db.verify() == []
            with crealm.open(path, **new) as other:
                assert contents(other) == before
                with pytest.raises(crealm.LockedError):
                    db.change_key(key=OTHER)
            with person.observe(print), pytest.raises(crealm.LockedError, match="an observer"):
                db.change_key(key=OTHER)
            with db.write():
                person.age += 1
            before = contents(db)
        with pytest.raises(TypeError):
            db.change_key()
        with db.write(), pytest.raises(crealm.UsageError):
            db.change_key(key=OTHER)
        with pytest.raises(crealm.DataError):
            db.change_key(key=KEY, passphrase="x")
        db.backup(tmp_path / "copy.realm")
    for wrong in ({}, {"key": OTHER}, {"passphrase": "open sesame"}):
        for file in ("test.realm", "copy.realm"):
            with pytest.raises(crealm.WrongKeyError):
                crealm.open(tmp_path / file, **wrong)
    with crealm.open(path, key=KEY) as db:
        assert contents(db) == before


def test_a_cipher_without_a_key_is_refused(tmp_path):
    """The program did not want a plain file."""
    plain, sealed, there = tmp_path / "plain.realm", tmp_path / "sealed.realm", tmp_path / "new.realm"
    with crealm.open(sealed, schema=[PERSON], key=KEY) as db:
        fill(db, 30)
    for cipher in ("xchacha20", "aes256gcm", "realm"):
        with pytest.raises(crealm.UsageError, match="no key or passphrase"):
            crealm.open(there, schema=[PERSON], page_cipher=cipher)
        with pytest.raises(crealm.UsageError, match="no key or passphrase"):
            crealm.salvage(sealed, there, key=KEY, page_cipher=cipher, plain=True)
        with crealm.open(plain, schema=[PERSON]) as db, pytest.raises(crealm.UsageError, match="no key or passphrase"):
            db.backup(there, page_cipher=cipher)
        with crealm.open(sealed, key=KEY) as db:
            with pytest.raises(crealm.UsageError, match="no key or passphrase"):
                db.backup(there, key=None, page_cipher=cipher)
            with pytest.raises(crealm.UsageError, match="no key or passphrase"):
                db.change_key(key=None, page_cipher=cipher)
        assert main(["backup", str(plain), str(there), "--cipher", cipher]) != 0
        assert sorted(path.name for path in tmp_path.glob("*.realm")) == ["plain.realm", "sealed.realm"]
    assert crealm.file_info(sealed, key=KEY).is_encrypted
    with crealm.open(sealed, key=KEY) as db:
        db.change_key(key=None)
        assert len(db["Person"]) == 20
        db.change_key(key=OTHER, page_cipher="realm")
        db.change_key(key=None)  # The database was opened with a cipher; now the file is plain.
    assert not crealm.file_info(sealed).is_encrypted


def test_the_cipher_of_a_backup_with_the_same_key(tmp_path, capsys):
    source, copy, file = tmp_path / "a.realm", tmp_path / "b.realm", tmp_path / "key"
    file.write_bytes(KEY)
    with crealm.open(source, schema=[PERSON], key=KEY) as db:
        fill(db, 30)
    assert main(["backup", str(source), str(copy), "--cipher", "realm", "--key", str(file)]) == 0
    assert crealm.file_info(copy, key=KEY).cipher == "AES-256-CBC with HMAC"
    assert main(["backup", str(source), str(tmp_path / "c.realm"), "--cipher", "realm", "--plain", "--key", str(file)]) != 0
    assert not (tmp_path / "c.realm").exists()


def test_wrong_keys_have_a_class_of_their_own(tmp_path):
    for number, secret in enumerate(SECRETS):
        path = tmp_path / f"{number}.realm"
        crealm.open(path, schema=[PERSON], **secret).close()
        for mode in ("r", "rw"):
            with pytest.raises(crealm.WrongKeyError) as info:
                crealm.open(path, mode=mode, key=OTHER)
            assert info.value.code == 1021 and isinstance(info.value, OSError)
            if secret.get("page_cipher") == "realm":
                # Without the key its bytes look random.
                with pytest.raises(crealm.CorruptFileError):
                    crealm.open(path, mode=mode)
            elif secret:
                with pytest.raises(crealm.WrongKeyError) as info:
                    crealm.open(path, mode=mode)
                assert "passphrase=" in str(info.value)
    for bad in ({"key": KEY, "passphrase": "x"}, {"passphrase": ""}, {"passphrase": 3}, {"page_cipher": "rot13"}):
        with pytest.raises(crealm.DataError):
            crealm.open(tmp_path / "new.realm", mode="rwc", **bad)
    assert not (tmp_path / "new.realm").exists()


def test_the_command_line_shortens_a_file_in_use(tmp_path, capsys):
    path = tmp_path / "test.realm"
    with crealm.open(path, schema=[PERSON]) as db:
        fill(db)
        with db.write():
            db.add_many("Person", ({"id": n, "name": "to be deleted, " * 4, "age": n} for n in range(1000, 8000)))
        with db.write():
            db["Person"].where("id >= 1000").delete_all()
        before, size = contents(db), path.stat().st_size
        assert main(["compact", str(path), "--online", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["compacted"] is True and told["sizeBefore"] == size and told["size"] == path.stat().st_size
        for _ in range(3):
            db.refresh()  # Until now it kept an older version.
            assert main(["compact", str(path), "--online"]) == 0
        assert path.stat().st_size < size / 4
        assert contents(db) == before and db.verify() == []


def test_on_compact(tmp_path):
    path = tmp_path / "test.realm"
    with crealm.open(path, schema=[PERSON]) as db:
        fill(db)
        before = contents(db)
    size, seen = path.stat().st_size, []

    def ask(total, used):
        seen.append((total, used))
        return len(seen) > 1

    with crealm.open(path, schema=[PERSON], on_compact=ask) as db:
        with crealm.open(path, schema=[PERSON], on_compact=ask):
            pass
        assert len(seen) == 1 and seen[0][0] > 2 * seen[0][1] > 0 and path.stat().st_size > size / 2

    def refuse(total, used):
        raise KeyError("no")

    with pytest.raises(KeyError):
        crealm.open(path, on_compact=refuse)
    with crealm.open(path, schema=[PERSON], on_compact=ask) as db:
        assert len(seen) == 2 and path.stat().st_size < size / 2
        assert contents(db) == before and db.verify() == []


def test_memory():
    with crealm.memory(schema=[PERSON]) as db, crealm.memory(schema=[PERSON]) as other:
        folder = os.path.dirname(db.path)
        with db.write():
            db["Person"].create(1, name="Ann", age=1)
        assert len(db["Person"]) == 1 and len(other["Person"]) == 0
        assert not os.path.exists(folder) or os.path.isdir(folder)
    assert not os.path.exists(db.path)
    del db, other
    assert not os.path.exists(folder)


def test_memory_is_shared_by_name():
    problems = []

    def run():
        try:
            with crealm.memory("tests of sharing", schema=[PERSON]) as db:
                with db.write():
                    db["Person"].create(2, name="Bob", age=2)
        except BaseException as error:
            problems.append(error)

    with crealm.memory("tests of sharing", schema=[PERSON]) as db:
        with db.write():
            db["Person"].create(1, name="Ann", age=1)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        db.refresh()
        assert not problems and [p.name for p in db["Person"]] == ["Ann", "Bob"]
        path = db.path
    assert not os.path.exists(path)
    os.unlink(path + ".lock")
    with pytest.raises(crealm.DataError):
        crealm.open(path, mode="rwc", in_memory=True, key=KEY)


def test_command_line(tmp_path, capsys):
    path, keyfile, other = tmp_path / "test.realm", tmp_path / "key", tmp_path / "other"
    keyfile.write_bytes(KEY)
    other.write_bytes(OTHER)
    with crealm.open(path, schema=[PERSON], key=KEY) as db:
        fill(db)
        before, size = contents(db), path.stat().st_size
        assert main(["compact", str(path), "--key", str(keyfile)]) == 1
        assert "in use" in capsys.readouterr().err
        assert main(["backup", str(path), str(tmp_path / "a"), "--key", str(keyfile)]) == 0
    assert main(["compact", str(path)]) == 1 and "no key was given" in capsys.readouterr().err
    assert main(["compact", str(path), "--key", str(keyfile)]) == 0 and path.stat().st_size < size / 2
    assert main(["backup", str(path), str(tmp_path / "b"), "--key", str(keyfile), "--plain"]) == 0
    assert main(["backup", str(path), str(tmp_path / "c"), "--key", str(keyfile), "--new-key", str(other)]) == 0
    assert main(["backup", str(path), str(tmp_path / "c"), "--key", str(keyfile)]) == 1
    for name, key in (("a", KEY), ("b", None), ("c", OTHER)):
        with crealm.open(tmp_path / name, mode="r", key=key) as db:
            assert contents(db) == before


CRASH = """
import sys, crealm
path, key = sys.argv[1], bytes.fromhex(sys.argv[2]) or None
with crealm.open(path, key=key) as db:
    print("ready", flush=True)
    n = db["Person"].get(0).age
    while True:
        with db.write():
            n += 1
            for person in db["Person"]:
                person.age = n
        print(n, flush=True)
        assert db.compact()
"""


@pytest.mark.parametrize("secret", [{}, {"key": KEY}, {"key": KEY, "page_cipher": "realm"}])
def test_a_killed_compaction_leaves_the_old_file_or_the_new_one(tmp_path, secret):
    """All committed writes are in the file, and maybe one more, if the process died before it reported that one."""
    path = tmp_path / "test.realm"
    with crealm.open(path, schema=[PERSON], **secret) as db:
        fill(db, 3000)
        with db.write():
            for person in db["Person"]:
                person.age = 0
            db.add_many("Person", ({"id": n, "name": "x" * 300, "age": 0} for n in range(100, 1500)))
    last = 0
    for number in range(12):
        command = [sys.executable, "-c", CRASH, str(path), secret.get("key", b"").hex()]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            timer = threading.Timer(0.3 + number * 0.037, child.kill)
            timer.start()
            said = child.stdout.read().split()
            timer.cancel()
        numbers = [int(word) for word in said if word.isdigit()]
        last = max(numbers, default=last)
        with crealm.open(path, **secret) as db:
            ages = {person.age for person in db["Person"]}
            assert len(db["Person"]) == 1420 and len(ages) == 1 and db.verify() == []
            now = ages.pop()
            assert last <= now <= last + 1
            last = now
    with crealm.open(path, **secret) as db:
        assert db.compact()
    assert not (tmp_path / "test.realm.tmp_compaction_space").exists()


CHANGE_KEY = """
import sys, crealm
path, keys = sys.argv[1], [bytes([number]) * 64 for number in (1, 2)]
for key in (None, *keys):
    try:
        db = crealm.open(path, key=key)
    except crealm.Error:
        continue
    break
print("ready", flush=True)
while True:
    db.change_key(key=keys[0], page_cipher="xchacha20")
    db.change_key(key=keys[1], page_cipher="realm")
    db.change_key(key=None)
"""


def test_what_a_killed_change_of_key_left_is_removed_by_the_next_open(tmp_path):
    path, left = tmp_path / "test.realm", tmp_path / "test.realm.tmp_compaction_space"
    with crealm.open(path, schema=[PERSON]) as db, db.write():
        db.add_many("Person", ({"id": n, "name": "x" * 300, "age": 0} for n in range(20_000)))
    found = 0
    for number in range(20):
        with subprocess.Popen([sys.executable, "-c", CHANGE_KEY, str(path)], stdout=subprocess.PIPE) as child:
            child.stdout.readline()
            time.sleep(0.02 + number * 0.013)
            child.kill()
        found += left.exists()
        for key in (None, bytes([1]) * 64, bytes([2]) * 64):
            try:
                db = crealm.open(path, key=key)
            except (crealm.WrongKeyError, crealm.CorruptFileError):
                continue
            break
        with db:
            assert len(db["Person"]) == 20_000 and db.verify() == []
        assert not left.exists()
        if found == 3:
            return
    # Where the disk is much faster, no kill may come at the right moment: a file of that name is removed all the same.
    left.write_bytes(b"x")
    crealm.open(path, key=key).close()
    assert not left.exists()


def test_who_only_reads_removes_nothing(tmp_path):
    path, left = tmp_path / "test.realm", tmp_path / "test.realm.tmp_compaction_space"
    crealm.open(path, schema=[PERSON]).close()
    left.write_bytes(b"x")
    for mode in ("r", "immutable", "snapshot"):
        crealm.open(path, mode=mode).close()
        assert left.exists()
    crealm.open(path).close()
    assert not left.exists()


WITH_ANY_KEY = """
import random, sys, time, crealm
path, number, end = sys.argv[1], int(sys.argv[2]), time.monotonic() + float(sys.argv[3])
keys, randomness, done = [None, bytes([1]) * 64, bytes([2]) * 64], random.Random(number), 0
while time.monotonic() < end:
    try:
        db = crealm.open(path, key=randomness.choice(keys))
    except (crealm.WrongKeyError, crealm.CorruptFileError):
        continue
    with db:
        if number == 0:
            key = randomness.choice(keys)
            try:
                cipher = {"page_cipher": randomness.choice(["xchacha20", "aes256gcm", "realm"])}
                db.change_key(key=key, **(cipher if key else {}))
                done += 1
            except crealm.LockedError:
                pass
        else:
            for _ in range(randomness.randrange(1, 6)):
                with db.write():
                    db["Person"].get(number).age += 1
                    db["Person"].get(0).age += 1
                done += 1
                assert db["Person"].get(number).age == done
    time.sleep(randomness.random() / 100)
print(done)
"""


def test_keys_change_beside_writers(tmp_path):
    """Three programs write, with whatever key opens the file, while a fourth changes key and form: no write is lost."""
    path = tmp_path / "test.realm"
    with crealm.open(path, schema=[PERSON]) as db, db.write():
        db.add_many("Person", ({"id": n, "name": "", "age": 0} for n in range(4)))
    commands = [[sys.executable, "-c", WITH_ANY_KEY, str(path), str(number), "6"] for number in range(4)]
    programs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    done = [int(program.communicate()[0] or -1) for program in programs]
    assert [program.returncode for program in programs] == [0] * 4 and min(done) > 0
    opened = 0
    for key in (None, bytes([1]) * 64, bytes([2]) * 64):
        try:
            db = crealm.open(path, key=key)
        except (crealm.WrongKeyError, crealm.CorruptFileError):
            continue
        with db:
            assert [person.age for person in db["Person"].sort("id")] == [sum(done[1:]), *done[1:]]
            assert db.verify() == []
        opened += 1
    assert opened == 1
    assert sorted(file.name for file in tmp_path.iterdir() if file.is_file()) == ["test.realm", "test.realm.lock"]
