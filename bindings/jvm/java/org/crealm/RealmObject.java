package org.crealm;

import java.util.Collection;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * An object of a realm: the realm, a class and a key. It shows the object as the realm sees it now, and has no handle
 * of the C API, so making millions of them costs nothing but Java objects.
 *
 * <p>Live objects of interfaces are of this class, too: {@link #of} gives access to the methods here. Objects are
 * equal if they are the same object of the same realm. They may be used on the threads of their realm.
 */
public class RealmObject {
    final Realm realm;
    final ClassSchema info;
    final long key;

    RealmObject(Realm realm, ClassSchema info, long key) {
        this.realm = realm;
        this.info = info;
        this.key = key;
    }

    /** A live object of an interface as RealmObject. Fails with ClassCastException for a copy. */
    public static RealmObject of(Object live) {
        return (RealmObject) live;
    }

    /** The realm of the object. */
    public final Realm realm() {
        return realm;
    }

    /** The class of the object. */
    public final ClassSchema schema() {
        return info;
    }

    /** The number that identifies the object in its class, as long as the file exists. */
    public final long objectKey() {
        return key;
    }

    /** Whether the object exists, and its realm is open. */
    public final boolean isValid() {
        return !realm.isClosed() && Native.exists(realm.handle, realm.handle.address(), info.key, key);
    }

    // ---- reading ----

    /** The value of a property: null, Long, Boolean, String, and so on; a collection; or a RealmObject. */
    public final Object get(String property) {
        PropertySchema found = info.property(property);
        return read(found, Kind.ofProperty(found.type()));
    }

    public final long getLong(String property) {
        return Native.getLong(realm.handle, realm.handle.address(), info.key, key, info.property(property).key());
    }

    public final double getDouble(String property) {
        return Native.getDouble(realm.handle, realm.handle.address(), info.key, key, info.property(property).key());
    }

    public final boolean getBoolean(String property) {
        return Native.getBoolean(realm.handle, realm.handle.address(), info.key, key, info.property(property).key());
    }

    /** A text, or null. */
    public final String getString(String property) {
        return get(property, String.class);
    }

    /** A value as a Java type: for example Integer, Instant, RealmObject, or a model. */
    @SuppressWarnings("unchecked")
    public final <T> T get(String property, Class<T> type) {
        PropertySchema found = info.property(property);
        if (found.collection() != CollectionType.NONE) {
            throw new RealmException(ErrorCode.PROPERTY_TYPE_MISMATCH, property + " is a collection");
        }
        return (T) read(found, kind(type));
    }

    /** The object that a link leads to, or null. */
    public final RealmObject getObject(String property) {
        return get(property, RealmObject.class);
    }

    public final RealmList<Object> getList(String property) {
        return getList(property, null);
    }

    /** A list; type: the Java type of its elements, null: that of the property. */
    @SuppressWarnings("unchecked")
    public final <E> RealmList<E> getList(String property, Class<E> type) {
        PropertySchema found = info.property(property);
        return new RealmList<>(realm, collection(found, Native.LIST), element(found, type), found);
    }

    /** A set; type: as for {@link #getList(String, Class)}. */
    public final <E> RealmSet<E> getSet(String property, Class<E> type) {
        PropertySchema found = info.property(property);
        return new RealmSet<>(realm, collection(found, Native.SET), element(found, type), found);
    }

    /** A dictionary; type: as for {@link #getList(String, Class)}. */
    public final <E> RealmDictionary<E> getDictionary(String property, Class<E> type) {
        PropertySchema found = info.property(property);
        return new RealmDictionary<>(realm, collection(found, Native.DICTIONARY), element(found, type), found);
    }

    /** The objects of a class that link here by one of its properties. */
    public final <T> Results<T> getBacklinks(Class<T> type, String property) {
        Bound<T> source = realm.bound(type);
        return backlinks(source.info, source.info.property(property), source);
    }

    private <T> Results<T> backlinks(ClassSchema source, PropertySchema property, Rows<T> rows) {
        long made = Native.backlinks(realm.handle, realm.handle.address(), info.key, key, source.key, property.key());
        return new Results<>(realm, Handle.owning(made, realm.handle), rows, source);
    }

    private static Kind kind(Class<?> type) {
        Kind kind = Kind.of(type);
        if (kind == null) {
            throw new RealmException(ErrorCode.PROPERTY_TYPE_MISMATCH, "a realm stores no " + type.getName());
        }
        return kind;
    }

    private static Kind element(PropertySchema property, Class<?> type) {
        return type == null ? Kind.ofProperty(property.type()) : kind(type);
    }

    private Handle collection(PropertySchema property, int way) {
        Handle handle = realm.handle;
        long made = Native.collection(handle, handle.address(), info.key, key, property.key(), way);
        return Handle.owning(made, handle);
    }

    /** Reads a property; a collection as a live one. */
    final Object read(PropertySchema property, Kind kind) {
        switch (property.collection()) {
            case LIST -> {
                if (property.type() == PropertyType.LINKING_OBJECTS) {
                    ClassSchema source = realm.schema(property.target());
                    Rows<?> rows = kind == Kind.OBJECT ? Rows.objects(realm) : realm.bound(kind.javaType);
                    return backlinks(source, source.property(property.origin()), rows);
                }
                return new RealmList<>(realm, collection(property, Native.LIST), kind, property);
            }
            case SET -> {
                return new RealmSet<>(realm, collection(property, Native.SET), kind, property);
            }
            case DICTIONARY -> {
                return new RealmDictionary<>(realm, collection(property, Native.DICTIONARY), kind, property);
            }
            default -> {
                byte[] data = Native.getValues(realm.handle, realm.handle.address(), info.key, key,
                        new long[] {property.key()});
                return kind.read(new Values(data, 1, realm), 0, list -> nested(property, list));
            }
        }
    }

    /** The collection in a Mixed property. */
    final Object nested(PropertySchema property, boolean list) {
        return list ? new RealmList<>(realm, collection(property, Native.LIST), Kind.MIXED, property)
                : new RealmDictionary<>(realm, collection(property, Native.DICTIONARY), Kind.MIXED, property);
    }

    // ---- writing ----

    /**
     * Writes a property, inside a write transaction. A collection replaces the elements of a collection. A model is
     * stored first, as by {@link Realm#upsert}, unless it is a live object.
     */
    public final RealmObject set(String property, Object value) {
        PropertySchema found = info.property(property);
        write(found, Kind.ofProperty(found.type()), value);
        return this;
    }

    final void write(PropertySchema property, Kind kind, Object value) {
        if (property.type() == PropertyType.LINKING_OBJECTS) {
            throw new RealmException(ErrorCode.READ_ONLY_PROPERTY, property.name() + " is computed");
        }
        boolean single = property.collection() == CollectionType.NONE && !isCollection(value)
                && (property.type() != PropertyType.OBJECT || value == null || value instanceof RealmObject);
        if (single) {
            new Storing(realm).property(this, property, kind, value);
        } else {
            realm.savepoint(() -> new Storing(realm).property(this, property, kind, value));
        }
    }

    /** Writes properties by their names: all of them, or none if one cannot be written. */
    public final RealmObject set(Map<String, ?> values) {
        realm.savepoint(() -> new Storing(realm).fill(this, values));
        return this;
    }

    final void writeEncoded(PropertySchema property, byte[] value) {
        Native.setValues(realm.handle, realm.handle.address(), info.key, key, new long[] {property.key()}, value);
    }

    /** Makes a Mixed property hold a collection. */
    final Handle makeCollection(PropertySchema property, boolean list) {
        return collection(property, list ? Native.MAKE_LIST : Native.MAKE_DICTIONARY);
    }

    /** Makes an embedded object in a link property, in place of the one that was there. */
    public final RealmObject createEmbedded(String property) {
        PropertySchema found = info.property(property);
        long made = Native.setEmbedded(realm.handle, realm.handle.address(), info.key, key, found.key());
        return new RealmObject(realm, realm.schema(found.target()), made);
    }

    /** Adds to an integer; overflow wraps. */
    public final void add(String property, long number) {
        Native.addLong(realm.handle, realm.handle.address(), info.key, key, info.property(property).key(), number);
    }

    /** Writes a JSON text into a Mixed property. */
    public final void setJson(String property, String json) {
        Native.setJson(realm.handle, realm.handle.address(), info.key, key, info.property(property).key(),
                Texts.utf8(json));
    }

    /** Deletes the object and the embedded objects in it. */
    public final void delete() {
        Native.delete(realm.handle, realm.handle.address(), info.key, key);
    }

    // ---- other views ----

    /** The object as a model: a copy, or a live object of an interface. */
    public final <T> T as(Class<T> type) {
        Bound<T> bound = realm.bound(type);
        if (bound.info.key != info.key) {
            throw new RealmException(ErrorCode.OBJECT_TYPE_MISMATCH,
                    "an object of the class " + info.name() + " is no " + bound.info.name());
        }
        return bound.read(key);
    }

    /** The object that contains this embedded object. */
    public final RealmObject parent() {
        long[] address = Native.parent(realm.handle, realm.handle.address(), info.key, key);
        return realm.objectAt((int) address[0], address[1]);
    }

    /** The same object in another realm of the same file, for example a frozen one; null if it is not there. */
    public final RealmObject in(Realm other) {
        ClassSchema same = other.schema(info.name());
        return Native.exists(other.handle, other.handle.address(), same.key, key)
                ? new RealmObject(other, same, key) : null;
    }

    /** The object as text for people. */
    public final String toText() {
        return Texts.text(Native.describe(realm.handle, realm.handle.address(), info.key, key));
    }

    /**
     * Tells of changes of the object's own properties, and of its end. The listener is called once at first, with no
     * changes; then on the realm's thread, as {@link Realm#refresh} describes.
     *
     * @param keyPaths names of properties; without any, all of them
     */
    public final Subscription observe(BiConsumer<? super RealmObject, ObjectChanges> listener, String... keyPaths) {
        Subscription.require(listener);
        Handle subject = Handle.owning(Native.objectHandle(realm.handle, realm.handle.address(), info.key, key));
        return Subscription.begin(realm, subject, Native.OBJECT, info, keyPaths,
                (numbers, keys) -> listener.accept(this, new ObjectChanges(info, numbers)));
    }

    final void requireFile(Realm other) {
        if (other != null && other != realm) {
            throw new RealmException(ErrorCode.ILLEGAL_OPERATION, "the object belongs to another realm");
        }
    }

    @Override
    public final boolean equals(Object other) {
        return other instanceof RealmObject object && object.realm == realm && object.info.key == info.key
                && object.key == key;
    }

    @Override
    public final int hashCode() {
        return Long.hashCode(key * 31 + info.key);
    }

    @Override
    public final String toString() {
        return info.name() + "[" + key + "]";
    }

    static boolean isCollection(Object value) {
        return value instanceof Collection || value instanceof Map;
    }
}
