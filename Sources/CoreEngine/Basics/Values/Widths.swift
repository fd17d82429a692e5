/// Element widths of integer arrays. Widths 1, 2, 4 are unsigned, 8 to 64 two's complement; an *unsigned array*
/// (cluster keys, tree offsets) is at least 8 wide and unsigned. Format: storage §2.4.
enum Widths {
    /// Smallest width, in bits, that holds `value` in an ordinary (signed) array.
    @inline(__always) static func minimal(for value: Int64) -> Int {
        if value >= 0 && value < 16 { return value < 2 ? Int(value) : (value < 4 ? 2 : 4) }
        let magnitude = value < 0 ? ~value : value
        if magnitude < 0x80 { return 8 }
        if magnitude < 0x8000 { return 16 }
        return magnitude < 0x8000_0000 ? 32 : 64
    }

    /// Smallest width that holds a set of values; `bits` is the OR of their magnitudes (`value < 0 ? ~value : value`).
    /// All thresholds are powers of two, so only the highest bit counts; a negative value needs at least 8 bits.
    @inline(__always) static func minimal(forBits bits: UInt64, anyNegative: Bool) -> Int {
        let width = minimal(for: Int64(bitPattern: bits & 0x7FFF_FFFF_FFFF_FFFF))
        return anyNegative ? max(8, width) : width
    }

    /// Smallest width that holds all of these values.
    @inline(__always) static func minimal(for values: UnsafePointer<Int64>, count: Int) -> Int {
        var bits: Int64 = 0, signs: Int64 = 0
        for i in 0..<count {
            bits |= values[i] ^ (values[i] >> 63)
            signs |= values[i]
        }
        return minimal(forBits: UInt64(bitPattern: bits), anyNegative: signs < 0)
    }

    /// Smallest width, in bits, that holds `value` in an unsigned array.
    @inline(__always) static func minimalUnsigned(for value: UInt64) -> Int {
        if value < 1 << 8 { return 8 }
        if value < 1 << 16 { return 16 }
        return value < 1 << 32 ? 32 : 64
    }

    /// Whether `value` fits an ordinary array of `width` bits.
    @inline(__always) static func fits(_ value: Int64, _ width: Int) -> Bool {
        switch width {
        case 0: value == 0
        case 1: value >= 0 && value <= 1
        case 2: value >= 0 && value <= 3
        case 4: value >= 0 && value <= 15
        case 8: value >= -0x80 && value <= 0x7F
        case 16: value >= -0x8000 && value <= 0x7FFF
        case 32: value >= -0x8000_0000 && value <= 0x7FFF_FFFF
        default: true
        }
    }

    /// Largest value of an ordinary array of `width` bits.
    static func upperBound(_ width: Int) -> Int64 {
        switch width {
        case 0: 0
        case 1: 1
        case 2: 3
        case 4: 15
        case 8: 0x7F
        case 16: 0x7FFF
        case 32: 0x7FFF_FFFF
        default: .max
        }
    }

    static func lowerBound(_ width: Int) -> Int64 {
        switch width {
        case 8: -0x80
        case 16: -0x8000
        case 32: -0x8000_0000
        case 64: .min
        default: 0
        }
    }
}
