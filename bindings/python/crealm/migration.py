"""Migrations: bringing a file to a schema that differs in other ways than additions.

    def migrate(old, new, from_version):
        new.rename_property("Person", "surname", "family_name")
        for before, after in new.pairs("Person"):
            after.name = f"{before.first} {before.last}"
        new.remove_class("Unused")

    db = crealm.open(path, schema=[Person], schema_version=2, migrate=migrate)

The function runs once, inside the write that brings the file to the new version. Before it, classes and
properties that are new are there already, with zero, False, empty values or None; properties that
became optional kept their values; those whose type changed, or that became required, lost them and
started anew. After it, properties that the schema does not declare are removed, and primary keys must
be unique. Classes that it does not declare stay in the file, unless remove_class() removes them.

Both databases, and all that was read from them, are for the duration of the call only: afterwards they
raise ClosedError. Their classes go by name, and their objects are plain objects, not model instances.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, Optional, Tuple

from . import _marshal as c
from ._handle import Owner
from ._library import lib
from .database import Database, Write
from .errors import (
    InvalidatedError,
    MigrationRequired,
    NoSuchProperty,
    SchemaError,
    TypeMismatch,
    UsageError,
)
from .models import Declared
from .objects import Object
from .schema import BoundClass

Migrate = Callable[[Database, "Migration", int], object]


class Migration(Database):
    """The new side of a migration. It is in a write all the time; primary keys may be changed, too."""

    _is_migrating = True

    def __init__(self, owner: Owner, schema: int, old: Database, declared: Declared) -> None:
        super().__init__(owner, "rw", is_dynamic=True)
        self._schema = schema
        self._old = old
        self._declared = declared
        self._writing = True

    def rename_property(self, class_name: Any, old_name: str, new_name: str) -> None:
        """Keeps the values of a property that has another name now. Names are those in the file; a
        model class may stand for its name. Types have to agree, and values that may have been None
        cannot become required: UsageError, or NoSuchClass and NoSuchProperty for unknown names."""
        self._require_write("The schema")
        name = getattr(class_name, "_realm_class", class_name)
        names = [c.c_name(text) for text in (name, old_name, new_name)]
        self._owner.call(c.check, lib.realm_schema_rename_property, self._schema, *names)
        self._rekey(name, old_name, new_name)

    def _rekey(self, class_name: str, old_name: str, new_name: str) -> None:
        """The column with the old values has another key than the one that it took the name from, and
        the library's view of the schema may not say so."""
        bound = self._named(class_name)
        facts = bound.columns.get(new_name)
        before = self._old._named(class_name).columns.get(old_name)
        if facts is None or before is None or self._has_column(bound, facts.key):
            return
        bound.columns[new_name] = bound.properties[new_name] = facts._replace(key=before.key)
        if bound.primary_key is facts:
            bound.primary_key = bound.columns[new_name]

    def _has_column(self, bound: BoundClass, key: int) -> bool:
        first = self[bound.name].first()
        if first is None:
            return False
        try:
            first._handle.call(c.get_value, lib.realm_get_value, key)
        except NoSuchProperty:
            return False
        except TypeMismatch:
            pass  # A collection.
        return True

    def remove_class(self, class_name: str) -> bool:
        """Deletes a class that the new schema does not declare, with all its objects. Whether there was
        such a class. SchemaError when the schema declares it, or another class links to it."""
        self._require_write("The schema")
        try:
            return bool(self._owner.call(c.get_flag, lib.realm_remove_table, c.c_name(class_name)))
        except MigrationRequired as error:
            raise SchemaError(f"{class_name} is part of the new schema", code=error.code) from None

    def pairs(self, class_name: Any) -> Iterator[Tuple[Any, Any]]:
        """Each object of a class as it was, and as it is: (old, new). Those that this migration deleted
        or created are left out."""
        name = getattr(class_name, "_realm_class", class_name)
        table, key = self._old[name], self._named(name).key
        for before in table:
            try:
                after = self._object(key, before.object_key)
            except InvalidatedError:
                continue
            yield before, after

    def write(self, *, timeout: object = None) -> Write:
        raise UsageError("A migration is one write from beginning to end", path=self.path)

    def close(self) -> None:
        raise UsageError("A migration ends when its function returns", path=self.path)


class Run:
    """One call of a migration function, as the library sees it."""

    def __init__(self, path: str, migrate: Migrate, declared: Declared) -> None:
        self.path = path
        self.migrate = migrate
        self.declared = declared
        self.error: Optional[BaseException] = None

    def call(self, old: int, new: int, schema: int) -> bool:
        """Nothing may be raised through the library: what the function raises waits in `error`."""
        owners = [Owner(old, self.path), Owner(new, self.path)]  # Borrowed.
        try:
            before = Database(owners[0], "r", is_dynamic=True)
            after = Migration(owners[1], schema, before, self.declared)
            version = before.schema_version
            self.migrate(before, after, 0 if version is None else version)
            return True
        except BaseException as error:
            self.error = error
            return False
        finally:
            for owner in owners:
                owner.close()
