#!/usr/bin/env python3
"""Compares rules and savepoints with a plain model, over random histories, with another library writing in turns.

    run.py LIBRARY [--other LIBRARY] [--seeds 1-200] [--turns 8] [--keep DIR]

LIBRARY keeps rules; the other one, a library with Realm's C API, need not know them: it writes in half of the turns of
half of the histories. Without --other the first one writes alone. After each turn the file must have the objects of
the model; a commit must be refused exactly if an object that it touched breaks a rule; a refused write must change
nothing; the objects that break rules must be those of the model; automatic numbers are never used twice; and both
checkers must find each file sound. Prints 'N passed, M failed'; exit status 1 on a failure."""
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


class Stop(Exception):
    pass


class Model:
    """Objects by their numbers: values, and links as numbers."""

    def __init__(self, rows=None, next_id=1):
        self.rows = rows or {}
        self.next_id = next_id

    def copy(self):
        return Model({n: dict(row, pals=list(row['pals'])) for n, row in self.rows.items()}, self.next_id)

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
        for n in self.rows:
            row = self.rows[n]
            if row['age'] < 0:
                found.add((n, 'age.min'))
            for title, value in (('mail', row['mail']), ('country, number', (row['country'], row['number']))):
                if value is None or (title != 'mail' and value[1] is None):
                    continue
                if (title, value) in seen:
                    found.add((n, title))
                seen.setdefault((title, value), n)
        return found

    def refuses(self, touched):
        for n in touched & set(self.rows):
            row = self.rows[n]
            if row['age'] < 0:
                return True
            for m, other in self.rows.items():
                if m == n:
                    continue
                if row['mail'] is not None and row['mail'] == other['mail']:
                    return True
                if row['number'] is not None and (row['country'], row['number']) == (other['country'], other['number']):
                    return True
        return False


def read(db):
    """The rows of the file, in its order."""
    def number(obj):
        return None if obj is None else obj.id

    return {
        o.id: {'country': o.country, 'number': o.number, 'mail': o.mail, 'age': o.age, 'friend': number(o.friend),
               'boss': number(o.boss), 'pals': [p.id for p in o.pals]}
        for o in db[Member]
    }


def change(chance, db, model, touched):
    """One random change, on the file and on the model."""
    what = chance.random()
    numbers = list(model.rows)
    if what < 0.35 or not numbers:
        values = {'country': chance.choice('ab'), 'number': chance.choice([None, *range(6)]),
                  'mail': chance.choice([None, str(chance.randrange(14))]), 'age': chance.randrange(-1, 9)}
        made = db.add(Member(**values))
        assert made.id == model.next_id, (made.id, model.next_id)
        model.next_id += 1
        model.rows[made.id] = {**values, 'friend': None, 'boss': None, 'pals': []}
        touched.add(made.id)
        return
    n = chance.choice(numbers)
    obj = db[Member].get(n)
    if what < 0.6:
        name, value = chance.choice([('country', chance.choice('ab')), ('number', chance.choice([None, *range(6)])),
                                     ('mail', chance.choice([None, str(chance.randrange(14))])), ('age', chance.randrange(-1, 9))])
        obj[name] = value
        model.rows[n][name] = value
        touched.add(n)
    elif what < 0.8:
        target = chance.choice(numbers)
        name = chance.choice(['friend', 'boss', 'pals'])
        if name == 'pals':
            obj.pals.append(db[Member].get(target))
            model.rows[n]['pals'].append(target)
        else:
            obj[name] = db[Member].get(target)
            model.rows[n][name] = target
        touched.add(n)
    else:
        gone = model.plan(n)
        try:
            obj.delete()
            assert gone is not None, f'the deletion of {n} was to be refused'
            model.delete(gone, touched)
        except crealm.RuleBroken:
            assert gone is None, f'the deletion of {n} was refused'


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
                model.rows, model.next_id = before.rows, before.next_id
                touched.clear()
                touched |= before_touched
                same(db, model)


def same(db, model):
    found = read(db)
    assert found == model.rows, f'{found}\nwanted\n{model.rows}'


def turn(chance, path, model):
    with crealm.open(path, schema=[Member]) as db:
        for _ in range(chance.randrange(1, 4)):
            after, touched = model.copy(), set()
            # A write raises the counter above the numbers that another library has stored.
            after.next_id = max([model.next_id, *(n + 1 for n in model.rows)])
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
    keys = {o.object_key: o.id for o in db[Member]}
    found = {(keys[one.object_key], one.rule) for one in db.broken_rules()}
    assert found == broken, f'{found}\nwanted\n{broken}'
    if not broken:
        for n, row in model.rows.items():
            if row['mail'] is not None:
                assert db.find_unique(Member, mail=row['mail']).id == n
            if row['number'] is not None:
                assert db.find_unique(Member, country=row['country'], number=row['number']).id == n


def history(seed, folder, other):
    chance = random.Random(seed)
    path = folder / f'{seed}.realm'
    model = Model()
    crealm.open(path, schema=[Member]).close()
    for number in range(options.turns):
        if other is not None and seed % 2 and chance.random() < 0.5:
            subprocess.run([other, path, str(seed * 1000 + number), str(chance.randrange(1, 4))], check=True)
            with crealm.open(path, mode='snapshot', schema=[Member]) as db:
                model.rows = read(db)
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
