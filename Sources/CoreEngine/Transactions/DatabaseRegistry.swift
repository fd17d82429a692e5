/// The open databases of this process, by the identity of their files, and a gate for each path.
///
/// One thread at a time opens, replaces or removes the file at a path; it holds the gate of that path. The lock of the
/// registry is not held meanwhile, because deriving a key or upgrading a file takes long. A closed database leaves an
/// entry without a database.
///
/// Thread rule: any.
enum DatabaseRegistry {
    private struct Entry { weak var database: Database? }

    private final class Gate: Sendable {
        let lock = Lock(initial: ())

        /// A thread of the parent process never leaves the gate in a child process.
        let generation = ForkGuard.generation
    }

    private struct Content {
        private var files: [FileIdentity: Entry] = [:]

        /// The number of entries at which entries of closed databases are removed.
        private var nextSweep = 64

        /// The gates, each with the number of threads that use it.
        private var gates: [(path: Name, gate: Gate, users: Int)] = []

        func database(_ identity: FileIdentity) -> Database? { files[identity]?.database }

        mutating func register(_ database: Database, as identity: FileIdentity) {
            if files.count >= nextSweep {
                files = files.filter { $0.value.database != nil }
                nextSweep = max(64, files.count * 2)
            }
            files[identity] = Entry(database: database)
        }

        mutating func unregister(_ identity: FileIdentity) { files[identity] = nil }

        mutating func comeToGate(_ path: Name) -> Gate {
            gates.removeAll { $0.gate.generation != ForkGuard.generation }
            if let i = gates.firstIndex(where: { $0.path == path }) {
                gates[i].users += 1
                return gates[i].gate
            }
            let gate = Gate()
            gates.append((path, gate, 1))
            return gate
        }

        mutating func leaveGate(_ path: Name) {
            guard let i = gates.firstIndex(where: { $0.path == path }) else { return }
            gates[i].users -= 1
            if gates[i].users == 0 { gates.remove(at: i) }
        }
    }

    private static let content = Lock(initial: Content(), of: .databases)

    /// Runs `body` while no other thread opens, replaces or removes the file at `path`. Never inside a transaction.
    static func atGate<R>(_ path: String, _ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        // The call that runs the progress function may already hold this gate.
        guard !Interruption.isReporting else {
            throw RealmError(
                .illegalOperation, "A progress function cannot open, replace or remove Realm files", path: path)
        }
        let gate = content.with { $0.comeToGate(Name(path)) }
        defer { content.with { $0.leaveGate(Name(path)) } }
        return try gate.lock.with { (_) throws(RealmError) in try body() }
    }

    /// The open database of this process for the file at `path`, under whatever name it was opened.
    static func database(at path: String) -> Database? {
        guard let identity = try? FileSystem.identity(path), let db = content.with({ $0.database(identity) }),
            db.belongsToThisProcess
        else {
            return nil
        }
        return db
    }

    static func register(_ db: Database) { content.with { $0.register(db, as: db.identity) } }

    /// Registers that the file of `db` was replaced by another one.
    static func change(_ db: Database, to new: FileIdentity) {
        content.with { registry in
            if registry.database(db.identity) === db { registry.unregister(db.identity) }
            db.identity = new
            if registry.database(new) == nil { registry.register(db, as: new) }
        }
    }
}
