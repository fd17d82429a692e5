"""What models would change in a file: crealm.plan() and `crealm migrate`."""

import ast
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

import crealm
from crealm import ClassSchema, Prop
from test_cli_import import quiet


def make(path, schema, fill=lambda db: None, version=1):
    with crealm.open(path, schema=schema, schema_version=version) as db, db.write():
        fill(db)
    return path


def one(**properties):
    key = properties.pop("key", None)
    return [ClassSchema("A", properties, primary_key=key)]


PART, OTHER = ClassSchema("B", {"x": int}), ClassSchema("C", {"x": int})
# The classes of the file, those of the models, and for each change its kind, name, and what it needs.
CHANGES = {
    "nothing": (one(a=int), one(a=int), []),
    "a class": (one(a=int), [*one(a=int), PART], [("class added", "B", "opening")]),
    "a property": (one(a=int), one(a=int, b=str), [("property added", "A.b", "opening")]),
    "a class less": ([*one(a=int), PART], one(a=int), [("class removed", "B", "nothing")]),
    "a property less": (one(a=int, b=str), one(a=int), [("property removed", "A.b", "nothing")]),
    "a type": (one(a=int), one(a=str), [("type", "A.a", "migration")]),
    "optional": (one(a=int), one(a=Optional[int]), [("type", "A.a", "migration")]),
    "required": (one(a=Optional[int]), one(a=int), [("type", "A.a", "migration")]),
    "a list": (one(a=int), one(a=list[int]), [("type", "A.a", "migration")]),
    "a set": (one(a=list[int]), one(a=set[int]), [("type", "A.a", "migration")]),
    "elements": (one(a=list[int]), one(a=list[Optional[int]]), [("type", "A.a", "migration")]),
    "anything": (one(a=int), one(a=Any), [("type", "A.a", "migration")]),
    "a link": ([*one(a="B"), PART, OTHER], [*one(a="C"), PART, OTHER], [("type", "A.a", "migration")]),
    "an index": (one(a=int), one(a=Prop(int, indexed=True)), [("index", "A.a", "version")]),
    "no index": (one(a=Prop(int, indexed=True)), one(a=int), [("index", "A.a", "version")]),
    "words": (one(a=Prop(str, indexed=True)), one(a=Prop(str, fulltext=True)), [("index", "A.a", "version")]),
    "a key": (one(a=int), one(a=int, key="a"), [("primary key", "A", "migration")]),
    "another key": (one(a=int, b=int, key="a"), one(a=int, b=int, key="b"), [("primary key", "A", "migration")]),
    "no key": (one(a=int, key="a"), one(a=int), [("primary key", "A", "migration")]),
    "embedded": ([*one(b="B"), PART], [*one(b="B"), ClassSchema("B", {"x": int}, embedded=True)], [("embedded", "B", "migration")]),
    "not embedded": ([*one(b="B"), ClassSchema("B", {"x": int}, embedded=True)], [*one(b="B"), PART], [("embedded", "B", "migration")]),
    "several": (
        one(a=int, b=Prop(str, indexed=True), c=float), one(a=Optional[int], b=str, d=bytes),
        [("type", "A.a", "migration"), ("index", "A.b", "version"), ("property removed", "A.c", "nothing"), ("property added", "A.d", "opening")]),
}  # fmt: skip


def needs_migration(path, schema):
    try:
        crealm.open(path, schema=schema).close()
        return False
    except crealm.MigrationRequired:
        return True


@pytest.mark.parametrize("name", CHANGES)
def test_each_kind_of_change(path, name):
    before, after, expected = CHANGES[name]
    make(path, before)
    plan = crealm.plan(path, after)
    assert sorted((change.kind, change.name, change.needs) for change in plan.changes) == sorted(expected)
    assert (
        bool(plan) == bool(expected)
        and plan.needs_migration == needs_migration(path, after)
        and plan.version == 1
    )
    # A higher version makes what the plan says that it makes.
    if not plan.needs_migration:
        crealm.open(path, schema=after, schema_version=2).close()
        assert all(change.needs == "nothing" for change in crealm.plan(path, after).changes)


SEED = random.randrange(2**32)


def random_schema(chance):
    kinds = [
        int,
        str,
        float,
        Optional[int],
        Optional[str],
        list[int],
        set[str],
        dict[str, int],
        Any,
        "B",
        list["B"],
    ]
    properties = {
        name: Prop(chance.choice(kinds))
        for name in chance.sample(["name", "nam", "age", "x", "y"], k=chance.randrange(1, 5))
    }
    for name in properties:
        if (
            properties[name].type in (int, str)
            and properties[name].collection is None
            and chance.random() < 0.3
        ):
            properties[name] = Prop(properties[name].type, optional=properties[name].optional, indexed=True)
    keys = [name for name, prop in properties.items() if prop.type in (int, str) and prop.collection is None]
    key = chance.choice(keys) if keys and chance.random() < 0.3 else None
    if key:
        properties[key] = Prop(properties[key].type, optional=properties[key].optional)
    return [
        ClassSchema("A", properties, primary_key=key),
        ClassSchema("B", {"n": chance.choice([int, str])}),
        *([OTHER] if chance.random() < 0.3 else []),
    ]


def test_random_schemas_need_what_the_plan_says(tmp_path):
    chance = random.Random(SEED)
    for number in range(60):
        before, after = random_schema(chance), random_schema(chance)
        path = make(tmp_path / f"{number}.realm", before)
        plan = crealm.plan(path, after)
        assert plan.needs_migration == needs_migration(path, after), (SEED, number, str(plan))
        assert bool(plan) == (before != after and str(before) != str(after)), (SEED, number)
        compile(plan.script(), "script", "exec")


class Person(crealm.Model):
    name: str
    age: str
    nick: Optional[str]
    born: Optional[datetime]


OLD = [
    ClassSchema(
        "Person", {"n": str, "age": int, "nick": str, "city": Optional[str], "born": Optional[datetime]}
    ),
    ClassSchema("Trip", {"km": int}),
]


def fill(db):
    db["Person"].create(n="Ann", age=31, nick="A", city="Oslo")
    db["Person"].create(n="Bo", age=0, nick="", city="")
    db["Person"].create(n="", age=5, nick="", born=datetime(2000, 1, 1, tzinfo=timezone.utc))
    db["Trip"].create(km=5)


def test_what_is_lost_and_what_was_renamed(path):
    make(path, OLD, fill, version=4)
    plan = crealm.plan(path, [Person])
    found = {change.name: (change.kind, change.lost, change.objects) for change in plan.changes}
    assert found == {
        "Person.name": ("property added", 0, 3), "Person.age": ("type", 2, 3), "Person.nick": ("type", 0, 3), "Person.n": ("property removed", 2, 3),
        "Person.city": ("property removed", 2, 3), "Trip": ("class removed", 0, 1)}  # fmt: skip
    assert [(rename.class_name, rename.before, rename.after) for rename in plan.renames] == [
        ("Person", "n", "name")
    ]
    lines = str(plan).splitlines()
    assert "~ Person.age: int → str; 2 of 3 objects have a value; needs a migration" in lines
    assert "~ Person.nick: str → Optional[str]; values are kept; needs a migration" in lines
    assert (
        "- Person.city: Optional[str]; 2 of 3 objects have a value; stays in the file, unless a migration removes it"
        in lines
    )
    assert (
        "+ Person.name: str; 3 objects get ''; opening adds it" in lines
        and "- Trip: class; 1 object; stays in the file, unless a migration removes it" in lines
    )
    assert lines[-2].startswith(
        "? Person.n and Person.name: the same property? new.rename_property('Person', 'n', 'name')"
    )
    assert lines[-1] == "a migration is needed; without care for them 2 values are lost"
    assert "<td>Person.age</td>" in plan._repr_html_() and repr(plan) == "<MigrationPlan of 6 changes>"


@pytest.mark.parametrize("before, after, kind, is_rename", [
    ("n", "name", str, True), ("surname", "family_name", str, True), ("firstName", "first_name", str, True), ("colour", "color", str, True),
    ("a", "zzz", str, True),  # The only ones.
])  # fmt: skip
def test_names_that_are_alike(path, before, after, kind, is_rename):
    make(path, [ClassSchema("A", {before: kind, "other": int})])
    plan = crealm.plan(path, [ClassSchema("A", {after: kind, "other": int})])
    assert [(one.before, one.after) for one in plan.renames] == [(before, after)] * is_rename


def test_no_rename_where_it_is_impossible(path):
    make(path, [ClassSchema("A", {"name": Optional[str], "x": int, "colour": str, "color2": str})])
    for after in {"names": str}, {"names": int}, {"names": list[str]}, {"b": str, "q": Optional[str]}:
        assert crealm.plan(path, [ClassSchema("A", {**after, "x": int})]).renames == []
    both = crealm.plan(path, [ClassSchema("A", {"name": Optional[str], "x": int, "color": str})])
    assert [(one.before, one.after) for one in both.renames] == [("colour", "color")]  # The most similar one.


def test_a_class_that_was_renamed(path):
    make(
        path,
        [ClassSchema("Dog", {"name": str, "age": int}), ClassSchema("Town", {"size": float})],
        lambda db: db["Dog"].create(name="Rex"),
    )
    plan = crealm.plan(
        path, [ClassSchema("Hound", {"name": str, "age": int}), ClassSchema("City", {"people": int})]
    )
    assert [(one.class_name, one.before, one.after) for one in plan.renames] == [(None, "Dog", "Hound")]
    assert "Meta: renamed_from = 'Dog' keeps its objects" in str(plan) and not plan.needs_migration
    done = crealm.plan(
        path,
        [
            ClassSchema("Hound", {"name": str, "age": int}, rules={"renamed_from": "Dog"}),
            ClassSchema("Town", {"size": float}),
        ],
    )
    assert [(change.kind, change.before, change.after) for change in done.changes] == [
        ("renamed", "Dog", "Hound")
    ] and not done.renames


def test_renames_that_models_declare(path):
    class Cat(crealm.Model):
        name: str = crealm.field(renamed_from="n")

        class Meta:
            renamed_from = "Kitten"

    make(path, [ClassSchema("Kitten", {"n": str})], lambda db: db["Kitten"].create(n="Tom"))
    plan = crealm.plan(path, [Cat])
    assert [(change.kind, change.name, change.needs) for change in plan.changes] == [
        ("renamed", "Cat", "opening"),
        ("renamed", "Cat.name", "opening"),
    ]
    with crealm.open(path, schema=[Cat]) as db:
        assert db[Cat].first().name == "Tom"
    assert not crealm.plan(path, [Cat])


def test_models_with_subclasses(path):
    class Animal(crealm.Model):
        kind: str
        name: str

        class Meta:
            type_property = "kind"

    class Dog(Animal):
        breed: Optional[str]

    make(path, [ClassSchema("Animal", {"kind": str, "name": str})])
    plan = crealm.plan(path, [Animal, Dog])
    assert [(change.kind, change.name) for change in plan.changes] == [("property added", "Animal.breed")]
    crealm.open(path, schema=[Animal, Dog]).close()
    assert not crealm.plan(path, [Animal, Dog])


def test_keys_and_owners(path):
    schema = [ClassSchema("A", {"id": int, "part": "B"}), PART]

    def some(db):
        parts = [db["B"].create(x=number) for number in range(3)]
        for number, part in (1, parts[0]), (1, parts[0]), (2, parts[1]), (3, None):
            db["A"].create(id=number, part=part)

    make(path, schema, some)
    plan = crealm.plan(
        path,
        [
            ClassSchema("A", {"id": int, "part": "B"}, primary_key="id"),
            ClassSchema("B", {"x": int}, embedded=True),
        ],
    )
    assert {change.class_name: change.note for change in plan.changes} == {
        "A": "2 objects share a value, and each needs its own in the end",
        "B": "2 of its objects do not have exactly one owner, which each needs in the end",
    }


def test_values_of_all_types_are_counted(path):
    values = {
        "i": (int, 0, 5), "t": (bool, False, True), "f": (float, 0.0, 0.5), "s": (crealm.Float32, crealm.Float32(0), crealm.Float32(1)), "w": (str, "", "x"),
        "b": (bytes, b"", b"x"), "d": (datetime, datetime(1970, 1, 1, tzinfo=timezone.utc), crealm.RawTimestamp(10**15, 0)),
        "c": (Decimal, Decimal(0), Decimal(1)), "u": (UUID, UUID(int=0), UUID(int=1)), "o": (crealm.ObjectId, crealm.ObjectId(bytes(12)), crealm.ObjectId()),
        "l": (list[int], [], [0]), "m": (dict[str, int], {}, {"a": 0}), "e": (set[str], [], [""]), "a": (Any, None, 0), "n": (Optional[int], None, 0),
    }  # fmt: skip
    make(path, one(**{name: kind for name, (kind, _, _) in values.items()}, x=int), lambda db: [
        db["A"].create(**{name: value[place] for name, value in values.items()}) for place in (1, 2, 2)])  # fmt: skip
    plan = crealm.plan(path, one(x=int))
    assert {change.property_name: (change.lost, change.objects) for change in plan.changes} == dict.fromkeys(
        values, (2, 3)
    )


def test_names_in_a_file_are_no_program(path):
    """The program that is written has names of the file in comments and texts; none of them can become a statement."""
    evil = "x\nraise SystemExit(9)\r\x0c\u2028raise SystemExit(8)\n"
    make(
        path,
        [ClassSchema(evil, {evil: int, "n": int, "k": str}), ClassSchema(f"{evil}2", {"n": int})],
        lambda db: db[evil].create(k="1"),
    )
    for after in {"n": str, "k": bytes}, {f"{evil}b": int, "n": Optional[str]}:
        text = crealm.plan(path, [ClassSchema(evil, after, primary_key=None)]).script("json")
        tree = ast.parse(text)
        assert not any(isinstance(node, ast.Raise) for node in ast.walk(tree)) and "SystemExit" in text
    assert crealm.plan(path, [PART]).script().count("# ") >= 4


def test_encrypted_and_not_there(tmp_path):
    path = tmp_path / "secret.realm"
    with crealm.open(path, schema=[PART], key=b"k" * 64):
        pass
    assert not crealm.plan(path, [PART], key=b"k" * 64)
    with pytest.raises(crealm.WrongKeyError):
        crealm.plan(path, [PART])
    with pytest.raises(crealm.FileNotFound):
        crealm.plan(path.with_name("none.realm"), [PART])


# ------------------------------------------------------------------------------------------------
# The command
# ------------------------------------------------------------------------------------------------

MODELS = """
from __future__ import annotations
from datetime import datetime
from typing import Optional
import crealm

class Person(crealm.Model):
    name: str
    age: str
    nick: Optional[str]
    born: Optional[datetime]
    boss: Optional[Person]
"""


@pytest.fixture
def folder(tmp_path):
    make(tmp_path / "a.realm", OLD, fill, version=4)
    (tmp_path / "diary.py").write_text(MODELS, encoding="utf-8")
    yield tmp_path
    sys.modules.pop("diary", None)


def test_the_command(folder):
    before = (folder / "a.realm").read_bytes()
    code, said, out = quiet(["migrate", folder / "a.realm", folder / "diary.py", "--plan"])
    assert (code, said) == (
        3,
        "",
    ) and "~ Person.age: int → str; 2 of 3 objects have a value; needs a migration" in out.splitlines()
    code, said, out = quiet(["migrate", folder / "a.realm", folder / "diary.py", "--json"])
    told = json.loads(out)
    assert (
        code == 3
        and told["needsMigration"]
        and told["version"] == 4
        and told["path"] == str(folder / "a.realm")
    )
    assert (
        told["renames"] == [{"class_name": "Person", "before": "n", "after": "name", "similarity": 0.7}]
        and len(told["changes"]) == 7
    )
    assert (folder / "a.realm").read_bytes() == before and sys.path[0] != str(folder)
    (folder / "same.json").write_text(quiet(["schema", folder / "a.realm", "--json"])[2], encoding="utf-8")
    assert quiet(["migrate", folder / "a.realm", folder / "same.json"]) == (0, "", "nothing changes\n")


def test_the_program_that_it_writes(folder):
    out = folder / "migration.py"
    code, said, _ = quiet(["migrate", folder / "a.realm", folder / "diary.py", "--write", out])
    text = out.read_text(encoding="utf-8")
    assert code == 3 and said == f"crealm: {out} is written: complete it, and try it on a copy\n"
    assert (
        "new.rename_property('Person', 'n', 'name')" in text
        and "# new.remove_property('Person', 'city')" in text
        and "VERSION = 5" in text
    )
    assert "# new.remove_class('Trip')" in text and "after['age'] = str(before['age'])" in text
    assert quiet(["migrate", folder / "a.realm", folder / "diary.py", "--write", out])[:2] == (
        1,
        f"crealm: {out} is there already\n",
    )
    shutil.copy(folder / "a.realm", folder / "b.realm")

    def run():
        return subprocess.run(
            [sys.executable, "migration.py", "b.realm"], cwd=folder, capture_output=True, text=True
        )

    # As it is written it refuses to lose the values of city.
    done = run()
    assert done.returncode == 1 and "The migration would remove Person.city" in done.stderr
    with crealm.open(folder / "b.realm", mode="r") as db:
        assert db.schema_version == 4
    out.write_text(text.replace("# new.remove", "new.remove"), encoding="utf-8")
    done = run()
    assert done.returncode == 0 and done.stdout.endswith("b.realm has schema version 5\n"), done.stderr
    with crealm.open(folder / "b.realm", mode="r") as db:
        assert [(o.name, o.age, o.nick) for o in db["Person"]] == [
            ("Ann", "31", "A"),
            ("Bo", "0", ""),
            ("", "5", ""),
        ] and "Trip" not in db
    assert quiet(["migrate", folder / "b.realm", folder / "diary.py"]) == (0, "", "nothing changes\n")


@pytest.mark.parametrize("text, says", [
    ("import nothing_of_this_name", "cannot be imported: No module named 'nothing_of_this_name'"),
    ("x = 1", "declares no models. Models are classes that inherit from crealm.Model."),
    ("1 / 0", "fails with ZeroDivisionError: division by zero"),
    ("def f(:", "fails with SyntaxError"),
    ("import crealm\nclass A(crealm.Model):\n    x: complex", "is no type that a property can have"),
    ("import crealm\nclass A(crealm.Model):\n    x: 'Nowhere'", "Nowhere"),
])  # fmt: skip
def test_modules_that_are_wrong(folder, text, says):
    (folder / "wrong.py").write_text(text, encoding="utf-8")
    code, said, _ = quiet(["migrate", folder / "a.realm", folder / "wrong.py"])
    sys.modules.pop("wrong", None)
    assert code == 1 and says in said and said.startswith("crealm: "), said


def test_other_names_of_models(folder):
    assert "No module named 'nothing_there'" in quiet(["migrate", folder / "a.realm", "nothing_there"])[1]
    assert "models.py" in quiet(["migrate", folder / "a.realm", str(folder / "a-b.py")])[1]
    assert quiet(["migrate", folder / "a.realm", folder / "none.py"])[0] == 1
    (folder / "x.json").write_text("[", encoding="utf-8")
    assert quiet(["migrate", folder / "a.realm", folder / "x.json"])[0] == 1
