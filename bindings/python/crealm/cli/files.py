"""backup, compact and rekey: what writes files."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from ..database import Database


def read_key(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def read_passphrase(path: str) -> bytes:
    """The first line, without its end."""
    with open(path, "rb") as file:
        return file.readline().rstrip(b"\r\n")


def add_backup_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("copy", metavar="COPY")
    _add_new_secret(command, required=False, plain="do not encrypt the copy", key="another key for the copy (default: the same)")


def add_key_options(command: argparse.ArgumentParser) -> None:
    _add_new_secret(command, required=True, plain="do not encrypt the file any more", key="the new key")


def _add_new_secret(command: argparse.ArgumentParser, *, required: bool, plain: str, key: str) -> None:
    form = command.add_mutually_exclusive_group(required=required)
    form.add_argument("--new-key", metavar="KEYFILE", help=key)
    form.add_argument("--new-passphrase-file", metavar="TEXTFILE", help="the same with a passphrase, the first line of the file")
    form.add_argument("--plain", action="store_true", help=plain)


def _new_secret(options: argparse.Namespace) -> Any:
    if options.new_passphrase_file is not None:
        return {"passphrase": read_passphrase(options.new_passphrase_file)}
    if options.new_key is not None:
        return {"key": read_key(options.new_key)}
    return {"key": None} if options.plain else {}


def backup(db: Database, options: argparse.Namespace) -> int:
    db.backup(options.copy, **_new_secret(options))
    print(f"{db.path} {os.path.getsize(db.path):,} bytes, copy {os.path.getsize(options.copy):,} bytes")
    return 0


def compact(db: Database, options: argparse.Namespace) -> int:
    before = os.path.getsize(db.path)
    if not db.compact():
        print(f"crealm: {db.path} is in use: it was not compacted", file=sys.stderr)
        return 1
    print(f"{db.path} {before:,} bytes, now {os.path.getsize(db.path):,} bytes")
    return 0


def rekey(db: Database, options: argparse.Namespace) -> int:
    db.change_key(**_new_secret(options))
    print(f"{db.path} has {'no key' if options.plain else 'its new key'}")
    return 0
