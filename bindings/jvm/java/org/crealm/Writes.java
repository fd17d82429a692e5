package org.crealm;

import java.io.File;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The files that each thread is writing. A serial realm belongs to no thread, so the library cannot see that a second
 * write of the same thread would wait for itself.
 */
final class Writes {
    private static final ThreadLocal<Deque<String>> FILES = ThreadLocal.withInitial(ArrayDeque::new);

    private Writes() {}

    /** A file, however its path is spelled. */
    static String file(String path) {
        try {
            return new File(path).getCanonicalPath();
        } catch (IOException error) {
            return path;
        }
    }

    static boolean isWriting(String file) {
        return FILES.get().contains(file);
    }

    /** Notes that the thread writes a file, until {@link #end}. Fails with WRONG_TRANSACTION_STATE if it does already. */
    static void begin(String file) {
        if (isWriting(file)) {
            throw already();
        }
        FILES.get().push(file);
    }

    static void end() {
        Deque<String> files = FILES.get();
        files.pop();
        if (files.isEmpty()) {
            FILES.remove();
        }
    }

    static RealmException already() {
        return new RealmException(ErrorCode.WRONG_TRANSACTION_STATE,
                "this thread is in a write transaction of the same file already");
    }
}
