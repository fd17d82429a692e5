"""Frozen objects, collections and results: they never change, and every thread may read them. See also `db.freeze()`.

    frozen = db.freeze()
    with ThreadPoolExecutor() as pool:
        sums = list(pool.map(lambda name: frozen["Person"].where("city == $0", name).sum("age"), cities))

Freezing copies nothing. The file keeps the snapshot, and grows with later writes, until the frozen database is
closed, or the last reference to it and to its objects goes.
"""

from __future__ import annotations

from typing import Optional, TypeVar

from ._handle import Handle
from ._session import Session
from .errors import InvalidatedError, UsageError

F = TypeVar("F", bound="Freezable")


class Freezable:
    """Base of objects, lists, sets, dictionaries, results and tables, which can be frozen."""

    __slots__ = ()
    _db: Session
    _handle: Handle

    def freeze(self: F) -> F:
        """A frozen copy of this object, collection or results: it shows the current snapshot, never changes, and
        any number of threads may read it. Nothing is copied. Everything that is frozen at the same snapshot of
        a database belongs to the same frozen database, so objects can be compared. Inside a write it shows the
        snapshot before the write.

        InvalidatedError if this is deleted, or did not exist before the write.
        """
        if self._db is None:
            raise UsageError(f"This {type(self).__name__} is in no database yet", hint="Add it: db.add(obj).")
        if self.is_frozen:
            return self
        found = self._resolved_in(self._db._shared_frozen())
        if found is None:
            raise InvalidatedError("There is nothing of this to freeze", code=2010, path=self._db.path)
        return found

    @property
    def is_frozen(self) -> bool:
        """Whether this belongs to a frozen database."""
        return self._db is not None and self._db.is_frozen

    def _resolved_in(self: F, db: Session) -> Optional[F]:
        """The same object, collection or results in another database of the file; None if that does not have it."""
        raise NotImplementedError
