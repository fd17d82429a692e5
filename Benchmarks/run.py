#!/usr/bin/env python3
"""Runs the same workloads on the library and on SQLite, alternately, and prints a table: medians and SQLite's time / ours.

    run.py LIB.so [N] [--rounds R] [--reference OTHER.so] [--last WORKLOAD]

A second table holds each scan against reading the same bytes once (read_once.c, in every round). Small transactions run on an encrypted file
too, beside SQLite's plain one. With `--reference`, another library with Realm's C API opens files and writes small transactions in the same
rounds. `--last` ends every run after that workload.
"""
import argparse
import datetime
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
# Workload: (goal: SQLite's time / ours, what realm-core reaches)
GOALS = {"insert_bulk": (2.5, 1.3), "write_txn_small": (1.0, 0.28), "pk_lookup": (4, 2.0), "iterate_3props": (2, 0.65),
         "update_all_int": (4, 2.0), "list_append": (6, 2.9), "list_read": (30, 28),
         "count_int_gt": (70, 11), "count_int_eq": (100, 93), "count_double_between": (90, 2.5), "count_str_eq_indexed": (11, 11),
         "count_str_eq_unindexed": (35, 11), "count_str_beginswith": (25, 7.7), "count_str_contains_ci": (17, 5.9), "count_and": (55, 10),
         "count_or": (65, 18), "count_link": (30, 3.8), "count_in": (80, 16), "find_sort_int": (7.5, 1.9), "find_sort_str_limit": (3.8, 0.33),
         "sum_int": (95, 11), "avg_double": (100, 12), "max_int": (100, 10), "delete_half": (1.5, 0.30)}
ENCRYPTED_GOAL = 0.8


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


def main():
    p = argparse.ArgumentParser()
    p.add_argument("library")
    p.add_argument("n", nargs="?", type=int, default=1_000_000)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--reference")
    p.add_argument("--last")
    a = p.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="bench-", dir=ROOT / ".build"))
    ours = build(work / "bench", "-I", str(ROOT / "include"), str(HERE / "bench.c"), "-ldl")
    sqlite = build(work / "bench_sqlite", str(HERE / "bench_sqlite.c"), "-lsqlite3")
    once = build(work / "read_once", str(HERE / "read_once.c"))
    key = work / "key"
    key.write_bytes(os.urandom(64))
    runs = {"ours": [], "sqlite": [], "once": [], "encrypted": [], "reference": []}
    last = [a.last] if a.last else []

    def run_realm(library, keyfile, last):
        rows = run([ours, os.path.abspath(library), str(work), str(a.n), str(keyfile), *last])
        for f in work.glob("bench.realm*"):
            shutil.rmtree(f) if f.is_dir() else f.unlink()
        return rows

    for _ in range(a.rounds):
        runs["ours"].append(run_realm(a.library, "", last))
        runs["once"].append(run([once, str(a.n)]))
        runs["sqlite"].append(run([sqlite, str(work), str(a.n), *last]))
        runs["encrypted"].append(run_realm(a.library, key, ["write_txn_small"]))
        if a.reference:
            runs["reference"].append(run_realm(a.reference, "", ["write_txn_small"]))

    def median(engine, name):
        values = [r[name][0] for r in runs[engine] if name in r]
        return statistics.median(values) if values else None

    print(f"N = {a.n:,}, median of {a.rounds} alternating rounds, {cpu()}, {os.cpu_count()} cores, {datetime.date.today()}\n")
    print("| workload | CRealm | SQLite | SQLite / CRealm | goal | realm-core |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    def unit(s, name):
        ops = runs["ours"][0][name][1]
        return f"{s * 1e3:,.{0 if s >= 0.02 else 2}f} ms ({s / ops * 1e9:,.{0 if s / ops >= 2e-8 else 2}f} ns each)"

    for name in runs["ours"][0]:
        x, y = median("ours", name), median("sqlite", name)
        if name not in GOALS:
            continue
        goal, core = GOALS[name]
        print(f"| {name} | {unit(x, name)} | {unit(y, name)} | {y / x:.2f} | ≥ {goal} | {core} |")
        if name == "write_txn_small":
            x = median("encrypted", name)
            print(f"| {name}, encrypted | {unit(x, name)} | {unit(y, name)} | {y / x:.2f} | ≥ {ENCRYPTED_GOAL} | |")
    print(f"| bytes per object | {median('ours', 'bytes_per_object'):.1f} | {median('sqlite', 'bytes_per_object'):.1f} | | ≤ 83 | 82.6 |")
    if not a.last:
        print(f"| reopen and first read | {median('ours', 'reopen_first_read') * 1e3:.2f} ms | | | < 1 ms | 0.44 ms |")
        print(f"| peak memory | {median('ours', 'peak_rss_mb'):.0f} MB | {median('sqlite', 'peak_rss_mb'):.0f} MB | | | |")
    if a.reference:
        print(f"\n| workload | CRealm | {pathlib.Path(a.reference).name} | {pathlib.Path(a.reference).name} / CRealm | goal |")
        print("| --- | ---: | ---: | ---: | ---: |")
        for name, goal in (("open_empty", "≥ 1"), ("write_txn_small", "")):
            x, y = median("ours", name), median("reference", name)
            print(f"| {name} | {unit(x, name)} | {unit(y, name)} | {y / x:.2f} | {goal} |")
    print("\n| scan | bytes it needs | reading them once | CRealm | CRealm / reading |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in runs["once"][0]:
        x, y = median("ours", name), median("once", name)
        if x is not None:
            print(f"| {name} | {runs['once'][0][name][1] / 1e6:,.2f} MB | {y * 1e3:,.2f} ms | {x * 1e3:,.2f} ms | {x / y:.1f} |")
    for f in work.iterdir():
        f.unlink()
    work.rmdir()


main()
