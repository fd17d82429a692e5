"""Open databases, and writes to them. The function that opens a file is in `opening`."""

from __future__ import annotations

import copy
import operator
import os
import threading
import warnings
import weakref
from datetime import datetime, timedelta, timezone
from functools import partial
from itertools import islice
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NoReturn,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
    overload,
)

from . import _batches, _inferred, _intake, _library, _marshal as c, _xlsx, rules as _rules, sql as _sql
from ._handle import FrozenOwner, Owner
from ._library import lib
from ._progress import Attended, Progress
from ._copies import Copies
from ._prototypes import NO_SCHEMA_VERSION, SCHEMA_MODE_AUTOMATIC
from ._session import READING, STILL, Session
from ._sql_running import Running
from ._rows import csv_rows, named_rows
from ._shown import table, text
from ._creating import created
from ._store import Plan, check_update, located
from .collections import VIEWS
from .errors import (
    BusyError,
    ClosedError,
    DataError,
    Error,
    Interrupted,
    InvalidatedError,
    NotSupportedError,
    OutOfRange,
    ReadOnlyError,
    SchemaError,
    UsageError,
)
from .families import Families, narrowed
from .faults import Fault, Faults
from .frozen import Freezable
from .inspection import Location, LocationNode, LocationPart, Space, Spaces
from .objects import Object, Subtable, Table
from .observing import Changes, Moves, Observation, wait_for_change
from .rules import BrokenRule, Savepoint
from .schema import BoundClass, Classes, ClassSchema, class_facts
from .versions import PinnedVersion
from .writing import AsyncBlock, AsyncWrite, WriteCall

if TYPE_CHECKING:
    from .sync import Sync, Synchronising
    from .models import Model

M = TypeVar("M", bound="Model")
T = TypeVar("T")
F = TypeVar("F", bound=Freezable)


class Unchanged:
    """The default of an argument for which None has a meaning."""

    def __repr__(self) -> str:
        return "unchanged"


UNCHANGED = Unchanged()
_FEW = 8  # Fewer rows than this are written one by one, because packing them does not pay.
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Database(Session):
    """An open realm file. Made by crealm.open().

    A database shows one snapshot of the file. It moves to another one only by its own writes, by refresh(), and
    by observers on its thread, see `observing`. It belongs to the thread that opened it.

    A signal handler, a finalizer or a trace function of that thread may run in the middle of a call of the same
    database. Reads are allowed in it. Changes and refresh() raise BusyError. close() takes effect when the call is
    over; later uses of the database raise ClosedError.
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
        families: Families = Families(),
        secret: c.Secret = c.Secret(),
        reopen: Optional[Callable[..., Database]] = None,
        timeout: Optional[float] = None,
    ) -> None:
        self._secret = secret
        self._timeout = timeout  # The default timeout of write().
        self._lock_timeout = timeout  # The timeout that is set in the library.
        self._reopen = reopen
        self._by_thread = threading.local()  # See local.
        self._synchronising: Optional["Synchronising"] = None  # What open(sync=…) or sync.start() began.
        self._is_exchanging = False  # Whether sync.now() or sync.now_async() is in progress.
        self._is_quiet = False  # Whether a missing close() causes no ResourceWarning.
        self._frozen: Optional[weakref.ref[Database]] = None  # See _shared_frozen.
        self._statements: Dict[int, Running] = {}  # The statements of sql() that are running.
        super().__init__(owner, mode, models or {}, is_dynamic=is_dynamic, families=families)

    # Properties of the database

    @property
    def schema_version(self) -> Optional[int]:
        """The schema version in the file; None if the file has none."""
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
        return Classes({name: bound.schema for name, bound in self._by_name.items()})

    @overload
    def __getitem__(self, class_name: Type[M]) -> Table[M]: ...

    @overload
    def __getitem__(self, class_name: str) -> Table[Any]: ...

    def __getitem__(self, class_name: Any) -> Table[Any]:
        """The table of a class: db["Person"], or db[Person] for a model class. For a subclass of a class with
        Meta.type_property it has the objects of that subclass and of its subclasses."""
        bound = self._class(class_name)
        found = self._owner.make(lib.realm_object_find_all, bound.key)
        if bound.part is None:
            return Table(self, found, bound.key)
        return Subtable(self, narrowed(self, found, bound), bound.key, model=bound.part)

    @overload
    def objects(self, class_name: Type[M]) -> Table[M]: ...

    @overload
    def objects(self, class_name: str) -> Table[Any]: ...

    def objects(self, class_name: Any) -> Table[Any]:
        """All objects of a class, for queries such as db.objects("Person").where("age > $0", 30). The same
        as db["Person"]."""
        return self[class_name]

    def __contains__(self, class_name: object) -> bool:
        if isinstance(class_name, type):
            return self._has_model(class_name)
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

    @property
    def sync(self) -> "Sync":
        """Synchronisation with other copies of the file through a PostgreSQL database: see the module `sync`."""
        from .sync import Sync

        return Sync(self)

    def sql(self, query: str, parameters: _sql.Parameters = (), *, engine: Optional[str] = None) -> _sql.SqlResult:
        """Runs a SQL statement that reads: db.sql("SELECT name FROM Person WHERE age > ?", [30]). The tables are the
        classes of this database. See `sql`.

        parameters: the values of ? in the text, or, as a dictionary, those of $name: None, numbers, texts, bytes, aware
                    datetimes, Decimal, UUID, ObjectId, objects of this database, members of enums.
        engine:     "duckdb" or "sqlite"; without it the first of them that is installed. NotSupportedError if it is not.

        The statement sees the snapshot of the database, whatever others write meanwhile. The rows are in memory when the
        call returns. Ctrl-C ends the statement, and interrupt() lets the call raise Interrupted.

        QueryError, with the message of the engine, for a statement that is not valid, or that does not only read;
        DataError and TypeMismatch for arguments. UsageError inside a write: its changes are in no snapshot yet.
        """
        self._owner.check()
        if self._writing or self.is_writing:
            raise UsageError("SQL reads a snapshot: not inside a write", path=self.path)
        frozen = self if self.is_frozen else self._shared_frozen()
        running = Running()
        self._statements[id(running)] = running
        try:
            return _sql.run(self, frozen, query, parameters, engine, running, self._newest_version)
        finally:
            del self._statements[id(running)]

    def to_xlsx(self, path: Any, classes: Optional[Iterable[Any]] = None) -> Dict[str, int]:
        """Writes the objects into a new workbook of Excel, one sheet for each class, row by row. Needs
        `pip install 'crealm[xlsx]'`; without it NotSupportedError. FileExists if the path exists; after an error there
        is no new file.

        classes: names or models; without them all classes. Embedded objects are in the rows of their owners.

        Numbers, booleans and times, in UTC, are cells of these types, links primary keys, collections JSON. A text is a
        text also if it begins with "=". Where Excel would change a value, such as an integer beyond 2^53, the cell has
        a text and a note. `crealm import` makes the same objects of the file again.

        Returns what Excel cannot hold, and how often: {} if nothing was lost."""
        tables = [self[one] for one in (self.classes if classes is None else classes)]
        return self._write_workbook(path, [table for table in tables if classes is not None or not table.schema.embedded])

    def _write_workbook(self, path: Any, tables: Sequence[Any]) -> Dict[str, int]:
        parts: List[_xlsx.Part] = []
        for rows in tables:
            bound = rows._row_class()
            if bound is None:
                raise DataError("Values that are no objects have no sheet", hint="list(results) has the values.")
            if bound.schema.embedded:
                raise DataError(f"Objects of {bound.name} are in the rows of their owners: they have no sheet")
            parts.append(_xlsx.Part(bound, rows, len(rows)))
        names, waiting = [], [part.bound.in_file.name for part in parts]
        while waiting:
            name = waiting.pop(0)
            if name not in names:
                names.append(name)
                waiting += [prop.type for prop in self._named(name).schema.properties.values() if prop.is_link]
        declared = {name: self._with_rules(name) for name in sorted(names)}
        return dict(_xlsx.write_workbook(os.path.abspath(os.fsdecode(path)), parts, declared, self.schema_version))

    def _with_rules(self, name: str) -> ClassSchema:
        """The declaration of a class with its rules; without them if they cannot be read."""
        declared = copy.copy(self._named(name).schema)
        try:
            rules = self.rules(name)
            declared.rules = rules if any(rules.values()) else {}
        except Error:
            pass
        return declared

    def _newest_version(self) -> Optional[int]:
        """The number of the newest version of the file; None if the file cannot be opened once more."""
        if self._reopen is None:
            return None
        try:
            with self._reopen(self._secret) as other:
                return other.version
        except Error:
            return None

    # Moving on

    def write(self, *, timeout: Union[float, None, "Unchanged"] = UNCHANGED) -> "Write":
        """`with db.write():` waits for other writers, moves to the newest snapshot and lets the block
        change it. The changes are on disk when the block has ended. An exception undoes all of them, and
        instances that the block added become plain again: see add().

        timeout: seconds to wait for other writers, then TimedOut; None: no limit. The default is the
              timeout of open().

        `async with db.write():` does the same in an event loop of asyncio. The loop continues while the task waits for
        other writers and for the disk. The block itself runs in one iteration of the loop: it must not await
        anything, else its changes are undone, and it ends with UsageError.
        """
        if not isinstance(timeout, Unchanged):
            check_timeout(timeout)
        return Write(self, self._timeout if isinstance(timeout, Unchanged) else timeout)

    def savepoint(self) -> Savepoint:
        """`with db.savepoint():` inside a write: an exception undoes only the changes of this block, and then leaves it.
        Savepoints nest. The result's rollback() undoes the changes so far without an exception.

        Objects that the block created are invalid after it was undone, and instances that it added become plain again.
        Observers are told of one commit.
        """
        return Savepoint(self)

    def rules(self, class_name: Any) -> Dict[str, Any]:
        """The rules that the file has for a class, in the JSON form of the page "Rules"."""
        found: Dict[str, Any] = self._owner.call(_rules.read, self._class(class_name).key)
        return found

    def set_rules(self, class_name: Any, rules: Mapping[str, Any]) -> None:
        """Replaces the rules of a class, inside a write; {} removes all. RuleBroken if an object breaks a new rule: then
        the write can only be undone."""
        bound = self._class(class_name)
        self._require_write("A rule")
        self._owner.call(c.check, lib.crealm_class_set_rules, bound.key, _rules.as_text(rules).encode())

    def broken_rules(self, limit: int = 1000) -> List[BrokenRule]:
        """The objects that break a rule, at most `limit` of them: another library, which knows no rules, wrote them.
        Reads all objects of classes with rules."""
        found: List[BrokenRule] = self._owner.call(_rules.broken, c.most(limit))
        return found

    def find_unique(self, class_name: Any, **values: Any) -> Any:
        """The object with these values of a unique rule, given in the order of its properties; None if no object has
        them. Inside a write also among its changes. UsageError if the class has no such rule."""
        bound = self._class(class_name)
        handle = self._find_by(bound, values)
        return None if handle is None else bound.only(self._object_of(handle, bound))

    def set_if_version(self, obj: Object, version: int, **values: Any) -> bool:
        """Sets properties of an object if its property with the rule `revision` still has this value: nobody changed the
        object since the program read it. Returns whether it had. Inside a write."""
        bound = obj._bound()
        own = self._owner.call(_rules.read, bound.key)["properties"]
        name = next((n for n, rule in own.items() if rule.get("revision")), None)
        if name is None:
            raise UsageError(f"{bound.name} has no property with the rule revision", path=self.path)
        self._require_write(bound.name)
        if obj[bound.name_of(bound.columns[name].key) or name] != version:
            return False
        for key, value in values.items():
            obj[key] = value
        return True

    def increment(self, obj: Object, name: str, by: int = 1) -> None:
        """Adds to an integer property, inside a write. In a synchronised file the sums of all devices add up, while of
        values that are set the last one wins. Sums wrap around at 64 bits. UsageError if the
        property holds no integer.
        """
        bound = obj._bound()
        facts = bound.find(name)
        self._require_write(f"{bound.name}.{name}")
        if not -(1 << 63) <= operator.index(by) < 1 << 63:
            raise OutOfRange(f"{by} has more than 64 bits")
        obj._handle.call(c.check, lib.realm_object_add_int, facts.key, by)

    def interrupt(self) -> None:
        """Ends a long call of the database on its thread: a query, verify(), backup(), compact() or the wait for
        other writers raises Interrupted there. Changes and commits are not interrupted. Has no effect on later
        calls, and none at all if no call is in progress. Any thread. Statements of sql() end, too."""
        for running in list(self._statements.values()):
            running.end()
        self._owner.interrupt()

    def write_async(self, function: Callable[..., T], *arguments: Any) -> WriteCall[T]:
        """`await db.write_async(function)` calls function(*arguments) in its own write, as soon as the database has
        the write lock, and returns the function's result when the changes are on disk. The event loop of asyncio
        continues while the task waits for other writers and for the disk. Writes that wait at the same time are
        written to the disk together, in their order.

        The function is called on this thread, in an iteration of the event loop; it changes the database like the
        block of write(), and cannot await anything. If it raises, its changes are undone, and the await raises
        the exception.

        If the task is cancelled before the write begins, the write does not happen. After that, the cancellation
        waits until the outcome is known, and committed changes stay: getattr(error, "committed", False) of the
        CancelledError tells whether they are. If only another error arrives, as from asyncio.gather(), use the
        attribute `committed` of the result of write_async(). A write also does not happen if its event loop is
        closed, or its thread ends, before it begins.

        CommitOutcomeUnknown if it is not known whether the changes are on disk; ClosedError if the
        database is closed before the function is called.
        """

        def write() -> AsyncWrite:
            self._require_writable()
            return AsyncWrite(self, function, arguments)

        return WriteCall(write)

    def freeze(self) -> "Database":
        """A frozen database at the current snapshot: it never changes, and any number of threads may read it at the
        same time without waiting. Inside a write it shows the snapshot before the write.

        Nothing is copied. The file keeps the snapshot until the frozen database is closed, or the last reference
        to it and to its objects goes. It does not depend on this database, which may be closed.
        """
        realm = self._owner.call(lib.realm_freeze) or c.fail(self.path)
        owner = FrozenOwner(realm, self.path)
        return Database(
            owner, "frozen", is_dynamic=False, models=self._models, families=self._families, secret=self._secret
        )

    def clone(self) -> "Database":
        """Opens the same file again, with the same mode, schema and key, for the calling thread. Any thread may call
        this. The clone shows the newest snapshot. Close it like any other database. UsageError in migrations, and for a
        frozen database, which all threads may use anyway."""
        if self._owner.state:  # Not check(): this thread is another one.
            self._owner.refuse()
        if self._reopen is None:
            raise UsageError(f"This database cannot be opened once more: mode {self._mode!r}", path=self.path)
        return self._reopen(self._secret)

    @property
    def local(self) -> "Database":
        """This database for the calling thread: on the thread that it belongs to, the database itself; on another
        thread a clone(), made once for each thread and closed when the thread ends. A clone shows one snapshot,
        like any database: refresh() moves it to the newest one."""
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
        """The frozen database for obj.freeze() and the like: one for each snapshot."""
        known = None if self._frozen is None else self._frozen()
        if known is None or known.is_closed or known.version != self.version:
            known = self.freeze()
            self._frozen = weakref.ref(known)
        return known

    def resolve(self, frozen: F) -> Optional[F]:
        """The same object, collection or results in this database. The argument may belong to any open database
        of the file, frozen or not; for the result of obj.freeze() it returns the live object. None if this
        database has no such object or collection."""
        return frozen if frozen._db is self else frozen._resolved_in(self)

    def add(self, obj: M, update: str = "error", *, by: Optional[Sequence[str]] = None) -> M:
        """Adds an instance of a model and everything that it refers to, and returns it: from now on it is an
        object of this database. Instances that are already in the database do not change.

        update: what to do if an object with the primary key already exists. "error" raises DuplicateKeyError
                and adds nothing; "all" writes all properties to the existing object; "modified" writes those
                that the program set and whose values differ.

        by:     the properties of a unique rule: an object of this class exists already if their values are the same.
                Without it the primary key decides.

        If the write is rolled back, the added instances become plain again, with their values from before, and
        can be added again. Other objects that the write created are invalid then.
        """
        kind = type(obj)
        if not isinstance(obj, Object):
            raise TypeError(f"Instances of models are added, not {kind.__name__}")
        self._require_write(obj.class_name)
        if obj._db is not None:
            self._plain(obj)  # Raises for objects of other databases.
            if not obj.is_valid:
                self._owner.check()
                raise InvalidatedError(f"The {obj.class_name} was deleted", code=2010, path=self.path)
            return obj
        bound = self._of_model(kind)
        if update == "error" and by is None:
            own = bound.view(kind)
            handle = created(self._owner, own, dict(obj._entries(explicit=True)), with_defaults=False)
            if handle is not None:
                obj._settle(self, handle, own)
                return obj
        plan = Plan(self, update, bound, by)
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
        chunksize: Optional[int] = None,
        progress: Optional[Progress] = None,
    ) -> int:
        """Adds an object for each row, and returns the number of rows.

        kind:    a model class or the name of a class.
        rows:    one of
                 - dictionaries of values by name; missing properties get their defaults. A dictionary as a
                   value makes an embedded object, or a new object to link to. Model instances are
                   accepted, too;
                 - tuples or lists of values for `columns`;
                 - a DataFrame, LazyFrame or Series of pandas or polars, a table of pyarrow, or anything else
                   with __arrow_c_stream__: its columns have the names of properties. A link is the primary
                   key of its target, which exists or is in the same batch. Texts become UUIDs, ObjectIds,
                   decimals and times where the property has that type, and floats without a fraction
                   integers; not-a-number in a column of pandas is None if the property may be None;
                 - the path of a CSV file, or an open one: its first line has the names. An empty field
                   is None if the property may be None.
        update:  as for add(); "all" writes all values of a row, "modified" those that differ. None means
                 "error".
        columns: the names for tuples and lists, or for a CSV file whose first line has no names.
        batch:   how many rows are read and written at a time; `chunksize` is another name for it.
        progress: is called as progress("adding", done, total) after each batch; total is 0 if it is not known.
                 If it returns False, add_many() raises Interrupted.

        A row that cannot be stored raises, with its number in the message. Earlier rows stay, unless the
        write is rolled back; from columns (DataFrames and the like) only those of earlier batches stay.
        """
        bound = self._class(kind)
        self._require_write(bound.name)
        mode = "error" if update is None else update
        check_update(mode)
        batch = batch if chunksize is None else operator.index(chunksize)
        if batch < 1:
            raise DataError(f"A batch has at least one row, not {batch}")
        rows = _intake.frame_of(rows)
        told = _told(progress, 0 if progress is None else _length_of(rows))
        if hasattr(rows, "__arrow_c_stream__"):
            return _intake.add_frame(self, bound, rows, mode, batch, told)
        source: Iterable[Any] = rows
        if isinstance(rows, (str, os.PathLike)):
            with open(rows, encoding="utf-8-sig", newline="") as file:
                return self._add_rows(bound, csv_rows(bound, file, columns), mode, batch, told)
        if hasattr(rows, "readline"):
            source = csv_rows(bound, rows, columns)
        elif columns is not None:
            source = named_rows(rows, list(columns))
        return self._add_rows(bound, source, mode, batch, told)

    def _add_rows(
        self, bound: BoundClass, rows: Iterable[Any], update: str, batch: int, told: Callable[[int], None]
    ) -> int:
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
            if some:
                told(done)
            if len(some) < batch:
                return done

    def _add_row(self, bound: BoundClass, row: Any, update: str, number: int) -> None:
        plan = Plan(self, update)
        try:
            if isinstance(row, Mapping):
                plan.row(bound, row)
            elif isinstance(row, Object) and row._db is None:
                if bound.model is not None and isinstance(row, bound.model._base or Object) and not isinstance(row, bound.model):
                    raise TypeError(f"Row {number} is a {type(row).__name__}, and no {bound.model.__name__}")
                plan.instance(row)
            else:
                raise TypeError(f"Row {number} is no dictionary but {type(row).__name__}")
            plan.add()
        except Error as error:
            raise located(error, f"Row {number}")

    def create_from(
        self,
        frame: Any,
        name: str,
        *,
        primary_key: Optional[str] = None,
        index: Sequence[str] = (),
        batch: int = 10_000,
        progress: Optional[Progress] = None,
    ) -> Table[Any]:
        """Makes a class with a property for each column of a frame, adds an object for each row, and returns the table.

        frame:       a DataFrame, LazyFrame or Series of pandas or polars, or anything else with __arrow_c_stream__ that
                     can be read twice.
        name:        the name of the class. SchemaError if the database has one.
        primary_key: a column whose values are all different and not None.
        index:       columns that get an index.
        batch, progress: as for add_many().

        A property may be None if a value of its column is. Columns of objects of Python get the type that all values
        have, else Any. A struct makes an embedded class, called after the class and the column. Not inside a write.
        If a row cannot be stored, the class stays, without objects.
        """
        self._require_writable()
        if self.is_writing:
            raise UsageError("A write is running: create_from() makes a class before it writes", path=self.path)
        if name in self._by_name:
            raise SchemaError(
                f"There is a class {name!r} already", hint="add_many() adds objects to it.", path=self.path
            )
        frame = _intake.frame_of(frame)
        if not hasattr(frame, "__arrow_c_stream__"):
            raise TypeError(f"create_from() needs a frame, not {type(frame).__name__}")
        declared = _inferred.schema_of(frame, name, primary_key, index)
        self._owner.call(_add_classes, list(self._models.values()), declared)
        self._owner.drop_pages()
        self._read_schema()
        with self.write():
            self.add_many(name, frame, batch=batch, progress=progress)
        return self[name]

    def rename_class(self, old_name: str, new_name: str) -> None:
        """Gives a class of the file another name, in a write of its own. Objects, their keys, links to them, indexes
        and rules stay; the names in rules change, too.

        NoSuchClass if there is no class `old_name`, SchemaError if there is a class `new_name` or a class cannot have
        that name, UsageError if this database has a model for the class: a model declares its former name itself, with
        `renamed_from` in its Meta. Not inside a write, and not in a migration.

        Other open databases of the file, and clones of this one, know the class by its old name until they are opened
        again. A program that still declares the old name would make a new class with it.
        """
        self._require_writable()
        self._named(old_name)
        c.c_name(new_name)  # Raises for a name that no class can have.
        if self.is_writing:
            raise UsageError("A write is running: rename_class() has a write of its own", path=self.path)
        if new_name in self._by_name:
            raise SchemaError(f"There is a class {new_name!r} already", path=self.path)
        if old_name in self._models or self._reopen is None:
            raise UsageError(
                f"{old_name!r} has a model" if old_name in self._models else "This database cannot rename classes",
                hint=f"Declare a model {new_name} with renamed_from = {old_name!r} in its Meta, and open the file with "
                "it.",
                path=self.path,
            )
        from .models import Declared  # That module imports this one's neighbours.

        renamed = tuple(_renamed(facts, old_name, new_name) for facts in self._owner.call(c.read_schema))
        declared = Declared(_declarable(renamed), {}, {new_name: {"renamed_from": old_name}})
        self._reopen(self._secret, declared).close()
        self.refresh()
        self._owner.call(_take_schema, renamed)
        self._owner.drop_pages()
        self._read_schema()

    def copy_from(self, objects: Any, update: str = "modified", *, progress: Optional[Progress] = None) -> int:
        """Copies objects of another database into this one, with the objects that they link to, and returns how many
        objects were given. Inside a write.

        objects: an object, or objects: a table, results, a list. Their classes must exist here, with the properties
                 that they have there.
        update:  as for add(): what happens to objects whose primary key exists here already, and to those that they
                 link to. Objects without a primary key are always new, one for each object there.
        """
        self._require_write("A copy")
        check_update(update)
        found = [objects] if isinstance(objects, Object) else list(objects)
        told = _told(progress, len(found))
        copies = Copies(self, update)
        for number, obj in enumerate(found, 1):
            if not isinstance(obj, Object) or obj._db is None:
                raise TypeError(f"Object {number - 1}: objects of a database are copied, not {type(obj).__name__}")
            copies.copy(obj)
            if number % 1000 == 0 or number == len(found):
                told(number)
        return len(found)

    def refresh(self) -> bool:
        """Moves to the newest snapshot, and returns whether that is another one. Always False inside a write, in
        modes "immutable" and "snapshot", and in a frozen database."""
        self._owner.check()
        if self._mode in STILL:
            return False
        self._tell()
        moved = bool(self._owner.call(c.get_flag, lib.realm_refresh))
        self._moved()
        self._tell()
        return moved

    def observe(self, function: Callable[[Any], object]) -> Observation:
        """Calls function(change) each time the database has moved to another snapshot: after each of its own
        writes, and when it moves to a snapshot of another writer. Observers of objects, collections and results
        are called after it. Keep the result, as with the observe() of objects."""
        return Observation(Moves(self._owner, self), function)

    def changes(self) -> Changes:
        """As observe(), for `async for change in db.changes():`."""
        self._owner.check()
        return Changes(self._owner, self.observe)

    def wait_for_change(self, timeout: Optional[float] = None) -> bool:
        """Waits for a newer snapshot, moves to it, and calls the observers: for threads without an event loop.
        Other threads run meanwhile. The other databases of this thread move on, too.

        timeout: in seconds; None: no limit. Returns False if no newer snapshot came in time.

        UsageError inside a write, in modes "immutable" and "snapshot", and in a frozen database, which never move on.
        """
        self._owner.check()
        if self._mode in STILL:
            raise UsageError(f"Nothing changes here: mode {self._mode!r}", path=self.path)
        if self.is_writing:
            raise UsageError("A database in a write does not move on", path=self.path)
        return wait_for_change(self, self._owner, timeout)

    def verify(self, limit: int = 1000, *, progress: Optional[Progress] = None) -> Faults:
        """Checks the whole snapshot, and returns its faults, each with its place; an empty list if it is sound.
        The list has at most `limit` faults; its `total` is the number of all. progress: as in open(), for this
        call."""
        self._owner.check()
        if not _library.has("crealm_find_faults"):
            raise NotSupportedError("The loaded library has no check")
        with Attended(self._owner.attendant, progress):
            found, total = self._owner.call(c.find_faults, c.most(limit))
        return Faults((Fault(*fault) for fault in found), total)

    def space(self, *, progress: Optional[Progress] = None) -> List[Space]:
        """The parts of the file and their sizes, the largest first. Their sum is the size of the
        decrypted file. Reads the whole file. Not inside a write, whose changes are not in the file yet.
        progress: as in open(), for this call."""
        self._owner.check()
        with Attended(self._owner.attendant, progress):
            return Spaces(Space(*part) for part in self._owner.call(c.space))

    def locate(self, obj: Object, name: str, index: Optional[int] = None) -> Location:
        """The location of a value in the file, in the current snapshot: the nodes on the path to the value, and its
        bits. In files of formats 2 to 9 it is the location in that format. Not inside a write, whose changes are
        not in the file yet.

        name: a property. index: the position of an element of a collection; None: the collection itself."""
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
        library, the oldest first: one entry for each use. An old version makes the file grow: refresh() or close
        the database that uses it. In mode "immutable" the list is empty."""
        self._owner.check()
        return [
            PinnedVersion(version, _EPOCH + timedelta(microseconds=since), *rest)
            for version, since, *rest in self._owner.call(c.pinned_versions)
        ]

    # Copies and size

    def compact(self, *, progress: Optional[Progress] = None) -> bool:
        """Rewrites the file without its free space. Returns False, and does nothing, if the old file is in use: if
        another database, in any thread or process, has it open; if there are frozen objects or databases; or if
        objects, collections or results are observed, also those of this database (observing the database
        itself is allowed). Objects and collections stay valid, and the database moves to the newest snapshot. The
        memory that this takes does not grow with the file; the disk needs space for both files meanwhile.
        progress: as in open(), for this call."""
        self._require_replaceable()
        try:
            with Attended(self._owner.attendant, progress):
                return bool(self._owner.call(c.get_flag, lib.realm_compact))
        finally:
            self._begin_again()

    def shrink(self, *, progress: Optional[Progress] = None) -> Tuple[int, int]:
        """Makes the file shorter while it stays in use: other databases, threads and processes may read and write it
        meanwhile. Returns the size of the file in bytes before and after. Unlike compact() it needs no second file.
        A version that is kept (a frozen database, a reader that does not refresh) limits what can be gained; call
        again when it was released. The database moves to the newest snapshot. Commits also do this by themselves when
        more than half of a file over 1 MB is free. WrongTransactionState inside a write.
        progress: as in open(), for this call; after an interruption the file is sound."""
        self._require_replaceable()
        try:
            with Attended(self._owner.attendant, progress):
                before, after = self._owner.call(c.compact_online)
                return before, after
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
        """Writes a copy of the snapshot to a new file, without free space. FileExists if the path already exists.
        The file appears at its path only when it is complete.

        Without key or passphrase the copy has those of this database; key=None makes a plain file.
        page_cipher: as for crealm.open(). Inside a write the copy contains its changes.
        progress: as in open(), for this call.
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

    def backup_since(
        self,
        previous: Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]", None],
        path: Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"],
        *,
        progress: Optional[Progress] = None,
    ) -> int:
        """Writes a backup step to a new file: the data that is new since the step `previous`. Returns the step's size.

        previous: the step before it; None for the first step, which has everything.
        A chain of steps is a backup of each of their versions: crealm.restore() makes files from it. A step has the
        key or passphrase of this database. FileExists if the path already exists. Not inside a write.
        progress: as in open(), for this call.
        """
        self._owner.check()
        before = None if previous is None else c.c_name(os.path.abspath(os.fsdecode(previous)))
        where = c.c_name(os.path.abspath(os.fsdecode(path)))
        with Attended(self._owner.attendant, progress):
            size: int = self._owner.call(c.backup_since, before, where)
        return size

    def change_key(
        self,
        *,
        key: Union[bytes, None, "Unchanged"] = UNCHANGED,
        passphrase: Union[str, bytes, None] = None,
        page_cipher: Optional[str] = None,
        progress: Optional[Progress] = None,
    ) -> None:
        """Gives the file another key or passphrase, encrypts a plain file, or decrypts it: key=None.
        LockedError while the file is in use; compact() lists such uses.

        From one key or passphrase to another only the beginning of the file changes: the old key still opens old
        copies of the file. backup() makes a copy whose encryption is independent of the old file.
        progress: as in open(), for this call.
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

    def _has_model(self, model: type) -> bool:
        return super()._has_model(model) or self._takes_again(model)

    def _takes_again(self, model: type) -> bool:
        """Whether a model has the place of a known one, because the program ran its declaration again, as in a
        notebook: with the same module, name and properties. From then on, objects are instances of the new model, and
        of those that it refers to."""
        from .models import declare

        known = self._models.get(getattr(model, "_realm_class", None))  # type: ignore[arg-type]
        if known is None or self._families.by_class or _full_name(known) != _full_name(model):
            return False
        declared = declare([model])
        for facts in declared.classes:
            bound = self._by_name.get(facts.name)
            wanted = ClassSchema._from_facts(facts)
            if bound is None:
                return False
            known_as = bound.schema
            if (known_as.primary_key, known_as.embedded) != (wanted.primary_key, wanted.embedded):
                return False
            if any(bound.schema.properties.get(name) != prop for name, prop in wanted.properties.items()):
                return False
        self._models = {**self._models, **declared.models}
        self._owner.drop_pages()
        self._read_schema()
        return True

    def _require_writable(self) -> None:
        self._owner.check()
        if self._mode in READING:
            raise ReadOnlyError("The database is open for reading", path=self.path)

    def _require_replaceable(self) -> None:
        self._require_writable()
        if self.is_writing:
            raise UsageError("A write is running: the file can be rewritten after it", path=self.path)

    def _begin_again(self) -> None:
        """Begins to read again, because rewriting the file ended the snapshot."""
        self._owner.call(c.check, lib.realm_begin_read)
        self._moved()

    def close(self) -> None:
        """Closes the file. A running write is rolled back. All objects and collections of this
        database raise ClosedError from now on. A second call does nothing."""
        if not self._owner.is_closed:
            self._owner.check()
        if self._synchronising is not None:
            self._synchronising.worker.stop()
        block = self._block
        if block is not None and not self._owner.depth:
            self._end_write(block)
        self._owner.close()  # Continues if an earlier close() was interrupted.

    def __enter__(self) -> "Database":
        self._owner.check()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        owner = getattr(self, "_owner", None)
        if owner is not None and not owner.is_closed:
            if not self.is_frozen and not self._is_quiet:  # Both kinds need no close().
                warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self, stacklevel=2)
            owner.close()  # Now, because the warning may keep this object alive.

    def __reduce__(self) -> NoReturn:
        raise TypeError("An open database cannot be pickled or copied; open the file again")



def _full_name(model: type) -> Tuple[str, str]:
    return model.__module__, model.__qualname__


def _length_of(rows: Any) -> int:
    """The number of rows; 0 if it is not known."""
    try:
        return 0 if isinstance(rows, (str, bytes)) else len(rows)
    except Exception:  # No length, or one that must be computed first, which failed.
        return 0


def _told(progress: Optional[Progress], total: int) -> Callable[[int], None]:
    """The function that add_many() calls with the number of rows that are written."""

    def tell(done: int) -> None:
        if progress is not None and progress("adding", done, total) is False:
            raise Interrupted(f"The progress function ended add_many() after {done} rows")

    return tell


def _renamed(facts: c.ClassFacts, old_name: str, new_name: str) -> c.ClassFacts:
    """A class of a schema in which a class has another name."""
    properties = [one._replace(target=new_name) if one.target == old_name else one for one in facts.properties]
    name = new_name if facts.name == old_name else facts.name
    return facts._replace(name=name, properties=tuple(properties))


def _declarable(classes: Iterable[c.ClassFacts]) -> Tuple[c.ClassFacts, ...]:
    """The classes of a file that a schema may declare: all but embedded classes that belong to no other class, which a
    migration may leave behind."""
    by_name = {facts.name: facts for facts in classes}
    waiting = [facts for facts in by_name.values() if facts.flags & 3 != c.CLASS_EMBEDDED]
    found = {facts.name for facts in waiting}
    while waiting:
        for one in waiting.pop().properties:
            if one.target in by_name and one.target not in found:
                found.add(one.target)
                waiting.append(by_name[one.target])
    return tuple(facts for facts in by_name.values() if facts.name in found)


def _take_schema(realm: int, classes: Iterable[c.ClassFacts]) -> None:
    """Gives an open realm a schema."""
    version = lib.realm_get_schema_version(realm)
    schema = c.make_schema(_declarable(classes))
    try:
        number = 0 if version == NO_SCHEMA_VERSION else version
        c.check(realm, lib.realm_update_schema_advanced, schema, number, None, None, None, None, False)
    finally:
        lib.realm_release(schema)


_take_schema.moves = True  # type: ignore[attr-defined]


def _add_classes(realm: int, models: Sequence[Any], declared: Sequence[ClassSchema]) -> None:
    """Adds classes to an open realm, beside those that it has."""
    known = {facts.name: facts for facts in c.read_schema(realm)}
    from .models import declare  # That module imports this one's neighbours.

    known.update({facts.name: facts for facts in declare(list(models)).classes})
    known.update({facts.name: facts for facts in class_facts(declared)})
    _take_schema(realm, known.values())


_add_classes.moves = True  # type: ignore[attr-defined]


class _WayOut:
    """The descriptor `__exit__` of `Write`. A `with` statement reads `__exit__` before it enters the block, and
    releases it when the block is over, however it ends. So each read returns a new object, the way out of the block,
    which only the `with` statement keeps alive: not even the traceback of an interrupt at the beginning of `_exit`
    refers to it."""

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
    """The result of db.write(), a context manager. The write ends when the block ends. Because an interrupt may come
    before the first step of `__exit__` or between any two others, the write also ends when the last reference
    to the block's way out goes (see `_WayOut`), or, if the program called `__enter__` itself, to this object."""

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
            db._end_write(former)  # An interrupt kept the former write from ending.
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
        raise  # Another call is in progress, so the write continues.
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
