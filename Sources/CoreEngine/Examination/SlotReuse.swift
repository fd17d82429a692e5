/// Decides whether the version before the newest one is still intact.
///
/// Space freed by a commit is reused only by later commits (storage §3.4), so the version before the newest one
/// normally has all its nodes. Exceptions: an interrupted commit, a library that reused space too early, or a slot with
/// an older version. The proof of an overwrite is a node of the older version that overlaps a different node of the
/// newer version: nodes never change, so one was written over the other. An interrupted commit may also overwrite
/// places that only the older version uses. This is not found here, but by the check of that version.
enum SlotReuse {
    /// - Parameter older, newer: states of the file with top arrays.
    /// - Returns: a place where the older version was overwritten; nil if none was found.
    static func proof(
        that older: DatabaseFile.State, isNotWholeBeside newer: DatabaseFile.State, in file: DatabaseFile,
        _ interruption: Interruption
    ) throws(RealmError) -> Fault? {
        guard !older.topRef.isNull, !newer.topRef.isNull else { return nil }
        let end = max(older.logicalSize, newer.logicalSize, newer.physicalSize)
        let store = NodeStore(space: file.space, fileLimit: end, pages: file.pages)
        store.use(interruption)
        store.move(toFileLimit: end, version: newer.version, top: newer.topRef)
        defer { store.rest() }
        var taken = Tiling(end: end), starts = Tiling(end: end)
        try walk(store, newer.topRef) { node in
            // Damage of the newer version is reported for that version.
            guard starts.take(node.ref.offset, 8) else { return false }
            _ = taken.take(node.ref.offset, node.size)
            return true
        }
        var proof: Fault?
        var seen = Tiling(end: end)
        try walk(store, older.topRef) { node in
            guard proof == nil, !starts.isTaken(at: node.ref.offset), seen.take(node.ref.offset, 8) else {
                return false
            }
            guard taken.isFree(node.ref.offset, node.size) else {
                proof = Fault.ofFile(
                    "a node of this version lies where version \(newer.version) has another", offset: node.ref.offset)
                return false
            }
            return true
        }
        return proof
    }

    /// Passes each readable node below a ref to `body`, which decides whether the walk continues below the node.
    private static func walk(_ store: NodeStore, _ top: Ref, _ body: (Node) -> Bool) throws(RealmError) {
        var pending = [top]
        var count = 0
        while let ref = pending.popLast() {
            count += 1
            try store.test(count)
            if count % forgetAfter == 0 { store.forgetPages() }
            guard let node = try RealmError.unlessDamaged({ () throws(RealmError) in try store.node(ref) }), body(node),
                node.hasRefs
            else { continue }
            for i in 0..<node.count {
                let slot = try RealmError.unlessDamaged { () throws(RealmError) in try node.slot(i) }
                if let child = slot?.subtree { pending.append(child) }
            }
        }
    }

    private static let forgetAfter = 1 << 16

    /// The fault of an older version of formats 2 to 9 whose tables have a later form: an upgrade overwrote it. nil if
    /// the error has another cause.
    static func byUpgrade(of older: DatabaseFile.State, to newer: DatabaseFile.State?, _ error: RealmError) -> String? {
        guard let newer, error.code == .unsupportedFileFormat, OldFormats.isRead(older.format),
            newer.format > older.format
        else { return nil }
        return
            "the upgrade from format \(older.format) to \(newer.format), which is finished, wrote over parts of this version"
    }
}
