package org.crealm;

import java.io.Serializable;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicInteger;

/** An identifier of 12 bytes: seconds since 1970, five random bytes of the process, and a counter. */
public final class ObjectId implements Comparable<ObjectId>, Serializable {
    private static final long serialVersionUID = 1;
    private static final byte[] PROCESS = new byte[5];
    private static final AtomicInteger COUNTER;

    static {
        SecureRandom random = new SecureRandom();
        random.nextBytes(PROCESS);
        COUNTER = new AtomicInteger(random.nextInt());
    }

    private final byte[] bytes;

    /** A new identifier. */
    public ObjectId() {
        bytes = new byte[12];
        int seconds = (int) Instant.now().getEpochSecond();
        int count = COUNTER.getAndIncrement();
        for (int index = 0; index < 4; index++) {
            bytes[index] = (byte) (seconds >>> (24 - 8 * index));
        }
        System.arraycopy(PROCESS, 0, bytes, 4, 5);
        for (int index = 0; index < 3; index++) {
            bytes[9 + index] = (byte) (count >>> (16 - 8 * index));
        }
    }

    /** An identifier of 12 bytes, which are copied. */
    public ObjectId(byte[] bytes) {
        if (bytes.length != 12) {
            throw new IllegalArgumentException("an ObjectId has 12 bytes, not " + bytes.length);
        }
        this.bytes = bytes.clone();
    }

    /** An identifier of 24 hexadecimal digits. */
    public ObjectId(String digits) {
        this(HexFormat.of().parseHex(digits));
    }

    public byte[] toByteArray() {
        return bytes.clone();
    }

    byte[] bytes() {
        return bytes;
    }

    /** When the identifier was made, in whole seconds. */
    public Instant timestamp() {
        long seconds = 0;
        for (int index = 0; index < 4; index++) {
            seconds = seconds << 8 | bytes[index] & 0xff;
        }
        return Instant.ofEpochSecond(seconds);
    }

    @Override
    public int compareTo(ObjectId other) {
        return Arrays.compareUnsigned(bytes, other.bytes);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ObjectId id && Arrays.equals(bytes, id.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
