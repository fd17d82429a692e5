"""Changes of the classes of a file, in the form that pages send, and how they are made:

    {"do": "add-class", "class": "Dog", "embedded": false, "primaryKey": "id", "properties": [property, …]}
    {"do": "add-property", "class": "Dog", "property": property}
    {"do": "rename-property", "class": "Dog", "name": "age", "to": "years"}
    {"do": "remove-property", "class": "Dog", "name": "age"}
    {"do": "remove-class", "class": "Dog"}

A property has the form that `crealm schema --json` prints. Additions do not change the schema version, and programs without the new classes and
properties still work. All other changes are a migration: it raises the version by one, and programs with a lower version cannot open the file any
more.
"""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from ..cli.exact import schema_json, schema_of_json
from ..database import Database
from ..errors import DataError, NoSuchClass, NoSuchProperty, SchemaError
from ..opening import open as open_database
from .files import File, NeedsUpgrade

Json = Dict[str, Any]

_MOST = 500  # Changes of one request.


class _Plan(NamedTuple):
    """The result of all changes together."""

    classes: Any  # The classes after the changes, in the form of schema_json().
    renamed: List[Tuple[str, str, str]]
    removed: List[Tuple[str, str]]
    removed_classes: List[str]

    @property
    def is_migration(self) -> bool:
        return bool(self.renamed or self.removed or self.removed_classes)


class Structure:
    """Changes of the classes of a file. DataError and SchemaError if they cannot be made."""

    def __init__(self, file: File, changes: Any) -> None:
        if not isinstance(changes, list) or not changes or len(changes) > _MOST or not all(isinstance(one, dict) for one in changes):
            raise DataError('Changes of classes are {"changes": [change, …]}')
        self._file = file
        self._steps: List[str] = []
        with file.snapshot() as snapshot:
            self._plan = self._planned(snapshot.database, changes)
            before = snapshot.database.schema_version
        self._before = 0 if before is None else before

    def told(self) -> Json:
        """A description of the changes, for people."""
        after = self._before + 1 if self._plan.is_migration else self._before
        return {"steps": self._steps, "migration": self._plan.is_migration, "versionBefore": self._before, "versionAfter": after}

    def make(self) -> Json:
        """Makes the changes, in one transaction."""
        if self._file.needs_upgrade():
            raise NeedsUpgrade("The file has an older format", hint="Allow the upgrade on the overview of the file first.")
        self._file.leave()
        plan, secret = self._plan, self._file.secret
        classes, _ = schema_of_json({"classes": plan.classes})
        with open_database(
            self._file.path, mode="rw", schema=list(classes.values()), key=secret.key, passphrase=secret.passphrase,
            schema_version=self.told()["versionAfter"], migrate=self._migrate if plan.is_migration else None) as db:  # fmt: skip
            return {**self.told(), "version": db.version}

    def _migrate(self, old: Database, new: Any, version: int) -> None:
        for class_name, before, after in self._plan.renamed:
            new.rename_property(class_name, before, after)
        for class_name, name in self._plan.removed:
            new.remove_property(class_name, name)
        for class_name in self._plan.removed_classes:
            new.remove_class(class_name)

    # Planning

    def _planned(self, database: Database, changes: List[Mapping[str, Any]]) -> _Plan:
        plan = _Plan(schema_json(database.schema, None)["classes"], [], [], [])
        for change in changes:
            work = _WORK.get(str(change.get("do")))
            if work is None:
                raise DataError("There is no such change of classes")
            work(self, plan, change, database)
        return plan

    def add_class(self, plan: _Plan, change: Mapping[str, Any], database: Database) -> None:
        name, properties = _text(change, "class"), change.get("properties")
        if any(one["name"] == name for one in plan.classes):
            raise SchemaError(f"There is a class {name!r} already")
        if not name or not isinstance(properties, list):
            raise DataError("A class has a name and properties")
        added = {
            "name": name, "embedded": bool(change.get("embedded")), "primaryKey": change.get("primaryKey") or None,
            "properties": [_property(one) for one in properties]}  # fmt: skip
        plan.classes.append(added)
        _checked(plan)
        self._steps.append(f"The class {name} is added, with {len(properties)} properties.")

    def add_property(self, plan: _Plan, change: Mapping[str, Any], database: Database) -> None:
        declared, added = _class(plan, change), _property(change.get("property"))
        if any(one["name"] == added["name"] for one in declared["properties"]):
            raise SchemaError(f"{declared['name']} has a property {added['name']!r} already")
        declared["properties"].append(added)
        _checked(plan)
        self._steps.append(f"{declared['name']} gets the property {added['name']}: its objects have nothing, zero or null there.")

    def rename_property(self, plan: _Plan, change: Mapping[str, Any], database: Database) -> None:
        declared, name, to = _class(plan, change), _text(change, "name"), _text(change, "to")
        found = _found(declared, name)
        if not to or any(one["name"] == to for one in declared["properties"]):
            raise SchemaError(f"{declared['name']} has a property {to!r} already" if to else "A property has a name")
        _require_old(declared, name, database)
        found["name"] = to
        if declared["primaryKey"] == name:
            declared["primaryKey"] = to
        plan.renamed.append((declared["name"], name, to))
        _checked(plan)
        self._steps.append(f"{declared['name']}.{name} is called {to}; its values stay.")

    def remove_property(self, plan: _Plan, change: Mapping[str, Any], database: Database) -> None:
        declared, name = _class(plan, change), _text(change, "name")
        if declared["primaryKey"] == name:
            raise SchemaError(f"{declared['name']}.{name} is the primary key")
        _require_old(declared, name, database)
        declared["properties"].remove(_found(declared, name))
        plan.removed.append((declared["name"], name))
        self._steps.append(f"{declared['name']}.{name} is removed, with the values of {len(database[declared['name']]):,} objects.")

    def remove_class(self, plan: _Plan, change: Mapping[str, Any], database: Database) -> None:
        declared = _class(plan, change)
        name = declared["name"]
        linking = [
            f"{one['name']}.{prop['name']}" for one in plan.classes if one is not declared for prop in one["properties"] if prop.get("class") == name]
        if linking:
            raise SchemaError(f"{', '.join(linking[:3])} link{'s' * (len(linking) == 1)} to {name}", hint="Remove what links to a class first.")
        if name not in database.schema:
            raise SchemaError(f"{name} was added just now")
        plan.classes.remove(declared)
        plan.removed_classes.append(name)
        self._steps.append(f"The class {name} is removed, with its {len(database[name]):,} objects.")


_WORK: Dict[str, Any] = {
    "add-class": Structure.add_class, "add-property": Structure.add_property, "rename-property": Structure.rename_property,
    "remove-property": Structure.remove_property, "remove-class": Structure.remove_class}  # fmt: skip


def _text(change: Mapping[str, Any], name: str) -> str:
    value = change.get(name)
    if not isinstance(value, str):
        raise DataError(f"{name} is a text")
    return value


def _class(plan: _Plan, change: Mapping[str, Any]) -> Json:
    name = _text(change, "class")
    found: Optional[Json] = next((one for one in plan.classes if one["name"] == name), None)
    if found is None:
        raise NoSuchClass(f"There is no class {name!r}")
    return found


def _found(declared: Json, name: str) -> Json:
    found: Optional[Json] = next((one for one in declared["properties"] if one["name"] == name), None)
    if found is None:
        raise NoSuchProperty(f"{declared['name']} has no property {name!r}")
    return found


def _require_old(declared: Json, name: str, database: Database) -> None:
    """SchemaError if a property was added or renamed by the same request: renaming or removing it as well would need a second migration."""
    before = database.schema.get(declared["name"])
    if before is None or name not in before.properties:
        _found(declared, name)
        raise SchemaError(f"{declared['name']}.{name} is new: change it in a second step")


def _property(given: Any) -> Json:
    names = ("name", "type", "class", "collection", "optional", "indexed", "fulltext")
    if not isinstance(given, dict) or not isinstance(given.get("name"), str) or not given["name"] or not isinstance(given.get("type"), str):
        raise DataError(f"A property has {', '.join(names)}")
    made = {"collection": None, "optional": False, "indexed": False, "fulltext": False, **{name: given[name] for name in names if name in given}}
    return {name: bool(value) if name in ("optional", "indexed", "fulltext") else value for name, value in made.items()}


def _checked(plan: _Plan) -> None:
    """SchemaError or DataError if the planned classes are not valid."""
    try:
        classes, _ = schema_of_json(json.loads(json.dumps({"classes": plan.classes})))
    except KeyError as error:
        raise DataError(f"There is no type {error}") from None
    for declared in classes.values():
        for name, prop in declared.properties.items():
            if prop.is_link and prop.type not in classes:
                raise SchemaError(f"{declared.name}.{name} links to {prop.type!r}, which is no class")
