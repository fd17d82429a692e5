#!/usr/bin/env bash
# All tests. Each part prints its own summary; the run fails when a part fails.
set -u
cd "$(dirname "$0")/.."
python=python3
[ -x .build/venv/bin/python ] && python=.build/venv/bin/python
# What is not there is said at the end, once.
skipped=$(Scripts/fixtures.sh 2>&1 >/dev/null)
CREALM_FIXTURES=$(Scripts/fixtures.sh 2>/dev/null)
export CREALM_FIXTURES
passed=0 failed=0
part() {
    local name=$1 start=$SECONDS
    shift
    echo "== $name"
    if "$@"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "== $name FAILED"
    fi
    echo "== $name: $((SECONDS - start)) s"
}
emitted=$(find .build -path '*release*' -name CRealm-Swift.h | head -1)
part "structure" Scripts/tidy.sh
part "header against exports" Scripts/check-abi.sh .build/release/libCRealm.so $emitted
part "promises of the last release" Scripts/abi_releases.py check .build/release/libCRealm.so
if command -v doxygen >/dev/null; then part "documents of the C API" Scripts/docs.sh; else skipped+=${skipped:+$'\n'}"skipped: documents of the C API (doxygen is not there)"; fi
part "the ABI check itself" Scripts/test_abi_check.sh
part "C programs" Scripts/run-c-tests.sh
part "installed" Scripts/test-install.sh .build/release/libCRealm.so "$(sed -n 's/^VERSION := //p' Makefile)"
part "programs of the README" "$python" Scripts/test_readme.py .build/release
part "files of other engines" Scripts/run-fixture-tests.sh
part "histories against a model" "$python" Tests/Model/run.py .build/release/libCRealm.so --nested --seeds "${MODEL_SEEDS:-1-30}"
part "schemas and migrations (short)" "$python" Tests/Schema/run.py .build/release/libCRealm.so --seeds "${SCHEMA_SEEDS:-1-300}" --seconds 12
part "Python" "$python" -m pytest -q bindings/python/tests
part "mutated files (short)" env KEEP_LIBRARY=.build/release/libCRealm.so Tests/Fuzz/run.sh "$CREALM_FIXTURES" "${FUZZ_COUNT:-600}" 7000000
part "encrypted files (short)" Scripts/run-encryption-tests.sh
part "monkey (short)" "$python" Tests/Monkey/run.py .build/release/libCRealm.so --seeds "${MONKEY_SEEDS:-1-300}" --check-every 3
part "change callbacks (short)" "$python" Tests/Notifications/run.py --library .build/release/libCRealm.so --seeds 6
part "queries against a slow evaluator (short)" "$python" Tests/Query/slow_run.py .build/release/libCRealm.so --count 1500 --own 1 --objects 150 --refreshes 5
part "living processes (short)" "$python" Tests/Live/run.py .build/release --seconds "${LIVE_SECONDS:-6}"
part "killed writers (short)" "$python" Tests/Crash/run.py .build/release/libCRealm.so --seconds "${CRASH_SECONDS:-6}" --kills 6
if "$python" -c 'import cryptography' 2>/dev/null; then
    for cipher in xchacha realm; do
        part "killed writers, $cipher (short)" "$python" Tests/Crash/run.py .build/release/libCRealm.so --seconds "${CRASH_SECONDS:-2}" --kills 5 --cipher $cipher
    done
fi
part "killed writers under several names (short)" Tests/Crash/storm.sh .build/release/libCRealm.so 15
part "simulated machines (short)" Tests/Simulation/run.sh .build/release/libCRealm.so
part "the check of the rooms itself" "$python" Scripts/test_rooms.py
part "engine" swift test --quiet
# From what the debug build of the engine's tests left.
part "rooms" Scripts/rooms --check
[ -z "$skipped" ] || echo "$skipped"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
