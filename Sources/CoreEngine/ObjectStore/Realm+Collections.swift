/// Lists, sets and dictionaries as handles ask for them, inside the Realm's door: paths in, values or typed errors out.
///
/// Order of checks: owner gone (2010), write transaction (2005), index, value.
extension Realm {
    // MARK: Reading

    /// The collection at a path; 2010 when its owner is gone, nil when the path leads to no collection any more.
    package func collection(_ path: CollectionPath) throws(RealmError) -> CollectionContent? {
        let t = try objectTable(path.table)
        guard try t.isValid(path.object) else { throw invalidated() }
        if let reader = frozen?.own { return try reader.borrow { (r) throws(RealmError) in try r.collection(path) } }
        return try reading().group.resolve(path)
    }

    /// Throws unless the property is a collection of the wanted kind, or Mixed: 3009 unknown, 3001 otherwise.
    package func checkCollection(_ table: TableKey, _ object: ObjKey, _ column: ColKey, as wanted: CollectionShape)
        throws(RealmError)
    {
        let t = try objectTable(table)
        guard try t.isValid(object) else { throw invalidated() }
        let c = try facts(t, column)
        guard let full = t.column(column) else { throw invalidated() }
        // A Mixed property may come to hold a collection; until then its handle is not valid.
        if c.type == .mixed && !c.isCollection { return }
        guard full.shape == wanted else {
            throw RealmError(.typeMismatch, "Property '\(full.name)' is not a collection of this kind")
        }
    }

    /// Whether a collection (at any depth) holds Mixed values.
    package func isMixed(_ path: CollectionPath) throws(RealmError) -> Bool { try elementFacts(path).type == .mixed }

    /// Whether a collection holds links of objects.
    package func isLinkCollection(_ path: CollectionPath) throws(RealmError) -> Bool {
        try elementFacts(path).type == .link
    }

    private func elementFacts(_ path: CollectionPath) throws(RealmError) -> ColumnFacts {
        guard let c = try table(path.table).facts(path.column) else { throw invalidated() }
        return c
    }

    /// Class that the links of a collection lead to; nil when it holds values.
    func linkTarget(_ path: CollectionPath) throws(RealmError) -> TableKey? {
        guard let c = try table(path.table).facts(path.column), c.type == .link, path.steps.isEmpty else { return nil }
        return c.oppositeTable
    }

    func elementType(_ path: CollectionPath) throws(RealmError) -> ValueType {
        let c = try elementFacts(path)
        if c.shape == .dictionary && path.steps.isEmpty {
            switch c.type {
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
        return ValueType(c)
    }

    func shape(_ path: CollectionPath) throws(RealmError) -> CollectionShape {
        guard path.steps.isEmpty, let c = try table(path.table).facts(path.column), let s = c.shape else {
            return .list
        }
        return s
    }

    /// Throws 3001 or 3002 unless `value` could be an element of the collection.
    package func checkElement(_ value: Mixed, of path: CollectionPath) throws(RealmError) {
        let c = try elementFacts(path)
        if c.type == .mixed { return }
        if case .null = value {
            guard c.isNullable else { throw RealmError(.notNullable, "The collection holds no null values") }
            return
        }
        if case .typedLink(let other, _) = value {
            guard c.type == .link, other == c.oppositeTable else {
                throw RealmError(.typeMismatch, "The collection holds no links to that class")
            }
            return
        }
        guard Table.matches(value, c) else {
            throw RealmError(.typeMismatch, "The collection holds no values of this type")
        }
    }

    // MARK: Writing

    @inline(__always) private func editing<R>(
        _ path: CollectionPath, _ shape: CollectionShape, _ body: (inout CollectionEditor) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        let t = try writableTable(path.table, path.object)
        return try changing { () throws(RealmError) in try t.edit(path, as: shape, body) }
    }

    /// Appends to the list in a property, as `insert` at its end does, when that is a matter of its last leaf;
    /// otherwise nothing happens.
    /// - Parameter list: the list at the present state.
    @inline(__always) package func appendInPlace(_ value: Mixed, to list: ElementList, _ path: CollectionPath)
        throws(RealmError) -> Bool
    {
        guard transaction.stage == .writing, transaction.damage == nil, path.steps.isEmpty, list.kind.isPlain else {
            return false
        }
        guard let u = try transaction.group.unmanagedTable(path.table) else { return false }
        return try u.borrow { (t: Table) throws(RealmError) -> Bool in
            var value = value
            switch (list.kind, value) {
            case (.int, .int), (.double, .double), (.bool, .bool): break
            default:
                guard let c = t.facts(path.column), let shape = c.shape else { return false }
                if t.indexes.has(c.key.index) { return false }
                try t.checkElement(value, of: c, shape, level: 1)
                value = try t.store.stable(value)
            }
            let i = list.count
            let (done, moved) = try changing { () throws(RealmError) in try list.append(value) }
            guard done else { return false }
            if moved { _ = try t.rows.set(path.object, path.column.index, .slot(RefOrTagged(list.root))) }
            stateCount &+= 1
            t.logSlot.elementInserted(path.table, path.object, path.column, i)
            return true
        }
    }

    /// Throws as a change of the collection would.
    package func checkWritable(_ path: CollectionPath) throws(RealmError) {
        _ = try writableTable(path.table, path.object)
    }

    package func insert(_ value: Mixed, at i: Int, in path: CollectionPath) throws(RealmError) {
        try editing(path, .list) { (e) throws(RealmError) in
            try e.check(value)
            try e.insert(i, value)
        }
    }

    package func set(_ value: Mixed, at i: Int, in path: CollectionPath) throws(RealmError) {
        try editing(path, .list) { (e) throws(RealmError) in
            try e.check(value)
            try e.set(i, value)
        }
    }

    package func erase(at i: Int, in path: CollectionPath) throws(RealmError) {
        try editing(path, .list) { (e) throws(RealmError) in try e.erase(i) }
    }

    package func move(_ from: Int, to: Int, in path: CollectionPath) throws(RealmError) {
        try editing(path, .list) { (e) throws(RealmError) in try e.move(from, to: to) }
    }

    package func clear(_ path: CollectionPath, _ shape: CollectionShape) throws(RealmError) {
        try editing(path, shape) { (e) throws(RealmError) in try e.clear() }
    }

    /// Deletes the objects that the collection links to, which takes their elements out one by one: observers are not
    /// told that it was cleared. A collection of something else is cleared.
    package func removeAll(_ path: CollectionPath, _ shape: CollectionShape) throws(RealmError) {
        let (targets, table): ([ObjKey], TableKey) = try editing(path, shape) { (e) throws(RealmError) in
            let all = try e.targets()
            if all.isEmpty { try e.clear() }
            return (all, e.column.oppositeTable)
        }
        guard !targets.isEmpty, let t = try reading().group.table(table) else { return }
        try changing { () throws(RealmError) in try t.group.delete(t, targets) }
        // What is left of a list leads to no object: it goes, too. The owner may have been one of those that were
        // deleted.
        guard shape == .list, case .list(let rest)? = try reading().group.collection(path), rest.count > 0 else {
            return
        }
        try clear(path, shape)
    }

    package func insertIntoSet(_ value: Mixed, _ path: CollectionPath) throws(RealmError) -> (
        index: Int, inserted: Bool
    ) {
        try editing(path, .set) { (e) throws(RealmError) in
            try e.check(value)
            return try e.insertUnique(value)
        }
    }

    /// A value that the set could not hold is not there.
    package func eraseFromSet(_ value: Mixed, _ path: CollectionPath) throws(RealmError) -> Bool {
        try editing(path, .set) { (e) throws(RealmError) in e.couldHold(value) ? try e.eraseValue(value) : false }
    }

    package func setValue(_ value: Mixed, forKey name: Bytes, in path: CollectionPath) throws(RealmError) -> (
        index: Int, inserted: Bool
    ) {
        try editing(path, .dictionary) { (e) throws(RealmError) in
            try Self.checkKey(name)
            try e.check(value)
            return try e.setValue(value, for: name)
        }
    }

    package func eraseKey(_ name: Bytes, in path: CollectionPath) throws(RealmError) -> Bool {
        try editing(path, .dictionary) { (e) throws(RealmError) in
            try Self.checkKey(name, "erase")
            return try e.eraseKey(name)
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

    /// A new embedded object in a link property, replacing an old one; on a link to a top-level class a new linked
    /// object.
    package func setNewObject(_ table: TableKey, _ object: ObjKey, _ column: ColKey) throws(RealmError) -> (
        TableKey, ObjKey
    ) {
        let t = try writableTable(table, object)
        guard try t.isValid(object) else { throw invalidated() }
        let c = try facts(t, column)
        guard c.type == .link, !c.isCollection else {
            throw RealmError(.typeMismatch, "Property '\(t.column(column)?.name ?? "")' is not a link")
        }
        return (c.oppositeTable, try changing { () throws(RealmError) in try t.setNewTarget(object, c) })
    }

    package func insertNewObject(at i: Int, in path: CollectionPath) throws(RealmError) -> (TableKey, ObjKey) {
        try editing(path, .list) { (e) throws(RealmError) in
            try e.checkEmbedding()
            try e.checkIndex(i, end: true)
            let key = try e.createTarget()
            try e.insert(i, .link(key))
            return (e.column.oppositeTable, key)
        }
    }

    package func setNewObject(at i: Int, in path: CollectionPath) throws(RealmError) -> (TableKey, ObjKey) {
        try editing(path, .list) { (e) throws(RealmError) in
            try e.checkEmbedding()
            try e.checkIndex(i, end: false)
            let key = try e.createTarget()
            try e.set(i, .link(key))
            return (e.column.oppositeTable, key)
        }
    }

    /// A new embedded object under a key; where values are objects of a top-level class, a new linked object.
    package func setNewObject(forKey name: Bytes, in path: CollectionPath) throws(RealmError) -> (TableKey, ObjKey) {
        try editing(path, .dictionary) { (e) throws(RealmError) in
            guard e.column.type == .link else {
                throw RealmError(.invalidTableRef, "The values of this dictionary are not objects")
            }
            try Self.checkKey(name)
            let key = try e.createTarget()
            _ = try e.setValue(.typedLink(e.column.oppositeTable, key), for: name)
            return (e.column.oppositeTable, key)
        }
    }

    // MARK: Collections inside Mixed values

    /// Puts an empty collection before element `i` and returns its path.
    package func insertCollection(_ kind: CollectionShape, at i: Int, in path: CollectionPath) throws(RealmError)
        -> CollectionPath
    {
        try editing(path, .list) { (e) throws(RealmError) in
            let v = Self.empty(kind)
            try e.checkHoldsCollections()
            try e.check(v)
            try e.insert(i, v)
            return try path.appending(.salt(e.nestedKey(i)))
        }
    }

    /// Makes element `i` a collection, keeping one of that kind, and returns its path.
    package func setCollection(_ kind: CollectionShape, at i: Int, in path: CollectionPath) throws(RealmError)
        -> CollectionPath
    {
        try editing(path, .list) { (e) throws(RealmError) in
            let v = Self.empty(kind)
            try e.checkHoldsCollections()
            try e.check(v)
            try e.set(i, v)
            return try path.appending(.salt(e.nestedKey(i)))
        }
    }

    package func setCollection(_ kind: CollectionShape, forKey name: Bytes, in path: CollectionPath) throws(RealmError)
        -> CollectionPath
    {
        try editing(path, .dictionary) { (e) throws(RealmError) in
            guard e.column.type == .mixed else {
                throw RealmError(.invalidDictionaryValue, "Only dictionaries of Mixed values hold collections")
            }
            try Self.checkKey(name)
            let v = Self.empty(kind)
            try e.check(v)
            _ = try e.setValue(v, for: name)
            return path.appending(.name(Array(name)))
        }
    }

    /// Makes a Mixed property a collection, keeping one of that kind.
    package func setCollection(_ kind: CollectionShape, _ table: TableKey, _ object: ObjKey, _ column: ColKey)
        throws(RealmError)
    {
        try set(table, object, column, Self.empty(kind))
    }

    static func empty(_ kind: CollectionShape) -> Mixed { kind == .dictionary ? .dictionary(.null) : .list(.null) }
}

extension CollectionPath {
    package func appending(_ step: Step) -> CollectionPath {
        var longer = self
        longer.steps.append(step)
        return longer
    }
}

extension CollectionEditor {
    /// Throws unless `value` may be an element.
    @inline(__always) func check(_ value: Mixed) throws(RealmError) {
        switch (kind, value) {
        case (.int, .int), (.double, .double), (.bool, .bool), (.float, .float): return
        default: try table.checkElement(value, of: column, shape, level: level)
        }
    }

    func couldHold(_ v: Mixed) -> Bool {
        if v.isNull { return column.isNullable }
        if kind == .objKey {
            guard case .typedLink(let t, _) = v else { return false }
            return t == column.oppositeTable
        }
        return kind.holds(v)
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

    /// Before anything is made for index `i`.
    func checkIndex(_ i: Int, end: Bool) throws(RealmError) {
        let n = try ElementList(table.store, root: root, kind: kind, target: column.oppositeTable).count
        guard i >= 0, i < n || (end && i == n) else {
            throw RealmError(.indexOutOfBounds, "Requested index \(i) in a collection of \(n) elements")
        }
    }

    func nestedKey(_ i: Int) throws(RealmError) -> Int64 {
        guard !root.isNull else { return 0 }
        return try BPlusTree(table.store, kind: kind, root: root).key(i)
    }
}
