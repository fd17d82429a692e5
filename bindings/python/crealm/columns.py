"""Columns: many objects at once, for data tools.

    db["Person"].to_pandas("name", "age")                  # also to_polars(), to_arrow(), to_dicts()
    duckdb.from_arrow(db["Person"].where("age > 30").select())  # anything that reads Arrow streams
    numpy.asarray(db["Person"].column("age"))

A column is the name of a property, or a path over single links: "boss.name", or Person.boss.name; its value is None
if a link is None. "@key" is the key of the object. The library reads the columns from one snapshot and copies them
once: the result stays valid when the database moves on or is closed.

    in the database         in Arrow
    int, bool, float        int64, bool, double
    Float32                 float
    str, bytes              string, binary
    datetime                timestamp in nanoseconds, UTC: DataError for times before 1677 or after 2262
    Decimal                 16 bytes as the file has them, extension realm.decimal128
    ObjectId, UUID          12 bytes, extension realm.objectid; 16 bytes, extension arrow.uuid
    a link                  the primary key of the object, or its key as int64 if its class has no primary key
    an embedded object      struct
    list, set               list
    dict                    map
    Any                     struct with one string, json: docs/columns.md

These are the types of select(). to_pandas(), to_polars() and to_arrow() have values instead of bytes:

                        to_pandas()             to_polars()                 to_arrow()
    Decimal             Decimal                 Decimal, or texts           decimal128, or the extension type
    ObjectId            ObjectId                text                        the extension type, as ObjectId
    UUID                UUID                    text                        the extension type, as UUID
    list, set, dict     list, dict              as in Arrow                 as in Arrow
    Any                 its value               its type, if all are of     struct with JSON
                                                one type; else as in Arrow

add_many() restores all of these: out and in again gives equal objects.

For enums and dates (see `kinds`) Arrow has the stored values; col[i], loops and to_list() return members and dates.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple

from . import _arrow, _frames
from ._handle import Handle
from ._shown import COLUMNS, ROWS, counted, table, text, values
from .errors import DataError, Error, LimitExceeded, NotSupportedError, QueryError
from .expressions import Path
from .kinds import Kind

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]
    import polars
    import pyarrow  # type: ignore[import-untyped, unused-ignore]

_ROWS = 65536
# Arrow formats of fixed width: the code of `struct`, the width in bytes, and numpy's name for the type.
_FIXED: Dict[str, Tuple[str, int, str]] = {
    "l": ("q", 8, "<i8"),
    "g": ("d", 8, "<f8"),
    "f": ("f", 4, "<f4"),
    "tsn:UTC": ("q", 8, "<M8[ns]"),
    "tsu:UTC": ("q", 8, "<M8[us]"),
    "tsm:UTC": ("q", 8, "<M8[ms]"),
    "tss:UTC": ("q", 8, "<M8[s]"),
    "b": ("?", 1, "|b1"),
}


TIMES = {"ns": "tsn:UTC", "us": "tsu:UTC", "ms": "tsm:UTC", "s": "tss:UTC"}  # The formats of points in time.
_NO_VALUE: Any = object()


class Column(Sequence[Any]):
    """The values of a column, in their own memory. col[i], len(col), loops and to_list() return the same values as
    attributes; for links the key of the object, for Any plain lists and dictionaries, and for links in it dictionaries
    such as {"$class": "Person", "$primaryKey": 5}.

    Numbers, bools and points in time (in `unit` since 1970) can be used without a copy: `values` is a memoryview,
    and numpy.asarray(col) an array. From Python 3.12 on memoryview(col) works, too, except for points in time, because
    numpy would see plain integers. If `validity` marks a value as None, its number in `values` has no meaning. In an
    array of numpy, None is NaN among floats and NaT among points in time. Integers and bools with None need
    to_numpy(null=…), to_masked(), or numpy.asarray(col, dtype=object); otherwise DataError.
    """

    __slots__ = ("_array", "_type", "_kind", "_values", "_bytes")

    def __init__(self, array: _arrow.Array, type: _arrow.Type, kind: Optional[Kind] = None) -> None:
        self._array = array
        self._type = type
        self._kind = kind
        self._values: Optional[List[Any]] = None
        self._bytes: Optional[memoryview] = None

    @property
    def unit(self) -> Optional[str]:
        """The unit of points in time: "ns", "us", "ms" or "s"; None for other values."""
        return next((unit for unit, form in TIMES.items() if form == self._type.format), None)

    def __len__(self) -> int:
        return self._array.length

    @property
    def null_count(self) -> int:
        """How many values are None."""
        return self._array.null_count

    @property
    def validity(self) -> Optional[memoryview]:
        """A bit for each value, beginning with the lowest bit of the first byte; 0 means None. The property is None if
        no value is None."""
        return self._array.validity

    @property
    def values(self) -> memoryview:
        """The numbers, without a copy. NotSupportedError for texts and other values that are no numbers."""
        code, width, _ = self._fixed()
        if self._bytes is None:
            if code == "?":
                self._bytes = memoryview(bytes(_arrow.bits(self._array, 1)))
            else:
                self._bytes = self._array.buffer(1, self._array.length * width)
        return self._bytes.cast("B").cast(code)  # type: ignore[call-overload, no-any-return]

    def _fixed(self) -> Tuple[str, int, str]:
        try:
            return _FIXED[self._type.format]
        except KeyError:
            raise NotSupportedError(
                "The values of this column are no numbers", hint="Use to_list(), or to_arrow() of the results."
            ) from None

    def __buffer__(self, flags: int) -> memoryview:
        if self.null_count:
            raise BufferError("Some values are None, for which a buffer has no number: `values` and `validity` have both")
        # numpy prefers a buffer to `__array_interface__`, but a buffer has no type for points in time.
        if self.unit is not None:
            raise BufferError("Points in time have no buffer of their own: `values` has their numbers since 1970")
        return self.values

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        """numpy reads this first. AttributeError if the values are no numbers, or some are None, or they are points in
        time: of those numpy would make integers where the program asks for objects."""
        if self._type.format not in _FIXED or self.null_count or self.unit is not None:
            raise AttributeError("__array_interface__")
        return {"version": 3, "shape": (len(self),), "typestr": self._fixed()[2], "data": self.values.cast("B")}

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        """numpy calls this if the values have no `__array_interface__`."""
        import numpy

        if self._type.format not in _FIXED or dtype is not None and numpy.dtype(dtype) == object:
            return numpy.array(self._all(), dtype=dtype)
        if copy is False and self.null_count:
            raise ValueError("Values of which some are None are copied for numpy")
        found = self.to_masked()
        if not self.null_count:
            values = found.data.copy() if copy else found.data
            return values if dtype is None else values.astype(dtype, copy=False)
        kind = found.dtype if dtype is None else numpy.dtype(dtype)
        if kind.kind not in "fcmM":
            raise DataError(
                f"{self.null_count} of {len(self)} values are None, for which {kind} has no value",
                hint="Use to_numpy(null=…), to_masked(), or numpy.asarray(column, dtype=object).")
        found = found.astype(kind)
        return found.filled(numpy.array("NaT" if kind.kind in "mM" else "nan").astype(kind))

    def to_numpy(self, *, null: Any = _NO_VALUE) -> Any:
        """An array of numpy. null: the value in place of None; without it the array is that of numpy.asarray().
        DataError for integers and bools with None and without `null`, and if the array cannot hold `null`."""
        import numpy

        if null is _NO_VALUE or self._type.format not in _FIXED:
            return numpy.asarray(self if null is _NO_VALUE else [null if value is None else value for value in self._all()])
        found = self.to_masked()
        filler = numpy.asarray(null)
        if not numpy.can_cast(filler.dtype, found.dtype, "same_kind"):
            raise DataError(f"{null!r} cannot stand among values of type {found.dtype}")
        return found.filled(filler.astype(found.dtype))

    def to_masked(self) -> Any:
        """A masked array of numpy, in which None is masked. NotSupportedError for texts and other values that are no
        numbers."""
        import numpy

        values = numpy.frombuffer(self.values.cast("B"), dtype=self._fixed()[2])
        mask = numpy.array(_arrow.bits(self._array, 0)) == 0 if self.null_count else numpy.ma.nomask
        return numpy.ma.MaskedArray(values, mask)

    def to_list(self) -> List[Any]:
        """The values as a list of Python."""
        return list(self._all())

    def _all(self) -> List[Any]:
        if self._values is None:
            values = _arrow.values(self._array, self._type)
            if self._kind is not None:
                read = self._kind.read
                values = [None if value is None else read(value) for value in values]
            self._values = values
        return self._values

    def __getitem__(self, index: Any) -> Any:
        return self._all()[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._all())

    def __repr__(self) -> str:
        return f"<Column of {len(self)} values>"

    def _repr_html_(self) -> str:
        """A table of the first values, for Jupyter."""
        shown = self._all()[:ROWS]
        return values(shown, len(self) - len(shown))


class _Objects(Column):
    """A column of objects of Python."""

    __slots__ = ()

    def __init__(self, values: List[Any], kind: Optional[Kind]) -> None:
        super().__init__(_arrow.Numbers([None if value is None else 0 for value in values]), _arrow.Type("", ""), kind)
        self._values = values if kind is None else [None if value is None else kind.read(value) for value in values]


class Columnar:
    """Base of everything that can be read by columns: results, tables, and lists and sets of objects."""

    __slots__ = ()

    def _rows_handle(self) -> Handle:
        """A handle of the library for results with the rows."""
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """An Arrow stream of all columns, for pyarrow, pandas, polars, duckdb and others. `requested_schema` is
        ignored."""
        return _arrow.stream(self._rows_handle(), self._shown_columns(), _ROWS)

    def __arrow_c_schema__(self) -> Any:
        return _arrow.schema(self._rows_handle(), self._shown_columns())

    def _shown_columns(self) -> Optional[List[str]]:
        """The columns of an export without names; None: all properties of the class in the file."""
        return None

    def _kind_of(self, column: str) -> Optional[Kind]:
        """How a model converts the stored values of a column; None if it uses them unchanged."""
        raise NotImplementedError

    def _frozen_rows(self) -> Columnar:
        """The same rows, frozen at this snapshot, for all threads."""
        raise NotImplementedError

    def select(self, *columns: Any) -> Selection:
        """Some columns of this snapshot as an Arrow stream, which may be read on any thread:
        polars.DataFrame(people.select("name", "boss.name")). Without names all columns. UsageError inside
        a write."""
        return Selection(self._frozen_rows(), [column_name(column) for column in columns])

    def to_arrow(self, *columns: Any, timestamps: Optional[str] = None) -> "pyarrow.Table":
        """A table of pyarrow with some columns; without names with all properties. timestamps: as for to_pandas();
        "object" means texts."""
        return _frames.arrow_table(self, [column_name(column) for column in columns], timestamps)

    def to_pandas(self, *columns: Any, timestamps: Optional[str] = None) -> "pandas.DataFrame":
        """A DataFrame of pandas; also needs pyarrow. A column of integers with None has the type Int64, because in the
        column of floats that pandas would make large integers lose digits.

        timestamps: the unit of points in time: "ns", "us", "ms" or "s"; DataError, with column, row and value, if a
                    time is not exact in it. "object" makes objects of Python. None chooses for each column the finest
                    unit that has all values exactly: nanoseconds, unless a time is before 1677 or after 2262."""
        return _frames.pandas_frame(self, [column_name(column) for column in columns], timestamps)

    def to_polars(self, *columns: Any, timestamps: Optional[str] = None) -> "polars.DataFrame":
        """A DataFrame of polars. timestamps: as for to_pandas(); "object" means texts."""
        return _frames.polars_frame(self, [column_name(column) for column in columns], timestamps)

    def to_xlsx(self, path: Any) -> Dict[str, int]:
        """Writes the objects into a new workbook of Excel: see Database.to_xlsx(). DataError for values that are no
        objects."""
        results = self._results()
        found: Dict[str, int] = results._db._write_workbook(path, [results])
        return found

    def column(self, name: Any, *, timestamps: Optional[str] = None) -> Column:
        """The values of one column. NotSupportedError for collections and embedded objects, LimitExceeded for
        texts of more than two gigabytes. timestamps: as for to_pandas(); if no unit has all times exactly, the column
        has them as objects of Python, without `values`."""
        _frames.check_unit(timestamps)
        handle, name = self._rows_handle(), column_name(name)
        (shape,) = _arrow.shapes(handle, [name])
        if not _arrow.has_single_values(shape):
            raise NotSupportedError(f"{name!r} is no column of single values", hint="Use to_arrow().")
        try:
            rows, type = _arrow.fetch_typed(handle, 0, sys.maxsize, name)
        except LimitExceeded:
            if not shape.is_time:
                raise
            return self._times(name, _frames.values_of_rows(self._results(), name), timestamps)
        if _arrow.fetch(handle, rows.length, 1, ()).length:
            raise LimitExceeded(f"{name!r} is too large for one column", hint="to_arrow() gives it in pieces.")
        if shape.is_time and timestamps not in (None, "ns"):
            return self._times(name, _arrow.values(rows.arrays[0], type), timestamps)
        return Column(rows.arrays[0], type, self._kind_of(name))

    def _times(self, name: str, values: List[Any], unit: Optional[str]) -> Column:
        """A column of points in time that are not nanoseconds."""
        times = _frames.in_unit(values, unit, name)
        if times is None:
            return _Objects(values, self._kind_of(name))
        return Column(_arrow.Numbers(times.numbers), _arrow.Type(TIMES[times.unit], ""), self._kind_of(name))

    def _results(self) -> Any:
        """The results with the rows."""
        raise NotImplementedError


def column_name(column: Any) -> str:
    """The name of a column, from its name or from a path of a model."""
    if isinstance(column, Path):
        steps = column._as_part().steps
        if any(step.keys or step.name.startswith("@") for step in steps):
            raise QueryError(f"{column!r}: a column is a property, not a part of a collection")
        return ".".join(step.name for step in steps)
    if not isinstance(column, str):
        raise TypeError(f"Names of columns are texts, not {type(column).__name__}")
    return column


class Selection:
    """Some columns of results, as an Arrow stream. The file keeps their snapshot while this object exists."""

    __slots__ = ("_rows", "_columns")

    def __init__(self, rows: Columnar, columns: Sequence[str]) -> None:
        self._rows = rows
        self._columns = columns or rows._shown_columns()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return _arrow.stream(self._rows._rows_handle(), self._columns, _ROWS)

    def __arrow_c_schema__(self) -> Any:
        return _arrow.schema(self._rows._rows_handle(), self._columns)

    def to_dicts(self) -> List[Dict[str, Any]]:
        """The rows as dictionaries, without an object for each row: select("name", "boss.name").to_dicts(). The keys are
        the names of the columns as they were given. A link is the primary key of its object, or the object key in a
        class without one; collections are lists and dictionaries, embedded objects dictionaries."""
        handle = self._rows._rows_handle()
        shapes = _arrow.shapes(handle, self._columns)
        names = list(self._columns or (shape.name for shape in shapes))
        kinds = [self._rows._kind_of(name) for name in names]
        made: List[Dict[str, Any]] = []
        for page in _arrow.pages(handle, names, shapes):
            columns = [
                column if kind is None else [None if value is None else kind.read(value) for value in column]
                for kind, column in zip(kinds, page)
            ]
            made += [dict(zip(names, row)) for row in zip(*columns)]
        return made

    def __repr__(self) -> str:
        return f"<Selection of {len(self._columns or ()) or 'all'} columns>"

    def _repr_html_(self) -> str:
        """A table of the first rows, for Jupyter."""
        try:
            handle = self._rows._rows_handle()
            shapes = _arrow.shapes(handle, self._columns)
            names = list(self._columns or (shape.name for shape in shapes))
            columns = []
            for name, shape in zip(names[:COLUMNS], shapes):
                kind, column = self._rows._kind_of(name), _arrow.read(handle, name, shape, ROWS)
                columns.append(column if kind is None else [None if value is None else kind.read(value) for value in column])
            count = len(self._rows)  # type: ignore[arg-type]
            caption = f"{counted(count, 'row')}, {counted(len(names), 'column')}"
            return table(caption, names, list(zip(*columns)), max(count - ROWS, 0))
        except Error:
            return text(self)
