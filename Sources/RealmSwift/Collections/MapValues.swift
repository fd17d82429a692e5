internal import CoreEngine
import Foundation

/// The common protocol of maps.
public protocol RealmKeyedCollection: Sequence, ThreadConfined, CustomStringConvertible {
    associatedtype Key: _MapKey
    associatedtype Value: RealmCollectionValue

    /// The current number of entries.
    var count: Int { get }

    /// The keys, sorted.
    var keys: [Key] { get }

    /// The values, in the order of their keys.
    var values: [Value] { get }

    /// Accesses the value for a key; nil if the key does not exist. Assigning nil removes the key.
    subscript(key: Key) -> Value? { get set }

    /// Stores a value for a key.
    func updateValue(_ value: Value, forKey key: Key)

    /// Removes a key if it exists.
    func removeObject(for key: Key)

    /// Removes all entries.
    func removeAll()
}

extension Map: RealmKeyedCollection {}

/// The values of a map as rows of the engine, for conditions, sorting and aggregates.
extension Map {
    /// Returns the values that match a condition.
    public func filter(_ predicateFormat: String, _ args: Any...) -> Results<Value> {
        filtered(FormatString(predicateFormat, args))
    }

    func filtered(_ condition: some RowCondition) -> Results<Value> {
        let rows = rows()
        return Results(rows.derived { () throws(EngineError) in try condition.filtered(rows) })
    }

    /// Returns the values, sorted by a property.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Value> {
        Results<Value>(rows()).sorted(byKeyPath: keyPath, ascending: ascending)
    }

    /// Returns the values, sorted by several properties.
    public func sorted<S: Sequence>(by sortDescriptors: S) -> Results<Value>
    where S.Iterator.Element == SortDescriptor {
        Results<Value>(rows()).sorted(by: sortDescriptors)
    }

    /// Returns the minimum of a property of the values.
    public func min<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
        aggregate(.min, property)
    }

    /// Returns the maximum of a property of the values.
    public func max<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
        aggregate(.max, property)
    }

    /// Returns the sum of a property of the values.
    public func sum<T: _HasPersistedType>(ofProperty property: String) -> T where T.PersistedType: AddableType {
        aggregate(.sum, property) ?? T.emptySum
    }

    /// Returns the average of a property of the values.
    public func average<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: AddableType {
        aggregate(.average, property)
    }

    private func aggregate<T: _HasPersistedType>(_ kind: AggregateKind, _ property: String) -> T? {
        guard managed != nil else {
            return AggregateOfValues(property, of: entries.map(\.value)).result(kind).flatMap { T.aggregate($0) }
        }
        let rows = rows()
        return rows.aggregate(kind, rows.column(property))
    }

    func aggregateOfValues<T: _HasPersistedType>(_ kind: AggregateKind) -> T? {
        if managed != nil { return rows().aggregate(kind, .null) }
        return AggregateOfValues(entries.compactMap { $0.value._rlmValue()?.value }).result(kind).flatMap {
            T.aggregate($0)
        }
    }
}

extension Map where Value.PersistedType: MinMaxType {
    /// Returns the minimum of the values; nil if the map is empty.
    public func min() -> Value? { aggregateOfValues(.min) }

    /// Returns the maximum of the values; nil if the map is empty.
    public func max() -> Value? { aggregateOfValues(.max) }
}

extension Map where Value.PersistedType: AddableType {
    /// Returns the sum of the values.
    public func sum() -> Value {
        if isEmpty { return Value.emptySum }
        let sum: Value = aggregateOfValues(.sum) ?? Value.emptySum
        return managed == nil ? decimal(sum) : sum
    }

    /// Returns the average of the values; nil if the map is empty.
    public func average<T: _HasPersistedType>() -> T? where T.PersistedType: AddableType { aggregateOfValues(.average) }
}

extension Map where Value.PersistedType: SortableType {
    /// Returns the values, sorted.
    public func sorted(ascending: Bool = true) -> Results<Value> { sorted(byKeyPath: "self", ascending: ascending) }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    /// Returns the values, sorted by a property.
    public func sorted<T: _HasPersistedType>(
        by keyPath: Swift.KeyPath<Value.Wrapped, T>, ascending: Bool = true
    ) -> Results<Value> where T.PersistedType: SortableType {
        sorted(byKeyPath: nameOfStored(keyPath), ascending: ascending)
    }

    /// Returns the minimum of a property of the values; nil if the map is empty.
    public func min<T: _HasPersistedType>(of keyPath: Swift.KeyPath<Value.Wrapped, T>) -> T?
    where T.PersistedType: MinMaxType {
        min(ofProperty: nameOfStored(keyPath))
    }

    /// Returns the maximum of a property of the values; nil if the map is empty.
    public func max<T: _HasPersistedType>(of keyPath: Swift.KeyPath<Value.Wrapped, T>) -> T?
    where T.PersistedType: MinMaxType {
        max(ofProperty: nameOfStored(keyPath))
    }

    /// Returns the sum of a property of the values.
    public func sum<T: _HasPersistedType>(of keyPath: Swift.KeyPath<Value.Wrapped, T>) -> T
    where T.PersistedType: AddableType {
        sum(ofProperty: nameOfStored(keyPath))
    }

    /// Returns the average of a property of the values; nil if the map is empty.
    public func average<T: _HasPersistedType>(of keyPath: Swift.KeyPath<Value.Wrapped, T>) -> T?
    where T.PersistedType: AddableType {
        average(ofProperty: nameOfStored(keyPath))
    }
}
