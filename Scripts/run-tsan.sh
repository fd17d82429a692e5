#!/usr/bin/env bash
# Builds the library with ThreadSanitizer and runs the thread tests with it. Fails when it reports anything that tsan.supp does not explain.
#
#   Scripts/run-tsan.sh [CALLS [ROUNDS]]        calls on wrong threads (400000), realms closed by another thread (400)
set -eu
cd "$(dirname "$0")/.."
build=.build-tsan/release
swift build -c release --sanitize=thread --scratch-path .build-tsan --product CRealm --quiet
ln -sf libCRealm.so "$build/libCRealm.so.1"
# The sanitizer's runtime must be that of the compiler which built the library; it wants libdispatch.
tools=$(dirname "$(readlink -f "$(command -v swiftc)")")
runtime=$tools/../lib/swift/linux
for name in threads frozen; do
    "$tools/clang" -std=gnu11 -O1 -g -fsanitize=thread -Iinclude "Tests/C/${name}_test.c" -o "$build/${name}_test" -L"$build" -lCRealm \
        -Wl,-rpath,"$PWD/$build" -L"$runtime" -ldispatch -lBlocksRuntime -Wl,-rpath,"$runtime" -lpthread
done
export TSAN_OPTIONS="suppressions=$PWD/Scripts/tsan.supp exitcode=66"
"$build/threads_test" none "${1:-400000}" "${2:-400}"
"$build/frozen_test" none 6
