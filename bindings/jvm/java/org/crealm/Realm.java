package org.crealm;

import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * An open file of objects.
 *
 * <p>A realm reads one version of its file until it moves on, by {@link #refresh}, {@link #write}, or a turn of its
 * thread. It may be used on the thread that opened it; other choices are {@link RealmBuilder#serial} and
 * {@link RealmBuilder#executor}. A frozen realm may be read on all threads at the same time.
 */
public final class Realm implements AutoCloseable {
    private static final int BATCH = 1000;

    final Handle handle;
    final Set<Subscription> subscriptions = ConcurrentHashMap.newKeySet();
    private final Handle config;
    private final Handle scheduler;
    private final Turns turns;
    private final Handle migrationSchema;
    private final Map<Class<?>, Bound<?>> bounds = new ConcurrentHashMap<>();
    private final boolean frozen;
    private final Guard closing;
    /** The file; null for a frozen realm, and for one of a callback. */
    private final String file;
    private volatile Classes classes;

    /** The classes of a realm at some moment. */
    private record Classes(Map<String, ClassSchema> byName, Map<Integer, ClassSchema> byKey) {}

    Realm(Handle handle, Handle config, Handle scheduler, boolean serial, Turns turns, String file) {
        this.handle = handle;
        this.file = file;
        this.config = config;
        this.scheduler = scheduler;
        this.turns = turns;
        this.migrationSchema = null;
        this.frozen = scheduler == null;
        this.closing = frozen ? Guard.shared() : serial ? Guard.serial() : Guard.confined();
        // A realm of one thread needs no guard for its calls.
        handle.guard = frozen || serial ? closing : null;
        if (serial) {
            scheduler.guard = closing;
        }
        if (turns != null) {
            turns.begin(this);
        }
    }

    /** The realm of a callback. */
    Realm(Handle handle, Handle migrationSchema) {
        this.handle = handle;
        this.config = null;
        this.scheduler = null;
        this.turns = null;
        this.migrationSchema = migrationSchema;
        this.file = null;
        this.frozen = false;
        this.closing = Guard.confined();
    }

    // ---- opening and closing ----

    /** Opens a file with models, and those they link to. Without models the realm shows all classes of the file. */
    public static Realm open(String path, Class<?>... models) {
        RealmBuilder builder = builder(path);
        return (models.length == 0 ? builder : builder.schema(models)).open();
    }

    public static RealmBuilder builder(String path) {
        return new RealmBuilder(path);
    }

    public static RealmBuilder builder(Path path) {
        return new RealmBuilder(path.toString());
    }

    /** Deletes a file and its companions. Returns whether it was there. Fails while it is open. */
    public static boolean delete(String path) {
        return Calls.deleteFiles(path);
    }

    /**
     * Closes the realm; an open transaction is rolled back. Closing again does nothing. A frozen realm may be closed by
     * any thread, other realms by those that may use them.
     */
    @Override
    public void close() {
        closing.close(() -> {
            for (Subscription subscription : subscriptions) {
                subscription.close();
            }
            Calls.close(handle);
        });
    }

    public boolean isClosed() {
        return handle.isReleased() || Calls.isClosed(handle);
    }

    // ---- schema ----

    private Classes classes() {
        Classes known = classes;
        return known == null ? readClasses() : known;
    }

    private Classes readClasses() {
        Map<String, ClassSchema> byName = ClassSchema.decode(Native.classes(handle, handle.address()));
        Map<Integer, ClassSchema> byKey = new HashMap<>();
        byName.values().forEach(info -> byKey.put(info.key, info));
        Classes read = new Classes(byName, byKey);
        classes = read;
        return read;
    }

    /** The classes of the realm, in the order of their names. */
    public List<ClassSchema> schema() {
        List<ClassSchema> list = new ArrayList<>(readClasses().byName.values());
        list.sort((one, other) -> one.name().compareTo(other.name()));
        return list;
    }

    /** A class by its name. Fails with NO_SUCH_TABLE. */
    public ClassSchema schema(String name) {
        ClassSchema found = classes().byName.get(name);
        if (found == null) {
            found = readClasses().byName.get(name);
        }
        if (found == null) {
            throw new RealmException(ErrorCode.NO_SUCH_TABLE, "the realm has no class '" + name + "'");
        }
        return found;
    }

    /** The schema version; -1: the file has none. */
    public long schemaVersion() {
        return Calls.getSchemaVersion(handle);
    }

    /** In a migration: keeps the values of a property under its new name. */
    public void renameProperty(String className, String oldName, String newName) {
        if (migrationSchema == null) {
            throw new RealmException(ErrorCode.ILLEGAL_OPERATION, "properties are renamed in migrations only");
        }
        Calls.schemaRenameProperty(handle, migrationSchema, className, oldName, newName);
    }

    /** In a migration: deletes a class that the new schema does not have. Returns whether it was there. */
    public boolean removeClass(String className) {
        return Calls.removeTable(handle, className);
    }

    /** This is the new realm of a migration. */
    boolean isMigrating() {
        return migrationSchema != null;
    }

    @SuppressWarnings("unchecked")
    <T> Bound<T> bound(Class<T> type) {
        Bound<?> known = bounds.get(type);
        if (known == null) {
            Class<?> model = type;
            if (LiveObject.class.isAssignableFrom(type)) {
                model = type.getInterfaces()[0];
            }
            known = new Bound<>(Model.of(model), this);
            bounds.put(type, known);
        }
        return (Bound<T>) known;
    }

    Rows<?> rowsOf(Kind kind) {
        return kind == Kind.OBJECT ? Rows.objects(this) : bound(kind.javaType);
    }

    @SuppressWarnings("unchecked")
    <T> Rows<T> rows(Kind kind) {
        return kind.type == PropertyType.OBJECT ? (Rows<T>) rowsOf(kind) : Rows.values(kind);
    }

    <T> Results<T> elements(Handle results, Kind kind, PropertySchema property) {
        return new Results<>(this, results, rows(kind), targetOf(property));
    }

    ClassSchema targetOf(PropertySchema property) {
        return property.type() == PropertyType.OBJECT ? schema(property.target()) : null;
    }

    RealmObject objectAt(int classKey, long key) {
        ClassSchema info = classes().byKey.get(classKey);
        if (info == null) {
            info = readClasses().byKey.get(classKey);
        }
        if (info == null) {
            throw new RealmException(ErrorCode.NO_SUCH_TABLE, "a link to a class that the realm does not show");
        }
        return new RealmObject(this, info, key);
    }

    // ---- writing ----

    /** Runs an action in a write transaction, which is committed at its end, and rolled back after an exception. */
    public void write(Runnable action) {
        write(() -> {
            action.run();
            return null;
        });
    }

    /** The same for an action with a result. */
    public <T> T write(Supplier<T> action) {
        if (file == null) {
            return writeNow(action);
        }
        Writes.begin(file);
        try {
            return writeNow(action);
        } finally {
            Writes.end();
        }
    }

    private <T> T writeNow(Supplier<T> action) {
        beginWrite();
        boolean done = false;
        try {
            T result = action.get();
            if (isWriting()) {
                commit();
            }
            done = true;
            return result;
        } finally {
            if (!done && !isClosed() && isWriting()) {
                rollback();
            }
        }
    }

    /** Runs an action in a write transaction on the executor of the realm. */
    public <T> CompletableFuture<T> writeAsync(Supplier<T> action) {
        if (turns == null) {
            throw new RealmException(ErrorCode.ILLEGAL_OPERATION, "the realm was opened without an executor");
        }
        return CompletableFuture.supplyAsync(() -> write(action), turns.executor);
    }

    /** Begins a write transaction: waits for other writers, and moves to the newest version. */
    public void beginWrite() {
        Calls.beginWrite(handle);
    }

    public void commit() {
        Calls.commit(handle);
    }

    /** Commits; listeners are not told of these changes. */
    public void commitWithoutNotifying(Subscription... silent) {
        long[] tokens = new long[silent.length];
        for (int index = 0; index < silent.length; index++) {
            tokens[index] = silent[index].token.address();
        }
        Native.commitWithout(handle, handle.address(), tokens);
    }

    public void rollback() {
        Calls.rollback(handle);
    }

    public boolean isWriting() {
        return Calls.isWritable(handle);
    }

    /** Runs an action whose changes are undone alone if it throws, inside a write transaction. */
    public void savepoint(Runnable action) {
        atomically(() -> {
            action.run();
            return null;
        });
    }

    /** The same for an action with a result. */
    <T> T atomically(Supplier<T> action) {
        int savepoint = (int) Calls.beginSavepoint(handle);
        boolean done = false;
        try {
            T result = action.get();
            done = true;
            return result;
        } finally {
            if (done) {
                Calls.releaseSavepoint(handle, savepoint);
            } else if (isWriting()) {
                Calls.rollbackSavepoint(handle, savepoint);
            }
        }
    }

    /** Stores a copy, and the copies it refers to, as new objects. Fails if its primary key exists. */
    public RealmObject create(Object copy) {
        return store(copy, Storing.ERROR);
    }

    /** Stores a copy; an object with the same primary key gets its values. */
    public RealmObject upsert(Object copy) {
        return store(copy, Storing.MODIFIED);
    }

    private RealmObject store(Object copy, int mode) {
        if (copy instanceof RealmObject) {
            throw new RealmException(ErrorCode.INVALID_ARGUMENT, "a live object is stored already");
        }
        Bound<?> bound = bound(copy.getClass());
        if (bound.model.simple && !bound.model.embedded) {
            return new RealmObject(this, bound.info, bound.store(copy, mode));
        }
        return atomically(() -> new Storing(this).store(copy, mode));
    }

    /** Stores many copies of one class: all of them, or none if one fails. Faster than one call for each. */
    public void createAll(Collection<?> copies) {
        savepoint(() -> storeAll(copies, Storing.ERROR));
    }

    /** Stores many copies of one class; objects with the same primary keys get their values. */
    public void upsertAll(Collection<?> copies) {
        savepoint(() -> storeAll(copies, Storing.MODIFIED));
    }

    private void storeAll(Collection<?> copies, int mode) {
        if (copies.isEmpty()) {
            return;
        }
        Class<?> type = copies.iterator().next().getClass();
        Bound<?> bound = bound(type);
        if (!bound.model.simple || bound.model.embedded) {
            Storing storing = new Storing(this);
            copies.forEach(copy -> storing.store(copy, mode));
            return;
        }
        List<Object> batch = new ArrayList<>(Math.min(BATCH, copies.size()));
        for (Object copy : copies) {
            if (copy.getClass() != type) {
                throw new RealmException(ErrorCode.INVALID_ARGUMENT, "copies of different classes in one call");
            }
            batch.add(copy);
            if (batch.size() == BATCH) {
                bound.store(batch, mode);
                batch.clear();
            }
        }
        if (!batch.isEmpty()) {
            bound.store(batch, mode);
        }
    }

    /** Makes an object of an interface, without a primary key, and sets its properties. */
    public <T> T create(Class<T> type, Consumer<? super T> properties) {
        return create(type, null, properties);
    }

    /** Makes an object of an interface, and sets its properties. primaryKey: null for a class without one. */
    public <T> T create(Class<T> type, Object primaryKey, Consumer<? super T> properties) {
        Bound<T> bound = bound(type);
        T object = bound.read(createObject(bound.info, primaryKey, Storing.ERROR).key);
        properties.accept(object);
        return object;
    }

    /** Makes an object of a class, and sets its properties by their names. */
    public RealmObject create(String className, Map<String, ?> values) {
        return store(className, values, Storing.ERROR);
    }

    /** The same; an object with the same primary key gets the values. */
    public RealmObject upsert(String className, Map<String, ?> values) {
        return store(className, values, Storing.MODIFIED);
    }

    private RealmObject store(String className, Map<String, ?> values, int mode) {
        ClassSchema info = schema(className);
        PropertySchema primary = info.primaryKey();
        Map<String, Object> others = new LinkedHashMap<>(values);
        Object primaryKey = null;
        if (primary != null) {
            if (!values.containsKey(primary.name()) && !values.containsKey(primary.publicName())) {
                throw new RealmException(ErrorCode.MISSING_PRIMARY_KEY,
                        className + " has the primary key " + primary.name());
            }
            primaryKey = others.containsKey(primary.name()) ? others.remove(primary.name())
                    : others.remove(primary.publicName());
        }
        Object keyOfObject = primaryKey;
        return atomically(() -> {
            RealmObject object = createObject(info, keyOfObject, mode);
            new Storing(this).fill(object, others);
            return object;
        });
    }

    private RealmObject createObject(ClassSchema info, Object primaryKey, int mode) {
        boolean keyed = info.primaryKey() != null;
        if (!keyed && primaryKey != null) {
            throw new RealmException(ErrorCode.UNEXPECTED_PRIMARY_KEY, info.name() + " has no primary key");
        }
        byte[] values = keyed ? Kind.ofProperty(info.primaryKey().type()).encode(primaryKey, this) : new byte[0];
        long made = Native.createOne(handle, handle.address(), info.key, mode, keyed, Rows.NO_KEYS, values);
        return new RealmObject(this, info, made);
    }

    /** Deletes a live object, or the object with the primary key of a copy. */
    public void delete(Object object) {
        existing(object).delete();
    }

    /** The object of a live object, or with the primary key of a copy. Fails with NO_SUCH_OBJECT. */
    RealmObject existing(Object value) {
        if (value instanceof RealmObject object) {
            object.requireFile(this);
            return object;
        }
        Bound<?> bound = bound(value.getClass());
        Model.Property primary = bound.model.primaryKey;
        if (primary == null) {
            throw new RealmException(ErrorCode.NO_SUCH_OBJECT, "a copy without a primary key has no object");
        }
        Object key = Model.get(primary, value);
        long found = bound.find(key);
        if (found < 0) {
            throw new RealmException(ErrorCode.NO_SUCH_OBJECT,
                    "no " + bound.info.name() + " has the primary key " + key);
        }
        return new RealmObject(this, bound.info, found);
    }

    // ---- reading ----

    /** The object with a primary key, as a model; null: there is none. */
    public <T> T find(Class<T> type, Object primaryKey) {
        Bound<T> bound = bound(type);
        long key = bound.find(primaryKey);
        return key < 0 ? null : bound.read(key);
    }

    /** The object with a primary key; null: there is none. */
    public RealmObject find(String className, Object primaryKey) {
        ClassSchema info = schema(className);
        long key = findKey(info, null, primaryKey);
        return key < 0 ? null : new RealmObject(this, info, key);
    }

    long findKey(ClassSchema info, Kind kind, Object primary) {
        if (primary instanceof Long number) {
            return Native.findLong(handle, handle.address(), info.key, number);
        }
        if (primary instanceof Integer number) {
            return Native.findLong(handle, handle.address(), info.key, number);
        }
        Kind used = kind != null ? kind
                : info.primaryKey() == null ? Kind.MIXED : Kind.ofProperty(info.primaryKey().type());
        return Native.find(handle, handle.address(), info.key, used.encode(primary, this));
    }

    /** All objects of a model, in the order of their creation. */
    public <T> Results<T> all(Class<T> type) {
        Bound<T> bound = bound(type);
        return new Results<>(this, Calls.objectFindAll(handle, bound.info.key), bound, bound.info);
    }

    /** All objects of a class. */
    public Results<RealmObject> all(String className) {
        ClassSchema info = schema(className);
        return new Results<>(this, Calls.objectFindAll(handle, info.key), Rows.objects(this), info);
    }

    /** The objects that meet a condition of the query language: "age > $0 SORT(name ASC)". */
    public <T> Results<T> query(Class<T> type, String condition, Object... arguments) {
        Bound<T> bound = bound(type);
        Handle query = Queries.on(this, handle, Native.ON_CLASS, bound.info.key, condition, arguments);
        return new Results<>(this, Calls.queryFindAll(query), bound, bound.info);
    }

    /** The objects of a class that meet a condition. */
    public Results<RealmObject> query(String className, String condition, Object... arguments) {
        ClassSchema info = schema(className);
        Handle query = Queries.on(this, handle, Native.ON_CLASS, info.key, condition, arguments);
        return new Results<>(this, Calls.queryFindAll(query), Rows.objects(this), info);
    }

    // ---- versions and changes ----

    /**
     * Moves to the newest version, and runs the listeners that are due. Returns whether the realm moved.
     *
     * <p>Listeners run here, in {@link #beginWrite}, in {@link #waitForChanges}, and on the executor of the realm.
     * An exception of a listener goes to the thread's handler for uncaught exceptions.
     */
    public boolean refresh() {
        return Calls.refresh(handle);
    }

    /** Runs the listeners that are due; waits for the next ones, at most for a time. Returns whether any work ran. */
    public boolean waitForChanges(Duration time) {
        Duration longest = Duration.ofMillis(Integer.MAX_VALUE);
        Duration most = time.isNegative() ? Duration.ZERO : time.compareTo(longest) > 0 ? longest : time;
        return Calls.schedulerRun(scheduler, (int) most.toMillis());
    }

    /** Tells of each version that the realm moves to. */
    public Subscription observe(Consumer<Realm> listener) {
        Subscription.require(listener);
        return Subscription.begin(this, (numbers, keys) -> listener.accept(this));
    }

    /** A realm of the version that is read now, which never changes, for all threads. It is closed for itself. */
    public Realm freeze() {
        return new Realm(Calls.freeze(handle), config, null, false, null, null);
    }

    public boolean isFrozen() {
        return frozen;
    }

    /** The number of the version that is read; -1: none is read now. */
    public long version() {
        long[] version = Native.version(handle, handle.address());
        return version == null ? -1 : version[0];
    }

    /** The number of versions that the file keeps. */
    public long versionCount() {
        return Calls.getNumVersions(handle);
    }

    // ---- the file ----

    /** Rewrites the file without free space. Returns whether that was possible. */
    public boolean compact() {
        return Calls.compact(handle);
    }

    /** Copies what the realm shows to a new file: path, key and cipher of the builder count. */
    public void backup(RealmBuilder target) {
        Handle other = target.configuration(null);
        Calls.convertWithConfig(handle, other, false);
    }

    /** Writes a backup step. previous: the step before it, or null. Returns its size in bytes. */
    public long backupSince(String previous, String path) {
        return Calls.backupSince(handle, previous, path);
    }

    /** Makes a file from backup steps; they have the key of the builder. */
    public static void restore(RealmBuilder target, String... steps) {
        byte[][] paths = new byte[steps.length][];
        for (int index = 0; index < steps.length; index++) {
            paths[index] = Texts.utf8(steps[index]);
        }
        Handle config = target.configuration(null);
        Native.restore(config, config.address(), paths);
    }

    /** Encrypts the file with the key or passphrase of a builder, or makes it plain if that has none. */
    public void changeKey(RealmBuilder secret) {
        Handle other = secret.configuration(null);
        Calls.changeKey(handle, other);
    }

    /** Checks all invariants of the version that is read. Fails with INVALID_DATABASE. */
    public void verify() {
        Calls.verify(handle);
    }

    /** Ends the query, check or copy that runs on another thread; it fails with INTERRUPTED. */
    public void interrupt() {
        Calls.interrupt(handle);
    }

    /** The rules of a class, as JSON. */
    public String rules(String className) {
        return Texts.text(Calls.classGetRules(handle, schema(className).key));
    }

    /** Sends messages of the library to a function; null: to standard error. */
    public static void setLogger(Logger logger) {
        Native.setLogger(logger);
    }

    /** 0 all messages, 3 detail, 4 info, 5 warnings, 6 errors, 8 none. */
    public static void setLogLevel(int level) {
        Calls.setLogLevel(level);
    }

    /** The version of the C API of the database library. */
    public static String libraryVersion() {
        return Texts.text(Calls.getLibraryVersion());
    }

    /** Runs the work of a serial scheduler on an executor. */
    static final class Turns implements Runnable {
        private static final long PAUSE_MILLISECONDS = 2;

        final Executor executor;
        private final AtomicBoolean waits = new AtomicBoolean();
        private volatile WeakReference<Realm> realm = new WeakReference<>(null);

        Turns(Executor executor) {
            this.executor = executor;
        }

        void begin(Realm opened) {
            realm = new WeakReference<>(opened);
            run();
        }

        /** Called on any thread when work waits. */
        @Override
        public void run() {
            if (waits.compareAndSet(false, true)) {
                try {
                    executor.execute(this::turn);
                } catch (RejectedExecutionException ended) {
                    // The executor was shut down: nobody waits for changes.
                    waits.set(false);
                }
            }
        }

        private void turn() {
            waits.set(false);
            Realm target = realm.get();
            if (target == null || target.isClosed()) {
                return;
            }
            try {
                Calls.schedulerRun(target.scheduler, 0);
            } catch (RealmException error) {
                if (error.code() != ErrorCode.WRONG_THREAD) {
                    throw error;
                }
                // Another thread is inside: the program uses the realm elsewhere. Try again soon.
                CompletableFuture.delayedExecutor(PAUSE_MILLISECONDS, TimeUnit.MILLISECONDS, executor).execute(this);
            }
        }
    }
}
