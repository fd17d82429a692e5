"""Evidence: commands that read change neither the file nor its folder, and a report lists what was read and what was not."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

import crealm
from conftest import FIXTURES
from crealm._library import path as library
from test_cli_import import quiet
from test_examining import KEY, state

COMMANDS = (
    ["info"], ["info", "--immutable", "--evidence"], ["check"], ["check", "--immutable"], ["show", "--previous"], ["diff", "--slots"],
    ["export", "{out}/more.json", "--report", "{out}/report", "--evidence"],
)  # fmt: skip
SAMPLES = ["ops/nested-1", "old/f05-java-asset-file", "old/f03-core-all-types-encrypted", "sdk/f22-js-self-links", "sdk/f23-kotlin-sync-client-streaming"]


def arguments(command, file, out):
    key = file.with_suffix(".key")
    words = [word.format(out=out) for word in command]
    return [words[0], str(file), *words[1:], *(["--key", str(key)] if key.exists() else [])]


@pytest.mark.parametrize("name", SAMPLES)
def test_no_command_that_reads_changes_anything(tmp_path, name):
    source = FIXTURES / f"{name}.realm"
    if not source.exists():
        pytest.skip("the file is not there")
    folder, out = tmp_path / "evidence", tmp_path / "out"
    folder.mkdir(), out.mkdir()
    for ending in ".realm", ".key":
        if source.with_suffix(ending).exists():
            shutil.copy(source.with_suffix(ending), folder)
    file = folder / source.name
    before = state(folder)
    for command in COMMANDS:
        code, said, _ = quiet(arguments(command, file, out))
        assert code in (0, 4) or "no version before the newest one" in said, (command, said)
        assert state(folder) == before, command
    content = json.loads((out / "report/report.json").read_text())
    assert content["unchanged"] and content["before"] == content["after"] and content["export"]["files"][0]["size"] == (out / "more.json").stat().st_size


def test_digests_stand_behind_the_output(tmp_path):
    """Also if both channels go into one pipe, and Python buffers the output until the end."""
    file = tmp_path / "one.realm"
    crealm.open(file, schema=[crealm.ClassSchema("Thing", {"n": int})]).close()
    command = [sys.executable, "-m", "crealm", "query", str(file), "Thing", "--json", "--evidence"]
    environment = {**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1])}
    environment.pop("PYTHONUNBUFFERED", None)
    printed = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, check=True, timeout=600).stdout
    assert re.match(r"\[\n\]\nsha256 before .*\nsha256 after  ", printed, re.S), printed


@pytest.fixture
def stranger():
    """Runs commands as a user without rights, on a read-only folder; None if the tests do not run as the superuser."""
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if os.getuid() != 0 or shutil.which("setpriv") is None or python is None:
        pytest.skip("only the superuser becomes somebody else, with setpriv and a Python for all")
    folder = Path(tempfile.mkdtemp(prefix="evidence-"))
    folder.chmod(0o755)
    lib, package, out, case = (folder / name for name in ("lib", "python", "out", "case"))
    for made in lib, out, case:
        made.mkdir()
    shutil.copy(library, lib / "libCRealm.so")
    shutil.copytree(Path(crealm.__file__).parent, package / "crealm")
    out.chmod(0o777)

    def run(*words):
        return subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", python, "-B", "-m", "crealm", *map(str, words)],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(package), "CREALM_LIBRARY": str(lib / "libCRealm.so"), "HOME": "/nonexistent"},
            capture_output=True, text=True, timeout=600, cwd="/")

    run.case, run.out = case, out
    yield run
    shutil.rmtree(folder)


def test_as_a_user_without_rights_from_a_folder_that_is_read_only(stranger):
    for name in SAMPLES:
        source = FIXTURES / f"{name}.realm"
        for ending in ".realm", ".key":
            if source.with_suffix(ending).exists():
                shutil.copy(source.with_suffix(ending), stranger.case)
    for file in stranger.case.iterdir():
        file.chmod(0o444)
    stranger.case.chmod(0o555)
    before = state(stranger.case)
    for file in sorted(stranger.case.glob("*.realm")):
        for number, command in enumerate(COMMANDS):
            out = stranger.out / f"{file.stem}-{number}"
            out.mkdir()
            out.chmod(0o777)
            done = stranger(*arguments(command, file, out))
            assert done.returncode in (0, 4) or "no version before the newest one" in done.stderr, (command, done.stderr)
    assert state(stranger.case) == before


# ------------------------------------------------------------------------------------------------
# Reports
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def made(tmp_path):
    folder = tmp_path / "case"
    folder.mkdir()
    path = folder / "case.realm"
    with crealm.open(path, schema=[crealm.ClassSchema("Note", {"n": int, "text": str, "any": Any}), crealm.ClassSchema("None", {"n": int})]) as db:
        for n in range(3):
            with db.write():
                db["Note"].create(n=n, text="<b>&" + "x" * 80, any="\x1b[2J")
    os.remove(f"{path}.lock") if os.path.exists(f"{path}.lock") else None
    return path


def report(folder):
    return json.loads((folder / "report.json").read_text()), (folder / "report.html").read_text()


def test_a_report_on_a_sound_file(made, tmp_path):
    assert quiet(["check", made, "--report", tmp_path / "r"])[0] == 0
    content, page = report(tmp_path / "r")
    assert content["check"]["result"] == "sound" and content["notRead"] == [] and content["unchanged"]
    assert {one["name"]: (one["objects"], one["read"]) for one in content["classes"]} == {"Note": (3, 3), "None": (0, 0)}
    assert content["before"]["sha256"] in page and "Everything was read" in page and "<script" not in page
    assert quiet(["check", made, "--report", tmp_path / "r"])[0] == 1  # An existing report is not overwritten.


def test_what_is_not_readable_is_never_empty(made, tmp_path):
    whole = made.read_bytes()
    with crealm.open(made) as db:
        db.change_key(key=KEY)
    assert quiet(["check", made, "--report", tmp_path / "encrypted"])[0] == 1
    made.write_bytes(whole)
    top = crealm.file_info(made).newest.top_ref
    made.write_bytes(whole[: top + 4] + b"\xff" * 4 + whole[top + 8 :])
    assert quiet(["check", made, "--report", tmp_path / "damaged"])[0] == 3
    made.write_bytes(b"no realm at all")
    assert quiet(["check", made, "--report", tmp_path / "other"])[0] == 3
    for name in "encrypted", "damaged", "other":
        content, page = report(tmp_path / name)
        assert content["classes"] is None and content["notRead"] and content["notRead"][0]["why"]
        assert "is not known" in page and "no classes" not in page and not re.search(r"<td>empty<", page), name
        assert all(slot["state"] != "empty" for slot in content["info"]["slots"])


def test_a_class_with_damage_says_how_much_was_read(made, tmp_path):
    with crealm.open(made, mode="immutable") as db:
        found = db.locate(db["Note"][1], "text")
    data = bytearray(made.read_bytes())
    leaf = found.nodes[5]
    data[leaf.offset + 4 : leaf.offset + 8] = b"\xff" * 4
    made.write_bytes(data)
    assert quiet(["check", made, "--report", tmp_path / "r"])[0] == 3
    content, page = report(tmp_path / "r")
    (note,) = [one for one in content["classes"] if one["name"] == "Note"]
    assert note["objects"] == 3 and note["read"] == 2 and note["why"] and note["faults"] >= 1
    assert any(left["what"].startswith("Note.text") for left in content["notRead"]) and "not all" in page


# ------------------------------------------------------------------------------------------------
# Hostile files
# ------------------------------------------------------------------------------------------------


def test_a_collection_that_contains_itself(tmp_path):
    """An export to any format ends with an error of the package."""
    path = tmp_path / "loop.realm"
    with crealm.open(path, schema=[crealm.ClassSchema("T", {"any": Any})]) as db, db.write():
        db["T"].create(any=[["inner"]])
    with crealm.open(path, mode="immutable") as db:
        nodes = db.locate(db["T"][0], "any").nodes
    data = bytearray(path.read_bytes())
    # The array of refs of nested collections in the outer list now refers to the outer list itself.
    outer = nodes[-1].offset
    at, width = _nested_refs(data, outer)
    data[at : at + width] = outer.to_bytes(width, "little")
    path.write_bytes(data)
    for out in "a.json", "a.ndjson", "a.csv", "a.sqlite":
        code, said, _ = quiet(["export", path, tmp_path / out, "--immutable"])
        assert code == 1 and "contains itself" in said and "Traceback" not in said and not (tmp_path / out).exists()
    for command in ["show"], ["query", "T", "--json"]:
        code, said, _ = quiet([command[0], path, *command[1:]])
        assert code in (0, 1) and "Traceback" not in said
    assert quiet(["check", path])[0] == 3


def _nested_refs(data, leaf):
    """The offset and the width of the ref of the only nested collection in a leaf of Mixed values."""
    step = (1 << (data[leaf + 4] & 7) >> 1) // 8
    payload = int.from_bytes(data[leaf + 8 + 4 * step : leaf + 8 + 5 * step], "little")
    return payload + 8, (1 << (data[payload + 4] & 7) >> 1) // 8
