"""Files that other implementations wrote, each with its contents as JSON, read by the reference
implementation. Every value of every object is compared, and no file may change or be created."""

import gzip
import json
import math
import shutil
import struct
import uuid
from decimal import Decimal

import pytest

import crealm
from conftest import FIXTURES
from crealm._marshal import decimal_to_bits

NAMES = sorted(
    file.relative_to(FIXTURES).with_suffix("").as_posix()
    for folder in ("sdk", "ops")
    for file in (FIXTURES / folder).glob("*.realm")
    if file.with_suffix(".json").exists() or file.with_suffix(".json.gz").exists()
)
INDEXED = 4


def expected(name):
    packed = FIXTURES / (name + ".json.gz")
    data = (
        gzip.decompress(packed.read_bytes())
        if packed.exists()
        else (FIXTURES / (name + ".json")).read_bytes()
    )
    return json.loads(data.decode("utf-8"))


def state(folder):
    return {
        file.name: (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_mode)
        for file in folder.iterdir()
    }


@pytest.mark.parametrize("name", NAMES)
def test_reads_what_the_reference_reads(name, tmp_path):
    file = tmp_path / "file.realm"
    shutil.copyfile(FIXTURES / (name + ".realm"), file)
    key_file = FIXTURES / (name + ".key")
    key = key_file.read_bytes() if key_file.exists() else None
    before = state(tmp_path)
    wanted = expected(name)
    with crealm.open(file, mode="immutable", key=key) as db:
        compare(db, wanted)
        assert state(tmp_path) == before
    with crealm.open(file, mode="r", key=key) as db:
        assert sorted(db.classes) == sorted(wanted["classes"])
        assert {name: len(db[name]) for name in db} == {n: f["count"] for n, f in wanted["classes"].items()}
    assert state(tmp_path) == before


def compare(db, wanted):
    version = wanted["schema_version"]
    assert db.schema_version == (None if version == -1 else version)
    assert sorted(db.classes) == sorted(wanted["classes"])
    for name, facts in wanted["classes"].items():
        table, schema = db[name], db.schema[name]
        assert (schema.primary_key or "") == facts["primary_key"]
        assert schema.embedded == bool(facts["flags"] & 1)
        assert len(table) == facts["count"]
        compare_properties(db, name, facts)
        objects = list(table)
        assert [o.object_key for o in objects] == [o["$key"] for o in facts["objects"]]
        for obj, values in zip(objects, facts["objects"]):
            assert obj.is_valid and obj.class_name == name
            del values["$key"]
            assert sorted(values) == sorted(schema.properties)
            for property_name, value in values.items():
                compare_value(obj[property_name], value, f"{name} {obj.object_key} {property_name}")
            if schema.primary_key:
                assert table.get(obj[schema.primary_key]) == obj


def compare_properties(db, name, facts):
    found = {
        p.name: [p.name, p.type, p.collection, p.target, p.flags]
        for p in db._by_name[name].properties.values()
    }
    for row in facts["properties"]:
        mine = found.pop(row[0])
        if row[0] == facts["primary_key"]:
            # Old formats have no index of the primary key until they are upgraded; for the JSON they were upgraded.
            mine[4] |= INDEXED
            row[4] |= INDEXED
        assert mine == row, f"{name}.{row[0]}"
        prop = db.schema[name].properties[row[0]]
        assert prop.optional == bool(row[4] & 1)
        assert (prop.type if prop.is_link else "") == row[3]
    assert not found


def compare_value(value, wanted, where):
    if isinstance(wanted, dict) and len(wanted) == 1 and next(iter(wanted)).startswith("$"):
        ((kind, content),) = wanted.items()
        assert CHECKS[kind](value, content), f"{where}: {value!r} is not {wanted}"
    elif isinstance(wanted, list):
        assert isinstance(value, (crealm.List, crealm.SetView)), where
        assert len(value) == len(wanted), where
        for position, (a, b) in enumerate(zip(value, wanted)):
            compare_value(a, b, f"{where}[{position}]")
            if isinstance(value, crealm.List) and position % 17 == 0:
                compare_value(value[position], b, f"{where}[{position}]")
            if isinstance(value, crealm.SetView):
                assert a in value, where
    elif isinstance(wanted, dict):
        assert isinstance(value, crealm.Dictionary), where
        assert list(value) == list(wanted), where
        for (k, a), b in zip(value.items(), wanted.values()):
            compare_value(a, b, f"{where}[{k!r}]")
            compare_value(value[k], b, f"{where}[{k!r}]")
    else:
        assert type(value) is type(wanted) and value == wanted, f"{where}: {value!r} is not {wanted!r}"


def same_time(value, content):
    seconds, nanoseconds = content
    assert type(value) in (crealm.Timestamp, crealm.RawTimestamp)
    return value.timestamp_ns() == seconds * 10**9 + nanoseconds


def same_float(layout):
    def same(value, content):
        number = float(content)
        if math.isnan(number):
            return math.isnan(value)
        return isinstance(value, float) and struct.pack(layout, value) == struct.pack(layout, number)

    return same


def same_decimal(value, content):
    assert type(value) is Decimal
    high, low = decimal_to_bits(value)
    return f"{high:016x}{low:016x}" == content


CHECKS = {
    "$ts": same_time,
    "$flt": same_float("f"),
    "$dbl": same_float("d"),
    "$bin": lambda value, content: type(value) is bytes and value.hex() == content,
    "$dec": same_decimal,
    "$oid": lambda value, content: value == crealm.ObjectId(content),
    "$uuid": lambda value, content: value == uuid.UUID(content),
    "$link": lambda value, content: [value.class_name, value.object_key] == content,
}


@pytest.mark.parametrize("name", [n for n in NAMES if "deep" not in n])
def test_detached_objects_and_repr_of_everything(name, tmp_path):
    if (FIXTURES / (name + ".key")).exists():
        pytest.skip("no plain fixture")
    file = tmp_path / "file.realm"
    shutil.copyfile(FIXTURES / (name + ".realm"), file)
    with crealm.open(file, mode="r") as db:
        objects = [obj for class_name in db for obj in db[class_name]]
        dicts = [obj.to_dict(depth=2) for obj in objects[:500]]
        assert all(set(d) == set(db.schema[o.class_name].properties) for d, o in zip(dicts, objects))
        assert not any("Error" in repr(obj) for obj in objects[:500])
    assert all("ClosedError" in repr(o) for o in objects)
