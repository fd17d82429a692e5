/// Identifies a table for its whole life: `tag << 16 | index`, 31 bits. Format: logical §1.
public struct TableKey: Hashable, Sendable {
    /// The number, as in the C API.
    public let raw: UInt32

    @inlinable @inline(__always) package init(_ raw: UInt32) { self.raw = raw }

    /// The key of no table.
    @inlinable public static var null: TableKey { TableKey(0x7FFF_FFFF) }
    @inline(__always) package var index: Int { Int(raw & 0xFFFF) }

    /// Whether this is the key of no table.
    @inline(__always) public var isNull: Bool { raw == 0x7FFF_FFFF }
}

/// Identifies a column for its whole life and carries its type and attributes. Format: logical §4.1.
///
///     bits  0–15 column index · 16–21 type · 22–29 attributes · 30–61 tag
///
/// The members that the C layer uses in each call are marked inlinable: Swift does not otherwise inline internals of a
/// package across its modules.
@usableFromInline package struct ColKey: Hashable, Sendable {
    @usableFromInline package let raw: Int64

    @inlinable @inline(__always) package init(_ raw: Int64) { self.raw = raw }
    @inlinable package static var null: ColKey { ColKey(.max) }

    init(index: Int, type: ColumnType, attributes: ColumnAttributes, tag: UInt32) {
        raw = Int64(index) | Int64(type.rawValue) << 16 | Int64(attributes.rawValue & 0xFF) << 22 | Int64(tag) << 30
    }

    /// The slot of the column in cluster leaves, minus one.
    @inline(__always) package var index: Int { Int(raw & 0xFFFF) }
    @inline(__always) var typeNumber: Int { Int(raw >> 16 & 0x3F) }
    @inline(__always) var attributes: ColumnAttributes { ColumnAttributes(rawValue: Int(raw >> 22 & 0xFF)) }
}

/// Identifies an object within its table: ≥ 0 is live, −1 is null, ≤ −2 is unresolved (a tombstone). Format:
/// logical §4.2.
public struct ObjKey: Hashable, Sendable, Comparable, BitwiseCopyable {
    /// The number, as in the C API.
    public let raw: Int64

    @inlinable @inline(__always) package init(_ raw: Int64) { self.raw = raw }

    /// The key of no object.
    @inlinable public static var null: ObjKey { ObjKey(-1) }

    /// Whether this is the key of no object.
    @inline(__always) public var isNull: Bool { raw == -1 }
    @inlinable @inline(__always) package var isUnresolved: Bool { raw < -1 }

    @inline(__always) public static func < (a: ObjKey, b: ObjKey) -> Bool { a.raw < b.raw }
}

/// Type numbers of columns and Mixed values, as stored. Format: logical §0.
package enum ColumnType: Int, Sendable {
    case int = 0, bool = 1, string = 2, binary = 4, mixed = 6, timestamp = 8, float = 9, double = 10, decimal = 11
    case link = 12, linkList = 13, backlink = 14, objectId = 15, typedLink = 16, uuid = 17
    case list = 19, set = 20, dictionary = 21
}

/// Attribute bits of a column. Format: logical §0.
package struct ColumnAttributes: OptionSet, Sendable, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }
    package static let indexed = ColumnAttributes(rawValue: 1)
    package static let nullable = ColumnAttributes(rawValue: 16)
    package static let list = ColumnAttributes(rawValue: 32)
    package static let dictionary = ColumnAttributes(rawValue: 64)
    package static let set = ColumnAttributes(rawValue: 128)
    package static let fullTextIndexed = ColumnAttributes(rawValue: 256)
    package static let collection: ColumnAttributes = [.list, .dictionary, .set]
}
