"""Facts about a file, read without opening it, and checks of files."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import crealm
from conftest import FIXTURES
from test_cli_import import quiet

KEY = bytes(range(64))


def state(folder):
    """The state of a folder, to detect any change: names, bytes, times, inodes."""
    return {
        path.name: (path.stat().st_mtime_ns, path.stat().st_ctime_ns, path.stat().st_ino, path.stat().st_mode, path.is_file() and path.read_bytes())
        for path in [folder, *folder.iterdir()]
    }


@pytest.fixture
def made(tmp_path):
    """A file with three commits, alone in its folder."""
    path = tmp_path / "made.realm"
    with crealm.open(path, schema=[crealm.ClassSchema("T", {"n": int, "s": str})]) as db:
        for n in range(3):
            with db.write():
                db["T"].create(n=n, s="x" * n)
    for other in tmp_path.iterdir():
        if other != path:
            other.unlink()
    return path


def test_a_file_of_this_library(made):
    before = state(made.parent)
    info = crealm.file_info(made)
    assert (info.kind, info.encryption, info.use, info.format) == ("realm", "none", "write", 24)
    assert info.writer == "CRealm" and info.problem is None and not info.is_streaming
    assert info.file_size == info.data_size == made.stat().st_size
    selected, other = info.slots[info.selected_slot], info.slots[1 - info.selected_slot]
    assert selected.version == other.version + 1 == info.newest.version and selected.history == "in the file"
    assert state(made.parent) == before
    with crealm.open(made, mode="immutable") as db:
        assert db.version == info.newest.version


@pytest.mark.parametrize("cipher", ["xchacha20", "aes256gcm", "realm"])
def test_encrypted_files(made, cipher):
    with crealm.open(made) as db:
        db.change_key(key=KEY, page_cipher=cipher)
    os.remove(f"{made}.lock") if os.path.exists(f"{made}.lock") else None
    before = state(made.parent)
    blind = crealm.file_info(made)
    assert (blind.kind, blind.use, blind.format, blind.data_size, blind.secret) == ("encrypted", "none", None, None, "key")
    assert blind.encryption == ("Realm" if cipher == "realm" else "CRealm") and str(made) in blind.problem and "64 bytes" in blind.problem
    wrong = crealm.file_info(made, key=KEY[::-1])
    assert (wrong.kind, wrong.use) == ("encrypted", "none") and "key" in wrong.problem
    seen = crealm.file_info(made, key=KEY)
    assert (seen.kind, seen.use, seen.format, seen.problem) == ("realm", "write", 24, None)
    assert seen.encryption == blind.encryption and seen.cipher == blind.cipher and seen.data_size < seen.file_size
    assert state(made.parent) == before


def test_a_key_that_is_not_needed(made):
    assert crealm.file_info(made, key=KEY) == crealm.file_info(made)
    assert crealm.file_info(made, passphrase="words") == crealm.file_info(made)


def test_what_is_no_realm_file(tmp_path):
    path = tmp_path / "file"
    for data in b"no realm", b"\0" * 100_000, bytes(range(256)) * 64, b"CRealmE1", b"CRealmE1" + b"\xff" * 8192, b"\xff" * 8192:
        path.write_bytes(data)
        info = crealm.file_info(path)
        assert info.kind == ("encrypted" if data.startswith(b"CRealmE1") else "other") and info.use == "none"
        assert str(path) in info.problem and info.format is None
        assert crealm.file_info(path, key=KEY).use == "none"
    path.write_bytes(b"")
    assert (crealm.file_info(path).kind, crealm.file_info(path).use) == ("empty", "write")
    with pytest.raises(crealm.FileNotFound):
        crealm.file_info(tmp_path / "none")
    with pytest.raises(crealm.FileError):
        crealm.file_info(tmp_path)


def test_truncated_and_damaged_files(made):
    """Any bytes give an answer, which has more facts if more of the file is intact."""
    whole = made.read_bytes()
    for size in [*range(1, 64), 512, 4096, len(whole) - 8, len(whole) - 1]:
        made.write_bytes(whole[:size])
        info = crealm.file_info(made)
        assert info.kind == ("realm" if size >= 24 else "other")
        assert (info.use == "none") == (info.problem is not None)
    for format in 1, 12, 19, 25, 255:
        made.write_bytes(whole[:20] + bytes([format, format]) + whole[22:])
        info = crealm.file_info(made)
        assert info.use == "none" and f"format {format}" in info.problem and str(made) in info.problem
    top = crealm.file_info(made).slots[info.selected_slot].top_ref
    made.write_bytes(whole[:top] + b"\xff" * 64 + whole[top + 64 :])
    info = crealm.file_info(made)
    assert info.slots[info.selected_slot].state == "damaged" and info.slots[1 - info.selected_slot].state == "version"


FACTS = {  # Format, history, streaming, use.
    "sdk/f24-core-streaming-node4": (24, "none", True, "write"), "sdk/f10-empty-streaming": (10, "none", True, "upgrade"),
    "sdk/f22-js-self-links": (22, "in the file", False, "upgrade"), "sdk/f23-kotlin-sync-client-streaming": (23, "sync client", True, "read"),
    "ops/full-1": (24, "in the file", False, "write"), "ops/encrypted": (24, "in the file", False, "write"),
    "sdk/f09-core-encrypted": (9, "in the file", False, "upgrade"), "old/f02-java-all-types": (2, "none", False, "upgrade"),
    "old/f03-core-all-types-encrypted": (3, "none", False, "upgrade"), "old/f08-core-streaming": (8, "none", True, "upgrade"),
}  # fmt: skip


@pytest.mark.parametrize("name", FACTS)
def test_files_of_other_libraries(name):
    file = FIXTURES / f"{name}.realm"
    if not file.exists():
        pytest.skip("the file is not there")
    key = file.with_suffix(".key")
    info = crealm.file_info(file, key=key.read_bytes() if key.exists() else None)
    assert (info.format, info.newest.history, info.is_streaming, info.use) == FACTS[name]
    assert "realm-core" in info.writer and (info.problem is None) == (info.use != "read")


def test_every_file_tells_what_an_open_finds():
    for file in FIXTURES.glob("*/*.realm"):
        key = file.with_suffix(".key")
        secret = {"key": key.read_bytes()} if key.exists() else {}
        with crealm.open(file, mode="immutable", **secret) as db:
            assert crealm.file_info(file, **secret).newest.version == db.version


def test_a_file_that_is_being_written(tmp_path):
    """The facts of both slots are from the same moment, although there are commits meanwhile."""
    path = tmp_path / "busy.realm"
    program = (
        "import crealm, sys\nwith crealm.open(sys.argv[1], schema=[crealm.ClassSchema('T', {'n': int})]) as db:\n"
        "    print(flush=True)\n    for n in range(400):\n        with db.write():\n            db['T'].create(n=n)\n")
    with subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1])}) as writer:
        writer.stdout.readline()
        seen = 0
        while writer.poll() is None:
            info = crealm.file_info(path)
            assert info.use == "write" and info.newest.version >= seen
            seen = info.newest.version
    assert writer.returncode == 0 and crealm.file_info(path).newest.version >= 400


# ------------------------------------------------------------------------------------------------
# Checks
# ------------------------------------------------------------------------------------------------


def test_a_sound_file(made):
    before = state(made.parent)
    found = crealm.check(made)
    assert found.is_sound and found.faults == [] and found.faults.total == 0
    newest, other = found.versions
    assert newest.is_newest and (newest.slot, other.slot) == (found.info.selected_slot, 1 - found.info.selected_slot)
    assert newest.version == other.version + 1 and newest.state == other.state == "sound"
    parsed = json.loads(found.json)
    assert parsed["sound"] is True and parsed["faults"] == [] and parsed["info"]["slots"][0]["topRef"] == found.info.slots[0].top_ref
    assert found.report.splitlines()[0] == f"{made}: sound" and len(found.report.splitlines()) == 3
    assert crealm.check(made, snapshot=True) == found and state(made.parent) == before


def test_every_fixture_is_sound():
    """Both versions of each fixture: no library reuses the space of the version before the newest."""
    for file in FIXTURES.glob("*/[!d]*.realm"):
        if "streaming-node4" in file.name:
            continue  # It was made with other limits.
        key = file.with_suffix(".key")
        found = crealm.check(file, key=key.read_bytes() if key.exists() else None)
        assert found.is_sound, found.report
        others = [v for v in found.versions if not v.is_newest]
        assert all(v.state == "sound" for v in others) or "f11-swift-converter" in file.name


def test_faults_of_either_version(made):
    """A fault belongs to the version that has it; the result is that of the newest version."""
    info = crealm.file_info(made)
    whole = made.read_bytes()
    for slot in 0, 1:
        top = info.slots[slot].top_ref
        made.write_bytes(whole[:top] + b"\xff" * 8 + whole[top + 8 :])
        found = crealm.check(made)
        if slot == info.selected_slot:
            # The version before it is sound, and its record does not describe a complete commit.
            assert found.result == "faulty" and found.faults[0].offset == top and str(top) in found.report
        else:
            assert found.is_sound and [v.slot for v in found.versions] == [info.selected_slot]


def test_a_version_that_was_written_over(made):
    """The nodes of the older slot's version are overwritten: this is reported, but is no fault of the file."""
    old = crealm.file_info(made)
    with crealm.open(made) as db:
        for n in range(40):
            with db.write():
                db["T"].create(n=n, s="y" * 50)
    new = crealm.file_info(made)
    data = bytearray(made.read_bytes())
    other, was = 1 - new.selected_slot, old.slots[old.selected_slot]
    data[8 * other : 8 * other + 8] = was.top_ref.to_bytes(8, "little")
    made.write_bytes(data)
    found = crealm.check(made)
    assert found.is_sound and found.versions[0].version == new.newest.version
    assert [v.state for v in found.versions[1:]] in (["reused"], ["faulty"], [])


def test_a_version_that_an_upgrade_wrote_over_asks_for_nothing(made):
    """Its tables already have the new form, and the upgrade is complete, so there is no advice to use a backup."""
    with crealm.open(made) as db, db.write():
        db["T"].create(n=1, s="y")
    data = bytearray(made.read_bytes())
    data[20 + (1 - (data[23] & 1))] = 9
    made.write_bytes(data)
    found = crealm.check(made)
    assert found.is_sound and [v.state for v in found.versions] == ["sound", "reused"]
    assert [fault.message for fault in found.faults] and all("which is finished" in fault.message for fault in found.faults)
    assert "backup" not in found.report
    with pytest.raises(crealm.VersionGone, match="version .* the upgrade from format 9 to 24, which is finished"):
        crealm.open(made, slot="previous")


def test_what_cannot_be_read_is_neither_sound_nor_faulty(made):
    with crealm.open(made) as db:
        db.change_key(key=KEY)
    for secret in {}, {"key": KEY[::-1]}, {"passphrase": "x"}:
        found = crealm.check(made, **secret)
        assert found.result == "unreadable" and not found.is_sound and not found.versions and found.info.problem
        assert json.loads(found.json)["sound"] is None and "not checked" in found.report
    assert crealm.check(made, key=KEY).is_sound


def test_what_is_no_file_is_an_answer(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"")
    assert crealm.check(path).is_sound
    path.write_bytes(b"no realm")
    found = crealm.check(path)
    assert found.result == "faulty" and len(found.faults) == 1 and str(path) in str(found.faults[0]) and found.faults[0].slot is None
    with pytest.raises(crealm.FileNotFound):
        crealm.check(tmp_path / "none")


def test_limit_and_progress(made):
    data = bytearray(made.read_bytes())
    with crealm.open(made, mode="immutable") as db:
        assert db.verify() == []
    top = crealm.file_info(made).newest.top_ref
    data[top + 24 : top + 200] = bytes(176)
    made.write_bytes(data)
    found = crealm.check(made, limit=1)
    assert len(found.faults) == 1 <= found.faults.total and len(crealm.check(made, limit=0).faults) == 0
    with pytest.raises(crealm.Interrupted):
        crealm.check(FIXTURES / "ops/full-1.realm", progress=lambda *told: False)


# ------------------------------------------------------------------------------------------------
# The command line
# ------------------------------------------------------------------------------------------------


def test_info_of_what_cannot_be_opened(made):
    code, said, out = quiet(["info", made, "--json"])
    assert code == 0 and json.loads(out)["slots"][0]["state"] == "version"
    whole = made.read_bytes()
    made.write_bytes(whole[:20] + b"\x01\x01" + whole[22:])
    code, said, out = quiet(["info", made, "--evidence"])
    assert code == 1 and "cannot be opened" in out and "format 1" in said and said.count("sha256 before") == said.count("sha256 after ") == 1
    assert f"{len(whole):,} bytes, modified 2" in said
    facts = json.loads(quiet(["info", made, "--json"])[2])
    assert facts["use"] == "none" and facts["format"] == 1 and str(made) in facts["problem"]


@pytest.mark.parametrize("name", ["old/f07-java-self-link", "sdk/f22-js-self-links"])
def test_writers_say_that_they_upgraded(tmp_path, name):
    source, path = FIXTURES / f"{name}.realm", tmp_path / "a.realm"
    if not source.exists():
        pytest.skip("the file is not there")
    shutil.copyfile(source, path)
    format = crealm.file_info(path).format
    code, said, out = quiet(["compact", path])
    assert code == 0 and f"upgraded from format {format}; as it was: {tmp_path}/a.v{format}.backup.realm" in said
    assert (tmp_path / f"a.v{format}.backup.realm").read_bytes() == source.read_bytes()
    assert json.loads(quiet(["compact", path, "--json"])[2])["upgradedFrom"] is None


def test_check_on_the_command_line(made):
    assert quiet(["check", made])[0] == 0
    parsed = json.loads(quiet(["check", made, "--json"])[2])
    assert parsed["result"] == "sound" and len(parsed["versions"]) == 2
    data = bytearray(made.read_bytes())
    data[crealm.file_info(made).newest.top_ref] ^= 255
    data[crealm.file_info(made).newest.top_ref + 4] ^= 255
    made.write_bytes(data)
    code, said, out = quiet(["check", made, "--evidence"])
    assert code == 3 and "1 fault" in out and "node" in out and said.count("sha256") == 2
    made.write_bytes(b"CRealmE1" + bytes(9000))
    code, said, out = quiet(["check", made])
    assert code == 1 and "not checked" in out and "sound" not in out and "encrypted" in said
    made.write_bytes(b"text")
    assert quiet(["check", made])[0] == 3


def test_an_older_version_is_not_the_newest(made):
    """Where the newest version cannot be read, the version before it is an earlier one, also if it is sound."""
    info = crealm.file_info(made)
    data = bytearray(made.read_bytes())
    data[info.newest.top_ref : info.newest.top_ref + 16] = b"\xff" * 16
    made.write_bytes(data)
    found = crealm.check(made)
    assert found.result == "faulty" and found.newest_faults == found.faults.total == 1
    assert [(version.version, version.is_newest, version.state) for version in found.versions] == [(info.newest.version - 1, False, "sound")]
    assert [version["newest"] for version in json.loads(found.json)["versions"]] == [False]
    code, said, out = quiet(["check", made])
    rows = [line.split() for line in out.splitlines()[2:4]]
    assert code == 3 and rows == [
        ["unknown", str(info.selected_slot), "newest", "cannot", "be", "read"], [str(info.newest.version - 1), str(1 - info.selected_slot), "earlier", "sound"]]


def test_a_version_that_the_header_does_not_name_yet_is_the_newest(made):
    """As after a crash between the two writes of a commit."""
    info = crealm.file_info(made)
    data = bytearray(made.read_bytes())
    data[23] ^= 1
    made.write_bytes(data)
    found = crealm.check(made)
    with crealm.open(made, mode="immutable") as db:
        assert [(version.version, version.is_newest) for version in found.versions] == [(db.version, True), (db.version - 1, False)]
        assert found.is_sound and db.version == info.newest.version
