"""await db.write_async(): order, results, errors, and waiting for other writers."""

import asyncio
import random
import ctypes
import gc
import select
import subprocess
import sys
import threading
import time
import weakref
from typing import List

import pytest

import crealm
from crealm import observing, writing
from crealm._library import lib

PATIENCE = 60  # Seconds; longer than anything takes that does not hang.


class Item(crealm.Model):
    id: int = crealm.field(primary_key=True)
    numbers: List[int]


@pytest.fixture
def db(path):
    with crealm.open(path, schema=[Item]) as db:
        yield db
    assert not writing._by_number and not writing._committed


@pytest.fixture
def other(path, db):
    with crealm.open(path, schema=[Item]) as other:
        yield other


def run(main):
    return asyncio.run(asyncio.wait_for(main, PATIENCE))


def ids(db):
    return [item.id for item in db[Item]]


class Holder:
    """A thread that holds the write lock until release()."""

    def __init__(self, path):
        self._path, self._held, self._free = path, threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._hold)
        self._thread.start()
        assert self._held.wait(PATIENCE)

    def _hold(self):
        with crealm.open(self._path, schema=[Item]) as mine, mine.write():
            self._held.set()
            self._free.wait(PATIENCE)

    def release(self):
        self._free.set()
        self._thread.join()


def test_one_after_the_other_and_to_the_disk_together(db, path):
    """All waiting functions are called before the first await ends; each function makes its own commit."""
    log, holder = [], Holder(path)

    def add(number):
        log.append(number)
        db.add(Item(id=number))
        return number * 2

    async def write(number):
        result = await db.write_async(add, number)
        log.append(("done", number))
        return result

    async def main():
        before = db.version
        writes = [asyncio.create_task(write(n)) for n in range(5)]
        await asyncio.sleep(0)
        holder.release()
        assert await asyncio.gather(*writes) == [0, 2, 4, 6, 8]
        return db.version - before

    assert run(main()) == 5 + 1  # Including the holder's commit.
    assert log == [*range(5), *(("done", n) for n in range(5))] and ids(db) == list(range(5))


def test_the_loop_goes_on_while_another_writes(db, path):
    """The lock is released only after a hundred iterations of the loop; a loop that waited for it would hang."""
    holder, turns = Holder(path), 0

    async def main():
        nonlocal turns
        write = asyncio.create_task(db.write_async(lambda: db.add(Item(id=1)).id))
        while turns < 100:
            await asyncio.sleep(0)
            turns += 1
            assert not write.done() and not db.is_writing
        holder.release()
        assert await write == 1

    run(main())
    assert turns == 100 and ids(db) == [1]


def test_the_interpreter_is_free_while_one_waits_for_the_lock(db, path):
    """The holder of the lock needs the interpreter to release it; a wait that kept the interpreter would hang."""
    work = []

    def hold():
        with crealm.open(path, schema=[Item]) as mine, mine.write():
            held.set()
            asked.wait(PATIENCE)
            for number in range(1000):
                mine.add(Item(id=number))
                work.append(number)

    held, asked = threading.Event(), threading.Event()
    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(PATIENCE)
    asked.set()
    with db.write():
        assert len(work) == 1000 and ids(db) == work
    thread.join()


def test_nothing_that_waits_keeps_the_interpreter():
    python_api = 4  # FUNCFLAG_PYTHONAPI: the call keeps the interpreter lock.
    waits = """crealm_change_key crealm_scheduler_run realm_async_begin_write realm_async_cancel realm_async_commit realm_begin_read
        realm_begin_write realm_close realm_commit realm_compact realm_convert_with_config realm_freeze
        realm_object_resolve_in realm_open realm_refresh realm_results_count realm_results_resolve_in realm_rollback realm_update_schema_advanced"""
    for name in waits.split():
        function = getattr(lib, name)
        assert isinstance(function, ctypes._CFuncPtr) and not type(function)._flags_ & python_api, name


def test_functions_that_raise_stop_nobody(db):
    added = []

    def fails():
        added.append(db.add(Item(id=100)))
        raise ValueError("on purpose")

    async def main():
        writes = [db.write_async(lambda n=n: db.add(Item(id=n)).id) for n in range(2)]
        writes.insert(1, db.write_async(fails))
        return await asyncio.gather(*writes, return_exceptions=True)

    first, error, last = run(main())
    assert (first, last, ids(db)) == (0, 1, [0, 1]) and type(error) is ValueError
    assert not added[0].is_managed and added[0].id == 100  # Plain again.


def test_functions_that_await(db):
    async def change():
        raise AssertionError("never called")

    def main(function):
        async def begin():
            await db.write_async(function)

        return begin()

    with pytest.raises(TypeError, match="await"):
        run(main(change))
    with pytest.raises(TypeError):
        run(main(3))
    assert not db.is_writing and ids(db) == []


def test_an_interrupt_goes_through(db):
    def interrupted():
        db.add(Item(id=1))
        raise KeyboardInterrupt

    async def main():
        await db.write_async(interrupted)

    with pytest.raises(KeyboardInterrupt):
        run(main())
    assert ids(db) == [] and not db.is_writing
    with db.write():
        db.add(Item(id=2))
    assert ids(db) == [2]


def test_cancelled_before_its_turn(db, path):
    holder = Holder(path)

    async def main():
        one = asyncio.create_task(db.write_async(lambda: db.add(Item(id=1))))
        two = asyncio.create_task(db.write_async(lambda: db.add(Item(id=2)).id))
        await asyncio.sleep(0)
        one.cancel()
        with pytest.raises(asyncio.CancelledError):
            await one
        holder.release()
        assert await two == 2

    run(main())
    assert ids(db) == [2]


def test_cancelled_after_its_commit(db):
    async def main():
        write = None

        def add():
            db.add(Item(id=1))
            write.cancel()

        write = asyncio.create_task(db.write_async(add))
        with pytest.raises(asyncio.CancelledError):
            await write
        assert ids(db) == [1]
        await db.write_async(lambda: db.add(Item(id=2)))

    run(main())
    assert ids(db) == [1, 2]


@pytest.mark.parametrize("seed", range(4))
def test_cancelled_writes_say_whether_they_took_place(db, seed):
    """At any time of the cancellation, the error and the call agree with the contents of the database."""
    randomness = random.Random(seed)
    said, calls = {}, {}

    async def one(number):
        calls[number] = db.write_async(lambda: db.add(Item(id=number)).id)
        try:
            said[number] = await calls[number] == number
        except asyncio.CancelledError as error:
            said[number] = error.committed
            raise

    async def main():
        tasks = [asyncio.create_task(one(number)) for number in range(200)]
        while not all(task.done() for task in tasks):
            for _ in range(randomness.randrange(60)):
                randomness.choice(tasks).cancel()
            await asyncio.sleep(randomness.choice((0, 0, 0.0005)))
        await asyncio.gather(*tasks, return_exceptions=True)
        return sum(task.cancelled() for task in tasks)

    cancelled = run(main())
    there = set(ids(db))
    assert cancelled > 0 and all(said[number] == (number in there) for number in said)
    for number, call in calls.items():
        assert call.committed == (number in there), number
    assert there <= set(range(200)) and len(calls) + cancelled >= 200  # A task that is cancelled before it begins makes no call.


def test_cancelled_writes_whose_function_fails(db):
    async def main():
        write = None

        def fails():
            write.cancel()
            raise ValueError("on purpose")

        call = db.write_async(fails)
        write = asyncio.create_task(call)
        with pytest.raises(asyncio.CancelledError) as caught:
            await write
        assert caught.value.committed is False and call.committed is False
        assert isinstance(caught.value.__context__, ValueError)
        other = db.write_async(lambda: db.add(Item(id=7)))
        assert other.committed is None and (await other).id == 7 and other.committed is True
        block = asyncio.create_task(cancelled_block())
        with pytest.raises(asyncio.CancelledError) as caught:
            await block
        assert caught.value.committed is True and ids(db) == [7, 8]

    async def cancelled_block():
        async with db.write():
            db.add(Item(id=8))
            asyncio.current_task().cancel()

    run(main())


def test_closed_before_its_turn(db, path):
    holder = Holder(path)

    async def main():
        write = asyncio.create_task(db.write_async(lambda: db.add(Item(id=1))))
        await asyncio.sleep(0)
        db.close()
        with pytest.raises(crealm.ClosedError):
            await write
        with pytest.raises(crealm.ClosedError):
            await db.write_async(lambda: None)
        holder.release()

    run(main())
    with crealm.open(path) as db:
        assert len(db["Item"]) == 0


def test_closed_by_the_function(db, path):
    def add_and_close():
        db.add(Item(id=1))
        db.close()

    async def main():
        with pytest.raises(crealm.ClosedError, match="nothing was changed"):
            await db.write_async(add_and_close)

    run(main())
    with crealm.open(path) as db:
        assert len(db["Item"]) == 0


def test_closed_before_it_is_on_disk(db, path):
    """Closing waits for the disk: the committed changes are stored, and the task learns of it."""

    async def main():
        write = asyncio.create_task(db.write_async(lambda: db.add(Item(id=1)).id))
        while not len(db[Item]):
            await asyncio.sleep(0)
        db.close()
        assert await write == 1

    run(main())
    with crealm.open(path) as db:
        assert len(db["Item"]) == 1


def test_where_nobody_can_write(db, path, other):
    async def main(database):
        await database.write_async(lambda: None)

    with pytest.raises(crealm.ReadOnlyError):
        run(main(db.freeze()))
    coroutine = main(db)
    with pytest.raises(crealm.UsageError, match="event loop"):
        coroutine.send(None)
    errors = []

    def elsewhere():
        try:
            run(main(db))
        except crealm.WrongThreadError as error:
            errors.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert len(errors) == 1


def test_beside_other_writes(db, other):
    """A running write of the same database comes first; functions may use other databases, and writes do not nest."""
    log = []

    def nests():
        log.append("async")
        with pytest.raises(crealm.UsageError, match="nest"):
            db.write().__enter__()
        other.refresh()
        assert ids(other) == [1] and not other.is_writing
        db[Item].get(1).numbers.append(5)

    async def main():
        with db.write():
            write = asyncio.create_task(db.write_async(nests))
            await asyncio.sleep(0)
            db.add(Item(id=1))
            log.append("block")
        with db.write():
            log.append("block")
        await write
        assert not db.is_writing

    run(main())
    assert log == ["block", "block", "async"] and list(db[Item].get(1).numbers) == [5]


def test_a_write_takes_the_lock_that_waits_for_another(db):
    """If a waiting function gets the lock while a write of the same database waits for it, that write uses the lock first."""
    done = []

    async def main():
        with db.write():
            write = asyncio.create_task(db.write_async(lambda: done.append(None)))
            await asyncio.sleep(0)
        with db.write():
            pass
        await write

    for _ in range(3000):
        run(main())
    assert len(done) == 3000


def test_observers_are_told_in_order(db, other):
    """Each write is reported before the next one begins, also to functions that write themselves."""
    told, seen = [], []

    def observed(change):
        told.append((change.insertions, len(db[Item])))

    async def main():
        observation = db[Item].observe(observed)
        task = asyncio.create_task(follow())
        await asyncio.sleep(0)
        await asyncio.gather(*(db.write_async(lambda n=n: db.add(Item(id=n))) for n in range(4)))
        assert observation.is_active
        await task

    async def follow():
        async for change in other[Item].changes():
            seen.extend(change.insertions)
            if len(seen) == 4:
                break

    run(main())
    assert [i for indices, _ in told for i in indices] == [0, 1, 2, 3] == seen
    assert all(max(indices, default=-1) < count for indices, count in told)


def unraised(monkeypatch):
    """The exceptions that went to sys.unraisablehook, from functions that the library calls."""
    reports = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reports.append(repr(report.exc_value)))
    return reports


def test_the_loop_is_closed_before_its_turn(db, monkeypatch):
    """No task could learn of such a write: it does not happen. Writes of the next loop do."""
    reports, called, loop = unraised(monkeypatch), [], asyncio.new_event_loop()

    async def begin():
        task = asyncio.ensure_future(db.write_async(called.append, 1))
        await asyncio.sleep(0)
        return task

    # Another writer holds the lock until the loop is closed, so the write cannot begin before that.
    with crealm.open(db.path, schema=[Item]) as other, other.write():
        task = loop.run_until_complete(begin())
        loop.close()

    async def main():
        return await db.write_async(lambda: db.add(Item(id=2)).id)

    assert run(main()) == 2 and run(main_of(db, 3)) == 3
    assert ids(db) == [2, 3] and called == [] and reports == []
    assert not task.done()
    task._log_destroy_pending = False


def main_of(db, number):
    return db.write_async(lambda: db.add(Item(id=number)).id)


def test_the_loop_is_closed_before_it_is_on_disk(db, monkeypatch):
    """The write is committed, but no task can learn of it."""
    reports, loop, stop = unraised(monkeypatch), asyncio.new_event_loop(), []

    def add():
        db.add(Item(id=1))
        loop.stop()

    async def begin():
        stop.append(asyncio.ensure_future(db.write_async(add)))
        await asyncio.sleep(PATIENCE)

    main = loop.create_task(begin())
    loop.run_forever()
    stop[0]._log_destroy_pending = main._log_destroy_pending = False
    loop.close()
    assert ids(db) == [1] and run(main_of(db, 2)) == 2
    assert ids(db) == [1, 2] and reports == []


WRITES_ELSEWHERE = """
import crealm, signal, sys
signal.alarm(20)
with crealm.open(sys.argv[1]) as db, db.write():
    db["Item"].create(7)
"""


@pytest.mark.parametrize("gets_the_lock", [True, False])
def test_a_thread_ends_before_its_turn(path, monkeypatch, gets_the_lock):
    """No process and no later user of its event loop waits for a thread that has ended."""
    reports, kept = unraised(monkeypatch), []
    with crealm.open(path, schema=[Item]):
        pass
    holder = None if gets_the_lock else Holder(path)

    def ends():
        mine, loop = crealm.open(path, schema=[Item]), asyncio.new_event_loop()

        async def begin():
            kept.append(asyncio.ensure_future(main_of(mine, 1)))
            await asyncio.sleep(0)
            if gets_the_lock:
                descriptor = observing.thread_here().descriptor
                loop.remove_reader(descriptor)
                assert select.select([descriptor], [], [], PATIENCE)[0]

        loop.run_until_complete(begin())
        kept.extend([mine, loop])

    thread = threading.Thread(target=ends)
    thread.start()
    thread.join()
    if holder is not None:
        holder.release()
    task, mine, loop = kept
    end = time.monotonic() + PATIENCE  # The library's work may continue for a moment after join().
    while writing._by_number and time.monotonic() < end:
        time.sleep(0.001)
    assert not writing._by_number
    subprocess.run([sys.executable, "-c", WRITES_ELSEWHERE, path], check=True, timeout=PATIENCE)
    with pytest.raises(crealm.Error, match="thread has ended"):
        loop.run_until_complete(task)
    loop.close()
    del task, mine, loop
    kept.clear()
    with crealm.open(path, schema=[Item]) as db:
        assert ids(db) == [7] and reports == []


def test_everything_is_given_back(db, path):
    class Marked:
        pass

    marked = Marked()
    kept = weakref.ref(marked)

    async def main():
        nonlocal marked
        await db.write_async(lambda mark: db.add(Item(id=1)), marked)
        marked = None

    run(main())
    gc.collect()
    assert kept() is None and not db._async_writes
    assert sys.getrefcount(db) < 20
