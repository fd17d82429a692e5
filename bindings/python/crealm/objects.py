"""Objects, and the table of all objects of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, FrozenSet, Mapping, NoReturn, Optional, Tuple
from typing import List as ListOf

from . import _marshal as c
from ._handle import Handle
from ._library import lib
from .collections import AllObjects, Dictionary, List, Results, SetView, View
from .errors import (
    ConstraintError,
    DataError,
    Error,
    InvalidatedError,
    NoSuchProperty,
    NotSupportedError,
)
from .schema import BoundClass, ClassSchema
from .values import RawTimestamp

if TYPE_CHECKING:
    from .database import Database


class Object:
    """One object: its properties are attributes, and items for names that no attribute can have.

    An object stays bound to its row while the database moves on. Once the row is deleted, reading
    raises InvalidatedError, and the object is false. Objects are equal when they are the same row of
    the same open database.
    """

    __slots__ = ("_db", "_handle", "_class_key", "_key")
    _db: Database
    _handle: Handle
    _class_key: int
    _key: int

    def __init__(self, db: Database, pointer: int, class_key: int, key: int) -> None:
        assign = object.__setattr__
        assign(self, "_db", db)
        assign(self, "_handle", Handle(db._owner, pointer))
        assign(self, "_class_key", class_key)
        assign(self, "_key", key)

    # Properties

    def __getattr__(self, name: str) -> Any:
        if name in Object.__slots__:
            raise AttributeError(name)
        return self._read(self._facts(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(Object, name):
            raise AttributeError(f"{name!r} is no property here; obj[{name!r}] = … reaches one of that name")
        self[name] = value

    def __getitem__(self, name: str) -> Any:
        return self._read(self._facts(name))

    def __setitem__(self, name: str, value: Any) -> None:
        bound, facts = self._bound(), self._facts(name)
        self._db._require_write(f"{bound.name}.{name}")
        if facts is bound.primary_key:
            raise ConstraintError(f"{bound.name}.{name} is the primary key: it cannot be changed")
        c.set_value(self._handle.get(), facts.key, encode(self._db, bound, facts, value))

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("A property cannot be removed from one object; assign None if it is optional")

    def _bound(self) -> BoundClass:
        return self._db._bound(self._class_key)

    def _facts(self, name: str) -> c.PropertyFacts:
        bound = self._bound()
        try:
            return bound.properties[name]
        except KeyError:
            raise NoSuchProperty(f"{bound.name} has no property {name!r}") from None

    def _read(self, facts: c.PropertyFacts) -> Any:
        pointer = self._handle.get()
        if facts.collection == c.C_NONE:
            value = c.get_value(lib.realm_get_value, pointer, facts.key)
            if type(value) is not c.Nested:
                return self._db._rich(value, facts)
            shape = c.C_LIST if value.kind == c.LIST else c.C_DICTIONARY
        else:
            shape = facts.collection
        if shape == c.C_LIST:
            return List(self._db, c.get_pointer(lib.realm_get_list, pointer, facts.key), facts)
        if shape == c.C_SET:
            return SetView(self._db, c.get_pointer(lib.realm_get_set, pointer, facts.key), facts)
        return Dictionary(self._db, c.get_pointer(lib.realm_get_dictionary, pointer, facts.key), facts)

    # The row

    @property
    def class_name(self) -> str:
        """The name of the object's class."""
        return self._bound().name

    @property
    def object_key(self) -> int:
        """The number of the row: unique in its class, the same for the life of the object."""
        return self._key

    @property
    def is_valid(self) -> bool:
        """Whether the row exists and the database is open."""
        if self._handle.owner.is_closed:
            return False
        return bool(lib.realm_object_is_valid(self._handle.get()))

    def __bool__(self) -> bool:
        return self.is_valid

    def delete(self) -> None:
        """Deletes the row and the objects embedded in it. Links to it become None or leave their
        collections."""
        self._db._require_write(self.class_name)
        if not lib.realm_object_delete(self._handle.get()):
            c.fail()

    def backlinks(self, class_name: str, property_name: str) -> Results:
        """The objects of a class that link to this one through a property. An object appears once
        for each link it has."""
        source = self._db._named(class_name)
        try:
            facts = source.properties[property_name]
        except KeyError:
            raise NoSuchProperty(f"{class_name} has no property {property_name!r}") from None
        pointer = c.get_pointer(lib.realm_get_backlinks, self._handle.get(), source.key, facts.key)
        return Results(self._db, pointer, source.key)

    def to_dict(self, depth: int = 1) -> Dict[str, Any]:
        """The object as plain values that stay when the database closes.

        Collections become list, set and dict; a set of links becomes a list, and so does one with
        values that are equal in Python but not here, such as 1 and True. Embedded objects are part of
        the object and become dictionaries in it. Of other objects that it links to, depth - 1 levels
        do; the others become {"$ref": object key, "$class": class name}, and so does an object inside
        itself.
        """
        return self._to_dict(depth, frozenset())

    def _to_dict(self, depth: int, inside: FrozenSet[Tuple[int, int]]) -> Dict[str, Any]:
        inside = inside | {(self._class_key, self._key)}
        properties = self._bound().properties.items()
        return {name: _detach(self._read(facts), depth, inside) for name, facts in properties}

    # Python

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Object):
            return NotImplemented
        return self._key == other._key and self._class_key == other._class_key and self._db is other._db

    def __hash__(self) -> int:
        return hash((id(self._db), self._class_key, self._key))

    def __dir__(self) -> ListOf[str]:
        return sorted({*object.__dir__(self), *self._bound().properties})

    def __reduce__(self) -> NoReturn:
        raise TypeError("An object of an open database cannot be pickled or copied; use to_dict()")

    def __repr__(self) -> str:
        try:
            bound = self._bound()
            parts = []
            for name, facts in bound.properties.items():
                value = self._read(facts)
                if isinstance(value, Object):
                    text = f"<{value.class_name} {value._key}>"
                elif isinstance(value, View):
                    text = f"<{len(value)} values>"
                else:
                    text = cut(repr(value), 60)
                parts.append(f"{name}={text}")
            return f"{bound.name}({', '.join(parts)})"
        except InvalidatedError:
            return f"<deleted {self.class_name} {self._key}>"
        except Error as error:
            return f"<{self.class_name} {self._key}: {type(error).__name__}>"


class Table(AllObjects):
    """All objects of a class, in the order of their keys: a live sequence."""

    __slots__ = ()

    def __len__(self) -> int:
        return c.get_size(lib.realm_get_num_objects, self._db._owner.check(), self._class_key)

    @property
    def name(self) -> str:
        return self._bound().name

    @property
    def schema(self) -> ClassSchema:
        """The declaration of the class."""
        return self._bound().schema

    def _bound(self) -> BoundClass:
        return self._db._bound(self._class_key)

    def first(self) -> Optional[Object]:
        """The object with the lowest key; None when there is none."""
        return self[0] if len(self) else None

    def get(self, primary_key: Any, default: Any = None) -> Any:
        """The object with a primary key, or `default`."""
        bound = self._bound()
        if bound.primary_key is None:
            raise DataError(f"{bound.name} has no primary key")
        encoded = encode(self._db, bound, bound.primary_key, primary_key)
        pointer = c.find_object(self._db._owner.check(), bound.key, encoded)
        return self._db._adopt(pointer, bound.key) if pointer else default

    def create(self, *primary_key: Any, **values: Any) -> Object:
        """A new object: create(**values) or create(primary_key, **values). Properties that are not
        given get zero, False, an empty value or, where allowed, None. On failure there is no object.
        """
        bound = self._bound()
        self._db._require_write(bound.name)
        if primary_key:
            if len(primary_key) > 1:
                raise TypeError("create() takes one primary key; the other values go by name")
            if bound.primary_key is None:
                raise DataError(f"{bound.name} has no primary key: give all values by name")
            if bound.primary_key.name in values:
                raise TypeError(f"create() got two values for {bound.primary_key.name!r}")
            values[bound.primary_key.name] = primary_key[0]
        encoded = {}
        for name, value in values.items():
            if name not in bound.properties:
                raise NoSuchProperty(f"{bound.name} has no property {name!r}")
            encoded[name] = encode(self._db, bound, bound.properties[name], value)
        key = encoded.pop(bound.primary_key.name, None) if bound.primary_key else None
        pointer = c.create_object(self._db._owner.check(), bound.key, key)
        created = self._db._adopt(pointer, bound.key)
        if encoded:
            try:
                c.set_values(
                    created._handle.get(), [bound.properties[n].key for n in encoded], list(encoded.values())
                )
            except BaseException:
                created.delete()
                raise
        return created

    def __repr__(self) -> str:
        try:
            return f"<Table {self.name!r}: {len(self)} objects>"
        except Error as error:
            return f"<Table: {type(error).__name__}>"


def encode(db: Database, bound: BoundClass, facts: c.PropertyFacts, value: Any) -> c.Encoded:
    """A value for a property; errors name the property."""
    where = f"{bound.name}.{facts.name}"
    if facts.collection != c.C_NONE:
        raise NotSupportedError(f"{where}: lists, sets and dictionaries cannot be changed yet")
    if isinstance(value, (View, list, tuple, set, frozenset, Mapping)) and not isinstance(
        value, RawTimestamp
    ):
        if facts.type == c.P_MIXED:
            raise NotSupportedError(f"{where}: collections inside Any cannot be written yet")
        if facts.type == c.P_OBJECT and db._named(facts.target).schema.embedded:
            raise NotSupportedError(f"{where}: embedded objects cannot be created yet")
    try:
        return c.encode(db._plain(value), facts.type)
    except DataError as error:
        error.message = f"{where}: {error.message}"
        error.args = (error.message,)
        raise


def cut(text: str, width: int) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _detach(value: Any, depth: int, inside: FrozenSet[Tuple[int, int]]) -> Any:
    if isinstance(value, Object):
        address = (value._class_key, value._key)
        embedded = value._bound().schema.embedded
        if address in inside or (depth <= 1 and not embedded):
            return {"$ref": value._key, "$class": value.class_name}
        return value._to_dict(depth if embedded else depth - 1, inside)
    if isinstance(value, List):
        return [_detach(element, depth, inside) for element in value]
    if isinstance(value, Dictionary):
        return {key: _detach(element, depth, inside) for key, element in value.items()}
    if isinstance(value, SetView):
        elements = [_detach(element, depth, inside) for element in value]
        try:
            plain = set(elements)
        except TypeError:
            return elements  # Links are dictionaries now, which no set can hold.
        return plain if len(plain) == len(elements) else elements
    return value
