#!/usr/bin/env bash
# Builds the library and the fuzz drivers, opens damaged copies of the fixtures, and parses damaged queries.
#
#   Tests/Fuzz/run.sh [--sanitize] FIXTURES [COUNT [SEED]]
#
# COUNT rounds (20000; with --sanitize 1000 unless given) from seed SEED (the time) on, split over all processors.
# --sanitize uses a build with AddressSanitizer, in a separate build folder. Damaged files that made a round fail are
# kept in .build/fuzz/keep. KEEP_LIBRARY=PATH skips building and uses that library. QUERIES=N parses N damaged queries
# (ten times COUNT) from seed SEED on, in one process; 0: none. Exit status: 0 when every round passed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"

sanitize=
if [[ ${1-} == --sanitize ]]; then
    sanitize=1
    shift
fi
if [[ $# -lt 1 || $# -gt 3 ]]; then
    sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
fixtures=$1
count=${2:-$([[ $sanitize ]] && echo 1000 || echo 20000)}
seed=${3:-$(date +%s)000}
first=$seed
work=.build/fuzz
mkdir -p "$work/keep"
rm -f "$work"/log.*

cc -O1 -g -Wall -Wextra -Werror -Iinclude Tests/Fuzz/mutate.c -ldl -o "$work/mutate"
cc -O1 -g -Wall -Wextra -Werror -Iinclude Tests/Fuzz/queries.c -ldl -o "$work/queries"

preload=
if [[ $sanitize ]]; then
    library=.build/asan/release/libCRealm.so
    [[ ${KEEP_LIBRARY-} ]] ||
        swift build --scratch-path .build/asan -c release --sanitize=address --product CRealm
    # The library is linked without the sanitizer's runtime: preload the one of the toolchain.
    preload=$(clang -print-file-name="libclang_rt.asan-$(uname -m).so")
    [[ -f $preload ]] || preload=$(clang -print-runtime-dir)/libclang_rt.asan.so
    # No search for leaks: a child ends without cleaning up.
    export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:${ASAN_OPTIONS-}
    export MUTATE_SECONDS=${MUTATE_SECONDS:-60} MUTATE_VALUES=${MUTATE_VALUES:-20000} MUTATE_LARGE=0
else
    library=.build/release/libCRealm.so
    [[ ${KEEP_LIBRARY-} ]] || swift build -c release --product CRealm
fi
library=${KEEP_LIBRARY:-$library}

jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
(( jobs <= count )) || jobs=$count
pids=()
for (( job = 0; job < jobs; job++ )); do
    share=$(( count / jobs + (job < count % jobs) ))
    log=$work/log.$job
    LD_PRELOAD=$preload "$work/mutate" "$library" "$fixtures" "$share" "$seed" "$work/keep" >"$log" 2>&1 &
    pids+=($!)
    seed=$(( seed + share ))
done
status=0
for pid in "${pids[@]}"; do wait "$pid" || status=1; done
cat "$work"/log.[0-9]* | grep -v ' passed, ' || true
for (( job = 0; job < jobs; job++ )); do tail -n 1 "$work/log.$job"; done |
    awk '/ passed, / { passed += $1; failed += $3; n++ } END { print passed + 0 " passed, " failed + 0 " failed"; exit n == 0 }' || status=1

queries=${QUERIES:-$(( count * 10 ))}
if (( queries > 0 )); then
    for number in 1 2 3; do
        file=$fixtures/ops/full-$number
        python3 Tests/Query/generate.py --seed "$number" --count 3000 --data "$file.json"
    done >"$work/corpus.tsv"
    cat Tests/Fuzz/queries.txt >>"$work/corpus.tsv"
    cp "$fixtures/ops/full-1.realm" "$work/queries.realm"
    chmod u+w "$work/queries.realm"
    LD_PRELOAD=$preload "$work/queries" "$library" "$work/queries.realm" "$work/corpus.tsv" "$queries" "$first" || status=1
    LD_PRELOAD=$preload "$work/queries" "$library" "$work/queries.realm" --growth 65536 >"$work/growth" || status=1
    grep FAIL "$work/growth" || true
    echo "texts of growing length: $(tail -n 1 "$work/growth")"
fi
exit $status
