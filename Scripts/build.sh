#!/usr/bin/env bash
# Builds the library.   build.sh [release|debug]
# Build products contain the path of their folder: in a checkout that was moved they are stale, and the compiler fails
# with many messages.
set -eu
cd "$(dirname "$0")/.."
configuration=${1:-release} plan=.build/${1:-release}.yaml
if [ -f "$plan" ]; then
    was=$(grep -om1 '"/[^"]*/\.build/' "$plan" | head -1 | sed 's|^"||; s|/\.build/$||')
    if [ -n "$was" ] && [ "$was" != "$PWD" ]; then
        echo "stale: .build was made in $was, and this checkout is now $PWD. Remove it (make clean) and build again." >&2
        exit 1
    fi
fi
swift build -c "$configuration" --product CRealm --quiet
ln -sf libCRealm.so ".build/$configuration/libCRealm.so.0"
mkdir -p .build/out
