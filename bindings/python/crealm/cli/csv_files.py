"""CSV: one file for each class, whose first line has the names of properties. CSV files have no schema."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import sys
import threading
from collections import Counter
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Set, TextIO, Tuple
from urllib.parse import unquote

from .._json import jsonable
from .._rows import boolean_of, decimal_of, delimiter_beside, float_of, integer_of
from .._store import located
from ..errors import DataError
from ..objects import Object, Table
from ..schema import ClassSchema, Prop
from ..values import Float32
from .carrying import Job, Row, Source, new_text
from .exact import Exact, Reader, Ref, Wanted, all_properties, escaped, plain_name, read_time
from .output import json_text

_LONGEST = (1 << 31) - 1  # Characters of a field.
_TAKES_NUL = sys.version_info >= (3, 11)  # Whether the module csv can write NUL characters.


# ------------------------------------------------------------------------------------------------
# Writing
# ------------------------------------------------------------------------------------------------


def write_table(file: TextIO, table: Table[Any], objects: Iterable[Any], exact: Exact, lost: "Counter[str]") -> None:
    """Writes a header, then a line for each object that begins with its key."""
    properties = table.schema.properties
    rows = ([str(obj.object_key), *(_text(prop, obj[name], exact, lost) for name, prop in properties.items())] for obj in objects)
    write_lines(file, chain([["$key", *map(escaped, properties)]], rows), lost)


def write_lines(file: TextIO, rows: Iterable[List[str]], lost: "Counter[str]") -> None:
    """Writes a line for each list of fields."""
    lines = csv.writer(file)
    for cells in rows:
        lines.writerow(cells if _TAKES_NUL else [_without_nul(cell, lost) for cell in cells])


def _without_nul(text: str, lost: "Counter[str]") -> str:
    if "\0" in text:
        lost["NUL characters (Python 3.10 takes none)"] += 1
    return text.replace("\0", "")


def _text(prop: Prop, value: Any, exact: Exact, lost: "Counter[str]") -> str:
    """The text of a cell; empty for null."""
    if value is None:
        return ""
    if prop.collection is not None or exact.is_inside(value):
        return json_text(exact.of(prop, value))
    if prop.type is Any:
        return _any_text(exact.any(value))
    if isinstance(value, Object):
        return str(value.object_key)
    if value in ("", b"") and prop.optional:
        lost["empty texts and bytes where null is possible (they look like it)"] += 1
    plain = jsonable(value)
    return plain if isinstance(plain, str) else json.dumps(plain)


def _any_text(value: Any) -> str:
    """The text of a value of type Any. A text is written as JSON, in quotation marks, if it would otherwise be read as another value."""
    if not isinstance(value, str):
        return json_text(value)
    try:
        json.loads(value or "0")
    except (ValueError, RecursionError):
        return value
    return json_text(value)


def write_csv(job: Job) -> None:
    """Writes one file for one class, or a folder with a file for each class."""
    if len(job.tables) == 1 and job.out.lower().endswith(".csv"):
        _write_file(job, job.out, job.tables[0])
        return
    os.mkdir(job.out)
    for table in job.tables:
        _write_file(job, Path(job.out) / f"{file_name(table.name)}.csv", table)


def _write_file(job: Job, path: Any, table: Table[Any]) -> None:
    with new_text(path) as file:
        write_table(file, table, job.objects(table), job.apart, job.lost)


def file_name(name: str) -> str:
    """A file name for a class; characters with a meaning in paths or shells are escaped."""
    return "".join(ch if ch.isalnum() or ch in "-_ " else "".join(f"%{byte:02x}" for byte in ch.encode("utf-8")) for ch in name)


def class_of_file(path: Path) -> str:
    return unquote(path.stem, errors="strict")


# ------------------------------------------------------------------------------------------------
# Reading
# ------------------------------------------------------------------------------------------------


class CsvSource(Source):
    """A CSV file, or a folder of CSV files. Without a schema the types are guessed from the values."""

    def __init__(self, path: str, class_name: Optional[str] = None) -> None:
        self._files: Dict[str, Path] = {}
        folder = Path(path)
        for file in sorted(folder.glob("*.csv")) if folder.is_dir() else [folder]:
            self._files[class_of_file(file) if class_name is None or folder.is_dir() else class_name] = file
        self._inside: Dict[str, Dict[int, Dict[str, Any]]] = {}
        self.class_names = tuple(self._files)

    def guess(self) -> Dict[str, ClassSchema]:
        """Classes whose properties have the types that fit all their values."""
        return {name: ClassSchema(name, _guessed(file, self.delimiter)) for name, file in self._files.items()}

    def rows(self, wanted: Wanted = all_properties) -> Iterator[Row]:
        assert self.schema is not None
        self._inside = {}
        reader = Reader(self.schema, wanted)
        for name, file in self._files.items():
            declared = self.schema.get(name)
            if declared is None:
                raise DataError(f"{file}: there is no class {name!r}")
            if not declared.embedded:
                for number, values in _lines(file, self.delimiter):
                    try:
                        yield self._row(name, values, reader)
                    except DataError as error:
                        raise located(error, f"{file}, line {number}") from error

    def _row(self, name: str, values: Mapping[str, str], reader: Reader, is_part: bool = False) -> Row:
        key = values.get("$key")
        found = {}
        for written, text in values.items():
            called = plain_name(written)
            if written != "$key" and (is_part or reader.is_wanted(name, called)):
                found[called] = self._placed(_read(reader, name, called, text, key is not None), reader)
        return Row(name, None if key is None else _integer(key), found)

    def _placed(self, value: Any, reader: Reader) -> Any:
        """The value with embedded objects, which are in separate files, in place of the links to them."""
        if isinstance(value, Ref) and self.schema is not None and self.schema[value.class_name].embedded:
            return self._embedded(value, reader)
        if isinstance(value, list):
            return [self._placed(element, reader) for element in value]
        return {key: self._placed(element, reader) for key, element in value.items()} if isinstance(value, dict) else value

    def _embedded(self, ref: Ref, reader: Reader) -> Dict[str, Any]:
        """The values of an embedded object. Its line is kept until its owner is read, and used only once."""
        name = ref.class_name
        if name not in self._inside:
            lines = _lines(self._files[name], self.delimiter) if name in self._files else ()
            self._inside[name] = {_integer(values["$key"]): values for _, values in lines}
        values = self._inside[name].pop(ref.key, None)
        if values is None:
            raise DataError(f"There is no {name} with $key {ref.key}, or it has two places")
        return self._row(name, values, reader, is_part=True).values


def _read(reader: Reader, class_name: str, name: str, text: str, are_keys: bool) -> Any:
    try:
        content = content_of(reader.prop(class_name, name), text, are_keys, reader)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{class_name}.{name}: {error}") from error
    return reader.value(class_name, name, content)


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise DataError(f"{text!r} is no key of an object") from None


def content_of(prop: Prop, text: str, are_keys: bool, reader: Reader) -> Any:
    """The content of a cell in the form of JSON. are_keys: whether links are keys of objects, not primary keys."""
    if prop.collection is not None:
        return json.loads(text) if text else {} if prop.collection == "dict" else []
    if not text:
        return "" if prop.type in (str, bytes) and not prop.optional else None
    if prop.type is Any:
        return _anycontent_of(text)
    if prop.is_link and text[0] != "{":
        if are_keys:
            return {"$ref": _integer(text)}
        target = reader.schema[prop.type]
        return text if target.primary_key is None else content_of(target.properties[target.primary_key], text, are_keys, reader)
    if prop.type is int:
        return integer_of(text)
    if prop.type in (float, Float32):
        found = float_of(text)
        return found if math.isfinite(found) else "NaN" if found != found else "Infinity" if found > 0 else "-Infinity"
    if prop.type is Decimal:
        return str(decimal_of(text))
    if prop.type is bool:
        return boolean_of(text)
    if text[0] == "{" and prop.type is not str:
        return json.loads(text)
    return text


def _anycontent_of(text: str) -> Any:
    try:
        found = json.loads(text)
    except ValueError:
        return text
    if type(found) is int and not -(2**63) <= found < 2**63:
        raise ValueError(f"{text} does not fit into 64 bits")
    return found


class _LongFields:
    """Raises the limit of the module csv for the length of fields while files are read. The limit is shared by all threads: it is
    restored when the last reader ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._before = 0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            self._count += 1
            if self._count == 1:
                self._before = csv.field_size_limit(_LONGEST)
        try:
            yield
        finally:
            with self._lock:
                self._count -= 1
                if not self._count:
                    csv.field_size_limit(self._before)


long_fields = _LongFields()


def _lines(path: Path, delimiter: Optional[str], empty: bool = False) -> Iterator[Tuple[int, Dict[str, str]]]:
    """The lines of a file with their numbers, as dictionaries with the names of the first line. empty: also the first line, with empty
    values."""
    with open(path, encoding="utf-8-sig", newline="") as file, long_fields():
        lines = csv.reader(file, strict=True, delimiter=delimiter or ",")  # Strict: a missing quotation mark is an error.
        try:
            header = next(lines, [])
            if len(set(header)) != len(header):
                raise DataError(f"{path}: a name stands twice in the first line")
            mark = delimiter_beside(header) if delimiter is None else None
            if mark is not None:
                raise DataError(
                    f"{path}: the first line has one name, {header[0]!r}, and {mark!r} in it",
                    hint=f"--delimiter '{mark}' where that separates the fields; --delimiter , where it is part of the name.")
            if empty:
                yield 1, dict.fromkeys(header, "")
            for number, line in enumerate(lines, 2):
                if line and len(line) != len(header):
                    raise DataError(f"{path}: {len(line)} fields in line {number}, {len(header)} names")
                if line:
                    yield number, dict(zip(header, line))
        except (csv.Error, UnicodeDecodeError) as error:
            raise DataError(f"{path}: {error}") from error


# ------------------------------------------------------------------------------------------------
# Guessing
# ------------------------------------------------------------------------------------------------


def _guessed(path: Path, delimiter: Optional[str]) -> Dict[str, Prop]:
    """For each column the first type that fits all its values, or text."""
    possible: Dict[str, List[Any]] = {}
    filled: Set[str] = set()
    empty: Set[str] = set()
    for number, values in _lines(path, delimiter, empty=True):
        for name, text in values.items():
            if number == 1:
                possible[name] = list(_GUESSES)
                continue
            left = possible.setdefault(name, list(_GUESSES))
            if text:
                possible[name] = [guess for guess in left if guess[1](text)]
            (filled if text else empty).add(name)
    return {
        plain_name(name): Prop(left[0][0] if left and name in filled else str, optional=name in empty)
        for name, left in possible.items()
        if name != "$key"
    }


# Numbers in the form of JSON. The forms 00501 and +5 would be lost as numbers, and 1_000 is a number only in Python.
_DIGITS = re.compile(r"-?(?:0|[1-9][0-9]*)")
_LONGEST_INT = len(str(-(2**63)))  # int() refuses texts of thousands of digits.
_FLOAT = re.compile(_DIGITS.pattern + r"(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def _is_int(text: str) -> bool:
    return len(text) <= _LONGEST_INT and _DIGITS.fullmatch(text) is not None and text != "-0" and -(2**63) <= int(text) < 2**63


def _is_float(text: str) -> bool:
    if _DIGITS.fullmatch(text):
        return len(text) < 40 and int(float(text)) == int(text)  # An integer must not lose digits as a float.
    return _FLOAT.fullmatch(text) is not None and math.isfinite(float(text))


def _is(read: Callable[[str], Any], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


_GUESSES: List[Any] = [
    (int, _is_int), (float, _is_float), (bool, ("true", "false").__contains__), (datetime, partial(_is, read_time))]
