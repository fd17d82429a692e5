package org.crealm;

/**
 * The one exception of this package. {@link #code()} is the number of the C API, as {@link ErrorCode} lists them.
 */
public class RealmException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int code;
    private final int categories;
    private final String path;

    public RealmException(int code, String message) {
        this(code, 0, message, null);
    }

    RealmException(int code, int categories, String message, String path) {
        super(message + " (" + ErrorCode.name(code) + ", " + code + ")" + (path == null ? "" : ": " + path));
        this.code = code;
        this.categories = categories;
        this.path = path;
    }

    /** The number of the error, for example {@link ErrorCode#WRONG_THREAD}. */
    public int code() {
        return code;
    }

    /** The name of the error, for example "WRONG_THREAD". */
    public String codeName() {
        return ErrorCode.name(code);
    }

    /** The bits of realm_error_category_e; 0 for an error that Java found. */
    public int categories() {
        return categories;
    }

    /** The file concerned, or null. */
    public String path() {
        return path;
    }
}
