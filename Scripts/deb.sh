#!/usr/bin/env bash
# Makes Debian packages of the build in .build/deb: libcrealm0 (the library), libcrealm-dev (headers, pkg-config,
# CMake), and crealm (the command line and the Python package).   deb.sh LIBRARY.so VERSION [--try]
# --try: installs them in a fresh Debian without Swift (debootstrap, as root), and writes and reads a file there.
set -eu
cd "$(dirname "$0")/.."
library=$1 version=$2 try=${3:-}
architecture=$(dpkg --print-architecture) triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
out=$PWD/.build/deb
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH
rm -rf "$out" && mkdir -p "$out"

# The Debian packages of the shared libraries that a file needs, each with the first two numbers of its version as the
# minimum.
depends() {
    ldd "$1" | awk '$3 ~ /^\// { print $3 }' | while read -r path; do
        dpkg -S "$(realpath "$path")" 2>/dev/null || dpkg -S "*/$(basename "$(realpath "$path")")"
    done | cut -d: -f1 | sort -u | while read -r name; do
        dpkg-query -W -f '${Package} (>= ${Version}), ' "$name" | sed -E 's/\(>= ([0-9]+\.[0-9]+)[^)]*\)/(>= \1)/'
    done | sed 's/, $//'
}

# control PACKAGE ARCHITECTURE DEPENDS SECTION SUMMARY
control() {
    mkdir -p "$out/$1/DEBIAN" "$out/$1/usr/share/doc/$1"
    cp LICENSE "$out/$1/usr/share/doc/$1/copyright"
    cat >"$out/$1/DEBIAN/control" <<CONTROL
Package: $1
Version: $version
Architecture: $2
Maintainer: The CRealm developers <crealm@example.org>
Depends: $3
Section: $4
Priority: optional
Description: $5
 CRealm reads and writes .realm files: an embedded object database with
 snapshots, change notifications and encryption, which programs in several
 languages use at the same time.
CONTROL
}

stripped=$out/libCRealm.so.$version
Scripts/strip.sh "$library" "$stripped"
soname=$(readelf -d "$stripped" | sed -n 's/.*SONAME.*\[\(.*\)\].*/\1/p')

control libcrealm0 "$architecture" "$(depends "$library")" libs "Realm database behind its C API (library)"
lib=$out/libcrealm0/usr/lib/$triplet
mkdir -p "$lib"
install -m 644 "$stripped" "$lib/libCRealm.so.$version"
ln -s "libCRealm.so.$version" "$lib/$soname"
echo "libCRealm ${soname##*.} libcrealm0 (>= $version)" >"$out/libcrealm0/DEBIAN/shlibs"
echo "activate-noawait ldconfig" >"$out/libcrealm0/DEBIAN/triggers"

control libcrealm-dev "$architecture" "libcrealm0 (= $version)" libdevel \
    "Realm database behind its C API (development files)"
Scripts/install.sh "$library" "$version" /usr "$out/installed" >/dev/null
dev=$out/libcrealm-dev/usr
mkdir -p "$dev/lib/$triplet" "$dev/include"
cp "$out"/installed/usr/include/*.h "$dev/include"
cp -r "$out/installed/usr/lib/pkgconfig" "$out/installed/usr/lib/cmake" "$dev/lib/$triplet"
sed -i "s|libdir=.*|libdir=\${prefix}/lib/$triplet|" "$dev/lib/$triplet/pkgconfig/crealm.pc"
# The CMake folder is one level deeper than the one of `make install`.
sed -i -e "s|\${CMAKE_CURRENT_LIST_DIR}/../../..\"|\${CMAKE_CURRENT_LIST_DIR}/../../../..\"|" \
    -e "s|/lib/libCRealm|/lib/$triplet/libCRealm|" \
    "$dev/lib/$triplet/cmake/CRealm/CRealmConfig.cmake"
ln -s "$soname" "$dev/lib/$triplet/libCRealm.so"

control crealm all "libcrealm0 (>= $version), python3 (>= 3.10)" database \
    "command line and Python package for Realm database files"
python=$out/crealm/usr/lib/python3/dist-packages
mkdir -p "$python" "$out/crealm/usr/bin" "$out/crealm/usr/share/man/man1" \
    "$out/crealm/usr/share/bash-completion/completions" \
    "$out/crealm/usr/share/zsh/vendor-completions" "$out/crealm/usr/share/fish/vendor_completions.d"
(cd bindings/python && find crealm -type f -not -path '*/__pycache__/*' -not -path '*/_lib/*' \
    -exec install -D -m 644 {} "$python/{}" \;)
printf '#!/usr/bin/python3\nimport sys\n\nfrom crealm.cli import main\n\nsys.exit(main())\n' \
    >"$out/crealm/usr/bin/crealm"
chmod 755 "$out/crealm/usr/bin/crealm"
gzip -9n <bindings/python/share/man/crealm.1 >"$out/crealm/usr/share/man/man1/crealm.1.gz"
install -m 644 bindings/python/share/bash/crealm "$out/crealm/usr/share/bash-completion/completions/crealm"
install -m 644 bindings/python/share/zsh/_crealm "$out/crealm/usr/share/zsh/vendor-completions/_crealm"
install -m 644 bindings/python/share/fish/crealm.fish "$out/crealm/usr/share/fish/vendor_completions.d/crealm.fish"

for package in libcrealm0 libcrealm-dev crealm; do
    find "$out/$package" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group --build "$out/$package" "$out" >/dev/null
    rm -rf "${out:?}/$package"
done
rm -rf "$out/installed" "$stripped"
stat -c '%n: %s bytes' "$out"/*.deb | sed "s|$out/||"
[ "$try" = --try ] || exit 0

# A Debian in which Swift was never installed.
command -v debootstrap >/dev/null || apt-get install -y -qq debootstrap >/dev/null
root=$(mktemp -d)
trap 'umount "$root/proc" 2>/dev/null; rm -rf "$root"' EXIT
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
debootstrap --variant=minbase --include=python3,gcc,libc6-dev,pkg-config "$release" "$root" >"$out/debootstrap.log"
cp "$out"/*.deb "$root/tmp"
cp examples/c/people.c "$root/tmp"
mount -t proc proc "$root/proc" 2>/dev/null || true
chroot "$root" env DEBIAN_FRONTEND=noninteractive \
    sh -c 'apt-get install -y -qq --no-install-recommends /tmp/*.deb' >"$out/install.log" 2>&1
chroot "$root" sh -eu -c '
    ! command -v swift
    crealm --version
    cc /tmp/people.c $(pkg-config --cflags --libs crealm) -o /tmp/people
    /tmp/people /tmp/people.realm
    crealm show /tmp/people.realm | grep -q Ann
    crealm check /tmp/people.realm
'
echo "the packages work in a Debian without Swift"
