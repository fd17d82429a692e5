/// One open Realm: a view of one version of a database, with its schema. Live: it moves by `refresh`, `beginWrite` and its own commits.
///
/// Thread rule: used on its scheduler's thread; calls from elsewhere throw 2006 where data is touched.
/// After `close` everything answers with 2014 (or 2010 for objects).
public final class Realm: @unchecked Sendable {  // Confined to its scheduler's thread; `close` is idempotent and checked everywhere.
    public let configuration: RealmConfiguration
    public let scheduler: any Scheduler
    /// The scheduler's own check where it has one.
    private let threadCheck: (@convention(c) (UnsafeMutableRawPointer?) -> Bool)?
    private let threadCheckContext: UnsafeMutableRawPointer?
    let database: Database
    package let transaction: Transaction
    private(set) public var schema = Schema()
    private(set) public var schemaVersion = ObjectStore.notVersioned
    public private(set) var isClosed = false
    /// Whether the schema follows the file.
    private let isDynamic: Bool
    /// Version at which `schema` was last bound to tables and columns.
    private var boundVersion: UInt64 = 0
    /// Changes with every change of data or version: what handles resolved before is stale.
    package internal(set) var stateCount: UInt64 = 0

    /// Called on each own commit and each refresh that moved; keyed so that one can be taken away.
    private var changedCallbacks: [(id: Int, call: () -> Void)] = []
    private var refreshCallbacks: [(id: Int, version: UInt64, call: () -> Void)] = []
    private var nextCallback = 0

    // MARK: Opening

    public convenience init(_ configuration: RealmConfiguration) throws(RealmError) { try self.init(opening: configuration) }

    /// Opens, or finds the cached instance.
    public static func open(_ configuration: RealmConfiguration) throws(RealmError) -> Realm {
        try configuration.check()
        if configuration.isCached, let cached = try RealmCoordinator.cached(configuration) { return cached }
        let realm = try Realm(opening: configuration)
        return realm
    }

    private init(opening configuration: RealmConfiguration) throws(RealmError) {
        try configuration.check()
        self.configuration = configuration
        scheduler = configuration.scheduler ?? ThreadScheduler.current
        threadCheck = scheduler.threadCheck
        threadCheckContext = scheduler.threadCheckContext
        isDynamic = configuration.schema == nil
        if let schema = configuration.schema {
            try schema.validate(configuration.schemaMode == .additiveExplicit ? .rejectEmbeddedOrphans : [])
        }
        try RealmCoordinator.check(configuration)
        if configuration.encryptionKey != nil {
            throw RealmError(.notSupported, "Encrypted Realms cannot be opened yet", path: configuration.path)
        }
        let access: Database.Access
        switch configuration.schemaMode {
        case .immutable: access = .immutable
        case .readOnly: access = FileSystem.exists(configuration.path) ? .readOnly : .readWrite(create: true)
        default: access = .readWrite(create: true)
        }
        do throws(RealmError) {
            database = try Database.open(path: configuration.path, access: access, durability: configuration.isInMemory ? .memoryOnly : .full)
        } catch { throw error.with(path: configuration.path) }
        transaction = try Transaction(database)
        Log.write(.storage, .detail, "Open file: \(configuration.path)")
        Log.write(.storage, .debug, "Number of participants: \(database.participantCount)")
        Log.write(.storage, .debug, "Durability: \(database.durability)")
        Log.write(.storage, .debug, "Encryption key: no")
        if database.isEmpty { Log.write(.storage, .debug, "Empty file") }
        do throws(RealmError) {
            try readFileSchema()
            if let wanted = configuration.schema { try applySchema(wanted) }
            transaction.endRead()
        } catch {
            transaction.close()
            isClosed = true
            throw error.with(path: configuration.path)
        }
        RealmCoordinator.register(self)
    }
    deinit { close() }

    private func readFileSchema() throws(RealmError) {
        let t = try reading()
        schema = try t.group.readSchema()
        schemaVersion = try t.group.readSchemaVersion()
        boundVersion = t.version
    }

    /// The schema step of an open. Rules: live-objects §2.2, §2.3.
    private func applySchema(_ requested: Schema) throws(RealmError) {
        var wanted = requested
        let mode = configuration.schemaMode
        let version = configuration.schemaVersion
        if mode == .additiveDiscovered {
            // Embedded classes that nothing leads to are left out, unless the file has them.
            let reachable = wanted.reachableEmbedded()
            wanted = Schema(wanted.classes.filter { $0.kind != .embedded || reachable.contains($0.name) || schema[$0.name] != nil })
        }
        var changes = SchemaChange.between(schema, wanted)
        if schemaVersion == version && changes.isEmpty { return adoptSchema(wanted) }
        try checkMode(changes, version: version)
        if mode == .immutable || (mode == .readOnly && schemaVersion != ObjectStore.notVersioned) { return adoptSchema(wanted) }
        if try transaction.beginWrite() {
            do throws(RealmError) {
                schema = try transaction.group.readSchema()
                schemaVersion = try transaction.group.readSchemaVersion()
                changes = SchemaChange.between(schema, wanted)
                try checkMode(changes, version: version)
            } catch {
                try? transaction.rollback()
                throw error
            }
        }
        let fresh = schemaVersion == ObjectStore.notVersioned
        let start = Platform.monotonicSeconds
        Log.write(.storage, .debug, "\(fresh ? "Creating" : "Changing") the schema: version \(version), mode \(mode)")
        do throws(RealmError) {
            let group = transaction.group
            try group.ensureMetadata()
            if fresh && mode == .readOnly {
                try group.setSchemaVersion(version)
            } else {
                if mode.isAdditive, schemaVersion == version { changes = changes.filter { !$0.isIndexChange || changes.contains { !$0.isIndexChange } } }
                changes.removeAll { $0.isPropertyRemoval && mode.isAdditive }
                try group.apply(changes)
                if schemaVersion != version { try group.setSchemaVersion(version) }
            }
            schema = try group.readSchema()
            schemaVersion = version
            stateCount += 1
            adoptSchema(wanted)
            if fresh, let initialize = configuration.initialize {
                guard initialize(self) else { throw RealmError(.callback, "The data initialization function failed") }
                guard transaction.stage == .writing else { throw RealmError(.wrongTransactionState, "The data initialization function ended the write transaction") }
            }
            Log.write(.storage, .debug, "Migration did run in \(Int((Platform.monotonicSeconds - start) * 1e6)) us, \(changes.count) changes")
            try commitLogged()
        } catch {
            if transaction.stage == .writing { try? transaction.rollback() }
            throw error
        }
    }

    /// Throws when the mode does not allow the step from the file's schema to the requested one.
    private func checkMode(_ changes: [SchemaChange], version: UInt64) throws(RealmError) {
        let fresh = schemaVersion == ObjectStore.notVersioned
        func mismatch(_ code: RealmError.Code, _ offending: [SchemaChange], _ heading: String) -> RealmError {
            RealmError(code, heading + "\n" + offending.map { "- " + $0.text }.joined(separator: "\n"))
        }
        func lower() -> RealmError {
            RealmError(.invalidSchemaVersion, "Provided schema version \(version) is less than last set version \(schemaVersion).")
        }
        let unsupported: (SchemaChange) -> Bool = { !$0.isClassAddition && !$0.isIndexChange && !$0.isPropertyAddition }
        switch configuration.schemaMode {
        case .immutable, .readOnly:
            if configuration.schemaMode == .immutable && version != schemaVersion {
                throw RealmError(.invalidSchemaVersion, "Provided schema version \(version) does not equal last set version \(schemaVersion).")
            }
            if fresh && configuration.schemaMode == .readOnly { return }
            let bad = changes.filter {
                switch $0 {
                case .addProperty, .changeType, .makeNullable, .makeRequired, .changePrimaryKey: true
                default: false
                }
            }
            if !bad.isEmpty { throw mismatch(.invalidSchemaChange, bad, "The following changes cannot be made in read-only schema mode:") }
        case .automatic, .manual:
            if !fresh && version < schemaVersion { throw lower() }
            if fresh { return }
            if configuration.schemaMode == .manual {
                if !changes.isEmpty { throw mismatch(.schemaMismatch, changes, "Migration is required due to the following errors:") }
                if version > schemaVersion && configuration.hasMigration { throw migrationUnsupported() }
                return
            }
            if version == schemaVersion {
                let bad = changes.filter { !$0.isClassAddition && !$0.isIndexChange }
                if !bad.isEmpty { throw mismatch(.schemaMismatch, bad, "Migration is required due to the following errors:") }
                return
            }
            if configuration.hasMigration { throw migrationUnsupported() }
            if let first = changes.first(where: unsupported) {
                throw RealmError(.notSupported, "This migration is not supported yet: \(first.text)")
            }
        case .additiveDiscovered, .additiveExplicit:
            let bad = changes.filter { unsupported($0) && !$0.isPropertyRemoval }
            if !bad.isEmpty { throw mismatch(.invalidSchemaChange, bad, "The following changes cannot be made in additive-only schema mode:") }
        case .softResetFile, .hardResetFile:
            if fresh { return }
            throw RealmError(.notSupported, "Resetting a file whose schema changed is not supported yet")
        }
    }
    private func migrationUnsupported() -> RealmError { RealmError(.notSupported, "Migration functions are not supported yet") }

    /// Makes `wanted` the live schema: its classes and properties take their keys from the file's schema, which is the present one.
    private func adoptSchema(_ wanted: Schema) {
        let file = schema
        var live = wanted
        let subset = configuration.subsetMode
        for i in live.classes.indices {
            guard let old = file[live.classes[i].name] else { continue }
            live.classes[i].key = old.key
            for j in live.classes[i].properties.indices {
                if let p = old.properties.first(where: { $0.name == live.classes[i].properties[j].name }) { live.classes[i].properties[j].key = p.key }
            }
            if subset == .allProperties || subset == .complete {
                for p in old.properties where live.classes[i].property(named: p.name) == nil { live.classes[i].properties.append(p) }
            }
        }
        if subset == .allClasses || subset == .complete {
            live = Schema(live.classes + file.classes.filter { live[$0.name] == nil })
        }
        schema = live
    }

    // MARK: State

    func closedError() -> RealmError { RealmError(.closedRealm, "Cannot access realm that has been closed.") }
    /// Throws unless the Realm is open and the caller on its thread.
    @inline(__always) package func verify() throws(RealmError) {
        if isClosed { throw closedError() }
        if !isOnThread { throw RealmError(.wrongThread, "Realm accessed from incorrect thread.") }
    }
    @inline(__always) package var isOnThread: Bool {
        if let threadCheck { return threadCheck(threadCheckContext) }
        return scheduler.isOnThread
    }
    /// The transaction, in a snapshot.
    @inline(__always) package func reading() throws(RealmError) -> Transaction {
        if transaction.stage == .reading || transaction.stage == .writing { return transaction }
        try beginImplicitly()
        return transaction
    }
    @inline(never) private func beginImplicitly() throws(RealmError) {
        if isClosed || transaction.stage == .closed { throw closedError() }
        try transaction.beginRead()
        try versionMoved()
    }
    /// The transaction, writing.
    @inline(__always) package func writing() throws(RealmError) -> Transaction {
        let t = transaction
        guard t.stage == .writing else { throw RealmError(.wrongTransactionState, "Cannot modify managed objects outside of a write transaction.") }
        stateCount &+= 1
        return t
    }
    public var isWriting: Bool { transaction.stage == .writing }
    package var isReading: Bool { transaction.stage == .reading || transaction.stage == .writing }
    /// Version of the snapshot, nil when none is open.
    public var version: UInt64? { isReading ? transaction.version : nil }
    public var versionCount: UInt64 { database.versionCount }

    /// The snapshot is another one: keys of the live schema are bound again where the file's schema may have changed.
    private func versionMoved() throws(RealmError) {
        stateCount &+= 1
        let t = transaction
        guard t.version != boundVersion else { return }
        boundVersion = t.version
        // Classes and properties appear only with new tables or columns; names are compared, keys taken over.
        let file = try t.group.readSchema()
        if isDynamic {
            schema = file
            schemaVersion = try t.group.readSchemaVersion()
            return
        }
        let old = schema
        schema = file
        adoptSchema(old)
    }

    public func beginRead() throws(RealmError) {
        if isClosed { throw closedError() }
        _ = try reading()
    }
    /// Waits for the write lock and moves to the newest version.
    public func beginWrite() throws(RealmError) {
        try verify()
        let t = transaction
        guard configuration.schemaMode != .immutable, configuration.schemaMode != .readOnly else {
            throw RealmError(.wrongTransactionState, "Can't perform transactions on read-only Realms.")
        }
        guard t.stage != .writing else { throw RealmError(.wrongTransactionState, "The Realm is already in a write transaction") }
        if configuration.maxActiveVersions != .max, versionCount > configuration.maxActiveVersions {
            throw RealmError(.wrongTransactionState, "Number of active versions (\(versionCount)) in the Realm exceeded the limit of \(configuration.maxActiveVersions)")
        }
        let moved = try t.beginWrite()
        if moved {
            do throws(RealmError) { try versionMoved() } catch {
                try? t.rollback()
                throw error
            }
            notifyMoved()
        }
    }
    public func commitWrite() throws(RealmError) {
        try verify()
        let t = transaction
        guard t.stage == .writing else { throw RealmError(.wrongTransactionState, "Can't commit a non-existing write transaction") }
        stateCount &+= 1
        try commitLogged()
        boundVersion = t.version
        notifyMoved()
    }
    private func commitLogged() throws(RealmError) {
        Log.write(.transaction, .debug, "Initiate commit version: \(transaction.version + 1)")
        let start = Log.isEnabled(.transaction, .debug) ? Platform.monotonicSeconds : 0
        try transaction.commit()
        Log.write(.transaction, .debug, "Commit of size \(transaction.logicalSize) done in \(Int((Platform.monotonicSeconds - start) * 1e6)) us")
    }
    public func cancelWrite() throws(RealmError) {
        try verify()
        let t = transaction
        guard t.stage == .writing else { throw RealmError(.wrongTransactionState, "Can't cancel a non-existing write transaction") }
        stateCount &+= 1
        try t.rollback()
    }
    /// Runs `body` in a write transaction: commits when it returns, rolls back when it throws.
    @discardableResult
    public func write<R>(_ body: () throws -> R) throws -> R {
        try beginWrite()
        do {
            let result = try body()
            if isWriting { try commitWrite() }
            return result
        } catch {
            if isWriting { try? cancelWrite() }
            throw error
        }
    }
    /// Moves to the newest version; true when the snapshot moved (or when there was none).
    @discardableResult
    public func refresh() throws(RealmError) -> Bool {
        try verify()
        let t = transaction
        if configuration.schemaMode == .immutable { throw RealmError(.wrongTransactionState, "Can't refresh an immutable Realm.") }
        switch t.stage {
        case .writing: return false
        case .closed: throw closedError()
        case .idle:
            _ = try reading()
            notifyMoved()
            return true
        case .reading:
            guard try t.refresh() else { return false }
            try versionMoved()
            notifyMoved()
            return true
        }
    }
    /// Ends everything this instance holds; a running write is rolled back. Harmless when repeated.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        stateCount &+= 1
        transaction.close()
        changedCallbacks = []
        refreshCallbacks = []
        RealmCoordinator.unregister(self)
    }

    // MARK: Callbacks

    package func addChangedCallback(_ call: @escaping () -> Void) -> Int {
        nextCallback += 1
        changedCallbacks.append((nextCallback, call))
        return nextCallback
    }
    package func removeChangedCallback(_ id: Int) { changedCallbacks.removeAll { $0.id == id } }
    /// One shot, at the first refresh to at least the version newest now; nil when the Realm is at it already.
    package func addRefreshCallback(_ call: @escaping () -> Void) -> Int? {
        guard isReading, database.newestVersion > transaction.version else { return nil }
        nextCallback += 1
        refreshCallbacks.append((nextCallback, database.newestVersion, call))
        return nextCallback
    }
    package func removeRefreshCallback(_ id: Int) { refreshCallbacks.removeAll { $0.id == id } }
    private func notifyMoved() {
        let version = transaction.version
        let due = refreshCallbacks.filter { $0.version <= version }
        refreshCallbacks.removeAll { $0.version <= version }
        for c in due { c.call() }
        // A callback may close the Realm or take callbacks away: each is looked up again.
        for id in changedCallbacks.map(\.id) {
            guard !isClosed, let c = changedCallbacks.first(where: { $0.id == id }) else { continue }
            c.call()
        }
    }

    // MARK: Files

    /// The schema version stored in the file of a configuration.
    public static func persistedSchemaVersion(_ configuration: RealmConfiguration) throws(RealmError) -> UInt64 {
        var c = configuration
        c.schema = nil
        c.isCached = false
        c.initialize = nil
        c.hasMigration = false
        let realm = try Realm(opening: c)
        defer { realm.close() }
        return realm.schemaVersion
    }
}

/// The open instances of this process, by path: what must agree between them. Rules: live-objects §4.1.
///
/// Only cached instances are referred to (weakly: that makes counting references to them slower); of the others the coordinator keeps what
/// it must compare.
enum RealmCoordinator {
    private struct Entry {
        let id: ObjectIdentifier
        let configuration: RealmConfiguration
        let schemaVersion: UInt64
        /// Instances of a parent process do not count.
        let processId = Platform.processId
        weak var cached: Realm?
    }
    private static let instances = Lock(initial: [String: [Entry]]())

    static func check(_ c: RealmConfiguration) throws(RealmError) {
        guard let first = instances.with({ $0[c.path]?.first { $0.processId == Platform.processId } }) else { return }
        let other = first.configuration
        func mismatch(_ what: String) -> RealmError { RealmError(.mismatchedConfig, "Realm at path '\(c.path)' already opened with different \(what).", path: nil) }
        if (c.schemaMode == .immutable) != (other.schemaMode == .immutable) { throw mismatch("read permissions") }
        if c.isInMemory != other.isInMemory { throw mismatch("inMemory settings") }
        if c.encryptionKey != other.encryptionKey { throw mismatch("encryption key") }
        if c.schemaMode != other.schemaMode { throw mismatch("schema mode") }
        if c.schema != nil, other.schema != nil, c.schemaVersion != first.schemaVersion, first.schemaVersion != ObjectStore.notVersioned {
            throw mismatch("schema version")
        }
    }
    static func cached(_ c: RealmConfiguration) throws(RealmError) -> Realm? {
        try check(c)
        let scheduler = c.scheduler ?? ThreadScheduler.current
        for r in instances.with({ ($0[c.path] ?? []).filter { $0.processId == Platform.processId }.compactMap(\.cached) }) {
            guard !r.isClosed, r.scheduler.isSame(as: scheduler), r.schemaVersion != ObjectStore.notVersioned else { continue }
            if let wanted = c.schema, wanted != r.configuration.schema {
                throw RealmError(.mismatchedConfig, "Realm at path '\(c.path)' already opened on current thread with different schema.")
            }
            return r
        }
        return nil
    }
    static func register(_ r: Realm) {
        let entry = Entry(
            id: ObjectIdentifier(r), configuration: r.configuration, schemaVersion: r.schemaVersion, cached: r.configuration.isCached ? r : nil)
        instances.with { $0[r.configuration.path, default: []].append(entry) }
    }
    static func unregister(_ r: Realm) {
        let id = ObjectIdentifier(r), path = r.configuration.path
        instances.with { all in
            all[path]?.removeAll { $0.id == id }
            if all[path]?.isEmpty ?? false { all[path] = nil }
        }
    }
}
