#!/usr/bin/env python3
"""Random transactions under observers of every kind: each change set is checked against the content before and after it, and with a second
library also held beside what that one tells.

    run.py [--library LIB] [--second LIB] [--seeds N] [--first N] [--transactions N] [--modes MODE,...]

Modes: foreign (another Realm of the file commits), own, and both with `-paths` (observers have key paths); wide and wide-own (results of
thousands of objects, of a fourth of the seeds). Differences are shown, but for
those that are known. A seed at which the second library dies counts up to that transaction.
"""
import argparse
import collections
import itertools
import pathlib
import re
import resource
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
    # What damages its own memory may write without end.
    done = subprocess.run(
        command, capture_output=True, timeout=3600, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 20, 256 << 20)))
    shutil.rmtree(files)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def told(output):
    """What was told, and the rows before and after, by transaction and observer; the transactions; the number of those that were gone through."""
    all_told, rows, actions = {}, {}, {}
    for line in output.splitlines():
        head, found, text = line.partition(": ")
        parts = head.removeprefix("rows ").lstrip("# ").split(" ", 2)
        if not found or len(parts) < 2 or not parts[0].isdigit() or not parts[1].isdigit():
            continue
        if line.startswith("# "):
            actions[int(parts[1])] = text
        elif line.startswith("rows "):
            rows[int(parts[1]), parts[2]] = [part.split() for part in text.split(">")]
        else:
            all_told[int(parts[1]), parts[2]] = text
    return all_told, rows, actions, max(actions, default=0) + 1


def indices(text, kind):
    """The indices in a part as D{0,2…4}; of modified rows those after the change."""
    found = re.search(rf"\b{kind}\{{([^}}]*)\}}", text)
    all_of = set()
    for part in found.group(1).split(",") if found else ():
        ends = part.split("→")[-1].split("…")
        all_of.update(range(int(ends[0]), int(ends[-1]) + 1))
    return all_of


def staying(old, new, modified, miscounts):
    """The rows that keep their places (live-objects §6.7). With `miscounts` as realm-core finds them: it takes indices of modified rows for
    places among the rows that are in both lists, and of the stretch found first it counts those in as many rows up to its beginning."""
    before, after = [r for r in old if r in new], [r for r in new if r in old]
    marked = {(new if miscounts else after).index(r) for r in modified}
    first = next((i for i, r in enumerate(before) if after[i] != r), len(before))
    kept_old, kept_new = set(before[:first]), set(after[:first])
    parts = [(first, len(before), first, len(after))]
    while parts:
        low, high, start, end = parts.pop()
        best, sizes = (low, start, 0, 0), {}
        for i in range(low, high):
            # An object that is several rows may stay at any of their places.
            ends = {j: sizes.get(j - 1, 0) + 1 for j in range(start, end) if after[j].split()[0] == before[i].split()[0]}
            for j, size in ends.items():
                count = sum(j - size < m <= j for m in marked)
                if size > best[2]:
                    best = (i - size + 1, j - size + 1, size, None if miscounts else count)
                elif size == best[2]:
                    if best[3] is None:
                        best = (*best[:3], sum(best[1] - size < m <= best[1] for m in marked))
                    if count < best[3]:
                        best = (i - size + 1, j - size + 1, size, count)
            sizes = ends
        i, at, n, _ = best
        if n:
            kept_old.update(before[i:i + n])
            kept_new.update(after[at:at + n])
            parts += [(low, i, start, at), (i + n, high, at + n, end)]
    return kept_old, kept_new


def is_miscounted(ours, theirs, rows):
    """Whether both change sets are right for some choice of what they do not tell: of rows that both delete and insert, which were modified,
    and which were other objects before."""
    if rows is None:
        return False
    # An object that stands in a list several times: each time another row.
    old, new = ([f"{r} {part[:i].count(r)}" for i, r in enumerate(part)] for part in rows)
    change = [(indices(t, "D"), indices(t, "I"), indices(t, "M")) for t in (ours, theirs)]
    common = [r for r in old if r in new]
    hidden = [r for r in common if all(old.index(r) in d and new.index(r) in i for d, i, _ in change)]
    seen = {r for r in common if any(new.index(r) in m for _, _, m in change)}
    if len(hidden) > 7:
        return False
    for choice in itertools.product("-mx", repeat=len(hidden)):
        state = dict(zip(hidden, choice))
        modified = seen | {r for r in hidden if state[r] == "m"}
        was = [r + "*" if state.get(r) == "x" else r for r in old]

        def fits(miscounts, deleted, inserted):
            stays, stays_now = staying(was, new, modified, miscounts)
            return deleted == {i for i, r in enumerate(was) if r not in stays} and inserted == {i for i, r in enumerate(new) if r not in stays_now}

        if fits(False, *change[0][:2]) and fits(True, *change[1][:2]):
            return True
    return False


def known(ours, theirs, rows):
    """Why two libraries may differ: what the second one tells is a fault or an accident of realm-core. None: they may not."""
    # live-objects §6.13: a collection whose owner goes reports deletions and the flag only.
    plain = re.sub(r"(\b(I|M|MV|ins|mod)\{[^}]*\}|\bclr\b) ?", "", theirs)
    if ours.endswith("del") and plain == ours:
        return "stale changes beside the deletion of a collection"
    if is_miscounted(ours, theirs, rows):
        return "of equally long stretches of rows another one stays: the modified ones are miscounted"
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
                some = seeds[:max(1, len(seeds) // 4)] if mode.startswith("wide") else seeds
                code, out, err = run(first, folder, some, options.transactions, mode, ["--quiet"])
                print(f"{mode}: {out}{err}", end="")
                wrong += code != 0
                continue
            for seed in seeds:
                code, out, err = run(first, folder, [seed], options.transactions, mode, ["--gentle"])
                if code:
                    print(f"{mode} {seed}: exit {code}\n", *(line + "\n" for line in out.splitlines() if "WRONG" in line), err[-500:])
                    wrong += 1
                other_code, other_out, _ = run(second, folder, [seed], options.transactions, mode, ["--gentle"])
                ours, rows, actions, count = told(out)
                theirs, _, _, other_count = told(other_out)
                # Of the transaction at which one stopped nothing is known.
                stopped = other_code < 0 or "refresh " in other_out
                deaths += stopped
                upto = min(count, other_count - 1 if stopped else other_count)
                compared += upto
                for key in sorted(set(ours) | set(theirs)):
                    a, b = ours.get(key, "-"), theirs.get(key, "-")
                    if a == b or key[0] >= upto:
                        continue
                    if reason := known(a, b, rows.get(key)):
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
