package org.crealm;

/** Whether a property holds one value or many. */
public enum CollectionType {
    NONE(0),
    LIST(1),
    SET(2),
    DICTIONARY(4);

    final int number;

    CollectionType(int number) {
        this.number = number;
    }

    static CollectionType of(long number) {
        for (CollectionType type : values()) {
            if (type.number == number) {
                return type;
            }
        }
        throw new RealmException(ErrorCode.NOT_SUPPORTED, "unknown collection " + number);
    }
}
