import Foundation
import RealmSwift

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// HTTPS to a gateway such as PostgREST, which calls the functions of the hub's schema `crealm`.
///
///     let transport = try HTTPSyncTransport(URL(string: "https://example.com/rest")!) { try freshToken() }
///     let session = try realm.sync.session(over: transport)
///
/// A request is `POST <address>/rpc/<function>` with the JSON object `{"body": …}` and the header
/// `Content-Profile: crealm`. Redirections are not followed, cookies and caches not used. Each request has a connection
/// of its own.
///
/// Thread rule: any; calls on several threads may overlap.
public final class HTTPSyncTransport: SyncTransport {
    /// Why a request has no reply.
    public enum Failure: Swift.Error, Sendable, Equatable {
        /// The address is no HTTPS address: tokens and objects would be readable on their way.
        case insecureAddress(String)
        /// The gateway cannot be reached, or did not answer in time.
        case unreachable(String)
        /// The gateway answered with a status that is no success, and this text.
        case status(Int, String)
        /// The reply is longer than the limit, in bytes.
        case replyTooLong(limit: Int)
    }

    private let address: URL
    private let token: (@Sendable () throws -> String?)?
    private let timeout: TimeInterval
    private let connections: Connections

    /// Creates a transport. It makes its first connection when it is first called.
    ///
    /// - Parameters:
    ///   - address: The gateway, as `https://example.com/rest`. `http` is accepted for this machine only.
    ///   - timeout: Ends a request that gets no bytes for so long.
    ///   - limit: The greatest size of a reply in bytes.
    ///   - token: Called before each request, on the thread of the request. It returns the JWT of the person; nil for
    ///     requests without one. Its error ends the exchange, as other errors of transports do.
    /// - Throws: `Failure.insecureAddress`.
    public init(
        _ address: URL, timeout: Duration = .seconds(30), limit: Int = 1 << 30,
        token: (@Sendable () throws -> String?)? = nil
    ) throws {
        let scheme = address.scheme?.lowercased()
        let isHere = ["localhost", "127.0.0.1", "::1"].contains(address.host ?? "")
        guard address.host != nil, scheme == "https" || (scheme == "http" && isHere) else {
            throw Failure.insecureAddress(address.absoluteString)
        }
        self.address = address
        self.token = token
        self.timeout = max(Double(timeout.components.seconds) + Double(timeout.components.attoseconds) * 1e-18, 0.001)
        connections = Connections(limit: limit)
    }

    deinit { connections.close() }

    public func call(_ function: String, _ body: Data) throws -> Data {
        var request = URLRequest(url: address.appendingPathComponent("rpc").appendingPathComponent(function))
        request.httpMethod = "POST"
        request.timeoutInterval = timeout
        request.httpBody = Data("{\"body\":".utf8) + body + Data("}".utf8)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue("crealm", forHTTPHeaderField: "Content-Profile")
        // If the gateway closes a connection that was kept while a request is on its way, the URL loading of Linux waits
        // until the time is over.
        request.setValue("close", forHTTPHeaderField: "Connection")
        if let token = try token?() { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        let (status, reply) = try connections.send(request)
        guard (200..<300).contains(status) else {
            throw Failure.status(status, String(decoding: reply.prefix(10_000), as: UTF8.self))
        }
        return reply
    }

    public func close() { connections.close() }
}

extension HTTPSyncTransport.Failure: LocalizedError, CustomStringConvertible {
    public var description: String {
        switch self {
        case .insecureAddress(let address): "A hub on another machine is reached by https:// only, not by '\(address)'"
        case .unreachable(let why): "The hub cannot be reached: \(why)"
        case .status(let status, let text): "The hub answers with status \(status): \(text)"
        case .replyTooLong(let limit): "The reply of the hub is longer than \(limit) bytes"
        }
    }

    public var errorDescription: String? { description }
}

/// The replies of a gateway that are on their way.
///
/// Sendable: the mutable state is behind the lock.
private final class Connections: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private struct Reply {
        let task: URLSessionTask
        let done = DispatchSemaphore(value: 0)
        var bytes = Data()
        var result: Result<(status: Int, bytes: Data), HTTPSyncTransport.Failure>?
    }

    private let limit: Int
    private let lock = NSLock()
    private var session: URLSession?
    private var replies: [ObjectIdentifier: Reply] = [:]

    init(limit: Int) { self.limit = limit }

    func close() {
        let session = lock.withLock {
            defer { self.session = nil }
            return self.session
        }
        session?.finishTasksAndInvalidate()
    }

    /// Sends a request, and waits for the reply.
    func send(_ request: URLRequest) throws -> (status: Int, bytes: Data) {
        let reply = lock.withLock {
            let session = session ?? make()
            self.session = session
            let reply = Reply(task: session.dataTask(with: request))
            replies[ObjectIdentifier(reply.task)] = reply
            return reply
        }
        reply.task.resume()
        reply.done.wait()
        let complete = lock.withLock {
            replies.removeValue(forKey: ObjectIdentifier(reply.task))
        }
        return try complete?.result?.get() ?? { throw HTTPSyncTransport.Failure.unreachable("no answer") }()
    }

    /// The session retains its delegate until it is invalidated.
    private func make() -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        return URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    }

    // MARK: Delegate

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The other address may not be that of the gateway: it gets no token.
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLong = lock.withLock {
            let id = ObjectIdentifier(dataTask), size = replies[id]?.bytes.count ?? 0
            guard data.count <= limit - size else {
                replies[id]?.result = .failure(.replyTooLong(limit: limit))
                return true
            }
            replies[id]?.bytes.append(data)
            return false
        }
        if isTooLong { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Swift.Error)?) {
        let status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
        let done = lock.withLock {
            guard var reply = replies[ObjectIdentifier(task)] else { return nil as DispatchSemaphore? }
            if let error {
                reply.result = reply.result ?? .failure(.unreachable(error.localizedDescription))
            } else if status == 0 {
                reply.result = reply.result ?? .failure(.unreachable("The answer is not that of a web server"))
            } else {
                reply.result = reply.result ?? .success((status, reply.bytes))
            }
            replies[ObjectIdentifier(task)] = reply
            return reply.done
        }
        done?.signal()
    }
}
