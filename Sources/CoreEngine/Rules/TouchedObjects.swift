/// The objects of classes with rules that a transaction created, changed or removed, from its changeset.
final class TouchedObjects: ChangesetHandler {
    private let rules: GroupRules
    private var classes: [Touched?] = []

    /// The objects of one class.
    final class Touched {
        let rules: TableRules

        /// Ascending and without repetitions after `settle`; some may not exist any more.
        fileprivate(set) var keys: [ObjKey] = []
        private var isAscending = true

        fileprivate init(_ rules: TableRules) { self.rules = rules }

        @inline(__always) fileprivate func add(_ key: ObjKey) {
            if let last = keys.last {
                if last == key { return }
                if last > key { isAscending = false }
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

    /// The class of the last change.
    private var last: Touched?

    init(_ rules: GroupRules) { self.rules = rules }

    var all: [Touched] {
        let all = classes.compactMap { $0 }
        for one in all { one.settle() }
        return all
    }

    @inline(__always) private func add(_ table: TableKey, _ object: ObjKey) {
        if let last, last.rules.key == table { return last.add(object) }
        addOther(table, object)
    }

    @inline(never) private func addOther(_ table: TableKey, _ object: ObjKey) {
        if table.index < classes.count, let known = classes[table.index], known.rules.key == table {
            last = known
            return known.add(object)
        }
        guard let own = rules[table], !own.atCommit.isEmpty else { return }
        while classes.count <= table.index { classes.append(nil) }
        let new = Touched(own)
        classes[table.index] = new
        last = new
        new.add(object)
    }

    func objectCreated(_ table: TableKey, _ object: ObjKey) { add(table, object) }

    func objectRemoved(_ table: TableKey, _ object: ObjKey) { add(table, object) }

    func valueSet(_ table: TableKey, _ object: ObjKey, _ column: ColKey) { add(table, object) }

    func collectionSelected(_ place: CollectionPlace) { add(place.table, place.object) }

    func collectionChanged(_ change: CollectionChange) {}

    func schemaChanged() {}
}
