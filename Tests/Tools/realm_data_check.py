#!/usr/bin/env python3
"""Independent reader for plain (unencrypted) Realm files, formats 5-24.

    realm_data_check.py FILE            print every table with all objects
    realm_data_check.py --check FILE    only verify the invariants of the logical layer
    realm_data_check.py --json FILE     machine readable dump
    realm_data_check.py --brief FILE    at most 20 objects per table
    --small                 file written by a test build with fan-out 4

Written from docs/format/logical.md (and the few facts of storage.md that are
needed to locate the top array and decode nodes). Standard library only.
"""
import json
import struct
import sys

NULL_TABLE = 0x7FFFFFFF
NULL_COL = 0x7FFFFFFFFFFFFFFF
LEAF_MAX, FAN_MAX, CLUSTER_MAX = 1000, 1000, 256
CLUSTER_SHIFT = 8  # 2 for files written by test builds with a fan-out of 4 (--small)
FOOTER_MAGIC = 0x3034125237E526C8

(INT, BOOL, STRING, STRENUM, BINARY, TABLE, MIXED, DATETIME, TIMESTAMP, FLOAT, DOUBLE, DECIMAL, LINK, LINKLIST,
 BACKLINK, OBJECTID, TYPEDLINK, UUIDT) = range(18)
T_LIST, T_SET, T_DICT = 19, 20, 21
TYPE_NAMES = {INT: "int", BOOL: "bool", STRING: "string", STRENUM: "stringenum", BINARY: "binary", TABLE: "table",
              MIXED: "mixed", DATETIME: "datetime", TIMESTAMP: "timestamp", FLOAT: "float", DOUBLE: "double",
              DECIMAL: "decimal", LINK: "link", LINKLIST: "linklist", BACKLINK: "backlink", OBJECTID: "objectId",
              TYPEDLINK: "typedLink", UUIDT: "uuid", T_LIST: "list", T_SET: "set", T_DICT: "dictionary"}
A_INDEXED, A_NULLABLE, A_LIST, A_DICT, A_SET, A_FULLTEXT = 1, 16, 32, 64, 128, 256
A_COLL = A_LIST | A_DICT | A_SET


class FormatError(Exception):
    pass


def need(cond, msg, *args):
    if not cond:
        raise FormatError(msg % args if args else msg)


# ---------------------------------------------------------------- nodes

class Node:
    """One array node: header fields plus element access (signed array rules)."""
    __slots__ = ("f", "ref", "inner", "has_refs", "ctx", "wtype", "width", "size", "data")

    def __init__(self, f, ref):
        need(ref > 0 and ref % 8 == 0 and ref + 8 <= len(f.buf), "bad ref %d", ref)
        h = f.buf[ref:ref + 8]
        flags = h[4]
        self.f, self.ref = f, ref
        self.inner = bool(flags & 0x80)
        self.has_refs = bool(flags & 0x40)
        self.ctx = bool(flags & 0x20)
        self.wtype = (flags >> 3) & 3
        self.width = (1 << (flags & 7)) >> 1
        self.size = (h[5] << 16) | (h[6] << 8) | h[7]
        self.data = ref + 8
        need(self.data + self.nbytes() <= len(f.buf), "node at %d runs past end of file", ref)

    def nbytes(self):
        if self.wtype == 0:
            return (self.size * self.width + 7) // 8
        if self.wtype == 1:
            return self.size * self.width
        return self.size

    def bytes(self):
        return self.f.buf[self.data:self.data + self.nbytes()]

    def get(self, i, signed=True):
        need(0 <= i < self.size, "index %d out of %d in node %d", i, self.size, self.ref)
        w = self.width
        if w == 0:
            return 0
        if w < 8:
            bit = i * w
            return (self.f.buf[self.data + bit // 8] >> (bit % 8)) & ((1 << w) - 1)
        n = w // 8
        o = self.data + i * n
        return int.from_bytes(self.f.buf[o:o + n], "little", signed=signed)

    def values(self, signed=True):
        return [self.get(i, signed) for i in range(self.size)]

    def child(self, i):
        v = self.get(i)
        need(v & 1 == 0, "expected ref in slot %d of node %d", i, self.ref)
        return v

    def tagged(self, i):
        v = self.get(i, signed=False) if self.width == 64 else self.get(i)
        need(v & 1, "expected tagged value in slot %d of node %d", i, self.ref)
        return v >> 1

    def last(self):
        return self.get(self.size - 1)


# ---------------------------------------------------------------- values

class Link:
    __slots__ = ("table", "key")

    def __init__(self, table, key):
        self.table, self.key = table, key

    def __repr__(self):
        return "link(%s,%d)" % (self.table, self.key)

    def __eq__(self, o):
        return isinstance(o, Link) and (self.table, self.key) == (o.table, o.key)

    def __hash__(self):
        return hash((self.table, self.key))


class ObjectId(bytes):
    def __repr__(self):
        return "oid(%s)" % self.hex()


class UUID(bytes):
    def __repr__(self):
        h = self.hex()
        return "uuid(%s)" % "-".join((h[:8], h[8:12], h[12:16], h[16:20], h[20:]))


class Str(bytes):
    """String payload; kept as bytes because the file does not guarantee UTF-8."""

    def text(self):
        return self.decode("utf-8", "surrogateescape")

    def __repr__(self):
        t = self.text()
        return repr(t if len(t) < 100 else "%s... (%d bytes)" % (t[:60], len(self)))


class Binary(bytes):
    def __repr__(self):
        return "bin(%s)" % self.hex() if len(self) < 50 else "bin(%s... %d bytes)" % (self[:20].hex(), len(self))


class Timestamp(tuple):
    def __repr__(self):
        return "ts(%d,%d)" % self


class Float(float):
    bits = None


class Decimal:
    """IEEE 754 BID number, unpacked from 32, 64 or 128 bits."""
    __slots__ = ("sign", "exp", "coeff", "special", "raw")

    @staticmethod
    def from_bits(v, nbits):
        d = Decimal()
        if nbits == 128:
            bias, expbits, coefbits = 6176, 14, 113
        elif nbits == 64:
            bias, expbits, coefbits = 398, 10, 53
        else:
            bias, expbits, coefbits = 101, 8, 23
        d.raw = v
        d.sign = v >> (nbits - 1)
        comb = (v >> (nbits - 6)) & 31
        d.special = None
        d.exp = d.coeff = 0
        if comb == 31:
            d.special = "NaN"
        elif comb == 30:
            d.special = "Inf"
        elif (comb >> 3) == 3:
            # large-coefficient form: exponent is shifted two bits right
            d.exp = ((v >> (coefbits - 2)) & ((1 << expbits) - 1)) - bias
            d.coeff = (v & ((1 << (coefbits - 2)) - 1)) | (4 << (coefbits - 2))
            if nbits == 128 or d.coeff >= 10 ** (16 if nbits == 64 else 7):
                d.coeff = 0  # non-canonical
        else:
            d.exp = ((v >> coefbits) & ((1 << expbits) - 1)) - bias
            d.coeff = v & ((1 << coefbits) - 1)
        return d

    def __repr__(self):
        s = "-" if self.sign else ""
        if self.special:
            return "dec(%s%s)" % (s, self.special)
        return "dec(%s%dE%d)" % (s, self.coeff, self.exp)

    def key(self):
        """Comparable (total order used in sets)."""
        if self.special == "NaN":
            return (0, self.raw >> 64, self.raw & (2 ** 64 - 1))
        if self.special == "Inf":
            return (1, -1 if self.sign else 1, 0)
        from fractions import Fraction
        n = Fraction(self.coeff) * (Fraction(10) ** self.exp)
        return (1, 0, -n if self.sign else n)


# ---------------------------------------------------------------- file

class ColKey:
    def __init__(self, v):
        self.value = v
        self.index = v & 0xFFFF
        self.type = (v >> 16) & 0x3F
        self.attrs = (v >> 22) & 0xFF
        self.tag = (v >> 30) & 0xFFFFFFFF

    def __repr__(self):
        return "ColKey(%d:%s attrs=%d tag=%d)" % (self.index, TYPE_NAMES.get(self.type, self.type), self.attrs,
                                                 self.tag)


class RealmFile:
    def __init__(self, path):
        with open(path, "rb") as fh:
            self.buf = fh.read()
        b = self.buf
        need(len(b) >= 24, "file too small")
        need(b[16:20] == b"T-DB", "bad magic (encrypted or not a Realm file)")
        flags = b[23]
        slot = flags & 1
        self.format = b[20 + slot]
        self.top_ref = struct.unpack_from("<Q", b, 8 * slot)[0]
        self.streaming = slot == 0 and self.top_ref == 0xFFFFFFFFFFFFFFFF
        if self.streaming:
            self.top_ref, magic = struct.unpack_from("<QQ", b, len(b) - 16)
            need(magic == FOOTER_MAGIC, "bad streaming footer")
        self.tables = []
        self.by_key = {}
        self.warnings = []
        self.group = None
        if self.top_ref:
            self.group = Node(self, self.top_ref)
            self._open_group()

    def node(self, ref):
        return Node(self, ref)

    def _open_group(self):
        g = self.group
        names = self.names(g.child(0))
        refs = self.node(g.child(1))
        self.sync_file_id = g.tagged(10) if g.size > 10 and g.get(10) & 1 else 0
        need(len(names) == refs.size, "table names and refs differ in length")
        cls = Table if self.format >= 10 else LegacyTable
        for i in range(refs.size):
            v = refs.get(i)
            if v & 1 or v == 0:
                self.tables.append(None)
                continue
            t = cls(self, i, names[i], v)
            self.tables.append(t)
            self.by_key[t.key] = t
        for t in self.live_tables():
            t.link_up()

    def live_tables(self):
        return [t for t in self.tables if t]

    def table_name(self, key):
        t = self.by_key.get(key)
        return t.name if t else "?%x" % key

    # ---- string leaves

    def names(self, ref):
        return ["" if s is None else s.text() for s in self.small_strings(self.node(ref), nullable=False)]

    def small_strings(self, n, nullable=True):
        need(n.wtype == 1, "small string array expected at %d", n.ref)
        w = n.width
        if w == 0:
            return [None if nullable else Str()] * n.size
        raw = n.bytes()
        out = []
        for i in range(n.size):
            e = raw[i * w:(i + 1) * w]
            pad = e[-1]
            if pad == w:
                out.append(None if nullable else Str())
            else:
                need(pad < w, "bad padding byte in small strings")
                out.append(Str(e[:w - 1 - pad]))
                need(not any(e[w - 1 - pad:w - 1]), "non-zero padding in small strings")
        return out

    def medium_blobs(self, n, is_string, inverted_nulls=False):
        ends = self.node(n.child(0)).values()
        blob = self.node(n.child(1))
        need(blob.wtype == 2, "blob expected")
        raw = blob.bytes()
        nulls = self.node(n.child(2)).values() if n.size > 2 else [1 if inverted_nulls else 0] * len(ends)
        need(len(nulls) == len(ends), "nulls and offsets differ in length")
        need((ends[-1] if ends else 0) == len(raw), "blob size mismatch")
        out, start = [], 0
        for e, z in zip(ends, nulls):
            need(e >= start, "offsets not ascending")
            v = raw[start:e]
            start = e
            if bool(z) != inverted_nulls:
                out.append(None)
            elif is_string:
                need(v[-1:] == b"\0", "missing terminator")
                out.append(Str(v[:-1]))
            else:
                out.append(Binary(v))
        return out

    def blob(self, ref):
        n = self.node(ref)
        if n.ctx:
            return b"".join(self.blob(n.child(i)) for i in range(n.size))
        need(n.wtype == 2, "blob expected at %d", ref)
        return n.bytes()

    def big_blobs(self, n, is_string):
        out = []
        for i in range(n.size):
            r = n.child(i)
            if r == 0:
                out.append(None)
            else:
                v = self.blob(r)
                if is_string:
                    need(v[-1:] == b"\0", "missing terminator")
                    out.append(Str(v[:-1]))
                else:
                    out.append(Binary(v))
        return out

    def leaf_string(self, ref, enum_values=None, legacy=False, nullable=True):
        n = self.node(ref)
        if not n.has_refs:
            if n.wtype == 0 and enum_values is not None:
                return [enum_values[x] for x in n.values()]
            return self.small_strings(n, nullable)
        if n.ctx:
            return self.big_blobs(n, True)
        return self.medium_blobs(n, True, inverted_nulls=legacy)

    # ---- other leaves

    def leaf_int(self, ref):
        n = self.node(ref)
        need(n.wtype == 0, "int leaf expected")
        return n.values()

    def leaf_int_null(self, ref):
        n = self.node(ref)
        need(n.size >= 1, "nullable int leaf without sentinel")
        v = n.values()
        return [None if x == v[0] else x for x in v[1:]]

    def leaf_bool(self, ref):
        return [{0: False, 1: True, 3: None}[x] for x in self.leaf_int(ref)]

    def leaf_float(self, ref, double):
        n = self.node(ref)
        w = 8 if double else 4
        need(n.wtype == 1 and n.width == w, "float leaf expected")
        null = 0x7FF80000000000AA if double else 0x7FC000AA
        out = []
        raw = n.bytes()
        for i in range(n.size):
            e = raw[i * w:(i + 1) * w]
            bits = int.from_bytes(e, "little")
            if bits == null:
                out.append(None)
            else:
                out.append(make_float(bits, double))
        return out

    def leaf_binary(self, ref, legacy=False):
        n = self.node(ref)
        need(n.has_refs, "binary leaf expected")
        return self.big_blobs(n, False) if n.ctx else self.medium_blobs(n, False)

    def leaf_timestamp(self, ref):
        n = self.node(ref)
        need(n.has_refs and n.size == 2, "timestamp leaf expected")
        secs = self.leaf_int_null(n.child(0))
        nanos = self.leaf_int(n.child(1))
        need(len(secs) == len(nanos), "timestamp arrays differ")
        out = []
        for s, ns in zip(secs, nanos):
            if s is not None:
                need(abs(ns) < 10 ** 9 and (s == 0 or ns == 0 or (s < 0) == (ns < 0)), "bad timestamp %d,%d", s, ns)
            out.append(None if s is None else Timestamp((s, ns)))
        return out

    def leaf_decimal(self, ref):
        n = self.node(ref)
        w = n.width
        if w == 0:
            return [Decimal.from_bits(6176 << 113, 128) if n.ctx else None for _ in range(n.size)]
        need(n.wtype == 1 and w in (4, 8, 16), "decimal leaf width %d", w)
        null = {4: 0x7C0000AA, 8: 0x7C000000000000AA, 16: (0x7C00000000000000 << 64) | 0xAA}[w]
        raw = n.bytes()
        out = []
        for i in range(n.size):
            v = int.from_bytes(raw[i * w:(i + 1) * w], "little")
            out.append(None if v == null else Decimal.from_bits(v, w * 8))
        return out

    def leaf_fixed(self, ref, w, cls):
        n = self.node(ref)
        block = 8 * w + 1
        total = n.size
        if total:
            need(n.wtype == 1 and n.width == 1, "fixed bytes leaf expected")
        raw = n.bytes()
        count = (total - (total + block - 1) // block) // w
        need(count * w + (count + 7) // 8 == total, "fixed bytes size")
        out = []
        for i in range(count):
            base = (i // 8) * block
            if raw[base] >> (i % 8) & 1:
                out.append(None)
            else:
                o = base + 1 + (i % 8) * w
                out.append(cls(raw[o:o + w]))
        return out

    def leaf_link(self, ref, target, adjust):
        t = target.key if target is not None else None
        return [None if (k - adjust) == -1 else Link(t, k - adjust) for k in self.leaf_int(ref)]

    def leaf_typed_link(self, ref):
        v = self.leaf_int(ref)
        out = []
        for i in range(0, len(v), 2):
            tk = (v[i] - 1) & 0x7FFFFFFF
            out.append(None if v[i] == 0 else Link(tk, v[i + 1] - 1))
        return out

    def leaf_backlink(self, ref):
        n = self.node(ref)
        need(n.has_refs, "backlink leaf")
        out = []
        for i in range(n.size):
            v = n.get(i, signed=False) if n.width == 64 else n.get(i)
            if v == 0:
                out.append([])
            elif v & 1:
                out.append([v >> 1])
            else:
                out.append(self.bptree(v, self.leaf_int, allow_big_leaf=True))
        return out

    def leaf_mixed(self, ref):
        n = self.node(ref)
        need(n.has_refs and 4 <= n.size <= 6, "mixed leaf at %d has %d slots", ref, n.size)
        comp = self.node(n.child(0)).values()
        ints = self.node(n.child(1)).values() if n.child(1) else []
        pairs = self.node(n.child(2)).values() if n.child(2) else []
        strs = self.leaf_string(n.child(3)) if n.child(3) else []
        refs = self.node(n.child(4)).values() if n.size > 4 and n.child(4) else []
        keys = self.node(n.child(5)).values() if n.size > 5 and n.child(5) else []
        used = {1: set(), 2: set(), 3: set(), 4: set()}
        out = []
        for i, c in enumerate(comp):
            if c == 0:
                out.append(None)
                continue
            typ = (c & 31) - 1
            slot = (c >> 5) & 7
            v = c >> 8
            if slot:
                need(v not in used[slot], "payload shared by two mixed values")
                used[slot].add(v)
            if typ == INT:
                out.append(ints[v] if slot == 1 else v)
            elif typ == BOOL:
                out.append(bool(v))
            elif typ == FLOAT:
                out.append(make_float(ints[v] & 0xFFFFFFFF, False))
            elif typ == DOUBLE:
                out.append(make_float(ints[v] & (2 ** 64 - 1), True))
            elif typ == STRING:
                out.append(strs[v])
            elif typ == BINARY:
                out.append(Binary(strs[v]))
            elif typ == OBJECTID:
                out.append(ObjectId(strs[v]))
            elif typ == UUIDT:
                out.append(UUID(strs[v]))
            elif typ == TIMESTAMP:
                out.append(Timestamp((pairs[2 * v], pairs[2 * v + 1])))
            elif typ == DECIMAL:
                m = 2 ** 64 - 1
                out.append(Decimal.from_bits((pairs[2 * v + 1] & m) << 64 | (pairs[2 * v] & m), 128))
            elif typ == TYPEDLINK:
                out.append(Link(pairs[2 * v], pairs[2 * v + 1]))
            elif typ == LINK:
                out.append(Link(None, ints[v]))
            elif typ in (T_LIST, T_DICT):
                need(slot == 4, "collection payload slot")
                key = keys[i] if i < len(keys) else 0
                need(key != 0, "nested collection without key")
                r = refs[v]
                if typ == T_LIST:
                    out.append(self.bptree(r, self.leaf_mixed) if r else [])
                else:
                    out.append(self.dictionary(r, STRING) if r else {})
            else:
                raise FormatError("mixed type %d" % typ)
        for slot, arr in ((1, ints), (3, strs), (4, refs)):
            need(used[slot] == set(range(len(arr))), "orphan mixed payloads in slot %d", slot)
        need(used[2] == set(range(len(pairs) // 2)), "orphan mixed pairs")
        return out

    def leaf_reader(self, col, in_tree, target=None):
        """Function ref -> list of values for a single-value leaf of the column."""
        t, nullable = col.type, bool(col.attrs & A_NULLABLE)
        if t == INT:
            return self.leaf_int_null if nullable else self.leaf_int
        if t == BOOL:
            return self.leaf_bool
        if t == STRING:
            return self.leaf_string
        if t == FLOAT:
            return lambda r: self.leaf_float(r, False)
        if t == DOUBLE:
            return lambda r: self.leaf_float(r, True)
        if t == BINARY:
            return self.leaf_binary
        if t == TIMESTAMP:
            return self.leaf_timestamp
        if t == DECIMAL:
            return self.leaf_decimal
        if t == OBJECTID:
            return lambda r: self.leaf_fixed(r, 12, ObjectId)
        if t == UUIDT:
            return lambda r: self.leaf_fixed(r, 16, UUID)
        if t in (LINK, LINKLIST):
            return lambda r: self.leaf_link(r, target, 0 if in_tree else 1)
        if t == TYPEDLINK:
            return self.leaf_typed_link
        if t == BACKLINK:
            return self.leaf_backlink
        if t == MIXED:
            return self.leaf_mixed
        raise FormatError("no leaf reader for type %d" % t)

    # ---- B+tree

    def bptree(self, ref, read_leaf, allow_big_leaf=False):
        n = self.node(ref)
        if not n.inner:
            v = read_leaf(ref)
            if len(v) > LEAF_MAX:
                need(allow_big_leaf, "B+tree leaf too big: %d", len(v))
            return v
        out = self._bpinner(n, read_leaf)
        return out

    def _bpinner(self, n, read_leaf):
        need(n.has_refs and n.size >= 3, "inner node shape")
        count = n.size - 2
        need(count <= FAN_MAX, "fan-out %d", count)
        first = n.get(0)
        total = n.last() >> 1
        need(n.last() & 1, "tree size not tagged")
        out = []
        sizes = []
        for i in range(count):
            c = self.node(n.child(1 + i))
            part = self._bpinner(c, read_leaf) if c.inner else read_leaf(c.ref)
            need(c.inner or len(part) <= LEAF_MAX, "B+tree leaf too big")
            sizes.append(len(part))
            out += part
        if first & 1:
            per = first >> 1
            need(all(s == per for s in sizes[:-1]) and sizes[-1] <= per, "compact form violated %s/%s", sizes, per)
        else:
            offs = self.uarray(first)
            acc = 0
            want = []
            for s in sizes[:-1]:
                acc += s
                want.append(acc)
            need(offs == want, "offsets %s, expected %s", offs, want)
        need(total == len(out), "tree size %d, elements %d", total, len(out))
        return out

    def uarray(self, ref):
        n = self.node(ref)
        need(not n.has_refs and n.wtype == 0 and (n.width >= 8 or n.size == 0), "unsigned array width %d", n.width)
        return n.values(signed=False)

    # ---- clusters

    def clusters(self, root_ref, max_size=CLUSTER_MAX):
        """Yield (offset, keys or None, count, leaf node) in key order."""
        if not root_ref:
            return
        yield from self._cluster(self.node(root_ref), 0, None)

    def _cluster(self, n, offset, depth):
        if not n.inner:
            need(depth in (None, 0), "uneven cluster tree")
            v = n.get(0)
            if v & 1:
                count, keys = v >> 1, None
            else:
                keys = self.uarray(v)
                count = len(keys)
                need(all(a < b for a, b in zip(keys, keys[1:])), "cluster keys not ascending")
            need(count <= CLUSTER_MAX, "cluster too big")
            yield offset, keys, count, n
            return
        d = n.tagged(1)
        total = n.tagged(2)
        need(depth is None or d == depth, "wrong sub-tree depth")
        count = n.size - 3
        need(1 <= count <= CLUSTER_MAX, "inner cluster fan-out %d", count)
        kref = n.child(0)
        if kref:
            offs = self.uarray(kref)
            need(len(offs) == count and offs[0] == 0, "inner offsets %s", offs[:3])
            need(all(a < b for a, b in zip(offs, offs[1:])), "inner offsets not ascending")
        else:
            offs = [i << (CLUSTER_SHIFT * d) for i in range(count)]
        seen = 0
        for i in range(count):
            for item in self._cluster(self.node(n.child(3 + i)), offset + offs[i], d - 1):
                o, keys, cnt, leaf = item
                lo = (keys[0] if keys else 0) + o
                hi = (keys[-1] if keys else cnt - 1) + o
                if cnt:
                    need(lo >= offset + offs[i], "key below child offset")
                    need(i + 1 == count or hi < offset + offs[i + 1], "key above next child offset")
                seen += cnt
                yield item
        need(seen == total, "sub-tree size %d, counted %d", total, seen)

    # ---- dictionaries

    def dictionary(self, ref, key_type):
        n = self.node(ref)
        if self.format in (21, 22):
            return self.legacy_dictionary(ref)
        need(n.has_refs and not n.inner and n.size == 2, "dictionary top")
        keys = self.bptree(n.child(0), self.leaf_string if key_type == STRING else self.leaf_int)
        vals = self.bptree(n.child(1), self.leaf_mixed)
        need(len(keys) == len(vals), "dictionary keys/values differ")
        if not all(a < b for a, b in zip(keys, keys[1:])):
            self.warnings.append("dictionary keys not in byte order: %r" % (keys[:8],))
        return dict(zip(keys, vals))

    def legacy_dictionary(self, ref):
        out = {}
        for _, _, count, leaf in self.clusters(ref):
            ks = self.leaf_string(leaf.child(1))
            vs = self.leaf_mixed(leaf.child(2))
            need(len(ks) == count == len(vs), "legacy dictionary leaf")
            out.update(zip(ks, vs))
        return out


def make_float(bits, double):
    v = struct.unpack("<d" if double else "<f", struct.pack("<Q" if double else "<I", bits))[0]
    f = Float(v)
    f.bits = (bits, double)
    return f


# ---------------------------------------------------------------- tables

class Column:
    def __init__(self, name, key, attrs, spec_type, spec_ndx):
        self.name, self.key, self.attrs, self.spec_ndx = name, key, attrs, spec_ndx
        self.type = key.type if key.type != LINKLIST else LINK
        self.key_type = (spec_type >> 16) if key.attrs & A_DICT else None
        self.target = None
        self.enum = None
        self.index_ref = 0

    @property
    def kind(self):
        a = self.key.attrs
        return "list" if a & A_LIST or self.key.type == LINKLIST else "set" if a & A_SET else \
            "dictionary" if a & A_DICT else ""

    def describe(self):
        s = TYPE_NAMES.get(self.type, str(self.type))
        if self.target is not None:
            s += "<%s>" % self.target.name
        if self.kind:
            s = "%s<%s>" % (self.kind, s)
        if self.key.attrs & A_NULLABLE:
            s += "?"
        if self.index_ref:
            s += " fulltext" if self.attrs & A_FULLTEXT else " indexed"
        return s


class Table:
    def __init__(self, f, index, name, ref):
        self.f, self.index, self.name = f, index, name
        top = self.top = f.node(ref)
        need(top.has_refs and 9 <= top.size <= 14, "table top size %d", top.size)
        self.key = top.tagged(3)
        need(self.key & 0xFFFF == index, "table key %x at index %d", self.key, index)
        need(top.get(1) == 0, "legacy columns present")
        slot = lambda i: top.get(i) if top.size > i else 0
        self.col_counter = top.tagged(5)
        self.version = top.tagged(6)
        self.sequence = top.tagged(9) if slot(9) & 1 else 0
        self.collision_ref = slot(10)
        pk = slot(11)
        self.pk_key = (top.get(11, signed=False) >> 1 if top.width == 64 else pk >> 1) if pk & 1 else None
        self.flags = slot(12) >> 1
        self.type = self.flags & 3
        self.tombstone_ref = slot(13)
        self._read_spec(f.node(top.child(0)))
        self._objects = None

    def _read_spec(self, spec):
        f = self.f
        need(spec.has_refs and spec.size == 6, "spec size %d", spec.size)
        types = f.node(spec.child(0)).values()
        names = f.names(spec.child(1))
        attrs = f.node(spec.child(2)).values()
        keys = f.node(spec.child(5)).values()
        need(spec.get(3) == 0, "spec slot 3 = %d", spec.get(3))
        need(len(types) == len(attrs) == len(keys) and len(names) <= len(types), "spec arrays differ in length")
        self.columns, self.backlink_columns = [], []
        for i, k in enumerate(keys):
            c = Column(names[i] if i < len(names) else "", ColKey(k), attrs[i], types[i], i)
            need(c.key.type == types[i] & 0xFFFF or (types[i] == LINKLIST and c.key.type == LINK),
                 "type %d vs ColKey %r", types[i], c.key)
            need(attrs[i] & 0xFF & ~3 == c.key.attrs & ~3, "attributes %d vs ColKey %r", attrs[i], c.key)
            if c.type == BACKLINK:
                self.backlink_columns.append(c)
                need(i >= len(names), "backlink column before public column")
            else:
                self.columns.append(c)
                need(i < len(names), "public column after backlink column")
        self.all_columns = self.columns + self.backlink_columns
        idx = [c.key.index for c in self.all_columns]
        need(len(set(idx)) == len(idx), "duplicate column index")
        if spec.child(4):
            en = f.node(spec.child(4))
            for i, c in enumerate(self.columns):
                if en.child(i):
                    c.enum = f.leaf_string(en.child(i))

    def link_up(self):
        f, top = self.f, self.top
        idx = f.node(top.child(4)).values()
        self.opp_table = f.node(top.child(7)).values()
        self.opp_col = f.node(top.child(8)).values()
        need(len(idx) == len(self.opp_table) == len(self.opp_col), "per-column arrays differ in length")
        by_index = {c.key.index: c for c in self.all_columns}
        for i in range(len(idx)):
            c = by_index.get(i)
            if c is None:
                need(idx[i] == 0 and self.opp_table[i] == NULL_TABLE and self.opp_col[i] == NULL_COL,
                     "stale entries for unused column %d", i)
                continue
            c.index_ref = idx[i]
            if self.opp_table[i] != NULL_TABLE:
                need(c.type in (LINK, LINKLIST, BACKLINK), "opposite table on %s", c.type)
                c.target = f.by_key[self.opp_table[i]]
                c.opp_col = self.opp_col[i]
                if c.type == LINK:
                    t = c.target
                    need(any(b.key.value == c.opp_col and t.opp_pair(b) == (self.key, c.key.value)
                             for b in t.backlink_columns), "backlink column of %s.%s missing", self.name, c.name)
            else:
                need(c.type not in (LINK, BACKLINK), "link column without target")
        if self.pk_key is not None:
            self.pk = next(c for c in self.columns if c.key.value == self.pk_key)
            if f.format >= 22:
                need(self.pk.index_ref, "primary key without index")
        else:
            self.pk = None

    def opp_pair(self, col):
        ot = self.f.node(self.top.child(7)).get(col.key.index)
        oc = self.f.node(self.top.child(8)).get(col.key.index)
        return ot, oc

    def _read_tree(self, root_ref):
        f = self.f
        objs = {}
        for offset, keys, count, leaf in f.clusters(root_ref):
            real = [((keys[i] if keys else i) + offset) for i in range(count)]
            real = [k - 2 ** 64 if k >= 2 ** 63 else k for k in real]
            rows = [{} for _ in range(count)]
            used = {0}
            for c in self.all_columns:
                slot = 1 + c.key.index
                used.add(slot)
                vals = self._read_column_leaf(c, leaf.child(slot))
                need(len(vals) == count, "column %s leaf has %d of %d", c.name, len(vals), count)
                for r, v in zip(rows, vals):
                    r[c.key.value] = v
            for s in range(leaf.size):
                need(s in used or leaf.get(s) == 0, "leaf slot %d of unused column", s)
            for k, r in zip(real, rows):
                need(k not in objs, "duplicate key")
                objs[k] = r
        return objs

    def _read_column_leaf(self, c, ref):
        f = self.f
        if not c.kind:
            if c.type == STRING and c.enum is not None:
                return f.leaf_string(ref, enum_values=c.enum)
            return f.leaf_reader(c.key, False, c.target)(ref)
        n = f.node(ref)
        need(n.has_refs, "collection leaf")
        out = []
        for i in range(n.size):
            r = n.child(i)
            if r == 0:
                out.append({} if c.kind == "dictionary" else [])
            elif c.kind == "dictionary":
                out.append(f.dictionary(r, c.key_type))
            else:
                v = f.bptree(r, f.leaf_reader(c.key, True, c.target))
                if c.type == LINK:
                    unresolved = any(x.key < 0 for x in v if x is not None)
                    need(f.node(r).ctx == unresolved, "ctx flag of link tree")
                out.append(v)
        return out

    def objects(self):
        if self._objects is None:
            self._objects = self._read_tree(self.top.child(2))
        return self._objects

    def tombstones(self):
        return self._read_tree(self.tombstone_ref) if self.tombstone_ref else {}

    # ---- links of one object as (target table key, target key, column)

    def forward_links(self, row):
        for c in self.columns:
            if c.type in (LINK, MIXED, TYPEDLINK):
                for l in walk_links(row[c.key.value]):
                    yield c, l


def walk_links(v):
    if isinstance(v, Link):
        yield v
    elif isinstance(v, dict):
        for x in v.values():
            yield from walk_links(x)
    elif isinstance(v, list):
        for x in v:
            yield from walk_links(x)


# ---------------------------------------------------------------- legacy (formats 5-9)

class LegacyColumn:
    pass


class LegacyTable:
    """Row based tables of formats 5-9 (read only, best effort)."""

    def __init__(self, f, index, name, ref):
        self.f, self.index, self.name, self.key = f, index, name, index
        top = f.node(ref)
        self.spec_ref, self.cols_ref = top.child(0), top.child(1)
        self.type = 0
        self.pk = None

    def link_up(self):
        self.columns, self.backlink_columns = [], []
        for c in read_legacy_spec(self.f, self.spec_ref):
            (self.backlink_columns if c.type == BACKLINK else self.columns).append(c)

    def objects(self):
        return dict(enumerate(read_legacy_rows(self.f, self.columns, self.backlink_columns, self.cols_ref)))

    def tombstones(self):
        return {}


def read_legacy_spec(f, ref):
    spec = f.node(ref)
    types = f.node(spec.child(0)).values()
    names = f.names(spec.child(1))
    attrs = f.node(spec.child(2)).values()
    subs = f.node(spec.child(3)) if spec.size > 3 and spec.child(3) else None
    enums = f.node(spec.child(4)) if spec.size > 4 and spec.child(4) else None
    out, si, ei = [], 0, 0
    for i, t in enumerate(types):
        c = LegacyColumn()
        c.name = names[i] if i < len(names) else ""
        c.type, c.attrs, c.target, c.sub, c.enum, c.kind = t, attrs[i], None, None, None, ""
        c.key = c
        c.value = (c.name, i)
        c.index_ref = 0
        if t == TABLE:
            c.sub = read_legacy_spec(f, subs.child(si))
            si += 1
        elif t in (LINK, LINKLIST):
            c.target = f.tables[subs.get(si) >> 1]
            si += 1
        elif t == BACKLINK:
            c.target = f.tables[subs.get(si) >> 1]
            c.origin_col = subs.get(si + 1) >> 1
            si += 2
        elif t == STRENUM:
            c.enum = f.bptree(enums.child(ei), lambda r: f.leaf_string(r, legacy=True))
            ei += 1
        c.describe = lambda c=c: TYPE_NAMES.get(c.type, c.type) + ("?" if c.attrs & A_NULLABLE else "")
        out.append(c)
    return out


def read_legacy_rows(f, cols, backs, ref):
    if not ref:
        return []
    refs = f.node(ref)
    pos, data, n = 0, [], None
    for c in cols + backs:
        v = read_legacy_column(f, c, refs.child(pos))
        pos += 1
        if c.attrs & A_INDEXED:
            pos += 1
        need(n is None or n == len(v), "legacy column length")
        n = len(v)
        data.append(v)
    return [{c.value: d[i] for c, d in zip(cols + backs, data)} for i in range(n or 0)]


def read_legacy_column(f, c, ref):
    null = bool(c.attrs & A_NULLABLE)
    t = c.type
    if t == INT or t == BOOL:
        v = f.bptree(ref, f.leaf_int_null if null else f.leaf_int)
        return [None if x is None else bool(x) for x in v] if t == BOOL else v
    if t == DATETIME:
        return f.bptree(ref, f.leaf_int_null if null else f.leaf_int)
    if t == STRING:
        return f.bptree(ref, lambda r: f.leaf_string(r, legacy=True, nullable=null))
    if t == STRENUM:
        return [c.enum[x] for x in f.bptree(ref, f.leaf_int)]
    if t == BINARY:
        return f.bptree(ref, f.leaf_binary)
    if t == FLOAT or t == DOUBLE:
        return f.bptree(ref, lambda r: f.leaf_float(r, t == DOUBLE))
    if t == TIMESTAMP:
        n = f.node(ref)
        s = f.bptree(n.child(0), f.leaf_int_null)
        ns = f.bptree(n.child(1), f.leaf_int)
        return [None if a is None else Timestamp((a, b)) for a, b in zip(s, ns)]
    if t == LINK:
        return [Link(c.target.key, x - 1) if x else None for x in f.bptree(ref, f.leaf_int)]
    if t == LINKLIST:
        return [[Link(c.target.key, y) for y in f.bptree(x, f.leaf_int)] if x else [] for x in f.bptree(ref, f.leaf_int)]
    if t == BACKLINK:
        return [[] if x == 0 else [x >> 1] if x & 1 else f.bptree(x, f.leaf_int) for x in f.bptree(ref, f.leaf_int)]
    if t == TABLE:
        return [[list(r.values()) if len(r) > 1 else list(r.values())[0] for r in
                 read_legacy_rows(f, c.sub, [], x)] for x in f.bptree(ref, f.leaf_int)]
    raise FormatError("legacy column type %d" % t)


# ---------------------------------------------------------------- search index

def chunk(data, off):
    if data is None or off > len(data):
        return 0
    part = data[off:off + 4]
    if len(part) < 4:
        part = (part + b"X").ljust(4, b"\0")
    return int.from_bytes(part, "big", signed=True)


def index_data(v, col_type=None):
    if v is None:
        return None
    if isinstance(v, bool):
        return struct.pack("<q", int(v))
    if isinstance(v, Float):
        d = v.bits[1]
        if v == v and abs(v) < 2 ** 31 and int(v) == v:
            return struct.pack("<q", int(v))
        return struct.pack("<Q" if d else "<I", v.bits[0])
    if isinstance(v, int):
        return struct.pack("<q", v)
    if isinstance(v, (Str, Binary, ObjectId, UUID)):
        return bytes(v)
    if isinstance(v, Timestamp):
        return struct.pack("<qi", *v)
    if isinstance(v, Link):
        return None if v.key < 0 else struct.pack("<Iq", v.table, v.key)
    if isinstance(v, Decimal):
        if not v.special:
            k = int(v.key()[2])  # truncated toward zero, fractions are dropped
            if -2 ** 63 <= k < 2 ** 63:
                return struct.pack("<q", k)
        return v.raw.to_bytes(16, "little")
    if isinstance(v, list):
        return b"__List__"
    if isinstance(v, dict):
        return b"__Dictionary__"
    raise FormatError("no index data for %r" % (v,))


class Index:
    """Walks one search index, checking its structure."""

    def __init__(self, f, ref):
        self.f, self.ref = f, ref
        self.entries = []  # (list of chunk keys, [object keys], is_list)
        self._walk(ref, [], root=True)

    def _walk(self, ref, path, root=False):
        n = self.f.node(ref)
        need(n.ctx and n.has_refs, "index node flags")
        kn = self.f.node(n.child(0))
        need(kn.width == 32, "index key width %d", kn.width)
        keys = kn.values()
        need(len(keys) == n.size - 1 and len(keys) <= 1000, "index node sizes")
        need(all(a < b for a, b in zip(keys, keys[1:])), "index keys not ascending")
        if n.inner:
            need(keys, "inner index node without children")
            for i, k in enumerate(keys):
                last = self._walk(n.child(1 + i), path)
                need(last == k, "inner index key %x != %x", k, last or 0)
            return keys[-1]
        for i, k in enumerate(keys):
            e = n.get(1 + i, signed=False)
            if e & 1:
                self.entries.append((path + [k], [e >> 1], False))
                continue
            c = self.f.node(e)
            if c.ctx:
                self._walk(e, path + [k])
            else:
                self.entries.append((path + [k], self.f.bptree(e, self.f.leaf_int), True))
        return keys[-1] if keys else None


def sort_key(v):
    """Mixed ordering (section 12.3)."""
    if v is None:
        return (-1,)
    if isinstance(v, bool):
        return (0, v)
    if isinstance(v, (int, float)):
        from fractions import Fraction
        if isinstance(v, float) and v != v:
            return (1, 0, 0)
        if isinstance(v, float) and v in (float("inf"), float("-inf")):
            return (1, 1, v)
        return (1, 1, Fraction(v))
    if isinstance(v, Decimal):
        k = v.key()
        return (1,) + ((0, 0) if k[0] == 0 else (1, k[2] if k[1] == 0 else float("inf") * k[1]))
    if isinstance(v, Str):
        return (2, bytes(v))
    if isinstance(v, Binary):
        return (3, bytes(v))
    if isinstance(v, Timestamp):
        return (4, tuple(v))
    if isinstance(v, ObjectId):
        return (5, bytes(v))
    if isinstance(v, UUID):
        return (6, bytes(v))
    if isinstance(v, Link):
        return (7, v.table, v.key)
    if isinstance(v, list):
        return (9,)
    if isinstance(v, dict):
        return (11,)
    raise FormatError("cannot order %r" % (v,))


def nan_bits(v, as_decimal):
    """A NaN as a number that orders NaNs of one type (section 12.3); None if the value is no NaN."""
    if isinstance(v, Decimal):
        return v.raw if v.special == "NaN" else None
    if not isinstance(v, Float) or v == v:
        return None
    bits, is_double = v.bits
    if not is_double:  # The conversion makes it a quiet NaN.
        bits = (bits >> 31) << 63 | 0x7FF << 52 | (bits & 0x7FFFFF | 0x400000) << 29
    if not as_decimal:
        return bits
    carried = (bits & (1 << 51) - 1) << 59
    return (bits >> 63) << 127 | 0x7C << 120 | (carried if carried < 10 ** 33 else 0)


def mixed_ascend(a, b):
    """Whether a comes before b in a set of Mixed values."""
    as_decimal = isinstance(a, Decimal) or isinstance(b, Decimal)
    x, y = nan_bits(a, as_decimal), nan_bits(b, as_decimal)
    if x is None or y is None:
        return sort_key(a) < sort_key(b)
    if isinstance(a, Float) and isinstance(b, Float) and not a.bits[1] and not b.bits[1]:
        return a.bits[0] < b.bits[0]
    return x < y


def decimals_ascend(a, b):
    return decimal_key(a) < decimal_key(b)


def decimal_key(v):
    """Set<Decimal128>: null is the NaN with payload 0xAA and sorts among the NaNs."""
    if v is None:
        return (0, 0x7C00000000000000, 0xAA)
    k = v.key()
    return k if k[0] == 0 else (1, k[1], k[2])


def tokens(text):
    """Full-text tokeniser (section 9.9)."""
    m = ("aaaaa\xe5\xe6ceeeeiiii\xf0nooooo\0\xf8uuuuy\xfe\xdf"
         "aaaaa\xe5\xe6ceeeeiiii\xf0nooooo\0\xf8uuuuy\xfe\xff")
    out, cur, word = set(), b"", False
    i, b = 0, bytes(text)
    while i < len(b):
        c = b[i]
        add, alnum = b"", False
        if 48 <= c <= 57 or 97 <= c <= 122:
            add, alnum = bytes([c]), True
        elif 65 <= c <= 90:
            add, alnum = bytes([c + 32]), True
        elif c > 0x7F:
            if c & 0xE0 == 0xC0 and i + 1 < len(b):
                i += 1
                u = ((c << 6) + (b[i] & 0x3F)) & 0x7FF
                if 0xC0 <= u < 0xFF:
                    alnum = True
                    o = m[u & 0x3F]
                    add = b"" if o == "\0" else o.encode()
            elif c & 0xF0 == 0xE0:
                i += 2
            elif c & 0xF8 == 0xF0:
                i += 3
        if alnum:
            word = True
            if len(cur) + len(add) <= 64:
                cur += add
        elif word:
            out.add(cur)
            cur, word = b"", False
        i += 1
    if word:
        out.add(cur)
    return out


# ---------------------------------------------------------------- checks

def check(f):
    """Verify cross references and orderings. Returns the number of things checked."""
    stats = dict(objects=0, links=0, backlinks=0, index_entries=0, sets=0, tombstones=0)
    if f.format < 10:
        for t in f.live_tables():
            stats["objects"] += len(t.objects())
        return stats
    expected = {}
    for t in f.live_tables():
        objs, tombs = t.objects(), t.tombstones()
        need(objs or not t.columns or t.name != "metadata", "table metadata without an object")
        stats["objects"] += len(objs)
        stats["tombstones"] += len(tombs)
        need(all(k >= 0 for k in objs), "negative live key")
        need(all(k <= -2 for k in tombs), "non-negative tombstone key")
        for k, row in objs.items():
            for c, l in t.forward_links(row):
                stats["links"] += 1
                expected.setdefault((l.table, l.key), {}).setdefault((t.key, c.key.value), []).append(k)
            for c in t.columns:
                if not c.key.attrs & A_NULLABLE and not c.kind:
                    need(row[c.key.value] is not None, "null in required column %s.%s", t.name, c.name)
                if c.kind == "set" and f.format >= 24:
                    v = row[c.key.value]
                    stats["sets"] += 1
                    is_less = decimals_ascend if c.type == DECIMAL else mixed_ascend
                    need(all(map(is_less, v, v[1:])), "set %s.%s not sorted: %r", t.name, c.name, v[:10])
    for t in f.live_tables():
        for k, row in list(t.objects().items()) + list(t.tombstones().items()):
            want = expected.pop((t.key, k), {})
            nback = 0
            for b in t.backlink_columns:
                have = sorted(row[b.key.value])
                nback += len(have)
                w = sorted(want.pop(t.opp_pair(b), []))
                need(have == w, "backlinks of %s/%d via %s: have %r want %r", t.name, k, b.target.name, have[:5], w[:5])
                stats["backlinks"] += len(have)
            need(not want, "missing backlink columns for %s/%d: %r", t.name, k, want)
            if t.type == 1:
                need(nback == 1, "embedded object with %d owners", nback)
    need(not expected, "dangling links %r", list(expected)[:5])
    for t in f.live_tables():
        check_indexes(f, t, stats)
        check_collisions(f, t)
    return stats


def check_collisions(f, t):
    if t.collision_ref:
        m = f.node(t.collision_ref)
        lo, hi, loc = (f.node(m.child(i)).values(signed=False) for i in range(3))
        pairs = list(zip(hi, lo))
        need(pairs == sorted(pairs) and len(loc) == len(pairs), "collision map order")


def check_indexes(f, t, stats):
    for c in t.columns:
        if not c.index_ref:
            continue
        ix = Index(f, c.index_ref)
        full_word = bool(c.attrs & A_FULLTEXT) or bool(c.kind)
        have = {}
        for path, keys, is_list in ix.entries:
            stats["index_entries"] += len(keys)
            for k in keys:
                have.setdefault(k, []).append(path)
            if full_word:
                # realm-core may enter an object repeatedly when its key is the largest of the list
                need(keys == sorted(keys), "full word key list order")
                if len(set(keys)) != len(keys):
                    stats["index_duplicates"] = stats.get("index_duplicates", 0) + len(keys) - len(set(keys))
            elif is_list:
                vals = [t.objects()[k][c.key.value] for k in keys]
                sk = [(sort_key(None if isinstance(v, Link) and v.key < 0 else v), k) for v, k in zip(vals, keys)]
                if sk != sorted(sk):
                    f.warnings.append("index list of %s.%s not in value order" % (t.name, c.name))
        for k, row in t.objects().items():
            v = row[c.key.value]
            if full_word:
                if c.kind:
                    words = set(v)
                else:
                    words = tokens(v) if v is not None else set()
                want = [full_path(w) for w in words]
                got = have.pop(k, [])
                for w in want:
                    need(any(full_match(g, w) for g in got), "full word index of %s.%s/%d lacks %r", t.name, c.name, k, w)
                stale = [g for g in got if not any(full_match(g, w) for w in want)]
                if stale:
                    need(c.kind, "stale full-text entry")
                    stats["stale_list_entries"] = stats.get("stale_list_entries", 0) + len(stale)
                continue
            d = index_data(v)
            paths = have.pop(k, [])
            need(len(paths) == 1, "object %d is %d times in index of %s.%s", k, len(paths), t.name, c.name)
            for i, ck in enumerate(paths[0]):
                need(ck == chunk(d, 4 * i), "index path of %s.%s/%d", t.name, c.name, k)
        if have and c.kind:
            stats["stale_list_entries"] = stats.get("stale_list_entries", 0) + len(have)
        else:
            need(not have, "index of %s.%s has unknown objects %r", t.name, c.name, list(have)[:5])


def full_path(w):
    out, o = [], 0
    while True:
        out.append(chunk(w, o))
        if w is None or o + 4 >= len(w):
            return out
        o += 4


def full_match(got, want):
    # a terminal entry may have been pushed one level down under the empty rest
    return got == want or (got[:-1] == want and got[-1] in (0x58000000, 0))


# ---------------------------------------------------------------- output

def show(f, out=sys.stdout, limit=None):
    p = lambda s="": print(s, file=out)
    p("file format %d%s, top ref %d, %d bytes" % (f.format, " (streaming)" if f.streaming else "", f.top_ref,
                                                 len(f.buf)))
    if f.group is not None:
        g = f.group
        p("group top: %s" % [("#%d" % (v >> 1)) if v & 1 else v for v in g.values()])
    for i, t in enumerate(f.tables):
        if t is None:
            p("[%d] free slot" % i)
            continue
        p()
        kind = ("TopLevel", "Embedded", "Asymmetric", "?")[t.type]
        objs = t.objects()
        p("[%d] table %r key=%#x %s objects=%d%s" % (
            i, t.name, t.key, kind, len(objs), " pk=%s" % t.pk.name if t.pk else ""))
        for c in t.columns:
            p("    column %-20s %-28s %s" % (c.name, c.describe(), c.key if isinstance(c.key, ColKey) else ""))
        for c in t.backlink_columns:
            p("    backlink from %s %s" % (c.target.name, c.key if isinstance(c.key, ColKey) else ""))
        for label, rows in (("", objs), ("tombstone ", t.tombstones())):
            for j, (k, row) in enumerate(rows.items()):
                if limit is not None and j >= limit:
                    p("    ... %d more" % (len(rows) - limit))
                    break
                vals = ["%s=%s" % (c.name, brief(row[c.key.value])) for c in t.columns]
                back = ["<-%s:%s" % (c.target.name, row[c.key.value]) for c in t.backlink_columns if row[c.key.value]]
                p("    %s%d: %s" % (label, k, " ".join(vals + back)))
    for w in f.warnings:
        p("warning: " + w)


def brief(v):
    if isinstance(v, list):
        s = ", ".join(brief(x) for x in v[:8])
        return "[%s%s]" % (s, ", ... %d" % len(v) if len(v) > 8 else "")
    if isinstance(v, dict):
        s = ", ".join("%r: %s" % (k, brief(x)) for k, x in list(v.items())[:8])
        return "{%s%s}" % (s, ", ... %d" % len(v) if len(v) > 8 else "")
    return repr(v)


def to_json(f):
    def conv(v):
        if v is None or isinstance(v, (bool, int)) and not isinstance(v, float):
            return v
        if isinstance(v, Float):
            return {"$double" if v.bits[1] else "$float": repr(float(v))}
        if isinstance(v, Str):
            return {"$string": v.text()}
        if isinstance(v, (list, tuple)) and not isinstance(v, Timestamp):
            return [conv(x) for x in v]
        if isinstance(v, dict):
            return {"$dict": {(k.text() if isinstance(k, Str) else str(k)): conv(x) for k, x in v.items()}}
        if isinstance(v, Link):
            return {"$link": [f.table_name(v.table), v.key]}
        return {"$" + type(v).__name__.lower(): repr(v)}
    return {t.name: {str(k): {c.name: conv(r[c.key.value]) for c in t.columns} for k, r in t.objects().items()}
            for t in f.live_tables()}


def main(argv):
    args = [a for a in argv if not a.startswith("--")]
    opts = {a for a in argv if a.startswith("--")}
    if "--small" in opts:
        global CLUSTER_SHIFT
        CLUSTER_SHIFT = 2
    rc = 0
    for path in args:
        try:
            f = RealmFile(path)
            if "--json" in opts:
                json.dump(to_json(f), sys.stdout, indent=1)
            elif "--check" in opts:
                s = check(f)
                print("%-60s format %2d ok %s%s" % (path, f.format, s,
                                                    " WARN " + "; ".join(f.warnings[:3]) if f.warnings else ""))
            else:
                show(f, limit=20 if "--brief" in opts else None)
        except FormatError as e:
            print("%s: ERROR %s" % (path, e))
            rc = 1
    return rc


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
