package org.crealm;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;

/**
 * A handle of the C API. It is released when no Java object refers to it any more, or by {@link #release()}.
 *
 * <p>A call passes the handle itself beside its address: the arguments of a native method stay reachable until it
 * returns, so a handle is never released during a call. Handles that were dropped are released by a daemon thread,
 * and some of them when a new one is made: memory does not grow when a loop makes handles faster than that thread
 * releases them.
 */
final class Handle {
    private static final ReferenceQueue<Handle> DROPPED = new ReferenceQueue<>();
    private static final Releaser FIRST = new Releaser(null, 0);

    static {
        Thread thread = new Thread(Handle::releaseDropped, "CRealm handles");
        thread.setDaemon(true);
        thread.start();
    }

    /** Of its realm; null: calls need none. It is set before another thread can see the handle. */
    Guard guard;
    private final Releaser releaser;
    private volatile long address;

    private Handle(long address, boolean owned) {
        this.address = address;
        this.releaser = owned ? new Releaser(this, address) : null;
    }

    /** A handle that this object releases; null for the address 0. */
    static Handle owning(long address) {
        if (address == 0) {
            return null;
        }
        for (int count = 0; count < 4; count++) {
            Releaser dropped = (Releaser) DROPPED.poll();
            if (dropped == null) {
                break;
            }
            dropped.run();
        }
        return new Handle(address, true);
    }

    /** The same for a handle that comes from another one, of the same realm. */
    static Handle owning(long address, Handle origin) {
        Handle made = owning(address);
        if (made != null && origin != null) {
            made.guard = origin.guard;
        }
        return made;
    }

    /** A call that copies from the memory of the realm, or that may move that memory. */
    interface Call<T> {
        T run();
    }

    /** Runs a call under the guard of the realm. */
    static <T> T guarded(Handle handle, Call<T> call) {
        Guard guard = handle == null ? null : handle.guard;
        if (guard == null) {
            return call.run();
        }
        guard.enter();
        try {
            return call.run();
        } finally {
            guard.leave();
        }
    }

    /** The same for a call without a result. */
    static void guarded(Handle handle, Runnable call) {
        Guard guard = handle == null ? null : handle.guard;
        if (guard == null) {
            call.run();
            return;
        }
        guard.enter();
        try {
            call.run();
        } finally {
            guard.leave();
        }
    }

    /** A handle that a callback received. {@link #release()} ends its use at the end of the callback. */
    static Handle borrowed(long address) {
        return new Handle(address, false);
    }

    /** The address of a handle; 0 for null. */
    static long address(Handle handle) {
        return handle == null ? 0 : handle.address();
    }

    long address() {
        long value = address;
        if (value == 0) {
            throw new RealmException(ErrorCode.INVALID_ARGUMENT,
                    "this was closed before, or belongs to a callback that has returned");
        }
        return value;
    }

    boolean isReleased() {
        return address == 0;
    }

    /** Releases the handle now. No other call may use it at the same time. */
    synchronized void release() {
        if (address != 0) {
            address = 0;
            if (releaser != null) {
                releaser.run();
            }
        }
    }

    private static void releaseDropped() {
        while (true) {
            try {
                ((Releaser) DROPPED.remove()).run();
            } catch (InterruptedException ignored) {
                // Nothing stops this thread but the end of the process.
            }
        }
    }

    /** Releases an address once. The list of all releasers keeps them reachable. */
    private static final class Releaser extends PhantomReference<Handle> {
        private final long address;
        private Releaser previous;
        private Releaser next;
        private boolean done;

        Releaser(Handle handle, long address) {
            super(handle, DROPPED);
            this.address = address;
            if (handle != null) {
                synchronized (FIRST) {
                    previous = FIRST;
                    next = FIRST.next;
                    if (next != null) {
                        next.previous = this;
                    }
                    FIRST.next = this;
                }
            }
        }

        void run() {
            synchronized (FIRST) {
                if (done) {
                    return;
                }
                done = true;
                previous.next = next;
                if (next != null) {
                    next.previous = previous;
                }
            }
            clear();
            Native.release(address);
        }
    }
}
