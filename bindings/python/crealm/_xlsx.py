"""Workbooks of Excel (.xlsx): one sheet for each class. `cli.xlsx_files` reads them.

A sheet has a row with the names of the properties, which stays visible, and a row for each object. Numbers, booleans
and times (in UTC) are cells of these types. Links are primary keys. Collections and embedded objects are JSON (see
`_exact`), in the form of `ByPrimaryKey`. Classes without a primary key have a first column "$key", which links name.

Excel cannot hold everything. These values are texts with a note: integers beyond 2^53, decimals of more than 15
digits, numbers that are not finite, and times before 1900-03-01. A text of more than 32,767 characters is cut; the
whole text is in the sheet "$texts". Times are cut to milliseconds. The sheet "$notes" counts all of this by columns.
The hidden sheet "$schema" has the declarations of the classes, and the class of each sheet.

A text is always written as a text, never as a formula, also if it begins with =, +, - or @.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections import Counter
from datetime import datetime
from decimal import Decimal
from itertools import chain, islice
from math import isfinite
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from ._exact import ByPrimaryKey, escaped, plain_value, schema_json
from ._json import jsonable
from .errors import FileError, FileExists, LimitExceeded, NoSuchProperty, NotSupportedError
from .objects import Object
from .schema import BoundClass, ClassSchema, Prop
from .values import Float32, RawTimestamp, timestamp_ns

SCHEMA, TEXTS, NOTES, KEY = "$schema", "$texts", "$notes", "$key"
OWN = (SCHEMA, TEXTS, NOTES)  # The sheets that are no classes.
MARK = "… [$texts {}]"  # The end of a text that was cut.
FIRST_DAY = 25569  # The number of 1970-01-01 in Excel.
MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
LARGEST = 1 << 53  # Excel has all integers up to this one.
PIECE = 16_000  # Characters of a piece of a long text. Each may have two units of UTF-16.
_LONGEST = 32_767  # UTF-16 units of a cell.
_FIRST_MS, _END_MS = -2_203_891_200_000, 253_402_300_800_000  # 1900-03-01 and 10000-01-01, since 1970.
_DAY_MS = 86_400_000
_DIGITS = 15  # Of a decimal that a number of Excel has exactly.
_NAME = 31  # UTF-16 units of the name of a sheet.
_NOTES = 100  # Cells of a sheet with a note of their own.
_OLDEST = (3, 2, 1)  # Of XlsxWriter.
_ROUNDED = "parts of a millisecond in times (they are cut)"

_Write = Callable[[Any, int, int], None]


class Part(NamedTuple):
    """The objects of a class that a workbook gets."""

    bound: BoundClass
    rows: Iterable[Any]
    length: int  # About how many rows there are.


def writer_package() -> Any:
    """The module that writes workbooks; NotSupportedError if it is not installed."""
    try:
        import xlsxwriter  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise NotSupportedError("Writing .xlsx needs XlsxWriter", hint="pip install 'crealm[xlsx]'") from None
    version: str = xlsxwriter.__version__
    if tuple(map(int, re.findall("[0-9]+", version)[:3])) < _OLDEST:
        # It writes numbers with 16 digits only: see _Digits.
        raise NotSupportedError(
            f"XlsxWriter {version} is too old: it changes numbers", hint="pip install 'crealm[xlsx]'"
        )
    return xlsxwriter


def write_workbook(
    path: str, parts: Sequence[Part], declared: Mapping[str, ClassSchema], version: Optional[int]
) -> "Counter[str]":
    """Writes a new file, row by row: the memory that it takes does not grow with the number of objects. FileExists if
    the path exists; after an error there is no new file.

    declared: the classes for the sheet "$schema". Returns what Excel cannot hold, and how often."""
    package = writer_package()
    if os.path.lexists(path):
        raise FileExists(f"{path} is there already", path=path)
    for part in parts:
        if len(part.bound.schema.properties) + 1 > MOST_COLUMNS:
            raise LimitExceeded(f"{part.bound.name} has more properties than a sheet has columns: {MOST_COLUMNS:,}")
    with tempfile.TemporaryDirectory(prefix="crealm-") as folder:
        made = os.path.join(folder, "made.xlsx")
        book = package.Workbook(made, {"constant_memory": True, "tmpdir": folder})
        try:
            book.use_zip64()
            lost = _Book(book).fill(parts, declared, version)
            book.close()
        except BaseException as error:
            for sheet in book.worksheets():
                sheet.fh.close()  # Its temporary file.
            book.fileclosed = True
            if isinstance(error, package.exceptions.XlsxWriterException):
                raise FileError(f"The workbook cannot be written: {error}", path=path) from error
            raise
        _copy(made, path)
    return lost


def _copy(made: str, path: str) -> None:
    """Copies a file to a path that does not exist."""
    try:
        with open(made, "rb") as source, open(path, "xb") as target:
            try:
                while piece := source.read(1 << 20):
                    target.write(piece)
            except BaseException:
                os.remove(path)
                raise
    except FileExistsError:
        raise FileExists(f"{path} is there already", path=path) from None


class _Digits(float):
    """A number that is written with these digits. XlsxWriter writes 16 digits of other numbers, of which a float may
    have 17."""

    __slots__ = ("digits",)
    digits: str

    def __new__(cls, value: float, digits: str) -> "_Digits":
        self = super().__new__(cls, value)
        self.digits = digits
        return self

    def __format__(self, spec: str) -> str:
        return self.digits


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


class SheetNames:
    """Gives names of sheets to classes: different without regard to case, and as Excel allows them."""

    def __init__(self, *taken: str) -> None:
        self._taken: Set[str] = {name.casefold() for name in (*taken, "History")}

    def name(self, wanted: str) -> str:
        plain = re.sub(r"[\[\]:*?/\\\x00-\x1f\ufffe\uffff]", "_", wanted)
        plain = re.sub(r"^'|'$", "_", plain) or "_"
        number, end = 1, ""
        while True:
            begin = plain
            while _units(begin) + len(end) > _NAME:
                begin = begin[:-1]
            found = re.sub(r"'$", "_", begin + end)
            if found.casefold() not in self._taken:
                self._taken.add(found.casefold())
                return found
            number += 1
            end = f" ({number})"


class _Book:
    def __init__(self, book: Any) -> None:
        self._book = book
        self.lost: Counter[str] = Counter()
        self.head = book.add_format({"bold": True, "bottom": 1})
        self.day, self.second, self.millisecond = (
            book.add_format({"num_format": form})
            for form in ("yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", "yyyy-mm-dd hh:mm:ss.000")
        )
        # So that Excel does not make a number of a text that is edited.
        self.text = book.add_format({"num_format": "@"})
        self._decimals: Dict[int, Any] = {}
        self._names = SheetNames(*OWN)
        self._texts: Any = None
        self._text_count = 0
        self._classes: Dict[str, str] = {}
        self.notes: List[Tuple[str, str, int, str]] = []  # Sheet, column, number of cells, what they have.

    def fill(
        self, parts: Sequence[Part], declared: Mapping[str, ClassSchema], version: Optional[int]
    ) -> "Counter[str]":
        sheets = [
            [self.add_sheet(part.bound) for _ in range(0, max(part.length, 1), MOST_ROWS - 1)] for part in parts
        ]
        for part, own in zip(parts, sheets):
            _fill(self, part, own)
        if self.notes:
            self._add_notes()
        facts = {**schema_json(declared, version), "sheets": self._classes}
        sheet = self._book.add_worksheet(SCHEMA)
        for row, piece in enumerate(_pieces(json.dumps(facts, ensure_ascii=False))):
            self.put(sheet, row, 0, piece)
        if parts:
            sheet.hide()
        return self.lost

    def _add_notes(self) -> None:
        sheet = self._book.add_worksheet(NOTES)
        sheet.freeze_panes(1, 0)
        sheet.set_column(0, 2, 16)
        for column, title in enumerate(("sheet", "column", "cells", "what they have")):
            self.put(sheet, 0, column, title, self.head)
        for row, (name, column_name, count, what) in enumerate(self.notes, 1):
            self.put(sheet, row, 0, name)
            self.put(sheet, row, 1, column_name)
            sheet.write_number(row, 2, count)
            self.put(sheet, row, 3, what)

    def add_sheet(self, bound: BoundClass) -> Any:
        name = self._names.name(bound.name)
        self._classes[name] = bound.in_file.name
        return self._book.add_worksheet(name)

    def decimals(self, places: int) -> Any:
        """The format of a number with so many places after the point."""
        if places not in self._decimals:
            self._decimals[places] = self._book.add_format({"num_format": "0" + "." * bool(places) + "0" * places})
        return self._decimals[places]

    def put(self, sheet: Any, row: int, column: int, text: str, form: Any = None) -> None:
        """Writes a text that is not too long."""
        if text.startswith("<r>") and text.endswith("</r>"):
            # XlsxWriter would take it for the XML of a text with formats.
            sheet.write_rich_string(row, column, text[0], text[1], text[2:], *([] if form is None else [form]))
        else:
            sheet.write_string(row, column, text, form)

    def put_apart(self, text: str) -> str:
        """Writes a long text into a sheet of its own. Returns the text for its cell."""
        if self._texts is None:
            self._texts = self._book.add_worksheet(TEXTS)
        if self._text_count == MOST_ROWS or len(text) > PIECE * MOST_COLUMNS:
            raise LimitExceeded("A workbook cannot hold so many characters of long texts", hint="Use another format.")
        for column, piece in enumerate(_pieces(text)):
            self.put(self._texts, self._text_count, column, piece)
        self._text_count += 1
        return text[:PIECE] + MARK.format(self._text_count)


def _pieces(text: str) -> Iterator[str]:
    for first in range(0, len(text), PIECE):
        yield text[first : first + PIECE]


def _fill(book: _Book, part: Part, sheets: List[Any]) -> None:
    # Without the objects of a snapshot that were deleted.
    rows: Iterator[Any] = (obj for obj in part.rows if obj is not None)
    while True:
        sheet = sheets.pop(0) if sheets else book.add_sheet(part.bound)
        _Page(book, sheet, part.bound).fill(islice(rows, MOST_ROWS - 1))
        following = next(rows, None)
        if following is None:
            break
        rows = chain([following], rows)
    for sheet in sheets:  # There were fewer rows than announced.
        _Page(book, sheet, part.bound).fill(iter(()))


class _Page:
    """Fills a sheet."""

    def __init__(self, book: _Book, sheet: Any, bound: BoundClass) -> None:
        self._book, self._sheet = book, sheet
        self._exact = ByPrimaryKey()
        self._has_key = bound.primary_key is None
        properties = bound.schema.properties
        self._columns: List[Tuple[str, _Write]] = [
            (name, self._writer(properties[facts.name])) for name, facts in bound.properties.items()
        ]
        self._noted: Dict[int, Counter[str]] = {}
        self._notes = 0
        names = [facts.name for facts in bound.properties.values()]
        self._sheet.freeze_panes(1, 0)
        first = [KEY] * self._has_key
        self._names = [*first, *map(escaped, names)]
        for column, name in enumerate(self._names):
            self.put_text(name, 0, column, book.head)
            is_time = column >= len(first) and properties[names[column - len(first)]].type is datetime
            sheet.set_column(column, column, 20 if is_time else min(max(len(name) + 2, 10), 40))

    def fill(self, rows: Iterator[Any]) -> None:
        """Writes the rows, which are no more than the sheet has."""
        first = int(self._has_key)
        for row, obj in enumerate(rows, 1):
            if first:
                self._integer(obj.object_key, row, 0)
            for column, (name, write) in enumerate(self._columns, first):
                try:
                    value = obj[name]
                except NoSuchProperty:
                    continue  # Of another subclass.
                if value is not None:
                    write(value, row, column)
        self._book.notes += [
            (self._sheet.get_name(), self._names[column], count, what)
            for column, counts in self._noted.items()
            for what, count in counts.items()
        ]

    # Cells

    def _writer(self, prop: Prop) -> _Write:
        """The function that writes the values of a property: called as write(value, row, column)."""
        if prop.collection is not None or prop.type is Any:
            return (
                self._any
                if prop.collection is None
                else lambda value, row, column: self._json(prop, value, row, column)
            )
        if prop.is_link:
            return lambda value, row, column: self._link(prop, value, row, column)
        return {
            int: self._integer,
            bool: self._boolean,
            float: self._float,
            Float32: self._single,
            str: self._plain_text,
            datetime: self._time,
            Decimal: self._decimal,
        }.get(prop.type, self._other)

    def _note(self, row: int, column: int, one: str, all_of_them: str) -> None:
        """Notes what a cell has in place of its value: in the cell, if there are not too many notes, and in the sheet
        of notes."""
        self._noted.setdefault(column, Counter())[all_of_them] += 1
        if self._notes < _NOTES:
            self._notes += 1
            self._sheet.write_comment(row, column, one)

    def put_text(self, text: str, row: int, column: int, form: Any = None) -> None:
        if len(text) > _LONGEST // 2 and (count := _units(text)) > _LONGEST:
            text = self._book.put_apart(text)
            said = f"The whole text, {count:,} characters, is in the sheet {TEXTS}."
            self._note(row, column, said, f"beginnings of long texts, whose whole is in the sheet {TEXTS}")
        self._book.put(self._sheet, row, column, text, form)

    def _number(self, value: float, digits: str, row: int, column: int, form: Any = None) -> None:
        self._sheet.write_number(row, column, _Digits(value, digits), form)

    def _boolean(self, value: Any, row: int, column: int) -> None:
        self._sheet.write_boolean(row, column, value)

    def _plain_text(self, value: Any, row: int, column: int) -> None:
        self.put_text(str(plain_value(value)), row, column, self._book.text)

    def _integer(self, value: Any, row: int, column: int) -> None:
        value = int(plain_value(value))
        if -LARGEST <= value <= LARGEST:
            self._number(value, str(value), row, column)
        else:
            self._note(
                row,
                column,
                "A text: Excel would change the digits of so large a number.",
                "texts: integers beyond 2^53",
            )
            self.put_text(str(value), row, column)

    def _float(self, value: Any, row: int, column: int) -> None:
        value = plain_value(value)
        if isfinite(value):
            self._number(value, float.__repr__(value), row, column)
        else:
            self._note(row, column, "A text: Excel has no such number.", "texts: numbers that are not finite")
            self.put_text(str(jsonable(value)), row, column)

    def _single(self, value: Any, row: int, column: int) -> None:
        """A 32-bit float with as few digits as it needs: 0.1, not 0.10000000149011612."""
        if not isfinite(value):
            self._float(value, row, column)
            return
        digits = Float32(value).shortest()
        self._number(value, digits, row, column)

    def _decimal(self, value: Decimal, row: int, column: int) -> None:
        sign, digits, exponent = value.as_tuple()
        if isinstance(exponent, int) and -30 <= exponent <= 0 and len(digits) <= _DIGITS and (any(digits) or not sign):
            self._number(float(value), f"{value:f}", row, column, self._book.decimals(-exponent))
        else:
            what = f"texts: decimals of more than {_DIGITS} digits, or with an exponent"
            self._note(row, column, "A text: Excel would change the digits of such a number.", what)
            self.put_text(str(value), row, column)

    def _time(self, value: Any, row: int, column: int) -> None:
        value = plain_value(value)
        number = None if isinstance(value, RawTimestamp) else timestamp_ns(value)
        milliseconds, rest = (0, 0) if number is None else divmod(number, 1_000_000)
        if number is None or not _FIRST_MS <= milliseconds < _END_MS:
            said = "A text: Excel has only times from 1900-03-01 to 9999-12-31."
            self._note(row, column, said, "texts: times before 1900-03-01 or after 9999")
            self._put_json(jsonable(value), row, column)
            return
        if rest:
            self._book.lost[_ROUNDED] += 1
            self._noted.setdefault(column, Counter())["times without the parts of a millisecond"] += 1
        form = (
            self._book.millisecond
            if milliseconds % 1000
            else self._book.second if milliseconds % _DAY_MS else self._book.day
        )
        serial = FIRST_DAY + milliseconds / _DAY_MS
        self._number(serial, repr(serial), row, column, form)

    def _other(self, value: Any, row: int, column: int) -> None:
        """UUID, ObjectId and bytes."""
        self.put_text(str(jsonable(value)), row, column)

    def _link(self, prop: Prop, value: Object, row: int, column: int) -> None:
        if self._exact.is_inside(value):
            self._json(prop, value, row, column)
            return
        bound = value._bound()
        key = plain_value(value[bound.key_name]) if bound.key_name else value.object_key
        if key is None or isinstance(key, str) and (not key or key[0] == "{"):
            self._put_json({"$primaryKey": key}, row, column)
        elif isinstance(key, int):
            self._integer(key, row, column)
        else:
            self._other(key, row, column)

    def _json(self, prop: Prop, value: Any, row: int, column: int) -> None:
        found = self._exact.of(prop, value)
        if found or prop.collection is None:
            self._put_json(found, row, column)

    def _put_json(self, value: Any, row: int, column: int) -> None:
        self.put_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), row, column)

    def _any(self, value: Any, row: int, column: int) -> None:
        """A value of a property of type Any. A text is JSON, in quotation marks, if it would otherwise be taken for
        JSON."""
        kind = type(value)
        if kind is bool:
            self._boolean(value, row, column)
        elif kind is int and -LARGEST <= value <= LARGEST:
            self._integer(value, row, column)
        elif kind is int:
            self._put_json({"$int": str(value)}, row, column)
        elif kind is float and isfinite(value):
            self._float(value, row, column)
        elif kind is str:
            text = json.dumps(value, ensure_ascii=False) if value[:1] in ("{", "[", '"') else value
            self.put_text(text, row, column, self._book.text)
        elif isinstance(value, datetime) and _is_whole(value):
            self._time(value, row, column)
        else:
            self._put_json(self._exact.any(value), row, column)


def _is_whole(value: datetime) -> bool:
    """Whether Excel has a time exactly."""
    milliseconds, rest = divmod(timestamp_ns(value), 1_000_000)
    return not rest and _FIRST_MS <= milliseconds < _END_MS
