"""Workbooks of Excel. `_xlsx` describes what export writes; import also takes the workbooks of other programs.

There each sheet is a class, whose first row has the names of the properties. The types of the cells decide the type of
a property. Formulas count as the values that Excel last computed.
"""

from __future__ import annotations

import json
import re
import warnings
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple

from .._rows import integer_of
from .._store import located
from .._xlsx import KEY, LARGEST, MOST_ROWS, OWN, PIECE, SCHEMA, TEXTS, Part, write_workbook
from ..errors import DataError, Error, NotSupportedError
from ..schema import ClassSchema, Prop
from ..values import Float32, Timestamp, timestamp_ns
from .carrying import Job, Row, Source
from .csv_files import content_of
from .exact import Named, Reader, Ref, Wanted, all_properties, plain_name, schema_of_json

_CUT = re.compile(r"… \[\$texts ([0-9]{1,7})\]\Z")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
_CODE = re.compile("0{2,}")  # The format of numbers that are codes: 00501.
_FIXED = re.compile(r"0(?:\.(0+))?")


def write_xlsx(job: Job) -> None:
    parts = [Part(table._bound(), job.objects(table), len(table)) for table in job.tables if not table.schema.embedded]
    schema = {declared.name: declared for declared in job.classes()}
    job.lost += write_workbook(job.out, parts, schema, job.version)


def _openpyxl() -> Any:
    try:
        import openpyxl  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise NotSupportedError("Reading .xlsx needs openpyxl", hint="pip install 'crealm[xlsx]'") from None
    return openpyxl


class _Cell(NamedTuple):
    """A cell that is not empty. format: how Excel shows a number."""

    value: Any  # str, bool, int, float, or an aware datetime.
    format: str


class XlsxSource(Source):
    """A workbook. It is read row by row."""

    def __init__(self, path: str, class_name: Optional[str] = None) -> None:
        self._path, self._package = path, _openpyxl()
        open(path, "rb").close()  # Raises a better error if the file cannot be opened.
        load = self._package.load_workbook
        self._book: Any = self._asked(lambda: load(path, read_only=True, data_only=True, keep_links=False))
        self._texts: Optional[Dict[int, str]] = None
        try:
            names: List[str] = [sheet.title for sheet in self._book.worksheets]
            self._classes = {name: name for name in names if name not in OWN}
            if SCHEMA in names:
                self._read_schema()
            elif class_name is not None:
                if len(self._classes) != 1:
                    raise DataError(f"{path} has {len(self._classes)} sheets: --class names the class of a single one")
                self._classes = dict.fromkeys(self._classes, class_name)
            self._has_texts = TEXTS in names
            self._heads = {name: head for name in self._classes if (head := self._head(name)) is not None}
        except BaseException:
            self.close()
            raise
        self._classes = {name: self._classes[name] for name in self._heads}
        if self.schema is None:
            self.class_names = tuple(dict.fromkeys(self._classes.values()))

    def close(self) -> None:
        self._book.close()

    def _asked(self, ask: Callable[[], Any]) -> Any:
        """The result of a call of openpyxl, whose errors about damaged files are of many kinds."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ask()
        except (Error, MemoryError):
            raise
        except Exception as error:
            raise DataError(f"{self._path} is no workbook (.xlsx) that can be read: {error!r}") from error

    def _read_schema(self) -> None:
        text = "".join(str(cell.value) for _, row in self._rows(SCHEMA) for cell in row.values())
        try:
            facts = json.loads(text)
            self.schema, self.version = schema_of_json(facts)
            named = facts["sheets"]
            # A sheet that somebody added is read as a class of the same name, which has to be there.
            self._classes = {name: str(named.get(name, name)) for name in self._classes}
        except DataError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            hint = "Without that sheet the types of the cells decide."
            raise DataError(f"{self._path}: the sheet {SCHEMA} is damaged", hint=hint) from error

    # Cells

    def _rows(self, sheet: str) -> Iterator[Tuple[int, Dict[int, _Cell]]]:
        """The rows that are not empty: the number of each, and its cells by their columns, from 0 on."""
        page = self._book[sheet]
        page.reset_dimensions()  # What a file says of them may be wrong.
        rows = iter(page.iter_rows())
        number = 0
        while (row := self._asked(lambda: next(rows, None))) is not None:
            number += 1
            if number > MOST_ROWS:
                raise DataError(f"{self._path}: sheet {sheet!r} has more than {MOST_ROWS:,} rows")
            found = {}
            for column, cell in enumerate(row):
                if cell.value is not None:
                    made = self._cell(sheet, number, column, cell)
                    if made is not None:
                        found[column] = made
            if found:
                yield number, found

    def _cell(self, sheet: str, row: int, column: int, cell: Any) -> Optional[_Cell]:
        value = cell.value
        if cell.data_type == "e":
            raise DataError(f"{self._place(sheet, row, column)}: {value} is an error of Excel")
        if isinstance(value, str):
            if "_x" in value:
                value = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), value)
            return _Cell(value, "")
        if isinstance(value, (bool, int)):
            return _Cell(value, "" if isinstance(value, bool) else cell.number_format)
        if isinstance(value, float):
            return _Cell(value, cell.number_format)
        if isinstance(value, datetime):
            return _Cell(_in_utc(value), "")
        if isinstance(value, date):
            return _Cell(Timestamp(value.year, value.month, value.day, tzinfo=timezone.utc), "")
        return _Cell(str(value), "")  # A time of day, or a duration.

    def _place(self, sheet: str, row: int, column: int) -> str:
        letters, rest = "", column + 1
        while rest:
            rest, digit = divmod(rest - 1, 26)
            letters = chr(65 + digit) + letters
        return f"{self._path}, sheet {sheet!r}, cell {letters}{row}"

    def _whole(self, text: str) -> str:
        """A text that was too long for its cell."""
        match = _CUT.search(text) if self._has_texts and text.endswith("]") else None
        if match is None or match.start() != PIECE:
            return text
        if self._texts is None:
            self._texts = {
                number: "".join(str(row[column].value) for column in sorted(row)) for number, row in self._rows(TEXTS)
            }
        found = self._texts.get(int(match[1]), "")
        return found if found.startswith(text[: match.start()]) else text

    def _head(self, sheet: str) -> Optional[Dict[int, str]]:
        """The names of the properties by their columns; None for an empty sheet."""
        first = next(self._rows(sheet), None)
        if first is None:
            return None
        number, cells = first
        if number != 1:
            raise DataError(f"{self._path}: the first row of sheet {sheet!r} has no names")
        head = {column: _text_of(cell) for column, cell in cells.items()}
        if len(set(head.values())) != len(head):
            raise DataError(f"{self._path}: a name stands twice in the first row of sheet {sheet!r}")
        return head

    def _lines(self, sheet: str) -> Iterator[Tuple[int, Dict[int, _Cell]]]:
        """The rows below the first one. DataError for a cell in a column without a name."""
        head = self._heads[sheet]
        for number, cells in self._rows(sheet):
            if number == 1:
                continue
            unnamed = next((column for column in cells if column not in head), None)
            if unnamed is not None:
                raise DataError(f"{self._place(sheet, number, unnamed)}: the column has no name in the first row")
            yield number, cells

    # Guessing

    def guess(self) -> Mapping[str, ClassSchema]:
        """Classes whose properties have the types of their cells."""
        return {
            class_name: ClassSchema(class_name, self._guessed(sheet)) for sheet, class_name in self._classes.items()
        }

    def _guessed(self, sheet: str) -> Dict[str, Prop]:
        head = self._heads[sheet]
        kinds: Dict[int, "set[Any]"] = {column: set() for column in head}
        counts = dict.fromkeys(head, 0)
        total = 0
        for _, cells in self._lines(sheet):
            total += 1
            for column, cell in cells.items():
                kinds[column].add(_kind_of(cell))
                counts[column] += 1
        return {
            plain_name(name): Prop(_common(kinds[column]), optional=counts[column] < total)
            for column, name in head.items()
            if name != KEY
        }

    # Reading

    def rows(self, wanted: Wanted = all_properties) -> Iterator[Row]:
        assert self.schema is not None
        reader = Reader(self.schema, wanted)
        for sheet, class_name in self._classes.items():
            if class_name not in self.schema:
                raise DataError(f"{self._path}: there is no class {class_name!r}, as sheet {sheet!r} is called")
            columns = [
                (column, name, reader.prop(class_name, name))
                for column, name in (
                    (column, plain_name(name)) for column, name in self._heads[sheet].items() if name != KEY
                )
                if reader.is_wanted(class_name, name)
            ]
            keys = next((column for column, name in self._heads[sheet].items() if name == KEY), None)
            for number, cells in self._lines(sheet):
                values = {}
                for column, name, prop in columns:
                    try:
                        values[name] = self._value(reader, class_name, name, prop, cells.get(column))
                    except DataError as error:
                        raise located(error, self._place(sheet, number, column)) from error
                yield Row(class_name, None if keys is None else self._key(sheet, number, keys, cells), values)

    def _key(self, sheet: str, row: int, column: int, cells: Dict[int, _Cell]) -> Optional[int]:
        cell = cells.get(column)
        if cell is None:
            return None  # A row that somebody added.
        try:
            return integer_of(cell.value) if isinstance(cell.value, str) else _integer(cell.value)
        except ValueError as error:
            raise DataError(f"{self._place(sheet, row, column)}: {error}") from None

    def _value(self, reader: Reader, class_name: str, name: str, prop: Prop, cell: Optional[_Cell]) -> Any:
        try:
            if cell is not None and not isinstance(cell.value, str):
                return _of_cell(reader, prop, cell)
            if cell is None and prop.collection is None and not prop.optional and prop.type not in (str, bytes):
                raise ValueError("the cell is empty, and the value cannot be missing")
            text = "" if cell is None else self._whole(cell.value)
            if cell is not None and not text and prop.type in (str, bytes) and prop.collection is None:
                return prop.type()  # An empty text is not the same as an empty cell.
            if prop.is_link and prop.collection is None and text and text[0] != "{":
                if reader.schema[prop.type].primary_key is None:
                    return Ref(prop.type, integer_of(text))
            if prop.type is Any and prop.collection is None:
                return None if cell is None else reader.any(json.loads(text)) if text[:1] in ("{", "[", '"') else text
            content = content_of(prop, text, False, reader)
        except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
            raise error if isinstance(error, DataError) else DataError(f"{class_name}.{name}: {error}") from error
        return reader.value(class_name, name, content)


def _in_utc(value: datetime) -> Timestamp:
    return Timestamp.from_ns(timestamp_ns(value.replace(tzinfo=timezone.utc)))


def _text_of(cell: _Cell) -> str:
    """A cell as the text that Excel shows."""
    value = cell.value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and _CODE.fullmatch(cell.format):
        return f"{value:0{len(cell.format)}}"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) <= LARGEST else repr(value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return str(value)


def _kind_of(cell: _Cell) -> Any:
    value = cell.value
    if isinstance(value, int) and not isinstance(value, bool):
        return str if _CODE.fullmatch(cell.format) or not -(2**63) <= value < 2**63 else int
    return datetime if isinstance(value, datetime) else type(value)


def _common(kinds: "set[Any]") -> Any:
    """The type of a column with cells of these types."""
    if kinds == {int, float}:
        return float
    return kinds.pop() if len(kinds) == 1 else str


def _integer(value: Any) -> int:
    if isinstance(value, float) and value.is_integer() or type(value) is int:
        return int(value)
    raise ValueError(f"{value!r} is no integer")


def _of_cell(reader: Reader, prop: Prop, cell: _Cell) -> Any:
    """The value of a property from a cell that is no text."""
    value = cell.value
    if prop.collection is not None:
        raise ValueError(f"{_text_of(cell)} is no {prop.collection} in JSON")
    if prop.is_link:
        target = reader.schema[prop.type]
        if target.primary_key is None:
            return reader.element(prop, {"$ref": _integer(value)})
        return Named(prop.type, _of_cell(reader, target.properties[target.primary_key], cell))
    if prop.type is Any:
        return value
    if prop.type is str:
        return _text_of(cell)
    if isinstance(value, datetime):
        if prop.type is datetime:
            return value
    elif isinstance(value, bool):
        if prop.type is bool:
            return value
    elif prop.type is int:
        return _integer(value)
    elif prop.type is bool and value in (0, 1):
        return bool(value)
    elif prop.type in (float, Float32):
        return prop.type(value)
    elif prop.type is Decimal:
        return _decimal(value, cell.format)
    raise ValueError(f"{_text_of(cell)} is no {'Any' if prop.type is Any else prop.type.__name__}")


def _decimal(value: Any, form: str) -> Decimal:
    """A number as a Decimal, with the places after the point that Excel shows."""
    found = Decimal(repr(value))
    match = _FIXED.fullmatch(form)
    if match is None:
        is_whole = isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST
        return Decimal(int(value)) if is_whole else found
    exact = found.quantize(Decimal(1).scaleb(-len(match[1] or "")))
    return exact if exact == found else found
