#!/usr/bin/env python3
"""Writes random files of formats 2 to 9 by docs/format/old-formats.md, which knows nothing of this library.

    make_old.py FILE SEED [--rows N] [--format N] [--node N]

Columns of every type, nullable or not, with and without search index; links, lists of links and their backlinks; lists of values, enumerated
strings, old Mixed values, tables inside rows; leaves of every form, B+trees of up to --node elements a node in compact and general form; the
streaming form and top arrays of every legal size; schema version and primary keys."""
import argparse
import random
import struct

INT, BOOL, STRING, ENUM, BINARY, TABLE, MIXED, OLDDATE, TIMESTAMP, FLOAT, DOUBLE, _, LINK, LINKLIST, BACKLINK = range(15)
INDEXED, NULLABLE = 1, 16
NULL_FLOAT, NULL_DOUBLE = 0x7FC000AA, 0x7FF80000000000AA


def width_of(values):
    """Bits that an array of these signed numbers needs."""
    low, high = min(values, default=0), max(values, default=0)
    for width, least, most in ((0, 0, 0), (1, 0, 1), (2, 0, 3), (4, 0, 15), (8, -128, 127), (16, -32768, 32767), (32, -2**31, 2**31 - 1)):
        if least <= low and high <= most:
            return width
    return 64


class Maker:
    def __init__(self, seed, rows, version, node):
        self.random = random.Random(seed)
        self.rows, self.format, self.node = rows, version, node
        self.out = bytearray(24)

    # ---- Nodes

    def put(self, flags, count, payload):
        ref = len(self.out)
        self.out += b"AAAA" + bytes([flags]) + count.to_bytes(3, "big") + payload + bytes(-len(payload) % 8)
        return ref

    def ints(self, values, refs=False, inner=False, context=False, least=0):
        width = max(width_of(values), least)
        if width >= 8:
            payload = struct.pack(f"<{len(values)}{ {8: 'b', 16: 'h', 32: 'i', 64: 'q'}[width] }", *values)
        else:
            payload = bytearray((len(values) * width + 7) // 8)
            for i, v in enumerate(values):
                if width:
                    payload[i * width // 8] |= v << i * width % 8
        code = width.bit_length()
        return self.put(inner << 7 | refs << 6 | context << 5 | code, len(values), bytes(payload))

    def refs(self, values, **more):
        return self.ints(values, refs=True, **more)

    def blob(self, data):
        return self.put(2 << 3 | (1 if data else 0), len(data), data)

    def fixed(self, width, items):
        return self.put(1 << 3 | width.bit_length(), len(items), b"".join(items))

    def tagged(self, n):
        n = n << 1 | 1
        return n - (1 << 64) if n >> 63 else n

    # ---- Trees

    def tree(self, values, leaf):
        """A B+tree; `leaf` writes one leaf."""
        size = self.node
        if len(values) <= size and self.random.random() < 0.9 or not values:
            return leaf(values)
        if self.random.random() < 0.5:
            parts = [values[i:i + size] for i in range(0, len(values), size)]
        else:
            parts, at = [], 0
            while at < len(values):
                n = self.random.randint(1, size)
                parts.append(values[at:at + n])
                at += n
        level = [(leaf(p), len(p)) for p in parts]
        while len(level) > 1 or self.random.random() < 0.05:
            level = [self.inner(level[i:i + size]) for i in range(0, len(level), size)]
        return level[0][0]

    def inner(self, children):
        total, first = sum(n for _, n in children), children[0][1]
        even = all(n == first for _, n in children[:-1]) and children[-1][1] <= first
        if even and self.random.random() < 0.8:
            head = self.tagged(first)
        else:
            ends, at = [], 0
            for _, n in children[:-1]:
                at += n
                ends.append(at)
            head = self.ints(ends, least=self.random.choice((0, 0, 8, 32)))
        return self.refs([head, *(r for r, _ in children), self.tagged(total)], inner=True), total

    # ---- Leaves

    def nullable_ints(self, values):
        if not values and self.random.random() < 0.3:
            return self.ints([])
        present = {v for v in values if v is not None}
        null = self.random.choice((0, 1, 3, 15, 127, 32767, 2**31 - 1, 2**63 - 1, -1))
        while null in present:
            null = self.random.randint(-2**62, 2**62)
        return self.ints([null] + [null if v is None else v for v in values])

    def strings(self, nullable):
        def leaf(values):
            longest = max((len(v) for v in values if v is not None), default=-1)
            form = self.random.choice(("small", "medium", "big"))
            if form == "small" and longest <= 15:
                return self.small(values, nullable)
            if form == "big" or longest > 63:
                return self.refs([0 if v is None else self.blob(v + b"\0") for v in values], context=True)
            return self.medium([None if v is None else v + b"\0" for v in values], nullable, lambda v: v is not None)
        return leaf

    def small(self, values, nullable):
        longest = max((len(v) for v in values if v is not None), default=-1)
        width = 0
        if longest > 0 or longest == 0 and nullable:
            width = 1
            while width < longest + 1:
                width *= 2
        if self.random.random() < 0.2:
            width = min(16, max(1, width * 2))
        if width == 0:
            return self.fixed(0, [b""] * len(values))
        return self.fixed(width, [b"\0" * (width - 1) + bytes([width]) if v is None else
                                  v + b"\0" * (width - 1 - len(v)) + bytes([width - 1 - len(v)]) for v in values])

    def medium(self, values, flagged, flag):
        data, ends = b"", []
        for v in values:
            data += v or b""
            ends.append(len(data))
        slots = [self.ints(ends), self.blob(data)]
        if flagged:
            slots.append(self.ints([int(flag(v)) for v in values]))
        return self.refs(slots)

    def binaries(self, nullable):
        def leaf(values):
            if any(v is not None and len(v) > 64 for v in values) or self.random.random() < 0.3:
                return self.refs([0 if v is None else self.blob(v) for v in values], context=True)
            flagged = nullable or self.format > 2 and self.random.random() < 0.8
            return self.medium(values, flagged, lambda v: v is None)
        return leaf

    def floats(self, letter):
        width = 4 if letter == "f" else 8
        null = struct.pack("<I", NULL_FLOAT) if letter == "f" else struct.pack("<Q", NULL_DOUBLE)
        return lambda values: self.fixed(width, [null if v is None else struct.pack("<" + letter, v) for v in values])

    # ---- Values

    def text(self):
        r = self.random
        return "".join(r.choice("abcXYZ äß€😀\0") for _ in range(r.choice((0, 1, 3, 7, 15, 16, 40, 63, 64, 200)))).encode()

    def number(self):
        r = self.random
        return r.randint(-2**r.choice((1, 3, 7, 15, 31, 62)), 2**r.choice((0, 1, 3, 7, 15, 31, 62)))

    def value(self, kind):
        r = self.random
        if kind == INT:
            return self.number()
        if kind == BOOL:
            return r.randint(0, 1)
        if kind in (STRING, ENUM):
            return self.text()
        if kind == BINARY:
            return r.randbytes(r.choice((0, 1, 5, 64, 65, 300)))
        if kind == OLDDATE:
            return r.randint(-2**33, 2**33)
        if kind == TIMESTAMP:
            seconds = r.randint(-2**33, 2**33)
            return seconds, r.randint(0, 999999999) * (1 if seconds >= 0 else -1)
        return struct.unpack("<f", struct.pack("<f", r.uniform(-1e6, 1e6)))[0] if kind == FLOAT else r.uniform(-1e200, 1e200)

    def values(self, kind, nullable, count):
        return [None if nullable and self.random.random() < 0.2 else self.value(kind) for _ in range(count)]

    # ---- Columns

    def column(self, kind, nullable, values):
        """Root of a column of single values."""
        if kind in (INT, BOOL, OLDDATE):
            return self.tree(values, self.nullable_ints if nullable else self.ints)
        if kind in (FLOAT, DOUBLE):
            return self.tree(values, self.floats("f" if kind == FLOAT else "d"))
        if kind == STRING:
            return self.tree(values, self.strings(nullable))
        if kind == BINARY:
            return self.tree(values, self.binaries(nullable))
        if kind == TIMESTAMP:
            seconds = self.tree([None if v is None else v[0] for v in values], self.nullable_ints)
            return self.refs([seconds, self.tree([0 if v is None else v[1] for v in values], self.ints)])
        raise AssertionError(kind)

    def enumerated(self, nullable, count):
        """Root and root of the distinct values."""
        distinct = list(dict.fromkeys(self.values(ENUM, nullable, self.random.randint(1, 40))))
        numbers = [self.random.randrange(len(distinct)) for _ in range(count)]
        return self.tree(numbers, self.ints), self.tree(distinct, self.strings(nullable))

    def mixed(self, count):
        r, kinds, data, blobs, stamps = self.random, [], [], [], []
        for _ in range(count):
            kind = r.choice((0, 0, 12, 1, 2, 4, 7, 9, 10, 11, 5) + ((8,) if self.format > 4 else ()))
            v = 0
            if kind == 0:
                v = r.randint(0, 2**r.choice((3, 20, 62)))
            elif kind == 12:
                v = (-r.randint(1, 2**r.choice((3, 20, 62)))) & 2**63 - 1
            elif kind == 1:
                v = r.randint(0, 1)
            elif kind in (2, 4):
                v = len(blobs)
                blobs.append(self.text() + b"\0" if kind == 2 else r.randbytes(r.randint(0, 80)))
            elif kind == 7:
                v = r.randint(-2**33, 2**33) & 2**63 - 1
            elif kind == 8:
                v = len(stamps)
                stamps.append(self.value(TIMESTAMP))
            elif kind == 9:
                v = struct.unpack("<I", struct.pack("<f", r.uniform(-9, 9)))[0]
            elif kind in (10, 11):
                v = struct.unpack("<Q", struct.pack("<d", r.uniform(0.1, 9) * (1 if kind == 10 else -1)))[0] & 2**63 - 1
            kinds.append(kind)
            if kind == 5:
                data.append(self.table(self.sub_columns(), r.randint(0, 3)) if r.random() < 0.5 else 0)
            else:
                data.append(self.tagged(v))
        slots = [self.tree(kinds, self.ints), self.tree(data, self.refs)]
        if blobs or stamps or r.random() < 0.5:
            slots.append(self.tree(blobs, self.binaries(True)))
        if stamps:
            slots.append(self.column(TIMESTAMP, True, stamps))
        return self.refs(slots)

    # ---- Tables inside rows

    def sub_columns(self, counts=(0, 2, 3), depth=0):
        """Some columns of a sub-table: (type, attributes), of a sub-table with its columns as well."""
        kinds = [INT, BOOL, STRING, BINARY, FLOAT, DOUBLE] + ([TIMESTAMP] if self.format > 4 else [OLDDATE])
        columns = []
        for _ in range(self.random.choice(counts)):
            if depth < 2 and self.random.random() < 0.15:
                columns.append((TABLE, 0, self.sub_columns((0, 1, 1, 1, 2), depth + 1)))
                continue
            nullable = self.random.random() < 0.4 and self.format > 2
            columns.append((self.random.choice(kinds), NULLABLE * nullable | INDEXED * (self.random.random() < 0.2)))
        return columns

    def spec(self, columns, names=None):
        names = [f"c{i}".encode() for i in range(len(columns))] if names is None else names
        subs = [self.spec(c[2]) for c in columns if c[0] == TABLE]
        spec = [self.ints([c[0] for c in columns]), self.small_names(names), self.ints([c[1] for c in columns])]
        return self.refs(spec + ([self.refs(subs)] if subs else []))

    def small_names(self, names):
        longest = max(map(len, names), default=0)
        width = 0 if longest == 0 else 1
        while width and width < longest + 1:
            width *= 2
        return self.fixed(width, [n + b"\0" * (width - 1 - len(n)) + bytes([width - 1 - len(n)]) if width else b"" for n in names])

    def rows_of(self, columns, count):
        """A columns array; what stands for an index is some node."""
        slots = []
        for kind, attributes, *sub in columns:
            nullable = bool(attributes & NULLABLE)
            slots.append(self.lists(sub[0], count, 5) if sub else self.column(kind, nullable, self.values(kind, nullable, count)))
            if attributes & INDEXED:
                slots.append(self.refs([self.ints([])], context=True))
        return self.refs(slots)

    def table(self, columns, count):
        return self.refs([self.spec(columns), self.rows_of(columns, count if columns else 0)])

    def lists(self, columns, count, longest=None):
        """A column of sub-tables."""
        longest = longest or 3 * self.node
        r, out = self.random, []
        for _ in range(count):
            n = r.choice((0, 0, 1, 2, 5, 5, r.choice((0, longest))))
            out.append(0 if n == 0 and r.random() < 0.5 else self.rows_of(columns, n))
        return self.tree(out, self.refs)

    # ---- The file

    def schema(self):
        r = self.random
        kinds = [INT, BOOL, STRING, BINARY, FLOAT, DOUBLE, INT, STRING] + ([TIMESTAMP] if self.format > 4 else [OLDDATE])
        classes = []
        for i in range(r.randint(1, 4)):
            columns = []
            if r.random() < 0.3:
                columns.append(dict(type=r.choice((INT, STRING)), attrs=r.choice((0, INDEXED)), name=b"key", key=True))
            if r.random() < 0.2:
                columns.append(dict(type=INT, attrs=INDEXED, name=b"!OID"))
            for k in range(r.randint(1, 8)):
                kind = r.choice(kinds + [ENUM, LINK, LINKLIST, TABLE, MIXED])
                attrs = NULLABLE * (self.format > 2 and r.random() < 0.4 and kind not in (LINKLIST, MIXED, TABLE))
                attrs |= INDEXED * (r.random() < 0.25 and kind in (INT, BOOL, STRING, ENUM, OLDDATE, TIMESTAMP))
                names = [f"{'abcdefgh'[k]}é{kind}".encode()] * 20 + [b"", b"w\xc3\xa9" * 21, b"w" * 62]
                names += [c["name"] for c in columns if not c.get("key") and c["name"] != b"!OID"][:1]
                columns.append(dict(type=kind, attrs=attrs, name=r.choice(names)))
                if kind == TABLE:
                    columns[-1]["sub"] = self.sub_columns((0, 1, 2, 3)) if r.random() < 0.2 else [
                        (r.choice(kinds), NULLABLE * (r.random() < 0.5 and self.format > 2) | INDEXED * (r.random() < 0.2 and self.format > 7))]
            classes.append(dict(name=f"class_C{i}".encode(), columns=columns, rows=r.choice((0, 1, self.rows, r.randint(0, 2 * self.rows)))))
        return classes

    def links(self, classes):
        """Chooses what link columns hold, and adds backlink columns."""
        backs = {i: [] for i in range(len(classes))}
        for i, c in enumerate(classes):
            for k, column in enumerate(c["columns"]):
                if column["type"] not in (LINK, LINKLIST):
                    continue
                target = column["target"] = self.random.randrange(len(classes))
                there = classes[target]["rows"]
                back = [[] for _ in range(there)]
                if column["type"] == LINK:
                    column["values"] = [self.random.randrange(there) if there and self.random.random() < 0.7 else None for _ in range(c["rows"])]
                    all_links = [[] if v is None else [v] for v in column["values"]]
                else:
                    longest = self.random.choice((3, 3, 3 * self.node))
                    all_links = column["values"] = [
                        [self.random.randrange(there) for _ in range(self.random.randint(0, longest))] if there and self.random.random() < 0.6 else []
                        for _ in range(c["rows"])]
                for row, targets in enumerate(all_links):
                    for t in targets:
                        back[t].append(row)
                backs[target].append(dict(type=BACKLINK, attrs=0, target=i, origin=k, values=back))
        for i, c in enumerate(classes):
            self.random.shuffle(backs[i])
            c["columns"] += backs[i]

    def class_table(self, c, first):
        """A table; `first` is the table index of the first class."""
        slots, subs, keys = [], [], []
        for column in c["columns"]:
            kind, attrs, count = column["type"], column["attrs"], c["rows"]
            nullable = bool(attrs & NULLABLE)
            if kind == ENUM:
                root, values = self.enumerated(nullable, count)
                keys.append(values)
            elif kind == LINK:
                root = self.tree([0 if v is None else v + 1 for v in column["values"]], self.ints)
            elif kind == LINKLIST:
                root = self.tree([self.tree(v, self.ints) if v or self.random.random() < 0.3 else 0 for v in column["values"]], self.refs)
            elif kind == BACKLINK:
                root = self.tree([0 if not v else self.tagged(v[0]) if len(v) == 1 else self.tree(v, self.ints) for v in column["values"]], self.refs)
            elif kind == TABLE:
                root = self.lists(column["sub"], count)
                subs.append(self.spec(column["sub"], [b"!ARRAY_VALUE"] if len(column["sub"]) == 1 else None))
            elif kind == MIXED:
                root = self.mixed(count)
            elif column.get("key"):
                values = self.random.sample(range(-5 * count - 5, 5 * count + 5), count)
                root = self.column(kind, False, values if kind == INT else [str(v).encode() for v in values])
            else:
                root = self.column(kind, nullable, self.values(kind, nullable, count))
            if kind in (LINK, LINKLIST, BACKLINK):
                subs.append(self.tagged(first + column["target"]))
            if kind == BACKLINK:
                subs.append(self.tagged(column["origin"]))
            slots.append(root)
            if attrs & INDEXED:
                slots.append(self.refs([self.ints([])], context=True))
        names = self.small_names([column["name"] for column in c["columns"] if column["type"] != BACKLINK])
        spec = [self.ints([column["type"] for column in c["columns"]]), names, self.ints([column["attrs"] for column in c["columns"]])]
        if subs or keys or self.random.random() < 0.5:
            spec.append(self.refs(subs) if subs else 0)
        if keys:
            spec.append(self.refs(keys))
        return self.refs([self.refs(spec), self.refs(slots)])

    def make(self):
        r = self.random
        classes = self.schema()
        self.links(classes)
        keyed = [(c["name"], k) for c in classes for k, column in enumerate(c["columns"]) if column.get("key")]
        names, tables, first = [], [], 0
        if keyed or r.random() < 0.5:
            names.append(b"pk")
            by_number = r.random() < 0.2
            table_names = [n if by_number and r.random() < 0.5 else n[6:] for n, _ in keyed]
            columns = [(STRING, r.choice((0, INDEXED))), (INT if by_number else STRING, 0)]
            slots = [self.column(STRING, False, table_names)]
            if columns[0][1]:
                slots.append(self.refs([self.ints([])], context=True))
            slots.append(self.column(INT, False, [k for _, k in keyed]) if by_number else self.column(STRING, False, [b"key"] * len(keyed)))
            tables.append(self.refs([self.spec(columns, [b"pk_table", b"pk_property"]), self.refs(slots)]))
        if r.random() < 0.8:
            names.append(b"metadata")
            versions = [r.randint(0, 9) for _ in range(r.choice((0, 1, 1, 2)))]
            tables.append(self.refs([self.spec([(INT, 0)], [b"version"]), self.refs([self.column(INT, False, versions)])]))
        first = len(names)
        for c in classes:
            names.append(c["name"])
            tables.append(self.class_table(c, first))
        top = [self.small_names(names), self.refs(tables)]
        return self.finish(top)

    def finish(self, top):
        r, count = self.random, self.random.choice((3, 7, 7, 9 if 4 <= self.format <= 6 else 10 if self.format > 6 else 5))
        is_streaming = count == 3 and r.random() < 0.5
        if count >= 5:
            # The last free chunk reaches up to the end; what lies there is set below.
            positions, lengths, versions = (self.ints([0], least=64) for _ in range(3))
        slots = top + [self.tagged(0)] + ([positions, lengths] if count >= 5 else []) + ([versions, self.tagged(r.randint(2, 99))] if count >= 7 else [])
        slots += [self.tagged(0), 0][:max(0, count - 7)] + ([self.tagged(0)] if count == 10 else [])
        at = self.refs(slots, least=64)
        end = len(self.out)
        if is_streaming:
            struct.pack_into("<q", self.out, at + 8 + 16, self.tagged(end))
            self.out += struct.pack("<QQ", at, 0x3034125237E526C8)
            self.out[:24] = struct.pack("<QQ4sBBBB", 2**64 - 1, 0, b"T-DB", self.format, self.format, 0, 0)
            return bytes(self.out)
        size = -(-(end + 8) // 4096) * 4096 if count >= 5 else end
        if count >= 5:
            struct.pack_into("<q", self.out, positions + 8, end)
            struct.pack_into("<q", self.out, lengths + 8, size - end)
        struct.pack_into("<q", self.out, at + 8 + 16, self.tagged(size))
        self.out += bytes(size - end)
        slot = r.randint(0, 1)
        refs = [0, 0]
        refs[slot] = at
        self.out[:24] = struct.pack("<QQ4sBBBB", *refs, b"T-DB", self.format, self.format, 0, slot)
        return bytes(self.out)


def make(seed, rows=None, version=None, node=None):
    """The bytes of a file."""
    chance = random.Random(seed * 7919 + 1)
    version = version or chance.choice((2, 3, 5, 6, 7, 8, 9, 9))
    node = node or chance.choice((4, 5, 20, 300, 1000, 1000))
    rows = chance.choice((0, 3, 30, 255, 256, 257, 600, 1100)) if rows is None else rows
    if node < 20:
        rows = min(rows, 300)
    return Maker(seed, rows, version, node).make()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("seed", type=int)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--format", type=int)
    parser.add_argument("--node", type=int)
    o = parser.parse_args()
    with open(o.file, "wb") as f:
        f.write(make(o.seed, o.rows, o.format, o.node))
