"""Salvage of damaged files, and recovery of deleted objects. Comparisons with a perfect reader are in Tests/Rescue."""

import fcntl
import json
import os
import random
from typing import Any, Optional

import pytest

import crealm
from crealm.cli import main
from test_faults import File, Node

KEY = bytes(range(64))


class Part(crealm.Embedded):
    size: int = 0


class Person(crealm.Model):
    id: int = crealm.field(primary_key=True)
    name: str = crealm.field(index=True)
    friend: "Optional[Person]" = None
    part: Optional[Part] = None
    tags: list[str]
    any: Any = None


@pytest.fixture
def people(tmp_path):
    """A file with ten people, written in two commits."""
    path = tmp_path / "people.realm"
    fill(path)
    return path


def fill(path, **secret):
    with crealm.open(path, schema=[Person], **secret) as db:
        with db.write():
            for i in range(9):
                db.add(Person(id=i, name=f"person {i}" * 20, part=Part(size=i), tags=["a", "b"], any={"n": [i]}))
        with db.write():
            last = db.add(Person(id=9, name="the last"))
            last.friend = db[Person].get(1)


def contents(path):
    with crealm.open(path, mode="immutable") as db:
        assert db["Person"].schema.primary_key == "id"
        return {p.object_key: (p.id, p.name, p.friend and p.friend.id, p.part and p.part.size, list(p.tags)) for p in db["Person"]}


def spoil(path, at, data):
    whole = bytearray(path.read_bytes())
    whole[at : at + len(data)] = data
    path.write_bytes(whole)


def live_top(path):
    data = path.read_bytes()
    slot = data[23] & 1
    return slot, int.from_bytes(data[8 * slot : 8 * slot + 8], "little")


def test_a_sound_file_comes_out_whole(people, tmp_path):
    found = crealm.salvage(people, tmp_path / "out.realm")
    assert found.whole and not found.lost_classes and all(one.lost == 0 for one in found.classes)
    assert contents(tmp_path / "out.realm") == contents(people)
    assert str(found) == "19 objects of 2 classes, nothing lost"
    with crealm.open(tmp_path / "out.realm", mode="immutable") as db:
        assert not db.verify() and db["Person"].where("name == $0", "the last").explain().access == "index"


def nest(levels, *forms):
    """A value inside `levels` lists and dictionaries, which take turns."""
    value = "inmost"
    for level in range(levels):
        value = forms[level % len(forms)](value)
    return value


@pytest.mark.parametrize(
    "forms", [[lambda x: [x, 1]], [lambda x: {"in": x, "other": 1}], [lambda x: {"in": x}, lambda x: [0, x]]])
def test_deeply_nested_values_come_out_whole(tmp_path, forms):
    value = nest(99, *forms)
    path, out = tmp_path / "deep.realm", tmp_path / "out.realm"
    with crealm.open(path, schema=[Person]) as db, db.write():
        db.add(Person(id=1, name="deep", any=value))
    assert crealm.salvage(path, out).whole
    with crealm.open(out, mode="immutable") as db:
        found = db["Person"].get(1).any
        for _ in range(99):
            found = found["in"] if hasattr(found, "keys") else next(x for x in found if x not in (0, 1))
        assert found == "inmost"


def test_the_source_stays_and_the_target_must_be_new(people, tmp_path):
    before = people.read_bytes()
    (tmp_path / "there").write_bytes(b"x")
    with pytest.raises(crealm.FileExists):
        crealm.salvage(people, tmp_path / "there")
    assert (tmp_path / "there").read_bytes() == b"x"
    crealm.salvage(people, tmp_path / "out.realm")
    assert people.read_bytes() == before


def test_a_failure_leaves_nothing(tmp_path):
    bad = tmp_path / "bad.realm"
    bad.write_bytes(os.urandom(100_000))
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(crealm.CorruptFileError, match="Nothing can be salvaged"):
        crealm.salvage(bad, tmp_path / "out.realm")
    assert sorted(os.listdir(tmp_path)) == before
    with pytest.raises(crealm.FileNotFound):
        crealm.salvage(tmp_path / "none", tmp_path / "out.realm")


def test_an_open_file_is_refused(people, tmp_path):
    with crealm.open(people), pytest.raises(crealm.LockedError, match="close it"):
        crealm.salvage(people, tmp_path / "out.realm")


def test_without_the_newest_top_its_tables_are_found_and_else_the_version_before_is_used(people, tmp_path):
    wanted = contents(people)
    _, top = live_top(people)
    spoil(people, top, bytes(16))
    found = crealm.salvage(people, tmp_path / "out.realm")
    assert not found.whole and [root["origin"] for root in found.roots[:2]] == ["scanned", "previous"]
    assert contents(tmp_path / "out.realm") == wanted
    # Everything that the newest version wrote is destroyed, except its header slot.
    with crealm.open(tmp_path / "out.realm", mode="immutable") as db:
        assert len(db["Person"]) == 10
    data = bytearray(people.read_bytes())
    other = int.from_bytes(data[8 * (1 - (data[23] & 1)) :][:8], "little")
    for at in range(other + 64, len(data) - 8, 8):
        if data[at : at + 4] == b"AAAA":
            data[at : at + 8] = bytes(8)
    people.write_bytes(data)
    found = crealm.salvage(people, tmp_path / "older.realm")
    assert not found.whole and "previous" in [root["origin"] for root in found.roots]
    assert sorted(row[0] for row in contents(tmp_path / "older.realm").values()) == list(range(9))


def test_without_a_header_the_newest_top_is_found(people, tmp_path):
    wanted = contents(people)
    spoil(people, 0, bytes(24))
    found = crealm.salvage(people, tmp_path / "out.realm")
    assert not found.whole and found.roots[0]["origin"] == "scanned"
    assert contents(tmp_path / "out.realm") == wanted


@pytest.mark.parametrize("also_array", [False, True])
def test_tables_to_which_no_top_leads_are_newer_than_an_older_top(people, tmp_path, also_array):
    """Both top arrays of the header are destroyed, and those of older versions are still in free space."""
    for i in range(6):
        with crealm.open(people, schema=[Person]) as db, db.write():
            db[Person].get(i).name = f"changed {i}"
            db[Person].get(8 - i % 2).tags.append(str(i))
    wanted, data = contents(people), people.read_bytes()
    tops = [int.from_bytes(data[8 * slot : 8 * slot + 8], "little") for slot in (0, 1)]
    array = Node(bytearray(data), tops[data[23] & 1])[1]
    for at in tops + [array] * also_array:
        spoil(people, at, bytes(8))
    found = crealm.salvage(people, tmp_path / "out.realm")
    assert not found.whole and found.roots[0]["origin"] == "scanned" and found.roots[0]["top"] == 0
    assert contents(tmp_path / "out.realm") == wanted
    assert not found.lost_classes and all(one.names_known and not one.lost for one in found.classes)


def test_values_that_contradict_each_other_are_counted(people, tmp_path, capsys):
    file = File(people)
    friends = file.leaf("Person", "friend")
    assert [friends[i] for i in range(10)] == [0] * 9 + [2]
    friends[9] = 3
    file.save()
    checked = crealm.check(people)
    assert {fault.kind for fault in checked.faults if not fault.slot or fault.slot == checked.versions[0].slot} == {"link"}
    found = crealm.salvage(people, tmp_path / "out.realm")
    assert found.contradictions == checked.versions[0].fault_count == 2 and not found.whole
    assert all(one.lost == 0 and all(p.lost == p.lost_links == 0 for p in one.properties) for one in found.classes)
    assert str(found).splitlines()[0] == "19 objects of 2 classes" and "2 faults, 2 of them values that contradict each other: `crealm check` names them" in found.lines()
    assert contents(tmp_path / "out.realm")[9][2] == 2
    assert main(["salvage", str(people), str(tmp_path / "again.realm"), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["contradictions"] == 2


def test_a_text_that_its_index_does_not_name_is_a_contradiction(people, tmp_path):
    data = people.read_bytes()
    at = data.rfind(b"person 3" * 20)
    spoil(people, at + 3, b"X")
    found = crealm.salvage(people, tmp_path / "out.realm")
    assert found.contradictions and not found.whole


def test_what_is_damaged_beside_the_values_is_a_fault_and_no_contradiction(people, tmp_path):
    wanted = contents(people)
    file = File(people)
    index = file.index("Person", "name")
    file.data[index.ref + 4] |= 0x18
    file.save()
    checked = crealm.check(people)
    found = crealm.salvage(people, tmp_path / "out.realm")
    assert found.faults == checked.versions[0].fault_count > 0 and found.contradictions == 0 and not found.whole
    assert contents(tmp_path / "out.realm") == wanted and all(p.lost == 0 for one in found.classes for p in one.properties)


@pytest.mark.parametrize("count", [None, 1])
def test_a_list_that_was_zeroed_or_cut_short_is_not_called_whole(people, tmp_path, count):
    with crealm.open(people, schema=[Person]) as db, db.write():
        db[Person].get(3).tags.extend(["c" * 10, "d" * 10])
    file = File(people)
    tags = file.leaf("Person", "tags").child(3)
    assert tags.count == 4
    if count is None:
        file.data[tags.ref : tags.ref + 8] = bytes(8)
    else:
        file.data[tags.ref + 7] = count
    file.save()
    found = crealm.salvage(people, tmp_path / "out.realm")
    lost = next(p for one in found.classes if one.name == "Person" for p in one.properties if p.name == "tags").lost_elements
    assert not found.whole and found.faults and lost == (1 if count is None else 0)


def test_a_link_to_an_embedded_object_counts_where_only_its_backlink_contradicts_it(people, tmp_path):
    wanted, file = contents(people), File(people)
    back = file.cluster("Part").child(1 + file.column("Part", None))
    assert back[3] == 3 << 1 | 1
    back[3] = 9 << 1 | 1
    file.save()
    found = crealm.salvage(people, tmp_path / "out.realm")
    assert found.contradictions == 2 and not found.whole
    assert contents(tmp_path / "out.realm") == wanted


@pytest.mark.parametrize("at, prefix", [(2, b"q"), (0, b"xyz_as")])
def test_a_class_whose_prefix_is_damaged_stays_one(people, tmp_path, at, prefix):
    """A part of the prefix is intact, or a class has links to it."""
    data, file = people.read_bytes(), File(people)
    place = data.index(b"class_Part", file.top.child(0).ref)
    spoil(people, place + at, prefix)
    found = crealm.salvage(people, tmp_path / "out.realm")
    name = "Part" if at else "xyz_as" + "Part"
    assert not found.whole and [one.names_known for one in found.classes if one.name == name] == [False]
    with crealm.open(tmp_path / "out.realm", mode="immutable") as db:
        assert len(db[name]) == 9 and db["Person"].schema.properties["part"].type == name


def test_the_version_of_the_schema_keeps_its_column(tmp_path):
    """Other libraries do not open a file whose table of the schema version has no column or no object."""
    path = tmp_path / "a.realm"
    crealm.open(path, schema=[Numbers], schema_version=7).close()
    file = File(path)
    i = next(i for i in range(file.tables.count) if i not in file.indexes.values() or list(file.indexes).index("metadata") == i)
    names = file.tables.child(i, 0, 1)
    rows = file.tables.child(i, 2)
    whole = bytes(file.data)
    for node, version in ((names, 7), (rows, None)):
        path.write_bytes(whole)
        spoil(path, node.ref + 4, bytes(4))
        out = tmp_path / f"{version}.realm"
        found = crealm.salvage(path, out)
        assert not found.whole
        with crealm.open(out, mode="immutable") as db:
            assert db.schema_version == version
        with crealm.open(out, schema=[Numbers], schema_version=8) as db, db.write():
            db.add(Numbers(name="new"))


def test_only_what_can_have_an_index_gets_one(people, tmp_path):
    file = File(people)
    attributes = file.table("Person").child(0, 2)
    i = next(i for i in range(attributes.count) if file.table("Person").child(0, 5)[i] & 0xFFFF == file.column("Person", "id"))
    assert attributes.width == 8
    attributes[i] |= 0x80 - 256  # The attribute of a full-text index.
    file.save()
    crealm.salvage(people, tmp_path / "out.realm")
    assert crealm.check(tmp_path / "out.realm").is_sound
    with crealm.open(tmp_path / "out.realm", mode="immutable") as db:
        assert not any(p.fulltext for name, p in db["Person"].schema.properties.items())


def test_without_a_version_nobody_knows_of_contradictions(people, tmp_path):
    data = people.read_bytes()
    for slot in (0, 1):
        spoil(people, int.from_bytes(data[8 * slot : 8 * slot + 8], "little"), bytes(8))
    found = crealm.salvage(people, tmp_path / "out.realm")
    assert found.faults is None and found.contradictions is None and not found.whole


def test_a_lost_leaf_is_counted_and_the_rest_stays(people, tmp_path):
    at = people.read_bytes().rfind(b"person 3" * 20)
    assert at > 0
    spoil(people, at - 8, bytes(8))  # The header of the node with the text.
    found = crealm.salvage(people, tmp_path / "out.realm")
    person = next(one for one in found.classes if one.name == "Person")
    assert person.lost == 0 and person.objects == 10
    assert next(p for p in person.properties if p.name == "name").lost == 1
    assert "Person.name: 1 values lost" in list(found.lines())
    assert [row[1] for row in contents(tmp_path / "out.realm").values() if row[0] == 3] == [""]


def test_lost_primary_keys_put_objects_beside_their_class(people, tmp_path):
    # All leaves of the ids: ten numbers of four bits.
    leaf = bytes([0x41] * 4 + [3, 0, 0, 10, 0x10, 0x32, 0x54, 0x76, 0x98])
    data = people.read_bytes()
    assert leaf in data
    people.write_bytes(data.replace(leaf, bytes(8) + leaf[8:]))
    found = crealm.salvage(people, tmp_path / "out.realm")
    person = next(one for one in found.classes if one.name == "Person")
    assert person.apart >= 1
    with crealm.open(tmp_path / "out.realm", mode="immutable") as db:
        assert "the last" in {one.name for one in db["Person_salvaged"]} and not db.verify()


@pytest.mark.parametrize("cipher", ["xchacha20", "aes256gcm", "realm"])
def test_encrypted_files(tmp_path, cipher):
    path, out = tmp_path / "secret.realm", tmp_path / "out.realm"
    fill(path, key=KEY, page_cipher=cipher)
    found = crealm.salvage(path, out, key=KEY)
    assert found.whole and found.damaged_page_count == 0
    with crealm.open(out, mode="immutable", key=KEY) as db:
        assert len(db["Person"]) == 10
    with pytest.raises(crealm.Error):
        crealm.open(out, mode="immutable")
    with pytest.raises((crealm.WrongKeyError, crealm.CorruptFileError)):
        crealm.salvage(path, tmp_path / "no.realm", key=bytes(64))
    with pytest.raises(crealm.Error):
        crealm.salvage(path, tmp_path / "no.realm")
    assert not (tmp_path / "no.realm").exists()


@pytest.mark.parametrize("block", [0, 1, 2, 3])
def test_either_key_block_and_any_root_record_will_do(tmp_path, block):
    path, out = tmp_path / "secret.realm", tmp_path / "out.realm"
    fill(path, key=KEY)
    spoil(path, block * 4096, bytes(512))
    crealm.salvage(path, out, key=KEY, plain=True)
    assert [row[0] for row in contents(out).values()] == list(range(10))


def test_pages_that_do_not_authenticate_are_named(tmp_path):
    path, out = tmp_path / "secret.realm", tmp_path / "out.realm"
    fill(path, key=KEY)
    spoil(path, 8 * 4096 + 100, b"\xff" * 8)  # Page 0: without it nothing may be found.
    try:
        found = crealm.salvage(path, out, key=KEY)
    except crealm.CorruptFileError:
        assert not out.exists()
    else:
        assert found.damaged_pages == [0] and found.damaged_page_count == 1 and not found.whole


def test_what_a_killed_salvage_left_is_removed_by_the_next(people, tmp_path):
    out = tmp_path / "out.realm"
    for name in ("99999", "88888", "notes"):
        (tmp_path / f"out.realm.tmp_salvage_{name}").write_bytes(b"left")
        (tmp_path / f"out.realm.tmp_salvage_{name}.lock").write_bytes(b"left")
    (tmp_path / "other.realm.tmp_salvage_99999").write_bytes(b"left")
    with open(tmp_path / "out.realm.tmp_salvage_88888.lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        assert crealm.salvage(people, out).whole
    left = {path.name for path in tmp_path.iterdir() if "tmp_salvage" in path.name}
    assert left == {"other.realm.tmp_salvage_99999"} | {f"out.realm.tmp_salvage_{name}{end}" for name in ("88888", "notes") for end in ("", ".lock")}


def test_progress_can_end_it(people, tmp_path):
    def stop(activity, done, total):
        return False

    with pytest.raises(crealm.Interrupted):
        crealm.salvage(people, tmp_path / "out.realm", progress=stop)
    assert not (tmp_path / "out.realm").exists()


# ------------------------------------------------------------------------------------------------
# Deleted objects
# ------------------------------------------------------------------------------------------------


def test_deleted_objects_are_found_and_living_ones_are_not(people):
    with crealm.open(people, schema=[Person]) as db:
        with db.write():
            db[Person].get(4).delete()
            db[Person].get(5).name = "another name"
    found = crealm.recover_deleted(people)
    deleted = [one for one in found if one.kind == "deleted" and one.class_name == "Person"]
    assert [(one.key, one.values["id"], one.values["name"], one.proven) for one in deleted] == [(4, 4, "person 4" * 20, True)]
    former = [one for one in found if one.kind == "former" and one.key == 5]
    assert former and former[0].values["name"] == "person 5" * 20
    assert [one.values for one in found if one.class_name == "Part" and one.kind == "deleted"] == [{"size": 4}]
    assert all(one.offset > 0 and one.size > 0 for one in found)


@pytest.mark.parametrize("seed", [5, 24, 72, 94])
def test_remains_of_a_removed_class_are_not_those_of_one_with_the_same_columns(tmp_path, seed):
    """Not even if only their columns show their class."""
    rng = random.Random(seed)
    path = tmp_path / "twins.realm"
    one, two = (type(name, (crealm.Model,), {"__annotations__": {"name": str, "count": int, "tags": list[str]}}) for name in ("One", "Two"))
    had = {"One": set(), "Two": set()}
    with crealm.open(path, schema=[one, two]) as db:
        for step in range(rng.randrange(1, 8)):
            with db.write():
                for model in (one, two):
                    if rng.random() < 0.6:
                        for i in range(rng.choice([2, 30, 300])):
                            name = f"{model.__name__} {step} {i}"
                            had[model.__name__].add(name)
                            db.add(model(name=name, count=i, tags=[name]))
                    elif rng.random() < 0.3:
                        db[model.__name__].delete_all()
    with crealm.open(path, schema=[one], schema_version=2, migrate=lambda old, new, *rest: new.remove_class("Two")) as db:
        for step in range(rng.randrange(12)):
            with db.write():
                had["One"].add(f"One x {step}")
                db.add(one(name=f"One x {step}", count=step))
    found = crealm.recover_deleted(path)
    assert all("name" not in r.values or r.values["name"] in had[r.class_name] for r in found if r.class_name in had)
    unknown = [r for r in found if r.resembles is not None]
    assert unknown and all(r.class_name is None and r.key is None and r.kind == "unplaced" and not r.proven for r in unknown)


class Numbers(crealm.Model):
    name: str
    numbers: list[int]


BIG = [10**15 + i for i in range(3)]


@pytest.fixture
def remaining(tmp_path):
    """A file in which an object with a list was deleted a few commits ago, and the offset of the list's node."""
    path = tmp_path / "numbers.realm"
    with crealm.open(path, schema=[Numbers, Person]) as db:
        with db.write():
            for i in range(5):
                db.add(Numbers(name=f"object {i}", numbers=BIG if i == 3 else [i]))
        for i in range(5):
            with db.write():
                db.add(Person(id=i))
        with db.write():
            db[Numbers][3].delete()
        for i in range(2):
            with db.write():
                db[Person].get(i).name = "x" * 100
    at = path.read_bytes().rfind(b"".join(n.to_bytes(8, "little") for n in BIG)) - 8
    assert deleted_numbers(path).values == {"name": "object 3", "numbers": BIG} and not deleted_numbers(path).proven
    return path, at


def deleted_numbers(path):
    return next(one for one in crealm.recover_deleted(path) if one.class_name == "Numbers" and one.kind == "deleted")


def test_a_list_whose_node_has_no_elements_is_lost(remaining):
    path, at = remaining
    spoil(path, at + 4, bytes([0, 0, 0, 0]))
    # If one value was overwritten, nothing shows any more which object the others belong to.
    found = [one for one in crealm.recover_deleted(path) if one.resembles == "Numbers" or one.class_name == "Numbers"]
    assert any(one.values.get("name") == "object 3" and one.lost == ["numbers"] for one in found)
    assert not any(one.values.get("name") == "object 3" and "numbers" in one.values for one in found)


def test_a_list_of_free_space_is_no_value(remaining):
    """A later version's free list, stored at the same place, is not taken for the list of an object."""
    path, at = remaining
    data = bytearray(path.read_bytes())
    newest = Node(data, live_top(path)[1])
    heads = [Node(data, ref) for ref in range(24, len(data) - 128, 8) if data[ref : ref + 4] == b"AAAA" and data[ref + 4] & 0xC0 == 0x40]
    heads = [n for n in heads if n.type == 0 and n.width in (16, 32, 64) and n.count == newest.count and n[2] & 1 and n[6] & 1 and n[0] % 8 == 0]
    later = max((n for n in heads if n[6] < newest[6] - 2), key=lambda n: n[6])
    for i in (3, 4, 5):
        later[i] = at
    path.write_bytes(data)
    assert not any("numbers" in one.values and one.values["numbers"] == BIG for one in crealm.recover_deleted(path))


def test_nothing_remains_after_a_compaction(people):
    with crealm.open(people, schema=[Person]) as db:
        with db.write():
            db[Person].get(4).delete()
        assert db.compact()
    assert [one for one in crealm.recover_deleted(people) if one.kind == "deleted"] == []


def test_remains_of_a_damaged_file_need_its_newest_version(people):
    spoil(people, 0, bytes(24))
    with pytest.raises(crealm.CorruptFileError, match="salvage"):
        crealm.recover_deleted(people)


# ------------------------------------------------------------------------------------------------
# The command line
# ------------------------------------------------------------------------------------------------


def test_commands(people, tmp_path, capsys):
    out = tmp_path / "out.realm"
    assert main(["salvage", str(people), str(out)]) == 0
    told = capsys.readouterr().out
    assert "nothing lost" in told and "metadata" not in told  # Not a class of the user.
    assert main(["salvage", str(people), str(out)]) == 1
    capsys.readouterr()
    with crealm.open(people, schema=[Person]) as db:
        with db.write():
            db[Person].get(4).delete()
    assert main(["recover-deleted", str(people), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert any(one["kind"] == "deleted" and one["values"].get("id") == 4 for one in told["remains"])
    assert main(["recover-deleted", str(people), "--ndjson"]) == 0
    assert [json.loads(line)["kind"] for line in capsys.readouterr().out.splitlines()] == [one["kind"] for one in told["remains"]]
    assert main(["recover-deleted", str(people)]) == 0
    assert "unproven" in capsys.readouterr().out
    spoil(people, 0, bytes(24))
    assert main(["salvage", str(people), str(tmp_path / "more.realm"), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["roots"][0]["origin"] == "scanned"


def test_the_report_says_why_a_file_is_not_whole(people, tmp_path):
    """A file whose last bytes are missing: all objects may be found, but nobody can count the faults."""
    path, out = tmp_path / "cut.realm", tmp_path / "out.realm"
    path.write_bytes(people.read_bytes()[:-8])
    found = crealm.salvage(path, out)
    assert not found.whole and found.faults is None
    assert "the newest version could not be checked, and may have more faults: `crealm check` tells why" in str(found).splitlines()
    with crealm.open(out) as made:
        assert made.verify() == []
