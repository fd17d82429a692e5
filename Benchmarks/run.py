#!/usr/bin/env python3
"""Runs the same workloads on the library and on SQLite, alternately; prints tables of the medians and draws them.

    run.py LIB.so [N] [--rounds R] [--reference OTHER.so] [--last WORKLOAD] [--keep]
    run.py LIB.so --watching [--reference OTHER.so]   only the cost of watching; --keep adds it to the kept numbers
    run.py --draw MEASUREMENT.json          page, picture and numbers in docs/ from an earlier measurement
    run.py --check                          whether page and picture in docs/ match the numbers there

The first table compares with SQLite. The last one compares each scan with reading the same bytes once (read_once.c, in
every round). Small transactions also run on an encrypted file, beside SQLite's plain one. Watching (watch.c) is
measured at several sizes, once. With `--reference`, another library with Realm's C API also opens files, writes small
transactions and watches, in the same rounds. `--last` ends every run after that workload. Numbers and picture are
written to .build/benchmarks; `--keep` also writes them to docs/, as the measurement that the README shows.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

import report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
PAGE, KEPT, PICTURE = (ROOT / "docs" / f"benchmarks.{kind}" for kind in ("md", "json", "svg"))
LATEST = ROOT / ".build/benchmarks"
# The values that the programs print besides the times of workloads.
SIZES = {"bytes_per_object", "reopen_first_read", "peak_rss_mb"}
# Numbers of objects that are watched; the last one is skipped if the work grows with the objects, as it would take too
# long.
WATCHED = (100_000, 1_000_000, 4_000_000)


def build(out: pathlib.Path, *command: str) -> str:
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-w", *command, "-o", str(out)], check=True)
    return str(out)


def run(command):
    rows = {}
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        parts = line.split("\t")
        if not line.startswith("#") and len(parts) == 3:
            rows[parts[0].strip()] = (float(parts[1]), float(parts[2]))
    return rows


def cpu() -> str:
    try:
        for line in open("/proc/cpuinfo"):
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def measure(library: str, n: int, rounds: int, reference: str | None, last: str | None) -> dict:
    """Runs everything, alternately, and returns the medians; report.py describes their names."""
    work = pathlib.Path(tempfile.mkdtemp(prefix="bench-", dir=ROOT / ".build"))
    ours = build(work / "bench", "-I", str(ROOT / "include"), str(HERE / "bench.c"), "-ldl")
    sqlite = build(work / "bench_sqlite", str(HERE / "bench_sqlite.c"), "-lsqlite3")
    once = build(work / "read_once", str(HERE / "read_once.c"))
    key = work / "key"
    key.write_bytes(os.urandom(64))
    runs = {"crealm": [], "sqlite": [], "once": [], "encrypted": [], "reference": []}
    until = [last] if last else []

    def run_realm(library, keyfile, until):
        rows = run([ours, os.path.abspath(library), str(work), str(n), str(keyfile), *until])
        for f in work.glob("bench.realm*"):
            shutil.rmtree(f) if f.is_dir() else f.unlink()
        return rows

    for _ in range(rounds):
        runs["crealm"].append(run_realm(library, "", until))
        runs["once"].append(run([once, str(n)]))
        runs["sqlite"].append(run([sqlite, str(work), str(n), *until]))
        runs["encrypted"].append(run_realm(library, key, ["write_txn_small"]))
        if reference:
            runs["reference"].append(run_realm(reference, "", ["write_txn_small"]))
    watched = {} if last else watching(library, reference, work)
    shutil.rmtree(work)

    def medians(name, *engines):
        found = {engine: [r[name][0] for r in runs[engine] if name in r] for engine in engines}
        return {engine: statistics.median(values) for engine, values in found.items() if values}

    measured = {"n": n, "rounds": rounds, "processor": cpu(), "cores": os.cpu_count(), "date": str(datetime.date.today()),
                "workloads": {}, "reading": {}, "sizes": {}, "watching": watched}
    if reference:
        measured["reference"] = pathlib.Path(reference).name
    for name, (_, operations) in runs["crealm"][0].items():
        if name in SIZES:
            measured["sizes"][name] = medians(name, "crealm", "sqlite")
        elif name in report.WORKLOADS or name == "open_empty":
            engines = ("encrypted", "reference") if name == "write_txn_small" else ("reference",)
            measured["workloads"][name] = {"operations": operations} | medians(name, "crealm", "sqlite", *engines)
    for name, (_, size) in runs["once"][0].items():
        measured["reading"][name] = {"bytes": size, "seconds": medians(name, "once")["once"]}
    return measured


def watching(library: str, reference: str | None, work: pathlib.Path) -> dict:
    """Seconds and operations, by number of objects, operation, and engine."""
    program = build(work / "watch", "-I", str(ROOT / "include"), str(HERE / "watch.c"), "-ldl", "-lpthread")
    found = {}
    for n in WATCHED:
        engines = {"crealm": library} | ({"reference": reference} if reference and n < WATCHED[-1] else {})
        for engine, path in engines.items():
            for name, figures in run([program, os.path.abspath(path), str(work), str(n)]).items():
                found.setdefault(str(n), {}).setdefault(name, {})[engine] = figures
            for f in work.glob("watch.realm*"):
                shutil.rmtree(f) if f.is_dir() else f.unlink()
    return found


def watch_alone(library: str, reference: str | None, keep: bool):
    work = pathlib.Path(tempfile.mkdtemp(prefix="bench-", dir=ROOT / ".build"))
    found = watching(library, reference, work)
    shutil.rmtree(work)
    print(report.watching_table(found))
    if keep:
        draw(json.loads(KEPT.read_text()) | {"watching": found})


def draw(measured: dict):
    """Writes the page of the benchmarks, its picture, and the measurement from which both are made."""
    KEPT.write_text(as_json(measured))
    PICTURE.write_text(report.picture(measured))
    PAGE.write_text(report.page_with(PAGE.read_text(), measured))


def as_json(measured: dict) -> str:
    return json.dumps(measured, indent=1) + "\n"


def check() -> bool:
    """Whether page and picture match the measurement beside them."""
    measured = json.loads(KEPT.read_text())
    same = PICTURE.read_text() == report.picture(measured) and PAGE.read_text() == report.page_with(PAGE.read_text(), measured)
    if not same:
        print(f"{PAGE.relative_to(ROOT)} or its picture is not what {KEPT.relative_to(ROOT)} says: Benchmarks/run.py --draw {KEPT.relative_to(ROOT)}")
    return same


def main() -> int:
    p = argparse.ArgumentParser()
    p.add_argument("library", nargs="?")
    p.add_argument("n", nargs="?", type=int, default=1_000_000)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--reference")
    p.add_argument("--last")
    p.add_argument("--watching", action="store_true")
    p.add_argument("--keep", action="store_true")
    p.add_argument("--draw", metavar="JSON")
    p.add_argument("--check", action="store_true")
    a = p.parse_args()
    if a.check:
        return 0 if check() else 1
    if a.draw:
        draw(json.loads(pathlib.Path(a.draw).read_text()))
        return 0
    if not a.library:
        p.error("which library?")
    if a.watching:
        watch_alone(a.library, a.reference, a.keep)
        return 0
    measured = measure(a.library, a.n, a.rounds, a.reference, a.last)
    print(report.tables(measured))
    LATEST.mkdir(exist_ok=True)
    (LATEST / "benchmarks.json").write_text(as_json(measured))
    (LATEST / "benchmarks.svg").write_text(report.picture(measured))
    print(f"{LATEST.relative_to(ROOT)}/benchmarks.svg shows it; benchmarks.json beside it has the numbers.")
    if a.keep:
        draw(measured)
    return 0


sys.exit(main())
