/// Objects: finding, creating, reading and setting single values.
extension Table {
    /// Whether a live object has this key.
    @inline(__always) func isValid(_ key: ObjKey) throws(RealmError) -> Bool {
        key.raw >= 0 ? try rows.contains(key) : false
    }

    /// Value of a column; nil if the object does not exist. Links to objects that do not exist yet (tombstones) read as
    /// null.
    @inline(__always) func get(_ key: ObjKey, _ column: ColumnFacts) throws(RealmError) -> Mixed? {
        guard let value = try rows.get(key, column.key.index) else { return nil }
        if case .link(let target) = value, target.isUnresolved { return .null }
        if case .typedLink(_, let target) = value, target.isUnresolved { return .null }
        return value
    }

    // MARK: Primary keys

    /// The object with this primary key. Values of another type, and null for a required key, are not found.
    func find(primaryKey value: Mixed) throws(RealmError) -> ObjKey? {
        guard let pk = primaryKey, let column = facts(pk), Self.matches(value, column) else { return nil }
        if let index = indexes.primaryKeyIndex(pk.index) { return try index.find(value) }
        // Formats 20 and 21 have no index on primary keys.
        var found: ObjKey?
        try rows.forEachKey { (k) throws(RealmError) in
            if let stored = try rows.get(k, pk.index), Mixed.equal(stored, value) { found = k }
            return found == nil
        }
        return found
    }

    // MARK: Checks of caller values

    /// Whether the type of `value` fits a single-value column.
    static func matches(_ value: Mixed, _ column: ColumnFacts) -> Bool {
        switch (value, column.type) {
        case (.null, _): column.isNullable
        case (.int, .int), (.bool, .bool), (.string, .string), (.binary, .binary), (.timestamp, .timestamp),
            (.float, .float), (.double, .double),
            (.decimal, .decimal), (.objectId, .objectId), (.uuid, .uuid):
            true
        case (_, .mixed): true
        default: false
        }
    }

    private func describe(_ facts: ColumnFacts) -> String {
        "'\(className ?? name).\(column(facts.key)?.name ?? "?")'"
    }

    /// Throws unless `value` may be stored in `column`.
    func check(_ value: Mixed, for column: ColumnFacts) throws(RealmError) {
        if column.isCollection || column.type == .backlink {
            throw RealmError(.typeMismatch, "Property \(describe(column)) is a collection: it cannot be set as a value")
        }
        try checkValue(value, column, nullAllowed: column.isNullable)
    }

    /// Throws unless `value` may be an element of the collection in `column`.
    func checkElement(_ value: Mixed, of column: ColumnFacts, _ shape: CollectionShape, level: Int) throws(RealmError) {
        switch value {
        case .list, .dictionary:
            guard column.type == .mixed else {
                throw RealmError(
                    .typeMismatch, "Property \(describe(column)) holds no collections: only Mixed values do")
            }
            guard shape != .set else {
                throw RealmError(.illegalOperation, "The set \(describe(column)) cannot hold collections")
            }
            guard level < Self.maxNesting else {
                throw RealmError(
                    .limitExceeded, "Max nesting level reached: collections nest at most \(Self.maxNesting) deep")
            }
        default:
            try checkValue(
                value, column, nullAllowed: column.isNullable && !(column.type == .link && shape != .dictionary))
        }
    }

    /// Maximum nesting of collections inside Mixed values.
    static let maxNesting = 100

    private func checkValue(_ value: Mixed, _ column: ColumnFacts, nullAllowed: Bool) throws(RealmError) {
        switch value {
        case .null:
            guard nullAllowed else {
                throw RealmError(.notNullable, "Property \(describe(column)) is required: it cannot be null")
            }
            return
        case .typedLink(let table, let key):
            try checkLink(table, key, for: column)
            return
        case .string(let text):
            guard text.count <= Format.maxStringSize else {
                throw RealmError(
                    .limitExceeded, "A string of \(text.count) bytes is too big for property \(describe(column))")
            }
        case .binary(let bytes):
            guard bytes.count <= Format.maxBlobSize else {
                throw RealmError(
                    .limitExceeded, "Binary data of \(bytes.count) bytes is too big for property \(describe(column))")
            }
        case .timestamp(let timestamp):
            guard timestamp.isValid else {
                throw RealmError(
                    .invalidArgument,
                    "Seconds and nanoseconds of a timestamp must have one sign, and |nanoseconds| < 10⁹")
            }
        case .list, .dictionary:
            guard column.type == .mixed else {
                throw RealmError(
                    .typeMismatch, "Property \(describe(column)) holds no collections: only Mixed values do")
            }
            return
        case .slot, .link:
            throw RealmError(.typeMismatch, "Property \(describe(column)) does not take a value of this type")
        default: break
        }
        guard Self.matches(value, column) else {
            throw RealmError(.typeMismatch, "Property \(describe(column)) does not take a value of this type")
        }
    }

    private func checkLink(_ table: TableKey, _ key: ObjKey, for column: ColumnFacts) throws(RealmError) {
        guard column.type == .link || column.type == .mixed else {
            throw RealmError(.typeMismatch, "Property \(describe(column)) does not take a link")
        }
        guard column.type == .mixed || table == column.oppositeTable else {
            throw RealmError(.typeMismatch, "Property \(describe(column)) links to objects of another class")
        }
        guard let target = try group.unmanagedTable(table) else {
            throw RealmError(.noSuchTable, "The link names a class that does not exist")
        }
        try target.borrow { (target: Table) throws(RealmError) in
            guard !target.isEmbedded else {
                throw RealmError(.illegalOperation, "Property \(describe(column)) cannot link to an embedded object")
            }
            guard target.kind != .asymmetric else {
                throw RealmError(
                    .illegalOperation, "Property \(describe(column)) cannot link to an object of an asymmetric class")
            }
            guard try target.isValid(key) else {
                throw RealmError(
                    .noSuchObject, "The object that property \(describe(column)) should link to does not exist")
            }
        }
    }

    // MARK: Creating

    /// The next object key. Format: logical §4.3, §4.4.
    private func nextKey() throws(RealmError) -> ObjKey {
        while true {
            let key = key(state.sequence)
            state.sequence &+= 1
            if isEmbedded { return key }
            if try !rows.contains(key) { return key }
        }
    }

    private func key(_ seq: UInt64) -> ObjKey {
        if primaryKey != nil { return ObjKey(Int64(bitPattern: seq & 0x7FFF_FFFF_FFFF_FFFF)) }
        // The low byte of the sequence number, then a byte of the file id (0 in a local file), then the other bytes.
        return ObjKey(Int64(bitPattern: (seq & 0xFF | (seq & 0xFFFF_FF00) << 8) & 0x7FFF_FFFF_FFFF_FFFF))
    }

    /// Records that an object was created with the last sequence number.
    @inline(__always) private func noteMade() {
        let seq = state.sequence &- 1
        if let last = madeSequences.last, last.upperBound &+ 1 == seq, last.lowerBound < seq {
            madeSequences[madeSequences.count &- 1] = last.lowerBound...seq
        } else {
            madeSequences.append(seq...seq)
        }
    }

    /// Whether an object was created in this write transaction.
    func isNew(_ object: ObjKey) -> Bool { isIn(madeSequences, object) }

    /// Whether an object has one of these sequence numbers, which ascend.
    func isIn(_ sequences: [ClosedRange<UInt64>], _ object: ObjKey) -> Bool {
        guard let first = sequences.first, object >= key(first.lowerBound) else { return false }
        return sequences.contains { object >= key($0.lowerBound) && object <= key($0.upperBound) }
    }

    /// The object that this write transaction created last; nil if it created none.
    func newestKey() throws(RealmError) -> ObjKey? { madeSequences.last.map { key($0.upperBound) } }

    /// The keys of the objects that this write transaction created; some may not exist any more.
    func newKeys() throws(RealmError) -> [ObjKey] {
        var keys: [ObjKey] = []
        for range in madeSequences { for sequence in range { try keys.add(key(sequence)) } }
        return keys
    }

    /// Creates an object, with a primary key if the class has one. The caller has checked the type of the primary key.
    /// - Returns: the object's key, and whether the object is new. If the primary key exists already, the existing
    ///   object.
    @inline(__always) func createObject(primaryKey value: Mixed? = nil) throws(RealmError) -> (key: ObjKey, isNew: Bool)
    {
        if let rules { return try createObject(primaryKey: value, rules) }
        return try createPlainObject(primaryKey: value)
    }

    /// Creates an object with the values that the rules of the class give to new objects.
    @inline(never) private func createObject(primaryKey given: Mixed?, _ rules: TableRules) throws(RealmError) -> (
        key: ObjKey, isNew: Bool
    ) {
        var value = given
        if let pk = primaryKey {
            if value == nil, let index = rules.automatic.firstIndex(where: { $0.column == pk }) {
                var made = try rules.makeValue(index)
                if try find(primaryKey: made) != nil {
                    try rules.correct(index, self)
                    made = try rules.makeValue(index)
                }
                value = made
            } else if case .int(let integer)? = value {
                rules.note(integer, in: pk)
            }
        }
        if let value, rules.automatic.count > 1 || rules.automatic.first?.column != primaryKey {
            // An object that exists uses up no numbers.
            if !rules.automatic.isEmpty, let found = try find(primaryKey: value) { return (found, false) }
        }
        // First all values: when there is no integer left, no object is made.
        var automatic: [(ColumnFacts, Mixed)] = []
        for i in rules.automatic.indices where rules.automatic[i].column != primaryKey {
            guard let column = facts(rules.automatic[i].column) else { continue }
            automatic.append((column, try rules.makeValue(i)))
        }
        let made = try createPlainObject(primaryKey: value)
        guard made.isNew else { return made }
        for (column, value) in automatic { _ = try set(made.key, column, value) }
        try setInitialValues(made.key, rules)
        return made
    }

    private func setInitialValues(_ key: ObjKey, _ rules: TableRules) throws(RealmError) {
        for (column, initial) in rules.initial where column != primaryKey {
            guard let column = facts(column) else { continue }
            switch initial {
            case .constant(let stored):
                try stored.withMixed { (value) throws(RealmError) in _ = try set(key, column, value) }
            case .now: _ = try set(key, column, .timestamp(AutomaticValues.now()))
            case .newUUID: _ = try set(key, column, .uuid(AutomaticValues.uuid()))
            case .newObjectId: _ = try set(key, column, .objectId(AutomaticValues.objectId()))
            }
        }
    }

    private func createPlainObject(primaryKey value: Mixed?) throws(RealmError) -> (key: ObjKey, isNew: Bool) {
        let pk = primaryKey
        let before = state.sequence
        let key = try nextKey()
        if let pk, let value {
            if let found = try indexes.findOrInsert(value, key, primaryKey: pk.index) {
                state.sequence = before
                return (found, false)
            }
        }
        try indexes.settle()
        guard try rows.insert(key, initial: pk.map { ($0.index, value ?? .null) }) else {
            throw RealmError(.keyAlreadyUsed, "An object with this key exists already")
        }
        indexes.created(key)
        noteMade()
        logSlot.objectCreated(self.key, key, isEmbedded: isEmbedded)
        return (key, true)
    }

    // MARK: Setting

    /// Stores a checked value; false if the object does not exist.
    func set(_ key: ObjKey, _ facts: ColumnFacts, _ value: Mixed) throws(RealmError) -> Bool {
        let value = try store.stable(value)
        let column = facts.key.index
        switch facts.type {
        case .link:
            var target = ObjKey.null
            if case .typedLink(_, let object) = value { target = object }
            return try setLink(key, facts, target)
        case .int, .double, .bool, .float:
            if let rules, case .int(let integer) = value { rules.note(integer, in: facts.key) }
            guard indexes.has(column) else {
                guard try rows.set(key, column, value) else { return false }
                break
            }
            guard let old = try rows.get(key, column) else { return false }
            try indexes.update(facts, key, from: old, to: value)
            guard try rows.set(key, column, value) else { return false }
        case .mixed:
            guard let old = try rows.get(key, column) else { return false }
            switch (old, value) {
            // A collection that replaces a collection of its own type keeps the stored content.
            case (.list, .list), (.dictionary, .dictionary):
                logSlot.valueSet(self.key, key, facts.key)
                return true
            default: break
            }
            if indexes.has(column) { try indexes.update(facts, key, from: old, to: value) }
            try removeLinks(in: old, from: key, facts, cascading: nil)
            _ = try rows.set(key, column, value)
            switch value {
            case .typedLink(let table, let object): try addMixedBacklink(key, facts, table, object)
            case .list, .dictionary: try rows.assignKey(key, column)
            default: break
            }
        default:
            if indexes.has(column) {
                if try indexes.enterFirst(value, key, column) {
                    guard try rows.set(key, column, value) else { return false }
                    break
                }
                guard let old = try rows.get(key, column) else { return false }
                try indexes.update(facts, key, from: old, to: value)
            }
            guard try rows.set(key, column, value) else { return false }
        }
        logSlot.valueSet(self.key, key, facts.key)
        return true
    }

    private func setLink(_ key: ObjKey, _ column: ColumnFacts, _ target: ObjKey) throws(RealmError) -> Bool {
        guard let row = try rows.locateForWriting(key) else { return false }
        var old = ObjKey.null
        if case .link(let object) = try rows.get(row: row, column.key.index) { old = object }
        if old != target {
            try rows.set(row: row, column.key.index, target.isNull ? .null : .link(target))
            try group.unmanagedTable(column.oppositeTable)?.borrow { (other: Table) throws(RealmError) in
                if !old.isNull { try other.removeBacklink(old, column.oppositeColumn, origin: key) }
                if !target.isNull { try other.addBacklink(target, column.oppositeColumn, origin: key) }
                if other.isEmbedded && !old.isNull && !old.isUnresolved { try other.deleteIfOrphan(old) }
            }
        }
        logSlot.valueSet(self.key, key, column.key)
        return true
    }

    /// Creates an object and links to it. An embedded object that was linked before is deleted; an object of a
    /// top-level class remains.
    func setNewTarget(_ key: ObjKey, _ column: ColumnFacts) throws(RealmError) -> ObjKey {
        guard let target = try group.table(column.oppositeTable) else {
            throw .corrupt("link column without its target")
        }
        guard target.primaryKey == nil else {
            throw RealmError(
                .illegalOperation,
                "Class '\(target.className ?? target.name)' has a primary key: a value for it is needed")
        }
        let new = try target.createObject().key
        _ = try setLink(key, column, new)
        return new
    }

    /// Adds `delta` to an integer property. Null and non-integers are errors.
    func addInteger(_ key: ObjKey, _ column: ColumnFacts, _ delta: Int64) throws(RealmError) -> Bool {
        guard !column.isCollection, column.type == .int || column.type == .mixed else {
            throw RealmError(.illegalOperation, "Property \(describe(column)) is not an integer")
        }
        guard let old = try get(key, column) else { return false }
        guard case .int(let value) = old else {
            throw RealmError(.illegalOperation, "Property \(describe(column)) holds no integer to add to")
        }
        guard try set(key, column, .int(value &+ delta)) else { return false }
        logSlot.integerAdded(self.key, key, column.key, delta)
        return true
    }
}
