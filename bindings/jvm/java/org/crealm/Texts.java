package org.crealm;

import java.nio.charset.StandardCharsets;

/** Texts as UTF-8, the form in which they pass between Java and C. */
final class Texts {
    private Texts() {}

    /** The bytes of a text; null for null. Fails with INVALID_ARGUMENT for a lone surrogate. */
    static byte[] utf8(String text) {
        if (text == null) {
            return null;
        }
        check(text);
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] bytes) {
        return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
    }

    private static void check(String text) {
        int length = text.length();
        for (int index = 0; index < length; index++) {
            char character = text.charAt(index);
            if (Character.isSurrogate(character)) {
                boolean pair = Character.isHighSurrogate(character) && index + 1 < length
                        && Character.isLowSurrogate(text.charAt(index + 1));
                if (!pair) {
                    throw new RealmException(ErrorCode.INVALID_ARGUMENT,
                            "the text has a lone surrogate at " + index + ", which UTF-8 cannot express");
                }
                index++;
            }
        }
    }
}
