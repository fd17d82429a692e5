/// Changing Mixed leaves. Payloads are kept dense: removing one moves the last payload into the hole and repairs the
/// one composite element that pointed to it. Format: logical §6.11.
extension MixedLeaf {
    /// The leaf opened for change: six slots, and as many keys as values where there are keys.
    private struct Open {
        var leaf: Node
        var composite: Node
        var keys: Node?
    }

    /// A reader takes missing keys for 0, but realm-core changes keys without a look at their number: those of a leaf
    /// that was written with fewer than its values are filled up.
    private static func open(_ s: NodeStore, _ ref: Ref) throws(RealmError) -> Open {
        var leaf = try s.writableRefs(try s.refsNode(ref))
        while leaf.count < 6 { try s.insertSlot(&leaf, leaf.count, RefOrTagged(.null)) }
        var o = Open(leaf: leaf, composite: try s.integers(try leaf.child(0)))
        if case let ref = try leaf.child(5), !ref.isNull {
            var keys = try s.integers(ref)
            while keys.count < o.composite.count { try s.appendInteger(&keys, 0) }
            if keys.count > o.composite.count { try s.truncateIntegers(&keys, to: o.composite.count) }
            o.keys = keys
        }
        return o
    }

    private static func close(_ s: NodeStore, _ o: Open) -> Ref {
        s.setSlot(o.leaf, 0, o.composite.ref)
        if let keys = o.keys { s.setSlot(o.leaf, 5, keys.ref) }
        return o.leaf.ref
    }

    static func insert(_ s: NodeStore, _ ref: Ref, _ i: Int, _ value: Mixed, key: Int64 = 0) throws(RealmError) -> Ref {
        var o = try open(s, ref)
        guard i <= o.composite.count else { throw .corrupt("leaf of Mixed values is too short", at: ref.offset) }
        try s.insertInteger(&o.composite, i, 0)
        if var keys = o.keys {
            try s.insertInteger(&keys, i, 0)
            o.keys = keys
        }
        try store(s, &o, i, value, key: key)
        return close(s, o)
    }

    /// Replaces the value at `i`; a collection that stood there goes with all its nodes, unless `value` is that same
    /// collection type.
    static func set(_ s: NodeStore, _ ref: Ref, _ i: Int, _ value: Mixed, key: Int64 = 0) throws(RealmError) -> Ref {
        var o = try open(s, ref)
        guard i < o.composite.count else { throw .corrupt("leaf of Mixed values is too short", at: ref.offset) }
        let old = o.composite.get(i)
        // A collection of the same type: only its root ref changes.
        if old != 0, old >> 5 & 7 == 4 {
            let isList = Int(old & 0x1F) - 1 == ColumnType.list.rawValue
            switch value {
            case .list(let r) where isList, .dictionary(let r) where !isList:
                let refs = try s.writableRefs(try s.refsNode(try o.leaf.child(4)))
                guard old >> 8 < refs.count else { throw .corrupt("Mixed value without its payload", at: ref.offset) }
                s.setSlot(refs, Int(old >> 8), r)
                s.setSlot(o.leaf, 4, refs.ref)
                return close(s, o)
            default: break
            }
        }
        try clear(s, &o, i, destroying: true)
        try store(s, &o, i, value, key: key)
        return close(s, o)
    }

    static func erase(_ s: NodeStore, _ ref: Ref, _ i: Int) throws(RealmError) -> Ref {
        try erase(s, ref, i, destroying: true)
    }

    private static func erase(_ s: NodeStore, _ ref: Ref, _ i: Int, destroying: Bool) throws(RealmError) -> Ref {
        var o = try open(s, ref)
        guard i < o.composite.count else { throw .corrupt("leaf of Mixed values is too short", at: ref.offset) }
        try clear(s, &o, i, destroying: destroying)
        try s.eraseIntegers(&o.composite, i)
        if var keys = o.keys {
            try s.eraseIntegers(&keys, i)
            o.keys = keys
        }
        return close(s, o)
    }

    static func moveTail(_ s: NodeStore, from: inout Ref, start: Int, count: Int, to: inout Ref) throws(RealmError) {
        var at = try self.count(s, to)
        for i in start..<count {
            to = try insert(s, to, at, try get(s, from, i), key: try self.key(s, from, i))
            at += 1
        }
        var i = count
        while i > start {
            i -= 1
            from = try erase(s, from, i, destroying: false)
        }
    }

    /// Sets composite element `i` to null and takes its payload out.
    private static func clear(_ s: NodeStore, _ o: inout Open, _ i: Int, destroying: Bool) throws(RealmError) {
        let c = o.composite.get(i)
        if c == 0 { return }
        let slot = Int(c >> 5 & 7)
        if slot != 0 {
            guard slot < 5, c >> 8 >= 0, c >> 8 < 1 << 24 else {
                throw .corrupt("Mixed value without its payload", at: o.leaf.ref.offset)
            }
            let hole = Int(c >> 8)
            let last: Int
            let payload = try o.leaf.child(slot)
            switch slot {
            case 1, 2:
                var n = try s.integers(payload)
                let per = slot
                last = n.count / per - 1
                guard hole <= last else { throw .corrupt("Mixed value without its payload", at: o.leaf.ref.offset) }
                if hole != last {
                    for j in 0..<per { try s.setInteger(&n, hole * per + j, n.get(last * per + j)) }
                }
                try s.truncateIntegers(&n, to: last * per)
                s.setSlot(o.leaf, slot, n.ref)
            case 3:
                var r = payload
                last = try StringLeaf.count(s, r) - 1
                guard hole <= last else { throw .corrupt("Mixed value without its payload", at: o.leaf.ref.offset) }
                if hole != last {
                    r = try StringLeaf.set(
                        s, r, hole,
                        try StringLeaf.get(s, r, last).map { (b) throws(RealmError) in try s.stable(b, .moved) })
                }
                s.setSlot(o.leaf, 3, try StringLeaf.erase(s, r, last))
            default:
                var n = try s.writableRefs(try s.refsNode(payload))
                last = n.count - 1
                guard hole <= last else { throw .corrupt("Mixed value without its payload", at: o.leaf.ref.offset) }
                if destroying { try s.destroy(try n.child(hole)) }
                if hole != last { s.setSlot(n, hole, try n.slot(last)) }
                try s.eraseSlots(&n, last)
                s.setSlot(o.leaf, 4, n.ref)
                try setKey(s, &o, i, 0)
            }
            if hole != last {
                let moved = Int64(last) << 8 | Int64(slot) << 5
                for j in 0..<o.composite.count where o.composite.get(j) & ~0x1F == moved {
                    try s.setInteger(&o.composite, j, Int64(hole) << 8 | Int64(slot) << 5 | o.composite.get(j) & 0x1F)
                    break
                }
            }
        }
        try s.setInteger(&o.composite, i, 0)
    }

    /// Gives the nested collection at `i` its stable key.
    static func setKey(_ s: NodeStore, _ ref: Ref, _ i: Int, _ key: Int64) throws(RealmError) -> Ref {
        var o = try open(s, ref)
        guard i < o.composite.count else { throw .corrupt("leaf of Mixed values is too short", at: ref.offset) }
        try setKey(s, &o, i, key)
        return close(s, o)
    }

    private static func setKey(_ s: NodeStore, _ o: inout Open, _ i: Int, _ key: Int64) throws(RealmError) {
        if o.keys == nil && key != 0 { o.keys = try s.makeIntegers(count: o.composite.count) }
        guard var keys = o.keys else { return }
        try s.setInteger(&keys, i, key)
        o.keys = keys
    }

    /// Stores into the cleared element `i`.
    private static func store(_ s: NodeStore, _ o: inout Open, _ i: Int, _ value: Mixed, key: Int64) throws(RealmError)
    {
        func tag(_ type: ColumnType) -> Int64 { Int64(type.rawValue + 1) }
        func pushIntegers(_ slot: Int, _ a: Int64, _ b: Int64?) throws(RealmError) -> Int64 {
            let ref = try o.leaf.child(slot)
            var n = ref.isNull ? try s.makeIntegers() : try s.integers(ref)
            let index = b == nil ? n.count : n.count / 2
            try s.appendInteger(&n, a)
            if let b { try s.appendInteger(&n, b) }
            s.setSlot(o.leaf, slot, n.ref)
            return Int64(index) << 8 | Int64(slot) << 5
        }
        func pushBytes(_ b: Bytes) throws(RealmError) -> Int64 {
            let ref = try o.leaf.child(3)
            let r = ref.isNull ? try StringLeaf.create(s) : ref
            let index = try StringLeaf.count(s, r)
            s.setSlot(o.leaf, 3, try StringLeaf.insert(s, r, index, b))
            return Int64(index) << 8 | 3 << 5
        }
        func pushRef(_ r: Ref) throws(RealmError) -> Int64 {
            let ref = try o.leaf.child(4)
            var n = ref.isNull ? try s.makeRefs([]) : try s.refsNode(ref)
            let index = n.count
            try s.insertSlot(&n, index, RefOrTagged(r))
            s.setSlot(o.leaf, 4, n.ref)
            return Int64(index) << 8 | 4 << 5
        }
        let c: Int64
        switch value {
        case .null: return
        case .int(let v):
            c = (v == Int64(Int32(truncatingIfNeeded: v)) ? v << 8 : try pushIntegers(1, v, nil)) | tag(.int)
        case .bool(let b): c = (b ? 1 : 0) << 8 | tag(.bool)
        case .float(let f): c = try pushIntegers(1, Int64(f.bitPattern), nil) | tag(.float)
        case .double(let d): c = try pushIntegers(1, Int64(bitPattern: d.bitPattern), nil) | tag(.double)
        case .string(let b): c = try pushBytes(b) | tag(.string)
        case .binary(let b): c = try pushBytes(b) | tag(.binary)
        case .objectId(let id):
            var raw: (UInt64, UInt64) = (0, 0)
            withUnsafeMutableBytes(of: &raw) { id.copy(to: $0.baseAddress!) }
            c = try withBytes(raw, 12, pushBytes) | tag(.objectId)
        case .uuid(let id):
            var raw: (UInt64, UInt64) = (0, 0)
            withUnsafeMutableBytes(of: &raw) { id.copy(to: $0.baseAddress!) }
            c = try withBytes(raw, 16, pushBytes) | tag(.uuid)
        case .timestamp(let t): c = try pushIntegers(2, t.seconds, Int64(t.nanoseconds)) | tag(.timestamp)
        case .decimal(let d):
            c = try pushIntegers(2, Int64(bitPattern: d.low), Int64(bitPattern: d.high)) | tag(.decimal)
        case .typedLink(let t, let k): c = try pushIntegers(2, Int64(t.raw), k.raw) | tag(.typedLink)
        case .list(let r): c = try pushRef(r) | tag(.list)
        case .dictionary(let r): c = try pushRef(r) | tag(.dictionary)
        case .link, .slot: throw RealmError(.typeMismatch, "The value does not fit the column")
        }
        try s.setInteger(&o.composite, i, c)
        if key != 0 { try setKey(s, &o, i, key) }
    }

    private static func withBytes(_ raw: (UInt64, UInt64), _ count: Int, _ body: (Bytes) throws(RealmError) -> Int64)
        throws(RealmError) -> Int64
    {
        var failure: RealmError?
        let result = withUnsafeBytes(of: raw) { b -> Int64 in
            do throws(RealmError) { return try body(Bytes(rebasing: b[0..<count])) } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        return result
    }
}
