"""The library as the tests of encrypted files see it: probe.c in this process, and what a test counts."""
import ctypes
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / 'include'
PLAIN, KEY, PASSPHRASE = range(3)
XCHACHA, GCM, REALM = range(3)
KEY_BYTES = bytes((n * 7 + 3) % 256 for n in range(64))
OTHER_KEY = bytes((n * 5 + 1) % 256 for n in range(64))
# name: how the secret is meant, the secret, the cipher
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
        self.c.probe_open.restype = ctypes.c_void_p
        for name in 'probe_close', 'probe_refresh', 'probe_digest', 'probe_commit':
            getattr(self.c, name).argtypes = [ctypes.c_void_p] + {'probe_digest': [ctypes.c_void_p], 'probe_commit': [ctypes.c_int] * 3}.get(name, [])
        if not self.c.probe_load(str(library).encode()):
            raise SystemExit(self.message())

    def message(self):
        return self.c.probe_message().decode(errors='replace')

    def read(self, path, how, secret, write=False, verify=False):
        """(0, digest, '') or (error number, None, message)."""
        digest = ctypes.c_uint64()
        status = self.c.probe_read(str(path).encode(), how, secret, ctypes.c_size_t(len(secret)), int(write), int(verify), ctypes.byref(digest))
        return (status, digest.value, '') if status == 0 else (status, None, self.message())

    def open(self, path, how, secret, cipher=-1):
        return self.c.probe_open(str(path).encode(), how, secret, ctypes.c_size_t(len(secret)), cipher)

    def commit(self, realm, operations=10, things=40, largest=2000):
        return self.c.probe_commit(realm, operations, things, largest)

    def digest(self, realm):
        digest = ctypes.c_uint64()
        return (self.c.probe_digest(realm, ctypes.byref(digest)), digest.value)

    def write(self, path, form, seed, commits, operations=10, things=40, largest=2000):
        how, secret, cipher = FORMS[form]
        status = self.c.probe_write(str(path).encode(), how, secret, ctypes.c_size_t(len(secret)), cipher, ctypes.c_uint64(seed), commits,
                                    operations, things, largest)
        if status:
            raise SystemExit(f'writing {path}: error {status}: {self.message()}')


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
