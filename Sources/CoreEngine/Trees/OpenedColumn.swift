/// The checked nodes of one column leaf of a cluster, kept open: neighbouring rows are read, and rows are added at the
/// end and filled, without opening it again.
///
/// Invariants
/// 1. While it is valid (its `generation` is its tree's), the nodes are those of the leaf, and `node.count` is the
///    number of its rows.
/// 2. What it changes, it changes in place, in nodes of the slab that have room, and writes their headers at once: the
///    tree is whole after each call. When that is not possible nothing happens, and the leaf is to be changed the
///    general way.
struct OpenedColumn {
    enum Form: UInt8 { case none, int, bool, link, double, float, slot, smallString, mediumString }
    var generation: UInt64 = 0

    /// Value of new rows.
    let initial: Mixed
    private var form = Form.none

    /// The leaf; for medium strings the end offsets.
    private(set) var node = ClusterTree.noNode

    /// The other parts of medium strings; of no meaning for other forms, as `blobRoom`.
    private var blob = ClusterTree.noNode
    private var nulls = ClusterTree.noNode

    /// Rows that there is room for, 0 in a node of the file: rows are only added, and changed, below it.
    private var room = 0

    /// Bytes that the blob has room for.
    private var blobRoom = 0

    init(initial: Mixed) { self.initial = initial }

    /// - Returns: false for forms that are not kept open.
    mutating func open(_ kind: LeafKind, _ leaf: Ref, _ s: NodeStore) throws(RealmError) -> Bool {
        form = .none
        switch kind {
        case .int: try take(.int, s.integers(leaf), s)
        case .bool: try take(.bool, s.integers(leaf), s)
        case .link: try take(.link, s.integers(leaf), s)
        case .double: try take(.double, FloatLeaf.node(s, leaf, width: 8), s)
        case .float: try take(.float, FloatLeaf.node(s, leaf, width: 4), s)
        case .slot: try take(.slot, s.refsNode(leaf), s)
        case .string: return try openString(leaf, s)
        default: return false
        }
        return true
    }

    @inline(__always) private mutating func take(_ form: Form, _ leaf: Node, _ s: NodeStore) throws(RealmError) {
        self.form = form
        node = leaf
        room = Self.room(leaf, s)
    }

    private mutating func openString(_ leaf: Ref, _ s: NodeStore) throws(RealmError) -> Bool {
        let n = try s.node(leaf)
        if n.hasRefs {
            guard !n.context, n.widthType == 0 else { return false }
            let p = try MediumLeaf.parts(s, n)
            (form, node, blob, nulls) = (.mediumString, p.ends, p.blob, p.nulls)
            let isWhole = nulls.count == node.count && blob.width > 0 && blob.ref.offset >= s.slabStart
            room = isWhole ? min(Self.room(node, s), Self.room(nulls, s)) : 0
            blobRoom = isWhole ? s.capacity(blob) : 0
            return true
        }
        guard n.widthType == 1 else { return false }
        try take(.smallString, n, s)
        return true
    }

    @inline(__always) private static func room(_ n: Node, _ s: NodeStore) -> Int {
        guard n.ref.offset >= s.slabStart else { return 0 }
        let bits = n.widthType == 0 ? n.width : n.width &* 8
        return bits == 0 ? Format.clusterCapacity : s.capacity(n) &* 8 / bits
    }

    /// Whether a leaf opened anew is the same, for the assertions of debug builds.
    func isSame(as other: OpenedColumn) -> Bool {
        guard form == other.form, node.isSame(as: other.node), room == other.room else { return false }
        return form != .mediumString
            || blob.isSame(as: other.blob) && nulls.isSame(as: other.nulls) && blobRoom == other.blobRoom
    }

    // MARK: Reading

    /// A value of the forms that most columns have.
    @inline(__always) static func value(_ o: UnsafeMutablePointer<OpenedColumn>, _ row: Int) -> Mixed? {
        guard row < o.pointee.node.count else { return nil }
        switch o.pointee.form {
        case .int: return .int(o.pointee.node.get(row))
        case .double:
            let bits = FloatLeaf.double(o.pointee.node, row)
            return bits == FloatLeaf.nullDouble ? .null : .double(Double(bitPattern: bits))
        case .mediumString:
            guard row < o.pointee.nulls.count else { return nil }
            if o.pointee.nulls.get(row) != 0 { return .null }
            guard let text = MediumLeaf.text(o.pointee.node, o.pointee.blob, row) else { return nil }
            return .string(text)
        case .smallString:
            guard let text = StringLeaf.small(o.pointee.node, row) else { return nil }
            return text.map { .string($0) } ?? .null
        case .bool:
            let v = o.pointee.node.get(row)
            return v == 3 ? .null : .bool(v != 0)
        default: return nil
        }
    }

    /// The integer, number or text in a row, of the forms that most columns of them have; nil where it is to be read in
    /// another way, or is null.
    @inline(__always) static func integer(_ o: UnsafeMutablePointer<OpenedColumn>, _ row: Int) -> Int64? {
        guard o.pointee.form == .int, row < o.pointee.node.count else { return nil }
        return o.pointee.node.get(row)
    }

    @inline(__always) static func double(_ o: UnsafeMutablePointer<OpenedColumn>, _ row: Int) -> Double? {
        guard o.pointee.form == .double, row < o.pointee.node.count else { return nil }
        let bits = FloatLeaf.double(o.pointee.node, row)
        return bits == FloatLeaf.nullDouble ? nil : Double(bitPattern: bits)
    }

    @inline(__always) static func text(_ o: UnsafeMutablePointer<OpenedColumn>, _ row: Int) -> Bytes? {
        guard row < o.pointee.node.count else { return nil }
        switch o.pointee.form {
        case .smallString: return StringLeaf.small(o.pointee.node, row) ?? nil
        case .mediumString:
            guard row < o.pointee.nulls.count, o.pointee.nulls.get(row) == 0 else { return nil }
            return MediumLeaf.text(o.pointee.node, o.pointee.blob, row)
        default: return nil
        }
    }

    /// A value of any form; nil when it is not in order.
    @inline(__always) static func anyValue(_ o: UnsafeMutablePointer<OpenedColumn>, _ row: Int) throws(RealmError)
        -> Mixed?
    {
        guard row < o.pointee.node.count else { return nil }
        switch o.pointee.form {
        case .link:
            let v = o.pointee.node.get(row)
            return v == 0 ? .null : .link(ObjKey(v &- 1))
        case .slot: return .slot(try o.pointee.node.slot(row))
        default: return value(o, row)
        }
    }

    // MARK: Writing

    /// Stores a value in a row, if nothing has to move for that.
    @inline(__always) static func set(_ o: UnsafeMutablePointer<OpenedColumn>, _ s: NodeStore, _ row: Int, _ v: Mixed)
        -> Bool
    {
        guard row < o.pointee.node.count, row < o.pointee.room else { return false }
        switch (o.pointee.form, v) {
        case (.int, .int(let i)): return put(o, row, i)
        case (.double, .double(let d)):
            guard d.bitPattern != FloatLeaf.nullDouble else { return false }
            o.pointee.node.payload.storeBytes(of: d.bitPattern, toByteOffset: row &* 8, as: UInt64.self)
            return true
        case (.mediumString, .string(let b)): return setMedium(o, s, row, b)
        default: return setOther(o, row, v)
        }
    }

    @inline(never) private static func setOther(_ o: UnsafeMutablePointer<OpenedColumn>, _ row: Int, _ v: Mixed) -> Bool
    {
        switch (o.pointee.form, v) {
        case (.link, .link(let key)): return put(o, row, key.raw &+ 1)
        case (.link, .null): return put(o, row, 0)
        case (.bool, .bool(let b)): return put(o, row, b ? 1 : 0)
        case (.bool, .null): return put(o, row, 3)
        case (.float, .float(let f)):
            guard f.bitPattern != FloatLeaf.nullFloat else { return false }
            o.pointee.node.payload.storeBytes(of: f.bitPattern, toByteOffset: row &* 4, as: UInt32.self)
            return true
        case (.slot, .slot(let slot)):
            guard o.pointee.node.width == 64 else { return false }
            o.pointee.node.payload.storeBytes(of: slot.raw, toByteOffset: row &* 8, as: Int64.self)
            return true
        case (.smallString, .string(let b)):
            guard b.count < o.pointee.node.width, b.count <= StringLeaf.smallLimit else { return false }
            StringLeaf.putSmall(o.pointee.node, row, b)
            return true
        default: return false
        }
    }

    @inline(__always) private static func put(_ o: UnsafeMutablePointer<OpenedColumn>, _ row: Int, _ v: Int64) -> Bool {
        guard Widths.fits(v, o.pointee.node.width) else { return false }
        o.pointee.node.put(row, v)
        return true
    }

    /// The text of the last row: what is behind its beginning is its own.
    @inline(__always) private static func setMedium(
        _ o: UnsafeMutablePointer<OpenedColumn>, _ s: NodeStore, _ row: Int, _ text: Bytes
    ) -> Bool {
        let ends = o.pointee.node
        guard row == ends.count &- 1, text.count <= StringLeaf.mediumLimit, ends.get(row) == Int64(o.pointee.blob.count)
        else { return false }
        let start = row == 0 ? 0 : ends.get(row &- 1)
        guard start >= 0, start <= Int64(o.pointee.blob.count) else { return false }
        let end = Int(start) &+ text.count
        guard end < o.pointee.blobRoom, Widths.fits(Int64(end &+ 1), ends.width) else { return false }
        if let p = text.baseAddress { Platform.move(o.pointee.blob.payload + Int(start), p, text.count) }
        endMedium(o, s, row, end, isNull: false)
        return true
    }

    /// Closes the last text with its zero.
    @inline(__always) private static func endMedium(
        _ o: UnsafeMutablePointer<OpenedColumn>, _ s: NodeStore, _ row: Int, _ end: Int, isNull: Bool
    ) {
        o.pointee.blob.payload.storeBytes(of: 0, toByteOffset: end, as: UInt8.self)
        o.pointee.blob.count = end &+ 1
        s.storeHeader(o.pointee.blob)
        o.pointee.node.put(row, Int64(end &+ 1))
        o.pointee.nulls.put(row, isNull ? 1 : 0)
    }

    /// Adds a value as row `row`, the one after the last, if nothing has to move for that.
    @inline(__always) static func append(
        _ o: UnsafeMutablePointer<OpenedColumn>, _ s: NodeStore, _ row: Int, _ v: Mixed
    ) -> Bool {
        guard row == o.pointee.node.count, row < o.pointee.room else { return false }
        switch (o.pointee.form, v) {
        case (.int, .int(let i)): return appendInteger(o, s, row, i)
        case (.link, .null): return appendInteger(o, s, row, 0)
        case (.bool, .bool(let b)): return appendInteger(o, s, row, b ? 1 : 0)
        case (.bool, .null): return appendInteger(o, s, row, 3)
        case (.double, .double(let d)):
            guard d.bitPattern != FloatLeaf.nullDouble else { return false }
            o.pointee.node.payload.storeBytes(of: d.bitPattern, toByteOffset: row &* 8, as: UInt64.self)
        case (.double, .null):
            o.pointee.node.payload.storeBytes(of: FloatLeaf.nullDouble, toByteOffset: row &* 8, as: UInt64.self)
        case (.float, .float(let f)):
            guard f.bitPattern != FloatLeaf.nullFloat else { return false }
            o.pointee.node.payload.storeBytes(of: f.bitPattern, toByteOffset: row &* 4, as: UInt32.self)
        case (.float, .null):
            o.pointee.node.payload.storeBytes(of: FloatLeaf.nullFloat, toByteOffset: row &* 4, as: UInt32.self)
        case (.slot, .slot(let slot)):
            guard o.pointee.node.width == 64 else { return false }
            o.pointee.node.payload.storeBytes(of: slot.raw, toByteOffset: row &* 8, as: Int64.self)
        case (.smallString, .string(let b)):
            guard b.count < o.pointee.node.width, b.count <= StringLeaf.smallLimit else { return false }
            StringLeaf.putSmall(o.pointee.node, row, b)
        case (.smallString, .null): StringLeaf.putSmall(o.pointee.node, row, nil)
        case (.mediumString, .string(let b)):
            guard b.count == 0 else { return false }
            return appendEmpty(o, s, row, isNull: false)
        case (.mediumString, .null): return appendEmpty(o, s, row, isNull: true)
        default: return false
        }
        o.pointee.node.count = row &+ 1
        s.storeHeader(o.pointee.node)
        return true
    }

    @inline(__always) private static func appendInteger(
        _ o: UnsafeMutablePointer<OpenedColumn>, _ s: NodeStore, _ row: Int, _ v: Int64
    ) -> Bool {
        guard put(o, row, v) else { return false }
        o.pointee.node.count = row &+ 1
        s.storeHeader(o.pointee.node)
        return true
    }

    /// An empty text, or null: nothing but its zero.
    @inline(__always) private static func appendEmpty(
        _ o: UnsafeMutablePointer<OpenedColumn>, _ s: NodeStore, _ row: Int, isNull: Bool
    ) -> Bool {
        let end = o.pointee.blob.count
        guard end < o.pointee.blobRoom, Widths.fits(Int64(end &+ 1), o.pointee.node.width),
            Widths.fits(isNull ? 1 : 0, o.pointee.nulls.width)
        else {
            return false
        }
        endMedium(o, s, row, end, isNull: isNull)
        o.pointee.node.count = row &+ 1
        o.pointee.nulls.count = row &+ 1
        s.storeHeader(o.pointee.node)
        s.storeHeader(o.pointee.nulls)
        return true
    }
}
