"""query: prints the objects that a query finds, as a table, JSON, NDJSON or CSV."""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from typing import Any, Iterator, Optional, Tuple

from ..database import Database
from ..errors import DataError
from ..objects import Table
from .csv_files import write_table
from .exact import Exact
from .json_files import plain_object
from .options import DONE, Commands
from .output import WIDTH, json_text, print_table, printable
from .show import cell

# "sort" and "limit" after the condition, in plain words. SORT(…) and LIMIT(…) of the query language work as well.
_SORT = re.compile(r"(?:^|\s)sort\s+([\w.]+(?:\s+(?:asc|desc))?(?:\s*,\s*[\w.]+(?:\s+(?:asc|desc))?)*)\s*$", re.IGNORECASE)
_EXACT = Exact()
_LIMIT = re.compile(r"(?:^|\s)limit\s+(\d+)\s*$", re.IGNORECASE)


def add(commands: Commands) -> None:
    command = commands.reader("query", run, "print the objects that meet a query")
    command.add_argument(
        "query", metavar="QUERY", help="CLASS [where CONDITION] [sort PROPERTY [desc], …] [limit N], the condition in Realm's query language")
    form = command.add_mutually_exclusive_group()
    for name, what in (
        ("table", "aligned columns (the default)"), ("json", "an array"), ("ndjson", "an object on each line"), ("csv", "comma-separated values"),
        ("count", "only how many there are")):
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, help=what)
    command.add_argument("--explain", action="store_true", help="print the query as the engine understood it and how it finds the objects, and nothing else")
    command.set_defaults(form="table")


def run(db: Database, options: argparse.Namespace) -> int:
    found, name = _found(db, options.query)
    if options.explain:
        print(printable(str(found.explain())))
        return DONE
    _FORMS[options.form](db[name], found)
    return DONE


def _found(db: Database, text: str) -> Tuple[Any, str]:
    name, rest = _class_of(db, text.strip())
    limit, rest = _taken(_LIMIT, rest)
    sort, rest = _taken(_SORT, rest)
    rest = rest.strip()
    condition = re.sub(r"^where\b", "", rest, flags=re.IGNORECASE).strip()
    if rest and not condition:
        raise DataError(f"No condition stands behind {rest!r}", hint="Without a condition: the name of the class alone.")
    found: Any = db[name]
    if condition:
        found = found.where(condition)
    if sort is not None:
        found = found.sort(*(_sort_key(part) for part in sort.split(",")))
    if limit is not None:
        found = found.limit(int(limit[-18:]) if len(limit.lstrip("0")) <= 18 else 10**18)  # int() refuses texts of thousands of digits.
    return found, name


def _class_of(db: Database, text: str) -> Tuple[str, str]:
    """The class at the beginning of the text (the longest name that fits), and the rest of the text."""
    for name in sorted(db.classes, key=len, reverse=True):
        if text == name or text.startswith(name) and text[len(name)].isspace():
            return name, text[len(name) :]
    words = text.split(None, 1)
    raise DataError(f"No class is called {words[0] if words else ''!r}; the file has {', '.join(db.classes) or 'none'}")


def _taken(pattern: "re.Pattern[str]", text: str) -> Tuple[Optional[str], str]:
    """The match of the pattern at the end of the text, if it is outside of quotes, and the text without it."""
    match = pattern.search(text)
    if match is None or any(text.count(quote, 0, match.start()) % 2 for quote in "'\""):
        return None, text
    return match.group(1), text[: match.start()]


def _sort_key(text: str) -> str:
    path, *order = text.split()
    return ("-" if order and order[0].lower() == "desc" else "") + path


def _print_table(table: Table[Any], found: Any) -> None:
    properties = list(table.schema.properties)
    rows = [["#", *properties]]
    rows += [[str(obj.object_key), *(cell(obj, name) for name in properties)] for obj in found]
    print_table(rows, width=WIDTH)


def _lines(found: Any) -> Iterator[str]:
    return (json_text(plain_object(obj, _EXACT)) for obj in found)


def _print_array(table: Table[Any], found: Any) -> None:
    sys.stdout.write("[")
    for number, line in enumerate(_lines(found)):
        sys.stdout.write((",\n " if number else "\n ") + line)
    sys.stdout.write("\n]\n")


def _print_lines(table: Table[Any], found: Any) -> None:
    for line in _lines(found):
        print(line)


def _print_csv(table: Table[Any], found: Any) -> None:
    write_table(sys.stdout, table, found, _EXACT, Counter())


def _print_count(table: Table[Any], found: Any) -> None:
    print(len(found))


_FORMS = {"table": _print_table, "json": _print_array, "ndjson": _print_lines, "csv": _print_csv, "count": _print_count}
