"""The command line, and the example."""

import csv
import hashlib
import json
import os
import runpy
import shutil
import sqlite3
import subprocess
import sys
import types
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, Optional
from uuid import UUID

import pytest

import crealm
from conftest import FIXTURES, REPOSITORY
from crealm.cli import main


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "shop.realm"
    schema = [
        crealm.ClassSchema(
            "Item",
            {
                "id": int,
                "name": crealm.Prop(str, indexed=True),
                "made": datetime,
                "tags": list[str],
                "any": Any,
                "of": "Item",
            },
            primary_key="id",
        ),
        crealm.ClassSchema("Nothing", {"n": int}),
    ]
    with crealm.open(file, schema=schema, schema_version=2) as db, db.write():
        for n in range(12):
            db["Item"].create(
                n, name="x" * n * 5, made=datetime(2024, 1, 1, tzinfo=timezone.utc), of=db["Item"].first()
            )
        db["Item"].get(1).any = "line\nbreak\x1b[31m"
        db["Item"].get(2).any = b"\1\2" * 100
    for companion in tmp_path.iterdir():
        if companion != file:
            companion.unlink()
    return file


def test_show(file, capsys):
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    assert main(["show", str(file), "--limit", "3"]) == 0
    out = capsys.readouterr().out
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before and [
        f.name for f in file.parent.iterdir()
    ] == ["shop.realm"]
    lines = out.splitlines()
    assert lines[0] == "Item: 12 objects, primary key id" and "Nothing: 0 objects" in lines
    assert "  id        int        primary key" in lines and "  of        Item" in lines
    header = next(line for line in lines if line.startswith("  #"))
    rows = lines[lines.index(header) + 1 :][:3]
    column = header.index("made")
    assert all(row[column - 2 :].startswith("  2024-01-01 00:00:00Z") for row in rows)
    assert "line\\nbreak\\x1b[31m" in rows[1] and "Item #0" in rows[1] and "200 bytes 0102" in rows[2]
    assert "  … 9 more" in lines and "\x1b" not in out
    assert main(["show", str(file), "--class", "Item"]) == 0
    long = [line for line in capsys.readouterr().out.splitlines() if "xxxxxxxxxx…" in line]
    assert len(long) == 4
    assert main(["show", str(file), "--limit", "0", "--class", "Item"]) == 0
    assert "#" not in capsys.readouterr().out


def test_info(file, capsys):
    assert main(["info", str(file), "--check"]) == 0
    out = capsys.readouterr().out
    for part in (
        str(file),
        "schema version  2",
        "objects         12",
        "check           sound",
        "primary key id",
    ):
        assert part in out
    assert [f.name for f in file.parent.iterdir()] == ["shop.realm"]


def test_a_file_that_is_being_written(file):
    with crealm.open(file) as db, db.write():
        before = sorted(f.name for f in file.parent.iterdir())
        done = run("-m", "crealm", "info", "--check", file)
        assert done.returncode == 0 and "objects         12" in done.stdout and done.stderr == ""
        assert "version in use" in done.stdout and f" {os.getpid()} " in done.stdout
        assert sorted(f.name for f in file.parent.iterdir()) == before


def test_trouble(tmp_path, file, capsys):
    assert main(["show", str(tmp_path / "none.realm")]) == 1
    assert "none.realm" in capsys.readouterr().err
    other = tmp_path / "other.txt"
    other.write_text("no realm")
    assert main(["info", str(other)]) == 1
    assert main(["show", str(file), "--class", "Nobody"]) == 1
    assert main(["show", str(file), "--key", str(other)]) == 1
    assert "64 bytes" in capsys.readouterr().err
    with pytest.raises(SystemExit) as info:
        main([])
    assert info.value.code == 2


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=1800,
        **options,
    )


def test_as_a_module(file):
    done = run("-m", "crealm", "info", file)
    assert done.returncode == 0 and "classes" in done.stdout and done.stderr == ""
    assert run("-m", "crealm", "--version").stdout.startswith("crealm 0.1.0")


def test_a_reader_that_stops_early(file):
    command = f'"{sys.executable}" -m crealm show "{file}" | head -n 1'
    done = run("-c", f"import subprocess, sys; sys.exit(subprocess.run({command!r}, shell=True).returncode)")
    assert done.stdout == "Item: 12 objects, primary key id\n" and done.stderr == ""


def test_show_every_fixture(tmp_path, capsys):
    for source in [*FIXTURES.glob("sdk/*.realm"), *FIXTURES.glob("ops/[!d]*.realm")]:
        file = tmp_path / "file.realm"
        shutil.copyfile(source, file)
        before = file.read_bytes()
        code = main(["show", str(file), "--limit", "3"])
        out = capsys.readouterr()
        assert (code == 0 and out.out) or (code == 1 and out.err.startswith("crealm: "))
        assert code == 0 or source.with_suffix(".key").exists() or "sync" in source.name
        assert file.read_bytes() == before and [f.name for f in tmp_path.iterdir()] == ["file.realm"]


def test_the_library_is_found_or_the_error_says_how(tmp_path):
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(crealm.__file__).parents[1]),
        "CREALM_LIBRARY": str(tmp_path / "no.so"),
    }
    done = subprocess.run(
        [sys.executable, "-c", "import crealm"], env=environment, capture_output=True, text=True
    )
    assert "ImportError" in done.stderr and "CREALM_LIBRARY" in done.stderr and "no.so" in done.stderr


def test_people(tmp_path, capsys):
    example = REPOSITORY / "examples" / "python" / "people.py"
    people = runpy.run_path(str(example))
    file = tmp_path / "people.realm"
    people["main"](str(file))
    assert "2 people" in capsys.readouterr().out
    people["main"](str(file))
    out = capsys.readouterr().out
    assert "4 people" in out and "Ada is liked by Bob" in out and "Nowhere" not in out
    with crealm.open(file, mode="r") as db:
        assert db.schema_version == 1 and db.verify() == []


def test_library(tmp_path, capsys):
    example = REPOSITORY / "examples" / "python" / "library.py"
    library = runpy.run_path(str(example))
    file = tmp_path / "library.realm"
    library["main"](str(file))
    out = capsys.readouterr().out
    assert "migrating from version 1" in out and "Lem wrote Solaris, Eden" in out and '"reader": "Ann"' in out
    with crealm.open(file, mode="r") as db:
        assert db.schema_version == 2 and db.verify() == [] and len(db["Loan"]) == 1
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, env=environment())
    assert done.returncode == 0 and done.stderr == "" and "Roadside" in done.stdout


def environment():
    return {**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1])}


def all_kinds(path):
    """A file with every kind of property, names that are not valid in some languages, and values that formats may lose."""
    schema = [
        crealm.ClassSchema(
            "Owner",
            {
                "_id": crealm.ObjectId,
                "class": str,
                "two words": crealm.Prop(int, indexed=True),
                "Two Words": crealm.Float32,
                "pets": list["Pet"],
                "best": "Pet",
                "home": "Home",
                "tags": set[str],
                "notes": dict[str, Any],
                "any": Any,
                "when": Optional[datetime],
                "raw": bytes,
                "exact": Decimal,
                "mark": UUID,
                "text": crealm.Prop(str, fulltext=True),
            },
            primary_key="_id",
        ),
        crealm.ClassSchema("Pet", {"name": str, "age": Optional[int]}),
        crealm.ClassSchema("Home", {"city": str}, embedded=True),
        crealm.ClassSchema("pet", {"weight": float}),
        crealm.ClassSchema("sqlite_like", {"n": int}),
    ]
    with crealm.open(path, schema=schema, schema_version=3) as db, db.write():
        rex, tom = db["Pet"].create(name="Rex, \"the\nfirst\"", age=3), db["Pet"].create(name="", age=None)
        db["pet"].create(weight=float("nan"))
        db["Owner"].create(
            crealm.ObjectId("0123456789abcdef01234567"),
            **{"class": "A", "two words": 2**62, "Two Words": 0.5, "pets": [rex, tom, rex], "best": tom, "home": {"city": "Köln"}},
            tags={"x", "y"}, notes={"a": 1, "b": [rex, {"c": None}]}, any=rex, when=datetime(2024, 5, 6, tzinfo=timezone.utc), raw=b"\0\xff",
            exact=Decimal("1.50"), mark=UUID(int=7), text="some words")  # fmt: skip
    return path


def test_schema_as_declarations(tmp_path, capsys):
    file = all_kinds(tmp_path / "all.realm")
    assert main(["schema", str(file)]) == 0
    text = capsys.readouterr().out
    module = types.ModuleType("declared")
    exec(text, module.__dict__)
    with crealm.open(file) as db:
        was = db.schema
        # The printed declarations are exactly the schema of the file.
        with crealm.open(tmp_path / "new.realm", schema=module, schema_version=3) as new:
            assert dict(new.schema) == dict(was)
    assert main(["schema", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["version"] == 3 and [c["name"] for c in found["classes"]] == list(was)
    owner = next(c for c in found["classes"] if c["name"] == "Owner")
    assert owner["primaryKey"] == "_id" and {p["name"] for p in owner["properties"]} == set(was["Owner"].properties)
    assert main(["schema", str(file), "--swift"]) == 0
    swift = capsys.readouterr().out
    for line in (
        "class Home: EmbeddedObject {",
        "    @Persisted(primaryKey: true) var _id: ObjectId",
        "    @Persisted var `class`: String",
        "    @Persisted(indexed: true) var two_words: Int",
        "    @Persisted var pets: List<Pet>",
        "    @Persisted var best: Pet?",
        "    @Persisted var notes: Map<String, AnyRealmValue>",
    ):
        assert line in swift.splitlines()
    assert 'propertiesMapping() -> [String: String] { ["two_words": "two words"' in swift


def test_schema_as_declarations_of_other_languages(tmp_path, capsys):
    file = all_kinds(tmp_path / "all.realm")
    assert main(["schema", str(file), "--typescript"]) == 0
    script = capsys.readouterr().out.splitlines()
    for line in (
        "export class Home extends Realm.Object {", "    embedded: true,", '    primaryKey: "_id",', '  "two words"!: number;',
        '      "two words": { type: "int", indexed: true },', "  pets!: Realm.List<Pet>;", '      pets: { type: "list", objectType: "Pet" },',
        '      best: { type: "object", objectType: "Pet", optional: true },', "  notes!: Realm.Dictionary<Types.Mixed>;",
    ):  # fmt: skip
        assert line in script, line
    assert main(["schema", str(file), "--kotlin"]) == 0
    kotlin = capsys.readouterr().out.splitlines()
    for line in (
        "class Home : EmbeddedRealmObject {", "    @PrimaryKey var _id: ObjectId = ObjectId()",
        '    @PersistedName("two words") @Index var two_words: Long = 0', "    var pets: RealmList<Pet> = realmListOf()", "    var best: Pet? = null",
        "    var notes: RealmDictionary<RealmAny?> = realmDictionaryOf()", '    @PersistedName("class") var class_: String = ""',
    ):  # fmt: skip
        assert line in kotlin, line


def test_schema_of_every_fixture(tmp_path, capsys):
    for number, source in enumerate([*FIXTURES.glob("sdk/*.realm"), *FIXTURES.glob("ops/[!d]*.realm")]):
        if main(["schema", str(source)]) != 0:
            assert capsys.readouterr().err.startswith("crealm: ")
            continue
        module = types.ModuleType("declared")
        exec(capsys.readouterr().out, module.__dict__)
        with crealm.open(source, mode="snapshot") as db, crealm.open(tmp_path / f"{number}.realm", schema=module) as new:
            # Classes that cannot be declared are not in a new file.
            assert {name: new.schema[name].properties for name in new.classes} == {
                name: db.schema[name].properties for name in new.classes
            }


@pytest.mark.parametrize("text", ["Item where", "Item WHERE ", "Item where limit 2", "Item where sort name", "Item stray", "Item limit", "Item sort"])
def test_a_query_with_a_stray_word(file, capsys, text):
    """It must not become a query for all objects."""
    assert main(["query", str(file), text]) == 1
    told = capsys.readouterr()
    assert told.out == "" and told.err


def test_query(file, capsys):
    def ask(text, *options):
        code = main(["query", str(file), text, *options])
        out = capsys.readouterr()
        assert (code == 0) == (out.err == "")
        return out.out if code == 0 else out.err

    assert ask("Item where id > 8", "--count") == "3\n"
    assert [row["id"] for row in json.loads(ask("Item where id > 8 sort id desc limit 2", "--json"))] == [11, 10]
    assert [json.loads(line)["$key"] for line in ask("Item where id < 2 OR id == 5 SORT(id DESC)", "--ndjson").splitlines()] == [5, 1, 0]
    lines = list(csv.reader(ask("Item limit 2", "--csv").splitlines()))
    assert lines[0] == ["$key", "id", "name", "made", "tags", "any", "of"] and lines[2][:2] == ["1", "1"] and len(lines) == 3
    assert ask("Item where name == 'sort id desc limit 1'", "--count") == "0\n"
    table = ask("Item where id IN {1, 3} sort name").splitlines()
    assert len(table) == 3 and table[0].split()[:3] == ["#", "id", "name"]
    assert "id" in ask("Item where id>8", "--explain")
    assert "No class is called 'Nobody'; the file has Item, Nothing" in ask("Nobody where x == 1")
    assert "nix" in ask("Item where nix == 1") and "crealm: " in ask("Item where ((")


def test_export(tmp_path, capsys):
    file = all_kinds(tmp_path / "all.realm")
    before = file.read_bytes()

    def export(*arguments):
        code = main(["export", str(file), *map(str, arguments)])
        return code, capsys.readouterr()

    assert export(tmp_path / "a.json")[0] == 0
    found = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    with crealm.open(file) as db:
        for name in db.classes:
            assert found[name] == [{"$key": obj.object_key, **json.loads(obj.to_json())} for obj in db[name]]
    code, out = export("-", "--format", "ndjson", "--class", "Pet")
    lines = list(map(json.loads, out.out.splitlines()))
    assert code == 0 and [c["name"] for c in lines[0]["$schema"]["classes"]] == ["Pet"] and [line["age"] for line in lines[1:]] == [3, None]

    code, out = export(tmp_path / "tables.csv", "--class", "Pet")
    rows = list(csv.reader((tmp_path / "tables.csv").read_text(encoding="utf-8").splitlines(keepends=True)))
    assert code == 0 and rows == [["$key", "name", "age"], ["0", 'Rex, "the\nfirst"', "3"], ["1", "", ""]]
    assert export(tmp_path / "folder", "--format", "csv")[0] == 0
    assert sorted(f.name for f in (tmp_path / "folder").iterdir()) == ["Home.csv", "Owner.csv", "Pet.csv", "pet.csv", "sqlite_like.csv"]

    code, out = export(tmp_path / "a.sqlite")
    assert code == 0 and "NaN" in out.err and "'pet'" in out.err and "'Two Words'" in out.err and "'sqlite_like'" in out.err
    tables = sqlite3.connect(tmp_path / "a.sqlite")
    assert tables.execute("PRAGMA foreign_key_check").fetchall() == []
    assert tables.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert tables.execute(
        'SELECT o."two words", p.name, h.city, typeof(o.raw), o.exact FROM Owner o JOIN Pet p ON p."$key" = o.best JOIN Home h ON h."$key" = o.home'
    ).fetchall() == [(2**62, "", "Köln", "blob", "1.50")]
    assert tables.execute(
        'SELECT "$index", name FROM "Owner.pets" JOIN Pet p ON p."$key" = value ORDER BY 1').fetchall() == [
        (0, 'Rex, "the\nfirst"'), (1, ""), (2, 'Rex, "the\nfirst"')]  # fmt: skip
    assert sorted(tables.execute('SELECT value FROM "Owner.tags"').fetchall()) == [("x",), ("y",)]
    assert tables.execute("SELECT \"$name\", value FROM \"Owner.notes\" ORDER BY 1").fetchall() == [
        ("a", 1), ("b", '[{"$ref": 0, "$class": "Pet"}, {"c": null}]')]  # fmt: skip
    tables.close()

    for arguments in ([tmp_path / "a.json"], [tmp_path / "x.what"], ["-", "--format", "csv"], [tmp_path / "no" / "a.json"], ["-", "--class", "No"]):
        code, out = export(*arguments)
        assert code == 1 and out.err.startswith("crealm: ") and out.out == ""
    assert file.read_bytes() == before


def test_an_export_that_fails_leaves_nothing(tmp_path, monkeypatch, capsys):
    file = all_kinds(tmp_path / "all.realm")

    def fails(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr("crealm.cli.carrying.counted", fails)
    for name in "a.json", "a.ndjson", "a.sqlite", "folder":
        assert main(["export", str(file), str(tmp_path / name), *(["--format", "csv"] if name == "folder" else [])]) == 1
        assert not (tmp_path / name).exists() and "No space left" in capsys.readouterr().err


def test_channels_that_are_closed(tmp_path, file):
    """Output to a closed channel is discarded; it does not go to the other channel, and the command still works."""
    copy = tmp_path / "copy.realm"
    environment = {**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1])}

    def run(closed, *arguments):
        words = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "crealm", *arguments]
        return subprocess.run(words, capture_output=True, text=True, env=environment, timeout=600)

    assert run("2>&-", "backup", str(file), str(copy)).returncode == 0 and copy.exists()
    done = run("2>&-", "query", str(file), "Item", "--json", "--evidence")
    assert done.returncode == 0 and len(json.loads(done.stdout)) == 12
    done = run("2>&-", "query", str(file), "Missing")
    assert (done.returncode, done.stdout) == (1, "")
    done = run(">&-", "query", str(file), "Item", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert run(">&- 2>&-", "check", str(file)).returncode == 0


def test_numbers_that_cannot_be_negative(file, capsys):
    for command in (["show", str(file), "--limit"], ["check", str(file), "--limit"], ["watch", str(file), "--commits"]):
        with pytest.raises(SystemExit) as stopped:
            main([*command, "-1"])
        assert stopped.value.code == 2 and "'-1'" in capsys.readouterr().err
    for seconds in ("nan", "-1", "-inf"):
        with pytest.raises(SystemExit) as stopped:
            main(["watch", str(file), f"--for={seconds}"])
        assert stopped.value.code == 2 and f"'{seconds}'" in capsys.readouterr().err


def test_check_evidence_and_keys(tmp_path, file, capsys):
    assert main(["check", str(file), "--evidence"]) == 0
    out = capsys.readouterr()
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert out.out.startswith(f"{file}: sound\n") and "fault" not in out.out
    told = [line.split() for line in out.err.splitlines() if "sha256" in line]
    assert told == [["sha256", "before", digest], ["sha256", "after", digest]]
    key, other, words = tmp_path / "key", tmp_path / "other", tmp_path / "words"
    key.write_bytes(bytes(64))
    other.write_bytes(bytes(range(64)))
    words.write_text("correct horse\nbattery\n")
    assert main(["rekey", str(file), "--new-key", str(key)]) == 1  # The file has no key.
    assert main(["encrypt", str(file), "--new-key", str(key)]) == 0
    assert main(["check", str(file)]) == 1 and main(["check", str(file), "--key", str(other)]) == 1
    assert main(["check", str(file), "--key", str(key)]) == 0
    assert main(["rekey", str(file), "--key", str(key), "--new-passphrase-file", str(words)]) == 0
    assert main(["query", str(file), "Item", "--count", "--passphrase-file", str(words)]) == 0
    with crealm.open(file, passphrase="correct horse") as db:
        assert len(db["Item"]) == 12
    assert main(["rekey", str(file), "--passphrase-file", str(words), "--plain"]) == 0
    assert main(["check", str(file)]) == 0
    data = bytearray(file.read_bytes())
    size, broken = len(data), tmp_path / "broken.realm"
    codes = set()
    for at in range(64, size - 8, max(8, size // 400 // 8 * 8)):
        broken.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        codes.add(main(["check", str(broken)]))
        capsys.readouterr()
        (tmp_path / "broken.realm.lock").unlink(missing_ok=True)
    # A file that cannot be opened is faulty: 1 would mean that nothing is known about it.
    assert codes == {0, 3}


class Town(crealm.Embedded):
    name: str
    streets: list[str]


class Tour(crealm.Model):
    id: int = crealm.field(primary_key=True)
    start: Optional[Town]
    towns: list[Town]
    words: set[str]


@pytest.fixture
def tours(path):
    with crealm.open(path, schema=[Tour]) as db, db.write():
        for n in range(3):
            towns = [Town(name=f"town {n}.{i}", streets=["a", "b"]) for i in range(n)]
            db.add(Tour(id=n, start=Town(name="first") if n else None, towns=towns, words={f"word {i}" for i in range(50)}))
    return path


def test_embedded_objects_of_classes_that_are_left_out(tours, tmp_path, capsys):
    assert main(["export", str(tours), str(tmp_path / "tour.csv"), "--class", "Tour"]) == 0
    rows = list(csv.DictReader((tmp_path / "tour.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["start"] for row in rows] == ["", '{"name": "first", "streets": []}', '{"name": "first", "streets": []}']
    assert json.loads(rows[2]["towns"]) == [{"name": f"town 2.{i}", "streets": ["a", "b"]} for i in range(2)]
    assert main(["query", str(tours), "Tour where id == 2", "--csv"]) == 0
    assert '""town 2.1""' in capsys.readouterr().out
    assert main(["export", str(tours), str(tmp_path / "tour.sqlite"), "--class", "Tour"]) == 0
    found = sqlite3.connect(tmp_path / "tour.sqlite").execute('select "start" from "Tour" order by id').fetchall()
    assert [start and json.loads(start)["name"] for (start,) in found] == [None, "first", "first"]
    assert main(["export", str(tours), str(tmp_path / "all")  , "--format", "csv"]) == 0
    rows = list(csv.DictReader((tmp_path / "all" / "Tour.csv").read_text(encoding="utf-8").splitlines()))
    assert all(row["start"].isdigit() for row in rows[1:])


def test_two_exports_are_equal(tours):
    command = [sys.executable, "-m", "crealm", "export", str(tours), "-", "--format", "ndjson"]
    texts = set()
    for seed in "123":
        run = subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed}, check=True)
        texts.add(run.stdout)
    assert len(texts) == 1 and b"word 49" in texts.pop()


def test_why(file, capsys):
    assert main(["why", str(file)]) == 0
    out = capsys.readouterr().out
    assert "values" in out and "history" in out and "of them free" in out
    assert main(["why", "--json", str(file)]) == 0
    told = json.loads(capsys.readouterr().out)
    with crealm.open(file, mode="immutable") as db:
        assert told["parts"] == [{"kind": p.kind, "class": p.class_name, "property": p.property, "bytes": p.bytes} for p in db.space()]
    assert told["snapshotSize"] == sum(p["bytes"] for p in told["parts"]) <= told["size"]
    assert main(["why", "--all", str(file)]) == 0
    assert capsys.readouterr().out.count("\n") > len(told["parts"])
