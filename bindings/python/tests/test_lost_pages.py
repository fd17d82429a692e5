"""A file that loses pages while it is open: reading raises an exception that names the file, never a signal; and the file opens again after it
was restored. Runs in separate processes, so that a signal is a failed test."""

import hashlib
import os
import struct
import subprocess
import sys

import pytest

import crealm

CODE = """
import os, sys
import crealm

file, cut, what, key = sys.argv[1], int(sys.argv[2]), sys.argv[3], bytes(64) if sys.argv[4] == "key" else None
schema = [crealm.ClassSchema("Item", {"id": int, "text": str, "numbers": list[int]}, primary_key="id")]
with crealm.open(file, schema=schema, key=key) as db:
    with db.write():
        for n in range(4000):
            db["Item"].create(n, text=f"text {n} " * 12, numbers=list(range(n % 9)))
whole = open(file, "rb").read()

db = crealm.open(file, schema=schema, key=key)
items = db["Item"]
some = items.where("text CONTAINS '39'")
assert len(some) == sum("39" in str(n) for n in range(4000)) and len(list(items)) == 4000

def follow():
    for _ in range(3):
        for item in items:
            item.text, list(item.numbers)
        len(items.where("text CONTAINS '39' AND numbers.@count > 1")), [item.id for item in some]
        db.refresh()

def write():
    with db.write():
        for item in items:
            item.text = "changed"

cut_file = file + ".lock" if what == "lock" else file
header = open(file, "rb").read(24)
os.truncate(cut_file, min(cut, os.path.getsize(cut_file)))
lost = 0
for _ in range(2):
    for use in (write, follow) if what == "lock" else (follow, write):
        try:
            use()
        except crealm.Error as error:
            lost += 1
            if key is None:
                assert error.code == 1017 and error.path in (file, file + ".lock"), error
assert lost == 4 or (what == "lock" and lost >= 3) or (key and lost >= 2), lost
if key is None and cut >= 24 or what == "lock":
    assert open(file, "rb").read(24) == header
db.close()
with open(file, "wb") as out:
    out.write(whole)
with crealm.open(file, schema=schema, key=key) as db:
    assert len(db["Item"]) == 4000 and db["Item"].where("text CONTAINS 'text 39 '")[0].numbers[2] == 2 and db.verify() == []
print("done")
"""


@pytest.mark.parametrize("key", ["plain", "key"])
@pytest.mark.parametrize("what, cut", [("file", 0), ("file", 4096), ("file", 200_000), ("lock", 0), ("lock", 4096)])
def test_a_cut_file_raises(tmp_path, what, cut, key):
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", CODE, str(tmp_path / "x.realm"), str(cut), what, key], capture_output=True, text=True
    )
    assert run.returncode == 0 and run.stdout.endswith("done\n"), run.stderr[-2000:]


def test_a_forged_cost_is_not_paid(tmp_path):
    """The cost of deriving a key from a passphrase is a number in the file, which can be forged: 32 passes over 1 GiB would take a minute."""
    file = tmp_path / "x.realm"
    with crealm.open(file, schema=[crealm.ClassSchema("A", {"n": int})], passphrase="words") as db:
        assert len(db["A"]) == 0
    data = bytearray(file.read_bytes())
    for passes, memory in ((32, 1 << 30), (1, 1 << 30), (5, 256 << 20), (33, 8 << 10), (0, 64 << 20), (1 << 63, 1 << 63)):
        for block in (0, 4096):
            struct.pack_into("<QQ", data, block + 48, passes, memory)
            data[block + 136 : block + 152] = hashlib.blake2b(data[block : block + 136], digest_size=16).digest()
        file.write_bytes(data)
        with pytest.raises(crealm.Error) as raised:
            crealm.open(file, passphrase="words")
        assert raised.value.code == 1021 and ("cost" in str(raised.value)), raised.value


def test_an_upgrade_backup_lets_in_whom_the_file_lets_in(tmp_path):
    from conftest import FIXTURES

    olds = [f for f in sorted(FIXTURES.glob("*/*.realm")) if f.stat().st_size < 1 << 20 and crealm_format(f) in (20, 22, 23)]
    if not olds:
        pytest.skip("no file of an older format")
    file = tmp_path / "old.realm"
    file.write_bytes(olds[0].read_bytes())
    file.chmod(0o600)
    crealm.open(file).close()
    backups = [f for f in tmp_path.iterdir() if "backup" in f.name]
    assert len(backups) == 1 and [os.stat(f).st_mode & 0o777 for f in backups] == [0o600]


def crealm_format(file):
    head = file.read_bytes()[:24]
    return head[20 + (head[23] & 1)] if head[16:20] == b"T-DB" else 0
