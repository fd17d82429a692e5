/// Reads one value of an old leaf, if its form differs from format 24. Format: old-formats §6.
///
/// The returned bytes point into the file.
enum OldLeaf {
    // MARK: Integers that may be null

    /// Element 0 is the value that means null; an empty leaf may lack it.
    static func nullableCount(_ node: Node) throws(RealmError) -> Int {
        try checkIntegers(node)
        return max(0, node.count - 1)
    }

    static func nullable(_ node: Node, _ i: Int) -> Int64? {
        let value = node.get(i + 1)
        return value == node.get(0) ? nil : value
    }

    static func checkIntegers(_ node: Node) throws(RealmError) {
        guard !node.hasRefs, node.widthType == 0 else { throw .corrupt("not an integer array", at: node.ref.offset) }
    }

    static func integerCount(_ node: Node) throws(RealmError) -> Int {
        try checkIntegers(node)
        return node.count
    }

    static func refCount(_ node: Node) throws(RealmError) -> Int {
        guard node.hasRefs, node.widthType == 0 else {
            throw .corrupt("a node without refs stands where one with refs is expected", at: node.ref.offset)
        }
        return node.count
    }

    static func fixedCount(_ width: Int) -> (Node) throws(RealmError) -> Int {
        return { (node) throws(RealmError) in
            guard node.widthType == 1, node.width == width || node.count == 0, !node.hasRefs else {
                throw .corrupt("not a floating-point leaf", at: node.ref.offset)
            }
            return node.count
        }
    }

    // MARK: Strings and binaries

    static func textCount(_ store: NodeStore) -> (Node) throws(RealmError) -> Int {
        return { (node) throws(RealmError) in
            if node.hasRefs && !node.context { return try store.integers(try node.child(0)).count }
            guard node.hasRefs || node.widthType == 1 else {
                throw .corrupt("string leaf of no known form", at: node.ref.offset)
            }
            return node.count
        }
    }

    static func binaryCount(_ store: NodeStore) -> (Node) throws(RealmError) -> Int {
        return { (node) throws(RealmError) in
            guard node.hasRefs, node.widthType == 0 else {
                throw .corrupt("binary leaf of no known form", at: node.ref.offset)
            }
            return node.context ? node.count : try store.integers(try node.child(0)).count
        }
    }

    /// The string at `i`; nil for null. A non-nullable column has no null.
    static func string(_ store: NodeStore, _ node: Node, _ i: Int, nullable: Bool) throws(RealmError) -> Bytes? {
        if node.hasRefs {
            guard let bytes = node.context ? try big(store, node, i) : try medium(store, node, i, flagOfNull: 0) else {
                return nullable ? nil : empty
            }
            // The oldest writers stored an empty text without its terminating zero byte.
            return Bytes(start: bytes.baseAddress, count: max(0, bytes.count - 1))
        }
        guard i < node.count else { throw .corrupt("string leaf is too short", at: node.ref.offset) }
        guard let text = try StringLeaf.getSmall(node, i) else { return nullable ? nil : empty }
        return text
    }

    /// The binary at `i`; nil for null. Also nil for a binary of more than 16 MB, which is stored in pieces and does
    /// not fit in one node.
    static func binary(_ store: NodeStore, _ node: Node, _ i: Int) throws(RealmError) -> Bytes? {
        node.context ? try big(store, node, i) : try medium(store, node, i, flagOfNull: 1)
    }

    static var empty: Bytes { Bytes(start: UnsafePointer<UInt8>(bitPattern: 8), count: 0) }

    private static func big(_ store: NodeStore, _ node: Node, _ i: Int) throws(RealmError) -> Bytes? {
        let ref = try node.child(i)
        guard !ref.isNull else { return nil }
        let blob = try store.node(ref)
        if blob.hasRefs { return nil }
        guard blob.widthType == 2 else { throw .corrupt("not a blob", at: ref.offset) }
        return blob.blob
    }

    /// A leaf of end offsets, a blob and, if nullable, flags. The flag of null is 0 for strings and 1 for binaries.
    private static func medium(_ store: NodeStore, _ node: Node, _ i: Int, flagOfNull: Int64) throws(RealmError)
        -> Bytes?
    {
        guard node.count == 2 || node.count == 3 else { throw .corrupt("leaf of no known form", at: node.ref.offset) }
        let ends = try store.integers(try node.child(0)), blob = try store.blob(try node.child(1))
        guard i < ends.count else { throw .corrupt("leaf is too short", at: node.ref.offset) }
        if node.count == 3 {
            let flags = try store.integers(try node.child(2))
            guard i < flags.count else { throw .corrupt("leaf is too short", at: node.ref.offset) }
            if (flags.get(i) != 0) == (flagOfNull != 0) { return nil }
        }
        let from = i == 0 ? 0 : ends.get(i - 1), to = ends.get(i)
        guard from >= 0, from <= to, to <= Int64(blob.count) else {
            throw .corrupt("offsets out of order", at: node.ref.offset)
        }
        return Bytes(start: blob.payload + Int(from), count: Int(to - from))
    }
}
