"""The results of `Database.space`, `explain` and `Database.locate`."""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Tuple

from ._shown import table


class Space(NamedTuple):
    """A part of a file, and its size."""

    kind: str  # "values", "backlinks", "index", "objects", "schema", "history", "free" or "management".
    class_name: Optional[str]  # None: the part belongs to no class.
    property: Optional[str]  # None: the part belongs to no property, or to all of the class.
    bytes: int


class Spaces(List[Space]):
    """The parts of a file, the largest first: a list, which Jupyter shows as a table."""

    def _repr_html_(self) -> str:
        total = sum(part.bytes for part in self)
        rows = [
            [part.kind, part.class_name, part.property, f"{part.bytes:,}", f"{100 * part.bytes / total:.1f} %"]
            for part in self[:_SPACES]
        ] if total else []
        return table(f"{total:,} bytes", ["kind", "class", "property", "bytes", "share"], rows, len(self) - len(rows))


_SPACES = 50


class Explanation(NamedTuple):
    """How a query finds its rows. str() returns a sentence."""

    access: str  # "scan", "index", "words" (an index of words), "rows" (of a collection or other results) or "nothing".
    property: Optional[str]  # The property whose index is used; the first one if there are several.
    objects: int  # The number of objects of the class, or of rows of the queried collection or results.
    tested: int  # The number of objects whose values are tested; a limit of the query does not count.
    found: int  # The number of rows of the result.
    query: str  # The query as the library understood it.

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
    offset: int  # The offset of the node's header in the decrypted file.
    size: int  # Bytes, with the header of 8 bytes.
    element: Optional[int]  # The element that refers to the next node or holds the value; None: the whole node.


class LocationPart(NamedTuple):
    """A run of bits of a value."""

    kind: str  # "value", "reference", "null" or "key": see crealm_part_kind_e in crealm.h.
    node: int  # The offset of the node that holds it.
    offset: int  # The offset of the first byte in the decrypted file.
    first_bit: int  # The first bit in the byte at the offset; 0 is the lowest.
    bits: int  # The number of bits; 0 in an array of only zeros or only nulls, which stores no bits.
    page: Optional[int]  # The page of an encrypted file; no part crosses the end of a page. None: the file is plain.
    file_offset: int  # The offset of the byte in the file on the disk; in an encrypted file that of its ciphertext.


class Location(NamedTuple):
    """Where a value lies in the file."""

    nodes: Tuple[LocationNode, ...]  # The nodes on the path to the value, beginning with the version's top array.
    parts: Tuple[LocationPart, ...]
    page_size: Optional[int]  # Decrypted bytes of a page of an encrypted file; None: the file is plain.
