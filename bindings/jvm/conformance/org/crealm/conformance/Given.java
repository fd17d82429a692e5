package org.crealm.conformance;

import java.math.BigDecimal;
import java.math.MathContext;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.crealm.Decimal128;
import org.crealm.ObjectId;
import org.crealm.RealmObject;
import org.crealm.Timestamp;

/** The values of the suite: README.md there, "Values". */
@SuppressWarnings("unchecked")
final class Given {
    private Given() {}

    /** The value of a step as one of Java. */
    static Object value(Object given, Map<String, RealmObject> objects) {
        if (given instanceof BigDecimal number) {
            boolean whole = number.stripTrailingZeros().scale() <= 0 && number.toBigInteger().bitLength() < 64;
            return whole ? (Object) number.longValueExact() : (Object) number.doubleValue();
        }
        if (given instanceof List<?> list) {
            return new ArrayList<>(Arrays.asList(list.stream().map(each -> value(each, objects)).toArray()));
        }
        if (!(given instanceof Map<?, ?> map)) {
            return given;
        }
        String tag = map.size() == 1 ? (String) map.keySet().iterator().next() : "";
        Object text = map.get(tag);
        List<Object> parts = text instanceof List ? (List<Object>) text : List.of();
        return switch (tag) {
            case "$int" -> Long.valueOf((String) text);
            case "$double" -> Double.valueOf((String) text);
            case "$float" -> Float.valueOf((String) text);
            case "$decimal" -> Decimal128.parse((String) text);
            case "$oid" -> new ObjectId((String) text);
            case "$uuid" -> UUID.fromString((String) text);
            case "$data" -> Base64.getDecoder().decode((String) text);
            case "$link" -> objects.get(text);
            case "$repeat" -> ((String) parts.get(0)).repeat(((BigDecimal) parts.get(1)).intValue());
            case "$date" -> new Timestamp(Long.parseLong((String) parts.get(0)),
                    ((BigDecimal) parts.get(1)).intValue());
            default -> {
                Map<String, Object> values = new LinkedHashMap<>();
                map.forEach((name, element) -> values.put((String) name, value(element, objects)));
                yield values;
            }
        };
    }

    private static Object comparable(Object number) {
        if (number instanceof Long whole) {
            return Decimal128.of(whole);
        }
        return number instanceof Float || number instanceof Double ? decimal(((Number) number).doubleValue()) : number;
    }

    private static Decimal128 decimal(double number) {
        return Double.isFinite(number)
                ? Decimal128.of(new BigDecimal(number, MathContext.DECIMAL128)) : Decimal128.parse("" + number);
    }

    /** Whether what was read is what a step gives. */
    static boolean same(Object given, Object found, Map<String, RealmObject> objects) {
        boolean tagged = given instanceof Map<?, ?> map && map.size() == 1
                && map.keySet().iterator().next().toString().startsWith("$");
        if (given instanceof List<?> list) {
            List<Object> left = new ArrayList<>();
            (found instanceof Map<?, ?> pairs ? pairs.values() : (Iterable<?>) found).forEach(left::add);
            if (list.size() != left.size()) {
                return false;
            }
            if (found instanceof Set) {
                return list.stream().allMatch(each -> left.stream().anyMatch(one -> same(each, one, objects)));
            }
            return IntStream.range(0, left.size()).allMatch(place -> same(list.get(place), left.get(place), objects));
        }
        if (given instanceof Map<?, ?> map && !tagged) {
            boolean keys = found instanceof RealmObject
                    || found instanceof Map<?, ?> pairs && pairs.keySet().equals(map.keySet());
            return keys && map.keySet().stream().allMatch(name -> same(map.get(name),
                    found instanceof RealmObject object ? object.get((String) name) : ((Map<?, ?>) found).get(name),
                    objects));
        }
        Object wanted = value(given, objects);
        if (given instanceof BigDecimal number) {
            boolean large = number.toBigInteger().bitLength() >= 64 && found instanceof Decimal128;
            Object exact = large ? Decimal128.of(number) : comparable(wanted);
            return comparable(found) instanceof Decimal128 other && other.compareTo((Decimal128) exact) == 0;
        }
        if (wanted instanceof Timestamp && found instanceof Instant instant) {
            return wanted.equals(Timestamp.of(instant));
        }
        if (wanted instanceof Decimal128 one && found instanceof Decimal128 other) {
            return one.compareTo(other) == 0;
        }
        return Objects.deepEquals(wanted, found);
    }
}
