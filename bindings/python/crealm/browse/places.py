"""Places in a file: an object by its class and key, then steps to properties, elements and keys of dictionaries.

    ["address", "city"]     a property of an embedded object
    ["tags", "3"]           an element of a list or set, by its number
    ["notes", "lang"]       an entry of a dictionary
    ["extra", "1", "a"]     the same inside of a collection in a property of any type

Steps are texts, as in addresses. A path does not follow links: a linked object has its own address.
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

_DIGITS = 16  # The number of an element has fewer digits.


class NoSuchPage(Error):
    """There is nothing at this address."""


class Place(NamedTuple):
    """A value, and the property that holds it; None for an object itself."""

    value: Any
    prop: Optional[Prop]


def declared_in(database: Database, class_name: str) -> ClassSchema:
    """The declaration of a class; NoSuchClass if the file has no class with this name."""
    declared = database.schema.get(class_name)
    if declared is None:
        raise NoSuchClass(f"There is no class {class_name!r}")
    return declared


def property_of(schema: ClassSchema, name: str) -> Prop:
    """The declaration of a property; NoSuchProperty if the class has no property with this name."""
    try:
        return schema.properties[name]
    except KeyError:
        raise NoSuchProperty(f"{schema.name} has no property {name!r}") from None


def leading_to(database: Any, class_name: str) -> Iterator[Tuple[str, str]]:
    """The link properties whose target is a class, each with its own class. Properties of type Any are not among them."""
    for source, declared in database.schema.items():
        for name, prop in declared.properties.items():
            if prop.is_link and prop.type == class_name:
                yield source, name


def key_of(text: str) -> int:
    """The key of an object from an address; NoSuchPage if the text is not a key."""
    digits = text[1:] if text.startswith("-") else text
    key = int(text) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None
    if key is None or not -(1 << 63) <= key < 1 << 63:
        raise NoSuchPage(f"{text[:40]!r} is no key of an object")
    return key


def object_at(database: Database, class_name: str, key: int) -> Any:
    """The object with a key; NoSuchPage if there is none."""
    declared_in(database, class_name)
    try:
        return database._object(database._named(class_name).key, key)
    except InvalidatedError:
        raise NoSuchPage(f"There is no {class_name} {key} in this version") from None


def value_at(obj: Any, steps: Sequence[str]) -> Place:
    """The value at the end of the steps from an object; NoSuchPage if there is nothing."""
    at = Place(obj, None)
    for step in steps:
        at = inside(at, step)
    return at


def inside(at: Place, step: str) -> Place:
    """The place that one step leads to; NoSuchPage if there is nothing."""
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
    """The step as the number of an element; None if it is not a number."""
    return int(step) if step.isascii() and step.isdigit() and len(step) < _DIGITS else None
