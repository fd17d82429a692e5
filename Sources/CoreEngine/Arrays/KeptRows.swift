/// The rows of a leaf that remain when others are removed. The leaf is compacted in one pass, however many rows are
/// removed.
struct KeptRows {
    /// Ascending, each below `total`.
    let rows: UnsafePointer<UInt16>
    let count: Int

    /// Number of rows before the removal.
    let total: Int

    init(rows: UnsafeMutablePointer<UInt16>, count: Int, total: Int) {
        self.rows = UnsafePointer(rows)
        self.count = count
        self.total = total
    }

    @inline(__always) subscript(i: Int) -> Int { Int(rows[i]) }

    /// Moves kept elements to the front.
    @inline(__always) fileprivate func close<T>(_ p: UnsafeMutableRawPointer, _: T.Type) {
        let elements = p.assumingMemoryBound(to: T.self)
        for i in 0..<count { elements[i] = elements[Int(rows[i])] }
    }

    fileprivate func close(_ p: UnsafeMutableRawPointer, bytes: Int) {
        switch bytes {
        case 0: return
        case 1: close(p, UInt8.self)
        case 2: close(p, UInt16.self)
        case 4: close(p, UInt32.self)
        case 8: close(p, UInt64.self)
        case 16: close(p, (UInt64, UInt64).self)
        default: for i in 0..<count where i < self[i] { CMemory.copy(p + i &* bytes, p + self[i] &* bytes, bytes) }
        }
    }

    fileprivate func check(_ node: Node, first: Int = 0) throws(RealmError) {
        guard node.count >= total &+ first else { throw .corrupt("leaf is too short", at: node.ref.offset) }
    }
}

extension NodeStore {
    /// Removes all elements but the kept rows and the `first` elements before all rows. An array that becomes empty
    /// gets width 0.
    func keepIntegers(_ node: inout Node, _ kept: KeptRows, first: Int = 0) throws(RealmError) {
        try kept.check(node, first: first)
        node = try writable(node)
        if node.width >= 8 {
            kept.close(node.payload + first &* node.width >> 3, bytes: node.width >> 3)
        } else if node.width > 0 {
            for i in 0..<kept.count { node.put(i &+ first, node.get(kept[i] &+ first)) }
        }
        node.count = kept.count &+ first
        if node.count == 0 { setWidth(&node, 0) }
        storeHeader(node)
    }

    /// Like `keepIntegers`, for an unsigned array, whose width is at least 8 bits.
    func keepUnsigned(_ node: inout Node, _ kept: KeptRows) throws(RealmError) {
        try keepIntegers(&node, kept)
        if node.count == 0 {
            setWidth(&node, 8)
            storeHeader(node)
        }
    }

    /// Removes all slots of a has-refs node but the kept ones and the `first` slots before them. The caller destroys
    /// the nodes that the removed slots refer to.
    func keepSlots(_ node: inout Node, _ kept: KeptRows, first: Int = 0) throws(RealmError) {
        try kept.check(node, first: first)
        node = try writableRefs(node)
        kept.close(node.payload + first &* 8, bytes: 8)
        node.count = kept.count &+ first
        storeHeader(node)
    }

    /// Removes all slots but the kept ones from a leaf whose width counts bytes. With `narrows`, a leaf that becomes
    /// empty gets width 0.
    fileprivate func keepFixed(_ node: inout Node, _ kept: KeptRows, narrows: Bool) throws(RealmError) {
        try kept.check(node)
        node = try writable(node)
        kept.close(node.payload, bytes: node.width)
        node.count = kept.count
        if narrows && node.count == 0 { setWidth(&node, 0) }
        storeHeader(node)
    }
}

extension LeafKind {
    /// Removes all rows but `kept`. The caller first destroys the nodes that removed `.slot` elements own.
    func keep(_ store: NodeStore, _ ref: Ref, _ kept: KeptRows) throws(RealmError) -> Ref {
        switch self {
        case .int, .bool, .link, .objKey:
            var node = try store.integers(ref)
            try store.keepIntegers(&node, kept)
            return node.ref
        case .nullableInt: return try keepNullable(store, ref, kept)
        case .float, .double:
            var node = try FloatLeaf.node(store, ref, width: self == .float ? 4 : 8)
            try store.keepFixed(&node, kept, narrows: false)
            return node.ref
        case .string:
            var node = try store.node(ref)
            if !node.hasRefs {
                guard node.widthType == 1 else {
                    throw RealmError(.notSupported, "Enumerated string columns are read only")
                }
                try store.keepFixed(&node, kept, narrows: true)
                return node.ref
            }
            return try keepBytes(store, node, kept)
        case .binary: return try keepBytes(store, try store.refsNode(ref), kept)
        case .timestamp:
            let node = try store.writableRefs(try store.refsNode(ref))
            var nanos = try store.integers(try node.child(1))
            store.setSlot(node, 0, try keepNullable(store, try node.child(0), kept))
            try store.keepIntegers(&nanos, kept)
            store.setSlot(node, 1, nanos.ref)
            return node.ref
        case .slot:
            var node = try store.refsNode(ref)
            try store.keepSlots(&node, kept)
            return node.ref
        case .decimal, .objectId, .uuid, .typedLink, .mixed:
            // From the end: fewer elements have to move.
            var ref = ref
            var i = kept.total, k = kept.count
            while i > 0 {
                i -= 1
                if k > 0 && kept[k - 1] == i { k -= 1 } else { ref = try erase(store, ref, i) }
            }
            return ref
        }
    }

    private func keepNullable(_ store: NodeStore, _ ref: Ref, _ kept: KeptRows) throws(RealmError) -> Ref {
        var node = try store.integers(ref)
        try store.keepIntegers(&node, kept, first: 1)
        return node.ref
    }

    private func keepBytes(_ store: NodeStore, _ leaf: Node, _ kept: KeptRows) throws(RealmError) -> Ref {
        var node = try store.writableRefs(leaf)
        guard node.context else {
            try MediumLeaf.keep(store, node, kept)
            return node.ref
        }
        try kept.check(node)
        var next = 0
        for i in 0..<kept.total {
            if next < kept.count && kept[next] == i { next += 1 } else { try store.destroy(try node.child(i)) }
        }
        try store.keepSlots(&node, kept)
        return node.ref
    }
}

extension MediumLeaf {
    /// Compacts the bytes, the offsets and the null flags; adjacent rows move together.
    fileprivate static func keep(_ store: NodeStore, _ node: Node, _ kept: KeptRows) throws(RealmError) {
        var leaf = try parts(store, node)
        try kept.check(leaf.ends)
        leaf.ends = try store.writable(leaf.ends)
        leaf.blob = try store.writable(leaf.blob)
        var at = 0, i = 0
        while i < kept.count {
            let first = kept[i]
            var length = 1
            while i + length < kept.count && kept[i + length] == first + length { length += 1 }
            // The end offset before this row is still the original one: either it was not overwritten, or no earlier
            // row was removed.
            let start = first == 0 ? 0 : Int(truncatingIfNeeded: leaf.ends.get(first &- 1))
            let end = Int(truncatingIfNeeded: leaf.ends.get(first &+ length &- 1))
            guard start >= at, end >= start, end <= leaf.blob.count else {
                throw .corrupt("offsets out of order", at: leaf.ends.ref.offset)
            }
            if start > at { CMemory.move(leaf.blob.payload + at, leaf.blob.payload + start, end &- start) }
            if i < first {
                for j in 0..<length { leaf.ends.put(i &+ j, leaf.ends.get(first &+ j) &- Int64(start &- at)) }
            }
            at &+= end &- start
            i += length
        }
        leaf.blob.count = at
        store.storeHeader(leaf.blob)
        leaf.ends.count = kept.count
        if kept.count == 0 { store.setWidth(&leaf.ends, 0) }
        store.storeHeader(leaf.ends)
        try store.keepIntegers(&leaf.nulls, kept)
        store.setSlot(node, 0, leaf.ends.ref)
        store.setSlot(node, 1, leaf.blob.ref)
        store.setSlot(node, 2, leaf.nulls.ref)
    }
}
