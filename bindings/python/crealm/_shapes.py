"""Reads columns of the Arrow C data interface, of any library, as values of Python. Needs no package.

A shape is the type of a column, with the types of its parts. Values of types that only Realm files have are recognised
by their metadata: decimals, object ids, UUIDs, and values of type Any; see docs/columns.md.
"""

from __future__ import annotations

import ctypes
import re
import struct
from ctypes import c_void_p
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple
from uuid import UUID

from . import _marshal as c
from . import _mixed
from ._prototypes import ArrowArray, ArrowSchema
from ._shown import cut
from .errors import DataError, NotSupportedError
from .values import ObjectId, moment_of

EXTENSION = "ARROW:extension:name"
MIXED, LINK, TARGET = "realm.mixed", "realm.link", "realm.primaryKey"
DECIMAL, OBJECT_ID, UUID_NAME = "realm.decimal128", "realm.objectid", "arrow.uuid"
_NULLABLE = 2
_DEEPEST = 64


class Shape(NamedTuple):
    """The type of a column."""

    name: str
    format: str  # A format of the Arrow interface.
    facts: Dict[str, str]  # The metadata.
    is_nullable: bool
    parts: Tuple["Shape", ...]
    dictionary: Optional["Shape"]  # The type of the values, if the column has numbers of values of a dictionary.

    @property
    def extension(self) -> str:
        return self.facts.get(EXTENSION, "")

    @property
    def is_list(self) -> bool:
        return self.format in ("+l", "+L") or self.format.startswith("+w:")

    @property
    def is_time(self) -> bool:
        """Whether the values are points in time."""
        return self.format.startswith("ts")

    def any(self, test: Callable[["Shape"], bool]) -> bool:
        """Whether the shape or a part of it passes a test."""
        return test(self) or any(part.any(test) for part in self.parts)


def metadata(address: Optional[int]) -> Dict[str, str]:
    """The metadata of a schema. In memory: the number of pairs, then each text after its length."""
    if not address:
        return {}

    def number(at: int) -> int:
        return ctypes.c_int32.from_address(at).value

    texts, at = [], address + 4
    for _ in range(2 * number(address)):
        size = number(at)
        texts.append(ctypes.string_at(at + 4, size).decode("utf-8", "replace"))
        at += 4 + size
    return dict(zip(texts[::2], texts[1::2]))


def pointers(count: int, address: Optional[int]) -> List[int]:
    """An array of addresses."""
    return list((c_void_p * count).from_address(address)) if count and address else []


def shape_of(schema: ArrowSchema, depth: int = 0) -> Shape:
    """The shape that a schema describes."""
    if depth > _DEEPEST:
        raise DataError("The columns are nested too deeply")
    inner = schema.dictionary
    return Shape(
        (schema.name or b"").decode("utf-8", "replace"),
        schema.format.decode("ascii", "replace"),
        metadata(schema.metadata),
        bool(schema.flags & _NULLABLE),
        tuple(
            shape_of(ArrowSchema.from_address(child), depth + 1)
            for child in pointers(schema.n_children, schema.children)
        ),
        shape_of(ArrowSchema.from_address(inner), depth + 1) if inner else None,
    )


# ------------------------------------------------------------------------------------------------
# Values
# ------------------------------------------------------------------------------------------------

_NUMBERS = {
    "c": "b",
    "C": "B",
    "s": "h",
    "S": "H",
    "i": "i",
    "I": "I",
    "l": "q",
    "L": "Q",
    "e": "e",
    "f": "f",
    "g": "d",
}
_UNITS = {"s": 1_000_000_000, "m": 1_000_000, "u": 1_000, "n": 1}
_DAY_ZERO = date(1970, 1, 1)


def values(array: ArrowArray, shape: Shape, first: int, count: int) -> List[Any]:
    """The values at `first` and behind it, as objects of Python, None for null.

    Structs and maps become dictionaries, lists become lists. NotSupportedError for types that no property has."""
    if not count:
        return []
    if shape.format == "n":
        return [None] * count
    at = array.offset + first
    buffers = pointers(array.n_buffers, array.buffers)
    if shape.dictionary is not None:
        found = _of_dictionary(array, shape, buffers, at, count)
    else:
        found = _plain_values(array, shape, buffers, at, count)
    if buffers and buffers[0] and array.null_count:
        there = _bits(buffers[0], at, count)
        return [value if is_there else None for value, is_there in zip(found, there)]
    return found


def _of_dictionary(array: ArrowArray, shape: Shape, buffers: List[int], at: int, count: int) -> List[Any]:
    assert shape.dictionary is not None
    source = ArrowArray.from_address(array.dictionary)
    known = values(source, shape.dictionary, 0, source.length)
    return [
        known[place] if 0 <= place < len(known) else None for place in _numbers(buffers[1], shape.format, at, count)
    ]


def _plain_values(array: ArrowArray, shape: Shape, buffers: List[int], at: int, count: int) -> List[Any]:
    form = shape.format
    if form in _NUMBERS:
        return _numbers(buffers[1], form, at, count)
    if form == "b":
        return _bits(buffers[1], at, count)
    if form in ("u", "U", "z", "Z", "vu", "vz") or form.startswith("w:"):
        return _pieces(array, shape, buffers, at, count)
    if form.startswith("ts"):
        unit = _UNITS[form[2]]
        there = _bits(buffers[0], at, count) if buffers[0] and array.null_count else [True] * count
        found = _numbers(buffers[1], "l", at, count)
        return [moment_of(number * unit) if is_there else None for number, is_there in zip(found, there)]
    if form == "tdD":
        return [_day(number) for number in _numbers(buffers[1], "i", at, count)]
    if form == "tdm":
        return [_day(number // 86_400_000) for number in _numbers(buffers[1], "l", at, count)]
    if form.startswith("d:"):
        return _decimals(form, buffers[1], at, count)
    children = pointers(array.n_children, array.children)
    if form == "+s":
        return _structs(shape, children, at, count)
    if form in ("+l", "+L", "+m"):
        return _lists(shape, children, _numbers(buffers[1], "l" if form == "+L" else "i", at, count + 1))
    if form.startswith("+w:"):
        size = int(form[3:])
        return _lists(shape, children, [(at + index) * size for index in range(count + 1)])
    raise not_supported(form)


def not_supported(form: str) -> NotSupportedError:
    """The error for an Arrow format that no property takes."""
    name, hint = _FOREIGN.get(form[:2], ("values", None))
    return NotSupportedError(f"no property has {name} of the Arrow type {form!r}", hint=hint)


_FOREIGN = {
    "tD": ("durations", "Convert them to numbers: in pandas series.dt.total_seconds(), in polars .dt.total_seconds()."),
    "tt": ("times of a day", "Convert them to texts."),
    "ti": ("intervals", "Convert them to numbers."),
}


def _numbers(address: int, form: str, at: int, count: int) -> List[Any]:
    code = _NUMBERS[form]
    size = struct.calcsize(code)
    data = ctypes.string_at(address + at * size, count * size)
    if code == "e":
        return [number for (number,) in struct.iter_unpack("=e", data)]
    return memoryview(data).cast(code).tolist()  # type: ignore[call-overload, no-any-return]


def _bits(address: int, at: int, count: int) -> List[bool]:
    start = at // 8
    data = int.from_bytes(ctypes.string_at(address + start, (at + count + 7) // 8 - start), "little") >> (
        at - start * 8
    )
    text = bin(data & ((1 << count) - 1))[2:].zfill(count)
    return [digit == "1" for digit in reversed(text)]


def _day(number: int) -> Any:
    try:
        return _DAY_ZERO + timedelta(days=number)
    except OverflowError:
        return moment_of(number * 86_400_000_000_000)


def _decimals(form: str, address: int, at: int, count: int) -> List[Any]:
    numbers = [int(part) for part in form[2:].split(",")]
    scale, size = numbers[1], (numbers[2] if len(numbers) > 2 else 128) // 8
    data = ctypes.string_at(address + at * size, count * size)
    found = []
    for place in range(0, len(data), size):
        number = int.from_bytes(data[place : place + size], "little", signed=True)
        digits = tuple(map(int, str(abs(number))))
        found.append(Decimal((int(number < 0), digits, -scale)))
    return found


def _pieces(array: ArrowArray, shape: Shape, buffers: List[int], at: int, count: int) -> List[Any]:
    """Texts and bytes, and the values that files keep as bytes."""
    form = shape.format
    if form.startswith("w:"):
        size = int(form[2:])
        data = ctypes.string_at(buffers[1] + at * size, count * size) if size else b""
        found: List[Any] = [data[place * size : (place + 1) * size] for place in range(count)]
    elif form[0] == "v":
        found = _viewed(array, buffers, at, count)
    else:
        ends = _numbers(buffers[1], "l" if form in "UZ" else "i", at, count + 1)
        data = ctypes.string_at(buffers[2] + ends[0], ends[-1] - ends[0]) if ends[-1] > ends[0] else b""
        found = [data[start - ends[0] : end - ends[0]] for start, end in zip(ends, ends[1:])]
    if form[-1] in "uU":
        return [piece.decode("utf-8", "surrogateescape") for piece in found]
    read = _OF_BYTES.get(shape.extension)
    if read is None:
        return found
    there = _bits(buffers[0], at, count) if buffers[0] and array.null_count else [True] * count
    return [read(piece) if is_there else None for piece, is_there in zip(found, there)]


def _viewed(array: ArrowArray, buffers: List[int], at: int, count: int) -> List[bytes]:
    """Texts or bytes as views: up to 12 bytes in place, others in further buffers."""
    data = ctypes.string_at(buffers[1] + at * 16, count * 16)
    there = _bits(buffers[0], at, count) if buffers[0] and array.null_count else [True] * count
    found = []
    for place, is_there in zip(range(0, len(data), 16), there):
        size, _, buffer, start = struct.unpack_from("=iiii", data, place)
        if not is_there:
            found.append(b"")
        elif size <= 12:
            found.append(data[place + 4 : place + 4 + size])
        else:
            found.append(ctypes.string_at(buffers[2 + buffer] + start, size))
    return found


def decimal_of_bytes(data: bytes) -> Decimal:
    """The number of the 16 bytes of a column of decimals."""
    low, high = struct.unpack("=QQ", data)
    return c.decimal_from_bits(high, low)


_OF_BYTES: Dict[str, Callable[[bytes], Any]] = {
    DECIMAL: decimal_of_bytes,
    OBJECT_ID: ObjectId,
    UUID_NAME: lambda data: UUID(bytes=data),
}


def _structs(shape: Shape, children: List[int], at: int, count: int) -> List[Any]:
    columns = [values(ArrowArray.from_address(child), part, at, count) for child, part in zip(children, shape.parts)]
    if MIXED in shape.facts and len(columns) == 1:
        return [_any(text) for text in columns[0]]
    names = [part.name for part in shape.parts]
    return [dict(zip(names, row)) for row in zip(*columns)] if columns else [{} for _ in range(count)]


def _any(text: Optional[str]) -> Any:
    """A value of type Any; None also for the empty text that a null structure may have."""
    if not text:
        return None
    try:
        return _mixed.from_json(text)
    except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError):
        raise DataError(f"{cut(repr(text), 60)} is no JSON of a value") from None


def _lists(shape: Shape, children: List[int], ends: List[int]) -> List[Any]:
    child = ArrowArray.from_address(children[0])
    if shape.format == "+m":
        inner = pointers(child.n_children, child.children)
        first, count = child.offset + ends[0], ends[-1] - ends[0]
        keys, elements = (
            values(ArrowArray.from_address(part), part_shape, first, count)
            for part, part_shape in zip(inner, shape.parts[0].parts)
        )
        pairs = list(zip(keys, elements))
        return [dict(pairs[start - ends[0] : end - ends[0]]) for start, end in zip(ends, ends[1:])]
    found = values(child, shape.parts[0], ends[0], ends[-1] - ends[0])
    return [found[start - ends[0] : end - ends[0]] for start, end in zip(ends, ends[1:])]


# ------------------------------------------------------------------------------------------------
# What properties accept
# ------------------------------------------------------------------------------------------------

_INTEGERS = re.compile(r"[cCsSiIlL]")
_ACCEPTED = {
    c.P_INT: _INTEGERS,
    c.P_BOOL: re.compile("b"),
    c.P_DOUBLE: re.compile(r"[cCsSiIlLfg]"),
    c.P_FLOAT: re.compile(r"[cCsSiIlLfg]"),
    c.P_STRING: re.compile(r"u|U|vu"),
    c.P_BINARY: re.compile(r"z|Z|vz|w:\d+"),
    c.P_TIMESTAMP: re.compile(r"ts[smun]:.*|tdD|tdm"),
    c.P_DECIMAL: re.compile(r"[cCsSiIlL]|d:\d+,-?\d+|w:16|z|Z|vz"),
    c.P_OBJECT_ID: re.compile(r"w:12|z|Z|vz"),
    c.P_UUID: re.compile(r"w:16|z|Z|vz"),
    c.P_MIXED: re.compile(r"[cCsSiIlLbfguUzZ]|vu|vz|w:\d+|ts[smun]:.*|tdD|tdm|d:\d+,-?\d+"),
}


def accepts(kind: int, form: str) -> bool:
    """Whether the library stores single values of an Arrow format in a property of a type, as they are."""
    return kind in _ACCEPTED and _ACCEPTED[kind].fullmatch(form) is not None
