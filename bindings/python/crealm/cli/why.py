"""why: prints what the bytes of a file are used for, and what would make the file smaller."""

from __future__ import annotations

import argparse
import os
from typing import Dict, List, Optional

from ..database import Database
from ..errors import PermissionDenied
from ..inspection import Space
from .options import DONE, Commands, add_json
from .output import print_json, print_table, watched

_MOST = 20  # Parts that are printed.
_SHRINKING_SIZE = 1 << 20  # With this size, commits make a file shorter when more than half of it is free.


def add(commands: Commands) -> None:
    command = commands.reader("why", why, "print why the file is as large as it is: by class, property, index, history, free space")
    command.add_argument("--all", action="store_true", help=f"print every part, not the {_MOST} largest")
    add_json(command)


def why(db: Database, options: argparse.Namespace) -> int:
    with watched("measure") as progress:
        parts = db.space(progress=progress)
    total, size = sum(part.bytes for part in parts), os.path.getsize(db.path)
    free = sum(part.bytes for part in parts if part.kind == "free")
    held = _held(db)
    if options.json:
        print_json({
            "file": db.path, "size": size, "snapshotSize": total, "freeBytes": free, "heldBytes": held,
            "parts": [{"kind": p.kind, "class": p.class_name, "property": p.property, "bytes": p.bytes} for p in parts],
        })  # fmt: skip
        return DONE
    print_table([["class", "objects", "bytes", "share"], *_classes(db, parts, total)])
    print()
    shown = parts if options.all else parts[:_MOST]
    print_table([["part", "of", "bytes", "share"], *([p.kind, _place(p), f"{p.bytes:,}", _share(p.bytes, total)] for p in shown)])
    if len(shown) < len(parts):
        print(f"… {len(parts) - len(shown):,} more, {sum(p.bytes for p in parts[len(shown) :]):,} bytes")
    print()
    print(f"{total:,} bytes, {free:,} of them free: without these the file would have {total - free:,}")
    if size >= _SHRINKING_SIZE and free > total / 2:
        print("the next commits make the file shorter; `crealm compact --online` does it at once")
    if held:
        print(f"{held:,} bytes that were freed cannot be used again, because versions in use need them: see `crealm versions`")
    return DONE


def _classes(db: Database, parts: List[Space], total: int) -> List[List[str]]:
    sizes: Dict[Optional[str], int] = {}
    for part in parts:
        sizes[part.class_name] = sizes.get(part.class_name, 0) + part.bytes
    return [
        [name or "(none)", f"{len(db[name]):,}" if name in db.classes else "", f"{size:,}", _share(size, total)]
        for name, size in sorted(sizes.items(), key=lambda entry: -entry[1])]  # fmt: skip


def _place(part: Space) -> str:
    return ".".join(name for name in (part.class_name, part.property) if name is not None)


def _share(size: int, total: int) -> str:
    return f"{100 * size / total:.1f} %" if total else ""


def _held(db: Database) -> int:
    """The free bytes that cannot be reused because versions are in use."""
    try:
        return max((version.held_bytes for version in db.versions()), default=0)
    except PermissionDenied:
        return 0
