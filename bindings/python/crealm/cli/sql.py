"""sql: prints the rows of a SQL statement, as a table, CSV, JSON or NDJSON."""

from __future__ import annotations

import argparse
import base64
import math
import sys
from collections import Counter
from typing import Any, Dict, Iterator

from ..database import Database
from ..sql import ENGINES, SqlResult
from .csv_files import write_lines
from .options import DONE, Commands
from .output import WIDTH, json_text, print_table, printable
from .show import text_of


def add(commands: Commands) -> None:
    command = commands.reader("sql", run, "print the rows of a SQL statement that reads; classes are its tables")
    command.add_argument("query", metavar="STATEMENT", help="such as 'SELECT city, count(*) FROM Person GROUP BY city'")
    command.add_argument(
        "--format", choices=list(_FORMS), default="table", help="the form of the rows; the default is table")
    command.add_argument(
        "--engine", choices=ENGINES,
        help="which engine runs the statement; the default is the first one that is installed")


def run(db: Database, options: argparse.Namespace) -> int:
    _FORMS[options.format](db.sql(options.query, engine=options.engine))
    return DONE


def _print_table(found: SqlResult) -> None:
    rows = ([text_of(value) for value in row] for row in found)
    print_table([list(map(printable, found.columns)), *rows], width=WIDTH)


def _print_csv(found: SqlResult) -> None:
    rows = [found.columns, *([_csv_text(value) for value in row] for row in found)]
    write_lines(sys.stdout, rows, Counter())


def _print_json(found: SqlResult) -> None:
    sys.stdout.write("[")
    for number, row in enumerate(_objects(found)):
        sys.stdout.write((",\n " if number else "\n ") + json_text(row))
    sys.stdout.write("\n]\n")


def _print_lines(found: SqlResult) -> None:
    for row in _objects(found):
        print(json_text(row))


def _objects(found: SqlResult) -> Iterator[Dict[str, Any]]:
    return ({name: _json_value(value) for name, value in row.items()} for row in found.to_dicts())


def _csv_text(value: Any) -> str:
    """The text of a field; empty for null."""
    if value is None:
        return ""
    plain = _json_value(value)
    return plain if isinstance(plain, str) else json_text(plain)


def _json_value(value: Any) -> Any:
    """A value of a row for JSON: bytes as base64, decimals as texts."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, dict):
        return {str(key): _json_value(element) for key, element in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(element) for element in value]
    return str(value)


_FORMS = {"table": _print_table, "csv": _print_csv, "json": _print_json, "ndjson": _print_lines}
