"""Aggregates (counts, sums, means, least and largest values) for groups of objects.

    from crealm.aggregates import count, max, mean

    db[Trip].group_by("owner.name").agg(trips=count(), longest=max("km"), usual=mean(Trip.km))
    [{"owner.name": "Ann", "trips": 2, "longest": 12.5, "usual": 10.25}, …]

A column is the name of a property, or a path over single links (see `columns`). The groups are in the order of
their first objects. Objects with None form a separate group, and so do objects with not-a-number. group_by() without
columns makes one group of all objects, even if there are none.

    count()         the number of objects
    count("age")    the number of objects with a value
    sum("age")      the sum: an int of any size, a float or a Decimal; zero without numbers
    mean("age")     the mean: a float, or a Decimal for decimals; None without numbers
    min("age")      the smallest value, of numbers, points in time, texts and so on; None without values
    max("age")      the largest value

Sums, means and extremes ignore None and not-a-number. The columns are read in pages and aggregated in Python,
without numpy.
"""

from __future__ import annotations

import builtins
from collections import Counter, defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, NamedTuple, Optional, Protocol, Sequence, Tuple

from . import _arrow
from . import _marshal as c
from ._handle import Handle
from .columns import column_name
from .errors import NotSupportedError, UsageError

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]
    import polars
    import pyarrow  # type: ignore[import-untyped, unused-ignore]

_PAGE = 8192
_NUMBERS = (c.P_INT, c.P_DOUBLE, c.P_FLOAT, c.P_DECIMAL)


class Aggregate(NamedTuple):
    """An argument of agg(): count(), sum("age") and so on."""

    function: str
    column: Any  # None for count() of objects.


def count(column: Any = None) -> Aggregate:
    """The number of objects; with a column, the number of its values that are not None."""
    return Aggregate("count", column)


def sum(column: Any) -> Aggregate:
    """The sum of a column of numbers."""
    return Aggregate("sum", column)


def mean(column: Any) -> Aggregate:
    """The mean of a column of numbers."""
    return Aggregate("mean", column)


def min(column: Any) -> Aggregate:
    """The smallest value of a column."""
    return Aggregate("min", column)


def max(column: Any) -> Aggregate:
    """The largest value of a column."""
    return Aggregate("max", column)


class Rows(Protocol):
    """The objects that are grouped."""

    @property
    def _handle(self) -> Handle: ...

    def _facts_of(self, column: str) -> Optional[c.PropertyFacts]: ...


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


class Grouping:
    """The result of group_by(): objects and the columns that they are grouped by."""

    __slots__ = ("_rows", "_keys")

    def __init__(self, rows: Rows, columns: Sequence[Any], named: Dict[str, Any]) -> None:
        self._rows = rows
        names = [column_name(column) for column in columns]
        self._keys: Dict[str, str] = {**dict(zip(names, names)), **{name: column_name(column) for name, column in named.items()}}

    def agg(self, **aggregates: Aggregate) -> Groups:
        """A dictionary for each group, with the values that its objects share and the aggregates:
        agg(n=count(), oldest=max("age")).

        NoSuchProperty for unknown columns, NotSupportedError for collections, embedded objects and Any, UsageError for
        the sum and the mean of values that are no numbers.
        """
        for name, asked in aggregates.items():
            if not isinstance(asked, Aggregate):
                raise TypeError(f"{name}={asked!r}: agg() takes count(), sum(…), min(…), max(…) and mean(…) of crealm.aggregates")
            if name in self._keys:
                raise TypeError(f"{name!r} is what the objects are grouped by")
        values = {name: column_name(asked.column) for name, asked in aggregates.items() if asked.column is not None}
        facts = {column: self._column(column) for column in [*self._keys.values(), *values.values()]}
        for name, column in values.items():
            if aggregates[name].function in ("sum", "mean") and facts[column].type not in _NUMBERS:
                raise UsageError(f"{column}: {aggregates[name].function}() is of numbers")
        groups = self._collect(facts, list(values.values()))
        found = Groups()
        for key, group in groups.items():
            row: Dict[str, Any] = {
                name: _nan(facts[column]) if value is _NAN else _read(facts[column], value)
                for (name, column), value in zip(self._keys.items(), key)
            }
            for name, asked in aggregates.items():
                row[name] = group.count if asked.column is None else _result(asked.function, facts[values[name]], group.of[values[name]])
            found.append(row)
        return found

    def _column(self, name: str) -> c.PropertyFacts:
        facts = self._rows._facts_of(name)
        if facts is None or facts.collection != c.C_NONE or (facts.type not in _arrow.OF_PROPERTY and facts.type != c.P_OBJECT):
            raise NotSupportedError(f"{name!r} is no column of single values of one type")
        return facts

    def _collect(self, facts: Dict[str, c.PropertyFacts], columns: Sequence[str]) -> "Dict[Tuple[Any, ...], _Group]":
        names = list(dict.fromkeys([*self._keys.values(), *columns]))
        groups: Dict[Tuple[Any, ...], _Group] = {}
        if not self._keys:
            groups[()] = _Group(columns)
        first = 0
        while True:
            # For links, the keys of the objects.
            paths = [f"{name}.@key" if name in facts and facts[name].type == c.P_OBJECT else name for name in names]
            page = _arrow.fetch(self._rows._handle, first, _PAGE, paths or ["@key"])
            if not page.length:
                return groups
            first += page.length
            read = {name: _arrow.values(array, _type(facts[name])) for name, array in zip(names, page.arrays)}
            keys: List[Any] = [()] * page.length
            if self._keys:
                keys = list(zip(*(_without_nan(facts[column], read[column]) for column in self._keys.values())))
            for key, number in Counter(keys).items():
                if key not in groups:
                    groups[key] = _Group(columns)
                groups[key].count += number
            for column in dict.fromkeys(columns):
                parts: Dict[Any, List[Any]] = defaultdict(list)
                for key, value in zip(keys, read[column]):
                    parts[key].append(value)
                for key, part in parts.items():
                    groups[key].of[column].add(facts[column], part)


class _Sums:
    """The running aggregates of the values of a column in a group."""

    __slots__ = ("filled", "numbers", "total", "least", "most")

    def __init__(self) -> None:
        self.filled = 0
        self.numbers = 0
        self.total: Any = 0
        self.least: Any = None
        self.most: Any = None

    def add(self, facts: c.PropertyFacts, values: Iterable[Any]) -> None:
        found = [value for value in values if value is not None]
        self.filled += len(found)
        found = [value for value in found if not _is_nan(facts, value)]
        if not found:
            return
        self.numbers += len(found)
        if facts.type in _NUMBERS:
            self.total = builtins.sum(found, self.total)
        least, most = builtins.min(found), builtins.max(found)
        self.least = least if self.least is None else builtins.min(self.least, least)
        self.most = most if self.most is None else builtins.max(self.most, most)


class _Group:
    __slots__ = ("count", "of")

    def __init__(self, columns: Iterable[str]) -> None:
        self.count = 0
        self.of = {column: _Sums() for column in columns}


_ZEROS: Dict[int, Any] = {c.P_INT: 0, c.P_DOUBLE: 0.0, c.P_FLOAT: 0.0, c.P_DECIMAL: Decimal(0)}
_NAN: Any = object()


def _result(function: str, facts: c.PropertyFacts, sums: _Sums) -> Any:
    if function == "count":
        return sums.filled
    if function == "sum":
        return sums.total if sums.numbers else _ZEROS[facts.type]
    if function == "mean":
        return sums.total / sums.numbers if sums.numbers else None
    return _read(facts, sums.least if function == "min" else sums.most)


def _read(facts: c.PropertyFacts, value: Any) -> Any:
    return value if value is None or facts.kind is None else facts.kind.read(value)


def _type(facts: c.PropertyFacts) -> _arrow.Type:
    return _arrow.OF_PROPERTY[c.P_INT if facts.type == c.P_OBJECT else facts.type]


def _is_nan(facts: c.PropertyFacts, value: Any) -> bool:
    if facts.type == c.P_DECIMAL:
        return bool(value.is_nan())
    return bool(value != value)


def _nan(facts: c.PropertyFacts) -> Any:
    return Decimal("nan") if facts.type == c.P_DECIMAL else float("nan")


def _without_nan(facts: c.PropertyFacts, values: List[Any]) -> List[Any]:
    """The values as keys of groups: all kinds of not-a-number are equal."""
    if facts.type not in (c.P_DOUBLE, c.P_FLOAT, c.P_DECIMAL):
        return values
    return [_NAN if value is not None and _is_nan(facts, value) else value for value in values]
