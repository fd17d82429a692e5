import CRealmHeaders
import Testing

@testable import CoreEngine

/// The engine fills structs that programs in C read: both declarations must mean the same bytes.
@Suite struct ArrowStructTests {
    private func offsets<T>(_ fields: PartialKeyPath<T>...) -> [Int?] {
        fields.map { MemoryLayout<T>.offset(of: $0) } + [
            MemoryLayout<T>.size, MemoryLayout<T>.stride, MemoryLayout<T>.alignment,
        ]
    }

    @Test func schemasAreLaidOutAsInC() {
        typealias C = CRealmHeaders.ArrowSchema
        typealias S = CoreEngine.ArrowSchema
        let inC = offsets(
            \C.format, \C.name, \C.metadata, \C.flags, \C.n_children, \C.children, \C.dictionary, \C.release,
            \C.private_data)
        let here = offsets(
            \S.format, \S.name, \S.metadata, \S.flags, \S.childCount, \S.children, \S.dictionary, \S.release,
            \S.privateData)
        #expect(inC == here)
        #expect(S.nullable == Int64(ARROW_FLAG_NULLABLE))
        #expect(S.mapKeysSorted == Int64(ARROW_FLAG_MAP_KEYS_SORTED))
    }

    @Test func arraysAreLaidOutAsInC() {
        typealias C = CRealmHeaders.ArrowArray
        typealias S = CoreEngine.ArrowArray
        let inC = offsets(
            \C.length, \C.null_count, \C.offset, \C.n_buffers, \C.n_children, \C.buffers, \C.children, \C.dictionary,
            \C.release,
            \C.private_data)
        let here = offsets(
            \S.length, \S.nullCount, \S.offset, \S.bufferCount, \S.childCount, \S.buffers, \S.children, \S.dictionary,
            \S.release,
            \S.privateData)
        #expect(inC == here)
    }

    @Test func streamsAreLaidOutAsInC() {
        typealias C = CRealmHeaders.ArrowArrayStream
        typealias S = CoreEngine.ArrowArrayStream
        let inC = offsets(\C.get_schema, \C.get_next, \C.get_last_error, \C.release, \C.private_data)
        let here = offsets(\S.getSchema, \S.getNext, \S.getLastError, \S.release, \S.privateData)
        #expect(inC == here)
    }
}

/// What a stream does where an array cannot hold all that it is asked for.
@Suite struct ColumnStreamTests {
    private let folder: TemporaryFolder
    private let realm: Realm

    init() throws {
        let row = ObjectSchema(
            "Row",
            properties: [
                Property("n", .int), Property("text", .string, nullable: true),
                Property("list", .int, collection: .list),
                Property("named", .string, collection: .dictionary),
                Property("part", .object, nullable: true, target: "Part"),
            ])
        let part = ObjectSchema("Part", kind: .embedded, properties: [Property("data", .data)])
        folder = try TemporaryFolder()
        realm = try Realm(RealmConfiguration(path: folder.file(), schema: Schema([row, part]), schemaVersion: 1))
    }

    /// Rows n = 0, 1, … with n bytes of text, n elements and n entries, modulo 50.
    private func fill(_ count: Int64) throws {
        let r = realm
        try realm.write {
            for n in 0..<count {
                let o = try r.create(
                    "Row",
                    ["n": .int(n), "text": n % 7 == 0 ? .null : .string(String(repeating: "x", count: Int(n % 50)))])
                let list = try o.list("list"), named = try o.dictionary("named")
                for i in 0..<n % 50 {
                    try list.append(.int(i))
                    try named.set(.string("v"), for: Name("\(i)"))
                }
                if n % 2 == 0 {
                    let data = RealmValue.data([UInt8](repeating: 7, count: Int(n % 50)))
                    try o.setEmbedded("part").set("data", data)
                }
            }
        }
    }

    private func stream(_ paths: [Name]?, _ limits: ColumnStream.Limits, ofKeys: Bool) throws
        -> CoreEngine.ArrowArrayStream
    {
        let results = try realm.objects("Row")
        let rows = ofKeys ? try results.sorted(by: "n", ascending: false) : results
        let found = rows.found
        var stream = CoreEngine.ArrowArrayStream()
        try realm.inside { () throws(RealmError) in
            try withUnsafeMutableBytes(of: &stream) { p in
                Result { () throws(RealmError) in
                    guard let start = p.baseAddress else { return }
                    try ColumnStream.make(found, paths: paths, limits: limits).export(to: start)
                }
            }.get()
        }
        return stream
    }

    /// The numbers of `n`, the first column, in each array.
    private func read(_ stream: inout CoreEngine.ArrowArrayStream) -> (
        arrays: [[Int64]], number: CInt, message: String?
    ) {
        var arrays: [[Int64]] = [], number: CInt = 0
        while true {
            var array = CoreEngine.ArrowArray()
            number = stream.getNext?(&stream, &array) ?? -1
            guard number == 0, let release = array.release, let column = array.children?[0],
                let values = column.pointee.buffers?[1]
            else { break }
            arrays.append((0..<Int(array.length)).map { values.load(fromByteOffset: $0 * 8, as: Int64.self) })
            release(&array)
        }
        let message = stream.getLastError?(&stream).map { String(cString: $0) }
        stream.release?(&stream)
        return (arrays, number, message)
    }

    @Test(arguments: ["text", "list", "named", "part"], [true, false]) func arraysEndBeforeWhatDoesNotFit(
        column: Name, ofKeys: Bool
    ) throws {
        try fill(700)
        var limits = ColumnStream.Limits()
        limits.bytes = 120
        var s = try stream(["n", column], limits, ofKeys: ofKeys)
        let found = read(&s)
        #expect(found.number == 0 && found.message == nil)
        #expect(found.arrays.flatMap { $0 } == (ofKeys ? Array((0..<700).reversed()) : Array(0..<700)))
        #expect(found.arrays.count > 50)
        for array in found.arrays {
            let sizes = array.map { column == "text" && $0 % 7 == 0 || column == "part" && $0 % 2 == 1 ? 0 : $0 % 50 }
            #expect(sizes.reduce(0, +) <= 120)
        }
    }

    @Test func aValueThatFitsNowhereIsNamed() throws {
        try fill(60)
        var limits = ColumnStream.Limits()
        limits.bytes = 45
        var s = try stream(["n", "list"], limits, ofKeys: false)
        let found = read(&s)
        #expect(found.arrays.flatMap { $0 } == Array(0..<46))
        #expect(
            found.number == ErrorNumber.overflow
                && found.message?.hasPrefix("Column 'list' of the object with key ") == true)
    }

    @Test func arraysEndWhereTheyAreLarge() throws {
        try fill(700)
        var limits = ColumnStream.Limits()
        limits.size = 10_000
        var s = try stream(nil, limits, ofKeys: false)
        let found = read(&s)
        #expect(found.arrays.flatMap { $0 } == Array(0..<700) && found.arrays.count > 1)
    }

    @Test func aTextThatIsNotUTF8IsNamed() throws {
        try fill(20)
        let r = realm
        let object = try #require(try r.objects("Row").first { $0["n"] == 13 })
        try realm.write {
            let property = try object.property("text")
            try r.inside { () throws(RealmError) in
                try [0x61, 0xFF].withBytes { (b) throws(RealmError) in
                    try r.set(object.table, object.key, property.key, .string(b))
                }
            }
        }
        var s = try stream(["n", "text"], ColumnStream.Limits(), ofKeys: false)
        let found = read(&s)
        #expect(found.number == ErrorNumber.illegalSequence && found.arrays.isEmpty)
        #expect(found.message == "Column 'text' of the object with key \(object.key.raw): the text is not UTF-8")
        var rest = try stream(["n", "list"], ColumnStream.Limits(), ofKeys: false)
        #expect(read(&rest).arrays.flatMap { $0 } == Array(0..<20))
    }
}
