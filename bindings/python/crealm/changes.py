"""The change objects that observers receive; see `observing`.

A change object is true if something changed. The first one of an observation is false, unless something
changed before it was reported. One change object may cover several commits.

Positions are ascending. `deletions` and `modifications` are positions before the change, `insertions` and
`modifications_after` positions after it. A copy of a collection follows it like this:

    for position in reversed(change.deletions):
        del copy[position]
    for position in change.insertions:
        copy.insert(position, items[position])
    for position in change.modifications_after:
        copy[position] = items[position]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import FrozenSet, NamedTuple, Tuple


class Move(NamedTuple):
    """An element that List.move() moved: `source` is its position before the change, `target` the one after it. The
    deletions and insertions contain these positions, too."""

    source: int
    target: int


@dataclass(frozen=True)
class CollectionChange:
    """A change of a list, a set, results or a table. A row of results that changes its position is reported as
    deleted and inserted."""

    deletions: Tuple[int, ...] = ()
    insertions: Tuple[int, ...] = ()
    modifications: Tuple[int, ...] = ()
    modifications_after: Tuple[int, ...] = ()
    moves: Tuple[Move, ...] = ()
    cleared: bool = False  # Whether the collection was cleared, and nothing was inserted since.
    deleted: bool = False  # Whether it was deleted with its object, or replaced by another value. The last change.

    def __bool__(self) -> bool:
        return self != _NO_CHANGE


@dataclass(frozen=True)
class DictionaryChange:
    """A change of a dictionary, by its keys."""

    deletions: Tuple[str, ...] = ()
    insertions: Tuple[str, ...] = ()
    modifications: Tuple[str, ...] = ()
    cleared: bool = False
    deleted: bool = False

    def __bool__(self) -> bool:
        return self != _NO_DICTIONARY_CHANGE


@dataclass(frozen=True)
class ObjectChange:
    """A change of an object."""

    properties: FrozenSet[str] = frozenset()  # The names of the changed properties; for key paths the first name.
    deleted: bool = False  # Whether the object was deleted. This is the last change then.

    def __bool__(self) -> bool:
        return self.deleted or bool(self.properties)


@dataclass(frozen=True)
class DatabaseChange:
    """A change of a database: it shows another snapshot, with this number."""

    version: int


_NO_CHANGE = CollectionChange()
_NO_DICTIONARY_CHANGE = DictionaryChange()
