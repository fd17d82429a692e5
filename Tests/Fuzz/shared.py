#!/usr/bin/env python3
"""Tests files in which a node is used in more than one place: each call on them must end, without a crash and with
limited memory.

    shared.py LIBRARY [COUNT [SEED]] [--seconds 10] [--memory 2048] [--only OPERATION] [--keep DIR]
              [--also SEED,...]

COUNT files (100) from seed SEED (1) on, and those of --also. Each is a sound file, split into its nodes, in which some nodes are put into
several places: children of one inner node, blobs of texts, lists and dictionaries inside of each other, towers of inner
nodes over one leaf that claim up to 10^18 elements, free lists, the history, the slots of the top array; some claim a
size that includes a hole after their end. All OPERATIONS run on each, in a child process that may have 2 GB of memory
(of address space, for every fourth file), each operation for 10 seconds of processor time. An operation may end with an
error of the library or a MemoryError of Python. Anything else fails the file: `shared.py LIBRARY 1 SEED` repeats it.
Prints a line for each failure, and 'N passed, M failed'."""

import argparse
import gc
import itertools
import mmap
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "bindings/python"))
ROWS = 20  # Rows, and elements of a collection, that are read one by one.
# The sound files: rows, and how often each is taken. Most are small, because what a shared node costs does not depend
# on the rest of the file; 270 rows have an inner cluster with two leaves, 2600 one with many.
SIZES = {40: 12, 270: 6, 700: 1, 2600: 1}
INNER, REFS, CONTEXT = 0x80, 0x40, 0x20

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("library")
parser.add_argument("count", type=int, nargs="?", default=100)
parser.add_argument("seed", type=int, nargs="?", default=1)
parser.add_argument("--seconds", type=float, default=10)
parser.add_argument("--memory", type=int, default=2048)
parser.add_argument("--only", default="")
parser.add_argument("--keep", type=pathlib.Path)
parser.add_argument("--also", type=lambda text: [int(seed) for seed in text.split(",")], default=[])
parser.add_argument("--timing", action="store_true")


# ------------------------------------------------------------------------------------------------
# Files as graphs of nodes
# ------------------------------------------------------------------------------------------------


class Node:
    """An array: of refs (nodes, or numbers as they are stored), or of bytes."""

    __slots__ = ("flags", "count", "data", "slots")

    def __init__(self, flags, count, data=b"", slots=None):
        self.flags, self.count, self.data, self.slots = flags, count, data, slots

    @staticmethod
    def refs(slots, flags=0):
        return Node(flags | REFS, len(slots), slots=list(slots))

    def children(self):
        return [i for i, slot in enumerate(self.slots or ()) if isinstance(slot, Node)]


def tagged(number):
    return number << 1 | 1


def load(image):
    """The top array of the newest version."""
    top = struct.unpack_from("<Q", image, 8 * (image[23] & 1))[0]
    known = {}

    def node(at):
        if at in known:
            return known[at]
        flags, count = image[at + 4], int.from_bytes(image[at + 5 : at + 8], "big")
        width, kind = (1 << (flags & 7)) >> 1, flags >> 3 & 3
        bits = {0: count * width, 1: count * width * 8, 2: count * 8}[kind]
        data = image[at + 8 : at + 8 + (bits + 7) // 8]
        new = known[at] = Node(flags, count, data)
        if flags & REFS:
            new.slots = [0] * count
            if width >= 8:
                step = width // 8
                for i in range(count):
                    v = int.from_bytes(data[i * step : (i + 1) * step], "little", signed=True)
                    new.slots[i] = v if v & 1 or v == 0 else node(v)
            else:
                sub = [(data[i * width // 8] >> (i * width % 8)) & ((1 << width) - 1) for i in range(count)] if width else []
                new.slots[: len(sub)] = sub
        return new

    sys.setrecursionlimit(100000)
    return node(top)


def save(top, file_format=24, claimed=0):
    """A file of the nodes below `top`, each once; refs are 64 bits wide. `claimed`: the size that the file says it has."""
    order, seen, waiting = [], {id(top)}, [top]
    while waiting:
        node = waiting.pop()
        order.append(node)
        for slot in node.slots or ():
            if isinstance(slot, Node) and id(slot) not in seen:
                seen.add(id(slot))
                waiting.append(slot)
    places, at = {}, 24
    for node in order:
        places[id(node)] = at
        size = 8 * node.count if node.slots is not None else len(node.data)
        at += 8 + (size + 7 & ~7)
    end = at + 4095 & ~4095
    if top.count > 2:
        top.slots[2] = tagged(max(end, claimed))
    out = bytearray(end)
    out[:24] = struct.pack("<QQ4sBBBB", places[id(top)], 0, b"T-DB", file_format, file_format, 0, 0)
    for node in order:
        at = places[id(node)]
        flags = node.flags & 0xE0 | 7 if node.slots is not None else node.flags
        out[at : at + 8] = b"AAAA" + bytes([flags]) + min(node.count, 0xFFFFFF).to_bytes(3, "big")
        if node.slots is None:
            out[at + 8 : at + 8 + len(node.data)] = node.data
        else:
            values = [places[id(s)] if isinstance(s, Node) else s for s in node.slots]
            struct.pack_into(f"<{len(values)}q", out, at + 8, *values)
    return bytes(out)


# ------------------------------------------------------------------------------------------------
# Changes of the files
# ------------------------------------------------------------------------------------------------


def reachable(top):
    found, seen, waiting = [], {id(top)}, [top]
    while waiting:
        node = waiting.pop()
        found.append(node)
        for slot in node.slots or ():
            if isinstance(slot, Node) and id(slot) not in seen:
                seen.add(id(slot))
                waiting.append(slot)
    return found


def clusters(top):
    """The slots with the cluster roots: (table, slot)."""
    tables = top.slots[1] if isinstance(top.slots[1], Node) else None
    return [(t, 2) for t in ((tables and tables.slots) or ()) if isinstance(t, Node) and t.slots and t.count > 2 and isinstance(t.slots[2], Node)]


def claim(rng, honest):
    return rng.choice([honest, min(honest, 1 << 60), 0, 1, rng.randrange(1 << rng.choice([8, 20, 24, 32, 40, 60])), 640_000, 300_000])


def cluster_tower(rng, top, nodes):
    """A table whose rows are one cluster, used many times."""
    places = clusters(top)
    if not places:
        return False
    table, slot = rng.choice(places)
    node = table.slots[slot]
    while node.flags & INNER and len(node.children()) > 1 and rng.random() < 0.8:
        node = node.slots[rng.choice([i for i in node.children() if i > 2] or node.children())]
    rows = 256
    for depth in range(1, rng.choice([2, 2, 3, 3, 4, 5, 7, 8, 12])):
        fan = rng.choice([1, 2, 16, 256, 256, 256])
        rows *= fan
        node = Node.refs([0, tagged(min(depth, 7)), tagged(min(claim(rng, rows), 1 << 61))] + [node] * fan, INNER)
    table.slots[slot] = node
    return True


def tree_tower(rng, top, nodes):
    """A list, or another B+tree, made of one leaf, used many times."""
    owners = [(n, i) for n in nodes if n.slots for i in n.children()]
    if not owners:
        return False
    owner, slot = rng.choice(owners)
    node, elements = owner.slots[slot], rng.choice([1, 2, 100, 1000])
    for _ in range(rng.choice([1, 2, 3, 3, 4, 6])):
        fan = rng.choice([1, 2, 100, 1000])
        per = elements
        elements *= fan
        node = Node.refs([tagged(min(per, 1 << 61))] + [node] * fan + [tagged(min(claim(rng, elements), 1 << 61))], INNER | node.flags & CONTEXT)
    owner.slots[slot] = node
    return True


def same_children(rng, top, nodes):
    wide = [n for n in nodes if len(n.children()) > 1]
    if not wide:
        return False
    node = rng.choice(wide)
    places = node.children()
    child = node.slots[rng.choice(places)]
    for i in places:
        if rng.random() < 0.9:
            node.slots[i] = child
    return True


def more_of_a_child(rng, top, nodes):
    wide = [n for n in nodes if n.children() and n.count > 2]
    if not wide:
        return False
    node = rng.choice(wide)
    i = rng.choice(node.children())
    node.slots[i:i] = [node.slots[i]] * rng.choice([1, 10, 250, 997])
    node.count = len(node.slots)
    return True


def elsewhere(rng, top, nodes):
    """Puts another node into a slot, mostly a similar one; sometimes an ancestor."""
    wide = [n for n in nodes if n.children()]
    if not wide:
        return False
    node = rng.choice(wide)
    i = rng.choice(node.children())
    old = node.slots[i]
    alike = [n for n in nodes if n.flags & 0xF8 == old.flags & 0xF8 and (n.slots is None) == (old.slots is None)] if rng.random() < 0.8 else nodes
    node.slots[i] = rng.choice(alike)
    return True


def nested(rng, top, nodes):
    """Nodes of the same form nested in each other, many times."""
    wide = [n for n in nodes if n.slots and len(n.children()) >= 2]
    if not wide:
        return False
    for _ in range(rng.choice([3, 30])):
        a, b = rng.choice(wide), rng.choice(wide)
        a.slots[rng.choice(a.children())] = b
    return True


def big_blob(rng, top, nodes):
    """Puts one long text or binary into all places."""
    long = [n for n in nodes if n.slots and n.flags & CONTEXT and n.children() and any(c.flags >> 3 & 3 == 2 for c in (n.slots[i] for i in n.children()))]
    if not long:
        return False
    size = rng.choice([70_000, 1 << 20, 4 << 20, (1 << 24) - 16])
    blob = Node(0x17, size, bytes([rng.choice(b"aA{\"\x00\xc3")]) * (size - 1) + b"\0")
    # A search reads all of it: with 1 GB in each place it would exceed the time limit on a slow machine although it
    # works correctly. Mostly less, because such files take seconds.
    left = (1 << rng.choice([26, 26, 26, 26, 28, 28, 28, 30])) // size
    for node in long if rng.random() < 0.5 else [rng.choice(long)]:
        for i in range(min(node.count, left)):
            node.slots[i] = blob
            left -= 1
    return True


def empty_width(rng, top, nodes):
    """An array of width 0 that claims millions of elements in eight bytes."""
    plain = [n for n in nodes if n.slots is None and n.flags >> 3 & 3 in (0, 1)]
    if not plain:
        return False
    node = rng.choice(plain)
    node.flags, node.count, node.data = node.flags & 0xF8, rng.choice([0xFFFFFF, 1 << 20, 256, 1000]), b""
    return True


def free_lists(rng, top, nodes):
    if top.count < 6:
        return False
    kind = rng.randrange(4)
    many = Node(0, 0xFFFFFF)
    if kind == 0:
        top.slots[3] = top.slots[4] = top.slots[5] = many
    elif kind == 1:
        positions = b"".join(struct.pack("<q", 24 + 8 * i) for i in range(rng.choice([10, 100_000])))
        lists = [Node(7, len(positions) // 8, positions), Node(4, len(positions) // 8, b"\x08" * (len(positions) // 8)), Node(0, len(positions) // 8)]
        top.slots[3:6] = lists
    elif kind == 2:
        top.slots[rng.randrange(3, 6)] = rng.choice(nodes)
    else:
        top.slots[3] = top.slots[4]
    return True


def top_slots(rng, top, nodes):
    for _ in range(rng.choice([1, 2])):
        top.slots[rng.choice([i for i in range(top.count) if i != 2])] = rng.choice(nodes)
    return True


def histories(rng, top, nodes):
    if top.count < 9 or not isinstance(top.slots[8], Node):
        return False
    history = top.slots[8]
    changes = history if history.slots else Node.refs([])
    blob = Node(0x17, 200_000, bytes(200_000))
    entries = [rng.choice([blob, *(changes.slots or [blob])])] * rng.choice([1, 1000, 100_000])
    top.slots[8] = Node.refs(entries)
    return True


WAYS = [cluster_tower] * 5 + [tree_tower] * 5 + [same_children] * 3 + [more_of_a_child] * 2 + [elsewhere] * 3 + [nested, big_blob, big_blob, empty_width, free_lists, top_slots, histories]


def make(rng, tops):
    """A file, a description of its changes, and the size of the hole after its end. `tops`: the sound files as graphs,
    which change."""
    size = rng.choices(list(SIZES), SIZES.values())[0]
    top = tops[size]
    for slot in (3, 4, 5):
        # The free list of the sound file is wrong for this file.
        top.slots[slot] = Node(0, 0)
    done = [f"{size} rows"]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        nodes = reachable(top)
        way = rng.choice(WAYS)
        if way(rng, top, nodes):
            done.append(way.__name__)
    hole = rng.choice([0, 0, 0, 1 << 30, 8 << 30, 40 << 30])
    if hole:
        done.append(f"{hole >> 30} GB of hole")
    return save(top, claimed=hole), done, hole


# ------------------------------------------------------------------------------------------------
# The sound files
# ------------------------------------------------------------------------------------------------


def base(folder, size):
    import typing
    from datetime import datetime, timezone
    from typing import Any, Optional

    import crealm

    class Part(crealm.Embedded):
        word: str
        inside: Optional["Part2"]

    class Part2(crealm.Embedded):
        words: typing.List[str]

    class Thing(crealm.Model):
        id: int = crealm.field(primary_key=True)
        number: int = crealm.field(index=True)
        maybe: Optional[int]
        real: float
        word: str = crealm.field(index=True)
        text: Optional[str] = crealm.field(fulltext=True)
        data: Optional[bytes]
        day: Optional[datetime]
        any: Any
        next: Optional["Thing"]
        many: typing.List["Thing"]
        numbers: typing.List[int]
        words: typing.Set[str]
        named: typing.Dict[str, Any]
        part: Optional[Part]
        parts: typing.List[Part]

    class Plain(crealm.Model):
        flag: bool
        link: Optional[Thing]

    Part.__annotations__["inside"] = Optional[Part2]
    path = folder / f"base-{size}.realm"
    rng = random.Random(size)
    with crealm.open(path, schema=[Part, Part2, Thing, Plain]) as db:
        things = []
        for first in range(0, size, 500):
            with db.write():
                for i in range(first, min(first + 500, size)):
                    thing = db.add(Thing(
                        id=i, number=i % 97, maybe=None if i % 3 else i, real=i / 7, word=f"word {i % 50}", text=f"the text {i} has words {i % 13}",
                        data=bytes(rng.choice([0, 10, 100])), day=datetime.fromtimestamp(i, timezone.utc) if i % 2 else None,
                        any=[None, i, f"any {i}", [i, [i, {"a": [i]}]], {"b": i, "c": {"d": [1, 2, {"e": "f"}]}}][i % 5]))
                    if things:
                        thing.next = rng.choice(things)
                        thing.many = [rng.choice(things) for _ in range(rng.choice([0, 1, 5]))]
                    thing.numbers = list(range(rng.choice([0, 3, 20])))
                    thing.words = {f"w{j}" for j in range(rng.choice([0, 2, 9]))}
                    thing.named = {f"k{j}": j for j in range(rng.choice([0, 2, 9]))}
                    thing.part = Part(word="part", inside=Part2(words=["a", "b"]))
                    thing.parts = [Part(word=f"p{j}") for j in range(rng.choice([0, 2]))]
                    things.append(thing)
                    if i % 3 == 0:
                        db.add(Plain(flag=True, link=thing))
        with db.write():
            things[0].numbers = list(range(2500))
            things[2].many = (things * 1500)[:1500] * (2 if size > 1000 else 1)
            things[1].text = "long " * 4000
            things[1].any = ["x" * 70_000] * 2
            things[2].data = bytes(140_000)
    return path.read_bytes()


# ------------------------------------------------------------------------------------------------
# Operations
# ------------------------------------------------------------------------------------------------


def allowed(error):
    import crealm

    # Values that Python cannot represent, such as a day in the year 300,000, raise Python's errors.
    return isinstance(error, (crealm.Error, MemoryError, OverflowError, ValueError, UnicodeDecodeError, LookupError))


def each(db, body):
    for name in list(db.classes)[:8]:
        try:
            body(db[name], db.schema[name])
        except Exception as error:
            if not allowed(error):
                raise


def with_db(body, mode="r"):
    def run(path, folder):
        import crealm

        with crealm.open(path, mode=mode) as db:
            body(db, folder)

    return run


def tries(table, names, body):
    for name in names:
        try:
            body(table, name)
        except Exception as error:
            if not allowed(error):
                raise


def columns(schema):
    return list(schema.properties)


def counting(db, folder):
    each(db, lambda t, s: (len(t), t.first(), t.limit(3).exists()))


def sorting(db, folder):
    each(db, lambda t, s: tries(t, columns(s), lambda t, n: (len(t.sort(n)), list(itertools.islice(t.sort(n, descending=True).limit(5), 5)))))


def distinct(db, folder):
    each(db, lambda t, s: tries(t, columns(s), lambda t, n: len(t.distinct(n))))


CONDITIONS = [
    "{0} == 3", "{0} > 3", "{0} == 'word 3'", "{0} CONTAINS[c] 'OR'", "{0} LIKE '*o*d*'", "{0} == nil", "{0}.@count > 2", "ANY {0} == 3",
    "{0}.@sum > 3", "{0} IN {{1, 2, 3}}", "NOT ({0} == 3)", "{0} TEXT 'words text'", "{0}.number == 3", "ANY {0}.number == 3", "{0}.many.@count > 1",
    "{0}[*][*] == 1", "{0}.b == 3", "{0} BEGINSWITH 'a'", "ANY {0}.next.many.number == 1", "{0}.@links.@count > 2", "{0}.@keys == 'a'",
    "SUBQUERY({0}, $x, $x.number > 1).@count > 0", "{0} ENDSWITH[c] 'xyzxyzxyzxyzxyzxyzxyzxyzxyzxyzxyzxyzxyzxyzxyz'",
    "{0} CONTAINS 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'",
]


def sample(names):
    """Some of the names, different for each file."""
    return choice.sample(names, min(4, len(names)))


choice = random.Random()


def queries_from(start):
    def run(db, folder):
        def one(t, s):
            for condition in CONDITIONS[start::3]:
                tries(t, sample(columns(s)), lambda t, n: t.where(condition.format(n)).count())

        each(db, one)

    return run


def results(db, folder):
    each(db, lambda t, s: (len(t.where("TRUEPREDICATE")), len(t.snapshot()), list(itertools.islice(t.where("TRUEPREDICATE"), ROWS))))


def aggregates(db, folder):
    each(db, lambda t, s: tries(t, sample(columns(s)), lambda t, n: (t.min(n), t.max(n), t.sum(n), t.average(n))))
    each(db, lambda t, s: tries(t, columns(s), lambda t, n: (t.where("TRUEPREDICATE").min(n), t.where("TRUEPREDICATE").sum(n))))


def some(t):
    return itertools.islice(iter(t), ROWS)


def reading(db, folder):
    def one(t, s):
        for row in some(t):
            tries(row, columns(s), lambda row, n: touch(getattr(row, n)))

    def touch(value):
        if hasattr(value, "__len__") and not isinstance(value, (str, bytes)):
            len(value)
            for element in itertools.islice(value, ROWS):
                # Python needs longer to show a text of 16 MB than the library to read it.
                repr(element[:100] if isinstance(element, (str, bytes)) else element)

    each(db, one)


def texts(db, folder):
    import ctypes

    lib = ctypes.CDLL(os.environ["CREALM_LIBRARY"])
    lib.realm_object_to_string.argtypes = lib.realm_free.argtypes = [ctypes.c_void_p]
    lib.realm_object_to_string.restype = ctypes.c_void_p

    def one(t, s):
        for row in itertools.islice(iter(t), 8):
            text = lib.realm_object_to_string(row._handle.pointer)
            if text:
                lib.realm_free(text)

    each(db, one)


def jsons(db, folder):
    each(db, lambda t, s: [tries(row, [1], lambda row, depth: row.to_json(depth=depth)) for row in itertools.islice(iter(t), 2)])


def arrow(db, folder):
    def one(t, s):
        stream(t, None)
        tries(t, columns(s), lambda t, n: stream(t.select(n), None))

    def stream(rows, names):
        import ctypes

        capsule = rows.__arrow_c_stream__()
        api = ctypes.pythonapi
        api.PyCapsule_GetPointer.restype = ctypes.c_void_p
        api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        at = api.PyCapsule_GetPointer(capsule, b"arrow_array_stream")
        words = (ctypes.c_void_p * 5).from_address(at)
        get_next = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(words[1])
        for _ in range(20):
            array = (ctypes.c_void_p * 10)()
            if get_next(at, ctypes.addressof(array)) != 0 or not array[8]:
                return
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(array[8])(ctypes.addressof(array))

    each(db, one)


def pages(db, folder):
    each(db, lambda t, s: tries(t, columns(s), lambda t, n: t.column(n)))


def verifying(db, folder):
    db.verify(limit=20)


def spaces(db, folder):
    db.space()


def backing_up(db, folder):
    db.backup(folder / "backup.realm")


def backlinks(db, folder):
    def one(t, s):
        for row in itertools.islice(iter(t), 10):
            for other in ("Thing", "Plain"):
                for n in ("next", "many", "link"):
                    tries(row, [n], lambda row, n: len(row.backlinks(other, n)))

    each(db, one)


def frozen(db, folder):
    with db.freeze() as snapshot:
        each(snapshot, lambda t, s: (len(t), len(t.where("TRUEPREDICATE")), len(t.sort(columns(s)[0]))))


def compacting(db, folder):
    db.compact()


def writing(db, folder):
    def one(t, s):
        with db.write():
            for row in itertools.islice(list(itertools.islice(iter(t), 20)), 10):
                row.delete()
        with db.write():
            t.where("TRUEPREDICATE").limit(2000).delete_all()

    each(db, one)


def changing(db, folder):
    def one(t, s):
        for name in columns(s):
            with db.write():
                for row in itertools.islice(iter(t), 5):
                    tries(row, [name], lambda row, n: setattr(row, n, getattr(row, n)))

    each(db, one)


def deleting_all(db, folder):
    def one(t, s):
        with db.write():
            t.delete_all()

    each(db, one)


def observing(db, folder):
    import crealm

    def one(t, s):
        told = []
        with crealm.open(db.path, mode="rw") as other:
            watched = t.where("TRUEPREDICATE").sort(next((n for n in columns(s) if s.properties[n].collection is None), columns(s)[0])).observe(told.append)
            db.refresh()
            with other.write():
                for row in itertools.islice(iter(other[s.name]), 2):
                    tries(row, columns(s)[:3], lambda row, n: setattr(row, n, getattr(row, n)))
            db.refresh()
            watched.close() if hasattr(watched, "close") else None

    each(db, one)


def migrating(path, folder):
    import crealm

    with crealm.open(path, mode="r") as db:
        schema = {name: db.schema[name] for name in db.classes}
    new = []
    for s in schema.values():
        properties = {**s.properties, "added": crealm.Prop(int, indexed=True), "words2": crealm.Prop(str)}
        new.append(crealm.ClassSchema(s.name, properties, primary_key=s.primary_key, embedded=s.embedded))

    def migrate(old, fresh, version):
        for name in schema:
            for row in itertools.islice(iter(old[name]), 50):
                repr(row)

    with crealm.open(path, schema=new, schema_version=99, migrate=migrate):
        pass


def indexing(path, folder):
    import crealm

    with crealm.open(path, mode="r") as db:
        schema = [db.schema[name] for name in db.classes]
    new = []
    for s in schema:
        properties = {n: crealm.Prop(p.type, optional=p.optional, indexed=True) if n in ("maybe", "flag", "day") else p for n, p in s.properties.items()}
        new.append(crealm.ClassSchema(s.name, properties, primary_key=s.primary_key, embedded=s.embedded))
    with crealm.open(path, schema=new):
        pass


def checking(path, folder):
    import crealm

    crealm.check(path, limit=10)


def salvaging(path, folder):
    import crealm

    crealm.salvage(path, folder / "salvaged.realm")


def finding_deleted(path, folder):
    import crealm

    crealm.recover_deleted(path)


def previous(path, folder):
    import crealm

    with crealm.open(path, slot="previous") as db:
        counting(db, folder)


OPERATIONS = {
    "counting": with_db(counting), "sorting": with_db(sorting), "distinct": with_db(distinct), "results": with_db(results),
    "queries 1": with_db(queries_from(0)), "queries 2": with_db(queries_from(1)), "queries 3": with_db(queries_from(2)),
    "aggregates": with_db(aggregates), "reading": with_db(reading), "texts": with_db(texts), "JSON": with_db(jsons), "Arrow": with_db(arrow),
    "pages": with_db(pages), "verifying": with_db(verifying), "spaces": with_db(spaces), "checking": checking, "backing up": with_db(backing_up),
    "backlinks": with_db(backlinks), "frozen": with_db(frozen), "salvaging": salvaging, "deleted objects": finding_deleted, "previous": previous,
    "observing": with_db(observing, "rw"), "writing": with_db(writing, "rw"), "changing": with_db(changing, "rw"),
    "compacting": with_db(compacting, "rw"), "migrating": migrating, "indexing": indexing, "deleting all": with_db(deleting_all, "rw"),
}


def child(seed, tops, folder, options, note):
    """Makes a file and runs the operations on it. `note` has the number of the current one, and what was changed."""
    image, done, hole = make(random.Random(seed), tops)
    note[8:] = ", ".join(done).encode().ljust(len(note) - 8)
    path, pristine = folder / "file.realm", folder / "pristine.realm"
    pristine.write_bytes(image)
    if hole:
        os.truncate(pristine, hole)
    copy(pristine, path)
    limit = options.memory << 20
    if seed % 4 == 0:
        used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
        resource.setrlimit(resource.RLIMIT_AS, (used + limit, used + limit))
    else:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    choice.seed(seed)
    for i, (name, operation) in enumerate(OPERATIONS.items()):
        if options.only not in name:
            continue
        note[0] = i + 1
        if i >= list(OPERATIONS).index("observing"):
            # The following operations write.
            copy(pristine, path)
        signal.setitimer(signal.ITIMER_PROF, options.seconds)
        start = time.process_time()
        try:
            operation(path, folder)
        except Exception as error:
            if not allowed(error):
                signal.setitimer(signal.ITIMER_PROF, 0)
                traceback.print_exc()
                return 3
        signal.setitimer(signal.ITIMER_PROF, 0)
        took = time.process_time() - start
        if options.timing and took > float(os.environ.get("SHARED_TOLD", 1)):
            print(f"seed {seed}: {name} took {took:.1f} s", flush=True)
        for left in ("backup.realm", "salvaged.realm"):
            (folder / left).unlink(missing_ok=True)
    return 0


def copy(source, target):
    """Copies a file and keeps its holes."""
    with open(source, "rb") as read, open(target, "wb") as write:
        size, at = os.fstat(read.fileno()).st_size, 0
        while at < size:
            try:
                start = os.lseek(read.fileno(), at, os.SEEK_DATA)
            except OSError:
                break
            at = os.lseek(read.fileno(), start, os.SEEK_HOLE)
            write.seek(start)
            write.write(os.pread(read.fileno(), at - start, start))
        write.truncate(size)


def run(seed, tops, options):
    """None, or what went wrong."""
    with tempfile.TemporaryDirectory(prefix="shared-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as name:
        folder = pathlib.Path(name)
        note = mmap.mmap(-1, 4096)
        pid = os.fork()
        if pid == 0:
            status = 4
            try:
                status = child(seed, tops, folder, options, note)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        status = os.waitpid(pid, 0)[1]
        if status == 0:
            return None
        if options.keep and (folder / "pristine.realm").exists():
            options.keep.mkdir(parents=True, exist_ok=True)
            copy(folder / "pristine.realm", options.keep / f"{seed}.realm")
        name = list(OPERATIONS)[note[0] - 1] if note[0] else "before the first"
        how = f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {os.WEXITSTATUS(status)}"
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
            how = f"more than {options.seconds} s"
        changes = note[8:].rstrip(b" \0").decode()
        return f"{changes}: {name}: {how}"


def main():
    options = parser.parse_args()
    os.environ["CREALM_LIBRARY"] = os.path.abspath(options.library)
    # The children are forked from a process that has loaded the library and has no Realm open.
    with tempfile.TemporaryDirectory(prefix="shared-") as name:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                for size in SIZES:
                    image = base(pathlib.Path(name), size)
                    (pathlib.Path(name) / f"{size}.image").write_bytes(image)
                status = 0
            except BaseException:
                traceback.print_exc()
            os._exit(status)
        if os.waitpid(pid, 0)[1] != 0:
            sys.exit("no file to start from")
        # Each child changes its own copy of the graphs.
        tops = {size: load((pathlib.Path(name) / f"{size}.image").read_bytes()) for size in SIZES}
    import crealm  # noqa: F401

    gc.collect()
    gc.freeze()

    passed = failed = 0
    seeds = [*range(options.seed, options.seed + options.count), *options.also]
    for seed in seeds:
        wrong = run(seed, tops, options)
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"FAIL seed {seed}: {wrong}", flush=True)
        elif options.timing and seed % 100 == 0:
            print(f"… {seed}", flush=True)
    print(f"{len(seeds)} files with {len(OPERATIONS)} operations each")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
