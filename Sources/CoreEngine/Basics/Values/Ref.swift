/// The position of a node: its byte offset in the (decrypted) file, a multiple of 8; 0 is the null ref.
/// Nodes of the write transaction in progress have refs at or above `NodeStore.slabStart`; they never reach the disk.
/// Format: storage §2.1.
package struct Ref: Equatable, Hashable {
    package let offset: Int

    @inline(__always) package init(_ offset: Int) { self.offset = offset }
    static let null = Ref(0)
    @inline(__always) var isNull: Bool { offset == 0 }
}

/// One element of an array that holds refs: empty (the word 0), a child ref (even) or a tagged integer (odd). A tagged
/// 0 is an ordinary number, not empty: `isNull`, `subtree` and `number` distinguish the three. The payload of a tagged
/// integer is an unsigned 63-bit number. Format: storage §2.1.
package struct RefOrTagged: Equatable {
    /// The word as stored in the array.
    package let raw: Int64

    @inline(__always) init(raw: Int64) { self.raw = raw }

    @inline(__always) init(_ ref: Ref) { raw = Int64(ref.offset) }

    @inline(__always) init(tagged n: UInt64) { raw = Int64(bitPattern: n << 1 | 1) }

    @inline(__always) init(tagged n: Int) { raw = Int64(bitPattern: UInt64(bitPattern: Int64(n)) << 1 | 1) }
    @inline(__always) var isTagged: Bool { raw & 1 != 0 }
    @inline(__always) var isNull: Bool { raw == 0 }

    /// The number; nil for a ref and for an empty element.
    @inline(__always) var number: UInt64? { isTagged ? integer : nil }

    /// The child ref; nil for a number and for an empty element.
    @inline(__always) var subtree: Ref? { isTagged || isNull ? nil : ref }

    /// Payload of an element that is known to be a tagged integer (63 bits, unsigned).
    @inline(__always) var integer: UInt64 { UInt64(bitPattern: raw) >> 1 }

    /// The ref, maybe null, of an element that is known not to be a tagged integer. Unchecked: the translation to a
    /// node detects a hostile value.
    @inline(__always) var ref: Ref { Ref(Int(raw)) }
}
