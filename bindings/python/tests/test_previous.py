"""The version before the newest one: the contents before the last commit, or VersionGone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import crealm
from conftest import FIXTURES
from test_cli_import import quiet
from test_examining import KEY, state

SCHEMA = [crealm.ClassSchema("T", {"n": int, "s": str, "l": list[int]})]


def write(path, commits, **how):
    """Makes commits one after the other, and returns the contents after each."""
    left = []
    with crealm.open(path, schema=SCHEMA, **how) as db:
        for n in range(commits):
            with db.write():
                db["T"].create(n=n, s="x" * (n * 37 % 90), l=list(range(n % 50)))
                if n % 3 == 2:
                    db["T"].where("n == $0", n - 1).delete_all()
            left.append(contents(db))
    return left


def contents(db):
    return [(o._key, o.n, o.s, list(o.l)) for o in db["T"]]


@pytest.mark.parametrize("mode", [None, "r", "snapshot", "immutable"])
def test_what_was_before_the_last_commit(tmp_path, mode):
    path = tmp_path / "a.realm"
    for commits in 2, 3, 1, 7, 20:
        left = write(path, commits)
        if commits == 1:
            continue
        before = state(tmp_path)
        with crealm.open(path, mode=mode, slot="previous") as db, crealm.open(path, mode="immutable") as newest:
            assert contents(db) == left[-2] and contents(newest) == left[-1] and db.version == newest.version - 1
            assert db.verify() == [] and not db.refresh()
            with pytest.raises(crealm.ReadOnlyError), db.write():
                pass
        assert state(tmp_path) == before


@pytest.mark.parametrize("cipher", ["xchacha20", "aes256gcm", "realm"])
def test_encrypted_files(tmp_path, cipher):
    path = tmp_path / "a.realm"
    for _ in range(3):
        left = write(path, 9, key=KEY, page_cipher=cipher)
        with crealm.open(path, key=KEY, slot="previous") as db:
            assert contents(db) == left[-2]
        with pytest.raises(crealm.WrongKeyError):
            crealm.open(path, key=KEY[::-1], slot="previous")


def test_while_the_file_is_written(tmp_path):
    """Each open shows the contents after one commit, or raises VersionGone."""
    path = tmp_path / "busy.realm"
    program = (
        "import crealm, sys\nwith crealm.open(sys.argv[1], schema=[crealm.ClassSchema('T', {'n': int})]) as db:\n"
        "    print(flush=True)\n    for n in range(600):\n        with db.write():\n            db['T'].create(n=n)\n")
    seen = 0
    environment = {**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1])}
    with subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE, env=environment) as writer:
        writer.stdout.readline()
        while writer.poll() is None:
            try:
                with crealm.open(path, slot="previous") as db:
                    numbers = [o.n for o in db["T"]] if "T" in db else []
                    assert numbers == list(range(len(numbers))) and db.verify() == []
                    seen += bool(numbers)
            except (crealm.VersionGone, crealm.FileKeepsChanging):
                pass
    assert writer.returncode == 0 and seen


def test_there_is_none(tmp_path):
    path = tmp_path / "a.realm"
    write(path, 3)
    with crealm.open(path) as db:
        db.compact()
    for name in "a.realm", "copy.realm":
        if name == "copy.realm":
            with crealm.open(path) as db:
                db.backup(tmp_path / name)
        with pytest.raises(crealm.VersionGone, match="same version|written in one piece|committed to only once") as info:
            crealm.open(tmp_path / name, slot="previous")
        assert info.value.code == 9005 and str(tmp_path / name) in str(info.value)
    with pytest.raises(crealm.CorruptFileError):
        path.write_bytes(b"no realm file at all, by any means")
        crealm.open(path, slot="previous")
    for wrong in {"slot": "third"}, {"slot": "previous", "mode": "rw"}:
        with pytest.raises(crealm.DataError):
            crealm.open(path, **wrong)


def test_a_version_that_was_written_over(tmp_path):
    """The header slot of an old version is restored: an open never shows wrong values."""
    path = tmp_path / "a.realm"
    was = write(path, 4)[-1]
    old = crealm.file_info(path).newest
    gone = 0
    for _ in range(12):
        left = []
        with crealm.open(path) as db:
            for n in range(3):
                with db.write():
                    db["T"].first().n = n
                left.append(contents(db))
        info = crealm.file_info(path)
        data = bytearray(path.read_bytes())
        other = 1 - info.selected_slot
        data[8 * other : 8 * other + 8] = old.top_ref.to_bytes(8, "little")
        stale = tmp_path / "stale.realm"
        stale.write_bytes(data)
        try:
            with crealm.open(stale, slot="previous") as db:
                assert db.version == old.version and contents(db) == was
        except crealm.VersionGone:
            gone += 1
        with crealm.open(path, slot="previous") as db:
            assert contents(db) == left[-2]
    assert gone >= 2


def test_a_damaged_newest_version_does_not_matter(tmp_path):
    path = tmp_path / "a.realm"
    left = write(path, 5)
    info = crealm.file_info(path)
    data = bytearray(path.read_bytes())
    data[info.newest.top_ref + 4 : info.newest.top_ref + 8] = b"\xff" * 4
    path.write_bytes(data)
    with pytest.raises(crealm.CorruptFileError):
        crealm.open(path, mode="immutable")
    with crealm.open(path, mode="immutable", slot="previous") as db:
        assert contents(db) == left[-2]
    found = crealm.check(path)
    assert found.result == "faulty" and [(v.version, v.state) for v in found.versions] == [(info.newest.version - 1, "sound")]


def test_files_of_other_libraries():
    count = 0
    for file in FIXTURES.glob("*/[!d]*.realm"):
        key = file.with_suffix(".key")
        secret = {"key": key.read_bytes()} if key.exists() else {}
        info = crealm.file_info(file, **secret)
        other = info.slots[1 - info.selected_slot]
        try:
            with crealm.open(file, slot="previous", **secret) as db:
                assert db.version == other.version
                count += 1
        except crealm.VersionGone:
            assert other.state != "version" or "f11-swift" in file.name
    assert count >= 5


def test_on_the_command_line(tmp_path):
    path = tmp_path / "a.realm"
    write(path, 4)
    code, said, out = quiet(["diff", path, "--slots", "--json", "--evidence"])
    changes = json.loads(out)["objects"] if "objects" in json.loads(out) else json.loads(out)
    assert code == 4 and changes and said.count("sha256 before") == 1
    assert quiet(["diff", path])[0] == 1 and quiet(["diff", path, path, "--slots"])[0] == 1
    newest, previous = (json.loads(quiet(["query", path, "T", "--json", *more])[2]) for more in ([], ["--previous"]))
    assert len(newest) != len(previous) or newest != previous
    with crealm.open(path) as db:
        db.compact()
    code, said, _ = quiet(["show", path, "--previous"])
    assert code == 1 and "no version before the newest one" in said


def test_an_empty_file_is_called_empty(tmp_path):
    path = tmp_path / "empty.realm"
    path.write_bytes(b"")
    with pytest.raises(crealm.Error, match="no version before the newest one: the file is empty"):
        crealm.open(path, mode="immutable", slot="previous")
    assert path.read_bytes() == b""
