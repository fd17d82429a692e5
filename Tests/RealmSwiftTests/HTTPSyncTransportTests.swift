import Foundation
import RealmSync
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Listens on a port of this machine, and gives one reply to each connection.
private final class Listener: Sendable {
    private let descriptor: Int32
    private let heard = Mutex<[String]>([])
    let port: UInt16

    /// - Parameter reply: The bytes of the answer; nil to answer nothing and keep the connection.
    init(_ reply: String?) throws {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        descriptor = socket(AF_INET, kind, 0)
        var address = sockaddr_in(), size = socklen_t(MemoryLayout<sockaddr_in>.size)
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, size) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, generic, &size) == 0
            }
        }
        try #require(isBound)
        port = UInt16(bigEndian: address.sin_port)
        if let reply { Thread.detachNewThread { self.serve(reply) } }
    }

    deinit { _ = close(descriptor) }

    var url: URL { get throws { try #require(URL(string: "http://127.0.0.1:\(port)/rest/")) } }

    /// The requests, with their bodies.
    var requests: [String] { heard.withLock { $0 } }

    private func serve(_ reply: String) {
        while case let connection = accept(descriptor, nil, nil), connection >= 0 {
            hear(connection)
            Array(reply.utf8).withUnsafeBytes { bytes in
                _ = send(connection, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            _ = close(connection)
        }
    }

    /// Whether all bytes of the body are there.
    private func isComplete(_ request: String) -> Bool {
        let parts = request.components(separatedBy: "\r\n\r\n")
        let length = parts[0].lowercased().components(separatedBy: "content-length: ").last
        guard parts.count == 2, let size = length?.components(separatedBy: "\r\n").first.flatMap({ Int($0) }) else {
            return false
        }
        return parts[1].utf8.count >= size
    }

    /// Reads one request.
    private func hear(_ connection: Int32) {
        var request = "", buffer = [UInt8](repeating: 0, count: 65536)
        while !isComplete(request), case let count = recv(connection, &buffer, buffer.count, 0), count > 0 {
            request += String(decoding: buffer[..<count], as: UTF8.self)
        }
        if !request.isEmpty { heard.withLock { $0.append(request) } }
    }

    /// Ends `serve`.
    func stop() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
}

@Suite struct HTTPSyncTransportTests {
    typealias Failure = HTTPSyncTransport.Failure

    private func reply(_ status: String, _ body: String, _ more: String = "Connection: close\r\n") -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\(more)"
            + "\r\n\(body)"
    }

    @Test func aRequestHasTheFormOfPostgREST() throws {
        let listener = try Listener(reply("200 OK", "{\"next\": 1}")), asked = Mutex(0)
        defer { listener.stop() }
        let transport = try HTTPSyncTransport(try listener.url) {
            asked.withLock { count in
                count += 1
                return count == 1 ? "abc.def" : nil
            }
        }
        #expect(try transport.call("pull", Data("{\"a\":[1]}".utf8)) == Data("{\"next\": 1}".utf8))
        _ = try transport.call("hello", Data("{}".utf8))
        transport.close()
        let lines = listener.requests[0].components(separatedBy: "\r\n"), lower = lines.map { $0.lowercased() }
        #expect(lines.first == "POST /rest/rpc/pull HTTP/1.1" && lines.last == "{\"body\":{\"a\":[1]}}")
        for header in [
            "content-type: application/json", "content-profile: crealm", "authorization: bearer abc.def",
            "connection: close",
        ] {
            #expect(lower.contains(header), "\(header)")
        }
        #expect(!listener.requests[1].lowercased().contains("authorization") && asked.withLock { $0 } == 2)
    }

    @Test func statusesAreErrors() throws {
        let listener = try Listener(reply("403 Forbidden", "{\"message\": \"no\"}"))
        defer { listener.stop() }
        let transport = try HTTPSyncTransport(try listener.url)
        let error = #expect(throws: Failure.status(403, "{\"message\": \"no\"}")) {
            try transport.call("hello", Data("{}".utf8))
        }
        #expect(error?.localizedDescription == "The hub answers with status 403: {\"message\": \"no\"}")
    }

    @Test func aRedirectionIsNotFollowed() throws {
        let other = try Listener(reply("200 OK", "{}"))
        let listener = try Listener(reply("307 Temporary Redirect", "", "Location: \(try other.url)rpc/hello\r\n"))
        defer {
            listener.stop()
            other.stop()
        }
        let transport = try HTTPSyncTransport(try listener.url) { "secret" }
        let error = #expect(throws: Failure.self) { try transport.call("hello", Data("{}".utf8)) }
        if case .status(307, _)? = error {} else { Issue.record("\(String(describing: error))") }
        #expect(listener.requests.count == 1 && other.requests.isEmpty)
    }

    @Test func aReplyThatIsTooLong() throws {
        let listener = try Listener(reply("200 OK", String(repeating: " ", count: 100_000)))
        defer { listener.stop() }
        #expect(throws: Failure.replyTooLong(limit: 99_999)) {
            try HTTPSyncTransport(try listener.url, limit: 99_999).call("pull", Data("{}".utf8))
        }
        #expect(try HTTPSyncTransport(try listener.url, limit: 100_000).call("pull", Data("{}".utf8)).count == 100_000)
    }

    @Test func aTransportThatWasClosedIsOpenedAgain() throws {
        let listener = try Listener(reply("200 OK", "{}", ""))
        defer { listener.stop() }
        let transport = try HTTPSyncTransport(try listener.url)
        for _ in 0..<5 { #expect(try transport.call("hello", Data("{}".utf8)) == Data("{}".utf8)) }
        transport.close()
        #expect(try transport.call("hello", Data("{}".utf8)) == Data("{}".utf8) && listener.requests.count >= 6)
    }

    @Test func callsOnManyThreads() throws {
        let listener = try Listener(reply("200 OK", "{}"))
        defer { listener.stop() }
        let transport = try HTTPSyncTransport(try listener.url), good = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 20) { _ in
            if (try? transport.call("hello", Data("{}".utf8))) == Data("{}".utf8) { good.withLock { $0 += 1 } }
        }
        #expect(good.withLock { $0 } == 20)
    }

    @Test func answersThatAreNoHTTP() throws {
        for text in ["", "hello\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}"] {
            let listener = try Listener(text)
            defer { listener.stop() }
            let error = #expect(throws: Failure.self) {
                try HTTPSyncTransport(try listener.url).call("hello", Data("{}".utf8))
            }
            if case .unreachable? = error {} else { Issue.record("\(text): \(String(describing: error))") }
        }
    }

    @Test func aGatewayThatDoesNotAnswer() throws {
        let listener = try Listener(nil), start = ContinuousClock.now
        let error = #expect(throws: Failure.self) {
            try HTTPSyncTransport(try listener.url, timeout: .seconds(1)).call("hello", Data("{}".utf8))
        }
        if case .unreachable? = error {} else { Issue.record("\(String(describing: error))") }
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test func addressesWithoutEncryptionAreRefused() throws {
        for text in ["http://example.com/rest", "ftp://example.com", "example.com", "http://127.0.0.1.example.com"] {
            let address = try #require(URL(string: text))
            #expect(throws: Failure.insecureAddress(text)) { try HTTPSyncTransport(address) }
        }
        for text in ["https://example.com/rest", "http://localhost:3000", "http://127.0.0.1:3000/rest"] {
            _ = try HTTPSyncTransport(try #require(URL(string: text)))
        }
    }

    @Test func aGatewayThatIsNotThere() throws {
        // Nothing listens on port 1.
        let transport = try HTTPSyncTransport(try #require(URL(string: "http://127.0.0.1:1")), timeout: .seconds(5))
        let error = #expect(throws: Failure.self) { try transport.call("hello", Data("{}".utf8)) }
        guard case .unreachable(let why)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!why.isEmpty && error?.localizedDescription.contains(why) == true)
        transport.close()
        struct NoToken: Error {}
        let other = try HTTPSyncTransport(try #require(URL(string: "http://127.0.0.1:1"))) { throw NoToken() }
        #expect(throws: NoToken.self) { try other.call("hello", Data("{}".utf8)) }
    }
}
