#!/usr/bin/env bash
# Builds the addon of bindings/node into .build/node, tests or packs it.   node.sh build | test | pack | --tools
#
# pack makes .build/node/crealm-VERSION.tgz for npm, with the addon, the library (CREALM_LIBRARY, else the built one)
# and the libraries that this one needs.
# --tools only says by its status whether Node and the headers of Node-API are there.
set -eu
cd "$(dirname "$0")/.."
include=
beside=$(dirname "$(dirname "$(command -v node || echo /x/x)")")/include/node
for folder in "${NODE_INCLUDE:-}" /usr/include/node "$beside"; do
    if [ -z "$include" ] && [ -n "$folder" ] && [ -e "$folder/node_api.h" ]; then include=$folder; fi
done
node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null || {
    echo "needed: node, 20 or later" >&2
    exit 1
}
[ -n "$include" ] || { echo "needed: node_api.h and uv.h (libnode-dev), or NODE_INCLUDE" >&2; exit 1; }
[ "${1-}" != --tools ] || exit 0
mkdir -p .build/node
"${CC:-cc}" -std=gnu11 -O2 -fPIC -shared -fvisibility=hidden -Wall -Wextra -Werror -I"$include" \
    -o .build/node/crealm.$$ bindings/node/src/*.c bindings/node/generated/*.c -ldl
mv .build/node/crealm.$$ .build/node/crealm.node
if [ "${1-}" = pack ]; then
    package=.build/node/package library=${CREALM_LIBRARY:-.build/release/libCRealm.so}
    folder=$package/prebuilds/$(node -p '`${process.platform}-${process.arch}`')
    rm -rf $package .build/node/*.tgz
    mkdir -p "$folder" $package/generated
    cp -r bindings/node/lib bindings/node/index.d.ts bindings/node/package.json LICENSE $package
    cp bindings/node/generated/constants.cjs $package/generated
    cp docs/node.md $package/README.md
    Scripts/strip.sh .build/node/crealm.node "$folder/crealm.node"
    Scripts/strip.sh "$library" "$folder/libCRealm.so"
    for needed in libsodium libcrypto; do
        from=$(ldd "$library" | sed -n "s/.*=> \(.*$needed[^ ]*\) .*/\1/p")
        [ -z "$from" ] || cp -L "$from" "$folder"
    done
    cd .build/node
    npm pack --silent ./package
    exit
fi
[ "${1-}" = test ] || exit 0
node --test --test-reporter=spec bindings/node/test/*.test.mjs
exec node Tests/Conformance/run.mjs
