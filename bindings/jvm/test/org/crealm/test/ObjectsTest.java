package org.crealm.test;

import static org.crealm.test.Run.check;
import static org.crealm.test.Run.equal;
import static org.crealm.test.Run.fails;
import static org.crealm.test.Run.file;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.crealm.CollectionType;
import org.crealm.Decimal128;
import org.crealm.ErrorCode;
import org.crealm.ObjectId;
import org.crealm.PropertySchema;
import org.crealm.PropertyType;
import org.crealm.Realm;
import org.crealm.RealmDictionary;
import org.crealm.RealmList;
import org.crealm.RealmObject;
import org.crealm.test.Models.Address;
import org.crealm.test.Models.Album;
import org.crealm.test.Models.Chain;
import org.crealm.test.Models.Dog;
import org.crealm.test.Models.Everything;
import org.crealm.test.Models.LivePerson;
import org.crealm.test.Models.Node;
import org.crealm.test.Models.Owner;
import org.crealm.test.Models.Person;
import org.crealm.test.Models.Track;
import org.crealm.test.Models.Types;
import org.crealm.test.Run.Test;

/** Models, live objects and values: what is written is read, in each form; what does not fit is refused. */
final class ObjectsTest {
    @Test
    void recordsAreStoredAndRead() {
        try (Realm realm = Realm.open(file(), Person.class)) {
            realm.write(() -> realm.create(new Person(1, "Ånn 😀", 31)));
            equal(new Person(1, "Ånn 😀", 31), realm.find(Person.class, 1));
            equal(null, realm.find(Person.class, 2));
            realm.write(() -> realm.upsert(new Person(1, null, 32)));
            equal(new Person(1, null, 32), realm.find(Person.class, 1L));
            fails(ErrorCode.OBJECT_ALREADY_EXISTS, () -> realm.write(() -> realm.create(new Person(1, "Bob", 1))));
            equal(1, realm.all(Person.class).size());
            realm.write(() -> realm.delete(new Person(1, "", 0)));
            check(realm.all(Person.class).isEmpty());
            fails(ErrorCode.NO_SUCH_OBJECT, () -> realm.write(() -> realm.delete(new Person(1, "", 0))));
        }
    }

    @Test
    void manyCopiesAreStoredInOneCall() {
        try (Realm realm = Realm.open(file(), Person.class)) {
            List<Person> people = new ArrayList<>();
            for (int index = 0; index < 2500; index++) {
                people.add(new Person(index, "n" + index, index % 100));
            }
            realm.write(() -> realm.createAll(people));
            equal(people, realm.all(Person.class).toList());
            fails(ErrorCode.OBJECT_ALREADY_EXISTS, () -> realm.write(() -> realm.createAll(people)));
            realm.write(() -> realm.upsertAll(List.of(new Person(0, "zero", 0), new Person(9999, "last", 1))));
            equal("zero", realm.find(Person.class, 0).name());
            equal(2501, realm.all(Person.class).size());
        }
    }

    @Test
    void batchesTakeEachType() {
        try (Realm realm = Realm.open(file(), Everything.class)) {
            List<Everything> all = new ArrayList<>();
            for (int index = 0; index < 1300; index++) {
                boolean empty = index % 3 == 0;
                all.add(new Everything(new UUID(index, -index), index, index % 2 == 0, index / 4f, -index / 8.0,
                        empty ? null : "tëxt" + index, empty ? null : new byte[index % 5], empty ? null : (long) index,
                        empty ? null : index % 2 == 1, empty ? null : Decimal128.parse(index + ".50"),
                        empty ? null : new ObjectId("0123456789abcdef0123" + String.format("%04x", index)),
                        empty ? null : new UUID(1, index)));
            }
            realm.write(() -> realm.createAll(all));
            List<Everything> read = realm.all(Everything.class).toList();
            equal(1300, read.size());
            for (int index = 0; index < 1300; index++) {
                Everything one = all.get(index);
                equal(one.bytes(), read.get(index).bytes());
                equal(one.without(null), read.get(index).without(null));
            }
            // A batch is refused as a whole.
            List<Everything> twice = List.of(all.get(1).without(new byte[0]), all.get(1));
            realm.write(() -> realm.all(Everything.class).deleteAll());
            fails(ErrorCode.OBJECT_ALREADY_EXISTS, () -> realm.write(() -> {
                fails(ErrorCode.OBJECT_ALREADY_EXISTS, () -> realm.createAll(twice));
                equal(0, realm.all(Everything.class).size());
                realm.createAll(twice);
            }));
        }
    }

    @Test
    void eachTypeKeepsItsValues() {
        String path = file();
        ObjectId key = new ObjectId();
        Types types = new Types();
        types.key = key;
        types.number = Long.MIN_VALUE;
        types.small = Integer.MAX_VALUE;
        types.shorter = Short.MIN_VALUE;
        types.shortest = Byte.MAX_VALUE;
        types.maybe = -1L;
        types.truth = true;
        types.perhaps = false;
        types.real = Float.MIN_VALUE;
        types.precise = -0.0;
        types.unsure = Double.NaN;
        types.text = "nul \0 inside";
        types.words = "quick brown fox";
        types.bytes = new byte[] {0, -1, 2};
        types.time = Instant.parse("1969-12-31T23:59:58.500000001Z");
        types.decimal = Decimal128.parse("-1.50");
        types.big = new BigDecimal("12345678901234567890.5");
        types.id = new ObjectId("0123456789abcdef01234567");
        types.uuid = UUID.fromString("01234567-89ab-cdef-0123-456789abcdef");
        types.any = types.uuid;
        types.shown = "other name";
        try (Realm realm = Realm.open(path, Types.class)) {
            realm.write(() -> realm.create(types));
        }
        try (Realm realm = Realm.open(path, Types.class)) {
            Types read = realm.find(Types.class, key);
            equal(types.number, read.number);
            equal(types.small, read.small);
            equal(types.shorter, read.shorter);
            equal(types.shortest, read.shortest);
            equal(types.maybe, read.maybe);
            equal(types.truth, read.truth);
            equal(types.perhaps, read.perhaps);
            equal(types.real, read.real);
            equal(Double.doubleToRawLongBits(-0.0), Double.doubleToRawLongBits(read.precise));
            equal(types.unsure, read.unsure);
            equal(types.text, read.text);
            equal(types.bytes, read.bytes);
            equal(types.time, read.time);
            equal(types.decimal, read.decimal);
            equal(types.big, read.big);
            equal(types.id, read.id);
            equal(types.uuid, read.uuid);
            equal(types.any, read.any);
            equal(types.shown, read.shown);
            equal("kept", read.ignored);
            equal("stored_name", realm.schema("Types").property("shown").name());
            equal(1, realm.query(Types.class, "shown == $0", "other name").size());
            equal(1, realm.query(Types.class, "words TEXT $0", "brown").size());
        }
    }

    @Test
    void nullsAreKeptAndRefused() {
        try (Realm realm = Realm.open(file(), Types.class)) {
            Types types = new Types();
            types.key = new ObjectId();
            realm.write(() -> realm.create(types));
            Types read = realm.find(Types.class, types.key);
            equal(null, read.maybe);
            equal(null, read.bytes);
            equal(null, read.any);
            equal(null, read.time);
            equal("", read.text);
            types.text = null;
            fails(ErrorCode.PROPERTY_NOT_NULLABLE, () -> realm.write(() -> realm.upsert(types)));
            Types withoutKey = new Types();
            withoutKey.text = "no key";
            realm.write(() -> realm.create(withoutKey));
            equal("no key", realm.find(Types.class, null).text);
        }
    }

    @Test
    void graphsOfCopiesAreStored() {
        try (Realm realm = Realm.open(file(), Owner.class)) {
            Owner ann = new Owner();
            ann.id = 1;
            ann.name = "Ann";
            Dog rex = new Dog();
            rex.name = "Rex";
            rex.owner = ann;
            ann.favourite = rex;
            ann.dogs.add(rex);
            ann.dogs.add(rex);
            ann.tags = Set.of("a", "b");
            ann.scores = Map.of("chess", 7);
            ann.numbers = List.of(3L, 1L, 2L);
            ann.home = new Address("Main", 5);
            ann.places = List.of(new Address("First", 1), new Address("Second", 2));
            realm.write(() -> realm.create(ann));
            Owner read = realm.find(Owner.class, 1);
            equal("Rex", read.favourite.name);
            check(read.favourite.owner == read);
            check(read.dogs.get(1) == read.favourite);
            equal(1L, read.favourite.owners.stream().distinct().count());
            equal(Set.of("a", "b"), read.tags);
            equal(Map.of("chess", 7), read.scores);
            equal(List.of(3L, 1L, 2L), read.numbers);
            equal("Main", read.home.street);
            equal(2, read.places.get(1).number);
            // Written again, collections and embedded objects are replaced.
            ann.places = List.of(new Address("Third", 3));
            ann.home = null;
            ann.tags = Set.of();
            realm.write(() -> realm.upsert(ann));
            equal(null, realm.find(Owner.class, 1).home);
            equal(1, realm.all("Address").size());
            equal(1, realm.all(Dog.class).size());
            realm.verify();
        }
    }

    @Test
    void recordsWithCollectionsAreCopies() {
        try (Realm realm = Realm.open(file(), Album.class, Track.class, Chain.class)) {
            Album album = new Album("One", Instant.EPOCH, List.of(new Track("A", 1.5), new Track("B", null)),
                    Map.of("k", "v"));
            realm.write(() -> realm.create(album));
            equal(album, realm.find(Album.class, "One"));
            equal(List.of(album), realm.all(Album.class).toList());
            Chain chain = new Chain(1, new Chain(2, null));
            realm.write(() -> realm.create(chain));
            equal(chain, realm.find(Chain.class, 1));
            realm.write(() -> realm.find("Chain", 2).set("next", realm.find("Chain", 1)));
            fails(ErrorCode.ILLEGAL_OPERATION, () -> realm.find(Chain.class, 1));
            equal(1L, realm.find("Chain", 2).getObject("next").getLong("id"));
        }
    }

    @Test
    void interfacesAreLive() {
        try (Realm realm = Realm.open(file(), Node.class)) {
            Node root = realm.write(() -> realm.create(Node.class, 1L, node -> {
                node.setName("root");
                node.setActive(true);
                node.setWeight(2.5);
                node.setSmall(1.25f);
                node.setTime(Instant.EPOCH);
                node.setAny(List.of(1L, Map.of("deep", "yes"), List.of()));
            }));
            equal(1L, root.getId());
            equal("root", root.getName());
            check(root.isActive());
            equal(2.5, root.getWeight());
            equal(1.25f, root.getSmall());
            equal(Instant.EPOCH, root.getTime());
            equal(null, root.getNext());
            equal("yes", ((Map<?, ?>) ((List<?>) root.getAny()).get(1)).get("deep"));
            realm.write(() -> {
                Node child = realm.create(Node.class, 2L, node -> node.setNext(root));
                root.getChildren().add(child);
                root.getChildren().add(root);
                root.getTags().addAll(List.of("b", "a"));
                root.getExtras().put("k", 5L);
                root.setName(null);
            });
            equal(null, root.getName());
            equal(2L, root.getChildren().get(0).getId());
            equal(root, root.getChildren().get(0).getNext());
            equal(List.of("a", "b"), List.copyOf(root.getTags()));
            equal(Map.of("k", 5L), root.getExtras());
            equal(List.of(root), root.getParents().toList());
            check(RealmObject.of(root).isValid());
            realm.write(() -> realm.delete(root));
            check(!RealmObject.of(root).isValid());
            fails(ErrorCode.INVALIDATED_OBJECT, root::getName);
            equal(null, realm.find(Node.class, 2).getNext());
            realm.verify();
        }
    }

    @Test
    void oneClassHasSeveralModels() {
        try (Realm realm = Realm.open(file(), Person.class)) {
            realm.write(() -> realm.create(new Person(1, "Ann", 31)));
            LivePerson ann = realm.find(LivePerson.class, 1);
            equal("Hello Ann", ann.greeting());
            realm.write(() -> ann.age(ann.age() + 1));
            equal(32, realm.find(Person.class, 1).age());
            equal(new Person(1, "Ann", 32), RealmObject.of(ann).as(Person.class));
            RealmObject object = realm.all(Person.class).objects().get(0);
            equal(RealmObject.of(ann), object);
            equal(32L, object.get("age"));
            realm.write(() -> object.add("age", Integer.MAX_VALUE));
            fails(ErrorCode.RANGE_ERROR, ann::age);
            equal(32L + Integer.MAX_VALUE, object.getLong("age"));
        }
    }

    @Test
    void objectsWithoutModels() {
        String path = file();
        try (Realm realm = Realm.open(path, Owner.class)) {
            RealmObject ann = realm.write(() -> realm.create("Owner", Map.of("id", 1, "name", "Ann",
                    "numbers", List.of(1, 2), "home", Map.of("street", "Main", "number", 5))));
            equal("Ann", ann.getString("name"));
            equal(5, ann.getObject("home").get("number", Integer.class));
            equal(ann, ann.getObject("home").parent());
            equal(List.of(1L, 2L), ann.getList("numbers"));
            realm.write(() -> realm.upsert("Owner", Map.of("id", 1, "name", "Anna")));
            equal("Anna", ann.get("name"));
            fails(ErrorCode.INVALID_PROPERTY, () -> ann.get("nothing"));
            fails(ErrorCode.MISSING_PRIMARY_KEY, () -> realm.write(() -> realm.create("Owner", Map.of("name", "Bob"))));
            fails(ErrorCode.PROPERTY_TYPE_MISMATCH, () -> realm.write(() -> ann.set("name", 5)));
            fails(ErrorCode.WRONG_TRANSACTION_STATE, () -> ann.set("name", "outside"));
            check(ann.toText().contains("Anna"));
        }
        try (Realm realm = Realm.open(path)) {
            equal(List.of("Address", "Dog", "Owner"), realm.schema().stream().map(info -> info.name()).toList());
            PropertySchema dogs = realm.schema("Owner").property("dogs");
            equal(PropertyType.OBJECT, dogs.type());
            equal(CollectionType.LIST, dogs.collection());
            equal("Dog", dogs.target());
            fails(ErrorCode.NO_SUCH_TABLE, () -> realm.all("Cat"));
        }
    }

    @Test
    void listsBehaveAsLists() {
        try (Realm realm = Realm.open(file(), Owner.class)) {
            RealmObject ann = realm.write(() -> realm.create("Owner", Map.of("id", 1)));
            RealmList<Long> numbers = ann.getList("numbers", Long.class);
            realm.write(() -> {
                for (long number = 0; number < 100; number++) {
                    numbers.add(number);
                }
                numbers.add(0, -1L);
                equal(-1L, numbers.remove(0));
                equal(50L, numbers.set(50, 500L));
                numbers.move(99, 0);
                numbers.removeIf(number -> number % 2 == 0);
            });
            equal(50, numbers.size());
            equal(99L, numbers.get(0));
            equal(1, numbers.indexOf(1L));
            equal(-1, numbers.indexOf(500L));
            equal(-1, numbers.indexOf("text"));
            check(!numbers.contains(null));
            equal(numbers.stream().mapToLong(number -> number).sum(), numbers.results().sum(null));
            equal(50, numbers.stream().toList().size());
            fails(ErrorCode.INDEX_OUT_OF_BOUNDS, () -> numbers.get(50));
            fails(ErrorCode.INDEX_OUT_OF_BOUNDS, () -> numbers.get(-1));
            fails(ErrorCode.PROPERTY_NOT_NULLABLE, () -> realm.write(() -> numbers.add(null)));
            realm.write(() -> realm.delete(ann));
            check(!numbers.isValid());
            fails(ErrorCode.INVALIDATED_OBJECT, numbers::size);
        }
    }

    @Test
    void setsAndDictionariesBehaveAsSuch() {
        try (Realm realm = Realm.open(file(), Owner.class)) {
            RealmObject ann = realm.write(() -> realm.create("Owner", Map.of("id", 1)));
            Set<String> tags = ann.getSet("tags", String.class);
            RealmDictionary<Long> scores = ann.getDictionary("scores", Long.class);
            realm.write(() -> {
                check(tags.add("b"));
                check(!tags.add("b"));
                tags.addAll(List.of("a", "c", "d"));
                check(tags.remove("c"));
                check(!tags.remove("c"));
                tags.removeIf("a"::equals);
                scores.put("x", 1L);
                equal(1L, scores.put("x", 2L));
                scores.putAll(Map.of("y", 3L, "z", 4L));
                equal(4L, scores.remove("z"));
                scores.entrySet().removeIf(entry -> entry.getKey().equals("y"));
                for (Map.Entry<String, Long> entry : scores.entrySet()) {
                    entry.setValue(entry.getValue() * 10);
                }
            });
            equal(Set.of("b", "d"), tags);
            check(tags.contains("d") && !tags.contains("x"));
            equal(Map.of("x", 20L), scores);
            check(scores.containsKey("x") && !scores.containsKey("y"));
            equal(null, scores.get("y"));
            equal(1, scores.size());
            fails(ErrorCode.INVALID_DICTIONARY_KEY, () -> realm.write(() -> scores.put("a.b", 1L)));
        }
    }

    @Test
    void mixedHoldsCollections() {
        try (Realm realm = Realm.open(file(), Node.class)) {
            Node node = realm.write(() -> realm.create(Node.class, 1L, made -> { }));
            List<Object> values = Arrays.asList(null, true, 5L, 1.5, 2.5f, "text", Instant.EPOCH, Decimal128.of(3),
                    new ObjectId("0123456789abcdef01234567"), new UUID(1, 2), node);
            for (Object value : values) {
                realm.write(() -> node.setAny(value));
                equal(value, node.getAny());
            }
            realm.write(() -> node.setAny(new byte[] {1, 2}));
            equal(new byte[] {1, 2}, (byte[]) node.getAny());
            realm.write(() -> node.setAny(Map.of("list", List.of(1L, List.of(2L), Map.of("three", 3L)))));
            @SuppressWarnings("unchecked")
            Map<String, Object> map = (Map<String, Object>) node.getAny();
            @SuppressWarnings("unchecked")
            List<Object> list = (List<Object>) map.get("list");
            equal(List.of(2L), list.get(1));
            realm.write(() -> {
                list.set(0, List.of("now a list"));
                list.add(Map.of("k", "v"));
                map.put("list2", list);
                // A collection that is written onto itself stays what it is.
                node.setAny(map);
            });
            @SuppressWarnings("unchecked")
            Map<String, Object> again = (Map<String, Object>) node.getAny();
            equal(List.of("now a list"), ((List<?>) again.get("list")).get(0));
            equal(Map.of("k", "v"), ((List<?>) again.get("list2")).get(3));
            realm.write(() -> RealmObject.of(node).setJson("any", "{\"a\": [1, 2.5, null]}"));
            equal(Arrays.asList(1L, 2.5, null), ((Map<?, ?>) node.getAny()).get("a"));
            realm.verify();
        }
    }
}
