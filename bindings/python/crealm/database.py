"""Opening files, and writing to them."""

from __future__ import annotations

import os
import warnings
import weakref
from types import MappingProxyType, TracebackType
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Type, Union

from . import _library, _marshal as c
from ._handle import Owner
from ._library import lib
from ._prototypes import NO_SCHEMA_VERSION, SCHEMA_MODE_ADDITIVE_EXPLICIT, SCHEMA_MODE_IMMUTABLE
from .errors import (
    ClosedError,
    DataError,
    FileNotFound,
    NoSuchClass,
    NotInWriteError,
    NotSupportedError,
    ReadOnlyError,
    SchemaError,
    UsageError,
)
from .objects import Object, Table
from .schema import BoundClass, ClassSchema, class_facts
from .values import Float32

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Schema = Union[Iterable[ClassSchema], Mapping[str, ClassSchema]]


def open(
    path: Path,
    *,
    schema: Optional[Schema] = None,
    mode: Optional[str] = None,
    key: Optional[bytes] = None,
    schema_version: Optional[int] = None,
) -> Database:
    """Opens a realm file.

    mode: "r" reads one state of a file that nobody changes meanwhile: nothing on disk changes or
          appears. "rw" reads and writes a file that exists. "rwc" also creates it. Without a mode:
          "rwc" when there is a schema, else "rw".
    schema: the classes the program uses. The file gets those classes, properties and indexes that it
          lacks; what it has beyond them stays, unseen. Differences of another kind raise
          MigrationRequired. Without a schema the database shows all classes of the file.
    schema_version: the version to write down with the schema; without one the file keeps its own.
    key:  64 bytes, for encrypted files.

    The database belongs to the calling thread. Close it, or use it as a context manager.
    """
    where, for_library = _resolve(path)
    if mode is None:
        mode = "rw" if schema is None else "rwc"
    if mode not in ("r", "rw", "rwc"):
        raise DataError(f'mode is "r", "rw" or "rwc", not {mode!r}')
    if key is not None and (not isinstance(key, (bytes, bytearray)) or len(key) != 64):
        raise DataError("The encryption key is 64 bytes", code=3014, path=where)
    if schema_version is not None:
        if schema is None:
            raise DataError("A schema version needs a schema")
        if not 0 <= schema_version < NO_SCHEMA_VERSION:
            raise DataError(f"{schema_version} is no schema version")
    exists = os.path.exists(where)
    if mode != "rwc" and not exists:
        raise FileNotFound(f"No such file: {where}", code=1019, path=where)
    kind = SCHEMA_MODE_IMMUTABLE if mode == "r" else SCHEMA_MODE_ADDITIVE_EXPLICIT
    declared = None if schema is None else class_facts(schema)

    config = c.make_config(for_library, kind, None if key is None else bytes(key))
    try:
        if declared is not None:
            found = c.persisted_schema_version(config, where) if exists else NO_SCHEMA_VERSION
            version = schema_version
            if version is None:
                version = 0 if found == NO_SCHEMA_VERSION else found
            elif found != NO_SCHEMA_VERSION and version < found:
                raise SchemaError(
                    f"Schema version {version} is lower than the file's, {found}", code=2018, path=where
                )
            handle = c.make_schema(declared)
            lib.realm_config_set_schema(config, handle)
            lib.realm_config_set_schema_version(config, version)
            lib.realm_release(handle)
        realm = lib.realm_open(config)
        if not realm:
            c.fail(where)
    finally:
        lib.realm_release(config)
    return Database(Owner(realm, where), mode, is_dynamic=declared is None)


def _resolve(path: Path) -> Tuple[str, bytes]:
    """The absolute path, for Python and for the library."""
    where = os.path.abspath(os.fsdecode(path))
    try:
        return where, c.c_name(where)
    except DataError as error:
        raise DataError(f"{where!r} cannot be the path of a realm: {error.message}") from error


class Database:
    """An open realm file. Made by crealm.open().

    It looks at one snapshot of the file: what it reads changes only by its own writes and by
    refresh(). It belongs to the thread that opened it.
    """

    def __init__(self, owner: Owner, mode: str, *, is_dynamic: bool) -> None:
        self._owner = owner
        self._mode = mode
        self._is_dynamic = is_dynamic
        self._writing = False
        self._classes: Dict[int, BoundClass] = {}
        self._by_name: Dict[str, BoundClass] = {}
        self._finalizer = weakref.finalize(self, owner.close)
        self._finalizer.atexit = False
        self._at_exit = weakref.finalize(self, owner.close_at_exit)
        try:
            if not lib.realm_begin_read(owner.check()):
                c.fail(owner.path)
            self._seen = c.get_version(owner.realm)
            self._read_schema()
        except BaseException:
            owner.close()
            raise

    # What it is

    @property
    def path(self) -> str:
        """The absolute path of the file."""
        return self._owner.path

    @property
    def mode(self) -> str:
        """The mode it was opened with."""
        return self._mode

    @property
    def is_closed(self) -> bool:
        return self._owner.is_closed

    @property
    def is_writing(self) -> bool:
        """Whether a `with db.write():` block is running."""
        return self._writing

    @property
    def version(self) -> int:
        """The number of the snapshot; each commit makes a higher one."""
        return c.get_version(self._owner.check())

    @property
    def schema_version(self) -> Optional[int]:
        """The version that programs gave their schema; None when the file has none."""
        version = lib.realm_get_schema_version(self._owner.check())
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

    def __getitem__(self, class_name: str) -> Table:
        bound = self._named(class_name)
        pointer = c.get_pointer(lib.realm_object_find_all, self._owner.check(), bound.key)
        return Table(self, pointer, bound.key)

    def __contains__(self, class_name: object) -> bool:
        return class_name in self._by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self.classes)

    def __repr__(self) -> str:
        state = "closed" if self.is_closed else f"mode {self._mode!r}"
        return f"<Database {self.path!r}, {state}>"

    # Moving on

    def write(self) -> "Write":
        """`with db.write():` waits for other writers, moves to the newest snapshot and lets the block
        change it. The changes are on disk when the block ends; an exception forgets all of them.
        """
        return Write(self)

    def refresh(self) -> bool:
        """Moves to the newest snapshot. Whether there was a newer one. Inside a write, and in mode
        "r", there never is."""
        realm = self._owner.check()
        if self._mode == "r":
            return False
        moved = c.get_flag(lib.realm_refresh, realm)
        self._moved()
        return moved

    def verify(self) -> List[str]:
        """Checks the whole snapshot: what is wrong with it, one text each; empty when it is sound."""
        realm = self._owner.check()
        if not _library.has("crealm_verify"):
            raise NotSupportedError("The loaded library has no check")
        return c.verify(realm)

    def close(self) -> None:
        """Closes the file. A running write is rolled back. All objects and collections of this
        database raise ClosedError from now on. Closing again does nothing."""
        if not self._owner.is_closed:
            self._owner.check()
            self._owner.close()
            self._writing = False

    def __enter__(self) -> "Database":
        self._owner.check()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        owner = getattr(self, "_owner", None)
        if owner is not None and not owner.is_closed:
            warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self, stacklevel=2)
            owner.close()  # The warning may keep this object; the file is done with all the same.

    # For the rest of the package

    def _read_schema(self) -> None:
        classes = [BoundClass(facts) for facts in c.read_schema(self._owner.check())]
        self._classes = {bound.key: bound for bound in classes}
        self._by_name = {bound.name: bound for bound in classes}

    def _moved(self) -> None:
        """Takes notice of a new snapshot, which may have new classes and properties."""
        version = c.get_version(self._owner.check())
        if version != self._seen:
            self._seen = version
            if self._is_dynamic:
                self._read_schema()

    def _named(self, name: str) -> BoundClass:
        try:
            return self._by_name[name]
        except KeyError:
            self._owner.check()
            raise NoSuchClass(f"There is no class {name!r}", path=self.path) from None

    def _bound(self, class_key: int) -> BoundClass:
        try:
            return self._classes[class_key]
        except KeyError:
            raise NoSuchClass("The object's class is not part of the schema", path=self.path) from None

    def _object(self, class_key: int, object_key: int) -> Object:
        pointer = c.get_pointer(lib.realm_get_object, self._owner.check(), class_key, object_key)
        return Object(self, pointer, class_key, object_key)

    def _adopt(self, pointer: int, class_key: int) -> Object:
        return Object(self, pointer, class_key, lib.realm_object_get_key(pointer))

    def _rich(self, value: Any, facts: c.PropertyFacts) -> Any:
        """What users see of a value that came from the library."""
        kind = type(value)
        if kind is c.Link:
            return self._object(value.class_key, value.object_key)
        if kind is Float32 and facts.type == c.P_FLOAT:
            return float(value)  # The property says what it is; only in Any the value has to.
        return value

    def _plain(self, value: Any) -> Any:
        """The opposite for objects: a link. Other values pass."""
        if not isinstance(value, Object):
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
            if self._mode == "r":
                raise ReadOnlyError(
                    f"{what} cannot be changed: the database is open for reading", path=self.path
                )
            raise NotInWriteError(f"{what} was to be changed outside of a write", code=2005, path=self.path)


class Write:
    """What db.write() returns: a context manager."""

    __slots__ = ("_db",)

    def __init__(self, db: Database) -> None:
        self._db = db

    def __enter__(self) -> Database:
        db = self._db
        realm = db._owner.check()
        if db._mode == "r":
            raise ReadOnlyError("The database is open for reading", path=db.path)
        if db._writing:
            raise UsageError("A write is running already: writes do not nest", path=db.path)
        db._writing = True
        try:
            if not lib.realm_begin_write(realm):
                c.fail(db.path)
            db._moved()
        except BaseException:
            self._roll_back(realm)
            raise
        return db

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        db = self._db
        if not db._writing or db.is_closed:
            if error is not None:
                return
            if db._owner.is_forked:
                db._owner.check()
            raise ClosedError("The database was closed inside its write: nothing was changed", path=db.path)
        realm = db._owner.check()
        if error is not None:
            self._roll_back(realm)
            return
        try:
            if not lib.realm_commit(realm):
                c.fail(db.path)
        except BaseException:
            self._roll_back(realm)
            raise
        db._writing = False
        db._seen = c.get_version(realm)

    def _roll_back(self, realm: int) -> None:
        db = self._db
        db._writing = False
        if lib.realm_is_writable(realm) and not lib.realm_rollback(realm):
            c.fail(db.path)
