"""export: the objects of a file as JSON, NDJSON, CSV or SQLite. What a format cannot carry is told at the end."""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import shutil
import sqlite3
import sys
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, TextIO, Tuple

from .._json import jsonable
from ..collections import Dictionary, List as RealmList, SetView
from ..database import Database
from ..errors import DataError, FileExists
from ..objects import Object, Table
from ..schema import Prop
from .schema import type_name

_ENDINGS = {".json": "json", ".ndjson": "ndjson", ".jsonl": "ndjson", ".csv": "csv", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite"}


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("out", metavar="OUT", help="file to make; a folder for CSV of several classes; - for the standard output (JSON, NDJSON)")
    command.add_argument("--format", choices=["json", "ndjson", "csv", "sqlite"], help="default: what the ending of OUT says")
    command.add_argument("--class", dest="classes", action="append", metavar="NAME", help="only this class; may be given several times")


def run(db: Database, options: argparse.Namespace) -> int:
    kind = options.format or _ENDINGS.get(os.path.splitext(options.out)[1].lower())
    if kind is None:
        raise DataError(f"The ending of {options.out!r} says no format: --format json, ndjson, csv or sqlite")
    if options.out == "-" and kind not in ("json", "ndjson"):
        raise DataError(f"{kind} cannot be written to the standard output")
    if options.out != "-" and os.path.lexists(options.out):
        raise FileExists(f"{options.out} is there already")
    tables = [db[name] for name in options.classes or db.classes]
    flat = Flat(table.name for table in tables)
    try:
        _WRITERS[kind](options.out, tables, flat)
    except BaseException:
        _remove(options.out)
        raise
    for what, count in sorted(flat.lost.items()):
        print(f"crealm: {kind} cannot carry {what}: {count:,}", file=sys.stderr)
    return 0


def _remove(out: str) -> None:
    """What was written of an export that failed; it was not there before."""
    if out == "-":
        return
    if os.path.isdir(out):
        shutil.rmtree(out, ignore_errors=True)
    else:
        with suppress(OSError):
            os.remove(out)


class Flat:
    """Values as texts, numbers and bytes, and the count of what did not go in as it was."""

    def __init__(self, classes: Iterable[str] = ()) -> None:
        """classes: those that are exported. Embedded objects of others go where they are embedded."""
        self.lost: Counter[str] = Counter()
        self._classes = frozenset(classes)

    def value(self, value: Any) -> Any:
        """For a column of SQLite. Links become the key of their object; what is in a column of its own class is no loss."""
        if isinstance(value, Object):
            return self.json(value) if self._is_inside(value) else value.object_key
        if isinstance(value, (Dictionary, RealmList, SetView)):
            return self.json(value)
        if isinstance(value, float) and not math.isfinite(value):
            if math.isnan(value):
                self.lost["NaN (it is NULL there)"] += 1
            return float(value)
        return bytes(value) if isinstance(value, (bytes, bytearray)) else jsonable(value)

    def json(self, value: Any) -> str:
        return json.dumps(jsonable(self._plain(value)), ensure_ascii=False)

    def _is_inside(self, value: Object) -> bool:
        return value._is_embedded_object() and value.class_name not in self._classes

    def _plain(self, value: Any) -> Any:
        """Collections and objects as lists and dictionaries; a link as the key and class of its object."""
        if isinstance(value, Object):
            if self._is_inside(value):
                return {name: self._plain(part) for name, part in value._entries()}
            return {"$ref": value.object_key, "$class": value.class_name}
        if isinstance(value, Dictionary):
            return {key: self._plain(element) for key, element in value.items()}
        if isinstance(value, (RealmList, SetView)):
            return [self._plain(element) for element in value]
        return value

    def text(self, value: Any) -> str:
        """For a cell of CSV."""
        if value is None:
            return ""
        if value == "" and isinstance(value, str):
            self.lost["empty texts (they look like null)"] += 1
        if isinstance(value, Object):
            return self.json(value) if self._is_inside(value) else str(value.object_key)
        if isinstance(value, (Dictionary, RealmList, SetView)):
            return self.json(value)
        plain = jsonable(value)
        return plain if isinstance(plain, str) else json.dumps(plain)


# ------------------------------------------------------------------------------------------------
# JSON
# ------------------------------------------------------------------------------------------------


def plain_objects(objects: Iterable[Any]) -> Iterator[Dict[str, Any]]:
    """Each object as JSON takes it, its key first."""
    for obj in objects:
        yield {"$key": obj.object_key, **obj._json_values()}


def _to_text(out: str, write: Callable[[TextIO], None]) -> None:
    if out == "-":
        write(sys.stdout)
        return
    with _new_text(out) as file:
        write(file)


def _new_text(path: Any) -> TextIO:
    return open(path, "x", encoding="utf-8", newline="")


def _write_json(out: str, tables: List[Table[Any]], flat: Flat) -> None:
    def write(file: TextIO) -> None:
        file.write("{")
        for number, table in enumerate(tables):
            file.write(("," if number else "") + "\n" + json.dumps(table.name, ensure_ascii=False) + ": [")
            for row, values in enumerate(plain_objects(table)):
                file.write((",\n " if row else "\n ") + json.dumps(values, ensure_ascii=False))
            file.write("\n]")
        file.write("\n}\n")

    _to_text(out, write)


def _write_ndjson(out: str, tables: List[Table[Any]], flat: Flat) -> None:
    def write(file: TextIO) -> None:
        for table in tables:
            for values in plain_objects(table):
                file.write(json.dumps({"$class": table.name, **values}, ensure_ascii=False) + "\n")

    _to_text(out, write)


# ------------------------------------------------------------------------------------------------
# CSV
# ------------------------------------------------------------------------------------------------


def write_csv(file: TextIO, table: Table[Any], objects: Any, flat: Flat) -> None:
    """A header, then a line for each object; its key first."""
    properties = list(table.schema.properties)
    lines = csv.writer(file)
    lines.writerow(["$key", *properties])
    for obj in objects:
        lines.writerow([str(obj.object_key), *(flat.text(obj[name]) for name in properties)])


def _write_csv(out: str, tables: List[Table[Any]], flat: Flat) -> None:
    """One file for one class, else a folder with a file for each."""
    if len(tables) == 1 and out.lower().endswith(".csv"):
        with _new_text(out) as file:
            write_csv(file, tables[0], tables[0], flat)
        return
    os.mkdir(out)
    for table in tables:
        with _new_text(Path(out) / f"{_file_name(table.name)}.csv") as file:
            write_csv(file, table, table, flat)


def _file_name(name: str) -> str:
    """Without what a path or a shell would take for something else."""
    return "".join(ch if ch.isalnum() or ch in "-_ " else f"%{ord(ch):02x}" for ch in name)


# ------------------------------------------------------------------------------------------------
# SQLite
# ------------------------------------------------------------------------------------------------

_COLUMN_TYPES = {"int": "INTEGER", "bool": "INTEGER", "float": "REAL", "Float32": "REAL", "bytes": "BLOB", "Any": ""}
_PLACES = {"list": ('"$index" INTEGER NOT NULL, ', ', PRIMARY KEY ("$owner", "$index")'),
           "dict": ('"$name" TEXT NOT NULL, ', ', PRIMARY KEY ("$owner", "$name")'), "set": ("", "")}  # fmt: skip


class _Names:
    """Names of tables, or of the columns of one: SQLite takes those for equal that differ in case, and keeps some to itself."""

    def __init__(self, flat: Flat, *taken: str) -> None:
        self._flat, self._taken = flat, {name.lower() for name in taken}
        self._names: Dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._names:
            text = f"_{name}" if name.lower().startswith("sqlite_") else name
            while text.lower() in self._taken:
                text += "_"
            if text != name:
                self._flat.lost[f"the name {name!r} (it is {text!r} there)"] += 1
            self._taken.add(text.lower())
            self._names[name] = text
        return '"' + self._names[name].replace('"', '""') + '"'


class _Sheet:
    """A class and its tables: one for the objects, one for each property that is a collection."""

    def __init__(self, table: Table[Any], names: _Names, flat: Flat) -> None:
        self.table, self.names, self.flat = table, names, flat
        self.columns = _Names(flat, "$key")
        properties = table.schema.properties
        self.single = [name for name, prop in properties.items() if prop.collection is None]
        self.many = [name for name, prop in properties.items() if prop.collection is not None]

    def _of(self, name: str) -> str:
        return self.names[f"{self.table.name}.{name}"]

    def declare(self, classes: Any) -> Iterator[str]:
        schema = self.table.schema
        columns = ['"$key" INTEGER PRIMARY KEY']
        for name in self.single:
            unique = " UNIQUE" if name == schema.primary_key else ""
            columns.append(f"{self.columns[name]} {self._type(schema.properties[name], classes)}{unique}")
        yield f"CREATE TABLE {self.names[self.table.name]} ({', '.join(columns)})"
        for name in self.many:
            prop = schema.properties[name]
            place, key = _PLACES[str(prop.collection)]
            owner = f'"$owner" INTEGER NOT NULL REFERENCES {self.names[self.table.name]}'
            yield f'CREATE TABLE {self._of(name)} ({owner}, {place}"value" {self._type(prop, classes)}{key})'

    def _type(self, prop: Prop, classes: Any) -> str:
        """The type of a column, with what it refers to where that is exported, too."""
        if prop.is_link:
            return "INTEGER" + (f" REFERENCES {self.names[prop.type]}" if prop.type in classes else "")
        return _COLUMN_TYPES.get(type_name(prop), "TEXT")

    def fill(self, file: sqlite3.Connection) -> None:
        def insert(into: str, width: int, rows: Iterator[Tuple[Any, ...]]) -> None:
            file.executemany(f"INSERT INTO {into} VALUES ({', '.join('?' * width)})", rows)

        rows = ((obj.object_key, *(self.flat.value(obj[name]) for name in self.single)) for obj in self.table)
        insert(self.names[self.table.name], len(self.single) + 1, rows)
        for name in self.many:
            kind = str(self.table.schema.properties[name].collection)
            elements = (row for obj in self.table for row in _elements(obj.object_key, obj[name], kind, self.flat))
            insert(self._of(name), 2 if kind == "set" else 3, elements)


def _elements(owner: int, values: Any, kind: str, flat: Flat) -> Iterator[Tuple[Any, ...]]:
    if kind == "dict":
        yield from ((owner, key, flat.value(value)) for key, value in values.items())
    elif kind == "list":
        yield from ((owner, index, flat.value(value)) for index, value in enumerate(values))
    else:
        yield from ((owner, flat.value(value)) for value in values)


def _write_sqlite(out: str, tables: List[Table[Any]], flat: Flat) -> None:
    names = _Names(flat)
    classes = {table.name for table in tables}
    # First the classes: it is their names that people look for.
    for table in tables:
        names[table.name]
    sheets = [_Sheet(table, names, flat) for table in tables]
    try:
        with closing(sqlite3.connect(out)) as file:
            file.execute("PRAGMA journal_mode=OFF")
            file.execute("BEGIN")
            for sheet in sheets:
                for statement in sheet.declare(classes):
                    file.execute(statement)
            for sheet in sheets:
                sheet.fill(file)
            file.commit()
    except sqlite3.Error as error:
        raise DataError(f"SQLite refuses it: {error}") from error


_WRITERS = {"json": _write_json, "ndjson": _write_ndjson, "csv": _write_csv, "sqlite": _write_sqlite}
