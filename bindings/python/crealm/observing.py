"""Observers are functions and loops that receive the changes of this program and of other ones.

    with db["Person"].where("age > 30").observe(print):
        while db.wait_for_change():
            pass

    async for change in ann.dogs.changes():
        print(len(ann.dogs), change.insertions)

An observer gets a change when the database moves to the snapshot that contains it: at the beginning of a write,
in refresh(), in wait_for_change(), and, if an event loop of asyncio was running on this thread when the observation
began, in iterations of that loop. In such an iteration all open databases of the thread move on. The loop does not
poll: it waits for a file descriptor, which every commit makes readable, also one of another process.

The library reports changes during a call; the package keeps the reports until the call is over. Then it calls the
program's functions, one by one. They may do everything: write, refresh, close the database, begin and end
observations. A database does not move on before all of them were called, so that each function finds the
snapshot that its change describes: if one of them begins a write, the others are called first.
"""

from __future__ import annotations

import os
import select
import sys
import threading
import time
import weakref
from collections import deque
from ctypes import PYFUNCTYPE, c_char_p, py_object
from functools import partial
from itertools import count
from typing import Any, Callable, Deque, Iterable, List, NamedTuple, NoReturn, Optional, Set, Tuple, Union

from . import _marshal as c
from ._handle import Callee, FrozenOwner, Handle, Owner, open_owners_here
from ._library import lib
from ._prototypes import DatabaseMoved, Told
from .changes import CollectionChange, DatabaseChange, Move, ObjectChange
from .errors import BusyError, DataError, NoSuchProperty, UsageError

Keys = Union[str, Iterable[str], None]
Paths = Optional[List[str]]


def _paths(keys: Keys) -> Paths:
    return None if keys is None else [keys] if isinstance(keys, str) else list(keys)


# ------------------------------------------------------------------------------------------------
# Objects and collections that can be observed
# ------------------------------------------------------------------------------------------------


class Subject(NamedTuple):
    """An object or collection to observe. The observation clones the handle, because in the library all callbacks
    of one handle share the union of their key paths."""

    db: Any  # Kept open while the observation is active.
    handle: Handle
    kind: Kind
    class_key: Optional[int]  # The class at which key paths begin; None if the elements are values.
    change: Callable[..., Any]  # Makes the change object from the result of `kind.read`.


class Kind(NamedTuple):
    add: Any
    read: Callable[[int], Tuple[Any, ...]]


OBJECT = Kind(lib.realm_object_add_notification_callback, c.read_object_changes)
LIST = Kind(lib.realm_list_add_notification_callback, c.read_collection_changes)
SET = Kind(lib.realm_set_add_notification_callback, c.read_collection_changes)
DICTIONARY = Kind(lib.realm_dictionary_add_notification_callback, c.read_dictionary_changes)
RESULTS = Kind(lib.realm_results_add_notification_callback, c.read_collection_changes)


def collection_change(
    deletions: Any, insertions: Any, before: Any, after: Any, moves: Any, *flags: bool
) -> CollectionChange:
    return CollectionChange(deletions, insertions, before, after, tuple(Move(*m) for m in moves), *flags)


def object_change(name: Callable[[int], Iterable[str]], keys: Iterable[int], deleted: bool) -> ObjectChange:
    return ObjectChange(frozenset(found for key in keys for found in name(key)), deleted)


class Observable:
    """Base of objects, lists, sets, dictionaries, results and tables, which can be observed."""

    __slots__ = ()

    def _subject(self, paths: Paths) -> Subject:
        raise NotImplementedError

    def observe(self, function: Callable[[Any], object], keys: Keys = None) -> Observation:
        """Calls function(change) after each change of this object or collection, and once at the beginning; see
        `changes` for the arguments.

        Keep the result: the observation ends when it is no longer referred to, at its cancel(), or when the
        database is closed.

        keys: the properties to observe, as "name" or ["name", "dogs.age", "address.*"]; paths begin at this
              object or at the elements. Without keys a change of any property of an object counts; for an
              element of a collection also changes of objects that it links to, over up to three links.
              Insertions and deletions are always reported. NoSuchProperty for a wrong path.

        An exception of the function goes to sys.unraisablehook. UsageError inside a write that has already
        changed something.
        """
        paths = _paths(keys)
        return Observation(self._subject(paths), function, paths)

    def changes(self, keys: Keys = None) -> Changes:
        """The changes, for `async for change in results.changes():`. Arguments as for observe()."""
        paths = _paths(keys)
        subject = self._subject(paths)
        return Changes(subject.handle.owner, lambda function: Observation(subject, function, paths))


# ------------------------------------------------------------------------------------------------
# Observations
# ------------------------------------------------------------------------------------------------


class Observation:
    """The result of observe(). It ends when it is no longer referred to, at cancel(), at the end of a `with`
    block, and when the database is closed."""

    __slots__ = ("_owner", "_number", "_subject", "_watched", "_token", "_function", "_thread", "__weakref__")

    def __init__(
        self, subject: Union[Subject, Moves], function: Callable[[Any], object], paths: Paths = None
    ) -> None:
        if not callable(function):
            raise TypeError(f"A function is told of changes, not {type(function).__name__}")
        handle: Callee = subject.handle
        self._owner = handle.owner
        if isinstance(self._owner, FrozenOwner):
            raise UsageError("What is frozen does not change: there is nothing to observe")
        self._function: Optional[Callable[[Any], object]] = function
        self._subject: Union[Subject, Moves, None] = subject
        self._watched: Optional[Handle] = None
        self._token: Optional[Handle] = None
        self._number = next(_numbers)
        self._owner.check()
        self._thread = _Thread.here()
        _by_number[self._number] = self
        if isinstance(subject, Subject):
            filters = None if paths is None else _key_paths(subject, paths)
            self._watched = handle.make(lib.realm_clone)
            pointer = None if filters is None else filters.pointer
            self._token = self._watched.make(subject.kind.add, self._number, None, pointer, _told)
        else:
            self._token = handle.make(subject.add, _moved, self._number, None)
        self._owner.watcher.observations.add(self)
        self._thread.begin(self._number)

    @property
    def is_active(self) -> bool:
        """Whether the observation has not ended."""
        return self._function is not None and not self._owner.is_closed

    def cancel(self) -> None:
        """Ends the observation: the function is not called again. A second call does nothing."""
        self._function = None
        self._token = None  # Released before the handle that it observes.
        self._watched = None
        self._subject = None
        _by_number.pop(self._number, None)
        self._thread.end(self._number)

    def __enter__(self) -> Observation:
        return self

    def __exit__(self, *_: Any) -> None:
        self.cancel()

    def __del__(self) -> None:
        try:
            self.cancel()
        except AttributeError:
            pass  # Interrupted before it was made.

    def __reduce__(self) -> NoReturn:
        raise TypeError("An observation cannot be pickled or copied")

    def _read(self, changes: int) -> Tuple[Any, ...]:
        """Reads a change set of the library. Only inside the callback that received it."""
        subject = self._subject
        assert isinstance(subject, Subject)
        return subject.kind.read(changes)

    def _tell(self, read: Tuple[Any, ...]) -> None:
        function, subject = self._function, self._subject
        if function is None or subject is None:
            return
        try:
            function(subject.change(*read))
        except Exception as error:
            _report(error)


class Moves(NamedTuple):
    """The subject of an observation of a whole database."""

    handle: Owner
    db: Any
    add: Any = lib.realm_add_realm_changed_callback
    change: Callable[..., Any] = DatabaseChange


def _key_paths(subject: Subject, texts: List[str]) -> Handle:
    if subject.class_key is None:
        raise UsageError("The elements are values: there are no properties to choose from")
    paths = [c.c_name(text) for text in texts]
    array = (c_char_p * max(len(paths), 1))(*paths)
    owner = subject.handle.owner
    try:
        return owner.make(lib.realm_create_key_path_array, subject.class_key, len(paths), array)
    except DataError as error:
        raise NoSuchProperty(error.message, code=error.code, path=error.path) from None


_numbers = count(1)
_by_number: "weakref.WeakValueDictionary[int, Observation]" = weakref.WeakValueDictionary()


def _take(number: Optional[int], read: Callable[[Observation], Tuple[Any, ...]]) -> None:
    observation = _by_number.get(number or 0)
    if observation is not None and observation._function is not None:
        watcher = observation._owner.watcher
        if watcher is not None:
            watcher.waiting.append((weakref.ref(observation), read(observation)))


# The two functions that the library calls. They are never freed. Their argument is the number of an observation, which
# may have ended.
_told = Told(lambda number, changes: _take(number, lambda observation: observation._read(changes)))
_moved = DatabaseMoved(lambda number: _take(number, lambda o: (c.get_version(o._owner.pointer),)))


def _raise(error: BaseException) -> None:
    raise error


# Calls `_raise` through C, because then ctypes passes the exception to sys.unraisablehook.
_report = PYFUNCTYPE(None, py_object)(_raise)


# ------------------------------------------------------------------------------------------------
# Delivering changes
# ------------------------------------------------------------------------------------------------


class Watcher:
    """The changes that wait for the observers of one database. When the database has moved to another
    snapshot, `moved` is called before them."""

    __slots__ = ("moved", "waiting", "told", "observations", "iterations")

    def __init__(self, moved: "weakref.WeakMethod[Callable[[], None]]") -> None:
        self.moved = moved
        self.waiting: Deque[Tuple["weakref.ref[Observation]", Tuple[Any, ...]]] = deque()
        self.told = 0
        self.observations: "weakref.WeakSet[Observation]" = weakref.WeakSet()
        self.iterations: "weakref.WeakSet[Changes]" = weakref.WeakSet()

    def tell(self, owner: Owner) -> None:
        """Calls the program's functions. Does nothing while a call of the library is in progress."""
        while self.waiting and not owner.depth and not owner.is_closed:
            try:
                reference, read = self.waiting.popleft()
            except IndexError:
                return  # Other code delivered the last change meanwhile.
            observation = reference()
            if observation is not None:
                self.told += 1
                observation._tell(read)

    def end(self) -> None:
        """Ends all observations, because the database was closed. Any thread."""
        self.waiting.clear()
        for observation in list(self.observations):
            observation.cancel()
        for iteration in list(self.iterations):
            iteration._wake()


def take_turn() -> None:
    """Moves all databases of this thread to the newest snapshot, and calls their observers."""
    for owner in open_owners_here():
        if owner.watcher is not None:
            owner.watcher.tell(owner)
    run: Callable[[], Any] = _Thread.here().run
    owners = [owner for owner in open_owners_here() if owner.watcher is not None]
    for owner in owners:
        run = partial(owner.call, _inside, run)
    run()
    for owner in owners:
        moved = owner.watcher.moved()
        if moved is not None and not owner.is_closed:
            moved()
    for owner in owners:
        owner.watcher.tell(owner)


def _inside(pointer: int, run: Callable[[], Any]) -> None:
    run()


_inside.moves = True  # type: ignore[attr-defined]


def wait_for_turn(seconds: Optional[float]) -> bool:
    """Waits until take_turn() has work to do; False if the time is over first. Signal handlers run meanwhile."""
    poll = select.poll()
    poll.register(_Thread.here().descriptor, select.POLLIN)
    return bool(poll.poll(None if seconds is None else max(0, seconds) * 1000))


def changes_descriptor() -> int:
    """The file descriptor that is readable while take_turn() of this thread has work to do."""
    return _Thread.here().descriptor


def wait_for_change(db: Any, owner: Owner, timeout: Optional[float]) -> bool:
    """See Database.wait_for_change."""
    watcher: Watcher = owner.watcher
    end = None if timeout is None else time.monotonic() + timeout
    before = watcher.told, db.version
    while True:
        take_turn()
        if owner.is_closed or (watcher.told, db.version) != before:
            return True
        if not wait_for_turn(None if end is None else end - time.monotonic()):
            return False


# ------------------------------------------------------------------------------------------------
# Threads and their event loops
# ------------------------------------------------------------------------------------------------


class _Thread:
    """The state that all observations of one thread share: its scheduler in the library, the descriptor that is
    readable while take_turn() has work to do, and the event loop that watches the descriptor."""

    def __init__(self) -> None:
        self.ident = threading.get_ident()
        self.process = os.getpid()
        self.scheduler: int = lib.realm_scheduler_make_default() or c.fail()
        self.descriptor = c.get_descriptor(self.scheduler)
        self.active: Set[object] = set()  # Observations and waiting writes. The event loop watches while there are any.
        self.loop: Any = None
        # An exception such as KeyboardInterrupt, from a function that the library called; run() raises it.
        self.interrupt: Optional[BaseException] = None

    @staticmethod
    def here() -> _Thread:
        found: Optional[_Thread] = getattr(_local, "thread", None)
        if found is None or found.process != os.getpid():
            found = _local.thread = _Thread()
        return found

    def __del__(self) -> None:
        if getattr(self, "scheduler", None) and self.process == os.getpid():
            lib.realm_release(self.scheduler)

    def run(self) -> None:
        c.check(self.scheduler, lib.crealm_scheduler_run, 0, None)
        interrupt, self.interrupt = self.interrupt, None
        if interrupt is not None:
            raise interrupt

    def begin(self, something: object) -> None:
        self.active.add(something)
        self.join_loop()

    def end(self, something: object) -> None:
        """Removes an observation or write, and ends the watching after the last one. Any thread."""
        self.active.discard(something)
        loop = self.loop
        if self.active or loop is None or self.process != os.getpid():
            return
        if self.ident == threading.get_ident():
            self.leave_loop()
        else:
            post(loop, self.leave_loop)

    def join_loop(self) -> None:
        """Makes the event loop that runs on this thread, if there is one, watch the descriptor."""
        loop = running_loop()
        if loop is None or loop is self.loop:
            return
        if self.loop is not None and not self.loop.is_closed():
            self.loop.remove_reader(self.descriptor)
        loop.add_reader(self.descriptor, self.turn)
        self.loop = loop

    def leave_loop(self) -> None:
        loop = self.loop
        if loop is not None and not self.active:
            self.loop = None
            if not loop.is_closed():
                loop.remove_reader(self.descriptor)

    def turn(self) -> None:
        """Called by the event loop when the descriptor is readable."""
        try:
            take_turn()
        except BusyError:
            pass  # A call is in progress. The descriptor stays readable, so the loop will try again.


_local = threading.local()
thread_here = _Thread.here


def running_loop() -> Any:
    """The event loop that runs on this thread; None if no loop runs."""
    asyncio = sys.modules.get("asyncio")  # If asyncio is not imported, no loop runs.
    if asyncio is None:
        return None
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def post(loop: Any, function: Callable[..., None], *arguments: Any) -> None:
    """Makes a loop call a function. Any thread."""
    try:
        loop.call_soon_threadsafe(function, *arguments)
    except RuntimeError:
        pass  # The loop is closed.


class Changes:
    """The result of changes(), for `async for`. It begins to observe when it is made. It ends when the database is
    closed, at cancel(), when it is no longer referred to, and after a change with `deleted`. Changes that
    arrive while the body of the loop awaits something else are queued; the database moves on meanwhile."""

    def __init__(self, owner: Owner, observe: Callable[[Callable[[Any], None]], Observation]) -> None:
        self._owner = owner
        self._line: Deque[Any] = deque()
        self._waiter: Any = None
        self._observation: Optional[Observation] = observe(partial(_append, weakref.ref(self)))
        owner.watcher.iterations.add(self)

    def cancel(self) -> None:
        """Ends the observation and the loop."""
        observation, self._observation = self._observation, None
        if observation is not None:
            observation.cancel()
        self._wake()

    def __enter__(self) -> Changes:
        return self

    def __exit__(self, *_: Any) -> None:
        self.cancel()

    def __aiter__(self) -> Changes:
        return self

    async def __anext__(self) -> Any:
        if self._waiter is not None:
            raise RuntimeError("Another task waits for the next change here: each needs changes() of its own")
        while not self._owner.is_closed and self._observation is not None:
            self._owner.check()
            if self._line:
                change = self._line.popleft()
                if getattr(change, "deleted", False):
                    self.cancel()
                return change
            self._observation._thread.join_loop()
            self._waiter = running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        raise StopAsyncIteration

    def _wake(self) -> None:
        """Resumes the task that waits for the next change. Any thread."""
        waiter = self._waiter
        if waiter is not None:
            loop = waiter.get_loop()
            if loop is running_loop():
                _arrive(waiter)
            else:
                post(loop, _arrive, waiter)


def _append(reference: "weakref.ref[Changes]", change: Any) -> None:
    changes = reference()
    if changes is not None:
        changes._line.append(change)
        changes._wake()


def _arrive(waiter: Any) -> None:
    if not waiter.done():
        waiter.set_result(None)
