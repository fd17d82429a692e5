#!/usr/bin/env python3
"""Compares files of every encrypted form with the independent reader (reader.py).

    compare.py LIBRARY [--tools DIR] [--seeds 1-3] [--big]

The plain file that the reader makes must pass the checkers of --tools (Tests/Tools) and have the same data, read
through the library, as the encrypted one; the reader must refuse a damaged copy, too."""
import argparse
import pathlib
import subprocess
import sys

import reader
from probe import FORMS, INCLUDE, PLAIN, Count, Probe, scratch

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument('library', type=pathlib.Path)
arguments.add_argument('--tools', type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent / 'Tools')
arguments.add_argument('--seeds', default='1-3')
arguments.add_argument('--big', action='store_true', help='also files that need groups of tables')
options = arguments.parse_args()
count = Count()
check = count.check


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def checked(name, plain):
    for tool in (['realm_storage_check.py'], ['realm_data_check.py', '--check']):
        status, out, err = run(sys.executable, options.tools / tool[0], *tool[1:], plain)
        check(f'{name}: {tool[0]}', status == 0, (out + err)[-300:])


def decrypt(name, file, secret, plain):
    try:
        image = reader.plain_image(file, secret)
    except reader.Bad as problem:
        return check(name, False, f'reader: {problem}')
    plain.write_bytes(image)
    return True


def refused(name, raw, secret, folder):
    file = folder / 'damaged.realm'
    file.write_bytes(raw)
    try:
        reader.plain_image(file, secret)
        check(name, False, 'the reader accepts it')
    except reader.Bad:
        check(name, True)


def main():
    first, last = (int(n) for n in (options.seeds.split('-') * 2)[:2])
    reader.self_test()
    with scratch() as name:
        folder = pathlib.Path(name)
        probe = Probe(options.library.resolve(), folder)
        file, plain = folder / 'e.realm', folder / 'p.realm'
        forms = [form for form in FORMS if form != 'plain']
        if reader.Argon2id is None:
            print('!!! NO ARGON2ID in this Python: files with a passphrase were not read !!!')
            forms.remove('passphrase')
        for seed in range(first, last + 1):
            for form in forms:
                how, secret, _ = FORMS[form]
                label = f'{form}, seed {seed}'
                for old in folder.glob('*.realm*'):
                    if old.is_file():
                        old.unlink()
                for step in range(4):
                    probe.write(file, form, seed * 10 + step, 5 * step, largest=300 if seed % 2 else 30000)
                    if not decrypt(label, file, secret, plain):
                        break
                    if step == 3:
                        checked(label, plain)
                    ours, theirs = probe.read(file, how, secret), probe.read(plain, PLAIN, b'')
                    check(label, ours[0] == 0 and ours == theirs, f'{ours} {theirs}')
                raw = bytearray(file.read_bytes())
                raw[-reader.BLOCK // 2] ^= 1
                if form != 'realm':
                    raw[2 * reader.BLOCK + 100] ^= 1
                    refused(f'{label}: a damaged root record', raw, secret, folder)
        histories(folder)
        if options.big:
            for form in 'gcm', 'realm':
                grown(probe, folder, form)
    count.end()


def grown(probe, folder, form):
    """A file that grows beyond the capacity of its root record, and continues to work."""
    file, plain = folder / f'g-{form}.realm', folder / 'gp.realm'
    how, secret, _ = FORMS[form]
    for first in range(0, 320, 40):
        realm = probe.open(file, *FORMS[form])
        check(f'big {form}', realm and probe.c.probe_fill(realm, first, 40, 400_000) == 0, probe.message())
        probe.c.probe_close(realm)
        if first in (200, 240, 280):
            megabytes = file.stat().st_size >> 20
            label = f'big {form}, {megabytes} MB'
            if decrypt(label, file, secret, plain):
                checked(label, plain)
                ours, theirs = probe.read(file, how, secret, verify=True), probe.read(plain, PLAIN, b'')
                check(label, ours[0] == 0 and ours == theirs, f'{ours} {theirs}')
                print(f'  {label}: {ours[0] == 0 and ours == theirs}')


def histories(folder):
    """Every type of property: histories of ops.c, dumped by dump.c."""
    tools = {}
    for name in 'ops', 'dump':
        tools[name] = folder / name
        subprocess.run(['cc', '-O1', '-w', '-I', INCLUDE, options.tools / f'{name}.c', '-ldl', '-o', tools[name]], check=True)
    key = folder / 'key'
    key.write_bytes(FORMS['xchacha'][1])
    file, plain = folder / 'h.realm', folder / 'hp.realm'
    for form in [], ['--realm-cipher']:
        label = ' '.join(['history', *form])
        for old in folder.glob('h*.realm*'):
            if old.is_file():
                old.unlink()
        status, _, err = run(tools['ops'], options.library, file, 11, 40, 40, '--key', key, '--reopen', 10, *form)
        if check(label, status == 0, err) and decrypt(label, file, key.read_bytes(), plain):
            checked(label, plain)
            ours = run(tools['dump'], options.library, file, '--key', key, '--readonly')
            theirs = run(tools['dump'], options.library, plain, '--readonly')
            check(label, ours[0] == 0 and ours == theirs, ours[2] + theirs[2])


main()
