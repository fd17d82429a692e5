"""Objects, and the table of all objects of a class."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Dict, Iterator, NoReturn, Optional, Tuple, Type, TypeVar, Union, overload
from typing import List as ListOf, Set as SetOf

from . import _marshal as c
from ._handle import Handle, resolved
from ._json import jsonable
from ._library import lib
from ._pages import Page, attribute
from ._session import Row, Session
from ._shown import brief, refuse_frame, table, text
from ._creating import created
from ._store import SIMPLE, Plan, located, put_in_property
from .collections import Dictionary, List, SetView, View, taken_out
from ._computed import value_if_known
from .errors import ConstraintError, DataError, Error, InvalidatedError, NoSuchProperty, UsageError
from .families import narrowed
from .frozen import Freezable
from .observing import OBJECT, Observable, Paths, Subject, object_change
from .results import AllObjects, Results
from .schema import BoundClass, ClassSchema
from .values import RawTimestamp

T = TypeVar("T")
D = TypeVar("D")
O = TypeVar("O", bound="Object")  # noqa: E741

_PLAIN = frozenset({int, str, bool, float, type(None)})  # Values of these types need no conversion.
_SHOWN = 30  # The number of properties that repr() shows.
_DEEPEST = 100  # Levels of links that to_dict() follows at most.


class Object(Observable, Freezable, Row):
    """One object: its properties are attributes; obj[name] reaches names that cannot be attributes.

    An object stays bound to its row while the database moves on. After the row was deleted, reading
    raises InvalidatedError, and the object is false. Objects are equal if they are the same row of
    the same open database.
    """

    __slots__ = ("_db", "_handle", "_class_key", "_key", "_place")
    _db: Session  # None for model instances that are in no database.
    _handle: Handle
    _class_key: int
    _key: int
    _place: Optional[Tuple[Page, int]]  # For an object from a loop; the other attributes are made from it when needed.

    @classmethod
    def _wrap(cls: Type[O], db: Session, handle: Handle, class_key: int, key: int) -> O:
        self = object.__new__(cls)
        _set_db(self, db)
        _set_handle(self, handle)
        _set_class_key(self, class_key)
        _set_key(self, key)
        _set_place(self, None)
        return self

    @classmethod
    def _of_class(cls, bound: BoundClass) -> Type[Object]:
        """The Python class for objects of a class without a model, in loops. It has an attribute for each property,
        because Python finds these faster than __getattr__ does."""

        def read(name: str) -> Any:
            return property(attribute(name, lambda row: row._read(row._facts(name))))

        members: Dict[str, Any] = {name: read(name) for name in bound.properties if not hasattr(cls, name)}
        members.update(__slots__=(), __module__=cls.__module__, __qualname__=cls.__qualname__, __doc__=cls.__doc__)
        return type(cls.__name__, (cls,), members)

    # Properties

    if not TYPE_CHECKING:  # For type checkers, models declare their attributes, and other rows are Any.

        def __getattr__(self, name: str) -> Any:
            if name in Object.__slots__:
                return self._late(name)
            return self._property(name)

        def __setattr__(self, name: str, value: Any) -> None:
            if hasattr(Object, name):
                raise AttributeError(f"{name!r} is no property here; obj[{name!r}] = … reaches one of that name")
            self[name] = value

    def _late(self, name: str) -> Any:
        """An attribute that an object of a page gets only when it is needed."""
        if name == "_place":
            raise AttributeError(name)
        assign = object.__setattr__
        if name == "_handle":
            found = self._db._owner.make(lib.realm_get_object, self._class_key, self._key)
            assign(self, "_handle", found)
            return found
        place = self._place
        if place is not None:  # Else the object left its page, maybe on another thread just now, and has all slots.
            page, index = place
            assign(self, "_db", page.db)
            assign(self, "_class_key", page.class_key)
            assign(self, "_key", page.keys[index])
        return object.__getattribute__(self, name)

    def _property(self, name: str) -> Any:
        """The value of a property."""
        place = self._place
        if place is not None:
            page, index = place
            try:
                return page[name][index]
            except KeyError:
                pass
        try:
            facts = self._facts(name)
        except NoSuchProperty as unknown:
            return value_if_known(self, name, unknown)
        return self._read(facts)

    def __getitem__(self, name: str) -> Any:
        return self._property(name)

    def __setitem__(self, name: str, value: Any) -> None:
        db, handle, bound = self._db, self._handle, self._bound()
        facts = bound.find(name)
        db._require_write(f"{bound.name}.{name}")
        if facts is bound.primary_key and not db._is_migrating:
            raise ConstraintError(f"{bound.name}.{name} is the primary key: it cannot be changed")
        if facts.type in SIMPLE and facts.collection == c.C_NONE and value is not None:
            try:
                encoded = c.encode_for(facts, value)
            except DataError as error:
                raise located(error, bound.where(facts))
            handle.call(c.check, lib.realm_set_value, facts.key, encoded, False)
        elif not self._has_already(facts, value):
            _put(db, handle, bound, facts, value)

    def _has_already(self, facts: c.PropertyFacts, value: Any) -> bool:
        """Whether the value is the same collection or embedded object that the property already holds, as in
        obj.items += [1] and obj.address = obj.address."""
        if isinstance(value, View):
            return value._is_of(self._db, self._class_key, self._key, facts)
        if isinstance(value, Object) and value._db is self._db and facts.collection == c.C_NONE:
            return value._is_embedded_object() and self._read(facts) == value
        return False

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("A property cannot be removed from one object; assign None if it is optional")

    def _bound(self) -> BoundClass:
        if self._db is None:
            raise UsageError(f"This {type(self).__name__} is in no database yet", hint="Add it: db.add(obj).")
        return self._db._bound(self._class_key)

    def _facts(self, name: str) -> c.PropertyFacts:
        return self._bound().find(name)

    def _read(self, facts: c.PropertyFacts) -> Any:
        handle = self._handle
        if facts.collection == c.C_NONE:
            value = handle.read(facts.key)
            if type(value) in _PLAIN and facts.kind is None:
                return value
            if type(value) is not c.Nested:
                return self._db._rich(value, facts)
            shape = c.C_LIST if value.kind == c.LIST else c.C_DICTIONARY
        else:
            shape = facts.collection
        view, get = _VIEWS[shape]
        return view(self._db, handle.make(get, facts.key), facts, self._class_key, self._key)

    def _entries(self, explicit: bool = False) -> Iterator[Tuple[str, Any]]:
        """All properties by name. `explicit` omits properties of a plain instance that have no value yet."""
        for name in self._bound().properties:
            yield name, self._property(name)

    def _is_embedded_object(self) -> bool:
        return self._bound().schema.embedded

    def _plain_copy(self) -> Any:
        """An embedded object as a plain instance of its model, or as a dictionary if it has no model."""
        values = {name: taken_out(value) for name, value in self._entries()}
        model = self._bound().model
        return values if model is None else model(**values)

    # The row

    @property
    def class_name(self) -> str:
        """The name of the object's class."""
        return self._bound().name

    @property
    def _shown_class(self) -> str:
        return self.class_name

    @property
    def object_key(self) -> int:
        """The number of the row: unique in its class, the same for the life of the object."""
        if self._db is None:
            self._bound()
        return self._key

    @property
    def is_managed(self) -> bool:
        """Whether this is an object of a database, not a plain instance of a model."""
        return self._db is not None

    @property
    def is_valid(self) -> bool:
        """Whether the row exists and the database is open. True for plain instances."""
        if self._db is None:
            return True
        if self._db._owner.is_closed:
            return False
        try:
            return bool(self._handle.call(lib.realm_object_is_valid))
        except InvalidatedError:
            return False  # An object from a loop, deleted before a handle was made for it.

    def __bool__(self) -> bool:
        return self.is_valid

    __contains__: ClassVar[None] = None

    def __iter__(self) -> Iterator[Tuple[str, Any]]:
        """The names of the properties with their values, the same as in attributes, so that dict(obj) works.
        to_dict() makes a dictionary of plain values."""
        refuse_frame("pandas")
        return self._entries()

    def delete(self) -> None:
        """Deletes the row and the objects embedded in it. Single links to it become None; links in collections are
        removed."""
        self._bound()
        self._db._require_write(self.class_name)
        self._handle.call(c.check, lib.realm_object_delete)

    def backlinks(self, class_name: Any, property_name: str) -> Results[Any]:
        """The objects of a class that link to this one through a link property (not through an Any property).
        class_name: a name or a model class. An object appears once for each link that it has to this one."""
        self._bound()
        source = self._db._class(class_name)
        facts = source.find(property_name)
        found = narrowed(self._db, self._handle.make(lib.realm_get_backlinks, source.key, facts.key), source)
        return Results(self._db, found, source.key, model=source.part)

    def _subject(self, paths: Paths) -> Subject:
        self._bound()
        # The library reports changed backlinks without a name: they are the first names of paths that are no property.
        asked = {path.split(".")[0] for path in paths or ()}

        def name(key: int) -> Iterable[str]:
            properties = self._bound().properties
            found = [name for name, facts in properties.items() if facts.key == key]
            return found or asked.difference(properties)

        return Subject(self._db, self._handle, OBJECT, self._class_key, partial(object_change, name))

    def _resolved_in(self: O, db: Session) -> Optional[O]:
        self._bound()
        found = resolved(db._owner, self._handle, c.get_resolved, lib.realm_object_resolve_in)
        return None if found is None else self._wrap(db, found, self._class_key, self._key)

    def to_dict(self, depth: int = 1) -> Dict[str, Any]:
        """The object as plain values, which do not depend on the database.

        depth: how many levels of objects become dictionaries: 1 is this object alone, 2 adds the objects that
               it links to, and so on; more than 100 counts as 100.

            single values                        themselves; bytes stay bytes (see to_json())
            list, dict                           list, dict
            set                                  set; a list when it has links, or values that are
                                                 equal in Python but not here, such as 1 and True
            embedded object                      dict; it is part of its owner, whatever the depth
            linked object within the depth       dict
            linked object beyond the depth,      {"$ref": object key, "$class": class name}; the key
            or one that was there before         of a plain instance is None

        Each object becomes a dictionary once, so cycles end.
        """
        return self._to_dict(max(1, min(depth, _DEEPEST)), set(), set)

    def _to_dict(self, depth: int, seen: SetOf[Any], set_type: Any) -> Dict[str, Any]:
        """`set_type`: the type that sets become, set or list; a list keeps the order of the set."""
        seen.add(self._identity())
        return {name: _detach(value, depth, seen, set_type) for name, value in self._entries()}

    def _json_values(self, depth: int = 1) -> Dict[str, Any]:
        """As to_dict(), with values that JSON can express."""
        values: Dict[str, Any] = jsonable(self._to_dict(max(1, min(depth, _DEEPEST)), set(), list))
        return values

    def to_json(self, depth: int = 1, *, indent: Optional[int] = None) -> str:
        """The object as JSON, with the structure of to_dict(). Values without a JSON form become:

            bytes                    base64
            datetime                 "2024-05-06T07:08:09.123456789Z": UTC, as many digits as needed
            RawTimestamp             {"$seconds": number, "$nanoseconds": number}
            Decimal, UUID, ObjectId  as str() gives them
            float                    a number; "NaN", "Infinity" and "-Infinity" otherwise
            set                      an array, in the order of the set in the database

        indent: the number of spaces for each level; None puts everything on one line.
        """
        return json.dumps(self._json_values(depth), indent=indent, ensure_ascii=False, allow_nan=False)

    def _identity(self) -> Any:
        return id(self) if self._db is None else (self._class_key, self._key)

    # Python

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Object):
            return NotImplemented
        if self._db is None:
            return self is other
        return self._key == other._key and self._class_key == other._class_key and self._db is other._db

    def __hash__(self) -> int:
        if self._db is None:
            return hash(id(self))
        return hash((id(self._db), self._class_key, self._key))

    def __dir__(self) -> ListOf[str]:
        return sorted({*object.__dir__(self), *self._bound().properties})

    def __reduce__(self) -> NoReturn:
        raise TypeError("An object of an open database cannot be pickled or copied; use to_dict()")

    def __repr__(self) -> str:
        try:
            parts = [f"{name}={brief(value)}" for name, value in islice(self._entries(), _SHOWN)]
            if next(islice(self._entries(), _SHOWN, None), None) is not None:
                parts.append("…")
            name = type(self).__name__ if self._db is None else self._bound().name
            return f"{name}({', '.join(parts)})"
        except InvalidatedError:
            return f"<deleted {_label(self)}>"
        except Error as error:
            return f"<{_label(self)}: {type(error).__name__}>"


    def _brief(self) -> str:
        return f"<{_label(self)}>"

    def _read_brief(self) -> str:
        """The object in a cell of a table: by its primary key, or by its key; an embedded one by its values."""
        if self._db is None:
            return _label(self)
        bound = self._bound()
        if bound.schema.embedded:
            return ", ".join(f"{name}: {brief(value, 20)}" for name, value in islice(self._entries(), 5))
        return f"{self._shown_class} {self._key if bound.primary_key is None else self[bound.key_name]}"

    def _repr_html_(self) -> str:
        """A table of the properties, for Jupyter."""
        try:
            return table(_label(self), ["property", "value"], [list(entry) for entry in self])
        except Error:
            return text(self)


def _label(obj: Object) -> str:
    return type(obj).__name__ if obj._db is None else f"{obj._shown_class} {obj._key}"


_VIEWS: Dict[int, Tuple[Any, Any]] = {
    c.C_LIST: (List, lib.realm_get_list),
    c.C_SET: (SetView, lib.realm_get_set),
    c.C_DICTIONARY: (Dictionary, lib.realm_get_dictionary),
}


# Assigning an attribute writes a property of the database; these functions set the slots of an object instead.
_set_db, _set_handle, _set_class_key, _set_key, _set_place = (vars(Object)[name].__set__ for name in Object.__slots__)


class Table(AllObjects[T]):
    """All objects of a class, in the order of their keys: a live sequence."""

    __slots__ = ()

    def __len__(self) -> int:
        count: int = self._db._owner.call(c.get_size, lib.realm_get_num_objects, self._class_key)
        return count

    @property
    def name(self) -> str:
        """The name of the class."""
        return self._bound().name

    @property
    def schema(self) -> ClassSchema:
        """The declaration of the class."""
        return self._bound().schema

    def _bound(self) -> BoundClass:
        return self._rows_class()

    def first(self) -> Optional[T]:
        """The object with the lowest key; None if the class has no objects."""
        return self[0] if len(self) else None

    @overload
    def get(self, primary_key: Any) -> Optional[T]: ...

    @overload
    def get(self, primary_key: Any, default: D) -> Union[T, D]: ...

    def get(self, primary_key: Any, default: Any = None) -> Any:
        """The object with a primary key, or `default`. If the primary key has several properties, it is a tuple of
        their values."""
        bound = self._bound()
        facts = bound.primary_key
        if facts is None:
            found = self._db._found_by_key(bound, primary_key)
            return default if found is None else found
        try:
            encoded = c.encode_for(facts, primary_key)
        except DataError as error:
            raise located(error, bound.where(facts))
        found = self._db._found(bound, encoded)
        return default if found is None else found

    def get_or_create(self, *primary_key: Any, **values: Any) -> Tuple[T, bool]:
        """An object, and whether it is new. Only inside a write.

        get_or_create(5, name="Ann") returns the object with the primary key 5; if there is none, it creates one with
        the other values. get_or_create(name="Ann", city="Oslo") returns the first object with these values, or creates
        one.
        """
        self._db._require_write(self._bound().name)
        if not values and not primary_key:
            raise TypeError("get_or_create() needs a primary key, or values")
        if primary_key:
            if self._bound().primary_key is None:
                raise DataError(f"{self._bound().name} has no primary key: give all values by name")
            found = self.get(primary_key[0])
        else:
            found = self.where(values).first()
        return (self.create(*primary_key, **values), True) if found is None else (found, False)

    def create(self, *primary_key: Any, **values: Any) -> T:
        """Creates an object: create(**values) or create(primary_key, **values). Properties that are not
        given get the default of their model, or zero, False, an empty value or, if allowed, None.
        A dictionary makes an embedded object, or a new object to link to. On failure no object is
        created.
        """
        bound = self._bound()
        self._db._require_write(bound.name)
        if primary_key:
            if len(primary_key) > 1:
                raise TypeError("create() takes one primary key; the other values go by name")
            if bound.primary_key is None:
                raise DataError(f"{bound.name} has no primary key: give all values by name")
            if bound.key_name in values or bound.primary_key.name in values:
                raise TypeError(f"create() got two values for {bound.key_name!r}")
            values[bound.key_name] = next(iter(primary_key))
        handle = created(self._db._owner, bound, values)
        if handle is None:
            plan = Plan(self._db)
            addition = plan.row(bound, values)
            plan.add()
            handle = addition.handle
        assert handle is not None
        made: T = self._db._object_of(handle, bound)
        return made

    def __repr__(self) -> str:
        try:
            return f"<{type(self).__name__} {self.name!r}: {len(self)} objects>"
        except Error as error:
            return f"<Table: {type(error).__name__}>"


class Subtable(Table[T]):
    """All objects of a class that shares its class of the file with others, and of its subclasses; see `families`."""

    __slots__ = ()

    def __len__(self) -> int:
        return Results.__len__(self)

    def __contains__(self, value: object) -> bool:
        return Results.__contains__(self, value)


def _detach(value: Any, depth: int, seen: SetOf[Any], set_type: Any) -> Any:
    if isinstance(value, Object):
        if not value._is_embedded_object():
            depth -= 1
        if depth < 1 or value._identity() in seen:
            return {"$ref": None if value._db is None else value._key, "$class": value.class_name}
        return value._to_dict(depth, seen, set_type)
    if isinstance(value, (str, bytes, RawTimestamp)):
        return value
    if isinstance(value, Mapping):
        return {key: _detach(element, depth, seen, set_type) for key, element in value.items()}
    if isinstance(value, Set):
        elements = [_detach(element, depth, seen, set_type) for element in value]
        if set_type is list:
            return elements
        try:
            plain = set(elements)
        except TypeError:
            return elements  # Links became dictionaries, which a set cannot hold.
        return plain if len(plain) == len(elements) else elements
    if isinstance(value, Sequence) and not isinstance(value, (bytearray, memoryview)):
        return [_detach(element, depth, seen, set_type) for element in value]
    return value


def _put(db: Session, handle: Handle, bound: BoundClass, facts: c.PropertyFacts, value: Any) -> None:
    """Writes a property of an object, and adds the objects that the value refers to."""
    plan = Plan(db)
    planned = plan.value(bound, facts, value)
    if not handle.call(lib.realm_object_is_valid):
        raise InvalidatedError(f"The {bound.name} was deleted", code=2010)
    plan.add()
    try:
        put_in_property(handle, facts, planned)
    except (DataError, ConstraintError) as error:
        raise located(error, bound.where(facts))
