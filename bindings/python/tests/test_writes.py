"""Writes: commits, rollbacks, errors, and the state of objects afterwards."""

import os

import pytest

import crealm
from conftest import PERSON


def test_commit_reaches_a_second_database(people, path):
    with crealm.open(path) as other:
        assert [p.name for p in other["Person"]] == ["Ann", "Bob", "Cyd"]
        with people.write():
            people["Person"].create(4, name="Dan")
        assert len(other["Person"]) == 3
        assert other.refresh() is True and other.refresh() is False
        assert other["Person"].get(4).name == "Dan"
        with other.write():
            other["Person"].get(4).name = "Eve"
        assert people["Person"].get(4).name == "Dan"
        with people.write():
            assert people["Person"].get(4).name == "Eve"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit, crealm.Error])
def test_any_exception_rolls_back(people, error):
    ann = people["Person"].get(1)
    cyd = people["Person"].get(3)
    version = people.version
    with pytest.raises(error):
        with people.write():
            ann.name = "changed"
            new = people["Person"].create(9, name="new")
            cyd.delete()
            assert not cyd.is_valid and new.is_valid
            raise error("stop")
    assert ann.name == "Ann" and cyd.is_valid and cyd.name == "Cyd"
    assert not new.is_valid and not new and people["Person"].get(9) is None
    assert people.version == version and not people.is_writing
    with pytest.raises(crealm.InvalidatedError):
        new.name
    with people.write():
        ann.name = "Anna"
    assert ann.name == "Anna"


def test_writes_do_not_nest(people):
    with people.write():
        with pytest.raises(crealm.UsageError, match="nest"):
            with people.write():
                pass
        assert people.is_writing
        people["Person"].get(1).age = 5
    assert people["Person"].get(1).age == 5


def test_a_write_that_is_not_running_cannot_end(people):
    write = people.write()
    for _ in range(2):
        with pytest.raises(crealm.UsageError, match="No write is running"):
            write.__exit__(None, None, None)
        with write:
            people["Person"].get(1).age += 1
    assert people["Person"].get(1).age == 33 and not people.is_closed


def test_arguments_of_the_wrong_type(people, path):
    with pytest.raises(crealm.DataError, match="A timeout is a number of seconds, or None, not '1'"):
        people.write(timeout="1")
    with pytest.raises(crealm.DataError, match="'1' is no schema version"):
        crealm.open(path, schema=[], schema_version="1")


def test_two_databases_writing_on_one_thread_do_not_hang(people, path):
    with crealm.open(path) as other:
        with people.write():
            with pytest.raises(crealm.UsageError) as info:
                with other.write():
                    pass
            assert type(info.value) is crealm.UsageError and info.value.code == 2005
            assert not other.is_writing and people.is_writing
        with other.write():
            other["Person"].get(1).age = 6


def test_changes_outside_a_write(people):
    ann = people["Person"].get(1)
    for change in (
        lambda: setattr(ann, "name", "x"),
        lambda: ann.__setitem__("name", "x"),
        lambda: ann.delete(),
        lambda: people["Person"].create(7),
    ):
        with pytest.raises(crealm.NotInWriteError) as info:
            change()
        assert "db.write()" in str(info.value) and info.value.code == 2005
    with pytest.raises(crealm.NotInWriteError, match="Person.name"):
        ann.name = "x"
    assert ann.name == "Ann" and len(people["Person"]) == 3


def test_deleted_objects(people):
    ann, bob = people["Person"].get(1), people["Person"].get(2)
    handle = people["Person"].get(2)
    with people.write():
        bob.delete()
        with pytest.raises(crealm.InvalidatedError):
            handle.name
        with pytest.raises(crealm.InvalidatedError):
            handle.name = "x"
        with pytest.raises(crealm.InvalidatedError):
            handle.delete()
        with pytest.raises(crealm.InvalidatedError):
            ann.friend = bob
        with pytest.raises(crealm.InvalidatedError):
            bob.backlinks("Person", "friend")
        with pytest.raises(crealm.InvalidatedError):
            bob.to_dict()
    assert ann.friend is None and not bob and bob == handle and hash(bob) == hash(handle)
    assert repr(bob).startswith("<deleted Person")
    assert people["Person"].get(2) is None and bob not in people["Person"]
    assert bob.object_key == 1 and bob.class_name == "Person"


def test_create(people):
    table = people["Person"]
    with people.write():
        assert table.create(10).to_dict() == {"id": 10, "name": "", "age": 0, "friend": None}
        assert table.create(id=11, name="L").id == 11
        with pytest.raises(crealm.DuplicateKeyError) as info:
            table.create(10, name="again")
        assert info.value.code == 1013
        for bad, kind in (
            (lambda: table.create(), crealm.DataError),
            (lambda: table.create("12"), crealm.TypeMismatch),
            (lambda: table.create(None), crealm.ConstraintError),
            (lambda: table.create(12, 13), TypeError),
            (lambda: table.create(12, id=12), TypeError),
            (lambda: table.create(12, nope=1), crealm.NoSuchProperty),
            (lambda: table.create(12, name=5), crealm.TypeMismatch),
            (lambda: table.create(12, name=None), crealm.ConstraintError),
            (lambda: table.create(12, age=2**64), crealm.LimitExceeded),
        ):
            with pytest.raises(kind):
                bad()
            assert len(table) == 5 and table.get(12) is None
        with pytest.raises(crealm.ConstraintError, match="primary key"):
            table.get(10).id = 99
    assert [p.id for p in table] == [1, 2, 3, 10, 11]


def test_links(people, tmp_path):
    ann, bob, cyd = people["Person"]
    assert ann.friend == bob and bob.friend is not ann and bob.friend == ann and cyd.friend is None
    assert list(ann.backlinks("Person", "friend")) == [bob]
    with people.write():
        cyd.friend = cyd
        ann.friend = None
        for wrong in ("Bob", 2, crealm.ObjectId(), [bob]):
            with pytest.raises(TypeError):
                bob.friend = wrong
    assert cyd.friend == cyd and ann.friend is None and bob.friend == ann
    assert list(cyd.backlinks("Person", "friend")) == [cyd] and len(bob.backlinks("Person", "friend")) == 0
    with pytest.raises(crealm.NoSuchClass):
        ann.backlinks("Nobody", "friend")
    with pytest.raises(crealm.NoSuchProperty):
        ann.backlinks("Person", "nothing")
    with pytest.raises(crealm.Error):
        ann.backlinks("Person", "age")
    with crealm.open(tmp_path / "other.realm", schema=[PERSON]) as other, people.write():
        with other.write():
            stranger = other["Person"].create(1)
        with pytest.raises(crealm.DataError, match="another"):
            ann.friend = stranger
        assert stranger != ann and stranger not in people["Person"]


def test_to_dict_and_cycles(people):
    ann, bob, cyd = people["Person"]
    ref = {"$ref": 1, "$class": "Person"}
    assert ann.to_dict() == {"id": 1, "name": "Ann", "age": 31, "friend": ref}
    assert ann.to_dict(2)["friend"] == {
        "id": 2,
        "name": "Bob",
        "age": 42,
        "friend": {"$ref": 0, "$class": "Person"},
    }
    assert ann.to_dict(100) == ann.to_dict(2)
    with people.write():
        cyd.friend = cyd
    assert cyd.to_dict(5)["friend"] == {"$ref": 2, "$class": "Person"}


def test_names_of_properties_and_attributes(path):
    names = ["delete", "to dict", "is_valid", "_id", "größe", "class", "_db", "friend"]
    schema = crealm.ClassSchema("Odd", {**{n: int for n in names[:-1]}, "friend": "Odd"})
    with crealm.open(path, schema=[schema]) as db:
        with db.write():
            odd = db["Odd"].create(**{name: i for i, name in enumerate(names[:-1])})
            odd._id = 10
            with pytest.raises(AttributeError, match="obj\\['delete'\\]"):
                odd.delete = 5
            with pytest.raises(AttributeError):
                odd.unknown = 5
            with pytest.raises(AttributeError):
                del odd._id
            odd["delete"] = 5
        assert odd["delete"] == 5 and callable(odd.delete) and odd.is_valid is True and odd["is_valid"] == 2
        assert odd._id == 10 and odd.größe == 4 and getattr(odd, "class") == 5 and odd["to dict"] == 1
        assert {"_id", "größe", "to_dict"} <= set(dir(odd))
        assert not hasattr(odd, "nothing")
        with pytest.raises(KeyError):
            odd["nothing"]
        with pytest.raises(crealm.NoSuchProperty) as info:
            odd.nothing
        assert isinstance(info.value, AttributeError) and "Odd" in str(info.value)


def test_tables(people):
    table = people["Person"]
    assert table.name == "Person" and table.schema == people.schema["Person"] and len(table) == 3
    assert table[0].name == "Ann" and table[-1].name == "Cyd" and [p.id for p in table[1:]] == [2, 3]
    assert [p.id for p in table[::-1]] == [3, 2, 1] == [p.id for p in reversed(table)]
    assert table.first() == table[0] and table[0] in table and "Ann" not in table
    for index in (3, -4, 2**80):
        with pytest.raises(IndexError):
            table[index]
    with pytest.raises(TypeError):
        table["Ann"]
    assert table.get(77) is None and table.get(77, "x") == "x"
    with pytest.raises(crealm.TypeMismatch):
        table.get("1")
    assert table.index(table[1]) == 1 and table.count(table[1]) == 1
    assert table == list(table) and table != [] and repr(table) == "<Table 'Person': 3 objects>"
    assert table[0] == people["Person"][0] and len({table[0], people["Person"][0]}) == 1
    assert "Person" in people and "Nobody" not in people and list(people) == people.classes == ["Person"]
    with pytest.raises(KeyError):
        people["Nobody"]


def test_looping_while_objects_come_and_go(path):
    schema = crealm.ClassSchema("N", {"n": int})
    with crealm.open(path, schema=[schema]) as db:
        with db.write():
            for n in range(1000):
                db["N"].create(n=n)
        with db.write():
            seen = []
            for obj in db["N"]:
                seen.append(obj.n)
                obj.delete()
        assert seen == list(range(1000)) and len(db["N"]) == 0 and db["N"].first() is None
        with db.write():
            for n in range(1000):
                db["N"].create(n=n)
        all_of_them = list(db["N"])
        seen = []
        with db.write():
            for obj in db["N"]:
                seen.append(obj.n)
                if obj.n % 100 == 0:  # Deletes objects before and after the position of the loop.
                    for other in all_of_them[max(obj.n - 30, 0) : obj.n] + all_of_them[obj.n + 1 : obj.n + 3]:
                        if other:
                            other.delete()
        assert seen == [n for n in range(1000) if n % 100 not in (1, 2)]
        assert len(db["N"]) == 1000 - 9 * 30 - 20


def test_snapshot_and_version(people, path):
    version = people.version
    with people.write():
        assert people.version >= version
    assert people.version > version
    assert people.schema_version == 0 and people.path == str(path)


def test_a_failed_open_leaves_nothing_open(path, tmp_path):
    with pytest.raises(FileNotFoundError) as info:
        crealm.open(tmp_path / "none.realm")
    assert info.value.filename.endswith("none.realm") and info.value.errno == 2 and info.value.path
    for mode in ("r", "rw"):
        with pytest.raises(crealm.FileNotFound):
            crealm.open(tmp_path / "none.realm", mode=mode, schema=[PERSON])
    with pytest.raises(FileNotFoundError):
        crealm.open(tmp_path / "no folder" / "none.realm", mode="rwc")
    assert list(tmp_path.iterdir()) == []
    bad = tmp_path / "bad.realm"
    bad.write_bytes(b"not a realm file, not at all" * 100)
    for mode in ("r", "rw", "rwc"):
        with pytest.raises(crealm.CorruptFileError) as info:
            crealm.open(bad, mode=mode)
        assert isinstance(info.value, OSError) and info.value.code == 1021 and info.value.path == str(bad)
    assert bad.read_bytes() == b"not a realm file, not at all" * 100
    with pytest.raises(OSError):
        crealm.open(tmp_path)
    with pytest.raises(crealm.DataError):
        crealm.open(bad, mode="w")
    with pytest.raises(crealm.DataError):
        crealm.open(bad, key=b"short")
    with pytest.raises(ValueError):
        crealm.open("a\0b", mode="rwc")
    with pytest.raises(crealm.DataError):
        crealm.open(bad, schema_version=3)


def test_open_takes_all_kinds_of_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("plain.realm", b"bytes.realm", tmp_path / "ünï cödé 😀.realm")):
        with crealm.open(name, mode="rwc") as db:
            assert db.classes == [] and os.path.isabs(db.path)
        assert os.path.exists(name)
    with crealm.open("plain.realm") as one, crealm.open(tmp_path / "plain.realm") as two:
        assert one.path == two.path
