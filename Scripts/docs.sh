#!/usr/bin/env bash
# Makes HTML and man pages from the C headers, in .build/docs. Fails when doxygen warns, and when a function has no
# page.
set -eu
cd "$(dirname "$0")/.."
out=$PWD/.build/docs
rm -rf "$out"/{html,man,headers} && mkdir -p "$out/headers"
doxygen Scripts/doxygen.conf
# doxygen also makes pages for unions without a name: delete these.
rm -f "$out"/man/man3/@*
# The installed headers, without the one for tests.
cp include/{realm.h,crealm.h} "$out/headers"
python3 Scripts/abi_names.py names "$out/headers" | sort >"$out/declared"
rm -rf "$out/headers"
missing=$(comm -23 "$out/declared" <(find "$out/man/man3" -name '*.3' -printf '%f\n' | sed 's/\.3$//' | sort))
missing+=$(comm -23 "$out/declared" <(cat "$out"/html/group__*.html | grep -oE '>[a-z_0-9]+</a>' | sed 's/^>//; s/<.*//' | sort -u))
[ -z "$missing" ] || { echo "without a page:" && echo "$missing" && exit 1; }
echo "$(wc -l <"$out/declared") functions: .build/docs/html/index.html; man -M .build/docs/man realm_open"
rm "$out/declared"
