#!/usr/bin/env python3
"""Writes the Python package's and the Browser's lists of the words of the query language, from the engine's table
(`Sources/CoreEngine/Language/Words.swift`).   words.py [--check]

--check: writes nothing; exit status 1 when a list differs from the table, or when the Browser's code has a word in
upper case that is not in the table. `WordsTests.swift` compares what this script reads with what the engine has."""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = "Sources/CoreEngine/Language/Words.swift"
PYTHON = "bindings/python/crealm/_words.py"
BROWSER = "bindings/python/crealm/browse/static/words.js"
CODE = "bindings/python/crealm/browse/static/query.js"
ORIGIN = f"`make words` wrote this from {TABLE}."


def rows(text):
    """The table's rows: word in lower case, kind, role, and whether it ignores case when told to."""
    row = r'^ +QueryWord\("([^"]+)", \.(\w+), \.(\w+)(?:, hasOneCase: true)?\),$'
    found = [(*fields, False) for fields in re.findall(row, text, re.M)]
    spelled = dict(re.findall(r'^    case (\w+) = "([A-Z]+)"$', text, re.M))
    for op, rule in re.findall(r"^        case \.(\w+): StringRule\((.*)\)$", text, re.M):
        folds = re.search(r"folds: (\[.*?\]|\.\w+)", rule)
        aliases = re.search(r"aliases: \[(.*?)\]", rule)
        words = [spelled[op], *re.findall(r'"(\w+)"', aliases[1] if aliases else "")]
        found += [(word.lower(), op, "stringOperator", not folds or "cases" in folds[1]) for word in words]
    return found


def is_keyword(word):
    return word[0].isalpha()


def python(table):
    words = sorted({word for word, *_ in table if is_keyword(word)})
    usual = {}
    directions = []
    for word, kind, role, _ in table:
        if role == "direction":
            directions.append(f'    "{word}": "{usual.setdefault(kind, word).upper()}",')
    clauses = [word for word, _, role, _ in table if role in ("ordering", "limit")]
    lines = "".join(f'        "{word}",\n' for word in words)
    return (
        f'"""The words of the query language. {ORIGIN}"""\n\n'
        "# Words that the language reserves: a property with such a name cannot be written as a plain name.\n"
        f"KEYWORDS = frozenset(\n    (\n{lines}    )\n)\n"
        "# The words of an order, and their usual spellings.\n"
        "DIRECTIONS = {\n" + "\n".join(directions) + "\n}\n"
        "# The words that begin a clause behind a condition.\n"
        f"CLAUSES = ({', '.join(json.dumps(word) for word in clauses)})\n"
    )


def browser(table):
    usual, others, kinds, folding = {}, {}, set(), []
    for word, kind, role, folds in table:
        spelled = word if word.startswith("@") else word.upper()
        # Of words with one meaning the first is the usual one, but both `@count` and `@size` are usual.
        is_usual = word.startswith("@") or kind not in kinds
        (usual if is_usual else others).setdefault(role, []).append(spelled)
        if folds and is_usual:
            folding.append(spelled)
        kinds.add(kind)

    def lines(words):
        return "".join(f"  {role}: {json.dumps(all_)},\n" for role, all_ in words.items())

    return (
        f"// {ORIGIN}\n\n"
        "// The usual spelling of each word, by its place in a query.\n"
        f"export const WORDS = {{\n{lines(usual)}}};\n"
        "// Other spellings.\n"
        f"export const ALIASES = {{\n{lines(others)}}};\n"
        "// Operators on texts that ignore case with [c].\n"
        f"export const FOLDING = {json.dumps(folding)};\n"
    )


def strange(table, code):
    """Words in upper case in the Browser's code that are none of the language."""
    known = {word.upper() for word, *_ in table}
    return sorted(set(re.findall(r'"([A-Z]{2,})[ ({]*(?:\[c\])? *"', code)) - known)


def main(arguments):
    text = (ROOT / TABLE).read_text()
    table = rows(text)
    if len(table) != text.count("        QueryWord(\"") + text.count(": StringRule(") or len(table) < 50:
        print(f"{TABLE}: a row has another form than Scripts/words.py reads")
        return 1
    written = {PYTHON: python(table), BROWSER: browser(table)}
    if arguments == ["--check"]:
        found = [
            f"{path} differs from the table in {TABLE}: make words"
            for path, wanted in written.items()
            if not (ROOT / path).exists() or (ROOT / path).read_text() != wanted
        ]
        code = (ROOT / CODE).read_text()
        found += [f"{CODE}: {word} is no word of the language" for word in strange(table, code)]
        if strange(table, code + '"SOUNDEX "') == strange(table, code):
            found.append("the check does not find a planted word")
        print("\n".join(found), end="\n" if found else "")
        return int(bool(found))
    for path, wanted in written.items():
        (ROOT / path).write_text(wanted)
    return 0


sys.exit(main(sys.argv[1:]))
