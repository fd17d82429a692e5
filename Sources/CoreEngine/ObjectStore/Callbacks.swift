/// Who wants to hear of a Realm's changes. Callbacks are added on the Realm's thread and called there; taken away on
/// any.
struct Callbacks {
    private var changed: [(id: Int, call: () -> Void)] = []
    private var schema: [(id: Int, call: (Schema) -> Void)] = []
    private var refresh: [(id: Int, version: UInt64, call: () -> Void)] = []
    private var last = 0

    private mutating func number() -> Int {
        last += 1
        return last
    }

    mutating func add(changed call: @escaping () -> Void) -> Int {
        changed.append((number(), call))
        return last
    }

    mutating func add(schema call: @escaping (Schema) -> Void) -> Int {
        schema.append((number(), call))
        return last
    }

    mutating func add(refresh call: @escaping () -> Void, version: UInt64) -> Int {
        refresh.append((number(), version, call))
        return last
    }

    /// - Returns: what held the callback, for the caller to let go of where no lock is held: its owner may call back
    ///   in.
    mutating func remove(_ id: Int) -> Any? {
        if let index = changed.firstIndex(where: { $0.id == id }) { return changed.remove(at: index) }
        if let index = schema.firstIndex(where: { $0.id == id }) { return schema.remove(at: index) }
        if let index = refresh.firstIndex(where: { $0.id == id }) { return refresh.remove(at: index) }
        return nil
    }

    mutating func takeAll() -> Any {
        defer { (changed, schema, refresh) = ([], [], []) }
        return (changed, schema, refresh)
    }

    var changedIds: [Int] { changed.map(\.id) }
    var schemaIds: [Int] { schema.map(\.id) }

    func changed(_ id: Int) -> (() -> Void)? { changed.first { $0.id == id }?.call }

    func schema(_ id: Int) -> ((Schema) -> Void)? { schema.first { $0.id == id }?.call }

    /// Those that waited for a version up to this one, which are called once.
    mutating func takeDue(_ version: UInt64) -> [() -> Void] {
        defer { refresh.removeAll { $0.version <= version } }
        return refresh.filter { $0.version <= version }.map(\.call)
    }
}

extension Realm {
    private func checkObservable() throws(RealmError) { if isFrozen { throw frozenError("observe") } }

    package func addChangedCallback(_ call: @escaping () -> Void) throws(RealmError) -> Int {
        try checkObservable()
        return callbacks.with { $0.add(changed: call) }
    }

    /// Called with the new schema when it changes.
    package func addSchemaCallback(_ call: @escaping (Schema) -> Void) throws(RealmError) -> Int {
        try checkObservable()
        return callbacks.with { $0.add(schema: call) }
    }

    /// One shot, at the first refresh to at least the version newest now; nil when the Realm is at it already, or
    /// frozen.
    package func addRefreshCallback(_ call: @escaping () -> Void) -> Int? {
        guard isReading, !isFrozen, database.newestVersion > transaction.version else { return nil }
        return callbacks.with { $0.add(refresh: call, version: database.newestVersion) }
    }

    /// Any thread.
    package func removeCallback(_ id: Int) {
        let gone = callbacks.with { $0.remove(id) }
        withExtendedLifetime(gone) {}
    }

    func notifySchemaChanged() {
        notifying {
            for id in callbacks.with({ $0.schemaIds }) {
                guard !isClosed, let call = callbacks.with({ $0.schema(id) }) else { continue }
                call(schema)
            }
        }
    }

    /// The Realm shows another version: schema changed, refreshed, Realm changed. Order: live-objects §6.13.
    ///
    /// One that writes whenever it is called has itself called again inside of its commit. Where that goes too deep, or
    /// too far, it is called in the next turn, or when the Realm moves the next time.
    func notifyMoved() {
        guard notifyingDepth < Self.deepestNotice, noticesInside < Self.mostNotices else {
            owesNotice = true
            owesTurn = true
            return
        }
        owesNotice = false
        noticesInside += 1
        notifying {
            if schemaMoved {
                schemaMoved = false
                notifySchemaChanged()
            }
            for call in callbacks.with({ $0.takeDue(transaction.version) }) { call() }
            // A callback may close the Realm or take callbacks away: each is looked up again.
            for id in callbacks.with({ $0.changedIds }) {
                guard !isClosed, let call = callbacks.with({ $0.changed(id) }) else { continue }
                call()
            }
        }
    }

    /// As `notifyMoved`, where the Realm may have moved, or an earlier move was not told.
    func notifyMoved(_ moved: Bool) { if moved || owesNotice { notifyMoved() } }

    /// While callbacks run the Realm is moved by nothing but the writes that they begin.
    func notifying(_ body: () -> Void) {
        notifyingDepth += 1
        body()
        notifyingDepth -= 1
        if !isNotifying { noticesInside = 0 }
        payTurn()
    }

    /// How deep callbacks may be nested in one another, and how often it may be told inside of one that the Realm has
    /// moved: those that write without end use up neither the stack nor the time of others.
    static let deepestNotice = 16
    static let mostNotices = 1000
}
