"""Exceptions. One table maps the library's error numbers to classes.

    Error
     ├─ UsageError (RuntimeError)     BusyError, ClosedError, ForkedError, InvalidatedError,
     │                                NotInWriteError, ReadOnlyError, WrongThreadError
     ├─ NotSupportedError (NotImplementedError)
     ├─ QueryError (ValueError)
     ├─ SchemaError                   MigrationRequired, ConstraintError (DuplicateKeyError),
     │                                NoSuchClass (KeyError), NoSuchProperty (AttributeError, KeyError)
     ├─ DataError (ValueError)        TypeMismatch (TypeError), LimitExceeded, OutOfRange (IndexError)
     └─ FileError (OSError)           CommitOutcomeUnknown, CorruptFileError, DiskFullError, FileExists,
                                      FileKeepsChanging, FileNotFound, LockedError, PermissionDenied, VersionGone,
                                      UnsupportedFormat, WrongKeyError

Where a built-in exception means the same, the class inherits from it too: `except FileNotFoundError`
works.
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable
from typing import Dict, List, Optional, Tuple, Type


_WIDTH, _BEFORE = 80, 50  # Characters of a query that an error shows, and those before the position.


class Error(Exception):
    """Base of everything this package raises on purpose.

    message: what happened.
    code:    the library's error number; None when the package itself noticed.
    path:    the file concerned, if known.
    hint:    what to do about it, if there is something to say; "" otherwise.
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
    """The program did something that cannot work at this point."""


class BusyError(UsageError):
    """A signal handler, a finalizer or a trace function wanted to change a database, or move it to
    another snapshot, in the middle of a call that it interrupted. Reading and closing are possible."""

    default_hint = "Let it leave a note for the program, or use a database of its own."


class ClosedError(UsageError):
    """The database was closed."""


class ForkedError(UsageError):
    """The database was open when the parent process forked."""

    default_hint = "Close databases before a fork, or start processes with the spawn method."


class InvalidatedError(UsageError):
    """The object was deleted, or the collection is gone or was replaced."""


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
    """A call was ended by interrupt(), or by a progress function that returned False. Nothing of it stays."""


class NotSupportedError(Error, NotImplementedError):
    """Not done by this version of the library or of this package."""


class QueryError(Error, ValueError):
    """A query that cannot be understood.

    text:     the query, or the ordering made for sort() and distinct(); None when it is not known.
    position: where in the text it went wrong, as an index of characters; None when it is about the
              meaning and not the spelling.
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
        """The message, and below it the line in question with a mark under the position."""
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
    """The file's schema differs in ways that opening does not change by itself."""

    default_hint = "Open it with a higher schema_version and a function for migrate=."

    @property
    def changes(self) -> List[str]:
        """One sentence for each difference."""
        return [line[2:] for line in self.message.splitlines() if line.startswith("- ")]


class ConstraintError(SchemaError):
    """A value that the property's declaration forbids."""


class DuplicateKeyError(ConstraintError):
    """The primary key is taken."""


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
    """A commit failed, and the disk takes no writes any more that would take it back. The database shows
    what was there before. The next write takes the commit back, or raises while it cannot; a process that
    opens the file before that may find it done. Every other error of a commit means: it did not happen."""

    default_errno = errno.EIO


class VersionGone(FileError):
    """The file has no version before the newest one any more, or it is not whole: see open(slot="previous")."""


class FileKeepsChanging(FileError):
    """The file was committed to during each attempt to copy one version of it, see mode "snapshot" of open()."""

    default_errno = errno.EAGAIN


class TimedOut(FileError, TimeoutError):
    """Another user of the file did not let go of it in time: see `timeout` of open() and write()."""

    default_errno = errno.ETIMEDOUT


class DiskFullError(FileError):
    """No space left."""

    default_errno = errno.ENOSPC


class FileExists(FileError, FileExistsError):
    """The file is there already."""

    default_errno = errno.EEXIST


class FileNotFound(FileError, FileNotFoundError):
    """No such file or folder."""

    default_errno = errno.ENOENT


class LockedError(FileError):
    """Somebody else uses the file in a way that excludes this one."""

    default_errno = errno.EBUSY


class PermissionDenied(FileError, PermissionError):
    """The system refuses access."""

    default_errno = errno.EACCES


class UnsupportedFormat(FileError):
    """A realm file of a format or kind that cannot be opened this way."""


class WrongKeyError(FileError):
    """The key or passphrase does not fit the file, is missing, or is not needed."""


_CLASSES: Dict[int, Type[Error]] = {
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
    1022: WrongKeyError,
    1023: UnsupportedFormat,
    1024: UnsupportedFormat,
    1025: SchemaError,
    1999: FileError,
    2001: NotSupportedError,
    2003: ConstraintError,
    2004: DuplicateKeyError,
    2005: UsageError,  # The package itself says NotInWriteError and ReadOnlyError, earlier.
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
    9001: CommitOutcomeUnknown,
    9002: FileKeepsChanging,
    9003: TimedOut,
    9004: Interrupted,
    9005: VersionGone,
}


_WRONG_KEY = (
    "decryption failed (wrong",
    "encryption key is incorrect",
    "the file was encrypted with",
    "the file is not encrypted",
    "no key was given",
)


def from_code(code: int, message: str, *, path: Optional[str] = None, hint: Optional[str] = None) -> Error:
    """The exception for an error number of the library. Unknown numbers give a plain Error."""
    kind = _CLASSES.get(code, Error)
    if code == 1021:  # The text tells a wrong key from damage.
        if any(part in message for part in _WRONG_KEY):
            kind = WrongKeyError
        if hint is None and "no key was given" in message:
            hint = "Open it with key= or passphrase=."
    return kind(message or f"Error {code}", code=code, path=path, hint=hint)


def suggestion(name: object, names: Iterable[str]) -> str:
    """What a message about an unknown name ends with: the known one that is most like it."""
    known = list(names)
    near = difflib.get_close_matches(str(name), known, 1)
    near = near or [other for other in known if other.lower() == str(name).lower()]
    return f"; did you mean {near[0]!r}?" if near else ""
