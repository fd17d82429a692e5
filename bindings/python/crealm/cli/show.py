"""show: prints classes, properties and the first objects."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import Any, Iterable, List

from ..collections import Dictionary, SetView
from ..collections import List as ListView
from ..database import Database
from ..errors import DataError
from ..objects import Object, Table
from ..schema import ClassSchema
from .exact import Exact, schema_json
from .json_files import plain_object
from .options import DONE, Commands, add_json, natural
from .output import WIDTH, print_error, print_json, print_table, printable
from .rule_lines import lines_of, with_rules


def add(commands: Commands) -> None:
    command = commands.reader("show", show, "print classes, properties and the first objects")
    command.add_argument("--limit", type=natural, default=10, metavar="N", help="objects per class (default 10)")
    command.add_argument("--class", dest="only", metavar="NAME", help="only this class")
    add_json(command)


def show(db: Database, options: argparse.Namespace) -> int:
    names = db.classes if options.only is None else [db[options.only].name]
    limit = max(options.limit, 0)
    if options.json:
        classes = with_rules(db, lambda name, error: print_error(f"the rules of {name} cannot be read: {error}"))
        print_json([_class_json(db[name], classes[name], limit) for name in names])
        return DONE
    if not names:
        print("no classes")
    for number, name in enumerate(names):
        if number:
            print()
        _show_class(db[name], lines_of(db, name), limit)
    return DONE


def _class_json(table: Table[Any], schema: ClassSchema, limit: int) -> Any:
    (declared,) = schema_json({table.name: schema}, None)["classes"]
    return {**declared, "count": len(table), "objects": [plain_object(obj, Exact()) for obj in table[:limit]]}


def kind_of(schema: ClassSchema) -> str:
    if schema.embedded:
        return "embedded"
    return f"primary key {schema.primary_key}" if schema.primary_key else ""


def _show_class(table: Table[Any], rules: List[str], limit: int) -> None:
    schema, count = table.schema, len(table)
    kind = kind_of(schema)
    print(printable(f"{table.name}: {count:,} object{'' if count == 1 else 's'}{', ' + kind if kind else ''}"))
    rows = [["property", "type", ""]]
    for name, prop in schema.properties.items():
        marks = ["primary key"] if name == schema.primary_key else []
        marks += [mark for mark in ("indexed", "fulltext") if getattr(prop, mark)]
        rows.append([name, str(prop), ", ".join(marks)])
    print_table(rows, indent="  ")
    if rules:
        print()
    for line in rules:
        print(f"  {line}")
    if not count or not limit:
        return
    print()
    rows = [["#", *schema.properties]]
    for obj in table[:limit]:
        rows.append([str(obj.object_key), *(cell(obj, name) for name in schema.properties)])
    print_table(rows, indent="  ", width=WIDTH)
    if count > limit:
        print(f"  … {count - limit:,} more")


def cell(obj: Object, name: str) -> str:
    try:
        return text_of(obj[name])
    except DataError as error:
        return f"<{error.message}>"


def text_of(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return printable(value[: WIDTH + 1])
    if isinstance(value, bytes):
        return f"{len(value)} bytes {value[:8].hex()}" if value else "0 bytes"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").replace("+00:00", "Z")
    if isinstance(value, Object):
        if value._bound().schema.embedded:
            inside = (f"{key}: {text_of(value[key])}" for key in value._bound().properties)
            return _joined(inside, "{}", len(value._bound().properties))
        return f"{value.class_name} #{value.object_key}"
    if isinstance(value, Dictionary):
        return _joined((f"{printable(k[: WIDTH + 1])}: {text_of(v)}" for k, v in value.items()), "{}", len(value))
    if isinstance(value, (ListView, SetView)):
        brackets = "{}" if isinstance(value, SetView) else "[]"
        return _joined(map(text_of, value), brackets, len(value))
    return str(value)


def _joined(parts: Iterable[str], brackets: str, count: int) -> str:
    """The parts in brackets, cut to the width of a column."""
    text, taken = "", 0
    for part in parts:
        text += (", " if taken else "") + part
        taken += 1
        if len(text) > WIDTH:
            break
    room = WIDTH - 2
    if len(text) > room or taken < count:
        tail = f"… ({count})"
        text = text[: room - len(tail)] + tail
    return f"{brackets[0]}{text}{brackets[1]}"
