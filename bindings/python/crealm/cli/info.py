"""info, check and versions: facts about a file, its faults, and its versions in use. info and check also work for files that cannot be opened."""

from __future__ import annotations

import argparse
from typing import Any, Dict, List, Optional

from ..database import Database
from ..errors import PermissionDenied
from ..examining import Check, FileInfo, Slot, check as check_file, file_info
from ..faults import Faults
from ..opening import open as open_database
from ..versions import PinnedVersion
from .options import DONE, FAILED, FAULTS, Commands, add_file, add_json, add_reading, natural, secret, told
from .output import print_error, print_json, print_table, printable, watched
from .report import Report
from .show import kind_of, text_of


def add(commands: Commands) -> None:
    command = commands.alone("info", info, "print what kind of file it is, how much is in it, who uses it")
    add_file(command)
    add_reading(command)
    command.add_argument("--check", action="store_true", help="check every invariant of the file, too")
    add_json(command)
    command = commands.alone("check", check, "check everything about the file, also one that cannot be opened: its header, and both versions it leads to")
    add_file(command)
    add_reading(command)
    command.add_argument("--report", metavar="DIR", help="write report.html and report.json into a folder: digests, facts, versions, counts, faults, what was not read")
    command.add_argument("--limit", type=natural, default=1000, metavar="N", help="list at most N faults (default: 1000)")
    add_json(command)
    add_json(commands.reader("versions", versions, "print which versions of the file are in use, and by whom"))


def info(options: argparse.Namespace) -> int:
    return told(options, [options.file], lambda: _info(options))


def _info(options: argparse.Namespace) -> int:
    facts = file_info(options.file, **secret(options))
    if facts.use != "none" and facts.kind != "empty":
        with open_database(options.file, mode=options.mode, **secret(options)) as db:
            return _info_of_content(facts, db, options)
    if options.json:
        print_json(_facts_json(facts))
    else:
        print_table(_facts_rows(facts), has_header=False)
    if facts.use == "none":
        print_error(facts.problem or f"{facts.path} cannot be opened")
    return FAILED if facts.use == "none" else DONE


def _info_of_content(facts: FileInfo, db: Database, options: argparse.Namespace) -> int:
    count = sum(len(db[name]) for name in db)
    faults = _verified(db) if options.check else None
    if options.json:
        print_json({
            **_facts_json(facts), "snapshot": db.version, "schemaVersion": db.schema_version, "objects": count,
            "classes": [
                {"name": name, "objects": len(db[name]), "properties": len(s.properties), "primaryKey": s.primary_key, "embedded": s.embedded}
                for name, s in db.schema.items()],
            "versions": _versions_json(_pinned(db) or []),
            **({} if faults is None else _faults_json(faults)),
        })  # fmt: skip
        return FAULTS if faults else DONE
    rows = _facts_rows(facts)
    rows += [
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


_KINDS = {"empty": "empty: nothing was ever in it", "encrypted": "encrypted", "other": "no realm file, or its first bytes are damaged"}
_USES = {
    "none": "cannot be opened", "read": "can be read only", "upgrade": "can be read; opening it for writing upgrades it to format 24",
    "write": "can be read and written"}  # fmt: skip


def _facts_rows(facts: FileInfo) -> List[List[str]]:
    """The facts of the file as rows of a table."""
    rows = [["file", facts.path], ["size", f"{facts.file_size:,} bytes"]]
    if facts.kind in _KINDS:
        rows.append(["kind", _KINDS[facts.kind]])
    if facts.kind != "other":
        rows.append(["encryption", _encryption(facts)])
    if facts.kind == "realm":
        form = "none yet" if facts.format is None else str(facts.format)
        rows += [
            ["file format", form + (", written in one piece" if facts.is_streaming else "")],
            ["written by", facts.writer or "unknown"],
            ["history", facts.newest.history or ("unknown" if facts.newest.problem else "none")],
            *([f"header slot {i}", _slot_text(facts, i)] for i in range(2)),
        ]
        if facts.newest.version is not None and facts.newest.version not in [slot.version for slot in facts.slots]:
            rows.append(["newest version", f"{facts.newest.version}, complete; the header does not lead to it yet"])
    rows.append(["use", _USES[facts.use]])
    if facts.problem is not None and facts.use != "none":
        rows.append(["note", facts.problem])
    return rows


def _encryption(facts: FileInfo) -> str:
    if not facts.is_encrypted:
        return "none"
    return f"{facts.cipher or 'unknown cipher'}, {facts.encryption}'s form, opened by a {facts.secret}"


def _slot_text(facts: FileInfo, i: int) -> str:
    slot = facts.slots[i]
    text = {"empty": "empty", "damaged": f"damaged: {slot.problem}", "streaming mark": "empty (the file was written in one piece)", "unknown": "unknown"}.get(slot.state)
    if text is None:
        text = f"version {slot.version}, format {slot.format}, {slot.logical_size or 0:,} bytes"
    return text + (", selected" if i == facts.selected_slot else "")


def _facts_json(facts: FileInfo) -> Dict[str, Any]:
    return {
        "file": facts.path, "size": facts.file_size, "dataSize": facts.data_size, "kind": facts.kind, "use": facts.use, "problem": facts.problem,
        "format": facts.format, "writer": facts.writer, "encrypted": facts.is_encrypted, "encryption": facts.encryption, "cipher": facts.cipher,
        "secret": facts.secret, "streaming": facts.is_streaming, "history": facts.newest.history, "selectedSlot": facts.selected_slot,
        "slots": [_slot_json(slot) for slot in facts.slots], "newest": _slot_json(facts.newest),
    }  # fmt: skip


def _slot_json(slot: Slot) -> Dict[str, Any]:
    return {
        "state": slot.state, "format": slot.format, "topRef": slot.top_ref, "version": slot.version, "logicalSize": slot.logical_size,
        "history": slot.history, "historySchemaVersion": slot.history_schema_version, "problem": slot.problem,
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------
# check
# ------------------------------------------------------------------------------------------------


def check(options: argparse.Namespace) -> int:
    def run() -> int:
        report = Report(options.report, options.file) if options.report is not None else None
        with watched("check") as progress:
            found = check_file(options.file, snapshot=options.mode == "snapshot", limit=options.limit, progress=progress, **secret(options))
        if report is not None:
            report.check(found, options.mode, secret(options))
            report.write()
        if options.json:
            print(found.json)
        else:
            _print_check(found)
        if found.result == "unreadable":
            print_error(found.info.problem or f"{found.info.path} cannot be read")
            return FAILED
        return DONE if found.is_sound else FAULTS

    return told(options, [options.file], run)


def _print_check(found: Check) -> None:
    verdict = {"sound": "sound", "faulty": _faults(found.newest_faults), "unreadable": "not checked"}[found.result]
    print(f"{printable(found.info.path)}: {verdict}")
    if found.versions:
        states = {"sound": "sound", "reused": "parts of it were written over since"}
        rows = [
            [str(v.version), "none yet" if v.slot is None else str(v.slot), "newest" if v.is_newest else "earlier",
             states.get(v.state, _faults(v.fault_count))]
            for v in found.versions]  # fmt: skip
        if found.info.newest.state == "damaged":
            slot = found.info.selected_slot
            rows.insert(0, ["unknown", "" if slot is None else str(slot), "newest", "cannot be read"])
        print_table([["version", "header slot", "", "state"], *rows], indent="  ")
    if found.faults:
        rows = [[fault.kind, str(fault.offset or ""), "" if fault.slot is None else str(fault.slot), str(fault)] for fault in found.faults]
        print_table([["fault", "at byte", "slot", "what"], *rows], indent="  ")
    if found.faults.total > len(found.faults):
        print(f"  … {found.faults.total - len(found.faults):,} more")


def _verified(db: Database) -> Faults:
    with watched("check") as progress:
        return db.verify(progress=progress)


def _faults_json(faults: Faults) -> Dict[str, Any]:
    return {"sound": not faults, "faultCount": faults.total, "faults": [str(fault) for fault in faults]}


def _verdict(faults: Faults) -> str:
    return _faults(faults.total) if faults else "sound"


def _faults(count: int) -> str:
    return f"{count:,} fault{'' if count == 1 else 's'}"


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
    """The versions in use; None without permission to read them."""
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
