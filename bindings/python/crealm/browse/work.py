"""The worker threads of the server: each request is answered on one of them, and work that takes too long is ended.

The event loop only waits. It ends work when its time is up, or when the client is gone, by interrupting the database that the work has registered
with `Job.during`.
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

_STEP = 0.25  # Seconds between checks whether the client still waits.


class Job:
    """One piece of work on a worker thread. Any thread may call `stop`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._database: Optional[Database] = None
        self._is_stopped = False

    @contextmanager
    def during(self, database: Database) -> Iterator[None]:
        """A block in which `stop` interrupts the calls of a database. No other job may use the same database."""
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
        """Interrupted after stop(). For work that consists of many short calls."""
        if self._is_stopped:
            raise Interrupted("The call was interrupted")

    def stop(self) -> None:
        """Ends the running call and prevents later ones. The caller repeats it until the work has ended, because a call that is just beginning is not
        interrupted."""
        with self._lock:
            self._is_stopped = True
            if self._database is None:
                return
            try:
                self._database.interrupt()
            except ClosedError:
                pass


class Workers:
    """A pool of worker threads."""

    def __init__(self, count: int = 8) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="crealm-browse")

    async def run(self, function: Callable[[Job], T], *, seconds: float, is_gone: Callable[[], Awaitable[bool]]) -> T:
        """Runs the function on a worker thread and returns its result. TimedOut after `seconds`, Interrupted if `is_gone` becomes true."""
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
