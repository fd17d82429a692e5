package org.crealm.test;

import static org.crealm.test.Run.check;
import static org.crealm.test.Run.equal;
import static org.crealm.test.Run.fails;
import static org.crealm.test.Run.file;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.crealm.Decimal128;
import org.crealm.ErrorCode;
import org.crealm.ObjectId;
import org.crealm.PrimaryKey;
import org.crealm.Realm;
import org.crealm.RealmClass;
import org.crealm.RealmObject;
import org.crealm.test.Models.Dog;
import org.crealm.test.Models.Node;
import org.crealm.test.Models.Owner;
import org.crealm.test.Models.Person;
import org.crealm.test.Run.Test;

/** Misuse and unusual values: typed errors, never a crash. */
final class HostileTest {
    @RealmClass
    static class NoProperties {}

    @RealmClass
    record TwoKeys(@PrimaryKey long one, @PrimaryKey long other) {}

    @RealmClass
    record Unknown(@PrimaryKey long id, Thread thread) {}

    @RealmClass
    @SuppressWarnings("rawtypes")
    record Raw(@PrimaryKey long id, List list) {}

    @RealmClass
    record NumberKeys(@PrimaryKey long id, Map<Integer, String> names) {}

    @RealmClass
    static class NoConstructor {
        long id;

        NoConstructor(String something) {
            id = something.length();
        }
    }

    @RealmClass
    interface Method {
        long getId();

        void compute(long one, long other);
    }

    record Plain(long id) {}

    @Test
    void modelsThatCannotBeStoredAreRefused() {
        for (Class<?> type : List.of(NoProperties.class, TwoKeys.class, Unknown.class, Raw.class,
                NumberKeys.class, NoConstructor.class)) {
            fails(ErrorCode.SCHEMA_VALIDATION_FAILED, () -> Realm.open(file(), type));
        }
        fails(ErrorCode.INVALID_ARGUMENT, () -> Realm.open(file(), Plain.class));
        try (Realm realm = Realm.open(file(), Method.class)) {
            fails(ErrorCode.SCHEMA_VALIDATION_FAILED, () -> realm.write(() -> realm.create(Method.class, made -> { })));
            fails(ErrorCode.INVALID_ARGUMENT, () -> realm.all(Plain.class));
            fails(ErrorCode.NO_SUCH_TABLE, () -> realm.all(Person.class));
        }
    }

    @Test
    void textsAreUtf8() {
        try (Realm realm = Realm.open(file(), Person.class)) {
            for (String text : List.of("", "\0", "a\0b", "ä", "€", "😀", "\uFFFF", "x".repeat(100_000),
                    "😀".repeat(1000))) {
                realm.write(() -> realm.upsert(new Person(1, text, 1)));
                equal(text, realm.find(Person.class, 1).name());
                equal(text, realm.find("Person", 1).getString("name"));
                equal(1, realm.query(Person.class, "name == $0", text).size());
            }
            for (String text : List.of("\uD800", "\uDC00", "a\uD800b", "\uDC00\uD800", "\uD83D")) {
                fails(ErrorCode.INVALID_ARGUMENT, () -> realm.write(() -> realm.upsert(new Person(1, text, 1))));
                fails(ErrorCode.INVALID_ARGUMENT, () -> realm.query(Person.class, "name == $0", text));
                fails(ErrorCode.INVALID_ARGUMENT, () -> realm.query(Person.class, text));
            }
            fails(ErrorCode.INVALID_ARGUMENT, () -> realm.query(Person.class, "name == \0"));
            fails(ErrorCode.INVALID_ARGUMENT, () -> Realm.open("a\0b"));
        }
    }

    @Test
    void valuesOfOtherTypesAreRefused() {
        try (Realm realm = Realm.open(file(), Owner.class, Node.class)) {
            RealmObject ann = realm.write(() -> realm.create("Owner", Map.of("id", 1)));
            RealmObject node = realm.write(() -> realm.create("Node", Map.of("id", 1)));
            realm.beginWrite();
            for (Object value : List.of("text", 1.5, true, new byte[1], new Object(), List.of(), Map.of(), ann)) {
                fails(ErrorCode.PROPERTY_TYPE_MISMATCH, () -> node.set("weight", new Object()));
                fails(ErrorCode.PROPERTY_TYPE_MISMATCH, () -> ann.set("numbers", List.of(value)));
                fails(ErrorCode.PROPERTY_TYPE_MISMATCH, () -> realm.create("Owner", Map.of("id", value)));
            }
            fails(ErrorCode.PROPERTY_TYPE_MISMATCH, () -> ann.set("favourite", node));
            fails(ErrorCode.PROPERTY_TYPE_MISMATCH, () -> ann.set("tags", "no collection"));
            fails(ErrorCode.PROPERTY_TYPE_MISMATCH, () -> ann.set("scores", List.of()));
            fails(ErrorCode.PROPERTY_TYPE_MISMATCH, () -> node.set("any", new Thread()));
            fails(ErrorCode.PROPERTY_TYPE_MISMATCH, () -> node.set("any", Map.of(1, "a key that is no text")));
            fails(ErrorCode.MODIFY_PRIMARY_KEY, () -> ann.set("id", 7));
            realm.rollback();
            fails(ErrorCode.OBJECT_TYPE_MISMATCH, () -> ann.as(Dog.class));
            Run.throwing(ClassCastException.class, () -> RealmObject.of(new Person(1, "", 1)));
            fails(ErrorCode.ILLEGAL_OPERATION, () -> realm.write(() -> realm.create(new Models.Address("s", 1))));
        }
    }

    @Test
    void objectsOfOtherRealmsAreRefused() {
        try (Realm realm = Realm.open(file(), Owner.class); Realm other = Realm.open(file(), Owner.class)) {
            RealmObject ann = realm.write(() -> realm.create("Owner", Map.of("id", 1)));
            RealmObject rex = other.write(() -> other.create("Dog", Map.of("name", "Rex")));
            realm.beginWrite();
            fails(ErrorCode.ILLEGAL_OPERATION, () -> ann.set("favourite", rex));
            fails(ErrorCode.ILLEGAL_OPERATION, () -> realm.delete(rex));
            realm.rollback();
            fails(ErrorCode.ILLEGAL_OPERATION, () -> realm.query(Owner.class, "favourite == $0", rex));
        }
    }

    @Test
    void hugeNumbersOfArgumentsAndDeepValues() {
        try (Realm realm = Realm.open(file(), Node.class)) {
            Object[] arguments = new Object[1000];
            java.util.Arrays.fill(arguments, 1L);
            equal(0, realm.query(Node.class, "id == $999", arguments).size());
            Node node = realm.write(() -> realm.create(Node.class, 1L, made -> { }));
            Object deep = 1L;
            for (int level = 0; level < 100; level++) {
                deep = List.of(deep);
            }
            Object fits = deep;
            realm.write(() -> node.setAny(fits));
            Object tooDeep = List.of(deep);
            fails(ErrorCode.LIMIT_EXCEEDED, () -> realm.write(() -> node.setAny(tooDeep)));
            fails(ErrorCode.LIMIT_EXCEEDED,
                    () -> realm.write(() -> RealmObject.of(node).set("name", "x".repeat(17_000_000))));
        }
    }

    @Test
    void decimalsAreExactAndOrdered() {
        Random random = new Random(1);
        for (int round = 0; round < 2000; round++) {
            BigDecimal value = new BigDecimal(new java.math.BigInteger(random.nextInt(112) + 1, random),
                    random.nextInt(200) - 100);
            BigDecimal signed = random.nextBoolean() ? value.negate() : value;
            if (signed.precision() <= 34 && Decimal128.of(signed).bigDecimalValue().compareTo(signed) != 0) {
                equal(signed, Decimal128.of(signed).bigDecimalValue());
            }
        }
        equal("1.50", Decimal128.parse("1.50").toString());
        equal("-0", Decimal128.parse("-0").toString());
        equal("NaN", Decimal128.parse("NaN").toString());
        equal("-Infinity", Decimal128.parse("-Infinity").toString());
        check(Decimal128.NaN.compareTo(Decimal128.NEGATIVE_INFINITY) < 0);
        check(Decimal128.of(1).compareTo(Decimal128.POSITIVE_INFINITY) < 0);
        equal(0, Decimal128.parse("2.0").compareTo(Decimal128.of(2)));
        equal(new BigDecimal("9.999999999999999999999999999999999E6144"),
                Decimal128.parse("9999999999999999999999999999999999E6111").bigDecimalValue());
        for (String beyond : List.of("1E6200", "12345678901234567890123456789012345", "1E-6177", "-1.5E-6176")) {
            fails(ErrorCode.RANGE_ERROR, () -> Decimal128.parse(beyond));
            fails(ErrorCode.RANGE_ERROR, () -> Decimal128.of(new BigDecimal(beyond)));
        }
        equal(new BigDecimal("1E-6176"), Decimal128.parse("10E-6177").bigDecimalValue());
        for (String malformed : List.of("", "x", " 1", "1e", "1_0", "-inf")) {
            fails(ErrorCode.INVALID_ARGUMENT, () -> Decimal128.parse(malformed));
        }
        Run.throwing(ArithmeticException.class, Decimal128.NaN::bigDecimalValue);
        ObjectId id = new ObjectId("0123456789abcdef01234567");
        equal(id, new ObjectId(id.toByteArray()));
        Run.throwing(IllegalArgumentException.class, () -> new ObjectId("xyz"));
        check(new ObjectId().compareTo(new ObjectId()) != 0);
    }
}
