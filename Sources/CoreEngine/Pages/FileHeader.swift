/// The 24 bytes at the start of a file.
///
///     0        8        16   20 21 22 23 24
///     | top 0  | top 1  |T-DB|f0|f1|  |fl|
///
/// Bit 0 of `flags` selects the live slot; its other bits are preserved. Format: storage §1.1.
struct FileHeader: Equatable {
    var topRefs: (UInt64, UInt64)
    var formats: (UInt8, UInt8)
    var flags: UInt8
    var hasMnemonic: Bool

    static let mnemonic: UInt32 = 0x4244_2D54  // "T-DB", little-endian
    static let streamingMark: UInt64 = .max
    static let footerMagic: UInt64 = 0x3034_1252_37E5_26C8

    /// - Parameter bytes: at least 24 readable bytes.
    init(bytes: UnsafeRawPointer) {
        topRefs = (
            bytes.loadUnaligned(as: UInt64.self).littleEndian,
            bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self).littleEndian
        )
        hasMnemonic = bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self).littleEndian == Self.mnemonic
        formats = (bytes.load(fromByteOffset: 20, as: UInt8.self), bytes.load(fromByteOffset: 21, as: UInt8.self))
        flags = bytes.load(fromByteOffset: 23, as: UInt8.self)
    }

    /// The header of a file without any commit.
    init() {
        topRefs = (0, 0)
        formats = (0, 0)
        flags = 0
        hasMnemonic = true
    }

    func encode(into bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: topRefs.0.littleEndian, as: UInt64.self)
        bytes.storeBytes(of: topRefs.1.littleEndian, toByteOffset: 8, as: UInt64.self)
        bytes.storeBytes(of: Self.mnemonic.littleEndian, toByteOffset: 16, as: UInt32.self)
        bytes.storeBytes(of: formats.0, toByteOffset: 20, as: UInt8.self)
        bytes.storeBytes(of: formats.1, toByteOffset: 21, as: UInt8.self)
        bytes.storeBytes(of: 0, toByteOffset: 22, as: UInt8.self)
        bytes.storeBytes(of: flags, toByteOffset: 23, as: UInt8.self)
    }

    /// The header in which `top` is the live top array, in the slot that is not live now.
    func selecting(_ top: UInt64, format: UInt8) -> FileHeader {
        var new = self
        if liveSlot == 0 {
            (new.topRefs.1, new.formats.1) = (top, format)
        } else {
            (new.topRefs.0, new.formats.0) = (top, format)
        }
        new.flags ^= 1
        return new
    }

    /// The header with `slot` as the live slot.
    func selecting(slot: Int) -> FileHeader {
        var new = self
        new.flags = flags & ~1 | UInt8(truncatingIfNeeded: slot & 1)
        return new
    }

    var liveSlot: Int { Int(flags & 1) }
    var liveTopRef: UInt64 { liveSlot == 0 ? topRefs.0 : topRefs.1 }
    var liveFormat: UInt8 { liveSlot == 0 ? formats.0 : formats.1 }

    /// A slot 0 of all ones marks the streaming form only while slot 0 is live.
    var isStreaming: Bool { liveSlot == 0 && topRefs.0 == Self.streamingMark }

    static func == (a: FileHeader, b: FileHeader) -> Bool {
        a.topRefs == b.topRefs && a.formats == b.formats && a.flags == b.flags && a.hasMnemonic == b.hasMnemonic
    }
}
