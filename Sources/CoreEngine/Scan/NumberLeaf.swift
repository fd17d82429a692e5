/// A leaf of numbers, opened and checked for the rows of one cluster.
struct NumberLeaf {
    private let node: Node

    /// The numbers that mean null in columns of doubles and floats.
    static let nullDouble = FloatLeaf.nullDouble, nullFloat = FloatLeaf.nullFloat

    /// The leaf of a column of integers: an element for each of `count` rows, behind `more` other elements.
    @inline(__always) init(integers store: NodeStore, _ leaf: Ref, count: Int, more: Int = 0) throws(RealmError) {
        node = try Self.checked(try LeafNodes.integers(store, leaf), count &+ more)
    }

    /// The leaf of a column of floats (`width` 4) or doubles (8).
    @inline(__always) init(floats store: NodeStore, _ leaf: Ref, count: Int, width: Int) throws(RealmError) {
        node = try Self.checked(try FloatLeaf.node(store, leaf, width: width), count)
    }

    @inline(__always) private static func checked(_ node: Node, _ needed: Int) throws(RealmError) -> Node {
        guard node.count >= needed else { throw .corrupt("leaf is too short", at: node.ref.offset) }
        return node
    }

    @inline(__always) subscript(row: Int) -> Int64 { node.get(row) }

    @inline(__always) func double(_ row: Int) -> UInt64 { FloatLeaf.double(node, row) }

    @inline(__always) func float(_ row: Int) -> UInt32 { FloatLeaf.float(node, row) }

    /// Copies elements `first` + row of an integer leaf as 64-bit integers.
    @inline(__always) func copy(
        _ first: Int, _ rows: UnsafeBufferPointer<UInt16>, to: UnsafeMutablePointer<Int64>
    ) {
        switch node.width {
        case 64: copy(node.payload.assumingMemoryBound(to: Int64.self) + first, rows, to)
        case 32: copy(node.payload.assumingMemoryBound(to: Int32.self) + first, rows, to)
        case 16: copy(node.payload.assumingMemoryBound(to: Int16.self) + first, rows, to)
        case 8: copy(node.payload.assumingMemoryBound(to: Int8.self) + first, rows, to)
        default: for i in 0..<rows.count { to[i] = node.get(Int(rows[i]) &+ first) }
        }
    }

    @inline(__always)
    private func copy(
        _ pointer: UnsafePointer<some FixedWidthInteger>, _ rows: UnsafeBufferPointer<UInt16>,
        _ to: UnsafeMutablePointer<Int64>
    ) {
        for i in 0..<rows.count { to[i] = Int64(truncatingIfNeeded: pointer[Int(rows[i])]) }
    }
}

/// A leaf of timestamps, opened and checked for the rows of one cluster.
struct TimestampRows {
    private let seconds: NumberLeaf
    private let rest: NumberLeaf

    /// The seconds that mean null.
    private let null: Int64

    init(_ store: NodeStore, _ leaf: Ref, count: Int) throws(RealmError) {
        let parts = try LeafNodes.refs(store, leaf)
        seconds = try NumberLeaf(integers: store, try parts.child(0), count: count, more: 1)
        rest = try NumberLeaf(integers: store, try parts.child(1), count: count)
        null = seconds[0]
    }

    /// nil: null.
    @inline(__always) subscript(row: Int) -> Timestamp? {
        let second = seconds[row &+ 1]
        guard second != null else { return nil }
        return Timestamp(seconds: second, nanoseconds: Int32(truncatingIfNeeded: rest[row]))
    }
}
