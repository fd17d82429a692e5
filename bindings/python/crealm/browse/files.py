"""The open files and their snapshots.

A request takes one snapshot of a file, reads only that, and returns it at the end. The snapshot is a frozen database, which any number of threads can
read at the same time. After a change of the file, the next request makes a new snapshot; the old one is closed at the end of the last request that uses
it. A snapshot that no request used for `IDLE` seconds is closed, too: between requests the file is not held open for long.

A file is read in one of three *ways*:

    snapshot    copies the file, into memory or an unnamed temporary file, and touches nothing in its folder. For files up to `SMALL` bytes
    shared      reads the file itself, like any other reader: shares it with writers through the lock file beside it, which is created if it
                is missing, and removed again. For larger files, of which a copy takes long
    immutable   reads the file itself, and touches no other file. Right only if no program writes the file meanwhile

An editable file is opened for each change, and closed after it. If such a file is read by the way "shared", it is opened in the mode of a writer,
because a process can open a file only in one mode at a time. A file of an older format is converted to the newest one only if the user asks for it
(`upgrade`).

A change of a file is recognised by its *mark*: the operating system's facts about the file, and its first bytes. Reading the mark is cheap.
"""

from __future__ import annotations

import base64
import hashlib
import os
import stat
import threading
import time
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple, Union

from ..cli.output import printable
from ..database import Database
from ..errors import CorruptFileError, DataError, Error, FileNotFound, LockedError, PermissionDenied, VersionGone, WrongKeyError
from ..examining import FileInfo, file_info
from ..opening import needs_upgrade
from ..opening import open as open_database
from .answers import Answers

WAYS = {"snapshot": "snapshot", "shared": "r", "immutable": "immutable"}
SMALL = 256 << 20
IDLE = 20.0
REMEMBERED = 4  # Versions of one file that are kept for comparisons.
_HEADER = 64  # Bytes of a file that every commit may change.
_PATIENCE = 10.0  # Seconds that a change waits for other writers.
_LEAVING = 3.0  # Seconds that requests have to end before the file is opened in another mode.
_FRESH = 0.05  # Seconds in which a second commit may not change the file's modification time.


class Secret(NamedTuple):
    """The key or passphrase of an encrypted file. Never shown, stored or put into an address."""

    key: Optional[bytes] = None
    passphrase: Union[str, bytes, None] = None

    def __repr__(self) -> str:
        return "Secret(…)"

    @property
    def is_given(self) -> bool:
        return self.key is not None or self.passphrase is not None


class Mark(NamedTuple):
    """Facts of a file that are different after each change."""

    inode: int
    size: int
    time: int
    header: bytes


class NeedsKey(Error):
    """The file is encrypted, and its key was not given yet. A file that is no realm file can look the same."""


class NeedsUpgrade(Error):
    """The file has an older format, which any change would convert to the newest one."""


class Snapshot:
    """One version of a file, for any number of requests. `kept` has results about it that several requests use."""

    def __init__(self, database: Database, mark: Mark, seen_at: float) -> None:
        self.database = database
        self.mark = mark  # The mark of the file, read at `seen_at`, before the open, so that a later commit is noticed.
        self.seen_at = seen_at
        self.version = database.version
        self.state = _digest(mark, self.version)
        self.answers = Answers()
        self.kept: Dict[Any, Any] = {}
        self.lock = threading.Lock()  # Protects `kept`.
        self.users = 0  # Only `File` changes this and `is_over`.
        self.is_over = False

    def frozen_again(self) -> Database:
        """Another database of the same version: interrupting its calls does not end those of other requests."""
        return self.database.freeze()

    def close(self) -> None:
        with self.lock:
            kept, self.kept = list(self.kept.values()), {}
        for one in kept:
            close = getattr(one, "close", None)
            if close is not None:
                close()
        self.database.close()


class File:
    """A file of the Browser. Any thread."""

    def __init__(self, path: str, *, way: Optional[str] = None, secret: Secret = Secret(), is_editable: bool = False) -> None:
        self.path = os.path.abspath(path)
        self.shown_path = printable(self.path)
        self.name = printable(os.path.basename(self.path)) or "file"
        self.secret = secret
        self.is_editable = is_editable
        self.problem: Optional[Error] = None  # Why the snapshot could not be replaced by a newer one.
        self._way = way
        self._current: Optional[Snapshot] = None
        self._remembered: Dict[int, Database] = {}
        self._is_newest_format = False  # False: not known.
        self._used_at = 0.0
        self._lock = threading.Lock()  # Protects `_current`, `_remembered` and the numbers of users.
        self._opening = threading.Lock()

    @property
    def way(self) -> str:
        """The way in which the file is read: a key of `WAYS`."""
        if self._way is None:
            self._way = "snapshot" if _size(self.path) <= SMALL else "shared"
        return self._way

    def info(self) -> Optional[FileInfo]:
        """The facts of the file; None if it cannot be read any more."""
        try:
            return file_info(self.path, **self.secret._asdict())
        except Error:
            return None

    def look(self) -> Mark:
        """The current mark of the file; FileNotFound and the like if it cannot be read."""
        try:
            with open(self.path, "rb", buffering=0, opener=_without_waiting) as file:
                about = os.fstat(file.fileno())
                if not stat.S_ISREG(about.st_mode):
                    raise FileNotFound("What is there now is no file", path=self.path)
                header = file.read(_HEADER)
        except FileNotFoundError:
            raise FileNotFound("The file is gone", path=self.path) from None
        except OSError as error:
            raise PermissionDenied(error.strerror or "The file cannot be read", path=self.path) from None
        return Mark(about.st_ino, about.st_size, about.st_mtime_ns, header)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """The newest version of the file, for the time of the block. If it cannot be opened, an older version is used, and `problem` has the error;
        without an older version the error is raised."""
        found = self._take()
        try:
            yield found
        finally:
            self._give_back(found)

    def prepare(self) -> None:
        """Opens the file before the first request. An error is ignored here: the first request will report it."""
        try:
            with self.snapshot() as snapshot:
                snapshot.database.schema
        except Error:
            pass

    def remember(self) -> int:
        """Keeps the newest version for comparisons with later ones, and returns its number. If the file is read by the way "shared", its space cannot
        be reused meanwhile."""
        with self.snapshot() as snapshot:
            version = snapshot.version
            with self._lock:
                while len(self._remembered) >= REMEMBERED:
                    self._remembered.pop(min(self._remembered)).close()
                if version not in self._remembered:
                    self._remembered[version] = snapshot.frozen_again()
        return version

    def remembered(self) -> Dict[int, Database]:
        """The kept versions, by their numbers."""
        with self._lock:
            return dict(self._remembered)

    @contextmanager
    def previous(self, snapshot: Snapshot) -> Iterator[Database]:
        """The version before that of a snapshot, which the other slot of the file's header refers to. VersionGone if there is none, or later commits
        have overwritten parts of it."""
        mode = "immutable" if self.way == "immutable" else "snapshot"
        with self._explaining(self.secret):
            try:
                with open_database(self.path, mode=mode, slot="previous", **self.secret._asdict()) as database:
                    found = database.freeze()
            except VersionGone as error:
                raise VersionGone(error.message.replace(f" at path '{self.path}'", ""), path=self.path) from None
        with found:
            if found.version >= snapshot.version or self.look() != snapshot.mark:
                raise VersionGone("Somebody wrote meanwhile: ask again for the version before the newest one", path=self.path)
            yield found

    def needs_upgrade(self) -> bool:
        """Whether a change would convert the file to a newer format."""
        if not self._is_newest_format:
            with self._explaining(self.secret):
                self._is_newest_format = not needs_upgrade(self.path, key=self.secret.key, passphrase=self.secret.passphrase)
        return not self._is_newest_format

    @contextmanager
    def open_for_writing(self) -> Iterator[Database]:
        """The file, open for changes in the block. NeedsUpgrade if that would change its format."""
        if self.needs_upgrade():
            raise NeedsUpgrade("The file has an older format", hint="Allow the upgrade on the overview of the file first.")
        with self._opened("rw") as database:
            yield database

    def upgrade(self) -> None:
        """Converts the file to the newest format. The library leaves a backup beside it."""
        self.leave()
        with self._opened("rw"):
            self._is_newest_format = True
        self._replace(None)

    def leave(self) -> None:
        """Closes the snapshot and the remembered versions, and waits up to `_LEAVING` seconds for the requests that read the file."""
        end = time.monotonic() + _LEAVING
        self._forget()
        while True:
            with self._lock:
                snapshot = self._current
            self._replace(None)
            while snapshot is not None and snapshot.users and time.monotonic() < end:
                time.sleep(0.02)
            if snapshot is None or time.monotonic() >= end:
                return

    def _opened(self, mode: str) -> Database:
        return open_database(self.path, mode=mode, key=self.secret.key, passphrase=self.secret.passphrase, timeout=_PATIENCE)

    def unlock(self, secret: Secret) -> None:
        """Sets another key, if it opens the file; otherwise raises the error of the open."""
        with self._opening:
            self._open_with(secret)
            self.secret = secret

    def let_go(self, idle: float = IDLE) -> None:
        """Closes the snapshot if no request has used it for that many seconds."""
        with self._lock:
            is_idle = self._current is not None and not self._current.users and time.monotonic() - self._used_at >= idle
        if is_idle:
            self._replace(None)

    def close(self) -> None:
        self._replace(None)
        self._forget()

    def _forget(self) -> None:
        with self._lock:
            remembered, self._remembered = self._remembered, {}
        for database in remembered.values():
            database.close()

    # Inside

    def _take(self) -> Snapshot:
        while True:
            mark = self._mark_or_problem()
            found = self._taken(mark)
            if found is not None:
                return found
            with self._opening:  # One thread opens the file; the others wait and use its snapshot.
                found = self._taken(mark)
                if found is None:
                    self._open()
                    found = self._taken(None)
            if found is not None:
                return found  # Else another thread closed it meanwhile.

    def _mark_or_problem(self) -> Optional[Mark]:
        try:
            return self.look()
        except Error as error:
            if self._current is None:
                raise
            self.problem = error
            return None

    def _taken(self, mark: Optional[Mark]) -> Optional[Snapshot]:
        """Takes the current snapshot if the file still has this mark; None: with any mark. None if it does not fit."""
        with self._lock:
            found = self._current
            if found is None or (mark is not None and not _is_same(found, mark)):
                return None
            found.users += 1
            self._used_at = time.monotonic()
            return found

    def _open(self) -> None:
        try:
            try:
                self._open_with(self.secret)
            except LockedError:
                if not self._is_replaced():
                    raise
                self.leave()  # A process can have only one file open at a path, so the former file is closed first.
                self._open_with(self.secret)
        except Error as error:
            if self._current is None or isinstance(error, NeedsKey):
                raise
            self.problem = error

    def _is_replaced(self) -> bool:
        """Whether the path is now that of another file."""
        current = self._current
        return current is not None and current.mark.inode != self.look().inode

    def _open_with(self, secret: Secret) -> None:
        seen_at, mark = time.time(), self.look()
        self._replace(Snapshot(self._frozen(secret), mark, seen_at))
        self.problem = None

    def _frozen(self, secret: Secret) -> Database:
        with self._explaining(secret):
            with open_database(self.path, mode=self._mode(secret), key=secret.key, passphrase=secret.passphrase) as database:
                return database.freeze()

    @contextmanager
    def _explaining(self, secret: Secret) -> Iterator[None]:
        """Converts errors about a missing key to NeedsKey, because then the user can enter the key."""
        try:
            yield
        except CorruptFileError as error:
            if not secret.is_given and "encrypted" in error.message and not isinstance(error, WrongKeyError):
                raise NeedsKey(without_path(error.message, self.path), path=self.path) from None
            raise
        except WrongKeyError as error:
            if secret.is_given:
                raise
            raise NeedsKey(without_path(error.message, self.path), path=self.path) from None

    def _mode(self, secret: Secret) -> str:
        mode = WAYS[self.way]
        if mode != "r" or not self.is_editable or not os.access(self.path, os.W_OK):
            return mode
        return "r" if needs_upgrade(self.path, key=secret.key, passphrase=secret.passphrase) else "rw"

    def _give_back(self, snapshot: Snapshot) -> None:
        with self._lock:
            snapshot.users -= 1
            self._used_at = time.monotonic()
            is_last = snapshot.is_over and not snapshot.users
        if is_last:
            snapshot.close()

    def _replace(self, new: Optional[Snapshot]) -> None:
        with self._lock:
            old, self._current = self._current, new
            self._used_at = time.monotonic()
            is_unused = False
            if old is not None:
                old.is_over = True
                is_unused = not old.users
        if old is not None and is_unused:
            old.close()


class Files:
    """All files of the Browser, by their names in addresses."""

    def __init__(self, files: Sequence[File]) -> None:
        self._files: Dict[str, File] = {}
        for file in files:
            self._files[_free_name(file.name, set(self._files))] = file

    def __getitem__(self, name: str) -> File:
        return self._files[name]

    def __iter__(self) -> Iterator[Tuple[str, File]]:
        return iter(list(self._files.items()))

    def __len__(self) -> int:
        return len(self._files)

    def let_go(self) -> None:
        for file in self._files.values():
            file.let_go()

    def close(self) -> None:
        for file in self._files.values():
            file.close()


def _without_waiting(path: str, flags: int) -> int:
    """An opener that does not block: the path may be that of a pipe by now, whose open would wait for a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _digest(mark: Mark, version: int) -> str:
    """A short text that changes when the content of the file changes. The version alone is not enough: another file at the path may have the same."""
    return hashlib.blake2b(repr((mark.inode, mark.header, version)).encode(), digest_size=8).hexdigest()


def _is_same(snapshot: Snapshot, mark: Mark) -> bool:
    """Whether the file did not change. Right after a commit the next one might not change the modification time: then the answer is False."""
    if snapshot.mark != mark:
        return False
    return time.time_ns() - mark.time < 0 or snapshot.seen_at - mark.time / 1e9 > _FRESH


def version_before(info: Optional[FileInfo]) -> Optional[int]:
    """The version that the other slot of a file's header refers to; None if that is not one before the newest."""
    newest = None if info is None else info.newest.version
    if info is None or newest is None:
        return None
    return max((slot.version for slot in info.slots if slot.version is not None and slot.version < newest), default=None)


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def without_path(message: str, path: str) -> str:
    """A message of the library without the path, which the page shows anyway."""
    _, separator, rest = message.partition(f"'{path}': ")
    return rest[:1].upper() + rest[1:] if separator else message


def _free_name(name: str, taken: Set[str]) -> str:
    """A name for addresses that no other file has. It does not begin with "-", which is reserved for addresses of the server itself."""
    plain = name.lstrip("-") or "file"
    names: List[str] = [plain, *(f"{plain} {number}" for number in range(2, len(taken) + 3))]
    return next(found for found in names if found not in taken)


def secret_of(text: str, is_passphrase: bool) -> Secret:
    """The secret that a person typed: a passphrase, or the 64 bytes of a key as 128 hexadecimal digits or as base64. DataError for other texts."""
    if is_passphrase:
        return Secret(passphrase=text)
    plain = "".join(text.split())
    for read in (bytes.fromhex, _base64):
        try:
            key = read(plain)
        except ValueError:
            continue
        if len(key) == 64:
            return Secret(key=key)
    raise DataError("A key has 64 bytes: 128 hexadecimal digits, or 86 to 88 characters of base64")


def _base64(text: str) -> bytes:
    """Decodes base64 with either alphabet, with or without padding."""
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
