# Runs the bench; Scripts/jvm.sh reads this file. SQLITE_JDBC names the jar of sqlite-jdbc.
jdbc=${SQLITE_JDBC:-$(ls /usr/share/java/sqlite-jdbc.jar 2>/dev/null || true)}
"$home/bin/javac" --release 17 -cp "$out/classes" -d "$out/tests" bindings/jvm/bench/org/crealm/bench/Bench.java
"$home/bin/java" -Djava.library.path=/usr/lib/jni:/usr/lib/$(uname -m)-linux-gnu/jni -Dorg.crealm.native="$out/native" \
    -Dorg.crealm.library="$library" -cp "$out/tests:$out/classes:$jdbc" org.crealm.bench.Bench "${@:2}"
