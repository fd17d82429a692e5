/// # History
///
/// The changesets of all recent versions, kept in the file: what each commit did, in realm-core's instruction bytes.
/// Format: storage §6.
///
/// Promise
/// 1. Every commit appends exactly one changeset (possibly empty, never null), then removes those that no live reader
///    needs.
/// 2. The bytes are those that realm-core writes for the same calls: keys only, never values.
///
/// May use: Tables, Trees, Storage, Platform, Basics.
enum History {
    enum Kind {
        static let none: UInt64 = 0
        static let inRealm: UInt64 = 2
        static let syncClient: UInt64 = 3
        static let syncServer: UInt64 = 4
    }

    static let schemaVersion: UInt64 = 1

    static func name(_ kind: UInt64) -> String {
        switch kind {
        case 0: "None"
        case 1: "OutOfRealm"
        case 2: "InRealm"
        case 3: "SyncClient"
        case 4: "SyncServer"
        default: "Unknown"
        }
    }

    /// While a reader stays on an old version, each commit rewrites the last leaf, so leaves are kept short.
    private static let leafCapacity = 64

    /// Appends the changeset of `version` and removes those that readers at `oldestLive` and later do not need.
    /// - Returns: the new root of the history.
    static func append(
        _ store: NodeStore, root: Ref, changeset: Bytes, version: UInt64, oldestLive: UInt64
    ) throws(RealmError) -> Ref {
        // Keep the entries for versions in (oldestLive, version). Without other readers there are none.
        let wanted = Int(truncatingIfNeeded: min(version - 1 - min(oldestLive, version - 1), UInt64(Int32.max)))
        var tree: BPlusTree
        if wanted > 0 && !root.isNull {
            tree = BPlusTree(store, kind: .binary, root: root)
            tree.capacity = leafCapacity
            tree.isAlwaysGeneral = true
            var count = try tree.count()
            while count > wanted {
                try tree.erase(0)
                count -= 1
            }
        } else {
            try store.destroy(root)
            tree = try BPlusTree.create(store, kind: .binary)
        }
        try tree.append(.binary(changeset))
        return tree.root
    }

    /// Passes the changes of the versions after `base`, up to `version`, to `handler`, in order.
    /// - Parameters:
    ///   - root: the history of `version`.
    ///   - base: a pinned version, so that the changesets after it still exist.
    static func replay(
        _ store: NodeStore, root: Ref, from base: UInt64, to version: UInt64, _ handler: some ChangesetHandler
    ) throws(RealmError) {
        guard base < version else { return }
        let tree = BPlusTree(store, kind: .binary, root: root)
        let count = root.isNull ? 0 : try tree.count()
        guard version - base <= UInt64(count) else {
            throw .corrupt("a history that lacks the versions in use", at: root.offset)
        }
        for i in (count - Int(version - base))..<count {
            switch try tree.get(i) {
            case .binary(let changeset): try ChangesetParser.parse(changeset, handler)
            case .null: continue
            default: throw .corrupt("a history that holds no changesets", at: root.offset)
            }
        }
    }
}
