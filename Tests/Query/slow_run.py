#!/usr/bin/env python3
"""Runs random queries on a library and compares the answers with the slow evaluator of slow.py, on fixed files and
while data changes.

    slow_run.py LIBRARY [--fixtures DIR] [--files PATTERNS] [--count 20000] [--own 2] [--objects 1500] [--deep 0]
                [--refreshes 50] [--seed 1] [--wrong 10] [--show 20]

- `count` queries of generate.py are spread over the fixtures DIR/NAME.realm and `own` files that slow_make.py fills
  with about `objects` objects of class All; half of the created objects are deleted again.
- `deep`: one more file whose class NoPk keeps that many objects (above 65,536 the cluster tree has three levels),
  with few values set, and 60 cheap queries on it.
- `refreshes`: beside a process that commits without pause, a reader repeats queries on its snapshot, moves to a newer
  one, reads the data again, and compares again; results made before a refresh must show the new data; it also runs
  queries within write transactions, before they are committed or rolled back.
The complete answers are compared: object keys in order, or the number of the error; count and find first must agree.
Differing queries are reduced to the smallest part that differs. Prints the share of queries that the evaluator does not
judge, and 'N passed, M failed, K not covered'; exit status 1 on a failure, or when more than 5 % are not covered."""
import argparse
import collections
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / 'bindings' / 'python')]

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('library', type=pathlib.Path)
parser.add_argument('--fixtures', type=pathlib.Path, default=HERE.parent / 'Fixtures' / 'ops')
parser.add_argument('--files', default='full-*,nested-*,scalar-*', help='patterns of names without .realm, comma-separated')
parser.add_argument('--count', type=int, default=20000)
parser.add_argument('--own', type=int, default=2)
parser.add_argument('--objects', type=int, default=1500)
parser.add_argument('--deep', type=int, default=0)
parser.add_argument('--refreshes', type=int, default=50)
parser.add_argument('--seed', type=int, default=1)
parser.add_argument('--wrong', type=float, default=10, help='percent of wrong queries')
parser.add_argument('--show', type=int, default=20)
options = parser.parse_args()
os.environ['CREALM_LIBRARY'] = str(options.library.resolve())
os.environ['PYTHONDONTWRITEBYTECODE'] = '1'
os.environ['PYTHONPATH'] = os.pathsep.join(sys.path[:2])

import generate  # noqa: E402
import slow  # noqa: E402
import slow_file  # noqa: E402
import slow_make  # noqa: E402
from parts import parts  # noqa: E402


def expected(data, cls, text, arguments):
    """The answer of the evaluator; raises NotCovered."""
    try:
        return slow.answer(data, cls, text, arguments)
    except slow.QueryError as error:
        return f'E{error.number}'


def short(answer):
    text = ' '.join(map(str, answer)) if isinstance(answer, list) else str(answer)
    return (text if len(text) < 150 else f'{text[:150]}…') + (f' ({len(answer)} rows)' if isinstance(answer, list) else '')


class Tally:
    def __init__(self):
        self.counts, self.reasons, self.shown = collections.Counter(), collections.Counter(), 0
        self.times = collections.Counter()

    def compare(self, where, data, line, query, found):
        """Checks one answer; `found` is the answer of the library."""
        started = time.monotonic()
        try:
            wanted = expected(data, *query)
        except slow.NotCovered as reason:
            self.counts['not covered'] += 1
            self.reasons[str(reason)] += 1
            return
        finally:
            self.times['evaluator'] += time.monotonic() - started
        if wanted == found:
            self.counts['passed'] += 1
            self.counts['rows'] += isinstance(found, list) and bool(found)
            self.counts['some'] += isinstance(found, list) and 0 < len(found) < len(data.tables[query[0]])
            return
        self.counts['failed'] += 1
        self.shown += 1
        if self.shown > options.show:
            return
        cls, text, arguments = query
        for part in sorted(set(parts(text)), key=len):
            try:
                a, b = expected(data, cls, part, arguments), slow_file.asked(data.db, cls, part, arguments)
            except slow.NotCovered:
                continue
            if a != b:
                text, wanted, found = part, a, b
                break
        print(f'{where}: {cls}: {text}   « {line.rsplit(chr(9), 1)[1]} »\n    evaluator {short(wanted)}\n    library   {short(found)}', flush=True)


tally = Tally()


def look(db):
    """The data at the version that the database reads."""
    started = time.monotonic()
    data = slow_file.read(db)
    data.db = db
    tally.times['reading'] += time.monotonic() - started
    return data


def questions(generator, data, count):
    """Random queries with their arguments."""
    for _ in range(count):
        line = '\t'.join(generator.query())
        yield line, slow_file.load(line, data)


def ask(where, data, line, query):
    started = time.monotonic()
    found = slow_file.asked(data.db, *query)
    tally.times['library'] += time.monotonic() - started
    tally.compare(where, data, line, query, found)


def run_file(path, name, count, seed, classes=None):
    db = slow_file.open_file(path)
    data = look(db)
    generator = generate.Generator(seed, slow_file.pool(data), classes, options.wrong)
    before = tally.counts.copy()
    for line, query in questions(generator, data, count):
        ask(name, data, line, query)
    db.close()
    said = {key: tally.counts[key] - before[key] for key in ('passed', 'failed', 'not covered')}
    print(f'  {name} ({sum(map(len, data.tables.values()))} objects): ' + ', '.join(f'{n} {key}' for key, n in said.items()), flush=True)


CHEAP = ['v', 'w', 'next.v', 'next.w', 'next.next.v']


def run_deep(path, count):
    """Cheap queries on a class of many rows; few of them have values."""
    db = slow_file.open_file(path)
    data = look(db)
    r, name = random.Random(options.seed), f'deep ({len(data.tables["NoPk"])} rows)'
    pool = slow_file.pool(data)
    generator = generate.Generator(options.seed, pool, ['NoPk'], 0)
    for _ in range(count):
        if r.random() < 0.6:
            generator.args = []
            line = '\t'.join(['NoPk', generator.comparison('NoPk') + (generator.ordering('NoPk') if r.random() < 0.3 else ''),
                              '[' + ','.join(map(generator.json, generator.args)) + ']'])
        else:
            path = r.choice(CHEAP)
            value = generator.literal(generator.value('int' if path[-1] == 'v' else 'string'))
            line = f'NoPk\t{path} {r.choice(["==", "!=", "<", ">="])} {value}{r.choice(["", f" SORT({path} ASC)", " LIMIT(1000)"])}\t[]'
        ask(name, data, line, slow_file.load(line, data))
    db.close()


# While the data changes --------------------------------------------------------------------------

class Undo(Exception):
    pass


def run_beside_writer(path, refreshes, each):
    """A reader on snapshots beside a process that commits all the time."""
    slow_make.make(path, options.seed + 77, 60)
    writer = subprocess.Popen([sys.executable, HERE / 'slow_make.py', path, str(options.seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    db = slow_file.open_file(path)
    changer = slow_make.Changer(db, options.seed + 5)
    changer.next = 10 ** 7
    kept, versions, moved, writes, live = [], set(), 0, 0, 0
    for round in range(refreshes):
        data = look(db)
        versions.add(db.version)
        for line, query, question in kept:  # Results made before the refresh must show the new data.
            live += 1
            tally.compare('live results', data, line, query, question.answer())
            question.release()
        kept = []
        generator = generate.Generator(options.seed * 1000 + round, slow_file.pool(data), None, 3)
        todo = list(questions(generator, data, each))
        for line, query in todo:
            ask('beside a writer', data, line, query)
        for line, query in todo[:each // 4]:  # Again on the same snapshot, while others commit newer ones.
            ask('the same snapshot again', data, line, query)
        assert db.version in versions
        if round % 3 == 2:
            writes += 1
            try:
                with db.write():
                    for _ in range(changer.r.choice([2, 10, 50])):
                        changer.change()
                    inside = look(db)
                    for line, query in questions(generator, inside, each // 2):
                        ask('in a write transaction', inside, line, query)
                    if round % 2:
                        raise Undo
            except Undo:
                data = look(db)
                for line, query in questions(generator, data, each // 4):
                    ask('after a rollback', data, line, query)
        for line, query in questions(generator, data := look(db), each // 4):
            if 'obj(' not in line.lower():  # such a constant is looked up only once
                question = slow_file.Question(db, *query)
                question.find()
                if changer.r.random() < 0.5:
                    question.answer()
                kept.append((line, query, question))
        while not db.refresh():
            if writer.poll() is not None:
                sys.exit(f'the writer ended with {writer.returncode}')
            time.sleep(0.002)
        moved += 1
    for _, _, question in kept:
        question.release()
    db.close()
    commits = int(writer.communicate(b'')[0] or 0)
    if writer.returncode:
        sys.exit(f'the writer ended with {writer.returncode}')
    print(f'beside a writer: {moved} refreshes to {len(versions)} versions, {commits} commits by the other process, {writes} own write transactions, '
          f'{live} results looked at again after a refresh')


def main():
    started = time.monotonic()
    fixtures = sorted({f for p in options.files.split(',') for f in options.fixtures.glob(p + '.realm')})
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        files = len(fixtures) + options.own
        for number in range(files):
            path = folder / f'{number}.realm'
            if number < len(fixtures):
                name = fixtures[number].stem
                shutil.copyfile(fixtures[number], path)
            else:
                name = f'own-{number - len(fixtures) + 1}'
                slow_make.make(path, options.seed * 100 + number, options.objects)
            run_file(path, name, -(-options.count // files), options.seed * 1000003 + number)
        if options.deep:
            slow_make.make(folder / 'deep.realm', options.seed, 10, options.deep)
            run_deep(folder / 'deep.realm', 60)
        if options.refreshes:
            run_beside_writer(folder / 'beside.realm', options.refreshes, 40)
    counts, times = tally.counts, tally.times
    total = counts['passed'] + counts['failed'] + counts['not covered']
    for reason, n in tally.reasons.most_common():
        print(f'not covered {n}: {reason}')
    share = 100 * counts['not covered'] / max(total, 1)
    print(f'{total} answers on {len(fixtures)} fixtures and {options.own + bool(options.deep) + bool(options.refreshes)} own files in '
          f'{time.monotonic() - started:.0f} s (evaluator {times["evaluator"]:.1f}, library {times["library"]:.1f}, reading {times["reading"]:.1f}): '
          f'{100 * counts["rows"] / max(total, 1):.1f} % found rows, '
          f'{100 * counts["some"] / max(total, 1):.1f} % some but not all; {share:.2f} % not covered')
    print(f'{counts["passed"]} passed, {counts["failed"]} failed, {counts["not covered"]} not covered')
    sys.exit(1 if counts['failed'] or share > 5 or not total else 0)


main()
