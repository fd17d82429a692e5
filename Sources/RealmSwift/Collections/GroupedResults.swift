internal import CoreEngine
import Foundation

/// The objects of results in groups that share the value of a property. The methods compute a value for each group in
/// one pass over the objects, at the time of the call. An addition to Realm's API.
///
///     let people = realm.objects(Person.self).where { $0.age >= 18 }.grouped(by: \.city)
///     people.count()                  // ["Oslo": 12, "Bergen": 5]
///     people.average(of: \.age)       // ["Oslo": 41.5, "Bergen": 33.2]
///
/// Thread rule: that of the results.
public struct GroupedResults<Element: ObjectBase & RealmCollectionValue, Key: _HasPersistedType & Hashable> {
    fileprivate let rows: _Rows
    fileprivate let key: String

    /// Returns the number of objects of each group.
    public func count() -> [Key: Int] { values("count()") }

    /// Returns the sum of a property in each group: 0 where no object has a value.
    public func sum<T: _HasPersistedType>(of keyPath: Swift.KeyPath<Element, T>) -> [Key: T]
    where T.PersistedType: AddableType {
        let sums: [Key: T?] = optionals("sum", keyPath)
        return sums.mapValues { $0 ?? T.emptySum }
    }

    /// Returns the average of a property in each group; groups without a value are left out.
    public func average<T: _HasPersistedType>(of keyPath: Swift.KeyPath<Element, T>) -> [Key: Double]
    where T.PersistedType: AddableType {
        values("avg(\(rows.stored(nameOfStored(keyPath))))")
    }

    /// Returns the minimum of a property in each group; groups without a value are left out.
    public func min<T: _HasPersistedType>(of keyPath: Swift.KeyPath<Element, T>) -> [Key: T]
    where T.PersistedType: MinMaxType {
        let found: [Key: T?] = optionals("min", keyPath)
        return found.compactMapValues { $0 }
    }

    /// Returns the maximum of a property in each group; groups without a value are left out.
    public func max<T: _HasPersistedType>(of keyPath: Swift.KeyPath<Element, T>) -> [Key: T]
    where T.PersistedType: MinMaxType {
        let found: [Key: T?] = optionals("max", keyPath)
        return found.compactMapValues { $0 }
    }

    private func optionals<T: _HasPersistedType, U>(_ function: String, _ keyPath: Swift.KeyPath<Element, U>)
        -> [Key: T?]
    {
        var found: [Key: T?] = [:]
        for (key, value) in groups("\(function)(\(rows.stored(nameOfStored(keyPath))))") {
            found[key] = .some(T.aggregate(value))
        }
        return found
    }

    private func values<T: _HasPersistedType>(_ aggregate: String) -> [Key: T] {
        var found: [Key: T] = [:]
        for (key, value) in groups(aggregate) { found[key] = T.aggregate(value) }
        return found
    }

    private func groups(_ aggregate: String) -> [(Key, EngineValue)] {
        let text = "GROUP BY \(key) AGGREGATE \(aggregate)"
        return rows.inside { () throws(EngineError) in try rows.found.groups(text, values: []) }.rows.map { row in
            guard let key = Key._rlmLoad(_StoredValue(row[0], rows.core)) else {
                misuse("The property '\(self.key)' has values that are no \(Key.self)")
            }
            return (key, row[1])
        }
    }
}

/// A group of `Results.groups`: values by the names of the columns.
public struct ResultsGroup {
    fileprivate let names: [String]
    fileprivate let values: [AnyRealmValue]

    /// The value of a column. The name is the one after AS, or the expression as it was written.
    public subscript(_ name: String) -> AnyRealmValue {
        guard let index = names.firstIndex(of: name) else {
            misuse("The groups have no column '\(name)', but \(names.joined(separator: ", "))")
        }
        return values[index]
    }
}

extension Results where Element: ObjectBase {
    /// Groups the objects by the value of a property. See `GroupedResults`. An addition to Realm's API.
    public func grouped<Key: _HasPersistedType & Hashable>(by keyPath: Swift.KeyPath<Element, Key>)
        -> GroupedResults<Element, Key>
    {
        GroupedResults(rows: rows, key: rows.stored(nameOfStored(keyPath)))
    }

    /// Groups the objects by any expressions, with any aggregates and an order. An addition to Realm's API.
    ///
    ///     let byYear = try people.groups(
    ///         "GROUP BY year(born) AS year AGGREGATE count() AS n, median(income) HAVING n > %@ SORT(n DESC)", 10)
    ///     byYear.first?["n"].intValue
    ///
    /// - Parameters:
    ///   - clauses: the clauses GROUP BY, AGGREGATE, HAVING, SORT and LIMIT; `docs/query-language.md` has the grammar.
    ///   - arguments: the values of `%@`.
    /// - Throws: `Realm.Error` for unknown properties, and for values that have no such aggregate.
    public func groups(_ clauses: String, _ arguments: Any...) throws -> [ResultsGroup] {
        let text = FormatString(clauses, arguments)
        do throws(EngineError) {
            let found = try rows.core.realm.inside(.results) { () throws(EngineError) in try text.groups(rows) }
            let names = found.names.map(\.text)
            return found.rows.map { row in
                ResultsGroup(
                    names: names,
                    values: row.map { AnyRealmValue._rlmLoad(_StoredValue($0, rows.core)) ?? AnyRealmValue.none })
            }
        } catch { throw Realm.Error(error) }
    }
}
