package org.crealm;

/** How the rows of results appear in Java. */
abstract class Rows<T> {
    static final long[] NO_KEYS = {};

    /** The properties that a page of rows contains, beside the link of each row. */
    long[] fetched() {
        return NO_KEYS;
    }

    /** Whether the rows are objects; else they are values. */
    boolean areObjects() {
        return true;
    }

    /** The row whose link is at an index, with its properties after it; null: the object was deleted. */
    abstract T row(Values values, int index);

    /** The objects of any class. */
    static Rows<RealmObject> objects(Realm realm) {
        return new Rows<>() {
            @Override
            RealmObject row(Values values, int index) {
                return values.toObject(index);
            }
        };
    }

    /** Values, for example the keys of a dictionary. */
    static <T> Rows<T> values(Kind kind) {
        return new Rows<>() {
            @Override
            boolean areObjects() {
                return false;
            }

            @Override
            @SuppressWarnings("unchecked")
            T row(Values values, int index) {
                return (T) kind.read(values, index);
            }
        };
    }
}
