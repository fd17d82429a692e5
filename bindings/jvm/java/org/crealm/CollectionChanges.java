package org.crealm;

import java.util.Arrays;

/**
 * What changed in a list, a set or results.
 *
 * <p>To update a list on the screen: remove the deletions from the back, insert the insertions from the front, and
 * redraw {@link #modificationsAfter}. The arrays are copies; their numbers ascend.
 */
public final class CollectionChanges {
    private final long[] numbers;

    /** numbers: as collection_changed() in callbacks.c writes them. */
    CollectionChanges(long[] numbers) {
        this.numbers = numbers;
    }

    private int[] part(int first, int count) {
        return Arrays.stream(numbers, first, first + count).mapToInt(Math::toIntExact).toArray();
    }

    private int count(int kind) {
        return (int) numbers[2 + kind];
    }

    /** Indices before the changes. */
    public int[] deletions() {
        return part(6, count(0));
    }

    /** Indices after the changes. */
    public int[] insertions() {
        return part(6 + count(0), count(1));
    }

    /** Indices before the changes. */
    public int[] modifications() {
        return part(6 + count(0) + count(1), count(2));
    }

    /** The same elements: indices after the changes. */
    public int[] modificationsAfter() {
        return part(6 + count(0) + count(1) + count(2), count(2));
    }

    /** Pairs of the index before and after the changes; each is a deletion and an insertion, too. */
    public int[][] moves() {
        int first = 6 + count(0) + count(1) + 2 * count(2);
        int[][] moves = new int[count(3)][];
        for (int index = 0; index < moves.length; index++) {
            moves[index] = part(first + 2 * index, 2);
        }
        return moves;
    }

    /** All elements were removed, and none was inserted since. */
    public boolean cleared() {
        return numbers[0] != 0;
    }

    /** The collection was deleted with its owner, or replaced by another value. */
    public boolean deleted() {
        return numbers[1] != 0;
    }

    /** Nothing changed: the first call of a listener. */
    public boolean isEmpty() {
        return numbers.length == 6 && !cleared() && !deleted();
    }

    @Override
    public String toString() {
        return "deletions " + Arrays.toString(deletions()) + ", insertions " + Arrays.toString(insertions())
                + ", modifications " + Arrays.toString(modifications()) + (cleared() ? ", cleared" : "")
                + (deleted() ? ", deleted" : "");
    }
}
