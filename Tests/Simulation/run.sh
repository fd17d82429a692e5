#!/usr/bin/env bash
# Runs histories over a simulated disk: Tests/Simulation/run.sh LIBRARY [--long]. Prints 'N passed, M failed'.
#
# The short form takes seconds; `--long` is for before a release.
set -u
cd "$(dirname "$0")/../.."
library=$(realpath "$1") long=${2:-} passed=0 failed=0
out=.build/out/simulation
mkdir -p "$out"
# Compiling takes as long as a short run, so compile only after a change.
if [ ! -x "$out/simulate" ] || [ -n "$(find Tests/Simulation include -name '*.[ch]*' -newer "$out/simulate")" ]; then
    "${CXX:-c++}" -std=c++17 -g -O1 -Wall -Wextra -Werror -Iinclude Tests/Simulation/*.cpp -ldl -o "$out/simulate" || exit 1
fi
run() { # run NAME ARGUMENT...: a mode
    local name=$1
    shift
    if "$out/simulate" "$1" "$library" "${@:2}" >"$out/$name.log" 2>&1; then
        passed=$((passed + 1)) && echo "  ok    $name: $(tail -1 "$out/$name.log")"
    else
        failed=$((failed + 1)) && echo "  FAIL  $name" && tail -40 "$out/$name.log"
    fi
}
must_find() { # must_find NAME LIBRARY ARGUMENT...: a deliberate fault, found before 1,000 states
    local name=$1
    if "$out/simulate" "$3" "$2" "${@:4}" --states 1000 >"$out/$name.log" 2>&1 || ! grep -q '^FAIL .*: ' "$out/$name.log"; then
        failed=$((failed + 1)) && echo "  FAIL  $name: not found"
    else
        passed=$((passed + 1)) && echo "  ok    $name: found, $(tail -1 "$out/$name.log")"
    fi
}
fixtures=$(Scripts/fixtures.sh)
if [ "$long" = --long ]; then
    run crash-states crash-states --seeds 1-50 --commits 40 --jobs 2
    run crash-states-plain-names crash-states --seeds 1001-1010 --commits 20 --jobs 2 --plain-names
    run crash-states-shrinking crash-states --seeds 1-20 --commits 14 --jobs 2 --shrink 8192
    run histories histories --seeds 1-2500 --jobs 2
    run histories-shrinking histories --seeds 1-500 --jobs 2 --shrink 8192
    run nth nth --seeds 0-19 --jobs 2
    run crash-states-rules crash-states --rules --seeds 1-10 --commits 12 --jobs 2
    run crash-states-rules-shrinking crash-states --rules --seeds 11-14 --commits 12 --jobs 2 --shrink 8192
    run histories-rules histories --rules --seeds 1-500 --jobs 2
    run nth-rules nth --rules --seeds 0-20 --jobs 2
    [ ! -d "$fixtures/sdk" ] || run nth-upgrades nth --seeds 20-26 --forms plain --fixtures "$fixtures" --jobs 2
    # A copy of the sources with a planted fault: space is used again one commit too early.
    faulty=$out/faulty
    rm -rf "$faulty" && mkdir -p "$faulty/Tests"
    cp -r Package.swift Sources include Scripts "$faulty" && cp -r Tests/CoreEngine*Tests "$faulty/Tests"
    (cd "$faulty" && sed -i 's/let last = base.map .* ?? .max/let last = base ?? .max/' Sources/CoreEngine/Placement/FreeSpace.swift \
        && ! cmp -s Sources/CoreEngine/Placement/FreeSpace.swift ../../../../Sources/CoreEngine/Placement/FreeSpace.swift \
        && swift build --product CRealm --quiet) || exit 1
    must_find space-used-early "$(realpath "$faulty/.build/debug/libCRealm.so")" crash-states --seeds 1-9 --commits 30 --forms plain
else
    run crash-states crash-states --seeds 1-2 --commits 6 --jobs 2
    run histories histories --seeds 1-8 --jobs 2
    run nth nth --seeds 11-11 --jobs 2
    # Files with rules.
    run crash-states-rules crash-states --rules --seeds 1-1 --commits 1 --from 1 --jobs 2
    run histories-rules histories --rules --seeds 1-3 --jobs 2
    # Files that shrink: a cut behind the end of the version to which the header on the disk leads, and a file in which
    # nodes were moved back and forth without end.
    run crash-states-shrinking crash-states --seeds 3-3 --commits 6 --forms plain --shrink 8192
    run histories-shrinking histories --seeds 105-106 --jobs 2 --shrink 8192
    # The size of the file cannot be asked once, after another process has made the file longer.
    run nth-6 nth --seeds 6-6 --forms realm
    # A commit after a group, on a disk that still leads to the snapshot before the group.
    run crash-states-27 crash-states --seeds 27-27 --commits 34 --forms plain
    # Histories that failed once: a failed flush that drops a root record which other processes have not read yet, a
    # recovery that fails, a file size that cannot be read, a flush that fails while a process closes the file and
    # another one continues, a failed flush that cuts the file at its end of free space.
    for seed in 74 431 432 506 826 1422 1699 1983 14884; do run histories-$seed histories --seeds $seed-$seed; done
fi
must_find flush-lost "$library" crash-states --seeds 1-3 --commits 5 --from 2 --lose-flush 1
for rule in unique check counter index; do
    must_find "rule-broken-$rule" "$library" crash-states --rules --seeds 1-1 --forms plain --commits 2 --from 9 \
        --break-rule $rule
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
