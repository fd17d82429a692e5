#!/usr/bin/env bash
# Prints the folder with the files that tests read: `ops`, the histories in Tests/Fixtures; and, if they are found,
# `sdk` and `old`, files that Realm's SDKs wrote, which are not part of this repository. They are searched in
# $CREALM_FIXTURES, then in ../shared/fixtures. Missing ones are named in one line on standard error. CREALM_FIXTURES
# may also name a folder that has everything.
set -eu
cd "$(dirname "$0")/.."
if [ -d "${CREALM_FIXTURES:-}/ops" ]; then
    folder=$(cd "$CREALM_FIXTURES" && pwd)
else
    folder=$PWD/.build/out/all-fixtures
    rm -rf "$folder.$$" && mkdir -p "$folder.$$"
    ln -s "$PWD/Tests/Fixtures/ops" "$folder.$$/ops"
    for place in "${CREALM_FIXTURES:-}" ../shared/fixtures; do
        for part in sdk old; do
            [ -n "$place" ] && [ -d "$place/$part" ] && [ ! -e "$folder.$$/$part" ] && ln -s "$(cd "$place/$part" && pwd)" "$folder.$$/$part"
        done
    done
    # Another process may do the same at this moment: a folder with the same links may stay.
    if [ "$(cd "$folder" 2>/dev/null && readlink ./*)" = "$(cd "$folder.$$" && readlink ./*)" ]; then
        rm -rf "$folder.$$"
    else
        rm -rf "$folder" && mv -T "$folder.$$" "$folder" 2>/dev/null || rm -rf "$folder.$$"
    fi
    [ -d "$folder/sdk" ] || echo "skipped: files of Realm's SDKs (no folder sdk in CREALM_FIXTURES or ../shared/fixtures)" >&2
fi
echo "$folder"
