import Foundation

/// Encodes and decodes objects as JSON and in other formats, for models that conform to `Codable`. The `init(from:)`
/// and `encode(to:)` that the compiler generates visit the wrappers, which encode and decode their values.
///
/// A wrapper does not know its object, so it can be encoded only while the object is unmanaged. To encode a managed
/// object, encode the result of `detach()`.
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
        // A container is needed because encoders treat dates and bytes specially.
        var container = encoder.singleValueContainer()
        try container.encode(value ?? Value._rlmDefault())
    }
}

extension KeyedDecodingContainer {
    /// Decodes an optional property. The key may be missing.
    public func decode<Value: Decodable>(_ type: Persisted<Value?>.Type, forKey key: Key) throws -> Persisted<Value?> {
        Persisted(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
    }
}

/// Objects that can be copied to unmanaged objects.
public protocol _Detachable {}

extension Object: _Detachable {}

extension EmbeddedObject: _Detachable {}

extension _Detachable where Self: ObjectBase {
    /// Returns an unmanaged copy with the current values, for use on any thread.
    ///
    /// - Parameter depth: The number of links to follow. Objects beyond this depth are left out: links become nil, and
    ///   collections omit the elements. Embedded objects are always copied. An object that is reached twice is copied
    ///   once.
    public func detach(depth: Int = .max) -> Self {
        var copies = Copies(depth)
        return unsafeDowncast(copies.all(from: self), to: Self.self)
    }
}

/// Copies objects and the objects that they lead to, nearest first. Chains of links may be long, so the copy does not
/// use recursion. Each object is reached on its shortest path.
private struct Copies {
    /// Copies by the identity of their originals. The originals are retained, because another instance could otherwise
    /// get the identity of a released one.
    private var known: [Addition.Identity: (original: ObjectBase, copy: ObjectBase)] = [:]

    /// Originals whose copies have no values yet: those at the current depth, and those one link further.
    private var here: [ObjectBase] = [], next: [ObjectBase] = []

    /// The number of links that may still be followed.
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

    /// Returns the copy of an object. The copy gets its values later.
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
            // Beyond the depth, only objects that are copied anyway can be linked.
            return depth > 0 ? copy(object, isNext: true) : known[object.identity]?.copy
        case let map as any AnyEntries:
            var values: [String: Any] = [:]
            for (key, value) in map.allEntries { values[key] = .some(plain(value) as Any) }
            return values
        case let value as AnyRealmValue: return plain(value.any)
        case let value?:
            guard let elements = (value as? any PropertyCollection).flatMap({ sequence(in: $0) }) else { return value }
            // Values may be nil. Objects that are left out leave no gap.
            return elements.compactMap { element -> Any? in
                let copy = plain(element), value = unwrapped(element)
                let isNothing = value == nil || (value as? AnyRealmValue).map { $0.any == nil } ?? false
                return copy == nil && !isNothing ? nil : .some(copy as Any)
            }
        case nil: return nil
        }
    }
}

/// Maps with unknown types.
protocol AnyEntries { var allEntries: [(String, Any)] { get } }

extension Map: AnyEntries {
    var allEntries: [(String, Any)] { asKeyValueSequence().map { ($0.key._rlmKey, $0.value as Any) } }
}
