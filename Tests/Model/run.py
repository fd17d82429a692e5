#!/usr/bin/env python3
"""Compares a library with Realm's C API with a model of it that keeps everything in plain containers.

    run.py LIBRARY [--seeds 1-300] [--txns 40] [--ops 40] [--nested] [--big] [--scalar]
           [--reopen 10] [--tools DIR] [--jobs 2] [--keep DIR]

DIR (Tests/Tools) holds ops.c, dump.c, realm_storage_check.py and realm_data_check.py. For each seed the driver ops.c runs
the same history of transactions on the model (model.cpp) and on the library. The library's dump of its file
must then be, byte for byte, the text that the model wrote, and both checkers must find the file sound.
A seed fails with a line for each finding; if the contents differ, the line names the first class, object and property
that differ. With --keep the files of seeds that fail are kept. Prints 'N passed, M failed', counting seeds; exit status
1 on a failure."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / 'include'
TIME_LIMIT = 1800  # seconds after which a program counts as stuck

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('library', type=pathlib.Path)
parser.add_argument('--tools', type=pathlib.Path, default=HERE.parent / 'Tools')
parser.add_argument('--seeds', default='1-300', help='one number, or first-last')
parser.add_argument('--txns', type=int, default=40)
parser.add_argument('--ops', type=int, default=40, help='per transaction')
parser.add_argument('--nested', action='store_true', help='collections inside Mixed values, too')
parser.add_argument('--big', action='store_true', help='long strings and lists')
parser.add_argument('--scalar', action='store_true', help='no collections, Mixed or embedded objects')
parser.add_argument('--reopen', type=int, default=10, help='close and open every so many transactions; 0: never')
parser.add_argument('--jobs', type=int, default=2)
parser.add_argument('--keep', type=pathlib.Path)
options = parser.parse_args()
library = options.library.resolve()
os.environ.setdefault('SWIFT_BACKTRACE', 'enable=no')  # after a crash the backtracer would hold the pipes open


def build(folder):
    """Compiles driver, dump and model."""
    for name in 'ops', 'dump':
        subprocess.run(['cc', '-O2', '-w', '-I', INCLUDE, options.tools / f'{name}.c', '-ldl', '-o', folder / name], check=True)
    subprocess.run(['c++', '-O2', '-std=c++17', '-Wall', '-Wextra', '-shared', '-fPIC', '-fvisibility=hidden',
                    '-I', INCLUDE, HERE / 'model.cpp', '-o', folder / 'model.so'], check=True)


class Failure(Exception):
    pass


def run(what, *command):
    """The output of a program that must succeed."""
    try:
        result = subprocess.run([str(part) for part in command], capture_output=True, timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        raise Failure(f'{what}: not done after {TIME_LIMIT} seconds') from None
    if result.returncode != 0:
        text = (result.stdout[-300:] + result.stderr[-300:]).decode(errors='replace').strip()
        raise Failure(f'{what}: status {result.returncode}: {text}')
    return result.stdout


def shortened(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else text[:300] + '…'


def first_difference(expected, found):
    """Where the contents differ: the first class, object, property and element."""
    expected = json.loads(expected.decode(errors='replace'))
    try:
        found = json.loads(found.decode(errors='replace'))
    except json.JSONDecodeError as error:
        return f'the dump of the library is no JSON: {error}'
    if expected['schema_version'] != found['schema_version']:
        return 'schema version'
    expected, found = expected['classes'], found['classes']
    if list(expected) != list(found):
        return f'classes {list(expected)}, found {list(found)}'
    for name in expected:
        for part in 'primary_key', 'flags', 'properties':
            if expected[name][part] != found[name][part]:
                return f'{name}: {part}{inner_difference(expected[name][part], found[name][part])}'
        old = {row['$key']: row for row in expected[name]['objects']}
        new = {row['$key']: row for row in found[name]['objects']}
        for key in sorted(old.keys() | new.keys()):
            if key not in new or key not in old:
                return f'{name}: object {key} ' + ('is missing' if key in old else 'should not be there')
            for field in old[key]:
                value, other = old[key][field], new[key].get(field)
                if json.dumps(value) != json.dumps(other):
                    return f'{name}: object {key}: {field}{inner_difference(value, other)}'
        if list(old) != list(new) or expected[name]['count'] != found[name]['count']:
            return f'{name}: order or number of objects'
    return 'the same values, written differently'


def inner_difference(expected, found):
    """The path to the first element that differs, with both values."""
    if isinstance(expected, list) and isinstance(found, list):
        for index, (old, new) in enumerate(zip(expected, found)):
            if json.dumps(old) != json.dumps(new):
                return f'[{index}]' + inner_difference(old, new)
        return f': {len(expected)} elements, found {len(found)}: {shortened(expected)}, found {shortened(found)}'
    if isinstance(expected, dict) and isinstance(found, dict) and list(expected) == list(found):
        for key in expected:
            if not key.startswith('$') and json.dumps(expected[key]) != json.dumps(found[key]):
                return f'[{key}]' + inner_difference(expected[key], found[key])
    return f': {shortened(expected)}, found {shortened(found)}'


def check_seed(programs, seed):
    """The faults of a seed, as lines; an empty list if it passed."""
    wrong = []
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f'seed-{seed}-', dir=programs))
    model_file, file, copy = folder / 'model.realm', folder / 'library.realm', folder / 'copy.realm'
    history = [seed, options.txns, options.ops]
    if options.reopen:
        history += ['--reopen', options.reopen]
    history += [flag for flag in ('--nested', '--big', '--scalar') if getattr(options, flag[2:])]
    try:
        run('the model', programs / 'ops', programs / 'model.so', model_file, *history)
        expected = pathlib.Path(f'{model_file}.json').read_bytes()
        run('the library', programs / 'ops', library, file, *history)
        for tool in ['realm_storage_check.py'], ['realm_data_check.py', '--check']:
            try:
                run(tool[0], sys.executable, options.tools / tool[0], *tool[1:], file)
            except Failure as failure:
                wrong.append(str(failure))
        shutil.copy(file, copy)
        found = run('dump', programs / 'dump', library, copy)
        (folder / 'library.json').write_bytes(found)
        if found != expected:
            wrong.append(f'content: {first_difference(expected, found)}')
    except Failure as failure:
        wrong.append(str(failure))
    if wrong and options.keep:
        shutil.copytree(folder, options.keep / f'seed-{seed}', dirs_exist_ok=True)
    shutil.rmtree(folder)
    return wrong


def main():
    first, _, last = options.seeds.partition('-')
    seeds = range(int(first), int(last or first) + 1)
    started, failed = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix='model-') as folder:
        programs = pathlib.Path(folder)
        build(programs)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for seed, wrong in zip(seeds, pool.map(lambda seed: check_seed(programs, seed), seeds)):
                failed += bool(wrong)
                for line in wrong:
                    print(f'FAIL seed {seed}: {line}', flush=True)
    print(f'{len(seeds)} histories in {time.monotonic() - started:.0f} s')
    print(f'{len(seeds) - failed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
