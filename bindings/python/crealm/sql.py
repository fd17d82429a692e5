"""SQL statements that read a database, with the engine that is installed: DuckDB or SQLite.

    for city, count in db.sql("SELECT city, count(*) FROM Person WHERE age > ? GROUP BY city", [30]):
        print(city, count)
    db.sql("SELECT p.name, c.size FROM Person p JOIN City c ON p.city = c.name").to_dicts()

Classes are tables, properties are columns; the column `rowid` is the key of the object. A link is the primary key of
its target, or the key of the target if its class has no primary key. In the result dates, decimals and identifiers are
texts, collections JSON, bools 0 or 1: docs/sql.md has all forms, and the differences between the engines.

    engine      packages            reads
    "duckdb"    duckdb, pyarrow     the columns that a statement uses, of the objects that meet its simple conditions,
                                    as Arrow streams
    "sqlite"    none                the file itself, through the SQLite extension, if that is installed and the file
                                    has no newer version; else copies, in memory, of the columns that a statement uses

A statement sees one snapshot, that of the database. It cannot change anything, read other files, or load extensions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timezone
from decimal import Decimal
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union, overload
from uuid import UUID

from . import _sql_duckdb
from ._session import Row, Session
from ._shown import ROWS, counted, table, text
from ._sql_running import Answer, Running, Statement
from ._sql_tables import tables
from ._sql_values import date_value, key_of, plain_value
from .errors import DataError, NotSupportedError, QueryError, TypeMismatch
from .values import ObjectId, RawTimestamp

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]
    import pyarrow  # type: ignore[import-untyped, unused-ignore]

Parameters = Union[Sequence[Any], "Mapping[str, Any]"]
ENGINES = ("duckdb", "sqlite")  # The first one that is installed runs statements.


class SqlResult(Sequence[Tuple[Any, ...]]):
    """The rows of a statement, as tuples. They are in memory: the result stays valid when the database moves on or is
    closed, and any thread may use it."""

    __slots__ = ("_engine", "_columns", "_answer", "_found")

    def __init__(self, engine: str, answer: Answer) -> None:
        self._engine = engine
        self._columns = list(answer.columns)
        self._answer = answer
        self._found = answer.rows

    @property
    def engine(self) -> str:
        """The engine that ran the statement: "duckdb" or "sqlite"."""
        return self._engine

    @property
    def columns(self) -> List[str]:
        """The names of the columns. Two columns may have the same name."""
        return list(self._columns)

    @property
    def _rows(self) -> List[Tuple[Any, ...]]:
        if self._found is None:
            self._found = _sql_duckdb.rows_of(self._answer)
        return self._found

    def __len__(self) -> int:
        return self._answer.table.num_rows if self._found is None else len(self._found)

    @overload
    def __getitem__(self, index: int) -> Tuple[Any, ...]: ...

    @overload
    def __getitem__(self, index: slice) -> List[Tuple[Any, ...]]: ...

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __iter__(self) -> Iterator[Tuple[Any, ...]]:
        return iter(self._rows)

    def to_dicts(self) -> List[Dict[str, Any]]:
        """A dictionary for each row. DataError if two columns have the same name."""
        self._check_names()
        return [dict(zip(self._columns, row)) for row in self._rows]

    def to_arrow(self) -> "pyarrow.Table":
        """A table of pyarrow. With DuckDB it has that engine's types: timestamps, bools and so on. With SQLite it has
        the values of the rows; DataError if those of a column have no common type."""
        if self._answer.table is not None:
            return self._answer.table
        pa: Any = import_module("pyarrow")
        columns = list(zip(*self._rows)) if self._rows else [()] * len(self._columns)
        arrays = [self._arrow_column(pa, place, column) for place, column in enumerate(columns)]
        return pa.table(arrays, names=self._columns)

    def _arrow_column(self, pa: Any, place: int, values: Sequence[Any]) -> Any:
        try:
            return pa.array(values)
        except pa.ArrowException as error:
            raise DataError(f"Column {self._columns[place]!r}: {error}") from error

    def to_pandas(self) -> "pandas.DataFrame":
        """A DataFrame of pandas; with DuckDB it is made of the table that to_arrow() returns."""
        if self._answer.table is not None:
            return self._answer.table.to_pandas()
        frames: Any = import_module("pandas")
        return frames.DataFrame.from_records(self._rows, columns=self._columns)

    def _check_names(self) -> None:
        double = next((name for name in self._columns if self._columns.count(name) > 1), None)
        if double is not None:
            raise DataError(f"Two columns are called {double!r}", hint="AS gives a column another name.")

    def __repr__(self) -> str:
        return f"<SqlResult of {self._engine}: {len(self):,} rows, columns {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        """A table of the first rows, for Jupyter."""
        try:
            count = len(self)
            shown = [list(row) for row in self._rows[:ROWS]]
            return table(counted(count, "row"), self._columns, shown, max(count - ROWS, 0))
        except DataError:
            return text(self)


def run(
    db: Session, frozen: Session, query: str, parameters: Parameters, engine: Optional[str], running: Running,
    newest: Callable[[], Optional[int]],
) -> SqlResult:
    """Runs a statement; see Database.sql().

    frozen: the snapshot of the database, for all threads. running: lets other threads end the statement.
    newest: as for `_sql_sqlite.run`.
    """
    if not isinstance(query, str):
        raise TypeError(f"A statement is a text, not {type(query).__name__}")
    if not _is_text(query):
        raise QueryError("The statement has half a surrogate pair, which is no character", text=query)
    chosen = _engine(engine)
    statement = Statement(query, _plain_parameters(parameters, chosen == "duckdb"))
    found = tables(frozen)
    if chosen == "duckdb":
        return SqlResult(chosen, _sql_duckdb.run(frozen, found, statement, running))
    try:
        from . import _sql_sqlite
    except ImportError as error:  # A Python may lack the module sqlite3.
        raise NotSupportedError(f"There is no SQLite: {error}", hint="pip install duckdb pyarrow") from error
    return SqlResult(chosen, _sql_sqlite.run(db, frozen, found, statement, running, newest))


def _is_text(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _engine(name: Optional[str]) -> str:
    if name is not None and name not in ENGINES:
        raise DataError(f"engine is {' or '.join(map(repr, ENGINES))}, not {name!r}")
    if name == "duckdb" and not _sql_duckdb.is_installed():
        raise NotSupportedError("The packages duckdb and pyarrow are not installed", hint="pip install duckdb pyarrow")
    if name is None:
        return "duckdb" if _sql_duckdb.is_installed() else "sqlite"
    return name


def _plain_parameters(given: Parameters, is_duckdb: bool) -> Union[List[Any], Dict[str, Any]]:
    if isinstance(given, Mapping):
        return {name: _parameter(value, name, is_duckdb) for name, value in given.items()}
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise TypeError("Arguments of a statement are a list, or a dictionary for names")
    return [_parameter(value, number, is_duckdb) for number, value in enumerate(given, 1)]


def _parameter(value: Any, name: Union[str, int], is_duckdb: bool) -> Any:
    """An argument as both engines take it. Links, identifiers and decimals have the form of their columns."""
    if isinstance(value, Enum):
        value = value.value
    if value is None:
        return value
    if isinstance(value, str):
        if not _is_text(value):
            raise DataError(f"Argument {name} has half a surrogate pair, which is no character")
        return str(value)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise DataError(f"Argument {name}: {value} does not fit into 64 bits")
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise DataError(f"Argument {name}: {value!r} has no time zone")
        is_plain = is_duckdb and not getattr(value, "nanosecond", 0)
        return value.astimezone(timezone.utc).replace(tzinfo=None) if is_plain else date_value(value)
    if isinstance(value, Row):
        return plain_value(key_of(value))
    if isinstance(value, (RawTimestamp, Decimal, UUID, ObjectId)):
        return plain_value(value)
    raise TypeMismatch(f"Argument {name}: {type(value).__name__} is no type of a value in SQL")
