#!/usr/bin/env bash
# Builds and runs every C test program, as C and, where a difference is possible, as C++. Prints 'N passed, M failed'.
set -u
cd "$(dirname "$0")/.."
lib=.build/release out=.build/out/c
mkdir -p "$out"
fixtures=$(Scripts/fixtures.sh)
export CREALM_CHECKERS=$PWD/Tests/Tools
passed=0 failed=0
run() {
    local name=$1
    shift
    if "$@" >"$out/$name.log" 2>&1; then
        passed=$((passed + 1)) && echo "  ok    $name  $(tail -1 "$out/$name.log")"
    else
        failed=$((failed + 1)) && echo "  FAIL  $name" && tail -25 "$out/$name.log"
    fi
}
flags=(-O1 -g -Wall -Wextra -Werror -Iinclude)
link=(-L"$lib" -lCRealm -Wl,-rpath,"$PWD/$lib" -lpthread)
for source in Tests/C/*_test.c; do
    name=$(basename "$source" .c)
    run "build-$name" "${CC:-cc}" -std=gnu11 "${flags[@]}" "$source" -o "$out/$name" "${link[@]}" && [ -x "$out/$name" ] && run "$name" "$out/$name" "$fixtures"
    run "c++-$name" "${CXX:-c++}" -std=c++17 -x c++ -fsyntax-only "${flags[@]}" "$source"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
