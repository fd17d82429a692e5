"""Lists, sets and dictionaries of an object, and the results of backlinks: live views.

A view always shows what the database holds now. When its object is deleted, or a collection inside
an Any property is replaced, the view raises InvalidatedError. Collections cannot be changed yet:
every method that would do so raises NotSupportedError.
"""

from __future__ import annotations

import operator
from collections.abc import ItemsView, Mapping, Sequence, Set, ValuesView
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, NoReturn, Optional, Tuple, Union
from typing import List as ListOf, Set as SetOf

from . import _marshal as c
from ._handle import Handle
from ._library import lib
from .errors import ConstraintError, DataError, Error, InvalidatedError, NotSupportedError

if TYPE_CHECKING:
    from .database import Database

_PAGE = 256


def _refuse(name: str) -> Callable[..., NoReturn]:
    def refuse(self: Any, *_: Any, **__: Any) -> NoReturn:
        raise NotSupportedError("Lists, sets and dictionaries cannot be changed yet")

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


class View:
    """What the three kinds have in common."""

    __slots__ = ("_db", "_handle", "_property")
    _is_valid: Callable[[int], bool]

    def __init__(self, db: Database, pointer: int, property: c.PropertyFacts) -> None:
        self._db = db
        self._handle = Handle(db._owner, pointer)
        self._property = property

    def __len__(self) -> int:
        raise NotImplementedError

    @property
    def is_valid(self) -> bool:
        """Whether the collection still exists and its database is open."""
        if self._handle.owner.is_closed:
            return False
        return self._is_valid(self._handle.get())

    def _encode(self, value: Any) -> c.Encoded:
        return c.encode(self._db._plain(value), self._property.type)

    def __repr__(self) -> str:
        try:
            return repr(self._plain(8))
        except Error as error:
            return f"<{type(self).__name__}: {type(error).__name__}>"

    def _plain(self, limit: int) -> Any:
        raise NotImplementedError


class List(View, Sequence[Any]):
    """A list property, or a list inside an Any value."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    _is_valid = staticmethod(lib.realm_list_is_valid)

    def __len__(self) -> int:
        return c.get_size(lib.realm_list_size, self._handle.get())

    def __getitem__(self, index: Union[int, slice]) -> Any:
        if isinstance(index, slice):
            return [self._at(i) for i in range(*index.indices(len(self)))]
        return self._at(_position(index, self))

    def _at(self, index: int) -> Any:
        pointer = self._handle.get()
        value = c.get_value(lib.realm_list_get, pointer, index)
        if isinstance(value, c.Nested):
            if value.kind == c.LIST:
                return List(self._db, c.get_pointer(lib.realm_list_get_list, pointer, index), self._property)
            return Dictionary(
                self._db, c.get_pointer(lib.realm_list_get_dictionary, pointer, index), self._property
            )
        return self._db._rich(value, self._property)

    def __iter__(self) -> Iterator[Any]:
        index = 0
        while index < len(self):
            yield self._at(index)
            index += 1

    def __contains__(self, value: object) -> bool:
        if isinstance(value, (View, list, dict)):
            return any(value == element for element in self)
        pointer = self._handle.get()
        try:
            return c.find_in_list(pointer, self._encode(value)) >= 0
        except (ConstraintError, DataError):
            len(self)  # Raises when the list is gone.
            return False  # A value that the list could not hold.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, (str, bytes, bytearray, memoryview)):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other))

    def _plain(self, limit: int) -> Any:
        count = len(self)
        shown = [self._at(i) for i in range(min(count, limit))]
        return shown if count <= limit else _Cut(shown, count)

    append = _refuse("append")
    clear = _refuse("clear")
    extend = _refuse("extend")
    insert = _refuse("insert")
    pop = _refuse("pop")
    remove = _refuse("remove")
    reverse = _refuse("reverse")
    sort = _refuse("sort")
    __delitem__ = _refuse("__delitem__")
    __iadd__ = _refuse("__iadd__")
    __imul__ = _refuse("__imul__")
    __setitem__ = _refuse("__setitem__")


class SetView(View, Set[Any]):
    """A set property, in the order of its values."""

    __slots__ = ()
    _is_valid = staticmethod(lib.realm_set_is_valid)

    @classmethod
    def _from_iterable(cls, elements: Iterable[Any]) -> SetOf[Any]:
        return set(elements)  # What | & - ^ make is a set of its own.

    def __len__(self) -> int:
        return c.get_size(lib.realm_set_size, self._handle.get())

    def __iter__(self) -> Iterator[Any]:
        index = 0
        while index < len(self):
            value = c.get_value(lib.realm_set_get, self._handle.get(), index)
            yield self._db._rich(value, self._property)
            index += 1

    def __contains__(self, value: object) -> bool:
        pointer = self._handle.get()
        try:
            return c.find_in_set(pointer, self._encode(value))
        except (ConstraintError, DataError):
            len(self)  # Raises when the set is gone.
            return False  # A value that the set could not hold.

    def _plain(self, limit: int) -> Any:
        shown: ListOf[Any] = []
        for element in self:
            if len(shown) == limit:
                return _Cut(shown, len(self), "{}")
            shown.append(element)
        return _Cut(shown, len(shown), "{}")

    add = _refuse("add")
    clear = _refuse("clear")
    difference_update = _refuse("difference_update")
    discard = _refuse("discard")
    intersection_update = _refuse("intersection_update")
    pop = _refuse("pop")
    remove = _refuse("remove")
    symmetric_difference_update = _refuse("symmetric_difference_update")
    update = _refuse("update")
    __iand__ = _refuse("__iand__")
    __ior__ = _refuse("__ior__")
    __isub__ = _refuse("__isub__")
    __ixor__ = _refuse("__ixor__")


class Dictionary(View, Mapping[str, Any]):
    """A dictionary property, or a dictionary inside an Any value, in the order of its keys."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    _is_valid = staticmethod(lib.realm_dictionary_is_valid)

    def __len__(self) -> int:
        return c.get_size(lib.realm_dictionary_size, self._handle.get())

    def __getitem__(self, key: str) -> Any:
        encoded = self._key(key)
        if encoded is not None:
            found, value = c.find_in_dictionary(self._handle.get(), encoded)
            if found:
                return self._wrap(value, encoded)
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        encoded = self._key(key)
        return encoded is not None and c.find_in_dictionary(self._handle.get(), encoded)[0]

    def _key(self, key: object) -> Optional[c.Encoded]:
        """The key for the library; None for what cannot be a key."""
        if isinstance(key, str):
            try:
                return c.encode(key, c.P_STRING)
            except DataError:
                pass
        len(self)  # Raises when the dictionary is gone.
        return None

    def _wrap(self, value: Any, key: c.Encoded) -> Any:
        if isinstance(value, c.Nested):
            pointer = self._handle.get()
            if value.kind == c.LIST:
                nested = c.get_pointer(lib.realm_dictionary_get_list, pointer, key.value)
                return List(self._db, nested, self._property)
            nested = c.get_pointer(lib.realm_dictionary_get_dictionary, pointer, key.value)
            return Dictionary(self._db, nested, self._property)
        return self._db._rich(value, self._property)

    def _pairs(self) -> Iterator[Tuple[str, Any]]:
        index = 0
        while index < len(self):
            key, value = c.get_dictionary_pair(self._handle.get(), index)
            if isinstance(value, c.Nested):
                value = self._wrap(value, c.encode(key, c.P_STRING))
            else:
                value = self._db._rich(value, self._property)
            yield key, value
            index += 1

    def __iter__(self) -> Iterator[str]:
        index = 0
        while index < len(self):
            yield c.get_dictionary_pair(self._handle.get(), index)[0]
            index += 1

    def items(self) -> "_Items":
        return _Items(self)

    def values(self) -> "_Values":
        return _Values(self)

    def _plain(self, limit: int) -> Any:
        shown: Dict[str, Any] = {}
        for key, value in self._pairs():
            if len(shown) == limit:
                return _Cut(shown, len(self))
            shown[key] = value
        return shown

    clear = _refuse("clear")
    pop = _refuse("pop")
    popitem = _refuse("popitem")
    setdefault = _refuse("setdefault")
    update = _refuse("update")
    __delitem__ = _refuse("__delitem__")
    __ior__ = _refuse("__ior__")
    __setitem__ = _refuse("__setitem__")


class _Items(ItemsView[str, Any]):
    __slots__ = ()
    _mapping: Dictionary

    def __iter__(self) -> Iterator[Tuple[str, Any]]:
        return self._mapping._pairs()


class _Values(ValuesView[Any]):
    __slots__ = ()
    _mapping: Dictionary

    def __iter__(self) -> Iterator[Any]:
        return (value for _, value in self._mapping._pairs())


class Results(Sequence[Any]):
    """Objects found: all of a class, or those that link to one. Live, as collections are.

    Looping is safe while objects are created and deleted: each object that exists throughout the
    loop comes exactly once.
    """

    __slots__ = ("_db", "_handle", "_class_key")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, db: Database, pointer: int, class_key: int) -> None:
        self._db = db
        self._handle = Handle(db._owner, pointer)
        self._class_key = class_key

    @property
    def is_valid(self) -> bool:
        """Whether the results can still be read."""
        if self._handle.owner.is_closed:
            return False
        return c.get_flag(lib.realm_results_is_valid, self._handle.get())

    def __len__(self) -> int:
        return c.get_size(lib.realm_results_count, self._handle.get())

    def __getitem__(self, index: Union[int, slice]) -> Any:
        if isinstance(index, slice):
            return [self._at(i) for i in range(*index.indices(len(self)))]
        return self._at(_position(index, self))

    def _key_at(self, index: int) -> int:
        link: c.Link = c.get_value(lib.realm_results_get, self._handle.get(), index)
        return link.object_key

    def _at(self, index: int) -> Any:
        return self._db._object(self._class_key, self._key_at(index))

    def __iter__(self) -> Iterator[Any]:
        # The keys first: links may come and go while the loop runs.
        return self._existing([self._key_at(i) for i in range(len(self))])

    def _existing(self, keys: Iterable[int]) -> Iterator[Any]:
        for key in keys:
            try:
                found = self._db._object(self._class_key, key)
            except InvalidatedError:
                continue  # Deleted since its key was read.
            yield found

    def __contains__(self, value: object) -> bool:
        return any(value == element for element in self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, (str, bytes, bytearray, memoryview)):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other))

    def __repr__(self) -> str:
        try:
            count = len(self)
            shown = [self._at(i) for i in range(min(count, 8))]
            return repr(shown if count <= 8 else _Cut(shown, count))
        except Error as error:
            return f"<{type(self).__name__}: {type(error).__name__}>"


class AllObjects(Results):
    """All objects of a class, in the order of their keys."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        index, last = 0, None
        while True:
            count = len(self)
            if last is not None and not (index <= count and self._key_at(index - 1) == last):
                index = self._after(last, count)
            keys = [self._key_at(i) for i in range(index, min(index + _PAGE, count))]
            if not keys:
                return
            yield from self._existing(keys)
            index, last = index + len(keys), keys[-1]

    def _after(self, key: int, count: int) -> int:
        """The position of the first object with a greater key."""
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            if self._key_at(middle) <= key:
                low = middle + 1
            else:
                high = middle
        return low

    def __contains__(self, value: object) -> bool:
        self._handle.get()
        return (
            getattr(value, "_db", None) is self._db
            and getattr(value, "_class_key", None) == self._class_key
            and bool(getattr(value, "is_valid", False))
        )


class _Cut:
    """Prints as a collection of which only the beginning is shown."""

    def __init__(self, shown: Any, count: int, brackets: str = "") -> None:
        self.shown, self.count, self.brackets = shown, count, brackets

    def __repr__(self) -> str:
        text = repr(self.shown)
        inside, brackets = text[1:-1], self.brackets or text[0] + text[-1]
        missing = self.count - len(self.shown)
        return f"{brackets[0]}{inside}{f', … {missing} more' if missing else ''}{brackets[1]}"


def _position(index: Any, sequence: Sequence[Any]) -> int:
    """A non-negative position; IndexError when there is none."""
    try:
        position = operator.index(index)
    except TypeError:
        raise TypeError(f"Positions are integers, not {type(index).__name__}") from None
    count = len(sequence)
    if position < 0:
        position += count
    if not 0 <= position < count:
        raise IndexError(f"Position {index} of {count}")
    return position
