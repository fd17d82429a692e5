#!/usr/bin/env python3
"""Checks that the sections, files and scenarios that sources and documents refer to exist.

  check_documents.py     from the root of the sources; one line for each fault

1. A section that a comment names, "storage §3.5" or "query-language §6", is in that document: as a heading that begins with the number, or,
   for its last part, as an item of that number in a list of the section ("logical §10.6", "storage §1.4.2").
2. A link from one document to a file of the repository leads to a file.
3. Each observed scenario, a row of section 11 of live-objects, is named by number in a test, or in the table of
   docs/testing.md beside functions that exist in the named tests.
4. A path in backticks that begins at the root of the sources, `docs/security.md`, exists; a star or dots in it match
   any text.
"""

import pathlib
import re
import subprocess
import sys

DOCUMENTS = {
    "storage": "docs/format/storage.md", "logical": "docs/format/logical.md", "old-formats": "docs/format/old-formats.md",
    "live-objects": "docs/live-objects.md", "query-language": "docs/query-language.md", "security": "docs/security.md",
}
PATH = re.compile(r"`((?:Benchmarks|Scripts|Sources|Tests|bindings|docs|examples|include)/[\w./+-]+)[` ]")
NAMED = re.compile(r"\b(" + "|".join(DOCUMENTS) + r")(?:\.md)?((?:(?:,| and|–|-| to)? ?§ ?\d+(?:\.\d+)*)+)")


def sections(text):
    """The text under each numbered heading, up to the next heading of the same or a higher level."""
    found = {}
    headings = [(m.start(), len(m.group(1)), m.group(2)) for m in re.finditer(r"^(#+) (?:(\d+(?:\.\d+)*)\.? )?", text, re.M)]
    for i, (start, level, number) in enumerate(headings):
        end = next((s for s, other, _ in headings[i + 1:] if other <= level), len(text))
        if number:
            found[number] = text[start:end]
    return found


def has(found, number):
    if number in found:
        return True
    section, _, item = number.rpartition(".")
    return section in found and re.search(rf"^ *(?:\| *)?{item}(?:\.| \|) ?", found[section], re.M) is not None


def scenarios(section):
    """The rows of a section that no test names, and the named tests that do not exist."""
    def test(name):
        return pathlib.Path("Tests/C", name).read_text()

    faults, tabled = [], set()
    for rows, tests in re.findall(r"^\| ((?:[RTM]\d+(?:, )?)+) \| (.*) \|$", pathlib.Path("docs/testing.md").read_text(), re.M):
        rows = rows.split(", ")
        tabled.update(rows)
        for file, functions in re.findall(r"`(\w+\.c)`(?:: ((?:`\w+`(?:, )?)+))?", tests):
            wanted = [f"{name}(" for name in re.findall(r"`(\w+)`", functions)] or [f'"{row}: ' for row in rows]
            faults += [f"docs/testing.md: {file} has no {one.strip()}" for one in wanted if one not in test(file)]
    named = "".join(test(f"{name}_test.c") for name in ("notifications", "watch", "async", "schema"))
    for row in re.findall(r"^\| ([A-Z]\d+[a-z]?) \|", section, re.M):
        if row not in tabled and not re.search(rf"(?<![A-Za-z0-9_\[]){row}(?![0-9A-Za-z_])", named):
            faults.append(f"docs/live-objects.md: no test has scenario {row}")
    return faults


def main():
    documents = {name: sections(pathlib.Path(path).read_text()) for name, path in DOCUMENTS.items()}
    faults = scenarios(documents["live-objects"]["11"])
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True, check=True).stdout.split("\n")
    count = 0
    for name in files:
        if not name.endswith((".swift", ".h", ".c", ".cpp", ".py", ".sh", ".md")) or not pathlib.Path(name).is_file():
            continue
        text = pathlib.Path(name).read_text()
        for m in NAMED.finditer(text):
            for number in re.findall(r"\d+(?:\.\d+)*", m.group(2)):
                count += 1
                if not has(documents[m.group(1)], number):
                    line = text.count("\n", 0, m.start()) + 1
                    faults.append(f"{name}:{line}: {DOCUMENTS[m.group(1)]} has no section {number}")
        if name.endswith(".md"):
            for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
                if "://" not in link and not (pathlib.Path(name).parent / link).exists():
                    faults.append(f"{name}: leads to {link}, which is not there")
            faults += [f"{name}: names {path}, which is not there" for path in PATH.findall(text) if not pathlib.Path(path).exists()]
    for fault in faults:
        print(fault)
    if not count:
        print("no comment names a section: this check looks in vain")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
