package org.crealm.conformance;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.crealm.*;

/** A case that runs: its file, the open realm, and what its steps named. */
@SuppressWarnings("unchecked")
final class Case {
    private final String path;
    private final Map<String, RealmObject> objects = new HashMap<>();
    private final Map<String, List<Map<String, Object>>> told = new HashMap<>();
    private final Map<String, Realm> frozen = new HashMap<>();
    private Object classes;
    private String key;
    private long version;
    private boolean readOnly;
    private List<List<String>> renamed = List.of();
    private Realm realm;

    Case(String path, Map<String, Object> test, Object classes) {
        this.path = path;
        this.classes = test.getOrDefault("classes", classes);
        this.key = (String) test.get("key");
        this.realm = opened();
    }

    private Realm opened() {
        RealmBuilder builder = Realm.builder(path).schemaJson(Json.write(classes)).schemaVersion(version);
        builder = key == null || key.isEmpty() ? builder : builder.encryptionKey(HexFormat.of().parseHex(key));
        if (readOnly) {
            return builder.readOnly().open();
        }
        return builder.migration((before, after) -> renamed.forEach(names ->
                after.renameProperty(names.get(0), names.get(1), names.get(2)))).open();
    }

    void close() {
        frozen.values().forEach(Realm::close);
        realm.close();
        objects.clear();
    }

    private Object value(Object given) {
        return Given.value(given, objects);
    }

    private void check(Object given, Object found) {
        if (!Given.same(given, found, objects)) {
            throw new AssertionError("found " + found + ", not " + given);
        }
    }

    private Object read(List<?> place) {
        Object thing = objects.get(place.get(0));
        for (Object part : place.subList(1, place.size())) {
            thing = thing instanceof RealmObject object ? object.get((String) part) : thing instanceof List<?> list
                    ? list.get(((BigDecimal) part).intValue()) : ((Map<?, ?>) thing).get(part);
        }
        return thing;
    }

    private Results<?> rows(Realm in, Object target, Map<String, Object> step) {
        Object base = target instanceof String name ? in.all(name) : read((List<?>) target);
        Results<?> rows = base instanceof RealmList<?> list ? list.results()
                : base instanceof RealmSet<?> set ? set.results()
                : base instanceof RealmDictionary<?> dictionary ? dictionary.results() : (Results<?>) base;
        if (step.get("where") instanceof String where && !where.isEmpty()) {
            List<Object> given = (List<Object>) step.getOrDefault("arguments", List.of());
            Object[] values = given.stream().map(this::value).toArray();
            rows = target instanceof String name ? in.query(name, where, values)
                    : base instanceof RealmList<?> list ? list.query(where, values)
                    : base instanceof RealmSet<?> set ? set.query(where, values) : rows.filter(where, values);
        }
        rows = step.containsKey("sort") ? rows.sorted((String) step.get("sort")) : rows;
        rows = step.containsKey("distinct") ? rows.distinct((String) step.get("distinct")) : rows;
        return step.containsKey("limit") ? rows.limit(number(step, "limit")) : rows;
    }

    /** Runs steps in a realm; null: in that of the case. */
    void run(List<Map<String, Object>> steps, Realm in) {
        for (Map<String, Object> step : steps) {
            try {
                step(step.keySet().iterator().next(), step, in == null ? realm : in);
            } catch (RealmException | ArithmeticException | IllegalArgumentException | ClassCastException error) {
                int code = error instanceof RealmException failure && failure.categories() != 0 ? failure.code() : 0;
                if (!step.containsKey("error") || code != 0 && !expects(step.get("error"), code)) {
                    throw step.containsKey("error") ? new IllegalStateException(step + ": " + error) : error;
                }
                continue;
            }
            if (step.containsKey("error")) {
                throw new AssertionError("no error: " + step);
            }
        }
    }

    private static boolean expects(Object errors, int code) {
        List<?> numbers = errors instanceof List<?> list ? list : List.of(errors);
        return numbers.stream().anyMatch(number -> ((BigDecimal) number).intValue() == code);
    }

    private void step(String verb, Map<String, Object> step, Realm in) {
        Object what = step.get(verb), gives = step.get("gives");
        RealmObject object = what instanceof String name ? objects.get(name) : null;
        Object place = what instanceof List<?> list && !list.isEmpty() && list.get(0) instanceof String
                ? read(list) : null;
        Map<String, Object> values = (Map<String, Object>) value(step.get("values"));
        Object element = value(step.get("value"));
        switch (verb) {
            case "write" -> in.write(() -> {
                run((List<Map<String, Object>>) what, in);
                if (step.containsKey("rollback")) {
                    in.rollback();
                }
            });
            case "create" -> objects.put((String) step.get("as"), step.containsKey("update")
                    ? in.upsert((String) what, values) : in.create((String) what, values));
            case "set" -> object.set(values);
            case "get" -> check(gives, object);
            case "delete" -> object.delete();
            case "valid" -> check(gives, object.isValid());
            case "find" -> {
                RealmObject found = in.find((String) what, value(step.get("primaryKey")));
                objects.put((String) step.get("as"), found);
                check(step.containsKey("gives") ? gives : found == null ? null : Map.of(), found);
            }
            case "count" -> check(gives, (long) rows(in, what, Map.of()).size());
            case "query" -> {
                Results<?> rows = rows(in, what, step);
                if (gives instanceof Map<?, ?> columns) {
                    columns.forEach((name, column) -> {
                        List<Object> found = new ArrayList<>();
                        rows.objects().forEach(row -> found.add(row.get((String) name)));
                        check(column, found);
                    });
                } else {
                    long count = rows.size();
                    check(gives == null ? new BigDecimal(count) : gives, count);
                }
            }
            case "sum" -> check(gives, rows(in, step.get("of"), step).sum((String) what));
            case "min" -> check(gives, rows(in, step.get("of"), step).min((String) what));
            case "max" -> check(gives, rows(in, step.get("of"), step).max((String) what));
            case "average" -> check(gives, rows(in, step.get("of"), step).average((String) what));
            case "deleteAll" -> rows(in, what, step).deleteAll();
            case "read" -> check(gives, place);
            case "insert" -> ((List<Object>) place).add(
                    step.containsKey("at") ? number(step, "at") : ((List<?>) place).size(), element);
            case "replace" -> ((List<Object>) place).set(number(step, "at"), element);
            case "move" -> ((RealmList<?>) place).move(number(step, "from"), number(step, "to"));
            case "add" -> ((Set<Object>) place).add(element);
            case "discard" -> ((Set<Object>) place).remove(element);
            case "put" -> ((Map<Object, Object>) place).put(step.get("key"), element);
            case "remove" -> {
                if (step.containsKey("key")) {
                    ((Map<?, ?>) place).remove(step.get("key"));
                } else {
                    ((List<?>) place).remove(number(step, "at"));
                }
            }
            case "clear" -> clear(place);
            case "observe" -> {
                String[] paths = ((List<String>) step.getOrDefault("paths", List.of())).toArray(String[]::new);
                List<Map<String, Object>> changes = new ArrayList<>();
                told.put((String) step.get("as"), changes);
                Object rows = what instanceof Map ? value(what)
                        : place != null && !step.containsKey("where") ? place : rows(in, what, step);
                Told.observe(rows, paths, changes);
                in.refresh();
                changes.clear();
            }
            case "turn" -> in.refresh();
            case "told" -> {
                List<Map<String, Object>> found = told.get(what);
                List<Object> wanted = gives == null ? List.of() : List.of(Told.normal((Map<String, Object>) gives));
                if (!wanted.equals(found)) {
                    throw new AssertionError("told " + found + ", not " + wanted);
                }
                found.clear();
            }
            case "elsewhere" -> {
                try (Realm other = opened()) {
                    run((List<Map<String, Object>>) what, other);
                }
            }
            case "freeze" -> frozen.put((String) what, in.freeze());
            case "frozen" -> run((List<Map<String, Object>>) step.get("steps"), frozen.get(what));
            case "open" -> reopen((Map<String, Object>) what);
            default -> throw new AssertionError("unknown step " + verb);
        }
    }

    private void reopen(Map<String, Object> what) {
        close();
        classes = what.getOrDefault("classes", classes);
        key = what.containsKey("key") ? (String) what.get("key") : key;
        readOnly = Boolean.TRUE.equals(what.get("readOnly"));
        renamed = (List<List<String>>) what.getOrDefault("rename", List.of());
        version = what.get("version") instanceof BigDecimal number ? number.longValue() : version;
        realm = opened();
    }

    private static int number(Map<String, Object> step, String name) {
        return ((BigDecimal) step.get(name)).intValue();
    }

    private static void clear(Object place) {
        if (place instanceof Map<?, ?> map) {
            map.clear();
        } else {
            ((Collection<?>) place).clear();
        }
    }
}
