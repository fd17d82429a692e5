"""Answers about a snapshot, kept as they were sent: when a file has changed, all pages that show it ask the same at the same moment, and it is enough
to find it out for one of them. Who asks meanwhile waits for that.

A snapshot is one version for as long as it is there, so that what is kept never becomes wrong. It goes with its snapshot, and the oldest goes first
where there is too much of it.
"""

from __future__ import annotations

import threading
from typing import Callable, Dict, Hashable, Set

from .work import Job

_MOST = 16 << 20  # Bytes of all answers of one snapshot.
_LARGEST = 2 << 20  # Of one.
_STEP = 0.1  # Seconds between looks at whether somebody still waits.


class Answers:
    """The answers about one snapshot. Any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._kept: Dict[Hashable, bytes] = {}
        self._making: Set[Hashable] = set()
        self._size = 0

    def get(self, key: Hashable, make: Callable[[], bytes], job: Job) -> bytes:
        """The answer to a question; the first that asks makes it. Interrupted where the work shall end. An error is for who made it alone."""
        with self._changed:
            while key in self._making:
                self._changed.wait(_STEP)
                job.check()
            if key in self._kept:
                found = self._kept[key] = self._kept.pop(key)  # The newest is the last.
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
