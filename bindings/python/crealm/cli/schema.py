"""schema: prints the classes of a file, as declarations of Python, Swift, TypeScript or Kotlin, or as JSON.

Declarations of Python and JSON declare the rules, too. The other languages have no words for them: there each rule is
a comment.
"""

from __future__ import annotations

import argparse
import base64
import keyword
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from ..database import Database
from ..objects import Object
from ..schema import ClassSchema, Prop
from ..values import Timestamp
from .exact import Schema, schema_json, type_name
from .languages import Names, as_kotlin, as_typescript, rule_comments
from .options import DONE, Commands
from .output import json_text, print_error
from .rule_lines import rule_lines, with_rules
from .subclasses import Part, parts


def add(commands: Commands) -> None:
    command = commands.reader("schema", run, "print the classes, properties and rules")
    form = command.add_mutually_exclusive_group()
    kinds = (
        ("python", "model classes of this package (the default)"), ("swift", "model classes of RealmSwift"), ("typescript", "classes of realm-js"),
        ("kotlin", "classes of realm-kotlin"), ("json", "JSON"))  # fmt: skip
    for name, what in kinds:
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, help=what)
    command.set_defaults(form="python")


def run(db: Database, options: argparse.Namespace) -> int:
    classes = with_rules(db, lambda name, error: print_error(f"the rules of {name} cannot be read: {error}"))
    print(_FORMS[options.form](classes, db.schema_version), end="")
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
        family = list(parts(declared))
        if family:
            body += _python_family(family, schema, names, uses)
            continue
        meta = [f"name = {name!r}"] if names[name] != name else []
        body += ["", "", f"class {names[name]}(crealm.{'Embedded' if declared.embedded else 'Model'}):"]
        body += _python_lines(declared, names, uses, meta, _attributes())
    lines = [f"# Schema version {version}."] if version is not None else []
    for home in sorted({_PYTHON_HOMES[used] for used in uses}):
        lines.append(f"from {home} import {', '.join(sorted(used for used in uses if _PYTHON_HOMES[used] == home))}")
    return "\n".join([*lines, *([""] if uses else []), "import crealm", *body]) + "\n"


def _attributes() -> Names:
    """The names of properties in Python, which changes names that begin with two underscores inside a class."""
    return Names(
        lambda text: text.startswith("__") or keyword.iskeyword(text) or hasattr(Object, text) or text in _PYTHON_TAKEN
    )


def _python_family(family: List[Part], schema: Schema, names: Names, uses: "set[str]") -> Iterator[str]:
    """A base class and its subclasses."""
    attributes, titles = _attributes(), {}
    for part in family:
        # The name of a type may be that of another class of the file.
        title = names[part.text if not part.above or part.text not in schema else f"{part.text}_"]
        titles[part.text] = title
        if part.above:
            meta = [f"type_name = {part.text!r}"] if title != part.text else []
        else:
            meta = [f"name = {part.text!r}"] if title != part.text else []
            meta.append(f"type_property = {attributes[part.by]!r}")
        meta += ["abstract = True"] * part.is_abstract
        yield from ("", "", f"class {title}({titles[part.above] if part.above else 'crealm.Model'}):")
        outer = f"({titles[part.above]}.Meta)" if part.above else ""
        yield from _python_lines(part.declared, names, uses, meta, attributes, outer, part.unsaid)


def _python_lines(
    declared: ClassSchema,
    names: Names,
    uses: "set[str]",
    meta: List[str],
    attributes: Names,
    outer: str = "",
    others: Sequence[Any] = (),
) -> Iterator[str]:
    """The body of a class. outer: the base of its Meta. others: more rules that it cannot declare."""
    ruled, unsaid = declared.rules.get("properties", {}), [*others]
    for key, prop in declared.properties.items():
        marks = [mark for mark, is_set in (
            ("primary_key=True", key == declared.primary_key), ("index=True", prop.indexed), ("fulltext=True", prop.fulltext)) if is_set]
        for rule, value in ruled.get(key, {}).items():
            mark = _python_rule(rule, value, uses)
            if mark is None:
                unsaid.append({"properties": {key: {rule: value}}})
            else:
                marks.append(mark)
        if attributes[key] != key:
            marks.append(f"name={key!r}")
        yield f"    {attributes[key]}: {_python_type(prop, names, uses)}" + (f" = crealm.field({', '.join(marks)})" if marks else "")
    for name, expression in declared.rules.get("computed", {}).items():
        if name.isidentifier() and not keyword.iskeyword(name) and name not in [attributes[key] for key in declared.properties]:
            uses.add("Any")
            yield f"    {name}: Any = crealm.computed({expression!r})"
        else:
            unsaid.append({"computed": {name: expression}})
    meta = [*meta, *_python_meta(declared.rules, attributes, unsaid)]
    if meta:
        yield from ("", f"    class Meta{outer}:", *(f"        {line}" for line in meta))
    elif not declared.properties:
        yield "    pass"
    for rules in unsaid:
        yield from (f"    # The file has a rule that a model cannot declare: {line}" for line in rule_lines(rules))


def _python_rule(rule: str, value: Any, uses: "set[str]") -> Optional[str]:
    """A rule of a property as an argument of field(); None if field() cannot declare it."""
    if rule != "default":
        return f"{rule}={value!r}"
    try:
        text = _python_default(value, uses)
    except (ValueError, TypeError, OverflowError):
        text = None
    return None if text is None else f"file_default={text}"


_PYTHON_MADE = {"NOW": {"$now": True}, "NEW_UUID": {"$new": "uuid"}, "NEW_OBJECT_ID": {"$new": "objectid"}}


def _python_default(value: Any, uses: "set[str]") -> Optional[str]:
    if not isinstance(value, dict):
        return repr(value)
    made = next((name for name, form in _PYTHON_MADE.items() if form == value), None)
    if made is not None:
        return f"crealm.{made}"
    if value.keys() == {"$seconds", "$nanoseconds"}:
        ns = value["$seconds"] * 10**9 + value["$nanoseconds"]
        Timestamp.from_ns(ns)  # OverflowError outside of the years 1 to 9999.
        return f"crealm.Timestamp.from_ns({ns})"
    ((mark, content),) = value.items()
    if mark == "$bytes":
        return repr(base64.b64decode(content, validate=True))
    if mark == "$float":
        float(content)  # ValueError for a NaN with further bits.
        return None if content == "-NaN" else f"float({content!r})"
    if mark == "$float32" and not isinstance(content, str):
        return f"crealm.Float32({content!r})"
    if mark == "$objectId":
        return f"crealm.ObjectId({content!r})"
    if mark not in ("$decimal", "$uuid") or content.startswith("bits:"):
        return None
    name = {"$decimal": "Decimal", "$uuid": "UUID"}[mark]
    uses.add(name)
    return f"{name}({content!r})"


def _python_meta(rules: Mapping[str, Any], attributes: Names, unsaid: List[Any]) -> Iterator[str]:
    """The lines of Meta that declare the rules of a class. unsaid: gets the rules that Meta cannot declare."""
    unique = [_python_unique(one, attributes) for one in rules.get("unique", ())]
    if unique:
        yield from ("unique = [", *(f"    {text}," for text in unique), "]")
    checks = [(one.get("name", ""), _python_check(one)) for one in rules.get("checks", ())]
    if not any(name for name, _ in checks):
        lines = [f"    {condition!r}," for _, condition in checks]
        yield from ("checks = [", *lines, "]") if lines else ()
        return
    named: Dict[str, Any] = {}
    for name, condition in checks:
        if name in named:
            said = condition if isinstance(condition, dict) else {"condition": condition}
            unsaid.append({"checks": [{"name": name, **said}]})
        else:
            named[name] = condition
    yield from ("checks = {", *(f"    {name!r}: {condition!r}," for name, condition in named.items()), "}")


def _python_check(one: Mapping[str, Any]) -> Any:
    """A check as Meta.checks declares it, without its name."""
    if one.get("at") == "call":
        return {"condition": one["condition"], "at": "call"}
    return one["condition"]


def _python_unique(one: Mapping[str, Any], attributes: Names) -> str:
    properties = tuple(attributes[name] for name in one["properties"])
    rest = {word: value for word, value in one.items() if word != "properties"}
    return repr({"properties": properties, **rest} if rest else properties)


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
    yield from rule_comments(declared, "    ")


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
