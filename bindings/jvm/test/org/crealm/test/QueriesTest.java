package org.crealm.test;

import static org.crealm.test.Run.check;
import static org.crealm.test.Run.equal;
import static org.crealm.test.Run.fails;
import static org.crealm.test.Run.file;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.crealm.Decimal128;
import org.crealm.ErrorCode;
import org.crealm.QueryPlan;
import org.crealm.Realm;
import org.crealm.RealmObject;
import org.crealm.Results;
import org.crealm.test.Models.Dog;
import org.crealm.test.Models.LivePerson;
import org.crealm.test.Models.Owner;
import org.crealm.test.Models.Person;
import org.crealm.test.Run.Test;

/** Queries and results: conditions, arguments, orders, pages, aggregates, and changes during a loop. */
final class QueriesTest {
    private static Realm people(int count) {
        Realm realm = Realm.open(file(), Person.class);
        List<Person> people = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            people.add(new Person(index, "n" + index % 10, index % 50));
        }
        realm.write(() -> realm.createAll(people));
        return realm;
    }

    @Test
    void conditionsTakeArguments() {
        try (Realm realm = people(100)) {
            equal(40, realm.query(Person.class, "age >= $0", 30).size());
            equal(4, realm.query(Person.class, "age >= $0 AND name == $1", 30, "n9").size());
            equal(4, realm.query(Person.class, "age IN $0", List.of(1, 2)).size());
            equal(40, realm.query("Person", "age >= 30").size());
            equal(10, realm.all(Person.class).filter("age < 20").filter("name == $0", "n3").size()
                    + realm.query(Person.class, "id < 6").size());
            fails(ErrorCode.INVALID_QUERY_STRING, () -> realm.query(Person.class, "age >"));
            fails(ErrorCode.INVALID_QUERY, () -> realm.query(Person.class, "years > 1"));
            fails(ErrorCode.INVALID_QUERY_ARG, () -> realm.query(Person.class, "age > $0"));
            check(realm.query(Person.class, "age > $0", 3).description().contains("age > 3"));
        }
    }

    @Test
    void ordersLimitsAndDistinct() {
        try (Realm realm = people(100)) {
            Results<Person> sorted = realm.all(Person.class).sorted("age DESC, id");
            equal(List.of(49L, 99L, 48L), sorted.limit(3).stream().map(Person::id).toList());
            equal(50, realm.all(Person.class).distinct("age").size());
            equal(0, sorted.limit(0).size());
            fails(ErrorCode.INVALID_ARGUMENT, () -> sorted.limit(-1));
            fails(ErrorCode.INVALID_QUERY, () -> realm.all(Person.class).sorted("nothing"));
            equal(Optional.of(new Person(49, "n9", 49)), sorted.first());
            equal(Optional.empty(), realm.query(Person.class, "age > 1000").first());
        }
    }

    @Test
    void pagesHaveAllRowsOnce() {
        for (int count : new int[] {0, 1, 15, 16, 17, 79, 80, 81, 3000}) {
            try (Realm realm = people(count)) {
                List<Long> ids = realm.all(Person.class).stream().map(Person::id).toList();
                equal(count, ids.size());
                for (int index = 0; index < count; index++) {
                    if (ids.get(index) != index) {
                        equal(index, ids.get(index));
                    }
                }
                long sum = 0;
                for (LivePerson person : realm.all(LivePerson.class)) {
                    sum += person.id();
                }
                equal((long) count * (count - 1) / 2, sum);
            }
        }
    }

    @Test
    void indicesOutsideAreRefused() {
        try (Realm realm = people(3)) {
            Results<Person> all = realm.all(Person.class);
            equal(2L, all.get(2).id());
            fails(ErrorCode.INDEX_OUT_OF_BOUNDS, () -> all.get(3));
            fails(ErrorCode.INDEX_OUT_OF_BOUNDS, () -> all.get(-1));
            Iterator<Person> iterator = all.iterator();
            while (iterator.hasNext()) {
                iterator.next();
            }
            Run.throwing(NoSuchElementException.class, iterator::next);
        }
    }

    @Test
    void loopsSurviveTheirOwnChanges() {
        try (Realm realm = people(2000)) {
            realm.write(() -> {
                int seen = 0;
                for (RealmObject person : realm.query("Person", "age < 25")) {
                    person.set("age", 1000);
                    seen++;
                }
                equal(1000, seen);
                for (RealmObject person : realm.query("Person", "age == 1000")) {
                    person.delete();
                }
            });
            equal(1000, realm.all(Person.class).size());
        }
    }

    @Test
    void aggregates() {
        try (Realm realm = people(100)) {
            Results<Person> all = realm.all(Person.class);
            equal(0L, all.min("age"));
            equal(49L, all.max("age"));
            equal(2450L, all.sum("age"));
            equal(24.5, all.average("age"));
            Results<Person> none = realm.query(Person.class, "age > 100");
            equal(null, none.min("age"));
            equal(null, none.average("age"));
            equal(0L, none.sum("age"));
            fails(ErrorCode.INVALID_PROPERTY, () -> all.min("nothing"));
            equal(Decimal128.parse("1.5").compareTo(Decimal128.parse("1.50")), 0);
        }
    }

    @Test
    void resultsWriteAndExplain() {
        try (Realm realm = people(100)) {
            equal(50L, realm.write(() -> realm.query(Person.class, "id < 50").update("age = age + $0", 100)));
            equal(50, realm.query(Person.class, "age >= 100").size());
            realm.write(() -> realm.query(Person.class, "age >= 100").deleteAll());
            equal(50, realm.all(Person.class).size());
            QueryPlan plan = realm.query(Person.class, "name == $0", "n1").explain();
            equal(QueryPlan.Access.INDEX, plan.access());
            equal("name", plan.index());
            equal(5L, plan.found());
        }
    }

    @Test
    void linksAndBacklinksAreQueried() {
        try (Realm realm = Realm.open(file(), Owner.class)) {
            realm.write(() -> {
                for (int index = 0; index < 10; index++) {
                    Owner owner = new Owner();
                    owner.id = index;
                    Dog dog = new Dog();
                    dog.name = "dog" + index;
                    owner.dogs.add(dog);
                    realm.create(owner);
                }
            });
            equal(1, realm.query(Owner.class, "ANY dogs.name == $0", "dog3").size());
            RealmObject dog = realm.find("Dog", "dog3");
            equal(List.of(3L), dog.getBacklinks(Owner.class, "dogs").stream().map(owner -> owner.id).toList());
            equal(1, realm.query(Owner.class, "ANY dogs == $0", dog).size());
            Dog copy = new Dog();
            copy.name = "dog4";
            equal(4L, realm.query(Owner.class, "ANY dogs == $0", copy).first().get().id);
            equal(1, realm.find("Owner", 1).getList("dogs", Dog.class).query("name ENDSWITH '1'").size());
        }
    }
}
