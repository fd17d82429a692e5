/// A leaf of strings in one of four physical forms; the header determines which:
///
/// - small: fixed slots of 0 … 16 bytes (names: up to 64); the last byte holds the padding or means null;
/// - enumerated: an integer array of indexes into a leaf of distinct values (read only);
/// - medium: [end offsets, blob, nulls];
/// - big: a ref to a blob for each string.
///
/// Forms only move up: small up to 15 bytes, medium up to 63 bytes, then big. Format: logical §6.4.
enum StringLeaf {
    static let smallLimit = 15
    static let mediumLimit = 63

    static func create(_ store: NodeStore) throws(RealmError) -> Ref {
        try store.allocate(NodeHeader(widthType: .multiply, width: 0, count: 0), capacity: 24).ref
    }

    @inline(__always) static func count(_ store: NodeStore, _ ref: Ref) throws(RealmError) -> Int {
        let node = try store.node(ref)
        if node.hasRefs && !node.context { return try store.integers(try node.child(0)).count }
        return node.count
    }

    /// The string at `index`; nil for null.
    @inline(__always) static func get(_ store: NodeStore, _ ref: Ref, _ index: Int) throws(RealmError) -> Bytes? {
        try get(store, try store.node(ref), index)
    }

    @inline(__always) static func get(_ store: NodeStore, _ node: Node, _ index: Int) throws(RealmError) -> Bytes? {
        if node.hasRefs {
            return node.context ? try getBig(store, node, index) : try getMedium(store, node, index)
        }
        guard node.widthType == 1, index >= 0, index < node.count else {
            throw .corrupt("string leaf is too short or of no known form", at: node.ref.offset)
        }
        return try getSmall(node, index)
    }

    @inline(__always) static func getSmall(_ node: Node, _ index: Int) throws(RealmError) -> Bytes? {
        guard let text = small(node, index) else {
            throw .corrupt("string padding exceeds its slot", at: node.ref.offset)
        }
        return text
    }

    /// The text in a slot, which may be null. The outer nil means that the slot is damaged.
    @inline(__always) static func small(_ node: Node, _ index: Int) -> Bytes?? {
        let width = node.width
        if width == 0 { return .some(nil) }
        let slot = node.payload + index &* width
        let padding = Int(slot.load(fromByteOffset: width &- 1, as: UInt8.self))
        if padding >= width { return padding == width ? .some(nil) : nil }
        return Bytes(start: slot, count: width &- 1 &- padding)
    }

    @inline(__always) private static func getMedium(_ store: NodeStore, _ node: Node, _ index: Int) throws(RealmError)
        -> Bytes?
    {
        guard node.count >= 3, node.widthType == 0 else {
            throw .corrupt("string leaf is too short or of no known form", at: node.ref.offset)
        }
        let ends = try store.integers(Ref(Int(node.get(0))))
        let nulls = try store.integers(Ref(Int(node.get(2))))
        guard index >= 0, index < ends.count, index < nulls.count else {
            throw .corrupt("string leaf is too short", at: node.ref.offset)
        }
        if nulls.get(index) != 0 { return nil }
        let blob = try store.blob(Ref(Int(node.get(1))))
        guard let text = MediumLeaf.text(ends, blob, index) else {
            throw .corrupt("string offsets out of order", at: node.ref.offset)
        }
        return text
    }

    private static func getBig(_ store: NodeStore, _ node: Node, _ index: Int) throws(RealmError) -> Bytes? {
        let blobRef = try node.child(index)
        if blobRef.isNull { return nil }
        let blob = try store.node(blobRef)
        // A list of blobs is a string beyond the size limit; it reads as null, as in realm-core.
        if blob.hasRefs { return nil }
        guard blob.widthType == 2 else { throw .corrupt("not a blob", at: blobRef.offset) }
        guard blob.count > 0 else { throw .corrupt("string without terminator", at: blobRef.offset) }
        return Bytes(start: blob.payload, count: blob.count &- 1)
    }

    // MARK: Changing

    /// Converts the leaf, if necessary, to the form for a string of `length` bytes (−1 for null). Returns its node,
    /// which may still be in the file.
    private static func formed(_ store: NodeStore, _ ref: Ref, for length: Int) throws(RealmError) -> Node {
        let node = try store.node(ref)
        if node.hasRefs {
            if node.context || length <= mediumLimit { return node }
            return try convert(store, node, toBig: true)
        }
        guard node.widthType == 1 else { throw RealmError(.notSupported, "Enumerated string columns are read only") }
        if length <= smallLimit { return node }
        return try convert(store, node, toBig: length > mediumLimit)
    }

    private static func convert(_ store: NodeStore, _ node: Node, toBig: Bool) throws(RealmError) -> Node {
        let count = try self.count(store, node.ref)
        var new: Node
        if toBig {
            new = try store.allocate(
                NodeHeader(hasRefs: true, context: true, width: 64, count: 0), capacity: max(count + 8, 8) * 8)
            for i in 0..<count {
                let blob =
                    try get(store, node, i).map { b throws(RealmError) in try store.makeBlob(b, terminated: true).ref }
                    ?? .null
                try store.insertSlot(&new, i, RefOrTagged(blob))
            }
        } else {
            // The texts are appended in order, in one pass.
            var ends = try store.makeIntegers()
            var nulls = try store.makeIntegers()
            var blob = try store.makeBlob(Bytes(start: nil, count: 0))
            for i in 0..<count {
                let text = try get(store, node, i)
                try store.replaceBytes(
                    &blob, at: blob.count, old: 0, with: text ?? Bytes(start: nil, count: 0), terminated: true)
                try store.appendInteger(&ends, Int64(blob.count))
                try store.appendInteger(&nulls, text == nil ? 1 : 0)
            }
            new = try store.makeRefs([RefOrTagged(ends.ref), RefOrTagged(blob.ref), RefOrTagged(nulls.ref)])
        }
        try store.destroy(node.ref)
        return new
    }

    static func insert(_ store: NodeStore, _ ref: Ref, _ index: Int, _ value: Bytes?) throws(RealmError) -> Ref {
        var node = try formed(store, ref, for: value?.count ?? -1)
        if !node.hasRefs {
            guard index <= node.count else { throw .corrupt("string leaf is too short", at: ref.offset) }
            try prepareSmall(store, &node, count: node.count + 1, for: value, nullable: true)
            if index < node.count {
                CMemory.move(
                    node.payload + (index + 1) * node.width, node.payload + index * node.width,
                    (node.count - index) * node.width)
            }
            node.count += 1
            putSmall(node, index, value)
            store.storeHeader(node)
            return node.ref
        }
        node = try store.writableRefs(node)
        if node.context {
            guard index <= node.count else { throw .corrupt("string leaf is too short", at: ref.offset) }
            let blob = try value.map { b throws(RealmError) in try store.makeBlob(b, terminated: true).ref } ?? .null
            try store.insertSlot(&node, index, RefOrTagged(blob))
            return node.ref
        }
        try MediumLeaf.insert(store, node, index, value, terminated: true)
        return node.ref
    }

    static func set(_ store: NodeStore, _ ref: Ref, _ index: Int, _ value: Bytes?) throws(RealmError) -> Ref {
        var node = try formed(store, ref, for: value?.count ?? -1)
        if !node.hasRefs {
            guard index < node.count else { throw .corrupt("string leaf is too short", at: ref.offset) }
            try prepareSmall(store, &node, count: node.count, for: value, nullable: true)
            putSmall(node, index, value)
            return node.ref
        }
        node = try store.writableRefs(node)
        if node.context {
            let old = try node.child(index)
            let blob = try value.map { b throws(RealmError) in try store.makeBlob(b, terminated: true).ref } ?? .null
            store.setSlot(node, index, blob)
            try store.destroy(old)
            return node.ref
        }
        try MediumLeaf.set(store, node, index, value, terminated: true)
        return node.ref
    }

    static func erase(_ store: NodeStore, _ ref: Ref, _ index: Int) throws(RealmError) -> Ref {
        var node = try store.node(ref)
        if !node.hasRefs {
            guard node.widthType == 1 else {
                throw RealmError(.notSupported, "Enumerated string columns are read only")
            }
            guard index < node.count else { throw .corrupt("string leaf is too short", at: ref.offset) }
            node = try store.writable(node)
            CMemory.move(
                node.payload + index * node.width, node.payload + (index + 1) * node.width,
                (node.count - index - 1) * node.width)
            node.count -= 1
            if node.count == 0 { store.setWidth(&node, 0) }
            store.storeHeader(node)
            return node.ref
        }
        node = try store.writableRefs(node)
        if node.context {
            try store.destroy(try node.child(index))
            try store.eraseSlots(&node, index)
        } else {
            try MediumLeaf.erase(store, node, index)
        }
        return node.ref
    }

    // MARK: Small form (also table and column names)

    /// Slot width for `value`: its length + 1, rounded up to a power of two; 0 for null.
    private static func slotWidth(_ value: Bytes?, nullable: Bool) -> Int {
        guard let value else { return 0 }
        if value.count == 0 && !nullable { return 0 }
        var width = 1
        while width < value.count + 1 { width <<= 1 }
        return width
    }

    /// Makes a small leaf writable (in the slab), with room for `count` slots that are wide enough for `value`.
    @inline(__always)
    static func prepareSmall(_ store: NodeStore, _ node: inout Node, count: Int, for value: Bytes?, nullable: Bool)
        throws(RealmError)
    {
        let needed = slotWidth(value, nullable: nullable)
        let old = node.width
        if needed <= old {
            node = try store.writable(node, capacity: count * old)
            return
        }
        var new = try store.allocate(
            NodeHeader(flags: node.flags & 0xF8 | NodeHeader.widthCode(needed), count: node.count),
            capacity: max(count, min(node.count * 2, 256)) * needed)
        new.width = needed
        for i in 0..<node.count {
            // Elements of width 0 become null, also in names arrays. Otherwise the padding grows by the difference of
            // the widths.
            let to = new.payload + i * needed
            let padding = old == 0 ? old : Int(node.payload.load(fromByteOffset: (i + 1) * old - 1, as: UInt8.self))
            if old == 0 || padding >= old {
                putNull(to, needed)
            } else {
                CMemory.zero(to, needed)
                CMemory.copy(to, node.payload + i * old, old - 1 - padding)
                to.storeBytes(of: UInt8(padding + needed - old), toByteOffset: needed - 1, as: UInt8.self)
            }
        }
        store.free(node)
        node = new
    }

    @inline(__always) private static func putNull(_ to: UnsafeMutableRawPointer, _ width: Int) {
        CMemory.zero(to, width - 1)
        to.storeBytes(of: UInt8(width), toByteOffset: width - 1, as: UInt8.self)
    }

    @inline(__always) static func putSmall(_ node: Node, _ index: Int, _ value: Bytes?) {
        let width = node.width
        if width == 0 { return }
        let to = node.payload + index &* width
        guard let value else {
            putNull(to, width)
            return
        }
        CMemory.zero(to, width &- 1)
        if let start = value.baseAddress, value.count > 0 { CMemory.copy(to, start, value.count) }
        to.storeBytes(of: UInt8(width &- 1 &- value.count), toByteOffset: width &- 1, as: UInt8.self)
    }
}

/// Names arrays: small strings that are never null. Width 0 and null slots read as "". Format: logical §1, §3.
extension NodeStore {
    func name(_ node: Node, _ index: Int) throws(RealmError) -> Name {
        guard node.widthType == 1 && !node.hasRefs && index >= 0 && index < node.count else {
            throw .corrupt("not a names array", at: node.ref.offset)
        }
        guard let text = try StringLeaf.getSmall(node, index) else { return "" }
        return Name(String(decoding: text, as: UTF8.self))
    }

    /// Sets a name, or appends it if `index` is the count. A name has at most 63 bytes; nil writes a null slot.
    func setName(_ node: inout Node, _ index: Int, _ name: Name?) throws(RealmError) {
        var text = name?.text ?? ""
        let append = index == node.count
        var failure: RealmError?
        text.withUTF8 { b in
            do throws(RealmError) {
                let bytes = name == nil ? nil : Bytes(b)
                try StringLeaf.prepareSmall(
                    self, &node, count: append ? node.count + 1 : node.count, for: bytes, nullable: false)
                if append {
                    node.count += 1
                    storeHeader(node)
                }
                StringLeaf.putSmall(node, index, bytes)
            } catch { failure = error }
        }
        if let failure { throw failure }
    }
}

/// The three-node form of medium strings and small binaries: end offsets, one blob, null flags. Each string, also a
/// null, ends in a zero byte; binaries do not. Format: logical §6.4, §6.6.
enum MediumLeaf {
    struct Parts {
        var ends: Node
        var blob: Node
        var nulls: Node
    }

    static func parts(_ store: NodeStore, _ node: Node) throws(RealmError) -> Parts {
        guard node.count >= 3 else {
            throw .corrupt("leaf of offsets, bytes and nulls is too short", at: node.ref.offset)
        }
        return Parts(
            ends: try store.integers(try node.child(0)), blob: try store.blob(try node.child(1)),
            nulls: try store.integers(try node.child(2)))
    }

    /// Byte range of the element at `index`.
    @inline(__always) static func range(_ parts: Parts, _ index: Int) throws(RealmError) -> (start: Int, end: Int) {
        guard index >= 0, index < parts.ends.count, parts.nulls.count == parts.ends.count else {
            throw .corrupt("leaf of offsets is too short", at: parts.ends.ref.offset)
        }
        let (start, end) = bounds(parts.ends, index)
        guard start >= 0, end >= start, end <= Int64(parts.blob.count) else {
            throw .corrupt("offsets out of order", at: parts.ends.ref.offset)
        }
        return (Int(start), Int(end))
    }

    /// The string at `index`, which exists and is not null, without its terminating zero; nil if its offsets are out of
    /// order.
    @inline(__always) static func text(_ ends: Node, _ blob: Node, _ index: Int) -> Bytes? {
        let (start, end) = bounds(ends, index)
        guard start >= 0, end > start, end <= Int64(blob.count) else { return nil }
        return Bytes(start: blob.payload + Int(start), count: Int(end &- start) &- 1)
    }

    /// Start and end offset as stored in the file, unchecked.
    @inline(__always) private static func bounds(_ ends: Node, _ index: Int) -> (start: Int64, end: Int64) {
        (index == 0 ? 0 : ends.get(index &- 1), ends.get(index))
    }

    private static func store(_ store: NodeStore, _ node: Node, _ parts: Parts) {
        store.setSlot(node, 0, parts.ends.ref)
        store.setSlot(node, 1, parts.blob.ref)
        store.setSlot(node, 2, parts.nulls.ref)
    }

    /// Adds `delta` to all end offsets from `index` on.
    private static func adjust(_ store: NodeStore, _ ends: inout Node, from index: Int, by delta: Int)
        throws(RealmError)
    {
        guard delta != 0, index < ends.count else { return }
        // End offsets ascend, so the last one determines the width.
        try store.prepare(&ends, count: ends.count, for: ends.get(ends.count &- 1) &+ Int64(delta))
        var j = index
        while j < ends.count {
            ends.put(j, ends.get(j) &+ Int64(delta))
            j &+= 1
        }
    }

    /// `node` is the leaf, in the slab.
    static func insert(_ nodes: NodeStore, _ node: Node, _ index: Int, _ value: Bytes?, terminated: Bool)
        throws(RealmError)
    {
        var leaf = try parts(nodes, node)
        let start: Int
        if index == leaf.ends.count {
            start = leaf.blob.count
        } else {
            start = try range(leaf, index).start
        }
        let bytes = value ?? Bytes(start: nil, count: 0)
        let added = bytes.count + (terminated ? 1 : 0)
        try nodes.replaceBytes(&leaf.blob, at: start, old: 0, with: bytes, terminated: terminated)
        try nodes.insertInteger(&leaf.ends, index, Int64(start + added))
        try adjust(nodes, &leaf.ends, from: index + 1, by: added)
        try nodes.insertInteger(&leaf.nulls, index, value == nil ? 1 : 0)
        store(nodes, node, leaf)
    }

    static func set(_ nodes: NodeStore, _ node: Node, _ index: Int, _ value: Bytes?, terminated: Bool)
        throws(RealmError)
    {
        var leaf = try parts(nodes, node)
        let (start, end) = try range(leaf, index)
        let bytes = value ?? Bytes(start: nil, count: 0)
        let added = bytes.count + (terminated ? 1 : 0)
        try nodes.replaceBytes(&leaf.blob, at: start, old: end - start, with: bytes, terminated: terminated)
        try adjust(nodes, &leaf.ends, from: index, by: added - (end - start))
        let flag: Int64 = value == nil ? 1 : 0
        if leaf.nulls.get(index) != flag { try nodes.setInteger(&leaf.nulls, index, flag) }
        store(nodes, node, leaf)
    }

    static func erase(_ nodes: NodeStore, _ node: Node, _ index: Int) throws(RealmError) {
        var leaf = try parts(nodes, node)
        let (start, end) = try range(leaf, index)
        try nodes.replaceBytes(
            &leaf.blob, at: start, old: end - start, with: Bytes(start: nil, count: 0), terminated: false)
        try nodes.eraseIntegers(&leaf.ends, index)
        if index < leaf.ends.count { try adjust(nodes, &leaf.ends, from: index, by: start - end) }
        try nodes.eraseIntegers(&leaf.nulls, index)
        store(nodes, node, leaf)
    }
}
