"""The part of an open database that its objects, collections, results and queries use. Their modules import this
one, and `database`, with the complete class `Database`, imports their modules. This module imports none of them;
it defines base classes for the types that it must recognise: `Row`, `LiveList`."""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Protocol, Sequence, Set, Tuple, Type, Union

from . import _marshal as c
from ._handle import Handle, Owner
from ._library import lib
from .errors import DataError, Error, NoSuchClass, NotInWriteError, ReadOnlyError, UsageError, suggestion
from .families import Families, bound_class
from .observing import Watcher
from .rules import find_unique, key_of, read as read_rules, values_of
from .schema import BoundClass
from .values import Float32

STILL = ("immutable", "snapshot", "frozen")  # Modes in which a database never moves to another snapshot.
READING = ("r", *STILL)  # The modes without writes.


class Row:
    """An object of a database, or an instance of a model that is in no database yet."""

    __slots__ = ()
    _db: Session  # None for model instances that are in no database.
    _handle: Handle
    _class_key: int
    _key: int

    @property
    def class_name(self) -> str:
        raise NotImplementedError

    def _bound(self) -> BoundClass:
        raise NotImplementedError

    def _entries(self, explicit: bool = False) -> Iterator[Tuple[str, Any]]:
        raise NotImplementedError


class Instance(Protocol):
    """An instance of a model: it can become an object of a database, and plain again after a rollback."""

    def _entries(self, explicit: bool = False) -> Iterator[Tuple[str, Any]]: ...

    def _is_given(self, name: str) -> bool: ...

    def _settle(self, db: Session, handle: Handle, bound: BoundClass) -> None: ...

    def _stay(self) -> None: ...

    def _return(self) -> None: ...


class LiveList:
    """A list in a database. When it is assigned as a value, its elements are copied."""

    __slots__ = ()


class Session:
    """Reads the schema, keeps the state of the running write, and finds objects by their keys."""

    _is_migrating = False
    _object_type: Type[Any]  # The type of objects whose class has no model.
    _view_types: Mapping[int, Callable[..., Any]]  # The types of collections, by c.C_LIST and so on.

    def __init__(
        self,
        owner: Owner,
        mode: str,
        models: Mapping[str, Type[Any]],
        *,
        is_dynamic: bool,
        families: Families = Families(),
    ) -> None:
        self._owner = owner
        self._mode = mode
        self._is_dynamic = is_dynamic
        self._models = models
        self._families = families
        self._writing = False  # Whether a write block is running. The library may have ended the write already.
        # Refers to an object that only the block of the running write keeps alive: see Write.
        self._block: Optional[weakref.ref[Any]] = None
        self._async_writes: Set[Any] = set()  # The asynchronous writes that wait for the write lock, or for the disk.
        self._added = Added()
        self._savepoints: List[Any] = []  # The open ones, outermost first.
        self._classes: Dict[int, BoundClass] = {}
        self._by_name: Dict[str, BoundClass] = {}
        self._finalizer = weakref.finalize(self, owner.close)
        self._finalizer.atexit = False
        self._at_exit = weakref.finalize(self, owner.close_at_exit)
        owner.watcher = Watcher(weakref.WeakMethod(self._moved))
        try:
            owner.call(c.check, lib.realm_begin_read)
            self._seen = owner.call(c.get_version)
            self._read_schema()
        except BaseException:
            owner.close()
            raise

    # Properties of the database

    @property
    def path(self) -> str:
        """The absolute path of the file."""
        return self._owner.path

    @property
    def mode(self) -> str:
        """The mode that the database was opened with; "frozen" for the result of freeze()."""
        return self._mode

    @property
    def is_frozen(self) -> bool:
        """Whether this is a frozen database, a result of freeze(): all threads may use it, and it never changes."""
        return self._mode == "frozen"

    @property
    def is_closed(self) -> bool:
        return self._owner.is_closed

    @property
    def is_writing(self) -> bool:
        """Whether a `with db.write():` block, or a function of write_async(), is running."""
        if self.is_closed or not self._owner.call(lib.realm_is_writable):
            return False
        # realm_is_writable() is true also while asynchronous writes wait.
        return self._block is not None or not self._async_writes

    @property
    def version(self) -> int:
        """The number of the current snapshot; each commit makes a snapshot with a higher number."""
        number: int = self._owner.call(c.get_version)
        return number

    # Snapshots and writes

    def _shared_frozen(self) -> Session:
        raise NotImplementedError

    def _read_schema(self) -> None:
        classes = [
            bound_class(facts, self._models, self._object_type, self._families)
            for facts in self._owner.call(c.read_schema)
        ]
        self._classes = {bound.key: bound for bound in classes}
        self._by_name = {bound.name: bound for bound in classes}

    def _moved(self) -> None:
        """Called when the realm may have moved to a new snapshot: drops the pages, and in a database without models
        reads the schema, which may have new classes and properties."""
        version = self._owner.call(c.get_version)
        if version != self._seen:
            self._owner.drop_pages()
            if self._is_dynamic:
                self._read_schema()
            self._seen = version

    def _tell(self) -> None:
        """Calls the functions of observers with the changes that wait for them. No call of the library may be in
        progress."""
        self._owner.watcher.tell(self._owner)

    def _enter_block(self) -> None:
        """Called after the library has begun a write."""
        self._owner.drop_pages()
        self._moved()
        self._writing = True
        self._tell()

    def _end_write(self, block: "weakref.ref[Any]", is_committed: bool = False) -> None:
        """Ends the write of a block, and rolls back changes that are not committed. A second call is allowed: after
        an interrupt it continues, and for a block that is over it does nothing."""
        owner = self._owner
        if owner.depth or not owner.is_here:
            owner.later.append(partial(self._end_write, block, is_committed))
            return
        if self.is_closed:
            self._settle_write(block, is_committed)
        else:
            owner.call(_end, self, block, is_committed)

    def _settle_write(self, block: "weakref.ref[Any]", is_committed: bool) -> None:
        if self._block is not block:
            return
        if is_committed:
            self._added.keep()
        else:
            self._added.take_back()
        self._writing = False
        for savepoint in self._savepoints:  # They are over.
            savepoint._number = 0
        self._savepoints = []
        self._block = None

    # Classes and objects

    def _named(self, name: str) -> BoundClass:
        try:
            return self._by_name[name]
        except KeyError:
            self._owner.check()
            raise NoSuchClass(
                f"There is no class {name!r}{suggestion(name, self._by_name)}", path=self.path
            ) from None

    def _bound(self, class_key: int) -> BoundClass:
        try:
            return self._classes[class_key]
        except KeyError:
            raise NoSuchClass("The object's class is not part of the schema", path=self.path) from None

    def _class(self, kind: Any) -> BoundClass:
        """The class for a name or for a model class."""
        return self._of_model(kind) if isinstance(kind, type) else self._named(kind)

    def _of_model(self, model: type) -> BoundClass:
        name = getattr(model, "_realm_class", None)
        if not self._has_model(model):
            self._owner.check()
            raise NoSuchClass(
                f"{model.__name__} is not in the schema of this database",
                path=self.path,
                hint="Open the file with schema=[…] that lists it.",
            )
        bound = self._named(name)  # type: ignore[arg-type]
        return bound if bound.model is model else bound.view(model)

    def _has_model(self, model: type) -> bool:
        """Whether a model class is in the schema of this database."""
        name = getattr(model, "_realm_class", None)
        if self._models.get(name) is model:  # type: ignore[arg-type]
            return True
        family = self._families.by_class.get(name)  # type: ignore[arg-type]
        return family is not None and model in family.members

    def _model_named(self, name: str) -> Union[str, type]:
        """The model class with this Python name; if no model has it, the text itself as the name of a class in the
        file."""
        members = (model for family in self._families.by_class.values() for model in family.members)
        return next((model for model in (*self._models.values(), *members) if model.__name__ == name), name)

    def _makes_keys(self, bound: BoundClass) -> bool:
        """Whether the library makes the primary keys of a class."""
        if bound.primary_key is None:
            return False
        own = self._owner.call(read_rules, bound.key)["properties"].get(bound.primary_key.name, {})
        return bool(own.get("auto"))

    def _find_by(self, bound: BoundClass, values: Mapping[str, Any]) -> Optional[Handle]:
        """The handle of the object with these values of a unique rule; None if no object has them."""
        columns, encoded = values_of(self, bound, values, values.values())
        return self._owner.find(find_unique, bound.key, columns, encoded)

    def _found_by_key(self, bound: BoundClass, key: Any) -> Any:
        """The object with a primary key of several properties; None if no object has it."""
        columns = key_of(self._owner.call(read_rules, bound.key))
        if columns is None:
            raise DataError(f"{bound.name} has no primary key")
        if not isinstance(key, tuple) or len(key) != len(columns):
            raise DataError(f"The primary key of {bound.name} is a tuple of {', '.join(columns)}")
        handle = self._find_by(bound, dict(zip(columns, key)))
        return None if handle is None else bound.only(self._object_of(handle, bound))

    def _write_workbook(self, path: Any, tables: Sequence[Any]) -> Dict[str, int]:
        """Writes a workbook of Excel with a sheet for each of these tables, results or windows."""
        raise NotImplementedError

    def _object_of(self, handle: Handle, bound: BoundClass) -> Any:
        return bound.wrap(self, handle, bound.key, handle.call(lib.realm_object_get_key))

    def _kind_in_loops(self, bound: BoundClass) -> Any:
        """The Python class of the objects that a loop returns."""
        if bound.kind is None:
            bound.kind = bound.model or self._object_type._of_class(bound)
        return bound.kind

    def _object(self, class_key: int, object_key: int) -> Any:
        handle = self._owner.make(lib.realm_get_object, class_key, object_key)
        return self._bound(class_key).wrap(self, handle, class_key, object_key)

    def _found(self, bound: BoundClass, primary_key: c.Encoded) -> Any:
        """The object with a primary key, as an object of the package; None if no object has it."""
        found = self._owner.call(_find_row, self._owner, bound.key, primary_key)
        return None if found is None else bound.only(bound.wrap(self, found[0], bound.key, found[1]))

    def _find(self, bound: BoundClass, primary_key: c.Encoded) -> Optional[Handle]:
        """The handle of the object with a primary key; None if no object has it."""
        return self._owner.find(lib.realm_object_find_with_primary_key, bound.key, primary_key, None)

    def _rich(self, value: Any, facts: c.PropertyFacts) -> Any:
        """The value that users get for a value that came from the library."""
        if facts.kind is not None:
            return read_kind(self, facts, value)
        kind = type(value)
        if kind is c.Link:
            return self._object(value.class_key, value.object_key)
        if kind is Float32 and facts.type == c.P_FLOAT:
            return float(value)  # The property says that it is a 32-bit float; only in Any the value must say so.
        return value

    def _plain(self, value: Any) -> Any:
        """The reverse of `_rich`: a link in place of an object, other values unchanged."""
        if not isinstance(value, Row):
            return value
        if value._db is not self:
            raise DataError(
                f"The {value.class_name} belongs to another open database",
                hint="Look the object up in this one, for example by its primary key.",
            )
        return c.Link(value._class_key, value._key)

    def _require_write(self, what: str) -> None:
        self._owner.check()
        if not self._writing:
            if self._mode in READING:
                raise ReadOnlyError(
                    f"{what} cannot be changed: the database is open for reading", path=self.path
                )
            raise NotInWriteError(f"{what} was to be changed outside of a write", code=2005, path=self.path)


class Added:
    """The model instances that a write has added, as long as the program keeps them."""

    __slots__ = ("_instances", "_room")

    def __init__(self) -> None:
        self._instances: List["weakref.ref[Instance]"] = []
        self._room = 1000

    def begin(self) -> "List[weakref.ref[Instance]]":
        """Called when a savepoint begins; returns the instances from before it."""
        before, self._instances = self._instances, []
        return before

    def release(self, before: "List[weakref.ref[Instance]]") -> None:
        """Called when a savepoint was released."""
        self._instances = before + self._instances

    def undo(self, before: "List[weakref.ref[Instance]]") -> None:
        """Called when a savepoint was undone: the instances that it added become plain again."""
        self.take_back()
        self._instances = before

    def append(self, instance: Instance) -> None:
        self._instances.append(weakref.ref(instance))
        if len(self._instances) > self._room:
            self._instances = [ref for ref in self._instances if ref() is not None]
            self._room = max(1000, 2 * len(self._instances))

    def keep(self) -> None:
        """Called after the write was committed."""
        self._settle(lambda instance: instance._stay())

    def take_back(self) -> None:
        """Called after the write was rolled back."""
        self._settle(lambda instance: instance._return())

    def _settle(self, settle: "Callable[[Instance], None]") -> None:
        """Settles each instance and only then removes it from the list, so that a second call continues after an
        interrupt."""
        while self._instances:
            instance = self._instances[-1]()
            if instance is not None:
                settle(instance)
            self._instances.pop()


def _find_row(realm: int, owner: Owner, class_key: int, primary_key: c.Encoded) -> Optional[Tuple[Handle, int]]:
    """The handle and the key of the object with a primary key, in one call; None if no object has it."""
    find = lib.realm_object_find_with_primary_key
    found = find(realm, class_key, primary_key, None) or c.find_again(realm, find, class_key, primary_key, None)
    if found is None:
        return None
    handle = Handle(owner, found)  # Made before the next step, which may be interrupted: it releases the C handle.
    return handle, lib.realm_object_get_key(found)


def read_kind(db: Session, facts: c.PropertyFacts, value: Any) -> Any:
    """Converts a stored value to the type that the model declares."""
    if value is None or facts.kind is None:
        return value
    try:
        return facts.kind.read(value)
    except DataError as error:
        owner = next((b for b in db._classes.values() if facts in b.columns.values()), None)
        name = facts.name if owner is None else owner.where(facts)
        hint = "Rows that are older than the property have 0 or an empty text: update() gives them a value, or a migration."
        raise DataError(f"{name}: {error.message}", path=db.path, hint=hint) from None


def _end(realm: int, db: Session, block: "weakref.ref[Any]", is_committed: bool) -> None:
    """Rolls back changes that are not committed. Runs as one `call()`, so that no other write can begin meanwhile."""
    if db._block is not block:
        return
    try:
        _roll_back(realm, db)
        version = c.get_version(realm)
        is_committed = db._writing and version != db._seen
    except Error:
        db._settle_write(block, is_committed)
        raise
    db._settle_write(block, is_committed)
    if is_committed:
        db._seen = version


def _roll_back(realm: int, db: Session) -> None:
    if lib.realm_is_writable(realm):
        try:
            c.check(realm, lib.realm_rollback)
        except UsageError:
            if not db._async_writes:
                raise
            # Asynchronous writes wait, so the Realm counts as writable; but no write is running.


_end.moves = True  # type: ignore[attr-defined]
