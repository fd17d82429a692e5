"""import: the output of export, in every format, becomes the same file again."""

import csv
import importlib.util
import io
import json
import math
import os
import random
import shutil
import sqlite3
import struct
import sys
import uuid
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, Optional

import pytest

import crealm
from conftest import FIXTURES
from crealm._marshal import decimal_to_bits
from crealm.cli import main

_needs_pyarrow = pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="pyarrow is not there")
_needs_xlsx = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("openpyxl", "xlsxwriter")), reason="the packages for .xlsx are not there")
FORMATS = ["json", "ndjson", "sqlite", "csv", pytest.param("xlsx", marks=_needs_xlsx), *(pytest.param(kind, marks=_needs_pyarrow) for kind in ("parquet", "arrow"))]
# The formats whose files have no schema.
NO_SCHEMA = ["csv"]
IN_FOLDERS = ["csv", "parquet", "arrow"]
NAMES = sorted(
    f.relative_to(FIXTURES).with_suffix("").as_posix()
    for folder in ("sdk", "ops")
    for f in (FIXTURES / folder).glob("*.realm")
    if not f.name.startswith("f09")  # Its format is too old to be opened.
)
# Large files, and several of the same kind, only with CREALM_ALL_ROUND_TRIPS=1.
SAMPLE = [name for name in NAMES if name.endswith("full-1") or (FIXTURES / f"{name}.realm").stat().st_size < 100_000]
IS_WHOLE = bool(os.environ.get("CREALM_ALL_ROUND_TRIPS"))


def dump(db):
    """The contents of a file; links as class and position of the object, because its key may differ."""
    places = {name: {obj.object_key: place for place, obj in enumerate(db[name])} for name in db.classes}

    def plain(value):
        if isinstance(value, crealm.Object):
            if value._is_embedded_object():
                return {"embedded": value.class_name, **{name: plain(element) for name, element in value._entries()}}
            return "link", value.class_name, places[value.class_name][value.object_key]
        if isinstance(value, crealm.Dictionary):
            return {key: plain(element) for key, element in value.items()}
        if isinstance(value, (crealm.List, crealm.SetView)):
            return [type(value).__name__, *map(plain, value)]
        if isinstance(value, float):
            return type(value).__name__, "nan" if math.isnan(value) else struct.pack("d", value)
        if isinstance(value, Decimal):
            return "Decimal", decimal_to_bits(value)
        if isinstance(value, datetime):
            return "time", crealm.timestamp_ns(value)
        return type(value).__name__, value

    # A new file has no classes without properties, and none that cannot be declared.
    return {
        name: (db.schema[name], len(db[name]), None if db.schema[name].embedded else [{n: plain(v) for n, v in o._entries()} for o in db[name]])
        for name in db.classes
    }


def quiet(arguments):
    """Runs a command, and returns its exit code, its standard error output and its standard output."""
    before, sys.stderr, out, sys.stdout = sys.stderr, io.StringIO(), sys.stdout, io.StringIO()
    try:
        code = main(list(map(str, arguments)))
        return code, sys.stderr.getvalue(), sys.stdout.getvalue()
    finally:
        sys.stderr, sys.stdout = before, out


def round_trip(source, kind, folder, *secret):
    """Exports and imports a file. Returns the path of the new file, and the losses that the export reported."""
    out, new, schema = folder / ("out" if kind in IN_FOLDERS else f"out.{kind}"), folder / "new.realm", folder / "schema.json"
    code, said, _ = quiet(["export", source, out, "--format", kind, *secret])
    assert code == 0, said
    lost = [line for line in said.splitlines() if "cannot carry" in line]
    options = []
    if kind in NO_SCHEMA:
        code, said, text = quiet(["schema", source, "--json", *secret])
        assert code == 0, said
        schema.write_text(text, encoding="utf-8")
        options = ["--schema", schema]
    code, said, _ = quiet(["import", new, out, "--format", kind, *options])
    assert code == 0, said
    return new, lost


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", NAMES if IS_WHOLE else SAMPLE)
def test_what_is_exported_and_imported_is_the_same(name, kind, tmp_path):
    source = FIXTURES / f"{name}.realm"
    key = source.with_suffix(".key")
    secret = ["--key", key] if key.exists() else []
    with crealm.open(source, mode="snapshot", key=key.read_bytes() if secret else None) as db:
        new, lost = round_trip(source, kind, tmp_path, *secret)
        with crealm.open(new) as made:
            assert made.verify() == []
            assert made.schema_version == db.schema_version or db.schema_version is None
            compare(dump(db), dump(made), lost)


def compare(was, now, lost):
    """Asserts that the files are equal, except for the losses that the export reported."""
    losses = {
        "empty texts": lambda a, b: a in (("str", ""), ("bytes", b"")) and b == ("NoneType", None),
        "NUL": lambda a, b: a[0] == b[0] == "str" and a[1].replace("\0", "") == b[1],
        "parts of a millisecond": lambda a, b: a[0] == b[0] == "time" and a[1] // 10**6 * 10**6 == b[1],
    }
    allowed = [losses[word] for word in losses if any(word in line for line in lost)]

    def same(a, b):
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
        if isinstance(a, list) and isinstance(b, list):
            return len(a) == len(b) and all(map(same, a, b))
        return a == b or any(is_loss(a, b) for is_loss in allowed)

    # A new file has no table for a class without properties.
    was = {name: facts for name, facts in was.items() if facts[0].properties}
    assert list(was) == list(now)
    for name, (schema, count, objects) in was.items():
        assert (now[name][0].primary_key, now[name][0].embedded) == (schema.primary_key, schema.embedded)
        assert now[name][0].properties == schema.properties and now[name][1] == count, name
        if objects is not None:
            for number, (before, after) in enumerate(zip(objects, now[name][2])):
                for prop in before:
                    assert same(before[prop], after[prop]), f"{name} {number} {prop}: {before[prop]} became {after[prop]}"


HOSTILE = "line\r\nbreak\x1b[31m\u202e\x00\x85,\"';\t=1+1"


def odd(path):
    """A file with names that the formats use themselves, extreme values, keys with gaps, and links in all places."""
    schema = [
        crealm.ClassSchema("$schema", {"$key": int, "$class": Optional[float], "$ref": str, "ref": "$schema", "sqlite_x": list[Optional[float]]}),
        crealm.ClassSchema("../up", {"many": list["../up"], "by": dict[str, "$schema"], "any": Any, "anys": list[Any], "notes": dict[str, Any]}),
        crealm.ClassSchema("Part", {"n": int, "to": "../up", "parts": list["Bit"]}, embedded=True),
        crealm.ClassSchema("Bit", {"n": int, "some": list["Atom"]}, embedded=True),
        crealm.ClassSchema("Atom", {"n": Optional[int]}, embedded=True),
        crealm.ClassSchema("Whole", {"id": Optional[str], "part": "Part", "parts": dict[str, "Part"], "when": Optional[datetime]}, primary_key="id"),
        crealm.ClassSchema("whole", {"Id": int, "id": Optional[bytes], "some": set[Any], "any": Any, "any$type": Optional[str]}),
    ]
    with crealm.open(path, schema=schema, schema_version=7) as db, db.write():
        for n in range(5):
            db["$schema"].create(**{"$key": n, "$class": math.nan if n % 2 else None, "$ref": HOSTILE, "sqlite_x": [math.nan, None, -0.0, math.inf]})
        first = db["$schema"].first()
        db["$schema"][1].delete()
        db["$schema"][2].delete()
        db["$schema"][1].ref = db["$schema"][1]
        anys = [None, 1, 1.0, True, "1", "", "true", "[", HOSTILE, b"", b"\0", Decimal("NaN123"), Decimal("-0E-6176"), uuid.UUID(int=1),
                crealm.ObjectId(bytes(12)),
                crealm.Float32(0.1), crealm.Float32(math.nan), math.nan, -0.0, -math.inf,
                crealm.RawTimestamp(-10**15, -5), crealm.Timestamp.from_ns(-1), first,
                [1, {"a": [first, b"x"]}], {"x": {"y": []}}, 2**63 - 1, -(2**63)]  # fmt: skip
        for n, value in enumerate(anys):
            db["../up"].create(any=value, anys=anys[: n + 1], notes={"k": value, HOSTILE: n}, by={"": first, "none": None})
        db["../up"][0].many = [db["../up"][26], db["../up"][0], db["../up"][26]]
        part = {"n": 1, "to": db["../up"][3], "parts": [{"n": 2, "some": [{"n": 3}, {}]}]}
        db["Whole"].create(None, part=part, parts={"a": part, "b": None}, when=crealm.RawTimestamp(10**15, 999_999_999))
        db["Whole"].create("x", when=crealm.Timestamp.from_ns(123456789))
        db["whole"].create(Id=1, id=b"\xff", some=[value for value in anys if not isinstance(value, (list, dict))], any=db["Whole"].first())
    return path


@pytest.mark.parametrize("kind", FORMATS)
def test_odd_names_and_values(kind, path, tmp_path):
    new, lost = round_trip(odd(path), kind, tmp_path)
    with crealm.open(path) as db, crealm.open(new) as made:
        compare(dump(db), dump(made), lost)
        assert made.verify() == []
        for name in db.classes:
            if not db.schema[name].embedded:
                assert [obj.object_key for obj in made[name]] == [obj.object_key for obj in db[name]]
    assert not [f for f in tmp_path.parent.iterdir() if f.name.startswith("up")]


def test_an_import_tells_what_it_did(path, tmp_path):
    odd(path)
    assert quiet(["export", path, tmp_path / "a.json"])[0] == 0
    code, _, said = quiet(["import", tmp_path / "new.realm", tmp_path / "a.json", "--json"])
    assert code == 0 and json.loads(said)["classes"] == {"$schema": 3, "../up": 27, "Whole": 2, "whole": 1} and json.loads(said)["objects"] == 33


class Town(crealm.Model):
    name: str = crealm.field(primary_key=True)
    people: int
    twin: Optional["Town"]


@pytest.fixture
def towns(path):
    with crealm.open(path, schema=[Town]) as db, db.write():
        oslo = db.add(Town(name="Oslo", people=700_000))
        db.add(Town(name="Bergen", people=280_000, twin=oslo))
    return path


@pytest.mark.parametrize("kind", FORMATS)
def test_into_a_file_that_is_there(towns, kind, tmp_path):
    file = tmp_path / "there.realm"
    with crealm.open(file, schema=[Town]) as db, db.write():
        db.add(Town(name="Rome", people=1))
        db.add(Town(name="Bergen", people=2))
    out = tmp_path / f"Town.{kind}"
    assert quiet(["export", towns, out])[0] == 0
    before = file.read_bytes()
    code, said, _ = quiet(["import", file, out])
    assert code == 1 and "primary key 'Bergen'" in said and file.read_bytes()[:24] == before[:24]
    assert quiet(["import", file, out, "--update", "all"])[0] == 0
    with crealm.open(file, schema=[Town]) as db:
        assert {t.name: (t.people, t.twin and t.twin.name) for t in db[Town]} == {
            "Rome": (1, None), "Oslo": (700_000, None), "Bergen": (280_000, "Oslo")}  # fmt: skip
    other = tmp_path / "other.realm"
    crealm.open(other, schema=[crealm.ClassSchema("Town", {"name": str, "people": str}, primary_key="name")]).close()
    if kind not in NO_SCHEMA:
        code, said, _ = quiet(["import", other, out])
        assert code == 1 and "Town.people is int in the source, str in the file" in said


def test_an_update_writes_only_what_differs(path, tmp_path):
    """Equal values are not written, so observers of the file are not called for them."""
    odd(path)
    whole = tmp_path / "whole.json"
    assert quiet(["export", path, whole, "--class", "Whole", "--class", "../up"])[0] == 0
    rows = json.loads(whole.read_text(encoding="utf-8"))
    kept = [row for row in rows["Whole"] if row["id"] is not None]
    kept[0]["part"] = {"n": 5, "to": None, "parts": [{"n": 6, "some": []}]}
    whole.write_text(json.dumps({"$schema": rows["$schema"], "Whole": kept}), encoding="utf-8")
    with crealm.open(path) as db, db["Whole"].observe(lambda change: told.append(change)):
        told = []
        db.wait_for_change(0)
        for expected in [db["Whole"].get("x")], []:
            told.clear()
            assert quiet(["import", path, whole, "--update", "modified"])[0] == 0
            db.refresh()
            assert [db["Whole"][place] for change in told for place in change.modifications] == expected
        assert db["Whole"].get("x").part.parts[0].n == 6


@pytest.mark.parametrize("kind", ["ndjson", "sqlite"])
def test_links_to_what_is_left_out(path, kind, tmp_path):
    odd(path)
    out, new = tmp_path / f"a.{kind}", tmp_path / "new.realm"
    assert quiet(["export", path, out, "--class", "../up", "--class", "Whole"])[0] == 0
    code, said, _ = quiet(["import", new, out])
    assert code == 1 and "--drop-links" in said and not new.exists()
    code, said, text = quiet(["import", new, out, "--drop-links", "--json"])
    with crealm.open(path) as db, crealm.open(new) as made:
        # One in the dictionary of each object, and more in values of type Any.
        assert code == 0 and json.loads(text)["droppedLinks"] > len(db["../up"]) and "nowhere" in said
        assert [o.by.copy() for o in made["../up"]] == [{"": None, "none": None}] * len(db["../up"])
        assert [len(o.many) for o in made["../up"]] == [len(o.many) for o in db["../up"]]
        assert made["Whole"].get(None).part.to.object_key == db["Whole"].get(None).part.to.object_key and made.verify() == []


def test_csv_of_others(tmp_path):
    text = '\ufeffid,price,paid,when,note\n1,2.5,true,2024-01-02 03:04:05,"a, b"\n2,-1e3,false,2024-01-02T03:04:05.5Z,\n\n'
    (tmp_path / "Sale.csv").write_text(text, encoding="utf-8")
    new = tmp_path / "new.realm"
    assert quiet(["import", new, tmp_path / "Sale.csv"])[0] == 0
    with crealm.open(new) as db:
        assert {name: str(prop) for name, prop in db.schema["Sale"].properties.items()} == {
            "id": "int", "price": "float", "paid": "bool", "when": "datetime", "note": "Optional[str]"}  # fmt: skip
        assert [o.to_dict() for o in db["Sale"]] == [
            {"id": 1, "price": 2.5, "paid": True, "when": datetime(2024, 1, 2, 3, 4, 5, tzinfo=timezone.utc), "note": "a, b"},
            {"id": 2, "price": -1000.0, "paid": False, "when": datetime(2024, 1, 2, 3, 4, 5, 500_000, tzinfo=timezone.utc), "note": None},
        ]
    (tmp_path / "Long.csv").write_text("text\n" + "x" * 200_000 + "\n", encoding="utf-8")
    limit = csv.field_size_limit()
    assert quiet(["import", tmp_path / "long.realm", tmp_path / "Long.csv", "--class", "Text"])[0] == 0 and csv.field_size_limit() == limit
    with crealm.open(tmp_path / "long.realm") as db:
        assert len(db["Text"][0].text) == 200_000


def test_csv_with_numbers_of_other_forms(tmp_path):
    """Without a schema a column is guessed as numbers only if no text loses its form."""
    columns = {
        "zip": ("00501", "10001", str), "plus": ("+5", "6", str), "python": ("1_000", "7", str), "large": ("9223372036854775809", "1", str),
        "int": ("9223372036854775807", "-5", int), "float": ("1.5", "9007199254740992", float), "exact": ("1.5", "9007199254740993", str),
        "zero": ("-0", "5", float), "far": ("1e999", "1", str)}
    lines = [",".join(columns), *(",".join(values[row] for values in columns.values()) for row in (0, 1))]
    (tmp_path / "N.csv").write_text("\n".join(lines), encoding="utf-8")
    code, err, out = quiet(["import", tmp_path / "n.realm", tmp_path / "N.csv"])
    assert code == 0, err
    with crealm.open(tmp_path / "n.realm", mode="r") as db:
        assert {name: prop.type for name, prop in db["N"].schema.properties.items()} == {name: values[2] for name, values in columns.items()}
        first = db["N"][0]
        assert (first.zip, first.plus, first.python, first.large, first.int) == ("00501", "+5", "1_000", "9223372036854775809", 2**63 - 1)


@pytest.mark.parametrize(
    "name, text, value",
    [("n", "00501", 501), ("n", "+5", 5), ("x", "+1.50", 1.5), ("x", "00.5", 0.5), ("x", "3", 3.0), ("d", "+01.50", Decimal("1.50")), ("b", "true", True),
     ("n", "1_000", None), ("n", " 5", None), ("n", "1.0", None), ("n", "9223372036854775808", None), ("x", "1_0.5", None), ("d", "1_000", None),
     ("b", "yes", None), ("any", "9223372036854775809", None), ("any", "00501", "00501"), ("any", "1_000", "1_000"), ("any", "12", 12)])
def test_csv_for_properties_of_a_type(tmp_path, name, text, value):
    """With a schema, integers are digits with a sign; other texts are an error that names the line and the property. The same for add_many()."""
    schema = [crealm.ClassSchema("N", {"id": int, "n": int, "x": float, "d": Decimal, "b": bool, "any": Any}, primary_key="id")]
    source = tmp_path / "N.csv"
    source.write_text(f"id,{name}\n1,{'true' if name == 'b' else 1}\n2,{text}\n", encoding="utf-8")
    with crealm.open(tmp_path / "n.realm", schema=schema):
        pass
    code, err, _ = quiet(["import", tmp_path / "n.realm", source])
    with crealm.open(tmp_path / "n.realm") as db:
        if value is None:
            assert code == 1 and f"N.{name}" in err and "line 3" in err and "JSON" not in err and len(db["N"]) == 0, err
        else:
            assert code == 0 and db["N"].get(2)[name] == value and type(db["N"].get(2)[name]) is type(value), err
        with db.write():
            db["N"].delete_all()
        if name == "any":
            return
        if value is None:
            with pytest.raises(crealm.DataError, match=rf"Row 1: N\.{name}"), db.write():
                db.add_many("N", str(source))
        else:
            with db.write():
                db.add_many("N", str(source))
            assert db["N"].get(2)[name] == value


def test_csv_with_another_delimiter(tmp_path):
    source, new = tmp_path / "S.csv", tmp_path / "s.realm"
    source.write_text("a;b\n1;x\n", encoding="utf-8")
    code, err, _ = quiet(["import", new, source])
    assert code == 1 and "--delimiter ';'" in err and not new.exists()
    assert quiet(["import", new, source, "--delimiter", ";"])[0] == 0
    with crealm.open(new) as db:
        assert (db["S"][0].a, db["S"][0].b) == (1, "x")
        with pytest.raises(crealm.DataError, match="';' in it"), db.write():
            db.add_many("S", str(source))
    source.write_text("a;b\n1\n", encoding="utf-8")
    assert quiet(["import", tmp_path / "one.realm", source, "--delimiter", ","])[0] == 0  # The name of the column has the semicolon in it.
    source.write_text("a\tb\n1\tx\n", encoding="utf-8")
    assert quiet(["import", tmp_path / "tab.realm", source, "--delimiter", "tab"])[0] == 0
    for wrong in ("", "ab", '"'):
        assert quiet(["import", tmp_path / "no.realm", source, "--delimiter", wrong])[0] == 1


def test_csv_of_a_head_only(tmp_path):
    """It creates the class, with properties of type str, and reports that there are no objects."""
    source, new = tmp_path / "Town.csv", tmp_path / "t.realm"
    source.write_text("name,people\n", encoding="utf-8")
    code, err, out = quiet(["import", new, source])
    assert code == 0 and "0 objects of 1 class" in out and "Town: the source has no object of it" in err
    with crealm.open(new) as db:
        assert len(db["Town"]) == 0 and list(db["Town"].schema.properties) == ["name", "people"]
    code, err, out = quiet(["import", new, source])
    assert code == 0 and "0 objects of 1 class" in out and "Town: the source has no object of it" in err


def test_links_by_primary_key(towns, tmp_path):
    with crealm.open(towns) as db:
        people = [obj.name for obj in db["Town"]]
    (tmp_path / "Town.csv").write_text("name,people,twin\nParis,1,Lyon\nLyon,2,Oslo\n", encoding="utf-8")
    assert quiet(["import", towns, tmp_path / "Town.csv"])[0] == 0
    with crealm.open(towns) as db:
        assert [obj.name for obj in db["Town"]] == [*people, "Paris", "Lyon"]
        assert db["Town"].get("Paris").twin.name == "Lyon" and db["Town"].get("Lyon").twin.name == "Oslo"


@pytest.mark.parametrize("name, text, reason", [
    ("a.json", "", "is expected"),
    ("a.json", '{"$schema": {}}', "no schema"),
    ("a.json", '{"Town": [{"name": "x"', "no JSON"),
    ("a.json", '{"Town": [{"name": "x", "people": 1}]} 1', "nothing is expected"),
    ("a.json", '{"Town": ' + "[" * 100_000, "no JSON"),
    ("a.json", '{"Nobody": [{}]}', "no class 'Nobody'"),
    ("a.json", '{"Town": [{"name": "x", "nix": 1}]}', "Town.nix"),
    ("a.json", '{"Town": [{"name": "x", "people": "many"}]}', "Town.people"),
    ("a.json", '{"Town": [{"name": "x", "people": 1, "twin": {"$ref": 9, "$class": "Town"}}]}', "leads to Town 9"),
    ("a.json", '{"Town": [{"$key": 1, "name": "x", "people": 1}, {"$key": 1, "name": "y", "people": 1}]}', "have the key 1"),
    ("a.ndjson", "[]\n", "line 1"),
    ("a.ndjson", '{"$class": "Town", "name": "x"}\n{', "line 2"),
    ("Town.csv", "name,people\nx\n", "1 fields in line 2"),
    ("Town.csv", "name,people\nx,1e\n", "Town.people"),
    ("Town.csv", "name,people,twin\nx,1,nobody\n", "primary key 'nobody'"),
    ("a.sqlite", "SQLite format 3", "no SQLite file that export wrote"),
    ("a.sqlite", None, "No such file"),
    ("a.json", None, "No such file"),
    ("Town.csv", None, "No such file"),
    ("a.what", "", "says no format"),
])  # fmt: skip
def test_a_source_that_is_wrong_changes_nothing(towns, tmp_path, name, text, reason):
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    with crealm.open(towns) as db:
        before = [obj.to_dict() for obj in db["Town"]]
    code, said, _ = quiet(["import", towns, tmp_path / name])
    assert code == 1 and said.startswith("crealm: ") and reason in said, said
    with crealm.open(towns) as db:
        assert [obj.to_dict() for obj in db["Town"]] == before
    schema = tmp_path / "schema.json"
    schema.write_text(quiet(["schema", towns, "--json"])[2], encoding="utf-8")
    files = set(tmp_path.iterdir())
    assert quiet(["import", tmp_path / "new.realm", tmp_path / name, "--schema", schema])[0] == 1
    assert {file.name for file in set(tmp_path.iterdir()) - files} <= {"new.realm.management"}


def test_damaged_sqlite_files(path, tmp_path):
    odd(path)
    assert quiet(["export", path, tmp_path / "a.sqlite"])[0] == 0
    for statement in (
        'UPDATE "whole" SET "id_" = 1', 'DROP TABLE "Whole.parts"', 'UPDATE "$schema" SET "json" = \'{"classes": 1}\'', 'DELETE FROM "Part"',
        'UPDATE "Whole" SET "when" = \'{"x": 1}\'', 'UPDATE "../up" SET "any$type" = \'json\'', 'UPDATE "../up" SET "any$type" = \'link nobody\'',
        'UPDATE "../up" SET "any$type" = \'what\'',
    ):  # fmt: skip
        shutil.copy(tmp_path / "a.sqlite", tmp_path / "b.sqlite")
        file = sqlite3.connect(tmp_path / "b.sqlite")
        names = [row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        # The names in SQLite of two classes called Whole and whole.
        if '"whole"' in statement:
            statement = statement.replace('"whole"', next(f'"{n}"' for n in names if n == "whole_"))
        with file:
            file.execute(statement)
        file.close()
        code, said, _ = quiet(["import", tmp_path / "new.realm", tmp_path / "b.sqlite"])
        assert code == 1 and said.startswith("crealm: "), statement
        assert not (tmp_path / "new.realm").exists()


def test_from_the_standard_input(towns, tmp_path):
    import subprocess

    environment = {**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1])}
    command = f'"{sys.executable}" -m crealm export "{towns}" - --format ndjson | "{sys.executable}" -m crealm import new.realm - --format ndjson'
    done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "2 objects of 1 class" in done.stdout, done.stderr
    with crealm.open(tmp_path / "new.realm") as db:
        assert db["Town"].get("Bergen").twin.name == "Oslo"
    assert quiet(["import", tmp_path / "x.realm", "-"])[0] == 1


def test_into_an_encrypted_file(towns, tmp_path):
    (tmp_path / "key").write_bytes(bytes(range(64)))
    assert quiet(["export", towns, tmp_path / "a.json"])[0] == 0
    assert quiet(["import", tmp_path / "new.realm", tmp_path / "a.json", "--key", tmp_path / "key"])[0] == 0
    with pytest.raises(crealm.Error):
        crealm.open(tmp_path / "new.realm")
    with crealm.open(tmp_path / "new.realm", key=bytes(range(64))) as db:
        assert len(db["Town"]) == 2


@pytest.fixture
def shop(path):
    """Customers and orders, with links, lists and decimals."""
    schema = [
        crealm.ClassSchema("Customer", {"id": int, "name": str, "since": datetime}, primary_key="id"),
        crealm.ClassSchema("Order", {"number": int, "of": "Customer", "total": float, "price": Decimal, "tags": list[str], "at": "Address"}),
        crealm.ClassSchema("Address", {"city": str}, embedded=True),
    ]
    with crealm.open(path, schema=schema) as db, db.write():
        for n in range(50):
            db["Customer"].create(n, name=f"customer {n}", since=crealm.Timestamp.from_ns(n * 10**17 + n))
        customers = list(db["Customer"])
        for n in range(1000):
            db["Order"].create(
                number=n, of=customers[n * 7 % 50] if n % 10 else None, total=n / 4, price=Decimal(n) / 100, tags=["a", "b"][: n % 3],
                at={"city": f"city {n % 5}"})
    return path


def expected_join(db):
    """For each customer, the number of orders and the sum of their totals."""
    found = {}
    for order in db["Order"]:
        if order.of is not None:
            count, total = found.get(order.of.name, (0, 0.0))
            found[order.of.name] = count + 1, total + order.total
    return sorted((name, *facts) for name, facts in found.items())


JOIN = 'SELECT c.name, count(*), sum(o.total) FROM {order} o JOIN {customer} c ON o."of" = c."$key" GROUP BY c.name ORDER BY c.name'
TOTALS = "SELECT count(*), sum(total), sum(number), count(\"of\") FROM {order}"


def test_sqlite_reads_what_is_exported(shop, tmp_path):
    assert quiet(["export", shop, tmp_path / "a.sqlite"])[0] == 0
    tables = {"order": '"Order"', "customer": "Customer"}
    file = sqlite3.connect(tmp_path / "a.sqlite")
    with crealm.open(shop) as db:
        assert file.execute(JOIN.format(**tables)).fetchall() == expected_join(db)
        assert file.execute(TOTALS.format(**tables)).fetchone() == (1000, db["Order"].sum("total"), db["Order"].sum("number"), 900)
        assert file.execute('SELECT count(*) FROM "Order.tags"').fetchone() == (sum(len(o.tags) for o in db["Order"]),)
    file.close()


LATEST = (49 * 10**17 + 49, 49 * 10**17)  # duckdb before 2.0 has microseconds.


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_duckdb_reads_what_is_exported(shop, kind, tmp_path):
    pytest.importorskip("pyarrow")
    duckdb = pytest.importorskip("duckdb")
    assert quiet(["export", shop, tmp_path / "out", "--format", kind])[0] == 0
    assert sorted(f.name for f in (tmp_path / "out").iterdir()) == [f"Customer.{kind}", f"Order.{kind}"]
    session = duckdb.connect()
    if kind == "parquet":
        tables = {name.lower(): f"read_parquet('{tmp_path}/out/{name}.parquet')" for name in ("Order", "Customer")}
    else:
        import pyarrow

        for name in "Order", "Customer":
            session.register(f"{name}_", pyarrow.ipc.open_file(tmp_path / "out" / f"{name}.arrow").read_all())
        tables = {name.lower(): f"{name}_" for name in ("Order", "Customer")}
    with crealm.open(shop) as db:
        assert session.execute(JOIN.format(**tables)).fetchall() == expected_join(db)
        assert session.execute(TOTALS.format(**tables)).fetchone() == (1000, db["Order"].sum("total"), db["Order"].sum("number"), 900)
        assert session.execute("SELECT sum(len(tags)) FROM {order}".format(**tables)).fetchone()[0] == sum(len(o.tags) for o in db["Order"])
        assert session.execute("SELECT sum(price::DECIMAL(18, 2)) FROM {order}".format(**tables)).fetchone()[0] == db["Order"].sum("price")
        assert session.execute("SELECT count(DISTINCT \"at\".city) FROM {order}".format(**tables)).fetchone() == (5,)
        assert session.execute("SELECT epoch_ns(max(since)) FROM {customer}".format(**tables)).fetchone()[0] in LATEST


def test_parquet_of_others(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    times = pyarrow.array([1, None], pyarrow.timestamp("ms"))
    table = pyarrow.table({"id": [1, 2], "name": ["a", None], "when": times, "exact": pyarrow.array([Decimal("1.50"), None]), "words": [["x"], []]})
    parquet.write_table(table, tmp_path / "Thing.parquet")
    assert quiet(["import", tmp_path / "new.realm", tmp_path / "Thing.parquet"])[0] == 0
    with crealm.open(tmp_path / "new.realm") as db:
        assert [o.to_dict() for o in db["Thing"]] == [
            {"id": 1, "name": "a", "when": datetime(1970, 1, 1, 0, 0, 0, 1000, tzinfo=timezone.utc), "exact": Decimal("1.50"), "words": ["x"]},
            {"id": 2, "name": None, "when": None, "exact": None, "words": []},
        ]
    parquet.write_table(pyarrow.table({"id": [{"x": 1}]}), tmp_path / "Odd.parquet")
    code, said, _ = quiet(["import", tmp_path / "odd.realm", tmp_path / "Odd.parquet"])
    assert code == 1 and "no property has" in said
    (tmp_path / "Bad.parquet").write_bytes(b"PAR1" + bytes(100))
    assert quiet(["import", tmp_path / "odd.realm", tmp_path / "Bad.parquet"])[0] == 1


def test_parquet_needs_pyarrow(shop, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, said, _ = quiet(["export", shop, tmp_path / "out", "--format", "parquet"])
    assert code == 1 and "crealm[data]" in said and not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", FORMATS)
def test_damaged_sources_end_in_an_error(kind, path, tmp_path):
    """With changed bytes or missing parts: a failed import reports the reason and leaves no file; a successful one made a sound file."""
    out, schema, new = tmp_path / "out", tmp_path / "schema.json", tmp_path / "new.realm"
    assert quiet(["export", odd(path), out, "--format", kind])[0] == 0
    schema.write_text(quiet(["schema", path, "--json"])[2], encoding="utf-8")
    chance = random.Random(f"damage {kind}")
    files = sorted(out.iterdir()) if out.is_dir() else [out]
    whole = {file: file.read_bytes() for file in files}
    codes = set()
    for _ in range(int(os.environ.get("CREALM_DAMAGED_SOURCES", 40))):
        file = chance.choice(files)
        data = bytearray(whole[file])
        for _ in range(chance.choice([1, 1, 3, 20])):
            at = chance.randrange(len(data) or 1)
            if chance.random() < 0.1:
                del data[at:]
            elif chance.random() < 0.5:
                data[at : at + 1] = chance.choice([b"\0", b"\xff", b'"', b"{", b"]", b",", b"\n", b"$", b"9", b"-", b"null", b"1e999", b"{}"])
            elif data[at:]:
                data[at] ^= 1 << chance.randrange(8)
        file.write_bytes(data)
        code, said, _ = quiet(["import", new, out, "--format", kind, "--schema", schema] if chance.random() < 0.3 else ["import", new, out, "--format", kind])
        file.write_bytes(whole[file])
        codes.add(code)
        if code == 0:
            with crealm.open(new) as db:
                assert db.verify() == []
            new.unlink()
        else:
            assert code == 1 and said.startswith("crealm: ") and not new.exists()
    assert codes <= {0, 1} and 1 in codes


@pytest.fixture
def notes(path):
    schema = [crealm.ClassSchema("Note", {"id": int, "name": str, "tags": list[str]}, primary_key="id")]
    with crealm.open(path, schema=schema) as db, db.write():
        for number in range(3):
            db["Note"].create(number, name=f"n{number}", tags=["x", "y"])
    return path


def refused(source, folder, *options):
    """Imports an invalid source: asserts an error of one line, and that no file is created."""
    new = folder / "new.realm"
    code, said, _ = quiet(["import", new, source, *options])
    assert code == 1 and said.startswith("crealm: ") and said.count("\n") <= 2, said
    assert not new.exists() and not new.with_suffix(".realm.lock").exists()
    return said


@pytest.mark.parametrize("wrong, right, word", [
    ('"id": 1, "id": 77,', '"id": 1,', "twice"),
    ('"$key": -5,', '"$key": 1,', "$key"),
    ('"$key": 9223372036854775807,', '"$key": 1,', "$key"),
    ('"$key": "a",', '"$key": 1,', "$key"),
    ('"$key": true,', '"$key": 1,', "$key"),
])
def test_objects_of_json_that_contradict_themselves(notes, tmp_path, wrong, right, word):
    for form in "json", "ndjson":
        source = tmp_path / f"out.{form}"
        assert quiet(["export", notes, source])[0] == 0
        text = source.read_text()
        assert right in text
        source.write_text(text.replace(right, wrong))
        assert word in refused(source, tmp_path)


def test_a_class_that_stands_twice_in_json(notes, tmp_path):
    source = tmp_path / "out.json"
    assert quiet(["export", notes, source])[0] == 0
    text = source.read_text().rstrip()
    source.write_text(text[: text.rindex("}")] + ', "Note": []}')
    assert "twice" in refused(source, tmp_path)


@pytest.mark.parametrize("text, word", [
    ('id,name\n9,"abc\n10,x\n', "end of data"),
    ("id,name,name\n1,a,b\n", "twice"),
])
def test_csv_that_is_cut_or_names_a_column_twice(tmp_path, text, word):
    source = tmp_path / "Note.csv"
    source.write_text(text)
    assert word in refused(source, tmp_path)


def test_sqlite_with_a_view_in_the_place_of_a_table(notes, tmp_path):
    source = tmp_path / "out.sqlite"
    assert quiet(["export", notes, source])[0] == 0
    with sqlite3.connect(source) as file:
        file.execute('ALTER TABLE "Note" RENAME TO "other"')
        file.execute('CREATE VIEW "Note" AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n AS "$key", n AS id, n AS name FROM c')
    file.close()
    assert "views" in refused(source, tmp_path)


@pytest.mark.parametrize("owner", [-1, 77])
def test_elements_of_an_object_that_is_not_there(notes, tmp_path, owner):
    source = tmp_path / "out.sqlite"
    assert quiet(["export", notes, source])[0] == 0
    with sqlite3.connect(source) as file:
        (table,) = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'") if "tags" in name]
        file.execute(f'INSERT INTO "{table}" ("$owner", "$index", "value") VALUES (?, 0, ?)', [owner, "lost"])
    file.close()
    assert "not there" in refused(source, tmp_path)
