"""Rules on the command line: they are shown, declared, carried to other files, checked and replaced."""

import io
import json
import re
import shutil
import subprocess
import sys
import types
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Optional
from uuid import UUID

import pytest

import crealm
from crealm.cli.rule_lines import rule_lines
from test_cli_import import quiet

MOMENT = datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc)

ORDER = {
    "properties": {
        "id": {"auto": True},
        "owner": {"on_target_delete": "deny"},
        "parts": {"on_delete": "cascade"},
        "country": {"default": "de"},
        "made": {"created": True},
        "changed": {"modified": True},
        "version": {"revision": True},
        "age": {"min": 0},
    },
    "unique": [
        ["country", "number"],
        {"properties": ["mail"], "ignore_case": True, "nulls_equal": True, "name": "mail"},
    ],
    "checks": ["number >= 0", {"name": "grown up", "condition": "age >= 18 OR owner == NULL"}],
}

LINES = """\
age  …
changed  modified
country  default "de"
id  auto
made  created
owner  on_target_delete deny
parts  on_delete cascade
version  revision
unique (country, number)
unique "mail" (mail), ignore case, nulls equal
check "age.min": age >= 0
check: number >= 0
check "grown up": age >= 18 OR owner == NULL""".split("\n")[1:]


def shop():
    return [
        crealm.ClassSchema(
            "Order",
            {
                "id": int,
                "owner": "Person",
                "parts": list["Part"],
                "country": str,
                "number": int,
                "mail": Optional[str],
                "made": datetime,
                "changed": datetime,
                "version": int,
                "age": int,
            },
            primary_key="id",
            rules=ORDER,
        ),
        crealm.ClassSchema("Part", {"n": int}),
        crealm.ClassSchema("Person", {"name": str, "age": int}),
    ]


@pytest.fixture
def file(path):
    with crealm.open(path, schema=shop(), schema_version=3) as db, db.write():
        ann = db["Person"].create(name="Ann", age=40)
        for number in range(3):
            order = db["Order"].create(number=number, owner=ann, age=20, mail=f"{number}@x", made=MOMENT)
            order.parts.append(db["Part"].create(n=number))
    return path


@pytest.fixture
def plain(tmp_path):
    """A file without rules."""
    path = tmp_path / "plain.realm"
    with crealm.open(path, schema=[crealm.ClassSchema("Thing", {"n": int, "text": str})]) as db, db.write():
        for number in range(5):
            db["Thing"].create(n=number, text="x")
    return path


def rules(path):
    with crealm.open(path, mode="snapshot") as db:
        return {name: db.rules(name) for name in db.classes if any(db.rules(name).values())}


def broken_file(path):
    """A file whose objects 0 and 1 break a rule: a check is not tested when only the object behind a link changes."""
    schema = [
        crealm.ClassSchema(
            "Child", {"of": "Person"}, rules={"checks": [{"name": "of age", "condition": "of.age >= 18"}]}
        ),
        crealm.ClassSchema("Other", {"of": "Person"}, rules={"checks": ["of.age >= 18"]}),
        crealm.ClassSchema("Person", {"age": int}),
    ]
    with crealm.open(path, schema=schema) as db:
        with db.write():
            one, two = db["Person"].create(age=20), db["Person"].create(age=30)
            for of in (one, one, two):
                db["Child"].create(of=of)
            db["Other"].create(of=one)
        with db.write():
            one.age = 5
    return path


# ------------------------------------------------------------------------------------------------
# Showing
# ------------------------------------------------------------------------------------------------


def test_each_rule_is_a_line(file):
    assert rule_lines(rules(file)["Order"]) == LINES


def test_rules_lists_them(file, plain):
    code, said, out = quiet(["rules", file])
    assert (code, said) == (0, "") and out.splitlines() == ["Order", *(f"  {line}" for line in LINES)]
    assert quiet(["rules", plain]) == (0, "", "no rules\n")
    assert quiet(["rules", file, "--class", "Part"]) == (0, "", "no rules\n")
    code, said, out = quiet(["rules", file, "--json"])
    assert (code, said) == (0, "") and json.loads(out) == {"file": str(file), "classes": rules(file)}
    code, _, out = quiet(["rules", file, "--class", "Order", "--json"])
    assert code == 0 and json.loads(out) == rules(file)["Order"]
    code, _, out = quiet(["rules", file, "--class", "Part", "--json"])
    assert code == 0 and json.loads(out) == {"properties": {}, "unique": [], "checks": []}
    code, said, out = quiet(["rules", file, "--class", "Ordre"])
    assert (code, out) == (1, "") and "Ordre" in said and "Order" in said


def test_show_has_the_rules_below_the_properties(file, plain):
    _, _, out = quiet(["show", file, "--class", "Order", "--limit", "1"])
    lines = out.splitlines()
    start = lines.index(f"  {LINES[0]}")
    assert lines[start : start + len(LINES)] == [f"  {line}" for line in LINES]
    assert (
        lines[start - 1] == ""
        and lines[start - 2].startswith("  age ")
        and lines[start + len(LINES) + 1].startswith("  #")
    )
    (found,) = json.loads(quiet(["show", file, "--class", "Order", "--json"])[2])
    assert found["rules"] == rules(file)["Order"]
    assert "rules" not in json.loads(quiet(["show", plain, "--json"])[2])[0]


def test_schema_as_json(file, plain):
    found = json.loads(quiet(["schema", file, "--json"])[2])
    assert {one["name"]: one["rules"] for one in found["classes"] if "rules" in one} == rules(file)
    assert all("rules" not in one for one in json.loads(quiet(["schema", plain, "--json"])[2])["classes"])


def declared(text):
    module = types.ModuleType("declared")
    exec(text, module.__dict__)
    return module


def same(one, two):
    """Whether rules are the same, in any order."""

    def sorted_(all_):
        return {
            name: {
                "properties": own["properties"],
                "unique": sorted(map(repr, own["unique"])),
                "checks": sorted(map(repr, own["checks"])),
            }
            for name, own in all_.items()
        }

    return sorted_(one) == sorted_(two)


def test_declarations_of_python_declare_the_rules(file, tmp_path):
    text = quiet(["schema", file])[2]
    for line in (
        "    id: int = crealm.field(primary_key=True, auto=True)",
        "    owner: Optional[\"Person\"] = crealm.field(on_target_delete='deny')",
        "    version: int = crealm.field(revision=True)",
        "            ('country', 'number'),",
        "            'grown up': 'age >= 18 OR owner == NULL',",
    ):
        assert line in text.splitlines(), line
    crealm.open(tmp_path / "new.realm", schema=declared(text)).close()
    assert same(rules(tmp_path / "new.realm"), rules(file))


DEFAULTS = {
    "i": (int, -5),
    "t": (bool, True),
    "d": (float, 0.1),
    "inf": (float, float("-inf")),
    "nan": (float, float("nan")),
    "s": (str, "a\n'\"\x1b\u202e"),
    "f": (crealm.Float32, crealm.Float32(0.5)),
    "b": (bytes, b"\0\xff"),
    "dec": (Decimal, Decimal("1.50")),
    "u": (UUID, UUID(int=7)),
    "o": (crealm.ObjectId, crealm.ObjectId("5f" * 12)),
    "m": (datetime, MOMENT),
    "old": (datetime, datetime(1950, 1, 1, tzinfo=timezone.utc)),
    "ns": (datetime, crealm.Timestamp.from_ns(-1)),
    "now": (datetime, crealm.NOW),
    "nu": (UUID, crealm.NEW_UUID),
    "no": (crealm.ObjectId, crealm.NEW_OBJECT_ID),
    "null": (Optional[int], None),
    "any": (Any, Decimal("2")),
    "two words": (int, 1),
    "class": (int, 2),
}


def test_each_kind_of_default_is_declared(path, tmp_path):
    own = {name: {"default": value} for name, (_, value) in DEFAULTS.items()}
    for name, rule in own.items():
        rule["default"] = crealm.rules.constant(rule["default"])
    kind = crealm.ClassSchema(
        "All of them",
        {name: kind for name, (kind, _) in DEFAULTS.items()},
        rules={"properties": own, "unique": [["two words", "class"]], "checks": ["i < 0", "d > 0"]},
    )
    crealm.open(path, schema=[kind]).close()
    text = quiet(["schema", path])[2]
    assert text.isascii() and "unique = [\n            ('two_words', 'class_'),\n" in text and "checks = [\n" in text
    crealm.open(tmp_path / "new.realm", schema=declared(text)).close()
    assert same(rules(tmp_path / "new.realm"), rules(path))


def test_what_a_model_cannot_declare_is_a_comment(path, tmp_path):
    own = {
        "properties": {"at": {"default": {"$seconds": 10**15, "$nanoseconds": 0}}},
        "checks": ["n >= 0", "n < 9", {"name": "a", "condition": "n != 5"}],
    }
    crealm.open(path, schema=[crealm.ClassSchema("Thing", {"n": int, "at": datetime}, rules=own)]).close()
    text = quiet(["schema", path])[2]
    comments = [line for line in text.splitlines() if line.strip().startswith("#") and "rule" in line]
    assert len(comments) == 2 and comments[1].endswith("check: n < 9") and "at  default" in comments[0]
    crealm.open(tmp_path / "new.realm", schema=declared(text)).close()
    assert len(rules(tmp_path / "new.realm")["Thing"]["checks"]) == 2


@pytest.mark.parametrize("language", ["swift", "typescript", "kotlin"])
def test_other_languages_have_comments(file, plain, language):
    lines = [line.strip() for line in quiet(["schema", file, f"--{language}"])[2].splitlines()]
    start = lines.index("// Rules of the file:")
    assert (
        lines[start + 1 : start + 1 + len(LINES)] == [f"//   {line}" for line in LINES]
        and lines.count("// Rules of the file:") == 1
    )
    assert "Rules" not in quiet(["schema", plain, f"--{language}"])[2]


def test_rules_control_neither_a_terminal_nor_a_declaration(path):
    """A line end in the text of a rule would end a comment."""
    own = {"checks": [{"name": "a\nb\x1b[31m", "condition": "n >= 0\nOR text == 'x\u202e'"}]}
    crealm.open(path, schema=[crealm.ClassSchema("Thing", {"n": int, "text": str}, rules=own)]).close()
    for arguments in (
        ["rules"],
        ["show"],
        ["schema"],
        *(["schema", f"--{one}"] for one in ("swift", "typescript", "kotlin", "json")),
    ):
        out = quiet([arguments[0], path, *arguments[1:]])[2]
        assert (
            "\x1b" not in out
            and "\u202e" not in out
            and not any(line.strip().startswith("OR text") for line in out.splitlines())
        )


# ------------------------------------------------------------------------------------------------
# Checking
# ------------------------------------------------------------------------------------------------


def test_check_lists_what_breaks_a_rule(path, plain):
    before = broken_file(path).read_bytes()
    code, said, out = quiet(["rules", path, "--check"])
    assert (code, said) == (1, "") and path.read_bytes() == before
    lines = out.splitlines()
    assert [re.match(r"\w+ #\d+", line).group() for line in lines] == ["Child #0", "Child #1", "Other #0"]
    assert "of age" in lines[0] and "of.age >= 18" in lines[2]
    code, _, out = quiet(["rules", path, "--check", "--json"])
    found = json.loads(out)
    assert code == 1 and not found["keepsRules"] and not found["more"]
    assert [(one["class"], one["key"], one["rule"]) for one in found["broken"]] == [
        ("Child", 0, "of age"),
        ("Child", 1, "of age"),
        ("Other", 0, "of.age >= 18"),
    ]
    code, _, out = quiet(["rules", path, "--check", "--limit", "1"])
    assert code == 1 and len(out.splitlines()) == 2 and out.endswith("  … more\n")
    code, _, out = quiet(["rules", path, "--check", "--class", "Other", "--limit", "1"])
    assert code == 1 and len(out.splitlines()) == 1 and out.startswith("Other #0")
    assert quiet(["rules", path, "--check", "--class", "Person"]) == (0, "", "every object keeps the rules\n")
    assert quiet(["rules", plain, "--check"]) == (0, "", "every object keeps the rules\n")
    assert json.loads(quiet(["rules", plain, "--check", "--json"])[2]) == {
        "file": str(plain),
        "keepsRules": True,
        "broken": [],
        "more": False,
    }


# ------------------------------------------------------------------------------------------------
# Replacing
# ------------------------------------------------------------------------------------------------


def test_set_replaces_the_rules_of_a_class(plain, tmp_path):
    given = tmp_path / "rules.json"
    given.write_text(json.dumps({"properties": {"n": {"unique": True}, "text": {"min_length": 1}}}), encoding="utf-8")
    code, said, out = quiet(["rules", plain, "--set", "Thing", given])
    assert (code, said, out) == (0, "", f"{plain}: Thing has 2 rules\n")
    assert rules(plain)["Thing"]["unique"] == [{"properties": ["n"]}] and len(rules(plain)["Thing"]["checks"]) == 1
    given.write_text(quiet(["rules", plain, "--class", "Thing", "--json"])[2], encoding="utf-8")
    before = rules(plain)
    code, _, out = quiet(["rules", plain, "--set", "Thing", given, "--json"])
    assert code == 0 and json.loads(out) == {
        "file": str(plain),
        "class": "Thing",
        "rules": before["Thing"],
        "upgradedFrom": None,
    }
    given.write_text('{"checks": ["n < 99"]}', encoding="utf-8")
    assert quiet(["rules", plain, "--set", "Thing", given])[2].endswith(": Thing has 1 rule\n")
    given.write_text("{}", encoding="utf-8")
    assert quiet(["rules", plain, "--set", "Thing", given])[2].endswith(": Thing has 0 rules\n") and rules(plain) == {}


def test_rules_from_the_standard_input(plain, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"checks": ["n >= 0"]}'))
    assert quiet(["rules", plain, "--set", "Thing", "-"])[0] == 0 and rule_lines(rules(plain)["Thing"]) == [
        "check: n >= 0"
    ]


WRONG = [
    ('{"checks": ["n > 3"]}', "object 0 of class 'Thing'"),
    ('{"unique": [["text"]]}', "same values"),
    ('{"checks": ["m > 3"]}', "no property 'm'"),
    ('{"checks": ["n >"]}', ""),
    ('{"x": 1}', "unknown name 'x'"),
    ("[]", "an object of JSON"),
    ("{", "is no JSON"),
    ("", "is no JSON"),
    ('{"checks": [], "checks": []}', "twice"),
    ('{"properties": {"n": {"created": true}}}', ""),
    ('{"properties": {"n": {"default": NaN}}}', ""),
]


@pytest.mark.parametrize("text,message", WRONG)
def test_wrong_rules_change_nothing(plain, tmp_path, text, message):
    with crealm.open(plain) as db, db.write():
        db.set_rules("Thing", {"checks": ["n < 99"]})
    before = rules(plain)
    (tmp_path / "rules.json").write_text(text, encoding="utf-8")
    code, said, out = quiet(["rules", plain, "--set", "Thing", tmp_path / "rules.json"])
    assert (code, out) == (1, "") and said.startswith("crealm: ") and message in said and "Traceback" not in said
    assert rules(plain) == before


def test_wrong_arguments(file, tmp_path):
    (tmp_path / "rules.json").write_text("{}", encoding="utf-8")
    for arguments, message in (
        (["--set", "Nobody", tmp_path / "rules.json"], "Nobody"),
        (["--set", "Order", tmp_path / "none.json"], "none.json"),
        (["--set", "Order", tmp_path / "rules.json", "--previous"], "--previous"),
        (["--set", "Order", tmp_path / "rules.json", "--immutable"], "--immutable"),
        (["--set", "Order", tmp_path / "rules.json", "--evidence"], "--evidence"),
        (["--set", "Order", tmp_path / "rules.json", "--class", "Order"], "--class"),
        (["--limit", "5"], "--limit"),
    ):
        code, said, out = quiet(["rules", file, *arguments])
        assert (code, out) == (1, "") and message in said
    with pytest.raises(SystemExit):
        quiet(["rules", file, "--check", "--set", "Order", tmp_path / "rules.json"])
    assert rules(file)["Order"]["checks"]


def test_reading_changes_nothing(file):
    for companion in file.parent.iterdir():
        if companion != file and companion.name.startswith(file.name):
            shutil.rmtree(companion) if companion.is_dir() else companion.unlink()
    before, names = (file.read_bytes(), file.stat().st_mtime_ns), sorted(one.name for one in file.parent.iterdir())
    for arguments in ([], ["--check"], ["--immutable"], ["--evidence"]):
        assert quiet(["rules", file, *arguments])[0] == 0
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before and sorted(
        one.name for one in file.parent.iterdir()
    ) == names


def test_an_encrypted_file(tmp_path, plain):
    (tmp_path / "words").write_text("a long passphrase\n", encoding="utf-8")
    (tmp_path / "rules.json").write_text('{"checks": ["n >= 0"]}', encoding="utf-8")
    secret = ["--passphrase-file", tmp_path / "words"]
    assert quiet(["encrypt", plain, "--new-passphrase-file", tmp_path / "words"])[0] == 0
    assert quiet(["rules", plain])[0] == 1
    assert quiet(["rules", plain, "--set", "Thing", tmp_path / "rules.json", *secret])[0] == 0
    assert quiet(["rules", plain, *secret]) == (0, "", "Thing\n  check: n >= 0\n")


# ------------------------------------------------------------------------------------------------
# Other files
# ------------------------------------------------------------------------------------------------


def orders(path):
    with crealm.open(path, mode="snapshot") as db:
        names = [name for name in db.schema["Order"].properties if name not in ("owner", "parts")]
        return [
            [order[name] for name in names] + [order.owner and order.owner.name, [part.n for part in order.parts]]
            for order in db["Order"]
        ]


@pytest.mark.parametrize("ending", ["json", "ndjson", "sqlite"])
def test_export_and_import_carry_the_rules(file, tmp_path, ending):
    with crealm.open(file) as db, db.write():
        db["Order"].get(2).age = 33
    out, back = tmp_path / f"out.{ending}", tmp_path / "back.realm"
    assert quiet(["export", file, out])[0] == 0
    assert quiet(["import", back, out])[:2] == (0, "")
    assert rules(back) == rules(file) and orders(back) == orders(file)  # Also times and revisions are the same.
    assert quiet(["diff", file, back])[0] == 0
    with crealm.open(back) as db:
        with db.write():
            assert db["Order"].create(number=9, age=18).id == 4
        with pytest.raises(crealm.RuleBroken), db.write():
            db["Person"].first().delete()
    bare = tmp_path / "bare.realm"
    assert quiet(["import", bare, out, "--no-rules"])[0] == 0 and rules(bare) == {}


def test_a_schema_with_rules_makes_a_file(tmp_path):
    """Rules make what the source does not have."""
    schema = json.dumps(
        {
            "version": 1,
            "classes": [
                {
                    "name": "Visit",
                    "primaryKey": "id",
                    "embedded": False,
                    "rules": {
                        "properties": {
                            "id": {"auto": True},
                            "country": {"default": "no"},
                            "made": {"created": True},
                            "version": {"revision": True},
                            "n": {"min": 1},
                        }
                    },
                    "properties": [
                        {
                            "name": name,
                            "type": kind,
                            "collection": None,
                            "optional": False,
                            "indexed": False,
                            "fulltext": False,
                        }
                        for name, kind in (
                            ("id", "int"),
                            ("city", "str"),
                            ("country", "str"),
                            ("n", "int"),
                            ("made", "datetime"),
                            ("version", "int"),
                        )
                    ],
                }
            ],
        }
    )
    (tmp_path / "schema.json").write_text(schema, encoding="utf-8")
    (tmp_path / "Visit.csv").write_text("city,n\nOslo,3\nBergen,1\n", encoding="utf-8")
    new = tmp_path / "new.realm"
    code, said, _ = quiet(["import", new, tmp_path / "Visit.csv", "--schema", tmp_path / "schema.json"])
    assert (code, said) == (0, "")
    with crealm.open(new, mode="snapshot") as db:
        assert [(one.id, one.city, one.country, one.n) for one in db["Visit"]] == [
            (1, "Oslo", "no", 3),
            (2, "Bergen", "no", 1),
        ]
        assert db.rules("Visit")["properties"]["version"] == {"revision": True}
    (tmp_path / "more.ndjson").write_text(
        '{"$class": "Visit", "city": "Voss", "n": 5}\n{"$class": "Visit", "id": 2, "city": "Bodø", "n": 6}\n'
        '{"$class": "Visit", "id": 9, "n": 7}\n{"$class": "Visit", "n": 8}\n',
        encoding="utf-8",
    )
    assert quiet(["import", new, tmp_path / "more.ndjson"])[0] == 1  # There is a Visit 2.
    assert quiet(["import", new, tmp_path / "more.ndjson", "--update", "modified"])[:2] == (0, "")
    with crealm.open(new, mode="snapshot") as db:
        assert sorted((one.city, one.n) for one in db["Visit"]) == [
            ("", 7),
            ("", 8),
            ("Bodø", 6),
            ("Oslo", 3),
            ("Voss", 5),
        ]
        assert db["Visit"].get(2).city == "Bodø" and db["Visit"].get(9).n == 7
    (tmp_path / "Visit.csv").write_text("city,n\nOslo,0\n", encoding="utf-8")
    other = tmp_path / "other.realm"
    code, said, _ = quiet(["import", other, tmp_path / "Visit.csv", "--schema", tmp_path / "schema.json"])
    assert code == 1 and "n.min" in said and not other.exists()
    for wrong in (5, {"nothing": 1}, {"properties": []}, {"properties": {"n": 5}}):
        found = json.loads(schema)
        found["classes"][0]["rules"] = wrong
        (tmp_path / "schema.json").write_text(json.dumps(found), encoding="utf-8")
        code, said, _ = quiet(["import", other, tmp_path / "Visit.csv", "--schema", tmp_path / "schema.json"])
        assert code == 1 and said.startswith("crealm: ") and not other.exists()


def test_diff_tells_of_rules(file, tmp_path):
    other = tmp_path / "other.realm"
    shutil.copyfile(file, other)
    with crealm.open(other) as db, db.write():
        db.set_rules(
            "Order",
            {
                **{name: value for name, value in db.rules("Order").items() if name != "checks"},
                "checks": ["number >= 0"],
            },
        )
    code, said, out = quiet(["diff", file, other])
    assert (code, said) == (4, "") and out.splitlines() == [
        'rule Order: check "age.min": age >= 0 → nothing',
        'rule Order: check "grown up": age >= 18 OR owner == NULL → nothing',
    ]
    found = json.loads(quiet(["diff", other, file, "--json"])[2])
    assert found["schema"][0] == {"what": "rule", "class": "Order", "a": None, "b": 'check "age.min": age >= 0'}


# ------------------------------------------------------------------------------------------------
# Help
# ------------------------------------------------------------------------------------------------


def test_help_and_completion_know_the_command():
    done = subprocess.run([sys.executable, "-m", "crealm", "rules", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "--set CLASS RULESFILE" in done.stdout and "--check" in done.stdout
    assert (
        "--set[replace the rules of a class" in quiet(["completion", "zsh"])[2]
        and ":CLASS::RULESFILE:_files'" in quiet(["completion", "zsh"])[2]
    )
    assert "__fish_seen_subcommand_from rules' -l set -r" in quiet(["completion", "fish"])[2]
    assert "crealm rules FILE" in quiet(["manual"])[2] and "CLASS RULESFILE" in quiet(["manual"])[2]
