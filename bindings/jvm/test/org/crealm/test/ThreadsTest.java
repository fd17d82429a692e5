package org.crealm.test;

import static org.crealm.test.Run.check;
import static org.crealm.test.Run.equal;
import static org.crealm.test.Run.fails;
import static org.crealm.test.Run.file;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.crealm.ErrorCode;
import org.crealm.Realm;
import org.crealm.Results;
import org.crealm.Subscription;
import org.crealm.test.Models.LivePerson;
import org.crealm.test.Models.Node;
import org.crealm.test.Models.Person;
import org.crealm.test.Run.Test;

/** Threads: confined, serial and frozen realms. */
final class ThreadsTest {
    private static <T> T elsewhere(Callable<T> action) {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            return executor.submit(action).get();
        } catch (ExecutionException error) {
            if (error.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new AssertionError(error);
        } catch (InterruptedException error) {
            throw new AssertionError(error);
        } finally {
            executor.shutdown();
        }
    }

    @Test
    void confinedRealmsRefuseOtherThreads() {
        try (Realm realm = Realm.open(file(), Person.class)) {
            realm.write(() -> realm.create(new Person(1, "a", 1)));
            LivePerson live = realm.find(LivePerson.class, 1);
            fails(ErrorCode.WRONG_THREAD, () -> elsewhere(() -> realm.find(Person.class, 1)));
            fails(ErrorCode.WRONG_THREAD, () -> elsewhere(live::age));
            fails(ErrorCode.WRONG_THREAD, () -> elsewhere(() -> realm.all(Person.class).size()));
            equal(1, live.age());
        }
    }

    @Test
    void frozenRealmsAreForAllThreads() throws Exception {
        try (Realm realm = Realm.open(file(), Person.class)) {
            List<Person> people = new ArrayList<>();
            for (int index = 0; index < 1000; index++) {
                people.add(new Person(index, "n" + index, index));
            }
            realm.write(() -> realm.createAll(people));
            Results<Person> all = realm.all(Person.class);
            try (Realm frozen = realm.freeze()) {
                check(frozen.isFrozen() && !realm.isFrozen());
                Results<Person> still = all.in(frozen);
                ExecutorService executor = Executors.newFixedThreadPool(4);
                List<Future<Long>> sums = new ArrayList<>();
                for (int task = 0; task < 8; task++) {
                    sums.add(executor.submit(() -> {
                        long sum = 0;
                        for (int round = 0; round < 20; round++) {
                            sum += still.stream().mapToLong(Person::age).sum();
                            sum += frozen.find(LivePerson.class, round).age();
                        }
                        return sum;
                    }));
                }
                realm.write(() -> realm.all(Person.class).deleteAll());
                for (Future<Long> sum : sums) {
                    equal(20 * 499500L + 190, sum.get());
                }
                executor.shutdown();
                equal(0, realm.all(Person.class).size());
                equal(1000, still.size());
                fails(ErrorCode.WRONG_TRANSACTION_STATE, frozen::beginWrite);
            }
        }
    }

    @Test
    void serialRealmsMoveBetweenThreads() throws Exception {
        try (Realm realm = Realm.builder(file()).schema(Person.class).serial().open()) {
            ExecutorService executor = Executors.newFixedThreadPool(4);
            ReentrantLock lock = new ReentrantLock();
            List<Future<?>> tasks = new ArrayList<>();
            for (int task = 0; task < 200; task++) {
                int id = task;
                tasks.add(executor.submit(() -> {
                    lock.lock();
                    try {
                        realm.write(() -> realm.create(new Person(id, "a", 1)));
                    } finally {
                        lock.unlock();
                    }
                }));
            }
            for (Future<?> task : tasks) {
                task.get();
            }
            executor.shutdown();
            equal(200, realm.all(Person.class).size());
            realm.beginWrite();
            elsewhere(() -> realm.create(new Person(1000, "b", 1)));
            realm.commit();
            equal(201, realm.all(Person.class).size());
        }
    }

    @Test
    void serialRealmsRefuseTwoThreadsAtOnce() {
        try (Realm realm = Realm.builder(file()).schema(Person.class).serial().open()) {
            realm.write(() -> realm.create(new Person(1, "a", 1)));
            AtomicInteger refused = new AtomicInteger();
            // While a listener runs, its thread is inside a call.
            try (Subscription subscription = realm.all(Person.class).observe((rows, changes) -> {
                fails(ErrorCode.WRONG_THREAD, () -> elsewhere(() -> realm.find(Person.class, 1)));
                refused.incrementAndGet();
            })) {
                realm.refresh();
            }
            equal(1, refused.get());
            equal(new Person(1, "a", 1), elsewhere(() -> realm.find(Person.class, 1)));
        }
    }

    @Test
    void virtualThreadsUseSerialRealms() throws Exception {
        ExecutorService executor;
        try {
            executor = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException absent) {
            check(true);
            return;
        }
        try (Realm realm = Realm.builder(file()).schema(Person.class).serial().open()) {
            ReentrantLock lock = new ReentrantLock();
            List<Future<?>> tasks = new ArrayList<>();
            for (int task = 0; task < 1000; task++) {
                int id = task;
                tasks.add(executor.submit(() -> {
                    lock.lock();
                    try {
                        realm.beginWrite();
                        Thread.yield();
                        realm.create(new Person(id, "a", 1));
                        Thread.sleep(0, 1);
                        realm.commit();
                    } finally {
                        lock.unlock();
                    }
                    return null;
                }));
            }
            for (Future<?> task : tasks) {
                task.get();
            }
            executor.shutdown();
            equal(1000, realm.all(Person.class).size());
        }
    }

    @Test
    void aSecondWriteOfAThreadIsRefused() {
        String path = file();
        try (Realm one = Realm.builder(path).schema(Person.class).serial().open();
                Realm other = Realm.builder(path.replaceFirst("/([^/]*)$", "/./$1")).schema(Person.class).serial().open();
                Realm confined = Realm.open(path, Person.class)) {
            one.write(() -> {
                fails(ErrorCode.WRONG_TRANSACTION_STATE, () -> one.write(() -> { }));
                fails(ErrorCode.WRONG_TRANSACTION_STATE, () -> other.write(() -> { }));
                fails(ErrorCode.WRONG_TRANSACTION_STATE, () -> confined.write(() -> { }));
                fails(ErrorCode.WRONG_TRANSACTION_STATE,
                        () -> Realm.builder(path).schema(Person.class, Node.class).serial().open());
                Realm.builder(path).schema(Person.class).serial().open().close();
                one.create(new Person(1, "Ann", 31));
            });
            other.write(() -> other.create(new Person(2, "Bob", 29)));
            confined.refresh();
            equal(2, confined.all(Person.class).size());
        }
    }
}
