"""Downloads of the shown objects as a file. Uses the code of `crealm export`, and a temporary folder that is removed after the file was sent."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Iterator, NamedTuple

from ..cli.carrying import Job as Export
from ..cli.formats import FORMATS
from ..cli.output import counted
from ..errors import DataError
from .queries import Found
from .work import Job

# The media type of each format, and whether it can hold a part of a class.
MEDIA = {
    "csv": ("text/csv; charset=utf-8", True), "json": ("application/json", True), "ndjson": ("application/x-ndjson", True),
    "parquet": ("application/vnd.apache.parquet", False), "arrow": ("application/vnd.apache.arrow.file", False),
    "sqlite": ("application/vnd.sqlite3", False)}  # fmt: skip


class Download(NamedTuple):
    """A file in its own temporary folder. Call `remove` after it was sent; otherwise the folder goes with this object."""

    folder: "tempfile.TemporaryDirectory[str]"
    path: str
    media: str
    name: str

    def remove(self) -> None:
        self.folder.cleanup()


class _View(Export):
    """An export of the objects of a query, in their order."""

    def __init__(self, answer: Found, out: str, job: Job) -> None:
        super().__init__(answer.database, out, [answer.schema.name], lambda done: None)
        self._rows, self._job = answer.rows, job

    def objects(self, table: Any) -> Iterator[Any]:
        return counted(self._rows, lambda done: self._job.check())


def download(answer: Found, kind: str, is_whole: bool, job: Job) -> Download:
    """The objects of a query as a file. DataError for an unknown format, and for a part of a class in a format that holds only whole classes."""
    if kind not in MEDIA:
        raise DataError(f"The format is one of {', '.join(MEDIA)}, not {kind[:20]!r}")
    media, takes_parts = MEDIA[kind]
    if not (is_whole or takes_parts):
        raise DataError(f"{kind} takes a whole class: without a condition and an order", hint="csv, json and ndjson take what is shown.")
    folder, ending = tempfile.TemporaryDirectory(prefix="crealm-browse-"), FORMATS[kind].endings[0]
    found = Download(folder, os.path.join(folder.name, "out" + ending), media, answer.schema.name + ending)
    try:
        whole = Export(answer.database, found.path, [answer.schema.name], lambda done: job.check())
        FORMATS[kind].write(whole if is_whole else _View(answer, found.path, job))
    except BaseException:
        found.remove()
        raise
    return found
