package org.crealm;

import java.util.Iterator;
import java.util.NoSuchElementException;

/** Reads elements of a collection in pages: 16 at first, then up to 1024. */
final class Elements<T> implements Iterator<T> {
    private static final int FIRST_PAGE = 16;
    private static final int LAST_PAGE = 1024;

    /** Reads a page. */
    interface Pages {
        Values read(long first, int count);
    }

    /** Reads one element of a page. */
    interface Element<T> {
        T read(Values values, int index, long position);
    }

    private final Pages pages;
    private final Element<T> element;
    private final int width;
    private final boolean skipsNull;
    private Values page;
    private int row;
    private int rows;
    private long position;
    private int size = FIRST_PAGE;
    private boolean ended;
    private T next;
    private boolean ready;

    /**
     * @param width     values of a row
     * @param skipsNull leaves rows out for which the reader returns null
     */
    Elements(Pages pages, Element<T> element, int width, boolean skipsNull) {
        this.pages = pages;
        this.element = element;
        this.width = width;
        this.skipsNull = skipsNull;
    }

    @Override
    public boolean hasNext() {
        while (!ready && !ended) {
            if (row == rows) {
                page = pages.read(position, size);
                rows = page.count() / width;
                row = 0;
                size = Math.min(size * 4, LAST_PAGE);
                if (rows == 0) {
                    ended = true;
                    page = null;
                    break;
                }
            }
            next = element.read(page, row * width, position);
            row++;
            position++;
            ready = next != null || !skipsNull;
        }
        return ready;
    }

    @Override
    public T next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        ready = false;
        T result = next;
        next = null;
        return result;
    }
}
