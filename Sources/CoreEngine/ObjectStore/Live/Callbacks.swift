/// The callbacks of a Realm for its own changes. They are added and called on the Realm's thread, and removed on any
/// thread.
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

    /// - Returns: the removed entry. The caller releases it where no lock is held, because the owner of the callback
    ///   may call the Realm.
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

    /// Removes and returns the callbacks that waited for this version or an earlier one: each is called once.
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

    /// Adds a callback that is called with the new schema when the schema changes.
    package func addSchemaCallback(_ call: @escaping (Schema) -> Void) throws(RealmError) -> Int {
        try checkObservable()
        return callbacks.with { $0.add(schema: call) }
    }

    /// Adds a callback that is called once, at the first refresh to the version that is newest now, or to a later one.
    /// Returns nil when the Realm is at that version already, does not read, or is frozen.
    package func addRefreshCallback(_ call: @escaping () -> Void) -> Int? {
        guard isReading, !isFrozen, database.newestVersion > transaction.version else { return nil }
        return callbacks.with { $0.add(refresh: call, version: database.newestVersion) }
    }

    /// Removes a callback. Any thread.
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

    /// Calls the callbacks for a new version, in this order: schema changed, refreshed, Realm changed. Rules:
    /// live-objects §6.13.
    ///
    /// A callback that writes each time it is called is called again inside its own commit. When such calls are nested
    /// too deeply, or are too many, the next call comes in the next turn or with the next move.
    func notifyMoved() {
        guard movement.notifyingDepth < Self.deepestNotice, movement.noticesInside < Self.mostNotices else {
            movement.owesNotice = true
            movement.owesTurn = true
            return
        }
        movement.owesNotice = false
        movement.noticesInside += 1
        notifying {
            if movement.schemaMoved {
                movement.schemaMoved = false
                notifySchemaChanged()
            }
            for call in callbacks.with({ $0.takeDue(transaction.version) }) { call() }
            // A callback may close the Realm or remove callbacks: each is looked up again.
            for id in callbacks.with({ $0.changedIds }) {
                guard !isClosed, let call = callbacks.with({ $0.changed(id) }) else { continue }
                call()
            }
        }
    }

    /// Calls `notifyMoved` if the Realm has moved, or if the callbacks missed an earlier move.
    func notifyMoved(_ moved: Bool) { if moved || movement.owesNotice { notifyMoved() } }

    /// Runs `body`, which calls callbacks. Meanwhile only the writes of those callbacks move the Realm.
    func notifying(_ body: () -> Void) {
        movement.notifyingDepth += 1
        body()
        movement.notifyingDepth -= 1
        if !isNotifying { movement.noticesInside = 0 }
        payTurn()
    }

    /// How deeply callbacks may be nested, and how many times they may be called inside the outermost one. Without
    /// these limits callbacks that always write would exhaust the stack or block other work.
    static let deepestNotice = 16
    static let mostNotices = 1000
}
