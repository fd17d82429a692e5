"""export: writes the objects of a file in another format. Reports losses at the end, that is, values that the format cannot represent."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from contextlib import suppress
from typing import List, Optional

from ..database import Database
from ..errors import DataError, FileExists
from ..examining import check
from .carrying import Job
from .formats import FORMATS, STREAMED, format_of
from .options import DONE, Commands, add_json, secret
from .output import print_error, print_json, progress
from .report import Report


def add(commands: Commands) -> None:
    command = commands.reader("export", run, "write the objects in another format")
    command.add_argument(
        "out", metavar="OUT", help="file to make; a folder for CSV, Parquet, Arrow of several classes; - is the standard output (JSON, NDJSON)")
    command.add_argument("--format", choices=list(FORMATS), help="default: what the ending of OUT says")
    command.add_argument("--class", dest="classes", action="append", metavar="NAME", help="only this class; may be given several times")
    command.add_argument("--report", metavar="DIR", help="check the file, too, and write report.html and report.json into a folder")
    command.add_argument("--xlsx", action="store_const", const="xlsx", dest="format", help="short for --format xlsx: a workbook of Excel, a sheet for each class")
    add_json(command, "tell what was written as JSON")


def run(db: Database, options: argparse.Namespace) -> int:
    kind = format_of(options.out, options.format)
    if options.out == "-" and kind not in STREAMED:
        raise DataError(f"{kind} cannot be written to the standard output")
    if options.out != "-" and os.path.lexists(options.out):
        raise FileExists(f"{options.out} is there already")
    report = _begun(options)
    classes: List[str] = list(dict.fromkeys(options.classes or db.classes))
    count = sum(len(db[name]) for name in classes)
    try:
        with progress(f"export to {kind}", count) as advance:
            job = Job(db, options.out, classes, advance)
            FORMATS[kind].write(job)
    except BaseException:
        _remove(options.out)
        raise
    for what, times in sorted(job.lost.items()):
        print_error(f"{kind} cannot carry {what}: {times:,}")
    if options.json and options.out == "-":
        print_error("--json tells nothing where the objects themselves go to the standard output")
    elif options.json:
        print_json({"format": kind, "out": options.out, "classes": len(classes), "objects": count, "lost": dict(sorted(job.lost.items()))})
    sys.stdout.flush()
    if report is not None:
        report.export(options.out, classes, dict(sorted(job.lost.items())))
        report.write()
    return DONE


def _begun(options: argparse.Namespace) -> Optional[Report]:
    """The report with the result of the check; None if --report is not given."""
    if options.report is None:
        return None
    report = Report(options.report, options.file)
    report.check(check(options.file, snapshot=options.mode == "snapshot", **secret(options)), options.mode, secret(options))
    return report


def _remove(out: str) -> None:
    """Removes the output of a failed export, which did not exist before."""
    if out == "-":
        return
    if os.path.isdir(out):
        shutil.rmtree(out, ignore_errors=True)
    else:
        with suppress(OSError):
            os.remove(out)
