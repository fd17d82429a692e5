"""Locations of values: the bytes at the reported location are those of the value."""

import json
import math
import struct
from datetime import datetime, timezone
from typing import Any, Optional

import pytest

import crealm
from conftest import FIXTURES
from test_cli_import import quiet
from test_examining import KEY


def number(data, part, signed=True):
    """The bits of a part as an integer."""
    start = part.offset * 8 + part.first_bit
    value = int.from_bytes(data[part.offset : (start + part.bits + 7) // 8], "little") >> part.first_bit & (1 << part.bits) - 1
    return value - (1 << part.bits) if signed and part.bits >= 8 and value >> part.bits - 1 else value


def raw(data, parts, kind="value"):
    return b"".join(data[p.offset : p.offset + p.bits // 8] for p in parts if p.kind == kind)


def value_of(data, prop, found):
    """The value at a location, for types that can be decoded from their bytes alone; ... for other types."""
    value = [p for p in found.parts if p.kind == "value"]
    if prop is int or prop is bool:
        nulls = [p for p in found.parts if p.kind == "null"]
        held = number(data, value[0])
        if nulls and held == number(data, nulls[0]):
            return None
        return (None if held == 3 else bool(held)) if prop is bool and not nulls else prop(held)
    if prop is str:
        return raw(data, value).rstrip(b"\0").decode() if value else ...
    if prop is bytes:
        return raw(data, value)
    if prop is float:
        held = raw(data, value)
        return struct.unpack("<d" if len(held) == 8 else "<f", held)[0] if held else ...
    return ...


def compare(data, db, limit=60):
    """Compares every single value and list element that can be decoded from its bytes, and returns their number."""
    told = 0
    for name, schema in db.schema.items():
        for obj, _ in zip(db[name], range(limit)):
            for key, prop in schema.properties.items():
                if prop.collection not in (None, "list"):
                    assert db.locate(obj, key).nodes[-1].role in ("collection", "column")
                    continue
                elements = [(None, obj[key])] if prop.collection is None else [(i, v) for i, v in enumerate(obj[key])][:20]
                for index, value in elements:
                    try:
                        found = db.locate(obj, key, index)
                    except crealm.NotSupportedError:
                        continue
                    assert [n.role for n in found.nodes[:3]] == ["top", "tables", "table"] and found.page_size is None
                    assert all(data[node.offset + 4] & 0x40 for node in found.nodes if node.role in ("top", "tables", "table", "cluster"))
                    for p in found.parts:
                        assert any(n.offset <= p.offset and p.offset * 8 + p.first_bit + p.bits <= (n.offset + n.size) * 8 for n in found.nodes)
                        assert p.file_offset == p.offset
                    held = value_of(data, prop.type, found)
                    if held is ... or value is None and prop.type in (str, bytes, float):
                        continue
                    told += 1
                    same = held == value or isinstance(value, float) and (math.isnan(value) and math.isnan(held) or math.isclose(value, held, rel_tol=1e-6))
                    assert same, (name, key, index, value, held, found)
    return told


@pytest.mark.parametrize("name", ["ops/full-1", "ops/scalar-2", "ops/nested-1"])
def test_files_of_realm(name):
    file = FIXTURES / f"{name}.realm"
    with crealm.open(file, mode="immutable") as db:
        assert compare(file.read_bytes(), db) > 100


def test_every_fixture():
    told = 0
    for file in [*FIXTURES.glob("sdk/*.realm"), *FIXTURES.glob("old/*.realm")]:
        if file.with_suffix(".key").exists() or "node4" in file.name:
            continue
        with crealm.open(file, mode="immutable") as db:
            told += compare(file.read_bytes(), db, limit=20)
    assert told > 300 or not (FIXTURES / "old").is_dir()


SCHEMA = [
    crealm.ClassSchema(
        "T",
        {"n": int, "o": Optional[int], "s": str, "b": bytes, "f": float, "t": datetime, "a": Any, "l": list[int], "d": dict[str, int], "of": "T"})]


@pytest.fixture
def made(tmp_path):
    path = tmp_path / "made.realm"
    with crealm.open(path, schema=SCHEMA) as db, db.write():
        for n in range(300):
            db["T"].create(
                n=n * n - 50, o=None if n % 3 else n, s="x" * (n % 80), b=bytes([n % 256]) * (n % 90), f=n / 7,
                t=datetime.fromtimestamp(n, timezone.utc), a=[n, "text %d" % n, None, n / 3][n % 4], l=range(2800 if n == 4 else n % 3), d={"k%d" % n: n},
                of=db["T"].first() if n else None)
    return path


def test_every_type(made):
    data = made.read_bytes()
    with crealm.open(made, mode="immutable") as db:
        assert compare(data, db) > 300
        for obj in list(db["T"])[:60]:
            parts = db.locate(obj, "t").parts
            assert number(data, parts[0]) == round(obj.t.timestamp())
            (value,) = [p for p in db.locate(obj, "d", 0).parts if p.kind == "value"]
            assert raw(data, db.locate(obj, "d", 0).parts, "key").rstrip(b"\0").decode() == next(iter(obj.d))
            assert number(data, value) == next(iter(obj.d.values())) << 8 | 1
            if isinstance(obj.a, str):
                assert raw(data, db.locate(obj, "a").parts).rstrip(b"\0").decode() == obj.a
        last = list(db["T"])[4]
        assert number(data, db.locate(last, "l", 2799).parts[0]) == 2799
        with pytest.raises(crealm.OutOfRange):
            db.locate(last, "l", 2800)
        with pytest.raises(crealm.DataError):
            db.locate(last, "n", 0)
        with pytest.raises(crealm.NoSuchProperty):
            db.locate(last, "nothing")
    with crealm.open(made) as db:
        with db.write():
            with pytest.raises(crealm.Error, match="write transaction"):
                db.locate(db["T"].first(), "n")


@pytest.mark.parametrize("cipher", ["xchacha20", "aes256gcm", "realm"])
def test_encrypted_files(made, cipher):
    """The reported location of the ciphertext is right: the value is unreadable after a change of a byte there, and only then."""
    with crealm.open(made) as db:
        plain = {o.object_key: o.s for o in db["T"]}
        db.change_key(key=KEY, page_cipher=cipher)
    for row in 79, 200, 299:
        with crealm.open(made, mode="immutable", key=KEY) as db:
            obj = db["T"][row]
            found = db.locate(obj, "s")
            assert found.page_size in (4056, 4096) and obj.s == plain[obj.object_key]
            part = next(p for p in found.parts if p.kind == "value")
            assert part.page == part.offset // found.page_size and part.file_offset > part.offset
            assert all(p.offset // found.page_size == (p.offset + max(0, p.bits - 1) // 8) // found.page_size for p in found.parts)
        whole = made.read_bytes()
        made.write_bytes(whole[: part.file_offset] + bytes([whole[part.file_offset] ^ 1]) + whole[part.file_offset + 1 :])
        found = crealm.check(made, key=KEY)
        assert found.result == "faulty" and any(f"page {part.page} " in str(f) or "page" in str(f) for f in found.faults)
        made.write_bytes(whole)


def test_on_the_command_line(made):
    code, _, out = quiet(["where", made, "T", "7", "s"])
    assert code == 0 and "cluster" in out and "value" in out
    told = json.loads(quiet(["where", made, "T", "4", "l", "--index", "3", "--json"])[2])
    assert told["nodes"][0]["role"] == "top" and told["parts"][0]["kind"] == "value"
    assert quiet(["where", made, "T", "7000", "s"])[0] == 1
