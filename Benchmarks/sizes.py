#!/usr/bin/env python3
"""Measures the size of a file, and the bytes that a commit writes, over many small commits; compares with SQLite and,
optionally, another library.

    sizes.py LIB.so [OBJECTS,…] [--commits C] [--reference OTHER.so] [--workloads int,text,…] [--pins 0,1] [--encrypted] [--keep]

Prints a line for each workload, number of pinned versions and engine. The picture of the file's size over the commits
is written to .build/benchmarks/sizes.svg; `--keep` writes table and picture to docs/sizes.md and docs/sizes.svg. size.c
describes the workloads; SQLite has the same rows in a table (WAL, synchronous=FULL), and its write-ahead log is counted
with its file.
"""
import argparse
import html
import itertools
import os
import pathlib
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
LATEST = ROOT / ".build/benchmarks"
PAGE, PICTURE = ROOT / "docs/sizes.md", ROOT / "docs/sizes.svg"
COLOURS = {"CRealm": "#2f6fb7", "CRealm, encrypted": "#7f4fb7", "SQLite": "#999999", "reference": "#d08a2e"}
HEADINGS = ["commits", "objects", "pins", "engine", "file before", "file after", "after / before", "bytes a commit",
            "objects + history + free lists", "pieces free", "processor time a commit, first twentieth", "last"]


def run_realm(program, library, path, objects, commits, workload, pins, key):
    """Points of (commits, bytes of the file, bytes per commit, microseconds per commit, write calls per commit, and, for
    CRealm, bytes of objects, of history and of free lists per commit, pieces of free space)."""
    command = [program, os.path.abspath(library), str(path), str(objects), str(commits), workload, str(pins), *([str(key)] if key else [])]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [tuple(float(field) for field in line.split("\t")) for line in out.splitlines()]


def run_sqlite(path, objects, commits, workload):
    """The same for SQLite, for the workloads that are one statement; bytes per commit are not measured."""
    change = {"int": "UPDATE a SET number = ? WHERE id = ?", "text": "UPDATE a SET text = ? WHERE id = ?"}.get(workload)
    if not change:
        return []
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute("CREATE TABLE a (id INTEGER PRIMARY KEY, number INTEGER, text TEXT)")
    db.execute("BEGIN")
    db.executemany("INSERT INTO a VALUES (?, ?, ?)", ((i, random.randrange(10**6), "twenty letters or so") for i in range(objects)))
    db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def size():
        return sum(p.stat().st_size for p in (pathlib.Path(path), pathlib.Path(f"{path}-wal")) if p.exists())

    def processor():
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime

    points, step, before = [(0, size(), 0, 0)], max(commits // 20, 1), processor()
    for i in range(commits):
        value = random.randrange(10**6) if workload == "int" else "x" * random.randrange(41)
        db.execute(change, (value, random.randrange(objects)))
        if (i + 1) % step == 0:
            now = processor()
            points.append((i + 1, size(), 0, (now - before) * 1e6 / step))
            before = now
    db.close()
    return points


def megabytes(size):
    return f"{size / 1e6:,.1f} MB"


def row(workload, objects, pins, engine, points):
    first, last = points[0], points[-1]
    written = [p[2] for p in points[len(points) // 2:]]
    mean = sum(written) / len(written)
    late = [p for p in points[len(points) // 2:] if len(p) > 5]
    kinds = " + ".join(f"{sum(p[i] for p in late) / len(late):,.0f}" for i in (5, 6, 7)) if late else ""
    pieces = f"{late[-1][8]:,.0f}" if late else ""
    return [f"{int(last[0]):,} × {workload}", f"{objects:,}", str(pins), engine, megabytes(first[1]), megabytes(last[1]),
            f"{last[1] / first[1]:.2f}", f"{mean:,.0f}" if mean else "", kinds, pieces, f"{points[1][3]:,.0f} µs", f"{last[3]:,.0f} µs"]


def table(rows):
    lines = [HEADINGS, ["---"] * 4 + ["---:"] * 8, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def picture(curves):
    """A panel for each workload and number of pins: the file's size, as a multiple of the size at the beginning, over
    the commits."""
    width, height, left, top = 280, 150, 52, 40
    panels = list(dict.fromkeys((c["workload"], c["pins"], c["objects"]) for c in curves))
    parts = []
    for i, panel in enumerate(panels):
        x0, y0 = left + i % 3 * (width + 40), top + i // 3 * (height + 60)
        mine = [c for c in curves if (c["workload"], c["pins"], c["objects"]) == panel]
        highest = max(1.2 if panel[0] == "shrink" else 2.0, max(p[1] / c["points"][0][1] for c in mine for p in c["points"]))
        furthest = max(c["points"][-1][0] for c in mine)
        title = f"{panel[0]}, {panel[2]:,} objects" + (f", {panel[1]} pinned" if panel[1] else "")
        parts.append(f'<text x="{x0}" y="{y0 - 8}" font-weight="bold">{html.escape(title)}</text>')
        for tick in (1, highest):
            y = y0 + height - height * tick / highest
            parts.append(f'<line x1="{x0}" y1="{y:.1f}" x2="{x0 + width}" y2="{y:.1f}" stroke="#e4e4e4"/>'
                         f'<text x="{x0 - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#777">{tick:.1f}</text>')
        parts.append(f'<text x="{x0 + width}" y="{y0 + height + 16}" text-anchor="end" fill="#777">{int(furthest):,} commits</text>')
        for c in mine:
            line = " ".join(f"{x0 + width * p[0] / furthest:.1f},{y0 + height - height * p[1] / c['points'][0][1] / highest:.1f}"
                            for p in c["points"])
            colour = COLOURS.get(c["engine"], COLOURS["reference"])
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
    rows = (len(panels) + 2) // 3
    total, bottom = left + 3 * (width + 40), top + rows * (height + 60)
    for i, engine in enumerate(dict.fromkeys(c["engine"] for c in curves)):
        colour = COLOURS.get(engine, COLOURS["reference"])
        parts.append(f'<rect x="{left + i * 180}" y="{bottom - 14}" width="22" height="4" fill="{colour}"/>'
                     f'<text x="{left + 28 + i * 180}" y="{bottom - 8}">{html.escape(engine)}</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {bottom + 10}" width="{total}" height="{bottom + 10}" role="img">'
            "<title>Size of a file over many small commits, as a multiple of its size before</title>"
            '<style>text{font:12px sans-serif}</style>'
            f'<rect width="{total}" height="{bottom + 10}" fill="#fff"/>' + "".join(parts) + "</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library")
    parser.add_argument("objects", nargs="?", default="100000")
    parser.add_argument("--commits", type=int, default=20_000)
    parser.add_argument("--reference")
    parser.add_argument("--workloads", default="int,text,turns,lists,classes,shrink")
    parser.add_argument("--pins", default="0,1")
    parser.add_argument("--encrypted", action="store_true")
    parser.add_argument("--keep", action="store_true")
    a = parser.parse_args()
    LATEST.mkdir(parents=True, exist_ok=True)
    curves, rows = [], []
    with tempfile.TemporaryDirectory(prefix="sizes-", dir=ROOT / ".build") as folder:
        work = pathlib.Path(folder)
        program, key = work / "size", work / "key"
        key.write_bytes(os.urandom(64))
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-Wall", "-I", str(ROOT / "include"), str(HERE / "size.c"), "-ldl", "-o", str(program)],
                       check=True)
        tasks = itertools.product((int(p) for p in a.pins.split(",")), a.workloads.split(","), (int(n) for n in a.objects.split(",")))
        for pins, workload, objects in tasks:
            runs = [("CRealm", lambda w=workload, p=pins, n=objects: run_realm(program, a.library, work / "a", n, a.commits, w, p, None))]
            if a.encrypted:
                runs.append(("CRealm, encrypted",
                             lambda w=workload, p=pins, n=objects: run_realm(program, a.library, work / "b", n, a.commits, w, p, key)))
            if a.reference:
                runs.append((pathlib.Path(a.reference).name,
                             lambda w=workload, p=pins, n=objects: run_realm(program, a.reference, work / "c", n, a.commits, w, p, None)))
            if not pins:
                runs.append(("SQLite", lambda w=workload, n=objects: run_sqlite(str(work / f"{w}-{n}.db"), n, a.commits, w)))
            for engine, measure in runs:
                points = measure()
                if points:
                    curves.append({"workload": workload, "objects": objects, "pins": pins, "engine": engine, "points": points})
                    rows.append(row(workload, objects, pins, engine, points))
                    print("  ".join(rows[-1]), flush=True)
    (LATEST / "sizes.svg").write_text(picture(curves))
    print(f"{LATEST.relative_to(ROOT)}/sizes.svg draws it.")
    if a.keep:
        page = PAGE.read_text()
        start = page.index("<!-- table -->\n") + len("<!-- table -->\n")
        PAGE.write_text(page[:start] + "\n" + table(rows) + "\n")
        PICTURE.write_text(picture(curves))
    return 0


sys.exit(main())
