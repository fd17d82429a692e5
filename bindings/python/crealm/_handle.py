"""Ownership of C handles, when they are released, and `call()`, the only way to call the library with a handle.

An `Owner` has one open realm and the addresses of all handles that came from it. A `Handle` has one
of these addresses; when the last reference to it goes, its C handle is released. Other Python code may
run between any two steps of this package: signal handlers, finalizers, trace functions. Therefore:

1. Each C handle is released exactly once: its address leaves `Owner.live` when it is released, and
   no address outside that set is ever released.
2. Only inside `call()` does the package pass addresses to the library, and read the library's texts
   and bytes. While a call is in progress, no handle of its realm is released, and the realm is not
   closed: both wait in `later` until the call is over. Calls that change data or move to another
   snapshot (MOVES in `_prototypes`) raise BusyError meanwhile; calls that read are allowed.
3. Values are encoded for the library before a call: no code of the program runs inside one.
4. Handles are released on the owner's thread. A finalizer that runs on another thread leaves the
   release to the owner's next call. (Frozen realms have no thread: see `FrozenOwner`.)
5. Closing releases all handles and then the realm. Using a handle after that raises ClosedError. A
   borrowed realm is neither closed nor released: only the handles that came from it are. An opened
   realm closes itself when the last reference to it goes (`OpenedRealm`), so that an interrupt before
   its `Owner` exists leaves no file open.
6. After a fork the child never calls the library for the parent's handles. It raises ForkedError.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from contextlib import contextmanager
from functools import partial
from typing import Any, Callable, Deque, Dict, Iterator, List, NoReturn, Optional, Set, Union

from . import _marshal as c
from ._library import OpenedRealm, lib
from ._progress import Attendant
from .errors import BusyError, ClosedError, ForkedError, WrongThreadError

_OPEN, _CLOSED, _FORKED = range(3)
_get_ident = threading.get_ident


class Callee:
    """A realm or another C handle, on which functions of the library are called."""

    __slots__ = ()
    owner: Owner
    pointer: int

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls function(pointer, *arguments), as one call. `function` is a function of the library, or a Python
        function such as those of `_marshal`, which may call several of the library and reads their results."""
        owner = self.owner
        if owner.ident != _get_ident():
            return owner.call_elsewhere(self, function, arguments)
        before = owner.depth
        try:
            owner.depth = before + 1  # From here on no other code can close the realm.
            if before or owner.state != _OPEN:
                owner.admit(function, arguments, before)
            return function(self.pointer, *arguments)
        finally:
            owner.depth = before
            if owner.later and not before:
                owner.settle()

    def make(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        """The handle that function(pointer, *arguments) returns."""
        handle: Handle = self.call(_made, self.owner, function, *arguments)
        return handle

    def find(self, function: Callable[..., Any], *arguments: Any) -> Optional[Handle]:
        """As `make`, for functions that search: None if they find nothing."""
        handle: Optional[Handle] = self.call(_found, self.owner, function, *arguments)
        return handle


def _made(pointer: int, owner: Owner, function: Callable[..., Any], *arguments: Any) -> Handle:
    return Handle(owner, c.get_pointer(pointer, function, *arguments))


def _found(pointer: int, owner: Owner, function: Callable[..., Any], *arguments: Any) -> Optional[Handle]:
    found = c.find_pointer(pointer, function, *arguments)
    return None if found is None else Handle(owner, found)


class Owner(Callee):
    """One open realm: its C handle, its thread, and all handles that depend on it."""

    __slots__ = (
        "path",
        "pointer",
        "thread",
        "ident",
        "live",
        "later",
        "state",
        "is_done",
        "depth",
        "opened",
        "watcher",
        "pages",
        "drops",
        "attendant",
        "closing",
        "__weakref__",
    )

    def __init__(self, realm: Union[OpenedRealm, int], path: str, attendant: Optional[Attendant] = None) -> None:
        self.path = path
        self.opened = realm if isinstance(realm, OpenedRealm) else None  # None: borrowed.
        self.pointer: int = (realm.value or 0) if isinstance(realm, OpenedRealm) else realm
        self.thread = threading.current_thread()
        self.ident = _get_ident()
        self.live: Set[int] = set()
        self.later: Deque[Callable[[], object]] = deque()
        self.state = _OPEN
        self.is_done = False  # Whether close() has run to its end.
        self.depth = 0  # How many nested calls are in progress.
        self.watcher: Any = None  # The changes that wait for observers; see `observing`. None when borrowed.
        self.pages: Dict[int, Any] = {}  # The current pages of loops; see `_pages`.
        self.drops = 0  # How often drop_pages() was called.
        self.attendant = attendant  # Decides whether long calls go on; see `_progress`.
        self.closing = threading.Lock()  # Held by interrupt() and by close().
        _owners.add(self)

    def drop_pages(self) -> None:
        """Drops the pages of all loops, because the database changes or is closed."""
        self.drops += 1
        while self.pages:
            try:
                self.pages.popitem()[1].drop()
            except KeyError:
                return  # A loop ended meanwhile, and removed the last page.

    @property
    def owner(self) -> Owner:  # type: ignore[override]
        return self

    @property
    def is_closed(self) -> bool:
        return self.state != _OPEN

    @property
    def is_here(self) -> bool:
        """Whether the current thread is the owner's thread."""
        return self.ident == _get_ident()

    @property
    def is_forked(self) -> bool:
        """Whether a parent process opened the realm."""
        return self.state == _FORKED

    def check(self) -> None:
        """Raises if a call is not allowed: the realm is closed, or this is not its thread."""
        if self.state != _OPEN or self.ident != _get_ident():
            self.refuse()

    def refuse(self) -> NoReturn:
        if self.state == _FORKED:
            raise ForkedError("This database was opened by the parent process", path=self.path)
        if self.state == _CLOSED:
            raise ClosedError(f"The database is closed: {self.path}", path=self.path)
        raise WrongThreadError(
            f"This database was opened on thread {self.thread.name!r} "
            f"and used on thread {threading.current_thread().name!r}",
            path=self.path,
        )

    def call_elsewhere(self, callee: Callee, function: Callable[..., Any], arguments: Any) -> Any:
        """Handles a call on a thread that is not the owner's: raises. Frozen owners allow it."""
        self.refuse()

    def admit(self, function: Callable[..., Any], arguments: Any, depth: int) -> None:
        """Checks a call inside another call or on a realm that is not open. Raises if the call is not allowed."""
        self.check()
        if depth and any(getattr(f, "moves", False) for f in (function, *arguments)):
            raise BusyError("The database is in the middle of another call", path=self.path)

    def settle(self) -> None:
        """Runs the work that waited for the end of a call."""
        while self.later:
            try:
                self.later.popleft()()
            except IndexError:
                return  # A finalizer took the last entry meanwhile.

    def release(self, pointer: int) -> None:
        """Releases a handle, unless it was released before. Any thread."""
        if self.state != _OPEN:
            return
        if self.depth or self.ident != _get_ident():
            self.later.append(partial(self.release, pointer))
            return
        try:
            self.live.remove(pointer)  # Atomic: of two releases of the same handle, only one continues.
        except KeyError:
            return
        lib.realm_release(pointer)

    def interrupt(self) -> None:
        """Ends the call that is in progress on the owner's thread. Any thread."""
        if self.is_here:  # On the owner's thread, for example in a signal handler inside a call.
            self.call(c.check, lib.crealm_interrupt)
            return
        with self.closing:  # Meanwhile the owner's thread cannot close the realm or release its handles.
            if self.state == _OPEN:
                c.check(self.pointer, lib.crealm_interrupt)
        if self.state != _OPEN:
            self.refuse()

    def close(self) -> None:
        """Closes the realm and releases all handles, now or when the call in progress is over.
        A second call does nothing, unless the first was interrupted."""
        if self.state == _FORKED or self.is_done:
            return
        with self.closing:
            self.state = _CLOSED
        self.drop_pages()
        if self.depth:
            self.later.append(self.close)
            return
        try:
            self.depth = 1
            if self.opened:
                lib.realm_close(self.pointer)
            while self.live:
                lib.realm_release(self.live.pop())
            self.pointer = 0
            if self.opened is not None:
                self.opened.close()
                self.opened = None
        finally:
            self.depth = 0
            self.later.clear()
            if self.watcher is not None:
                self.watcher.end()
        self.is_done = True

    def close_at_exit(self) -> None:
        """As `close`, unless the realm's thread may still be inside a call."""
        if self.ident == _get_ident() or not self.thread.is_alive():
            self.close()


class FrozenOwner(Owner):
    """A frozen realm. All threads may call it at the same time, and release handles that came from it. After close()
    the realm is closed at the end of the last call in progress."""

    __slots__ = ("visits", "ending")

    def __init__(self, realm: OpenedRealm, path: str) -> None:
        self.visits: Set[object] = set()  # The calls in progress. Adding and removing are atomic.
        self.ending = threading.Lock()
        super().__init__(realm, path)
        self.ident = 0  # No thread has this number.

    @property
    def is_here(self) -> bool:
        return False

    def check(self) -> None:
        if self.state != _OPEN:
            self.refuse()

    def call_elsewhere(self, callee: Callee, function: Callable[..., Any], arguments: Any) -> Any:
        visit = object()
        try:
            self.visits.add(visit)  # Before the state is checked: close() sets the state first, and then checks `visits`.
            self.check()
            return function(callee.pointer, *arguments)
        finally:
            self.visits.discard(visit)
            if self.state == _CLOSED:
                self._let_go()

    def interrupt(self) -> None:
        self.call(c.check, lib.crealm_interrupt)

    def release(self, pointer: int) -> None:
        if self.state != _OPEN:
            return
        try:
            self.live.remove(pointer)
        except KeyError:
            return
        lib.realm_release(pointer)

    def close(self) -> None:
        if self.state != _FORKED:
            self.state = _CLOSED
            self.drop_pages()
            self._let_go()

    def close_at_exit(self) -> None:
        self.close()

    def _let_go(self) -> None:
        if self.visits or not self.ending.acquire(blocking=False):
            return  # The last call in progress will close the realm, or another thread is closing it.
        try:
            while self.live:
                lib.realm_release(self.live.pop())
            if self.opened is not None:
                self.opened.close()
                self.opened = None
        finally:
            self.ending.release()


class Handle(Callee):
    """One C handle that came from a realm."""

    __slots__ = ("owner", "pointer", "__weakref__")

    def __init__(self, owner: Owner, pointer: int) -> None:
        self.owner = owner
        self.pointer = pointer
        owner.live.add(pointer)

    def read(self, key: int) -> Any:
        """The value of a single-valued property, for the handle of an object. The same as call(c.get_property, key), in fewer
        steps, because programs read most single values this way."""
        owner = self.owner
        if owner.depth or owner.ident != _get_ident():
            return self.call(c.get_property, key)
        try:
            owner.depth = 1
            if owner.state != _OPEN:
                owner.check()
            return c.get_property(self.pointer, key)
        finally:
            owner.depth = 0
            if owner.later:
                owner.settle()

    def __del__(self) -> None:
        try:
            owner, pointer = self.owner, self.pointer
        except AttributeError:
            return  # Interrupted before it was made.
        if owner.depth or owner.ident != _get_ident():
            return owner.release(pointer)
        try:
            owner.live.remove(pointer)  # Atomic, as in `release`. The set is empty after the realm is closed.
        except KeyError:
            return
        lib.realm_release(pointer)


_owners: "weakref.WeakSet[Owner]" = weakref.WeakSet()


def open_owners_here() -> List[Owner]:
    """The owners of the open realms of this thread."""
    return [owner for owner in list(_owners) if owner.is_here and not owner.is_closed]


@contextmanager
def outside_of_calls() -> Iterator[None]:
    """For functions of the program that the library calls from its scheduler, where every call is allowed:
    calls inside the block count as outermost calls."""
    depths = [(owner, owner.depth) for owner in open_owners_here()]
    for owner, _ in depths:
        owner.depth = 0
    try:
        yield
    finally:
        for owner, depth in depths:
            owner.depth = depth


def resolved(
    target: Owner, handle: Handle, read: Callable[..., Optional[int]], function: Callable[..., Any]
) -> Optional[Handle]:
    """A handle for the same object, collection or results in another realm; None if that realm does not have it."""
    found: Optional[Handle] = target.call(_resolved, target, handle, read, function)
    return found


def _resolved(
    pointer: int, owner: Owner, handle: Handle, read: Callable[..., Optional[int]], function: Callable[..., Any]
) -> Optional[Handle]:
    found = handle.call(read, function, pointer)
    return None if found is None else Handle(owner, found)


def _after_fork_in_child() -> None:
    for owner in list(_owners):
        if owner.state == _OPEN:
            owner.state = _FORKED
            owner.live.clear()  # A child releases nothing.
            owner.drop_pages()
            if owner.opened is not None:
                owner.opened.value = None  # The parent closes it.


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
