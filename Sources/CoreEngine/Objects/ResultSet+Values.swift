/// An ordering of value results. Equal values keep the order of the collection. Nulls come first, and values of
/// different types are ordered by type, as in sets.
package enum ValueOrdering: Sendable, Equatable {
    case sort(ascending: Bool)
    /// Each value once, at the position of its first occurrence.
    case distinct
}

extension ResultSet {
    /// The values in another order, or each value once.
    ///
    /// - Throws: 2007 for results of objects, and for results with a limit, because an ordering would change which
    ///   values the limit includes.
    package func ordered(_ ordering: ValueOrdering) throws(RealmError) -> ResultSet {
        guard table == nil, !isFixed else {
            throw RealmError(.illegalOperation, "Only live values of a collection are ordered by themselves")
        }
        guard valueLimit == .max else { throw RealmError(.illegalOperation, "Results with a limit cannot be ordered") }
        return ResultSet(self, query, valueOrderings: valueOrderings + [ordering])
    }

    /// Whether the order of the values differs from that of their collection. A notifier reports changes of the
    /// collection.
    package var isOrderedValues: Bool { table == nil && !valueOrderings.isEmpty }

    /// Indices in the collection, in the order of the rows.
    func orderedPlaces() throws(RealmError) -> [Int] {
        let content = try content(), group = try realm.reading().group
        return try group.query { () throws(RealmError) in try orderedPlaces(content, group) }
    }

    private func orderedPlaces(_ content: CollectionContent, _ group: Group) throws(RealmError) -> [Int] {
        var values: [Mixed] = []
        for i in 0..<content.count {
            try group.test()
            try values.add(try value(i, in: content))
        }
        // Memory for the indices with their offsets, for sorting, and for the result.
        try CMemory.expect(values.count, each: 8 * MemoryLayout<Int>.stride)
        var places = Array(values.indices), comparisons = Comparisons(group.store)
        func order(_ a: Int, _ b: Int) -> Int {
            guard comparisons.goOn(values[a].byteCount, values[b].byteCount) else { return 0 }
            return Mixed.compare(values[a], values[b])
        }
        for ordering in valueOrderings {
            switch ordering {
            case .sort(let ascending):
                places = places.enumerated().sorted { a, b in
                    let order = order(a.element, b.element)
                    return order == 0 ? a.offset < b.offset : (order < 0) == ascending
                }.map(\.element)
            case .distinct: places = Self.firsts(places, by: order)
            }
            try group.test()
        }
        return places
    }

    /// The first of each group of equal values.
    private static func firsts(_ places: [Int], by order: (Int, Int) -> Int) -> [Int] {
        let sorted = places.enumerated().sorted { a, b in
            let order = order(a.element, b.element)
            return order == 0 ? a.offset < b.offset : order < 0
        }
        var kept: [(offset: Int, element: Int)] = []
        for next in sorted {
            if let last = kept.last, order(last.element, next.element) == 0 { continue }
            kept.append(next)
        }
        return kept.sorted { $0.offset < $1.offset }.map(\.element)
    }
}
