"""The command line.

crealm info FILE [--check]            what kind of file it is, how much is in it, who uses it
crealm show FILE [--limit N]          classes, properties and the first objects of each
crealm schema FILE                    the classes, as text or as declarations of a language
crealm query FILE 'Person where …'    the objects that meet a query
crealm export FILE OUT                everything, or some classes, as JSON, CSV or SQLite
crealm check FILE                     every invariant of the file
crealm backup FILE COPY               a copy without free space, also of a file in use
crealm compact FILE                   rewrite the file without free space
crealm rekey FILE                     another key, or none

info, show, schema, query, export and check read one version of the file, which other programs may be writing, and change nothing in its folder.
They copy it first: --immutable reads a file that nobody changes in its place. With --evidence they tell the file's SHA-256 before and after, on
the standard error output. The key of an encrypted file is in a file: --key KEYFILE; a passphrase: --passphrase-file FILE.

Exit codes: 0 done; 1 an error, told on the standard error output; 2 wrong arguments; 3 check found faults, or the file changed under --evidence.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import sys
from typing import Any, Callable, Optional, Sequence

from .. import __version__, library_version
from ..database import Database
from ..errors import Error
from ..opening import open as open_database
from . import export, files, query, schema, show

Run = Callable[[Database, argparse.Namespace], int]


def main(arguments: Optional[Sequence[str]] = None) -> int:
    options = _parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        before = _digest(options)
        with open_database(options.file, mode=options.mode, **_secret(options)) as db:
            code: int = options.run(db, options)
        sys.stdout.flush()
        return code if _is_same(options, before) else show.FAULTS
    except BrokenPipeError:
        # Whoever read the output has seen enough; nothing is left to be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Error, OSError) as error:
        print(f"crealm: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="crealm", description="Look into realm files.")
    parser.add_argument("--version", action="version", version=f"crealm {__version__} ({library_version})")
    commands = parser.add_subparsers(dest="command", required=True)

    def reader(name: str, run: Run, help: str) -> argparse.ArgumentParser:
        command = _command(commands, name, run, help)
        command.set_defaults(mode="snapshot")
        command.add_argument(
            "--immutable",
            dest="mode",
            action="store_const",
            const="immutable",
            help="no copy: for a file that nobody changes meanwhile, such as one on a read-only medium",
        )
        command.add_argument("--evidence", action="store_true", help="tell the SHA-256 of the file before and after")
        return command

    def writer(name: str, run: Run, help: str) -> argparse.ArgumentParser:
        command = _command(commands, name, run, help)
        command.set_defaults(mode="rw", evidence=False)
        return command

    info = reader("info", show.info, "print what the file is and how much is in it")
    info.add_argument("--check", action="store_true", help="check every invariant of the file, too")

    first = reader("show", show.show, "print classes, properties and the first objects")
    first.add_argument("--limit", type=int, default=10, metavar="N", help="objects per class (default 10)")
    first.add_argument("--class", dest="only", metavar="NAME", help="only this class")

    schema.add_options(reader("schema", schema.run, "print the classes and properties"))
    query.add_options(reader("query", query.run, "print the objects that meet a query"))
    export.add_options(reader("export", export.run, "write the objects in another format"))
    reader("check", show.check, "check every invariant of the file")
    files.add_backup_options(writer("backup", files.backup, "write a copy without free space"))
    writer("compact", files.compact, "rewrite the file without free space")
    files.add_key_options(writer("rekey", files.rekey, "give the file another key, or none"))
    return parser


def _command(commands: Any, name: str, run: Run, help: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=help)
    command.set_defaults(run=run)
    command.add_argument("file", metavar="FILE")
    secret = command.add_mutually_exclusive_group()
    secret.add_argument("--key", metavar="KEYFILE", help="file with the 64 bytes of the encryption key")
    secret.add_argument("--passphrase-file", metavar="TEXTFILE", help="file whose first line is the passphrase")
    return command


def _secret(options: argparse.Namespace) -> Any:
    if options.passphrase_file is not None:
        return {"passphrase": files.read_passphrase(options.passphrase_file)}
    return {"key": None if options.key is None else files.read_key(options.key)}


def _digest(options: argparse.Namespace) -> Optional[str]:
    if not options.evidence:
        return None
    digest = hashlib.sha256()
    with open(options.file, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _is_same(options: argparse.Namespace, before: Optional[str]) -> bool:
    """Whether the file is what it was before; tells so. True when nobody asked."""
    after = _digest(options)
    if after is not None:
        print(f"sha256 before {before}\nsha256 after  {after}", file=sys.stderr)
        if after != before:
            print(f"crealm: {options.file} changed while it was read", file=sys.stderr)
    return after == before
