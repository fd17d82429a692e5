"""`verify` reports every fault of a file with its place. Each test damages single bytes of a file, mostly several."""

import struct
from datetime import datetime, timedelta, timezone
from typing import Any, Optional

import pytest

import crealm
from conftest import FIXTURES


class Part(crealm.Embedded):
    n: int = 0


class Other(crealm.Model):
    when: datetime
    any: Any = "text"


class Item(crealm.Model):
    number: int = crealm.field(index=True)
    text: str
    other: Optional[Other] = None
    numbers: list[int]
    words: set[str]
    map: dict[str, int]
    part: Optional[Part] = None


class Node:
    """One array of a plain file, for reading and damaging it."""

    def __init__(self, data, ref):
        self.data, self.ref = data, ref
        flags = data[ref + 4]
        self.type, self.width = flags >> 3 & 3, (1 << (flags & 7)) >> 1
        self.count = int.from_bytes(data[ref + 5 : ref + 8], "big")

    def __getitem__(self, i):
        if self.width < 8:
            bit = i * self.width
            return self.data[self.ref + 8 + bit // 8] >> bit % 8 & (1 << self.width) - 1
        size = self.width // 8
        at = self.ref + 8 + i * size
        return int.from_bytes(self.data[at : at + size], "little", signed=True)

    def __setitem__(self, i, value):
        if self.width < 8:
            bit, mask = i * self.width, (1 << self.width) - 1
            assert 0 <= value <= mask
            at = self.ref + 8 + bit // 8
            self.data[at] = self.data[at] & ~(mask << bit % 8) & 0xFF | value << bit % 8
            return
        size = self.width // 8
        at = self.ref + 8 + i * size
        self.data[at : at + size] = value.to_bytes(size, "little", signed=True)

    def child(self, *path):
        node = self
        for i in path:
            assert node[i] and node[i] % 2 == 0
            node = Node(self.data, node[i])
        return node


class File:
    """Finds the arrays of a plain file by their purpose."""

    def __init__(self, path):
        self.path, self.data = path, bytearray(path.read_bytes())
        select = self.data[23] & 1
        self.top = Node(self.data, struct.unpack_from("<Q", self.data, 8 * select)[0])
        names, self.tables = self.top.child(0), self.top.child(1)
        self.indexes = {}
        for i in range(names.count):
            text = bytes(self.data[names.ref + 8 + i * names.width // 8 :][: names.width // 8]) if names.type == 0 else None
            if text is None:
                text = bytes(self.data[names.ref + 8 + i * names.width :][: names.width])
            self.indexes[text[: -1 - text[-1]].decode()] = i

    def table(self, name):
        return self.tables.child(self.indexes["class_" + name])

    def column(self, name, prop):
        """The index of a column, from its position in the list of names."""
        spec = self.table(name).child(0)
        names, keys = spec.child(1), spec.child(5)
        for i in range(keys.count):
            if prop is None or i < names.count:
                text = bytes(self.data[names.ref + 8 + i * names.width :][: names.width]) if i < names.count else b"\0"
                if (text[: -1 - text[-1]].decode() or None) == prop:
                    return keys[i] & 0xFFFF
        raise KeyError(prop)

    def cluster(self, name, number=0):
        root = self.table(name).child(2)
        return root.child(3 + number) if self.data[root.ref + 4] & 0x80 else root

    def leaf(self, name, prop, number=0):
        return self.cluster(name, number).child(1 + self.column(name, prop))

    def index(self, name, prop):
        return self.table(name).child(4, self.column(name, prop))

    def save(self):
        self.path.write_bytes(self.data)


def fill(path):
    with crealm.open(path, schema=[Item, Other, Part]) as db, db.write():
        day = datetime(2020, 1, 1, microsecond=5, tzinfo=timezone.utc)
        others = [db["Other"].create(when=day + timedelta(i)) for i in range(3)]
        for i in range(600):
            item = db["Item"].create(number=i * 1000, text=f"text {i}", other=others[0] if i == 5 else None)
            if i == 4:
                item.part = Part(n=1)
            if i == 7:
                item.numbers.extend(range(2500))
                item.words.update({"a", "b", "c"})
                item.map.update({"k": 1, "l": 2})
        assert [o.object_key for o in others] == [0, 1, 2]


@pytest.fixture
def file(tmp_path):
    fill(tmp_path / "faults.realm")
    return tmp_path / "faults.realm"


def faults_of(path, limit=1000):
    with crealm.open(path, mode="immutable") as db:
        return db.verify(limit)


def test_sound(file):
    found = faults_of(file)
    assert found == [] and found.total == 0


def test_each_of_several_faults_is_named_with_its_place(file):
    f = File(file)
    expected = set()
    # A backlink with another object than the source of the link.
    backlinks = f.leaf("Other", None)
    backlinks[0] = 6 << 1 | 1
    expected |= {("link", "Other", None, 0, 0), ("link", "Item", "other", 5, 0)}
    # Seconds and nanoseconds of different signs.
    nanoseconds = f.leaf("Other", "when").child(1)
    nanoseconds[1] = -5000
    expected |= {("value", "Other", "when", 1, 0)}
    # In the second of three clusters, the leaf of one property is not a leaf of texts.
    texts = f.leaf("Item", "text", 1)
    f.data[texts.ref + 4] ^= 0x40
    expected |= {("node", "Item", "text", None, texts.ref)}
    # A list with a size that is too large.
    slots = f.leaf("Item", "numbers")
    assert slots[7] and slots[6] == 0
    tree = slots.child(7)
    tree[tree.count - 1] = 2600 << 1 | 1
    expected |= {("tree", "Item", "numbers", 7, tree.ref)}
    # Keys of a dictionary in the wrong order.
    names = f.leaf("Item", "map").child(7, 0)
    f.data[names.ref + 8] = ord("z")
    expected |= {("tree", "Item", "map", 7, names.ref)}
    # A set in the wrong order.
    words = f.leaf("Item", "words").child(7)
    f.data[words.ref + 8] = ord("b")
    expected |= {("value", "Item", "words", 7, 0)}
    # An embedded object without a link from its owner.
    parts = f.leaf("Item", "part")
    parts[4] = 0
    expected |= {("link", "Part", None, 0, 0)}
    # Free bytes that are missing in the free list.
    lengths = f.top.child(4)
    i = max(range(lengths.count), key=lambda i: lengths[i])
    lengths[i] -= 8
    expected |= {("space", None, None, None, f.top.child(3)[i] + lengths[i])}
    f.save()
    found = faults_of(file)
    assert {(x.kind, x.class_name, x.property, x.object_key, x.offset) for x in found} == expected, [str(x) for x in found]
    # The embedded object has a backlink without a link, and no owner.
    assert found.total == len(found) == len(expected) + 1
    for x in found:
        assert str(x.offset) in str(x) if x.offset else "at byte" not in str(x)
        assert x.class_name is None or x.class_name in str(x)
    assert len(faults_of(file, 3)) == 3 and faults_of(file, 3).total == found.total
    assert faults_of(file, 0) == [] and faults_of(file, 0).total == found.total


def test_an_index_that_forgets_and_misplaces(file):
    f = File(file)
    index = f.index("Item", "number")
    # The first entry replaces the second: one object occurs twice, and one is missing.
    first = index.child(1) if index[1] % 2 == 0 else index
    entries = [i for i in range(1, first.count) if first[i] % 2]
    assert len(entries) > 2
    lost, twice = first[entries[1]] >> 1, first[entries[0]] >> 1
    first[entries[1]] = first[entries[0]]
    f.save()
    found = faults_of(file)
    assert {(x.kind, x.property) for x in found} == {("index", "number")}
    assert sorted(x.object_key for x in found) == sorted([twice, twice, lost]), [str(x) for x in found]


def test_a_cluster_that_cannot_be_read_hides_nothing_else(file):
    f = File(file)
    cluster = f.cluster("Item", 1)
    f.data[cluster.ref + 4] = 0x1F
    nanoseconds = f.leaf("Other", "when").child(1)
    nanoseconds[0] = -5000
    f.save()
    found = faults_of(file)
    places = {(x.kind, x.class_name, x.property, x.object_key, x.offset) for x in found}
    assert ("node", "Item", None, None, cluster.ref) in places and ("value", "Other", "when", 0, 0) in places
    # The contents of the cluster are not reachable any more; faults of links, indexes and counts that follow from this are not reported.
    assert {x.kind for x in found} == {"node", "value", "space"}, [str(x) for x in found]


def test_nodes_with_two_owners(file):
    f = File(file)
    slots = f.leaf("Item", "numbers")
    slots[8] = slots[7]
    f.save()
    found = faults_of(file)
    assert [(x.kind, x.class_name, x.property, x.object_key, x.offset) for x in found] == [
        ("space", "Item", "numbers", 8, slots[7])
    ], [str(x) for x in found]


def test_backlinks_that_other_libraries_leave_behind(file):
    """Other libraries leave a column of backlinks, with its entries, when they remove a Mixed property."""
    with crealm.open(file) as db, db.write():
        db["Other"][1].any = db["Other"][2]
    f = File(file)
    # The link becomes a timestamp, the backlink stays: a fault.
    values = f.leaf("Other", "any").child(0)
    assert values[1] & 31 == 16 + 1
    values[1] += 8 - 16
    f.save()
    found = faults_of(file)
    assert [(x.kind, x.class_name, x.object_key) for x in found] == [("link", "Other", 2)], [str(x) for x in found]
    # With a property that does not exist any more, it is no fault.
    spec, opposites = f.table("Other").child(0), f.table("Other").child(8)
    (of_any,) = [i for i in range(opposites.count) if opposites[i] & 0xFFFF == f.column("Other", "any") and opposites[i] >> 16 & 63 == 6]
    opposites[of_any] += 77 << 30
    f.save()
    assert spec.child(5).count == 4 and faults_of(file) == []
    with crealm.open(file) as db:
        with db.write():
            db["Other"][0].any = db["Other"][2]
            db["Other"][2].delete()
        assert db.verify() == [] and db["Other"][0].any is None
        with db.write():
            db["Other"].delete_all()
        assert db.verify() == []


def test_command_line_lists_all(file, capsys):
    from crealm.cli import main

    f = File(file)
    nanoseconds = f.leaf("Other", "when").child(1)
    for i in range(3):
        nanoseconds[i] = -5000
    f.save()
    assert main(["info", "--check", "--immutable", str(file)]) == 3
    out = capsys.readouterr().out
    assert "3 faults" in out and all(f"'Other.when', object {i}: " in out for i in range(3))


def test_files_of_other_engines_are_sound():
    checked = 0
    for file in sorted(FIXTURES.glob("*/*.realm")):
        if "node4" in file.name or "encrypted" in file.name:  # It has another fan-out, or its key is not given.
            continue
        try:
            found = faults_of(file)
        except crealm.UnsupportedFormat:
            continue
        checked += 1
        assert found == [], (file.name, [str(x) for x in found[:5]])
    assert checked > 10


class Note(crealm.Model):
    text: str = crealm.field(fulltext=True)
    tags: list[str] = crealm.field(index=True)


@pytest.fixture
def notes(tmp_path):
    """A file with words that are prefixes of others, longer than one entry of the tree, empty, or in many objects."""
    path = tmp_path / "notes.realm"
    with crealm.open(path, schema=[Note]) as db, db.write():
        for i in range(300):
            shared = "word wording wordings unbelievably × über"
            db.add(Note(text=f"{shared} number{i} {'abcd' * (i % 9)}", tags=["", "tag", f"tag{i % 7}", "tag", "tags" * (i % 5)]))
        db["Note"][17].delete()
    assert faults_of(path) == []
    return path


def test_words_of_an_index_that_texts_do_not_have(notes):
    # The word is stored both in the text of object 42 and in the index, unchanged.
    f = File(notes)
    at = f.data.index(b"number42 ")
    f.data[at : at + 8] = b"umber242"
    f.save()
    found = faults_of(notes)
    assert [(x.kind, x.class_name, x.property, x.object_key) for x in found] == [("index", "Note", "text", 42)] * 2
    assert "missing" in str(found[0]) and "under a word that it does not have" in str(found[1])


def test_an_element_that_the_index_of_its_list_does_not_have(notes):
    f = File(notes)
    at = f.data.index(b"tag", f.leaf("Note", "tags").child(40).ref)
    f.data[at : at + 3] = b"gat"
    f.save()
    # The entry of the old word is no fault: realm-core leaves such entries.
    assert [(x.kind, x.class_name, x.property) for x in faults_of(notes)] == [("index", "Note", "tags")]


def test_an_index_of_words_that_names_no_object(notes):
    f = File(notes)

    def leaf(node):
        """A node with a single object in it."""
        for i in range(1, node.count):
            if node[i] % 2:
                return node, i
            if node.data[node.child(i).ref + 4] & 0x20:
                inner = leaf(node.child(i))
                if inner:
                    return inner
        return None

    node, i = leaf(f.index("Note", "text"))
    node[i] = 17 << 1 | 1
    f.save()
    found = faults_of(notes)
    assert {x.object_key for x in found if "does not exist" in str(x)} == {17}
    assert len(found) == 2 and {x.property for x in found} == {"text"}


def test_a_check_of_free_lists_that_claim_millions_of_chunks_can_be_ended(tmp_path):
    class Small(crealm.Model):
        n: int

    path, told = tmp_path / "lists.realm", []
    with crealm.open(path, schema=[Small]) as db, db.write():
        db["Small"].create(n=1)
    f = File(path)
    for slot in (3, 4, 5):
        # Lists of width 0: 16,777,215 zeros in eight bytes.
        at = f.top[slot]
        f.data[at + 4] = f.data[at + 4] & 0xF8
        f.data[at + 5 : at + 8] = b"\xff\xff\xff"
    f.save()

    def end_at_the_second_time(*progress):
        told.append(progress)
        return len(told) < 2

    with crealm.open(path, mode="immutable") as db:
        # The first time is told at once, the second one in a loop that takes long enough.
        with pytest.raises(crealm.Interrupted):
            db.verify(progress=end_at_the_second_time)
        found = db.verify(3)
    assert [activity for activity, _, _ in told] == ["checking"] * 2
    assert len(found) == 3 and found.total > 16_777_215


@pytest.mark.parametrize("limit", [2.5, "1", None, b"1"])
def test_a_limit_is_a_number(path, limit):
    with crealm.open(path, mode="rwc") as db:
        with pytest.raises(TypeError):
            db.verify(limit)
        assert db.verify(-1) == db.verify(2**100) == []


@pytest.mark.parametrize(
    "name, at, byte, kind",
    [
        # Found by Tests/Fuzz/checkers.py: faults that the independent checkers report, in places that a reader does not read.
        ("sdk/f22-dotnet-mixed-collections", 4090, 121, "node"),  # Payloads of a Mixed leaf, in a dictionary of format 22: a number in place of a ref.
        ("sdk/f22-dotnet-mixed-collections", 4007, 2, "node"),  # Its texts: more ends than nulls.
        ("old/f05-java-asset-file", 20261, 16, "node"),  # The array of nanoseconds claims a million elements, that of seconds ten.
        ("old/f09-studio-asset-file", 1637, 1, "node"),
    ],
)
def test_bytes_that_no_reader_looks_at(tmp_path, name, at, byte, kind):
    source = FIXTURES / f"{name}.realm"
    if not source.exists():
        pytest.skip("no files of Realm's SDKs")
    data = bytearray(source.read_bytes())
    assert data[at] != byte
    data[at] = byte
    path = tmp_path / "damaged.realm"
    path.write_bytes(data)
    found = crealm.check(path)
    assert not found.is_sound and kind in {fault.kind for fault in found.faults}
