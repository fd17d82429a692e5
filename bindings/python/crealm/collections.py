"""Lists, sets and dictionaries of an object: live views.

A view always shows the current contents in the database. Changes through it write to the database; like all
changes they need `with db.write():`. After its object was deleted, or a collection inside an Any property was
replaced, the view raises InvalidatedError. Assigning to the property, `obj.items = [1, 2]`, replaces the contents.

All values of a call are checked before anything is written: if one of the values of an extend() cannot be
stored, none of them is. Plain model instances among them are added to the database; embedded objects are
copied. Inside Any, lists and dictionaries of Python become nested collections.

pop() returns values that are independent of the database: an embedded object as a plain instance of its model
or as a dictionary, a nested collection as a list or dictionary of Python.

Lists, sets and the values of dictionaries have the queries of tables: `ann.dogs.where("age > 2")`,
`ann.dogs.sort("name")`, `ann.marks.max()`; see `results`.
"""

from __future__ import annotations

from collections.abc import (
    ItemsView,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    MutableSequence,
    MutableSet,
    Sequence,
    Set,
    ValuesView,
)
from typing import TYPE_CHECKING, Any, Callable, Dict, NoReturn, Optional, Tuple, Type, TypeVar, overload
from typing import List as ListOf, Set as SetOf

from . import _marshal as c
from ._handle import Handle, resolved
from ._library import lib
from ._sequences import Cut, position_in
from ._session import LiveList, Session
from ._shown import counted, ROWS, table, text
from ._store import (
    SIMPLE,
    Plan,
    Planned,
    dictionary_key,
    insert_in_list,
    insert_in_set,
    located,
    put_in_dictionary,
    set_in_list,
)
from .blobs import opened
from .changes import DictionaryChange
from .errors import ConstraintError, CorruptFileError, DataError, Error, NotSupportedError
from .expressions import Path
from .frozen import Freezable
from .observing import (
    DICTIONARY,
    LIST,
    SET,
    Kind,
    Observable,
    Paths,
    Subject,
    collection_change,
)
from .results import Queryable, Results, results_of
from .schema import BoundClass

T = TypeVar("T")
V = TypeVar("V", bound="View")
_MISSING: Any = object()
_DEEPEST = 100  # The levels of nested collections that a file can have.


class View(Observable, Freezable):
    """Base of lists, sets and dictionaries."""

    __slots__ = ("_db", "_handle", "_property", "_class_key", "_owner", "_depth")
    _is_valid: Callable[[int], bool]
    _kind: Kind
    _resolve_in: Callable[..., bool]
    _to_results: Callable[[int], int]
    _change: Callable[..., Any] = staticmethod(collection_change)

    def __init__(
        self,
        db: Session,
        handle: Handle,
        property: c.PropertyFacts,
        class_key: int,
        owner: Optional[int],
        depth: int = 1,
    ) -> None:
        self._db = db
        self._handle = handle
        self._property = property
        self._class_key = class_key
        self._owner = owner  # The key of the object that has the property; None inside another collection.
        self._depth = depth  # 1 for a property, 2 for a collection inside it, and so on.

    def __len__(self) -> int:
        raise NotImplementedError

    @property
    def is_valid(self) -> bool:
        """Whether the collection still exists and its database is open."""
        if self._handle.owner.is_closed:
            return False
        return bool(self._handle.call(self._is_valid))

    # Inside

    def _subject(self, paths: Paths) -> Subject:
        facts = self._property
        key = self._db._named(facts.target).key if facts.type == c.P_OBJECT else None
        return Subject(self._db, self._handle, self._kind, key, self._change)

    def _resolved_in(self: V, db: Session) -> Optional[V]:
        found = resolved(db._owner, self._handle, c.get_resolved, self._resolve_in)
        if found is None:
            return None
        return type(self)(db, found, self._property, self._class_key, self._owner, self._depth)

    def _bound(self) -> BoundClass:
        return self._db._bound(self._class_key)

    def _is_of(self, db: Session, class_key: int, owner: int, property: c.PropertyFacts) -> bool:
        """Whether this is the current collection of a property of an object."""
        return (
            self._db is db
            and self._class_key == class_key
            and self._owner == owner
            and self._property.key == property.key
            and self.is_valid
        )

    def _begin(self) -> Handle:
        """Checks that a write is running, and returns the handle."""
        db = self._db
        if not db._writing or db._owner.is_closed:
            db._require_write(self._bound().where(self._property))
        return self._handle

    def _planned(self, make: Callable[[Plan], T]) -> T:
        """Plans values with `make`, adds the objects that they refer to, and returns the planned values."""
        plan = Plan(self._db)
        try:
            made = make(plan)
        except (DataError, ConstraintError) as error:
            raise located(error, self._bound().where(self._property))
        len(self)  # Raises if the collection does not exist any more, before anything is added.
        plan.add()
        return made

    def _planned_element(self, value: Any) -> Planned:
        if self._property.type in SIMPLE and value is not None:
            try:
                return c.encode_for(self._property, value)
            except DataError as error:
                raise located(error, self._bound().where(self._property))
        return self._planned(lambda plan: plan.element(self._property, value, self._depth))

    def _planned_elements(self, values: Any) -> ListOf[Any]:
        """The planned values for elements of a list or set."""
        return self._planned(lambda plan: plan.sequence(self._property, values, self._depth))

    def _nested(self, kind: int, list_pointer: Any, dictionary_pointer: Any, *place: Any) -> View:
        """The view of a collection at a place in this one. CorruptFileError if it is nested deeper than the format
        allows."""
        if self._depth > _DEEPEST:
            where = self._bound().where(self._property)
            raise CorruptFileError(f"{where}: collections nested too deeply, or one that contains itself", path=self._db.path)
        view: Any = List if kind == c.LIST else Dictionary
        made = self._handle.make(list_pointer if kind == c.LIST else dictionary_pointer, *place)
        nested: View = view(self._db, made, self._property, self._class_key, None, self._depth + 1)
        return nested

    def _found(self, function: Any) -> Results[Any]:
        """The results that a function of the library makes from the collection."""
        made = self._handle.make(function)
        return results_of(self._db, made, self._property, self._class_key, self._depth)

    def _encode(self, value: Any) -> c.Encoded:
        return c.encode_for(self._property, self._db._plain(value))

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A collection of an open database cannot be pickled or copied; make a list or dict of it"
        )

    def __repr__(self) -> str:
        try:
            return repr(self._shown(8))
        except Error as error:
            return f"<{type(self).__name__}: {type(error).__name__}>"

    def _brief(self) -> str:
        return f"<{len(self)} values>"

    def _shown(self, limit: int) -> Any:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """A table of the first elements, for Jupyter."""
        try:
            return self._found(self._to_results)._repr_html_()
        except Error:
            return text(self)


class List(Queryable[T], View, LiveList, MutableSequence[T]):
    """A list property, or a list inside an Any value. As an annotation of a model, dogs: crealm.List[Dog] means
    list[Dog], and lets type checkers know that the attribute is a live view."""

    __slots__ = ()
    _realm_collection = c.C_LIST
    __hash__ = None  # type: ignore[assignment]
    _is_valid = staticmethod(lib.realm_list_is_valid)
    _kind = LIST
    _resolve_in = staticmethod(lib.realm_list_resolve_in)
    _to_results = staticmethod(lib.realm_list_to_results)

    # Reading

    def __len__(self) -> int:
        count: int = self._handle.call(c.get_size, lib.realm_list_size)
        return count

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: Any) -> Path: ...

        @overload
        def __get__(self, instance: object, owner: Any) -> List[T]: ...

        def __get__(self, instance: Any, owner: Any) -> Any: ...

        def __set__(self, instance: object, value: Iterable[T]) -> None: ...

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> ListOf[T]: ...

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._at(i) for i in range(*index.indices(len(self)))]
        return self._at(position_in(index, self))

    def _at(self, index: int) -> Any:
        value = self._handle.call(c.get_value, lib.realm_list_get, index)
        if isinstance(value, c.Nested):
            return self._nested(value.kind, lib.realm_list_get_list, lib.realm_list_get_dictionary, index)
        return self._db._rich(value, self._property)

    def __iter__(self) -> Iterator[T]:
        index = 0
        while index < len(self):
            yield self._at(index)
            index += 1

    def __contains__(self, value: object) -> bool:
        return self._find(value) >= 0

    def _find(self, value: object) -> int:
        """The first position of a value; -1 if the list does not have it."""
        if isinstance(value, (View, list, dict)):
            return next((i for i, element in enumerate(self) if value == element), -1)
        try:
            position: int = self._handle.call(c.find_in_list, self._encode(value))
            return position
        except (ConstraintError, DataError):
            len(self)  # Raises if the list does not exist any more.
            return -1  # The list cannot hold such a value.

    def index(self, value: Any, start: int = 0, stop: Optional[int] = None) -> int:
        """The first position of a value, from `start` on and before `stop`; ValueError if it is not there."""
        if start == 0 and stop is None:
            position = self._find(value)
        else:
            first, end, _ = slice(start, stop).indices(len(self))
            position = next((i for i in range(first, end) if self._at(i) == value), -1)
        if position < 0:
            raise ValueError(f"{value!r} is not in the list")
        return position

    def copy(self) -> ListOf[T]:
        """A list of Python with the same elements."""
        return list(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, (str, bytes, bytearray, memoryview)):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other))

    def _shown(self, limit: int) -> Any:
        count = len(self)
        shown = [self._at(i) for i in range(min(count, limit))]
        return shown if count <= limit else Cut(shown, count)

    # Writing

    def __setitem__(self, index: Any, value: Any) -> None:
        handle = self._begin()
        if isinstance(index, slice):
            self._set_slice(handle, index, value)
            return
        position = position_in(index, self)
        if not self._is_element(position, value):
            with _Located(self):
                set_in_list(handle, position, self._planned_element(value))

    def _is_element(self, position: int, value: Any) -> bool:
        """Whether the value is the same embedded object that is at a position, as in items[0] = items[0]."""
        return (
            getattr(value, "_db", None) is self._db
            and self._property.type == c.P_OBJECT
            and self._db._named(self._property.target).schema.embedded
            and self._at(position) == value
        )

    def _set_slice(self, handle: Handle, index: slice, values: Any) -> None:
        if values is self and index == slice(None):
            return
        planned = self._planned_elements(values)
        start, stop, step = index.indices(len(self))
        with _Located(self):
            if step != 1:
                positions = range(start, stop, step)
                if len(positions) != len(planned):
                    raise ValueError(
                        f"attempt to assign sequence of size {len(planned)} "
                        f"to extended slice of size {len(positions)}"
                    )
                for position, value in zip(positions, planned):
                    set_in_list(handle, position, value)
                return
            stop = max(start, stop)
            common = min(stop - start, len(planned))
            for offset in range(common):
                set_in_list(handle, start + offset, planned[offset])
            for position in reversed(range(start + common, stop)):
                handle.call(c.check, lib.realm_list_erase, position)
            for offset in range(common, len(planned)):
                insert_in_list(handle, start + offset, planned[offset])

    def __delitem__(self, index: Any) -> None:
        handle = self._begin()
        if isinstance(index, slice):
            positions: Any = sorted(range(*index.indices(len(self))), reverse=True)
            if len(positions) == len(self):
                handle.call(c.check, lib.realm_list_clear)
                return
        else:
            positions = [position_in(index, self)]
        for position in positions:
            handle.call(c.check, lib.realm_list_erase, position)

    def insert(self, index: int, value: T) -> None:
        """Inserts before a position; a position beyond an end inserts at that end."""
        handle = self._begin()
        planned = self._planned_element(value)
        position = slice(index, None).indices(len(self))[0]
        with _Located(self):
            insert_in_list(handle, position, planned)

    def append(self, value: T) -> None:
        handle = self._begin()
        planned = self._planned_element(value)
        with _Located(self):
            insert_in_list(handle, len(self), planned)

    def extend(self, values: Iterable[T]) -> None:
        """Appends all values, or none of them if one cannot be stored."""
        handle = self._begin()
        planned = self._planned_elements(values)
        with _Located(self):
            for position, value in enumerate(planned, len(self)):
                insert_in_list(handle, position, value)

    def __iadd__(self, values: Iterable[T]) -> List[T]:
        self.extend(values)
        return self

    def pop(self, index: int = -1) -> T:
        """Removes an element, by default the last one, and returns it."""
        handle = self._begin()
        if not len(self):
            raise IndexError("pop from an empty list")
        position = position_in(index, self)
        value: T = taken_out(self._at(position))
        handle.call(c.check, lib.realm_list_erase, position)
        return value

    def clear(self) -> None:
        """Removes all elements. Linked objects stay in the database, embedded objects are deleted."""
        self._begin().call(c.check, lib.realm_list_clear)

    def move(self, from_index: int, to_index: int) -> None:
        """Moves an element to another position. The positions are those of a removal and an insertion, but an
        embedded object or nested collection stays the same one."""
        handle = self._begin()
        source, target = position_in(from_index, self), position_in(to_index, self)
        handle.call(c.check, lib.realm_list_move, source, target)

    def open(self, mode: str = "rb") -> Any:
        """A file whose bytes are those of the elements, one after the other: for long values in lists of bytes and
        texts, see `blobs`. Modes: "rb", "r+b", "wb", "ab"; for texts also "r", "w" and "a". A list of texts is
        written at its end only. NotSupportedError for other lists, NotInWriteError for "w" outside a write."""
        return opened(self, mode)

    def reverse(self) -> None:
        handle = self._begin()
        last = len(self) - 1
        for position in range(last):
            handle.call(c.check, lib.realm_list_move, last, position)

    def sort(self, *keys: Any, **options: Any) -> Results[T]:
        """The objects in another order, as Results; see Queryable. Unlike list.sort() of Python, it does not change
        the list."""
        if not keys:
            raise NotSupportedError(
                "A list keeps the order that it was given",
                hint="sorted(obj.items) is a sorted copy; "
                "obj.items[:] = sorted(obj.items) stores that order.",
            )
        return super().sort(*keys, **options)

    def _results(self) -> Results[T]:
        return self._found(self._to_results)


class SetView(Queryable[T], View, MutableSet[T]):
    """A set property, in the order of its values. As an annotation, tags: crealm.SetView[str] is the same as set[str]."""

    __slots__ = ()
    _realm_collection = c.C_SET
    __hash__ = None  # type: ignore[assignment]
    _is_valid = staticmethod(lib.realm_set_is_valid)
    _kind = SET
    _resolve_in = staticmethod(lib.realm_set_resolve_in)
    _to_results = staticmethod(lib.realm_set_to_results)

    # Reading

    @classmethod
    def _from_iterable(cls, elements: Iterable[Any]) -> SetOf[Any]:
        return set(elements)  # The operators | & - ^ make a set of Python.

    def __len__(self) -> int:
        count: int = self._handle.call(c.get_size, lib.realm_set_size)
        return count

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: Any) -> Path: ...

        @overload
        def __get__(self, instance: object, owner: Any) -> SetView[T]: ...

        def __get__(self, instance: Any, owner: Any) -> Any: ...

        def __set__(self, instance: object, value: Iterable[T]) -> None: ...

    def __iter__(self) -> Iterator[T]:
        index = 0
        while index < len(self):
            value = self._handle.call(c.get_value, lib.realm_set_get, index)
            yield self._db._rich(value, self._property)
            index += 1

    def __contains__(self, value: object) -> bool:
        try:
            return bool(self._handle.call(c.find_in_set, self._encode(value)))
        except (ConstraintError, DataError):
            len(self)  # Raises if the set does not exist any more.
            return False  # The set cannot hold such a value.

    def copy(self) -> SetOf[T]:
        """A set of Python with the same elements."""
        return set(self)

    def union(self, *others: Iterable[Any]) -> SetOf[Any]:
        """A set of Python with the values of this one and of the others."""
        return set(self).union(*others)

    def intersection(self, *others: Iterable[Any]) -> SetOf[Any]:
        """A set of Python with the values that this set and all others have."""
        return set(self).intersection(*others)

    def difference(self, *others: Iterable[Any]) -> SetOf[Any]:
        """A set of Python with the values of this set that none of the others has."""
        return set(self).difference(*others)

    def symmetric_difference(self, other: Iterable[Any]) -> SetOf[Any]:
        """A set of Python with the values that only one of the two has."""
        return set(self).symmetric_difference(other)

    def issubset(self, other: Iterable[Any]) -> bool:
        """Whether the other has all values of this one."""
        return self <= (other if isinstance(other, Set) else set(other))

    def issuperset(self, other: Iterable[Any]) -> bool:
        """Whether this one has all values of the other."""
        return self >= (other if isinstance(other, Set) else set(other))

    def _shown(self, limit: int) -> Any:
        shown: ListOf[Any] = []
        for element in self:
            if len(shown) == limit:
                return Cut(shown, len(self), "{}")
            shown.append(element)
        return Cut(shown, len(shown), "{}")

    # Writing

    def add(self, value: T) -> None:
        handle = self._begin()
        planned = self._planned_element(value)
        with _Located(self):
            insert_in_set(handle, planned)

    def discard(self, value: Any) -> None:
        """Removes a value if it is there."""
        self._begin()
        self._discard(value)

    def _discard(self, value: Any) -> bool:
        try:
            return bool(self._handle.call(c.get_flag, lib.realm_set_erase, self._encode(value)))
        except (ConstraintError, DataError):
            len(self)  # Raises if the set does not exist any more.
            return False

    def remove(self, value: Any) -> None:
        """Removes a value; KeyError if the set does not have it."""
        self._begin()
        if not self._discard(value):
            raise KeyError(value)

    def pop(self) -> T:
        """Removes the first value and returns it."""
        self._begin()
        for value in self:
            self._discard(value)
            return value
        raise KeyError("pop from an empty set")

    def clear(self) -> None:
        """Removes all values. Linked objects stay in the database."""
        self._begin().call(c.check, lib.realm_set_clear)

    def update(self, *others: Iterable[Any]) -> None:
        """Adds all values, or none of them if one cannot be stored."""
        handle = self._begin()
        planned = self._planned_elements([value for values in others for value in values])
        with _Located(self):
            for value in planned:
                insert_in_set(handle, value)

    def difference_update(self, *others: Iterable[Any]) -> None:
        """Removes the values that any of the others has."""
        self._begin()
        for value in [value for values in others for value in values]:
            self._discard(value)

    def intersection_update(self, *others: Iterable[Any]) -> None:
        """Removes the values that any of the others lacks."""
        self._begin()
        kept = [values if isinstance(values, Set) else set(values) for values in others]
        for value in [v for v in self if not all(v in values for values in kept)]:
            self._discard(value)

    def symmetric_difference_update(self, other: Iterable[Any]) -> None:
        """Removes the values that both sets have, and adds those that only the other has."""
        handle = self._begin()
        values = list(other if isinstance(other, Set) else set(other))
        gone = [value for value in values if value in self]
        planned = self._planned_elements([value for value in values if value not in self])
        for value in gone:
            self._discard(value)
        with _Located(self):
            for value in planned:
                insert_in_set(handle, value)

    def __ior__(self, other: Any) -> SetView[T]:  # type: ignore[misc]
        self.update(other)
        return self

    def __iand__(self, other: Any) -> SetView[T]:  # type: ignore[misc]
        self.intersection_update(other)
        return self

    def __isub__(self, other: Any) -> SetView[T]:  # type: ignore[misc]
        self.difference_update(other)
        return self

    def __ixor__(self, other: Any) -> SetView[T]:  # type: ignore[misc]
        self.symmetric_difference_update(other)
        return self

    def _results(self) -> Results[T]:
        return self._found(self._to_results)


class Dictionary(View, MutableMapping[str, T]):
    """A dictionary property, or a dictionary inside an Any value, in the order of its keys. DataError for a key that
    contains "." or begins with "$", which cannot be stored. As an annotation, ages: crealm.Dictionary[int] means
    dict[str, int]."""

    __slots__ = ()
    _realm_collection = c.C_DICTIONARY
    __hash__ = None  # type: ignore[assignment]
    _is_valid = staticmethod(lib.realm_dictionary_is_valid)
    _kind = DICTIONARY
    _resolve_in = staticmethod(lib.realm_dictionary_resolve_in)
    _to_results = staticmethod(lib.realm_dictionary_to_results)
    _change = DictionaryChange

    # Reading

    def __len__(self) -> int:
        count: int = self._handle.call(c.get_size, lib.realm_dictionary_size)
        return count

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: Any) -> Path: ...

        @overload
        def __get__(self, instance: object, owner: Any) -> Dictionary[T]: ...

        def __get__(self, instance: Any, owner: Any) -> Any: ...

        def __set__(self, instance: object, value: Mapping[str, T]) -> None: ...

    def __getitem__(self, key: str) -> T:
        encoded = self._key(key)
        if encoded is not None:
            found, value = self._handle.call(c.find_in_dictionary, encoded)
            if found:
                wrapped: T = self._wrap(value, encoded)
                return wrapped
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        encoded = self._key(key)
        return encoded is not None and self._handle.call(c.find_in_dictionary, encoded)[0]

    def _key(self, key: object) -> Optional[c.Encoded]:
        """The key, encoded for the library; None for a value that cannot be a key."""
        if isinstance(key, str):
            try:
                return c.encode(key, c.P_STRING)
            except DataError:
                pass
        len(self)  # Raises if the dictionary does not exist any more.
        return None

    def _wrap(self, value: Any, key: c.Encoded) -> Any:
        if isinstance(value, c.Nested):
            return self._nested(
                value.kind, lib.realm_dictionary_get_list, lib.realm_dictionary_get_dictionary, key
            )
        return self._db._rich(value, self._property)

    def _pair(self, index: int) -> Tuple[str, Any]:
        key, value = self._handle.call(c.get_dictionary_pair, index)
        if isinstance(value, c.Nested):
            return key, self._wrap(value, c.encode(key, c.P_STRING))
        return key, self._db._rich(value, self._property)

    def _pairs(self) -> Iterator[Tuple[str, Any]]:
        index = 0
        while index < len(self):
            yield self._pair(index)
            index += 1

    def __iter__(self) -> Iterator[str]:
        index = 0
        while index < len(self):
            yield self._handle.call(c.get_dictionary_pair, index)[0]
            index += 1

    def __reversed__(self) -> Iterator[str]:
        for index in reversed(range(len(self))):
            yield self._handle.call(c.get_dictionary_pair, index)[0]

    def items(self) -> _Items[T]:
        return _Items(self)

    def values(self) -> _Values[T]:
        return _Values(self)

    def copy(self) -> Dict[str, T]:
        """A dict of Python with the same pairs."""
        return dict(self._pairs())

    def __or__(self, other: Any) -> Dict[str, Any]:
        return {**self, **other} if isinstance(other, Mapping) else NotImplemented

    def __ror__(self, other: Any) -> Dict[str, Any]:
        return {**other, **self} if isinstance(other, Mapping) else NotImplemented

    def _shown(self, limit: int) -> Any:
        shown: Dict[str, Any] = {}
        for key, value in self._pairs():
            if len(shown) == limit:
                return Cut(shown, len(self))
            shown[key] = value
        return shown

    def _repr_html_(self) -> str:
        try:
            count = len(self)
            pairs = [self._pair(index) for index in range(min(count, ROWS))]
            return table(counted(count, "value"), ["key", "value"], pairs, count - len(pairs))
        except Error:
            return text(self)

    # Writing

    def __setitem__(self, key: str, value: Any) -> None:
        handle = self._begin()
        if self._is_value(key, value):
            return
        encoded, planned = self._planned(
            lambda plan: (dictionary_key(key), plan.element(self._property, value, self._depth))
        )
        with _Located(self):
            put_in_dictionary(handle, encoded, planned)

    def _is_value(self, key: Any, value: Any) -> bool:
        """Whether the value is the same embedded object that is under a key."""
        return (
            getattr(value, "_db", None) is self._db
            and self._property.type == c.P_OBJECT
            and self._db._named(self._property.target).schema.embedded
            and bool(self.get(key) == value)
        )

    def __delitem__(self, key: str) -> None:
        handle = self._begin()
        encoded = self._key(key)
        if encoded is None or not handle.call(c.get_flag, lib.realm_dictionary_erase, encoded):
            raise KeyError(key)

    def pop(self, key: str, default: Any = _MISSING) -> Any:
        """Removes a key and returns its value; for a missing key the default, or KeyError without a default."""
        self._begin()
        if key not in self:
            if default is _MISSING:
                raise KeyError(key)
            return default
        value = taken_out(self[key])
        del self[key]
        return value

    def popitem(self) -> Tuple[str, Any]:
        """Removes the pair with the last key and returns it."""
        self._begin()
        count = len(self)
        if not count:
            raise KeyError("popitem from an empty dictionary")
        key, value = self._pair(count - 1)
        value = taken_out(value)
        del self[key]
        return key, value

    def clear(self) -> None:
        """Removes all pairs. Linked objects stay in the database, embedded objects are deleted."""
        self._begin().call(c.check, lib.realm_dictionary_clear)

    def setdefault(self, key: str, default: Any = None) -> T:
        """The value of a key; a missing key is first added with the default."""
        self._begin()
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *others: Any, **values: Any) -> None:
        """Sets all pairs, or none of them if one cannot be stored."""
        if len(others) > 1:
            raise TypeError(f"update() takes one mapping at most, not {len(others)}")
        handle = self._begin()
        if others and others[0] is self:
            others = ()
        given = dict(*others, **values)

        def pairs(plan: Plan) -> ListOf[Tuple[c.Encoded, Planned]]:
            facts, depth = self._property, self._depth
            return [(dictionary_key(k), plan.element(facts, v, depth)) for k, v in given.items()]

        planned = self._planned(pairs)
        with _Located(self):
            for key, value in planned:
                put_in_dictionary(handle, key, value)

    def __ior__(self, other: Any) -> Dictionary[T]:
        self.update(other)
        return self


class _Located:
    """`with _Located(view):` puts the name of the property in front of the library's error messages about values."""

    __slots__ = ("view",)

    def __init__(self, view: View) -> None:
        self.view = view

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if isinstance(error, (DataError, ConstraintError)):
            where = self.view._bound().where(self.view._property)
            if not error.message.startswith(where):
                located(error, where)


def taken_out(value: Any) -> Any:
    """A copy, independent of the database, of an element that is about to be removed."""
    if isinstance(value, List):
        return [taken_out(element) for element in value]
    if isinstance(value, Dictionary):
        return {key: taken_out(element) for key, element in value.items()}
    if isinstance(value, SetView):
        return set(value)
    if getattr(value, "_db", None) is not None and value._is_embedded_object():
        return value._plain_copy()
    return value


class _Items(ItemsView[str, T]):
    __slots__ = ()
    _mapping: Dictionary[T]

    def __iter__(self) -> Iterator[Tuple[str, T]]:
        return self._mapping._pairs()


class _Values(Queryable[T], Observable, ValuesView[T]):
    __slots__ = ()
    _mapping: Dictionary[T]

    def __iter__(self) -> Iterator[T]:
        return (value for _, value in self._mapping._pairs())

    def _results(self) -> Results[T]:
        view = self._mapping
        return view._found(view._to_results)

    def _subject(self, paths: Paths) -> Subject:
        return self._results()._subject(paths)


# The kinds of views, by c.C_LIST and the like.
VIEWS: Dict[int, Type[View]] = {c.C_LIST: List, c.C_SET: SetView, c.C_DICTIONARY: Dictionary}
