#!/usr/bin/env bash
# Builds the library with a sanitizer and runs with it the tests of threads, notifications, asynchronous writes and
# frozen realms, a Swift program whose Realms are closed by other threads, and RealmSwift's tests of misuse and of
# synchronisation. Fails when the sanitizer reports anything that tsan.supp does not list.
#
#   Scripts/run-sanitizer.sh thread|address|none [CALLS [ROUNDS]]     calls on wrong threads (400000), realms closed by another thread (400)
#
# "none" runs the same tests without a sanitizer, on the library as it is shipped.
set -eu
cd "$(dirname "$0")/.."
sanitizer=$1 calls=${2:-400000} rounds=${3:-400}
scratch=.build-${sanitizer:0:1}san sanitize=("--sanitize=$sanitizer") compiled=("-fsanitize=$sanitizer")
if [ "$sanitizer" = none ]; then scratch=.build sanitize=() compiled=(); fi
build=$scratch/release
swift build -c release "${sanitize[@]}" --scratch-path "$scratch" --product CRealm --quiet
ln -sf libCRealm.so "$build/libCRealm.so.0"
# The sanitizer's runtime must be that of the compiler which built the library; ThreadSanitizer's runtime needs
# libdispatch.
tools=$(dirname "$(readlink -f "$(command -v swiftc)")")
runtime=$tools/../lib/swift/linux
flags=(-std=gnu11 -O1 -g "${compiled[@]}" -Iinclude)
link=(-L"$build" -lCRealm "-Wl,-rpath,$PWD/$build" -lpthread)
if [ "$sanitizer" = thread ]; then link+=(-L"$runtime" -ldispatch -lBlocksRuntime "-Wl,-rpath,$runtime"); fi
# Forked children open files again and start threads.
export TSAN_OPTIONS="suppressions=$PWD/Scripts/tsan.supp die_after_fork=0 exitcode=66"
# Lost pages cause signals, which the library handles. Memory that is not freed at the end of a program is no fault: it
# belongs to globals of the Swift runtime.
export ASAN_OPTIONS="allow_user_segv_handler=1 handle_segv=0 handle_sigbus=0 detect_leaks=0 exitcode=66"
passed=0 failed=0
run() { # run NAME ARGUMENT...
    local name=$1 program=$build/$1_test log=$build/$1.log
    shift
    # The linker warns about symbols of the sanitizer that it does not export.
    if "$tools/clang" "${flags[@]}" "Tests/C/${name}_test.c" -o "$program" "${link[@]}" >"$log" 2>&1 && "$program" "$@" >"$log" 2>&1; then
        passed=$((passed + 1)) && echo "  ok    $name  $(tail -1 "$log")"
    else
        failed=$((failed + 1)) && echo "  FAIL  $name"
        grep -A25 -m3 -E 'WARNING: ThreadSanitizer|ERROR: AddressSanitizer|FAIL|error:' "$log" || tail -25 "$log"
    fi
}
run threads none "$calls" "$rounds"
run frozen none 6
run notifications
run async
COMMITS=100 run watch

# The engine's Swift API: a program of Tests/Swift, linked with the objects of the library.
modules=()
for map in include Sources/CHints Sources/CSodium Sources/COpenSSL; do modules+=(-Xcc "-fmodule-map-file=$PWD/$map/module.modulemap"); done
objects=("$build"/CGuards.build/*.o)
# The build folder may still have objects of deleted source files: skip them.
while read -r file; do objects+=("$build/CoreEngine.build/$(basename "$file").o"); done < <(find Sources/CoreEngine -name '*.swift')
swift_program() { # swift_program NAME ARGUMENT...
    local name=$1 program=$build/$1 log=$build/$1.log
    shift
    if swiftc -swift-version 6 -O -g "${sanitize[@]/#--/-}" -I "$build/Modules" "${modules[@]}" -Xcc "-fmodule-map-file=$build/CGuards.build/module.modulemap" \
        "Tests/Swift/$name.swift" "${objects[@]}" -lsodium -lcrypto -o "$program" >"$log" 2>&1 \
        && "$program" "$@" >"$log" 2>&1; then
        passed=$((passed + 1)) && echo "  ok    $name  $(tail -1 "$log")"
    else
        failed=$((failed + 1)) && echo "  FAIL  $name"
        grep -A25 -m3 -E 'WARNING: ThreadSanitizer|ERROR: AddressSanitizer|wrong:|error:' "$log" || tail -25 "$log"
    fi
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
swift_program closing "$folder" "$rounds"

# RealmSwift: the tests of misuse, actors, notifications, collections and synchronisation, unoptimised.
if [ "$sanitizer" != none ]; then
    log=$build/RealmSwift.log
    if swift test --disable-xctest "${sanitize[@]}" --scratch-path "$scratch" --filter 'RealmSwiftTests\.(Misuse|Actor|Notification|Collection|Object|Sync)Tests' \
        >"$log" 2>&1; then
        passed=$((passed + 1)) && echo "  ok    RealmSwift  $(grep -o 'Test run with.*' "$log")"
    else
        failed=$((failed + 1)) && echo "  FAIL  RealmSwift"
        grep -A25 -m3 -E 'WARNING: ThreadSanitizer|ERROR: AddressSanitizer|recorded an issue|error:' "$log" || tail -25 "$log"
    fi
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
