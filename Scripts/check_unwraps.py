#!/usr/bin/env python3
"""Forced unwraps (`!`) in the Swift sources: each would end the host program.   check_unwraps.py [FILE…]

Without files: all of Sources. An unwrap is a `!` after a name, `)`, `]` or `>`. Exit status 1 when one is found. The
check first tests itself on samples with known faults."""

import re
import sys
from pathlib import Path

from swift_lines import code_lines

ROOT = Path(__file__).resolve().parent.parent
UNWRAP = re.compile(r"[\w)\]>]!(?![=\w])")


def unwraps(text):
    """The numbers of the lines with forced unwraps."""
    return (number for number, code in code_lines(text) if UNWRAP.search(code))


def main():
    for planted, is_fault in (
        ("let a = b!", True),
        ("f(c[0]!.d)", True),
        ("var a: Int!", True),
        ("if a != b { }", False),
        ('print("no!")', False),
        ("// so it is!", False),
        ("if !a { }", False),
    ):
        if bool(list(unwraps(planted))) != is_fault:
            print(f"the check is wrong about: {planted}")
            return 1
    files = [Path(name) for name in sys.argv[1:]] or sorted((ROOT / "Sources").rglob("*.swift"))
    found = [f"{file}:{number}" for file in files for number in unwraps(file.read_text())]
    if found:
        print("\n".join(found))
    return int(bool(found))


sys.exit(main())
