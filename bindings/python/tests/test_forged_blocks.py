"""Key blocks, root records, tables of initialisation vectors, headers and commit records are forged, with correct
checksums where a checksum needs no key. A forged file is refused with an error of this package, or shows the data of
one of its versions; who only reads changes no byte.

CREALM_SEED=n sets the seed, CREALM_COUNT=n the number of forged files of each form.
"""

import hashlib
import os
import random
import struct
import subprocess
import sys
from pathlib import Path

import crealm
import pytest

KEY = bytes(range(64))
FORMS = {
    "plain": {},
    "xchacha20": {"key": KEY},
    "aes256gcm": {"key": KEY, "page_cipher": "aes256gcm"},
    "passphrase": {"passphrase": "words"},
    "realm": {"key": KEY, "page_cipher": "realm"},
}
BLOCK = 4096
# Offset and size of the parts of a key block: docs/security.md, section 2.
PARTS = ((8, 1), (9, 1), (10, 2), (12, 4), (16, 16), (32, 16), (48, 8), (56, 8), (64, 24), (88, 48), (152, 8))
NUMBERS = (
    0,
    1,
    2,
    3,
    32,
    33,
    8 << 10,
    1 << 20,
    64 << 20,
    256 << 20,
    1 << 30,
    (1 << 30) + 1024,
    1 << 32,
    1 << 63,
    (1 << 64) - 1,
)
VERSION, VERSIONS = 60, 4  # Rows that each version adds.
ROWS = [(id, "x" * 60 + str(id)) for id in range(VERSION * VERSIONS)]


def forge_key_block(data, choose):
    for block in choose.choice(((0,), (BLOCK,), (0, BLOCK))):
        for _ in range(choose.choice((1, 1, 2, 4))):
            offset, size = choose.choice(PARTS)
            at, number = block + offset, choose.choice((*NUMBERS, choose.getrandbits(64)))
            data[at : at + size] = (
                (number & (1 << 8 * size) - 1).to_bytes(size, "little")
                if size <= 8
                else choose.randbytes(size)
            )
        data[block + 136 : block + 152] = hashlib.blake2b(
            bytes(data[block : block + 136]), digest_size=16
        ).digest()


def forge_root_record(data, choose):
    to = choose.randrange(8) * BLOCK
    if choose.random() < 0.5:
        start = choose.choice((2, 3)) * BLOCK
        data[to : to + 512] = data[start : start + 512]
    else:
        data[choose.choice((2, 3)) * BLOCK + choose.randrange(512)] ^= 1 << choose.randrange(8)


def forge_vectors(data, choose):
    for _ in range(choose.choice((1, 2, 8))):
        at = choose.randrange(64) * 64
        one, two = bytes(data[at : at + 32]), bytes(data[at + 32 : at + 64])
        data[at : at + 64] = choose.choice(
            (
                bytes(4) + one[4:] + two,
                one + bytes(4) + two[4:],
                one + one,
                two + one,
                b"\xff" * 4 + one[4:] + two,
            )
        )


def forge_record(data, choose):
    """The header, or a record behind one of the top arrays to which the header leads."""
    tops = struct.unpack_from("<QQ", data)
    if choose.random() < 0.3:
        at = choose.randrange(24)
        data[at] = choose.choice((0, 255, data[at] ^ 1 << choose.randrange(8)))
    top = choose.choice(tops)
    width = (1 << (data[top + 4] & 7)) >> 4
    end = top + 8 + (width * int.from_bytes(data[top + 5 : top + 8], "big") + 7 & ~7)
    for _ in range(choose.choice((1, 1, 3))):
        at = end + choose.randrange(0, 512, 8)
        data[at : at + 8] = choose.choice(
            (
                bytes(8),
                b"\xff" * 8,
                choose.randbytes(8),
                struct.pack("<Q", choose.choice(tops)),
                struct.pack("<Q", len(data)),
            )
        )


def forge_blocks(data, choose):
    """One block in the place of another."""
    start, to = (choose.randrange(len(data) // BLOCK) * BLOCK for _ in range(2))
    data[to : to + BLOCK] = data[start : start + BLOCK]


WAYS = {
    "plain": (forge_record,),
    "realm": (forge_vectors, forge_vectors, forge_blocks),
    "passphrase": (forge_key_block,),
}


def try_all(folder, form, seed, count):
    """Runs in a process of its own, so that a crash is a failed test."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
    path, secret = (
        folder / "forged.realm",
        {name: value for name, value in FORMS[form].items() if name != "page_cipher"},
    )
    with crealm.open(
        path, schema=[crealm.ClassSchema("P", {"id": int, "s": str}, primary_key="id")], **FORMS[form]
    ) as db:
        for first in range(0, len(ROWS), VERSION):
            with db.write():
                db.add_many("P", ROWS[first : first + VERSION], columns=["id", "s"])
    whole, shown, refused = path.read_bytes(), 0, 0
    for number in range(seed, seed + count):
        print(number, end=" ", flush=True)
        data, choose = bytearray(whole), random.Random(number)
        choose.choice(WAYS.get(form, (forge_key_block, forge_root_record, forge_blocks)))(data, choose)
        for mode in ("r", "immutable", "rw"):
            for name in ("forged.realm", "forged.realm.lock"):
                (folder / name).unlink(missing_ok=True)
            path.write_bytes(data)
            try:
                with crealm.open(path, mode=mode, **secret) as db:
                    found = [(row.id, row.s) for row in db["P"].sort("id")]
                    if mode == "rw":
                        with db.write():
                            db["P"].create(id=-1, s="")
                        assert db.verify(limit=2) == []
            except crealm.Error:
                refused += 1
            else:
                shown += 1
                assert found == ROWS[: len(found)] and len(found) % VERSION == 0, (number, mode)
            assert mode == "rw" or path.read_bytes() == data, (number, mode)
    print("done", shown, refused)


@pytest.mark.parametrize("form", list(FORMS))
def test_forged_blocks(tmp_path, form):
    seed, count = (
        os.environ.get("CREALM_SEED", "1"),
        os.environ.get("CREALM_COUNT", "8" if form == "passphrase" else "60"),
    )
    places = [str(Path(__file__).parent), str(Path(crealm.__file__).parents[1])]
    code = "import pathlib, sys, test_forged_blocks as tests; path, form, *numbers = sys.argv[1:];"
    code += "tests.try_all(pathlib.Path(path), form, *map(int, numbers))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), form, seed, count],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, (
        f"ended with {done.returncode} at seed {done.stdout.split()[-1:]}\n{done.stderr}"
    )
    shown, refused = map(int, done.stdout.split()[-2:])
    assert refused > 0 and (shown > 0 or form == "passphrase")
