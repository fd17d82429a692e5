# Makes .build/jvm/crealm-VERSION.jar with both native libraries for this system, and runs a program with nothing else;
# Scripts/jvm.sh reads this file.
version=$(sed -n 's/^VERSION := //p' Makefile)
machine=$(uname -m)
place=$out/jar/org/crealm/natives/$system-$machine
rm -rf "$out/jar" "$out/try"
mkdir -p "$place" "$out/try/classes"
cp -r "$out/classes/." "$out/jar"
cp "$out/native/libcrealm_jni.so" "$place"
Scripts/strip.sh "$library" "$place/libCRealm.so"
cat >"$out/manifest" <<END
Automatic-Module-Name: org.crealm
Implementation-Title: CRealm
Implementation-Version: $version
END
"$home/bin/jar" --create --file "$out/crealm-$version.jar" --manifest "$out/manifest" -C "$out/jar" .
"$home/bin/javac" --release 17 -cp "$out/crealm-$version.jar" -d "$out/try/classes" bindings/jvm/test/TryJar.java
mkdir "$out/try/empty"
(cd "$out/try/empty" && env -u CREALM_LIBRARY "$home/bin/java" -cp "$out/crealm-$version.jar:../classes" TryJar)
echo "made: .build/jvm/crealm-$version.jar, for $system-$machine${kotlin:+, with the Kotlin layer}"
