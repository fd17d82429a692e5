#!/usr/bin/env bash
# Tests the wheel in a fresh environment: no compiler, no Swift, no libsodium on the path.   test-wheel.sh [--all]
# [PYTHON]
# --all: the package's own tests run there as well (pytest is installed from PyPI). Builds the wheel first.
set -eu
cd "$(dirname "$0")/.."
all=
[ "${1:-}" != --all ] || { all=yes; shift; }
python=${1:-python3} place=.build/wheel-test
Scripts/wheel.sh >.build/wheel.log 2>&1 || { tail -20 .build/wheel.log; exit 1; }
rm -rf $place && mkdir -p $place/work
"$python" -m venv $place/venv
$place/venv/bin/pip install -q --no-index --disable-pip-version-check .build/wheel/*.whl
root=$PWD bin=$PWD/$place/venv/bin
cd $place/work
alone() { env -i PATH="$bin" HOME="$PWD" "$@"; }
alone "$bin/python" -X dev -W error - <<'PROGRAM'
import crealm, pathlib

class Dog(crealm.Model):
    name: str
    age: int = 0

key = bytes(range(64))
for name, how in {"plain": {}, "sealed": {"key": key}, "realm's": {"key": key, "page_cipher": "realm"}}.items():
    with crealm.open(f"{name}.realm", schema=[Dog], **how) as db:
        with db.write():
            db.add(Dog(name="Rex", age=3))
    with crealm.open(f"{name}.realm", mode="snapshot", key=how.get("key")) as db:
        assert [(d["name"], d["age"]) for d in db["Dog"].where("age > 2")] == [("Rex", 3)]
maps = pathlib.Path("/proc/self/maps").read_text()
library = next(line.split()[-1] for line in maps.splitlines() if "libCRealm" in line)
assert "site-packages/crealm/_lib" in library, library
found = [name for name in ("libsodium", "libcrypto", "libswift") if name in maps]
assert not found, f"loaded from the system: {found}"
PROGRAM
alone crealm show plain.realm | grep -q Rex
alone crealm browse plain.realm 2>&1 | grep -q "crealm\[browse\]"
ls ../venv/lib/python3*/site-packages/crealm/browse/static/app.js >/dev/null
alone crealm info sealed.realm --key <(head -c 64 /dev/zero) >/dev/null 2>&1 && { echo "a wrong key opens the file"; exit 1; }
echo "installed with $("$bin/python" --version): $(stat -c '%n %s bytes' "$root"/.build/wheel/*.whl | sed 's|.*/||')"
if [ -n "$all" ]; then
    "$bin/pip" install -q --disable-pip-version-check pytest
    # With the tools that some tests use, but outside of the checkout, and without a path to a library.
    env -i PATH="$bin:/usr/bin:/bin" HOME="$PWD" CREALM_TEST_INSTALLED=1 "$bin/python" -X dev -m pytest -q "$root/bindings/python/tests" -p no:cacheprovider
fi
