"""Who owns which C handle, when it is given back, and the one way into the library for a handle.

An `Owner` holds one open realm and the address of every handle that came from it. A `Handle` is one
of those; when it is no longer referred to, its C handle is released. Other Python code may run
between any two steps of this package: signal handlers, finalizers, trace functions. Therefore:

1. Each C handle is released exactly once: its address leaves `Owner.live` when it is released, and
   nothing outside that set is ever released.
2. Only inside `call()` are addresses passed to the library, and its texts and bytes read. While a
   call is in progress nothing of its realm is released or closed: that waits in `later` until the
   call is over. Calls that change data or move to another snapshot (MOVES in `_prototypes`) raise
   BusyError meanwhile; calls that read are allowed.
3. Values are encoded for the library before a call: no code of the program runs inside one.
4. Handles are released on the owner's thread. A finalizer that runs on another thread leaves it to
   the owner's next call. (Frozen realms have no thread: see `FrozenOwner`.)
5. Closing releases all handles and then the realm. Handles that outlive it raise ClosedError. A
   borrowed realm is neither closed nor released: only the handles that came from it are. A realm that
   was opened closes itself when nobody has it any more (`OpenedRealm`), so that an interrupt on the way
   from the library to its `Owner` leaves no file open.
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
        """function(pointer, *arguments), as one call. `function` is one of the library, or one of
        `_marshal`, which may call several and reads what they return."""
        owner = self.owner
        if owner.ident != _get_ident():
            return owner.call_elsewhere(self, function, arguments)
        before = owner.depth
        try:
            owner.depth = before + 1  # From here on nobody can close the realm.
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
        """As `make`, for functions that may find nothing: None."""
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
        self.depth = 0  # How many calls are in progress, one inside the other.
        self.watcher: Any = None  # The changes that observers have not got yet; see `observing`. None when borrowed.
        self.pages: Dict[int, Any] = {}  # What loops have read ahead; see `_pages`.
        self.drops = 0  # How often drop_pages() was called.
        self.attendant = attendant  # Decides whether long calls go on; see `_progress`.
        self.closing = threading.Lock()  # Between interrupt() and close().
        _owners.add(self)

    def drop_pages(self) -> None:
        """The database changes or is closed: what was read ahead is not valid any more."""
        self.drops += 1
        while self.pages:
            try:
                self.pages.popitem()[1].drop()
            except KeyError:
                return  # A loop ended meanwhile, and took the last page out.

    @property
    def owner(self) -> Owner:  # type: ignore[override]
        return self

    @property
    def is_closed(self) -> bool:
        return self.state != _OPEN

    @property
    def is_here(self) -> bool:
        """Whether this is the thread it belongs to."""
        return self.ident == _get_ident()

    @property
    def is_forked(self) -> bool:
        """Whether a parent process opened it."""
        return self.state == _FORKED

    def check(self) -> None:
        """Raises if no call can be made: the realm is closed, or this is another thread."""
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
        """A call on a thread that is not the owner's."""
        self.refuse()

    def admit(self, function: Callable[..., Any], arguments: Any, depth: int) -> None:
        """Checks a call inside another call, or on a realm that is not open: raises if it is not allowed."""
        self.check()
        if depth and any(getattr(f, "moves", False) for f in (function, *arguments)):
            raise BusyError("The database is in the middle of another call", path=self.path)

    def settle(self) -> None:
        """Does what had to wait for the end of a call."""
        while self.later:
            try:
                self.later.popleft()()
            except IndexError:
                return  # A finalizer took the last one meanwhile.

    def release(self, pointer: int) -> None:
        """Gives back one handle, once. Any thread."""
        if self.state != _OPEN:
            return
        if self.depth or self.ident != _get_ident():
            self.later.append(partial(self.release, pointer))
            return
        try:
            self.live.remove(pointer)  # One step: if two want to release it, only one does.
        except KeyError:
            return
        lib.realm_release(pointer)

    def interrupt(self) -> None:
        """Ends what the owner's thread is doing. Any thread."""
        if self.is_here:  # Inside a call: from a signal handler.
            self.call(c.check, lib.crealm_interrupt)
            return
        with self.closing:  # Meanwhile the owner's thread cannot close the realm or release its handles.
            if self.state == _OPEN:
                c.check(self.pointer, lib.crealm_interrupt)
        if self.state != _OPEN:
            self.refuse()

    def close(self) -> None:
        """Closes the realm and gives back everything, now or when the call in progress is over.
        Repeating it does nothing, unless the first time was interrupted."""
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
    """A frozen realm. All threads may call it, many at once, and release what came from it. It is closed
    when the last call that was in progress is over."""

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
            return  # The last call in progress will do it, or another thread is doing it.
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
            owner.live.remove(pointer)  # As in `release`. The set is empty once the realm is closed.
        except KeyError:
            return
        lib.realm_release(pointer)


_owners: "weakref.WeakSet[Owner]" = weakref.WeakSet()


def open_owners_here() -> List[Owner]:
    """The open realms of this thread."""
    return [owner for owner in list(_owners) if owner.is_here and not owner.is_closed]


@contextmanager
def outside_of_calls() -> Iterator[None]:
    """For functions of the program that the library calls from its scheduler, where it allows every call:
    calls that they make count as outermost ones."""
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
    """A handle for the same thing in another realm; None if that realm does not have it."""
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
