"""The classes of a file as declarations of Realm's SDKs for TypeScript and Kotlin."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, Iterator, List, Tuple

from ..schema import ClassSchema, Prop
from .exact import Schema, type_name
from .rule_lines import rule_lines


class Names:
    """Maps names of the file to names that are valid in a language. taken(name): whether the language does not allow a name."""

    def __init__(self, taken: Callable[[str], bool]) -> None:
        self._taken = taken
        self._given: Dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._given:
            text = "".join(ch if ch.isalnum() or ch == "_" else "_" for ch in name)
            if self._taken(text):
                text = text.lstrip("_") + "_"
            if not text.isidentifier():
                text = f"_{text}"
            while text in self._given.values() or self._taken(text):
                text += "_"
            self._given[name] = text
        return self._given[name]


def rule_comments(declared: ClassSchema, indent: str) -> Iterator[str]:
    """The rules of a class as comments, for languages that have no words for them."""
    if declared.rules:
        yield f"{indent}// Rules of the file:"
        yield from (f"{indent}//   {line}" for line in rule_lines(declared.rules))


# ------------------------------------------------------------------------------------------------
# TypeScript
# ------------------------------------------------------------------------------------------------

# For each type: its name in the schema, and the type of its values in a program.
_SCRIPT = {
    "int": ("int", "number"), "bool": ("bool", "boolean"), "float": ("double", "number"), "Float32": ("float", "number"), "str": ("string", "string"),
    "bytes": ("data", "ArrayBuffer"), "datetime": ("date", "Date"), "Decimal": ("decimal128", "BSON.Decimal128"), "UUID": ("uuid", "BSON.UUID"),
    "ObjectId": ("objectId", "BSON.ObjectId"), "Any": ("mixed", "Types.Mixed")}  # fmt: skip
_SCRIPT_WORDS = set(
    "break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof new "
    "null return super switch this throw true try typeof var void while with implements interface let package private protected public static yield "
    "any boolean number string symbol Realm BSON Types Date ArrayBuffer Object Array".split())


def as_typescript(schema: Schema, version: Any) -> str:
    """Classes of Realm's SDK for JavaScript."""
    names = Names(lambda text: text in _SCRIPT_WORDS)
    lines = [*([f"// Schema version {version}."] if version is not None else []), 'import Realm, { BSON, Types } from "realm";']
    for name, declared in schema.items():
        lines += ["", f"export class {names[name]} extends Realm.Object {{", *_script_lines(declared, names), "}"]
    lines += ["", f"export const schema = [{', '.join(names[name] for name in schema)}];"]
    return "\n".join(lines) + "\n"


def _script_lines(declared: ClassSchema, names: Names) -> Iterator[str]:
    for name, prop in declared.properties.items():
        yield f"  {_script_key(name)}!: {_script_type(prop, names)};"
    yield from rule_comments(declared, "  ")
    yield "  static schema: Realm.ObjectSchema = {"
    yield f"    name: {_text(declared.name)},"
    if declared.primary_key is not None:
        yield f"    primaryKey: {_text(declared.primary_key)},"
    if declared.embedded:
        yield "    embedded: true,"
    yield "    properties: {"
    for name, prop in declared.properties.items():
        yield f"      {_script_key(name)}: {_script_property(prop)},"
    yield from ("    },", "  };")


def _script_key(name: str) -> str:
    return name if name.isascii() and name.isidentifier() else _text(name)


def _text(text: str) -> str:
    """A text as a JSON literal, in which invisible characters are escaped."""
    return json.dumps(text)


def _script_type(prop: Prop, names: Names) -> str:
    text = names[prop.type] if prop.is_link else _SCRIPT[type_name(prop)][1]
    one = f"{text} | null" if prop.optional and text != "Types.Mixed" else text
    shape = {None: "{}", "list": "Realm.List<{}>", "set": "Realm.Set<{}>", "dict": "Realm.Dictionary<{}>"}[prop.collection]
    return shape.format(one)


def _script_property(prop: Prop) -> str:
    kind = "object" if prop.is_link else _SCRIPT[type_name(prop)][0]
    facts = [f"type: {_text({'dict': 'dictionary'}.get(prop.collection, prop.collection) if prop.collection else kind)}"]
    if prop.is_link:
        facts.append(f"objectType: {_text(prop.type)}")
    elif prop.collection is not None:
        facts.append(f"objectType: {_text(kind)}")
    if prop.optional and kind != "mixed":
        facts.append("optional: true")
    if prop.indexed or prop.fulltext:
        facts.append(f"indexed: {'true' if prop.indexed else _text('full-text')}")
    return f"{{ {', '.join(facts)} }}"


# ------------------------------------------------------------------------------------------------
# Kotlin
# ------------------------------------------------------------------------------------------------

# For each type: its name, and the initial value of a property.
_KOTLIN = {
    "int": ("Long", "0"), "bool": ("Boolean", "false"), "float": ("Double", "0.0"), "Float32": ("Float", "0.0f"), "str": ("String", '""'),
    "bytes": ("ByteArray", "byteArrayOf()"), "datetime": ("RealmInstant", "RealmInstant.from(0, 0)"), "Decimal": ("Decimal128", 'Decimal128("0")'),
    "UUID": ("RealmUUID", "RealmUUID.random()"), "ObjectId": ("ObjectId", "ObjectId()"), "Any": ("RealmAny", "null")}  # fmt: skip
_KOTLIN_SHAPES = {"list": ("RealmList", "realmListOf()"), "set": ("RealmSet", "realmSetOf()"), "dict": ("RealmDictionary", "realmDictionaryOf()")}
_KOTLIN_WORDS = set(
    "as break class continue do else false for fun if in interface is null object package return super this throw true try typealias typeof val var "
    "when while Long Boolean Double Float String ByteArray".split())
_KOTLIN_IMPORTS = (
    "io.realm.kotlin.ext.realmDictionaryOf", "io.realm.kotlin.ext.realmListOf", "io.realm.kotlin.ext.realmSetOf", "io.realm.kotlin.types.*",
    "io.realm.kotlin.types.annotations.*", "org.mongodb.kbson.Decimal128", "org.mongodb.kbson.ObjectId")


def as_kotlin(schema: Schema, version: Any) -> str:
    """Classes of Realm's SDK for Kotlin."""
    taken = {kind for kind, _ in _KOTLIN.values()} | {"RealmObject", "EmbeddedRealmObject", "RealmList", "RealmSet", "RealmDictionary"}
    names = Names(lambda text: text in _KOTLIN_WORDS or text in taken)
    lines = [f"// Schema version {version}."] if version is not None else []
    lines += [f"import {name}" for name in _KOTLIN_IMPORTS]
    for name, declared in schema.items():
        if names[name] != name:
            lines += ["", f"@PersistedName({_kotlin_text(name)})"]
        else:
            lines.append("")
        base = "EmbeddedRealmObject" if declared.embedded else "RealmObject"
        lines += [f"class {names[name]} : {base} {{", *_kotlin_lines(declared, names), "}"]
    return "\n".join(lines) + "\n"


def _kotlin_lines(declared: ClassSchema, names: Names) -> Iterator[str]:
    attributes = Names(lambda text: text in _KOTLIN_WORDS)
    for name, prop in declared.properties.items():
        marks: List[str] = []
        if attributes[name] != name:
            marks.append(f"@PersistedName({_kotlin_text(name)})")
        marks += [mark for mark, is_set in (
            ("@PrimaryKey", name == declared.primary_key), ("@Index", prop.indexed), ("@FullText", prop.fulltext)) if is_set]
        kind, value = _kotlin_type(prop, names)
        yield f"    {' '.join([*marks, f'var {attributes[name]}: {kind} = {value}'])}"
    yield from rule_comments(declared, "    ")


def _kotlin_type(prop: Prop, names: Names) -> Tuple[str, str]:
    kind, value = (names[prop.type], "null") if prop.is_link else _KOTLIN[type_name(prop)]
    is_optional = prop.optional or (prop.is_link and prop.collection is None)
    if is_optional:
        kind, value = f"{kind}?", "null"
    if prop.collection is None:
        return kind, value
    shape, empty = _KOTLIN_SHAPES[prop.collection]
    return f"{shape}<{kind}>", empty


def _kotlin_text(text: str) -> str:
    """A text as a literal of Kotlin, in which "$" is escaped because it begins a template."""
    return json.dumps(text).replace("$", "\\$")
