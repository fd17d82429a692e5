"""Versions of a file that are in use: the result of `Database.versions`, and the warning about old ones."""

from __future__ import annotations

import operator
from datetime import datetime
from typing import NamedTuple, Optional

from ._library import lib
from .errors import DataError


class PinnedVersion(NamedTuple):
    """A version of the file that is still in use. Space that was freed after this version cannot be reused yet."""

    version: int
    since: datetime  # When it was pinned.
    process_id: int  # The process that pinned it; its number and that of the thread are the operating system's.
    thread_id: int
    held_bytes: int  # Bytes freed after this version. They can be reused when it and all older ones are released.


def set_pin_warning(bytes: Optional[int]) -> None:
    """Sets the size of a file above which a commit warns of an old version in use that makes the file grow.

    The warning goes to the library's log (standard error) and names the oldest version in use, its process
    and thread. It comes if the file grows because of that version, is larger than `bytes`, and is larger than
    twice the data in it; once for each version. The limit is for all databases of the process. Any thread.

    bytes: the default is 64 MB. None: no warnings. DataError for 0, a negative number, and one of more than
           64 bits.
    """
    limit = 0 if bytes is None else operator.index(bytes)
    if not 0 <= limit < 1 << 64 or (limit == 0 and bytes is not None):
        raise DataError("a size is a positive number of up to 64 bits, or None")
    lib.crealm_set_pin_warning(limit)
