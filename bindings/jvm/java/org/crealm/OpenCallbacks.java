package org.crealm;

import java.util.function.BiPredicate;
import java.util.function.Consumer;

/** The callbacks of a configuration. Their exceptions are thrown by the call that ran the callback. */
final class OpenCallbacks {
    Migration migration;
    Consumer<Realm> initialData;
    BiPredicate<Long, Long> compactOnLaunch;
    Progress progress;

    boolean migrate(long oldAddress, long newAddress, long schemaAddress) {
        Handle oldHandle = Handle.borrowed(oldAddress);
        Handle newHandle = Handle.borrowed(newAddress);
        Handle schema = Handle.borrowed(schemaAddress);
        try {
            migration.migrate(new Realm(oldHandle, null), new Realm(newHandle, schema));
            return true;
        } catch (Throwable failure) {
            return Native.failed(failure);
        } finally {
            oldHandle.release();
            newHandle.release();
            schema.release();
        }
    }

    boolean initialize(long address) {
        Handle handle = Handle.borrowed(address);
        try {
            initialData.accept(new Realm(handle, null));
            return true;
        } catch (Throwable failure) {
            return Native.failed(failure);
        } finally {
            handle.release();
        }
    }

    /** 1: yes, 0: no, -1: the function failed. */
    int compact(long total, long used) {
        try {
            return compactOnLaunch.test(total, used) ? 1 : 0;
        } catch (Throwable failure) {
            Native.failed(failure);
            return -1;
        }
    }

    boolean progress(int activity, long done, long total) {
        try {
            return progress.proceed(Progress.Activity.values()[activity], done, total);
        } catch (Throwable failure) {
            return Native.failed(failure);
        }
    }
}
