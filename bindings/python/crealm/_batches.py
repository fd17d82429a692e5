"""Writes many rows in one call: packs columns of plain values as Arrow arrays, with the standard library alone.

Only values of exactly the types that a property stores are packed. For all others this module raises
`NotPlain`, and `_store` writes the rows one by one: it accepts more types, and its errors describe the
value. A batch that the library refuses changes nothing.
"""

from __future__ import annotations

import ctypes
import os
import struct
from array import array
from ctypes import byref, c_void_p
from datetime import datetime
from decimal import Decimal
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple, Union
from uuid import UUID

from . import _library, _marshal as c
from ._handle import Owner
from ._library import lib
from ._prototypes import ArrowArray, ArrowArrayStream, ArrowSchema
from .errors import ConstraintError, DataError, Error, NotSupportedError, SchemaError
from .families import uniform
from .schema import BoundClass
from .values import ObjectId, Timestamp, timestamp_ns

MODES = {"error": 0, "modified": 1, "all": 2}
Buffer = Union[bytes, "array[Any]"]


def metadata(key: str, value: str) -> bytes:
    """Metadata of a column with one pair: their number, then each text after its length."""
    pair = [text.encode("utf-8") for text in (key, value)]
    return struct.pack("=i", 1) + b"".join(struct.pack("=i", len(text)) + text for text in pair)


class NotPlain(Exception):
    """The values cannot be packed: `_store` must write the rows one by one."""


def available() -> bool:
    return _library.has("crealm_create_batch")


# ------------------------------------------------------------------------------------------------
# Packing: a column of values as an Arrow format and buffers
# ------------------------------------------------------------------------------------------------


class Packed(NamedTuple):
    format: str
    buffers: Tuple[Optional[Buffer], ...]  # The first is the validity bitmap; None if no value is null.
    children: Tuple[Tuple[str, int, "Packed"], ...] = ()  # Name, length and content of each.
    metadata: bytes = b""


_NONE = type(None)
_ZERO_ONE = bytes([48] + [49] * 255)


def _bits(flags: bytes) -> bytes:
    """A bit for each byte, least significant first."""
    if not flags:
        return b""
    return int(flags.translate(_ZERO_ONE)[::-1], 2).to_bytes((len(flags) + 7) // 8, "little")


def _offsets(lengths: Iterable[int]) -> Tuple[bool, "array[int]"]:
    """Whether the offsets need 64 bits, and the offsets: 0, then the end of each value."""
    ends = list(accumulate(lengths, initial=0))
    wide = ends[-1] > 0x7FFFFFFF
    return wide, array("q" if wide else "i", ends)


def _texts(values: Sequence[str]) -> Tuple[str, Tuple[Buffer, ...]]:
    joined = "".join(values)
    data = joined.encode("utf-8")
    if len(data) == len(joined):
        wide, ends = _offsets(map(len, values))
    else:
        wide, ends = _offsets([len(value.encode("utf-8")) for value in values])
    return ("U" if wide else "u"), (ends, data)


def _binaries(values: Sequence[bytes]) -> Tuple[str, Tuple[Buffer, ...]]:
    wide, ends = _offsets(map(len, values))
    return ("Z" if wide else "z"), (ends, b"".join(values))


def _timestamps(values: Sequence[Any]) -> Tuple[str, Tuple[Buffer, ...]]:
    if any(value.utcoffset() is None for value in values):
        raise NotPlain
    return "tsn:UTC", (array("q", map(timestamp_ns, values)),)


_WORDS = struct.Struct("<QQ")


def _decimals(values: Sequence[Any]) -> Tuple[str, Tuple[Buffer, ...]]:
    words = []
    for value in values:
        c.encode(value, c.P_DECIMAL)  # Raises for a value that cannot be stored.
        high, low = c.decimal_to_bits(Decimal(value))
        words.append(_WORDS.pack(low, high))
    return "w:16", (b"".join(words),)


_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
# For each property type: the types of Python that can be packed, the placeholder for None, and the packing function.
_PACKERS: Dict[int, Tuple[Set[type], Any, Callable[[Sequence[Any]], Tuple[str, Tuple[Buffer, ...]]]]] = {
    c.P_INT: ({int}, 0, lambda v: ("l", (array("q", v),))),
    c.P_BOOL: ({bool}, False, lambda v: ("b", (_bits(bytes(v)),))),
    c.P_DOUBLE: ({float, int}, 0.0, lambda v: ("g", (array("d", v),))),
    c.P_FLOAT: ({float, int}, 0.0, lambda v: ("f", (struct.pack(f"={len(v)}f", *v),))),
    c.P_STRING: ({str}, "", _texts),
    c.P_BINARY: ({bytes}, b"", _binaries),
    c.P_TIMESTAMP: ({datetime, Timestamp}, _EPOCH, _timestamps),
    c.P_DECIMAL: ({Decimal, int}, Decimal(0), _decimals),
    c.P_OBJECT_ID: ({ObjectId}, ObjectId(bytes(12)), lambda v: ("w:12", (b"".join(x.bytes for x in v),))),
    c.P_UUID: ({UUID}, UUID(int=0), lambda v: ("w:16", (b"".join(x.bytes for x in v),))),
}
# For Mixed properties whose values in a column all have one type: the property type that they are packed as.
_MIXED = {int: c.P_INT, bool: c.P_BOOL, float: c.P_DOUBLE, str: c.P_STRING, bytes: c.P_BINARY, _NONE: c.P_INT}


def _single(kind: int, values: Sequence[Any]) -> Packed:
    """Values for a property, or for the elements of a collection."""
    kinds = set(map(type, values))
    missing = _NONE in kinds
    kinds.discard(_NONE)
    if kind == c.P_MIXED:
        if len(kinds) > 1:
            raise NotPlain
        kind = _MIXED.get(next(iter(kinds), _NONE), -1)
    if kind not in _PACKERS:
        raise NotPlain
    exact, stand_in, pack = _PACKERS[kind]
    if not kinds <= exact:
        raise NotPlain
    there = None
    if missing:
        there = _bits(bytes([value is not None for value in values]))
        values = [stand_in if value is None else value for value in values]
    form, buffers = pack(values)
    return Packed(form, (there, *buffers))


def single(kind: int, values: Sequence[Any]) -> Packed:
    """Values of exactly the type of a property, and None."""
    exact, stand_in, pack = _PACKERS[kind]
    there = validity(values)
    form, buffers = pack(values if there is None else [stand_in if value is None else value for value in values])
    return Packed(form, (there, *buffers))


def validity(values: Sequence[Any]) -> Optional[bytes]:
    """The validity bitmap of values; None if no value is None."""
    flags = bytes([value is not None for value in values])
    return None if all(flags) else _bits(flags)


def ends_of(values: Sequence[Any]) -> "array[int]":
    """The offsets of collections: 0, then the end of each; None has no elements."""
    wide, ends = _offsets(0 if value is None else len(value) for value in values)
    if wide:
        raise DataError("The collections of one batch have too many elements", hint="Choose a smaller batch.")
    return ends


_COLLECTIONS: Dict[int, Set[type]] = {
    c.C_LIST: {list, tuple},
    c.C_SET: {list, tuple, set, frozenset},
    c.C_DICTIONARY: {dict},
}


def _column(facts: c.PropertyFacts, values: Sequence[Any]) -> Packed:
    if facts.type == c.P_OBJECT or (facts.kind is not None and facts.collection != c.C_NONE):
        raise NotPlain
    if facts.collection == c.C_NONE:
        if facts.kind is not None:
            stored = facts.kind.stored
            values = [None if value is None else stored(value) for value in values]
        return _single(facts.type, values)
    if not set(map(type, values)) <= _COLLECTIONS[facts.collection]:
        raise NotPlain
    wide, ends = _offsets(map(len, values))
    if wide:
        raise NotPlain
    if facts.collection != c.C_DICTIONARY:
        elements = list(chain.from_iterable(values))
        return Packed("+l", (None, ends), (("item", len(elements), _single(facts.type, elements)),))
    names = list(chain.from_iterable(values))
    if not set(map(type, names)) <= {str}:
        raise NotPlain
    elements = [value for mapping in values for value in mapping.values()]
    pair = (("key", len(names), _single(c.P_STRING, names)), ("value", len(names), _single(facts.type, elements)))
    return Packed("+m", (None, ends), (("entries", len(names), Packed("+s", (None,), pair)),))


# ------------------------------------------------------------------------------------------------
# Structs of the Arrow C data interface that refer to packed columns
# ------------------------------------------------------------------------------------------------


class Table:
    """Schema and array of a batch, with all memory that they point to."""

    def __init__(self, length: int, columns: Sequence[Tuple[str, Packed]]) -> None:
        self._kept: List[Any] = []
        whole = Packed("+s", (None,), tuple((name, length, packed) for name, packed in columns))
        self.schema, self.array = self._structs("", length, whole)

    def _structs(self, name: str, length: int, packed: Packed) -> Tuple[ArrowSchema, ArrowArray]:
        children = [self._structs(child, count, inner) for child, count, inner in packed.children]
        schema, values = ArrowSchema(), ArrowArray()
        schema.format, schema.name = packed.format.encode(), name.encode("utf-8")
        schema.release = values.release = _keep
        if packed.metadata:
            memory = ctypes.create_string_buffer(packed.metadata, len(packed.metadata))
            schema.metadata = ctypes.addressof(memory)
            self._kept.append(memory)
        values.length, values.null_count = length, -1
        buffers = (c_void_p * len(packed.buffers))(*map(self._address, packed.buffers))
        values.n_buffers, values.buffers = len(buffers), ctypes.addressof(buffers)
        schemas = (c_void_p * len(children))(*(ctypes.addressof(s) for s, _ in children))
        arrays = (c_void_p * len(children))(*(ctypes.addressof(a) for _, a in children))
        schema.n_children = values.n_children = len(children)
        schema.children, values.children = ctypes.addressof(schemas), ctypes.addressof(arrays)
        self._kept += (children, packed, buffers, schemas, arrays, schema, values)
        return schema, values

    def _address(self, buffer: Optional[Buffer]) -> Optional[int]:
        if buffer is None:
            return None
        if isinstance(buffer, array):
            return buffer.buffer_info()[0] or ctypes.addressof(_nothing)
        return ctypes.cast(ctypes.c_char_p(buffer), c_void_p).value


_nothing = ctypes.create_string_buffer(8)
# The `release` of the structs: any address but null, which would mean "already released". The library does not call
# it, and Python frees the memory.
_keep = ctypes.cast(lib.realm_free, c_void_p).value


def create(pointer: int, class_key: int, schema: ArrowSchema, rows: ArrowArray, mode: int) -> None:
    """Creates or updates the objects of a batch."""
    c.check(pointer, lib.crealm_create_batch, class_key, byref(schema), byref(rows), mode, None, None, None)


create.moves = True  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------------
# Rows
# ------------------------------------------------------------------------------------------------


def columns_of(bound: BoundClass, rows: Sequence[Any], update: str) -> List[Tuple[str, Packed]]:
    """The columns of dictionaries that all have the same keys."""
    if set(map(type, rows)) != {dict} or not rows[0]:
        raise NotPlain
    if bound.type_name:
        found = uniform(bound, rows) if update == "error" else None
        if found is None:
            raise NotPlain
        bound, rows = bound.in_file, found
    else:
        rows = _with_defaults(bound, rows, update)
    names = list(rows[0])
    if any(facts.name not in names and name not in names for name, facts in bound.needed):
        raise NotPlain
    if set(map(len, rows)) != {len(names)}:
        raise NotPlain
    get = itemgetter(*names)
    try:
        columns = list(zip(*map(get, rows))) if len(names) > 1 else [tuple(map(get, rows))]
    except KeyError:
        raise NotPlain from None
    return packed_columns(bound, names, columns)


def _with_defaults(bound: BoundClass, rows: Sequence[Any], update: str) -> Sequence[Any]:
    """The rows, with the model's defaults for missing properties. A default that new objects have anyway is left
    out."""
    model = bound.model
    if model is None or all(_is_initial(bound, *item) for item in model._defaults(without=rows[0]).items()):
        return rows
    if update != "error" and bound.primary_key is not None:
        raise NotPlain  # Only new objects get defaults; a batch may have both new and existing ones.
    return [{**model._defaults(without=row), **row} for row in rows]


def _is_initial(bound: BoundClass, name: str, value: Any) -> bool:
    if bound.find(name).flags & c.NULLABLE:
        return value is None
    return not value and str(value) != "-0.0"


def packed_columns(bound: BoundClass, names: Sequence[Any], columns: Sequence[Sequence[Any]]) -> List[Tuple[str, Packed]]:
    found = []
    for name, values in zip(names, columns):
        if not isinstance(name, str):
            raise NotPlain
        facts = bound.find(name)
        try:
            found.append((facts.public_name or facts.name, _column(facts, values)))
        except (TypeError, ValueError, OverflowError, struct.error, Error):
            raise NotPlain from None
    return found


def add(owner: Owner, bound: BoundClass, length: int, columns: Sequence[Tuple[str, Packed]], update: str) -> None:
    """Writes packed columns. NotPlain if the library refuses them."""
    table = Table(length, columns)
    try:
        owner.call(create, bound.key, table.schema, table.array, MODES[update])
    except (DataError, SchemaError):
        raise NotPlain from None


# ------------------------------------------------------------------------------------------------
# Arrow streams of other packages
# ------------------------------------------------------------------------------------------------

# A separate function object, because other modules set other argument types for the one in `pythonapi`.
_get_pointer = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


def capsule_of(source: Any) -> Any:
    """The capsule of an object with __arrow_c_stream__. DataError if the object cannot make it."""
    try:
        return source.__arrow_c_stream__()
    except (Error, MemoryError):
        raise
    except Exception as error:
        raise DataError(f"The data cannot be read: {error}") from error


def stream_of(capsule: Any) -> ArrowArrayStream:
    """The stream in a capsule, which must stay alive meanwhile."""
    return ArrowArrayStream.from_address(_get_pointer(capsule, b"arrow_array_stream"))


def check_columns_allowed(bound: BoundClass, update: str) -> None:
    """NotSupportedError if columns cannot change objects of a class."""
    if bound.type_name and update != "error" and bound.primary_key is not None:
        raise NotSupportedError(
            f"{bound.name} shares its class of the file with others: columns cannot change its objects",
            hint="Give the rows as dictionaries.",
        )


class JoinedTable:
    """A batch of columns of a source, of packed columns, and of those columns that the class needs beside them; see
    `families`. The structs refer to the memory of the source."""

    def __init__(self, bound: BoundClass, length: int, packed: Sequence[Tuple[str, Packed]], part: Any) -> None:
        columns = list(packed)
        names = [name for name, _ in columns]
        if part is not None:
            names += [_name_of(_children(part.schema)[place]) for place in part.taken]
        if bound.type_name:
            self._check_nulls(bound, length, packed, part)
            columns += [(name, _column(bound.find(name), [value] * length)) for name, value in bound.added(names)]
        self._table = Table(length, columns)
        self.schema, self.array = self._table.schema, self._table.array
        self._kept: List[Any] = [part]
        if part is not None:
            self._join(part, length)

    def _join(self, part: Any, length: int) -> None:
        """Puts the columns of a source in front of the packed ones. The array of the source begins at some row; each of
        its columns gets that offset."""
        schemas, arrays = _children(part.schema), _children(part.rows)
        taken = []
        for place in part.taken:
            child = ArrowArray.from_buffer_copy(ArrowArray.from_address(arrays[place]))
            child.offset += part.rows.offset + part.first
            child.length, child.null_count = length, child.null_count if child.null_count == 0 else -1
            taken.append(child)
        self._kept.append(taken)
        for struct_, found in (
            (self.schema, [*(schemas[place] for place in part.taken), *_children(self.schema)]),
            (self.array, [*map(ctypes.addressof, taken), *_children(self.array)]),
        ):
            pointers = (c_void_p * len(found))(*found)
            struct_.n_children, struct_.children = len(found), ctypes.addressof(pointers)
            self._kept.append(pointers)

    def _check_nulls(self, bound: BoundClass, length: int, packed: Sequence[Tuple[str, Packed]], part: Any) -> None:
        """ConstraintError if a property that the class requires is null: in the class of the file it may be null."""
        refused = [name for name, one in packed if one.buffers[0] is not None and _requires(bound, name)]
        if part is not None:
            for place in part.taken:
                name = _name_of(_children(part.schema)[place])
                if _requires(bound, name) and has_null(ArrowArray.from_address(_children(part.rows)[place])):
                    refused.append(name)
        if refused:
            raise ConstraintError(f"{bound.where(bound.find(refused[0]))}: Cannot be None", code=3002)


def _name_of(address: int) -> str:
    name: bytes = ArrowSchema.from_address(address).name
    return name.decode("utf-8")


def _requires(bound: BoundClass, name: str) -> bool:
    return bound.has(name) and bound.find(name).collection == c.C_NONE and not bound.find(name).flags & c.NULLABLE


def _children(struct_: Union[ArrowSchema, ArrowArray]) -> Sequence[int]:
    """The addresses of the columns."""
    return (c_void_p * struct_.n_children).from_address(struct_.children)[:] if struct_.n_children else []


def has_null(array: ArrowArray) -> bool:
    if array.null_count >= 0:
        return bool(array.null_count)
    bits = c_void_p.from_address(array.buffers).value if array.n_buffers else None
    if not bits:
        return False
    end = array.offset + array.length
    flags = int.from_bytes(ctypes.string_at(bits, (end + 7) // 8), "little") >> array.offset
    there: int = bin(flags & ((1 << array.length) - 1)).count("1")
    return bool(there < array.length)


def check(stream: ArrowArrayStream, code: int) -> None:
    if code:
        said = stream.get_last_error(byref(stream))
        reason = said.decode("utf-8", "replace") if said else os.strerror(code)
        raise DataError(f"The data cannot be read: {reason}")


_RELEASE = ctypes.CFUNCTYPE(None, c_void_p)


def release(struct_: Union[ArrowSchema, ArrowArray]) -> None:
    if struct_.release:
        _RELEASE(struct_.release)(ctypes.addressof(struct_))
