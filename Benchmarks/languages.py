#!/usr/bin/env python3
"""Runs the benches of the language packages whose tools are installed, and prints one table.

  languages.py [ROWS] [--rounds N] [--keep]      default: 200 000 rows and 5 rounds; --keep writes the page of docs

CREALM_LIBRARY names the library. Each bench compares a package with the SQLite package that its language uses, in one
process and in alternating rounds; each row of the table says how often the package is as fast. A language whose tools
or whose SQLite package are not there is named below the table, with the reason.
"""

import argparse
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/languages-benchmarks.md"
BUILD = pathlib.Path(os.environ.get("BENCH_BUILD", ROOT / ".build/bench-languages"))
WHAT = {"insert": "insert", "batches": "insert in batches", "lookup": "look-up by key", "iterate": "loop, 2 properties",
        "count": "count with a condition", "one int": "one int"}
GOALS = {
    "Node": {"insert": 1.0, "lookup": 3, "iterate": 2.5, "one int": 40},
    "Java": {"insert": 1.8, "lookup": 3, "iterate": 3, "one int": 20},
    "Go": {"insert": 1.7, "lookup": 5, "iterate": 4, "one int": 60},
    "Rust": {"insert": 1.1, "lookup": 5, "iterate": 1.5},
}
UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6}


class Missing(Exception):
    """What a bench needs and this machine does not have."""


class Found:
    """A measured operation: nanoseconds of the package, and of the SQLite package or None."""

    def __init__(self, ours, theirs=None):
        self.ours = ours
        self.theirs = theirs

    @property
    def ratio(self):
        return self.theirs / self.ours if self.theirs else None


def run(command, **options):
    """The output of a command. Missing with its last line if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, cwd=options.pop("cwd", ROOT), **options)
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Missing(lines[-1] if lines else f"{command[0]} failed")
    return done.stdout


def tools(script):
    """Missing with what a script of Scripts/ says if the tools of its language are not there."""
    done = subprocess.run([ROOT / "Scripts" / script, "--tools"], capture_output=True, text=True)
    if done.returncode:
        raise Missing((done.stdout + done.stderr).strip().removeprefix("skipped: "))


LINE = re.compile(r"^(?P<name>\w+(?: int)?) +(?P<ours>[\d.]+) (?P<unit>ns|µs|ms)"
                  r"(?:  (?P<peer>[\w:-]+) +(?P<theirs>[\d.]+) (?:ns|µs|ms))?")


def lines_of(text):
    """The operations in the output of the benches of Go, Rust and Node."""
    found = {}
    for line in text.splitlines():
        match = LINE.match(line)
        if match and match["name"] in WHAT:
            unit = UNITS[match["unit"]]
            theirs = float(match["theirs"]) * unit if match["theirs"] else None
            found[match["name"]] = Found(float(match["ours"]) * unit, theirs)
    # Batches are compared with single inserts of the other package.
    if "batches" in found:
        found["batches"].theirs = found["insert"].theirs
    return found


def node(rows, rounds):
    tools("node.sh")
    run([ROOT / "Scripts/node.sh", "build"])
    text = run(["node", "--no-warnings", "bindings/node/bench.mjs", str(rows), str(rounds)])
    found = lines_of(text)
    return f"Node {run(['node', '--version']).strip()}", "node:sqlite", found


JAVA = {"insert, one call each, with commit": "insert", "insert, createAll, with commit": "batches",
        "look-up by primary key, and the name": "lookup", "loop, two properties, records": "iterate",
        "one int of a live object": "one int"}


def java(rows, rounds):
    tools("jvm.sh")
    text = run([ROOT / "Scripts/jvm.sh", "bench", str(rows), str(rounds)])
    found = {}
    for line in text.splitlines():
        match = re.match(r"^(.+?) +(\d+) ns(?: +sqlite-jdbc +(\d+) ns)?", line)
        if match and match[1] in JAVA:
            found[JAVA[match[1]]] = Found(float(match[2]), float(match[3]) if match[3] else None)
    version = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr.split('"')[1]
    return f"Java {version}", "sqlite-jdbc", found


def go(rows, rounds):
    tools("go.sh")
    peers = [os.environ.get("GO_SQLITE3"), "/usr/share/gocode/src/github.com/mattn/go-sqlite3"]
    peer = next((folder for folder in peers if folder and pathlib.Path(folder).is_dir()), None)
    if not peer:
        raise Missing("the source of go-sqlite3 is not there (golang-github-mattn-go-sqlite3-dev, or GO_SQLITE3)")
    folder = pathlib.Path(os.environ["CREALM_LIBRARY"]).parent
    environment = {**os.environ, "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod", "CGO_ENABLED": "1",
                   "CGO_CFLAGS": "-O2", "CGO_LDFLAGS": f"-L{folder}", "LD_LIBRARY_PATH": str(folder)}
    with tempfile.TemporaryDirectory() as copy:
        for name in ("main.go", "go.mod"):
            shutil.copy(ROOT / "bindings/go/bench" / name, copy)
        # Debian's package has no go.mod: a copy gets one.
        sqlite = pathlib.Path(copy, "go-sqlite3")
        shutil.copytree(peer, sqlite, ignore=shutil.ignore_patterns("_example", "*_test.go"))
        if not (sqlite / "go.mod").exists():
            (sqlite / "go.mod").write_text("module github.com/mattn/go-sqlite3\n\ngo 1.18\n")
        replaced = [f"-replace=crealm={ROOT / 'bindings/go'}", f"-replace=github.com/mattn/go-sqlite3={sqlite}"]
        run(["go", "mod", "edit", *replaced], cwd=copy, env=environment)
        run(["go", "build", "-o", "bench", "."], cwd=copy, env=environment)
        text = run([f"{copy}/bench", str(rows), str(rounds)], cwd=copy, env=environment)
    version = run(["go", "env", "GOVERSION"], env=environment).strip().removeprefix("go")
    return f"Go {version}", "go-sqlite3", lines_of(text)


def rust(rows, rounds):
    tools("rust.sh")
    folder = pathlib.Path(os.environ["CREALM_LIBRARY"]).parent
    environment = {**os.environ, "CARGO_TARGET_DIR": str(BUILD / "rust"), "LD_LIBRARY_PATH": str(folder)}
    build = ["cargo", "build", "--release", "--quiet"]
    debian = pathlib.Path("/usr/share/cargo/registry")
    with tempfile.TemporaryDirectory() as home:
        if list(debian.glob("rusqlite-*")):
            environment["CARGO_HOME"] = home
            build += ["--offline", "--config", 'source.crates-io.replace-with="debian"',
                      "--config", f'source.debian.directory="{debian}"']
        run(build, cwd=ROOT / "bindings/rust/bench", env=environment)
    text = run([BUILD / "rust/release/crealm-bench", str(rows), str(rounds)], env=environment)
    return f"Rust {run(['rustc', '--version']).split()[1]}", "rusqlite", lines_of(text)


def cell(language, name, found):
    """An operation as text: its time, the ratio, and the goal."""
    if found is None:
        return ""
    text = f"{found.ours:.0f} ns" if found.ours < 10_000 else f"{found.ours / 1000:.0f} µs"
    goal = GOALS[language].get(name)
    if found.ratio is not None:
        text += f", **{found.ratio:.2f} ×**"
        return f"{text} (≥ {goal})" if goal else text
    return f"{text} (≤ {goal} ns)" if goal and name == "one int" else text


def table(measured):
    heads = " | ".join(f"{title}, beside {peer}" for title, peer, _ in measured.values())
    lines = [f"| | {heads} |", "| --- |" + " ---: |" * len(measured)]
    for name, what in WHAT.items():
        cells = [cell(language, name, found.get(name)) for language, (_, _, found) in measured.items()]
        if any(cells):
            lines.append(f"| {what} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def page(text, missing, rows, rounds):
    left_out = "".join(f"- {language} was not measured: {reason}.\n" for language, reason in missing.items())
    return f"""# Benchmarks of the languages

This page is for people who choose a package by its speed. `make bench-languages` measures the packages whose tools are
installed, each beside the SQLite package of its language, in one process and in alternating rounds. `KEEP=1` writes
this page.

{text}

- A cell has the time of this library's package, how often it is as fast as the other one, and the goal in brackets.
- {rows:,} objects of a class with a primary key, a text and an integer; medians of {rounds} rounds.
- Inserts are one write transaction with its commit, which is on the disk at the end. SQLite uses its write-ahead log
  and `synchronous=FULL`. Batches are compared with single inserts of the other package.
- Measured on {platform.machine()} with {os.cpu_count()} cores, at a load of {os.getloadavg()[0]:.1f}: ratios of one
  column can be compared, times of different machines cannot.
{left_out}"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="?", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    library = pathlib.Path(os.environ.get("CREALM_LIBRARY", ROOT / ".build/release/libCRealm.so")).resolve()
    if not library.exists():
        parser.error("needed: the library (make lib), or CREALM_LIBRARY")
    os.environ["CREALM_LIBRARY"] = str(library)
    measured, missing = {}, {}
    for language, bench in {"Node": node, "Java": java, "Go": go, "Rust": rust}.items():
        try:
            measured[language] = bench(given.rows, given.rounds)
            print(f"measured: {language}", flush=True)
        except Missing as reason:
            missing[language] = str(reason).rstrip(".")
            print(f"skipped: {language} ({reason})", flush=True)
    if not measured:
        print("no language could be measured")
        return 1
    print(text := table(measured))
    if given.keep:
        PAGE.write_text(page(text, missing, given.rows, given.rounds), encoding="utf-8")
        print(f"{PAGE.relative_to(ROOT)} has the table")
    return 0


if __name__ == "__main__":
    sys.exit(main())
