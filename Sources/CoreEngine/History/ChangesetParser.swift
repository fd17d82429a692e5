/// Receives the content of a changeset, one instruction at a time.
protocol ChangesetHandler: AnyObject {
    func objectCreated(_ table: TableKey, _ object: ObjKey)
    func objectRemoved(_ table: TableKey, _ object: ObjKey)
    func valueSet(_ table: TableKey, _ object: ObjKey, _ column: ColKey)

    /// The next instructions concern this collection. The property of its owner counts as set.
    func collectionSelected(_ place: CollectionPlace)
    func collectionChanged(_ change: CollectionChange)

    /// Classes or properties were added, removed or renamed.
    func schemaChanged()
}

/// Reads the instructions of one transaction, as written by `ChangesetEncoder` or realm-core. Format: storage §6.4.
struct ChangesetParser {
    private let bytes: Bytes
    private var at = 0
    private var table: TableKey?
    private var hasCollection = false

    private init(_ bytes: Bytes) { self.bytes = bytes }

    /// How far a changeset that still grows was read.
    struct Position {
        fileprivate var at = 0
        fileprivate var table: TableKey?
        fileprivate var hasCollection = false
    }

    /// Reads the instructions behind a position, and moves it to the end.
    static func parse(_ bytes: Bytes, from position: inout Position, _ handler: some ChangesetHandler)
        throws(RealmError)
    {
        var parser = ChangesetParser(bytes)
        (parser.at, parser.table, parser.hasCollection) = (position.at, position.table, position.hasCollection)
        while parser.at < bytes.count { try parser.instruction(handler) }
        position = Position(at: parser.at, table: parser.table, hasCollection: parser.hasCollection)
    }

    /// - Throws: 1021 for anything that no writer produces.
    static func parse(_ bytes: Bytes, _ handler: some ChangesetHandler) throws(RealmError) {
        var parser = ChangesetParser(bytes)
        while parser.at < bytes.count { try parser.instruction(handler) }
    }

    private func bad() -> RealmError { .corrupt("bad transaction log") }

    @inline(__always) private mutating func integer() throws(RealmError) -> Int64 {
        // Three bytes at once hold most keys.
        if at &+ 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
            if word & 0x80 == 0 {
                at &+= 1
                return Self.signed(word & 0x3F, isNegative: word & 0x40 != 0)
            }
            if word & 0x8000 == 0 {
                at &+= 2
                return Self.signed(word & 0x7F | (word & 0x3F00) >> 1, isNegative: word & 0x4000 != 0)
            }
            if word & 0x80_0000 == 0 {
                at &+= 3
                let value = word & 0x7F | (word & 0x7F00) >> 1 | (word & 0x3F_0000) >> 2
                return Self.signed(value, isNegative: word & 0x40_0000 != 0)
            }
        }
        return try longInteger()
    }

    @inline(__always) private static func signed(_ value: UInt64, isNegative: Bool) -> Int64 {
        isNegative ? ~Int64(bitPattern: value) : Int64(bitPattern: value)
    }

    @inline(never) private mutating func longInteger() throws(RealmError) -> Int64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while at < bytes.count, shift < 70 {
            let byte = UInt64(bytes[at])
            at += 1
            if byte & 0x80 == 0 {
                value |= (byte & 0x3F) << shift
                return byte & 0x40 == 0 ? Int64(bitPattern: value) : ~Int64(bitPattern: value)
            }
            value |= (byte & 0x7F) << shift
            shift += 7
        }
        throw bad()
    }

    private mutating func index() throws(RealmError) -> Int {
        let i = try integer()
        guard i >= 0, i < 1 << 48 else { throw bad() }
        return Int(i)
    }

    private mutating func tableKey() throws(RealmError) -> TableKey {
        TableKey(UInt32(truncatingIfNeeded: try integer()))
    }

    private func selected() throws(RealmError) -> TableKey {
        guard let table else { throw bad() }
        return table
    }

    /// Skips the type and text of a dictionary key. The index that follows is sufficient.
    private mutating func skipKey() throws(RealmError) {
        _ = try integer()
        let length = try index()
        guard length <= bytes.count - at else { throw bad() }
        at += length
    }

    private mutating func change(_ change: CollectionChange, _ handler: some ChangesetHandler) throws(RealmError) {
        guard hasCollection else { throw bad() }
        handler.collectionChanged(change)
    }

    private mutating func instruction(_ handler: some ChangesetHandler) throws(RealmError) {
        let op = bytes[at]
        at += 1
        switch op {
        case ChangesetCode.insertTable, ChangesetCode.eraseTable, ChangesetCode.renameTable:
            _ = try integer()
            (table, hasCollection) = (nil, false)
            handler.schemaChanged()
        case ChangesetCode.selectTable:
            guard try integer() == 0 else { throw bad() }
            (table, hasCollection) = (try tableKey(), false)
        case ChangesetCode.createObject: handler.objectCreated(try selected(), ObjKey(try integer()))
        case ChangesetCode.removeObject: handler.objectRemoved(try selected(), ObjKey(try integer()))
        case ChangesetCode.set:
            let column = ColKey(try integer())
            handler.valueSet(try selected(), ObjKey(try integer()), column)
        case ChangesetCode.insertColumn, ChangesetCode.eraseColumn, ChangesetCode.renameColumn:
            _ = try integer()
            handler.schemaChanged()
        case ChangesetCode.typedLinkChange:
            _ = try integer()
            _ = try integer()
        case ChangesetCode.selectCollection, ChangesetCode.selectNestedCollection:
            let column = ColKey(try integer())
            var place = CollectionPlace(table: try selected(), object: ObjKey(try integer()), column: column)
            if op == ChangesetCode.selectNestedCollection {
                let depth = try index()
                guard depth <= bytes.count - at else { throw bad() }
                for _ in 0..<depth { place.path.append(try integer()) }
            }
            hasCollection = true
            handler.collectionSelected(place)
        case ChangesetCode.collectionInsert, ChangesetCode.oldSetInsert: try change(.insert(try index()), handler)
        case ChangesetCode.collectionSet: try change(.set(try index()), handler)
        case ChangesetCode.collectionMove:
            let from = try index()
            try change(.move(from, try index()), handler)
        case ChangesetCode.collectionErase, ChangesetCode.oldSetErase: try change(.erase(try index()), handler)
        case ChangesetCode.collectionClear, ChangesetCode.oldSetClear, ChangesetCode.oldDictionaryClear:
            try change(.clear(oldSize: try index()), handler)
        case ChangesetCode.oldDictionaryInsert:
            try skipKey()
            try change(.insert(try index()), handler)
        case ChangesetCode.oldDictionarySet:
            try skipKey()
            try change(.set(try index()), handler)
        case ChangesetCode.oldDictionaryErase:
            try skipKey()
            try change(.erase(try index()), handler)
        default: throw bad()
        }
    }
}

/// The instructions of changesets. Format: storage §6.4.
enum ChangesetCode {
    static let insertTable: UInt8 = 0x01
    static let eraseTable: UInt8 = 0x02
    static let renameTable: UInt8 = 0x03
    static let selectTable: UInt8 = 0x0A
    static let createObject: UInt8 = 0x0B
    static let removeObject: UInt8 = 0x0C
    static let set: UInt8 = 0x0D
    static let insertColumn: UInt8 = 0x14
    static let eraseColumn: UInt8 = 0x15
    static let renameColumn: UInt8 = 0x16
    static let selectCollection: UInt8 = 0x1E
    static let collectionInsert: UInt8 = 0x1F
    static let collectionSet: UInt8 = 0x20
    static let collectionMove: UInt8 = 0x21
    static let collectionErase: UInt8 = 0x23
    static let collectionClear: UInt8 = 0x24
    static let oldDictionaryInsert: UInt8 = 0x25
    static let oldDictionarySet: UInt8 = 0x26
    static let oldDictionaryErase: UInt8 = 0x27
    static let oldSetInsert: UInt8 = 0x28
    static let oldSetErase: UInt8 = 0x29
    static let oldSetClear: UInt8 = 0x2A
    static let typedLinkChange: UInt8 = 0x2B
    static let oldDictionaryClear: UInt8 = 0x2C
    static let selectNestedCollection: UInt8 = 0x2D
}
