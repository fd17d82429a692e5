#!/usr/bin/env python3
"""Files of random objects with the schema of the operation driver, and random changes of them, for slow_run.py.

    slow_make.py FILE SEED      as a separate process: small transactions until its input ends

Values are those of edge.py and generate.py: nulls in every nullable place, empty and long collections, NaN, equal
numbers of different types, nested collections. About half of the objects that make() creates are deleted again, also
ones with links to them."""
import random
import sys
import typing
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import edge
import generate
from crealm import ClassSchema, Float32, ObjectId, Prop, _marshal as c, open as open_database
from crealm.values import RawTimestamp

TYPES = {'int': int, 'bool': bool, 'string': str, 'binary': bytes, 'timestamp': datetime, 'float': Float32, 'double': float, 'decimal': Decimal,
         'oid': ObjectId, 'uuid': UUID, 'mixed': typing.Any}
KEYS = {'All': 'id', 'Str': 'key', 'Oid': '_id', 'Uid': '_id'}
EMBEDDED = ('Emb', 'Emb2')


def classes():
    found = []
    for cls, properties in generate.PROPERTIES.items():
        made = {}
        for name, kind, coll, nullable, *target in properties:
            if coll == 'back':
                continue
            element = target[0] if target else TYPES[kind]
            whole = {'': element, 'list': typing.List[element], 'set': typing.Set[element], 'dict': typing.Dict[str, element]}[coll]
            optional = bool(nullable) and kind not in ('mixed', 'link')
            made[name] = Prop(whole, optional=optional, indexed=name in ('i_x', 's_x'), fulltext=name == 'text')
        found.append(ClassSchema(cls, made, primary_key=KEYS.get(cls), embedded=cls in EMBEDDED))
    return found


def native(value):
    """A value of slow_values as a Python value; links stay."""
    kind, x = value
    return {'timestamp': lambda: RawTimestamp(*x), 'float': lambda: Float32(x), 'oid': lambda: ObjectId(x),
            'uuid': lambda: UUID(bytes=x)}.get(kind, lambda: x)()


def from_tag(json):
    """A value of edge.py."""
    if json is None:
        return None
    (tag, x), = json.items()
    return {'bin': lambda: bytes.fromhex(x), 'ts': lambda: RawTimestamp(*x), 'flt': lambda: Float32(float(x)), 'dbl': lambda: float(x),
            'oid': lambda: ObjectId(x), 'uuid': lambda: UUID(x),
            'dec': lambda: c.decimal_from_bits(int(x[:16], 16), int(x[16:], 16))}.get(tag, lambda: x)()


class Changer:
    """Random changes of an open database, inside its write transactions."""

    def __init__(self, db, seed):
        self.db, self.r = db, random.Random(seed)
        self.edge = edge.Plan(seed)
        self.fresh = generate.Generator(seed, generate.Data(None), None, 0)
        self.next = 1000

    def scalar(self, kind, nullable=0):
        if nullable and self.r.random() < 0.3:
            return None
        if self.r.random() < 0.6:
            return from_tag(self.edge.scalar(kind)[0])
        kind = self.r.choice(generate.KINDS) if kind == 'mixed' else kind
        tag, x = self.fresh.fresh(kind)
        if tag == 'decimal':
            return c.decimal_from_bits(int(x[:16], 16), int(x[16:], 16))
        if tag in ('oid', 'uuid'):
            return ObjectId(x) if tag == 'oid' else UUID(x)
        return native((tag, x))

    def object(self, cls):
        table = self.db[cls]
        n = len(table)
        return table[self.r.randrange(n)] if n else None

    def mixed(self, depth=0):
        k = self.r.random()
        if depth < 3 and k < 0.3:
            return [self.mixed(depth + 1) for _ in range(self.r.randrange(4))]
        if depth < 3 and k < 0.55:
            return {f'k{self.r.randrange(9)}': self.mixed(depth + 1) for _ in range(self.r.randrange(4))}
        if k > 0.9:
            return self.object(self.r.choice(['Str', 'Str', 'All', 'NoPk']))
        return self.scalar('mixed', 1)

    def embedded(self):
        return {'x': self.scalar('int'), 'name': self.scalar('string', 1),
                'child': {'x': self.scalar('int')} if self.r.random() < 0.5 else None}

    def one(self, kind, nullable, target, coll):
        if target == 'Emb':
            return self.embedded()
        if target:
            return None if nullable and self.r.random() < 0.2 else self.object(target)
        if kind == 'mixed' and coll != 'set':
            return self.mixed(1 if coll else 0)
        return self.scalar(kind, nullable)

    def value(self, prop):
        """A whole new value for a property."""
        name, kind, coll, nullable, *target = prop
        target = target[0] if target else None
        if not coll:
            return None if target == 'Emb' and self.r.random() < 0.4 else self.one(kind, nullable, target, coll)
        count = self.r.choice([0, 1, 1, 2, 2, 3, 4]) if self.r.random() < 0.99 else self.r.randrange(300)
        items = [self.one(kind, nullable, target, coll) for _ in range(count)]
        if coll == 'dict':
            return {f'k{self.r.randrange(12 if count < 5 else 500)}': x for x in items}
        if target:
            items = [x for x in items if x is not None]
        return items

    def create(self, cls, some=1.0):
        self.next += 1
        r = self.r
        if cls in EMBEDDED:
            cls = 'All'
        if cls == 'All':
            made = self.db['All'].create(self.next)
        elif cls == 'Str':
            made = self.db['Str'].create(f'key-{self.next}' if self.next > 1100 else f'key-{self.next - 1000}')
            made['text'] = r.choice(edge.TEXTS)
        elif cls == 'Oid':
            made = self.db['Oid'].create(ObjectId(f'{self.next:024x}'))
        elif cls == 'Uid':
            made = self.db['Uid'].create(UUID(int=self.next))
        else:
            made = self.db['NoPk'].create()
        for prop in generate.PROPERTIES[cls]:
            if prop[2] != 'back' and prop[0] != KEYS.get(cls) and prop[0] != 'text' and r.random() < some:
                self.assign(made, prop)
        return made

    def assign(self, obj, prop):
        value = self.value(prop)
        if prop[2] == 'set':
            obj[prop[0]].clear()
            for x in value:
                obj[prop[0]].add(x)
        elif value is None and prop[1] == 'link' and not prop[2] or prop[2] or value is not None or prop[3]:
            obj[prop[0]] = value

    def change(self):
        """One random operation."""
        r = self.r
        cls = r.choice(['All'] * 7 + ['Str', 'Str', 'NoPk', 'Emb', 'Oid'])
        k = r.random()
        if k < 0.15 or not len(self.db[cls]):
            return self.create(cls, r.choice([0.2, 0.9]))
        obj = self.object(cls)
        if k < 0.28:
            return obj.delete()
        prop = r.choice([p for p in generate.PROPERTIES[cls] if p[2] != 'back' and p[0] != KEYS.get(cls)])
        name, coll = prop[0], prop[2]
        if not coll or r.random() < 0.3:
            return self.assign(obj, prop)
        target = prop[4] if len(prop) > 4 else None
        x = self.one(prop[1], prop[3], target, coll)
        there = obj[name]
        if coll == 'dict':
            key = f'k{r.randrange(12)}'
            if key in there and r.random() < 0.5:
                del there[key]
            else:
                there[key] = x
        elif coll == 'set':
            there.add(x) if r.random() < 0.6 or not len(there) else there.discard(next(iter(there)))
        elif x is None and target:
            there.clear()
        elif len(there) and r.random() < 0.6:
            at = r.randrange(len(there))
            if r.random() < 0.5:
                del there[at]
            else:
                there.insert(at, x)
        else:
            there.append(x)


def make(path, seed, count, deep=0):
    """A new file: about `count` objects of All; with `deep`, that many NoPk objects with few values instead."""
    db = open_database(path, schema=classes())
    changer = Changer(db, seed)
    r = changer.r
    with db.write():
        for _ in range(max(count // 6, 8)):
            changer.create('Str')
        for cls in ('Oid', 'Uid'):
            for _ in range(12):
                changer.create(cls)
        for _ in range(0 if deep else 200):
            changer.create('NoPk')
    for start in range(0, 2 * count, 500):
        with db.write():
            for _ in range(min(500, 2 * count - start)):
                changer.create('All', 0.8)
    if deep:
        with db.write():
            rows = [db['NoPk'].create() for _ in range(2 * deep)]
        with db.write():
            for n, obj in enumerate(rows):
                if n % 7 == 0:
                    obj['v'] = changer.scalar('int')
                if n % 11 == 0:
                    obj['w'] = changer.scalar('string')
                if n % 5 == 0:
                    obj['next'] = rows[r.randrange(len(rows))]
    for cls in ('NoPk', 'All', 'Str', 'Oid', 'Uid'):
        with db.write():
            rows = list(db[cls])
            r.shuffle(rows)
            for obj in rows[:len(rows) // 2]:
                obj.delete()
            if cls == 'NoPk' and not deep:
                for obj in rows[len(rows) // 2:]:
                    if r.random() < 0.5:
                        obj['next'] = changer.object('NoPk')
    db.close()


def write_until_told(path, seed):
    """Transactions of a few changes each, without pause, until standard input ends."""
    import select
    db = open_database(path)
    changer = Changer(db, seed)
    changer.next = 10 ** 6 + seed * 10 ** 5
    done = 0
    while not select.select([sys.stdin], [], [], 0.002)[0]:
        with db.write():
            for _ in range(changer.r.choice([1, 3, 10, 40])):
                changer.change()
        done += 1
    db.close()
    print(done)


if __name__ == '__main__':
    write_until_told(sys.argv[1], int(sys.argv[2]))
