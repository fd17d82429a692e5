#!/usr/bin/env python3
"""Compares the search for deleted objects with a perfect reader, on histories of which every version is known.

    deleted.py LIBRARY [--count 20] [--seed 1] [--verbose]

Each history creates, changes and deletes objects in a few transactions and keeps a copy of the file after each. A
deleted object is *recoverable* when every node of its last version (cluster, keys, the leaves of all its properties,
and their child nodes) is unchanged in the last file. Prints the share of these that are found as deleted, with their
last values; fails below 90 %, when a living object is listed as deleted, when an object is listed that never existed,
or when less than 99.9 % of the listed values are values that the object once had.
"""

import argparse
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from model import Model  # noqa: E402
from process import Worker  # noqa: E402

LEAST_SHARE = 0.9
LEAST_TRUE = 0.999


def as_json(value):
    """A value of the model in the form in which the library reports it."""
    if isinstance(value, tuple):
        kind = value[0]
        if kind == "link":
            return {"$link": [value[1].removeprefix("class_"), value[2]]}
        if kind == "Str":
            return value[1].decode("utf-8", "replace")
        if kind == "Binary":
            import base64

            return {"$binary": base64.b64encode(value[1]).decode("ascii")}
        if kind == "float":
            import struct

            bits, double = value[1]
            return struct.unpack("<d", struct.pack("<Q", bits))[0] if double else struct.unpack("<f", struct.pack("<I", bits))[0]
        raise ValueError(kind)
    if isinstance(value, list):
        return [as_json(v) for v in value]
    return value


class History:
    """All versions of a file."""

    def __init__(self, paths):
        self.models = [Model(str(path)) for path in paths]
        self.rows = []  # {(class, key): {property: value}} by version.
        for model in self.models:
            rows = {}
            for (name, key, column), cell in model.cells.items():
                rows.setdefault((name, key), {})[column] = as_json(cell.value)
            self.rows.append(rows)

    def deleted(self):
        """(place, last version) of the deleted objects."""
        last = self.rows[-1]
        seen = {}
        for i, rows in enumerate(self.rows):
            for place in rows:
                seen[place] = i
        return {place: i for place, i in seen.items() if place not in last}

    def is_there(self, place, version):
        """Whether all nodes of an object are unchanged in the last file."""
        model, end = self.models[version], self.models[-1].file.buf
        nodes = set(model.leaves[place])
        for column in self.rows[version][place]:
            nodes |= model.cells[(*place, column)].nodes
        ends = dict(model.all_nodes)
        return all(model.file.buf[ref : ends[ref]] == end[ref : ends[ref]] for ref in nodes)

    def had(self, place, column, value):
        return any(rows[place][column] == value for rows in self.rows if place in rows and column in rows[place])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    worker = Worker(str(pathlib.Path(options.library).resolve()))
    there = found = gone = listed = values = true = 0
    failures = []
    with tempfile.TemporaryDirectory(prefix="crealm-deleted-") as name:
        for seed in range(options.seed, options.seed + options.count):
            path = pathlib.Path(name) / f"{seed}.realm"
            versions, error = worker.call("history", str(path), seed)
            assert error is None, error
            history = History(versions)
            before = path.read_bytes()
            told, error = worker.call("deleted", str(path), None)
            if error is not None or path.read_bytes() != before:
                failures.append(f"seed {seed}: {error or 'the file was changed'}")
                continue
            alive, deleted = history.rows[-1], history.deleted()
            gone += len(deleted)
            places = {}
            for one in told:
                place = ("class_" + (one["class_name"] or ""), one["key"])
                if one["kind"] == "unplaced" or one["key"] is None:
                    continue
                listed += 1
                if one["kind"] == "deleted":
                    if place in alive:
                        failures.append(f"seed {seed}: {place} lives")
                    if place not in deleted:
                        failures.append(f"seed {seed}: {place} never was")
                    places[place] = one
                for column, value in one["values"].items():
                    values += 1
                    if history.had(place, column, value):
                        true += 1
                    elif options.verbose:
                        print(f"seed {seed}: {place}.{column} never was {value!r:.80} ({one['kind']}, version {one['version']})")
            for place, version in deleted.items():
                if not history.is_there(place, version):
                    continue
                there += 1
                if place in places and not places[place]["lost"] and places[place]["values"] == history.rows[version][place]:
                    found += 1
                elif options.verbose:
                    print(f"seed {seed}: {place} of version {version} of {len(history.rows)} not found: {places.get(place)!r:.200}")
            for file in pathlib.Path(name).glob(f"{seed}.*"):
                if file.is_file():
                    file.unlink()
    worker.close()
    share, exact = found / max(1, there), true / max(1, values)
    print(f"{gone} objects deleted, {there} of them there, {found} found ({share:.2%}); {listed} remains told of, {exact:.3%} of {values} values true")
    if share < LEAST_SHARE or exact < LEAST_TRUE or not there:
        failures.append("the shares")
    for failure in failures[:20]:
        print("FAIL", failure)
    print(f"{options.count - min(options.count, len(failures))} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
