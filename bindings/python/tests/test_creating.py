"""create() and add() with plain values go a short way: it gives the same objects and errors as the long one."""

import enum
import random
from datetime import date
from typing import Any, List, Optional

import pytest

import crealm
from crealm import Model, database, field, objects


class Level(enum.IntEnum):
    LOW = 1


class Keyed(Model):
    id: int = field(primary_key=True)
    n: int = field(name="stored_n", default=7)
    text: Optional[str] = None
    flag: bool = False
    price: float = 1.5
    day: date = date(2020, 1, 1)
    level: Level = Level.LOW
    anything: Any = None
    other: Optional["Plain"] = None
    numbers: List[int]


class Plain(Model):
    n: int
    text: str = field(unique=True, default="")
    maybe: Optional[int] = field(file_default=3)
    price: Optional[float] = None


class Automatic(Model):
    id: int = field(primary_key=True, auto=True)
    n: int = field(min=0)


VALUES = [0, 1, 5, -3, 2**63, None, True, False, 1.5, float("inf"), "", "x", "né", "\ud800", b"x", [], [1], {}]
VALUES += [Level.LOW]
VALUES += [date(2021, 2, 3), object(), "a\0b", -(2**63), 1e300]
NAMES = ["id", "n", "stored_n", "text", "flag", "price", "maybe", "nothing", "day", "level", "anything", "numbers"]


def outcome(action):
    try:
        made = action()
        return made.to_dict(0)
    except (crealm.Error, TypeError) as error:
        return type(error).__name__, str(error).replace(hex(id(VALUES[-3])), "…")


def fitting(chance, name):
    usual = {"id": [1, 2, 3, 4], "n": [4, 9], "text": ["a", "b", "c"], "flag": [True], "price": [2.5]}
    return chance.choice(usual.get(name, VALUES)) if chance.random() < 0.8 else chance.choice(VALUES)


@pytest.mark.parametrize("seed", range(25))
def test_the_short_way_is_the_long_one(seed, monkeypatch):
    chance = random.Random(seed)
    way = {"short": objects.created}
    for module in (objects, database):
        monkeypatch.setattr(module, "created", lambda *given, **more: way["now"](*given, **more))
    dbs = [crealm.memory(schema=[Keyed, Plain, Automatic]) for _ in range(2)]
    taken = 0

    def run(model, values, as_instance, index):
        def short(*given, **more):
            nonlocal taken
            made = way["short"](*given, **more)
            taken += made is not None
            return made

        way["now"] = short if index == 0 else (lambda *given, **more: None)
        db = dbs[index]
        if as_instance:
            return outcome(lambda: db.add(model(**values)))
        return outcome(lambda: db[model].create(**values))

    for _ in range(120):
        model = chance.choice([Keyed, Plain, Automatic])
        own = [name for name in NAMES if name in model._fields]
        names = chance.sample(own, chance.randrange(len(own) + 1))
        if chance.random() < 0.1:
            names.append(chance.choice(NAMES))
        values = {name: fitting(chance, name) for name in dict.fromkeys(names)}
        as_instance = chance.random() < 0.4
        found = []
        for index, db in enumerate(dbs):
            try:
                with db.write():
                    found.append(run(model, values, as_instance, index))
                    if len(db[Plain]) > 6:
                        db[Plain].delete_all()
                        db[Keyed].delete_all()
            except crealm.RuleBroken as error:
                found.append(("at the end", str(error)))
        assert found[: len(found) // 2] == found[len(found) // 2 :], (model, values, as_instance)
        assert [db[model].to_dicts(0) for db in dbs][0] == dbs[1][model].to_dicts(0)
    assert taken > 10
    for db in dbs:
        assert not db.verify()
        db.close()


def test_a_refused_object_is_not_left_behind(path):
    with crealm.open(path, schema=[Keyed, Plain, Automatic]) as db:
        with db.write():
            one = db.add(Keyed(id=1))
            for attempt in (lambda: db[Keyed].create(id=1, n=5), lambda: db.add(Keyed(id=1))):
                with pytest.raises(crealm.DuplicateKeyError):
                    attempt()
            with pytest.raises(crealm.LimitExceeded):
                db[Keyed].create(id=2, text="x" * (1 << 24))
        assert len(db[Keyed]) == 1 and one.n == 7
        added = Plain(n=1, text="a")
        with pytest.raises(ZeroDivisionError), db.write():
            db.add(added)
            1 / 0
        assert added.n == 1 and len(db[Plain]) == 0
        with db.write():
            db.add(added)
        assert db[Plain].one() == added and added.maybe == 3
