/// Many objects of a class, read from one structure array. The columns are bound to properties, then all rows are
/// checked, then all rows are written.
///
/// Promise
/// 1. Nothing is changed until all rows are checked: a refused batch leaves the transaction unchanged.
/// 2. The objects and the history are the same as after single calls in the order of the rows. One exception: links to
///    later objects of the same batch are set after all objects exist.
/// 3. An error for a refused batch names the row and the property.
package final class Batch {
    /// What to do when an object with the primary key of a row already exists. Numbers of the C API.
    package enum Mode: UInt32 {
        /// Refuse the batch.
        case error = 0
        /// Write only the values that differ.
        case modified = 1
        /// Write all values.
        case all = 2
    }

    let table: Table
    let realm: Realm
    private let schema: Schema
    private var columns: [BatchColumn] = []
    private var primaryKey: BatchColumn?
    private let count: Int

    /// The row and property being checked; the caller receives them when the batch is refused.
    private var place = BatchFault()

    /// Rows by primary key. Filled when a link first needs them.
    private var rows: [BatchKey: Int]?

    /// For each column, the first row that links to an object of this batch. That row and all later rows are written
    /// after all objects exist, because a later row may belong to the same object.
    private var waiting: [Int] = []

    init(
        _ table: Table, _ realm: Realm, _ fields: UnsafePointer<ArrowSchema>, _ array: UnsafePointer<ArrowArray>,
        _ fault: inout BatchFault
    ) throws(RealmError) {
        (self.table, self.realm, schema) = (table, realm, realm.schema)
        guard fields.pointee.release != nil, array.pointee.release != nil else {
            throw RealmError(.invalidArgument, "The schema or the array was released")
        }
        let length = array.pointee.length
        guard length >= 0, length <= 1 << 32 else {
            throw RealmError(.invalidArgument, "The length of the array is impossible: \(length)")
        }
        count = Int(length)
        let whole = try BatchArray(fields, array, count: count)
        guard whole.form == .structure else {
            throw RealmError(.invalidArgument, "The array is not one of structures, a field for each property")
        }
        do throws(RealmError) { try bindAll(whole) } catch {
            fault = place
            throw error
        }
    }

    private func bindAll(_ whole: BatchArray) throws(RealmError) {
        for i in 0..<count where whole.isNull(i) {
            place.row = i
            throw RealmError(.invalidArgument, "Row \(i) is null")
        }
        let first = whole.field(0)
        columns = try bind(whole.children, to: table)
        start = first
        primaryKey = columns.first { $0.facts.isPrimaryKey }
        let makesKeys = table.rules?.automatic.contains { $0.column == table.primaryKey } ?? false
        guard table.primaryKey == nil || primaryKey != nil || makesKeys else {
            throw RealmError(
                .missingPrimaryKey,
                "Class '\(table.className ?? table.name)' has a primary key: a column for it is needed")
        }
        columns.removeAll { $0.facts.isPrimaryKey }
    }

    /// Index of the first row in the columns.
    private var start = 0

    /// Finds the property of each column, first by public name, then by stored name.
    func bind(_ arrays: [BatchArray], to table: Table) throws(RealmError) -> [BatchColumn] {
        let properties = schema.index(of: table.key).map { schema.classes[$0].properties } ?? []
        var all: [BatchColumn] = [], bound = Set<ColKey>()
        for array in arrays {
            let known =
                properties.first { !$0.publicName.isEmpty && $0.publicName == array.name }
                ?? properties.first { $0.name == array.name }
            let found = known.flatMap { table.column($0.key) } ?? table.column(named: array.name)
            guard let column = found, !column.isBacklink else {
                throw RealmError(
                    .invalidProperty, "Class '\(table.className ?? table.name)' has no property '\(array.name)'")
            }
            place.property = column.key
            guard bound.insert(column.key).inserted else {
                throw RealmError(.invalidProperty, "Two columns are called '\(array.name)'")
            }
            all.append(try BatchColumn(array, column, named: array.name, of: table, self))
        }
        place.property = .null
        return all
    }

    // MARK: Checking

    func check(_ mode: Mode, _ fault: inout BatchFault) throws(RealmError) {
        do throws(RealmError) {
            waiting = columns.map { _ in .max }
            if let primaryKey { try checkKeys(primaryKey, mode) }
            for index in columns.indices where !columns[index].isPlain { try check(column: index) }
        } catch {
            fault = place
            let name = place.name.isEmpty ? "" : ", property '\(table.className ?? table.name).\(place.name)'"
            throw RealmError(error.code, "Row \(place.row)\(name): \(error.message)", path: error.path)
        }
    }

    private func check(column index: Int) throws(RealmError) {
        let column = columns[index]
        (place.property, place.name) = (column.facts.key, column.name)
        for row in 0..<count {
            place.row = row
            if try column.check(start &+ row) { waiting[index] = min(waiting[index], row) }
        }
    }

    private func checkKeys(_ column: BatchColumn, _ mode: Mode) throws(RealmError) {
        (place.property, place.name) = (column.facts.key, column.name)
        let mayExist = mode == .error ? try table.count() > 0 : false
        // Opened once; lookups do not change the index.
        let index = table.primaryKeys(column.facts.key)
        var previous: Int64?, ascending = true
        var seen = Set<Int64>(), others = Set<BatchKey>()
        for row in 0..<count {
            place.row = row
            let value = try column.primaryKey(start &+ row)
            _ = try column.check(start &+ row)
            guard mode == .error else { continue }
            if mayExist {
                let found = if let index { try index.find(value) } else { try table.find(primaryKey: value) }
                guard found == nil else {
                    throw RealmError(.objectAlreadyExists, "an object with this primary key exists already")
                }
            }
            let isNew: Bool
            if case .int(let i) = value {
                // Strictly ascending keys need no set.
                if ascending, previous.map({ $0 < i }) ?? true {
                    isNew = true
                } else {
                    if ascending {
                        ascending = false
                        try CMemory.expect(count, each: 20)
                        seen.reserveCapacity(count)
                        for earlier in 0..<row {
                            if case .int(let number) = try column.primaryKey(start &+ earlier) { seen.insert(number) }
                        }
                    }
                    isNew = seen.insert(i).inserted
                }
                previous = i
            } else {
                isNew = others.insert(BatchKey(value)).inserted
            }
            guard isNew else {
                throw RealmError(.objectAlreadyExists, "an earlier row of the batch has this primary key")
            }
        }
    }

    /// The row with a primary key.
    func row(of value: Mixed) -> Int? {
        guard let primaryKey else { return nil }
        if rows == nil {
            var all: [BatchKey: Int] = [:]
            all.reserveCapacity(count)
            for row in 0..<count {
                if let value = try? primaryKey.primaryKey(start + row) { all[BatchKey(value)] = row }
            }
            rows = all
        }
        return rows?[BatchKey(value)]
    }

    // MARK: Writing

    /// - Parameter keys: receives the object key of each row.
    /// - Returns: the number of new objects.
    func write(_ mode: Mode, keys: UnsafeMutablePointer<Int64>?) throws(RealmError) -> Int {
        var created = 0, made: [(object: ObjKey, isNew: Bool)] = []
        let anyWaits = waiting.contains { $0 < count }
        // Unmanaged references, so that no reference count changes per row and value.
        let bound = columns.map { Unmanaged.passUnretained($0) }, waiting = self.waiting
        let primaryKey = self.primaryKey.map { Unmanaged.passUnretained($0) }
        try Unmanaged.passUnretained(table).borrow { (table: Table) throws(RealmError) in
            for row in 0..<count {
                let id = try primaryKey?.borrow { (column: BatchColumn) throws(RealmError) in
                    try column.primaryKey(start &+ row)
                }
                let (key, isNew) = try table.createObject(primaryKey: id)
                if isNew { created += 1 }
                keys?[row] = key.raw
                if anyWaits { made.append((key, isNew)) }
                for index in bound.indices where row < waiting[index] {
                    try bound[index].borrow { (column: BatchColumn) throws(RealmError) in
                        try column.write(start &+ row, key, isNew: isNew, mode)
                    }
                }
            }
        }
        if anyWaits {
            for row in 0..<count {
                for index in columns.indices where row >= waiting[index] {
                    try columns[index].write(start &+ row, made[row].object, isNew: made[row].isNew, mode)
                }
            }
        }
        return created
    }
}

/// Where a batch was refused.
package struct BatchFault {
    /// −1 if the error concerns no single row.
    package fileprivate(set) var row = -1

    /// `ColKey.null` if the error concerns no single property.
    package fileprivate(set) var property = ColKey.null
    fileprivate var name: Name = ""

    package init() {}
}

/// A primary key as a set element.
struct BatchKey: Hashable {
    private let kind: UInt8
    private let bytes: [UInt8]

    init(_ value: Mixed) {
        switch value {
        case .int(let i): (kind, bytes) = (1, withUnsafeBytes(of: i) { Array($0) })
        case .string(let text): (kind, bytes) = (2, Array(text))
        case .objectId(let id): (kind, bytes) = (3, Array(id.description.utf8))
        case .uuid(let id): (kind, bytes) = (4, Array(id.description.utf8))
        default: (kind, bytes) = (0, [])
        }
    }
}

extension Realm {
    /// Creates objects from the rows of a structure array, or updates the objects whose primary keys already exist.
    ///
    /// - Parameters:
    ///   - schema, rows: structs of the Arrow C data interface; the caller keeps ownership.
    ///   - keys: receives the object key of each row.
    /// - Returns: the number of new objects.
    package func createBatch(
        _ key: TableKey, _ schema: UnsafeRawPointer, _ rows: UnsafeRawPointer, _ mode: Batch.Mode,
        keys: UnsafeMutablePointer<Int64>?,
        _ fault: inout BatchFault
    ) throws(RealmError) -> Int {
        let owner = try table(key)
        guard !owner.isEmbedded else {
            throw RealmError(
                .illegalOperation,
                "Embedded objects cannot be created on their own: class '\(owner.className ?? owner.name)'")
        }
        try verifyWriting()
        let batch = try Batch(
            owner, self, schema.assumingMemoryBound(to: ArrowSchema.self),
            rows.assumingMemoryBound(to: ArrowArray.self),
            &fault)
        try batch.check(mode, &fault)
        return try changing { () throws(RealmError) in try batch.write(mode, keys: keys) }
    }
}
