#!/usr/bin/env bash
# Installs into an empty folder and builds the examples against it, with pkg-config and with CMake.   test-install.sh LIBRARY.so VERSION
set -u
cd "$(dirname "$0")/.."
library=$1 version=$2 out=$PWD/.build/out/installed passed=0 failed=0
rm -rf "$out" && mkdir -p "$out"
check() {
    local name=$1
    shift
    if "$@" >"$out/log" 2>&1; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "  FAIL  $name" && tail -15 "$out/log"; fi
}
prints() { "$1" "$2" | grep -q "$3"; }
check "install" Scripts/install.sh "$library" "$version" "$out/usr"
if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH=$out/usr/lib/pkgconfig
    flags=$(pkg-config --cflags --libs crealm 2>/dev/null)
    check "what it needs itself is named" grep -q '^Libs.private: -lsodium -lcrypto' "$out/usr/lib/pkgconfig/crealm.pc"
    # shellcheck disable=SC2086
    check "C, with pkg-config" "${CC:-cc}" examples/c/people.c $flags -Wl,-rpath,"$out/usr/lib" -o "$out/people"
    # shellcheck disable=SC2086
    check "C++, with pkg-config" "${CXX:-c++}" -std=c++17 -Wall -Wextra -Werror examples/c/people.cpp $flags -Wl,-rpath,"$out/usr/lib" -o "$out/people_cpp"
    # shellcheck disable=SC2086
    check "an event loop, with pkg-config" "${CC:-cc}" examples/c/watch.c $flags -Wl,-rpath,"$out/usr/lib" -o "$out/watch"
    check "C runs" prints "$out/people" "$out/c.realm" Ann
    hears() { # the loop prints what another program adds
        rm -f "$out/w.realm" "$out/heard" && mkfifo "$out/input" || return 1
        "$out/watch" "$out/w.realm" <"$out/input" >"$out/heard" & local watcher=$!
        exec 8>"$out/input"
        for _ in $(seq 1000); do [ -s "$out/heard" ] && break || sleep 0.05; done
        "$out/people" "$out/w.realm" >/dev/null
        for _ in $(seq 1000); do grep -q 'Person [1-9]' "$out/heard" && break || sleep 0.05; done
        exec 8>&-
        wait "$watcher" && grep -q 'Person [1-9]' "$out/heard"
    }
    check "an event loop hears of another program" hears
    check "C++ runs" prints "$out/people_cpp" "$out/cpp.realm" Ann
else
    echo "skipped: pkg-config is not there"
fi
if command -v cmake >/dev/null; then
    # After a move of the installed folder the CMake package still finds its files.
    mv "$out/usr" "$out/moved"
    check "cmake" cmake -S examples/c -B "$out/cmake" -DCMAKE_PREFIX_PATH="$out/moved"
    check "cmake --build" cmake --build "$out/cmake"
    check "C of CMake runs" prints "$out/cmake/people" "$out/c2.realm" Ann
    check "C++ of CMake runs" prints "$out/cmake/people_cpp" "$out/cpp2.realm" Ann
else
    echo "skipped: cmake is not there"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
