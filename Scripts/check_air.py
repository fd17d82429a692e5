#!/usr/bin/env python3
"""Checks blank lines, long lines and one-letter names of the Swift sources against the limits in CONTRIBUTING.md.

    check_air.py [--table] [--names FILE...]

--table prints the figures of each folder; --names the one-letter bindings of files, with their lines. A binding is a
name that `let`, `var` or `for … in` introduces. Prints 'N passed, M failed'."""

import re
import sys
from pathlib import Path

from swift_lines import code_lines

ROOT = Path(__file__).resolve().parent.parent
LEAST_BLANK, MOST_LONG, MOST_SHORT_NAMES = 0.08, 0.01, 0.08
WIDTH = 120
NAMES = r"(\([^)=]*\)|`?\w+`?(?:\s*,\s*\w+(?=\s*[,:=]))*)"
LOOP = r"\bfor\s+(?:case\s+)?(?:let\s+|var\s+)?(\([^)]*\)|\w+)\s+in\b"
BINDING = re.compile(rf"\b(?:let|var)\s+{NAMES}|{LOOP}")


def bindings(text):
    """Line and name of each binding."""
    for number, line in code_lines(text):
        for found in BINDING.finditer(line):
            for name in re.findall(r"\w+", re.sub(r":\s*[\w.<>\[\]?]+", "", found.group(1) or found.group(2))):
                if name not in ("let", "var", "_"):
                    yield number, name


class Figures:
    """Counts of one or more files."""

    def __init__(self):
        self.lines = self.blank = self.long = self.names = self.short = 0

    def add(self, text):
        lines = text.rstrip("\n").split("\n")
        self.lines += len(lines)
        self.blank += sum(not line.strip() for line in lines)
        self.long += sum(len(line) > WIDTH for line in lines)
        for _, name in bindings(text):
            self.names += 1
            self.short += len(name) == 1

    def row(self, name):
        return (
            f"{name:32} {self.lines:6} lines {self.blank / max(self.lines, 1):6.1%} blank"
            f" {self.long / max(self.lines, 1):6.2%} over {WIDTH}"
            f" {self.short:5} of {self.names:5} names of one letter ({self.short / max(self.names, 1):.1%})"
        )


def main():
    if "--names" in sys.argv:
        for path in sys.argv[sys.argv.index("--names") + 1 :]:
            for number, name in bindings(Path(path).read_text()):
                if len(name) == 1:
                    print(f"{path}:{number}: {name}")
        return 0
    whole, folders = Figures(), {}
    for path in sorted((ROOT / "Sources").rglob("*.swift")):
        text = path.read_text()
        whole.add(text)
        folders.setdefault(str(path.parent.relative_to(ROOT / "Sources")), Figures()).add(text)
    if "--table" in sys.argv:
        for name, figures in folders.items():
            print(figures.row(name))
    print(whole.row("Sources"))
    faults = [
        text
        for bad, text in (
            (whole.blank < LEAST_BLANK * whole.lines, f"less than {LEAST_BLANK:.0%} of the lines are blank"),
            (
                whole.long > MOST_LONG * whole.lines,
                f"more than {MOST_LONG:.0%} of the lines are longer than {WIDTH} characters",
            ),
            (
                whole.short > MOST_SHORT_NAMES * whole.names,
                f"more than {MOST_SHORT_NAMES:.0%} of the bindings have one letter",
            ),
        )
        if bad
    ]
    for fault in faults:
        print(f"  FAIL  {fault}")
    print(f"{3 - len(faults)} passed, {len(faults)} failed")
    return int(bool(faults))


sys.exit(main())
