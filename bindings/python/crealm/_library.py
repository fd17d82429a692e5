"""Finds and loads the shared library.

It looks in this order: the file in the environment variable CREALM_LIBRARY, the folder `_lib` of
this package, the build output of a source tree around this package, and the library that the
loader of the operating system finds. A library of another ABI version raises ImportError.

Every function of `_prototypes` becomes an attribute of `lib`, with its argument types declared.
Functions of the table that the loaded library lacks are absent from `lib` too; see `has()`.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Iterator, Tuple

from . import _prototypes

ABI_VERSION = 1

_FILE_NAME = {"darwin": "libCRealm.dylib", "win32": "CRealm.dll"}.get(sys.platform, "libCRealm.so")


def _candidates() -> Iterator[str]:
    """The paths of the library to try, in this order."""
    named = os.environ.get("CREALM_LIBRARY")
    if named:
        yield named  # An explicit choice: if it fails, no other library is tried.
        return
    package = Path(__file__).resolve().parent
    places = [
        package / "_lib" / _FILE_NAME,
        package.parents[2] / ".build" / "release" / _FILE_NAME,
    ]
    yield from (str(path) for path in places if path.exists())
    from ctypes.util import find_library  # Slow, because it starts other programs: so it comes last.

    system = find_library("CRealm")
    if system:
        yield system


def _load() -> Tuple[str, ctypes.CDLL, ctypes.PyDLL]:
    problems = []
    for path in _candidates():
        try:
            return path, ctypes.CDLL(path), ctypes.PyDLL(path)
        except OSError as error:
            problems.append(f"{path}: {error}")
    if not problems:
        problems.append(
            f"no {_FILE_NAME} next to the package, in the source tree's build output, or on the system"
        )
    raise ImportError(
        "The CRealm library cannot be loaded. Set CREALM_LIBRARY to its path.\n  " + "\n  ".join(problems)
    )


def _declare(blocking: ctypes.CDLL, quick: ctypes.PyDLL) -> SimpleNamespace:
    functions = SimpleNamespace()
    for name, restype, argtypes, kind in _prototypes.TABLE:
        try:
            function = getattr(quick if kind & _prototypes.QUICK else blocking, name)
        except AttributeError:
            if name in _prototypes.OPTIONAL:
                continue
            raise ImportError(f"The CRealm library at {path} has no function {name}: it is too old") from None
        function.restype = restype
        function.argtypes = argtypes
        function.moves = bool(kind & _prototypes.MOVES)
        setattr(functions, name, function)
    return functions


class OpenedRealm(ctypes.c_void_p):
    """The realm that realm_open or realm_freeze returned; false for NULL. ctypes makes the returned pointer an
    object of this class at once, and the object closes the realm when the last reference to it goes: an interrupt
    leaves no file open."""

    def close(self) -> None:
        pointer = self.value
        if pointer:
            lib.realm_close(pointer)
            self.value = None
            lib.realm_release(pointer)

    def __del__(self) -> None:
        self.close()


path, _blocking, _quick = _load()
lib = _declare(_blocking, _quick)
lib.realm_open.restype = lib.realm_freeze.restype = OpenedRealm


def has(name: str) -> bool:
    """Whether the loaded library has a function of the table."""
    return hasattr(lib, name)


if has("crealm_abi_version"):
    _found = lib.crealm_abi_version()
    if _found != ABI_VERSION:
        raise ImportError(
            f"The CRealm library at {path} has ABI version {_found}; this package needs {ABI_VERSION}"
        )

# A library inside another program must not write more than warnings to standard error.
lib.realm_set_log_level(_prototypes.LOG_LEVEL_WARNING)
