#!/usr/bin/env python3
"""Runs the same workloads on the library and on SQLite, alternately; prints tables of the medians and draws them.

    run.py LIB.so [N] [--rounds R] [--reference OTHER.so] [--last WORKLOAD] [--keep]
    run.py LIB.so --watching [--reference OTHER.so]   only the cost of watching; --keep adds it to the kept numbers
    run.py LIB.so --rules                   only the cost of rules
    run.py --draw MEASUREMENT.json          page, picture and numbers in docs/ from an earlier measurement
    run.py --check                          whether page and picture in docs/ match the numbers there

The first table compares with SQLite. Another one compares each scan with reading the same bytes once (read_once.c, in
every round). Small transactions also run on an encrypted file, beside SQLite's plain one. Watching (watch.c) is
measured at several sizes, once. Rules (bench_rules.c, bench_rules_sqlite.c) are measured in processor time, with their
own number of objects and rounds; their tables are printed last. With `--reference`, another library with Realm's C API
also opens files, writes small transactions and watches, in the same rounds. `--last` ends every run after that
workload. Numbers and picture are written to .build/benchmarks; `--keep` also writes them to docs/, as the measurement
that the README shows.
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
# Objects and rounds of the workloads of rules. They have more rounds, as the cost of a rule is a difference.
RULE_OBJECTS, RULE_ROUNDS = 300_000, 7
# Each workload of rules: its description, and the goal as SQLite's time / ours. The second table has the costs: of a
# workload with a rule, beside the same one without it; the goal is for the ratio, or for the nanoseconds of each.
RULES = {
    "insert_given_key": "insert with a key that the program gives",
    "insert_auto_key": "insert with an automatic key",
    "insert_pair": "insert two integers in no order",
    "insert_scattered_key": "insert with such an integer as the key",
    "insert_unique_pair": "insert, the pair is unique",
    "insert_unique_ascending": "insert, a unique pair that ascends",
    "insert_unchecked": "insert two integers",
    "insert_checked": "insert, with the check `a >= 0`",
    "delete_link": "delete 1,000 parents, then all children, which had a link",
    "cascade_link": "delete the parents, `on_target_delete: cascade`",
    "delete_list": "delete 1,000 parents with a list of children, then these",
    "cascade_list": "delete the parents, `on_delete: cascade`",
    "delete_link_in_turn": "children with a link, created for each parent in turn",
    "cascade_link_in_turn": "the same with `on_target_delete: cascade`",
    "delete_list_in_turn": "children in lists, created for each parent in turn",
    "cascade_list_in_turn": "the same with `on_delete: cascade`",
    "savepoint_none": "set an integer of a random object",
    "savepoint_release": "the same in a savepoint each, released",
    "savepoint_rollback": "the same in a savepoint each, rolled back",
}
RULE_GOAL = 2
RULE_COSTS = [
    ("insert_auto_key", "insert_given_key", None, None),
    ("insert_unique_pair", "insert_pair", None, None),
    ("insert_unique_pair", "insert_scattered_key", None, None),
    ("insert_unique_ascending", "insert_given_key", None, None),
    ("insert_checked", "insert_unchecked", None, 50),
    ("cascade_link", "delete_link", 1.3, None),
    ("cascade_list", "delete_list", 1.3, None),
    ("cascade_link_in_turn", "delete_link_in_turn", 1.3, None),
    ("cascade_list_in_turn", "delete_list_in_turn", 1.3, None),
    ("savepoint_release", "savepoint_none", None, None),
    ("savepoint_rollback", "savepoint_none", None, None),
]


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
    rules = {} if last else ruled(library, work)
    shutil.rmtree(work)

    def medians(name, *engines):
        found = {engine: [r[name][0] for r in runs[engine] if name in r] for engine in engines}
        return {engine: statistics.median(values) for engine, values in found.items() if values}

    measured = {"n": n, "rounds": rounds, "processor": cpu(), "cores": os.cpu_count(), "date": str(datetime.date.today()),
                "workloads": {}, "reading": {}, "sizes": {}, "watching": watched, "rules": rules}
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


def ruled(library: str, work: pathlib.Path) -> dict:
    """Medians of the processor time in seconds, and operations, by workload of rules and engine."""
    ours = build(work / "bench_rules", "-I", str(ROOT / "include"), str(HERE / "bench_rules.c"), "-ldl")
    sqlite = build(work / "bench_rules_sqlite", str(HERE / "bench_rules_sqlite.c"), "-lsqlite3")
    commands = {"crealm": [ours, os.path.abspath(library), str(work), str(RULE_OBJECTS)],
                "sqlite": [sqlite, str(work), str(RULE_OBJECTS)]}
    runs = {engine: [] for engine in commands}
    for _ in range(RULE_ROUNDS):
        for engine, command in commands.items():
            runs[engine].append(run(command))
    return {name: {"operations": int(operations)} | {engine: statistics.median(r[name][0] for r in found)
                                                     for engine, found in runs.items()}
            for name, (_, operations) in runs["crealm"][0].items()}


def rule_tables(rules: dict) -> str:
    rows, costs = [], []
    for name, what in RULES.items():
        found = rules[name]
        times = [report.with_each(found[engine], found["operations"]) for engine in ("crealm", "sqlite")]
        rows.append([name, what, *times, f"{found['sqlite'] / found['crealm']:.2f}", f"≥ {RULE_GOAL}"])
    for name, without, most, nanoseconds in RULE_COSTS:
        row = [name, without]
        for engine in ("crealm", "sqlite"):
            more = (rules[name][engine] - rules[without][engine]) / rules[name]["operations"] * 1e9
            row += [f"{more:,.0f} ns", f"{rules[name][engine] / rules[without][engine]:.2f}"]
        costs.append([*row, f"≤ {most}" if most else f"≤ {nanoseconds} ns" if nanoseconds else ""])
    heading = f"Rules: {RULE_OBJECTS:,} objects, processor time, median of {RULE_ROUNDS} alternating rounds"
    first = report.table(["rules", "what it does", "CRealm", "SQLite", "SQLite / CRealm", "goal"], rows)
    second = report.table(["with the rule", "without", "CRealm: more for each", "ratio", "SQLite: more for each", "ratio",
                           "goal of CRealm"], costs)
    return f"{heading}\n\n{first}\n\n{second}\n"


def rules_alone(library: str):
    with tempfile.TemporaryDirectory(prefix="bench-", dir=ROOT / ".build") as work:
        print(rule_tables(ruled(library, pathlib.Path(work))))


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
    p.add_argument("--rules", action="store_true")
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
    if a.rules:
        rules_alone(a.library)
        return 0
    measured = measure(a.library, a.n, a.rounds, a.reference, a.last)
    print(report.tables(measured))
    if measured["rules"]:
        print(rule_tables(measured["rules"]))
    LATEST.mkdir(exist_ok=True)
    (LATEST / "benchmarks.json").write_text(as_json(measured))
    (LATEST / "benchmarks.svg").write_text(report.picture(measured))
    print(f"{LATEST.relative_to(ROOT)}/benchmarks.svg shows it; benchmarks.json beside it has the numbers.")
    if a.keep:
        draw(measured)
    return 0


sys.exit(main())
