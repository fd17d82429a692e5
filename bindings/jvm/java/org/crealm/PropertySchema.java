package org.crealm;

/**
 * A property of a class.
 *
 * @param name       the stored name
 * @param publicName the name in queries; the stored one if there is no other
 * @param target     the class of linked objects, "" for other types
 * @param origin     the property that links here, of LINKING_OBJECTS
 * @param key        the property in an open realm; -1 in a schema that is not open
 */
public record PropertySchema(String name, String publicName, PropertyType type, CollectionType collection,
        String target, String origin, boolean nullable, boolean primaryKey, boolean indexed, boolean fullText,
        long key) {

    /** A required property with one value. */
    public static PropertySchema of(String name, PropertyType type) {
        return new PropertySchema(name, name, type, CollectionType.NONE, "", "", type == PropertyType.MIXED, false,
                false, false, -1);
    }

    /** A link to an object of a class; null is allowed. */
    public static PropertySchema link(String name, String target) {
        return of(name, PropertyType.OBJECT).to(target).asNullable();
    }

    /** The objects of a class that link here by one of its properties. */
    public static PropertySchema backlinks(String name, String target, String origin) {
        return new PropertySchema(name, name, PropertyType.LINKING_OBJECTS, CollectionType.LIST, target, origin, false,
                false, false, false, -1);
    }

    /** The same with many values. Links in lists and sets are never null, those in dictionaries may be. */
    public PropertySchema in(CollectionType kind) {
        boolean allowsNull = type == PropertyType.OBJECT ? kind == CollectionType.DICTIONARY : nullable;
        return new PropertySchema(name, publicName, type, kind, target, origin, allowsNull, primaryKey, indexed,
                fullText, key);
    }

    public PropertySchema to(String linked) {
        return new PropertySchema(name, publicName, type, collection, linked, origin, nullable, primaryKey, indexed,
                fullText, key);
    }

    public PropertySchema asNullable() {
        return new PropertySchema(name, publicName, type, collection, target, origin, true, primaryKey, indexed,
                fullText, key);
    }

    public PropertySchema asPrimaryKey() {
        return new PropertySchema(name, publicName, type, collection, target, origin, nullable, true, indexed, fullText,
                key);
    }

    public PropertySchema asIndexed() {
        return new PropertySchema(name, publicName, type, collection, target, origin, nullable, primaryKey, true,
                fullText, key);
    }

    public PropertySchema asFullText() {
        return new PropertySchema(name, publicName, type, collection, target, origin, nullable, primaryKey, indexed,
                true, key);
    }

    public PropertySchema withPublicName(String other) {
        return new PropertySchema(name, other, type, collection, target, origin, nullable, primaryKey, indexed,
                fullText, key);
    }

    int flags() {
        return (nullable ? 1 : 0) | (primaryKey ? 2 : 0) | (indexed ? 4 : 0) | (fullText ? 8 : 0);
    }
}
