/// A leaf of Mixed values: one composite integer per value, payloads beside it. Format: logical §6.11.
///
///     [0] composite  [1] ints  [2] pairs  [3] strings  [4] refs  [5] keys
///     composite: 0 = null; bits 0–4 type + 1 · bits 5–7 payload slot (0 = inline) · bits 8… inline value or payload index
enum MixedLeaf {
    /// A value with the stable key of its nested collection (0 for everything else).
    struct Element {
        var value: Mixed
        var key: Int64
    }

    static func create(_ s: NodeStore) throws(RealmError) -> Ref {
        let composite = try s.makeIntegers().ref
        return try s.makeRefs([RefOrTagged(composite)] + [RefOrTagged](repeating: RefOrTagged(.null), count: 5)).ref
    }

    static func count(_ s: NodeStore, _ ref: Ref) throws(RealmError) -> Int {
        try s.integers(try s.refsNode(ref).child(0)).count
    }

    static func get(_ s: NodeStore, _ ref: Ref, _ i: Int) throws(RealmError) -> Mixed {
        let n = try s.refsNode(ref)
        let composite = try s.integers(try n.child(0))
        guard i >= 0, i < composite.count else { throw .corrupt("leaf of Mixed values is too short", at: ref.offset) }
        return try decode(s, n, composite.get(i))
    }

    /// Stable key of the nested collection at `i`; 0 when there is none.
    static func key(_ s: NodeStore, _ ref: Ref, _ i: Int) throws(RealmError) -> Int64 {
        let n = try s.refsNode(ref)
        guard n.count > 5, case let keys = try n.child(5), !keys.isNull else { return 0 }
        let k = try s.integers(keys)
        return i < k.count ? k.get(i) : 0
    }

    /// Index of the element whose nested collection has this stable key.
    static func index(_ s: NodeStore, _ ref: Ref, ofKey key: Int64) throws(RealmError) -> Int? {
        let n = try s.refsNode(ref)
        guard key != 0, n.count > 5, case let keys = try n.child(5), !keys.isNull else { return nil }
        let k = try s.integers(keys)
        for i in 0..<k.count where k.get(i) == key { return i }
        return nil
    }

    private static func decode(_ s: NodeStore, _ n: Node, _ c: Int64) throws(RealmError) -> Mixed {
        if c == 0 { return .null }
        guard let type = ColumnType(rawValue: Int(c & 0x1F) - 1) else {
            throw .corrupt("unknown type in a Mixed value", at: n.ref.offset)
        }
        let slot = Int(c >> 5 & 7)
        let index = c >> 8
        if slot == 0 {
            switch type {
            case .int: return .int(index)
            case .bool: return .bool(index != 0)
            default: throw .corrupt("unknown inline value in a Mixed value", at: n.ref.offset)
            }
        }
        guard slot < n.count else { throw .corrupt("Mixed value without its payload", at: n.ref.offset) }
        let payload = try n.child(slot)
        guard !payload.isNull, index >= 0, index < 1 << 24 else {
            throw .corrupt("Mixed value without its payload", at: n.ref.offset)
        }
        let i = Int(index)
        switch (slot, type) {
        case (1, .int), (1, .float), (1, .double), (1, .link), (1, .bool):
            let ints = try s.integers(payload)
            guard i < ints.count else { break }
            let v = ints.get(i)
            switch type {
            case .float: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: v)))
            case .double: return .double(Double(bitPattern: UInt64(bitPattern: v)))
            case .link: return .link(ObjKey(v))
            case .bool: return .bool(v != 0)
            default: return .int(v)
            }
        case (2, .timestamp), (2, .decimal), (2, .typedLink):
            let pairs = try s.integers(payload)
            guard i * 2 + 1 < pairs.count else { break }
            let a = pairs.get(i * 2), b = pairs.get(i * 2 + 1)
            switch type {
            case .timestamp: return .timestamp(Timestamp(seconds: a, nanoseconds: Int32(truncatingIfNeeded: b)))
            case .decimal: return .decimal(Decimal128(low: UInt64(bitPattern: a), high: UInt64(bitPattern: b)))
            default: return .typedLink(TableKey(UInt32(truncatingIfNeeded: a)), ObjKey(b))
            }
        case (3, .string), (3, .binary), (3, .objectId), (3, .uuid):
            guard let b = try StringLeaf.get(s, payload, i) else { break }
            switch type {
            case .string: return .string(b)
            case .binary: return .binary(b)
            case .objectId where b.count == 12: return .objectId(ObjectId(bytes: b.baseAddress!))
            case .uuid where b.count == 16: return .uuid(UUIDValue(bytes: b.baseAddress!))
            default: break
            }
        case (4, .list), (4, .dictionary):
            let refs = try s.refsNode(payload)
            let child = try refs.child(i)
            return type == .list ? .list(child) : .dictionary(child)
        default: break
        }
        throw .corrupt("Mixed value with a payload of another kind", at: n.ref.offset)
    }
}
