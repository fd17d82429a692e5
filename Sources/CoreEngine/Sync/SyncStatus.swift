extension Realm {
    /// The state of synchronisation as a JSON object; `{"enabled":false}` for a file that is not synchronised.
    ///
    /// - Throws: 2001 for a state that a newer version wrote, 1021 for a damaged file.
    package func syncStatusJSON() throws(RealmError) -> String {
        var out = JSONText()
        guard let tables = try MarkTables(try reading().group) else { return "{\"enabled\":false}" }
        out.open("{")
        out.field("enabled") { $0.bool(true) }
        for (name, field) in [("device", MarkTables.Text.device), ("hub", .hub), ("cursor", .cursor)] {
            let text = try tables.text(field)
            out.field(name) { $0.text(text) }
        }
        let batch = try tables.integer(.batch), clock = try tables.integer(.clock)
        out.field("batch") { $0.number(batch) }
        out.field("clock") { $0.number(clock) }
        let inflight = try tables.inflight()
        out.field("inflight") { $0.number(inflight.map { $0.body.count } ?? 0) }
        var pending = 0, classes: [(name: Name, pending: Int, compare: Bool, subset: String)] = []
        for one in try tables.all() {
            let count = try one.pending.count()
            pending += count
            let isStale = one.kept != one.table.storedContentVersion
            classes.append(
                (one.table.className ?? one.table.name, count, one.comparison != .none || isStale, one.subset))
        }
        out.field("pending") { $0.number(pending) }
        out.name("classes".utf8)
        out.open("{")
        for one in classes {
            out.name(Array(one.name.text.utf8))
            out.object { object in
                object.field("pending") { $0.number(one.pending) }
                object.field("compare") { $0.bool(one.compare) }
                if !one.subset.isEmpty { object.field("subset") { $0.text(one.subset) } }
            }
        }
        out.close("}")
        let refused = try tables.refused()
        out.field("refused") { field in
            field.array(refused) { out, one in
                out.object { object in
                    object.field("time") { $0.number(one.time >> HybridClock.counterBits) }
                    object.field("class") { $0.text(one.className) }
                    object.field("key") { $0.text(one.primaryKey) }
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
