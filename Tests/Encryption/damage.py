#!/usr/bin/env python3
"""Tests damaged, mixed-up and forged encrypted files.

    damage.py LIBRARY [--step N] [--full]

Flips every N-th byte of small files, and replaces, exchanges, moves and cuts their blocks. For each such file the
library must fail with an error, or show exactly the original data; it must not crash, hang, show other data, or write
to a file that it refuses. Prints the outcome for each kind of block, and the errors."""
import argparse
import collections
import pathlib

import reader
from probe import CHUNK, FORMS, KEY, KEY_BYTES, OTHER_KEY, PASSPHRASE, PLAIN, Case, Count, Probe, outcomes as outcomes_of, scratch

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument('library', type=pathlib.Path)
arguments.add_argument('--step', type=int, default=61)
arguments.add_argument('--full', action='store_true', help='every byte')
options = arguments.parse_args()
count = Count()
check = count.check
BLOCK = reader.BLOCK
texts = collections.defaultdict(set)


def outcomes(folder, cases):
    return outcomes_of(options.library, folder, cases, check)


def judge(folder, cases):
    """Checks the rule for all cases; returns the outcome of each: 'refused', 'same', 'other' or 'crash'."""
    kinds = []
    for case, result in zip(cases, outcomes(folder, cases)):
        if result is None:
            kinds.append('crash')
            continue
        status, digest, message, unchanged = result
        kind = 'refused' if status else 'same' if digest in case.good else 'other'
        if digest and digest not in case.good:
            kind = 'other'
        kinds.append(kind)
        if status:
            texts[status].add(message)
        good = kind == 'refused' if case.must_fail else kind in (('same', 'refused') if case.may_fail else ('same',))
        check(case.name, good, f'{kind}: {status} {message}')
        check(f'{case.name}: the file stays', unchanged or not status, f'{status} {message}')
        check(f'{case.name}: has an error', not status or (status > 0 and message), f'{status} {message}')
    return kinds


def sealed(raw, secret=KEY_BYTES):
    """(file, kind of each block of a sealed file). Pages without a node count as unused."""
    file = reader.Sealed(raw, secret)
    image, _, _ = file.image()
    nodes = reader.used_pages(image, reader.DATA) - {0}
    if any(ref < reader.DATA for ref, _ in reader.nodes(image)):
        nodes.add(0)
    names = {}
    for n in range(len(raw) // BLOCK):
        names[n] = 'no block in use'
    for n, name in file.used_blocks().items():
        if name.startswith('page') and int(name.split()[1]) not in nodes:
            names[n] = 'free page'
        else:
            names[n] = name
    return file, names


def flips(folder, label, raw, how, secret, digest, names, full):
    """Every byte, or every step-th."""
    step = 1 if full else options.step
    places = [(at, bit) for k, at in enumerate(range(0, len(raw), step)) for bit in ((1, 0x80) if full else ((1, 0x80)[k % 2],))]
    table = collections.Counter()
    used = collections.Counter()
    for first in range(0, len(places), CHUNK):
        cases = []
        for at, bit in places[first:first + CHUNK]:
            changed = bytearray(raw)
            changed[at] ^= bit
            unused = names[at // BLOCK] in ('no block in use', 'free page')
            # The announcement of a root record can replace it; an old announcement is not read.
            doubled = names[at // BLOCK].startswith('root record')
            cases.append(Case(f'{label}: byte {at} ({names[at // BLOCK]}) ^ {bit:#x}', changed, {digest}, how, secret,
                              must_fail=not unused and not doubled, may_fail=not unused))
        for (at, _), kind in zip(places[first:], judge(folder, cases)):
            kind_of_block = names[at // BLOCK].rstrip('0123456789 ')
            table[kind_of_block, kind] += 1
            used[kind_of_block, at // BLOCK] = 1
    for (name, kind), n in sorted(table.items()):
        print(f'  {label:28} {name:16} {sum(1 for b, _ in used if b == name):3} blocks {n:7} flips {kind}')


def realm_names(raw, key):
    """The meaning of a byte in Realm's form."""
    file = reader.RealmForm(raw, key)
    image, unread, _ = file.image()
    used = reader.used_pages(image, BLOCK)

    def name(at):
        block = at // BLOCK
        if block % 65 == 0:
            page, inside = block // 65 * 64 + at % BLOCK // 64, at % 64
            if page not in used:
                return 'entry of a free page'
            return 'counter' if inside < 4 else 'HMAC' if inside < 32 else 'older half of an entry'
        page = block - block // 65 - 1
        return 'page 0' if page == 0 else 'page' if page in used else 'free page'
    return name


def realm_flips(folder, label, raw, digest):
    step = 1 if options.full else options.step
    name = realm_names(raw, KEY_BYTES)
    table = collections.Counter()
    places = range(0, len(raw), step)
    for first in range(0, len(places), CHUNK):
        part = places[first:first + CHUNK]
        cases = []
        for at in part:
            changed = bytearray(raw)
            changed[at] ^= 0x80 if at % 2 else 1
            cases.append(Case(f'{label}: byte {at} ({name(at)})', changed, {digest}))
        for at, case, result in zip(part, cases, outcomes(folder, cases)):
            what = name(at)
            if result is None:
                table[what, 'crash'] += 1
                continue
            status, got, message, _ = result
            kind = 'refused' if status else 'same' if got == digest else 'other'
            if got and got != digest:
                kind = 'other'
            table[what, kind] += 1
            if status:
                texts[status].add(message)
            # The counter is part of the cipher but not of the HMAC: the first 16 bytes of a page change undetected.
            allowed = {'counter': ('refused', 'same', 'other'), 'HMAC': ('refused', 'same'), 'page': ('refused',),
                       'page 0': ('refused', 'same')}
            check(case.name, kind in allowed.get(what, ('same',)), f'{kind}: {status} {message}')
    for (what, kind), n in sorted(table.items()):
        print(f'  {label:28} {what:26} {n:7} flips {kind}')


def replaced(folder, label, raw, other, good, names, must_fail_used=True, by_roots=None):
    """Replaces each block of `raw` in turn by the same block of `other`.

    by_roots: the data that may be read when the block is a root record; None: the same as for other blocks.
    """
    cases = []
    for n in range(min(len(raw), len(other)) // BLOCK):
        if raw[n * BLOCK:(n + 1) * BLOCK] == other[n * BLOCK:(n + 1) * BLOCK]:
            continue
        changed = raw[:n * BLOCK] + other[n * BLOCK:(n + 1) * BLOCK] + raw[(n + 1) * BLOCK:]
        unused = names[n] in ('no block in use', 'free page')
        if by_roots and names[n].startswith('root record'):
            cases.append(Case(f'{label}: block {n} ({names[n]})', changed, by_roots))
            continue
        cases.append(Case(f'{label}: block {n} ({names[n]})', changed, good, must_fail=must_fail_used and not unused, may_fail=not unused))
    kinds = judge(folder, cases)
    print(f'  {label:28} {len(cases):4} blocks: ' + ', '.join(f'{n} {kind}' for kind, n in sorted(collections.Counter(kinds).items())))


def moved(folder, label, raw, good, names):
    """Exchanges every pair of successive used blocks, and copies each over the next one."""
    used = [n for n, name in sorted(names.items()) if name not in ('no block in use', 'free page')]
    cases = []
    for a, b in zip(used, used[1:] + used[:1]):
        blocks = [raw[n * BLOCK:(n + 1) * BLOCK] for n in range(len(raw) // BLOCK)]
        blocks[a], blocks[b] = blocks[b], blocks[a]
        # The two key blocks are the same.
        same = names[a].startswith('key block') and names[b].startswith('key block')
        cases.append(Case(f'{label}: {names[a]} and {names[b]} exchanged', b''.join(blocks), good, must_fail=not same, may_fail=not same))
        blocks[a] = blocks[b]
        cases.append(Case(f'{label}: {names[b]} over {names[a]}', b''.join(blocks), good, must_fail=not same, may_fail=not same))
    kinds = judge(folder, cases)
    print(f'  {label:28} {len(cases):4} moves: ' + ', '.join(f'{n} {kind}' for kind, n in sorted(collections.Counter(kinds).items())))


def cuts(folder, label, raw, good, how=KEY, secret=KEY_BYTES):
    odd = [1, 7, 8, 23, 24, 25, 100, 511, 512, 513, 4095, 4097, 8191, 8193, 12289, 16383, len(raw) - 1, len(raw) - 512]
    sizes = list(range(0, len(raw), BLOCK)) + odd
    cases = [Case(f'{label}: cut to {size}', raw[:size], good, how, secret, write=write, must_fail=size > 0 and label.startswith('sealed'))
             for size in sizes if 0 < size < len(raw) for write in (False, True)]
    kinds = judge(folder, cases)
    print(f'  {label:28} {len(cases):4} cuts: ' + ', '.join(f'{n} {kind}' for kind, n in sorted(collections.Counter(kinds).items())))


def secrets(folder, files):
    """Right and wrong secrets for files of every form; each error must have a different text."""
    words = FORMS['passphrase'][1]
    attempts = {'none': (PLAIN, b''), 'the key': (KEY, KEY_BYTES), 'another key': (KEY, OTHER_KEY),
                'AES half differs': (KEY, OTHER_KEY[:32] + KEY_BYTES[32:]), 'HMAC half differs': (KEY, KEY_BYTES[:32] + OTHER_KEY[32:]),
                'the passphrase': (PASSPHRASE, words), 'another passphrase': (PASSPHRASE, words + b'!'),
                'the key as passphrase': (PASSPHRASE, KEY_BYTES)}
    right = {'xchacha': 'the key', 'gcm': 'the key', 'passphrase': 'the passphrase', 'realm': 'the key', 'plain': 'none'}
    said = collections.defaultdict(set)
    for form, (raw, digest) in files.items():
        for name, (how, secret) in attempts.items():
            for write in (False, True):
                fits = right[form] == name
                case = Case(f'{form} with {name}', raw, {digest}, how, secret, write=write, must_fail=not fits, may_fail=not fits)
                result = outcomes(folder, [case])[0]
                if not check(case.name, result and ((result[0] == 0) == fits) and (not fits or result[1] == digest), str(result)):
                    continue
                check(f'{case.name}: the file stays', result[3])
                if not fits:
                    text = result[2].split("': ", 1)[-1]
                    said[f'{result[0]} {text}'].add(f'{form} with {name}')
    for text, who in sorted(said.items()):
        print(f'  {text}\n      ' + ', '.join(sorted(who)))


def make(probe, folder, form, seed, commits, **more):
    file = folder / f'{form}-{seed}.realm'
    for old in folder.glob(f'{form}-{seed}.realm*'):
        if old.is_file():
            old.unlink()
    probe.write(file, form, seed, commits, **more)
    how, secret, _ = FORMS[form]
    status, digest, message = probe.read(file, how, secret, verify=True)
    if status:
        raise SystemExit(f'{file}: {message}')
    return file, file.read_bytes(), digest


def main():
    reader.self_test()
    with scratch() as name:
        folder = pathlib.Path(name)
        probe = Probe(options.library.resolve(), folder)
        small = dict(operations=6, things=5, largest=200)
        for form in 'xchacha', 'gcm':
            how, secret, _ = FORMS[form]
            for label, commits in (('in one go', 1), ('five commits', 5))[:2 if form == 'xchacha' else 1]:
                _, raw, digest = make(probe, folder, form, 7, commits, **small)
                _, names = sealed(raw)
                flips(folder, f'{form}, {label}', raw, how, secret, digest, names, options.full and form == 'xchacha')
        file, old, old_digest = make(probe, folder, 'xchacha', 8, 6, **small)
        states = [(old, old_digest)]
        for step in range(7):
            probe.write(file, 'xchacha', 100 + step, 1, **small)
            states.append((file.read_bytes(), probe.read(file, KEY, KEY_BYTES)[1]))
        raw, digest = states[-1]
        _, names = sealed(raw)
        # An old root record does not fit the other one, so the other one is used: the newest, or the one before it.
        replaced(folder, 'sealed, older copy', raw, old, {digest}, names, by_roots={digest, states[-2][1]})
        # The record of the previous commit, in its original place, leads to the previous commit, as after a crash.
        replaced(folder, 'sealed, copy of last commit', raw, states[-2][0], {digest, states[-2][1]}, names, must_fail_used=False)
        replaced(folder, 'sealed, last but one', raw, states[-3][0], {digest, states[-2][1]}, names, must_fail_used=False)
        _, other, _ = make(probe, folder, 'xchacha', 9, 13, **small)
        replaced(folder, 'sealed, another file', raw, other, {digest}, names)
        # Key blocks and root records of another file must be refused: all blocks must come from one file.
        cases = [Case('sealed: key blocks of another file', other[:2 * BLOCK] + raw[2 * BLOCK:], {digest}, must_fail=True),
                 Case('sealed: root records of another file', raw[:2 * BLOCK] + other[2 * BLOCK:4 * BLOCK] + raw[4 * BLOCK:], {digest},
                      must_fail=True),
                 Case('sealed: head of another file', other[:4 * BLOCK] + raw[4 * BLOCK:], {digest}, must_fail=True),
                 Case('sealed: more blocks behind', raw + bytes(5 * BLOCK), {digest}, may_fail=False),
                 Case('sealed: rubbish behind', raw + other[:BLOCK] + b'x' * 77, {digest}, may_fail=False)]
        judge(folder, cases)
        moved(folder, 'sealed, moved', raw, {digest}, names)
        cuts(folder, 'sealed', raw, {digest})
        # When an open for writing finds damage it does not change the file; the same holds for wiped first blocks.
        wiped = dict(write=True, must_fail=True)
        cases = [Case(f'sealed, for writing: first {n} blocks zero', bytes(n * BLOCK) + raw[n * BLOCK:], {digest}, **wiped)
                 for n in (1, 2, 3, 4, 6, 9, len(raw) // BLOCK)]
        cases.append(Case('sealed, for writing: key block 1 zero', raw[:BLOCK] + bytes(BLOCK) + raw[2 * BLOCK:], {digest}, **wiped))
        for n, what in names.items():
            for at in (0, 30, 100, 600):
                changed = bytearray(raw)
                changed[n * BLOCK + at] ^= 4
                cases.append(Case(f'sealed, for writing: block {n} ({what}) at {at}', changed, {digest}, write=True))
        judge(folder, cases)

        file, old, _ = make(probe, folder, 'realm', 8, 3, **small)
        probe.write(file, 'realm', 99, 4, **small)
        raw, digest = file.read_bytes(), probe.read(file, KEY, KEY_BYTES)[1]
        judge(folder, [Case(f"Realm's form, for writing: first {n} blocks zero", bytes(n * BLOCK) + raw[n * BLOCK:], {digest}, **wiped)
                       for n in (1, 2, 3, len(raw) // BLOCK)])
        realm_flips(folder, "Realm's form", raw, digest)
        cuts(folder, "Realm's form", raw, {digest})
        cases = []
        for n in range(len(raw) // BLOCK):
            if n % 65:
                changed = bytearray(raw)
                changed[n * BLOCK + 700] ^= 4
                cases.append(Case(f"Realm's form, for writing: block {n}", changed, {digest}, write=True))
                if old[n * BLOCK:(n + 1) * BLOCK] != raw[n * BLOCK:(n + 1) * BLOCK] and (n + 1) * BLOCK <= len(old):
                    swapped = raw[:n * BLOCK] + old[n * BLOCK:(n + 1) * BLOCK] + raw[(n + 1) * BLOCK:]
                    cases.append(Case(f"Realm's form: block {n} of an older copy", swapped, {digest, None}))
        # A page may still authenticate with the older half of its entry: then old data is expected and allowed.
        crashes = sum(1 for r in outcomes(folder, cases) if r is None)
        check("Realm's form: older copies do not crash", crashes == 0)

        files = {}
        for form in FORMS:
            _, raw, digest = make(probe, folder, form, 5, 3, **small)
            files[form] = (raw, digest)
        secrets(folder, files)
        print('errors seen:')
        for number, messages in sorted(texts.items()):
            shown = sorted({m.split("': ", 1)[-1] for m in messages})
            print(f'  {number}: {len(shown)} texts, such as: {shown[0][:150]}')
    count.end()


main()
