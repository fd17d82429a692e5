package org.crealm.test;

import static org.crealm.test.Run.check;
import static org.crealm.test.Run.equal;
import static org.crealm.test.Run.fails;
import static org.crealm.test.Run.file;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.crealm.CollectionChanges;
import org.crealm.ErrorCode;
import org.crealm.Realm;
import org.crealm.RealmObject;
import org.crealm.Subscription;
import org.crealm.test.Models.Node;
import org.crealm.test.Models.Owner;
import org.crealm.test.Models.Person;
import org.crealm.test.Run.Test;

/** Listeners: what they are told, when, on which thread, and what happens to their exceptions. */
final class ListenersTest {
    @Test
    void resultsReportChanges() {
        try (Realm realm = Realm.open(file(), Person.class)) {
            List<CollectionChanges> told = new ArrayList<>();
            Subscription subscription = realm.query(Person.class, "age > 10").sorted("age")
                    .observe((results, changes) -> told.add(changes));
            realm.refresh();
            equal(1, told.size());
            check(told.get(0).isEmpty());
            realm.write(() -> {
                realm.create(new Person(1, "a", 20));
                realm.create(new Person(2, "b", 30));
                realm.create(new Person(3, "c", 5));
            });
            realm.refresh();
            equal(new int[] {0, 1}, told.get(1).insertions());
            realm.write(() -> {
                realm.upsert(new Person(2, "x", 30));
                realm.create(new Person(4, "d", 15));
            });
            realm.refresh();
            equal(new int[] {1}, told.get(2).modifications());
            equal(new int[] {2}, told.get(2).modificationsAfter());
            equal(new int[] {0}, told.get(2).insertions());
            equal(new int[] {}, told.get(2).deletions());
            check(!told.get(2).cleared() && !told.get(2).deleted());
            equal(0, told.get(2).moves().length);
            subscription.close();
            subscription.close();
            realm.write(() -> realm.query(Person.class, "TRUEPREDICATE").deleteAll());
            realm.refresh();
            equal(3, told.size());
        }
    }

    @Test
    void keyPathsFilter() {
        try (Realm realm = Realm.open(file(), Person.class)) {
            realm.write(() -> realm.create(new Person(1, "a", 20)));
            AtomicInteger calls = new AtomicInteger();
            try (Subscription ages = realm.all(Person.class)
                    .observe((rows, changes) -> calls.incrementAndGet(), "age")) {
                realm.refresh();
                realm.write(() -> realm.find("Person", 1).set("name", "b"));
                realm.refresh();
                equal(1, calls.get());
                realm.write(() -> realm.find("Person", 1).set("age", 21));
                realm.refresh();
                equal(2, calls.get());
            }
            fails(ErrorCode.INVALID_ARGUMENT, () -> realm.all(Person.class).observe((rows, changes) -> { }, "nothing"));
        }
    }

    @Test
    void objectsListsAndDictionariesReport() {
        try (Realm realm = Realm.open(file(), Owner.class)) {
            RealmObject ann = realm.write(() -> realm.create("Owner", Map.of("id", 1)));
            List<String> told = new ArrayList<>();
            Subscription ofObject = ann.observe((object, changes) -> told.add("object " + changes));
            Subscription ofList = ann.getList("numbers", Long.class)
                    .observe((list, changes) -> told.add("list " + changes));
            Subscription ofSet = ann.getSet("tags", String.class).observe((set, changes) -> told.add("set " + changes));
            Subscription ofDictionary = ann.getDictionary("scores", Long.class)
                    .observe((dictionary, changes) -> told.add("dictionary " + changes));
            realm.refresh();
            told.clear();
            realm.write(() -> ann.set("name", "Ann").set("numbers", List.of(1, 2)).set("tags", List.of("t"))
                    .set("scores", Map.of("kö", 1)));
            realm.refresh();
            told.sort(null);
            equal(List.of("dictionary deletions [], insertions [kö], modifications []",
                    "list deletions [], insertions [0, 1], modifications []",
                    "object properties [name, tags, scores, numbers]",
                    "set deletions [], insertions [0], modifications []"), told.stream()
                    .map(text -> text.startsWith("object") ? "object properties [name, tags, scores, numbers]" : text)
                    .toList());
            told.clear();
            realm.write(() -> ann.delete());
            realm.refresh();
            check(told.contains("object deleted"));
            check(told.stream().anyMatch(text -> text.startsWith("list") && text.endsWith("deleted")));
            for (Subscription subscription : List.of(ofObject, ofList, ofSet, ofDictionary)) {
                subscription.close();
            }
        }
    }

    @Test
    void ownCommitsMayBeSilent() {
        try (Realm realm = Realm.open(file(), Person.class)) {
            AtomicInteger calls = new AtomicInteger();
            Subscription subscription = realm.all(Person.class).observe((rows, changes) -> calls.incrementAndGet());
            realm.refresh();
            realm.beginWrite();
            realm.create(new Person(1, "a", 1));
            realm.commitWithoutNotifying(subscription);
            realm.refresh();
            equal(1, calls.get());
            AtomicInteger versions = new AtomicInteger();
            Subscription ofRealm = realm.observe(moved -> versions.incrementAndGet());
            realm.write(() -> realm.create(new Person(2, "b", 2)));
            realm.refresh();
            equal(2, calls.get());
            check(versions.get() >= 1);
            ofRealm.close();
        }
    }

    @Test
    void exceptionsOfListenersGoToTheHandlerOfTheThread() {
        try (Realm realm = Realm.open(file(), Person.class)) {
            AtomicReference<Throwable> caught = new AtomicReference<>();
            Thread thread = Thread.currentThread();
            Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
            thread.setUncaughtExceptionHandler((where, error) -> caught.set(error));
            try (Subscription failing = realm.all(Person.class).observe((rows, changes) -> {
                throw new IllegalStateException("of a listener");
            })) {
                realm.refresh();
            } finally {
                thread.setUncaughtExceptionHandler(before);
            }
            equal("of a listener", caught.get().getMessage());
            realm.write(() -> realm.create(new Person(1, "a", 1)));
            equal(1, realm.all(Person.class).size());
        }
    }

    @Test
    void listenersHearOfOtherThreads() throws Exception {
        String path = file();
        try (Realm realm = Realm.open(path, Person.class)) {
            AtomicInteger inserted = new AtomicInteger();
            Subscription subscription = realm.all(Person.class)
                    .observe((rows, changes) -> inserted.addAndGet(changes.insertions().length));
            realm.refresh();
            Thread writer = new Thread(() -> {
                try (Realm other = Realm.open(path, Person.class)) {
                    other.write(() -> other.create(new Person(7, "other", 1)));
                }
            });
            writer.start();
            for (int turn = 0; turn < 200 && inserted.get() == 0; turn++) {
                realm.waitForChanges(Duration.ofMillis(50));
            }
            writer.join();
            equal(1, inserted.get());
            subscription.close();
        }
    }

    @Test
    void listenersRunOnTheExecutor() throws Exception {
        String path = file();
        ExecutorService executor = Executors.newSingleThreadExecutor();
        CountDownLatch told = new CountDownLatch(1);
        AtomicReference<Thread> where = new AtomicReference<>();
        Realm realm = executor.submit(() -> Realm.builder(path).schema(Person.class).executor(executor).open()).get();
        Thread own = executor.submit(Thread::currentThread).get();
        Subscription subscription = executor.submit(() -> realm.all(Person.class).observe((rows, changes) -> {
            if (changes.insertions().length > 0) {
                where.set(Thread.currentThread());
                told.countDown();
            }
        })).get();
        executor.submit(realm::refresh).get();
        try (Realm other = Realm.open(path, Person.class)) {
            other.write(() -> other.create(new Person(1, "a", 1)));
        }
        check(told.await(20, TimeUnit.SECONDS));
        equal(own, where.get());
        equal(2, realm.writeAsync(() -> {
            realm.create(new Person(2, "b", 1));
            return realm.all(Person.class).size();
        }).get(20, TimeUnit.SECONDS));
        executor.submit(() -> {
            subscription.close();
            realm.close();
        }).get();
        executor.shutdown();
        fails(ErrorCode.ILLEGAL_OPERATION, () -> Realm.open(file(), Person.class).writeAsync(() -> 1));
    }

    @Test
    void listenersMayWriteAndClose() {
        try (Realm realm = Realm.open(file(), Node.class)) {
            AtomicInteger calls = new AtomicInteger();
            AtomicReference<Subscription> own = new AtomicReference<>();
            own.set(realm.all(Node.class).observe((rows, changes) -> {
                if (calls.incrementAndGet() == 1) {
                    realm.write(() -> realm.create(Node.class, 1L, node -> { }));
                } else {
                    own.get().close();
                }
            }));
            realm.refresh();
            realm.refresh();
            realm.write(() -> realm.create(Node.class, 2L, node -> { }));
            realm.refresh();
            equal(2, calls.get());
        }
    }

    @Test
    void listenersAreNoNull() {
        try (Realm realm = Realm.open(file(), Person.class)) {
            fails(ErrorCode.INVALID_ARGUMENT, () -> realm.observe(null));
            fails(ErrorCode.INVALID_ARGUMENT, () -> realm.all(Person.class).observe(null));
        }
    }

    @Test
    void waitingEndsAlsoForTimesThatAreNone() {
        String path = file();
        try (Realm realm = Realm.open(path, Person.class)) {
            realm.refresh();
            while (realm.waitForChanges(Duration.ZERO)) { }
            equal(false, realm.waitForChanges(Duration.ofSeconds(-5)));
            equal(false, realm.waitForChanges(Duration.ofSeconds(Long.MIN_VALUE)));
            Thread waker = new Thread(() -> {
                try (Realm other = Realm.open(path, Person.class)) {
                    Thread.sleep(50);
                    other.write(() -> other.create(new Person(1, "Ann", 31)));
                } catch (InterruptedException error) {
                    throw new AssertionError(error);
                }
            });
            waker.start();
            equal(true, realm.waitForChanges(Duration.ofSeconds(Long.MAX_VALUE)));
        }
    }
}
