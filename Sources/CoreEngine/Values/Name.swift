/// A text that counts by its bytes: the name of a class, a property, a table or a file.
///
/// Swift compares a `String` by Unicode equivalence: "é" as one code point and as "e" with a combining accent are equal. In a file they are
/// two names, and so they are here. What is looked up by a text from a file or a caller is looked up by a `Name`.
public struct Name: Hashable, Comparable, Sendable {
    public let text: String
    public init(_ text: String) { self.text = text }

    public var utf8: String.UTF8View { text.utf8 }
    public var isEmpty: Bool { text.isEmpty }

    public static func == (a: Name, b: Name) -> Bool { a.utf8.count == b.utf8.count && a.utf8.elementsEqual(b.utf8) }
    public static func < (a: Name, b: Name) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }
    public func hash(into hasher: inout Hasher) {
        for byte in utf8 { hasher.combine(byte) }
        hasher.combine(0xFF as UInt8)
    }

    static func + (a: Name, b: Name) -> Name { Name(a.text + b.text) }
    func hasPrefix(_ prefix: Name) -> Bool { utf8.starts(with: prefix.utf8) }
    /// What follows `prefix`; nil when the name does not begin with it.
    func after(_ prefix: Name) -> Name? { hasPrefix(prefix) ? Name(String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self)) : nil }
}

extension Name: ExpressibleByStringLiteral, CustomStringConvertible {
    public init(stringLiteral text: String) { self.text = text }
    public var description: String { text }
}
