"""Prepares texts of queries and orderings for the library: encodes arguments, replaces names that only
Python knows by the stored ones, and adds the position in the text to errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from contextlib import contextmanager
from typing import Any, List, NamedTuple, Optional, Tuple, Union

from . import _marshal as c
from ._handle import Handle, Owner
from ._library import lib
from ._session import Session
from ._store import located
from ._words import CLAUSES, DIRECTIONS, KEYWORDS
from .errors import DataError, QueryError, TypeMismatch
from .expressions import Argument, Calculation, Condition, Descending, Each, Part, Path, Steps
from .kinds import comparable
from .schema import BoundClass
from .values import RawTimestamp

# A text constant; "$0" or "$K0"; "$name".
_TOKEN = re.compile(
    r""" "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' """
    r"""| (?<![\w$]) \$ (?: K?(?P<number>[0-9]+) (?!\w) | (?P<name>[^\W\d]\w*) )""",
    re.VERBOSE | re.DOTALL,
)
_ORDERING = re.compile(
    rf""" "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | \b(?P<word>{'|'.join(CLAUSES)}) \s* \( """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_BLANKS = {" ": "\\ ", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Query:
    """A text with its arguments, ready for the library."""

    __slots__ = ("text", "encoded", "arguments")

    def __init__(self, db: Session, text: str, values: Tuple[Any, ...], named: Mapping[str, Any]) -> None:
        if not isinstance(text, str):
            raise TypeError(f"A query is a text, not {type(text).__name__}")
        self.text = _numbered(text, len(values), list(named))
        self.encoded = _c_text(self.text)
        places = [*(f"${i}" for i in range(len(values))), *(f"${name}" for name in named)]
        self.arguments = c.Arguments(
            [_argument(db, place, value) for place, value in zip(places, (*values, *named.values()))]
        )

    @property
    def has_ordering(self) -> bool:
        """Whether the text has SORT, DISTINCT or LIMIT in it."""
        return any(match["word"] for match in _ORDERING.finditer(self.text))

    def parse(self, owner: Owner, class_key: int) -> Handle:
        """The query on all objects of a class."""
        with positioned(self.text):
            return owner.make(
                lib.realm_query_parse,
                class_key,
                self.encoded,
                self.arguments.count,
                self.arguments.array,
            )

    def append_to(self, query: Handle) -> Handle:
        """The query `query` AND this one, followed by the ordering of this one."""
        with positioned(self.text):
            return query.make(
                lib.realm_query_append_query,
                self.encoded,
                self.arguments.count,
                self.arguments.array,
            )


def written(db: Session, bound: Optional[BoundClass], condition: Condition) -> Tuple[str, Tuple[Any, ...]]:
    """The text of a condition on the objects of a class, and the arguments of the text."""
    writer = _Writer(db)
    text = writer.text(condition._parts, bound, "")
    return text, tuple(writer.values)


class Assignments:
    """The changes of update() as a text, with its arguments."""

    def __init__(self, db: Session, bound: BoundClass) -> None:
        self._db = db
        self._bound = bound
        self._writer = _Writer(db)
        self._parts: List[str] = []

    def add(self, name: str, value: Union[Path, Calculation]) -> None:
        """A property, by its name in the file, gets the value of an expression."""
        self._parts.append(f"{escaped(name)} = {self._writer.text(value._as_number(), self._bound, '')}")

    def add_encoded(self, name: str, value: c.Encoded) -> None:
        """A property gets a value that is encoded for it."""
        self._parts.append(f"{escaped(name)} = ${len(self._writer.values)}")
        self._writer.values.append(_Ready(value))

    @property
    def text(self) -> str:
        return ", ".join(self._parts)

    @property
    def encoded(self) -> bytes:
        return _c_text(self.text)

    @property
    def arguments(self) -> c.Arguments:
        return c.Arguments(
            [
                value.encoded if isinstance(value, _Ready) else _argument(self._db, f"${index}", value)
                for index, value in enumerate(self._writer.values)
            ]
        )


class _Ready(NamedTuple):
    encoded: c.Encoded


def equalities(db: Session, bound: Optional[BoundClass], values: Mapping[Any, Any]) -> Tuple[str, Tuple[Any, ...]]:
    """The text of the condition that properties have values, or one of several values, and its arguments."""
    parts = [
        f"{stored_path(db, bound, path)} {'IN' if _is_many(value) else '=='} ${number}"
        for number, (path, value) in enumerate(values.items())
    ]
    return " AND ".join(parts) or "TRUEPREDICATE", tuple(values.values())


class _Writer:
    """Writes conditions as text; `values` are those of $0, $1 and so on."""

    def __init__(self, db: Session) -> None:
        self.db = db
        self.values: List[Any] = []
        self.depth = 0

    def text(self, parts: Tuple[Part, ...], bound: Optional[BoundClass], before: str) -> str:
        return "".join(part if isinstance(part, str) else self.part(part, bound, before) for part in parts)

    def part(self, part: Any, bound: Optional[BoundClass], before: str) -> str:
        """The text of a part. `before` is put in front of each path: the variable of a subquery and a point, or
        nothing."""
        if isinstance(part, Argument):
            self.values.append(part.value)
            return f"${len(self.values) - 1}"
        if isinstance(part, Each):
            path, behind = self.path(part.path, bound, before)
            self.depth += 1
            name = f"$each{self.depth}"
            inner = self.text(part.condition._parts, behind, f"{name}.")
            self.depth -= 1
            return f"SUBQUERY({path}, {name}, {inner}){part.how_many}"
        return self.path(part, bound, before)[0]

    def path(self, path: Steps, bound: Optional[BoundClass], before: str) -> Tuple[str, Optional[BoundClass]]:
        """The text of a path, and the class of the objects at its end."""
        _check_class(bound, path)
        names, behind = _stored_names(self.db, bound, [step.name for step in path.steps])
        keys = [[Argument(key) for key in step.keys] for step in path.steps]
        after = ["".join(f"[{self.part(key, None, '')}]" for key in step) for step in keys]
        return before + ".".join(escaped(name) + text for name, text in zip(names, after)), behind


def sort_text(
    db: Session,
    bound: Optional[BoundClass],
    keys: Tuple[Any, ...],
    is_descending: bool,
    locale: Optional[str] = None,
) -> str:
    """The ordering in the library's form, from "age", "-age", ("age", "desc") or a list of these."""
    if locale is not None and not re.fullmatch("[A-Za-z0-9_=@;-]{1,100}", locale):
        raise QueryError(f"{locale!r} is no language to sort by")
    collation = "" if locale is None else f" COLLATE '{locale}'"
    parts = []
    for key in _flat(keys):
        path: Any
        if isinstance(key, Descending):
            path, direction = key.path, "DESC"
        elif isinstance(key, tuple):
            path, direction = _pair(key)
        elif isinstance(key, str) and key.startswith("-"):
            path, direction = key[1:], "DESC"
        else:
            path, direction = key, "DESC" if is_descending else "ASC"
        parts.append(f"{stored_path(db, bound, path)}{collation} {direction}")
    if not parts:
        raise TypeError("sort() needs the name of a property")
    return ", ".join(parts)


def distinct_text(db: Session, bound: Optional[BoundClass], paths: Tuple[Any, ...]) -> str:
    texts = [stored_path(db, bound, path) for path in _flat(paths)]
    if not texts:
        raise TypeError("distinct() needs the name of a property")
    return ", ".join(texts)


def ordered(function: Any, results: Handle, text: str) -> Handle:
    """Sorted or distinct results."""
    with positioned(text):
        return results.make(function, _c_text(text))


@contextmanager
def positioned(text: str) -> Iterator[None]:
    """Adds the text, and the position in it, to a QueryError that the block raises."""
    try:
        yield
    except QueryError as error:
        error.text = text
        match = re.search(r"\(at byte ([0-9]+)\)$", error.message)
        if match:
            error.position = len(text.encode("utf-8")[: int(match[1])].decode("utf-8", "ignore"))
        raise


# ------------------------------------------------------------------------------------------------
# Arguments
# ------------------------------------------------------------------------------------------------


def _numbered(text: str, count: int, names: List[str]) -> str:
    """The text with numbers in place of named arguments; they are numbered after `count` positional ones. The
    replacement has the length of the name, so that positions in errors are also right for the original text."""
    used = set()
    highest = -1

    def number(match: "re.Match[str]") -> str:
        nonlocal highest
        if match["number"]:
            highest = max(highest, int(match["number"]))
        elif match["name"] in names:
            used.add(match["name"])
            return f"${count + names.index(match['name'])}".ljust(len(match[0].encode("utf-8")))
        return match[0]

    numbered = _TOKEN.sub(number, text)
    if highest + 1 < count:
        raise QueryError(
            f"The query has {_arguments(count)}, but its text uses {highest + 1}", code=3015, text=text
        )
    missing = [f"${name}" for name in names if name not in used]
    if missing:
        raise QueryError(f"The text of the query has no {', '.join(missing)}", code=3015, text=text)
    return numbered


def moved(text: str, count: int, by: int) -> str:
    """A text with `count` arguments as a part of a longer one: $0 becomes $`by`, and so on."""
    numbered = _numbered(text, count, [])
    return _TOKEN.sub(lambda match: f"${int(match['number']) + by}" if match["number"] else match[0], numbered)


_BRACKET = re.compile(
    r""" "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | (?P<sign>[(){},\[\]]) | (?<![\w\\]) (?P<word>AS) (?!\w)""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)


def alone(text: str, *, is_value: bool = True) -> str:
    """The text, which becomes a part of a longer one. QueryError if it would be more than one value or condition: if it
    closes a bracket that it does not open, or, for a value, has a comma or AS outside of brackets."""
    depth = 0
    for match in _BRACKET.finditer(text):
        sign = match["sign"]
        if sign and sign in "([{":
            depth += 1
        elif sign and sign in ")]}":
            depth -= 1
        elif (sign or match["word"]) and depth == 0 and is_value:
            depth = -1
        if depth < 0:
            what = "value" if is_value else "condition"
            raise QueryError(f"{text!r} is not one {what}", code=3015, text=text, position=match.start())
    return text


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def _argument(db: Session, place: str, value: Any) -> Union[c.Encoded, List[c.Encoded]]:
    try:
        return [_single(db, v) for v in value] if _is_many(value) else _single(db, value)
    except DataError as error:
        raise located(error, place)


def _single(db: Session, value: Any) -> c.Encoded:
    if _is_many(value) or isinstance(value, Mapping):
        raise TypeMismatch(f"A {type(value).__name__} cannot be compared with here")
    if hasattr(value, "_realm_class") and getattr(value, "_db", None) is None:
        raise DataError(f"The {type(value).__name__} is in no database yet", hint="Add it: db.add(obj).")
    return c.encode(db._plain(comparable(value)), c.P_MIXED)


def _is_many(value: object) -> bool:
    return isinstance(value, (Sequence, Set, ValuesView)) and not isinstance(
        value, (str, bytes, bytearray, memoryview, RawTimestamp)
    )


# ------------------------------------------------------------------------------------------------
# Paths
# ------------------------------------------------------------------------------------------------


def _flat(keys: Tuple[Any, ...]) -> List[Any]:
    return list(keys[0]) if len(keys) == 1 and isinstance(keys[0], list) else list(keys)


def _pair(key: Any) -> Tuple[Any, str]:
    path, direction = key if len(key) == 2 else (key, None)
    found = DIRECTIONS.get(direction.lower()) if isinstance(direction, str) else None
    if found is None:
        raise TypeError(f'A pair for sort() is (property, "asc") or (property, "desc"), not {key!r}')
    return path, found


def stored_path(db: Session, bound: Optional[BoundClass], path: Any) -> str:
    """A path with the names of the file. Unknown names stay as they are: the library reports them."""
    if isinstance(path, Path):
        path = ".".join(step.name for step in _unkeyed(bound, path).steps)
    if not isinstance(path, str):
        raise TypeError(f"Names of properties are texts, not {type(path).__name__}")
    parts = [part.partition("[") for part in path.split(".")]
    names, _ = _stored_names(db, bound, [name for name, _, _ in parts])
    return ".".join(escaped(name) + bracket + after for name, (_, bracket, after) in zip(names, parts))


def _origin(bound: BoundClass, name: str) -> Optional[str]:
    """The class of the objects in the backlinks with this name; None if the model has no such backlinks, or does
    not know their class."""
    member = None if bound.model is None else bound.model._member(name)
    model = None if member is None else member._leads_to()
    return None if model is None else model._realm_class


def check_class(bound: BoundClass, property: Any) -> None:
    """QueryError for a path of another class."""
    if isinstance(property, Path):
        _check_class(bound, property._as_part())


def _check_class(bound: Optional[BoundClass], path: Steps) -> None:
    """QueryError if a path begins with a property of another class than the queried one."""
    if bound is not None and not bound.holds(path.model):
        raise QueryError(
            f"{path.model.__name__}.{path.steps[0].name} is no property of {bound.name}",
            hint="Conditions and orders are made of the properties of the class that is asked.",
        )


def _unkeyed(bound: Optional[BoundClass], path: Path) -> Steps:
    """The steps of a path for an order. QueryError if the path has keys or indexes."""
    steps = path._as_part()
    _check_class(bound, steps)
    if any(step.keys for step in steps.steps):
        raise QueryError(f"{path!r}: an order is made of properties, not of elements of collections")
    return steps


def _stored_names(
    db: Session, bound: Optional[BoundClass], names: Iterable[str]
) -> Tuple[List[str], Optional[BoundClass]]:
    """The names of the file, and the class of the objects at the end of the path; None if that is not known."""
    found = []
    for name in names:
        stored = name
        if bound is not None and not name.startswith("@"):
            facts = bound.properties.get(name) or bound.columns.get(name)
            target = _origin(bound, name) if facts is None else facts.target
            bound = db._by_name.get(target) if target else None
            stored = name if facts is None else facts.name
            if stored.startswith("@"):
                raise QueryError(f"{stored!r} is no name of a property in the query language")
        found.append(stored)
    return found, bound


def escaped(name: str) -> str:
    """A name as the query language writes it: a backslash makes any character a part of it."""
    if name.startswith("@"):
        return name  # An operation, such as @count or @links.
    found = "".join(_escaped_letter(letter, index) for index, letter in enumerate(name))
    if name.lower() not in KEYWORDS and not _LIKE_A_CONSTANT.fullmatch(name):
        return found
    # A word of the language: a backslash before any letter but those that stand for blanks.
    at = next((index for index, letter in enumerate(found) if letter not in "nrt\\"), 0)
    return f"{found[:at]}\\{found[at:]}"


_LIKE_A_CONSTANT = re.compile(r"O[0-9]+|\$K?[0-9]+", re.ASCII)


def _escaped_letter(letter: str, index: int) -> str:
    if letter in _BLANKS:
        return _BLANKS[letter]
    if letter >= "\x80" or letter in "_$" or letter.isalpha() or (index and (letter == "-" or letter.isdigit())):
        return letter
    return f"\\{letter}"


def _c_text(text: str) -> bytes:
    try:
        return c.c_name(text)
    except DataError as error:
        raise QueryError(error.message, code=3008, text=text, position=max(text.find("\0"), 0)) from None
