/// A leaf of strings in one of four physical forms, told apart by its header:
///
/// - small: fixed slots of 0 … 16 bytes (names: up to 64), the last byte holds the padding or says null;
/// - enumerated: an integer array of indexes into a leaf of distinct values (read only);
/// - medium: [end offsets, blob, nulls];
/// - big: a ref to a blob for each string.
///
/// Forms only move up: small to 15 bytes, medium to 63, then big. Format: logical §6.4.
enum StringLeaf {
    static let smallLimit = 15
    static let mediumLimit = 63

    static func create(_ s: NodeStore) throws(RealmError) -> Ref {
        try s.allocate(NodeHeader(widthType: .multiply, width: 0, count: 0), capacity: 24).ref
    }

    @inline(__always) static func count(_ s: NodeStore, _ ref: Ref) throws(RealmError) -> Int {
        let n = try s.node(ref)
        if n.hasRefs && !n.context { return try s.integers(try n.child(0)).count }
        return n.count
    }

    /// The string at `i`, nil for null.
    @inline(__always) static func get(_ s: NodeStore, _ ref: Ref, _ i: Int) throws(RealmError) -> Bytes? {
        try get(s, try s.node(ref), i)
    }

    @inline(__always) static func get(_ s: NodeStore, _ n: Node, _ i: Int) throws(RealmError) -> Bytes? {
        if n.hasRefs {
            return n.context ? try getBig(s, n, i) : try getMedium(s, n, i)
        }
        guard n.widthType == 1, i >= 0, i < n.count else {
            throw .corrupt("string leaf is too short or of no known form", at: n.ref.offset)
        }
        return try getSmall(n, i)
    }

    @inline(__always) static func getSmall(_ n: Node, _ i: Int) throws(RealmError) -> Bytes? {
        guard let text = small(n, i) else { throw .corrupt("string padding exceeds its slot", at: n.ref.offset) }
        return text
    }

    /// The text in a slot, which may be null; nil where the slot is not in order.
    @inline(__always) static func small(_ n: Node, _ i: Int) -> Bytes?? {
        let w = n.width
        if w == 0 { return .some(nil) }
        let slot = n.payload + i &* w
        let padding = Int(slot.load(fromByteOffset: w &- 1, as: UInt8.self))
        if padding >= w { return padding == w ? .some(nil) : nil }
        return Bytes(start: slot, count: w &- 1 &- padding)
    }

    @inline(__always) private static func getMedium(_ s: NodeStore, _ n: Node, _ i: Int) throws(RealmError) -> Bytes? {
        guard n.count >= 3, n.widthType == 0 else {
            throw .corrupt("string leaf is too short or of no known form", at: n.ref.offset)
        }
        let ends = try s.integers(Ref(Int(n.get(0))))
        let nulls = try s.integers(Ref(Int(n.get(2))))
        guard i >= 0, i < ends.count, i < nulls.count else {
            throw .corrupt("string leaf is too short", at: n.ref.offset)
        }
        if nulls.get(i) != 0 { return nil }
        let blob = try s.blob(Ref(Int(n.get(1))))
        guard let text = MediumLeaf.text(ends, blob, i) else {
            throw .corrupt("string offsets out of order", at: n.ref.offset)
        }
        return text
    }

    private static func getBig(_ s: NodeStore, _ n: Node, _ i: Int) throws(RealmError) -> Bytes? {
        let r = try n.child(i)
        if r.isNull { return nil }
        let blob = try s.node(r)
        // A list of blobs stands for a string beyond the limit; it reads as null, as in realm-core.
        if blob.hasRefs { return nil }
        guard blob.widthType == 2 else { throw .corrupt("not a blob", at: r.offset) }
        guard blob.count > 0 else { throw .corrupt("string without terminator", at: r.offset) }
        return Bytes(start: blob.payload, count: blob.count &- 1)
    }

    // MARK: Changing

    /// Moves the leaf up to the form that holds a string of `length` bytes (−1 for null); returns its node, in the slab
    /// or not.
    private static func formed(_ s: NodeStore, _ ref: Ref, for length: Int) throws(RealmError) -> Node {
        let n = try s.node(ref)
        if n.hasRefs {
            if n.context || length <= mediumLimit { return n }
            return try convert(s, n, toBig: true)
        }
        guard n.widthType == 1 else { throw RealmError(.notSupported, "Enumerated string columns are read only") }
        if length <= smallLimit { return n }
        return try convert(s, n, toBig: length > mediumLimit)
    }

    private static func convert(_ s: NodeStore, _ n: Node, toBig: Bool) throws(RealmError) -> Node {
        let count = try self.count(s, n.ref)
        var new: Node
        if toBig {
            new = try s.allocate(
                NodeHeader(hasRefs: true, context: true, width: 64, count: 0), capacity: max(count + 8, 8) * 8)
            for i in 0..<count {
                let blob =
                    try get(s, n, i).map { b throws(RealmError) in try s.makeBlob(b, terminated: true).ref } ?? .null
                try s.insertSlot(&new, i, RefOrTagged(blob))
            }
        } else {
            // Laid out in one pass: all lengths are known.
            var ends = try s.makeIntegers()
            var nulls = try s.makeIntegers()
            var blob = try s.makeBlob(Bytes(start: nil, count: 0))
            for i in 0..<count {
                let b = try get(s, n, i)
                try s.replaceBytes(
                    &blob, at: blob.count, old: 0, with: b ?? Bytes(start: nil, count: 0), terminated: true)
                try s.appendInteger(&ends, Int64(blob.count))
                try s.appendInteger(&nulls, b == nil ? 1 : 0)
            }
            new = try s.makeRefs([RefOrTagged(ends.ref), RefOrTagged(blob.ref), RefOrTagged(nulls.ref)])
        }
        try s.destroy(n.ref)
        return new
    }

    static func insert(_ s: NodeStore, _ ref: Ref, _ i: Int, _ value: Bytes?) throws(RealmError) -> Ref {
        var n = try formed(s, ref, for: value?.count ?? -1)
        if !n.hasRefs {
            guard i <= n.count else { throw .corrupt("string leaf is too short", at: ref.offset) }
            try prepareSmall(s, &n, count: n.count + 1, for: value, nullable: true)
            if i < n.count {
                Platform.move(n.payload + (i + 1) * n.width, n.payload + i * n.width, (n.count - i) * n.width)
            }
            n.count += 1
            putSmall(n, i, value)
            s.storeHeader(n)
            return n.ref
        }
        n = try s.writableRefs(n)
        if n.context {
            guard i <= n.count else { throw .corrupt("string leaf is too short", at: ref.offset) }
            let blob = try value.map { b throws(RealmError) in try s.makeBlob(b, terminated: true).ref } ?? .null
            try s.insertSlot(&n, i, RefOrTagged(blob))
            return n.ref
        }
        try MediumLeaf.insert(s, n, i, value, terminated: true)
        return n.ref
    }

    static func set(_ s: NodeStore, _ ref: Ref, _ i: Int, _ value: Bytes?) throws(RealmError) -> Ref {
        var n = try formed(s, ref, for: value?.count ?? -1)
        if !n.hasRefs {
            guard i < n.count else { throw .corrupt("string leaf is too short", at: ref.offset) }
            try prepareSmall(s, &n, count: n.count, for: value, nullable: true)
            putSmall(n, i, value)
            return n.ref
        }
        n = try s.writableRefs(n)
        if n.context {
            let old = try n.child(i)
            let blob = try value.map { b throws(RealmError) in try s.makeBlob(b, terminated: true).ref } ?? .null
            s.setSlot(n, i, blob)
            try s.destroy(old)
            return n.ref
        }
        try MediumLeaf.set(s, n, i, value, terminated: true)
        return n.ref
    }

    static func erase(_ s: NodeStore, _ ref: Ref, _ i: Int) throws(RealmError) -> Ref {
        var n = try s.node(ref)
        if !n.hasRefs {
            guard n.widthType == 1 else { throw RealmError(.notSupported, "Enumerated string columns are read only") }
            guard i < n.count else { throw .corrupt("string leaf is too short", at: ref.offset) }
            n = try s.writable(n)
            Platform.move(n.payload + i * n.width, n.payload + (i + 1) * n.width, (n.count - i - 1) * n.width)
            n.count -= 1
            if n.count == 0 { s.setWidth(&n, 0) }
            s.storeHeader(n)
            return n.ref
        }
        n = try s.writableRefs(n)
        if n.context {
            try s.destroy(try n.child(i))
            try s.eraseSlots(&n, i)
        } else {
            try MediumLeaf.erase(s, n, i)
        }
        return n.ref
    }

    // MARK: Small form (also table and column names)

    /// Slot width for `value`: length + 1 rounded up to a power of two; a null needs none.
    private static func slotWidth(_ value: Bytes?, nullable: Bool) -> Int {
        guard let value else { return 0 }
        if value.count == 0 && !nullable { return 0 }
        var w = 1
        while w < value.count + 1 { w <<= 1 }
        return w
    }

    /// Brings a small leaf to the slab with room for `count` slots wide enough for `value`.
    @inline(__always)
    static func prepareSmall(_ s: NodeStore, _ n: inout Node, count: Int, for value: Bytes?, nullable: Bool)
        throws(RealmError)
    {
        let needed = slotWidth(value, nullable: nullable)
        let old = n.width
        if needed <= old {
            n = try s.writable(n, capacity: count * old)
            return
        }
        var new = try s.allocate(
            NodeHeader(flags: n.flags & 0xF8 | NodeHeader.widthCode(needed), count: n.count),
            capacity: max(count, min(n.count * 2, 256)) * needed)
        new.width = needed
        for i in 0..<n.count {
            // From width 0 every element becomes null, also in names arrays; otherwise the padding grows by the
            // difference.
            let to = new.payload + i * needed
            let padding = old == 0 ? old : Int(n.payload.load(fromByteOffset: (i + 1) * old - 1, as: UInt8.self))
            if old == 0 || padding >= old {
                putNull(to, needed)
            } else {
                Platform.zero(to, needed)
                Platform.copy(to, n.payload + i * old, old - 1 - padding)
                to.storeBytes(of: UInt8(padding + needed - old), toByteOffset: needed - 1, as: UInt8.self)
            }
        }
        s.free(n)
        n = new
    }

    @inline(__always) private static func putNull(_ to: UnsafeMutableRawPointer, _ w: Int) {
        Platform.zero(to, w - 1)
        to.storeBytes(of: UInt8(w), toByteOffset: w - 1, as: UInt8.self)
    }

    @inline(__always) static func putSmall(_ n: Node, _ i: Int, _ value: Bytes?) {
        let w = n.width
        if w == 0 { return }
        let to = n.payload + i &* w
        guard let value else {
            putNull(to, w)
            return
        }
        Platform.zero(to, w &- 1)
        if let p = value.baseAddress, value.count > 0 { Platform.copy(to, p, value.count) }
        to.storeBytes(of: UInt8(w &- 1 &- value.count), toByteOffset: w &- 1, as: UInt8.self)
    }
}

/// Names arrays: small strings only, not nullable: width 0 reads as "", a null slot as "". Format: logical §1, §3.
extension NodeStore {
    func name(_ n: Node, _ i: Int) throws(RealmError) -> Name {
        guard n.widthType == 1 && !n.hasRefs && i >= 0 && i < n.count else {
            throw .corrupt("not a names array", at: n.ref.offset)
        }
        guard let b = try StringLeaf.getSmall(n, i) else { return "" }
        return Name(String(decoding: b, as: UTF8.self))
    }

    /// Sets or appends (`i == count`) a name of at most 63 bytes; nil writes a null slot.
    func setName(_ n: inout Node, _ i: Int, _ name: Name?) throws(RealmError) {
        var text = name?.text ?? ""
        let append = i == n.count
        var failure: RealmError?
        text.withUTF8 { b in
            do throws(RealmError) {
                let bytes = name == nil ? nil : Bytes(b)
                try StringLeaf.prepareSmall(
                    self, &n, count: append ? n.count + 1 : n.count, for: bytes, nullable: false)
                if append {
                    n.count += 1
                    storeHeader(n)
                }
                StringLeaf.putSmall(n, i, bytes)
            } catch { failure = error }
        }
        if let failure { throw failure }
    }

    func insertName(_ n: inout Node, _ i: Int, _ name: Name) throws(RealmError) {
        let last = n.count
        try setName(&n, last, name)
        guard i < last, n.width > 0 else { return }
        // Rotate the appended slot into place.
        var slot = [UInt8](repeating: 0, count: n.width)
        slot.withUnsafeMutableBytes { Platform.copy($0.baseAddress!, n.payload + last * n.width, n.width) }
        Platform.move(n.payload + (i + 1) * n.width, n.payload + i * n.width, (last - i) * n.width)
        slot.withUnsafeBytes { Platform.copy(n.payload + i * n.width, $0.baseAddress!, n.width) }
    }
}

/// The three-node form shared by medium strings and small binaries: end offsets, one blob, null flags.
/// Strings own a terminating zero byte each (nulls too); binaries own none. Format: logical §6.4, §6.6.
enum MediumLeaf {
    struct Parts {
        var ends: Node
        var blob: Node
        var nulls: Node
    }

    static func parts(_ s: NodeStore, _ n: Node) throws(RealmError) -> Parts {
        guard n.count >= 3 else { throw .corrupt("leaf of offsets, bytes and nulls is too short", at: n.ref.offset) }
        return Parts(
            ends: try s.integers(try n.child(0)), blob: try s.blob(try n.child(1)),
            nulls: try s.integers(try n.child(2)))
    }

    /// Byte range of element `i`.
    @inline(__always) static func range(_ p: Parts, _ i: Int) throws(RealmError) -> (start: Int, end: Int) {
        guard i >= 0, i < p.ends.count, p.nulls.count == p.ends.count else {
            throw .corrupt("leaf of offsets is too short", at: p.ends.ref.offset)
        }
        let (start, end) = bounds(p.ends, i)
        guard start >= 0, end >= start, end <= Int64(p.blob.count) else {
            throw .corrupt("offsets out of order", at: p.ends.ref.offset)
        }
        return (Int(start), Int(end))
    }

    /// String `i`, which is there and not null, without its terminating zero; nil: its offsets are out of order.
    @inline(__always) static func text(_ ends: Node, _ blob: Node, _ i: Int) -> Bytes? {
        let (start, end) = bounds(ends, i)
        guard start >= 0, end > start, end <= Int64(blob.count) else { return nil }
        return Bytes(start: blob.payload + Int(start), count: Int(end &- start) &- 1)
    }

    /// As they are in the file.
    @inline(__always) private static func bounds(_ ends: Node, _ i: Int) -> (start: Int64, end: Int64) {
        (i == 0 ? 0 : ends.get(i &- 1), ends.get(i))
    }

    private static func store(_ s: NodeStore, _ n: Node, _ p: Parts) {
        s.setSlot(n, 0, p.ends.ref)
        s.setSlot(n, 1, p.blob.ref)
        s.setSlot(n, 2, p.nulls.ref)
    }

    /// Adds `delta` to all end offsets from `i` on.
    private static func adjust(_ s: NodeStore, _ ends: inout Node, from i: Int, by delta: Int) throws(RealmError) {
        guard delta != 0, i < ends.count else { return }
        // Ends ascend, so the last one decides the width.
        try s.prepare(&ends, count: ends.count, for: ends.get(ends.count &- 1) &+ Int64(delta))
        var j = i
        while j < ends.count {
            ends.put(j, ends.get(j) &+ Int64(delta))
            j &+= 1
        }
    }

    /// `n`: the leaf's slab node.
    static func insert(_ s: NodeStore, _ n: Node, _ i: Int, _ value: Bytes?, terminated: Bool) throws(RealmError) {
        var p = try parts(s, n)
        let start: Int
        if i == p.ends.count {
            start = p.blob.count
        } else {
            start = try range(p, i).start
        }
        let bytes = value ?? Bytes(start: nil, count: 0)
        let added = bytes.count + (terminated ? 1 : 0)
        try s.replaceBytes(&p.blob, at: start, old: 0, with: bytes, terminated: terminated)
        try s.insertInteger(&p.ends, i, Int64(start + added))
        try adjust(s, &p.ends, from: i + 1, by: added)
        try s.insertInteger(&p.nulls, i, value == nil ? 1 : 0)
        store(s, n, p)
    }

    static func set(_ s: NodeStore, _ n: Node, _ i: Int, _ value: Bytes?, terminated: Bool) throws(RealmError) {
        var p = try parts(s, n)
        let (start, end) = try range(p, i)
        let bytes = value ?? Bytes(start: nil, count: 0)
        let added = bytes.count + (terminated ? 1 : 0)
        try s.replaceBytes(&p.blob, at: start, old: end - start, with: bytes, terminated: terminated)
        try adjust(s, &p.ends, from: i, by: added - (end - start))
        let flag: Int64 = value == nil ? 1 : 0
        if p.nulls.get(i) != flag { try s.setInteger(&p.nulls, i, flag) }
        store(s, n, p)
    }

    static func erase(_ s: NodeStore, _ n: Node, _ i: Int) throws(RealmError) {
        var p = try parts(s, n)
        let (start, end) = try range(p, i)
        try s.replaceBytes(&p.blob, at: start, old: end - start, with: Bytes(start: nil, count: 0), terminated: false)
        try s.eraseIntegers(&p.ends, i)
        if i < p.ends.count { try adjust(s, &p.ends, from: i, by: start - end) }
        try s.eraseIntegers(&p.nulls, i)
        store(s, n, p)
    }
}
