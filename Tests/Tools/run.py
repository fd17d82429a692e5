#!/usr/bin/env python3
"""Compares two libraries with Realm's C API: the same seeded history, in both directions.

    run.py REFERENCE.so OURS.so [--seeds 1-20] [--txns 60] [--ops 60] [--reopen 20] [--scalar] [--big] [--nested] [--key FILE] [--shrink BYTES]
           [--tools DIR] [--keep DIR]

For each seed each library writes a file with ops.c, and each reads both files with dump.c: all four dumps must be equal.
Then each continues with the file of the other, with another seed, and again all dumps must be equal. With --key the
files are encrypted in Realm's form. With --shrink the commits of OURS make files of that many bytes and more shorter when a
quarter of them is free. Without --tools the programs `ops` and `dump` are compiled first; with --keep the
files of all seeds are kept. Prints a line for each failure, then 'N passed, M failed'."""
import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TIME_LIMIT = 300  # seconds after which a program counts as stuck

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('reference', metavar='REFERENCE.so')
parser.add_argument('ours', metavar='OURS.so')
parser.add_argument('--tools', type=pathlib.Path, help='folder with the compiled programs ops and dump')
parser.add_argument('--seeds', default='1-20', help='one number, or first-last')
parser.add_argument('--txns', default='60', help='transactions of a history')
parser.add_argument('--ops', default='60', help='operations of a transaction')
parser.add_argument('--reopen', default='20', help='close and open every so many transactions')
parser.add_argument('--scalar', action='store_true', help='no collections, Mixed or embedded objects')
parser.add_argument('--big', action='store_true', help='many objects, long strings')
parser.add_argument('--nested', action='store_true', help='collections inside Mixed values, too')
parser.add_argument('--key', help='file with 64 bytes')
parser.add_argument('--shrink', help='files of so many bytes shrink when a quarter of them is free')
parser.add_argument('--keep', type=pathlib.Path)
options = parser.parse_args()
libraries = {'ref': options.reference, 'our': options.ours}
key = ['--key', options.key] if options.key else []
if options.shrink:
    os.environ['OPS_SHRINK'] = options.shrink
manner = [f'--{name}' for name in ('scalar', 'big', 'nested') if getattr(options, name)] + key + (['--realm-cipher'] if key else [])
counts = {True: 0, False: 0}


def build(folder):
    for name in 'ops', 'dump':
        subprocess.run(['cc', '-O2', '-w', '-I', HERE.parent.parent / 'include', HERE / f'{name}.c', '-ldl', '-o', folder / name], check=True)
    return folder


def run(*command):
    """Output of a program, and why it failed: one of the two is None."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        return None, 'no end'
    if done.returncode:
        return None, f'status {done.returncode}: {done.stderr.decode(errors="replace").strip()[-300:]}'
    return done.stdout, None


def check(what, why):
    counts[not why] += 1
    if why:
        print(f'FAIL {what}: {why}', flush=True)


def compare(what, tools, folder, files):
    """Every library reads every file."""
    found = {}
    for writer, file in files.items():
        for reader, library in libraries.items():
            if not file.exists():
                continue
            copy = folder / f'copy-{reader}-{writer}.realm'
            shutil.copy(file, copy)
            out, why = run(tools / 'dump', library, copy, *key)
            check(f'{what}: {reader} reads the file of {writer}', why)
            if out is not None:
                found[f'{reader} of {writer}'] = hashlib.sha1(out).hexdigest()[:8]
    check(f'{what}: all dumps are equal', None if len(set(found.values())) == 1 else str(found))


def run_seed(seed, tools, folder):
    files = {name: folder / f'{name}.realm' for name in libraries}
    for name, library in libraries.items():
        check(f'seed {seed}: {name} writes',
              run(tools / 'ops', library, files[name], seed, options.txns, options.ops, '--reopen', options.reopen, *manner)[1])
    compare(f'seed {seed}: after writing', tools, folder, files)
    for name, other in ('ref', 'our'), ('our', 'ref'):
        if files[other].exists():
            check(f'seed {seed}: {name} goes on with the file of {other}',
                  run(tools / 'ops', libraries[name], files[other], seed + 1000, 20, options.ops, *manner)[1])
    compare(f'seed {seed}: after going on', tools, folder, files)


def main():
    first, _, last = options.seeds.partition('-')
    with tempfile.TemporaryDirectory(prefix='tools-') as programs:
        tools = options.tools or build(pathlib.Path(programs))
        for seed in range(int(first), int(last or first) + 1):
            with tempfile.TemporaryDirectory(prefix='compare-') as folder:
                run_seed(seed, tools, pathlib.Path(folder))
                if options.keep:
                    shutil.copytree(folder, options.keep / str(seed), dirs_exist_ok=True)
    print(f'{counts[True]} passed, {counts[False]} failed')
    return 1 if counts[False] else 0


sys.exit(main())
