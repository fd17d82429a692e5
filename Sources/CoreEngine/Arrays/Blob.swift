/// Blobs: raw bytes in one node, or in a list of nodes if one node is too small. Format: storage §2.5, §2.6.
extension NodeStore {
    func makeBlob(_ bytes: Bytes, terminated: Bool = false) throws(RealmError) -> Node {
        let count = bytes.count + (terminated ? 1 : 0)
        let node = try allocate(
            NodeHeader(widthType: .ignore, width: count == 0 ? 0 : 1, count: count), capacity: count)
        if let start = bytes.baseAddress, bytes.count > 0 { CMemory.copy(node.payload, start, bytes.count) }
        if terminated { node.payload.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self) }
        return node
    }

    /// A blob of any size: one node, or a list of full nodes and a shorter last node.
    func makeLongBlob(_ bytes: Bytes) throws(RealmError) -> Node {
        if bytes.count <= Format.maxBlobSize { return try makeBlob(bytes) }
        var parts: [RefOrTagged] = []
        var at = 0
        while at < bytes.count {
            let length = min(Format.maxBlobSize, bytes.count - at)
            parts.append(RefOrTagged(try makeBlob(Bytes(rebasing: bytes[at..<at + length])).ref))
            at += length
        }
        return try makeRefs(parts, context: true)
    }

    /// Replaces bytes `[at, at + old)` of a blob by `new`, followed by a zero byte if `terminated`.
    func replaceBytes(_ node: inout Node, at: Int, old: Int, with new: Bytes, terminated: Bool) throws(RealmError) {
        let added = new.count &+ (terminated ? 1 : 0)
        let total = node.count &- old &+ added
        guard total <= Format.maxElementCount else { throw RealmError(.limitExceeded, "Too many bytes in one node") }
        node = try writable(node, capacity: total)
        let tail = node.count &- at &- old
        if tail > 0 && added != old { CMemory.move(node.payload + at + added, node.payload + at + old, tail) }
        if let start = new.baseAddress, new.count > 0 { CMemory.copy(node.payload + at, start, new.count) }
        if terminated { node.payload.storeBytes(of: 0, toByteOffset: at &+ new.count, as: UInt8.self) }
        node.count = total
        if node.width == 0 && total > 0 { setWidth(&node, 1) }
        storeHeader(node)
    }
}
