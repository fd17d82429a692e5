"""Helpers for all sequences of the package: positions, and shortened output."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any


class Cut:
    """Prints the beginning of a collection, and how many elements are missing."""

    def __init__(self, shown: Any, count: int, brackets: str = "") -> None:
        self.shown, self.count, self.brackets = shown, count, brackets

    def __repr__(self) -> str:
        text = repr(self.shown)
        inside, brackets = text[1:-1], self.brackets or text[0] + text[-1]
        missing = self.count - len(self.shown)
        return f"{brackets[0]}{inside}{f', … {missing} more' if missing else ''}{brackets[1]}"


def position_in(index: Any, sequence: Sequence[Any]) -> int:
    """The index as a non-negative position; IndexError if it is out of range."""
    try:
        position = operator.index(index)
    except TypeError:
        raise TypeError(f"Positions are integers, not {type(index).__name__}") from None
    count = len(sequence)
    if position < 0:
        position += count
    if not 0 <= position < count:
        raise IndexError(f"Position {index} of {count}")
    return position
