package org.crealm;

import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * An IEEE 754 decimal128 number: 34 digits, and an exponent of -6176 to 6111. Two numbers are equal if all their bits
 * are: 1.0 and 1.00 differ, as they do for BigDecimal.
 */
public final class Decimal128 implements Comparable<Decimal128>, Serializable {
    private static final long serialVersionUID = 1;
    private static final int DIGITS = 34;
    private static final int LOWEST = -6176;
    private static final int HIGHEST = 6111;
    private static final long SIGN = 1L << 63;
    private static final BigInteger LIMIT = BigInteger.TEN.pow(DIGITS);

    public static final Decimal128 POSITIVE_INFINITY = new Decimal128(0x78L << 56, 0);

    public static final Decimal128 NEGATIVE_INFINITY = new Decimal128(0xf8L << 56, 0);

    public static final Decimal128 NaN = new Decimal128(0x7cL << 56, 0);

    private final long high;
    private final long low;

    private Decimal128(long high, long low) {
        this.high = high;
        this.low = low;
    }

    /** The number with these bits, in binary integer encoding. */
    public static Decimal128 ofBits(long high, long low) {
        return new Decimal128(high, low);
    }

    public static Decimal128 of(long value) {
        return of(BigDecimal.valueOf(value));
    }

    /** The number. Fails with RANGE_ERROR if it has more than 34 digits, or lies beyond the exponents. */
    public static Decimal128 of(BigDecimal value) {
        try {
            return exact(value);
        } catch (ArithmeticException error) {
            throw new RealmException(ErrorCode.RANGE_ERROR, "the number does not fit into a Decimal128: " + value);
        }
    }

    private static Decimal128 exact(BigDecimal value) {
        BigDecimal rounded = value.round(new MathContext(DIGITS, RoundingMode.HALF_EVEN));
        if (rounded.compareTo(value) != 0) {
            throw new ArithmeticException();
        }
        BigInteger digits = rounded.unscaledValue().abs();
        long exponent = -(long) rounded.scale();
        while (exponent > HIGHEST && digits.signum() != 0 && digits.multiply(BigInteger.TEN).compareTo(LIMIT) < 0) {
            digits = digits.multiply(BigInteger.TEN);
            exponent--;
        }
        if (digits.signum() == 0) {
            exponent = Math.max(LOWEST, Math.min(HIGHEST, exponent));
        }
        if (exponent < LOWEST) {
            BigDecimal fitting = rounded.setScale(-LOWEST, RoundingMode.UNNECESSARY);
            digits = fitting.unscaledValue().abs();
            exponent = LOWEST;
        }
        if (exponent > HIGHEST) {
            throw new ArithmeticException();
        }
        long top = digits.shiftRight(64).longValue() | exponent - LOWEST << 49;
        return new Decimal128(rounded.signum() < 0 ? top | SIGN : top, digits.longValue());
    }

    /** A number as BigDecimal writes it; or NaN, Infinity, -Infinity. Fails as of() does, or with INVALID_ARGUMENT. */
    public static Decimal128 parse(String text) {
        return switch (text) {
            case "NaN" -> NaN;
            case "Infinity", "+Infinity", "Inf" -> POSITIVE_INFINITY;
            case "-Infinity", "-Inf" -> NEGATIVE_INFINITY;
            default -> {
                Decimal128 parsed = of(number(text));
                yield text.startsWith("-") ? new Decimal128(parsed.high | SIGN, parsed.low) : parsed;
            }
        };
    }

    private static BigDecimal number(String text) {
        try {
            return new BigDecimal(text);
        } catch (NumberFormatException error) {
            throw new RealmException(ErrorCode.INVALID_ARGUMENT, "the text is no number: " + text);
        }
    }

    public long high() {
        return high;
    }

    public long low() {
        return low;
    }

    public boolean isNaN() {
        return (high >>> 58 & 0x1f) == 0x1f;
    }

    public boolean isInfinite() {
        return (high >>> 58 & 0x1f) == 0x1e;
    }

    public boolean isNegative() {
        return high < 0;
    }

    /** The number; fails with ArithmeticException for NaN and infinities. The zero has no sign. */
    public BigDecimal bigDecimalValue() {
        if (isNaN() || isInfinite()) {
            throw new ArithmeticException(this + " is no number");
        }
        if ((high >>> 61 & 3) == 3) {
            return BigDecimal.valueOf(0, -(int) ((high >>> 47 & 0x3fff) + LOWEST));
        }
        int exponent = (int) (high >>> 49 & 0x3fff) + LOWEST;
        BigInteger digits = BigInteger.valueOf(high & (1L << 49) - 1).shiftLeft(64)
                .add(new BigInteger(Long.toUnsignedString(low)));
        if (digits.compareTo(LIMIT) >= 0) {
            digits = BigInteger.ZERO;
        }
        return new BigDecimal(isNegative() ? digits.negate() : digits, -exponent);
    }

    /** By value; NaN comes first. */
    @Override
    public int compareTo(Decimal128 other) {
        int order = Integer.compare(rank(), other.rank());
        return order != 0 || rank() != 2 ? order : bigDecimalValue().compareTo(other.bigDecimalValue());
    }

    private int rank() {
        return isNaN() ? 0 : !isInfinite() ? 2 : isNegative() ? 1 : 3;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Decimal128 number && high == number.high && low == number.low;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(high * 31 + low);
    }

    @Override
    public String toString() {
        if (isNaN()) {
            return "NaN";
        }
        if (isInfinite()) {
            return isNegative() ? "-Infinity" : "Infinity";
        }
        BigDecimal value = bigDecimalValue();
        return value.signum() == 0 && isNegative() ? "-" + value : value.toString();
    }
}
