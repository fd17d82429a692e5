"""The faults that `Database.verify` and `check` return."""

from __future__ import annotations

from typing import Iterable, List, NamedTuple, Optional

from ._shown import ROWS, table


class Fault(NamedTuple):
    """One fault of a file, and its place as far as that is known. str() returns `message`, which describes both."""

    kind: str  # "node", "space", "tree", "column", "value", "link" or "index": see crealm_fault_kind_e in crealm.h.
    class_name: Optional[str]
    property: Optional[str]
    object_key: Optional[int]
    offset: int  # The byte of the file, decrypted; 0 if the fault has no single place.
    message: str
    slot: Optional[int] = None  # From check(): the header slot whose version has the fault; None: the file as a whole.

    def __str__(self) -> str:
        return self.message


class Faults(List[Fault]):
    """A list of faults. `total` is the number of all faults, also of those beyond the limit of the list."""

    def __init__(self, faults: Iterable[Fault], total: int) -> None:
        super().__init__(faults)
        self.total = total

    def _repr_html_(self) -> str:
        if not self.total:
            return table("no faults", ["fault"], [])
        rows = [
            [fault.kind, fault.class_name, fault.property, fault.object_key, fault.offset or None, fault.message]
            for fault in self[:ROWS]
        ]
        names = ["kind", "class", "property", "object", "offset", "message"]
        return table(f"faults: {self.total:,}", names, rows, self.total - len(rows))
