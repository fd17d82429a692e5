"""The values of a property among the objects of a query: the most frequent values with their counts, the number of nulls, and for numbers and points
in time a histogram. Each entry has a condition that finds exactly its objects, if the query language can express it.
"""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from datetime import datetime
from decimal import Decimal
from typing import Any, Dict, List, Optional, Sequence, Tuple
from uuid import UUID

from .._query import _ORDERING, escaped
from ..aggregates import count
from ..cli.output import counted
from ..errors import LimitExceeded, NotSupportedError
from ..schema import Prop
from ..values import Float32, ObjectId, RawTimestamp, timestamp_ns
from .cells import TABLE, cell, exact, iso, short_single
from .places import property_of
from .queries import Found, is_speakable
from .work import Job

_MOST = 20  # Values that are listed.
_MOST_OBJECTS = 2_000_000  # Only so many objects are counted, the first ones.
_MOST_READ = 200_000  # The same limit for values that are read one by one.
_BARS = 24  # Bars of a histogram.
_NUMBERS = (int, float, Float32, Decimal)
_PLAIN = re.compile(r"[^'\"\\\x00-\x1f\x7f]*")

Json = Dict[str, Any]


def facets(answer: Found, name: str, condition: str, job: Job) -> Json:
    """The facets of one property. NotSupportedError for collections, embedded objects and Any."""
    prop = property_of(answer.schema, name)
    is_inside = prop.is_link and answer.database.schema[prop.type].embedded
    if prop.collection is not None or prop.type is Any or is_inside or "." in name:
        raise NotSupportedError(f"The values of {name!r} are not counted: it is {prop}")
    objects = answer.count(job)
    counts = _counted(answer, objects, name, job)
    path = escaped(name) if is_speakable(name) and not _has_order(condition) else None
    known = [(value, number) for value, number in counts if value is not None]
    total = sum(number for _, number in counts)
    nulls = total - sum(number for _, number in known)
    common = sorted(known, key=lambda entry: -entry[1])[:_MOST]
    return {
        "property": name, "type": str(prop), "total": total, "objects": objects, "distinct": len(known),
        "nulls": nulls, "whereNull": _both(condition, path and f"{path} == NULL"),
        "values": [
            {"cell": _cell(value, prop), "count": number, "where": _both(condition, _equal(path, value, prop))} for value, number in common],
        "histogram": _histogram(known, prop, path, condition)}  # fmt: skip


def _counted(answer: Found, objects: int, name: str, job: Job) -> List[Tuple[Any, int]]:
    """Values with their counts. Reads the values one by one if a column cannot hold them, such as points in time in the year 1, a common default."""
    rows = answer.rows if objects <= _MOST_OBJECTS else answer.rows.limit(_MOST_OBJECTS)
    try:
        with job.during(answer.database):
            return [(group["value"], group["n"]) for group in rows.group_by(value=name).agg(n=count())]
    except LimitExceeded:
        return list(Counter(obj[name] for obj in counted(answer.rows.limit(_MOST_READ), lambda done: job.check())).items())


def _cell(value: Any, prop: Prop) -> Json:
    if prop.is_link:
        return {"t": "link", "class": prop.type, "key": exact(value)}
    return cell(value, prop, TABLE)


# ------------------------------------------------------------------------------------------------
# Conditions
# ------------------------------------------------------------------------------------------------


def _has_order(condition: str) -> bool:
    """Whether a condition has SORT(…) or the like, after which nothing can be added."""
    return any(match["word"] for match in _ORDERING.finditer(condition))


def _both(condition: str, more: Optional[str]) -> Optional[str]:
    """A condition that requires both; None without the second."""
    if not more:
        return None
    return f"({condition.strip()}) AND {more}" if condition.strip() else more


def _equal(path: Optional[str], value: Any, prop: Prop) -> Optional[str]:
    written = None if path is None else literal(value, prop)
    return None if written is None else f"{path} == {written}"


def literal(value: Any, prop: Prop) -> Optional[str]:
    """A value in the query language; None if the language cannot express it."""
    if prop.is_link:
        return f"O{value}" if value >= 0 else None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value, prop)
    if isinstance(value, str):
        plain = bool(_PLAIN.fullmatch(value))
        return f"'{value}'" if plain else f'B64"{base64.b64encode(value.encode("utf-8")).decode()}"'
    if isinstance(value, bytes):
        return f'binary(B64"{base64.b64encode(value).decode()}")'
    if isinstance(value, (datetime, RawTimestamp)):
        return moment(timestamp_ns(value))
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else None
    return f"uuid({value})" if isinstance(value, UUID) else f"oid({value})" if isinstance(value, ObjectId) else None


def _float(value: float, prop: Prop) -> Optional[str]:
    if not math.isfinite(value):
        return None if math.isnan(value) else "inf" if value > 0 else "-inf"
    text = short_single(value) if prop.type is Float32 else repr(value)
    return text if any(letter in text for letter in ".e") else text + ".0"


def moment(nanoseconds: int) -> str:
    """A point in time in the query language: seconds and nanoseconds with the same sign."""
    seconds, rest = divmod(abs(nanoseconds), 1_000_000_000)
    sign = "-" if nanoseconds < 0 else ""
    return f"T{sign}{seconds}:{sign if rest else ''}{rest}"


# ------------------------------------------------------------------------------------------------
# Histograms
# ------------------------------------------------------------------------------------------------


def _histogram(known: Sequence[Tuple[Any, int]], prop: Prop, path: Optional[str], condition: str) -> Optional[List[Json]]:
    """Bars of equal width from the smallest value to the largest; None for other types, and if the list of values is complete anyway."""
    is_time = prop.type is datetime
    if prop.is_link or len(known) <= _MOST or not (is_time or prop.type in _NUMBERS):
        return None
    numbers = [(timestamp_ns(value) if is_time else value if prop.type is int else float(value), many) for value, many in known]
    finite = [(number, many) for number, many in numbers if prop.type is int or is_time or math.isfinite(number)]
    if len(finite) < 2:
        return None
    low, high = min(finite)[0], max(finite)[0]
    if isinstance(low, float) and not math.isfinite(high - low):
        return None
    bounds = _bounds(low, high)
    counts = [0] * (len(bounds) - 1)
    for number, many in finite:
        counts[_bar(number, bounds)] += many
    last = len(counts) - 1
    wheres = [_both(condition, _between(path, first, end, prop, index == last)) for index, (first, end) in enumerate(zip(bounds, bounds[1:]))]
    return [
        {"from": _shown(first, is_time), "to": _shown(end, is_time), "count": many, "where": where}
        for first, end, many, where in zip(bounds, bounds[1:], counts, wheres)]  # fmt: skip


def _bounds(low: float, high: float) -> List[float]:
    """The bounds of the bars: integers for integers, because a float cannot hold all of them. No bound is beyond the largest value, which may be the
    largest possible one."""
    if isinstance(low, int) and isinstance(high, int):
        step = -(-(high - low + 1) // _BARS)
        return [*range(low, high + 1, step), high]
    return [*(low + (high - low) * index / _BARS for index in range(_BARS)), high]


def _bar(number: float, bounds: Sequence[float]) -> int:
    """The index of the last bar that begins at a number or before it."""
    first, end = 0, len(bounds) - 2
    while first < end:
        middle = (first + end + 1) // 2
        first, end = (middle, end) if bounds[middle] <= number else (first, middle - 1)
    return first


def _between(path: Optional[str], first: float, end: float, prop: Prop, is_last: bool) -> Optional[str]:
    if path is None:
        return None
    low, high = (moment(int(first)), moment(int(end))) if prop.type is datetime else (repr(first), repr(end))
    return f"{path} >= {low} AND {path} {'<=' if is_last else '<'} {high}"


def _shown(bound: float, is_time: bool) -> Any:
    return iso(int(bound)) if is_time else exact(bound) if isinstance(bound, int) else bound

