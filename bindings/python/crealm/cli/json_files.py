"""JSON: one object with an array for each class; NDJSON: an object on each line. Both begin with the schema."""

from __future__ import annotations

import json
import sys
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, TextIO, Tuple

from ..errors import DataError
from .carrying import Job, Row, Source, new_text
from .exact import Exact, Reader, Wanted, all_properties, escaped, plain_name, schema_of_json
from .output import json_text

_PIECE = 1 << 16


def plain_object(obj: Any, exact: Exact) -> Dict[str, Any]:
    """An object as a dictionary for JSON, with its key first."""
    return {"$key": obj.object_key, **exact.object(obj)}


def _to_text(out: str, write: Callable[[TextIO], None]) -> None:
    if out == "-":
        write(sys.stdout)
        return
    with new_text(out) as file:
        write(file)


def write_json(job: Job) -> None:
    def write(file: TextIO) -> None:
        file.write('{\n"$schema": ' + json_text(job.schema()))
        for table in job.tables:
            file.write(",\n" + json_text(escaped(table.name)) + ": [")
            for row, obj in enumerate(job.objects(table)):
                file.write((",\n " if row else "\n ") + json_text(plain_object(obj, job.inside)))
            file.write("\n]")
        file.write("\n}\n")

    _to_text(job.out, write)


def write_ndjson(job: Job) -> None:
    def write(file: TextIO) -> None:
        file.write(json_text({"$schema": job.schema()}) + "\n")
        for table in job.tables:
            for obj in job.objects(table):
                file.write(json_text({"$class": table.name, **plain_object(obj, job.inside)}) + "\n")

    _to_text(job.out, write)


class JsonSource(Source):
    """A JSON or NDJSON source; it is read piece by piece."""

    def __init__(self, path: str, form: str) -> None:
        self._path, self._objects = path, _of_arrays if form == "json" else _of_lines
        first = next(self._parts(), None)
        if first is not None and first[0] is None:
            self.schema, self.version = schema_of_json(first[1])

    def rows(self, wanted: Wanted = all_properties) -> Iterator[Row]:
        assert self.schema is not None
        reader = Reader(self.schema, wanted)
        for name, values in self._parts():
            if name is None or self._is_embedded(name):
                continue
            if not isinstance(values, dict):
                raise DataError(f"{self._path}: an object of {name} is {json_text(values)[:40]}")
            key = values.pop("$key", None)
            yield Row(name, key, reader.object(name, values))

    def _is_embedded(self, name: str) -> bool:
        """Whether a class is embedded. Its objects are skipped: they are read inside their owners. They are also in the file by themselves, for other
        programs that read the JSON."""
        assert self.schema is not None
        declared = self.schema.get(name)
        return declared is not None and declared.embedded

    def _parts(self) -> Iterator[Tuple[Optional[str], Any]]:
        """The objects with their class, and the schema with None."""
        with open(self._path, encoding="utf-8-sig") as file:
            try:
                yield from self._objects(file)
            except (ValueError, RecursionError) as error:
                if isinstance(error, DataError):
                    raise
                raise DataError(f"{self._path} is no JSON as export writes it: {error}") from error


def without_doubles(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    """A JSON object as a dictionary. DataError if a name occurs twice, because it is not clear which value counts."""
    found = dict(pairs)
    if len(found) != len(pairs):
        name = next(name for number, (name, _) in enumerate(pairs) if name in dict(pairs[:number]))
        raise DataError(f"An object has the name {json_text(name)} twice")
    return found


def _of_lines(file: TextIO) -> Iterator[Tuple[Optional[str], Any]]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line, object_pairs_hook=without_doubles)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
        if isinstance(values, dict) and "$schema" in values:
            yield None, values["$schema"]
        elif isinstance(values, dict) and isinstance(values.get("$class"), str):
            yield values.pop("$class"), values
        else:
            raise ValueError(f"line {number}: no object with a $class")


class _Pieces:
    """A parser of JSON that reads the text only as far as needed."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._text, self._at = file, "", 0
        self._decoder = json.JSONDecoder(object_pairs_hook=without_doubles)
        self._is_over = False

    def _more(self) -> bool:
        piece = "" if self._is_over else self._file.read(max(_PIECE, len(self._text) - self._at))
        self._is_over = not piece
        self._text, self._at = self._text[self._at :] + piece, 0
        return bool(piece)

    def next(self) -> str:
        """The next character that is not a space, without consuming it; "" at the end."""
        while True:
            while self._at < len(self._text):
                if not self._text[self._at].isspace():
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def take(self, wanted: str) -> None:
        found = self.next()
        if found != wanted:
            raise ValueError(f"{wanted!r} is expected where {found!r} is")
        self._at += 1

    def value(self) -> Any:
        """Reads a text, an array or an object, whose end is recognised without the next character."""
        if self.next() not in ('"', "{", "["):
            raise ValueError(f"a text, an array or an object is expected where {self.next()!r} is")
        while True:
            try:
                found, self._at = self._decoder.raw_decode(self._text, self._at)
                return found
            except DataError:
                raise
            except ValueError:
                if not self._more():
                    raise


def _of_arrays(file: TextIO) -> Iterator[Tuple[Optional[str], Any]]:
    pieces = _Pieces(file)
    names: Set[str] = set()
    pieces.take("{")
    while pieces.next() != "}":
        name = pieces.value()
        if name in names:
            raise DataError(f"The file has the name {json_text(name)} twice")
        names.add(name)
        pieces.take(":")
        if name == "$schema":
            yield None, pieces.value()
        else:
            pieces.take("[")
            while pieces.next() != "]":
                yield plain_name(name), pieces.value()
                if pieces.next() != "]":
                    pieces.take(",")
            pieces.take("]")
        if pieces.next() != "}":
            pieces.take(",")
    pieces.take("}")
    if pieces.next():
        raise ValueError(f"nothing is expected where {pieces.next()!r} is")
