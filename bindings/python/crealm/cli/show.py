"""info, check and show: what is in a file, for people."""

from __future__ import annotations

import argparse
import os
from datetime import datetime
from typing import Any, Iterable, Optional, Sequence

from ..collections import Dictionary, List, SetView
from ..database import Database
from ..errors import DataError, PermissionDenied
from ..faults import Faults
from ..objects import Object, Table, cut
from ..schema import ClassSchema

WIDTH = 28  # Of one column.
FAULTS = 3  # The exit code when there are any.


# ------------------------------------------------------------------------------------------------
# info
# ------------------------------------------------------------------------------------------------


def info(db: Database, options: argparse.Namespace) -> int:
    rows = [
        ["file", db.path],
        ["size", f"{os.path.getsize(db.path):,} bytes"],
        ["snapshot", str(db.version)],
        ["schema version", "none" if db.schema_version is None else str(db.schema_version)],
        ["classes", str(len(db.classes))],
        ["objects", f"{sum(len(db[name]) for name in db):,}"],
    ]
    faults = db.verify() if options.check else None
    if faults is not None:
        rows.append(["check", _verdict(faults)])
    print_aligned(rows)
    _print_faults(faults)
    if db.classes:
        print()
        print_aligned(
            [["class", "objects", "properties", "kind"]]
            + [
                [name, f"{len(db[name]):,}", str(len(s.properties)), _kind(s)]
                for name, s in db.schema.items()
            ]
        )
    _print_versions(db)
    return FAULTS if faults else 0


def check(db: Database, options: argparse.Namespace) -> int:
    faults = db.verify()
    print(f"{db.path}: {_verdict(faults)}")
    _print_faults(faults)
    return FAULTS if faults else 0


def _verdict(faults: Faults) -> str:
    return f"{faults.total:,} faults" if faults else "sound"


def _print_faults(faults: Optional[Faults]) -> None:
    for fault in faults or ():
        print(f"  {fault}")
    if faults and faults.total > len(faults):
        print(f"  … {faults.total - len(faults):,} more")


def _print_versions(db: Database) -> None:
    """Who has the file open, and at which versions; what only others may know is left out."""
    try:
        versions = db.versions()
    except PermissionDenied:
        return
    if versions:
        print()
        print_aligned(
            [["version in use", "since", "process", "thread", "bytes held back"]]
            + [
                [str(v.version), _text(v.since), str(v.process_id), str(v.thread_id), f"{v.held_bytes:,}"]
                for v in versions
            ]
        )


def _kind(schema: ClassSchema) -> str:
    if schema.embedded:
        return "embedded"
    return f"primary key {schema.primary_key}" if schema.primary_key else ""


# ------------------------------------------------------------------------------------------------
# show
# ------------------------------------------------------------------------------------------------


def show(db: Database, options: argparse.Namespace) -> int:
    names = db.classes if options.only is None else [db[options.only].name]
    if not names:
        print("no classes")
    for number, name in enumerate(names):
        if number:
            print()
        _show_class(db[name], max(options.limit, 0))
    return 0


def _show_class(table: Table[Any], limit: int) -> None:
    schema, count = table.schema, len(table)
    kind = _kind(schema)
    print(f"{table.name}: {count:,} object{'' if count == 1 else 's'}{', ' + kind if kind else ''}")
    rows = [["property", "type", ""]]
    for name, prop in schema.properties.items():
        marks = ["primary key"] if name == schema.primary_key else []
        marks += [mark for mark in ("indexed", "fulltext") if getattr(prop, mark)]
        rows.append([name, str(prop), ", ".join(marks)])
    print_aligned(rows, indent="  ")
    if not count or not limit:
        return
    print()
    rows = [["#", *schema.properties]]
    for obj in table[:limit]:
        rows.append([str(obj.object_key), *(cell(obj, name) for name in schema.properties)])
    print_aligned(rows, indent="  ", width=WIDTH)
    if count > limit:
        print(f"  … {count - limit:,} more")


def cell(obj: Object, name: str) -> str:
    try:
        return _text(obj[name])
    except DataError as error:
        return f"<{error.message}>"


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return _printable(value)
    if isinstance(value, bytes):
        return f"{len(value)} bytes {value[:8].hex()}" if value else "0 bytes"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").replace("+00:00", "Z")
    if isinstance(value, Object):
        if value._bound().schema.embedded:
            inside = (f"{key}: {_text(value[key])}" for key in value._bound().properties)
            return _joined(inside, "{}", len(value._bound().properties))
        return f"{value.class_name} #{value.object_key}"
    if isinstance(value, Dictionary):
        return _joined((f"{_printable(k)}: {_text(v)}" for k, v in value.items()), "{}", len(value))
    if isinstance(value, (List, SetView)):
        brackets = "{}" if isinstance(value, SetView) else "[]"
        return _joined(map(_text, value), brackets, len(value))
    return str(value)


def _joined(parts: Iterable[str], brackets: str, count: int) -> str:
    """Enough of the parts to fill a column."""
    text, taken = "", 0
    for part in parts:
        text += (", " if taken else "") + part
        taken += 1
        if len(text) > WIDTH:
            break
    room = WIDTH - 2
    if len(text) > room or taken < count:
        tail = f"… ({count})"
        text = text[: room - len(tail)] + tail
    return f"{brackets[0]}{text}{brackets[1]}"


def _printable(text: str) -> str:
    text = text[: WIDTH + 1]
    return "".join(ch if ch.isprintable() else ch.encode("unicode_escape").decode("ascii") for ch in text)


def print_aligned(rows: Sequence[Sequence[str]], indent: str = "", width: Optional[int] = None) -> None:
    """Columns as wide as their widest cell, at most `width`."""
    cells = [[cell if width is None else cut(cell, width) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    for row in cells:
        print((indent + "  ".join(cell.ljust(w) for cell, w in zip(row, widths))).rstrip())

