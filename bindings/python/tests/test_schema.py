"""Declarations: reading annotations, reading the schema of a file, and the changes that opening makes."""

import sys
import typing
from datetime import datetime
from decimal import Decimal
from typing import Any, Dict, List, Optional, Set
from uuid import UUID

import pytest

import crealm
from crealm import ClassSchema, Prop

EVERYTHING = {
    "i": int, "b": bool, "f": crealm.Float32, "d": float, "s": str, "y": bytes, "t": datetime, "c": Decimal,
    "u": UUID, "o": crealm.ObjectId, "a": Any, "l": "Class",
    "on": Optional[int], "sn": Prop(str, optional=True), "ln": Optional["Class"],  # noqa: F821
    "li": list[int], "lo": list[Optional[str]], "ll": list["Class"], "la": list[Any], "lu": List[UUID],
    "si": set[int], "so": Set[Optional[crealm.Float32]], "sl": set["Class"], "sa": set[Any],
    "di": dict[str, int], "do": Dict[str, Optional[Decimal]], "dl": dict[str, "Class"], "da": dict[str, Any],
    "xi": Prop(int, indexed=True), "xs": Prop(Optional[str], indexed=True), "xf": Prop(str, fulltext=True),
    "le": list["Inside"], "e": "Inside", "de": dict[str, "Inside"],
}  # fmt: skip


def everything():
    return [
        ClassSchema("Class", {"key": str, **EVERYTHING}, primary_key="key"),
        ClassSchema("Inside", {"n": int, "up": "Class"}, embedded=True),
    ]


def test_a_file_gives_back_what_was_declared(path, tmp_path):
    declared = {schema.name: schema for schema in everything()}
    with crealm.open(path, schema=everything(), schema_version=7) as db:
        assert dict(db.schema) == declared and db.schema_version == 7
        with db.write():
            db["Class"].create("k")
        obj = db["Class"].get("k")
        assert (
            obj.i == 0
            and obj.on is None
            and obj.a is None
            and obj.lo == []
            and obj.so == set()
            and obj.da == {}
        )
        with pytest.raises(crealm.Error), db.write():
            db["Inside"].create(n=1)
    with crealm.open(path) as db:
        assert dict(db.schema) == declared and db.classes == ["Class", "Inside"] and db.schema_version == 7
        with crealm.open(tmp_path / "copy.realm", schema=db.schema) as copy:
            assert dict(copy.schema) == declared and copy.schema_version == 0
    assert eval(
        repr(declared["Inside"]), {"ClassSchema": ClassSchema, "Prop": Prop, "int": int, "Class": "Class"}
    ) == (declared["Inside"])


def test_texts_of_types():
    texts = {name: str(prop) for name, prop in everything()[0].properties.items()}
    assert texts["i"] == "int" and texts["on"] == "Optional[int]" and texts["lo"] == "list[Optional[str]]"
    assert texts["l"] == "Class" and texts["dl"] == "dict[str, Class]" and texts["sa"] == "set[Any]"
    assert repr(Prop(int, indexed=True)) == "Prop(int, indexed=True)"


@pytest.mark.skipif(sys.version_info < (3, 10), reason="syntax of Python 3.10")
def test_unions_with_a_bar():
    assert Prop(int | None) == Prop(Optional[int]) and Prop(list[str | None]) == Prop(list[Optional[str]])


@pytest.mark.parametrize(
    "bad",
    [
        list,
        dict,
        set,
        complex,
        None,
        5,
        "",
        Optional[List[int]],
        typing.Union[int, str],
        dict[int, str],
        list[list[int]],
        tuple[int],
    ],
)
def test_types_that_no_property_can_have(bad):
    with pytest.raises(crealm.SchemaError):
        Prop(bad)


@pytest.mark.parametrize(
    "classes",
    [
        [ClassSchema("A", {"b": "Missing"})],
        [ClassSchema("A", {"n": float}, primary_key="n")],
        [ClassSchema("A", {"n": Prop(float, indexed=True)})],
        [ClassSchema("A", {"n": int}), ClassSchema("A", {"n": int})],
        [ClassSchema("E", {"n": int}, embedded=True)],
        [ClassSchema("A", {"l": Prop(list["A"], optional=True)})],
    ],
)
def test_schemas_that_contradict_themselves(tmp_path, classes):
    with pytest.raises(crealm.SchemaError) as info:
        crealm.open(tmp_path / "new.realm", schema=classes)
    assert info.value.code == 2016
    assert not (tmp_path / "new.realm").exists()


def test_misuse_of_declarations(tmp_path):
    with pytest.raises(crealm.SchemaError):
        ClassSchema("A", {"n": int}, primary_key="m")
    with pytest.raises(TypeError):
        crealm.open(tmp_path / "new.realm", schema=[int])
    with pytest.raises(crealm.DataError):
        crealm.open(tmp_path / "new.realm", schema=[ClassSchema("A\0B", {"n": int})])
    with pytest.raises(crealm.DataError):
        crealm.open(tmp_path / "new.realm", schema=[ClassSchema("A", {"\ud800": int})])
    assert list(tmp_path.iterdir()) == []


def test_opening_adds_what_is_missing_and_keeps_the_rest(path):
    with crealm.open(path, schema=[ClassSchema("A", {"n": int, "s": str})]) as db, db.write():
        db["A"].create(n=1, s="one")
    with crealm.open(
        path, schema=[ClassSchema("A", {"n": int, "t": Optional[str]}), ClassSchema("B", {"a": "A"})]
    ) as db:
        assert list(db["A"].schema.properties) == ["n", "t"] and db["A"][0].to_dict() == {"n": 1, "t": None}
        with db.write():
            db["B"].create(a=db["A"].create(n=2, t="two"))
    with crealm.open(path) as db:
        assert [o.to_dict() for o in db["A"]] == [
            {"n": 1, "s": "one", "t": None},
            {"n": 2, "s": "", "t": "two"},
        ]
        assert db["B"][0].a.n == 2


def test_changes_that_need_a_migration(path):
    with crealm.open(path, schema=[ClassSchema("A", {"n": int})]) as db, db.write():
        db["A"].create(n=1)
    before = path.read_bytes()
    for other in ({"n": str}, {"n": Optional[int]}, {"n": list[int]}):
        with pytest.raises(crealm.MigrationRequired) as info:
            crealm.open(path, schema=[ClassSchema("A", other)])
        assert info.value.changes and "A.n" in info.value.changes[0]
    with pytest.raises(crealm.MigrationRequired):
        crealm.open(path, schema=[ClassSchema("A", {"n": int}, primary_key="n")])
    assert path.read_bytes() == before


def test_schema_versions(path):
    schema = [ClassSchema("A", {"n": int})]
    with crealm.open(path, schema=schema, schema_version=3) as db:
        assert db.schema_version == 3
    with crealm.open(path, schema=schema) as db:
        assert db.schema_version == 3
    with crealm.open(path, schema=schema, schema_version=5) as db:
        assert db.schema_version == 5
    with pytest.raises(crealm.SchemaError) as info:
        crealm.open(path, schema=schema, schema_version=4)
    assert info.value.code == 2018
    with crealm.open(path, schema=schema, mode="r") as db:
        assert db.schema_version == 5
    with pytest.raises(crealm.DataError):
        crealm.open(path, schema=schema, schema_version=-1)


def test_a_database_without_schema_sees_classes_that_appear(path):
    crealm.open(path, mode="rwc").close()
    with crealm.open(path) as db:
        assert db.classes == [] and db.schema_version is None
        with crealm.open(path, schema=[ClassSchema("A", {"n": int})]) as other, other.write():
            other["A"].create(n=4)
        assert db.classes == []
        assert db.refresh()
        assert db.classes == ["A"] and db["A"][0].n == 4
        with crealm.open(path, schema=[ClassSchema("A", {"n": int, "m": str})]):
            pass
        first = db["A"][0]
        assert not hasattr(first, "m")
        with db.write():
            first.m = "new"
        assert first.m == "new"


def test_fixed_schema_hides_the_rest(path):
    with crealm.open(path, schema=everything()):
        pass
    with crealm.open(
        path,
        schema=[ClassSchema("Inside", {"n": int, "up": "Class"}, embedded=True), everything()[0]],
        mode="r",
    ) as db:
        assert db.classes == ["Class", "Inside"]
