"""What `Database.space`, `explain` and `Database.locate` find."""

from __future__ import annotations

from typing import NamedTuple, Optional, Tuple


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


class LocationNode(NamedTuple):
    """A node on the way to a value."""

    role: str  # "top", "tables", "table", "cluster", "column", "collection" or "part": see crealm_node_role_e in crealm.h.
    offset: int  # Of its header, in the file, decrypted.
    size: int  # Bytes, with the header of 8.
    element: Optional[int]  # Which element leads to the next node, or is the value's; None: the node as a whole.


class LocationPart(NamedTuple):
    """Bits of a value."""

    kind: str  # "value", "reference", "null" or "key": see crealm_part_kind_e in crealm.h.
    node: int  # The offset of the node that holds it.
    offset: int  # In the file, decrypted.
    first_bit: int  # In the byte at the offset, from the lowest.
    bits: int  # 0: an array of zeros, or of nulls, has none.
    page: Optional[int]  # Of an encrypted file, where no part reaches over the end of a page; None: it is plain.
    file_offset: int  # Where the byte is in the file as it lies on the disk: of an encrypted one, its ciphertext.


class Location(NamedTuple):
    """Where a value lies in the file."""

    nodes: Tuple[LocationNode, ...]  # On the way, from the top array of the version on.
    parts: Tuple[LocationPart, ...]
    page_size: Optional[int]  # Of an encrypted file: decrypted bytes.
