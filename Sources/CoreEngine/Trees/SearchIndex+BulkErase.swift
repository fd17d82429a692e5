/// Removes many objects from an index in one walk over its nodes: entries are sorted by chunk, and every node and every
/// list of keys is compacted once. The result is the same as after single removals, except for the division of long
/// lists into leaves.
extension SearchIndex {
    /// Values with their objects, in key order. The bytes of the values must not move until the entries are removed.
    struct Leaving {
        fileprivate var values: [IndexData] = []
        fileprivate var keys: [ObjKey] = []

        mutating func reserve(_ count: Int) throws(RealmError) {
            try values.makeRoom(for: count)
            try keys.makeRoom(for: count)
        }

        @inline(__always) mutating func append(_ value: Mixed, _ key: ObjKey) {
            guard let data = IndexData(value) else { return }
            values.append(data)
            keys.append(key)
        }
    }

    /// The same as raw memory, without reference counts and checks: values, keys, and space for sorting.
    private struct Entries {
        let values: UnsafePointer<IndexData>
        let keys: UnsafePointer<ObjKey>
        let spare: UnsafeMutablePointer<UInt64>
    }

    /// Removes the entries; missing entries are ignored.
    mutating func erase(_ leaving: Leaving) throws(RealmError) {
        let count = leaving.keys.count
        guard count > 0, count < 1 << 32 else { return }
        try CMemory.expect(count, each: 16)
        let order = UnsafeMutablePointer<UInt64>.allocate(capacity: count * 2)
        defer { order.deallocate() }
        for i in 0..<count { order[i] = UInt64(i) }
        var ref = root
        var failure: RealmError?
        leaving.values.withUnsafeBufferPointer { values in
            leaving.keys.withUnsafeBufferPointer { keys in
                do throws(RealmError) {
                    guard let data = values.baseAddress, let objects = keys.baseAddress else { return }
                    let entries = Entries(values: data, keys: objects, spare: order + count)
                    let all = UnsafeMutableBufferPointer(start: order, count: count)
                    Self.sort(all, entries, 0)
                    _ = try erase(&ref, all, entries, 0, depth: 0)
                    try lower(&ref)
                } catch { failure = error }
            }
        }
        if let failure { throw failure }
        root = ref
    }

    /// The chunk of a sorted entry, from its upper 32 bits. The lower 32 bits are the number of the entry.
    @inline(__always) private static func chunk(_ entry: UInt64) -> Int32 {
        Int32(bitPattern: UInt32(truncatingIfNeeded: entry >> 32) ^ 0x8000_0000)
    }

    @inline(__always) private static func number(_ entry: UInt64) -> Int { Int(UInt32(truncatingIfNeeded: entry)) }

    /// Sorts entries by their chunk at `offset`. The sort is stable.
    private static func sort(_ order: UnsafeMutableBufferPointer<UInt64>, _ entries: Entries, _ offset: Int) {
        let count = order.count
        guard let base = order.baseAddress, count > 0 else { return }
        var differing: UInt64 = 0
        for i in 0..<count {
            let entryNumber = number(base[i])
            base[i] =
                UInt64(UInt32(bitPattern: entries.values[entryNumber].chunk(offset)) ^ 0x8000_0000) << 32
                | UInt64(entryNumber)
            differing |= (base[i] ^ base[0]) >> 32
        }
        if differing == 0 { return }
        let sorted = RadixSort.sort(base, count, spare: entries.spare) { $0 >> 32 }
        if sorted != base { base.update(from: sorted, count: count) }
    }

    /// Removes entries below `ref`, which are sorted by their chunk at `offset`; true if the node became empty.
    private func erase(
        _ ref: inout Ref, _ order: UnsafeMutableBufferPointer<UInt64>, _ entries: Entries, _ offset: Int, depth: Int
    ) throws(RealmError) -> Bool {
        guard depth < 512 else { throw .corrupt("index too deep", at: ref.offset) }
        var (node, chunks) = try open(ref)
        let total = chunks.count
        guard total > 0 else { return false }
        guard total <= 1 << 16 else { throw .corrupt("index node of an impossible size", at: ref.offset) }
        var staying = StayingPlaces(total)
        defer { staying.places.deallocate() }
        let isDense = order.count * 8 > total
        var at = 0, position = 0
        while at < order.count && position < total {
            let chunk = Self.chunk(order[at])
            if isDense || node.isInner {
                while position < total && chunks.get(position) < Int64(chunk) { position &+= 1 }
            } else {
                position = max(position, Self.search(chunks, chunk))
            }
            guard position < total else { break }
            // The entries of this position: in an inner node those up to the last chunk of the child, in a leaf those
            // of one chunk.
            let bound = chunks.get(position)
            var end = at
            while end < order.count, Int64(Self.chunk(order[end])) <= bound,
                node.isInner || order[end] >> 32 == order[at] >> 32
            { end &+= 1 }
            if end == at {
                // The chunk is not in this leaf.
                at &+= 1
                continue
            }
            let group = UnsafeMutableBufferPointer(rebasing: order[at..<end])
            at = end
            if !node.isInner && bound != Int64(chunk) { continue }
            let entry = try node.slot(position &+ 1)
            guard let new = try shrink(entry, group, entries, offset, isChild: node.isInner, depth: depth) else {
                staying.leaveOut(position)
                position &+= 1
                continue
            }
            if node.isInner {
                let last = try lastKey(new.ref)
                if bound != last {
                    try store.setInteger(&chunks, position, last)
                    node = try store.writableRefs(node)
                    store.setSlot(node, 0, chunks.ref)
                    ref = node.ref
                }
            }
            if new != entry {
                node = try store.writableRefs(node)
                ref = node.ref
                store.setSlot(node, position &+ 1, new)
            }
            position &+= 1
        }
        guard staying.isAnyLeftOut else { return false }
        staying.keep(upTo: total)
        node = try store.writableRefs(node)
        ref = node.ref
        try keep(KeptRows(rows: staying.places, count: staying.count, total: total), of: &node, &chunks)
        return staying.count == 0
    }

    /// Removes all entries but `rows` from a node and its chunks.
    private func keep(_ rows: KeptRows, of node: inout Node, _ chunks: inout Node) throws(RealmError) {
        try store.keepIntegers(&chunks, rows)
        if rows.count == 0 {
            store.setWidth(&chunks, 32)
            store.storeHeader(chunks)
        }
        store.setSlot(node, 0, chunks.ref)
        try store.keepSlots(&node, rows, first: 1)
    }

    /// An entry, or a child of an inner node, without the objects of `group`; nil if it becomes empty.
    private func shrink(
        _ entry: RefOrTagged, _ group: UnsafeMutableBufferPointer<UInt64>, _ entries: Entries, _ offset: Int,
        isChild: Bool, depth: Int
    ) throws(RealmError) -> RefOrTagged? {
        if !isChild {
            let isSubIndex = entry.isTagged ? false : try store.node(entry.ref).context
            guard isSubIndex else { return try remove(entry, UnsafeBufferPointer(group), entries) }
            Self.sort(group, entries, offset + 4)
        }
        var child = entry.ref
        if try erase(&child, group, entries, isChild ? offset : offset + 4, depth: depth + 1) {
            try store.destroy(child)
            return nil
        }
        if !isChild { try lower(&child) }
        return RefOrTagged(child)
    }

    /// The entry without the objects of a group; nil if it becomes empty.
    private func remove(_ entry: RefOrTagged, _ group: UnsafeBufferPointer<UInt64>, _ entries: Entries)
        throws(RealmError) -> RefOrTagged?
    {
        if group.count > 1, !entry.isTagged {
            let node = try store.node(entry.ref)
            if !node.isInner {
                if let leaf = try close(try store.integers(entry.ref), group, entries) {
                    if leaf.count > 0 { return RefOrTagged(leaf.ref) }
                    store.free(leaf)
                    return nil
                }
            } else if try group.count > BPlusTree.count(store, .int, entry.ref) / 32 {
                if let left = try difference(BPlusTree(store, kind: .int, root: entry.ref), group, entries) {
                    try store.destroy(entry.ref)
                    return left.isEmpty ? nil : RefOrTagged(try BPlusTree.make(store, integers: left).root)
                }
            }
        }
        // Few objects of a long list, or keys that are not in ascending order: remove them one by one.
        var rest = entry
        for entry in group {
            guard let next = try remove(rest, entries.keys[Self.number(entry)]) else { return nil }
            rest = next
        }
        return rest
    }

    /// Removes the keys of a group from a list of one leaf. Returns nil and changes nothing if the list does not hold
    /// all of them in order.
    private func close(_ list: Node, _ group: UnsafeBufferPointer<UInt64>, _ entries: Entries) throws(RealmError)
        -> Node?
    {
        let total = list.count
        guard total >= group.count, total <= Format.treeCapacity else { return nil }
        let kept = UnsafeMutablePointer<UInt16>.allocate(capacity: total)
        defer { kept.deallocate() }
        var count = 0, g = 0
        for i in 0..<total {
            if g < group.count && list.get(i) == entries.keys[Self.number(group[g])].raw {
                g &+= 1
            } else {
                kept[count] = UInt16(truncatingIfNeeded: i)
                count &+= 1
            }
        }
        guard g == group.count else { return nil }
        var leaf = list
        try store.keepIntegers(&leaf, KeptRows(rows: kept, count: count, total: total))
        return leaf
    }

    /// Elements of a list that are not in a group; nil if the list does not hold the whole group in order.
    private func difference(_ list: BPlusTree, _ group: UnsafeBufferPointer<UInt64>, _ entries: Entries)
        throws(RealmError) -> [Int64]?
    {
        var left: [Int64] = []
        var next = 0
        try list.forEachLeaf { (leaf, _, _) throws(RealmError) in
            let node = try store.integers(leaf)
            for i in 0..<node.count {
                let key = node.get(i)
                if next < group.count && key == entries.keys[Self.number(group[next])].raw {
                    next &+= 1
                } else {
                    left.append(key)
                }
            }
            return true
        }
        return next == group.count ? left : nil
    }
}

extension BPlusTree {
    /// Creates a tree of integers, leaf by leaf.
    static func make(_ store: NodeStore, integers values: [Int64]) throws(RealmError) -> BPlusTree {
        var leaves: [RefOrTagged] = []
        var at = 0
        repeat {
            let end = min(at + Format.treeCapacity, values.count)
            leaves.append(RefOrTagged(try store.makeIntegers(values[at..<end]).ref))
            at = end
        } while at < values.count && leaves.count < Format.treeCapacity
        guard leaves.count > 1 else { return BPlusTree(store, kind: .int, root: leaves[0].ref) }
        let slots = [RefOrTagged(tagged: Format.treeCapacity)] + leaves + [RefOrTagged(tagged: at)]
        var tree = BPlusTree(store, kind: .int, root: try store.makeRefs(slots, inner: true).ref)
        while at < values.count {
            try tree.append(.int(values[at]))
            at += 1
        }
        return tree
    }
}

/// The positions of a node that are kept, in order.
private struct StayingPlaces {
    let places: UnsafeMutablePointer<UInt16>
    private(set) var count = 0

    /// The first position that is not yet decided.
    private var next = 0

    init(_ total: Int) { places = .allocate(capacity: total) }
    var isAnyLeftOut: Bool { count < next }

    mutating func keep(upTo end: Int) {
        while next < end {
            places[count] = UInt16(truncatingIfNeeded: next)
            count &+= 1
            next &+= 1
        }
    }

    mutating func leaveOut(_ place: Int) {
        keep(upTo: place)
        next = place &+ 1
    }
}
