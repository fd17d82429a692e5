"""Values of a file as SQL shows them, in the forms of docs/sql.md: dates, decimals and identifiers as texts,
collections as JSON. The SQLite extension has the same forms, byte for byte.
"""

from __future__ import annotations

import base64
import math
import struct
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Union
from uuid import UUID

from ._session import Row
from ._shapes import decimal_of_bytes
from .values import Float32, ObjectId, RawTimestamp, timestamp_ns

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_CYCLE = 146_097 * 86_400  # Seconds of 400 years, after which the calendar repeats.
_YEAR_2000 = 946_684_800  # Seconds from 1970 to 2000, when such a cycle began.


def date_value(moment: Union[datetime, RawTimestamp]) -> Any:
    """A point in time: a text in UTC with up to nine digits of a fraction. Before the year 0 whole seconds since 1970,
    after the year 9999 bytes with a text: so all dates sort by time in SQLite."""
    if isinstance(moment, RawTimestamp):
        return _far_date(moment.timestamp_ns())
    text = moment.astimezone(timezone.utc).isoformat(sep=" ")[:-6]
    rest = getattr(moment, "nanosecond", 0)
    if rest:
        text += f"{rest:03}" if len(text) > 19 else f".000000{rest:03}"
    return text.rstrip("0") if len(text) > 19 else text


def _far_date(nanoseconds: int) -> Any:
    seconds, fraction = divmod(nanoseconds, 1_000_000_000)
    cycles, inside = divmod(seconds - _YEAR_2000, _CYCLE)
    near = _EPOCH + timedelta(seconds=_YEAR_2000 + inside)
    year = near.year + 400 * cycles
    if year < 0:
        return seconds
    text = f"{near:-%m-%d %H:%M:%S}" + (f".{fraction:09}".rstrip("0") if fraction else "")
    return f"{year:04}{text}" if year <= 9999 else f"+{year:012}{text}".encode("ascii")


def decimal_text(value: Union[Decimal, bytes]) -> str:
    """A decimal, or the 16 bytes of a column of decimals, as a text."""
    number = decimal_of_bytes(value) if isinstance(value, bytes) else value
    return "NaN" if number.is_nan() else str(number)


def object_id_text(value: Union[ObjectId, bytes]) -> str:
    return value.hex() if isinstance(value, bytes) else value.hex


def uuid_text(value: Union[UUID, bytes]) -> str:
    return str(UUID(bytes=value) if isinstance(value, bytes) else value)


def key_of(row: Row) -> Any:
    """What a link shows: the primary key of its target; without one, and for embedded objects, the object's key."""
    bound = row._bound()
    primary = None if bound.schema.embedded else bound.primary_key
    return row._key if primary is None else row._read(primary._replace(kind=None))  # type: ignore[attr-defined]


def plain_value(value: Any) -> Any:
    """A value of any property as one that SQLite stores."""
    if value is None or isinstance(value, (str, bytes)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    if isinstance(value, (datetime, RawTimestamp)):
        return date_value(value)
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, (UUID, ObjectId)):
        return str(value)
    if isinstance(value, Row):
        return plain_value(key_of(value))
    return json_text(value)


def json_text(value: Any) -> str:
    """A value as JSON: dates and identifiers as texts, bytes as base64, links as their keys."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bytes):
        return f'"{base64.b64encode(value).decode("ascii")}"'
    if isinstance(value, (datetime, RawTimestamp)):
        found = date_value(value)
        if isinstance(found, int):
            return str(found)
        return f'"{found if isinstance(found, str) else found.decode("ascii")}"'
    if isinstance(value, Row):
        return json_text(key_of(value))
    if isinstance(value, (Decimal, UUID, ObjectId)):
        return f'"{plain_value(value)}"'
    if hasattr(value, "items"):
        return "{" + ",".join(f"{_quoted(key)}:{json_text(element)}" for key, element in value.items()) + "}"
    return "[" + ",".join(map(json_text, value)) + "]"


_ESCAPES = {**{code: f"\\u{code:04x}" for code in range(32)}, ord('"'): '\\"', ord("\\"): "\\\\"}


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _number(value: float) -> str:
    """The shortest text of a number, with a point or an exponent. Infinity is a number out of range, as in SQLite."""
    if math.isnan(value):
        return "null"
    if math.isinf(value):
        return "-9.0e+999" if value < 0 else "9.0e+999"
    is_single = isinstance(value, Float32)
    text = ""
    for precision in range(6 if is_single else 15, 18):
        text = f"{float(value):.{precision}g}"
        if (_single(float(text)) if is_single else float(text)) == float(value):
            break
    return text if "." in text or "e" in text else f"{text}.0"


def _single(value: float) -> float:
    try:
        found: float = struct.unpack("f", struct.pack("f", value))[0]
        return found
    except OverflowError:
        return math.inf
