"""Reads values from JSON. `_exact` writes it, and describes the form."""

from __future__ import annotations

import base64
import json
import re
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Callable, Dict, Mapping, NamedTuple, Tuple, Union
from uuid import UUID

from .._exact import MARKS as MARKS, ByPrimaryKey as ByPrimaryKey, Exact as Exact, Schema as Schema, escaped as escaped
from .._exact import plain_name as plain_name, schema_json as schema_json, type_name as type_name
from ..errors import DataError, TypeMismatch
from ..schema import ClassSchema, Prop
from ..values import Float32, ObjectId, RawTimestamp, Timestamp, timestamp_ns


class Ref(NamedTuple):
    """A link that was read: the class and the key of its object in the source."""

    class_name: str
    key: int


class Named(NamedTuple):
    """A link that was read: the class and the primary key of its object."""

    class_name: str
    primary_key: Any


_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?")


def read_time(text: str) -> Timestamp:
    """A point in time from JSON or CSV, with up to nine digits after the point; without a time zone it is UTC."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no point in time")
    day, clock, digits, zone = match.groups()
    whole = datetime.fromisoformat(f"{day}T{clock}{'+00:00' if zone in (None, 'Z') else zone}").astimezone(timezone.utc)
    return Timestamp.from_ns(timestamp_ns(whole) + int((digits or "0").ljust(9, "0")))


def _time(value: Any) -> Union[Timestamp, RawTimestamp]:
    if isinstance(value, dict):
        return RawTimestamp(int(value["$seconds"]), int(value["$nanoseconds"]))
    return read_time(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) and value not in ("NaN", "Infinity", "-Infinity"):
        raise ValueError(f"{value!r} is no number")
    return float(value)


def _bytes(value: Any) -> bytes:
    return base64.b64decode(value, validate=True)


def _as_it_is(value: Any) -> Any:
    return value


READERS: Dict[Any, Callable[[Any], Any]] = {
    int: _as_it_is, bool: _as_it_is, str: _as_it_is, float: _number, Float32: lambda value: Float32(_number(value)), bytes: _bytes, datetime: _time,
    Decimal: Decimal, UUID: UUID, ObjectId: ObjectId}

_MARKED: Dict[str, Callable[[Any], Any]] = {
    "$int": int, "$float": _number, "$float32": lambda value: Float32(_number(value)), "$decimal": Decimal, "$uuid": UUID, "$objectId": ObjectId,
    "$bytes": _bytes, "$datetime": _time}


_Read = Callable[[Any], Any]
Wanted = Callable[[Prop], bool]


def all_properties(prop: Prop) -> bool:
    return True


def _skipped(value: Any) -> Any:
    """The reader of properties that are not wanted."""


class Reader:
    """Makes values from JSON, for the classes of a schema."""

    def __init__(self, schema: Schema, wanted: Wanted = all_properties) -> None:
        """wanted: which properties `object` reads; embedded objects are always read completely."""
        self.schema, self._wanted = schema, wanted
        self._known: Dict[Tuple[str, bool], Dict[str, Tuple[str, _Read]]] = {}

    def object(self, class_name: str, values: Mapping[str, Any]) -> Dict[str, Any]:
        """The wanted properties, by their names."""
        return self._properties(class_name, values, self._wanted)

    def _properties(self, class_name: str, values: Mapping[str, Any], wanted: Wanted) -> Dict[str, Any]:
        known = self._known.setdefault((class_name, wanted is all_properties), {})
        found: Dict[str, Any] = {}
        for written, value in values.items():
            if written not in known:
                known[written] = self._reader(class_name, plain_name(written), wanted)
            name, read = known[written]
            if read is _as_it_is:
                found[name] = value
            elif read is not _skipped:
                found[name] = self._located(class_name, name, read, value)
        return found

    def _reader(self, class_name: str, name: str, wanted: Wanted) -> Tuple[str, _Read]:
        prop = self.prop(class_name, name)
        if not wanted(prop):
            return name, _skipped
        if prop.collection is None and READERS.get(prop.type) is _as_it_is:
            return name, _as_it_is
        return name, lambda value: self.of(prop, value)

    def is_wanted(self, class_name: str, name: str) -> bool:
        return self._wanted(self.prop(class_name, name))

    def prop(self, class_name: str, name: str) -> Prop:
        try:
            return self.schema[class_name].properties[name]
        except KeyError:
            raise DataError(f"There is no property {class_name}.{name}") from None

    def value(self, class_name: str, name: str, value: Any) -> Any:
        prop = self.prop(class_name, name)
        return self._located(class_name, name, lambda value: self.of(prop, value), value)

    def text(self, class_name: str, name: str, text: str) -> Any:
        """The value of a property, from a JSON text."""
        prop = self.prop(class_name, name)
        return self._located(class_name, name, lambda text: self.of(prop, json.loads(text)), text)

    def _located(self, class_name: str, name: str, read: _Read, value: Any) -> Any:
        try:
            return read(value)
        except (ValueError, ArithmeticError, TypeError, KeyError, AttributeError, RecursionError) as error:
            said = error.message if isinstance(error, DataError) else str(error) or repr(value)
            raise DataError(f"{class_name}.{name}: {said}") from error

    def of(self, prop: Prop, value: Any) -> Any:
        """The value of a property; DataError, ValueError or TypeError if the JSON is not such a value."""
        one: Callable[[Any], Any] = self.any if prop.type is Any else lambda element: self.element(prop, element)
        if prop.collection is None:
            return one(value)
        if value is None:
            raise TypeMismatch("A collection cannot be null")
        if prop.collection == "dict":
            return {key: one(element) for key, element in value.items()}
        if not isinstance(value, (list, tuple)):
            raise TypeMismatch(f"Needs a list, not {type(value).__name__}")
        return [one(element) for element in value]

    def element(self, prop: Prop, value: Any) -> Any:
        """A single value: of a property that is not a collection, or an element of one."""
        if value is None:
            return None
        if not prop.is_link:
            return READERS[prop.type](value)
        if isinstance(value, dict):
            if "$ref" in value:
                return Ref(prop.type, int(value["$ref"]))
            if "$primaryKey" in value:
                return self._named(prop.type, value["$primaryKey"])
            return self._properties(prop.type, value, all_properties)
        return self._named(prop.type, value)

    def _named(self, class_name: str, value: Any) -> Named:
        """The link to the object with a primary key."""
        key = self.schema[class_name].primary_key
        if key is None:
            raise TypeMismatch(f"A link to {class_name} needs the key of its object, as in {{\"$ref\": 1}}")
        return Named(class_name, self.element(self.schema[class_name].properties[key], value))

    def any(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.any(element) for element in value]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            ((mark, content),) = value.items()
            if mark in _MARKED:
                return _MARKED[mark](content)
            if mark == "$dict":
                return {key: self.any(element) for key, element in content}
        if value.keys() == {"$ref", "$class"}:
            return Ref(value["$class"], int(value["$ref"]))
        if value.keys() == {"$primaryKey", "$class"}:
            return Named(value["$class"], self.any(value["$primaryKey"]))
        if value.keys() == {"$seconds", "$nanoseconds"}:
            return _time(value)
        return {key: self.any(element) for key, element in value.items()}


def links_in(value: Any) -> bool:
    """Whether a value that was read contains links."""
    if isinstance(value, (Ref, Named)):
        return True
    if isinstance(value, dict):
        return any(map(links_in, value.values()))
    return isinstance(value, list) and any(map(links_in, value))


_TYPES: Dict[str, Any] = {kind.__name__: kind for kind in READERS}
_COLLECTIONS: Dict[Any, Callable[[Any], Any]] = {
    None: _as_it_is, "list": lambda t: list[t], "set": lambda t: set[t], "dict": lambda t: dict[str, t]}  # type: ignore[valid-type]


def schema_of_json(found: Any) -> Tuple[Dict[str, ClassSchema], Any]:
    """The classes and the version that schema_json() wrote; DataError for other JSON."""
    try:
        return {declared["name"]: _class_of_json(declared) for declared in found["classes"]}, found.get("version")
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"This is no schema as `crealm schema --json` prints it: {error!r}") from error


def _class_of_json(declared: Mapping[str, Any]) -> ClassSchema:
    properties = {}
    for prop in declared["properties"]:
        kind = prop["class"] if prop["type"] == "link" else Any if prop["type"] == "Any" else _TYPES[prop["type"]]
        properties[prop["name"]] = Prop(
            _COLLECTIONS[prop["collection"]](kind), optional=prop["optional"], indexed=prop["indexed"], fulltext=prop["fulltext"])
    rules = declared.get("rules") or {}
    if not isinstance(rules, dict):
        raise TypeError("rules")
    return ClassSchema(
        declared["name"], properties, primary_key=declared["primaryKey"], embedded=declared["embedded"], rules=rules)
