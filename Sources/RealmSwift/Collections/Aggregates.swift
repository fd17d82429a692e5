internal import CoreEngine
import Foundation

/// The constraints of aggregates and sorting, with Realm's names. They apply to the persisted type, so enums and custom
/// types conform through their persisted type.

/// Types with a minimum and a maximum.
public protocol MinMaxType {}

/// Types with a sum and an average.
public protocol AddableType {}

/// Types that can be sorted.
public protocol SortableType {}

extension Int: MinMaxType, AddableType, SortableType {}

extension Int8: MinMaxType, AddableType, SortableType {}

extension Int16: MinMaxType, AddableType, SortableType {}

extension Int32: MinMaxType, AddableType, SortableType {}

extension Int64: MinMaxType, AddableType, SortableType {}

extension Float: MinMaxType, AddableType, SortableType {}

extension Double: MinMaxType, AddableType, SortableType {}

extension Decimal128: MinMaxType, AddableType, SortableType {}

extension AnyRealmValue: MinMaxType, AddableType, SortableType {}

extension Date: MinMaxType, SortableType {}

extension String: SortableType {}

extension Data: SortableType {}

extension Bool: SortableType {}

extension UUID: SortableType {}

extension ObjectId: SortableType {}

extension Optional: MinMaxType where Wrapped: MinMaxType {}

extension Optional: AddableType where Wrapped: AddableType {}

extension Optional: SortableType where Wrapped: SortableType {}

extension _HasPersistedType {
    /// The sum of an empty collection.
    static var emptySum: Self {
        guard let sum = _rlmLoad(_StoredValue(.int(0), nil)) else { misuse("\(Self.self) has no sum") }
        return sum
    }
}

extension _HasPersistedType {
    /// Converts an aggregate to this type; nil for an aggregate of no values. The average of integers is truncated if
    /// the type is an integer. A sum that exceeds 64 bits becomes the nearest integer; `Decimal128` and `Double`
    /// represent it.
    static func aggregate(_ value: EngineValue) -> Self? {
        switch value {
        case .null: nil
        case .double(let v) where (Self.self as? any _RealmStorable.Type)?._rlmShape.type == .int:
            _rlmLoad(_StoredValue(.int(Int64(exactly: v.rounded(.towardZero)) ?? 0), nil))
        case .decimal(let v)
        where v.truncatedInt64 == nil && !v.isSpecial && (Self.self as? any _RealmStorable.Type)?._rlmShape.type == .int:
            _rlmLoad(_StoredValue(.int(v.isNegative ? .min : .max), nil))
        default: _rlmLoad(_StoredValue(value, nil))
        }
    }
}

extension RealmCollection {
    /// Returns the minimum of a property; nil if no element has a value.
    public func min<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
        aggregate(.min, property)
    }

    /// Returns the maximum of a property; nil if no element has a value.
    public func max<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
        aggregate(.max, property)
    }

    /// Returns the sum of a property; 0 if no element has a value.
    public func sum<T: _HasPersistedType>(ofProperty property: String) -> T where T.PersistedType: AddableType {
        aggregate(.sum, property) ?? T.emptySum
    }

    /// Returns the average of a property; nil if no element has a value.
    public func average<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: AddableType {
        aggregate(.average, property)
    }

    private func aggregate<T: _HasPersistedType>(_ kind: AggregateKind, _ property: String) -> T? {
        guard realm != nil else {
            return AggregateOfValues(property, of: self).result(kind).flatMap { T.aggregate($0) }
        }
        let rows = _rlmRows()
        return rows.aggregate(kind, rows.column(property))
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Returns the minimum of a property; nil if no element has a value.
    public func min<T: _HasPersistedType>(of keyPath: Swift.KeyPath<Element, T>) -> T?
    where T.PersistedType: MinMaxType {
        min(ofProperty: nameOfStored(keyPath))
    }

    /// Returns the maximum of a property; nil if no element has a value.
    public func max<T: _HasPersistedType>(of keyPath: Swift.KeyPath<Element, T>) -> T?
    where T.PersistedType: MinMaxType {
        max(ofProperty: nameOfStored(keyPath))
    }

    /// Returns the sum of a property; 0 if no element has a value.
    public func sum<T: _HasPersistedType>(of keyPath: Swift.KeyPath<Element, T>) -> T
    where T.PersistedType: AddableType {
        sum(ofProperty: nameOfStored(keyPath))
    }

    /// Returns the average of a property; nil if no element has a value.
    public func average<T: _HasPersistedType>(of keyPath: Swift.KeyPath<Element, T>) -> T?
    where T.PersistedType: AddableType {
        average(ofProperty: nameOfStored(keyPath))
    }
}

extension RealmCollection where Element.PersistedType: MinMaxType {
    /// Returns the minimum; nil if the collection has no values.
    public func min() -> Element? { aggregateOfValues(.min) }

    /// Returns the maximum; nil if the collection has no values.
    public func max() -> Element? { aggregateOfValues(.max) }
}

extension RealmCollection where Element.PersistedType: AddableType {
    /// Returns the sum of the values.
    public func sum() -> Element {
        let sum: Element = aggregateOfValues(.sum) ?? Element.emptySum
        return realm == nil && !isEmpty ? decimal(sum) : sum
    }

    /// Returns the average of the values; nil if the collection has no values.
    public func average<T: _HasPersistedType>() -> T? where T.PersistedType: AddableType { aggregateOfValues(.average) }
}

extension RealmCollection {
    /// Returns an aggregate of the values. For an unmanaged collection it is computed in memory.
    private func aggregateOfValues<T: _HasPersistedType>(_ kind: AggregateKind) -> T? {
        if realm != nil { return _rlmRows().aggregate(kind, .null) }
        return AggregateOfValues(lazy.compactMap { $0._rlmValue()?.value }).result(kind).flatMap { T.aggregate($0) }
    }
}

extension RealmCollection where Element.PersistedType: SortableType {
    /// Returns the values, sorted.
    public func sorted(ascending: Bool = true) -> Results<Element> { sorted(byKeyPath: "self", ascending: ascending) }
}

extension RealmCollection where Element: _RealmStorable {
    /// Returns the values without duplicates.
    public func distinct() -> Results<Element> { distinct(by: ["self"]) }
}

extension RealmCollection where Element: ObjectBase {
    /// Returns the objects, sorted by a property.
    public func sorted<T: _HasPersistedType>(
        by keyPath: Swift.KeyPath<Element, T>, ascending: Bool = true
    ) -> Results<Element> where T.PersistedType: SortableType {
        sorted(byKeyPath: nameOfStored(keyPath), ascending: ascending)
    }
}

/// Computes aggregates of values in memory, with the same results as the engine: nulls are ignored.
struct AggregateOfValues {
    private let values: [EngineValue]

    init(_ values: some Sequence<EngineValue>) {
        self.values = values.filter { if case .null = $0 { false } else { true } }
    }

    /// Creates the aggregates of a property of unmanaged objects.
    init(_ property: String, of objects: some Sequence) {
        self.init(
            objects.compactMap { object in
                (unwrapped(object) as? ObjectBase)?.value(forKey: property).flatMap {
                    ($0 as? any _RealmStorable)?._rlmValue()?.value
                }
            })
    }

    func result(_ kind: AggregateKind) -> EngineValue? {
        switch kind {
        case .min: extreme { $0 < 0 }
        case .max: extreme { $0 > 0 }
        case .sum: sum(asAverage: false)
        case .average: values.isEmpty ? nil : sum(asAverage: true)
        }
    }

    private func extreme(_ isBetter: (Int) -> Bool) -> EngineValue? {
        values.reduce(nil) { best, value in
            guard let best else { return value }
            return isBetter(order(value, best)) ? value : best
        }
    }

    private func order(_ a: EngineValue, _ b: EngineValue) -> Int {
        must { () throws(EngineError) in
            try a.withMixed { (x) throws(EngineError) in try b.withMixed { (y) in Mixed.compare(x, y) } }
        }
    }

    private func sum(asAverage: Bool) -> EngineValue {
        let count = values.count
        if values.contains(where: { if case .decimal = $0 { true } else { false } }) {
            let sum = values.reduce(CoreEngine.Decimal128(0)) { $0 + $1.decimal }
            return .decimal(asAverage ? sum / CoreEngine.Decimal128(Int64(count)) : sum)
        }
        if !asAverage, values.allSatisfy({ if case .int = $0 { true } else { false } }) {
            // The sum is exact, because the sum of all values that fit in memory has at most 34 digits.
            let sum = values.reduce(CoreEngine.Decimal128(0)) { $0 + CoreEngine.Decimal128($1.integer) }
            return sum.truncatedInt64.map { .int($0) } ?? .decimal(sum)
        }
        let sum = values.reduce(0.0) { $0 + $1.double }
        return .double(asAverage ? sum / Double(count) : sum)
    }
}

extension EngineValue {
    fileprivate var integer: Int64 { if case .int(let value) = self { value } else { 0 } }

    fileprivate var double: Double {
        switch self {
        case .int(let value): Double(value)
        case .float(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): value.double
        default: 0
        }
    }

    fileprivate var decimal: CoreEngine.Decimal128 {
        switch self {
        case .int(let value): CoreEngine.Decimal128(value)
        case .decimal(let value): value
        default: Decimal128(double).value
        }
    }
}

/// Converts a sum of values of any type to a decimal number, as the engine does.
func decimal<Value>(_ sum: Value) -> Value {
    guard let any = sum as? AnyRealmValue, case .int(let value) = any else { return sum }
    return AnyRealmValue.decimal128(Decimal128(value)) as? Value ?? sum
}
