"""The base of all commands: options for the file, its key and how it is opened; exit codes."""

from __future__ import annotations

import argparse
import glob
import hashlib
import os
import sys
from datetime import datetime, timezone
from typing import Any, Callable, List, NamedTuple, Optional

from ..database import Database
from ..examining import file_info
from ..opening import open as open_database
from .output import print_error

DONE, FAILED, WRONG_ARGUMENTS, FAULTS, DIFFERENT, INTERRUPTED = 0, 1, 2, 3, 4, 130

Run = Callable[[Database, argparse.Namespace], int]
RunAlone = Callable[[argparse.Namespace], int]


class Commands:
    """The commands of the parser. Each module adds its commands."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self.parser = parser
        self._parsers: Any = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def reader(self, name: str, run: Run, help: str) -> argparse.ArgumentParser:
        """A command that reads one version of a file and changes nothing."""
        command = self.alone(name, lambda options: read(run, options), help)
        add_file(command)
        add_reading(command)
        add_slot(command)
        return command

    def writer(self, name: str, run: Run, help: str) -> argparse.ArgumentParser:
        """A command that opens a file for writing, like an application."""
        command = self.alone(name, lambda options: write(run, options), help)
        add_file(command)
        return command

    def alone(self, name: str, run: RunAlone, help: str, is_hidden: bool = False) -> argparse.ArgumentParser:
        """A command that opens its files itself."""
        shown = {} if is_hidden else {"help": help}
        command: argparse.ArgumentParser = self._parsers.add_parser(name, description=help[0].upper() + help[1:] + ".", **shown)
        command.set_defaults(run=run)
        return command


def add_file(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", metavar="FILE", help="the realm file")
    add_secret(command)


def add_secret(command: argparse.ArgumentParser) -> None:
    secret = command.add_mutually_exclusive_group()
    secret.add_argument("--key", metavar="KEYFILE", help="file with the 64 bytes of the encryption key")
    secret.add_argument("--passphrase-file", metavar="TEXTFILE", help="file whose first line is the passphrase")


def add_reading(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--immutable", dest="mode", action="store_const", const="immutable", default="snapshot",
        help="no copy: for a file that nobody changes meanwhile, such as one on a read-only medium")
    command.add_argument("--evidence", action="store_true", help="tell the SHA-256 of the file before and after")


def add_slot(command: argparse.ArgumentParser) -> None:
    command.add_argument("--previous", action="store_true", help="read the version before the newest one, if it is still whole")


def slot(options: argparse.Namespace) -> str:
    """The version to read, as the argument `slot` of open()."""
    return "previous" if options.previous else "newest"


def add_json(command: argparse.ArgumentParser, what: str = "print JSON") -> None:
    command.add_argument("--json", action="store_true", help=what)


# ------------------------------------------------------------------------------------------------
# Opening
# ------------------------------------------------------------------------------------------------


def secret(options: argparse.Namespace) -> Any:
    """Key or passphrase of a file, as arguments of open()."""
    return secret_in(options.key, options.passphrase_file)


def secret_in(key: Optional[str], passphrase_file: Optional[str]) -> Any:
    if passphrase_file is not None:
        return {"passphrase": read_passphrase(passphrase_file)}
    return {"key": None if key is None else read_key(key)}


def natural(text: str) -> int:
    """A number that is not negative."""
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def duration(text: str) -> float:
    """Seconds: a number that is not negative, and no NaN."""
    number = float(text)
    if not number >= 0:
        raise ValueError(text)
    return number


def read_key(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(65)  # One byte more than a key has, so that a longer file is refused.


def read_passphrase(path: str) -> bytes:
    """The first line, without its end."""
    with open(path, "rb") as file:
        return file.readline().rstrip(b"\r\n")


def read(run: Run, options: argparse.Namespace) -> int:
    """Calls run() with one version of a file, which is not changed."""

    def opened() -> int:
        with open_database(options.file, mode=options.mode, slot=slot(options), **secret(options)) as db:
            return run(db, options)

    return told(options, [options.file], opened)


def _backup(path: str, format: Optional[int]) -> str:
    """The path of the backup that an upgrade made."""
    start = path[: -len("realm")] if path.endswith(".realm") else f"{path}."
    found = glob.glob(f"{glob.escape(start)}v{format}*.backup.realm")
    return max(found, key=os.path.getmtime) if found else "no backup is there"


def told(options: argparse.Namespace, files: List[str], run: Callable[[], int]) -> int:
    """Calls run(), and then prints the evidence, also if run() fails. FAULTS if a file changed."""
    evidence = Evidence(files if options.evidence else [])
    try:
        code = run()
        sys.stdout.flush()
    except BaseException:
        evidence.holds()
        raise
    return code if evidence.holds() else FAULTS


def write(run: Run, options: argparse.Namespace) -> int:
    """Calls run() with a file that is open for writing."""
    before = file_info(options.file, **secret(options))
    with open_database(options.file, mode="rw", **secret(options)) as db:
        options.upgraded_from = before.format if before.use == "upgrade" else None
        if options.upgraded_from is not None:
            print_error(f"{db.path} was upgraded from format {before.format}; as it was: {_backup(db.path, before.format)}")
        return run(db, options)


class Proof(NamedTuple):
    """Digest, size and modification time of a file at one moment."""

    sha256: str
    size: int
    modified: str  # In UTC, with nanoseconds.

    @classmethod
    def of(cls, path: str) -> Proof:
        about = os.stat(path)
        seconds, nanoseconds = divmod(about.st_mtime_ns, 10**9)
        modified = f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%d %H:%M:%S}.{nanoseconds:09}Z"
        return cls(_digest(path), about.st_size, modified)


class Evidence:
    """Proofs of files before and after they were read."""

    def __init__(self, files: List[str]) -> None:
        self._before = [(file, Proof.of(file)) for file in files]

    def holds(self) -> bool:
        """Whether no file changed; prints the proofs. True without --evidence."""
        is_same = True
        for file, before in self._before:
            after = Proof.of(file)
            for when, proof in ("before", before), ("after ", after):
                print(f"sha256 {when} {proof.sha256}", file=sys.stderr)
                print(f"       {when} {proof.size:,} bytes, modified {proof.modified}", file=sys.stderr)
            if after != before:
                print_error(f"{file} changed while it was read")
                is_same = False
        return is_same


def _digest(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()
