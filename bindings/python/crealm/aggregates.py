"""Aggregates (counts, sums, means, least and largest values) for groups of objects.

    from crealm.aggregates import count, max, mean

    db[Trip].group_by("owner.name").agg(trips=count(), longest=max("km"), usual=mean(Trip.km))
    [{"owner.name": "Ann", "trips": 2, "longest": 12.5, "usual": 10.25}, …]

    db[Trip].group_by(year="year(at)").having("trips > 1").order_by("-trips").limit(10).agg(trips=count())

A column is the name of a property, a path over single links (see `columns`), or a text in the query language with a
bracket or an operator in it: "year(at)", "price * count". Objects with None form a separate group, and so do objects with
not-a-number. Grouping by a collection counts an object in the group of each element. A link is the primary key of its
object, or the key of the object if its class has no primary key. The groups are in the order of their first objects
unless order_by() says otherwise. group_by() without columns makes one group of all objects, even if there are none.

    count()              the number of objects
    count("age")         the number of objects with a value
    count_distinct("age")  the number of different values
    sum("age")           the sum: an int of any size, a float or a Decimal; zero without numbers
    mean("age")          the mean: a float, or a Decimal for decimals and Any; None without numbers
    min("age")           the smallest value, of numbers, points in time, texts and so on; None without values
    max("age")           the largest value
    median("age")        the middle number, or the mean of the two in the middle; None without numbers
    quantile("age", 0.9) the number below which nine tenths are, interpolated between two neighbours
    stddev("age")        the standard deviation of a sample; None for fewer than two numbers
    variance("age")      its square
    first("age")         the value of the first object, in the order of the objects; last("age") of the last

Sums, means and extremes ignore None and not-a-number. The library computes the groups in one call.
"""

from __future__ import annotations

import operator
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Protocol, Sequence, Tuple

from . import _arrow
from . import _marshal as c
from ._handle import Handle
from ._query import Query, alone, escaped, moved, positioned, stored_path
from ._session import Session
from ._shown import ROWS, counted, table
from .columns import column_name
from .errors import DataError, NotSupportedError, UsageError
from .schema import BoundClass

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]
    import polars
    import pyarrow  # type: ignore[import-untyped, unused-ignore]

# A text in the query language, and no name of a property.
_COMPUTED = re.compile(r"[(*/+\[]| - ")
_NUMBERS = (c.P_INT, c.P_DOUBLE, c.P_FLOAT, c.P_DECIMAL, c.P_MIXED)
_OF_NUMBERS = ("sum", "avg", "median", "quantile", "stddev", "variance")


class Aggregate(NamedTuple):
    """An argument of agg(): count(), sum("age") and so on."""

    function: str
    column: Any  # None for count() of objects.
    fraction: Optional[float] = None  # Of a quantile.


def count(column: Any = None) -> Aggregate:
    """The number of objects; with a column, the number of its values that are not None."""
    return Aggregate("count", column)


def count_distinct(column: Any) -> Aggregate:
    """The number of different values of a column; None is not counted."""
    return Aggregate("count_distinct", column)


def sum(column: Any) -> Aggregate:
    """The sum of a column of numbers."""
    return Aggregate("sum", column)


def mean(column: Any) -> Aggregate:
    """The mean of a column of numbers."""
    return Aggregate("avg", column)


def min(column: Any) -> Aggregate:
    """The smallest value of a column."""
    return Aggregate("min", column)


def max(column: Any) -> Aggregate:
    """The largest value of a column."""
    return Aggregate("max", column)


def median(column: Any) -> Aggregate:
    """The middle number of a column, or the mean of the two in the middle, as a float."""
    return Aggregate("median", column)


def quantile(column: Any, fraction: float) -> Aggregate:
    """The number at a fraction of the sorted numbers of a column, as a float, interpolated between two neighbours.

    fraction: 0 for the smallest number to 1 for the largest; DataError for another.
    """
    number = float(fraction)
    if not 0 <= number <= 1:
        raise DataError(f"quantile(): {fraction!r} is not between 0 and 1")
    return Aggregate("quantile", column, number)


def stddev(column: Any) -> Aggregate:
    """The standard deviation of a column of numbers, as that of a sample (n - 1)."""
    return Aggregate("stddev", column)


def variance(column: Any) -> Aggregate:
    """The variance of a column of numbers, as that of a sample (n - 1)."""
    return Aggregate("variance", column)


def first(column: Any) -> Aggregate:
    """The value of the first object, in the order of the objects."""
    return Aggregate("first", column)


def last(column: Any) -> Aggregate:
    """The value of the last object, in the order of the objects."""
    return Aggregate("last", column)


class Rows(Protocol):
    """The objects that are grouped."""

    @property
    def _handle(self) -> Handle: ...

    @property
    def _db(self) -> Session: ...

    def _facts_of(self, column: str) -> Optional[c.PropertyFacts]: ...

    def _row_class(self) -> Optional[BoundClass]: ...


class Groups(List[Dict[str, Any]]):
    """The result of agg(): a list with a dictionary for each group."""

    def to_arrow(self) -> "pyarrow.Table":
        """A table of pyarrow."""
        import pyarrow

        return pyarrow.Table.from_pylist(list(self))

    def to_pandas(self) -> "pandas.DataFrame":
        """A DataFrame of pandas."""
        import pandas

        return pandas.DataFrame(list(self))

    def to_polars(self) -> "polars.DataFrame":
        """A DataFrame of polars."""
        import polars

        return polars.DataFrame(list(self))

    def _repr_html_(self) -> str:
        """A table of the first groups, for Jupyter."""
        names = list(self[0]) if self else []
        rows = [[group.get(name) for name in names] for group in self[:ROWS]]
        return table(counted(len(self), "group"), names, rows, len(self) - len(rows))


class Grouping:
    """The result of group_by(): objects and the columns that they are grouped by. Its methods return a new one."""

    __slots__ = ("_rows", "_keys", "_having", "_clauses")

    def __init__(self, rows: Rows, columns: Sequence[Any], named: Dict[str, Any]) -> None:
        self._rows = rows
        names = [column_name(column) for column in columns]
        self._keys: Dict[str, str] = dict(zip(names, names))
        self._keys.update((name, column_name(column)) for name, column in named.items())
        self._having: List[Tuple[str, Tuple[Any, ...]]] = []
        self._clauses: List[str] = []

    def _changed(self) -> Grouping:
        made = Grouping(self._rows, (), {})
        made._keys, made._having, made._clauses = self._keys, list(self._having), list(self._clauses)
        return made

    def having(self, condition: str, *values: Any) -> Grouping:
        """Only the groups that meet a condition on the columns of the result: having("n > $0 AND city != NULL", 3).

        condition: a text in the query language; its names are those of the columns. A second condition must hold, too.
        values:    for $0, $1 and so on. QueryError, at agg(), for an unknown name.
        """
        if not isinstance(condition, str):
            raise TypeError(f"having() takes a text, not {type(condition).__name__}")
        made = self._changed()
        made._having.append((condition, values))
        return made

    def order_by(self, *columns: str) -> Grouping:
        """The groups in the order of columns of the result: order_by("-n", "city"). None comes first; "-" is the
        reverse order. Equal groups keep their order."""
        if not columns or not all(isinstance(column, str) for column in columns):
            raise TypeError('order_by() takes names of columns of the result: order_by("-n")')
        made = self._changed()
        keys = []
        for column in columns:
            is_reverse = column.startswith("-")
            keys.append(f"{escaped(column[1:] if is_reverse else column)} {'DESC' if is_reverse else 'ASC'}")
        made._clauses.append(f"SORT({', '.join(keys)})")
        return made

    def limit(self, count: int) -> Grouping:
        """The first `count` groups. DataError for a negative number."""
        number = operator.index(count)
        if number < 0:
            raise DataError(f"limit({number}): a number of groups is not negative")
        made = self._changed()
        made._clauses.append(f"LIMIT({number})")
        return made

    def agg(self, **aggregates: Aggregate) -> Groups:
        """A dictionary for each group, with the values that its objects share and the aggregates:
        agg(n=count(), oldest=max("age")).

        NoSuchProperty for unknown columns, NotSupportedError for embedded objects, UsageError for the sum, the mean and
        so on of values that are no numbers, QueryError for texts in the query language that are wrong.
        """
        for name, asked in aggregates.items():
            if not isinstance(asked, Aggregate):
                raise TypeError(f"{name}={asked!r}: agg() takes count(), sum(…) and so on of crealm.aggregates")
            if name in self._keys:
                raise TypeError(f"{name!r} is what the objects are grouped by")
        if not self._keys and not aggregates:
            return Groups([{}])
        readers: List[Callable[[Any], Any]] = []
        keys: List[str] = []
        for name, column in self._keys.items():
            path, facts = self._column(column)
            keys.append(f"{alone(path)} AS {escaped(name)}")
            readers.append(_reader(facts))
        calls: List[str] = []
        for name, asked in aggregates.items():
            call, facts = self._call(asked)
            calls.append(f"{call} AS {escaped(name)}")
            readers.append(_reader_of(asked.function, facts))
        names = [*self._keys, *aggregates]
        columns = [
            column if reader is _same else list(map(reader, column))
            for reader, column in zip(readers, self._computed(keys, calls))
        ]
        return Groups(dict(zip(names, row)) for row in zip(*columns))

    def _computed(self, keys: List[str], calls: List[str]) -> List[List[Any]]:
        """The columns of the result."""
        parts: List[str] = []
        values: List[Any] = []
        if keys:
            parts.append("GROUP BY " + ", ".join(keys))
        if calls:
            parts.append("AGGREGATE " + ", ".join(calls))
        if self._having:
            conditions = []
            for condition, given in self._having:
                # Each condition counts its arguments from $0.
                conditions.append(f"({moved(alone(condition, is_value=False), len(given), len(values))})")
                values.extend(given)
            parts.append("HAVING " + " AND ".join(conditions))
        query = Query(self._rows._db, " ".join(parts + self._clauses), tuple(values), {})
        with positioned(query.text):
            return _arrow.groups(self._rows._handle, query.encoded, query.arguments)

    def _column(self, name: str) -> Tuple[str, Optional[c.PropertyFacts]]:
        """A column in the query language, and its property if it is one."""
        bound = self._rows._row_class()
        if _COMPUTED.search(name) and (bound is None or name not in bound.properties):
            return name, None
        facts = self._rows._facts_of(name)
        if facts is None:
            raise NotSupportedError(f"{name!r} is no column of values")
        return stored_path(self._rows._db, bound, name), facts

    def _call(self, asked: Aggregate) -> Tuple[str, Optional[c.PropertyFacts]]:
        if asked.column is None:
            return "count()", None
        name = column_name(asked.column)
        path, facts = self._column(name)
        path = alone(path)
        function = asked.function
        if function in _OF_NUMBERS and facts is not None and facts.type not in _NUMBERS:
            raise UsageError(f"{name}: {'mean' if function == 'avg' else function}() is of numbers")
        if function == "count_distinct":
            return f"count(DISTINCT {path})", facts
        if asked.fraction is not None:
            return f"{function}({path}, {asked.fraction:.17f})", facts
        return f"{function}({path})", facts


def _same(value: Any) -> Any:
    return value


def _whole(value: Any) -> Any:
    """A sum of integers; all of them come as decimals if one does not fit into 64 bits."""
    return int(value) if isinstance(value, Decimal) else value


def _reader_of(function: str, facts: Optional[c.PropertyFacts]) -> Callable[[Any], Any]:
    """Reads the results of a function over a property."""
    if function in ("min", "max", "first", "last"):
        return _reader(facts)
    return _whole if function == "sum" and facts is not None and facts.type == c.P_INT else _same


def _reader(facts: Optional[c.PropertyFacts]) -> Callable[[Any], Any]:
    """Reads values of the file as those of a property: enums, dates and so on."""
    kind = None if facts is None else facts.kind
    if kind is None:
        return _same
    read = kind.read
    return lambda value: None if value is None else read(value)
