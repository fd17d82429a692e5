#!/usr/bin/env python3
"""Compares salvage with a perfect reader, on files damaged in known places.

    salvage.py LIBRARY [--count 100] [--seed 1] [--files DIR…] [--cipher xchacha20] [--kinds bits,cut_end] [--reference LIBRARY] [--keep DIR]

Round i damages a file (histories of Tests/Tools/ops.c, and the fixtures) by seed + i and salvages it. Every value whose nodes are all intact must
be in the new file under the same class, object key and property; an object that was not in the file may appear only if clusters of its
class, or nodes that lead to them, are damaged. If the report says that nothing is lost, every value must be in the new
file (except after damage that leaves no trace). The new file must pass both checkers of Tests/Tools. With --reference
it must open in that library, too (Tests/Tools/dump.c). Prints the share of provable values that were found, by kind of
damage, and fails below 99.5 % or for anything else.
"""

import argparse
import collections
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parent / "Tools"
sys.path[:0] = [str(HERE), str(HERE.parent / "Fuzz")]
from checkers import complaint, storage_sees  # noqa: E402
from damage import KINDS, PAGE_SIZES, SEALED_KINDS, TRACELESS, damage, damage_sealed  # noqa: E402
from model import Model, contents, reader  # noqa: E402
from process import Worker  # noqa: E402

LEAST_SHARE = 0.995
MOST_MEMORY = 400 << 20


def histories(library, folder, count):
    """Files with a few hundred objects of every type, and old versions in free space."""
    program = folder / "ops"
    subprocess.run(["cc", "-O1", "-w", "-I", TOOLS.parent.parent / "include", TOOLS / "ops.c", "-ldl", "-o", program], check=True)
    for seed in range(1, count + 1):
        path = folder / f"history-{seed}.realm"
        manner = [[], ["--scalar"], ["--nested"], ["--big"]][seed % 4]
        subprocess.run([program, library, path, str(seed), str(8 + seed % 30), str(20 + seed % 25), *manner], check=True, capture_output=True)
        yield path


def large(worker, folder, count):
    """Files whose classes have more objects than one cluster holds."""
    for seed in range(1, count + 1):
        path = folder / f"large-{seed}.realm"
        report, error = worker.call("make", str(path), seed)
        assert error is None, error
        yield path


class Base:
    """A sound file, and the model of its data."""

    key = None

    def __init__(self, path):
        self.model = Model(str(path))

    def damaged(self, rng, kinds):
        """(damaged file, kind of damage, its decrypted bytes)"""
        data, kind = damage(rng, self.model.file.buf, self.model.all_nodes, kinds)
        return data, kind, data


class Sealed:
    """The same, encrypted."""

    def __init__(self, worker, path, cipher):
        sealed, plain, key = (path.with_suffix(f".{end}") for end in ("sealed", "plain", "key"))
        self.key, self.cipher = bytes(range(64)).hex(), cipher
        key.write_bytes(bytes(range(64)))
        report, error = worker.call("encrypt", str(path), str(sealed), self.key, cipher)
        assert error is None, error
        reader = HERE.parent / "Encryption" / "reader.py"
        subprocess.run([sys.executable, reader, sealed, "--key", key, "--out", plain], check=True, capture_output=True)
        self.data = sealed.read_bytes()
        self.model = Model(str(plain))

    def damaged(self, rng, kinds):
        data, kind, pages = damage_sealed(rng, self.data, self.cipher, kinds)
        size, image = PAGE_SIZES[self.cipher], bytearray(self.model.file.buf)
        for page in pages:
            # Changes every byte, also zeros.
            image[page * size : (page + 1) * size] = bytes(255 - byte for byte in image[page * size : (page + 1) * size])
        return data, kind, bytes(image)


class Campaign:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.worker = Worker(options.library)
        self.counts = collections.defaultdict(lambda: [0, 0, 0])  # Rounds, provable values, those found; by kind of damage.
        self.strays = [0, 0]  # Objects whose keys are lost because the nodes above them are damaged; those of them that were found.
        self.failures = []
        self.nothing = 0

    def fail(self, seed, name, kind, why, damaged):
        self.failures.append(f"seed {seed}, {name}, {kind}: {why}")
        print("FAIL", self.failures[-1], flush=True)
        if self.options.keep:
            self.options.keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(damaged, self.options.keep / f"{seed}-{kind}-{name}")

    def round(self, seed, name, base):
        model = base.model
        data, kind, image = base.damaged(random.Random(seed), self.options.kinds)
        damaged, out = self.folder / "damaged.realm", self.folder / "out.realm"
        damaged.write_bytes(data)
        out.unlink(missing_ok=True)
        before = sorted(os.listdir(self.folder))
        report, error = self.worker.call("salvage", str(damaged), str(out), base.key)
        hurt = model.damaged(image)
        objects, cells = model.provable(hurt)
        if damaged.read_bytes() != data:
            self.fail(seed, name, kind, "the damaged file was changed", damaged)
        counts = self.counts[kind]
        counts[0] += 1
        counts[1] += len(cells)
        if error is not None:
            if not error.startswith("CorruptFileError"):
                self.fail(seed, name, kind, error, damaged)
            if sorted(os.listdir(self.folder)) != before:
                self.fail(seed, name, kind, "a failure left a file", damaged)
            self.nothing += 1
            if cells:
                self.miss(seed, name, kind, f"nothing found of {len(cells)} values: {error}", damaged)
            return
        new = reader.RealmFile(str(out))
        got = contents(new)
        why, found = judge(model, hurt, cells, got)
        if "nothing lost" in report and (base.key or kind not in TRACELESS):
            wrong = [place for place, cell in model.cells.items() if got.get(place[0], {}).get(place[1], {}).get(place[2]) != cell.value]
            why = why or (f"called whole, and {len(wrong)} values are not what they were: {wrong[:3]}" if wrong else None)
        for name, rows in model.strays(hurt, objects).items():
            left = [row for there in (name, name + "_salvaged") for row in got.get(there, {}).values()]
            there = {text({column: row[column] for column in rows[0]}) for row in left} if rows else ()
            self.strays[0] += len(rows)
            self.strays[1] += sum(text(row) in there for row in rows)
        counts[2] += found
        if why:
            self.fail(seed, name, kind, why, damaged)
        elif found < len(cells):
            self.miss(seed, name, kind, f"{len(cells) - found} of {len(cells)} values not found", damaged)
        self.check(seed, name, kind, out, new, damaged)

    def miss(self, seed, name, kind, why, damaged):
        """Provable values that were not found: they lower the share, but are no failure by themselves."""
        if self.options.verbose:
            print(f"missed: seed {seed}, {name}, {kind}: {why}", flush=True)
            if self.options.keep:
                self.options.keep.mkdir(parents=True, exist_ok=True)
                shutil.copy(damaged, self.options.keep / f"{seed}-{kind}-{name}")

    def check(self, seed, name, kind, out, new, damaged):
        faults = {"storage": storage_sees(out), "data": complaint(lambda: reader.check(new), reader.FormatError)}
        for checker, fault in faults.items():
            if fault:
                self.fail(seed, name, kind, f"the {checker} checker: {fault[-300:]}", damaged)
        if self.options.reference:
            # Its output may have text that is not UTF-8.
            done = subprocess.run(
                [self.options.dump, self.options.reference, out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
            if done.returncode:
                self.fail(seed, name, kind, f"the reference: {done.stderr.strip()[-300:]}", damaged)

    def print(self):
        print(f"{'damage':15} {'rounds':>7} {'provable':>10} {'found':>10} {'share':>9}")
        total = [0, 0, 0]
        for kind, counts in sorted(self.counts.items()):
            total = [a + b for a, b in zip(total, counts)]
            print(f"{kind:15} {counts[0]:7} {counts[1]:10} {counts[2]:10} {share(counts):9.4%}")
        print(f"{'all':15} {total[0]:7} {total[1]:10} {total[2]:10} {share(total):9.4%}")
        return share(total)


def share(counts):
    return counts[2] / counts[1] if counts[1] else 1


def text(row):
    return repr(sorted(row.items()))


def judge(model, hurt, cells, got):
    """(what is wrong with the new file, or None; number of provable values that are in it)"""
    found, wrong = 0, []
    for name, key, column in cells:
        rows = got.get(name, {})
        if key not in rows or column not in rows[key]:
            continue
        if rows[key][column] == model.cells[(name, key, column)].value:
            found += 1
        else:
            wrong.append(f"{name} {key}.{column} is {rows[key][column]!r:.80}, was {model.cells[(name, key, column)].value!r:.80}")
    for name, rows in got.items():
        if name not in model.base or model.group & hurt or model.base[name] & hurt or model.rows[name] & hurt:
            continue
        wrong += [f"{name} {key} was never there" for key in rows if (name, key) not in model.paths]
    return ("; ".join(wrong[:3]) + (f" and {len(wrong) - 3} more" if len(wrong) > 3 else "") if wrong else None), found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--histories", type=int, default=12)
    parser.add_argument("--files", nargs="*", help="folders of files, in place of histories")
    parser.add_argument(
        "--kinds", type=lambda text: text.split(","), help=f"of {', '.join(sorted(KINDS))}; with --cipher of {', '.join(sorted(SEALED_KINDS))}")
    parser.add_argument("--cipher", choices=sorted(PAGE_SIZES), help="encrypted files (needs Python's cryptography)")
    parser.add_argument("--reference", help="another library that must open the new files")
    parser.add_argument("--dump", default="dump", help="the compiled Tests/Tools/dump.c, for --reference")
    parser.add_argument("--keep", type=pathlib.Path, help="where the damaged files of failures go")
    parser.add_argument("--verbose", action="store_true", help="tell of every round in which something provable was not found")
    options = parser.parse_args()
    options.library = str(pathlib.Path(options.library).resolve())
    with tempfile.TemporaryDirectory(prefix="crealm-rescue-") as name:
        folder = pathlib.Path(name)
        (folder / "files").mkdir()
        if options.files:
            paths = [path for place in options.files for path in sorted(pathlib.Path(place).glob("**/*.realm"))]
        else:
            paths = list(histories(options.library, folder / "files", options.histories))
        (folder / "work").mkdir()
        campaign = Campaign(options, folder / "work")
        if not options.files:
            paths += large(campaign.worker, folder / "files", max(1, options.histories // 4))
        bases = {}
        for i in range(options.count):
            path = paths[i % len(paths)]
            if path not in bases:
                bases[path] = Sealed(campaign.worker, path, options.cipher) if options.cipher else Base(path)
            campaign.round(options.seed + i, path.name, bases[path])
        found = campaign.print()
        memory = campaign.worker.close()
    passed = options.count - len(campaign.failures)
    print(f"{campaign.strays[1]} of {campaign.strays[0]} objects found whose keys are lost")
    print(f"nothing found in {campaign.nothing} files; at most {memory >> 20} MB of memory")
    if found < LEAST_SHARE:
        campaign.failures.append("the share")
        print(f"FAIL less than {LEAST_SHARE:.1%} of what is provable was found")
    if memory > MOST_MEMORY and not options.files:
        campaign.failures.append("memory")
        print("FAIL too much memory")
    print(f"{passed} passed, {len(campaign.failures)} failed")
    return 1 if campaign.failures else 0


if __name__ == "__main__":
    sys.exit(main())
