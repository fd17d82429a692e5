/// The eight bytes before a node's payload.
///
///     byte   0 1 2 3      4       5 6 7
///          | A A A A | flags | count, big-endian |
///
/// In memory, nodes of the write transaction keep their capacity (in 8-byte words) in bytes 0–3 instead.
/// Format: storage §2.2.
struct NodeHeader: Equatable {
    /// How the payload size is computed from count and width.
    enum WidthType: UInt8 { case bits = 0, multiply = 1, ignore = 2 }

    var flags: UInt8
    var count: Int

    static let innerFlag: UInt8 = 0x80
    static let hasRefsFlag: UInt8 = 0x40
    static let contextFlag: UInt8 = 0x20
    static let checksum: UInt32 = 0x4141_4141

    @inline(__always) init(flags: UInt8, count: Int) {
        self.flags = flags
        self.count = count
    }

    init(
        isInner: Bool = false, hasRefs: Bool = false, context: Bool = false, widthType: WidthType = .bits, width: Int,
        count: Int
    ) {
        flags =
            (isInner ? Self.innerFlag : 0) | (hasRefs ? Self.hasRefsFlag : 0) | (context ? Self.contextFlag : 0)
            | widthType.rawValue << 3 | Self.widthCode(width)
        self.count = count
    }

    /// Decodes the header word as loaded in little-endian order.
    @inline(__always) init(word: UInt64) {
        flags = UInt8(truncatingIfNeeded: word >> 32)
        count = Int(UInt32(truncatingIfNeeded: word >> 32).byteSwapped & 0xFF_FFFF)
    }

    /// The header word in the form of the disk.
    @inline(__always) var diskWord: UInt64 { word(firstBytes: Self.checksum) }

    @inline(__always) func word(firstBytes: UInt32) -> UInt64 {
        let high = UInt32(truncatingIfNeeded: count).byteSwapped & 0xFFFF_FF00 | UInt32(flags)
        return UInt64(high) << 32 | UInt64(firstBytes)
    }

    @inline(__always) var isInner: Bool { flags & Self.innerFlag != 0 }
    @inline(__always) var hasRefs: Bool { flags & Self.hasRefsFlag != 0 }
    @inline(__always) var context: Bool { flags & Self.contextFlag != 0 }
    @inline(__always) var widthTypeBits: UInt8 { flags >> 3 & 3 }

    /// Width of one element: bits for `.bits`, bytes for `.multiply`, without meaning for `.ignore`.
    @inline(__always) var width: Int { Int((UInt16(1) << UInt16(flags & 7)) >> 1) }

    /// Bytes that an array of `count` elements of `width` bits takes on disk, with its header.
    @inline(__always) static func size(count: Int, width: Int) -> Int { 8 + Format.padded((count * width + 7) >> 3) }

    /// Bytes of payload before padding; nil for the unused width type 3.
    @inline(__always) var payloadSize: Int? {
        switch widthTypeBits {
        case 0: (count &* width &+ 7) >> 3
        case 1: count &* width
        case 2: count
        default: nil
        }
    }

    /// The padded payload size of a node that is known to have width type `.bits`.
    @inline(__always) var roundedSizeOfBits: Int { ((count &* width &+ 63) >> 6) << 3 }

    /// The padded payload size for any width type except the unused one, without branches.
    @inline(__always) var roundedPayloadSize: Int {
        let ofBits = roundedSizeOfBits, ofBytes = Format.padded(count &* (flags & 0x10 != 0 ? 1 : width))
        return flags & 0x18 == 0 ? ofBits : ofBytes
    }

    /// Whether the flags are valid: the width type is not the unused one, and is `.bits` for an array of refs. Elements
    /// of arrays of refs are read by bit width: with another width type the checked size would be wrong.
    @inline(__always) var isSound: Bool {
        flags & (Self.hasRefsFlag | Self.innerFlag) == 0
            ? flags & 0x18 != 0x18 : flags & (Self.hasRefsFlag | 0x18) == Self.hasRefsFlag
    }

    /// Code for a width of 0, 1, 2, 4 … 64.
    @inline(__always) static func widthCode(_ width: Int) -> UInt8 {
        width == 0 ? 0 : UInt8(truncatingIfNeeded: width.trailingZeroBitCount &+ 1)
    }
}
