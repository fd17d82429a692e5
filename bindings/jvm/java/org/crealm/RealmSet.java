package org.crealm;

import java.util.AbstractSet;
import java.util.Iterator;
import java.util.function.BiConsumer;

/**
 * A set of an object, as the realm sees it now; its elements are in the order of their values.
 *
 * <p>An iterator reads pages of up to 1024 elements; nothing else may change the set meanwhile.
 */
public final class RealmSet<E> extends AbstractSet<E> {
    private final Realm realm;
    private final Handle handle;
    private final Kind kind;
    private final PropertySchema property;

    RealmSet(Realm realm, Handle handle, Kind kind, PropertySchema property) {
        this.realm = realm;
        this.handle = handle;
        this.kind = kind;
        this.property = property;
    }

    /** Whether the set exists, and its realm is open. */
    public boolean isValid() {
        return Calls.setIsValid(handle);
    }

    @Override
    public int size() {
        return Math.toIntExact(Calls.setSize(handle));
    }

    @Override
    @SuppressWarnings("unchecked")
    public Iterator<E> iterator() {
        // A snapshot, so that remove() does not shift the elements that follow.
        Handle rows = Calls.resultsSnapshot(Calls.setToResults(handle));
        Iterator<E> elements = new Elements<>((first, count) -> Values.rows(
                Native.elements(rows, rows.address(), Native.RESULTS, first, count), count, realm),
                (values, index, position) -> (E) kind.read(values, index), 1, false);
        return new Iterator<>() {
            private E last;

            @Override
            public boolean hasNext() {
                return elements.hasNext();
            }

            @Override
            public E next() {
                last = elements.next();
                return last;
            }

            @Override
            public void remove() {
                RealmSet.this.remove(last);
            }
        };
    }

    @Override
    public boolean add(E element) {
        return insert(element, new Storing(realm));
    }

    boolean insert(Object element, Storing storing) {
        return Calls.setInsert(handle, kind.encode(storing.linked(element), realm));
    }

    @Override
    public boolean remove(Object element) {
        byte[] encoded = encoded(element);
        return encoded != null && Calls.setErase(handle, encoded);
    }

    @Override
    public boolean contains(Object element) {
        byte[] encoded = encoded(element);
        return encoded != null && Calls.setFind(handle, encoded) >= 0;
    }

    /** Null for a value that no set of this type can have. */
    private byte[] encoded(Object element) {
        try {
            return kind.encode(element, realm);
        } catch (RealmException error) {
            boolean absent = error.code() == ErrorCode.PROPERTY_TYPE_MISMATCH
                    || error.code() == ErrorCode.NO_SUCH_OBJECT;
            if (absent) {
                return null;
            }
            throw error;
        }
    }

    @Override
    public void clear() {
        Calls.setClear(handle);
    }

    /** Removes all elements, and deletes the objects they link to. */
    public void deleteAll() {
        Calls.setRemoveAll(handle);
    }

    /** The elements that meet a condition. */
    public Results<E> query(String condition, Object... arguments) {
        Handle query = Queries.on(realm, handle, Native.SET, 0, condition, arguments);
        return new Results<>(realm, Calls.queryFindAll(query), realm.rows(kind), realm.schema(property.target()));
    }

    /** The elements as results. */
    public Results<E> results() {
        return realm.elements(Calls.setToResults(handle), kind, property);
    }

    /** Tells of changes; as {@link Results#observe}. */
    public Subscription observe(BiConsumer<? super RealmSet<E>, CollectionChanges> listener, String... keyPaths) {
        Subscription.require(listener);
        Handle subject = Handle.owning(Native.cloneHandle(handle, handle.address()));
        return Subscription.begin(realm, subject, Native.SET, realm.targetOf(property), keyPaths,
                (numbers, keys) -> listener.accept(this, new CollectionChanges(numbers)));
    }
}
