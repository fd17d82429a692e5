"""Random histories, compared with a plain dictionary: transactions that commit or roll back create, change and
delete objects, and the file is sometimes reopened; the contents must agree each time.

The seed is printed; CREALM_SEED=n repeats a run.
"""

import os
import random
import struct
import time
import uuid
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Optional

import pytest

import crealm

KINDS = [int, bool, float, crealm.Float32, str, bytes, datetime, Decimal, uuid.UUID, crealm.ObjectId]
PROPERTIES = {
    **{f"r{i}": kind for i, kind in enumerate(KINDS)},
    **{f"o{i}": Optional[kind] for i, kind in enumerate(KINDS)},
    "xi": crealm.Prop(int, indexed=True),
    "xs": crealm.Prop(Optional[str], indexed=True),
    "xt": crealm.Prop(Optional[datetime], indexed=True),
    "xu": crealm.Prop(uuid.UUID, indexed=True),
    "any": Any,
    "link": "Thing",
}
THING = crealm.ClassSchema("Thing", {"id": str, **PROPERTIES}, primary_key="id")


class Values:
    def __init__(self, r):
        self.r = r

    def of(self, prop, keys):
        r = self.r
        if prop.is_link:
            return ("link", r.choice(keys)) if keys and r.random() < 0.7 else None
        if prop.type is Any:
            kind = r.choice([*KINDS, None, "link"])
            if kind == "link":
                return ("link", r.choice(keys)) if keys else None
            return None if kind is None else self.plain(kind)
        if prop.optional and r.random() < 0.3:
            return None
        return self.plain(prop.type)

    def plain(self, kind):
        r = self.r
        if kind is int:
            return r.choice(
                [
                    r.randint(-9, 9),
                    r.randint(-(2**63), 2**63 - 1),
                    2 ** r.randint(0, 62),
                    -(2 ** r.randint(0, 63)),
                ]
            )
        if kind is bool:
            return r.random() < 0.5
        if kind is float:
            return r.choice([0.0, -0.0, r.gauss(0, 1e9), r.uniform(-1, 1), float("inf"), 5e-324])
        if kind is crealm.Float32:
            return crealm.Float32(r.gauss(0, 1000))
        if kind is str:
            size = r.choice([0, 1, 5, 14, 15, 16, 31, 63, 64, 200, 5000 if r.random() < 0.1 else 3])
            return "".join(r.choice("abcxyzß€😀\0 \n") for _ in range(size))
        if kind is bytes:
            return r.randbytes(r.choice([0, 1, 8, 63, 64, 65, 300]))
        if kind is datetime:
            if r.random() < 0.3:
                return crealm.Timestamp.from_ns(r.randint(-(10**18), 10**19))
            return datetime(1, 1, 1, tzinfo=timezone.utc) + timedelta(
                days=r.randint(0, 3_652_058), microseconds=r.randint(0, 86_399_999_999)
            )
        if kind is Decimal:
            digits = r.randint(1, 34)
            return Decimal(
                (r.randint(0, 1), tuple(r.randint(1, 9) for _ in range(digits)), r.randint(-6176, 6111))
            )
        if kind is uuid.UUID:
            return uuid.UUID(int=r.getrandbits(128))
        return crealm.ObjectId(r.randbytes(12))


def equal(found, wanted):
    if isinstance(wanted, float):
        return struct.pack("d", found) == struct.pack("d", wanted)
    if isinstance(wanted, Decimal):
        return repr(found) == repr(wanted)
    return found == wanted and isinstance(found, type(wanted))


def agree(db, model):
    table = db["Thing"]
    assert len(table) == len(model)
    assert sorted(obj.id for obj in table) == sorted(model)
    backlinks = {key: 0 for key in model}
    for key, wanted in model.items():
        obj = table.get(key)
        assert obj is not None, key
        for name, value in wanted.items():
            if isinstance(value, tuple):
                value = table.get(value[1])
                if name == "link":
                    backlinks[value.id] += 1
            assert equal(obj[name], value), f"{key!r}.{name}: {obj[name]!r} is not {value!r}"
    for key, count in backlinks.items():
        assert len(table.get(key).backlinks("Thing", "link")) == count


def step(r, values, table, model):
    """Makes one random change in both."""
    keys = list(model)
    action = r.random()
    resolve = lambda v: table.get(v[1]) if isinstance(v, tuple) else v  # noqa: E731
    if action < 0.45 or not keys:
        key = values.plain(str)
        row = {
            name: values.of(prop, keys)
            for name, prop in THING.properties.items()
            if name != "id" and r.random() < 0.6
        }
        given = {name: resolve(value) for name, value in row.items()}
        if key in model:
            with pytest.raises(crealm.DuplicateKeyError):
                table.create(key, **given)
            return
        obj = table.create(key, **given)
        defaults = {name: obj[name] for name in PROPERTIES if name not in row}
        assert all(value is None for name, value in defaults.items() if THING.properties[name].optional)
        model[key] = {**defaults, **row}
    elif action < 0.85:
        key = r.choice(keys)
        name = r.choice(list(PROPERTIES))
        value = values.of(THING.properties[name], keys)
        table.get(key)[name] = resolve(value)
        model[key][name] = value
    else:
        key = r.choice(keys)
        table.get(key).delete()
        del model[key]
        for row in model.values():
            for name in ("link", "any"):
                if row[name] == ("link", key):
                    row[name] = None


@pytest.mark.parametrize("round", range(6))
def test_random_history(path, round):
    seed = int(os.environ.get("CREALM_SEED", time.time_ns() % 10**9)) + round
    print(f"CREALM_SEED={seed - round} (round {round})")
    r = random.Random(seed)
    values = Values(r)
    model = {}
    db = crealm.open(path, schema=[THING])
    for _ in range(12):
        before = {key: dict(row) for key, row in model.items()}
        try:
            with db.write():
                for _ in range(r.choice([1, 5, 60])):
                    step(r, values, db["Thing"], model)
                agree(db, model)
                if r.random() < 0.25:
                    raise InterruptedError
        except InterruptedError:
            model = before
        agree(db, model)
        if r.random() < 0.3:
            db.close()
            db = crealm.open(path, schema=[THING] if r.random() < 0.5 else None)
            agree(db, model)
        assert db.verify() == []
    db.close()
    with crealm.open(path, mode="r") as db:
        agree(db, model)
