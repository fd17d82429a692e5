package org.crealm;

import java.util.ArrayList;
import java.util.List;

/** What changed in a dictionary. */
public final class DictionaryChanges {
    private final boolean cleared;
    private final boolean deleted;
    private final List<String> deletions;
    private final List<String> insertions;
    private final List<String> modifications;

    DictionaryChanges(long[] numbers, byte[] keys) {
        cleared = numbers[0] != 0;
        deleted = numbers[1] != 0;
        ClassSchema.Decoder decoder = new ClassSchema.Decoder(keys);
        deletions = read(decoder, numbers[2]);
        insertions = read(decoder, numbers[3]);
        modifications = read(decoder, numbers[4]);
    }

    private static List<String> read(ClassSchema.Decoder decoder, long count) {
        List<String> keys = new ArrayList<>();
        for (long index = 0; index < count; index++) {
            keys.add(decoder.text());
        }
        return List.copyOf(keys);
    }

    public List<String> deletions() {
        return deletions;
    }

    public List<String> insertions() {
        return insertions;
    }

    public List<String> modifications() {
        return modifications;
    }

    public boolean cleared() {
        return cleared;
    }

    public boolean deleted() {
        return deleted;
    }

    /** Nothing changed: the first call of a listener. */
    public boolean isEmpty() {
        return deletions.isEmpty() && insertions.isEmpty() && modifications.isEmpty() && !cleared && !deleted;
    }

    @Override
    public String toString() {
        return "deletions " + deletions + ", insertions " + insertions + ", modifications " + modifications
                + (cleared ? ", cleared" : "") + (deleted ? ", deleted" : "");
    }
}
