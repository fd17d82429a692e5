#!/usr/bin/env bash
# Tests files that other engines wrote, and recorded histories, which must produce the same file as in realm-core.
# Prints 'N passed, M failed'.
#
#   Scripts/run-fixture-tests.sh [LIBRARY.so]
#
# The histories are in Tests/Fixtures; files of the SDKs are read if they are found (Scripts/fixtures.sh).
set -u
cd "$(dirname "$0")/.."
fixtures=$(Scripts/fixtures.sh) tools=Tests/Tools
lib=$(realpath "${1:-.build/release/libCRealm.so}")
out=.build/out/fixtures
rm -rf "$out" && mkdir -p "$out"
out=$(cd "$out" && pwd)
for t in dump ops; do "${CC:-cc}" -O2 -w -Iinclude "$tools/$t.c" -ldl -o "$out/$t" || exit 1; done
passed=0 failed=0
check() {
    local name=$1
    shift
    if "$@" >"$out/log" 2>&1; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "  FAIL  $name" && tail -5 "$out/log"
    fi
}
same() { # the dump of a file equals the expected JSON; reading read-only does not change the file
    local expected=$1 file=$2 before
    before=$(md5sum <"$file")
    "$out/dump" "$lib" "$file" "${@:3}" >"$out/got.json" && cmp "$out/got.json" "$expected" || return 1
    [[ " ${*:3} " != *" --readonly "* ]] || [ "$before" = "$(md5sum <"$file")" ]
}
objects() { python3 - "$1" "$2" <<'P'
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:3])
assert a["schema_version"] == b["schema_version"] and a["classes"].keys() == b["classes"].keys()
for name, c in b["classes"].items():
    assert a["classes"][name].get("objects") == c.get("objects"), name
    strip = lambda ps: [p[:4] for p in ps]
    assert strip(a["classes"][name]["properties"]) == strip(c["properties"]), name
P
}
refused() { # opening for writing fails with a number, file untouched
    local number=$1 file=$2 before
    before=$(md5sum <"$file")
    "$out/dump" "$lib" "$file" "${@:3}" 2>"$out/err" >/dev/null && return 1
    cat "$out/err"
    grep -q "error $number" "$out/err" && [ "$before" = "$(md5sum <"$file")" ]
}
for realm in "$fixtures"/ops/*.realm "$fixtures"/sdk/*.realm; do
    [ -f "$realm" ] || continue
    name=$(basename "$realm" .realm) json=${realm%.realm}.json
    [ -f "$json.gz" ] && gunzip -c "$json.gz" >"$out/$name.json" && json=$out/$name.json
    rm -rf "$out/w" && mkdir "$out/w" && cp "$realm" "$out/w/f.realm"
    case $name in
        *encrypted*)
            check "$name is refused without its key" refused 1021 "$out/w/f.realm"
            head -c 64 /dev/zero >"$out/zero.key"
            check "$name is refused with another key" refused 1021 "$out/w/f.realm" --key "$out/zero.key"
            case $name in
                f09-*) check "$name opens with its key" "$out/dump" "$lib" "$out/w/f.realm" --key "${realm%.realm}.key" ;;
                f10-*)
                    "$out/dump" "$lib" "$out/w/f.realm" --key "${realm%.realm}.key" --readonly >"$out/ro.json" 2>"$out/err" || cat "$out/err"
                    check "$name read-only" objects "$out/ro.json" "$json"
                    check "$name upgraded" same "$json" "$out/w/f.realm" --key "${realm%.realm}.key"
                    check "$name is backed up" cmp "$realm" "$out/w/f.v10.backup.realm" ;;
                *)
                    check "$name read-only" same "$json" "$out/w/f.realm" --key "${realm%.realm}.key" --readonly
                    check "$name leaves no file" test "$(ls -A "$out/w")" = f.realm
                    check "$name read-write" same "$json" "$out/w/f.realm" --key "${realm%.realm}.key" ;;
            esac ;;
        *sync-client*) check "$name is refused for writing" refused 1023 "$out/w/f.realm" ;;
        f24-* | deep-* | full-* | nested-* | scalar-*)
            check "$name read-only" same "$json" "$out/w/f.realm" --readonly
            check "$name leaves no file" test "$(ls -A "$out/w")" = f.realm
            check "$name read-write" same "$json" "$out/w/f.realm" ;;
        *)
            "$out/dump" "$lib" "$out/w/f.realm" --readonly >"$out/ro.json" 2>"$out/err" || cat "$out/err"
            check "$name read-only" objects "$out/ro.json" "$json"
            check "$name leaves no file" test "$(ls -A "$out/w")" = f.realm
            check "$name upgraded" same "$json" "$out/w/f.realm"
            old=$((10#${name:1:2}))
            check "$name is backed up" cmp "$realm" "$out/w/f.v$old.backup.realm"
            cp "$out/w/f.realm" "$out/upgraded-$name.realm" ;;
    esac
done
if [ -d "$fixtures/old" ]; then check "files of formats 2 to 9" python3 Tests/OldFormats/run.py "$lib" --files "$fixtures/old"; fi
for seed in 1 2 3; do
    f=$out/s$seed.realm
    check "history $seed" "$out/ops" "$lib" "$f" $seed 40 40 --scalar --reopen 10
    check "history $seed equals realm-core's" same "$fixtures/ops/scalar-$seed.json" "$f" --readonly
done
check "deep history" "$out/ops" "$lib" "$out/deep.realm" 9 12 4000 --big --scalar
check "deep history equals realm-core's" same "$out/deep-scalar.json" "$out/deep.realm" --readonly
for seed in $(seq 1 "${SEEDS:-25}"); do check "history $seed runs" "$out/ops" "$lib" "$out/r$seed.realm" "$seed" 40 40 --scalar --reopen 10; done
# The same history in either encrypted form gives the same data as in a plain file.
key=$fixtures/ops/encrypted.key
for seed in 1 2 3; do
    for form in "" --realm-cipher; do
        rm -f "$out"/e.realm*
        check "encrypted history $seed $form" "$out/ops" "$lib" "$out/e.realm" $seed 40 40 --scalar --reopen 10 --key "$key" $form
        check "encrypted history $seed $form equals the plain one" same "$fixtures/ops/scalar-$seed.json" "$out/e.realm" --key "$key" --readonly
    done
done
rm -f "$out"/e.realm*
tiled() { # the nodes that realm_node.py names and the free chunks are the whole file
    python3 - "$tools" "$1" <<'P'
import subprocess, sys
sys.path.insert(0, sys.argv[1])
import realm_data_check
top = realm_data_check.RealmFile(sys.argv[2]).group
found = subprocess.run([sys.executable, sys.argv[1] + "/realm_node.py", "--all", sys.argv[2]], capture_output=True, text=True, check=True)
used = sum(int(line.split("\t")[1]) for line in found.stdout.splitlines())
free = sum(top.f.node(top.child(4)).values())
assert 24 + used + free == top.tagged(2), (used, free, top.tagged(2))
assert all(owner in found.stdout for owner in ("class_All', rows, object", "indexes: of property", "history", "free lengths"))
P
}
check "every node has an owner" tiled "$out/s1.realm"
check "storage of all files" python3 "$tools/realm_storage_check.py" "$out"/*.realm
for f in "$out"/*.realm; do check "data of $(basename "$f")" python3 "$tools/realm_data_check.py" --check "$f"; done
rm -f "$out"/*.realm*
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
