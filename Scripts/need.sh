#!/usr/bin/env bash
# Makes sure that the given tools and libraries are installed. Installs them with the system's package manager when that
# is allowed; otherwise stops with one line that says what to install.   need.sh TOOL-OR-LIBRARY …
set -u
declare -A package=([cc]=gcc [python3]=python3 [sodium]=libsodium-dev [openssl]=libssl-dev [pkg-config]=pkg-config [sqlite]=libsqlite3-dev [make]=make)

have() {
    case $1 in
        sodium) [ -e /usr/include/sodium.h ] || pkg-config --exists libsodium 2>/dev/null ;;
        openssl) [ -e /usr/include/openssl/evp.h ] || pkg-config --exists libcrypto 2>/dev/null ;;
        sqlite) [ -e /usr/include/sqlite3.h ] || pkg-config --exists sqlite3 2>/dev/null ;;
        swift) command -v swift >/dev/null ;;
        pytest) python3 -c 'import pytest' 2>/dev/null ;;
        *) command -v "$1" >/dev/null ;;
    esac
}
missing=()
for what in "$@"; do
    have "$what" && continue
    case $what in
        swift) echo "needed: a Swift toolchain, 6.2 or later, on the PATH" >&2; exit 1 ;;
        pytest) ;;
        *) missing+=("${package[$what]:-$what}") ;;
    esac
done
if [ ${#missing[@]} -gt 0 ]; then
    run=()
    [ "$(id -u)" = 0 ] || run=(sudo -n)
    if command -v apt-get >/dev/null && { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }; then
        { "${run[@]}" apt-get install -y -qq "${missing[@]}" || { "${run[@]}" apt-get update -qq && "${run[@]}" apt-get install -y -qq "${missing[@]}"; }; } >/dev/null 2>&1 \
            || { echo "needed: ${missing[*]} (installing failed)" >&2; exit 1; }
    else
        echo "needed: ${missing[*]} (install with the system's package manager)" >&2
        exit 1
    fi
fi
for what in "$@"; do
    if [ "$what" = pytest ] && ! have pytest; then
        # A virtual environment in the build folder, so that the system does not change.
        if [ ! -x .build/venv/bin/pytest ]; then
            { python3 -m venv .build/venv && .build/venv/bin/pip install -q pytest; } >/dev/null 2>&1 \
                || { echo "needed: pytest (python3 -m pip install pytest)" >&2; exit 1; }
        fi
        # Requirements of the tests of `crealm browse`, which are skipped without them.
        [ -d .build/venv/lib/python3*/site-packages/starlette ] || .build/venv/bin/pip install -q starlette uvicorn httpx >/dev/null 2>&1 || true
    fi
done
exit 0
