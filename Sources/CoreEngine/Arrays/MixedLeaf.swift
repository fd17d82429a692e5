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

    static func create(_ store: NodeStore) throws(RealmError) -> Ref {
        let composite = try store.makeIntegers().ref
        return try store.makeRefs([RefOrTagged(composite)] + [RefOrTagged](repeating: RefOrTagged(.null), count: 5)).ref
    }

    static func count(_ store: NodeStore, _ ref: Ref) throws(RealmError) -> Int {
        try store.integers(try store.refsNode(ref).child(0)).count
    }

    static func get(_ store: NodeStore, _ ref: Ref, _ index: Int) throws(RealmError) -> Mixed {
        let node = try store.refsNode(ref)
        let composite = try store.integers(try node.child(0))
        guard index >= 0, index < composite.count else {
            throw .corrupt("leaf of Mixed values is too short", at: ref.offset)
        }
        return try decode(store, node, composite.get(index))
    }

    /// Stable key of the nested collection at `index`; 0 if the element has none.
    static func key(_ store: NodeStore, _ ref: Ref, _ index: Int) throws(RealmError) -> Int64 {
        let node = try store.refsNode(ref)
        guard node.count > 5, case let keys = try node.child(5), !keys.isNull else { return 0 }
        let storedKeys = try store.integers(keys)
        return index < storedKeys.count ? storedKeys.get(index) : 0
    }

    /// Index of the element whose nested collection has this stable key.
    static func index(_ store: NodeStore, _ ref: Ref, ofKey key: Int64) throws(RealmError) -> Int? {
        let node = try store.refsNode(ref)
        guard key != 0, node.count > 5, case let keys = try node.child(5), !keys.isNull else { return nil }
        let storedKeys = try store.integers(keys)
        for i in 0..<storedKeys.count where storedKeys.get(i) == key { return i }
        return nil
    }

    private static func decode(_ store: NodeStore, _ node: Node, _ composite: Int64) throws(RealmError) -> Mixed {
        if composite == 0 { return .null }
        guard let type = ColumnType(rawValue: Int(composite & 0x1F) - 1) else {
            throw .corrupt("unknown type in a Mixed value", at: node.ref.offset)
        }
        let slot = Int(composite >> 5 & 7)
        let index = composite >> 8
        if slot == 0 {
            switch type {
            case .int: return .int(index)
            case .bool: return .bool(index != 0)
            default: throw .corrupt("unknown inline value in a Mixed value", at: node.ref.offset)
            }
        }
        guard slot < node.count else { throw .corrupt("Mixed value without its payload", at: node.ref.offset) }
        let payload = try node.child(slot)
        guard !payload.isNull, index >= 0, index < 1 << 24 else {
            throw .corrupt("Mixed value without its payload", at: node.ref.offset)
        }
        let position = Int(index)
        switch (slot, type) {
        case (1, .int), (1, .float), (1, .double), (1, .link), (1, .bool):
            let ints = try store.integers(payload)
            guard position < ints.count else { break }
            let value = ints.get(position)
            switch type {
            case .float: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: value)))
            case .double: return .double(Double(bitPattern: UInt64(bitPattern: value)))
            case .link: return .link(ObjKey(value))
            case .bool: return .bool(value != 0)
            default: return .int(value)
            }
        case (2, .timestamp), (2, .decimal), (2, .typedLink):
            let pairs = try store.integers(payload)
            guard position * 2 + 1 < pairs.count else { break }
            let a = pairs.get(position * 2), b = pairs.get(position * 2 + 1)
            switch type {
            case .timestamp: return .timestamp(Timestamp(seconds: a, nanoseconds: Int32(truncatingIfNeeded: b)))
            case .decimal: return .decimal(Decimal128(low: UInt64(bitPattern: a), high: UInt64(bitPattern: b)))
            default: return .typedLink(TableKey(UInt32(truncatingIfNeeded: a)), ObjKey(b))
            }
        case (3, .string), (3, .binary), (3, .objectId), (3, .uuid):
            guard let bytes = try StringLeaf.get(store, payload, position) else { break }
            switch type {
            case .string: return .string(bytes)
            case .binary: return .binary(bytes)
            case .objectId where bytes.count == 12: return .objectId(ObjectId(bytes: bytes.start))
            case .uuid where bytes.count == 16: return .uuid(UUIDValue(bytes: bytes.start))
            default: break
            }
        case (4, .list), (4, .dictionary):
            let refs = try store.refsNode(payload)
            let child = try refs.child(position)
            return type == .list ? .list(child) : .dictionary(child)
        default: break
        }
        throw .corrupt("Mixed value with a payload of another kind", at: node.ref.offset)
    }
}
