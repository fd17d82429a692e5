#!/usr/bin/env python3
"""Tests several processes with several threads on one encrypted file, and the memory that reading it takes.

    together.py LIBRARY [--versions N] [--size MB]

Two processes write in turn, commit by commit; in these and in two more, threads follow, each with a snapshot that moves on and
one that stays behind. Each of them must see, at each version, the data that a plain file has at that version when one
process alone makes the same commits. Then the file grows past sections of 64 MiB while a reader uses it, and readers
that move from version to version read all of it with limited memory."""
import argparse
import ctypes
import os
import pathlib
import pickle
import resource
import signal
import threading
import time
import traceback

from probe import FORMS, Count, Probe, scratch

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument('library', type=pathlib.Path)
arguments.add_argument('--versions', type=int, default=60)
arguments.add_argument('--size', type=int, default=200, help='MB of the big file')
arguments.add_argument('--forms', default='xchacha,realm')
options = arguments.parse_args()
count = Count()
check = count.check
WRITERS, READERS, THREADS = 2, 2, 2
shape = dict(operations=15, things=60, largest=3000)
LIMIT = 240  # seconds after which a process counts as stuck


class Child:
    """A process that runs `body(probe)` and returns its result."""

    def __init__(self, folder, body):
        back, out = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            # This block may end only by `_exit`: an exception that left it would remove the parent's folder.
            try:
                signal.alarm(LIMIT)
                with os.fdopen(out, 'wb') as pipe:
                    pickle.dump(body(Probe(options.library.resolve(), folder)), pipe)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        os.close(out)
        self.pipe = os.fdopen(back, 'rb')

    def result(self, name):
        try:
            result = pickle.load(self.pipe)
        except EOFError:
            result = None
        _, status = os.waitpid(self.pid, 0)
        check(name, status == 0 and result is not None, f'ends with status {status}')
        return result


def commit(probe, realm, version):
    probe.c.probe_seed(ctypes.c_uint64(version + 900))
    if probe.commit(realm, **shape):
        raise SystemExit(f'commit {version}: {probe.message()}')


def plain_run(probe, file, last):
    """Digest of each version of a plain file that is written alone."""
    realm, digests = probe.open(file, *FORMS['plain']), {}
    while True:
        version = probe.version(realm)
        digests[version] = probe.digest(realm)[1]
        if version >= last:
            probe.c.probe_close(realm)
            return digests
        commit(probe, realm, version)


def followed(probe, file, form, number, last, sight):
    how, secret, _ = FORMS[form]
    sight.append(probe.follow(file, how, secret, number, last, LIMIT / 2))


def process(file, form, me, last):
    """Body of a process: its threads follow the file; a writer also commits whenever it is its turn."""
    def body(probe):
        sights, threads = [], []
        for n in range(THREADS):
            threads.append(threading.Thread(target=followed, args=(probe, file, form, me * 10 + n + 1, last, sights)))
            threads[-1].start()
        if me < WRITERS:
            realm = probe.open(file, *FORMS[form][:2])
            end = time.monotonic() + LIMIT / 2
            while time.monotonic() < end:
                probe.c.probe_refresh(realm)
                version = probe.version(realm)
                if version >= last:
                    break
                if version % WRITERS == me:
                    commit(probe, realm, version)
                else:
                    time.sleep(0.0005)
            probe.c.probe_close(realm)
        for t in threads:
            t.join()
        return sights
    return body


def together(form, folder, digests, last):
    file = folder / f'{form}.realm'
    Child(folder, lambda probe: probe.c.probe_close(probe.open(file, *FORMS[form])) or 1).result(f'{form}: made')
    started = time.monotonic()
    children = [Child(folder, process(file, form, me, last)) for me in range(WRITERS + READERS)]
    snapshots, versions = 0, set()
    for me, child in enumerate(children):
        for n, (status, seen, message) in enumerate(child.result(f'{form}: process {me}') or []):
            check(f'{form}: process {me}, thread {n}', status >= 0, f'{status} {message}')
            wrong = [v for v, digest in seen if digests.get(v) != digest]
            check(f'{form}: process {me}, thread {n} sees what was written', not wrong, f'other data at versions {wrong[:10]}')
            snapshots += len(seen)
            versions.update(v for v, _ in seen)
    result = Child(folder, lambda probe: probe.read(file, *FORMS[form][:2], verify=True)).result(f'{form}: last read')
    check(f'{form}: in the end', result and result[0] == 0, str(result))
    print(f'  {form}: {WRITERS} writers and {READERS} readers with {THREADS} threads each: {snapshots} snapshots of '
          f'{len(versions)} versions, {time.monotonic() - started:.1f} s')


def resident():
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * resource.getpagesize() >> 20


def big(form, folder):
    """A file that grows beyond sections of 64 MiB while a reader reads all of it, and the memory that this takes."""
    file, how = folder / f'big-{form}.realm', FORMS[form][:2]
    objects, size, step = options.size * 2, 500_000, 20
    grown, ready = os.pipe(), os.pipe()

    def writer(probe):
        realm = probe.open(file, *FORMS[form])
        for first in range(0, objects, step):
            if probe.c.probe_fill(realm, first, step, size):
                return probe.message()
            os.write(grown[1], b'.')
            os.read(ready[0], 1)
        # Small commits, so that the readers have versions to move to.
        for n in range(60):
            os.write(grown[1], b'.')
            os.read(ready[0], 1)
            if probe.c.probe_fill(realm, n * 7, 1, size):
                return probe.message()
        os.write(grown[1], b'!')
        probe.c.probe_close(realm)
        return 'fine'

    def reader(probe):
        realm, first, most, round_ = None, 0, 0, 0
        start = resident()
        while os.read(grown[0], 1) == b'.':
            # The file is one step larger than the version of this realm.
            if realm and probe.c.probe_read_some(realm, max(0, first - 2 * step), 2 * step):
                return probe.message()
            realm = realm or probe.open(file, *how)
            if not realm or probe.c.probe_refresh(realm):
                return probe.message()
            if first < objects:
                first += step
                if probe.c.probe_read_some(realm, first - step, step):
                    return probe.message()
            else:
                round_ += 1
                if probe.c.probe_read_some(realm, round_ * 3 * step % objects, step):
                    return probe.message()
                if probe.c.probe_read_some(realm, (round_ * 7919) % objects, 3):
                    return probe.message()
            most = max(most, resident() - start)
            os.write(ready[1], b'.')
        return most

    children = Child(folder, writer), Child(folder, reader)
    for end in grown + ready:
        os.close(end)
    written, most = (child.result(f'{form}: big file') for child in children)
    megabytes = file.stat().st_size >> 20
    check(f'{form}: a big file is written', written == 'fine', str(written))
    # 64 MB of unused pages, a quarter more before unused pages are searched for, and the pages of one snapshot.
    if check(f'{form}: a big file is read', isinstance(most, int), str(most)):
        check(f'{form}: memory of a reader is bounded', most <= 120, f'{most} MB for a file of {megabytes} MB')
        print(f'  {form}: a reader of {megabytes} MB takes up to {most} MB')


def main():
    with scratch() as name:
        folder = pathlib.Path(name)
        last = options.versions
        digests = Child(folder, lambda probe: plain_run(probe, folder / 'plain.realm', last)).result('plain run')
        for form in options.forms.split(','):
            together(form, folder, digests, last)
            if options.size and (form == 'xchacha' or options.size > 100):
                big(form, folder)
    count.end()


main()
