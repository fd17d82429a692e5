#!/usr/bin/env bash
# Checks that the library exports what the public headers declare.
#
#   Scripts/check-abi.sh [--include DIR] LIBRARY.so [EMITTED-SWIFT-HEADER]
#
# 1. The dynamic symbols that the library defines are exactly the functions declared in realm.h,
#    crealm.h and crealm_testing.h.
# 2. With the C header that the Swift compiler emitted for the CRealm module (SwiftPM leaves it in
#    .build/<triple>/<configuration>/CRealm.build/include/CRealm-Swift.h): every function has the
#    signature that the header declares.
#
# Each difference is printed on its own line. Exit status: 0 no differences, 1 differences, 2 the check failed.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
include=$here/../include
if [[ ${1-} == --include && $# -ge 2 ]]; then
    include=$2
    shift 2
fi
if [[ $# -lt 1 || $# -gt 2 ]]; then
    sed -n '2,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
library=$1
emitted=${2-}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
names() { python3 "$here/abi_names.py" "$@" "$include"; }

if [[ ! -f $library ]]; then
    echo "check-abi: no such file: $library" >&2
    exit 2
fi
names names | sort -u >"$work/declared" || exit 2
# Lines of nm are "address type name", or "type name" for symbols without an address. Linkers leave local symbols in the
# dynamic table, which no program can bind to: --extern-only drops them.
nm -D --defined-only --extern-only "$library" | awk '{ sub(/@.*/, "", $NF); print $(NF - 1), $NF }' \
    | sort -u >"$work/defined" || exit 2
awk '$1 == "T" { print $2 }' "$work/defined" | sort -u >"$work/functions"

status=0
report() { # report TEXT: prints each name on standard input followed by the text
    while read -r name; do
        echo "$name $1"
        status=1
    done
}

# While loops that read from a pipe would lose `status`, hence the process substitutions.
report "is declared but not exported" < <(comm -23 "$work/declared" "$work/functions")
report "is exported but not declared" < <(comm -13 "$work/declared" "$work/functions")
report "is exported but is not a function" \
    < <(awk '$1 != "T" { print $2 " (" $1 ")" }' "$work/defined")

if [[ -n $emitted ]]; then
    compared=0
    python3 "$here/abi_names.py" compare "$include" "$emitted" || compared=$?
    if [[ $compared -gt 1 ]]; then
        exit 2
    elif [[ $compared -eq 1 ]]; then
        status=1
    fi
fi

if [[ $status -eq 0 ]]; then
    echo "check-abi: $(wc -l <"$work/declared") functions, no differences"
fi
exit "$status"
