"""Damaged files: reading everything in them ends with values or with an exception of this package, never with a
crash. Runs in a separate process, so that a crash is a failed test.

CREALM_SEED=n sets the seed, CREALM_COUNT=n the number of damaged copies of each file.
"""

import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import crealm
from conftest import FIXTURES, PERSON

CODE = """
import os, random, sys
import crealm

source, file, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
whole = open(source, "rb").read()
for number in range(seed, seed + count):
    random.seed(number)
    data = bytearray(whole)
    for _ in range(random.choice([1, 2, 8, 40])):
        at = random.randrange(len(data))
        kind = random.random()
        if kind < 0.6:
            data[at] ^= 1 << random.randrange(8)
        elif kind < 0.8:
            data[at : at + 8] = random.randbytes(8)
        else:
            data[at : at + 4] = random.choice([b"\\0\\0\\0\\0", b"\\xff\\xff\\xff\\xff"])
    if random.random() < 0.1:
        del data[random.randrange(1, len(data)) :]
    with open(file, "wb") as out:
        out.write(data)
    print(number, end=" ", flush=True)
    try:
        with crealm.open(file, mode="r") as db:
            for name in db:
                properties = db[name].schema.properties
                for obj in db[name][:20]:
                    for key, prop in properties.items():
                        try:
                            if prop.collection is None or len(obj[key]) < 1000:
                                repr(obj[key])
                        except crealm.Error:
                            pass
            db.backup(file + ".copy")
            os.unlink(file + ".copy")
    except crealm.Error:
        pass
    assert not [name for name in os.listdir(os.path.dirname(file)) if "copy" in name]
    assert open(file, "rb").read() == data
print("done")
"""


@pytest.mark.parametrize(
    "name",
    [
        "ops/nested-1",
        "ops/scalar-1",
        "sdk/f10-swift-all-types",
        "sdk/f22-dotnet-mixed-collections",
        "sdk/f24-studio-asset-file",
    ],
)
def test_damaged(name, tmp_path):
    source = FIXTURES / (name + ".realm")
    if not source.exists():
        pytest.skip("no file of this SDK")
    seed, count = os.environ.get("CREALM_SEED", "1"), os.environ.get("CREALM_COUNT", "60")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            CODE,
            str(source),
            str(tmp_path / "damaged.realm"),
            seed,
            count,
        ],
        env={**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.stdout.endswith(
        "done\n"
    ), f"ended with {done.returncode} at seed {done.stdout.split()[-1:]}\n{done.stderr}"


def test_more_values_than_memory_holds(tmp_path):
    """The size of a list is a number in the file. Queries, which keep the values of a row in memory, refuse sizes that are too large."""

    class Row(crealm.Model):
        values: list[int]
        filler: bytes

    file = tmp_path / "absurd.realm"
    with crealm.open(file, schema=[Row]) as db:
        with db.write():
            db.add(Row(filler=b"x" * 1_000_000))
        with db.write():
            db["Row"][0].values.extend(range(1 << 40, (1 << 40) + 1234))
    data = bytearray(file.read_bytes())
    # The root node of a list: 1000 elements in each leaf, two leaves, the number of elements.
    roots = [
        at
        for at in range(24, len(data) - 24, 8)
        if data[at : at + 8] == b"AAAA\xc6\0\0\4" and data[at + 8 : at + 12] == (2001).to_bytes(4, "little")
    ]
    assert len(roots) == 1
    end = roots[0] + 20
    assert data[end : end + 4] == (1234 * 2 + 1).to_bytes(4, "little")
    for more, refused in ((0, crealm.Error), (1, crealm.LimitExceeded)):
        count = (1 << 25) + more
        data[end : end + 4] = (count * 2 + 1).to_bytes(4, "little")
        file.write_bytes(data)
        with crealm.open(file, mode="r") as db:
            assert len(db["Row"][0].values) == count
            with pytest.raises(refused) as info:
                len(db["Row"].where("ANY values == -1"))
            assert (info.value.code == 3018) == bool(more)


def test_a_cluster_in_many_places_ends_every_walk(tmp_path):
    """Inner nodes whose children are all the same node claim 4 * 10^9 objects in some kilobytes; a hole in the file makes it look large enough."""
    sys.path.insert(0, str(Path(__file__).parents[3] / "Tests" / "Fuzz"))
    import shared

    top = shared.load(shared.base(tmp_path, 40))
    table, slot = shared.clusters(top)[-1]
    for node in top.slots[3:6]:
        node.flags, node.count, node.data = 0, 0, b""
    cluster = table.slots[slot]
    while cluster.flags & shared.INNER:
        cluster = cluster.slots[cluster.children()[-1]]
    rows = 256
    for depth in (1, 2, 3):
        rows *= 256
        cluster = shared.Node.refs([0, shared.tagged(depth), shared.tagged(rows)] + [cluster] * 256, shared.INNER)
    table.slots[slot] = cluster
    file = tmp_path / "towers.realm"
    for hole in (0, 8 << 30):
        file.write_bytes(shared.save(top, claimed=hole))
        if hole:
            os.truncate(file, hole)
        with crealm.open(file, mode="r") as db:
            name = next(n for n in db if n in ("Thing", "Plain", "Part", "Part2") and _is_refused(lambda: len(db[n].where("TRUEPREDICATE"))))
            first = next(iter(db[name].schema.properties))
            # The number of objects is refused if the file does not have enough bytes for it.
            assert _is_refused(lambda: len(db[name]))
            assert _is_refused(lambda: len(db[name].sort(first)))
            assert _is_refused(lambda: len(db[name].distinct(first)))
            assert _is_refused(lambda: list(db[name].where("TRUEPREDICATE")))
            assert _is_refused(lambda: db.backup(tmp_path / "copy.realm"))
            classes = [db[n].schema for n in db]
        assert crealm.check(file).result == "faulty"
        for c in classes:
            c.properties["added"] = crealm.Prop(int, indexed=True)
        assert _is_refused(lambda: crealm.open(file, schema=classes, schema_version=9, migrate=lambda old, new, version: None))


def _is_refused(body):
    try:
        body()
    except crealm.Error as error:
        return error.code in (1003, 1021)
    return False


def test_a_torn_header_is_read_without_writing(tmp_path):
    """A crash destroyed the live slot of the header; the record of the other slot describes the commit."""
    file = tmp_path / "torn.realm"
    with crealm.open(file, schema=[crealm.ClassSchema("A", {"n": int})]) as db:
        for n in range(5):
            with db.write():
                db["A"].create(n=n)
    raw = bytearray(file.read_bytes())
    live = raw[23] & 1
    (ref,) = struct.unpack_from("<Q", raw, 8 * live)
    struct.pack_into("<Q", raw, 8 * live, ref & ~0xFFFF | 0x17 << 3)
    file.write_bytes(raw)
    (tmp_path / "torn.realm.lock").unlink()
    with crealm.open(file, mode="r") as db, crealm.open(file, mode="r") as again:
        assert [row.n for row in db["A"]] == [row.n for row in again["A"]] == [0, 1, 2, 3, 4]
    assert file.read_bytes() == raw
    with crealm.open(file) as db:
        with db.write():
            db["A"].create(n=5)
    with crealm.open(file, mode="r") as db:
        assert [row.n for row in db["A"]] == [0, 1, 2, 3, 4, 5]


def test_a_top_array_behind_its_own_end_is_refused(tmp_path):
    """A version that ends before its top array: it would be cut off when the file is opened for writing."""
    path = tmp_path / "test.realm"
    with crealm.open(path, schema=[PERSON]) as db, db.write():
        db.add_many("Person", [{"id": 1, "name": "Ann", "age": 30}])
    data = bytearray(path.read_bytes())
    for half in (0, 8):
        top = int.from_bytes(data[half : half + 8], "little")
        if top:
            width = (1 << (data[top + 4] & 7)) >> 4
            data[top + 8 + 2 * width : top + 8 + 3 * width] = (top << 1 | 1).to_bytes(width, "little")
    path.write_bytes(data)
    for mode in ("r", "immutable", "w"):
        with pytest.raises(crealm.CorruptFileError):
            crealm.open(path, **({} if mode == "w" else {"mode": mode})).close()
        assert path.read_bytes() == data


NAMES = ["id", "name", "age"]


@pytest.mark.parametrize("cipher", ["xchacha20", "aes256gcm", "realm"])
def test_a_damaged_page_is_no_wrong_key(tmp_path, cipher):
    """The program would ask its user for another key. Every page of the data is damaged, in turn."""
    file, key = tmp_path / "secret.realm", bytes(range(64))
    with crealm.open(file, schema=[PERSON], key=key, page_cipher=cipher) as db:
        for first in range(0, 400, 100):
            with db.write():
                db.add_many("Person", [(id, "x" * 90 + str(id), id) for id in range(first, first + 100)], columns=NAMES)
    whole, refused = file.read_bytes(), 0
    # The pages before contain the key blocks of CRealm's form, or the first page of Realm's, which no other key opens.
    for page in range(4 if cipher != "realm" else 2, len(whole) // 4096):
        for at in (0, 100):
            data = bytearray(whole)
            data[page * 4096 + at] ^= 1
            for mode in ("r", "rw", "immutable"):
                file.write_bytes(data)
                try:
                    with crealm.open(file, mode=mode, key=key) as db:
                        found = [(person.id, person.name, person.age) for person in db["Person"].sort("id")]
                except crealm.CorruptFileError:
                    refused += 1
                else:
                    assert found == [(id, "x" * 90 + str(id), id) for id in range(400)], (page, at, mode)
    assert refused > 50


def test_a_forged_top_array_shows_all_or_nothing(tmp_path):
    """Each slot of the top array leads to other nodes of the file in turn, and the header to the top array of an older
    version."""
    file = tmp_path / "forged.realm"
    with crealm.open(file, schema=[PERSON]) as db:
        for first in range(0, 120, 20):
            with db.write():
                db.add_many("Person", [(id, f"number {id}", id) for id in range(first, first + 20)], columns=NAMES)
    whole = file.read_bytes()
    live = whole[23] & 1
    (top,) = struct.unpack_from("<Q", whole, 8 * live)
    width, count = (1 << (whole[top + 4] & 7)) >> 4, int.from_bytes(whole[top + 5 : top + 8], "big")
    nodes = [at for at in range(24, len(whole) - 8, 8) if whole[at : at + 4] == b"AAAA"]
    forged, versions = [], []
    for slot in range(count):
        at = top + 8 + slot * width
        for node in nodes[slot % 5 :: 5]:
            if node < 1 << 8 * width - 1:
                forged.append(whole[:at] + node.to_bytes(width, "little") + whole[at + width :])
    for node in nodes:
        size = int.from_bytes(whole[node + 5 : node + 8], "big")
        if node != top and whole[node + 4] & 0xC0 == 0x40 and size == count:
            versions.append(whole[: 8 * live] + struct.pack("<Q", node) + whole[8 * live + 8 :])
    assert len(forged) > 100 and versions
    everything = [(id, f"number {id}", id) for id in range(120)]
    refused = 0
    for data in forged + versions:
        for mode in ("immutable", "r", "rw"):
            file.write_bytes(data)
            (tmp_path / "forged.realm.lock").unlink(missing_ok=True)
            try:
                with crealm.open(file, mode=mode) as db:
                    found = [(person.id, person.name, person.age) for person in db["Person"].sort("id")]
                    # Older tables, which are whole, belong to an older version.
                    assert found == everything[: len(found)] and len(found) % 20 == 0
                    if mode == "rw":
                        with db.write():
                            db["Person"].create(id=-1, name="new", age=0)
                        assert len(db["Person"]) == len(found) + 1
            except crealm.CorruptFileError:
                refused += 1
        assert crealm.check(file, limit=2).result in ("faulty", "sound")
    assert refused > len(forged)


MANY_TIMES = """
import resource, sys, crealm, crealm._arrow
resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
with crealm.open(sys.argv[1], mode="immutable") as db:
    row = db["Row"][0]
    for call in (
            lambda: row.to_json(), lambda: crealm._arrow.scan(db["Row"]._rows_handle(), "texts"), lambda: row.to_dict(),
            lambda: len(db["Row"].where("ANY texts ==[c] 'b'")), lambda: crealm.check(sys.argv[1], limit=1)):
        try:
            call()
        except (crealm.Error, MemoryError) as error:
            print(type(error).__name__)
        else:
            print("done")
    assert len(row.texts) == 200 and len(row.texts[199]) == int(sys.argv[2])
print("end")
"""


def test_a_long_text_in_many_places_ends_no_process(tmp_path):
    """Together the texts would need 3 GB, and the process may have one."""
    sys.path.insert(0, str(Path(__file__).parents[3] / "Tests" / "Fuzz"))
    import shared

    class Row(crealm.Model):
        texts: list[str]

    file, size = tmp_path / "texts.realm", (1 << 24) - 16
    with crealm.open(file, schema=[Row]) as db, db.write():
        db.add(Row(texts=[f"{number:0100}" for number in range(200)]))
    top = shared.load(file.read_bytes())
    for slot in (3, 4, 5):
        top.slots[slot] = shared.Node(0, 0)
    (leaf,) = [node for node in shared.reachable(top) if node.count == 200 and node.slots]
    leaf.slots[:] = [shared.Node(0x17, size, b"a" * (size - 1) + b"\0")] * 200
    file.write_bytes(shared.save(top))
    done = subprocess.run(
        [sys.executable, "-c", MANY_TIMES, str(file), str(size - 1)],
        env={**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0 and done.stdout.endswith("end\n"), done.stdout + done.stderr
    assert done.stdout.split() == ["MemoryError", "Error", "MemoryError", "done", "done", "end"], done.stdout


def test_a_list_that_claims_many_leaves_is_not_walked(tmp_path):
    """Inner nodes that share one leaf claim thousands of leaves in some kilobytes. Deleting the object visits the leaves
    to remove its links."""
    sys.path.insert(0, str(Path(__file__).parents[3] / "Tests" / "Fuzz"))
    import shared

    class Row(crealm.Model):
        id: int = crealm.field(primary_key=True)
        many: list[Any]

    file = tmp_path / "claims.realm"
    with crealm.open(file, schema=[Row]) as db, db.write():
        first = db.add(Row(id=1))
        first.many = [None] * 2500 + [first] * 3 + [None] * 2500 + [7] * 17
        db.add(Row(id=2, many=[first, None, 7]))
    sound = file.read_bytes()
    with crealm.open(file) as db:
        with db.write():
            db["Row"].get(1).delete()
        assert db.verify() == [] and list(db["Row"].get(2).many) == [None, 7] and len(db["Row"]) == 1
    top = shared.load(sound)
    for slot in (3, 4, 5):
        top.slots[slot] = shared.Node(0, 0)
    total = shared.tagged(5020)
    (inner,) = [node for node in shared.reachable(top) if node.flags & shared.INNER and node.slots[-1] == total]
    leaf, per = inner.slots[-2], 5020 % 1000
    while per < 1 << 17:
        leaf = shared.Node.refs([shared.tagged(per)] + [leaf] * 100 + [shared.tagged(100 * per)], shared.INNER)
        per *= 100
    inner.slots[:] = leaf.slots
    inner.count = len(inner.slots)
    file.write_bytes(shared.save(top) + bytes(4096 * 20))
    with crealm.open(file) as db:
        # The words are those of the walk that removes links; the later walk that frees the nodes has others.
        with pytest.raises(crealm.CorruptFileError, match="a node stands in more than one place"), db.write():
            db["Row"].get(1).delete()
        assert len(db["Row"]) == 2
