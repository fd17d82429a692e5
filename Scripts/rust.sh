#!/usr/bin/env bash
# Builds the crates of bindings/rust into .build/rust, or runs their tests.   rust.sh build | test | --tools
#
# --tools only says by its status whether cargo and rustc are there. Nothing is fetched: the crates depend on no others.
set -eu
cd "$(dirname "$0")/.."
if ! cargo --version >/dev/null 2>&1 || ! rustc --version >/dev/null 2>&1; then
    echo "skipped: Rust (cargo and rustc are not there)"
    [ "${1-}" != --tools ] || exit 1
    exit 0
fi
[ "${1-}" != --tools ] || exit 0
export CREALM_LIBRARY="${CREALM_LIBRARY:-$PWD/.build/release/libCRealm.so}"
export LD_LIBRARY_PATH="$(dirname "$CREALM_LIBRARY")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/.build/rust}" RUSTFLAGS="${RUSTFLAGS:--D warnings}"
python3 Scripts/bindings_rust.py --check
cd bindings/rust
if [ "${1-}" != test ]; then
    cargo build --offline --quiet --release
    exit 0
fi
# The programs of the guide make files in their current folder.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
triple=$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
export "CARGO_TARGET_${triple}_RUNNER=env -C $folder"
cargo test --offline --quiet
echo "Rust: all tests passed"
