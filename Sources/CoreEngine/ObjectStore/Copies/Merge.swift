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
private final class Merger: CopyRules {
    private let source: Group
    private let target: Group

    /// The plans of the classes by table of the source.
    private var plans: [TableKey: CopyPlan] = [:]

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
            var plan = CopyPlan(from: from, to: to)
            for column in from.publicColumns where column.key != from.primaryKey {
                guard let other = to.column(named: column.name), let facts = to.facts(other.key) else { continue }
                plan.columns.append((column, facts))
            }
            plans[wantedClass.key] = plan
        }
        let topLevel = wanted.classes.compactMap { plans[$0.key] }.filter { !$0.from.isEmbedded }
        for plan in topLevel {
            for i in 0..<(try plan.from.count()) {
                guard let value = try primaryKey(try plan.from.key(at: i), plan) else { continue }
                _ = try plan.to.createObject(primaryKey: value)
            }
        }
        let copier = ObjectCopier(from: source, to: target, self)
        for plan in topLevel {
            for i in 0..<(try plan.from.count()) {
                let key = try plan.from.key(at: i)
                if let new = try counterpart(key, plan) { try copier.copy(key, to: new, plan) }
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
            case .addClass, .addInitialProperties, .addProperty, .addPropertyOfSubclass, .removeProperty, .addIndex,
                .removeIndex, .removeClass:
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

    private func primaryKey(_ key: ObjKey, _ plan: CopyPlan) throws(RealmError) -> Mixed? {
        guard let column = plan.from.primaryKey else { return nil }
        return try plan.from.stored(key, column)
    }

    /// The target's object that has the same primary key as an object of the source.
    private func counterpart(_ key: ObjKey, _ plan: CopyPlan) throws(RealmError) -> ObjKey? {
        guard !key.isUnresolved, try plan.from.isValid(key), let value = try primaryKey(key, plan) else { return nil }
        return try plan.to.find(primaryKey: value)
    }

    func ownedPlan(_ table: TableKey) -> CopyPlan? { plans[table].flatMap { $0.from.isEmbedded ? $0 : nil } }

    func link(_ table: TableKey, _ key: ObjKey) throws(RealmError) -> Mixed? {
        guard let plan = plans[table], let found = try counterpart(key, plan) else { return nil }
        return .typedLink(plan.to.key, found)
    }
}
