internal import CoreEngine
import Foundation

extension Realm {
    /// The synchronisation of the file with a hub, a PostgreSQL database.
    public var sync: Sync { Sync(self) }

    /// Synchronisation of a file with a hub. The file marks its changes, and exchanges them with other files through the
    /// hub. The page "Sync" of the documentation says what a file promises meanwhile, and what happens to conflicting
    /// changes.
    ///
    ///     try realm.sync.enable()                            // once for each file
    ///     let transport = try HTTPSyncTransport(url)         // of the module RealmSync
    ///     let session = try realm.sync.session(over: transport)
    ///     ...
    ///     let outcome = try await session.exchange()         // waits until this file and the hub agree
    ///
    /// Thread rule: that of the Realm. A session may be used on any thread.
    public struct Sync {
        let realm: Realm

        init(_ realm: Realm) { self.realm = realm }

        private var engine: EngineRealm { realm.engine }

        private func inside<R>(_ body: (EngineRealm) throws(EngineError) -> R) throws -> R {
            let engine = engine
            do throws(EngineError) {
                return try engine.inside(.realm) { () throws(EngineError) in try body(engine) }
            } catch { throw Realm.Error.thrown(error) }
        }

        // MARK: Turning on and off

        /// Begins to mark the changes of the file, in all programs that write it with this library. All objects that the
        /// file has count as changes that the hub may not know. Call it once for each file.
        ///
        /// - Parameters:
        ///   - classes: The classes to synchronise; nil for all classes that are not embedded. Each needs a primary key.
        ///   - subsets: For some classes, the objects that this file has; see `setSubset(of:where:)`.
        ///   - clockOffset: Added to the clock of the system, which decides between conflicting changes. For devices
        ///     whose clock is known to be wrong.
        /// - Throws: `Realm.Error` if the file is synchronised already, and for classes that cannot be synchronised.
        public func enable(
            _ classes: [ObjectBase.Type]? = nil, subsets: [SyncSubset] = [], clockOffset: Duration = .zero
        ) throws {
            if classes?.isEmpty ?? false { throw Realm.Error(.fail, "There are no classes to synchronise") }
            let milliseconds = clockOffset.wholeMilliseconds
            guard milliseconds.magnitude < 1 << 40 else {
                throw Realm.Error(.invalidInput, "The clock offset of synchronisation is too large")
            }
            try inside { (engine) throws(EngineError) in
                var names: [Name] = [], conditions: [(name: Name, condition: String)] = []
                for type in classes ?? [] { names.append(try SyncSubset.name(type)) }
                for subset in subsets { conditions.append(try subset.stored(engine)) }
                try engine.enableSync(names, clockOffset: milliseconds, subsets: conditions)
            }
        }

        /// Ends synchronisation. Removes all marks, also those of changes that were not sent. The objects stay. Sessions
        /// of the file end with an error at their next exchange.
        public func disable() throws {
            try inside { (engine) throws(EngineError) in try engine.disableSync() }
        }

        /// A Boolean value that indicates whether the file is synchronised.
        public var isEnabled: Bool { get throws { try status.isEnabled } }

        // MARK: State

        /// The state of synchronisation of the version that the Realm shows.
        public var status: SyncStatus {
            get throws { try inside { (engine) throws(EngineError) in SyncStatus(try engine.syncStatus()) } }
        }

        /// Lets the next exchange compare all objects with the hub.
        public func compare() throws {
            try inside { (engine) throws(EngineError) in try engine.compareWithHub() }
        }

        /// Empties `SyncStatus.refused`.
        public func forgetRefused() throws {
            try inside { (engine) throws(EngineError) in try engine.forgetRefused() }
        }

        // MARK: Subsets

        /// Chooses the objects of a class that this file has. At the next exchange, objects outside of the subset leave
        /// the file, unless they have unsent changes, and others come.
        ///
        ///     try realm.sync.setSubset(of: Chore.self) { !$0.isDone && $0.owner == "ann" }
        ///
        /// - Throws: `Realm.Error` for a condition that SQL cannot express, see `SyncSubset`, and for a class that is not
        ///   synchronised.
        public func setSubset<T: Object>(of type: T.Type, where isIncluded: (Query<T>) -> Query<Bool>) throws {
            try set(.of(type, where: isIncluded))
        }

        /// Chooses the objects of a class that this file has, by a condition such as `"owner == %@"`. See
        /// `setSubset(of:where:)`.
        public func setSubset(of type: Object.Type, _ predicateFormat: String, _ args: Any...) throws {
            try set(SyncSubset(type, FormatString(predicateFormat, args)))
        }

        /// Chooses the objects of a class that this file has, by a predicate. See `setSubset(of:where:)`.
        public func setSubset(of type: Object.Type, _ predicate: NSPredicate) throws {
            try set(.of(type, predicate))
        }

        /// Lets the file have all objects of a class from the next exchange on.
        public func removeSubset(of type: Object.Type) throws {
            try inside { (engine) throws(EngineError) in try engine.setSyncSubset(try SyncSubset.name(type), "") }
        }

        private func set(_ subset: SyncSubset) throws {
            try inside { (engine) throws(EngineError) in
                let (name, condition) = try subset.stored(engine)
                try engine.setSyncSubset(name, condition)
            }
        }

        // MARK: Exchanges

        /// Makes one exchange: sends all unsent changes, and moves the file to a checkpoint of the hub. The call waits
        /// for the hub. Observers are notified as of any write transaction.
        ///
        /// - Parameter progress: Called after each reply of the hub. If it throws, the exchange ends with its error.
        /// - Throws: The error of the transport; `Realm.Error.syncFailed` if the hub reports an error or its reply is not
        ///   valid; another `Realm.Error` if the file is not synchronised, is in a write transaction, or cannot be
        ///   written. Unsent changes are kept, and the next exchange goes on.
        @discardableResult
        public func exchange(
            over transport: any SyncTransport, progress: ((SyncProgress) throws -> Void)? = nil
        ) throws -> SyncOutcome {
            do { return try Exchange.run(engine, transport, progress) } catch let failure as Exchange.Failure {
                throw failure.error
            }
        }

        /// Makes one exchange while the actor does other work. The transport is called on another thread. The Realm stays
        /// usable, but must not be in a write transaction when a reply arrives.
        ///
        /// - Throws: As `exchange(over:progress:)`; `CancellationError` if the task was cancelled before a request.
        @discardableResult
        public func asyncExchange(
            over transport: any SyncTransport, _isolation actor: isolated any Actor = #isolation,
            progress: ((SyncProgress) throws -> Void)? = nil
        ) async throws -> SyncOutcome {
            var exchange = Exchange(engine)
            do {
                while let (function, body) = try exchange.next() {
                    try Task.checkCancellation()
                    try exchange.apply(try await Self.call(transport, function, body, actor))
                    if let progress { try progress(try exchange.progress()) }
                }
            } catch {
                exchange.abandon()
                throw (error as? Exchange.Failure)?.error ?? error
            }
            return exchange.outcome
        }

        private static func call(
            _ transport: any SyncTransport, _ function: String, _ body: Data, _ actor: isolated any Actor
        ) async throws -> Data {
            try await withCheckedThrowingContinuation(isolation: actor) { continuation in
                DispatchQueue.global().async {
                    continuation.resume(with: Result { try transport.call(function, body) })
                }
            }
        }

        /// Starts to exchange changes on a thread of its own: soon after each write transaction of this file, in whatever
        /// program, and at least once in each interval.
        ///
        /// Several sessions, also of several programs, may exchange the changes of one file.
        ///
        /// - Parameters:
        ///   - interval: The longest pause between two exchanges, give or take a fifth; at least ten milliseconds. It is
        ///     also the longest pause after errors of the transport.
        ///   - onEvent: Called on the session's thread for each event. The session keeps it until it ends.
        /// - Returns: The session. The program keeps it: the session stops when it is released.
        /// - Throws: `Realm.Error` if the file is not synchronised.
        public func session(
            over transport: any SyncTransport, interval: Duration = .seconds(30),
            onEvent: (@Sendable (SyncEvent) -> Void)? = nil
        ) throws -> SyncSession {
            guard try isEnabled else {
                throw Realm.Error(.fail, "The file is not synchronised: it must be enabled first")
            }
            return SyncSession(realm.configuration, transport, interval, onEvent)
        }
    }
}

extension Duration {
    /// Milliseconds, rounded down; the nearest number that fits.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, over) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return over ? (seconds < 0 ? .min : .max) : sum
    }
}
