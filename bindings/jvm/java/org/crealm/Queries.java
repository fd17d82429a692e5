package org.crealm;

import java.util.Collection;
import java.util.regex.Pattern;

/** Texts and arguments of queries. */
final class Queries {
    private static final Pattern DIRECTION = Pattern.compile("(?i)\\s(ASC|ASCENDING|DESC|DESCENDING)$");

    private Queries() {}

    /** A query on a realm's class, a collection, results or another query. */
    static Handle on(Realm realm, Handle base, int kind, int classKey, String text, Object... arguments) {
        Arguments encoded = new Arguments(realm, arguments);
        long made = Native.query(base, base.address(), kind, classKey, Texts.utf8(text), encoded.lengths,
                encoded.values);
        return Handle.owning(made, base);
    }

    /** An order in which each path has a direction. */
    static String order(String order) {
        StringBuilder result = new StringBuilder();
        for (String path : order.split(",")) {
            String trimmed = path.trim();
            result.append(result.length() > 0 ? ", " : "").append(trimmed);
            if (!trimmed.isEmpty() && !DIRECTION.matcher(trimmed).find()) {
                result.append(" ASC");
            }
        }
        return result.toString();
    }

    /** The values of $0, $1 and so on; a collection is a list of values. */
    static final class Arguments {
        final long[] lengths;
        final byte[] values;

        Arguments(Realm realm, Object... arguments) {
            lengths = new long[arguments.length];
            int total = 0;
            for (int index = 0; index < arguments.length; index++) {
                boolean many = arguments[index] instanceof Collection;
                lengths[index] = many ? ((Collection<?>) arguments[index]).size() : -1;
                total += many ? (int) lengths[index] : 1;
            }
            ValueWriter writer = new ValueWriter(total);
            for (Object argument : arguments) {
                if (argument instanceof Collection<?> many) {
                    many.forEach(element -> writer.put(element, realm));
                } else {
                    writer.put(argument, realm);
                }
            }
            values = writer.bytes();
        }
    }
}
