package org.crealm;

/** Receives messages of the library, on any thread. It must not use a realm. */
@FunctionalInterface
public interface Logger {
    /** level: 1 trace, 2 debug, 3 detail, 4 info, 5 warning, 6 error, 7 fatal. */
    void log(int level, String category, String message);
}
