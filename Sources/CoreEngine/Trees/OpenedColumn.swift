/// The checked nodes of one column leaf of a cluster, kept open: rows of the leaf are read, appended and set without
/// opening it again.
///
/// Invariants
/// 1. While it is valid (its `generation` equals that of its tree), the nodes are those of the leaf, and `node.count`
///    is the number of rows.
/// 2. All changes are made in place, in slab nodes with enough room, and the headers are updated at once: the tree is
///    consistent after each call. If a change in place is not possible, nothing changes, and the caller changes the
///    leaf the general way.
struct OpenedColumn {
    enum Form: UInt8 { case none, int, bool, link, double, float, slot, smallString, mediumString }
    var generation: UInt64 = 0

    /// The value for new rows.
    let initial: Mixed
    private var form = Form.none

    /// The leaf; for medium strings the end offsets.
    private(set) var node = ClusterTree.noNode

    /// The other parts of medium strings; unused in other forms, like `blobRoom`.
    private var blob = ClusterTree.noNode
    private var nulls = ClusterTree.noNode

    /// Row capacity; 0 for nodes in the file. Only rows below it are appended or changed in place.
    private var room = 0

    /// Byte capacity of the blob.
    private var blobRoom = 0

    init(initial: Mixed) { self.initial = initial }

    /// - Returns: false for forms that cannot be kept open.
    mutating func open(_ kind: LeafKind, _ leaf: Ref, _ store: NodeStore) throws(RealmError) -> Bool {
        form = .none
        switch kind {
        case .int: try take(.int, store.integers(leaf), store)
        case .bool: try take(.bool, store.integers(leaf), store)
        case .link: try take(.link, store.integers(leaf), store)
        case .double: try take(.double, FloatLeaf.node(store, leaf, width: 8), store)
        case .float: try take(.float, FloatLeaf.node(store, leaf, width: 4), store)
        case .slot: try take(.slot, store.refsNode(leaf), store)
        case .string: return try openString(leaf, store)
        default: return false
        }
        return true
    }

    @inline(__always) private mutating func take(_ form: Form, _ leaf: Node, _ store: NodeStore) throws(RealmError) {
        self.form = form
        node = leaf
        room = Self.room(leaf, store)
    }

    private mutating func openString(_ leaf: Ref, _ store: NodeStore) throws(RealmError) -> Bool {
        let leafNode = try store.node(leaf)
        if leafNode.hasRefs {
            guard !leafNode.context, leafNode.widthType == 0 else { return false }
            let parts = try MediumLeaf.parts(store, leafNode)
            (form, node, blob, nulls) = (.mediumString, parts.ends, parts.blob, parts.nulls)
            let isWhole = nulls.count == node.count && blob.width > 0 && store.isOwn(blob.ref)
            room = isWhole ? min(Self.room(node, store), Self.room(nulls, store)) : 0
            blobRoom = isWhole ? store.capacity(blob) : 0
            return true
        }
        guard leafNode.widthType == 1 else { return false }
        try take(.smallString, leafNode, store)
        return true
    }

    @inline(__always) private static func room(_ node: Node, _ store: NodeStore) -> Int {
        guard store.isOwn(node.ref) else { return 0 }
        let bits = node.widthType == 0 ? node.width : node.width &* 8
        return bits == 0 ? Format.clusterCapacity : store.capacity(node) &* 8 / bits
    }

    /// Whether another opened column describes the same nodes; for assertions in debug builds.
    func isSame(as other: OpenedColumn) -> Bool {
        guard form == other.form, node.isSame(as: other.node), room == other.room else { return false }
        return form != .mediumString
            || blob.isSame(as: other.blob) && nulls.isSame(as: other.nulls) && blobRoom == other.blobRoom
    }

    // MARK: Reading

    /// The value in a row, for the forms that most columns have; nil means "take the slow path".
    @inline(__always) static func value(_ column: UnsafeMutablePointer<OpenedColumn>, _ row: Int) -> Mixed? {
        guard row < column.pointee.node.count else { return nil }
        switch column.pointee.form {
        case .int: return .int(column.pointee.node.get(row))
        case .double:
            let bits = FloatLeaf.double(column.pointee.node, row)
            return bits == FloatLeaf.nullDouble ? .null : .double(Double(bitPattern: bits))
        case .mediumString:
            guard row < column.pointee.nulls.count else { return nil }
            if column.pointee.nulls.get(row) != 0 { return .null }
            guard let text = MediumLeaf.text(column.pointee.node, column.pointee.blob, row) else { return nil }
            return .string(text)
        case .smallString:
            guard let text = StringLeaf.small(column.pointee.node, row) else { return nil }
            return text.map { .string($0) } ?? .null
        case .bool:
            let value = column.pointee.node.get(row)
            return value == 3 ? .null : .bool(value != 0)
        default: return nil
        }
    }

    /// The integer, number or text in a row, for the forms that most columns have; nil if the value is null or needs
    /// the slow path.
    @inline(__always) static func integer(_ column: UnsafeMutablePointer<OpenedColumn>, _ row: Int) -> Int64? {
        guard column.pointee.form == .int, row < column.pointee.node.count else { return nil }
        return column.pointee.node.get(row)
    }

    @inline(__always) static func double(_ column: UnsafeMutablePointer<OpenedColumn>, _ row: Int) -> Double? {
        guard column.pointee.form == .double, row < column.pointee.node.count else { return nil }
        let bits = FloatLeaf.double(column.pointee.node, row)
        return bits == FloatLeaf.nullDouble ? nil : Double(bitPattern: bits)
    }

    @inline(__always) static func text(_ column: UnsafeMutablePointer<OpenedColumn>, _ row: Int) -> Bytes? {
        guard row < column.pointee.node.count else { return nil }
        switch column.pointee.form {
        case .smallString: return StringLeaf.small(column.pointee.node, row) ?? nil
        case .mediumString:
            guard row < column.pointee.nulls.count, column.pointee.nulls.get(row) == 0 else { return nil }
            return MediumLeaf.text(column.pointee.node, column.pointee.blob, row)
        default: return nil
        }
    }

    /// The value in a row, for any form; nil if the value is damaged.
    @inline(__always) static func anyValue(_ column: UnsafeMutablePointer<OpenedColumn>, _ row: Int) throws(RealmError)
        -> Mixed?
    {
        guard row < column.pointee.node.count else { return nil }
        switch column.pointee.form {
        case .link:
            let raw = column.pointee.node.get(row)
            return raw == 0 ? .null : .link(ObjKey(raw &- 1))
        case .slot: return .slot(try column.pointee.node.slot(row))
        default: return value(column, row)
        }
    }

    // MARK: Writing

    /// Stores a value in a row in place; false if nodes would have to move.
    @inline(__always) static func set(
        _ column: UnsafeMutablePointer<OpenedColumn>, _ store: NodeStore, _ row: Int, _ value: Mixed
    )
        -> Bool
    {
        guard row < column.pointee.node.count, row < column.pointee.room else { return false }
        switch (column.pointee.form, value) {
        case (.int, .int(let integer)): return put(column, row, integer)
        case (.double, .double(let number)):
            guard number.bitPattern != FloatLeaf.nullDouble else { return false }
            column.pointee.node.payload.storeBytes(of: number.bitPattern, toByteOffset: row &* 8, as: UInt64.self)
            return true
        case (.mediumString, .string(let text)): return setMedium(column, store, row, text)
        default: return setOther(column, row, value)
        }
    }

    @inline(never) private static func setOther(
        _ column: UnsafeMutablePointer<OpenedColumn>, _ row: Int, _ value: Mixed
    ) -> Bool {
        switch (column.pointee.form, value) {
        case (.link, .link(let key)): return put(column, row, key.raw &+ 1)
        case (.link, .null): return put(column, row, 0)
        case (.bool, .bool(let flag)): return put(column, row, flag ? 1 : 0)
        case (.bool, .null): return put(column, row, 3)
        case (.float, .float(let number)):
            guard number.bitPattern != FloatLeaf.nullFloat else { return false }
            column.pointee.node.payload.storeBytes(of: number.bitPattern, toByteOffset: row &* 4, as: UInt32.self)
            return true
        case (.slot, .slot(let slot)):
            guard column.pointee.node.width == 64 else { return false }
            column.pointee.node.payload.storeBytes(of: slot.raw, toByteOffset: row &* 8, as: Int64.self)
            return true
        case (.smallString, .string(let text)):
            guard text.count < column.pointee.node.width, text.count <= StringLeaf.smallLimit else { return false }
            StringLeaf.putSmall(column.pointee.node, row, text)
            return true
        default: return false
        }
    }

    @inline(__always) private static func put(_ column: UnsafeMutablePointer<OpenedColumn>, _ row: Int, _ value: Int64)
        -> Bool
    {
        guard Widths.fits(value, column.pointee.node.width) else { return false }
        column.pointee.node.put(row, value)
        return true
    }

    /// Replaces the text of the last row: all bytes of the blob after its start belong to it.
    @inline(__always) private static func setMedium(
        _ column: UnsafeMutablePointer<OpenedColumn>, _ store: NodeStore, _ row: Int, _ text: Bytes
    ) -> Bool {
        let ends = column.pointee.node
        guard row == ends.count &- 1, text.count <= StringLeaf.mediumLimit,
            ends.get(row) == Int64(column.pointee.blob.count)
        else { return false }
        let start = row == 0 ? 0 : ends.get(row &- 1)
        guard start >= 0, start <= Int64(column.pointee.blob.count) else { return false }
        let end = Int(start) &+ text.count
        guard end < column.pointee.blobRoom, Widths.fits(Int64(end &+ 1), ends.width) else { return false }
        if let source = text.baseAddress { CMemory.move(column.pointee.blob.payload + Int(start), source, text.count) }
        endMedium(column, store, row, end, isNull: false)
        return true
    }

    /// Ends the last text with a zero byte.
    @inline(__always) private static func endMedium(
        _ column: UnsafeMutablePointer<OpenedColumn>, _ store: NodeStore, _ row: Int, _ end: Int, isNull: Bool
    ) {
        column.pointee.blob.payload.storeBytes(of: 0, toByteOffset: end, as: UInt8.self)
        column.pointee.blob.count = end &+ 1
        store.storeHeader(column.pointee.blob)
        column.pointee.node.put(row, Int64(end &+ 1))
        column.pointee.nulls.put(row, isNull ? 1 : 0)
    }

    /// Appends a value as row `row`, which follows the last row; false if nodes would have to move.
    @inline(__always) static func append(
        _ column: UnsafeMutablePointer<OpenedColumn>, _ store: NodeStore, _ row: Int, _ value: Mixed
    ) -> Bool {
        guard row == column.pointee.node.count, row < column.pointee.room else { return false }
        switch (column.pointee.form, value) {
        case (.int, .int(let integer)): return appendInteger(column, store, row, integer)
        case (.link, .null): return appendInteger(column, store, row, 0)
        case (.bool, .bool(let flag)): return appendInteger(column, store, row, flag ? 1 : 0)
        case (.bool, .null): return appendInteger(column, store, row, 3)
        case (.double, .double(let number)):
            guard number.bitPattern != FloatLeaf.nullDouble else { return false }
            column.pointee.node.payload.storeBytes(of: number.bitPattern, toByteOffset: row &* 8, as: UInt64.self)
        case (.double, .null):
            column.pointee.node.payload.storeBytes(of: FloatLeaf.nullDouble, toByteOffset: row &* 8, as: UInt64.self)
        case (.float, .float(let number)):
            guard number.bitPattern != FloatLeaf.nullFloat else { return false }
            column.pointee.node.payload.storeBytes(of: number.bitPattern, toByteOffset: row &* 4, as: UInt32.self)
        case (.float, .null):
            column.pointee.node.payload.storeBytes(of: FloatLeaf.nullFloat, toByteOffset: row &* 4, as: UInt32.self)
        case (.slot, .slot(let slot)):
            guard column.pointee.node.width == 64 else { return false }
            column.pointee.node.payload.storeBytes(of: slot.raw, toByteOffset: row &* 8, as: Int64.self)
        case (.smallString, .string(let text)):
            guard text.count < column.pointee.node.width, text.count <= StringLeaf.smallLimit else { return false }
            StringLeaf.putSmall(column.pointee.node, row, text)
        case (.smallString, .null): StringLeaf.putSmall(column.pointee.node, row, nil)
        case (.mediumString, .string(let text)):
            guard text.count == 0 else { return false }
            return appendEmpty(column, store, row, isNull: false)
        case (.mediumString, .null): return appendEmpty(column, store, row, isNull: true)
        default: return false
        }
        column.pointee.node.count = row &+ 1
        store.storeHeader(column.pointee.node)
        return true
    }

    @inline(__always) private static func appendInteger(
        _ column: UnsafeMutablePointer<OpenedColumn>, _ store: NodeStore, _ row: Int, _ value: Int64
    ) -> Bool {
        guard put(column, row, value) else { return false }
        column.pointee.node.count = row &+ 1
        store.storeHeader(column.pointee.node)
        return true
    }

    /// Appends an empty text or null, which consists of its zero byte only.
    @inline(__always) private static func appendEmpty(
        _ column: UnsafeMutablePointer<OpenedColumn>, _ store: NodeStore, _ row: Int, isNull: Bool
    ) -> Bool {
        let end = column.pointee.blob.count
        guard end < column.pointee.blobRoom, Widths.fits(Int64(end &+ 1), column.pointee.node.width),
            Widths.fits(isNull ? 1 : 0, column.pointee.nulls.width)
        else {
            return false
        }
        endMedium(column, store, row, end, isNull: isNull)
        column.pointee.node.count = row &+ 1
        column.pointee.nulls.count = row &+ 1
        store.storeHeader(column.pointee.node)
        store.storeHeader(column.pointee.nulls)
        return true
    }
}
