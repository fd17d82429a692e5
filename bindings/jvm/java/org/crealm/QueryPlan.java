package org.crealm;

/**
 * How a query finds its rows.
 *
 * @param index   the property whose index is used, or null
 * @param objects objects of the class
 * @param tested  objects on which conditions are tested
 * @param found   rows of the result
 */
public record QueryPlan(Access access, String index, long objects, long tested, long found) {
    /** Where the rows come from. */
    public enum Access {
        SCAN,
        INDEX,
        WORDS,
        ROWS,
        NOTHING
    }
}
