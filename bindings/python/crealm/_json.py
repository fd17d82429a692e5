"""Converts plain values, as to_dict() returns them, to values that JSON can express."""

from __future__ import annotations

import base64
import math
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from .values import ObjectId, RawTimestamp


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
