"""What `Database.space` and `explain` find."""

from __future__ import annotations

from typing import NamedTuple, Optional


class Space(NamedTuple):
    """A part of a file, and its size."""

    kind: str  # "values", "backlinks", "index", "objects", "schema", "history", "free" or "management".
    class_name: Optional[str]  # None: of no class.
    property: Optional[str]  # None: of no property, or of all.
    bytes: int


class Explanation(NamedTuple):
    """How a query finds its rows. As text it is a sentence."""

    access: str  # "scan", "index", "words" (an index of words), "rows" (of a collection or other results) or "nothing".
    property: Optional[str]  # Whose index is used, of several the first.
    objects: int  # Of the class, or rows of what is queried.
    tested: int  # Whose values are looked at, without regard to a limit.
    found: int  # Rows of the result.
    query: str  # As the engine understood it.

    def __str__(self) -> str:
        way = {
            "scan": "every object is tested",
            "index": f"the index of {self.property} names the candidates",
            "words": f"the index of the words in {self.property} names the candidates",
            "rows": "every row is tested",
            "nothing": "nothing is tested",
        }[self.access]
        return f"{self.query}: {way}; {self.tested} of {self.objects} tested, {self.found} found"
