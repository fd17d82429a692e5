extension Realm {
    /// Copies the objects of the snapshot, one by one, into the file of a configuration.
    func merge(into configuration: RealmConfiguration) throws(RealmError) {
        let source = try reading()
        var c = configuration
        c.home = home
        c.isCached = false
        c.shouldCompact = nil
        c.notifiesAutomatically = false
        let target = try Realm(c)
        defer { target.close() }
        try target.beginWrite()
        do throws(RealmError) {
            try Merger(source.group, target.transaction.group).run()
            try target.commitWrite()
        } catch {
            if target.isWriting { try? target.cancelWrite() }
            throw error.with(path: c.path)
        }
    }
}

/// Brings the objects of one group into another, in the write transaction of the latter: first every object that has a
/// primary key, then the values, so that links find what they lead to.
private final class Merger {
    private let source: Group
    private let target: Group

    /// The tables of a class in both groups, and its columns.
    private struct Pair {
        let from: Table
        let to: Table
        var columns: [(from: Column, to: ColumnFacts)] = []
        var primaryKey: Column?
    }

    /// By table of the source.
    private var pairs: [TableKey: Pair] = [:]

    init(_ source: Group, _ target: Group) {
        self.source = source
        self.target = target
    }

    func run() throws(RealmError) {
        let wanted = try source.readSchema()
        try bringSchema(wanted)
        for c in wanted.classes {
            guard let from = try source.table(c.key), let to = try target.table(named: c.tableName) else { continue }
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
            pairs[c.key] = pair
        }
        let topLevel = wanted.classes.compactMap { pairs[$0.key] }.filter { !$0.from.isEmbedded }
        for p in topLevel {
            guard let column = p.primaryKey else { continue }
            for i in 0..<(try p.from.count()) {
                guard let value = try p.from.rows.get(try p.from.rows.key(at: i), column.index) else { continue }
                _ = try p.to.createObject(primaryKey: value)
            }
        }
        for p in topLevel {
            for i in 0..<(try p.from.count()) {
                let key = try p.from.rows.key(at: i)
                if let new = try counterpart(key, p) { try copy(key, to: new, p, depth: 0) }
            }
        }
    }

    /// Makes the classes and properties that the target lacks; those it has must be the same.
    private func bringSchema(_ wanted: Schema) throws(RealmError) {
        func broken(_ what: String) -> RealmError { RealmError(.brokenInvariant, "Cannot merge: \(what)") }
        for c in wanted.classes where c.kind != .embedded && c.primaryKey.isEmpty {
            throw broken("Class '\(c.name)' must have a primary key")
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
        if version != ObjectStore.notVersioned, try target.readSchemaVersion() == ObjectStore.notVersioned {
            try target.setSchemaVersion(version)
        }
    }

    // MARK: Links

    /// The object of the target with the primary key of a source's object.
    private func counterpart(_ key: ObjKey, _ p: Pair) throws(RealmError) -> ObjKey? {
        guard let column = p.primaryKey, !key.isUnresolved, try p.from.isValid(key),
            let value = try p.from.rows.get(key, column.index)
        else {
            return nil
        }
        return try p.to.find(primaryKey: value)
    }

    /// A value as the target has it: links lead to the counterparts, collections are empty. nil: a link that leads
    /// nowhere.
    private func translated(_ v: Mixed, _ column: Column) throws(RealmError) -> Mixed? {
        switch v {
        case .link(let k): return try link(column.oppositeTable, k)
        case .typedLink(let t, let k): return try link(t, k)
        case .list: return .emptyList
        case .dictionary: return .emptyDictionary
        default: return v
        }
    }

    private func link(_ table: TableKey, _ key: ObjKey) throws(RealmError) -> Mixed? {
        guard let p = pairs[table], let k = try counterpart(key, p) else { return nil }
        return .typedLink(p.to.key, k)
    }

    // MARK: Values

    private func copy(_ key: ObjKey, to new: ObjKey, _ p: Pair, depth: Int) throws(RealmError) {
        guard depth < Trees.maxNesting else { throw Trees.embeddedTooDeeply }
        for (column, facts) in p.columns {
            source.startWalk()
            let owned =
                column.type == .link ? pairs[column.oppositeTable].flatMap { $0.from.isEmbedded ? $0 : nil } : nil
            let path = CollectionPath(table: p.to.key, object: new, column: facts.key)
            if let shape = column.shape {
                let from = CollectionPath(table: p.from.key, object: key, column: column.key)
                try copyCollection(from, column, to: path, p.to, shape, owned, depth)
                continue
            }
            guard let value = try p.from.get(key, p.from.facts(column.key) ?? facts) else { continue }
            if let owned, case .link(let k) = value {
                try copy(k, to: try p.to.setNewTarget(new, facts), owned, depth: depth + 1)
                continue
            }
            switch value {
            case .list, .dictionary:
                // One that is there would stay.
                _ = try p.to.set(new, facts, .null)
                _ = try p.to.set(new, facts, try translated(value, column) ?? .null)
                try copyNested(value, column, p.to, path)
            default: _ = try p.to.set(new, facts, try translated(value, column) ?? .null)
            }
        }
    }

    private func copyCollection(
        _ from: CollectionPath, _ column: Column, to path: CollectionPath, _ t: Table, _ shape: CollectionShape,
        _ owned: Pair?, _ depth: Int
    ) throws(RealmError) {
        try t.edit(path, as: shape) { (e) throws(RealmError) in try e.clear() }
        switch try source.resolve(from) {
        case nil: return
        case .list(let l):
            var at = 0
            for i in 0..<l.count {
                let v = try l.get(i)
                if let owned {
                    guard let k = v.objectKey else { continue }
                    let index = at
                    let child: ObjKey = try t.edit(path, as: .list) { (e) throws(RealmError) in
                        let child = try e.createTarget()
                        try e.insert(index, .link(child))
                        return child
                    }
                    try copy(k, to: child, owned, depth: depth + 1)
                    at += 1
                } else if shape == .set {
                    guard let new = try translated(v, column) else { continue }
                    try t.edit(path, as: .set) { (e) throws(RealmError) in _ = try e.insertUnique(new) }
                } else if try append(v, at: at, column, t, path) {
                    at += 1
                }
            }
        case .dictionary(let d):
            for i in 0..<d.count {
                guard case .string(let bytes) = try d.key(i) else { continue }
                let name = Array(bytes)
                if let owned, let k = try d.value(i).objectKey {
                    let child: ObjKey = try t.edit(path, as: .dictionary) { (e) throws(RealmError) in
                        let child = try e.createTarget()
                        _ = try name.withBytes { (b) throws(RealmError) in
                            try e.setValue(.typedLink(e.column.oppositeTable, child), for: b)
                        }
                        return child
                    }
                    try copy(k, to: child, owned, depth: depth + 1)
                } else {
                    try put(try d.value(i), for: name, column, t, path)
                }
            }
        }
    }

    /// Appends an element with everything in it; false when it is a link that leads nowhere.
    private func append(_ v: Mixed, at i: Int, _ column: Column, _ t: Table, _ path: CollectionPath) throws(RealmError)
        -> Bool
    {
        // Only links in lists of Mixed may be null instead.
        guard let new = try translated(v, column) ?? (column.type == .mixed ? .null : nil) else { return false }
        let isNested = v.isCollection
        let key: Int64 = try t.edit(path, as: .list) { (e) throws(RealmError) in
            try e.insert(i, new)
            return isNested ? try e.nestedKey(i) : 0
        }
        if isNested { try copyNested(v, column, t, path.appending(.salt(key))) }
        return true
    }

    private func put(_ v: Mixed, for name: [UInt8], _ column: Column, _ t: Table, _ path: CollectionPath)
        throws(RealmError)
    {
        let new = try translated(v, column) ?? .null
        try t.edit(path, as: .dictionary) { (e) throws(RealmError) in
            _ = try name.withBytes { (b) throws(RealmError) in try e.setValue(new, for: b) }
        }
        if v.isCollection { try copyNested(v, column, t, path.appending(.name(name))) }
    }

    /// Copies the elements of a nested collection into the empty one at `path`.
    private func copyNested(_ v: Mixed, _ column: Column, _ t: Table, _ path: CollectionPath) throws(RealmError) {
        try source.enterNested(at: .null)
        switch v {
        case .list(let root):
            let l = try ElementList(source.store, root: root, kind: .mixed, target: .null)
            for i in 0..<l.count { _ = try append(try l.get(i), at: i, column, t, path) }
        case .dictionary(let root):
            let d = try ElementDictionary(source.store, root: root, keyType: .string, format: source.format)
            for i in 0..<d.count {
                if case .string(let name) = try d.key(i) { try put(try d.value(i), for: Array(name), column, t, path) }
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
        case .link(let k), .typedLink(_, let k): k
        default: nil
        }
    }
}
