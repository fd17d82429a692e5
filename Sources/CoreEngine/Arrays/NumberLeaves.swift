/// Nullable integers: element 0 is the null sentinel, value `i` is stored at `i + 1`. Format: logical §6.2.
enum NullableIntLeaf {
    static func create(_ store: NodeStore) throws(RealmError) -> Ref { try store.makeIntegers(count: 1, value: 0).ref }

    @inline(__always) static func get(_ node: Node, _ index: Int) throws(RealmError) -> Int64? {
        guard index >= 0, index < node.count &- 1 else {
            throw .corrupt("nullable integer leaf is too short", at: node.ref.offset)
        }
        let value = node.get(index &+ 1)
        return value == node.get(0) ? nil : value
    }

    /// Prepares the leaf for a non-null `value`: a width that holds it, and a null sentinel that differs from it.
    private static func makeRoom(_ store: NodeStore, _ node: inout Node, count: Int, for value: Int64)
        throws(RealmError)
    {
        let oldWidth = node.width
        let sentinel: Int64
        if oldWidth < 64 {
            guard value < Widths.lowerBound(oldWidth) || value >= Widths.upperBound(oldWidth) else { return }
            var wider = Widths.minimal(for: value)
            if wider < 64 && value == Widths.upperBound(wider) { wider = wider == 0 ? 1 : wider * 2 }
            wider = max(wider, oldWidth)
            sentinel = wider < 64 ? Widths.upperBound(wider) : freeValue(node, except: value)
        } else {
            guard value == node.get(0) else { return }
            sentinel = freeValue(node, except: value)
        }
        let old = node.get(0)
        if !Widths.fits(sentinel, oldWidth) || !Widths.fits(value, oldWidth) {
            let width = max(Widths.minimal(for: sentinel), Widths.minimal(for: value))
            try store.widen(&node, to: max(width, oldWidth), count: count)
        } else {
            node = try store.writable(node)
        }
        for i in 0..<node.count where node.get(i) == old { node.put(i, sentinel) }
    }

    /// A 64-bit value that is not `value` and not in the array. The array has at most 2^24 elements, so a short search
    /// finds one.
    private static func freeValue(_ node: Node, except value: Int64) -> Int64 {
        var candidate: Int64 = .max
        var used = Swift.Set<Int64>()
        for i in 0..<node.count { used.insert(node.get(i)) }
        while candidate == value || used.contains(candidate) { candidate -= 1 }
        return candidate
    }

    static func insert(_ store: NodeStore, _ ref: Ref, _ index: Int, _ value: Int64?) throws(RealmError) -> Ref {
        var node = try store.integers(ref)
        guard node.count > 0, index <= node.count - 1 else {
            throw .corrupt("nullable integer leaf is too short", at: ref.offset)
        }
        if let value { try makeRoom(store, &node, count: node.count + 1, for: value) }
        try store.insertInteger(&node, index + 1, value ?? node.get(0))
        return node.ref
    }

    static func set(_ store: NodeStore, _ ref: Ref, _ index: Int, _ value: Int64?) throws(RealmError) -> Ref {
        var node = try store.integers(ref)
        guard index < node.count - 1 else { throw .corrupt("nullable integer leaf is too short", at: ref.offset) }
        if let value { try makeRoom(store, &node, count: node.count, for: value) }
        try store.setInteger(&node, index + 1, value ?? node.get(0))
        return node.ref
    }

    static func erase(_ store: NodeStore, _ ref: Ref, _ index: Int) throws(RealmError) -> Ref {
        var node = try store.integers(ref)
        guard index < node.count - 1 else { throw .corrupt("nullable integer leaf is too short", at: ref.offset) }
        try store.eraseIntegers(&node, index + 1)
        return node.ref
    }
}

/// Fixed slots of 4 or 8 bytes: Float and Double. Null is a particular NaN pattern. Format: logical §6.5.
enum FloatLeaf {
    static let nullFloat: UInt32 = 0x7FC0_00AA
    static let nullDouble: UInt64 = 0x7FF8_0000_0000_00AA

    static func create(_ store: NodeStore, width: Int) throws(RealmError) -> Ref {
        try store.allocate(NodeHeader(widthType: .multiply, width: width, count: 0), capacity: 24).ref
    }

    @inline(__always) static func node(_ store: NodeStore, _ ref: Ref, width: Int) throws(RealmError) -> Node {
        let node = try store.node(ref)
        guard node.widthType == 1, node.width == width, !node.hasRefs else {
            throw .corrupt("not a floating-point leaf", at: ref.offset)
        }
        return node
    }

    @inline(__always) static func float(_ node: Node, _ index: Int) -> UInt32 {
        node.payload.load(fromByteOffset: index &* 4, as: UInt32.self)
    }

    @inline(__always) static func double(_ node: Node, _ index: Int) -> UInt64 {
        node.payload.load(fromByteOffset: index &* 8, as: UInt64.self)
    }

    /// Makes the leaf writable and returns its node. With `inserting`, also makes a gap at `index`.
    static func open(_ store: NodeStore, _ ref: Ref, _ index: Int, width: Int, inserting: Bool) throws(RealmError)
        -> Node
    {
        var leaf = try node(store, ref, width: width)
        guard index < leaf.count || (inserting && index == leaf.count) else {
            throw .corrupt("floating-point leaf is too short", at: ref.offset)
        }
        leaf = try store.writable(leaf, capacity: (leaf.count + (inserting ? 1 : 0)) * width)
        if inserting {
            CMemory.move(
                leaf.payload + (index + 1) * width, leaf.payload + index * width, (leaf.count - index) * width)
            leaf.count += 1
            store.storeHeader(leaf)
        }
        return leaf
    }

    static func erase(_ store: NodeStore, _ ref: Ref, _ index: Int, width: Int) throws(RealmError) -> Ref {
        var leaf = try store.writable(try node(store, ref, width: width))
        guard index < leaf.count else { throw .corrupt("floating-point leaf is too short", at: ref.offset) }
        CMemory.move(
            leaf.payload + index * width, leaf.payload + (index + 1) * width, (leaf.count - index - 1) * width)
        leaf.count -= 1
        store.storeHeader(leaf)
        return leaf.ref
    }
}

/// Timestamps: seconds (nullable integers) and nanoseconds (integers). Format: logical §6.7.
enum TimestampLeaf {
    static func create(_ store: NodeStore) throws(RealmError) -> Ref {
        let seconds = try NullableIntLeaf.create(store), nanos = try store.makeIntegers().ref
        return try store.makeRefs([RefOrTagged(seconds), RefOrTagged(nanos)]).ref
    }

    static func count(_ store: NodeStore, _ ref: Ref) throws(RealmError) -> Int {
        max(0, try store.integers(try store.refsNode(ref).child(0)).count - 1)
    }

    @inline(__always) static func get(_ store: NodeStore, _ ref: Ref, _ index: Int) throws(RealmError) -> Timestamp? {
        let node = try store.refsNode(ref)
        guard let seconds = try NullableIntLeaf.get(try store.integers(try node.child(0)), index) else { return nil }
        let nanos = try store.integers(try node.child(1))
        guard index < nanos.count else { throw .corrupt("timestamp leaf is too short", at: ref.offset) }
        return Timestamp(seconds: seconds, nanoseconds: Int32(truncatingIfNeeded: nanos.get(index)))
    }

    private enum Change { case insert, set, erase }

    private static func change(_ store: NodeStore, _ ref: Ref, _ index: Int, _ value: Timestamp?, _ what: Change)
        throws(RealmError) -> Ref
    {
        let node = try store.writableRefs(try store.refsNode(ref))
        let seconds = try node.child(0)
        var nanos = try store.integers(try node.child(1))
        guard index < nanos.count || (what == .insert && index == nanos.count) else {
            throw .corrupt("timestamp leaf is too short", at: ref.offset)
        }
        switch what {
        case .insert:
            store.setSlot(node, 0, try NullableIntLeaf.insert(store, seconds, index, value?.seconds))
            try store.insertInteger(&nanos, index, Int64(value?.nanoseconds ?? 0))
        case .set:
            store.setSlot(node, 0, try NullableIntLeaf.set(store, seconds, index, value?.seconds))
            if let value { try store.setInteger(&nanos, index, Int64(value.nanoseconds)) }
        case .erase:
            store.setSlot(node, 0, try NullableIntLeaf.erase(store, seconds, index))
            try store.eraseIntegers(&nanos, index)
        }
        store.setSlot(node, 1, nanos.ref)
        return node.ref
    }

    static func insert(_ store: NodeStore, _ ref: Ref, _ index: Int, _ value: Timestamp?) throws(RealmError) -> Ref {
        try change(store, ref, index, value, .insert)
    }

    static func set(_ store: NodeStore, _ ref: Ref, _ index: Int, _ value: Timestamp?) throws(RealmError) -> Ref {
        try change(store, ref, index, value, .set)
    }

    static func erase(_ store: NodeStore, _ ref: Ref, _ index: Int) throws(RealmError) -> Ref {
        try change(store, ref, index, nil, .erase)
    }
}

/// Decimal128 in slots of 0, 4, 8 or 16 bytes. Format: logical §6.8.
enum DecimalLeaf {
    static func create(_ store: NodeStore) throws(RealmError) -> Ref {
        try store.allocate(NodeHeader(widthType: .multiply, width: 0, count: 0), capacity: 32).ref
    }

    private static func node(_ store: NodeStore, _ ref: Ref) throws(RealmError) -> Node {
        let node = try store.node(ref)
        guard node.widthType == 1, !node.hasRefs,
            node.width == 0 || node.width == 4 || node.width == 8 || node.width == 16
        else {
            throw .corrupt("not a decimal leaf", at: ref.offset)
        }
        return node
    }

    private static func read(_ node: Node, _ index: Int) -> Decimal128? {
        switch node.width {
        case 4:
            let value = node.payload.load(fromByteOffset: index * 4, as: UInt32.self)
            return value == 0x7C00_00AA ? nil : Decimal128(bid32: value)
        case 8:
            let value = node.payload.load(fromByteOffset: index * 8, as: UInt64.self)
            return value == 0x7C00_0000_0000_00AA ? nil : Decimal128(bid64: value)
        case 16:
            let value = Decimal128(
                low: node.payload.load(fromByteOffset: index * 16, as: UInt64.self),
                high: node.payload.load(fromByteOffset: index * 16 + 8, as: UInt64.self))
            return value == Decimal128.null ? nil : value
        default: return node.context ? Decimal128.zero : nil
        }
    }

    static func get(_ store: NodeStore, _ ref: Ref, _ index: Int) throws(RealmError) -> Decimal128? {
        let leaf = try node(store, ref)
        guard index >= 0, index < leaf.count else { throw .corrupt("decimal leaf is too short", at: ref.offset) }
        return read(leaf, index)
    }

    static func count(_ store: NodeStore, _ ref: Ref) throws(RealmError) -> Int { try node(store, ref).count }

    private static func write(_ node: Node, _ index: Int, _ value: Decimal128?) {
        switch node.width {
        case 4: node.payload.storeBytes(of: value?.bid32 ?? 0x7C00_00AA, toByteOffset: index * 4, as: UInt32.self)
        case 8:
            node.payload.storeBytes(of: value?.bid64 ?? 0x7C00_0000_0000_00AA, toByteOffset: index * 8, as: UInt64.self)
        case 16:
            let decimal = value ?? Decimal128.null
            node.payload.storeBytes(of: decimal.low, toByteOffset: index * 16, as: UInt64.self)
            node.payload.storeBytes(of: decimal.high, toByteOffset: index * 16 + 8, as: UInt64.self)
        default: break
        }
    }

    private static func prepare(_ store: NodeStore, _ node: inout Node, count: Int, for value: Decimal128?)
        throws(RealmError)
    {
        let needed = value.map { $0.width(zeroLeaf: node.context) } ?? (node.context ? 4 : 0)
        if needed <= node.width {
            node = try store.writable(node, capacity: count * node.width)
            return
        }
        let new = try store.allocate(
            NodeHeader(flags: node.flags & 0xF8 | NodeHeader.widthCode(needed), count: node.count),
            capacity: max(count, 16) * needed)
        for i in 0..<node.count { write(new, i, read(node, i)) }
        store.free(node)
        node = new
    }

    static func insert(_ store: NodeStore, _ ref: Ref, _ index: Int, _ value: Decimal128?) throws(RealmError) -> Ref {
        var leaf = try node(store, ref)
        guard index <= leaf.count else { throw .corrupt("decimal leaf is too short", at: ref.offset) }
        if leaf.count == 0, leaf.width == 0, !leaf.context, let value, !value.isNaN,
            Decimal128.compare(value, .zero) == 0
        {
            leaf = try store.writable(leaf)
            store.setFlags(&leaf, context: true)
        }
        try prepare(store, &leaf, count: leaf.count + 1, for: value)
        if index < leaf.count {
            CMemory.move(
                leaf.payload + (index + 1) * leaf.width, leaf.payload + index * leaf.width,
                (leaf.count - index) * leaf.width)
        }
        leaf.count += 1
        write(leaf, index, value)
        store.storeHeader(leaf)
        return leaf.ref
    }

    static func set(_ store: NodeStore, _ ref: Ref, _ index: Int, _ value: Decimal128?) throws(RealmError) -> Ref {
        var leaf = try node(store, ref)
        guard index < leaf.count else { throw .corrupt("decimal leaf is too short", at: ref.offset) }
        try prepare(store, &leaf, count: leaf.count, for: value)
        write(leaf, index, value)
        return leaf.ref
    }

    static func erase(_ store: NodeStore, _ ref: Ref, _ index: Int) throws(RealmError) -> Ref {
        var leaf = try store.writable(try node(store, ref))
        guard index < leaf.count else { throw .corrupt("decimal leaf is too short", at: ref.offset) }
        CMemory.move(
            leaf.payload + index * leaf.width, leaf.payload + (index + 1) * leaf.width,
            (leaf.count - index - 1) * leaf.width)
        leaf.count -= 1
        store.storeHeader(leaf)
        return leaf.ref
    }
}

/// ObjectIds (12 bytes) and UUIDs (16): blocks of a null bitmap byte and eight values; the node's count is in bytes.
/// Format: logical §6.9.
enum FixedBytesLeaf {
    static func create(_ store: NodeStore) throws(RealmError) -> Ref {
        try store.allocate(NodeHeader(widthType: .multiply, width: 0, count: 0), capacity: 40).ref
    }

    private static func node(_ store: NodeStore, _ ref: Ref) throws(RealmError) -> Node {
        let node = try store.node(ref)
        guard node.widthType == 1, !node.hasRefs, node.width == 1 || node.count == 0 else {
            throw .corrupt("not a leaf of fixed-size bytes", at: ref.offset)
        }
        return node
    }

    @inline(__always) private static func elements(_ node: Node, _ width: Int) -> Int {
        let block = 8 &* width &+ 1
        return (node.count &- (node.count &+ block &- 1) / block) / width
    }

    @inline(__always) private static func bytes(_ elements: Int, _ width: Int) -> Int {
        elements &* width &+ (elements &+ 7) / 8
    }

    static func count(_ store: NodeStore, _ ref: Ref, width: Int) throws(RealmError) -> Int {
        elements(try node(store, ref), width)
    }

    /// Address of the value at `index`; nil for null.
    static func get(_ store: NodeStore, _ ref: Ref, _ index: Int, width: Int) throws(RealmError) -> UnsafeRawPointer? {
        let leaf = try node(store, ref)
        guard index >= 0, index < elements(leaf, width) else {
            throw .corrupt("leaf of fixed-size bytes is too short", at: ref.offset)
        }
        return at(leaf, index, width)
    }

    private static func at(_ node: Node, _ index: Int, _ width: Int) -> UnsafeRawPointer? {
        let block = node.payload + (index >> 3) &* (8 &* width &+ 1)
        if block.load(as: UInt8.self) >> UInt8(index & 7) & 1 != 0 { return nil }
        return UnsafeRawPointer(block + 1 + (index & 7) &* width)
    }

    private static func put(_ node: Node, _ index: Int, _ width: Int, _ value: UnsafeRawPointer?) {
        let block = node.payload + (index >> 3) &* (8 &* width &+ 1)
        let bit = UInt8(1) << UInt8(index & 7)
        let mask = block.load(as: UInt8.self)
        let to = block + 1 + (index & 7) &* width
        if let value {
            block.storeBytes(of: mask & ~bit, as: UInt8.self)
            CMemory.move(to, value, width)
        } else {
            block.storeBytes(of: mask | bit, as: UInt8.self)
            // The payload of a null: DE AD DE AD … for ObjectId, DE AD BE EF … for UUID.
            let pattern: [UInt8] = width == 12 ? [0xDE, 0xAD, 0xDE, 0xAD] : [0xDE, 0xAD, 0xBE, 0xEF]
            for j in 0..<width { to.storeBytes(of: pattern[j & 3], toByteOffset: j, as: UInt8.self) }
        }
    }

    static func insert(_ store: NodeStore, _ ref: Ref, _ index: Int, width: Int, _ value: UnsafeRawPointer?)
        throws(RealmError) -> Ref
    {
        var leaf = try node(store, ref)
        let count = elements(leaf, width)
        guard index <= count else { throw .corrupt("leaf of fixed-size bytes is too short", at: ref.offset) }
        let total = bytes(count + 1, width)
        guard total <= Format.maxElementCount else { throw RealmError(.limitExceeded, "Too many elements in one node") }
        leaf = try store.writable(leaf, capacity: total)
        let old = leaf.count
        leaf.count = total
        store.setWidth(&leaf, 1)
        store.storeHeader(leaf)
        // The null bitmap of a new block.
        if total - old > width { leaf.payload.storeBytes(of: 0, toByteOffset: old, as: UInt8.self) }
        var j = count
        while j > index {
            put(leaf, j, width, at(leaf, j - 1, width))
            j -= 1
        }
        put(leaf, index, width, value)
        return leaf.ref
    }

    static func set(_ store: NodeStore, _ ref: Ref, _ index: Int, width: Int, _ value: UnsafeRawPointer?)
        throws(RealmError)
        -> Ref
    {
        let leaf = try store.writable(try node(store, ref))
        guard index < elements(leaf, width) else {
            throw .corrupt("leaf of fixed-size bytes is too short", at: ref.offset)
        }
        put(leaf, index, width, value)
        return leaf.ref
    }

    static func erase(_ store: NodeStore, _ ref: Ref, _ index: Int, width: Int) throws(RealmError) -> Ref {
        var leaf = try store.writable(try node(store, ref))
        let count = elements(leaf, width)
        guard index < count else { throw .corrupt("leaf of fixed-size bytes is too short", at: ref.offset) }
        for j in index..<count - 1 { put(leaf, j, width, at(leaf, j + 1, width)) }
        leaf.count = bytes(count - 1, width)
        // Clear the null bit of the last position, so that a later append finds it clear.
        if (count - 1) & 7 != 0 {
            let block = leaf.payload + ((count - 1) >> 3) * (8 * width + 1)
            block.storeBytes(of: block.load(as: UInt8.self) & ~(1 << UInt8((count - 1) & 7)), as: UInt8.self)
        }
        if leaf.count == 0 { store.setWidth(&leaf, 0) }
        store.storeHeader(leaf)
        return leaf.ref
    }
}
