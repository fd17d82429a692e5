#!/usr/bin/env bash
# Makes the pages of the Swift API with the toolchain's docc, in .build/docs/swift. Fails when a comment or an article
# has a broken link. Without docc it prints that and succeeds.
#
#   Scripts/swift-docs.sh [--tools]      --tools: only checks whether the tools are installed
set -eu
cd "$(dirname "$0")/.."
tools=$(dirname "$(readlink -f "$(command -v swiftc)")")
docc=$tools/docc
[ -x "$docc" ] || docc=$(command -v docc || true)
[ -n "$docc" ] && [ -x "$tools/swift-symbolgraph-extract" ] || { echo "no pages of the Swift API: this toolchain has no docc"; exit $([ "${1:-}" = --tools ] && echo 1 || echo 0); }
[ "${1:-}" != --tools ] || exit 0
build=.build/debug out=.build/docs/swift graphs=.build/docs/swift-symbols
swift build --quiet
rm -rf "$out" "$graphs" && mkdir -p "$graphs"
flags=(-I "$build/Modules")
for map in include Sources/CHints Sources/CSodium Sources/COpenSSL; do flags+=(-Xcc "-fmodule-map-file=$PWD/$map/module.modulemap"); done
flags+=(-Xcc "-fmodule-map-file=$PWD/$build/CGuards.build/module.modulemap")
target=$(swiftc -print-target-info | python3 -c 'import json, sys; print(json.load(sys.stdin)["target"]["triple"])')
for module in CoreEngine CoreEngineAsync CoreEngineFoundation; do
    "$tools/swift-symbolgraph-extract" -module-name "$module" -target "$target" "${flags[@]}" -minimum-access-level public -output-dir "$graphs"
done
# One set of pages: extensions in other modules are listed with the types they extend. Not every parameter needs a
# description.
log=.build/docs/swift.log
"$docc" convert Sources/CoreEngine/CoreEngine.docc --fallback-display-name CoreEngine --fallback-bundle-identifier org.crealm.CoreEngine \
    --additional-symbol-graph-dir "$graphs" --output-path "$out" >"$log" 2>&1 || { cat "$log"; exit 1; }
wrong=$(grep -A2 -E '^(warning|error):' "$log" | grep -vE '^--$' | paste - - - | grep -v 'is missing documentation' || true)
[ -z "$wrong" ] || { echo "$wrong"; exit 1; }
echo "$(find "$out/data" -name '*.json' | wc -l) pages: docc preview, or a web server in .build/docs/swift"
rm -rf "$graphs"
