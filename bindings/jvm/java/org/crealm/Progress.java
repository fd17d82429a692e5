package org.crealm;

/** Is told of long calls about every 50 ms, on their thread. It must not use the realm of the call. */
@FunctionalInterface
public interface Progress {
    /** What a long call does. */
    enum Activity {
        WAITING,
        QUERYING,
        CHECKING,
        COPYING
    }

    /** Returns false to end the call, which then fails with INTERRUPTED. total: 0 if unknown. */
    boolean proceed(Activity activity, long done, long total);
}
