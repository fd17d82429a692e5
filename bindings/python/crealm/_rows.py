"""Converts rows to dictionaries: tuples with a list of names, and lines of CSV files."""

from __future__ import annotations

import csv
import re
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence
from uuid import UUID

from . import _marshal as c
from .errors import DataError
from .schema import BoundClass
from .values import ObjectId, Timestamp, timestamp_ns


def named_rows(rows: Iterable[Any], names: List[str]) -> Iterator[Dict[str, Any]]:
    """A dictionary for each sequence of values."""
    for number, row in enumerate(rows):
        if not isinstance(row, (tuple, list)):
            raise TypeError(f"Row {number} is no tuple but {type(row).__name__}")
        if len(row) != len(names):
            raise DataError(f"Row {number}: {len(row)} values for {len(names)} columns")
        yield dict(zip(names, row))


def boolean_of(text: str) -> bool:
    try:
        return {"true": True, "1": True, "false": False, "0": False}[text.strip().lower()]
    except KeyError:
        raise ValueError(f"{text!r} is neither true nor false") from None


_FRACTION = re.compile(r"(?<=[0-9])[.,]([0-9]{7,9})(?![0-9])")


def time_of(text: str) -> datetime:
    """A time in ISO format, with up to nine digits of a second. A text without a time zone is UTC."""
    text = text.strip()
    fraction = _FRACTION.search(text)
    digits = fraction[1].ljust(9, "0") if fraction else ""
    if fraction:
        text = f"{text[: fraction.start()]}.{digits[:6]}{text[fraction.end() :]}"
    made = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text)
    made = made if made.tzinfo else made.replace(tzinfo=timezone.utc)
    return Timestamp.from_ns(timestamp_ns(made) + int(digits[6:]), made.tzinfo) if digits else made


_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)


def integer_of(text: str) -> int:
    """An integer: an optional sign and digits, with leading zeros or without. Other forms of Python, such as 1_000,
    are errors."""
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{text!r} is no integer")
    value = int(text)
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{text} does not fit into 64 bits")
    return value


def float_of(text: str) -> float:
    """A number: an optional sign, digits, a decimal point and an exponent; or nan or inf."""
    if not _NUMBER.fullmatch(text) and not _SPECIAL.fullmatch(text):
        raise ValueError(f"{text!r} is no number")
    return float(text)


def decimal_of(text: str) -> Decimal:
    """As float_of(), but a Decimal."""
    if not _NUMBER.fullmatch(text) and not _SPECIAL.fullmatch(text):
        raise ValueError(f"{text!r} is no number")
    return Decimal(text)


def delimiter_beside(names: Sequence[str]) -> Optional[str]:
    """The character that probably separates the names of a first line, if it was read as one name; else None."""
    return next((mark for mark in ";\t|" if mark in names[0]), None) if len(names) == 1 else None


_READERS: Dict[int, Callable[[str], Any]] = {
    c.P_INT: integer_of,
    c.P_BOOL: boolean_of,
    c.P_STRING: str,
    c.P_MIXED: str,
    c.P_BINARY: bytes.fromhex,
    c.P_TIMESTAMP: time_of,
    c.P_FLOAT: float_of,
    c.P_DOUBLE: float_of,
    c.P_DECIMAL: decimal_of,
    c.P_OBJECT_ID: ObjectId,
    c.P_UUID: UUID,
}


def csv_rows(bound: BoundClass, file: Iterable[str], names: Optional[Sequence[str]]) -> Iterator[Dict[str, Any]]:
    """The lines of a CSV file, each field as a value of its property."""
    lines = csv.reader(file)
    try:
        header = list(names) if names is not None else next(lines)
    except StopIteration:
        return
    mark = delimiter_beside(header) if names is None else None
    if mark is not None:
        raise DataError(
            f"The first line has one name, {header[0]!r}, and {mark!r} in it", hint="Fields are separated by commas: csv.reader() reads others.")
    unnamed = [number for number, name in enumerate(header, 1) if not name]
    if unnamed:
        raise DataError(f"Column {unnamed[0]} of the first line has no name", hint="Leave the column out, or name the columns yourself: columns=[…].")
    facts = [bound.find(name) for name in header]
    for one in facts:
        if one.collection != c.C_NONE or one.type not in _READERS:
            raise DataError(f"{bound.where(one)} cannot be filled from CSV: a field is a single value")
    readers: List[Callable[[str], Any]] = [
        _READERS[one.type] if one.kind is None or one.kind.from_text is None else one.kind.from_text for one in facts
    ]
    optional = [bool(one.flags & c.NULLABLE) for one in facts]
    for number, line in enumerate(lines):
        if not line:
            continue
        if len(line) != len(header):
            raise DataError(f"Row {number}: {len(line)} fields for {len(header)} columns")
        row = {}
        for name, one, read, may_miss, text in zip(header, facts, readers, optional, line):
            try:
                row[name] = None if may_miss and not text else read(text)
            except (ValueError, ArithmeticError) as error:
                raise DataError(f"Row {number}: {bound.where(one)}: {error}") from error
        yield row
