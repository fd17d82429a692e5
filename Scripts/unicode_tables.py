#!/usr/bin/env python3
"""Writes Sources/CoreEngine/Scan/UnicodeTables.swift: how characters decompose and fold, from the Unicode data.

    unicode_tables.py           needs the package unicodedata2 (PyPI), which has the data of the newest version
    unicode_tables.py --check   exit status 1 if the file has other tables than those of the version that it names

Python's own tables fold the cases: letters that are newer than them do not fold.
"""

import pathlib
import sys
import unicodedata

PLACE = pathlib.Path(__file__).resolve().parent.parent / "Sources/CoreEngine/Scan/UnicodeTables.swift"
HANGUL = range(0xAC00, 0xD7A4)  # Decomposed by arithmetic.


def scalars():
    return (number for number in range(0x110000) if not 0xD800 <= number < 0xE000 and number not in HANGUL)


def decompositions(data):
    for number in scalars():
        whole = data.normalize("NFD", chr(number))
        if whole != chr(number):
            yield number, [ord(part) for part in whole]


def foldings(data):
    """Of characters that do not decompose."""
    for number in scalars():
        letter = chr(number)
        if data.normalize("NFD", letter) != letter:
            continue
        folded = data.normalize("NFD", letter.casefold())
        if folded != letter:
            yield number, [ord(part) for part in folded]


def classes(data):
    """Combining classes other than 0, as ranges: first, last, class."""
    first = last = kind = None
    for number in [*range(0x110000), 0x110000]:
        found = data.combining(chr(number)) if number < 0x110000 else 0
        if found == kind and last == number - 1:
            last = number
            continue
        if kind:
            yield first, last, kind
        first = last = number
        kind = found


def lines(rows):
    """Rows of hexadecimal numbers, as many in a line as fit."""
    line = ""
    for row in rows:
        text = " ".join(f"{number:x}" for number in row)
        if len(line) + len(text) + 1 > 108:
            yield line
            line = ""
        line += text + ","
    yield line


def table(name, comment, rows):
    body = "\n".join(f"        {line}\\" for line in lines(rows))
    return f'    /// {comment}\n    static let {name}: StaticString = """\n{body[:-1]}\n        """\n'


def made(data):
    parts = [
        table("decompositions", "A character, and its full canonical decomposition.",
              ((number, *parts) for number, parts in decompositions(data))),
        table("foldings", "A character that does not decompose, and its full case folding, decomposed.",
              ((number, *parts) for number, parts in foldings(data))),
        table("classes", "The first and last character of a range, and their canonical combining class.", classes(data)),
    ]
    return (
        "/// Tables of the Unicode data, written by `Scripts/unicode_tables.py`: rows of hexadecimal numbers, each with a\n"
        "/// comma behind.\n"
        "enum UnicodeTables {\n"
        f'    /// The version of the data.\n    static let version = "{data.unidata_version}"\n\n' + "\n".join(parts) + "}\n"
    )


def main():
    try:
        import unicodedata2 as data
    except ImportError:
        data = unicodedata
    text = made(data)
    if "--check" not in sys.argv:
        PLACE.write_text(text)
        return 0
    before = PLACE.read_text()
    if f'version = "{data.unidata_version}"' not in before:
        print(f"not checked: the tables have another version than {data.unidata_version}")
        return 0
    return before != text


if __name__ == "__main__":
    sys.exit(main())
