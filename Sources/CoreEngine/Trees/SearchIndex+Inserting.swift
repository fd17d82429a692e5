/// Entering objects: a full node splits in two, and an entry of several values becomes a sub-index or a sorted list.
extension SearchIndex {
    /// Where a split left the new node.
    enum Growth { case none, before(Ref), after(Ref) }

    mutating func insert(_ v: Mixed, _ key: ObjKey) throws(RealmError) {
        guard let data = IndexData(v) else { throw RealmError(.illegalOperation, "This value cannot be indexed") }
        let wasSound = store.isChecked() && isSound(near: v)
        var ref = root
        try insert(&ref, data, v, key, 0, depth: 0)
        root = ref
        assert(!wasSound || isSound(near: v), "an insertion broke the index")
    }

    /// Inserts into the (sub-)index at `ref` and puts a new root over it when it split.
    private func insert(_ ref: inout Ref, _ data: IndexData, _ v: Mixed, _ key: ObjKey, _ offset: Int, depth: Int)
        throws(RealmError)
    {
        guard depth < 128 else { throw .corrupt("index too deep", at: ref.offset) }
        let chunk = data.chunk(offset)
        let growth = try descend(&ref, chunk, depth: 0) { (entry) throws(RealmError) in
            guard let entry else { return RefOrTagged(tagged: UInt64(bitPattern: key.raw)) }
            return try self.add(entry, data, v, key, offset, depth: depth)
        }
        try raise(&ref, growth)
    }

    /// The entry that results from adding `key` to an existing one.
    private func add(
        _ entry: RefOrTagged, _ data: IndexData, _ v: Mixed, _ key: ObjKey, _ offset: Int, depth: Int
    ) throws(RealmError) -> RefOrTagged {
        if entry.isTagged {
            let other = ObjKey(Int64(entry.integer))
            let stored = try value(other)
            let w = stored ?? v
            if Mixed.equal(w, v) && sameType(w, v) {
                if other == key { return entry }
                return RefOrTagged(try store.makeIntegers([min(other.raw, key.raw), max(other.raw, key.raw)]).ref)
            }
            guard let otherData = IndexData(w) else { return RefOrTagged(tagged: UInt64(bitPattern: key.raw)) }
            if offset + 4 > Self.maxOffset || otherData.equals(data) {
                let order = Mixed.compare(w, v)
                let first = order < 0 || (order == 0 && other < key)
                return RefOrTagged(try store.makeIntegers(first ? [other.raw, key.raw] : [key.raw, other.raw]).ref)
            }
            var sub = try Self.create(store)
            try insert(&sub, otherData, w, other, offset + 4, depth: depth + 1)
            try insert(&sub, data, v, key, offset + 4, depth: depth + 1)
            return RefOrTagged(sub)
        }
        let child = try store.node(entry.ref)
        if child.context {
            var sub = entry.ref
            try insert(&sub, data, v, key, offset + 4, depth: depth + 1)
            return RefOrTagged(sub)
        }
        var list = BPlusTree(store, kind: .int, root: entry.ref)
        let count = try list.count()
        let isKnown = recent?.holds(v, column, list: entry.ref) ?? false
        let first = count > 0 && !isKnown ? try value(try self.key(list, 0)) : v
        guard count > 0, let w = first else {
            // Without objects, or with a first one that is gone (a stale entry), there is nothing to compare with: keys
            // are kept in order.
            try list.insert(try position(list, 0..<count, key), .int(key.raw))
            return RefOrTagged(list.root)
        }
        let isOfOne = isUniform(offset) && (isKnown || Mixed.equal(w, v))
        if isOfOne, !child.isInner, !child.hasRefs, count < capacity, child.get(count &- 1) < key.raw {
            // A single leaf, and the key is the largest: appended without a descent.
            var leaf = try store.integers(entry.ref)
            try store.appendInteger(&leaf, key.raw)
            recent?.note(v, column, list: leaf.ref)
            return RefOrTagged(leaf.ref)
        }
        let range = isOfOne ? 0..<count : try equalRange(list, v, offset)
        if !range.isEmpty {
            let p = try position(list, range, key)
            if p < range.upperBound, try self.key(list, p) == key { return entry }
            try list.insert(p, .int(key.raw))
            if isOfOne { recent?.note(v, column, list: list.root) }
            return RefOrTagged(list.root)
        }
        let otherData = IndexData(w)
        if offset + 4 > Self.maxOffset || otherData == nil || otherData!.equals(data) {
            var p = 0
            while p < count, let x = try value(try self.key(list, p)), Mixed.compare(x, v) < 0 { p += 1 }
            try list.insert(p, .int(key.raw))
            return RefOrTagged(list.root)
        }
        // The whole list moves one level down.
        var sub = try Self.create(store)
        let growth = try descend(&sub, otherData!.chunk(offset + 4), depth: 0) { (_) throws(RealmError) in entry }
        try raise(&sub, growth)
        try insert(&sub, data, v, key, offset + 4, depth: depth + 1)
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
        var (n, keys) = try open(ref)
        if n.isInner, keys.count == 0 {
            guard depth == 0 else { throw .corrupt("inner index node without children", at: ref.offset) }
            // A root like that was once left where all objects had been deleted together.
            try lower(&ref)
            (n, keys) = try open(ref)
        }
        var position = Self.search(keys, chunk)
        if n.isInner {
            position = min(position, keys.count - 1)
            n = try store.writableRefs(n)
            ref = n.ref
            var child = try n.child(position + 1)
            let growth = try descend(&child, chunk, depth: depth + 1, change)
            store.setSlot(n, position + 1, child)
            let last = try lastKey(child)
            if keys.get(position) != last {
                try store.setInteger(&keys, position, last)
                store.setSlot(n, 0, keys.ref)
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
            let entry = try n.slot(position + 1)
            let new = try change(entry)
            if new != entry {
                n = try store.writableRefs(n)
                store.setSlot(n, position + 1, new)
                ref = n.ref
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

    /// Inserts (key, entry) at `position` of a node, splitting it when full.
    private func place(_ ref: inout Ref, _ position: Int, _ chunk: Int32, _ entry: RefOrTagged, inner: Bool)
        throws(RealmError) -> Growth
    {
        var (n, keys) = try open(ref)
        if keys.count < capacity {
            try store.insertInteger(&keys, position, Int64(chunk))
            n = try store.writableRefs(n, extra: 1)
            store.setSlot(n, 0, keys.ref)
            try store.insertSlot(&n, position + 1, entry)
            ref = n.ref
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
                try store.insertSlot(&new, new.count, try n.slot(i + 1))
            }
            let moved = keys.count - position
            try store.eraseIntegers(&keys, position, moved)
            n = try store.writableRefs(n)
            try store.eraseSlots(&n, position + 1, moved)
            store.setSlot(n, 0, keys.ref)
            ref = n.ref
        }
        store.setSlot(new, 0, newKeys.ref)
        return .after(new.ref)
    }

    /// Puts an inner node over a root that split.
    func raise(_ ref: inout Ref, _ growth: Growth) throws(RealmError) {
        let pair: (Ref, Ref)
        switch growth {
        case .none: return
        case .before(let r): pair = (r, ref)
        case .after(let r): pair = (ref, r)
        }
        var top = try Self.makeLeaf(store, inner: true)
        var keys = try store.integers(try top.child(0))
        for r in [pair.0, pair.1] {
            try store.insertInteger(&keys, keys.count, try lastKey(r))
            try store.insertSlot(&top, top.count, RefOrTagged(r))
        }
        store.setSlot(top, 0, keys.ref)
        ref = top.ref
    }
}
