/// Rows of the hub, as a reply has them: for each class the names of properties, and for each object whether it is
/// deleted, its clock, whether it changed since the checkpoint, and its values.
struct HubRows {
    struct Row {
        let isGone: Bool

        /// Whether it exists, and this file does not see it: it is outside of the subset, or belongs to somebody else.
        let isOutside: Bool
        let clock: Int64

        /// Whether the hub changed it since the checkpoint that the file shows.
        let isChanged: Bool
        let key: JSONValue
        let values: [JSONValue]
    }

    struct Class {
        let synced: MarkTables.SyncedClass

        /// The properties of the values; nil for those that this file does not have.
        var columns: [ColumnFacts?]

        /// The rows by the texts of their keys; a later row replaces an earlier one.
        var rows: [[UInt8]: Row] = [:]
        var order: [[UInt8]] = []
    }

    private let realm: Realm
    private let tables: MarkTables
    private let reading: WireReading
    private(set) var classes: [Class] = []
    private(set) var events: [SyncEvent] = []
    private(set) var clock: Int64 = 0

    /// The objects that `apply` has made, by class.
    private var made: [TableKey: Set<ObjKey>] = [:]
    private var links: MissingLinks
    private let all: [TableKey: MarkTables.SyncedClass]

    init(_ realm: Realm, _ tables: MarkTables) throws(RealmError) {
        self.realm = realm
        self.tables = tables
        reading = WireReading(realm: realm)
        links = try MissingLinks(tables.group)
        all = Dictionary(uniqueKeysWithValues: try tables.all().map { ($0.table.key, $0) })
    }

    /// Adds the rows of a reply.
    mutating func add(_ rows: JSONValue?, _ all: [MarkTables.SyncedClass]) throws(RealmError) {
        guard let rows else { return }
        guard let members = rows.members else { throw Sync.invalidReply("'rows' is no object") }
        for member in members {
            let name = Name(String(decoding: member.name, as: UTF8.self))
            guard let one = all.first(where: { $0.table.className == name }) else {
                throw Sync.invalidReply("rows of class '\(name)', which was not asked for")
            }
            guard let names = member.value.member("props")?.elements, let list = member.value.member("rows")?.elements
            else {
                throw Sync.invalidReply("rows of class '\(name)' without properties")
            }
            var columns: [ColumnFacts?] = [], keyIndex: Int?
            for (i, name) in names.enumerated() {
                guard let name = name.text else { throw Sync.invalidReply("a property without a name") }
                let column = one.table.column(named: Name(name))
                let facts = column.flatMap { $0.isBacklink ? nil : one.table.facts($0.key) }
                columns.append(facts)
                if let facts, facts.isPrimaryKey { keyIndex = i }
            }
            guard let keyIndex else { throw Sync.invalidReply("rows of class '\(name)' without primary keys") }
            let at = classes.firstIndex { $0.synced.table.key == one.table.key } ?? classes.count
            if at == classes.count { classes.append(Class(synced: one, columns: columns)) }
            guard classes[at].columns.map({ $0?.key }) == columns.map({ $0?.key }) else {
                throw Sync.invalidReply("rows of class '\(name)' with different properties")
            }
            for row in list { try add(row, keyIndex, at) }
        }
    }

    private mutating func add(_ json: JSONValue, _ keyIndex: Int, _ at: Int) throws(RealmError) {
        let table = classes[at].synced.table
        guard let parts = json.elements, parts.count == 3 + classes[at].columns.count,
            let isGone = parts[0].isText("out".utf8) ? true : parts[0].flag,
            let clock = parts[1].integer, let isChanged = parts[2].flag
        else {
            throw Sync.invalidReply("a row of class '\(table.className ?? table.name)' of another form")
        }
        let values = Array(parts[3...]), key = values[keyIndex]
        guard let column = table.primaryKey, let facts = table.facts(column), !key.isNull else {
            throw Sync.invalidReply("a row of class '\(table.className ?? table.name)' without a primary key")
        }
        let text = try reading.element(key, table, facts)
        if classes[at].rows[text] == nil { classes[at].order.append(text) }
        classes[at].rows[text] = Row(
            isGone: isGone, isOutside: parts[0].flag == nil, clock: clock, isChanged: isChanged, key: key,
            values: values)
        self.clock = max(self.clock, clock)
    }

    // MARK: Applying

    /// Gives the file the state of the rows, except for what is unsent.
    ///
    /// - Parameter compared: the classes of which all rows are known. Differences to unchanged rows are changes of this
    ///   file that were not marked.
    mutating func apply(comparing compared: [Name] = []) throws(RealmError) {
        var deleted: [Set<[UInt8]>] = []
        for one in classes { deleted.append(try Self.deletedKeys(one.synced)) }
        // First all objects, so that links between them find their targets.
        for (i, one) in classes.enumerated() {
            let isCompared = one.synced.table.className.map { compared.contains($0) } ?? false
            for text in one.order {
                guard let row = one.rows[text], !row.isGone, !deleted[i].contains(text) else { continue }
                if isCompared, !row.isChanged, !one.synced.isWidened { continue }
                let object = try reading.make(row.key, in: one.synced.table)
                if object.isNew { made[one.synced.table.key, default: []].insert(object.key) }
            }
        }
        for (i, one) in classes.enumerated() {
            let isCompared = one.synced.table.className.map { compared.contains($0) } ?? false
            for text in one.order {
                guard let row = one.rows[text], !deleted[i].contains(text) else { continue }
                try one.synced.table.test()
                do throws(RealmError) {
                    if row.isGone {
                        try remove(row, text, one, isCompared)
                    } else {
                        try store(row, text, one, isCompared)
                    }
                } catch {
                    throw Self.told(error, one, text)
                }
            }
            if isCompared { try addUnknown(one, deleted[i]) }
        }
        for name in compared where !classes.contains(where: { $0.synced.table.className == name }) {
            guard let one = try tables.all().first(where: { $0.table.className == name }) else { continue }
            try addUnknown(Class(synced: one, columns: []), try Self.deletedKeys(one))
        }
        try findMissing()
    }

    /// The error of a row that the file cannot hold, with the key of the object; other errors as they are.
    private static func told(_ error: RealmError, _ one: Class, _ text: [UInt8]) -> RealmError {
        switch error.code {
        case .syncFailed, .notNullable, .typeMismatch, .invalidDictionaryKey, .invalidDictionaryValue, .invalidArgument,
            .limitExceeded:
            let table = one.synced.table
            return Sync.failed(
                "\(error.message) (the object \(String(decoding: text, as: UTF8.self)) of class "
                    + "'\(table.className ?? table.name)')")
        default: return error
        }
    }

    /// Gives properties the links to objects that were missing and are there now.
    private mutating func findMissing() throws(RealmError) {
        for (place, entry) in links.entries {
            guard let synced = all[place.table], let facts = synced.table.facts(place.column),
                let object = try reading.find(try JSONValue.parse(place.key), in: synced.table),
                try synced.pending.get(object)?.property(place.column) == nil
            else {
                // The object is gone, or the program gave the property another value.
                try links.drop(place)
                continue
            }
            guard let target = try tables.group.table(entry.target),
                try reading.find(try JSONValue.parse(entry.missing), in: target) != nil
            else { continue }
            try put(try JSONValue.parse(entry.value), place, synced.table, object, facts)
        }
    }

    /// Stores a value of the hub, and notes what it links to if that is not there.
    @discardableResult
    private mutating func put(
        _ value: JSONValue, _ place: MissingLinks.Place, _ table: Table, _ object: ObjKey, _ facts: ColumnFacts
    ) throws(RealmError) -> Bool {
        reading.misses.first = nil
        let isChanged = try reading.store(value, table, object, facts)
        guard facts.type == .link else { return isChanged }
        if let missing = reading.misses.first {
            try links.note(place, target: missing.table, missing: missing.key, value: value.json)
        } else {
            try links.drop(place)
        }
        return isChanged
    }

    /// Keeps the links to an object that leaves this file, and is not deleted.
    private mutating func keepLinks(to object: ObjKey, _ text: [UInt8], _ table: Table) throws(RealmError) {
        for case let facts? in table.facts where facts.type == .backlink {
            guard let synced = all[facts.oppositeTable],
                let own = synced.table.facts(facts.oppositeColumn), own.type == .link
            else { continue }
            for origin in try table.backlinks(object, facts.key).allKeys() {
                guard try synced.pending.get(origin)?.property(own.key) == nil,
                    let key = try WireText.primaryKey(synced.table, origin),
                    let value = try WireText.property(synced.table, origin, own)
                else { continue }
                let place = MissingLinks.Place(table: synced.table.key, key: key, column: own.key)
                if links.entries[place] != nil { continue }
                try links.note(place, target: table.key, missing: text, value: value)
            }
        }
    }

    /// The primary keys of the objects that this file has deleted.
    private static func deletedKeys(_ one: MarkTables.SyncedClass) throws(RealmError) -> Set<[UInt8]> {
        var all: Set<[UInt8]> = []
        for key in try one.pending.keys() {
            if let change = try one.pending.get(key), change.state == .deleted { all.insert(change.key) }
        }
        return all
    }

    private mutating func report(_ kind: SyncEvent.Kind, _ one: Class, _ text: [UInt8], _ detail: String = "") {
        let table = one.synced.table
        events.append(
            SyncEvent(
                kind: kind, className: (table.className ?? table.name).text, key: String(decoding: text, as: UTF8.self),
                detail: detail))
    }

    private mutating func remove(_ row: Row, _ text: [UInt8], _ one: Class, _ isCompared: Bool) throws(RealmError) {
        let table = one.synced.table, pending = one.synced.pending
        guard let object = try reading.find(row.key, in: table) else { return }
        if let change = try pending.get(object) {
            // What is unsent is sent first; then the hub tells it again.
            if row.isOutside { return }
            // An object that was made again after the deletion stays.
            if change.state == .created, change.clock > row.clock { return }
            try pending.remove(object)
            report(.overruled, one, text, SyncEvent.deletedOnHub)
        } else if isCompared, !row.isChanged, !row.isOutside {
            return try pending.put(object, PendingObject(state: .created, clock: try nextClock()))
        }
        if row.isOutside { try keepLinks(to: object, text, table) }
        try realm.changing { () throws(RealmError) in try table.group.delete(table, object) }
    }

    /// The unsent changes of a new object, as if the hub had known it.
    private static func changes(of made: PendingObject, _ table: Table) -> PendingObject {
        var all = PendingObject(state: .changed, clock: made.clock)
        for case let facts? in table.facts where facts.type != .backlink && !facts.isPrimaryKey {
            let kind: PendingProperty.Kind = WireText.isMerged(facts, table.group) ? .collection : .set
            all.note(facts.key, kind, clock: made.property(facts.key)?.clock ?? made.clock)
        }
        return all
    }

    private func nextClock() throws(RealmError) -> Int64 {
        let clock = HybridClock.next(after: try tables.integer(.clock), offset: try tables.integer(.offset))
        try tables.set(.clock, clock)
        return clock
    }

    private mutating func store(_ row: Row, _ text: [UInt8], _ one: Class, _ isCompared: Bool) throws(RealmError) {
        let table = one.synced.table, pending = one.synced.pending
        guard let object = try reading.find(row.key, in: table) else {
            guard isCompared, !row.isChanged else { throw Sync.failed("an object disappeared while it was stored") }
            // Another library has deleted it.
            let clock = try nextClock()
            let change = PendingObject(state: .deleted, clock: clock, key: text)
            return try pending.put(try SyncRequests.free(one.synced), change)
        }
        let isNew = made[table.key]?.contains(object) ?? false
        var change = try pending.get(object)
        if isCompared, row.isChanged, one.synced.comparison == .forked, var own = change {
            let count = own.properties.count
            own.properties.removeAll { $0.kind == .add }
            if own.properties.count < count {
                report(.overwritten, one, text, "a sum that a copy of this file may have sent")
                if own.properties.isEmpty, own.state == .changed {
                    try pending.remove(object)
                } else {
                    try pending.put(object, own)
                }
                change = try pending.get(object)
            }
        }
        let before = change
        if let own = change, own.state == .created {
            guard isCompared, one.synced.comparison == .forked else { return }
            // The copy may have sent the new object.
            change = Self.changes(of: own, table)
        }
        for (facts, value) in zip(one.columns, row.values) {
            guard let facts, !facts.isPrimaryKey else { continue }
            guard let known = change?.property(facts.key) else {
                if isCompared, !row.isChanged, !isNew {
                    let wanted = try reading.canonical(value, table, facts)
                    let present = try WireText.property(table, object, facts)
                    if wanted == present { continue }
                    if facts.type == .link || facts.type == .mixed,
                        try reading.canonical(value, table, facts, isShown: true) == present
                    {
                        try put(
                            value, MissingLinks.Place(table: table.key, key: text, column: facts.key), table, object,
                            facts)
                        continue
                    }
                    let clock = try nextClock()
                    var marked = change ?? PendingObject(state: .changed, clock: clock)
                    marked.clock = clock
                    if WireText.isMerged(facts, table.group) {
                        marked.note(facts.key, .collection, clock: clock, before: value.json)
                    } else {
                        marked.note(facts.key, .set, clock: clock)
                    }
                    change = marked
                } else if try put(
                    value, MissingLinks.Place(table: table.key, key: text, column: facts.key), table, object, facts),
                    isCompared, !isNew
                {
                    report(.overwritten, one, text, table.column(facts.key)?.name.text ?? "")
                }
                continue
            }
            switch known.kind {
            case .set: continue
            case .add:
                guard let hub = value.integer else { continue }
                try realm.set(table.key, object, facts.key, .int(hub &+ known.delta))
            case .collection:
                let base = known.before.isEmpty ? SyncRequests.empty(facts) : known.before
                let baseText = try reading.canonical(try JSONValue.parse(base), table, facts)
                if baseText == (try reading.canonical(value, table, facts)) { continue }
                let isFork = isCompared && one.synced.comparison == .forked
                try merge(object, one, facts, base: baseText, hub: value, text, sharesChanges: isFork)
                if let i = change?.properties.firstIndex(where: { $0.column == facts.key }) {
                    change?.properties[i].before = value.json
                }
            }
        }
        if let change, change != before { try pending.put(object, change) }
    }

    /// Gives a collection the changes of both sides.
    mutating func merge(
        _ object: ObjKey, _ one: Class, _ facts: ColumnFacts, base: [UInt8], hub: JSONValue, _ text: [UInt8],
        sharesChanges: Bool = false
    ) throws(RealmError) {
        let table = one.synced.table
        let mine = try JSONValue.parse(try WireText.property(table, object, facts) ?? SyncRequests.empty(facts))
        let other = try JSONValue.parse(try reading.canonical(hub, table, facts))
        let merged = ThreeWayMerge.merge(
            base: try JSONValue.parse(base), mine: mine, hub: other, shape: facts.shape,
            sharesChanges: sharesChanges)
        if try reading.store(merged, table, object, facts) {
            report(.merged, one, text, table.column(facts.key)?.name.text ?? "")
        }
    }

    /// Marks the objects of a compared class that the hub does not know.
    private mutating func addUnknown(_ one: Class, _ deleted: Set<[UInt8]>) throws(RealmError) {
        let table = one.synced.table
        for object in try table.allKeys() {
            guard let text = try WireText.primaryKey(table, object), one.rows[text] == nil else { continue }
            if let change = try one.synced.pending.get(object), change.state == .created { continue }
            try one.synced.pending.put(object, PendingObject(state: .created, clock: try nextClock()))
        }
        try tables.setComparison(one.synced, .none)
        events.append(
            SyncEvent(kind: .compared, className: (table.className ?? table.name).text, count: one.rows.count))
    }
}
