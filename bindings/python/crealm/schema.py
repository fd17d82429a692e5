"""Declarations of classes and properties, by a program or read from a file.

    crealm.ClassSchema("Person", {
        "id": int,
        "name": crealm.Prop(str, indexed=True),
        "born": Optional[datetime],
        "tags": list[str],
        "friend": "Person",               # a link: the name of a class
        "pets": list["Dog"],
        "extra": dict[str, Any],
    }, primary_key="id")

Types: int, bool, float, Float32, str, bytes, datetime, Decimal, UUID, ObjectId, typing.Any, and the
name of a class for a link; Optional[...] of these; list[...], set[...] and dict[str, ...] of these and of
Optional[...]. A single link and Any may always be None, also in a dictionary; lists and sets cannot hold a None link.

`models` declares classes as Python classes. Their properties may also be enums and dates: see `kinds`.
"""

from __future__ import annotations

import sys
import typing
from datetime import datetime
from decimal import Decimal
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union
from uuid import UUID

from . import _marshal as c
from ._shown import table
from .errors import NoSuchProperty, SchemaError, suggestion
from .kinds import Kind, kind_of
from .values import Float32, ObjectId, Timestamp

_TYPES: Dict[Any, int] = {
    int: c.P_INT,
    bool: c.P_BOOL,
    str: c.P_STRING,
    bytes: c.P_BINARY,
    Any: c.P_MIXED,
    object: c.P_MIXED,
    datetime: c.P_TIMESTAMP,
    Timestamp: c.P_TIMESTAMP,
    Float32: c.P_FLOAT,
    float: c.P_DOUBLE,
    Decimal: c.P_DECIMAL,
    ObjectId: c.P_OBJECT_ID,
    UUID: c.P_UUID,
}
_PYTHON_TYPES: Dict[int, Any] = {
    number: kind for kind, number in _TYPES.items() if kind not in (object, Timestamp)
}
_NAMES: Dict[int, str] = {
    number: "Any" if kind is Any else kind.__name__ for number, kind in _PYTHON_TYPES.items()
}
_COLLECTIONS: Dict[Any, int] = {list: c.C_LIST, set: c.C_SET, dict: c.C_DICTIONARY}
_COLLECTION_NAMES: Dict[int, Optional[str]] = {
    c.C_NONE: None,
    c.C_LIST: "list",
    c.C_SET: "set",
    c.C_DICTIONARY: "dict",
}
# From Python 3.10 on, `int | None` has another type than Optional[int].
_UNIONS: Tuple[Any, ...] = (Union,)
if sys.version_info >= (3, 10):
    import types

    _UNIONS = (Union, types.UnionType)


class Prop:
    """One property: Prop(type, optional=False, indexed=False, fulltext=False).

    Attributes: `type` is a Python type or, for links, the name of the class; `collection` is None,
    "list", "set" or "dict"; `optional` is whether the value, or an element, may be None.
    """

    __slots__ = ("type", "collection", "optional", "indexed", "fulltext", "_type", "_collection")

    def __init__(
        self, type: Any, *, optional: bool = False, indexed: bool = False, fulltext: bool = False
    ) -> None:
        element, many, may_be_none = parse(type)
        if kind_of(element) is not None:
            raise SchemaError(f"{element.__name__}: enums and dates belong to model classes")
        self._set_up(element, many, optional or may_be_none, indexed, fulltext)

    def _set_up(self, element: Any, many: int, optional: bool, indexed: bool, fulltext: bool) -> None:
        kind = kind_of(element)
        # A model class is replaced by its name, an enum or date by its stored type.
        element = getattr(element, "_realm_class", element) if kind is None else kind.stored_type
        self._collection = many
        self._type = c.P_OBJECT if isinstance(element, str) else _TYPES[element]
        self.type: Any = element if isinstance(element, str) else _PYTHON_TYPES[self._type]
        self.collection: Optional[str] = _COLLECTION_NAMES[many]
        self.optional = optional
        if self._type == c.P_MIXED or (self._type == c.P_OBJECT and many in (c.C_NONE, c.C_DICTIONARY)):
            self.optional = True
        self.indexed = indexed
        self.fulltext = fulltext

    @property
    def is_link(self) -> bool:
        """Whether the property holds objects of a class; `type` is its name then."""
        return self._type == c.P_OBJECT

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Prop):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in Prop.__slots__)

    def __hash__(self) -> int:
        return hash((self._type, self._collection, self.type, self.optional))

    def __str__(self) -> str:
        """The type in the form of an annotation: `list[str]`, `Optional[int]`, `Person`."""
        text = self.type if self.is_link else _NAMES[self._type]
        if self.optional and self._type not in (c.P_MIXED, c.P_OBJECT):
            text = f"Optional[{text}]"
        if self._collection == c.C_DICTIONARY:
            return f"dict[str, {text}]"
        return f"{self.collection}[{text}]" if self.collection else text

    def __repr__(self) -> str:
        marks = "".join(f", {name}=True" for name in ("indexed", "fulltext") if getattr(self, name))
        return f"Prop({self}{marks})"

    def _facts(self, name: str, is_primary_key: bool) -> c.PropertyFacts:
        flags = (
            c.NULLABLE * self.optional
            | c.PRIMARY_KEY * is_primary_key
            | c.INDEXED * self.indexed
            | c.FULLTEXT_INDEXED * self.fulltext
        )
        target = self.type if self.is_link else ""
        return c.PropertyFacts(name, self._type, self._collection, target, -1, flags)

    @classmethod
    def _from_facts(cls, facts: c.PropertyFacts) -> "Prop":
        self = cls.__new__(cls)
        self._type, self._collection = facts.type, facts.collection
        self.type = facts.target if facts.type == c.P_OBJECT else _PYTHON_TYPES[facts.type]
        self.collection = _COLLECTION_NAMES[facts.collection]
        self.optional = bool(facts.flags & c.NULLABLE)
        self.fulltext = bool(facts.flags & c.FULLTEXT_INDEXED)
        # A primary key always has an index, also if the declaration has none.
        self.indexed = bool(facts.flags & c.INDEXED) and not facts.flags & c.PRIMARY_KEY
        return self


Resolve = Callable[[str], Any]


def parse(annotation: Any, resolve: Optional[Resolve] = None) -> Tuple[Any, int, bool]:
    """Element type (a Python type, a model class or the name of a class), collection, and whether an
    element may be None.

    resolve: evaluates a text in an annotation of a Python class; without it a text is the name of a class.
    """
    annotation = _resolved(annotation, resolve)
    while hasattr(typing.get_origin(annotation), "_realm_field"):  # Field[int] means int.
        annotation = _resolved(typing.get_args(annotation)[0], resolve)
    element, may_be_none = _strip_optional(annotation)
    origin = typing.get_origin(element)
    many: int = _COLLECTIONS.get(origin, getattr(origin, "_realm_collection", c.C_NONE))
    if many != c.C_NONE:
        if may_be_none:
            raise SchemaError(f"{annotation}: a collection cannot be None, only its elements can")
        arguments = typing.get_args(element)
        if many == c.C_DICTIONARY and origin is dict:
            if arguments[0] is not str:
                raise SchemaError(f"{annotation}: the keys of a dictionary are str")
            arguments = arguments[1:]
        element, may_be_none = _strip_optional(_resolved(arguments[0], resolve))
    element = _resolved(element, resolve)
    if isinstance(getattr(element, "_realm_class", None), str):
        return element, many, may_be_none
    if isinstance(element, str):
        if not element:
            raise SchemaError("A link needs the name of a class")
    elif isinstance(element, type) and (element in _COLLECTIONS or hasattr(element, "_realm_collection")):
        raise SchemaError(f"{element.__name__} of what? Write {element.__name__}[...]")
    elif kind_of(element) is None and not _is_known(element):
        raise SchemaError(f"{annotation!r} is no type that a property can have")
    return element, many, may_be_none


def _resolved(annotation: Any, resolve: Optional[Resolve]) -> Any:
    if typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    while resolve is not None and isinstance(annotation, str):
        text, annotation = annotation, resolve(annotation)
        if text == annotation:
            break  # The name of a class.
    return annotation


def _is_known(element: Any) -> bool:
    try:
        return element in _TYPES
    except TypeError:
        return False


def _strip_optional(annotation: Any) -> Tuple[Any, bool]:
    if typing.get_origin(annotation) not in _UNIONS:
        return annotation, False
    arguments = [a for a in typing.get_args(annotation) if a is not type(None)]
    if len(arguments) != 1 or len(typing.get_args(annotation)) != 2:
        raise SchemaError(f"{annotation}: of unions only Optional[...] is possible; Any takes all types")
    return arguments[0], True


class ClassSchema:
    """One class: ClassSchema(name, {property: type or Prop}, primary_key=None, embedded=False).

    An object of an embedded class is part of exactly one other object.
    """

    __slots__ = ("name", "properties", "primary_key", "embedded", "rules", "_flags")

    def __init__(
        self,
        name: str,
        properties: Mapping[str, Any],
        *,
        primary_key: Optional[str] = None,
        embedded: bool = False,
        rules: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.name = name
        self.rules: Mapping[str, Any] = rules or {}  # In the JSON form of the page "Rules".
        self.properties: Dict[str, Prop] = {
            key: value if isinstance(value, Prop) else Prop(value) for key, value in properties.items()
        }
        if primary_key is not None and primary_key not in self.properties:
            raise SchemaError(f"{name}: the primary key {primary_key!r} is not among the properties")
        self.primary_key = primary_key
        self.embedded = embedded
        self._flags = c.CLASS_EMBEDDED if embedded else 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClassSchema):
            return NotImplemented
        return (self.name, self.properties, self.primary_key, self._flags) == (
            other.name,
            other.properties,
            other.primary_key,
            other._flags,
        )

    def __hash__(self) -> int:
        return hash((self.name, tuple(self.properties)))

    def __repr__(self) -> str:
        inside = ", ".join(f"{name!r}: {prop!r}" for name, prop in self.properties.items())
        key = f", primary_key={self.primary_key!r}" if self.primary_key else ""
        return f"ClassSchema({self.name!r}, {{{inside}}}{key}{', embedded=True' * self.embedded})"

    def _repr_html_(self) -> str:
        """A table of the properties, for Jupyter."""
        return table(f"{self.name}{', embedded' * self.embedded}", _SHOWN, self._shown_rows())

    def _shown_rows(self) -> List[List[str]]:
        rows = []
        for name, prop in self.properties.items():
            marks = ["primary key"] * (name == self.primary_key) + ["index"] * prop.indexed + ["words"] * prop.fulltext
            rows.append([name, str(prop), ", ".join(marks)])
        return rows

    def _facts(self) -> c.ClassFacts:
        return c.ClassFacts(
            self.name,
            self.primary_key or "",
            -1,
            self._flags,
            tuple(p._facts(name, name == self.primary_key) for name, p in self.properties.items()),
        )

    @classmethod
    def _from_facts(cls, facts: c.ClassFacts) -> "ClassSchema":
        self = cls.__new__(cls)
        self.name = facts.name
        self.rules = {}
        self.properties = {p.name: Prop._from_facts(p) for p in facts.properties}
        self.primary_key = facts.primary_key or None
        self.embedded = facts.flags & 3 == c.CLASS_EMBEDDED
        self._flags = facts.flags
        return self


class Classes(Mapping[str, ClassSchema]):
    """The declarations of classes by name. Jupyter shows them as a table."""

    __slots__ = ("_by_name",)

    def __init__(self, by_name: Mapping[str, ClassSchema]) -> None:
        self._by_name = dict(by_name)

    def __getitem__(self, name: str) -> ClassSchema:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return repr(self._by_name)

    def _repr_html_(self) -> str:
        rows = [[name, *row] for name, declared in self.items() for row in declared._shown_rows()]
        return table(f"classes: {len(self)}", ["class", *_SHOWN], rows)


_SHOWN = ["property", "type", ""]


class BoundClass:
    """A class of an open database: its declaration, and the keys of the class and its properties.

    `properties` is by names in Python, `columns` by names in the file; they differ only if a model
    gives a property another name.
    """

    __slots__ = (
        "schema",
        "name",
        "key",
        "properties",
        "columns",
        "primary_key",
        "key_name",
        "model",
        "wrap",
        "kind",
        "kinds",
        "needed",
        "views",
        "key_of_several",
        "ways",
    )

    def __init__(
        self, facts: c.ClassFacts, model: Any, object_type: Any, limits: Optional[Mapping[str, Any]] = None
    ) -> None:
        """limits: link properties that take objects of a subclass only, by names in the file; see `families`."""
        self.schema = ClassSchema._from_facts(facts)
        self.name = facts.name
        self.key = facts.key
        self.model = model
        self.wrap = (model or object_type)._wrap  # Makes an object from a handle.
        self.kind: Any = None  # The Python class of its objects in loops; set by the first loop.
        # The classes of Python whose objects are in this class of the file, if they are several; see `families`.
        self.views: Dict[Any, BoundClass] = {}
        limits, names = limits or {}, self._python_names()
        # By names in Python: how the model converts values whose types files do not have.
        self.kinds: Dict[str, Kind] = self._python_kinds()
        self.columns: Dict[str, c.PropertyFacts] = {
            p.name: p._replace(kind=self.kinds.get(names.get(p.name, p.name)), limit=limits.get(p.name))
            for p in facts.properties
        }
        # Properties for which new objects must have a value: their type has no value that is stored as zero, and the
        # file makes none.
        made = set() if model is None else {field.column for field in model._fields.values() if field.is_made}
        self.needed = [
            (names.get(p.name, p.name), p)
            for p in self.columns.values()
            if p.kind and p.kind.zero is None and p.collection == c.C_NONE and not p.flags & c.NULLABLE and p.name not in made
        ]
        self.properties: Dict[str, c.PropertyFacts] = {names.get(k, k): p for k, p in self.columns.items()}
        self.primary_key = self.columns.get(facts.primary_key)
        self.key_name = names.get(facts.primary_key, facts.primary_key)
        # The properties that Meta.primary_key names, whose values together decide whether an object exists.
        self.key_of_several: Optional[Sequence[str]] = self._key_of_several()
        # How objects with plain values are created, by the names of the values; see `_creating`.
        self.ways: Dict[Tuple[str, ...], Any] = {}

    def _key_of_several(self) -> Optional[Sequence[str]]:
        base = None if self.model is None else self.model._base or self.model
        meta = next((vars(one)["Meta"] for one in getattr(base, "__mro__", ()) if "Meta" in vars(one)), None)
        names = getattr(meta, "primary_key", None)
        return (names,) if isinstance(names, str) else names

    def _python_names(self) -> Dict[str, str]:
        """Names in the file to names in Python."""
        return {} if self.model is None else self.model._attributes()

    def _python_kinds(self) -> Dict[str, Kind]:
        return {} if self.model is None else self.model._kinds()

    def has(self, name: str) -> bool:
        """Whether the class has a property with a name."""
        return name in self.properties or name in self.columns

    def find(self, name: str) -> c.PropertyFacts:
        """The property with a name; NoSuchProperty if the class has none."""
        facts = self.properties.get(name) or self.columns.get(name)
        if facts is None:
            raise NoSuchProperty(f"{self.name} has no property {name!r}{suggestion(name, self.properties)}")
        return facts

    def settable(self, name: str) -> c.PropertyFacts:
        """The property with a name that each object of the class has; NoSuchProperty if there is none."""
        return self.find(name)

    def where(self, facts: c.PropertyFacts) -> str:
        """The name of a property for messages: `Person.name`."""
        name = next((name for name, other in self.properties.items() if other is facts), facts.name)
        return f"{self.name}.{name}"

    def name_of(self, key: int) -> Optional[str]:
        """The name of the property with a key; None if the schema of the program does not have it."""
        return next((name for name, facts in self.properties.items() if facts.key == key), None)

    # What differs if several classes of Python share a class of the file: see `families`.

    @property
    def type_name(self) -> str:
        """The property with the name of an object's class; an empty text if there is none."""
        return ""

    def class_of(self, db: Any, text: Any) -> Any:
        """The class of Python with a name in that property."""
        return self.model

    def view(self, model: Any) -> BoundClass:
        """This class as a class of Python sees it."""
        return self

    def holds(self, model: Any) -> bool:
        """Whether conditions on the objects may use properties of a model."""
        return bool(self.name == model._realm_class)

    def accepts(self, bound: BoundClass) -> bool:
        """Whether a link to this class may lead to objects of another one."""
        return bound is self

    @property
    def in_file(self) -> BoundClass:
        """The whole class of the file."""
        return self

    @property
    def part(self) -> Any:
        """The model, if its objects are a part of those in the class of the file; else None."""
        return None

    def only(self, obj: Any) -> Any:
        """The object, or None if it is in the class of the file, but not of this class."""
        return obj

    def of_row(self, values: Mapping[str, Any]) -> Tuple[BoundClass, Mapping[str, Any]]:
        """The class of a row of values, and its values."""
        return self, values

    def completed(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """The values of a new object, with those that the file does not give it."""
        return values

    def without_type(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """The values without the name of their class, which never changes."""
        return values

    def check_there(self, db: Any, handle: Any) -> bool:
        """Whether an object of the class of the file is one of this class."""
        return True

    def added(self, names: Iterable[str]) -> List[Tuple[str, Any]]:
        """The columns with the same value in each row that new objects need beside those with `names`."""
        return []

    def is_type(self, facts: c.PropertyFacts) -> bool:
        """Whether a property is the name of the object's class."""
        return False


def class_facts(schema: Iterable[ClassSchema]) -> Tuple[c.ClassFacts, ...]:
    """The classes that a program declares, in the form for the library."""
    return tuple(declared._facts() for declared in schema)
