"""diff: the differences of two files: classes, properties and objects. Objects are matched by primary keys, or by keys in classes without them.

The memory that it needs does not grow with the files.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

from ..database import Database
from ..errors import UsageError
from .._shown import cut
from ..objects import Object, Table
from ..opening import open as open_database
from ..schema import ClassSchema, Prop
from .exact import Exact
from .options import DIFFERENT, DONE, Commands, add_json, add_reading, add_secret, secret, secret_in, told
from .output import counted, json_text, printable, progress
from .rule_lines import lines_of

_WIDTH = 60  # Characters of a value.


def add(commands: Commands) -> None:
    command = commands.alone("diff", run, "print what two files differ in; exit code 4 if they do")
    command.add_argument("file", metavar="A", help="a realm file")
    command.add_argument("other", metavar="B", nargs="?", help="the file that it is compared with")
    command.add_argument("--slots", action="store_true", help="compare the version before the newest one of A with the newest one")
    add_secret(command)
    form = command.add_mutually_exclusive_group()
    form.add_argument("--other-key", metavar="KEYFILE", help="the key of B; default: that of A")
    form.add_argument("--other-passphrase-file", metavar="TEXTFILE", help="the same with a passphrase")
    add_reading(command)
    command.add_argument("--class", dest="classes", action="append", metavar="NAME", help="only this class; may be given several times")
    command.add_argument("--summary", action="store_true", help="only how many objects of which class differ")
    add_json(command)


class Change(NamedTuple):
    """An object that is in only one of the files, or has different values in them."""

    class_name: str
    kind: str  # "added", "removed" or "changed", from A to B.
    identity: Dict[str, Any]  # {"$primaryKey": …} or {"$key": …}
    values: Dict[str, Any]  # All values; for "changed" the old and new ones that differ.
    key: int  # The key of the object: in A if it was removed, else in B.


def run(options: argparse.Namespace) -> int:
    if options.slots == (options.other is not None):
        raise UsageError("diff takes two files, or --slots and one", hint="`crealm diff FILE --slots` compares the two versions that a file holds.")
    if options.slots:
        options.other = options.file
    has_other = options.other_key is not None or options.other_passphrase_file is not None
    other = secret_in(options.other_key, options.other_passphrase_file) if has_other else secret(options)

    def compare() -> int:
        before = "previous" if options.slots else "newest"
        with open_database(options.file, mode=options.mode, slot=before, **secret(options)) as a:
            with open_database(options.other, mode=options.mode, **other) as b:
                return DIFFERENT if _compare(a, b, options) else DONE

    return told(options, list(dict.fromkeys([options.file, options.other])), compare)


def _compare(a: Database, b: Database, options: argparse.Namespace) -> bool:
    names = sorted({*a.classes, *b.classes}) if options.classes is None else options.classes
    for name in names:
        if name not in b:
            a[name]  # Raises an error if A does not have the class, either.
    schema = list(schema_differences(a, b, names))
    counts: Dict[str, Counter[str]] = {}
    with progress("compare", sum(len(db[name]) for db in (a, b) for name in names if name in db)) as advance:
        comparison = Comparison(a, b, advance)
        write = _Json(schema) if options.json else _Text(schema)
        for name in names:
            for change in comparison.of_class(name):
                counts.setdefault(name, Counter())[change.kind] += 1
                if not options.summary:
                    write.change(change)
        write.end(counts)
    return bool(schema or counts)


# ------------------------------------------------------------------------------------------------
# The schema
# ------------------------------------------------------------------------------------------------


def schema_differences(a: Database, b: Database, names: List[str]) -> Iterator[Dict[str, Any]]:
    """The differences of the schemas: the kind of each, and the forms in A and in B; None if it is missing there."""
    if a.schema_version != b.schema_version:
        yield {"what": "schema version", "a": a.schema_version, "b": b.schema_version}
    for name in names:
        before, after = a.schema.get(name), b.schema.get(name)
        if before is None or after is None:
            yield {"what": "class", "class": name, "a": _form(before), "b": _form(after)}
            continue
        if _form(before) != _form(after):
            yield {"what": "class", "class": name, "a": _form(before), "b": _form(after)}
        for key in dict.fromkeys([*before.properties, *after.properties]):
            one, two = before.properties.get(key), after.properties.get(key)
            if one != two:
                yield {"what": "property", "class": name, "property": key, "a": _type(one), "b": _type(two)}
        ones, twos = lines_of(a, name), lines_of(b, name)
        for line in dict.fromkeys([*ones, *twos]):
            one_has, two_has = line in ones, line in twos
            if one_has != two_has:
                yield {"what": "rule", "class": name, "a": line if one_has else None, "b": line if two_has else None}


def _form(declared: Optional[ClassSchema]) -> Optional[str]:
    if declared is None:
        return None
    return "embedded" if declared.embedded else f"primary key {declared.primary_key}" if declared.primary_key else "no primary key"


def _type(prop: Optional[Prop]) -> Optional[str]:
    if prop is None:
        return None
    return str(prop) + "".join(f", {mark}" for mark in ("indexed", "fulltext") if getattr(prop, mark))


# ------------------------------------------------------------------------------------------------
# Objects
# ------------------------------------------------------------------------------------------------


class _ByPrimaryKey(Exact):
    """Writes links as primary keys, because keys of objects have no meaning in another file."""

    def link(self, value: Object) -> Dict[str, Any]:
        key = value._bound().key_name
        return {"$primaryKey": self.any(value[key]), "$class": value.class_name} if key else super().link(value)


class Comparison:
    """Compares the objects of two databases. advance: called with the number of objects compared since the last call."""

    def __init__(self, a: Database, b: Database, advance: Any) -> None:
        self._a, self._b, self._advance, self._exact = a, b, advance, _ByPrimaryKey()

    def of_class(self, name: str) -> Iterator[Change]:
        a, b = self._table(self._a, name), self._table(self._b, name)
        if a is None or b is None:
            for kind, table in ("removed", a), ("added", b):
                for obj in () if table is None else counted(table, self._advance):
                    yield self._whole(kind, obj, table.schema.primary_key if table is not None else None)
            return
        key = a.schema.primary_key
        if key is not None and b.schema.primary_key == key and a.schema.properties[key].type == b.schema.properties[key].type:
            yield from self._by_primary_key(name, key, a, b)
        else:
            yield from self._by_key(name, a, b)

    def _table(self, db: Database, name: str) -> Optional[Table[Any]]:
        """The table of a class; None if the class is missing, or embedded: its objects are compared as parts of others."""
        return None if name not in db or db.schema[name].embedded else db[name]

    def _by_primary_key(self, name: str, key: str, a: Table[Any], b: Table[Any]) -> Iterator[Change]:
        for obj in counted(a, self._advance):
            other = b.get(obj[key])
            if other is None:
                yield self._whole("removed", obj, key)
            else:
                yield from self._changed(name, obj, other, key)
        for obj in counted(b, self._advance):
            if a.get(obj[key]) is None:
                yield self._whole("added", obj, key)

    def _by_key(self, name: str, a: Table[Any], b: Table[Any]) -> Iterator[Change]:
        """Both tables are in the order of their keys."""
        ones, twos = counted(a, self._advance), counted(b, self._advance)
        one, two = next(ones, None), next(twos, None)
        while one is not None or two is not None:
            if two is None or one is not None and one.object_key < two.object_key:
                yield self._whole("removed", one, None)
                one = next(ones, None)
            elif one is None or two.object_key < one.object_key:
                yield self._whole("added", two, None)
                two = next(twos, None)
            else:
                yield from self._changed(name, one, two, None)
                one, two = next(ones, None), next(twos, None)

    def _identity(self, obj: Object, key: Optional[str]) -> Dict[str, Any]:
        return {"$key": obj.object_key} if key is None else {"$primaryKey": self._exact.any(obj[key])}

    def _whole(self, kind: str, obj: Any, key: Optional[str]) -> Change:
        return Change(obj.class_name, kind, self._identity(obj, key), self._exact.object(obj), obj.object_key)

    def _changed(self, name: str, a: Object, b: Object, key: Optional[str]) -> Iterator[Change]:
        found = {}
        properties, others = a._bound().schema.properties, b._bound().schema.properties
        for prop, kind in properties.items():
            if prop in others:
                one, two = self._exact.of(kind, a[prop]), self._exact.of(others[prop], b[prop])
                if one is not two and repr(one) != repr(two):  # 1, 1.0 and True are equal in Python.
                    found[prop] = {"a": one, "b": two}
        if found:
            yield Change(name, "changed", self._identity(a, key), found, b.object_key)


# ------------------------------------------------------------------------------------------------
# Printing
# ------------------------------------------------------------------------------------------------

_MARKS = {"added": "+", "removed": "-", "changed": "~"}


class _Text:
    def __init__(self, schema: List[Dict[str, Any]]) -> None:
        for one in schema:
            place = ".".join(one[part] for part in ("class", "property") if part in one)
            print(printable(f"{one['what']}{' ' + place if place else ''}: {_or_none(one['a'])} → {_or_none(one['b'])}"))

    def change(self, change: Change) -> None:
        ((_, identity),) = change.identity.items()
        start = f"{_MARKS[change.kind]} {change.class_name} {cut(json_text(identity), _WIDTH)}"
        if change.kind != "changed":
            print(printable(f"{start}  {cut(json_text(change.values), 2 * _WIDTH)}"))
            return
        for name, values in change.values.items():
            before, after = (cut(json_text(values[side]), _WIDTH) for side in ("a", "b"))
            print(printable(f"{start}  {name}: {before} → {after}"))

    def end(self, counts: Dict[str, "Counter[str]"]) -> None:
        for name, kinds in counts.items():
            print(printable(f"{name}: {', '.join(f'{kinds[kind]:,} {kind}' for kind in _MARKS if kinds[kind])}"))


def _or_none(value: Any) -> str:
    return "nothing" if value is None else str(value)


class _Json:
    """Writes one JSON object with `schema`, `objects` and `counts`, piece by piece."""

    def __init__(self, schema: List[Dict[str, Any]]) -> None:
        sys.stdout.write('{"schema": ' + json_text(schema) + ',\n"objects": [')
        self._count = 0

    def change(self, change: Change) -> None:
        found = {"class": change.class_name, "change": change.kind, **change.identity, "values": change.values}
        sys.stdout.write((",\n " if self._count else "\n ") + json_text(found))
        self._count += 1

    def end(self, counts: Dict[str, "Counter[str]"]) -> None:
        sys.stdout.write("\n],\n" + '"counts": ' + json_text({name: dict(kinds) for name, kinds in counts.items()}) + "}\n")
