#!/usr/bin/env python3
"""Prints the sizes of the library's parts, by kind of symbol and by section.   library_size.py LIBRARY.so

The library must have its symbols (.build/release/libCRealm.so). Prints tables for docs/library-size.md."""

import collections
import re
import subprocess
import sys
import tempfile


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def kind(name, letter):
    """The group of a symbol by its mangled name."""
    engine = "10CoreEngine" in name
    if engine and re.search(r"T[gG][0-9q]|T[fB]|Tg", name):
        return "engine: specialised generic code and closures"
    if re.match(r"\$sS?10CoreEngine", name):
        return "engine: functions" if letter in "tT" else "engine: metadata and tables"
    if name.startswith(("$s6CRealm", "realm_", "crealm_")):
        return "C layer"
    if "unicode" in name.lower() or "_swift_stdlib" in name:
        return "Unicode tables of the standard library"
    if name.startswith(("$ss", "$sS", "$s15Synchronization")):
        return "Swift standard library"
    if "swift" in name:
        return "Swift runtime"
    if letter in "bB":
        return None  # Takes no bytes of the file.
    return "other"


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    library = sys.argv[1]
    sizes, counts, seen = collections.Counter(), collections.Counter(), set()
    for line in output("nm", "-S", "--defined-only", library).splitlines():
        parts = line.split()
        if len(parts) != 4 or parts[0] in seen:
            continue
        seen.add(parts[0])
        group = kind(parts[3], parts[2])
        if group:
            sizes[group] += int(parts[1], 16)
            counts[group] += 1
    print("| Symbols | number | MB |\n| --- | ---: | ---: |")
    for group, size in sizes.most_common():
        print(f"| {group} | {counts[group]:,} | {size / 1e6:.2f} |")
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["strip", "-o", stripped.name, library], check=True)
        total = len(stripped.read())
        sections = [
            line.split()[:2] for line in output("size", "-A", stripped.name).splitlines()[2:] if len(line.split()) == 3
        ]
    print("\n| Section | MB |\n| --- | ---: |")
    for name, size in sorted(sections, key=lambda section: -int(section[1])):
        if int(size) > 50_000 and name != ".bss":
            print(f"| `{name}` | {int(size) / 1e6:.2f} |")
    print(f"\nStripped: {total / 1e6:.2f} MB.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
