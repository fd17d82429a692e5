"""Damaged files: reading everything in them ends with values or with an exception of this package, never with a
crash. Runs in a separate process, so that a crash is a failed test.

CREALM_SEED=n sets the seed, CREALM_COUNT=n the number of damaged copies of each file.
"""

import os
import struct
import subprocess
import sys
from pathlib import Path

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
