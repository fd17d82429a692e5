/// A leaf of binary values. Up to 64 bytes per value it has the three-node form; otherwise each value has its own blob.
/// Format: logical §6.6.
enum BinaryLeaf {
    static let smallLimit = 64
    private static var nothing: Bytes { Bytes(start: nil, count: 0) }

    static func create(_ store: NodeStore) throws(RealmError) -> Ref {
        let ends = try store.makeIntegers(), blob = try store.makeBlob(nothing), nulls = try store.makeIntegers()
        return try store.makeRefs([RefOrTagged(ends.ref), RefOrTagged(blob.ref), RefOrTagged(nulls.ref)]).ref
    }

    static func count(_ store: NodeStore, _ ref: Ref) throws(RealmError) -> Int {
        let node = try store.refsNode(ref)
        return node.context ? node.count : try store.integers(try node.child(0)).count
    }

    static func get(_ store: NodeStore, _ ref: Ref, _ index: Int) throws(RealmError) -> Bytes? {
        let node = try store.refsNode(ref)
        if node.context {
            let blobRef = try node.child(index)
            if blobRef.isNull { return nil }
            let blob = try store.node(blobRef)
            // Only histories and internal tables store values longer than one blob. A property reads such a value as
            // null, as in realm-core.
            if blob.hasRefs { return nil }
            guard blob.widthType == 2 else { throw .corrupt("not a blob", at: blobRef.offset) }
            // A non-null empty value needs a non-nil address.
            return Bytes(start: blob.payload, count: blob.count)
        }
        let parts = try MediumLeaf.parts(store, node)
        let (start, end) = try MediumLeaf.range(parts, index)
        return parts.nulls.get(index) != 0 ? nil : Bytes(start: parts.blob.payload + start, count: end - start)
    }

    /// The length of a value; 0 for null. Does not read the value itself if it has a blob of its own.
    static func length(_ store: NodeStore, _ ref: Ref, _ index: Int) throws(RealmError) -> Int {
        let node = try store.refsNode(ref)
        guard node.context else { return try get(store, ref, index)?.count ?? 0 }
        let blobRef = try node.child(index)
        return blobRef.isNull ? 0 : try store.blobLength(blobRef)
    }

    private static func formed(_ store: NodeStore, _ ref: Ref, for length: Int) throws(RealmError) -> Node {
        let node = try store.refsNode(ref)
        guard !node.context && length > smallLimit else { return try store.writableRefs(node) }
        let count = try self.count(store, ref)
        var new = try store.allocate(
            NodeHeader(hasRefs: true, context: true, width: 64, count: 0), capacity: max(count + 8, 8) * 8)
        for i in 0..<count {
            let blob = try get(store, ref, i).map { b throws(RealmError) in try store.makeBlob(b).ref } ?? .null
            try store.insertSlot(&new, i, RefOrTagged(blob))
        }
        try store.destroy(ref)
        return new
    }

    static func insert(_ store: NodeStore, _ ref: Ref, _ index: Int, _ value: Bytes?) throws(RealmError) -> Ref {
        var node = try formed(store, ref, for: value?.count ?? 0)
        if node.context {
            guard index <= node.count else { throw .corrupt("binary leaf is too short", at: ref.offset) }
            let blob = try value.map { b throws(RealmError) in try store.makeLongBlob(b).ref } ?? .null
            try store.insertSlot(&node, index, RefOrTagged(blob))
        } else {
            try MediumLeaf.insert(store, node, index, value, terminated: false)
        }
        return node.ref
    }

    static func set(_ store: NodeStore, _ ref: Ref, _ index: Int, _ value: Bytes?) throws(RealmError) -> Ref {
        let node = try formed(store, ref, for: value?.count ?? 0)
        if node.context {
            let old = try node.child(index)
            let blob = try value.map { b throws(RealmError) in try store.makeLongBlob(b).ref } ?? .null
            store.setSlot(node, index, blob)
            try store.destroy(old)
        } else {
            try MediumLeaf.set(store, node, index, value, terminated: false)
        }
        return node.ref
    }

    static func erase(_ store: NodeStore, _ ref: Ref, _ index: Int) throws(RealmError) -> Ref {
        var node = try store.writableRefs(try store.refsNode(ref))
        if node.context {
            try store.destroy(try node.child(index))
            try store.eraseSlots(&node, index)
        } else {
            try MediumLeaf.erase(store, node, index)
        }
        return node.ref
    }
}
