/// Inserting objects. A full node splits in two; an entry with several values becomes a sub-index or a sorted list.
extension SearchIndex {
    /// The side of the old node on which a split placed the new node.
    enum Growth { case none, before(Ref), after(Ref) }

    mutating func insert(_ value: Mixed, _ key: ObjKey) throws(RealmError) {
        guard let data = IndexData(value) else { throw RealmError(.illegalOperation, "This value cannot be indexed") }
        let wasSound = store.isChecked() && isSound(near: value)
        var ref = root
        try insert(&ref, data, value, key, 0, depth: 0)
        root = ref
        assert(!wasSound || isSound(near: value), "an insertion broke the index")
    }

    /// Inserts into the index or sub-index at `ref`, and adds a new root if the old root split.
    private func insert(_ ref: inout Ref, _ data: IndexData, _ value: Mixed, _ key: ObjKey, _ offset: Int, depth: Int)
        throws(RealmError)
    {
        guard depth < 128 else { throw .corrupt("index too deep", at: ref.offset) }
        let chunk = data.chunk(offset)
        let growth = try descend(&ref, chunk, depth: 0) { (entry) throws(RealmError) in
            guard let entry else { return RefOrTagged(tagged: UInt64(bitPattern: key.raw)) }
            return try self.add(entry, data, value, key, offset, depth: depth)
        }
        try raise(&ref, growth)
    }

    /// The entry that results from adding `key` to an existing entry.
    private func add(
        _ entry: RefOrTagged, _ data: IndexData, _ wanted: Mixed, _ key: ObjKey, _ offset: Int, depth: Int
    ) throws(RealmError) -> RefOrTagged {
        if entry.isTagged {
            let other = ObjKey(Int64(entry.integer))
            let stored = try value(other)
            let existing = stored ?? wanted
            if Mixed.equal(existing, wanted) && sameType(existing, wanted) {
                if other == key { return entry }
                return RefOrTagged(try store.makeIntegers([min(other.raw, key.raw), max(other.raw, key.raw)]).ref)
            }
            guard let otherData = IndexData(existing) else { return RefOrTagged(tagged: UInt64(bitPattern: key.raw)) }
            if offset + 4 > Self.maxOffset || otherData.equals(data) {
                let order = Mixed.compare(existing, wanted)
                let first = order < 0 || (order == 0 && other < key)
                return RefOrTagged(try store.makeIntegers(first ? [other.raw, key.raw] : [key.raw, other.raw]).ref)
            }
            var sub = try Self.create(store)
            try insert(&sub, otherData, existing, other, offset + 4, depth: depth + 1)
            try insert(&sub, data, wanted, key, offset + 4, depth: depth + 1)
            return RefOrTagged(sub)
        }
        let child = try store.node(entry.ref)
        if child.context {
            var sub = entry.ref
            try insert(&sub, data, wanted, key, offset + 4, depth: depth + 1)
            return RefOrTagged(sub)
        }
        var list = BPlusTree(store, kind: .int, root: entry.ref)
        let count = try list.count()
        let isKnown = recent?.holds(wanted, column, list: entry.ref) ?? false
        let first = count > 0 && !isKnown ? try value(try self.key(list, 0)) : wanted
        guard count > 0, let firstValue = first else {
            // The list is empty, or its first object no longer exists (a stale entry): no value to compare with is
            // known, so the list stays sorted by key.
            try list.insert(try position(list, 0..<count, key), .int(key.raw))
            return RefOrTagged(list.root)
        }
        let isOfOne = isUniform(offset) && (isKnown || Mixed.equal(firstValue, wanted))
        if isOfOne, !child.isInner, !child.hasRefs, count < capacity, child.get(count &- 1) < key.raw {
            // A single leaf, and the key is the largest: append it without a descent.
            var leaf = try store.integers(entry.ref)
            try store.appendInteger(&leaf, key.raw)
            recent?.note(wanted, column, list: leaf.ref)
            return RefOrTagged(leaf.ref)
        }
        let range = isOfOne ? 0..<count : try equalRange(list, wanted, offset)
        if !range.isEmpty {
            let index = try position(list, range, key)
            if index < range.upperBound, try self.key(list, index) == key { return entry }
            try list.insert(index, .int(key.raw))
            if isOfOne { recent?.note(wanted, column, list: list.root) }
            return RefOrTagged(list.root)
        }
        guard offset + 4 <= Self.maxOffset, let otherData = IndexData(firstValue), !otherData.equals(data) else {
            var index = 0
            while index < count, let element = try value(try self.key(list, index)), Mixed.compare(element, wanted) < 0
            { index += 1 }
            try list.insert(index, .int(key.raw))
            return RefOrTagged(list.root)
        }
        // The whole list moves one level down.
        var sub = try Self.create(store)
        let growth = try descend(&sub, otherData.chunk(offset + 4), depth: 0) { (_) throws(RealmError) in entry }
        try raise(&sub, growth)
        try insert(&sub, data, wanted, key, offset + 4, depth: depth + 1)
        return RefOrTagged(sub)
    }

    private func sameType(_ a: Mixed, _ b: Mixed) -> Bool {
        switch (a, b) {
        case (.string, .binary), (.binary, .string): false
        default: true
        }
    }

    /// First position in `range` whose key is ≥ `key`.
    func position(_ list: BPlusTree, _ range: Range<Int>, _ key: ObjKey) throws(RealmError) -> Int {
        var low = range.lowerBound
        var length = range.count
        // Keys usually arrive in ascending order.
        if length > 0, try self.key(list, range.upperBound - 1) < key { return range.upperBound }
        while length > 0 {
            let half = length >> 1
            if try self.key(list, low + half) < key {
                low += half + 1
                length -= half + 1
            } else {
                length = half
            }
        }
        return low
    }

    /// Finds the leaf entry for `chunk` and replaces it by `change(entry)` (nil: absent).
    func descend(
        _ ref: inout Ref, _ chunk: Int32, depth: Int, _ change: (RefOrTagged?) throws(RealmError) -> RefOrTagged
    ) throws(RealmError) -> Growth {
        guard depth < Trees.maxDepth else { throw .corrupt("index too deep", at: ref.offset) }
        var (node, keys) = try open(ref)
        if node.isInner, keys.count == 0 {
            guard depth == 0 else { throw .corrupt("inner index node without children", at: ref.offset) }
            // Earlier versions left such a root after deleting all objects at once.
            try lower(&ref)
            (node, keys) = try open(ref)
        }
        var position = Self.search(keys, chunk)
        if node.isInner {
            position = min(position, keys.count - 1)
            node = try store.writableRefs(node)
            ref = node.ref
            var child = try node.child(position + 1)
            let growth = try descend(&child, chunk, depth: depth + 1, change)
            store.setSlot(node, position + 1, child)
            let last = try lastKey(child)
            if keys.get(position) != last {
                try store.setInteger(&keys, position, last)
                store.setSlot(node, 0, keys.ref)
            }
            switch growth {
            case .none: return .none
            case .before(let sibling):
                return try place(
                    &ref, position, Int32(truncatingIfNeeded: try lastKey(sibling)), RefOrTagged(sibling), inner: true)
            case .after(let sibling):
                return try place(
                    &ref, position + 1, Int32(truncatingIfNeeded: try lastKey(sibling)), RefOrTagged(sibling),
                    inner: true)
            }
        }
        if position < keys.count && keys.get(position) == Int64(chunk) {
            let entry = try node.slot(position + 1)
            let new = try change(entry)
            if new != entry {
                node = try store.writableRefs(node)
                store.setSlot(node, position + 1, new)
                ref = node.ref
            }
            return .none
        }
        return try place(&ref, position, chunk, try change(nil), inner: false)
    }

    func lastKey(_ ref: Ref) throws(RealmError) -> Int64 {
        let (_, keys) = try open(ref)
        guard keys.count > 0 else { throw .corrupt("empty index node below another", at: ref.offset) }
        return keys.get(keys.count - 1)
    }

    /// Inserts (chunk, entry) at `position` of a node; a full node splits.
    private func place(_ ref: inout Ref, _ position: Int, _ chunk: Int32, _ entry: RefOrTagged, inner: Bool)
        throws(RealmError) -> Growth
    {
        var (node, keys) = try open(ref)
        if keys.count < capacity {
            try store.insertInteger(&keys, position, Int64(chunk))
            node = try store.writableRefs(node, extra: 1)
            store.setSlot(node, 0, keys.ref)
            try store.insertSlot(&node, position + 1, entry)
            ref = node.ref
            return .none
        }
        var new = try Self.makeLeaf(store, inner: inner)
        var newKeys = try store.integers(try new.child(0))
        try store.insertInteger(&newKeys, 0, Int64(chunk))
        try store.insertSlot(&new, 1, entry)
        if position == 0 {
            store.setSlot(new, 0, newKeys.ref)
            return .before(new.ref)
        }
        if position < keys.count {
            for i in position..<keys.count {
                try store.insertInteger(&newKeys, newKeys.count, keys.get(i))
                try store.insertSlot(&new, new.count, try node.slot(i + 1))
            }
            let moved = keys.count - position
            try store.eraseIntegers(&keys, position, moved)
            node = try store.writableRefs(node)
            try store.eraseSlots(&node, position + 1, moved)
            store.setSlot(node, 0, keys.ref)
            ref = node.ref
        }
        store.setSlot(new, 0, newKeys.ref)
        return .after(new.ref)
    }

    /// Adds an inner root above a root that split.
    func raise(_ ref: inout Ref, _ growth: Growth) throws(RealmError) {
        let pair: (Ref, Ref)
        switch growth {
        case .none: return
        case .before(let sibling): pair = (sibling, ref)
        case .after(let sibling): pair = (ref, sibling)
        }
        var top = try Self.makeLeaf(store, inner: true)
        var keys = try store.integers(try top.child(0))
        for child in [pair.0, pair.1] {
            try store.insertInteger(&keys, keys.count, try lastKey(child))
            try store.insertSlot(&top, top.count, RefOrTagged(child))
        }
        store.setSlot(top, 0, keys.ref)
        ref = top.ref
    }
}
