"""Events for watchers of a file: each version once, with the inserted and deleted objects, from any writer."""

import asyncio
import json
import random
import subprocess
import sys

import pytest

from browsing import Asking, File, addresses

import crealm
from conftest import PERSON
from crealm.browse.live import Summary, Watch, compared


async def _run(function):
    return await asyncio.to_thread(function)


def told(text):
    """Event and data of a message to a watcher; None for a message that only keeps the connection open."""
    if not text.startswith("event: "):
        return None
    kind, data = text.rstrip("\n").split("\n")
    return kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))


async def next_of(events):
    while True:
        found = told(await asyncio.wait_for(events.__anext__(), 20))
        if found is not None:
            return found


@pytest.fixture
def file(path):
    with crealm.open(path, schema=[PERSON]) as db, db.write():
        db.add_many("Person", ({"id": i, "age": i} for i in range(10)))
    return path


CHANGE = """
import crealm, sys
with crealm.open(sys.argv[1]) as db:
    with db.write():
        number = int(sys.argv[2])
        db["Person"].create(100 + number)
        db["Person"].get(number).delete()
        db["Person"].get(9).age += 1
    print(db.version)
"""


def change(path, number):
    """Adds a person, deletes one, and changes one, in another process."""
    done = subprocess.run([sys.executable, "-c", CHANGE, str(path), str(number)], check=True, capture_output=True, text=True)
    return int(done.stdout)


@pytest.mark.parametrize("way", ["snapshot", "shared"])
def test_watchers_are_told_of_each_version(file, way):
    async def watched():
        watch = Watch(File(str(file), way=way), _run)
        watchers = [watch.events() for _ in range(3)]
        firsts = [await next_of(events) for events in watchers]
        assert all(kind == "version" and data["before"] is None for kind, data in firsts)
        waiting = [asyncio.create_task(next_of(events)) for events in watchers]
        await asyncio.sleep(0.1)
        await asyncio.to_thread(change, file, 1)
        found = [await task for task in waiting]
        again = change(file, 2)
        last = await next_of(watchers[0])
        log = list(watch.log)
        for events in watchers:
            await events.aclose()
        assert watch._task is None
        watch._file.close()
        return found, again, last, log

    found, again, last, log = asyncio.run(watched())
    assert all(data["classes"] == {"Person": {"count": 10, "inserted": 1, "deleted": 1}} for _, data in found)
    assert len({data["version"] for _, data in found}) == 1 and last[1]["before"] == found[0][1]["version"]
    assert [one["version"] for one in log] == [found[0][1]["version"], last[1]["version"]] and again <= last[1]["version"]


def test_who_comes_later_is_told_the_newest_version(file):
    """A page shows one version and begins to listen a moment later: it receives the version that was written in between, although others had it before."""
    async def watched():
        watch = Watch(File(str(file)), _run)
        early = watch.events()
        await next_of(early)
        written = await asyncio.to_thread(change, file, 1)
        heard = await next_of(early)
        late = watch.events()
        found = await next_of(late)
        again = await asyncio.to_thread(change, file, 2)
        both = [await next_of(early), await next_of(late)]
        for events in (early, late):
            await events.aclose()
        watch._file.close()
        return written, heard, found, again, both

    written, heard, found, again, both = asyncio.run(watched())
    assert heard[1]["version"] == found[1]["version"] >= written and found[1]["before"] is None and "classes" not in found[1]
    assert both[0] == both[1] and both[0][1]["version"] >= again and both[0][1]["classes"]["Person"]["inserted"] == 1


def test_sizes_are_those_of_the_file(file):
    """One size for each version that was seen, including the first; earlier sizes are not known."""
    async def watched():
        watch = Watch(File(str(file)), _run)
        events = watch.events()
        found = [(await next_of(events))[1]["version"]]
        sizes = [file.stat().st_size]
        for count in (10, 20_000):
            with crealm.open(file) as db, db.write():
                db.add_many("Person", ({"id": 1000 * count + i, "name": "x" * 30} for i in range(count)))
            found.append((await next_of(events))[1]["version"])
            sizes.append(file.stat().st_size)
        await events.aclose()
        again = watch.events()
        await next_of(again)
        await again.aclose()
        watch._file.close()
        return found, sizes, list(watch.sizes)

    found, sizes, told = asyncio.run(watched())
    assert [one["version"] for one in told] == found and [one["size"] for one in told] == sizes and sizes[2] > sizes[1]
    assert [one["time"] for one in told] == sorted(one["time"] for one in told)


def test_values_that_change_are_a_version(file):
    async def watched():
        watch = Watch(File(str(file)), _run)
        events = watch.events()
        await next_of(events)
        with crealm.open(file) as db, db.write():
            db["Person"].get(3).age = 77
        found = await next_of(events)
        file.unlink()
        gone = await next_of(events)
        await events.aclose()
        watch._file.close()
        return found, gone

    found, gone = asyncio.run(watched())
    assert found[1]["classes"] == {} and gone[0] == "problem" and gone[1]["kind"] == "FileNotFound"


def test_comparing_with_sets_of_keys(path):
    """The counts of random changes agree with the sets of keys before and after."""
    numbers = random.Random(2)
    with crealm.open(path, schema=[PERSON]) as db:
        made, before = 0, None
        for _ in range(30):
            keys = {person.object_key for person in db["Person"]}
            before = Summary(db)
            with db.write():
                for _ in range(numbers.randrange(4)):
                    db["Person"].create(made)
                    made += 1
                for person in list(db["Person"]):
                    if numbers.random() < 0.2:
                        person.delete()
            now = {person.object_key for person in db["Person"]}
            wanted = {"count": len(now), "inserted": len(now - keys), "deleted": len(keys - now)}
            assert compared(before, Summary(db)) == ({} if now == keys else {"Person": wanted})


def test_the_log_has_an_address(file):
    with Asking(file) as asking:
        assert asking.get(file.name, "log") == {"log": [], "sizes": []}
        assert asking.client.get(addresses.path(["nothing", "events"]) + ".json").status_code == 404


def test_who_does_not_listen_is_told_the_last_version(file, monkeypatch):
    """Even if a watcher leaves many events waiting, the newest version is among them."""
    monkeypatch.setattr("crealm.browse.live._WAITING", 3)

    async def watched():
        watch = Watch(File(str(file)), _run)
        events = watch.events()
        await next_of(events)
        for number in range(10):
            watch._tell({"event": "version", "data": {"version": number, "classes": {}}})
        found = [(await next_of(events))[1]["version"] for _ in range(3)]
        await events.aclose()
        watch._file.close()
        return found

    assert asyncio.run(watched()) == [7, 8, 9]


def test_a_look_that_fails_is_made_again(file, monkeypatch):
    """Also if it fails with an unexpected error."""
    async def watched():
        watch = Watch(File(str(file)), _run)
        events = watch.events()
        await next_of(events)
        news, failed = watch._news, []

        def failing(last):
            if len(failed) < 3:
                failed.append(1)
                raise MemoryError if len(failed) == 2 else OSError("no more files")
            return news(last)

        monkeypatch.setattr(watch, "_news", failing)
        written = await asyncio.to_thread(change, file, 1)
        found = await next_of(events)
        await events.aclose()
        watch._file.close()
        return written, found, failed

    written, found, failed = asyncio.run(watched())
    assert found[1]["version"] >= written and found[1]["classes"]["Person"]["inserted"] == 1 and len(failed) == 3


def test_a_look_that_nobody_waits_for_hides_nothing(file):
    """The last watcher leaves during a check of the file, and another one comes before the check ends: it receives the current version."""
    async def watched():
        begun, end = asyncio.Event(), asyncio.Event()
        watch = Watch(File(str(file)), _run)
        events = watch.events()
        await next_of(events)
        news, loop = watch._news, asyncio.get_running_loop()

        def slow(last):
            loop.call_soon_threadsafe(begun.set)
            asyncio.run_coroutine_threadsafe(end.wait(), loop).result(20)
            return news(last)

        watch._news = slow
        await asyncio.wait_for(begun.wait(), 20)
        await events.aclose()
        written = await asyncio.to_thread(change, file, 1)
        watch._news = news
        end.set()
        later = watch.events()
        found = await next_of(later)
        await later.aclose()
        watch._file.close()
        return written, found

    written, found = asyncio.run(watched())
    assert found[0] == "version" and found[1]["version"] >= written


def test_a_file_in_the_place_of_another_is_told(file, tmp_path):
    """Also if both files have the same version."""
    other = tmp_path / "other.realm"
    with crealm.open(other, schema=[PERSON]) as db, db.write():
        db.add_many("Person", ({"id": i} for i in range(3)))

    async def watched():
        watch = Watch(File(str(file)), _run)
        events = watch.events()
        first = await next_of(events)
        other.replace(file)
        found = await next_of(events)
        await events.aclose()
        watch._file.close()
        return first, found

    first, found = asyncio.run(watched())
    assert first[1]["version"] == found[1]["version"] and first[1]["state"] != found[1]["state"]
    assert found[1]["classes"]["Person"]["count"] == 3
