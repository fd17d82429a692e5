"""import: reads objects of another format into a new file, or into an existing file that has their classes.

The source is read twice. The first pass creates all objects, many in one call, with the values that do not refer to other objects. The second
pass writes links, embedded objects and values of type Any that contain links. All of this is one write: everything is imported, or nothing.

A new file gets the rules of the source before its objects, because rules make values that the source does not have.
The rules `modified` and `revision` come after them, in a second write: they would replace the values of the source.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import shutil
import sys
import tempfile
from bisect import bisect_right
from contextlib import closing, contextmanager, suppress
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Union

from ..collections import Dictionary, List as RealmList, SetView
from ..database import Database
from ..errors import DataError, NoSuchClass, SchemaError, UsageError, suggestion
from ..objects import Object, Table
from ..opening import open as open_database
from ..schema import ClassSchema, Prop
from .carrying import Row, Source
from .exact import Named, Ref, links_in, schema_of_json
from .formats import FORMATS, STREAMED, format_of
from .options import DONE, Commands, add_file, add_json, secret
from .output import print_error, print_json, progress
from .previewing import preview, with_types

_BATCH = 10_000
_FILLERS = 10_000  # Placeholder objects for missing keys, deleted after the batch: at most so many, plus one per real object.


def add(commands: Commands) -> None:
    command = commands.alone("import", run, "read objects of another format into a new file, or one that is there")
    add_file(command)
    command.add_argument("source", metavar="SOURCE", help="what export wrote; CSV and .xlsx of others, too; - is the standard input (JSON, NDJSON)")
    command.add_argument("--format", choices=list(FORMATS), help="default: what the ending of SOURCE says")
    command.add_argument("--class", dest="only", metavar="NAME", help="the class of a single CSV file, or of a workbook with one sheet; default: its name")
    command.add_argument("--delimiter", metavar="CHARACTER", help="what separates the fields of CSV (default: a comma); tab for a tabulator")
    command.add_argument("--schema", metavar="SCHEMAFILE", help="the classes, as `crealm schema --json` prints them")
    command.add_argument("--types", action="append", metavar="COLUMN=TYPE", default=[],
                         help="the types of columns where the source has no schema, as in zip=str,price=Decimal,born=datetime? (? for values that may be "
                              "missing); Class.column where several classes have it; may be given several times")
    command.add_argument("--preview", action="store_true", help="print the classes, the types and the first objects, and write nothing")
    command.add_argument("--update", choices=["error", "modified", "all"], default="error",
                         help="where an object has the primary key already: an error (the default), write what differs, write all values")
    command.add_argument("--drop-links", action="store_true", help="links to objects that are nowhere become null, and are counted")
    command.add_argument("--no-rules", action="store_true", help="a new file does not get the rules of the source")
    add_json(command, "tell what was read as JSON")


def run(options: argparse.Namespace) -> int:
    with _source_path(options) as path:
        kind = format_of(path, options.format)
        with closing(FORMATS[kind].read(path, options.only)) as source:
            source.delimiter = _delimiter(options.delimiter, kind)
            if options.preview:
                return preview(source, options, _prepare)
            counts, dropped = _import(source, options)
    for name, count in counts.items():
        if not count:
            print_error(f"{name}: the source has no object of it")
    if dropped:
        print_error(f"links to objects that are nowhere: {dropped:,}")
    if options.json:
        told = {"format": kind, "objects": sum(counts.values()), "classes": counts, "droppedLinks": dropped}
        print_json({"file": os.path.abspath(options.file), **told})
    else:
        classes = "1 class" if len(counts) == 1 else f"{len(counts):,} classes"
        print(f"{os.path.abspath(options.file)}: {sum(counts.values()):,} objects of {classes}")
    return DONE


def _delimiter(given: Optional[str], kind: str) -> Optional[str]:
    if given is None:
        return None
    mark = "\t" if given in ("tab", "\\t") else given
    if kind != "csv" or len(mark) != 1 or mark in '"\r\n':
        raise UsageError(f"--delimiter is one character, for CSV: not {given!r}")
    return mark


@contextmanager
def _source_path(options: argparse.Namespace) -> Iterator[str]:
    """The path of the source. The standard input is copied to a temporary file, because the source is read twice."""
    if options.source != "-":
        yield options.source
        return
    if options.format not in STREAMED:
        raise DataError(f"From the standard input: --format {' or '.join(STREAMED)}")
    with tempfile.NamedTemporaryFile(prefix="crealm-") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        yield copy.name


def _import(source: Source, options: argparse.Namespace) -> Tuple[Dict[str, int], int]:
    """The number of objects of each class, and the number of dropped links."""
    if os.path.lexists(options.file):
        with open_database(options.file, mode="rw", **secret(options)) as db:
            _prepare(source, options, db)
            return _fill(db, source, options, is_new=False)
    _prepare(source, options, None)
    assert source.schema is not None
    ruled = {} if options.no_rules else {name: one.rules for name, one in source.schema.items()}
    later = {name: rules for name, rules in ruled.items() if _has_stamps(rules)}
    declared = [_with_rules(one, _without_stamps(ruled.get(name, {}))) for name, one in source.schema.items()]
    try:
        with open_database(options.file, mode="rwc", schema=declared, schema_version=source.version, **secret(options)) as db:
            told = _fill(db, source, options, is_new=True)
            if later:
                with db.write():
                    for name, rules in later.items():
                        db.set_rules(name, rules)
            return told
    except BaseException:
        for name in options.file, f"{options.file}.lock", f"{options.file}.note":
            with suppress(OSError):
                os.remove(name)
        raise


def _prepare(source: Source, options: argparse.Namespace, db: Optional[Database]) -> None:
    """Gives the source its classes: those of --schema, else those in the source, else those of the existing file, else
    guessed ones, with --types."""
    if options.schema is not None:
        with open(options.schema, encoding="utf-8") as file:
            schema, source.version = schema_of_json(json.load(file))
        source.read_as(schema)
    if options.types and (source.schema is not None or db is not None):
        raise UsageError("--types is for a new file and a source without a schema: here the types are known")
    if db is not None and source.schema is None:
        source.read_as(db.schema)
    elif db is not None:
        assert source.schema is not None
        _require_classes(db, source.schema)
    elif source.schema is None:
        guessed = source.guess()
        source.read_as(with_types(guessed, options.types) if options.types else guessed)


_STAMPS = ("modified", "revision")  # Rules that change the values of new objects.


def _has_stamps(rules: Mapping[str, Any]) -> bool:
    properties = rules.get("properties")
    if not isinstance(properties, dict):
        return False  # Opening the file tells what is wrong.
    return any(stamp in own for own in properties.values() if isinstance(own, dict) for stamp in _STAMPS)


def _without_stamps(rules: Mapping[str, Any]) -> Mapping[str, Any]:
    if not _has_stamps(rules):
        return rules
    properties = {
        name: {rule: value for rule, value in own.items() if rule not in _STAMPS} if isinstance(own, dict) else own
        for name, own in rules["properties"].items()}  # fmt: skip
    return {**rules, "properties": properties}


def _with_rules(declared: ClassSchema, rules: Mapping[str, Any]) -> ClassSchema:
    found = copy.copy(declared)
    found.rules = rules
    return found


def _require_classes(db: Database, schema: Mapping[str, ClassSchema]) -> None:
    """SchemaError unless the file has all classes and properties of the source, with the same types."""
    for name, declared in schema.items():
        if not declared.properties:
            continue
        if name not in db:
            raise SchemaError(f"The file has no class {name!r}{suggestion(name, db.classes)}")
        there = db.schema[name]
        if (there.primary_key, there.embedded) != (declared.primary_key, declared.embedded):
            raise SchemaError(f"{name} has another primary key in the file, or is embedded only there or only here")
        for key, prop in declared.properties.items():
            found = there.properties.get(key)
            if found is None or str(found) != str(prop):
                raise SchemaError(f"{name}.{key} is {prop} in the source, {'not there' if found is None else found} in the file")


def _fill(db: Database, source: Source, options: argparse.Namespace, is_new: bool) -> Tuple[Dict[str, int], int]:
    with db.write(), progress("import", None) as advance:
        filling = _Filling(db, source, options, is_new, advance)
        filling.make_objects()
        filling.link_objects()
    known = [name for name in source.class_names if name in db and not db[name].schema.embedded]
    return {**dict.fromkeys(known, 0), **{name: one.count for name, one in filling.classes.items()}}, filling.dropped


# ------------------------------------------------------------------------------------------------
# Keys
# ------------------------------------------------------------------------------------------------


class _Keys:
    """Maps the keys of objects in the source to their keys in the file, as runs of consecutive keys: most keys are consecutive."""

    def __init__(self) -> None:
        self._runs: List[List[int]] = []  # First key in the source, first key in the file, length.
        self._firsts: List[int] = []

    def add(self, before: int, now: int) -> None:
        if self._runs:
            run = self._runs[-1]
            if before - run[0] == run[2] == now - run[1]:
                run[2] += 1
                return
        self._runs.append([before, now, 1])

    def close(self, class_name: str) -> None:
        """Called after the last add(). DataError if two objects have the same key in the source."""
        self._runs.sort()
        for one, following in zip(self._runs, self._runs[1:]):
            if one[0] + one[2] > following[0]:
                raise DataError(f"Two objects of {class_name} have the key {following[0]}")
        self._firsts = [run[0] for run in self._runs]

    def find(self, before: int) -> Optional[int]:
        at = bisect_right(self._firsts, before) - 1
        if at < 0 or before - self._runs[at][0] >= self._runs[at][2]:
            return None
        return self._runs[at][1] + before - self._runs[at][0]


class _Class:
    """A class whose objects are being imported."""

    def __init__(self, db: Database, name: str) -> None:
        self.table: Table[Any] = db[name]
        declared = self.table.schema
        if declared.embedded:
            raise DataError(f"{name} is an embedded class: its objects stand inside of others")
        self.name, self.count, self.keys = name, 0, _Keys()
        self.primary_key = declared.primary_key
        # Whether the library makes primary keys that the source does not have.
        own = {} if self.primary_key is None else db.rules(name)["properties"].get(self.primary_key, {})
        self.makes_key = bool(own.get("auto"))
        properties = declared.properties
        self.any = {key for key, prop in properties.items() if prop.type is Any}
        self.leading = {key for key, prop in properties.items() if prop.is_link}  # Properties that refer to other objects.
        self.has_later = bool(self.leading)
        self.next_key, self._fillers = 0, 0
        self.empty: Dict[str, Any] = {key: _empty(prop) for key, prop in properties.items()}

    def split(self, values: Mapping[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """The values that an object is created with, and the values that it gets when all objects exist."""
        if not self.leading and not self.any:
            return dict(values), {}
        now, later = {}, {}
        for name, value in values.items():
            if name in self.leading:
                later[name] = value
            elif name in self.any and links_in(value):
                later[name], now[name] = value, self.empty[name]
            else:
                now[name] = value
        return now, later

    def keys_of(self, values: List[Dict[str, Any]]) -> List[int]:
        """The keys of existing objects, found by their primary keys."""
        found = (self.table.get(one[str(self.primary_key)]) for one in values)
        return [one.object_key for one in found if one is not None]

    def with_gaps(self, had: List[int], values: List[Dict[str, Any]]) -> Tuple[List[Dict[str, Any]], List[int]]:
        """The objects with placeholders between them for missing keys, and the positions of the placeholders, which are to be
        deleted. If too many keys are missing, there are no placeholders, and the following objects get lower keys."""
        filled: List[Dict[str, Any]] = []
        gaps: List[int] = []
        following = self.next_key
        for key, one in zip(had, values):
            missing = key - following
            if 0 < missing <= _FILLERS + self.count + len(filled) - self._fillers:
                gaps += range(len(filled), len(filled) + missing)
                filled += [one] * missing
                self._fillers += missing
                following += missing
            filled.append(one)
            following += 1
        return filled, gaps


def _empty(prop: Prop) -> Any:
    return {} if prop.collection == "dict" else None if prop.collection is None else []


# ------------------------------------------------------------------------------------------------
# Filling
# ------------------------------------------------------------------------------------------------


class _Filling:
    def __init__(self, db: Database, source: Source, options: argparse.Namespace, is_new: bool, advance: Callable[[int], None]) -> None:
        self._db, self._source, self._is_new, self._advance = db, source, is_new, advance
        self._update, self._drops_links = options.update, options.drop_links
        self.dropped = 0
        self.classes: Dict[str, _Class] = {}

    def _class(self, name: str) -> _Class:
        if name not in self.classes:
            if name not in self._db:
                raise NoSuchClass(f"There is no class {name!r}{suggestion(name, self._db.classes)}")
            self.classes[name] = _Class(self._db, name)
        return self.classes[name]

    def _batches(self) -> Iterator[Tuple[_Class, List[Row]]]:
        """Consecutive rows of one class, at most `_BATCH` at a time."""
        some: List[Row] = []
        for row in self._source.rows():
            if some and (row.class_name != some[0].class_name or len(some) == _BATCH):
                yield self._class(some[0].class_name), some
                some = []
            some.append(row)
        if some:
            yield self._class(some[0].class_name), some

    def make_objects(self) -> None:
        for kind, rows in self._batches():
            made = []
            for row in rows:
                if row.key is not None and not (type(row.key) is int and 0 <= row.key < 2**63 - 1):
                    raise DataError(f"An object of {kind.name} has the $key {row.key!r}, which is none")
                now, later = kind.split(row.values)
                kind.has_later = kind.has_later or bool(later)
                made.append(now)
            had = [kind.count + number if row.key is None else row.key for number, row in enumerate(rows)]
            for before, key in zip(had, self._made(kind, had, made)):
                kind.keys.add(before, key)
            kind.count += len(rows)
            self._advance(len(rows))
        for kind in self.classes.values():
            kind.keys.close(kind.name)

    def _made(self, kind: _Class, had: List[int], values: List[Dict[str, Any]]) -> List[int]:
        """Creates objects and returns their keys: in a new file the keys of the source, if possible."""
        if kind.makes_key and any(kind.primary_key not in one for one in values):
            known = [one for one in values if kind.primary_key in one]
            there = iter(self._made(kind, [], known) if known else ())
            return [next(there) if kind.primary_key in one else self._made_without_key(kind, one) for one in values]
        before = len(kind.table)
        if self._update != "error" or kind.primary_key is not None and not self._is_new:
            self._db.add_many(kind.name, values, self._update, batch=_BATCH)
            return self._new_keys(kind, before, values) if kind.primary_key is None else kind.keys_of(values)
        if kind.primary_key is not None or not self._is_new:
            self._db.add_many(kind.name, values, batch=_BATCH)
            return self._new_keys(kind, before, values)
        filled, gaps = kind.with_gaps(had, values)
        self._db.add_many(kind.name, filled, batch=_BATCH)
        keys = self._new_keys(kind, before, filled)
        for place in reversed(gaps):
            kind.table[before + place].delete()
        kind.next_key = keys[-1] + 1
        wanted = set(gaps)
        return [key for place, key in enumerate(keys) if place not in wanted]

    def _made_without_key(self, kind: _Class, values: Mapping[str, Any]) -> int:
        obj = kind.table.create()
        for name, value in values.items():
            obj[name] = value
        return int(obj.object_key)

    def _new_keys(self, kind: _Class, before: int, values: List[Dict[str, Any]]) -> List[int]:
        """The keys of the objects that were just created, in the order of `values`."""
        count = len(kind.table) - before
        if count != len(values):
            raise DataError(f"{len(values):,} objects of {kind.name} were made, and {count:,} are there")
        ends = [kind.table[before].object_key, kind.table[before + count - 1].object_key]
        if kind.primary_key is not None and kind.keys_of([values[0], values[-1]]) != ends:
            return kind.keys_of(values)
        if ends[1] - ends[0] == count - 1:
            return list(range(ends[0], ends[1] + 1))
        return [obj.object_key for obj in kind.table[before:]]

    def link_objects(self) -> None:
        """The second pass: reads the source again, and writes the values that refer to other objects."""
        later = {kind.name for kind in self.classes.values() if kind.has_later}
        if not later:
            return
        numbers = dict.fromkeys(self.classes, 0)
        for row in self._source.rows(lambda prop: prop.is_link or prop.type is Any):
            number, kind = numbers[row.class_name], self.classes[row.class_name]
            numbers[row.class_name] += 1
            if row.class_name in later:
                _, values = kind.split(row.values)
                obj = self._object(kind.name, number if row.key is None else row.key)
                for name, value in values.items():
                    if not value and self._update == "error":
                        continue  # A new object already has null or an empty collection.
                    wanted = self._resolved(value)
                    if self._update != "modified" or not _is_there(obj[name], wanted):
                        obj[name] = wanted

    def _linked(self, link: Union[Ref, Named]) -> Optional[Object]:
        """The object of a link; None if it does not exist and such links are dropped."""
        try:
            if isinstance(link, Ref):
                return self._object(*link)
            found: Optional[Object] = self._db[link.class_name].get(link.primary_key)
            if found is None:
                raise DataError(f"There is no {link.class_name} with primary key {link.primary_key!r}")
            return found
        except DataError:
            if not self._drops_links:
                raise
            self.dropped += 1
            return None

    def _object(self, class_name: str, key: int) -> Object:
        kind = self.classes.get(class_name)
        now = None if kind is None else kind.keys.find(key)
        if kind is None or now is None:
            raise DataError(f"A link leads to {class_name} {key}, which is not in the source", hint="--drop-links leaves such links out.")
        found: Object = self._db._object(kind.table._class_key, now)
        return found

    def _resolved(self, value: Any) -> Any:
        """The value with objects in place of links."""
        if isinstance(value, (Ref, Named)):
            return self._linked(value)
        if isinstance(value, list):
            found = [(element, self._resolved(element)) for element in value]
            return [now for before, now in found if now is not None or before is None]
        if isinstance(value, dict):
            return {key: self._resolved(element) for key, element in value.items()}
        return value


def _is_there(found: Any, wanted: Any) -> bool:
    """Whether a property already has a value that is equal in every bit."""
    if isinstance(wanted, dict):
        if isinstance(found, Object):
            return all(_is_there(found[name], value) for name, value in wanted.items())
        return isinstance(found, Dictionary) and found.keys() == wanted.keys() and all(_is_there(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return isinstance(found, (RealmList, SetView)) and len(found) == len(wanted) and all(map(_is_there, found, wanted))
    if isinstance(wanted, Object):
        return bool(found == wanted)
    return type(found) is type(wanted) and repr(found) == repr(wanted)
