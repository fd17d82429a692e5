/// Rows of a leaf that stay when others are removed: the leaf is closed up in one pass, whatever the number that go.
struct KeptRows {
    /// Ascending, each below `total`.
    let rows: UnsafePointer<UInt16>
    let count: Int

    /// Rows of the leaf before.
    let total: Int

    init(rows: UnsafeMutablePointer<UInt16>, count: Int, total: Int) {
        self.rows = UnsafePointer(rows)
        self.count = count
        self.total = total
    }

    @inline(__always) subscript(i: Int) -> Int { Int(rows[i]) }

    /// Moves kept elements to the front.
    @inline(__always) fileprivate func close<T>(_ p: UnsafeMutableRawPointer, _: T.Type) {
        let q = p.assumingMemoryBound(to: T.self)
        for i in 0..<count { q[i] = q[Int(rows[i])] }
    }

    fileprivate func close(_ p: UnsafeMutableRawPointer, bytes: Int) {
        switch bytes {
        case 0: return
        case 1: close(p, UInt8.self)
        case 2: close(p, UInt16.self)
        case 4: close(p, UInt32.self)
        case 8: close(p, UInt64.self)
        case 16: close(p, (UInt64, UInt64).self)
        default: for i in 0..<count where i < self[i] { Platform.copy(p + i &* bytes, p + self[i] &* bytes, bytes) }
        }
    }

    fileprivate func check(_ n: Node, first: Int = 0) throws(RealmError) {
        guard n.count >= total &+ first else { throw .corrupt("leaf is too short", at: n.ref.offset) }
    }
}

extension NodeStore {
    /// Keeps rows of an integer array, and the `first` elements before them; an emptied array goes back to width 0.
    func keepIntegers(_ n: inout Node, _ kept: KeptRows, first: Int = 0) throws(RealmError) {
        try kept.check(n, first: first)
        n = try writable(n)
        if n.width >= 8 {
            kept.close(n.payload + first &* n.width >> 3, bytes: n.width >> 3)
        } else if n.width > 0 {
            for i in 0..<kept.count { n.put(i &+ first, n.get(kept[i] &+ first)) }
        }
        n.count = kept.count &+ first
        if n.count == 0 { setWidth(&n, 0) }
        storeHeader(n)
    }

    /// The same for an unsigned array, which is at least 8 wide.
    func keepUnsigned(_ n: inout Node, _ kept: KeptRows) throws(RealmError) {
        try keepIntegers(&n, kept)
        if n.count == 0 {
            setWidth(&n, 8)
            storeHeader(n)
        }
    }

    /// Keeps elements of a has-refs node, and the `first` before them; what the others refer to is the caller's
    /// business.
    func keepSlots(_ n: inout Node, _ kept: KeptRows, first: Int = 0) throws(RealmError) {
        try kept.check(n, first: first)
        n = try writableRefs(n)
        kept.close(n.payload + first &* 8, bytes: 8)
        n.count = kept.count &+ first
        storeHeader(n)
    }

    /// Keeps slots of a leaf whose width counts bytes; `narrows`: an emptied one goes back to width 0.
    fileprivate func keepFixed(_ n: inout Node, _ kept: KeptRows, narrows: Bool) throws(RealmError) {
        try kept.check(n)
        n = try writable(n)
        kept.close(n.payload, bytes: n.width)
        n.count = kept.count
        if narrows && n.count == 0 { setWidth(&n, 0) }
        storeHeader(n)
    }
}

extension LeafKind {
    /// Removes all rows but `kept`. What a `.slot` element owns is the caller's to destroy first.
    func keep(_ s: NodeStore, _ ref: Ref, _ kept: KeptRows) throws(RealmError) -> Ref {
        switch self {
        case .int, .bool, .link, .objKey:
            var n = try s.integers(ref)
            try s.keepIntegers(&n, kept)
            return n.ref
        case .nullableInt: return try keepNullable(s, ref, kept)
        case .float, .double:
            var n = try FloatLeaf.node(s, ref, width: self == .float ? 4 : 8)
            try s.keepFixed(&n, kept, narrows: false)
            return n.ref
        case .string:
            var n = try s.node(ref)
            if !n.hasRefs {
                guard n.widthType == 1 else {
                    throw RealmError(.notSupported, "Enumerated string columns are read only")
                }
                try s.keepFixed(&n, kept, narrows: true)
                return n.ref
            }
            return try keepBytes(s, n, kept)
        case .binary: return try keepBytes(s, try s.refsNode(ref), kept)
        case .timestamp:
            let n = try s.writableRefs(try s.refsNode(ref))
            var nanos = try s.integers(try n.child(1))
            s.setSlot(n, 0, try keepNullable(s, try n.child(0), kept))
            try s.keepIntegers(&nanos, kept)
            s.setSlot(n, 1, nanos.ref)
            return n.ref
        case .slot:
            var n = try s.refsNode(ref)
            try s.keepSlots(&n, kept)
            return n.ref
        case .decimal, .objectId, .uuid, .typedLink, .mixed:
            // From the end, so that little has to move.
            var ref = ref
            var i = kept.total, k = kept.count
            while i > 0 {
                i -= 1
                if k > 0 && kept[k - 1] == i { k -= 1 } else { ref = try erase(s, ref, i) }
            }
            return ref
        }
    }

    private func keepNullable(_ s: NodeStore, _ ref: Ref, _ kept: KeptRows) throws(RealmError) -> Ref {
        var n = try s.integers(ref)
        try s.keepIntegers(&n, kept, first: 1)
        return n.ref
    }

    private func keepBytes(_ s: NodeStore, _ leaf: Node, _ kept: KeptRows) throws(RealmError) -> Ref {
        var n = try s.writableRefs(leaf)
        guard n.context else {
            try MediumLeaf.keep(s, n, kept)
            return n.ref
        }
        try kept.check(n)
        var k = 0
        for i in 0..<kept.total { if k < kept.count && kept[k] == i { k += 1 } else { try s.destroy(try n.child(i)) } }
        try s.keepSlots(&n, kept)
        return n.ref
    }
}

extension MediumLeaf {
    /// Closes the bytes, the offsets and the null flags up; rows that follow one another move together.
    fileprivate static func keep(_ s: NodeStore, _ n: Node, _ kept: KeptRows) throws(RealmError) {
        var p = try parts(s, n)
        try kept.check(p.ends)
        p.ends = try s.writable(p.ends)
        p.blob = try s.writable(p.blob)
        var at = 0, i = 0
        while i < kept.count {
            let first = kept[i]
            var length = 1
            while i + length < kept.count && kept[i + length] == first + length { length += 1 }
            // Ends before the present row are not needed any more, except the last, which stands where it did or is the
            // same.
            let start = first == 0 ? 0 : Int(truncatingIfNeeded: p.ends.get(first &- 1))
            let end = Int(truncatingIfNeeded: p.ends.get(first &+ length &- 1))
            guard start >= at, end >= start, end <= p.blob.count else {
                throw .corrupt("offsets out of order", at: p.ends.ref.offset)
            }
            if start > at { Platform.move(p.blob.payload + at, p.blob.payload + start, end &- start) }
            if i < first {
                for j in 0..<length { p.ends.put(i &+ j, p.ends.get(first &+ j) &- Int64(start &- at)) }
            }
            at &+= end &- start
            i += length
        }
        p.blob.count = at
        s.storeHeader(p.blob)
        p.ends.count = kept.count
        if kept.count == 0 { s.setWidth(&p.ends, 0) }
        s.storeHeader(p.ends)
        try s.keepIntegers(&p.nulls, kept)
        s.setSlot(n, 0, p.ends.ref)
        s.setSlot(n, 1, p.blob.ref)
        s.setSlot(n, 2, p.nulls.ref)
    }
}
