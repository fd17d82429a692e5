"""Every rule in every place: a file gets the rule, another program writes the file, and the rule is kept.

RULES has the cases. Each is declared in JSON, shown by `crealm schema`, carried by export and import, declared again by
the Python text of `crealm schema`, and followed by edits in the Browser. The table of docs/rules-tests.md names these
tests beside those of C, Python and Swift; the last tests compare the table with the files of tests.
"""

import inspect
import json
import re
import types
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional
from uuid import UUID

import pytest

import crealm
from conftest import REPOSITORY
from crealm.cli.rule_lines import rule_lines
from test_cli_import import quiet

LONG_CLASS, LONG_NAME = "K" * 255, "é" * 127 + "n"


class Case(NamedTuple):
    """A rule of a class, and something that a program does to objects of the class."""

    properties: Dict[str, Any]
    rules: Dict[str, Any]
    lines: List[str]  # How people see the rule.
    objects: List[Dict[str, Any]]  # Objects that are there before; a number is a link to the object with this key.
    do: List[Any]  # ("create", values), ("delete", key), ("set", key, name, value)
    refused: Optional[str] = None  # The error says this.
    after: Callable[[List[Any]], Any] = lambda things: True  # Whether the objects are right.
    former: Optional[Dict[str, Any]] = None  # The file had these properties first.
    name: str = "Thing"


LINKS = {"n": int, "one": "Thing", "many": list["Thing"]}
PAIR = [{"n": 0, "one": 1}, {"n": 1}]  # Object 0 refers to object 1.
TWO_OWNERS = [{"n": 0, "many": [1, 2]}, {"n": 1}, {"n": 2}, {"n": 3, "many": [2]}]


def deletion(rule, value, key, left=None, objects=PAIR, name="one"):
    """The object with this key is deleted. left: the numbers of the objects that are left; None: it is refused."""
    lines = [] if value == "nullify" else [f"{name}  {rule} {value}"]
    right = lambda things: sorted(one.n for one in things) == left  # noqa: E731
    refused = "cannot be deleted" if left is None else None
    return Case(LINKS, {"properties": {name: {rule: value}}}, lines, objects, [("delete", key)], refused, right)


def limit(name, value, kind, good, bad, condition):
    """A limit of a property that is a check in the file."""
    line = f'check "p.{name}": {condition}'
    do = [("set", 0, "p", bad)]
    return Case({"p": kind}, {"properties": {"p": {name: value}}}, [line], [{"p": good}], do, f"p.{name}")


def made(kind, rule, line, right):
    """The library makes values for two new objects."""
    return Case(
        {"p": kind, "n": int}, {"properties": {"p": rule}}, [line], [], [("create", {}), ("create", {})], None, right
    )


def unique(rule, line, objects, bad, properties, refused="same values"):
    return Case(properties, {"unique": [rule]}, [line], objects, [("create", bad)], refused)


def is_now(moment):
    return abs(datetime.now(timezone.utc) - moment) < timedelta(minutes=5)


def differ(things):
    return len({one.p for one in things}) == len(things) == 2


def changed(rule, kind, right):
    """An object is changed after its creation."""
    return Case(
        {"p": kind, "n": int},
        {"properties": {"p": {rule: True}}},
        [f"p  {rule}"],
        [{"n": 1}, {"n": 2}],
        [("set", 0, "n", 5)],
        None,
        right,
    )


RULES = {
    "nullify": deletion("on_delete", "nullify", 0, [1]),
    "nullify target": deletion("on_target_delete", "nullify", 1, [0]),
    "cascade": deletion("on_delete", "cascade", 0, []),
    "cascade_last": deletion("on_delete", "cascade_last", 0, [2, 3], TWO_OWNERS, "many"),
    "deny": deletion("on_delete", "deny", 0),
    "cascade target": deletion("on_target_delete", "cascade", 1, []),
    "deny target": deletion("on_target_delete", "deny", 1),
    "auto int": made(int, {"auto": True}, "p  auto", lambda things: [one.p for one in things] == [1, 2]),
    "auto UUID": made(UUID, {"auto": True}, "p  auto", lambda things: differ(things) and things[0].p.version == 7),
    "auto ObjectId": made(crealm.ObjectId, {"auto": True}, "p  auto", differ),
    "unique": unique(["n"], "unique (n)", [{"n": 1}, {"n": None}, {"n": None}], {"n": 1}, {"n": Optional[int]}),
    "unique of several": unique(
        ["a", "b"], "unique (a, b)", [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}], {"a": 1, "b": "y"}, {"a": int, "b": str}
    ),
    "ignore_case": unique(
        {"properties": ["s"], "ignore_case": True}, "unique (s), ignore case",
        [{"s": "Straße"}, {"s": None}, {"s": None}], {"s": "STRASSE"}, {"s": Optional[str]},
    ),
    "nulls_equal": unique(
        {"properties": ["s"], "nulls_equal": True}, "unique (s), nulls equal",
        [{"s": "a"}, {"s": "A"}, {"s": None}], {"s": None}, {"s": Optional[str]},
    ),
    "primary key": unique(
        {"properties": ["a", "b"], "name": "primary key"}, 'unique "primary key" (a, b)',
        [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}], {"a": 1, "b": "x"}, {"a": int, "b": str}, "primary key",
    ),
    "check": Case(
        {"age": int, "parent": "Thing"}, {"checks": [{"name": "grown up", "condition": "age >= 18 OR parent != NULL"}]},
        ['check "grown up": age >= 18 OR parent != NULL'], [{"age": 30}, {"age": 3, "parent": 0}],
        [("set", 1, "parent", None)], "grown up",
    ),
    "check at the call": Case(
        {"low": int, "high": int}, {"checks": [{"name": "order", "condition": "low <= high", "at": "call"}]},
        ['check "order" at each call: low <= high'], [{"low": 1, "high": 3}], [("set", 0, "low", 4)], "order",
    ),
    "computed": Case(
        {"n": int}, {"computed": {"twice": "n * 2"}}, ["computed twice: n * 2"], [{"n": 4}], [("set", 0, "n", 5)], None,
        lambda things: getattr(things[0], "twice", None) == 10,
    ),
    "base class": Case(
        {"type": str, "n": int}, {"subclasses": {"by": "type", "classes": {"Dog": {"extends": "Thing", "properties": []}}}},
        ["subclass Dog of Thing (), named in type"], [{"type": "Dog", "n": 1}], [("create", {"type": "Cat", "n": 2})], "Cat",
    ),
    "min": limit("min", 0, int, 0, -1, "p >= 0"),
    "max": limit("max", 2.5, float, 2.5, 2.75, "p <= 2.5"),
    "min_length": limit("min_length", 2, str, "é", "x", "p.@size >= 2"),
    "max_length": limit("max_length", 2, str, "é", "éx", "p.@size <= 2"),
    "min_count": limit("min_count", 1, list[int], [1], [], "p.@count >= 1"),
    "max_count": limit("max_count", 1, set[int], [1], [1, 2], "p.@count <= 1"),
    "required": limit("required", True, "Thing", 0, None, "p != NULL"),
    "default constant": made(str, {"default": "a b"}, 'p  default "a b"', lambda things: things[1].p == "a b"),
    "default now": made(datetime, {"default": {"$now": True}}, "p  default now", lambda things: is_now(things[1].p)),
    "default uuid": made(UUID, {"default": {"$new": "uuid"}}, "p  default new uuid", differ),
    "default objectid": made(crealm.ObjectId, {"default": {"$new": "objectid"}}, "p  default new objectid", differ),
    "created": Case(
        {"p": datetime, "n": int}, {"properties": {"p": {"created": True}}}, ["p  created"], [{"n": 1}],
        [("set", 0, "n", 5), ("create", {"n": 2})], None,
        lambda things: things[0].p < things[1].p and is_now(things[1].p),
    ),
    "modified": changed("modified", datetime, lambda things: is_now(things[0].p) and things[0].p > things[1].p),
    "revision": changed("revision", int, lambda things: [one.p for one in things] == [2, 1]),
    "long names": Case(
        {LONG_NAME: int, "to": LONG_CLASS}, {"unique": [[LONG_NAME]]}, [f"unique ({LONG_NAME})"],
        [{LONG_NAME: 1, "to": 0}], [("create", {LONG_NAME: 1})], "same values", name=LONG_CLASS,
    ),
    "renames": Case(
        {"count": int, "next": "Thing"},
        {"properties": {"count": {"renamed_from": "n", "min": 0}, "next": {"renamed_from": "one"}}},
        ['check "count.min": count >= 0'], [{"n": 3, "one": 1}, {"n": 4}], [("set", 0, "count", 5)], None,
        lambda things: [one.count for one in things] == [5, 4] and things[0].next == things[1],
        {"n": int, "one": "Thing"},
    ),
}  # fmt: skip

each = pytest.mark.parametrize("case", RULES.values(), ids=RULES.keys())


def schema(case, properties, **rules):
    return [crealm.ClassSchema(case.name, properties, **rules)]


def value(db, case, given):
    """A value of a case: a number is a link where the property is one."""
    name, what = given
    if not is_link(db, case, name):
        return what
    objects = db[case.name]
    return [objects[key] for key in what] if isinstance(what, list) else what if what is None else objects[what]


def make(path, case):
    """The file of a case: the rule is declared in JSON form, and then the objects are created."""
    first = {} if case.former else {"rules": case.rules}
    with crealm.open(path, schema=schema(case, case.former or case.properties, **first)) as db:
        fill(db, case)
    if case.former:
        crealm.open(path, schema=schema(case, case.properties, rules=case.rules)).close()


def fill(db, case):
    with db.write():
        objects = [
            db[case.name].create(**{name: one[name] for name in one if not is_link(db, case, name)})
            for one in case.objects
        ]
        for thing, values in zip(objects, case.objects):
            for name in values:
                if is_link(db, case, name):
                    thing[name] = value(db, case, (name, values[name]))


def is_link(db, case, name):
    return isinstance(db.schema[case.name].properties[name].type, str)


def kept(path, case):
    """Whether a program that declares nothing keeps the rule."""
    with crealm.open(path) as db:
        if case.refused:
            with pytest.raises(crealm.RuleBroken, match=case.refused):
                act(db, case)
            assert len(db[case.name]) == len(case.objects)
        else:
            act(db, case)
            assert case.after(list(db[case.name]))
        assert not db.broken_rules()


def act(db, case):
    with db.write():
        for what, *rest in case.do:
            if what == "create":
                db[case.name].create(**rest[0])
            elif what == "delete":
                db[case.name][rest[0]].delete()
            else:
                key, name, new = rest
                db[case.name][key][name] = value(db, case, (name, new))


def rules_of(path, case):
    with crealm.open(path, mode="snapshot") as db:
        return db.rules(case.name)


@each
def test_json_schema(path, tmp_path, case):
    """`crealm schema` shows the rule, export and import carry it, and both files keep it."""
    make(path, case)
    found = {one["name"]: one for one in json.loads(quiet(["schema", path, "--json"])[2])["classes"]}[case.name]
    assert rule_lines(found.get("rules", {})) == case.lines and set(found.get("rules", {})) <= {
        "properties",
        "unique",
        "checks",
        "computed",
        "subclasses",
    }
    out, back = tmp_path / "out.json", tmp_path / "back.realm"
    assert quiet(["export", path, out])[0] == 0 and quiet(["import", back, out])[:2] == (0, "")
    assert rules_of(back, case) == rules_of(path, case)
    kept(back, case)
    kept(path, case)


@pytest.mark.parametrize("name", sorted(set(RULES) - {"nullify", "nullify target", "renames"}))
def test_a_file_without_the_rule_is_different(path, tmp_path, name):
    """Each case shows what it says: without its rule, it fails."""
    case = RULES[name]
    make(path, case)
    out, back = tmp_path / "out.json", tmp_path / "back.realm"
    assert quiet(["export", path, out])[0] == 0 and quiet(["import", back, out, "--no-rules"])[0] == 0
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        kept(back, case)


@each
def test_model(path, tmp_path, case):
    """The Python text of `crealm schema` declares the rule."""
    make(path, case)
    module = types.ModuleType("declared")
    exec(quiet(["schema", path])[2], module.__dict__)
    new = tmp_path / "new.realm"
    with crealm.open(new, schema=module) as db:
        if not case.former:
            fill(db, case)
    assert rules_of(new, case) == rules_of(path, case)
    if not case.former:
        kept(new, case)


@each
def test_browser(path, case):
    """The page of the schema shows the rule, and edits follow it."""
    pytest.importorskip("starlette", reason="starlette is not there")
    from test_browse_edit import Editing

    make(path, case)
    with Editing(path) as editing:
        found = {one["name"]: one for one in editing.get(path.name, "schema")["classes"]}[case.name]
        assert found["ruleLines"] == case.lines
        changes = [in_browser(path, case, one) for one in case.do]
        if case.refused:
            error = editing.edit(*changes, status=409)
            assert error["kind"] == "RuleBroken" and re.search(case.refused, error["message"])
        else:
            editing.edit(*changes)
    with crealm.open(path, mode="snapshot") as db:
        assert len(db[case.name]) == len(case.objects) if case.refused else case.after(list(db[case.name]))


def in_browser(path, case, one):
    """A change of a case as the Browser wants it."""
    from test_browse_edit import change

    what, *rest = one
    if what == "create":
        return {"do": "create", "class": case.name, "json": json.dumps(rest[0])}
    with crealm.open(path, mode="snapshot") as db:
        key = db[case.name][rest[0]].object_key
    return change(what, key, *rest[1:2], value=rest[2] if what == "set" else None, of=case.name)


# ------------------------------------------------------------------------------------------------
# The table
# ------------------------------------------------------------------------------------------------

PAGE = REPOSITORY / "docs/rules-tests.md"
COLUMNS = {
    "C": "Tests/C/rules_test.c",
    "Python": "bindings/python/tests/test_rules.py",
    "Swift": "Tests/RealmSwiftTests/RuleTests.swift",
    "JSON schema": "bindings/python/tests/test_rule_table.py",
    "Browser": "bindings/python/tests/test_rule_table.py",
}
NAMED = re.compile(r"(?:`([\w/]+\.(?:c|py|swift))`: )?`(\w+)(?:\[([^\]]*)\])?`")


def table():
    """The rows of the page: the rule, and a cell for each column."""
    text = PAGE.read_text(encoding="utf-8").split("\n## The table\n")[1]
    lines = [line.strip("| ") for line in text.splitlines() if line.startswith("| ")]
    rows = [re.split(r" +\| +", line) for line in lines]
    assert rows[0] == ["Rule", *COLUMNS] and all(len(row) == len(rows[0]) for row in rows)
    return [(row[0], dict(zip(COLUMNS, row[1:]))) for row in rows[2:]]


def faults_of(cell, place):
    """What is wrong with the tests that a cell names."""
    if cell.startswith("–"):
        return [] if re.fullmatch(r"–(?: \(\d\))?", cell) else [f"'{cell}' is no cell"]
    rest = NAMED.sub("", cell).replace(",", "").strip()
    faults = [f"'{rest}' names no test"] if rest or not cell else []
    for other, name, part in NAMED.findall(cell):
        file = Path(place).parent / other if other else Path(place)
        if not (REPOSITORY / file).is_file():
            faults.append(f"there is no {file}")
            continue
        text = (REPOSITORY / file).read_text(encoding="utf-8")
        forms = {
            ".c": (rf"^static void {name}\(", rf"^    {name}\("),  # It is defined, and main calls it.
            ".py": (rf"^def {name}\(",),
            ".swift": (rf"^    @Test(?:\(.*\))? func {name}\(",),
        }[file.suffix]
        if not all(re.search(form, text, re.M) for form in forms):
            faults.append(f"{file} has no test {name}")
        if part and part not in RULES:
            faults.append(f"RULES has no {part}")
    return faults


def test_the_table_names_tests_that_exist():
    faults = [
        f"{rule}, {column}: {fault}"
        for rule, cells in table()
        for column, cell in cells.items()
        for fault in faults_of(cell, COLUMNS[column])
    ]
    assert faults == []


@pytest.mark.parametrize(
    "cell, fault",
    [
        ("`test_nothing`", "has no test test_nothing"),
        ("`test_model[eat]`", "RULES has no eat"),
        ("`test_no_file.py`: `test_model`", "there is no"),
        ("test_model", "names no test"),
        ("", "names no test"),
        ("– or so", "is no cell"),
    ],
)
def test_a_wrong_cell_is_a_fault(cell, fault):
    (found,) = faults_of(cell, COLUMNS["Browser"])
    assert fault in found


def test_a_test_of_c_must_be_called(tmp_path):
    (tmp_path / "a_test.c").write_text("static void test_one(void) {\n}\nint main(void) {\n}\n")
    assert len(faults_of("`test_one`", tmp_path / "a_test.c")) == 1
    (tmp_path / "a_test.c").write_text("static void test_one(void) {\n}\nint main(void) {\n    test_one();\n}\n")
    assert faults_of("`test_one`", tmp_path / "a_test.c") == []


def test_each_rule_has_a_row():
    """Those that Python can declare, and each case, have a row; dashes are where the page explains them."""
    rows = table()
    rules = " ".join(rule for rule, _ in rows)
    declared = set(inspect.signature(crealm.rules.of_field).parameters) - {"file_default", "missing"}
    assert [name for name in declared if not re.search(rf"\b{name}\b", rules)] == []
    cells = " ".join(cell for _, all_ in rows for cell in all_.values())
    for test in ("test_json_schema", "test_browser"):
        assert [name for name in RULES if f"`{test}[{name}]`" not in cells] == []
    page = PAGE.read_text(encoding="utf-8")
    for _, all_ in rows:
        for cell in all_.values():
            assert cell != "–" or all_["JSON schema"] == all_["Browser"] == "–"
            for note in re.findall(r"– \((\d)\)", cell):
                assert f"\n{note}. " in page
