internal import CoreEngine

/// Conditions on lists, sets, maps, linking objects and values of any type.

// MARK: Collections

extension Query where T: RealmCollection {
    /// Returns a condition that is true if the collection contains a value.
    public func contains(_ value: T.Element) -> Query<Bool> {
        Query<Bool>(.comparison(.in, [], .constant(value), node.asWhole))
    }

    /// Returns a condition that is true if the collection contains any of these values.
    public func containsAny<U: Sequence>(in collection: U) -> Query<Bool> where U.Element == T.Element {
        compared(.in, Array(collection))
    }

    public var count: Query<Int> { aggregate(.count) }

    public static func == (a: Query, b: T.Element) -> Query<Bool> { a.compared(.equal, b) }

    public static func != (a: Query, b: T.Element) -> Query<Bool> { a.compared(.notEqual, b) }

    /// The persisted values of the elements.
    public var persistableValue: Query<AnyRealmCollection<T.Element.PersistedType>> {
        Query<AnyRealmCollection<T.Element.PersistedType>>(node)
    }
}

extension Query where T: RealmCollection, T.Element.PersistedType: _QueryNumeric {
    public static func > (a: Query, b: T.Element) -> Query<Bool> { a.compared(.greater, b) }

    public static func >= (a: Query, b: T.Element) -> Query<Bool> { a.compared(.greaterEqual, b) }

    public static func < (a: Query, b: T.Element) -> Query<Bool> { a.compared(.less, b) }

    public static func <= (a: Query, b: T.Element) -> Query<Bool> { a.compared(.lessEqual, b) }
    public var min: Query<T.Element> { aggregate(.of(.min)) }
    public var max: Query<T.Element> { aggregate(.of(.max)) }
    public var avg: Query<T.Element> { aggregate(.of(.average)) }
    public var sum: Query<T.Element> { aggregate(.of(.sum)) }
}

extension Query where T: RealmCollection, T.Element: Comparable {
    /// Returns a condition that is true if all elements are in a range.
    public func contains(_ range: Range<T.Element>) -> Query<Bool> {
        allWithin(range.lowerBound, .less, range.upperBound)
    }

    public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> {
        allWithin(range.lowerBound, .lessEqual, range.upperBound)
    }
}

extension Query where T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: Comparable {
    /// Returns a condition that is true if all elements are in a range.
    public func contains(_ range: Range<T.Element.Wrapped>) -> Query<Bool> {
        allWithin(range.lowerBound, .less, range.upperBound)
    }

    public func contains(_ range: ClosedRange<T.Element.Wrapped>) -> Query<Bool> {
        allWithin(range.lowerBound, .lessEqual, range.upperBound)
    }
}

extension Query {
    fileprivate func allWithin<B>(_ low: B, _ op: CompareOperator, _ high: B) -> Query<Bool> {
        let least: Query<B> = aggregate(.of(.min)), greatest: Query<B> = aggregate(.of(.max))
        return least.compared(.greaterEqual, low) && greatest.compared(op, high)
    }
}

extension Query where T: RealmCollection, T.Element: PersistableEnum {
    public var rawValue: Query<AnyRealmCollection<T.Element.RawValue>> {
        Query<AnyRealmCollection<T.Element.RawValue>>(node)
    }
}

extension Query where T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: PersistableEnum {
    public var rawValue: Query<AnyRealmCollection<T.Element.Wrapped.RawValue?>> {
        Query<AnyRealmCollection<T.Element.Wrapped.RawValue?>>(node)
    }
}

// MARK: Maps

extension Query where T: RealmKeyedCollection {
    /// The value for a key.
    public subscript(key: T.Key) -> Query<T.Value> { Query<T.Value>(.element(node.asWhole, key._rlmKey)) }

    /// Any key of the map.
    public var keys: Query<String> { property("@allKeys") }

    /// Any value of the map.
    public var values: Query<T.Value> { property("@allValues") }
    public var count: Query<Int> { aggregate(.count) }

    /// Returns a condition that is true if the map contains a value.
    public func contains(_ value: T.Value) -> Query<Bool> {
        Query<Bool>(.comparison(.in, [], .constant(value), node.asWhole))
    }

    /// Returns a condition that is true if the map contains any of these values.
    public func containsAny<U: Sequence>(in collection: U) -> Query<Bool> where U.Element == T.Value {
        compared(.in, Array(collection))
    }

    public static func == (a: Query, b: T.Value) -> Query<Bool> { a.compared(.equal, b) }

    public static func != (a: Query, b: T.Value) -> Query<Bool> { a.compared(.notEqual, b) }

    /// The persisted values of the map.
    public var persistableValue: Query<Map<T.Key, T.Value.PersistedType>> {
        Query<Map<T.Key, T.Value.PersistedType>>(node)
    }
}

extension Query where T: RealmKeyedCollection, T.Value.PersistedType: _QueryNumeric {
    public var min: Query<T.Value> { aggregate(.of(.min)) }
    public var max: Query<T.Value> { aggregate(.of(.max)) }
    public var avg: Query<T.Value> { aggregate(.of(.average)) }
    public var sum: Query<T.Value> { aggregate(.of(.sum)) }
}

extension Query where T: RealmKeyedCollection, T.Value: Comparable {
    /// Returns a condition that is true if all values are in a range.
    public func contains(_ range: Range<T.Value>) -> Query<Bool> {
        allWithin(range.lowerBound, .less, range.upperBound)
    }

    public func contains(_ range: ClosedRange<T.Value>) -> Query<Bool> {
        allWithin(range.lowerBound, .lessEqual, range.upperBound)
    }
}

extension Query where T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: Comparable {
    /// Returns a condition that is true if all values are in a range.
    public func contains(_ range: Range<T.Value.Wrapped>) -> Query<Bool> {
        allWithin(range.lowerBound, .less, range.upperBound)
    }

    public func contains(_ range: ClosedRange<T.Value.Wrapped>) -> Query<Bool> {
        allWithin(range.lowerBound, .lessEqual, range.upperBound)
    }
}

extension Query where T: RealmKeyedCollection, T.Value: PersistableEnum {
    public var rawValue: Query<Map<T.Key, T.Value.RawValue>> { Query<Map<T.Key, T.Value.RawValue>>(node) }
}

extension Query where T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: PersistableEnum {
    public var rawValue: Query<Map<T.Key, T.Value.Wrapped.RawValue?>> {
        Query<Map<T.Key, T.Value.Wrapped.RawValue?>>(node)
    }
}

// MARK: Values of any type

extension Query where T == AnyRealmValue {
    public subscript(key: String) -> Query<AnyRealmValue> { Query(.element(node, key)) }

    public subscript(index: Int) -> Query<AnyRealmValue> { Query(.element(node, index)) }

    /// Every element of a list or map.
    public var any: Query<AnyRealmValue> { Query(.element(node, QueryAll())) }
}

extension QueryNode {
    /// The collection itself, not one of its elements.
    fileprivate var asWhole: QueryNode {
        guard case .path(let names, _) = self else { return self }
        return .path(names, collections: nil)
    }
}
