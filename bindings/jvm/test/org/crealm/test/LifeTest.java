package org.crealm.test;

import static org.crealm.test.Run.check;
import static org.crealm.test.Run.equal;
import static org.crealm.test.Run.fails;
import static org.crealm.test.Run.file;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.crealm.ErrorCode;
import org.crealm.PrimaryKey;
import org.crealm.Realm;
import org.crealm.RealmClass;
import org.crealm.RealmException;
import org.crealm.RealmObject;
import org.crealm.Results;
import org.crealm.Subscription;
import org.crealm.test.Models.LivePerson;
import org.crealm.test.Models.Owner;
import org.crealm.test.Models.Person;
import org.crealm.test.Run.Test;

/** Lives of realms, handles and callbacks: closing at bad moments, collecting in any order, interrupting. */
final class LifeTest {
    @RealmClass
    record Wide(@PrimaryKey long id, String text,
            int f0, int f1, int f2, int f3, int f4, int f5, int f6, int f7, int f8, int f9, int f10, int f11, int f12,
            int f13, int f14, int f15, int f16, int f17, int f18, int f19, int f20, int f21, int f22, int f23, int f24,
            int f25, int f26, int f27, int f28, int f29, int f30, int f31, int f32, int f33, int f34, int f35, int f36,
            int f37, int f38, int f39, int f40, int f41, int f42, int f43, int f44, int f45, int f46, int f47, int f48,
            int f49, int f50, int f51, int f52, int f53, int f54, int f55, int f56, int f57, int f58, int f59, int f60,
            int f61, int f62, int f63, int f64, int f65, int f66, int f67, int f68, int f69, int f70, int f71, int f72,
            int f73, int f74, int f75, int f76, int f77, int f78, int f79, int f80, int f81, int f82, int f83, int f84,
            int f85, int f86, int f87, int f88, int f89, int f90, int f91, int f92, int f93, int f94, int f95, int f96,
            int f97, int f98, int f99, int f100, int f101, int f102, int f103, int f104, int f105, int f106, int f107,
            int f108, int f109, int f110, int f111, int f112, int f113, int f114, int f115, int f116, int f117, int
            f118, int f119) {}

    private static Realm people(int count) {
        Realm realm = Realm.open(file(), Person.class);
        List<Person> people = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            people.add(new Person(index, "n" + index, index));
        }
        realm.write(() -> realm.createAll(people));
        return realm;
    }

    @Test
    void aListenerClosesTheRealm() {
        Realm realm = people(3);
        AtomicInteger calls = new AtomicInteger();
        realm.all(Person.class).observe((rows, changes) -> {
            calls.incrementAndGet();
            realm.close();
        });
        realm.all(Person.class).observe((rows, changes) -> calls.incrementAndGet());
        realm.refresh();
        check(realm.isClosed());
        check(calls.get() >= 1);
        fails(ErrorCode.CLOSED_REALM, realm::refresh);
    }

    @Test
    void onlyItsThreadClosesARealm() throws Exception {
        Realm realm = people(1);
        Thread other = new Thread(() -> fails(ErrorCode.WRONG_THREAD, realm::close));
        other.start();
        other.join();
        equal(1, realm.all(Person.class).size());
        realm.close();
        Realm[] made = new Realm[1];
        Thread ended = new Thread(() -> made[0] = people(1));
        ended.start();
        ended.join();
        made[0].close();
        check(made[0].isClosed());
    }

    @Test
    void frozenRealmsAreClosedWhileOthersRead() throws Exception {
        for (int round = 0; round < 20; round++) {
            try (Realm realm = people(2000)) {
                Realm frozen = realm.freeze();
                Results<Person> rows = realm.query(Person.class, "name CONTAINS $0", "9").in(frozen);
                LivePerson live = frozen.find(LivePerson.class, 1999);
                CountDownLatch running = new CountDownLatch(2);
                AtomicInteger ended = new AtomicInteger();
                List<Thread> readers = new ArrayList<>();
                for (int number = 0; number < 2; number++) {
                    Thread reader = new Thread(() -> {
                        try {
                            while (true) {
                                check(rows.stream().allMatch(person -> person.name().contains("9")));
                                check(live.name().equals("n1999") && live.age() == 1999);
                                running.countDown();
                            }
                        } catch (RealmException error) {
                            if (error.code() == ErrorCode.CLOSED_REALM || error.code() == ErrorCode.STALE_ACCESSOR
                                    || error.code() == ErrorCode.INVALIDATED_OBJECT) {
                                ended.incrementAndGet();
                            } else {
                                error.printStackTrace();
                            }
                        }
                    });
                    reader.start();
                    readers.add(reader);
                }
                running.await();
                frozen.close();
                frozen.close();
                for (Thread reader : readers) {
                    reader.join();
                }
                equal(2, ended.get());
            }
        }
    }

    @Test
    void serialRealmsKeepThreadsApart() throws Exception {
        try (Realm realm = Realm.builder(file()).schema(Person.class).serial().open()) {
            realm.write(() -> realm.create(new Person(1, "x".repeat(1000), 0)));
            AtomicInteger faults = new AtomicInteger();
            AtomicInteger done = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int number = 0; number < 3; number++) {
                int own = number;
                Thread thread = new Thread(() -> {
                    for (int round = 0; round < 2000; round++) {
                        try {
                            if (own == 0) {
                                String text = String.valueOf((char) ('a' + round % 26)).repeat(1000 + round);
                                realm.write(() -> realm.upsert(new Person(1, text, round(text))));
                            } else {
                                String name = realm.find(Person.class, 1).name();
                                faults.addAndGet(name.chars().distinct().count() == 1 ? 0 : 1);
                            }
                            done.incrementAndGet();
                        } catch (RealmException error) {
                            faults.addAndGet(error.code() == ErrorCode.WRONG_THREAD
                                    || error.code() == ErrorCode.WRONG_TRANSACTION_STATE ? 0 : 1);
                        }
                    }
                });
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) {
                thread.join();
            }
            if (realm.isWriting()) {
                realm.rollback();
            }
            equal(0, faults.get());
            check(done.get() > 0);
        }
    }

    private static int round(String text) {
        return text.length();
    }

    @Test
    void iteratorsOutliveTheirResults() {
        try (Realm realm = people(5000)) {
            Iterator<Person> iterator = realm.query(Person.class, "age >= 0").filter("age < 100000").iterator();
            int seen = 0;
            while (iterator.hasNext()) {
                equal((long) seen, iterator.next().id());
                seen++;
                if (seen % 1000 == 0) {
                    System.gc();
                }
            }
            equal(5000, seen);
        }
    }

    @Test
    void objectsOutliveTheirRealm() {
        LivePerson live;
        List<Long> list;
        Map<String, Long> dictionary;
        {
            Realm realm = Realm.open(file(), Person.class, Owner.class);
            realm.write(() -> realm.create(new Person(1, "a", 5)));
            RealmObject owner = realm.write(() -> realm.create("Owner", Map.of("id", 1, "numbers", List.of(1, 2))));
            live = realm.find(LivePerson.class, 1);
            list = owner.getList("numbers", Long.class);
            dictionary = owner.getDictionary("scores", Long.class);
        }
        // Nothing refers to the realm but these.
        System.gc();
        equal(5, live.age());
        equal(List.of(1L, 2L), list);
        RealmObject.of(live).realm().close();
        fails(ErrorCode.CLOSED_REALM, live::age);
        fails(ErrorCode.INVALIDATED_OBJECT, list::size);
        fails(ErrorCode.INVALIDATED_OBJECT, () -> dictionary.get("x"));
    }

    @Test
    void frequentlyReadObjectsStayCorrect() {
        try (Realm realm = people(1)) {
            LivePerson live = realm.find(LivePerson.class, 0);
            for (int round = 0; round < 1000; round++) {
                int age = round;
                realm.write(() -> live.age(age));
                equal(age, live.age());
            }
            realm.beginWrite();
            RealmObject.of(live).delete();
            fails(ErrorCode.INVALIDATED_OBJECT, live::age);
            realm.rollback();
            equal(999, live.age());
            realm.write(() -> realm.delete(live));
            fails(ErrorCode.INVALIDATED_OBJECT, live::age);
            fails(ErrorCode.INVALIDATED_OBJECT, () -> realm.write(() -> live.age(1)));
        }
    }

    @Test
    void longCallsAreInterrupted() throws Exception {
        try (Realm realm = people(20000)) {
            CountDownLatch running = new CountDownLatch(1);
            Thread other = new Thread(() -> {
                while (running.getCount() > 0) {
                    realm.interrupt();
                    Thread.yield();
                }
            });
            other.start();
            int code = 0;
            for (long start = System.nanoTime(); code == 0 && System.nanoTime() - start < 20_000_000_000L;) {
                try {
                    realm.query(Person.class, "name LIKE '*1*2*3*4*5*6*'").size();
                } catch (RealmException error) {
                    code = error.code();
                }
            }
            running.countDown();
            other.join();
            equal(ErrorCode.INTERRUPTED, code);
            equal(20000, realm.all(Person.class).size());
        }
    }

    @Test
    void wideRecords() {
        try (Realm realm = Realm.open(file(), Wide.class)) {
            Wide wide = new Wide(7, "wide",
                    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                    26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49,
                    50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73,
                    74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97,
                    98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116,
                    117, 118, 119);
            realm.write(() -> realm.create(wide));
            equal(wide, realm.find(Wide.class, 7));
            equal(List.of(wide), realm.all(Wide.class).toList());
        }
    }

    @Test
    void subscriptionsEndAnywhere() throws Exception {
        try (Realm realm = people(1)) {
            List<Subscription> all = new ArrayList<>();
            AtomicInteger calls = new AtomicInteger();
            for (int index = 0; index < 200; index++) {
                all.add(realm.all(Person.class).observe((rows, changes) -> calls.incrementAndGet()));
            }
            realm.refresh();
            equal(200, calls.get());
            Thread other = new Thread(() -> all.forEach(Subscription::close));
            other.start();
            other.join();
            realm.write(() -> realm.create(new Person(1000, "x", 1)));
            realm.refresh();
            equal(200, calls.get());
            // What nobody closes ends with the realm.
            realm.all(Person.class).observe((rows, changes) -> calls.incrementAndGet());
            System.gc();
            realm.refresh();
            equal(201, calls.get());
        }
    }
}
