"""What `Database.versions` finds."""

from __future__ import annotations

import operator
from datetime import datetime
from typing import NamedTuple, Optional

from ._library import lib
from .errors import DataError


class PinnedVersion(NamedTuple):
    """A version of the file that somebody still reads, so that space that was freed after it is not used again."""

    version: int
    since: datetime  # When it was pinned.
    process_id: int  # Who pinned it, as the system calls process and thread there.
    thread_id: int
    held_bytes: int  # Freed after this version; to be used again when this one and all older ones are let go.


def set_pin_warning(bytes: Optional[int]) -> None:
    """From which size of a file a commit warns of a version in use that makes the file grow.

    The warning goes to the library's log (standard error) and names the oldest version in use, its process
    and thread. It comes when the file grows for the sake of that version, is longer than this, and longer
    than twice the data in it; once for each version. For all databases of the process, from any thread.

    bytes: 64 MB where this is never called. None: no warnings. DataError for a negative number or one of
           more than 64 bits.
    """
    limit = 0 if bytes is None else operator.index(bytes)
    if not 0 <= limit < 1 << 64 or (limit == 0 and bytes is not None):
        raise DataError("a size is a positive number of up to 64 bits, or None")
    lib.crealm_set_pin_warning(limit)
