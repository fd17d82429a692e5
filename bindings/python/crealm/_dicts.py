"""Objects as dictionaries, read column by column: a dictionary costs no object and no call of the library.

`rows` has the form of Object.to_dict(). It returns None where only the objects themselves have that form: collections,
embedded objects, values of any type, links within the depth, classes of models whose objects have several classes; and
in a write, whose values are not a version of the file yet.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

from . import _arrow
from . import _marshal as c
from ._handle import Handle
from .errors import Error
from .schema import BoundClass

_PLAIN = frozenset(
    (
        c.P_INT,
        c.P_BOOL,
        c.P_STRING,
        c.P_BINARY,
        c.P_TIMESTAMP,
        c.P_FLOAT,
        c.P_DOUBLE,
        c.P_DECIMAL,
        c.P_OBJECT_ID,
        c.P_UUID,
    )
)
_KEY = "@key"


class _Part(NamedTuple):
    """A property: its column, and the function that makes the value of a dictionary of a value; None: the value."""

    column: str
    read: Optional[Callable[[Any], Any]]


def rows(
    handle: Handle,
    bound: BoundClass,
    depth: int,
    target_of: Callable[[c.PropertyFacts], Optional[BoundClass]],
) -> Optional[List[Optional[Dict[str, Any]]]]:
    """The objects of results; None for an object that was deleted, or an entry of a dictionary without an object.

    target_of: the class that a link leads to."""
    if type(bound) is not BoundClass or bound.views:
        return None
    parts: List[_Part] = []
    for facts in bound.properties.values():
        part = None if bound.is_type(facts) else _part(facts, max(depth, 1), target_of)
        if part is None:
            return None
        parts.append(part)
    names = list(bound.properties)
    columns = [_KEY, *(part.column for part in parts)]
    made: List[Optional[Dict[str, Any]]] = []
    try:
        shapes = _arrow.shapes(handle, columns)
        for page in _arrow.pages(handle, columns, shapes):
            values = [
                (
                    column
                    if part.read is None
                    else [None if value is None else part.read(value) for value in column]
                )
                for part, column in zip(parts, page[1:])
            ]
            made += _zipped(names, values, page[0])
    except Error:
        return None  # The objects themselves tell what is wrong, if anything is: times beyond nanoseconds are fine there.
    return made


def _part(
    facts: c.PropertyFacts, depth: int, target_of: Callable[[c.PropertyFacts], Optional[BoundClass]]
) -> Optional[_Part]:
    if facts.collection != c.C_NONE or facts.limit is not None:
        return None
    if facts.type in _PLAIN:
        return _Part(facts.name, None if facts.kind is None else facts.kind.read)
    if facts.type != c.P_OBJECT or depth > 1 or facts.kind is not None:
        return None
    target = target_of(facts)
    if type(target) is not BoundClass or target.views or target.schema.embedded:
        return None
    name = target.name
    return _Part(f"{facts.name}.{_KEY}", lambda key: {"$ref": key, "$class": name})


def _zipped(
    names: Sequence[str], values: Sequence[List[Any]], keys: List[Any]
) -> List[Optional[Dict[str, Any]]]:
    made: List[Optional[Dict[str, Any]]] = (
        [dict(zip(names, row)) for row in zip(*values)] if values else [{} for _ in keys]
    )
    if None in keys:
        return [None if key is None else row for key, row in zip(keys, made)]
    return made
