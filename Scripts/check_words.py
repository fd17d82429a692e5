#!/usr/bin/env python3
"""Compares the copies of the query language's keywords with their table, `Lexer.keywords`. The Python package and the
Browser, which must quote or complete the words, have copies. Exit status 1 when they differ."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEXER = ROOT / "Sources/CoreEngine/Language/Lexer.swift"
PYTHON = ROOT / "bindings/python/crealm/_query.py"
BROWSER = ROOT / "bindings/python/crealm/browse/static/query.js"
# Lower-case words in the Browser's lists that are no keywords.
OTHERS = {"c"}


def table(text):
    """The words of both dictionaries of the lexer."""
    words = set()
    for name in ("anyCase", "oneCase"):
        body = re.search(rf"static let {name}: \[Name: Token\.Kind\] = \[(.*?)\n    \]", text, re.S).group(1)
        words |= set(re.findall(r'"(\w+)":', body))
    return words


def of_python(text):
    return set(
        " ".join(re.findall(r'"([^"]*)"', re.search(r"_WORDS = frozenset\((.*?)\.split", text, re.S).group(1))).split()
    )


def of_browser(text):
    found = set()
    for line in text.splitlines():
        if re.match(r"const (BEGIN|JOIN|COMPARE|TEXTS|OPERATORS|OPENERS)\b", line):
            found |= {word.lower() for word in re.findall(r"[A-Za-z]+", line.split("=", 1)[1].replace("/i;", ""))}
    return found - OTHERS


def differences(lexer, python, browser):
    """A line for each word that is missing or unknown."""
    words = table(lexer)
    # A property may be named like a word of the ordering clause, but Python quotes such names all the same.
    found = [
        f"{PYTHON.name}: {word} is {'missing' if word in words else 'no word of the language'}"
        for word in sorted(words ^ of_python(python))
    ]
    return found + [
        f"{BROWSER.name}: {word} is no word of the language" for word in sorted(of_browser(browser) - words)
    ]


def main():
    texts = [path.read_text() for path in (LEXER, PYTHON, BROWSER)]
    # Self-test: a word planted in each file must be found.
    planted = (
        texts[0].replace('"and": .and', '"and": .and, "matches": .like'),
        texts[1].replace("all and any", "all and any soundex"),
        texts[2].replace('"NOT "', '"NOTT "'),
    )
    if [len(differences(*[planted[i] if i == k else text for i, text in enumerate(texts)])) for k in range(3)] != [
        1,
        1,
        1,
    ]:
        base = [len(differences(*texts))]
        if base == [0]:
            print("the check does not find planted words")
            return 1
    found = differences(*texts)
    if found:
        print("\n".join(found))
    return int(bool(found))


sys.exit(main())
