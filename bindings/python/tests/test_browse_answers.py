"""The cache of answers of a snapshot: each answer is computed once for all requests, never belongs to another version, and the size is limited."""

import random
import threading
import time

import pytest

from browsing import Asking

import crealm
from conftest import PERSON
from crealm.browse import answers
from crealm.browse.answers import Answers
from crealm.browse.work import Job
from crealm.errors import Interrupted


@pytest.fixture
def file(path):
    with crealm.open(path, schema=[PERSON]) as db, db.write():
        db.add_many("Person", ({"id": i, "age": i} for i in range(300)))
    return path


def together(count, function):
    """Calls a function on several threads at once, and returns their results and exceptions."""
    found, ready = [None] * count, threading.Barrier(count)

    def run(number):
        ready.wait()
        try:
            found[number] = function(number)
        except Exception as error:
            found[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    return found


def test_many_that_ask_the_same_make_it_once():
    kept, made = Answers(), []

    def make():
        made.append(1)
        time.sleep(0.2)
        return b"found"

    assert together(20, lambda number: kept.get("question", make, Job())) == [b"found"] * 20 and len(made) == 1


def test_an_error_is_not_kept_and_who_waits_makes_it_again():
    kept, made = Answers(), []

    def make():
        made.append(1)
        if len(made) == 1:
            time.sleep(0.2)
            raise ValueError("the first")
        return b"found"

    found = together(5, lambda number: kept.get("question", make, Job()))
    assert [one for one in found if isinstance(one, ValueError)] and sum(one == b"found" for one in found) == 4 and len(made) == 2


def test_who_waits_can_be_stopped():
    kept, begun, end = Answers(), threading.Event(), threading.Event()

    def make():
        begun.set()
        end.wait(20)
        return b"found"

    first = threading.Thread(target=lambda: kept.get("question", make, Job()))
    first.start()
    begun.wait(20)
    job = Job()
    job.stop()
    with pytest.raises(Interrupted):
        kept.get("question", make, job)
    end.set()
    first.join(20)
    assert kept.get("question", lambda: b"another", Job()) == b"found"


def test_no_more_is_kept_than_fits(monkeypatch):
    """Compared with a model: the answers that were requested last stay, as far as they fit."""
    monkeypatch.setattr(answers, "_MOST", 1000)
    monkeypatch.setattr(answers, "_LARGEST", 300)
    numbers, kept, model = random.Random(7), Answers(), {}
    for _ in range(3000):
        key, size = numbers.randrange(40), numbers.randrange(400)
        made = []
        found = kept.get(key, lambda: made.append(1) or bytes(size), Job())
        assert bool(made) == (key not in model)
        model[key] = size = model.pop(key, len(found))
        if size > 300:
            del model[key]
        while sum(model.values()) > 1000:
            del model[next(iter(model))]
        assert kept._size == sum(model.values()) <= 1000


def test_pages_that_ask_the_same_are_read_once(file, monkeypatch):
    """Twenty pages request the same after each of some commits: rows are read for one of them, and all get the newest."""
    from crealm.browse import api

    read = []
    rows = api.rows
    monkeypatch.setattr(api, "rows", lambda *given: read.append(1) or rows(*given))
    with Asking(file) as asking:
        for number in range(5):
            with crealm.open(file) as db, db.write():
                db["Person"].get(3).age = 1000 + number
            time.sleep(0.1)  # Right after a commit the file always counts as changed: see `_is_same` in `files`.
            before = len(read)
            found = together(20, lambda _: asking.get(file.name, "class", "Person", sort="id asc", column=["id", "age"], count=10))
            assert [one["rows"][3]["cells"][1]["v"] for one in found] == [1000 + number] * 20
            assert len({one["state"] for one in found}) == 1 and len(read) == before + 1
        asking.get(file.name, "class", "Person", sort="id asc", column=["id", "age"], count=11)
        assert len(read) == 6


def test_a_file_that_takes_the_place_of_another_with_the_same_version(tmp_path):
    """The version is the same; the state is different."""
    one, other = tmp_path / "one.realm", tmp_path / "other.realm"
    for path, name in ((one, "one"), (other, "other")):
        with crealm.open(path, schema=[PERSON]) as db, db.write():
            db["Person"].create(1, name=name)
    with Asking(one) as asking:
        before = asking.get("one.realm", "class", "Person")
        other.replace(one)
        after = asking.get("one.realm", "class", "Person")
    assert before["version"] == after["version"] and before["state"] != after["state"]
    names = [[cell["v"] for cell in found["rows"][0]["cells"] if cell["t"] == "string"] for found in (before, after)]
    assert "one" in names[0] and "other" in names[1]
