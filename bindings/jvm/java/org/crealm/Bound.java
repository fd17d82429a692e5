package org.crealm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/** A model in an open realm: the keys of its class and properties. */
final class Bound<T> extends Rows<T> {
    final Model<T> model;
    final Realm realm;
    final ClassSchema info;
    /** The properties in the file, and their keys, in the order of the model. */
    final PropertySchema[] stored;
    final long[] keys;
    /** The keys of the properties with one value, in the order of their columns. */
    private final long[] columns;
    private final PropertySchema primaryKey;

    /** The copies that are being made on this thread, by class and key of their objects; null: none. */
    private static final ThreadLocal<Map<Address, Object>> COPIES = new ThreadLocal<>();

    private static final Object UNFINISHED = new Object();

    private record Address(int classKey, long key) {}

    Bound(Model<T> model, Realm realm) {
        this.model = model;
        this.realm = realm;
        this.info = realm.schema(model.name);
        int count = model.properties.size();
        stored = new PropertySchema[count];
        keys = new long[count];
        long[] found = new long[count];
        int next = 0;
        for (int index = 0; index < count; index++) {
            Model.Property property = model.properties.get(index);
            stored[index] = info.property(property.schema.name());
            keys[index] = stored[index].key();
            if (property.column >= 0) {
                found[next++] = keys[index];
            }
        }
        columns = Arrays.copyOf(found, next);
        primaryKey = info.primaryKey();
    }

    // ---- reading ----

    @Override
    long[] fetched() {
        return model.live ? NO_KEYS : columns;
    }

    @Override
    T row(Values values, int index) {
        if (values.isNull(index)) {
            return null;
        }
        long key = values.linkKey(index);
        return model.live ? model.live(realm, this, key) : copied(values, index + 1, key);
    }

    /** The object that a link leads to. */
    T read(Values values, int index) {
        if (values.isNull(index)) {
            return null;
        }
        if (values.linkClass(index) != info.key) {
            throw new RealmException(ErrorCode.OBJECT_TYPE_MISMATCH,
                    "the link leads to an object of another class than " + info.name());
        }
        return read(values.linkKey(index));
    }

    T read(long key) {
        if (model.live) {
            return model.live(realm, this, key);
        }
        if (columns.length == 0 && !Native.exists(realm.handle, realm.handle.address(), info.key, key)) {
            throw new RealmException(ErrorCode.NO_SUCH_OBJECT, "the object was deleted");
        }
        byte[] data = Native.getValues(realm.handle, realm.handle.address(), info.key, key, columns);
        return copied(new Values(data, columns.length, realm), 0, key);
    }

    @SuppressWarnings("unchecked")
    private T copied(Values values, int first, long key) {
        if (!model.linked) {
            return (T) copy(values, first, key, null, null);
        }
        Map<Address, Object> outer = COPIES.get();
        Map<Address, Object> copies = outer == null ? new HashMap<>() : outer;
        Address address = new Address(info.key, key);
        Object known = copies.get(address);
        if (known == UNFINISHED) {
            throw new RealmException(ErrorCode.ILLEGAL_OPERATION, "a copy of " + info.name() + "[" + key
                    + "] would contain itself: use a class with settable fields, or an interface");
        }
        if (known != null) {
            return (T) known;
        }
        COPIES.set(copies);
        try {
            copies.put(address, UNFINISHED);
            Object made = copy(values, first, key, copies, address);
            copies.put(address, made);
            return (T) made;
        } finally {
            if (outer == null) {
                COPIES.remove();
            }
        }
    }

    private Object copy(Values values, int first, long key, Map<Address, Object> copies, Address address) {
        RealmObject object = null;
        boolean full = model.hasFullConstructor();
        Object copy = full ? null : model.emptyCopy();
        if (copy != null && copies != null) {
            copies.put(address, copy);
        }
        int count = keys.length;
        Object[] others = full ? new Object[count] : null;
        for (int index = 0; index < count; index++) {
            Model.Property property = model.properties.get(index);
            if (full && model.isTyped(property)) {
                continue;
            }
            Object value;
            if (property.column < 0 || property.kind == Kind.MIXED) {
                object = object == null ? new RealmObject(realm, info, key) : object;
                value = detached(object.read(stored[index], property.kind), property.javaType);
            } else {
                value = property.kind.read(values, first + property.column);
            }
            if (full) {
                others[index] = value;
            } else {
                Model.set(property, copy, value);
            }
        }
        return full ? model.copy(values, first, others) : copy;
    }

    /** A collection as a copy of it, unless the type of the property is that of a live one. */
    static Object detached(Object value, Class<?> wanted) {
        if (wanted == RealmList.class || wanted == RealmSet.class || wanted == RealmDictionary.class
                || wanted == Results.class) {
            return value;
        }
        if (value instanceof RealmSet<?> set) {
            return new LinkedHashSet<>(set);
        }
        if (value instanceof RealmList<?> || value instanceof Results<?>) {
            List<Object> copy = new ArrayList<>();
            for (Object element : (Iterable<?>) value) {
                copy.add(detached(element, Object.class));
            }
            return copy;
        }
        if (value instanceof RealmDictionary<?> dictionary) {
            Map<String, Object> copy = new LinkedHashMap<>();
            dictionary.forEach((name, element) -> copy.put(name, detached(element, Object.class)));
            return copy;
        }
        return value;
    }

    // ---- finding ----

    /** The key of the object with a primary key; -1: there is none. */
    long find(Object primary) {
        return realm.findKey(info, model.primaryKey == null ? null : model.primaryKey.kind, primary);
    }

    // ---- writing ----

    /** Writes copies of a model without links and collections. */
    void store(List<?> copies, int mode) {
        ValueWriter writer = new ValueWriter(columns.length * copies.size());
        for (Object copy : copies) {
            put(copy, writer);
        }
        Native.create(realm.handle, realm.handle.address(), info.key, mode, copies.size(), primaryKey != null,
                writable(), writer.bytes());
    }

    /** Writes a copy of a model without links and collections. Returns the key of its object. */
    long store(Object copy, int mode) {
        ValueWriter writer = new ValueWriter(columns.length);
        put(copy, writer);
        return Native.createOne(realm.handle, realm.handle.address(), info.key, mode, primaryKey != null, writable(),
                writer.bytes());
    }

    /** Writes the primary key, then the other properties with one value. */
    private void put(Object copy, ValueWriter writer) {
        Model.Property primary = model.primaryKey;
        if (primary != null) {
            put(primary, copy, writer);
        }
        for (Model.Property property : model.properties) {
            if (property.column >= 0 && property != primary) {
                put(property, copy, writer);
            }
        }
    }

    private long[] writableKeys;

    /** The keys of the properties with one value, without the primary key. */
    private long[] writable() {
        long[] known = writableKeys;
        if (known == null) {
            List<Long> found = new ArrayList<>();
            for (int index = 0; index < keys.length; index++) {
                Model.Property property = model.properties.get(index);
                if (property.column >= 0 && property != model.primaryKey) {
                    found.add(keys[index]);
                }
            }
            known = found.stream().mapToLong(Long::longValue).toArray();
            writableKeys = known;
        }
        return known;
    }

    private void put(Model.Property property, Object copy, ValueWriter writer) {
        if (property.encoder != null) {
            Model.encode(property, copy, writer);
        } else {
            property.kind.write(writer, Model.get(property, copy), realm);
        }
    }
}
