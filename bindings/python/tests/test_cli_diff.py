"""diff and watch: differences between files, and changes of a file."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Optional

import pytest

import crealm
from conftest import FIXTURES
from test_cli_import import odd, quiet

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1])}


class Room(crealm.Embedded):
    name: str


class House(crealm.Model):
    id: int = crealm.field(primary_key=True)
    street: str
    rooms: list[Room]
    next: Optional["House"]
    any: Any


class Note(crealm.Model):
    text: str
    of: Optional[House]


@pytest.fixture
def houses(tmp_path):
    """A file and a copy of it."""
    file, copy = tmp_path / "a.realm", tmp_path / "b.realm"
    with crealm.open(file, schema=[House, Note]) as db, db.write():
        db.add_many("House", [{"id": n, "street": f"street {n}"} for n in range(10)])
        for n in range(5):
            db.add(Note(text=f"note {n}", of=db[House].get(n)))
        db[House].get(3).rooms = [Room(name="kitchen"), Room(name="hall")]
        db[House].get(4).any = 1
    with crealm.open(file) as db:
        db.backup(copy)
    return file, copy


def differing(*arguments):
    code, said, out = quiet(["diff", *arguments, "--json"])
    found = json.loads(out)
    assert said == "" and code == (4 if found["schema"] or found["counts"] else 0)
    return found["schema"], [(c["change"], c["class"], c.get("$primaryKey", c.get("$key")), c["values"]) for c in found["objects"]], found["counts"]


def test_equal_files(houses):
    assert differing(*houses) == ([], [], {})
    code, said, out = quiet(["diff", *houses])
    assert (code, said, out) == (0, "", "")


def test_what_differs(houses):
    file, copy = houses
    with crealm.open(copy, schema=[House, Note]) as db, db.write():
        db[House].get(2).delete()
        db.add(House(id=20, street="new"))
        db[House].get(3).rooms[1].name = "cellar"
        db[House].get(4).any = 1.0
        db[House].get(5).next = db[House].get(6)
        db[Note][4].delete()
        db[Note][0].text = "\x1b[2Jother\n"
        db.add(Note(text="added"))
    schema, objects, counts = differing(file, copy)
    assert schema == []
    rooms = [{"name": "kitchen"}, {"name": "hall"}]
    assert objects == [
        ("removed", "House", 2, {"id": 2, "street": "street 2", "rooms": [], "next": None, "any": None}),
        ("changed", "House", 3, {"rooms": {"a": rooms, "b": [rooms[0], {"name": "cellar"}]}}),
        ("changed", "House", 4, {"any": {"a": 1, "b": 1.0}}),
        ("changed", "House", 5, {"next": {"a": None, "b": {"$primaryKey": 6, "$class": "House"}}}),
        ("added", "House", 20, {"id": 20, "street": "new", "rooms": [], "next": None, "any": None}),
        ("changed", "Note", 0, {"text": {"a": "note 0", "b": "\x1b[2Jother\n"}}),
        ("changed", "Note", 2, {"of": {"a": {"$primaryKey": 2, "$class": "House"}, "b": None}}),
        ("removed", "Note", 4, {"text": "note 4", "of": {"$primaryKey": 4, "$class": "House"}}),
        ("added", "Note", 5, {"text": "added", "of": None}),
    ]
    assert counts == {"House": {"removed": 1, "changed": 3, "added": 1}, "Note": {"removed": 1, "changed": 2, "added": 1}}
    code, _, out = quiet(["diff", file, copy])
    lines = out.splitlines()
    assert code == 4 and '~ House 4  any: 1 → 1.0' in lines and '- House 2  {"id": 2, "street": "street 2", "rooms": [], "next": null, "any": null}' in lines
    assert "House: 1 added, 1 removed, 3 changed" in lines and "\x1b" not in out
    code, _, out = quiet(["diff", file, copy, "--summary", "--class", "Note"])
    assert code == 4 and out == "Note: 1 added, 1 removed, 2 changed\n"
    assert quiet(["diff", file, copy, "--class", "Nobody"])[0] == 1


def test_schemas_that_differ(houses, tmp_path):
    file, _ = houses
    other = tmp_path / "c.realm"
    schema = [
        crealm.ClassSchema("House", {"id": int, "street": crealm.Prop(str, indexed=True), "floors": int}, primary_key="id"),
        crealm.ClassSchema("Yard", {"n": int}),
    ]
    with crealm.open(other, schema=schema, schema_version=3) as db, db.write():
        db["House"].create(1, street="street 1")
        db["Yard"].create(n=1)
    schema, objects, counts = differing(file, other)
    assert {"what": "schema version", "a": 0, "b": 3} in schema
    assert {"what": "property", "class": "House", "property": "street", "a": "str", "b": "str, indexed"} in schema
    assert {"what": "property", "class": "House", "property": "floors", "a": None, "b": "int"} in schema
    assert {"what": "class", "class": "Yard", "a": None, "b": "no primary key"} in schema
    assert counts == {"House": {"removed": 9}, "Note": {"removed": 5}, "Yard": {"added": 1}} and ("added", "Yard", 0, {"n": 1}) in objects
    assert "class Yard: nothing → no primary key" in quiet(["diff", file, other])[2].splitlines()


def test_two_keys_and_evidence(houses, tmp_path):
    file, copy = houses
    for name, key in ("a.key", bytes(64)), ("b.key", bytes(range(64))):
        (tmp_path / name).write_bytes(key)
    assert quiet(["encrypt", file, "--new-key", tmp_path / "a.key"])[0] == 0
    assert quiet(["encrypt", copy, "--new-key", tmp_path / "b.key", "--cipher", "realm"])[0] == 0
    keys = ["--key", tmp_path / "a.key", "--other-key", tmp_path / "b.key"]
    code, said, out = quiet(["diff", file, copy, *keys, "--evidence", "--immutable"])
    assert code == 0 and out == "" and said.count("sha256 before") == 2 == said.count("sha256 after")
    assert quiet(["diff", file, copy, "--key", tmp_path / "a.key"])[0] == 1


@pytest.mark.parametrize("name", ["ops/full-1", "ops/nested-1", "sdk/f23-kotlin-random-games"])
def test_files_of_others_equal_themselves(name):
    file = FIXTURES / f"{name}.realm"
    if not file.exists():
        pytest.skip("the file is not there")
    assert differing(file, file) == ([], [], {})


def test_odd_values_equal_themselves(path):
    assert differing(odd(path), path) == ([], [], {})


def test_random_changes_are_found(houses):
    """The differences agree with a model of the changes."""
    file, copy = houses
    chance = random.Random(7)
    with crealm.open(copy, schema=[House, Note]) as db:
        for _ in range(20):
            with db.write():
                number = chance.randrange(20)
                house = db[House].get(number)
                if house is None:
                    db.add(House(id=number, street=f"street {chance.randrange(3)}"))
                elif chance.random() < 0.4:
                    house.delete()
                else:
                    house.street = f"street {chance.randrange(3)}"
        after = {h.id: h.street for h in db[House]}
    with crealm.open(file, schema=[House, Note]) as db:
        before = {h.id: h.street for h in db[House]}
    found = {kind: {key for k, name, key, values in differing(file, copy, "--class", "House")[1] if k == kind} for kind in ("added", "removed")}
    assert found == {"added": after.keys() - before.keys(), "removed": before.keys() - after.keys()}
    changed = {key: v["street"] for k, name, key, v in differing(file, copy)[1] if k == "changed" and "street" in v}
    assert changed == {k: {"a": before[k], "b": after[k]} for k in before.keys() & after.keys() if before[k] != after[k]}


# ------------------------------------------------------------------------------------------------
# watch
# ------------------------------------------------------------------------------------------------


def watching(*arguments):
    process = subprocess.Popen(
        [sys.executable, "-m", "crealm", "watch", *map(str, arguments)], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline().startswith("version ")  # The watch has begun.
    return process


def change(file):
    """Writes three versions; after each yields the changes that watch must print."""
    with crealm.open(file, schema=[House, Note]) as db:
        with db.write():
            house = db.add(House(id=50, street="\x1b[31mred", rooms=[Room(name="one")]))
            db[House].get(1).delete()
        key = house.object_key
        yield [("deleted", "House", 1, None), ("inserted", "House", key, {"id": 50, "street": "\x1b[31mred", "rooms": [{"name": "one"}], "next": None, "any": None}),
               ("modified", "Note", 1, {"text": "note 1", "of": None})]  # fmt: skip
        with db.write():
            house.rooms[0].name = "two"
        yield [("modified", "House", key, {"id": 50, "street": "\x1b[31mred", "rooms": [{"name": "two"}], "next": None, "any": None})]
        with db.write():
            db[Note].delete_all()
        yield [("deleted", "Note", n, None) for n in range(5)]


def test_watch_tells_each_version(houses):
    file, _ = houses
    process = watching(file, "--json", "--commits", "3", "--for", "60")
    for expected in change(file):
        lines = [json.loads(process.stdout.readline()) for _ in expected]
        assert len({line["version"] for line in lines}) == 1
        assert sorted(((x["change"], x["class"], x["key"], x.get("values")) for x in lines), key=repr) == sorted(expected, key=repr)
    out, said = process.communicate(timeout=60)
    assert (process.returncode, out, said) == (0, "", "")


def test_watch_ends_with_ctrl_c(houses):
    file, _ = houses
    process = watching(file, "--class", "House")
    steps = change(file)
    next(steps)
    lines = sorted(process.stdout.readline() for _ in range(2))
    assert [line.split(" ", 1)[1][:9] for line in lines] == ["+ House 1", "- House 1"] and "\x1b" not in "".join(lines)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=60)
    assert (process.returncode, out, said) == (0, "", "")
    steps.close()


def test_watch_ends_when_nobody_reads(houses):
    file, _ = houses
    process = watching(file, "--for", "60")
    process.stdout.close()
    list(change(file))
    assert process.wait(60) == 0 and process.stderr.read() == ""
    process.stderr.close()


def test_watch_ends_after_its_time(houses):
    code, said, out = quiet(["watch", houses[0], "--for", "0", "--json"])
    assert code == 0 and out == "" and said.startswith("version ")


def test_versions(houses):
    file, _ = houses
    assert quiet(["versions", file])[2] == "no version is in use\n"
    with crealm.open(file) as db:
        code, _, out = quiet(["versions", file, "--json"])
        found = json.loads(out)
        assert code == 0 and [v["process"] for v in found["versions"]] == [os.getpid()] and found["snapshot"] == db.version
        assert str(os.getpid()) in quiet(["versions", file])[2]
