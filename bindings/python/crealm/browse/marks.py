"""Marks: short texts that are equal as long as a value in a file is what it was. A page gets one with what it shows and gives it back with a change:
so what others wrote in between is noticed before it is written over.

The mark of a place is made of the value there, and of what tells the place from others: how long a list is, and what the elements of lists on the
way there have in them. Of a long collection its length and both ends count; of what is larger than `_MOST` values, nested or not, no more than that many:
a mark takes no longer than a page.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Callable, List, Sequence, Tuple

from ..collections import Dictionary, SetView
from ..collections import List as ListView
from ..objects import Object
from .cells import elements_of, is_embedded, pairs_of
from .places import NoSuchPage, Place, inside, leading_to

_ENDS = 500  # Elements of a long collection at each end.
_MOST = 20_000  # Values in all.
_LONG = 200  # Characters and bytes.

Row = Tuple[str, int]  # Class and key of an object.
Same = Callable[[Row], Row]


def as_it_is(row: Row) -> Row:
    return row


def place_mark(obj: Any, steps: Sequence[str], same: Same = as_it_is) -> str:
    """The mark of a place that steps from an object lead to; also of one where there is nothing yet: a new key, the end of a list.

    same: what a link counts as, where objects were made anew for others."""
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
        if number == len(steps) or isinstance(container, (ListView, SetView)):  # Elsewhere the step says which value it is.
            facts.append(marking.facts(at.value))
    return _digest(facts)


def object_mark(obj: Any, same: Same = as_it_is) -> str:
    """The mark of an object with all that is in it, and of how many links lead to it."""
    return _digest([_Marking(same).content(obj), [len(obj.backlinks(*one)) for one in leading_to(obj._db, obj.class_name)]])


def _digest(facts: Any) -> str:
    return hashlib.blake2b(json.dumps(facts).encode(), digest_size=12).hexdigest()


class _Marking:
    """What one mark is made of."""

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

    def content(self, obj: Any) -> List[Any]:
        return [obj.class_name, [[name, self.facts(obj[name])] for name in obj._bound().schema.properties]]

    def _ends(self, view: Any, part: Callable[[Any, int, int], Any]) -> Any:
        """The elements that count: each begins with a look at how many may still do."""
        count = len(view)
        for first, some in ((0, min(count, _ENDS)), (max(_ENDS, count - _ENDS), _ENDS if count > _ENDS else 0)):
            for element in part(view, first, some) if some and self._left > 0 else ():
                if self._left <= 0:
                    return
                yield element
