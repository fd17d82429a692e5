"""Exceptions. One table maps the library's error numbers to classes.

    Error
     ├─ UsageError (RuntimeError)     BusyError, ClosedError, ForkedError, InvalidatedError,
     │                                NotInWriteError, ReadOnlyError, WrongThreadError
     ├─ Interrupted
     ├─ NotSupportedError (NotImplementedError)
     ├─ QueryError (ValueError)
     ├─ SchemaError                   MigrationRequired, ConstraintError (DuplicateKeyError),
     │                                NoSuchClass (KeyError), NoSuchProperty (AttributeError, KeyError)
     ├─ DataError (ValueError)        TypeMismatch (TypeError), LimitExceeded, OutOfRange (IndexError)
     └─ FileError (OSError)           CommitOutcomeUnknown, CorruptFileError, DiskFullError, FileExists,
                                      FileKeepsChanging, FileNotFound, LockedError, PermissionDenied,
                                      TimedOut (TimeoutError), VersionGone, UnsupportedFormat, WrongKeyError

If a built-in exception has the same meaning, the class also inherits from it: `except FileNotFoundError`
works.
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable
from typing import Dict, List, Optional, Tuple, Type


_WIDTH, _BEFORE = 80, 50  # How many characters of a query an error shows, and how many of them before the position.


class Error(Exception):
    """Base of all exceptions that this package defines.

    message: what happened.
    code:    the library's error number; None if the package itself found the error.
    path:    the file concerned, if known.
    hint:    how to correct the cause; "" if there is no advice.
    """

    default_hint = ""

    def __init__(
        self,
        message: str,
        *,
        code: Optional[int] = None,
        path: Optional[str] = None,
        hint: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.path = path
        self.hint = self.default_hint if hint is None else hint

    def __str__(self) -> str:
        if not self.hint:
            return self.message
        return f"{self.message.rstrip('.')}. {self.hint}"

    def __reduce__(self) -> Tuple[object, ...]:
        return _rebuild, (type(self), self.message, self.code, self.path, self.hint)


def _rebuild(kind: Type[Error], message: str, code: Optional[int], path: Optional[str], hint: str) -> Error:
    return kind(message, code=code, path=path, hint=hint)


class UsageError(Error, RuntimeError):
    """The program did something that is not allowed in the current state."""


class BusyError(UsageError):
    """A signal handler, a finalizer or a trace function tried to change a database, or move it to
    another snapshot, in the middle of a call that it interrupted. It may read and close the database."""

    default_hint = "Let it leave a note for the program, or use a database of its own."


class ClosedError(UsageError):
    """The database was closed."""


class ForkedError(UsageError):
    """The database was open when the parent process forked."""

    default_hint = "Close databases before a fork, or start processes with the spawn method."


class InvalidatedError(UsageError):
    """The object was deleted, or the collection was deleted or replaced."""


class NotInWriteError(UsageError):
    """A change outside `with db.write():`."""

    default_hint = "Changes belong inside `with db.write():`."


class ReadOnlyError(UsageError):
    """A change to a database that was opened for reading."""

    default_hint = 'Open the file with mode="rw" to change it.'


class WrongThreadError(UsageError):
    """A database, or something read from it, was used on a thread that did not open it."""

    default_hint = (
        "A database belongs to the thread that opened it: db.local or db.clone() is one for this thread, db.freeze() one "
        "for all, and plain values such as obj.to_dict() go everywhere."
    )


class Interrupted(Error):
    """A call was ended by interrupt(), or by a progress function that returned False. The call had no effect."""


class NotSupportedError(Error, NotImplementedError):
    """This version of the library or of this package does not support the operation."""


class QueryError(Error, ValueError):
    """A query that is not valid.

    text:     the query, or the ordering made for sort() and distinct(); None if it is not known.
    position: the place of the error in the text, as an index of characters; None if the error is in the
              meaning, not in the spelling.
    """

    def __init__(
        self,
        message: str,
        *,
        code: Optional[int] = None,
        path: Optional[str] = None,
        hint: Optional[str] = None,
        text: Optional[str] = None,
        position: Optional[int] = None,
    ) -> None:
        super().__init__(message, code=code, path=path, hint=hint)
        self.text = text
        self.position = position

    def __str__(self) -> str:
        """The message, and below it the line of the query with a mark under the position."""
        plain = super().__str__()
        if self.text is None or self.position is None:
            return plain
        start = self.text.rfind("\n", 0, self.position) + 1
        line = self.text[start:].split("\n", 1)[0]
        column = self.position - start
        first = max(0, column - _BEFORE)
        shown = "".join(letter if letter.isprintable() else " " for letter in line[first : first + _WIDTH])
        return f"{plain}\n    {shown}\n    {' ' * (column - first)}^"

    def __reduce__(self) -> Tuple[object, ...]:
        return (*super().__reduce__(), {"text": self.text, "position": self.position})


class SchemaError(Error):
    """Classes and properties that contradict each other or the file."""


class NoSuchClass(SchemaError, KeyError):
    """The database has no class of this name."""


class NoSuchProperty(SchemaError, AttributeError, KeyError):
    """The class has no property of this name."""


class MigrationRequired(SchemaError):
    """The file's schema differs from the declared one in ways that need a migration."""

    default_hint = "Open it with a higher schema_version and a function for migrate=."

    @property
    def changes(self) -> List[str]:
        """One sentence for each difference."""
        return [line[2:] for line in self.message.splitlines() if line.startswith("- ")]


class ConstraintError(SchemaError):
    """A value that the property's declaration forbids."""


class DuplicateKeyError(ConstraintError):
    """An object with this primary key already exists."""


class DataError(Error, ValueError):
    """A value that cannot be stored or read."""


class TypeMismatch(DataError, TypeError):
    """A value of the wrong type."""


class LimitExceeded(DataError):
    """A value out of the range that can be stored."""


class OutOfRange(DataError, IndexError):
    """A position beyond the end."""


class FileError(Error, OSError):
    """The file cannot be used."""

    default_errno: Optional[int] = None

    def __init__(
        self,
        message: str,
        *,
        code: Optional[int] = None,
        path: Optional[str] = None,
        hint: Optional[str] = None,
    ) -> None:
        super().__init__(message, code=code, path=path, hint=hint)
        self.errno = self.default_errno
        self.strerror = message
        self.filename = path


class CorruptFileError(FileError):
    """Not a realm file, or a damaged one. A file that realm-core encrypted looks like this when the key
    is missing."""


class CommitOutcomeUnknown(FileError):
    """A commit failed, and so did the writes to the disk that would undo it. The database shows the snapshot
    before the commit. The next write first undoes the commit, and raises as long as it cannot; a process that
    opens the file before that may find the commit done. Any other error of a commit means: it did not happen."""

    default_errno = errno.EIO


class RuleBroken(ConstraintError):
    """A change or a commit would break a rule of the file: see `rules`. Nothing was changed. The message names the
    object and the rule."""


class SyncError(Error):
    """The hub reports an error, its reply is not valid, or it cannot be reached: see `sync`. The file is as before. The
    changes that were not sent are kept."""


class VersionGone(FileError):
    """The file no longer has the version before the newest one, or parts of that version are overwritten: see
    open(slot="previous")."""


class FileKeepsChanging(FileError):
    """A commit changed the file during each attempt to copy one version of it: see mode "snapshot" of open()."""

    default_errno = errno.EAGAIN


class TimedOut(FileError, TimeoutError):
    """Another user of the file did not release it in time: see `timeout` of open() and write()."""

    default_errno = errno.ETIMEDOUT


class DiskFullError(FileError):
    """No space left."""

    default_errno = errno.ENOSPC


class FileExists(FileError, FileExistsError):
    """The file already exists."""

    default_errno = errno.EEXIST


class FileNotFound(FileError, FileNotFoundError):
    """No such file or folder."""

    default_errno = errno.ENOENT


class LockedError(FileError):
    """Another database or process uses the file in a way that excludes this use."""

    default_errno = errno.EBUSY


class PermissionDenied(FileError, PermissionError):
    """The operating system refuses access."""

    default_errno = errno.EACCES


class UnsupportedFormat(FileError):
    """A realm file of a format or kind that cannot be opened this way."""


class WrongKeyError(FileError):
    """The key or passphrase does not fit the file, is missing, or is not needed."""


_CLASSES: Dict[int, Type[Error]] = {
    1001: DataError,
    1004: DiskFullError,
    1005: FileError,
    1006: FileError,
    1007: LockedError,
    1008: LockedError,
    1009: QueryError,
    1011: UnsupportedFormat,
    1013: DuplicateKeyError,
    1017: FileError,
    1018: PermissionDenied,
    1019: FileNotFound,
    1020: FileExists,
    1021: CorruptFileError,
    1022: CorruptFileError,  # A damaged page: the key was found right when the file was opened.
    1023: UnsupportedFormat,
    1024: UnsupportedFormat,
    1025: SchemaError,
    1999: FileError,
    2001: NotSupportedError,
    2003: ConstraintError,
    2004: DuplicateKeyError,
    2005: UsageError,  # Rare: the package checks first, and raises NotInWriteError or ReadOnlyError.
    2006: WrongThreadError,
    2007: UsageError,
    2009: InvalidatedError,
    2010: InvalidatedError,
    2011: ReadOnlyError,
    2012: LockedError,
    2013: UsageError,
    2014: ClosedError,
    2015: UsageError,
    2016: SchemaError,
    2017: MigrationRequired,
    2018: SchemaError,
    2019: MigrationRequired,
    2020: SchemaError,
    2021: UsageError,
    3000: DataError,
    3001: TypeMismatch,
    3002: ConstraintError,
    3003: UsageError,
    3004: DataError,
    3005: DataError,
    3006: DataError,
    3007: ConstraintError,
    3008: QueryError,
    3009: NoSuchProperty,
    3010: SchemaError,
    3011: DataError,
    3012: DataError,
    3013: QueryError,
    3014: DataError,
    3015: QueryError,
    3016: InvalidatedError,
    3017: OutOfRange,
    3018: LimitExceeded,
    3019: TypeMismatch,
    3020: NoSuchClass,
    3021: SchemaError,
    3022: UsageError,
    4201: DataError,
    9001: CommitOutcomeUnknown,
    9002: FileKeepsChanging,
    9003: TimedOut,
    9004: Interrupted,
    9005: VersionGone,
    9006: RuleBroken,
    9007: SyncError,
}


_WRONG_KEY = (
    "decryption failed (wrong",
    "decryption failed (Decryption failed: page 0 in file",  # Page 0 of Realm's form shows whether the key is right.
    "the file was encrypted with",
    "the file is not encrypted",
    "no key was given",
)


def from_code(code: int, message: str, *, path: Optional[str] = None, hint: Optional[str] = None) -> Error:
    """The exception for an error number of the library. Unknown numbers give a plain Error."""
    kind = _CLASSES.get(code, Error)
    if code == 1021:  # A wrong key and damage have the same number; only the text distinguishes them.
        if any(part in message for part in _WRONG_KEY):
            kind = WrongKeyError
        if hint is None and "no key was given" in message:
            hint = "Open it with key= or passphrase=."
    return kind(message or f"Error {code}", code=code, path=path, hint=hint)


def suggestion(name: object, names: Iterable[str]) -> str:
    """The end of a message about an unknown name: proposes the most similar known name, if there is one."""
    known = list(names)
    near = difflib.get_close_matches(str(name), known, 1)
    near = near or [other for other in known if other.lower() == str(name).lower()]
    return f"; did you mean {near[0]!r}?" if near else ""
