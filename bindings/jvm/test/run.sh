# Compiles and runs the tests; Scripts/jvm.sh reads this file.
#
# The first run checks the use of JNI (-Xcheck:jni), with the JVM's library for handlers of signals, and fails for a
# warning. The second one has no such library: the database library passes on the faults of the JVM itself.
"$home/bin/javac" --release 17 -Xlint:all,-try -Werror -cp "$out/classes" -d "$out/tests" \
    $(find bindings/jvm/test bindings/jvm/conformance -name '*.java' 2>/dev/null)
log=$out/check.log
LD_PRELOAD="$home/lib/libjsig.so" run -Xcheck:jni org.crealm.test.Run ObjectsTest QueriesTest ListenersTest FilesTest \
    ThreadsTest HostileTest LifeTest ModelTest >"$log" 2>&1 || { cat "$log"; exit 1; }
grep -v '^Warning: SIG.*handler modified' "$log" || true
if grep -Eq 'WARNING in native method|FATAL ERROR in native method|WARNING: JNI' "$log"; then
    echo "-Xcheck:jni found faults" >&2
    exit 1
fi
run -ea org.crealm.conformance.Conformance "${CONFORMANCE:-Tests/Conformance}"
run -Xms128m -Xmx128m -XX:+AlwaysPreTouch org.crealm.test.Run MemoryTest ThreadsTest LifeTest

# The programs of docs/jvm.md, and what they print.
guide=$out/guide
rm -rf "$guide"
mkdir -p "$guide"
awk -v folder="$guide" '
    /^```java$/ { file = folder "/People.java"; name = "java"; next }
    /^```kotlin$/ { file = folder "/Guide.kt"; name = "kotlin"; next }
    /^```text$/ { file = folder "/" name ".txt"; next }
    /^```/ { file = ""; next }
    file { print > file }' docs/jvm.md

if [ -n "$kotlin" ]; then
    kotlinc "$out/tests" "$out/classes" bindings/jvm/kotlin/org/crealm/kotlin/*.kt bindings/jvm/test/KotlinTest.kt \
        "$guide/Guide.kt"
    run org.crealm.test.KotlinTestKt
else
    echo "skipped: the Kotlin layer (KOTLIN names no folder with a compiler)"
fi

"$home/bin/javac" --release 17 -cp "$out/classes" -d "$guide" "$guide/People.java"
guide() { # class path, main class, expected output
    (cd "$guide" && rm -f people.realm* && "$home/bin/java" $access -Dorg.crealm.native="$out/native" \
        -Dorg.crealm.library="$library" -cp "$guide:$1" "$2" >found.txt && diff "$3" found.txt)
}
guide "$out/classes" People java.txt
if [ -n "$kotlin" ]; then
    guide "$out/tests:$out/classes:$kotlin" GuideKt kotlin.txt
fi
echo "the programs of docs/jvm.md: all print what the guide says"
