extension LeafKind {
    func create(_ store: NodeStore) throws(RealmError) -> Ref {
        switch self {
        case .int, .bool, .link, .objKey, .typedLink: try store.makeIntegers().ref
        case .nullableInt: try NullableIntLeaf.create(store)
        case .float: try FloatLeaf.create(store, width: 4)
        case .double: try FloatLeaf.create(store, width: 8)
        case .string: try StringLeaf.create(store)
        case .binary: try BinaryLeaf.create(store)
        case .timestamp: try TimestampLeaf.create(store)
        case .decimal: try DecimalLeaf.create(store)
        case .objectId, .uuid: try FixedBytesLeaf.create(store)
        case .mixed: try MixedLeaf.create(store)
        case .slot: try store.makeRefs([]).ref
        }
    }

    func count(_ store: NodeStore, _ ref: Ref) throws(RealmError) -> Int {
        switch self {
        case .int, .bool, .link, .objKey: try store.integers(ref).count
        case .typedLink: try store.integers(ref).count / 2
        case .nullableInt: max(0, try store.integers(ref).count - 1)
        case .float: try FloatLeaf.node(store, ref, width: 4).count
        case .double: try FloatLeaf.node(store, ref, width: 8).count
        case .string: try StringLeaf.count(store, ref)
        case .binary: try BinaryLeaf.count(store, ref)
        case .timestamp: try TimestampLeaf.count(store, ref)
        case .decimal: try DecimalLeaf.count(store, ref)
        case .objectId: try FixedBytesLeaf.count(store, ref, width: 12)
        case .uuid: try FixedBytesLeaf.count(store, ref, width: 16)
        case .mixed: try MixedLeaf.count(store, ref)
        case .slot: try store.refsNode(ref).count
        }
    }

    @inline(__always) private func short(_ ref: Ref) -> RealmError { .corrupt("leaf is too short", at: ref.offset) }

    /// The value at `index`; an index outside of the leaf is an error.
    @inline(__always) func get(_ store: NodeStore, _ ref: Ref, _ index: Int) throws(RealmError) -> Mixed {
        switch self {
        case .int:
            let node = try store.integers(ref)
            guard index >= 0, index < node.count else { throw short(ref) }
            return .int(node.get(index))
        case .string:
            guard let text = try StringLeaf.get(store, ref, index) else { return .null }
            return .string(text)
        case .double:
            let node = try FloatLeaf.node(store, ref, width: 8)
            guard index >= 0, index < node.count else { throw short(ref) }
            let bits = FloatLeaf.double(node, index)
            return bits == FloatLeaf.nullDouble ? .null : .double(Double(bitPattern: bits))
        default: return try getOther(store, ref, index)
        }
    }

    private func getOther(_ store: NodeStore, _ ref: Ref, _ index: Int) throws(RealmError) -> Mixed {
        switch self {
        case .bool:
            let node = try store.integers(ref)
            guard index >= 0, index < node.count else { throw short(ref) }
            let value = node.get(index)
            return value == 3 ? .null : .bool(value != 0)
        case .link:
            let node = try store.integers(ref)
            guard index >= 0, index < node.count else { throw short(ref) }
            let value = node.get(index)
            return value == 0 ? .null : .link(ObjKey(value &- 1))
        case .objKey:
            let node = try store.integers(ref)
            guard index >= 0, index < node.count else { throw short(ref) }
            return .link(ObjKey(node.get(index)))
        case .typedLink:
            let node = try store.integers(ref)
            guard index >= 0, index * 2 + 1 < node.count else { throw short(ref) }
            let table = node.get(index * 2)
            return table == 0
                ? .null
                : .typedLink(
                    TableKey(UInt32(truncatingIfNeeded: table &- 1) & 0x7FFF_FFFF), ObjKey(node.get(index * 2 + 1) &- 1)
                )
        case .nullableInt:
            guard let value = try NullableIntLeaf.get(try store.integers(ref), index) else { return .null }
            return .int(value)
        case .float:
            let node = try FloatLeaf.node(store, ref, width: 4)
            guard index >= 0, index < node.count else { throw short(ref) }
            let bits = FloatLeaf.float(node, index)
            return bits == FloatLeaf.nullFloat ? .null : .float(Float(bitPattern: bits))
        case .binary:
            guard let bytes = try BinaryLeaf.get(store, ref, index) else { return .null }
            return .binary(bytes)
        case .timestamp:
            guard let timestamp = try TimestampLeaf.get(store, ref, index) else { return .null }
            return .timestamp(timestamp)
        case .decimal:
            guard let decimal = try DecimalLeaf.get(store, ref, index) else { return .null }
            return .decimal(decimal)
        case .objectId:
            guard let bytes = try FixedBytesLeaf.get(store, ref, index, width: 12) else { return .null }
            return .objectId(ObjectId(bytes: bytes))
        case .uuid:
            guard let bytes = try FixedBytesLeaf.get(store, ref, index, width: 16) else { return .null }
            return .uuid(UUIDValue(bytes: bytes))
        case .mixed: return try MixedLeaf.get(store, ref, index)
        case .slot: return .slot(try store.refsNode(ref).slot(index))
        case .int, .string, .double: throw short(ref)
        }
    }

    // The caller has checked the type. A value of a wrong type is a bug of the engine; it is refused, not stored.
    @inline(__always) private func misfit() -> RealmError {
        RealmError(.typeMismatch, "The value does not fit the column")
    }

    func insert(_ store: NodeStore, _ ref: Ref, _ index: Int, _ value: Mixed) throws(RealmError) -> Ref {
        switch self {
        case .int, .bool, .link, .objKey:
            var node = try store.integers(ref)
            guard index <= node.count else { throw short(ref) }
            try store.insertInteger(&node, index, try integer(value))
            return node.ref
        case .string: return try StringLeaf.insert(store, ref, index, try bytes(value))
        case .double:
            let node = try FloatLeaf.open(store, ref, index, width: 8, inserting: true)
            node.payload.storeBytes(of: try doubleBits(value), toByteOffset: index &* 8, as: UInt64.self)
            return node.ref
        case .float:
            let node = try FloatLeaf.open(store, ref, index, width: 4, inserting: true)
            node.payload.storeBytes(of: try floatBits(value), toByteOffset: index &* 4, as: UInt32.self)
            return node.ref
        case .nullableInt: return try NullableIntLeaf.insert(store, ref, index, try optionalInt(value))
        case .binary: return try BinaryLeaf.insert(store, ref, index, try bytes(value))
        case .timestamp: return try TimestampLeaf.insert(store, ref, index, try timestamp(value))
        case .decimal: return try DecimalLeaf.insert(store, ref, index, try decimal(value))
        case .objectId, .uuid:
            return try withFixed(value) { (p, w) throws(RealmError) in
                try FixedBytesLeaf.insert(store, ref, index, width: w, p)
            }
        case .slot:
            guard case .slot(let raw) = value else { throw misfit() }
            var node = try store.refsNode(ref)
            guard index <= node.count else { throw short(ref) }
            try store.insertSlot(&node, index, raw)
            return node.ref
        case .typedLink:
            var node = try store.integers(ref)
            guard index * 2 <= node.count else { throw short(ref) }
            let (table, object) = try typedPair(value)
            try store.insertInteger(&node, index * 2, table)
            try store.insertInteger(&node, index * 2 + 1, object)
            return node.ref
        case .mixed: return try MixedLeaf.insert(store, ref, index, value)
        }
    }

    func set(_ store: NodeStore, _ ref: Ref, _ index: Int, _ value: Mixed) throws(RealmError) -> Ref {
        switch self {
        case .int, .bool, .link, .objKey:
            var node = try store.integers(ref)
            guard index < node.count else { throw short(ref) }
            try store.setInteger(&node, index, try integer(value))
            return node.ref
        case .string: return try StringLeaf.set(store, ref, index, try bytes(value))
        case .double:
            let node = try FloatLeaf.open(store, ref, index, width: 8, inserting: false)
            node.payload.storeBytes(of: try doubleBits(value), toByteOffset: index &* 8, as: UInt64.self)
            return node.ref
        case .float:
            let node = try FloatLeaf.open(store, ref, index, width: 4, inserting: false)
            node.payload.storeBytes(of: try floatBits(value), toByteOffset: index &* 4, as: UInt32.self)
            return node.ref
        case .nullableInt: return try NullableIntLeaf.set(store, ref, index, try optionalInt(value))
        case .binary: return try BinaryLeaf.set(store, ref, index, try bytes(value))
        case .timestamp: return try TimestampLeaf.set(store, ref, index, try timestamp(value))
        case .decimal: return try DecimalLeaf.set(store, ref, index, try decimal(value))
        case .objectId, .uuid:
            return try withFixed(value) { (p, w) throws(RealmError) in
                try FixedBytesLeaf.set(store, ref, index, width: w, p)
            }
        case .slot:
            guard case .slot(let raw) = value else { throw misfit() }
            let node = try store.writableRefs(try store.refsNode(ref))
            guard index < node.count else { throw short(ref) }
            store.setSlot(node, index, raw)
            return node.ref
        case .typedLink:
            var node = try store.integers(ref)
            guard index * 2 + 1 < node.count else { throw short(ref) }
            let (table, object) = try typedPair(value)
            try store.setInteger(&node, index * 2, table)
            try store.setInteger(&node, index * 2 + 1, object)
            return node.ref
        case .mixed: return try MixedLeaf.set(store, ref, index, value)
        }
    }

    /// Removes the element. The caller first destroys the nodes that a `.slot` element owns; a Mixed leaf destroys the
    /// nodes of a nested collection itself.
    func erase(_ store: NodeStore, _ ref: Ref, _ index: Int) throws(RealmError) -> Ref {
        switch self {
        case .int, .bool, .link, .objKey:
            var node = try store.integers(ref)
            guard index < node.count else { throw short(ref) }
            try store.eraseIntegers(&node, index)
            return node.ref
        case .nullableInt: return try NullableIntLeaf.erase(store, ref, index)
        case .float: return try FloatLeaf.erase(store, ref, index, width: 4)
        case .double: return try FloatLeaf.erase(store, ref, index, width: 8)
        case .string: return try StringLeaf.erase(store, ref, index)
        case .binary: return try BinaryLeaf.erase(store, ref, index)
        case .timestamp: return try TimestampLeaf.erase(store, ref, index)
        case .decimal: return try DecimalLeaf.erase(store, ref, index)
        case .objectId: return try FixedBytesLeaf.erase(store, ref, index, width: 12)
        case .uuid: return try FixedBytesLeaf.erase(store, ref, index, width: 16)
        case .slot:
            var node = try store.refsNode(ref)
            guard index < node.count else { throw short(ref) }
            try store.eraseSlots(&node, index)
            return node.ref
        case .typedLink:
            var node = try store.integers(ref)
            guard index * 2 + 1 < node.count else { throw short(ref) }
            try store.eraseIntegers(&node, index * 2, 2)
            return node.ref
        case .mixed: return try MixedLeaf.erase(store, ref, index)
        }
    }

    /// Moves elements `[start, count)` of `from` to the end of `to`; both refs may change.
    func moveTail(_ store: NodeStore, from: inout Ref, start: Int, to: inout Ref) throws(RealmError) {
        let count = try self.count(store, from)
        guard start < count else { return }
        if self == .mixed {
            try MixedLeaf.moveTail(store, from: &from, start: start, count: count, to: &to)
            return
        }
        var at = try self.count(store, to)
        for i in start..<count {
            to = try insert(store, to, at, try get(store, from, i))
            at += 1
        }
        try truncate(store, &from, to: start, count: count)
    }

    /// Removes elements `[to, count)`. They own no nodes, or their nodes were moved to another leaf.
    func truncate(_ store: NodeStore, _ ref: inout Ref, to: Int, count: Int) throws(RealmError) {
        switch self {
        case .int, .bool, .link, .objKey, .typedLink, .nullableInt:
            var node = try store.integers(ref)
            let per = self == .typedLink ? 2 : 1, first = self == .nullableInt ? 1 : 0
            try store.truncateIntegers(&node, to: to * per + first)
            ref = node.ref
        case .slot:
            var node = try store.refsNode(ref)
            try store.eraseSlots(&node, to, node.count - to)
            ref = node.ref
        default:
            var i = count
            while i > to {
                i -= 1
                ref = try erase(store, ref, i)
            }
        }
    }

    // MARK: Values to raw elements

    @inline(__always) private func integer(_ value: Mixed) throws(RealmError) -> Int64 {
        switch (self, value) {
        case (.int, .int(let integer)): return integer
        case (.bool, .bool(let flag)): return flag ? 1 : 0
        case (.bool, .null): return 3
        case (.link, .link(let key)): return key.raw &+ 1
        case (.link, .null): return 0
        case (.objKey, .link(let key)): return key.raw
        default: throw misfit()
        }
    }

    @inline(__always) private func bytes(_ value: Mixed) throws(RealmError) -> Bytes? {
        switch value {
        case .string(let text): return text
        case .binary(let bytes): return bytes
        case .null: return nil
        default: throw misfit()
        }
    }

    @inline(__always) private func optionalInt(_ value: Mixed) throws(RealmError) -> Int64? {
        switch value {
        case .int(let integer): return integer
        case .null: return nil
        default: throw misfit()
        }
    }

    private func doubleBits(_ value: Mixed) throws(RealmError) -> UInt64 {
        switch value {
        // The NaN pattern that means null is stored as a different NaN.
        case .double(let number):
            return number.bitPattern == FloatLeaf.nullDouble ? Double.nan.bitPattern : number.bitPattern
        case .null: return FloatLeaf.nullDouble
        default: throw misfit()
        }
    }

    private func floatBits(_ value: Mixed) throws(RealmError) -> UInt32 {
        switch value {
        case .float(let number):
            return number.bitPattern == FloatLeaf.nullFloat ? Float.nan.bitPattern : number.bitPattern
        case .null: return FloatLeaf.nullFloat
        default: throw misfit()
        }
    }

    private func timestamp(_ value: Mixed) throws(RealmError) -> Timestamp? {
        switch value {
        case .timestamp(let timestamp): return timestamp
        case .null: return nil
        default: throw misfit()
        }
    }

    private func decimal(_ value: Mixed) throws(RealmError) -> Decimal128? {
        switch value {
        case .decimal(let decimal):
            return decimal == Decimal128.null ? Decimal128(low: 0, high: 0x7C00_0000_0000_0000) : decimal
        case .null: return nil
        default: throw misfit()
        }
    }

    private func typedPair(_ value: Mixed) throws(RealmError) -> (Int64, Int64) {
        switch value {
        case .typedLink(let table, let key): return ((Int64(table.raw) + 1) & 0x7FFF_FFFF, key.raw &+ 1)
        case .null: return (0, 0)
        default: throw misfit()
        }
    }

    private func withFixed(_ value: Mixed, _ body: (UnsafeRawPointer?, Int) throws(RealmError) -> Ref)
        throws(RealmError)
        -> Ref
    {
        let width = self == .objectId ? 12 : 16
        var buffer: (UInt64, UInt64) = (0, 0)
        switch value {
        case .null: return try body(nil, width)
        case .objectId(let id) where self == .objectId:
            withUnsafeMutableBytes(of: &buffer) { id.copy(to: $0.start) }
        case .uuid(let uuid) where self == .uuid: withUnsafeMutableBytes(of: &buffer) { uuid.copy(to: $0.start) }
        default: throw misfit()
        }
        let copy = buffer
        var result: Ref = .null
        var failure: RealmError?
        withUnsafeBytes(of: copy) { b in
            do throws(RealmError) { result = try body(b.start, width) } catch { failure = error }
        }
        if let failure { throw failure }
        return result
    }
}
