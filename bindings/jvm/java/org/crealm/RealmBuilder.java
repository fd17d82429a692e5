package org.crealm;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.BiPredicate;
import java.util.function.Consumer;

/** How to open a file: made by {@link Realm#builder}. One builder may open several realms. */
public final class RealmBuilder {
    /** How long an opening waits for a write of its own thread, in milliseconds. */
    private static final long SELF_TIMEOUT = 100;

    /** How a new encrypted file is sealed. */
    public enum Cipher {
        XCHACHA20_POLY1305,
        AES_256_GCM,
        /** The form of Realm's own libraries. */
        REALM
    }

    /** How commits reach the disk. */
    public enum Durability {
        FULL,
        TWO_FLUSHES,
        UNSAFE
    }

    private static final int IMMUTABLE = 1;
    private static final int READ_ONLY = 2;
    private static final int RESET = 3;
    private static final int ADDITIVE = 6;

    private final String path;
    private final Map<String, ClassSchema> classes = new LinkedHashMap<>();
    private boolean hasSchema;
    private String schemaJson;
    private long schemaVersion;
    private int mode;
    private byte[] key;
    private String passphrase;
    private Cipher cipher;
    private Durability durability = Durability.FULL;
    private boolean inMemory;
    private boolean snapshot;
    private boolean serial;
    private Executor executor;
    private Duration lockTimeout;
    private String rules;
    private Migration migration;
    private Consumer<Realm> initialData;
    private BiPredicate<Long, Long> compactOnLaunch;
    private Progress progress;

    RealmBuilder(String path) {
        this.path = path;
    }

    /** Adds models, and those they link to. Without a schema the realm shows all classes of the file. */
    public RealmBuilder schema(Class<?>... models) {
        hasSchema = true;
        for (Class<?> model : models) {
            Model.collect(model, classes);
        }
        return this;
    }

    /** Adds classes that no Java class describes. */
    public RealmBuilder schema(ClassSchema... described) {
        hasSchema = true;
        for (ClassSchema info : described) {
            classes.put(info.name(), info);
        }
        return this;
    }

    /** All classes as JSON, in place of models: an array in the form of Realm JS, as crealm.h describes it. */
    public RealmBuilder schemaJson(String json) {
        schemaJson = json;
        return this;
    }

    /** 0 without this call. */
    public RealmBuilder schemaVersion(long version) {
        schemaVersion = version;
        return this;
    }

    /** Encrypts a new file, or opens an encrypted one. key: 64 bytes. */
    public RealmBuilder encryptionKey(byte[] bytes) {
        key = bytes.clone();
        return this;
    }

    /** A passphrase in place of a key. */
    public RealmBuilder passphrase(String text) {
        passphrase = text;
        return this;
    }

    public RealmBuilder cipher(Cipher form) {
        cipher = form;
        return this;
    }

    public RealmBuilder durability(Durability choice) {
        durability = choice;
        return this;
    }

    /** Keeps the data in memory, while a realm of the path is open. */
    public RealmBuilder inMemory() {
        inMemory = true;
        return this;
    }

    /** No writes through this realm; it follows those of others. */
    public RealmBuilder readOnly() {
        mode = READ_ONLY;
        return this;
    }

    /** The file exists and never changes. */
    public RealmBuilder immutable() {
        mode = IMMUTABLE;
        return this;
    }

    /** Reads a private copy of one version; nothing is written or locked. */
    public RealmBuilder snapshot() {
        snapshot = true;
        return this;
    }

    /** Deletes the file if it would need a migration. */
    public RealmBuilder deleteIfMigrationNeeded() {
        mode = RESET;
        return this;
    }

    /** The schema only adds classes and properties to the file. */
    public RealmBuilder additive() {
        mode = ADDITIVE;
        return this;
    }

    /** Carries data over if the schema version of the file is lower. */
    public RealmBuilder migration(Migration function) {
        migration = function;
        return this;
    }

    /** Fills a new file. */
    public RealmBuilder initialData(Consumer<Realm> function) {
        initialData = function;
        return this;
    }

    /** Asks whether to compact the file; it is given its size and the bytes in use. */
    public RealmBuilder compactOnLaunch(BiPredicate<Long, Long> function) {
        compactOnLaunch = function;
        return this;
    }

    /** Is told of long calls, and may end them. */
    public RealmBuilder progress(Progress function) {
        progress = function;
        return this;
    }

    /** How long to wait for other writers; without this call, without limit. */
    public RealmBuilder lockTimeout(Duration time) {
        lockTimeout = time;
        return this;
    }

    /** The rules of classes, as JSON: docs/rules.md. */
    public RealmBuilder rules(String json) {
        rules = json;
        return this;
    }

    /**
     * Every thread may use the realm, one at a time: for virtual threads and pools. A call fails with WRONG_THREAD
     * while another thread is inside one. Without this call only the thread that opens the realm may use it.
     */
    public RealmBuilder serial() {
        serial = true;
        return this;
    }

    /**
     * As {@link #serial}; listeners run on an executor when something changed. The program uses the realm there, too:
     * the executor runs one task at a time.
     */
    public RealmBuilder executor(Executor target) {
        serial = true;
        executor = target;
        return this;
    }

    /**
     * Opens or creates the file. In a write of the same thread to the same file, this fails with WRONG_TRANSACTION_STATE
     * if opening would have to write, too: to make a class, for instance.
     */
    public Realm open() {
        String file = Writes.file(path);
        if (Writes.isWriting(file)) {
            tryOpening();
        }
        OpenCallbacks callbacks = new OpenCallbacks();
        Handle config = configuration(callbacks);
        Realm.Turns turns = executor == null ? null : new Realm.Turns(executor);
        Handle scheduler = serial ? Handle.owning(Native.serialScheduler(turns)) : Calls.schedulerMakeDefault();
        Calls.configSetScheduler(config, scheduler);
        return new Realm(Calls.open(config), config, scheduler, serial, turns, file);
    }

    /** Finds out whether opening would wait for a write of this thread. */
    private void tryOpening() {
        Handle config = configuration(null);
        Handle scheduler = Handle.owning(Native.serialScheduler(null));
        Calls.configSetScheduler(config, scheduler);
        Calls.configSetLockTimeout(config, SELF_TIMEOUT);
        try {
            Handle trial = Calls.open(config);
            Calls.close(trial);
            trial.release();
        } catch (RealmException error) {
            throw error.code() == ErrorCode.TIMED_OUT ? Writes.already() : error;
        } finally {
            config.release();
            scheduler.release();
        }
    }

    /** The builder as a configuration of the C API. callbacks: receives its functions; null: none of them counts. */
    Handle configuration(OpenCallbacks callbacks) {
        Handle config = Calls.configNew();
        Calls.configSetPath(config, path);
        if (hasSchema && schemaJson != null) {
            throw new RealmException(ErrorCode.ILLEGAL_COMBINATION, "a schema of models, and one of JSON");
        }
        if (hasSchema || schemaJson != null) {
            Handle schema = Handle.owning(schemaJson != null ? Native.schemaFromJson(Texts.utf8(schemaJson))
                    : Native.schemaNew(ClassSchema.encode(classes.values())));
            Calls.configSetSchema(config, schema);
            Calls.configSetSchemaVersion(config, schemaVersion);
        }
        if (mode != 0) {
            Calls.configSetSchemaMode(config, mode);
        }
        if (key != null) {
            Native.setEncryptionKey(config, config.address(), key);
        }
        if (passphrase != null) {
            byte[] bytes = Texts.utf8(passphrase);
            Native.setPassphrase(config, config.address(), bytes);
            Arrays.fill(bytes, (byte) 0);
        }
        if (cipher != null) {
            Calls.configSetPageCipher(config, cipher.ordinal());
        }
        if (durability != Durability.FULL) {
            Calls.configSetDurability(config, durability.ordinal());
        }
        if (inMemory) {
            Calls.configSetInMemory(config, true);
        }
        if (snapshot) {
            Calls.configSetSnapshot(config, true);
        }
        if (lockTimeout != null) {
            Calls.configSetLockTimeout(config, lockTimeout.toMillis());
        }
        if (rules != null) {
            Calls.configSetRules(config, rules);
        }
        if (callbacks != null) {
            setCallbacks(config, callbacks);
        }
        return config;
    }

    private void setCallbacks(Handle config, OpenCallbacks callbacks) {
        callbacks.migration = migration;
        callbacks.initialData = initialData;
        callbacks.compactOnLaunch = compactOnLaunch;
        callbacks.progress = progress;
        if (migration != null) {
            Native.setCallback(config, config.address(), Native.ON_MIGRATION, callbacks);
        }
        if (initialData != null) {
            Native.setCallback(config, config.address(), Native.ON_INITIALIZATION, callbacks);
        }
        if (compactOnLaunch != null) {
            Native.setCallback(config, config.address(), Native.ON_COMPACTION, callbacks);
        }
        if (progress != null) {
            Native.setCallback(config, config.address(), Native.ON_PROGRESS, callbacks);
        }
    }
}
