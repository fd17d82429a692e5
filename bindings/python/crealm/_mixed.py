"""Values of type Any as JSON, in the form of docs/columns.md: exports have this form, and imports read it."""

from __future__ import annotations

import base64
import json
from datetime import datetime
from decimal import Decimal
from typing import Any, Dict, Iterable, List, Optional, Tuple
from uuid import UUID

from .values import Float32, ObjectId, RawTimestamp, moment_of, timestamp_ns


class Literal(Dict[str, Any]):
    """A dictionary that is a value itself, although its names are those of the JSON form, as in {"json": "5"}."""

    __slots__ = ()


def literal(value: Dict[str, Any]) -> Dict[str, Any]:
    """A dictionary of a file, so marked that to_json() does not mistake it for the JSON form of another value."""
    return Literal(value) if _has_mark(value) or list(value) == ["json"] else value


def _has_mark(names: Iterable[str]) -> bool:
    return any(name[:1] == "$" for name in names)


def to_json(value: Any) -> str:
    """The JSON of a value. TypeError, ValueError or OverflowError for a value that cannot be stored."""
    text = _exported(value)
    # Spelled as the library spells it: it compares the texts of values that it does not change.
    return json.dumps(_plain(value), **_SPELLING) if text is None else text


_SPELLING: Dict[str, Any] = {"allow_nan": False, "ensure_ascii": False, "separators": (",", ":")}


def _exported(value: Any) -> Optional[str]:
    """The JSON in a value that is a structure of an export: {"json": "5"}; None for another value."""
    if type(value) is not dict or list(value) != ["json"] or not isinstance(value["json"], str):
        return None
    try:
        json.loads(value["json"])
    except (ValueError, RecursionError):
        return None
    return str(value["json"])


def _plain(value: Any) -> Any:
    if hasattr(value, "item") and type(value).__module__ == "numpy" and not getattr(value, "ndim", 0):
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
        if _has_mark(value) and (isinstance(value, Literal) or not _is_marked(value)):
            return {"$dict": [[key, _plain(element)] for key, element in value.items()]}
        return {key: _plain(element) for key, element in value.items()}
    if isinstance(value, (list, tuple)) or type(value).__module__ == "numpy":
        return [_plain(element) for element in value]
    raise TypeError(f"A value of type {type(value).__name__} cannot be stored")


# The names of the JSON forms, each in the order in which the library writes them.
_FORMS = (
    ("$float",),
    ("$float32",),
    ("$bytes",),
    ("$decimal",),
    ("$objectId",),
    ("$uuid",),
    ("$dict",),
    ("$seconds", "$nanoseconds"),
    ("$class", "$primaryKey"),
    ("$class", "$ref"),
)


def _is_marked(value: Dict[str, Any]) -> bool:
    return tuple(value) in _FORMS


def _number(value: float) -> Any:
    if value != value:
        return "NaN"
    return value if abs(value) != float("inf") else "Infinity" if value > 0 else "-Infinity"


def from_json(text: str, is_plain: bool = False) -> Any:
    """The value of a JSON text.

    Links, and values that Python cannot tell from others, stay dictionaries with names that begin with "$", which
    to_json() accepts: {"$class": "Person", "$primaryKey": 5}, {"$float": "-NaN"}. So does not-a-number, because data
    tools take it for a missing value in a column of objects.

    is_plain: links are the primary keys of their objects, or the keys of the objects, and all kinds of not-a-number
              are the one that Python has.
    """
    found = json.loads(text, object_pairs_hook=_plain_value if is_plain else _value)
    if not is_plain and isinstance(found, float) and found != found:
        return {"$float32" if isinstance(found, Float32) else "$float": "NaN"}
    return found


def _value(pairs: List[Tuple[str, Any]]) -> Any:
    whole = dict(pairs)
    if not pairs or pairs[0][0][:1] != "$":
        return literal(whole)
    (mark, value), *rest = pairs
    if mark == "$seconds":
        return _moment(value, whole.get("$nanoseconds", 0))
    if rest:
        return whole
    if mark == "$dict":
        return Literal(value)
    if mark in ("$float", "$float32"):
        make = float if mark == "$float" else Float32
        return make(value) if not isinstance(value, str) or value in _NUMBERS else whole
    if mark == "$bytes":
        return base64.b64decode(value)
    if mark == "$decimal":
        return whole if value.startswith("bits:") else Decimal(value)
    if mark == "$uuid":
        return UUID(value)
    return ObjectId(value) if mark == "$objectId" else whole


def _plain_value(pairs: List[Tuple[str, Any]]) -> Any:
    found = _value(pairs)
    if type(found) is not dict or not _is_marked(found):
        return dict(found) if isinstance(found, Literal) else found
    if "$class" in found:
        return found.get("$primaryKey", found.get("$ref"))
    return NOT_A_NUMBER[next(iter(found))]


_NUMBERS = ("NaN", "Infinity", "-Infinity")
# By the name of their JSON form.
NOT_A_NUMBER: Dict[str, Any] = {"$float": float("nan"), "$float32": Float32("nan"), "$decimal": Decimal("nan")}


def _moment(seconds: int, nanoseconds: int) -> Any:
    return moment_of(seconds * 1_000_000_000 + nanoseconds)
