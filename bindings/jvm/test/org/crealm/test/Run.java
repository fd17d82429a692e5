package org.crealm.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Objects;
import java.util.stream.Stream;
import org.crealm.Realm;
import org.crealm.RealmException;

/** Runs tests: all methods with @Test of the classes that the arguments name. Each test has a folder of its own. */
public final class Run {
    /** A test. */
    @Retention(RetentionPolicy.RUNTIME)
    @interface Test {}

    private static Path folder;
    private static int files;
    private static int checks;

    private Run() {}

    public static void main(String[] names) throws Exception {
        Realm.setLogLevel(6);
        int tests = 0;
        int failed = 0;
        for (String name : names) {
            Class<?> type = Class.forName("org.crealm.test." + name);
            Method[] methods = type.getDeclaredMethods();
            Arrays.sort(methods, Comparator.comparing(Method::getName));
            for (Method method : methods) {
                if (method.isAnnotationPresent(Test.class)) {
                    tests++;
                    failed += run(type, method) ? 0 : 1;
                }
            }
        }
        System.out.println(tests + " tests, " + checks + " checks, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    private static boolean run(Class<?> type, Method method) throws Exception {
        folder = Files.createTempDirectory("crealm-test");
        int before = checks;
        try {
            method.setAccessible(true);
            method.invoke(type.getDeclaredConstructor().newInstance());
            if (checks == before) {
                throw new AssertionError("the test checks nothing");
            }
            return true;
        } catch (InvocationTargetException | AssertionError error) {
            System.out.println("FAILED " + type.getSimpleName() + "." + method.getName());
            (error instanceof InvocationTargetException ? error.getCause() : error).printStackTrace(System.out);
            return false;
        } finally {
            remove(folder);
        }
    }

    private static void remove(Path place) {
        try (Stream<Path> all = Files.walk(place)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** The path of a new file of the test. */
    static String file() {
        return folder.resolve("file" + files++ + ".realm").toString();
    }

    static void equal(Object expected, Object found) {
        checks++;
        if (!Objects.deepEquals(expected, found)) {
            throw new AssertionError("expected " + show(expected) + ", found " + show(found));
        }
    }

    private static String show(Object value) {
        String text = Arrays.deepToString(new Object[] {value});
        return text.substring(1, text.length() - 1);
    }

    static void check(boolean truth) {
        equal(true, truth);
    }

    /** The action fails with the number of an error. Returns the exception. */
    static RealmException fails(int code, Runnable action) {
        try {
            action.run();
        } catch (RealmException error) {
            checks++;
            if (error.code() != code) {
                throw new AssertionError("expected the error " + code, error);
            }
            return error;
        }
        throw new AssertionError("expected the error " + code + ", but nothing failed");
    }

    static <T extends Throwable> T throwing(Class<T> type, Runnable action) {
        try {
            action.run();
        } catch (Throwable error) {
            checks++;
            if (!type.isInstance(error)) {
                throw new AssertionError("expected " + type, error);
            }
            return type.cast(error);
        }
        throw new AssertionError("expected " + type + ", but nothing failed");
    }
}
