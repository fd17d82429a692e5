package org.crealm.test;

import static org.crealm.test.Run.check;
import static org.crealm.test.Run.equal;
import static org.crealm.test.Run.fails;
import static org.crealm.test.Run.file;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.crealm.ErrorCode;
import org.crealm.Realm;
import org.crealm.RealmException;
import org.crealm.RealmObject;
import org.crealm.test.Models.LivePerson;
import org.crealm.test.Models.Owner;
import org.crealm.test.Models.Person;
import org.crealm.test.Run.Test;

/**
 * Memory of dropped objects and handles, and faults of the JVM's own beside the handler of the library.
 *
 * <p>The first million shows how much memory the handles take that wait for the collector; the second one takes no
 * more. The heap has a fixed size, so that only memory of C can grow.
 */
final class MemoryTest {
    private static final long MEGABYTE = 1 << 20;

    /** Bytes of memory in use by this process. */
    private static long resident() {
        try {
            String[] words = Files.readString(Path.of("/proc/self/statm")).split(" ");
            return Long.parseLong(words[1]) * 4096;
        } catch (IOException error) {
            throw new AssertionError(error);
        }
    }

    @Test
    void aMillionDroppedObjectsLeaveNoMemory() {
        try (Realm realm = Realm.open(file(), Person.class)) {
            realm.write(() -> realm.create(new Person(1, "a", 1)));
            long sum = 0;
            long before = 0;
            for (int part = 0; part < 2; part++) {
                for (int index = 0; index < 1_000_000; index++) {
                    sum += realm.find(LivePerson.class, 1).age();
                }
                if (part == 0) {
                    System.gc();
                    before = resident();
                }
            }
            equal(2_000_000L, sum);
            System.gc();
            check(resident() - before < 32 * MEGABYTE);
        }
    }

    @Test
    void aMillionDroppedHandlesLeaveNoMemory() throws InterruptedException {
        try (Realm realm = Realm.open(file(), Owner.class)) {
            RealmObject ann = realm.write(() -> realm.create("Owner", Map.of("id", 1)));
            long before = 0;
            long sum = 0;
            for (int part = 0; part < 2; part++) {
                for (int index = 0; index < 1_000_000; index++) {
                    sum += ann.getList("numbers", Long.class).size();
                }
                System.gc();
                Thread.sleep(200);
                before = part == 0 ? resident() : before;
            }
            equal(0L, sum);
            long grown = resident() - before;
            check(grown < 48 * MEGABYTE);
        }
    }

    @Test
    void droppedRealmsAreReleased() throws InterruptedException {
        String path = file();
        for (int index = 0; index < 50; index++) {
            Realm realm = Realm.open(path, Person.class);
            int id = index;
            realm.write(() -> realm.create(new Person(id, "a", 1)));
        }
        boolean deleted = false;
        for (int turn = 0; turn < 100 && !deleted; turn++) {
            System.gc();
            Thread.sleep(20);
            try {
                deleted = Realm.delete(path);
            } catch (RealmException open) {
                deleted = false;
            }
        }
        check(deleted);
    }

    @Test
    @SuppressWarnings("null")
    void faultsOfTheJvmStayItsOwn() {
        try (Realm realm = Realm.open(file(), Person.class)) {
            realm.write(() -> realm.create(new Person(1, "a", 1)));
            int caught = 0;
            Person[] people = {realm.find(Person.class, 1), null};
            long sum = 0;
            for (int index = 0; index < 30_000; index++) {
                try {
                    // Compiled code has no test for null here: the processor faults, and the JVM makes an exception.
                    sum += people[index % 3 == 0 ? 1 : 0].age();
                } catch (NullPointerException expected) {
                    caught++;
                }
                if (index % 1000 == 0) {
                    sum += realm.find(Person.class, 1).age() - 1;
                }
            }
            equal(10_000, caught);
            equal(20_000L, sum);
        }
    }

    @Test
    void aShortenedFileIsAnError() throws IOException {
        String path = file();
        Realm realm = Realm.open(path, Person.class);
        List<Person> people = new ArrayList<>();
        for (int index = 0; index < 50_000; index++) {
            people.add(new Person(index, "name " + index, index));
        }
        realm.write(() -> realm.createAll(people));
        realm.close();
        try (Realm again = Realm.open(path, Person.class);
                RandomAccessFile shortened = new RandomAccessFile(path, "rw")) {
            equal(1, again.find(Person.class, 1).age());
            shortened.setLength(8192);
            fails(ErrorCode.FILE_OPERATION_FAILED, () -> again.all(Person.class).toList());
            fails(ErrorCode.FILE_OPERATION_FAILED, () -> again.find(Person.class, 40_000));
        }
        // The JVM's own faults are still its own.
        Object nothing = people.size() > 1 ? null : people;
        Run.throwing(NullPointerException.class, () -> nothing.toString());
    }
}
