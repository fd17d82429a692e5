/// The changes between a base version and a snapshot: object keys per class, and the instructions on observed
/// collections. Rules: live-objects §6.3.
final class TransactionChanges: ChangesetHandler {
    struct Objects {
        var inserted: Set<ObjKey> = []
        var deleted: Set<ObjKey> = []

        /// Changed properties of objects that are neither new nor deleted.
        var modified: [ObjKey: [ColKey]] = [:]
    }

    private(set) var tables: [TableKey: Objects] = [:]
    private var trackers: [TableKey: [CollectionTracker]] = [:]

    /// Trackers that observe the selected collection.
    private var selected: [CollectionTracker] = []

    func track(_ tracker: CollectionTracker) { trackers[tracker.place.table, default: []].append(tracker) }

    func isModified(_ table: TableKey, _ object: ObjKey, _ column: ColKey) -> Bool {
        tables[table]?.modified[object]?.contains(column) ?? false
    }

    func isDeleted(_ table: TableKey, _ object: ObjKey) -> Bool { tables[table]?.deleted.contains(object) ?? false }

    // MARK: Instructions

    func objectCreated(_ table: TableKey, _ object: ObjKey) {
        tables[table, default: Objects()].inserted.insert(object)
    }

    func objectRemoved(_ table: TableKey, _ object: ObjKey) {
        var objects = tables.removeValue(forKey: table) ?? Objects()
        if objects.inserted.remove(object) == nil { objects.deleted.insert(object) }
        objects.modified.removeValue(forKey: object)
        tables[table] = objects
        for tracker in trackers[table] ?? [] where tracker.place.object == object { tracker.ownerRemoved() }
    }

    func valueSet(_ table: TableKey, _ object: ObjKey, _ column: ColKey) {
        var objects = tables.removeValue(forKey: table) ?? Objects()
        if !objects.inserted.contains(object) {
            var columns = objects.modified.removeValue(forKey: object) ?? []
            if !columns.contains(column) { columns.append(column) }
            objects.modified[object] = columns
        }
        tables[table] = objects
    }

    func collectionSelected(_ place: CollectionPlace) {
        valueSet(place.table, place.object, place.column)
        selected = []
        for tracker in trackers[place.table] ?? []
        where tracker.place.object == place.object && tracker.place.column == place.column && !tracker.isOwnerGone {
            if place.path == tracker.place.path {
                selected.append(tracker)
            } else if place.path.count > tracker.place.path.count, place.path.starts(with: tracker.place.path) {
                tracker.nested.insert(place.path[tracker.place.path.count])
            }
        }
    }

    func collectionChanged(_ change: CollectionChange) { for objects in selected { objects.builder.apply(change) } }

    func schemaChanged() {}
}

/// Collects the instructions on one collection.
final class CollectionTracker {
    let place: CollectionPlace
    var builder = ChangeBuilder()

    /// Stable keys of the elements whose nested content changed.
    var nested: Set<Int64> = []
    private(set) var isOwnerGone = false

    init(_ place: CollectionPlace) { self.place = place }

    func ownerRemoved() { isOwnerGone = true }
}

extension Group {
    /// A path as the history names it, with stable keys in all steps; nil when it no longer leads to a collection.
    func place(of path: CollectionPath) throws(RealmError) -> CollectionPlace? {
        var place = CollectionPlace(table: path.table, object: path.object, column: path.column)
        var outer = path
        outer.steps = []
        for step in path.steps {
            switch (try resolve(outer), step) {
            case (.list?, .stableKey(let key)): place.path.append(key)
            case (.dictionary(let dictionary)?, .name(let name)):
                guard let index = try name.withBytes({ (b) throws(RealmError) in try dictionary.find(b) }) else {
                    return nil
                }
                place.path.append(try dictionary.stableKey(index))
            default: return nil
            }
            outer.steps.append(step)
        }
        return place
    }
}
