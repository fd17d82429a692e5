/// Which leaf a column or tree uses: one interface over all of them, decided once per column. Format: logical §6.0.
enum LeafKind: UInt8 {
    case int, nullableInt, bool, float, double, string, binary, timestamp, decimal, objectId, uuid
    /// ObjKey + 1, 0 = null: link columns in clusters.
    case link
    /// Plain ObjKey: links in lists and sets.
    case objKey
    /// Pairs of (TableKey + 1, ObjKey + 1).
    case typedLink
    case mixed
    /// Raw refs and tagged integers: backlinks, collection columns.
    case slot

    /// Leaf of single values of a type; in trees, links are plain keys.
    init?(_ type: ColumnType, nullable: Bool, inTree: Bool) {
        switch type {
        case .int: self = nullable ? .nullableInt : .int
        case .bool: self = .bool
        case .float: self = .float
        case .double: self = .double
        case .string: self = .string
        case .binary: self = .binary
        case .timestamp: self = .timestamp
        case .decimal: self = .decimal
        case .objectId: self = .objectId
        case .uuid: self = .uuid
        case .link, .linkList: self = inTree ? .objKey : .link
        case .typedLink: self = .typedLink
        case .mixed: self = .mixed
        case .backlink: self = .slot
        case .list, .set, .dictionary: return nil
        }
    }
}

extension LeafKind {
    func create(_ s: NodeStore) throws(RealmError) -> Ref {
        switch self {
        case .int, .bool, .link, .objKey, .typedLink: try s.makeIntegers().ref
        case .nullableInt: try NullableIntLeaf.create(s)
        case .float: try FloatLeaf.create(s, width: 4)
        case .double: try FloatLeaf.create(s, width: 8)
        case .string: try StringLeaf.create(s)
        case .binary: try BinaryLeaf.create(s)
        case .timestamp: try TimestampLeaf.create(s)
        case .decimal: try DecimalLeaf.create(s)
        case .objectId, .uuid: try FixedBytesLeaf.create(s)
        case .mixed: try MixedLeaf.create(s)
        case .slot: try s.makeRefs([]).ref
        }
    }

    func count(_ s: NodeStore, _ ref: Ref) throws(RealmError) -> Int {
        switch self {
        case .int, .bool, .link, .objKey: try s.integers(ref).count
        case .typedLink: try s.integers(ref).count / 2
        case .nullableInt: max(0, try s.integers(ref).count - 1)
        case .float: try FloatLeaf.node(s, ref, width: 4).count
        case .double: try FloatLeaf.node(s, ref, width: 8).count
        case .string: try StringLeaf.count(s, ref)
        case .binary: try BinaryLeaf.count(s, ref)
        case .timestamp: try TimestampLeaf.count(s, ref)
        case .decimal: try DecimalLeaf.count(s, ref)
        case .objectId: try FixedBytesLeaf.count(s, ref, width: 12)
        case .uuid: try FixedBytesLeaf.count(s, ref, width: 16)
        case .mixed: try MixedLeaf.count(s, ref)
        case .slot: try s.refsNode(ref).count
        }
    }

    @inline(__always) private func short(_ ref: Ref) -> RealmError { .corrupt("leaf is too short", at: ref.offset) }

    /// The value at `i`, which is checked against the leaf.
    @inline(__always) func get(_ s: NodeStore, _ ref: Ref, _ i: Int) throws(RealmError) -> Mixed {
        switch self {
        case .int:
            let n = try s.integers(ref)
            guard i >= 0, i < n.count else { throw short(ref) }
            return .int(n.get(i))
        case .string:
            guard let b = try StringLeaf.get(s, ref, i) else { return .null }
            return .string(b)
        case .double:
            let n = try FloatLeaf.node(s, ref, width: 8)
            guard i >= 0, i < n.count else { throw short(ref) }
            let bits = FloatLeaf.double(n, i)
            return bits == FloatLeaf.nullDouble ? .null : .double(Double(bitPattern: bits))
        default: return try getOther(s, ref, i)
        }
    }

    private func getOther(_ s: NodeStore, _ ref: Ref, _ i: Int) throws(RealmError) -> Mixed {
        switch self {
        case .bool:
            let n = try s.integers(ref)
            guard i >= 0, i < n.count else { throw short(ref) }
            let v = n.get(i)
            return v == 3 ? .null : .bool(v != 0)
        case .link:
            let n = try s.integers(ref)
            guard i >= 0, i < n.count else { throw short(ref) }
            let v = n.get(i)
            return v == 0 ? .null : .link(ObjKey(v &- 1))
        case .objKey:
            let n = try s.integers(ref)
            guard i >= 0, i < n.count else { throw short(ref) }
            return .link(ObjKey(n.get(i)))
        case .typedLink:
            let n = try s.integers(ref)
            guard i >= 0, i * 2 + 1 < n.count else { throw short(ref) }
            let t = n.get(i * 2)
            return t == 0
                ? .null
                : .typedLink(TableKey(UInt32(truncatingIfNeeded: t &- 1) & 0x7FFF_FFFF), ObjKey(n.get(i * 2 + 1) &- 1))
        case .nullableInt:
            guard let v = try NullableIntLeaf.get(try s.integers(ref), i) else { return .null }
            return .int(v)
        case .float:
            let n = try FloatLeaf.node(s, ref, width: 4)
            guard i >= 0, i < n.count else { throw short(ref) }
            let bits = FloatLeaf.float(n, i)
            return bits == FloatLeaf.nullFloat ? .null : .float(Float(bitPattern: bits))
        case .binary:
            guard let b = try BinaryLeaf.get(s, ref, i) else { return .null }
            return .binary(b)
        case .timestamp:
            guard let t = try TimestampLeaf.get(s, ref, i) else { return .null }
            return .timestamp(t)
        case .decimal:
            guard let d = try DecimalLeaf.get(s, ref, i) else { return .null }
            return .decimal(d)
        case .objectId:
            guard let p = try FixedBytesLeaf.get(s, ref, i, width: 12) else { return .null }
            return .objectId(ObjectId(bytes: p))
        case .uuid:
            guard let p = try FixedBytesLeaf.get(s, ref, i, width: 16) else { return .null }
            return .uuid(UUIDValue(bytes: p))
        case .mixed: return try MixedLeaf.get(s, ref, i)
        case .slot: return .slot(try s.refsNode(ref).slot(i))
        case .int, .string, .double: throw short(ref)
        }
    }

    // The caller has checked types: a value that does not belong in the leaf is our own bug and is refused, not stored.
    @inline(__always) private func misfit() -> RealmError {
        RealmError(.typeMismatch, "The value does not fit the column")
    }

    func insert(_ s: NodeStore, _ ref: Ref, _ i: Int, _ v: Mixed) throws(RealmError) -> Ref {
        switch self {
        case .int, .bool, .link, .objKey:
            var n = try s.integers(ref)
            guard i <= n.count else { throw short(ref) }
            try s.insertInteger(&n, i, try integer(v))
            return n.ref
        case .string: return try StringLeaf.insert(s, ref, i, try bytes(v))
        case .double:
            let n = try FloatLeaf.open(s, ref, i, width: 8, inserting: true)
            n.payload.storeBytes(of: try doubleBits(v), toByteOffset: i &* 8, as: UInt64.self)
            return n.ref
        case .float:
            let n = try FloatLeaf.open(s, ref, i, width: 4, inserting: true)
            n.payload.storeBytes(of: try floatBits(v), toByteOffset: i &* 4, as: UInt32.self)
            return n.ref
        case .nullableInt: return try NullableIntLeaf.insert(s, ref, i, try optionalInt(v))
        case .binary: return try BinaryLeaf.insert(s, ref, i, try bytes(v))
        case .timestamp: return try TimestampLeaf.insert(s, ref, i, try timestamp(v))
        case .decimal: return try DecimalLeaf.insert(s, ref, i, try decimal(v))
        case .objectId, .uuid:
            return try withFixed(v) { (p, w) throws(RealmError) in try FixedBytesLeaf.insert(s, ref, i, width: w, p) }
        case .slot:
            guard case .slot(let raw) = v else { throw misfit() }
            var n = try s.refsNode(ref)
            guard i <= n.count else { throw short(ref) }
            try s.insertSlot(&n, i, raw)
            return n.ref
        case .typedLink:
            var n = try s.integers(ref)
            guard i * 2 <= n.count else { throw short(ref) }
            let (t, k) = try typedPair(v)
            try s.insertInteger(&n, i * 2, t)
            try s.insertInteger(&n, i * 2 + 1, k)
            return n.ref
        case .mixed: return try MixedLeaf.insert(s, ref, i, v)
        }
    }

    func set(_ s: NodeStore, _ ref: Ref, _ i: Int, _ v: Mixed) throws(RealmError) -> Ref {
        switch self {
        case .int, .bool, .link, .objKey:
            var n = try s.integers(ref)
            guard i < n.count else { throw short(ref) }
            try s.setInteger(&n, i, try integer(v))
            return n.ref
        case .string: return try StringLeaf.set(s, ref, i, try bytes(v))
        case .double:
            let n = try FloatLeaf.open(s, ref, i, width: 8, inserting: false)
            n.payload.storeBytes(of: try doubleBits(v), toByteOffset: i &* 8, as: UInt64.self)
            return n.ref
        case .float:
            let n = try FloatLeaf.open(s, ref, i, width: 4, inserting: false)
            n.payload.storeBytes(of: try floatBits(v), toByteOffset: i &* 4, as: UInt32.self)
            return n.ref
        case .nullableInt: return try NullableIntLeaf.set(s, ref, i, try optionalInt(v))
        case .binary: return try BinaryLeaf.set(s, ref, i, try bytes(v))
        case .timestamp: return try TimestampLeaf.set(s, ref, i, try timestamp(v))
        case .decimal: return try DecimalLeaf.set(s, ref, i, try decimal(v))
        case .objectId, .uuid:
            return try withFixed(v) { (p, w) throws(RealmError) in try FixedBytesLeaf.set(s, ref, i, width: w, p) }
        case .slot:
            guard case .slot(let raw) = v else { throw misfit() }
            let n = try s.writableRefs(try s.refsNode(ref))
            guard i < n.count else { throw short(ref) }
            s.setSlot(n, i, raw)
            return n.ref
        case .typedLink:
            var n = try s.integers(ref)
            guard i * 2 + 1 < n.count else { throw short(ref) }
            let (t, k) = try typedPair(v)
            try s.setInteger(&n, i * 2, t)
            try s.setInteger(&n, i * 2 + 1, k)
            return n.ref
        case .mixed: return try MixedLeaf.set(s, ref, i, v)
        }
    }

    /// Removes the element. What a `.slot` or Mixed element owns is the caller's to destroy first.
    func erase(_ s: NodeStore, _ ref: Ref, _ i: Int) throws(RealmError) -> Ref {
        switch self {
        case .int, .bool, .link, .objKey:
            var n = try s.integers(ref)
            guard i < n.count else { throw short(ref) }
            try s.eraseIntegers(&n, i)
            return n.ref
        case .nullableInt: return try NullableIntLeaf.erase(s, ref, i)
        case .float: return try FloatLeaf.erase(s, ref, i, width: 4)
        case .double: return try FloatLeaf.erase(s, ref, i, width: 8)
        case .string: return try StringLeaf.erase(s, ref, i)
        case .binary: return try BinaryLeaf.erase(s, ref, i)
        case .timestamp: return try TimestampLeaf.erase(s, ref, i)
        case .decimal: return try DecimalLeaf.erase(s, ref, i)
        case .objectId: return try FixedBytesLeaf.erase(s, ref, i, width: 12)
        case .uuid: return try FixedBytesLeaf.erase(s, ref, i, width: 16)
        case .slot:
            var n = try s.refsNode(ref)
            guard i < n.count else { throw short(ref) }
            try s.eraseSlots(&n, i)
            return n.ref
        case .typedLink:
            var n = try s.integers(ref)
            guard i * 2 + 1 < n.count else { throw short(ref) }
            try s.eraseIntegers(&n, i * 2, 2)
            return n.ref
        case .mixed: return try MixedLeaf.erase(s, ref, i)
        }
    }

    /// Moves elements `[start, count)` of `from` to the end of `to`; both may be replaced.
    func moveTail(_ s: NodeStore, from: inout Ref, start: Int, to: inout Ref) throws(RealmError) {
        let count = try self.count(s, from)
        guard start < count else { return }
        if self == .mixed {
            try MixedLeaf.moveTail(s, from: &from, start: start, count: count, to: &to)
            return
        }
        var at = try self.count(s, to)
        for i in start..<count {
            to = try insert(s, to, at, try get(s, from, i))
            at += 1
        }
        try truncate(s, &from, to: start, count: count)
    }

    /// Drops elements `[to, count)` whose owned nodes have moved elsewhere or do not exist.
    func truncate(_ s: NodeStore, _ ref: inout Ref, to: Int, count: Int) throws(RealmError) {
        switch self {
        case .int, .bool, .link, .objKey, .typedLink, .nullableInt:
            var n = try s.integers(ref)
            let per = self == .typedLink ? 2 : 1, first = self == .nullableInt ? 1 : 0
            try s.truncateIntegers(&n, to: to * per + first)
            ref = n.ref
        case .slot:
            var n = try s.refsNode(ref)
            try s.eraseSlots(&n, to, n.count - to)
            ref = n.ref
        default:
            var i = count
            while i > to {
                i -= 1
                ref = try erase(s, ref, i)
            }
        }
    }

    // MARK: Values to raw elements

    @inline(__always) private func integer(_ v: Mixed) throws(RealmError) -> Int64 {
        switch (self, v) {
        case (.int, .int(let i)): return i
        case (.bool, .bool(let b)): return b ? 1 : 0
        case (.bool, .null): return 3
        case (.link, .link(let k)): return k.raw &+ 1
        case (.link, .null): return 0
        case (.objKey, .link(let k)): return k.raw
        default: throw misfit()
        }
    }

    @inline(__always) private func bytes(_ v: Mixed) throws(RealmError) -> Bytes? {
        switch v {
        case .string(let b): return b
        case .binary(let b): return b
        case .null: return nil
        default: throw misfit()
        }
    }

    @inline(__always) private func optionalInt(_ v: Mixed) throws(RealmError) -> Int64? {
        switch v {
        case .int(let i): return i
        case .null: return nil
        default: throw misfit()
        }
    }

    private func doubleBits(_ v: Mixed) throws(RealmError) -> UInt64 {
        switch v {
        // The one NaN that means null is stored as another NaN.
        case .double(let d): return d.bitPattern == FloatLeaf.nullDouble ? Double.nan.bitPattern : d.bitPattern
        case .null: return FloatLeaf.nullDouble
        default: throw misfit()
        }
    }

    private func floatBits(_ v: Mixed) throws(RealmError) -> UInt32 {
        switch v {
        case .float(let f): return f.bitPattern == FloatLeaf.nullFloat ? Float.nan.bitPattern : f.bitPattern
        case .null: return FloatLeaf.nullFloat
        default: throw misfit()
        }
    }

    private func timestamp(_ v: Mixed) throws(RealmError) -> Timestamp? {
        switch v {
        case .timestamp(let t): return t
        case .null: return nil
        default: throw misfit()
        }
    }

    private func decimal(_ v: Mixed) throws(RealmError) -> Decimal128? {
        switch v {
        case .decimal(let d): return d == Decimal128.null ? Decimal128(low: 0, high: 0x7C00_0000_0000_0000) : d
        case .null: return nil
        default: throw misfit()
        }
    }

    private func typedPair(_ v: Mixed) throws(RealmError) -> (Int64, Int64) {
        switch v {
        case .typedLink(let t, let k): return ((Int64(t.raw) + 1) & 0x7FFF_FFFF, k.raw &+ 1)
        case .null: return (0, 0)
        default: throw misfit()
        }
    }

    private func withFixed(_ v: Mixed, _ body: (UnsafeRawPointer?, Int) throws(RealmError) -> Ref) throws(RealmError)
        -> Ref
    {
        let width = self == .objectId ? 12 : 16
        var buffer: (UInt64, UInt64) = (0, 0)
        switch v {
        case .null: return try body(nil, width)
        case .objectId(let o) where self == .objectId:
            withUnsafeMutableBytes(of: &buffer) { o.copy(to: $0.baseAddress!) }
        case .uuid(let u) where self == .uuid: withUnsafeMutableBytes(of: &buffer) { u.copy(to: $0.baseAddress!) }
        default: throw misfit()
        }
        let copy = buffer
        var result: Ref = .null
        var failure: RealmError?
        withUnsafeBytes(of: copy) { b in
            do throws(RealmError) { result = try body(b.baseAddress!, width) } catch { failure = error }
        }
        if let failure { throw failure }
        return result
    }
}
