package org.crealm;

import java.util.ArrayList;
import java.util.List;

/** What changed in an object. */
public final class ObjectChanges {
    private final boolean deleted;
    private final List<String> properties = new ArrayList<>();

    ObjectChanges(ClassSchema info, long[] numbers) {
        deleted = numbers[0] != 0;
        for (int index = 1; index < numbers.length; index++) {
            for (PropertySchema property : info.properties()) {
                if (property.key() == numbers[index]) {
                    properties.add(property.publicName());
                }
            }
        }
    }

    /** The object was deleted; the listener is not called again. */
    public boolean deleted() {
        return deleted;
    }

    /** The names of the properties that changed. */
    public List<String> properties() {
        return List.copyOf(properties);
    }

    /** Nothing changed: the first call of a listener. */
    public boolean isEmpty() {
        return !deleted && properties.isEmpty();
    }

    @Override
    public String toString() {
        return deleted ? "deleted" : "properties " + properties;
    }
}
