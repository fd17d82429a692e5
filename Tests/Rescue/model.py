"""The perfect reader: finds the nodes of a sound file that each value needs, so that the result for a damaged copy can
be judged.

It does not use the library: Tests/Tools/realm_data_check.py reads the files. A value is provable in a damaged copy when
every node on its path is unchanged: the table's array and spec, the clusters down to its leaf, the leaf of its column,
the nodes of its collection or text; for a link also all of these for its target, for an embedded object also its
owner's link, and for a class with a primary key the leaf of the key. Of the nodes between the header and the tables
only the arrays of names and tables are needed, because a scan finds them.
"""

import bisect
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tools"))
import realm_data_check as reader  # noqa: E402


class Tracing(reader.RealmFile):
    """Records the nodes that are read."""

    trace = None

    def node(self, ref):
        if self.trace is not None:
            self.trace.add(ref)
        return super().node(ref)

    def traced(self, function, *arguments):
        """(result, nodes read)"""
        before, self.trace = self.trace, set()
        try:
            return function(*arguments), self.trace
        finally:
            self.trace = before


def plain(file, value):
    """A value in a form that can be compared with one of another file: links have the name of their class."""
    if isinstance(value, reader.Link):
        return None if value.key < 0 else ("link", file.table_name(value.table), value.key)
    if isinstance(value, reader.Float):
        return ("float", value.bits)
    if isinstance(value, reader.Timestamp):
        return ("timestamp", *value)
    if isinstance(value, list):
        return [plain(file, v) for v in value if not (isinstance(v, reader.Link) and v.key < 0)]
    if isinstance(value, dict):
        return {bytes(k) if isinstance(k, bytes) else k: plain(file, v) for k, v in value.items()}
    if isinstance(value, bytes):
        return (type(value).__name__, bytes(value))
    return value if value is None or isinstance(value, (bool, int)) else repr(value)


def contents(file):
    """{class: {key: {property: value}}} of a file that the reader has open."""
    return {
        t.name: {key: {c.name: plain(file, row[c.key.value]) for c in t.columns} for key, row in t.objects().items()}
        for t in file.live_tables()
    }


class Cell:
    """A value, and the nodes and objects that it needs."""

    __slots__ = ("value", "nodes", "targets")

    def __init__(self, value, nodes, targets):
        self.value, self.nodes, self.targets = value, nodes, targets


class Model:
    """The data of a sound file, and the nodes that each part of it needs."""

    def __init__(self, path):
        self.file = f = Tracing(path)
        self.size = len(f.buf)
        self.all_nodes = []  # (start, end) of every reachable node, header and elements, sorted.
        self._reach(f.top_ref)
        self.all_nodes.sort()
        self.starts = [start for start, _ in self.all_nodes]
        top = f.group
        self.group = {top.child(0), top.child(1)}
        self.base, self.paths, self.cells, self.keys, self.owners, self.rows = {}, {}, {}, {}, {}, {}
        self.leaves = {}  # The cluster of each object, with its keys.
        self.embedded = {t.name for t in f.live_tables() if t.type == 1}
        for t in f.live_tables():
            self._table(t)

    def _reach(self, top):
        pending, seen = [top], set()
        while pending:
            ref = pending.pop()
            if ref in seen:
                continue
            seen.add(ref)
            n = self.file.node(ref)
            self.all_nodes.append((ref, n.data + n.nbytes()))
            if n.has_refs:
                pending += [v for v in n.values() if v and not v & 1]

    def _table(self, t):
        f, name = self.file, t.name
        spec = t.top.child(0)
        s = f.node(spec)
        base = {t.top.ref, spec, t.top.child(7), t.top.child(8)} | {s.child(i) for i in (0, 1, 2, 5)}
        if s.child(4):
            base |= f.traced(self._deep, s.child(4))[1]
        self.base[name] = base
        self.rows[name] = set()
        self._cluster(t, t.top.child(2), 0, frozenset())

    def _deep(self, ref):
        n = self.file.node(ref)
        if n.has_refs:
            for v in n.values():
                if v and not v & 1:
                    self._deep(v)

    def _cluster(self, t, ref, offset, path):
        f, n = self.file, self.file.node(ref)
        first = n.get(0)
        own = path | {ref} | ({first} if first and not first & 1 else set())
        self.rows[t.name] |= own
        if n.inner:
            count, depth = n.size - 3, n.tagged(1)
            offsets = f.uarray(first) if first else [i << (8 * depth) for i in range(count)]
            for i in range(count):
                self._cluster(t, n.child(3 + i), offset + offsets[i], own)
            return
        keys = list(range(first >> 1)) if first & 1 else f.uarray(first)
        for c in t.columns:
            values, shared, each = self._column(t, c, n.child(1 + c.key.index), len(keys))
            for row, key in enumerate(keys):
                place = (t.name, key + offset)
                nodes = frozenset(shared | each[row]) if each[row] else shared
                targets = [(f.table_name(link.table), link.key) for link in reader.walk_links(values[row]) if link.key >= 0]
                self.cells[(*place, c.name)] = Cell(plain(f, values[row]), nodes, targets)
                if t.pk is c:
                    self.keys[place] = nodes
                for target in targets:
                    if target[0] in self.embedded:
                        self.owners[target] = (*place, c.name)
        for key in keys:
            self.paths[(t.name, key + offset)] = own
            self.leaves[(t.name, key + offset)] = own - path

    def _column(self, t, c, ref, count):
        """(values, nodes that all of them need, nodes that each of them needs)"""
        f, n, nothing = self.file, self.file.node(ref), frozenset()
        if not c.kind:
            if n.has_refs and n.ctx and c.type in (reader.STRING, reader.BINARY):
                values = t._read_column_leaf(c, ref)
                return values, frozenset({ref}), [frozenset({n.child(i)}) if n.child(i) else nothing for i in range(count)]
            values, nodes = f.traced(t._read_column_leaf, c, ref)
            return values, frozenset(nodes), [nothing] * count
        values, each = [], []
        for i in range(count):
            root = n.child(i)
            if not root:
                value, nodes = ({} if c.kind == "dictionary" else []), nothing
            elif c.kind == "dictionary":
                value, nodes = f.traced(f.dictionary, root, c.key_type)
            else:
                value, nodes = f.traced(f.bptree, root, f.leaf_reader(c.key, True, c.target))
            values.append(value)
            each.append(frozenset(nodes))
        return values, frozenset({ref}), each

    # ---- judging

    def damaged(self, copy):
        """The nodes that are changed in the copy. The first four bytes of a node have no meaning."""
        buf, hurt, at = self.file.buf, set(), 0
        limit = min(len(buf), len(copy))
        while at < limit:
            end = min(at + 4096, limit)
            if buf[at:end] != copy[at:end]:
                i = max(0, bisect.bisect_right(self.starts, at) - 1)
                while i < len(self.all_nodes) and self.all_nodes[i][0] < end:
                    start, stop = self.all_nodes[i]
                    if start not in hurt and buf[start + 4 : stop] != copy[start + 4 : stop]:
                        hurt.add(start)
                    i += 1
            at = end
        for start, stop in reversed(self.all_nodes):
            if stop <= limit:
                if stop < limit - (1 << 25):
                    break
                continue
            hurt.add(start)
        return hurt

    def provable(self, hurt):
        """(objects, cells) that a perfect reader proves."""
        known = {}
        whole = {name: not (base & hurt) and not (self.group & hurt) for name, base in self.base.items()}

        def exists(place, depth=0):
            if place not in known:
                known[place] = False
                known[place] = self._exists(place, hurt, whole, exists, depth)
            return known[place]

        objects = {place for place in self.paths if exists(place)}
        cells = {
            place
            for place, cell in self.cells.items()
            if place[:2] in objects and not (cell.nodes & hurt) and all(target in objects for target in cell.targets)
        }
        return objects, cells

    def strays(self, hurt, objects):
        """{class: values without links of objects whose clusters are intact, although the path to them is not}"""
        found = {}
        for place, nodes in self.leaves.items():
            name = place[0]
            if place in objects or nodes & hurt or name in self.embedded or (self.base[name] | self.group) & hurt:
                continue
            found.setdefault(name, []).append(place[1])
        rows = {}
        for (name, key, column), cell in self.cells.items():
            if name in found:
                rows.setdefault((name, key), []).append((column, cell))
        return {
            name: [
                {column: cell.value for column, cell in rows[(name, key)] if not cell.targets}
                for key in keys
                if not any(cell.nodes & hurt for _, cell in rows[(name, key)])
            ]
            for name, keys in found.items()
        }

    def _exists(self, place, hurt, whole, exists, depth):
        if place not in self.paths or not whole[place[0]] or self.paths[place] & hurt or self.keys.get(place, frozenset()) & hurt:
            return False
        if place[0] not in self.embedded:
            return True
        owner = self.owners.get(place)
        if owner is None or depth > 90 or self.cells[owner].nodes & hurt:
            return False
        return exists(owner[:2], depth + 1)
