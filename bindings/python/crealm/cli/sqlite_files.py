"""SQLite: a table for each class, another for each property that is a collection, and foreign keys for links.

Differences between values that SQLite does not store are written beside the values. A property of type Any has an additional column "$type": NULL if
the type in SQLite is that of the value, else "bool", "float" (for NaN, which is NULL), "float32", "decimal", "uuid", "objectId", "datetime",
"json", or "link" and the name of a class. The table "$floats" has the places of numbers that SQLite changes: NaN becomes NULL, −0.0 becomes 0. The
table "$schema" has the schema as JSON, and the names of the tables and columns in SQLite.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections import Counter
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple
from urllib.parse import quote

from .._json import jsonable
from ..collections import Dictionary, List as RealmList, SetView
from ..errors import DataError
from ..objects import Object, Table
from ..schema import Prop
from ..values import Float32, RawTimestamp
from .carrying import Job, Row, Source
from .exact import MARKS, Exact, Reader, Ref, Wanted, all_properties, schema_of_json, type_name
from .output import json_text

_COLUMN_TYPES = {"int": "INTEGER", "bool": "INTEGER", "float": "REAL", "Float32": "REAL", "bytes": "BLOB", "Any": ""}
_PLACES = {"list": ('"$index" INTEGER NOT NULL, ', ', PRIMARY KEY ("$owner", "$index")'),
           "dict": ('"$name" TEXT NOT NULL, ', ', PRIMARY KEY ("$owner", "$name")'), "set": ("", "")}  # fmt: skip


_Place = Tuple[str, str, int]  # A table, a column and a row of SQLite.


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# ------------------------------------------------------------------------------------------------
# Writing
# ------------------------------------------------------------------------------------------------


class _Names:
    """Names of tables, or of the columns of a table. SQLite ignores case in names, and reserves some names."""

    def __init__(self, lost: "Counter[str]", *taken: str) -> None:
        self._lost, self._taken = lost, {name.lower() for name in taken}
        self._names: Dict[str, str] = {}

    def plain(self, name: str) -> str:
        """The name in SQLite for a name of the realm."""
        if name not in self._names:
            self._names[name] = self.ours(name)
            if self._names[name] != name:
                self._lost[f"the name {name!r} (it is {self._names[name]!r} there)"] += 1
        return self._names[name]

    def ours(self, wanted: str) -> str:
        """A name in SQLite for a table or column that has no name in the realm."""
        text = f"_{wanted}" if wanted.lower().startswith("sqlite_") else wanted
        while text.lower() in self._taken:
            text += "_"
        self._taken.add(text.lower())
        return text

    def __getitem__(self, name: str) -> str:
        return _quoted(self.plain(name))


class _Sheet:
    """A class and its tables: one for the objects, one for each property that is a collection."""

    def __init__(self, job: Job, table: Table[Any], names: _Names) -> None:
        self.job, self.table, self.names = job, table, names
        self.columns = _Names(job.lost, "$key")
        self.properties = table.schema.properties
        self.single = [name for name, prop in self.properties.items() if prop.collection is None]
        self.many = [name for name, prop in self.properties.items() if prop.collection is not None]
        # The properties first, so that they keep their names.
        for name in self.single:
            self.columns.plain(name)
        self.types = {name: self.columns.ours(f"{name}$type") for name in self.single if self.properties[name].type is Any}
        self.collections = {name: names.ours(f"{table.name}.{name}") for name in self.many}

    def facts(self) -> Dict[str, Any]:
        """The names of the tables and columns in SQLite."""
        return {
            "table": self.names.plain(self.table.name),
            "columns": {name: self.columns.plain(name) for name in self.single},
            "types": self.types,
            "collections": self.collections,
        }

    def declare(self, classes: Set[str]) -> Iterator[str]:
        columns = ['"$key" INTEGER PRIMARY KEY']
        for name in self.single:
            unique = " UNIQUE" if name == self.table.schema.primary_key else ""
            columns.append(f"{self.columns[name]} {self._type(self.properties[name], classes)}{unique}")
            if name in self.types:
                columns.append(f"{_quoted(self.types[name])} TEXT")
        yield f"CREATE TABLE {self.names[self.table.name]} ({', '.join(columns)})"
        for name in self.many:
            prop = self.properties[name]
            place, key = _PLACES[str(prop.collection)]
            owner = f'"$owner" INTEGER NOT NULL REFERENCES {self.names[self.table.name]}'
            kind = ', "$type" TEXT' if prop.type is Any else ""
            yield f'CREATE TABLE {_quoted(self.collections[name])} ({owner}, {place}"value" {self._type(prop, classes)}{kind}{key})'
            if prop.collection == "set":
                yield f'CREATE INDEX {_quoted(self.names.ours(self.collections[name] + ".$owner"))} ON {_quoted(self.collections[name])} ("$owner")'

    def _type(self, prop: Prop, classes: Set[str]) -> str:
        """The type of a column, with a reference to the table of a link if that is exported, too."""
        if prop.is_link:
            return "INTEGER" + (f" REFERENCES {self.names[prop.type]}" if prop.type in classes else "")
        return _COLUMN_TYPES.get(type_name(prop), "TEXT")

    def fill(self, file: sqlite3.Connection) -> None:
        def insert(into: str, width: int, rows: Iterator[Tuple[Any, ...]]) -> None:
            file.executemany(f"INSERT INTO {into} VALUES ({', '.join('?' * width)})", rows)

        floats = _Floats(self.job.lost, self.names.plain(self.table.name))
        rows = (self._row(obj, floats) for obj in self.job.objects(self.table))
        insert(self.names[self.table.name], 1 + len(self.single) + len(self.types), rows)
        for name in self.many:
            prop = self.properties[name]
            width = 2 + (prop.collection != "set") + (prop.type is Any)
            of_collection = _Floats(self.job.lost, self.collections[name])
            insert(_quoted(self.collections[name]), width, self._elements(name, prop, of_collection))
            floats.places += of_collection.places
        insert('"$floats"', 4, iter(floats.places))

    def _row(self, obj: Object, floats: "_Floats") -> Tuple[Any, ...]:
        cells: List[Any] = [obj.object_key]
        for name in self.single:
            cells += _cells(self.properties[name], obj[name], self.job.apart, floats, (self.columns.plain(name), obj.object_key))
        return tuple(cells)

    def _elements(self, name: str, prop: Prop, floats: "_Floats") -> Iterator[Tuple[Any, ...]]:
        number = 0
        for obj in self.table:
            values = obj[name]
            for place, value in values.items() if prop.collection == "dict" else enumerate(values):
                number += 1
                cells = _cells(prop, value, self.job.apart, floats, ("value", number))
                yield (obj.object_key, *cells) if prop.collection == "set" else (obj.object_key, place, *cells)


class _Floats:
    """Collects the places (column and row) of the numbers in a table that SQLite changes."""

    def __init__(self, lost: "Counter[str]", table: str) -> None:
        self._lost, self._table = lost, table
        self.places: List[Tuple[str, str, int, str]] = []

    def cell(self, value: float, column: str, row: int) -> Optional[float]:
        if value and not math.isnan(value) or str(value) == "0.0":
            return float(value)
        self.places.append((self._table, column, row, str(value)))
        if not math.isnan(value):
            return float(value)
        self.count_nan()
        return None

    def count_nan(self) -> None:
        self._lost["NaN (it is NULL there)"] += 1


def _cells(prop: Prop, value: Any, exact: Exact, floats: _Floats, place: Tuple[str, int]) -> Tuple[Any, ...]:
    """The cell of a value; for a property of type Any also the cell of its type."""
    if prop.type is Any:
        return _any_cells(value, exact, floats)
    if isinstance(value, float):
        return (floats.cell(value, *place),)
    if exact.is_inside(value) or isinstance(value, RawTimestamp):
        return (json_text(exact.of(Prop(prop.type), value)),)
    return (_plain(value),)


def _plain(value: Any) -> Any:
    if isinstance(value, Object):
        return value.object_key
    return value if isinstance(value, bytes) else jsonable(value)


def _any_cells(value: Any, exact: Exact, floats: _Floats) -> Tuple[Any, Optional[str]]:
    kind = type(value)
    if kind is bool:
        return int(value), "bool"
    if value is None or kind in (int, str, bytes):
        return value, None
    if isinstance(value, float):
        if math.isnan(value):
            floats.count_nan()
            return None, MARKS[kind][1:]
        return float(value), "float32" if kind is Float32 else None
    if isinstance(value, Object):
        return value.object_key, f"link {value.class_name}"
    if isinstance(value, (RawTimestamp, Dictionary, RealmList, SetView)):
        return json_text(exact.any(value)), "json"
    return jsonable(value), MARKS[kind][1:]


def write_sqlite(job: Job) -> None:
    names = _Names(job.lost, "$schema", "$floats")
    classes = {table.name for table in job.tables}
    # The classes first, so that they keep their names.
    for table in job.tables:
        names.plain(table.name)
    sheets = [_Sheet(job, table, names) for table in job.tables]
    try:
        with closing(sqlite3.connect(job.out)) as file:
            file.execute("PRAGMA journal_mode=OFF")
            file.execute("BEGIN")
            file.execute('CREATE TABLE "$floats" ("table" TEXT, "column" TEXT, "row" INTEGER, "value" TEXT)')
            for sheet in sheets:
                for statement in sheet.declare(classes):
                    file.execute(statement)
            for sheet in sheets:
                sheet.fill(file)
            facts = {**job.schema(), "tables": {sheet.table.name: sheet.facts() for sheet in sheets}}
            file.execute('CREATE TABLE "$schema" ("json" TEXT)')
            file.execute('INSERT INTO "$schema" VALUES (?)', [json_text(facts)])
            file.commit()
    except sqlite3.Error as error:
        raise DataError(f"SQLite refuses it: {error}") from error


# ------------------------------------------------------------------------------------------------
# Reading
# ------------------------------------------------------------------------------------------------


# Errors that occur if the schema, or the names of tables, do not have the expected form.
_WRONG = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


class SqliteSource(Source):
    """A file that export wrote; other programs may have changed its rows."""

    def __init__(self, path: str) -> None:
        open(path, "rb").close()  # Raises a better error than SQLite if the file cannot be opened.
        self._path, self._file = path, sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)
        try:
            self._file.execute("PRAGMA trusted_schema=OFF")
            # A query of a view may run for ever.
            others = self._file.execute("SELECT name FROM sqlite_master WHERE type = 'view' OR sql LIKE 'CREATE VIRTUAL%'").fetchall()
            if others:
                raise DataError(f"{path} has views or virtual tables, such as {others[0][0]!r}: export writes tables only")
            facts = json.loads(self._file.execute('SELECT "json" FROM "$schema"').fetchone()[0])
            self.schema, self.version = schema_of_json(facts)
            self._tables: Dict[str, Any] = facts["tables"]
            floats = self._file.execute('SELECT "table", "column", "row", "value" FROM "$floats"')
            self._floats = {(table, column, row): float(value) for table, column, row, value in floats}
        except (sqlite3.Error, *_WRONG) as error:
            self._file.close()
            if isinstance(error, DataError):
                raise
            raise DataError(f"{path} is no SQLite file that export wrote: {error}") from error

    def close(self) -> None:
        self._file.close()

    def rows(self, wanted: Wanted = all_properties) -> Iterator[Row]:
        assert self.schema is not None
        reader = Reader(self.schema, wanted)
        try:
            for name in self._tables:
                if not self.schema[name].embedded:
                    for key, values in self._objects(name, reader, None):
                        yield Row(name, key, values)
        except (sqlite3.Error, *_WRONG) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"{self._path}: {error!r}") from error

    def _objects(self, name: str, reader: Reader, key: Optional[int]) -> Iterator[Tuple[int, Dict[str, Any]]]:
        """The objects of a class, or only the one with a key."""
        facts, properties = self._tables[name], reader.schema[name].properties
        columns: List[str] = ["$key"]

        def is_read(prop: str) -> bool:
            return key is not None or reader.is_wanted(name, prop)

        single = {prop: column for prop, column in facts["columns"].items() if is_read(prop)}
        for prop, column in single.items():
            columns += [column, *([facts["types"][prop]] if prop in facts["types"] else [])]
        found = self._select(columns, facts["table"], "$key", key, "$key")
        collections = {prop: self._collection(properties[prop], table, key) for prop, table in facts["collections"].items() if is_read(prop)}
        for row in found:
            cells, values = iter(row[1:]), {}
            for prop, column in single.items():
                kind = properties[prop]
                cell = next(cells)
                mark = next(cells) if kind.type is Any else None
                values[prop] = self._value(reader, name, prop, kind, cell, mark, (facts["table"], column, row[0]))
            for prop, groups in collections.items():
                values[prop] = self._filled(reader, name, prop, groups.of(row[0]))
            yield row[0], values
        for groups in collections.values():
            groups.end()

    def _select(self, columns: List[str], table: str, key: str, only: Optional[int], *order: str) -> Iterator[Any]:
        condition = "" if only is None else f" WHERE {_quoted(key)} = {int(only)}"
        names, by = ", ".join(map(_quoted, columns)), ", ".join(map(_quoted, order))
        return self._file.execute(f"SELECT {names} FROM {_quoted(table)}{condition} ORDER BY {by}")

    def _collection(self, prop: Prop, table: str, key: Optional[int]) -> "_Groups":
        place = {"list": "$index", "dict": "$name", "set": "rowid"}[str(prop.collection)]
        columns = ["$owner", place, "value", "rowid", *(["$type"] if prop.type is Any else [])]
        return _Groups(prop, table, self._select(columns, table, "$owner", key, "$owner", place))

    def _filled(self, reader: Reader, class_name: str, name: str, found: "Tuple[_Groups, List[Any]]") -> Any:
        groups, rows = found
        prop = groups.prop
        values = [
            (place, self._value(reader, class_name, name, prop, cell, kind[0] if kind else None, (groups.table, "value", number)))
            for _, place, cell, number, *kind in rows
        ]
        return dict(values) if prop.collection == "dict" else [value for _, value in values]

    def _value(self, reader: Reader, class_name: str, name: str, prop: Prop, cell: Any, kind: Optional[str], at: _Place) -> Any:
        try:
            return self._read(reader, prop, cell, kind, at)
        except (ValueError, ArithmeticError, RecursionError) as error:
            raise DataError(f"{class_name}.{name}: {error}") from error

    def _read(self, reader: Reader, prop: Prop, cell: Any, kind: Optional[str], at: _Place) -> Any:
        if prop.type is Any:
            return _any_value(reader, cell, kind)
        if self._floats and at in self._floats and not cell:
            return self._floats[at]
        if cell is None:
            return None
        if prop.type is bool:
            return bool(cell)
        if isinstance(cell, bytes):
            return cell
        if prop.is_link and isinstance(cell, int):
            return self._linked(reader, Ref(prop.type, cell))
        is_json = isinstance(cell, str) and prop.type is not str and cell.startswith("{")
        return reader.element(prop, json.loads(cell) if is_json else cell)

    def _linked(self, reader: Reader, ref: Ref) -> Any:
        if not reader.schema[ref.class_name].embedded:
            return ref
        found = next(self._objects(ref.class_name, reader, ref.key), None)
        if found is None:
            raise DataError(f"There is no {ref.class_name} with $key {ref.key}")
        return found[1]


def _any_value(reader: Reader, cell: Any, kind: Optional[str]) -> Any:
    if kind is None:
        return cell
    if kind == "bool":
        return bool(cell)
    if kind == "json":
        return reader.any(json.loads(cell))
    if kind.startswith("link "):
        return Ref(kind[5:], int(cell))
    return reader.any({f"${kind}": "NaN" if cell is None else cell})


class _Groups:
    """The elements of a collection property, grouped by the object that has them."""

    def __init__(self, prop: Prop, table: str, rows: Iterator[Any]) -> None:
        self.prop, self.table = prop, table
        self._groups = groupby(rows, itemgetter(0))
        self._next = self._following()

    def _following(self) -> Optional[Tuple[int, List[Any]]]:
        found = next(self._groups, None)
        return None if found is None else (found[0], list(found[1]))

    def end(self) -> None:
        """DataError if there are elements left whose object does not exist."""
        if self._next is not None:
            raise DataError(f"{self.table} has elements of an object that is not there: $owner {self._next[0]!r}")

    def of(self, owner: int) -> "Tuple[_Groups, List[Any]]":
        """The elements of an object. Must be called in the order of the objects' keys."""
        if self._next is not None and self._next[0] < owner:
            self.end()
        if self._next is None or self._next[0] != owner:
            return self, []
        rows = self._next[1]
        self._next = self._following()
        return self, rows
