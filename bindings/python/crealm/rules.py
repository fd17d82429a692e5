"""Rules: requirements for the objects of a file. The library enforces them for every program that uses it.

    class Order(crealm.Model):
        number: int = crealm.field(primary_key=True, auto=True)
        customer: Optional["Customer"] = crealm.field(on_target_delete="deny")
        lines: list["Line"] = crealm.field(on_delete="cascade")
        total: Decimal
        changed: datetime = crealm.field(modified=True)

        class Meta:
            unique = [("customer", "number")]
            checks = {"paid": "total >= 0"}

They are part of the schema: open() adds them to the file, and checks the data first. The page "Rules" of the
documentation describes each of them.
"""

from __future__ import annotations

import base64
import enum
import json
import math
from ctypes import POINTER, Structure, byref, c_char_p, c_int64, c_size_t, c_uint32, c_void_p, cast
from datetime import datetime
from decimal import Decimal
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple
from uuid import UUID

from . import _marshal as c
from ._library import lib
from ._prototypes import Value
from .errors import SchemaError, UsageError
from .values import Float32, ObjectId, RawTimestamp, timestamp_ns

PRIMARY_KEY = "primary key"  # The name of the unique rule that is a primary key of several properties.

DELETE_RULES = ("nullify", "cascade", "cascade_last", "deny")


class _Made:
    """A value that the library makes for each new object."""

    __slots__ = ("name", "form")

    def __init__(self, name: str, form: Mapping[str, Any]) -> None:
        self.name = name
        self.form = form

    def __repr__(self) -> str:
        return f"crealm.{self.name}"


NOW = _Made("NOW", {"$now": True})
NEW_UUID = _Made("NEW_UUID", {"$new": "uuid"})
NEW_OBJECT_ID = _Made("NEW_OBJECT_ID", {"$new": "objectid"})


class BrokenRule(NamedTuple):
    """An object that breaks a rule, because another library wrote it."""

    class_name: str
    object_key: int
    rule: str
    message: str


def constant(value: Any) -> Any:
    """A default in the JSON form of rules."""
    if isinstance(value, _Made):
        return value.form
    if isinstance(value, enum.Enum):
        return constant(value.value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        special = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(repr(float(value)))
        if isinstance(value, Float32):
            return {"$float32": float(value) if special is None else special}
        return value if special is None else {"$float": special}
    if isinstance(value, RawTimestamp):
        return {"$seconds": value[0], "$nanoseconds": value[1]}
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": base64.b64encode(bytes(value)).decode()}
    if isinstance(value, datetime):
        seconds, rest = divmod(timestamp_ns(value), 10**9)
        if seconds < 0 and rest:  # Both parts have the same sign.
            seconds, rest = seconds + 1, rest - 10**9
        return {"$seconds": seconds, "$nanoseconds": rest}
    if isinstance(value, Decimal):
        return {"$decimal": str(value)}
    if isinstance(value, UUID):
        return {"$uuid": str(value)}
    if isinstance(value, ObjectId):
        return {"$objectId": str(value)}
    raise SchemaError(f"{value!r} cannot be a default in the file")


def of_model(model: Any, fields: Iterable[Any]) -> Optional[Dict[str, Any]]:
    """The rules that a model declares, in JSON form and with the names in the file; None if it declares none."""
    properties: Dict[str, Any] = {}
    names: Dict[str, str] = {}
    for made in fields:
        names[made.name] = made.column
        if made.rules:
            properties[made.column] = made.rules
    meta = model.__dict__.get("Meta")
    unique = [unique_rule(model, one, names) for one in getattr(meta, "unique", ())]
    key = getattr(meta, "primary_key", None)
    if key is not None:
        unique.insert(0, unique_rule(model, {"properties": key, "name": PRIMARY_KEY}, names))
    checks = [check for _, _, check in named_checks(model, getattr(meta, "checks", ()))]
    computed = {name: made.expression for name, made in model._computed.items()}
    former = getattr(meta, "renamed_from", None)
    if not (properties or unique or checks or computed or former):
        return None
    rules: Dict[str, Any] = {"properties": properties, "unique": unique, "checks": checks}
    if computed:
        rules["computed"] = computed
    if former:
        rules["renamed_from"] = former
    return rules


def named_checks(model: Any, declared: Any) -> List[Tuple[str, str, Any]]:
    """Name, condition and JSON form of each check in Meta.checks."""
    if isinstance(declared, Mapping):
        return [_check(model, name, one) for name, one in declared.items()]
    return [_check(model, *one) if isinstance(one, tuple) and len(one) == 2 else _check(model, "", one) for one in declared]


def _check(model: Any, name: Any, one: Any) -> Tuple[str, str, Any]:
    """A check: a condition, or {"condition": …, "at": "call"}."""
    given = dict(one) if isinstance(one, Mapping) else {"condition": one}
    condition, time = given.get("condition"), given.get("at", "commit")
    if not (isinstance(name, str) and isinstance(condition, str) and time in ("call", "commit") and given.keys() <= {"condition", "at"}):
        raise SchemaError(
            f"{model.__name__}.Meta.checks: {name!r}: {one!r} is no check",
            hint='A check is a condition, or {"condition": condition, "at": "call"}.',
        )
    if not name and time == "commit":
        return name, condition, condition
    check = {"name": name} if name else {}
    check["condition"] = condition
    if time == "call":
        check["at"] = time
    return name, condition, check


def unique_rule(model: Any, one: Any, names: Mapping[str, str]) -> Any:
    """A rule of Meta.unique in JSON form. `names`: those in the file by those in Python."""
    given = dict(one) if isinstance(one, Mapping) else {"properties": one}
    properties = given.get("properties", ())
    if isinstance(properties, str):
        properties = (properties,)
    for name in properties:
        if name not in names:
            raise SchemaError(f"{model.__name__}.Meta.unique: there is no property {name!r}")
    given["properties"] = [names[name] for name in properties]
    return given


def of_field(
    *,
    unique: bool,
    auto: bool,
    on_delete: Optional[str],
    on_target_delete: Optional[str],
    min: Any,
    max: Any,
    min_length: Optional[int],
    max_length: Optional[int],
    min_count: Optional[int],
    max_count: Optional[int],
    required: bool,
    created: bool,
    modified: bool,
    revision: bool,
    file_default: Any,
    missing: Any,
) -> Dict[str, Any]:
    """The rules of a property in JSON form."""
    for name, rule in (("on_delete", on_delete), ("on_target_delete", on_target_delete)):
        if rule is not None and rule not in DELETE_RULES:
            raise SchemaError(f"{name} is one of {', '.join(DELETE_RULES)}, not {rule!r}")
    for name, limit in (("min", min), ("max", max)):
        if isinstance(limit, float) and not math.isfinite(limit):
            raise SchemaError(f"{name} is a finite number, not {limit!r}")
    given = {
        "unique": unique or None,
        "auto": auto or None,
        "on_delete": on_delete,
        "on_target_delete": on_target_delete,
        "min": min,
        "max": max,
        "min_length": min_length,
        "max_length": max_length,
        "min_count": min_count,
        "max_count": max_count,
        "required": required or None,
        "created": created or None,
        "modified": modified or None,
        "revision": revision or None,
    }
    rules = {name: value for name, value in given.items() if value is not None}
    if file_default is not missing:
        rules["default"] = constant(file_default)
    return rules


def as_text(rules: Mapping[str, Any]) -> str:
    """Rules in JSON form as a text for the library."""
    return json.dumps(rules, ensure_ascii=False, default=constant)


def key_of(rules: Mapping[str, Any]) -> Optional[List[str]]:
    """The properties of a primary key of several properties, by their names in the file; None if there is none."""
    return next((one["properties"] for one in rules["unique"] if one.get("name") == PRIMARY_KEY), None)


class _Broken(Structure):
    """`crealm_broken_rule_t`."""

    _fields_ = [("class_name", c_char_p), ("object", c_int64), ("rule", c_char_p), ("message", c_char_p)]


class _AllBroken(Structure):
    """`crealm_broken_rules_t`."""

    _fields_ = [("count", c_size_t), ("rules", POINTER(_Broken))]


def read(realm: int, class_key: int) -> Dict[str, Any]:
    """The rules of a class in JSON form."""
    text = lib.crealm_class_get_rules(realm, class_key)
    if not text:
        c.fail(None)
    try:
        found: Dict[str, Any] = json.loads(cast(text, c_char_p).value or b"{}")
        return found
    finally:
        lib.realm_free(text)


def broken(realm: int, limit: int) -> List[BrokenRule]:
    """The objects that break a rule."""
    out = c_void_p()
    c.check(realm, lib.crealm_get_broken_rules, limit, byref(out))
    try:
        all_ = cast(out, POINTER(_AllBroken)).contents
        return [_broken(all_.rules[i]) for i in range(all_.count)]
    finally:
        lib.realm_free(out)


def _broken(one: _Broken) -> BrokenRule:
    def text(value: Optional[bytes]) -> str:
        return (value or b"").decode("utf-8", "replace")

    return BrokenRule(text(one.class_name), one.object, text(one.rule), text(one.message))


class Savepoint:
    """The result of db.savepoint(): a part of a write that can be undone alone."""

    __slots__ = ("_db", "_number", "_added")

    def __init__(self, db: Any) -> None:
        self._db = db
        self._number = 0  # 0: it has not begun, or is over.
        self._added: List[Any] = []

    def __enter__(self) -> "Savepoint":
        db = self._db
        if self._number:
            raise UsageError("The savepoint has begun already: each block needs its own", path=db.path)
        db._require_write("The database")
        self._number = db._owner.call(_begin)
        self._added = db._added.begin()
        db._savepoints.append(self)
        return self

    def __exit__(self, kind: Any, error: Optional[BaseException], traceback: Any) -> None:
        if not self._number:
            return
        if error is not None:
            self._undo()
            return
        self._db._owner.call(c.check, lib.crealm_release_savepoint, self._number)
        for one in self._ended():
            self._db._added.release(one._added)

    def rollback(self) -> None:
        """Undoes the changes since the savepoint began. The block goes on as a part of the write around it."""
        if not self._number:
            raise UsageError("The savepoint is over", path=self._db.path)
        self._undo()

    def _undo(self) -> None:
        db = self._db
        if not db.is_closed and db._writing:
            db._owner.call(_undo, self._number)
        for one in self._ended():
            db._added.undo(one._added)

    def _ended(self) -> "List[Savepoint]":
        """This savepoint and those inside it, the innermost first; they are over now."""
        db = self._db
        ended = [one for one in reversed(db._savepoints) if one._number >= self._number]
        db._savepoints = [one for one in db._savepoints if one._number < self._number]
        for one in ended:
            one._number = 0
        return ended


def _begin(realm: int) -> int:
    number = c_uint32()
    c.check(realm, lib.crealm_begin_savepoint, byref(number))
    return number.value


def _undo(realm: int, number: int) -> None:
    c.check(realm, lib.crealm_rollback_savepoint, number)


_begin.moves = _undo.moves = True  # type: ignore[attr-defined]


def values_of(db: Any, bound: Any, names: Iterable[str], values: Iterable[Any]) -> Tuple[List[bytes], List[Any]]:
    """Names and values of a unique rule, for the library."""
    columns, encoded = [], []
    for name, value in zip(names, values):
        facts = bound.find(name)
        columns.append(c.c_name(facts.name))
        encoded.append(c.NOTHING if value is None else c.encode_for(facts, db._plain(value)))
    return columns, encoded


def find_unique(realm: int, class_key: int, columns: List[bytes], values: List[Any]) -> Any:
    """The C handle of the object with these values of a unique rule."""
    names, count = (c_char_p * len(columns))(*columns), len(values)
    return lib.crealm_object_find_by_unique(realm, class_key, names, (Value * count)(*values), count, None)
