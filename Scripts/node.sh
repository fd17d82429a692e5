#!/usr/bin/env bash
# Builds the addon of bindings/node into .build/node, or runs its tests.   node.sh build | test | --tools
#
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
    -o .build/node/crealm.node bindings/node/src/*.c bindings/node/generated/*.c -ldl
[ "${1-}" = test ] || exit 0
exec node --test --test-reporter=spec bindings/node/test/*.test.mjs
