/// The objects that a deletion removes, if rules delete further objects with them, or forbid the deletion.
///
/// Invariants
/// 1. An object is in the plan once.
/// 2. When `complete` returns, the plan contains each object that a rule adds because of an object of the plan, and no
///    rule forbids the deletion of an object of the plan.
/// 3. The plan changes nothing: a refused deletion has deleted no object.
///
/// The plan uses no recursion, so long chains of objects need no stack.
struct DeletionPlan {
    private let group: Group
    private let rules: GroupRules

    /// Per table index: the objects in the order in which they were added.
    private var parts: [Part?] = []

    /// Objects whose own rules were not followed yet, by table index.
    private var open: [Int] = []

    /// Objects that are deleted with the last object that refers to them (its *referrer*). The key is a referrer that
    /// is not in the plan.
    private var waiting: [ObjectAddress: [ObjectAddress]] = [:]

    /// For each waiting object, the place of its referrer that is not in the plan. All referrers before this place are
    /// in the plan, so the search goes on from here and examines each referrer once.
    private var stops: [ObjectAddress: (column: Int, place: Int)] = [:]

    /// Waiting objects whose referrer was added to the plan: the search for another referrer goes on.
    private var woken: [ObjectAddress] = []

    private final class Part {
        let table: Table
        var keys: [ObjKey] = []
        let members = GrowingKeySet()

        /// Number of keys whose rules were followed.
        var followed = 0

        private var isSorted = true

        init(_ table: Table) { self.table = table }

        @inline(__always) func append(_ key: ObjKey) {
            if let last = keys.last, last > key { isSorted = false }
            keys.append(key)
        }

        func sort() {
            if !isSorted { keys.sort() }
            isSorted = true
        }

        var nextToFollow: ObjKey? {
            guard followed < keys.count else { return nil }
            followed += 1
            return keys[followed - 1]
        }
    }

    struct ObjectAddress: Hashable {
        let table: TableKey
        let key: ObjKey
    }

    init(_ group: Group, _ rules: GroupRules) {
        self.group = group
        self.rules = rules
    }

    /// The objects, table by table. In the order of their keys, so that neighbours are removed together.
    var objects: [(table: Table, keys: [ObjKey])] {
        parts.compactMap { part in
            guard let part else { return nil }
            part.sort()
            return (part.table, part.keys)
        }
    }

    private func contains(_ table: TableKey, _ key: ObjKey) -> Bool {
        guard table.index < parts.count else { return false }
        return parts[table.index]?.members.contains(key) ?? false
    }

    /// Adds an object. An object that does not exist may be added: it has no links, and is not deleted.
    mutating func add(_ table: Table, _ key: ObjKey) throws(RealmError) {
        let index = table.tableIndex
        while parts.count <= index { parts.append(nil) }
        let part = parts[index] ?? Part(table)
        parts[index] = part
        guard part.members.insert(key) else { return }
        if part.keys.count == part.followed { open.append(index) }
        part.append(key)
        guard !waiting.isEmpty, let others = waiting.removeValue(forKey: ObjectAddress(table: table.key, key: key))
        else { return }
        woken += others
    }

    /// Follows all rules.
    ///
    /// - Throws: 9006 when a rule forbids the deletion.
    mutating func complete() throws(RealmError) {
        while true {
            if let next = woken.popLast() {
                try search(next, from: stops.removeValue(forKey: next) ?? (0, 0))
                continue
            }
            guard let index = open.last else { break }
            guard let part = parts[index], part.followed < part.keys.count else {
                open.removeLast()
                continue
            }
            try follow(part)
        }
        try checkAllowed()
    }

    /// Follows the rules of the objects of one table that were added since the last time.
    private mutating func follow(_ part: Part) throws(RealmError) {
        let table = part.table
        let own = rules[table.key]
        var outgoing: [(ColumnFacts, DeleteRule)] = [], incoming: [ColumnFacts] = []
        for case let column? in table.facts {
            if column.type == .backlink {
                if rules[column.oppositeTable]?.rule(onTargetDelete: column.oppositeColumn) == .cascade {
                    incoming.append(column)
                }
            } else if column.holdsLinks {
                let rule = own?.rule(onDelete: column.key) ?? .nullify
                // An embedded object is deleted with its owner, and may have rules itself.
                let target = column.type == .link ? try group.table(column.oppositeTable) : nil
                let isOwner = target?.isEmbedded ?? false
                if isOwner {
                    outgoing.append((column, .cascade))
                } else if rule == .cascade || rule == .cascadeLast {
                    outgoing.append((column, rule))
                }
            }
        }
        var targets: [ObjectAddress] = []
        if outgoing.isEmpty, incoming.isEmpty { part.followed = part.keys.count }
        while let key = part.nextToFollow {
            try table.test()
            for (column, rule) in outgoing {
                targets.removeAll(keepingCapacity: true)
                try table.forEachTarget(key, column) { (target, object) throws(RealmError) in
                    targets.append(ObjectAddress(table: target, key: object))
                }
                var other: Table?
                for target in targets {
                    if other?.key != target.table { other = try group.table(target.table) }
                    guard let other else { continue }
                    if rule == .cascade { try add(other, target.key) } else { try reconsider(target) }
                }
            }
            for column in incoming {
                guard let origin = try group.table(column.oppositeTable) else { continue }
                for from in try table.backlinks(key, column.key).allKeys() { try add(origin, from) }
            }
        }
    }

    /// Adds an object if all its referrers are in the plan; otherwise the object waits for a referrer that is not.
    private mutating func reconsider(_ address: ObjectAddress) throws(RealmError) {
        guard stops[address] == nil else { return }
        try search(address, from: (0, 0))
    }

    private mutating func search(
        _ address: ObjectAddress, from start: (column: Int, place: Int)
    ) throws(RealmError) {
        let key = address.key
        guard !contains(address.table, key), let table = try group.table(address.table), try table.isValid(key) else {
            return
        }
        var place = start.place
        for index in start.column..<table.facts.count {
            defer { place = 0 }
            guard let backlink = table.facts[index], backlink.type == .backlink,
                try group.table(backlink.oppositeTable)?.facts(backlink.oppositeColumn) != nil
            else { continue }
            let links = try table.backlinks(key, backlink.key)
            while place < links.count {
                try table.test()
                let from = try links.key(at: place)
                if from != key || backlink.oppositeTable != address.table, !contains(backlink.oppositeTable, from) {
                    waiting[ObjectAddress(table: backlink.oppositeTable, key: from), default: []].append(address)
                    stops[address] = (index, place)
                    return
                }
                place += 1
            }
        }
        try add(table, key)
    }

    // MARK: Refusing

    private func checkAllowed() throws(RealmError) {
        for case let part? in parts {
            let table = part.table
            let own = rules[table.key]
            for case let column? in table.facts {
                if column.type == .backlink {
                    guard rules[column.oppositeTable]?.rule(onTargetDelete: column.oppositeColumn) == .deny else {
                        continue
                    }
                    for key in part.keys {
                        let all = try table.backlinks(key, column.key).allKeys()
                        guard let from = all.first(where: { !contains(column.oppositeTable, $0) }) else { continue }
                        throw try refusal(table, key, by: column.oppositeTable, from, column.oppositeColumn)
                    }
                } else if column.holdsLinks, own?.rule(onDelete: column.key) == .deny {
                    for key in part.keys {
                        try table.forEachTarget(key, column) { (target, object) throws(RealmError) in
                            guard !contains(target, object) else { return }
                            let name = table.column(column.key)?.name ?? ""
                            throw RealmError(
                                .ruleBroken,
                                "\(try Self.text(table, key)) cannot be deleted: its property '\(name)' still has "
                                    + "\(try Self.text(group, target, object)), and has the rule 'deny'")
                        }
                    }
                }
            }
        }
    }

    private func refusal(
        _ table: Table, _ key: ObjKey, by origin: TableKey, _ from: ObjKey, _ column: ColKey
    ) throws(RealmError) -> RealmError {
        let name = try group.table(origin)?.column(column)?.name ?? ""
        return RealmError(
            .ruleBroken,
            "\(try Self.text(table, key)) cannot be deleted: property '\(name)' of "
                + "\(try Self.text(group, origin, from)) refers to it, and has the rule 'deny'")
    }

    private static func text(_ group: Group, _ table: TableKey, _ key: ObjKey) throws(RealmError) -> String {
        guard let table = try group.table(table) else { return "object \(key.raw)" }
        return try text(table, key)
    }

    private static func text(_ table: Table, _ key: ObjKey) throws(RealmError) -> String {
        try table.description(of: key)
    }
}

extension Group {
    /// Deletes objects and, as the rules of the file say, other objects with them.
    ///
    /// - Throws: 9006 when a rule forbids it; then no object was deleted.
    func deleteByRules(_ table: Table, _ keys: [ObjKey]) throws(RealmError) {
        guard let rules, rules.hasDeletionRules else { return try delete(table, keys) }
        var plan = DeletionPlan(self, rules)
        for key in keys { try plan.add(table, key) }
        try plan.complete()
        try deleteTogether(plan.objects)
    }

    /// Deletes an object in the same way.
    func deleteByRules(_ table: Table, _ key: ObjKey) throws(RealmError) {
        guard let rules, rules.hasDeletionRules else { return try delete(table, key) }
        try deleteByRules(table, [key])
    }

    /// Deletes objects of several tables together.
    func deleteByRules(_ objects: [(table: Table, keys: [ObjKey])]) throws(RealmError) {
        guard let rules, rules.hasDeletionRules else {
            for (table, keys) in objects { try deleteTogether([(table, keys)]) }
            return
        }
        var plan = DeletionPlan(self, rules)
        for (table, keys) in objects { for key in keys { try plan.add(table, key) } }
        try plan.complete()
        try deleteTogether(plan.objects)
    }
}

/// A set of object keys that grows. Open addressing over raw memory.
final class GrowingKeySet {
    private var slots: UnsafeMutablePointer<Int64>
    private var mask: Int
    private(set) var count = 0

    init() {
        mask = 15
        slots = .allocate(capacity: 16)
        slots.initialize(repeating: -1, count: 16)
    }

    deinit { slots.deallocate() }

    @inline(__always) private func slot(_ raw: Int64) -> Int {
        var index = Int(truncatingIfNeeded: (UInt64(bitPattern: raw) &* 0x9E37_79B9_7F4A_7C15) >> 20) & mask
        while slots[index] != raw && slots[index] != -1 { index = (index &+ 1) & mask }
        return index
    }

    func contains(_ key: ObjKey) -> Bool { key.raw >= 0 && slots[slot(key.raw)] == key.raw }

    /// - Returns: whether the key was added. Negative keys are never members.
    func insert(_ key: ObjKey) -> Bool {
        guard key.raw >= 0 else { return false }
        let index = slot(key.raw)
        if slots[index] == key.raw { return false }
        slots[index] = key.raw
        count += 1
        if count * 2 > mask { grow() }
        return true
    }

    private func grow() {
        let old = slots, size = mask + 1
        mask = size * 2 - 1
        slots = .allocate(capacity: size * 2)
        slots.initialize(repeating: -1, count: size * 2)
        for i in 0..<size where old[i] != -1 { slots[slot(old[i])] = old[i] }
        old.deallocate()
    }
}
