#!/usr/bin/env python3
"""Independent check of the storage layer of a Realm file (docs/format/storage.md): header, top array, and the tiling
invariant: reachable nodes plus free-list entries exactly partition [24, logical size). Python standard library only
(plus `cryptography` when --key is given).

    realm_storage_check.py [--key KEYFILE64] [--decrypt OUT] FILE...   one line per file, exit status 1 if any is bad

--decrypt writes the plain image of an encrypted file, for realm_data_check.py."""
import argparse, collections, hashlib, hmac, struct, sys
FOOTER_MAGIC, PAGE, SECTION = 0x3034125237E526C8, 4096, 26

class Bad(Exception):
    pass

def decrypt(raw, key):
    """Plain image of an encrypted file (storage.md section 7)."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    pages = len(raw) // PAGE
    out = bytearray()
    for p in range(pages - (pages + 64) // 65):
        block, slot = divmod(p, 64)
        entry = block * 65 * PAGE + slot * 64
        iv1, mac1, iv2, mac2 = struct.unpack('<I28sI28s', raw[entry:entry + 64])
        at = (p + block + 1) * PAGE
        text = raw[at:at + PAGE]
        if iv1 == 0:
            out += bytes(PAGE)
            continue
        mac = hmac.new(key[32:64], text, hashlib.sha224).digest()
        if mac == mac1:
            iv = iv1
        elif iv2 and mac == mac2:
            iv = iv2
        elif iv2 == 0 or not any(text):
            out += bytes(PAGE)
            continue
        else:
            raise Bad(f'page {p} fails its HMAC')
        d = Cipher(algorithms.AES(key[:32]), modes.CBC(struct.pack('<IqI', iv, p * PAGE, 0))).decryptor()
        out += d.update(text) + d.finalize()
    return bytes(out)

class Node:
    def __init__(self, image, ref):
        if ref <= 0 or ref % 8 or ref > len(image) - 8:
            raise Bad(f'ref {ref:#x} is outside the file or misaligned')
        flags = image[ref + 4]
        self.ref, self.has_refs, self.wtype, self.width = ref, bool(flags & 0x40), flags >> 3 & 3, (1 << (flags & 7)) >> 1
        self.size = int.from_bytes(image[ref + 5:ref + 8], 'big')
        payload = {0: (self.size * self.width + 7) >> 3, 1: self.size * self.width, 2: self.size}.get(self.wtype)
        if payload is None:
            raise Bad(f'node {ref:#x}: width type 3')
        self.bytes = 8 + (payload + 7 & ~7)
        if ref + self.bytes > len(image):
            raise Bad(f'node {ref:#x} runs past the end of the file')
        self.data = image[ref + 8:ref + 8 + payload]

    def values(self):
        w, d = self.width, self.data
        if w == 0:
            return [0] * self.size
        if w < 8:
            return [d[i * w >> 3] >> (i * w & 7) & (1 << w) - 1 for i in range(self.size)]
        return [int.from_bytes(d[i:i + w // 8], 'little', signed=True) for i in range(0, self.size * w // 8, w // 8)]

def check(image):
    if len(image) < 24 or len(image) % 8:
        raise Bad(f'size {len(image)}')
    tops, magic, formats, flags = struct.unpack('<QQ', image[:16]), image[16:20], image[20:22], image[23]
    if magic != b'T-DB':
        raise Bad('no T-DB mnemonic (not a Realm file, or encrypted)')
    select = flags & 1
    top_ref, form = tops[select], 'normal'
    if select == 0 and top_ref == 0xFFFFFFFFFFFFFFFF:
        top_ref, cookie = struct.unpack('<QQ', image[-16:])
        form = 'streaming'
        if cookie != FOOTER_MAGIC:
            raise Bad('streaming form with a wrong footer cookie')
    if top_ref == 0:
        return f'format {formats[select]}, empty'
    top = Node(image, top_ref).values()
    if len(top) not in (3, 5, 7, 9, 10, 11, 12):
        raise Bad(f'top array of {len(top)} slots')
    logical = (top[2] & (1 << 64) - 1) >> 1
    if logical > len(image):
        raise Bad(f'logical size {logical} exceeds the file')
    spans, todo, crossing = [], [top_ref], 0
    while todo:
        n = Node(image, todo.pop())
        spans.append((n.ref, n.ref + n.bytes, 'node'))
        crossing += n.ref >> SECTION != n.ref + n.bytes - 1 >> SECTION
        if n.has_refs:
            if n.wtype:
                raise Bad(f'node {n.ref:#x}: has refs but width type {n.wtype}')
            todo += [v for v in n.values() if v and not v & 1]
    versions = collections.Counter()
    if len(top) > 4 and top[3]:
        pos, length = (Node(image, top[i]).values() for i in (3, 4))
        version = Node(image, top[5]).values() if len(top) > 5 and top[5] else [0] * len(pos)
        if not len(pos) == len(length) == len(version):
            raise Bad('free lists of unequal length')
        if pos != sorted(pos):
            raise Bad('free positions are not sorted')
        spans += [(p, p + l, 'free') for p, l in zip(pos, length)]
        versions.update(version)
    at, previous = 24, 'header'
    for start, end, kind in sorted(spans):
        if start < at:
            raise Bad(f'{kind} at {start:#x} overlaps the {previous} before it')
        if start > at and (form == 'normal'):
            raise Bad(f'{start - at} bytes at {at:#x} are neither reachable nor free')
        at, previous = end, kind
    if form == 'normal' and at != logical:
        raise Bad(f'coverage ends at {at:#x}, logical size is {logical:#x}')
    if crossing:
        raise Bad(f'{crossing} nodes cross a 64 MiB boundary')
    free = sum(e - s for s, e, k in spans if k == 'free')
    return (f'format {formats[select]}, {form}, version {top[6] >> 1 if len(top) > 6 else "-"}, {len(spans)} spans, '
            f'{free} of {logical} bytes free, history type {top[7] >> 1 if len(top) > 7 else "-"}')

def main():
    p = argparse.ArgumentParser()
    p.add_argument('--key'); p.add_argument('--decrypt'); p.add_argument('files', nargs='+')
    a = p.parse_args()
    bad = 0
    for f in a.files:
        try:
            image = open(f, 'rb').read()
            if a.key:
                image = decrypt(image, open(a.key, 'rb').read())
                if a.decrypt:
                    open(a.decrypt, 'wb').write(image)
            print(f'{f}: ok: {check(image)}')
        except Bad as e:
            bad = 1
            print(f'{f}: BAD: {e}')
    sys.exit(bad)

if __name__ == '__main__':
    main()
