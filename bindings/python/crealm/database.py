"""Open files, and writing to them. `opening` has the function that opens one."""

from __future__ import annotations

import os
import warnings
import weakref
from types import MappingProxyType, TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Type,
    TypeVar,
    Union,
    overload,
)

from . import _library, _marshal as c
from ._handle import Handle, Owner
from ._library import lib
from ._prototypes import NO_SCHEMA_VERSION, SCHEMA_MODE_AUTOMATIC
from ._store import Plan, located
from .errors import (
    ClosedError,
    DataError,
    Error,
    NoSuchClass,
    NotInWriteError,
    NotSupportedError,
    ReadOnlyError,
    UsageError,
)
from .objects import Object, Table
from .schema import BoundClass, ClassSchema
from .values import Float32

if TYPE_CHECKING:
    from .models import Model

M = TypeVar("M", bound="Model")


class Unchanged:
    """Stands for an argument that was not given, where None means something."""

    def __repr__(self) -> str:
        return "unchanged"


UNCHANGED = Unchanged()


class Database:
    """An open realm file. Made by crealm.open().

    It looks at one snapshot of the file: what it reads changes only by its own writes and by
    refresh(). It belongs to the thread that opened it.
    """

    _is_migrating = False

    def __init__(
        self,
        owner: Owner,
        mode: str,
        *,
        is_dynamic: bool,
        models: Optional[Mapping[str, Type[Model]]] = None,
        secret: c.Secret = c.Secret(),
    ) -> None:
        self._owner = owner
        self._secret = secret
        self._mode = mode
        self._is_dynamic = is_dynamic
        self._models = models or {}
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

    @overload
    def __getitem__(self, class_name: Type[M]) -> Table[M]: ...

    @overload
    def __getitem__(self, class_name: str) -> Table[Any]: ...

    def __getitem__(self, class_name: Any) -> Table[Any]:
        """The table of a class: db["Person"], or db[Person] for a model class."""
        bound = self._class(class_name)
        pointer = c.get_pointer(lib.realm_object_find_all, self._owner.check(), bound.key)
        return Table(self, pointer, bound.key)

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

    # Moving on

    def write(self) -> "Write":
        """`with db.write():` waits for other writers, moves to the newest snapshot and lets the block
        change it. The changes are on disk when the block ends; an exception forgets all of them.
        """
        return Write(self)

    def add(self, obj: M, update: str = "error") -> M:
        """Adds an instance of a model and everything it leads to, and returns it: from now on it is an
        object of this database. Instances that are in it already stay as they are.

        update: what happens when a primary key is taken. "error" raises DuplicateKeyError and adds
                nothing; "all" writes all properties to the object that is there; "modified" writes those
                that differ, and of those only the ones that the program set.

        If the write is rolled back, the instances that were added are invalid, as all new objects are.
        """
        kind = type(obj)
        if not isinstance(obj, Object):
            raise TypeError(f"Instances of models are added, not {kind.__name__}")
        self._require_write(obj.class_name)
        if obj._db is not None:
            self._plain(obj)  # Refuses those of other databases.
            return obj
        plan = Plan(self, update)
        plan.instance(obj)
        plan.add()
        return obj

    def add_many(
        self, kind: Union[str, Type[Model]], rows: Iterable[Mapping[str, Any]], update: str = "error"
    ) -> int:
        """Adds an object for each row, and returns how many rows there were.

        kind:   a model class or the name of a class.
        rows:   dictionaries of values by name; what is missing gets its default. A dictionary inside
                makes an embedded object, or another new object to link to. Model instances are taken,
                too. The rows are read one by one.
        update: as for add(); "all" writes all values of a row, "modified" those that differ.

        A row that cannot be stored raises, with its number in the message; earlier rows stay, until the
        write is rolled back.
        """
        bound = self._class(kind)
        self._require_write(bound.name)
        number = -1
        for number, row in enumerate(rows):
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
        return number + 1

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

    # Copies and size

    def compact(self) -> bool:
        """Rewrites the file without its free space. False when another database, in any thread or
        process, has it open: nothing is done then. Objects and collections stay good, and the database
        moves to the newest snapshot. The memory this takes does not grow with the file; on disk there
        are two files meanwhile."""
        realm = self._require_replaceable()
        done = c.get_flag(lib.realm_compact, realm)
        self._begin_again()
        return done

    def backup(
        self,
        path: Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"],
        *,
        key: Union[bytes, None, "Unchanged"] = UNCHANGED,
        passphrase: Union[str, bytes, None] = None,
        page_cipher: Optional[str] = None,
    ) -> None:
        """Writes a copy of the snapshot to a new file, without free space. It raises FileExists when
        something is there, and the copy appears when it is complete.

        Without key or passphrase the copy has those of this database; key=None makes it a plain file.
        page_cipher: as for crealm.open(). Inside a write its changes are in the copy.
        """
        realm = self._owner.check()
        where = os.path.abspath(os.fsdecode(path))
        if isinstance(key, Unchanged) and passphrase is None:
            secret = self._secret._replace(page_cipher=page_cipher or self._secret.page_cipher)
        else:
            new_key = None if isinstance(key, Unchanged) else key
            secret = c.make_secret(new_key, passphrase, page_cipher, where)
        config = c.make_config(c.c_name(where), SCHEMA_MODE_AUTOMATIC, secret)
        try:
            if not lib.realm_convert_with_config(realm, config, False):
                c.fail(where)
        finally:
            lib.realm_release(config)

    def change_key(
        self,
        *,
        key: Union[bytes, None, "Unchanged"] = UNCHANGED,
        passphrase: Union[str, bytes, None] = None,
        page_cipher: Optional[str] = None,
    ) -> None:
        """Gives the file another key or passphrase, encrypts a plain file, or decrypts it: key=None.
        It raises LockedError while another database, in any thread or process, has the file open.

        From one key or passphrase to another only the beginning of the file changes; who has the old key
        and an old copy of the file can still read what was in that. backup() makes a copy that shares
        nothing with the old file.
        """
        if isinstance(key, Unchanged) and passphrase is None:
            raise TypeError("change_key() needs a key or a passphrase; key=None decrypts the file")
        realm = self._require_replaceable()
        new_key = None if isinstance(key, Unchanged) else key
        secret = c.make_secret(new_key, passphrase, page_cipher, self.path)
        config = c.make_config(c.c_name(self.path), SCHEMA_MODE_AUTOMATIC, secret)
        try:
            try:
                if not lib.crealm_change_key(realm, config):
                    c.fail(self.path)
                self._secret = secret
            finally:
                self._begin_again()
        finally:
            lib.realm_release(config)

    def _require_replaceable(self) -> int:
        realm = self._owner.check()
        if self._mode == "r":
            raise ReadOnlyError("The database is open for reading", path=self.path)
        if self._writing:
            raise UsageError("A write is running: the file can be rewritten after it", path=self.path)
        return realm

    def _begin_again(self) -> None:
        """Rewriting the file ends the snapshot."""
        if not lib.realm_begin_read(self._owner.realm):
            c.fail(self.path)
        self._moved()

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
        classes = [
            BoundClass(facts, self._models.get(facts.name)) for facts in c.read_schema(self._owner.check())
        ]
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

    def _class(self, kind: Any) -> BoundClass:
        """The class of a name or of a model class."""
        return self._of_model(kind) if isinstance(kind, type) else self._named(kind)

    def _of_model(self, model: type) -> BoundClass:
        name = getattr(model, "_realm_class", None)
        if self._models.get(name) is not model:  # type: ignore[arg-type]
            self._owner.check()
            raise NoSuchClass(
                f"{model.__name__} is not in the schema of this database",
                path=self.path,
                hint="Open the file with schema=[…] that lists it.",
            )
        return self._named(name)  # type: ignore[arg-type]

    def _model_named(self, name: str) -> Union[str, type]:
        """What a text stands for in a model: a model class, or the name of a class."""
        return next((model for model in self._models.values() if model.__name__ == name), name)

    def _object_of(self, handle: Handle, bound: BoundClass) -> Any:
        kind: Type[Object] = bound.model or Object
        return kind._wrap(self, handle, bound.key, lib.realm_object_get_key(handle.pointer))

    def _object(self, class_key: int, object_key: int) -> Any:
        pointer = c.get_pointer(lib.realm_get_object, self._owner.check(), class_key, object_key)
        kind: Type[Object] = self._bound(class_key).model or Object
        return kind._wrap(self, Handle(self._owner, pointer), class_key, object_key)

    def _adopt(self, pointer: int, class_key: int) -> Any:
        return self._object_of(Handle(self._owner, pointer), self._bound(class_key))

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
