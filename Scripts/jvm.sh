#!/usr/bin/env bash
# Builds the JVM package into .build/jvm, or runs its tests.   jvm.sh build | test | jar | bench [N] | --tools
#
# --tools only says by its status whether JDK 17 or later and a C compiler are there. The Kotlin layer is built if
# KOTLIN names a folder with the jars of a Kotlin compiler, its standard library and the coroutines.
# The library is CREALM_LIBRARY, or .build/release/libCRealm.so. JVM_BUILD names another folder than .build/jvm.
set -eu
cd "$(dirname "$0")/.."
home=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac || echo /x/x/x)")")")}
version=$("$home/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p' || true)
if [ "${version:-0}" -lt 17 ] || [ ! -e "$home/include/jni.h" ] || ! command -v "${CC:-cc}" >/dev/null; then
    echo "skipped: JDK 17 or later with jni.h, or a C compiler, is not there"
    [ "${1-}" != --tools ] || exit 1
    exit 0
fi
[ "${1-}" != --tools ] || exit 0
library=$(readlink -f "${CREALM_LIBRARY:-.build/release/libCRealm.so}" || true)
[ -e "$library" ] || { echo "needed: the library (make lib), or CREALM_LIBRARY" >&2; exit 1; }
out=${JVM_BUILD:-$PWD/.build/jvm}
system=$(uname -s | tr A-Z a-z)
rm -rf "$out/classes" "$out/tests"
mkdir -p "$out/classes" "$out/native" "$out/tests"
"${CC:-cc}" -std=gnu11 -O2 -fPIC -shared -fvisibility=hidden -Wall -Wextra -Werror -I"$home/include" \
    -I"$home/include/$system" -o "$out/native/libcrealm_jni.so" bindings/jvm/src/*.c bindings/jvm/generated/*.c -ldl
"$home/bin/javac" --release 17 -Xlint:all -Werror -d "$out/classes" \
    $(find bindings/jvm/java bindings/jvm/generated -name '*.java')

# The Kotlin layer: jars of the compiler, joined by colons, in $kotlin; empty without one.
kotlin=
if [ -n "${KOTLIN-}" ]; then
    kotlin=$(find "$KOTLIN" -name '*.jar' | paste -sd:)
fi
kotlinc() { # folder, class path, files
    "$home/bin/java" -cp "$kotlin" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect -jvm-target 17 \
        -Werror -d "$1" -cp "$2:$kotlin" "${@:3}" 2>&1 | grep -v '^warning: unable to find kotlin' || true
}
if [ -n "$kotlin" ] && [ "${1-}" != test ]; then # the tests compile it together with theirs
    kotlinc "$out/classes" "$out/classes" bindings/jvm/kotlin/org/crealm/kotlin/*.kt
    [ -e "$out/classes/org/crealm/kotlin/Types.class" ] || { echo "the Kotlin layer does not compile" >&2; exit 1; }
fi
access=
[ "$version" -lt 22 ] || access=--enable-native-access=ALL-UNNAMED
run() { # further options, main class, arguments
    "$home/bin/java" $access -Dorg.crealm.native="$out/native" -Dorg.crealm.library="$library" \
        -cp "$out/tests:$out/classes${kotlin:+:$kotlin}" "$@"
}
case ${1-build} in
test) . bindings/jvm/test/run.sh ;;
jar) . bindings/jvm/jar.sh ;;
bench) . bindings/jvm/bench/run.sh ;;
*) echo "built: .build/jvm/classes and .build/jvm/native/libcrealm_jni.so${kotlin:+, with the Kotlin layer}" ;;
esac
