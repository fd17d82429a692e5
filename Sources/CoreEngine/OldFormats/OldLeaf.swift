/// One value of an old leaf, where its form is not that of format 24. Format: old-formats §6.
///
/// Bytes that are given out are those of the file.
enum OldLeaf {
    // MARK: Integers that may be null

    /// Element 0 says which value means null; an empty leaf may lack it.
    static func nullableCount(_ n: Node) throws(RealmError) -> Int {
        try checkIntegers(n)
        return max(0, n.count - 1)
    }

    static func nullable(_ n: Node, _ i: Int) -> Int64? {
        let v = n.get(i + 1)
        return v == n.get(0) ? nil : v
    }

    static func checkIntegers(_ n: Node) throws(RealmError) {
        guard !n.hasRefs, n.widthType == 0 else { throw .corrupt("not an integer array", at: n.ref.offset) }
    }

    static func integerCount(_ n: Node) throws(RealmError) -> Int {
        try checkIntegers(n)
        return n.count
    }

    static func refCount(_ n: Node) throws(RealmError) -> Int {
        guard n.hasRefs, n.widthType == 0 else {
            throw .corrupt("a node without refs stands where one with refs is expected", at: n.ref.offset)
        }
        return n.count
    }

    static func fixedCount(_ width: Int) -> (Node) throws(RealmError) -> Int {
        return { (n) throws(RealmError) in
            guard n.widthType == 1, n.width == width || n.count == 0, !n.hasRefs else {
                throw .corrupt("not a floating-point leaf", at: n.ref.offset)
            }
            return n.count
        }
    }

    // MARK: Strings and binaries

    static func textCount(_ s: NodeStore) -> (Node) throws(RealmError) -> Int {
        return { (n) throws(RealmError) in
            if n.hasRefs && !n.context { return try s.integers(try n.child(0)).count }
            guard n.hasRefs || n.widthType == 1 else {
                throw .corrupt("string leaf of no known form", at: n.ref.offset)
            }
            return n.count
        }
    }

    static func binaryCount(_ s: NodeStore) -> (Node) throws(RealmError) -> Int {
        return { (n) throws(RealmError) in
            guard n.hasRefs, n.widthType == 0 else { throw .corrupt("binary leaf of no known form", at: n.ref.offset) }
            return n.context ? n.count : try s.integers(try n.child(0)).count
        }
    }

    /// The string at `i`; nil for null, which a column that is not nullable has none of.
    static func string(_ s: NodeStore, _ n: Node, _ i: Int, nullable: Bool) throws(RealmError) -> Bytes? {
        if n.hasRefs {
            guard let bytes = n.context ? try big(s, n, i) : try medium(s, n, i, flagOfNull: 0) else {
                return nullable ? nil : empty
            }
            // Oldest writers stored no terminating zero byte of an empty text.
            return Bytes(start: bytes.baseAddress, count: max(0, bytes.count - 1))
        }
        guard i < n.count else { throw .corrupt("string leaf is too short", at: n.ref.offset) }
        guard let text = try StringLeaf.getSmall(n, i) else { return nullable ? nil : empty }
        return text
    }

    /// The binary at `i`; nil for null. One of more than 16 MB, which is stored in pieces, has no place in a node: nil
    /// as well.
    static func binary(_ s: NodeStore, _ n: Node, _ i: Int) throws(RealmError) -> Bytes? {
        n.context ? try big(s, n, i) : try medium(s, n, i, flagOfNull: 1)
    }

    static var empty: Bytes { Bytes(start: UnsafePointer<UInt8>(bitPattern: 8), count: 0) }

    private static func big(_ s: NodeStore, _ n: Node, _ i: Int) throws(RealmError) -> Bytes? {
        let ref = try n.child(i)
        guard !ref.isNull else { return nil }
        let blob = try s.node(ref)
        if blob.hasRefs { return nil }
        guard blob.widthType == 2 else { throw .corrupt("not a blob", at: ref.offset) }
        return blob.blob
    }

    /// End offsets, blob, and flags where there may be nulls: for strings 0 says null, for binaries 1.
    private static func medium(_ s: NodeStore, _ n: Node, _ i: Int, flagOfNull: Int64) throws(RealmError) -> Bytes? {
        guard n.count == 2 || n.count == 3 else { throw .corrupt("leaf of no known form", at: n.ref.offset) }
        let ends = try s.integers(try n.child(0)), blob = try s.blob(try n.child(1))
        guard i < ends.count else { throw .corrupt("leaf is too short", at: n.ref.offset) }
        if n.count == 3 {
            let flags = try s.integers(try n.child(2))
            guard i < flags.count else { throw .corrupt("leaf is too short", at: n.ref.offset) }
            if (flags.get(i) != 0) == (flagOfNull != 0) { return nil }
        }
        let from = i == 0 ? 0 : ends.get(i - 1), to = ends.get(i)
        guard from >= 0, from <= to, to <= Int64(blob.count) else {
            throw .corrupt("offsets out of order", at: n.ref.offset)
        }
        return Bytes(start: blob.payload + Int(from), count: Int(to - from))
    }
}
