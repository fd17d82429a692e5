"""backup, compact, encrypt, rekey and decrypt: the commands that write whole files."""

from __future__ import annotations

import argparse
import os
from typing import Any, Optional

from ..database import Database
from ..errors import UsageError
from ..examining import file_info
from ..rescue import restore
from .options import DONE, FAILED, Commands, add_json, add_secret, read_key, read_passphrase, secret
from .output import print_error, print_json, printable, watched

_CIPHERS = ("xchacha20", "aes256gcm", "realm")


def add(commands: Commands) -> None:
    command = commands.reader("backup", backup, "write a copy without free space, also of a file in use")
    command.add_argument("copy", metavar="COPY", help="the file to make")
    _add_new_secret(command, required=False, key="another key for the copy (default: the same)", plain="do not encrypt the copy")
    _add_cipher(command, "how the copy is encrypted")
    steps = command.add_mutually_exclusive_group()
    steps.add_argument("--first-step", action="store_true", help="write the first step of a backup in steps")
    steps.add_argument("--since", metavar="STEP", help="write the next step: only what changed since STEP was written")
    add_json(command)
    command = commands.alone("restore", run_restore, "make a file from the steps of a backup")
    command.add_argument("out", metavar="FILE", help="the file to make")
    command.add_argument("steps", metavar="STEP", nargs="+", help="the steps, the first one first")
    add_secret(command)
    add_json(command)
    command = commands.writer("compact", compact, "rewrite the file without free space")
    command.add_argument("--online", action="store_true", help="shorten the file in place, also while other programs use it")
    add_json(command)
    command = commands.writer("encrypt", encrypt, "encrypt a plain file")
    _add_new_secret(command, required=True, key="the key that the file gets")
    _add_cipher(command, "how the file is encrypted")
    add_json(command)
    command = commands.writer("rekey", rekey, "give an encrypted file another key")
    _add_new_secret(command, required=True, key="the new key", plain="do not encrypt the file any more")
    add_json(command)
    add_json(commands.writer("decrypt", decrypt, "make an encrypted file a plain one"))


def _add_new_secret(command: argparse.ArgumentParser, *, required: bool, key: str, plain: Optional[str] = None) -> None:
    form = command.add_mutually_exclusive_group(required=required)
    form.add_argument("--new-key", metavar="KEYFILE", help=key)
    form.add_argument("--new-passphrase-file", metavar="TEXTFILE", help="the same with a passphrase, the first line of the file")
    if plain is not None:
        form.add_argument("--plain", action="store_true", help=plain)


def _add_cipher(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument("--cipher", choices=_CIPHERS, help=f"{what}: xchacha20 (the default), aes256gcm, or realm, which Realm's SDKs open")


def _new_secret(options: argparse.Namespace) -> Any:
    cipher = getattr(options, "cipher", None)
    if options.new_passphrase_file is not None:
        return {"passphrase": read_passphrase(options.new_passphrase_file), "page_cipher": cipher}
    if options.new_key is not None:
        return {"key": read_key(options.new_key), "page_cipher": cipher}
    if getattr(options, "plain", False):
        if cipher is not None:
            raise UsageError("--plain and --cipher exclude each other")
        return {"key": None}
    return {} if cipher is None else {"page_cipher": cipher}  # The copy has the secret of the file.


def backup(db: Database, options: argparse.Namespace) -> int:
    new_secret = _new_secret(options)
    is_step = options.first_step or options.since is not None
    if is_step and new_secret:
        raise UsageError("A step has the key of the file")
    with watched("backup") as progress:
        if is_step:
            db.backup_since(options.since, options.copy, progress=progress)
        else:
            db.backup(options.copy, progress=progress, **new_secret)
    sizes = os.path.getsize(db.path), os.path.getsize(options.copy)
    if options.json:
        print_json({"file": db.path, "size": sizes[0], "copy": os.path.abspath(options.copy), "copySize": sizes[1]})
    else:
        print(printable(f"{db.path} {sizes[0]:,} bytes, copy {sizes[1]:,} bytes"))
    return DONE


def run_restore(options: argparse.Namespace) -> int:
    with watched("restore") as progress:
        restore(options.steps, options.out, progress=progress, **secret(options))
    size = os.path.getsize(options.out)
    if options.json:
        print_json({"file": os.path.abspath(options.out), "size": size, "steps": len(options.steps)})
    else:
        print(printable(f"{options.out} {size:,} bytes, from {len(options.steps)} steps"))
    return DONE


def compact(db: Database, options: argparse.Namespace) -> int:
    before = os.path.getsize(db.path)
    with watched("compact") as progress:
        done = db.shrink(progress=progress) is not None if options.online else db.compact(progress=progress)
    after = os.path.getsize(db.path)
    if options.json:
        print_json({"file": db.path, "compacted": done, "sizeBefore": before, "size": after, "upgradedFrom": options.upgraded_from})
    elif done:
        print(printable(f"{db.path} {before:,} bytes, now {after:,} bytes"))
    if not done:
        print_error(f"{db.path} is in use: it was not compacted")
    return DONE if done else FAILED


def encrypt(db: Database, options: argparse.Namespace) -> int:
    if _is_encrypted(db, options):
        raise UsageError(f"{db.path} is encrypted already", hint="`crealm rekey` gives it another key.")
    return _change(db, options, "encrypted", _new_secret(options))


def rekey(db: Database, options: argparse.Namespace) -> int:
    if not _is_encrypted(db, options):
        raise UsageError(f"{db.path} is not encrypted", hint="`crealm encrypt` gives it a key.")
    return _change(db, options, "has no key" if options.plain else "has its new key", _new_secret(options))


def decrypt(db: Database, options: argparse.Namespace) -> int:
    if not _is_encrypted(db, options):
        raise UsageError(f"{db.path} is not encrypted")
    return _change(db, options, "decrypted", {"key": None})


def _is_encrypted(db: Database, options: argparse.Namespace) -> bool:
    return file_info(db.path, **secret(options)).is_encrypted


def _change(db: Database, options: argparse.Namespace, done: str, new_secret: Any) -> int:
    with watched("write the file") as progress:
        db.change_key(progress=progress, **new_secret)
    is_encrypted = new_secret.get("key") is not None or "passphrase" in new_secret
    if options.json:
        print_json({"file": db.path, "encrypted": is_encrypted})
    else:
        print(printable(f"{db.path} {done}"))
    return DONE
