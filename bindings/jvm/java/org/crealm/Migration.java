package org.crealm;

/** Carries data over when the schema version of a file is lower than that of the program. */
@FunctionalInterface
public interface Migration {
    /**
     * Runs while the file is being opened. An exception leaves the file unchanged, and is thrown by the open.
     *
     * @param oldRealm the file before the migration, with all its classes; it can only be read
     * @param newRealm the file with the new schema; {@link Realm#renameProperty} keeps values under a new name
     */
    void migrate(Realm oldRealm, Realm newRealm);
}
