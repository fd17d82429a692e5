"""Marks: fingerprints of values. Two marks of a place are equal if its value did not change. A page receives a mark with each value that it shows,
and sends the mark with a change: so a change never overwrites a value that another writer stored meanwhile.

The mark of a place depends on the value, and on everything that identifies the place: the lengths of the lists on the path to it, and the contents of
the list elements on the path. For a long collection only its length and both ends count, and never more than `_MOST` values, nested or not: so making
a mark takes no longer than making a page.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Callable, Collection, List, Sequence, Tuple

from ..collections import Dictionary, SetView
from ..collections import List as ListView
from ..objects import Object
from .cells import elements_of, is_embedded, pairs_of
from .places import NoSuchPage, Place, inside, leading_to

_ENDS = 500  # Elements of a long collection at each end.
_MOST = 20_000  # Values of one mark.
_LONG = 200  # Characters or bytes; longer values are hashed first.

Row = Tuple[str, int]  # Class and key of an object.
Same = Callable[[Row], Row]


def as_it_is(row: Row) -> Row:
    return row


def place_mark(obj: Any, steps: Sequence[str], same: Same = as_it_is) -> str:
    """The mark of the place at the end of the steps from an object. The place may be empty: a new key, or the end of a list.

    same: maps an object that was deleted and created again to the original one, so that links to either are equal."""
    at, marking = Place(obj, None), _Marking(same)
    facts: List[Any] = []
    for number, step in enumerate(steps, 1):
        container = at.value
        facts.append(len(container) if isinstance(container, (ListView, SetView)) else None)
        try:
            at = inside(at, step)
        except NoSuchPage:
            facts.append("nothing")
            break
        if number == len(steps) or isinstance(container, (ListView, SetView)):  # Other steps identify their value by name.
            facts.append(marking.facts(at.value))
    return _digest(facts)


def object_mark(obj: Any, same: Same = as_it_is, without: Collection[str] = ()) -> str:
    """The mark of an object: of its values, and of the number of links to it. without: properties that do not count."""
    links = [len(obj.backlinks(*one)) for one in leading_to(obj._db, obj.class_name)]
    return _digest([_Marking(same).content(obj, without), links])


def _digest(facts: Any) -> str:
    return hashlib.blake2b(json.dumps(facts).encode(), digest_size=12).hexdigest()


class _Marking:
    """Collects the facts for one mark."""

    def __init__(self, same: Same) -> None:
        self._same = same
        self._left = _MOST

    def facts(self, value: Any) -> Any:
        self._left -= 1
        if isinstance(value, Object):
            return self.content(value) if is_embedded(value) else ["link", *self._same((value.class_name, value.object_key))]
        if isinstance(value, Dictionary):
            return ["dict", len(value), [[key, self.facts(element)] for key, element in self._ends(value, pairs_of)]]
        if isinstance(value, (ListView, SetView)):
            return ["list", len(value), [self.facts(element) for element in self._ends(value, elements_of)]]
        if isinstance(value, (str, bytes)) and len(value) > _LONG:
            whole = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
            return [type(value).__name__, len(value), hashlib.blake2b(whole, digest_size=16).hexdigest()]
        return [type(value).__name__, repr(value)]

    def content(self, obj: Any, without: Collection[str] = ()) -> List[Any]:
        names = [name for name in obj._bound().schema.properties if name not in without]
        return [obj.class_name, [[name, self.facts(obj[name])] for name in names]]

    def _ends(self, view: Any, part: Callable[[Any, int, int], Any]) -> Any:
        """The elements at both ends of a collection, until the mark has `_MOST` values."""
        count = len(view)
        for first, some in ((0, min(count, _ENDS)), (max(_ENDS, count - _ENDS), _ENDS if count > _ENDS else 0)):
            for element in part(view, first, some) if some and self._left > 0 else ():
                if self._left <= 0:
                    return
                yield element
