"""What a function that observes something is told: see `observing`.

All of them are true when something changed; the first one of an observation is false, unless something
happened before it was told. Several commits may be told as one change.

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
    """An element that List.move() moved: from a position before the change to one after it. It is among
    the deletions and the insertions, too."""

    source: int
    target: int


@dataclass(frozen=True)
class CollectionChange:
    """Of a list, a set, results or a table. Rows of results that change their places are told as deleted
    and inserted."""

    deletions: Tuple[int, ...] = ()
    insertions: Tuple[int, ...] = ()
    modifications: Tuple[int, ...] = ()
    modifications_after: Tuple[int, ...] = ()
    moves: Tuple[Move, ...] = ()
    cleared: bool = False  # Emptied as a whole, and nothing inserted since.
    deleted: bool = False  # With its object, or replaced by another value. Nothing follows.

    def __bool__(self) -> bool:
        return self != _NO_CHANGE


@dataclass(frozen=True)
class DictionaryChange:
    """Of a dictionary, by its keys."""

    deletions: Tuple[str, ...] = ()
    insertions: Tuple[str, ...] = ()
    modifications: Tuple[str, ...] = ()
    cleared: bool = False
    deleted: bool = False

    def __bool__(self) -> bool:
        return self != _NO_DICTIONARY_CHANGE


@dataclass(frozen=True)
class ObjectChange:
    """Of an object."""

    properties: FrozenSet[str] = frozenset()  # The names of those that changed; of key paths the first name.
    deleted: bool = False  # Nothing follows.

    def __bool__(self) -> bool:
        return self.deleted or bool(self.properties)


@dataclass(frozen=True)
class DatabaseChange:
    """Of a database: it shows another snapshot."""

    version: int


_NO_CHANGE = CollectionChange()
_NO_DICTIONARY_CHANGE = DictionaryChange()
