"""schema: prints the classes of a file, as declarations of Python, Swift, TypeScript or Kotlin, or as JSON."""

from __future__ import annotations

import argparse
import keyword
from typing import Any, Callable, Dict, Iterator, List, Tuple

from ..database import Database
from ..objects import Object
from ..schema import ClassSchema, Prop
from .exact import Schema, schema_json, type_name
from .languages import Names, as_kotlin, as_typescript
from .options import DONE, Commands
from .output import json_text


def add(commands: Commands) -> None:
    command = commands.reader("schema", run, "print the classes and properties")
    form = command.add_mutually_exclusive_group()
    kinds = (
        ("python", "model classes of this package (the default)"), ("swift", "model classes of RealmSwift"), ("typescript", "classes of realm-js"),
        ("kotlin", "classes of realm-kotlin"), ("json", "JSON"))  # fmt: skip
    for name, what in kinds:
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, help=what)
    command.set_defaults(form="python")


def run(db: Database, options: argparse.Namespace) -> int:
    print(_FORMS[options.form](db.schema, db.schema_version), end="")
    return DONE


def as_json(schema: Schema, version: Any) -> str:
    return json_text(schema_json(schema, version), indent=1) + "\n"


# ------------------------------------------------------------------------------------------------
# Python
# ------------------------------------------------------------------------------------------------

_PYTHON_HOMES = {"datetime": "datetime", "Decimal": "decimal", "UUID": "uuid", "Any": "typing", "Optional": "typing"}
_PYTHON_PACKAGE = ("Float32", "ObjectId")
# Names that the declarations themselves use.
_PYTHON_TAKEN = {"crealm", "list", "dict", "set", "int", "bool", "float", "str", "bytes", "Meta", *_PYTHON_HOMES}


def as_python(schema: Schema, version: Any) -> str:
    names = Names(lambda text: keyword.iskeyword(text) or text in _PYTHON_TAKEN)
    uses: set[str] = set()
    body: List[str] = []
    for name, declared in schema.items():
        body += ["", "", f"class {names[name]}(crealm.{'Embedded' if declared.embedded else 'Model'}):", *_python_lines(declared, names, uses)]
    lines = [f"# Schema version {version}."] if version is not None else []
    for home in sorted({_PYTHON_HOMES[used] for used in uses}):
        lines.append(f"from {home} import {', '.join(sorted(used for used in uses if _PYTHON_HOMES[used] == home))}")
    return "\n".join([*lines, *([""] if uses else []), "import crealm", *body]) + "\n"


def _python_lines(declared: ClassSchema, names: Names, uses: "set[str]") -> Iterator[str]:
    # Python changes names that begin with two underscores inside a class.
    attributes = Names(lambda text: text.startswith("__") or keyword.iskeyword(text) or hasattr(Object, text) or text in _PYTHON_TAKEN)
    for key, prop in declared.properties.items():
        marks = [mark for mark, is_set in (
            ("primary_key=True", key == declared.primary_key), ("index=True", prop.indexed), ("fulltext=True", prop.fulltext)) if is_set]
        if attributes[key] != key:
            marks.append(f"name={key!r}")
        yield f"    {attributes[key]}: {_python_type(prop, names, uses)}" + (f" = crealm.field({', '.join(marks)})" if marks else "")
    if names[declared.name] != declared.name:
        yield from ("", "    class Meta:", f"        name = {declared.name!r}")
    elif not declared.properties:
        yield "    pass"


def _python_type(prop: Prop, names: Names, uses: "set[str]") -> str:
    text = f'"{names[prop.type]}"' if prop.is_link else type_name(prop)
    if text in _PYTHON_HOMES:
        uses.add(text)
    if text in _PYTHON_PACKAGE:
        text = f"crealm.{text}"
    if prop.optional and text != "Any":
        uses.add("Optional")
        text = f"Optional[{text}]"
    return {None: text, "list": f"list[{text}]", "set": f"set[{text}]", "dict": f"dict[str, {text}]"}[prop.collection]


# ------------------------------------------------------------------------------------------------
# Swift
# ------------------------------------------------------------------------------------------------

_SWIFT_TYPES = {
    "int": "Int", "bool": "Bool", "float": "Double", "Float32": "Float", "str": "String", "bytes": "Data", "datetime": "Date",
    "Decimal": "Decimal128", "UUID": "UUID", "ObjectId": "ObjectId", "Any": "AnyRealmValue",
}  # fmt: skip
_SWIFT_KEYWORDS = set(
    "as break case catch class continue default defer do else enum extension false fileprivate for func guard if import in init inout internal is "
    "let nil operator private protocol public repeat rethrows return self Self static struct subscript super switch throw throws true try typealias var "
    "where while".split())


def as_swift(schema: Schema, version: Any) -> str:
    names = Names(lambda text: text in _SWIFT_KEYWORDS or text in _SWIFT_TYPES.values())
    lines = [*([f"// Schema version {version}."] if version is not None else []), "import Foundation", "import RealmSwift"]
    for name, declared in schema.items():
        lines += ["", f"class {names[name]}: {'EmbeddedObject' if declared.embedded else 'Object'} {{", *_swift_lines(declared, names), "}"]
    return "\n".join(lines) + "\n"


def _swift_lines(declared: ClassSchema, names: Names) -> Iterator[str]:
    attributes = Names(lambda text: False)
    renamed: List[Tuple[str, str]] = []
    for key, prop in declared.properties.items():
        name = attributes[key]
        if name != key:
            renamed.append((name, key))
        mark = "(primaryKey: true)" if key == declared.primary_key else "(indexed: true)" if prop.indexed else ""
        note = "  // full-text index" if prop.fulltext else ""
        yield f"    @Persisted{mark} var {f'`{name}`' if name in _SWIFT_KEYWORDS else name}: {_swift_type(prop, names)}{note}"
    if renamed:
        pairs = ", ".join(f"{_swift_text(name)}: {_swift_text(key)}" for name, key in renamed)
        yield f"    override class func propertiesMapping() -> [String: String] {{ [{pairs}] }}"
    if names[declared.name] != declared.name:
        yield f"    override class func _realmObjectName() -> String? {{ {_swift_text(declared.name)} }}"


def _swift_text(text: str) -> str:
    """A text as a literal of Swift. Characters that are invisible or reverse the text are escaped by number."""
    return '"' + "".join(ch if ch.isprintable() and ch not in '"\\' else f"\\u{{{ord(ch):x}}}" for ch in text) + '"'


def _swift_type(prop: Prop, names: Names) -> str:
    text = names[prop.type] if prop.is_link else _SWIFT_TYPES[type_name(prop)]
    if prop.optional and text != "AnyRealmValue":
        text += "?"
    return {None: text, "list": f"List<{text}>", "set": f"MutableSet<{text}>", "dict": f"Map<String, {text}>"}[prop.collection]


_FORMS: Dict[str, Callable[[Schema, Any], str]] = {
    "python": as_python, "swift": as_swift, "typescript": as_typescript, "kotlin": as_kotlin, "json": as_json}  # fmt: skip
