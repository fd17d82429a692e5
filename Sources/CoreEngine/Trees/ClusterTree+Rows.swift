/// Inserting and erasing rows: splits, merges, rebasing of keys. Format: logical §5.1–§5.4.
extension ClusterTree {
    /// Adds an object; `initial` gives the value of one column (the primary key) in place of its default.
    /// The cursor points at the new row's leaf afterwards. Returns false when the key exists.
    func insert(_ key: ObjKey, initial: (column: Int, value: Mixed)? = nil) throws(RealmError) -> Bool {
        let wasSound = store.isChecked() && isSound(near: key)
        let isNew = try insertRow(key, initial: initial)
        assert(!wasSound || isSound(near: key), "an insertion broke the rows")
        return isNew
    }
    @inline(__always) private func insertRow(_ key: ObjKey, initial: (column: Int, value: Mixed)?) throws(RealmError) -> Bool {
        let k = UInt64(bitPattern: key.raw)
        if try append(k, initial: initial) { return true }
        invalidateCursors()
        var top = try store.writableRefs(try store.refsNode(root))
        setRootKeepingCursor(top.ref)
        var inserted = true
        let split = try insert(&top, k, base: 0, low: 0, high: .max, depth: 0, initial: initial, &inserted)
        setRootKeepingCursor(top.ref)
        guard let split else { return inserted }
        cursor.isValid = false
        let depth = top.isInner ? Int(try top.slot(1).integer) : 0
        let total = try count() &+ (try subtreeSize(split.ref))
        let compact = depth < 7 && split.key == 1 << UInt64(8 * (depth + 1))
        let first = compact ? Ref.null : try store.makeUnsigned([0, split.key]).ref
        let newRoot = try store.makeRefs(
            [RefOrTagged(first), RefOrTagged(tagged: depth + 1), RefOrTagged(tagged: total), RefOrTagged(top.ref), RefOrTagged(split.ref)], inner: true)
        setRoot(newRoot.ref)
        return true
    }

    /// The common case, a new largest key in the last leaf, without a descent: the cursor stands there since the insertion before.
    @inline(__always) private func append(_ k: UInt64, initial: (column: Int, value: Mixed)?) throws(RealmError) -> Bool {
        guard cursor.isValid, cursor.isWritable, cursor.pathCount >= 0, cursor.high == .max, k >= cursor.low, cursor.count > 0,
            cursor.count < Format.clusterCapacity
        else { return false }
        let relative = k &- cursor.offset
        let n = cursor.leaf
        let count = cursor.count
        if var keys = cursor.keys {
            guard relative > keys.getUnsigned(count &- 1) else { return false }
            try store.insertUnsigned(&keys, count, relative)
            store.setSlot(n, 0, keys.ref)
            cursor.keys = keys
        } else {
            guard relative == UInt64(count) else { return false }
            store.setSlot(n, 0, RefOrTagged(tagged: count &+ 1))
        }
        try insertRow(n, count, initial)
        forgetOpened()
        cursor.count = count &+ 1
        cursor.firstIndex = -1
        // Slot 2 of each inner node counts its objects (tagged, so one object is 2).
        withUnsafeBytes(of: cursor.path) { p in
            for i in 0..<cursor.pathCount {
                guard let node = p.load(fromByteOffset: i &* 8, as: UnsafeMutableRawPointer?.self) else { continue }
                node.storeBytes(of: node.load(fromByteOffset: 24, as: Int64.self) &+ 2, toByteOffset: 24, as: Int64.self)
            }
        }
        return true
    }

    private struct Split {
        var ref: Ref
        /// Where the new node starts, relative to the node that split.
        var key: UInt64
    }
    private func subtreeSize(_ ref: Ref) throws(RealmError) -> Int {
        let n = try store.refsNode(ref)
        if n.isInner { return Int(truncatingIfNeeded: try n.slot(2).integer) }
        let first = try n.slot(0)
        return first.isTagged ? Int(truncatingIfNeeded: first.integer) : try store.integers(first.ref).count
    }

    private func insert(
        _ n: inout Node, _ key: UInt64, base: UInt64, low: UInt64, high: UInt64, depth: Int, initial: (column: Int, value: Mixed)?, _ inserted: inout Bool
    ) throws(RealmError) -> Split? {
        guard depth < Trees.maxDepth else { throw .corrupt("cluster tree too deep", at: n.ref.offset) }
        guard n.isInner else { return try insertInLeaf(&n, key, base: base, low: low, high: high, initial: initial, &inserted) }
        let levels = try levels(of: n)
        let (i, offset) = try child(of: n, for: key, levels: levels)
        let children = n.count - 3
        let total = try n.slot(2)
        var childHigh = high
        if i + 1 < children { childHigh = base &+ (try offsetOfChild(n, i + 1, levels: levels)) &- 1 }
        let old = try n.child(i + 3)
        var c = try store.writableRefs(try store.refsNode(old))
        let split = try insert(
            &c, key &- offset, base: base &+ offset, low: base &+ offset, high: childHigh, depth: depth + 1, initial: initial, &inserted)
        if c.ref != old { store.setSlot(n, i + 3, c.ref) }
        guard inserted else { return nil }
        if cursor.isValid {
            if !c.isInner {
                cursor.parent = n
                cursor.childIndex = i
            }
            // The path grows from the leaf upwards; a node that splits or moves invalidates the cursor below.
            switch cursor.pathCount {
            case 0: cursor.path.0 = n.address
            case 1: cursor.path.1 = n.address
            case 2: cursor.path.2 = n.address
            case 3: cursor.path.3 = n.address
            default: break
            }
            cursor.pathCount = cursor.pathCount >= 0 && cursor.pathCount < 4 ? cursor.pathCount + 1 : -1
        }
        guard let split else {
            store.setSlot(n, 2, RefOrTagged(tagged: total.integer + 1))
            return nil
        }
        let s = split.key &+ offset
        if children < Format.clusterCapacity {
            store.setSlot(n, 2, RefOrTagged(tagged: total.integer + 1))
            let first = try n.slot(0)
            if !first.isNull || s != UInt64(children) << UInt64(8 * levels) {
                var offsets = try generalOffsets(n, levels: levels)
                try store.insertUnsigned(&offsets, i + 1, s)
                store.setSlot(n, 0, offsets.ref)
            }
            try store.insertSlot(&n, i + 4, RefOrTagged(split.ref))
            return nil
        }
        // Full: a new sibling.
        if i == children - 1 {
            let size = try subtreeSize(split.ref)
            let sibling = try store.makeRefs(
                [RefOrTagged(.null), RefOrTagged(tagged: levels), RefOrTagged(tagged: size), RefOrTagged(split.ref)], inner: true)
            store.setSlot(n, 2, RefOrTagged(tagged: Int(total.integer) &+ 1 &- size))
            return Split(ref: sibling.ref, key: s)
        }
        var offsets = try generalOffsets(n, levels: levels)
        let cut = offsets.getUnsigned(i + 1)
        var movedOffsets: [UInt64] = []
        var moved: [RefOrTagged] = []
        var movedSize = 0
        for j in (i + 1)..<children {
            movedOffsets.append(offsets.getUnsigned(j) &- cut)
            moved.append(try n.slot(j + 3))
            movedSize &+= try subtreeSize(try n.child(j + 3))
        }
        let siblingOffsets = try store.makeUnsigned(movedOffsets).ref
        let sibling = try store.makeRefs(
            [RefOrTagged(siblingOffsets), RefOrTagged(tagged: levels), RefOrTagged(tagged: movedSize)] + moved, inner: true)
        try store.eraseUnsigned(&offsets, i + 1, offsets.count - i - 1)
        try store.insertUnsigned(&offsets, i + 1, s)
        store.setSlot(n, 0, offsets.ref)
        try store.eraseSlots(&n, i + 4, children - i - 1)
        try store.insertSlot(&n, i + 4, RefOrTagged(split.ref))
        store.setSlot(n, 2, RefOrTagged(tagged: Int(total.integer) &+ 1 &- movedSize))
        return Split(ref: sibling.ref, key: cut)
    }

    private func insertInLeaf(
        _ n: inout Node, _ key: UInt64, base: UInt64, low: UInt64, high: UInt64, initial: (column: Int, value: Mixed)?, _ inserted: inout Bool
    ) throws(RealmError) -> Split? {
        let first = try n.slot(0)
        var keys: Node?
        let count: Int
        let position: Int
        if first.isTagged {
            count = Int(truncatingIfNeeded: first.integer)
            position = key >= first.integer ? count : Int(key)
            if key < first.integer { inserted = false }
        } else {
            let k = try store.integers(first.ref)
            keys = k
            count = k.count
            position = k.lowerBoundUnsigned(key)
            if position < count && k.getUnsigned(position) == key { inserted = false }
        }
        guard inserted else { return nil }
        if count < Format.clusterCapacity {
            if keys == nil && key == UInt64(count) {
                store.setSlot(n, 0, RefOrTagged(tagged: count + 1))
            } else {
                var k = try generalKeys(n)
                try store.insertUnsigned(&k, position, key)
                store.setSlot(n, 0, k.ref)
                keys = k
            }
            try insertRow(n, position, initial)
            forgetOpened()
            cursor = Cursor(
                isValid: true, isWritable: true, leaf: n, keys: keys, count: count + 1, offset: base, low: low, high: high, firstIndex: -1, pathCount: 0)
            return nil
        }
        // Full leaf.
        var slots = [RefOrTagged(tagged: 0)]
        for c in columns { slots.append(RefOrTagged(try c.map { c throws(RealmError) in try c.kind.create(store) } ?? .null)) }
        let new = try store.makeRefs(slots)
        cursor.isValid = false
        if position == count {
            store.setSlot(new, 0, RefOrTagged(tagged: 1))
            try insertRow(new, 0, initial)
            return Split(ref: new.ref, key: key)
        }
        var k = try generalKeys(n)
        let cut = k.getUnsigned(position)
        var moved: [UInt64] = []
        for j in position..<count { moved.append(k.getUnsigned(j) &- cut) }
        store.setSlot(new, 0, try store.makeUnsigned(moved).ref)
        try moveRows(from: n, position, to: new)
        try store.eraseUnsigned(&k, position, count - position)
        try store.insertUnsigned(&k, position, key)
        store.setSlot(n, 0, k.ref)
        try insertRow(n, position, initial)
        return Split(ref: new.ref, key: cut)
    }

    /// Inserts one element into every column leaf of `n`.
    private func insertRow(_ n: Node, _ position: Int, _ initial: (column: Int, value: Mixed)?) throws(RealmError) {
        guard n.count > columns.count else { throw .corrupt("cluster without the leaf of a column", at: n.ref.offset) }
        for c in 0..<columns.count {
            guard let column = columns[c] else { continue }
            let leaf = try n.child(c + 1)
            var value = column.initial
            if let initial, initial.column == c { value = initial.value }
            if try column.kind.appendInitial(store, leaf, position, value) != nil { continue }
            let new = try column.kind.insert(store, leaf, position, value)
            if new != leaf { store.setSlot(n, c + 1, new) }
        }
    }
    private func moveRows(from: Node, _ start: Int, to: Node) throws(RealmError) {
        guard from.count > columns.count, to.count > columns.count else { throw .corrupt("cluster without the leaf of a column", at: from.ref.offset) }
        for c in 0..<columns.count {
            guard let column = columns[c] else { continue }
            var a = try from.child(c + 1)
            var b = try to.child(c + 1)
            try column.kind.moveTail(store, from: &a, start: start, to: &b)
            store.setSlot(from, c + 1, a)
            store.setSlot(to, c + 1, b)
        }
    }

    func levels(of n: Node) throws(RealmError) -> Int {
        let d = try n.slot(1)
        guard d.isTagged, d.integer >= 1, d.integer < 8 else { throw .corrupt("inner cluster of impossible depth", at: n.ref.offset) }
        return Int(d.integer)
    }
    func offsetOfChild(_ n: Node, _ i: Int, levels: Int) throws(RealmError) -> UInt64 {
        let first = try n.slot(0)
        if first.isNull { return UInt64(i) << UInt64(8 * levels) }
        let offsets = try store.integers(first.ref)
        guard i < offsets.count else { throw .corrupt("inner cluster with too few offsets", at: n.ref.offset) }
        return offsets.getUnsigned(i)
    }
    private func child(of n: Node, for key: UInt64, levels: Int) throws(RealmError) -> (Int, UInt64) {
        let children = n.count - 3
        guard children >= 1 else { throw .corrupt("inner cluster without children", at: n.ref.offset) }
        let first = try n.slot(0)
        if first.isNull {
            let i = Int(min(key >> UInt64(8 * levels), UInt64(children - 1)))
            return (i, UInt64(i) << UInt64(8 * levels))
        }
        let offsets = try store.integers(first.ref)
        guard offsets.count >= children else { throw .corrupt("inner cluster with too few offsets", at: n.ref.offset) }
        var i = offsets.lowerBoundUnsigned(key)
        if i >= children || offsets.getUnsigned(i) != key { i -= 1 }
        guard i >= 0 else { throw .corrupt("cluster offsets do not start at 0", at: n.ref.offset) }
        i = min(i, children - 1)
        return (i, offsets.getUnsigned(i))
    }

    /// Keys of a leaf in general form; the leaf's slot 0 is updated.
    func generalKeys(_ n: Node) throws(RealmError) -> Node {
        let first = try n.slot(0)
        if !first.isTagged {
            let k = try store.integers(first.ref)
            // A hostile narrow array would lose the unsigned keys it is about to receive.
            guard k.width >= 8 || k.count == 0 else { throw .corrupt("cluster keys of a wrong width", at: n.ref.offset) }
            return k
        }
        let k = try store.makeUnsigned((0..<min(first.integer, 256)).map { $0 })
        store.setSlot(n, 0, k.ref)
        return k
    }
    func generalOffsets(_ n: Node, levels: Int) throws(RealmError) -> Node {
        let first = try n.slot(0)
        if !first.isNull { return try store.integers(first.ref) }
        let o = try store.makeUnsigned((0..<UInt64(max(0, n.count - 3))).map { $0 << UInt64(8 * levels) })
        store.setSlot(n, 0, o.ref)
        return o
    }

    // MARK: Erasing

    /// Removes an object's row with the collections and backlink lists it owns; false when there is none.
    func erase(_ key: ObjKey) throws(RealmError) -> Bool {
        guard try locate(key) != nil else { return false }
        let wasSound = store.isChecked() && isSound(near: key)
        try eraseRow(key)
        assert(!wasSound || isSound(near: key), "an erasure broke the rows")
        return true
    }
    private func eraseRow(_ key: ObjKey) throws(RealmError) {
        invalidateCursors()
        var top = try store.writableRefs(try store.refsNode(root))
        _ = try erase(&top, UInt64(bitPattern: key.raw), depth: 0)
        // A root with one child gives way to it; its offset is 0.
        while top.isInner && top.count == 4 {
            let child = try top.child(3)
            let first = try top.slot(0)
            if !first.isNull { try store.free(first.ref) }
            store.free(top)
            top = try store.writableRefs(try store.refsNode(child))
        }
        setRoot(top.ref)
    }

    /// Returns the node's size afterwards: objects of a leaf, children of an inner node.
    private func erase(_ n: inout Node, _ key: UInt64, depth: Int) throws(RealmError) -> Int {
        guard depth < Trees.maxDepth else { throw .corrupt("cluster tree too deep", at: n.ref.offset) }
        guard n.isInner else { return try eraseInLeaf(n, key) }
        let levels = try levels(of: n)
        let (i, offset) = try child(of: n, for: key, levels: levels)
        let total = try n.slot(2).integer
        guard total > 0 else { throw .corrupt("object counts do not add up", at: n.ref.offset) }
        store.setSlot(n, 2, RefOrTagged(tagged: total - 1))
        let old = try n.child(i + 3)
        var c = try store.writableRefs(try store.refsNode(old))
        if c.ref != old { store.setSlot(n, i + 3, c.ref) }
        let size = try erase(&c, key &- offset, depth: depth + 1)
        store.setSlot(n, i + 3, c.ref)
        let children = n.count - 3
        if size == 0 {
            try store.destroy(c.ref)
            var offsets = try generalOffsets(n, levels: levels)
            try store.eraseSlots(&n, i + 3)
            try store.eraseUnsigned(&offsets, i)
            if i == 0 && children > 1 {
                let f = offsets.getUnsigned(0)
                if f != 0 {
                    let ref = try n.child(3)
                    let w = try store.writableRefs(try store.refsNode(ref))
                    store.setSlot(n, 3, w.ref)
                    try rebase(w, by: f)
                    try store.setUnsigned(&offsets, 0, 0)
                }
            }
            store.setSlot(n, 0, offsets.ref)
            return children - 1
        }
        if size < Format.clusterCapacity / 2 && i + 1 < children {
            let next = try n.child(i + 4)
            if size + (try nodeSize(next)) < Format.clusterCapacity * 3 / 4 {
                let distance = try offsetOfChild(n, i + 1, levels: levels) &- offset
                try merge(&c, try store.writableRefs(try store.refsNode(next)), distance: distance)
                store.setSlot(n, i + 3, c.ref)
                var offsets = try generalOffsets(n, levels: levels)
                try store.eraseUnsigned(&offsets, i + 1)
                store.setSlot(n, 0, offsets.ref)
                try store.eraseSlots(&n, i + 4)
                return children - 1
            }
        }
        return children
    }

    func nodeSize(_ ref: Ref) throws(RealmError) -> Int {
        let n = try store.refsNode(ref)
        return n.isInner ? n.count - 3 : try subtreeSize(ref)
    }

    private func eraseInLeaf(_ n: Node, _ key: UInt64) throws(RealmError) -> Int {
        let first = try n.slot(0)
        let row: Int
        let count: Int
        if first.isTagged {
            count = Int(truncatingIfNeeded: first.integer)
            guard key < first.integer else { throw .corrupt("object not where it was found", at: n.ref.offset) }
            row = Int(key)
        } else {
            let k = try store.integers(first.ref)
            count = k.count
            row = k.lowerBoundUnsigned(key)
            guard row < count, k.getUnsigned(row) == key else { throw .corrupt("object not where it was found", at: n.ref.offset) }
        }
        guard n.count > columns.count else { throw .corrupt("cluster without the leaf of a column", at: n.ref.offset) }
        for c in 0..<columns.count {
            guard let column = columns[c] else { continue }
            let leaf = try n.child(c + 1)
            if column.ownsTrees, case .slot(let owned) = try column.kind.get(store, leaf, row), !owned.isTagged { try store.destroy(owned.ref) }
            let new = try column.kind.erase(store, leaf, row)
            if new != leaf { store.setSlot(n, c + 1, new) }
        }
        if first.isTagged && row == count - 1 {
            store.setSlot(n, 0, RefOrTagged(tagged: count - 1))
        } else {
            var k = try generalKeys(n)
            try store.eraseUnsigned(&k, row)
            store.setSlot(n, 0, k.ref)
        }
        return count - 1
    }

    /// Adds `f` to every key below `n`, whose own offset drops by as much.
    func rebase(_ n: Node, by f: UInt64, depth: Int = 0) throws(RealmError) {
        guard depth < Trees.maxDepth else { throw .corrupt("cluster tree too deep", at: n.ref.offset) }
        if !n.isInner {
            var k = try generalKeys(n)
            for i in 0..<k.count { try store.setUnsigned(&k, i, k.getUnsigned(i) &+ f) }
            store.setSlot(n, 0, k.ref)
            return
        }
        var offsets = try generalOffsets(n, levels: try levels(of: n))
        for i in 1..<max(1, min(offsets.count, n.count - 3)) { try store.setUnsigned(&offsets, i, offsets.getUnsigned(i) &+ f) }
        store.setSlot(n, 0, offsets.ref)
        let w = try store.writableRefs(try store.refsNode(try n.child(3)))
        store.setSlot(n, 3, w.ref)
        try rebase(w, by: f, depth: depth + 1)
    }

    /// Moves everything of `b`, which starts `distance` after `a`, into `a`.
    func merge(_ a: inout Node, _ b: Node, distance: UInt64) throws(RealmError) {
        guard a.isInner == b.isInner else { throw .corrupt("cluster tree of uneven depth", at: a.ref.offset) }
        if !a.isInner {
            var k = try generalKeys(a)
            let other = try generalKeys(b)
            for i in 0..<other.count { try store.insertUnsigned(&k, k.count, other.getUnsigned(i) &+ distance) }
            store.setSlot(a, 0, k.ref)
            try moveRows(from: b, 0, to: a)
            try store.destroy(b.ref)
            return
        }
        var offsets = try generalOffsets(a, levels: try levels(of: a))
        let other = try generalOffsets(b, levels: try levels(of: b))
        for i in 0..<min(other.count, b.count - 3) { try store.insertUnsigned(&offsets, offsets.count, other.getUnsigned(i) &+ distance) }
        store.setSlot(a, 0, offsets.ref)
        store.setSlot(a, 2, RefOrTagged(tagged: try a.slot(2).integer + (try b.slot(2).integer)))
        for i in 3..<max(3, b.count) { try store.insertSlot(&a, a.count, try b.slot(i)) }
        store.free(other)
        store.free(b)
    }

    // MARK: Columns

    /// Gives every cluster a leaf for a new column, filled with its initial value.
    func addColumn(_ index: Int, _ column: Column) throws(RealmError) {
        var all = columns
        while all.count <= index { all.append(nil) }
        all[index] = column
        setRoot(try eachLeaf(root, depth: 0) { (n, count) throws(RealmError) in
            var n = n
            while n.count < index + 2 { try store.insertSlot(&n, n.count, RefOrTagged(.null)) }
            var leaf = try column.kind.create(store)
            for i in 0..<count { leaf = try column.kind.insert(store, leaf, i, column.initial) }
            store.setSlot(n, index + 1, leaf)
            return n.ref
        })
        setColumns(all)
    }
    /// Frees a column's leaves; the slot becomes 0, or goes when it is the last.
    func removeColumn(_ index: Int) throws(RealmError) {
        setRoot(try eachLeaf(root, depth: 0) { (n, _) throws(RealmError) in
            var n = n
            try store.destroy(try n.child(index + 1))
            if index + 2 == n.count { try store.eraseSlots(&n, index + 1) } else { store.setSlot(n, index + 1, .null) }
            return n.ref
        })
        var all = columns
        all[index] = nil
        if index == all.count - 1 { all.removeLast() }
        setColumns(all)
    }
    private func eachLeaf(_ ref: Ref, depth: Int, _ body: (Node, Int) throws(RealmError) -> Ref) throws(RealmError) -> Ref {
        guard depth < Trees.maxDepth else { throw .corrupt("cluster tree too deep", at: ref.offset) }
        let n = try store.writableRefs(try store.refsNode(ref))
        if !n.isInner { return try body(n, try subtreeSize(n.ref)) }
        for i in 3..<max(3, n.count) { store.setSlot(n, i, try eachLeaf(try n.child(i), depth: depth + 1, body)) }
        return n.ref
    }
}
