"""salvage: what a damaged file still holds."""

from __future__ import annotations

import argparse
import os

from ..rescue import salvage
from .options import DONE, FAULTS, Commands, add_json, add_secret, secret
from .output import print_json, printable, watched


def add(commands: Commands) -> None:
    command = commands.alone("salvage", run_salvage, "make a new file of everything that a damaged file still holds")
    command.add_argument("file", metavar="FILE", help="the damaged file; nobody may have it open")
    command.add_argument("out", metavar="OUT", help="the new file, with the same key or passphrase")
    add_secret(command)
    add_json(command, "print what was found and lost as JSON")


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
