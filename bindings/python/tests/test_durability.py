"""How often a write waits for the disk, counted in the library's calls to the operating system."""

import ctypes
import os
import re

import pytest

import crealm
from conftest import REPOSITORY
from crealm import _library


class Note(crealm.Model):
    text: str


FLUSH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
# All members of `crealm_system_calls_t`, in their order: the library would read beyond the end of a shorter table.
HEADER = (REPOSITORY / "include/crealm_testing.h").read_text("utf-8")
MEMBERS = re.findall(r"\(\*(\w+)\)", HEADER.split("typedef struct crealm_system_calls {")[1].split("}")[0])


@pytest.fixture
def flushes():
    """A list that receives the descriptor of every flush."""
    seen = []

    @FLUSH
    def flush(fd):
        seen.append(fd)
        os.fdatasync(fd)
        return 0

    replace = ctypes.CDLL(_library.path).crealm_set_system_calls
    replace.argtypes, replace.restype = [ctypes.c_void_p], None
    table = (ctypes.c_void_p * len(MEMBERS))()
    table[MEMBERS.index("fdatasync")] = ctypes.cast(flush, ctypes.c_void_p)
    replace(table)
    yield seen
    replace(None)


def flushes_of_a_write(db, seen):
    for text in ("one", "two", "three"):
        seen.clear()
        with db.write():
            db.add(Note(text=text))
    return len(seen)


@pytest.mark.parametrize("secret", [{}, {"key": bytes(range(64))}])
@pytest.mark.parametrize("durability, wanted", [(None, 1), ("full", 1), ("two_flushes", 2), ("unsafe", 0)])
def test_flushes(tmp_path, flushes, secret, durability, wanted):
    options = {} if durability is None else {"durability": durability}
    with crealm.open(tmp_path / "notes.realm", schema=[Note], **secret, **options) as db:
        assert flushes_of_a_write(db, flushes) == wanted
    with crealm.open(tmp_path / "notes.realm", mode="r", **secret) as db:
        assert [note.text for note in db["Note"]] == ["one", "two", "three"]


def test_the_most_careful_counts(tmp_path, flushes):
    path = tmp_path / "notes.realm"
    with crealm.open(path, schema=[Note]) as db, crealm.open(path, schema=[Note], durability="two_flushes"):
        assert flushes_of_a_write(db, flushes) == 2


def test_unsafe_is_agreed_upon(tmp_path):
    path = tmp_path / "notes.realm"
    with crealm.open(path, schema=[Note]):
        with pytest.raises(crealm.Error) as raised:
            crealm.open(path, schema=[Note], durability="unsafe")
        assert raised.value.code == 2013


def test_during_a_migration(tmp_path, flushes):
    class Renamed(crealm.Model):
        words: str

        class Meta:
            name = "Note"

    path = tmp_path / "notes.realm"
    crealm.open(path, schema=[Note], schema_version=1, durability="unsafe").close()
    flushes.clear()
    crealm.open(path, schema=[Renamed], schema_version=2, migrate=lambda old, new, version: new.remove_property("Note", "text"), durability="unsafe").close()
    assert flushes == []


def test_bad_values(tmp_path):
    with pytest.raises(crealm.DataError):
        crealm.open(tmp_path / "notes.realm", schema=[Note], durability="half")
    with pytest.raises(crealm.DataError):
        crealm.open(tmp_path / "notes.realm", schema=[Note], durability="unsafe", in_memory=True)
    assert not (tmp_path / "notes.realm").exists()
