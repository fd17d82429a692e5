"""watch: prints the changes that other programs make to a file, as they happen."""

from __future__ import annotations

import argparse
import sys
import time
from array import array
from typing import Any, Callable, Dict, Iterator, List, Optional

from ..changes import CollectionChange
from ..database import Database
from .._shown import cut
from ..opening import open as open_database
from .exact import Exact
from .json_files import plain_object
from .options import DONE, Commands, add_file, add_json, duration, natural, secret
from .output import json_text, printable

_WIDTH = 120  # Characters of the values of an object.
_MARKS = {"inserted": "+", "deleted": "-", "modified": "~"}

# Arguments: version, kind of change, class, key of the object, and its values; None for a deleted object.
Write = Callable[[int, str, str, int, Optional[Dict[str, Any]]], None]


def add(commands: Commands) -> None:
    command = commands.alone("watch", run, "print what others change in the file, until Ctrl-C")
    add_file(command)
    command.add_argument("--class", dest="classes", action="append", metavar="NAME", help="only this class; may be given several times")
    command.add_argument("--for", dest="seconds", type=duration, metavar="SECONDS", help="end after this time")
    command.add_argument("--commits", type=natural, metavar="N", help="end after as many changes of version")
    add_json(command, "print an object on each line")


def run(options: argparse.Namespace) -> int:
    end = None if options.seconds is None else time.monotonic() + options.seconds
    with open_database(options.file, mode="r", **secret(options)) as db:
        write: Write = _line if options.json else _text
        watched = [_Watched(db, name, write) for name in options.classes or _independent(db)]
        while not all(one.has_begun for one in watched):
            db.wait_for_change(1)
        print(f"version {db.version}: {', '.join(printable(one.table.name) for one in watched) or 'no classes'}", file=sys.stderr, flush=True)
        commits, seen = 0, db.version
        try:
            while options.commits is None or commits < options.commits:
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0 or not db.wait_for_change(left):
                    break
                for one in watched:
                    one.print_changes()
                commits, seen = commits + (db.version != seen), db.version
        except KeyboardInterrupt:
            pass  # The usual end.
    return DONE


def _independent(db: Database) -> List[str]:
    """The classes that are not embedded: a change of an embedded object is a change of its owner."""
    return [name for name in db.classes if not db.schema[name].embedded]


class _Watched:
    """A watched class, and the keys of its objects: for a deleted object only the key is known."""

    def __init__(self, db: Database, name: str, write: Write) -> None:
        self.table, self._db, self._write = db[name], db, write
        self._told: List[CollectionChange] = []
        self._keys = self._all_keys()
        self._has_begun = False
        self._observation = self.table.observe(self._told.append, list(_paths(db, name, "", _DEEPEST)) or None)

    @property
    def has_begun(self) -> bool:
        """Whether the observation has reported its first version; earlier changes do not count."""
        if not self._has_begun and self._told:
            self._has_begun = True
            self._told.clear()
            self._keys = self._all_keys()
        return self._has_begun

    def _all_keys(self) -> "array[int]":
        keys = array("q")
        keys.frombytes(self.table.column("@key").values.cast("B"))
        return keys

    def print_changes(self) -> None:
        """Prints the changes since the last call, up to the current version."""
        told, self._told[:] = [change for change in self._told if change], []
        if not told:
            return
        version, keys = self._db.version, self._keys
        self._keys = self._all_keys()
        (change,) = told
        for key in keys if change.cleared else (keys[position] for position in change.deletions):
            self._write(version, "deleted", self.table.name, key, None)
        for kind, positions in ("inserted", change.insertions), ("modified", change.modifications_after):
            for position in positions:
                values = plain_object(self.table[position], _EXACT)
                self._write(version, kind, self.table.name, values.pop("$key"), values)


def _paths(db: Database, name: str, before: str, depth: int) -> Iterator[str]:
    """The paths of the properties of an object and of its embedded objects. Changes of linked objects have their own lines."""
    for key, prop in db.schema[name].properties.items():
        if prop.is_link and db.schema[prop.type].embedded and depth:
            yield from _paths(db, prop.type, f"{before}{key}.", depth - 1)
        else:
            yield before + key


_DEEPEST = 3  # Levels of embedded objects whose changes are reported.
_EXACT = Exact()


def _text(version: int, kind: str, class_name: str, key: int, values: Optional[Dict[str, Any]]) -> None:
    shown = "" if values is None else "  " + cut(json_text(values), _WIDTH)
    print(printable(f"{version} {_MARKS[kind]} {class_name} {key}{shown}"), flush=True)


def _line(version: int, kind: str, class_name: str, key: int, values: Optional[Dict[str, Any]]) -> None:
    found = {"version": version, "change": kind, "class": class_name, "key": key}
    print(json_text(found if values is None else {**found, "values": values}), flush=True)
