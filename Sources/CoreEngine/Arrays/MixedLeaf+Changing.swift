/// Changing Mixed leaves. Payload arrays have no holes: when a payload is removed, the last payload takes its place,
/// and the composite element that points to the moved payload is updated. Format: logical §6.11.
extension MixedLeaf {
    /// A leaf opened for change. It has six slots, and its keys array, if present, has one key per value.
    private struct Open {
        var leaf: Node
        var composite: Node
        var keys: Node?
    }

    /// Readers treat missing keys as 0, but realm-core changes keys without checking their number. So a keys array that
    /// is shorter than the values is filled up with 0.
    private static func open(_ store: NodeStore, _ ref: Ref) throws(RealmError) -> Open {
        var leaf = try store.writableRefs(try store.refsNode(ref))
        while leaf.count < 6 { try store.insertSlot(&leaf, leaf.count, RefOrTagged(.null)) }
        var opened = Open(leaf: leaf, composite: try store.integers(try leaf.child(0)))
        if case let ref = try leaf.child(5), !ref.isNull {
            var keys = try store.integers(ref)
            while keys.count < opened.composite.count { try store.appendInteger(&keys, 0) }
            if keys.count > opened.composite.count { try store.truncateIntegers(&keys, to: opened.composite.count) }
            opened.keys = keys
        }
        return opened
    }

    private static func close(_ store: NodeStore, _ opened: Open) -> Ref {
        store.setSlot(opened.leaf, 0, opened.composite.ref)
        if let keys = opened.keys { store.setSlot(opened.leaf, 5, keys.ref) }
        return opened.leaf.ref
    }

    static func insert(_ nodes: NodeStore, _ ref: Ref, _ index: Int, _ value: Mixed, key: Int64 = 0) throws(RealmError)
        -> Ref
    {
        var opened = try open(nodes, ref)
        guard index <= opened.composite.count else {
            throw .corrupt("leaf of Mixed values is too short", at: ref.offset)
        }
        try nodes.insertInteger(&opened.composite, index, 0)
        if var keys = opened.keys {
            try nodes.insertInteger(&keys, index, 0)
            opened.keys = keys
        }
        try store(nodes, &opened, index, value, key: key)
        return close(nodes, opened)
    }

    /// Replaces the value at `index`. A collection that was stored there is destroyed with all its nodes, unless
    /// `value` is a collection of the same type.
    static func set(_ nodes: NodeStore, _ ref: Ref, _ index: Int, _ value: Mixed, key: Int64 = 0) throws(RealmError)
        -> Ref
    {
        var opened = try open(nodes, ref)
        guard index < opened.composite.count else {
            throw .corrupt("leaf of Mixed values is too short", at: ref.offset)
        }
        let old = opened.composite.get(index)
        // A collection of the same type: only its root ref changes.
        if old != 0, old >> 5 & 7 == 4 {
            let isList = Int(old & 0x1F) - 1 == ColumnType.list.rawValue
            switch value {
            case .list(let root) where isList, .dictionary(let root) where !isList:
                let refs = try nodes.writableRefs(try nodes.refsNode(try opened.leaf.child(4)))
                guard old >> 8 < refs.count else { throw .corrupt("Mixed value without its payload", at: ref.offset) }
                nodes.setSlot(refs, Int(old >> 8), root)
                nodes.setSlot(opened.leaf, 4, refs.ref)
                return close(nodes, opened)
            default: break
            }
        }
        try clear(nodes, &opened, index, destroying: true)
        try store(nodes, &opened, index, value, key: key)
        return close(nodes, opened)
    }

    static func erase(_ store: NodeStore, _ ref: Ref, _ index: Int) throws(RealmError) -> Ref {
        try erase(store, ref, index, destroying: true)
    }

    private static func erase(_ store: NodeStore, _ ref: Ref, _ index: Int, destroying: Bool) throws(RealmError) -> Ref
    {
        var opened = try open(store, ref)
        guard index < opened.composite.count else {
            throw .corrupt("leaf of Mixed values is too short", at: ref.offset)
        }
        try clear(store, &opened, index, destroying: destroying)
        try store.eraseIntegers(&opened.composite, index)
        if var keys = opened.keys {
            try store.eraseIntegers(&keys, index)
            opened.keys = keys
        }
        return close(store, opened)
    }

    static func moveTail(_ store: NodeStore, from: inout Ref, start: Int, count: Int, to: inout Ref) throws(RealmError)
    {
        var at = try self.count(store, to)
        for i in start..<count {
            to = try insert(store, to, at, try get(store, from, i), key: try self.key(store, from, i))
            at += 1
        }
        var i = count
        while i > start {
            i -= 1
            from = try erase(store, from, i, destroying: false)
        }
    }

    /// Sets the composite element at `index` to null and removes its payload.
    private static func clear(_ store: NodeStore, _ opened: inout Open, _ index: Int, destroying: Bool)
        throws(RealmError)
    {
        let composite = opened.composite.get(index)
        if composite == 0 { return }
        let slot = Int(composite >> 5 & 7)
        if slot != 0 {
            guard slot < 5, composite >> 8 >= 0, composite >> 8 < 1 << 24 else {
                throw .corrupt("Mixed value without its payload", at: opened.leaf.ref.offset)
            }
            let hole = Int(composite >> 8)
            let last: Int
            let payload = try opened.leaf.child(slot)
            switch slot {
            case 1, 2:
                var node = try store.integers(payload)
                let per = slot
                last = node.count / per - 1
                guard hole <= last else {
                    throw .corrupt("Mixed value without its payload", at: opened.leaf.ref.offset)
                }
                if hole != last {
                    for j in 0..<per { try store.setInteger(&node, hole * per + j, node.get(last * per + j)) }
                }
                try store.truncateIntegers(&node, to: last * per)
                store.setSlot(opened.leaf, slot, node.ref)
            case 3:
                var strings = payload
                last = try StringLeaf.count(store, strings) - 1
                guard hole <= last else {
                    throw .corrupt("Mixed value without its payload", at: opened.leaf.ref.offset)
                }
                if hole != last {
                    strings = try StringLeaf.set(
                        store, strings, hole,
                        try StringLeaf.get(store, strings, last).map { (b) throws(RealmError) in
                            try store.stable(b, .moved)
                        })
                }
                store.setSlot(opened.leaf, 3, try StringLeaf.erase(store, strings, last))
            default:
                var node = try store.writableRefs(try store.refsNode(payload))
                last = node.count - 1
                guard hole <= last else {
                    throw .corrupt("Mixed value without its payload", at: opened.leaf.ref.offset)
                }
                if destroying { try store.destroy(try node.child(hole)) }
                if hole != last { store.setSlot(node, hole, try node.slot(last)) }
                try store.eraseSlots(&node, last)
                store.setSlot(opened.leaf, 4, node.ref)
                try setKey(store, &opened, index, 0)
            }
            if hole != last {
                let moved = Int64(last) << 8 | Int64(slot) << 5
                for j in 0..<opened.composite.count where opened.composite.get(j) & ~0x1F == moved {
                    try store.setInteger(
                        &opened.composite, j, Int64(hole) << 8 | Int64(slot) << 5 | opened.composite.get(j) & 0x1F)
                    break
                }
            }
        }
        try store.setInteger(&opened.composite, index, 0)
    }

    /// Sets the stable key of the nested collection at `index`.
    static func setKey(_ store: NodeStore, _ ref: Ref, _ index: Int, _ key: Int64) throws(RealmError) -> Ref {
        var opened = try open(store, ref)
        guard index < opened.composite.count else {
            throw .corrupt("leaf of Mixed values is too short", at: ref.offset)
        }
        try setKey(store, &opened, index, key)
        return close(store, opened)
    }

    private static func setKey(_ store: NodeStore, _ opened: inout Open, _ index: Int, _ key: Int64) throws(RealmError)
    {
        if opened.keys == nil && key != 0 { opened.keys = try store.makeIntegers(count: opened.composite.count) }
        guard var keys = opened.keys else { return }
        try store.setInteger(&keys, index, key)
        opened.keys = keys
    }

    /// Stores a value in the cleared element at `index`.
    private static func store(_ store: NodeStore, _ opened: inout Open, _ position: Int, _ value: Mixed, key: Int64)
        throws(RealmError)
    {
        func tag(_ type: ColumnType) -> Int64 { Int64(type.rawValue + 1) }
        func pushIntegers(_ slot: Int, _ first: Int64, _ second: Int64?) throws(RealmError) -> Int64 {
            let ref = try opened.leaf.child(slot)
            var node = ref.isNull ? try store.makeIntegers() : try store.integers(ref)
            let index = second == nil ? node.count : node.count / 2
            try store.appendInteger(&node, first)
            if let second { try store.appendInteger(&node, second) }
            store.setSlot(opened.leaf, slot, node.ref)
            return Int64(index) << 8 | Int64(slot) << 5
        }
        func pushBytes(_ bytes: Bytes) throws(RealmError) -> Int64 {
            let ref = try opened.leaf.child(3)
            let strings = ref.isNull ? try StringLeaf.create(store) : ref
            let index = try StringLeaf.count(store, strings)
            store.setSlot(opened.leaf, 3, try StringLeaf.insert(store, strings, index, bytes))
            return Int64(index) << 8 | 3 << 5
        }
        func pushRef(_ root: Ref) throws(RealmError) -> Int64 {
            let ref = try opened.leaf.child(4)
            var node = ref.isNull ? try store.makeRefs([]) : try store.refsNode(ref)
            let index = node.count
            try store.insertSlot(&node, index, RefOrTagged(root))
            store.setSlot(opened.leaf, 4, node.ref)
            return Int64(index) << 8 | 4 << 5
        }
        let encoded: Int64
        switch value {
        case .null: return
        case .int(let value):
            encoded =
                (value == Int64(Int32(truncatingIfNeeded: value)) ? value << 8 : try pushIntegers(1, value, nil))
                | tag(.int)
        case .bool(let flag): encoded = (flag ? 1 : 0) << 8 | tag(.bool)
        case .float(let number): encoded = try pushIntegers(1, Int64(number.bitPattern), nil) | tag(.float)
        case .double(let number):
            encoded = try pushIntegers(1, Int64(bitPattern: number.bitPattern), nil) | tag(.double)
        case .string(let text): encoded = try pushBytes(text) | tag(.string)
        case .binary(let bytes): encoded = try pushBytes(bytes) | tag(.binary)
        case .objectId(let id):
            var raw: (UInt64, UInt64) = (0, 0)
            withUnsafeMutableBytes(of: &raw) { id.copy(to: $0.start) }
            encoded = try withBytes(raw, 12, pushBytes) | tag(.objectId)
        case .uuid(let id):
            var raw: (UInt64, UInt64) = (0, 0)
            withUnsafeMutableBytes(of: &raw) { id.copy(to: $0.start) }
            encoded = try withBytes(raw, 16, pushBytes) | tag(.uuid)
        case .timestamp(let timestamp):
            encoded = try pushIntegers(2, timestamp.seconds, Int64(timestamp.nanoseconds)) | tag(.timestamp)
        case .decimal(let decimal):
            encoded =
                try pushIntegers(2, Int64(bitPattern: decimal.low), Int64(bitPattern: decimal.high)) | tag(.decimal)
        case .typedLink(let table, let key): encoded = try pushIntegers(2, Int64(table.raw), key.raw) | tag(.typedLink)
        case .list(let root): encoded = try pushRef(root) | tag(.list)
        case .dictionary(let root): encoded = try pushRef(root) | tag(.dictionary)
        case .link, .slot: throw RealmError(.typeMismatch, "The value does not fit the column")
        }
        try store.setInteger(&opened.composite, position, encoded)
        if key != 0 { try setKey(store, &opened, position, key) }
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
