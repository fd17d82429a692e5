"""Loops over objects: their rows come in pages, and the values that a loop asks for with them.

An object of a page has no handle in the library. It has the page, and its place there; it finds its key, and
makes a handle, when somebody needs them. A value is taken from the page as long as the database is as it was
when the page was read; after that, and once the loop has gone on to the next page, from the database. Which
columns a loop wants it tells by asking: a column that two objects of a page were asked for is read for the
rest of it, and comes with the next page. One that nobody asked for in a page no longer does.

Pages are for reading: there are none inside a write or a migration.
"""

from __future__ import annotations

from collections import deque
from itertools import chain, repeat
from operator import length_hint
from typing import Any, Callable, Dict, Iterator, List, Optional, Set

from . import _arrow
from . import _marshal as c
from ._handle import Handle
from ._session import Row, Session
from .errors import DataError

_FIRST, _MOST = 16, 1024  # Rows of a page.
_MOST_BYTES = 1 << 20
_KEY = "@key"

Name = str


def attribute(name: Name, otherwise: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function of a property: the value in the page of an object, else what `otherwise` reads."""

    def value(row: Any) -> Any:
        place = row._place
        if place is not None:
            page, index = place
            try:
                return page[name][index]
            except KeyError:
                pass
        return otherwise(row)

    return value


class Page(Dict[Name, List[Any]]):
    """The values of some columns, by name: filled as they are asked for, and empty once it is over.

    Its objects are handed out through `rows`, an iterator, without a step of Python for each. When the page
    is dropped the iterator ends, and `left` is how many it has not handed out.
    """

    __slots__ = (
        "db",
        "class_key",
        "count",
        "is_live",
        "rows",
        "left",
        "_loop",
        "_first",
        "_keys",
        "_objects",
        "_ready",
        "_asked",
    )

    def __init__(self, loop: Loop, first: int, count: int, step: int = 1) -> None:
        super().__init__()
        self.db = loop.db
        self.class_key = loop.class_key
        self._loop = loop
        self._first = first
        self._asked: Set[Name] = set()
        names = [name for name in loop.wanted if loop.type_of(name) is not None]
        try:
            rows = _arrow.fetch(loop.handle, first, count, [_KEY, *names])
        except DataError:  # A value that a column cannot hold: single reads tell which.
            loop.refused.update(names)
            names = []
            rows = _arrow.fetch(loop.handle, first, count, [_KEY])
        self.count = rows.length
        self._keys: Any = rows.arrays[0]
        self._ready = dict(zip(names, rows.arrays[1:]))
        self._objects = self._made(loop.kind)[::step]
        self.rows = iter(self._objects)
        self.left = 0
        self.is_live = True

    @property
    def keys(self) -> List[Optional[int]]:  # type: ignore[override]
        """The keys of the objects, the first row's first; None where there is no object."""
        if type(self._keys) is not list:
            self._keys = _arrow.values(self._keys, _arrow.OF_PROPERTY[c.P_INT])
        return self._keys

    def __missing__(self, name: Name) -> List[Any]:
        """The values of a column that is asked for, for all rows; KeyError where single reads do."""
        type = self._loop.type_of(name)
        if type is None or not self.is_live:
            raise KeyError(name)
        array = self._ready.get(name)
        if array is None:
            if name not in self._asked:
                self._asked.add(name)
                raise KeyError(name)
            try:
                rows = _arrow.fetch(self._loop.handle, self._first, self.count, [name])
            except DataError:
                self._loop.refused.add(name)
                raise KeyError(name) from None
            if rows.length < self.count:
                raise KeyError(name)
            array = rows.arrays[0]
        values = _arrow.values(array, type)
        kind = self._loop.kinds.get(name)
        if kind is not None:
            try:
                values = [None if value is None else kind.read(value) for value in values]
            except DataError:
                self._loop.refused.add(name)  # Single reads tell which.
                raise KeyError(name) from None
        self[name] = values
        if not self.is_live:  # A signal handler moved the database meanwhile.
            self.clear()
            raise KeyError(name)
        return values

    def drop(self) -> None:
        """The database changes, or the loop goes on."""
        if self.is_live:
            self.is_live = False
            self.left = length_hint(self.rows)
            self._objects.clear()
            self.clear()
            self._ready = {}

    def _made(self, kind: Any) -> List[Any]:
        """An object for each row, None where there is none. All are made at once."""
        made: List[Any] = list(map(object.__new__, repeat(kind, self.count)))
        deque(map(kind._place.__set__, made, zip(repeat(self), range(self.count))), maxlen=0)
        if self._keys.null_count:
            return [None if key is None else row for key, row in zip(self.keys, made)]
        return made


class Loop:
    """What a loop has learned of its class: the columns that it wants."""

    __slots__ = ("db", "handle", "class_key", "kind", "kinds", "wanted", "refused", "_size", "_types")

    def __init__(self, db: Session, handle: Handle, class_key: int) -> None:
        self.db = db
        self.handle = handle
        self.class_key = class_key
        bound = db._bound(class_key)
        self.kind = db._kind_in_loops(bound)
        self.kinds = bound.kinds
        self.wanted: List[Name] = []
        self.refused: Set[Name] = set()
        self._size = _FIRST
        self._types: Dict[Name, Optional[_arrow.Type]] = {}

    def type_of(self, name: Name) -> Optional[_arrow.Type]:
        """What a column has; None where values are read one by one."""
        if name in self.refused:
            return None
        try:
            return self._types[name]
        except KeyError:
            facts = self.db._bound(self.class_key).properties.get(name)
            # A column of a name with @ is something else.
            is_single = facts is not None and facts.collection == c.C_NONE and not name.startswith("@")
            found = _arrow.OF_PROPERTY.get(facts.type) if facts is not None and is_single else None
            self._types[name] = found
            return found

    @property
    def size(self) -> int:
        """How many rows the next page should have."""
        return self._size

    def read(self, first: int, count: int, step: int = 1) -> Optional[Page]:
        """A page, to be gone through forwards or backwards; None inside a write or a migration."""
        db = self.db
        if db._writing or db._is_migrating or db._owner.opened is None:
            return None
        drops = db._owner.drops
        page = Page(self, first, count, step)
        db._owner.pages[id(page)] = page
        if db._owner.drops != drops:  # A signal handler moved the database while the page was read.
            page.drop()
        return page

    def end(self, page: Page) -> None:
        """The loop is through with a page."""
        page.db._owner.pages.pop(id(page), None)
        if page.is_live:
            self.wanted = list(page)
            size = sum(array.size for array in page._ready.values()) // max(page.count, 1)
            self._size = max(1, min(4 * page.count, _MOST, _MOST_BYTES // max(size, 1)))
        else:
            self._size = _FIRST
        page.drop()


def rows(
    db: Session, handle: Handle, class_key: int, total: int, step: int, at: Callable[[int], Any]
) -> Iterator[Optional[Row]]:
    """The rows of a snapshot, forwards or backwards. `at` reads a single one."""
    return chain.from_iterable(_parts(Loop(db, handle, class_key), total, step, at))


def _parts(loop: Loop, total: int, step: int, at: Callable[[int], Any]) -> Iterator[Iterator[Any]]:
    done = 0
    while done < total:
        count = min(loop.size, total - done)
        first = done if step > 0 else total - done - count
        page = loop.read(first, count, step)
        left = count
        if page is not None:
            try:
                yield page.rows
                left = count - page.count if page.is_live else count - page.count + page.left
            finally:
                loop.end(page)
        if left:  # Those that did not come with the page, or that were not handed out before it was dropped.
            is_over: List[bool] = []
            yield unless_interrupted(map(at, range(first, first + count)[::step][count - left :]), is_over)
            if not is_over:
                return
        done += count


def unless_interrupted(rows: Iterator[Any], is_over: List[bool]) -> Iterator[Any]:
    """The rows; an exception ends them for good. `is_over` gets an element when there was none."""
    yield from rows
    is_over.append(True)
