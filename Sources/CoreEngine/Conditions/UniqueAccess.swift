/// Finds candidates through the indexes of unique rules, for conditions that compare the properties of such a rule, or
/// the first of them, with constants.
struct UniqueAccess {
    /// The first property of the rule.
    let column: ColKey

    /// The objects that may meet the conditions, ascending. Each object that meets them is among them.
    let keys: [ObjKey]

    /// Whether all properties of the rule are compared: then at most one object is found in sound data.
    let isWhole: Bool

    /// nil: no rule fits; or the index has no entry for objects with a null among the other values; or so many objects
    /// have the first values that a scan is faster.
    ///
    /// - Parameter conditions: each must be met.
    init?(_ table: Table, _ conditions: [Condition]) throws(RealmError) {
        guard table.group.hasRules else { return nil }
        var values: [ColKey: Mixed] = [:]
        Self.add(conditions, &values)
        guard !values.isEmpty else { return nil }
        var best: (index: UniqueIndex, values: [Mixed], isWhole: Bool)?
        for index in try UniqueIndexes.current(table) {
            let properties = index.properties
            let known = properties.prefix { values[$0] != nil }.compactMap { values[$0] }
            let isWhole = known.count == properties.count
            if !isWhole, known.count <= best?.values.count ?? 0 || !index.knowsAll(givenFirst: known.count) { continue }
            best = (index, known, isWhole)
            if isWhole { break }
        }
        guard let best, let first = best.index.properties.first else { return nil }
        let most = best.isWhole ? Int.max : try Self.most(table)
        // A damaged index does not prevent reading.
        let found = try RealmError.unlessDamaged { () throws(RealmError) in
            try best.index.candidates(best.values, most: most)
        }
        guard let found else { return nil }
        (column, keys, isWhole) = (first, found, best.isWhole)
    }

    /// The number of candidates up to which testing each of them is faster than a scan.
    static func most(_ table: Table) throws(RealmError) -> Int { try table.count() / 8 + 64 }

    private static func add(_ conditions: [Condition], _ values: inout [ColKey: Mixed]) {
        for condition in conditions {
            if let both = condition as? AndCondition {
                add(both.parts, &values)
            } else if let direct = condition as? DirectCondition, direct.isEquality {
                values[direct.column] = direct.constant
            }
        }
    }
}
