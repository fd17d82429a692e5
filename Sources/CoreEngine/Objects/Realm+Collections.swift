/// The operations of list, set and dictionary handles, for callers that have entered the Realm. They take paths, and
/// return values or typed errors.
///
/// Order of checks: owner deleted (2010), write transaction (2005), index, value.
extension Realm {
    // MARK: Reading

    /// Returns the collection at a path; nil when the path leads to no collection any more. Throws 2010 when the owner
    /// is deleted.
    package func collection(_ path: CollectionPath) throws(RealmError) -> CollectionContent? {
        let table = try objectTable(path.table)
        guard try table.isValid(path.object) else { throw invalidated() }
        if let reader = frozen?.own { return try reader.borrow { (r) throws(RealmError) in try r.collection(path) } }
        return try reading().group.resolve(path)
    }

    /// Throws unless the property is a collection of the wanted kind, or Mixed: 3009 for an unknown property, 3001
    /// otherwise.
    package func checkCollection(_ tableKey: TableKey, _ object: ObjKey, _ column: ColKey, as wanted: CollectionShape)
        throws(RealmError)
    {
        let table = try objectTable(tableKey)
        guard try table.isValid(object) else { throw invalidated() }
        let facts = try facts(table, column)
        guard let full = table.column(column) else { throw invalidated() }
        // A Mixed property may hold a collection later; until then its handle is not valid.
        if facts.type == .mixed && !facts.isCollection { return }
        guard full.shape == wanted else {
            throw RealmError(.typeMismatch, "Property '\(full.name)' is not a collection of this kind")
        }
    }

    /// Whether a collection (at any depth) holds Mixed values.
    package func isMixed(_ path: CollectionPath) throws(RealmError) -> Bool { try elementFacts(path).type == .mixed }

    /// Whether a collection holds links to objects.
    package func isLinkCollection(_ path: CollectionPath) throws(RealmError) -> Bool {
        try elementFacts(path).type == .link
    }

    private func elementFacts(_ path: CollectionPath) throws(RealmError) -> ColumnFacts {
        guard let facts = try table(path.table).facts(path.column) else { throw invalidated() }
        return facts
    }

    /// The class that the links of a collection lead to; nil when the collection holds values.
    func linkTarget(_ path: CollectionPath) throws(RealmError) -> TableKey? {
        guard let facts = try table(path.table).facts(path.column), facts.type == .link, path.steps.isEmpty else {
            return nil
        }
        return facts.oppositeTable
    }

    func elementType(_ path: CollectionPath) throws(RealmError) -> ValueType {
        let facts = try elementFacts(path)
        if facts.shape == .dictionary && path.steps.isEmpty {
            switch facts.type {
            case .int: return .int
            case .float: return .float
            case .double: return .double
            case .decimal: return .decimal
            case .timestamp: return .timestamp
            case .bool: return .bool
            case .string: return .string
            case .binary: return .binary
            case .objectId: return .objectId
            case .uuid: return .uuid
            default: return .mixed
            }
        }
        return ValueType(facts)
    }

    func shape(_ path: CollectionPath) throws(RealmError) -> CollectionShape {
        guard path.steps.isEmpty, let facts = try table(path.table).facts(path.column), let shape = facts.shape else {
            return .list
        }
        return shape
    }

    /// Throws 3001 or 3002 unless `value` can be an element of the collection.
    package func checkElement(_ value: Mixed, of path: CollectionPath) throws(RealmError) {
        let facts = try elementFacts(path)
        if facts.type == .mixed { return }
        if case .null = value {
            guard facts.isNullable else { throw RealmError(.notNullable, "The collection holds no null values") }
            return
        }
        if case .typedLink(let other, _) = value {
            guard facts.type == .link, other == facts.oppositeTable else {
                throw RealmError(.typeMismatch, "The collection holds no links to that class")
            }
            return
        }
        guard Table.matches(value, facts) else {
            throw RealmError(.typeMismatch, "The collection holds no values of this type")
        }
    }

    // MARK: Writing

    @inline(__always) private func editing<R>(
        _ path: CollectionPath, _ shape: CollectionShape, _ body: (inout CollectionEditor) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        let table = try writableTable(path.table, path.object)
        return try changing { () throws(RealmError) in try table.edit(path, as: shape, body) }
    }

    /// Appends to the list in a property when only the last leaf has to change, with the same effect as `insert` at the
    /// end.
    /// - Parameter list: the list in its current state.
    /// - Returns: false when nothing was done.
    @inline(__always) package func appendInPlace(_ value: Mixed, to list: ElementList, _ path: CollectionPath)
        throws(RealmError) -> Bool
    {
        guard transaction.stage == .writing, transaction.damage == nil, path.steps.isEmpty, list.kind.isPlain,
            !CallChecks.areNeeded(transaction)
        else {
            return false
        }
        guard let unmanaged = try transaction.group.unmanagedTable(path.table) else { return false }
        return try unmanaged.borrow { (table: Table) throws(RealmError) -> Bool in
            var value = value
            switch (list.kind, value) {
            case (.int, .int), (.double, .double), (.bool, .bool): break
            default:
                guard let facts = table.facts(path.column), let shape = facts.shape else { return false }
                if table.indexes.has(facts.key.index) { return false }
                try table.checkElement(value, of: facts, shape, level: 1)
                value = try table.stable(value)
            }
            let index = list.count
            let (done, moved) = try changing { () throws(RealmError) in try list.append(value) }
            guard done else { return false }
            if moved { try table.keep(list, path.object, path.column) }
            stateCount &+= 1
            table.logSlot.elementInserted(path.table, path.object, path.column, index)
            return true
        }
    }

    /// Throws the errors that a change of the collection would throw.
    package func checkWritable(_ path: CollectionPath) throws(RealmError) {
        _ = try writableTable(path.table, path.object)
    }

    package func insert(_ value: Mixed, at i: Int, in path: CollectionPath) throws(RealmError) {
        try editing(path, .list) { (editor) throws(RealmError) in
            try editor.check(value)
            try editor.insert(i, value)
        }
    }

    package func set(_ value: Mixed, at i: Int, in path: CollectionPath) throws(RealmError) {
        try editing(path, .list) { (editor) throws(RealmError) in
            try editor.check(value)
            try editor.set(i, value)
        }
    }

    package func erase(at i: Int, in path: CollectionPath) throws(RealmError) {
        try editing(path, .list) { (editor) throws(RealmError) in try editor.erase(i) }
    }

    package func move(_ from: Int, to: Int, in path: CollectionPath) throws(RealmError) {
        try editing(path, .list) { (editor) throws(RealmError) in try editor.move(from, to: to) }
    }

    package func clear(_ path: CollectionPath, _ shape: CollectionShape) throws(RealmError) {
        try editing(path, shape) { (editor) throws(RealmError) in try editor.clear() }
    }

    /// Deletes the objects that the collection links to. Each deletion removes its elements one by one, so observers do
    /// not see the collection as cleared. A collection of other values is cleared.
    package func removeAll(_ path: CollectionPath, _ shape: CollectionShape) throws(RealmError) {
        let (targets, tableKey): ([ObjKey], TableKey) = try editing(path, shape) { (editor) throws(RealmError) in
            let all = try editor.targets()
            if all.isEmpty { try editor.clear() }
            return (all, editor.column.oppositeTable)
        }
        guard !targets.isEmpty, let table = try reading().group.table(tableKey) else { return }
        try changing { () throws(RealmError) in try table.group.deleteByRules(table, targets) }
        // The remaining elements of a list lead to no object: they are removed too. The owner may be one of the deleted
        // objects.
        guard shape == .list, case .list(let rest)? = try reading().group.collection(path), rest.count > 0 else {
            return
        }
        try clear(path, shape)
    }

    package func insertIntoSet(_ value: Mixed, _ path: CollectionPath) throws(RealmError) -> (
        index: Int, inserted: Bool
    ) {
        try editing(path, .set) { (editor) throws(RealmError) in
            try editor.check(value)
            return try editor.insertUnique(value)
        }
    }

    /// Removes a value. Returns false when the set does not contain it, or cannot contain it.
    package func eraseFromSet(_ value: Mixed, _ path: CollectionPath) throws(RealmError) -> Bool {
        try editing(path, .set) { (editor) throws(RealmError) in
            editor.couldHold(value) ? try editor.eraseValue(value) : false
        }
    }

    package func setValue(_ value: Mixed, forKey name: Bytes, in path: CollectionPath) throws(RealmError) -> (
        index: Int, inserted: Bool
    ) {
        try editing(path, .dictionary) { (editor) throws(RealmError) in
            try Self.checkKey(name)
            try editor.check(value)
            return try editor.setValue(value, for: name)
        }
    }

    package func eraseKey(_ name: Bytes, in path: CollectionPath) throws(RealmError) -> Bool {
        try editing(path, .dictionary) { (editor) throws(RealmError) in
            try Self.checkKey(name, "erase")
            return try editor.eraseKey(name)
        }
    }

    static func checkKey(_ name: Bytes, _ what: StaticString = "insert") throws(RealmError) {
        guard name.count <= Format.maxStringSize else {
            throw RealmError(.limitExceeded, "A dictionary key of \(name.count) bytes is too long")
        }
        if let first = name.first, first == UInt8(ascii: "$") {
            throw RealmError(.invalidDictionaryKey, "Dictionary::\(what): key must not start with '$'")
        }
        if name.contains(UInt8(ascii: ".")) {
            throw RealmError(.invalidDictionaryKey, "Dictionary::\(what): key must not contain '.'")
        }
    }

    // MARK: Embedded objects

    /// Makes a new embedded object in a link property, and replaces the old one. For a link to a top-level class it
    /// makes a new linked object.
    package func setNewObject(_ tableKey: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError) -> (
        TableKey, ObjKey
    ) {
        let table = try writableTable(tableKey, object)
        guard try table.isValid(object) else { throw invalidated() }
        let facts = try facts(table, column)
        guard facts.type == .link, !facts.isCollection else {
            throw RealmError(.typeMismatch, "Property '\(table.column(column)?.name ?? "")' is not a link")
        }
        return (facts.oppositeTable, try changing { () throws(RealmError) in try table.setNewTarget(object, facts) })
    }

    package func insertNewObject(at i: Int, in path: CollectionPath) throws(RealmError) -> (TableKey, ObjKey) {
        try editing(path, .list) { (editor) throws(RealmError) in
            try editor.checkEmbedding()
            try editor.checkIndex(i, end: true)
            let key = try editor.createTarget()
            try editor.insert(i, .link(key))
            return (editor.column.oppositeTable, key)
        }
    }

    package func setNewObject(at i: Int, in path: CollectionPath) throws(RealmError) -> (TableKey, ObjKey) {
        try editing(path, .list) { (editor) throws(RealmError) in
            try editor.checkEmbedding()
            try editor.checkIndex(i, end: false)
            let key = try editor.createTarget()
            try editor.set(i, .link(key))
            return (editor.column.oppositeTable, key)
        }
    }

    /// Makes a new embedded object under a key. In a dictionary of objects of a top-level class it makes a new linked
    /// object.
    package func setNewObject(forKey name: Bytes, in path: CollectionPath) throws(RealmError) -> (TableKey, ObjKey) {
        try editing(path, .dictionary) { (editor) throws(RealmError) in
            guard editor.column.type == .link else {
                throw RealmError(.invalidTableRef, "The values of this dictionary are not objects")
            }
            try Self.checkKey(name)
            let key = try editor.createTarget()
            _ = try editor.setValue(.typedLink(editor.column.oppositeTable, key), for: name)
            return (editor.column.oppositeTable, key)
        }
    }

    // MARK: Collections inside Mixed values

    /// Inserts an empty collection before element `i` and returns its path.
    package func insertCollection(_ kind: CollectionShape, at i: Int, in path: CollectionPath) throws(RealmError)
        -> CollectionPath
    {
        try editing(path, .list) { (editor) throws(RealmError) in
            let empty = Self.empty(kind)
            try editor.checkHoldsCollections()
            try editor.check(empty)
            try editor.insert(i, empty)
            return try path.appending(.stableKey(editor.stableKey(i)))
        }
    }

    /// Makes element `i` a collection and returns its path. An existing collection of that kind stays.
    package func setCollection(_ kind: CollectionShape, at i: Int, in path: CollectionPath) throws(RealmError)
        -> CollectionPath
    {
        try editing(path, .list) { (editor) throws(RealmError) in
            let empty = Self.empty(kind)
            try editor.checkHoldsCollections()
            try editor.check(empty)
            try editor.set(i, empty)
            return try path.appending(.stableKey(editor.stableKey(i)))
        }
    }

    package func setCollection(_ kind: CollectionShape, forKey name: Bytes, in path: CollectionPath) throws(RealmError)
        -> CollectionPath
    {
        try editing(path, .dictionary) { (editor) throws(RealmError) in
            guard editor.column.type == .mixed else {
                throw RealmError(.invalidDictionaryValue, "Only dictionaries of Mixed values hold collections")
            }
            try Self.checkKey(name)
            let empty = Self.empty(kind)
            try editor.check(empty)
            _ = try editor.setValue(empty, for: name)
            return path.appending(.name(Array(name)))
        }
    }

    /// Makes a Mixed property a collection. An existing collection of that kind stays.
    package func setCollection(_ kind: CollectionShape, _ tableKey: TableKey, _ object: ObjKey, _ column: ColKey)
        throws(RealmError)
    {
        try set(tableKey, object, column, Self.empty(kind))
    }

    static func empty(_ kind: CollectionShape) -> Mixed { kind == .dictionary ? .dictionary(.null) : .list(.null) }
}
