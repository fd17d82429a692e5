/// A leaf of binaries: the three-node form up to 64 bytes a value, then a blob for each. Format: logical §6.6.
enum BinaryLeaf {
    static let smallLimit = 64
    private static var nothing: Bytes { Bytes(start: nil, count: 0) }

    static func create(_ s: NodeStore) throws(RealmError) -> Ref {
        let ends = try s.makeIntegers(), blob = try s.makeBlob(nothing), nulls = try s.makeIntegers()
        return try s.makeRefs([RefOrTagged(ends.ref), RefOrTagged(blob.ref), RefOrTagged(nulls.ref)]).ref
    }

    static func count(_ s: NodeStore, _ ref: Ref) throws(RealmError) -> Int {
        let n = try s.refsNode(ref)
        return n.context ? n.count : try s.integers(try n.child(0)).count
    }

    static func get(_ s: NodeStore, _ ref: Ref, _ i: Int) throws(RealmError) -> Bytes? {
        let n = try s.refsNode(ref)
        if n.context {
            let r = try n.child(i)
            if r.isNull { return nil }
            let blob = try s.node(r)
            // Beyond one blob only histories and internal tables store values; a property reads as null, as in
            // realm-core.
            if blob.hasRefs { return nil }
            guard blob.widthType == 2 else { throw .corrupt("not a blob", at: r.offset) }
            // A non-null empty value needs a non-nil address.
            return Bytes(start: blob.payload, count: blob.count)
        }
        let p = try MediumLeaf.parts(s, n)
        let (start, end) = try MediumLeaf.range(p, i)
        return p.nulls.get(i) != 0 ? nil : Bytes(start: p.blob.payload + start, count: end - start)
    }

    private static func formed(_ s: NodeStore, _ ref: Ref, for length: Int) throws(RealmError) -> Node {
        let n = try s.refsNode(ref)
        guard !n.context && length > smallLimit else { return try s.writableRefs(n) }
        let count = try self.count(s, ref)
        var new = try s.allocate(
            NodeHeader(hasRefs: true, context: true, width: 64, count: 0), capacity: max(count + 8, 8) * 8)
        for i in 0..<count {
            let blob = try get(s, ref, i).map { b throws(RealmError) in try s.makeBlob(b).ref } ?? .null
            try s.insertSlot(&new, i, RefOrTagged(blob))
        }
        try s.destroy(ref)
        return new
    }

    static func insert(_ s: NodeStore, _ ref: Ref, _ i: Int, _ value: Bytes?) throws(RealmError) -> Ref {
        var n = try formed(s, ref, for: value?.count ?? 0)
        if n.context {
            guard i <= n.count else { throw .corrupt("binary leaf is too short", at: ref.offset) }
            let blob = try value.map { b throws(RealmError) in try s.makeLongBlob(b).ref } ?? .null
            try s.insertSlot(&n, i, RefOrTagged(blob))
        } else {
            try MediumLeaf.insert(s, n, i, value, terminated: false)
        }
        return n.ref
    }

    static func set(_ s: NodeStore, _ ref: Ref, _ i: Int, _ value: Bytes?) throws(RealmError) -> Ref {
        let n = try formed(s, ref, for: value?.count ?? 0)
        if n.context {
            let old = try n.child(i)
            let blob = try value.map { b throws(RealmError) in try s.makeLongBlob(b).ref } ?? .null
            s.setSlot(n, i, blob)
            try s.destroy(old)
        } else {
            try MediumLeaf.set(s, n, i, value, terminated: false)
        }
        return n.ref
    }

    static func erase(_ s: NodeStore, _ ref: Ref, _ i: Int) throws(RealmError) -> Ref {
        var n = try s.writableRefs(try s.refsNode(ref))
        if n.context {
            try s.destroy(try n.child(i))
            try s.eraseSlots(&n, i)
        } else {
            try MediumLeaf.erase(s, n, i)
        }
        return n.ref
    }
}
