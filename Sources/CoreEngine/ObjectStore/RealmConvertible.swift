/// A Swift type whose values properties hold, both ways: `object.set("age", 30)`, `object.get("age", as: Int.self)`.
///
/// The standard library's types are: integers, `Bool`, `String`, `Float`, `Double`, optionals, and arrays and
/// dictionaries of such. `CoreEngineFoundation` adds `Date`, `Data` and `UUID`. An enum says that it is one, and is
/// stored as its raw value:
///
///     enum Kind: String, RealmConvertible { case cat, dog }
public protocol RealmConvertible {
    /// What the value stands for in this type; nil: it is of another one, or too large for it.
    init?(realmValue: RealmValue)

    /// What a property holds for it.
    var realmValue: RealmValue { get }
}

extension RealmValue {
    /// A value of any type that properties hold.
    public init(_ value: some RealmConvertible) { self = value.realmValue }

    /// The value in another type; nil when it is none of that type.
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
    /// Of a `Float`, too, which fits.
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
    /// Null is `nil`; a value that is none of the type is an error all the same.
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
    /// Of a list or set, where each element is of the type.
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
    /// Of a dictionary, where each value is of the type.
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
    /// Of a raw value that is one of the cases.
    public init?(realmValue: RealmValue) {
        guard let raw = RawValue(realmValue: realmValue) else { return nil }
        self.init(rawValue: raw)
    }

    public var realmValue: RealmValue { rawValue.realmValue }
}

extension RealmObject {
    /// The value of a property in a type of Swift.
    ///
    ///     let age = try person.get("age", as: Int?.self), tags = try person.get("tags", as: [String].self)
    ///
    /// - Throws: 3001 when the value is none of that type, as null is no `Int`; else as `get` without a type.
    public func get<T: RealmConvertible>(_ name: Name, as type: T.Type) throws(RealmError) -> T {
        let value = try get(name)
        guard let converted = T(realmValue: value) else {
            throw RealmError(
                .typeMismatch, "Property '\(className).\(name)' holds \(value.debugDescription), which is no \(type)")
        }
        return converted
    }

    /// Stores a value of a Swift type; else as `set` with a `RealmValue`.
    public func set(_ name: Name, _ value: some RealmConvertible) throws(RealmError) { try set(name, value.realmValue) }
}
