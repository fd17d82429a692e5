"""Open files, and writing to them. `opening` has the function that opens one."""

from __future__ import annotations

import operator
import os
import sys
import threading
import warnings
import weakref
from datetime import datetime, timedelta, timezone
from functools import partial
from itertools import islice
from types import MappingProxyType, TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Iterable,
    Iterator,
    List,
    Mapping,
    NoReturn,
    Optional,
    Sequence,
    Type,
    TypeVar,
    Union,
    overload,
)

from . import _batches, _frames, _library, _marshal as c
from ._handle import FrozenOwner, Owner
from ._library import lib
from ._progress import Attended, Progress
from ._prototypes import NO_SCHEMA_VERSION, SCHEMA_MODE_AUTOMATIC
from ._session import READING, STILL, Session
from ._rows import csv_rows, named_rows
from ._shown import table, text
from ._store import Plan, check_update, located
from .collections import VIEWS
from .errors import (
    BusyError,
    ClosedError,
    DataError,
    Error,
    InvalidatedError,
    NotSupportedError,
    OutOfRange,
    ReadOnlyError,
    UsageError,
)
from .faults import Fault, Faults
from .frozen import Freezable
from .inspection import Location, LocationNode, LocationPart, Space
from .objects import Object, Table
from .observing import Changes, Moves, Observation, wait_for_change
from .schema import BoundClass, ClassSchema
from .versions import PinnedVersion
from .writing import AsyncBlock, AsyncWrite, WriteCall

if TYPE_CHECKING:
    from .models import Model

M = TypeVar("M", bound="Model")
T = TypeVar("T")
F = TypeVar("F", bound=Freezable)


class Unchanged:
    """Stands for an argument that was not given, where None means something."""

    def __repr__(self) -> str:
        return "unchanged"


UNCHANGED = Unchanged()
_FEW = 8  # Rows that are not worth being packed.
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Database(Session):
    """An open realm file. Made by crealm.open().

    It looks at one snapshot of the file: what it reads changes only by its own writes, by refresh(), and
    while somebody observes something on its thread, see `observing`. It belongs to the thread that opened it.

    A signal handler, a finalizer or a trace function of that thread may come in the middle of a call
    of the same database. It may read then. It may close the database, which happens when the call is
    over; what the program does next raises ClosedError. Changes and refresh() raise BusyError.
    """

    _object_type = Object
    _view_types = VIEWS

    def __init__(
        self,
        owner: Owner,
        mode: str,
        *,
        is_dynamic: bool,
        models: Optional[Mapping[str, Type[Model]]] = None,
        secret: c.Secret = c.Secret(),
        reopen: Optional[Callable[[c.Secret], Database]] = None,
        timeout: Optional[float] = None,
    ) -> None:
        self._secret = secret
        self._timeout = timeout  # Of write(), without one of its own.
        self._lock_timeout = timeout  # What the library knows of it.
        self._reopen = reopen
        self._by_thread = threading.local()  # See local.
        self._is_quiet = False  # Whether it may be forgotten without being closed.
        self._frozen: Optional[weakref.ref[Database]] = None  # See _shared_frozen.
        super().__init__(owner, mode, models or {}, is_dynamic=is_dynamic)

    # What it is

    @property
    def schema_version(self) -> Optional[int]:
        """The version that programs gave their schema; None when the file has none."""
        version = self._owner.call(lib.realm_get_schema_version)
        return None if version == NO_SCHEMA_VERSION else version

    @property
    def classes(self) -> List[str]:
        """The names of all classes, sorted."""
        self._owner.check()
        return list(self._by_name)

    @property
    def schema(self) -> Mapping[str, ClassSchema]:
        """The declarations of all classes, by name."""
        self._owner.check()
        return MappingProxyType({name: bound.schema for name, bound in self._by_name.items()})

    @overload
    def __getitem__(self, class_name: Type[M]) -> Table[M]: ...

    @overload
    def __getitem__(self, class_name: str) -> Table[Any]: ...

    def __getitem__(self, class_name: Any) -> Table[Any]:
        """The table of a class: db["Person"], or db[Person] for a model class."""
        bound = self._class(class_name)
        return Table(self, self._owner.make(lib.realm_object_find_all, bound.key), bound.key)

    @overload
    def objects(self, class_name: Type[M]) -> Table[M]: ...

    @overload
    def objects(self, class_name: str) -> Table[Any]: ...

    def objects(self, class_name: Any) -> Table[Any]:
        """All objects of a class, to be asked: db.objects("Person").where("age > $0", 30). The same
        as db["Person"]."""
        return self[class_name]

    def __contains__(self, class_name: object) -> bool:
        if isinstance(class_name, type):
            return class_name in self._models.values()
        return class_name in self._by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self.classes)

    def __repr__(self) -> str:
        state = "closed" if self.is_closed else f"mode {self._mode!r}"
        return f"<Database {self.path!r}, {state}>"

    def _repr_html_(self) -> str:
        """A table of the classes, for Jupyter."""
        try:
            rows = [[name, len(self[name]), len(self._by_name[name].properties)] for name in self.classes]
            return table(repr(self), ["class", "objects", "properties"], rows)
        except Error:
            return text(self)

    # Moving on

    def write(self, *, timeout: Union[float, None, "Unchanged"] = UNCHANGED) -> "Write":
        """`with db.write():` waits for other writers, moves to the newest snapshot and lets the block
        change it. The changes are on disk when the block ends; an exception forgets all of them, and
        instances that the block added are plain again: see add().

        timeout: seconds to wait for other writers, then TimedOut; None: as long as it takes. Without it
              that of open() counts.

        `async with db.write():` does the same where an event loop of asyncio runs, and lets it go on meanwhile: it waits
        neither for other writers nor for the disk. The block itself is one step of the loop: in it nothing can be
        awaited, else its changes are undone, and UsageError says so at its end.
        """
        if not isinstance(timeout, Unchanged):
            check_timeout(timeout)
        return Write(self, self._timeout if isinstance(timeout, Unchanged) else timeout)

    def interrupt(self) -> None:
        """Ends what the database is doing on its thread: a query, verify(), backup() or compact() raises
        Interrupted there, as does waiting for other writers. Changes and commits go on to their end. A
        call that begins later is not affected; without one nothing happens. Any thread."""
        self._owner.interrupt()

    def write_async(self, function: Callable[..., T], *arguments: Any) -> WriteCall[T]:
        """Calls function(*arguments) in a write of its own, as soon as it is its turn, and returns what it
        returns when the changes are on disk. The event loop of asyncio goes on meanwhile: nothing here waits,
        neither for other writers nor for the disk. Writes that stand in line together reach the disk
        together, one after the other.

        The function is called in a turn of the event loop, on this thread; it changes the database as the
        block of write() does, and cannot await anything. If it raises, its changes are forgotten, and the
        exception arrives here. A write whose task is cancelled before its turn does not take place; later the
        cancellation waits until the outcome is known, and what was committed stays. The CancelledError says which:
        getattr(error, "committed", False); so does what this returns, call.committed, where others pass on another
        error, as asyncio.gather() does. A write whose event loop is closed, or whose thread ends, before its turn
        does not take place either.

        CommitOutcomeUnknown when it is not known whether the changes are on disk; ClosedError when the
        database is closed before the function is called.
        """

        def write() -> AsyncWrite:
            self._require_writable()
            return AsyncWrite(self, function, arguments)

        return WriteCall(write)

    def freeze(self) -> "Database":
        """This database at the snapshot that it shows, for ever: to be read on any thread, by many at once,
        without waiting for anybody. Inside a write it is the snapshot before the write.

        Nothing is copied. The file keeps the snapshot until the frozen database is closed, or nobody has it
        nor anything of it. Closing this database changes nothing about it.
        """
        realm = self._owner.call(lib.realm_freeze) or c.fail(self.path)
        owner = FrozenOwner(realm, self.path)
        return Database(owner, "frozen", is_dynamic=False, models=self._models, secret=self._secret)

    def clone(self) -> "Database":
        """Opens the same file once more, in the same way, for the calling thread; any thread may call it. The schema and
        the key are the same; the snapshot is the newest. Close it like any other database. UsageError for what is
        frozen, which all threads may use anyway, and in migrations."""
        if self._owner.state:  # Not check(): this thread is another one.
            self._owner.refuse()
        if self._reopen is None:
            raise UsageError(f"This database cannot be opened once more: mode {self._mode!r}", path=self.path)
        return self._reopen(self._secret)

    @property
    def local(self) -> "Database":
        """This database for the calling thread: itself where it belongs, elsewhere a clone() that is made once for each
        thread and closed when the thread ends. It looks at one snapshot, like any other: refresh() moves it on."""
        owner = self._owner
        if owner.state:
            owner.refuse()
        if owner.is_here or self.is_frozen:
            return self
        found: Optional[Database] = getattr(self._by_thread, "database", None)
        if found is None or found.is_closed:
            found = self.clone()
            found._is_quiet = True
            self._by_thread.database = found
        return found

    def _shared_frozen(self) -> "Database":
        """The frozen database of what is frozen by itself: one for each snapshot."""
        known = None if self._frozen is None else self._frozen()
        if known is None or known.is_closed or known.version != self.version:
            known = self.freeze()
            self._frozen = weakref.ref(known)
        return known

    def resolve(self, frozen: F) -> Optional[F]:
        """The same object, collection or results in this database, for what is of another open database of
        the file, frozen or not: obj.freeze() goes there, db.resolve(obj) comes back. None when this
        database has no such object or collection."""
        return frozen if frozen._db is self else frozen._resolved_in(self)

    def add(self, obj: M, update: str = "error") -> M:
        """Adds an instance of a model and everything it leads to, and returns it: from now on it is an
        object of this database. Instances that are in it already stay as they are.

        update: what happens when a primary key is taken. "error" raises DuplicateKeyError and adds
                nothing; "all" writes all properties to the object that is there; "modified" writes those
                that differ, and of those only the ones that the program set.

        If the write is rolled back, the instances that were added are plain again, with the values that
        they had before, and can be added again. Other objects that the write made are invalid then.
        """
        kind = type(obj)
        if not isinstance(obj, Object):
            raise TypeError(f"Instances of models are added, not {kind.__name__}")
        self._require_write(obj.class_name)
        if obj._db is not None:
            self._plain(obj)  # Refuses those of other databases.
            if not obj.is_valid:
                self._owner.check()
                raise InvalidatedError(f"The {obj.class_name} was deleted", code=2010, path=self.path)
            return obj
        plan = Plan(self, update)
        plan.instance(obj)
        plan.add()
        return obj

    def add_many(
        self,
        kind: Union[str, Type[Model]],
        rows: Any,
        update: Optional[str] = "error",
        *,
        columns: Optional[Sequence[str]] = None,
        batch: int = 10_000,
    ) -> int:
        """Adds an object for each row, and returns how many rows there were.

        kind:    a model class or the name of a class.
        rows:    one of
                 - dictionaries of values by name; what is missing gets its default. A dictionary inside
                   makes an embedded object, or another new object to link to. Model instances are
                   taken, too;
                 - tuples or lists of values for `columns`;
                 - a DataFrame of pandas or polars, a table of pyarrow, or anything else with
                   __arrow_c_stream__: its columns have the names of properties. A link is the primary
                   key of its object, which is there or comes in the same batch;
                 - the path of a CSV file, or an open one: its first line has the names. An empty field
                   is None where the property may be None.
        update:  as for add(); "all" writes all values of a row, "modified" those that differ. None is
                 "error".
        columns: the names for rows without names; of a CSV file without a first line of names.
        batch:   so many rows are read and written at a time.

        A row that cannot be stored raises, with its number in the message. Earlier rows stay, until the
        write is rolled back; of columns (DataFrames and the like) those of earlier batches.
        """
        bound = self._class(kind)
        self._require_write(bound.name)
        mode = "error" if update is None else update
        check_update(mode)
        if batch < 1:
            raise DataError(f"A batch has at least one row, not {batch}")
        if hasattr(rows, "__arrow_c_stream__"):
            if _frames.is_pandas(rows):
                rows = _frames.table_of(rows, self[bound.name])
            return _batches.add_stream(self._owner, bound, rows, mode, batch)
        source: Iterable[Any] = rows
        if isinstance(rows, (str, os.PathLike)):
            with open(rows, encoding="utf-8-sig", newline="") as file:
                return self._add_rows(bound, csv_rows(bound, file, columns), mode, batch)
        if hasattr(rows, "readline"):
            source = csv_rows(bound, rows, columns)
        elif columns is not None:
            source = named_rows(rows, list(columns))
        return self._add_rows(bound, source, mode, batch)

    def _add_rows(self, bound: BoundClass, rows: Iterable[Any], update: str, batch: int) -> int:
        done, source = 0, iter(rows)
        while True:
            some = list(islice(source, batch))
            try:
                if len(some) < _FEW or not _batches.available():
                    raise _batches.NotPlain
                _batches.add(self._owner, bound, len(some), _batches.columns_of(bound, some, update), update)
            except _batches.NotPlain:
                for number, row in enumerate(some, done):
                    self._add_row(bound, row, update, number)
            done += len(some)
            if len(some) < batch:
                return done

    def _add_row(self, bound: BoundClass, row: Any, update: str, number: int) -> None:
        plan = Plan(self, update)
        try:
            if isinstance(row, Mapping):
                plan.row(bound, row)
            elif isinstance(row, Object) and row._db is None:
                plan.instance(row)
            else:
                raise TypeError(f"Row {number} is no dictionary but {type(row).__name__}")
            plan.add()
        except Error as error:
            raise located(error, f"Row {number}")

    def refresh(self) -> bool:
        """Moves to the newest snapshot. Whether there was a newer one. Inside a write, in modes
        "immutable" and "snapshot" and where it is frozen, there never is."""
        self._owner.check()
        if self._mode in STILL:
            return False
        self._tell()
        moved = bool(self._owner.call(c.get_flag, lib.realm_refresh))
        self._moved()
        self._tell()
        return moved

    def observe(self, function: Callable[[Any], object]) -> Observation:
        """Calls function(change) whenever the database shows another snapshot: after each of its own writes,
        and when it moves on to what others wrote, before the observers of what is in it. Keep what this
        returns, as with the observe() of objects."""
        return Observation(Moves(self._owner, self), function)

    def changes(self) -> Changes:
        """The same, for `async for change in db.changes():`."""
        self._owner.check()
        return Changes(self._owner, self.observe)

    def wait_for_change(self, timeout: Optional[float] = None) -> bool:
        """Waits until there is a newer snapshot, moves on to it, and calls the functions that observe
        something here: for threads without an event loop. Other threads run meanwhile. The other databases of
        this thread move on, too.

        timeout: in seconds; None waits for as long as it takes. False when nothing came.

        UsageError inside a write, in modes "immutable" and "snapshot" and where it is frozen: there nothing comes.
        """
        self._owner.check()
        if self._mode in STILL:
            raise UsageError(f"Nothing changes here: mode {self._mode!r}", path=self.path)
        if self.is_writing:
            raise UsageError("A database in a write does not move on", path=self.path)
        return wait_for_change(self, self._owner, timeout)

    def verify(self, limit: int = 1000, *, progress: Optional[Progress] = None) -> Faults:
        """Checks the whole snapshot: what is wrong with it, each fault with its place; empty when it is sound.
        At most `limit` are listed; `total` says how many there are. progress: as of open(), for this call."""
        self._owner.check()
        if not _library.has("crealm_find_faults"):
            raise NotSupportedError("The loaded library has no check")
        most = min(max(0, operator.index(limit)), sys.maxsize)
        with Attended(self._owner.attendant, progress):
            found, total = self._owner.call(c.find_faults, most)
        return Faults((Fault(*fault) for fault in found), total)

    def space(self, *, progress: Optional[Progress] = None) -> List[Space]:
        """Where the bytes of the file are: its parts, the largest first. They add up to the size of the file,
        decrypted. Reads the whole file. Not inside a write: what that has changed lies in no file yet.
        progress: as of open(), for this call."""
        self._owner.check()
        with Attended(self._owner.attendant, progress):
            return [Space(*part) for part in self._owner.call(c.space)]

    def locate(self, obj: Object, name: str, index: Optional[int] = None) -> Location:
        """Where in the file a value lies, in the snapshot that the database looks at: the nodes on the way to it, and its bits. In files of formats 2
        to 9 it is the place in that format. Not inside a write: what that has changed lies in no file yet.

        name: a property. index: which element of a collection, in its order; None: the collection itself."""
        self._owner.check()
        if not _library.has("crealm_value_location"):
            raise NotSupportedError("The loaded library does not tell where values lie")
        if index is not None and not 0 <= operator.index(index) < c.WHOLE:
            raise OutOfRange(f"There is no element {index}")
        if obj._db is not self:
            raise UsageError("The object is of another database")
        nodes, parts, page_size = obj._handle.call(c.location, obj._facts(name).key, c.WHOLE if index is None else operator.index(index))
        return Location(tuple(LocationNode(*n) for n in nodes), tuple(LocationPart(*p) for p in parts), page_size)

    def versions(self) -> List[PinnedVersion]:
        """The versions of the file that are in use, in all threads and processes that have it open with this
        library, the oldest first: one entry for each use. An old one makes the file grow: refresh() or close
        what looks at it. In mode "immutable" there are none."""
        self._owner.check()
        return [
            PinnedVersion(version, _EPOCH + timedelta(microseconds=since), *rest)
            for version, since, *rest in self._owner.call(c.pinned_versions)
        ]

    # Copies and size

    def compact(self, *, progress: Optional[Progress] = None) -> bool:
        """Rewrites the file without its free space. False when somebody needs it as it is: another
        database, in any thread or process, that has it open, what is frozen, and observations of objects,
        collections and results, also of this database (not those of the database itself). Nothing is done
        then. Objects and collections stay good, and the database moves to the newest snapshot. The memory
        this takes does not grow with the file; on disk there are two files meanwhile. progress: as of
        open(), for this call."""
        self._require_replaceable()
        try:
            with Attended(self._owner.attendant, progress):
                return bool(self._owner.call(c.get_flag, lib.realm_compact))
        finally:
            self._begin_again()

    def backup(
        self,
        path: Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"],
        *,
        key: Union[bytes, None, "Unchanged"] = UNCHANGED,
        passphrase: Union[str, bytes, None] = None,
        page_cipher: Optional[str] = None,
        progress: Optional[Progress] = None,
    ) -> None:
        """Writes a copy of the snapshot to a new file, without free space. It raises FileExists when
        something is there, and the copy appears when it is complete.

        Without key or passphrase the copy has those of this database; key=None makes it a plain file.
        page_cipher: as for crealm.open(). Inside a write its changes are in the copy.
        progress: as of open(), for this call.
        """
        self._owner.check()
        where = os.path.abspath(os.fsdecode(path))
        if isinstance(key, Unchanged) and passphrase is None:
            secret = self._secret._replace(page_cipher=page_cipher or self._secret.page_cipher)
        else:
            new_key = None if isinstance(key, Unchanged) else key
            secret = c.make_secret(new_key, passphrase, page_cipher, where)
        config = c.make_config(c.c_name(where), SCHEMA_MODE_AUTOMATIC, secret)
        try:
            with Attended(self._owner.attendant, progress):
                self._owner.call(c.check, lib.realm_convert_with_config, config, False)
        finally:
            lib.realm_release(config)

    def change_key(
        self,
        *,
        key: Union[bytes, None, "Unchanged"] = UNCHANGED,
        passphrase: Union[str, bytes, None] = None,
        page_cipher: Optional[str] = None,
        progress: Optional[Progress] = None,
    ) -> None:
        """Gives the file another key or passphrase, encrypts a plain file, or decrypts it: key=None.
        It raises LockedError while somebody needs the file as it is; compact() says who.

        From one key or passphrase to another only the beginning of the file changes; who has the old key
        and an old copy of the file can still read what was in that. backup() makes a copy that shares
        nothing with the old file. progress: as of open(), for this call.
        """
        if isinstance(key, Unchanged) and passphrase is None:
            raise TypeError("change_key() needs a key or a passphrase; key=None decrypts the file")
        self._require_replaceable()
        new_key = None if isinstance(key, Unchanged) else key
        secret = c.make_secret(new_key, passphrase, page_cipher, self.path)
        config = c.make_config(c.c_name(self.path), SCHEMA_MODE_AUTOMATIC, secret)
        try:
            try:
                with Attended(self._owner.attendant, progress):
                    self._owner.call(c.check, lib.crealm_change_key, config)
                self._secret = secret
            finally:
                self._begin_again()
        finally:
            lib.realm_release(config)

    def _require_writable(self) -> None:
        self._owner.check()
        if self._mode in READING:
            raise ReadOnlyError("The database is open for reading", path=self.path)

    def _require_replaceable(self) -> None:
        self._require_writable()
        if self.is_writing:
            raise UsageError("A write is running: the file can be rewritten after it", path=self.path)

    def _begin_again(self) -> None:
        """Rewriting the file ends the snapshot."""
        self._owner.call(c.check, lib.realm_begin_read)
        self._moved()

    def close(self) -> None:
        """Closes the file. A running write is rolled back. All objects and collections of this
        database raise ClosedError from now on. Closing again does nothing."""
        if not self._owner.is_closed:
            self._owner.check()
        block = self._block
        if block is not None and not self._owner.depth:
            self._end_write(block)
        self._owner.close()  # Once more where the first time was interrupted.

    def __enter__(self) -> "Database":
        self._owner.check()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        owner = getattr(self, "_owner", None)
        if owner is not None and not owner.is_closed:
            if not self.is_frozen and not self._is_quiet:  # Those close themselves.
                warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self, stacklevel=2)
            owner.close()  # The warning may keep this object; the file is done with all the same.

    def __reduce__(self) -> NoReturn:
        raise TypeError("An open database cannot be pickled or copied; open the file again")

class _WayOut:
    """`__exit__` of `Write`. A `with` statement takes it before it enters the block and lets go of it when
    the block is over, in whatever way. It gets an object of its own for that, which nothing else keeps:
    not even the traceback of an interrupt at the very beginning of `_exit`."""

    @overload
    def __get__(self, write: None, kind: type) -> "Callable[..., None]": ...

    @overload
    def __get__(self, write: "Write", kind: type) -> "partial[None]": ...

    def __get__(self, write: "Optional[Write]", kind: type) -> "Callable[..., None]":
        if write is None:
            return _exit
        way_out = partial(_exit, write)
        write._way_out = weakref.ref(way_out)
        return way_out


class Write:
    """What db.write() returns: a context manager. The write ends when the block does. An interrupt may come
    before the first step of `__exit__` or between any others: the write also ends when nobody has the
    block's way out any more; nobody has this object any more, where `__enter__` was called by hand."""

    __slots__ = ("_db", "_timeout", "_way_out", "_async_block", "__weakref__")
    __exit__ = _WayOut()

    def __init__(self, db: Database, timeout: Optional[float] = None) -> None:
        self._db = db
        self._timeout = timeout
        self._way_out: Optional[weakref.ref[Any]] = None
        self._async_block: Optional[AsyncBlock] = None

    async def __aenter__(self) -> Database:
        db = self._db
        db._require_writable()
        self._async_block = AsyncBlock(db, self._timeout)
        await self._async_block.begin()
        return db

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        block, self._async_block = self._async_block, None
        assert block is not None
        await block.end(error)

    def __enter__(self) -> Database:
        db = self._db
        db._require_writable()
        former = db._block
        if former is not None and (former() is None or not db.is_writing):
            db._end_write(former)  # An interrupt came in between.
        way_out = None if self._way_out is None else self._way_out()
        block = weakref.ref(self if way_out is None else way_out, db._end_write)
        try:
            db._tell()
            db._owner.call(_begin, db, block, self._timeout)
            db._enter_block()
        except BaseException:
            db._end_write(block)
            raise
        return db


def _exit(
    write: Write,
    kind: Optional[Type[BaseException]],
    error: Optional[BaseException],
    traceback: Optional[TracebackType],
) -> None:
    db = write._db
    block = db._block
    if block is None or db.is_closed:
        if block is not None and not db._owner.is_forked:
            db._end_write(block)
        if error is not None:
            return
        if db._owner.is_forked:
            db._owner.check()
        if not db.is_closed:
            raise UsageError("No write is running that could end: `with db.write():` begins it", path=db.path)
        raise ClosedError("The database was closed inside its write: nothing was changed", path=db.path)
    db._owner.check()
    is_committed = False
    try:
        if error is None:
            db._owner.call(c.check, lib.realm_commit)
            is_committed = True
    except BusyError:
        raise  # In the middle of another call: the write goes on.
    except BaseException:
        db._end_write(block)
        raise
    db._end_write(block, is_committed)
    db._tell()


def check_timeout(timeout: Optional[float]) -> None:
    if timeout is not None and not (isinstance(timeout, (int, float)) and 0 <= timeout < 1e9):
        raise DataError(f"A timeout is a number of seconds, or None, not {timeout!r}")


def _begin(realm: int, db: Database, block: "weakref.ref[Any]", timeout: Optional[float]) -> None:
    if db.is_writing:
        raise UsageError("A write is running already: writes do not nest", path=db.path)
    db._block = block
    if timeout != db._lock_timeout:
        c.check(realm, lib.crealm_set_lock_timeout, -1 if timeout is None else round(timeout * 1000))
        db._lock_timeout = timeout
    c.check(realm, lib.realm_begin_write)


_begin.moves = True  # type: ignore[attr-defined]
