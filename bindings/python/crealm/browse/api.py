"""The answer to each address, as JSON. Pages get their data from here, and other programs can do the same:

    curl -H "Authorization: Bearer TOKEN" 'http://127.0.0.1:PORT/people.realm/class/Person.json?where=age>30&sort=age desc&count=10'

    /                                     the files
    /FILE                                 one file: facts about it, its classes and their numbers of objects
    /FILE/class/CLASS                     its objects: where=CONDITION, sort=PROPERTY [desc], column=PROPERTY (both several times), from=0, count=100
    /FILE/class/CLASS/KEY                 an object: all properties, and the properties that link to it
    /FILE/class/CLASS/KEY/PROPERTY/…      a value: elements of a collection, or a part of a text or of bytes; from=0, count=
    /FILE/links/CLASS/KEY/FROM/PROPERTY   the objects of class FROM whose PROPERTY links to an object
    /FILE/explain/CLASS                   how a query finds its objects: where=, sort=
    /FILE/facets/CLASS/PROPERTY           the values of a property with their counts, and a histogram: where=
    /FILE/schema                          the classes, in the form of `crealm schema --json`, with counts, and
                                          "ruleLines", a text for each rule
    /FILE/drawing                         the classes as boxes and lines of a picture
    /FILE/space                           what the bytes of the file are used for
    /FILE/check                           the result of a full check
    /FILE/versions                        the versions in use, with their processes and threads
    /FILE/compare                         what the newest version can be compared with: the version before it ("previous": its number, or null),
                                          versions that POST /FILE/remember kept, other files
    /FILE/compare/version/N, …/file/NAME  the differences from that version or file to the newest version
    /FILE/compare/slot/previous           the changes of the last commit: since the version in the other slot of the header
    /FILE/queries                         the named queries
    /FILE/log                             the versions and file sizes that were seen while pages watched the file
    /FILE/events                          server-sent events, without `.json`; see `live`

with `.json` after the path; POST requests are in `posts`. Without `.json` some addresses give files: /FILE/class/CLASS?download=csv (json, ndjson;
parquet, arrow and sqlite of a whole class) the objects, …/PROPERTY?raw= a text or bytes unchanged, /FILE/schema?raw=python (swift,
typescript, kotlin, json) the classes as declarations. Names are encoded as in `addresses`, values are `cells`. Each answer about
a file has "version", the number of its snapshot, and "state", a short text that changes when the content of the file changes. An
error is {"error": {"kind", "message", …}} with a status of 400 or higher; see `queries.described` for its place in a query.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Type

from ..cli.exact import schema_json, type_name
from ..cli.languages import as_kotlin, as_typescript
from ..cli.rule_lines import lines_of, with_rules
from ..cli.schema import as_json, as_python, as_swift
from ..collections import Dictionary, SetView
from ..collections import List as ListView
from ..database import Database
from ..errors import (
    ClosedError,
    CorruptFileError,
    DataError,
    DuplicateKeyError,
    Error,
    FileNotFound,
    Interrupted,
    InvalidatedError,
    NoSuchClass,
    NoSuchProperty,
    PermissionDenied,
    RuleBroken,
    TimedOut,
    VersionGone,
    WrongKeyError,
)
from ..objects import Object
from ..schema import ClassSchema, Prop
from . import drawing as drawings
from .cells import PAGE, cell, elements_of, exact, is_embedded, label_of, label_property, link, media_type, pairs_of, readable
from .facets import facets as facets_of
from .changes import Conflict, exact_json
from .editing import Editor
from .files import File, Files, NeedsKey, NeedsUpgrade, Snapshot, version_before
from .marks import place_mark
from .places import NoSuchPage, Place, declared_in, key_of, leading_to, object_at, property_of, value_at
from .queries import Question, alone, described, explained, found, is_speakable, rows
from .saved import saved
from .work import Job

# `comparing` and `downloads` are imported only when a page needs them, so that the first page comes sooner.
if TYPE_CHECKING:
    from .downloads import Download

Json = Dict[str, Any]

_COUNT = 100  # Rows of a page without count=.
_MOST = 1000
_EDITED = 1_000_000  # Characters or bytes of a text or binary that a form can edit.
_EDITED_ELEMENTS = 20_000  # Elements of a collection that a form can edit, with nested ones.
_TEXT = 100_000  # Characters or bytes of one part of a value.


class Ask(NamedTuple):
    """A request for data: its address, its options and the objects that it needs."""

    files: Files
    parts: Sequence[str]
    options: Mapping[str, Sequence[str]]
    job: Job
    editors: Mapping[str, Editor] = {}  # The editors of the editable files, by the names of the files.

    def option(self, name: str, default: str = "") -> str:
        given = self.options.get(name)
        return given[0] if given else default

    def number(self, name: str, default: int) -> int:
        """An option that is a number; DataError if it is not a number, or negative."""
        text = self.option(name) or str(default)
        if not (text.isascii() and text.isdigit() and len(text) < 16):
            raise DataError(f"{name} is a number that is not negative, not {text[:40]!r}")
        return int(text)

    def range(self, total: int, usual: int = _COUNT, most: int = _MOST) -> Tuple[int, int]:
        """The requested part of `total` elements: the index of the first, and the end."""
        first = min(self.number("from", 0), total)
        return first, min(first + min(self.number("count", usual), most), total)

    @property
    def file(self) -> File:
        try:
            return self.files[self.parts[0]]
        except KeyError:
            raise NoSuchPage("There is no file of this name here") from None

    @property
    def editor(self) -> Optional[Editor]:
        """The editor of the file; None if the file may only be read."""
        return self.editors.get(self.parts[0])


Answer = Callable[[Ask, Snapshot], Json]

_STATUS: Sequence[Tuple[Type[BaseException], int]] = (
    (NeedsKey, 423), (WrongKeyError, 403), (PermissionDenied, 403), (NoSuchPage, 404), (NoSuchClass, 404), (NoSuchProperty, 404),
    (InvalidatedError, 404), (FileNotFound, 404), (VersionGone, 404), (Conflict, 409), (NeedsUpgrade, 409),
    (DuplicateKeyError, 409), (RuleBroken, 409), (CorruptFileError, 422), (TimedOut, 503), (Interrupted, 503),
    (ClosedError, 503), (Error, 400))  # fmt: skip


def status_of(error: Error) -> int:
    """The HTTP status for an error."""
    return next(status for kind, status in _STATUS if isinstance(error, kind))


def answer(ask: Ask) -> bytes:
    """The answer to an address, as encoded JSON. Raises errors of the package."""
    if not ask.parts:
        return encoded({"files": [_entry(name, file) for name, file in ask.files]})
    file = ask.file
    make = _route(ask.parts[1:])
    with file.snapshot() as snapshot:
        problem = file.problem
        if problem is not None or make not in _LASTING:
            return _told(ask, snapshot, make, problem)
        key = (tuple(ask.parts[1:]), tuple((name, tuple(given)) for name, given in sorted(ask.options.items())))
        return snapshot.answers.get(key, lambda: _told(ask, snapshot, make, None), ask.job)


def _told(ask: Ask, snapshot: Snapshot, make: Answer, problem: Optional[Error]) -> bytes:
    facts: Json = {"version": snapshot.version, "state": snapshot.state}
    return encoded({**facts, **({} if problem is None else {"problem": described(problem)}), **make(ask, snapshot)})


def encoded(value: Any) -> bytes:
    """A value as JSON, in the form that is sent."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


def failure(error: Error) -> Json:
    return {"error": described(error)}


def _route(parts: Sequence[str]) -> Answer:
    if not parts:
        return overview
    kind, count = parts[0], len(parts)
    found = value if kind == "class" and count > 3 else _routes().get((kind, count))
    if found is None:
        raise NoSuchPage("There is nothing at this address")
    return found


def _routes() -> Mapping[Tuple[str, int], Answer]:
    """The functions for addresses, by the first part after the file and the number of parts after it."""
    return {
        ("class", 2): objects, ("class", 3): one_object, ("links", 5): links, ("facets", 3): facets, ("explain", 2): explain,
        ("schema", 1): schema, ("drawing", 1): drawing, ("space", 1): space, ("check", 1): check, ("versions", 1): versions,
        ("compare", 1): comparable, ("compare", 3): compare, ("queries", 1): queries}  # fmt: skip


# ------------------------------------------------------------------------------------------------
# Files
# ------------------------------------------------------------------------------------------------


def _entry(name: str, file: File) -> Json:
    try:
        return {"name": name, "path": file.shown_path, "size": file.look().size}
    except Error as error:
        return {"name": name, "path": file.shown_path, "size": None, "problem": described(error)}


def overview(ask: Ask, snapshot: Snapshot) -> Json:
    file, database = ask.file, snapshot.database
    info = file.info()
    return {
        "name": ask.parts[0], "path": file.shown_path, "way": file.way, "size": snapshot.mark.size, "schemaVersion": database.schema_version,
        "format": info and info.format, "encrypted": info is not None and info.is_encrypted, "cipher": info and info.cipher,
        "history": info and info.newest.history, "previous": version_before(info),
        "streaming": info is not None and info.is_streaming, "shape": _shape(snapshot),
        "edit": None if ask.editor is None else ask.editor.state(),
        "classes": [_class(database, name, declared) for name, declared in database.schema.items()]}  # fmt: skip


def _shape(snapshot: Snapshot) -> str:
    """A short text that changes when the classes change: pages request the classes again only then."""
    with snapshot.lock:
        known = snapshot.kept.get("shape")
    if known is None:
        text = json.dumps(schema_json(_ruled(snapshot.database), snapshot.database.schema_version))
        known = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        with snapshot.lock:
            snapshot.kept["shape"] = known
    return str(known)


def _ruled(database: Database) -> Mapping[str, ClassSchema]:
    """The classes with their rules. A class whose rules cannot be read has none here."""
    return with_rules(database, lambda name, error: None)


def _class(database: Database, name: str, declared: ClassSchema) -> Json:
    indexes = sum(prop.indexed or prop.fulltext for prop in declared.properties.values())
    return {
        "name": name, "count": readable(lambda: len(database[name])), "embedded": declared.embedded, "primaryKey": declared.primary_key,
        "label": label_property(declared), "properties": len(declared.properties), "indexes": indexes}  # fmt: skip


def schema(ask: Ask, snapshot: Snapshot) -> Json:
    database = snapshot.database
    found = schema_json(_ruled(database), database.schema_version)
    for declared in found["classes"]:
        declared["ruleLines"] = lines_of(database, declared["name"])
        declared["count"] = readable(lambda: len(database[declared["name"]]))
        declared["label"] = label_property(database.schema[declared["name"]])
    return {"schemaVersion": found["version"], "classes": found["classes"]}


def drawing(ask: Ask, snapshot: Snapshot) -> Json:
    database = snapshot.database
    found = drawings.drawing(database.schema)
    for box in found["boxes"]:
        box["count"] = readable(lambda: len(database[box["class"]]))
    return found


# ------------------------------------------------------------------------------------------------
# Objects of a class
# ------------------------------------------------------------------------------------------------


def column(declared: ClassSchema, name: str, schemas: Mapping[str, ClassSchema]) -> Json:
    """The facts of a property."""
    prop = declared.properties[name]
    target = schemas.get(prop.type) if prop.is_link else None
    is_inside = target is not None and target.embedded
    facts = {
        "name": name, "type": str(prop), "collection": prop.collection, "optional": prop.optional, "indexed": prop.indexed, "fulltext": prop.fulltext,
        "primaryKey": declared.primary_key == name, "target": prop.type if prop.is_link else None, "embedded": is_inside}  # fmt: skip
    return {**facts, "sortable": prop.collection is None and not is_inside and is_speakable(name)}


def _question(ask: Ask, declared: ClassSchema) -> Question:
    order = tuple(ask.options.get("sort", ()))
    return Question(declared.name, ask.option("where"), order)


def _declared(ask: Ask, snapshot: Snapshot) -> ClassSchema:
    return declared_in(snapshot.database, ask.parts[2])


def objects(ask: Ask, snapshot: Snapshot) -> Json:
    declared, schemas = _declared(ask, snapshot), snapshot.database.schema
    names = list(dict.fromkeys(ask.options.get("column", ()))) or list(declared.properties)
    for name in names:
        property_of(declared, name)
    answer = found(snapshot, _question(ask, declared), ask.job)
    total = answer.count(ask.job)
    first, end = ask.range(total)
    return {
        "class": declared.name, "embedded": declared.embedded, "primaryKey": declared.primary_key, "label": label_property(declared),
        "total": total, "from": first, "columns": [column(declared, name, schemas) for name in names],
        "rows": rows(answer, ask.job, first, end - first, names)}  # fmt: skip


def facets(ask: Ask, snapshot: Snapshot) -> Json:
    declared, name = _declared(ask, snapshot), ask.parts[3]
    with alone(snapshot, _question(ask, declared)._replace(order=()), ask.job) as answer:
        return {"class": declared.name, **facets_of(answer, name, ask.option("where"), ask.job)}


def download(ask: Ask) -> "Download":
    """The objects that a table shows, as a file in the requested format."""
    from .downloads import download as made_download

    if len(ask.parts) != 3 or ask.parts[1] != "class":
        raise NoSuchPage("There is nothing to be downloaded at this address")
    with ask.file.snapshot() as snapshot:
        question = _question(ask, _declared(ask, snapshot))
        is_whole = not question.condition.strip() and not question.order
        with alone(snapshot, question, ask.job) as answer:
            return made_download(answer, ask.option("download"), is_whole, ask.job)


def explain(ask: Ask, snapshot: Snapshot) -> Json:
    declared = _declared(ask, snapshot)
    with alone(snapshot, _question(ask, declared), ask.job) as answer:
        return {"class": declared.name, "total": answer.count(ask.job), "explanation": explained(answer, ask.job)}


# ------------------------------------------------------------------------------------------------
# One object
# ------------------------------------------------------------------------------------------------


def _object(ask: Ask, snapshot: Snapshot) -> Any:
    return object_at(snapshot.database, ask.parts[2], key_of(ask.parts[3]))


def one_object(ask: Ask, snapshot: Snapshot) -> Json:
    obj, database = _object(ask, snapshot), snapshot.database
    return {**_properties(obj, database), "label": label_of(obj), "backlinks": list(_backlinks(obj, database))}


def _properties(obj: Any, database: Database) -> Json:
    declared = obj._bound().schema
    entries = [
        {**column(declared, name, database.schema), "cell": readable(lambda: obj[name], prop, PAGE)} for name, prop in declared.properties.items()]
    return {"class": declared.name, "key": exact(obj.object_key), "embedded": declared.embedded, "properties": entries}


def _backlinks(obj: Any, database: Database) -> Iterator[Json]:
    """The properties that link to objects of this class, and how many of their links have this object as target."""
    for source, name in leading_to(database, obj.class_name):
        yield {"class": source, "property": name, "count": readable(lambda: len(obj.backlinks(source, name)))}


def links(ask: Ask, snapshot: Snapshot) -> Json:
    obj, (source, name) = _object(ask, snapshot), ask.parts[4:6]
    declared = snapshot.database.schema.get(source)
    if declared is None or not _leads_to(declared, name, obj.class_name):
        raise NoSuchPage(f"{source}.{name} does not link to {obj.class_name}")
    linking = obj.backlinks(source, name)
    first, end = ask.range(len(linking))
    return {
        "class": obj.class_name, "key": exact(obj.object_key), "label": label_of(obj), "source": source, "property": name,
        "total": len(linking), "from": first, "items": [link(linking[index]) for index in range(first, end)]}  # fmt: skip


def _leads_to(declared: ClassSchema, name: str, target: str) -> bool:
    prop = declared.properties.get(name)
    return prop is not None and prop.is_link and prop.type == target


# ------------------------------------------------------------------------------------------------
# Values
# ------------------------------------------------------------------------------------------------


def place(ask: Ask, snapshot: Snapshot) -> Place:
    """The value at an address: of a property, or inside its collections and embedded objects."""
    return value_at(_object(ask, snapshot), ask.parts[4:])


def value(ask: Ask, snapshot: Snapshot) -> Json:
    obj, path = _object(ask, snapshot), list(ask.parts[4:])
    at = value_at(obj, path)
    facts: Json = {"class": ask.parts[2], "key": ask.parts[3], "path": path, "cell": cell(at.value, at.prop, PAGE, 1)}
    if ask.editor is not None:
        facts["edit"] = _editable(snapshot.database, obj, path, at)
    if isinstance(at.value, Object) and is_embedded(at.value):
        return {**facts, "object": _properties(at.value, snapshot.database)}
    if isinstance(at.value, (str, bytes)):
        first, end = ask.range(len(at.value), _TEXT, _TEXT)
        part = at.value[first:end]
        return {**facts, "total": len(at.value), "from": first, **({"text": part} if isinstance(part, str) else {"hex": part.hex()})}
    if isinstance(at.value, (ListView, SetView, Dictionary)):
        first, end = ask.range(len(at.value))
        items = _elements(at, first, end - first)
        for item in items if ask.editor is not None else ():
            item["mark"] = place_mark(obj, [*path, str(item["place"])])
        return {**facts, "total": len(at.value), "from": first, "items": items}
    return facts


def _editable(database: Database, obj: Any, path: List[str], at: Place) -> Json:
    """The facts that a page needs to change a value: the type of the place, and its mark. "missing" and "end" are the marks of a new key and of the end
    of a list. "json" is the current value, if it is not too long."""
    assert at.prop is not None
    container = value_at(obj, path[:-1]).value
    is_element = not isinstance(container, Object)
    is_whole = isinstance(at.value, (ListView, SetView, Dictionary)) and not is_element and at.prop.collection is not None
    found: Json = {"prop": property_json(database, at.prop), "element": is_element, "whole": is_whole, "mark": place_mark(obj, path)}
    if isinstance(at.value, Dictionary):
        found["missing"] = place_mark(obj, [*path, "."])  # No dictionary has the key ".", because keys cannot contain dots.
    if isinstance(at.value, ListView):
        found["end"] = place_mark(obj, [*path, str(len(at.value))])
    if _is_short(at.value):
        text = exact_json(at, is_element)
        if len(text) <= 2 * _EDITED:
            found["json"] = text
    return found


def _is_short(value: Any) -> bool:
    """Whether a value is short enough for a form. Stops reading the value when it is too long."""
    left, waiting = _EDITED_ELEMENTS, [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (str, bytes)) and len(one) > _EDITED:
            return False
        if isinstance(one, (ListView, SetView, Dictionary)):
            left -= len(one)
            if left < 0:
                return False
            waiting += [element for _, element in pairs_of(one, 0, len(one))] if isinstance(one, Dictionary) else elements_of(one, 0, len(one))
        elif isinstance(one, Object) and is_embedded(one):
            waiting += [one[name] for name in one._bound().schema.properties]
    return True


def property_json(database: Database, prop: Prop) -> Json:
    """The facts of a property that a page needs to make a value for it."""
    target = database.schema.get(prop.type) if prop.is_link else None
    return {
        "type": "link" if prop.is_link else type_name(prop), "class": prop.type if prop.is_link else None, "collection": prop.collection,
        "optional": prop.optional, "embedded": target is not None and target.embedded}  # fmt: skip


def _elements(at: Place, first: int, count: int) -> List[Json]:
    if isinstance(at.value, Dictionary):
        return [{"place": key, "cell": cell(element, at.prop)} for key, element in pairs_of(at.value, first, count)]
    return [{"place": index, "cell": cell(element, at.prop)} for index, element in enumerate(elements_of(at.value, first, count), first)]


class Bytes(NamedTuple):
    """An unchanged value to send: bytes, media type and file name."""

    content: bytes
    media: str
    name: str


def content(ask: Ask) -> Bytes:
    """The text or the bytes at an address, for a download or a picture."""
    if len(ask.parts) == 2 and ask.parts[1] == "schema":
        return _declarations(ask)
    if len(ask.parts) < 5 or ask.parts[1] != "class":
        raise NoSuchPage("There is nothing to be downloaded at this address")
    with ask.file.snapshot() as snapshot:
        found = place(ask, snapshot).value
        name = "-".join(ask.parts[2:])
        if isinstance(found, str):
            return Bytes(found.encode("utf-8"), "text/plain; charset=utf-8", f"{name}.txt")
        if isinstance(found, bytes):
            media = media_type(found)
            return Bytes(found, media or "application/octet-stream", f"{name}.{media.split('/')[1] if media else 'bin'}")
    raise NoSuchPage("Only texts and bytes can be downloaded like this")


_FORMS = {
    "python": (as_python, "text/x-python", "models.py"), "swift": (as_swift, "text/x-swift", "Models.swift"),
    "typescript": (as_typescript, "text/plain", "models.ts"), "kotlin": (as_kotlin, "text/x-kotlin", "Models.kt"),
    "json": (as_json, "application/json", "schema.json")}  # fmt: skip


def _declarations(ask: Ask) -> Bytes:
    """The classes as declarations in a language: raw=python, swift, typescript, kotlin or json."""
    if ask.option("raw") not in _FORMS:
        raise DataError(f"The classes can be had as {', '.join(_FORMS)}")
    write, media, name = _FORMS[ask.option("raw")]
    with ask.file.snapshot() as snapshot:
        text = write(_ruled(snapshot.database), snapshot.database.schema_version)
        return Bytes(text.encode("utf-8"), f"{media}; charset=utf-8", name)


# ------------------------------------------------------------------------------------------------
# The file as a whole
# ------------------------------------------------------------------------------------------------


def _once(ask: Ask, snapshot: Snapshot, name: str, make: Callable[[Database], Any]) -> Any:
    """A result about a snapshot that is computed once and kept with it."""
    with snapshot.lock:
        known = snapshot.kept.get(name)
    if known is None:
        with snapshot.frozen_again() as database, ask.job.during(database):
            known = make(database)
        with snapshot.lock:
            snapshot.kept[name] = known
    return known


def space(ask: Ask, snapshot: Snapshot) -> Json:
    parts = _once(ask, snapshot, "space", lambda database: database.space())
    total = sum(part.bytes for part in parts)
    return {
        "size": snapshot.mark.size, "total": total, "free": sum(part.bytes for part in parts if part.kind == "free"),
        "parts": [{"kind": part.kind, "class": part.class_name, "property": part.property, "bytes": part.bytes} for part in parts]}  # fmt: skip


def check(ask: Ask, snapshot: Snapshot) -> Json:
    faults = _once(ask, snapshot, "check", lambda database: database.verify())
    return {
        "sound": not faults, "total": faults.total,
        "faults": [
            {"kind": one.kind, "class": one.class_name, "property": one.property, "key": one.object_key if one.object_key is None else exact(one.object_key), "offset": one.offset, "message": one.message}
            for one in faults]}  # fmt: skip


def versions(ask: Ask, snapshot: Snapshot) -> Json:
    return {
        "versions": [
            {"version": one.version, "since": one.since.isoformat(), "process": one.process_id, "thread": one.thread_id, "heldBytes": one.held_bytes}
            for one in snapshot.database.versions()]}  # fmt: skip


def queries(ask: Ask, snapshot: Snapshot) -> Json:
    return {"queries": saved(ask.file.path)}


def comparable(ask: Ask, snapshot: Snapshot) -> Json:
    """The versions and files that the newest version can be compared with."""
    files = [name for name, _ in ask.files if name != ask.parts[0]]
    return {"previous": version_before(ask.file.info()), "remembered": sorted(ask.file.remembered()), "files": files}


def compare(ask: Ask, snapshot: Snapshot) -> Json:
    """The differences to the newest version from the version before it, a remembered version, or another file."""
    from .comparing import compared

    kind, other = ask.parts[2], ask.parts[3]
    if (kind, other) == ("slot", "previous"):
        with ask.file.previous(snapshot) as before:
            return {"with": f"version {before.version}", **compared(before, snapshot.database, ask.job)}
    if kind == "version" and other.isascii() and other.isdigit() and len(other) < 20:
        database = ask.file.remembered().get(int(other))
        if database is None:
            raise NoSuchPage(f"Version {other} is not remembered")
        return {"with": f"version {other}", **compared(database, snapshot.database, ask.job)}
    if kind != "file":
        raise NoSuchPage("There is nothing at this address")
    with ask._replace(parts=[other]).file.snapshot() as there:
        return {"with": other, **compared(there.database, snapshot.database, ask.job)}


# Answers that depend on the snapshot alone, and so may be kept with it.
_LASTING = frozenset({objects, one_object, links, value, facets, explain, schema, drawing})
