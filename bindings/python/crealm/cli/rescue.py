"""salvage and recover-deleted: print or save data from damaged files and from free space."""

from __future__ import annotations

import argparse
import os

from typing import Any, Dict

from ..rescue import Remain, recover_deleted, salvage
from .options import DONE, FAULTS, Commands, add_file, add_json, add_secret, secret
from .output import WIDTH, json_text, print_json, print_table, printable, watched


def add(commands: Commands) -> None:
    command = commands.alone("salvage", run_salvage, "make a new file of everything that a damaged file still holds")
    command.add_argument("file", metavar="FILE", help="the damaged file; nobody may have it open")
    command.add_argument("out", metavar="OUT", help="the new file, with the same key or passphrase")
    add_secret(command)
    add_json(command, "print what was found and lost as JSON")
    command = commands.alone("recover-deleted", run_recover_deleted, "print deleted objects and former values that still lie in free space")
    add_file(command)
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--ndjson", action="store_true", help="print a line of JSON for each")


def run_salvage(options: argparse.Namespace) -> int:
    with watched("salvage") as progress:
        found = salvage(options.file, options.out, progress=progress, **secret(options))
    if options.json:
        classes = [{**one._asdict(), "properties": [p._asdict() for p in one.properties]} for one in found.classes]
        lost = [one._asdict() for one in found.lost_classes]
        print_json({
            "file": os.path.abspath(options.file), "out": os.path.abspath(options.out), **found._asdict(), "classes": classes,
            "lost_classes": lost})  # fmt: skip
    else:
        for line in found.lines():
            print(printable(line))
    return DONE if found.whole else FAULTS


def run_recover_deleted(options: argparse.Namespace) -> int:
    with watched("search") as progress:
        found = recover_deleted(options.file, progress=progress, **secret(options))
    if options.json:
        print_json({"file": os.path.abspath(options.file), "remains": [_told(one) for one in found]})
    elif options.ndjson:
        for one in found:
            print(json_text(_told(one)))
    elif found:
        rows = [[one.kind, one.class_name or (f"{one.resembles}?" if one.resembles else ""), _text(one.key), _text(one.version), str(one.offset), _values(one)] for one in found]
        print_table([["kind", "class", "key", "version", "offset", "values (unproven)"], *rows], width=3 * WIDTH)
    else:
        print("nothing found in free space")
    return DONE


def _told(one: Remain) -> Dict[str, Any]:
    told = one._asdict()
    told["class"], told["bytes"] = told.pop("class_name"), told.pop("size")
    return told


def _text(number: Any) -> str:
    return "" if number is None else str(number)


def _values(one: Remain) -> str:
    return ", ".join([f"{name}={json_text(value)}" for name, value in one.values.items()] + [f"{name} lost" for name in one.lost])
