"""Converts DataFrames of pandas to tables of pyarrow, and back.

Columns of type `object` hold any value of Python: the property with the column's name decides how they are converted.
Without it pandas and pyarrow would decide by the values alone, and for example make a struct of each dictionary.
"""

from __future__ import annotations

import base64
import json
from datetime import datetime
from decimal import Decimal
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple
from uuid import UUID

from .errors import DataError
from .values import Float32, ObjectId, RawTimestamp, timestamp_ns

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]
    import pyarrow  # type: ignore[import-untyped, unused-ignore]

_MIXED = b"realm.mixed"


def is_pandas(rows: Any) -> bool:
    """Whether `rows` is a DataFrame of pandas. Does not import pandas."""
    kind = type(rows)
    return kind.__name__ == "DataFrame" and kind.__module__.split(".")[0] == "pandas"


def table_of(frame: "pandas.DataFrame", schema: Any) -> "pyarrow.Table":
    """A table with the columns of a frame, and the levels of its index that have names.

    schema: an object with __arrow_c_schema__: the columns that an export of the class has.
    """
    import pyarrow

    wanted = pyarrow.schema(schema)
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index(level=[name for name in frame.index.names if name is not None])
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise DataError(f"Two columns are called {next(name for name in names if names.count(name) > 1)!r}")
    fields, columns = [], []
    for number, name in enumerate(names):
        place = wanted.get_field_index(name)
        field = wanted.field(place) if place >= 0 else None
        array = _array(pyarrow, name, frame.iloc[:, number], field)
        fields.append(pyarrow.field(name, array.type))
        columns.append(array)
    return pyarrow.table(columns, schema=pyarrow.schema(fields))


def frame_of(table: "pyarrow.Table") -> "pandas.DataFrame":
    """A DataFrame that keeps the difference between None and not-a-number, and all digits of large integers in a
    column with None."""
    import pandas
    import pyarrow

    masked = {"int64": pandas.arrays.IntegerArray, "double": pandas.arrays.FloatingArray, "float": pandas.arrays.FloatingArray}
    table = _simple_table(table)
    frame = table.to_pandas(integer_object_nulls=True)
    for index, (field, column) in enumerate(zip(table.schema, table.columns)):
        if str(field.type) in masked and field.nullable:
            values, is_null = column.fill_null(0).to_numpy(), column.is_null().to_numpy()
            # In a plain column of floats None would become not-a-number, and in one of integers a float.
            if is_null.any() if values.dtype.kind == "i" else (values != values).any():
                frame.isetitem(index, masked[str(field.type)](values.copy(), is_null))
        elif any(_has_nulls_in_lists(pyarrow.types, chunk) for chunk in column.chunks):
            # Lists of Python: in the arrays of numpy that pyarrow would make, None would become not-a-number.
            frame.isetitem(index, pandas.Series(column.to_pylist(), dtype=object))
    return frame


def _has_nulls_in_lists(types: Any, array: Any) -> bool:
    if types.is_list(array.type):
        inner = array.flatten()
        return bool(inner.null_count) or _has_nulls_in_lists(types, inner)
    if types.is_map(array.type):
        return _has_nulls_in_lists(types, array.items)
    return types.is_struct(array.type) and any(_has_nulls_in_lists(types, part) for part in array.flatten())


def _simple_table(table: "pyarrow.Table") -> "pyarrow.Table":
    """The table with variable-length bytes in place of fixed-length ones inside collections: there pyarrow cannot
    convert the latter to values of Python."""
    import pyarrow

    fields = [field if _is_single(pyarrow, field.type) else field.with_type(_simple(pyarrow, field.type)) for field in table.schema]
    columns = [column if column.type == field.type else column.cast(field.type) for field, column in zip(fields, table.columns)]
    return pyarrow.table(columns, schema=pyarrow.schema(fields))


def _is_single(pa: Any, kind: Any) -> bool:
    return not (pa.types.is_list(kind) or pa.types.is_map(kind) or pa.types.is_struct(kind))


def _simple(pa: Any, kind: Any) -> Any:
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_simple(pa, kind.value_type)))
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, kind.item_field.with_type(_simple(pa, kind.item_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_simple(pa, field.type)) for field in kind])
    return pa.binary() if pa.types.is_fixed_size_binary(kind) or isinstance(kind, pa.BaseExtensionType) else kind


def _array(pa: Any, name: str, column: Any, field: Any) -> Any:
    if column.dtype != object:
        # Not-a-number means None, unless the property cannot hold None.
        is_number = field is not None and not field.nullable and column.dtype.kind == "f"
        tells = type(column.array).__name__ == "FloatingArray"  # It distinguishes None from not-a-number.
        found = pa.array(column.array if tells else column.to_numpy()) if is_number or tells else pa.array(column, from_pandas=True)
        return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
    values = [None if _is_missing(value) else value for value in column]
    kind = None
    if field is not None:
        kind, values = _Converter(pa, name).column(field, list(range(len(values))), values)
    for wanted in (kind, None):  # First the type of the class; if it fails, as for decimals, the choice of pyarrow.
        try:
            return pa.array(values, type=wanted)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            continue
    for row, value in enumerate(values):
        try:
            pa.array([value], type=kind)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"Row {row}, column {name!r}: {error}") from None
    raise DataError(f"Column {name!r}: its values have no type that all of them are of")


def _is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or NA."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or isinstance(value, (float, Decimal)) and value != value


class _Converter:
    """Converts values to forms that pyarrow accepts for the type of a property. A struct gets only the fields that
    occur in the values."""

    def __init__(self, pa: Any, name: str) -> None:
        self._pa = pa
        self._name = name

    def column(self, field: Any, rows: List[int], values: List[Any]) -> Tuple[Any, List[Any]]:
        """The Arrow type and the converted values. `rows` are the rows of the frame that the values come from."""
        types = self._pa.types
        if _MIXED in (field.metadata or {}):
            return field.type, [None if value is None else {"json": self._json(row, value)} for row, value in zip(rows, values)]
        if types.is_list(field.type):
            return self._lists(field.type, rows, values)
        if types.is_map(field.type):
            return self._maps(field.type, rows, values)
        if types.is_struct(field.type):
            return self._structs(field.type, rows, values)
        kind = field.type.storage_type if isinstance(field.type, self._pa.BaseExtensionType) else field.type
        return kind, [value.bytes if isinstance(value, (UUID, ObjectId)) else value for value in values]

    def _refused(self, row: int, what: str) -> DataError:
        return DataError(f"Row {row}, column {self._name!r}: {what}")

    def _lists(self, kind: Any, rows: List[int], values: List[Any]) -> Tuple[Any, List[Any]]:
        parts: List[Optional[Sequence[Any]]] = []
        for row, value in zip(rows, values):
            if value is not None and (isinstance(value, (str, bytes, dict)) or not hasattr(value, "__iter__")):
                raise self._refused(row, f"{value!r} is no list")
            parts.append(None if value is None else list(value))
        inner, grouped = self._elements(kind.value_field, rows, parts)
        return self._pa.list_(kind.value_field.with_type(inner)), grouped

    def _elements(self, field: Any, rows: List[int], parts: Sequence[Optional[Sequence[Any]]]) -> Tuple[Any, List[Any]]:
        """The elements of all lists as one column."""
        lengths = [len(part or ()) for part in parts]
        origin = [row for row, length in zip(rows, lengths) for _ in range(length)]
        inner, converted = self.column(field, origin, list(chain.from_iterable(part or () for part in parts)))
        ends = list(accumulate(lengths, initial=0))
        return inner, [None if part is None else converted[start:end] for part, start, end in zip(parts, ends, ends[1:])]

    def _maps(self, kind: Any, rows: List[int], values: List[Any]) -> Tuple[Any, List[Any]]:
        pairs: List[Optional[List[Any]]] = []
        for row, value in zip(rows, values):
            found = None if value is None else list(value.items() if isinstance(value, dict) else value)
            if any(not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in found or ()):
                raise self._refused(row, f"{value!r} is no dictionary")
            pairs.append(found)
        inner, grouped = self._elements(kind.item_field, rows, [None if found is None else [pair[1] for pair in found] for found in pairs])
        joined = [
            None if found is None else [(pair[0], value) for pair, value in zip(found, part)] for found, part in zip(pairs, grouped)]
        return self._pa.map_(kind.key_type, kind.item_field.with_type(inner)), joined

    def _structs(self, kind: Any, rows: List[int], values: List[Any]) -> Tuple[Any, List[Any]]:
        known = {field.name: field for field in kind}
        used: Dict[str, None] = {}
        for row, value in zip(rows, values):
            if value is not None and not isinstance(value, dict):
                raise self._refused(row, f"{value!r} is no dictionary, which an embedded object needs")
            for name in value or ():
                if name not in known:
                    raise self._refused(row, f"the embedded object has no property {name!r}")
                used[name] = None
        if not used:
            return kind, values
        there = [(row, value) for row, value in zip(rows, values) if value is not None]
        columns = {}
        fields = []
        for name in used:
            inner, converted = self.column(known[name], [row for row, _ in there], [value.get(name) for _, value in there])
            fields.append(known[name].with_type(inner))
            columns[name] = converted
        parts = iter(zip(*columns.values()))
        return self._pa.struct(fields), [None if value is None else dict(zip(columns, next(parts))) for value in values]

    def _json(self, row: int, value: Any) -> str:
        if isinstance(value, dict) and list(value) == ["json"] and isinstance(value["json"], str):
            return value["json"]  # The form in which an export has it.
        try:
            return json.dumps(_plain(value), allow_nan=False)
        except (TypeError, ValueError, OverflowError) as error:
            raise self._refused(row, str(error)) from None


def _plain(value: Any) -> Any:
    """A value of a Mixed property in the JSON form that the library reads; see docs/columns.md."""
    if hasattr(value, "item") and type(value).__module__ == "numpy":
        value = value.item()
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise OverflowError(f"{value} does not fit into 64 bits")
        return int(value)
    if isinstance(value, Float32):
        return {"$float32": _number(float(value))}
    if isinstance(value, float):
        found = _number(float(value))
        return {"$float": found} if isinstance(found, str) else found
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise TypeError(f"{value!r} has no time zone")
        seconds, nanoseconds = divmod(timestamp_ns(value), 1_000_000_000)
        if seconds < 0 and nanoseconds:  # Both must have the same sign.
            seconds, nanoseconds = seconds + 1, nanoseconds - 1_000_000_000
        return {"$seconds": seconds, "$nanoseconds": nanoseconds}
    if isinstance(value, RawTimestamp):
        return {"$seconds": value.seconds, "$nanoseconds": value.nanoseconds}
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"$bytes": base64.b64encode(value).decode("ascii")}
    for kind, mark in ((Decimal, "$decimal"), (UUID, "$uuid"), (ObjectId, "$objectId")):
        if isinstance(value, kind):
            return {mark: str(value)}
    if isinstance(value, dict):
        if any(not isinstance(key, str) for key in value):
            raise TypeError("The keys of a dictionary are texts")
        return {key: _plain(element) for key, element in value.items()}
    if isinstance(value, (list, tuple)) or type(value).__module__ == "numpy":
        return [_plain(element) for element in value]
    raise TypeError(f"A value of type {type(value).__name__} cannot be stored")


def _number(value: float) -> Any:
    if value != value:
        return "NaN"
    return value if abs(value) != float("inf") else "Infinity" if value > 0 else "-Infinity"
