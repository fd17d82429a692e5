"""Writes of programs with an event loop: `await db.write_async(function)`, and blocks: `async with db.write():`.

The library waits for other writers on a thread that it starts. When it has the write lock, one iteration of the
event loop runs all waiting functions, each in its own write, and the commits go to the disk together while the
loop continues. A block runs in such an iteration, too: the iteration resumes the task up to the end of its block.
"""

from __future__ import annotations

import weakref
from ctypes import byref, c_uint
from functools import partial
from inspect import iscoroutine
from itertools import count
from typing import Any, Callable, Coroutine, Dict, Generator, Optional, Tuple, TypeVar

from . import _marshal as c
from ._handle import outside_of_calls
from ._library import lib
from ._prototypes import BlockDue, Flushed, UserdataFreed
from ._session import Session
from .errors import ClosedError, CommitOutcomeUnknown, Error, TimedOut, UsageError
from .observing import post, running_loop, thread_here


T = TypeVar("T")


class AsyncWrite:
    """The write of one function: first it waits for the write lock, then its commit waits for the disk."""

    def __init__(self, db: Session, function: Callable[..., Any], arguments: Tuple[Any, ...]) -> None:
        loop = running_loop()
        if loop is None:
            raise UsageError("Asynchronous writes need an event loop of asyncio", hint="Use `with db.write():`.")
        self._db = db
        self._function = function
        self._arguments = arguments
        self._thread = thread_here()
        self._answer = loop.create_future()
        self._result: Any = None
        self._number = next(_numbers)
        self._id = c_uint()
        self._waits = False  # Whether the write waits for the write lock.
        self.committed: Optional[bool] = None  # None: the outcome is not known yet, or cannot be known.

    async def done(self) -> Any:
        """Waits until the changes are on the disk, and returns the result of the function."""
        self._thread.begin(self)
        try:
            self._db._owner.call(_ask, self)
            self._waits = True
            return await self._outcome()
        finally:
            self._give_up()
            self._thread.end(self)

    async def _outcome(self) -> Any:
        """The outcome of the write. If the task is cancelled before the write has begun, the write does not happen. If
        the write has begun, the cancellation waits until the outcome is known, which does not take long."""
        from asyncio import CancelledError, shield

        cancelled: Optional[BaseException] = None
        result: Any = None
        while True:
            try:
                result = await shield(self._answer)
                self.committed = True
                break
            except CancelledError as error:
                cancelled = cancelled or error
                if self._waits:
                    self._give_up()
                    self.committed = False
                    break
                if self._answer.cancelled():  # The end of the event loop cancelled it.
                    break
            except CommitOutcomeUnknown as error:
                if cancelled is None:
                    raise
                cancelled.__context__ = error
                break
            except GeneratorExit:  # The coroutine was closed.
                raise
            except BaseException as error:
                self.committed = False
                if cancelled is None:
                    raise
                cancelled.__context__ = error
                break
        if cancelled is None:
            return result
        cancelled.committed = self.committed  # type: ignore[attr-defined]
        raise cancelled

    def _give_up(self) -> None:
        """Cancels the write if it has not begun, because no task waits for it any more."""
        owner = self._db._owner
        waited, self._waits = self._waits, False
        if waited and owner.is_here and not owner.is_closed:
            owner.call(lib.realm_async_cancel, self._id, None)

    # Called by the library

    def _run(self) -> None:
        """Called after the library has begun the transaction. It rolls the transaction back if this leaves it open."""
        waited, self._waits = self._waits, False
        if not waited:
            return
        if self._answer.get_loop().is_closed():
            return self._thread.end(self)  # No task could learn of the outcome: the write does not happen.
        db, block = self._db, weakref.ref(self)
        try:
            db._block = block
            db._enter_block()
            self._result = self._function(*self._arguments)
            if iscoroutine(self._result):
                self._result.close()
                raise TypeError("write_async() takes a function that does not await: a write waits for nothing")
            if db.is_closed:
                raise ClosedError("The database was closed inside its write: nothing was changed", path=db.path)
            db._owner.call(_commit, self)
            db._end_write(block, is_committed=True)
            db._tell()
        except BaseException as error:
            db._end_write(block)
            self._fail(error)
            if not isinstance(error, Exception):
                self._thread.interrupt = error

    def _flushed(self, failed: bool, reason: Optional[bytes]) -> None:
        self._db._async_writes.discard(self)
        if failed:
            text = (reason or b"").decode("utf-8", "replace")
            self._fail(CommitOutcomeUnknown(text, path=self._db.path))
        else:
            self._tell(self._result, None)

    def _freed(self) -> None:
        """Called when the library has called `_run`, or never will."""
        del _by_number[self._number]
        if self._number not in _committed:
            self._db._async_writes.discard(self)
        if self._waits:
            self._waits = False
            if self._db.is_closed:
                self._fail(ClosedError("The database was closed before the write began", path=self._db.path))
            else:
                text = "The write could not begin: its thread has ended, or the log says why"
                self._fail(Error(text, path=self._db.path))

    def _fail(self, error: BaseException) -> None:
        self._tell(None, error)

    def _tell(self, result: Any, error: Optional[BaseException]) -> None:
        """Passes the outcome to the waiting task. If the event loop is closed, only unregisters the write. Any
        thread."""
        loop = self._answer.get_loop()
        if loop.is_closed():
            self._thread.end(self)
        elif loop is running_loop():
            _settle(self._answer, result, error)
        else:
            post(loop, _settle, self._answer, result, error)


class WriteCall(Coroutine[Any, Any, T]):
    """The result of write_async(): await it, or make a task of it, like any coroutine."""

    def __init__(self, write: Callable[[], AsyncWrite]) -> None:
        self._write: Optional[AsyncWrite] = None
        self._ended = False
        self._coroutine = self._run(write)

    async def _run(self, make: Callable[[], AsyncWrite]) -> T:
        try:
            self._write = make()
            result: T = await self._write.done()
            return result
        finally:
            self._ended = True

    @property
    def committed(self) -> Optional[bool]:
        """Whether the changes of the function are in the database. None before that is decided, and after
        CommitOutcomeUnknown. A cancelled task ends only when it is decided: then this is True or False."""
        if self._write is None:
            return False if self._ended else None
        return self._write.committed

    def send(self, value: Any) -> Any:
        return self._coroutine.send(value)

    def throw(self, *arguments: Any) -> Any:
        if self._write is None:
            self._ended = True  # Before it began.
        return self._coroutine.throw(*arguments)

    def close(self) -> None:
        self._ended = True
        self._coroutine.close()

    def __await__(self) -> Generator[Any, Any, T]:
        return self._coroutine.__await__()


class AsyncBlock(AsyncWrite):
    """The block of `async with db.write():`."""

    def __init__(self, db: Session, timeout: Optional[float] = None) -> None:
        super().__init__(db, _nothing, ())
        self._timeout = timeout  # In seconds; None: no limit.
        self._turn = _Turn(self._answer.get_loop())
        self._block: Optional[weakref.ref[Any]] = None  # Set while the block runs.
        self._is_lost = False

    async def begin(self) -> None:
        """Waits for the write lock, and returns inside the iteration of the event loop that runs the write."""
        self._thread.begin(self)
        try:
            self._db._owner.call(_ask, self)
            self._waits = True
            timer = None
            if self._timeout is not None:
                error = TimedOut("Another writer did not let go of the file in time", path=self._db.path)
                timer = self._answer.get_loop().call_later(self._timeout, self._turn.come_later, error)
            try:
                await self._turn
            finally:
                if timer is not None:
                    timer.cancel()
        except BaseException:
            self._give_up()
            self._thread.end(self)
            raise

    def _run(self) -> None:
        waited, self._waits = self._waits, False
        if not waited:
            return
        if self._answer.get_loop().is_closed():
            return self._thread.end(self)
        db, block = self._db, weakref.ref(self)
        try:
            db._block = self._block = block
            db._enter_block()
            self._turn.come(None)  # The task runs its block.
        except BaseException as error:
            db._end_write(block)
            self._turn.come_later(error)
            if not isinstance(error, Exception):
                self._thread.interrupt = error
        if self._block is not None:
            self._block, self._is_lost = None, True
            db._end_write(block)

    async def end(self, error: Optional[BaseException]) -> None:
        """Called at the end of the block: commits and waits for the disk, or rolls back."""
        try:
            db, block = self._db, self._block
            self._block = None
            if block is None:
                if error is None and self._is_lost:
                    raise UsageError(
                        "The block of the write waited for something: its changes were undone",
                        hint="Do what has to be awaited before or after the block.",
                        path=db.path,
                    )
                return
            if error is not None:
                db._end_write(block)
                return
            try:
                if db.is_closed:
                    raise ClosedError("The database was closed inside its write: nothing was changed", path=db.path)
                db._owner.call(_commit, self)
            except BaseException:
                db._end_write(block)
                raise
            db._end_write(block, is_committed=True)
            db._tell()
            await self._outcome()
        finally:
            self._thread.end(self)

    def _fail(self, error: BaseException) -> None:
        if self._turn.done():
            super()._fail(error)
        else:
            self._turn.come_later(error)


class _Turn:
    """A future that a task awaits until its write begins. Unlike a future of asyncio, it resumes the task at once,
    inside come(), and not in a later iteration of the event loop: then the write would be over."""

    _asyncio_future_blocking = False  # asyncio recognises by this attribute that a task can await the object.

    def __init__(self, loop: Any) -> None:
        self._loop = loop
        self._waiter: Optional[Callable[[], Any]] = None
        self._error: Optional[BaseException] = None
        self._is_done = False

    def __await__(self) -> Generator[Any, Any, None]:
        if not self._is_done:
            self._asyncio_future_blocking = True
            yield self
        self.result()

    def get_loop(self) -> Any:
        return self._loop

    def done(self) -> bool:
        return self._is_done

    def result(self) -> None:
        if self._error is not None:
            raise self._error

    def add_done_callback(self, function: Callable[[Any], Any], *, context: Any = None) -> None:
        self._waiter = partial(function, self) if context is None else partial(context.run, function, self)

    def cancel(self, msg: Any = None) -> bool:
        """Called by asyncio when the task is cancelled."""
        if self._is_done:
            return False
        self.come_later(_cancelled(msg))
        return True

    def come(self, error: Optional[BaseException]) -> None:
        """Resumes the task now. Only on the thread of the loop, and not inside a task."""
        if self._is_done:
            return
        self._is_done, self._error = True, error
        if self._waiter is not None:
            self._waiter()

    def come_later(self, error: BaseException) -> None:
        """Resumes the task in a later iteration of the loop, with an exception. Any thread."""
        if self._is_done:
            return
        self._is_done, self._error = True, error
        if self._waiter is not None:
            post(self._loop, self._waiter)


def _nothing() -> None:
    """The function of a block's write: nothing, because the task itself runs the block."""


def _cancelled(message: Any) -> BaseException:
    import asyncio

    return asyncio.CancelledError() if message is None else asyncio.CancelledError(message)


def _settle(answer: Any, result: Any, error: Optional[BaseException]) -> None:
    if answer.done():
        return
    if error is not None:
        answer.set_exception(error)
    else:
        answer.set_result(result)


_numbers = count(1)
_by_number: Dict[int, AsyncWrite] = {}
# The writes whose commits are not on the disk yet, by number.
_committed: Dict[int, AsyncWrite] = {}


def _ask(realm: int, write: AsyncWrite) -> None:
    _by_number[write._number] = write
    write._db._async_writes.add(write)
    c.check(realm, lib.realm_async_begin_write, _due, write._number, _freed, False, byref(write._id))


def _commit(realm: int, write: AsyncWrite) -> None:
    _committed[write._number] = write
    try:
        c.check(realm, lib.realm_async_commit, _flushed, write._number, None, True, None)
    except BaseException:
        _committed.pop(write._number, None)
        raise


_ask.moves = _commit.moves = True  # type: ignore[attr-defined]


def _run_outside(number: int) -> None:
    with outside_of_calls():
        _by_number[number]._run()


# The functions that the library calls, with the number of a write. They are never freed.
_due = BlockDue(_run_outside)
_flushed = Flushed(lambda number, failed, reason: _committed.pop(number)._flushed(failed, reason))
_freed = UserdataFreed(lambda number: _by_number[number]._freed())
