import Foundation
import RealmSwift
import Synchronization

/// A hub in memory: the functions of the protocol of docs/sync.md, one transaction at a time, for properties whose values
/// are integers, texts, truth values and lists of them.
///
/// Sendable: the state is behind the lock.
final class TestHub: @unchecked Sendable {
    typealias JSON = [String: Any]

    struct Row {
        /// nil: the object was deleted.
        var values: JSON?
        var clocks: [String: Int] = [:]
        var latest = 0

        /// The number of the transaction that changed the row last.
        var change = 0
    }

    private struct Device {
        var batch = 0
        var chain = ""
        var reply: JSON = [:]
    }

    private let lock = NSRecursiveLock()
    private var classes: [String: [String]] = [:]
    private var rows: [String: [String: (key: Any, row: Row)]] = [:]
    private var devices: [String: Device] = [:]
    private var change = 100
    private var batches = 0
    private var rule: (@Sendable (String, JSON) -> String?)?

    /// Another name is another hub.
    private let identity = "memory/\(UUID().uuidString)"

    /// The number of batches that were applied.
    var batchCount: Int { lock.withLock { batches } }

    /// Refuses objects: the function returns the reason.
    func refuse(_ rule: (@Sendable (String, JSON) -> String?)?) { lock.withLock { self.rule = rule } }

    /// The values of an object; nil if there is none.
    func value(_ className: String, _ key: String, _ property: String) -> String? {
        lock.withLock { rows[className]?[key]?.row.values?[property].map { "\($0)" } }
    }

    func count(_ className: String) -> Int {
        lock.withLock { rows[className]?.values.count { $0.row.values != nil } ?? 0 }
    }

    func call(_ function: String, _ body: Data) throws -> Data {
        try lock.withLock {
            guard let body = try JSONSerialization.jsonObject(with: body) as? JSON else { return Data("[]".utf8) }
            let reply: JSON
            switch function {
            case "hello": reply = hello(body)
            case "push": reply = push(body)
            case "pull": reply = pull(body)
            default: reply = ["error": "no function \(function)"]
            }
            return try JSONSerialization.data(withJSONObject: reply)
        }
    }

    // MARK: Functions

    private func hello(_ body: JSON) -> JSON {
        let device = body["device"] as? String ?? ""
        for (name, properties) in body["classes"] as? [String: JSON] ?? [:] {
            classes[name] = Set(classes[name] ?? []).union(properties.keys).sorted()
        }
        let known = devices[device] ?? Device()
        devices[device] = known
        return [
            "protocol": 1, "hub": identity, "batch": known.batch, "chain": known.chain, "schema": identity,
            "classes": classes, "now": 0,
        ]
    }

    private func push(_ body: JSON) -> JSON {
        guard body["schema"] as? String == identity, let batch = body["batch"] as? JSON,
            let name = batch["device"] as? String, let number = batch["number"] as? Int,
            let before = batch["before"] as? String, let chain = batch["chain"] as? String,
            let sent = batch["rows"] as? [JSON], var device = devices[name]
        else { return ["stale": true] }
        if (device.batch, device.chain) == (number, chain) { return device.reply }
        guard (device.batch, device.chain) == (number - 1, before) else { return ["fork": true] }
        change += 1
        batches += 1
        var merges: [JSON] = [], refused: [JSON] = [], found: [String: JSON] = [:]
        for one in sent {
            guard let className = one["c"] as? String, let key = one["k"] else { continue }
            let earlier = rows[className]?["\(key)"]
            let merged = apply(one, className, key)
            if let now = rows[className]?["\(key)"]?.row.values, let reason = rule?(className, now) {
                rows[className]?["\(key)"] = earlier ?? (key, Row(latest: 1, change: change))
                refused.append(["c": className, "k": key, "code": "23514", "reason": reason])
                let listed = found[className]?["rows"] as? [[Any]] ?? []
                found[className] = ["props": classes[className] ?? [], "rows": listed + [line(className, "\(key)")]]
            } else {
                merges += merged
            }
        }
        device.reply = ["batch": number, "merge": merges, "refused": refused, "rows": found]
        (device.batch, device.chain) = (number, chain)
        devices[name] = device
        return device.reply
    }

    private func apply(_ one: JSON, _ className: String, _ key: Any) -> [JSON] {
        let text = "\(key)", clock = one["clk"] as? Int ?? 0, isNew = one["t"] as? String == "new"
        var row = rows[className]?[text]?.row ?? Row()
        row.change = change
        defer { rows[className, default: [:]][text] = (key, row) }
        if one["t"] as? String == "del" {
            row.values = nil
            row.latest = max(row.latest, clock)
            return []
        }
        guard row.values != nil || (isNew && clock > row.latest) else { return [] }
        let id = (classes[className] ?? []).first { $0 == "id" || $0 == "key" } ?? "id"
        var values = row.values ?? [id: key], merges: [JSON] = []
        for (name, parts) in one["v"] as? [String: [Any]] ?? [:] {
            let clock = parts[0] as? Int ?? 0
            guard clock >= row.clocks[name] ?? 0 else { continue }
            (values[name], row.clocks[name]) = (parts[1], clock)
        }
        for (name, parts) in one["a"] as? [String: [Any]] ?? [:] {
            values[name] = (values[name] as? Int ?? 0) + (parts[1] as? Int ?? 0)
        }
        for (name, parts) in one["m"] as? [String: [Any]] ?? [:] {
            if let now = values[name], "\(now)" != "\(parts[1])", "\(now)" != "\(parts[2])" {
                merges.append(["c": className, "k": key, "p": name, "hub": now])
            } else {
                values[name] = parts[2]
            }
        }
        row.values = values
        row.latest = max(row.latest, clock)
        return merges
    }

    private func pull(_ body: JSON) -> JSON {
        guard body["schema"] as? String == identity else { return ["stale": true] }
        let seen = Int(body["cursor"] as? String ?? "") ?? 0, compared = body["compare"] as? [String] ?? []
        let conditions = body["where"] as? [String: [Any]] ?? [:]
        var found: [String: JSON] = [:]
        for name in body["classes"] as? [String] ?? [] {
            let lines = (rows[name] ?? [:]).sorted { $0.key < $1.key }.compactMap { (key, entry) -> [Any]? in
                guard entry.row.change > seen || compared.contains(name) else { return nil }
                var line = line(name, key, isChanged: entry.row.change > seen)
                if let values = entry.row.values, let condition = conditions[name], !holds(condition, values) {
                    line[0] = "out"
                }
                return line
            }
            if !lines.isEmpty { found[name] = ["props": classes[name] ?? [], "rows": lines] }
        }
        return ["next": "\(change)", "after": NSNull(), "rows": found]
    }

    private func line(_ className: String, _ key: String, isChanged: Bool = true) -> [Any] {
        guard let (id, row) = rows[className]?[key] else { return [] }
        let names = classes[className] ?? [], values = row.values
        let shown = names.map { name in
            values.map { $0[name] ?? NSNull() } ?? (name == "id" || name == "key" ? id : NSNull())
        }
        return [values == nil, row.latest, isChanged] + shown
    }

    private func holds(_ condition: [Any], _ values: JSON) -> Bool {
        let parts = condition.dropFirst()
        switch condition.first as? String {
        case "and": return parts.allSatisfy { holds($0 as? [Any] ?? [], values) }
        case "or": return parts.contains { holds($0 as? [Any] ?? [], values) }
        case "not": return !holds(parts.first as? [Any] ?? [], values)
        case let sign:
            let value = values[condition[1] as? String ?? ""] ?? NSNull()
            if let wanted = condition[2] as? Bool, let value = value as? Bool {
                return (value == wanted) == (sign == "==")
            }
            let text = "\(condition[2])"
            if let number = value as? Int, let wanted = Int(text) {
                return sign == ">"
                    ? number > wanted : sign == "<" ? number < wanted : (number == wanted) == (sign == "==")
            }
            return ("\(value)" == text) == (sign == "==")
        }
    }
}

struct Offline: Error, Equatable {}

/// The way of one device to a hub, which tests interrupt.
final class TestTransport: SyncTransport {
    private struct State {
        var isOffline = false
        var lostReplies: [String] = []
        var replies: [String] = []
        var calls: [String] = []
        var bodies: [String] = []
        var closed = 0
        var isHeld = false
    }

    private let hub: TestHub
    private let state = Mutex(State())
    private let reached = DispatchSemaphore(value: 0), released = DispatchSemaphore(value: 0)

    init(_ hub: TestHub) { self.hub = hub }

    var calls: [String] { state.withLock { $0.calls } }
    var bodies: [String] { state.withLock { $0.bodies } }
    var closeCount: Int { state.withLock { $0.closed } }

    func go(offline isOffline: Bool) { state.withLock { $0.isOffline = isOffline } }

    /// Loses the next reply of a function: the hub has done what was asked.
    func loseReply(of function: String) { state.withLock { $0.lostReplies.append(function) } }

    /// Gives this reply to the next request, which does not reach the hub.
    func reply(_ text: String) { state.withLock { $0.replies.append(text) } }

    /// Holds the next call until `release`.
    func hold() { state.withLock { $0.isHeld = true } }

    /// Waits until a call is held.
    func waitForCall() { reached.wait() }

    func release() { released.signal() }

    func call(_ function: String, _ body: Data) throws -> Data {
        let (isHeld, isOffline, reply) = state.withLock { state in
            defer { state.isHeld = false }
            state.calls.append(function)
            state.bodies.append(String(decoding: body, as: UTF8.self))
            return (state.isHeld, state.isOffline, state.replies.isEmpty ? nil : state.replies.removeFirst())
        }
        if isHeld {
            reached.signal()
            released.wait()
        }
        if isOffline { throw Offline() }
        if let reply { return Data(reply.utf8) }
        let answer = try hub.call(function, body)
        let isLost = state.withLock { state in
            guard state.lostReplies.first == function else { return false }
            state.lostReplies.removeFirst()
            return true
        }
        if isLost { throw Offline() }
        return answer
    }

    func close() { state.withLock { $0.closed += 1 } }
}
