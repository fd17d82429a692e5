"""Places in a file: an object by its class and key, and from there on properties, elements and keys of dictionaries.

    ["address", "city"]     a property of an embedded object
    ["tags", "3"]           an element of a list or set, by its number
    ["notes", "lang"]       an entry of a dictionary
    ["extra", "1", "a"]     the same inside of a collection in a property of any type

Steps are texts, as addresses have them. A link is not gone through: what it leads to has an address of its own.
"""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Optional, Sequence, Tuple

from ..collections import Dictionary, SetView
from ..collections import List as ListView
from ..database import Database
from ..errors import Error, InvalidatedError, NoSuchClass, NoSuchProperty
from ..objects import Object
from ..schema import ClassSchema, Prop
from .cells import elements_of, is_embedded

_DIGITS = 16  # Of a number of an element, at most.


class NoSuchPage(Error):
    """An address that leads nowhere."""


class Place(NamedTuple):
    """A value, and the property that it is of, where it is of one."""

    value: Any
    prop: Optional[Prop]


def declared_in(database: Database, class_name: str) -> ClassSchema:
    """NoSuchClass where the file has none of this name."""
    declared = database.schema.get(class_name)
    if declared is None:
        raise NoSuchClass(f"There is no class {class_name!r}")
    return declared


def property_of(schema: ClassSchema, name: str) -> Prop:
    """NoSuchProperty where the class has none of this name."""
    try:
        return schema.properties[name]
    except KeyError:
        raise NoSuchProperty(f"{schema.name} has no property {name!r}") from None


def leading_to(database: Any, class_name: str) -> Iterator[Tuple[str, str]]:
    """The properties that link to a class, each with its class. Those of any type are not among them."""
    for source, declared in database.schema.items():
        for name, prop in declared.properties.items():
            if prop.is_link and prop.type == class_name:
                yield source, name


def key_of(text: str) -> int:
    """The key of an object as an address has it; NoSuchPage for what is none."""
    digits = text[1:] if text.startswith("-") else text
    key = int(text) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None
    if key is None or not -(1 << 63) <= key < 1 << 63:
        raise NoSuchPage(f"{text[:40]!r} is no key of an object")
    return key


def object_at(database: Database, class_name: str, key: int) -> Any:
    """An object by its key; NoSuchPage where there is none."""
    declared_in(database, class_name)
    try:
        return database._object(database._named(class_name).key, key)
    except InvalidatedError:
        raise NoSuchPage(f"There is no {class_name} {key} in this version") from None


def value_at(obj: Any, steps: Sequence[str]) -> Place:
    """The value at the end of the steps from an object; NoSuchPage where they lead nowhere."""
    at = Place(obj, None)
    for step in steps:
        at = inside(at, step)
    return at


def inside(at: Place, step: str) -> Place:
    """One step further."""
    value = at.value
    if isinstance(value, Object) and (at.prop is None or is_embedded(value)):
        prop = property_of(value._bound().schema, step)
        return Place(value[step], prop)
    if isinstance(value, Dictionary):
        if step in value:
            return Place(value[step], at.prop)
    elif isinstance(value, (ListView, SetView)):
        number = number_of(step)
        element = [] if number is None else list(elements_of(value, number, 1))
        if element:
            return Place(element[0], at.prop)
    raise NoSuchPage(f"There is nothing at {step[:40]!r}")


def number_of(step: str) -> Optional[int]:
    """The number of an element; None for what is none."""
    return int(step) if step.isascii() and step.isdigit() and len(step) < _DIGITS else None
