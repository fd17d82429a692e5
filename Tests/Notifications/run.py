#!/usr/bin/env python3
"""Random transactions with observers of every kind: each change set is checked against the content before and after it,
and, with a second library, also compared with that library's change set.

    run.py [--library LIB] [--second LIB] [--seeds N] [--first N] [--transactions N] [--modes MODE,...]

Modes: foreign (another Realm of the file commits), own, and both with `-paths` (observers have key paths), with `-mixed` (each handle has a
callback with key paths and one without) and with `-writers` (observers write when they are called; not compared with
the second library, which calls in another order); wide and wide-own (results of thousands of objects, for a fourth of
the seeds). Differences are printed, except for known ones. A seed in which the second library crashes counts up to that
transaction.
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
MODES = {"foreign": [], "own": ["--own"], "foreign-paths": ["--paths"], "own-paths": ["--own", "--paths"],
         "foreign-mixed": ["--mixed"], "own-mixed": ["--own", "--mixed"], "foreign-writers": ["--writers"], "own-writers": ["--own", "--writers"],
         "wide": ["--wide"],
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
    # A program that damages its own memory may print without end.
    done = subprocess.run(
        command, capture_output=True, timeout=3600, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 20, 256 << 20)))
    shutil.rmtree(files)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


class Told:
    """The reports of one library, by transaction and observer, with the remarks of random.c."""

    def __init__(self, output):
        self.all, self.actions = {}, {}
        # The rows before and after; the report of a collection that is lost; the times when observers were replaced.
        self.rows, self.lost, self.anew = {}, {}, set()
        for line in output.splitlines():
            head, found, text = line.partition(": ")
            word, _, rest = head.partition(" ")
            parts = (head if word.isdigit() else rest).split(" ", 2)
            if not found or len(parts) < 2 or not parts[0].isdigit() or not parts[1].isdigit():
                continue
            number, what = int(parts[1]), parts[2] if len(parts) > 2 else None
            if word == "#":
                self.actions[number] = text
            elif word == "rows":
                self.rows[number, what] = [part.split() for part in text.split(">")]
            elif word == "lost":
                self.lost[number, what] = text
            elif word == "anew":
                self.anew.add((number, what))
            elif word.isdigit():
                self.all[number, what] = text

    @property
    def count(self):
        """Number of completed transactions."""
        return max(self.actions, default=0) + 1


LOST = "a collection is lost when its element is moved"


def indices(text, kind):
    """The indices in a part as D{0,2…4}; of modified rows those after the change."""
    found = re.search(rf"\b{kind}\{{([^}}]*)\}}", text)
    all_of = set()
    for part in found.group(1).split(",") if found else ():
        ends = part.split("→")[-1].split("…")
        all_of.update(range(int(ends[0]), int(ends[-1]) + 1))
    return all_of


def staying(old, new, modified, miscounts):
    """The rows that keep their places (live-objects §6.7). With `miscounts` as realm-core finds them: it uses indices
    of modified rows as places among the rows that are in both lists, for the range found first it counts those in as
    many rows up to its beginning, and it ignores everything to the right of a range that ends, in the old list, at or
    after the end of the part of the new one."""
    before, after = [r for r in old if r in new], [r for r in new if r in old]
    marked = {(new if miscounts else after).index(r) for r in modified}
    first = next((i for i, r in enumerate(before) if after[i] != r), len(before))
    kept_old, kept_new = set(before[:first]), set(after[:first])
    parts = [(first, len(before), first, len(after))]
    while parts:
        low, high, start, end = parts.pop()
        best, sizes = (low, start, 0, 0), {}
        for i in range(low, high):
            # An object that is in several rows may stay at any of their places.
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
            parts += [(low, i, start, at)] + ([] if miscounts and i + n >= end else [(i + n, high, at + n, end)])
    return kept_old, kept_new


def is_miscounted(ours, theirs, rows):
    """Whether both change sets are right for some choice of the facts that they do not report: for rows that both
    delete and insert, which were modified, and which were other objects before."""
    if rows is None:
        return False
    # An object that is in a list several times: each time is a different row.
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


def known(key, ours, theirs, first, was_lost):
    """Why two libraries may differ: the second one's report is a fault or an accident of realm-core. None: they may
    not.

    `first`: the reports of the first one; `was_lost`: the collections that the second one reported as deleted
    although they exist, and no longer observes."""
    if was_lost and theirs == "-":
        return "nothing of a collection that was lost"
    plain = re.sub(r"(\b(I|M|MV|ins|mod)\{[^}]*\}|\bclr\b) ?", "", theirs)
    # live-objects §6.11: moving the element that contains a collection loses the collection.
    if plain == first.lost.get(key) and not ours.endswith("del"):
        return LOST
    # live-objects §6.13: a collection whose owner is deleted reports only deletions and the flag.
    if ours.endswith("del") and plain == ours:
        return "stale changes beside the deletion of a collection"
    if is_miscounted(ours, theirs, first.rows.get(key)):
        return "other rows stay: modified ones are miscounted, or what is right of a stretch is left out"
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
            if not second or mode.endswith("writers"):
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
                first_told, second_told = Told(out), Told(other_out)
                # Nothing is known about the transaction in which one of them stopped.
                stopped = other_code < 0 or "refresh " in other_out
                deaths += stopped
                upto = min(first_told.count, second_told.count - 1 if stopped else second_told.count)
                compared += upto
                lost = {}
                for key in sorted(set(first_told.all) | set(second_told.all)):
                    number, what = key
                    a, b = first_told.all.get(key, "-"), second_told.all.get(key, "-")
                    if a == b or number >= upto:
                        continue
                    was_lost = what in lost and not any((n, what) in first_told.anew for n in range(lost[what], number))
                    if reason := known(key, a, b, first_told, was_lost):
                        reasons[reason] += 1
                        if reason == LOST:
                            lost[what] = number
                        continue
                    differences += 1
                    kinds[what.split(" @ ")[0]] += 1
                    print(f"{seed} {mode} {number} {what}\n    {a}\n    {b}\n    {first_told.actions.get(number)}")
    if second:
        print(f"{compared} transactions compared, {differences} differences, the second library stopped in {deaths} seeds; {dict(kinds)}")
        for reason, count in reasons.items():
            print(f"known: {count} times: {reason}")
    return 1 if wrong or differences else 0


if __name__ == "__main__":
    sys.exit(main())
