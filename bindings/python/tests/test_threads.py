"""One database for several threads: clone(), local; writes in coroutines as blocks: async with db.write()."""

import asyncio
import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import List

import pytest

import crealm
from crealm import Model, field

PATIENCE = 30


class Item(Model):
    id: int = field(primary_key=True)
    tags: List[str]


@pytest.fixture
def db(path):
    with crealm.open(path, schema=[Item], schema_version=3) as db:
        with db.write():
            db.add(Item(id=1))
        yield db


def elsewhere(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result(PATIENCE)


def test_clone(db):
    def work():
        with db.clone() as mine:
            assert mine.path == db.path and mine.mode == db.mode and mine.schema_version == 3 and type(mine[Item].get(1)) is Item
            with mine.write():
                mine.add(Item(id=2))
            with mine.clone() as other:
                return len(other[Item])

    assert elsewhere(work) == 2 and db.refresh() and len(db[Item]) == 2
    with db.clone() as other:
        assert other is not db and len(other[Item]) == 2


@pytest.mark.parametrize("arguments", [
    dict(mode="r"), dict(mode="snapshot"), dict(schema=[Item], key=b"k" * 64), dict(schema=[Item], passphrase="secret")])  # fmt: skip
def test_clones_are_opened_in_the_same_way(path, arguments):
    secret = {name: value for name, value in arguments.items() if name in ("key", "passphrase")}
    crealm.open(path, schema=[Item], **secret).close()
    with crealm.open(path, **arguments) as db:
        assert elsewhere(lambda: [db.local.mode, db.local.classes]) == [arguments.get("mode", "rwc"), ["Item"]]
        if secret:
            db.change_key(key=b"n" * 64)
            assert elsewhere(lambda: db.local.classes) == ["Item"]
            db.change_key(key=None)


def test_clones_of_memory():
    with crealm.memory(schema=[Item]) as db:
        with db.write():
            db.add(Item(id=1))
        assert elsewhere(lambda: db.local[Item].get(1).id) == 1


def test_what_cannot_be_cloned(db, path):
    frozen = db.freeze()
    with pytest.raises(crealm.UsageError, match="'frozen'"):
        frozen.clone()
    assert elsewhere(lambda: frozen.local) is frozen
    db.close()
    for wrong in (db.clone, lambda: db.local):
        with pytest.raises(crealm.ClosedError):
            wrong()
        with pytest.raises(crealm.ClosedError):
            elsewhere(wrong)

    def migrate(old, new, version):
        with pytest.raises(crealm.UsageError):
            new.clone()
        new.remove_property("Item", "tags")

    frozen.close()
    crealm.open(path, schema=[crealm.ClassSchema("Item", {"id": int}, primary_key="id")], schema_version=4, migrate=migrate).close()


def test_local_is_one_for_each_thread(db, recwarn):
    assert db.local is db
    barrier, seen = threading.Barrier(3), []

    def work():
        mine = db.local
        assert mine is db.local and mine is not db and mine[Item].get(1).id == 1
        barrier.wait(PATIENCE)
        mine.close()
        assert db.local is not mine and not db.local.is_closed
        seen.append(id(mine))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert len(set(seen)) == 3 and not [w for w in recwarn if issubclass(w.category, ResourceWarning)]
    assert len(db.versions()) == 1  # The clones of the threads were closed with their threads.


# ------------------------------------------------------------------------------------------------
# async with db.write()
# ------------------------------------------------------------------------------------------------


def test_a_block(db, path):
    async def main():
        async with db.write() as same:
            assert same is db and db.is_writing
            item = db.add(Item(id=2))
            item.tags.append("a")
        assert not db.is_writing and list(item.tags) == ["a"]
        with pytest.raises(crealm.NotInWriteError):
            item.tags.append("b")

    asyncio.run(main())
    with crealm.open(path, schema=[Item]) as other:
        assert list(other[Item].get(2).tags) == ["a"]


def test_the_loop_goes_on_while_a_block_waits_for_its_turn(db):
    held, release, steps = threading.Event(), threading.Event(), []

    def hold():
        with db.clone() as mine, mine.write():
            held.set()
            assert release.wait(PATIENCE)
            mine.add(Item(id=5))

    async def beat():
        while len(steps) < 100:
            steps.append(1)
            await asyncio.sleep(0)
        release.set()

    async def main():
        thread = threading.Thread(target=hold)
        thread.start()
        assert held.wait(PATIENCE)
        beating = asyncio.create_task(beat())
        async with db.write():
            assert release.is_set() and db[Item].get(5) is not None  # This write came after the other one.
            db.add(Item(id=6))
        await beating
        thread.join()

    asyncio.run(main())
    assert len(steps) == 100 and [item.id for item in db[Item]] == [1, 5, 6]


def test_many_tasks(db):
    async def one(number):
        async with db.write():
            assert len(db[Item]) >= 1 and db[Item].get(number) is None
            db.add(Item(id=number))
        return number

    async def main():
        assert await asyncio.gather(*map(one, range(10, 60))) == list(range(10, 60))
        await db.write_async(lambda: db.add(Item(id=100)))

    asyncio.run(main())
    assert len(db[Item]) == 52


@pytest.mark.parametrize("error", [ValueError, KeyError, asyncio.CancelledError])
def test_a_block_that_raises(db, error):
    async def main():
        item = Item(id=2)
        with pytest.raises(error):
            async with db.write():
                db.add(item)
                raise error("on purpose")
        assert not item.is_managed and len(db[Item]) == 1 and not db.is_writing
        async with db.write():
            db.add(item)
        assert item.is_managed and len(db[Item]) == 2

    asyncio.run(main())


def test_a_block_that_waits_is_undone(db):
    async def main():
        item = Item(id=2)
        with pytest.raises(crealm.UsageError, match="waited for something: its changes were undone"):
            async with db.write():
                db.add(item)
                await asyncio.sleep(0)
                assert not item.is_managed
                with pytest.raises(crealm.NotInWriteError):
                    db[Item].get(1).tags.append("x")
        with pytest.raises(KeyError):
            async with db.write():
                await asyncio.sleep(0)
                raise KeyError
        assert len(db[Item]) == 1
        async with db.write():
            db.add(item)

    asyncio.run(main())
    assert len(db[Item]) == 2


def test_a_task_that_is_cancelled_before_its_turn(db):
    held, release = threading.Event(), threading.Event()

    def hold():
        with db.clone() as mine, mine.write():
            held.set()
            assert release.wait(PATIENCE)

    async def write():
        async with db.write():
            db.add(Item(id=2))

    async def main():
        thread = threading.Thread(target=hold)
        thread.start()
        assert held.wait(PATIENCE)
        task = asyncio.create_task(write())
        await asyncio.sleep(0)
        task.cancel("enough")
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(write(), 0.01)
        release.set()
        thread.join()
        async with db.write():
            db.add(Item(id=3))

    asyncio.run(main())
    assert [item.id for item in db[Item]] == [1, 3]


def test_a_block_waits_no_longer_than_it_shall(db):
    held, release = threading.Event(), threading.Event()

    def hold():
        with db.clone() as mine, mine.write():
            held.set()
            assert release.wait(PATIENCE)

    async def main():
        thread = threading.Thread(target=hold)
        thread.start()
        assert held.wait(PATIENCE)
        with pytest.raises(crealm.TimedOut):
            async with db.write(timeout=0.05):
                raise AssertionError("never")
        release.set()
        thread.join()
        async with db.write(timeout=PATIENCE):
            db.add(Item(id=2))

    asyncio.run(main())
    assert [item.id for item in db[Item]] == [1, 2]


def test_closing(db):
    async def main():
        with pytest.raises(crealm.ClosedError):
            async with db.write():
                db.add(Item(id=2))
                db.close()
        with pytest.raises(crealm.ClosedError):
            async with db.write():
                raise AssertionError
        with crealm.open(db.path, schema=[Item]) as other:
            waiting = asyncio.create_task(enter(other))
            with other.write():
                await asyncio.sleep(0)
            other.close()
            with pytest.raises(crealm.ClosedError):
                await waiting

    async def enter(other):
        async with other.write():
            raise AssertionError("never")

    asyncio.run(main())
    with crealm.open(db.path, schema=[Item]) as other:
        assert len(other[Item]) == 1


def test_where_no_block_can_be(db, path):
    async def reading():
        with crealm.open(path, mode="snapshot") as other:
            async with other.write():
                raise AssertionError

    with pytest.raises(crealm.ReadOnlyError):
        asyncio.run(reading())
    block = db.write().__aenter__()
    with pytest.raises(crealm.UsageError, match="event loop"):
        block.send(None)
