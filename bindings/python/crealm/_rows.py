"""Rows of values as dictionaries: tuples with names beside them, and CSV files."""

from __future__ import annotations

import csv
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence
from uuid import UUID

from . import _marshal as c
from .errors import DataError
from .schema import BoundClass
from .values import ObjectId


def named_rows(rows: Iterable[Any], names: List[str]) -> Iterator[Dict[str, Any]]:
    """A dictionary for each sequence of values."""
    for number, row in enumerate(rows):
        if not isinstance(row, (tuple, list)):
            raise TypeError(f"Row {number} is no tuple but {type(row).__name__}")
        if len(row) != len(names):
            raise DataError(f"Row {number}: {len(row)} values for {len(names)} columns")
        yield dict(zip(names, row))


def _boolean(text: str) -> bool:
    try:
        return {"true": True, "1": True, "false": False, "0": False}[text.strip().lower()]
    except KeyError:
        raise ValueError(f"{text!r} is neither true nor false") from None


def _time(text: str) -> datetime:
    """A text without a zone means UTC."""
    made = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)
    return made if made.tzinfo else made.replace(tzinfo=timezone.utc)


_READERS: Dict[int, Callable[[str], Any]] = {
    c.P_INT: int,
    c.P_BOOL: _boolean,
    c.P_STRING: str,
    c.P_MIXED: str,
    c.P_BINARY: bytes.fromhex,
    c.P_TIMESTAMP: _time,
    c.P_FLOAT: float,
    c.P_DOUBLE: float,
    c.P_DECIMAL: Decimal,
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
