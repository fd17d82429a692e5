#!/usr/bin/env bash
# Eight writers of one file under four names, killed again and again: Tests/Crash/storm.sh LIBRARY [KILLS [SEED]]. Plain, then encrypted.
set -u
cd "$(dirname "$0")/../.."
library=$(realpath "$1") kills=${2:-2000} seed=${3:-$RANDOM} failed=0
out=.build/out/storm
mkdir -p "$out"
"${CC:-cc}" -O1 -g -Wall -Wextra -Werror -Iinclude Tests/Crash/storm.c -ldl -o "$out/storm" || exit 1
head -c 64 /dev/urandom >"$out/key"
for cipher in plain 0 2; do
    folder=$(mktemp -d)
    [ $cipher = plain ] || export LEDGER_KEY=$PWD/$out/key LEDGER_CIPHER=$cipher
    echo "seed $seed, $([ $cipher = plain ] && echo plain || echo "page cipher $cipher")"
    "$out/storm" "$library" "$folder" "$kills" "$seed" || failed=1
    rm -rf "$folder"
done
exit $failed
