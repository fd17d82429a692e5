"""What never changes any more, for every thread: `db.freeze()`, and freeze() of objects, collections, results.

    frozen = db.freeze()
    with ThreadPoolExecutor() as pool:
        sums = list(pool.map(lambda name: frozen["Person"].where("city == $0", name).sum("age"), cities))

Freezing copies nothing. The file keeps the snapshot, and grows with what others write meanwhile, until the
frozen database is closed, or nobody has it nor anything of it.
"""

from __future__ import annotations

from typing import Optional, TypeVar

from ._handle import Handle
from ._session import Session
from .errors import InvalidatedError, UsageError

F = TypeVar("F", bound="Freezable")


class Freezable:
    """Objects, lists, sets, dictionaries, results and tables."""

    __slots__ = ()
    _db: Session
    _handle: Handle

    def freeze(self: F) -> F:
        """The same at this moment, for ever: to be read on any thread, by many at once. What was frozen at
        one snapshot of a database is of one frozen database, so objects can be compared. Inside a write the
        snapshot before it counts.

        InvalidatedError when it is deleted, or was not there before the write.
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
        """Whether it is of a frozen database."""
        return self._db is not None and self._db.is_frozen

    def _resolved_in(self: F, db: Session) -> Optional[F]:
        """The same in another database of the file; None when it is not there."""
        raise NotImplementedError
