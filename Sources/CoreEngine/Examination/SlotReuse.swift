/// Whether the version before the newest one is still whole.
///
/// What a commit frees is handed out by later commits only (storage §3.4), so that the version before the newest one
/// normally has all its nodes. It has not where a commit was cut short, where a library reused space too early, or
/// where the slot is older than that. A proof is a node of the older version that overlaps one of the newer version and
/// is not the same node: since nodes never change, one was written over the other. What a commit that was cut short
/// wrote where only the older version had something is not seen here, but by the check of that version.
enum SlotReuse {
    /// - Parameter older, newer: states of the file with top arrays.
    /// - Returns: where the older version was written over; nil where nothing shows it.
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
            // What is damaged in the newer version is told of it.
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

    /// Shows each node below a ref that can be read; `body` says whether to go on below it.
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

    /// What is wrong with an older version of formats 2 to 9 whose tables have the form of later ones: the upgrade
    /// wrote over it. nil where that is not what reading it ended with.
    static func byUpgrade(of older: DatabaseFile.State, to newer: DatabaseFile.State?, _ error: RealmError) -> String? {
        guard let newer, error.code == .unsupportedFileFormat, OldFormats.isRead(older.format),
            newer.format > older.format
        else { return nil }
        return
            "the upgrade from format \(older.format) to \(newer.format), which is finished, wrote over parts of this version"
    }
}
