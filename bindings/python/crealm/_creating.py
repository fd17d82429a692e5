"""Creates objects with plain values in one call: the usual case of create(). All other cases, and all errors, are left
to `_store.Plan`, which gives the same objects."""

from __future__ import annotations

import ctypes
import struct
from ctypes import c_int64
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from . import _marshal as c
from ._handle import Handle, Owner
from ._library import lib
from ._prototypes import Value
from .schema import BoundClass

_SIZE = ctypes.sizeof(Value)


class _Way:
    """How the values of certain properties of a class are written."""

    __slots__ = ("key_at", "places", "keys", "count", "of_values")

    def __init__(self, bound: BoundClass, names: Tuple[str, ...]) -> None:
        facts = [bound.find(name) for name in names]
        others = [place for place, one in enumerate(facts) if one is not bound.primary_key]
        # The place of the primary key among the names; -1: the class has none.
        self.key_at = next((place for place, one in enumerate(facts) if one is bound.primary_key), -1)
        order = [self.key_at, *others] if self.key_at >= 0 else others
        self.places = [(place, facts[place].type, bool(facts[place].flags & c.NULLABLE)) for place in order]
        self.count = len(others)
        self.keys = (c_int64 * max(len(others), 1))(*(facts[place].key for place in others))
        self.of_values = Value * max(len(order), 1)


def _way(bound: BoundClass, names: Tuple[str, ...]) -> Optional[_Way]:
    """None if a property may need more than one plain value."""
    facts = [bound.properties.get(name) for name in names]
    if any(
        one is None or one.kind is not None or one.collection != c.C_NONE or one.type not in _WRITERS for one in facts
    ):
        return None
    if bound.primary_key is not None and bound.primary_key not in facts:
        return None
    return _Way(bound, names)


def _needs_plan(bound: BoundClass) -> bool:
    is_one_of_several = type(bound) is not BoundClass or bool(bound.views)
    return is_one_of_several or bound.key_of_several is not None or bool(bound.needed) or bound.schema.embedded


def created(
    owner: Owner, bound: BoundClass, values: Mapping[str, Any], with_defaults: bool = True
) -> Optional[Handle]:
    """A new object; None if a plan has to create it, or to tell why it cannot be created. Properties that are not in
    `values` get the defaults of their model, or zero."""
    if _needs_plan(bound):
        return None
    ways = bound.ways
    if with_defaults and bound.model is not None:
        defaults = bound.model._defaults(without=values)
        if defaults:
            values = {**defaults, **values}
    names = tuple(values)
    try:
        way = ways[names]
    except KeyError:
        if len(ways) > 1000:
            ways.clear()
        way = ways[names] = _way(bound, names)
    if way is None:
        return None
    buffer = way.of_values()
    texts: List[bytes] = []
    given = list(values.values())
    try:
        at = 0
        for place, kind, is_nullable in way.places:
            value = given[place]
            if value is None:
                if not is_nullable or place == way.key_at:
                    return None
                c._PACK_INT.pack_into(buffer, at, 0, 0, c.NULL)
            elif not _WRITERS[kind](buffer, at, value, texts):
                return None
            at += _SIZE
    except (struct.error, UnicodeEncodeError):
        return None
    made: Optional[Handle] = owner.call(_create, owner, bound.key, way, buffer)
    return made


def _write_int(buffer: Any, at: int, value: Any, texts: List[bytes]) -> bool:
    if type(value) is not int:
        return False
    c._PACK_INT.pack_into(buffer, at, value, 0, c.INT)
    return True


def _write_bool(buffer: Any, at: int, value: Any, texts: List[bytes]) -> bool:
    if type(value) is not bool:
        return False
    c._PACK_BOOL.pack_into(buffer, at, value, c.BOOL)
    return True


def _write_double(buffer: Any, at: int, value: Any, texts: List[bytes]) -> bool:
    if type(value) is not float or value != value:
        return False
    c._PACK_DOUBLE.pack_into(buffer, at, value, c.DOUBLE)
    return True


def _write_text(buffer: Any, at: int, value: Any, texts: List[bytes]) -> bool:
    if type(value) is not str:
        return False
    data = value.encode()
    texts.append(data)  # Kept alive until the library has copied it.
    c._PACK_SPAN.pack_into(buffer, at, ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value, len(data), c.STRING)
    return True


_WRITERS: Dict[int, Callable[[Any, int, Any, List[bytes]], bool]] = {
    c.P_INT: _write_int,
    c.P_BOOL: _write_bool,
    c.P_DOUBLE: _write_double,
    c.P_STRING: _write_text,
}


def _create(realm: int, owner: Owner, class_key: int, way: _Way, buffer: Any) -> Optional[Handle]:
    if way.key_at >= 0:
        made = lib.realm_object_create_with_primary_key(realm, class_key, buffer[0])
        first = ctypes.addressof(buffer) + _SIZE
    else:
        made = lib.realm_object_create(realm, class_key)
        first = ctypes.addressof(buffer)
    if not made:
        return None
    handle = Handle(owner, made)
    if way.count and not lib.realm_set_values(made, way.count, way.keys, Value.from_address(first), False):
        lib.realm_object_delete(made)
        return None
    return handle


_create.moves = True  # type: ignore[attr-defined]
