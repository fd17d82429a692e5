"""Editing through the Browser: each change does what it describes, can be undone completely, and never overwrites changes of others."""

import json
import random
import shutil
import subprocess
import sys
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Optional
from uuid import UUID

import pytest

from browsing import BASE, Asking, addresses

import crealm
from conftest import FIXTURES

MOMENT = datetime(2024, 5, 6, 7, 8, 9, tzinfo=timezone.utc)

EVERYTHING = [
    crealm.ClassSchema("Thing", {
        "id": int, "int": int, "intN": Optional[int], "bool": bool, "boolN": Optional[bool], "float": float, "floatN": Optional[float],
        "single": crealm.Float32, "singleN": Optional[crealm.Float32], "str": str, "strN": Optional[str], "bytes": bytes, "bytesN": Optional[bytes],
        "date": datetime, "dateN": Optional[datetime], "decimal": Decimal, "decimalN": Optional[Decimal], "uuid": UUID, "uuidN": Optional[UUID],
        "oid": crealm.ObjectId, "oidN": Optional[crealm.ObjectId], "any": Any, "link": "Thing", "note": "Note", "part": "Part",
        "ints": list[int], "strsN": list[Optional[str]], "links": list["Thing"], "parts": list["Part"], "anys": list[Any],
        "dates": set[datetime], "words": set[str], "linked": set["Thing"], "anySet": set[Any],
        "byName": dict[str, Optional[int]], "linksBy": dict[str, "Thing"], "partsBy": dict[str, "Part"], "anysBy": dict[str, Any]}, primary_key="id"),
    crealm.ClassSchema("Note", {"number": int, "about": "Thing", "text": str}),
    crealm.ClassSchema("Part", {"name": str, "size": Optional[float], "of": "Thing", "tags": list[str], "sub": "Sub"}, embedded=True),
    crealm.ClassSchema("Sub", {"deep": Any}, embedded=True),
]  # fmt: skip


@pytest.fixture
def things(path):
    with crealm.open(path, schema=EVERYTHING) as db, db.write():
        for number in range(5):
            db["Thing"].create(number, str=f"thing {number}")
        for number in range(3):
            db["Note"].create(number=number, text=f"note {number}", about=db["Thing"].get(number))
    return path


class Editing(Asking):
    """A Browser with one editable file."""

    def __init__(self, path, **options):
        super().__init__(path, is_editable=True, **options)
        self.name = path.name

    def post(self, kind, status=200, **body):
        found = self.client.post(addresses.path([self.name, kind]), json=body)
        assert found.status_code == status, found.text[:800]
        return found.json() if status == 200 else found.json()["error"]

    def edit(self, *changes, status=200, **options):
        return self.post("edit", status, changes=list(changes), **options)

    def mark(self, class_name, key, *path):
        return self.get(self.name, "class", class_name, str(key), *map(str, path))["edit"]["mark"]


def change(do, key, *path, value=None, of="Thing", **rest):
    given = {"do": do, "class": of, "key": key, "path": list(path), **rest}
    return {**given, "json": json.dumps(value)} if do in ("set", "insert", "add", "discard") else given


def content(path):
    """The contents of a file, independent of the keys of its objects."""
    with crealm.open(path, mode="snapshot") as db:
        return {
            "Thing": {thing.id: {name: plain(thing[name]) for name in db.schema["Thing"].properties} for thing in db["Thing"]},
            "Note": {note.number: {name: plain(note[name]) for name in db.schema["Note"].properties} for note in db["Note"]}}  # fmt: skip


def plain(value):
    if isinstance(value, crealm.Object):
        if value.class_name == "Thing":
            return ("Thing", value.id)
        if value.class_name == "Note":
            return ("Note", value.number)
        return {name: plain(value[name]) for name in value._bound().properties}
    if isinstance(value, crealm.Dictionary):
        return {key: plain(element) for key, element in value.items()}
    if isinstance(value, (crealm.List, crealm.SetView)):
        found = [plain(element) for element in value]
        return found if isinstance(value, crealm.List) else sorted(map(repr, found))
    return (type(value).__name__, value)


SINGLE = {
    "int": [-(2**63), 2**63 - 1, 9007199254740993], "intN": [None, 7], "bool": [True], "boolN": [None, False], "float": [-0.5, "NaN", "Infinity", 3],
    "floatN": [None, 1e300], "single": [1.5, "-Infinity"], "singleN": [None, 0.25], "str": ["", "a\0b", "\U0001f600", "x" * 100_000],
    "strN": [None, "<script>"], "bytes": ["", "AAEC"], "bytesN": [None, "/w=="],
    "date": ["2024-05-06T07:08:09.123456789Z", "0001-01-01T00:00:00Z", {"$seconds": -(10**14), "$nanoseconds": -5}], "dateN": [None],
    "decimal": ["1.50", "NaN", "-1E-6000"], "decimalN": [None, "7"], "uuid": [str(UUID(int=5))], "uuidN": [None], "oid": ["5f" * 12], "oidN": [None],
    "link": [{"$ref": 1}, None, 3], "part": [{"name": "p", "size": None, "tags": ["a"], "of": {"$ref": 2}, "sub": {"deep": [1, {"a": None}]}}, None],
    "any": [None, 1, 2.5, "text", True, {"$decimal": "2.50"}, {"$uuid": str(UUID(int=7))}, {"$objectId": "ab" * 12}, {"$bytes": "AAE="},
            {"$datetime": "2024-01-01T00:00:00Z"}, {"$float32": 0.5}, {"$float": "NaN"}, {"$ref": 4, "$class": "Thing"}, [], {},
            [1, ["two", {"three": [{"$ref": 0, "$class": "Note"}]}]], {"a": {"b": [None]}}],
    "ints": [[], [1, 2, 3]], "strsN": [["a", None]], "links": [[{"$ref": 1}, 1, 2]], "parts": [[{"name": "x"}, {"name": "y"}]], "anys": [[1, [2], {"k": 3}]],
    "dates": [["2024-05-06T07:08:09Z"]], "words": [["a", "b"]], "linked": [[{"$ref": 1}]], "anySet": [[1, "1", {"$ref": 2, "$class": "Thing"}]],
    "byName": [{"a": 1, "b": None}], "linksBy": [{"x": {"$ref": 1}, "y": None}], "partsBy": [{"x": {"name": "in"}}], "anysBy": [{"x": [1, {"y": 2}]}],
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(SINGLE))
def test_each_type_is_set_read_and_taken_back(things, name):
    before = content(things)
    with Editing(things) as editing:
        for value in SINGLE[name]:
            told = editing.edit(change("set", 0, name, value=value, mark=editing.mark("Thing", 0, name)))
            assert told["total"] == 1 and told["undo"].endswith("set")
            found = editing.get(things.name, "class", "Thing", "0", name)["edit"]
            again = editing.edit(change("set", 1, name, value=json.loads(found["json"])))
            assert again["version"] > told["version"]
            after = content(things)
            assert repr(after["Thing"][0][name]) == repr(after["Thing"][1][name])
            assert {key: one for key, one in after["Thing"][0].items() if key != name} == {
                key: one for key, one in before["Thing"][0].items() if key != name}  # fmt: skip
        for _ in range(2 * len(SINGLE[name])):
            editing.post("undo")
        assert content(things) == before and editing.get(things.name)["edit"]["undo"] is None


WRONG = [
    ("int", "x"), ("int", None), ("int", 2**63), ("int", 1.5), ("int", True), ("bool", 1), ("str", None), ("str", 5), ("bytes", "!"), ("date", "yesterday"),
    ("date", None), ("decimal", "x"), ("uuid", "5"), ("oid", "zz"), ("single", "x"), ("link", {"$ref": 99}), ("link", 99), ("link", {"id": 77}),
    ("any", {"$decimal": "x"}), ("any", {"$ref": 1, "$class": "Nothing"}), ("any", {"a.b": 1}), ("ints", None), ("ints", [1, None]), ("ints", {"a": 1}),
    ("byName", {"$a": 1}), ("part", {"nothing": 1}), ("part", {"of": {"id": 5}}), ("links", [None]), ("id", 7), ("nothing", 1),
    ("anySet", [[1]]),
]  # fmt: skip


@pytest.mark.parametrize("name,value", WRONG)
def test_what_a_property_cannot_have_is_refused_and_nothing_is_written(things, name, value):
    before = content(things)
    with Editing(things) as editing:
        version = editing.get(things.name)["version"]
        first = change("set", 1, "int", value=5)
        error = editing.edit(first, change("set", 0, name, value=value), status=404 if name == "nothing" else 400)
        assert error["change"] == 1 and error["message"]
        assert editing.get(things.name)["version"] == version and editing.get(things.name)["edit"]["undo"] is None
    assert content(things) == before


def test_bad_forms_are_refused(things):
    before = content(things)
    bad = [
        None, [], {}, [1], [{"do": "set"}], [{"do": "explode", "class": "Thing"}], [{"do": "restore", "class": "Thing", "json": "{}"}],
        [{"do": "set", "class": "Thing", "key": "0x0", "path": ["int"], "json": "1"}], [{"do": "set", "class": "Thing", "key": True, "path": ["int"]}],
        [{"do": "set", "class": "Thing", "key": 0, "path": ["int"], "json": "{"}], [{"do": "set", "class": "Thing", "key": 0, "path": [], "json": "1"}],
        [{"do": "set", "class": "Thing", "key": 0, "path": [None], "json": "1"}], [{"do": "set", "class": "Thing", "key": 0, "json": 1, "path": ["int"]}],
        [{"do": "set", "class": "Thing", "key": -1, "path": ["int"], "json": "1"}], [{"do": "set", "class": "Thing", "key": 2**70, "path": ["int"]}],
        [{"do": "set", "class": "Thing", "key": 0, "path": ["int"], "json": "[" * 100_000}], [{"do": "set", "class": "Thing", "surprise": 1}],
        [{"do": "insert", "class": "Thing", "key": 0, "path": ["words", "0"], "json": '"a"'}],
        [{"do": "insert", "class": "Thing", "key": 0, "path": ["ints", "-1"], "json": "1"}],
        [{"do": "remove", "class": "Thing", "key": 0, "path": ["int"]}], [{"do": "move", "class": "Thing", "key": 0, "path": ["words", "0"]}],
        [{"do": "add", "class": "Thing", "key": 0, "path": ["ints"], "json": "1"}], [{"do": "create", "class": "Part", "json": "{}"}],
        [{"do": "create", "class": "Thing", "json": "[]"}], [{"do": "create", "class": "Thing", "json": "{}"}],
    ]  # fmt: skip
    with Editing(things) as editing:
        for changes in bad:
            answer = editing.client.post(f"/{things.name}/edit", json={"changes": changes})
            assert answer.status_code in (400, 404) and answer.json()["error"]["message"], changes
        assert editing.edit(change("set", 0, "int", value=1, of="Nothing"), status=404)
        assert editing.client.post(f"/{things.name}/edit", content=b"[", headers={"content-type": "application/json"}).status_code == 400
        assert editing.client.post(f"/{things.name}/edit", content=b"{}", headers={"content-type": "text/plain"}).status_code == 415
        assert editing.client.post("/nothing.realm/edit", json={"changes": []}).status_code == 404
    assert content(things) == before


def test_without_edit_nothing_is_written(things):
    before = things.read_bytes()
    with Asking(things) as asking:
        for kind in ("edit", "undo", "redo", "rows", "structure", "compact", "upgrade"):
            found = asking.client.post(f"/{things.name}/{kind}", json={"changes": [change("set", 0, "int", value=1)]})
            assert found.status_code == 403 and "--edit" in found.json()["error"]["hint"]
        assert asking.get(things.name)["edit"] is None and "edit" not in asking.get(things.name, "class", "Thing", "0", "int")
    assert things.read_bytes() == before


def test_pages_of_other_sites_change_nothing(things):
    before = things.read_bytes()
    body = {"changes": [change("set", 0, "int", value=1)]}
    with Editing(things) as editing:
        token = editing.client.headers.pop("authorization")
        editing.client.get("/?token=" + token.removeprefix("Bearer "))  # From now on with a cookie, like a web client.
        for headers in (
            {}, {"origin": "http://evil.example"}, {"origin": "null"}, {"origin": f"{BASE}.evil.example"}, {"origin": "https://127.0.0.1:8123"},
            {"origin": BASE, "sec-fetch-site": "cross-site"}, {"origin": BASE, "host": "evil.example:8123"}, {"origin": BASE, "sec-fetch-site": "same-site"},
        ):  # fmt: skip
            assert editing.client.post(f"/{things.name}/edit", json=body, headers=headers).status_code in (403, 421), headers
        form = {"content-type": "text/plain", "origin": BASE}
        assert editing.client.post(f"/{things.name}/edit", content=json.dumps(body), headers=form).status_code == 415
        assert things.read_bytes() == before
        assert editing.client.post(f"/{things.name}/edit", json=body, headers={"origin": BASE}).status_code == 200


def test_a_preview_writes_nothing(things):
    before = content(things)
    with Editing(things) as editing:
        version = editing.get(things.name)["version"]
        told = editing.edit(change("delete", 1), change("set", 0, "int", value=9), preview=True)
        assert [one["do"] for one in told["changes"]] == ["delete", "set"] and told["changes"][1]["after"] == "9"
        assert editing.get(things.name)["version"] == version and content(things) == before
        done = editing.edit({**change("delete", 1), "mark": told["marks"][0]}, {**change("set", 0, "int", value=9), "mark": told["marks"][1]})
        assert done["version"] == version + 1 and 1 not in content(things)["Thing"]


# ------------------------------------------------------------------------------------------------
# Other writers
# ------------------------------------------------------------------------------------------------

OTHER = """
import crealm, sys
with crealm.open(sys.argv[1]) as db, db.write():
    thing = db["Thing"].get(int(sys.argv[2]))
    exec(sys.argv[3])
"""


def other(path, key, text):
    subprocess.run([sys.executable, "-c", OTHER, str(path), str(key), text], check=True)


SETUP = 'thing.ints.extend([1, 2, 3]); thing.parts.extend([{"name": "a"}, {"name": "b"}]); thing.byName["a"] = 1; thing.words.update(["a", "b"]); thing.any = [1, [2, 3]]'
RACES = [
    (change("set", 0, "int", value=5), "thing.int = 6"),
    (change("set", 0, "part", value={"name": "new"}), 'thing.part = {"name": "theirs"}'),
    (change("set", 0, "parts", "0", "name", value="mine"), 'thing.parts.insert(0, {"name": "a"})'),
    (change("set", 0, "parts", "1", "name", value="mine"), "del thing.parts[1]"),
    (change("set", 0, "ints", "1", value=9), "thing.ints[1] = 8"),
    (change("set", 0, "byName", "a", value=9), 'thing.byName["a"] = 8'),
    (change("set", 0, "byName", "new", value=9), 'thing.byName["new"] = 8'),
    (change("set", 0, "any", "1", "0", value=9), "thing.any[1][0] = 8"),
    (change("set", 0, "any", "1", "0", value=9), "thing.any = 8"),
    (change("insert", 0, "ints", "0", value=9), "thing.ints.insert(0, 7)"),
    (change("remove", 0, "ints", "0"), "thing.ints.insert(0, 7)"),
    (change("remove", 0, "words", "0"), 'thing.words.add("0")'),
    (change("remove", 0, "byName", "a"), 'del thing.byName["a"]'),
    (change("move", 0, "ints", "0", to=2), "thing.ints.pop()"),
    (change("delete", 0), "thing.int = 3"),
    (change("delete", 0), 'db["Thing"].get(4).link = thing'),
    (change("set", 0, "int", value=5), "thing.delete()"),
    (change("delete", 0), "thing.delete()"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RACES)))
def test_what_somebody_else_changed_is_not_written_over(things, number):
    mine, theirs = RACES[number]
    other(things, 0, SETUP)
    with Editing(things) as editing:
        mark = editing.edit(mine, preview=True)["marks"][0]
        other(things, 0, theirs)
        after = content(things)
        error = editing.edit({**mine, "mark": mark}, status=409)
        assert error["kind"] == "Conflict" and "Nothing was written" in error["message"] and error["change"] == 0
        assert content(things) == after
        if "mark" in error and mine["do"] == "set" and error["now"]["t"] != "nothing":
            editing.edit({**mine, "mark": error["mark"]})  # The user has seen the current value, and writes anyway.


@pytest.mark.parametrize("mine,theirs", [
    (change("set", 0, "int", value=5), "thing.str = 'x'"), (change("set", 0, "ints", "1", value=9), "thing.ints[0] = 8"),
    (change("set", 0, "parts", "0", "name", value="mine"), 'thing.parts[1].name = "theirs"')])  # fmt: skip
def test_what_is_beside_it_does_not_count(things, mine, theirs):
    other(things, 0, SETUP)
    with Editing(things) as editing:
        mark = editing.edit(mine, preview=True)["marks"][0]
        other(things, 0, theirs)
        editing.edit({**mine, "mark": mark})


def test_taking_back_does_not_write_over_what_others_wrote(things):
    with Editing(things) as editing:
        editing.edit(change("set", 0, "int", value=5))
        other(things, 0, "thing.int = 6")
        assert editing.post("undo", 409)["kind"] == "Conflict" and content(things)["Thing"][0]["int"] == ("int", 6)
        assert editing.get(things.name)["edit"]["undo"] is not None
        other(things, 0, "thing.int = 5")
        editing.post("undo")
        assert content(things)["Thing"][0]["int"] == ("int", 0)


@pytest.mark.parametrize("way", ["snapshot", "shared"])
def test_two_programs_and_the_pages_count_together(things, way):
    """Each repeatedly adds 1 to the value that it has seen: no addition is lost."""
    program = "import crealm, sys\nwith crealm.open(sys.argv[1]) as db:\n    for _ in range(60):\n        with db.write():\n            db['Thing'].get(0).int += 1\n"
    with Editing(things, way=way) as editing:
        others = [subprocess.Popen([sys.executable, "-c", program, str(things)]) for _ in range(2)]
        made = conflicts = 0
        while made < 30:
            found = editing.get(things.name, "class", "Thing", "0", "int")
            answer = editing.client.post(f"/{things.name}/edit", json={
                "changes": [change("set", 0, "int", value=found["cell"]["v"] + 1, mark=found["edit"]["mark"])]})  # fmt: skip
            made, conflicts = made + (answer.status_code == 200), conflicts + (answer.status_code == 409)
            assert answer.status_code in (200, 409)
        assert [one.wait(60) for one in others] == [0, 0]
    assert content(things)["Thing"][0]["int"] == ("int", 150)


# ------------------------------------------------------------------------------------------------
# Random edits
# ------------------------------------------------------------------------------------------------


def random_change(numbers, keys, notes):
    """A random change, which may be invalid."""
    key, kind = numbers.choice(keys), numbers.randrange(12)
    link = {"$ref": numbers.choice(keys)}
    part = {"name": str(numbers.random()), "of": numbers.choice([None, link]), "sub": {"deep": [{**link, "$class": "Thing"}]}}
    leaf = numbers.choice([None, 1, "x", 2.5, {**link, "$class": "Thing"}, [1, [{**link, "$class": "Thing"}]], {"a": 1}])
    if kind == 0:
        return {"do": "create", "class": "Thing", "json": json.dumps({"id": numbers.randrange(10**9), "link": link, "links": [link, link], "any": leaf})}
    if kind == 1:
        return change("delete", key)
    if kind == 2:
        return change("delete", numbers.choice(notes), of="Note") if notes else change("delete", key)
    if kind == 3:
        return {"do": "create", "class": "Note", "json": json.dumps({"number": numbers.randrange(10**9), "about": link})}
    if kind == 4:
        name = numbers.choice(["ints", "links", "parts", "anys"])
        return change("insert", key, name, numbers.randrange(4), value={"ints": 4, "links": link, "parts": part, "anys": leaf}[name])
    if kind == 5:
        return change("remove", key, numbers.choice(["ints", "links", "parts", "anys", "words", "linked", "any"]), numbers.randrange(3))
    if kind == 6:
        return change("move", key, numbers.choice(["ints", "links", "parts", "anys"]), numbers.randrange(3), to=numbers.randrange(3))
    if kind == 7:
        return numbers.choice([change("add", key, "linked", value=link), change("add", key, "words", value=numbers.choice("abc"))])
    if kind == 8:
        name = numbers.choice(["linksBy", "partsBy", "anysBy"])
        return change(numbers.choice(["set", "set", "remove"]), key, name, numbers.choice("abc"), value={"linksBy": link, "partsBy": part, "anysBy": leaf}[name])
    if kind == 9:
        return change("set", key, "parts", numbers.randrange(2), "sub", value={"deep": leaf})
    name, value = numbers.choice([("any", leaf), ("link", link), ("part", part), ("int", numbers.randrange(9)), ("str", str(numbers.random()))])
    return change("set", key, name, value=value)


@pytest.mark.parametrize("seed", range(1, 9))
def test_random_edits_are_taken_back_and_made_again(things, seed):
    """After each undo and redo the file has the contents from that time, although objects were deleted and created again."""
    numbers = random.Random(seed)
    with Editing(things) as editing:
        states = [content(things)]
        refused = 0
        while len(states) < 30:
            with crealm.open(things, mode="snapshot") as db:
                keys, notes = [one.object_key for one in db["Thing"]], [one.object_key for one in db["Note"]]
            if not keys:
                break
            changes = [random_change(numbers, keys, notes) for _ in range(numbers.choice([1, 1, 1, 2, 3]))]
            told = editing.client.post(f"/{things.name}/edit", json={"changes": changes})
            if told.status_code == 200:
                assert told.json()["lost"] == 0
                states.append(content(things))
            else:
                refused += 1
                assert told.status_code in (400, 404, 409), told.text
                assert content(things) == states[-1]
        assert refused and len(states) > 10
        at = len(states) - 1
        for _ in range(50):
            way = numbers.choice(["undo", "undo", "redo"])
            step = -1 if way == "undo" else 1
            if 0 <= at + step < len(states):
                editing.post(way)
                at += step
                assert content(things) == states[at], (way, at)
            else:
                editing.post(way, 400)
        while at:
            editing.post("undo")
            at -= 1
        assert content(things) == states[0]
    with crealm.open(things) as db:
        assert not db.verify()


# ------------------------------------------------------------------------------------------------
# Files
# ------------------------------------------------------------------------------------------------


def test_an_older_format_is_only_upgraded_when_somebody_says_so(tmp_path):
    old = sorted((FIXTURES.parent / "old").glob("f09*.realm")) or sorted((FIXTURES / "old").glob("f09*.realm"))
    if not old:
        pytest.skip("no files of older formats")
    file = tmp_path / "old.realm"
    shutil.copy(old[0], file)
    before = file.read_bytes()
    for way in ("snapshot", "shared"):
        with Editing(file, way=way) as editing:
            overview = editing.get(file.name)
            assert overview["edit"]["upgrade"] is True
            name = overview["classes"][0]["name"]
            assert editing.edit({"do": "create", "class": name, "json": "{}"}, status=409)["kind"] == "NeedsUpgrade"
            structure = [{"do": "remove-class", "class": name}]
            assert editing.post("structure", 409, changes=structure)["kind"] == "NeedsUpgrade"
        assert file.read_bytes() == before
    with Editing(file, way="shared") as editing:
        editing.get(file.name)
        assert editing.post("upgrade")["upgrade"] is False
        assert crealm.file_info(file).format == 24 and list(tmp_path.glob("*backup*"))
        assert editing.get(file.name)["format"] == 24


def test_an_encrypted_file_is_edited_with_its_key(things, tmp_path):
    sealed = tmp_path / "sealed.realm"
    with crealm.open(things) as db:
        db.backup(sealed, key=bytes(64))
    with Editing(sealed) as editing:
        assert editing.edit(change("set", 0, "int", value=5), status=423)
        editing.post("key", key="00" * 64)
        editing.edit(change("set", 0, "int", value=5))
    with crealm.open(sealed, key=bytes(64), mode="snapshot") as db:
        assert db["Thing"].get(0).int == 5


def test_a_writer_that_does_not_end_is_waited_for_a_while(things, monkeypatch):
    from crealm.browse import files

    monkeypatch.setattr(files, "_PATIENCE", 0.2)
    holder = "import crealm, sys\nwith crealm.open(sys.argv[1]) as db, db.write():\n    print('here', flush=True)\n    sys.stdin.read()\n"
    process = subprocess.Popen([sys.executable, "-c", holder, str(things)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "here\n"
        with Editing(things) as editing:
            assert editing.edit(change("set", 0, "int", value=5), status=503)["kind"] == "TimedOut"
            assert editing.get(things.name, "class", "Thing")["total"] == 5  # Readers do not wait.
    finally:
        process.communicate()


def test_rows_are_pasted(things):
    with Editing(things) as editing:
        text = 'id\tstr\tdateN\tints\tany\n100\t"two\nlines"\t2024-01-01T00:00:00Z\t[1, 2]\t{"a": 1}\n101\tx\t\t\t7\n'
        body = {"class": "Thing", "format": "tsv", "text": text}
        assert editing.post("rows", preview=True, **body)["total"] == 2 and 100 not in content(things)["Thing"]
        editing.post("rows", **body)
        found = content(things)["Thing"]
        assert found[100]["str"] == ("str", "two\nlines") and found[100]["ints"] == [("int", 1), ("int", 2)] and found[101]["any"] == ("int", 7)
        assert editing.post("rows", 409, **body)["change"] == 0  # The primary keys already exist.
        editing.post("rows", **{**body, "format": "csv", "text": 'id,link,note\n200,100,\n'})
        assert content(things)["Thing"][200]["link"] == ("Thing", 100)
        editing.post("rows", **{**body, "format": "json", "text": json.dumps([{"$key": 1, "id": 300, "part": {"name": "p"}}])})
        assert content(things)["Thing"][300]["part"]["name"] == ("str", "p")
        for form, bad in (("csv", "id,nothing\n1,2\n"), ("csv", ""), ("csv", 'id\n"1'), ("json", "["), ("json", "[1]"), ("xml", "<a/>"), ("csv", "id\nx\n")):
            assert editing.client.post(f"/{things.name}/rows", json={**body, "format": form, "text": bad}).status_code in (400, 404), (form, bad)
        for _ in range(3):
            editing.post("undo")
        assert sorted(content(things)["Thing"]) == [0, 1, 2, 3, 4]


def test_classes_are_changed(things):
    prop = {"name": "extra", "type": "str", "optional": True, "indexed": True}
    added = [
        {"do": "add-class", "class": "Dog", "primaryKey": "id", "properties": [{"name": "id", "type": "int"}, {"name": "of", "type": "link", "class": "Thing"}]},
        {"do": "add-property", "class": "Thing", "property": prop}]  # fmt: skip
    with Editing(things) as editing:
        editing.edit(change("set", 0, "int", value=5))
        shape = editing.get(things.name)["shape"]
        told = editing.post("structure", changes=added, preview=True)
        assert editing.get(things.name)["shape"] == shape
        assert len(told["steps"]) == 2 and not told["migration"] and "Dog" not in [one["name"] for one in editing.get(things.name)["classes"]]
        editing.post("structure", changes=added)
        assert editing.get(things.name)["shape"] != shape
        assert "Dog" in [one["name"] for one in editing.get(things.name)["classes"]] and editing.get(things.name)["edit"]["undo"] is None
        moved = [{"do": "rename-property", "class": "Thing", "name": "str", "to": "text"}, {"do": "remove-property", "class": "Note", "name": "text"},
                 {"do": "remove-class", "class": "Dog"}]  # fmt: skip
        told = editing.post("structure", changes=moved)
        assert told["migration"] and told["versionAfter"] == told["versionBefore"] + 1
        for bad in (
            [{"do": "add-class", "class": "Thing", "properties": []}], [{"do": "remove-class", "class": "Part"}], [{"do": "remove-class", "class": "No"}],
            [{"do": "rename-property", "class": "Thing", "name": "text", "to": "int"}], [{"do": "remove-property", "class": "Thing", "name": "id"}],
            [{"do": "add-property", "class": "Thing", "property": {"name": "x", "type": "nothing"}}], [{"do": "explode"}], [], None, [1],
            [{"do": "add-property", "class": "Thing", "property": {"name": "x", "type": "link", "class": "No"}}],
            [{"do": "add-property", "class": "Thing", "property": {"name": "x" * 256, "type": "int"}}],
            [{"do": "add-property", "class": "Thing", "property": {"name": "x", "type": "int", "collection": "heap"}}],
            [{"do": "add-class", "class": "Cat", "primaryKey": "id", "properties": []}],
        ):  # fmt: skip
            answer = editing.client.post(f"/{things.name}/structure", json={"changes": bad})
            assert answer.status_code in (400, 404), (bad, answer.text)
    with crealm.open(things, mode="snapshot") as db:
        assert db.schema_version == told["versionAfter"] and "Dog" not in db and "text" not in db.schema["Note"].properties
        assert [thing.text for thing in db["Thing"]] == [f"thing {number}" for number in range(5)] and "extra" in db.schema["Thing"].properties


@pytest.mark.parametrize("way", ["snapshot", "shared"])
def test_the_file_is_rewritten_without_its_free_space(things, way):
    with crealm.open(things) as db:
        with db.write():
            db["Thing"].get(0).bytes = bytes(3_000_000)
        with db.write():
            db["Thing"].get(0).bytes = b""
    before = content(things)
    with Editing(things, way=way) as editing:
        editing.get(things.name, "class", "Thing")
        told = editing.post("compact")
        assert told["done"] and told["after"] < told["before"] // 10 and editing.get(things.name)["size"] == told["after"]
        holder = "import crealm, sys\nwith crealm.open(sys.argv[1]) as db:\n    print('here', flush=True)\n    sys.stdin.read()\n"
        process = subprocess.Popen([sys.executable, "-c", holder, str(things)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout.readline() == "here\n"
            with crealm.open(things) as db:
                with db.write():
                    db["Thing"].get(0).bytes = bytes(900_000)
                with db.write():
                    db["Thing"].get(0).bytes = b""
            told = editing.post("compact")  # The holder keeps its version, which lacks the bytes.
            assert told["done"] is False and told["after"] < told["before"] // 2
        finally:
            process.communicate()
    assert content(things) == before


# ------------------------------------------------------------------------------------------------
# Large values and obstacles
# ------------------------------------------------------------------------------------------------


def test_marks_and_forms_read_no_more_than_a_page(path, monkeypatch):
    """A list of lists of lists: counts that no more values are read than the limit allows."""
    from crealm.browse import api, marks

    monkeypatch.setattr(marks, "_MOST", 300)
    monkeypatch.setattr(api, "_EDITED_ELEMENTS", 300)
    with crealm.open(path, schema=EVERYTHING) as db:
        with db.write():
            db["Thing"].create(0, any=[[[number] * 30 for _ in range(30)] for number in range(30)])
        looked = []
        facts = marks._Marking.facts
        monkeypatch.setattr(marks._Marking, "facts", lambda self, value: looked.append(1) or facts(self, value))
        first = marks.place_mark(db["Thing"][0], ["any"])
        assert 300 <= len(looked) < 340
        with db.write():
            db["Thing"][0].any[0][0][0] = -1
        assert marks.place_mark(db["Thing"][0], ["any"]) != first
    with Editing(path) as editing:
        found = editing.get(path.name, "class", "Thing", "0", "any")
        assert "json" not in found["edit"] and found["total"] == 30 and len(found["items"]) == 30
        assert "json" in editing.get(path.name, "class", "Thing", "0", "any", "1", "1")["edit"]


def test_more_links_than_can_come_back_are_told_before(things, monkeypatch):
    from crealm.browse import changes

    monkeypatch.setattr(changes, "_LINKING", 3)
    with crealm.open(things) as db, db.write():
        for thing in db["Thing"]:
            thing.link = db["Thing"].get(0)
    with Editing(things) as editing:
        told = editing.edit(change("delete", 0), preview=True)
        assert told["lost"] == 6  # One of them is of a note.
        editing.edit({**change("delete", 0), "mark": told["marks"][0]})
        editing.post("undo")
        assert content(things)["Thing"][0]["str"] == ("str", "thing 0") and content(things)["Thing"][1]["link"] == ("NoneType", None)


def test_links_inside_values_of_any_type_come_back(things):
    with crealm.open(things) as db, db.write():
        zero = db["Thing"].get(0)
        db["Thing"].get(1).any = [1, {"a": [zero]}]
        db["Thing"].get(2).any = zero
        db["Thing"].get(3).anysBy["x"] = [zero]
        db["Thing"].get(4).anySet.add(zero)
    before = content(things)
    with Editing(things) as editing:
        assert editing.edit(change("delete", 0))["lost"] == 0
        editing.post("undo")
    assert content(things) == before


@pytest.mark.parametrize("way", ["snapshot", "shared"])
def test_a_file_that_cannot_be_written_is_shown(things, way):
    import os

    things.chmod(0o444)
    try:
        if os.access(things, os.W_OK):
            pytest.skip("this user may write everything")
        with Editing(things, way=way) as editing:
            assert editing.get(things.name, "class", "Thing")["total"] == 5
            assert editing.edit(change("set", 0, "int", value=1), status=403)
    finally:
        things.chmod(0o644)


def test_a_damaged_file_is_shown_and_not_changed(things):
    data = bytearray(things.read_bytes())
    data[200:2000] = bytes(1800)
    damaged = things.parent / "damaged.realm"
    damaged.write_bytes(data)
    with Editing(damaged) as editing:
        for parts in ([], ["class", "Thing"], ["check"]):
            assert editing.client.get(addresses.path([damaged.name, *parts]) + ".json").status_code < 500
        assert editing.client.post(f"/{damaged.name}/edit", json={"changes": [change("set", 0, "int", value=1)]}).status_code < 500
