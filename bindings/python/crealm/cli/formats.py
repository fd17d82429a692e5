"""The formats of export and import."""

from __future__ import annotations

import os
from typing import Callable, Dict, NamedTuple, Optional, Tuple

from ..errors import DataError
from . import arrow_files, csv_files, json_files, sqlite_files, xlsx_files
from .carrying import Job, Source


class Format(NamedTuple):
    endings: Tuple[str, ...]
    write: Callable[[Job], None]
    read: Callable[[str, Optional[str]], Source]  # Arguments: a path, and the class if the file does not name it.


FORMATS: Dict[str, Format] = {
    "json": Format((".json",), json_files.write_json, lambda path, name: json_files.JsonSource(path, "json")),
    "ndjson": Format((".ndjson", ".jsonl"), json_files.write_ndjson, lambda path, name: json_files.JsonSource(path, "ndjson")),
    "csv": Format((".csv",), csv_files.write_csv, csv_files.CsvSource),
    "sqlite": Format((".sqlite", ".sqlite3", ".db"), sqlite_files.write_sqlite, lambda path, name: sqlite_files.SqliteSource(path)),
    "xlsx": Format((".xlsx",), xlsx_files.write_xlsx, xlsx_files.XlsxSource),
    "parquet": Format((".parquet",), arrow_files.write_parquet, arrow_files.ParquetSource),
    "arrow": Format((".arrow", ".feather"), arrow_files.write_arrow, arrow_files.IpcSource),
}
# The formats that can use the standard output and input.
STREAMED = ("json", "ndjson")


def format_of(path: str, given: Optional[str]) -> str:
    """The name of the format: the given one, or that of the ending of the path, or, for a folder, that of its files."""
    if given is not None:
        return given
    found = _by_ending(path)
    if found is None and os.path.isdir(path):
        kinds = {_by_ending(file) for file in os.listdir(path)} - {None}
        found = kinds.pop() if len(kinds) == 1 else None
    if found is None:
        raise DataError(f"The ending of {path!r} says no format: --format {', '.join(FORMATS)}")
    return found


def _by_ending(path: str) -> Optional[str]:
    ending = os.path.splitext(path)[1].lower()
    return next((name for name, kind in FORMATS.items() if ending in kind.endings), None)
