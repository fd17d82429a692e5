package org.crealm;

/** The base of the live objects of interfaces; {@link LiveClass} writes the subclasses. Programs do not use it. */
public abstract class LiveObject extends RealmObject {
    private static final int OFTEN = 64;

    private final Bound<?> bound;
    private final long[] keys;
    /** A handle for an object that is read often: it spares the search for the object. */
    private volatile Handle frequent;
    private int reads;

    protected LiveObject(Realm realm, Object bound, long key) {
        super(realm, ((Bound<?>) bound).info, key);
        this.bound = (Bound<?>) bound;
        this.keys = this.bound.keys;
    }

    protected final long longAt(int slot) {
        Handle own = frequent;
        if (own != null) {
            return Native.getLongOf(own, own.address(), keys[slot]);
        }
        Handle handle = realm.handle;
        if (++reads == OFTEN) {
            frequent = Handle.owning(Native.objectHandle(handle, handle.address(), info.key, key));
        }
        return Native.getLong(handle, handle.address(), info.key, key, keys[slot]);
    }

    protected final int intAt(int slot) {
        return Values.narrowed(longAt(slot), Integer.MIN_VALUE, Integer.MAX_VALUE, "int").intValue();
    }

    protected final short shortAt(int slot) {
        return Values.narrowed(longAt(slot), Short.MIN_VALUE, Short.MAX_VALUE, "short").shortValue();
    }

    protected final byte byteAt(int slot) {
        return Values.narrowed(longAt(slot), Byte.MIN_VALUE, Byte.MAX_VALUE, "byte").byteValue();
    }

    protected final boolean booleanAt(int slot) {
        Handle handle = realm.handle;
        return Native.getBoolean(handle, handle.address(), info.key, key, keys[slot]);
    }

    protected final double doubleAt(int slot) {
        Handle handle = realm.handle;
        return Native.getDouble(handle, handle.address(), info.key, key, keys[slot]);
    }

    protected final float floatAt(int slot) {
        return (float) doubleAt(slot);
    }

    protected final Object valueAt(int slot) {
        Model.Property property = bound.model.properties.get(slot);
        if (property.javaType == String.class) {
            Handle handle = realm.handle;
            return Texts.text(Native.getBytes(handle, handle.address(), info.key, key, keys[slot]));
        }
        return read(bound.stored[slot], property.kind);
    }

    protected final void setLongAt(int slot, long value) {
        if (bound.stored[slot].primaryKey() && !realm.isMigrating()) {
            throw Storing.primaryKey(info);
        }
        Handle handle = realm.handle;
        Native.setLong(handle, handle.address(), info.key, key, keys[slot], value);
    }

    protected final void setIntAt(int slot, int value) {
        setLongAt(slot, value);
    }

    protected final void setShortAt(int slot, short value) {
        setLongAt(slot, value);
    }

    protected final void setByteAt(int slot, byte value) {
        setLongAt(slot, value);
    }

    protected final void setBooleanAt(int slot, boolean value) {
        Handle handle = realm.handle;
        Native.setBoolean(handle, handle.address(), info.key, key, keys[slot], value);
    }

    protected final void setDoubleAt(int slot, double value) {
        Handle handle = realm.handle;
        Native.setDouble(handle, handle.address(), info.key, key, keys[slot], value);
    }

    protected final void setFloatAt(int slot, float value) {
        setValueAt(slot, value);
    }

    protected final void setValueAt(int slot, Object value) {
        write(bound.stored[slot], bound.model.properties.get(slot).kind, value);
    }
}
