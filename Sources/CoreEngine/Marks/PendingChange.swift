/// The unsent change of one property.
struct PendingProperty: Equatable {
    enum Kind: UInt8 {
        /// The value replaces the value of the hub, unless that one is later.
        case set = 1
        /// `delta` is added to the value of the hub.
        case add = 2
        /// The elements replace those of the hub if these are `before`. Otherwise they are merged first.
        case collection = 3
    }

    var column: ColKey
    var kind: Kind
    var clock: Int64
    var delta: Int64 = 0

    /// The JSON text of a collection before the first unsent change; empty: the object is new.
    var before: [UInt8] = []
}

/// The unsent changes of one object.
struct PendingObject: Equatable {
    enum State: Int64 {
        /// The object was created: all of its properties are unsent. `properties` has those that changed later.
        case created = 1
        case changed = 2
        case deleted = 3
    }

    var state: State

    /// The time of the last change; of a new object the time when it was made, which is that of all properties without
    /// an own time.
    var clock: Int64

    /// The JSON text of the primary key of a deleted object.
    var key: [UInt8] = []
    var properties: [PendingProperty] = []

    func property(_ column: ColKey) -> PendingProperty? { properties.first { $0.column == column } }

    /// The time of the last change.
    var lastClock: Int64 { properties.reduce(clock) { max($0, $1.clock) } }

    /// The greatest size of `bytes`: that of a value of a file.
    private static let mostBytes = Format.maxBlobSize

    /// Makes `bytes` fit into the file: the longest collections replace those of the hub, and are not merged.
    mutating func shorten() {
        while properties.reduce(0, { $0 + $1.before.count + Self.headerSize }) > Self.mostBytes,
            let i = properties.indices.max(by: { properties[$0].before.count < properties[$1].before.count }),
            !properties[i].before.isEmpty
        {
            (properties[i].kind, properties[i].before) = (.set, [])
        }
    }

    /// Notes that a property was set, or got other elements.
    mutating func note(_ column: ColKey, _ kind: PendingProperty.Kind, clock: Int64, before: [UInt8] = []) {
        guard let i = properties.firstIndex(where: { $0.column == column }) else {
            properties.append(PendingProperty(column: column, kind: kind, clock: clock, before: before))
            return
        }
        properties[i].clock = clock
        if kind != properties[i].kind { (properties[i].kind, properties[i].delta) = (kind, 0) }
    }

    /// Notes that `delta` was added to an integer. An addition to a value that is unsent itself is a part of it.
    mutating func add(_ column: ColKey, _ delta: Int64, clock: Int64) {
        if let i = properties.firstIndex(where: { $0.column == column }) {
            properties[i].clock = clock
            if properties[i].kind == .add { properties[i].delta &+= delta }
        } else if state == .created {
            properties.append(PendingProperty(column: column, kind: .set, clock: clock))
        } else {
            properties.append(PendingProperty(column: column, kind: .add, clock: clock, delta: delta))
        }
    }

    // MARK: Bytes. Format: sync.md §3

    private static let headerSize = 29

    var bytes: [UInt8] {
        var all: [UInt8] = []
        func put(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number.littleEndian) { all.append(contentsOf: $0) }
        }
        for property in properties {
            put(property.column.raw)
            put(property.kind.rawValue)
            put(property.clock)
            put(property.delta)
            put(UInt32(clamping: property.before.count))
            all += property.before
        }
        return all
    }

    /// - Throws: 1021 for bytes that this library does not write.
    static func properties(_ bytes: Bytes) throws(RealmError) -> [PendingProperty] {
        var all: [PendingProperty] = [], at = 0
        while at < bytes.count {
            guard bytes.count - at >= headerSize, let kind = PendingProperty.Kind(rawValue: bytes[at + 8]) else {
                throw .corrupt("unsent changes that no version writes")
            }
            func number(_ offset: Int) -> Int64 {
                Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: at + offset, as: Int64.self))
            }
            var property = PendingProperty(column: ColKey(number(0)), kind: kind, clock: number(9), delta: number(17))
            let count = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: at + 25, as: UInt32.self)))
            at += headerSize
            guard count <= bytes.count - at else { throw .corrupt("unsent changes that end too early") }
            property.before = Array(bytes[at..<(at + count)])
            at += count
            all.append(property)
        }
        return all
    }
}
