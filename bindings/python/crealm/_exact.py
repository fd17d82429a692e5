"""Converts values to JSON without loss; `cli.exact` reads it.

The type of a property says that a text is, for example, a UUID. In a property of type Any the value itself must say its type:

    Float32, Decimal, UUID, ObjectId    {"$float32": 0.5}, {"$decimal": "1.50"}, {"$uuid": …}, {"$objectId": …}
    bytes, datetime                     {"$bytes": base64}, {"$datetime": "2024-05-06T07:08:09Z"}
    NaN and infinities                  {"$float": "NaN"}
    an integer, in a cell of a table    {"$int": "9007199254740993"}
    a dictionary with a key like these  {"$dict": [[key, value], …]}

In all properties a link is {"$ref": key, "$class": name}, and a time outside of the years 1 to 9999 is
{"$seconds": number, "$nanoseconds": number}. A name of a class or property that begins with "$" gets a second "$"
in front, because "$key", "$class", "$ref" and "$schema" have other meanings.
"""

from __future__ import annotations

import math
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, Dict, Iterable, Mapping
from uuid import UUID

from ._json import jsonable
from .collections import Dictionary, List, SetView
from .objects import Object
from .schema import ClassSchema, Prop
from .values import Float32, ObjectId, RawTimestamp, Timestamp

Schema = Mapping[str, ClassSchema]


def escaped(name: str) -> str:
    return f"${name}" if name.startswith("$") else name


def plain_name(name: str) -> str:
    return name[1:] if name.startswith("$$") else name


class Exact:
    """Makes JSON from values. Embedded objects are written inside their owners, unless their class is in `apart`: then a
    link is written."""

    def __init__(self, apart: Iterable[str] = ()) -> None:
        self._apart = frozenset(apart)

    def object(self, obj: Object) -> Dict[str, Any]:
        """The values of all properties of an object."""
        properties = obj._bound().schema.properties
        return {escaped(name): self.of(prop, obj[name]) for name, prop in properties.items()}

    def of(self, prop: Prop, value: Any) -> Any:
        """The value of a property."""
        one = self.any if prop.type is Any else self._typed
        if prop.collection is None:
            return one(value)
        if prop.collection == "dict":
            return {key: one(element) for key, element in value.items()}
        return [one(element) for element in value]

    def is_inside(self, value: Any) -> bool:
        """Whether a value is an embedded object that is written inside its owner."""
        return (
            isinstance(value, Object) and value._is_embedded_object() and value.class_name not in self._apart
        )

    def link(self, value: Object) -> Dict[str, Any]:
        return {"$ref": value.object_key, "$class": value.class_name}

    def _typed(self, value: Any) -> Any:
        if not isinstance(value, Object):
            return jsonable(value)
        return self.object(value) if self.is_inside(value) else self.link(value)

    def any(self, value: Any) -> Any:
        """A value of a property of type Any."""
        kind = type(value)
        if value is None or kind in (str, bool, int):
            return value
        if kind is float and math.isfinite(value):
            return value
        if isinstance(value, Object):
            return self.link(value)
        if isinstance(value, Dictionary):
            pairs = [(key, self.any(element)) for key, element in value.items()]
            return (
                {"$dict": [list(pair) for pair in pairs]}
                if any(key.startswith("$") for key, _ in pairs)
                else dict(pairs)
            )
        if isinstance(value, (List, SetView)):
            return [self.any(element) for element in value]
        plain = jsonable(value)
        return plain if isinstance(value, RawTimestamp) else {MARKS[kind]: plain}


MARKS: Dict[type, str] = {
    float: "$float",
    Float32: "$float32",
    Decimal: "$decimal",
    UUID: "$uuid",
    ObjectId: "$objectId",
    bytes: "$bytes",
    Timestamp: "$datetime",
}


class ByPrimaryKey(Exact):
    """Makes JSON in which a link is the primary key of its object: the key itself in a property of links, and
    {"$primaryKey": …, "$class": …} in a property of type Any. A link to an object of a class without a primary key has
    the form of `Exact`."""

    def link(self, value: Object) -> Dict[str, Any]:
        key = value._bound().key_name
        if not key:
            return super().link(value)
        return {"$primaryKey": self.any(plain_value(value[key])), "$class": value.class_name}

    def _typed(self, value: Any) -> Any:
        if not isinstance(value, Object) or self.is_inside(value):
            return super()._typed(value)
        key = value._bound().key_name
        if not key:
            return super()._typed(value)
        found = jsonable(value[key])
        return {"$primaryKey": None} if found is None else found


def plain_value(value: Any) -> Any:
    """The value that the file has of an enum or a date of a model."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date) and not isinstance(value, datetime):
        return Timestamp(value.year, value.month, value.day, tzinfo=timezone.utc)
    return value


def schema_json(schema: Schema, version: Any) -> Dict[str, Any]:
    """{"version": …, "classes": [{"name", "primaryKey", "embedded", "properties": […], "rules": {…}}]}. "rules" has the
    JSON form of the page "Rules"; classes without rules do not have it."""
    return {"version": version, "classes": [_class_json(declared) for declared in schema.values()]}


def _class_json(declared: ClassSchema) -> Dict[str, Any]:
    return {
        "name": declared.name,
        "primaryKey": declared.primary_key,
        "embedded": declared.embedded,
        "properties": [
            {
                "name": key,
                "type": "link" if prop.is_link else type_name(prop),
                **({"class": prop.type} if prop.is_link else {}),
                "collection": prop.collection,
                "optional": prop.optional,
                "indexed": prop.indexed,
                "fulltext": prop.fulltext,
            }
            for key, prop in declared.properties.items()
        ],
        **({"rules": dict(declared.rules)} if declared.rules else {}),
    }


def type_name(prop: Prop) -> str:
    """The name of the type of a property or of its elements: `int`, `Any`, `Float32`; for links the name of the class."""
    if prop.is_link:
        return str(prop.type)
    return "Any" if prop.type is Any else str(prop.type.__name__)
