extension Realm {
    /// Copies the objects of the snapshot, one by one, into the file of a configuration.
    func merge(into configuration: RealmConfiguration) throws(RealmError) {
        let source = try reading()
        var configuration = configuration
        configuration.home = home
        configuration.isCached = false
        configuration.shouldCompact = nil
        configuration.notifiesAutomatically = false
        let target = try Realm(configuration)
        defer { target.close() }
        try target.beginWrite()
        do throws(RealmError) {
            try Merger(source.group, target.transaction.group).run()
            try target.commitWrite()
        } catch {
            if target.isWriting { try? target.cancelWrite() }
            throw error.with(path: configuration.path)
        }
    }
}

/// Copies the objects of one group into another, inside a write transaction of the target. It first creates every
/// object that has a primary key, then copies the values, so that links find their targets.
private final class Merger {
    private let source: Group
    private let target: Group

    /// The tables of a class in both groups, and the columns to copy.
    private struct Pair {
        let from: Table
        let to: Table
        var columns: [(from: Column, to: ColumnFacts)] = []
        var primaryKey: Column?
    }

    /// The pairs by table of the source.
    private var pairs: [TableKey: Pair] = [:]

    init(_ source: Group, _ target: Group) {
        self.source = source
        self.target = target
    }

    func run() throws(RealmError) {
        let wanted = try source.readSchema()
        try bringSchema(wanted)
        for wantedClass in wanted.classes {
            guard let from = try source.table(wantedClass.key), let to = try target.table(named: wantedClass.tableName)
            else { continue }
            var pair = Pair(from: from, to: to)
            for column in from.publicColumns {
                if column.key == from.primaryKey { pair.primaryKey = column }
                guard column.key != from.primaryKey, let other = to.column(named: column.name),
                    let facts = to.facts(other.key)
                else {
                    continue
                }
                pair.columns.append((column, facts))
            }
            pairs[wantedClass.key] = pair
        }
        let topLevel = wanted.classes.compactMap { pairs[$0.key] }.filter { !$0.from.isEmbedded }
        for pair in topLevel {
            guard let column = pair.primaryKey else { continue }
            for i in 0..<(try pair.from.count()) {
                guard let value = try pair.from.stored(try pair.from.key(at: i), column.key) else { continue }
                _ = try pair.to.createObject(primaryKey: value)
            }
        }
        for pair in topLevel {
            for i in 0..<(try pair.from.count()) {
                let key = try pair.from.key(at: i)
                if let new = try counterpart(key, pair) { try copy(key, to: new, pair, depth: 0) }
            }
        }
    }

    /// Creates the classes and properties that the target lacks. Those that it has must be the same.
    private func bringSchema(_ wanted: Schema) throws(RealmError) {
        func broken(_ what: String) -> RealmError { RealmError(.brokenInvariant, "Cannot merge: \(what)") }
        for wantedClass in wanted.classes where wantedClass.kind != .embedded && wantedClass.primaryKey.isEmpty {
            throw broken("Class '\(wantedClass.name)' must have a primary key")
        }
        let changes = SchemaChange.between(try target.readSchema(), wanted)
        for change in changes {
            switch change {
            case .addClass, .addInitialProperties, .addProperty, .removeProperty, .addIndex, .removeIndex, .removeClass:
                continue
            case .changeType, .makeNullable, .makeRequired, .changePrimaryKey, .changeKind: throw broken(change.text)
            }
        }
        let additions = changes.filter { $0.isClassAddition || $0.isPropertyAddition }
        try target.apply(additions)
        let version = try source.readSchemaVersion()
        if version != SchemaLimits.notVersioned, try target.readSchemaVersion() == SchemaLimits.notVersioned {
            try target.setSchemaVersion(version)
        }
    }

    // MARK: Links

    /// The target's object that has the same primary key as an object of the source.
    private func counterpart(_ key: ObjKey, _ pair: Pair) throws(RealmError) -> ObjKey? {
        guard let column = pair.primaryKey, !key.isUnresolved, try pair.from.isValid(key),
            let value = try pair.from.stored(key, column.key)
        else {
            return nil
        }
        return try pair.to.find(primaryKey: value)
    }

    /// A value for the target: links lead to the target's objects, collections are empty. nil: a link without a target
    /// object.
    private func translated(_ value: Mixed, _ column: Column) throws(RealmError) -> Mixed? {
        switch value {
        case .link(let key): return try link(column.oppositeTable, key)
        case .typedLink(let table, let key): return try link(table, key)
        case .list: return .emptyList
        case .dictionary: return .emptyDictionary
        default: return value
        }
    }

    private func link(_ table: TableKey, _ key: ObjKey) throws(RealmError) -> Mixed? {
        guard let pair = pairs[table], let found = try counterpart(key, pair) else { return nil }
        return .typedLink(pair.to.key, found)
    }

    // MARK: Values

    private func copy(_ key: ObjKey, to new: ObjKey, _ pair: Pair, depth: Int) throws(RealmError) {
        guard depth < Tables.maxNesting else { throw Tables.embeddedTooDeeply }
        for (column, facts) in pair.columns {
            source.startWalk()
            let owned =
                column.type == .link ? pairs[column.oppositeTable].flatMap { $0.from.isEmbedded ? $0 : nil } : nil
            let path = CollectionPath(table: pair.to.key, object: new, column: facts.key)
            if let shape = column.shape {
                let from = CollectionPath(table: pair.from.key, object: key, column: column.key)
                try copyCollection(from, column, to: path, pair.to, shape, owned, depth)
                continue
            }
            guard let value = try pair.from.get(key, pair.from.facts(column.key) ?? facts) else { continue }
            if let owned, case .link(let child) = value {
                try copy(child, to: try pair.to.setNewTarget(new, facts), owned, depth: depth + 1)
                continue
            }
            switch value {
            case .list, .dictionary:
                // An existing collection would be kept: null removes it.
                _ = try pair.to.set(new, facts, .null)
                _ = try pair.to.set(new, facts, try translated(value, column) ?? .null)
                try copyNested(value, column, pair.to, path)
            default: _ = try pair.to.set(new, facts, try translated(value, column) ?? .null)
            }
        }
    }

    private func copyCollection(
        _ from: CollectionPath, _ column: Column, to path: CollectionPath, _ table: Table, _ shape: CollectionShape,
        _ owned: Pair?, _ depth: Int
    ) throws(RealmError) {
        try table.edit(path, as: shape) { (editor) throws(RealmError) in try editor.clear() }
        switch try source.resolve(from) {
        case nil: return
        case .list(let list):
            var at = 0
            for i in 0..<list.count {
                let value = try list.get(i)
                if let owned {
                    guard let old = value.objectKey else { continue }
                    let index = at
                    let child: ObjKey = try table.edit(path, as: .list) { (editor) throws(RealmError) in
                        let child = try editor.createTarget()
                        try editor.insert(index, .link(child))
                        return child
                    }
                    try copy(old, to: child, owned, depth: depth + 1)
                    at += 1
                } else if shape == .set {
                    guard let new = try translated(value, column) else { continue }
                    try table.edit(path, as: .set) { (editor) throws(RealmError) in _ = try editor.insertUnique(new) }
                } else if try append(value, at: at, column, table, path) {
                    at += 1
                }
            }
        case .dictionary(let dictionary):
            for i in 0..<dictionary.count {
                guard case .string(let bytes) = try dictionary.key(i) else { continue }
                let name = Array(bytes)
                if let owned, let old = try dictionary.value(i).objectKey {
                    let child: ObjKey = try table.edit(path, as: .dictionary) { (editor) throws(RealmError) in
                        let child = try editor.createTarget()
                        _ = try name.withBytes { (nameBytes) throws(RealmError) in
                            try editor.setValue(.typedLink(editor.column.oppositeTable, child), for: nameBytes)
                        }
                        return child
                    }
                    try copy(old, to: child, owned, depth: depth + 1)
                } else {
                    try put(try dictionary.value(i), for: name, column, table, path)
                }
            }
        }
    }

    /// Inserts an element with all its content. Returns false for a link without a target object.
    private func append(_ value: Mixed, at index: Int, _ column: Column, _ table: Table, _ path: CollectionPath)
        throws(RealmError)
        -> Bool
    {
        // Only a list of Mixed can hold null in place of such a link.
        guard let new = try translated(value, column) ?? (column.type == .mixed ? .null : nil) else { return false }
        let isNested = value.isCollection
        let key: Int64 = try table.edit(path, as: .list) { (editor) throws(RealmError) in
            try editor.insert(index, new)
            return isNested ? try editor.stableKey(index) : 0
        }
        if isNested { try copyNested(value, column, table, path.appending(.stableKey(key))) }
        return true
    }

    private func put(_ value: Mixed, for name: [UInt8], _ column: Column, _ table: Table, _ path: CollectionPath)
        throws(RealmError)
    {
        let new = try translated(value, column) ?? .null
        try table.edit(path, as: .dictionary) { (editor) throws(RealmError) in
            _ = try name.withBytes { (bytes) throws(RealmError) in try editor.setValue(new, for: bytes) }
        }
        if value.isCollection { try copyNested(value, column, table, path.appending(.name(name))) }
    }

    /// Copies the elements of a nested collection into the empty one at `path`.
    private func copyNested(_ value: Mixed, _ column: Column, _ table: Table, _ path: CollectionPath) throws(RealmError)
    {
        try source.enterNested(at: .null)
        switch value {
        case .list(let root):
            let list = try ElementList(source.store, root: root, kind: .mixed, target: .null)
            for i in 0..<list.count { _ = try append(try list.get(i), at: i, column, table, path) }
        case .dictionary(let root):
            let dictionary = try ElementDictionary(source.store, root: root, keyType: .string, format: source.format)
            for i in 0..<dictionary.count {
                if case .string(let name) = try dictionary.key(i) {
                    try put(try dictionary.value(i), for: Array(name), column, table, path)
                }
            }
        default: break
        }
    }
}

extension Mixed {
    fileprivate var isCollection: Bool {
        switch self {
        case .list, .dictionary: true
        default: false
        }
    }

    fileprivate var objectKey: ObjKey? {
        switch self {
        case .link(let key), .typedLink(_, let key): key
        default: nil
        }
    }
}
