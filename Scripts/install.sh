#!/usr/bin/env bash
# Installs the library, its headers, and the files for pkg-config and CMake.   install.sh LIBRARY.so VERSION PREFIX
# [DESTDIR]
set -eu
library=$1 version=$2 prefix=$3 root=${4:-}$3
here=$(cd "$(dirname "$0")/.." && pwd)
fill() { sed -e "s|@PREFIX@|$prefix|; s|@VERSION@|$version|; s|@MAJOR@|${version%%.*}|g" "$here/bindings/c/$1"; }
install -d "$root/lib/pkgconfig" "$root/lib/cmake/CRealm" "$root/include"
install -m 755 "$library" "$root/lib/libCRealm.so.$version"
ln -sf "libCRealm.so.$version" "$root/lib/libCRealm.so.0"
ln -sf libCRealm.so.0 "$root/lib/libCRealm.so"
install -m 644 "$here"/include/{realm.h,crealm.h} "$root/include"
fill crealm.pc.in >"$root/lib/pkgconfig/crealm.pc"
fill CRealmConfigVersion.cmake.in >"$root/lib/cmake/CRealm/CRealmConfigVersion.cmake"
install -m 644 "$here/bindings/c/CRealmConfig.cmake" "$root/lib/cmake/CRealm"
