"""Conditions as Python expressions with properties of model classes.

    db[Person].where(Person.age > 30, Person.name.startswith("A"))
    db[Person].where((Person.boss.name == "Ann") | ~Person.dogs.any(Dog.age < 3))
    db[Person].sort(-Person.age, Person.boss.name)

On a model class a property is a `Path`; the attributes of a path to a link are the properties of the linked class.
Comparing a path, or calling a method such as startswith(), makes a `Condition`; &, | and ~ combine conditions. This
module only describes conditions: where() writes them in the query language, and the library evaluates them. As in the
query language, a path through several objects (lists, sets, dictionaries, backlinks) means "any of them".

A property with the name of a method of `Path` is reached by subscript: Person.dogs["count"].
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    List,
    Literal,
    NamedTuple,
    NoReturn,
    Optional,
    Protocol,
    Tuple,
    Type,
    Union,
)

from .errors import NoSuchProperty, suggestion

if TYPE_CHECKING:
    from .schema import BoundClass  # noqa: F401  (the class that a path is written for)


class Member(Protocol):
    """A property of a model class, or its backlinks."""

    @property
    def name(self) -> str: ...

    def _leads_to(self) -> Optional[Type[Any]]:
        """The model class of the objects that it holds; None if it holds no objects, or the class is not known yet."""
        ...

    def _is_many(self) -> bool:
        """Whether it holds several values or objects."""
        ...

    def _is_dictionary(self) -> bool: ...

    def _is_known(self) -> bool:
        """Whether the type of its values is known already: the class of a link may be declared later."""
        ...


class Argument(NamedTuple):
    """A value that the library compares with; for IN a list or tuple of values."""

    value: Any


class Step(NamedTuple):
    """A name in a path, and the keys and indexes in brackets after it."""

    name: str
    keys: Tuple[Union[str, int], ...] = ()

    def __str__(self) -> str:
        return self.name + "".join(f"[{key!r}]" for key in self.keys)


class Steps(NamedTuple):
    """A path: the class at which it begins, and its steps."""

    model: Type[Any]
    steps: Tuple[Step, ...]


class Each(NamedTuple):
    """A condition on the objects at the end of a path, and how many of them must meet it."""

    path: Steps
    condition: Condition
    how_many: str


Part = Union[str, Argument, Steps, Each]

# The differences that a comparison of texts ignores.
Fold = Union[bool, Literal["unicode", "accents"]]
_MARKS = {False: "", True: "[c]", "unicode": "[cu]", "accents": "[cdu]"}


def _mark(fold: Fold) -> str:
    """The mark behind an operator of the query language."""
    try:
        return _MARKS[fold]
    except (KeyError, TypeError):
        raise ValueError(f"fold is True, False, 'unicode' or 'accents', not {fold!r}") from None


class _Number:
    """Comparisons and arithmetic: the values that + - * / take are numbers, paths to numbers, and calculations."""

    __slots__ = ()

    def _as_number(self) -> Tuple[Part, ...]:
        raise NotImplementedError

    def _compared(self, operator: str, other: Any) -> Condition:
        if isinstance(other, Condition):
            raise TypeError("A property is compared with a value or another property, not with a condition")
        right: Tuple[Part, ...] = other._as_number() if isinstance(other, _Number) else (Argument(other),)
        return Condition(*self._as_number(), f" {operator} ", *right)

    def __eq__(self, other: Any) -> Condition:  # type: ignore[override]
        return self._compared("==", other)

    def __ne__(self, other: Any) -> Condition:  # type: ignore[override]
        return self._compared("!=", other)

    def __lt__(self, other: Any) -> Condition:
        return self._compared("<", other)

    def __le__(self, other: Any) -> Condition:
        return self._compared("<=", other)

    def __gt__(self, other: Any) -> Condition:
        return self._compared(">", other)

    def __ge__(self, other: Any) -> Condition:
        return self._compared(">=", other)

    def __hash__(self) -> int:
        return hash(self._as_number())

    def _with(self, operator: str, other: Any, is_left: bool = True) -> Any:
        if isinstance(other, (Condition, Descending)):
            return NotImplemented
        mine = self._as_number()
        parts: Tuple[Part, ...] = other._as_number() if isinstance(other, _Number) else (Argument(other),)
        first, second = (mine, parts) if is_left else (parts, mine)
        return Calculation("(", *first, f" {operator} ", *second, ")")

    def __add__(self, other: Any) -> Any:
        return self._with("+", other)

    def __radd__(self, other: Any) -> Any:
        return self._with("+", other, False)

    def __sub__(self, other: Any) -> Any:
        return self._with("-", other)

    def __rsub__(self, other: Any) -> Any:
        return self._with("-", other, False)

    def __mul__(self, other: Any) -> Any:
        return self._with("*", other)

    def __rmul__(self, other: Any) -> Any:
        return self._with("*", other, False)

    def __truediv__(self, other: Any) -> Any:
        return self._with("/", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with("/", other, False)


class Condition:
    """A condition on objects. & means both, | at least one, ~ not.

    bool(condition) raises TypeError, because `and`, `or`, `not`, `in`, and chained comparisons (1 < Person.age
    < 5) would use it to drop a part of the condition.
    """

    __slots__ = ("_parts",)

    def __init__(self, *parts: Part) -> None:
        self._parts = parts

    def __and__(self, other: Any) -> Condition:
        joined: Condition = self._joined(" AND ", other)
        return joined

    def __or__(self, other: Any) -> Condition:
        joined: Condition = self._joined(" OR ", other)
        return joined

    def __invert__(self) -> Condition:
        return Condition("NOT (", *self._parts, ")")

    def _joined(self, word: str, other: Any) -> Any:
        if isinstance(other, Path):
            other = other._compared("==", True)
        if not isinstance(other, Condition):
            return NotImplemented
        return Condition("(", *self._parts, ")", word, "(", *other._parts, ")")

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "A condition is neither true nor false here. Use & for and, | for or, ~ for not, each side in brackets; "
            ".in_() for in; .between() for two limits"
        )

    def __repr__(self) -> str:
        return f"<condition {_text(self._parts)}>"


class Calculation(_Number):
    """Arithmetic on properties: for update() and for conditions. Integers are divided as in C: 7 / 2 is 3."""

    __slots__ = ("_parts",)

    def __init__(self, *parts: Part) -> None:
        self._parts = parts

    def _as_number(self) -> Tuple[Part, ...]:
        return self._parts

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{self!r} has a value in each object; compare it")

    def __repr__(self) -> str:
        return f"<calculation {_text(self._parts)}>"


class Path(_Number):
    """A property of a model class, or of objects that it links to: for conditions, orderings and calculations."""

    __slots__ = ("_model", "_steps", "_member", "_many")
    __iter__: ClassVar[None] = None  # Else Python would iterate over subscripts, which never end.

    def __init__(
        self, model: Type[Any], steps: Tuple[Step, ...], member: Optional[Member], many: int = -1
    ) -> None:
        self._model = model
        self._steps = steps
        self._member = member  # The property of the last step; None if it is not known.
        self._many = many  # The index of the last step with several objects or values; -1 if no step has several.

    @classmethod
    def of(cls, model: Type[Any], member: Member) -> Path:
        """A property of a model class."""
        return cls(model, (Step(member.name),), member, 0 if member._is_many() else -1)

    # On the way

    def __getattr__(self, name: str) -> Path:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        try:
            return self._step(name)
        except NoSuchProperty as error:
            raise AttributeError(error.message) from None

    def __getitem__(self, key: Union[str, int]) -> Path:
        """After a link: a property of the linked objects, by its name. After a dictionary: the value under a key.
        After a list: the element at an index."""
        member = self._member
        if isinstance(key, str) and (member is None or not member._is_dictionary()):
            return self._step(key)
        if not isinstance(key, (str, int)) or isinstance(key, bool):
            raise TypeError(f"A path goes on with a name, a key or an index, not with a {type(key).__name__}")
        name, keys = self._steps[-1]
        many = self._many if self._many < len(self._steps) - 1 else -1
        return Path(self._model, (*self._steps[:-1], Step(name, (*keys, key))), _Inside.of(member), many)

    def _step(self, name: str) -> Path:
        member = self._member
        target = None if member is None else member._leads_to()
        if member is not None and target is None and member._is_known():
            raise NoSuchProperty(f"{self!r} links to no objects: it has no property {name!r}")
        found: Optional[Member] = None
        if target is not None:
            found = target._member(name)
            if found is None:
                raise NoSuchProperty(
                    f"{target.__name__} has no property {name!r}{suggestion(name, target._member_names())}"
                )
        many = len(self._steps) if found is not None and found._is_many() else self._many
        return Path(self._model, (*self._steps, Step(name)), found, many)

    # Comparing

    def equals(self, text: Any, *, fold: Fold = False) -> Condition:
        """Equals a text.

        fold: True to ignore the case of Latin letters as Realm does (`[c]`); "unicode" to ignore the case of all
        letters, and whether they are composed (`[cu]`); "accents" to ignore accents, too (`[cdu]`).
        """
        return self._compared("==" + _mark(fold), text)

    def startswith(self, text: Any, *, fold: Fold = False) -> Condition:
        """Begins with a text or bytes. fold: as `equals`."""
        return self._compared("BEGINSWITH" + _mark(fold), text)

    def endswith(self, text: Any, *, fold: Fold = False) -> Condition:
        """Ends with a text or bytes. fold: as `equals`."""
        return self._compared("ENDSWITH" + _mark(fold), text)

    def contains(self, value: Any, *, fold: Fold = False) -> Condition:
        """Contains a text or bytes; a list, set or dictionary contains the value or object as an element. fold: as
        `equals`."""
        if self._member is not None and self._member._is_many():
            return self.equals(value, fold=fold)
        return self._compared("CONTAINS" + _mark(fold), value)

    def like(self, pattern: Any, *, fold: Union[bool, Literal["unicode"]] = False) -> Condition:
        """Matches a pattern: * matches any text, ? any single character. fold: as `equals`, without "accents"."""
        return self._compared("LIKE" + _mark(fold), pattern)

    def matches(self, words: str) -> Condition:
        """Contains all words: "word" itself, "-word" not that word, "be*" a word that begins with "be". Needs a
        full-text index."""
        return self._compared("TEXT", words)

    def in_(self, values: Iterable[Any]) -> Condition:
        """Is one of the values; for a path with several values: at least one of them is."""
        if isinstance(values, (str, bytes, bytearray)):
            raise TypeError(f"in_() needs several values: in_([{values!r}])")
        values = list(values)
        if self._is_plain() and values and not any(isinstance(value, _Number) for value in values):
            return Condition(self._as_part(), " IN ", Argument(values))
        # For other paths IN of the query language compares with the list as a whole.
        parts: List[Part] = []
        for value in values:
            right: Tuple[Part, ...] = value._as_number() if isinstance(value, _Number) else (Argument(value),)
            parts += [" OR " if parts else "(", self._as_part(), " == ", *right]
        return Condition(*parts, ")") if parts else Condition("FALSEPREDICATE")

    def _is_plain(self) -> bool:
        """Whether the path is a single-valued property of the object itself."""
        step = self._steps[0]
        return len(self._steps) == 1 and not step.keys and self._member is not None and not self._member._is_many()

    def between(self, least: Any, most: Any) -> Condition:
        """Is from `least` to `most`, both included. TypeError for a path with several objects or values: use any()."""
        if self._many >= 0:
            raise TypeError(f"{self!r} is several values; of objects: any(… .between({least!r}, {most!r}))")
        if isinstance(least, _Number) or isinstance(most, _Number):
            joined: Condition = (self >= least) & (self <= most)
            return joined
        return Condition(self._as_part(), " BETWEEN {", Argument(least), ", ", Argument(most), "}")

    def is_none(self) -> Condition:
        """Is None."""
        return self._compared("==", None)

    # A property of type bool is itself a condition

    def __and__(self, other: Any) -> Condition:
        joined: Condition = self._compared("==", True) & other
        return joined

    def __or__(self, other: Any) -> Condition:
        joined: Condition = self._compared("==", True) | other
        return joined

    def __invert__(self) -> Condition:
        return ~self._compared("==", True)

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{self!r} has a value in each object; in a condition use &, | and ~ for and, or, not")

    # Several objects or values

    def any(self, condition: Any) -> Condition:
        """At least one of the objects meets the condition: Person.dogs.any(Dog.age > 3)."""
        return self._each(condition, ".@count > 0")

    def all(self, condition: Any) -> Condition:
        """All objects meet the condition; also true without objects."""
        return self._each(~_condition(condition), ".@count == 0")

    def none(self, condition: Any) -> Condition:
        """No object meets the condition."""
        return self._each(condition, ".@count == 0")

    def _each(self, condition: Any, count: str) -> Condition:
        if self._many < 0 and self._member is not None and self._member._is_known():
            raise TypeError(f"{self!r} is one value: compare it")
        return Condition(Each(self._as_part(), _condition(condition), count))

    def count(self) -> Path:
        """The number of elements of a collection: Person.dogs.count() > 2."""
        return Path(self._model, (*self._steps, Step("@count")), _Inside.of(self._member))

    def min(self) -> Path:
        """The smallest of the values: Person.dogs.age.min() > 2."""
        return self._aggregate("@min")

    def max(self) -> Path:
        """The largest of the values."""
        return self._aggregate("@max")

    def sum(self) -> Path:
        """The sum of the values."""
        return self._aggregate("@sum")

    def mean(self) -> Path:
        """The mean of the values."""
        return self._aggregate("@avg")

    def _aggregate(self, word: str) -> Path:
        at = self._many + 1
        if at == 0:
            if self._member is not None and self._member._is_known():
                raise TypeError(f"{self!r} is one value in each object")
            at = len(self._steps) - 1
        return Path(self._model, (*self._steps[:at], Step(word), *self._steps[at:]), _Inside.of(self._member))

    # Ordering

    def __neg__(self) -> Descending:
        return Descending(self)

    # For the rest of the package

    def _as_part(self) -> Steps:
        return Steps(self._model, self._steps)

    def _as_number(self) -> Tuple[Part, ...]:
        return (self._as_part(),)

    def __repr__(self) -> str:
        return ".".join([self._model.__name__, *map(str, self._steps)])


class Descending(NamedTuple):
    """A path as a key for sort(): the largest values come first."""

    path: Path


class _Inside(NamedTuple):
    """An element of a collection: one value, or one object of the class that the collection holds."""

    target: Optional[Type[Any]]
    name: str = ""

    @classmethod
    def of(cls, member: Optional[Member]) -> Optional[Member]:
        return None if member is None else cls(member._leads_to(), member.name)

    def _leads_to(self) -> Optional[Type[Any]]:
        return self.target

    def _is_many(self) -> bool:
        return False

    def _is_dictionary(self) -> bool:
        return False

    def _is_known(self) -> bool:
        return self.target is not None


def _condition(value: Any) -> Condition:
    if isinstance(value, Path):
        return value._compared("==", True)
    if isinstance(value, Condition):
        return value
    raise TypeError(
        f"A condition is made of properties of models, as in Dog.age > 3, not of {type(value).__name__}. Properties that "
        "are called like a method of paths are reached by subscript: Person.dogs['count'] > 3"
    )


def conjunction(conditions: Iterable[Any]) -> Condition:
    """A condition that objects meet if they meet all conditions."""
    all_of_them = [_condition(value) for value in conditions]
    joined = all_of_them[0]
    for condition in all_of_them[1:]:
        joined = joined & condition
    return joined


def _text(parts: Iterable[Part]) -> str:
    written: List[str] = []
    for part in parts:
        if isinstance(part, Argument):
            written.append(repr(part.value))
        elif isinstance(part, Steps):
            written.append(".".join([part.model.__name__, *map(str, part.steps)]))
        elif isinstance(part, Each):
            written.append(f"{_text([part.path])}: {_text(part.condition._parts)}{part.how_many}")
        else:
            written.append(part)
    return "".join(written)
