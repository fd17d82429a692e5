/// The objects of a table, merged from all roots: each range of keys comes from the first root that knows its objects.
final class MergedRows {
    /// Some rows of a leaf, in key order.
    struct Piece {
        let root: Int
        let leaf: Int
        let rows: Range<Int>
    }

    struct Place {
        let root: Int
        let leaf: Int
        let row: Int
        let key: ObjKey
    }

    /// One per root; nil for a root without the table.
    let sources: [FoundRows?]
    private(set) var pieces: [Piece] = []

    /// Ranges of keys that no root knows.
    private(set) var unknown: [ClosedRange<UInt64>] = []
    var objects: Int { pieces.reduce(0) { $0 + $1.rows.count } }

    /// Number of objects from other roots than the first one with the table.
    var older: Int { pieces.reduce(0) { $0 + ($1.root == first ? 0 : $1.rows.count) } }

    /// The first root that has the table.
    let first: Int

    /// Number of objects that are known to have existed and were not found; nil if unknown.
    var lost: Int? {
        guard !unknown.isEmpty else { return 0 }
        guard first < sources.count, let own = sources[first], let count = own.lostCount else { return nil }
        return max(0, count - older)
    }

    init(_ sources: [FoundRows?]) {
        self.sources = sources
        first = sources.firstIndex { $0 != nil } ?? 0
        collect(0...UInt64(Int64.max), from: first)
    }

    private func collect(_ range: ClosedRange<UInt64>, from root: Int) {
        guard root < sources.count else {
            unknown.append(range)
            return
        }
        guard let source = sources[root] else { return collect(range, from: root + 1) }
        // Leaves and unknown ranges do not overlap, so both are processed in key order.
        var holes = source.unknown.filter { $0.overlaps(range) }.sorted { $0.lowerBound < $1.lowerBound }[...]
        var i = source.firstLeaf(from: range.lowerBound)
        while i < source.leaves.count || !holes.isEmpty {
            let start = i < source.leaves.count ? source.leaves[i].first : .max
            if let hole = holes.first, hole.lowerBound <= start {
                holes.removeFirst()
                collect(hole.clamped(to: range), from: root + 1)
                continue
            }
            guard i < source.leaves.count, start <= range.upperBound else {
                if holes.isEmpty { break }
                i = source.leaves.count
                continue
            }
            let from = source.position(i, range.lowerBound)
            let to = range.upperBound == .max ? source.leaves[i].count : source.position(i, range.upperBound &+ 1)
            if from < to { pieces.append(Piece(root: root, leaf: i, rows: from..<to)) }
            i += 1
        }
    }

    /// Calls `body` for each object of the clusters that no root leads to, with a null key.
    func eachStray(_ body: (Place) throws(RealmError) -> Void) throws(RealmError) {
        guard let strays else { return }
        for (i, leaf) in strays.leaves.enumerated() {
            for row in 0..<leaf.count { try body(Place(root: sources.count, leaf: i, row: row, key: .null)) }
        }
    }

    /// Calls `body` for each object, in key order within each piece.
    func eachObject(_ body: (Place) throws(RealmError) -> Void) throws(RealmError) {
        for piece in pieces {
            guard let source = sources[piece.root] else { continue }
            for row in piece.rows {
                guard let key = source.key(piece.leaf, row) else { continue }
                try body(Place(root: piece.root, leaf: piece.leaf, row: row, key: ObjKey(Int64(bitPattern: key))))
            }
        }
    }

    /// Finds the object with a key.
    func place(of key: ObjKey) -> Place? {
        let raw = UInt64(bitPattern: key.raw)
        guard key.raw >= 0 else { return nil }
        for (root, source) in sources.enumerated() {
            guard let source else { continue }
            if let at = source.find(raw) { return Place(root: root, leaf: at.leaf, row: at.row, key: key) }
            if !source.unknown.contains(where: { $0.contains(raw) }) { return nil }
        }
        return nil
    }

    /// A value, with the column as described by its root.
    struct Found {
        let value: Mixed
        let column: Column

        /// Format of the root that has the value.
        let format: UInt8

        /// The value comes from another root than the object.
        let isOlder: Bool
    }

    /// Clusters that no root leads to. Their places have a root number that is greater than those of all roots.
    var strays: FoundRows?

    /// The value of a property from the first root that can read it; nil if it is lost.
    func value(_ place: Place, _ key: ColKey) -> Found? {
        guard place.root < sources.count else {
            guard let strays, let column = strays.table.column(key),
                let value = strays.value(place.leaf, place.row, column)
            else {
                return nil
            }
            return Found(value: value, column: column, format: strays.table.format, isOlder: false)
        }
        if let source = sources[place.root], let column = source.table.column(key),
            let value = source.value(place.leaf, place.row, column)
        {
            return Found(value: value, column: column, format: source.table.format, isOlder: false)
        }
        for root in place.root + 1..<max(sources.count, place.root + 1) {
            guard let source = sources[root], let column = source.table.column(key),
                let at = source.find(UInt64(bitPattern: place.key.raw)),
                let value = source.value(at.leaf, at.row, column)
            else { continue }
            return Found(value: value, column: column, format: source.table.format, isOlder: true)
        }
        return nil
    }
}
