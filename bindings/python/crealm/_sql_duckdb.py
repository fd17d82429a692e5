"""Runs SQL statements with DuckDB.

The classes that a statement names are data sets of pyarrow. DuckDB asks them for the columns that the statement uses,
and tells simple conditions. The rows come from the library as Arrow streams.
"""

from __future__ import annotations

import re
from datetime import datetime, timezone
from importlib import import_module
from itertools import islice
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import _arrow, _frames
from ._query import escaped
from ._session import Session
from ._sql_running import Answer, Running, Statement
from ._sql_tables import KEYS, ROWID, TEXTS, Column, Kind, Table, fold, has_far_dates, read_objects
from ._sql_values import date_value, json_text, plain_value
from .errors import DataError, Error, Interrupted, QueryError
from .values import Timestamp, moment_of

_SETTINGS = {
    "enable_external_access": "false",
    "temp_directory": "",  # Data of an encrypted file does not belong into files.
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
# As in SQLite: the order of null, and divisions by zero. DuckDB of older versions does not have all of them.
_SAME = (
    "SET default_null_order = 'nulls_first_on_asc_last_on_desc'",
    "SET ieee_floating_point_ops = false",
    "SET error_on_division_by_zero = false",
    "SET python_enable_replacements = false",
    "SET lock_configuration = true",
)


def is_installed() -> bool:
    """Whether the packages duckdb and pyarrow can be imported."""
    try:
        import_module("duckdb")
        import_module("pyarrow.dataset")
    except ImportError:
        return False
    return True


def run(frozen: Session, tables: Sequence[Table], statement: Statement, running: Running) -> Answer:
    """The rows of a statement. frozen: the snapshot, for the threads of DuckDB."""
    if not _has_nanoseconds(statement):
        try:
            return running.on_thread(lambda: _Run(frozen, statement, running).answer(tables))
        except _Unsuited:
            pass
    return running.on_thread(lambda: _Run(frozen, statement, running, is_careful=True).answer(tables))


_LONG_FRACTION = re.compile(r"\.\d{7}")


def _has_nanoseconds(statement: Statement) -> bool:
    """Whether a statement may compare dates with parts of a microsecond."""
    given = statement.parameters
    values = list(given.values() if isinstance(given, dict) else given)
    return any(isinstance(value, str) and _LONG_FRACTION.search(value) for value in [statement.text, *values])


class _Unsuited(Exception):
    """A column has dates that are no microseconds of 64 bits, or the library has no such column."""


class _Run:
    """One execution of a statement."""

    def __init__(self, frozen: Session, statement: Statement, running: Running, is_careful: bool = False) -> None:
        self.frozen = frozen
        self.statement = statement
        self.running = running
        # DuckDB does most with dates in microseconds. A careful run has nanoseconds, and first looks for dates that
        # are too far away for them.
        self.is_careful = is_careful
        self.failures: List[BaseException] = []  # Errors of the library while DuckDB reads.
        self.pyarrow: Any = import_module("pyarrow")
        self.dataset: Any = import_module("pyarrow.dataset")

    def answer(self, tables: Sequence[Table]) -> Answer:
        duckdb: Any = import_module("duckdb")
        text = self.statement.text
        connection = duckdb.connect(":memory:", config=_SETTINGS)
        try:
            self.running.begin(connection.interrupt)
            self._check(duckdb, connection)
            for table in _named(tables, text):
                connection.register(table.name, self._data_set(table))
            for setting in _SAME:
                try:
                    connection.execute(setting)
                except duckdb.Error:
                    continue
            parameters = self.statement.parameters
            found = connection.sql(text, params=parameters) if parameters else connection.sql(text)
            if found is None:
                raise QueryError("There is no statement that reads", text=text)
            return Answer(list(found.columns), None, found.to_arrow_table(), [str(type) for type in found.types])
        except Exception as error:
            if self.failures:
                raise self.failures[0] from None
            if isinstance(error, Error):
                raise
            if self.running.is_ended:
                raise Interrupted("The statement was interrupted") from error
            if isinstance(error, (duckdb.Error, RuntimeError, self.pyarrow.ArrowException)):
                raise QueryError(str(error).rstrip(), text=text) from error
            raise
        finally:
            self.running.finish()
            connection.close()

    def _check(self, duckdb: Any, connection: Any) -> None:
        """QueryError unless the text is one statement that reads."""
        statements = connection.extract_statements(self.statement.text)
        if len(statements) != 1:
            count = "no statement" if not statements else f"{len(statements)} statements"
            raise QueryError(f"There is one statement to run, but the text has {count}", text=self.statement.text)
        if statements[0].type not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
            kind = statements[0].type.name
            raise QueryError(f"SQL only reads here: a statement of the kind {kind} does not", text=self.statement.text)

    def _data_set(self, table: Table) -> Any:
        source = _Source(self, table)
        members = {
            "__init__": lambda self: None,  # That of the base class refuses to make an instance.
            "schema": property(lambda self: source.schema),
            "scanner": lambda self, columns=None, filter=None, **options: source.scanner(columns, filter),
        }
        return type("Rows", (self.dataset.Dataset,), members)()


def _named(tables: Sequence[Table], text: str) -> List[Table]:
    """The tables whose names are in the text; all if there are none, for statements such as SHOW TABLES."""
    inside = fold(text)
    found = [table for table in tables if fold(table.name).replace('"', '""') in inside]
    return found or list(tables)


# ------------------------------------------------------------------------------------------------
# Classes as data sets
# ------------------------------------------------------------------------------------------------


class _FarDates(NamedTuple):
    """A column of dates outside of the range of nanoseconds: its type in Arrow, and its values."""

    type: Any
    values: List[Any]


class _Source:
    """The rows of a class, for DuckDB."""

    def __init__(self, run: _Run, table: Table) -> None:
        self._run = run
        self._name = table.class_name
        self._rows: Any = run.frozen[table.class_name]  # type: ignore[index]
        self._columns = list(table.columns)
        # DuckDB has no hidden columns: with the keys as a column, they would be in the result of `SELECT *`.
        is_named = re.search(rf"\b{ROWID}\b", run.statement.text, re.IGNORECASE) is not None
        if not self._columns or is_named and ROWID not in (fold(column.name) for column in self._columns):
            self._columns.append(KEYS)
        self._far: Dict[str, _FarDates] = {}
        if run.is_careful:
            for column in self._columns:
                if has_far_dates(self._rows, column):
                    self._far[column.name] = self._far_dates(column)
        self.schema: Any = run.pyarrow.schema([(column.name, self._type(column)) for column in self._columns])

    def _type(self, column: Column) -> Any:
        pa = self._run.pyarrow
        if column.name in self._far:
            return self._far[column.name].type
        if column.kind is Kind.INT:
            return pa.int64()
        if column.kind is Kind.BOOL:
            return pa.bool_()
        if column.kind is Kind.REAL:
            return pa.float64()
        if column.kind is Kind.BLOB:
            return pa.binary()
        if column.kind is Kind.DATE and column.path is not None:
            return pa.timestamp("ns" if self._run.is_careful else "us")
        return pa.string()  # Also dates that are read object by object: their range is not known.

    def _far_dates(self, column: Column) -> _FarDates:
        pa = self._run.pyarrow
        values = [value for value, in read_objects(self._rows, [column])]
        times = _frames.in_unit(values, None, column.name)
        if times is not None:
            return _FarDates(pa.timestamp(times.unit), times.numbers)
        # No unit has all of them: the texts that SQLite has.
        return _FarDates(pa.string(), [None if value is None else _date_text(value) for value in values])

    def scanner(self, names: Optional[Sequence[str]], condition: Any) -> Any:
        """The rows that meet a condition of pyarrow, with some columns. DuckDB relies on the condition."""
        tested = "" if condition is None else str(condition)
        wanted = [
            column for column in self._columns
            if names is None or column.name in names or _is_tested(column.name, tested)
        ]
        schema = self._run.pyarrow.schema([self.schema.field(column.name) for column in wanted])
        return self._run.dataset.Scanner.from_batches(
            self._batches(wanted, schema, self._found(tested)), schema=schema, filter=condition,
            columns=[column.name for column in wanted] if names is None else list(names))

    def _found(self, tested: str) -> Any:
        """The rows that may meet a condition, found by the library."""
        if not tested or self._far or not _escapes():
            return self._rows
        pushed = pushed_down(tested, self._columns)
        if not pushed:
            return self._rows
        text = " AND ".join(f"{escaped(part.name)} {part.operator} ${number}" for number, part in enumerate(pushed))
        try:
            return self._rows.where(text, *(part.value for part in pushed))
        except Error:
            return self._rows

    def _batches(self, columns: Sequence[Column], schema: Any, rows: Any) -> Iterator[Any]:
        try:
            yield from self._read_batches(columns, schema, rows)
        except GeneratorExit:
            raise
        except BaseException as error:
            self._run.failures.append(self._failure(error, columns))
            raise

    def _failure(self, error: BaseException, columns: Sequence[Column]) -> BaseException:
        """An error of the library's stream, which pyarrow has made one of its own, as one of this package."""
        if not isinstance(error, (OSError, self._run.pyarrow.ArrowException)) or isinstance(error, Error):
            return error
        if not self._run.is_careful and any(column.kind is Kind.DATE for column in columns):
            return _Unsuited(str(error))
        try:
            for column in columns:
                if column.path is not None and column.name not in self._far:
                    _arrow.scan(self._rows._rows_handle(), column.path)
        except Error as own:
            return own
        return DataError(str(error))

    def _read_batches(self, columns: Sequence[Column], schema: Any, rows: Any) -> Iterator[Any]:
        pa = self._run.pyarrow
        far = [column for column in columns if column.name in self._far]
        fast = [column for column in columns if column.path is not None and column not in far]
        slow = [column for column in columns if column.path is None]
        paths = [column.path or "" for column in fast or [KEYS]]
        objects = read_objects(rows, slow) if slow else None
        done = 0
        for batch in pa.RecordBatchReader.from_stream(_frames.Stream(rows, paths)):
            self._run.running.check()
            made: Dict[str, Any] = {}
            for column, values in zip(fast, batch.columns):
                made[column.name] = self._converted(column, values, schema.field(column.name).type)
            for column in far:
                some = self._far[column.name].values[done : done + batch.num_rows]
                made[column.name] = pa.array(some, self._far[column.name].type)
            read = [] if objects is None else list(islice(objects, batch.num_rows))
            for place, column in enumerate(slow):
                some = [_made(column, values[place]) for values in read]
                made[column.name] = pa.array(some, schema.field(column.name).type)
            done += batch.num_rows
            yield pa.RecordBatch.from_arrays([made[name] for name in schema.names], schema=schema)

    def _converted(self, column: Column, values: Any, type: Any) -> Any:
        """Values of a stream, as the type of the column in SQL."""
        pa = self._run.pyarrow
        if isinstance(values, pa.ExtensionArray):
            values = values.storage
        text = TEXTS.get(column.kind)
        if text is not None:
            return pa.array([None if value is None else text(value) for value in values.to_pylist()], type)
        values = values if values.type == type else values.cast(type)
        if column.kind is Kind.REAL:
            compute: Any = import_module("pyarrow.compute")
            is_nan = compute.is_nan(values)
            if compute.any(is_nan).as_py():  # Not-a-number is null, as in SQLite.
                return compute.if_else(is_nan, pa.scalar(None, type), values)
        return values


def _is_tested(name: str, tested: str) -> bool:
    """Whether a condition may have a column. Too many columns only cost time."""
    return f"({name}" in tested if name in ("and", "or") else name in tested


def _made(column: Column, value: Any) -> Any:
    """The value of a column that is read object by object."""
    if value is None:
        return None
    if column.kind in (Kind.ANY, Kind.JSON):
        return json_text(value)
    if column.kind is Kind.DATE:
        return _date_text(value)
    if column.kind is Kind.BOOL:
        return bool(value)
    return plain_value(value)


def _date_text(value: Any) -> str:
    date = date_value(value)
    return date.decode("ascii") if isinstance(date, bytes) else str(date)


# ------------------------------------------------------------------------------------------------
# Conditions
# ------------------------------------------------------------------------------------------------


class Pushed(NamedTuple):
    """A comparison that the library makes: the name of a property, an operator, and the other value."""

    name: str
    operator: str
    value: Any


_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_ANY_TEXT = r'"(?:[^"\\]|\\.)*"'
_TEXT = r'"[A-Za-z0-9 _.,:/@+-]{0,60}"'
_TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})?"
_TOKEN = re.compile(
    rf"\((?P<name>{_NAME}) (?P<operator>==|<=|>=|<|>) "
    rf"(?:(?P<text>{_TEXT})|(?P<time>{_TIME})|(?P<number>-?\d{{1,19}}))\)"
)


def pushed_down(condition: str, columns: Sequence[Column]) -> List[Pushed]:
    """The comparisons that all rows meet which meet a condition. condition: as pyarrow spells it.

    pyarrow escapes quotation marks in texts, but not in names, so all names must be plain. Only comparisons that AND
    connects are taken; what is not understood is left out, because pyarrow tests the whole condition again.
    """
    if not all(re.fullmatch(_NAME, column.name) for column in columns):
        return []
    known = {column.name: column for column in columns}
    found = (_pushed(match, known) for match in map(_TOKEN.fullmatch, _parts(condition)) if match is not None)
    return [part for part in found if part is not None]


def _parts(condition: str) -> List[str]:
    """The parts that AND connects."""
    return _split(condition, re.sub(_ANY_TEXT, lambda match: "t" * len(match[0]), condition))


def _escapes() -> bool:
    """Whether this pyarrow escapes quotation marks: else a text could look like a condition."""
    compute: Any = import_module("pyarrow.compute")
    return str(compute.scalar('"\\')) == r'"\"\\"'


def _split(condition: str, whole: str) -> List[str]:
    """whole: the condition with letters in place of texts, so that its brackets are those of the spelling."""
    if not (whole.startswith("(") and whole.endswith(")")):
        return [condition]
    depth = 0
    for place, letter in enumerate(whole):
        depth += (letter == "(") - (letter == ")")
        if depth == 1 and whole.startswith(" and ", place):
            left, right = slice(1, place), slice(place + 5, -1)
            return _split(condition[left], whole[left]) + _split(condition[right], whole[right])
    return [condition]


def _pushed(match: "re.Match[str]", known: Dict[str, Column]) -> Optional[Pushed]:
    column = known.get(match["name"])
    if column is None or column.facts is None or column.is_link or column.path != column.name:
        return None
    if column.kind is Kind.INT and match["number"]:
        number = int(match["number"])
        return Pushed(column.name, match["operator"], number) if -(2**63) <= number < 2**63 else None
    if column.kind is Kind.TEXT and match["text"] and match["operator"] == "==":
        return Pushed(column.name, "==", match["text"][1:-1])
    if column.kind is Kind.DATE and match["time"]:
        return Pushed(column.name, match["operator"], _time(match["time"]))
    return None


def _time(text: str) -> Timestamp:
    whole, _, fraction = text.partition(".")
    seconds = int(datetime.strptime(whole, "%Y-%m-%d %H:%M:%S").replace(tzinfo=timezone.utc).timestamp())
    return Timestamp.from_ns(seconds * 1_000_000_000 + int(fraction.ljust(9, "0") or 0))


# ------------------------------------------------------------------------------------------------
# Results
# ------------------------------------------------------------------------------------------------


def rows_of(answer: Answer) -> List[Tuple[Any, ...]]:
    """The rows of a table of pyarrow, with the values that SQLite would have."""
    pa: Any = import_module("pyarrow")
    columns = [_values(pa, column, type) for column, type in zip(answer.table.columns, answer.types)]
    return list(zip(*columns))


_UNITS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
_DAY = 86_400_000_000_000


def _values(pa: Any, column: Any, type: str) -> List[Any]:
    kind = column.type
    if pa.types.is_timestamp(kind):
        return _dates(column.cast(pa.int64()).to_pylist(), _UNITS[kind.unit], None)
    if pa.types.is_date32(kind):
        return _dates(column.cast(pa.int32()).to_pylist(), _DAY, -9)
    values: List[Any] = column.to_pylist()
    if type in ("HUGEINT", "UHUGEINT") or pa.types.is_boolean(kind):
        return [None if value is None else int(value) for value in values]
    if pa.types.is_floating(kind):
        return [None if value != value else value for value in values]
    if pa.types.is_time(kind) or pa.types.is_interval(kind) or pa.types.is_duration(kind):
        return [None if value is None else str(value) for value in values]
    return values


def _dates(numbers: Sequence[Optional[int]], unit: int, end: Optional[int]) -> List[Any]:
    """Dates as texts; end: where the texts of days end."""
    found = [None if number is None else date_value(moment_of(number * unit)) for number in numbers]
    return [date[:end] if end and isinstance(date, (str, bytes)) else date for date in found]
