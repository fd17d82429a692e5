"""Migrations: change a file to a schema that differs by more than additions.

    def migrate(old, new, from_version):
        new.rename_property("Person", "surname", "family_name")
        for before, after in new.pairs("Person"):
            after.name = f"{before.first} {before.last}"
        new.remove_property("Person", "first", "last")
        new.remove_class("Unused")

    db = crealm.open(path, schema=[Person], schema_version=2, migrate=migrate)

The function runs once, inside the write that changes the file to the new version. When it is called, `new` already has
the new classes and properties, with zero, False, empty values or None. Properties that became optional have kept their
values. Properties whose type changed, or that became required, have lost their values and have zero, False or empty
values. New properties do not get the defaults of models: new["Person"].update(age=30) gives all rows a value.

When the function returns, primary keys must be unique, and it must have renamed each property that the schema does not
declare, or removed it with remove_property(). Otherwise SchemaError, and the file does not change. Classes that the
schema does not declare stay in the file, unless remove_class() removes them.

Both databases, and everything that was read from them, can only be used during the call: afterwards they raise
ClosedError. Their classes are used by name, and their objects are plain `Object`s, not instances of models.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, Optional, Set, Tuple

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
    suggestion,
)
from .models import Declared
from .objects import Object
from .schema import BoundClass

Migrate = Callable[[Database, "Migration", int], object]


class Migration(Database):
    """The database with the new schema in a migration. It is always in a write, and even primary keys may change."""

    _is_migrating = True

    def __init__(self, owner: Owner, schema: int, old: Database, declared: Declared) -> None:
        super().__init__(owner, "rw", is_dynamic=True)
        self._schema = schema
        self._old = old
        self._declared = declared
        self._given_up: Set[Tuple[str, str]] = set()  # Properties of the old schema that were renamed or removed.
        self._writing = True

    def rename_property(self, class_name: Any, old_name: str, new_name: str) -> None:
        """Gives the values of a property to a property of the new schema with another name. Names are those in the
        file; class_name may also be a model class. UsageError if the types differ, or if an optional property would
        become required; NoSuchClass and NoSuchProperty for unknown names."""
        self._require_write("The schema")
        name = getattr(class_name, "_realm_class", class_name)
        names = [c.c_name(text) for text in (name, old_name, new_name)]
        self._owner.call(c.check, lib.realm_schema_rename_property, self._schema, *names)
        self._given_up.add((name, old_name))
        self._rekey(name, old_name, new_name)

    def remove_property(self, class_name: Any, *names: str) -> None:
        """Removes properties that the new schema does not declare, with all their values. The names are those in the
        file. SchemaError if the schema declares one of them, NoSuchClass and NoSuchProperty for unknown names."""
        self._require_write("The schema")
        class_name = getattr(class_name, "_realm_class", class_name)
        bound = self._old._named(class_name)
        for name in names:
            if name not in bound.columns:
                raise NoSuchProperty(f"{class_name} has no property {name!r}{suggestion(name, bound.columns)}")
            if (class_name, name) in self._declared_properties():
                raise SchemaError(f"{class_name}.{name} is part of the new schema")
            self._given_up.add((class_name, name))

    def _declared_properties(self) -> Set[Tuple[str, str]]:
        return {(facts.name, prop.name) for facts in self._declared.classes for prop in facts.properties}

    def _check_lost(self) -> None:
        """SchemaError if properties would be lost that the function neither renamed nor removed."""
        known = self._declared_properties() | self._given_up
        for class_name, rules in self._declared.rules.items():
            for rule in rules.get("properties", {}).values():
                if "renamed_from" in rule:
                    known.add((class_name, rule["renamed_from"]))
        classes = [self._old._by_name[facts.name] for facts in self._declared.classes if facts.name in self._old._by_name]
        lost = [(bound.name, name) for bound in classes for name in bound.columns if (bound.name, name) not in known]
        if lost:
            names = ", ".join(f"{class_name}.{name}" for class_name, name in lost)
            raise SchemaError(
                f"The migration would remove {names}, with all values: the schema does not declare {'it' if len(lost) == 1 else 'them'}",
                path=self.path,
                hint=f"Declare what is to stay. new.remove_property({lost[0][0]!r}, {lost[0][1]!r}) in the migration gives a property up.",
            )

    def _rekey(self, class_name: str, old_name: str, new_name: str) -> None:
        """Updates the key of a renamed property. The new name now belongs to the column with the old values, which has
        another key than the column that had the name before; the library's schema may still have the latter."""
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
        """Deletes a class that the new schema does not declare, with all its objects. Returns whether the file had
        the class. SchemaError if the schema declares it, or another class links to it."""
        self._require_write("The schema")
        try:
            return bool(self._owner.call(c.get_flag, lib.realm_remove_table, c.c_name(class_name)))
        except MigrationRequired as error:
            raise SchemaError(f"{class_name} is part of the new schema", code=error.code) from None

    def pairs(self, class_name: Any) -> Iterator[Tuple[Any, Any]]:
        """Each object of a class, as a pair of the object before the migration and the same object now. Objects
        that this migration deleted or created are left out."""
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
    """One call of a migration function, for the library."""

    def __init__(self, path: str, migrate: Migrate, declared: Declared) -> None:
        self.path = path
        self.migrate = migrate
        self.declared = declared
        self.error: Optional[BaseException] = None

    def call(self, old: int, new: int, schema: int) -> bool:
        """Called by the library. No exception may pass through the library: an exception of the function is kept in
        `error`."""
        owners = [Owner(old, self.path), Owner(new, self.path)]  # Borrowed.
        try:
            before = Database(owners[0], "r", is_dynamic=True)
            after = Migration(owners[1], schema, before, self.declared)
            version = before.schema_version
            self.migrate(before, after, 0 if version is None else version)
            after._check_lost()
            return True
        except BaseException as error:
            self.error = error
            return False
        finally:
            for owner in owners:
                owner.close()
