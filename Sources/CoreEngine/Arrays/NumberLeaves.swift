/// Nullable integers: element 0 is the null sentinel, value `i` stands at `i + 1`. Format: logical §6.2.
enum NullableIntLeaf {
    static func create(_ s: NodeStore) throws(RealmError) -> Ref { try s.makeIntegers(count: 1, value: 0).ref }

    @inline(__always) static func get(_ n: Node, _ i: Int) throws(RealmError) -> Int64? {
        guard i >= 0, i < n.count &- 1 else { throw .corrupt("nullable integer leaf is too short", at: n.ref.offset) }
        let v = n.get(i &+ 1)
        return v == n.get(0) ? nil : v
    }

    /// Makes room for a non-null `v`: a width that holds it and a sentinel that differs from it.
    private static func makeRoom(_ s: NodeStore, _ n: inout Node, count: Int, for v: Int64) throws(RealmError) {
        let w = n.width
        let sentinel: Int64
        if w < 64 {
            guard v < Widths.lowerBound(w) || v >= Widths.upperBound(w) else { return }
            var wider = Widths.minimal(for: v)
            if wider < 64 && v == Widths.upperBound(wider) { wider = wider == 0 ? 1 : wider * 2 }
            wider = max(wider, w)
            sentinel = wider < 64 ? Widths.upperBound(wider) : freeValue(n, except: v)
        } else {
            guard v == n.get(0) else { return }
            sentinel = freeValue(n, except: v)
        }
        let old = n.get(0)
        if !Widths.fits(sentinel, w) || !Widths.fits(v, w) {
            let width = max(Widths.minimal(for: sentinel), Widths.minimal(for: v))
            try s.widen(&n, to: max(width, w), count: count)
        } else {
            n = try s.writable(n)
        }
        for i in 0..<n.count where n.get(i) == old { n.put(i, sentinel) }
    }

    /// A 64-bit value that is neither `v` nor anywhere in the array. With at most 2^24 elements a short walk finds one.
    private static func freeValue(_ n: Node, except v: Int64) -> Int64 {
        var candidate: Int64 = .max
        var used = Swift.Set<Int64>()
        for i in 0..<n.count { used.insert(n.get(i)) }
        while candidate == v || used.contains(candidate) { candidate -= 1 }
        return candidate
    }

    static func insert(_ s: NodeStore, _ ref: Ref, _ i: Int, _ value: Int64?) throws(RealmError) -> Ref {
        var n = try s.integers(ref)
        guard n.count > 0, i <= n.count - 1 else {
            throw .corrupt("nullable integer leaf is too short", at: ref.offset)
        }
        if let value { try makeRoom(s, &n, count: n.count + 1, for: value) }
        try s.insertInteger(&n, i + 1, value ?? n.get(0))
        return n.ref
    }

    static func set(_ s: NodeStore, _ ref: Ref, _ i: Int, _ value: Int64?) throws(RealmError) -> Ref {
        var n = try s.integers(ref)
        guard i < n.count - 1 else { throw .corrupt("nullable integer leaf is too short", at: ref.offset) }
        if let value { try makeRoom(s, &n, count: n.count, for: value) }
        try s.setInteger(&n, i + 1, value ?? n.get(0))
        return n.ref
    }

    static func erase(_ s: NodeStore, _ ref: Ref, _ i: Int) throws(RealmError) -> Ref {
        var n = try s.integers(ref)
        guard i < n.count - 1 else { throw .corrupt("nullable integer leaf is too short", at: ref.offset) }
        try s.eraseIntegers(&n, i + 1)
        return n.ref
    }
}

/// Fixed slots of 4 or 8 bytes: Float and Double. Null is one NaN pattern. Format: logical §6.5.
enum FloatLeaf {
    static let nullFloat: UInt32 = 0x7FC0_00AA
    static let nullDouble: UInt64 = 0x7FF8_0000_0000_00AA

    static func create(_ s: NodeStore, width: Int) throws(RealmError) -> Ref {
        try s.allocate(NodeHeader(widthType: .multiply, width: width, count: 0), capacity: 24).ref
    }

    @inline(__always) static func node(_ s: NodeStore, _ ref: Ref, width: Int) throws(RealmError) -> Node {
        let n = try s.node(ref)
        guard n.widthType == 1, n.width == width, !n.hasRefs else {
            throw .corrupt("not a floating-point leaf", at: ref.offset)
        }
        return n
    }

    @inline(__always) static func float(_ n: Node, _ i: Int) -> UInt32 {
        n.payload.load(fromByteOffset: i &* 4, as: UInt32.self)
    }

    @inline(__always) static func double(_ n: Node, _ i: Int) -> UInt64 {
        n.payload.load(fromByteOffset: i &* 8, as: UInt64.self)
    }

    /// Opens a gap at `i` (insert) or only makes writable (set), and returns the node.
    static func open(_ s: NodeStore, _ ref: Ref, _ i: Int, width: Int, inserting: Bool) throws(RealmError) -> Node {
        var n = try node(s, ref, width: width)
        guard i < n.count || (inserting && i == n.count) else {
            throw .corrupt("floating-point leaf is too short", at: ref.offset)
        }
        n = try s.writable(n, capacity: (n.count + (inserting ? 1 : 0)) * width)
        if inserting {
            Platform.move(n.payload + (i + 1) * width, n.payload + i * width, (n.count - i) * width)
            n.count += 1
            s.storeHeader(n)
        }
        return n
    }

    static func erase(_ s: NodeStore, _ ref: Ref, _ i: Int, width: Int) throws(RealmError) -> Ref {
        var n = try s.writable(try node(s, ref, width: width))
        guard i < n.count else { throw .corrupt("floating-point leaf is too short", at: ref.offset) }
        Platform.move(n.payload + i * width, n.payload + (i + 1) * width, (n.count - i - 1) * width)
        n.count -= 1
        s.storeHeader(n)
        return n.ref
    }
}

/// Seconds (nullable integers) and nanoseconds (integers). Format: logical §6.7.
enum TimestampLeaf {
    static func create(_ s: NodeStore) throws(RealmError) -> Ref {
        let seconds = try NullableIntLeaf.create(s), nanos = try s.makeIntegers().ref
        return try s.makeRefs([RefOrTagged(seconds), RefOrTagged(nanos)]).ref
    }

    static func count(_ s: NodeStore, _ ref: Ref) throws(RealmError) -> Int {
        max(0, try s.integers(try s.refsNode(ref).child(0)).count - 1)
    }

    @inline(__always) static func get(_ s: NodeStore, _ ref: Ref, _ i: Int) throws(RealmError) -> Timestamp? {
        let n = try s.refsNode(ref)
        guard let seconds = try NullableIntLeaf.get(try s.integers(try n.child(0)), i) else { return nil }
        let nanos = try s.integers(try n.child(1))
        guard i < nanos.count else { throw .corrupt("timestamp leaf is too short", at: ref.offset) }
        return Timestamp(seconds: seconds, nanoseconds: Int32(truncatingIfNeeded: nanos.get(i)))
    }

    private enum Change { case insert, set, erase }

    private static func change(_ s: NodeStore, _ ref: Ref, _ i: Int, _ value: Timestamp?, _ what: Change)
        throws(RealmError) -> Ref
    {
        let n = try s.writableRefs(try s.refsNode(ref))
        let seconds = try n.child(0)
        var nanos = try s.integers(try n.child(1))
        guard i < nanos.count || (what == .insert && i == nanos.count) else {
            throw .corrupt("timestamp leaf is too short", at: ref.offset)
        }
        switch what {
        case .insert:
            s.setSlot(n, 0, try NullableIntLeaf.insert(s, seconds, i, value?.seconds))
            try s.insertInteger(&nanos, i, Int64(value?.nanoseconds ?? 0))
        case .set:
            s.setSlot(n, 0, try NullableIntLeaf.set(s, seconds, i, value?.seconds))
            if let value { try s.setInteger(&nanos, i, Int64(value.nanoseconds)) }
        case .erase:
            s.setSlot(n, 0, try NullableIntLeaf.erase(s, seconds, i))
            try s.eraseIntegers(&nanos, i)
        }
        s.setSlot(n, 1, nanos.ref)
        return n.ref
    }

    static func insert(_ s: NodeStore, _ ref: Ref, _ i: Int, _ v: Timestamp?) throws(RealmError) -> Ref {
        try change(s, ref, i, v, .insert)
    }

    static func set(_ s: NodeStore, _ ref: Ref, _ i: Int, _ v: Timestamp?) throws(RealmError) -> Ref {
        try change(s, ref, i, v, .set)
    }

    static func erase(_ s: NodeStore, _ ref: Ref, _ i: Int) throws(RealmError) -> Ref {
        try change(s, ref, i, nil, .erase)
    }
}

/// Decimal128 in slots of 0, 4, 8 or 16 bytes. Format: logical §6.8.
enum DecimalLeaf {
    static func create(_ s: NodeStore) throws(RealmError) -> Ref {
        try s.allocate(NodeHeader(widthType: .multiply, width: 0, count: 0), capacity: 32).ref
    }

    private static func node(_ s: NodeStore, _ ref: Ref) throws(RealmError) -> Node {
        let n = try s.node(ref)
        guard n.widthType == 1, !n.hasRefs, n.width == 0 || n.width == 4 || n.width == 8 || n.width == 16 else {
            throw .corrupt("not a decimal leaf", at: ref.offset)
        }
        return n
    }

    private static func read(_ n: Node, _ i: Int) -> Decimal128? {
        switch n.width {
        case 4:
            let v = n.payload.load(fromByteOffset: i * 4, as: UInt32.self)
            return v == 0x7C00_00AA ? nil : Decimal128(bid32: v)
        case 8:
            let v = n.payload.load(fromByteOffset: i * 8, as: UInt64.self)
            return v == 0x7C00_0000_0000_00AA ? nil : Decimal128(bid64: v)
        case 16:
            let v = Decimal128(
                low: n.payload.load(fromByteOffset: i * 16, as: UInt64.self),
                high: n.payload.load(fromByteOffset: i * 16 + 8, as: UInt64.self))
            return v == Decimal128.null ? nil : v
        default: return n.context ? Decimal128.zero : nil
        }
    }

    static func get(_ s: NodeStore, _ ref: Ref, _ i: Int) throws(RealmError) -> Decimal128? {
        let n = try node(s, ref)
        guard i >= 0, i < n.count else { throw .corrupt("decimal leaf is too short", at: ref.offset) }
        return read(n, i)
    }

    static func count(_ s: NodeStore, _ ref: Ref) throws(RealmError) -> Int { try node(s, ref).count }

    private static func write(_ n: Node, _ i: Int, _ v: Decimal128?) {
        switch n.width {
        case 4: n.payload.storeBytes(of: v?.bid32 ?? 0x7C00_00AA, toByteOffset: i * 4, as: UInt32.self)
        case 8: n.payload.storeBytes(of: v?.bid64 ?? 0x7C00_0000_0000_00AA, toByteOffset: i * 8, as: UInt64.self)
        case 16:
            let d = v ?? Decimal128.null
            n.payload.storeBytes(of: d.low, toByteOffset: i * 16, as: UInt64.self)
            n.payload.storeBytes(of: d.high, toByteOffset: i * 16 + 8, as: UInt64.self)
        default: break
        }
    }

    private static func prepare(_ s: NodeStore, _ n: inout Node, count: Int, for v: Decimal128?) throws(RealmError) {
        let needed = v.map { $0.width(zeroLeaf: n.context) } ?? (n.context ? 4 : 0)
        if needed <= n.width {
            n = try s.writable(n, capacity: count * n.width)
            return
        }
        let new = try s.allocate(
            NodeHeader(flags: n.flags & 0xF8 | NodeHeader.widthCode(needed), count: n.count),
            capacity: max(count, 16) * needed)
        for i in 0..<n.count { write(new, i, read(n, i)) }
        s.free(n)
        n = new
    }

    static func insert(_ s: NodeStore, _ ref: Ref, _ i: Int, _ v: Decimal128?) throws(RealmError) -> Ref {
        var n = try node(s, ref)
        guard i <= n.count else { throw .corrupt("decimal leaf is too short", at: ref.offset) }
        if n.count == 0, n.width == 0, !n.context, let v, !v.isNaN, Decimal128.compare(v, .zero) == 0 {
            n = try s.writable(n)
            s.setFlags(&n, context: true)
        }
        try prepare(s, &n, count: n.count + 1, for: v)
        if i < n.count {
            Platform.move(n.payload + (i + 1) * n.width, n.payload + i * n.width, (n.count - i) * n.width)
        }
        n.count += 1
        write(n, i, v)
        s.storeHeader(n)
        return n.ref
    }

    static func set(_ s: NodeStore, _ ref: Ref, _ i: Int, _ v: Decimal128?) throws(RealmError) -> Ref {
        var n = try node(s, ref)
        guard i < n.count else { throw .corrupt("decimal leaf is too short", at: ref.offset) }
        try prepare(s, &n, count: n.count, for: v)
        write(n, i, v)
        return n.ref
    }

    static func erase(_ s: NodeStore, _ ref: Ref, _ i: Int) throws(RealmError) -> Ref {
        var n = try s.writable(try node(s, ref))
        guard i < n.count else { throw .corrupt("decimal leaf is too short", at: ref.offset) }
        Platform.move(n.payload + i * n.width, n.payload + (i + 1) * n.width, (n.count - i - 1) * n.width)
        n.count -= 1
        s.storeHeader(n)
        return n.ref
    }
}

/// ObjectIds (12 bytes) and UUIDs (16): blocks of a null bitmap byte and eight values; the node's count is in bytes.
/// Format: logical §6.9.
enum FixedBytesLeaf {
    static func create(_ s: NodeStore) throws(RealmError) -> Ref {
        try s.allocate(NodeHeader(widthType: .multiply, width: 0, count: 0), capacity: 40).ref
    }

    private static func node(_ s: NodeStore, _ ref: Ref) throws(RealmError) -> Node {
        let n = try s.node(ref)
        guard n.widthType == 1, !n.hasRefs, n.width == 1 || n.count == 0 else {
            throw .corrupt("not a leaf of fixed-size bytes", at: ref.offset)
        }
        return n
    }

    @inline(__always) private static func elements(_ n: Node, _ w: Int) -> Int {
        let block = 8 &* w &+ 1
        return (n.count &- (n.count &+ block &- 1) / block) / w
    }

    @inline(__always) private static func bytes(_ elements: Int, _ w: Int) -> Int {
        elements &* w &+ (elements &+ 7) / 8
    }

    static func count(_ s: NodeStore, _ ref: Ref, width w: Int) throws(RealmError) -> Int {
        elements(try node(s, ref), w)
    }

    /// Address of value `i`, nil when null.
    static func get(_ s: NodeStore, _ ref: Ref, _ i: Int, width w: Int) throws(RealmError) -> UnsafeRawPointer? {
        let n = try node(s, ref)
        guard i >= 0, i < elements(n, w) else {
            throw .corrupt("leaf of fixed-size bytes is too short", at: ref.offset)
        }
        return at(n, i, w)
    }

    private static func at(_ n: Node, _ i: Int, _ w: Int) -> UnsafeRawPointer? {
        let block = n.payload + (i >> 3) &* (8 &* w &+ 1)
        if block.load(as: UInt8.self) >> UInt8(i & 7) & 1 != 0 { return nil }
        return UnsafeRawPointer(block + 1 + (i & 7) &* w)
    }

    private static func put(_ n: Node, _ i: Int, _ w: Int, _ value: UnsafeRawPointer?) {
        let block = n.payload + (i >> 3) &* (8 &* w &+ 1)
        let bit = UInt8(1) << UInt8(i & 7)
        let mask = block.load(as: UInt8.self)
        let to = block + 1 + (i & 7) &* w
        if let value {
            block.storeBytes(of: mask & ~bit, as: UInt8.self)
            Platform.move(to, value, w)
        } else {
            block.storeBytes(of: mask | bit, as: UInt8.self)
            // The payload of a null: DE AD DE AD … for ObjectId, DE AD BE EF … for UUID.
            let pattern: [UInt8] = w == 12 ? [0xDE, 0xAD, 0xDE, 0xAD] : [0xDE, 0xAD, 0xBE, 0xEF]
            for j in 0..<w { to.storeBytes(of: pattern[j & 3], toByteOffset: j, as: UInt8.self) }
        }
    }

    static func insert(_ s: NodeStore, _ ref: Ref, _ i: Int, width w: Int, _ value: UnsafeRawPointer?)
        throws(RealmError) -> Ref
    {
        var n = try node(s, ref)
        let count = elements(n, w)
        guard i <= count else { throw .corrupt("leaf of fixed-size bytes is too short", at: ref.offset) }
        let total = bytes(count + 1, w)
        guard total <= Format.maxElementCount else { throw RealmError(.limitExceeded, "Too many elements in one node") }
        n = try s.writable(n, capacity: total)
        let old = n.count
        n.count = total
        s.setWidth(&n, 1)
        s.storeHeader(n)
        if total - old > w { n.payload.storeBytes(of: 0, toByteOffset: old, as: UInt8.self) }  // A new block's bitmap.
        var j = count
        while j > i {
            put(n, j, w, at(n, j - 1, w))
            j -= 1
        }
        put(n, i, w, value)
        return n.ref
    }

    static func set(_ s: NodeStore, _ ref: Ref, _ i: Int, width w: Int, _ value: UnsafeRawPointer?) throws(RealmError)
        -> Ref
    {
        let n = try s.writable(try node(s, ref))
        guard i < elements(n, w) else { throw .corrupt("leaf of fixed-size bytes is too short", at: ref.offset) }
        put(n, i, w, value)
        return n.ref
    }

    static func erase(_ s: NodeStore, _ ref: Ref, _ i: Int, width w: Int) throws(RealmError) -> Ref {
        var n = try s.writable(try node(s, ref))
        let count = elements(n, w)
        guard i < count else { throw .corrupt("leaf of fixed-size bytes is too short", at: ref.offset) }
        for j in i..<count - 1 { put(n, j, w, at(n, j + 1, w)) }
        n.count = bytes(count - 1, w)
        // Clear the bit of the element that went, so that a later append starts clean.
        if (count - 1) & 7 != 0 {
            let block = n.payload + ((count - 1) >> 3) * (8 * w + 1)
            block.storeBytes(of: block.load(as: UInt8.self) & ~(1 << UInt8((count - 1) & 7)), as: UInt8.self)
        }
        if n.count == 0 { s.setWidth(&n, 0) }
        s.storeHeader(n)
        return n.ref
    }
}
