package org.crealm;

import java.time.DateTimeException;
import java.time.Instant;

/**
 * A point in time as a realm stores it. Its range is wider than that of Instant: properties without a model appear as
 * Instant where it fits, else as this.
 *
 * @param seconds     since 1970-01-01 00:00 UTC
 * @param nanoseconds -999999999 to 999999999, with the sign of the seconds
 */
public record Timestamp(long seconds, int nanoseconds) implements Comparable<Timestamp> {
    public static Timestamp of(Instant instant) {
        long seconds = instant.getEpochSecond();
        int nanoseconds = instant.getNano();
        boolean negative = seconds < 0 && nanoseconds > 0;
        return new Timestamp(negative ? seconds + 1 : seconds, negative ? nanoseconds - 1_000_000_000 : nanoseconds);
    }

    /** Fails with RANGE_ERROR if Instant cannot express it. */
    public Instant toInstant() {
        try {
            return Instant.ofEpochSecond(seconds, nanoseconds);
        } catch (DateTimeException | ArithmeticException error) {
            throw new RealmException(ErrorCode.RANGE_ERROR, seconds + " seconds do not fit into an Instant");
        }
    }

    boolean fits() {
        return seconds > Instant.MIN.getEpochSecond() && seconds < Instant.MAX.getEpochSecond();
    }

    @Override
    public int compareTo(Timestamp other) {
        int order = Long.compare(seconds, other.seconds);
        return order != 0 ? order : Integer.compare(nanoseconds, other.nanoseconds);
    }
}
