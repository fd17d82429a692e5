"""The tables that SQL sees: one for each class, and its columns; see docs/sql.md."""

from __future__ import annotations

from enum import Enum
from itertools import islice
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set

from . import _arrow
from . import _marshal as c
from ._session import Session
from ._sql_values import date_value, decimal_text, object_id_text, plain_value, uuid_text
from .errors import LimitExceeded
from .schema import BoundClass
from .values import Float32

ROWID = "rowid"  # The column that has the keys of the objects.


class Kind(Enum):
    """What the values of a column are."""

    INT = "int"
    BOOL = "bool"
    REAL = "real"
    TEXT = "text"
    BLOB = "blob"
    DATE = "date"
    DECIMAL = "decimal"
    OBJECT_ID = "object id"
    UUID = "uuid"
    ANY = "any"
    JSON = "json"  # A collection.


_KINDS = {
    c.P_INT: Kind.INT,
    c.P_BOOL: Kind.BOOL,
    c.P_STRING: Kind.TEXT,
    c.P_BINARY: Kind.BLOB,
    c.P_TIMESTAMP: Kind.DATE,
    c.P_FLOAT: Kind.REAL,
    c.P_DOUBLE: Kind.REAL,
    c.P_DECIMAL: Kind.DECIMAL,
    c.P_OBJECT_ID: Kind.OBJECT_ID,
    c.P_UUID: Kind.UUID,
}

# The texts of values that the library's columns have in another form.
TEXTS: Dict[Kind, Callable[[Any], Any]] = {
    Kind.DECIMAL: decimal_text,
    Kind.OBJECT_ID: object_id_text,
    Kind.UUID: uuid_text,
}


class Column(NamedTuple):
    """A column of a table."""

    name: str
    kind: Kind
    path: Optional[str]  # Its name as a column of the library; None: its values are read object by object.
    facts: Optional[c.PropertyFacts]  # None for the keys of the objects.

    @property
    def is_link(self) -> bool:
        return self.facts is not None and self.facts.type == c.P_OBJECT


KEYS = Column(ROWID, Kind.INT, "@key", None)


class Table(NamedTuple):
    """A table, which shows a class."""

    name: str
    class_name: str
    columns: Sequence[Column]


def fold(name: str) -> str:
    """A name as SQLite compares it: it ignores the case of ASCII letters."""
    return name.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def tables(db: Session) -> List[Table]:
    """The tables of all classes of a database."""
    found: List[Table] = []
    for name, bound in db._by_name.items():
        same = sum(fold(other.class_name) == fold(name) for other in found)
        mark = "_" if fold(name).startswith("sqlite_") else ""
        found.append(Table(mark + name + "_" * same, name, _columns(db, bound)))
    return found


def _columns(db: Session, bound: BoundClass) -> List[Column]:
    found: List[Column] = []
    taken: Set[str] = set()
    for facts in bound.columns.values():
        if facts.type == c.P_LINKING_OBJECTS:
            continue
        name = facts.name or "_"
        while fold(name) in taken:
            name += "_"
        taken.add(fold(name))
        found.append(_column(db, bound, name, facts))
    return found


def _column(db: Session, bound: BoundClass, name: str, facts: c.PropertyFacts) -> Column:
    if facts.collection != c.C_NONE:
        return Column(name, Kind.JSON, None, facts)
    path: Optional[str] = facts.public_name or facts.name
    same = [other for other in bound.columns.values() if path in (other.name, other.public_name)]
    if not path or path[0] == "@" or "." in path or len(same) > 1:
        path = None
    if facts.type != c.P_OBJECT:
        kind = _KINDS.get(facts.type, Kind.ANY)
        return Column(name, kind, None if kind is Kind.ANY else path, facts)
    target = db._by_name.get(facts.target)
    if target is None:  # The database shows the class of the link only.
        return Column(name, Kind.INT, None, facts)
    primary = None if target.schema.embedded else target.primary_key
    if primary is None:
        return Column(name, Kind.INT, None if path is None else f"{path}.@key", facts)
    return Column(name, _KINDS[primary.type], path, facts)


# ------------------------------------------------------------------------------------------------
# Reading
# ------------------------------------------------------------------------------------------------


def with_far_dates(rows: Any, columns: Iterable[Column]) -> List[Column]:
    """The columns; those with dates that the library's columns cannot express are read object by object."""
    return [column._replace(path=None) if has_far_dates(rows, column) else column for column in columns]


def has_far_dates(rows: Any, column: Column) -> bool:
    """Whether a column has dates before 1677 or after 2262."""
    if column.kind is not Kind.DATE or column.path is None:
        return False
    try:
        _arrow.scan(rows._rows_handle(), column.path)
    except LimitExceeded:
        return True
    return False


def read_objects(rows: Any, columns: Sequence[Column]) -> Iterator[List[Any]]:
    """The values of columns that are read object by object, as `objects` and `collections` have them: a list for each
    object."""
    wanted = [column.facts._replace(kind=None) for column in columns if column.facts is not None]
    for row in rows.snapshot():
        yield [_of_singles(row._read(facts)) if _has_singles(facts) else row._read(facts) for facts in wanted]


def _has_singles(facts: c.PropertyFacts) -> bool:
    return facts.type == c.P_FLOAT and facts.collection != c.C_NONE


def _of_singles(view: Any) -> Any:
    """A collection of numbers of single precision; its own elements are plain floats."""

    def single(value: Any) -> Any:
        return None if value is None else Float32(value)

    if hasattr(view, "items"):
        return {key: single(value) for key, value in view.items()}
    return [single(value) for value in view]


def pages(rows: Any, columns: Sequence[Column]) -> Iterator[List[List[Any]]]:
    """The columns of all rows, page by page, as values of SQLite. The first list of a page has the keys."""
    handle = rows._rows_handle()
    streamed = [KEYS, *(column for column in columns if column.path is not None)]
    slow = [column for column in columns if column.path is None]
    names = [column.path or "" for column in streamed]
    objects = read_objects(rows, slow) if slow else None
    for page in _arrow.pages(handle, names, _arrow.shapes(handle, names)):
        keys, *fast = [_stored(column, values) for column, values in zip(streamed, page)]
        made: List[List[Any]] = [[] for _ in slow]
        for values in islice(objects, len(keys)) if objects is not None else ():
            for into, value in zip(made, values):
                into.append(plain_value(value))
        fast_ones, slow_ones = iter(fast), iter(made)
        yield [keys, *(next(slow_ones if column.path is None else fast_ones) for column in columns)]


def _stored(column: Column, values: List[Any]) -> List[Any]:
    text = date_value if column.kind is Kind.DATE else TEXTS.get(column.kind)
    return values if text is None else [None if value is None else text(value) for value in values]
