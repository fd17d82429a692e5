/// A string leaf, opened for reading many rows.
struct TextLeaf {
    private let node: Node

    /// Whether the strings are stored in three nodes: ends, bytes and nulls. `parts` is not optional, because each read
    /// would then copy it.
    private let isMedium: Bool
    private let parts: MediumLeaf.Parts

    /// Checks that the leaf has at least `count` rows.
    init(_ store: NodeStore, _ ref: Ref, _ count: Int) throws(RealmError) {
        node = try LeafNodes.texts(store, ref)
        isMedium = node.hasRefs && !node.context
        if isMedium {
            parts = try MediumLeaf.parts(store, node)
            guard parts.ends.count >= count, parts.nulls.count >= count else {
                throw .corrupt("string leaf is too short", at: ref.offset)
            }
        } else {
            parts = MediumLeaf.Parts(ends: node, blob: node, nulls: node)
            guard node.count >= count else { throw .corrupt("string leaf is too short", at: ref.offset) }
        }
    }

    /// The sizes in bytes of the offsets and of the text; nil unless they are in separate nodes.
    var sizes: (offsets: Int, text: Int)? { isMedium ? (parts.ends.payloadSize, parts.blob.count) : nil }

    @inline(__always) func text(_ store: NodeStore, _ row: Int) throws(RealmError) -> Bytes? {
        guard isMedium else { return try StringLeaf.get(store, node, row) }
        if parts.nulls.get(row) != 0 { return nil }
        guard let text = MediumLeaf.text(parts.ends, parts.blob, row) else {
            throw .corrupt("string offsets out of order", at: node.ref.offset)
        }
        return text
    }
}
