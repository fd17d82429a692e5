internal import CoreEngine
import Foundation

/// One exchange with a hub, request by request.
struct Exchange {
    /// Why an exchange ended before it was complete.
    enum Failure: Swift.Error {
        /// The transport failed.
        case transport(any Swift.Error)
        /// The hub reported an error, or its reply is not valid.
        case reply(EngineError)
        /// The file cannot be synchronised as it is.
        case file(EngineError)

        /// Whether the same exchange may succeed later.
        var isPassing: Bool { if case .file = self { false } else { true } }

        /// The error for the program.
        var error: any Swift.Error {
            switch self {
            case .transport(let error): error
            case .reply(let error), .file(let error): Realm.Error.thrown(error)
            }
        }
    }

    /// Ends an exchange to which other files add changes faster than this one takes them. The next exchange goes on.
    static let mostRequests = 10_000

    private let engine: EngineRealm
    private(set) var outcome = SyncOutcome()
    private var requestSize = 0

    init(_ engine: EngineRealm) { self.engine = engine }

    /// Returns the next request; nil if the exchange is complete.
    mutating func next() throws(Failure) -> (function: String, body: Data)? {
        guard outcome.requests < Self.mostRequests else { return nil }
        do throws(EngineError) {
            guard let request = try engine.inside(.realm, { () throws(EngineError) in try engine.nextSyncRequest() })
            else { return nil }
            requestSize = request.body.count
            return (request.function, Data(request.body))
        } catch { throw .file(error) }
    }

    /// Applies the reply to the last request.
    mutating func apply(_ reply: Data) throws(Failure) {
        let told: [CoreEngine.SyncEvent]
        do throws(EngineError) {
            told = try engine.inside(.realm) { () throws(EngineError) in
                // The bytes have no address of their own if there are none.
                try Array(reply).withBytes { (bytes) throws(EngineError) in try engine.applySyncReply(bytes) }
            }
        } catch {
            switch error.code {
            case .syncFailed: throw .reply(error)
            case .malformedJSON:
                throw .reply(EngineError(.syncFailed, "The reply of the hub is invalid: \(error.message)"))
            default: throw .file(error)
            }
        }
        outcome.requests += 1
        outcome.sentBytes += requestSize
        outcome.receivedBytes += reply.count
        outcome.events += told.map { SyncEvent($0) }
    }

    /// The state after a reply.
    func progress() throws(Failure) -> SyncProgress {
        let pending: Int
        do throws(EngineError) {
            pending = try engine.inside(.realm) { () throws(EngineError) in try engine.unsentCount() }
        } catch { throw .file(error) }
        return SyncProgress(
            requests: outcome.requests, sentBytes: outcome.sentBytes, receivedBytes: outcome.receivedBytes,
            pending: pending)
    }

    /// Forgets a request whose reply does not come.
    func abandon() {
        guard !engine.isClosed else { return }
        try? engine.inside(.realm) { () throws(EngineError) in engine.resetSync() }
    }

    /// Makes a whole exchange on this thread.
    static func run(
        _ engine: EngineRealm, _ transport: any SyncTransport, _ progress: ((SyncProgress) throws -> Void)? = nil
    ) throws -> SyncOutcome {
        var exchange = Exchange(engine)
        do {
            while let (function, body) = try exchange.next() {
                let reply: Data
                do { reply = try transport.call(function, body) } catch { throw Failure.transport(error) }
                try exchange.apply(reply)
                if let progress { try progress(try exchange.progress()) }
            }
        } catch {
            exchange.abandon()
            throw error
        }
        return exchange.outcome
    }
}
