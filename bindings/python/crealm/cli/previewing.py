"""What an import would make: the options --types and --preview of `crealm import`."""

from __future__ import annotations

import argparse
import os
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence
from uuid import UUID

from .._shown import plain
from ..database import Database
from ..errors import NoSuchProperty, UsageError, suggestion
from ..opening import open as open_database
from ..schema import ClassSchema, Prop
from ..values import Float32, ObjectId
from .carrying import Row, Source
from .exact import Named, Ref, schema_json
from .options import DONE, secret
from .output import WIDTH, print_json, print_table, printable

_FIRST = 5  # The objects of a class that a preview shows.
_TYPES: Dict[str, Any] = {
    **{kind.__name__: kind for kind in (int, bool, float, Float32, str, bytes, datetime, Decimal, UUID, ObjectId)},
    "Any": Any,
}
_BY_WORD = {name.casefold(): kind for name, kind in _TYPES.items()}


def with_types(schema: Mapping[str, ClassSchema], given: Sequence[str]) -> Dict[str, ClassSchema]:
    """The classes with the types of --types. A type without `?` keeps whether values may be missing."""
    found = {name: dict(declared.properties) for name, declared in schema.items()}
    for one in (part.strip() for text in given for part in text.split(",")):
        place, mark, word = one.rpartition("=")
        kind = _BY_WORD.get(word.strip().rstrip("?").casefold())
        if not mark or kind is None:
            raise UsageError(f"--types has COLUMN=TYPE, and {one!r} is none", hint=f"Types are {', '.join(_TYPES)}.")
        columns = [(name, key) for name, properties in found.items() for key in properties]
        places = [(name, key) for name, key in columns if place.strip() in (key, f"{name}.{key}")]
        if not places:
            known = [key for _, key in columns]
            raise NoSuchProperty(f"The source has no column {place.strip()!r}{suggestion(place.strip(), known)}")
        if len(places) > 1:
            classes = ", ".join(name for name, _ in places)
            raise UsageError(f"{place.strip()!r} is a column of {classes}: write CLASS.{place.strip()}={word.strip()}")
        ((name, key),) = places
        found[name][key] = Prop(kind, optional=found[name][key].optional or word.strip().endswith("?"))
    return {
        name: ClassSchema(name, properties, primary_key=schema[name].primary_key) for name, properties in found.items()
    }


_Prepare = Callable[[Source, argparse.Namespace, Optional[Database]], None]


def preview(source: Source, options: argparse.Namespace, prepare: _Prepare) -> int:
    """Prints the classes of a source and their first objects; with --json as JSON. All rows are read, so that a value
    that does not fit is an error here as in the import."""
    if os.path.lexists(options.file):
        with open_database(options.file, mode="snapshot", **secret(options)) as db:
            prepare(source, options, db)
    else:
        prepare(source, options, None)
    assert source.schema is not None
    counts: Dict[str, int] = dict.fromkeys(source.class_names, 0)
    first: Dict[str, List[Row]] = {}
    for row in source.rows():
        counts[row.class_name] = counts.get(row.class_name, 0) + 1
        if len(first.setdefault(row.class_name, [])) < _FIRST:
            first[row.class_name].append(row)
    if options.json:
        print_json({**schema_json({name: source.schema[name] for name in counts}, source.version), "counts": counts})
        return DONE
    for number, (name, count) in enumerate(counts.items()):
        _print_class(source.schema[name], count, first.get(name, []), is_first=not number)
    return DONE


def _print_class(declared: ClassSchema, count: int, rows: List[Row], is_first: bool) -> None:
    if not is_first:
        print()
    key = f", primary key {declared.primary_key}" if declared.primary_key else ""
    print(printable(f"{declared.name}: {count:,} object{'' if count == 1 else 's'}{key}"))
    print_table([["property", "type"], *([name, str(prop)] for name, prop in declared.properties.items())], indent="  ")
    if rows:
        print()
        cells = [[_text(row.values.get(name)) for name in declared.properties] for row in islice(rows, _FIRST)]
        print_table([list(declared.properties), *cells], indent="  ", width=WIDTH)
    if count > len(rows):
        print(f"  … {count - len(rows):,} more")


def _text(value: Any) -> str:
    if isinstance(value, Ref):
        return f"{value.class_name} {value.key}"
    if isinstance(value, Named):
        return f"{value.class_name} {value.primary_key}"
    return plain(value)
