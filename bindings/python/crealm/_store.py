"""Writes Python values to the file: first checks and encodes all of them, then writes them.

A `Plan` takes the values of one change, and collects everything that must be stored with them:
objects that are not in the database yet, the objects that those link to, embedded objects, and
collections inside Any. A value that cannot be stored raises before anything is written. In a plan
a value is one of

    c.Encoded   a single value, or a link to an object that exists in the database
    Addition    a link to an object that will be added
    Inside      an embedded object, which will be created inside its owner
    Many        a collection: `elements` are values, or pairs of key and value
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _marshal as c
from ._handle import Handle
from ._library import lib
from ._session import Instance, LiveList, Row, Session
from .errors import (
    ConstraintError,
    DataError,
    DuplicateKeyError,
    Error,
    InvalidatedError,
    LimitExceeded,
    TypeMismatch,
    UsageError,
)
from .schema import BoundClass
from .values import RawTimestamp

# Values of these types are complete in themselves; a link or Any may refer to objects that must be added, too.
SIMPLE = frozenset(c.PROPERTY_TYPES) - {c.P_OBJECT, c.P_MIXED}

MAX_NESTING = 100  # Levels of collections inside Any.

UPDATES = ("error", "modified", "all")


_NEW = object()  # Stands for an object that the database does not have yet.


class Addition:
    """An object that will be added: made from a model instance, or from a mapping of values by name."""

    __slots__ = ("bound", "source", "instance", "key", "values", "handle", "is_there", "twin")

    def __init__(self, bound: BoundClass, source: Any, instance: Optional[Instance]) -> None:
        self.bound = bound
        self.source = source  # Kept alive, because Plan finds additions by the id() of their source.
        self.instance = instance
        self.key: Optional[c.Encoded] = None
        self.values: Values = []
        self.handle: Optional[Handle] = None
        self.is_there = False  # Whether the database has an object with this primary key.
        self.twin: Optional[Addition] = None  # An addition that becomes the same object.

    def link(self) -> c.Encoded:
        assert self.handle is not None
        object_key = self.handle.call(lib.realm_object_get_key)
        return c.encode(c.Link(self.bound.key, object_key), c.P_OBJECT)


class Inside:
    """An embedded object to be made."""

    __slots__ = ("values",)

    def __init__(self, values: Values) -> None:
        self.values = values


class Many:
    """A collection to be filled; `kind` is c.C_LIST, c.C_SET or c.C_DICTIONARY."""

    __slots__ = ("kind", "elements")

    def __init__(self, kind: int, elements: List[Any]) -> None:
        self.kind = kind
        self.elements = elements


Planned = Union[c.Encoded, Addition, Inside, Many]
Values = List[Tuple[c.PropertyFacts, Planned]]


def is_list(value: object) -> bool:
    """Whether a value is stored as a list inside Any."""
    return isinstance(value, (list, tuple, LiveList)) and not isinstance(value, RawTimestamp)


def check_update(update: str) -> None:
    if update not in UPDATES:
        raise DataError(f'update is "error", "modified" or "all", not {update!r}')


class Plan:
    """Everything that one change writes. `update` decides what happens if the primary key of an object already
    exists: "error" raises, "all" writes every property, "modified" writes the given ones that differ."""

    def __init__(
        self,
        db: Session,
        update: str = "error",
        by_class: Optional[BoundClass] = None,
        by: Optional[Sequence[str]] = None,
    ) -> None:
        """by: the properties of a unique rule of the class `by_class`, which decides whether an object exists."""
        check_update(update)
        self._by = None if by is None else (by_class, (by,) if isinstance(by, str) else tuple(by))
        self._of_values: Dict[Tuple[int, str], Addition] = {}  # Additions by their values of a unique rule.
        self.db = db
        self.update = update
        self._additions: List[Addition] = []
        self._of_source: Dict[Tuple[int, int], Addition] = {}
        self._keys: Dict[Tuple[int, Any], Addition] = {}
        self._unread: List[Tuple[Addition, Mapping[str, Any]]] = []

    # Values

    def value(self, bound: BoundClass, facts: c.PropertyFacts, value: Any) -> Planned:
        """A value for a whole property. Errors name the property."""
        try:
            if facts.collection == c.C_NONE:
                return self.element(facts, value, 0)
            return Many(facts.collection, self.elements(facts, value))
        except (DataError, ConstraintError) as error:
            raise located(error, bound.where(facts))

    def elements(self, facts: c.PropertyFacts, values: Any) -> List[Any]:
        """The values for a collection property."""
        if facts.collection != c.C_DICTIONARY:
            return self.sequence(facts, values, 1)
        if not isinstance(values, Mapping):
            raise TypeMismatch(f"Needs a dictionary, not {type(values).__name__}")
        return [(dictionary_key(key), self.element(facts, value, 1)) for key, value in values.items()]

    def sequence(self, facts: c.PropertyFacts, values: Any, depth: int) -> List[Any]:
        """The values for the elements of a list or set."""
        if not isinstance(values, Iterable) or isinstance(values, (str, bytes, bytearray, Mapping, Row)):
            kind = "set" if facts.collection == c.C_SET else "list"
            raise TypeMismatch(f"Needs a {kind}, not {type(values).__name__}")
        try:
            elements = iter(values)
        except TypeError:  # An array of numpy without dimensions.
            raise TypeMismatch(f"Needs a list, not {type(values).__name__}") from None
        return [self.element(facts, value, depth) for value in elements]

    def element(self, facts: c.PropertyFacts, value: Any, depth: int) -> Planned:
        """A value for a single-valued property, for an element of a list or set, or for a key of a dictionary.
        `depth` is the number of collections around the value."""
        if value is None:
            if not facts.flags & c.NULLABLE:
                raise ConstraintError("Cannot be None", code=3002)
            return c.NOTHING
        if facts.type == c.P_OBJECT:
            return self._object(facts, value)
        if facts.type == c.P_MIXED:
            return self._mixed(facts, value, depth)
        return c.encode_for(facts, value)

    def _mixed(self, facts: c.PropertyFacts, value: Any, depth: int) -> Planned:
        if isinstance(value, Row):
            return self._link(value, None)
        if is_list(value):
            self._check_nesting(facts, depth)
            return Many(c.C_LIST, [self.element(facts, element, depth + 1) for element in value])
        if isinstance(value, Mapping):
            self._check_nesting(facts, depth)
            pairs = [(dictionary_key(k), self.element(facts, v, depth + 1)) for k, v in value.items()]
            return Many(c.C_DICTIONARY, pairs)
        if isinstance(value, (set, frozenset, Set)):
            raise TypeMismatch("A set cannot be inside Any", hint="Use a list, or a property that is a set.")
        return c.encode(value, c.P_MIXED)

    def _check_nesting(self, facts: c.PropertyFacts, depth: int) -> None:
        if facts.collection == c.C_SET:
            raise TypeMismatch("A set holds no collections")
        if depth >= MAX_NESTING:
            raise LimitExceeded(f"Collections inside collections go {MAX_NESTING} levels deep at most")

    def _object(self, facts: c.PropertyFacts, value: Any) -> Planned:
        target = self.db._named(facts.target)
        if facts.limit is not None:
            target = target.view(facts.limit)
        if target.schema.embedded:
            return self._embedded(target, value)
        if isinstance(value, Row):
            return self._link(value, target)
        if isinstance(value, Mapping):
            return self.row(target, value)
        raise TypeMismatch(f"Needs an object of class {target.name}, not {type(value).__name__}")

    def _link(self, value: Row, target: Optional[BoundClass]) -> Planned:
        """A link to an object. Unless `target` is None, the object must be of that class."""
        if value._db is None:
            bound = self.db._of_model(type(value)).view(type(value))
        elif value._db is self.db:
            bound = value._bound()
        else:
            raise DataError(
                f"The {value.class_name} belongs to another open database",
                hint="Look the object up in this one, for example by its primary key.",
            )
        if target is not None and not target.accepts(bound):
            raise TypeMismatch(f"Needs an object of class {target.name}, not of {bound.name}")
        if bound.schema.embedded:
            raise TypeMismatch(
                f"An embedded {bound.name} has exactly one owner and cannot be linked to",
                hint=f"Properties whose type is {bound.name} hold it.",
            )
        if value._db is None:
            return self.instance(value)
        if not value._handle.call(lib.realm_object_is_valid):
            raise InvalidatedError(f"The {bound.name} was deleted", code=3016)
        return c.encode(c.Link(value._class_key, value._key), c.P_OBJECT)

    def _embedded(self, target: BoundClass, value: Any) -> Inside:
        if isinstance(value, Row):
            name = value.class_name
            if name != target.name:
                raise TypeMismatch(f"Needs an object of class {target.name}, not of {name}")
            given: Mapping[str, Any] = dict(value._entries(explicit=True))
        elif isinstance(value, Mapping):
            given = with_defaults(target, value)
        else:
            raise TypeMismatch(f"Needs a {target.name} or a dictionary, not {type(value).__name__}")
        check_complete(target, given)
        values = [(target.find(name), element) for name, element in given.items()]
        return Inside([(facts, self.value(target, facts, element)) for facts, element in values])

    # Objects that are added

    def instance(self, instance: Instance) -> Addition:
        """A model instance that is not in a database yet, and everything that it refers to."""
        bound = self.db._of_model(type(instance)).view(type(instance))
        found = self._of_source.get((bound.key, id(instance)))
        if found is None:
            if bound.schema.embedded:
                raise UsageError(
                    f"An embedded {bound.name} is not added by itself",
                    hint="Assign it to a property, and it becomes part of that object.",
                )
            found = Addition(bound, instance, instance)
            self._append(found, dict(instance._entries(explicit=self.update != "all")))
        return found

    def row(self, bound: BoundClass, values: Mapping[str, Any]) -> Addition:
        """An object made from a mapping. If the same mapping occurs again, it is the same object."""
        found = self._of_source.get((bound.key, id(values)))
        if found is None:
            if bound.schema.embedded:
                raise UsageError(
                    f"{bound.name} is an embedded class",
                    hint="Its objects are made by assigning them to a property.",
                )
            bound, own_values = bound.of_row(values)
            found = Addition(bound, values, None)
            self._append(found, own_values)
        return found

    def _append(self, addition: Addition, values: Mapping[str, Any]) -> None:
        self._of_source[addition.bound.key, id(addition.source)] = addition
        self._additions.append(addition)
        self._unread.append((addition, values))

    def _read_all(self) -> None:
        """Reads the values of the objects to add. A loop, not recursion: chains of links may be long."""
        while self._unread:
            addition, given = self._unread.pop()
            bound, instance = addition.bound, addition.instance
            key_facts = bound.primary_key
            names = self._identity(bound)
            if names is not None:
                key_facts = None if key_facts is None or key_facts.name not in given else key_facts
                self._find_by(addition, given, names)
            elif key_facts is not None:
                name = key_facts.name if key_facts.name in given else bound.key_name
                if name not in given:
                    given = with_defaults(bound, given)
                if name in given:
                    key = self.value(bound, key_facts, given[name])
                    assert isinstance(key, c.Encoded)
                    addition.key = key
                    self._find(addition, given[name])
                elif not self.db._makes_keys(bound):
                    raise DataError(f"{bound.where(key_facts)}: the primary key is missing", code=3005)
            if instance is None and not addition.is_there:
                given = with_defaults(bound, given)
            elif instance is not None and addition.is_there and self.update == "modified":
                given = {name: value for name, value in given.items() if instance._is_given(name)}
            if addition.is_there:
                given = bound.without_type(given)
            else:
                check_complete(bound, given)
                given = bound.completed(given)
            for name, value in given.items():
                facts = bound.find(name)
                if facts is not key_facts:
                    addition.values.append((facts, self.value(bound, facts, value)))

    def _identity(self, bound: BoundClass) -> Optional[Sequence[str]]:
        """The properties of the unique rule that decides whether an object exists; None: its primary key decides."""
        if self._by is not None and self._by[0] is not None and self._by[0].accepts(bound):
            return self._by[1]
        return bound.key_of_several

    def _find_by(self, addition: Addition, given: Mapping[str, Any], names: Sequence[str]) -> None:
        """Finds the object with the addition's values of a unique rule."""
        bound = addition.bound
        values = {name: given.get(bound.find(name).name, given.get(name)) for name in names}
        known = {name: self._known(value) for name, value in values.items()}
        addition.handle = None if _NEW in known.values() else self.db._find_by(bound, known)
        addition.is_there = addition.handle is not None
        self._check_there(addition, addition.handle)
        earlier = self._of_values.setdefault((bound.key, repr(list(values.values()))), addition)
        if earlier is not addition and None not in values.values():
            addition.twin = earlier
        if (addition.is_there or addition.twin is not None) and self.update == "error":
            text = ", ".join(f"{name}={value!r}" for name, value in values.items())
            raise DuplicateKeyError(f"There is a {bound.name} with {text} already", code=1013)

    def _known(self, value: Any) -> Any:
        """A value of a unique rule; for an instance that is added, too: the object with its primary key, or _NEW."""
        if not hasattr(value, "_realm_class") or getattr(value, "_db", None) is not None:
            return value
        bound = self.db._named(value._realm_class)
        if bound.primary_key is None:
            return _NEW
        handle = self.db._find(bound, c.encode_for(bound.primary_key, getattr(value, bound.key_name)))
        return _NEW if handle is None else self.db._object_of(handle, bound)

    def _find(self, addition: Addition, value: Any) -> None:
        """Checks whether the database or an earlier addition already has the addition's primary key."""
        assert addition.key is not None
        bound = addition.bound
        addition.handle = self.db._find(bound, addition.key)
        addition.is_there = addition.handle is not None
        self._check_there(addition, addition.handle)
        identity = (bound.key, c.decode(addition.key))
        earlier = self._keys.setdefault(identity, addition)
        if (addition.is_there or earlier is not addition) and self.update == "error":
            hint = 'db.add(…, update="modified") or update="all" changes the object that is there.'
            if earlier is not addition:
                hint = ""
            raise DuplicateKeyError(
                f"There is a {bound.name} with primary key {value!r} already", code=1013, hint=hint
            )

    def _check_there(self, addition: Addition, handle: Optional[Handle]) -> None:
        """DuplicateKeyError if the object that exists is of another class, which has the same class of the file."""
        bound = addition.bound
        if handle is not None and not bound.check_there(self.db, handle):
            text = f"The {bound.schema.name} that exists already is no {bound.name}, and does not become one"
            raise DuplicateKeyError(text, code=1013)

    # Writing

    def add(self) -> None:
        """Adds all objects of the plan; model instances become objects of the database. On failure it
        deletes the objects that it created."""
        self._read_all()
        made: List[Handle] = []
        try:
            for addition in self._additions:
                if addition.handle is None and addition.twin is None:
                    self._create(addition, made)
            for addition in self._additions:
                if addition.handle is None and addition.twin is not None:
                    addition.handle = addition.twin.handle
                assert addition.handle is not None
                if addition.is_there and self.update == "modified":
                    addition.values = differing(addition.handle, addition.values)
                fill_object(addition.handle, addition.values)
        except BaseException:
            if not self.db.is_closed:
                for handle in reversed(made):
                    handle.call(_delete_again)
            raise
        for addition in self._additions:
            if addition.instance is not None:
                assert addition.handle is not None
                addition.instance._settle(self.db, addition.handle, addition.bound)

    def _create(self, addition: Addition, made: List[Handle]) -> None:
        class_key, key, owner = addition.bound.key, addition.key, self.db._owner
        if key is None:
            addition.handle = owner.make(lib.realm_object_create, class_key)
        else:
            if self.update != "error":
                addition.handle = self.db._find(addition.bound, key)
                if addition.handle is not None:
                    self._check_there(addition, addition.handle)
                    return  # An earlier object of this plan has the same primary key.
            addition.handle = owner.make(lib.realm_object_create_with_primary_key, class_key, key)
        made.append(addition.handle)


def _delete_again(pointer: int) -> None:
    if lib.realm_object_is_valid(pointer):
        lib.realm_object_delete(pointer)


_delete_again.moves = True  # type: ignore[attr-defined]


def located(error: Error, where: str) -> Error:
    """The error, with `where` in front of its message."""
    error.message = f"{where}: {error.message}"
    error.args = (error.message, *error.args[1:])
    return error


def check_limit(db: Session, facts: c.PropertyFacts, value: Any) -> None:
    """TypeMismatch for an object of a class that a link property does not take, though the class of the file is the
    same."""
    if facts.limit is not None and isinstance(value, Row):
        target = db._named(facts.target).view(facts.limit)
        if value._db is db and not target.accepts(value._bound()):
            raise TypeMismatch(f"Needs an object of class {target.name}, not of {value._bound().name}")


def with_defaults(bound: BoundClass, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values, with the model's defaults for properties that are missing."""
    if bound.model is None:
        return values
    defaults = bound.model._defaults(without=values)
    return {**defaults, **values} if defaults else values


def check_complete(bound: BoundClass, values: Mapping[str, Any]) -> None:
    """Raises DataError if a new object lacks a value that it needs."""
    for name, facts in bound.needed:
        if name not in values and facts.name not in values:
            assert facts.kind is not None
            zero, type_ = facts.kind.stored_type(), facts.kind.type.__name__
            raise DataError(f"{bound.where(facts)}: needs a value or a default: {zero!r}, which new objects have, is no {type_}")


def dictionary_key(key: object) -> c.Encoded:
    if not isinstance(key, str):
        raise TypeMismatch(f"Keys are str, not {type(key).__name__}")
    if "." in key or key.startswith("$"):
        raise DataError(f"{key!r} cannot be a key: it has a '.' in it or begins with '$'", code=3011)
    return c.encode(key, c.P_STRING)


# ------------------------------------------------------------------------------------------------
# Writing a plan
# ------------------------------------------------------------------------------------------------


def fill_object(handle: Handle, values: Values) -> None:
    """Writes properties of an object."""
    simple = [(facts.key, single(value)) for facts, value in values if is_single(value)]
    if simple:
        handle.call(c.set_values, [key for key, _ in simple], [value for _, value in simple])
    for facts, value in values:
        if not is_single(value):
            put_in_property(handle, facts, value)


def put_in_property(handle: Handle, facts: c.PropertyFacts, value: Planned) -> None:
    """Writes one property of an object; a collection property gets new contents."""
    if isinstance(value, Inside):
        _fill(handle.make(lib.realm_set_embedded, facts.key), value)
    elif isinstance(value, Many):
        if facts.collection == c.C_NONE:
            # First null: an existing collection would keep its elements.
            handle.call(c.check, lib.realm_set_value, facts.key, c.NOTHING, False)
            make = lib.realm_set_list if value.kind == c.C_LIST else lib.realm_set_dictionary
            _fill(handle.make(make, facts.key), value)
        else:
            get, clear = _COLLECTIONS[facts.collection]
            many = handle.make(get, facts.key)
            many.call(c.check, clear)
            _fill(many, value)
    else:
        handle.call(c.check, lib.realm_set_value, facts.key, single(value), False)


_COLLECTIONS = {
    c.C_LIST: (lib.realm_get_list, lib.realm_list_clear),
    c.C_SET: (lib.realm_get_set, lib.realm_set_clear),
    c.C_DICTIONARY: (lib.realm_get_dictionary, lib.realm_dictionary_clear),
}


def insert_in_list(handle: Handle, index: int, value: Planned) -> None:
    if isinstance(value, Inside):
        _fill(handle.make(lib.realm_list_insert_embedded, index), value)
    elif isinstance(value, Many):
        is_list = value.kind == c.C_LIST
        make = lib.realm_list_insert_list if is_list else lib.realm_list_insert_dictionary
        _fill(handle.make(make, index), value)
    else:
        handle.call(c.check, lib.realm_list_insert, index, single(value))


def set_in_list(handle: Handle, index: int, value: Planned) -> None:
    if isinstance(value, Inside):
        _fill(handle.make(lib.realm_list_set_embedded, index), value)
    elif isinstance(value, Many):
        handle.call(c.check, lib.realm_list_set, index, c.NOTHING)
        make = lib.realm_list_set_list if value.kind == c.C_LIST else lib.realm_list_set_dictionary
        _fill(handle.make(make, index), value)
    else:
        handle.call(c.check, lib.realm_list_set, index, single(value))


def insert_in_set(handle: Handle, value: Planned) -> None:
    handle.call(c.check, lib.realm_set_insert, single(value), None, None)


def put_in_dictionary(handle: Handle, key: c.Encoded, value: Planned) -> None:
    if isinstance(value, Inside):
        _fill(handle.make(lib.realm_dictionary_insert_embedded, key), value)
    elif isinstance(value, Many):
        handle.call(c.check, lib.realm_dictionary_insert, key, c.NOTHING, None, None)
        is_list = value.kind == c.C_LIST
        make = lib.realm_dictionary_insert_list if is_list else lib.realm_dictionary_insert_dictionary
        _fill(handle.make(make, key), value)
    else:
        handle.call(c.check, lib.realm_dictionary_insert, key, single(value), None, None)


def is_single(value: Planned) -> bool:
    return isinstance(value, (c.Encoded, Addition))


def single(value: Planned) -> c.Encoded:
    return value.link() if isinstance(value, Addition) else value  # type: ignore[return-value]


def _fill(handle: Handle, value: Union[Inside, Many]) -> None:
    """Fills an embedded object or an empty collection."""
    if isinstance(value, Inside):
        fill_object(handle, value.values)
    elif value.kind == c.C_LIST:
        for index, element in enumerate(value.elements):
            insert_in_list(handle, index, element)
    elif value.kind == c.C_SET:
        for element in value.elements:
            insert_in_set(handle, element)
    else:
        for key, element in value.elements:
            put_in_dictionary(handle, key, element)


# ------------------------------------------------------------------------------------------------
# Comparing stored values with planned ones
# ------------------------------------------------------------------------------------------------


def differing(handle: Handle, values: Values) -> Values:
    """The values that differ from those stored in an object. Embedded objects and collections inside
    Any always count as different."""
    return [(facts, value) for facts, value in values if not _is_there(handle, facts, value)]


def _is_there(handle: Handle, facts: c.PropertyFacts, value: Planned) -> bool:
    if is_single(value):
        return _same(handle.call(c.get_value, lib.realm_get_value, facts.key), value)
    if not isinstance(value, Many) or facts.collection == c.C_NONE:
        return False
    many = handle.make(_COLLECTIONS[facts.collection][0], facts.key)
    if facts.collection == c.C_SET:
        return all(is_single(v) for v in value.elements) and _same_set(many, value.elements)
    if facts.collection == c.C_LIST:
        return many.call(c.get_size, lib.realm_list_size) == len(value.elements) and all(
            _same(many.call(c.get_value, lib.realm_list_get, i), v) for i, v in enumerate(value.elements)
        )
    return many.call(c.get_size, lib.realm_dictionary_size) == len(value.elements) and all(
        _same_under_key(many, key, v) for key, v in value.elements
    )


def _same_set(handle: Handle, elements: List[Planned]) -> bool:
    distinct = {repr(c.decode(single(v))) for v in elements}
    return handle.call(c.get_size, lib.realm_set_size) == len(distinct) and all(
        handle.call(c.find_in_set, single(v)) for v in elements
    )


def _same_under_key(handle: Handle, key: c.Encoded, value: Planned) -> bool:
    found, current = handle.call(c.find_in_dictionary, key)
    return found and _same(current, value)


def _same(current: Any, value: Planned) -> bool:
    """Whether a stored value equals the planned one in every bit."""
    if not is_single(value):
        return False
    wanted = c.decode(single(value))
    return type(current) is type(wanted) and current == wanted and repr(current) == repr(wanted)
