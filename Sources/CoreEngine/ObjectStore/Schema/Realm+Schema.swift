/// The schema of an open Realm: reading it, changing the file to a requested schema, following other writers. Rules:
/// live-objects §2.

/// The settings of a change to another schema.
struct SchemaStep {
    let mode: SchemaMode
    let version: UInt64
    let migrate: (@Sendable (Realm, Realm) throws -> Void)?
    let initialize: (@Sendable (Realm) throws -> Void)?
    let handlesBacklinks: Bool

    init(_ configuration: RealmConfiguration) {
        mode = configuration.schemaMode
        version = configuration.schemaVersion
        migrate = configuration.migrate
        initialize = configuration.initialize
        handlesBacklinks = configuration.handlesBacklinksAutomatically
    }

    init(
        mode: SchemaMode, version: UInt64, migrate: (@Sendable (Realm, Realm) throws -> Void)?,
        initialize: (@Sendable (Realm) throws -> Void)?,
        handlesBacklinks: Bool
    ) {
        self.mode = mode
        self.version = version
        self.migrate = migrate
        self.initialize = initialize
        self.handlesBacklinks = handlesBacklinks
    }
}

extension Realm {
    /// How the schema in memory relates to the file.
    ///
    /// Thread rule: the Realm's own thread.
    struct SchemaState {
        /// Whether the schema follows the file, because the configuration has no schema.
        var isDynamic: Bool

        /// Shape of the tables that `schema` was last bound to.
        var boundShape: [UInt64] = []

        /// The whole schema of the file at that time.
        var boundFile = Schema()

        /// Opening has brought the schema up to date: from now on the schema of a live Realm follows the file.
        var isOpen = false

        /// State of a running migration or initialization function: the write transaction belongs to the schema step,
        /// not to the function.
        var callbackGuard = CallbackGuard.none

        enum CallbackGuard { case none, active, violated }

        /// Properties that the running migration has renamed, by their new names.
        var renamed: [(className: Name, property: Name)] = []

        init(isDynamic: Bool) { self.isDynamic = isDynamic }
    }

    func readFileSchema() throws(RealmError) {
        let transaction = try reading()
        schemaState.boundFile = try transaction.group.readSchema()
        schema = Schema(schemaState.boundFile.classes.filter { !$0.name.isEmpty })
        schemaVersion = try transaction.group.readSchemaVersion()
        schemaState.boundShape = try transaction.group.shape()
    }

    /// As `readFileSchema`, for a Realm that is frozen while `realm` writes on top of its version. When the write
    /// changed classes, this reads the classes from before the write.
    func readSchemaBeforeWrite(of realm: Realm) throws(RealmError) {
        guard try reading().group.shape() != (try realm.transaction.group.shape()) else { return }
        try readFileSchema()
    }

    // MARK: The step

    /// Changes the file's schema to the requested one, as the mode allows, and makes it the live schema. An error
    /// leaves the file unchanged.
    ///
    /// - Parameters:
    ///   - present, presentVersion: the schema and schema version of the file.
    ///   - inTransaction: the changes become part of the open write transaction. After a failure that transaction can
    ///     only be rolled back.
    func bringSchema(
        to requested: Schema, _ step: SchemaStep, from present: Schema, fileVersion presentVersion: UInt64,
        inTransaction: Bool = false
    ) throws(RealmError) {
        var (file, fileVersion) = (present, presentVersion)
        let canRename = step.mode != .immutable && step.mode != .readOnly && database.isWritable
        var renames = SchemaRenames(canRename ? configuration.rules : nil, file)
        file = renames.applied(to: file)
        let relevant = Self.relevant(requested, step.mode, file)
        var (wanted, changes) = try Self.difference(
            file, relevant, configuration.rules, try reading().group, isMigrating: fileVersion != step.version)
        let lacksRules =
            renames.isEmpty ? try self.lacksRules(step.mode, isMigrating: fileVersion != step.version) : true
        if fileVersion == step.version && changes.isEmpty && !lacksRules {
            return try adopt(requested, file, version: fileVersion)
        }
        try Self.check(changes, step, fileVersion)
        // Read-only mode sets the schema version of a new file, but does not change an existing empty file.
        let isFixed =
            step.mode == .immutable
            || (step.mode == .readOnly && (fileVersion != SchemaLimits.notVersioned || !database.isWritable))
        if isFixed {
            return try adopt(
                requested, file, version: fileVersion == SchemaLimits.notVersioned ? step.version : fileVersion)
        }
        // In additive modes, changes of indexes alone are made only with a new schema version.
        if step.mode.isAdditive, fileVersion == step.version, !lacksRules,
            !changes.contains(where: { $0.isClassAddition || $0.isPropertyAddition })
        {
            return try adopt(requested, file, version: fileVersion)
        }
        if inTransaction {
            stateCount &+= 1
            do throws(RealmError) {
                try renames.apply(transaction.group)
                try write(changes, to: wanted, of: requested, step, fileVersion, committing: false)
            } catch {
                schemaState.callbackGuard = .none
                transaction.noteFailure(RealmError(.brokenInvariant, error.message))
                throw error
            }
            return notifySchemaChanged()
        }
        guard !isWriting else {
            throw RealmError(.wrongTransactionState, "Cannot change the schema within a write transaction.")
        }
        let before = (schema: schema, version: schemaVersion)
        do throws(RealmError) {
            if try transaction.beginWrite() {
                file = try transaction.group.readSchema()
                renames = SchemaRenames(configuration.rules, file)
                file = renames.applied(to: file)
                fileVersion = try transaction.group.readSchemaVersion()
                (wanted, changes) = try Self.difference(
                    file, relevant, configuration.rules, transaction.group, isMigrating: fileVersion != step.version)
                try Self.check(changes, step, fileVersion)
            }
            try catchUpRules()
            stateCount &+= 1
            try renames.apply(transaction.group)
            try write(changes, to: wanted, of: requested, step, fileVersion)
        } catch {
            schemaState.callbackGuard = .none
            if transaction.stage == .writing { try? transaction.rollback() }
            stateCount &+= 1
            (schema, schemaVersion) = before
            throw error
        }
        notifySchemaChanged()
    }

    /// The changes from the file's schema to the requested one, and the schema that the file has then.
    static func difference(
        _ file: Schema, _ requested: Schema, _ rules: [Name: ClassRules]?, _ group: Group, isMigrating: Bool
    ) throws(RealmError) -> (wanted: Schema, changes: [SchemaChange]) {
        if isMigrating { return (requested, SchemaChange.between(file, requested)) }
        let (known, new) = try group.otherSubclasses(rules)
        let subclasses = SubclassChanges(known: known, new: new)
        let wanted = subclasses.completed(requested, file)
        return (wanted, subclasses.marked(SchemaChange.between(file, wanted)))
    }

    /// Additive-discovered mode makes no tables for embedded classes that no top-level class leads to. They are part of
    /// the live schema, but have no key, like classes that the file lacks in read-only modes.
    private static func relevant(_ schema: Schema, _ mode: SchemaMode, _ file: Schema) -> Schema {
        guard mode == .additiveDiscovered else { return schema }
        let reachable = schema.reachableEmbedded()
        return Schema(
            schema.classes.filter { $0.kind != .embedded || reachable.contains($0.name) || file[$0.name] != nil })
    }

    /// Runs inside the write transaction: changes the file, calls the functions, commits.
    ///
    /// - Parameters:
    ///   - completed: the classes and properties that the file must have.
    ///   - requested: the new live schema.
    private func write(
        _ planned: [SchemaChange], to completed: Schema, of requested: Schema, _ step: SchemaStep,
        _ fileVersion: UInt64,
        committing: Bool = true
    ) throws(RealmError) {
        var changes = planned
        let resets = step.mode.resets(changes, from: fileVersion, to: step.version)
        let wanted = resets ? requested : completed
        let fresh = resets || fileVersion == SchemaLimits.notVersioned
        let start = Platform.monotonicSeconds
        Log.write(
            .storage, .debug,
            "\(fresh ? "Creating" : "Changing") the schema: version \(step.version), mode \(step.mode)")
        let group = transaction.group
        if resets {
            try group.removeAllTables()
            changes = SchemaChange.between(Schema(), wanted)
        }
        try group.ensureMetadata()
        if fresh && step.mode == .readOnly {
            changes = []
        } else if step.mode.isAdditive {
            changes.removeAll { $0.isPropertyRemoval }
            try group.apply(changes)
        } else if fresh {
            try group.apply(changes)
            try group.finish(wanted, step.handlesBacklinks)
        } else if step.mode == .manual {
            if let migrate = step.migrate { try runMigration(migrate, wanted, step, file: try group.readSchema()) }
            let left = SchemaChange.between(try group.readSchema(), wanted)
            if !left.isEmpty {
                throw Self.mismatch(.schemaMismatch, left, "Migration is required due to the following errors:")
            }
            for objectSchema in wanted.classes {
                try group.table(named: objectSchema.tableName)?.checkPrimaryKeysAreUnique()
            }
        } else if fileVersion == step.version {
            try group.apply(changes.filter { $0.isClassAddition || $0.isIndexChange })
        } else {
            try group.apply(changes)
            if let migrate = step.migrate { try runMigration(migrate, wanted, step, file: try group.readSchema()) }
            try group.finish(wanted, step.handlesBacklinks)
        }
        if fresh || fileVersion != step.version { try group.setSchemaVersion(step.version) }
        if step.mode != .readOnly { try applyRules(step.mode, isMigrating: fresh || fileVersion != step.version) }
        for change in changes {
            guard case .makeRequired(let changed, _) = change, let table = try group.table(named: changed.tableName)
            else { continue }
            try group.recheckRules(of: table)
        }
        try adopt(requested, try group.readSchema(), version: step.version)
        if fresh, let initialize = step.initialize {
            try guarded("data initialization") { () throws(RealmError) in
                do { try initialize(self) } catch { throw Self.callbackError(error) }
            }
            for objectSchema in wanted.classes {
                try group.table(named: objectSchema.tableName)?.checkPrimaryKeysAreUnique()
            }
        }
        Log.write(
            .storage, .debug,
            "Migration did run in \(Int((Platform.monotonicSeconds - start) * 1e6)) us, \(changes.count) changes")
        if committing { try commitLogged() }
        stateCount &+= 1
        schemaState.boundShape = try transaction.group.shape()
        RealmCoordinator.update(self)
    }

    private func runMigration(
        _ migrate: @Sendable (Realm, Realm) throws -> Void, _ wanted: Schema, _ step: SchemaStep, file: Schema
    ) throws(RealmError) {
        let old = try Realm(before: self)
        defer { old.close() }
        try adopt(wanted, file, version: step.version)
        schemaState.renamed = []
        try guarded("migration") { () throws(RealmError) in
            do { try migrate(old, self) } catch { throw Self.callbackError(error) }
        }
        for rename in schemaState.renamed
        where wanted[rename.className]?.properties.contains(where: { $0.name == rename.property }) != true {
            throw RealmError(
                .invalidProperty, "Renamed property '\(rename.className).\(rename.property)' does not exist.")
        }
    }

    static func callbackError(_ error: any Error) -> RealmError {
        error as? RealmError ?? RealmError(.callback, "User-provided callback failed: \(error)")
    }

    /// Runs a function of the application. The function must leave the transaction open.
    private func guarded(_ what: String, _ body: () throws(RealmError) -> Void) throws(RealmError) {
        schemaState.callbackGuard = .active
        defer { schemaState.callbackGuard = .none }
        try body()
        if isClosed { throw closedError() }
        guard schemaState.callbackGuard == .active, transaction.stage == .writing else {
            throw RealmError(
                .wrongTransactionState, "The \(what) function tried to end the write transaction it ran in")
        }
    }

    // MARK: Schema modes

    static func mismatch(_ code: RealmError.Code, _ changes: [SchemaChange], _ heading: String) -> RealmError {
        RealmError(code, heading + "\n" + changes.map { "- " + $0.text }.joined(separator: "\n"))
    }

    /// Throws when a Realm with the requested schema cannot read a file with these differences.
    private static func checkReadable(_ changes: [SchemaChange]) throws(RealmError) {
        let bad = changes.filter {
            switch $0 {
            case .addProperty, .changeType, .makeNullable, .makeRequired, .changePrimaryKey: true
            default: false
            }
        }
        if !bad.isEmpty {
            throw mismatch(.invalidSchemaChange, bad, "The following changes cannot be made in read-only schema mode:")
        }
    }

    /// Throws when the mode does not allow the change from the file's schema to the requested one.
    private static func check(_ changes: [SchemaChange], _ step: SchemaStep, _ fileVersion: UInt64) throws(RealmError) {
        let fresh = fileVersion == SchemaLimits.notVersioned
        switch step.mode {
        case .immutable, .readOnly:
            if step.mode == .immutable && step.version != fileVersion {
                throw RealmError(
                    .invalidSchemaVersion,
                    "Provided schema version \(step.version) does not equal last set version \(fileVersion).")
            }
            if fresh && step.mode == .readOnly { return }
            try checkReadable(changes)
        case .automatic, .manual:
            if fresh { return }
            if step.version < fileVersion {
                throw RealmError(
                    .invalidSchemaVersion,
                    "Provided schema version \(step.version) is less than last set version \(fileVersion).")
            }
            if step.mode == .manual {
                // With a higher version, the schemas are compared after the migration function, if one was given.
                if step.version == fileVersion, !changes.isEmpty {
                    throw mismatch(.schemaMismatch, changes, "Migration is required due to the following errors:")
                }
                return
            }
            guard step.version == fileVersion else { return }
            let bad = changes.filter { !$0.isClassAddition && !$0.isIndexChange }
            if !bad.isEmpty {
                throw mismatch(.schemaMismatch, bad, "Migration is required due to the following errors:")
            }
        case .additiveDiscovered, .additiveExplicit:
            let bad = changes.filter {
                !$0.isClassAddition && !$0.isIndexChange && !$0.isPropertyAddition && !$0.isPropertyRemoval
            }
            if !bad.isEmpty {
                throw mismatch(
                    .invalidSchemaChange, bad, "The following changes cannot be made in additive-only schema mode:")
            }
        case .softResetFile, .hardResetFile: return
        }
    }

    // MARK: The live schema

    /// Makes `wanted` the live schema. Its classes and properties take their keys from the file's schema.
    func adopt(_ wanted: Schema, _ file: Schema, version: UInt64) throws(RealmError) {
        schema = bound(wanted, to: file)
        schemaVersion = version
        schemaState.isDynamic = false
        schemaState.boundFile = file
        schemaState.boundShape = try reading().group.shape()
    }

    private func bound(_ wanted: Schema, to file: Schema) -> Schema {
        var live = wanted
        let subset = configuration.subsetMode
        for i in live.classes.indices {
            guard let old = file[live.classes[i].name] else { continue }
            live.classes[i].key = old.key
            for j in live.classes[i].properties.indices {
                if let property = old.storedProperty(live.classes[i].properties[j].name, at: j) {
                    live.classes[i].properties[j].key = property.key
                }
            }
            if subset == .allProperties || subset == .complete {
                for property in old.properties where live.classes[i].property(named: property.name) == nil {
                    live.classes[i].properties.append(property)
                }
            }
        }
        if subset == .allClasses || subset == .complete {
            live = Schema(live.classes + file.classes.filter { live[$0.name] == nil })
        }
        return live
    }

    /// Called when the snapshot has moved. When tables or columns were added or removed, the live schema follows. When
    /// the file lost a class or property of the live schema, this throws 2019, and the caller keeps the old version.
    func versionMoved() throws(RealmError) {
        stateCount &+= 1
        guard schemaState.isOpen else { return }
        let group = transaction.group
        let shape = try group.shape()
        guard shape != schemaState.boundShape else { return }
        let file = try group.readSchema()
        let isNew = !file.hasNames(of: schemaState.boundFile)
        if schemaState.isDynamic {
            schema = file
            schemaVersion = try group.readSchemaVersion()
        } else {
            var lost: [SchemaChange] = []
            for objectSchema in schema.classes where !objectSchema.key.isNull {
                guard let now = file[objectSchema.name], now.key == objectSchema.key else {
                    lost.append(.removeClass(objectSchema))
                    continue
                }
                for property in objectSchema.properties where property.key != .null {
                    guard let present = now.properties.first(where: { $0.name == property.name }) else {
                        lost.append(.removeProperty(objectSchema, property))
                        continue
                    }
                    if !property.sameType(as: present) {
                        lost.append(.changeType(objectSchema, from: property, to: present))
                    }
                }
            }
            if !lost.isEmpty {
                throw Self.mismatch(
                    .invalidSchemaChange, lost, "Unsupported schema changes were made by another client or process:")
            }
            try adopt(schema, file, version: isNew ? try group.readSchemaVersion() : schemaVersion)
        }
        schemaState.boundShape = shape
        schemaState.boundFile = file
        if isNew {
            movement.schemaMoved = true
            RealmCoordinator.update(self)
        }
    }

    // MARK: Changing the schema of an open Realm

    /// Changes the schema of the file and of this Realm. The version is 0 by default. Without `inTransaction`, inside a
    /// write transaction it succeeds only when nothing has to change.
    public func updateSchema(
        _ wanted: Schema, version: UInt64 = 0, migrate: (@Sendable (Realm, Realm) throws -> Void)? = nil,
        initialize: (@Sendable (Realm) throws -> Void)? = nil, inTransaction: Bool = false
    ) throws(RealmError) {
        try enter(.realm)
        defer { leave() }
        try wanted.validate(configuration.schemaMode == .additiveExplicit ? .rejectEmbeddedOrphans : [])
        guard version != SchemaLimits.notVersioned else {
            throw RealmError(.invalidArgument, "Schema version \(version) means that there is none")
        }
        if isFrozen { return try showOnly(wanted) }
        if inTransaction, !isWriting {
            throw RealmError(
                .wrongTransactionState, "There is no write transaction that the changes could become part of")
        }
        guard transaction.savepointDepth == 0 else {
            throw RealmError(.wrongTransactionState, "Cannot change the schema inside a savepoint")
        }
        let wasReading = isReading
        if transaction.stage == .reading { _ = try refresh() }
        let group = try reading().group
        try bringSchema(
            to: wanted,
            SchemaStep(
                mode: configuration.schemaMode, version: version, migrate: migrate, initialize: initialize,
                handlesBacklinks: configuration.handlesBacklinksAutomatically),
            from: try group.readSchema(), fileVersion: try group.readSchemaVersion(), inTransaction: inTransaction)
        if !wasReading { transaction.endRead() }
    }

    /// Makes `wanted` the schema of a frozen Realm, whose file does not change. `wanted` may omit classes and
    /// properties, and contain classes that the file lacks.
    private func showOnly(_ wanted: Schema) throws(RealmError) {
        let file = try reading().group.readSchema()
        try Self.checkReadable(SchemaChange.between(file, wanted))
        schema = bound(wanted, to: file)
    }
}

extension Schema {
    /// Whether both schemas have the same classes, with properties of the same names and types. Nullability, indexes
    /// and keys do not count.
    func hasNames(of other: Schema) -> Bool {
        classes.count == other.classes.count
            && zip(classes, other.classes).allSatisfy { a, b in
                a.name == b.name && a.properties.count == b.properties.count
                    && a.properties.allSatisfy { p in b.properties.contains { $0.name == p.name && $0.sameType(as: p) }
                    }
            }
    }
}

extension Group {
    /// The tables that exist and their columns: the state that the live schema of a Realm depends on. Two snapshots of
    /// the same shape have the same classes and properties; their indexes may differ.
    func shape() throws(RealmError) -> [UInt64] {
        var all: [UInt64] = []
        for i in liveIndexes {
            all.append(UInt64(i))
            for word in try specState(i) { all.append(word) }
        }
        return all
    }
}
