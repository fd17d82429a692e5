internal import CoreEngine
import Foundation

/// Maps, for what is said of them in general.
public protocol RealmKeyedCollection: Sequence, ThreadConfined, CustomStringConvertible {
    associatedtype Key: _MapKey
    associatedtype Value: RealmCollectionValue

    /// Number of entries now.
    var count: Int { get }

    /// The keys in their order.
    var keys: [Key] { get }

    /// The values in the order of their keys.
    var values: [Value] { get }

    /// The value of a key; nil for none. nil takes a key out.
    subscript(key: Key) -> Value? { get set }

    /// Puts a value under a key.
    func updateValue(_ value: Value, forKey key: Key)

    /// Takes a key out, where it is there.
    func removeObject(for key: Key)

    /// Takes all entries out.
    func removeAll()
}

extension Map: RealmKeyedCollection {}

/// The values of a map as rows of the engine: conditions, order, aggregates.
extension Map {
    /// The values that meet a condition.
    public func filter(_ predicateFormat: String, _ args: Any...) -> Results<Value> {
        let rows = rows(), query = FormatString(predicateFormat, args)
        return Results(rows.derived { () throws(EngineError) in try query.filtered(rows) })
    }

    /// The values sorted by a property.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Value> {
        Results<Value>(rows()).sorted(byKeyPath: keyPath, ascending: ascending)
    }

    /// The values sorted by some properties.
    public func sorted<S: Sequence>(by sortDescriptors: S) -> Results<Value>
    where S.Iterator.Element == SortDescriptor {
        Results<Value>(rows()).sorted(by: sortDescriptors)
    }

    /// The least value of a property of the values.
    public func min<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
        aggregate(.min, property)
    }

    /// The greatest value of a property of the values.
    public func max<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
        aggregate(.max, property)
    }

    /// The sum of a property of the values.
    public func sum<T: _HasPersistedType>(ofProperty property: String) -> T where T.PersistedType: AddableType {
        aggregate(.sum, property) ?? T.emptySum
    }

    /// The average of a property of the values.
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
    /// The least value; nil when there are none.
    public func min() -> Value? { aggregateOfValues(.min) }

    /// The greatest value; nil when there are none.
    public func max() -> Value? { aggregateOfValues(.max) }
}

extension Map where Value.PersistedType: AddableType {
    /// The sum of the values.
    public func sum() -> Value {
        if isEmpty { return Value.emptySum }
        let sum: Value = aggregateOfValues(.sum) ?? Value.emptySum
        return managed == nil ? decimal(sum) : sum
    }

    /// The average of the values; nil when there are none.
    public func average<T: _HasPersistedType>() -> T? where T.PersistedType: AddableType { aggregateOfValues(.average) }
}

extension Map where Value.PersistedType: SortableType {
    /// The values in their order.
    public func sorted(ascending: Bool = true) -> Results<Value> { sorted(byKeyPath: "self", ascending: ascending) }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    /// The values sorted by a property.
    public func sorted<T: _HasPersistedType>(
        by keyPath: Swift.KeyPath<Value.Wrapped, T>, ascending: Bool = true
    ) -> Results<Value> where T.PersistedType: SortableType {
        sorted(byKeyPath: nameOfStored(keyPath), ascending: ascending)
    }

    /// The least value of a property of the values; nil when there are none.
    public func min<T: _HasPersistedType>(of keyPath: Swift.KeyPath<Value.Wrapped, T>) -> T?
    where T.PersistedType: MinMaxType {
        min(ofProperty: nameOfStored(keyPath))
    }

    /// The greatest value of a property of the values; nil when there are none.
    public func max<T: _HasPersistedType>(of keyPath: Swift.KeyPath<Value.Wrapped, T>) -> T?
    where T.PersistedType: MinMaxType {
        max(ofProperty: nameOfStored(keyPath))
    }

    /// The sum of a property of the values.
    public func sum<T: _HasPersistedType>(of keyPath: Swift.KeyPath<Value.Wrapped, T>) -> T
    where T.PersistedType: AddableType {
        sum(ofProperty: nameOfStored(keyPath))
    }

    /// The average of a property of the values; nil when there are none.
    public func average<T: _HasPersistedType>(of keyPath: Swift.KeyPath<Value.Wrapped, T>) -> T?
    where T.PersistedType: AddableType {
        average(ofProperty: nameOfStored(keyPath))
    }
}
