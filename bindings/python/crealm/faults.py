"""What `Database.verify` and `check` find."""

from __future__ import annotations

from typing import Iterable, List, NamedTuple, Optional


class Fault(NamedTuple):
    """One fault of a file, with its place as far as it is known. Its text says both."""

    kind: str  # "node", "space", "tree", "column", "value", "link" or "index": see crealm_fault_kind_e in crealm.h.
    class_name: Optional[str]
    property: Optional[str]
    object_key: Optional[int]
    offset: int  # The byte of the file, decrypted; 0 for no single place.
    message: str
    slot: Optional[int] = None  # Of check(): the slot of the header whose version it is of; None: the file as a whole.

    def __str__(self) -> str:
        return self.message


class Faults(List[Fault]):
    """The faults that are listed, and the number of all."""

    def __init__(self, faults: Iterable[Fault], total: int) -> None:
        super().__init__(faults)
        self.total = total
