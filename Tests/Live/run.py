#!/usr/bin/env python3
"""Four writers and four observers, in C, Python and Swift, on one file; each is killed at random times and started
again.

    run.py BUILD [--seconds 6] [--seed N] [--keep DIR]          BUILD: the folder with the library, .build/release

Each commit appends the next number to a list, with the time. (A writer sometimes shortens the list.) An observer
follows the list by its change sets: it gets every number once, in order, even if one change set has several commits.
Sometimes all writers are killed: then every observer must reach the last commit, although no further commit wakes it.
No number may be written twice: that would show that a commit which returned was lost. Prints the counts and the longest
time from before a commit to the callback, and 'N passed, M failed'."""
import argparse
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "Scripts"))
from test_readme import compile_swift  # noqa: E402

PATIENCE = 120  # seconds after which an observer counts as never woken
QUIET_EVERY = 8  # kills

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("build", type=pathlib.Path)
arguments.add_argument("--seconds", type=float, default=6)
arguments.add_argument("--seed", type=int, default=int(time.time()))
arguments.add_argument("--keep", type=pathlib.Path, help="the file and what the programs noted are kept there")
options = arguments.parse_args()
build = options.build.resolve()
chance = random.Random(options.seed)
os.environ |= {"CREALM_LIBRARY": str(build / "libCRealm.so"), "PYTHONPATH": str(ROOT / "bindings/python"), "PYTHONDONTWRITEBYTECODE": "1"}
sys.path.insert(0, os.environ["PYTHONPATH"])
import crealm  # noqa: E402

passed = failed = 0


def check(name, good, why=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print("FAIL", name, why, flush=True)
    return good


class Program:
    """A writer or an observer: its current process, which is started again after it was killed."""

    def __init__(self, kind, language, command, folder, number):
        self.kind, self.language, self.command = kind, language, command
        self.note = folder / f"{kind}-{number}"
        self.process, self.lives = None, 0

    def start(self):
        self.lives += 1
        if self.kind == "observer":
            self.note.unlink(missing_ok=True)
        seed = str(chance.randrange(1, 1 << 30))
        self.process = subprocess.Popen([*self.command, self.kind, file, self.note, seed], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def is_well(self):
        if self.process.poll() is None:
            return True
        return check(f"{self.kind} in {self.language}", False, f"ended with {self.process.returncode}: {self.process.stdout.read()[-2000:]}")

    def kill(self):
        """Its last report."""
        well = self.is_well()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        return self.report() if well else None

    def report(self):
        """last number, commits, callbacks, longest time, commits that were removed before a notification"""
        try:
            return struct.unpack("5q", self.note.read_bytes())
        except (FileNotFoundError, struct.error):
            return None


class Board(crealm.Model):
    id: int = crealm.field(primary_key=True)
    numbers: list[int]
    times: list[int]


def newest():
    with crealm.open(file, mode="r") as db:
        numbers = db["Board"].get(0).numbers
        return numbers[-1] if len(numbers) else 0


totals = {}  # Of observers: language -> commits, callbacks, longest time, commits missed


def add(program, report):
    if program.kind == "observer" and report:
        commits, callbacks, longest, missed = totals.get(program.language, (0, 0, 0, 0))
        totals[program.language] = commits + report[1], callbacks + report[2], max(longest, report[3]), missed + report[4]


def be_quiet(programs):
    """Kills all writers; every living observer must then reach the last commit."""
    for program in programs:
        if program.kind == "writer":
            program.kill()
    last = newest()
    observers = [p for p in programs if p.kind == "observer"]
    end = time.monotonic() + PATIENCE
    late = observers
    while late and time.monotonic() < end and all(p.is_well() for p in late):
        late = [p for p in late if (p.report() or (-1,))[0] != last]
        time.sleep(0.01)
    for program in late:
        check("woken", False, f"{program.language} stays at {program.report()}; the file is at {last}")
    if not late:
        check("woken", True)
    return last


def run(folder):
    c, swift = folder / "live_c", folder / "live_swift"
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "include", HERE / "live.c", "-o", c,
                    f"-L{build}", "-lCRealm", f"-Wl,-rpath,{build}"], check=True)
    commands = {"C": [c], "Python": [sys.executable, HERE / "live.py"]}
    try:
        compile_swift(HERE / "main.swift", swift, build)
        commands["Swift"] = [swift]
    except FileNotFoundError:
        print("skipped: Swift programs (no swiftc)")
    languages = ["C", *commands] if len(commands) == 3 else ["C", "Python"] * 2
    with crealm.open(file, schema=[Board]) as db, db.write():
        db.add(Board(id=0))
    programs.extend(Program(kind, language, commands[language], folder, n) for kind in ("writer", "observer") for n, language in enumerate(languages))
    for program in programs:
        program.start()
    end, kills, quiets = time.monotonic() + options.seconds, 0, 0
    # Each lives for a random time: a moment, or long enough to fall behind and catch up.
    while time.monotonic() < end and not failed:
        time.sleep(chance.choice([0.02, 0.1, 0.3, 0.6]) * (1 if options.seconds < 60 else 3))
        program = chance.choice(programs)
        add(program, program.kill())
        program.start()
        kills += 1
        if kills % QUIET_EVERY == 0:
            be_quiet(programs)
            quiets += 1
            for p in programs:
                if p.kind == "writer":
                    p.start()
        for p in programs:
            p.is_well()
    last = be_quiet(programs)
    for program in programs:
        if program.kind == "observer":
            add(program, program.kill())
    given = []
    for program in programs:
        if program.kind == "writer" and program.note.exists():
            numbers = program.note.read_bytes()
            own = struct.unpack(f"{len(numbers) // 8}q", numbers[: len(numbers) // 8 * 8])
            check("order", all(a < b for a, b in zip(own, own[1:])), f"numbers of the writer in {program.language}")
            given += own
    check("no commit is lost", len(given) == len(set(given)), f"{len(given) - len(set(given))} numbers were given twice")
    check("no commit is lost", max(given, default=0) <= last, f"commit {max(given, default=0)} returned; the file is at {last}")
    # Some writers were killed after a commit and before they noted it.
    check("all were noted", last - len(given) <= kills + 4 * (quiets + 1), f"{last} commits, {len(given)} noted")
    with crealm.open(file) as db:
        check("the file is sound", db.verify() == [], str(db.verify()[:3]))
    print(f"seed {options.seed}: {last} commits, {kills} kills, {quiets + 1} times all writers at once")
    for language, (commits, callbacks, longest, missed) in sorted(totals.items()):
        print(f"  observers in {language}: {commits} commits in {callbacks} callbacks, at most {longest / 1e6:.1f} ms after one"
              + (f"; {missed} had left the list before" if missed else ""))


programs = []
with tempfile.TemporaryDirectory(prefix="crealm-live-") as name:
    place = options.keep or pathlib.Path(name)
    place.mkdir(exist_ok=True)
    file = place / "live.realm"
    try:
        run(place)
    finally:
        for one in programs:
            if one.process is not None and one.process.poll() is None:
                one.process.kill()
                one.process.wait()
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
