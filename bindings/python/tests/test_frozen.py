"""Frozen databases, objects, collections and results: their contents, their threads and their lifetime."""

import gc
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any, Dict, List, Set

import pytest

import crealm


class Dog(crealm.Model):
    name: str
    age: int
    owners: crealm.Backlinks["Person"] = crealm.backlinks("Person", "dogs")


class Person(crealm.Model):
    id: int = crealm.field(primary_key=True)
    age: int
    dogs: List[Dog]
    words: Set[str]
    notes: Dict[str, Any]
    any: Any


@pytest.fixture
def db(path):
    with crealm.open(path, schema=[Person]) as db:
        with db.write():
            for number in range(100):
                dogs = [Dog(name=f"{number}.{i}", age=i) for i in range(3)]
                db.add(Person(id=number, age=number, dogs=dogs, words={"a", "b"}, notes={"k": number}, any=[1, [2, 3], {"x": 4}]))
        yield db


@pytest.fixture
def ann(db):
    return db[Person].get(7)


def on_threads(count, function):
    """Runs a function on many threads at once, and returns the results."""
    results, together = [], threading.Barrier(count)

    def run(number):
        together.wait()
        try:
            results.append(function(number))
        except BaseException as error:
            results.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == count
    return results


def change_all(db):
    with db.write():
        for person in db[Person]:
            person.age += 1000
        db[Person].get(7).delete()
        db[Dog].delete_all()


def content(db):
    return [person.to_dict(3) for person in db[Person]]


def test_a_database_for_all_threads(db):
    frozen, before = db.freeze(), content(db)
    assert frozen.is_frozen and frozen.mode == "frozen" and not db.is_frozen and frozen.version == db.version
    change_all(db)

    def read(number):
        assert len(frozen[Person].where("age >= $0", 50)) == 50 and frozen[Person].sum("age") == sum(range(100))
        assert [p.id for p in frozen[Person].where("ANY dogs.name == '7.1'")] == [7]
        return content(frozen)

    assert on_threads(6, read) == [before] * 6
    assert content(db) != before and len(db[Dog]) == 0


def test_one_handle_for_all_threads(db, ann):
    """All threads use the same objects, collections and results at the same time, while there are writes."""
    person, dogs, words, notes = (x.freeze() for x in (ann, ann.dogs, ann.words, ann.notes))
    nested, pairs = ann.any[1].freeze(), ann.any[2].freeze()
    found, table = db[Person].where("age > 4").sort("-age").limit(3).freeze(), db[Person].freeze()
    owners = ann.dogs[0].owners.freeze()

    def read(number):
        seen = []
        for _ in range(20):
            seen.append(
                (
                    (person.age, person.is_valid, [dog.name for dog in dogs], sorted(words), dict(notes), list(nested), dict(pairs)),
                    ([p.id for p in found], len(table), table.get(9).age, [p.id for p in owners], dogs.where("age > 1")[0].name),
                )
            )
        return seen

    expected = read(0)[0]
    assert expected[0] == (7, True, ["7.0", "7.1", "7.2"], ["a", "b"], {"k": 7}, [2, 3], {"x": 4})
    assert expected[1] == ([99, 98, 97], 100, 9, [7], "7.2")
    stop = threading.Event()

    def write():
        with crealm.open(db.path, schema=[Person]) as mine:
            while not stop.is_set():
                with mine.write():
                    mine[Person].get(8).age += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        change_all(db)
        assert on_threads(4, read) == [[expected] * 20] * 4
    finally:
        stop.set()
        writer.join()
    assert not ann.is_valid and person.is_valid


def test_there_and_back(db, ann):
    person, numbers = ann.freeze(), ann.any[1].freeze()
    assert person == ann.freeze() and person != ann and person.freeze() is person and person.is_frozen and not ann.is_frozen
    assert type(person) is Person and person.dogs[0] == ann.dogs[0].freeze()
    assert db.resolve(person) == ann and db.resolve(ann) is ann
    assert db.resolve(person.dogs)[0] == ann.dogs[0] and db.resolve(numbers) == [2, 3] and db.resolve(person.words) == {"a", "b"}
    frozen = db.freeze()
    again = frozen.freeze()
    assert again[Person][7].id == 7 and again is not frozen and again.resolve(person).id == 7
    found = db[Person].where("age < 3").freeze()
    with db.write():
        ann.age = -1
    assert len(found) == 3 and [p.id for p in db.resolve(found)] == [0, 1, 2, 7]
    assert db.resolve(person).age == -1 and person.age == 7 and ann.freeze().age == -1 and ann.freeze() != person
    with db.write():
        ann.delete()
        bob = db.add(Person(id=500))
        assert bob.id == 500
        with pytest.raises(crealm.InvalidatedError):
            bob.freeze()
        assert db.freeze()[Person].get(7).age == -1  # The running write is not included.
    assert db.resolve(person) is None and db.resolve(person.dogs) is None
    for gone in (ann, ann.freeze):
        with pytest.raises(crealm.InvalidatedError):
            gone() if callable(gone) else gone.age
    assert frozen.resolve(bob) is None and bob.freeze().id == 500


def test_what_cannot_be_done(db, ann):
    frozen = db.freeze()
    person = frozen[Person].get(7)
    for change in (frozen.write().__enter__, person.delete, person.dogs.clear, lambda: frozen.add(Person(id=1000)), frozen.compact):
        with pytest.raises(crealm.ReadOnlyError):
            change()
    with pytest.raises(crealm.ReadOnlyError):
        person.age = 1
    for watch in (lambda: person.observe(print), frozen[Person].changes, lambda: frozen.observe(print), frozen.changes, frozen.wait_for_change):
        with pytest.raises(crealm.UsageError):
            watch()
    change_all(db)
    assert not frozen.refresh() and person.age == 7 and frozen.verify() == []
    with pytest.raises(crealm.UsageError, match="no database"):
        Person(id=3).freeze()
    assert isinstance(on_threads(1, lambda _: ann.freeze())[0], crealm.WrongThreadError)
    assert isinstance(on_threads(1, lambda _: db.freeze())[0], crealm.WrongThreadError)


def test_closing_beside_readers(db):
    """Each read returns values of the snapshot, or raises ClosedError."""
    for _ in range(20):
        frozen = db.freeze()
        people, begun = frozen[Person], threading.Semaphore(0)

        def read(number):
            reads = 0
            try:
                while True:
                    assert people[number].age == number and people[number].dogs[1].name == f"{number}.1"
                    reads += 1
                    begun.release()
            except crealm.ClosedError:
                return reads

        def close(number):
            if number:
                return read(number)
            for _ in range(5):
                begun.acquire()
            frozen.close()
            return 5

        assert sum(on_threads(4, close)) >= 10
        assert frozen.is_closed and not frozen._owner.visits and not frozen._owner.live
        with pytest.raises(crealm.ClosedError):
            people[0].age


def test_how_long_it_lasts(path, db, ann):
    frozen, person = db.freeze(), ann.freeze()
    db.close()
    assert frozen[Person][7].age == 7 and person.age == 7
    owner, dog = person._handle.owner, person.dogs[1]
    del person
    gc.collect()
    assert not owner.is_closed and dog.name == "7.1"  # Its objects keep the frozen database open.
    del dog
    gc.collect()
    assert owner.is_closed and not frozen.is_closed
    frozen.close()
    frozen.close()
    with crealm.open(path) as db:
        assert db.compact()  # No other database has the file open.
        with db.freeze() as frozen:
            assert len(frozen["Person"]) == 100
        with pytest.raises(crealm.ClosedError):
            frozen["Person"]


def test_dropping_on_other_threads(db, ann):
    people = [db.freeze()[Person] for _ in range(8)]
    owners = [weakref.ref(p._handle.owner) for p in people]

    def drop(number):
        mine = people[number]
        people[number] = None
        return len([mine[i].dogs[0] for i in range(10)])

    assert on_threads(8, drop) == [10] * 8
    gc.collect()
    assert [owner() for owner in owners] == [None] * 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child(db, ann):
    person = ann.freeze()
    child = os.fork()
    if child == 0:
        try:
            person.age
        except crealm.ForkedError:
            os._exit(17)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17 and person.age == 7


def test_at_the_end_of_the_program(path, db):
    """Threads may still read a frozen database when the interpreter exits; it is closed under them."""
    db.close()
    code = """
import sys, threading, crealm
frozen = crealm.open(sys.argv[1]).freeze()
begun = threading.Event()
def read():
    try:
        while True:
            frozen["Person"][3].age
            begun.set()
    except crealm.ClosedError:
        pass
threading.Thread(target=read, daemon=True).start()
begun.wait()
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code, str(path)], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
