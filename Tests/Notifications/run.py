#!/usr/bin/env python3
"""Random transactions under observers of every kind: each change set is checked against the content before and after it, and with a second
library also held beside what that one tells.

    run.py [--library LIB] [--second LIB] [--seeds N] [--first N] [--transactions N] [--modes MODE,...]

Modes: foreign (another Realm of the file commits), own, and both with `-paths` (observers have key paths); wide and wide-own (results of
thousands of objects). Differences are shown, but for
those that are known. A seed at which the second library dies counts up to that transaction.
"""
import argparse
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODES = {"foreign": [], "own": ["--own"], "foreign-paths": ["--paths"], "own-paths": ["--own", "--paths"], "wide": ["--wide"],
         "wide-own": ["--own", "--wide", "--paths"]}


def build(library, folder, name):
    program = folder / name
    library = pathlib.Path(library).resolve()
    subprocess.run(
        ["cc", "-std=gnu11", "-O1", "-g", f"-I{ROOT / 'include'}", str(HERE / "random.c"), "-o", str(program), str(library),
         f"-Wl,-rpath,{library.parent}", "-lpthread"], check=True)
    return program


def run(program, folder, seeds, transactions, mode, extra):
    files = folder / f"{program.name}-files"
    files.mkdir(exist_ok=True)
    command = [str(program), str(files), str(seeds[0]), str(seeds[-1]), "--transactions", str(transactions), *MODES[mode], *extra]
    done = subprocess.run(command, capture_output=True, timeout=3600)
    shutil.rmtree(files)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def told(output):
    """What was told, by transaction and observer; the transactions; the number of those that were gone through."""
    all_told, actions = {}, {}
    for line in output.splitlines():
        head, found, text = line.partition(": ")
        parts = head.lstrip("# ").split(" ", 2)
        if not found or len(parts) < 2 or not parts[0].isdigit() or not parts[1].isdigit():
            continue
        if line.startswith("# "):
            actions[int(parts[1])] = text
        else:
            all_told[int(parts[1]), parts[2]] = text
    return all_told, actions, max(actions, default=0) + 1


def size(text, kind):
    """How many indices stand in a part as D{0,2…4}."""
    found = re.search(kind + r"\{([^}]*)\}", text)
    parts = (p.split("…") for p in found.group(1).split(",")) if found else ()
    return sum(int(p[-1]) - int(p[0]) + 1 for p in parts)


def known(ours, theirs, observer, actions):
    """Why two libraries may differ: what the second one tells is a fault or an accident of realm-core. None: they may not."""
    if ours.endswith("del") and theirs.endswith("del"):
        return "stale changes beside the deletion of a collection"
    if re.search(r"(\]|\}|mx) clr", actions):
        return "emptying a nested collection that is empty counts as a change"
    by_order = observer.startswith(("results", "of ", "back"))
    is_choice = all(size(ours, k) == size(theirs, k) > 0 for k in "DI") and abs(ours.count("→") - theirs.count("→")) <= size(ours, "D")
    if by_order and is_choice:
        return "of equally long runs of rows another one stays: modified rows are counted at indices without the inserted ones"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default=str(ROOT / ".build/release/libCRealm.so"))
    parser.add_argument("--second")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--transactions", type=int, default=40)
    parser.add_argument("--modes", default=",".join(MODES))
    options = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    seeds = range(options.first, options.first + options.seeds)
    wrong = compared = differences = deaths = 0
    kinds, reasons = collections.Counter(), collections.Counter()
    base = "/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=base) as name:
        folder = pathlib.Path(name)
        first = build(options.library, folder, "first")
        second = build(options.second, folder, "second") if options.second else None
        for mode in options.modes.split(","):
            if not second:
                code, out, err = run(first, folder, seeds, options.transactions, mode, ["--quiet"])
                print(f"{mode}: {out}{err}", end="")
                wrong += code != 0
                continue
            for seed in seeds:
                code, out, err = run(first, folder, [seed], options.transactions, mode, ["--gentle"])
                if code:
                    print(f"{mode} {seed}: exit {code}\n", *(line + "\n" for line in out.splitlines() if "WRONG" in line), err[-500:])
                    wrong += 1
                other_code, other_out, _ = run(second, folder, [seed], options.transactions, mode, ["--gentle"])
                ours, actions, count = told(out)
                theirs, _, other_count = told(other_out)
                # Of the transaction at which one stopped nothing is known.
                stopped = other_code < 0 or "refresh " in other_out
                deaths += stopped
                upto = min(count, other_count - 1 if stopped else other_count)
                compared += upto
                for key in sorted(set(ours) | set(theirs)):
                    a, b = ours.get(key, "-"), theirs.get(key, "-")
                    if a == b or key[0] >= upto:
                        continue
                    if reason := known(a, b, key[1], actions.get(key[0], "")):
                        reasons[reason] += 1
                        continue
                    differences += 1
                    kinds[key[1].split(" @ ")[0]] += 1
                    print(f"{seed} {mode} {key[0]} {key[1]}\n    {a}\n    {b}\n    {actions.get(key[0])}")
    if second:
        print(f"{compared} transactions compared, {differences} differences, the second library stopped in {deaths} seeds; {dict(kinds)}")
        for reason, count in reasons.items():
            print(f"known: {count} times: {reason}")
    return 1 if wrong or differences else 0


if __name__ == "__main__":
    sys.exit(main())
