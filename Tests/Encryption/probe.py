"""Access to the library for the tests of encrypted files: probe.c, loaded into this process, and the counts of a
test."""
import ctypes
import os
import pathlib
import pickle
import signal
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / 'include'
PLAIN, KEY, PASSPHRASE = range(3)
XCHACHA, GCM, REALM = range(3)
KEY_BYTES = bytes((n * 7 + 3) % 256 for n in range(64))
OTHER_KEY = bytes((n * 5 + 1) % 256 for n in range(64))
# name: kind of the secret, the secret, the cipher
FORMS = {
    'xchacha': (KEY, KEY_BYTES, XCHACHA),
    'gcm': (KEY, KEY_BYTES, GCM),
    'passphrase': (PASSPHRASE, b'correct horse battery staple', XCHACHA),
    'realm': (KEY, KEY_BYTES, REALM),
    'plain': (PLAIN, b'', -1),
}


def build(source, to, *flags):
    subprocess.run(['cc', '-O1', '-g', '-Wall', '-Wextra', '-Werror', '-I', INCLUDE, HERE / source, '-ldl', *flags, '-o', to], check=True)
    return to


class Probe:
    def __init__(self, library, folder):
        so = pathlib.Path(folder) / 'probe.so'
        if not so.exists():
            build('probe.c', so, '-shared', '-fPIC')
        self.c = ctypes.CDLL(str(so))
        self.c.probe_message.restype = ctypes.c_char_p
        self.c.probe_open.restype = self.c.probe_create.restype = ctypes.c_void_p
        realm, number, place = ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p
        for name, types in (('close', []), ('refresh', []), ('digest', [place]), ('version', [place]), ('commit', [number] * 3),
                            ('read_some', [ctypes.c_size_t] * 2), ('fill', [number, number, ctypes.c_size_t])):
            getattr(self.c, f'probe_{name}').argtypes = [realm, *types]
        if not self.c.probe_load(str(library).encode()):
            raise SystemExit(self.message())

    def message(self):
        return self.c.probe_message().decode(errors='replace')

    def read(self, path, how, secret, write=False, verify=False):
        """(0, digest, '') or (error number, digest or 0, message)."""
        digest = ctypes.c_uint64()
        status = self.c.probe_read(str(path).encode(), how, secret, ctypes.c_size_t(len(secret)), int(write), int(verify),
                                   ctypes.byref(digest))
        return status, digest.value, self.message() if status else ''

    def continue_file(self, path, how, secret):
        """One more commit; (error number, 0, message)."""
        status = self.c.probe_write(str(path).encode(), how, secret, ctypes.c_size_t(len(secret)), -1, ctypes.c_uint64(4711), 1, 6, 5, 300)
        return status, 0, f'a commit fails: {self.message()}' if status else ''

    def open(self, path, how, secret, cipher=-1):
        return self.c.probe_open(str(path).encode(), how, secret, ctypes.c_size_t(len(secret)), cipher)

    def create(self, path, form):
        how, secret, cipher = FORMS[form]
        return self.c.probe_create(str(path).encode(), how, secret, ctypes.c_size_t(len(secret)), cipher, 0)

    def open_read_only(self, path, how, secret):
        return self.c.probe_create(str(path).encode(), how, secret, ctypes.c_size_t(len(secret)), -1, 1)

    def commit(self, realm, operations=10, things=40, largest=2000):
        return self.c.probe_commit(realm, operations, things, largest)

    def digest(self, realm):
        digest = ctypes.c_uint64()
        return (self.c.probe_digest(realm, ctypes.byref(digest)), digest.value)

    def version(self, realm):
        version = ctypes.c_uint64()
        status = self.c.probe_version(realm, ctypes.byref(version))
        return version.value if status == 0 else None

    def follow(self, path, how, secret, seed, last, seconds):
        """(number of snapshots or error, [(version, digest)], message)."""
        room = 20000
        versions, digests = (ctypes.c_uint64 * room)(), (ctypes.c_uint64 * room)()
        n = self.c.probe_follow(str(path).encode(), how, secret, ctypes.c_size_t(len(secret)), ctypes.c_uint64(seed), ctypes.c_uint64(last),
                                ctypes.c_double(seconds), versions, digests, room)
        return n, [(versions[i], digests[i]) for i in range(max(n, 0))], self.message() if n < 0 else ''

    def write(self, path, form, seed, commits, operations=10, things=40, largest=2000):
        how, secret, cipher = FORMS[form]
        status = self.c.probe_write(str(path).encode(), how, secret, ctypes.c_size_t(len(secret)), cipher, ctypes.c_uint64(seed), commits,
                                    operations, things, largest)
        if status:
            raise SystemExit(f'writing {path}: error {status}: {self.message()}')


CHUNK, PATIENCE = 400, 1800


class Case:
    """A file to be read: its bytes, how to open it, and the allowed digests."""

    def __init__(self, name, raw, good, how=KEY, secret=KEY_BYTES, write=False, must_fail=False, may_fail=True, commit=False, beside=False):
        self.name, self.raw, self.good, self.how, self.secret, self.write = name, raw, good, how, secret, write
        self.must_fail, self.may_fail, self.commit, self.beside = must_fail, may_fail, commit, beside


class Beside:
    """A process that has a file open for reading until it is told to end."""

    def __init__(self, probe, file, case):
        (ready, opened), (ended, self.over) = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.over)
            realm = probe.open_read_only(file, case.how, case.secret)
            os.write(opened, b'.')
            os.read(ended, 1)
            if realm:
                probe.c.probe_close(realm)
            os._exit(0)
        os.close(opened)
        os.read(ready, 1)
        os.close(ready)
        os.close(ended)

    def end(self):
        os.close(self.over)
        os.waitpid(self.pid, 0)


def outcomes(library, folder, cases, check):
    """Reads every case in a child process, a few hundred at a time: (status, digest, message, unchanged), or None for a crash."""
    results = []
    pending = list(cases)
    while pending:
        part = pending[:CHUNK]
        back, out = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(PATIENCE)
            probe = Probe(library.resolve(), folder)
            with os.fdopen(out, 'wb') as pipe:
                for case in part:
                    file = folder / 'case.realm'
                    file.write_bytes(case.raw)
                    # Beside a reader that opened the file first, an open for writing is not the only user.
                    first = Beside(probe, file, case) if case.beside else None
                    result = probe.read(file, case.how, case.secret, write=case.write, verify=True)
                    if case.commit and result[0] == 0:
                        # A file that opens must also accept a commit.
                        again = probe.continue_file(file, case.how, case.secret)
                        again = again if again[0] else probe.read(file, case.how, case.secret, verify=True)
                        result = result if again[0] == 0 else again
                    if first:
                        first.end()
                    pickle.dump((*result, file.read_bytes() == bytes(case.raw)), pipe)
                    pipe.flush()
            os._exit(0)
        os.close(out)
        done = 0
        with os.fdopen(back, 'rb') as pipe:
            while True:
                try:
                    results.append(pickle.load(pipe))
                    done += 1
                except EOFError:
                    break
        _, status = os.waitpid(child, 0)
        if done < len(part):
            results.append(None)
            check(part[done].name, False, f'the process ends with status {status}')
            done += 1
        pending = pending[done:]
    return results


class Count:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, good, why=''):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            if self.failed <= 30:
                print('  FAIL', name, why, flush=True)
        return good

    def end(self):
        print(f'{self.passed} passed, {self.failed} failed')
        raise SystemExit(self.failed != 0)


def scratch():
    return tempfile.TemporaryDirectory(prefix='encryption-')
