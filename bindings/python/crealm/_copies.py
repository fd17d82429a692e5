"""Copies objects of one database into another one, with the objects that they link to."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

from . import _marshal as c
from ._handle import Handle
from ._library import lib
from ._session import Row
from ._store import Plan, located, put_in_property
from .errors import DuplicateKeyError, Error, UsageError
from .schema import BoundClass


class Copies:
    """The objects of one call of copy_from(), and their copies. A copy is made before its properties are written, so
    that objects may link to each other."""

    def __init__(self, db: Any, update: str) -> None:
        self._db = db
        self._update = update
        self._made: Dict[Tuple[int, str, int], Any] = {}  # By the database, class and key of the object.
        self._waiting: List[Tuple[Any, Handle, BoundClass, bool]] = []

    def copy(self, obj: Any) -> Any:
        """The copy of an object."""
        if obj._db is self._db:
            raise UsageError("The object is of this database already")
        if obj._bound().schema.embedded:
            raise UsageError(
                "An embedded object is a part of another one: copy that", hint="obj.to_dict() has its values."
            )
        made = self._copy(obj)
        while self._waiting:
            self._fill(*self._waiting.pop())
        return made

    def _copy(self, obj: Any) -> Any:
        """The copy of an object, whose properties are written later."""
        source = obj._bound()
        identity = (id(obj._db), source.schema.name, obj._key)
        if identity not in self._made:
            bound = self._db._named(source.schema.name)
            handle, is_new = self._handle(obj, bound)
            self._made[identity] = self._db._object_of(handle, bound)
            if is_new or self._update != "error":
                self._waiting.append((obj, handle, bound, is_new))
        return self._made[identity]

    def _handle(self, obj: Any, bound: BoundClass) -> Tuple[Handle, bool]:
        owner = self._db._owner
        if bound.primary_key is None:
            return owner.make(lib.realm_object_create, bound.key), True
        facts = obj._facts(bound.primary_key.name)
        value = obj._read(facts._replace(kind=None))
        try:
            key = c.encode(value, bound.primary_key.type)
        except Error as error:
            raise located(error, bound.where(bound.primary_key))
        found = self._db._find(bound, key)
        if found is None:
            return owner.make(lib.realm_object_create_with_primary_key, bound.key, key), True
        if self._update == "error":
            raise DuplicateKeyError(
                f"There is a {bound.name} with primary key {value!r} already",
                code=1013,
                hint='copy_from(…, update="modified") changes the object that is there.',
            )
        return found, False

    def _fill(self, obj: Any, handle: Handle, bound: BoundClass, is_new: bool) -> None:
        plan = Plan(self._db)
        for source in obj._bound().columns.values():
            facts = bound.find(source.name)
            if facts is bound.primary_key:
                continue
            value = self._value(obj._read(source._replace(kind=None)), facts)
            if is_new or self._update == "all" or not _is_same(self._db, handle, facts, value):
                planned = plan.value(bound, facts, value)
                plan.add()
                put_in_property(handle, facts, planned)

    def _value(self, value: Any, facts: c.PropertyFacts) -> Any:
        """A value for this database."""
        if isinstance(value, Row):
            bound = value._bound()
            if not bound.schema.embedded:
                return self._copy(value)
            target, read = self._db._named(facts.target), value._read  # type: ignore[attr-defined]
            return {
                name: self._value(read(source._replace(kind=None)), target.find(name))
                for name, source in bound.columns.items()
            }
        if hasattr(value, "items"):
            return {key: self._value(element, facts) for key, element in value.items()}
        if hasattr(value, "_db"):
            return [self._value(element, facts) for element in value]
        return value if value is None or facts.kind is None else facts.kind.read(value)


def _is_same(db: Any, handle: Handle, facts: c.PropertyFacts, value: Any) -> bool:
    """Whether an existing object has a single value already."""
    if facts.collection != c.C_NONE or isinstance(value, (list, dict)):
        return False
    current = handle.call(c.get_value, lib.realm_get_value, facts.key)
    wanted = c.decode(c.encode_for(facts, db._plain(value)))
    return type(current) is type(wanted) and current == wanted and repr(current) == repr(wanted)
