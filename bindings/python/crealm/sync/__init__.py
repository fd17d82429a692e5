"""Synchronisation of files with a hub, a PostgreSQL database.

    db.sync.enable()                                 # once for each file: from now on its changes are marked
    outcome = db.sync.now("postgresql:///people")    # sends the changes, and takes those of others
    worker = db.sync.start("postgresql:///people", on_event=print)
    ...
    worker.stop()

The command `crealm sync init` makes the tables of a hub. The page "Sync" says what a file promises while it is
synchronised, and what happens to conflicting changes.
"""

from __future__ import annotations

import asyncio
import json
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Generator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    cast,
)

from .._library import lib
from .. import _marshal as c
from ..errors import UsageError
from . import _core
from .transports import HTTPTransport, PostgresTransport, Transport, transport_for

if TYPE_CHECKING:
    from ..database import Database
    from .worker import Worker

__all__ = [
    "ClassStatus",
    "Event",
    "HTTPTransport",
    "Outcome",
    "PostgresTransport",
    "Progress",
    "Refused",
    "Status",
    "Sync",
    "Transport",
]


class Event(NamedTuple):
    """Something that happened while the file took changes of the hub.

    kind: "refused" (the hub did not take a change: see Status.refused), "overruled" (an object was deleted on the
    hub, and changes of this file to it are lost), "merged" (a collection that both sides had changed), "forked" (a
    copy of the file has sent changes under the same name; this file got a new one), "moved" (the hub is another
    database than before), "compared" (a class was compared with the hub), "overwritten" (a value that another library
    wrote was replaced by that of the hub).
    """

    kind: str
    class_name: str
    key: str  # The primary key as JSON.
    detail: str
    number: int  # How many; 0 if it is one.


class Refused(NamedTuple):
    """A change that the hub did not take."""

    time: int  # Milliseconds since 1970.
    class_name: str
    key: str  # The primary key as JSON.
    reason: str
    change: str  # What was sent, as JSON.


class ClassStatus(NamedTuple):
    """The state of one class."""

    pending: int  # Objects with unsent changes.
    must_compare: bool  # Whether the next exchange compares all objects with the hub.
    subset: str = ""  # The condition of the objects that this file has; empty: all.


class Status(NamedTuple):
    """The state of synchronisation of a file."""

    enabled: bool
    device: str = ""  # The name of this file at the hub.
    hub: str = ""  # The identity of the hub; empty before the first exchange.
    checkpoint: str = ""  # The snapshot of the hub that the file shows.
    batch: int = 0  # How many batches the hub has taken.
    pending: int = 0  # Objects with unsent changes.
    inflight: int = 0  # Bytes that were sent and not acknowledged.
    classes: Dict[str, ClassStatus] = {}
    refused: Sequence[Refused] = ()


class Outcome(NamedTuple):
    """What an exchange did."""

    requests: int
    sent_bytes: int
    received_bytes: int
    events: List[Event]


class Progress(NamedTuple):
    """How far an exchange is."""

    requests: int
    sent_bytes: int
    received_bytes: int
    pending: int  # Objects with unsent changes.


class Synchronising(NamedTuple):
    """A thread that exchanges changes of a database, and the hub that it was given."""

    hub: Any
    worker: "Worker"


class Sync:
    """Synchronisation of one database: `db.sync`. Methods belong to the thread of the database."""

    def __init__(self, db: "Database") -> None:
        _core.require()
        self._db = db

    def enable(
        self,
        classes: Optional[Sequence[Any]] = None,
        *,
        clock_offset: int = 0,
        subsets: Optional[Mapping[Any, str]] = None,
    ) -> None:
        """Begins to mark the changes of the file, in all programs that write it with this library.

        classes: names or models; None: all that are not embedded. Each needs a primary key. A file that is synchronised
        already gets those of them that it lacks.
        clock_offset: milliseconds that are added to the clock of the system, which decides between changes.
        subsets: for some classes, the condition of the objects that this file has: see set_subset().

        UsageError if the file and the classes are synchronised already, and for classes that cannot be synchronised.
        """
        options: Dict[str, Any] = {"clock_offset": clock_offset}
        if classes is not None:
            options["classes"] = [self._db[one].name for one in classes]
        if subsets:
            options["subsets"] = {self._db[one].name: condition for one, condition in subsets.items()}
        self._db._owner.call(_core.enable, json.dumps(options).encode())

    def set_subset(self, class_: Any, condition: Optional[str]) -> None:
        """Chooses the objects of a class that this file has. At the next exchange, objects outside of the subset leave
        the file, unless they have unsent changes, and others come.

        condition: of the query language: comparisons of properties of the class itself with constants, and AND, OR
        and NOT of them: `"done == false AND n > 3"`. None: all objects.

        QueryError for another text; UsageError for a condition that SQL cannot express.
        """
        name = self._db[class_].name
        self._db._owner.call(_core.set_subset, name.encode(), (condition or "").encode())

    def disable(self) -> None:
        """Ends synchronisation. Removes all marks, also of changes that were not sent. The objects stay."""
        self._db._owner.call(c.check, lib.crealm_sync_disable)

    @property
    def status(self) -> Status:
        found = self._db._owner.call(_core.status)
        if not found["enabled"]:
            return Status(False)
        return Status(
            True,
            found["device"],
            found["hub"],
            found["cursor"],
            found["batch"],
            found["pending"],
            found["inflight"],
            {
                name: ClassStatus(one["pending"], one["compare"], one.get("subset", ""))
                for name, one in found["classes"].items()
            },
            [Refused(r["time"], r["class"], r["key"], r["reason"], r["change"]) for r in found["refused"]],
        )

    def forget_refused(self) -> None:
        """Empties Status.refused."""
        self._db._owner.call(c.check, lib.crealm_sync_forget_refused)

    def compare(self) -> None:
        """Lets the next exchange compare all objects with the hub."""
        self._db._owner.call(c.check, lib.crealm_sync_compare)

    def now(
        self,
        hub: Any = None,
        *,
        most_requests: int = 10_000,
        progress: Optional[Callable[[Progress], object]] = None,
        **options: Any,
    ) -> Outcome:
        """One exchange: sends all unsent changes, and moves the file to a checkpoint of the hub.

        hub: a postgresql:// or https:// address, or a transport; without it, the exchange is that of the thread which
        open(sync=…) or start() began, and this call waits for it. options: those of the transport.
        progress: called after each reply of the hub, on this thread.

        SyncError if the hub cannot be reached or does not take part: the file stays usable, unsent changes are kept,
        and the next exchange goes on. UsageError without a hub.
        """
        if hub is None:
            return self._ask()
        transport = transport_for(hub, **options)
        try:
            return self._exchange(transport, most_requests, progress)
        finally:
            if transport is not hub:
                transport.close()

    async def now_async(
        self,
        hub: Any = None,
        *,
        most_requests: int = 10_000,
        progress: Optional[Callable[[Progress], object]] = None,
        **options: Any,
    ) -> Outcome:
        """As now(); the event loop goes on while the hub works. The database stays usable meanwhile, but in a write
        when a reply arrives: UsageError then."""
        loop = asyncio.get_running_loop()
        if hub is None:
            worker, before = self._running(), self._db._owner
            outcome = await loop.run_in_executor(None, worker.exchange)
            if not before.is_closed:
                self._db.refresh()
            return outcome
        transport = transport_for(hub, **options)
        steps = self._steps(most_requests, progress)
        try:
            request = next(steps, None)
            while request is not None:
                reply = await loop.run_in_executor(None, transport.call, *request)
                try:
                    request = steps.send(reply)
                except StopIteration as end:
                    return cast(Outcome, end.value)
            return Outcome(0, 0, 0, [])
        finally:
            steps.close()
            if transport is not hub:
                transport.close()

    def _running(self) -> "Worker":
        found = self._db._synchronising
        if found is None:
            raise UsageError(
                "This database has no hub",
                hint="Name it: now(hub), or crealm.open(…, sync=hub)",
                path=self._db.path,
            )
        return found.worker

    def _ask(self) -> Outcome:
        outcome = self._running().exchange()
        self._db.refresh()
        return outcome

    def _exchange(
        self,
        transport: Transport,
        most_requests: int = 10_000,
        progress: Optional[Callable[[Progress], object]] = None,
    ) -> Outcome:
        steps = self._steps(most_requests, progress)
        try:
            request = next(steps)
            while True:
                request = steps.send(transport.call(*request))
        except StopIteration as end:
            return cast(Outcome, end.value)
        finally:
            steps.close()

    def _steps(
        self, most_requests: int, progress: Optional[Callable[[Progress], object]]
    ) -> Generator[Tuple[str, bytes], bytes, Outcome]:
        """Yields the requests of an exchange, and is sent the replies."""
        call = self._db._owner.call
        requests, sent, received = 0, 0, 0
        events: List[Event] = []
        if self._db._is_exchanging:
            raise UsageError("An exchange of this database is in progress", path=self._db.path)
        self._db._is_exchanging = True
        try:
            while requests < most_requests:
                request = call(_core.next_request)
                if request is None:
                    break
                reply = yield request
                requests, sent, received = requests + 1, sent + len(request[1]), received + len(reply)
                for one in call(_core.apply_reply, reply):
                    events.append(Event(one["event"], one["class"], one["key"], one["detail"], one["count"]))
                if progress is not None:
                    progress(Progress(requests, sent, received, self.status.pending))
        except BaseException:
            if not self._db.is_closed:
                call(c.check, lib.crealm_sync_reset)
            raise
        finally:
            self._db._is_exchanging = False
        return Outcome(requests, sent, received, events)

    @property
    def worker(self) -> Optional["Worker"]:
        """The thread that open(sync=…) or start() began; None without one."""
        found = self._db._synchronising
        return None if found is None else found.worker

    def _begin(self, hub: Any) -> None:
        """Marks changes, and starts a thread: for open(sync=…)."""
        if not self.status.enabled:
            self.enable()
        self.start(hub)

    def start(
        self,
        hub: Any,
        *,
        interval: float = 30.0,
        on_event: Optional[Callable[[Event], object]] = None,
        **options: Any,
    ) -> "Worker":
        """Exchanges changes in a thread of its own, until Worker.stop() or the end of the program: soon after each
        commit of this file, when another device tells of a push, and at least every `interval` seconds.

        on_event: called in that thread for each event. UsageError if such a thread runs already.
        """
        from .worker import Worker

        found = self._db._synchronising
        if found is not None and found.worker.is_running:
            raise UsageError("A thread exchanges the changes of this database already", path=self._db.path)
        worker = Worker(self._db, transport_for(hub, **options), interval, on_event)
        self._db._synchronising = Synchronising(hub, worker)
        return worker
