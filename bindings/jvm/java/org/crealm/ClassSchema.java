package org.crealm;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A class of objects and its properties. */
public final class ClassSchema {
    private final String name;
    private final boolean embedded;
    private final List<PropertySchema> properties;
    private final Map<String, PropertySchema> byName = new HashMap<>();
    private final PropertySchema primaryKey;
    final int key;

    public ClassSchema(String name, boolean embedded, List<PropertySchema> properties) {
        this(name, embedded, properties, -1);
    }

    ClassSchema(String name, boolean embedded, List<PropertySchema> properties, int key) {
        this.name = name;
        this.embedded = embedded;
        this.properties = List.copyOf(properties);
        this.key = key;
        PropertySchema found = null;
        for (PropertySchema property : properties) {
            byName.putIfAbsent(property.publicName(), property);
            found = property.primaryKey() ? property : found;
        }
        for (PropertySchema property : properties) {
            byName.putIfAbsent(property.name(), property);
        }
        this.primaryKey = found;
    }

    public String name() {
        return name;
    }

    /** Objects of the class live in exactly one parent. */
    public boolean embedded() {
        return embedded;
    }

    /** The stored properties in their order, then the computed ones. */
    public List<PropertySchema> properties() {
        return properties;
    }

    /** The primary key, or null. */
    public PropertySchema primaryKey() {
        return primaryKey;
    }

    /** A property by its public or stored name. Fails with INVALID_PROPERTY. */
    public PropertySchema property(String property) {
        PropertySchema found = byName.get(property);
        if (found == null) {
            throw new RealmException(ErrorCode.INVALID_PROPERTY, name + " has no property '" + property + "'");
        }
        return found;
    }

    @Override
    public String toString() {
        return name + properties;
    }

    /** The form of a schema that realm.c reads. */
    static byte[] encode(Collection<ClassSchema> classes) {
        Encoder encoder = new Encoder();
        encoder.number(classes.size());
        for (ClassSchema info : classes) {
            List<PropertySchema> stored = new ArrayList<>();
            List<PropertySchema> computed = new ArrayList<>();
            for (PropertySchema property : info.properties) {
                (property.type() == PropertyType.LINKING_OBJECTS ? computed : stored).add(property);
            }
            encoder.text(info.name);
            encoder.text(info.primaryKey == null ? "" : info.primaryKey.name());
            encoder.number(info.embedded ? 1 : 0);
            encoder.number(stored.size());
            encoder.number(computed.size());
            stored.addAll(computed);
            for (PropertySchema property : stored) {
                encoder.text(property.name());
                encoder.text(property.publicName().equals(property.name()) ? "" : property.publicName());
                encoder.number(property.type().number);
                encoder.number(property.collection().number);
                encoder.text(property.target());
                encoder.text(property.origin());
                encoder.number(property.flags());
            }
        }
        return encoder.bytes.toByteArray();
    }

    /** The classes that Native.classes() encoded. */
    static Map<String, ClassSchema> decode(byte[] encoded) {
        Decoder decoder = new Decoder(encoded);
        Map<String, ClassSchema> classes = new HashMap<>();
        long count = decoder.number();
        for (long index = 0; index < count; index++) {
            String name = decoder.text();
            decoder.text();
            int key = (int) decoder.number();
            boolean embedded = (decoder.number() & 1) != 0;
            long total = decoder.number();
            List<PropertySchema> properties = new ArrayList<>();
            for (long place = 0; place < total; place++) {
                String stored = decoder.text();
                String shown = decoder.text();
                PropertyType type = PropertyType.of(decoder.number());
                CollectionType collection = CollectionType.of(decoder.number());
                String target = decoder.text();
                String origin = decoder.text();
                long propertyKey = decoder.number();
                long flags = decoder.number();
                properties.add(new PropertySchema(stored, shown.isEmpty() ? stored : shown, type, collection, target,
                        origin, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0, (flags & 8) != 0, propertyKey));
            }
            classes.put(name, new ClassSchema(name, embedded, properties, key));
        }
        return classes;
    }

    /** Numbers of 8 bytes; texts after their sizes. */
    static final class Decoder {
        private final ByteBuffer buffer;

        Decoder(byte[] bytes) {
            buffer = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        }

        long number() {
            return buffer.getLong();
        }

        String text() {
            byte[] bytes = new byte[(int) buffer.getLong()];
            buffer.get(bytes);
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    private static final class Encoder {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        void number(long value) {
            byte[] number = new byte[8];
            ByteBuffer.wrap(number).order(ByteOrder.nativeOrder()).putLong(value);
            bytes.writeBytes(number);
        }

        void text(String value) {
            if (value.indexOf('\0') >= 0) {
                throw new RealmException(ErrorCode.INVALID_NAME, "a name has a character with the code 0");
            }
            byte[] utf8 = Texts.utf8(value);
            number(utf8.length);
            bytes.writeBytes(utf8);
            bytes.write(0);
        }
    }
}
