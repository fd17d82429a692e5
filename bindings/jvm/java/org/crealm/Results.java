package org.crealm;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The rows that a query finds, as the realm sees them now. The query runs when rows are read, not before.
 *
 * <p>A loop or stream reads the rows that exist when it begins, in pages of up to 1024. Copies have the values of the
 * moment in which their page was read; rows that the loop deletes are left out.
 */
public final class Results<T> implements Iterable<T> {
    private final Realm realm;
    private final Handle handle;
    private final Rows<T> rows;
    private final ClassSchema info;

    /** info: the class of the rows; null: they are values. */
    Results(Realm realm, Handle handle, Rows<T> rows, ClassSchema info) {
        this.realm = realm;
        this.handle = handle;
        this.rows = rows;
        this.info = info;
    }

    public Realm realm() {
        return realm;
    }

    /** The number of rows. */
    public int size() {
        return Math.toIntExact(Calls.resultsCount(handle));
    }

    public boolean isEmpty() {
        return size() == 0;
    }

    /** The row at an index. Fails with INDEX_OUT_OF_BOUNDS. */
    public T get(int index) {
        Values page = index < 0 ? null : page(handle, index, 1);
        if (page == null || page.count() == 0) {
            throw new RealmException(ErrorCode.INDEX_OUT_OF_BOUNDS, "there is no row " + index);
        }
        return rows.row(page, 0);
    }

    /** The first row, if there is one. */
    public Optional<T> first() {
        Values page = page(handle, 0, 1);
        return page.count() == 0 ? Optional.empty() : Optional.ofNullable(rows.row(page, 0));
    }

    private int width() {
        return rows.areObjects() ? rows.fetched().length + 1 : 1;
    }

    private Values page(Handle results, long first, int count) {
        byte[] data = rows.areObjects()
                ? Native.fetch(results, results.address(), first, count, rows.fetched())
                : Native.elements(results, results.address(), Native.RESULTS, first, count);
        return Values.rows(data, count * width(), realm);
    }

    @Override
    public Iterator<T> iterator() {
        Handle snapshot = Calls.resultsSnapshot(handle);
        return new Elements<>((first, count) -> page(snapshot, first, count),
                (values, index, position) -> rows.row(values, index), width(), rows.areObjects());
    }

    @Override
    public Spliterator<T> spliterator() {
        return Spliterators.spliteratorUnknownSize(iterator(), Spliterator.ORDERED);
    }

    /** The rows, one after the other. */
    public Stream<T> stream() {
        return StreamSupport.stream(spliterator(), false);
    }

    public List<T> toList() {
        List<T> list = new ArrayList<>();
        iterator().forEachRemaining(list::add);
        return list;
    }

    // ---- other results ----

    private Results<T> with(Handle made) {
        return new Results<>(realm, made, rows, info);
    }

    /** The rows that meet a condition, too: "age > $0". The order stays. */
    public Results<T> filter(String condition, Object... arguments) {
        Handle query = Queries.on(realm, handle, Native.RESULTS, 0, condition, arguments);
        return with(Calls.resultsFilter(handle, query));
    }

    /** The rows in an order: "age DESC, name". A path without a direction is ascending. */
    public Results<T> sorted(String order) {
        return with(Calls.resultsSort(handle, Queries.order(order)));
    }

    /** Of the rows that are equal in these paths, the first one: "age, name". */
    public Results<T> distinct(String paths) {
        return with(Calls.resultsDistinct(handle, paths));
    }

    /** The first rows. */
    public Results<T> limit(int count) {
        if (count < 0) {
            throw new RealmException(ErrorCode.INVALID_ARGUMENT, "a negative limit");
        }
        return with(Calls.resultsLimit(handle, count));
    }

    /** The rows as they are now; their number and order never change. */
    public Results<T> snapshot() {
        return with(Calls.resultsSnapshot(handle));
    }

    /** The same rows as live objects, whatever the model is. */
    public Results<RealmObject> objects() {
        requireObjects();
        return new Results<>(realm, handle, Rows.objects(realm), info);
    }

    /** The same rows as another model of their class. */
    public <M> Results<M> as(Class<M> type) {
        requireObjects();
        Bound<M> bound = realm.bound(type);
        if (bound.info.key != info.key) {
            throw new RealmException(ErrorCode.OBJECT_TYPE_MISMATCH, "the rows are no " + bound.info.name());
        }
        return new Results<>(realm, handle, bound, info);
    }

    /** The same results in another realm of the same file, for example a frozen one. */
    public Results<T> in(Realm other) {
        Handle made = Calls.resultsResolveIn(handle, other.handle);
        made.guard = other.handle.guard;
        return new Results<>(other, made, rowsIn(other), info == null ? null : other.schema(info.name()));
    }

    @SuppressWarnings("unchecked")
    private Rows<T> rowsIn(Realm other) {
        if (rows instanceof Bound<T> bound) {
            return other.bound(bound.model.javaType);
        }
        return rows.areObjects() ? (Rows<T>) Rows.objects(other) : rows;
    }

    private void requireObjects() {
        if (info == null) {
            throw new RealmException(ErrorCode.ILLEGAL_OPERATION, "the rows are values, not objects");
        }
    }

    // ---- aggregates ----

    private long key(String property) {
        return property == null ? -1 : info == null ? -1 : info.property(property).key();
    }

    /** The smallest value of a property; null: no row has one. property: null for results of values. */
    public Object min(String property) {
        return Values.one(Calls.resultsMin(handle, key(property)), realm);
    }

    /** The largest value of a property; null: no row has one. */
    public Object max(String property) {
        return Values.one(Calls.resultsMax(handle, key(property)), realm);
    }

    /** The sum of a property: a Long, Double or Decimal128. */
    public Object sum(String property) {
        return Values.one(Calls.resultsSum(handle, key(property)), realm);
    }

    /** The mean of a property: a Double or Decimal128; null: no row has a number. */
    public Object average(String property) {
        return Values.one(Calls.resultsAverage(handle, key(property)), realm);
    }

    // ---- writing ----

    /** Deletes the objects in the rows. */
    public void deleteAll() {
        Calls.resultsDeleteAll(handle);
    }

    /** Sets properties of all objects by expressions: "age = age + $0". Returns the number of objects. */
    public long update(String assignments, Object... arguments) {
        Queries.Arguments encoded = new Queries.Arguments(realm, arguments);
        return Native.update(handle, handle.address(), Texts.utf8(assignments), encoded.lengths, encoded.values);
    }

    // ---- changes and explanations ----

    /**
     * Tells of changes of the rows. The listener is called once at first, with no changes; then on the realm's thread,
     * as {@link Realm#refresh} describes.
     *
     * @param keyPaths names of properties whose changes count, such as "name" or "dogs.age"; without any, all of them
     */
    public Subscription observe(BiConsumer<? super Results<T>, CollectionChanges> listener, String... keyPaths) {
        Subscription.require(listener);
        // A handle of its own: callbacks end with their handle.
        Handle subject = Handle.owning(Native.cloneHandle(handle, handle.address()));
        return Subscription.begin(realm, subject, Native.RESULTS, info, keyPaths,
                (numbers, keys) -> listener.accept(this, new CollectionChanges(numbers)));
    }

    /** How the query finds its rows. */
    public QueryPlan explain() {
        Handle query = Calls.resultsGetQuery(handle);
        long[] plan = Native.explain(query, query.address());
        String index = plan[1] < 0 || info == null ? null : info.properties().stream()
                .filter(property -> property.key() == plan[1]).map(PropertySchema::name).findFirst().orElse(null);
        return new QueryPlan(QueryPlan.Access.values()[(int) plan[0]], index, plan[2], plan[3], plan[4]);
    }

    /** The query in its normal form. */
    public String description() {
        return Texts.text(Calls.queryGetDescription(Calls.resultsGetQuery(handle)));
    }

    @Override
    public String toString() {
        return "Results of " + (info == null ? "values" : info.name());
    }
}
