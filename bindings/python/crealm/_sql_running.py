"""SQL statements while they run: on a thread of their own, so that Ctrl-C and interrupt() can end them."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union

from .errors import Interrupted

T = TypeVar("T")
_PATIENCE = 0.02  # Seconds between two attempts to end a statement.


class Statement(NamedTuple):
    """A statement and its arguments."""

    text: str
    parameters: Union[Sequence[Any], Dict[str, Any]]


class Answer(NamedTuple):
    """What an engine found: rows, or a table of pyarrow with the engine's names of the types."""

    columns: List[str]
    rows: Optional[List[Tuple[Any, ...]]] = None
    table: Any = None
    types: Sequence[str] = ()


class Running:
    """A statement that runs."""

    def __init__(self) -> None:
        self.is_ended = False  # Whether end() was called.
        self._end: Optional[Callable[[], object]] = None

    def begin(self, end: Callable[[], object]) -> None:
        """Tells the function that ends the engine's statement; it may be called from any thread."""
        self._end = end
        self.check()

    def finish(self) -> None:
        """The engine's statement is over: its function is not called any more."""
        self._end = None

    def check(self) -> None:
        """Raises Interrupted if end() was called."""
        if self.is_ended:
            raise Interrupted("The statement was interrupted")

    def end(self) -> None:
        """Ends the statement. Any thread."""
        self.is_ended = True
        end = self._end
        if end is not None:
            with contextlib.suppress(Exception):  # The engine may be closing its connection.
                end()

    def on_thread(self, work: Callable[[], T]) -> T:
        """The result of work(), which another thread calls. An exception of this thread, such as KeyboardInterrupt,
        ends the statement."""
        results: List[T] = []
        failures: List[BaseException] = []
        done = threading.Event()

        def call() -> None:
            try:
                results.append(work())
            except BaseException as error:
                failures.append(error)
            finally:
                done.set()

        thread = threading.Thread(target=call, name="crealm-sql", daemon=True)
        thread.start()
        try:
            done.wait()
        except BaseException:
            # A statement that is just beginning may not notice the first call.
            while not done.is_set():
                self.end()
                done.wait(_PATIENCE)
            raise
        thread.join()
        if failures:
            try:
                raise failures[0]
            finally:
                failures.clear()  # The traceback refers to this frame.
        return results[0]
