"""A cache of encoded answers about a snapshot. After a change of a file, all pages that show it send the same requests at the same moment: the first
request computes the answer, and the others wait for it.

A snapshot is one version that never changes, so a kept answer stays right. The answers go with their snapshot; if they are too large together, the
one that was not used for the longest time goes first.
"""

from __future__ import annotations

import threading
from typing import Callable, Dict, Hashable, Set

from .work import Job

_MOST = 16 << 20  # Bytes of all answers of one snapshot.
_LARGEST = 2 << 20  # Bytes of one answer that is kept.
_STEP = 0.1  # Seconds between checks whether a waiting request was ended.


class Answers:
    """The answers about one snapshot. Any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._kept: Dict[Hashable, bytes] = {}
        self._making: Set[Hashable] = set()
        self._size = 0

    def get(self, key: Hashable, make: Callable[[], bytes], job: Job) -> bytes:
        """The answer to a question; the first caller computes it, and others wait. Interrupted if the job is stopped. An error of `make` is raised only
        in the caller that computed the answer; the next one tries again."""
        with self._changed:
            while key in self._making:
                self._changed.wait(_STEP)
                job.check()
            if key in self._kept:
                found = self._kept[key] = self._kept.pop(key)  # The last one is the one used most recently.
                return found
            self._making.add(key)
        try:
            made = make()
            self._keep(key, made)
            return made
        finally:
            with self._changed:
                self._making.discard(key)
                self._changed.notify_all()

    def _keep(self, key: Hashable, made: bytes) -> None:
        if len(made) > _LARGEST:
            return
        with self._changed:
            self._kept[key] = made
            self._size += len(made)
            while self._size > _MOST:
                self._size -= len(self._kept.pop(next(iter(self._kept))))
