"""A thread that keeps a file and its hub together."""

from __future__ import annotations

import os
import random
import select
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Optional, Tuple

from ..errors import RuleBroken, SyncError, UsageError
from ..observing import changes_descriptor, take_turn
from .transports import Transport

if TYPE_CHECKING:
    from ..database import Database
    from . import Event, Outcome


class Worker:
    """Exchanges changes with a hub until stop(). The thread ends with the program.

    The thread sleeps until this file or another device commits, wake() is called, or `interval` seconds are over. After
    an error of the hub, also rows that break a rule of the file, it tries again, each time after a longer while, up to
    `interval` seconds: see `last_error`. Other errors end it: see `error`.
    """

    _FIRST_PAUSE = 0.5  # Seconds after the first error.
    _PATIENCE = 10.0  # Seconds that stop() waits for the hub.

    def __init__(
        self,
        db: "Database",
        transport: Transport,
        interval: float,
        on_event: Optional[Callable[["Event"], object]] = None,
    ) -> None:
        self._source = db
        self._transport = transport
        self._interval = interval
        self._on_event = on_event
        self._stopping = threading.Event()
        self._asked = threading.Event()
        self._settled = threading.Condition()
        self._bell: Tuple[int, ...] = os.pipe()  # Something to read in it wakes the thread.
        for end in self._bell:
            os.set_blocking(end, False)
        self._rounds = 0
        self._outcome: Optional["Outcome"] = None  # Of the last exchange that succeeded.
        self._failures = 0
        self._is_busy = False  # Whether an exchange is in progress.
        self._has_ended = False  # Whether the thread makes no exchange any more; it may still be alive.
        self.last_error: Optional[BaseException] = None  # Of the last exchange; None if it succeeded.
        self.error: Optional[BaseException] = None  # What ended the thread; None if it runs or was stopped.
        self._thread = threading.Thread(target=self._run, name="crealm-sync", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    @property
    def rounds(self) -> int:
        """How many exchanges have succeeded."""
        return self._rounds

    def wake(self) -> None:
        """Begins an exchange soon. Any thread."""
        with self._settled:
            self._ring()

    def _ring(self) -> None:
        self._asked.set()
        if self._bell:
            try:
                os.write(self._bell[1], b"!")
            except BlockingIOError:
                pass  # It is full: the thread will wake.

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Waits until an exchange that begins after this call has succeeded. Returns False if none did in time, or the
        thread has ended. Any other thread."""
        with self._settled:
            wanted = self._next()
            self._settled.wait_for(lambda: self._rounds >= wanted or self._has_ended, timeout)
            return self._rounds >= wanted

    def exchange(self) -> "Outcome":
        """As wait(), and returns what the exchange did. SyncError if the next exchange fails; the error that ended the
        thread; UsageError if it was stopped."""
        with self._settled:
            wanted, failures = self._next(), self._failures
            self._settled.wait_for(
                lambda: self._rounds >= wanted or self._failures > failures or self._has_ended
            )
            if self._rounds < wanted:
                raise (
                    self.error
                    or self.last_error
                    or UsageError("The thread that exchanges changes was stopped")
                )
            assert self._outcome is not None
            return self._outcome

    def _next(self) -> int:
        """The number of the first exchange that begins from now on. It begins soon."""
        self._ring()
        return self._rounds + (2 if self._is_busy else 1)

    def stop(self) -> None:
        """Ends the thread. An exchange in progress is finished, unless the hub does not answer for 10 seconds: then the
        next exchange repeats it."""
        self._stopping.set()
        self.wake()
        if threading.current_thread() is self._thread:
            return
        self._thread.join(self._PATIENCE)
        abort = getattr(self._transport, "abort", None)
        while self._thread.is_alive():
            if abort is not None:
                abort()
            self._thread.join(self._PATIENCE)

    def _run(self) -> None:
        db: Any = None
        try:
            db = self._source.clone()
            self._loop(db)
        except BaseException as error:  # The thread ends here, and the program can ask why.
            self.error = error
        finally:
            if db is not None:
                db.close()
            self._transport.close()
            with self._settled:
                self._has_ended = True
                bell, self._bell = self._bell, ()
                for end in bell:
                    os.close(end)
                self._settled.notify_all()

    def _loop(self, db: Any) -> None:
        pause = self._FIRST_PAUSE
        while not self._stopping.is_set():
            with self._settled:
                self._asked.clear()
                self._is_busy = True
            try:
                outcome: "Outcome" = db.sync._exchange(self._transport)
            except (SyncError, RuleBroken) as error:
                with self._settled:
                    self.last_error = error
                    self._failures += 1
                    self._is_busy = False
                    self._settled.notify_all()
                self._asked.wait(pause * random.uniform(0.8, 1.2))
                pause = min(pause * 2, max(self._interval, self._FIRST_PAUSE))
                continue
            pause = self._FIRST_PAUSE
            with self._settled:
                self.last_error = None
                self._is_busy = False
                self._rounds += 1
                self._outcome = outcome
                self._settled.notify_all()
            if self._on_event is not None:
                for event in outcome.events:
                    self._on_event(event)
            self._rest(db)

    def _rest(self, db: Any) -> None:
        """Waits for a reason to begin again: a commit with changes, a push of another device, wake(), the time."""
        end = time.monotonic() + self._interval * random.uniform(0.8, 1.2)
        number = getattr(self._transport, "fileno", lambda: -1)()
        # A notice that came during the exchange is read already: the descriptor does not tell of it.
        if number >= 0 and self._transport.told():  # type: ignore[attr-defined]
            return
        poll = select.poll()
        for one in (self._bell[0], changes_descriptor(), number):
            if one >= 0:
                poll.register(one, select.POLLIN)
        while not self._asked.is_set():
            left = end - time.monotonic()
            if left <= 0:
                return
            ready = {one for one, _ in poll.poll(left * 1000)}
            if self._bell[0] in ready:
                while len(os.read(self._bell[0], 4096)) == 4096:
                    pass
                return
            if number in ready and self._transport.told():  # type: ignore[attr-defined]
                return
            take_turn()
            db.refresh()
            if db.sync.status.pending:
                return
