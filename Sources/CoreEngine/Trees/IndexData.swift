/// The bytes that represent a value in a search index, divided into chunks of four bytes. Format: logical §9.2, §9.3.
struct IndexData {
    private var words: (UInt64, UInt64) = (0, 0)
    private var external: UnsafeRawPointer?
    let count: Int
    let isNull: Bool

    static var null: IndexData { IndexData(words: (0, 0), count: 0, isNull: true) }

    init(bytes: Bytes) {
        external = bytes.baseAddress
        count = bytes.count
        isNull = false
    }

    private init(words: (UInt64, UInt64), count: Int, isNull: Bool = false) {
        self.words = words
        self.count = count
        self.isNull = isNull
    }

    /// - Returns: nil for values that cannot be indexed (raw slots and plain links).
    @inline(__always) init?(_ value: Mixed) {
        switch value {
        case .null: self.init(words: (0, 0), count: 0, isNull: true)
        case .int(let integer): self.init(words: (UInt64(bitPattern: integer), 0), count: 8)
        case .string(let text): self.init(bytes: text)
        default:
            guard let other = Self.other(value) else { return nil }
            self = other
        }
    }

    private static func other(_ value: Mixed) -> IndexData? {
        switch value {
        case .bool(let flag): return IndexData(words: (flag ? 1 : 0, 0), count: 8)
        case .timestamp(let timestamp):
            return IndexData(
                words: (UInt64(bitPattern: timestamp.seconds), UInt64(UInt32(bitPattern: timestamp.nanoseconds))),
                count: 12)
        case .objectId(let id):
            return IndexData(words: (id.high.byteSwapped, UInt64(id.low.byteSwapped)), count: 12)
        case .uuid(let uuid): return IndexData(words: (uuid.high.byteSwapped, uuid.low.byteSwapped), count: 16)
        case .float(let number):
            if let integer = Int32(exactly: number) {
                return IndexData(words: (UInt64(bitPattern: Int64(integer)), 0), count: 8)
            }
            return IndexData(words: (UInt64(number.bitPattern), 0), count: 4)
        case .double(let number):
            if let integer = Int32(exactly: number) {
                return IndexData(words: (UInt64(bitPattern: Int64(integer)), 0), count: 8)
            }
            return IndexData(words: (number.bitPattern, 0), count: 8)
        case .decimal(let number):
            if let integer = number.truncatedInt64 {
                return IndexData(words: (UInt64(bitPattern: integer), 0), count: 8)
            }
            return IndexData(words: (number.low, number.high), count: 16)
        case .binary(let bytes): return IndexData(bytes: bytes)
        case .typedLink(let table, let key):
            let raw = UInt64(bitPattern: key.raw)
            return IndexData(words: (UInt64(table.raw) | raw << 32, raw >> 32), count: 12)
        // The literal bytes "__List__" and "__Dictionary__".
        case .list: return IndexData(words: (0x5F5F_7473_694C_5F5F, 0), count: 8)
        case .dictionary: return IndexData(words: (0x6F69_7463_6944_5F5F, 0x5F5F_7972_616E), count: 14)
        case .link, .slot, .null, .int, .string: return nil
        }
    }

    @inline(__always) private func byte(_ index: Int) -> UInt32 {
        if let external { return UInt32(external.load(fromByteOffset: index, as: UInt8.self)) }
        return UInt32(
            truncatingIfNeeded: (index < 8 ? words.0 >> UInt64(index &* 8) : words.1 >> UInt64((index &- 8) &* 8))
                & 0xFF)
    }

    /// The four bytes at `offset` as a big-endian key. A shorter rest is followed by `X` and zeros; null, and an offset
    /// beyond the end, give 0.
    @inline(__always) func chunk(_ offset: Int) -> Int32 {
        if isNull || offset > count { return 0 }
        let rest = count &- offset
        if rest >= 4 {
            if let external {
                return Int32(bitPattern: external.loadUnaligned(fromByteOffset: offset, as: UInt32.self).bigEndian)
            }
            if offset & 3 == 0 {
                let word = offset < 8 ? words.0 : words.1
                return Int32(bitPattern: UInt32(truncatingIfNeeded: word >> UInt64((offset & 7) &* 8)).byteSwapped)
            }
        }
        var key: UInt32 = 0
        var i = 0
        while i < 4 {
            key = key << 8 | (i < rest ? byte(offset &+ i) : (i == rest ? 0x58 : 0))
            i &+= 1
        }
        return Int32(bitPattern: key)
    }

    func equals(_ other: IndexData) -> Bool {
        guard count == other.count, isNull == other.isNull else { return false }
        for i in 0..<count where byte(i) != other.byte(i) { return false }
        return true
    }
}
