/// A condition on objects, checked by the compiler.
///
///     realm.objects(Person.self).where { $0.age > 3 && $0.dogs.name.contains("x") }
///
/// The closure runs once, and builds what the engine evaluates: it sees no object. A comparison of a property behind a list, a set, a map or
/// linking objects
/// holds when it holds for any element. `(… && …).count` counts the elements of one collection that meet all conditions together.
@dynamicMemberLookup
public struct Query<T> {
    let node: QueryNode
    init(_ node: QueryNode) { self.node = node }

    /// The query that a closure is given.
    public static func _constructForTesting() -> Query<T> { Query(.path([], collection: nil)) }
    /// The format and arguments that `filter` takes.
    public func _constructPredicate() -> (String, [Any]) { node.format }

    func compared<U>(_ sign: String, _ value: U) -> Query<Bool> { Query<Bool>(.comparison(sign, node, .constant(value))) }
    func compared<U>(_ sign: String, _ other: Query<U>) -> Query<Bool> { Query<Bool>(.comparison(sign, node, other.node)) }
    /// A property behind this one.
    func property<V>(_ name: String, isCollection: Bool = false) -> Query<V> {
        guard case .path(let names, let collection) = node else { misuse("'\(name)' is asked of something that is no object") }
        let all = names + name.split(separator: ".").map(String.init)
        return Query<V>(.path(all, collection: V.self is any QueryManyValues.Type || isCollection ? all.count : collection))
    }
    func aggregate<V>(_ kind: String) -> Query<V> { Query<V>(.aggregate(kind, node)) }
}
/// Collections.
protocol QueryManyValues {}
extension List: QueryManyValues {}
extension MutableSet: QueryManyValues {}
extension LinkingObjects: QueryManyValues {}
extension Map: QueryManyValues {}

/// An optional, as constraints of queries name it.
public protocol OptionalProtocol {
    associatedtype Wrapped
}
extension Optional: OptionalProtocol {}

// MARK: Properties

extension Query where T: ObjectBase {
    public subscript<V>(dynamicMember member: Swift.KeyPath<T, V>) -> Query<V> { property(name(of: member)) }
}
extension Query where T: OptionalProtocol, T.Wrapped: ObjectBase {
    public subscript<V>(dynamicMember member: Swift.KeyPath<T.Wrapped, V>) -> Query<V> { property(name(of: member)) }
}
extension Query where T: RealmCollection, T.Element: ObjectBase {
    public subscript<V>(dynamicMember member: Swift.KeyPath<T.Element, V>) -> Query<V> { property(name(of: member)) }
}
extension Query where T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: ObjectBase {
    public subscript<V>(dynamicMember member: Swift.KeyPath<T.Element.Wrapped, V>) -> Query<V> { property(name(of: member)) }
}
extension Query where T: PersistableEnum {
    public var rawValue: Query<T.RawValue> { Query<T.RawValue>(node) }
}
extension Query where T: OptionalProtocol, T.Wrapped: PersistableEnum {
    public var rawValue: Query<T.Wrapped.RawValue?> { Query<T.Wrapped.RawValue?>(node) }
}
extension Query where T: _CustomPersistable {
    public var persistableValue: Query<T.PersistedType> { Query<T.PersistedType>(node) }
}

// MARK: Logic

extension Query where T == Bool {
    public static prefix func ! (query: Query) -> Query<Bool> { Query(.not(query.node)) }
    public static func && (a: Query, b: Query) -> Query<Bool> { Query(.and(a.node, b.node)) }
    public static func || (a: Query, b: Query) -> Query<Bool> { Query(.or(a.node, b.node)) }
    /// How many elements of the collection that the conditions are about meet all of them.
    public var count: Query<Int> { Query<Int>(.subquery(node)) }
}

// MARK: Comparisons

extension Query {
    public static func == (a: Query, b: T) -> Query<Bool> { a.compared("==", b) }
    public static func != (a: Query, b: T) -> Query<Bool> { a.compared("!=", b) }
    public static func == (a: Query, b: Query) -> Query<Bool> { a.compared("==", b) }
    public static func != (a: Query, b: Query) -> Query<Bool> { a.compared("!=", b) }
    /// Whether the value is one of these.
    public func `in`<U: Sequence>(_ collection: U) -> Query<Bool> where U.Element == T { compared("IN", Array(collection)) }
}
extension Query where T: _QueryComparable {
    public static func > (a: Query, b: T) -> Query<Bool> { a.compared(">", b) }
    public static func >= (a: Query, b: T) -> Query<Bool> { a.compared(">=", b) }
    public static func < (a: Query, b: T) -> Query<Bool> { a.compared("<", b) }
    public static func <= (a: Query, b: T) -> Query<Bool> { a.compared("<=", b) }
    public static func > (a: Query, b: Query) -> Query<Bool> { a.compared(">", b) }
    public static func >= (a: Query, b: Query) -> Query<Bool> { a.compared(">=", b) }
    public static func < (a: Query, b: Query) -> Query<Bool> { a.compared("<", b) }
    public static func <= (a: Query, b: Query) -> Query<Bool> { a.compared("<=", b) }
}
extension Query where T: Comparable & _QueryComparable {
    public func contains(_ range: Range<T>) -> Query<Bool> { Self.within(self, range) }
    public func contains(_ range: ClosedRange<T>) -> Query<Bool> { Query<Bool>(.between(node, range.lowerBound, range.upperBound)) }
}
extension Query where T: OptionalProtocol, T.Wrapped: Comparable & _QueryComparable {
    public func contains(_ range: Range<T.Wrapped>) -> Query<Bool> { Self.within(self, range) }
    public func contains(_ range: ClosedRange<T.Wrapped>) -> Query<Bool> { Query<Bool>(.between(node, range.lowerBound, range.upperBound)) }
}
extension Query {
    fileprivate static func within<B>(_ query: Query, _ range: Range<B>) -> Query<Bool> {
        query.compared(">=", range.lowerBound) && query.compared("<", range.upperBound)
    }
}

/// Numbers, dates and values of any type: what queries put in an order.
public protocol _QueryComparable {}
extension Int: _QueryComparable {}
extension Int8: _QueryComparable {}
extension Int16: _QueryComparable {}
extension Int32: _QueryComparable {}
extension Int64: _QueryComparable {}
extension Float: _QueryComparable {}
extension Double: _QueryComparable {}
extension Decimal128: _QueryComparable {}
extension AnyRealmValue: _QueryComparable {}
extension Optional: _QueryComparable where Wrapped: _QueryComparable {}

// MARK: Texts and bytes

/// What comparisons of texts leave out of account.
public struct StringOptions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let caseInsensitive = StringOptions(rawValue: 1)
    /// Not supported by the engine: it is misuse.
    public static let diacriticInsensitive = StringOptions(rawValue: 2)
    var text: String {
        isEmpty ? "" : "[" + (contains(.caseInsensitive) ? "c" : "") + (contains(.diacriticInsensitive) ? "d" : "") + "]"
    }
}
/// Texts.
public protocol _QueryString {}
extension String: _QueryString {}
extension Optional: _QueryString where Wrapped: _QueryString {}
/// Texts and bytes.
public protocol _QueryBinary {}
extension String: _QueryBinary {}
extension Optional: _QueryBinary where Wrapped: _QueryBinary {}

extension Query where T: _QueryBinary {
    public func contains(_ value: T, options: StringOptions = []) -> Query<Bool> { compared("CONTAINS\(options.text)", value) }
    public func contains(_ column: Query, options: StringOptions = []) -> Query<Bool> { compared("CONTAINS\(options.text)", column) }
    public func starts(with value: T, options: StringOptions = []) -> Query<Bool> { compared("BEGINSWITH\(options.text)", value) }
    public func starts(with column: Query, options: StringOptions = []) -> Query<Bool> { compared("BEGINSWITH\(options.text)", column) }
    public func ends(with value: T, options: StringOptions = []) -> Query<Bool> { compared("ENDSWITH\(options.text)", value) }
    public func ends(with column: Query, options: StringOptions = []) -> Query<Bool> { compared("ENDSWITH\(options.text)", column) }
    public func equals(_ value: T, options: StringOptions = []) -> Query<Bool> { compared("==\(options.text)", value) }
    public func equals(_ column: Query, options: StringOptions = []) -> Query<Bool> { compared("==\(options.text)", column) }
    public func notEquals(_ value: T, options: StringOptions = []) -> Query<Bool> { compared("!=\(options.text)", value) }
    public func notEquals(_ column: Query, options: StringOptions = []) -> Query<Bool> { compared("!=\(options.text)", column) }
}
extension Query where T: _QueryString {
    /// `?` stands for one character, `*` for any number.
    public func like(_ value: T, caseInsensitive: Bool = false) -> Query<Bool> { compared("LIKE\(caseInsensitive ? "[c]" : "")", value) }
    public func like(_ column: Query, caseInsensitive: Bool = false) -> Query<Bool> { compared("LIKE\(caseInsensitive ? "[c]" : "")", column) }
}

// MARK: Collections

extension Query where T: RealmCollection {
    /// Whether the collection holds a value.
    public func contains(_ value: T.Element) -> Query<Bool> { Query<Bool>(.comparison("IN", .constant(value), node)) }
    /// Whether it holds any of these.
    public func containsAny<U: Sequence>(in collection: U) -> Query<Bool> where U.Element == T.Element { compared("IN", Array(collection)) }
    public var count: Query<Int> { aggregate("@count") }
    public static func == (a: Query, b: T.Element) -> Query<Bool> { a.compared("==", b) }
    public static func != (a: Query, b: T.Element) -> Query<Bool> { a.compared("!=", b) }
}
extension Query where T: RealmCollection, T.Element: _QueryComparable {
    public static func > (a: Query, b: T.Element) -> Query<Bool> { a.compared(">", b) }
    public static func >= (a: Query, b: T.Element) -> Query<Bool> { a.compared(">=", b) }
    public static func < (a: Query, b: T.Element) -> Query<Bool> { a.compared("<", b) }
    public static func <= (a: Query, b: T.Element) -> Query<Bool> { a.compared("<=", b) }
    public var min: Query<T.Element> { aggregate("@min") }
    public var max: Query<T.Element> { aggregate("@max") }
    public var avg: Query<T.Element> { aggregate("@avg") }
    public var sum: Query<T.Element> { aggregate("@sum") }
}
extension Query where T: RealmCollection, T.Element: Comparable & _QueryComparable {
    public func contains(_ range: Range<T.Element>) -> Query<Bool> { Self.inside(self, range) }
    public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> {
        aggregate("@min", T.Element.self) >= range.lowerBound && aggregate("@max", T.Element.self) <= range.upperBound
    }
    private static func inside(_ query: Query, _ range: Range<T.Element>) -> Query<Bool> {
        query.aggregate("@min", T.Element.self) >= range.lowerBound && query.aggregate("@max", T.Element.self) < range.upperBound
    }
    private func aggregate<V>(_ kind: String, _: V.Type) -> Query<V> { aggregate(kind) }
}
/// A property behind a collection.
extension Query where T: _QueryComparable {
    public var min: Query { aggregate("@min") }
    public var max: Query { aggregate("@max") }
    public var avg: Query { aggregate("@avg") }
    public var sum: Query { aggregate("@sum") }
}

// MARK: Maps and values of any type

/// Maps, as constraints of queries name them.
public protocol _QueryMap {
    associatedtype Key: _MapKey
    associatedtype Value: RealmCollectionValue
}
extension Map: _QueryMap {}
extension Query where T: _QueryMap {
    /// The value of a key.
    public subscript(key: T.Key) -> Query<T.Value> { Query<T.Value>(.element(plain, key._rlmKey)) }
    public var keys: Query<List<T.Key>> { property("@allKeys", isCollection: true) }
    public var values: Query<List<T.Value>> { property("@allValues", isCollection: true) }
    public var count: Query<Int> { aggregate("@count") }
    /// Whether the map holds a value.
    public func contains(_ value: T.Value) -> Query<Bool> { Query<Bool>(.comparison("IN", .constant(value), node)) }
    public static func == (a: Query, b: T.Value) -> Query<Bool> { a.compared("==", b) }
    public static func != (a: Query, b: T.Value) -> Query<Bool> { a.compared("!=", b) }
    /// One entry is meant, not any.
    private var plain: QueryNode {
        guard case .path(let names, _) = node else { return node }
        return .path(names, collection: nil)
    }
}
extension Query where T == AnyRealmValue {
    public subscript(key: String) -> Query<AnyRealmValue> { Query(.element(node, key)) }
    public subscript(index: Int) -> Query<AnyRealmValue> { Query(.element(node, index)) }
    /// Every element of a list or map.
    public var any: Query<AnyRealmValue> { Query(.element(node, QueryAll())) }
}

// MARK: Asking

extension RealmCollection {
    /// The elements that meet a condition.
    public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> { filtered(FormatString(isIncluded)) }
    /// Index of the first element that meets a condition.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? { firstIndex(FormatString(isIncluded)) }
}
extension Map {
    /// The values that meet a condition.
    public func `where`(_ isIncluded: (Query<Value>) -> Query<Bool>) -> Results<Value> {
        let rows = rows(), query = FormatString(isIncluded)
        return Results(rows.derived { () throws(EngineError) in try query.filtered(rows) })
    }
}
extension FormatString {
    fileprivate init<Element>(_ isIncluded: (Query<Element>) -> Query<Bool>) {
        let (format, arguments) = isIncluded(Query<Element>._constructForTesting())._constructPredicate()
        self.init(format, arguments)
    }
}
