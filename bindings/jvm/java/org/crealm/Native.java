package org.crealm;

/**
 * The functions of the JNI library that are written by hand, and the methods that it calls.
 *
 * <p>The first two parameters of most functions are a handle and its address: see {@link Handle}. Objects are named
 * by realm, class key and object key. Values are encoded by {@link ValueWriter} and {@link Values}. Functions that copy
 * texts or values, or may move them, run under the guard of the realm: see {@link Guard}.
 */
final class Native {
    /** Kinds of what is read and observed. */
    static final int LIST = 0;
    static final int SET = 1;
    static final int DICTIONARY = 2;
    static final int RESULTS = 3;
    static final int OBJECT = 4;
    static final int REALM = 5;

    /** Ways of {@link #collection}; the first three are the kinds above. */
    static final int MAKE_LIST = 3;
    static final int MAKE_DICTIONARY = 4;

    /** On what a query is made, beside the kinds above. */
    static final int ON_CLASS = 10;
    static final int ON_QUERY = 11;

    /** Callbacks of a configuration. */
    static final int ON_MIGRATION = 0;
    static final int ON_INITIALIZATION = 1;
    static final int ON_COMPACTION = 2;
    static final int ON_PROGRESS = 3;

    static {
        Library.load();
    }

    private Native() {}

    /** Makes sure that the libraries are loaded. */
    static void ready() {}

    static native byte[] load(byte[] path);

    // Objects: objects.c

    static native long getLong(Handle realm, long address, int classKey, long key, long property);

    static native long getLongOf(Handle object, long address, long property);

    static native double getDouble(Handle realm, long address, int classKey, long key, long property);

    static native boolean getBoolean(Handle realm, long address, int classKey, long key, long property);

    static byte[] getBytes(Handle realm, long address, int classKey, long key, long property) {
        return Handle.guarded(realm, () -> getBytes0(realm, address, classKey, key, property));
    }

    private static native byte[] getBytes0(Handle realm, long address, int classKey, long key, long property);

    static byte[] getValues(Handle realm, long address, int classKey, long key, long[] properties) {
        return Handle.guarded(realm, () -> getValues0(realm, address, classKey, key, properties));
    }

    private static native byte[] getValues0(Handle realm, long address, int classKey, long key, long[] properties);

    static void setLong(Handle realm, long address, int classKey, long key, long property, long value) {
        Handle.guarded(realm, () -> setLong0(realm, address, classKey, key, property, value));
    }

    private static native void setLong0(Handle realm, long address, int classKey, long key, long property, long value);

    static void setDouble(Handle realm, long address, int classKey, long key, long property, double value) {
        Handle.guarded(realm, () -> setDouble0(realm, address, classKey, key, property, value));
    }

    private static native void setDouble0(Handle realm, long address, int classKey, long key, long property,
            double value);

    static void setBoolean(Handle realm, long address, int classKey, long key, long property, boolean value) {
        Handle.guarded(realm, () -> setBoolean0(realm, address, classKey, key, property, value));
    }

    private static native void setBoolean0(Handle realm, long address, int classKey, long key, long property,
            boolean value);

    static void setValues(Handle realm, long address, int classKey, long key, long[] properties, byte[] values) {
        Handle.guarded(realm, () -> setValues0(realm, address, classKey, key, properties, values));
    }

    private static native void setValues0(Handle realm, long address, int classKey, long key, long[] properties,
            byte[] values);

    static void create(Handle realm, long address, int classKey, int mode, int count, boolean hasPrimaryKey,
            long[] properties, byte[] values) {
        Handle.guarded(realm, () -> create0(realm, address, classKey, mode, count, hasPrimaryKey, properties, values));
    }

    private static native void create0(Handle realm, long address, int classKey, int mode, int count,
            boolean hasPrimaryKey,
            long[] properties, byte[] values);

    static long createOne(Handle realm, long address, int classKey, int mode, boolean hasPrimaryKey,
            long[] properties, byte[] values) {
        return Handle.guarded(realm,
                () -> createOne0(realm, address, classKey, mode, hasPrimaryKey, properties, values));
    }

    private static native long createOne0(Handle realm, long address, int classKey, int mode, boolean hasPrimaryKey,
            long[] properties, byte[] values);

    static native long findLong(Handle realm, long address, int classKey, long primaryKey);

    static native long find(Handle realm, long address, int classKey, byte[] primaryKey);

    static void delete(Handle realm, long address, int classKey, long key) {
        Handle.guarded(realm, () -> delete0(realm, address, classKey, key));
    }

    private static native void delete0(Handle realm, long address, int classKey, long key);

    static native boolean exists(Handle realm, long address, int classKey, long key);

    static void addLong(Handle realm, long address, int classKey, long key, long property, long value) {
        Handle.guarded(realm, () -> addLong0(realm, address, classKey, key, property, value));
    }

    private static native void addLong0(Handle realm, long address, int classKey, long key, long property, long value);

    static void setJson(Handle realm, long address, int classKey, long key, long property, byte[] json) {
        Handle.guarded(realm, () -> setJson0(realm, address, classKey, key, property, json));
    }

    private static native void setJson0(Handle realm, long address, int classKey, long key, long property, byte[] json);

    static native byte[] describe(Handle realm, long address, int classKey, long key);

    static long collection(Handle realm, long address, int classKey, long key, long property, int way) {
        return Handle.guarded(realm, () -> collection0(realm, address, classKey, key, property, way));
    }

    private static native long collection0(Handle realm, long address, int classKey, long key, long property, int way);

    static native long backlinks(Handle realm, long address, int classKey, long key, int sourceClass, long property);

    static long setEmbedded(Handle realm, long address, int classKey, long key, long property) {
        return Handle.guarded(realm, () -> setEmbedded0(realm, address, classKey, key, property));
    }

    private static native long setEmbedded0(Handle realm, long address, int classKey, long key, long property);

    static native long[] parent(Handle realm, long address, int classKey, long key);

    static native long objectHandle(Handle realm, long address, int classKey, long key);

    static byte[] fetch(Handle results, long address, long first, int count, long[] properties) {
        return Handle.guarded(results, () -> fetch0(results, address, first, count, properties));
    }

    private static native byte[] fetch0(Handle results, long address, long first, int count, long[] properties);

    // Collections and queries: collections.c

    static byte[] elements(Handle collection, long address, int kind, long first, int count) {
        return Handle.guarded(collection, () -> elements0(collection, address, kind, first, count));
    }

    private static native byte[] elements0(Handle collection, long address, int kind, long first, int count);

    static byte[] element(Handle collection, long address, int kind, long index) {
        return Handle.guarded(collection, () -> element0(collection, address, kind, index));
    }

    private static native byte[] element0(Handle collection, long address, int kind, long index);

    static long listEmbedded(Handle list, long address, long index, int way) {
        return Handle.guarded(list, () -> listEmbedded0(list, address, index, way));
    }

    private static native long listEmbedded0(Handle list, long address, long index, int way);

    static long dictionaryEmbedded(Handle dictionary, long address, byte[] key) {
        return Handle.guarded(dictionary, () -> dictionaryEmbedded0(dictionary, address, key));
    }

    private static native long dictionaryEmbedded0(Handle dictionary, long address, byte[] key);

    static native long query(Handle base, long address, int on, int classKey, byte[] text, long[] lengths,
            byte[] values);

    static long update(Handle results, long address, byte[] text, long[] lengths, byte[] values) {
        return Handle.guarded(results, () -> update0(results, address, text, lengths, values));
    }

    private static native long update0(Handle results, long address, byte[] text, long[] lengths, byte[] values);

    static native long[] explain(Handle query, long address);

    // Realms: realm.c

    static native long schemaNew(byte[] encoded);

    static native long schemaFromJson(byte[] json);

    static byte[] classes(Handle realm, long address) {
        return Handle.guarded(realm, () -> classes0(realm, address));
    }

    private static native byte[] classes0(Handle realm, long address);

    static native void setEncryptionKey(Handle config, long address, byte[] key);

    static native void setPassphrase(Handle config, long address, byte[] passphrase);

    static native long[] version(Handle realm, long address);

    static native void restore(Handle config, long address, byte[][] paths);

    static void commitWithout(Handle realm, long address, long[] tokens) {
        Handle.guarded(realm, () -> commitWithout0(realm, address, tokens));
    }

    private static native void commitWithout0(Handle realm, long address, long[] tokens);

    static native long cloneHandle(Handle handle, long address);

    static native void release(long address);

    // Callbacks: callbacks.c

    static native long observe(Handle subject, long address, int kind, long realm, int classKey, byte[][] paths,
            Object listener);

    static native void setCallback(Handle config, long address, int which, Object callback);

    /** work: a Runnable, or null. */
    static native long serialScheduler(Object work);

    static native void setLogger(Object logger);

    // Called by C. None of them throws.

    /** What is told of changes. */
    interface Listener {
        /** The numbers and keys have the form that callbacks.c describes for the kind. */
        void changed(long[] numbers, byte[] keys);
    }

    /** What a callback of a call that is running on this thread threw. */
    private static final ThreadLocal<Throwable> THROWN = new ThreadLocal<>();

    /** Keeps what a callback threw for the call that ran it. Returns false. */
    static boolean failed(Throwable error) {
        THROWN.set(error);
        return false;
    }

    /** The exception for a call that failed: what its callback threw, or a RealmException. */
    static Throwable failure(int code, int categories, byte[] message, byte[] path) {
        Throwable thrown = THROWN.get();
        if (thrown != null) {
            THROWN.remove();
            if (code == ErrorCode.CALLBACK || code == ErrorCode.INTERRUPTED) {
                return thrown;
            }
        }
        return new RealmException(code, categories, Texts.text(message), Texts.text(path));
    }

    static RealmException invalid(byte[] message) {
        return new RealmException(ErrorCode.INVALID_ARGUMENT, Texts.text(message));
    }

    static void changed(Object listener, int kind, long[] numbers, byte[] keys) {
        try {
            ((Listener) listener).changed(numbers, keys);
        } catch (Throwable error) {
            uncaught(error);
        }
    }

    static boolean migrate(Object callbacks, long oldRealm, long newRealm, long schema) {
        return ((OpenCallbacks) callbacks).migrate(oldRealm, newRealm, schema);
    }

    static boolean initialize(Object callbacks, long realm) {
        return ((OpenCallbacks) callbacks).initialize(realm);
    }

    static int compact(Object callbacks, long total, long used) {
        return ((OpenCallbacks) callbacks).compact(total, used);
    }

    static boolean progress(Object callbacks, int activity, long done, long total) {
        return ((OpenCallbacks) callbacks).progress(activity, done, total);
    }

    static void work(Object scheduler) {
        try {
            ((Runnable) scheduler).run();
        } catch (Throwable error) {
            uncaught(error);
        }
    }

    static void log(Object logger, int level, byte[] category, byte[] message) {
        try {
            ((Logger) logger).log(level, Texts.text(category), Texts.text(message));
        } catch (Throwable error) {
            uncaught(error);
        }
    }

    /** Gives an exception of a callback to the thread's handler: the library cannot pass it on. */
    static void uncaught(Throwable error) {
        try {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, error);
        } catch (Throwable ignored) {
            // The JVM ignores exceptions of these handlers, too.
        }
    }
}
