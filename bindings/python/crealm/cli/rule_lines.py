"""Rules for people: one line for each, and the classes of a file together with their rules."""

from __future__ import annotations

import copy
from typing import Any, Callable, Dict, Iterator, List, Mapping

from ..database import Database
from ..errors import Error
from ..schema import ClassSchema
from .output import json_text, printable

# Defaults that are no constants, by their JSON.
_MADE = {"now": {"$now": True}, "new uuid": {"$new": "uuid"}, "new objectid": {"$new": "objectid"}}


def rule_lines(rules: Mapping[str, Any]) -> List[str]:
    """One line for each rule of a class; rules are in JSON form:

    owner  on_target_delete deny
    unique (country, number)
    check "grown up": age >= 18
    computed total: price * count
    subclass Dog of Animal (breed), named in type
    """
    return [printable(line) for line in _lines(rules)]


def _lines(rules: Mapping[str, Any]) -> Iterator[str]:
    for name, own in rules.get("properties", {}).items():
        for rule, value in own.items():
            yield f"{name}  {rule}{_value(rule, value)}"
    for one in rules.get("unique", ()):
        given = one if isinstance(one, Mapping) else {"properties": one}
        marks = [
            mark for mark, word in (("ignore case", "ignore_case"), ("nulls equal", "nulls_equal")) if given.get(word)
        ]
        yield f"unique{_named(given)} ({', '.join(given['properties'])}){''.join(f', {mark}' for mark in marks)}"
    for one in rules.get("checks", ()):
        given = one if isinstance(one, Mapping) else {"condition": one}
        time = " at each call" if given.get("at") == "call" else ""
        yield f"check{_named(given)}{time}: {given['condition']}"
    for name, expression in rules.get("computed", {}).items():
        yield f"computed {name}: {expression}"
    yield from _subclass_lines(rules.get("subclasses", {}))


def _subclass_lines(rules: Mapping[str, Any]) -> Iterator[str]:
    if rules.get("abstract"):
        yield f"abstract: objects are of subclasses, named in {rules.get('by')}"
    for name, one in rules.get("classes", {}).items():
        kind = "abstract subclass" if one.get("abstract") else "subclass"
        yield f"{kind} {name} of {one['extends']} ({', '.join(one.get('properties', ()))}), named in {rules.get('by')}"


def _value(rule: str, value: Any) -> str:
    if value is True and rule != "default":
        return ""
    if rule == "default":
        made = next((word for word, form in _MADE.items() if form == value), None)
        return f" {made or json_text(value)}"
    return f" {value if isinstance(value, str) else json_text(value)}"


def _named(given: Mapping[str, Any]) -> str:
    return f" {json_text(given['name'])}" if given.get("name") else ""


def lines_of(db: Database, name: str) -> List[str]:
    """A line for each rule of a class of a file. One that tells why, if the rules cannot be read."""
    try:
        return rule_lines(db.rules(name))
    except Error as error:
        return [printable(f"<{error.message}>")]


def with_rules(db: Database, failed: Callable[[str, Error], None]) -> Dict[str, ClassSchema]:
    """The classes of a file, with their rules. failed: called with the name of a class whose rules cannot be read."""
    found: Dict[str, ClassSchema] = {}
    for name, declared in db.schema.items():
        found[name] = copy.copy(declared)
        try:
            rules = db.rules(name)
            found[name].rules = rules if any(rules.values()) else {}
        except Error as error:
            failed(name, error)
    return found
