"""Reads columns of values from the library, as structs of the Arrow C data interface.

Each struct that the library fills has its own memory: it stays valid after the database changes or is
closed, until its `release` is called, exactly once. `_Owned` and the capsules here make sure of that.
"""

from __future__ import annotations

import ctypes
import struct
from ctypes import byref, c_char, c_char_p, c_void_p, py_object, pythonapi
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple
from uuid import UUID

from . import _marshal as c
from ._handle import Handle
from ._json import from_mixed
from ._library import lib
from ._prototypes import ArrowArray, ArrowArrayStream, ArrowRelease, ArrowSchema
from .errors import DataError
from .values import ObjectId, RawTimestamp, Timestamp

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
    none, found = _Owned(ArrowArray()), _Owned(ArrowSchema())
    handle.call(_fetch, 0, 0, [name], found.struct, none.struct)
    child = ArrowSchema.from_address(c_void_p.from_address(found.struct.children).value or 0)
    facts = _metadata(child.metadata)
    if "realm.primaryKey" in facts:  # A link: read the keys of the objects instead.
        return fetch(handle, first, count, [f"{name}.@key"]), OF_PROPERTY[c.P_INT]
    rows = fetch(handle, first, count, [name])
    if "realm.mixed" in facts:  # A struct whose only part is the text.
        rows.arrays[0] = rows.arrays[0].children()[0]
        return rows, Type("u", "")
    return rows, Type(child.format.decode("ascii"), facts.get(_EXTENSION, ""))


def _aggregate(results: int, query: bytes, arguments: c.Arguments, out: Any) -> None:
    c.check(results, lib.crealm_results_aggregate_arrow, query, arguments.count, arguments.array, byref(out))


def groups(handle: Handle, query: bytes, arguments: c.Arguments) -> List[List[Any]]:
    """The columns of the groups of results, as values of Python; Any as the values themselves."""
    stream, found = _Owned(ArrowArrayStream()), _Owned(ArrowSchema())
    handle.call(_aggregate, query, arguments, stream.struct)
    address = ctypes.addressof(stream.struct)
    if stream.struct.get_schema(address, ctypes.addressof(found.struct)):
        raise _stream_error(stream.struct)
    children = (c_void_p * found.struct.n_children).from_address(found.struct.children)
    columns: List[List[Any]] = [[] for _ in children]
    while True:
        array = _Owned(ArrowArray())
        if stream.struct.get_next(address, ctypes.addressof(array.struct)):
            raise _stream_error(stream.struct)
        if not array.struct.release:
            return columns
        for column, child, part in zip(columns, children, Rows(array).arrays):
            column += _column(ArrowSchema.from_address(child), part)


def _column(schema: Any, array: Array) -> List[Any]:
    facts = _metadata(schema.metadata)
    if "realm.mixed" in facts:
        texts = values(array.children()[0], Type("u", ""))
        return [None if text is None else from_mixed(text) for text in texts]
    return values(array, Type(schema.format.decode("ascii"), facts.get(_EXTENSION, "")))


def _stream_error(stream: Any) -> DataError:
    text = stream.get_last_error(ctypes.addressof(stream)) or b""
    return DataError(text.decode("utf-8", "replace"))


_EXTENSION = "ARROW:extension:name"


def _metadata(address: Optional[int]) -> Dict[str, str]:
    """The metadata of a schema. In memory: the number of pairs, then each text after its length."""
    if not address:
        return {}

    def number(at: int) -> int:
        return ctypes.c_int32.from_address(at).value

    texts, at = [], address + 4
    for _ in range(2 * number(address)):
        size = number(at)
        texts.append(ctypes.string_at(at + 4, size).decode("utf-8"))
        at += 4 + size
    return dict(zip(texts[::2], texts[1::2]))


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


def _decimal(data: bytes) -> Any:
    low, high = struct.unpack("=QQ", data)
    return c.decimal_from_bits(high, low)


_READERS: Dict[Type, Callable[[Array], List[Any]]] = {
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
    Type("w:16", "realm.decimal128"): _fixed(16, _decimal),
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


def can_read(type: Type) -> bool:
    return type in _READERS


def values(array: Array, type: Type) -> List[Any]:
    """The values as objects of Python, None for null."""
    found = _READERS[type](array)
    if array.null_count:
        return [value if is_there else None for value, is_there in zip(found, bits(array, 0))]
    return found
