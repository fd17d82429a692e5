"""Who owns which C handle, and when it is given back.

An `Owner` holds one open realm and the address of every handle that came from it. A `Handle` is one
of those; when it is no longer referred to, its C handle is released. The rules:

1. Each C handle is released exactly once: an address leaves `Owner.live` when it is released, and
   nothing outside that set is ever released.
2. Handles are released on the owner's thread. A finalizer that runs on another thread puts the
   address aside, and the owner's thread releases it with its next call.
3. Closing releases all handles and then the realm. Handles that outlive it raise ClosedError. A
   borrowed realm is neither closed nor released: only the handles that came from it are.
4. After a fork the child never calls the library for the parent's handles. It raises ForkedError.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from typing import Deque, Set

from ._library import lib
from .errors import ClosedError, ForkedError, WrongThreadError

_OPEN, _CLOSED, _FORKED = range(3)
_get_ident = threading.get_ident


class Owner:
    """One open realm: its C handle, its thread, and all handles that depend on it."""

    __slots__ = ("path", "realm", "thread", "ident", "live", "aside", "state", "is_borrowed", "__weakref__")

    def __init__(self, realm: int, path: str, *, is_borrowed: bool = False) -> None:
        self.path = path
        self.realm = realm
        self.is_borrowed = is_borrowed
        self.thread = threading.current_thread()
        self.ident = _get_ident()
        self.live: Set[int] = set()
        self.aside: Deque[int] = deque()
        self.state = _OPEN
        _owners.add(self)

    @property
    def is_closed(self) -> bool:
        return self.state != _OPEN

    @property
    def is_forked(self) -> bool:
        """Whether a parent process opened it."""
        return self.state == _FORKED

    def check(self) -> int:
        """The realm's handle, for one call from the right thread."""
        if self.state != _OPEN or self.ident != _get_ident():
            self.refuse()
        if self.aside:
            self.release_aside()
        return self.realm

    def refuse(self) -> None:
        if self.state == _FORKED:
            raise ForkedError("This database was opened by the parent process", path=self.path)
        if self.state == _CLOSED:
            raise ClosedError(f"The database is closed: {self.path}", path=self.path)
        raise WrongThreadError(
            f"This database was opened on thread {self.thread.name!r} "
            f"and used on thread {threading.current_thread().name!r}",
            path=self.path,
        )

    def release(self, pointer: int) -> None:
        """Gives back one handle, once. Any thread."""
        if self.state != _OPEN or pointer not in self.live:
            return
        if self.ident != _get_ident():
            self.aside.append(pointer)
            return
        self.live.discard(pointer)
        lib.realm_release(pointer)

    def release_aside(self) -> None:
        while self.aside:
            pointer = self.aside.popleft()
            if pointer in self.live:
                self.live.discard(pointer)
                lib.realm_release(pointer)

    def close(self) -> None:
        """Closes the realm and gives back everything. Repeating it does nothing."""
        if self.state != _OPEN:
            return
        self.state = _CLOSED
        self.aside.clear()
        if not self.is_borrowed:
            lib.realm_close(self.realm)
        while self.live:
            lib.realm_release(self.live.pop())
        if not self.is_borrowed:
            lib.realm_release(self.realm)
        self.realm = 0

    def close_at_exit(self) -> None:
        """As `close`, unless the realm's thread may still be inside a call."""
        if self.ident == _get_ident() or not self.thread.is_alive():
            self.close()


class Handle:
    """One C handle that came from a realm."""

    __slots__ = ("owner", "pointer", "__weakref__")

    def __init__(self, owner: Owner, pointer: int) -> None:
        self.owner = owner
        self.pointer = pointer
        owner.live.add(pointer)
        weakref.finalize(self, owner.release, pointer).atexit = False

    def get(self) -> int:
        """The C handle, for one call from the right thread."""
        owner = self.owner
        if owner.state != _OPEN or owner.ident != _get_ident():
            owner.refuse()
        if owner.aside:
            owner.release_aside()
        return self.pointer


_owners: "weakref.WeakSet[Owner]" = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for owner in list(_owners):
        if owner.state == _OPEN:
            owner.state = _FORKED


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
