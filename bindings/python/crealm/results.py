"""Results: the objects or values of a query, and queries on them.

    adults = db["Person"].where("age >= $0", 18).sort("-age", "name").limit(10)

A query runs only when its results are read: by len(), an index or a loop. Each read uses the current state of
the database, also inside a write. where(), sort() and the like return new results and do not change the old ones.
Results belong to the thread and to the database they come from, and keep its file open.

`Queryable` is the base of everything that has queries: results, tables, lists, sets, and the values of dictionaries.
"""

from __future__ import annotations

import ctypes
import enum
import sys
import typing
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from decimal import Decimal
from itertools import chain
from typing import Any, NoReturn, Optional, TypeVar, overload
from typing import List as ListOf

from . import _dicts, _pages
from . import _marshal as c
from ._handle import Handle, resolved
from ._library import lib
from ._query import (
    Assignments,
    Query,
    check_class,
    distinct_text,
    equalities,
    ordered,
    positioned,
    sort_text,
    written,
)
from ._sequences import Cut, position_in
from ._session import Session
from ._shown import COLUMNS, ROWS, refuse_frame, table, text, values
from ._store import check_limit, located
from .aggregates import Aggregate, Grouping
from .columns import Columnar, column_name
from .errors import ConstraintError, DataError, Error, InvalidatedError, NoSuchProperty, NotSupportedError, UsageError
from .expressions import Calculation, Condition, Path, conjunction
from .inspection import Explanation
from .frozen import Freezable
from .kinds import Kind
from .observing import RESULTS, Observable, Paths, Subject, collection_change
from .schema import BoundClass
from .windows import Window, number_of

T = TypeVar("T")
R = TypeVar("R", bound="Results[Any]")
_PAGE = 256
_MISSING: Any = object()
_NO_PROPERTY = -1
_FUNCTIONS: typing.Dict[str, Any] = {
    "min": lib.realm_results_min,
    "max": lib.realm_results_max,
    "sum": lib.realm_results_sum,
    "mean": lib.realm_results_average,
}


# What methods of other libraries are called here.
_INSTEAD = {
    "filter": "where() filters",
    "filter_by": "where({\"age\": 5}) filters by values",
    "exclude": "where() with NOT, or with ~(…) around an expression, excludes",
    "all": "the table has all objects, and list(…) makes a list of them",
    "order_by": "sort() sorts",
    "sorted": "sort() sorts",
    "sort_by": "sort() sorts",
    "orderby": "sort() sorts",
    "groupby": "group_by() groups",
    "skip": "offset() leaves out the first ones",
    "length": "len() is the number",
    "size": "len() is the number",
    "remove": "delete_all() of results deletes, and delete() of an object",
    "values": "to_dicts() and column() have the values",
    "to_list": "list(…) makes a list",
    "to_df": "to_pandas() and to_polars() make DataFrames",
    "df": "to_pandas() makes a DataFrame",
    "pl": "to_polars() makes a DataFrame",
    "arrow": "to_arrow() makes a table of pyarrow",
    "head": "limit() or a slice has the first ones",
    "fetchall": "list(…) makes a list",
}


class Queryable(Columnar, typing.Generic[T]):
    """Base of everything that can be filtered, sorted and aggregated. All of this happens inside the library.

    A path is the name of a property, or names separated by points that follow links: "boss.name". The order of
    values is: None, then False and True, numbers, texts by their bytes, bytes, points in time, and so on;
    not-a-number comes before all numbers.
    """

    __slots__ = ()

    def _results(self) -> Results[T]:
        raise NotImplementedError

    def _rows_handle(self) -> Handle:
        return self._results()._handle

    def _frozen_rows(self) -> Columnar:
        return self._results()._frozen_rows()

    def _kind_of(self, column: str) -> Optional[Kind]:
        return self._results()._kind_of(column)

    def _shown_columns(self) -> Optional[ListOf[str]]:
        return self._results()._shown_columns()

    def where(self, condition: Any = _MISSING, /, *arguments: Any, **named: Any) -> Results[T]:
        """The objects that meet a condition, in their current order.

            people.where("age > $0 AND name BEGINSWITH[c] $1", 30, "a")
            people.where("age > $least AND ANY dogs.name IN $names", least=30, names=["Rex", "Bo"])
            people.where(Person.age > 30, Person.dogs.name.in_(["Rex", "Bo"]))
            people.where({"city": "Oslo", "boss.name": None, "age": [30, 31]})

        condition: a text in the Realm Query Language, which may end with SORT(…), DISTINCT(…) and LIMIT(…).
                   Or one or several expressions with properties of a model class (see `expressions`); the
                   objects must meet all of them. Or a dictionary: the properties, or paths, have these values,
                   or one of the values in a list, set or tuple.
        arguments: the values of $0, $1 and so on in a text: None, numbers, texts, bytes, aware datetimes, Decimal,
                   UUID, ObjectId, objects of this database, and for IN and the like lists or sets of those.
                   Float32(x) compares with a single-precision x. where() copies them.
        named:     the values of $name in a text. They are numbered after `arguments`.

        where() itself checks the text and the arguments: QueryError, with `text` and, for a syntax error,
        `position`; DataError and TypeMismatch for an argument that no property could hold. UsageError after
        limit(). A condition applies before distinct(), also if where() is called after distinct().
        """
        return self._results()._where(condition, arguments, named)

    if not typing.TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raises an error that says what a method of other libraries is called here."""
            instead = _INSTEAD.get(name)
            hint = "" if instead is None else f": {instead}"
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    def sort(
        self,
        *keys: Any,
        ascending: Optional[bool] = None,
        descending: bool = False,
        locale: Optional[str] = None,
    ) -> Results[T]:
        """The same objects in another order: sort("name"), sort("-age", "name"),
        sort(("age", "desc"), ("boss.name", "asc")), sort("age", descending=True),
        sort(-Person.age, Person.boss.name).

        Objects with equal values keep their order. None comes first, and objects whose path has a link that is
        None come last; descending is the reverse of that. `ascending` and `descending` apply to keys without
        their own direction. `locale`: texts in the order of a language, sort("name", locale="de"), also with ICU's
        keywords ("en@colNumeric=yes"); without it, in the order of their bytes. QueryError for a path that does not
        exist, for a locale that is none, and, at the first read, for a path through a collection. NotSupportedError
        for a locale where the system has no ICU.
        """
        if ascending is not None:
            if ascending and descending:
                raise TypeError("sort() goes one way: ascending or descending")
            descending = not ascending
        return self._results()._sort(keys, descending, locale)

    def distinct(self, *paths: Any) -> Results[T]:
        """Keeps the first of the objects with equal values in all paths: distinct("city"). Two Nones are equal. Objects
        whose path has a link that is None are left out. Errors as for sort()."""
        return self._results()._distinct(paths)

    def limit(self, count: int) -> Results[T]:
        """The first `count` objects or values, or all if there are fewer. DataError for a negative
        number."""
        return self._results()._limit(count)

    def offset(self, count: int) -> Window[T]:
        """The objects or values without the first `count`: sort("name").offset(20).limit(10) is the third page of ten.
        DataError for a negative number. Conditions and orders come before offset(): see `windows`."""
        return Window(self._results(), number_of(count, "offset"))

    def snapshot(self) -> Results[T]:
        """The current objects or values as a fixed sequence: their number and order never change. An object that
        is deleted later reads as None. The objects still show their current values. NotSupportedError for
        collections inside Any, which cannot be read from a snapshot."""
        return self._results()._snapshot()

    def group_by(self, *columns: Any, **named: Any) -> Grouping:
        """The objects in groups that share the values of some columns: group_by("city", boss="boss.name").agg(n=count()).

        columns: names of properties, paths over links: "boss.name", Person.boss.name; or texts in the query language
                 with a bracket or an operator: "year(born)".
        named:   the same, with another name in the result of agg(). See `aggregates`.
        """
        results = self._results()
        if results._row_class() is None:
            raise DataError("These are values: objects have properties to be grouped by")
        return Grouping(results, columns, named)

    def min(self, property: Any = None) -> Any:
        """The smallest value of a property, or, if the elements are values, of the elements; None without values.
        None and not-a-number are ignored.

        property: a property of numbers, points in time or Any, by its name or as Person.age; or a path over single
                  links: "boss.age", Person.boss.age. Omitted if the elements are values. NoSuchProperty if it
                  does not exist, UsageError for other types.
        """
        return self._results()._aggregate("min", property)

    def max(self, property: Any = None) -> Any:
        """The largest value; otherwise as min()."""
        return self._results()._aggregate("max", property)

    def sum(self, property: Any = None) -> Any:
        """The sum: an int of any size, a float, or for decimals and Any a Decimal; zero without numbers.
        None, not-a-number and values that are no numbers are ignored."""
        return self._results()._aggregate("sum", property)

    def average(self, property: Any = None) -> Any:
        """The mean: a float, or for decimals and Any a Decimal; None without numbers. None, not-a-number and
        values that are no numbers are ignored and not counted."""
        return self._results()._aggregate("mean", property)

    def mean(self, property: Any = None) -> Any:
        """The same as average()."""
        return self.average(property)

    def explain(self) -> Explanation:
        """How the query finds its rows: which index it uses, and how many objects it tests. Runs the query.
        UsageError for results of values."""
        return self._results()._explained()

    def __bool__(self) -> bool:
        refuse_frame("polars")
        return len(self._results()) > 0

    def exists(self) -> bool:
        """Whether there is at least one object or value."""
        return len(self._results()) > 0

    def one(self) -> T:
        """The only object or value. UsageError if there is none, or more than one."""
        found = self._results()
        count = len(found)
        if count != 1:
            raise UsageError(f"There are {count} here, not one" if count else "There is none here")
        return found[0]


class Results(Queryable[T], Observable, Freezable, typing.Sequence[T]):
    """The objects or values of a class, a query, a collection, or the objects that link to an object.

    A live sequence; its slices are lists of Python. A loop runs over the objects that were in the results when
    it began, whatever changes meanwhile; it only skips objects that are deleted before it reaches them.
    snapshot() keeps the positions of deleted objects, too.
    """

    __slots__ = ("_db", "_handle", "_class_key", "_property", "_depth", "_model")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        db: Session,
        handle: Handle,
        class_key: int,
        property: Optional[c.PropertyFacts] = None,
        depth: int = 1,
        model: Any = None,
    ) -> None:
        self._db = db
        self._handle = handle
        self._class_key = class_key  # The class of the objects, or of the object that has the values.
        self._property = property  # The property that has the values; None if the rows are objects.
        self._depth = depth  # As in a View.
        self._model = model  # The class of the objects, if it is a part of the class of the file; see `families`.

    @property
    def is_valid(self) -> bool:
        """Whether the results can still be read."""
        if self._handle.owner.is_closed:
            return False
        return bool(self._handle.call(c.get_flag, lib.realm_results_is_valid))

    @property
    def description(self) -> str:
        """The query of the results in a normal form of the query language, with the values of its arguments and
        with the names of the file. UsageError for results of values."""
        text: str = self._handle.make(lib.realm_results_get_query).call(c.describe_query)
        return text

    def _explained(self) -> Explanation:
        query = self._handle.make(lib.realm_results_get_query)
        access, key, objects, tested, found, text = query.call(c.explain)
        name = None if key < 0 else self._db._bound(self._class_key).name_of(key)
        return Explanation(access, name, objects, tested, found, text)

    # Reading

    def __len__(self) -> int:
        count: int = self._handle.call(c.get_size, lib.realm_results_count)
        return count

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> ListOf[T]: ...

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._at(i) for i in range(*index.indices(len(self)))]
        return self._at(position_in(index, self))

    def first(self) -> Optional[T]:
        """The first object or value; None if the results are empty."""
        return self[0] if len(self) else None

    def last(self) -> Optional[T]:
        """The last object or value; None if the results are empty."""
        return self[-1] if len(self) else None

    def _at(self, index: int) -> Any:
        value = self._handle.call(c.get_value, lib.realm_results_get, index)
        if type(value) is c.Link:
            return self._db._object(value.class_key, value.object_key)
        if type(value) is c.Nested:
            return self._nested(value.kind, index)
        return value if self._property is None else self._db._rich(value, self._property)

    def _nested(self, kind: int, index: int) -> Any:
        """The view of a collection that is the value of a row of Any."""
        view = self._db._view_types[c.C_LIST if kind == c.LIST else c.C_DICTIONARY]
        get = lib.realm_results_get_list if kind == c.LIST else lib.realm_results_get_dictionary
        found = self._handle.find(get, index)
        if found is None:
            raise NotSupportedError("A snapshot of values does not show collections inside")
        return view(self._db, found, self._property, self._class_key, None, self._depth + 1)

    def __iter__(self) -> Iterator[T]:
        return self._loop(1)

    def __reversed__(self) -> Iterator[T]:
        return self._loop(-1)

    def _loop(self, step: int) -> Iterator[T]:
        """The current rows, forwards (step 1) or backwards (-1)."""
        if self._property is not None:
            return iter(self[::step])
        return self._snapshot()._rows(step, False)

    def _loop_from(self, first: int, most: Optional[int]) -> Iterator[T]:
        """The current rows from a position on, at most `most`."""
        end = sys.maxsize if most is None else first + most
        return iter(self[first:end]) if self._property is not None else self._loop_between(first, end)

    def _loop_between(self, first: int, end: int) -> Iterator[T]:
        return self._snapshot()._rows(1, False, first, end)

    def _rows(self, step: int, keeps_deleted: bool, first: int = 0, end: int = sys.maxsize) -> Iterator[T]:
        count = min(len(self), end)
        return _pages.rows(self._db, self._handle, self._class_key, first, count, step, self._at, keeps_deleted)

    def __contains__(self, value: object) -> bool:
        return self._find(value) >= 0

    def _find(self, value: object) -> int:
        """The first position of a value; -1 if it is not there."""
        if self._property is not None and isinstance(value, (list, dict, Sequence, typing.Mapping)):
            if not isinstance(value, (str, bytes, bytearray, memoryview)):
                return next((i for i, row in enumerate(self) if value == row), -1)
        try:
            plain = self._db._plain(value)
            encoded = c.encode(plain, c.P_OBJECT) if self._property is None else c.encode_for(self._property, plain)
            position: int = self._handle.call(c.find_in_results, encoded)
            return position
        except (ConstraintError, DataError):
            len(self)  # Raises if the results cannot be read any more.
            return -1  # The results cannot have such a value.

    def index(self, value: Any, start: int = 0, stop: Optional[int] = None) -> int:
        """The first position of an object or value, from `start` on and before `stop`; ValueError if it is not
        there."""
        if start == 0 and stop is None:
            position = self._find(value)
        else:
            first, end, _ = slice(start, stop).indices(len(self))
            position = next((i for i in range(first, end) if self._at(i) == value), -1)
        if position < 0:
            raise ValueError(f"{value!r} is not in the results")
        return position

    def count(self, value: Any = _MISSING) -> int:
        """The number of objects or values; with an argument, how often that one occurs."""
        return len(self) if value is _MISSING else sum(1 for row in self if row == value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, (str, bytes, bytearray, memoryview)):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other))

    def __reduce__(self) -> NoReturn:
        raise TypeError("Results of an open database cannot be pickled or copied; make a list of them")

    def __repr__(self) -> str:
        try:
            count = len(self)
            shown = [self._at(i) for i in range(min(count, 8))]
            return repr(shown if count <= 8 else Cut(shown, count))
        except Error as error:
            return f"<{type(self).__name__}: {type(error).__name__}>"

    def _repr_html_(self) -> str:
        """A table of the first rows, for Jupyter."""
        return self._shown_from(0, None)

    def _shown_from(self, first: int, most: Optional[int]) -> str:
        """A table of the first rows from a position on."""
        try:
            rest = max(len(self) - first, 0)
            count = rest if most is None else min(rest, most)
            rows: ListOf[Any] = [self._at(first + place) for place in range(min(count, ROWS))]
            bound = self._row_class()
            if bound is None:
                return values(rows, count - len(rows))
            names = list(bound.properties)
            cells = [["deleted"] if row is None else _cells(row, names[:COLUMNS]) for row in rows]
            return table(f"{bound.name}: {count:,}", names, cells, count - len(rows))
        except Error:
            return text(self)

    def _subject(self, paths: Paths) -> Subject:
        key = self._class_key if self._property is None else None
        return Subject(self._db, self._handle, RESULTS, key, collection_change)

    def _resolved_in(self: R, db: Session) -> Optional[R]:
        found = resolved(db._owner, self._handle, c.get_pointer, lib.realm_results_resolve_in)
        if found is None:
            return None
        return type(self)(db, found, self._class_key, self._property, self._depth, self._model)

    # Asking

    def _results(self) -> Results[T]:
        return self

    def _rows_handle(self) -> Handle:
        return self._handle

    def _frozen_rows(self) -> Results[T]:
        if self._db._writing:
            raise UsageError("Columns are read from a snapshot: not inside a write", path=self._db.path)
        return self.freeze()

    def _row_class(self) -> Optional[BoundClass]:
        """The class of the rows; None if they are values."""
        return None if self._property is not None else self._rows_class()

    def _rows_class(self) -> BoundClass:
        bound = self._db._bound(self._class_key)
        return bound if self._model is None else bound.view(self._model)

    def _shown_columns(self) -> Optional[ListOf[str]]:
        return None if self._model is None else list(self._rows_class().properties)

    def _kind_of(self, column: str) -> Optional[Kind]:
        try:
            facts = self._facts_of(column)
        except NoSuchProperty:
            return None  # "@key"
        return None if facts is None else facts.kind

    def _facts_of(self, column: str) -> Optional[c.PropertyFacts]:
        """The property at the end of a path; None if a step is not a single link, or the path ends at an embedded
        object, which is not a single value."""
        bound, facts = self._row_class(), None
        for name in column.split("."):
            if bound is None or (facts is not None and facts.collection != c.C_NONE):
                return None
            facts = bound.find(name)
            bound = self._db._by_name.get(facts.target)
        return None if bound is not None and bound.schema.embedded else facts

    def _target_of(self, facts: c.PropertyFacts) -> Optional[BoundClass]:
        """The class that a link leads to."""
        return self._db._by_name.get(facts.target)

    def _made(self, handle: Handle) -> Results[T]:
        return Results(self._db, handle, self._class_key, self._property, self._depth, self._model)

    def _where(self, condition: Any, values: Any, named: Any) -> Results[T]:
        if condition is _MISSING:
            raise TypeError('where() needs a condition: a text such as "age > 3", or expressions such as Person.age > 3')
        if isinstance(condition, typing.Mapping):
            if values or named:
                raise TypeError("A dictionary has all the values: where() takes nothing beside it")
            condition, values = equalities(self._db, self._row_class(), condition)
        if isinstance(condition, str):
            if any(isinstance(value, (Condition, Path)) for value in values):
                raise TypeError("A text and expressions cannot be mixed: where(text).where(expression) asks for both")
        else:
            if named:
                raise TypeError("Names are for the arguments of a text")
            condition, values = written(self._db, self._row_class(), conjunction((condition, *values)))
        query = Query(self._db, condition, values, named)
        if self._property is not None:
            raise UsageError(
                "Results of values cannot be filtered", code=2007, hint="Use [v for v in values if …]."
            )
        parsed = query.parse(self._db._owner, self._class_key)
        try:
            made = self._made(self._handle.make(lib.realm_results_filter, parsed.pointer))
        except UsageError as error:
            if error.code == 2007:
                error.hint = "where() comes before limit()."
            raise
        return self._with_ordering(query) if query.has_ordering else made

    def _with_ordering(self, query: Query) -> Results[T]:
        """The filtered results with the SORT, DISTINCT and LIMIT of the text, which filtering ignores."""
        both = query.append_to(self._handle.make(lib.realm_results_get_query))
        return self._made(both.make(lib.realm_query_find_all))

    def _sort(self, keys: Any, descending: bool, locale: Optional[str] = None) -> Results[T]:
        text = sort_text(self._db, self._row_class(), keys, descending, locale)
        return self._made(ordered(lib.realm_results_sort, self._handle, text))

    def _distinct(self, paths: Any) -> Results[T]:
        text = distinct_text(self._db, self._row_class(), paths)
        return self._made(ordered(lib.realm_results_distinct, self._handle, text))

    def _limit(self, count: int) -> Results[T]:
        number = min(number_of(count, "limit"), sys.maxsize)
        return self._made(self._handle.make(lib.realm_results_limit, number))

    def _snapshot(self) -> Results[T]:
        made = self._handle.make(lib.realm_results_snapshot)
        return Snapshot(self._db, made, self._class_key, self._property, self._depth, self._model)

    def _aggregate(self, function: str, property: Any) -> Any:
        if self._property is not None:
            if property is not None:
                raise TypeError(f"The elements are values: they have no property {property!r}")
            return self._aggregated(function, self._property, _NO_PROPERTY)
        if property is None:
            raise TypeError("Of what? Objects need the name of a property")
        bound = self._row_class()
        assert bound is not None
        check_class(bound, property)
        path = column_name(property)
        if "." in path and path not in bound.properties:
            asked = Aggregate("avg" if function == "mean" else function, path)
            return Grouping(self, (), {}).agg(value=asked)[0]["value"]
        facts = bound.find(path)
        return self._aggregated(function, facts, facts.key)

    def _aggregated(self, function: str, facts: c.PropertyFacts, key: int) -> Any:
        if function in ("sum", "mean"):
            facts = facts._replace(kind=None)  # A sum of enum values is not a member of the enum.
        value = self._db._rich(self._handle.call(c.aggregate, _FUNCTIONS[function], key), facts)
        # The library returns a sum of integers that exceeds 64 bits as a decimal.
        return int(value) if isinstance(value, Decimal) and facts.type == c.P_INT else value

    def to_dicts(self, depth: int = 1) -> ListOf[Optional[typing.Dict[str, Any]]]:
        """The to_dict(depth) of each object; None for an object of a snapshot that was deleted.
        DataError for results of values."""
        self._require_objects()
        bound = self._row_class()
        if bound is not None and not self._db.is_writing:
            found = _dicts.rows(self._handle, bound, depth, self._target_of)
            if found is not None:
                return found

        def dictionary(row: Any) -> Optional[typing.Dict[str, Any]]:
            return None if row is None else row.to_dict(depth)

        return [dictionary(row) for row in self]

    def _require_objects(self) -> None:
        if self._property is not None:
            raise DataError("Results of values have no dictionaries", hint="list(results) has the values.")

    # Writing

    def update(self, assignments: Optional[str] = None, /, *args: Any, **values: Any) -> int:
        """Sets properties of all objects in the results: update(age=3, boss=None), update(n=Item.n + 1), or as a text,
        update("n = n + $0, city = $1", 2, "Oslo"). Only inside a write.

        Returns the number of objects. The values are single values: None, numbers, texts, objects of this
        database; paths and calculations, which see the values from before the call. An error has changed nothing:
        UsageError for collections and embedded objects, ConstraintError for the primary key, DataError for a number
        that a property cannot hold and for an integer that is divided by zero.
        """
        bound = self._row_class()
        if bound is None:
            raise UsageError("These are values: objects have properties to be changed")
        if assignments is not None and values:
            raise TypeError("update() takes a text with its arguments, or properties by name")
        self._db._require_write(bound.name)
        if assignments is not None:
            takes_some_classes = any(
                facts.limit is not None and name in assignments for name, facts in bound.properties.items()
            )
            if takes_some_classes or type(bound) is not BoundClass or bound.views:
                raise UsageError(
                    f"{bound.name} has a base class or subclasses, or links to some: give the values by name",
                    hint="update(name=value) checks the classes.",
                )
            query = Query(self._db, assignments, args, {})
            return self._update(query.text, query.encoded, query.arguments)
        if args:
            raise TypeError("The first argument of update() is a text")
        settings = [(bound.settable(name), value) for name, value in values.items()]
        for facts, _ in settings:
            if facts is bound.primary_key:
                raise ConstraintError(f"{bound.where(facts)} is the primary key: it cannot be changed")
            if bound.is_type(facts):
                raise UsageError(f"{bound.where(facts)}: the class of an object never changes")
        if not settings:
            return len(self)
        changes = Assignments(self._db, bound)
        for facts, value in settings:
            if isinstance(value, (Path, Calculation)):
                if facts.limit is not None or (facts.kind is not None and issubclass(facts.kind.type, enum.Enum)):
                    raise UsageError(f"{bound.where(facts)} takes some values only: give one, not an expression")
                changes.add(facts.name, value)
            else:
                changes.add_encoded(facts.name, _single(self._db, bound, facts, value))
        return self._update(changes.text, changes.encoded, changes.arguments)

    def _update(self, text: str, encoded: bytes, arguments: c.Arguments) -> int:
        count = ctypes.c_size_t()
        with positioned(text):
            self._handle.call(_update, encoded, arguments, count)
        return count.value

    def delete_all(self) -> None:
        """Deletes the objects in the results; objects beyond a limit stay. If the results are values, it clears the
        collection that they come from. Only inside a write."""
        bound = self._db._bound(self._class_key)
        self._db._require_write(bound.name if self._property is None else bound.where(self._property))
        self._handle.call(c.check, lib.realm_results_delete_all)


class Snapshot(Results[T]):
    """Results whose rows do not change. A row whose object was deleted is None, also in loops."""

    __slots__ = ()

    def _loop(self, step: int) -> Iterator[T]:
        if self._property is not None:
            return (self._at(index) for index in range(len(self))[::step])
        return self._rows(step, True)

    def _loop_between(self, first: int, end: int) -> Iterator[T]:
        return self._rows(1, True, first, end)


class AllObjects(Results[T]):
    """All objects of a class, in the order of their keys. A loop also visits objects that are created while it
    runs; an object that exists during the whole loop is visited exactly once."""

    __slots__ = ()

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self._loops())

    def _loops(self) -> Iterator[Iterable[T]]:
        with closing(_pages.Loop(self._db, self._handle, self._class_key)) as loop:
            yield from self._parts(loop)

    def _parts(self, loop: _pages.Loop) -> Iterator[Iterable[T]]:
        index, last = 0, None
        while True:
            count = len(self)
            if last is not None and not (index <= count and self._key_at(index - 1) == last):
                index = self._after(last, count)
            page = loop.read(index, min(loop.size, count - index))
            if page is None:
                keys: ListOf[Any] = [self._key_at(i) for i in range(index, min(index + _PAGE, count))]
                rest = keys
            else:
                keys = page.keys
                try:
                    yield page.rows
                    rest = [] if page.is_live else keys[page.count - page.left :]
                finally:
                    loop.end(page)
            if rest:
                is_over: ListOf[bool] = []
                yield _pages.unless_interrupted(self._existing(rest), is_over)
                if not is_over:
                    return
            if not keys:
                return
            index, last = index + len(keys), keys[-1]

    def _key_at(self, index: int) -> int:
        link: c.Link = self._handle.call(c.get_value, lib.realm_results_get, index)
        return link.object_key

    def _existing(self, keys: Iterable[int]) -> Iterator[T]:
        for key in keys:
            try:
                found = self._db._object(self._class_key, key)
            except InvalidatedError:
                continue  # The object was deleted after its key was read.
            yield found

    def _after(self, key: int, count: int) -> int:
        """The position of the first object with a key greater than `key`."""
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            if self._key_at(middle) <= key:
                low = middle + 1
            else:
                high = middle
        return low

    def __contains__(self, value: object) -> bool:
        self._db._owner.check()
        return (
            getattr(value, "_db", None) is self._db
            and getattr(value, "_class_key", None) == self._class_key
            and bool(getattr(value, "is_valid", False))
        )


def _update(results: int, text: bytes, arguments: c.Arguments, count: ctypes.c_size_t) -> None:
    c.check(
        results, lib.crealm_results_update, text, arguments.count, arguments.array, ctypes.byref(count)
    )


def _single(db: Session, bound: BoundClass, facts: c.PropertyFacts, value: Any) -> c.Encoded:
    """Encodes a value that update() writes to a property of many objects."""
    if facts.collection != c.C_NONE or (facts.target and db._named(facts.target).schema.embedded):
        raise UsageError(f"{bound.where(facts)} holds a part of each object: it is changed in one at a time")
    try:
        if value is None and not facts.flags & c.NULLABLE:
            raise ConstraintError("Cannot be None", code=3002)
        check_limit(db, facts, value)
        return c.encode_for(facts, db._plain(value))
    except (DataError, ConstraintError) as error:
        raise located(error, bound.where(facts))


def _cells(row: Any, names: Iterable[str]) -> ListOf[Any]:
    known = row._bound()
    return [row[name] if known.has(name) else None for name in names]


def results_of(
    db: Session, handle: Handle, property: c.PropertyFacts, class_key: int, depth: int
) -> Results[Any]:
    """The results of a collection, from a handle of the library; `property` and `class_key` are the collection's."""
    if property.type == c.P_OBJECT:
        return Results(db, handle, db._named(property.target).key, model=property.limit)
    return Results(db, handle, class_key, property, depth)
