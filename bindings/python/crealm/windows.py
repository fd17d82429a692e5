"""The result of offset(): some objects of results, by their positions, as a page of a list shows them.

    page = db[Trip].sort("-km").offset(20).limit(10)
    for trip in page: ...
    frame = page.to_pandas("title", "km")

A window is live, as its results are: it has the objects that are now at its positions. Conditions and orders come
before offset().
"""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, TypeVar, overload

from ._sequences import Cut, position_in
from .errors import DataError, Error

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]
    import polars
    import pyarrow  # type: ignore[import-untyped, unused-ignore]

T = TypeVar("T")


def number_of(count: Any, method: str) -> int:
    """The argument of limit() or offset(). DataError for a negative number."""
    number = operator.index(count)
    if number < 0:
        raise DataError(f"{method}({number}): a number of objects is not negative")
    return number


class Window(Sequence[T]):
    """The objects or values of results from a position on; see `windows`. Slices are lists of Python."""

    __slots__ = ("_rows", "_first", "_most")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, rows: Any, first: int, most: Optional[int] = None) -> None:
        self._rows = rows
        self._first = min(first, sys.maxsize)
        self._most = most  # The limit; None if there is none.

    def __len__(self) -> int:
        rest = max(len(self._rows) - self._first, 0)
        return rest if self._most is None else min(rest, self._most)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> List[T]: ...

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._rows[self._first + place] for place in range(*index.indices(len(self)))]
        return self._rows[self._first + position_in(index, self)]

    def __iter__(self) -> Iterator[T]:
        """The objects that are in the window when the loop begins."""
        found: Iterator[T] = self._rows._loop_from(self._first, self._most)
        return found

    def first(self) -> Optional[T]:
        """The first object or value; None if the window is empty."""
        return self[0] if len(self) else None

    def last(self) -> Optional[T]:
        """The last object or value; None if the window is empty."""
        return self[-1] if len(self) else None

    def exists(self) -> bool:
        """Whether there is at least one object or value."""
        return len(self) > 0

    def limit(self, count: int) -> Window[T]:
        """The first `count` objects or values of these. DataError for a negative number."""
        number = number_of(count, "limit")
        return Window(self._rows, self._first, number if self._most is None else min(number, self._most))

    def offset(self, count: int) -> Window[T]:
        """These objects or values without the first `count`. DataError for a negative number."""
        number = number_of(count, "offset")
        return Window(self._rows, self._first + number, None if self._most is None else max(self._most - number, 0))

    def to_dicts(self, depth: int = 1) -> List[Optional[Dict[str, Any]]]:
        """The to_dict(depth) of each object; None for an object of a snapshot that was deleted. DataError for
        values."""
        self._rows._require_objects()
        return [None if row is None else row.to_dict(depth) for row in self]  # type: ignore[attr-defined]

    def to_arrow(self, *columns: Any, timestamps: Optional[str] = None) -> "pyarrow.Table":
        """As to_arrow() of the results, with the rows of the window."""
        return self._limited().to_arrow(*columns, timestamps=timestamps).slice(self._first)

    def to_pandas(self, *columns: Any, timestamps: Optional[str] = None) -> "pandas.DataFrame":
        """As to_pandas() of the results, with the rows of the window, which are numbered from 0 on."""
        return self._limited().to_pandas(*columns, timestamps=timestamps).iloc[self._first :].reset_index(drop=True)

    def to_polars(self, *columns: Any, timestamps: Optional[str] = None) -> "polars.DataFrame":
        """As to_polars() of the results, with the rows of the window."""
        return self._limited().to_polars(*columns, timestamps=timestamps).slice(self._first)

    def to_xlsx(self, path: Any) -> Dict[str, int]:
        """As to_xlsx() of the results, with the rows of the window."""
        found: Dict[str, int] = self._rows._db._write_workbook(path, [self])
        return found

    def _row_class(self) -> Any:
        return self._rows._row_class()

    def _limited(self) -> Any:
        """The results up to the end of the window."""
        return self._rows if self._most is None else self._rows.limit(self._first + self._most)

    def __repr__(self) -> str:
        try:
            count = len(self)
            return repr(self[:8] if count <= 8 else Cut(self[:8], count))
        except Error as error:
            return f"<{type(self).__name__}: {type(error).__name__}>"

    def _repr_html_(self) -> str:
        """A table of the first rows, for Jupyter."""
        page: str = self._rows._shown_from(self._first, self._most)
        return page
