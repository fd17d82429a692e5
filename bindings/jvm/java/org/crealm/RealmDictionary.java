package org.crealm;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Collection;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/** A dictionary of an object, as the realm sees it now; its pairs are in the order of their keys. */
public final class RealmDictionary<E> extends AbstractMap<String, E> {
    private final Realm realm;
    private final Handle handle;
    private final Kind kind;
    private final PropertySchema property;

    RealmDictionary(Realm realm, Handle handle, Kind kind, PropertySchema property) {
        this.realm = realm;
        this.handle = handle;
        this.kind = kind;
        this.property = property;
    }

    /** Whether the dictionary exists, and its realm is open. */
    public boolean isValid() {
        return Calls.dictionaryIsValid(handle);
    }

    private static byte[] encoded(Object key) {
        if (!(key instanceof String text)) {
            throw new RealmException(ErrorCode.INVALID_DICTIONARY_KEY, "the key of a dictionary is a text");
        }
        ValueWriter writer = new ValueWriter(1);
        writer.putText(text);
        return writer.bytes();
    }

    @Override
    public int size() {
        return Math.toIntExact(Calls.dictionarySize(handle));
    }

    @SuppressWarnings("unchecked")
    private E element(Values values, int index, byte[] key) {
        return (E) kind.read(values, index, list -> list
                ? new RealmList<>(realm, Calls.dictionaryGetList(handle, key), Kind.MIXED, property)
                : new RealmDictionary<>(realm, Calls.dictionaryGetDictionary(handle, key), Kind.MIXED, property));
    }

    /** The value of a key; null also if the key is not there. */
    @Override
    public E get(Object key) {
        if (!(key instanceof String)) {
            return null;
        }
        byte[] encoded = encoded(key);
        byte[] data = Calls.dictionaryFind(handle, encoded);
        return data == null ? null : element(new Values(data, 1, realm), 0, encoded);
    }

    @Override
    public boolean containsKey(Object key) {
        return key instanceof String && Calls.dictionaryContainsKey(handle, encoded(key));
    }

    @Override
    public E put(String key, E value) {
        E old = isEmbedded() || kind == Kind.MIXED ? null : get(key);
        insert(key, value, new Storing(realm));
        return old;
    }

    private boolean isEmbedded() {
        return property.type() == PropertyType.OBJECT && realm.schema(property.target()).embedded();
    }

    void insert(String key, Object value, Storing storing) {
        byte[] encoded = encoded(key);
        if (value != null && isEmbedded()) {
            long made = Native.dictionaryEmbedded(handle, handle.address(), encoded);
            storing.embedded(new RealmObject(realm, realm.schema(property.target()), made), value);
        } else if (kind == Kind.MIXED && RealmObject.isCollection(value)) {
            boolean list = value instanceof Collection;
            Object elements = Bound.detached(value, Object.class);
            Calls.dictionaryInsert(handle, encoded, ValueWriter.one(null, realm));
            storing.nested(list ? Calls.dictionaryInsertList(handle, encoded)
                    : Calls.dictionaryInsertDictionary(handle, encoded), list, property, elements);
        } else {
            Calls.dictionaryInsert(handle, encoded, kind.encode(storing.linked(value), realm));
        }
    }

    /** Puts a new embedded object under a key. */
    public RealmObject putEmbedded(String key) {
        long made = Native.dictionaryEmbedded(handle, handle.address(), encoded(key));
        return new RealmObject(realm, realm.schema(property.target()), made);
    }

    @Override
    public E remove(Object key) {
        E old = isEmbedded() || kind == Kind.MIXED ? null : get(key);
        if (key instanceof String) {
            Calls.dictionaryErase(handle, encoded(key));
        }
        return old;
    }

    @Override
    public void clear() {
        Calls.dictionaryClear(handle);
    }

    @Override
    public Set<Map.Entry<String, E>> entrySet() {
        return new AbstractSet<>() {
            @Override
            public int size() {
                return RealmDictionary.this.size();
            }

            @Override
            public Iterator<Map.Entry<String, E>> iterator() {
                // Pairs come in pages; after a removal the following positions are one less.
                int[] removed = {0};
                Iterator<Map.Entry<String, E>> pairs = new Elements<>((first, count) -> Values.rows(
                        Native.elements(handle, handle.address(), Native.DICTIONARY, first - removed[0], count),
                        count * 2, realm), (values, index, position) -> pair(values, index), 2, false);
                return new Iterator<>() {
                    private String last;

                    @Override
                    public boolean hasNext() {
                        return pairs.hasNext();
                    }

                    @Override
                    public Map.Entry<String, E> next() {
                        Map.Entry<String, E> pair = pairs.next();
                        last = pair.getKey();
                        return pair;
                    }

                    @Override
                    public void remove() {
                        RealmDictionary.this.remove(last);
                        removed[0]++;
                    }
                };
            }
        };
    }

    private Map.Entry<String, E> pair(Values values, int index) {
        String key = values.toText(index);
        E value = element(values, index + 1, encoded(key));
        return new SimpleEntry<>(key, value) {
            private static final long serialVersionUID = 1;

            @Override
            public E setValue(E changed) {
                put(key, changed);
                return super.setValue(changed);
            }
        };
    }

    /** The values as results. */
    public Results<E> results() {
        return realm.elements(Calls.dictionaryToResults(handle), kind, property);
    }

    /** Tells of changes, by key; as {@link Results#observe}. */
    public Subscription observe(BiConsumer<? super RealmDictionary<E>, DictionaryChanges> listener,
            String... keyPaths) {
        Subscription.require(listener);
        Handle subject = Handle.owning(Native.cloneHandle(handle, handle.address()));
        return Subscription.begin(realm, subject, Native.DICTIONARY, realm.targetOf(property), keyPaths,
                (numbers, keys) -> listener.accept(this, new DictionaryChanges(numbers, keys)));
    }
}
