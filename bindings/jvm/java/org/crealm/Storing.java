package org.crealm;

import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes models and collections into a realm. Each model is stored once, so models may refer to each other in a
 * circle. Models that others refer to are updated if their primary key exists.
 */
final class Storing {
    static final int ERROR = 0;
    static final int MODIFIED = 1;
    static final int ALL = 2;

    private final Realm realm;
    private final Map<Object, RealmObject> stored = new IdentityHashMap<>();

    Storing(Realm realm) {
        this.realm = realm;
    }

    /** Stores a copy. mode: what to do if the primary key exists. */
    RealmObject store(Object copy, int mode) {
        RealmObject known = stored.get(copy);
        if (known != null) {
            return known;
        }
        Bound<?> bound = realm.bound(copy.getClass());
        if (bound.model.embedded) {
            throw new RealmException(ErrorCode.ILLEGAL_OPERATION,
                    "an object of the embedded class " + bound.info.name() + " needs a parent");
        }
        if (bound.model.simple) {
            RealmObject made = new RealmObject(realm, bound.info, bound.store(copy, mode));
            stored.put(copy, made);
            return made;
        }
        Model.Property primary = bound.model.primaryKey;
        ValueWriter writer = new ValueWriter(1);
        if (primary != null) {
            primary.kind.write(writer, Model.get(primary, copy), realm);
        }
        long key = Native.createOne(realm.handle, realm.handle.address(), bound.info.key, mode, primary != null,
                Rows.NO_KEYS, writer.bytes());
        RealmObject made = new RealmObject(realm, bound.info, key);
        stored.put(copy, made);
        fill(made, bound, copy);
        return made;
    }

    /** Writes all properties of a copy to its object. */
    private void fill(RealmObject object, Bound<?> bound, Object copy) {
        for (int index = 0; index < bound.keys.length; index++) {
            Model.Property property = bound.model.properties.get(index);
            if (property != bound.model.primaryKey && !property.isComputed()) {
                property(object, bound.stored[index], property.kind, Model.get(property, copy));
            }
        }
    }

    /** Writes properties by their names. */
    void fill(RealmObject object, Map<String, ?> values) {
        values.forEach((name, value) -> {
            PropertySchema property = object.info.property(name);
            property(object, property, Kind.ofProperty(property.type()), value);
        });
    }

    void property(RealmObject object, PropertySchema property, Kind kind, Object value) {
        if (property.primaryKey() && !realm.isMigrating()) {
            throw primaryKey(object.info);
        }
        switch (property.collection()) {
            case NONE -> value(object, property, kind, value);
            case LIST -> list((RealmList<?>) object.read(property, kind), value);
            case SET -> set((RealmSet<?>) object.read(property, kind), value);
            case DICTIONARY -> dictionary((RealmDictionary<?>) object.read(property, kind), value);
        }
    }

    static RealmException primaryKey(ClassSchema info) {
        return new RealmException(ErrorCode.MODIFY_PRIMARY_KEY, "the primary key of " + info.name()
                + " is set when an object is made, and in migrations");
    }

    private void value(RealmObject object, PropertySchema property, Kind kind, Object value) {
        if (property.type() == PropertyType.OBJECT && value != null && !(value instanceof RealmObject)) {
            if (realm.schema(property.target()).embedded()) {
                embedded(object.createEmbedded(property.publicName()), value);
            } else {
                object.writeEncoded(property, ValueWriter.one(linked(value), realm));
            }
        } else if (property.type() == PropertyType.MIXED && RealmObject.isCollection(value)) {
            boolean list = value instanceof Collection;
            Object elements = detached(value);
            // A collection that is there would be kept with its elements.
            object.writeEncoded(property, ValueWriter.one(null, realm));
            nested(object.makeCollection(property, list), list, property, elements);
        } else {
            object.writeEncoded(property, kind.encode(linked(value), realm));
        }
    }

    /** A copy of a model as the object that it is stored in; any other value as it is. */
    Object linked(Object value) {
        boolean copy = value != null && !(value instanceof RealmObject) && Model.isModel(value.getClass());
        return copy ? store(value, MODIFIED) : value;
    }

    /** Fills a new embedded object from a copy or a map. */
    void embedded(RealmObject object, Object value) {
        if (value instanceof Map<?, ?> values) {
            @SuppressWarnings("unchecked")
            Map<String, ?> named = (Map<String, ?>) values;
            fill(object, named);
        } else if (value != null && Model.isModel(value.getClass())) {
            fill(object, realm.bound(value.getClass()), value);
        } else {
            throw new RealmException(ErrorCode.PROPERTY_TYPE_MISMATCH,
                    "an embedded object is made of a model or a map, not of " + value);
        }
    }

    /** Fills a collection in a Mixed. */
    void nested(Handle handle, boolean list, PropertySchema property, Object value) {
        if (list) {
            list(new RealmList<>(realm, handle, Kind.MIXED, property), value);
        } else {
            dictionary(new RealmDictionary<>(realm, handle, Kind.MIXED, property), value);
        }
    }

    /** Replaces the elements of a list. */
    @SuppressWarnings("unchecked")
    void list(RealmList<?> list, Object value) {
        List<Object> elements = new ArrayList<>(elements(value));
        list.clear();
        for (Object element : elements) {
            ((RealmList<Object>) list).insert(list.size(), element, this);
        }
    }

    /** Replaces the elements of a set. */
    @SuppressWarnings("unchecked")
    void set(RealmSet<?> set, Object value) {
        List<Object> elements = new ArrayList<>(elements(value));
        set.clear();
        for (Object element : elements) {
            ((RealmSet<Object>) set).insert(element, this);
        }
    }

    /** Replaces the pairs of a dictionary. */
    @SuppressWarnings("unchecked")
    void dictionary(RealmDictionary<?> dictionary, Object value) {
        if (value != null && !(value instanceof Map)) {
            throw new RealmException(ErrorCode.PROPERTY_TYPE_MISMATCH, "a dictionary takes a map");
        }
        Map<Object, Object> pairs = value == null ? Map.of() : new LinkedHashMap<>((Map<Object, Object>) value);
        dictionary.clear();
        pairs.forEach((name, element) -> {
            if (!(name instanceof String key)) {
                throw new RealmException(ErrorCode.PROPERTY_TYPE_MISMATCH, "the keys of a dictionary are strings");
            }
            ((RealmDictionary<Object>) dictionary).insert(key, element, this);
        });
    }

    private static Collection<?> elements(Object value) {
        if (value == null) {
            return List.of();
        }
        if (value instanceof Collection<?> collection) {
            return collection;
        }
        throw new RealmException(ErrorCode.PROPERTY_TYPE_MISMATCH, "a list or set takes a collection");
    }

    /** The elements of a live collection, which may be part of what is written. */
    private static Object detached(Object value) {
        return Bound.detached(value, Object.class);
    }
}
