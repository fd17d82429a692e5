"""Writes the columns of DataFrames and Arrow streams.

The library takes Arrow columns of fitting types as they are. This module converts the others first, value by value:
texts to UUIDs, object ids, decimals and times, floats without a fraction to integers, lists and dictionaries of Python
to collections, embedded objects and values of type Any. An error names the row, the column and the value.
"""

from __future__ import annotations

import re
from ctypes import byref
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple
from uuid import UUID

from . import _batches, _mixed
from . import _marshal as c
from ._batches import Packed
from ._prototypes import ArrowArray, ArrowArrayStream, ArrowSchema
from ._rows import decimal_of, time_of
from ._session import Row, Session
from ._shapes import LINK, MIXED, Shape, accepts, decimal_of_bytes, pointers, shape_of
from ._shapes import values as values_of
from ._shown import told
from .errors import ConstraintError, DataError, Error, InvalidatedError, NotSupportedError, TypeMismatch
from .schema import BoundClass
from .values import ObjectId, RawTimestamp, moment_of, timestamp_ns

Written = Callable[[int], None]  # Is called with the number of rows that are written.


# ------------------------------------------------------------------------------------------------
# Sources
# ------------------------------------------------------------------------------------------------


def of_package(rows: Any, *names: str) -> bool:
    """Whether `rows` is an object of a class of pandas or polars with one of these names. Imports neither."""
    kind = type(rows)
    return f"{kind.__module__.split('.')[0]}.{kind.__name__}" in names


def frame_of(rows: Any) -> Any:
    """A frame in place of a LazyFrame or a Series; other rows unchanged."""
    if of_package(rows, "polars.LazyFrame"):
        return rows.collect()
    if of_package(rows, "polars.Series"):
        return rows.struct.unnest() if type(rows.dtype).__name__ == "Struct" else rows.to_frame()
    if of_package(rows, "pandas.Series"):
        if rows.name is None:
            raise DataError("The Series has no name, which says the property", hint='series.rename("age") names it.')
        return rows.to_frame()
    return rows


class _Values(NamedTuple):
    """A column of values of Python."""

    name: str
    values: Sequence[Any]


def add_frame(db: Session, bound: BoundClass, frame: Any, update: str, batch: int, written: Written) -> int:
    """Writes the rows of a DataFrame, or of any other object with an Arrow stream, and returns their number."""
    _batches.check_columns_allowed(bound, update)
    intake = _Intake(db, bound, update, batch, written)
    if of_package(frame, "pandas.DataFrame"):
        return _add_pandas(intake, frame)
    if of_package(frame, "polars.DataFrame"):
        objects = [
            name
            for name, kind in frame.schema.items()
            if type(kind).__name__ == "Object" or kind.__class__.__name__ == "Object" or str(kind) == "Object"
        ]
        if objects:
            made = [_Values(name, frame[name].to_list()) for name in objects]
            return intake.add(frame.drop(objects) if frame.width > len(objects) else None, made, frame.height)
    return intake.add(frame, [], None)


def _add_pandas(intake: "_Intake", frame: Any) -> int:
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index(level=[name for name in frame.index.names if name is not None])
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise DataError(f"Two columns are called {next(name for name in names if names.count(name) > 1)!r}")
    made: List[_Values] = []
    arrays: Dict[str, Any] = {}
    for number, name in enumerate(names):
        facts, column = intake.property(name), frame.iloc[:, number]
        array = None if column.dtype == object else _pandas_array(name, facts, column)
        if array is None:
            made.append(_Values(name, [None if is_missing(value, facts) else value for value in column]))
        else:
            arrays[name] = array
    if not arrays:
        return intake.add(None, made, len(frame))
    import pyarrow  # type: ignore[import-untyped, unused-ignore]

    return intake.add(pyarrow.table(arrays), made, len(frame))


def _pandas_array(name: str, facts: c.PropertyFacts, column: Any) -> Any:
    """A column of pandas as an array of pyarrow; None if it has to be converted value by value."""
    import pyarrow

    check_dtype(name, column)
    if type(column.dtype).__name__ == "SparseDtype":
        column = column.sparse.to_dense()
    # Not-a-number means None, unless the property cannot hold None.
    keeps = column.dtype.kind == "f" and facts.collection == c.C_NONE and not facts.flags & c.NULLABLE
    tells = type(column.array).__name__ == "FloatingArray"  # It distinguishes None from not-a-number.
    try:
        if keeps or tells:
            found = pyarrow.array(column.array if tells else column.to_numpy())
        else:
            found = pyarrow.array(column, from_pandas=True)
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError) as error:
        if column.dtype.kind in "OUSV" or "object" in str(column.dtype) or hasattr(column, "cat"):
            return None
        raise DataError(f"Column {name!r} of type {column.dtype}: {error}") from None
    return found.combine_chunks() if isinstance(found, pyarrow.ChunkedArray) else found


def check_dtype(name: str, column: Any) -> None:
    """NotSupportedError for a type of pandas whose numbers have no meaning without the type."""
    if type(column.dtype).__name__ in ("PeriodDtype", "IntervalDtype"):
        raise NotSupportedError(
            f"Column {name!r}: no property has values of type {column.dtype}",
            hint="Convert them to times, numbers or texts: series.dt.to_timestamp(), series.astype(str).",
        )


def is_missing(value: Any, facts: Optional[c.PropertyFacts] = None) -> bool:
    """Whether a value in a column of objects means None: None, NA, NaT, and not-a-number, unless the property is a
    number that cannot be None."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, float) and value != value:
        is_number = facts is not None and facts.collection == c.C_NONE and facts.type in (c.P_DOUBLE, c.P_FLOAT)
        return facts is None or not is_number or bool(facts.flags & c.NULLABLE)
    return type(value).__name__ == "datetime64" and value != value


# ------------------------------------------------------------------------------------------------
# Writing
# ------------------------------------------------------------------------------------------------


class _Intake:
    """One call of add_many() with columns."""

    def __init__(self, db: Any, bound: BoundClass, update: str, batch: int, written: Written) -> None:
        self.db, self.bound, self.update, self.batch, self.written = db, bound, update, batch, written
        self.done = 0

    def table(self) -> Any:
        """All objects of the class of the file."""
        return self.db[self.bound.schema.name]

    def property(self, name: str) -> c.PropertyFacts:
        return self.bound.find(name)

    def add(self, source: Any, made: Sequence[_Values], count: Optional[int]) -> int:
        """Writes the columns of a source of Arrow streams, if there is one, beside columns of values of Python."""
        if source is None:
            assert count is not None
            for first in range(0, count, self.batch):
                self._write(None, None, made, first, 0, min(self.batch, count - first))
            return self.done
        capsule = _batches.capsule_of(source)
        stream = _batches.stream_of(capsule)
        schema = ArrowSchema()
        _batches.check(stream, stream.get_schema(byref(stream), byref(schema)))
        try:
            shapes = shape_of(schema).parts
            while True:
                rows = ArrowArray()
                _batches.check(stream, stream.get_next(byref(stream), byref(rows)))
                if not rows.release:
                    return self.done
                try:
                    self._add_rows(schema, shapes, rows, made)
                finally:
                    _batches.release(rows)
        finally:
            _batches.release(schema)

    def _add_rows(
        self, schema: ArrowSchema, shapes: Tuple[Shape, ...], rows: ArrowArray, made: Sequence[_Values]
    ) -> None:
        for first in range(0, rows.length, self.batch):
            self._write((schema, shapes), rows, made, self.done, first, min(self.batch, rows.length - first))

    def _write(
        self,
        kinds: Optional[Tuple[ArrowSchema, Tuple[Shape, ...]]],
        rows: Optional[ArrowArray],
        made: Sequence[_Values],
        row: int,
        first: int,
        count: int,
    ) -> None:
        """Writes rows of a source from `first` on, and of the columns of values from `row` on."""
        columns = [_Values(column.name, column.values[row : row + count]) for column in made]
        taken: List[int] = []
        if kinds is not None and rows is not None:
            for place, (shape, child) in enumerate(zip(kinds[1], pointers(rows.n_children, rows.children))):
                facts = self.property(shape.name)
                if self._fits(facts, shape):
                    taken.append(place)
                    continue
                array = ArrowArray.from_address(child)
                try:
                    columns.append(_Values(shape.name, values_of(array, shape, rows.offset + first, count)))
                except (NotSupportedError, DataError) as error:
                    raise type(error)(f"Column {shape.name!r}: {error.message}", hint=error.hint) from None
        self._write_columns(_Part(kinds[0], rows, taken, first) if kinds and rows else None, columns, row, count)

    def _write_columns(self, part: "Optional[_Part]", columns: Sequence[_Values], row: int, count: int) -> None:
        try:
            packed = []
            for column in columns:
                facts = self.property(column.name)
                packed.append((facts.public_name or facts.name, self._packed(column.name, facts, column.values, row)))
        except _NoUnit as error:
            # The times of these rows have no unit in common. Fewer rows may have.
            if count == 1:
                self._write_times(part, columns, row, error.name)
                return
            half = count // 2
            self._write_columns(part, [_Values(column.name, column.values[:half]) for column in columns], row, half)
            rest = None if part is None else part._replace(first=part.first + half)
            self._write_columns(
                rest, [_Values(column.name, column.values[half:]) for column in columns], row + half, count - half
            )
            return
        table = _batches.JoinedTable(self.bound, count, packed, part)
        try:
            self.db._owner.call(_batches.create, self.bound.key, table.schema, table.array, _batches.MODES[self.update])
        except Error as error:
            raise self._located(error, table, part, columns, row) from None
        self.done += count
        self.written(self.done)

    def _write_times(self, part: "Optional[_Part]", columns: Sequence[_Values], row: int, name: str) -> None:
        """Writes one row whose times in a column have no unit in common: first the others, then these one by one."""
        facts, done = self.property(name), self.done
        (column,) = [column for column in columns if column.name == name]
        key = self.bound.primary_key
        self._write_columns(part, [other for other in columns if other.name != name], row, 1)
        if key is None:
            written = self.table()[-1]  # New objects have the highest key.
        else:
            written = self.db._found(
                self.bound, c.encode(_SINGLE[key.type](self._value(part, columns, key.name, 0)), key.type)
            )
        try:
            written[name] = _Assigned(self.db).value(facts, _Converter(self.db).of(facts)(column.values[0]))
        except Exception as error:  # A strange object may raise anything.
            raise _refused(row, name, column.values[0], error) from None
        assert self.done == done + 1

    def _located(
        self, error: Error, table: Any, part: "Optional[_Part]", columns: Sequence[_Values], row: int
    ) -> Error:
        """The error with the number of the row among all rows, and with the value."""
        found = re.match(r"Row (\d+)(?:, property '([^']*)')?", error.message)
        if found is None:
            return error
        place = int(found[1])
        value = ""
        if found[2] is not None:
            name = found[2].split(".", 1)[-1].split(".")[0].split("[")[0]
            try:
                value = f", value {told(self._value(part, columns, name, place))}"
            except (LookupError, Error):
                pass  # The message names the row and the property.
        error.message = f"Row {row + place}{found[0][len(found[1]) + 4 :]}{value}{error.message[found.end() :]}"
        error.args = (error.message, *error.args[1:])
        if "has no exact value of type float" in error.message:
            error.hint = 'Convert the column with astype("float32") if losing digits is fine.'
        if isinstance(error, InvalidatedError):  # The target of a link does not exist: the data are wrong.
            return DataError(error.message, code=error.code)
        return error

    def _value(self, part: "Optional[_Part]", columns: Sequence[_Values], name: str, place: int) -> Any:
        """The value of a property in a row; LookupError if the row has none, or it cannot be read."""
        for column in columns:
            if self.property(column.name).name == name:
                return column.values[place]
        if part is not None:
            for shape, child in zip(shape_of(part.schema).parts, pointers(part.rows.n_children, part.rows.children)):
                if self.bound.has(shape.name) and self.property(shape.name).name == name:
                    return values_of(ArrowArray.from_address(child), shape, part.rows.offset + part.first + place, 1)[0]
        raise LookupError(name)

    # What fits as it is

    def _fits(self, facts: c.PropertyFacts, shape: Shape) -> bool:
        """Whether the library takes a column for a property."""
        if shape.dictionary is not None:
            shape = shape.dictionary
        if facts.collection in (c.C_LIST, c.C_SET):
            return shape.is_list and not shape.format.startswith("+w") and self._fits_one(facts, shape.parts[0])
        if facts.collection == c.C_DICTIONARY:
            if shape.format == "+m":
                return self._fits_one(facts, shape.parts[0].parts[1])
            is_pairs = shape.is_list and shape.parts[0].format == "+s" and len(shape.parts[0].parts) == 2
            return is_pairs and self._fits_one(facts, shape.parts[0].parts[1])
        return self._fits_one(facts, shape)

    def _fits_one(self, facts: c.PropertyFacts, shape: Shape) -> bool:
        if shape.dictionary is not None:
            shape = shape.dictionary
        if facts.type == c.P_OBJECT:
            target = self.db._named(facts.target)
            if target.schema.embedded:
                return shape.format == "+s" and all(
                    target.has(part.name) and self._fits(target.find(part.name), part) for part in shape.parts
                )
            return accepts(c.P_INT if target.primary_key is None else target.primary_key.type, shape.format)
        if facts.type == c.P_MIXED and (
            MIXED in shape.facts or (shape.format == "+s" and [part.name for part in shape.parts] == ["json"])
        ):
            return True
        return accepts(facts.type, shape.format)

    # Packing

    def _packed(self, name: str, facts: c.PropertyFacts, values: Sequence[Any], row: int) -> Packed:
        """A column of values of Python for the library."""
        converter = _Converter(self.db)
        convert = converter.of(facts)
        found = []
        for place, value in enumerate(values):
            try:
                found.append(convert(value))
            except Exception as error:  # A strange object may raise anything.
                raise _refused(row + place, name, value, error) from None
        return converter.pack(name, facts, found)


def _refused(row: int, name: str, value: Any, error: Exception) -> Exception:
    if isinstance(error, MemoryError):
        return error
    said = error.message if isinstance(error, Error) else str(error)
    kind = type(error) if isinstance(error, (DataError, ConstraintError)) else DataError
    hint = error.hint if isinstance(error, Error) else None
    return kind(f"Row {row}, column {name!r}, value {told(value)}: {said}", hint=hint)


class _Part(NamedTuple):
    """Some columns of a batch of a source, by their places, from a row on."""

    schema: ArrowSchema
    rows: ArrowArray
    taken: List[int]
    first: int


class _NoUnit(Exception):
    """The times of a column need several units."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


# ------------------------------------------------------------------------------------------------
# Values
# ------------------------------------------------------------------------------------------------

_Convert = Callable[[Any], Any]


def _number_of(value: Any) -> Any:
    """A value of numpy as one of Python."""
    return (
        value.item()
        if type(value).__module__ == "numpy" and hasattr(value, "item") and not getattr(value, "ndim", 0)
        else value
    )


def _integer(value: Any) -> int:
    value = _number_of(value)
    if type(value) is int:
        return value
    if isinstance(value, (bool, str, bytes)):
        raise TypeMismatch(f"Needs int, not {type(value).__name__}")
    if isinstance(value, (float, Decimal)) and value == value.__trunc__():
        return int(value)
    if isinstance(value, (float, Decimal)):
        raise TypeMismatch("Needs int, but this number has a fraction")
    if not hasattr(value, "__index__"):
        raise TypeMismatch(f"Needs int, not {type(value).__name__}")
    return int(value.__index__())


def _boolean(value: Any) -> bool:
    value = _number_of(value)
    if not isinstance(value, bool):
        raise TypeMismatch(f"Needs bool, not {type(value).__name__}")
    return value


def _float(value: Any) -> float:
    value = _number_of(value)
    if isinstance(value, (bool, str, bytes)):
        raise TypeMismatch(f"Needs float, not {type(value).__name__}")
    number = float(value)
    if number == number and number != value:
        raise TypeMismatch(
            "The number has more digits than a float",
            hint="Convert the column with astype(float) if losing digits is fine.",
        )
    return number


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeMismatch(f"Needs str, not {type(value).__name__}")
    return str(value)


def _bytes(value: Any) -> bytes:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeMismatch(f"Needs bytes, not {type(value).__name__}")
    return bytes(value)


def _decimal(value: Any) -> Decimal:
    value = _number_of(value)
    if isinstance(value, Decimal):
        return value
    if isinstance(value, str):
        return decimal_of(value)
    if isinstance(value, bytes) and len(value) == 16:
        return decimal_of_bytes(value)  # The form of an export, from a library that has lost its metadata.
    if isinstance(value, float):
        return Decimal(repr(value))  # The shortest decimal number that is this float.
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeMismatch(f"Needs Decimal, not {type(value).__name__}")
    return Decimal(int(value))


def _object_id(value: Any) -> ObjectId:
    if isinstance(value, (ObjectId, str, bytes)):
        return ObjectId(value)
    binary = getattr(value, "binary", None)  # The ObjectId of bson.
    if not isinstance(binary, bytes):
        raise TypeMismatch(f"Needs ObjectId, not {type(value).__name__}")
    return ObjectId(binary)


def _uuid(value: Any) -> UUID:
    if isinstance(value, UUID):
        return value
    if isinstance(value, str):
        return UUID(value)
    if not isinstance(value, bytes):
        raise TypeMismatch(f"Needs UUID, not {type(value).__name__}")
    return UUID(bytes=value)


def _time(value: Any) -> Any:
    """A point in time. One without a time zone is in UTC, as columns of times are."""
    if isinstance(value, str):
        return time_of(value)
    if isinstance(value, RawTimestamp):
        return value
    if isinstance(value, datetime):
        return value if value.tzinfo is not None else value.replace(tzinfo=timezone.utc)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=timezone.utc)
    if type(value).__name__ == "datetime64":
        unit = str(value.dtype).split("[")[-1].rstrip("]")
        sizes = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1, "m": 60 * 10**9, "h": 3600 * 10**9, "D": 86400 * 10**9}
        if unit in sizes:
            return moment_of(int(value.astype("int64")) * sizes[unit])
    raise TypeMismatch(f"Needs datetime, not {type(value).__name__}")


_SINGLE: Dict[int, _Convert] = {
    c.P_INT: _integer,
    c.P_BOOL: _boolean,
    c.P_DOUBLE: _float,
    c.P_FLOAT: _float,
    c.P_STRING: _text,
    c.P_BINARY: _bytes,
    c.P_DECIMAL: _decimal,
    c.P_OBJECT_ID: _object_id,
    c.P_UUID: _uuid,
    c.P_TIMESTAMP: _time,
}


class _Converter:
    """Converts values to those that a property stores, and packs them. Embedded objects become dictionaries by
    property, with only those properties that occur."""

    def __init__(self, db: Session) -> None:
        self._db = db

    def of(self, facts: c.PropertyFacts) -> _Convert:
        """The conversion of the values of a column."""
        one = self._element(facts)
        if facts.collection == c.C_NONE:
            return one
        if facts.collection == c.C_DICTIONARY:
            return lambda value: None if value is None else {_text(key): one(element) for key, element in _pairs(value)}
        return lambda value: None if value is None else [one(element) for element in _elements(value)]

    def _element(self, facts: c.PropertyFacts) -> _Convert:
        if facts.type == c.P_MIXED:
            return self._mixed
        if facts.type == c.P_OBJECT:
            target = self._db._named(facts.target)
            return self._embedded(target) if target.schema.embedded else self._link(target)
        single, kind = _SINGLE[facts.type], facts.kind
        is_float = facts.type in (c.P_DOUBLE, c.P_FLOAT)

        def convert(value: Any) -> Any:
            if value is None or (not is_float and is_missing(value)):
                return None
            if kind is not None and type(value) is kind.type:
                value = kind.stored(value)
            made = single(value)
            if facts.type != c.P_TIMESTAMP or not isinstance(made, RawTimestamp):
                c.encode(made, facts.type)  # Raises for a value that cannot be stored.
            return made

        return convert

    def _mixed(self, value: Any) -> Any:
        if value is None or type(value).__name__ in ("NAType", "NaTType"):
            return None
        text = _mixed.to_json(_without_rows(value))
        c.encode(text, c.P_STRING)  # Raises for a text without UTF-8 form.
        return text

    def _link(self, target: BoundClass) -> _Convert:
        key = target.primary_key
        kind = c.P_INT if key is None else key.type
        single = _SINGLE[kind]

        def convert(value: Any) -> Any:
            if value is None or is_missing(value):
                return None
            if isinstance(value, Row):
                self._db._plain(value)  # Raises for objects of other databases.
                return value._key if key is None else value._read(key)  # type: ignore[attr-defined]
            if isinstance(value, dict) and key is not None and (key.name in value or target.key_name in value):
                if len(value) > 1:
                    raise TypeMismatch(
                        "A link is the primary key of its object", hint="Add the objects of the other class first."
                    )
                value = next(iter(value.values()))
            made = single(value)
            c.encode(made, kind)  # Raises for a value that cannot be stored.
            return made

        return convert

    def _embedded(self, target: BoundClass) -> _Convert:
        made: Dict[str, Tuple[c.PropertyFacts, _Convert]] = {}

        def property_of(name: str) -> Tuple[c.PropertyFacts, _Convert]:
            if name not in made:
                if not target.has(name):
                    raise TypeMismatch(f"The embedded object has no property {name!r}")
                facts = target.find(name)
                made[name] = facts, self.of(facts)
            return made[name]

        def convert(value: Any) -> Any:
            if value is None or is_missing(value):
                return None
            if isinstance(value, Row):
                value = dict(value._entries())
            if not isinstance(value, dict):
                raise TypeMismatch(f"An embedded object needs a dictionary, not {type(value).__name__}")
            found = {}
            for name, element in value.items():
                facts, inner = property_of(name)
                try:
                    found[facts.name] = inner(element)
                except Exception as error:  # A strange object may raise anything.
                    raise _refused_inside(target, facts, error) from None
            return found

        return convert

    # Packing

    def pack(self, name: str, facts: c.PropertyFacts, values: Sequence[Any]) -> Packed:
        """Converted values as an Arrow column."""
        if facts.collection == c.C_NONE:
            return self._pack_elements(name, facts, values)
        there = _batches.validity(values)
        if facts.collection == c.C_DICTIONARY:
            names = [key for value in values for key in value or ()]
            elements = [element for value in values for element in (value or {}).values()]
            pair = Packed(
                "+s",
                (None,),
                (
                    ("key", len(names), _batches.single(c.P_STRING, names)),
                    ("value", len(names), self._pack_elements(name, facts, elements)),
                ),
            )
            return Packed("+m", (there, _batches.ends_of(values)), (("entries", len(names), pair),))
        elements = [element for value in values for element in value or ()]
        return Packed(
            "+l",
            (there, _batches.ends_of(values)),
            (("item", len(elements), self._pack_elements(name, facts, elements)),),
        )

    def _pack_elements(self, name: str, facts: c.PropertyFacts, values: Sequence[Any]) -> Packed:
        if facts.type == c.P_MIXED:
            return Packed(
                "+s", (_batches.validity(values),), (("json", len(values), _batches.single(c.P_STRING, values)),)
            )
        if facts.type == c.P_OBJECT:
            target = self._db._named(facts.target)
            if target.schema.embedded:
                return self._pack_embedded(name, target, values)
            if target.primary_key is None:
                return _batches.single(c.P_INT, values)._replace(metadata=_batches.metadata(LINK, target.schema.name))
            return _batches.single(target.primary_key.type, values)
        if facts.type == c.P_TIMESTAMP:
            return _pack_times(name, values)
        return _batches.single(facts.type, values)

    def _pack_embedded(self, name: str, target: BoundClass, values: Sequence[Any]) -> Packed:
        used = dict.fromkeys(key for value in values for key in value or ())
        children = []
        for key in used:
            facts = target.find(key)
            inner = [None if value is None else value.get(key) for value in values]
            children.append((facts.public_name or facts.name, len(values), self.pack(name, facts, inner)))
        return Packed("+s", (_batches.validity(values),), tuple(children))


class _Assigned:
    """Converts the values that a _Converter has made to values for attributes of objects."""

    def __init__(self, db: Any) -> None:
        self._db = db

    def value(self, facts: c.PropertyFacts, value: Any) -> Any:
        """The value of a property. DataError for a link to an object that does not exist."""
        if facts.collection == c.C_DICTIONARY:
            return {key: self._element(facts, element) for key, element in (value or {}).items()}
        if facts.collection != c.C_NONE:
            return [self._element(facts, element) for element in value or ()]
        return self._element(facts, value)

    def _element(self, facts: c.PropertyFacts, value: Any) -> Any:
        if value is None:
            return None
        if facts.type == c.P_MIXED:
            return self._any(_mixed.from_json(value))
        if facts.type != c.P_OBJECT:
            return value
        target = self._db._named(facts.target)
        if target.schema.embedded:
            return {name: self.value(target.find(name), part) for name, part in value.items()}
        return self._linked(target, value)

    def _any(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._any(element) for element in value]
        if not isinstance(value, dict) or isinstance(value, _mixed.Literal):
            return value
        mark, *_ = value or (None,)
        if mark == "$class":
            return self._linked(self._db._named(value["$class"]), value.get("$primaryKey", value.get("$ref")))
        if mark in _mixed.NOT_A_NUMBER:
            return _mixed.NOT_A_NUMBER[mark]
        return {key: self._any(element) for key, element in value.items()}

    def _linked(self, target: BoundClass, key: Any) -> Any:
        if target.primary_key is None:
            return self._db._object(target.key, key)
        found = self._db._found(target, c.encode(key, target.primary_key.type))
        if found is None:
            raise DataError(f"There is no {target.name} with primary key {key!r}")
        return found


def _refused_inside(target: BoundClass, facts: c.PropertyFacts, error: Exception) -> Exception:
    if isinstance(error, MemoryError):
        return error
    said, hint = (error.message, error.hint) if isinstance(error, Error) else (str(error), None)
    return (type(error) if isinstance(error, (DataError, ConstraintError)) else DataError)(
        f"{target.where(facts)}: {said}", hint=hint
    )


def _without_rows(value: Any) -> Any:
    """A value of type Any with objects in the form in which columns have links."""
    if isinstance(value, Row):
        bound = value._bound()
        key = None if bound.primary_key is None else value._read(bound.primary_key)  # type: ignore[attr-defined]
        return {"$class": bound.schema.name, **({"$ref": value._key} if key is None else {"$primaryKey": key})}
    if isinstance(value, dict):
        found = {key: _without_rows(element) for key, element in value.items()}
        return _mixed.Literal(found) if isinstance(value, _mixed.Literal) else found
    if isinstance(value, (list, tuple)):
        return [_without_rows(element) for element in value]
    return value


def _elements(value: Any) -> Sequence[Any]:
    if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__iter__"):
        raise TypeMismatch(f"Needs a list, not {type(value).__name__}")
    return list(value)


def _pairs(value: Any) -> List[Tuple[Any, Any]]:
    if hasattr(value, "items"):
        return list(value.items())
    found: List[Tuple[Any, Any]] = []
    for pair in _elements(value):
        if isinstance(pair, dict) and len(pair) == 2:
            pair = tuple(pair.values())
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeMismatch(f"Needs a dictionary, not {type(value).__name__}")
        found.append((pair[0], pair[1]))
    return found


def _pack_times(name: str, values: Sequence[Any]) -> Packed:
    numbers = [None if value is None else timestamp_ns(value) for value in values]
    for unit, size in (("n", 1), ("u", 10**3), ("m", 10**6), ("s", 10**9)):
        if all(number is None or (number % size == 0 and -(2**63) <= number // size < 2**63) for number in numbers):
            packed = _batches.single(c.P_INT, [None if number is None else number // size for number in numbers])
            return packed._replace(format=f"ts{unit}:UTC")
    raise _NoUnit(name)
