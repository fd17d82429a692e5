import Foundation

/// Objects as JSON and other forms, for models that say `Codable`: the compiler's own `init(from:)` and `encode(to:)` go over the wrappers, which
/// stand for their values.
///
/// A wrapper does not know its object, so it can be encoded while the object is unmanaged: of a managed one, encode `detach()`.
extension Persisted: Decodable where Value: Decodable {
    public init(from decoder: any Decoder) throws { self.init(wrappedValue: try decoder.singleValueContainer().decode(Value.self)) }
}
extension Persisted: Encodable where Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        guard index < 0 else {
            throw EncodingError.invalidValue(
                self, .init(codingPath: encoder.codingPath, debugDescription: "Objects of a Realm are encoded as copies: object.detach()"))
        }
        // By a container: encoders have ways of their own with dates and bytes.
        var c = encoder.singleValueContainer()
        try c.encode(value ?? Value._rlmDefault())
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
    /// - Parameter depth: how many links to follow; what lies behind stays out: nil in links, nothing in collections. Embedded objects are always
    ///   copied. An object that is reached twice is copied once.
    public func detach(depth: Int = .max) -> Self {
        var copies = Copies()
        return unsafeDowncast(detached(depth, &copies), to: Self.self)
    }
}
/// Copies by what they are of. The originals are kept: another instance could get the identity of one.
private struct Copies {
    var all: [Addition.Identity: (original: ObjectBase, copy: ObjectBase)] = [:]
}
extension ObjectBase {
    fileprivate final func detached(_ depth: Int, _ copies: inout Copies) -> ObjectBase {
        if let known = copies.all[identity] { return known.copy }
        let copy = type(of: self).init()
        copies.all[identity] = (self, copy)
        for p in info.properties where !p.shape.isComputed {
            let value = plain(p.access.any(self, p), depth, &copies)
            _ = p.access.setAny(copy, p, value as Any)
        }
        return copy
    }
    private final func plain(_ any: Any?, _ depth: Int, _ copies: inout Copies) -> Any? {
        switch any.flatMap(unwrapped) {
        case let object as ObjectBase:
            if object is EmbeddedObject { return object.detached(depth, &copies) }
            return depth > 0 ? object.detached(depth - 1, &copies) : nil
        case let map as any AnyEntries:
            var values: [String: Any] = [:]
            for (key, value) in map.allEntries { values[key] = .some(plain(value, depth, &copies) as Any) }
            return values
        case let value as AnyRealmValue: return plain(value.any, depth, &copies)
        case let value?:
            guard let elements = (value as? any PropertyCollection).flatMap({ sequence(in: $0) }) else { return value }
            // Values may be nil; objects that stay out leave no gap.
            return elements.compactMap { element -> Any? in
                let copy = plain(element, depth, &copies)
                return copy == nil && unwrapped(element) != nil ? nil : .some(copy as Any)
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
