/// The state of synchronisation of a file.
package struct SyncStatus {
    package struct OfClass {
        package let name: Name

        /// The number of objects with unsent changes.
        package let pending: Int

        /// Whether the next exchange compares all objects with the hub.
        package let mustCompare: Bool

        /// The condition of the objects that the file has; empty: all.
        package let subset: String
    }

    /// A change that the hub did not take.
    package struct Refused {
        /// Milliseconds since 1970.
        package let time: Int64
        package let className: String

        /// The primary key, and what was sent, as JSON.
        package let key: String
        package let change: String
        package let reason: String
    }

    package let device, hub, cursor: String

    /// The number of the last batch that the hub has acknowledged.
    package let batch: Int64
    package let clock: Int64

    /// Bytes of the batch that the hub has not acknowledged.
    package let inflight: Int
    package let classes: [OfClass]
    package let refused: [Refused]

    /// The number of objects with unsent changes.
    package var pending: Int { classes.reduce(0) { $0 + $1.pending } }
}

extension Realm {
    /// The state of synchronisation; nil for a file that is not synchronised.
    ///
    /// - Throws: 2001 for a state that a newer version wrote, 1021 for a damaged file.
    package func syncStatus() throws(RealmError) -> SyncStatus? {
        guard let tables = try MarkTables(try reading().group) else { return nil }
        var classes: [SyncStatus.OfClass] = []
        for one in try tables.all() {
            let isStale = one.kept != one.table.storedContentVersion
            classes.append(
                SyncStatus.OfClass(
                    name: one.table.className ?? one.table.name, pending: try one.pending.count(),
                    mustCompare: one.comparison != .none || isStale, subset: one.subset))
        }
        return SyncStatus(
            device: try tables.text(.device), hub: try tables.text(.hub), cursor: try tables.text(.cursor),
            batch: try tables.integer(.batch), clock: try tables.integer(.clock),
            inflight: try tables.inflight().map { $0.body.count } ?? 0, classes: classes,
            refused: try tables.refused().map { one in
                SyncStatus.Refused(
                    time: one.time >> HybridClock.counterBits, className: one.className, key: one.primaryKey,
                    change: one.change, reason: one.reason)
            })
    }

    /// The number of objects with unsent changes; 0 for a file that is not synchronised.
    ///
    /// - Throws: as `syncStatus`.
    package func unsentCount() throws(RealmError) -> Int {
        guard let tables = try MarkTables(try reading().group) else { return 0 }
        var count = 0
        for one in try tables.all() { count += try one.pending.count() }
        return count
    }

    /// The state of synchronisation as a JSON object; `{"enabled":false}` for a file that is not synchronised.
    ///
    /// - Throws: as `syncStatus`.
    package func syncStatusJSON() throws(RealmError) -> String {
        guard let status = try syncStatus() else { return "{\"enabled\":false}" }
        var out = JSONText()
        out.open("{")
        out.field("enabled") { $0.bool(true) }
        out.field("device") { $0.text(status.device) }
        out.field("hub") { $0.text(status.hub) }
        out.field("cursor") { $0.text(status.cursor) }
        out.field("batch") { $0.number(status.batch) }
        out.field("clock") { $0.number(status.clock) }
        out.field("inflight") { $0.number(status.inflight) }
        out.field("pending") { $0.number(status.pending) }
        out.name("classes".utf8)
        out.open("{")
        for one in status.classes {
            out.name(Array(one.name.text.utf8))
            out.object { object in
                object.field("pending") { $0.number(one.pending) }
                object.field("compare") { $0.bool(one.mustCompare) }
                if !one.subset.isEmpty { object.field("subset") { $0.text(one.subset) } }
            }
        }
        out.close("}")
        out.field("refused") { field in
            field.array(status.refused) { out, one in
                out.object { object in
                    object.field("time") { $0.number(one.time) }
                    object.field("class") { $0.text(one.className) }
                    object.field("key") { $0.text(one.key) }
                    object.field("reason") { $0.text(one.reason) }
                    object.field("change") { $0.text(one.change) }
                }
            }
        }
        out.close("}")
        return out.text
    }

    /// Forgets the changes that the hub refused.
    package func forgetRefused() throws(RealmError) {
        try applying { (tables) throws(RealmError) in try tables.removeRefused() }
    }

    /// Lets the next exchange compare all classes with the hub.
    package func compareWithHub() throws(RealmError) {
        try applying { (tables) throws(RealmError) in
            for one in try tables.all() { try tables.setComparison(one, .needed) }
        }
    }

    /// Reads the options of `enableSync`: `{"classes": ["Person"], "clock_offset": 0}`, and the conditions of subsets:
    /// `{"subsets": {"Person": "age > 17"}}`.
    ///
    /// - Throws: 4201 for text that is no JSON, 3000 for unknown options and values of a wrong kind.
    package func enableSync(json: Bytes) throws(RealmError) {
        let options = try JSONValue.parse(json)
        guard let members = options.members else {
            throw RealmError(.invalidArgument, "The options of synchronisation are no JSON object")
        }
        var names: [Name] = [], offset: Int64 = 0, subsets: [(name: Name, condition: String)] = []
        for member in members {
            switch String(decoding: member.name, as: UTF8.self) {
            case "classes":
                guard let list = member.value.elements else {
                    throw RealmError(.invalidArgument, "The option 'classes' is a list of names")
                }
                for one in list {
                    guard let name = one.text else {
                        throw RealmError(.invalidArgument, "The option 'classes' is a list of names")
                    }
                    names.append(Name(name))
                }
            case "subsets":
                guard let list = member.value.members else {
                    throw RealmError(.invalidArgument, "The option 'subsets' has a condition for each class")
                }
                for one in list {
                    guard let text = one.value.text else {
                        throw RealmError(.invalidArgument, "The option 'subsets' has a condition for each class")
                    }
                    subsets.append((Name(String(decoding: one.name, as: UTF8.self)), text))
                }
            case "clock_offset":
                guard let number = member.value.integer, number.magnitude < 1 << 40 else {
                    throw RealmError(.invalidArgument, "The option 'clock_offset' is a number of milliseconds")
                }
                offset = number
            case let other: throw RealmError(.invalidArgument, "No option '\(other)' of synchronisation")
            }
        }
        try enableSync(names, clockOffset: offset, subsets: subsets)
    }
}

extension SyncEvent {
    /// The events as a JSON array.
    package static func json(_ events: [SyncEvent]) -> String {
        var out = JSONText()
        out.array(events) { out, event in
            out.object { object in
                object.field("event") { $0.text(event.kind.rawValue) }
                object.field("class") { $0.text(event.className) }
                object.field("key") { $0.text(event.key) }
                object.field("detail") { $0.text(event.detail) }
                object.field("count") { $0.number(event.count) }
            }
        }
        return out.text
    }
}
