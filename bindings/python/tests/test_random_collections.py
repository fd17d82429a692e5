"""Random histories of collections, compared with those of Python: lists, sets, dictionaries, nested ones, links
and embedded objects change in transactions that commit or roll back, and the file is reopened in between.

The seed is printed; CREALM_SEED=n repeats a run.
"""

import copy
import os
import random
import time

import pytest

import crealm
from conftest import BIT, PART, THING, plain

SCHEMA = [THING, PART, BIT]
COLLECTIONS = ["numbers", "texts", "anys", "things", "parts", "ints", "words", "mixed", "friends", "ages"]
COLLECTIONS += ["notes", "links", "rooms"]


class Sides:
    """The database and a model of it: a dictionary of plain values for each object."""

    def __init__(self, r):
        self.r = r
        self.model = {}
        self.db = None

    def thing(self, number):
        return self.db["Thing"].get(number)

    def live(self, value):
        """A plain value, with objects in place of its links."""
        if isinstance(value, tuple):
            return self.thing(value[1])
        if isinstance(value, list):
            return [self.live(v) for v in value]
        if isinstance(value, set):
            return [self.live(v) for v in value]
        if isinstance(value, dict):
            return {k: self.live(v) for k, v in value.items()}
        return value

    # Values

    def link(self):
        return ("link", self.r.choice(list(self.model)))

    def key(self):
        return self.r.choice(["", "a", "b", "c", "ß", "long key " * 9, "d"])

    def text(self):
        return self.r.choice(["", "a", "b", "ß😀", "x" * 70, "y" * 15])

    def number(self):
        return self.r.choice([0, 1, -1, self.r.randint(-99, 99), self.r.randint(-(2**63), 2**63 - 1)])

    def part(self):
        r = self.r
        return {
            "name": self.text(),
            "sizes": [self.number() for _ in range(r.randint(0, 3))],
            "of": self.link() if r.random() < 0.3 else None,
            "bits": [{"n": self.number()} for _ in range(r.randint(0, 2))],
        }

    def single(self):
        r = self.r
        return r.choice([None, self.number(), self.text(), r.random() + 0.5, r.randbytes(3), self.link()])

    def mixed(self, depth=0):
        r = self.r
        if depth < 4 and r.random() < 0.35:
            if r.random() < 0.5:
                return [self.mixed(depth + 1) for _ in range(r.randint(0, 3))]
            return {self.key(): self.mixed(depth + 1) for _ in range(r.randint(0, 3))}
        return self.single()

    def element(self, name):
        return {
            "numbers": self.number,
            "texts": lambda: None if self.r.random() < 0.2 else self.text(),
            "anys": self.mixed,
            "things": self.link,
            "parts": self.part,
            "ints": self.number,
            "words": lambda: None if self.r.random() < 0.2 else self.text(),
            "mixed": self.single,
            "friends": self.link,
            "ages": self.number,
            "notes": self.mixed,
            "links": lambda: None if self.r.random() < 0.2 else self.link(),
            "rooms": lambda: None if self.r.random() < 0.2 else self.part(),
        }[name]()

    # Changes

    def change(self):
        r = self.r
        if len(self.model) < 3 or r.random() < 0.03:
            self.create()
        elif r.random() < 0.02:
            self.delete()
        else:
            number = r.choice(list(self.model))
            thing, model = self.thing(number), self.model[number]
            name = r.choice([*COLLECTIONS, "any", "part"])
            if name == "any":
                model["any"] = self.mixed()
                thing.any = self.live(model["any"])
            elif name == "part":
                model["part"] = self.part() if r.random() < 0.8 else None
                thing.part = self.live(model["part"])
            elif r.random() < 0.08:
                self.assign(thing, model, name)
            else:
                self.inside(thing[name], model[name], name)

    def create(self):
        number = max(self.model, default=0) + self.r.randint(1, 3)
        self.db["Thing"].create(number)
        empty = {name: ([] if i < 5 else set() if i < 9 else {}) for i, name in enumerate(COLLECTIONS)}
        self.model[number] = {**empty, "any": None, "part": None}

    def delete(self):
        number = self.r.choice(list(self.model))
        self.thing(number).delete()
        del self.model[number]
        for model in self.model.values():
            for name, value in model.items():
                model[name] = without(value, ("link", number))

    def assign(self, thing, model, name):
        values = [self.element(name) for _ in range(self.r.randint(0, 4))]
        if isinstance(model[name], dict):
            model[name] = {self.key(): value for value in values}
        else:
            model[name] = type(model[name])(values)
        thing[name] = self.live(model[name])

    def inside(self, live, model, name):
        r = self.r
        nested = [
            (live[i], value)
            for i, value in (enumerate(model) if isinstance(model, list) else ())
            if isinstance(live[i], (crealm.List, crealm.Dictionary))
        ]
        if isinstance(model, dict):
            nested = [
                (live[k], v)
                for k, v in model.items()
                if isinstance(live[k], (crealm.List, crealm.Dictionary))
            ]
        if nested and r.random() < 0.6:
            self.inside(*r.choice(nested), "anys")
        elif isinstance(model, list):
            self.list(live, model, name)
        elif isinstance(model, set):
            self.set(live, model, name)
        else:
            self.dictionary(live, model, name if name in ("ages", "notes", "links", "rooms") else "notes")

    def list(self, live, model, name):
        r = self.r
        values = [self.element(name) for _ in range(r.randint(0, 4))]
        some = self.element(name)
        count = len(model)
        at = r.randint(-count - 1, count + 1)
        cut = slice(*(r.choice([None, r.randint(-count - 1, count + 1)]) for _ in range(2)))
        action = r.randrange(14)
        if action == 0:
            live.append(self.live(some)), model.append(some)
        elif action == 1:
            live.extend(self.live(values)), model.extend(values)
        elif action == 2:
            live.insert(at, self.live(some)), model.insert(at, some)
        elif action == 3 and count:
            at = r.randrange(-count, count)
            live[at] = self.live(some)
            model[at] = some
        elif action == 4:
            live[cut] = self.live(values)
            model[cut] = values
        elif action == 5:
            step = r.choice([-2, -1, 2, 3])
            values = [self.element(name) for _ in model[::step]]
            live[::step] = self.live(values)
            model[::step] = values
        elif action == 6 and count:
            at = r.randrange(-count, count)
            del live[at], model[at]
        elif action == 7 and r.random() < 0.4:
            del live[cut], model[cut]
        elif action == 8 and count:
            assert plain_taken(live.pop(at % count)) == model.pop(at % count)
        elif action == 9 and count > 1:
            source, target = r.randrange(count), r.randrange(count)
            live.move(source, target)
            model.insert(target, model.pop(source))
        elif action == 10:
            live.reverse(), model.reverse()
        elif action == 11 and r.random() < 0.2:
            live.clear(), model.clear()
        elif action == 12 and count < 30:
            live += self.live(values)
            model += values
        elif action == 13 and count < 30:
            live.extend(live[:2]), model.extend(copy.deepcopy(model[:2]))
        with pytest.raises(IndexError):
            live[len(model)]

    def set(self, live, model, name):
        r = self.r
        values = {self.element(name) for _ in range(r.randint(0, 4))}
        given = set(self.live(values))
        some = self.element(name)
        action = r.randrange(10)
        if action < 3:
            live.add(self.live(some)), model.add(some)
        elif action == 3:
            live.discard(self.live(some)), model.discard(some)
        elif action == 4 and model:
            some = r.choice(sorted(model, key=repr))
            live.remove(self.live(some)), model.remove(some)
        elif action == 5:
            live |= given
            model |= values
        elif action == 6:
            live -= given
            model -= values
        elif action == 7:
            live ^= given
            model ^= values
        elif action == 8 and r.random() < 0.3:
            live &= given
            model &= values
        elif action == 9 and model:
            model.remove(plain(live.pop()))
        assert (self.live(some) in live) == (some in model)

    def dictionary(self, live, model, name):
        r = self.r
        key, some = self.key(), self.element(name)
        action = r.randrange(8)
        if action < 3:
            live[key] = self.live(some)
            model[key] = some
        elif action == 3 and key in model:
            del live[key], model[key]
        elif action == 4:
            values = {self.key(): self.element(name) for _ in range(3)}
            live.update(self.live(values)), model.update(values)
        elif action == 5:
            assert plain_taken(live.pop(key, None)) == model.pop(key, None)
        elif action == 6:
            live.setdefault(key, self.live(some)), model.setdefault(key, some)
        elif action == 7 and r.random() < 0.2:
            live.clear(), model.clear()
        assert (key in live) == (key in model)

    def agree(self):
        assert sorted(t.id for t in self.db["Thing"]) == sorted(self.model)
        for number, model in self.model.items():
            thing = self.thing(number)
            for name, value in model.items():
                live = thing[name]
                assert plain(live) == value, f"{number}.{name}"
                if isinstance(live, (crealm.List, crealm.Dictionary, crealm.SetView)):
                    assert len(live) == len(value)
        parts = sum(count_parts(model) for model in self.model.values())
        assert len(self.db["Part"]) == parts


def plain_taken(value):
    """As `plain`, for a result of pop(): objects inside it are still objects."""
    if isinstance(value, list):
        return [plain_taken(v) for v in value]
    if isinstance(value, dict):
        return {k: plain_taken(v) for k, v in value.items()}
    return plain(value)


def without(value, link):
    """A value after the deletion of an object that it links to."""
    if isinstance(value, list):
        return [without(v, link) for v in value if v != link]
    if isinstance(value, set):
        return value - {link}
    if isinstance(value, dict):
        return {k: None if v == link else without(v, link) for k, v in value.items()}
    return None if value == link else value


def count_parts(model):
    rooms = sum(room is not None for room in model["rooms"].values())
    return len(model["parts"]) + rooms + (model["part"] is not None)


@pytest.mark.parametrize("round", range(6))
def test_random_history(path, round):
    seed = int(os.environ.get("CREALM_SEED", time.time_ns() % 10**9)) + round
    print(f"CREALM_SEED={seed - round} (round {round})")
    r = random.Random(seed)
    sides = Sides(r)
    sides.db = crealm.open(path, schema=SCHEMA)
    for _ in range(16):
        before = copy.deepcopy(sides.model)
        try:
            with sides.db.write():
                for _ in range(r.choice([1, 10, 80])):
                    sides.change()
                sides.agree()
                if r.random() < 0.3:
                    raise InterruptedError
        except InterruptedError:
            sides.model = before
        sides.agree()
        if r.random() < 0.3:
            sides.db.close()
            sides.db = crealm.open(path, schema=SCHEMA if r.random() < 0.5 else None)
            sides.agree()
        assert sides.db.verify() == []
    sides.db.close()
    with crealm.open(path, mode="r") as sides.db:
        sides.agree()
