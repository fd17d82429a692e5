"""Converts values between Python and C, and wraps the C functions that fill an output argument.

Functions whose first argument is a `pointer`, a `realm` or a `query` run only inside `Callee.call()` of
`_handle`: it keeps the pointer valid, and also the texts and bytes that the library returns, until they
are copied here.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import struct
import sys
from ctypes import byref, c_bool, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from datetime import datetime
from decimal import Decimal
from typing import Any, Callable, Dict, List, NamedTuple, NoReturn, Optional, Sequence, Tuple, Union
from uuid import UUID

from ._library import lib
from ._progress import INTERRUPTED, Attendant, raised
from ._prototypes import (
    INVALID_CLASS_KEY,
    INVALID_PROPERTY_KEY,
    DURABILITIES,
    PAGE_CIPHERS,
    ClassInfo,
    ErrorInfo,
    FaultInfo,
    LocationInfo,
    PinnedInfo,
    Migrate,
    PropertyInfo,
    QueryArgument,
    QueryPlan,
    ShouldCompact,
    SpaceInfo,
    Value,
    VersionId,
)
from .errors import DataError, Error, LimitExceeded, TypeMismatch, from_code
from .kinds import Kind
from .values import Float32, ObjectId, RawTimestamp, Timestamp, timestamp_ns

# realm_value_type_e
NULL, INT, BOOL, STRING, BINARY, TIMESTAMP, FLOAT, DOUBLE = range(8)
DECIMAL, OBJECT_ID, LINK, UUID_TYPE, LIST, DICTIONARY = range(8, 14)

# realm_property_type_e
P_INT, P_BOOL, P_STRING, P_BINARY, P_MIXED, P_TIMESTAMP = 0, 1, 2, 4, 6, 8
P_FLOAT, P_DOUBLE, P_DECIMAL, P_OBJECT, P_LINKING_OBJECTS, P_OBJECT_ID, P_UUID = 9, 10, 11, 12, 14, 15, 17

# realm_collection_type_e
C_NONE, C_LIST, C_SET, C_DICTIONARY = 0, 1, 2, 4

# realm_property_flags_e and realm_class_flags_e
NULLABLE, PRIMARY_KEY, INDEXED, FULLTEXT_INDEXED = 1, 2, 4, 8
CLASS_EMBEDDED = 1

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


# ------------------------------------------------------------------------------------------------
# Errors
# ------------------------------------------------------------------------------------------------


def last_error(path: Optional[str] = None, hint: Optional[str] = None) -> Optional[Error]:
    """Returns and clears the library's last error of this thread; None if it has none."""
    handle = lib.realm_get_last_error_as_async_error()  # A copy: a failure meanwhile does not change its texts.
    if not handle:
        return None
    try:
        info = ErrorInfo()
        lib.realm_get_async_error(handle, byref(info))
        message = (info.message or b"").decode("utf-8", "replace")
        where = info.path.decode("utf-8", "surrogateescape") if info.path else path
        lib.realm_clear_last_error()
        if info.error == INTERRUPTED and (interrupt := raised()) is not None:
            raise interrupt
        return from_code(info.error, message, path=where, hint=hint)
    finally:
        lib.realm_release(handle)


def fail(path: Optional[str] = None, hint: Optional[str] = None) -> NoReturn:
    """Raises the error of the call that just failed."""
    raise last_error(path, hint) or Error("The library reported a failure without a reason", path=path)


# ------------------------------------------------------------------------------------------------
# Scratch values: each use takes one from a list and returns it, so that a finalizer in between gets another one
# ------------------------------------------------------------------------------------------------

_spare: List[Tuple[Value, int]] = []


def _take() -> Tuple[Value, int]:
    try:
        return _spare.pop()
    except IndexError:
        value = Value()
        return value, ctypes.addressof(value)


# ------------------------------------------------------------------------------------------------
# C to Python
# ------------------------------------------------------------------------------------------------

_string_at = ctypes.string_at
_WORDS = struct.Struct("=qqi4x")
_word = struct.Struct("=q")
_words = struct.Struct("=qq")
_double = struct.Struct("=d")
_float = struct.Struct("=f4x")
_link = struct.Struct("=I4xq")
_short = struct.Struct("=i4x")


def _address(word: int) -> int:
    return word & 0xFFFFFFFFFFFFFFFF


def _read_string(first: int, second: int) -> str:
    data = _string_at(first, second)  # ctypes accepts an address as a signed or unsigned integer.
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"The file holds a text that is not UTF-8: {data[:40]!r}") from error


def _read_float(first: int, second: int) -> Float32:
    return Float32(_float.unpack(_word.pack(first))[0])


def _read_timestamp(first: int, second: int) -> Any:
    nanoseconds = _short.unpack(_word.pack(second))[0]
    try:
        return Timestamp.from_ns(first * 1_000_000_000 + nanoseconds)
    except OverflowError:
        return RawTimestamp(first, nanoseconds)


_READERS: Dict[int, Callable[[int, int], Any]] = {
    NULL: lambda first, second: None,
    INT: lambda first, second: first,
    BOOL: lambda first, second: _word.pack(first)[0] != 0,
    STRING: _read_string,
    BINARY: _string_at,
    TIMESTAMP: _read_timestamp,
    FLOAT: _read_float,
    DOUBLE: lambda first, second: _double.unpack(_word.pack(first))[0],
    DECIMAL: lambda first, second: decimal_from_bits(_address(second), _address(first)),
    OBJECT_ID: lambda first, second: ObjectId(_words.pack(first, second)[:12]),
    UUID_TYPE: lambda first, second: UUID(bytes=_words.pack(first, second)),
}


class Link(NamedTuple):
    """A link as a value: class key and object key. The caller makes the object."""

    class_key: int
    object_key: int


class Nested:
    """A placeholder for a collection inside Any: the caller reads the collection from the same place."""

    __slots__ = ("kind",)

    def __init__(self, kind: int) -> None:
        self.kind = kind


_NESTED = {LIST: Nested(LIST), DICTIONARY: Nested(DICTIONARY)}


def _decode(value: Value) -> Any:
    first, second, kind = _WORDS.unpack_from(value)
    if kind == INT:
        return first
    reader = _READERS.get(kind)
    if reader is not None:
        return reader(first, second)
    if kind == LINK:
        return Link(*_link.unpack(_words.pack(first, second)))
    try:
        return _NESTED[kind]
    except KeyError:
        raise DataError(f"A value of unknown type {kind}") from None


# ------------------------------------------------------------------------------------------------
# Python to C
# ------------------------------------------------------------------------------------------------

_PACK_INT = struct.Struct("=qqi")
_PACK_BOOL = struct.Struct("=?15xi")
_PACK_SPAN = struct.Struct("=QQi")
_PACK_DOUBLE = struct.Struct("=d8xi")
_PACK_FLOAT = struct.Struct("=f12xi")
_PACK_TIMESTAMP = struct.Struct("=qi4xi")
_PACK_BYTES = struct.Struct("=16si")
_PACK_LINK = struct.Struct("=I4xqi")


class Encoded(Value):
    """A C value that keeps the memory which it points to alive."""

    memory: bytes


def _put_span(out: Encoded, data: bytes, kind: int) -> None:
    out.memory = data
    address = ctypes.cast(ctypes.c_char_p(data), c_void_p).value  # Not null, even for b"".
    _PACK_SPAN.pack_into(out, 0, address, len(data), kind)


def _put_null(out: Encoded, value: Any) -> None:
    _PACK_INT.pack_into(out, 0, 0, 0, NULL)


def _put_int(out: Encoded, value: Any) -> None:
    if type(value) is int:
        number = value
    elif isinstance(value, bool):
        raise _mismatch("int", value)
    else:
        number = _index(value)
    if not _INT64_MIN <= number <= _INT64_MAX:
        raise LimitExceeded(f"{number} does not fit in 64 bits")
    _PACK_INT.pack_into(out, 0, number, 0, INT)


def _index(value: Any) -> int:
    """The value as a plain int; it may be of a subclass of int, or have __index__."""
    try:
        return int.__pos__(operator.index(value))
    except TypeError:
        raise _mismatch("int", value) from None


def _put_bool(out: Encoded, value: Any) -> None:
    if not isinstance(value, bool):
        if _full_name(value) not in ("numpy.bool", "numpy.bool_"):
            raise _mismatch("bool", value)
        value = bool(value)
    _PACK_BOOL.pack_into(out, 0, value, BOOL)


def encode_text(value: str) -> bytes:
    try:
        return str.encode(value, "utf-8")
    except UnicodeEncodeError as error:
        raise DataError(f"The text has no UTF-8 form: {error.reason} at {error.start}") from error


def _put_string(out: Encoded, value: Any) -> None:
    if not isinstance(value, str):
        raise _mismatch("str", value)
    _put_span(out, encode_text(value), STRING)


def plain_bytes(value: Union[bytes, bytearray, memoryview]) -> bytes:
    """The bytes as a plain `bytes`: a subclass may report another length."""
    return memoryview(value).tobytes()


def _put_binary(out: Encoded, value: Any) -> None:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise _mismatch("bytes", value)
    _put_span(out, plain_bytes(value), BINARY)


def _put_timestamp(out: Encoded, value: Any) -> None:
    if isinstance(value, RawTimestamp):
        seconds, nanoseconds = map(_index, value)
        if not _INT64_MIN <= seconds <= _INT64_MAX or abs(nanoseconds) > 999_999_999:
            raise LimitExceeded(f"{value} cannot be stored")
    elif isinstance(value, datetime):
        if value != value:  # NaT of pandas
            raise _mismatch("datetime", value)
        if value.utcoffset() is None:
            raise DataError(
                f"{value!r} has no time zone and so names no point in time",
                hint="Use an aware datetime, such as datetime.now(timezone.utc).",
            )
        ns = timestamp_ns(value)
        seconds, nanoseconds = divmod(abs(ns), 1_000_000_000)
        if ns < 0:
            seconds, nanoseconds = -seconds, -nanoseconds
    else:
        raise _mismatch("datetime", value)
    _PACK_TIMESTAMP.pack_into(out, 0, seconds, nanoseconds, TIMESTAMP)


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise _mismatch("float", value)
    if isinstance(value, float):
        return value
    if isinstance(value, (str, bytes, bytearray, memoryview, Decimal)):
        raise _mismatch("float", value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise _mismatch("float", value) from None
    except OverflowError:
        raise LimitExceeded(f"{value} is too large for a float") from None
    _check_exact(value, number)
    return number


def _check_exact(value: Any, number: float) -> None:
    """LimitExceeded if an integer, also one of numpy, loses digits as a float."""
    if hasattr(value, "__index__") and number != operator.index(value):
        raise LimitExceeded(f"{value} has more digits than a float", hint="Convert it with float() if losing digits is fine.")


def _put_float(out: Encoded, value: Any) -> None:
    number = _number(value)
    try:
        _PACK_FLOAT.pack_into(out, 0, number, FLOAT)
    except OverflowError:
        raise LimitExceeded(f"{number!r} is too large for a 32-bit float") from None
    _check_exact(value, _PACK_FLOAT.unpack_from(out)[0])


def _put_double(out: Encoded, value: Any) -> None:
    _PACK_DOUBLE.pack_into(out, 0, _number(value), DOUBLE)


def _put_decimal(out: Encoded, value: Any) -> None:
    if isinstance(value, int) and not isinstance(value, bool):
        value = Decimal(value)
    elif not isinstance(value, Decimal):
        raise _mismatch("Decimal", value)
    high, low = decimal_to_bits(Decimal(value))
    if (high, low) == _NULL_DECIMAL:
        raise LimitExceeded(f"{value} cannot be stored: files use this not-a-number for null")
    _PACK_SPAN.pack_into(out, 0, low, high, DECIMAL)


def _put_object_id(out: Encoded, value: Any) -> None:
    if not isinstance(value, ObjectId):
        raise _mismatch("ObjectId", value)
    _PACK_BYTES.pack_into(out, 0, value.bytes, OBJECT_ID)


def _put_uuid(out: Encoded, value: Any) -> None:
    if not isinstance(value, UUID):
        raise _mismatch("UUID", value)
    _PACK_BYTES.pack_into(out, 0, value.bytes, UUID_TYPE)


def _put_link(out: Encoded, value: Any) -> None:
    if not isinstance(value, Link):
        raise _mismatch("object", value)
    _PACK_LINK.pack_into(out, 0, value.class_key, value.object_key, LINK)


def _put_mixed(out: Encoded, value: Any) -> None:
    for kinds, put in _MIXED:
        if isinstance(value, kinds):
            return put(out, value)
    if hasattr(value, "__index__"):
        return _put_int(out, value)
    raise TypeMismatch(f"A {type(value).__name__} cannot be stored")


# The first match counts, so bool comes before int, and Float32 before float.
_MIXED: List[Tuple[Any, Callable[[Encoded, Any], None]]] = [
    (str, _put_string),
    (bool, _put_bool),
    (int, _put_int),
    (Float32, _put_float),
    (float, _put_double),
    ((bytes, bytearray, memoryview), _put_binary),
    ((datetime, RawTimestamp), _put_timestamp),
    (Decimal, _put_decimal),
    (UUID, _put_uuid),
    (ObjectId, _put_object_id),
    (Link, _put_link),
]

_WRITERS: Dict[int, Callable[[Encoded, Any], None]] = {
    P_INT: _put_int,
    P_BOOL: _put_bool,
    P_STRING: _put_string,
    P_BINARY: _put_binary,
    P_MIXED: _put_mixed,
    P_TIMESTAMP: _put_timestamp,
    P_FLOAT: _put_float,
    P_DOUBLE: _put_double,
    P_DECIMAL: _put_decimal,
    P_OBJECT: _put_link,
    P_OBJECT_ID: _put_object_id,
    P_UUID: _put_uuid,
}


PROPERTY_TYPES = tuple(_WRITERS)


def _mismatch(wanted: str, value: Any) -> TypeMismatch:
    hint = ""
    if wanted == "float" and isinstance(value, Decimal):
        hint = "Convert it with float() if losing digits is fine."
    name = type(value).__name__
    return TypeMismatch(f"Needs {wanted}, not {_full_name(value) if name == wanted else name}", hint=hint)


def _full_name(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__name__}"


def encode(value: Any, property_type: int) -> Encoded:
    """Encodes a value for a property type. None becomes null: the library reports if the property cannot hold it."""
    out = Encoded()
    if value is None:
        _put_null(out, value)
        return out
    try:
        _WRITERS[property_type](out, value)
    except struct.error as error:  # A subclass whose parts have other types than those of its base.
        raise TypeMismatch(f"A {type(value).__name__} cannot be stored: {error}") from error
    return out


NOTHING = encode(None, P_INT)


def encode_for(facts: PropertyFacts, value: Any) -> Encoded:
    """Encodes a value for a property or for its elements; the value has the type that the model declares."""
    return encode(value if facts.kind is None or value is None else facts.kind.stored(value), facts.type)


def decode(encoded: Encoded) -> Any:
    """The value that reading the encoded value back would return."""
    return _decode(encoded)


# ------------------------------------------------------------------------------------------------
# Decimal128: IEEE 754 decimal128 in binary integer encoding
#
#     bit 127 sign, bits 126-113 exponent + 6176, bits 112-0 coefficient, at most 10^34 - 1
#     bits 126-125 both set: a coefficient of 2^113 or more, which is too large and means zero; the
#       exponent is in bits 124-111
#     bits 126-122 11110: infinity. 11111: not a number, bit 121 signalling, bits 109-0 payload
# ------------------------------------------------------------------------------------------------

_BIAS = 6176
_MAX_COEFFICIENT = 10**34 - 1
_MAX_EXPONENT = 6111
_MIN_EXPONENT = -6176
_MAX_PAYLOAD = 10**33 - 1
_NULL_DECIMAL = (0x7C00_0000_0000_0000, 0xAA)


def decimal_from_bits(high: int, low: int) -> Decimal:
    """The number in 128 bits, exactly, with its sign and exponent."""
    return Decimal(_parts(high, low))  # type: ignore[arg-type]  # The exponent may be a letter.


def _parts(high: int, low: int) -> Tuple[int, Tuple[int, ...], Union[int, str]]:
    sign = high >> 63
    if high >> 61 & 3 == 3:
        if high >> 59 & 15 == 15:
            if high >> 58 & 1 == 0:
                return sign, (0,), "F"
            payload = (high & 0x3FFF_FFFF_FFFF) << 64 | low
            digits = _digits(payload) if 0 < payload <= _MAX_PAYLOAD else ()
            return sign, digits, "N" if high >> 57 & 1 else "n"
        return sign, (0,), (high >> 47 & 0x3FFF) - _BIAS
    coefficient = (high & 0x1_FFFF_FFFF_FFFF) << 64 | low
    if coefficient > _MAX_COEFFICIENT:
        coefficient = 0
    return sign, _digits(coefficient), (high >> 49 & 0x3FFF) - _BIAS


def decimal_to_bits(value: Decimal) -> Tuple[int, int]:
    """High and low 64 bits. Never rounds: LimitExceeded if 34 digits cannot express the value.

    A zero with an exponent out of range takes the nearest exponent.
    """
    sign, digits, written = value.as_tuple()
    exponent: Union[int, str] = written
    top = sign << 63
    if exponent == "F":
        return top | 0x7800_0000_0000_0000, 0
    text = "".join(map(str, digits))
    if exponent in ("n", "N"):
        if len(text) > 33:
            raise LimitExceeded(f"{value} has more digits than a Decimal128")
        payload = int(text or "0")
        top |= 0x7E00_0000_0000_0000 if exponent == "N" else 0x7C00_0000_0000_0000
        return top | payload >> 64, payload & 0xFFFF_FFFF_FFFF_FFFF
    assert isinstance(exponent, int)
    zeros = len(text) - len(text.rstrip("0"))
    if zeros == len(text):
        text = "0"
        exponent = min(max(exponent, _MIN_EXPONENT), _MAX_EXPONENT)
    else:
        # Moving zeros between the end of the coefficient and the exponent does not change the number.
        surplus = max(len(text) - 34, _MIN_EXPONENT - exponent)
        if surplus > zeros:
            raise LimitExceeded(f"{value} has more digits than a Decimal128")
        if surplus > 0:
            text = text[:-surplus]
            exponent += surplus
        missing = exponent - _MAX_EXPONENT
        if len(text) + missing > 34 and missing > 0:
            raise LimitExceeded(f"{value} is too large for a Decimal128")
        if missing > 0:
            text += "0" * missing
            exponent = _MAX_EXPONENT
    coefficient = int(text)
    return top | (exponent + _BIAS) << 49 | coefficient >> 64, coefficient & 0xFFFF_FFFF_FFFF_FFFF


def _digits(number: int) -> Tuple[int, ...]:
    return tuple(map(int, str(number)))


# ------------------------------------------------------------------------------------------------
# Calls with an output argument
# ------------------------------------------------------------------------------------------------


def get_value(pointer: int, function: Callable[..., bool], *arguments: Any) -> Any:
    """Calls function(pointer, *arguments, out_value)."""
    scratch = _take()
    try:
        if not function(pointer, *arguments, scratch[1]):
            fail()
        return _decode(scratch[0])
    finally:
        _spare.append(scratch)


def get_property(pointer: int, key: int) -> Any:
    """The value of a single-valued property. The same as get_value(pointer, lib.realm_get_value, key), in fewer steps,
    because programs read most single values this way."""
    try:
        scratch = _spare.pop()
    except IndexError:
        scratch = _take()
    try:
        if not lib.realm_get_value(pointer, key, scratch[1]):
            fail()
        return _decode(scratch[0])
    finally:
        _spare.append(scratch)


def get_size(pointer: int, function: Callable[..., bool], *arguments: Any) -> int:
    """Calls function(pointer, *arguments, out_size)."""
    size = c_size_t()
    if not function(pointer, *arguments, ctypes.addressof(size)):
        fail()
    return size.value


def get_flag(pointer: int, function: Callable[..., bool], *arguments: Any) -> bool:
    """Calls function(pointer, *arguments, out_flag)."""
    flag = c_bool()
    if not function(pointer, *arguments, ctypes.addressof(flag)):
        fail()
    return flag.value


def compact_online(realm: int) -> Tuple[int, int]:
    """The sizes of the file before and after crealm_compact_online()."""
    before, after = c_size_t(), c_size_t()
    if not lib.crealm_compact_online(realm, byref(before), byref(after)):
        fail()
    return before.value, after.value


def backup_since(realm: int, previous: Optional[bytes], path: bytes) -> int:
    """The size of the step that crealm_backup_since() wrote."""
    size = c_uint64()
    if not lib.crealm_backup_since(realm, previous, path, byref(size)):
        fail()
    return size.value


def restore(config: int, steps: Sequence[bytes]) -> None:
    check(config, lib.crealm_restore, (c_char_p * len(steps))(*steps), len(steps))


def get_pointer(pointer: int, function: Callable[..., Optional[int]], *arguments: Any) -> int:
    """Calls a function that returns a handle, and NULL only with an error."""
    return function(pointer, *arguments) or fail()


def get_resolved(pointer: int, function: Callable[..., bool], realm: int) -> Optional[int]:
    """Calls function(pointer, realm, out_handle); None if the other realm does not have the object."""
    found = c_void_p()
    check(pointer, function, realm, byref(found))
    return found.value


def most(limit: int) -> int:
    """A limit as a `size_t`: at least 0. TypeError if it is not a whole number."""
    return min(max(0, operator.index(limit)), sys.maxsize)


def check(pointer: int, function: Callable[..., bool], *arguments: Any) -> None:
    """Calls a function that returns false when it fails."""
    if not function(pointer, *arguments):
        fail()


def set_values(pointer: int, keys: Sequence[int], encoded: Sequence[Encoded]) -> None:
    count = len(keys)
    values = (Value * count)(*encoded)
    check(pointer, lib.realm_set_values, count, (c_int64 * count)(*keys), values, False)


set_values.moves = True  # type: ignore[attr-defined]


def find_in_list(pointer: int, encoded: Encoded) -> int:
    """The position of the first element that equals a value; -1 if no element does."""
    return _position(pointer, lib.realm_list_find, encoded)


def find_in_results(pointer: int, encoded: Encoded) -> int:
    """The position of the first row that equals a value; -1 if no row does."""
    return _position(pointer, lib.realm_results_find, encoded)


def _position(pointer: int, function: Callable[..., bool], encoded: Encoded) -> int:
    index, found = c_size_t(), c_bool()
    if not function(pointer, byref(encoded), ctypes.addressof(index), ctypes.addressof(found)):
        fail()
    return index.value if found.value else -1


def find_in_set(pointer: int, encoded: Encoded) -> bool:
    return get_flag(pointer, lib.realm_set_find, encoded, None)


def find_in_dictionary(pointer: int, key: Encoded) -> Tuple[bool, Any]:
    """Whether the dictionary has a key, and the value of the key; None without it."""
    scratch = _take()
    found = c_bool()
    try:
        if not lib.realm_dictionary_find(pointer, key, scratch[1], ctypes.addressof(found)):
            fail()
        return found.value, _decode(scratch[0]) if found.value else None
    finally:
        _spare.append(scratch)


def get_dictionary_pair(pointer: int, index: int) -> Tuple[str, Any]:
    key, value = _take(), _take()
    try:
        if not lib.realm_dictionary_get(pointer, index, key[1], value[1]):
            fail()
        return _decode(key[0]), _decode(value[0])
    finally:
        _spare.extend((key, value))


def aggregate(pointer: int, function: Callable[..., bool], property_key: int) -> Any:
    """Calls function(results, property, out_value, out_found); None if no row has a value."""
    scratch = _take()
    try:
        if not function(pointer, property_key, scratch[1], None):
            fail()
        return _decode(scratch[0])
    finally:
        _spare.append(scratch)


def find_pointer(pointer: int, function: Callable[..., Optional[int]], *arguments: Any) -> Optional[int]:
    """Calls a function that searches, and returns a handle, or NULL without an error if it finds nothing: None."""
    return function(pointer, *arguments) or find_again(pointer, function, *arguments)


def find_again(pointer: int, function: Callable[..., Optional[int]], *arguments: Any) -> Optional[int]:
    """Repeats a call that returned NULL. First clears the last error, so that an older error is not taken for one of
    this call."""
    lib.realm_clear_last_error()
    found = function(pointer, *arguments)
    error = None if found else last_error()
    if error:
        raise error
    return found or None


def describe_query(query: int) -> str:
    text = lib.realm_query_get_description(query)
    if text is None:
        fail()
    return str(text.decode("utf-8"))


class Arguments:
    """The arguments `$0`, `$1` … of a query, each a value or a list of values, and the memory that they point to."""

    __slots__ = ("array", "count", "memory")

    def __init__(self, arguments: Sequence[Union[Encoded, List[Encoded]]]) -> None:
        self.count = len(arguments)
        self.array = (QueryArgument * max(self.count, 1))()
        self.memory: List[Any] = [arguments]
        for out, argument in zip(self.array, arguments):
            out.is_list = isinstance(argument, list)
            elements = argument if isinstance(argument, list) else [argument]
            values = (Value * max(len(elements), 1))(*elements)
            self.memory.append(values)
            out.count = len(elements)
            out.values = ctypes.addressof(values)


def get_version(realm: int) -> int:
    """The number of the snapshot; 0 outside any transaction."""
    version = VersionId()
    found = c_bool()
    if not lib.realm_get_version_id(realm, ctypes.addressof(found), byref(version)):
        fail()
    return version.version if found.value else 0


def get_descriptor(scheduler: int) -> int:
    """The file descriptor that is readable while work waits for the scheduler's thread."""
    descriptor = c_int()
    if not lib.crealm_scheduler_get_fd(scheduler, byref(descriptor)):
        fail()
    return descriptor.value


FAULT_KINDS = {1: "node", 2: "space", 3: "tree", 4: "column", 5: "value", 6: "link", 7: "index"}


def find_faults(realm: int, limit: int) -> Tuple[List[Tuple[str, Optional[str], Optional[str], Optional[int], int, str]], int]:
    """The first `limit` faults of the snapshot (kind, class, property, object key, offset, text), and the number of
    all faults."""
    block, count, total = c_void_p(), c_size_t(), c_size_t()
    if not lib.crealm_find_faults(realm, limit, byref(block), byref(count), byref(total)):
        fail()
    try:
        faults = (FaultInfo * count.value).from_address(block.value) if block.value else ()
        found = [
            (
                FAULT_KINDS.get(f.kind, str(f.kind)),
                _name(f.class_name),
                _name(f.property),
                None if f.object < 0 else f.object,
                f.offset,
                _name(f.message) or "",
            )
            for f in faults
        ]
    finally:
        lib.realm_free(block)
    return found, total.value


def take_text(function: Callable[..., bool], *arguments: Any) -> bytes:
    """Calls function(*arguments, out_text), and returns the text after it has freed the library's buffer."""
    block = c_void_p()
    if not function(*arguments, byref(block)):
        fail()
    try:
        return ctypes.string_at(block.value) if block.value else b""
    finally:
        lib.realm_free(block)


def _name(name: Optional[bytes]) -> Optional[str]:
    return None if name is None else name.decode("utf-8", "replace")


SPACE_KINDS = ("", "values", "backlinks", "index", "objects", "schema", "history", "free", "management")


def space(realm: int) -> List[Tuple[str, Optional[str], Optional[str], int]]:
    """The parts of the file (kind, class, property, bytes), the largest first."""
    block, count, total = c_void_p(), c_size_t(), c_uint64()
    if not lib.crealm_get_space(realm, byref(block), byref(count), byref(total)):
        fail()
    try:
        parts = (SpaceInfo * count.value).from_address(block.value) if block.value else ()
        return [(SPACE_KINDS[p.kind], _name(p.class_name), _name(p.property), p.bytes) for p in parts]
    finally:
        lib.realm_free(block)


NODE_ROLES = ("", "top", "tables", "table", "cluster", "column", "collection", "part")
PART_KINDS = ("", "value", "reference", "null", "key")
WHOLE = ctypes.c_size_t(-1).value


def location(
    obj: int, key: int, index: int
) -> Tuple[List[Tuple[str, int, int, Optional[int]]], List[Tuple[str, int, int, int, int, Optional[int], int]], Optional[int]]:
    """The location of a value of an object: nodes (role, offset, size, element), parts (kind, node, offset, first
    bit, bits, page, offset in the file), and the size of a page."""
    block = c_void_p()
    if not lib.crealm_value_location(obj, key, index, byref(block)):
        fail()
    try:
        found = LocationInfo.from_address(block.value or 0)
        nodes = [(NODE_ROLES[n.role], n.offset, n.size, None if n.element < 0 else n.element) for n in found.nodes[: found.num_nodes]]
        parts = [
            (PART_KINDS[p.kind], p.node, p.offset, p.first_bit, p.bits, None if p.page < 0 else p.page, p.offset if p.page < 0 else p.file_offset)
            for p in found.parts[: found.num_parts]
        ]
        return nodes, parts, found.page_size or None
    finally:
        lib.realm_free(block)


ACCESSES = ("scan", "index", "words", "rows", "nothing")


def explain(query: int) -> Tuple[str, int, int, int, int, str]:
    """How a query finds its rows: access, key of the property whose index it uses (-1: no index), objects, tested,
    found, the text of the query."""
    plan = QueryPlan()
    if not lib.crealm_query_explain(query, byref(plan)):
        fail()
    return ACCESSES[plan.access], plan.property, plan.objects, plan.tested, plan.found, describe_query(query)


def pinned_versions(realm: int) -> List[Tuple[int, int, int, int, int]]:
    """For each pin: version, microseconds since 1970, process, thread, and bytes that the pin keeps from reuse."""
    count, room = c_size_t(), 64
    while True:
        pins = (PinnedInfo * room)()
        if not lib.crealm_versions(realm, pins, room, byref(count)):
            fail()
        if count.value <= room:
            break
        room = 2 * count.value
    return [
        (
            p.version,
            p.since_seconds * 1_000_000 + p.since_nanoseconds // 1000,
            p.process_id,
            p.thread_id,
            p.held_bytes,
        )
        for p in pins[: count.value]
    ]


# ------------------------------------------------------------------------------------------------
# Reading the changes that a callback receives: only inside the callback
# ------------------------------------------------------------------------------------------------


def read_object_changes(changes: int) -> Tuple[List[int], bool]:
    """The keys of the changed properties, and whether the object was deleted."""
    number = lib.realm_object_changes_get_num_modified_properties(changes)
    keys = (c_int64 * max(number, 1))()
    number = lib.realm_object_changes_get_modified_properties(changes, keys, number)
    return keys[:number], lib.realm_object_changes_is_deleted(changes)


def read_collection_changes(changes: int) -> Tuple[Any, ...]:
    """Positions of deletions, insertions, modifications (before and after the change), moves as pairs; whether the
    collection was cleared, and whether it was deleted."""
    deletions, insertions, modifications, moves = [c_size_t() for _ in range(4)]
    cleared, deleted = c_bool(), c_bool()
    lib.realm_collection_changes_get_num_changes(
        changes,
        *[byref(out) for out in (deletions, insertions, modifications, moves, cleared, deleted)],
    )
    counts = [n.value for n in (deletions, insertions, modifications, modifications, moves)]
    arrays = [(c_size_t * max(n, 1))() for n in (*counts[:4], 2 * counts[4])]
    rooms = [part for pair in zip(arrays, counts) for part in pair]
    lib.realm_collection_changes_get_changes(changes, *rooms)
    indices = [tuple(array[:n]) for array, n in zip(arrays, counts[:4])]
    ends = arrays[4][: 2 * counts[4]]
    return (*indices, tuple(zip(ends[::2], ends[1::2])), cleared.value, deleted.value)


def read_dictionary_changes(changes: int) -> Tuple[Any, ...]:
    """Deleted, inserted and modified keys; whether the dictionary was cleared, and whether it was deleted."""
    sizes = [c_size_t() for _ in range(3)]
    cleared, deleted = c_bool(), c_bool()
    lib.realm_dictionary_get_changes(changes, *[byref(size) for size in sizes], byref(deleted))
    arrays = [(Value * max(size.value, 1))() for size in sizes]
    rooms = [part for array, size in zip(arrays, sizes) for part in (array, byref(size))]
    lib.realm_dictionary_get_changed_keys(changes, *rooms, byref(cleared))
    keys = [tuple(_decode(value) for value in array[: size.value]) for array, size in zip(arrays, sizes)]
    return (*keys, cleared.value, deleted.value)


# ------------------------------------------------------------------------------------------------
# Opening and schemas
# ------------------------------------------------------------------------------------------------


class PropertyFacts(NamedTuple):
    """`realm_property_info_t` with values of Python."""

    name: str
    type: int
    collection: int
    target: str
    key: int
    flags: int
    public_name: str = ""
    origin: str = ""
    kind: Optional[Kind] = None  # Set if the model's type differs from the stored one; see `kinds`.
    limit: Any = None  # The only model whose objects the link may lead to; set if the class of the file has others.


class ClassFacts(NamedTuple):
    """`realm_class_info_t` with values of Python, with stored properties and, as `computed`, backlinks."""

    name: str
    primary_key: str
    key: int
    flags: int
    properties: Tuple[PropertyFacts, ...]
    computed: Tuple[PropertyFacts, ...] = ()


class Secret(NamedTuple):
    """The encryption of a file: a key, a passphrase, or neither; and the cipher for the pages of a new file."""

    key: Optional[bytes] = None
    passphrase: Optional[bytes] = None
    page_cipher: Optional[str] = None


def make_secret(
    key: Optional[bytes], passphrase: Union[str, bytes, None], page_cipher: Optional[str], path: str
) -> Secret:
    """Checks the encryption arguments of a program."""
    if isinstance(key, (bytes, bytearray)):
        key = plain_bytes(key)
    if key is not None and (not isinstance(key, bytes) or len(key) != 64):
        raise DataError("The encryption key is 64 bytes", code=3014, path=path)
    if key is not None and passphrase is not None:
        raise DataError("A file has a key or a passphrase, not both", path=path)
    if isinstance(passphrase, str):
        passphrase = encode_text(passphrase)
    elif isinstance(passphrase, (bytes, bytearray)):
        passphrase = plain_bytes(passphrase)
    if passphrase is not None and (not isinstance(passphrase, bytes) or not passphrase):
        raise DataError("The passphrase is a text that is not empty", path=path)
    if page_cipher is not None and page_cipher not in PAGE_CIPHERS:
        raise DataError(f"page_cipher is one of {', '.join(PAGE_CIPHERS)}, not {page_cipher!r}", path=path)
    return Secret(key, passphrase, page_cipher)


def set_secret(config: int, secret: Secret) -> None:
    if secret.key is not None:
        check(config, lib.realm_config_set_encryption_key, secret.key, len(secret.key))
    if secret.passphrase is not None:
        count = len(secret.passphrase)
        check(config, lib.crealm_config_set_passphrase, secret.passphrase, count, 0, 0)
    if secret.page_cipher is not None:
        lib.crealm_config_set_page_cipher(config, PAGE_CIPHERS[secret.page_cipher])


def attend(config: int, attendant: Attendant, timeout: Optional[float]) -> None:
    """Makes long calls ask the attendant whether they continue, and limits how long they wait for other users of the
    file, in seconds."""
    lib.crealm_config_set_progress(config, attendant.asked, None, None)
    lib.crealm_config_set_lock_timeout(config, -1 if timeout is None else round(timeout * 1000))


def make_config(path: bytes, mode: int, secret: Secret, durability: str = "full") -> int:
    """A config handle; the caller releases it."""
    config: int = lib.realm_config_new()
    lib.realm_clear_last_error()
    lib.realm_config_set_path(config, path)
    lib.realm_config_set_schema_mode(config, mode)
    try:
        error = last_error()
        if error:
            raise error
        lib.crealm_config_set_durability(config, DURABILITIES[durability])
        set_secret(config, secret)
    except BaseException:
        lib.realm_release(config)
        raise
    return config


ShouldCompactFunction = Callable[[int, int], bool]


def set_should_compact(config: int, ask: ShouldCompactFunction) -> Tuple[object, List[BaseException]]:
    """Makes opening the config call `ask` with the size of the file and the bytes of it that are in use.
    Returns an object that the caller keeps until the open is over, and a list that gets the exception of `ask`."""
    raised: List[BaseException] = []

    def call(userdata: Any, total: int, used: int) -> bool:
        try:
            return bool(ask(total, used))
        except BaseException as error:  # Must not reach the library; the caller raises it after the open.
            raised.append(error)
            lib.realm_register_user_code_callback_error(1)
            return False

    function = ShouldCompact(call)
    lib.realm_config_set_should_compact_on_launch_function(config, function, None, None)
    return function, raised


Migration = Callable[[int, int, int], bool]


def set_migration(config: int, run: Migration) -> object:
    """Makes opening the config call `run` with the old realm, the new realm and the schema. `run` must not
    raise. The caller keeps the result until the config is released."""

    def call(userdata: Any, old: int, new: int, schema: int) -> bool:
        return run(old, new, schema)

    function = Migrate(call)
    lib.realm_config_set_migration_function(config, function, None, None)
    return function


def make_schema(classes: Sequence[ClassFacts]) -> int:
    """A schema handle; the caller releases it."""
    infos, _, pointers = _schema_structs(tuple(classes))
    schema: int = lib.realm_schema_new(infos, len(infos), pointers) or fail()
    return schema


@functools.lru_cache(maxsize=32)
def _schema_structs(classes: Tuple[ClassFacts, ...]) -> Tuple[Any, Any, Any]:
    """The structs of the classes, those of their properties, and pointers to the latter. The library only reads
    them. They are cached because a program declares the same classes at each opening."""
    infos = (ClassInfo * len(classes))()
    blocks = []
    for info, facts in zip(infos, classes):
        block = (PropertyInfo * (len(facts.properties) + len(facts.computed)))()
        for p, facts_of_property in zip(block, facts.properties + facts.computed):
            p.name = c_name(facts_of_property.name)
            p.public_name = c_name(facts_of_property.public_name)
            p.link_origin_property_name = c_name(facts_of_property.origin)
            p.type = facts_of_property.type
            p.collection_type = facts_of_property.collection
            p.link_target = c_name(facts_of_property.target)
            p.key = INVALID_PROPERTY_KEY
            p.flags = facts_of_property.flags
        blocks.append(block)
        info.name = c_name(facts.name)
        info.primary_key = c_name(facts.primary_key)
        info.num_properties = len(facts.properties)
        info.num_computed_properties = len(facts.computed)
        info.key = INVALID_CLASS_KEY
        info.flags = facts.flags
    pointers = (ctypes.POINTER(PropertyInfo) * len(classes))(
        *[ctypes.cast(block, ctypes.POINTER(PropertyInfo)) for block in blocks]
    )
    return infos, blocks, pointers


def c_name(name: str) -> bytes:
    """A text for C, where it ends at the first NUL; DataError if it contains one."""
    data = encode_text(name)
    if b"\0" in data:
        raise DataError(f"{name!r} has a NUL character in it")
    return data


def read_schema(realm: int) -> List[ClassFacts]:
    """All classes of an open realm, sorted by name."""
    room = lib.realm_get_num_classes(realm)
    keys = (c_uint32 * max(room, 1))()
    count = c_size_t()
    if not lib.realm_get_class_keys(realm, keys, room, byref(count)):
        fail()
    classes = []
    for class_key in keys[: min(room, count.value)]:
        if class_key == INVALID_CLASS_KEY:
            continue  # The schema declares the class, but the file, open for reading only, does not have it.
        info = ClassInfo()
        if not lib.realm_get_class(realm, class_key, byref(info)):
            fail()
        number = info.num_properties + info.num_computed_properties
        block = (PropertyInfo * max(number, 1))()
        if not lib.realm_get_class_properties(realm, class_key, block, number, byref(count)):
            fail()
        properties = tuple(
            PropertyFacts(
                p.name.decode("utf-8"),
                p.type,
                p.collection_type,
                p.link_target.decode("utf-8"),
                p.key,
                p.flags,
            )
            for p in block[: info.num_properties]
        )
        classes.append(
            ClassFacts(
                info.name.decode("utf-8"),
                info.primary_key.decode("utf-8"),
                class_key,
                info.flags,
                properties,
            )
        )
    return classes
