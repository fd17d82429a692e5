"""Server-sent events about changes of a file while pages show it, and a log of these events.

While a file has watchers, its mark (see `files`) is read a few times a second. After a change the new version is opened and compared with the one
before: by the keys, how many objects of each class were inserted and deleted. Changes inside objects are not compared: the pages request the data that
they show again. All watchers of a file share one task. A new watcher first receives an event about the newest version, because that may be newer than
its page.

    event: version
    data: {"version": 18, "state": "…", "before": 17, "time": 1714979289.12, "classes": {"Person": {"inserted": 2, "deleted": 0, "count": 1202}}}

    event: problem
    data: {"kind": "FileNotFound", "message": "The file is gone"}
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from typing import Any, AsyncIterator, Awaitable, Callable, Deque, Dict, Optional, Set, Tuple

from ..database import Database
from ..errors import Error
from .files import File
from .queries import described

_PERIOD = 0.3  # Seconds between two checks of the file.
_ALIVE = 15.0  # Seconds without an event after which a watcher receives a comment, which keeps the connection open.
_KEPT = 200  # Entries of the log.
_WAITING = 64  # Events that can wait for one watcher.
_MOST_KEYS = 2_000_000  # Of a class with more objects only the counts are compared.

Event = Dict[str, Any]
Run = Callable[[Callable[[], Any]], Awaitable[Any]]


class Summary:
    """The facts of a version that the next one is compared with."""

    def __init__(self, database: Database, state: str = "") -> None:
        self.version, self.state = database.version, state
        self.counts: Dict[str, int] = {}
        self.keys: Dict[str, Any] = {}
        for name in database.classes:
            try:
                self.counts[name] = len(database[name])
                if self.counts[name] <= _MOST_KEYS:
                    self.keys[name] = bytes(database[name].column("@key").values.cast("B"))
            except Error:
                continue  # A damaged class is not compared.


def compared(before: Summary, after: Summary) -> Dict[str, Any]:
    """The classes in which objects were inserted or deleted, with the numbers."""
    found = {}
    for name in sorted({*before.counts, *after.counts}):
        count = after.counts.get(name)
        if before.keys.get(name) == after.keys.get(name) and before.counts.get(name) == count:
            continue
        old, new = _keys(before.keys.get(name)), _keys(after.keys.get(name))
        entry: Dict[str, Any] = {"count": count}
        if (name in before.keys or name not in before.counts) and (name in after.keys or name not in after.counts):
            entry.update(inserted=len(new - old), deleted=len(old - new))
        found[name] = entry
    return found


def _keys(packed: Optional[bytes]) -> Set[int]:
    return set(memoryview(packed).cast("q")) if packed else set()


class Watch:
    """The watchers of one file."""

    def __init__(self, file: File, run: Run) -> None:
        self._file, self._run = file, run
        self._listeners: Set["asyncio.Queue[Event]"] = set()
        self._task: Optional["asyncio.Task[None]"] = None
        self._problem: Optional[str] = None
        self._newest: Optional[Event] = None  # The first event for new watchers.
        self.log: Deque[Event] = deque(maxlen=_KEPT)
        self.sizes: Deque[Event] = deque(maxlen=_KEPT)  # The size of the file with each version that was seen, also the first.

    async def events(self) -> AsyncIterator[str]:
        """The events for one watcher, without end."""
        queue: "asyncio.Queue[Event]" = asyncio.Queue(_WAITING)
        self._listeners.add(queue)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look())
        elif self._newest is not None:
            queue.put_nowait(self._newest)
        try:
            yield "retry: 2000\n\n"
            while True:
                try:
                    event = await asyncio.wait_for(queue.get(), _ALIVE)
                except asyncio.TimeoutError:
                    yield ": still here\n\n"
                    continue
                yield f"event: {event['event']}\ndata: {json.dumps(event['data'])}\n\n"
        finally:
            self._listeners.discard(queue)
            if not self._listeners and self._task is not None:
                self._task.cancel()
                self._task = None

    async def _look(self) -> None:
        """The task that checks the file. Only this task knows the last summary: after it is cancelled in the middle of a check, it sends and changes
        nothing any more."""
        last: Optional[Summary] = None
        self._newest = None
        while True:
            try:
                last, event = await self._run(lambda: self._news(last))
            except Exception:  # It took too long, was ended, or failed unexpectedly: the next check will find the same change.
                event = None
            if event is not None:
                self._tell(event)
            await asyncio.sleep(_PERIOD)

    def _tell(self, event: Event) -> None:
        if event["event"] == "version":
            self._newest = {**event, "data": {**event["data"], "before": None}}  # Changes concern only watchers that saw the version before.
            self._newest["data"].pop("classes", None)
        for queue in list(self._listeners):
            if queue.full():  # A slow watcher misses the oldest events, never the newest.
                queue.get_nowait()
            queue.put_nowait(event)

    def _news(self, last: Optional[Summary]) -> Tuple[Optional[Summary], Optional[Event]]:
        """The summary of the current version, and the event to send; None if there is nothing new."""
        try:
            return self._changes(last)
        except Error as error:
            said = described(error)
            if said["message"] == self._problem:
                return last, None
            self._problem = said["message"]
            return last, {"event": "problem", "data": said}

    def _changes(self, before: Optional[Summary]) -> Tuple[Optional[Summary], Optional[Event]]:
        with self._file.snapshot() as snapshot:
            problem = self._file.problem
            if problem is not None:
                raise problem
            self._problem = None
            if before is not None and before.state == snapshot.state:
                return before, None
            now = Summary(snapshot.database, snapshot.state)
            data: Dict[str, Any] = {
                "version": snapshot.version, "state": snapshot.state, "time": time.time(), "before": None if before is None else before.version}
            if not self.sizes or self.sizes[-1]["version"] != snapshot.version:  # Else a new task found the last known version.
                self.sizes.append({"version": snapshot.version, "time": data["time"], "size": snapshot.mark.size})
            if before is not None:
                data["classes"] = compared(before, now)
                self.log.append(data)
            return now, {"event": "version", "data": data}
