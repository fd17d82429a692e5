"""Values as *cells*: JSON with the type of a value, without loss, and short enough for a table.

Every cell is an object with "t", its type:

    {"t": "null"}
    {"t": "bool", "v": true}
    {"t": "int", "v": 31}                      a text if a number of JavaScript would not be exact: "9007199254740993"
    {"t": "float", "v": 1.5}                   "NaN", "Infinity", "-Infinity" as text
    {"t": "float32", "v": 1.2300000190734863, "text": "1.23"}
    {"t": "string", "v": "…"}                  a long text is cut: "length" is the number of its characters
    {"t": "binary", "size": 3, "hex": "010203"}    the first bytes; "media" if they are a picture
    {"t": "date", "v": "2024-05-06T07:08:09.123456789Z", "ns": "1714979289123456789"}   any year; "ns" are nanoseconds since 1970
    {"t": "decimal", "v": "1.50"}  {"t": "uuid", "v": "…"}
    {"t": "objectId", "v": "…", "time": "…"}   the time that is part of it
    {"t": "link", "class": "Person", "key": 12, "label": "Ann"}
    {"t": "object", "class": "Address", "key": 3, "fields": [["city", cell], …], "more": 2}     an embedded object
                                               keys have the form of integers: a text from 2^53 on, as in synchronized files
    {"t": "list", "count": 3, "items": [cell, …]}      the first few elements; the same for "set"
    {"t": "dict", "count": 3, "items": [["key", cell], …]}
    {"t": "error", "kind": "CorruptFileError", "message": "…"}     a value that cannot be read, and why; other values are shown

Texts are the same as in the file, also with control characters: a client must show them as text, never as markup.
"""

from __future__ import annotations

import math
import struct
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from ..collections import Dictionary, SetView
from ..collections import List as ListView
from ..errors import Error
from ..objects import Object
from ..schema import ClassSchema, Prop
from ..values import Float32, ObjectId, RawTimestamp, timestamp_ns

Cell = Dict[str, Any]

_EXACT = 1 << 53  # Integers below this are exact in JavaScript.
_LABELS = ("name", "title", "label", "subject", "text")  # Names of properties by which people recognise an object.
_MEDIA = {
    b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF87a": "image/gif", b"GIF89a": "image/gif"}  # fmt: skip


class Limits(NamedTuple):
    """How much of a value a cell shows."""

    text: int  # Characters.
    bytes: int
    items: int  # Elements of a collection, or properties of an embedded object.


TABLE = Limits(text=160, bytes=16, items=3)
PAGE = Limits(text=4000, bytes=64, items=8)


def cell(value: Any, prop: Optional[Prop] = None, limits: Limits = TABLE, depth: int = 2) -> Cell:
    """The cell of a value. prop: the property of the value, if known. depth: how many levels of nested collections and embedded objects are
    shown."""
    if value is None:
        return {"t": "null"}
    if isinstance(value, float):
        return _single(Float32(value), limits) if isinstance(value, Float32) or (prop is not None and prop.type is Float32) else _double(value)
    maker = next((make for kind, make in _SINGLE if isinstance(value, kind)), None)
    if maker is not None:
        return maker(value, limits)
    if isinstance(value, Object):
        return _embedded(value, limits, depth) if is_embedded(value) else link(value)
    if isinstance(value, Dictionary):
        pairs = _entries(lambda: [[key, cell(element, prop, limits, depth - 1)] for key, element in pairs_of(value, 0, limits.items)], depth)
        return {"t": "dict", "count": len(value), "items": pairs}
    elements = _entries(lambda: [cell(element, prop, limits, depth - 1) for element in elements_of(value, 0, limits.items)], depth)
    return {"t": "set" if isinstance(value, SetView) else "list", "count": len(value), "items": elements}


def readable(read: Callable[[], Any], prop: Optional[Prop] = None, limits: Limits = TABLE) -> Cell:
    """The cell of the value that `read` returns; a cell of type "error" if it raises."""
    try:
        return cell(read(), prop, limits)
    except (Error, KeyError) as error:
        return fault(error)


def fault(error: BaseException) -> Cell:
    """The cell of a value that cannot be read."""
    return {"t": "error", "kind": type(error).__name__, "message": getattr(error, "message", str(error))}


def exact(number: int) -> Any:
    """An integer, or its digits as text if JavaScript cannot hold it exactly."""
    return number if -_EXACT < number < _EXACT else str(number)


# ------------------------------------------------------------------------------------------------
# Single values
# ------------------------------------------------------------------------------------------------


def _text(value: str, limits: Limits) -> Cell:
    if len(value) <= limits.text:
        return {"t": "string", "v": value}
    return {"t": "string", "v": value[: limits.text], "length": len(value), "cut": True}


def _double(value: float) -> Cell:
    return {"t": "float", "v": _number(value)}


def _single(value: Float32, limits: Limits) -> Cell:
    found = {"t": "float32", "v": _number(float(value))}
    return {**found, "text": short_single(value)} if math.isfinite(value) else found


def _number(value: float) -> Any:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def short_single(value: float) -> str:
    """A 32-bit float with the fewest digits that give the same value."""
    stored = struct.pack("f", value)
    texts = (f"{float(value):.{digits}g}" for digits in range(6, 10))
    return next((text for text in texts if struct.pack("f", float(text)) == stored), repr(float(value)))


def _binary(value: bytes, limits: Limits) -> Cell:
    found = {"t": "binary", "size": len(value), "hex": value[: limits.bytes].hex()}
    media = media_type(value)
    return found if media is None else {**found, "media": media}


def media_type(value: bytes) -> Optional[str]:
    """The media type of a picture, from its first bytes; None for other bytes. Only types that cannot contain a script."""
    if value[:4] == b"RIFF" and value[8:12] == b"WEBP":
        return "image/webp"
    return next((media for start, media in _MEDIA.items() if value.startswith(start)), None)


def _date(value: Any, limits: Limits) -> Cell:
    nanoseconds = timestamp_ns(value)
    return {"t": "date", "v": iso(nanoseconds), "ns": str(nanoseconds)}


def iso(nanoseconds: int) -> str:
    """A point in time as ISO text, in UTC and the Gregorian calendar, in any year; the year 0 is 1 BC."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    days, second = divmod(seconds, 86400)
    year, month, day = _civil(days)
    digits = f"{rest:09}".rstrip("0")
    years = f"{year:04}" if 0 <= year <= 9999 else f"{year:+07}"
    return f"{years}-{month:02}-{day:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}{'.' + digits if digits else ''}Z"


def _civil(days: int) -> Tuple[int, int, int]:
    """Year, month and day of a number of days since 1970-01-01. The calendar repeats every 146097 days; the computation uses years that begin in March,
    so that the leap day is the last day."""
    era, day_of_era = divmod(days + 719468, 146097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return 400 * era + year_of_era + (month <= 2), month, day


def _object_id(value: ObjectId, limits: Limits) -> Cell:
    seconds = int.from_bytes(value.bytes[:4], "big")
    return {"t": "objectId", "v": str(value), "time": iso(seconds * 1_000_000_000)}


# The first match counts, so bool comes before int.
_SINGLE: List[Tuple[Any, Callable[[Any, Limits], Cell]]] = [
    (bool, lambda value, limits: {"t": "bool", "v": value}),
    (int, lambda value, limits: {"t": "int", "v": exact(value)}),
    (str, _text),
    (bytes, _binary),
    ((datetime, RawTimestamp), _date),
    (Decimal, lambda value, limits: {"t": "decimal", "v": str(value)}),
    (UUID, lambda value, limits: {"t": "uuid", "v": str(value)}),
    (ObjectId, _object_id),
]


# ------------------------------------------------------------------------------------------------
# Objects
# ------------------------------------------------------------------------------------------------


def is_embedded(obj: Any) -> bool:
    """Whether an object is part of another one."""
    return bool(obj._is_embedded_object())


def link(obj: Any) -> Cell:
    """The cell of a linked object."""
    found = {"t": "link", "class": obj.class_name, "key": exact(obj.object_key)}
    label = label_of(obj)
    return found if label is None else {**found, "label": label}


def label_of(obj: Any) -> Optional[str]:
    """A short text by which people recognise an object; None if it has none."""
    try:
        name = label_property(obj._bound().schema)
        value = None if name is None else obj[name]
    except Error:
        return None
    return None if value is None else str(value)[:60]


def label_property(schema: ClassSchema) -> Optional[str]:
    """The property by which people recognise an object: one with a name of `_LABELS`, else the primary key, else the first text property."""
    texts = [name for name, prop in schema.properties.items() if prop.type is str and prop.collection is None]
    named = next((name for wanted in _LABELS for name in texts if name.lower() == wanted), None)
    return named or schema.primary_key or next(iter(texts), None)


def _embedded(obj: Any, limits: Limits, depth: int) -> Cell:
    schema = obj._bound().schema
    names = list(schema.properties)[: limits.items] if depth > 0 else []
    fields = []
    for name in names:
        try:
            fields.append([name, cell(obj[name], schema.properties[name], limits, depth - 1)])
        except Error as error:
            fields.append([name, fault(error)])
    found: Cell = {"t": "object", "class": obj.class_name, "key": exact(obj.object_key), "fields": fields}
    rest = len(schema.properties) - len(fields)
    return {**found, "more": rest} if rest else found


# ------------------------------------------------------------------------------------------------
# Collections
# ------------------------------------------------------------------------------------------------


def elements_of(view: Any, first: int, count: int) -> Iterator[Any]:
    """Elements of a list or set, by position."""
    rows = view if isinstance(view, ListView) else view._results()
    return iter(rows[first : first + count])


def pairs_of(view: Any, first: int, count: int) -> Iterator[Tuple[str, Any]]:
    """Entries of a dictionary, by position in the order of the keys."""
    return (view._pair(index) for index in range(first, min(first + count, len(view))))


def _entries(make: Callable[[], List[Any]], depth: int) -> List[Any]:
    if depth <= 0:
        return []
    try:
        return make()
    except Error as error:
        return [fault(error)]
