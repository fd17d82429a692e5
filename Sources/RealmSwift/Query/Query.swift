internal import CoreEngine
import Foundation

/// A type-safe condition on objects.
///
///     realm.objects(Person.self).where { $0.age > 3 && $0.dogs.name.contains("x") }
///
/// The closure runs once, without any object, and builds the condition that the engine evaluates. A comparison of a
/// property behind a list, a set, a map or linking objects is true if it is true for any element. `(… && …).count`
/// counts the elements of one collection that satisfy all conditions together.
@dynamicMemberLookup
public struct Query<T> {
    let node: QueryNode

    init(_ node: QueryNode) { self.node = node }

    /// Returns the query that closures get as their argument.
    public static func _constructForTesting() -> Query<T> { Query(.path([], collections: nil)) }

    /// Returns the format and arguments for `filter`.
    public func _constructPredicate() -> (String, [Any]) { node.format }

    func compared<U>(_ op: CompareOperator, _ value: U, _ options: StringOptions = []) -> Query<Bool> {
        Query<Bool>(.comparison(op, options.folding, node, .constant(value)))
    }

    func compared<U>(_ op: CompareOperator, _ other: Query<U>, _ options: StringOptions = []) -> Query<Bool> {
        Query<Bool>(.comparison(op, options.folding, node, other.node))
    }

    /// Returns the query for a property behind this one.
    func property<V>(_ name: String, isCollection: Bool = false) -> Query<V> {
        guard case .path(let names, let collections) = node else { misuse("Cannot apply key path to Map subscripts.") }
        let all = names + name.split(separator: ".").map(String.init)
        guard V.self is any QueryManyValues.Type || isCollection else {
            return Query<V>(.path(all, collections: collections))
        }
        return Query<V>(.path(all, collections: (collections?.lowerBound ?? all.count)...all.count))
    }

    func aggregate<V>(_ kind: QueryNode.Aggregate) -> Query<V> { Query<V>(.aggregate(kind, node)) }
}

/// Collections.
protocol QueryManyValues {}

extension List: QueryManyValues {}

extension MutableSet: QueryManyValues {}

extension LinkingObjects: QueryManyValues {}

extension AnyRealmCollection: QueryManyValues {}

extension Map: QueryManyValues {}

/// An optional type, for use in constraints of queries.
public protocol OptionalProtocol {
    associatedtype Wrapped
}

extension Optional: OptionalProtocol {}

// MARK: Comparable types

/// Types whose values can be ordered.
public protocol _QueryOrdered {}

extension Optional: _QueryOrdered where Wrapped: _HasPersistedType, Wrapped.PersistedType: _QueryOrdered {}

/// Numbers, dates and values of any type: the types that queries order and compute with.
public protocol _QueryNumeric: _QueryOrdered {}

extension Int: _QueryNumeric {}

extension Int8: _QueryNumeric {}

extension Int16: _QueryNumeric {}

extension Int32: _QueryNumeric {}

extension Int64: _QueryNumeric {}

extension Float: _QueryNumeric {}

extension Double: _QueryNumeric {}

extension Decimal128: _QueryNumeric {}

extension Date: _QueryNumeric {}

extension AnyRealmValue: _QueryNumeric {}

extension Optional: _QueryNumeric where Wrapped: _HasPersistedType, Wrapped.PersistedType: _QueryNumeric {}

/// Strings and binary data.
public protocol _QueryBinary: _QueryOrdered {}

/// Strings.
public protocol _QueryString: _QueryBinary {}

extension String: _QueryString {}

extension Data: _QueryBinary {}

extension Optional: _QueryBinary where Wrapped: _HasPersistedType, Wrapped.PersistedType: _QueryBinary {}

extension Optional: _QueryString where Wrapped: _HasPersistedType, Wrapped.PersistedType: _QueryString {}

// MARK: Properties

extension Query where T: ObjectBase {
    public subscript<V>(dynamicMember member: Swift.KeyPath<T, V>) -> Query<V> { property(nameOfStored(member)) }
}

extension Query where T: OptionalProtocol, T.Wrapped: ObjectBase {
    public subscript<V>(dynamicMember member: Swift.KeyPath<T.Wrapped, V>) -> Query<V> {
        property(nameOfStored(member))
    }
}

extension Query where T: RealmCollection, T.Element: ObjectBase {
    public subscript<V>(dynamicMember member: Swift.KeyPath<T.Element, V>) -> Query<V> {
        property(nameOfStored(member))
    }
}

extension Query where T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: ObjectBase {
    public subscript<V>(dynamicMember member: Swift.KeyPath<T.Value.Wrapped, V>) -> Query<V> {
        property(nameOfStored(member))
    }
}

// MARK: Logic

extension Query where T == Bool {
    public static prefix func ! (query: Query) -> Query<Bool> { Query(.not(query.node)) }

    public static func && (a: Query, b: Query) -> Query<Bool> { Query(.and(a.node, b.node)) }

    public static func || (a: Query, b: Query) -> Query<Bool> { Query(.or(a.node, b.node)) }

    /// The number of elements that satisfy all conditions. All conditions must be about the same collection.
    public var count: Query<Int> { Query<Int>(.subquery(node)) }
}

// MARK: Comparisons

extension Query {
    public static func == (a: Query, b: T) -> Query<Bool> { a.compared(.equal, b) }

    public static func != (a: Query, b: T) -> Query<Bool> { a.compared(.notEqual, b) }

    public static func == (a: Query, b: Query) -> Query<Bool> { a.compared(.equal, b) }

    public static func != (a: Query, b: Query) -> Query<Bool> { a.compared(.notEqual, b) }

    /// Returns a condition that is true if the value is one of these values.
    public func `in`<U: Sequence>(_ collection: U) -> Query<Bool> where U.Element == T {
        compared(.in, Array(collection))
    }
}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryOrdered {
    public static func > (a: Query, b: T) -> Query<Bool> { a.compared(.greater, b) }

    public static func >= (a: Query, b: T) -> Query<Bool> { a.compared(.greaterEqual, b) }

    public static func < (a: Query, b: T) -> Query<Bool> { a.compared(.less, b) }

    public static func <= (a: Query, b: T) -> Query<Bool> { a.compared(.lessEqual, b) }

    public static func > (a: Query, b: Query) -> Query<Bool> { a.compared(.greater, b) }

    public static func >= (a: Query, b: Query) -> Query<Bool> { a.compared(.greaterEqual, b) }

    public static func < (a: Query, b: Query) -> Query<Bool> { a.compared(.less, b) }

    public static func <= (a: Query, b: Query) -> Query<Bool> { a.compared(.lessEqual, b) }
}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryNumeric {
    // Aggregates of a property behind a collection.
    public var min: Query { aggregate(.of(.min)) }
    public var max: Query { aggregate(.of(.max)) }
    public var avg: Query { aggregate(.of(.average)) }
    public var sum: Query { aggregate(.of(.sum)) }
}

extension Query where T: Comparable {
    public func contains(_ range: Range<T>) -> Query<Bool> { within(range) }

    public func contains(_ range: ClosedRange<T>) -> Query<Bool> {
        Query<Bool>(.between(node, range.lowerBound, range.upperBound))
    }
}

extension Query where T: OptionalProtocol, T.Wrapped: Comparable {
    public func contains(_ range: Range<T.Wrapped>) -> Query<Bool> { within(range) }

    public func contains(_ range: ClosedRange<T.Wrapped>) -> Query<Bool> {
        Query<Bool>(.between(node, range.lowerBound, range.upperBound))
    }
}

extension Query {
    fileprivate func within<B>(_ range: Range<B>) -> Query<Bool> {
        compared(.greaterEqual, range.lowerBound) && compared(.less, range.upperBound)
    }
}

// MARK: Enums and custom types

extension Query where T: PersistableEnum {
    public var rawValue: Query<T.RawValue> { Query<T.RawValue>(node) }
}

extension Query where T: OptionalProtocol, T.Wrapped: PersistableEnum {
    public var rawValue: Query<T.Wrapped.RawValue?> { Query<T.Wrapped.RawValue?>(node) }
}

extension Query where T: _HasPersistedType {
    /// The persisted value of the property.
    public var persistableValue: Query<T.PersistedType> { Query<T.PersistedType>(node) }
}

// MARK: Strings and binary data

/// Options for the comparison of strings.
public struct StringOptions: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let caseInsensitive = StringOptions(rawValue: 1)

    /// Ignores accents.
    public static let diacriticInsensitive = StringOptions(rawValue: 2)

    /// Follows the rules of Unicode: composed and decomposed letters are equal, and with `caseInsensitive` the letters
    /// of all scripts fold. An addition of this library; without it, `caseInsensitive` folds Latin-1 letters only.
    public static let unicode = StringOptions(rawValue: 4)

    /// The options as the engine names them.
    var folding: Folding {
        var all: Folding = []
        if contains(.caseInsensitive) { all.insert(.cases) }
        if contains(.diacriticInsensitive) { all.insert(.accents) }
        if contains(.unicode) { all.insert(.unicode) }
        return all
    }
}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryBinary {
    public func contains(_ value: T, options: StringOptions = []) -> Query<Bool> {
        compared(.contains, value, options)
    }

    public func contains<U>(_ column: Query<U>, options: StringOptions = []) -> Query<Bool>
    where U: _HasPersistedType, U.PersistedType: _QueryBinary {
        compared(.contains, column, options)
    }

    public func starts(with value: T, options: StringOptions = []) -> Query<Bool> {
        compared(.beginsWith, value, options)
    }

    public func starts<U>(with column: Query<U>, options: StringOptions = []) -> Query<Bool> {
        compared(.beginsWith, column, options)
    }

    public func ends(with value: T, options: StringOptions = []) -> Query<Bool> {
        compared(.endsWith, value, options)
    }

    public func ends<U>(with column: Query<U>, options: StringOptions = []) -> Query<Bool> {
        compared(.endsWith, column, options)
    }

    public func equals(_ value: T, options: StringOptions = []) -> Query<Bool> { compared(.equal, value, options) }

    public func equals<U>(_ column: Query<U>, options: StringOptions = []) -> Query<Bool> {
        compared(.equal, column, options)
    }

    public func notEquals(_ value: T, options: StringOptions = []) -> Query<Bool> {
        compared(.notEqual, value, options)
    }

    public func notEquals<U>(_ column: Query<U>, options: StringOptions = []) -> Query<Bool> {
        compared(.notEqual, column, options)
    }
}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryString {
    /// Compares a string with a pattern, in which `?` matches one character and `*` matches any number of characters.
    public func like(_ value: T, caseInsensitive: Bool = false) -> Query<Bool> {
        compared(.like, value, caseInsensitive ? .caseInsensitive : [])
    }

    public func like<U>(_ column: Query<U>, caseInsensitive: Bool = false) -> Query<Bool> {
        compared(.like, column, caseInsensitive ? .caseInsensitive : [])
    }
}

// MARK: Queries of collections

extension RealmCollection {
    /// Returns the elements that match a condition.
    public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> {
        filtered(BuiltCondition(isIncluded))
    }

    /// Returns the index of the first element that matches a condition; nil if no element matches.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? {
        firstIndex(BuiltCondition(isIncluded))
    }
}

extension Map {
    /// Returns the values that match a condition.
    public func `where`(_ isIncluded: (Query<Value>) -> Query<Bool>) -> Results<Value> {
        filtered(BuiltCondition(isIncluded))
    }
}

extension BuiltCondition {
    init<Element: RealmCollectionValue>(_ isIncluded: (Query<Element>) -> Query<Bool>) {
        let query = isIncluded(Query<Element>._constructForTesting())
        self.init(query.node)
        query.node.verifyAggregates(Element._rlmShape.target.map { ClassInfo.of($0) })
    }
}
