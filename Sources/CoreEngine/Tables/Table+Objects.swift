/// Objects: finding, creating, reading and setting single values.
extension Table {
    /// Whether a live object has this key.
    @inline(__always) func isValid(_ key: ObjKey) throws(RealmError) -> Bool {
        key.raw >= 0 ? try rows.contains(key) : false
    }

    /// Value of a column; nil when there is no such object. Links to objects that do not exist yet (tombstones) read as
    /// null.
    @inline(__always) func get(_ key: ObjKey, _ column: ColumnFacts) throws(RealmError) -> Mixed? {
        guard let v = try rows.get(key, column.key.index) else { return nil }
        if case .link(let k) = v, k.isUnresolved { return .null }
        if case .typedLink(_, let k) = v, k.isUnresolved { return .null }
        return v
    }

    // MARK: Primary keys

    /// The object whose primary key is `value`. Null and values of another type are simply not found.
    func find(primaryKey value: Mixed) throws(RealmError) -> ObjKey? {
        guard let pk = primaryKey, let c = facts(pk), Self.matches(value, c) else { return nil }
        if let index = indexes.primaryKeyIndex(pk.index) { return try index.find(value) }
        // Formats 20 and 21 keep no index on primary keys.
        var found: ObjKey?
        try rows.forEachKey { (k) throws(RealmError) in
            if let v = try rows.get(k, pk.index), Mixed.equal(v, value) { found = k }
            return found == nil
        }
        return found
    }

    // MARK: Checks of caller values

    /// Whether `value` may stand in a single-value column as far as its type goes.
    static func matches(_ value: Mixed, _ c: ColumnFacts) -> Bool {
        switch (value, c.type) {
        case (.null, _): c.isNullable
        case (.int, .int), (.bool, .bool), (.string, .string), (.binary, .binary), (.timestamp, .timestamp),
            (.float, .float), (.double, .double),
            (.decimal, .decimal), (.objectId, .objectId), (.uuid, .uuid):
            true
        case (_, .mixed): true
        default: false
        }
    }

    private func describe(_ c: ColumnFacts) -> String {
        "'\(className ?? name).\(column(c.key)?.name ?? "?")'"
    }

    /// Throws unless `value` may be stored in column `c`.
    func check(_ value: Mixed, for c: ColumnFacts) throws(RealmError) {
        if c.isCollection || c.type == .backlink {
            throw RealmError(.typeMismatch, "Property \(describe(c)) is a collection: it cannot be set as a value")
        }
        try checkValue(value, c, nullAllowed: c.isNullable)
    }

    /// Throws unless `value` may be an element of the collection in column `c`.
    func checkElement(_ value: Mixed, of c: ColumnFacts, _ shape: CollectionShape, level: Int) throws(RealmError) {
        switch value {
        case .list, .dictionary:
            guard c.type == .mixed else {
                throw RealmError(.typeMismatch, "Property \(describe(c)) holds no collections: only Mixed values do")
            }
            guard shape != .set else {
                throw RealmError(.illegalOperation, "The set \(describe(c)) cannot hold collections")
            }
            guard level < Self.maxNesting else {
                throw RealmError(
                    .limitExceeded, "Max nesting level reached: collections nest at most \(Self.maxNesting) deep")
            }
        default: try checkValue(value, c, nullAllowed: c.isNullable && !(c.type == .link && shape != .dictionary))
        }
    }

    /// Collections inside Mixed values nest this deep.
    static let maxNesting = 100

    private func checkValue(_ value: Mixed, _ c: ColumnFacts, nullAllowed: Bool) throws(RealmError) {
        switch value {
        case .null:
            guard nullAllowed else {
                throw RealmError(.notNullable, "Property \(describe(c)) is required: it cannot be null")
            }
            return
        case .typedLink(let t, let k):
            try checkLink(t, k, for: c)
            return
        case .string(let b):
            guard b.count <= Format.maxStringSize else {
                throw RealmError(.limitExceeded, "A string of \(b.count) bytes is too big for property \(describe(c))")
            }
        case .binary(let b):
            guard b.count <= Format.maxBlobSize else {
                throw RealmError(
                    .limitExceeded, "Binary data of \(b.count) bytes is too big for property \(describe(c))")
            }
        case .timestamp(let t):
            guard t.isValid else {
                throw RealmError(
                    .invalidArgument,
                    "Seconds and nanoseconds of a timestamp must have one sign, and |nanoseconds| < 10⁹")
            }
        case .list, .dictionary:
            guard c.type == .mixed else {
                throw RealmError(.typeMismatch, "Property \(describe(c)) holds no collections: only Mixed values do")
            }
            return
        case .slot, .link: throw RealmError(.typeMismatch, "Property \(describe(c)) does not take a value of this type")
        default: break
        }
        guard Self.matches(value, c) else {
            throw RealmError(.typeMismatch, "Property \(describe(c)) does not take a value of this type")
        }
    }

    private func checkLink(_ t: TableKey, _ k: ObjKey, for c: ColumnFacts) throws(RealmError) {
        guard c.type == .link || c.type == .mixed else {
            throw RealmError(.typeMismatch, "Property \(describe(c)) does not take a link")
        }
        guard c.type == .mixed || t == c.oppositeTable else {
            throw RealmError(.typeMismatch, "Property \(describe(c)) links to objects of another class")
        }
        guard let target = try group.unmanagedTable(t) else {
            throw RealmError(.noSuchTable, "The link names a class that does not exist")
        }
        try target.borrow { (target: Table) throws(RealmError) in
            guard !target.isEmbedded else {
                throw RealmError(.illegalOperation, "Property \(describe(c)) cannot link to an embedded object")
            }
            guard target.kind != .asymmetric else {
                throw RealmError(
                    .illegalOperation, "Property \(describe(c)) cannot link to an object of an asymmetric class")
            }
            guard try target.isValid(k) else {
                throw RealmError(.noSuchObject, "The object that property \(describe(c)) should link to does not exist")
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
        // The low byte of the sequence, then a byte of file id (0 in a local file), then the rest.
        return ObjKey(Int64(bitPattern: (seq & 0xFF | (seq & 0xFFFF_FF00) << 8) & 0x7FFF_FFFF_FFFF_FFFF))
    }

    /// Notes that an object was made with the sequence number before the next one.
    @inline(__always) private func noteMade() {
        let seq = state.sequence &- 1
        if let last = madeSequences.last, last.upperBound &+ 1 == seq, last.lowerBound < seq {
            madeSequences[madeSequences.count &- 1] = last.lowerBound...seq
        } else {
            madeSequences.append(seq...seq)
        }
    }

    /// Whether an object was made in this write.
    func isNew(_ object: ObjKey) -> Bool {
        guard let first = madeSequences.first, object >= key(first.lowerBound) else { return false }
        return madeSequences.contains { object >= key($0.lowerBound) && object <= key($0.upperBound) }
    }

    /// A new object, with its primary key when the class has one. The caller has checked the key's type.
    /// - Returns: the object's key, and whether it is new: with a primary key that exists, that object.
    func createObject(primaryKey value: Mixed? = nil) throws(RealmError) -> (key: ObjKey, isNew: Bool) {
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

    /// Stores a checked value; false when there is no such object.
    func set(_ key: ObjKey, _ c: ColumnFacts, _ value: Mixed) throws(RealmError) -> Bool {
        let value = try store.stable(value)
        let column = c.key.index
        switch c.type {
        case .link:
            var target = ObjKey.null
            if case .typedLink(_, let k) = value { target = k }
            return try setLink(key, c, target)
        case .int, .double, .bool, .float:
            guard indexes.has(column) else {
                guard try rows.set(key, column, value) else { return false }
                break
            }
            guard let old = try rows.get(key, column) else { return false }
            try indexes.update(c, key, from: old, to: value)
            guard try rows.set(key, column, value) else { return false }
        case .mixed:
            guard let old = try rows.get(key, column) else { return false }
            switch (old, value) {
            // A collection over one of its own type keeps what is there.
            case (.list, .list), (.dictionary, .dictionary):
                logSlot.valueSet(self.key, key, c.key)
                return true
            default: break
            }
            if indexes.has(column) { try indexes.update(c, key, from: old, to: value) }
            try removeLinks(in: old, from: key, c, cascading: nil)
            _ = try rows.set(key, column, value)
            switch value {
            case .typedLink(let t, let k): try addMixedBacklink(key, c, t, k)
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
                try indexes.update(c, key, from: old, to: value)
            }
            guard try rows.set(key, column, value) else { return false }
        }
        logSlot.valueSet(self.key, key, c.key)
        return true
    }

    private func setLink(_ key: ObjKey, _ c: ColumnFacts, _ target: ObjKey) throws(RealmError) -> Bool {
        guard let row = try rows.locateForWriting(key) else { return false }
        var old = ObjKey.null
        if case .link(let k) = try rows.get(row: row, c.key.index) { old = k }
        if old != target {
            try rows.set(row: row, c.key.index, target.isNull ? .null : .link(target))
            try group.unmanagedTable(c.oppositeTable)?.borrow { (other: Table) throws(RealmError) in
                if !old.isNull { try other.removeBacklink(old, c.oppositeColumn, origin: key) }
                if !target.isNull { try other.addBacklink(target, c.oppositeColumn, origin: key) }
                if other.isEmbedded && !old.isNull && !old.isUnresolved { try other.deleteIfOrphan(old) }
            }
        }
        logSlot.valueSet(self.key, key, c.key)
        return true
    }

    /// A new object in a link property. An embedded one that stood there goes; on a link to a top-level class the old
    /// one stays.
    func setNewTarget(_ key: ObjKey, _ c: ColumnFacts) throws(RealmError) -> ObjKey {
        guard let target = try group.table(c.oppositeTable) else { throw .corrupt("link column without its target") }
        guard target.primaryKey == nil else {
            throw RealmError(
                .illegalOperation,
                "Class '\(target.className ?? target.name)' has a primary key: a value for it is needed")
        }
        let new = try target.createObject().key
        _ = try setLink(key, c, new)
        return new
    }

    /// Adds to an integer property without reading it through the caller. Null and non-integers are errors.
    func addInteger(_ key: ObjKey, _ c: ColumnFacts, _ delta: Int64) throws(RealmError) -> Bool {
        guard !c.isCollection, c.type == .int || c.type == .mixed else {
            throw RealmError(.illegalOperation, "Property \(describe(c)) is not an integer")
        }
        guard let old = try get(key, c) else { return false }
        guard case .int(let v) = old else {
            throw RealmError(.illegalOperation, "Property \(describe(c)) holds no integer to add to")
        }
        return try set(key, c, .int(v &+ delta))
    }
}
