#!/usr/bin/env python3
"""Tests salvage and the search for deleted objects on damaged files of any format: no crash, no endless loop, no file
left behind, sound results.

    fuzz.py LIBRARY DIR… [--count 1000] [--seed 1] [--keep DIR]

Round i damages a file of the folders in several places, chosen by seed + i. NAME.key beside NAME.realm has the key of
an encrypted file. Files above 1 MB are skipped.
"""

import argparse
import pathlib
import random
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Fuzz")]
from checkers import CHECKERS  # noqa: E402
from damage import damage  # noqa: E402
from process import Worker  # noqa: E402

BIGGEST = 1 << 20
MOST_MEMORY = 1 << 30
STRUCTURE = ["bits", "node_bits", "headers", "zeroed_nodes", "noise", "swapped_pages", "zeroed_pages", "cut_end", "shared_nodes"]


def nodes_of(data):
    """(start, end) of ranges that look like nodes, or of ranges of an encrypted file."""
    starts = [m.start() for m in re.finditer(b"AAAA", data) if m.start() % 8 == 0] or list(range(0, len(data) - 64, 64))
    return [(start, min(start + 64, len(data))) for start in starts]


def shared(rng, data, nodes):
    """Copies a word of one node into another: refs then lead to the same node, or back."""
    copy = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        a, b = rng.choice(nodes)[0] + 8 * rng.randint(0, 4), rng.choice(nodes)[0] + 8 * rng.randint(1, 4)
        if max(a, b) + 8 <= len(copy):
            copy[b : b + 8] = copy[a : a + 8] if rng.random() < 0.5 else rng.choice(nodes)[0].to_bytes(8, "little")
    return bytes(copy)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    worker = Worker(str(pathlib.Path(options.library).resolve()))
    paths = [p for folder in options.folders for p in sorted(folder.glob("**/*.realm")) if p.stat().st_size <= BIGGEST]
    failures, written, refused = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="crealm-fuzz-") as name:
        folder = pathlib.Path(name)
        damaged, out = folder / "damaged.realm", folder / "out.realm"
        for i in range(options.count):
            rng, path = random.Random(options.seed + i), paths[i % len(paths)]
            data, key = path.read_bytes(), path.with_suffix(".key")
            secret = key.read_bytes().hex() if key.exists() else None
            kinds = []
            for _ in range(rng.randint(1, 3)):
                kind = rng.choice(STRUCTURE)
                kinds.append(kind)
                data = shared(rng, data, nodes_of(data)) if kind == "shared_nodes" else damage(rng, data, nodes_of(data), [kind])[0]
            if rng.random() < 0.1:
                kinds.append("lost_header")
                data = damage(rng, data, nodes_of(data), ["lost_header"])[0]
            damaged.write_bytes(data)
            problems = []
            _, error = worker.call("salvage", str(damaged), str(out), secret)
            if error and not error.split(":")[0].endswith(("CorruptFileError", "WrongKeyError", "UnsupportedFormat")):
                problems.append(error)
            if error:
                refused += 1
            else:
                written += 1
                problems += [f"the {checker} checker: {fault[-300:]}" for checker, sees in CHECKERS.items() if (fault := sees(out))]
            _, error = worker.call("deleted", str(damaged), secret)
            if error and not error.split(":")[0].endswith(("CorruptFileError", "WrongKeyError", "UnsupportedFormat", "NotSupportedError")):
                problems.append(error)
            left = {p.name for p in folder.iterdir()} - {"damaged.realm", "out.realm"}
            if left or damaged.read_bytes() != data:
                problems.append(f"left behind: {left}, or the damaged file was changed")
            for problem in problems:
                failures.append(f"seed {options.seed + i}, {path.name}, {'+'.join(kinds)}: {problem}")
                print("FAIL", failures[-1], flush=True)
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    shutil.copy(damaged, options.keep / f"{options.seed + i}-{path.name}")
            out.unlink(missing_ok=True)
        memory = worker.close()
    print(f"{written} files salvaged, of {refused} nothing was left; at most {memory >> 20} MB of memory")
    if memory > MOST_MEMORY:
        failures.append("memory")
    print(f"{options.count - min(options.count, len(failures))} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
