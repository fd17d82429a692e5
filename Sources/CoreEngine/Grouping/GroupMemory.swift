/// A growing array of trivial values in C memory: if it cannot grow, that is an error and the process goes on.
struct GroupMemory<Element>: ~Copyable {
    private(set) var start: UnsafeMutablePointer<Element>
    private(set) var count = 0
    private var capacity = 0

    init() {
        assert(_isPOD(Element.self))
        start = UnsafeMutablePointer(bitPattern: MemoryLayout<Element>.alignment).unsafelyUnwrapped
    }

    deinit { if capacity > 0 { CMemory.release(start) } }

    @inline(__always) subscript(index: Int) -> Element {
        get { start[index] }
        nonmutating set { start[index] = newValue }
    }

    @inline(__always) mutating func append(_ element: Element) throws(RealmError) {
        if count == capacity { try reserve(count + 1) }
        (start + count).initialize(to: element)
        count &+= 1
    }

    /// Fills up to `newCount` elements.
    mutating func grow(to newCount: Int, filling element: Element) throws(RealmError) {
        guard newCount > count else { return }
        if newCount > capacity { try reserve(newCount) }
        (start + count).initialize(repeating: element, count: newCount - count)
        count = newCount
    }

    mutating func removeAll() { count = 0 }

    @inline(never) private mutating func reserve(_ wanted: Int) throws(RealmError) {
        let room = max(wanted, capacity * 2, 64)
        let (bytes, isBeyond) = room.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
        guard !isBeyond, let block = CMemory.reallocate(capacity > 0 ? start : nil, bytes) else {
            throw RealmError(.outOfMemory, "There is no memory for the \(wanted) values of a grouping")
        }
        start = block.bindMemory(to: Element.self, capacity: room)
        capacity = room
    }
}

/// A value that `DistinctValues` numbers.
protocol DistinctValue {
    /// - Parameter seed: random, so that no file can contain values that collide.
    func hash(_ seed: UInt64) -> UInt64

    func isSame(_ other: Self) -> Bool
}

/// Numbers distinct values from 0, in the order in which they appear: an open hash table.
final class DistinctValues<Value: DistinctValue> {
    private let seed = Crypto.randomWord()
    private var values = GroupMemory<Value>()
    private var hashes = GroupMemory<UInt64>()

    /// Each slot has the number of a value plus 1, or 0. There are 2ⁿ slots, more than one and a half times as many as
    /// values.
    private var slots = GroupMemory<UInt32>()
    private var mask = 0

    init() throws(RealmError) { try rebuild(256) }

    var count: Int { values.count }

    @inline(__always) subscript(number: Int) -> Value { values[number] }

    /// The number of a value. The value is new if its number is the last one.
    @inline(__always) func number(_ value: Value) throws(RealmError) -> UInt32 {
        let hash = value.hash(seed)
        var slot = Int(truncatingIfNeeded: hash) & mask
        while true {
            let entry = slots[slot]
            if entry == 0 { return try add(value, hash, slot) }
            let index = Int(entry &- 1)
            if hashes[index] == hash, values[index].isSame(value) { return entry &- 1 }
            slot = (slot &+ 1) & mask
        }
    }

    @inline(never) private func add(_ value: Value, _ hash: UInt64, _ slot: Int) throws(RealmError) -> UInt32 {
        let number = values.count
        guard number < Int(UInt32.max) - 2 else {
            throw RealmError(.limitExceeded, "A grouping can have at most \(UInt32.max - 2) groups")
        }
        try values.append(value)
        try hashes.append(hash)
        slots[slot] = UInt32(truncatingIfNeeded: number + 1)
        if values.count * 3 > slots.count * 2 { try rebuild(slots.count * 2) }
        return UInt32(truncatingIfNeeded: number)
    }

    private func rebuild(_ size: Int) throws(RealmError) {
        slots.removeAll()
        try slots.grow(to: size, filling: 0)
        mask = size - 1
        for number in 0..<values.count {
            var slot = Int(truncatingIfNeeded: hashes[number]) & mask
            while slots[slot] != 0 { slot = (slot &+ 1) & mask }
            slots[slot] = UInt32(truncatingIfNeeded: number + 1)
        }
    }
}

/// Multiplies to 128 bits and combines the halves by exclusive or: each bit of the result depends on all bits of both.
@inline(__always) private func mixed(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
}

extension Int64: DistinctValue {
    @inline(__always) func hash(_ seed: UInt64) -> UInt64 {
        mixed(UInt64(bitPattern: self) ^ seed, 0x9E37_79B9_7F4A_7C15 ^ seed.byteSwapped)
    }

    @inline(__always) func isSame(_ other: Int64) -> Bool { self == other }
}

/// Bytes of the snapshot.
struct GroupText: DistinctValue {
    let start: UnsafeRawPointer
    let count: Int

    @inline(__always) init(_ bytes: Bytes) {
        start = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
        count = bytes.count
    }

    var bytes: Bytes { Bytes(start: start, count: count) }

    @inline(__always) func hash(_ seed: UInt64) -> UInt64 {
        var state = seed ^ UInt64(bitPattern: Int64(count)), at = 0
        while at &+ 8 <= count {
            state = mixed(state ^ start.loadUnaligned(fromByteOffset: at, as: UInt64.self), 0x9E37_79B9_7F4A_7C15)
            at &+= 8
        }
        var rest: UInt64 = 0
        if count >= 8 {
            // The last eight bytes. Some of them were read before.
            if at < count { rest = start.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self) }
        } else {
            while at < count {
                rest = rest << 8 | UInt64(start.load(fromByteOffset: at, as: UInt8.self))
                at &+= 1
            }
        }
        return mixed(state ^ rest, 0xD1B5_4A32_D192_ED03 ^ seed.byteSwapped)
    }

    @inline(__always) func isSame(_ other: GroupText) -> Bool {
        count == other.count && (start == other.start || CMemory.compare(start, other.start, count) == 0)
    }
}

extension Mixed: DistinctValue {
    func hash(_ seed: UInt64) -> UInt64 {
        switch self {
        case .null: return seed
        case .int(let integer): return integer.hash(seed)
        case .double(let number): return Self.hash(number, seed)
        case .float(let number): return Self.hash(Double(number), seed)
        case .decimal(let decimal):
            if let integer = decimal.truncatedInt64, Decimal128.compare(Decimal128(integer), decimal) == 0 {
                return integer.hash(seed)
            }
            let double = decimal.double
            if Mixed.compareExactly(self, .double(double)) == 0 || decimal.isNaN { return Self.hash(double, seed) }
            // The decimal equals no double. Equal decimals have the same digits once the zeros at the end are left out.
            var (digits, exponent) = decimal.parts
            while digits != 0, digits % 10 == 0 { (digits, exponent) = (digits / 10, exponent + 1) }
            let sign: UInt64 = decimal.isNegative ? 1 : 0
            return Self.hash(
                UInt64(truncatingIfNeeded: digits >> 64) ^ UInt64(bitPattern: Int64(exponent)) << 50 ^ sign << 49,
                UInt64(truncatingIfNeeded: digits), seed &+ 11)
        case .bool(let flag): return Int64(flag ? 1 : 0).hash(seed &+ 1)
        case .string(let bytes): return GroupText(bytes).hash(seed &+ 2)
        case .binary(let bytes): return GroupText(bytes).hash(seed &+ 3)
        case .timestamp(let time):
            return Self.hash(UInt64(bitPattern: time.seconds), UInt64(bitPattern: Int64(time.nanoseconds)), seed &+ 4)
        case .objectId(let id): return Self.hash(id.high, UInt64(id.low), seed &+ 5)
        case .uuid(let id): return Self.hash(id.high, id.low, seed &+ 6)
        case .link(let key): return key.raw.hash(seed &+ 7)
        case .typedLink(let table, let key):
            return Self.hash(UInt64(bitPattern: key.raw), UInt64(table.raw), seed &+ 8)
        case .list(let root), .dictionary(let root): return Int64(root.offset).hash(seed &+ 9)
        case .slot: return seed &+ 10
        }
    }

    private static func hash(_ high: UInt64, _ low: UInt64, _ seed: UInt64) -> UInt64 {
        mixed(mixed(high ^ seed, 0x9E37_79B9_7F4A_7C15) ^ low, 0xD1B5_4A32_D192_ED03 ^ seed.byteSwapped)
    }

    /// Equal numbers of all types are the same integer, or have the same nearest double.
    private static func hash(_ number: Double, _ seed: UInt64) -> UInt64 {
        if let integer = Int64(exactly: number) { return integer.hash(seed) }
        return Int64(bitPattern: number.isNaN ? Double.nan.bitPattern : number.bitPattern).hash(seed)
    }

    func isSame(_ other: Mixed) -> Bool {
        switch (self, other) {
        case (.list(let left), .list(let right)), (.dictionary(let left), .dictionary(let right)): left == right
        default: isNaN ? other.isNaN : Mixed.compareExactly(self, other) == 0
        }
    }
}
