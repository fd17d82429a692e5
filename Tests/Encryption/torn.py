#!/usr/bin/env python3
"""Tests the states that a loss of power may leave of a commit.

    torn.py LIBRARY [--commits N] [--seed N]

Records all writes, cuts and flushes of some commits (shim.c), then builds the file as it may be on the disk: everything before
a write and each prefix of it in sectors of 512 bytes; any single sector of it; and of the writes between two flushes, each one
missing, each one alone, and random subsets of their sectors. Each such file must open for writing and have the data of
the version before the commit or of the commit; some must also accept another commit. Plain files and both encrypted
forms.

Then the power fails twice: some of these files are opened and get a commit, which is recorded, and are torn again."""
import argparse
import os
import pathlib
import random
import struct
import subprocess
import sys

from probe import FORMS, Case, Count, Probe, build, outcomes, scratch

SECTOR = 512
HERE = pathlib.Path(__file__).resolve().parent

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument('library', type=pathlib.Path)
arguments.add_argument('--commits', type=int, default=3)
arguments.add_argument('--seed', type=int, default=1)
arguments.add_argument('--forms', default='xchacha,realm,plain')
arguments.add_argument('--record', nargs=3, help='(for itself)')
arguments.add_argument('--twice', type=int, default=6, help='how many torn files of each form are torn once more')
options = arguments.parse_args()
count = Count()
check = count.check
small = dict(operations=8, things=6, largest=3000)


def record(file, form, folder):
    """Runs in a separate process, under the shim: commits, with a mark and the digest after each."""
    import ctypes
    probe = Probe(options.library.resolve(), folder)
    mark = ctypes.CDLL(None).shim_mark
    mark.argtypes = [ctypes.c_uint64]
    how, secret, cipher = FORMS[form]
    probe.c.probe_seed(ctypes.c_uint64(options.seed + 50))
    realm = probe.open(file, how, secret, cipher)
    if not realm:
        raise SystemExit(probe.message())
    mark(0)
    print(probe.digest(realm)[1], flush=True)
    for n in range(options.commits):
        if probe.commit(realm, **small):
            raise SystemExit(probe.message())
        mark(n + 1)
        print(probe.digest(realm)[1], flush=True)
    os._exit(0)


def parse(log):
    """(kind, position, size, data) of all logged operations, and the number of the commit that each belongs to."""
    operations, at, commit = [], 0, 0
    while at < len(log):
        kind, position, size = struct.unpack_from('<QQQ', log, at)
        at += 24
        if kind == 4:
            commit = position + 1
            continue
        data = log[at:at + size] if kind == 1 else b''
        at += len(data)
        operations.append((kind, position, size, data, commit))
    return operations


def apply(image, operation):
    kind, position, size, data, _ = operation
    if kind == 1:
        if len(image) < position + len(data):
            image.extend(bytes(position + len(data) - len(image)))
        image[position:position + len(data)] = data
    elif kind == 2:
        if size < len(image):
            del image[size:]
        else:
            image.extend(bytes(size - len(image)))


def sectors(operation):
    """Splits a write into writes of sectors."""
    _, position, _, data, commit = operation
    pieces, at = [], position
    while at < position + len(data):
        end = min((at // SECTOR + 1) * SECTOR, position + len(data))
        pieces.append((1, at, end - at, data[at - position:end - position], commit))
        at = end
    return pieces


def states(initial, operations, chance):
    """(description, image, number of the running commit) of each state that a crash may leave."""
    image, whole = bytearray(initial), []
    base, window = bytearray(initial), []
    for n, operation in enumerate(operations):
        kind, commit = operation[0], operation[4]
        if kind == 3:
            # The end of a window between flushes: each of its writes missing, each alone, and subsets of sectors.
            writes = [o for o in window if o[0] == 1]
            for k, one in enumerate(writes):
                for alone in (False, True):
                    state = bytearray(base)
                    for o in window:
                        if o[0] != 1 or (o is one) == alone:
                            apply(state, o)
                    yield f'write {k} of {len(writes)} {"alone" if alone else "missing"} before flush {n}', state, commit
            pieces = [p for o in writes for p in sectors(o)]
            for k in range(min(2 * len(pieces), 40)):
                share = chance.random()
                state = bytearray(base)
                for o in window:
                    if o[0] == 2:
                        apply(state, o)
                for p in pieces:
                    if chance.random() < share:
                        apply(state, p)
                yield f'subset {k} of sectors before flush {n}', state, commit
            for o in window:
                apply(base, o)
            window = []
            continue
        if kind == 1:
            pieces = sectors(operation)
            for k in range(len(pieces)):
                if 0 < k:
                    state = bytearray(image)
                    for p in pieces[:k]:
                        apply(state, p)
                    yield f'write {n} up to sector {k} of {len(pieces)}', state, commit
                # Only this sector, and everything except it.
                for others in (False, True):
                    state = bytearray(image)
                    for j, p in enumerate(pieces):
                        if (j == k) != others:
                            apply(state, p)
                    yield f'write {n}, sector {k} of {len(pieces)} {"missing" if others else "alone"}', state, commit
        apply(image, operation)
        window.append(operation)
        yield f'after operation {n}', bytearray(image), commit


def recorded(label, file, form, folder, shim, commits, seed):
    """Opens the file and commits, under the shim. Returns the logged operations, and the digest after each step."""
    log = folder / 'log'
    log.unlink(missing_ok=True)
    environment = {**os.environ, 'LD_PRELOAD': str(shim), 'SHIM_FILE': str(file), 'SHIM_LOG': str(log)}
    run = subprocess.run([sys.executable, __file__, str(options.library), '--commits', str(commits), '--seed', str(seed),
                          '--record', str(file), form, str(folder)], env=environment, capture_output=True, text=True)
    if not check(f'{label}: recorded', run.returncode == 0 and log.exists(), run.stderr[-300:]):
        return None, None
    return parse(log.read_bytes()), [int(line) for line in run.stdout.split()]


def tears_twice(form, label, cases, folder, shim):
    """Opens and writes the files that the first loss of power left, and tears them once more."""
    how, secret, _ = FORMS[form]
    probe = Probe(options.library.resolve(), folder)
    chance = random.Random(options.seed + 1)
    file = folder / 'twice.realm'
    again, seen = [], set()
    # The data that selects a version is at the beginning of a file: take one file for each different beginning, first
    # those made by complete writes.
    firsts = list({case.raw[:4 * 4096]: case for case in cases}.values())
    chance.shuffle(firsts)
    firsts.sort(key=lambda case: not any(word in case.name for word in ('alone before', 'missing before')))
    for n, first in enumerate(firsts[:options.twice]):
        file.write_bytes(first.raw)
        before = probe.read(file, how, secret)[1]
        file.write_bytes(first.raw)
        operations, digests = recorded(f'{first.name}, then', file, form, folder, shim, 1, options.seed + 1 + n)
        if operations is None:
            continue
        check(f'{first.name}: is opened as it is read', before == digests[0])
        for what, state, commit in states(first.raw, operations, chance):
            raw = bytes(state)
            if raw not in seen:
                seen.add(raw)
                good = {digests[0]} if commit == 0 else set(digests)
                again.append(Case(f'{first.name}; then {what}', raw, good, how, secret, write=True, commit=len(again) % 7 == 0))
    for case, result in zip(again, outcomes(options.library, folder, again, check)):
        if result is None:
            continue
        status, digest, message, _ = result
        check(case.name, status == 0 and digest in case.good, f'{status} {message}' if status else 'other data')
    print(f'  {label:12} {len(again)} states after a second loss')


def check_form(form, folder, shim, new=False):
    """`new`: from the moment the file is made."""
    how, secret, _ = FORMS[form]
    probe = Probe(options.library.resolve(), folder)
    label = f'new {form}' if new else form
    file = folder / f'{label}.realm'
    commits = 0 if new else options.commits
    empty = folder / f'empty {form}.realm'
    initial, before = b'', set()
    if new:
        # A file whose creation never finished counts as missing.
        probe.c.probe_close(probe.create(empty, form))
        before = {probe.read(empty, how, secret)[1]}
    else:
        probe.write(file, form, options.seed, 4, **small)
        initial = file.read_bytes()
    operations, digests = recorded(label, file, form, folder, shim, commits, options.seed)
    if operations is None:
        return
    image = bytearray(initial)
    for o in operations:
        apply(image, o)
    check(f'{label}: everything was recorded', bytes(image) == file.read_bytes())
    digest_of = {n: {digests[max(n - 1, 0)], digests[min(n, commits)]} | (before if n == 0 else set()) for n in range(commits + 2)}
    cases = []
    seen = set()
    for k, (what, state, commit) in enumerate(states(initial, operations, random.Random(options.seed))):
        raw = bytes(state)
        if (raw, commit) in seen:
            continue
        seen.add((raw, commit))
        cases.append(Case(f'{label}, commit {commit}: {what}', raw, digest_of[commit], how, secret, write=True, commit=k % 7 == 0,
                          beside=k % 14 == 0 and not new))
    for case, result in zip(cases, outcomes(options.library, folder, cases, check)):
        if result is None:
            continue
        status, digest, message, _ = result
        check(case.name, status == 0 and digest in case.good, f'{status} {message}' if status else 'other data')
    flushes = sum(1 for o in operations if o[0] == 3)
    print(f'  {label:12} {len(operations)} operations with {flushes} flushes in {commits} commits, {len(cases)} states')
    if not new:
        tears_twice(form, label, cases, folder, shim)


def main():
    if options.record:
        return record(pathlib.Path(options.record[0]), options.record[1], pathlib.Path(options.record[2]))
    with scratch() as name:
        folder = pathlib.Path(name)
        shim = build('shim.c', folder / 'shim.so', '-shared', '-fPIC')
        for form in options.forms.split(','):
            check_form(form, folder, shim)
            if form != 'plain':
                check_form(form, folder, shim, new=True)
    count.end()


main()
