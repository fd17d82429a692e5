/// The entries of a dictionary, as far as they can be read. The only reader of dictionaries in damaged files.
struct FoundDictionary {
    private enum Storage {
        /// Stored as formats before 23 do; such a dictionary can be read only as a whole.
        case old(ElementDictionary)
        case trees(keys: FoundTree, values: FoundTree?)
    }

    private let storage: Storage

    /// Number of entries that are known to be lost with their keys; an unknown number counts as one.
    let lost: Int

    /// Whether the dictionary has every entry that it had: no key and no value is lost.
    let isWhole: Bool

    /// - Parameters:
    ///   - root: the top array; not null.
    ///   - format: the format of the file version that has the dictionary, for one directly in a property. Dictionaries
    ///     inside Mixed values have one form in all formats: pass the current one.
    ///   - visited: nodes of collections read so far; a node belongs to one collection only.
    /// - Returns: nil if nothing can be read.
    init?(_ store: NodeStore, root: Ref, keyType: ColumnType, format: UInt8, _ visited: inout Visited) {
        guard keyType == .string else { return nil }
        if format < 23, !OldFormats.isRead(format) {
            guard let old = try? ElementDictionary(store, root: root, keyType: keyType, format: 22) else { return nil }
            storage = .old(old)
            (lost, isWhole) = (0, true)
            return
        }
        guard visited.insert(root), let top = try? store.refsNode(root), !top.isInner, let keyRoot = try? top.child(0)
        else { return nil }
        let keys = FoundTree(store, .string, keyRoot, &visited)
        let values = (try? top.child(1)).map { FoundTree(store, .mixed, $0, &visited) }
        // The index of a key leads to its value only when both trees have the same number of elements.
        let isAligned = !keys.isBroken && !(values?.isBroken ?? true) && keys.total == values?.total
        storage = .trees(keys: keys, values: isAligned ? values : nil)
        lost = keys.lost + (keys.isBroken ? 1 : 0)
        isWhole = isAligned && lost == 0 && values?.lost == 0
    }

    /// Calls `body` with each entry of the readable keys, in the order of the file. `value` is nil when the key or the
    /// value cannot be read; then `name` may be empty. The bytes are valid while the file is open.
    func eachEntry(_ body: (_ name: Bytes, _ value: Mixed?) throws(RealmError) -> Void) throws(RealmError) {
        switch storage {
        case .old(let old):
            for i in 0..<old.count {
                guard case .string(let name)? = try? old.key(i) else { continue }
                try body(name, try? old.value(i))
            }
        case .trees(let keys, let values):
            try keys.eachElement { (i, key) throws(RealmError) in
                guard case .string(let name)? = key else { return try body(Bytes(start: nil, count: 0), nil) }
                try body(name, values?.value(at: i))
            }
        }
    }
}
