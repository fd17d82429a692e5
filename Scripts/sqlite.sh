#!/usr/bin/env bash
# Builds the SQLite extension, .build/sqlite/crealm_sqlite.so.   sqlite.sh [LIBRARY]
# LIBRARY: the built library, .build/release/libCRealm.so without it. Fails with one line if SQLite's header is absent.
set -eu
cd "$(dirname "$0")/.."
library=$(realpath "${1:-.build/release/libCRealm.so}")
out=.build/sqlite
if ! echo '#include <sqlite3ext.h>' | "${CC:-cc}" -E -x c - >/dev/null 2>&1; then
    echo "skipped: SQLite extension (sqlite3ext.h is not there: install libsqlite3-dev)"
    exit 3
fi
mkdir -p $out
# The name that the loader looks for.
soname=$(readelf -d "$library" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
ln -sfn "$library" "$out/${soname:-libCRealm.so.0}"
flags=(-std=gnu11 -O2 -g -Wall -Wextra -Werror -fPIC -fvisibility=hidden -Iinclude)
"${CC:-cc}" "${flags[@]}" -shared bindings/sqlite/*.c -o $out/crealm_sqlite.so.new "$library" -lm \
    -Wl,-rpath,'$ORIGIN'
mv $out/crealm_sqlite.so.new $out/crealm_sqlite.so
