package org.crealm;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps memory of a realm in its place while a thread copies a text or value out of it. The C API forbids only calls at
 * the same time; what a call returned may move as soon as another thread makes the next one.
 *
 * <ul>
 *   <li>A realm of one thread needs none: only its thread may close it.
 *   <li>A serial realm: one thread at a time; another one is refused with WRONG_THREAD, as by the C API.
 *   <li>A frozen realm: any number of readers; closing waits for them, and refuses new ones.
 * </ul>
 */
abstract class Guard {
    private static final long PAUSE_NANOSECONDS = 50_000;

    abstract void enter();

    abstract void leave();

    /** Runs the close of the realm. */
    abstract void close(Runnable action);

    static Guard serial() {
        return new Guard() {
            private final AtomicReference<Thread> owner = new AtomicReference<>();
            /** How often the owner is inside; callbacks make calls inside of calls. */
            private int depth;

            @Override
            void enter() {
                Thread thread = Thread.currentThread();
                if (owner.get() != thread && !owner.compareAndSet(null, thread)) {
                    throw new RealmException(ErrorCode.WRONG_THREAD, "another thread is inside a call of this realm");
                }
                depth++;
            }

            @Override
            void leave() {
                if (--depth == 0) {
                    owner.set(null);
                }
            }

            @Override
            void close(Runnable action) {
                enter();
                try {
                    action.run();
                } finally {
                    leave();
                }
            }
        };
    }

    static Guard shared() {
        return new Guard() {
            private static final int CLOSED = Integer.MIN_VALUE;

            /** The number of readers; CLOSED is added when the realm is being closed. */
            private final AtomicInteger readers = new AtomicInteger();

            @Override
            void enter() {
                if (readers.incrementAndGet() <= 0) {
                    readers.decrementAndGet();
                    throw new RealmException(ErrorCode.CLOSED_REALM, "the realm was closed");
                }
            }

            @Override
            void leave() {
                readers.decrementAndGet();
            }

            @Override
            void close(Runnable action) {
                if (readers.getAndUpdate(count -> count < 0 ? count : count + CLOSED) < 0) {
                    return;
                }
                while (readers.get() != CLOSED) {
                    LockSupport.parkNanos(PAUSE_NANOSECONDS);
                }
                action.run();
            }
        };
    }

    /** Of a realm of one thread. */
    static Guard confined() {
        return new Guard() {
            private final Thread owner = Thread.currentThread();

            @Override
            void enter() {}

            @Override
            void leave() {}

            @Override
            void close(Runnable action) {
                if (Thread.currentThread() != owner && owner.isAlive()) {
                    throw new RealmException(ErrorCode.WRONG_THREAD, "only the thread of a realm may close it");
                }
                action.run();
            }
        };
    }
}
