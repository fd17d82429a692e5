/// Something of a Realm on its way to another thread. It holds keys and no transaction, so it may go anywhere; there it
/// is looked up in another Realm of the same file. Rules: live-objects §4.7.
///
/// Thread rule: any; making one is for the Realm's thread, except for references to Realms themselves. Sendable:
/// nothing changes but what `realm`, a Lock, holds, and the weak reference, which is atomic.
public final class ThreadSafeReference: @unchecked Sendable {
    package enum Target {
        case object(TableKey, BornKey)
        case collection(CollectionPath, CollectionShape)
        case results(ResultSet.Recipe)
    }

    package enum Kind: Sendable { case realm, object, list, set, dictionary, results }
    package let kind: Kind

    /// nil: a Realm.
    private let target: Target?

    /// Until it is resolved.
    private let realm: Lock<Realm?>
    private let path: String

    /// What the Realm was reading; nil when it was not.
    private let version: UInt64?

    /// The version that counts is the one which the commit would make.
    private let isOfWrite: Bool

    /// Results keep their version, and others where that was asked for.
    private let pin: Pin?

    /// Objects and collections find theirs if somebody still keeps it.
    private weak var seen: Pin?

    /// A Realm: whoever resolves the reference takes it over.
    package init(_ realm: Realm) throws(RealmError) {
        try realm.offer()
        kind = .realm
        target = nil
        self.realm = Lock(initial: realm)
        path = realm.path
        (version, isOfWrite, pin) = (nil, false, nil)
    }

    /// Inside the Realm's door.
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

    /// - Parameter isPinning: keeps the version, so that the object can be resolved at it whatever others write
    ///   meanwhile.
    package convenience init(_ realm: Realm, _ table: TableKey, _ object: BornKey, isPinning: Bool = false)
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
            realm.transaction.birth(path.table, path.object) != nil
        {
            throw RealmError(
                .wrongTransactionState,
                "Results of a collection cannot be referred to in the write transaction that made the collection")
        }
        try self.init(realm, .results(results.recipe), isPinning: true)
    }

    /// What the reference names, as keys that are good in `other`, which is brought to the reference's version where it
    /// is behind. Inside its door.
    /// - Throws: 2007 for a reference of another kind, which can still be resolved as what it is, or for a Realm of
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

    /// The Realm of a reference to one, which belongs to the scheduler from then on; or the cached one that there is
    /// for the scheduler.
    /// - Throws: 2007 for a reference to something else, or one that was resolved before; 2005 while a call of its
    ///   thread is inside.
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

/// A Realm changes its thread: from `offer` on each call asks under a lock whose it is, until somebody takes it.
extension Realm {
    /// Makes it possible that another thread takes the Realm over. Any thread.
    func offer() throws(RealmError) {
        if isInherited { throw Self.inheritedError() }
        guard !isFrozen, !isInTransit else { return }
        let isOwn = isOnThread
        if isOwn {
            thread.store(0, ordering: .relaxed)
            sureThread.store(0, ordering: .relaxed)
        } else {
            // The Realm's thread may be on its way in, and find out only then.
            binding.with { $0.isUncertain = true }
        }
        standing.bitwiseOr(Standing.inTransit, ordering: .sequentiallyConsistent)
        guard isOwn || Platform.fenceAllThreads() else {
            throw RealmError(.wrongThread, "On this system a reference to a Realm is made on the Realm's own thread")
        }
    }

    /// Binds the Realm to a scheduler.
    func takeOver(_ new: any Scheduler) throws(RealmError) {
        if isFrozen { return }
        let scheduler = new.forEngine
        let isFree = binding.with { binding in
            guard binding.visits == 0, !binding.isMoving, visits.load(ordering: .acquiring) == 0 else { return false }
            binding.isMoving = true
            return true
        }
        guard isFree else { throw RealmError(.wrongTransactionState, "The Realm is being used on its thread") }
        let earlier = home
        configuration.home = scheduler
        let takesTurns = turn != nil
        stopListening()
        binding.with { $0.scheduler = scheduler }
        transaction.place = scheduler.place
        moveAsyncWrites()
        binding.with { binding in
            binding.isMoving = false
            // Where it is certain that nobody counts on another thread any more, coming in is a matter of plain loads
            // and stores again.
            if !binding.isUncertain, scheduler.threadId != 0 {
                thread.store(scheduler.threadId, ordering: .relaxed)
                standing.bitwiseAnd(~Standing.inTransit, ordering: .releasing)
            }
        }
        earlier.remove(self)
        live(on: scheduler)
        if takesTurns { listen() }
        // Somebody closed it meanwhile, and left the end to this.
        if isClosed { endForGood() }
    }
}
