package org.crealm.test;

import static org.crealm.test.Run.equal;
import static org.crealm.test.Run.file;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.crealm.Realm;
import org.crealm.RealmList;
import org.crealm.RealmObject;
import org.crealm.test.Models.Owner;
import org.crealm.test.Models.Person;
import org.crealm.test.Run.Test;

/** Seeded operations on a realm and on plain collections of Java, which must stay equal; some writes are undone. */
final class ModelTest {
    private static final int SEEDS = 25;

    @Test
    void collectionsBehaveAsThoseOfJava() {
        for (int seed = 1; seed <= SEEDS; seed++) {
            Random random = new Random(seed);
            try (Realm realm = Realm.open(file(), Owner.class)) {
                RealmObject owner = realm.write(() -> realm.create("Owner", Map.of("id", 1)));
                RealmList<Long> list = owner.getList("numbers", Long.class);
                Set<String> set = owner.getSet("tags", String.class);
                Map<String, Long> map = owner.getDictionary("scores", Long.class);
                List<Long> plainList = new ArrayList<>();
                Set<String> plainSet = new TreeSet<>();
                Map<String, Long> plainMap = new TreeMap<>();
                for (int write = 0; write < 12; write++) {
                    boolean undone = random.nextInt(4) == 0;
                    List<Long> listBefore = new ArrayList<>(plainList);
                    Set<String> setBefore = new TreeSet<>(plainSet);
                    Map<String, Long> mapBefore = new TreeMap<>(plainMap);
                    realm.beginWrite();
                    for (int step = 0; step < 40; step++) {
                        long number = random.nextInt(30);
                        int seedOfStep = random.nextInt();
                        equal(onList(plainList, new Random(seedOfStep), number),
                                onList(list, new Random(seedOfStep), number));
                        equal(onSet(plainSet, new Random(seedOfStep), number),
                                onSet(set, new Random(seedOfStep), number));
                        equal(onMap(plainMap, new Random(seedOfStep), number),
                                onMap(map, new Random(seedOfStep), number));
                    }
                    if (undone) {
                        realm.rollback();
                        plainList = listBefore;
                        plainSet = setBefore;
                        plainMap = mapBefore;
                    } else {
                        realm.commit();
                    }
                    equal(plainList, list);
                    equal(plainList, list.stream().toList());
                    equal(List.copyOf(plainSet), List.copyOf(set));
                    equal(List.copyOf(plainMap.entrySet()), List.copyOf(map.entrySet()));
                }
                realm.verify();
            } catch (RuntimeException | AssertionError error) {
                throw new AssertionError("seed " + seed, error);
            }
        }
    }

    private static Object onList(List<Long> list, Random random, long number) {
        int size = list.size();
        switch (random.nextInt(9)) {
            case 0, 1, 2 -> list.add(size == 0 ? 0 : random.nextInt(size + 1), number);
            case 3 -> {
                return size == 0 ? null : list.set(random.nextInt(size), number);
            }
            case 4 -> {
                return size == 0 ? null : list.remove(random.nextInt(size));
            }
            case 5 -> {
                return list.remove((Object) number);
            }
            case 6 -> {
                return list.removeIf(each -> each % 7 == number % 7);
            }
            case 7 -> list.addAll(List.of(number, number + 1));
            default -> list.sort(null);
        }
        return list.indexOf(number);
    }

    private static Object onSet(Set<String> set, Random random, long number) {
        String text = "t" + number;
        return switch (random.nextInt(6)) {
            case 0, 1, 2 -> set.add(text);
            case 3 -> set.remove(text);
            case 4 -> set.retainAll(List.of("t1", "t2", "t3", "t5", "t8", text));
            default -> set.contains(text);
        };
    }

    private static Object onMap(Map<String, Long> map, Random random, long number) {
        String key = "k" + number;
        switch (random.nextInt(7)) {
            case 0, 1, 2 -> {
                return map.put(key, number * random.nextInt(5));
            }
            case 3 -> {
                return map.remove(key);
            }
            case 4 -> {
                for (Iterator<Map.Entry<String, Long>> pairs = map.entrySet().iterator(); pairs.hasNext();) {
                    Map.Entry<String, Long> pair = pairs.next();
                    if (pair.getValue() % 3 == number % 3) {
                        pairs.remove();
                    } else {
                        pair.setValue(pair.getValue() + 1);
                    }
                }
                return map.size();
            }
            case 5 -> {
                return map.merge(key, 1L, Long::sum);
            }
            default -> {
                return map.containsKey(key);
            }
        }
    }

    @Test
    void objectsAndQueriesAgreeWithAMap() {
        for (int seed = 1; seed <= SEEDS; seed++) {
            Random random = new Random(seed);
            try (Realm realm = Realm.open(file(), Person.class)) {
                Map<Long, Person> plain = new TreeMap<>();
                for (int write = 0; write < 15; write++) {
                    Map<Long, Person> before = new TreeMap<>(plain);
                    realm.beginWrite();
                    for (int step = 0; step < 60; step++) {
                        long id = random.nextInt(100);
                        Person person = new Person(id, random.nextInt(5) == 0 ? null : "n" + random.nextInt(9),
                                random.nextInt(50));
                        if (random.nextInt(3) > 0) {
                            realm.upsert(person);
                            plain.put(id, person);
                        } else if (plain.remove(id) != null) {
                            realm.delete(person);
                        } else {
                            equal(null, realm.find(Person.class, id));
                        }
                    }
                    if (random.nextInt(4) == 0) {
                        realm.rollback();
                        plain = before;
                    } else {
                        realm.commit();
                    }
                    int age = random.nextInt(50);
                    equal(plain.values().stream().filter(each -> each.age() > age).toList(),
                            realm.query(Person.class, "age > $0", age).sorted("id").toList());
                    equal(plain.values().stream().filter(each -> each.name() == null).count(),
                            (long) realm.query(Person.class, "name == $0", (Object) null).size());
                }
                realm.verify();
            } catch (RuntimeException | AssertionError error) {
                throw new AssertionError("seed " + seed, error);
            }
        }
    }
}
