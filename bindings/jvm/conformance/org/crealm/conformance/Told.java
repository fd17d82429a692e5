package org.crealm.conformance;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.crealm.CollectionChanges;
import org.crealm.RealmDictionary;
import org.crealm.RealmList;
import org.crealm.RealmObject;
import org.crealm.RealmSet;
import org.crealm.Results;

/** What listeners are told, in the form of the suite. */
final class Told {
    private Told() {}

    /** Watches something; adds what the listener is told. */
    static void observe(Object watched, String[] paths, List<Map<String, Object>> told) {
        if (watched instanceof RealmObject object) {
            object.observe((live, changes) -> told.add(
                    normal(Map.of("properties", changes.properties(), "deleted", changes.deleted()))), paths);
        } else if (watched instanceof RealmDictionary<?> dictionary) {
            dictionary.observe((live, changes) -> told.add(normal(Map.of("deletions", changes.deletions(),
                    "insertions", changes.insertions(), "modifications", changes.modifications(),
                    "cleared", changes.cleared(), "deleted", changes.deleted()))), paths);
        } else if (watched instanceof RealmList<?> list) {
            list.observe((live, changes) -> told.add(described(changes)), paths);
        } else if (watched instanceof RealmSet<?> set) {
            set.observe((live, changes) -> told.add(described(changes)), paths);
        } else {
            ((Results<?>) watched).observe((live, changes) -> told.add(described(changes)), paths);
        }
    }

    private static Map<String, Object> described(CollectionChanges changes) {
        return normal(Map.of("deletions", list(changes.deletions()), "insertions", list(changes.insertions()),
                "modifications", list(changes.modifications()), "cleared", changes.cleared(),
                "deleted", changes.deleted()));
    }

    private static List<Integer> list(int[] numbers) {
        return Arrays.stream(numbers).boxed().toList();
    }

    /** Changes without what is empty or false; numbers and names are sorted. */
    static Map<String, Object> normal(Map<String, Object> changes) {
        Map<String, Object> normal = new TreeMap<>();
        changes.forEach((name, value) -> {
            if (value instanceof List<?> list && !list.isEmpty()) {
                normal.put(name, new TreeSet<>(list.stream().map(Object::toString).toList()));
            } else if (Boolean.TRUE.equals(value)) {
                normal.put(name, true);
            }
        });
        return normal;
    }
}
