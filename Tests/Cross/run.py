#!/usr/bin/env python3
"""The cross test: eight processes in all languages write and observe one file, and are killed at random.

  run.py [--seconds N] [--seed S] [--keep]      default: 30 seconds; --keep leaves the folder with the ledgers

Each process (a worker, with the numbers 1 to 8) repeats a write transaction: it makes the Entry with its next number,
sets its own Counter to this number and adds one to Counter 0. It observes all entries at the same time. Each worker
appends to a ledger of its own:

  start               the process has opened the file
  wrote N             the commit of its entry N has returned
  sees C0 … C8        the first call of its listener: the counters in the version of the call
  told W:N …          a later call: the entries that are new; "changed" after them if anything was deleted or modified
  between A B         Go: the first call belongs to a version with at least A and at most B entries
  counted N           Go: a later call, with the number of new entries
  stopped             the worker writes no longer
  end N               all changes were told; the file has N entries

A worker that was killed starts again and goes on. At the end all workers stop, are told the rest, and end. Then the
ledgers must prove:

- Nothing is lost: each entry whose commit returned is in the file. The numbers of a worker have no gaps.
- Nothing is written twice: a number appears once in a ledger. An entry without a line in the ledger was the last one
  before a kill: its commit was on disk, and the process was killed before it could say so. Counter 0 is the number of
  entries.
- Nothing is told twice or left out: in each life of a worker the numbers of every other worker follow those that the
  first call saw, one by one, also up to a kill; at the end all have been told.

A language without its tools is replaced by C. CREALM_LIBRARY names the library; KOTLIN, NODE_INCLUDE and so on are as
in Scripts/. The programs are built into .build/cross.
"""

import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("CROSS_BUILD", ROOT / ".build/cross"))
LIBRARY = pathlib.Path(os.environ.get("CREALM_LIBRARY", ROOT / ".build/release/libCRealm.so")).resolve()
os.environ["CREALM_LIBRARY"] = str(LIBRARY)
sys.path.insert(0, str(ROOT / "bindings/python"))
import crealm  # noqa: E402

WORKERS = 8


class Missing(Exception):
    """The tools of a language are not there."""


class Counter(crealm.Model):
    id: int = crealm.field(primary_key=True)
    value: int


class Entry(crealm.Model):
    id: int = crealm.field(primary_key=True)
    worker: int
    number: int


# ---- building ----


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def tools(script):
    done = subprocess.run([ROOT / "Scripts" / script, "--tools"], capture_output=True, text=True)
    if done.returncode:
        raise Missing((done.stdout + done.stderr).strip().removeprefix("skipped: "))


def folder_of_library():
    """A folder where the library has both names that programs link to."""
    folder = BUILD / "library"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("libCRealm.so", "libCRealm.so.0"):
        link = folder / name
        if link.is_symlink() or link.exists():
            link.unlink()
        link.symlink_to(LIBRARY)
    return folder


def c():
    program = BUILD / "cross_c"
    folder = folder_of_library()
    run([os.environ.get("CC", "cc"), "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}",
         HERE / "cross.c", "-o", program, f"-L{folder}", "-lCRealm", f"-Wl,-rpath,{folder}"])
    return [program]


def python():
    return [sys.executable, HERE / "cross.py"]


def node():
    tools("node.sh")
    if not (ROOT / ".build/node/crealm.node").exists():
        run([ROOT / "Scripts/node.sh", "build"])
    return ["node", "--no-warnings", HERE / "cross.mjs"]


def rust():
    tools("rust.sh")
    target = BUILD / "rust"
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target), "LD_LIBRARY_PATH": str(folder_of_library())}
    run(["cargo", "build", "--release", "--offline", "--quiet"], cwd=HERE / "rust", env=environment)
    return [target / "release/cross"]


def go():
    tools("go.sh")
    folder = folder_of_library()
    environment = {**os.environ, "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod", "CGO_ENABLED": "1",
                   "CGO_LDFLAGS": f"-L{folder} -Wl,-rpath,{folder}"}
    run(["go", "build", "-o", BUILD / "cross_go", "."], cwd=HERE / "go", env=environment)
    return [BUILD / "cross_go"]


def jvm():
    """The options of java, after the package was built, and the class path."""
    tools("jvm.sh")
    out = BUILD / "jvm"
    run([ROOT / "Scripts/jvm.sh", "build"], env={**os.environ, "JVM_BUILD": str(out)})
    options = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m"]
    return [*options, f"-Dorg.crealm.native={out / 'native'}", f"-Dorg.crealm.library={LIBRARY}"], [out / "classes"]


def java():
    options, classes = jvm()
    out = BUILD / "java"
    run(["javac", "--release", "17", "-cp", classes[0], "-d", out, HERE / "Cross.java"])
    return ["java", *options, "-cp", ":".join(map(str, [out, *classes])), "Cross"]


def kotlin():
    if "KOTLIN" not in os.environ:
        raise Missing("Kotlin (KOTLIN names no folder with a compiler)")
    options, classes = jvm()
    jars = list(pathlib.Path(os.environ["KOTLIN"]).rglob("*.jar"))
    out = BUILD / "kotlin"
    path = ":".join(map(str, [*classes, *jars]))
    run(["java", "-cp", ":".join(map(str, jars)), "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib",
         "-no-reflect", "-jvm-target", "17", "-d", out, "-cp", path, HERE / "Cross.kt"])
    return ["java", *options, "-cp", f"{out}:{path}", "CrossKt"]


def commands():
    """The programs of the eight workers, with their languages."""
    found = []
    for name, build in {"C": c, "Python": python, "Node": node, "Rust": rust, "Go": go, "Java": java, "Kotlin": kotlin,
                        "C again": c}.items():
        try:
            found.append((name, build()))
        except Missing as reason:
            print(f"C takes the place of {name}: {reason}")
            found.append((f"C for {name}", c()))
    return found


# ---- running ----


class Worker:
    def __init__(self, number, name, command, folder):
        self.number = number
        self.name = name
        self.command = [str(part) for part in command] + [str(folder / "cross.realm"), "", str(number)]
        self.ledger = folder / f"ledger-{number}"
        self.command[-2] = str(self.ledger)
        self.errors = folder / f"errors-{number}"
        self.kills = 0
        self.start()

    def start(self):
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "bindings/python"),
                       "LD_LIBRARY_PATH": str(BUILD / "library")}
        self.lines_before = self.count()
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(self.command, stdout=errors, stderr=errors, env=environment)
        self.since = time.monotonic()

    def count(self):
        return self.ledger.read_bytes().count(b"\n") if self.ledger.exists() else 0

    def has_written(self):
        """Whether this life has come as far as to write."""
        return self.count() > self.lines_before + 2

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.kills += 1
        self.start()

    def failure(self):
        """How the process ended, and what it printed."""
        return f"{self.name} ended with {self.process.returncode}:\n{self.errors.read_text()[-2000:]}"

    def has_stopped(self):
        return any(line == "stopped" for line in self.ledger.read_text().splitlines()[-400:])


def storm(workers, seconds, chance):
    """Kills workers at random until the time is over. The result is a list of faults."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(chance.uniform(0.1, 0.9))
        for worker in workers:
            if worker.process.poll() is not None:
                return [worker.failure()]
            if time.monotonic() - worker.since > 60 and not worker.has_written():
                return [f"{worker.name} has not written for a minute"]
        ready = [worker for worker in workers if worker.has_written()]
        if ready:
            chance.choice(ready).kill()
    return []


def finish(workers, folder):
    (folder / "stop").touch()
    faults = wait(workers, lambda worker: worker.has_stopped(), "does not stop")
    if faults:
        return faults
    (folder / "end").touch()
    faults = wait(workers, lambda worker: worker.process.poll() is not None, "does not end")
    return faults + [worker.failure() for worker in workers if worker.process.returncode]


def wait(workers, condition, problem):
    end = time.monotonic() + 120
    while not all(map(condition, workers)):
        if time.monotonic() > end:
            return [f"{worker.name} {problem}" for worker in workers if not condition(worker)]
        time.sleep(0.05)
    return []


# ---- judging ----


class Life:
    """What one process noted between its start and its end or kill."""

    def __init__(self):
        self.wrote = []
        self.next = None  # by worker: the number that must be told next
        self.between = None
        self.counted = 0
        self.told = 0
        self.end = None


def lives_of(worker, faults):
    lives = []
    text = worker.ledger.read_bytes()
    for line in text[: text.rfind(b"\n") + 1].decode().splitlines():
        word, *rest = line.split()
        if word == "start":
            lives.append(Life())
            continue
        life = lives[-1]
        if word == "wrote":
            life.wrote.append(int(rest[0]))
        elif word == "sees":
            total, *counters = map(int, rest)
            life.next = {number: counter + 1 for number, counter in enumerate(counters, 1)}
            if total != sum(counters):
                faults.append(f"{worker.name}: the counters of one version do not agree: {rest}")
        elif word == "told":
            told(worker, life, rest, faults)
        elif word == "between":
            life.between = tuple(map(int, rest))
        elif word == "counted":
            life.counted += int(rest[0])
            life.told += int(rest[0])
            if rest[1:]:
                faults.append(f"{worker.name}: {line}")
        elif word == "end":
            life.end = int(rest[0])
        elif word != "stopped":
            faults.append(f"{worker.name}: {line}")
    return lives


def told(worker, life, pairs, faults):
    """Checks that the new entries of one change follow those that were told before."""
    if "changed" in pairs:
        faults.append(f"{worker.name}: entries were told as deleted or modified: {pairs}")
    entries = sorted(tuple(map(int, pair.split(":"))) for pair in pairs if pair != "changed")
    for number, entry in entries:
        if entry != life.next[number]:
            faults.append(f"{worker.name}: told {number}:{entry}, but {number}:{life.next[number]} is next")
        life.next[number] = entry + 1
    life.told += len(entries)


def judge(workers, folder):
    faults = []
    with crealm.open(folder / "cross.realm", schema=[Counter, Entry]) as db:
        db.verify()
        counters = {number: db[Counter].get(number).value for number in range(WORKERS + 1)}
        stored = {number: [] for number in range(1, WORKERS + 1)}
        for entry in db[Entry]:
            stored[entry.worker].append(entry.number)
            if entry.id != entry.worker * 1_000_000_000 + entry.number:
                faults.append(f"the entry {entry.id} has the values {entry.worker} and {entry.number}")
    total = sum(map(len, stored.values()))
    if counters[0] != total:
        faults.append(f"Counter 0 is {counters[0]}, but there are {total} entries")
    heard = 0
    for worker in workers:
        numbers = sorted(stored[worker.number])
        if numbers != list(range(1, len(numbers) + 1)) or counters[worker.number] != len(numbers):
            faults.append(f"{worker.name}: the numbers of the entries have gaps, or differ from the counter")
        lives = lives_of(worker, faults)
        wrote = [number for life in lives for number in life.wrote]
        lost = set(wrote) - set(numbers)
        if lost:
            faults.append(f"{worker.name}: lost {sorted(lost)[:20]}, whose commits had returned")
        if len(set(wrote)) != len(wrote) or wrote != sorted(wrote):
            faults.append(f"{worker.name}: a number was written twice, or in a wrong order")
        # Only the last entry of a life may lack its line: the process was killed between the commit and the line.
        unsaid = sorted(set(numbers) - set(wrote))
        firsts = {life.wrote[0] - 1 for life in lives[1:] if life.wrote} | {len(numbers)}
        if len(unsaid) > worker.kills or not set(unsaid) <= firsts:
            faults.append(f"{worker.name}: {unsaid[:20]} are in the file, but not in the ledger")
        last = lives[-1]
        if last.end != total:
            faults.append(f"{worker.name}: sees {last.end} entries at the end, not {total}")
        if last.next and last.next != {number: counters[number] + 1 for number in last.next}:
            faults.append(f"{worker.name}: not all entries were told: {last.next}, {counters}")
        if last.between and not last.between[0] <= total - last.counted <= last.between[1]:
            missing = total - last.counted
            faults.append(f"{worker.name}: {missing} entries were there at first, but {last.between} are possible")
        if not last.next and not last.between:
            faults.append(f"{worker.name}: was told nothing")
        mine = sum(life.told for life in lives)
        heard += mine
        print(f"{worker.name:10} {len(numbers):7} entries, {len(lives):3} lives, {mine:8} told, "
              f"{len(unsaid):2} committed just before a kill")
    return faults, total, heard


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    programs = commands()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="crealm-cross-"))
    with crealm.open(folder / "cross.realm", schema=[Counter, Entry]) as db, db.write():
        for number in range(WORKERS + 1):
            db[Counter].create(number, value=0)
    workers = [Worker(number, name, command, folder) for number, (name, command) in enumerate(programs, 1)]
    try:
        faults = storm(workers, given.seconds, random.Random(given.seed)) or finish(workers, folder)
    finally:
        for worker in workers:
            if worker.process.poll() is None:
                worker.process.kill()
                worker.process.wait()
    if not faults:
        faults, total, heard = judge(workers, folder)
    kills = sum(worker.kills for worker in workers)
    if faults:
        print("\n".join(faults[:40]))
        print(f"FAILED: {len(faults)} faults, seed {given.seed}; the ledgers are in {folder}")
        return 1
    if not given.keep:
        shutil.rmtree(folder)
    print(f"cross test: {total} entries by {WORKERS} processes, {heard} told, {kills} kills: "
          "nothing lost, nothing twice")
    return 0


if __name__ == "__main__":
    sys.exit(main())
