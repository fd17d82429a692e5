"""Reads the rows of a loop over objects in pages, together with the columns that the loop uses.

An object of a page has no handle in the library. It has the page and an index into it; it looks up its key, and
makes a handle, when they are needed. Its values come from the page until the database changes or the loop
goes on to the next page; after that they are read from the database. Pages learn which columns a loop needs: when
the program reads a column for the second time in a page, the column is read for all rows, and the next page has
it from the beginning. A column that the program does not read in a page is not in the next page.

Most loops use an object once and keep no reference to it. If the program kept few objects of a page, the next
page reuses the others, which is faster than making new ones (`Page.turn`). An object that the program keeps never
becomes another row.

Pages are for reading: a loop inside a write or a migration, or in a borrowed realm, reads row by row.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections import deque
from contextlib import closing
from functools import partial
from itertools import chain, filterfalse, repeat
from operator import is_, length_hint
from typing import Any, Callable, Dict, Iterator, List, Optional, Set

from . import _arrow
from . import _marshal as c
from ._handle import Handle
from ._session import Row, Session
from .errors import DataError, Error

_FIRST, _MOST = 16, 1024  # Rows of the first page, and the limit for all pages.
_MOST_BYTES = 1 << 20
_OUT_OF_MEMORY = 1003
_KEY = "@key"
_MOST_KEPT = 8  # Objects of a page are reused if the program kept at most so many of them.

Name = str

# The reference count of an object that only a list refers to. Counts are exact only with the GIL.
_has_counts = hasattr(sys, "getrefcount") and getattr(sys, "_is_gil_enabled", lambda: True)()
_IN_A_LIST = next(map(sys.getrefcount, [object()])) if _has_counts else 0
_no_object = partial(is_, None)


def attribute(name: Name, otherwise: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The getter of a property: the value from the object's page, else the result of `otherwise`."""

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


def _concerns_values(error: BaseException) -> bool:
    """Whether the values of a column must be read one by one: because the column cannot hold one of them, which then
    raises an error that names it, or because the memory is not enough for all."""
    return isinstance(error, (DataError, MemoryError)) or (isinstance(error, Error) and error.code == _OUT_OF_MEMORY)


class Page(Dict[Name, List[Any]]):
    """The values of some columns, by name: filled when they are read, and emptied when the loop leaves the page.

    The loop gets the objects of the page from `rows`, an iterator that runs no Python code per object. When the
    page is dropped the iterator ends, and `left` is the number of objects that it has not returned.
    """

    __slots__ = (
        "db",
        "class_key",
        "count",
        "is_live",
        "rows",
        "left",
        "_loop",
        "_step",
        "_first",
        "_keys",
        "_nulls",
        "_objects",
        "_classes",
        "_ready",
        "_asked",
    )

    def __init__(self, loop: Loop, first: int, count: int, step: int = 1) -> None:
        super().__init__()
        self.db = loop.db
        self.class_key = loop.class_key
        self._loop = loop
        self._step = step
        self._asked: Set[Name] = set()
        self._fetch(first, count)
        self._objects = self._made(loop.kind)
        self.rows = iter(self._objects)

    def _fetch(self, first: int, count: int) -> None:
        """Reads the keys of some rows, and the columns that the loop needs."""
        loop = self._loop
        names = [name for name in loop.wanted if loop.type_of(name) is not None]
        if loop.type_name and loop.type_name not in names:
            names.append(loop.type_name)
        try:
            rows = _arrow.fetch(loop.handle, first, count, [_KEY, *names])
        except (Error, MemoryError) as error:
            if not _concerns_values(error):
                raise
            loop.refused.update(names)
            names = [loop.type_name] if loop.type_name else []
            rows = _arrow.fetch(loop.handle, first, count, [_KEY, *names])
        self._first = first
        self.count = rows.length
        self._keys: Any = rows.arrays[0]
        self._nulls = rows.arrays[0].null_count
        self._ready = dict(zip(names, rows.arrays[1:]))
        self._classes = loop.classes_of(self._ready[loop.type_name]) if loop.type_name else None
        self._asked.clear()
        self.left = 0
        self.is_live = True

    @property
    def is_whole(self) -> bool:
        """Whether each row has an object."""
        return self._nulls == 0

    def turn(self, first: int, count: int) -> bool:
        """Goes on to `count` other rows, with the same objects; False if the objects cannot be reused.

        An object can be reused if only the list of this page refers to it, if no weak reference leads to it, and
        if it refers to nothing that it did not refer to when it was made, such as a handle or an entry in its
        __dict__. A few objects that the program kept, such as the last one that the loop returned, leave the page.
        An object cannot leave while another thread reads a value of it: that thread has a reference to `_place`.
        """
        objects = self._objects
        if not _has_counts or count != len(objects) or self._nulls:
            return False
        counts = list(map(sys.getrefcount, objects))
        if len(objects) - counts.count(_IN_A_LIST) > _MOST_KEPT or any(map(weakref.getweakrefcount, objects)):
            return False
        if len(gc.get_referents(*objects)) != len(objects) * len(gc.get_referents(self._new(0))):
            return False
        for index, found in enumerate(counts):
            if found != _IN_A_LIST and not self._leave(index):
                return False
        classes = self._classes
        self._fetch(first, count)
        if self.count != count or self._nulls or self._classes != classes:
            self._objects = self._made(self._loop.kind)
        self.rows = iter(self._objects)
        return True

    @property
    def keys(self) -> List[Optional[int]]:  # type: ignore[override]
        """The keys of the objects, in the order of the rows; None for a row without an object."""
        if type(self._keys) is not list:
            self._keys = _arrow.values(self._keys, _arrow.OF_PROPERTY[c.P_INT])
        return self._keys

    def __missing__(self, name: Name) -> List[Any]:
        """Reads a column for all rows. KeyError if the caller must read the single value from the database."""
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
            except (Error, MemoryError) as error:
                if not _concerns_values(error):
                    raise
                self._loop.refused.add(name)
                raise KeyError(name) from None
            if rows.length < self.count:
                raise KeyError(name)
            array = rows.arrays[0]
        try:
            values = _arrow.values(array, type)
        except MemoryError:
            self._loop.refused.add(name)
            raise KeyError(name) from None
        kind = self._loop.kinds.get(name)
        if kind is not None:
            try:
                values = [None if value is None else kind.read(value) for value in values]
            except DataError:
                self._loop.refused.add(name)  # The single read raises an error that names the value.
                raise KeyError(name) from None
        self[name] = values
        if not self.is_live:  # A signal handler moved the database to another snapshot meanwhile.
            self.clear()
            raise KeyError(name)
        return values

    def drop(self) -> None:
        """Ends the page, because the database changes or the loop is over."""
        if self.is_live:
            self.rest()
            self._objects.clear()

    def rest(self) -> None:
        """Called when the loop leaves the page: from here on its objects read values from the database."""
        self.is_live = False
        self.left = length_hint(self.rows)
        self.clear()
        self._ready = {}

    def forget(self) -> None:
        """Releases the objects, which will not be reused."""
        self._objects.clear()

    def _made(self, kind: Any) -> List[Any]:
        """An object for each row, in the order of the loop; None for a row without one. One pass in C makes all of
        them."""
        kinds = repeat(kind, self.count) if self._classes is None else self._classes
        made: List[Any] = list(map(object.__new__, kinds))
        deque(map(kind._place.__set__, made, zip(repeat(self), range(self.count))), maxlen=0)
        if self._nulls:
            made = [None if key is None else row for key, row in zip(self.keys, made)]
        return made[:: self._step]

    def _new(self, index: int) -> Any:
        """A new object for a row."""
        kind = self._loop.kind if self._classes is None else self._classes[index]
        made = object.__new__(kind)
        kind._place.__set__(made, (self, index))
        return made

    def _leave(self, index: int) -> bool:
        """Separates an object that the program keeps from the page; False if another thread may be reading a value
        of it from the page."""
        kept = self._objects[index]
        place = kept._place
        getattr(kept, "_key")  # Reading the key also makes everything else that an object without a page needs.
        self._loop.kind._place.__set__(kept, None)
        self._objects[index] = self._new(place[1])
        return next(map(sys.getrefcount, [place])) == _IN_A_LIST + 1  # One more: the name `place` here.


class Loop:
    """The state of a loop over one class: the columns that it needs, and the size of its next page."""

    __slots__ = (
        "db",
        "handle",
        "class_key",
        "kind",
        "kinds",
        "type_name",
        "wanted",
        "refused",
        "_size",
        "_types",
        "_over",
        "_turns",
    )

    def __init__(self, db: Session, handle: Handle, class_key: int) -> None:
        self.db = db
        self.handle = handle
        self.class_key = class_key
        bound = db._bound(class_key)
        self.kind = db._kind_in_loops(bound)
        self.kinds = bound.kinds
        self.type_name = bound.type_name  # The property that tells the classes of the objects apart, if there is one.
        self.wanted: List[Name] = []
        self.refused: Set[Name] = set()
        self._size = _FIRST
        self._types: Dict[Name, Optional[_arrow.Type]] = {}
        self._over: Optional[Page] = None  # The last page, whose objects may be reused.
        self._turns = True  # Whether the objects of all pages until now could be reused.

    def type_of(self, name: Name) -> Optional[_arrow.Type]:
        """The Arrow type of a column; None if its values must be read one by one."""
        if name in self.refused:
            return None
        try:
            return self._types[name]
        except KeyError:
            facts = self.db._bound(self.class_key).properties.get(name)
            # A name with @ is not a property in columns.
            is_single = facts is not None and facts.collection == c.C_NONE and not name.startswith("@")
            found = _arrow.OF_PROPERTY.get(facts.type) if facts is not None and is_single else None
            self._types[name] = found
            return found

    def classes_of(self, types: Any) -> List[Any]:
        """The Python class of each row."""
        bound = self.db._bound(self.class_key)
        return [bound.class_of(self.db, text) for text in _arrow.values(types, _arrow.OF_PROPERTY[c.P_STRING])]

    @property
    def size(self) -> int:
        """How many rows the next page should have."""
        return self._size

    def read(self, first: int, count: int, step: int = 1) -> Optional[Page]:
        """A page, for a loop forwards (step 1) or backwards (-1); None inside a write or a migration, and in a
        borrowed realm."""
        db = self.db
        if db._writing or db._is_migrating or db._owner.opened is None:
            return None
        drops = db._owner.drops
        page = self._page(first, count, step)
        db._owner.pages[id(page)] = page
        if db._owner.drops != drops:  # A signal handler moved the database to another snapshot during the read.
            page.drop()
        return page

    def _page(self, first: int, count: int, step: int) -> Page:
        over, self._over = self._over, None
        if over is not None:
            if over.count == count and self._turns:
                self._turns = over.turn(first, count)
                if self._turns:
                    return over
            over.forget()
        return Page(self, first, count, step)

    def end(self, page: Page) -> None:
        """Called when the loop has finished a page."""
        page.db._owner.pages.pop(id(page), None)
        if page.is_live:
            self.wanted = list(page)
            size = sum(array.size for array in page._ready.values()) // max(page.count, 1)
            self._size = max(1, min(4 * page.count, _MOST, _MOST_BYTES // max(size, 1)))
            page.rest()
            self._over = page
        else:
            self._size = _FIRST

    def close(self) -> None:
        """Called when the loop is over."""
        if self._over is not None:
            self._over.forget()
            self._over = None


def rows(
    db: Session,
    handle: Handle,
    class_key: int,
    start: int,
    end: int,
    step: int,
    at: Callable[[int], Any],
    keeps_deleted: bool,
) -> Iterator[Any]:
    """The rows of a snapshot from `start` to `end`, forwards or backwards. `at` reads a single row. A deleted row is
    None if `keeps_deleted`, else it is left out."""
    return chain.from_iterable(_parts(Loop(db, handle, class_key), start, end, step, at, keeps_deleted))


def _parts(
    loop: Loop, start: int, end: int, step: int, at: Callable[[int], Any], keeps_deleted: bool
) -> Iterator[Iterator[Any]]:
    done, total = 0, end - start
    with closing(loop):
        while done < total:
            count = min(loop.size, total - done)
            first = start + done if step > 0 else end - done - count
            page = loop.read(first, count, step)
            left = count
            if page is not None:
                try:
                    yield page.rows if keeps_deleted or page.is_whole else filterfalse(_no_object, page.rows)
                    left = count - page.count if page.is_live else count - page.count + page.left
                finally:
                    loop.end(page)
            if left:  # Rows that are not in the page, or that it had not returned when it was dropped.
                is_over: List[bool] = []
                single = unless_interrupted(map(at, range(first, first + count)[::step][count - left :]), is_over)
                yield single if keeps_deleted else filterfalse(_no_object, single)
                if not is_over:
                    return
            done += count


def unless_interrupted(rows: Iterator[Any], is_over: List[bool]) -> Iterator[Any]:
    """The rows; after an exception no more rows follow. `is_over` gets an element if all rows came without one."""
    yield from rows
    is_over.append(True)
