/// A reference for sending a Realm, an object, a collection or results to another thread. It holds keys and no
/// transaction, so any thread may have it. The receiver resolves it in another Realm of the same file. Rules:
/// live-objects §4.7.
///
/// Thread rule: any thread; a reference is created on the Realm's thread, except a reference to a Realm itself.
/// Sendable: only the content of `realm`, a Lock, and the weak reference, which is atomic, can change.
public final class ThreadSafeReference: @unchecked Sendable {
    package enum Target {
        case object(TableKey, TrackedKey)
        case collection(CollectionPath, CollectionShape)
        case results(ResultSet.Recipe)
    }

    package enum Kind: Sendable { case realm, object, list, set, dictionary, results }
    package let kind: Kind

    /// nil: the reference is to a Realm.
    private let target: Target?

    /// The Realm, until the reference is resolved.
    private let realm: Lock<Realm?>
    private let path: String

    /// The version that the Realm was reading; nil when it was not reading.
    private let version: UInt64?

    /// Created in a write transaction: the version needed is the one that its commit creates.
    private let isOfWrite: Bool

    /// Pins the version for results, and for other references when requested.
    private let pin: Pin?

    /// The version of objects and collections, used if something else still keeps it pinned.
    private weak var seen: Pin?

    /// A reference to a Realm: resolving it hands the Realm over to the resolver's scheduler.
    package init(_ realm: Realm) throws(RealmError) {
        try realm.offer()
        kind = .realm
        target = nil
        self.realm = Lock(initial: realm)
        path = realm.path
        (version, isOfWrite, pin) = (nil, false, nil)
    }

    /// Call within `Realm.inside`.
    private init(_ realm: Realm, _ target: Target, isPinning: Bool) throws(RealmError) {
        let pin = realm.isReading ? realm.frozen?.pin ?? realm.transaction.pin : nil
        self.target = target
        kind =
            switch target {
            case .object: .object
            case .collection(_, .list): .list
            case .collection(_, .set): .set
            case .collection(_, .dictionary): .dictionary
            case .results: .results
            }
        self.realm = Lock(initial: nil)
        path = realm.path
        version = pin?.version
        isOfWrite = realm.isWriting
        seen = pin
        if isPinning, let pin, try !pin.keep() { throw realm.closedError() }
        self.pin = isPinning ? pin : nil
    }

    /// - Parameter isPinning: pin the version, so that the object can be resolved at it whatever is written meanwhile.
    package convenience init(_ realm: Realm, _ table: TableKey, _ object: TrackedKey, isPinning: Bool = false)
        throws(RealmError)
    {
        try realm.verifyAlive(table, object.key)
        try self.init(realm, .object(table, object), isPinning: isPinning)
    }

    /// - Parameter isPinning: as for objects.
    package convenience init(_ realm: Realm, _ path: CollectionPath, _ shape: CollectionShape, isPinning: Bool = false)
        throws(RealmError)
    {
        guard try realm.collection(path) != nil else { throw realm.invalidated() }
        try self.init(realm, .collection(path, shape), isPinning: isPinning)
    }

    package convenience init(_ results: ResultSet) throws(RealmError) {
        let realm = results.realm
        try results.verifyOwner()
        _ = try realm.reading()
        if results.table != nil, case .collection(let path) = results.source,
            realm.transaction.creation(path.table, path.object) != nil
        {
            throw RealmError(
                .wrongTransactionState,
                "Results of a collection cannot be referred to in the write transaction that made the collection")
        }
        try self.init(realm, .results(results.recipe), isPinning: true)
    }

    /// The referenced keys, valid in `other`. If `other` is behind the version of the reference, it is moved to it.
    /// Call within `other.inside`.
    /// - Throws: 2007 for a reference of another kind, which can still be resolved as its own kind, or for a Realm of
    ///   another file.
    package func target(_ wanted: Kind, in other: Realm) throws(RealmError) -> Target {
        guard let target, kind == wanted else { throw Self.mismatch() }
        guard other.path == path else {
            throw RealmError(.illegalOperation, "The reference leads to another file: '\(path)'")
        }
        if !other.isReading {
            if let pin = pin ?? seen, !isOfWrite, pin.database === other.database, pin.share() {
                try other.beginRead(at: pin)
            } else {
                _ = try other.reading()
            }
        } else if let version, let theirs = try other.readVersion(),
            theirs < version || (theirs == version && isOfWrite)
        {
            try other.refresh()
        }
        return target
    }

    package static func mismatch() -> RealmError {
        RealmError(.illegalOperation, "Thread safe reference type mismatch")
    }

    /// Resolves a reference to a Realm: hands the Realm over to the scheduler, or returns the cached Realm that already
    /// exists for the scheduler.
    /// - Throws: 2007 for a reference to something else, or one that was already resolved; 2005 during a call on the
    ///   Realm's thread.
    package func takeRealm(to scheduler: any Scheduler) throws(RealmError) -> Realm {
        guard target == nil else { throw Self.mismatch() }
        return try realm.with { (held) throws(RealmError) in
            guard let realm = held else {
                throw RealmError(.illegalOperation, "The reference was resolved before: a Realm can be taken over once")
            }
            let cached = try RealmCoordinator.cached(for: realm, scheduler)
            if cached == nil || cached === realm { try realm.takeOver(scheduler) }
            held = nil
            return cached ?? realm
        }
    }
}

/// Handing a Realm over to another thread: after `offer`, each call checks under a lock which scheduler owns the Realm,
/// until a scheduler takes it over.
extension Realm {
    /// Allows another thread to take the Realm over. Any thread.
    func offer() throws(RealmError) {
        if isInherited { throw Self.inheritedError() }
        guard access.serial == nil else {
            throw RealmError(.notSupported, "A Realm of a serial scheduler needs no reference: every thread may use it")
        }
        guard !isFrozen, !isInTransit else { return }
        let isOwn = isOnThread
        if isOwn {
            access.thread.store(0, ordering: .relaxed)
            access.sureThread.store(0, ordering: .relaxed)
        } else {
            // The Realm's thread may be entering a call now, and sees the change only afterwards.
            access.binding.with { $0.isUncertain = true }
        }
        access.standing.bitwiseOr(Standing.inTransit, ordering: .sequentiallyConsistent)
        guard isOwn || Realm.fenceAllThreads() else {
            throw RealmError(.wrongThread, "On this system a reference to a Realm is made on the Realm's own thread")
        }
    }

    /// Binds the Realm to a scheduler.
    func takeOver(_ new: any Scheduler) throws(RealmError) {
        if isFrozen { return }
        let scheduler = new.forEngine
        guard !(scheduler is SerialScheduler) else {
            throw RealmError(
                .notSupported, "A serial scheduler takes no Realm over: open the Realm with this scheduler")
        }
        let isFree = access.binding.with { binding in
            guard binding.visits == 0, !binding.isMoving, access.visits.load(ordering: .acquiring) == 0 else {
                return false
            }
            binding.isMoving = true
            return true
        }
        guard isFree else { throw RealmError(.wrongTransactionState, "The Realm is being used on its thread") }
        let earlier = home
        configuration.home = scheduler
        let takesTurns = movement.turn != nil
        stopListening()
        access.binding.with { $0.scheduler = scheduler }
        transaction.place = scheduler.place
        moveAsyncWrites()
        access.binding.with { binding in
            binding.isMoving = false
            // When no other thread can still rely on the old owner, calls may use plain loads and stores again.
            if !binding.isUncertain, scheduler.threadId != 0 {
                access.thread.store(scheduler.threadId, ordering: .relaxed)
                access.standing.bitwiseAnd(~Standing.inTransit, ordering: .releasing)
            }
        }
        earlier.remove(self)
        live(on: scheduler)
        if takesTurns { listen() }
        // The Realm was closed meanwhile, and this call has to finish the close.
        if isClosed { endForGood() }
    }
}
