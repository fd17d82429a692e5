#!/usr/bin/env python3
"""Independent reader of Realm files of the formats 2-9 (docs/format/old-formats.md), plain or encrypted. Python standard library
only (plus `cryptography` for encrypted files). The file is never written to.

    realm_old_dump.py [--key KEYFILE64] [--counts] [--all] FILE   canonical JSON on standard output
    realm_old_dump.py --survey [--key KEYFILE64] FILE...          one line of counts a file, no contents; checks the backlinks

The JSON has the bytes that dump.c prints after realm-core has upgraded the file to format 24 (5.23 for formats 2-4, then 13.27,
then 14.14): classes by name, properties by name, objects by key (= old row number). It differs where that upgrade loses values
or fails (old-formats.md section 13):
- old Mixed columns are nullable Mixed properties with their values; a table inside is a list of rows, each a list;
- sub-tables of no or several columns are lists of Mixed, each row a list;
- enumerated strings and binaries over 16 MiB are shown whole; primary keys of the oldest Java SDKs are resolved;
- files with a sync history are read (realm-core refuses to open them as local files); their columns `!OID` are left out;
- --all takes in every table of the group except `pk` and `metadata`; a table whose name has no prefix `class_` is shown under
  its own name (dump.c shows classes only).
Status 0: read; 2: refused, with one line on standard error."""
import argparse, hashlib, hmac, struct, sys

FOOTER_MAGIC, PAGE = 0x3034125237E526C8, 4096
MAX_DEPTH, MAX_COLUMNS = 16, 4096
INT, BOOL, STRING, ENUM, BINARY, TABLE, MIXED, OLDDATE, TIMESTAMP, FLOAT, DOUBLE, RESERVED, LINK, LINKLIST, BACKLINK = range(15)
TYPE_NAMES = 'int bool string enum binary table mixed olddate timestamp float double reserved link linklist backlink'.split()
INDEXED, NULLABLE = 1, 16
NULL_FLOAT, NULL_DOUBLE = b'\xaa\x00\xc0\x7f', b'\xaa\x00\x00\x00\x00\x00\xf8\x7f'
FORMATS = range(2, 10)
INTERNAL_COLUMNS = (b'!OID', b'!ROW_INDEX')  # of synchronised files; the upgrade removes them


class Bad(Exception):
    """The file is damaged, foreign, or of a format that this program does not read."""


def need(condition, text, *args):
    if not condition:
        raise Bad(text % args if args else text)


# ------------------------------------------------------------------------------------------------ file

def decrypt(raw, key):
    """Plain image of an encrypted file (storage.md section 7, the same in all formats)."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    need(len(key) == 64, 'the key must have 64 bytes')
    pages = len(raw) // PAGE
    out = bytearray()
    for p in range(pages - (pages + 64) // 65):
        block, slot = divmod(p, 64)
        entry = block * 65 * PAGE + slot * 64
        iv1, mac1, iv2, mac2 = struct.unpack('<I28sI28s', raw[entry:entry + 64])
        at = (p + block + 1) * PAGE
        text = raw[at:at + PAGE]
        if iv1 == 0:
            out += bytes(PAGE)
            continue
        mac = hmac.new(key[32:64], text, hashlib.sha224).digest()
        if mac == mac1:
            iv = iv1
        elif iv2 and mac == mac2:
            iv = iv2
        elif iv2 == 0 or not any(text):
            out += bytes(PAGE)
            continue
        else:
            raise Bad('page %d fails its HMAC (wrong key?)' % p)
        d = Cipher(algorithms.AES(key[:32]), modes.CBC(struct.pack('<IqI', iv, p * PAGE, 0))).decryptor()
        out += d.update(text) + d.finalize()
    return bytes(out)


class Node:
    """Header of one array node. The payload is known to lie inside the image."""
    __slots__ = ('ref', 'inner', 'has_refs', 'ctx', 'wtype', 'width', 'size', 'at', 'nbytes')


class Image:
    """The plain bytes of a file with checked access to nodes."""

    def __init__(self, raw):
        self.raw = raw
        # No sound file has more elements: this limits the work on hostile files (arrays of width 0 take no space).
        self.budget = 1000000 + 200 * len(raw)

    def node(self, ref):
        raw = self.raw
        need(0 < ref <= len(raw) - 8 and ref % 8 == 0, 'ref %#x is misaligned or outside the file', ref)
        flags = raw[ref + 4]
        n = Node()
        n.ref, n.inner, n.has_refs, n.ctx = ref, bool(flags & 0x80), bool(flags & 0x40), bool(flags & 0x20)
        n.wtype, n.width, n.size = flags >> 3 & 3, (1 << (flags & 7)) >> 1, int.from_bytes(raw[ref + 5:ref + 8], 'big')
        need(n.wtype < 3, 'node %#x: width type 3', ref)
        n.nbytes = ((n.size * n.width + 7) >> 3, n.size * n.width, n.size)[n.wtype]
        n.at = ref + 8
        need(n.at + n.nbytes <= len(raw), 'node %#x runs past the end of the file', ref)
        need(not n.inner or n.has_refs, 'node %#x: inner node without refs', ref)
        self.budget -= n.size + 1
        need(self.budget > 0, 'the file has more elements than its size can justify')
        return n

    def payload(self, n):
        return self.raw[n.at:n.at + n.nbytes]

    def ints(self, n):
        """All elements of a node of integers or refs (storage.md section 2.4)."""
        need(n.wtype == 0, 'node %#x: width type %d where integers are expected', n.ref, n.wtype)
        w, d = n.width, self.payload(n)
        if w == 0:
            return [0] * n.size
        if w < 8:
            mask, per = (1 << w) - 1, range(0, 8, w)
            return [b >> s & mask for b in d for s in per][:n.size]
        return list(struct.unpack('<%d%s' % (n.size, {8: 'b', 16: 'h', 32: 'i', 64: 'q'}[w]), d))

    def int_array(self, ref):
        n = self.node(ref)
        need(not n.has_refs, 'node %#x has refs where plain integers are expected', ref)
        return self.ints(n)

    def ref_array(self, ref, what):
        n = self.node(ref)
        need(n.has_refs and not n.inner, 'node %#x is no array of refs (%s)', ref, what)
        return self.ints(n)

    # -------------------------------------------------------------------------------------------- B+trees

    def tree(self, ref, leaf, depth=0):
        """All elements of the B+tree at ref; leaf(node) gives the elements of one leaf."""
        n = self.node(ref)
        if not n.inner:
            return leaf(n)
        need(depth < MAX_DEPTH, 'tree at %#x is too deep', ref)
        slots = self.ints(n)
        need(len(slots) >= 3, 'inner node %#x with %d slots', ref, len(slots))
        first, children, last = slots[0], slots[1:-1], slots[-1]
        out, ends = [], []
        for c in children:
            need(c > 0 and not c & 1, 'inner node %#x: child is no ref', ref)
            out += self.tree(c, leaf, depth + 1)
            ends.append(len(out))
        need(last & 1 and last >> 1 == len(out), 'inner node %#x: %d elements, says %d', ref, len(out), last >> 1)
        if first & 1:
            per = first >> 1
            need(all(e == per * (i + 1) for i, e in enumerate(ends[:-1])) and len(out) <= per * len(ends),
                 'inner node %#x: children are not of %d elements', ref, per)
        else:
            need(self.int_array(first) == ends[:-1], 'inner node %#x: offsets do not fit the children', ref)
        return out

    def leaf_ints(self, n):
        need(not n.has_refs, 'leaf %#x has refs where integers are expected', n.ref)
        return self.ints(n)

    def leaf_refs(self, n):
        need(n.has_refs, 'leaf %#x without refs', n.ref)
        return self.ints(n)

    def leaf_nullable_ints(self, n):
        v = self.leaf_ints(n)
        return [None if x == v[0] else x for x in v[1:]]

    def leaf_floats(self, n):
        need(n.wtype == 1 and not n.has_refs and n.width in (0, 4), 'leaf %#x: no floats', n.ref)
        d = self.payload(n)
        return [Float(d[i:i + 4]) for i in range(0, len(d), 4)] if n.width else [Float(bytes(4))] * n.size

    def leaf_doubles(self, n):
        need(n.wtype == 1 and not n.has_refs and n.width in (0, 8), 'leaf %#x: no doubles', n.ref)
        d = self.payload(n)
        return [Float(d[i:i + 8]) for i in range(0, len(d), 8)] if n.width else [Float(bytes(8))] * n.size

    def leaf_strings(self, n, nullable):
        """Small, medium or big strings; None for null."""
        if not n.has_refs:
            return self.small_strings(n, nullable)
        if n.ctx:
            return [None if b is None else b[:-1] for b in self.big_blobs(n)]
        slots = self.ints(n)
        need(len(slots) in (2, 3), 'string leaf %#x with %d slots', n.ref, len(slots))
        parts = self.blob_parts(n.ref, slots)
        if len(slots) == 2:
            return [b[:-1] for b in parts]
        set_ = self.int_array(slots[2])  # 1 = a string, 0 = null: the reverse of formats 10 and later
        need(len(set_) == len(parts), 'string leaf %#x: null flags do not fit', n.ref)
        return [b[:-1] if s else None for b, s in zip(parts, set_)]

    def small_strings(self, n, nullable):
        need(n.wtype == 1, 'string leaf %#x with width type %d', n.ref, n.wtype)
        w, d, out = n.width, self.payload(n), []
        empty = None if nullable else b''
        if w == 0:
            return [empty] * n.size
        for at in range(0, len(d), w):
            pad = d[at + w - 1]
            need(pad <= w, 'string leaf %#x: padding %d of width %d', n.ref, pad, w)
            out.append(empty if pad == w else d[at:at + w - 1 - pad])
        return out

    def leaf_binaries(self, n):
        need(n.has_refs, 'binary leaf %#x without refs', n.ref)
        if n.ctx:
            return self.big_blobs(n)
        slots = self.ints(n)
        need(len(slots) in (2, 3), 'binary leaf %#x with %d slots', n.ref, len(slots))
        parts = self.blob_parts(n.ref, slots)
        if len(slots) == 2:
            return parts
        null = self.int_array(slots[2])  # 1 = null: not reversed as it is for strings
        need(len(null) == len(parts), 'binary leaf %#x: null flags do not fit', n.ref)
        return [None if z else b for b, z in zip(parts, null)]

    def blob_parts(self, ref, slots):
        ends, blob = self.int_array(slots[0]), self.blob(slots[1])
        out, at = [], 0
        for e in ends:
            need(at <= e <= len(blob), 'leaf %#x: end offsets do not fit the data', ref)
            out.append(blob[at:e])
            at = e
        return out

    def blob(self, ref, depth=0):
        n = self.node(ref)
        if n.has_refs:
            need(n.ctx and depth == 0, 'blob %#x is no blob', ref)
            return b''.join(self.blob(r, 1) for r in self.ints(n))
        need(n.wtype == 2, 'blob %#x with width type %d', ref, n.wtype)
        return self.payload(n)

    def big_blobs(self, n):
        return [None if r == 0 else self.blob(r) for r in self.ints(n)]

    def names(self, ref):
        n = self.node(ref)
        need(not n.has_refs, 'names at %#x have refs', ref)
        return self.small_strings(n, False)


class Float(bytes):
    """The stored bytes of a float (4) or double (8)."""
    __slots__ = ()


class Link:
    __slots__ = ('table', 'row')

    def __init__(self, table, row):
        self.table, self.row = table, row


class Stamp(tuple):
    __slots__ = ()


class Blob(bytes):
    __slots__ = ()


# ------------------------------------------------------------------------------------------------ tables

class Column:
    """One entry of a spec. target: table index of link columns; origin: column index of backlink columns; sub: columns of a
    sub-table; keys: ref of the distinct strings; slot: position in the columns array."""
    __slots__ = ('name', 'type', 'attrs', 'target', 'origin', 'sub', 'keys', 'slot')


def read_spec(image, ref, depth=0):
    need(depth < 8, 'sub-tables are nested too deep')
    top = image.ref_array(ref, 'spec')
    need(3 <= len(top) <= 5, 'spec at %#x with %d slots', ref, len(top))
    types, names, attrs = image.int_array(top[0]), image.names(top[1]), image.int_array(top[2])
    need(len(types) == len(attrs) <= MAX_COLUMNS and len(names) <= len(types), 'spec at %#x: lengths differ', ref)
    subs = image.ref_array(top[3], 'sub-specs') if len(top) > 3 and top[3] else []
    keys = image.ref_array(top[4], 'enumeration keys') if len(top) > 4 and top[4] else []
    columns, slot, sub_at, key_at = [], 0, 0, 0
    for i, t in enumerate(types):
        c = Column()
        c.type, c.attrs, c.slot = t, attrs[i], slot
        c.target = c.origin = c.sub = c.keys = None
        need(0 <= t < 15 and t != RESERVED, 'column type %d', t)
        need((t == BACKLINK) == (i >= len(names)), 'spec at %#x: names do not fit the types', ref)
        c.name = names[i] if i < len(names) else None
        take = {TABLE: 1, LINK: 1, LINKLIST: 1, BACKLINK: 2}.get(t, 0)
        need(sub_at + take <= len(subs), 'spec at %#x: too few sub-specs', ref)
        entry = subs[sub_at:sub_at + take]
        sub_at += take
        if t == TABLE:
            c.sub = read_spec(image, entry[0], depth + 1)
        elif take:
            need(all(e > 0 and e & 1 for e in entry), 'spec at %#x: link without target', ref)
            c.target = entry[0] >> 1
            c.origin = entry[1] >> 1 if take == 2 else None
        if t == ENUM:
            need(key_at < len(keys), 'spec at %#x: too few enumeration keys', ref)
            c.keys = keys[key_at]
            key_at += 1
        columns.append(c)
        slot += 2 if c.attrs & INDEXED else 1  # an index takes the slot after its column
    return columns


def read_column(image, c, refs):
    """The values of all rows of a column; refs = columns array."""
    need(c.slot < len(refs), 'columns array is too short')
    ref, t, nullable = refs[c.slot], c.type, bool(c.attrs & NULLABLE)
    need(ref > 0 and not ref & 1, 'column without root')
    if t in (INT, BOOL, OLDDATE):
        v = image.tree(ref, image.leaf_nullable_ints if nullable else image.leaf_ints)
        if t == BOOL:
            return [None if x is None else x != 0 for x in v]
        return v if t == INT else [None if x is None else Stamp((x, 0)) for x in v]
    if t in (FLOAT, DOUBLE):
        v = image.tree(ref, image.leaf_floats if t == FLOAT else image.leaf_doubles)
        return [None if x in (NULL_FLOAT, NULL_DOUBLE) else x for x in v] if nullable else v
    if t == STRING:
        v = image.tree(ref, lambda n: image.leaf_strings(n, nullable))
        return v if nullable else [b'' if x is None else x for x in v]
    if t == ENUM:
        keys = image.tree(c.keys, lambda n: image.leaf_strings(n, nullable))
        index = image.tree(ref, image.leaf_ints)
        need(all(0 <= i < len(keys) for i in index), 'enumerated string out of range')
        return [keys[i] if nullable or keys[i] is not None else b'' for i in index]
    if t == BINARY:
        v = image.tree(ref, image.leaf_binaries)
        return [(None if nullable else Blob()) if x is None else Blob(x) for x in v]
    if t == TIMESTAMP:
        top = image.ref_array(ref, 'timestamps')
        need(len(top) == 2, 'timestamp column with %d slots', len(top))
        s, ns = image.tree(top[0], image.leaf_nullable_ints), image.tree(top[1], image.leaf_ints)
        need(len(s) == len(ns), 'timestamp column: %d seconds, %d nanoseconds', len(s), len(ns))
        v = [None if x is None else Stamp((x, y)) for x, y in zip(s, ns)]
        return v if nullable else [Stamp((0, 0)) if x is None else x for x in v]
    if t == LINK:
        v = image.tree(ref, image.leaf_ints)
        need(all(x >= 0 for x in v), 'negative link')
        return [None if x == 0 else Link(c.target, x - 1) for x in v]
    if t == LINKLIST:
        out = []
        for x in image.tree(ref, image.leaf_refs):
            rows = image.tree(x, image.leaf_ints) if x else []
            out.append([Link(c.target, r) for r in rows])
        return out
    if t == BACKLINK:
        out = []
        for x in image.tree(ref, image.leaf_refs):
            out.append([] if x == 0 else [(x & (1 << 64) - 1) >> 1] if x & 1 else image.tree(x, image.leaf_ints))
        return out
    if t == TABLE:
        out = []
        for x in image.tree(ref, image.leaf_refs):
            rows = read_rows(image, c.sub, image.ref_array(x, 'sub-table')) if x else []
            out.append([r[0] for r in rows] if len(c.sub) == 1 else rows)
        return out
    return read_mixed(image, ref)


def read_rows(image, columns, refs):
    return [list(r) for r in zip(*read_columns(image, columns, refs))]


def read_columns(image, columns, refs):
    values = [read_column(image, c, refs) for c in columns]
    need(all(len(v) == len(values[0]) for v in values), 'columns of unequal length')
    need(sum(2 if c.attrs & INDEXED else 1 for c in columns) == len(refs), 'columns array of %d slots', len(refs))
    return values


def read_mixed(image, ref):
    """Old Mixed: a column of kinds, one of tagged values, and side columns of binaries and timestamps."""
    top = image.ref_array(ref, 'mixed')
    need(2 <= len(top) <= 4, 'mixed column with %d slots', len(top))
    kinds, data = image.tree(top[0], image.leaf_ints), image.tree(top[1], image.leaf_refs)
    blobs = image.tree(top[2], image.leaf_binaries) if len(top) > 2 and top[2] else []
    stamp = Column()
    stamp.type, stamp.attrs, stamp.slot = TIMESTAMP, NULLABLE, 3
    stamps = read_column(image, stamp, top) if len(top) > 3 else []
    need(len(kinds) == len(data), 'mixed column: lengths differ')
    out = []
    for k, d in zip(kinds, data):
        v = (d & (1 << 64) - 1) >> 1
        signed = v | 1 << 63 if k in (11, 12) else v
        if k in (0, 12):
            out.append(signed - (1 << 64) if signed >> 63 else signed)
        elif k == 1:
            out.append(v != 0)
        elif k in (2, 4):
            need(v < len(blobs), 'mixed value out of range')
            b = blobs[v]
            out.append(None if b is None else b[:-1] if k == 2 else Blob(b))
        elif k == 5:
            table = image.ref_array(d, 'table') if d else []
            out.append(read_rows(image, read_spec(image, table[0]), image.ref_array(table[1], 'columns'))
                       if len(table) >= 2 else [])
        elif k == 7:
            out.append(Stamp((v - (v >> 62 << 63), 0)))  # the sign was shifted out: before 1970
        elif k == 8:
            need(v < len(stamps), 'mixed value out of range')
            out.append(stamps[v])
        elif k == 9:
            out.append(Float(struct.pack('<I', v & 0xFFFFFFFF)))
        elif k in (10, 11):
            out.append(Float(struct.pack('<Q', signed)))
        else:
            raise Bad('mixed value of kind %d' % k)
    return out


def cut(name, size):
    """The longest beginning of a name that fits into `size` bytes, in whole characters."""
    while len(name) > size or name[-1:] > b'\x7f' and not name.decode(errors='ignore').encode() == name:
        name = name[:-1]
    return name


class Table:
    def __init__(self, image, index, name, ref):
        self.image, self.index, self.name = image, index, name
        top = image.ref_array(ref, 'table')
        need(len(top) != 12, 'half-upgraded file: an upgrade to format 10 was interrupted')
        need(len(top) == 2, 'table with %d slots', len(top))
        self.columns = read_spec(image, top[0])
        self.refs = image.ref_array(top[1], 'columns')
        self.public = [c for c in self.columns if c.type != BACKLINK]
        self.shown = [i for i, c in enumerate(self.public) if c.name not in INTERNAL_COLUMNS]
        known = set()
        for i, c in enumerate(self.public):  # the names that the upgrade gives to nameless and duplicate columns
            given, tries = c.name or b'col_%d' % i, 0
            c.name = given
            while c.name in known:
                suffix = b'_%d' % i if tries == 0 else b'_%d_%d' % (i, tries)
                c.name = cut(given, 63 - len(suffix)) + suffix
                tries += 1
            known.add(c.name)
        self.values = None

    def load(self):
        if self.values is None:
            self.values = read_columns(self.image, self.columns, self.refs)
            self.rows = len(self.values[0]) if self.values else 0
        return self

    def column(self, name):
        return next((i for i, c in enumerate(self.public) if c.name == name), None)


class Realm:
    """An open file: format, form, tables in group order, primary keys."""

    def __init__(self, raw, key=None):
        if key is not None:
            raw = decrypt(raw, key)
        need(len(raw) >= 24 and len(raw) % 8 == 0, 'size %d', len(raw))
        tops, magic, formats, flags = struct.unpack('<QQ', raw[:16]), raw[16:20], raw[20:22], raw[23]
        need(magic == b'T-DB', 'no T-DB mnemonic (not a Realm file, or encrypted)')
        select = flags & 1
        top_ref, self.form, self.format = tops[select], 'slot%d' % select, formats[select]
        if select == 0 and top_ref == 0xFFFFFFFFFFFFFFFF:
            need(len(raw) >= 40, 'streaming form but too small')
            top_ref, cookie = struct.unpack('<QQ', raw[-16:])
            need(cookie == FOOTER_MAGIC, 'streaming form with a wrong footer cookie')
            self.form = 'streaming'
        need(self.format in FORMATS, 'file format %d', self.format)
        self.image, self.tables, self.history, self.top_size, self.version = Image(raw), [], 0, 0, 1
        if top_ref == 0:
            return
        image = self.image
        top = image.ref_array(top_ref, 'top')
        self.top_size = len(top)
        need(len(top) in (3, 5, 7, 9, 10), 'top array of %d slots', len(top))
        need(top[2] & 1 and (top[2] & (1 << 64) - 1) >> 1 <= len(raw), 'logical size exceeds the file')
        self.version = top[6] >> 1 if len(top) > 6 else 1
        self.history = top[7] >> 1 if len(top) > 7 else 0
        names, refs = image.names(top[0]), image.ref_array(top[1], 'tables')
        need(len(names) == len(refs), 'table names and tables differ in number')
        self.tables = [Table(image, i, n, r) for i, (n, r) in enumerate(zip(names, refs))]
        for t in self.tables:
            for c in t.columns:
                need(c.target is None or c.target < len(self.tables), 'link to an unknown table')

    def table(self, name):
        return next((t for t in self.tables if t.name == name), None)

    def schema_version(self):
        t = self.table(b'metadata')
        i = t and t.column(b'version')
        if i is None or not t.load().rows:
            return -1
        return t.values[i][0]

    def primary_keys(self):
        """Class name -> property name, from the `pk` table; the first row of a class counts."""
        t, out = self.table(b'pk'), {}
        if t is not None and None not in (t.column(b'pk_table'), t.column(b'pk_property')):
            t.load()
            for c, p in zip(t.values[t.column(b'pk_table')], t.values[t.column(b'pk_property')]):
                if c.startswith(b'class_') and self.table(b'class_' + c) is None:
                    c = c[6:]  # oldest Java SDKs: table names
                if isinstance(p, int):  # oldest Java SDKs: column numbers
                    owner = self.table(b'class_' + c)
                    p = owner.public[p].name if owner is not None and 0 <= p < len(owner.public) else b''
                out.setdefault(c, p)
        return out

    def check_links(self):
        """Backlinks must mirror the links."""
        links, back = {}, {}
        for t in self.tables:
            t.load()
            for i, (c, values) in enumerate(zip(t.columns, t.values)):
                if c.type in (LINK, LINKLIST):
                    rows = self.tables[c.target].load().rows
                    for r, v in enumerate(values):
                        for l in v if isinstance(v, list) else [v] if v else []:
                            need(l.row < rows, 'link to row %d of %d', l.row, rows)
                            k = t.index, i, r, c.target, l.row
                            links[k] = links.get(k, 0) + 1
                elif c.type == BACKLINK:
                    for r, v in enumerate(values):
                        for o in v:
                            k = c.target, c.origin, o, t.index, r
                            back[k] = back.get(k, 0) + 1
        need(links == back, 'backlinks do not mirror the links')
        return sum(links.values())


# ------------------------------------------------------------------------------------------------ output

def quoted(s):
    out = bytearray(b'"')
    for c in s:
        if c in b'"\\':
            out += bytes((92, c))
        elif c < 0x20:
            out += b'\\u%04x' % c
        else:
            out.append(c)
    return bytes(out + b'"')


def number(x):
    f = struct.unpack('<f' if len(x) == 4 else '<d', x)[0]
    text = '%.*g' % (9 if len(x) == 4 else 17, f)
    if f != f and x[-1] & 0x80:
        text = '-nan'
    return b'{"%s":"%s"}' % (b'$flt' if len(x) == 4 else b'$dbl', text.encode())


def class_name(t):
    return t.name[6:] if t.name.startswith(b'class_') else t.name


def value(realm, v):
    if v is None:
        return b'null'
    if isinstance(v, bool):
        return b'true' if v else b'false'
    if isinstance(v, int):
        return b'%d' % v
    if isinstance(v, Float):
        return number(v)
    if isinstance(v, Blob):
        return b'{"$bin":"%s"}' % v.hex().encode()
    if isinstance(v, bytes):
        return quoted(v)
    if isinstance(v, Stamp):
        return b'{"$ts":[%d,%d]}' % v
    if isinstance(v, Link):
        return b'{"$link":[%s,%d]}' % (quoted(class_name(realm.tables[v.table])), v.row)
    return b'[' + b','.join(value(realm, x) for x in v) + b']'


PROPERTY_TYPE = {INT: 0, BOOL: 1, STRING: 2, ENUM: 2, BINARY: 4, TABLE: 6, MIXED: 6, OLDDATE: 8, TIMESTAMP: 8, FLOAT: 9,
                 DOUBLE: 10, LINK: 12, LINKLIST: 12}


def property_info(realm, c, primary):
    """(type, collection, link target, flags) with the numbers of the C API."""
    kind, attrs, collection, target = c.type, c.attrs, 0, b''
    if c.type == TABLE:
        collection = 1
        if len(c.sub) == 1:
            kind, attrs = c.sub[0].type, c.attrs | c.sub[0].attrs
    if c.type in (LINK, LINKLIST):
        collection = int(c.type == LINKLIST)
        target = class_name(realm.tables[c.target])
        attrs = NULLABLE if c.type == LINK else 0
    if kind in (MIXED, TABLE):
        attrs |= NULLABLE
    flags = (1 if attrs & NULLABLE else 0) | (2 if primary else 0) | (4 if attrs & INDEXED or primary else 0)
    return PROPERTY_TYPE[kind], collection, target, flags


def dump(realm, out, counts=False, everything=False):
    """Writes the canonical JSON of all classes to the binary stream out."""
    keys = realm.primary_keys()
    internal = (b'pk', b'metadata')
    tables = [t for t in realm.tables if t.name.startswith(b'class_') or (everything and t.name not in internal)]
    tables.sort(key=class_name)
    out.write(b'{"schema_version":%d,"classes":{\n' % realm.schema_version())
    for n, t in enumerate(tables):
        t.load()
        primary = keys.get(class_name(t)) if t.name.startswith(b'class_') else None
        order = sorted((t.public[i].name, i) for i in t.shown)
        primary = primary if primary and t.column(primary) is not None else b''
        out.write(b',\n' if n else b'')
        out.write(b'%s:{"primary_key":%s,"flags":0,"properties":[' % (quoted(class_name(t)), quoted(primary)))
        for j, (name, i) in enumerate(order):
            kind, collection, target, flags = property_info(realm, t.columns[i], primary and name == primary)
            out.write(b'%s[%s,%d,%d,%s,%d]' % (b',' if j else b'', quoted(name), kind, collection, quoted(target), flags))
        out.write(b'],"count":%d' % t.rows)
        if not counts:
            out.write(b',"objects":[\n')
            for r in range(t.rows):
                out.write(b',\n' if r else b'')
                out.write(b'{"$key":%d' % r)
                for name, i in order:
                    out.write(b',%s:%s' % (quoted(name), value(realm, t.values[i][r])))
                out.write(b'}')
            out.write(b']')
        out.write(b'}')
    out.write(b'\n}}\n')


def survey(realm):
    """Prints only counts of the features that the file uses."""
    used, rows, classes = {}, 0, 0
    for t in realm.tables:
        t.load()
        rows += t.rows
        classes += t.name.startswith(b'class_')
        for c in t.public:
            name = TYPE_NAMES[c.type] + ('(%s)' % ','.join(TYPE_NAMES[s.type] + '?' * bool(s.attrs & NULLABLE) for s in c.sub)
                                         if c.sub is not None else '')
            name += '?' * bool(c.attrs & NULLABLE) + '*' * bool(c.attrs & INDEXED)
            used[name] = used.get(name, 0) + 1
    links = realm.check_links()
    return 'format %d %s top %d version %d history %d tables %d classes %d rows %d links %d pk %d %s' % (
        realm.format, realm.form, realm.top_size, realm.version, realm.history, len(realm.tables), classes, rows, links,
        len(realm.primary_keys()), ' '.join('%s=%d' % u for u in sorted(used.items())))


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--key')
    p.add_argument('--counts', action='store_true')
    p.add_argument('--all', action='store_true')
    p.add_argument('--survey', action='store_true')
    p.add_argument('files', nargs='+')
    a = p.parse_args()
    key = open(a.key, 'rb').read() if a.key else None
    status = 0
    for path in a.files:
        try:
            realm = Realm(open(path, 'rb').read(), key)
            if a.survey:
                print('%s: %s' % (path, survey(realm)))
            else:
                for t in realm.tables:
                    t.load()
                dump(realm, sys.stdout.buffer, a.counts, a.all)
        except Bad as e:
            print('%s: %s' % (path, e), file=sys.stderr)
            status = 2
    sys.exit(status)


if __name__ == '__main__':
    main()
