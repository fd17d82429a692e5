package org.crealm.test;

import static org.crealm.test.Run.check;
import static org.crealm.test.Run.equal;
import static org.crealm.test.Run.fails;
import static org.crealm.test.Run.file;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.crealm.ClassSchema;
import org.crealm.CollectionType;
import org.crealm.ErrorCode;
import org.crealm.PropertySchema;
import org.crealm.PropertyType;
import org.crealm.Realm;
import org.crealm.RealmBuilder;
import org.crealm.RealmObject;
import org.crealm.test.Models.Node;
import org.crealm.test.Models.Owner;
import org.crealm.test.Models.Person;
import org.crealm.test.Run.Test;

/** Files: schemas, migrations, encryption, backups, compaction, versions, transactions. */
final class FilesTest {
    private static final byte[] KEY = new byte[64];

    @Test
    void transactionsEndInOneWay() {
        try (Realm realm = Realm.open(file(), Person.class)) {
            Run.throwing(IllegalStateException.class, () -> realm.write(() -> {
                realm.create(new Person(1, "a", 1));
                throw new IllegalStateException();
            }));
            check(!realm.isWriting());
            equal(0, realm.all(Person.class).size());
            realm.write(() -> {
                realm.create(new Person(1, "a", 1));
                realm.rollback();
            });
            equal(0, realm.all(Person.class).size());
            realm.write(() -> {
                realm.create(new Person(1, "a", 1));
                Run.throwing(IllegalStateException.class, () -> realm.savepoint(() -> {
                    realm.create(new Person(2, "b", 1));
                    throw new IllegalStateException();
                }));
                realm.savepoint(() -> realm.create(new Person(3, "c", 1)));
            });
            equal(List.of(1L, 3L), realm.all(Person.class).stream().map(Person::id).toList());
            fails(ErrorCode.WRONG_TRANSACTION_STATE, () -> realm.write(() -> realm.beginWrite()));
            fails(ErrorCode.WRONG_TRANSACTION_STATE, realm::commit);
            fails(ErrorCode.WRONG_TRANSACTION_STATE, () -> realm.create(new Person(9, "i", 1)));
        }
    }

    @Test
    void closedRealmsRefuse() {
        Realm realm = Realm.open(file(), Person.class);
        realm.write(() -> realm.create(new Person(1, "a", 1)));
        RealmObject object = realm.find("Person", 1);
        var results = realm.all(Person.class);
        realm.close();
        realm.close();
        check(realm.isClosed());
        check(!object.isValid());
        fails(ErrorCode.CLOSED_REALM, () -> realm.find(Person.class, 1));
        fails(ErrorCode.CLOSED_REALM, () -> object.getLong("age"));
        fails(ErrorCode.STALE_ACCESSOR, results::size);
        fails(ErrorCode.CLOSED_REALM, realm::refresh);
    }

    @Test
    void migrationsCarryDataOver() {
        String path = file();
        ClassSchema old = new ClassSchema("Person", false, List.of(
                PropertySchema.of("id", PropertyType.INT).asPrimaryKey(),
                PropertySchema.of("full", PropertyType.STRING),
                PropertySchema.of("years", PropertyType.STRING)));
        ClassSchema gone = new ClassSchema("Gone", false, List.of(PropertySchema.of("x", PropertyType.INT)));
        try (Realm realm = Realm.builder(path).schema(old, gone).schemaVersion(1).open()) {
            realm.write(() -> {
                realm.create("Person", Map.of("id", 1, "full", "Ann", "years", "31"));
                realm.create("Gone", Map.of("x", 1));
            });
        }
        fails(ErrorCode.SCHEMA_MISMATCH, () -> Realm.builder(path).schema(Person.class).schemaVersion(1).open());
        IllegalStateException thrown = Run.throwing(IllegalStateException.class, () -> Realm.builder(path)
                .schema(Person.class).schemaVersion(2).migration((before, after) -> {
                    throw new IllegalStateException("of a migration");
                }).open());
        equal("of a migration", thrown.getMessage());
        List<Realm> kept = new ArrayList<>();
        try (Realm realm = Realm.builder(path).schema(Person.class).schemaVersion(2).migration((before, after) -> {
            kept.add(before);
            after.renameProperty("Person", "full", "name");
            equal(1L, before.schemaVersion());
            for (RealmObject person : before.all("Person")) {
                after.find("Person", person.get("id")).set("age", Integer.parseInt(person.getString("years")));
            }
            check(after.removeClass("Gone"));
        }).open()) {
            equal(new Person(1, "Ann", 31), realm.find(Person.class, 1));
            equal(2L, realm.schemaVersion());
        }
        fails(ErrorCode.INVALID_ARGUMENT, () -> kept.get(0).all("Person"));
        fails(ErrorCode.INVALID_SCHEMA_VERSION, () -> Realm.builder(path).schema(Person.class).schemaVersion(1).open());
    }

    @Test
    void describedSchemasAreLikeModels() {
        ClassSchema dog = new ClassSchema("Dog", false, List.of(
                PropertySchema.of("name", PropertyType.STRING).asNullable().asIndexed(),
                PropertySchema.link("owner", "Owner")));
        ClassSchema owner = new ClassSchema("Owner", false, List.of(
                PropertySchema.of("id", PropertyType.INT).asPrimaryKey(),
                PropertySchema.of("tags", PropertyType.STRING).in(CollectionType.SET),
                PropertySchema.backlinks("dogs", "Dog", "owner")));
        try (Realm realm = Realm.builder(file()).schema(dog, owner).open()) {
            RealmObject ann = realm.write(() -> {
                RealmObject made = realm.create("Owner", Map.of("id", 1, "tags", List.of("x")));
                realm.create("Dog", Map.of("name", "Rex", "owner", made));
                return made;
            });
            equal(1, ((org.crealm.Results<?>) ann.get("dogs")).size());
        }
        ClassSchema broken = new ClassSchema("Dog", false, List.of(PropertySchema.link("owner", "Nobody")));
        fails(ErrorCode.SCHEMA_VALIDATION_FAILED, () -> Realm.builder(file()).schema(broken).open());
    }

    @Test
    void initialDataAndCompaction() {
        String path = file();
        RealmBuilder builder = Realm.builder(path).schema(Person.class)
                .initialData(realm -> realm.create(new Person(1, "first", 1)));
        try (Realm realm = builder.open()) {
            equal(1, realm.all(Person.class).size());
        }
        List<Long> asked = new ArrayList<>();
        try (Realm realm = Realm.builder(path).schema(Person.class)
                .compactOnLaunch((total, used) -> asked.add(used)).open()) {
            equal(1, realm.all(Person.class).size());
            check(realm.compact());
        }
        equal(1, asked.size());
        Run.throwing(IllegalStateException.class, () -> Realm.builder(file()).schema(Person.class)
                .initialData(realm -> {
                    throw new IllegalStateException();
                }).open());
    }

    @Test
    void encryptedFilesNeedTheirKey() throws Exception {
        String path = file();
        try (Realm realm = Realm.builder(path).schema(Person.class).encryptionKey(KEY).open()) {
            realm.write(() -> realm.create(new Person(1, "secret name", 1)));
        }
        check(!new String(Files.readAllBytes(Path.of(path)), "ISO-8859-1").contains("secret name"));
        fails(ErrorCode.INVALID_DATABASE, () -> Realm.open(path, Person.class));
        fails(ErrorCode.INVALID_ENCRYPTION_KEY, () -> Realm.builder(path).encryptionKey(new byte[5]).open());
        try (Realm realm = Realm.builder(path).schema(Person.class).encryptionKey(KEY).open()) {
            realm.changeKey(Realm.builder(path).passphrase("påss"));
        }
        try (Realm realm = Realm.builder(path).schema(Person.class).passphrase("påss").open()) {
            equal("secret name", realm.find(Person.class, 1).name());
            realm.changeKey(Realm.builder(path));
        }
        try (Realm realm = Realm.open(path, Person.class)) {
            equal(1, realm.all(Person.class).size());
        }
        String other = file();
        try (Realm realm = Realm.builder(other).schema(Person.class).encryptionKey(KEY)
                .cipher(RealmBuilder.Cipher.REALM).durability(RealmBuilder.Durability.UNSAFE).open()) {
            realm.write(() -> realm.create(new Person(2, "b", 1)));
            equal(1, realm.all(Person.class).size());
        }
    }

    @Test
    void backupsAndSteps() {
        String path = file();
        String copy = file();
        String first = file();
        String second = file();
        String restored = file();
        try (Realm realm = Realm.open(path, Person.class)) {
            realm.write(() -> realm.create(new Person(1, "a", 1)));
            realm.backup(Realm.builder(copy).encryptionKey(KEY));
            check(realm.backupSince(null, first) > 0);
            realm.write(() -> realm.create(new Person(2, "b", 1)));
            check(realm.backupSince(first, second) > 0);
            fails(ErrorCode.FILE_ALREADY_EXISTS, () -> realm.backup(Realm.builder(copy)));
            fails(ErrorCode.DELETE_OPENED_REALM, () -> Realm.delete(path));
        }
        try (Realm realm = Realm.builder(copy).schema(Person.class).encryptionKey(KEY).open()) {
            equal(1, realm.all(Person.class).size());
        }
        Realm.restore(Realm.builder(restored), first, second);
        try (Realm realm = Realm.builder(restored).schema(Person.class).readOnly().open()) {
            equal(2, realm.all(Person.class).size());
            fails(ErrorCode.WRONG_TRANSACTION_STATE, realm::beginWrite);
        }
        check(Realm.delete(path));
        check(!Realm.delete(path));
    }

    @Test
    void realmsInMemoryLeaveNothing() {
        String path = file();
        try (Realm realm = Realm.builder(path).schema(Person.class).inMemory().open()) {
            realm.write(() -> realm.create(new Person(1, "a", 1)));
            equal(1, realm.all(Person.class).size());
        }
        try (Realm realm = Realm.builder(path).schema(Person.class).inMemory().open()) {
            equal(0, realm.all(Person.class).size());
        }
    }

    @Test
    void waitingForTheWriteLockEnds() throws Exception {
        String path = file();
        try (Realm realm = Realm.open(path, Person.class)) {
            realm.beginWrite();
            Thread other = new Thread(() -> {
                try (Realm waiting = Realm.builder(path).schema(Person.class).lockTimeout(Duration.ofMillis(50))
                        .open()) {
                    fails(ErrorCode.TIMED_OUT, waiting::beginWrite);
                }
            });
            other.start();
            other.join();
            realm.rollback();
        }
        equal(true, true);
    }

    @Test
    void errorsNameFilesAndNumbers() {
        var error = fails(ErrorCode.FILE_NOT_FOUND, () -> Realm.open("/nowhere/at/all.realm", Person.class));
        equal("FILE_NOT_FOUND", error.codeName());
        check(error.path().contains("/nowhere"));
        check(error.getMessage().contains("1019"));
        equal("NOT_SUPPORTED", ErrorCode.name(2001));
        equal("123456", ErrorCode.name(123456));
    }

    @Test
    void rulesAndProgress() {
        String rules = "{\"Person\": {\"checks\": [\"age >= 0\"]}}";
        try (Realm realm = Realm.builder(file()).schema(Person.class).rules(rules)
                .progress((activity, done, total) -> true).open()) {
            check(realm.rules("Person").contains("age >= 0"));
            fails(ErrorCode.RULE_BROKEN, () -> realm.write(() -> realm.create(new Person(1, "a", -1))));
            check(!realm.isWriting());
            realm.verify();
        }
        try (Realm realm = Realm.builder(file()).schema(Owner.class).progress((activity, done, total) -> {
            throw new IllegalStateException("of the progress function");
        }).open()) {
            Run.throwing(IllegalStateException.class, realm::verify);
            // The exception belongs to that call only.
            fails(ErrorCode.NO_SUCH_TABLE, () -> realm.all("Nothing"));
        }
        Run.throwing(IllegalStateException.class, () -> {
            String path = file();
            Realm.open(path, Person.class).close();
            Realm.builder(path).schema(Person.class).compactOnLaunch((total, used) -> {
                throw new IllegalStateException();
            }).open();
        });
    }

    @Test
    void aReadOnlyRealmMayDeclareClassesThatTheFileLacks() {
        String path = file();
        Realm.open(path, Person.class).close();
        try (Realm realm = Realm.builder(path).schema(Person.class, Node.class).readOnly().open()) {
            equal(0, realm.all(Person.class).size());
            fails(ErrorCode.NO_SUCH_TABLE, () -> realm.all(Node.class));
            fails(ErrorCode.NO_SUCH_TABLE, () -> realm.schema("Node"));
        }
    }
}
