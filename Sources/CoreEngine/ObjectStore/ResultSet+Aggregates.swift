/// Least, greatest, sum and average of a property of the rows, or of the values. Rules: live-objects §5.
extension ResultSet {
    /// - Returns: nil and whether there was any value: see the C API.
    package func aggregate(_ kind: AggregateKind, _ column: ColKey) throws(RealmError) -> (value: Mixed, found: Bool) {
        let group = try realm.reading().group
        return try group.store.during(.querying) { () throws(RealmError) in try aggregate(kind, column, group) }
    }

    private func aggregate(_ kind: AggregateKind, _ column: ColKey, _ group: Group) throws(RealmError) -> (
        value: Mixed, found: Bool
    ) {
        var values: [Mixed] = []
        // Objects of a snapshot that were deleted since count as null.
        var deleted = 0
        let type: ValueType
        let name: String
        if let table {
            guard let t = try group.table(table) else { throw stale() }
            guard let f = t.facts(column), f.type != .backlink else {
                throw RealmError(
                    .invalidProperty, "Class '\(t.className ?? t.name)' has no property with key \(column.raw)")
            }
            name = t.column(column)?.name.text ?? ""
            type = ValueType(f)
            try Self.check(kind, type, f.isCollection, name)
            if isWholeTable {
                let scan = ClusterScan(t)
                var total = Aggregator(kind, type)
                while try scan.advance() { try total.add(scan, column, f.kind) }
                return total.result
            }
            try update()
            for k in rows {
                try t.store.test()
                if !k.isNull, let v = try t.rows.peek(k, column.index) { try values.add(v) } else { deleted += 1 }
            }
        } else {
            let path: CollectionPath
            switch source {
            case .collection(let p), .keys(let p): path = p
            default: throw stale()
            }
            for i in 0..<(try count()) {
                try group.store.test()
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
        let v = Aggregate.over(kind, type, values[...])
        return (v, kind == .sum ? true : !v.isNull)
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
