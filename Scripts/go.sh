#!/usr/bin/env bash
# Builds the package in bindings/go, or runs its tests with the race detector.   go.sh build | test | --tools
#
# --tools only says by its status whether Go is there, 1.23 or later. Nothing is fetched: the package depends on no others.
set -eu
cd "$(dirname "$0")/.."
export GOPROXY=off GOTOOLCHAIN=local GOFLAGS=-mod=mod
if ! go version 2>/dev/null | grep -Eq 'go(1\.(2[3-9]|[3-9][0-9])|[2-9])'; then
    echo "skipped: Go (go 1.23 or later is not there)"
    [ "${1-}" != --tools ] || exit 1
    exit 0
fi
[ "${1-}" != --tools ] || exit 0
library="${CREALM_LIBRARY:-$PWD/.build/release/libCRealm.so}"
folder=$(cd "$(dirname "$library")" && pwd)
export CGO_ENABLED=1 CGO_CFLAGS="${CGO_CFLAGS:--O2}" CGO_LDFLAGS="-L$folder"
export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
cd bindings/go
unformatted=$(gofmt -l . 2>/dev/null || true)
[ -z "$unformatted" ] || { echo "not formatted: $unformatted" >&2; exit 1; }
go vet ./...
if [ "${1-}" != test ]; then
    go build ./...
    exit 0
fi
go test -count=1 -race -timeout 120s ./...
echo "Go: all tests passed"
