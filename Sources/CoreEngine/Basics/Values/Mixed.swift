/// One value inside the engine. Trivial, without reference counting: strings and binaries point into the snapshot.
///
/// `link` is an object of the column's target class; `typedLink` also names its class (Mixed, dictionaries). `list` and
/// `dictionary` carry the root ref of a nested collection (null ref: created but still empty).
package enum Mixed {
    case null
    case int(Int64)
    case bool(Bool)
    case string(Bytes)
    case binary(Bytes)
    case timestamp(Timestamp)
    case float(Float)
    case double(Double)
    case decimal(Decimal128)
    case objectId(ObjectId)
    case uuid(UUIDValue)
    case link(ObjKey)
    case typedLink(TableKey, ObjKey)
    case list(Ref)
    case dictionary(Ref)
    /// A raw element of a leaf that only the engine reads (collection refs, backlinks).
    case slot(RefOrTagged)

    /// A new collection without elements.
    package static var emptyList: Mixed { .list(.null) }
    package static var emptyDictionary: Mixed { .dictionary(.null) }

    /// A number passed in by a program. For each floating-point type, one NaN means null in the file, and also
    /// everywhere in the engine. Format: logical §6.7, §6.8.
    @inline(__always) package static func number(_ value: Double) -> Mixed {
        value.bitPattern == 0x7FF8_0000_0000_00AA ? .null : .double(value)
    }

    @inline(__always) package static func number(_ value: Float) -> Mixed {
        value.bitPattern == 0x7FC0_00AA ? .null : .float(value)
    }

    @inline(__always) package static func number(_ value: Decimal128) -> Mixed {
        value == .null ? .null : .decimal(value)
    }

    @inline(__always) package var isNull: Bool {
        if case .null = self { return true }
        return false
    }
}

extension Mixed {
    /// The size in bytes of a text or binary; 0 for other values.
    @inline(__always) var byteCount: Int {
        switch self {
        case .string(let bytes), .binary(let bytes): bytes.count
        default: 0
        }
    }

    /// The rank of a type, which orders values of types that do not compare with each other. Format: logical §12.3.
    private var rank: Int {
        switch self {
        case .null: -1
        case .bool: 0
        case .int, .float, .double, .decimal: 1
        case .string: 2
        case .binary: 3
        case .timestamp: 4
        case .objectId: 5
        case .uuid: 6
        case .typedLink: 7
        case .link: 8
        case .list: 9
        case .dictionary: 11
        case .slot: 12
        }
    }

    /// −1, 0 or 1 in the order of Mixed values (sets, index lists). Format: logical §12.3.
    package static func compare(_ a: Mixed, _ b: Mixed) -> Int {
        switch (a, b) {
        case (.null, .null): return 0
        case (.int(let x), .int(let y)): return x == y ? 0 : (x < y ? -1 : 1)
        case (.bool(let x), .bool(let y)): return x == y ? 0 : (!x ? -1 : 1)
        case (.string(let x), .string(let y)): return compareBytes(x, y)
        case (.binary(let x), .binary(let y)): return compareBytes(x, y)
        case (.timestamp(let x), .timestamp(let y)): return x == y ? 0 : (x < y ? -1 : 1)
        case (.objectId(let x), .objectId(let y)): return x == y ? 0 : (x < y ? -1 : 1)
        case (.uuid(let x), .uuid(let y)): return x == y ? 0 : (x < y ? -1 : 1)
        case (.decimal(let x), .decimal(let y)): return Decimal128.compare(x, y)
        case (.float(let x), .float(let y)): return compareFloats(x, y)
        case (.double(let x), .double(let y)): return compareFloating(x, y)
        case (.float(let x), .double(let y)): return compareFloating(Double(x), y)
        case (.double(let x), .float(let y)): return compareFloating(x, Double(y))
        case (.int(let x), .double(let y)): return compare(x, y)
        case (.int(let x), .float(let y)): return compare(x, Double(y))
        case (.double(let x), .int(let y)): return -compare(y, x)
        case (.float(let x), .int(let y)): return -compare(y, Double(x))
        case (.link(let x), .link(let y)): return x == y ? 0 : (x < y ? -1 : 1)
        case (.typedLink(let leftTable, let x), .typedLink(let rightTable, let y)):
            return leftTable == rightTable ? (x == y ? 0 : (x < y ? -1 : 1)) : (leftTable.raw < rightTable.raw ? -1 : 1)
        case (.list, .list), (.dictionary, .dictionary): return 0
        default: break
        }
        let ra = a.rank, rb = b.rank
        if ra != rb { return ra < rb ? -1 : 1 }
        // Both values are numbers, and one of them is a decimal.
        guard let x = a.asDecimal, let y = b.asDecimal else { return 0 }
        return Decimal128.compare(x, y)
    }

    /// Like `compare`, but compares numbers of different types by their exact values, so that the result is an order.
    /// `compare` is not one: for it the decimal 0.1 equals both the float 0.1 and the double 0.1, which differ. The
    /// same holds for NaNs of different types that `compare` treats as equal.
    static func compareExactly(_ a: Mixed, _ b: Mixed) -> Int {
        switch (a, b) {
        case (.decimal(let x), .double(let y)): compareExactly(x, y)
        case (.decimal(let x), .float(let y)): compareExactly(x, Double(y))
        case (.double(let x), .decimal(let y)): -compareExactly(y, x)
        case (.float(let x), .decimal(let y)): -compareExactly(y, Double(x))
        case (.float(let x), .float(let y)): compareFloating(Double(x), Double(y))
        default: compare(a, b)
        }
    }

    private static func compareExactly(_ x: Decimal128, _ y: Double) -> Int {
        guard x.isNaN && y.isNaN else { return Decimal128.compare(x, Decimal128(exactly: y)) }
        // Every binary NaN sorts at the position of the decimal NaN with the same sign and an empty payload; there,
        // binary NaNs are ordered by their bits. The default binary NaN equals that decimal NaN.
        let sign = y.bitPattern & 1 << 63, usual = Decimal128(low: 0, high: sign | Decimal128.nan.high)
        let place = Decimal128.compare(x, usual)
        if place != 0 { return place }
        let usualBits = sign | Double.nan.bitPattern
        return usualBits == y.bitPattern ? 0 : (usualBits < y.bitPattern ? -1 : 1)
    }

    /// A number as a decimal, rounded to the digits that its type holds; nil when the value is not a number.
    var asDecimal: Decimal128? {
        switch self {
        case .decimal(let value): value
        case .int(let value): Decimal128(value)
        case .float(let value): Decimal128(rounding: Double(value), digits: 7)
        case .double(let value): Decimal128(rounding: value, digits: 15)
        default: nil
        }
    }

    /// IEEE order. A NaN sorts before numbers; two NaNs are compared by their bits.
    private static func compareFloating(_ x: Double, _ y: Double) -> Int {
        if x == y { return 0 }
        if x.isNaN || y.isNaN {
            guard x.isNaN && y.isNaN else { return x.isNaN ? -1 : 1 }
            return x.bitPattern == y.bitPattern ? 0 : (x.bitPattern < y.bitPattern ? -1 : 1)
        }
        return x < y ? -1 : 1
    }

    /// The same for floats: converted to doubles, some different NaNs would become equal.
    private static func compareFloats(_ x: Float, _ y: Float) -> Int {
        guard x.isNaN && y.isNaN else { return compareFloating(Double(x), Double(y)) }
        return x.bitPattern == y.bitPattern ? 0 : (x.bitPattern < y.bitPattern ? -1 : 1)
    }

    /// Compares exactly: large integers are not rounded to doubles.
    private static func compare(_ x: Int64, _ y: Double) -> Int {
        if y.isNaN { return 1 }
        if x.magnitude <= 1 << 53 {
            let converted = Double(x)
            return converted == y ? 0 : (converted < y ? -1 : 1)
        }
        if y >= 0x1p63 { return -1 }
        if y < -0x1p63 { return 1 }
        let whole = Int64(y)
        return x == whole ? 0 : (x < whole ? -1 : 1)
    }

    /// Compares as unsigned bytes; a prefix sorts before the longer text.
    @inline(__always) static func compareBytes(_ a: Bytes, _ b: Bytes) -> Int {
        let order =
            a.baseAddress == b.baseAddress ? 0 : CMemory.compare(a.baseAddress, b.baseAddress, min(a.count, b.count))
        if order != 0 { return order < 0 ? -1 : 1 }
        return a.count == b.count ? 0 : (a.count < b.count ? -1 : 1)
    }

    @inline(__always) static func equalBytes(_ a: Bytes, _ b: Bytes) -> Bool {
        a.count == b.count
            && (a.baseAddress == b.baseAddress || CMemory.compare(a.baseAddress, b.baseAddress, a.count) == 0)
    }

    /// Whether two values of one column are equal.
    @inline(__always) static func equal(_ a: Mixed, _ b: Mixed) -> Bool {
        if case .string(let x) = a, case .string(let y) = b { return equalBytes(x, y) }
        if case .int(let x) = a, case .int(let y) = b { return x == y }
        return compare(a, b) == 0
    }
}

extension Decimal128 {
    /// Rounds a binary floating-point number to `digits` significant decimal digits, as realm-core converts for
    /// comparison.
    init(rounding value: Double, digits: Int) {
        // Rounded only once, from the exact value.
        self.init(value, text: { CNumbers.scientific($0, digits: digits - 1) }, digits: digits)
    }

    /// Uses all 34 digits: different numbers stay different and in order.
    init(exactly value: Double) { self.init(value, text: { CNumbers.scientific($0, digits: 33) }, digits: 34) }

    /// A NaN with the sign of a binary NaN. Its payload is the 51 bits after the quiet bit, shifted left by 59 bits, or
    /// 0 when that exceeds the payload limit of a decimal. Format: logical §12.3.
    private init(nan value: Double) {
        let carried = UInt128(value.bitPattern & 0x7_FFFF_FFFF_FFFF) << 59
        self =
            carried > Decimal128.maxCarried
            ? .nan : Decimal128(low: UInt64(truncatingIfNeeded: carried), high: Self.nan.high | UInt64(carried >> 64))
        if value.sign == .minus { high |= 1 << 63 }
    }

    /// The largest payload of a NaN: 10^33 − 1.
    static let maxCarried: UInt128 = maxCoefficient / 10

    /// - Parameter text: prints a positive number.
    private init(_ value: Double, text: (Double) -> String, digits: Int) {
        if value.isNaN {
            self.init(nan: value)
            return
        }
        if value.isInfinite {
            self = Decimal128(low: 0, high: value < 0 ? 0xF800_0000_0000_0000 : 0x7800_0000_0000_0000)
            return
        }
        if value == 0 {
            self = Decimal128(negative: value.sign == .minus, coefficient: 0, exponent: 0)
            return
        }
        var coefficient: UInt128 = 0
        var exponent = 0
        var seenPoint = false
        var bytes = Array(text(value.magnitude).utf8)[...]
        while let byte = bytes.popFirst() {
            if byte == 0x2E {
                seenPoint = true
            } else if byte == 0x65 {
                exponent += Int(String(decoding: bytes, as: UTF8.self)) ?? 0
                break
            } else {
                coefficient = coefficient * 10 + UInt128(byte - 0x30)
                if seenPoint { exponent -= 1 }
            }
        }
        var limit: UInt128 = 1
        for _ in 0..<digits { limit *= 10 }
        while coefficient >= limit {
            let last = coefficient % 10
            coefficient /= 10
            exponent += 1
            if last > 5 || (last == 5 && coefficient % 2 == 1) { coefficient += 1 }
        }
        while coefficient % 10 == 0 && exponent < 0 {
            coefficient /= 10
            exponent += 1
        }
        self = Decimal128(negative: value < 0, coefficient: coefficient, exponent: exponent)
    }
}
