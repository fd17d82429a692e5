package org.crealm;

import java.util.AbstractList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.BiConsumer;

/**
 * A list of an object, as the realm sees it now. Elements of Mixed may be lists and dictionaries again.
 *
 * <p>A stream reads pages of up to 1024 elements; nothing may change the list meanwhile.
 */
public final class RealmList<E> extends AbstractList<E> implements RandomAccess {
    private final Realm realm;
    private final Handle handle;
    private final Kind kind;
    private final PropertySchema property;

    RealmList(Realm realm, Handle handle, Kind kind, PropertySchema property) {
        this.realm = realm;
        this.handle = handle;
        this.kind = kind;
        this.property = property;
    }

    /** Whether the list exists, and its realm is open. */
    public boolean isValid() {
        return Calls.listIsValid(handle);
    }

    @Override
    public int size() {
        return Math.toIntExact(Calls.listSize(handle));
    }

    @SuppressWarnings("unchecked")
    private E element(Values values, int index, long position) {
        return (E) kind.read(values, index, list -> nested(position, list));
    }

    private Object nested(long position, boolean list) {
        return list ? new RealmList<>(realm, Calls.listGetList(handle, position), Kind.MIXED, property)
                : new RealmDictionary<>(realm, Calls.listGetDictionary(handle, position), Kind.MIXED, property);
    }

    /** Fails with INDEX_OUT_OF_BOUNDS. */
    @Override
    public E get(int index) {
        byte[] data = Native.element(handle, handle.address(), Native.LIST, index);
        return element(new Values(data, 1, realm), 0, index);
    }

    @Override
    public Spliterator<E> spliterator() {
        Iterator<E> elements = new Elements<>((first, count) -> Values.rows(
                Native.elements(handle, handle.address(), Native.LIST, first, count), count, realm),
                this::element, 1, false);
        return Spliterators.spliteratorUnknownSize(elements, Spliterator.ORDERED);
    }

    @Override
    public E set(int index, E element) {
        E old = isEmbedded() ? null : get(index);
        replace(index, element, new Storing(realm));
        return old;
    }

    private boolean isEmbedded() {
        return property.type() == PropertyType.OBJECT && realm.schema(property.target()).embedded();
    }

    private void replace(int index, Object element, Storing storing) {
        if (isEmbedded()) {
            long made = Native.listEmbedded(handle, handle.address(), index, 1);
            storing.embedded(new RealmObject(realm, realm.schema(property.target()), made), element);
        } else if (kind == Kind.MIXED && RealmObject.isCollection(element)) {
            boolean list = element instanceof Collection;
            Object elements = Bound.detached(element, Object.class);
            Calls.listSet(handle, index, ValueWriter.one(null, realm));
            storing.nested(list ? Calls.listSetList(handle, index) : Calls.listSetDictionary(handle, index), list,
                    property, elements);
        } else {
            Calls.listSet(handle, index, kind.encode(storing.linked(element), realm));
        }
    }

    @Override
    public boolean add(E element) {
        insert(size(), element, new Storing(realm));
        return true;
    }

    @Override
    public void add(int index, E element) {
        insert(index, element, new Storing(realm));
    }

    void insert(int index, Object element, Storing storing) {
        if (isEmbedded()) {
            long made = Native.listEmbedded(handle, handle.address(), index, 0);
            storing.embedded(new RealmObject(realm, realm.schema(property.target()), made), element);
        } else if (kind == Kind.MIXED && RealmObject.isCollection(element)) {
            boolean list = element instanceof Collection;
            Object elements = Bound.detached(element, Object.class);
            storing.nested(list ? Calls.listInsertList(handle, index) : Calls.listInsertDictionary(handle, index), list,
                    property, elements);
        } else {
            Calls.listInsert(handle, index, kind.encode(storing.linked(element), realm));
        }
        modCount++;
    }

    /** Inserts a new embedded object. */
    public RealmObject insertEmbedded(int index) {
        long made = Native.listEmbedded(handle, handle.address(), index, 0);
        modCount++;
        return new RealmObject(realm, realm.schema(property.target()), made);
    }

    @Override
    public E remove(int index) {
        E old = isEmbedded() || kind == Kind.MIXED ? null : get(index);
        Calls.listErase(handle, index);
        modCount++;
        return old;
    }

    /** Moves an element; it is at the index `to` afterwards. */
    public void move(int from, int to) {
        Calls.listMove(handle, from, to);
        modCount++;
    }

    @Override
    public void clear() {
        Calls.listClear(handle);
        modCount++;
    }

    /** Removes all elements, and deletes the objects they link to. */
    public void deleteAll() {
        Calls.listRemoveAll(handle);
        modCount++;
    }

    @Override
    public int indexOf(Object element) {
        if (RealmObject.isCollection(element) || element instanceof byte[]) {
            return super.indexOf(element);
        }
        try {
            return (int) Calls.listFind(handle, kind.encode(element, realm));
        } catch (RealmException error) {
            boolean absent = error.code() == ErrorCode.PROPERTY_TYPE_MISMATCH
                    || error.code() == ErrorCode.PROPERTY_NOT_NULLABLE || error.code() == ErrorCode.NO_SUCH_OBJECT;
            if (absent) {
                return -1;
            }
            throw error;
        }
    }

    @Override
    public boolean contains(Object element) {
        return indexOf(element) >= 0;
    }

    @Override
    public boolean remove(Object element) {
        int index = indexOf(element);
        if (index >= 0) {
            remove(index);
        }
        return index >= 0;
    }

    /** The elements that meet a condition, in the order of the list. */
    public Results<E> query(String condition, Object... arguments) {
        Handle query = Queries.on(realm, handle, Native.LIST, 0, condition, arguments);
        return new Results<>(realm, Calls.queryFindAll(query), realm.rows(kind), realm.schema(property.target()));
    }

    /** The elements as results. */
    public Results<E> results() {
        return realm.elements(Calls.listToResults(handle), kind, property);
    }

    /** Tells of changes; as {@link Results#observe}. */
    public Subscription observe(BiConsumer<? super RealmList<E>, CollectionChanges> listener, String... keyPaths) {
        Subscription.require(listener);
        Handle subject = Handle.owning(Native.cloneHandle(handle, handle.address()));
        return Subscription.begin(realm, subject, Native.LIST, realm.targetOf(property), keyPaths,
                (numbers, keys) -> listener.accept(this, new CollectionChanges(numbers)));
    }

    @Override
    public boolean equals(Object other) {
        return other == this || other instanceof List<?> list && !(isForeign(list)) && super.equals(other);
    }

    private boolean isForeign(List<?> list) {
        return !isValid() || list instanceof RealmList<?> other && !other.isValid();
    }

    @Override
    public int hashCode() {
        return Objects.hash(System.identityHashCode(realm), property);
    }
}
