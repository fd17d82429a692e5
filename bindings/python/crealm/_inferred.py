"""Makes the declaration of a class from the columns of a DataFrame or of an Arrow stream."""

from __future__ import annotations

import re
from ctypes import byref
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple
from uuid import UUID

from . import _batches
from ._intake import check_dtype, frame_of, is_missing, of_package
from ._prototypes import ArrowArray, ArrowSchema
from ._shapes import DECIMAL, MIXED, OBJECT_ID, UUID_NAME, Shape, not_supported, pointers, shape_of
from .errors import DataError, NotSupportedError, SchemaError
from .schema import ClassSchema, Prop
from .values import Float32, ObjectId, RawTimestamp

_NUMBERS = {"f": Float32, "e": Float32, "g": float, "b": bool, "tdD": datetime, "tdm": datetime}
_OF_EXTENSION: Dict[str, Any] = {DECIMAL: Decimal, OBJECT_ID: ObjectId, UUID_NAME: UUID}


class _Column(NamedTuple):
    """A column of the new class. type: a type of Python, or a list or dictionary of one; parts: the properties of an
    embedded object, whose class has the name `type`."""

    type: Any
    is_optional: bool
    parts: "Dict[str, _Column]" = {}


def schema_of(frame: Any, name: str, primary_key: Optional[str], indexed: Sequence[str]) -> List[ClassSchema]:
    """The declaration of a class with a property for each column, and of classes for embedded objects."""
    columns = _columns_of(frame, name)
    for wanted in (*indexed, *([] if primary_key is None else [primary_key])):
        if wanted not in columns:
            raise SchemaError(f"{wanted!r} is no column of the frame")
    if primary_key is not None and columns[primary_key].is_optional:
        raise DataError(f"Column {primary_key!r}: some values are None, and a primary key has none")
    return list(_classes(name, columns, primary_key, indexed, False))


def _classes(
    name: str, columns: Dict[str, _Column], primary_key: Optional[str], indexed: Sequence[str], embedded: bool
) -> Iterable[ClassSchema]:
    properties = {}
    for column, found in columns.items():
        is_optional = found.is_optional and not found.parts
        properties[column] = Prop(found.type, optional=is_optional, indexed=column in indexed and column != primary_key)
        if found.parts:
            inner = found.type if isinstance(found.type, str) else found.type.__args__[0]
            yield from _classes(getattr(inner, "__forward_arg__", inner), found.parts, None, (), True)
    yield ClassSchema(name, properties, primary_key=primary_key, embedded=embedded)


def _columns_of(frame: Any, name: str) -> Dict[str, _Column]:
    if of_package(frame, "pandas.DataFrame"):
        return _of_pandas(frame, name)
    capsule = _batches.capsule_of(frame)
    stream = _batches.stream_of(capsule)
    schema = ArrowSchema()
    _batches.check(stream, stream.get_schema(byref(stream), byref(schema)))
    try:
        shapes = shape_of(schema).parts
        has_null = [False] * len(shapes)
        while True:
            rows = ArrowArray()
            _batches.check(stream, stream.get_next(byref(stream), byref(rows)))
            if not rows.release:
                break
            for place, child in enumerate(pointers(rows.n_children, rows.children)):
                has_null[place] = has_null[place] or _batches.has_null(ArrowArray.from_address(child))
            _batches.release(rows)
    finally:
        _batches.release(schema)
    return {shape.name: _of_shape(name, shape, null) for shape, null in zip(shapes, has_null)}


def _of_shape(owner: str, shape: Shape, is_optional: bool) -> _Column:
    if shape.dictionary is not None:
        shape = shape.dictionary._replace(name=shape.name)
    form = shape.format
    if form == "n" or MIXED in shape.facts or (form == "+s" and [part.name for part in shape.parts] == ["json"]):
        return _Column(Any, True)
    if shape.extension in _OF_EXTENSION:
        return _Column(_OF_EXTENSION[shape.extension], is_optional)
    if form in _NUMBERS:
        return _Column(_NUMBERS[form], is_optional)
    if re.fullmatch("[cCsSiIlL]", form):
        return _Column(int, is_optional)
    if form in ("u", "U", "vu"):
        return _Column(str, is_optional)
    if form in ("z", "Z", "vz") or form.startswith("w:"):
        return _Column(bytes, is_optional)
    if shape.is_time:
        return _Column(datetime, is_optional)
    if form.startswith("d:"):
        return _Column(Decimal, is_optional)
    if form == "+s":
        kind = f"{owner}_{shape.name}"
        return _Column(kind, True, {part.name: _of_shape(kind, part, part.is_nullable) for part in shape.parts})
    if shape.is_list or form == "+m":
        part = shape.parts[0].parts[1] if form == "+m" else shape.parts[0]
        inner = _of_shape(owner, part._replace(name=shape.name), part.is_nullable)
        if not isinstance(inner.type, str) and (inner.parts or getattr(inner.type, "__origin__", None)):
            return _Column(Any, True)  # Lists of lists.
        element = (
            Optional[inner.type] if inner.is_optional and not inner.parts and inner.type is not Any else inner.type
        )
        made: Any = Dict[str, element] if form == "+m" else List[element]  # type: ignore[valid-type]
        return _Column(made, False, inner.parts)
    refused = not_supported(form)
    raise NotSupportedError(f"Column {shape.name!r}: {refused.message}", hint=refused.hint)


# ------------------------------------------------------------------------------------------------
# Columns of Python objects
# ------------------------------------------------------------------------------------------------

_KINDS: Tuple[Tuple[Any, Any], ...] = (
    (bool, bool),
    (int, int),
    (Float32, Float32),
    (float, float),
    (str, str),
    (bytes, bytes),
    (datetime, datetime),
    (date, datetime),
    (RawTimestamp, datetime),
    (Decimal, Decimal),
    (UUID, UUID),
    (ObjectId, ObjectId),
)


def _of_pandas(frame: Any, name: str) -> Dict[str, _Column]:
    if any(index is not None for index in frame.index.names):
        frame = frame.reset_index(level=[index for index in frame.index.names if index is not None])
    found = {}
    for number, column in enumerate(map(str, frame.columns)):
        if column in found:
            raise DataError(f"Two columns are called {column!r}")
        series = frame.iloc[:, number]
        found[column] = _of_values(series) if series.dtype == object else _of_dtype(column, series)
    return found


def _of_dtype(name: str, series: Any) -> _Column:
    if type(series.dtype).__name__ == "SparseDtype":
        series = series.sparse.to_dense()
    if hasattr(series, "cat"):
        series = series.astype(series.cat.categories.dtype)
        if series.dtype == object:
            return _of_values(series)
    kinds = {
        "i": int,
        "u": int,
        "b": bool,
        "M": datetime,
        "f": Float32 if str(series.dtype).lower() == "float32" else float,
    }
    kind = kinds.get(series.dtype.kind)
    if kind is None and type(series.dtype).__name__ == "StringDtype":
        kind = str
    if kind is None:
        import pyarrow  # type: ignore[import-untyped, unused-ignore]

        check_dtype(name, series)
        try:
            table = pyarrow.table({name: pyarrow.array(series, from_pandas=True)})
        except (pyarrow.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"Column {name!r} of type {series.dtype}: {error}") from None
        return _columns_of(table, "")[name]
    return _Column(kind, bool(series.isna().any()))


def _of_values(values: Iterable[Any], is_inside: bool = False) -> _Column:
    """The type of values of Python: the one that all have, else Any. is_inside: they are elements of collections; then
    the elements of their own collections do not count."""
    there = [value for value in values if not is_missing(value)]
    is_optional = len(there) < sum(1 for _ in values)
    kinds: Set[Any] = {_kind_of(value) for value in there}
    if kinds == {int, float}:
        kinds = {float}
    if len(kinds) != 1:
        return _Column(Any, True)
    kind = kinds.pop()
    if kind not in (list, dict):
        return _Column(Any if kind is None else kind, is_optional or kind is None)
    if is_inside:
        return _Column(List[Any], is_optional)
    elements = [element for value in there for element in (value.values() if kind is dict else value)]
    inner = _of_values(elements, is_inside=True)
    if getattr(inner.type, "__origin__", None):
        return _Column(Any, True)
    if kind is dict and any(
        not isinstance(key, str) or "." in key or key[:1] == "$" for value in there for key in value
    ):
        return _Column(Any, True)
    element = Optional[inner.type] if inner.is_optional and inner.type is not Any else inner.type
    return _Column(Dict[str, element] if kind is dict else List[element], False)  # type: ignore[valid-type]


def _kind_of(value: Any) -> Any:
    if type(value).__module__ == "numpy" and hasattr(value, "item") and not getattr(value, "ndim", 0):
        value = value.item()
    if isinstance(value, dict):
        return dict
    if isinstance(value, (list, tuple, set, frozenset)) or type(value).__name__ == "ndarray":
        return list
    return next((kind for types, kind in _KINDS if isinstance(value, types)), None)
