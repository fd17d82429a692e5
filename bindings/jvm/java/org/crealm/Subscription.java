package org.crealm;

/** A listener that is told of changes until this, or the realm, is closed. */
public final class Subscription implements AutoCloseable {
    final Handle token;
    private final Realm realm;
    private final Handle subject;

    private Subscription(Realm realm, Handle token, Handle subject) {
        this.realm = realm;
        this.token = token;
        this.subject = subject;
        realm.subscriptions.add(this);
    }

    /** Tells of every new version that the realm moves to. */
    static Subscription begin(Realm realm, Native.Listener listener) {
        Handle token = Handle.owning(Native.observe(realm.handle, realm.handle.address(), Native.REALM, 0, 0, null,
                listener));
        return new Subscription(realm, token, null);
    }

    /** subject: a handle of its own, which lives as long as the subscription. */
    static Subscription begin(Realm realm, Handle subject, int kind, ClassSchema info, String[] keyPaths,
            Native.Listener listener) {
        byte[][] paths = keyPaths.length == 0 ? null : new byte[keyPaths.length][];
        for (int index = 0; index < keyPaths.length; index++) {
            paths[index] = Texts.utf8(keyPaths[index]);
        }
        Handle token = Handle.owning(Native.observe(subject, subject.address(), kind, realm.handle.address(),
                info == null ? -1 : info.key, paths, listener));
        return new Subscription(realm, token, subject);
    }

    /** Fails if there is no listener. */
    static void require(Object listener) {
        if (listener == null) {
            throw new RealmException(ErrorCode.INVALID_ARGUMENT, "the listener is null");
        }
    }

    /** Ends the calls of the listener. Closing again does nothing. */
    @Override
    public void close() {
        realm.subscriptions.remove(this);
        token.release();
        if (subject != null) {
            subject.release();
        }
    }
}
