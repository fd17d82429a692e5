"""Work on the threads of the server: every request is answered on one of them, and one that takes too long is ended.

The event loop only waits. It ends the work when its time is up, or when nobody waits for the answer any more, by interrupting the call of the
database that the work said it is in.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Awaitable, Callable, Iterator, Optional, TypeVar

from ..database import Database
from ..errors import ClosedError, Interrupted, TimedOut

T = TypeVar("T")

_STEP = 0.25  # Seconds between looks at whether somebody still waits.


class Job:
    """One piece of work. It runs on a thread of its own; `stop` may come from any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._database: Optional[Database] = None
        self._is_stopped = False

    @contextmanager
    def during(self, database: Database) -> Iterator[None]:
        """A block whose calls of a database may be ended. No other job may call the same one."""
        with self._lock:
            if self._is_stopped:
                raise Interrupted("The call was interrupted")
            self._database = database
        try:
            yield
        finally:
            with self._lock:
                self._database = None

    def check(self) -> None:
        """Interrupted where the work shall end: for what takes long in many calls."""
        if self._is_stopped:
            raise Interrupted("The call was interrupted")

    def stop(self) -> None:
        """Ends the call that is running, and those to come. It may have to be said again: a call that begins just now does not hear it."""
        with self._lock:
            self._is_stopped = True
            if self._database is None:
                return
            try:
                self._database.interrupt()
            except ClosedError:
                pass


class Workers:
    """The threads."""

    def __init__(self, count: int = 8) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="crealm-browse")

    async def run(self, function: Callable[[Job], T], *, seconds: float, is_gone: Callable[[], Awaitable[bool]]) -> T:
        """What the function returns. TimedOut after so many seconds, Interrupted when nobody waits for it any more."""
        job = Job()
        future = asyncio.get_running_loop().run_in_executor(self._pool, function, job)
        left = seconds
        is_late = False
        while True:
            done, _ = await asyncio.wait([future], timeout=_STEP)
            if done:
                break
            left -= _STEP
            is_late = is_late or left <= 0
            if is_late or await is_gone():
                job.stop()
        try:
            return future.result()
        except Interrupted:
            if is_late:
                raise TimedOut(f"It took longer than {seconds:g} seconds and was ended") from None
            raise

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


async def nobody_leaves() -> bool:
    return False
