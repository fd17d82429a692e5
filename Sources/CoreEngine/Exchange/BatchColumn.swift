/// A column of a batch, bound to the property that it fills. It converts, checks and writes the values.
final class BatchColumn {
    let array: BatchArray
    let name: Name
    let facts: ColumnFacts
    unowned(unsafe) let table: Table
    private unowned(unsafe) let batch: Batch

    /// The element values: for a collection the child array, otherwise the column itself.
    private let element: BatchArray

    /// Keys of a dictionary.
    private let names: BatchArray?

    /// The class that the values link to.
    private let target: Table?

    /// One column per property of the embedded objects in this column.
    private let parts: [BatchColumn]

    /// The JSON texts, if the elements are Mixed values as JSON: structures with the one field `json`, or texts marked
    /// as JSON.
    private let json: BatchArray?
    private var text: MixedText

    /// Whether a rule makes a value for new objects.
    private let hasMadeValue: Bool

    init(_ array: BatchArray, _ column: Column, named name: Name, of table: Table, _ batch: Batch) throws(RealmError) {
        guard let facts = table.facts(column.key) else { throw .corrupt("a property without its column") }
        (self.array, self.name, self.facts, self.table, self.batch) = (array, name, facts, table, batch)
        switch facts.shape {
        case nil: (element, names) = (array, nil)
        case .dictionary:
            guard facts.keyType == .string else {
                throw RealmError(.notSupported, "Dictionaries with integer keys cannot be written")
            }
            guard let entries = array.children.first, array.form == .list32 || array.form == .list64,
                entries.form == .structure,
                entries.children.count == 2
            else {
                if array.form == .null {
                    (element, names) = (array, array)
                    break
                }
                throw Self.mismatch(name, "a map")
            }
            (element, names) = (entries.children[1], entries.children[0])
        case .list, .set:
            if array.form == .null {
                (element, names) = (array, nil)
                break
            }
            guard let elements = array.children.first, array.form == .list32 || array.form == .list64 else {
                throw Self.mismatch(name, "lists")
            }
            (element, names) = (elements, nil)
        }
        hasMadeValue = table.rules?.makesInitialValue(facts.key) ?? false
        json = facts.type == .mixed ? Self.json(element) : nil
        text = MixedText(table.group)
        target = facts.type == .link ? try table.group.table(facts.oppositeTable) : nil
        guard let target, target.isEmbedded, element.form != .null else {
            parts = []
            return
        }
        guard element.form == .structure else {
            throw Self.mismatch(name, "structures, because its objects are embedded")
        }
        parts = try batch.bind(element.children, to: target)
    }

    private static func json(_ element: BatchArray) -> BatchArray? {
        if element.form == .structure, element.children.count == 1, element.children[0].name == "json",
            element.children[0].isText
        {
            return element.children[0]
        }
        return element.isJSON && element.isText ? element : nil
    }

    private static func mismatch(_ name: Name, _ wanted: String) -> RealmError {
        RealmError(.typeMismatch, "Column '\(name)' has to be of \(wanted)")
    }

    private var isEmbedded: Bool { target?.isEmbedded ?? false }

    // MARK: Values

    /// Element `i` of a JSON column, parsed into a tree of storable values.
    private func tree(_ json: BatchArray, _ i: Int) throws(RealmError) -> JSONValue {
        guard !element.isNull(i), case .string(let string) = try json.value(json === element ? i : element.field(i))
        else {
            return .null
        }
        let text = Result { () throws(RealmError) in try JSONValue.parse(string) }.mapError { error in
            error.code == .malformedJSON ? RealmError(.invalidArgument, error.message) : error
        }
        let value = try JSONValue.mixed(try text.get()) { (name, id, isKey) throws(RealmError) in
            guard let target = try table.group.table(named: Name(Format.classPrefix.text + name.text)) else {
                throw RealmError(.noSuchTable, "there is no class '\(name)' to link to")
            }
            return try isKey ? object(id, of: target) : found(id, in: target)
        }
        try Realm.check(value)
        return value
    }

    /// Finds an object by its object key.
    private func object(_ id: Mixed, of target: Table) throws(RealmError) -> Mixed {
        guard case .int(let raw) = id, try target.isValid(ObjKey(raw)) else {
            throw RealmError(.noSuchObject, "no object of class '\(target.className ?? target.name)' has this key")
        }
        return .typedLink(target.key, ObjKey(raw))
    }

    /// Element `i` as a value of the property. A link value is looked up by the primary key of its object.
    @inline(__always) private func converted(_ i: Int) throws(RealmError) -> Mixed {
        let value = try element.value(i)
        switch (value, facts.type) {
        case (.int, .int), (.string, .string), (.double, .double), (.null, _): return value
        default: return try converted(value)
        }
    }

    @inline(never) private func converted(_ value: Mixed) throws(RealmError) -> Mixed {
        switch (facts.type, value) {
        case (.mixed, .double(let number)): return .number(number)
        case (.mixed, .float(let float)): return .number(float)
        case (.mixed, _), (.bool, .bool), (.float, .float), (.binary, .binary), (.timestamp, .timestamp),
            (.decimal, .decimal):
            return value
        case (.link, _): return try linked(value)
        case (.double, .float(let float)): return .double(Double(float))
        case (.double, .int(let i)): if let number = Double(exactly: i) { return .double(number) }
        case (.float, .double(let number)):
            if let float = Float(exactly: number) ?? (number.isNaN ? .nan : nil) { return .float(float) }
        case (.float, .int(let i)): if let float = Float(exactly: i) { return .float(float) }
        case (.decimal, .int(let i)): return .decimal(Decimal128(i))
        case (.decimal, .binary(let bytes)) where bytes.count == 16:
            if let start = bytes.baseAddress {
                return .decimal(
                    Decimal128(
                        low: start.loadUnaligned(as: UInt64.self),
                        high: start.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
                    ))
            }
        case (.objectId, .binary(let bytes)) where bytes.count == 12:
            if let start = bytes.baseAddress { return .objectId(ObjectId(bytes: start)) }
        case (.uuid, .binary(let bytes)) where bytes.count == 16:
            if let start = bytes.baseAddress { return .uuid(UUIDValue(bytes: start)) }
        default: break
        }
        switch (facts.type, value) {
        case (.double, .int(let i)), (.float, .int(let i)):
            throw RealmError(.typeMismatch, "\(i) has no exact value of type \(facts.type)")
        case (.float, .double(let number)):
            throw RealmError(.typeMismatch, "\(number) has no exact value of type float")
        default: throw RealmError(.typeMismatch, "a value of another type than the property's, which is \(facts.type)")
        }
    }

    private func linked(_ value: Mixed) throws(RealmError) -> Mixed {
        guard let target, !target.isEmbedded else {
            throw RealmError(.typeMismatch, "a value where an embedded object is needed")
        }
        if element.isLink {
            guard case .int(let raw) = value else {
                throw RealmError(.typeMismatch, "a key of an object is an integer")
            }
            return .typedLink(target.key, ObjKey(raw))
        }
        // An object without a primary key can be named only by its object key.
        if target.primaryKey == nil, case .int(let raw) = value { return .typedLink(target.key, ObjKey(raw)) }
        return try found(value, in: target)
    }

    /// Finds an object by its primary key.
    private func found(_ element: Mixed, in target: Table) throws(RealmError) -> Mixed {
        guard let pk = target.primaryKey, let key = target.facts(pk) else {
            throw RealmError(
                .typeMismatch,
                "objects of class '\(target.className ?? target.name)' have no primary key: integers, their object keys, name them"
            )
        }
        let value = Self.asPrimaryKey(element, key)
        guard Table.matches(value, key) else {
            throw RealmError(.typeMismatch, "a value of another type than the primary key of the object to link to")
        }
        if let found = try target.find(primaryKey: value) { return .typedLink(target.key, found) }
        if target === batch.table, let row = batch.row(of: value) { throw BatchColumn.later(row) }
        throw RealmError(.noSuchObject, "no object of class '\(target.className ?? target.name)' has this primary key")
    }

    static func asPrimaryKey(_ value: Mixed, _ key: ColumnFacts) -> Mixed {
        guard case .binary(let bytes) = value, let start = bytes.baseAddress else { return value }
        if key.type == .objectId, bytes.count == 12 { return .objectId(ObjectId(bytes: start)) }
        if key.type == .uuid, bytes.count == 16 { return .uuid(UUIDValue(bytes: start)) }
        return value
    }

    /// The primary key of row `i`.
    func primaryKey(_ i: Int) throws(RealmError) -> Mixed { try converted(i) }

    private static func later(_ row: Int) -> RealmError {
        RealmError(.keyAlreadyUsed, "the object of row \(row), which is made by this call")
    }

    /// Whether the error means that the link leads to an object that this batch creates.
    private static func isLater(_ error: RealmError) -> Bool { error.code == .keyAlreadyUsed }

    // MARK: Checking

    /// Throws unless row `i` can be written. Changes nothing.
    ///
    /// - Returns: whether the row links to objects that the batch creates.
    func check(_ i: Int) throws(RealmError) -> Bool {
        guard let shape = facts.shape else { return try checkElement(i, nil) }
        if array.isNull(i) { return false }
        var isLater = false
        let isIndexed = facts.type == .string && shape == .list && table.indexes.has(facts.key.index)
        for j in array.elements(i) {
            let at = shape == .dictionary ? array.children[0].field(j) : j
            if let names {
                guard case .string(let name) = try names.value(at) else {
                    throw RealmError(.invalidDictionaryKey, "a key of a dictionary is a text")
                }
                guard isUTF8(name) else { throw Self.notText() }
                try Realm.checkKey(name)
            }
            if try checkElement(at, shape) { isLater = true }
            if isIndexed, case .string(let word) = try element.value(at) { try Table.checkWord(word) }
        }
        return isLater
    }

    private static func notText() -> RealmError { RealmError(.invalidArgument, "a text that is not valid UTF-8") }

    @inline(__always) private func checkElement(_ i: Int, _ shape: CollectionShape?) throws(RealmError) -> Bool {
        if isEmbedded { return try checkParts(i, shape) }
        if let json { return try checkTree(json, i, shape) }
        let value: Mixed
        do throws(RealmError) { value = try converted(i) } catch {
            guard Self.isLater(error) else { throw error }
            return true
        }
        switch value {
        case .int where facts.type == .int: return false
        case .string(let text): if !isUTF8(text) { throw Self.notText() }
        default: break
        }
        try Unmanaged.passUnretained(table).borrow { (table: Table) throws(RealmError) in
            if let shape {
                try table.checkElement(value, of: facts, shape, level: 1)
            } else {
                try table.check(value, for: facts)
            }
        }
        return false
    }

    private func checkTree(_ json: BatchArray, _ i: Int, _ shape: CollectionShape?) throws(RealmError) -> Bool {
        do throws(RealmError) {
            switch try tree(json, i) {
            case .array, .object: if shape == .set { throw RealmError(.illegalOperation, "a collection inside a set") }
            default: break
            }
        } catch {
            guard Self.isLater(error) else { throw error }
            return true
        }
        return false
    }

    private func checkParts(_ i: Int, _ shape: CollectionShape?) throws(RealmError) -> Bool {
        if element.isNull(i) {
            guard shape == nil || shape == .dictionary else {
                throw RealmError(.notNullable, "an embedded object is missing in a list")
            }
            return false
        }
        var isLater = false
        for part in parts { if try part.check(element.field(i)) { isLater = true } }
        return isLater
    }

    /// Whether every value of this column is acceptable, so that the check can be skipped.
    var isPlain: Bool {
        guard facts.shape == nil, array.hasNoNulls else { return false }
        switch (facts.type, array.form) {
        case (.int, .int8), (.int, .int16), (.int, .int32), (.int, .int64), (.int, .uint8), (.int, .uint16),
            (.int, .uint32), (.bool, .bool),
            (.double, .double), (.double, .float), (.float, .float):
            return !facts.isPrimaryKey
        default: return false
        }
    }

    // MARK: Writing

    /// Writes row `i` into an object, without repeating the checks.
    @inline(__always) func write(_ i: Int, _ object: ObjKey, isNew: Bool, _ mode: Batch.Mode) throws(RealmError) {
        if facts.shape != nil { return try writeCollection(i, object, isNew: isNew, mode) }
        if isEmbedded { return try writeEmbedded(i, object, isNew: isNew, mode) }
        if let json { return try writeTree(json, i, object, isNew: isNew, mode) }
        let value = try converted(i)
        if isNew {
            // A given null counts instead of the value that a rule makes.
            if value.isNull, !hasMadeValue { return }
        } else if mode == .modified, let old = try table.get(object, facts), isSame(old, value) {
            return
        }
        let done = try Unmanaged.passUnretained(table).borrow { (table: Table) throws(RealmError) in
            try table.set(object, facts, value)
        }
        guard done else { throw .corrupt("an object that is gone while it is filled") }
    }

    private func writeTree(_ json: BatchArray, _ i: Int, _ object: ObjKey, isNew: Bool, _ mode: Batch.Mode)
        throws(RealmError)
    {
        if !isNew, mode == .modified, let old = try table.get(object, facts), try holds(json, i, old) { return }
        let value = try tree(json, i)
        if case .null = value, isNew, !hasMadeValue { return }
        try batch.realm.put(value, table.key, object, facts.key)
    }

    /// Whether the export of a stored value equals this JSON text.
    private func holds(_ json: BatchArray, _ i: Int, _ old: Mixed) throws(RealmError) -> Bool {
        guard !element.isNull(i), case .string(let wanted) = try json.value(json === element ? i : element.field(i))
        else { return old.isNull }
        var isSame = false
        try text.write(old) { (b) in isSame = b.elementsEqual(wanted) }
        return isSame
    }

    private func holds(_ json: BatchArray, _ elements: Range<Int>, _ list: ElementList, inOrder: Bool)
        throws(RealmError) -> Bool
    {
        guard elements.count == list.count else { return false }
        if inOrder {
            for (position, j) in elements.enumerated() {
                guard try holds(json, j, try list.get(position)) else { return false }
            }
            return true
        }
        var texts = Set<[UInt8]>()
        for position in 0..<list.count {
            let value = try list.get(position)
            if value.isNull { texts.insert([]) } else { try text.write(value) { (b) in texts.insert(Array(b)) } }
        }
        for j in elements {
            let wanted = try json.value(json === element ? j : element.field(j))
            guard texts.contains(element.isNull(j) ? [] : wanted.bytes) else { return false }
        }
        return true
    }

    private func isSame(_ a: Mixed, _ b: Mixed) -> Bool {
        if case .link(let key) = a, case .typedLink(_, let other) = b { return key == other }
        return Mixed.same(a, b)
    }

    private func writeParts(_ i: Int, _ object: ObjKey, isNew: Bool, _ mode: Batch.Mode) throws(RealmError) {
        for part in parts { try part.write(element.field(i), object, isNew: isNew, mode) }
    }

    private func writeEmbedded(_ i: Int, _ object: ObjKey, isNew: Bool, _ mode: Batch.Mode) throws(RealmError) {
        var old = ObjKey.null
        if !isNew, case .link(let key)? = try table.get(object, facts) { old = key }
        if element.isNull(i) {
            if !old.isNull { _ = try table.set(object, facts, .null) }
        } else if mode == .modified, !old.isNull {
            try writeParts(i, old, isNew: false, mode)
        } else {
            try writeParts(i, try table.setNewTarget(object, facts), isNew: true, mode)
        }
    }

    private func writeCollection(_ i: Int, _ object: ObjKey, isNew: Bool, _ mode: Batch.Mode) throws(RealmError) {
        guard let shape = facts.shape else { return }
        let elements = array.isNull(i) ? 0..<0 : array.elements(i)
        if isNew, elements.isEmpty { return }
        if !isNew, mode == .modified, try holds(elements, object, shape) { return }
        let path = CollectionPath(table: table.key, object: object, column: facts.key)
        if let json { return try writeTrees(json, elements, path, shape, isNew: isNew) }
        let made: [ObjKey] = try table.edit(path, as: shape) { (editor) throws(RealmError) in
            if !isNew { try editor.clear() }
            var made: [ObjKey] = []
            for (position, j) in elements.enumerated() {
                let at = shape == .dictionary ? array.children[0].field(j) : j
                var value = Mixed.null
                if !isEmbedded {
                    value = try converted(at)
                } else if !element.isNull(at) {
                    made.append(try editor.createTarget())
                    value = .typedLink(facts.oppositeTable, made[made.count - 1])
                } else {
                    made.append(.null)
                }
                switch shape {
                case .list: try editor.insert(position, value)
                case .set: _ = try editor.insertUnique(value)
                case .dictionary:
                    if case .string(let name)? = try names?.value(at) { _ = try editor.setValue(value, for: name) }
                }
            }
            return made
        }
        for (key, j) in zip(made, elements) where !key.isNull {
            try writeParts(shape == .dictionary ? array.children[0].field(j) : j, key, isNew: true, mode)
        }
    }

    private func writeTrees(
        _ json: BatchArray, _ elements: Range<Int>, _ path: CollectionPath, _ shape: CollectionShape, isNew: Bool
    )
        throws(RealmError)
    {
        let realm = batch.realm
        if !isNew { try realm.clear(path, shape) }
        switch shape {
        case .list:
            var all: [JSONValue] = []
            for j in elements { all.append(try tree(json, j)) }
            try realm.fill(path, .array(all))
        case .set:
            for j in elements {
                try Realm.scalar(try tree(json, j)) { (v) throws(RealmError) in _ = try realm.insertIntoSet(v, path) }
            }
        case .dictionary:
            var all: [(name: [UInt8], value: JSONValue)] = []
            for j in elements {
                let at = array.children[0].field(j)
                if case .string(let name)? = try names?.value(at) { all.append((Array(name), try tree(json, at))) }
            }
            try realm.fill(path, .object(all))
        }
    }

    /// Whether a collection holds exactly these elements. Always false for embedded objects, which are created anew.
    private func holds(_ elements: Range<Int>, _ object: ObjKey, _ shape: CollectionShape) throws(RealmError) -> Bool {
        if isEmbedded { return false }
        switch try table.group.resolve(CollectionPath(table: table.key, object: object, column: facts.key)) {
        case .list(let list)?:
            guard shape == .set || list.count == elements.count else { return false }
            if let json { return try holds(json, elements, list, inOrder: shape == .list) }
            var found = Set<Int>()
            for (position, j) in elements.enumerated() {
                let value = try converted(j)
                if shape == .list {
                    guard isSame(try list.get(position), value) else { return false }
                } else {
                    guard let at = try list.find(value) else { return false }
                    found.insert(at)
                }
            }
            return shape == .list || found.count == list.count
        case .dictionary(let entries)?:
            guard entries.count == elements.count else { return false }
            for j in elements {
                let at = array.children[0].field(j)
                guard case .string(let name)? = try names?.value(at), let found = try entries.find(name) else {
                    return false
                }
                if let json {
                    guard try holds(json, at, try entries.value(found)) else { return false }
                } else {
                    guard isSame(try entries.value(found), try converted(at)) else { return false }
                }
            }
            return true
        case nil: return elements.isEmpty
        }
    }
}

extension Mixed {
    /// A copy of the bytes of a text; empty for other values.
    fileprivate var bytes: [UInt8] { if case .string(let text) = self { Array(text) } else { [] } }
}
