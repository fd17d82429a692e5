#!/usr/bin/env python3
"""Prints the node at a byte of a Realm file: its content and its owner, down to class, property and object.

    realm_node.py [--key FILE64] FILE OFFSET...     offsets in decimal or 0x…; in the decrypted image of an encrypted file (Realm's form)
    realm_node.py [--key FILE64] --all FILE         every node that the snapshot reaches: offset, bytes, owner

Written from docs/format alone, it reads the live snapshot of formats 10 to 24 and continues after a damaged node.
Exit status 1 when no node is at the offset."""
import argparse
import pathlib
import struct
import sys

import realm_data_check as data
import realm_storage_check as storage

TOP = ['names of tables', 'tables', 'size', 'free positions', 'free lengths', 'free versions', 'version', 'type of history', 'history',
       'schema of history', 'sync file id', 'evacuation']
TABLE = ['spec', 'old columns', 'rows', 'key', 'indexes', 'column key counter', 'content version', 'opposite tables', 'opposite columns', 'sequence',
         'collisions', 'primary key', 'flags', 'tombstones']
SPEC = ['types', 'names of columns', 'attributes', 'old sub-specs', 'enumerated strings', 'column keys']
SHOWN = 64  # elements


class Image:
    """The decrypted bytes, in the form that realm_data_check.Node reads."""

    def __init__(self, raw):
        self.buf = raw
        if len(raw) < 24 or raw[16:20] != b'T-DB':
            sys.exit('no Realm file, or an encrypted one without its key')
        self.slot = raw[23] & 1
        self.top = struct.unpack_from('<Q', raw, 8 * self.slot)[0]
        if self.slot == 0 and self.top == 0xFFFFFFFFFFFFFFFF:
            self.top = struct.unpack_from('<Q', raw, len(raw) - 16)[0]
        self.seen = set()
        self.names = []

    def node(self, ref):
        """The node at a ref; None if it cannot be read."""
        try:
            return data.Node(self, ref)
        except data.FormatError:
            return None

    def slots(self, node):
        """(slot, ref) of the children of a node."""
        if node.has_refs:
            for i in range(node.size):
                value = node.get(i)
                if value and not value & 1:
                    yield i, value

    def texts(self, ref):
        try:
            return [s.text() for s in data.RealmFile.small_strings(self, data.Node(self, ref), nullable=False)]
        except (data.FormatError, IndexError):
            return []

    def walk(self, ref, owner, kind=None, facts=None):
        """(node, owner) of the node at `ref` and of all below it, each once."""
        node = self.node(ref)
        if node is None or ref in self.seen:
            return
        self.seen.add(ref)
        yield node, owner
        for slot, child in self.slots(node):
            for found in getattr(self, f'below_{kind or "node"}')(node, owner, slot, child, facts):
                yield found

    def below_node(self, node, owner, slot, child, facts):
        return self.walk(child, f'{owner}, slot {slot}')

    def below_top(self, node, owner, slot, child, facts):
        name = TOP[slot] if slot < len(TOP) else f'slot {slot}'
        if slot == 1:
            self.names = self.texts(node.get(0))
        return self.walk(child, name, 'tables' if slot == 1 else None)

    def below_tables(self, node, owner, slot, child, facts):
        name = self.names[slot] if slot < len(self.names) else '?'
        table = self.node(child)
        return self.walk(child, f"table {slot} '{name}'", 'table', self.columns(table) if table else {})

    def columns(self, table):
        """Column index → (name, whether each element of its leaf leads to the nodes of one object)."""
        spec = self.node(table.get(0)) if table.size else None
        if spec is None or spec.size < 6:
            return {}
        keys, names, found = self.node(spec.get(5)), self.texts(spec.get(1)), {}
        for i in range(keys.size if keys else 0):
            key = data.ColKey(keys.get(i))
            found[key.index] = f"property '{names[i]}'" if i < len(names) else f'backlinks in column {key.index}'
        return found

    def below_table(self, node, owner, slot, child, columns):
        name = TABLE[slot] if slot < len(TABLE) else f'slot {slot}'
        kind = {'spec': 'spec', 'indexes': 'indexes', 'rows': 'cluster', 'tombstones': 'cluster'}.get(name)
        return self.walk(child, f'{owner}, {name}', kind, (columns, 0) if kind == 'cluster' else columns)

    def below_spec(self, node, owner, slot, child, facts):
        return self.walk(child, f'{owner}: {SPEC[slot] if slot < len(SPEC) else slot}')

    def below_indexes(self, node, owner, slot, child, columns):
        return self.walk(child, f'{owner}: of {columns.get(slot, f"column {slot}")}')

    def below_cluster(self, node, owner, slot, child, facts):
        columns, offset = facts
        table = owner.split(', ')[0] + ', ' + owner.split(', ')[1]
        if node.inner:
            if slot == 0:
                return self.walk(child, f'{owner}: offsets of the nodes below')
            return self.walk(child, owner, 'cluster', (columns, offset + self.first_key(node, slot - 3)))
        keys = self.keys(node, offset)
        objects = f'objects {keys[0]} to {keys[-1]}' if keys else 'no object'
        if slot == 0:
            return self.walk(child, f'{table}, keys of {objects}')
        return self.walk(child, f'{table}, {objects}, {columns.get(slot - 1, f"column {slot - 1}")}', 'leaf', (table, columns.get(slot - 1), keys))

    def first_key(self, inner, child):
        first = inner.get(0)
        if not first:
            return child << (8 * (inner.get(1) >> 1))
        offsets = self.node(first)
        return offsets.get(child, signed=False) if offsets and child < offsets.size else 0

    def keys(self, cluster, offset):
        first = cluster.get(0) if cluster.size else 1
        if first & 1:
            return [offset + i for i in range(min(first >> 1, 256))]
        keys = self.node(first)
        return [offset + key for key in keys.values(signed=False)] if keys else []

    def below_leaf(self, node, owner, slot, child, facts):
        table, name, keys = facts
        # One child for each object: collections, backlinks, long texts. Otherwise the children are parts of the leaf.
        if node.size == len(keys) and name and not (node.size == 3 and not node.ctx):
            return self.walk(child, f'{table}, object {keys[slot]}, {name}')
        return self.walk(child, f'{owner}, slot {slot}')


def length(node):
    return 8 + (node.nbytes() + 7) // 8 * 8


def element(value, node):
    if not node.has_refs:
        return str(value)
    return 'null' if value == 0 else f'= {(value & 0xFFFFFFFFFFFFFFFF) >> 1}' if value & 1 else f'→ {value:#x}'


def describe(node, owner):
    form = ['bits', 'bytes for each element', 'bytes'][node.wtype] if node.wtype < 3 else 'no known width'
    flags = [name for name, is_set in (('inner node', node.inner), ('refs', node.has_refs), ('context flag', node.ctx)) if is_set]
    print(f'node at {node.ref:#x} ({node.ref}), {length(node)} bytes: {node.size} elements, '
          f'{form if node.wtype == 2 else f"{node.width} {form}"}{"".join(", " + flag for flag in flags)}')
    print(f'    of {owner}')
    if node.wtype == 0:
        shown = [f'{i}: {element(node.get(i), node)}' for i in range(min(node.size, SHOWN))]
        print('    ' + '  '.join(shown) + (' …' if node.size > SHOWN else ''))
    else:
        print(f'    {node.bytes()[:SHOWN * 2]!r}' + (' …' if node.nbytes() > SHOWN * 2 else ''))


def free_chunk(image, offset):
    """What the free lists say about a byte."""
    top = image.node(image.top)
    lists = [image.node(top.get(i)) for i in (3, 4, 5)] if top and top.size > 5 else []
    if not lists or not all(lists):
        return None
    for i in range(min(n.size for n in lists)):
        start, size, version = (n.get(i) for n in lists)
        if start <= offset < start + size:
            return f'free space: {size} bytes from {start:#x}, released by version {version}' if version else f'free space: {size} bytes from {start:#x}'
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--key', type=pathlib.Path)
    parser.add_argument('--all', action='store_true')
    parser.add_argument('file', type=pathlib.Path)
    parser.add_argument('offset', nargs='*', type=lambda text: int(text, 0))
    options = parser.parse_args()
    raw = options.file.read_bytes()
    image = Image(storage.decrypt(raw, options.key.read_bytes()) if options.key else raw)
    sys.setrecursionlimit(10000)
    nodes = list(image.walk(image.top, 'the snapshot: top array', 'top'))
    if options.all:
        for node, owner in sorted(nodes, key=lambda found: found[0].ref):
            print(f'{node.ref:#x}\t{length(node)}\t{owner}')
    status = 0
    for offset in options.offset:
        found = next(((node, owner) for node, owner in nodes if node.ref <= offset < node.ref + length(node)), None)
        if found:
            describe(*found)
            continue
        status = 1
        print(f'no node at {offset:#x}: ' + ('the header of the file' if offset < 24 else 'behind the end of the file' if offset >= len(image.buf)
                                             else free_chunk(image, offset) or 'nothing refers to it, and it is not in the free lists'))
    return status


sys.exit(main())
