#!/usr/bin/env python3
"""Kills a writing process over and over while others read the same file.

    run.py LIBRARY [--tools DIR] [--seconds 60] [--readers 4] [--kills 50] [--seed N] [--keep DIR] [--cipher xchacha|gcm|realm]

One writer commits to a ledger (ledger.h) and notes each commit that returned; readers check every
snapshot they see. The writer is killed with SIGKILL at random moments, at least --kills times and for
at least --seconds, and the next one checks, with the readers still running, that nothing noted is lost.
Sometimes a reader is killed, too. Every few kills, while no writer runs, the file is copied: the copy must pass
realm_storage_check.py and realm_data_check.py of --tools (Tests/Tools) and a check through the library. No refresh may
take longer than a second. With --cipher the file is encrypted; its copies are decrypted by ../Encryption/reader.py
first. With --keep the file is kept after a failure. Prints a line per failure and 'N passed, M failed'."""
import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
START_LIMIT = 1800  # seconds after which a writer that is not ready counts as stuck
COPY_EVERY = 5  # kills

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument('library', type=pathlib.Path)
arguments.add_argument('--tools', type=pathlib.Path, default=HERE.parent / 'Tools')
arguments.add_argument('--seconds', type=float, default=60)
arguments.add_argument('--readers', type=int, default=4)
arguments.add_argument('--kills', type=int, default=50)
arguments.add_argument('--seed', type=int, default=None)
arguments.add_argument('--keep', type=pathlib.Path)
arguments.add_argument('--cipher', choices=['xchacha', 'gcm', 'realm'])
arguments.add_argument('--key', type=pathlib.Path, help='64 bytes; without it a key is made')
options = arguments.parse_args()
library = options.library.resolve()
seed = options.seed if options.seed is not None else int(time.time())
chance = random.Random(seed)

passed = failed = 0


def check(name, good, why=''):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print('FAIL', name, why, flush=True)
    return good


def build(folder):
    for name in 'writer', 'reader':
        subprocess.run(['cc', '-O1', '-g', '-Wall', '-Wextra', '-Werror', '-I', HERE.parent.parent / 'include',
                        HERE / f'{name}.c', '-ldl', '-o', folder / name], check=True)


class Process:
    """A writer or reader; its output goes to a file that can be read at any time."""

    def __init__(self, folder, name, number, *arguments):
        self.name = f'{name} {number}'
        self.output = folder / f'{name}-{number}.out'
        with self.output.open('w') as out:
            self.child = subprocess.Popen([folder / name, library, *arguments], stdout=out, stderr=subprocess.STDOUT)

    def text(self):
        return self.output.read_text(errors='replace').strip()

    def running(self):
        return self.child.poll() is None

    def finish(self, how, timeout=START_LIMIT):
        self.child.send_signal(how)
        try:
            return self.child.wait(timeout)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
            return 'does not end'


class Ledger:
    def __init__(self, folder):
        self.folder, self.file, self.journal = folder, folder / 'ledger.realm', folder / 'journal'
        self.count = 0
        if options.cipher:
            self.key = options.key or folder / 'key'
            if not options.key:
                self.key.write_bytes(chance.randbytes(64))
            os.environ['LEDGER_KEY'] = str(self.key)
            os.environ['LEDGER_CIPHER'] = str(['xchacha', 'gcm', 'realm'].index(options.cipher))

    def writer(self, *more):
        self.count += 1
        return Process(self.folder, 'writer', self.count, self.file, self.journal, str(seed + self.count), *more)

    def reader(self):
        self.count += 1
        return Process(self.folder, 'reader', self.count, self.file, str(seed + self.count))

    def promised(self):
        return self.journal.stat().st_size // 8 if self.journal.exists() else 0

    def check_copy(self, label):
        copies = self.folder / 'copies'
        shutil.rmtree(copies, ignore_errors=True)
        copies.mkdir()
        copy, journal = copies / 'copy.realm', copies / 'journal'
        shutil.copy(self.file, copy)
        shutil.copy(self.journal, journal)
        plain = copy
        if options.cipher:
            plain = copies / 'plain.realm'
            reader = HERE.parent / 'Encryption/reader.py'
            run = subprocess.run([sys.executable, reader, copy, '--key', self.key, '--used', '--out', plain], capture_output=True, text=True)
            if not check(f'{label}: reader.py', run.returncode == 0, (run.stdout + run.stderr).strip()[-300:]):
                plain = None
        if plain:
            for tool in ['realm_storage_check.py'], ['realm_data_check.py', '--check']:
                run = subprocess.run([sys.executable, options.tools / tool[0], *tool[1:], plain], capture_output=True, text=True)
                good = check(f'{label}: {tool[0]}', run.returncode == 0, (run.stdout + run.stderr).strip()[-300:])
                if not good and options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    shutil.copy(copy, options.keep / f'copy-{seed}-{self.count}.realm')
        self.count += 1
        probe = Process(self.folder, 'writer', self.count, copy, journal, '1', 'check')
        try:
            status = probe.child.wait(60)
        except subprocess.TimeoutExpired:
            probe.child.kill()
            status = 'does not end'
        check(f'{label}: opens', status == 0, f'status {status}: {probe.text()[-300:]}')


def wait_ready(process):
    """Whether the process reported in time that it is ready."""
    limit = time.monotonic() + START_LIMIT
    while time.monotonic() < limit:
        if 'ready' in process.text():
            return True
        if not process.running():
            return False
        time.sleep(0.002)
    return False


def stacks(process):
    """Where a process hangs, if a debugger is installed."""
    if shutil.which('gdb') and process.running():
        run = subprocess.run(['gdb', '-p', str(process.child.pid), '-batch', '-ex', 'thread apply all bt 12'], capture_output=True, text=True)
        print('\n'.join(line for line in run.stdout.splitlines() if line.startswith('#')))


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix='crash-'))
    build(folder)
    ledger = Ledger(folder)
    print(f'seed {seed}')
    writer = ledger.writer()
    if not check('first writer starts', wait_ready(writer), writer.text()[-300:]):
        writer.child.kill()
        return
    readers = [ledger.reader() for _ in range(options.readers)]
    start = time.monotonic()
    kills = lost_readers = unready = 0
    snapshots, slowest, slowest_open, versions = 0, 0.0, 0.0, 0

    def end_reader(reader):
        nonlocal snapshots, slowest, slowest_open, versions
        status = reader.finish(signal.SIGTERM)
        words = reader.text().split()
        if check(reader.name, status == 0 and words[:1] == ['done'], f'status {status}: {reader.text()[-400:]}'):
            snapshots += int(words[1])
            slowest, slowest_open = max(slowest, float(words[3])), max(slowest_open, float(words[4]))
            versions = max(versions, int(words[5]))
            check(f'{reader.name} was never blocked', float(words[3]) < 1000, f'a refresh took {words[3]} ms')

    broken = False
    while not broken and (kills < options.kills or time.monotonic() - start < options.seconds):
        # Kill soon after the start as well: while opening, recovering, checking.
        pace = 2 * options.seconds / max(options.kills, 1)
        delay = chance.choice([chance.uniform(0, 0.02), chance.uniform(0, 0.2), chance.uniform(0, pace)])
        if chance.random() < 0.7 and not (broken := not wait_ready(writer)):
            pass
        if broken:
            if writer.running():
                stacks(writer)
            check(f'{writer.name} after {kills} kills', False, writer.text()[-400:] or 'not ready in time')
            writer.child.kill()
            break
        time.sleep(delay)
        if not writer.running():
            check(f'{writer.name} after {kills} kills', False, f'status {writer.child.returncode}: {writer.text()[-400:]}')
            broken = True
            break
        ready = 'ready' in writer.text()
        status = writer.finish(signal.SIGKILL)
        kills += 1
        if ready:
            check(f'{writer.name} finds all commits', status == -signal.SIGKILL, f'status {status}')
        else:
            unready += 1
        for i, reader in enumerate(readers):
            if not reader.running():
                check(reader.name, False, f'status {reader.child.returncode}: {reader.text()[-400:]}')
                readers[i] = ledger.reader()
        if kills % COPY_EVERY == 0:
            ledger.check_copy(f'copy after {kills} kills')
        if readers and kills % 8 == 0:
            i = chance.randrange(len(readers))
            if kills % 16 == 0:
                readers[i].finish(signal.SIGKILL)
                lost_readers += 1
            else:
                end_reader(readers[i])
            readers[i] = ledger.reader()
        writer = ledger.writer()
    if not broken:
        check('last writer is ready', wait_ready(writer), writer.text()[-400:])
        status = writer.finish(signal.SIGTERM)
        check('last writer stops', status == 0 and 'stopped' in writer.text(), f'status {status}: {writer.text()[-400:]}')
    for reader in readers:
        end_reader(reader)
    ledger.check_copy('last copy')
    size = ledger.file.stat().st_size
    print(f'{kills} kills of the writer ({unready} before it was ready), {lost_readers} of readers, {ledger.promised()} commits, '
          f'{snapshots} snapshots; longest refresh {slowest:.1f} ms, open {slowest_open:.1f} ms; most versions {versions}, file {size} bytes')
    if failed and options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        shutil.copy(ledger.file, options.keep / f'ledger-{seed}.realm')
    shutil.rmtree(folder, ignore_errors=True)


main()
print(f'{passed} passed, {failed} failed')
sys.exit(failed != 0)
