#!/usr/bin/env bash
# Builds the library and runs one test.   test-one.sh NAME [debug|release]
#
# NAME is one of these; every test of that name is run, and an unknown name is a failure:
# - a C program of Tests/C ("threads" or "threads_test");
# - a file ("test_reading") or a test function of bindings/python/tests, of its folder sql, or of Tests/Browse;
# - a file ("listeners", "listeners.test.mjs") or the text of a test of bindings/node/test;
# - a file ("TreesTests") or a test function of Tests/CoreEngineTests, Tests/CoreEngineAsyncTests or Tests/RealmSwiftTests;
# - the beginning of the name of a part of `make test` ("monkey", "killed writers"): this needs the release library.
set -eu
cd "$(dirname "$0")/.."
[ $# -ge 1 ] && [ -n "$1" ] || { echo "which test? make test-one T=name [CONFIG=release]" >&2; exit 2; }
name=$1 configuration=${2:-debug} lib=.build/${2:-debug} out=.build/out/one
base=${name%.*}
base=${base##*/}

c_test=Tests/C/${base%_test}_test.c
python_file=bindings/python/tests/$base.py
[ -f "$python_file" ] || python_file=bindings/python/tests/sql/$base.py
[ -f "$python_file" ] || python_file=Tests/Browse/$base.py
python_tests=(bindings/python/tests/test_*.py bindings/python/tests/sql/test_*.py Tests/Browse/test_*.py)
python_function=
[[ $base != test_* ]] || python_function=$(grep -lE "^ *def $base\(" "${python_tests[@]}" || true)
node_file=${name##*/}
node_file=bindings/node/test/${node_file%.test*}.test.mjs
node_test=
[[ $name != *" "* ]] || node_test=$(grep -lF -e "test('$name'" -e "test(\"$name\"" -e "test(\`$name\`" bindings/node/test/*.test.mjs || true)
swift_file=$(ls Tests/*Tests/"$base".swift 2>/dev/null | head -1)
part=$(python3 Scripts/run-tests.py --parts "$name")
# The test functions of the Swift file with this name, or the function with this name.
swift_functions() { grep -hE -A1 '@Test' "$1" | grep -oE 'func [A-Za-z0-9_]+' | sed 's/func //' | sort -u; }
swift=()
if [ -f "$swift_file" ]; then
    mapfile -t swift < <(swift_functions "$swift_file")
else
    for file in Tests/*Tests/*Tests.swift; do
        if swift_functions "$file" | grep -qx "$base"; then swift=("$base"); fi
    done
fi
[ -f "$c_test" ] || [ -f "$python_file" ] || [ -n "$python_function" ] || [ -f "$node_file" ] || [ -n "$node_test" ] ||
    [ ${#swift[@]} -gt 0 ] || [ -n "$part" ] || {
    echo "no C, Swift, Python or Node test is called '$name'. Alike:" >&2
    { ls Tests/C/*_test.c "${python_tests[@]}" bindings/node/test/*.test.mjs Tests/*Tests/*Tests.swift | sed 's|.*/||'
      grep -hoE '^def test_\w+' "${python_tests[@]}" | sed 's/def //'
      grep -hoE "^test\(['\"\`][^'\"\`]+" bindings/node/test/*.test.mjs | sed 's/^test(.//'
      for file in Tests/*Tests/*Tests.swift; do swift_functions "$file"; done
      python3 Scripts/run-tests.py --parts ''; } | grep -iF -- "${base:0:5}" | head -10 | sed 's/^/    /' >&2
    exit 1
}

mkdir -p "$out"
if [ -f "$c_test" ] || [ -f "$python_file" ] || [ -n "$python_function" ] || [ -f "$node_file" ] || [ -n "$node_test" ]; then
    Scripts/build.sh "$configuration"
    CREALM_FIXTURES=$(Scripts/fixtures.sh)
    export CREALM_LIBRARY=$PWD/$lib/libCRealm.so CREALM_FIXTURES CREALM_CHECKERS=$PWD/Tests/Tools PYTHONPATH=$PWD/bindings/python
    export PYTHONDONTWRITEBYTECODE=1 SWIFT_BACKTRACE=enable=no
fi
if [ -f "$c_test" ]; then
    "${CC:-cc}" -std=gnu11 -O1 -g -Wall -Wextra -Werror -Iinclude "$c_test" -o "$out/${base%_test}_test" -L"$lib" -lCRealm -Wl,-rpath,"$PWD/$lib" -lpthread
    "$out/${base%_test}_test" "$CREALM_FIXTURES"
fi
if [ -f "$python_file" ] || [ -n "$python_function" ]; then
    python=python3
    [ -x .build/venv/bin/python ] && python=.build/venv/bin/python
    if [ -f "$python_file" ]; then "$python" -m pytest -q "$python_file"; else "$python" -m pytest -q "${python_function%%$'\n'*}" -k "$base"; fi
fi
if [ -f "$node_file" ] || [ -n "$node_test" ]; then
    Scripts/node.sh build
    if [ -f "$node_file" ]; then
        node --test --test-reporter=spec "$node_file"
    else
        pattern=$(printf '%s' "$name" | sed 's|[][\.*^$(){}?+|/]|\\&|g')
        mapfile -t node_tests <<< "$node_test"
        node --test --test-reporter=spec --test-name-pattern "^$pattern\$" "${node_tests[@]}"
    fi
fi
if [ ${#swift[@]} -gt 0 ]; then
    pattern=$(IFS='|'; echo "${swift[*]}")
    swift test -c "$configuration" --filter "($pattern)\b"
fi
if [ -n "$part" ]; then
    Scripts/build.sh release
    python3 Scripts/run-tests.py --only "$name"
fi
