/// The objects of classes with rules that a transaction created, changed or removed, from its changeset.
final class TouchedObjects: ChangesetHandler {
    private let rules: GroupRules
    private var classes: [Touched?] = []
    private var selected: (table: TableKey, object: ObjKey)?

    /// The objects of one class.
    final class Touched {
        let rules: TableRules
        fileprivate let known = GrowingKeySet()
        fileprivate let isMade = GrowingKeySet()

        /// In the order of their first change; some may not exist any more.
        fileprivate(set) var keys: [ObjKey] = []

        fileprivate init(_ rules: TableRules) { self.rules = rules }

        /// Whether the transaction created the object.
        func isNew(_ key: ObjKey) -> Bool { isMade.contains(key) }

        func contains(_ key: ObjKey) -> Bool { known.contains(key) }

        fileprivate func add(_ key: ObjKey) { if keys.last != key, known.insert(key) { keys.append(key) } }
    }

    init(_ rules: GroupRules) { self.rules = rules }

    var all: [Touched] { classes.compactMap { $0 } }

    private func touched(_ table: TableKey) -> Touched? {
        if table.index < classes.count, let known = classes[table.index] {
            return known.rules.key == table ? known : nil
        }
        guard let own = rules[table], !own.atCommit.isEmpty || !own.automatic.isEmpty else { return nil }
        while classes.count <= table.index { classes.append(nil) }
        let new = Touched(own)
        classes[table.index] = new
        return new
    }

    func objectCreated(_ table: TableKey, _ object: ObjKey) {
        guard let touched = touched(table) else { return }
        touched.add(object)
        _ = touched.isMade.insert(object)
    }

    func objectRemoved(_ table: TableKey, _ object: ObjKey) { touched(table)?.add(object) }

    func valueSet(_ table: TableKey, _ object: ObjKey, _ column: ColKey) { touched(table)?.add(object) }

    func collectionSelected(_ place: CollectionPlace) { touched(place.table)?.add(place.object) }

    func collectionChanged(_ change: CollectionChange) {}

    func schemaChanged() {}
}
