package org.crealm;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.UUID;

/** Values that C encoded: see shim.h. */
final class Values {
    final byte[] data;
    final Realm realm;
    private final int count;

    /** The values of rows with a known width; count: how many values there are. */
    Values(byte[] data, int count, Realm realm) {
        this.data = data;
        this.count = count;
        this.realm = realm;
    }

    /** Rows of values of a known number of columns; the number of rows follows from the data. */
    static Values rows(byte[] data, int most, Realm realm) {
        return new Values(data, countOf(data, most), realm);
    }

    /** The number of values: the first text, if there is one, begins after the last value. */
    private static int countOf(byte[] data, int most) {
        int limit = Math.min(most, data.length / ValueWriter.SIZE);
        long heap = data.length;
        for (int index = 0; index < limit && (long) index * ValueWriter.SIZE < heap; index++) {
            int type = (int) ValueWriter.INTS.get(data, index * ValueWriter.SIZE + 16);
            if (type == ValueWriter.STRING || type == ValueWriter.BINARY) {
                heap = (long) ValueWriter.LONGS.get(data, index * ValueWriter.SIZE);
                break;
            }
        }
        return (int) (heap / ValueWriter.SIZE);
    }

    int count() {
        return count;
    }

    int type(int index) {
        return (int) ValueWriter.INTS.get(data, index * ValueWriter.SIZE + 16);
    }

    private long first(int index) {
        return (long) ValueWriter.LONGS.get(data, index * ValueWriter.SIZE);
    }

    private long second(int index) {
        return (long) ValueWriter.LONGS.get(data, index * ValueWriter.SIZE + 8);
    }

    boolean isNull(int index) {
        return type(index) == ValueWriter.NULL;
    }

    private void require(int index, int wanted, String name) {
        int type = type(index);
        if (type != wanted) {
            throw new RealmException(ErrorCode.PROPERTY_TYPE_MISMATCH,
                    "the value is " + (type == ValueWriter.NULL ? "null" : "of another type") + ", not " + name);
        }
    }

    long toLong(int index) {
        require(index, ValueWriter.INT, "an integer");
        return first(index);
    }

    int toInt(int index) {
        return narrowed(toLong(index), Integer.MIN_VALUE, Integer.MAX_VALUE, "int").intValue();
    }

    short toShort(int index) {
        return narrowed(toLong(index), Short.MIN_VALUE, Short.MAX_VALUE, "short").shortValue();
    }

    byte toByte(int index) {
        return narrowed(toLong(index), Byte.MIN_VALUE, Byte.MAX_VALUE, "byte").byteValue();
    }

    static Long narrowed(long value, long least, long most, String type) {
        if (value < least || value > most) {
            throw new RealmException(ErrorCode.RANGE_ERROR, value + " does not fit into " + type);
        }
        return value;
    }

    boolean toBoolean(int index) {
        require(index, ValueWriter.BOOL, "a boolean");
        return first(index) != 0;
    }

    float toFloat(int index) {
        require(index, ValueWriter.FLOAT, "a float");
        return Float.intBitsToFloat((int) ValueWriter.INTS.get(data, index * ValueWriter.SIZE));
    }

    double toDouble(int index) {
        require(index, ValueWriter.DOUBLE, "a double");
        return Double.longBitsToDouble(first(index));
    }

    String toText(int index) {
        if (isNull(index)) {
            return null;
        }
        require(index, ValueWriter.STRING, "a text");
        return new String(data, (int) first(index), (int) second(index), StandardCharsets.UTF_8);
    }

    byte[] toBytes(int index) {
        if (isNull(index)) {
            return null;
        }
        require(index, ValueWriter.BINARY, "bytes");
        return Arrays.copyOfRange(data, (int) first(index), (int) (first(index) + second(index)));
    }

    Instant toInstant(int index) {
        return toTimestamp(index).toInstant();
    }

    Timestamp toTimestamp(int index) {
        require(index, ValueWriter.TIMESTAMP, "a point in time");
        return new Timestamp(first(index), (int) second(index));
    }

    /** An Instant, or a Timestamp where that has no room for it. */
    Object toTime(int index) {
        Timestamp time = toTimestamp(index);
        return time.fits() ? time.toInstant() : time;
    }

    Decimal128 toDecimal(int index) {
        require(index, ValueWriter.DECIMAL128, "a decimal");
        return Decimal128.ofBits(second(index), first(index));
    }

    ObjectId toObjectId(int index) {
        require(index, ValueWriter.OBJECT_ID, "an ObjectId");
        int start = index * ValueWriter.SIZE;
        return new ObjectId(Arrays.copyOfRange(data, start, start + 12));
    }

    UUID toUuid(int index) {
        require(index, ValueWriter.UUID_TYPE, "a UUID");
        int start = index * ValueWriter.SIZE;
        return new UUID((long) ValueWriter.BIG_ENDIAN.get(data, start),
                (long) ValueWriter.BIG_ENDIAN.get(data, start + 8));
    }

    /** The key of a linked object. */
    long linkKey(int index) {
        require(index, ValueWriter.LINK, "a link");
        return first(index);
    }

    int linkClass(int index) {
        return (int) second(index);
    }

    RealmObject toObject(int index) {
        return isNull(index) ? null : realm.objectAt(linkClass(index), linkKey(index));
    }

    /** Any value but a collection. */
    Object get(int index) {
        return switch (type(index)) {
            case ValueWriter.NULL -> null;
            case ValueWriter.INT -> toLong(index);
            case ValueWriter.BOOL -> toBoolean(index);
            case ValueWriter.STRING -> toText(index);
            case ValueWriter.BINARY -> toBytes(index);
            case ValueWriter.TIMESTAMP -> toTime(index);
            case ValueWriter.FLOAT -> toFloat(index);
            case ValueWriter.DOUBLE -> toDouble(index);
            case ValueWriter.DECIMAL128 -> toDecimal(index);
            case ValueWriter.OBJECT_ID -> toObjectId(index);
            case ValueWriter.LINK -> toObject(index);
            case ValueWriter.UUID_TYPE -> toUuid(index);
            default -> throw new RealmException(ErrorCode.PROPERTY_TYPE_MISMATCH, "the value is a collection");
        };
    }

    static Object one(byte[] data, Realm realm) {
        return data == null ? null : new Values(data, 1, realm).get(0);
    }
}
