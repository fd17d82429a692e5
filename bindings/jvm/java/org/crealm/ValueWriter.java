package org.crealm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigDecimal;
import java.nio.ByteOrder;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.UUID;

/** Encodes values for C: 24 bytes for each one, then the bytes of texts and binaries. See shim.h. */
final class ValueWriter {
    static final int SIZE = 24;
    static final int NULL = 0;
    static final int INT = 1;
    static final int BOOL = 2;
    static final int STRING = 3;
    static final int BINARY = 4;
    static final int TIMESTAMP = 5;
    static final int FLOAT = 6;
    static final int DOUBLE = 7;
    static final int DECIMAL128 = 8;
    static final int OBJECT_ID = 9;
    static final int LINK = 10;
    static final int UUID_TYPE = 11;
    static final int LIST = 12;
    static final int DICTIONARY = 13;

    static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());
    static final VarHandle BIG_ENDIAN = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private byte[] data;
    private int next;
    private int heap;

    /** Room for a number of values. Values that are not written are null. */
    ValueWriter(int count) {
        heap = count * SIZE;
        data = new byte[heap + 64];
    }

    byte[] bytes() {
        return data;
    }

    static byte[] one(Object value, Realm realm) {
        ValueWriter writer = new ValueWriter(1);
        writer.put(value, realm);
        return writer.data;
    }

    private void put(int type, long first, long second) {
        LONGS.set(data, next, first);
        LONGS.set(data, next + 8, second);
        INTS.set(data, next + 16, type);
        next += SIZE;
    }

    private void put(int type, byte[] bytes) {
        int size = bytes.length;
        if (size > data.length - heap) {
            long wanted = ((long) heap + size) * 2;
            if ((long) heap + size > Integer.MAX_VALUE - 16) {
                throw new RealmException(ErrorCode.LIMIT_EXCEEDED, "more than 2 GB in one call");
            }
            data = Arrays.copyOf(data, (int) Math.min(wanted, Integer.MAX_VALUE - 16));
        }
        System.arraycopy(bytes, 0, data, heap, size);
        put(type, heap, size);
        heap += size;
    }

    void putNull() {
        put(NULL, 0, 0);
    }

    void putLong(long value) {
        put(INT, value, 0);
    }

    void putBoolean(boolean value) {
        put(BOOL, value ? 1 : 0, 0);
    }

    void putFloat(float value) {
        put(FLOAT, 0, 0);
        INTS.set(data, next - SIZE, Float.floatToRawIntBits(value));
    }

    void putDouble(double value) {
        put(DOUBLE, Double.doubleToRawLongBits(value), 0);
    }

    void putText(String value) {
        if (value == null) {
            putNull();
        } else {
            put(STRING, Texts.utf8(value));
        }
    }

    void putBytes(byte[] value) {
        if (value == null) {
            putNull();
        } else {
            put(BINARY, value);
        }
    }

    void putInstant(Instant value) {
        putTimestamp(Timestamp.of(value));
    }

    void putTimestamp(Timestamp value) {
        put(TIMESTAMP, value.seconds(), value.nanoseconds());
    }

    void putDecimal(Decimal128 value) {
        put(DECIMAL128, value.low(), value.high());
    }

    void putObjectId(ObjectId value) {
        put(OBJECT_ID, 0, 0);
        System.arraycopy(value.bytes(), 0, data, next - SIZE, 12);
    }

    void putUuid(UUID value) {
        put(UUID_TYPE, 0, 0);
        BIG_ENDIAN.set(data, next - SIZE, value.getMostSignificantBits());
        BIG_ENDIAN.set(data, next - SIZE + 8, value.getLeastSignificantBits());
    }

    void putLink(int classKey, long key) {
        put(LINK, key, classKey & 0xffffffffL);
    }

    /**
     * Any value. A model is written as a link to its object, which must exist. A list or map becomes an empty
     * collection, which the caller fills.
     */
    void put(Object value, Realm realm) {
        if (value == null) {
            putNull();
        } else if (value instanceof String text) {
            put(STRING, Texts.utf8(text));
        } else if (value instanceof Long || value instanceof Integer || value instanceof Short
                || value instanceof Byte) {
            putLong(((Number) value).longValue());
        } else if (value instanceof Boolean truth) {
            putBoolean(truth);
        } else if (value instanceof Double number) {
            putDouble(number);
        } else if (value instanceof Float number) {
            putFloat(number);
        } else if (value instanceof Instant instant) {
            putInstant(instant);
        } else if (value instanceof Timestamp time) {
            putTimestamp(time);
        } else if (value instanceof byte[] bytes) {
            put(BINARY, bytes);
        } else if (value instanceof Decimal128 number) {
            putDecimal(number);
        } else if (value instanceof BigDecimal number) {
            putDecimal(Decimal128.of(number));
        } else if (value instanceof ObjectId id) {
            putObjectId(id);
        } else if (value instanceof UUID id) {
            putUuid(id);
        } else if (value instanceof RealmObject object) {
            object.requireFile(realm);
            putLink(object.info.key, object.key);
        } else if (value instanceof Map) {
            put(DICTIONARY, 0, 0);
        } else if (value instanceof Collection) {
            put(LIST, 0, 0);
        } else if (realm != null && Model.isModel(value.getClass())) {
            RealmObject object = realm.existing(value);
            putLink(object.info.key, object.key);
        } else {
            throw new RealmException(ErrorCode.PROPERTY_TYPE_MISMATCH,
                    "a realm stores no " + value.getClass().getName());
        }
    }
}
