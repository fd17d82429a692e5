package org.crealm.conformance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.crealm.Realm;

/** Runs the conformance suite, which Tests/Conformance/README.md describes.   Conformance FOLDER [PART OF A NAME] */
public final class Conformance {
    private Conformance() {}

    @SuppressWarnings("unchecked")
    public static void main(String[] arguments) throws IOException {
        Realm.setLogLevel(8);
        if (!Files.isDirectory(Path.of(arguments[0]))) {
            System.out.println("skipped: the conformance suite (there is no " + arguments[0] + ")");
            return;
        }
        int count = 0, failed = 0;
        Path folder = Files.createTempDirectory("crealm-conformance");
        List<Path> files = Files.list(Path.of(arguments[0])).filter(file -> file.toString().endsWith(".json")).sorted()
                .toList();
        for (Path file : files) {
            Map<String, Object> suite = (Map<String, Object>) Json.parse(Files.readString(file));
            for (Map<String, Object> test : (List<Map<String, Object>>) suite.get("cases")) {
                String name = file.getFileName() + ": " + test.get("name");
                if (arguments.length > 1 && !name.contains(arguments[1])) {
                    continue;
                }
                try {
                    String path = folder.resolve(count++ + ".realm").toString();
                    Case running = new Case(path, test, suite.get("classes"));
                    running.run((List<Map<String, Object>>) test.get("steps"), null);
                    running.close();
                } catch (RuntimeException | AssertionError error) {
                    failed++;
                    System.out.println("failed: " + name + ": " + error);
                }
            }
        }
        try (Stream<Path> all = Files.walk(folder)) {
            all.sorted((one, other) -> other.compareTo(one)).forEach(place -> place.toFile().delete());
        }
        System.out.println("conformance, Java: " + count + " cases, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }
}
