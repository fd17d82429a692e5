"""Classes declared as Python classes.

    class Dog(crealm.Model):
        name: str
        age: int = 0

    class Address(crealm.Embedded):
        city: str

    class Person(crealm.Model):
        id: int = crealm.field(primary_key=True)
        name: str = crealm.field(index=True)
        born: Optional[datetime]
        address: Optional[Address]
        dogs: list[Dog]
        friends: set["Person"]
        notes: dict[str, Any]

    class Kennel(crealm.Model):
        ...
        class Meta:
            name = "DogHouse"             # the class's name in the file

Each annotation declares a property, except ClassVar[…]. The types are those of `schema`, with model classes
for links; a text names a class that is declared later. Field[int] means int, List[Dog] list[Dog], SetView[str]
set[str] and Dictionary[int] dict[str, int]: these give type checkers more information. field() declares more than
the type of a property; it is the value of the property, or inside Annotated[int, crealm.field(…)]. An object of an
Embedded class is part of exactly one other object. A single link or embedded object may always be None.

A model that inherits from another one has its properties, and is a class of the file of its own; with type_property in
the Meta of their base, models share a class of the file: see `families`.

An instance that the program makes is a plain object: its properties are values, lists, sets and
dictionaries of Python, and any thread may use it. db.add(instance) makes it, and everything that it refers to,
objects of the database; from then on it is live, bound to the database's thread, and changes need a
write. If the write that added it is rolled back, it becomes a plain object again, with its values from
before, and can be added again. Objects that come from the database are also instances of the model; their
__init__ is not called.
"""

from __future__ import annotations

import builtins
import copy
import sys
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from types import ModuleType
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    ClassVar,
    Dict,
    Generic,
    Iterator,
    List,
    Literal,
    NamedTuple,
    NoReturn,
    Optional,
    Set,
    Tuple,
    Type,
    TypeVar,
    Union,
    get_origin,
    overload,
)
from uuid import UUID

from . import _marshal as c
from . import families
from ._handle import Handle
from ._library import lib
from ._pages import attribute
from ._session import Session
from ._computed import Computed
from .errors import DataError, NoSuchProperty, SchemaError, TypeMismatch, UsageError, suggestion
from .families import Families, Family
from .expressions import Member, Path
from .kinds import Kind, kind_of
from .objects import Object
from .rules import of_field, of_model
from .schema import BoundClass, ClassSchema, Prop, class_facts, parse
from .values import Float32, ObjectId, Timestamp

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform  # Type checkers know it even if it is not installed.

    from .results import Results
elif sys.version_info >= (3, 11):
    from typing import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Callable[[Any], Any]:
        return lambda cls: cls


T = TypeVar("T")
M = TypeVar("M", bound="Model")


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


# ------------------------------------------------------------------------------------------------
# Properties
# ------------------------------------------------------------------------------------------------


if TYPE_CHECKING:

    class _Descriptor: ...

else:
    _Descriptor = property  # No other descriptor has a faster __get__.


class Field(_Descriptor, Generic[T]):
    """One property of a model class. On an instance it is the property's value; on the class it is a
    `Path`, for conditions. `name` is the property's name, `column` the one in the file.

    As an annotation, name: crealm.Field[str] declares the same as name: str, and type checkers know that the class
    attribute is a path."""

    _realm_field = True

    def __init__(
        self,
        *,
        primary_key: bool = False,
        index: bool = False,
        fulltext: bool = False,
        name: Optional[str] = None,
        default: Any = MISSING,
        default_factory: Optional[Callable[[], Any]] = None,
        rules: Optional[Dict[str, Any]] = None,
        renamed_from: Optional[str] = None,
    ) -> None:
        if default is not MISSING and default_factory is not None:
            raise SchemaError("A property has a default or a default_factory, not both")
        if default_factory in (list, set, dict):
            default_factory = None  # Collections are empty anyway; the argument is only for type checkers.
        if isinstance(default, (list, set, dict, bytearray)) and len(default):
            raise SchemaError(
                f"A {type(default).__name__} as default would be shared by all instances",
                hint=f"Use crealm.field(default_factory=lambda: {default!r}); collections start empty.",
            )
        self.name = ""
        self.column = name or ""
        self.owner = ""
        self.module = ""
        self.annotation: Any = MISSING
        self.primary_key = primary_key
        self.index = index
        self.fulltext = fulltext
        self.default = default
        self.default_factory = default_factory
        self.rules: Dict[str, Any] = rules or {}  # In the JSON form of rules.
        if renamed_from is not None:
            self.rules["renamed_from"] = renamed_from
        # Whether the library makes the value of new objects, unless the program gives one.
        self.is_made = any(self.rules.get(name) for name in ("auto", "created", "modified", "revision"))
        self.is_made = self.is_made or "default" in self.rules
        self.is_type = False  # Whether the value is the name of the object's class; see `families`.
        self._shape: Optional[Tuple[Any, int, bool]] = None

    def __copy__(self) -> Field[T]:
        made: Field[T] = Field()
        made.__dict__.update(self.__dict__)
        return made

    def _bind(self, owner: Type[Model], name: str, annotation: Any) -> None:
        if self.name:
            raise SchemaError(f"{owner.__name__}.{name}: the field is {self.owner}.{self.name} already")
        self.name = name
        self.column = self.column or name
        self.owner = owner.__name__
        self.module = owner.__module__
        self.annotation = annotation
        if not TYPE_CHECKING:
            property.__init__(self, attribute(name, self._single))

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: Any) -> Path: ...

        @overload
        def __get__(self, instance: Model, owner: Any) -> T: ...

        def __get__(self, instance: Optional[Model], owner: Any) -> Any: ...

    def _single(self, instance: Model) -> Any:
        """The value, read from the instance or from the database, not from a page."""
        db = instance._db
        if db is None:
            return self._unmanaged(instance)
        try:
            bound = db._classes[instance._class_key]
            facts = (bound.view(type(instance)) if bound.views else bound).properties[self.name]
        except KeyError:
            facts = instance._bound().find(self.name)  # Raises an error that names the missing part.
        return instance._read(facts)

    def __set__(self, instance: Model, value: T) -> None:
        if self.is_type:
            instance._refuse_type(value)
        elif instance._db is None:
            instance._values[self.name] = self._taken(value)
            instance._given.add(self.name)
        else:
            instance[self.name] = value

    def __repr__(self) -> str:
        return f"<property {self.owner}.{self.name}>"

    def _is_late(self, named: Callable[[str, str], Any]) -> bool:
        """Whether the annotation is a text that contains Annotated[…, field(…)], which is evaluated too late."""
        if not isinstance(self.annotation, str):
            return False
        found = named(self.annotation, self.module)
        return any(isinstance(f, Field) for f in getattr(found, "__metadata__", ()))

    # On paths

    def _leads_to(self) -> Optional[Type[Any]]:
        element = self._element()
        return element if _is_model(element) else None

    def _is_many(self) -> bool:
        return self._parsed()[1] != c.C_NONE

    def _is_dictionary(self) -> bool:
        return self._parsed()[1] == c.C_DICTIONARY

    def _is_known(self) -> bool:
        return self._element() is not _Unknown

    def _element(self) -> Any:
        """The type of the value or of the elements. An unknown class is looked up again, because it may have been
        declared meanwhile."""
        if self._parsed()[0] is _Unknown:
            self._shape = None
        return self._parsed()[0]

    # On plain instances

    def _unmanaged(self, instance: Model) -> Any:
        values = instance._values
        if self.is_type:
            return instance._type_text
        try:
            return values[self.name]
        except KeyError:
            value = self._zero()
            if isinstance(value, (list, set, dict)):
                values[self.name] = value  # Kept, because the program may add elements.
            return value

    def _taken(self, value: Any) -> Any:
        """A value in the form that a plain instance keeps: collections are copied, as by the database."""
        many = self._parsed()[1]
        if many == c.C_NONE:
            return value
        if many == c.C_DICTIONARY:
            if isinstance(value, Mapping):
                return dict(value)
        elif isinstance(value, Iterable) and not isinstance(value, (str, bytes, bytearray, Mapping, Object)):
            return list(value) if many == c.C_LIST else set(value)
        kind = {c.C_LIST: "list", c.C_SET: "set", c.C_DICTIONARY: "dictionary"}[many]
        raise TypeMismatch(f"{self.owner}.{self.name}: Needs a {kind}, not {type(value).__name__}")

    def _from_plain(self, value: Any) -> Any:
        """Converts a value from to_dict(): makes instances from dictionaries of objects."""
        target, many = self._leads_to(), self._parsed()[1]
        if target is None or value is None:
            return value
        if many == c.C_NONE:
            return self._instance_of(target, value)
        if many == c.C_DICTIONARY and isinstance(value, Mapping):
            return {key: self._instance_of(target, element) for key, element in value.items()}
        return [self._instance_of(target, element) for element in value] if isinstance(value, (list, tuple, set)) else value

    def _instance_of(self, target: Type[Any], value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        if "$ref" in value:
            raise DataError(
                f"{self.owner}.{self.name}: {dict(value)!r} names an object and has not its values",
                hint="to_dict(depth=2) has those of the objects that are linked to, and so on; leave out what leads back.",
            )
        return target.from_dict(value)

    def _initial(self) -> Any:
        """The default for an instance; MISSING if the property has no default."""
        return self.default if self.default_factory is None else self.default_factory()

    def _zero(self) -> Any:
        """The value of a property without a value or default."""
        element, many, may_be_none = self._parsed()
        if many != c.C_NONE:
            return {c.C_LIST: list, c.C_SET: set, c.C_DICTIONARY: dict}[many]()
        if may_be_none:
            return None
        kind = kind_of(element)
        return _ZEROS.get(element) if kind is None else kind.zero

    def _kind(self) -> Optional[Kind]:
        """How values are stored, for types that files do not have; else None."""
        return kind_of(self._element())

    @property
    def has_default(self) -> bool:
        """Whether the declaration has a default, or a function that makes it."""
        return self.default_factory is not None or self.default is not MISSING

    def _parsed(self) -> Tuple[Any, int, bool]:
        if self._shape is None:
            scope = _Scope(vars(sys.modules.get(self.module, builtins)))
            try:
                self._shape = parse(self.annotation, lambda text: eval(text, {}, scope))
            except Exception:
                self._shape = _Unknown, c.C_NONE, True  # Opening a database will report the error.
        return self._shape


_ZEROS: Dict[Any, Any] = {
    int: 0,
    bool: False,
    str: "",
    bytes: b"",
    datetime: Timestamp.from_ns(0),
    Timestamp: Timestamp.from_ns(0),
    Float32: 0.0,
    float: 0.0,
    Decimal: Decimal(0),
    ObjectId: ObjectId(bytes(12)),
    UUID: UUID(int=0),
}


class _Unknown:
    """A placeholder for a class that an annotation names but that is not declared yet; it must be a link."""

    _realm_class = "?"


class _Scope(Dict[str, Any]):
    """The scope in which annotations are evaluated: names that are not defined are `_Unknown`."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, _Unknown)


def field(
    *,
    primary_key: bool = False,
    index: bool = False,
    fulltext: bool = False,
    name: Optional[str] = None,
    default: Any = MISSING,
    default_factory: Optional[Callable[[], Any]] = None,
    unique: bool = False,
    auto: bool = False,
    on_delete: Optional[str] = None,
    on_target_delete: Optional[str] = None,
    min: Any = None,
    max: Any = None,
    min_length: Optional[int] = None,
    max_length: Optional[int] = None,
    min_count: Optional[int] = None,
    max_count: Optional[int] = None,
    required: bool = False,
    created: bool = False,
    modified: bool = False,
    revision: bool = False,
    file_default: Any = MISSING,
    renamed_from: Optional[str] = None,
) -> Any:
    """Declares more about a property than its type.

    primary_key:     at most one per class, of type int, str, ObjectId or UUID; its values never change.
    index:           an index that finds equal values quickly, for int, bool, str, datetime, ObjectId, UUID, Any.
    fulltext:        an index that finds words in a str.
    name:            the property's name in the file, if it differs.
    default:         the value for instances that are made without one.
    default_factory: a function that makes the default of each instance: field(default_factory=ObjectId). `list`, `set`
                     and `dict` have no effect, because collections are empty at first; they only tell type checkers
                     that __init__ does not need the argument.
    renamed_from:    the name that the property had in the file before: it keeps its values.

    The other arguments are rules, which the file keeps and every language respects; see the page "Rules":
    unique:          no two objects have the same value.
    auto:            the library makes the value of new objects: int from 1, UUID, ObjectId.
    on_delete:       what happens to the objects that the property links to when its object is deleted: "nullify",
                     "cascade", "cascade_last" or "deny".
    on_target_delete: what happens to the object when an object that the property links to is deleted: "nullify",
                     "cascade" or "deny".
    min, max, min_length, max_length, min_count, max_count: limits of numbers, of the length of texts in bytes, and of
                     the number of elements.
    required:        a link, or a value that may be None, must not be None when the write ends.
    created, modified: a datetime that the library sets when an object is created, or changed.
    revision:        an int that the library raises with each write that changes the object.
    file_default:    the value of new objects, also of those of other programs: a value, crealm.NOW, crealm.NEW_UUID or
                     crealm.NEW_OBJECT_ID.
    """
    rules = of_field(
        unique=unique,
        auto=auto,
        on_delete=on_delete,
        on_target_delete=on_target_delete,
        min=min,
        max=max,
        min_length=min_length,
        max_length=max_length,
        min_count=min_count,
        max_count=max_count,
        required=required,
        created=created,
        modified=modified,
        revision=revision,
        file_default=file_default,
        missing=MISSING,
    )
    return Field(
        primary_key=primary_key,
        index=index,
        fulltext=fulltext,
        name=name,
        default=default,
        default_factory=default_factory,
        rules=rules,
        renamed_from=renamed_from,
    )


class Backlinks(Generic[T]):
    """The objects that link to an instance: `owners: Backlinks["Person"] = backlinks("Person", "dogs")`.

    On an instance it is live `Results`; on a plain instance it is empty. An object appears once for each link
    that it has to the instance.
    """

    __slots__ = ("name", "module", "source", "property")

    def __init__(self, source: Any, property: str) -> None:
        self.name = ""
        self.module = ""
        self.source = source
        self.property = property

    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = name
        self.module = owner.__module__

    @overload
    def __get__(self, instance: None, owner: Any) -> Path: ...

    @overload
    def __get__(self, instance: Model, owner: Any) -> Results[T]: ...

    def __get__(self, instance: Optional[Model], owner: Any) -> Any:
        if instance is None:
            return Path.of(owner, self)
        if instance._db is None:
            return ()
        source = self.source if isinstance(self.source, type) else instance._db._model_named(self.source)
        return instance.backlinks(source, self.property)

    def _leads_to(self) -> Optional[Type[Any]]:
        found = self.source
        if isinstance(found, str):
            found = vars(sys.modules.get(self.module, builtins)).get(found)
        return found if _is_model(found) else None

    def _is_many(self) -> bool:
        return True

    def _is_dictionary(self) -> bool:
        return False

    def _is_known(self) -> bool:
        return self._leads_to() is not None

    def __set__(self, instance: Model, value: Any) -> NoReturn:
        raise AttributeError(f"{self.name} is made of links to this object: change those instead")


if TYPE_CHECKING:

    def backlinks(source: Any, property: str, *, init: Literal[False] = False) -> Any: ...

else:

    def backlinks(source: Any, property: str) -> Any:
        """Declares the objects of a class that link to this one through a property: backlinks("Person", "dogs")."""
        return Backlinks(source, property)


# ------------------------------------------------------------------------------------------------
# Models
# ------------------------------------------------------------------------------------------------


def _annotations(cls: type) -> Dict[str, Any]:
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
    return dict(cls.__dict__.get("__annotations__", {}))


def _annotated(annotation: Any, default: Any) -> Field[Any]:
    """The field of a property whose value is not a field: the one in Annotated[int, crealm.field(…)], or a new one."""
    made = next((f for f in getattr(annotation, "__metadata__", ()) if isinstance(f, Field)), None)
    if made is None:
        return Field(default=default)
    made = copy.copy(made)  # The annotation may serve several properties.
    if default is not MISSING:
        made.default, made.default_factory = Field(default=default).default, None
    return made


def _is_class_variable(annotation: Any) -> bool:
    text = getattr(annotation, "__forward_arg__", annotation)
    if isinstance(text, str):
        return text.split("[")[0].split(".")[-1].strip() == "ClassVar"
    return annotation is ClassVar or get_origin(annotation) is ClassVar


class _ModelType(type):
    """The metaclass of models: Person.age is a path that begins at Person, also if a base class declares `age`."""

    if not TYPE_CHECKING:

        def __getattribute__(cls, name: str) -> Any:
            found = type.__getattribute__(cls, name)
            return Path.of(cls, found) if type(found) is Field else found

        def __getattr__(cls, name: str) -> Any:
            """Raises an error for an unknown name, with a suggestion."""
            if name.startswith("_"):
                raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
            names = type.__getattribute__(cls, "_fields")
            raise AttributeError(f"{cls.__name__} has no property {name!r}{suggestion(name, names)}")


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field, backlinks))
class Model(Object, metaclass=_ModelType):
    """Base of declared classes. Person(name="Ann", age=31) makes a plain instance, which is in no database;
    properties that are not given have their default, else zero, False, an empty value or None.

    A plain instance is equal only to itself, and its hash is that of its identity. After it was added, it is equal
    to every instance of the same row.
    """

    __slots__ = ("_values", "_given", "__weakref__")
    _values: Dict[str, Any]
    _given: Set[str]
    _fields: ClassVar[Dict[str, Field[Any]]] = {}
    _backs: ClassVar[List[Backlinks[Any]]] = []
    _computed: ClassVar[Dict[str, Computed]] = {}
    _realm_class: Optional[str] = None
    _is_embedded = False
    # The base of the class if others share its class of the file, the property that tells them apart, and its value for
    # this one; see `families`.
    _base: ClassVar[Optional[Type[Model]]] = None
    _type_name = ""
    _type_text = ""
    _is_abstract = False

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        meta = cls.__dict__.get("Meta")
        type_name = families.type_property(cls)
        cls._realm_class = getattr(meta, "name", cls.__name__) if cls._base is None else cls.__name__
        fields: Dict[str, Field[Any]] = {}
        for base in reversed(cls.__mro__[1:]):
            fields.update(base.__dict__.get("_fields", {}))
        annotations = _annotations(cls)
        if type_name is not None and type_name not in annotations:
            inherited = fields.get(type_name, Field(name=type_name))
            annotations[type_name] = str if inherited.annotation is MISSING else inherited.annotation
            setattr(cls, type_name, Field(name=inherited.column))
        for name, annotation in annotations.items():
            value = cls.__dict__.get(name, MISSING)
            if isinstance(value, (Backlinks, Computed)) or _is_class_variable(annotation):
                continue
            if name in _RESERVED:
                raise SchemaError(
                    f"{cls.__name__}.{name}: the name has a meaning of its own in models",
                    hint=f"Choose another, and keep it in the file: = crealm.field(name={name!r}).",
                )
            try:
                made = value if isinstance(value, Field) else _annotated(annotation, value)
            except SchemaError as error:
                raise SchemaError(f"{cls.__name__}.{name}: {error.message}", hint=error.hint) from None
            made._bind(cls, name, annotation)
            fields[name] = made
            setattr(cls, name, made)
        for name, value in cls.__dict__.items():
            if isinstance(value, Field) and name not in annotations:
                raise SchemaError(f"{cls.__name__}.{name}: a property needs a type: {name}: int = field(…)")
        keys = [f.name for f in fields.values() if f.primary_key]
        if len(keys) > 1:
            raise SchemaError(f"{cls.__name__} has more than one primary key: {', '.join(keys)}")
        cls._fields = fields
        families.join(cls, type_name)
        members: Dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            members.update(base.__dict__)
        cls._backs = [value for value in members.values() if isinstance(value, Backlinks)]
        cls._computed = {name: value for name, value in members.items() if isinstance(value, Computed)}

    def __new__(cls, *_: Any, **__: Any) -> Any:
        if cls._realm_class is None:
            raise TypeError(f"{cls.__name__} is a base for classes of your own")
        if cls._is_abstract:
            raise TypeError(families.abstract_error(cls))
        self = object.__new__(cls)
        object.__setattr__(self, "_values", {})
        object.__setattr__(self, "_given", set())
        self._return()
        return self

    def __init__(self, **values: Any) -> None:
        fields = self._fields
        for name, value in values.items():
            if name not in fields:
                raise TypeError(f"{type(self).__name__}() has no property {name!r}{suggestion(name, fields)}")
            if fields[name].is_type:
                self._refuse_type(value)
            else:
                self._values[name] = fields[name]._taken(value)
        self._given.update(values)
        for name, made in fields.items():
            if name not in values:
                value = MISSING if made.is_type else made._initial()
                if value is not MISSING:
                    self._values[name] = made._taken(value)

    if not TYPE_CHECKING:  # For type checkers, a model has the attributes that it declares, and no others.

        def __setattr__(self, name: str, value: Any) -> None:
            known = next((vars(base)[name] for base in type(self).__mro__ if name in vars(base)), None)
            if name in _RESERVED:
                raise AttributeError(f"{name!r} is no property here; obj[{name!r}] = … reaches one of that name")
            if not hasattr(type(known), "__set__"):
                raise NoSuchProperty(f"{type(self).__name__} has no property {name!r}{suggestion(name, self._fields)}")
            object.__setattr__(self, name, value)

        def __getattr__(self, name: str) -> Any:
            if name in _SLOTS:
                return self._late(name)
            return self[name]

    def __getitem__(self, name: str) -> Any:
        if self._db is None:
            return self._field(name)._unmanaged(self)
        if self._base is not None and name not in self._fields:
            return self._read(self._facts(name))  # A page has the properties of all classes in the class of the file.
        return super().__getitem__(name)

    def __setitem__(self, name: str, value: Any) -> None:
        if self._db is not None:
            if self._base is not None and self._bound().is_type(self._facts(name)):
                self._refuse_type(value)
                return
            super().__setitem__(name, value)
        else:
            self._field(name).__set__(self, value)

    def _refuse_type(self, value: Any) -> None:
        """Raises if the value is another type than that of the instance."""
        if value != self[self._type_name]:
            kind = type(self).__name__
            raise UsageError(
                f"{kind}.{self._type_name}: an object of class {kind} stays one",
                hint="Make an object of the other class, and delete this one.",
            )

    def _bound(self) -> BoundClass:
        return super()._bound().view(type(self))

    def _field(self, name: str) -> Field[Any]:
        try:
            return self._fields[name]
        except KeyError:
            what = f"has no property {name!r}{suggestion(name, self._fields)}"
            if name in self._computed:
                what = f"is in no database: its property {name!r} is computed"
            raise NoSuchProperty(f"{type(self).__name__} {what}") from None

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from . import _pydantic

        return _pydantic.of_model(cls, handler)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        from . import _pydantic

        return _pydantic.json_schema_of_model(cls, schema, handler)

    @property
    def class_name(self) -> str:
        """The name of the class in the file."""
        return str(self._realm_class)

    @property
    def _shown_class(self) -> str:
        return type(self).__name__ if self._base not in (None, type(self)) else self.class_name

    @classmethod
    def from_dict(cls: Type[M], values: Mapping[str, Any]) -> M:
        """A plain instance with the values of a dictionary of the form of to_dict(). Dictionaries inside it become
        instances, too. DataError for a dictionary with "$ref", which only names an object; NoSuchProperty for an
        unknown name. The name of a subclass in the type property makes an instance of that class."""
        has_type = cls._base is not None and cls._type_name in values
        made: M = families.named(cls, values[cls._type_name])() if has_type else cls()
        for name, value in values.items():
            field = made._field(name)
            field.__set__(made, field._from_plain(value))
        return made

    # For the rest of the package

    @classmethod
    def _member(cls, name: str) -> Optional[Member]:
        """The property or the backlinks with a name."""
        found: Optional[Member] = cls._fields.get(name) or cls._computed.get(name)
        found = found or next((back for back in cls._backs if back.name == name), None)
        if found is None and cls._base is not None:  # Paths may go on with properties of subclasses.
            below = (one._member(name) for one in type.__subclasses__(cls))
            return next((member for member in below if member is not None), None)
        return found

    @classmethod
    def _member_names(cls) -> List[str]:
        return [*cls._fields, *(back.name for back in cls._backs), *cls._computed]

    @classmethod
    def _attributes(cls) -> Dict[str, str]:
        """Names in the file to names in Python."""
        return {made.column: name for name, made in cls._fields.items()}

    @classmethod
    def _kinds(cls) -> Dict[str, Kind]:
        """How values are stored, for properties whose types files do not have; by names in Python."""
        found = {name: made._kind() for name, made in cls._fields.items()}
        return {name: kind for name, kind in found.items() if kind is not None}

    @classmethod
    def _defaults(cls, without: Mapping[str, Any]) -> Dict[str, Any]:
        """The defaults of all properties that are not in `without`."""
        found = {
            name: made._initial()
            for name, made in cls._fields.items()
            if name not in without and made.column not in without and not made.is_type
        }
        return {name: value for name, value in found.items() if value is not MISSING}

    def _entries(self, explicit: bool = False) -> Iterator[Tuple[str, Any]]:
        if self._db is not None:
            yield from super()._entries()
            return
        for name, made in self._fields.items():
            if name in self._values or not (explicit or made.primary_key or made.is_made):
                yield name, made._unmanaged(self)

    def _is_embedded_object(self) -> bool:
        return self._is_embedded

    def _is_given(self, name: str) -> bool:
        """Whether the program set the value: it is not a default, and not a collection that is still empty."""
        return name in self._given or (
            isinstance(self._values.get(name), (list, set, dict))
            and bool(self._values[name])
            and self._fields[name].default_factory is None
        )

    def _settle(self, db: Session, handle: Handle, bound: BoundClass) -> None:
        """Makes the instance an object of a database. It keeps its plain values until the write is committed, because
        a rollback needs them."""
        db._added.append(self)  # First, so that the write knows the instance after an interrupt.
        assign = object.__setattr__
        assign(self, "_class_key", bound.key)
        assign(self, "_key", handle.call(lib.realm_object_get_key))
        assign(self, "_handle", handle)
        assign(self, "_db", db)

    def _stay(self) -> None:
        """Called after the write that added the instance was committed."""
        if self._db is not None:  # Else an interrupt came before it became an object of the database.
            self._values.clear()
            self._given.clear()

    def _return(self) -> None:
        """Makes this a plain instance, with the values that it had before it was added."""
        assign = object.__setattr__
        assign(self, "_db", None)
        assign(self, "_handle", None)
        assign(self, "_class_key", -1)
        assign(self, "_key", -1)
        assign(self, "_place", None)

    # Python

    def __dir__(self) -> List[str]:
        return sorted({*object.__dir__(self), *self._fields})

    def __reduce__(self) -> Any:
        if self._db is not None:
            return super().__reduce__()
        return _remade, (type(self),), (self._values, self._given)

    def __setstate__(self, state: Tuple[Dict[str, Any], Set[str]]) -> None:
        self._values.update(state[0])
        self._given.update(state[1])


class Embedded(Model):
    """Base of declared classes whose objects are part of another object. Assigning an instance copies
    its values into that object; the instance itself does not change."""

    __slots__ = ()
    _is_embedded = True


Embedded._realm_class = None  # A base like Model, not a declared class.

_SLOTS = frozenset({*Object.__slots__, *Model.__slots__})
_RESERVED = frozenset(dir(Model)) - {"__doc__", "__module__"} | {"Meta"}


def _remade(kind: Type[M]) -> M:
    made: M = kind.__new__(kind)
    return made


# ------------------------------------------------------------------------------------------------
# From models to a schema
# ------------------------------------------------------------------------------------------------


class Declared(NamedTuple):
    """The schema of a program: classes for the library, and the model classes by their names in the file."""

    classes: Tuple[c.ClassFacts, ...]
    models: Dict[str, Type[Model]]
    rules: Dict[str, Any]  # By the names of classes, in JSON form.
    families: Families = Families()


Schema = Union[Iterable[Union[ClassSchema, Type[Model]]], Mapping[str, ClassSchema], ModuleType]


def declare(schema: Schema) -> Declared:
    """Reads a schema: model classes and ClassSchema, a module with model classes, or the `schema`
    of another database. Adds model classes that the given ones refer to."""
    if isinstance(schema, type):
        raise TypeError(f"A schema is a list of classes: [{schema.__name__}]")
    if isinstance(schema, ModuleType):
        found = vars(schema).values()
        items: List[Any] = [v for v in found if _is_model(v) and v.__module__ == schema.__name__]
    else:
        items = list(schema.values() if isinstance(schema, Mapping) else schema)
    for item in items:
        if not isinstance(item, ClassSchema) and not _is_model(item):
            name = item.__name__ if isinstance(item, type) else type(item).__name__
            raise TypeError(f"A schema is made of model classes and ClassSchema, not of {name}")
    if any(isinstance(item, ClassSchema) for item in items):
        return _read(items)
    known = _declared.get(tuple(items))
    if known is not None and all(family.is_current(items) for family in known.families.by_class.values()):
        return known
    return _read(items)


# A cache for schemas of model classes without annotations that are texts, whose meaning could change. Programs open
# files with the same schemas again and again. The limit is for programs that declare classes inside functions.
_declared: Dict[Tuple[Any, ...], Declared] = {}
_DECLARED_LIMIT = 32


def _read(items: List[Any]) -> Declared:
    plain = [item for item in items if isinstance(item, ClassSchema)]
    reader = _Reader(plain, [item for item in items if _is_model(item)])
    facts = reader.facts()
    rules = {item.name: item.rules for item in plain if item.rules}
    own_classes = [model for model in reader.models if model._base in (None, model)]
    for model in own_classes:
        family = reader.families.get(str(model._realm_class))
        own = of_model(model, model._fields.values()) if family is None else families.rules_of(family)
        if own is not None:
            rules[str(model._realm_class)] = own
    found = Families(reader.families, reader.limits)
    declared = Declared(class_facts(plain) + facts, {str(m._realm_class): m for m in own_classes}, rules, found)
    if not plain and not reader.has_texts:
        if len(_declared) >= _DECLARED_LIMIT:
            _declared.clear()
        _declared[tuple(items)] = declared
    return declared


def _is_model(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Model) and value._realm_class is not None


class _Reader:
    """Converts model classes to facts. Adds the classes that they refer to to `models`."""

    has_texts = False  # Whether an annotation was a text: its meaning depends on the names that exist when it is read.

    def __init__(self, plain: Iterable[ClassSchema], models: Iterable[Type[Model]]) -> None:
        self.names: Dict[str, Any] = {declared.name: declared.name for declared in plain}
        self.models: List[Type[Model]] = []
        self.families: Dict[str, Family] = {}
        self.limits: Dict[Any, Dict[str, Any]] = {}  # As in `Families`.
        self.given = list(models)
        for model in self.given:
            self.include(model)

    def include(self, model: Type[Model]) -> None:
        """Adds a model class. One of a family brings the whole family."""
        if model in self.models:
            return
        added = (model,) if model._base is None else families.members(model._base, self.given)
        if model not in added:
            name = f"{model.__module__}.{model.__qualname__}"
            raise SchemaError(f"{name} is out of date: the program declared {model._type_text!r} again")
        self.models.extend(added)
        self.names.update((one.__name__, one) for one in added)

    def facts(self) -> Tuple[c.ClassFacts, ...]:
        props = {}
        sources = {}
        for model in self.models:  # Grows meanwhile.
            props[model] = {made.column: self.prop(model, made) for made in model._fields.values()}
            sources[model] = [(back, self.source(model, back)) for back in model._backs]
        return tuple(
            self.class_facts(model, props[model], sources[model], model._attributes())
            if model._base is None
            else self.family_facts(model, props, sources)
            for model in self.models
            if model._base in (None, model)
        )

    def family_facts(self, base: Type[Model], props: Mapping[Any, Any], sources: Mapping[Any, Any]) -> c.ClassFacts:
        """The class of the file for a base class and its subclasses."""
        members = [model for model in self.models if model._base is base]
        found, names = families.merged(members, props)
        required = {
            model: frozenset(
                column
                for column, prop in props[model].items()
                if not prop.optional and not prop.collection and column not in props[base]
            )
            for model in members
        }
        self.families[str(base._realm_class)] = Family(base, tuple(members), required)
        return self.class_facts(base, found, families.backlinks(members, sources), names)

    def prop(self, model: Type[Model], made: Field[Any]) -> Prop:
        where = f"{model.__name__}.{made.name}"
        try:
            element, many, optional = parse(made.annotation, lambda text: self.named(text, made.module))
            if made._is_late(self.named):
                raise SchemaError(
                    "What Annotated says about the property comes too late",
                    hint=f"With deferred annotations, write {made.name}: … = crealm.field(…).",
                )
            if _is_model(element):
                self.include(element)
                if element._base not in (None, element):
                    self.limits.setdefault(model, {})[made.column] = element
            prop = Prop.__new__(Prop)
            prop._set_up(element, many, optional, made.index, made.fulltext)
            return prop
        except SchemaError as error:
            raise SchemaError(f"{where}: {error.message}", hint=error.hint) from None

    def named(self, text: str, module: str) -> Any:
        """Evaluates the text of an annotation in the module of its class."""
        self.has_texts = True
        scope = vars(sys.modules.get(module, builtins))
        mine = {name: value for name, value in scope.items() if _is_model(value) and value in self.models}
        try:
            return eval(text, dict(scope), {**self.names, **mine})
        except NameError as error:
            raise SchemaError(
                f"{text!r}: {error}", hint="A class has to be in the schema, or known in the model's module."
            ) from None
        except Exception as error:
            raise SchemaError(f"{text!r} is no type: {error}") from error

    def source(self, model: Type[Model], back: Backlinks[Any]) -> Tuple[str, str]:
        """The class and property, by their names in the file, whose links a backlinks property lists."""
        where = f"{model.__name__}.{back.name}"
        source = back.source
        if isinstance(source, str):
            try:
                source = self.named(source, model.__module__)
            except SchemaError as error:
                raise SchemaError(f"{where}: {error.message}", hint=error.hint) from None
        if isinstance(source, str):
            return source, back.property
        if not _is_model(source):
            raise SchemaError(f"{where}: {source!r} is no model class")
        self.include(source)
        made = source._fields.get(back.property)
        if made is None:
            raise SchemaError(f"{where}: {source.__name__} has no property {back.property!r}")
        return source._realm_class, made.column

    def class_facts(
        self,
        model: Type[Model],
        props: Dict[str, Prop],
        sources: List[Tuple[Backlinks[Any], Tuple[str, str]]],
        names: Dict[str, str],
    ) -> c.ClassFacts:
        key = next((made.column for made in model._fields.values() if made.primary_key), None)
        name = str(model._realm_class)
        facts = ClassSchema(name, props, primary_key=key, embedded=model._is_embedded)._facts()
        public = [p._replace(public_name=names[p.name] * (names[p.name] != p.name)) for p in facts.properties]
        computed = [
            c.PropertyFacts(back.name, c.P_LINKING_OBJECTS, c.C_LIST, source, -1, 0, "", origin)
            for back, (source, origin) in sources
        ]
        return facts._replace(properties=tuple(public), computed=tuple(computed))
