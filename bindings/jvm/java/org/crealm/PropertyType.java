package org.crealm;

/** The type of the values of a property. */
public enum PropertyType {
    INT(0),
    BOOL(1),
    STRING(2),
    BINARY(4),
    MIXED(6),
    TIMESTAMP(8),
    FLOAT(9),
    DOUBLE(10),
    DECIMAL128(11),
    OBJECT(12),
    LINKING_OBJECTS(14),
    OBJECT_ID(15),
    UUID(17);

    final int number;

    PropertyType(int number) {
        this.number = number;
    }

    static PropertyType of(long number) {
        for (PropertyType type : values()) {
            if (type.number == number) {
                return type;
            }
        }
        throw new RealmException(ErrorCode.NOT_SUPPORTED, "unknown type " + number);
    }
}
