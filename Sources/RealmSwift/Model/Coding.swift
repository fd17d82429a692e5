import Foundation

/// Objects as JSON and other forms, for models that say `Codable`: the compiler's own `init(from:)` and `encode(to:)`
/// go over the wrappers, which stand for their values.
///
/// A wrapper does not know its object, so it can be encoded while the object is unmanaged: of a managed one, encode
/// `detach()`.
extension Persisted: Decodable where Value: Decodable {
    public init(from decoder: any Decoder) throws {
        self.init(wrappedValue: try decoder.singleValueContainer().decode(Value.self))
    }
}

extension Persisted: Encodable where Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        guard index < 0 else {
            throw EncodingError.invalidValue(
                self,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription: "Objects of a Realm are encoded as copies: object.detach()"))
        }
        // By a container: encoders have ways of their own with dates and bytes.
        var container = encoder.singleValueContainer()
        try container.encode(value ?? Value._rlmDefault())
    }
}

extension KeyedDecodingContainer {
    /// An optional property may be left out.
    public func decode<Value: Decodable>(_ type: Persisted<Value?>.Type, forKey key: Key) throws -> Persisted<Value?> {
        Persisted(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
    }
}

/// Copies that no Realm manages.
public protocol _Detachable {}

extension Object: _Detachable {}

extension EmbeddedObject: _Detachable {}

extension _Detachable where Self: ObjectBase {
    /// An unmanaged copy with the values of this moment, for any thread.
    ///
    /// - Parameter depth: how many links to follow; what lies behind stays out: nil in links, nothing in collections.
    ///   Embedded objects are always copied. An object that is reached twice is copied once.
    public func detach(depth: Int = .max) -> Self {
        var copies = Copies(depth)
        return unsafeDowncast(copies.all(from: self), to: Self.self)
    }
}

/// Copies of objects and of what they lead to, nearest first: chains of links may be long, so they are followed without
/// recursion, and each object is met on the shortest way to it.
private struct Copies {
    /// By what they are of. The originals are kept: another instance could get the identity of one.
    private var known: [Addition.Identity: (original: ObjectBase, copy: ObjectBase)] = [:]

    /// Made, and still without values: as many links away as is gone over now, and one more.
    private var here: [ObjectBase] = [], next: [ObjectBase] = []

    /// Links that may still be followed.
    private var depth: Int

    init(_ depth: Int) { self.depth = depth }

    mutating func all(from object: ObjectBase) -> ObjectBase {
        let first = copy(object, isNext: false)
        while !here.isEmpty {
            while let original = here.popLast() {
                if let copy = known[original.identity]?.copy { fill(copy, from: original) }
            }
            (here, next) = (next, [])
            depth -= 1
        }
        return first
    }

    /// The copy, which gets its values later.
    private mutating func copy(_ object: ObjectBase, isNext: Bool) -> ObjectBase {
        if let (_, copy) = known[object.identity] { return copy }
        let copy = type(of: object).init()
        known[object.identity] = (object, copy)
        if isNext { next.append(object) } else { here.append(object) }
        return copy
    }

    private mutating func fill(_ copy: ObjectBase, from original: ObjectBase) {
        for property in original.info.properties where !property.shape.isComputed {
            _ = property.access.setAny(copy, property, plain(property.access.any(original, property)) as Any)
        }
    }

    private mutating func plain(_ any: Any?) -> Any? {
        switch any.flatMap(unwrapped) {
        case let object as EmbeddedObject: return copy(object, isNext: false)
        case let object as ObjectBase:
            // What is copied anyway is no further away.
            return depth > 0 ? copy(object, isNext: true) : known[object.identity]?.copy
        case let map as any AnyEntries:
            var values: [String: Any] = [:]
            for (key, value) in map.allEntries { values[key] = .some(plain(value) as Any) }
            return values
        case let value as AnyRealmValue: return plain(value.any)
        case let value?:
            guard let elements = (value as? any PropertyCollection).flatMap({ sequence(in: $0) }) else { return value }
            // Values may be nil; objects that stay out leave no gap.
            return elements.compactMap { element -> Any? in
                let copy = plain(element), value = unwrapped(element)
                let isNothing = value == nil || (value as? AnyRealmValue).map { $0.any == nil } ?? false
                return copy == nil && !isNothing ? nil : .some(copy as Any)
            }
        case nil: return nil
        }
    }
}

/// Maps whose types are not known.
protocol AnyEntries { var allEntries: [(String, Any)] { get } }

extension Map: AnyEntries {
    var allEntries: [(String, Any)] { asKeyValueSequence().map { ($0.key._rlmKey, $0.value as Any) } }
}
