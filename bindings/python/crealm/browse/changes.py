"""Changes of a file, in the form that pages send: makes them in a database, and returns the changes that undo them.

    {"do": "set", "class": "Person", "key": 12, "path": ["address", "city"], "json": "\\"Oslo\\""}   a property, an element, an entry of a dictionary
    {"do": "insert", …, "path": ["tags", "3"], "json": "…"}     into a list, before an element; at its end where there are three
    {"do": "remove", …, "path": ["tags", "3"]}                  from a list, a set or a dictionary
    {"do": "move", …, "path": ["tags", "3"], "to": 0}           in a list: "to" is the position afterwards
    {"do": "add", …, "path": ["marks"], "json": "…"}            to a set; "discard" removes a value from it
    {"do": "create", "class": "Person", "json": "{…}"}          an object
    {"do": "delete", "class": "Person", "key": 12}              with the objects embedded in it

"class", "key" and "path" are a place as in `places`; "json" is the text of a value in the exact form of `crealm.cli.exact`. "mark" is the mark of
the value that the page showed (see `marks`): if the place has another mark now, the change would overwrite a value that the page has not shown, and
it is refused with Conflict.

Rules of the file may delete further objects together with one. These do not come back with an undo: `Done.also` counts
them.
"""

from __future__ import annotations

import json
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Set, Tuple

from ..cli.exact import Exact, Named, Reader, Ref, escaped, plain_name
from ..collections import Dictionary, SetView
from ..collections import List as ListView
from ..database import Database
from ..errors import DataError, Error, NoSuchClass, TypeMismatch
from ..objects import Object
from ..schema import Prop
from .cells import PAGE, Cell, cell, elements_of, link, is_embedded, label_of
from .marks import Row, Same, as_it_is, object_mark, place_mark
from .places import NoSuchPage, Place, declared_in, inside, leading_to, number_of, object_at, property_of, value_at

_SEARCHED = 50_000  # Objects whose properties of type Any are searched for links.
_LINKING = 50_000  # Links to a deleted object that are kept for an undo. More would take too long inside the write.
_DEEPEST = 250  # Levels of JSON. A file holds 100 of collections, and the embedded objects around them.


class Conflict(Error):
    """Another writer changed the place of a change meanwhile. Nothing was written.

    now: the current value at the place, if there is one, and its mark."""

    now: Optional[Tuple[Cell, str]] = None


class Change(NamedTuple):
    """One change. `mark` is None if the change needs no check."""

    do: str
    class_name: str
    key: int = 0
    path: Tuple[str, ...] = ()
    json: str = ""
    to: int = 0
    mark: Optional[str] = None
    following: Tuple["Change", ...] = ()  # For "restore": the next changes, whose marks must be checked before it.


class Done(NamedTuple):
    """The result of a change."""

    key: int  # The key of the object.
    label: Optional[str]
    back: List[Change]  # The changes that undo it, in this order.
    before: Optional[str] = None  # The value at the place before the change, as JSON; None if there was none.
    after: Optional[str] = None
    lost: int = 0  # Links to a deleted object that an undo would not restore.
    mark: Optional[str] = None  # The mark of the place before the change.
    also: int = 0  # Objects that rules of the file deleted as well; an undo does not restore them.


class ValueReader(Reader):
    """Makes values from JSON. A link must name an existing object: no objects are created."""

    def element(self, prop: Prop, value: Any) -> Any:
        if prop.is_link and isinstance(value, dict) and "$ref" not in value and not self.schema[prop.type].embedded:
            raise TypeMismatch(f'A link to {prop.type} is {{"$ref": key}}, or a primary key')
        return super().element(prop, value)


class Past:
    """Maps objects that were deleted to the objects that an undo created in their place, for links to them."""

    def __init__(self) -> None:
        self._now: Dict[Row, Row] = {}
        self._first: Dict[Row, Row] = {}

    def now(self, row: Row) -> Row:
        return self._now.get(self.first(row), row)

    def first(self, row: Row) -> Row:
        return self._first.get(row, row)

    def made_anew(self, before: Row, after: Row) -> None:
        first = self.first(before)
        self._now[first], self._first[after] = after, first

    def copy(self) -> "Past":
        """An independent copy."""
        made = Past()
        made._now, made._first = dict(self._now), dict(self._first)
        return made


class Changing:
    """Makes changes in a write of a database. past: used by changes that undo others (`is_back`)."""

    def __init__(self, db: Database, past: Past, is_back: bool = False) -> None:
        self._db = db
        self._past = past
        self._is_back = is_back
        self._reader = ValueReader(db.schema)
        self._exact = Exact()
        self._rules: Dict[str, Mapping[str, Any]] = {}
        self._deletes_more = any(_has_cascade(self._ruled(name)) for name in db.schema)
        self._expected: Set[Row] = set()

    def expect(self, changes: Iterable[Change]) -> None:
        """Called with all changes, before the first: a rule may delete an object that a later change deletes."""
        if self._deletes_more:
            rows = ((one.class_name, one.key) for one in changes if one.do == "delete")
            self._expected = {row for row in rows if self._is_there(*row)}

    def _is_there(self, class_name: str, key: int) -> bool:
        try:
            return object_at(self._db, class_name, key) is not None
        except Error:
            return False

    def _ruled(self, class_name: str) -> Mapping[str, Any]:
        """The rules of the properties of a class, by the names of the properties."""
        if class_name not in self._rules:
            self._rules[class_name] = self._db.rules(class_name)["properties"]
        return self._rules[class_name]

    def _stamps(self, class_name: str) -> Set[str]:
        """The properties of a class whose values each commit makes: marks do not depend on them."""
        return {name for name, own in self._ruled(class_name).items() if not _STAMPS.isdisjoint(own)}

    @property
    def _same(self) -> Same:
        return self._past.first

    def make(self, change: Change) -> Done:
        """Makes a change. Conflict if another writer was faster, other errors if it cannot be made: then the caller must not commit the write."""
        work = _WORK.get(change.do)
        if work is None:
            raise DataError(f"There is no change {change.do[:20]!r}")
        declared_in(self._db, change.class_name)
        if change.do == "create" or change.do == "restore":
            made: Done = work(self, change, None)
            return made
        row = change.class_name, change.key
        if change.do == "delete" and row in self._expected and not self._is_there(*row):
            return Done(change.key, None, [], mark="")
        obj = self._object(change)
        mark = self._checked(change, obj)
        label = label_of(obj)
        done: Done = work(self, change, obj)
        return done._replace(label=label, mark=mark)

    def _checked(self, change: Change, obj: Any) -> str:
        """The mark of the place of a change; Conflict if the change has another mark."""
        mark = self._mark(change, obj, self._same if self._is_back else as_it_is)
        if change.mark not in (None, mark):
            raise self._conflict(change, obj, mark)
        return mark

    def _conflict(self, change: Change, obj: Any, mark: str) -> Conflict:
        error = Conflict("Somebody else changed this meanwhile. Nothing was written.")
        try:
            at = value_at(obj, change.path)
            error.now = (link(obj) if change.do == "delete" else cell(at.value, at.prop, PAGE)), mark
        except NoSuchPage:
            error.now = {"t": "nothing"}, mark
        return error

    def _object(self, change: Change) -> Any:
        class_name, key = self._past.now((change.class_name, change.key)) if self._is_back else (change.class_name, change.key)
        try:
            return object_at(self._db, class_name, key)
        except NoSuchPage:
            raise Conflict(f"{class_name} {key} was deleted meanwhile. Nothing was written.") from None

    def _mark(self, change: Change, obj: Any, same: Same) -> str:
        if change.do == "delete":
            return object_mark(obj, same, self._stamps(obj.class_name))
        return place_mark(obj, change.path, same)

    def _marked(self, change: Change, obj: Any) -> Change:
        """A change that undoes another one, with the current mark of its place."""
        found = self._rooted(change, obj)
        return found._replace(mark=self._mark(found, object_at(self._db, found.class_name, found.key), self._same))

    def _rooted(self, change: Change, obj: Any) -> Change:
        """A change with the object that it applies to. A change of an embedded object becomes one of its outermost owner: if that is deleted and
        created again, its embedded objects have new keys."""
        while is_embedded(obj):
            obj, steps = self._owner(obj)
            change = change._replace(path=(*steps, *change.path))
        return change._replace(class_name=obj.class_name, key=obj.object_key)

    def _owner(self, part: Any) -> Tuple[Any, Tuple[str, ...]]:
        """The owner of an embedded object, and the place of the embedded object in it."""
        for class_name, name in leading_to(self._db, part.class_name):
            for owner in part.backlinks(class_name, name):
                value = owner[name]
                if isinstance(value, Dictionary):
                    return owner, (name, next(key for key, element in value.items() if element == part))
                return owner, (name, str(value.index(part))) if isinstance(value, ListView) else (name,)
        raise DataError(f"{part.class_name} {part.object_key} is in no object")

    # Values

    def _value(self, prop: Prop, text: str, is_element: bool) -> Any:
        value = parsed(text)
        try:
            if not is_element:
                read = self._reader.of(prop, value)
            else:
                read = self._reader.any(value) if prop.type is Any else self._reader.element(prop, value)
        except DataError:
            raise
        except (ValueError, ArithmeticError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise DataError(f"This is no {prop}: {error}"[:300]) from None
        return self._linked(read)

    def _linked(self, value: Any) -> Any:
        """The value with objects in place of the links that were read."""
        if isinstance(value, Ref):
            return self._linked_object(*(self._past.now(value) if self._is_back else value))
        if isinstance(value, Named):
            found = self._db[value.class_name].get(value.primary_key)
            if found is None:
                raise DataError(f"There is no {value.class_name} with the primary key {str(value.primary_key)[:60]!r}")
            return found
        if isinstance(value, dict):
            return {key: self._linked(element) for key, element in value.items()}
        return [self._linked(element) for element in value] if isinstance(value, list) else value

    def _linked_object(self, class_name: Any, key: int) -> Any:
        try:
            return object_at(self._db, str(class_name), key)
        except (NoSuchPage, NoSuchClass):
            raise DataError(f"There is no {class_name} {key}") from None

    # Places

    def _container(self, obj: Any, path: Tuple[str, ...]) -> Place:
        """The value that contains the place of the last step."""
        if not path:
            raise DataError("A change needs a place")
        return self._reached(obj, path[:-1])

    def _reached(self, obj: Any, path: Tuple[str, ...]) -> Place:
        try:
            return value_at(obj, path)
        except NoSuchPage as error:
            raise Conflict(f"{error.message} any more. Nothing was written.") from None

    def _there(self, container: Place, step: str) -> Optional[Place]:
        try:
            return inside(container, step)
        except NoSuchPage:
            return None

    # Kinds of changes

    def set(self, change: Change, obj: Any) -> Done:
        container, step = self._container(obj, change.path), change.path[-1]
        at = self._there(container, step)
        view, is_element = container.value, not isinstance(container.value, Object)
        if isinstance(view, Object) and (container.prop is None or is_embedded(view)):
            prop = property_of(view._bound().schema, step)
        elif isinstance(view, Dictionary) or isinstance(view, ListView) and at is not None:
            assert container.prop is not None
            prop = container.prop
        else:
            raise DataError("Nothing can be set at this place")
        before = None if at is None else exact_json(at, is_element)
        place: Any = number_of(step) if isinstance(view, ListView) else step
        view[place] = self._value(prop, change.json, is_element)
        after = exact_json(inside(container, step), is_element)
        do = "remove" if before is None else "set"
        back = self._marked(Change(do, change.class_name, path=change.path, json=before or ""), obj)
        return Done(obj.object_key, None, [back], before, after)

    def insert(self, change: Change, obj: Any) -> Done:
        container, number = self._container(obj, change.path), number_of(change.path[-1])
        if not isinstance(container.value, ListView) or number is None:
            raise DataError("Only lists take elements at a place")
        if number > len(container.value):
            raise Conflict("The list has become shorter meanwhile. Nothing was written.")
        assert container.prop is not None
        container.value.insert(number, self._value(container.prop, change.json, True))
        after = exact_json(inside(container, change.path[-1]), True)
        back = self._marked(Change("remove", change.class_name, path=change.path), obj)
        return Done(obj.object_key, None, [back], None, after)

    def remove(self, change: Change, obj: Any) -> Done:
        container, step = self._container(obj, change.path), change.path[-1]
        view, at = container.value, self._there(container, step)
        if isinstance(view, Object):
            raise DataError("A property cannot be removed from one object")
        if at is None:
            raise Conflict("This was removed meanwhile. Nothing was written.")
        before = exact_json(at, True)
        if isinstance(view, SetView):
            view.discard(at.value)
            return Done(obj.object_key, None, [self._rooted(Change("add", change.class_name, path=change.path[:-1], json=before), obj)], before)
        del view[step if isinstance(view, Dictionary) else number_of(step)]
        do = "set" if isinstance(view, Dictionary) else "insert"
        return Done(obj.object_key, None, [self._marked(Change(do, change.class_name, path=change.path, json=before), obj)], before)

    def move(self, change: Change, obj: Any) -> Done:
        container, number = self._container(obj, change.path), number_of(change.path[-1])
        view = container.value
        if not isinstance(view, ListView) or number is None:
            raise DataError("Only elements of lists can be moved")
        if max(number, change.to) >= len(view):
            raise Conflict("The list has become shorter meanwhile. Nothing was written.")
        shown = exact_json(inside(container, change.path[-1]), True)
        view.move(number, change.to)
        path = (*change.path[:-1], str(change.to))
        return Done(obj.object_key, None, [self._marked(Change("move", change.class_name, path=path, to=number), obj)], shown, shown)

    def add(self, change: Change, obj: Any) -> Done:
        at = self._reached(obj, change.path)
        if not isinstance(at.value, SetView):
            raise DataError("Only sets take values without a place")
        assert at.prop is not None
        value = self._value(at.prop, change.json, True)
        if value in at.value:
            raise Conflict("The set has this value already. Nothing was written.")
        at.value.add(value)
        return Done(obj.object_key, None, [self._rooted(change._replace(do="discard", mark=None), obj)], None, change.json)

    def discard(self, change: Change, obj: Any) -> Done:
        at = self._reached(obj, change.path)
        if not isinstance(at.value, SetView):
            raise DataError("Only sets take values without a place")
        assert at.prop is not None
        value = self._value(at.prop, change.json, True)
        if value not in at.value:
            raise Conflict("The set has this value no more. Nothing was written.")
        at.value.discard(value)
        return Done(obj.object_key, None, [self._rooted(change._replace(do="add", mark=None), obj)], change.json)

    def create(self, change: Change, _: Any) -> Done:
        obj = self._created(change.class_name, self._values(change))
        back = self._marked(Change("delete", change.class_name), obj)
        return Done(obj.object_key, label_of(obj), [back], None, self._whole(obj))

    def _values(self, change: Change) -> Dict[str, Any]:
        given, declared = parsed(change.json), declared_in(self._db, change.class_name)
        if not isinstance(given, dict):
            raise DataError("The values of an object are an object of JSON")
        if declared.embedded:
            raise DataError(f"Objects of {declared.name} stand inside of others")
        found: Dict[str, Any] = {}
        for written, value in given.items():
            name = plain_name(written)
            try:
                found[name] = self._value(property_of(declared, name), json.dumps(value), False)
            except Error as error:
                raise of_property(error, name)
        return found

    def _created(self, class_name: str, values: Mapping[str, Any]) -> Any:
        table, rest = self._db[class_name], dict(values)
        declared = table.schema
        name = declared.primary_key
        keys = () if name is None else (rest.pop(name, None),)
        if name is not None and keys == (None,) and self._ruled(class_name).get(name, {}).get("auto"):
            keys = ()  # The library makes it.
        if name is not None and keys == (None,) and not declared.properties[name].optional:
            raise of_property(DataError("A new object needs a primary key"), name)
        try:
            obj = table.create(*keys)
        except Error as error:
            raise of_property(error, name)
        for name, value in rest.items():
            try:
                obj[name] = value
            except Error as error:
                raise of_property(error, name)
        return obj

    def _whole(self, obj: Any) -> str:
        return json.dumps(self._exact.object(obj), ensure_ascii=False)

    def delete(self, change: Change, obj: Any) -> Done:
        if is_embedded(obj):
            raise DataError("An embedded object goes with its place: remove it there, or set the property to null")
        key, before = obj.object_key, self._whole(obj)
        links, lost = self._linking(obj)
        count = self._count()
        obj.delete()
        also = max(0, count - self._count() - 1)
        if also:  # An undo cannot link to objects that rules deleted as well.
            before_undo = self._without_gone(before)
            links = [(source, name, self._without_gone(text)) for source, name, text in links]
        else:
            before_undo = before
        # Sources embedded in the object were deleted with it.
        following = [
            self._marked(Change("set", source.class_name, path=(name,), json=text), source) for source, name, text in links if source.is_valid]
        restore = Change("restore", change.class_name, key, json=before_undo, following=tuple(following))
        back = [restore, *(one._replace(mark=None) for one in following)]
        return Done(key, None, back, before, None, lost, also=also)

    def _without_gone(self, text: str) -> str:
        """A value as JSON, without links to objects that do not exist."""
        return json.dumps(self._pruned(json.loads(text)), ensure_ascii=False)

    def _is_gone(self, value: Any) -> bool:
        if not isinstance(value, dict) or value.keys() != {"$ref", "$class"}:
            return False
        return not self._is_there(value["$class"], int(value["$ref"]))

    def _pruned(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._pruned(element) for element in value if not self._is_gone(element)]
        if isinstance(value, dict) and not self._is_gone(value):
            return {name: self._pruned(element) for name, element in value.items()}
        return None if isinstance(value, dict) else value

    def _count(self) -> int:
        """The number of all objects that are not embedded; 0 if no rule deletes objects together with others."""
        if not self._deletes_more:
            return 0
        return sum(len(self._db[name]) for name, declared in self._db.schema.items() if not declared.embedded)

    def _linking(self, obj: Any) -> Tuple[List[Tuple[Any, str, str]], int]:
        """The properties whose values link to an object, with these values, and the number of links that an undo cannot restore."""
        found: Dict[Tuple[Row, str], Tuple[Any, str, str]] = {}
        typed = sum(len(obj.backlinks(*one)) for one in leading_to(self._db, obj.class_name))
        if typed > _LINKING:
            return [], typed
        for class_name, name in leading_to(self._db, obj.class_name):
            for source in obj.backlinks(class_name, name):
                found.setdefault(((class_name, source.object_key), name), (source, name, exact_json(value_at(source, [name]), False)))
        classes = self._db.schema.values()
        properties = [(one.name, name) for one in classes for name, prop in one.properties.items() if prop.type is Any]
        if not properties or obj not in self._db[obj.class_name].where(f"@links.@count > {typed}"):
            return list(found.values()), 0
        if sum(len(self._db[class_name]) for class_name, _ in properties) > _SEARCHED:
            return list(found.values()), 1
        for class_name, name in properties:
            for source in self._db[class_name]:
                if _leads_to(source[name], obj):
                    found[(class_name, source.object_key), name] = (source, name, exact_json(value_at(source, [name]), False))
        return list(found.values()), 0

    def restore(self, change: Change, _: Any) -> Done:
        """Creates a deleted object again; it gets another key."""
        for one in change.following:
            self._checked(one, self._object(one))
        given, declared = parsed(change.json), declared_in(self._db, change.class_name)
        primary_key = declared.primary_key
        values: Dict[str, Any] = {}
        if primary_key is not None:
            values[primary_key] = self._value(declared.properties[primary_key], json.dumps(given[escaped(primary_key)]), False)
        obj = self._created(change.class_name, values)
        self._past.made_anew((change.class_name, change.key), (change.class_name, obj.object_key))
        for written, value in given.items():
            name = plain_name(written)
            if name != primary_key:
                obj[name] = self._value(property_of(declared, name), json.dumps(value), False)
        return Done(obj.object_key, label_of(obj), [self._marked(Change("delete", change.class_name), obj)], None, self._whole(obj))


_STAMPS = {"created", "modified", "revision"}


def _has_cascade(ruled: Mapping[str, Any]) -> bool:
    names = ("on_delete", "on_target_delete")
    return any(str(own.get(name)).startswith("cascade") for own in ruled.values() for name in names)


_WORK: Dict[str, Any] = {
    "set": Changing.set, "insert": Changing.insert, "remove": Changing.remove, "move": Changing.move, "add": Changing.add,
    "discard": Changing.discard, "create": Changing.create, "delete": Changing.delete, "restore": Changing.restore}  # fmt: skip

ASKED = frozenset(_WORK) - {"restore"}  # The changes that pages may send.


def exact_json(at: Place, is_element: bool) -> str:
    """The text of a value in the form of "json" of a change. is_element: the value is an element of a collection, not a whole property."""
    assert at.prop is not None
    prop = Prop(at.prop.type, optional=at.prop.optional) if is_element else at.prop
    exact = Exact()
    return json.dumps(exact.any(at.value) if is_element and prop.type is Any else exact.of(prop, at.value), ensure_ascii=False)


def of_property(error: Error, name: Optional[str]) -> Error:
    """The error, with the name of the property of a new object that it is about."""
    error.property = name  # type: ignore[attr-defined]
    return error


def parsed(text: str) -> Any:
    """The value of a JSON text. DataError for a text that is not JSON, or that is nested deeper than values in a file can be."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"This is no JSON: {error}"[:200]) from None
    level, waiting = 0, [value]
    while waiting:
        level += 1
        if level > _DEEPEST:
            raise DataError("The values are nested too deeply")
        waiting = [element for one in waiting for element in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())]
    return value


def _leads_to(value: Any, obj: Any) -> bool:
    """Whether a value of type Any links to an object, at any depth."""
    return any(isinstance(one, Object) and one == obj for one in _leaves(value))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Dictionary):
        for element in value.values():
            yield from _leaves(element)
    elif isinstance(value, (ListView, SetView)):
        for element in elements_of(value, 0, len(value)):
            yield from _leaves(element)
    else:
        yield value
