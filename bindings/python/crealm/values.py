"""Value types that Python lacks, or has with a smaller range: ObjectId, Float32, Timestamp, RawTimestamp."""

from __future__ import annotations

import itertools
import os
import struct
import time
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any, NamedTuple, Optional, Tuple, Union


class ObjectId:
    """Twelve bytes, as MongoDB defines them. Immutable, ordered by its bytes.

    ObjectId("507f1f77bcf86cd799439011"), ObjectId(twelve_bytes), or ObjectId() for a new one.
    """

    __slots__ = ("_bytes",)
    _bytes: bytes
    _process = os.urandom(5)
    _counter = itertools.count(int.from_bytes(os.urandom(3), "big"))

    def __init__(self, value: Union[str, bytes, "ObjectId", None] = None) -> None:
        if value is None:
            count = next(self._counter) & 0xFFFFFF
            data = (int(time.time()) & 0xFFFFFFFF).to_bytes(4, "big") + self._process + count.to_bytes(3, "big")
        elif isinstance(value, ObjectId):
            data = value._bytes
        elif isinstance(value, str):
            data = bytes.fromhex(value)
        elif isinstance(value, (bytes, bytearray)):
            data = bytes(value)
        else:
            raise TypeError(f"An ObjectId is made of hex digits or bytes, not of {type(value).__name__}")
        if len(data) != 12:
            raise ValueError(f"An ObjectId has 12 bytes, not {len(data)}")
        object.__setattr__(self, "_bytes", data)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """For pydantic: 24 hexadecimal digits make an ObjectId, and are its form in JSON."""
        from pydantic_core import core_schema

        digits = core_schema.str_schema(pattern="^[0-9a-fA-F]{24}$")
        text = core_schema.no_info_after_validator_function(cls, digits)
        return core_schema.json_or_python_schema(
            json_schema=text,
            python_schema=core_schema.union_schema([core_schema.is_instance_schema(cls), text]),
            serialization=core_schema.to_string_ser_schema(when_used="json"),
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("An ObjectId cannot be changed")

    def __reduce__(self) -> Tuple[object, ...]:
        return ObjectId, (self._bytes,)

    @property
    def bytes(self) -> bytes:
        """The twelve bytes."""
        return self._bytes

    @property
    def hex(self) -> str:
        """24 hexadecimal digits."""
        return self._bytes.hex()

    def __str__(self) -> str:
        return self._bytes.hex()

    def __repr__(self) -> str:
        return f"ObjectId('{self._bytes.hex()}')"

    def __eq__(self, other: object) -> bool:
        return self._bytes == other._bytes if isinstance(other, ObjectId) else NotImplemented

    def __lt__(self, other: "ObjectId") -> bool:
        return self._bytes < other._bytes if isinstance(other, ObjectId) else NotImplemented

    def __le__(self, other: "ObjectId") -> bool:
        return self._bytes <= other._bytes if isinstance(other, ObjectId) else NotImplemented

    def __gt__(self, other: "ObjectId") -> bool:
        return self._bytes > other._bytes if isinstance(other, ObjectId) else NotImplemented

    def __ge__(self, other: "ObjectId") -> bool:
        return self._bytes >= other._bytes if isinstance(other, ObjectId) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._bytes)


def _after_fork_in_child() -> None:
    ObjectId._process = os.urandom(5)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


_SINGLE = struct.Struct("f")


class Float32(float):
    """A 32-bit float: as a type in a schema, and as a value in a property of type Any, where a plain float is
    stored with 64 bits. Rounds to the nearest 32-bit float; OverflowError if the number is too large."""

    __slots__ = ()

    def __new__(cls, value: Any = 0.0) -> "Float32":
        return super().__new__(cls, _SINGLE.unpack(_SINGLE.pack(float(value)))[0])

    def __repr__(self) -> str:
        return f"Float32({float.__repr__(self)})"

    def shortest(self) -> str:
        """The shortest text that makes this value again: "0.1", where str() has 0.10000000149011612."""
        text = float.__repr__(self)
        for digits in range(1, 10):
            shorter = f"{float(self):.{digits}g}"
            try:
                is_same = _SINGLE.unpack(_SINGLE.pack(float(shorter)))[0] == self
            except OverflowError:
                continue  # It rounds to a number that is too large.
            if is_same:
                text = shorter
                break
        return text if not text.lstrip("-").isdigit() else f"{text}.0"

    def __str__(self) -> str:
        return float.__repr__(self)


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)


class Timestamp(datetime):
    """An aware datetime that also has the nanoseconds below its microsecond.

    `nanosecond` is 0 to 999. Equal timestamps have equal nanoseconds; a plain datetime counts as one with
    nanosecond 0. Arithmetic gives whole microseconds.
    """

    __slots__ = ("_nanosecond",)
    _nanosecond: int

    def __new__(cls, *args: Any, nanosecond: int = 0, **kwargs: Any) -> "Timestamp":
        if not 0 <= nanosecond <= 999:
            raise ValueError("nanosecond must be in 0..999")
        self = super().__new__(cls, *args, **kwargs)
        self._nanosecond = nanosecond
        return self

    @classmethod
    def from_ns(cls, ns: int, tz: Optional[tzinfo] = timezone.utc) -> "Timestamp":
        """The point in time that many nanoseconds after 1970-01-01 00:00 UTC."""
        microseconds, rest = divmod(ns, 1000)
        moment = _EPOCH + timedelta(microseconds=microseconds)
        if tz is not timezone.utc:
            moment = moment.astimezone(tz)
        return _restore(*_parts(moment), rest)

    @property
    def nanosecond(self) -> int:
        """Nanoseconds on top of `microsecond`, 0 to 999."""
        return self._nanosecond

    def timestamp_ns(self) -> int:
        """Nanoseconds since 1970-01-01 00:00 UTC, exactly."""
        return timestamp_ns(self)

    def astimezone(self, tz: Optional[tzinfo] = None) -> "Timestamp":
        moved = super().astimezone(tz)
        if moved is self:
            return self
        return Timestamp.replace(moved, nanosecond=self._nanosecond)

    def replace(self, *args: Any, nanosecond: Optional[int] = None, **kwargs: Any) -> "Timestamp":
        changed = datetime.replace(self, *args, **kwargs)
        return _restore(*_parts(changed), self._nanosecond if nanosecond is None else nanosecond)

    def __eq__(self, other: object) -> bool:
        equal = super().__eq__(other)
        if equal is NotImplemented or not equal:
            return equal
        return self._nanosecond == getattr(other, "nanosecond", 0)

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __lt__(self, other: datetime) -> bool:  # type: ignore[override]
        return super().__lt__(other) or (
            super().__eq__(other) is True and self._nanosecond < getattr(other, "nanosecond", 0)
        )

    def __gt__(self, other: datetime) -> bool:  # type: ignore[override]
        return super().__gt__(other) or (
            super().__eq__(other) is True and self._nanosecond > getattr(other, "nanosecond", 0)
        )

    def __le__(self, other: datetime) -> bool:  # type: ignore[override]
        return self < other or self == other

    def __ge__(self, other: datetime) -> bool:  # type: ignore[override]
        return self > other or self == other

    def __hash__(self) -> int:
        plain = super().__hash__()
        return hash((plain, self._nanosecond)) if self._nanosecond else plain

    def __reduce_ex__(self, protocol: Any) -> Tuple[object, ...]:
        return _restore, (*_parts(self), self._nanosecond)


def _parts(moment: datetime) -> Tuple[Any, ...]:
    return (
        moment.year,
        moment.month,
        moment.day,
        moment.hour,
        moment.minute,
        moment.second,
        moment.microsecond,
        moment.tzinfo,
        moment.fold,
    )


def _restore(*parts: Any) -> Timestamp:
    *moment, fold, nanosecond = parts
    return Timestamp(*moment, fold=fold, nanosecond=nanosecond)


class RawTimestamp(NamedTuple):
    """A point in time before year 1 or after year 9999, which datetime cannot express.

    Seconds since 1970-01-01 00:00 UTC and nanoseconds, both with the same sign.
    """

    seconds: int
    nanoseconds: int

    def timestamp_ns(self) -> int:
        """Nanoseconds since 1970-01-01 00:00 UTC, exactly."""
        return self.seconds * 1_000_000_000 + self.nanoseconds


def timestamp_ns(moment: Union[datetime, RawTimestamp]) -> int:
    """Nanoseconds since 1970-01-01 00:00 UTC, exactly. ValueError for a naive datetime."""
    if isinstance(moment, RawTimestamp):
        return moment.timestamp_ns()
    if moment.utcoffset() is None:
        raise ValueError("a datetime without time zone names no point in time")
    return (moment - _EPOCH) // _MICROSECOND * 1000 + getattr(moment, "nanosecond", 0)


def moment_of(ns: int) -> Union[Timestamp, RawTimestamp]:
    """The point in time that many nanoseconds after 1970-01-01 00:00 UTC, also one that datetime cannot express."""
    try:
        return Timestamp.from_ns(ns)
    except OverflowError:
        seconds, rest = divmod(abs(ns), 1_000_000_000)
        return RawTimestamp(seconds, rest) if ns >= 0 else RawTimestamp(-seconds, -rest)
