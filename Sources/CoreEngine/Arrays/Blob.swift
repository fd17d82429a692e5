/// Blobs: raw bytes in one node, or in a list of nodes when they exceed one. Format: storage §2.5, §2.6.
extension NodeStore {
    func makeBlob(_ bytes: Bytes, terminated: Bool = false) throws(RealmError) -> Node {
        let count = bytes.count + (terminated ? 1 : 0)
        let n = try allocate(NodeHeader(widthType: .ignore, width: count == 0 ? 0 : 1, count: count), capacity: count)
        if let p = bytes.baseAddress, bytes.count > 0 { Platform.copy(n.payload, p, bytes.count) }
        if terminated { n.payload.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self) }
        return n
    }

    /// A blob of any size: one node, or a list of full nodes and a rest.
    func makeLongBlob(_ bytes: Bytes) throws(RealmError) -> Node {
        if bytes.count <= Format.maxBlobSize { return try makeBlob(bytes) }
        var parts: [RefOrTagged] = []
        var at = 0
        while at < bytes.count {
            let n = min(Format.maxBlobSize, bytes.count - at)
            parts.append(RefOrTagged(try makeBlob(Bytes(rebasing: bytes[at..<at + n])).ref))
            at += n
        }
        return try makeRefs(parts, context: true)
    }

    /// Replaces bytes `[at, at + old)` of a blob by `new`, plus a zero byte when `terminated`.
    func replaceBytes(_ n: inout Node, at: Int, old: Int, with new: Bytes, terminated: Bool) throws(RealmError) {
        let added = new.count &+ (terminated ? 1 : 0)
        let total = n.count &- old &+ added
        guard total <= Format.maxElementCount else { throw RealmError(.limitExceeded, "Too many bytes in one node") }
        n = try writable(n, capacity: total)
        let tail = n.count &- at &- old
        if tail > 0 && added != old { Platform.move(n.payload + at + added, n.payload + at + old, tail) }
        if let p = new.baseAddress, new.count > 0 { Platform.copy(n.payload + at, p, new.count) }
        if terminated { n.payload.storeBytes(of: 0, toByteOffset: at &+ new.count, as: UInt8.self) }
        n.count = total
        if n.width == 0 && total > 0 { setWidth(&n, 1) }
        storeHeader(n)
    }
}
