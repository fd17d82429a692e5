"""Migrations: changes that happen automatically, changes that need a function, the abilities of the function, and
failures, which do not change the file."""

import gc
import threading
from datetime import datetime
from typing import Any, List, Optional

import pytest

import crealm
from crealm import ClassSchema, Model, Prop, field

OLD = [
    ClassSchema(
        "Person",
        {
            "first": str,
            "last": str,
            "age": int,
            "code": str,
            "nick": Optional[str],
            "tags": list[str],
            "friend": "Person",
        },
    ),
    ClassSchema("Unused", {"n": int}),
]


class Person(Model):
    name: str
    age: Optional[int]
    code: int
    nick: str
    labels: List[str]
    friend: Optional["Person"]
    born: Optional[datetime]
    rank: int


def give_up(before, after, version=None):
    """A migration that removes the properties of Person that the schema does not declare and that were not renamed."""
    declared = {prop.name for facts in after._declared.classes for prop in facts.properties}
    gone = {("Person", name) for name in before["Person"].schema.properties if name not in declared} - after._given_up
    after.remove_property("Person", *sorted(name for _, name in gone))


@pytest.fixture
def old(path):
    with crealm.open(path, schema=OLD, schema_version=3) as db, db.write():
        table = db["Person"]
        for n in range(3):
            table.create(
                first=f"f{n}",
                last=f"l{n}",
                age=n,
                code=str(n * 10),
                nick=f"n{n}" if n else None,
                tags=["t", str(n)],
                friend=table.first(),
            )
        db["Unused"].create(n=1)
    return path


def test_a_migration(old):
    seen, kept = [], []

    def migrate(before, after, version):
        seen.append(version)
        assert before.classes == ["Person", "Unused"] and after.classes == ["Person"]
        assert before.schema_version == 3 and "first" in before.schema["Person"].properties
        assert list(after.schema["Person"].properties)[:2] == ["name", "age"] and after.is_writing
        after.rename_property("Person", "tags", "labels")
        for was, now in after.pairs(Person):
            assert type(was) is type(now) is crealm.Object and was.object_key == now.object_key
            assert now.name == "" and now.code == 0 and now.nick == "" and now.age == was.age
            assert now.labels == was.tags
            now.name = f"{was.first} {was.last}"
            now.code = int(was.code)
            now.nick = was.nick or "none"
            now.labels.append("new")
        kept.extend([was, now, was.tags, now.labels, before["Person"], after["Person"], before, after])
        with pytest.raises(crealm.NoSuchProperty):
            now.first
        after["Person"].create(name="made")
        give_up(before, after)
        assert after.remove_class("Unused") is True and after.remove_class("Nobody") is False

    with crealm.open(old, schema=[Person], schema_version=5, migrate=migrate) as db:
        assert seen == [3] and db.schema_version == 5 and db.classes == ["Person"]
        people = list(db[Person])
        assert [type(p) for p in people] == [Person] * 4
        assert [p.name for p in people] == ["f0 l0", "f1 l1", "f2 l2", "made"]
        assert [p.code for p in people] == [0, 10, 20, 0] and people[1].friend == people[0]
        assert [p.nick for p in people] == ["none", "n1", "n2", ""]
        assert [p.age for p in people] == [0, 1, 2, None]
        assert people[2].labels == ["t", "2", "new"] and people[3].born is None
    for thing in kept[:6]:
        with pytest.raises(crealm.ClosedError):
            len(thing) if not isinstance(thing, crealm.Object) else thing.age
    for thing in kept[6:]:
        assert thing.is_closed
        with pytest.raises(crealm.ClosedError):
            thing["Person"]
    with crealm.open(old, schema=[Person], schema_version=5, migrate=migrate):
        assert seen == [3]  # The function does not run again.
    with crealm.open(old) as db:
        assert db.classes == ["Person"] and "first" not in db.schema["Person"].properties


def test_what_happens_without_a_function(old):
    class Additions(Model):
        first: str
        more: int = 5
        others: List["Additions"]

        class Meta:
            name = "Person"

    with crealm.open(old, schema=[Additions]) as db:
        assert db.schema_version == 3 and [p.more for p in db[Additions]] == [0, 0, 0]
    with crealm.open(old, schema=[Additions], schema_version=4) as db:
        assert db.schema_version == 4 and [p.first for p in db[Additions]] == ["f0", "f1", "f2"]
    before = old.read_bytes()
    for version in (None, 4, 9):
        with pytest.raises(crealm.MigrationRequired) as info:
            crealm.open(old, schema=[Person], schema_version=version)
        assert any("age" in change for change in info.value.changes)
        assert "migrate=" in str(info.value) and info.value.code in (2017, 2019)
    with pytest.raises(crealm.MigrationRequired):  # The version is not higher.
        crealm.open(old, schema=[Person], schema_version=4, migrate=lambda *_: None)
    with pytest.raises(crealm.SchemaError) as info:
        crealm.open(old, schema=[Person], schema_version=3, migrate=lambda *_: None)
    assert info.value.code == 2018
    assert old.read_bytes() == before


class Boom(Exception):
    pass


@pytest.mark.parametrize("error", [Boom, KeyboardInterrupt, SystemExit, crealm.Error])
def test_a_migration_that_raises(old, error):
    before = old.read_bytes()

    def migrate(was, now, version):
        now["Person"][0].name = "changed"
        now["Person"].create()
        now.remove_class("Unused")
        now.rename_property("Person", "tags", "labels")
        raise error("stop")

    with pytest.raises(error, match="stop") as info:
        crealm.open(old, schema=[Person], schema_version=5, migrate=migrate)
    assert any("migrate" in str(entry.name) for entry in info.traceback)
    del info
    gc.collect()
    assert old.read_bytes() == before
    with crealm.open(old, schema=OLD) as db:
        assert db.schema_version == 3 and [p.first for p in db["Person"]] == ["f0", "f1", "f2"]
        assert db.verify() == []


def test_what_a_migration_may_not_do(old):
    codes = {}

    def migrate(was, now, version):
        actions = {
            "old": lambda: setattr(was["Person"][0], "first", "x"),
            "old write": lambda: was.write().__enter__(),
            "write": now.write,
            "close": now.close,
            "add": lambda: now.add(Person(name="x")),
            "model": lambda: now[Person],
            "remove": lambda: now.remove_class("Person"),
            "class": lambda: now.rename_property("Nobody", "a", "b"),
            "property": lambda: now.rename_property("Person", "nope", "name"),
            "type": lambda: now.rename_property("Person", "tags", "name"),
            "required": lambda: now.rename_property("Person", "nick", "name"),
            "there": lambda: now.rename_property("Person", "age", "rank"),
            "declared": lambda: now.remove_property("Person", "first", "age"),
            "unknown": lambda: now.remove_property("Person", "frist"),
            "nobody": lambda: now.remove_property("Nobody", "first"),
            "nested": lambda: crealm.open(old, schema=[Person], schema_version=5, migrate=migrate),
        }
        for name, action in actions.items():
            try:
                action()
            except crealm.Error as error:
                codes[name] = type(error)
        give_up(was, now)

    crealm.open(old, schema=[Person], schema_version=5, migrate=migrate).close()
    assert codes == {
        "old": crealm.ReadOnlyError,
        "old write": crealm.ReadOnlyError,
        "write": crealm.UsageError,
        "close": crealm.UsageError,
        "add": crealm.NoSuchClass,
        "model": crealm.NoSuchClass,
        "remove": crealm.SchemaError,
        "class": crealm.NoSuchClass,
        "property": crealm.NoSuchProperty,
        "type": crealm.UsageError,
        "required": crealm.UsageError,
        "there": crealm.UsageError,
        "declared": crealm.SchemaError,
        "unknown": crealm.NoSuchProperty,
        "nobody": crealm.NoSuchClass,
        "nested": codes.get("nested"),
    }
    assert issubclass(codes["nested"], crealm.Error)


def test_other_databases_of_the_process(old):
    with crealm.open(old, schema=OLD):
        with pytest.raises(crealm.UsageError, match="close the other databases"):
            crealm.open(old, schema=[Person], schema_version=5, migrate=lambda *_: None)
    with crealm.open(old, schema=[Person], schema_version=5, migrate=give_up) as one:
        with crealm.open(old, schema=[Person], schema_version=5) as two, crealm.open(old):
            assert len(one[Person]) == len(two[Person]) == 3
            with two.write():
                two[Person][0].name = "x"
            one.refresh()
            assert one[Person][0].name == "x"


def test_primary_keys(path):
    with crealm.open(path, schema=[ClassSchema("K", {"id": int, "s": str})], schema_version=1) as db:
        with db.write():
            for n in range(3):
                db["K"].create(id=5, s=f"s{n}")
    before = path.read_bytes()

    class K(Model):
        id: int = field(primary_key=True)
        s: str

    with pytest.raises(crealm.SchemaError) as info:
        crealm.open(path, schema=[K], schema_version=2, migrate=lambda *_: None)
    assert info.value.code == 2020 and path.read_bytes() == before

    def number(was, now, version):
        for n, obj in enumerate(now["K"]):
            obj.id = n + 100

    with crealm.open(path, schema=[K], schema_version=2, migrate=number) as db:
        assert [k.id for k in db[K]] == [100, 101, 102] and db[K].get(101).s == "s1"


def test_deleting_and_creating(old):
    def migrate(was, now, version):
        pairs = list(now.pairs("Person"))
        pairs[1][1].delete()
        made = now["Person"].create(name="made", friend=pairs[0][1])
        assert [w.age for w, _ in now.pairs("Person")] == [0, 2] and made.friend == pairs[0][1]
        give_up(was, now)

    with crealm.open(old, schema=[Person], version=4, migrate=migrate) as db:
        assert [p.age for p in db[Person]] == [0, 2, None] and db.schema_version == 4


def test_files_without_classes_or_version(tmp_path, path):
    def never(*_):
        raise AssertionError

    with crealm.open(path, schema=[Person], schema_version=2, migrate=never) as db:
        assert db.schema_version == 2
    crealm.open(tmp_path / "empty.realm", mode="rwc").close()
    with crealm.open(tmp_path / "empty.realm", schema=[Person], schema_version=2, migrate=never) as db:
        assert db.schema_version == 2 and db.classes == ["Person"]


def test_arguments(old):
    for arguments in (
        dict(migrate=print),
        dict(migrate=print, schema=OLD),
        dict(migrate=print, schema=OLD, schema_version=4, mode="r"),
        dict(version=4),
    ):
        with pytest.raises(crealm.DataError):
            crealm.open(old, **arguments)
    with pytest.raises(TypeError):
        crealm.open(old, schema=OLD, version=4, schema_version=4)


def test_a_migration_changes_collections_and_embedded_objects(path):
    before = [
        ClassSchema("Owner", {"n": int, "part": "Part", "any": Any, "parts": list["Part"]}),
        ClassSchema("Part", {"n": int}, embedded=True),
    ]
    after = [
        ClassSchema("Owner", {"n": str, "part": "Part", "any": Any, "parts": list["Part"], "log": list[str]}),
        ClassSchema("Part", {"n": int, "s": str}, embedded=True),
    ]
    with crealm.open(path, schema=before, version=1) as db, db.write():
        db["Owner"].create(n=1, part={"n": 2}, any=[{"a": [1]}], parts=[{"n": 3}, {"n": 4}])

    def migrate(was, now, version):
        for a, b in now.pairs("Owner"):
            b.n = str(a.n)
            b.part.s = f"was {a.part.n}"
            b.any[0]["a"].append({"more": None})
            b.parts.append({"n": 5, "s": "new"})
            b.log = [p.s or "-" for p in b.parts]

    with crealm.open(path, schema=after, version=2, migrate=migrate) as db:
        assert db["Owner"][0].to_dict() == {
            "n": "1",
            "part": {"n": 2, "s": "was 2"},
            "any": [{"a": [1, {"more": None}]}],
            "parts": [{"n": 3, "s": ""}, {"n": 4, "s": ""}, {"n": 5, "s": "new"}],
            "log": ["-", "-", "new"],
        }


def test_a_database_of_a_migration_belongs_to_its_thread(old):
    errors = []

    def migrate(was, now, version):
        obj = now["Person"][0]

        def work():
            for action in (lambda: obj.name, lambda: now["Person"], lambda: was.classes):
                try:
                    action()
                except crealm.WrongThreadError as error:
                    errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        give_up(was, now)

    crealm.open(old, schema=[Person], version=5, migrate=migrate).close()
    assert len(errors) == 3


def test_index_changes(old):
    schema = [ClassSchema("Person", {"first": Prop(str, indexed=True), "age": Prop(int, indexed=True)})]
    with crealm.open(old, schema=schema, version=4, migrate=give_up) as db:
        assert all(p.indexed for p in db["Person"].schema.properties.values())


def test_a_primary_key_whose_column_key_is_zero(path):
    """In a migration, the first property of a file's first class is replaced by an int that is the primary key: number,
    type and tag of its column are all 0."""

    def migrate(before, after, version):
        for old, new in zip(before["Person"], after["Person"]):
            new.id = int(old.id)

    with crealm.open(path, schema=[ClassSchema("Person", {"id": str})], schema_version=1) as db, db.write():
        for n in range(3):
            db["Person"].create(id=str(n))
    keyed = [ClassSchema("Person", {"id": int}, primary_key="id")]
    with crealm.open(path, schema=keyed, schema_version=2, migrate=migrate) as db:
        assert sorted(p.id for p in db["Person"]) == [0, 1, 2]
    for number in (3, 4):  # Each commit rewrites the table.
        with crealm.open(path, schema=keyed, schema_version=2) as db, db.write():
            assert db["Person"].create(number).id == number
    with crealm.open(path) as db:
        assert db.schema["Person"].primary_key == "id"
        assert [db["Person"][n].id for n in range(5)] == [0, 1, 2, 3, 4]


def test_no_property_is_lost_without_a_word(old):
    before = old.read_bytes()

    def migrate(was, now, version):
        now.rename_property("Person", "tags", "labels")
        now.remove_property(Person, "last")

    with pytest.raises(crealm.SchemaError, match=r"would remove Person\.first, with all values: the schema does not declare it\. .*'first'\)"):
        crealm.open(old, schema=[Person], schema_version=4, migrate=migrate)
    assert old.read_bytes() == before
    with crealm.open(old, schema=OLD[1:], schema_version=4, migrate=lambda *_: None) as db:  # Undeclared classes stay.
        assert len(db["Unused"]) == 1
    with crealm.open(old) as db:
        assert [person.first for person in db["Person"]] == ["f0", "f1", "f2"]


class Aged(Model):
    class Meta:
        name = "Unused"

    n: int
    age: int = 30


def test_a_default_is_for_new_instances(old):
    """As in the tutorial; update() gives the default to existing objects."""
    with crealm.open(old, schema=[Aged]) as db:
        assert [row.age for row in db[Aged]] == [0]
        with db.write():
            assert db.add(Aged(n=2)).age == db["Unused"].create(n=3).age == 30
            assert db[Aged].where(Aged.age == 0).update(age=30) == 1
        assert [row.age for row in db[Aged]] == [30, 30, 30]
