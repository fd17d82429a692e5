#!/usr/bin/env python3
"""Tests random schemas and migrations on a library with Realm's C API, alone or in comparison with another one.

    run.py LIBRARY [OTHER] [--tools DIR] [--seeds 1-200] [--steps 6] [--jobs 2] [--seconds N] [--keep DIR] [--verbose]

Each seed is a file and 3 to 6 programs that open it one after the other (plan.py): every kind of change of the schema,
every mode and version, functions that rename, copy, create, delete and fail, transactions, updates of the schema of an
open Realm. After each program both checkers of DIR (Tests/Tools: realm_storage_check.py, realm_data_check.py) must find the file
sound, and so must crealm_verify where LIBRARY has it; a refused program must not have changed the content, a removed
column key must not be used again, the live schema must agree with the file, and without a function every value must be
as the rules for schema changes say.

With OTHER each seed runs four times: with each library alone, and with both in turns, either first. The results of the
programs (errors, schemas) and the content of the files (keys, columns, counters, values) must be equal after each step.
If realm-core fails on a file that only it wrote, or differs in a known way (known.py), all runs continue with the file
that LIBRARY wrote alone; the reasons are counted.

Prints a line for each finding and 'N passed, M failed', counting seeds; exit status 1 on a failure."""
import argparse
import collections
import concurrent.futures
import dataclasses
import importlib.util
import os
import pathlib
import random
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

import known
import plan

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / 'include'
TIME_LIMIT = 10  # seconds of processor time after which a step counts as stuck

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('library', type=pathlib.Path)
parser.add_argument('other', type=pathlib.Path, nargs='?')
parser.add_argument('--tools', type=pathlib.Path, default=HERE.parent / 'Tools')
parser.add_argument('--seeds', default='1-200', help='one number, or first-last')
parser.add_argument('--steps', type=int, default=6, help='most programs for each seed')
parser.add_argument('--jobs', type=int, default=2)
parser.add_argument('--seconds', type=float, default=0, help='begin no seed after so many seconds')
parser.add_argument('--keep', type=pathlib.Path, help='where files of seeds that fail go')
parser.add_argument('--verbose', action='store_true', help='print what every program was asked and answered')
options = parser.parse_args()
os.environ.setdefault('SWIFT_BACKTRACE', 'enable=no')  # after a crash the backtracer would hold the pipes open


def load(name):
    spec = importlib.util.spec_from_file_location(name, options.tools / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


storage, data = load('realm_storage_check'), load('realm_data_check')


class Finding(Exception):
    """A fault that the test found."""


class Fault(Exception):
    """A fault of the other library alone: the seed cannot be compared any further."""


class Program:
    """A process with one of the libraries; a new process after a crash."""

    def __init__(self, binary, library):
        self.command, self.process = [str(binary), str(library.resolve())], None
        self.is_reference = library == options.other

    def ask(self, lines):
        if self.process is None:
            errors = None if options.verbose else subprocess.DEVNULL
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, bufsize=0)
        answer = []
        try:
            self.process.stdin.write(''.join(line + '\n' for line in lines + ['flush']).encode())
            started, text = self.processor_seconds(), b''
            while not text.endswith(b'\n.\n') and text != b'.\n':
                if not select.select([self.process.stdout], [], [], 10)[0]:
                    if self.processor_seconds() - started > TIME_LIMIT:
                        raise BrokenPipeError
                    continue
                part = os.read(self.process.stdout.fileno(), 1 << 16)
                if not part:
                    raise BrokenPipeError
                text += part
            answer = text.decode(errors='replace').split('\n')[:-2]
        except BrokenPipeError:
            self.process.kill()
            status = self.process.wait()
            self.process = None
            return [f'died with status {status}']
        return answer

    def processor_seconds(self):
        user, system = pathlib.Path(f'/proc/{self.process.pid}/stat').read_text().rpartition(')')[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf('SC_CLK_TCK')

    def stop(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


class Content:
    """The content of a file, read by the independent checker; both checkers must find it sound."""

    def __init__(self, path):
        self.tables, self.shape, self.version = {}, {}, None
        self.bytes = path.read_bytes() if path.exists() else b''
        if not self.bytes:
            return
        try:
            storage.check(self.bytes)
            file = data.RealmFile(path)
            data.check(file)
        except (storage.Bad, data.FormatError, KeyError, StopIteration, IndexError) as error:
            raise Finding(f'the file is not sound: {error!r}') from None
        self.tables = {t.name: t for t in file.live_tables()}
        for t in self.tables.values():
            # Compares only existing indexes, not the flag for an index: realm-core loses the flag when a column becomes
            # nullable.
            asked = data.A_INDEXED | data.A_FULLTEXT
            columns = [(c.name, hex(c.key.value), c.attrs & ~asked, c.target.name if c.target else '') for c in t.columns]
            indexes = {c.name: ('full text' if c.attrs & data.A_FULLTEXT else 'plain') if c.index_ref else '' for c in t.columns}
            backlinks = sorted((c.target.name, hex(c.key.value)) for c in t.backlink_columns)
            rows = {k: {c.name: repr(row[c.key.value]) for c in t.columns} for k, row in t.objects().items()}
            self.shape[t.name] = {'key': t.key, 'kind': t.type, 'primary key': t.pk.name if t.pk else None, 'column counter': t.col_counter,
                                  'sequence': t.sequence, 'columns': columns, 'index': indexes, 'backlinks': backlinks, 'rows': rows}
            keys = [repr(row[t.pk.key.value]) for row in t.objects().values()] if t.pk else []
            if len(keys) != len(set(keys)):
                raise Finding(f'{t.name} has a primary key value twice')
        metadata = self.tables.get('metadata')
        for row in metadata.objects().values() if metadata else []:
            self.version = next(iter(row.values()), None)

    def reference_fault(self):
        """Damage that realm-core does to a file in a migration and CRealm does not: the contents cannot be compared
        after it."""
        for t in self.tables.values():
            if any(all(c.key.value != b.opp_col for c in b.target.columns) for b in t.backlink_columns):
                return known.BACKLINKS_STAY
            if any(c.key_type == data.INT for c in t.columns):
                return 'a dictionary that became nullable has lost the type of its keys'
        return None

    def column(self, class_name, property_name):
        table = self.tables.get('class_' + class_name)
        return next((c for c in table.columns if c.name == property_name), None) if table else None

    def differences(self, other):
        """The differences of two contents."""
        if self.shape.keys() != other.shape.keys():
            return [Difference('', 'tables', '', sorted(self.shape), sorted(other.shape))]
        return [d for name, mine in self.shape.items() for what, value in mine.items() if value != other.shape[name][what]
                for d in Difference.inside(name, what, value, other.shape[name][what])]


@dataclasses.dataclass
class Difference:
    """A difference of a table in two files; `column` is empty if it is not about one column."""
    table: str
    what: str
    column: str
    mine: object
    theirs: object

    def __str__(self):
        return f'{self.table} {self.what} {self.column!r}: {self.mine} and {self.theirs}'

    @classmethod
    def inside(cls, table, what, mine, theirs):
        if isinstance(mine, dict) and mine.keys() == theirs.keys():
            if what == 'rows':
                return [cls(table, what, c, f'object {k}: {mine[k].get(c)}', theirs[k].get(c))
                        for k in mine for c in mine[k].keys() | theirs[k].keys() if mine[k].get(c) != theirs[k].get(c)]
            return [cls(table, what, c, mine[c], theirs[c]) for c in mine if mine[c] != theirs[c]]
        return [cls(table, what, '', mine, theirs)]


DEFAULTS = {data.INT: '0', data.BOOL: 'False', data.STRING: "''", data.BINARY: 'bin()', data.FLOAT: '0.0', data.DOUBLE: '0.0'}


def check_values(before, after):
    """After an open without functions each value must be as the rules say. Skips classes that change between embedded
    and top-level."""
    for name, new in after.tables.items():
        old = before.tables.get(name)
        if not old or old.key != new.key or name == 'metadata':
            continue
        targets = [(t, after.tables.get(t.name)) for t in [old] + [c.target for c in old.columns if c.target]]
        if any(not t or t.type != o.type for o, t in targets):
            continue
        if any(c.target and c.target.type == 1 for t in before.tables.values() for c in t.columns if not any(d.key.value == c.key.value for d in (after.tables.get(t.name) or t).columns)):
            continue
        if old.objects().keys() != new.objects().keys():
            raise Finding(f'{name} had objects {sorted(old.objects())}, has {sorted(new.objects())}')
        for c in new.columns:
            source = next((d for d in old.columns if d.name == c.name and d.type == c.type and d.kind == c.kind
                           and (d.target.name if d.target else '') == (c.target.name if c.target else '')), None)
            is_kept = source and (source.key.value == c.key.value or c.key.attrs & data.A_NULLABLE)
            for key, row in new.objects().items():
                value = row[c.key.value]
                if is_kept:
                    expected = old.objects()[key][source.key.value]
                    if repr(value) != repr(expected):
                        raise Finding(f'{name} object {key} {c.name!r}: {value!r}, was {expected!r}')
                elif (c.kind and value) or not c.kind and repr(value) != DEFAULTS.get(c.type, repr(value)) and not c.key.attrs & data.A_NULLABLE:
                    raise Finding(f'{name} object {key} {c.name!r}: {value!r} instead of the default')


class Track:
    """One file and the programs that use it in turns."""

    def __init__(self, name, path, programs):
        self.name, self.path, self.programs = name, path, programs
        self.content = Content(path)
        self.seen, self.gone = {}, set()
        #: Whether this library has written the file, too: what goes wrong on it is not only the other library's affair.
        self.is_shared = name != 'other'

    def run(self, number, step):
        """The answers of the program whose turn it is."""
        program = self.programs[number % len(self.programs)]
        try:
            answers = self.answers(program, step)
            if program.is_reference and (fault := self.content.reference_fault()):
                raise Fault(fault)
            return answers
        except Finding as finding:
            if program.is_reference:
                raise Fault(f'{finding}') from None
            raise

    def answers(self, program, step):
        before = self.content
        answer = program.ask(step.opening(self.path))
        if answer and answer[-1].startswith('died'):
            raise Finding(answer[-1])
        is_open = 'open ok' in answer
        middle = Content(self.path)
        if not is_open and step.mode not in plan.RESETS and (changed := before.differences(middle)):
            raise Finding(f'refused ({answer[-1]}), but the file changed: {changed[0]}')
        if is_open:
            self.check_live_schema(answer, step, middle)
            if '  migrating' not in answer and '  initializing' not in answer and step.mode not in plan.RESETS:
                check_values(before, middle)
        rest = program.ask(step.updating())
        begun = program.ask(['\t'.join(step.operations[0])])
        rest += begun + program.ask((['\t'.join(o) for o in step.operations[1:]] if begun == ['  begin ok'] else []) + ['close'])
        if rest and rest[-1].startswith('died'):
            raise Finding(rest[-1])
        self.content = Content(self.path)
        if self.content.tables and not program.is_reference and (faults := program.ask([f'verify\t{self.path}'])):
            raise Finding(f'crealm_verify: {faults}')
        self.check_keys(middle)
        self.check_keys(self.content)
        return answer + rest

    def check_keys(self, content):
        """The key of a removed column must not be used for another column."""
        for t in content.tables.values():
            now = {c.key.value for c in t.all_columns}
            if back := now & self.gone_of(t):
                raise Finding(f'{t.name}: column keys {[hex(k) for k in back]} are used again')
            self.gone |= {(t.key, k) for k in self.seen.get(t.key, set()) - now}
            self.seen[t.key] = now

    def gone_of(self, t):
        return {k for table, k in self.gone if table == t.key}

    def forget_keys(self):
        self.seen, self.gone = {}, set()

    def take_over(self, other):
        """Continues with the file of another track."""
        self.path.unlink(missing_ok=True)
        if other.path.exists():
            shutil.copyfile(other.path, self.path)
        self.content, self.seen, self.gone, self.is_shared = other.content, dict(other.seen), set(other.gone), True

    def check_live_schema(self, answer, step, content):
        """The classes and properties that the program saw must be those of the file."""
        table = None
        for line in answer[answer.index('open ok'):]:
            if match := re.fullmatch(r'class (.*) (\d+) (.*) (\d+)', line):
                table = content.tables.get('class_' + match[1])
                if step.mode in plan.FIXED and not table:
                    continue
                if not table or table.key != int(match[2]):
                    raise Finding(f'class {match[1]!r} with key {match[2]} is not in the file')
            elif table and line.startswith('  ') and line.count('|') == 7:
                name, _, kind, collection, target, _, key, _ = line[2:].split('|')
                if int(kind) == plan.LINKING:
                    continue
                column = next((c for c in table.columns if c.key.value == int(key)), None)
                if not column or column.name != name or column.type != int(kind):
                    raise Finding(f'{table.name}: property {name!r} with key {key} is not in the file')


def known_difference(tracks, step, before, answers):
    """The reason of a known difference of the tracks after a step, None if they do not differ; raises a Finding for any
    other difference."""
    for track, answer in zip(tracks[1:], answers[1:]):
        if answer != answers[0]:
            at = next((j for j, (a, b) in enumerate(zip(answers[0], answer)) if a != b), min(len(answers[0]), len(answer)))
            mine, theirs = (a[at] if at < len(a) else 'nothing' for a in (answers[0], answer))
            if why := known.answer(known.scene_of(step, before, answers[0], at), mine, theirs):
                return why
            raise Finding(f'{tracks[0].name} and {track.name} answer {mine!r} and {theirs!r}')
        reasons = []
        for difference in tracks[0].content.differences(track.content):
            reasons.append(known.content(known.Scene(step, before), difference))
            if reasons[-1] is None:
                raise Finding(f'{tracks[0].name} and {track.name} hold {difference}')
        if reasons:
            return reasons[0]
    return None


def seed(number, folder, programs, reasons):
    """Runs one seed; returns the last step and the finding, or None. `reasons` collects seeds with known
    differences."""
    plans = plan.Planner(random.Random(number), options.other is not None)
    ours, *others = programs
    tracks = [Track('alone', folder / 'alone.realm', [ours])]
    if others:
        tracks += [Track('other', folder / 'other.realm', others), Track('turns', folder / 'turns.realm', [ours, others[0]]),
                   Track('turns back', folder / 'back.realm', [others[0], ours])]
    for i in range(plans.random.randint(3, options.steps)):
        step = plans.step()
        if options.verbose:
            print(f'--- step {i}', *step.opening(''), *step.updating(), *['\t'.join(o) for o in step.operations], sep='\n')
        before, answers, reason = tracks[0].content, [], None
        for track in tracks:
            try:
                if step.mode in plan.RESETS:
                    track.forget_keys()
                answers.append(track.run(i, step))
            except Finding as finding:
                return i, f'{track.name}: {finding}'
            except Fault as fault:
                reason = known.fault(known.Scene(step, before), f'{fault}', plans.has_nested)
                if not reason and track.is_shared:
                    return i, f'{track.name}, by the other library: {fault}'
                place = re.sub(r'0x[0-9a-f]+|[0-9]+', '#', re.sub(r'class_[^ :]*', 'a class', f'{fault}'))
                reason = reason or f'went wrong on a file of its own: {place}'
                break
            if options.verbose:
                print(f'--- {track.name} answers', *answers[-1], sep='\n')
        if 'open ok' in answers[0]:
            plans.succeeded(step)
        if step.update is not None and 'update ok' in answers[0]:
            plans.succeeded(plan.Step(schema=step.update, version=0))
        for track in tracks:
            # realm-core makes an empty file before it refuses a schema.
            if not track.content.tables:
                track.path.unlink(missing_ok=True)
        try:
            reason = reason or known_difference(tracks, step, before, answers)
        except Finding as finding:
            return i, f'{finding}'
        if reason:
            reasons[reason].append(number)
            for track in tracks[1:]:
                track.take_over(tracks[0])
    return i, None


def worker(numbers, binary, deadline):
    """Runs seeds in one process of this script; returns (passed, failed, the seeds with known differences by their reason)."""
    libraries = [options.library] + ([options.other] if options.other else [])
    programs = [Program(binary, library) for library in libraries]
    passed, failed, reasons = 0, 0, collections.defaultdict(list)
    for number in numbers:
        if deadline and time.monotonic() > deadline:
            break
        with tempfile.TemporaryDirectory(prefix='schema') as folder:
            folder = pathlib.Path(folder)
            step, finding = seed(number, folder, programs, reasons)
            if finding is None:
                passed += 1
                continue
            failed += 1
            print(f'FAIL seed {number} step {step}: {finding}', flush=True)
            for program in programs:
                program.ask(['close'])
            if options.keep:
                shutil.copytree(folder, options.keep / str(number), dirs_exist_ok=True)
    for program in programs:
        program.stop()
    return passed, failed, reasons


def main():
    first, _, last = options.seeds.partition('-')
    numbers = list(range(int(first), int(last or first) + 1))
    deadline = time.monotonic() + options.seconds if options.seconds else None
    with tempfile.TemporaryDirectory(prefix='schema') as folder:
        binary = pathlib.Path(folder) / 'steps'
        subprocess.run(['c++', '-O1', '-std=c++17', '-Wall', '-Wextra', '-I', INCLUDE, HERE / 'steps.cpp', '-ldl', '-o', binary], check=True)
        with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
            results = list(pool.map(worker, [numbers[i::options.jobs] for i in range(options.jobs)], [binary] * options.jobs, [deadline] * options.jobs))
    passed, failed = (sum(r[i] for r in results) for i in (0, 1))
    reasons = {reason: sorted(n for r in results for n in r[2].get(reason, [])) for r in results for reason in r[2]}
    for reason, found in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f'{len(found)} times realm-core: {reason} (seeds {", ".join(str(n) for n in found[:4])}{", ..." if len(found) > 4 else ""})')
    print(f'{passed} passed, {failed} failed' + (f'; known differences in {len(set().union(*reasons.values()))}' if options.other else ''))
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
