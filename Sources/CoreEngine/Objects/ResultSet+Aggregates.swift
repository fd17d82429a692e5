/// Minimum, maximum, sum and average of a property of the rows, or of the values. Rules: live-objects §5.
extension ResultSet {
    /// - Returns: the value, null without any input, and whether there was input; see the C API.
    package func aggregate(_ kind: AggregateKind, _ column: ColKey) throws(RealmError) -> (value: Mixed, found: Bool) {
        let group = try realm.reading().group
        return try group.query { () throws(RealmError) in try aggregate(kind, column, group) }
    }

    private func aggregate(_ kind: AggregateKind, _ column: ColKey, _ group: Group) throws(RealmError) -> (
        value: Mixed, found: Bool
    ) {
        var values: [Mixed] = []
        // Objects of a snapshot that were deleted later count as null.
        var deleted = 0
        let type: ValueType
        let name: String
        if let table {
            guard let classTable = try group.table(table) else { throw stale() }
            guard let facts = classTable.facts(column), facts.type != .backlink else {
                throw RealmError(
                    .invalidProperty,
                    "Class '\(classTable.className ?? classTable.name)' has no property with key \(column.raw)")
            }
            name = classTable.column(column)?.name.text ?? ""
            type = ValueType(facts)
            try Self.check(kind, type, facts.isCollection, name)
            if isWholeTable {
                let scan = ClusterScan(classTable)
                var total = Aggregator(kind, type)
                while try scan.advance() { try total.add(scan, column, facts.kind) }
                return total.result
            }
            try update()
            for key in rows {
                try classTable.test()
                if !key.isNull, let value = try classTable.peek(key, column) {
                    try values.add(value)
                } else {
                    deleted += 1
                }
            }
        } else {
            let path: CollectionPath
            switch source {
            case .collection(let collection), .keys(let collection): path = collection
            default: throw stale()
            }
            for i in 0..<(try count()) {
                try group.test()
                try values.add(try value(i))
            }
            type = try { () throws(RealmError) -> ValueType in
                if case .keys = source { return .string }
                return try realm.elementType(path)
            }()
            name = "elements"
            try Self.check(kind, type, false, name)
        }
        if values.isEmpty {
            return (kind == .sum ? Aggregate.over(.sum, type, []) : .null, kind == .sum && deleted > 0)
        }
        let total = Aggregate.over(kind, type, values[...])
        return (total, kind == .sum ? true : !total.isNull)
    }

    private static func check(_ kind: AggregateKind, _ type: ValueType, _ isCollection: Bool, _ name: String)
        throws(RealmError)
    {
        if !isCollection {
            switch type {
            case .int, .float, .double, .decimal, .mixed: return
            case .timestamp where kind == .min || kind == .max: return
            default: break
            }
        }
        throw RealmError(
            .illegalOperation,
            "Cannot \(kind.rawValue) '\(name)': operation not supported for '\(type.name)' properties")
    }
}
