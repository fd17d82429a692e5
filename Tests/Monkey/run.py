#!/usr/bin/env python3
"""Runs random calls (monkey.cpp) on a library with Realm's C API.

    run.py LIBRARY [--tools DIR] [--second LIBRARY] [--seeds 1-300] [--calls 200] [--check-every 1]
           [--jobs 2] [--keep DIR]

monkey.cpp makes random calls, a sequence for each seed. A sequence fails when the program crashes, when crealm_verify
finds a fault at its end, or when one of the checkers of --tools does (Tests/Tools: realm_storage_check.py and
realm_data_check.py, which run on every --check-every'th file). With --second, gentler sequences, which other libraries
survive, also run on another library, which must give the same result for every call until it crashes. Differences are
sorted into kinds (call and both results) and counted, up to the first call that succeeds in one library and fails in
the other, or that gives another value. Kinds listed in known.txt are no failure: each line there has a regular
expression over the kind, `same` if both are in the same state afterwards or `apart` if they are not, and the reason,
separated by tabs. With --keep the files of seeds that fail stay. Prints 'N passed, M failed', counting sequences."""
import argparse
import collections
import concurrent.futures
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BATCH = 50  # sequences for each process
TIME_LIMIT = 1800  # seconds after which a process counts as stuck

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('library', type=pathlib.Path)
parser.add_argument('--tools', type=pathlib.Path, default=HERE.parent / 'Tools')
parser.add_argument('--second', type=pathlib.Path)
parser.add_argument('--seeds', default='1-300', help='one number, or first-last')
parser.add_argument('--calls', type=int, default=200)
parser.add_argument('--check-every', type=int, default=1)
parser.add_argument('--jobs', type=int, default=2)
parser.add_argument('--keep', type=pathlib.Path)
options = parser.parse_args()
os.environ.setdefault('SWIFT_BACKTRACE', 'enable=no')  # after a crash the backtracer would hold the pipes open


def load(name):
    spec = importlib.util.spec_from_file_location(name, options.tools / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


storage, data = load('realm_storage_check'), load('realm_data_check')
manner = ['--gentle'] if options.second else []
known = [line.rstrip('\n').split('\t') for line in open(HERE / 'known.txt') if line.count('\t') == 2]


def judge(path):
    """The findings of the checkers in a file; None when it is sound."""
    try:
        storage.check(path.read_bytes())
        data.check(data.RealmFile(str(path)))
    except Exception as fault:  # a checker that crashes has found a fault
        return f'{type(fault).__name__}: {fault}'


class Run:
    """The sequences of one process: digests by seed, and faults."""

    def __init__(self, monkey, library, folder, first, last, *more):
        command = [monkey, library, folder, str(first), str(last), '--calls', str(options.calls), *more]
        self.digests, self.faults, self.current = {}, collections.defaultdict(list), None
        self.lines = []
        try:
            done = subprocess.run(command, capture_output=True, timeout=TIME_LIMIT)
            output, status = done.stdout, done.returncode
        except subprocess.TimeoutExpired as late:
            output, status = late.stdout or b'', 'no end'
        for line in output.decode('utf-8', 'backslashreplace').split('\n'):
            if line.startswith('? '):
                self.current = int(line[2:])
            elif line.startswith('! died in') and '--no-verify' in more:
                pass  # of the second library, which may crash
            elif line.startswith('! '):
                self.faults[self.current].append(line[2:])
            elif '--trace' in more:
                if not re.match(r'\d+ [0-9a-f]{16} ', line):
                    self.lines.append(line)
            elif line:
                seed, digest, _, _ = line.split()
                self.digests[int(seed)] = digest
        if self.current is None:
            raise SystemExit(f'the monkey did not start: {status}')
        self.died = self.current if status not in (0, 1) else None
        if self.died is not None:
            self.faults[self.died].append(f'the process ended with {status}')


def kind(ours, theirs):
    """The difference of two lines of a trace, without the numbers that are specific to a sequence."""
    def outcome(line):
        return re.sub(r'-?\d{5,}|#\d+', 'N', line.split('-> ', 1)[1]) if '-> ' in line else line
    call = re.sub(r'^\d+ ', '', ours.split('-> ')[0])
    call = re.sub(r'#\d+ ', '', call)
    call = re.sub(r"[ub]?'.*?'|@\d+/-?\d+|\bt-?\d[\d.-]*|\bo\d-\d|\bu\d-\d|D[0-9a-f]+:[0-9a-f]+|-?\d[\de.+-]*[df]?\b", '.', call)
    return f'{call}| {outcome(ours)[:60]} | {outcome(theirs)[:60]}'


def differences(monkey, folder, seed):
    """Kinds of differences up to the first line after which the two no longer do the same; the last one is None if no
    such line exists."""
    traces, kinds = [], []
    for i, library in enumerate((options.library, options.second)):
        place = folder / f'trace{i}'
        place.mkdir(exist_ok=True)
        traces.append(Run(monkey, library, place, seed, seed, '--trace', '--no-verify', *manner).lines)
    for ours, theirs in zip(*traces):
        if ours and theirs and ours != theirs:
            kinds.append(kind(ours, theirs))
            if not ('-> failed' in ours and '-> failed' in theirs) and not any(
                    state == 'same' and re.search(pattern, kinds[-1]) for pattern, state, _ in known):
                return kinds
    return kinds + [None]


def batch(monkey, first, last):
    """Faults by seed, kinds of differences by seed, and the seeds in which the second library crashed."""
    faults, kinds, died = collections.defaultdict(list), {}, []
    with tempfile.TemporaryDirectory(dir='/dev/shm' if os.path.isdir('/dev/shm') else None) as name:
        folder = pathlib.Path(name)
        at, digests = first, {}
        while at <= last:
            run = Run(monkey, options.library, folder, at, last, '--keep', *manner)
            digests.update(run.digests)
            for seed, found in run.faults.items():
                faults[seed] += found
            if run.died is None:
                break
            at = run.died + 1
        for seed in range(first, last + 1):
            if seed not in digests and seed not in faults:
                faults[seed].append('the sequence did not run')
            path = folder / f'{seed}.realm'
            if seed % options.check_every == 0 and path.exists():
                found = judge(path)
                if found:
                    faults[seed].append(found)
            if options.keep and faults[seed] and path.exists():
                shutil.copy(path, options.keep)
        if options.second:
            other = folder / 'second'
            other.mkdir()
            at, theirs = first, {}
            while at <= last:
                run = Run(monkey, options.second, other, at, last, '--no-verify', *manner)
                theirs.update(run.digests)
                if run.died is None:
                    break
                died.append(run.died)
                kinds[run.died] = differences(monkey, folder, run.died)
                at = run.died + 1
            for seed in range(first, last + 1):
                if seed in digests and seed in theirs and digests[seed] != theirs[seed]:
                    kinds[seed] = differences(monkey, folder, seed)
    return {seed: found for seed, found in faults.items() if found}, kinds, died


def main():
    first, last = (int(n) for n in (options.seeds.split('-') * 2)[:2])
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    failed, counted, example, differing, cut = set(), collections.Counter(), {}, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        monkey = pathlib.Path(folder) / 'monkey'
        subprocess.run(['c++', '-O1', '-g', '-std=c++17', '-Wall', '-Wextra', '-Werror', '-I', HERE.parent.parent / 'include',
                        HERE / 'monkey.cpp', '-ldl', '-o', monkey], check=True)
        with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
            batches = [pool.submit(batch, monkey, at, min(at + BATCH - 1, last)) for at in range(first, last + 1, BATCH)]
            for done in concurrent.futures.as_completed(batches):
                faults, kinds, died = done.result()
                cut += len([seed for seed in died if kinds[seed][-1] is None])
                for seed, found in sorted(faults.items()):
                    failed.add(seed)
                    for line in found:
                        print(f'FAIL seed {seed}: {line}', flush=True)
                for seed, found in kinds.items():
                    differing += found[-1] is not None
                    for what in filter(None, found):
                        counted[what] += 1
                        example.setdefault(what, seed)
                        if not any(re.search(pattern, what) for pattern, _, _ in known):
                            failed.add(seed)
    for what, n in counted.most_common():
        why = next((reason for pattern, _, reason in known if re.search(pattern, what)), None)
        print(f'{"known" if why else "DIFFERS"} {n:6} seed {example[what]}: {what}' + (f'  ({why})' if why else ''))
    total = last - first + 1
    if options.second:
        print(f'{total - differing - cut} of {total} sequences agree to the end, {cut} up to where the second library died')
    print(f'{total - len(failed)} passed, {len(failed)} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
