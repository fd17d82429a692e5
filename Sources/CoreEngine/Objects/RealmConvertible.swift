/// A Swift type that properties can store. Values are converted in both directions:
/// `object.set("age", 30)`, `object.get("age", as: Int.self)`.
///
/// Of the standard library: integers, `Bool`, `String`, `Float`, `Double`, optionals, and arrays and dictionaries of
/// these. `CoreEngineFoundation` adds `Date`, `Data` and `UUID`. An enum declares the conformance and is stored as its
/// raw value:
///
///     enum Kind: String, RealmConvertible { case cat, dog }
public protocol RealmConvertible {
    /// Converts a stored value to this type; nil when the value has another type or is out of range.
    init?(realmValue: RealmValue)

    /// The value that a property stores.
    var realmValue: RealmValue { get }
}

extension RealmValue {
    /// Converts a value of any type that properties can store.
    public init(_ value: some RealmConvertible) { self = value.realmValue }

    /// The value converted to another type; nil when the conversion fails.
    public func `as`<T: RealmConvertible>(_ type: T.Type) -> T? { T(realmValue: self) }
}

extension RealmValue: RealmConvertible {
    public init?(realmValue: RealmValue) { self = realmValue }
    public var realmValue: RealmValue { self }
}

extension RealmConvertible where Self: FixedWidthInteger {
    public init?(realmValue: RealmValue) {
        guard case .int(let value) = realmValue else { return nil }
        self.init(exactly: value)
    }

    public var realmValue: RealmValue { .int(Int64(clamping: self)) }
}

extension Int: RealmConvertible {}

extension Int8: RealmConvertible {}

extension Int16: RealmConvertible {}

extension Int32: RealmConvertible {}

extension Int64: RealmConvertible {}

extension Bool: RealmConvertible {
    public init?(realmValue: RealmValue) {
        guard case .bool(let value) = realmValue else { return nil }
        self = value
    }

    public var realmValue: RealmValue { .bool(self) }
}

extension String: RealmConvertible {
    public init?(realmValue: RealmValue) {
        guard case .string(let value) = realmValue else { return nil }
        self = value
    }

    public var realmValue: RealmValue { .string(self) }
}

extension Name: RealmConvertible {
    public init?(realmValue: RealmValue) {
        guard case .string(let value) = realmValue else { return nil }
        self.init(value)
    }

    public var realmValue: RealmValue { .string(text) }
}

extension Float: RealmConvertible {
    public init?(realmValue: RealmValue) {
        guard case .float(let value) = realmValue else { return nil }
        self = value
    }

    public var realmValue: RealmValue { .float(self) }
}

extension Double: RealmConvertible {
    /// Also accepts a `Float`; the conversion is exact.
    public init?(realmValue: RealmValue) {
        switch realmValue {
        case .double(let value): self = value
        case .float(let value): self = Double(value)
        default: return nil
        }
    }

    public var realmValue: RealmValue { .double(self) }
}

extension Timestamp: RealmConvertible {
    public init?(realmValue: RealmValue) {
        guard case .date(let value) = realmValue else { return nil }
        self = value
    }

    public var realmValue: RealmValue { .date(self) }
}

extension Decimal128: RealmConvertible {
    public init?(realmValue: RealmValue) {
        guard case .decimal(let value) = realmValue else { return nil }
        self = value
    }

    public var realmValue: RealmValue { .decimal(self) }
}

extension ObjectId: RealmConvertible {
    public init?(realmValue: RealmValue) {
        guard case .objectId(let value) = realmValue else { return nil }
        self = value
    }

    public var realmValue: RealmValue { .objectId(self) }
}

extension UUIDValue: RealmConvertible {
    public init?(realmValue: RealmValue) {
        guard case .uuid(let value) = realmValue else { return nil }
        self = value
    }

    public var realmValue: RealmValue { .uuid(self) }
}

extension Optional: RealmConvertible where Wrapped: RealmConvertible {
    /// Null becomes `nil`; a value of another type fails the conversion.
    public init?(realmValue: RealmValue) {
        if case .null = realmValue {
            self = Wrapped?.none
            return
        }
        guard let wrapped = Wrapped(realmValue: realmValue) else { return nil }
        self = wrapped
    }

    public var realmValue: RealmValue { self?.realmValue ?? .null }
}

extension Array: RealmConvertible where Element: RealmConvertible {
    /// From a list or set whose elements all have the type.
    public init?(realmValue: RealmValue) {
        guard case .list(let all) = realmValue else { return nil }
        self = []
        reserveCapacity(all.count)
        for stored in all {
            guard let element = Element(realmValue: stored) else { return nil }
            append(element)
        }
    }

    public var realmValue: RealmValue { .list(map(\.realmValue)) }
}

extension Dictionary: RealmConvertible where Key == Name, Value: RealmConvertible {
    /// From a dictionary whose values all have the type.
    public init?(realmValue: RealmValue) {
        guard case .dictionary(let all) = realmValue else { return nil }
        self = [:]
        for entry in all {
            guard let value = Value(realmValue: entry.value) else { return nil }
            self[entry.key] = value
        }
    }

    public var realmValue: RealmValue { RealmValue(entries: map { ($0.key, $0.value.realmValue) }) }
}

extension RealmConvertible where Self: RawRepresentable, RawValue: RealmConvertible {
    /// From the raw value of a case.
    public init?(realmValue: RealmValue) {
        guard let raw = RawValue(realmValue: realmValue) else { return nil }
        self.init(rawValue: raw)
    }

    public var realmValue: RealmValue { rawValue.realmValue }
}

extension RealmObject {
    /// The value of a property, converted to a Swift type.
    ///
    ///     let age = try person.get("age", as: Int?.self), tags = try person.get("tags", as: [String].self)
    ///
    /// - Throws: 3001 when the value cannot be converted, for example null to `Int`; otherwise the errors of `get`
    ///   without a type.
    public func get<T: RealmConvertible>(_ name: Name, as type: T.Type) throws(RealmError) -> T {
        let value = try get(name)
        guard let converted = T(realmValue: value) else {
            throw RealmError(
                .typeMismatch, "Property '\(className).\(name)' holds \(value.debugDescription), which is no \(type)")
        }
        return converted
    }

    /// Stores a value of a Swift type; otherwise the same as `set` with a `RealmValue`.
    public func set(_ name: Name, _ value: some RealmConvertible) throws(RealmError) { try set(name, value.realmValue) }
}
