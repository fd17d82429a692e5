/// The exchange with a hub, between one request and the next. It lives as long as its Realm; a new one begins with the
/// request `hello`.
final class SyncSession {
    /// What the next request is about.
    enum Stage {
        /// The hub has not told which it is, and what it knows.
        case greeting
        case pushing, pulling
        /// The file shows a checkpoint of the hub, and nothing is unsent.
        case done
    }

    /// A request whose reply is expected.
    enum Awaited { case hello, push, pull }

    var stage = Stage.greeting
    var awaited: Awaited?

    /// The properties that the hub has, by class; from the reply to `hello`.
    var columns: [Name: Set<Name>] = [:]

    /// Identifies the tables of the hub; another one means that they were altered.
    var schema = ""

    /// The pages of a pull that are not applied yet, and where the next page begins.
    var pages: [JSONValue] = []
    var pull = Pull()

    struct Pull {
        /// The snapshot that the rows are newer than.
        var cursor = ""

        /// The snapshot of the first page: where a second pull begins, if there are several pages.
        var first = ""

        /// Whether it asks for what changed while pages were read.
        var isSecond = false

        /// Where the next page begins; nil for the first page.
        var after: JSONValue?

        /// The classes of which all rows are asked for, to be compared.
        var compared: [Name] = []
    }

    /// What the file had when the exchange, or the pull, asked. If it has something else when the reply comes, another
    /// program that exchanges the changes of the same file was faster: the reply is out of date.
    var before: Known?

    struct Known: Equatable {
        let device: Name
        let cursor: Name
        let batch: Int64
        let inflight: Int64
    }

    /// The classes that are compared when all pages are there.
    var comparedAtFirst: [Name] = []

    /// What happened while the batch on its way was made: told with the reply.
    var untold: [SyncEvent] = []
}

extension Realm {
    var syncSession: SyncSession {
        if let known = transaction.syncState as? SyncSession { return known }
        let new = SyncSession()
        transaction.syncState = new
        return new
    }

    func syncTables() throws(RealmError) -> MarkTables {
        guard let tables = try MarkTables(try reading().group) else {
            throw RealmError(.illegalOperation, "The file is not synchronised: it must be enabled first")
        }
        return tables
    }

    /// Runs `body` in a write transaction whose changes are not marked.
    func applying<R>(_ body: (MarkTables) throws(RealmError) -> R) throws(RealmError) -> R {
        guard !isWriting else {
            throw RealmError(.wrongTransactionState, "The file cannot be synchronised inside a write transaction")
        }
        try beginUntold()
        do throws(RealmError) {
            transaction.isApplying = true
            let result = try body(try syncTables())
            try commitWrite()
            return result
        } catch {
            if isWriting { try? cancelWrite() }
            throw error
        }
    }

    // MARK: Turning on and off

    /// Begins to mark changes. All objects that the file has count as changes that the hub may not know. A file that is
    /// synchronised already gets further classes.
    ///
    /// - Parameters:
    ///   - classes: the classes to synchronise; empty: all that have a primary key and are not embedded.
    ///   - clockOffset: milliseconds that are added to the system's clock.
    /// - Throws: 2007 when the file and its classes are synchronised already, for a class without a primary key, or
    ///   without classes; 3000 for an unknown class; 2005 inside a write transaction.
    package func enableSync(
        _ names: [Name], clockOffset: Int64 = 0, subsets: [(name: Name, condition: String)] = []
    ) throws(RealmError) {
        guard !isWriting else {
            throw RealmError(.wrongTransactionState, "Synchronisation cannot be enabled inside a write transaction")
        }
        try beginUntold()
        do throws(RealmError) {
            let group = transaction.group
            let present = try MarkTables(group), had = Set(try present?.all().map(\.table.key) ?? [])
            var made = present
            if made == nil { made = try MarkTables.make(group) }
            guard let tables = made else { throw .corrupt("state of synchronisation that was just made") }
            if present == nil {
                try tables.set(.device, AutomaticValues.uuid().description)
                try tables.set(.offset, clockOffset)
            }
            let wanted = names.isEmpty ? schema.classes.filter { $0.kind == .topLevel }.map(\.name) : names
            var count = 0
            for name in wanted {
                guard let table = try group.table(named: Format.classPrefix + name) else {
                    throw RealmError(.noSuchTable, "No class '\(name)'")
                }
                guard table.primaryKey != nil, !table.isEmbedded else {
                    if names.isEmpty, table.primaryKey == nil {
                        throw RealmError(
                            .illegalOperation,
                            "Class '\(name)' has no primary key, by which a hub could tell its objects apart")
                    }
                    throw RealmError(.illegalOperation, "Class '\(name)' cannot be synchronised: it is embedded")
                }
                if had.contains(table.key) { continue }
                try tables.add(table)
                count += 1
            }
            guard count > 0 else {
                throw RealmError(
                    .illegalOperation,
                    present == nil ? "There are no classes to synchronise" : "The file is synchronised already")
            }
            for one in try tables.all() where !had.contains(one.table.key) { try tables.setComparison(one, .needed) }
            for (name, condition) in subsets { try tables.setSubset(try tables.named(name), condition) }
            transaction.isApplying = true
            transaction.syncState = nil
            try commitWrite()
        } catch {
            if isWriting { try? cancelWrite() }
            throw error
        }
    }

    /// Chooses the objects of a class that this file has. The next exchange compares the class with the hub: objects
    /// outside of the subset leave the file, unless they have unsent changes, and others come.
    ///
    /// - Parameter condition: of the query language; empty: all objects.
    /// - Throws: 3000 for a class that is not synchronised; 2007 for a condition that SQL cannot express; 3015 for one
    ///   that is no query; 2007 when the file is not synchronised; 2005 inside a write transaction.
    package func setSyncSubset(_ name: Name, _ condition: String) throws(RealmError) {
        try applying { (tables) throws(RealmError) in
            let one = try tables.named(name)
            if one.subset == condition { return }
            try tables.setSubset(one, condition)
            try tables.setWidened(one)
        }
    }

    /// Ends the marking of changes, and removes everything that is known about the hub.
    ///
    /// - Throws: 2007 when the file is not synchronised; 2005 inside a write transaction.
    package func disableSync() throws(RealmError) {
        try applying { (tables) throws(RealmError) in try tables.remove() }
        transaction.syncState = nil
    }

    /// Forgets a request whose reply does not come. The next request begins with `hello`.
    package func resetSync() { transaction.syncState = nil }

    // MARK: Requests

    /// The next request of an exchange; nil when the file shows a checkpoint of the hub and nothing is unsent. The
    /// call after nil begins a new exchange. A batch is stored in the file before it is returned.
    ///
    /// - Throws: 2007 when the file is not synchronised, or the reply to the last request is due; 2005 inside a write
    ///   transaction.
    package func nextSyncRequest() throws(RealmError) -> SyncRequest? {
        guard !isWriting else {
            throw RealmError(.wrongTransactionState, "The file cannot be synchronised inside a write transaction")
        }
        let session = syncSession
        guard session.awaited == nil else {
            throw RealmError(.illegalOperation, "The reply to the last request was not applied")
        }
        _ = try refresh()
        let tables = try syncTables()
        switch session.stage {
        case .greeting:
            session.awaited = .hello
            session.before = try tables.known()
            return SyncRequest(function: "hello", body: try SyncRequests(self, tables).hello())
        case .done:
            session.stage = .pushing
            return nil
        case .pushing:
            if let kept = try tables.inflight() {
                session.before = try tables.known()
                return try push(kept.body, session)
            }
            let compared = try tables.all().filter { $0.comparison != .none }.compactMap(\.table.className)
                .filter { session.columns[$0] != nil }
            // A comparison comes first: a row that this file has just sent would count as one that the hub changed.
            if compared.isEmpty, try SyncRequests(self, tables).hasPending(session.columns) {
                let body = try applying { (tables) throws(RealmError) -> [UInt8]? in
                    // Another program may have stored a batch meanwhile.
                    var body = try tables.inflight()?.body
                    if body == nil { body = try SyncRequests(self, tables).freeze(session.columns, &session.untold) }
                    session.before = try tables.known()
                    return body
                }
                if let body { return try push(body, session) }
            }
            session.stage = .pulling
            session.pages = []
            session.before = try tables.known()
            session.pull = SyncSession.Pull(cursor: try tables.text(.cursor))
            session.pull.compared = compared
            session.comparedAtFirst = session.pull.compared
            fallthrough
        case .pulling:
            session.awaited = .pull
            return SyncRequest(function: "pull", body: try SyncRequests(self, tables).pull(session))
        }
    }

    /// The request with a batch. The name of the tables is not a part of the batch, because it may change before the
    /// batch is acknowledged.
    private func push(_ batch: [UInt8], _ session: SyncSession) throws(RealmError) -> SyncRequest {
        session.awaited = .push
        var out = JSONText()
        out.open("{")
        out.field("schema") { $0.text(session.schema) }
        try SyncRequests(self, try syncTables()).writeSubsets(&out)
        out.field("batch") { $0.raw(batch) }
        out.close("}")
        return SyncRequest(function: "push", body: out.bytes)
    }
}

extension MarkTables {
    func named(_ name: Name) throws(RealmError) -> SyncedClass {
        guard let one = try all().first(where: { $0.table.className == name }) else {
            throw RealmError(.noSuchTable, "Class '\(name)' is not synchronised")
        }
        return one
    }

    /// Stores the condition of a subset, after a test.
    func setSubset(_ one: SyncedClass, _ condition: String) throws(RealmError) {
        if !condition.isEmpty { _ = try SubsetCondition.json(condition, one.table) }
        try storeSubset(one, condition)
    }

    /// What the file knows of the hub.
    func known() throws(RealmError) -> SyncSession.Known {
        SyncSession.Known(
            device: Name(try text(.device)), cursor: Name(try text(.cursor)), batch: try integer(.batch),
            inflight: try inflight()?.number ?? 0)
    }
}
