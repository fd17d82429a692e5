"""Base classes: several Python classes whose objects are in one class of the file.

    class Animal(crealm.Model):
        name: str

        class Meta:
            type_property = "type"

    class Dog(Animal):
        breed: str

    class Puppy(Dog):
        weeks: int = crealm.field(min=1)

The file has one class, Animal, with the properties of all of them, and a text, `type`: the name of the Python class.
db[Animal] has all objects, db[Dog] dogs and puppies. Each object that is read is an instance of its class. A link, a
list, a set or a dictionary of Animal holds objects of all subclasses; one of Dog refuses others: TypeMismatch.

    type_property   on the base: the name of the text property. The class gets it, without an index, unless the program
                    declares it: type: str
    type_name       on a subclass: the text for it, in place of its name
    abstract        on the base or a subclass: no object is of exactly this class

Without type_property, a model that inherits from another one is a class of the file of its own.

Properties of subclasses are null in the file for objects of other classes. Python still refuses None for those whose
type is not Optional. Two subclasses that declare a property of the same name share it: its type must be the same.
Checks and unique rules of a subclass concern its objects only. A primary key is declared in the base.

A schema with one class of a family includes the base, and all subclasses that the program has declared by then. An object
of a class that only other programs know is an instance of the nearest class that this program knows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Dict, FrozenSet, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple, Type

from . import _marshal as c
from ._handle import Handle
from ._library import lib
from ._words import KEYWORDS
from .errors import DataError, NoSuchProperty, SchemaError, UsageError, suggestion
from .rules import named_checks, of_model, read, unique_rule
from .schema import BoundClass, Prop

_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)

# The conditions of limits: those that the library makes of them for a class without subclasses.
_LIMITS = {
    "required": "{0} != NULL",
    "min": "{0} >= {1}",
    "max": "{0} <= {1}",
    "min_length": "{0}.@size >= {1}",
    "max_length": "{0}.@size <= {1}",
    "min_count": "{0}.@count >= {1}",
    "max_count": "{0}.@count <= {1}",
}

# Rules whose values the library makes for each object of a class, whatever its type.
_MADE = ("auto", "created", "modified", "revision", "default")


# ------------------------------------------------------------------------------------------------
# Declaring
# ------------------------------------------------------------------------------------------------


def _own(model: Any, name: str) -> Any:
    """A setting of the Meta of a model; None without it. The Meta of a subclass may inherit from the Meta of its base:
    inherited settings do not count."""
    meta = model.__dict__.get("Meta", object)
    return getattr(meta, name, None) if model._base in (None, model) else vars(meta).get(name)


def type_property(model: Any) -> Optional[str]:
    """The type_property that a model declares, if it is the base of a family."""
    name = _own(model, "type_property")
    if name is None:
        return None
    if model._base is not None:
        raise SchemaError(f"{model.__name__}.Meta.type_property: {model._base.__name__} has one for all its subclasses")
    if model._is_embedded:
        raise SchemaError(f"{model.__name__}.Meta.type_property: embedded objects have no subclasses")
    if not isinstance(name, str) or not name:
        raise SchemaError(f"{model.__name__}.Meta.type_property is the name of a property, not {name!r}")
    return name


def join(model: Any, name: Optional[str]) -> None:
    """Makes a new model class the base of a family, if `name` is its type_property, or a part of its base's family."""
    if name is not None:
        _found(model, name)
    elif model._base is not None:
        _inherit(model)
    elif _own(model, "type_name") is not None or _own(model, "abstract") is not None:
        raise SchemaError(
            f"{model.__name__}.Meta: type_name and abstract are for classes that share a class of the file",
            hint='Their base has type_property: class Meta: type_property = "type".',
        )
    model._is_abstract = bool(_own(model, "abstract"))


def _found(model: Any, name: str) -> None:
    if _own(model, "type_name") is not None:
        raise SchemaError(f"{model.__name__}.Meta.type_name: the type of a base is its name in the file, Meta.name")
    made = model._fields[name]
    if not _PLAIN_NAME.fullmatch(made.column) or made.column.lower() in KEYWORDS:
        raise SchemaError(
            f"{model.__name__}.Meta.type_property: the query language cannot have a property {made.column!r}",
            hint="Choose another name.",
        )
    if made.primary_key or made.rules:
        raise SchemaError(f"{model.__name__}.{name}: the type property has no rules, and is no primary key")
    made.is_type = True
    model._base = model
    model._type_text = model._realm_class
    model._type_name = name


def _inherit(model: Any) -> None:
    base, name = model._base, model.__name__
    line = [one for one in model.__mro__ if getattr(one, "_base", None) is not None]
    for one, above in zip(line, line[1:]):
        if one._base is not base or not issubclass(one, above):
            raise SchemaError(
                f"{name} has two base classes, {one.__name__} and {above.__name__}: an object has one type"
            )
    for said, instead in (
        (
            "name",
            f"the objects are in the class {base._realm_class} of the file; type_name changes the text that marks them",
        ),
        ("renamed_from", "a type keeps its text: type_name"),
        ("primary_key", f"primary keys are declared in {base.__name__}"),
    ):
        if _own(model, said) is not None:
            raise SchemaError(f"{name}.Meta.{said}: {instead}")
    text = _own(model, "type_name")
    model._type_text = name if text is None else text
    if not isinstance(model._type_text, str) or not model._type_text or re.search(r'["\\\x00-\x1f]', model._type_text):
        raise SchemaError(f'{name}.Meta.type_name is a text without " and \\, not {text!r}')
    model._realm_class = base._realm_class
    for made in own_fields(model):
        if made.primary_key:
            raise SchemaError(f"{name}.{made.name}: primary keys are declared in {base.__name__}")
        if made.name == base._type_name:
            raise SchemaError(f"{name}.{made.name}: the type property is declared in {base.__name__}")
        values = [rule for rule in _MADE if rule in made.rules]
        if values:
            said = "file_default" if values[0] == "default" else values[0]
            raise SchemaError(
                f"{name}.{made.name}: {said} concerns objects of all classes in {base.__name__}",
                hint=f"Declare the property in {base.__name__}, or use default or default_factory.",
            )


def parent(model: Any) -> Any:
    """The class of the family above a subclass."""
    return next(one for one in model.__mro__[1:] if getattr(one, "_base", None) is not None)


def own_fields(model: Any) -> List[Any]:
    """The properties that a subclass declares or inherits from elsewhere, not from the family."""
    above = parent(model)._fields
    return [made for name, made in model._fields.items() if above.get(name) is not made]


def members(base: Any, declared: Iterable[Any] = ()) -> Tuple[Any, ...]:
    """All classes of a family: the base first, and each class before its subclasses.

    Of classes with the same module and name the newest counts, or one that is `declared`: the program ran the
    declaration again, as in a notebook."""
    kept = set(declared)
    newest: Dict[str, Any] = {}
    for model in _below(base):
        if newest.get(_full(model)) not in kept:
            newest.pop(_full(model), None)  # So that each class comes after those above it.
            newest[_full(model)] = model
    found: Dict[str, Any] = {}
    for model in newest.values():
        other = found.setdefault(model._type_text, model)
        if other is not model:
            raise SchemaError(
                f"{_full(other)} and {_full(model)} have the same type, {model._type_text!r}",
                hint="Meta.type_name changes it.",
            )
    known: List[Any] = []
    for model in found.values():
        if model is base or parent(model) in known:  # Else it is below a class that the program declared again.
            known.append(model)
    return tuple(known)


def _full(model: Any) -> str:
    return f"{model.__module__}.{model.__qualname__}"


def _below(model: Any) -> Iterator[Any]:
    yield model
    for one in type.__subclasses__(model):
        if parent(one) is model:
            yield from _below(one)


def named(model: Any, text: Any) -> Any:
    """The class of a type among a class and its subclasses. DataError for another text."""
    known = {one._type_text: one for one in members(model._base) if issubclass(one, model)}
    return _one(known, text, model.__name__)


def _one(known: Mapping[str, Any], text: Any, name: str) -> Any:
    found = known.get(text) if isinstance(text, str) else None
    if found is None:
        near = suggestion(text, known) if isinstance(text, str) else ""
        raise DataError(f"{text!r} is no type of {name}{near}")
    return found


def abstract_error(model: Any) -> str:
    """The message for an object of an abstract class."""
    below = [
        one.__name__
        for one in members(model._base)
        if one is not model and issubclass(one, model) and not one._is_abstract
    ]
    return f"{model.__name__} is abstract: its objects are of subclasses" + (f", such as {below[0]}" if below else "")


class Family(NamedTuple):
    """The classes of Python that share one class of the file, as they were when the program read its schema."""

    base: Any
    members: Tuple[Any, ...]
    required: Dict[Any, FrozenSet[str]]  # For each class the columns that Python refuses None for.

    def texts(self, model: Any) -> List[str]:
        """The types of a class and its subclasses."""
        return [one._type_text for one in self.members if issubclass(one, model)]

    def condition(self, model: Any, others: Sequence[str] = ()) -> str:
        """The condition, in the query language, that an object is of a class or of one of its subclasses. `others`:
        more types of subclasses, which only other programs know."""
        texts = [_quoted(text) for text in (*self.texts(model), *others)]
        column = self.base._fields[self.base._type_name].column
        return f"{column} == {texts[0]}" if len(texts) == 1 else f"{column} IN {{{', '.join(texts)}}}"

    def is_current(self, declared: Iterable[Any]) -> bool:
        """Whether the program has declared no other classes since it read this for the same schema."""
        return self.members == members(self.base, declared)


def _quoted(text: str) -> str:
    return f'"{text}"' if "'" in text else f"'{text}'"


class Families(NamedTuple):
    """What a program declares about base classes."""

    by_class: Dict[str, Family] = {}  # By the names of classes in the file.
    limits: Dict[Any, Dict[str, Any]] = {}  # For each model the link properties that take objects of a subclass only.


# ------------------------------------------------------------------------------------------------
# The class of the file
# ------------------------------------------------------------------------------------------------


def merged(
    family_members: Sequence[Any], props: Mapping[Any, Mapping[str, Prop]]
) -> Tuple[Dict[str, Prop], Dict[str, str]]:
    """The properties of a family in the file, and the names of Python by those of the file. `props`: those of each
    class."""
    base = family_members[0]
    found: Dict[str, Prop] = dict(props[base])
    names = {made.column: made.name for made in base._fields.values()}
    owners: Dict[str, Any] = dict.fromkeys(found, base)
    kind = found[base._fields[base._type_name].column]
    if kind.type is not str or kind.collection or kind.optional:
        raise SchemaError(f"{base.__name__}.{base._type_name}: the type property is a str, not {kind}")
    for model in family_members[1:]:
        for made in own_fields(model):
            prop, column = props[model][made.column], made.column
            if column in found:
                _check_same(owners[column], names[column], props[owners[column]][column], model, made, prop)
            elif made.name in names.values():
                other = next(one for one, name in names.items() if name == made.name)
                text = f"{owners[other].__name__}.{made.name} and {model.__name__}.{made.name}"
                raise SchemaError(f"{text} have different names in the file: {other!r} and {column!r}")
            else:
                owners[column], names[column] = model, made.name
            found[column] = _nullable(prop, found.get(column), owners[column] is base)
    return found, names


def _nullable(prop: Prop, known: Optional[Prop], is_of_base: bool) -> Prop:
    made = Prop._from_facts(prop._facts("", False))
    made.type = prop.type
    made.optional = prop.optional or not (prop.collection or is_of_base)
    made.indexed = prop.indexed or (known is not None and known.indexed)
    made.fulltext = prop.fulltext or (known is not None and known.fulltext)
    return made


def _check_same(owner: Any, name: str, one: Prop, model: Any, made: Any, prop: Prop) -> None:
    """SchemaError if two declarations of a property in the classes of a family cannot be one property of the file."""
    both = f"{owner.__name__}.{name} and {model.__name__}.{made.name}"
    if name != made.name:
        raise SchemaError(f"{both} have the same name in the file, {made.column!r}")
    is_exact = prop.collection or owner._base is owner
    same = (one.type, one.collection) == (prop.type, prop.collection) and (
        not is_exact or one.optional == prop.optional
    )
    if not same or owner._fields[name]._kind() != made._kind():
        shown = _python_type(one, owner._fields[name]), _python_type(prop, made)
        raise SchemaError(
            f"{both} are one property of the file, and have different types: {shown[0]} and {shown[1]}",
            hint="Give one of them another name.",
        )


def _python_type(prop: Prop, made: Any) -> str:
    kind = made._kind()
    return str(prop) if kind is None else kind.type.__name__


def backlinks(family_members: Sequence[Any], sources: Mapping[Any, Sequence[Tuple[Any, Any]]]) -> List[Tuple[Any, Any]]:
    """The backlinks of all classes of a family, with the class and property of the file that each lists."""
    found: Dict[str, Tuple[Any, Any, Any]] = {}
    for model in family_members:
        for back, source in sources[model]:
            known = found.setdefault(back.name, (model, back, source))
            if known[2] != source:
                raise SchemaError(
                    f"{known[0].__name__}.{back.name} and {model.__name__}.{back.name} list different links"
                )
    return [(back, source) for _, back, source in found.values()]


def rules_of(family: Family) -> Dict[str, Any]:
    """The rules of a family, in JSON form: those of the base, and those of each subclass for its objects."""
    base = family.base
    rules = of_model(base, base._fields.values()) or {"properties": {}, "unique": [], "checks": []}
    rules["properties"] = {column: dict(own) for column, own in rules["properties"].items()}
    owners: Dict[str, Any] = {made.column: base for made in base._fields.values()}
    for model in family.members[1:]:
        for made in own_fields(model):
            _add_properties(rules["properties"], owners, model, made)
        rules["unique"] += _unique(family, model)
        rules["checks"] += _checks(family, model)
        for name, made in model._computed.items():
            known = rules.setdefault("computed", {}).setdefault(name, made.expression)
            if known != made.expression:
                raise SchemaError(
                    f"{model.__name__}.{name} is computed as {made.expression!r}, and in another class of the family as "
                    f"{known!r}: the file has one expression"
                )
    rules["subclasses"] = _subclasses(family)
    return rules


def _add_properties(properties: Dict[str, Any], owners: Dict[str, Any], model: Any, made: Any) -> None:
    """Adds the rules of a property, without its limits. Classes that share a property have the same rules for it."""
    own = {name: value for name, value in made.rules.items() if name not in _LIMITS}
    owner = owners.setdefault(made.column, model)
    known = {name: value for name, value in properties.get(made.column, {}).items() if name not in _LIMITS}
    if owner is model:
        if own:
            properties[made.column] = own
    elif known != own and (own or not issubclass(model, owner)):  # A property that is declared again keeps its rules.
        raise SchemaError(
            f"{owner.__name__}.{made.name} and {model.__name__}.{made.name} are one property of the file, "
            "and have different rules",
            hint="Give both the same rules; only limits such as min may differ.",
        )


def _unique(family: Family, model: Any) -> List[Any]:
    """The unique rules of a subclass. Each has a property of its own, which is null in other objects: these do not
    count."""
    others = [one for one in family.members if not issubclass(one, model)]
    own = {made.column for made in own_fields(model)}
    own -= {made.column for one in others for made in one._fields.values()}
    names = {made.name: made.column for made in model._fields.values()}
    found = [unique_rule(model, one, names) for one in _own(model, "unique") or ()]
    for one in found:
        if own.isdisjoint(one["properties"]) or one.get("nulls_equal"):
            raise SchemaError(
                f"{model.__name__}.Meta.unique: ({', '.join(one['properties'])}) "
                "would concern objects of other classes",
                hint=f"Such a rule has a property that only {model.__name__} declares, and no nulls_equal.",
            )
    return found


def _checks(family: Family, model: Any) -> List[Any]:
    """The checks of a subclass, in JSON form: its own, and those of the classes above it except the base. They concern
    this type only, and have its name: programs that know other subclasses declare the same checks for it."""
    if model._is_abstract:
        return []
    found: Dict[str, List[str]] = {}
    at_call: Set[str] = set()
    for one in reversed(model.__mro__):
        if getattr(one, "_base", None) is not None and one is not family.base:
            for name, condition, is_at_call in _own_checks(one):
                found.setdefault(name, []).append(condition)
                at_call.update([name] if is_at_call else [])
    column, text = family.base._fields[family.base._type_name].column, model._type_text
    return [
        {
            "name": f"{text}: {name}",
            "condition": f"(NOT {column} == {_quoted(text)}) OR ({_all(conditions)})",
            **({"at": "call"} if name in at_call else {}),
        }
        for name, conditions in found.items()
    ]


def _all(conditions: Sequence[str]) -> str:
    return conditions[0] if len(conditions) == 1 else " AND ".join(f"({one})" for one in conditions)


def _own_checks(model: Any) -> Iterator[Tuple[str, str, bool]]:
    """Name and condition of each check that a subclass declares itself, and whether each call is tested."""
    for made in own_fields(model):
        for name, limit in made.rules.items():
            if name in _LIMITS:
                text = _LIMITS[name].format(
                    made.column, "" if name == "required" else _number(model, made, name, limit)
                )
                yield f"{made.column}.{name}", text, False
    for given, condition, check in named_checks(model, _own(model, "checks") or ()):
        yield given or condition, condition, isinstance(check, dict) and check.get("at") == "call"


def _number(model: Any, made: Any, name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise SchemaError(f"{model.__name__}.{made.name}: {name} is a finite number, not {value!r}")
    return repr(value) if isinstance(value, float) else str(int(value))


def _subclasses(family: Family) -> Dict[str, Any]:
    """The key "subclasses" of the rules."""
    base = family.base
    found: Dict[str, Any] = {"by": base._fields[base._type_name].column, "classes": {}}
    if base._is_abstract:
        found["abstract"] = True
    for model in family.members[1:]:
        above = parent(model)
        known = {made.column for made in above._fields.values()}
        own = [made.column for made in own_fields(model) if made.column not in known]
        entry: Dict[str, Any] = {"extends": above._type_text, "properties": own}
        if model._is_abstract:
            entry["abstract"] = True
        found["classes"][model._type_text] = entry
    return found


# ------------------------------------------------------------------------------------------------
# In an open database
# ------------------------------------------------------------------------------------------------


class Whole(BoundClass):
    """A class of the file whose objects are of several Python classes."""

    __slots__ = ("family", "type", "classes", "of_base", "_above")

    def __init__(self, facts: c.ClassFacts, family: Family, object_type: Any, families: Families) -> None:
        base = family.base
        self.family = family
        super().__init__(facts, base, object_type, _common_limits(family, families))
        self.wrap = self._wrapped
        self.type = self.properties[base._type_name]
        self.classes: Dict[Any, Any] = {model._type_text: model for model in family.members}
        self._above: Tuple[int, Dict[str, str]] = (-1, {})
        self.of_base = Member(self, facts, base, object_type, families)
        self.views = {model: Member(self, facts, model, object_type, families) for model in family.members[1:]}
        self.views[base] = self.of_base

    @property
    def type_name(self) -> str:
        return str(self.model._type_name)

    def _python_names(self) -> Dict[str, str]:
        names: Dict[str, str] = {}
        for model in self.family.members:
            names.update(model._attributes())
        return names

    def _python_kinds(self) -> Dict[str, Any]:
        kinds: Dict[str, Any] = {}
        for model in self.family.members:
            kinds.update(model._kinds())
        return kinds

    def settable(self, name: str) -> c.PropertyFacts:
        """A property of the base: those of subclasses belong to their objects only."""
        facts = self.find(name)
        if name not in self.model._fields:
            raise NoSuchProperty(f"{self.model.__name__} has no property {name!r}{suggestion(name, self.model._fields)}")
        return facts

    def _wrapped(self, db: Any, handle: Handle, class_key: int, key: int) -> Any:
        """An object, as an instance of the class of its type."""
        return self.class_of(db, handle.read(self.type.key))._wrap(db, handle, class_key, key)

    def class_of(self, db: Any, text: Any) -> Any:
        """The Python class of a type. For a type that the program does not know it is that of the nearest class above
        it in the rules of the file, else the base."""
        try:
            return self.classes[text]
        except KeyError:
            return self._nearest(db, text)

    def _nearest(self, db: Any, text: Any) -> Any:
        known = self.above(db)
        seen: Set[Any] = set()
        while text in known and text not in self.classes and text not in seen:
            seen.add(text)
            text = known[text]
        return self.classes.get(text, self.model)

    def above(self, db: Any) -> Dict[str, str]:
        """The type above each type, in the rules of the file."""
        version = db._owner.call(c.get_version)
        if self._above[0] != version:
            found = db._owner.call(read, self.key).get("subclasses", {}).get("classes", {})
            self._above = version, {text: one["extends"] for text, one in found.items()}
        return self._above[1]

    def condition(self, db: Any, model: Any) -> str:
        """The condition, in the query language, that an object is of a class or one of its subclasses, also of those
        that only other programs know."""
        others = [
            text for text in self.above(db) if text not in self.classes and issubclass(self._nearest(db, text), model)
        ]
        return self.family.condition(model, others)

    def view(self, model: Any) -> BoundClass:
        return self.views.get(model) or next((self.views[one] for one in model.__mro__ if one in self.views), self)

    def holds(self, model: Any) -> bool:
        return model._base is self.model

    def accepts(self, bound: BoundClass) -> bool:
        return bound.key == self.key

    def of_row(self, values: Mapping[str, Any]) -> Tuple[BoundClass, Mapping[str, Any]]:
        return self.of_base.of_row(values)

    def is_type(self, facts: c.PropertyFacts) -> bool:
        return facts.key == self.type.key

    def added(self, names: Iterable[str]) -> List[Tuple[str, Any]]:
        return self.of_base.added(names)

    def type_text(self, values: Mapping[str, Any]) -> Any:
        """The type that a row of values names; None if it names none."""
        return values.get(self.type_name, values.get(self.type.name))


class Member(BoundClass):
    """One Python class of a family: its properties, and the requirements for their values."""

    __slots__ = ("whole", "text", "type", "zeros")

    def __init__(self, whole: Whole, facts: c.ClassFacts, model: Any, object_type: Any, families: Families) -> None:
        columns = {made.column for made in model._fields.values()}
        required = whole.family.required[model]
        properties = tuple(
            p._replace(flags=p.flags & ~c.NULLABLE) if p.name in required else p
            for p in facts.properties
            if p.name in columns
        )
        super().__init__(facts._replace(properties=properties), model, object_type, families.limits.get(model, {}))
        self.whole = whole
        self.name = model._type_text if model is whole.model else model.__name__
        self.text: str = model._type_text
        self.wrap = whole.wrap
        self.type = whole.type
        zeros = {
            name: model._fields[name]._zero() for name in self.properties if self.properties[name].name in required
        }
        self.zeros = {name: zero for name, zero in zeros.items() if zero is not None}

    @property
    def type_name(self) -> str:
        return self.whole.type_name

    @property
    def in_file(self) -> BoundClass:
        return self.whole

    @property
    def part(self) -> Any:
        return None if self.model is self.whole.model else self.model

    def holds(self, model: Any) -> bool:
        return issubclass(model, self.model) or issubclass(self.model, model)

    def accepts(self, bound: BoundClass) -> bool:
        return bound.key == self.key and issubclass(bound.model, self.model)

    def only(self, obj: Any) -> Any:
        return obj if isinstance(obj, self.model) else None

    def completed(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        missing = {name: zero for name, zero in self.zeros.items() if self.properties[name].name not in values}
        return {**missing, **self.without_type(values), self.type_name: self.text}

    def without_type(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        names = (self.type_name, self.type.name)
        return {name: value for name, value in values.items() if name not in names}

    def of_row(self, values: Mapping[str, Any]) -> Tuple[BoundClass, Mapping[str, Any]]:
        """The class of a row of values, this one or a subclass, and the values without those that are None because the
        row has columns of other classes."""
        whole = self.whole
        text = whole.type_text(values)
        known = {one._type_text: one for one in whole.family.members if issubclass(one, self.model)}
        model = self.model if text is None else _one(known, text, self.model.__name__)
        if model._is_abstract:
            raise UsageError(abstract_error(model))
        bound = whole.views[model]
        foreign = {name for name, value in values.items() if value is None and not bound.has(name) and whole.has(name)}
        return bound, {name: value for name, value in values.items() if name not in foreign}

    def is_type(self, facts: c.PropertyFacts) -> bool:
        return facts.key == self.type.key

    def added(self, names: Iterable[str]) -> List[Tuple[str, Any]]:
        known = {facts.name for facts in map(self.properties.get, names) if facts is not None} | set(names)
        values = {**self.zeros, self.type_name: self.text}
        if self.model._is_abstract and self.type.name not in known:
            raise UsageError(abstract_error(self.model))
        return [(name, value) for name, value in values.items() if self.properties[name].name not in known]

    def check_there(self, db: Any, handle: Any) -> bool:
        return issubclass(self.whole.class_of(db, handle.read(self.type.key)), self.model)


def uniform(bound: BoundClass, rows: Sequence[Any]) -> Optional[List[Dict[str, Any]]]:
    """Rows of new objects of several classes with the same columns. None if a row is wrong, or if the columns of the
    base differ: then they are written one by one."""
    whole = bound.in_file
    names = {facts.name: name for name, facts in whole.properties.items()}
    filled: List[Dict[str, Any]] = []
    blanks: Dict[str, Any] = {}
    try:
        for row in rows:
            one, values = bound.of_row(row)
            values = one.completed({**one.model._defaults(without=values), **values})
            if any(value is None and not one.find(name).flags & c.NULLABLE for name, value in values.items()):
                return None
            filled.append({names.get(name, name): value for name, value in values.items()})
            blanks.update(dict.fromkeys(filled[-1]))
    except (DataError, UsageError, NoSuchProperty):
        return None
    base = whole.model._fields
    if any(name in base and any(name not in row for row in filled) for name in blanks):
        return None
    blanks = {name: _BLANKS.get(whole.properties[name].collection) for name in blanks}
    return [{**blanks, **row} for row in filled]


_BLANKS: Dict[int, Any] = {c.C_LIST: (), c.C_SET: (), c.C_DICTIONARY: {}}


def _common_limits(family: Family, families: Families) -> Dict[str, Any]:
    """The link properties that take objects of the same subclass in all classes of a family."""
    found: Dict[str, Any] = {}
    for model in family.members:
        limits = families.limits.get(model, {})
        for made in model._fields.values():
            limit = limits.get(made.column)
            if found.setdefault(made.column, limit) is not limit:
                found[made.column] = None
    return found


def bound_class(facts: c.ClassFacts, models: Mapping[str, Any], object_type: Any, families: Families) -> BoundClass:
    """A class of an open database."""
    family, model = families.by_class.get(facts.name), models.get(facts.name)
    if family is not None and model is not None:
        return Whole(facts, family, object_type, families)
    return BoundClass(facts, model, object_type, families.limits.get(model, {}))


def narrowed(db: Any, results: Handle, bound: BoundClass) -> Handle:
    """Those of the results whose objects are of a class of a family, or of its subclasses."""
    if not isinstance(bound, Member) or bound.part is None:
        return results
    none, text = c.Arguments([]), bound.whole.condition(db, bound.model)
    query = results.owner.make(lib.realm_query_parse, bound.key, c.c_name(text), none.count, none.array)
    return results.make(lib.realm_results_filter, query.pointer)
