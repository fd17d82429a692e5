"""What `Database.versions` finds."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class PinnedVersion(NamedTuple):
    """A version of the file that somebody still reads, so that space that was freed after it is not used again."""

    version: int
    since: datetime  # When it was pinned.
    process_id: int  # Who pinned it, as the system calls process and thread there.
    thread_id: int
    held_bytes: int  # Freed after this version; to be used again when this one and all older ones are let go.
