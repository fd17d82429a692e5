"""Fixtures for all tests: the package on the path, a new file for each test, which is checked at the
end, and the folder with files that other implementations wrote."""

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Optional

import pytest

PACKAGE_ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = PACKAGE_ROOT.parents[1]
if not os.environ.get("CREALM_TEST_INSTALLED"):
    sys.path.insert(0, str(PACKAGE_ROOT))

import crealm  # noqa: E402

# A shell that runs the tests in the background lets them ignore Ctrl-C; then tests that send it would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

# With the folders `ops` (histories) and `sdk` (files of Realm's SDKs) if they were found.
FIXTURES = Path(subprocess.run([REPOSITORY / "Scripts/fixtures.sh"], capture_output=True, text=True, check=True).stdout.strip())


def pytest_terminal_summary(terminalreporter):
    if not (FIXTURES / "sdk").is_dir():
        terminalreporter.write_line("skipped: files of Realm's SDKs (no folder sdk in CREALM_FIXTURES or ../shared/fixtures)")


@pytest.fixture
def path(tmp_path):
    """A path for a realm file. A file that the test leaves there must be sound."""
    file = tmp_path / "test.realm"
    yield file
    gc.collect()
    if file.exists():
        with crealm.open(file) as db:
            assert db.verify() == []


@pytest.fixture
def people(path):
    """An open database with three people: Ann -> Bob -> Ann, and Cyd."""
    db = crealm.open(path, schema=[PERSON])
    with db.write():
        table = db["Person"]
        ann = table.create(1, name="Ann", age=31)
        bob = table.create(2, name="Bob", age=42, friend=ann)
        ann.friend = bob
        table.create(3, name="Cyd", age=53)
    yield db
    db.close()


PERSON = crealm.ClassSchema(
    "Person",
    {"id": int, "name": str, "age": int, "friend": "Person"},
    primary_key="id",
)

THING = crealm.ClassSchema(
    "Thing",
    {
        "id": int,
        "numbers": list[int],
        "texts": list[Optional[str]],
        "anys": list[Any],
        "things": list["Thing"],
        "parts": list["Part"],
        "ints": set[int],
        "words": set[Optional[str]],
        "mixed": set[Any],
        "friends": set["Thing"],
        "ages": dict[str, int],
        "notes": dict[str, Any],
        "links": dict[str, "Thing"],
        "rooms": dict[str, "Part"],
        "any": Any,
        "part": "Part",
        "other": "Thing",
    },
    primary_key="id",
)
PART = crealm.ClassSchema(
    "Part",
    {"name": str, "sizes": list[int], "of": "Thing", "bits": list["Bit"]},
    embedded=True,
)
BIT = crealm.ClassSchema("Bit", {"n": int}, embedded=True)


@pytest.fixture
def things(path):
    """An open database with three things, numbers 1 to 3, without other values."""
    db = crealm.open(path, schema=[THING, PART, BIT])
    with db.write():
        for number in (1, 2, 3):
            db["Thing"].create(number)
    yield db
    if not db.is_closed:
        db.close()


def plain(value):
    """A value from a database as plain values of Python; links as ("link", primary key)."""
    if isinstance(value, crealm.Object):
        if value._is_embedded_object():
            return {name: plain(element) for name, element in value._entries()}
        return ("link", value.id)
    if isinstance(value, crealm.Dictionary):
        return {key: plain(element) for key, element in value.items()}
    if isinstance(value, crealm.SetView):
        return {plain(element) for element in value}
    if isinstance(value, crealm.List):
        return [plain(element) for element in value]
    return value
