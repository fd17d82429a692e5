"""Reads columns of values from the library, as structs of the Arrow C data interface.

Each struct that the library fills has its own memory: it stays valid after the database changes or is
closed, until its `release` is called, exactly once. `_Owned` and the capsules here make sure of that.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import array as arrays
from ctypes import byref, c_char, c_char_p, c_void_p, py_object, pythonapi
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple
from uuid import UUID

from . import _marshal as c
from ._handle import Handle
from ._library import lib
from ._mixed import from_json
from ._prototypes import ArrowArray, ArrowArrayStream, ArrowRelease, ArrowSchema
from ._shapes import EXTENSION, MIXED, TARGET, Shape, decimal_of_bytes, pointers, shape_of
from ._shapes import values as values_of
from .errors import DataError
from .values import Float32, ObjectId, RawTimestamp, Timestamp

_STREAM = b"arrow_array_stream"
_SCHEMA = b"arrow_schema"


def _paths(names: Optional[Sequence[str]]) -> Tuple[Any, int]:
    """Names as an array for the library, and their number; None means all properties."""
    if names is None:
        return None, 0
    return (c_char_p * max(len(names), 1))(*map(c.c_name, names)), len(names)


def _release(address: int, kind: Any) -> None:
    """Calls the `release` of a struct. Does nothing if it was called before, or the content was moved out."""
    function = kind.from_address(address).release
    if function:
        ArrowRelease(function)(address)


class _Owned:
    """Owns a struct that the library fills in, and exists before that. When the last reference to this object goes,
    the content is released, unless it was moved out. So an interrupt at any step leaks nothing."""

    __slots__ = ("struct",)

    def __init__(self, struct: Any) -> None:
        self.struct = struct

    def __del__(self, release: Any = _release, address: Any = ctypes.addressof) -> None:
        release(address(self.struct), type(self.struct))


# ------------------------------------------------------------------------------------------------
# Capsules: the form in which packages of one process pass such structs to each other
# ------------------------------------------------------------------------------------------------

# Separate function objects, because other modules set other argument types for those in `pythonapi`.
_new_capsule = ctypes.PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", pythonapi))
_capsule_content = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", pythonapi))

_waiting: Dict[int, _Owned] = {}  # The contents of capsules, by the addresses of the structs.


def _destructor(name: bytes, kind: Any) -> Any:
    """The destructor of a capsule: releases the struct's content, unless it was moved out. It receives the capsule
    as an address, because a reference would bring the capsule back to life."""

    def end(
        capsule: int, name: bytes = name, kind: Any = kind, content: Any = _capsule_content,
        release: Any = _release, waiting: Dict[int, Any] = _waiting,
    ) -> None:
        address = content(capsule, name)
        release(address, kind)
        waiting.pop(address, None)

    function = ctypes.PYFUNCTYPE(None, c_void_p)(end)
    pythonapi.Py_IncRef(py_object(function))  # Capsules may outlive the modules.
    return function


_ENDS = {_STREAM: _destructor(_STREAM, ArrowArrayStream), _SCHEMA: _destructor(_SCHEMA, ArrowSchema)}


def _capsule(content: _Owned, name: bytes) -> Any:
    address = ctypes.addressof(content.struct)
    _waiting[address] = content
    return _new_capsule(address, name, ctypes.cast(_ENDS[name], c_void_p))


def _export(results: int, names: Optional[Sequence[str]], batch_rows: int, out: Any) -> None:
    c.check(results, lib.crealm_results_export_arrow, *_paths(names), batch_rows, byref(out))


def stream(handle: Handle, names: Optional[Sequence[str]], batch_rows: int) -> Any:
    """A capsule with a stream of the columns of results."""
    out = _Owned(ArrowArrayStream())
    handle.call(_export, names, batch_rows, out.struct)
    return _capsule(out, _STREAM)


def schema(handle: Handle, names: Optional[Sequence[str]]) -> Any:
    """A capsule with the schema of that stream."""
    out, none = _Owned(ArrowSchema()), _Owned(ArrowArray())
    handle.call(_fetch, 0, 0, names, out.struct, none.struct)
    return _capsule(out, _SCHEMA)


# ------------------------------------------------------------------------------------------------
# Rows in memory
# ------------------------------------------------------------------------------------------------


def _fetch(
    results: int, first: int, count: int, names: Optional[Sequence[str]], schema: Optional[Any], array: Any
) -> None:
    out = None if schema is None else byref(schema)
    c.check(results, lib.crealm_results_fetch_arrow, first, count, *_paths(names), out, byref(array))


def shapes(handle: Handle, names: Optional[Sequence[str]]) -> Tuple[Shape, ...]:
    """The types of the columns of results."""
    none, found = _Owned(ArrowArray()), _Owned(ArrowSchema())
    handle.call(_fetch, 0, 0, names, found.struct, none.struct)
    return shape_of(found.struct).parts


def read(handle: Handle, name: str, shape: Shape, most: int = sys.maxsize) -> List[Any]:
    """The values of a column, at most `most`, as objects of Python; see `_shapes`. LimitExceeded if it has a time that
    does not fit into nanoseconds."""
    found: List[Any] = []
    while True:
        array = _Owned(ArrowArray())
        handle.call(_fetch, len(found), min(_PAGE, most - len(found)), [name], None, array.struct)
        if not array.struct.length:
            return found
        (child,) = pointers(array.struct.n_children, array.struct.children)
        found += values_of(ArrowArray.from_address(child), shape, 0, array.struct.length)


def pages(handle: Handle, names: Sequence[str], kinds: Sequence[Shape]) -> Iterator[List[List[Any]]]:
    """The values of columns of the given types, page by page, as read() has them."""
    first = 0
    while True:
        array = _Owned(ArrowArray())
        handle.call(_fetch, first, _PAGE, names, None, array.struct)
        count = array.struct.length
        if not count:
            return
        children = pointers(array.struct.n_children, array.struct.children)
        yield [values_of(ArrowArray.from_address(child), kind, 0, count) for child, kind in zip(children, kinds)]
        first += count


def scan(handle: Handle, name: str) -> None:
    """Reads a column, and forgets it: to find out whether it can be read."""
    first = 0
    while True:
        array = _Owned(ArrowArray())
        handle.call(_fetch, first, _PAGE, [name], None, array.struct)
        if not array.struct.length:
            return
        first += array.struct.length


_PAGE = BATCH = 65536  # Rows that are read at a time, and rows of a batch of a stream.


class Type(NamedTuple):
    """The type of a column: a format of the Arrow interface, and the extension name, which distinguishes types of the
    same format."""

    format: str
    extension: str


class Array:
    """The values of one column. `owner` keeps their memory alive."""

    __slots__ = ("owner", "length", "null_count", "_buffers", "_children")

    def __init__(self, owner: Any, array: ArrowArray) -> None:
        self.owner = owner
        self.length: int = array.length
        self.null_count: int = array.null_count
        self._buffers = (c_void_p * array.n_buffers).from_address(array.buffers)[:]
        self._children = (c_void_p * array.n_children).from_address(array.children)[:] if array.n_children else []

    def buffer(self, index: int, size: int) -> memoryview:
        """The first `size` bytes of a buffer, read only."""
        address = self._buffers[index]
        if not address or not size:
            return memoryview(b"")
        block = (c_char * size).from_address(address)
        block.owner = self.owner  # type: ignore[attr-defined]
        return memoryview(block).cast("B").toreadonly()

    def children(self) -> List[Array]:
        """The parts of a struct."""
        return [Array(self.owner, ArrowArray.from_address(child)) for child in self._children]

    @property
    def size(self) -> int:
        """The approximate size of the values in bytes."""
        if len(self._buffers) < 3:
            return 16 * self.length
        return 4 * self.length + ctypes.c_int32.from_address(self._buffers[1] + 4 * self.length).value

    @property
    def validity(self) -> Optional[memoryview]:
        """A bit for each value, the lowest first; 0 means null. None if no value is null."""
        return self.buffer(0, (self.length + 7) // 8) if self.null_count else None


class Numbers(Array):
    """The values of a column of integers of 64 bits, made of integers of Python."""

    __slots__ = ("_there", "_numbers")

    def __init__(self, numbers: Sequence[Optional[int]]) -> None:
        self.owner, self._buffers, self._children = None, [], []
        self.length = len(numbers)
        self.null_count = sum(number is None for number in numbers)
        digits = "".join("0" if number is None else "1" for number in reversed(numbers))
        self._there = int(digits or "0", 2).to_bytes((self.length + 7) // 8, "little")
        self._numbers = arrays.array("q", (number or 0 for number in numbers)).tobytes()

    def buffer(self, index: int, size: int) -> memoryview:
        return memoryview(self._numbers if index else self._there)[:size]

    @property
    def validity(self) -> Optional[memoryview]:
        return self.buffer(0, (self.length + 7) // 8) if self.null_count else None


class Rows:
    """Some columns of some rows, in their own memory."""

    __slots__ = ("length", "arrays")

    def __init__(self, memory: _Owned) -> None:
        array = memory.struct
        self.length: int = array.length
        children = (c_void_p * array.n_children).from_address(array.children) if array.n_children else ()
        self.arrays = [Array(memory, ArrowArray.from_address(child)) for child in children]


def fetch(handle: Handle, first: int, count: int, names: Sequence[str]) -> Rows:
    """Rows of results in the current snapshot. It returns fewer than `count` rows at the end of the results, and if the
    values of more rows do not fit into an Arrow array."""
    array = _Owned(ArrowArray())
    handle.call(_fetch, first, count, names, None, array.struct)
    return Rows(array)


def fetch_typed(handle: Handle, first: int, count: int, name: str) -> Tuple[Rows, Type]:
    """As fetch(), with one column, and the type of that column."""
    (shape,) = shapes(handle, [name])
    if TARGET in shape.facts:  # A link: read the keys of the objects instead.
        return fetch(handle, first, count, [f"{name}.@key"]), OF_PROPERTY[c.P_INT]
    rows = fetch(handle, first, count, [name])
    if MIXED in shape.facts:  # A struct whose only part is the text.
        rows.arrays[0] = rows.arrays[0].children()[0]
        return rows, JSON
    return rows, Type(shape.format, shape.facts.get(EXTENSION, ""))


def _aggregate(results: int, query: bytes, arguments: c.Arguments, out: Any) -> None:
    c.check(results, lib.crealm_results_aggregate_arrow, query, arguments.count, arguments.array, byref(out))


def groups(handle: Handle, query: bytes, arguments: c.Arguments) -> List[List[Any]]:
    """The columns of the groups of results, as values of Python; Any as the values themselves."""
    stream, found = _Owned(ArrowArrayStream()), _Owned(ArrowSchema())
    handle.call(_aggregate, query, arguments, stream.struct)
    address = ctypes.addressof(stream.struct)
    if stream.struct.get_schema(address, ctypes.addressof(found.struct)):
        raise _stream_error(stream.struct)
    parts = shape_of(found.struct).parts
    columns: List[List[Any]] = [[] for _ in parts]
    while True:
        array = _Owned(ArrowArray())
        if stream.struct.get_next(address, ctypes.addressof(array.struct)):
            raise _stream_error(stream.struct)
        if not array.struct.release:
            return columns
        for column, shape, part in zip(columns, parts, Rows(array).arrays):
            column += _column(shape, part)


def _column(shape: Shape, array: Array) -> List[Any]:
    if MIXED in shape.facts:
        texts = values(array.children()[0], Type("u", ""))
        return [None if text is None else from_json(text, is_plain=True) for text in texts]
    return values(array, Type(shape.format, shape.facts.get(EXTENSION, "")))


def _stream_error(stream: Any) -> DataError:
    text = stream.get_last_error(ctypes.addressof(stream)) or b""
    return DataError(text.decode("utf-8", "replace"))


# ------------------------------------------------------------------------------------------------
# Values of Python
# ------------------------------------------------------------------------------------------------

_BITS = [tuple(bool(byte >> bit & 1) for bit in range(8)) for byte in range(256)]


def bits(array: Array, index: int) -> List[bool]:
    """The bits of a buffer."""
    found = [bit for byte in array.buffer(index, (array.length + 7) // 8) for bit in _BITS[byte]]
    del found[array.length :]
    return found


def _numbers(code: str) -> Callable[[Array], List[Any]]:
    size = struct.calcsize(code)
    return lambda array: array.buffer(1, array.length * size).cast(code).tolist()  # type: ignore[call-overload]


def _point(count: int) -> Any:
    """A point in time that may be outside of the years of datetime."""
    try:
        return Timestamp.from_ns(count)
    except OverflowError:
        seconds = abs(count) // 1_000_000_000 * (1 if count > 0 else -1)
        return RawTimestamp(seconds, count - seconds * 1_000_000_000)


def _timestamps(unit: int) -> Callable[[Array], List[Any]]:
    """Reads points in time that are numbers of a unit of so many nanoseconds."""

    def values(array: Array) -> List[Any]:
        counts = array.buffer(1, array.length * 8).cast("q").tolist()
        counts = counts if unit == 1 else [count * unit for count in counts]
        try:
            return list(map(Timestamp.from_ns, counts))
        except OverflowError:
            return list(map(_point, counts))

    return values


def _pieces(array: Array) -> Tuple[bytes, List[int]]:
    ends = array.buffer(1, (array.length + 1) * 4).cast("i").tolist()
    return bytes(array.buffer(2, ends[-1])), ends


def _texts(array: Array) -> List[Any]:
    data, ends = _pieces(array)
    if data.isascii():
        text = data.decode("ascii")
        return [text[start:end] for start, end in zip(ends, ends[1:])]
    return [data[start:end].decode("utf-8") for start, end in zip(ends, ends[1:])]


def _binaries(array: Array) -> List[Any]:
    data, ends = _pieces(array)
    return [data[start:end] for start, end in zip(ends, ends[1:])]


def _fixed(width: int, read: Callable[[bytes], Any]) -> Callable[[Array], List[Any]]:
    def values(array: Array) -> List[Any]:
        data = bytes(array.buffer(1, array.length * width))
        return [read(data[at : at + width]) for at in range(0, len(data), width)]

    return values


def _mixed_values(array: Array) -> List[Any]:
    """Values of type Any: not-a-number is a float here, not a mark."""
    found = [None if not text else from_json(text) for text in _texts(array)]
    for place, value in enumerate(found):
        if type(value) is dict and list(value.values()) == ["NaN"]:
            found[place] = {"$float": float("nan"), "$float32": Float32("nan")}.get(next(iter(value)), value)
    return found


def decimal_bytes(value: Any) -> bytes:
    """The 16 bytes of a number in a column."""
    high, low = c.decimal_to_bits(value)
    return struct.pack("=QQ", low, high)


def object_id_of(data: bytes) -> ObjectId:
    return ObjectId(data)


JSON = Type("u", "realm.mixed")  # The texts of values of type Any.

_READERS: Dict[Type, Callable[[Array], List[Any]]] = {
    JSON: _mixed_values,
    Type("l", ""): _numbers("q"),
    Type("g", ""): _numbers("d"),
    Type("f", ""): _numbers("f"),
    Type("b", ""): lambda array: bits(array, 1),
    Type("tsn:UTC", ""): _timestamps(1),
    Type("tsu:UTC", ""): _timestamps(1000),
    Type("tsm:UTC", ""): _timestamps(1_000_000),
    Type("tss:UTC", ""): _timestamps(1_000_000_000),
    Type("u", ""): _texts,
    Type("z", ""): _binaries,
    Type("w:16", "realm.decimal128"): _fixed(16, decimal_of_bytes),
    Type("w:12", "realm.objectid"): _fixed(12, ObjectId),
    Type("w:16", "arrow.uuid"): _fixed(16, lambda data: UUID(bytes=data)),
}

# The property types whose values are the same in a column as in an attribute of an object.
OF_PROPERTY = {
    c.P_INT: Type("l", ""),
    c.P_DOUBLE: Type("g", ""),
    c.P_FLOAT: Type("f", ""),
    c.P_BOOL: Type("b", ""),
    c.P_TIMESTAMP: Type("tsn:UTC", ""),
    c.P_STRING: Type("u", ""),
    c.P_BINARY: Type("z", ""),
    c.P_DECIMAL: Type("w:16", "realm.decimal128"),
    c.P_OBJECT_ID: Type("w:12", "realm.objectid"),
    c.P_UUID: Type("w:16", "arrow.uuid"),
}


def has_single_values(shape: Shape) -> bool:
    """Whether a column of this type can be read with values()."""
    if TARGET in shape.facts or MIXED in shape.facts:
        return True
    return Type(shape.format, shape.facts.get(EXTENSION, "")) in _READERS


def values(array: Array, type: Type) -> List[Any]:
    """The values as objects of Python, None for null."""
    found = _READERS[type](array)
    if array.null_count:
        return [value if is_there else None for value, is_there in zip(found, bits(array, 0))]
    return found
