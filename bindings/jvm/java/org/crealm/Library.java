package org.crealm;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Finds and loads the two native libraries: the JNI library of this package, and the database library.
 *
 * <p>The property {@code org.crealm.native} names a folder with the JNI library. Without it the libraries are taken
 * from the jar, or else from the library path of the JVM. The property {@code org.crealm.library}, or the environment
 * variable {@code CREALM_LIBRARY}, names another database library.
 */
final class Library {
    private static final String SHIM = System.mapLibraryName("crealm_jni");
    private static final String ENGINE = System.mapLibraryName("CRealm");

    private Library() {}

    static void load() {
        String folder = System.getProperty("org.crealm.native");
        String engine = System.getProperty("org.crealm.library", System.getenv("CREALM_LIBRARY"));
        Path extracted = null;
        try {
            if (folder != null) {
                System.load(Path.of(folder, SHIM).toAbsolutePath().toString());
                if (engine == null && Files.exists(Path.of(folder, ENGINE))) {
                    engine = Path.of(folder, ENGINE).toAbsolutePath().toString();
                }
            } else if (Library.class.getResource(resource(SHIM)) != null) {
                extracted = Files.createTempDirectory("crealm");
                System.load(extract(SHIM, extracted).toString());
                if (engine == null && Library.class.getResource(resource(ENGINE)) != null) {
                    engine = extract(ENGINE, extracted).toString();
                }
            } else {
                System.loadLibrary("crealm_jni");
            }
            byte[] problem = Native.load(Texts.utf8(engine == null ? ENGINE : engine));
            if (problem != null) {
                throw new UnsatisfiedLinkError(new String(problem, StandardCharsets.UTF_8));
            }
        } catch (IOException error) {
            throw new UnsatisfiedLinkError("the libraries cannot be taken from the jar: " + error);
        } finally {
            delete(extracted);
        }
    }

    private static String resource(String file) {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).replace(" ", "");
        String machine = System.getProperty("os.arch").replace("amd64", "x86_64").replace("arm64", "aarch64");
        return "/org/crealm/natives/" + system + "-" + machine + "/" + file;
    }

    private static Path extract(String file, Path folder) throws IOException {
        Path target = folder.resolve(file);
        try (InputStream stream = Library.class.getResourceAsStream(resource(file))) {
            Files.copy(stream, target);
        }
        return target;
    }

    /** A loaded library needs its file no more. */
    private static void delete(Path folder) {
        if (folder != null) {
            try {
                Files.deleteIfExists(folder.resolve(SHIM));
                Files.deleteIfExists(folder.resolve(ENGINE));
                Files.deleteIfExists(folder);
            } catch (IOException ignored) {
                // The system may keep the files until the process ends; they are in the folder for temporary files.
            }
        }
    }
}
