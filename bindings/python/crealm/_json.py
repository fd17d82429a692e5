"""Converts plain values, as to_dict() returns them, to values that JSON can express; and reads the JSON that columns
have for values of any type."""

from __future__ import annotations

import base64
import json
import math
import struct
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, Callable, Dict, List, Tuple
from uuid import UUID

from .values import Float32, ObjectId, RawTimestamp, Timestamp


def jsonable(value: Any) -> Any:
    """The value as dict, list, str, int, float, bool and None. to_json() documents the conversions."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, datetime):
        return _time(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, RawTimestamp):
        return {"$seconds": value.seconds, "$nanoseconds": value.nanoseconds}
    if isinstance(value, (Decimal, UUID, ObjectId)):
        return str(value)
    if isinstance(value, dict):
        return {key: jsonable(element) for key, element in value.items()}
    return [jsonable(element) for element in value]


def _time(moment: datetime) -> str:
    if moment.utcoffset() is not None:
        moment = moment.astimezone(timezone.utc)
    digits = f"{moment.microsecond:06}{getattr(moment, 'nanosecond', 0):03}".rstrip("0")
    whole = moment.replace(microsecond=0, tzinfo=None)
    text = f"{datetime(*whole.timetuple()[:6]).isoformat()}{'.' + digits if digits else ''}"
    return text if moment.tzinfo is None else text + "Z"


def from_mixed(text: str) -> Any:
    """The value of JSON that a column has for a value of any type: docs/columns.md. A link is the primary key of its
    object, or the key of the object."""
    return json.loads(text, object_pairs_hook=_value_of)


def _value_of(pairs: List[Tuple[str, Any]]) -> Any:
    found = dict(pairs)
    names = tuple(found)
    if names == ("$seconds", "$nanoseconds"):
        return _point(found["$seconds"], found["$nanoseconds"])
    if names[:1] == ("$class",):
        return found.get("$primaryKey", found.get("$ref"))
    if len(names) == 1 and names[0] in _MARKED:
        return _MARKED[names[0]](found[names[0]])
    return found


def _point(seconds: int, nanoseconds: int) -> Any:
    try:
        return Timestamp.from_ns(seconds * 1_000_000_000 + nanoseconds)
    except (OverflowError, ValueError):
        return RawTimestamp(seconds, nanoseconds)


def _float(number: Any) -> float:
    """A number, or the text of an infinity or a not-a-number; "NaN:" precedes the bits of an unusual one."""
    if not isinstance(number, str) or "NaN:" not in number:
        return float(number)
    sign, _, bits = number.partition("NaN:")
    whole = int(sign == "-") << 63 | 0x7FF << 52 | int(bits, 16)
    (found,) = struct.unpack("<d", struct.pack("<Q", whole))
    return float(found)


def _float32(number: Any) -> Float32:
    """As _float(); the bits are those of a number of 32 bits."""
    return Float32(math.nan if isinstance(number, str) and "NaN:" in number else float(number))


_MARKED: Dict[str, Callable[[Any], Any]] = {
    "$bytes": base64.b64decode,
    "$decimal": Decimal,
    "$float": _float,
    "$float32": _float32,
    "$objectId": ObjectId,
    "$uuid": UUID,
    "$dict": dict,
}
