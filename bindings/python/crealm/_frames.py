"""Makes tables of pyarrow and DataFrames of pandas and polars, without loss.

The library's Arrow stream has most columns in a form that each of these packages reads. This module makes the other
columns from values of Python: decimals, object ids, UUIDs, values of type Any, collections for pandas, and points in
time that 64 bits of nanoseconds cannot express.
"""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Protocol,
    Sequence,
    Set,
    Tuple,
)

from . import _arrow, _mixed
from . import _marshal as c
from ._handle import Handle
from ._shapes import DECIMAL, LINK, MIXED, OBJECT_ID, TARGET, UUID_NAME, Shape, decimal_of_bytes
from .errors import DataError, Error, LimitExceeded, UsageError
from .values import RawTimestamp, Timestamp, timestamp_ns

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]
    import polars
    import pyarrow  # type: ignore[import-untyped, unused-ignore]


class Columnar(Protocol):
    """Rows that have columns; see `columns`."""

    def _rows_handle(self) -> Handle: ...

    def _shown_columns(self) -> Optional[List[str]]: ...

    def _frozen_rows(self) -> "Columnar": ...


UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}  # Nanoseconds of each.
OBJECTS = "object"
_LEAST, _MOST = -(2**63), 2**63 - 1
_MISSING_TIME = _LEAST  # What numpy and pandas have in place of a missing time.
_DIGITS = 38  # Of the decimals of Arrow and polars.


def check_unit(unit: Optional[str]) -> None:
    """DataError if `unit` is no value of the argument `timestamps`."""
    if unit is not None and unit != OBJECTS and unit not in UNITS:
        raise DataError(f'timestamps is "ns", "us", "ms", "s", "object" or None, not {unit!r}')


# ------------------------------------------------------------------------------------------------
# Reading the columns
# ------------------------------------------------------------------------------------------------


class Exported:
    """The columns of results in one snapshot. `made` has the values of columns that are not taken from the stream, by
    their places."""

    def __init__(
        self, rows: Columnar, names: Sequence[str], is_made: Callable[[Shape], bool], unit: Optional[str]
    ) -> None:
        check_unit(unit)
        self.rows = rows._frozen_rows()
        handle = self.rows._rows_handle()
        wanted = list(names) or self.rows._shown_columns()
        self.shapes = _arrow.shapes(handle, wanted)
        self.names = [shape.name for shape in self.shapes] if wanted is None else wanted
        self.unit = unit
        self.made: Dict[int, List[Any]] = {}
        for place, shape in enumerate(self.shapes):
            if is_made(shape) or (unit == OBJECTS and shape.is_time):
                self.take(place)

    def take(self, place: int) -> None:
        """Reads the values of a column."""
        name, shape = self.names[place], self.shapes[place]
        try:
            self.made[place] = _arrow.read(self.rows._rows_handle(), name, shape)
        except LimitExceeded:
            if not shape.any(lambda part: part.is_time):
                raise
            self.made[place] = values_of_rows(self.rows, name)

    def take_far_times(self) -> bool:
        """Reads the columns of the stream that have times which it cannot express. Returns whether there are any."""
        found = False
        for place, shape in enumerate(self.shapes):
            if place not in self.made and shape.any(lambda part: part.is_time):
                try:
                    _arrow.scan(self.rows._rows_handle(), self.names[place])
                except LimitExceeded:
                    self.take(place)
                    found = True
        return found

    def streamed(self) -> List[str]:
        """The names of the columns that the stream has."""
        return [name for place, name in enumerate(self.names) if place not in self.made]

    def stream(self, read: Callable[[Any], Any]) -> Any:
        """The columns of the stream, as read(stream) makes them; None if there are none. The errors of the package
        become those of this one."""
        while True:
            names = self.streamed()
            if not names:
                return None
            try:
                return read(Stream(self.rows, names))
            except Error:
                raise
            except Exception as error:
                if not self.take_far_times():
                    raise DataError(str(error)) from error

    def length(self) -> int:
        """The number of rows."""
        return len(next(iter(self.made.values()))) if self.made else len(self.rows)  # type: ignore[arg-type]

    def check_names(self) -> None:
        """DataError if two columns have the same name."""
        double = [name for name in self.names if self.names.count(name) > 1]
        if double:
            raise DataError(f"Two columns are called {double[0]!r}")


class Stream:
    """The stream of some columns."""

    def __init__(self, rows: Columnar, names: Sequence[str]) -> None:
        self._rows, self._names = rows, names

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return _arrow.stream(self._rows._rows_handle(), self._names, _arrow.BATCH)


def values_of_rows(rows: Any, name: str) -> List[Any]:
    """The values of a column, read object by object, in the form in which `_shapes` reads them."""
    steps = [name] if rows._row_class().has(name) else name.split(".")
    return [_at_end(row, steps) for row in rows.snapshot()]


def _at_end(row: Any, steps: Sequence[str]) -> Any:
    for step in steps[:-1]:
        row = None if row is None else row[step]
    return None if row is None else _stored_value(row, row._facts(steps[-1]))


def _stored_value(row: Any, facts: Any) -> Any:
    """The value of a property as plain values, with links as primary keys or as keys of objects."""
    return _plain_value(row._read(facts._replace(kind=None)), facts.type == c.P_MIXED)


def _plain_value(value: Any, is_any: bool) -> Any:
    if hasattr(value, "_is_embedded_object"):
        bound = value._bound()
        if bound.schema.embedded:
            return {name: _stored_value(value, facts) for name, facts in bound.properties.items()}
        key = None if bound.primary_key is None else value._read(bound.primary_key)
        if is_any:
            return {"$class": bound.schema.name, **({"$ref": value._key} if key is None else {"$primaryKey": key})}
        return value._key if key is None else key
    if hasattr(value, "items"):
        found = {key: _plain_value(element, is_any) for key, element in value.items()}
        return _mixed.literal(found) if is_any else found
    if hasattr(value, "_db"):
        return [_plain_value(element, is_any) for element in value]
    return value


# ------------------------------------------------------------------------------------------------
# Points in time
# ------------------------------------------------------------------------------------------------


class Times(NamedTuple):
    """Points in time as numbers of a unit."""

    unit: str
    numbers: List[Optional[int]]


def in_unit(values: Sequence[Any], unit: Optional[str], name: str) -> Optional[Times]:
    """Points in time in a unit, or in the finest unit that has all of them. None if no unit has them exactly, or if
    `unit` is "object". DataError if the unit that is asked for does not have one of them exactly."""
    if unit == OBJECTS:
        return None
    numbers = [None if value is None else timestamp_ns(value) for value in values]
    for candidate in [unit] if unit else UNITS:
        size = UNITS[candidate]
        wrong = next(
            (row for row, number in enumerate(numbers) if number is not None and not _fits(number, size)), None
        )
        if wrong is None:
            return Times(candidate, [None if number is None else number // size for number in numbers])
        if unit:
            raise not_exact(name, wrong, values[wrong], unit)
    return None


def _fits(number: int, size: int) -> bool:
    return number % size == 0 and _LEAST < number // size <= _MOST


def not_exact(name: str, row: int, value: Any, unit: str) -> DataError:
    return DataError(
        f"Column {name!r}, row {row}: {shown_time(value)} is no time in {unit} of 64 bits, exactly",
        hint='timestamps="object" has all times; None chooses a unit for each column.',
    )


def shown_time(value: Any) -> str:
    """A time as text; ISO format with all digits."""
    if isinstance(value, RawTimestamp):
        return str(tuple(value))
    rest = getattr(value, "nanosecond", 0)
    text = value.isoformat().replace("+00:00", "")
    if rest:
        text += f".000000{rest:03}" if "." not in text else f"{rest:03}"
    return f"{text}Z"


def _texts_of_times(values: Sequence[Any], name: str) -> List[Optional[str]]:
    for row, value in enumerate(values):
        if isinstance(value, RawTimestamp):
            raise DataError(
                f"Column {name!r}, row {row}: {shown_time(value)} is a time before year 1 or after year 9999, "
                "and other rows have parts of a second",
                hint="to_pandas() and column() have such times.",
            )
    return [None if value is None else shown_time(value) for value in values]


# ------------------------------------------------------------------------------------------------
# Decimals
# ------------------------------------------------------------------------------------------------


def scale_of(values: Iterable[Any]) -> Optional[int]:
    """The number of digits behind the point that decimals of Arrow need to have all values; None if they cannot, as for
    not-a-number and values of very different size."""
    scale, most = 0, 0
    for value in values:
        if value is None:
            continue
        sign, digits, exponent = value.as_tuple()
        if not isinstance(exponent, int) or (sign and not value):
            return None  # Arrow has no not-a-number, no infinity and no negative zero.
        if value:
            scale, most = max(scale, -exponent), max(most, len(digits) + exponent)
        else:
            scale = max(scale, -exponent)
    return scale if most + scale <= _LARGEST and scale <= _LARGEST else None


_LARGEST = 34  # Digits of a decimal of a file.


# ------------------------------------------------------------------------------------------------
# pyarrow
# ------------------------------------------------------------------------------------------------


def arrow_table(rows: Columnar, names: Sequence[str], unit: Optional[str]) -> "pyarrow.Table":
    """A table of pyarrow."""
    import pyarrow

    register_types(pyarrow)
    found = Exported(rows, names, lambda shape: shape.extension == DECIMAL and shape.format == "w:16", unit)
    for place, shape in enumerate(found.shapes):  # Decimals that Arrow does not have stay the bytes of the file.
        if shape.extension == DECIMAL and shape.format == "w:16" and scale_of(found.made[place]) is None:
            del found.made[place]
    table = found.stream(lambda stream: pyarrow.RecordBatchReader.from_stream(stream).read_all())
    fields: List[Any] = [] if table is None else list(table.schema)
    columns: List[Any] = [] if table is None else list(table.columns)
    for place in range(len(found.names)):
        name, shape = found.names[place], found.shapes[place]
        if place in found.made:
            array = _arrow_array(pyarrow, name, shape, found.made[place], found.unit)
            kept = {key: value for key, value in shape.facts.items() if not key.startswith("ARROW:")}
            fields.insert(place, pyarrow.field(name, array.type, shape.is_nullable, kept or None))
            columns.insert(place, array)
        elif shape.is_time and unit not in (None, "ns"):
            fields[place] = fields[place].with_type(pyarrow.timestamp(unit, "UTC"))
            columns[place] = _cast_time(pyarrow, name, columns[place], unit)
    return pyarrow.table(columns, schema=pyarrow.schema(fields))


def _cast_time(pa: Any, name: str, column: Any, unit: Optional[str]) -> Any:
    assert unit is not None
    try:
        return column.cast(pa.timestamp(unit, "UTC"))
    except pa.ArrowInvalid:
        numbers = column.cast(pa.int64()).to_pylist()
        row = next(row for row, number in enumerate(numbers) if number is not None and number % UNITS[unit])
        raise not_exact(name, row, Timestamp.from_ns(numbers[row]), unit) from None


def _arrow_array(pa: Any, name: str, shape: Shape, values: List[Any], unit: Optional[str]) -> Any:
    """An array of values that the stream does not have."""
    if shape.extension == DECIMAL:
        return pa.array(values, pa.decimal128(_DIGITS, scale_of(values) or 0))
    leaves = _leaves(values, shape)
    times = in_unit(leaves, unit, name)
    if times is None:
        if shape.is_time:
            return pa.array(_texts_of_times(values, name), pa.string())
        _texts_of_times(leaves, name)
    kind = _arrow_type(pa, shape, None if times is None else times.unit)
    return pa.array([_stored(shape, value, None if times is None else UNITS[times.unit]) for value in values], kind)


def _leaves(values: Iterable[Any], shape: Shape) -> List[Any]:
    """The points in time in the values of a column, None among them."""
    if shape.is_time:
        return list(values)
    return [leaf for part, inner in _inner(values, shape) for leaf in _leaves(inner, part)]


def _inner(values: Iterable[Any], shape: Shape) -> List[Tuple[Shape, List[Any]]]:
    """The parts of a column with their values."""
    there = [value for value in values if value is not None]
    if shape.format == "+m":
        return [(shape.parts[0].parts[1], [element for value in there for element in value.values()])]
    if shape.is_list:
        return [(shape.parts[0], [element for value in there for element in value])]
    if shape.format == "+s" and MIXED not in shape.facts:
        return [(part, [value[part.name] for value in there]) for part in shape.parts]
    return []


_ARROW_NAMES = {"l": "int64", "g": "float64", "f": "float32", "b": "bool_", "u": "string", "z": "binary"}


def _arrow_type(pa: Any, shape: Shape, unit: Optional[str]) -> Any:
    if MIXED in shape.facts:
        return pa.struct([pa.field("json", pa.string())])
    if shape.is_time:
        return pa.string() if unit is None else pa.timestamp(unit, "UTC")
    if shape.format == "+m":
        key, value = shape.parts[0].parts
        return pa.map_(pa.string(), _arrow_field(pa, value, unit))
    if shape.is_list:
        return pa.list_(_arrow_field(pa, shape.parts[0], unit))
    if shape.format == "+s":
        return pa.struct([_arrow_field(pa, part, unit) for part in shape.parts])
    if shape.format.startswith("w:"):
        return pa.binary(int(shape.format[2:]))
    return getattr(pa, _ARROW_NAMES[shape.format])()


def _arrow_field(pa: Any, shape: Shape, unit: Optional[str]) -> Any:
    return pa.field(
        shape.name,
        _arrow_type(pa, shape, unit),
        True,
        {key: value for key, value in shape.facts.items() if key in (MIXED, LINK, TARGET)} or None,
    )


def _stored(shape: Shape, value: Any, size: Optional[int]) -> Any:
    """A value in the form of the stream, with times in a unit of `size` nanoseconds, or as texts."""
    if value is None:
        return None
    if MIXED in shape.facts:
        return {"json": _mixed.to_json(value)}
    if shape.is_time:
        return shown_time(value) if size is None else timestamp_ns(value) // size
    if shape.format == "+m":
        return [(key, _stored(shape.parts[0].parts[1], element, size)) for key, element in value.items()]
    if shape.is_list:
        return [_stored(shape.parts[0], element, size) for element in value]
    if shape.format == "+s":
        return {part.name: _stored(part, value[part.name], size) for part in shape.parts}
    if shape.extension == DECIMAL:
        return _arrow.decimal_bytes(value)
    return value.bytes if shape.extension in (OBJECT_ID, UUID_NAME) else value


_registered: Set[str] = set()


def register_types(pa: Any) -> None:
    """Tells pyarrow the types of object ids, and of decimals that it does not have, so that their values are ObjectId
    and Decimal."""
    if _registered:
        return

    def made(name: str, width: int, read: Callable[[bytes], Any]) -> Any:
        class Scalar(pa.ExtensionScalar):  # type: ignore[misc, name-defined, unused-ignore]
            def as_py(self, **_: Any) -> Any:
                return None if self.value is None else read(self.value.as_py())

        class Kind(pa.ExtensionType):  # type: ignore[misc, name-defined, unused-ignore]
            def __init__(self) -> None:
                super().__init__(pa.binary(width), name)

            def __arrow_ext_serialize__(self) -> bytes:
                return b""

            @classmethod
            def __arrow_ext_deserialize__(cls, storage_type: Any, serialized: bytes) -> Any:
                return cls()

            def __arrow_ext_scalar_class__(self) -> Any:
                return Scalar

        Kind.__name__ = name.split(".")[-1]  # pyarrow shows it as a part of the type.
        return Kind()

    for name, width, read in ((OBJECT_ID, 12, _arrow.object_id_of), (DECIMAL, 16, decimal_of_bytes)):
        try:
            pa.register_extension_type(made(name, width, read))
        except pa.ArrowException:  # The program has registered a type of its own.
            pass
        _registered.add(name)


# ------------------------------------------------------------------------------------------------
# pandas
# ------------------------------------------------------------------------------------------------


def pandas_frame(rows: Columnar, names: Sequence[str], unit: Optional[str]) -> "pandas.DataFrame":
    """A DataFrame of pandas. Values that pandas has no type for are objects of Python."""
    import pandas
    import pyarrow

    found = Exported(rows, names, lambda shape: bool(shape.extension or shape.parts), unit)
    table = found.stream(lambda stream: pyarrow.RecordBatchReader.from_stream(stream).read_all())
    if table is not None and unit not in (None, "ns", OBJECTS):
        for place, field in enumerate(table.schema):
            if pyarrow.types.is_timestamp(field.type):
                column = _cast_time(pyarrow, field.name, table.column(place), unit)
                table = table.set_column(place, field.with_type(column.type), column)
    frame = pandas.DataFrame(index=pandas.RangeIndex(found.length())) if table is None else _frame_of(table)
    for place in sorted(found.made):
        series = _series(pandas, found.names[place], found.shapes[place], found.made[place], unit)
        frame.insert(place, found.names[place], series, allow_duplicates=True)
    return frame


def _series(pandas: Any, name: str, shape: Shape, values: List[Any], unit: Optional[str]) -> Any:
    times = in_unit(values, unit, name) if shape.is_time else None
    if times is None:
        return pandas.Series(values, dtype=object)
    import numpy

    numbers = numpy.array([_MISSING_TIME if number is None else number for number in times.numbers], dtype="int64")
    return pandas.Series(numbers.view(f"datetime64[{times.unit}]")).dt.tz_localize("UTC")


def _frame_of(table: "pyarrow.Table") -> "pandas.DataFrame":
    """A DataFrame of single values that keeps the difference between None and not-a-number, and all digits of large
    integers in a column with None."""
    import pandas

    masked = {
        "int64": pandas.arrays.IntegerArray,
        "double": pandas.arrays.FloatingArray,
        "float": pandas.arrays.FloatingArray,
    }
    frame = table.to_pandas(integer_object_nulls=True)
    for index, (field, column) in enumerate(zip(table.schema, table.columns)):
        if str(field.type) in masked and field.nullable:
            values, is_null = column.fill_null(0).to_numpy(), column.is_null().to_numpy()
            # In a plain column of floats None would become not-a-number, and in one of integers a float.
            if is_null.any() if values.dtype.kind == "i" else (values != values).any():
                frame.isetitem(index, masked[str(field.type)](values.copy(), is_null))
    return frame


# ------------------------------------------------------------------------------------------------
# polars
# ------------------------------------------------------------------------------------------------

_OF_POLARS = (UUID_NAME, OBJECT_ID, DECIMAL)


def polars_frame(rows: Columnar, names: Sequence[str], unit: Optional[str]) -> "polars.DataFrame":
    """A DataFrame of polars. UUIDs and object ids are texts; decimals are Decimal, or texts if polars cannot have all
    values of the column; values of type Any have a type if all values of the column have the same."""
    import polars

    def is_made(shape: Shape) -> bool:
        return MIXED in shape.facts or shape.any(lambda part: part.extension in _OF_POLARS)

    found = Exported(rows, names, is_made, unit)
    found.check_names()
    for place, shape in enumerate(found.shapes):
        if MIXED in shape.facts and _kind_of_all(found.made[place]) is None:
            del found.made[place]  # A struct with JSON.
    frame = found.stream(polars.DataFrame)
    columns = [] if frame is None else frame.get_columns()
    if unit not in (None, "ns", OBJECTS):
        columns = [
            _polars_time(polars, series, str(unit)) if series.dtype == polars.Datetime else series for series in columns
        ]
    for place in sorted(found.made):
        columns.insert(place, _polars_series(polars, found.names[place], found.shapes[place], found.made[place], unit))
    return polars.DataFrame(columns)


def _kind_of_all(values: Iterable[Any]) -> Optional[type]:
    """The type of all values but None, if it is one that polars keeps; else None."""
    kinds = set(map(type, values)) - {type(None)}
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    return kind if kind in (int, float, bool, str, bytes) else None


def _polars_time(polars: Any, series: Any, unit: str) -> Any:
    wrong = (series.to_physical() % UNITS[unit] != 0).fill_null(False)
    if wrong.any():
        row = wrong.arg_true()[0]
        raise not_exact(series.name, row, Timestamp.from_ns(series.to_physical()[row]), unit)
    if unit == "s":
        raise UsageError('polars has no times in seconds: timestamps is "ns", "us" or "ms"')
    return series.dt.cast_time_unit(unit)


def _polars_series(polars: Any, name: str, shape: Shape, values: List[Any], unit: Optional[str]) -> Any:
    if MIXED in shape.facts:
        kinds = {
            int: polars.Int64,
            float: polars.Float64,
            bool: polars.Boolean,
            str: polars.String,
            bytes: polars.Binary,
        }
        return polars.Series(name, values, dtype=kinds[_kind_of_all(values) or str])
    times = in_unit(_leaves(values, shape), unit, name)
    if times is not None and times.unit == "s":
        times = _in_milliseconds(times)
    if times is None:
        _texts_of_times(_leaves(values, shape), name)
    form = _Polars(polars, times, scale_of(_decimals(values, shape)))
    stored = [form.stored(shape, value) for value in values]
    made = polars.Series(name, stored, dtype=form.kind(shape, False), strict=True)
    final = form.kind(shape, True)
    return made if made.dtype == final else made.cast(final)


def _in_milliseconds(times: Times) -> Optional[Times]:
    numbers = [None if number is None else number * 1000 for number in times.numbers]
    is_possible = all(number is None or _LEAST < number <= _MOST for number in numbers)
    return Times("ms", numbers) if is_possible else None


def _decimals(values: Iterable[Any], shape: Shape) -> List[Any]:
    if shape.extension == DECIMAL:
        return list(values)
    return [leaf for part, inner in _inner(values, shape) for leaf in _decimals(inner, part)]


class _Polars:
    """The types and values of a column for polars. `times`: None if times are texts; `scale`: None if decimals are."""

    def __init__(self, polars: Any, times: Optional[Times], scale: Optional[int]) -> None:
        self._pl, self._times, self._scale = polars, times, scale

    def kind(self, shape: Shape, is_final: bool) -> Any:
        """The type of a column. Before the final one, times are integers."""
        pl = self._pl
        if MIXED in shape.facts:
            return pl.Struct({"json": pl.String})
        if shape.is_time:
            return pl.String if self._times is None else pl.Datetime(self._times.unit, "UTC") if is_final else pl.Int64
        if shape.format == "+m":
            return pl.List(pl.Struct({"key": pl.String, "value": self.kind(shape.parts[0].parts[1], is_final)}))
        if shape.is_list:
            return pl.List(self.kind(shape.parts[0], is_final))
        if shape.format == "+s":
            return pl.Struct({part.name: self.kind(part, is_final) for part in shape.parts})
        if shape.extension == DECIMAL:
            return pl.String if self._scale is None else pl.Decimal(_DIGITS, self._scale)
        if shape.extension in _OF_POLARS:
            return pl.String
        kinds = {"l": pl.Int64, "g": pl.Float64, "f": pl.Float32, "b": pl.Boolean, "u": pl.String}
        return kinds.get(shape.format, pl.Binary)

    def stored(self, shape: Shape, value: Any) -> Any:
        """A value for the type before the final one."""
        if value is None:
            return None
        if MIXED in shape.facts:
            return {"json": _mixed.to_json(value)}
        if shape.is_time:
            return shown_time(value) if self._times is None else timestamp_ns(value) // UNITS[self._times.unit]
        if shape.format == "+m":
            return [
                {"key": key, "value": self.stored(shape.parts[0].parts[1], element)} for key, element in value.items()
            ]
        if shape.is_list:
            return [self.stored(shape.parts[0], element) for element in value]
        if shape.format == "+s":
            return {part.name: self.stored(part, value[part.name]) for part in shape.parts}
        if shape.extension == DECIMAL and self._scale is not None:
            return value
        return str(value) if shape.extension in _OF_POLARS else value
