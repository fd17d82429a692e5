"""Finds the SQLite extension, and opens SQLite connections that have it.

It is looked for in this order: the file in the environment variable CREALM_SQLITE, the folder `_lib` of this package,
the build output of a source tree around this package, and the folder of the loaded library.
"""

from __future__ import annotations

import ctypes
import os
import sqlite3
import sys
import threading
from pathlib import Path
from typing import Iterator, List, Optional

from . import _library
from .errors import NotSupportedError

NAME = "crealm_sqlite.so"
_ENTRY = "sqlite3_crealmsqlite_init"


def _candidates() -> Iterator[Path]:
    named = os.environ.get("CREALM_SQLITE")
    if named:
        yield Path(named)
        return
    package = Path(__file__).resolve().parent
    yield package / "_lib" / NAME
    yield package.parents[2] / ".build" / "sqlite" / NAME
    yield Path(_library.path).resolve().parent / NAME


def find() -> Optional[Path]:
    """The path of the extension; None if it is not installed."""
    return next((path for path in _candidates() if path.exists()), None)


def problem() -> Optional[str]:
    """Why this Python cannot use the extension; None if it can."""
    if find() is None:
        return f"The SQLite extension, {NAME}, is not installed"
    if sqlite3.sqlite_version_info < (3, 38):
        return f"The SQLite extension needs SQLite 3.38 or later; this Python has {sqlite3.sqlite_version}"
    if not hasattr(sqlite3.Connection, "enable_load_extension") and _sqlite_library() is None:
        return "The module sqlite3 of this Python cannot load extensions"
    return None


def connect(database: str = ":memory:", *, check_same_thread: bool = True) -> sqlite3.Connection:
    """A connection of SQLite in which the extension is loaded. NotSupportedError says what is missing."""
    found = problem()
    if found is not None:
        raise NotSupportedError(found, hint=HINT)
    path = str(find())
    if hasattr(sqlite3.Connection, "enable_load_extension"):
        connection = sqlite3.connect(database, check_same_thread=check_same_thread)
        try:
            connection.enable_load_extension(True)
            connection.execute("SELECT load_extension(?)", (path,))
            connection.enable_load_extension(False)
        except BaseException:
            connection.close()
            raise
        return connection
    return _connect_automatically(path, database, check_same_thread)


HINT = "docs/sql.md says how to build it, and what it needs. The package duckdb is another way."


# The list of automatic extensions belongs to the whole process: without this lock one thread could take the entry out
# of the list while another thread opens its connection.
_automatic = threading.Lock()


def _connect_automatically(path: str, database: str, check_same_thread: bool) -> sqlite3.Connection:
    """For a Python whose sqlite3 was built without extensions: SQLite itself calls the entry point of an extension in
    each new connection, if it has been told to."""
    sqlite = _sqlite_library()
    assert sqlite is not None
    entry = ctypes.cast(getattr(ctypes.CDLL(path), _ENTRY), ctypes.c_void_p)
    for function in (sqlite.sqlite3_auto_extension, sqlite.sqlite3_cancel_auto_extension):
        function.argtypes = [ctypes.c_void_p]
    with _automatic:
        if sqlite.sqlite3_auto_extension(entry) != 0:
            raise NotSupportedError("SQLite refused the extension", hint=HINT)
        try:
            return sqlite3.connect(database, check_same_thread=check_same_thread)
        finally:
            sqlite.sqlite3_cancel_auto_extension(entry)


_loaded: List[Optional[ctypes.CDLL]] = []


def _sqlite_library() -> Optional[ctypes.CDLL]:
    """The shared library of SQLite that the module sqlite3 uses; None if SQLite is a part of that module."""
    if not _loaded:
        _loaded.append(_mapped_sqlite())
    return _loaded[0]


def _mapped_sqlite() -> Optional[ctypes.CDLL]:
    if not sys.platform.startswith("linux"):
        return None
    import _sqlite3  # noqa: F401  (loads the library)

    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            paths = {line.split(None, 5)[5].rstrip("\n") for line in maps if "/libsqlite3.so" in line}
    except OSError:
        return None
    if len(paths) != 1:
        return None
    try:
        found = ctypes.CDLL(paths.pop())
        found.sqlite3_libversion.restype = ctypes.c_char_p
        is_same = found.sqlite3_libversion().decode() == sqlite3.sqlite_version
        return found if is_same and hasattr(found, "sqlite3_auto_extension") else None
    except (OSError, AttributeError):
        return None
