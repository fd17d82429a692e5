"""Compares a file with the models of a program, and tells what opening the file with them would change.

    plan = crealm.plan("people.realm", schema=[Person])
    print(plan)                       # a line for each change, with the values that would be lost
    if plan.needs_migration:
        text = plan.script("models")  # a program with the function for migrate=, to be completed

The file is only read. `crealm migrate FILE MODELS` does the same on the command line.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timezone
from decimal import Decimal
from difflib import SequenceMatcher
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union
from uuid import UUID

from ._shown import table
from .database import Database
from .models import Schema, declare
from .opening import Path, open as open_database
from .schema import ClassSchema, Prop
from .values import Float32, ObjectId

_ALIKE = 0.6  # Names of this similarity, from 0 to 1, may be of one property.
_NEEDS = {
    "opening": "opening adds it",
    "version": "needs a higher schema version",
    "migration": "needs a migration",
    "nothing": "stays in the file, unless a migration removes it",
}


class PlannedChange(NamedTuple):
    """A difference between a file and the models."""

    # "class added", "class removed", "property added", "property removed", "type", "index", "primary key", "embedded"
    # or "renamed".
    kind: str
    class_name: str
    property_name: Optional[str]  # None for a class.
    before: Optional[str]  # What the file has; None: nothing.
    after: Optional[str]  # What the models declare.
    needs: str  # "opening" makes it, a higher "version" of the schema, or a "migration"; "nothing": the file keeps it.
    objects: int  # How many objects the class has.
    lost: int  # How many of them have a value, neither None, zero nor empty, that the change does not keep by itself.
    note: str = ""

    @property
    def name(self) -> str:
        """The name of the class, or of the property with that of its class."""
        return self.class_name if self.property_name is None else f"{self.class_name}.{self.property_name}"

    def __str__(self) -> str:
        mark = {"class added": "+", "property added": "+", "class removed": "-", "property removed": "-"}.get(
            self.kind, "~"
        )
        facts = [
            f"{self.before} → {self.after}" if self.before and self.after else self.before or self.after or ""
        ]
        if self.lost:
            facts.append(f"{self.lost:,} of {self.objects:,} objects have a value")
        elif self.kind == "class removed":
            facts.append(f"{self.objects:,} object{'' if self.objects == 1 else 's'}")
        facts += [self.note, _NEEDS[self.needs]]
        return f"{mark} {self.name}: {'; '.join(filter(None, facts))}"


class SuspectedRename(NamedTuple):
    """A class or property that is only in the file, and one that is only in the models, which may be the same."""

    class_name: Optional[str]  # None for classes.
    before: str
    after: str
    similarity: float  # From 0 to 1.

    def __str__(self) -> str:
        if self.class_name is None:
            how = f"Meta: renamed_from = {self.before!r}"
            return f"? {self.before} and {self.after}: the same class? {how} keeps its objects"
        how = f"new.rename_property({self.class_name!r}, {self.before!r}, {self.after!r}) in a migration"
        name = self.class_name
        return f"? {name}.{self.before} and {name}.{self.after}: the same property? {how} keeps its values"


class MigrationPlan:
    """The differences between a file and the models of a program. False if there are none."""

    def __init__(
        self, path: str, version: Optional[int], changes: List[PlannedChange], renames: List[SuspectedRename]
    ) -> None:
        self.path = path
        self.version = version  # The schema version of the file; None if it has none.
        self.changes = changes
        self.renames = renames

    @property
    def needs_migration(self) -> bool:
        """Whether open() raises MigrationRequired without a higher schema_version and a function for migrate=."""
        return any(change.needs == "migration" for change in self.changes)

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return f"<MigrationPlan of {len(self.changes)} changes>"

    def _repr_html_(self) -> str:
        """A table of the changes, for Jupyter."""
        rows = [
            [
                change.kind,
                change.name,
                change.before,
                change.after,
                change.lost,
                "; ".join(filter(None, (change.note, _NEEDS[change.needs]))),
            ]
            for change in self.changes
        ]
        return table(
            f"changes: {len(self.changes)}", ["change", "name", "file", "models", "values", ""], rows
        )

    def lines(self) -> Iterator[str]:
        """A line for each change and for each suspected rename, and one that sums up."""
        yield from map(str, self.changes)
        yield from map(str, self.renames)
        lost = sum(change.lost for change in self.changes if change.needs == "migration")
        if self.needs_migration:
            rest = f"without care for them {lost:,} values are lost" if lost else "it loses no value"
            yield f"a migration is needed; {rest}"
        elif any(change.needs == "version" for change in self.changes):
            yield "a higher schema version is needed, and no function"
        elif self.changes:
            yield "no migration is needed"
        else:
            yield "nothing changes"

    def to_dict(self) -> Dict[str, Any]:
        """The plan as a dictionary for JSON."""
        return {
            "path": self.path,
            "version": self.version,
            "needsMigration": self.needs_migration,
            "changes": [change._asdict() for change in self.changes],
            "renames": [rename._asdict() for rename in self.renames],
        }

    def script(self, models: str = "models") -> str:
        """A program that migrates the file: with renames and conversions as far as they can be known, and with a
        comment for each decision that is left. models: the name of the module with the model classes."""
        return "\n".join([*_script(self, models), ""])


def plan(
    path: Path, schema: Schema, *, key: Optional[bytes] = None, passphrase: Union[str, bytes, None] = None
) -> MigrationPlan:
    """Compares a file with models, and counts the values that would be lost. The file is only read, as with mode
    "snapshot": others may be writing it.

    schema: as for open(). key, passphrase: the secret of an encrypted file."""
    with open_database(path, mode="snapshot", key=key, passphrase=passphrase) as db:
        return plan_of(db, schema)


def plan_of(db: Database, schema: Schema) -> MigrationPlan:
    """The plan for a file that was opened without a schema."""
    declared = declare(schema)
    classes = {facts.name: ClassSchema._from_facts(facts) for facts in declared.classes}
    comparison = _Comparison(db, classes, declared.rules)
    comparison.compare()
    return MigrationPlan(db.path, db.schema_version, comparison.changes, comparison.renames)


_Pair = Tuple[str, str]


class _Comparison:
    def __init__(self, db: Database, classes: Mapping[str, ClassSchema], rules: Mapping[str, Any]) -> None:
        self._db, self._classes, self._rules = db, classes, rules
        self.changes: List[PlannedChange] = []
        self.renames: List[SuspectedRename] = []

    def compare(self) -> None:
        moved = {name: rule["renamed_from"] for name, rule in self._rules.items() if rule.get("renamed_from")}
        moved = {
            name: old
            for name, old in moved.items()
            if old in self._db and name not in self._db and name in self._classes
        }
        for name, declared in self._classes.items():
            old = moved.get(name, name)
            if name in moved:
                self._add("renamed", name, None, old, name, "opening", old)
            if old in self._db:
                self._class(declared, self._db.schema[old])
            else:
                self._add(
                    "class added",
                    name,
                    None,
                    None,
                    "embedded class" if declared.embedded else f"{len(declared.properties)} properties",
                    "opening",
                )
        gone = [name for name in self._db.classes if name not in self._classes and name not in moved.values()]
        for name in gone:
            self._add(
                "class removed",
                name,
                None,
                "embedded class" if self._db.schema[name].embedded else "class",
                None,
                "nothing",
                name,
            )
        added = [name for name in self._classes if name not in self._db and name not in moved]
        self.renames[:0] = _best(
            (similarity, SuspectedRename(None, old, new, round(similarity, 2)))
            for old in gone
            for new in added
            if (similarity := _alike_classes(self._db.schema[old], self._classes[new])) >= _ALIKE
        )

    def _add(
        self,
        kind: str,
        name: str,
        prop: Optional[str],
        before: Optional[str],
        after: Optional[str],
        needs: str,
        old: Optional[str] = None,
        lost: int = 0,
        note: str = "",
    ) -> None:
        """old: the name of the class in the file, whose objects are counted."""
        objects = len(self._db[old]) if old is not None and old in self._db else 0
        self.changes.append(PlannedChange(kind, name, prop, before, after, needs, objects, lost, note))

    def _class(self, now: ClassSchema, before: ClassSchema) -> None:
        """Adds the changes of a class that the file has."""
        rules = self._rules.get(now.name, {}).get("properties", {})
        moved = {name: own["renamed_from"] for name, own in rules.items() if own.get("renamed_from")}
        moved = {
            name: old
            for name, old in moved.items()
            if old in before.properties and name not in before.properties
        }
        removed = [
            name for name in before.properties if name not in now.properties and name not in moved.values()
        ]
        changed = {
            name: moved.get(name, name)
            for name, prop in now.properties.items()
            if moved.get(name, name) in before.properties
            and _loses(before.properties[moved.get(name, name)], prop)
        }
        counts = self._counts(before, {*removed, *changed.values()})
        if before.embedded != now.embedded:
            self._embedded(now, before)
        if before.primary_key != now.primary_key:
            self._primary_key(now, before)
        for name, prop in now.properties.items():
            old = moved.get(name, name)
            if name in moved:
                self._add("renamed", now.name, name, old, name, "opening", before.name)
            if old not in before.properties:
                self._add(
                    "property added",
                    now.name,
                    name,
                    None,
                    str(prop),
                    "opening",
                    before.name,
                    note=_start(prop, len(self._db[before.name])),
                )
            else:
                self._property(now.name, name, prop, before.properties[old], before.name, counts.get(old, 0))
        for name in removed:
            self._add(
                "property removed",
                now.name,
                name,
                str(before.properties[name]),
                None,
                "nothing",
                before.name,
                counts[name],
            )
        added = [name for name in now.properties if name not in before.properties and name not in moved]
        self.renames += _suspected(
            now.name,
            {name: before.properties[name] for name in removed},
            {name: now.properties[name] for name in added},
        )

    def _property(
        self, class_name: str, name: str, now: Prop, before: Prop, old_class: str, count: int
    ) -> None:
        if str(now) != str(before):
            note = ""
            if _is_same_but_for_none(before, now):
                note = (
                    "values are kept"
                    if now.optional
                    else "values of all objects are lost, unless the migration sets them again"
                )
            self._add("type", class_name, name, str(before), str(now), "migration", old_class, count, note)
        marks = [
            [word for word, is_set in (("index", prop.indexed), ("words", prop.fulltext)) if is_set]
            for prop in (before, now)
        ]
        if marks[0] != marks[1]:
            before_text, after_text = (
                f"index of {mark[0]}" if mark == ["words"] else mark[0] if mark else "no index"
                for mark in marks
            )
            self._add("index", class_name, name, before_text, after_text, "version", old_class)

    def _embedded(self, now: ClassSchema, before: ClassSchema) -> None:
        note = ""
        if now.embedded:
            wrong = len(self._db[before.name].where("@links.@count != 1"))
            if wrong:
                note = f"{wrong:,} of its objects do not have exactly one owner, which each needs in the end"
        before_text, after_text = ("embedded" if one.embedded else "not embedded" for one in (before, now))
        self._add("embedded", now.name, None, before_text, after_text, "migration", before.name, note=note)

    def _primary_key(self, now: ClassSchema, before: ClassSchema) -> None:
        before_text, after_text = (
            f"primary key {one.primary_key}" if one.primary_key else "no primary key" for one in (before, now)
        )
        note = ""
        key = now.primary_key
        if (
            key is not None
            and key in before.properties
            and str(before.properties[key]) == str(now.properties[key])
        ):
            counts = Counter(obj[key] for obj in self._db[before.name])
            shared = sum(count for count in counts.values() if count > 1)
            if shared:
                note = f"{shared:,} objects share a value, and each needs its own in the end"
        elif key is not None and len(self._db[before.name]) > 1:
            note = "the migration gives each object its own value"
        self._add("primary key", now.name, None, before_text, after_text, "migration", before.name, note=note)

    def _counts(self, declared: ClassSchema, names: "set[str]") -> Dict[str, int]:
        """For each of the properties, how many objects have a value that is neither None, zero nor empty."""
        counts = dict.fromkeys(names, 0)
        if names:
            for obj in self._db[declared.name]:
                for name in names:
                    counts[name] += _has_value(declared.properties[name], obj[name])
        return counts


def _loses(before: Prop, now: Prop) -> bool:
    """Whether a change of a property loses its values."""
    return str(before) != str(now) and not (_is_same_but_for_none(before, now) and now.optional)


def _is_same_but_for_none(before: Prop, now: Prop) -> bool:
    return (before.type, before.collection) == (now.type, now.collection)


_ZEROS: Dict[Any, Any] = {
    int: 0,
    bool: False,
    float: 0,
    Float32: 0,
    str: "",
    bytes: b"",
    Decimal: 0,
    datetime: datetime(1970, 1, 1, tzinfo=timezone.utc),
    UUID: UUID(int=0),
    ObjectId: ObjectId(bytes(12)),
}


def _has_value(prop: Prop, value: Any) -> bool:
    if prop.collection is not None:
        return len(value) > 0
    return value is not None and (prop.optional or bool(value != _ZEROS.get(prop.type)))


def _start(prop: Prop, objects: int) -> str:
    """What objects that exist have in a new property."""
    if not objects or prop.collection is not None:
        return ""
    zero = (
        "None"
        if prop.optional
        else {datetime: "1970-01-01", UUID: "zeros", ObjectId: "zeros"}.get(
            prop.type, repr(_ZEROS.get(prop.type))
        )
    )
    return f"{objects:,} object{' gets' if objects == 1 else 's get'} {zero}"


# ------------------------------------------------------------------------------------------------
# Renames
# ------------------------------------------------------------------------------------------------


def _alike(before: str, after: str) -> float:
    """How similar two names are, from 0 to 1. Capitals and underscores do not count; a beginning or an end counts as
    similar: `n` and `name`, `surname` and `name`."""
    one, two = (name.replace("_", "").casefold() for name in (before, after))
    if not one or not two:
        return 0.0
    found = SequenceMatcher(None, one, two).ratio()
    short, long = sorted((one, two), key=len)
    return max(found, 0.7) if long.startswith(short) or long.endswith(short) else found


def _alike_classes(before: ClassSchema, after: ClassSchema) -> float:
    """How similar two classes are: mostly by the properties that they have in common."""
    if before.embedded != after.embedded:
        return 0.0
    ones, twos = ({(name, str(prop)) for name, prop in one.properties.items()} for one in (before, after))
    common = len(ones & twos) / max(len(ones | twos), 1)
    return max(common, (common + _alike(before.name, after.name)) / 2)


def _suspected(
    class_name: str, removed: Mapping[str, Prop], added: Mapping[str, Prop]
) -> List[SuspectedRename]:
    """The properties of a class that may have another name now. They have the same type."""
    pairs = [
        (old, new)
        for old, before in removed.items()
        for new, now in added.items()
        if _is_same_but_for_none(before, now) and (now.optional or not before.optional)
    ]
    found = []
    for old, new in pairs:
        is_only = sum(old == one for one, _ in pairs) == 1 and sum(new == one for _, one in pairs) == 1
        similarity = _alike(old, new)
        if similarity >= _ALIKE or is_only and len(removed) == len(added) == 1:
            found.append((similarity, SuspectedRename(class_name, old, new, round(similarity, 2))))
    return _best(found)


def _best(found: Any) -> List[SuspectedRename]:
    """The most similar pairs; each name in one of them."""
    chosen: List[SuspectedRename] = []
    for _, one in sorted(found, key=lambda pair: -pair[0]):
        if all(one.before != other.before and one.after != other.after for other in chosen):
            chosen.append(one)
    return chosen


# ------------------------------------------------------------------------------------------------
# The program
# ------------------------------------------------------------------------------------------------

# How the old value becomes one of another type.
_CONVERSIONS: Dict[Tuple[Any, Any], str] = {
    (int, str): "str({})",
    (int, float): "float({})",
    (int, bool): "bool({})",
    (int, Decimal): "Decimal({})",
    (bool, int): "int({})",
    (float, str): "str({})",
    (float, int): "round({})",
    (Float32, float): "float({})",
    (float, Float32): "crealm.Float32({})",
    (str, int): "int({} or 0)",
    (str, float): "float({} or 0)",
    (UUID, str): "str({})",
    (ObjectId, str): "str({})",
    (Decimal, str): "str({})",
    (str, bytes): "{}.encode()",
    (bytes, str): "{}.decode()",
    (datetime, str): "{}.isoformat()",
    (Decimal, float): "float({})",
    (float, Decimal): "Decimal(repr({}))",
    (str, Decimal): "Decimal({} or 0)",
    (int, Float32): "crealm.Float32({})",
}


def _script(plan: MigrationPlan, models: str) -> Iterator[str]:
    before = 0 if plan.version is None else plan.version
    body = [_comment(line) if line.startswith("#") else line for line in _steps(plan)]
    yield f'"""Migrates a file from schema version {before} to {before + 1}.'
    yield from ("", "Written by `crealm migrate`: complete it, and try it on a copy.", '"""', "")
    yield "import sys"
    if any("Decimal(" in line for line in body):
        yield "from decimal import Decimal"
    yield from ("", "import crealm", f"import {models}", "", f"VERSION = {before + 1}", "", "")
    yield from ("def migrate(old, new, from_version):", f"    if from_version < {before + 1}:")
    yield from (f"        {line}" if line else "" for line in body)
    if not any(line and not line.startswith("#") for line in body):
        yield "        pass"
    yield from ("", "", 'if __name__ == "__main__":')
    yield f"    with crealm.open(sys.argv[1], schema={models}, schema_version=VERSION, migrate=migrate) as db:"
    yield '        print(f"{db.path} has schema version {db.schema_version}")'


def _comment(line: str) -> str:
    """A comment that stays one, whatever names of a file are in it: without ends of lines."""
    return "".join(ch if ch.isprintable() else "?" for ch in line)


def _steps(plan: MigrationPlan) -> Iterator[str]:
    renamed = {(one.class_name, one.before) for one in plan.renames}
    for rename in plan.renames:
        if rename.class_name is None:
            yield f"# Are {rename.before} and {rename.after} the same class?"
            yield f"# Then {rename.after} gets `renamed_from = {rename.before!r}` in its Meta."
        else:
            yield f"# Are they the same property? If not, remove_property() gives {rename.before} up."
            yield f"new.rename_property({rename.class_name!r}, {rename.before!r}, {rename.after!r})"
    for change in plan.changes:
        name = str(change.property_name)
        if change.kind == "property removed" and (change.class_name, name) not in renamed:
            yield f"# {change.name} is not declared; {change.lost:,} of {change.objects:,} objects have a value."
            yield "# To remove it:"
            yield f"# new.remove_property({change.class_name!r}, {name!r})"
        elif change.kind == "class removed":
            yield f"# The models do not declare {change.class_name}, with {change.objects:,} objects."
            yield "# It stays, unless this removes it:"
            yield f"# new.remove_class({change.class_name!r})"
        elif change.kind == "type":
            yield from _conversion(change)
        elif change.kind in ("primary key", "embedded"):
            yield f"# {'; '.join(filter(None, (f'{change.class_name}: {change.before} → {change.after}', change.note)))}."


def _conversion(change: PlannedChange) -> Iterator[str]:
    before, after = str(change.before), str(change.after)
    if after == f"Optional[{before}]":
        return
    yield f"# {change.name}: {before} → {after}; {change.lost:,} of {change.objects:,} objects have a value."
    old, new = f"before[{change.property_name!r}]", f"after[{change.property_name!r}]"
    one, two = (name.replace("Optional[", "").rstrip("]") for name in (before, after))
    text = _CONVERSIONS_BY_NAME.get((one, two))
    if before == f"Optional[{after}]":
        text = "{}"
    is_plain = (
        "list[" not in before + after and "set[" not in before + after and "dict[" not in before + after
    )
    lines = [f"for before, after in new.pairs({change.class_name!r}):"]
    if text is None or not is_plain:
        lines.append(f"    {new} = {old}  # The conversion is missing.")
        yield from (f"# {line}" for line in lines)
        return
    if before.startswith("Optional["):
        lines += [f"    if {old} is not None:", f"        {new} = {text.format(old)}"]
    else:
        lines.append(f"    {new} = {text.format(old)}")
    yield from lines


_CONVERSIONS_BY_NAME = {(one.__name__, two.__name__): text for (one, two), text in _CONVERSIONS.items()}
