"""info, check and versions: what kind of file it is, whether it is sound, who uses it."""

from __future__ import annotations

import argparse
import os
from typing import Any, Dict, List, Optional

from ..database import Database
from ..errors import PermissionDenied
from ..faults import Faults
from ..versions import PinnedVersion
from .heading import heading_facts, read_heading
from .options import DONE, FAULTS, Commands, add_json
from .output import print_json, print_table, printable, watched
from .show import kind_of, text_of


def add(commands: Commands) -> None:
    command = commands.reader("info", info, "print what kind of file it is, how much is in it, who uses it")
    command.add_argument("--check", action="store_true", help="check every invariant of the file, too")
    add_json(command)
    add_json(commands.reader("check", check, "check every invariant of the file"))
    add_json(commands.reader("versions", versions, "print which versions of the file are in use, and by whom"))


def info(db: Database, options: argparse.Namespace) -> int:
    heading = read_heading(db.path, options.key is not None or options.passphrase_file is not None)
    size, count = os.path.getsize(db.path), sum(len(db[name]) for name in db)
    faults = _verified(db) if options.check else None
    if options.json:
        print_json({
            "file": db.path, "size": size, "snapshot": db.version, "schemaVersion": db.schema_version, "format": heading.format,
            "encrypted": heading.is_encrypted, "cipher": heading.cipher, "secret": heading.secret, "history": heading.history, "objects": count,
            "classes": [
                {"name": name, "objects": len(db[name]), "properties": len(s.properties), "primaryKey": s.primary_key, "embedded": s.embedded}
                for name, s in db.schema.items()],
            "versions": _versions_json(_pinned(db) or []),
            **({} if faults is None else _faults_json(faults)),
        })  # fmt: skip
        return FAULTS if faults else DONE
    rows = [
        ["file", db.path],
        ["size", f"{size:,} bytes"],
        *([name, text] for name, text in heading_facts(heading).items()),
        ["snapshot", str(db.version)],
        ["schema version", "none" if db.schema_version is None else str(db.schema_version)],
        ["classes", str(len(db.classes))],
        ["objects", f"{count:,}"],
    ]
    if faults is not None:
        rows.append(["check", _verdict(faults)])
    print_table(rows, has_header=False)
    _print_faults(faults)
    if db.classes:
        print()
        kinds = [[name, f"{len(db[name]):,}", str(len(s.properties)), kind_of(s)] for name, s in db.schema.items()]
        print_table([["class", "objects", "properties", "kind"], *kinds])
    pinned = _pinned(db)
    if pinned:
        print()
        _print_versions(pinned)
    return FAULTS if faults else DONE


# ------------------------------------------------------------------------------------------------
# check
# ------------------------------------------------------------------------------------------------


def check(db: Database, options: argparse.Namespace) -> int:
    faults = _verified(db)
    if options.json:
        print_json({"file": db.path, **_faults_json(faults)})
    else:
        print(f"{printable(db.path)}: {_verdict(faults)}")
        _print_faults(faults)
    return FAULTS if faults else DONE


def _verified(db: Database) -> Faults:
    with watched("check") as progress:
        return db.verify(progress=progress)


def _faults_json(faults: Faults) -> Dict[str, Any]:
    return {"sound": not faults, "faultCount": faults.total, "faults": [str(fault) for fault in faults]}


def _verdict(faults: Faults) -> str:
    return f"{faults.total:,} faults" if faults else "sound"


def _print_faults(faults: Optional[Faults]) -> None:
    for fault in faults or ():
        print(printable(f"  {fault}"))
    if faults and faults.total > len(faults):
        print(f"  … {faults.total - len(faults):,} more")


# ------------------------------------------------------------------------------------------------
# versions
# ------------------------------------------------------------------------------------------------


def versions(db: Database, options: argparse.Namespace) -> int:
    pinned = db.versions()
    if options.json:
        print_json({"file": db.path, "snapshot": db.version, "versions": _versions_json(pinned)})
    elif pinned:
        _print_versions(pinned)
    else:
        print("no version is in use")
    return DONE


def _pinned(db: Database) -> Optional[List[PinnedVersion]]:
    """Who has the file open, and at which versions; None where only others may know."""
    try:
        return db.versions()
    except PermissionDenied:
        return None


def _versions_json(pinned: List[PinnedVersion]) -> List[Dict[str, Any]]:
    return [
        {"version": v.version, "since": v.since.isoformat(), "process": v.process_id, "thread": v.thread_id, "heldBytes": v.held_bytes}
        for v in pinned]  # fmt: skip


def _print_versions(pinned: List[PinnedVersion]) -> None:
    rows = [[str(v.version), text_of(v.since), str(v.process_id), str(v.thread_id), f"{v.held_bytes:,}"] for v in pinned]
    print_table([["version in use", "since", "process", "thread", "bytes held back"], *rows])
