"""Writes of programs with an event loop: `await db.write_async(function)`.

The library waits for the other writers on a thread of its own. Then a turn of the event loop runs the
functions that wait here, one write each, and their commits go to the disk together, while the loop goes on.
"""

from __future__ import annotations

import weakref
from ctypes import byref, c_uint
from inspect import iscoroutine
from itertools import count
from typing import Any, Callable, Dict, Optional, Tuple

from . import _marshal as c
from ._handle import outside_of_calls
from ._library import lib
from ._prototypes import BlockDue, Flushed, UserdataFreed
from ._session import Session
from .errors import ClosedError, CommitOutcomeUnknown, Error, UsageError
from .observing import post, running_loop, thread_here


class AsyncWrite:
    """A function that waits for its write, or a write that waits for the disk."""

    def __init__(self, db: Session, function: Callable[..., Any], arguments: Tuple[Any, ...]) -> None:
        loop = running_loop()
        if loop is None:
            raise UsageError("write_async() needs an event loop of asyncio", hint="Use `with db.write():`.")
        self._db = db
        self._function = function
        self._arguments = arguments
        self._thread = thread_here()
        self._answer = loop.create_future()
        self._result: Any = None
        self._number = next(_numbers)
        self._id = c_uint()
        self._waits = False  # For its turn.

    async def done(self) -> Any:
        """What the function returned, when that is on the disk."""
        self._thread.begin(self)
        try:
            self._db._owner.call(_ask, self)
            self._waits = True
            return await self._answer
        finally:
            self._give_up()
            self._thread.end(self)

    def _give_up(self) -> None:
        """Nobody waits any more: what has not begun does not take place."""
        owner = self._db._owner
        waited, self._waits = self._waits, False
        if waited and owner.is_here and not owner.is_closed:
            owner.call(lib.realm_async_cancel, self._id, None)

    # What the library calls

    def _run(self) -> None:
        """The transaction has begun. The library rolls it back where this leaves it open."""
        waited, self._waits = self._waits, False
        if not waited:
            return
        if self._answer.get_loop().is_closed():
            return self._thread.end(self)  # Nobody can learn of it any more: it does not take place.
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
        """It was called, or never will be."""
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
        """Any thread, also when the event loop is closed: then nobody is told."""
        loop = self._answer.get_loop()
        if loop.is_closed():
            self._thread.end(self)
        elif loop is running_loop():
            _settle(self._answer, result, error)
        else:
            post(loop, _settle, self._answer, result, error)


def _settle(answer: Any, result: Any, error: Optional[BaseException]) -> None:
    if answer.done():
        return
    if error is not None:
        answer.set_exception(error)
    else:
        answer.set_result(result)


_numbers = count(1)
_by_number: Dict[int, AsyncWrite] = {}
# Those whose commit is on its way to the disk.
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


# The functions that the library calls, as those of `observing`.
_due = BlockDue(_run_outside)
_flushed = Flushed(lambda number, failed, reason: _committed.pop(number)._flushed(failed, reason))
_freed = UserdataFreed(lambda number: _by_number[number]._freed())
