"""Root records of CRealm's encrypted form with impossible sequence numbers, made by somebody who knows the key of the
file. A commit behind such a number would count as an older one after an overflow, so the records are refused."""

import ctypes
import ctypes.util
import os
import struct
from pathlib import Path
from typing import Any, Tuple

import pytest

import crealm

KEY = bytes(range(64))
BLOCK, RECORD = 4096, 512
FOUND = ctypes.util.find_library("sodium")
pytestmark = pytest.mark.skipif(FOUND is None, reason="libsodium has no name that Python finds")


class Row(crealm.Model):
    id: int = crealm.field(primary_key=True)


class Sodium:
    """The parts of libsodium that a root record needs (docs/security.md)."""

    def __init__(self) -> None:
        self.lib: Any = ctypes.CDLL(FOUND)
        self.lib.sodium_init()

    def hash(self, data: bytes, key: bytes) -> bytes:
        out = ctypes.create_string_buffer(32)
        self.lib.crypto_generichash(out, ctypes.c_size_t(32), data, ctypes.c_ulonglong(len(data)), key, ctypes.c_size_t(len(key)))
        return out.raw

    def derived(self, key: bytes, number: int) -> bytes:
        out = ctypes.create_string_buffer(32)
        self.lib.crypto_kdf_derive_from_key(out, ctypes.c_size_t(32), ctypes.c_uint64(number), b"CRealm24", key)
        return out.raw

    def cipher(self, name: str, key: bytes, nonce: bytes, known: bytes, text: bytes) -> bytes:
        out, size = ctypes.create_string_buffer(len(text) + 16), ctypes.c_ulonglong()
        before = (None,) if name == "decrypt" else ()
        after = () if name == "decrypt" else (None,)
        function = getattr(self.lib, f"crypto_aead_xchacha20poly1305_ietf_{name}")
        assert function(out, ctypes.byref(size), *before, text, ctypes.c_ulonglong(len(text)), known,
                        ctypes.c_ulonglong(len(known)), *after, nonce, key) == 0
        return out.raw[: size.value]


def known_data(block: bytes, slot: int, nonce: bytes) -> bytes:
    return block[16:32] + bytes(8) + struct.pack("<Q", slot) + nonce[:8]


def forge(path: Path, numbers: Tuple[int, int]) -> None:
    """Gives the newest root record the greater number, the other one the lesser, and removes the announcements."""
    data = bytearray(path.read_bytes())
    block, sodium = bytes(data[:RECORD]), Sodium()
    wrapping = sodium.hash(b"CRealm key wrap" + block[32:48], KEY)
    main_key = sodium.cipher("decrypt", wrapping, block[64:88], block[:88], block[88:136])
    key = sodium.derived(main_key, 1)
    records = []
    for slot in range(2):
        sealed = bytes(data[(2 + slot) * BLOCK :][:RECORD])
        nonce = sealed[:24]
        records.append(sodium.cipher("decrypt", key, nonce, known_data(block, slot, nonce), sealed[40:] + sealed[24:40]))
    records.sort(key=lambda record: struct.unpack_from("<Q", record)[0])
    for record, number in zip(records, sorted(numbers)):
        slot, nonce = number & 1, os.urandom(24)
        text = struct.pack("<Q", number) + record[8:]
        sealed = sodium.cipher("encrypt", key, nonce, known_data(block, slot, nonce), text)
        start = (2 + slot) * BLOCK
        data[start : start + BLOCK] = (nonce + sealed[-16:] + sealed[:-16]).ljust(BLOCK, b"\0")
    path.write_bytes(data)


def made(path: Path) -> None:
    with crealm.open(path, schema=[Row], key=KEY) as db:
        for number in range(3):
            with db.write():
                db.add(Row(id=number))


def test_the_forgery_itself_is_right(tmp_path: Path) -> None:
    path = tmp_path / "rows.realm"
    made(path)
    forge(path, (2**40, 2**40 + 1))
    with crealm.open(path, mode="rw", key=KEY) as db:
        with db.write():
            db["Row"].create(100)
        assert [row.id for row in db["Row"]] == [0, 1, 2, 100] and not db.verify()


@pytest.mark.parametrize("last", [2**62 + 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1])
def test_an_impossible_number_is_refused(tmp_path: Path, last: int) -> None:
    path = tmp_path / "rows.realm"
    made(path)
    forge(path, (last - 1, last))
    before = path.read_bytes()
    for mode in ("immutable", "snapshot", "r", "rw"):
        with pytest.raises(crealm.CorruptFileError):
            crealm.open(path, mode=mode, key=KEY)
    assert not crealm.check(path, key=KEY).is_sound
    assert path.read_bytes() == before
