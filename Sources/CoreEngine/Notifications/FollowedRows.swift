/// All rows of a class that match a condition, in their order. The first `limit` of them are shown.
///
/// Between two versions only touched rows can enter, leave or change places. The old position of a touched row is found
/// by its old values, its new position by its new values; all other rows keep their order.
struct FollowedRows {
    private let table: TableKey
    private let keys: [SortKey]
    private let limit: Int
    private var list: RowList

    init(_ table: TableKey, _ rows: [ObjKey], _ keys: [SortKey], limit: Int) throws(RealmError) {
        // The list stores its rows in pieces.
        try CMemory.expect(rows.count, each: 16)
        self.table = table
        self.keys = keys
        self.limit = limit
        list = RowList(rows)
    }

    var shown: [ObjKey] { list.keys(limit) }

    /// The objects that may enter, leave or change as rows. nil: finding all rows again is cheaper, because there are
    /// too many, or the old snapshot is needed and not available.
    func touched(
        _ reads: RowReads, _ own: TransactionChanges.Objects, _ changed: Set<ObjKey>, _ pass: NotificationPass
    ) throws(RealmError) -> Set<ObjKey>? {
        let looksBack = reads.paths.contains { $0.steps.contains(where: \.isBacklink) }
        if pass.before == nil, looksBack || !keys.isEmpty { return nil }
        let most = 256 + list.count / 16
        guard own.inserted.count + own.deleted.count + changed.count <= most,
            let readers = try pass.changed.readers(
                reads.paths, before: looksBack ? pass.before?.group : nil, most: most)
        else { return nil }
        return readers.subtracting(own.deleted).union(own.inserted).union(changed)
    }

    /// Moves the rows to the snapshot of a pass (`NotificationPass`). An error leaves the rows unchanged.
    /// - Parameter meeting: the objects of `touched` that match the condition now.
    mutating func follow(
        _ touched: Set<ObjKey>, meeting: [ObjKey], _ own: TransactionChanges.Objects, _ changed: Set<ObjKey>,
        _ pass: NotificationPass
    ) throws(RealmError) -> ChangeBuilder {
        let orderBefore = try RowOrder(keys.isEmpty ? pass.group : pass.before?.group ?? pass.group, table, keys)
        var old: [(place: RowList.Place, key: ObjKey)] = []
        for key in touched.subtracting(own.inserted).union(own.deleted) {
            let row = try orderBefore.row(key)
            let place = try list.place { (k) throws(RealmError) in try orderBefore.precedes(k, row) }
            if list.row(at: place) == key { old.append((place, key)) }
        }
        old.sort { $0.place < $1.place }
        let wasAt = list.indices(of: old.map(\.place)), before = list.count
        for removed in old.reversed() { list.remove(at: removed.place) }

        var new: [RowOrder.Row] = [], places: [RowList.Place] = []
        do throws(RealmError) {
            let order = try RowOrder(pass.group, table, keys)
            for key in meeting { new.append(try order.row(key)) }
            new.sort { order.precedes($0, $1) }
            for row in new { places.append(try list.place { (k) throws(RealmError) in try order.precedes(k, row) }) }
        } catch {
            putBack(old.map(\.key), at: wasAt)
            throw error
        }
        let isAt = list.indices(of: places).enumerated().map { $1 + $0 }
        for (row, place) in zip(new, places).reversed() { list.insert(row.key, at: place) }
        return difference(
            zip(old, wasAt).map { ($0.key, $1) }, before: before, zip(new, isAt).map { ($0.key, $1) },
            isGone: own.deleted.contains,
            isChanged: changed.contains)
    }

    private mutating func putBack(_ rows: [ObjKey], at indices: [Int]) {
        var rest = list.keys()[...], all: [ObjKey] = []
        for (row, index) in zip(rows, indices) {
            let between = index - all.count
            all += rest.prefix(between) + [row]
            rest = rest.dropFirst(between)
        }
        list = RowList(all + rest)
    }

    /// The changes to report for touched rows at the given old and new indices.
    /// - Parameter before: number of all rows in the old list.
    private func difference(
        _ old: [(key: ObjKey, index: Int)], before: Int, _ new: [(key: ObjKey, index: Int)], isGone: (ObjKey) -> Bool,
        isChanged: (ObjKey) -> Bool
    ) -> ChangeBuilder {
        let endBefore = min(limit, before), end = min(limit, list.count)
        let shownOld = old.prefix { $0.index < endBefore }, shownNew = new.prefix { $0.index < end }
        let newIndex = Dictionary(uniqueKeysWithValues: shownNew.map { ($0.key, $0.index) })
        var gone: [Int] = [], modified: [Int] = [], stays: Set<Int> = [], runs: [RowDifference.Run] = []
        for (key, index) in shownOld {
            if let now = newIndex[key], !isGone(key) {
                let isModified = isChanged(key)
                runs.append(RowDifference.Run(old: index, new: now, count: 1, modified: isModified ? 1 : 0))
                if isModified { modified.append(now) }
                stays.insert(now)
            } else {
                gone.append(index)
            }
        }
        var builder = ChangeBuilder(
            deletions: IndexSet(ascending: gone),
            insertions: IndexSet(ascending: shownNew.map(\.index).filter { !stays.contains($0) }),
            modifications: IndexSet(ascending: modified.sorted()))
        // Numbers of untouched rows that are shown, before and now.
        let keptBefore = endBefore - shownOld.count, kept = end - shownNew.count
        if kept > keptBefore {
            builder.insertions = builder.insertions.union(IndexSet(ascending: new.map(\.index)).gaps(keptBefore..<kept))
        }
        if keptBefore > kept {
            builder.deletions = builder.deletions.union(IndexSet(ascending: old.map(\.index)).gaps(kept..<keptBefore))
        }
        if keys.isEmpty || runs.isEmpty { return builder }
        // Between touched rows, the other rows are adjacent in both lists.
        let both = min(keptBefore, kept)
        let oldCuts = shownOld.enumerated().map { $1.index - $0 }, newCuts = shownNew.enumerated().map { $1.index - $0 }
        let cuts = Set([0, both] + (oldCuts + newCuts).filter { $0 < both }).sorted()
        var oldTouched = 0, newTouched = 0
        for (start, next) in zip(cuts, cuts.dropFirst()) {
            while oldTouched < oldCuts.count, oldCuts[oldTouched] <= start { oldTouched += 1 }
            while newTouched < newCuts.count, newCuts[newTouched] <= start { newTouched += 1 }
            runs.append(
                RowDifference.Run(old: start + oldTouched, new: start + newTouched, count: next - start, modified: 0))
        }
        return RowDifference(builder, runs).result
    }
}
