#!/usr/bin/env bash
# Makes and checks everything that a release needs, in .build/dist.   release-check.sh VERSION [--without-second-build]
#
# Checks: a clean tree, one version number everywhere, a complete ABI list, a section of the changelog; a tarball of the
# sources that builds without a network, in two folders, to identical bytes. Makes: the wheel, the Debian packages, the
# list of linked software (SPDX), and the digests of all files.
set -u
cd "$(dirname "$0")/.."
version=$1 second=${2:-} out=$PWD/.build/dist passed=0 failed=0
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
rm -rf "$out" && mkdir -p "$out"
log=$out/log && mkdir -p "$log"
check() { # check NAME COMMAND…
    local name=$1
    shift
    if "$@" >"$log/step" 2>&1; then
        passed=$((passed + 1)) && echo "  ok    $name"
    else
        failed=$((failed + 1)) && echo "  FAIL  $name" && tail -15 "$log/step" | sed 's/^/        /'
    fi
}
clean() { [ -z "$(git status --porcelain)" ] || { git status --short; false; }; }
one_version() {
    local found
    found=$(grep -h '^VERSION := ' Makefile | cut -d' ' -f3
        sed -n 's/^version = "\(.*\)"/\1/p' bindings/python/pyproject.toml
        sed -n 's/^__version__ = "\(.*\)"/\1/p' bindings/python/crealm/__init__.py)
    [ "$(echo "$found" | sort -u)" = "$version" ] || { echo "$found"; false; }
}
changelog() { # its section has a date and says something
    awk -v want="## $version" '
        index($0, want) == 1 { inside = 1; dated = $0 ~ /[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]/; next }
        /^## / { inside = 0 }
        inside && NF { lines++ }
        END {
            if (!dated) print "the section has no date"
            if (lines < 5) print "the section is empty"
            exit !(dated && lines >= 5)
        }' CHANGELOG.md
}
soname() { readelf -d .build/release/libCRealm.so | grep -q "libCRealm.so.${version%%.*}\]"; }
sources() {
    git archive --format=tar --prefix="crealm-$version/" HEAD | gzip -9n >"$out/crealm-$version.tar.gz"
}
# build PLACE: unpacks the tarball and builds there, without a network where the system allows that
build() {
    rm -rf "$1" && mkdir -p "$1"
    tar -xzf "$out/crealm-$version.tar.gz" -C "$1" --strip-components=1
    local alone=()
    unshare -rn true 2>/dev/null && alone=(unshare -rn)
    "${alone[@]}" "$1/Scripts/static_library.py" "$1/libCRealm-static.so"
}
same_bytes() { # the library for the wheel, and the shared one as it is installed
    local one=$out/one other=$out/other/place
    for place in "$one" "$other"; do
        Scripts/strip.sh "$place/.build/release/libCRealm.so" "$place/stripped.so" || return 1
    done
    cmp "$one/libCRealm-static.so" "$other/libCRealm-static.so" && cmp "$one/stripped.so" "$other/stripped.so"
}
sbom() {
    Scripts/sbom.py "$out/one/.build/release/libCRealm.so" "$version" >"$out/crealm-$version.spdx.json" &&
        Scripts/sbom.py "$out/one/libCRealm-static.so" "$version" --static >"$out/crealm-$version-wheel.spdx.json"
}
check "the tree is clean" clean
check "one version everywhere: $version" one_version
check "the changelog has a dated section" changelog
check "the list of the ABI has all that is exported" Scripts/abi_releases.py check .build/release/libCRealm.so --release
check "SONAME" soname
check "a tarball of the sources" sources
check "it builds without a network" build "$out/one"
if [ "$second" != --without-second-build ]; then
    check "it builds in another folder" build "$out/other/place"
    check "both builds have the same bytes" same_bytes
fi
check "what is linked (SPDX)" sbom
check "Debian packages" Scripts/deb.sh "$out/one/.build/release/libCRealm.so" "$version"
cp .build/deb/*.deb "$out" 2>/dev/null
check "wheel and sdist" Scripts/wheel.sh
cp .build/wheel/*.whl .build/wheel/*.tar.gz "$out" 2>/dev/null
rm -rf "$out/one" "$out/other"
(cd "$out" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum >SHA256SUMS)
cat "$out/SHA256SUMS"
rm -rf "$log"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
