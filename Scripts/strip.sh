#!/usr/bin/env bash
# A library as it is released: without symbols, and without what differs from folder to folder.   strip.sh LIBRARY OUT
#
# .swift_modhash has hashes of the compiler's modules, which serve builds only, and the build id covers the debug
# information: both depend on the paths of the build. Without them two builds of one commit in two folders have the same bytes.
set -eu
strip -R .swift_modhash -R .note.gnu.build-id -o "$2" "$1"
