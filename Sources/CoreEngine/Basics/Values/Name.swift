/// A text that is compared by its bytes: the name of a class, a property, a table or a file.
///
/// Swift compares a `String` by Unicode equivalence: "é" as one code point equals "e" with a combining accent. In a
/// file these are two names, and so they are here. A lookup by a text from a file or a caller uses a `Name`.
public struct Name: Hashable, Comparable, Sendable {
    /// The text.
    public let text: String

    /// Creates a name from a text.
    public init(_ text: String) { self.text = text }

    /// The bytes of the text.
    public var utf8: String.UTF8View { text.utf8 }

    /// Whether the text is empty.
    public var isEmpty: Bool { text.isEmpty }

    public static func == (a: Name, b: Name) -> Bool {
        a.utf8.count == b.utf8.count
            && a.withBytes { a in b.withBytes { b in CMemory.compare(a.baseAddress, b.baseAddress, a.count) == 0 } }
    }

    public static func < (a: Name, b: Name) -> Bool {
        a.withBytes { a in
            b.withBytes { b in
                let order = CMemory.compare(a.baseAddress, b.baseAddress, min(a.count, b.count))
                return order != 0 ? order < 0 : a.count < b.count
            }
        }
    }

    public func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }

    /// Calls `body` with the bytes. The pointer is valid only during the call.
    @inline(__always) private func withBytes<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        var text = text
        return text.withUTF8(body)
    }

    static func + (a: Name, b: Name) -> Name { Name(a.text + b.text) }

    func hasPrefix(_ prefix: Name) -> Bool { utf8.starts(with: prefix.utf8) }

    /// The part after `prefix`; nil when the name does not begin with it.
    func after(_ prefix: Name) -> Name? {
        hasPrefix(prefix) ? Name(String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self)) : nil
    }
}

extension RandomAccessCollection where Index == Int {
    /// The index of the first element for which `isBefore` is false. The collection must be sorted so that `isBefore` is
    /// true for the elements before it.
    @inline(__always) func place(_ isBefore: (Element) -> Bool) -> Int {
        var low = startIndex, high = endIndex
        while low < high {
            let mid = (low + high) / 2
            if isBefore(self[mid]) { low = mid + 1 } else { high = mid }
        }
        return low
    }
}

extension Name: ExpressibleByStringLiteral, CustomStringConvertible {
    public init(stringLiteral text: String) { self.text = text }
    public var description: String { text }
}
