/// One key of a SORT or DISTINCT. The clauses SORT, DISTINCT and LIMIT apply from left to right to the rows of a query.
/// Rules: query-language §14.
struct SortKey {
    /// The to-one links that lead to the property.
    let hops: [Hop]
    let column: ColKey
    let end: TableKey

    /// The key in a dictionary property; nil for other properties.
    let dictionaryKey: [UInt8]?

    /// Whether the path ends in a collection or has a to-many hop. Such a key is refused when the query runs.
    let isInvalid: Bool
    var ascending: Bool
    let text: String

    /// The order of the texts; nil for the order of their bytes.
    var collation: Collation?

    /// The expression of a computed property; nil for stored properties.
    var expression: Expression?

    /// Whether the key is a stored property of the queried class itself.
    var isOwnProperty: Bool {
        hops.isEmpty && dictionaryKey == nil && !isInvalid && expression == nil && collation == nil
    }

    /// The key as a query has it.
    var written: String {
        "\(text)\(collation.map { " COLLATE '\($0.locale)'" } ?? "") \(ascending ? "ASC" : "DESC")"
    }

    /// For a separate run, which can take place on another thread at the same time.
    func copied() -> SortKey {
        var copy = self
        copy.expression = expression?.copied()
        return copy
    }
}

/// A bound clause of a query.
enum Ordering {
    case sort([SortKey])
    case distinct([SortKey])
    case limit(Int)

    var text: String {
        switch self {
        case .sort(let keys):
            "SORT(" + keys.map(\.written).joined(separator: ", ") + ")"
        case .distinct(let keys): "DISTINCT(" + keys.map(\.text).joined(separator: ", ") + ")"
        case .limit(let count): "LIMIT(\(count))"
        }
    }

    /// For a separate run, like `SortKey.copied`.
    func copied() -> Ordering {
        switch self {
        case .sort(let keys): .sort(keys.map { $0.copied() })
        case .distinct(let keys): .distinct(keys.map { $0.copied() })
        case .limit: self
        }
    }

    /// Merges adjacent sorts into one: the keys of the later sort come first.
    static func append(_ ordering: Ordering, to all: inout [Ordering]) {
        switch (all.last, ordering) {
        case (.sort(let before)?, .sort(let keys)): all[all.count - 1] = .sort(keys + before)
        default: all.append(ordering)
        }
    }
}

extension Binder {
    mutating func ordering(_ ordering: OrderingSyntax, _ table: Table) throws(RealmError) -> Ordering {
        switch ordering {
        case .limit(let limit): return .limit(max(0, limit))
        case .sort(let keys):
            var all: [SortKey] = []
            for key in keys {
                var bound = try sortKey(key.path, table, ascending: key.ascending)
                if let locale = key.locale { bound.collation = try Collation(locale) }
                all.append(bound)
            }
            return .sort(all)
        case .distinct(let paths):
            var all: [SortKey] = []
            for path in paths { all.append(try sortKey(path, table, ascending: true)) }
            return .distinct(all)
        }
    }

    /// Resolves a path of SORT or DISTINCT: to-one links, then one property or one key of a dictionary.
    private mutating func sortKey(
        _ written: [PathStep], _ start: Table, ascending: Bool
    ) throws(RealmError) -> SortKey {
        if columns != nil {
            let value = try column(written)
            return SortKey(
                hops: [], column: .null, end: start.key, dictionaryKey: nil, isInvalid: false, ascending: ascending,
                text: value.text(QueryPrinter(group)), expression: value)
        }
        let steps = try spelledOut(written)
        if let inner = try computed(steps, start) {
            computedLevel += 1
            defer { computedLevel -= 1 }
            if case .path(let path, nil, .value) = inner { return try sortKey(path, start, ascending: ascending) }
            let value = try expression(inner, start)
            let names = steps.map { if case .name(let name) = $0 { QueryPrinter.name(name) } else { "" } }
            return SortKey(
                hops: [], column: .null, end: start.key, dictionaryKey: nil, isInvalid: value.isList,
                ascending: ascending, text: names.joined(separator: "."), expression: value)
        }
        var table = start
        var hops: [Hop] = []
        var texts: [String] = []
        var isInvalid = false
        func unknown(_ what: String) -> RealmError {
            .query(
                "No property '\(what)' found on object type '\(table.className ?? table.name)' specified in sort or distinct clause"
            )
        }
        var position = 0
        while position < steps.count {
            guard case .name(let written) = steps[position] else {
                throw unknown("[]")
            }
            position += 1
            var name = written
            if case .property(let stored)? = names.aliases[table.key]?[written] { name = stored }
            guard let column = table.column(named: name), let facts = table.facts(column.key) else {
                throw unknown(written.text)
            }
            texts.append(QueryPrinter.name(name))
            if facts.shape == .dictionary, position < steps.count {
                let key: [UInt8]
                switch steps[position] {
                case .name(let inner): key = Array(inner.utf8)
                case .key(let bytes): key = bytes
                case .argument(let number):
                    guard number < arguments.count, case .value(.string(let bytes)) = arguments[number] else {
                        throw .query("Invalid index argument")
                    }
                    key = Array(bytes)
                default: throw unknown("[]")
                }
                position += 1
                guard position == steps.count else { throw unknown(String(decoding: key, as: UTF8.self)) }
                return SortKey(
                    hops: hops, column: column.key, end: table.key, dictionaryKey: key, isInvalid: isInvalid,
                    ascending: ascending,
                    text: texts.joined(separator: ".") + QueryPrinter.key(key))
            }
            if position == steps.count {
                return SortKey(
                    hops: hops, column: column.key, end: table.key, dictionaryKey: nil,
                    isInvalid: isInvalid || facts.isCollection, ascending: ascending,
                    text: texts.joined(separator: "."))
            }
            guard facts.type == .link, let next = try group.table(facts.oppositeTable) else {
                throw unknown(written.text)
            }
            if facts.isCollection { isInvalid = true }
            hops.append(
                Hop(kind: .toOne, origin: table.key, column: column.key, target: next.key, index: nil, text: ""))
            table = next
        }
        throw unknown("")
    }
}

/// The value that a row is sorted by. In ascending order, a null link on the way to the property comes last, and a null
/// at the end of the path comes first.
enum SortValue {
    case broken
    case value(Mixed)

    /// The sort key of a text (`Collation`).
    case collated([UInt8])

    /// The size in bytes of a string or binary; 0 for other values.
    @inline(__always) var size: Int {
        switch self {
        case .value(.string(let bytes)), .value(.binary(let bytes)): bytes.count
        case .collated(let key): key.count
        default: 0
        }
    }

    static func compare(_ a: SortValue, _ b: SortValue) -> Int {
        switch (a, b) {
        case (.broken, .broken): 0
        case (.broken, _): 1
        case (_, .broken): -1
        case (.value(let x), .value(let y)): Mixed.compareExactly(x, y)
        case (.collated(let x), .collated(let y)): compare(x, y)
        // A Mixed property: a text and a value of another type.
        case (.collated, .value(let y)): Mixed.compareExactly(.string(Bytes(start: nil, count: 0)), y)
        case (.value(let x), .collated): Mixed.compareExactly(x, .string(Bytes(start: nil, count: 0)))
        }
    }

    private static func compare(_ x: [UInt8], _ y: [UInt8]) -> Int {
        x.withUnsafeBytes { first in y.withUnsafeBytes { second in Mixed.compareBytes(first, second) } }
    }

    /// Equality as in a condition: the decimal 0.1 equals the double 0.1.
    static func areEqual(_ a: SortValue, _ b: SortValue) -> Bool {
        if case .value(let x) = a, case .value(let y) = b { Mixed.compare(x, y) == 0 } else { compare(a, b) == 0 }
    }
}

/// Reads the sort values of rows.
struct SortReader {
    private let key: SortKey

    /// The class of the rows, followed by the target class of each link.
    private let tables: [Table]

    /// For a computed property.
    private let expression: Expression?
    private let buffer = ValueBuffer()

    init(_ table: Table, _ key: SortKey) throws(RealmError) {
        self.key = key
        // Readers of two versions may be in use at the same time.
        expression = key.expression?.copied()
        try expression?.prepare(table.group)
        var tables = [table]
        for hop in key.hops {
            guard let target = try table.group.table(hop.target) else {
                throw RealmError(.noSuchTable, "A class of the query does not exist any more")
            }
            tables.append(target)
        }
        self.tables = tables
    }

    func value(_ row: ObjKey) throws(RealmError) -> SortValue {
        let value = try plainValue(row)
        guard let collation = key.collation, case .value(.string(let text)) = value else { return value }
        return .collated(try collation.key(text))
    }

    private func plainValue(_ row: ObjKey) throws(RealmError) -> SortValue {
        if let expression {
            buffer.reset()
            try expression.evaluate(tables[0], row, buffer)
            return .value(buffer.values.first ?? .null)
        }
        var at = row
        for (i, hop) in key.hops.enumerated() {
            guard case .link(let to)? = try tables[i].peek(at, hop.column), !to.isUnresolved, !to.isNull
            else {
                return .broken
            }
            at = to
        }
        let end = tables[key.hops.count]
        guard let value = try end.peek(at, key.column) else { return .value(.null) }
        if let name = key.dictionaryKey {
            guard case .slot(let slot) = value, let facts = end.facts(key.column) else { return .value(.null) }
            let dictionary = try ElementDictionary(
                end.store, root: slot.isTagged ? .null : slot.ref, keyType: facts.keyType, valueType: facts.type,
                format: end.group.format)
            guard let index = try name.withBytes({ (b) throws(RealmError) in try dictionary.find(b) }) else {
                return .value(.null)
            }
            return .value(try dictionary.value(index))
        }
        switch value {
        case .link(let to) where to.isUnresolved || to.isNull: return .value(.null)
        case .typedLink(_, let to) where to.isUnresolved: return .value(.null)
        default: return .value(value)
        }
    }
}

/// The order of a SORT in one snapshot. Rows with equal sort values are ordered by their keys, and so are all rows when
/// the query has no SORT.
struct RowOrder {
    private let readers: [(reader: SortReader, ascending: Bool)]

    init(_ group: Group, _ table: TableKey, _ keys: [SortKey]) throws(RealmError) {
        guard let classTable = try group.table(table) else {
            throw RealmError(.noSuchTable, "The class of the query does not exist any more")
        }
        var readers: [(SortReader, Bool)] = []
        for key in keys { readers.append((try SortReader(classTable, key), key.ascending)) }
        self.readers = readers
    }

    /// A row with its sort values.
    struct Row {
        let key: ObjKey
        fileprivate let values: [SortValue]
    }

    func row(_ key: ObjKey) throws(RealmError) -> Row {
        var values: [SortValue] = []
        for part in readers { values.append(try part.reader.value(key)) }
        return Row(key: key, values: values)
    }

    func precedes(_ a: Row, _ b: Row) -> Bool {
        for (i, part) in readers.enumerated() {
            let order = SortValue.compare(a.values[i], b.values[i])
            if order != 0 { return part.ascending ? order < 0 : order > 0 }
        }
        return a.key < b.key
    }

    func precedes(_ key: ObjKey, _ b: Row) throws(RealmError) -> Bool {
        for (i, part) in readers.enumerated() {
            let order = SortValue.compare(try part.reader.value(key), b.values[i])
            if order != 0 { return part.ascending ? order < 0 : order > 0 }
        }
        return key < b.key
    }
}

/// Applies orderings to rows. Reads the sort values of all rows once, then compares them.
struct RowOrderer {
    private let table: Table

    init(_ table: Table) { self.table = table }

    func apply(_ orderings: [Ordering], _ rows: [ObjKey]) throws(RealmError) -> [ObjKey] {
        var rows = rows
        var next = 0
        // DISTINCT does not update this flag: rows that it removes do not change whether a later clause is refused.
        var isEmpty = rows.isEmpty
        while next < orderings.count {
            switch orderings[next] {
            case .limit(let most):
                if rows.count > most {
                    rows.removeLast(rows.count - most)
                    isEmpty = most == 0
                }
            case .sort(let keys), .distinct(let keys):
                for key in keys where key.isInvalid && !isEmpty {
                    throw RealmError(
                        .invalidSortDescriptor,
                        "Cannot sort or find distinct values of '\(key.text)': it is a collection"
                    )
                }
            }
            switch orderings[next] {
            case .limit: break
            case .sort(let keys):
                var limit = Int.max
                if next + 1 < orderings.count, case .limit(let count) = orderings[next + 1] { limit = count }
                rows = try sorted(rows, keys, limit: limit)
            case .distinct(let keys): rows = try distinct(rows, keys)
            }
            next += 1
        }
        return rows
    }

    private func values(_ rows: [ObjKey], _ key: SortKey) throws(RealmError) -> [SortValue] {
        if rows.isEmpty { return [] }
        let reader = try SortReader(table, key)
        var all: [SortValue] = []
        try all.makeRoom(for: rows.count)
        for row in rows {
            try table.test()
            all.append(try reader.value(row))
        }
        return all
    }

    /// Checks the memory for the array of row indices, for the sort itself and for the result.
    private static func expectSorting(_ count: Int) throws(RealmError) {
        try CMemory.expect(count, each: 5 * MemoryLayout<Int>.stride)
    }

    private func sorted(_ rows: [ObjKey], _ keys: [SortKey], limit: Int) throws(RealmError) -> [ObjKey] {
        var columns: [[SortValue]] = []
        for key in keys { columns.append(try values(rows, key)) }
        try Self.expectSorting(rows.count)
        var order = Array(0..<rows.count)
        var comparisons = Comparisons(table.store)
        let less = { (x: Int, y: Int) -> Bool in
            guard comparisons.goOn(columns[0][x].size, columns[0][y].size) else { return false }
            for (column, key) in zip(columns, keys) {
                let result = SortValue.compare(column[x], column[y])
                if result != 0 { return key.ascending ? result < 0 : result > 0 }
            }
            return x < y
        }
        if limit < rows.count / 4 {
            order = Smallest.indices(limit, of: rows.count, by: less)
        } else {
            order.sort(by: less)
        }
        try table.test()
        return order.map { rows[$0] }
    }

    /// The first row of each group of rows with equal values, in the order of `rows`.
    private func distinct(_ rows: [ObjKey], _ keys: [SortKey]) throws(RealmError) -> [ObjKey] {
        var columns: [[SortValue]] = []
        for key in keys { columns.append(try values(rows, key)) }
        try Self.expectSorting(rows.count)
        // Drop the rows with a null link on the way to the property.
        var order = (0..<rows.count).filter { row in
            !columns.contains { if case .broken = $0[row] { true } else { false } }
        }
        let compare = { (x: Int, y: Int) -> Int in
            for column in columns {
                let result = SortValue.compare(column[x], column[y])
                if result != 0 { return result }
            }
            return 0
        }
        var comparisons = Comparisons(table.store)
        order.sort { x, y in
            guard comparisons.goOn(columns[0][x].size, columns[0][y].size) else { return false }
            let result = compare(x, y)
            return result == 0 ? x < y : result < 0
        }
        try table.test()
        var kept: [Int] = []
        for (index, row) in order.enumerated() {
            if index == 0 || !columns.allSatisfy({ SortValue.areEqual($0[order[index - 1]], $0[row]) }) {
                kept.append(row)
            } else if row < kept[kept.count - 1] {
                // The two rows are equal only by rounding. This one sorts later by its exact value but comes first in
                // the input, so keep it.
                kept[kept.count - 1] = row
            }
        }
        return kept.sorted().map { rows[$0] }
    }
}
