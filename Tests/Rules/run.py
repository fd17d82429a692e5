#!/usr/bin/env python3
"""Compares rules and savepoints with a plain model, over random histories, with another library writing in turns.

    run.py LIBRARY [--other LIBRARY] [--seeds 1-200] [--turns 8] [--keep DIR]

LIBRARY keeps rules; the other one, a library with Realm's C API, need not know them: it writes in half of the turns of
half of the histories. Without --other the first one writes alone. After each turn the file must have the objects of
the model; a commit must be refused exactly if an object that it touched breaks a rule; a refused write must change
nothing; the objects that break rules must be those of the model; automatic numbers are never used twice; conditions
that unique indexes can answer find what the model has, also inside writes; rules that come and go, and properties
that are added, are refused exactly if the data break them; and both checkers must find each file sound. Prints 'N passed, M failed'; exit status 1 on a failure."""
import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import traceback
from typing import List, Optional

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('library', type=pathlib.Path)
parser.add_argument('--other', type=pathlib.Path)
parser.add_argument('--seeds', default='1-200')
parser.add_argument('--turns', type=int, default=8)
parser.add_argument('--keep', type=pathlib.Path)
options = parser.parse_args()
os.environ['CREALM_LIBRARY'] = str(options.library.resolve())
sys.path.insert(0, str(ROOT / 'bindings/python'))

import crealm  # noqa: E402


class Member(crealm.Model):
    id: int = crealm.field(primary_key=True, auto=True)
    country: str
    number: Optional[int]
    mail: Optional[str] = crealm.field(unique=True)
    age: int = crealm.field(min=0)
    friend: Optional['Member'] = crealm.field(on_target_delete='cascade')
    boss: Optional['Member'] = crealm.field(on_target_delete='deny')
    pals: List['Member'] = crealm.field(on_delete='cascade_last')

    class Meta:
        unique = [('country', 'number')]


NOTED = crealm.ClassSchema('Member', {'id': int, 'note': str}, primary_key='id',
                           rules={'properties': {'note': {'max_length': 5}}})
RULES = {'mail': {'unique': ['mail']}, 'country, number': {'unique': [['country', 'number']]}}
CHECKS = {
    'age.min': {'name': 'age.min', 'condition': 'age >= 0'},
    'top': {'name': 'top', 'condition': 'age != 8', 'at': 'call'},
    'number': {'name': 'number', 'condition': 'number == NULL OR number < 5'},
}
BREAKS = {
    'age.min': lambda row: row['age'] < 0,
    'top': lambda row: row['age'] == 8,
    'number': lambda row: row['number'] is not None and row['number'] >= 5,
}
PROPERTIES = {'id': {'auto': True}, 'friend': {'on_target_delete': 'cascade'}, 'boss': {'on_target_delete': 'deny'},
              'pals': {'on_delete': 'cascade_last'}}
DECLARED = frozenset(('mail', 'country, number', 'age.min'))


class Stop(Exception):
    pass


class Model:
    """Objects by their numbers: values, and links as numbers."""

    def __init__(self, rows=None, next_id=1, active=DECLARED, new=(), foreign=0):
        self.rows = rows or {}
        self.next_id = next_id
        # The greatest number that the other library left. Any commit of ours, also one for the schema, raises the
        # counter above it.
        self.foreign = foreign
        self.active = active  # The unique rules and checks that the file has.
        self.new = set(new)  # The objects that this write made.

    def copy(self):
        rows = {n: dict(row, pals=list(row['pals'])) for n, row in self.rows.items()}
        return Model(rows, self.next_id, self.active, self.new, self.foreign)

    def keys(self, row):
        """The unique rules that concern a row, with its values."""
        if row['mail'] is not None and 'mail' in self.active:
            yield 'mail', row['mail']
        if row['number'] is not None and 'country, number' in self.active:
            yield 'country, number', (row['country'], row['number'])

    def breaks(self, row):
        return {name for name, test in BREAKS.items() if name in self.active and test(row)}

    def referrers(self, n):
        for m, row in self.rows.items():
            if row['friend'] == n:
                yield m, 'friend'
            if row['boss'] == n:
                yield m, 'boss'
            for target in row['pals']:
                if target == n:
                    yield m, 'pals'

    def plan(self, n):
        """The objects that leave with an object; None if that is forbidden."""
        gone = {n}
        while True:
            more = set()
            for one in gone:
                more.update(m for m, name in self.referrers(one) if name == 'friend')
                for target in self.rows[one]['pals']:
                    if all(m in gone or m == target for m, _ in self.referrers(target)):
                        more.add(target)
            if more <= gone:
                break
            gone |= more
        for one in gone:
            if any(name == 'boss' and m not in gone for m, name in self.referrers(one)):
                return None
        return gone

    def delete(self, gone, touched):
        for n in gone:
            del self.rows[n]
        touched |= gone
        for n, row in self.rows.items():
            for name in ('friend', 'boss'):
                if row[name] in gone:
                    row[name] = None
                    touched.add(n)
            if any(target in gone for target in row['pals']):
                row['pals'] = [target for target in row['pals'] if target not in gone]
                touched.add(n)

    def broken(self):
        """Pairs of an object and a rule that it breaks, in the order of the file: later objects repeat earlier ones."""
        found = set()
        seen = {}
        for n, row in self.rows.items():
            found |= {(n, name) for name in self.breaks(row)}
            for key in self.keys(row):
                if key in seen:
                    found.add((n, key[0]))
                seen.setdefault(key, n)
        return found

    def refuses(self, touched):
        for n in touched & set(self.rows):
            row = self.rows[n]
            if self.breaks(row):
                return True
            own = set(self.keys(row))
            if any(own & set(self.keys(other)) for m, other in self.rows.items() if m != n):
                return True
        return False


def read(db):
    """The rows of the file, in its order."""
    def number(obj):
        return None if obj is None else obj.id

    return {
        o.id: {'country': o.country, 'number': o.number, 'mail': o.mail, 'age': o.age, 'friend': number(o.friend),
               'boss': number(o.boss), 'pals': [p.id for p in o.pals]}
        for o in db['Member']
    }


def change(chance, db, model, touched):
    """One random change, on the file and on the model."""
    what = chance.random()
    numbers = list(model.rows)
    if what < 0.35 or not numbers:
        values = {'country': chance.choice('ab'), 'number': chance.choice([None, *range(6)]),
                  'mail': chance.choice([None, str(chance.randrange(14))]), 'age': chance.randrange(-1, 9)}
        made = db['Member'].create(**values)
        allowed = model.next_id, max(model.next_id, model.foreign + 1)
        assert made.id in allowed, (made.id, allowed)
        model.new.add(made.id)
        model.next_id = made.id + 1
        model.rows[made.id] = {**values, 'friend': None, 'boss': None, 'pals': []}
        touched.add(made.id)
        return
    n = chance.choice(numbers)
    obj = db['Member'].get(n)
    if what < 0.6:
        name, value = chance.choice([('country', chance.choice('ab')), ('number', chance.choice([None, *range(6)])),
                                     ('mail', chance.choice([None, str(chance.randrange(14))])), ('age', chance.randrange(-1, 9))])
        # A call that breaks a check of calls has changed nothing. It also tests values that the call does not set.
        is_refused = 'top' in model.active and n not in model.new and BREAKS['top']({**model.rows[n], name: value})
        try:
            obj[name] = value
            assert not is_refused, f'{name} = {value} of {n} was to be refused'
            model.rows[n][name] = value
            touched.add(n)
        except crealm.RuleBroken as error:
            assert is_refused, f'{name} = {value} of {n}: {error}'
    elif what < 0.8:
        target = chance.choice(numbers)
        name = chance.choice(['friend', 'boss', 'pals'])
        is_refused = 'top' in model.active and n not in model.new and bool(BREAKS['top'](model.rows[n]))
        try:
            if name == 'pals':
                obj.pals.append(db['Member'].get(target))
            else:
                obj[name] = db['Member'].get(target)
            assert not is_refused, f'the link of {n} was to be refused'
        except crealm.RuleBroken:
            assert is_refused, f'the link of {n} was refused'
            return
        if name == 'pals':
            model.rows[n]['pals'].append(target)
        else:
            model.rows[n][name] = target
        touched.add(n)
    else:
        gone = model.plan(n)
        after, changed = model.copy(), set()
        if gone is not None:
            after.delete(gone, changed)
        left = changed & set(after.rows) - model.new
        is_refused = gone is None or 'top' in model.active and any(BREAKS['top'](after.rows[m]) for m in left)
        try:
            obj.delete()
            assert not is_refused, f'the deletion of {n} was to be refused'
            model.rows = after.rows
            touched |= changed
        except crealm.RuleBroken:
            assert is_refused, f'the deletion of {n} was refused'


def part(chance, db, model, touched, depth):
    for _ in range(chance.randrange(1, 5)):
        change(chance, db, model, touched)
        if depth < 3 and chance.random() < 0.3:
            before, before_touched = model.copy(), set(touched)
            try:
                with db.savepoint():
                    part(chance, db, model, touched, depth + 1)
                    if chance.random() < 0.5:
                        raise Stop
            except Stop:
                model.rows, model.next_id, model.new = before.rows, before.next_id, before.new
                touched.clear()
                touched |= before_touched
                same(db, model)


def same(db, model):
    found = read(db)
    assert found == model.rows, f'{found}\nwanted\n{model.rows}'
    queries(db, model)


def queries(db, model):
    """Conditions that unique indexes answer where they are up to date."""
    for country, number, mail in (('a', 1, '3'), ('b', 4, '7')):
        for condition, test in (
            ('country == $0 AND number == $1', lambda row: row['country'] == country and row['number'] == number),
            ('number == $1 AND age > 3 AND country == $0', lambda row: (row['country'], row['number']) == (country, number) and row['age'] > 3),
            ('country == $0', lambda row: row['country'] == country),
            ('mail == $2', lambda row: row['mail'] == mail),
            ('mail == $2 OR country == $0 AND number == $1',
             lambda row: row['mail'] == mail or (row['country'], row['number']) == (country, number)),
            ('country == $0 AND number == NULL', lambda row: row['country'] == country and row['number'] is None),
        ):
            for place, value in enumerate((country, number, mail)):
                condition = condition.replace(f'${place}', repr(value))
            found = [o.id for o in db['Member'].where(condition)]
            assert found == [n for n, row in model.rows.items() if test(row)], f'{condition}: {found}'


def open_turn(chance, path, model):
    """Opens the file with or without a schema; a schema adds its rules, if the data keep them."""
    way = chance.random()
    if way < 0.3:
        return crealm.open(path)
    if way < 0.4:
        crealm.open(path, schema=[NOTED]).close()
        return crealm.open(path)
    wanted = Model(model.rows, model.next_id, model.active | DECLARED, foreign=model.foreign)
    is_refused = any(rule not in model.active for _, rule in wanted.broken())
    try:
        db = crealm.open(path, schema=[Member])
        assert not is_refused, 'the schema was to be refused'
    except crealm.RuleBroken:
        assert is_refused, 'the schema was refused'
        return crealm.open(path)
    model.active = wanted.active
    return db


def set_rules(chance, db, model):
    """Gives the class other rules."""
    active = frozenset(name for name in (*RULES, *CHECKS) if chance.random() < 0.6)
    rules = {'properties': PROPERTIES, 'unique': [one for name in RULES if name in active for one in RULES[name]['unique']],
             'checks': [CHECKS[name] for name in CHECKS if name in active]}
    after = Model(model.rows, model.next_id, active, foreign=model.foreign)
    is_refused = any(rule not in model.active for _, rule in after.broken())
    try:
        with db.write():
            db.set_rules('Member', rules)
            same(db, model)
            if chance.random() < 0.2:
                raise Stop
        assert not is_refused, f'{rules} were to be refused'
        model.active = active
    except Stop:
        assert not is_refused
    except crealm.RuleBroken as error:
        assert is_refused, f'{rules}: {error}'


def turn(chance, path, model):
    with open_turn(chance, path, model) as db:
        for _ in range(chance.randrange(1, 4)):
            if chance.random() < 0.2:
                set_rules(chance, db, model)
            after, touched = model.copy(), set()
            # A write raises the counter above the numbers that another library has stored.
            after.next_id = max([model.next_id, *(n + 1 for n in model.rows)])
            after.new = set()
            try:
                with db.write():
                    part(chance, db, after, touched, 0)
                    same(db, after)
                    if chance.random() < 0.15:
                        raise Stop
                assert not after.refuses(touched), f'a commit was to be refused: {touched}'
                model.rows, model.next_id = after.rows, after.next_id
            except Stop:
                pass
            except crealm.RuleBroken as error:
                assert after.refuses(touched), f'a commit was refused: {error}'
            same(db, model)
            unique(db, model)


def unique(db, model):
    broken = model.broken()
    keys = {o.object_key: o.id for o in db['Member']}
    found = {(keys[one.object_key], one.rule) for one in db.broken_rules()}
    assert found == broken, f'{found}\nwanted\n{broken}'
    if not broken:
        for n, row in model.rows.items():
            for title, value in model.keys(row):
                values = dict(zip(title.split(', '), (value,) if title == 'mail' else value))
                assert db.find_unique('Member', **values).id == n


def history(seed, folder, other):
    chance = random.Random(seed)
    path = folder / f'{seed}.realm'
    model = Model()
    crealm.open(path, schema=[Member]).close()
    for number in range(options.turns):
        if other is not None and seed % 2 and chance.random() < 0.5:
            subprocess.run([other, path, str(seed * 1000 + number), str(chance.randrange(1, 4))], check=True)
            with crealm.open(path, mode='snapshot') as db:
                model.rows = read(db)
                model.foreign = max([model.foreign, *model.rows])
        else:
            turn(chance, path, model)
    with crealm.open(path) as db:
        assert not db.verify()
    tools = ROOT / 'Tests/Tools'
    for command in ([tools / 'realm_storage_check.py', path], [tools / 'realm_data_check.py', '--check', path]):
        result = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr
    return path


def main():
    first, _, last = options.seeds.partition('-')
    passed = failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        other = None
        if options.other is not None:
            library = options.other.resolve()
            other = folder / 'other'
            subprocess.run(['cc', '-O2', '-Wall', '-I', ROOT / 'include', HERE / 'other.c', library,
                            f'-Wl,-rpath,{library.parent}', '-o', other], check=True)
        for seed in range(int(first), int(last or first) + 1):
            try:
                for file in folder.glob(history(seed, folder, other).name + '*'):
                    shutil.rmtree(file) if file.is_dir() else file.unlink()
                passed += 1
            except Exception:
                failed += 1
                print(f'seed {seed}:', traceback.format_exc(), sep='\n')
                if options.keep is not None:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    shutil.copy(folder / f'{seed}.realm', options.keep)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
