extension CollectionPath {
    package func appending(_ step: Step) -> CollectionPath {
        var longer = self
        longer.steps.append(step)
        return longer
    }
}

extension CollectionEditor {
    /// Throws unless `value` can be an element.
    @inline(__always) func check(_ value: Mixed) throws(RealmError) {
        switch (kind, value) {
        case (.int, .int), (.double, .double), (.bool, .bool), (.float, .float): return
        default: try table.checkElement(value, of: column, shape, level: level)
        }
    }

    func couldHold(_ value: Mixed) -> Bool {
        if value.isNull { return column.isNullable }
        if kind == .objKey {
            guard case .typedLink(let target, _) = value else { return false }
            return target == column.oppositeTable
        }
        return kind.holds(value)
    }

    func checkEmbedding() throws(RealmError) {
        guard column.type == .link, try table.group.table(column.oppositeTable)?.isEmbedded ?? false else {
            throw RealmError(.illegalOperation, "Not a collection of embedded objects")
        }
    }

    func checkHoldsCollections() throws(RealmError) {
        guard column.type == .mixed else {
            throw RealmError(.illegalOperation, "Only collections of Mixed values hold collections")
        }
    }

    /// Throws when index `i` is out of range. Called before anything is made for the index.
    func checkIndex(_ i: Int, end: Bool) throws(RealmError) {
        let count = try ElementList(table.store, root: root, kind: kind, target: column.oppositeTable).count
        guard i >= 0, i < count || (end && i == count) else {
            throw RealmError(.indexOutOfBounds, "Requested index \(i) in a collection of \(count) elements")
        }
    }

    func stableKey(_ i: Int) throws(RealmError) -> Int64 {
        guard !root.isNull else { return 0 }
        return try BPlusTree(table.store, kind: kind, root: root).key(i)
    }
}
