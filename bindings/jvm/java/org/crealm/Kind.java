package org.crealm;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/** How a Java type is stored: the type of the property, and the way of its values between Java and C. */
final class Kind {
    /** Reads a value that is no collection. */
    interface Reader {
        Object read(Values values, int index);
    }

    /** Writes a value; the links of models lead to objects that exist. */
    interface Writer {
        void write(ValueWriter writer, Object value, Realm realm);
    }

    static final Kind MIXED = new Kind(Object.class, PropertyType.MIXED, Values::get,
            (writer, value, realm) -> writer.put(value, realm));

    static final Kind OBJECT = new Kind(RealmObject.class, PropertyType.OBJECT, Values::toObject,
            (writer, value, realm) -> writer.put(value, realm));

    /** Points in time of properties that no model describes. */
    private static final Kind TIME = new Kind(Object.class, PropertyType.TIMESTAMP, Values::toTime,
            (writer, value, realm) -> writer.put(value, realm));

    private static final Map<Class<?>, Kind> KINDS = new HashMap<>();
    private static final Map<Class<?>, MethodHandle> PRIMITIVES = new HashMap<>();

    static {
        add(Long.class, PropertyType.INT, Values::toLong, (w, v, r) -> w.putLong((Long) v));
        add(Integer.class, PropertyType.INT, Values::toInt, (w, v, r) -> w.putLong((Integer) v));
        add(Short.class, PropertyType.INT, Values::toShort, (w, v, r) -> w.putLong((Short) v));
        add(Byte.class, PropertyType.INT, Values::toByte, (w, v, r) -> w.putLong((Byte) v));
        add(Boolean.class, PropertyType.BOOL, Values::toBoolean, (w, v, r) -> w.putBoolean((Boolean) v));
        add(Float.class, PropertyType.FLOAT, Values::toFloat, (w, v, r) -> w.putFloat((Float) v));
        add(Double.class, PropertyType.DOUBLE, Values::toDouble, (w, v, r) -> w.putDouble((Double) v));
        add(String.class, PropertyType.STRING, Values::toText, (w, v, r) -> w.putText((String) v));
        add(byte[].class, PropertyType.BINARY, Values::toBytes, (w, v, r) -> w.putBytes((byte[]) v));
        add(Instant.class, PropertyType.TIMESTAMP, Values::toInstant, (w, v, r) -> w.putInstant((Instant) v));
        add(Timestamp.class, PropertyType.TIMESTAMP, Values::toTimestamp, (w, v, r) -> w.putTimestamp((Timestamp) v));
        add(Date.class, PropertyType.TIMESTAMP, (values, index) -> Date.from(values.toInstant(index)),
                (w, v, r) -> w.putInstant(((Date) v).toInstant()));
        add(Decimal128.class, PropertyType.DECIMAL128, Values::toDecimal, (w, v, r) -> w.putDecimal((Decimal128) v));
        add(BigDecimal.class, PropertyType.DECIMAL128, (values, index) -> values.toDecimal(index).bigDecimalValue(),
                (w, v, r) -> w.putDecimal(Decimal128.of((BigDecimal) v)));
        add(ObjectId.class, PropertyType.OBJECT_ID, Values::toObjectId, (w, v, r) -> w.putObjectId((ObjectId) v));
        add(UUID.class, PropertyType.UUID, Values::toUuid, (w, v, r) -> w.putUuid((UUID) v));
        KINDS.put(Object.class, MIXED);
        KINDS.put(RealmObject.class, OBJECT);
        primitive(long.class, Long.class, "toLong", "putLong");
        primitive(int.class, Integer.class, "toInt", "putLong");
        primitive(short.class, Short.class, "toShort", "putLong");
        primitive(byte.class, Byte.class, "toByte", "putLong");
        primitive(boolean.class, Boolean.class, "toBoolean", "putBoolean");
        primitive(float.class, Float.class, "toFloat", "putFloat");
        primitive(double.class, Double.class, "toDouble", "putDouble");
    }

    final Class<?> javaType;
    final PropertyType type;
    private final Reader reader;
    private final Writer writer;

    private Kind(Class<?> javaType, PropertyType type, Reader reader, Writer writer) {
        this.javaType = javaType;
        this.type = type;
        this.reader = reader;
        this.writer = writer;
    }

    private static void add(Class<?> javaType, PropertyType type, Reader reader, Writer writer) {
        KINDS.put(javaType, new Kind(javaType, type, reader, writer));
    }

    private static void primitive(Class<?> javaType, Class<?> boxed, String reader, String writer) {
        KINDS.put(javaType, KINDS.get(boxed));
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            PRIMITIVES.put(javaType,
                    lookup.findVirtual(Values.class, reader, MethodType.methodType(javaType, int.class)));
            Class<?> written = writer.equals("putLong") ? long.class : javaType;
            PRIMITIVES.put(boxed, lookup.findVirtual(ValueWriter.class, writer,
                    MethodType.methodType(void.class, written)));
        } catch (ReflectiveOperationException error) {
            throw new AssertionError(error);
        }
    }

    /** The kind of a Java type; null if a realm stores no such values. */
    static Kind of(Class<?> javaType) {
        Kind kind = KINDS.get(javaType);
        if (kind == null && Model.isModel(javaType)) {
            kind = new Kind(javaType, PropertyType.OBJECT,
                    (values, index) -> values.realm.bound(javaType).read(values, index),
                    (writer, value, realm) -> writer.put(value, realm));
        }
        return kind;
    }

    /** The kind in which values of a property appear that no model describes. */
    static Kind ofProperty(PropertyType type) {
        return switch (type) {
            case INT -> of(Long.class);
            case BOOL -> of(Boolean.class);
            case STRING -> of(String.class);
            case BINARY -> of(byte[].class);
            case MIXED -> MIXED;
            case TIMESTAMP -> TIME;
            case FLOAT -> of(Float.class);
            case DOUBLE -> of(Double.class);
            case DECIMAL128 -> of(Decimal128.class);
            case OBJECT, LINKING_OBJECTS -> OBJECT;
            case OBJECT_ID -> of(ObjectId.class);
            case UUID -> of(UUID.class);
        };
    }

    /** The method Values.toX for a primitive type, or null: (Values, int) to the type. */
    static MethodHandle primitiveReader(Class<?> javaType) {
        return javaType.isPrimitive() ? PRIMITIVES.get(javaType) : null;
    }

    /** The method ValueWriter.putX for a primitive type, or null. */
    static MethodHandle primitiveWriter(Class<?> javaType) {
        return javaType.isPrimitive() ? PRIMITIVES.get(KINDS.get(javaType).javaType) : null;
    }

    Object read(Values values, int index) {
        return values.isNull(index) ? null : reader.read(values, index);
    }

    /** A value that may be a collection in a Mixed, which `nested` opens. */
    Object read(Values values, int index, Nested nested) {
        int type = values.type(index);
        if (type == ValueWriter.LIST || type == ValueWriter.DICTIONARY) {
            return nested.open(type == ValueWriter.LIST);
        }
        return read(values, index);
    }

    /** Opens the collection at a place. */
    interface Nested {
        Object open(boolean list);
    }

    void write(ValueWriter target, Object value, Realm realm) {
        if (value == null) {
            target.putNull();
            return;
        }
        Object fitting = fitting(value);
        writer.write(target, fitting, realm);
    }

    byte[] encode(Object value, Realm realm) {
        ValueWriter target = new ValueWriter(1);
        write(target, value, realm);
        return target.bytes();
    }

    /** The value as the Java type of this kind: an int for a long, a Long for a double property, and so on. */
    private Object fitting(Object value) {
        if (type == PropertyType.TIMESTAMP) {
            return time(value);
        }
        if (javaType.isInstance(value) || this == MIXED || type == PropertyType.OBJECT) {
            return value;
        }
        if (value instanceof Number number) {
            boolean whole = value instanceof Long || value instanceof Integer || value instanceof Short
                    || value instanceof Byte;
            if (type == PropertyType.INT && whole) {
                return narrow(number.longValue());
            }
            if (type == PropertyType.DOUBLE && (whole || value instanceof Float)) {
                return number.doubleValue();
            }
            if (type == PropertyType.FLOAT && (whole || value instanceof Double)) {
                return number.floatValue();
            }
            if (javaType == Decimal128.class && value instanceof BigDecimal decimal) {
                return Decimal128.of(decimal);
            }
            if (javaType == Decimal128.class && (value instanceof Double || value instanceof Float)) {
                double real = number.doubleValue();
                return Double.isFinite(real) ? Decimal128.of(new BigDecimal(value.toString()))
                        : Decimal128.parse(Double.toString(real));
            }
            if (javaType == Decimal128.class && whole) {
                return Decimal128.of(number.longValue());
            }
        }
        throw mismatch(value);
    }

    private Object time(Object value) {
        if (this == TIME ? value instanceof Instant || value instanceof Timestamp : javaType.isInstance(value)) {
            return value;
        }
        if (value instanceof Date date && (this == TIME || javaType == Instant.class)) {
            return date.toInstant();
        }
        if (value instanceof Instant instant && javaType == Timestamp.class) {
            return Timestamp.of(instant);
        }
        throw mismatch(value);
    }

    private RealmException mismatch(Object value) {
        return new RealmException(ErrorCode.PROPERTY_TYPE_MISMATCH,
                "a " + value.getClass().getSimpleName() + " for a property of type " + type);
    }

    private Object narrow(long value) {
        if (javaType == Long.class) {
            return value;
        }
        if (javaType == Integer.class) {
            return Values.narrowed(value, Integer.MIN_VALUE, Integer.MAX_VALUE, "int").intValue();
        }
        if (javaType == Short.class) {
            return Values.narrowed(value, Short.MIN_VALUE, Short.MAX_VALUE, "short").shortValue();
        }
        return Values.narrowed(value, Byte.MIN_VALUE, Byte.MAX_VALUE, "byte").byteValue();
    }
}
