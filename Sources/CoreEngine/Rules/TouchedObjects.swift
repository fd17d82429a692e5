/// The objects of classes with rules that a transaction created, changed or removed, from its changeset.
final class TouchedObjects: ChangesetHandler {
    private let rules: GroupRules
    private let group: Group
    private var classes: [Touched?] = []

    /// The objects of one class.
    final class Touched {
        let rules: TableRules

        /// Ascending and without repetitions after `settle`; some may not exist any more.
        fileprivate(set) var keys: [ObjKey] = []
        private var isAscending = true

        /// The number of keys that `unsettled` has returned. If the last of these objects changes again, its key is
        /// added again, so that the next call shows the change.
        private var looked = 0

        fileprivate func noteLook() { looked = keys.count }

        fileprivate init(_ rules: TableRules) { self.rules = rules }

        @inline(__always) fileprivate func add(_ key: ObjKey) {
            if let last = keys.last {
                if last == key && keys.count > looked { return }
                if last >= key { isAscending = false }
            }
            keys.append(key)
        }

        fileprivate func settle() {
            guard !isAscending else { return }
            keys.sort()
            var kept = 0
            for key in keys where kept == 0 || keys[kept - 1] != key {
                keys[kept] = key
                kept += 1
            }
            keys.removeSubrange(kept...)
            isAscending = true
        }
    }

    /// The class of the last change, if it is not embedded.
    private var last: Unmanaged<Touched>?
    private var lastKey = TableKey.null

    /// Changed objects of embedded classes.
    private(set) var embedded: [TableKey: [ObjKey]] = [:]

    /// The last class found to be without rules and not embedded. Its changes are not noted.
    private var plain = TableKey.null

    init(_ rules: GroupRules, _ group: Group) {
        self.rules = rules
        self.group = group
    }

    /// Whether it was made for these rules.
    func isOf(_ other: GroupRules) -> Bool { rules === other }

    /// The objects of a class in the order of their changes, perhaps with repetitions.
    func unsettled(_ table: TableKey) -> [ObjKey]? {
        guard table.index < classes.count, let known = classes[table.index], known.rules.key == table else {
            return nil
        }
        known.noteLook()
        return known.keys
    }

    var all: [Touched] {
        let all = classes.compactMap { $0 }
        for one in all { one.settle() }
        return all
    }

    @inline(__always) private func add(_ table: TableKey, _ object: ObjKey) {
        // `classes` keeps it alive.
        if table == lastKey, let last {
            return last._withUnsafeGuaranteedRef { $0.add(object) }
        }
        addOther(table, object)
    }

    @inline(never) private func addOther(_ table: TableKey, _ object: ObjKey) {
        if table == plain { return }
        // Tables that were removed meanwhile have no owner to look for.
        if let found = try? group.table(table), found.isEmbedded, embedded[table]?.last != object {
            embedded[table, default: []].append(object)
        }
        if table.index < classes.count, let known = classes[table.index], known.rules.key == table {
            if embedded[table] == nil { (last, lastKey) = (.passUnretained(known), table) }
            return known.add(object)
        }
        guard let own = rules[table], !own.atCommit.isEmpty else {
            if embedded[table] == nil { plain = table }
            return
        }
        while classes.count <= table.index { classes.append(nil) }
        let new = Touched(own)
        classes[table.index] = new
        if embedded[table] == nil { (last, lastKey) = (.passUnretained(new), table) }
        new.add(object)
    }

    func objectCreated(_ table: TableKey, _ object: ObjKey) { add(table, object) }

    func objectRemoved(_ table: TableKey, _ object: ObjKey) { add(table, object) }

    func valueSet(_ table: TableKey, _ object: ObjKey, _ column: ColKey) { add(table, object) }

    func collectionSelected(_ place: CollectionPlace) { add(place.table, place.object) }

    func collectionChanged(_ change: CollectionChange) {}

    func schemaChanged() {}
}
