"""The SQLite extension for the tests of SQL: built from the source tree if it is not there."""

import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from crealm import _extension, _library

REPOSITORY = Path(__file__).resolve().parents[4]


def pytest_configure():
    """Builds the extension in a source tree, so that the tests are of the sources."""
    script = REPOSITORY / "Scripts" / "sqlite.sh"
    if os.environ.get("CREALM_SQLITE") or os.environ.get("CREALM_TEST_INSTALLED") or not script.exists():
        return
    done = subprocess.run([script, _library.path], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        raise pytest.UsageError(f"The SQLite extension cannot be built:\n{done.stderr}")


@pytest.fixture
def connection():
    """A connection of SQLite, in memory, with the extension."""
    found = _extension.problem()
    if found is not None:
        pytest.skip(found)
    opened = _extension.connect()
    yield opened
    opened.close()


@pytest.fixture
def shell():
    """Runs statements in the sqlite3 shell with the extension; gives the completed process."""
    if shutil.which("sqlite3") is None or _extension.find() is None:
        pytest.skip("the shell sqlite3 or the SQLite extension is not there")

    def run(*statements):
        lines = [f".load {_extension.find().with_suffix('')}", *statements]
        return subprocess.run(["sqlite3", "-bail"], input="\n".join(lines), capture_output=True, text=True)

    return run


assert sqlite3.sqlite_version  # the module has to be there before the extension looks for its library
