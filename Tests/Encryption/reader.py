#!/usr/bin/env python3
"""Independent reader of encrypted files: CRealm's form from docs/security.md alone, Realm's from storage §7.

    reader.py FILE (--key KEYFILE | --passphrase TEXT) [--out PLAIN] [--used]

Checks every rule of the document and writes the data as a plain file. With --used, a page that does not authenticate is
accepted if no node that the top array reaches is in it: an interrupted commit leaves such pages. Needs
`cryptography`."""
import argparse
import hashlib
import hmac
import struct
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

try:
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
except ImportError:
    Argon2id = None

BLOCK, DATA, FAN = 4096, 4056, 507
TABLE = 2 + FAN
GROUP = 2 + FAN * TABLE
STAMPS = 53
ROOT, GROUP_KIND, TABLE_KIND, PAGE_KIND, ANNOUNCEMENT = range(5)
XCHACHA, GCM = range(2)
NEVER = bytes(DATA)


class Bad(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Bad(text)


# Primitives

def hchacha20(key, nonce):
    """draft-irtf-cfrg-xchacha-03 §2.2: the ChaCha20 rounds without the final addition; words 0-3 and 12-15."""
    x = list(struct.unpack('<16I', b'expand 32-byte k' + key + nonce))
    for _ in range(10):
        for a, b, c, d in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
                           (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
            for left, right, by, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[left] = x[left] + x[right] & 0xFFFFFFFF
                v = x[by] ^ x[left]
                x[by] = (v << turn | v >> 32 - turn) & 0xFFFFFFFF
    return struct.pack('<8I', *x[0:4], *x[12:16])


def xchacha_seal(key, nonce, text, ad):
    return ChaCha20Poly1305(hchacha20(key, nonce[:16])).encrypt(bytes(4) + nonce[16:], text, ad)


def xchacha_open(key, nonce, text, ad):
    return ChaCha20Poly1305(hchacha20(key, nonce[:16])).decrypt(bytes(4) + nonce[16:], text, ad)


def blake(size, key, message=b'', **more):
    return hashlib.blake2b(message, digest_size=size, key=key, **more).digest()


def self_test():
    """The vectors of draft-irtf-cfrg-xchacha-03: §2.2.1 (HChaCha20) and A.3.1 (the AEAD)."""
    key = bytes(range(32))
    need(hchacha20(key, bytes.fromhex('000000090000004a0000000031415927')).hex() ==
         '82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc', 'HChaCha20 is wrong')
    sealed = xchacha_seal(bytes(range(0x80, 0xa0)), bytes(range(0x40, 0x58)), b"Ladies and Gentlemen of the class of '99: If I could "
                          b"offer you only one tip for the future, sunscreen would be it.", bytes.fromhex('50515253c0c1c2c3c4c5c6c7'))
    need(sealed[:16].hex() == 'bd6d179d3e83d43b9576579493c0e939' and sealed[-16:].hex() == 'c0875924c1c7987947deafd8780acf49',
         'XChaCha20-Poly1305 is wrong')


# CRealm's form

def wrapping_key(kind, secret, salt, passes=0, memory=0):
    if kind == 0:
        need(len(secret) == 64, 'a key has 64 bytes')
        return blake(32, secret, b'CRealm key wrap' + salt)
    if Argon2id is None:
        raise Bad('NO ARGON2ID in this Python: a file with a passphrase cannot be read')
    return Argon2id(salt=salt, length=32, iterations=passes, lanes=1, memory_cost=memory // 1024).derive(secret)


def make_key_block(secret_kind, secret, data_key, identity, salt, nonce, cipher=XCHACHA, generation=0, passes=0, memory=0):
    """The 512 bytes of a key block. The reader needs it only for the tests with known answers."""
    head = struct.pack('<8sBBHI16s16sQQ24s', b'CRealmE1', cipher, secret_kind, 0, generation, identity, salt, passes, memory, nonce)
    wrapped = xchacha_seal(wrapping_key(secret_kind, secret, salt, passes, memory), nonce, data_key, head)
    block = head + wrapped
    return (block + blake(16, b'', block)).ljust(512, b'\0')


class KeyBlock:
    def __init__(self, raw):
        (magic, self.cipher, self.kind, zero, self.generation, self.identity, self.salt, self.passes, self.memory, self.nonce,
         self.wrapped, checksum) = struct.unpack_from('<8sBBHI16s16sQQ24s48s16s', raw)
        need(magic == b'CRealmE1', 'magic')
        need(self.cipher <= 1 and self.kind <= 1 and zero == 0, 'cipher or kind of secret')
        need(checksum == blake(16, b'', raw[:136]), 'checksum')
        need(not any(raw[152:]), 'bytes behind the key block are not zero')
        need(self.kind == 1 or (self.passes == 0 and self.memory == 0), 'a key with a cost')
        self.head = raw[:88]

    def data_key(self, secret):
        try:
            return xchacha_open(wrapping_key(self.kind, secret, self.salt, self.passes, self.memory), self.nonce, self.wrapped, self.head)
        except InvalidTag:
            raise Bad('wrong key') from None


def subkeys(data_key):
    """The keys of the kinds 0-4."""
    return [blake(32, data_key, salt=struct.pack('<Q8x', n), person=b'CRealm24' + bytes(8)) for n in (1, 2, 3, 4, 5)]


def associated(identity, kind, number, stamp):
    return struct.pack('<16sB7xQQ', identity, kind, number, stamp)


def gcm_of(key, nonce):
    return AESGCM(blake(32, key, nonce[:12])), nonce[12:]


def seal(cipher, keys, identity, kind, number, nonce, text):
    ad = associated(identity, kind, number, int.from_bytes(nonce[:8], 'little'))
    if cipher == XCHACHA:
        sealed = xchacha_seal(keys[kind], nonce, text, ad)
    else:
        gcm, short = gcm_of(keys[kind], nonce)
        sealed = gcm.encrypt(short, text, ad)
    return nonce + sealed[-16:] + sealed[:-16]


def unseal(cipher, keys, identity, kind, number, block):
    nonce, tag, text = block[:24], block[24:40], block[40:]
    stamp = int.from_bytes(nonce[:8], 'little')
    need(stamp != 0, 'stamp 0')
    ad = associated(identity, kind, number, stamp)
    try:
        if cipher == XCHACHA:
            return xchacha_open(keys[kind], nonce, text + tag, ad)
        gcm, short = gcm_of(keys[kind], nonce)
        return gcm.decrypt(short, text + tag, ad)
    except InvalidTag:
        raise Bad('does not authenticate') from None


def group_block(g):
    return 4 + g * GROUP


def table_block(t):
    return 4 + t // FAN * GROUP + 2 + t % FAN * TABLE


def page_block(p):
    return table_block(p // FAN) + 2 + p % FAN


class Sealed:
    """A file of CRealm's form. `blocks` maps each block to its kind, for reports of damage."""

    def __init__(self, raw, secret):
        self.raw = raw
        need(len(raw) >= 4 * BLOCK and len(raw) % BLOCK == 0, 'the file has no whole blocks')
        copies, problems = [], []
        for n in (0, 1):
            try:
                copies.append(KeyBlock(self.block(n)))
            except Bad as problem:
                copies.append(None)
                problems.append(f'key block {n}: {problem}')
        need(any(copies), '; '.join(problems))
        self.problems = problems
        if all(copies) and self.block(0) != self.block(1):
            need(copies[1].generation == copies[0].generation + 1, 'key block 1 is not one generation ahead')
        self.key = self.opened(copies, secret)
        self.roots = [self.root(n) for n in (0, 1)]
        need(abs(self.roots[0][0] - self.roots[1][0]) in (1, 3), 'the root records are no neighbours')
        self.slot = int(self.roots[1][0] > self.roots[0][0])
        self.take(self.roots[self.slot])
        while coming := self.announced():
            self.take(coming)

    def take(self, root):
        raw = self.raw
        self.sequence, self.header, self.pages, self.top = root
        need(self.pages <= STAMPS * FAN * FAN, 'too many pages')
        self.is_small = self.pages <= STAMPS * FAN
        end = page_block(self.pages - 1) + 1 if self.pages else 4
        need(len(raw) >= end * BLOCK, f'the file ends at {len(raw)}, before its last page')
        self.behind = len(raw) // BLOCK - end
        self.tables = {}

    def block(self, n):
        return self.raw[n * BLOCK:(n + 1) * BLOCK]

    def opened(self, copies, secret):
        for copy in copies:
            if copy:
                try:
                    key = copy.data_key(secret)
                except Bad as problem:
                    reason = problem
                    continue
                self.identity, self.cipher, self.keys = copy.identity, copy.cipher, subkeys(key)
                return key
        raise reason

    def unseal(self, kind, number, block):
        return unseal(self.cipher, self.keys, self.identity, kind, number, block)

    def root(self, slot):
        block = self.block(2 + slot)
        need(not any(block[2560:]), f'root record {slot}: the rest of its block is not zero')
        try:
            text = self.unseal(ROOT, slot, block[:512])
        except Bad as problem:
            raise Bad(f'root record {slot}: {problem}') from None
        return self.parsed(text, slot)

    def parsed(self, text, slot):
        sequence, header, pages, zero = struct.unpack_from('<Q24sQQ', text)
        need(zero == 0, f'root record {slot}: not zero at 40')
        need(sequence % 2 == slot, f'root record {slot}: sequence number {sequence}')
        return sequence, header, pages, struct.unpack_from(f'<{STAMPS}Q', text, 48)

    def announced(self):
        """The root record of a commit that is complete although its record is not in its place; None if no such commit
        exists."""
        slot, before = (self.sequence + 1) % 2, (self.sequence, self.header, self.pages, self.top)
        try:
            text = self.unseal(ANNOUNCEMENT, slot, self.block(2 + slot)[512:2560])
            coming = self.parsed(text, slot)
            if coming[0] != self.sequence + 1:
                return None
            self.take(coming)
            count = struct.unpack_from('<Q', text, 472)[0]
            for first, length in struct.iter_unpack('<II', text[480:480 + 8 * count]):
                for p in range(first, first + length):
                    need(self.page(p) is not None, f'page {p} was not written')
            return coming
        except Bad:
            return None
        finally:
            self.take(before)

    def stamps(self, kind, number, first, stamp):
        """The stamps in a group or table, from the block of its pair that has `stamp`."""
        if stamp == 0:
            return (0,) * FAN, None
        name = {GROUP_KIND: 'group', TABLE_KIND: 'table'}[kind]
        which = [n for n in (first, first + 1) if int.from_bytes(self.block(n)[:8], 'little') == stamp]
        need(len(which) == 1, f'{name} {number}: {len(which)} blocks have its stamp')
        try:
            return struct.unpack(f'<{FAN}Q', self.unseal(kind, number, self.block(which[0]))), which[0]
        except Bad as problem:
            raise Bad(f'{name} {number}: {problem}') from None

    def table(self, t):
        if t not in self.tables:
            g = t // FAN
            if self.is_small:
                stamp, block = self.top[t], None
            else:
                group, block = self.stamps(GROUP_KIND, g, group_block(g), self.top[g])
                stamp = group[t % FAN]
            self.tables[t] = self.stamps(TABLE_KIND, t, table_block(t), stamp) + (block,)
        return self.tables[t]

    def page(self, p):
        """None for a page that was never written."""
        stamp = self.table(p // FAN)[0][p % FAN]
        if stamp == 0:
            return None
        block = self.block(page_block(p))
        need(int.from_bytes(block[:8], 'little') == stamp, f'page {p}: another stamp than its table keeps')
        try:
            return self.unseal(PAGE_KIND, p, block)
        except Bad as problem:
            raise Bad(f'page {p}: {problem}') from None

    def image(self):
        """The data as a plain file, and the pages that are unreadable or were never written."""
        parts, unread = [], {}
        for p in range(self.pages):
            try:
                page = self.page(p)
            except Bad as problem:
                if not str(problem).startswith('page'):
                    raise
                page, unread[p] = b'\xff' * DATA, str(problem)
            if page is None:
                page = NEVER
                unread[p] = f'page {p}: never written'
            parts.append(page)
        data = b''.join(parts)
        need(len(data) >= 24, 'no page')
        return self.header + data[24:], {p: why for p, why in unread.items()}, DATA

    def used_blocks(self):
        """Blocks that a read of the current version may use: block -> its kind."""
        names = {0: 'key block 0', 1: 'key block 1', 2: 'root record 0', 3: 'root record 1'}
        for p in range(self.pages):
            _, table, group = self.table(p // FAN)
            if group is not None:
                names[group] = f'group {p // FAN // FAN}'
            if table is not None:
                names[table] = f'table {p // FAN}'
                if self.table(p // FAN)[0][p % FAN]:
                    names[page_block(p)] = f'page {p}'
        return names


# Realm's form: storage §7

class RealmForm:
    def __init__(self, raw, key):
        need(len(key) == 64, 'a key has 64 bytes')
        self.raw, self.key = raw, key
        self.pages = (len(raw) - (len(raw) // BLOCK + 64) // 65 * BLOCK) // BLOCK
        need(self.pages > 0, 'no page')

    @staticmethod
    def place(p):
        """The positions of a page's entry and of its ciphertext in the file."""
        return p // 64 * 65 * BLOCK + p % 64 * 64, (p + p // 64 + 1) * BLOCK

    def decrypt(self, p, iv, text):
        box = Cipher(algorithms.AES(self.key[:32]), modes.CBC(struct.pack('<IQI', iv, p * BLOCK, 0))).decryptor()
        return box.update(text) + box.finalize()

    def encrypt(self, p, iv, data):
        box = Cipher(algorithms.AES(self.key[:32]), modes.CBC(struct.pack('<IQI', iv, p * BLOCK, 0))).encryptor()
        return box.update(data) + box.finalize()

    def page(self, p):
        entry, at = self.place(p)
        iv1, mac1, iv2, mac2 = struct.unpack_from('<I28sI28s', self.raw, entry)
        if iv1 == 0:
            return None
        text = self.raw[at:at + BLOCK]
        mac = hmac.new(self.key[32:], text, hashlib.sha224).digest()
        if mac == mac1:
            return self.decrypt(p, iv1, text)
        if iv2 and mac == mac2:
            return self.decrypt(p, iv2, text)
        if p == 0:
            # security.md §5: one of the two last pages has the new content of page 0.
            for n in range(self.pages - 1, max(0, self.pages - 3), -1):
                try:
                    coming = self.page(n)
                except Bad:
                    continue
                for iv in [n for used in (iv1, iv2) for n in (used, used % 0xFFFFFFFF + 1) if n] if coming and coming[16:20] == b'T-DB' else []:
                    sealed = self.encrypt(0, iv, coming)
                    if hmac.new(self.key[32:], sealed, hashlib.sha224).digest() == mac1 or any(
                            sealed[n:n + 512] == text[n:n + 512] for n in range(0, BLOCK, 512)):
                        return coming
        if iv2 == 0 or not any(text):
            return None
        raise Bad(f'page {p}: fails its HMAC')

    def image(self):
        parts, unread = [], {}
        for p in range(self.pages):
            try:
                page = self.page(p)
            except Bad as problem:
                page, unread[p] = b'\xff' * BLOCK, str(problem)
            if page is None:
                page, unread[p] = bytes(BLOCK), f'page {p}: never written'
            parts.append(page)
        return b''.join(parts), unread, BLOCK


# Nodes that the database reaches

def nodes(image):
    """(ref, bytes) of every node that the live top array reaches. Format: storage §1.1, §2."""
    refs, select = struct.unpack_from('<QQ', image), image[23] & 1
    need(image[16:20] == b'T-DB', 'the data begin with no database header')
    top = refs[select]
    if top == 0xFFFFFFFFFFFFFFFF and not select:
        top = struct.unpack_from('<Q', image, len(image) - 16)[0]
    pending = [top] if top else []
    while pending:
        ref = pending.pop()
        need(ref % 8 == 0 and 24 <= ref <= len(image) - 8, f'ref {ref:#x} outside the data')
        flags, size = image[ref + 4], int.from_bytes(image[ref + 5:ref + 8], 'big')
        width = (1 << (flags & 7)) >> 1
        payload = (size * width + 7) // 8 if flags >> 3 & 3 == 0 else size * width if flags >> 3 & 3 == 1 else size
        need(ref + 8 + payload <= len(image), f'node {ref:#x} runs past the data')
        yield ref, 8 + (payload + 7) // 8 * 8
        if flags & 0x40 and width:
            bits = int.from_bytes(image[ref + 8:ref + 8 + payload], 'little')
            pending += [v for v in (bits >> n * width & (1 << width) - 1 for n in range(size)) if v and v % 2 == 0] \
                if width < 8 else [v for v in (int.from_bytes(image[ref + 8 + n:ref + 8 + n + width // 8], 'little')
                                               for n in range(0, size * width // 8, width // 8)) if v and v % 2 == 0]


def used_pages(image, page_size):
    used = {0}
    for ref, size in nodes(image):
        used.update(range(ref // page_size, (ref + size - 1) // page_size + 1))
    return used


def open_file(path, secret):
    with open(path, 'rb') as file:
        raw = file.read()
    return Sealed(raw, secret) if raw[:8] == b'CRealmE1' else RealmForm(raw, secret)


def plain_image(path, secret, only_used=False):
    """The data as a plain file. A page with a node must be readable, and so must every other page unless
    `only_used`."""
    file = open_file(path, secret)
    image, unread, page_size = file.image()
    if getattr(file, 'problems', None) and not only_used:
        raise Bad('; '.join(file.problems))
    used = used_pages(image, page_size)
    for p, why in unread.items():
        # In CRealm's form page 0 has no node if it has only the header.
        header_only = p == 0 and page_size == DATA and all(ref >= DATA for ref, _ in nodes(image))
        need(p not in used or header_only, f'{why}, but a node lies in it')
        need(only_used or why.endswith('never written'), why)
    return image


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('file')
    parser.add_argument('--key')
    parser.add_argument('--passphrase')
    parser.add_argument('--out')
    parser.add_argument('--used', action='store_true')
    options = parser.parse_args()
    need((options.key is None) != (options.passphrase is None), 'give a key or a passphrase')
    if options.key is not None:
        with open(options.key, 'rb') as file:
            secret = file.read(65)
    else:
        secret = options.passphrase.encode()
    self_test()
    image = plain_image(options.file, secret, options.used)
    if options.out:
        with open(options.out, 'wb') as file:
            file.write(image)
    print(f'{options.file}: {len(image)} bytes of data')


if __name__ == '__main__':
    try:
        main()
    except Bad as problem:
        sys.exit(f'reader.py: {problem}')
