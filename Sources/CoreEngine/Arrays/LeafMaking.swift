/// Creates a leaf from all its values at once.
extension StringLeaf {
    /// A nil value is null. The bytes must not move during the call.
    static func make(_ store: NodeStore, _ values: [Bytes?]) throws(RealmError) -> Ref {
        let longest = values.lazy.map { $0?.count ?? -1 }.max() ?? -1
        if longest <= smallLimit { return try makeSmall(store, values, longest) }
        if longest > mediumLimit {
            let new = try store.allocate(
                NodeHeader(hasRefs: true, context: true, width: 64, count: values.count),
                capacity: max(24, values.count * 8))
            for (i, value) in values.enumerated() {
                store.setSlot(
                    new, i,
                    try value.map { (b) throws(RealmError) in try store.makeBlob(b, terminated: true).ref } ?? .null)
            }
            return new.ref
        }
        return try MediumLeaf.make(store, values, terminated: true)
    }

    private static func makeSmall(_ store: NodeStore, _ values: [Bytes?], _ longest: Int) throws(RealmError) -> Ref {
        var width = longest < 0 ? 0 : 1
        while width < longest + 1 { width <<= 1 }
        let new = try store.allocate(
            NodeHeader(widthType: .multiply, width: width, count: values.count), capacity: max(24, values.count * width)
        )
        for (i, value) in values.enumerated() { putSmall(new, i, value) }
        return new.ref
    }
}

extension BinaryLeaf {
    /// A nil value is null. The bytes must not move during the call.
    static func make(_ store: NodeStore, _ values: [Bytes?]) throws(RealmError) -> Ref {
        guard values.contains(where: { $0?.count ?? 0 > smallLimit }) else {
            return try MediumLeaf.make(store, values, terminated: false)
        }
        let new = try store.allocate(
            NodeHeader(hasRefs: true, context: true, width: 64, count: values.count),
            capacity: max(24, values.count * 8))
        for (i, value) in values.enumerated() {
            store.setSlot(new, i, try value.map { (b) throws(RealmError) in try store.makeLongBlob(b).ref } ?? .null)
        }
        return new.ref
    }
}

extension MediumLeaf {
    /// The three-node form for short values: end offsets, bytes, null flags.
    /// - Parameter terminated: a zero byte follows each value, also a null.
    fileprivate static func make(_ store: NodeStore, _ values: [Bytes?], terminated: Bool) throws(RealmError) -> Ref {
        let extra = terminated ? 1 : 0
        var ends: [Int64] = [], end = 0
        ends.reserveCapacity(values.count)
        for value in values {
            end += (value?.count ?? 0) + extra
            ends.append(Int64(end))
        }
        let blob = try store.allocate(
            NodeHeader(widthType: .ignore, width: end == 0 ? 0 : 1, count: end), capacity: end)
        var at = 0
        for value in values {
            if let value, let start = value.baseAddress, value.count > 0 {
                CMemory.copy(blob.payload + at, start, value.count)
            }
            at += value?.count ?? 0
            if terminated { blob.payload.storeBytes(of: 0, toByteOffset: at, as: UInt8.self) }
            at += extra
        }
        let nulls = try store.makeIntegers(values.map { $0 == nil ? 1 : 0 })
        return try store.makeRefs([
            RefOrTagged(try store.makeIntegers(ends).ref), RefOrTagged(blob.ref), RefOrTagged(nulls.ref),
        ]).ref
    }
}
