#!/usr/bin/env bash
# Tests encrypted files: an independent reader, damage, torn commits, several processes. `--long` before a release.
# Prints 'N passed, M failed'. Needs the Python package `cryptography`; prints that and passes when it is absent.
set -u
cd "$(dirname "$0")/.."
python=python3
[ -x .build/venv/bin/python ] && python=.build/venv/bin/python
if ! "$python" -c 'import cryptography' 2>/dev/null; then
    echo "!!! NO PACKAGE cryptography in $python: encrypted files were not tested !!!"
    echo "0 passed, 0 failed"
    exit 0
fi
lib=$PWD/.build/release/libCRealm.so passed=0 failed=0
run() {
    local out
    out=$("$python" "Tests/Encryption/$1.py" "$lib" "${@:2}" 2>&1)
    local status=$? last=${out##*$'\n'}
    if [ "${long:-}" ] || [ "$status" != 0 ]; then echo "$out"; else echo "$out" | grep -E '!!!' ; fi
    if [ "$status" = 0 ]; then passed=$((passed + 1)) && echo "  ok    $1: $last"; else failed=$((failed + 1)) && echo "  FAIL  $1"; fi
}
if [ "${1:-}" = --long ]; then
    long=1
    run compare --seeds 1-8 --big
    run damage --full
    for seed in 1 2 3; do run torn --commits 12 --seed $seed; done
    run together --versions 600 --size 400
else
    run compare --seeds 1-1
    run damage --step 997
    run torn --commits 2 --seed 3
    run together --versions 30 --size 100
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
