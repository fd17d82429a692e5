#!/usr/bin/env bash
# Checks the format of the Swift files with the toolchain's tool and .swift-format.   lint.sh [--changed] [--correct]
#
# --changed: only files that differ from the branch main, which takes a second or two. --correct: corrects the format
# where it can.
set -eu
cd "$(dirname "$0")/.."
changed= action=(lint --strict)
for option in "$@"; do
    case $option in
        --changed) changed=yes ;;
        --correct) action=(format --in-place) ;;
        *) sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
done
if [ -n "$changed" ]; then
    git rev-parse -q --verify main >/dev/null || { echo "no branch main to compare with"; exit 0; }
    mapfile -t files < <({ git diff --name-only --diff-filter=d "$(git merge-base main HEAD)" -- '*.swift'; git ls-files --others --exclude-standard -- '*.swift'; } | sort -u)
else
    mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.swift' | while read -r f; do [ -f "$f" ] && echo "$f"; done)
fi
[ ${#files[@]} -gt 0 ] || exit 0
swift format "${action[@]}" --parallel "${files[@]}"
