"""The command line.

python -m crealm show FILE [--limit N]     classes, properties and the first objects of each
python -m crealm info FILE [--check]       what kind of file it is and how much is in it
python -m crealm backup FILE COPY          a copy without free space, also of a file in use
python -m crealm compact FILE              rewrite the file without free space

show and info read one version of the file, which other programs may be writing, and change nothing in its
folder. They copy it first: --immutable reads a file that nobody changes in its place. The key of an
encrypted file is in a file: --key KEYFILE.
"""

from __future__ import annotations

import argparse
import os
import sys
from datetime import datetime
from typing import Any, Iterable, Optional, Sequence

from . import __version__, library_version
from .collections import Dictionary, List, SetView
from .database import Database
from .errors import DataError, Error, PermissionDenied
from .objects import Object, Table, cut
from .opening import open as open_database
from .schema import ClassSchema

_WIDTH = 28  # Of one column.


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="crealm", description="Look into realm files.")
    parser.add_argument("--version", action="version", version=f"crealm {__version__} ({library_version})")
    commands = parser.add_subparsers(dest="command", required=True)

    show = commands.add_parser("show", help="print classes, properties and the first objects")
    show.add_argument("--limit", type=int, default=10, metavar="N", help="objects per class (default 10)")
    show.add_argument("--class", dest="only", metavar="NAME", help="only this class")
    show.set_defaults(run=_show)

    info = commands.add_parser("info", help="print what the file is and how much is in it")
    info.add_argument("--check", action="store_true", help="check every invariant of the file, too")
    info.set_defaults(run=_info)

    backup = commands.add_parser("backup", help="write a copy without free space")
    compact = commands.add_parser("compact", help="rewrite the file without free space")
    for command in (show, info):
        command.add_argument(
            "--immutable",
            dest="mode",
            action="store_const",
            const="immutable",
            default="snapshot",
            help="no copy: for a file that nobody changes meanwhile, such as one on a read-only medium",
        )
    backup.set_defaults(run=_backup, mode="rw")
    compact.set_defaults(run=_compact, mode="rw")

    for command in (show, info, backup, compact):
        command.add_argument("file", metavar="FILE")
        command.add_argument("--key", metavar="KEYFILE", help="file with the 64 bytes of the encryption key")

    backup.add_argument("copy", metavar="COPY")
    form = backup.add_mutually_exclusive_group()
    form.add_argument("--new-key", metavar="KEYFILE", help="another key for the copy (default: the same)")
    form.add_argument("--plain", action="store_true", help="do not encrypt the copy")

    options = parser.parse_args(arguments)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with open_database(options.file, mode=options.mode, key=_read_key(options.key)) as db:
            code: int = options.run(db, options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever read the output has seen enough; nothing is left to be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Error, OSError) as error:
        print(f"crealm: {error}", file=sys.stderr)
        return 1


def _read_key(path: Optional[str]) -> Optional[bytes]:
    if path is None:
        return None
    with open(path, "rb") as file:
        return file.read()


def _backup(db: Database, options: argparse.Namespace) -> int:
    if options.plain:
        db.backup(options.copy, key=None)
    elif options.new_key:
        db.backup(options.copy, key=_read_key(options.new_key))
    else:
        db.backup(options.copy)
    print(f"{db.path} {os.path.getsize(db.path):,} bytes, copy {os.path.getsize(options.copy):,} bytes")
    return 0


def _compact(db: Database, options: argparse.Namespace) -> int:
    before = os.path.getsize(db.path)
    if not db.compact():
        print(f"crealm: {db.path} is in use: it was not compacted", file=sys.stderr)
        return 1
    print(f"{db.path} {before:,} bytes, now {os.path.getsize(db.path):,} bytes")
    return 0


# ------------------------------------------------------------------------------------------------
# info
# ------------------------------------------------------------------------------------------------


def _info(db: Database, options: argparse.Namespace) -> int:
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
        rows.append(["check", f"{faults.total:,} faults" if faults else "sound"])
    _print_aligned(rows)
    for fault in faults or ():
        print(f"  {fault}")
    if faults and faults.total > len(faults):
        print(f"  … {faults.total - len(faults):,} more")
    if db.classes:
        print()
        _print_aligned(
            [["class", "objects", "properties", "kind"]]
            + [
                [name, f"{len(db[name]):,}", str(len(s.properties)), _kind(s)]
                for name, s in db.schema.items()
            ]
        )
    _print_versions(db)
    return 1 if faults else 0


def _print_versions(db: Database) -> None:
    """Who has the file open, and at which versions; what only others may know is left out."""
    try:
        versions = db.versions()
    except PermissionDenied:
        return
    if versions:
        print()
        _print_aligned(
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


def _show(db: Database, options: argparse.Namespace) -> int:
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
    _print_aligned(rows, indent="  ")
    if not count or not limit:
        return
    print()
    rows = [["#", *schema.properties]]
    for obj in table[:limit]:
        rows.append([str(obj.object_key), *(_cell(obj, name) for name in schema.properties)])
    _print_aligned(rows, indent="  ", width=_WIDTH)
    if count > limit:
        print(f"  … {count - limit:,} more")


def _cell(obj: Object, name: str) -> str:
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
        if len(text) > _WIDTH:
            break
    room = _WIDTH - 2
    if len(text) > room or taken < count:
        tail = f"… ({count})"
        text = text[: room - len(tail)] + tail
    return f"{brackets[0]}{text}{brackets[1]}"


def _printable(text: str) -> str:
    text = text[: _WIDTH + 1]
    return "".join(ch if ch.isprintable() else ch.encode("unicode_escape").decode("ascii") for ch in text)


def _print_aligned(rows: Sequence[Sequence[str]], indent: str = "", width: Optional[int] = None) -> None:
    """Columns as wide as their widest cell, at most `width`."""
    cells = [[cell if width is None else cut(cell, width) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    for row in cells:
        print((indent + "  ".join(cell.ljust(w) for cell, w in zip(row, widths))).rstrip())


if __name__ == "__main__":
    sys.exit(main())
