"""Observing: functions and loops that get the changes that this program or another one made.

    with db["Person"].where("age > 30").observe(print):
        while db.wait_for_change():
            pass

    async for change in ann.dogs.changes():
        print(len(ann.dogs), change.insertions)

An observer gets a change when the database moves on to the snapshot that has it: at the beginning of a write, in
refresh(), in wait_for_change(), and in turns of the event loop of asyncio, if one was running on this
thread when the observation began. All open databases of a thread move on in such a turn. There is no
polling: the loop waits for a descriptor that commits, also those of other processes, make readable.

The library reports changes during a call; the reports wait until the call is over. Then the program's
functions are called, one by one. They may do everything: write, refresh, close the database, begin and end
observations. A database does not move on before all of them were called, so that each function finds the
snapshot that its change describes: if one of them writes, the others are called first.
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
# What can be observed
# ------------------------------------------------------------------------------------------------


class Subject(NamedTuple):
    """What is to be observed. The observation clones the handle, because in the library all callbacks on one
    handle share the union of their key paths."""

    db: Any  # Kept open for as long as the observation lasts.
    handle: Handle
    kind: Kind
    class_key: Optional[int]  # Where key paths begin; None where the elements are values.
    change: Callable[..., Any]  # Makes the change object from what `kind.read` returns.


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
    """What can be observed: objects, lists, sets, dictionaries, results and tables."""

    __slots__ = ()

    def _subject(self, paths: Paths) -> Subject:
        raise NotImplementedError

    def observe(self, function: Callable[[Any], object], keys: Keys = None) -> Observation:
        """Calls function(change) when something changed here, and once at the beginning; see `changes`.

        Keep what this returns: the observation ends with it, with its cancel(), or with the database.

        keys: the properties that matter, "name" or ["name", "dogs.age", "address.*"], from the objects here
              on. Without them an object counts as changed by all of its own properties, in a collection
              also by those of the objects that it leads to over up to three links. Insertions and
              deletions are told in any case. NoSuchProperty for a wrong path.

        What the function raises goes to sys.unraisablehook. Inside a write an observation begins before
        the first change: UsageError.
        """
        paths = _paths(keys)
        return Observation(self._subject(paths), function, paths)

    def changes(self, keys: Keys = None) -> Changes:
        """The changes as they come: `async for change in results.changes():`. See observe()."""
        paths = _paths(keys)
        subject = self._subject(paths)
        return Changes(subject.handle.owner, lambda function: Observation(subject, function, paths))


# ------------------------------------------------------------------------------------------------
# Observations
# ------------------------------------------------------------------------------------------------


class Observation:
    """What observe() returns. It ends when nobody has it any more, by cancel(), at the end of a `with`
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
        """Whether it has not ended."""
        return self._function is not None and not self._owner.is_closed

    def cancel(self) -> None:
        """Ends it: the function is not called again. Repeating it does nothing."""
        self._function = None
        self._token = None  # Before the handle that it observes.
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
        """Reads a change set of the library, inside the callback that got it."""
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


# The two functions that the library calls. They live for ever, and get the number of an observation, which may be gone.
_told = Told(lambda number, changes: _take(number, lambda observation: observation._read(changes)))
_moved = DatabaseMoved(lambda number: _take(number, lambda o: (c.get_version(o._owner.pointer),)))


def _raise(error: BaseException) -> None:
    raise error


# C calls this function, so that the exception which leaves it goes to sys.unraisablehook.
_report = PYFUNCTYPE(None, py_object)(_raise)


# ------------------------------------------------------------------------------------------------
# Delivering changes
# ------------------------------------------------------------------------------------------------


class Watcher:
    """The changes that the observers of one database have not got yet. `moved` is called first when the
    database has moved to another snapshot."""

    __slots__ = ("moved", "waiting", "told", "observations", "iterations")

    def __init__(self, moved: "weakref.WeakMethod[Callable[[], None]]") -> None:
        self.moved = moved
        self.waiting: Deque[Tuple["weakref.ref[Observation]", Tuple[Any, ...]]] = deque()
        self.told = 0
        self.observations: "weakref.WeakSet[Observation]" = weakref.WeakSet()
        self.iterations: "weakref.WeakSet[Changes]" = weakref.WeakSet()

    def tell(self, owner: Owner) -> None:
        """Calls the program's functions; if a call is in progress, they are called at its end."""
        while self.waiting and not owner.depth and not owner.is_closed:
            try:
                reference, read = self.waiting.popleft()
            except IndexError:
                return  # Other code delivered the last one meanwhile.
            observation = reference()
            if observation is not None:
                self.told += 1
                observation._tell(read)

    def end(self) -> None:
        """The database was closed. Any thread."""
        self.waiting.clear()
        for observation in list(self.observations):
            observation.cancel()
        for iteration in list(self.iterations):
            iteration._wake()


def take_turn() -> None:
    """Lets all databases of this thread move on to the newest snapshot, and calls their observers."""
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
    """Waits until there is a reason for a turn; False if the time was over first. Signal handlers run meanwhile."""
    poll = select.poll()
    poll.register(_Thread.here().descriptor, select.POLLIN)
    return bool(poll.poll(None if seconds is None else max(0, seconds) * 1000))


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
    """What observations of one thread share: its scheduler in the library, with the descriptor that is
    readable while there is a reason for a turn, and the event loop that watches it."""

    def __init__(self) -> None:
        self.ident = threading.get_ident()
        self.process = os.getpid()
        self.scheduler: int = lib.realm_scheduler_make_default() or c.fail()
        self.descriptor = c.get_descriptor(self.scheduler)
        self.active: Set[object] = set()  # The observations and waiting writes for which the event loop watches the descriptor.
        self.loop: Any = None
        self.interrupt: Optional[BaseException] = None  # Raised, such as KeyboardInterrupt, in a function that the library called.

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
        """Any thread."""
        self.active.discard(something)
        loop = self.loop
        if self.active or loop is None or self.process != os.getpid():
            return
        if self.ident == threading.get_ident():
            self.leave_loop()
        else:
            post(loop, self.leave_loop)

    def join_loop(self) -> None:
        """Lets the event loop that runs on this thread, if there is one, watch the descriptor."""
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
        """The descriptor is readable."""
        try:
            take_turn()
        except BusyError:
            pass  # In the middle of a call: the descriptor stays readable.


_local = threading.local()
thread_here = _Thread.here


def running_loop() -> Any:
    """The event loop that runs on this thread; None without one."""
    asyncio = sys.modules.get("asyncio")  # Where nobody has imported it, none runs.
    if asyncio is None:
        return None
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def post(loop: Any, function: Callable[..., None], *arguments: Any) -> None:
    """Has a loop call a function. Any thread."""
    try:
        loop.call_soon_threadsafe(function, *arguments)
    except RuntimeError:
        pass  # The loop is closed.


class Changes:
    """What changes() returns, for `async for`. It begins when it is made, and ends with the database, by
    cancel(), when nobody has it any more, and after a change that says that what it observes was deleted.
    Changes that come while the block of the loop waits for something else are queued; meanwhile the
    database moves on."""

    def __init__(self, owner: Owner, observe: Callable[[Callable[[Any], None]], Observation]) -> None:
        self._owner = owner
        self._line: Deque[Any] = deque()
        self._waiter: Any = None
        self._observation: Optional[Observation] = observe(partial(_append, weakref.ref(self)))
        owner.watcher.iterations.add(self)

    def cancel(self) -> None:
        """Ends it."""
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
        """Any thread."""
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
