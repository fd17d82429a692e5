/// The groups as columns, built as arrays of at most `mostRows` groups.
final class GroupStream: ArrowStream {
    private static let mostRows = 65_536
    private let root: ColumnBuilder
    private var arrays: [ArrowArray] = []
    private var nextArray = 0

    fileprivate init(_ query: GroupQuery, _ rows: [ObjKey], _ group: Group) throws(RealmError) {
        var columns: [Output] = []
        for column in query.columns { columns.append(try Output(column.name, column.values, rows, group)) }
        root = ColumnBuilder(
            ColumnField(name: "", kind: .structure, isNullable: false, children: columns.map(\.builder.field)),
            children: columns.map(\.builder))
        super.init()
        var first = 0
        repeat {
            let part = rows[first..<min(first + Self.mostRows, rows.count)]
            try root.prepare(part.count)
            for column in columns { for row in part { try column.append(Int(row.raw), group) } }
            try root.appendWhole(part.count)
            var array = ArrowArray()
            try withUnsafeMutablePointer(to: &array) { (place) throws(RealmError) in try root.export(to: place) }
            arrays.append(array)
            first += part.count
        } while first < rows.count
    }

    deinit {
        for index in nextArray..<arrays.count {
            withUnsafeMutablePointer(to: &arrays[index]) { $0.pointee.release?($0) }
        }
    }

    override var field: ColumnField { root.field }

    override func next(_ array: UnsafeMutablePointer<ArrowArray>) throws(RealmError) -> Bool {
        guard nextArray < arrays.count else { return false }
        array.initialize(to: arrays[nextArray])
        nextArray += 1
        return true
    }

    /// A column, and the builder of its arrays.
    private final class Output {
        let builder: ColumnBuilder
        private let values: GroupColumn
        private var text: MixedText

        /// The primary key that links are exported as; nil: their object keys.
        private var primaryKey: (table: Table, column: ColKey)?

        init(_ name: Name, _ values: GroupColumn, _ rows: [ObjKey], _ group: Group) throws(RealmError) {
            self.values = values
            text = MixedText(group)
            var field: ColumnField
            switch values.type {
            case .link(let key):
                let table = try group.table(key), linked = table?.className ?? table?.name ?? ""
                if let table, let column = table.primaryKey, let facts = table.facts(column) {
                    primaryKey = (table, column)
                    field = ColumnField(name: name, kind: Self.kind(ValueType(facts)), isNullable: true)
                } else {
                    field = ColumnField(name: name, kind: .link, isNullable: true)
                }
                field.linkedClass = linked
            case .int:
                // A sum that does not fit into 64 bits makes the whole column one of decimals.
                var isWide = false
                for row in rows { if case .decimal = try values.value(Int(row.raw)) { isWide = true } }
                field = ColumnField(name: name, kind: isWide ? .decimal : .int, isNullable: true)
            case .timestamp:
                field = ColumnField(name: name, kind: .timestamp, isNullable: true)
                field.unit = try Self.unit(values, rows)
            default: field = ColumnField(name: name, kind: Self.kind(values.type), isNullable: true)
            }
            guard field.kind == .mixed else {
                builder = ColumnBuilder(field)
                return
            }
            let json = ColumnField(name: "json", kind: .text, isNullable: true)
            field.children = [json]
            builder = ColumnBuilder(field, children: [ColumnBuilder(json)])
        }

        /// The finest unit in which all points in time have a number of 64 bits.
        private static func unit(_ values: GroupColumn, _ rows: [ObjKey]) throws(RealmError) -> ColumnField.TimeUnit {
            var fitting = ColumnField.TimeUnit.allCases
            for row in rows {
                guard case .timestamp(let time) = try values.value(Int(row.raw)) else { continue }
                while let unit = fitting.first, unit.count(time) == nil { fitting.removeFirst() }
                if fitting.isEmpty { break }
            }
            return fitting.first ?? .nanoseconds
        }

        private static func kind(_ type: ValueType) -> ColumnField.Kind {
            switch type {
            case .int: .int
            case .bool: .bool
            case .string: .text
            case .binary: .binary
            case .timestamp: .timestamp
            case .float: .float
            case .double: .double
            case .decimal: .decimal
            case .objectId: .objectId
            case .uuid: .uuid
            case .link: .link
            case .mixed, .typeName, .null: .mixed
            }
        }

        func append(_ row: Int, _ group: Group) throws(RealmError) {
            var value = try values.value(row)
            do throws(RealmError) {
                if let primaryKey, case .typedLink(_, let key) = value {
                    value = try primaryKey.table.peek(key, primaryKey.column) ?? .null
                }
                switch (builder.field.kind, value) {
                case (.mixed, .null): try builder.appendNull()
                case (.mixed, _):
                    guard let json = builder.children.first else { return }
                    try text.write(value) { (bytes) throws(RealmError) in try json.append(bytes, isText: true) }
                    try builder.appendWhole(1)
                case (.decimal, .int(let integer)): try builder.append(.decimal(Decimal128(integer)))
                default: try builder.append(value)
                }
            } catch {
                throw RealmError(error.code, "Column '\(builder.field.name)': \(error.message)")
            }
        }
    }
}

extension ResultSet {
    /// Groups the objects of the rows and computes aggregates of their values, as the Realm sees them now, also inside
    /// a write transaction. Called inside the entry point of the Realm.
    ///
    /// - Parameters:
    ///   - text: a query with GROUP BY or AGGREGATE. Its condition and its orderings before them apply to the rows.
    ///   - out: memory for an `ArrowArrayStream`.
    /// - Throws: 2007 for results of values; errors of the query; 3015 for values that have no such aggregate.
    package func exportGroups(
        _ text: String, _ arguments: [QueryArgument], to out: UnsafeMutableRawPointer
    ) throws(RealmError) {
        try groups(text, arguments).export(to: out)
    }

    private func groups(_ text: String, _ arguments: [QueryArgument]) throws(RealmError) -> GroupStream {
        try grouped(text, arguments) { (query, rows, group) throws(RealmError) in
            try GroupStream(query, rows, group)
        }
    }

    /// The groups as rows of values, with the names of the columns; see `exportGroups`.
    package func groups(_ text: String, values: [RealmValue]) throws(RealmError) -> (
        names: [Name], rows: [[RealmValue]]
    ) {
        let arena = ConstantArena()
        var arguments: [QueryArgument] = []
        for value in values { arguments.append(try arena.argument(value)) }
        defer { withExtendedLifetime(arena) {} }
        return try grouped(text, arguments) { (query, rows, group) throws(RealmError) in
            var all: [[RealmValue]] = []
            try all.makeRoom(for: rows.count)
            for row in rows {
                try group.test()
                var found: [RealmValue] = []
                for column in query.columns { found.append(try group.copy(try column.values.value(Int(row.raw)))) }
                all.append(found)
            }
            return (query.columns.map(\.name), all)
        }
    }

    /// Computes the groups, and calls `body` with them and with the numbers of those that are in the result.
    private func grouped<R>(
        _ text: String, _ arguments: [QueryArgument],
        _ body: (GroupQuery, [ObjKey], Group) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        guard let tableKey = table else { throw RealmError(.illegalOperation, "Results of values have no groups") }
        let group = try realm.reading().group, syntax = try QueryParser.parse(text)
        guard let grouping = syntax.grouping else {
            throw .queryArgument("A grouping needs GROUP BY or AGGREGATE")
        }
        guard let table = try group.table(tableKey) else { throw stale() }
        let names = realm.queryNames
        let part = try BoundQuery.bind(
            QuerySyntax(predicate: syntax.predicate, orderings: syntax.orderings, depth: syntax.depth), group,
            tableKey, names, arguments)
        let source = part.isAll && part.orderings.isEmpty ? self : try filtered(part)
        var binder = Binder(group, names, arguments, ConstantArena())
        let query = try GroupQuery(group, table, grouping, &binder)
        return try group.query { () throws(RealmError) in
            if let condition = try source.scannedCondition(table) {
                try query.add(condition, isAll: source.query.isAll)
            } else {
                try query.add(try source.keys())
            }
            try query.finish()
            let rows = try query.ordered(grouping, &binder)
            defer { withExtendedLifetime(query) {} }
            return try body(query, rows, group)
        }
    }

    /// The condition, if the rows are those of a scan of the class in the order of their keys; otherwise nil.
    private func scannedCondition(_ table: Table) throws(RealmError) -> Condition? {
        guard case .table = source, !isFixed, query.orderings.isEmpty else { return nil }
        try query.expectStack()
        let condition = realm.isFrozen ? query.condition.copied() : query.condition
        try condition.prepare(table.group)
        if query.isAll { return condition }
        return try condition.indexUse(table) == nil ? condition : nil
    }
}
