/// Checks that leaves of texts and binaries have the form that the format describes, also in bytes that readers ignore.
/// Format: logical §6.4.
enum LeafForm {
    struct Fault {
        /// true: a text with a wrong end; false: a node whose parts do not match.
        let isValue: Bool
        let what: String

        /// The damaged node.
        let ref: Ref
    }

    /// Checks a leaf of texts. A short text ends in as many zeros as its last byte says, a longer text in one zero.
    /// - Returns: the faults, as a rule one for each node.
    static func texts(_ store: NodeStore, _ node: Node) throws(RealmError) -> [Fault] {
        guard !node.hasRefs else { return try pieces(store, node, endInZero: true) }
        guard node.width > 0 else { return [] }
        guard node.widthType == 1 else {
            return [Fault(isValue: false, what: "numbers where texts are expected", ref: node.ref)]
        }
        for i in 0..<node.count {
            let slot = Bytes(start: node.payload + i * node.width, count: node.width),
                padding = Int(slot[node.width - 1])
            // A null slot may contain bytes of an earlier value.
            guard padding < node.width else {
                if padding > node.width {
                    return [Fault(isValue: true, what: "a padding of \(padding) bytes: element \(i)", ref: node.ref)]
                }
                continue
            }
            if slot[(node.width - 1 - padding)..<(node.width - 1)].contains(where: { $0 != 0 }) {
                return [Fault(isValue: true, what: "bytes behind the end of a text: element \(i)", ref: node.ref)]
            }
        }
        return []
    }

    /// Checks a list of blobs, or the three-node form: the offsets cover all bytes, and with `endInZero` each text ends
    /// in zero.
    static func pieces(_ store: NodeStore, _ node: Node, endInZero: Bool) throws(RealmError) -> [Fault] {
        guard node.hasRefs else { return [] }
        if node.context {
            var found: [Fault] = []
            for i in 0..<node.count where endInZero {
                if case let ref = try node.child(i), !ref.isNull, try !endsInZero(store, ref) {
                    found.append(Fault(isValue: true, what: "a text without its end: element \(i)", ref: ref))
                }
            }
            return found
        }
        let ends = try store.integers(try node.child(0)), blob = try store.blob(try node.child(1))
        let nulls = node.count > 2 ? try store.integers(try node.child(2)) : nil
        var found: [Fault] = []
        if let nulls, nulls.count != ends.count {
            found.append(Fault(isValue: false, what: "offsets and nulls of unequal length", ref: node.ref))
        }
        let last = ends.count == 0 ? 0 : ends.get(ends.count - 1)
        if last != Int64(blob.count) {
            found.append(
                Fault(isValue: false, what: "\(blob.count) bytes where the offsets tell of \(last)", ref: blob.ref))
        }
        var start: Int64 = 0
        // Formats differ in which null flag means null, so an element without bytes is not checked.
        for i in 0..<ends.count {
            let end = ends.get(i)
            if endInZero, end > start, end <= Int64(blob.count), blob.blob[Int(end) - 1] != 0 {
                return found + [Fault(isValue: true, what: "a text without its end: element \(i)", ref: blob.ref)]
            }
            if end < start {
                return found + [Fault(isValue: false, what: "offsets out of order: element \(i)", ref: ends.ref)]
            }
            start = end
        }
        return found
    }

    /// Whether a text in its own node ends in zero. True for a text of several nodes, which is not read here.
    static func endsInZero(_ store: NodeStore, _ ref: Ref) throws(RealmError) -> Bool {
        let node = try store.node(ref)
        guard node.widthType == 2, node.count > 0 else { return true }
        return node.blob[node.count - 1] == 0
    }
}
