package org.crealm.conformance;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads and writes JSON: maps in the order of the text, lists, texts, BigDecimal, Boolean and null. */
final class Json {
    private final String text;
    private int place;

    private Json(String text) {
        this.text = text;
    }

    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.space();
        if (json.place != text.length()) {
            throw json.malformed();
        }
        return value;
    }

    /** The text of a value without special characters in its texts. */
    static String write(Object value) {
        if (value instanceof Map<?, ?> map) {
            List<String> parts = new ArrayList<>();
            map.forEach((name, element) -> parts.add(write(name) + ":" + write(element)));
            return "{" + String.join(",", parts) + "}";
        }
        if (value instanceof List<?> list) {
            return "[" + String.join(",", list.stream().map(Json::write).toList()) + "]";
        }
        return value instanceof String ? "\"" + value + "\"" : String.valueOf(value);
    }

    private IllegalArgumentException malformed() {
        return new IllegalArgumentException("malformed JSON at " + place);
    }

    private void space() {
        while (place < text.length() && Character.isWhitespace(text.charAt(place))) {
            place++;
        }
    }

    private boolean skip(String word) {
        space();
        boolean found = text.startsWith(word, place);
        place += found ? word.length() : 0;
        return found;
    }

    private Object value() {
        if (skip("{")) {
            Map<String, Object> map = new LinkedHashMap<>();
            while (!skip("}")) {
                if (!map.isEmpty() && !skip(",") || !skip("\"")) {
                    throw malformed();
                }
                String name = string();
                if (!skip(":")) {
                    throw malformed();
                }
                map.put(name, value());
            }
            return map;
        }
        if (skip("[")) {
            List<Object> list = new ArrayList<>();
            while (!skip("]")) {
                if (!list.isEmpty() && !skip(",")) {
                    throw malformed();
                }
                list.add(value());
            }
            return list;
        }
        if (skip("\"")) {
            return string();
        }
        if (skip("true")) {
            return true;
        }
        if (skip("false")) {
            return false;
        }
        if (skip("null")) {
            return null;
        }
        int start = place;
        while (place < text.length() && "+-.eE0123456789".indexOf(text.charAt(place)) >= 0) {
            place++;
        }
        if (place == start) {
            throw malformed();
        }
        return new BigDecimal(text.substring(start, place));
    }

    private String string() {
        StringBuilder result = new StringBuilder();
        while (true) {
            char next = text.charAt(place++);
            if (next == '"') {
                return result.toString();
            }
            if (next != '\\') {
                result.append(next);
                continue;
            }
            char escaped = text.charAt(place++);
            switch (escaped) {
                case 'u' -> {
                    result.append((char) Integer.parseInt(text.substring(place, place + 4), 16));
                    place += 4;
                }
                case 'n' -> result.append('\n');
                case 't' -> result.append('\t');
                case 'r' -> result.append('\r');
                case 'b' -> result.append('\b');
                case 'f' -> result.append('\f');
                default -> result.append(escaped);
            }
        }
    }
}
