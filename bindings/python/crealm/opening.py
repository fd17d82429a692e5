"""Opening files."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from typing import TYPE_CHECKING, Callable, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _marshal as c
from ._handle import Owner
from ._library import OpenedRealm, has, lib
from ._progress import Attendant, Progress
from ._prototypes import (
    DURABILITIES,
    NO_SCHEMA_VERSION,
    SCHEMA_MODE_ADDITIVE_EXPLICIT,
    SCHEMA_MODE_AUTOMATIC,
    SCHEMA_MODE_IMMUTABLE,
    SCHEMA_MODE_READ_ONLY,
)
from ._session import READING
from .database import Database, check_timeout
from .errors import DataError, Error, FileNotFound, NotSupportedError, PermissionDenied, SchemaError
from .families import Families
from .migration import Migrate, Run
from .models import Declared, Schema, declare
from .rules import as_text

if TYPE_CHECKING:
    from .sync.transports import Transport

_MISMATCHED_CONFIG = 2013
_UNSHARED = 'mode="snapshot" reads one version of the file, without the lock file beside it.'

_SCHEMA_MODES = {
    "r": SCHEMA_MODE_READ_ONLY,
    "immutable": SCHEMA_MODE_IMMUTABLE,
    "snapshot": SCHEMA_MODE_IMMUTABLE,
    "rw": SCHEMA_MODE_ADDITIVE_EXPLICIT,
    "rwc": SCHEMA_MODE_ADDITIVE_EXPLICIT,
}

_SLOTS = {"newest": 0, "previous": 1}

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def open(
    path: Path,
    *,
    schema: Optional[Schema] = None,
    mode: Optional[str] = None,
    key: Optional[bytes] = None,
    passphrase: Union[str, bytes, None] = None,
    page_cipher: Optional[str] = None,
    schema_version: Optional[int] = None,
    version: Optional[int] = None,
    migrate: Optional[Migrate] = None,
    in_memory: bool = False,
    durability: str = "full",
    on_compact: Optional[Callable[[int, int], bool]] = None,
    shrinking: Optional[Tuple[int, int]] = None,
    timeout: Optional[float] = None,
    progress: Optional[Progress] = None,
    slot: str = "newest",
    refuse_broken_rules: bool = False,
    sync: Union[str, "Transport", None] = None,
) -> Database:
    """Opens a realm file.

    mode: without it "rwc" if there is a schema, else "rw".
          "r" reads an existing file and never writes to it; refresh() moves to the newest version. It
          shares the file with writers, for which it opens or creates the lock file beside it: PermissionDenied
          if it must not. When it closes, it removes a lock file that it created, unless others use it by then.
          "immutable" reads a file that does not change while it is open, such as evidence on a read-only
          medium, and opens no file but this one. If another program does write to the file, the values may
          be wrong.
          "snapshot" reads the newest version of a file that others may be writing, also programs with Realm's
          own library, and never moves on: it copies the file at the opening, opens no other file, and does not
          wait for other users; FileKeepsChanging if commits follow each other too fast to copy between them.
          "rw" reads and writes an existing file. "rwc" also creates it.
          All databases of one process that have a file open at the same time must be for reading, with the
          same mode, or all for writing; those of mode "snapshot" do not count.
    schema: the classes that the program uses: model classes, ClassSchema, or a module with model classes.
          Missing classes, properties and indexes are added to the file. Classes and properties of the file that
          the schema does not declare stay in the file, but the database does not show them. Other differences
          raise MigrationRequired. Without a schema the database shows all classes of the file.
    schema_version: the schema version to store in the file; without it the file keeps its version.
          `version` is short for it.
    migrate: called as migrate(old, new, from_version) if the file has a lower schema version. Then
          any difference is allowed. The function must rename or remove each property that the schema does not
          declare, else SchemaError: so no property is lost by mistake. `old` is the file before the
          migration; `new` has the new schema, and the function may change it in any way. If the
          function raises, the file does not change, and open() raises the exception. No other database
          of this process may have the file open during a migration. See `migration`.
    key:  64 bytes, for encrypted files.
    passphrase: instead of a key; the library derives a key from it, which is slow on purpose.
    page_cipher: the encryption of a new file: "xchacha20", the default, "aes256gcm", or "realm" for the form
          that Realm's SDKs open. For an existing file it has no effect: the file stores its cipher. UsageError
          without key and passphrase.
    in_memory: the data is lost when the last database on this path, on any thread, is closed. FileExists if
          the path is that of an existing file. memory() chooses a path.
    durability: when a write is done. "full": when a loss of power cannot undo it; a small write waits for the
          disk once. "two_flushes": the same for disks that may write half a sector; every write waits for
          the disk twice. "unsafe": at once; a loss of power may destroy the file, a crash of the program
          does not. Databases that have the file open for writing at the same time must all use "unsafe", or all
          not use it.
    on_compact: called as on_compact(total, used) if the process does not have the file open yet, and the file
          has free space: the bytes of the file, and those in use. True rewrites the file without free space.
          If the function raises, open() raises the exception.
    shrinking: (size, percent): commits make the file shorter if it has at least `size` bytes and more than `percent`
          percent of them are free; other users of the file go on. (0, 100): never. Without it: (1048576, 50).
          Database.shrink() does it in one call.
    timeout: seconds to wait for other users of the file: in open() for those that rewrite it, in write() for
          other writers. TimedOut after that. None: no limit.
    progress: called as progress(activity, done, total) about every 50 ms while a call of the database takes
          long. activity is "waiting", "querying", "checking" or "copying"; total is 0 if it is not known.
          If the function returns False, the call ends and raises Interrupted; if it raises, the call ends and
          raises the exception. The function cannot use the database. Ctrl-C ends long calls also without it.

    slot: "previous" reads the version before the newest one, that is, before the last commit. The other slot of
          the file's header refers to it. All of it is checked first; VersionGone if the file has no such version, or
          later commits have overwritten parts of it. The database never moves on. It reads a copy of the file, or in
          mode "immutable" the file itself. Only for modes that read; the default is "snapshot" then.

    refuse_broken_rules: whether a write fails with RuleBroken if another library, which knows no rules, wrote objects
          that break a rule. Without it the log names them, and the write begins.
    sync: the postgresql:// or https:// address of a hub, or a transport: changes are marked from now on, and a thread
          exchanges them with the hub until the database is closed. See Database.sync.

    The database belongs to the calling thread. Close it, or use it as a context manager.
    """
    where, for_library = _resolve(path)
    if slot not in _SLOTS:
        raise DataError(f'slot is "newest" or "previous", not {slot!r}')
    if slot == "previous":
        if mode not in (None, *READING):
            raise DataError(f'The version before the newest one can only be read: mode {mode!r} does not go with it')
        if not has("crealm_config_set_version_slot"):
            raise NotSupportedError("The loaded library reads newest versions only")
        mode = "immutable" if mode == "immutable" else "snapshot"
    if mode is None:
        mode = "rw" if schema is None else "rwc"
    if mode not in _SCHEMA_MODES:
        raise DataError(f'mode is "r", "immutable", "snapshot", "rw" or "rwc", not {mode!r}')
    if durability not in DURABILITIES:
        raise DataError(f"durability is one of {', '.join(DURABILITIES)}, not {durability!r}", path=where)
    if in_memory and durability != "full":
        raise DataError("A database in memory is on no disk: it has no durability", path=where)
    secret = c.make_secret(key, passphrase, page_cipher, where)
    if in_memory and (key is not None or passphrase is not None or mode in READING):
        raise DataError("A database in memory has no key and is no file to be read only", path=where)
    if in_memory:
        mode = "rwc"
    if version is not None:
        if schema_version is not None:
            raise TypeError("open() got two schema versions: version is short for schema_version")
        schema_version = version
    if schema_version is not None:
        if schema is None:
            raise DataError("A schema version needs a schema")
        if not isinstance(schema_version, int) or not 0 <= schema_version < NO_SCHEMA_VERSION:
            raise DataError(f"{schema_version!r} is no schema version")
    if migrate is not None:
        if schema_version is None:
            raise DataError("A migration needs a schema and its schema_version")
        if mode in READING:
            raise DataError(f'A migration changes the file, which mode "{mode}" does not allow')
    exists = os.path.exists(where)
    if mode != "rwc" and not exists:
        raise FileNotFound(f"No such file: {where}", code=1019, path=where)
    declared = None if schema is None else declare(schema)

    check_timeout(timeout)
    if shrinking is not None:
        _check_shrinking(shrinking)
    way = _Way(where, for_library, mode, durability, in_memory, declared, shrinking, timeout, progress, slot, refuse_broken_rules)
    db = way.database(secret, schema_version=schema_version, migrate=migrate, on_compact=on_compact)
    if sync is not None:
        try:
            db.sync._begin(sync)
        except BaseException:
            db.close()
            raise
    return db


def _check_shrinking(shrinking: Tuple[int, int]) -> None:
    """Raises for anything but a size in bytes and a share in percent."""
    try:
        size, percent = shrinking
        is_valid = isinstance(size, int) and isinstance(percent, int) and 0 <= size < 1 << 63 and 0 <= percent <= 100
    except (TypeError, ValueError):
        is_valid = False
    if not is_valid:
        raise DataError(f"shrinking is a size in bytes and a share of 0 to 100 percent, not {shrinking!r}")


class _Way(NamedTuple):
    """The arguments of an opening. clone() uses them to open the same file again for another thread."""

    where: str
    path: bytes  # `where`, encoded for the library.
    mode: str
    durability: str
    in_memory: bool
    declared: Optional[Declared]
    shrinking: Optional[Tuple[int, int]]
    timeout: Optional[float]
    progress: Optional[Progress]
    slot: str
    refuse_broken_rules: bool

    def database(
        self,
        secret: c.Secret,
        *,
        schema_version: Optional[int] = None,
        migrate: Optional[Migrate] = None,
        on_compact: Optional[Callable[[int, int], bool]] = None,
    ) -> Database:
        """An open database for the calling thread."""
        config = c.make_config(self.path, _SCHEMA_MODES[self.mode], secret, self.durability)
        attendant = Attendant(self.progress)
        kept = None
        raised: List[BaseException] = []
        try:
            c.attend(config, attendant, self.timeout)
            if self.in_memory:
                lib.realm_config_set_in_memory(config, True)
            if self.mode == "snapshot":
                lib.crealm_config_set_snapshot(config, True)
            if self.slot == "previous":
                lib.crealm_config_set_version_slot(config, _SLOTS[self.slot])
            if self.shrinking is not None:
                lib.crealm_config_set_shrinking(config, *self.shrinking)
            if self.refuse_broken_rules:
                lib.crealm_config_set_refuse_broken_rules(config, True)
            if self.declared is not None:
                _set_rules(config, self.declared, self.where)
            if on_compact is not None:
                kept, raised = c.set_should_compact(config, on_compact)
            if self.declared is not None and not os.path.exists(self.where):
                # One commit creates a new file with its schema.
                _set_schema(config, self.declared, schema_version or 0)
            realm = self._open(config, raised)
            try:
                if self.declared is not None:
                    realm = self._with_schema(config, realm, secret, schema_version, migrate)
                models = None if self.declared is None else self.declared.models
                return Database(
                    Owner(realm, self.where, attendant),
                    self.mode,
                    is_dynamic=self.declared is None,
                    models=models,
                    families=Families() if self.declared is None else self.declared.families,
                    secret=secret,
                    reopen=self._replace(progress=None).again,
                    timeout=self.timeout,
                )
            except BaseException:
                realm.close()
                raise
        finally:
            lib.realm_release(config)
            del kept

    def again(self, secret: c.Secret, declared: Optional[Declared] = None) -> Database:
        """Another database of the same file, for the calling thread; with another schema if one is given."""
        way = self if declared is None else self._replace(declared=declared)
        return way.database(secret)

    def _open(self, config: int, raised: Sequence[BaseException]) -> OpenedRealm:
        realm: OpenedRealm = lib.realm_open(config)
        if not realm:
            failure = c.last_error(self.where) or Error("The file cannot be opened", path=self.where)
            if failure.code == _MISMATCHED_CONFIG:
                failure.hint = "A process opens a file in one way at a time."
            elif self.mode == "r" and isinstance(failure, PermissionDenied) and not failure.hint:
                failure.hint = _UNSHARED
            raise raised[0] if raised else failure
        return realm

    def _with_schema(
        self, config: int, realm: OpenedRealm, secret: c.Secret, version: Optional[int], migrate: Optional[Migrate]
    ) -> OpenedRealm:
        """The realm with the declared schema; after a migration it is another one. An existing file is first opened
        without a schema, to read its schema version."""
        assert self.declared is not None
        found = lib.realm_get_schema_version(realm)
        target = (0 if found == NO_SCHEMA_VERSION else found) if version is None else version
        if found != NO_SCHEMA_VERSION and target < found:
            text = f"Schema version {target} is lower than the file's, {found}"
            raise SchemaError(text, code=2018, path=self.where)
        if migrate is not None and found < target:
            realm.close()
            _migrate(self.where, self.path, secret, self.durability, self.declared, target, migrate)
            realm = self._open(config, ())
        schema = c.make_schema(self.declared.classes)
        try:
            if not lib.realm_update_schema_advanced(realm, schema, target, None, None, None, None, False):
                c.fail(self.where)
        except BaseException:
            realm.close()
            raise
        finally:
            lib.realm_release(schema)
        return realm


def needs_upgrade(path: Path, *, key: Optional[bytes] = None, passphrase: Union[str, bytes, None] = None) -> bool:
    """Whether opening a file for writing would convert it from an older format to the current one. Only reads the
    file."""
    where, for_library = _resolve(path)
    config = c.make_config(for_library, SCHEMA_MODE_ADDITIVE_EXPLICIT, c.make_secret(key, passphrase, None, where))
    try:
        lib.realm_clear_last_error()
        found = bool(lib.realm_config_needs_file_format_upgrade(config))
        error = c.last_error(where)
        if error is not None:
            raise error
        return found
    finally:
        lib.realm_release(config)


def memory(
    name: Optional[str] = None, *, schema: Optional[Schema] = None, schema_version: Optional[int] = None
) -> Database:
    """Opens a database in memory: its data is lost when it is closed.

    name: databases with the same name in this process, on any thread, share their data, until the last of
          them is closed. A database without a name shares its data with no other.

    While it is open, there is an empty file for it in the temporary folder of the operating system.
    """
    if name is not None:
        plain = "".join(ch if ch.isalnum() else f"%{ord(ch):x}" for ch in name)
        path = os.path.join(tempfile.gettempdir(), f"crealm-{os.getpid()}-{plain}.realm")
        return open(path, mode="rwc", schema=schema, schema_version=schema_version, in_memory=True)
    folder = tempfile.mkdtemp(prefix="crealm-")
    try:
        path = os.path.join(folder, "memory.realm")
        db = open(path, mode="rwc", schema=schema, schema_version=schema_version, in_memory=True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(db._owner, _remove, folder, os.getpid())
    return db


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:  # The child of a fork leaves the folder to its parent.
        shutil.rmtree(folder, ignore_errors=True)


def _migrate(
    where: str, path: bytes, secret: c.Secret, durability: str, declared: Declared, target: int, migrate: Migrate
) -> None:
    """Migrates the file: opens it in the schema mode that runs migrations, and closes it again, because a process
    cannot have a file open in two schema modes."""
    run = Run(where, migrate, declared)
    kept = None
    config = c.make_config(path, SCHEMA_MODE_AUTOMATIC, secret, durability)
    try:
        _set_schema(config, declared, target)
        _set_rules(config, declared, where)
        kept = c.set_migration(config, run.call)
        realm = lib.realm_open(config)
        if not realm:
            failure = c.last_error(where)
            if failure is not None and failure.code == _MISMATCHED_CONFIG:
                failure.hint = (
                    "A migration needs the file alone: close the other databases that have it open."
                )
            raise run.error or failure or SchemaError("The migration failed", path=where)
        realm.close()
    finally:
        lib.realm_release(config)
        del kept


def _set_schema(config: int, declared: Declared, version: int) -> None:
    handle = c.make_schema(declared.classes)
    lib.realm_config_set_schema(config, handle)
    lib.realm_config_set_schema_version(config, version)
    lib.realm_release(handle)


def _set_rules(config: int, declared: Declared, where: str) -> None:
    if declared.rules and not lib.crealm_config_set_rules(config, c.c_name(as_text(declared.rules))):
        c.fail(where)


def _resolve(path: Path) -> Tuple[str, bytes]:
    """The absolute path, as text for Python and as bytes for the library."""
    where = os.path.abspath(os.fsdecode(path))
    try:
        return where, c.c_name(where)
    except DataError as error:
        raise DataError(f"{where!r} cannot be the path of a realm: {error.message}") from error
