/// The age of a table state, compared with all tables that were ever in the same place. Format: logical §1, §2.
struct TableAge: Comparable {
    /// Incremented for each table removed from the place.
    let tag: UInt32

    /// Incremented by each commit that changes the table; 0 if there is no table.
    let version: UInt64

    init(_ table: FoundTable) { (tag, version) = (table.key.raw >> 16, table.contentVersion) }

    init(_ top: NodeScan.TableTop) { (tag, version) = (top.key.raw >> 16, top.contentVersion) }

    /// An empty place stores the tag of the next table.
    init(vacant tag: UInt64) { (self.tag, version) = (UInt32(truncatingIfNeeded: tag), 0) }

    static func < (a: TableAge, b: TableAge) -> Bool { (a.tag, a.version) < (b.tag, b.version) }

    /// Whether at most one commit lies between this state and an older one.
    func follows(_ older: TableAge) -> Bool {
        self == older || tag == older.tag && version == older.version &+ 1 || tag == older.tag &+ 1
    }
}

/// An array of table tops found by a scan: all tables of one version, with or without its top array.
struct TableArray {
    let ref: Ref

    /// One per place; nil if the top array of the table cannot be read.
    let ages: [TableAge?]

    /// - Returns: nil if the node cannot be such an array: a table is in the wrong place, or too few tables are
    ///   readable.
    init?(_ store: NodeStore, _ node: Node) {
        guard node.count > 0, node.count <= 0x1_0000 else { return nil }
        var ages: [TableAge?] = [], found = 0, others = 0
        for i in 0..<node.count {
            guard let slot = try? node.slot(i), !slot.isNull else { return nil }
            if let tag = slot.number {
                guard tag <= 0x7FFF else { return nil }
                ages.append(TableAge(vacant: tag))
            } else if let child = try? store.refsNode(slot.ref), let top = NodeScan.TableTop(store, child) {
                guard top.key.index == i else { return nil }
                ages.append(TableAge(top))
                found += 1
            } else {
                ages.append(nil)
                others += 1
                guard others <= found + 2 else { return nil }
            }
        }
        guard found > 0 else { return nil }
        (ref, self.ages) = (node.ref, ages)
    }

    /// Whether any table is newer than the same table of the other array.
    func isNewer(than other: TableArray) -> Bool {
        zip(ages, other.ages).contains { if let a = $0, let b = $1 { a > b } else { false } }
    }

    /// Whether this array may belong to the version directly after that of the other array.
    func mayFollow(_ other: TableArray) -> Bool {
        ages.count >= other.ages.count
            && zip(ages, other.ages).allSatisfy { if let a = $0, let b = $1 { a.follows(b) } else { true } }
    }
}

extension [TableArray] {
    /// The array with the most tables of which no newer state was found.
    func newest() -> TableArray? {
        var last: [TableAge] = []
        for array in self {
            for (i, age) in array.ages.enumerated() {
                let age = age ?? TableAge(vacant: 0)
                if i == last.count { last.append(age) } else { last[i] = Swift.max(last[i], age) }
            }
        }
        let score = { (a: TableArray) in zip(a.ages, last).count { $0 == $1 } }
        return self.max { (score($0), $0.ages.count) < (score($1), $1.ages.count) }
    }
}
