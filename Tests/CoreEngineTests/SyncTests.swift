// Synchronisation without a hub: the bytes of marks, what a commit marks, merging of collections, times as text. The
// exchange with a hub is tested in Tests/Sync.
import Testing

@testable import CoreEngine

private let schema = Schema([
    ObjectSchema(
        "Item", primaryKey: "id",
        properties: [
            Property("id", .int, primary: true), Property("name", .string), Property("n", .int),
            Property("tags", .string, collection: .list),
        ])
])

private func open(_ folder: TemporaryFolder) throws -> Realm {
    try Realm(RealmConfiguration(path: folder.file(), schema: schema, schemaVersion: 1))
}

/// The unsent changes of the objects of a class, by primary key; deleted ones by the text of theirs.
private func pending(_ realm: Realm) throws -> [String: PendingObject] {
    try realm.inside { () throws(RealmError) in
        var all: [String: PendingObject] = [:]
        guard let tables = try MarkTables(try realm.reading().group) else { return [:] }
        for one in try tables.all() {
            for key in try one.pending.keys() {
                guard let change = try one.pending.get(key) else { continue }
                let id = try WireText.primaryKey(one.table, key) ?? change.key
                all[String(decoding: id, as: UTF8.self)] = change
            }
        }
        return all
    }
}

private func list(_ elements: [Int]) -> JSONValue { .array(elements.map { .int(Int64($0)) }) }

private func merged(_ base: [Int], _ mine: [Int], _ hub: [Int]) -> [Int] {
    let merged = ThreeWayMerge.merge(base: list(base), mine: list(mine), hub: list(hub), shape: .list)
    return (merged.elements ?? []).map { Int($0.integer ?? -1) }
}

@Suite struct SyncTests {
    // MARK: Bytes

    @Test func unsentPropertiesReadBackFromTheirBytes() throws {
        var change = PendingObject(state: .changed, clock: 5)
        change.note(ColKey(7), .set, clock: 1)
        change.add(ColKey(8), -3, clock: .max)
        change.note(ColKey(9), .collection, clock: 3, before: Array("[1,2]".utf8))
        let read = try change.bytes.withBytes { (bytes) throws(RealmError) in try PendingObject.properties(bytes) }
        #expect(read == change.properties)
    }

    @Test func damagedBytesAreAnError() throws {
        var change = PendingObject(state: .changed, clock: 5)
        change.note(ColKey(9), .collection, clock: 3, before: Array("[1,2]".utf8))
        let whole = change.bytes
        for count in 1..<whole.count {
            #expect(throws: RealmError.self) {
                try Array(whole[..<count]).withBytes { (bytes) throws(RealmError) in
                    _ = try PendingObject.properties(bytes)
                }
            }
        }
        var unknown = whole
        unknown[8] = 9
        #expect(throws: RealmError.self) {
            try unknown.withBytes { (bytes) throws(RealmError) in _ = try PendingObject.properties(bytes) }
        }
    }

    @Test func anAdditionToAnUnsentValueIsAPartOfIt() {
        var change = PendingObject(state: .changed, clock: 1)
        change.add(ColKey(1), 5, clock: 1)
        change.add(ColKey(1), 6, clock: 2)
        #expect(change.property(ColKey(1))?.delta == 11)
        change.note(ColKey(1), .set, clock: 3)
        change.add(ColKey(1), 6, clock: 4)
        #expect(change.property(ColKey(1)) == PendingProperty(column: ColKey(1), kind: .set, clock: 4))
    }

    // MARK: Commits

    /// A synchronised file with the objects 1 and 2, nothing of which is unsent.
    private final class Marked {
        let folder: TemporaryFolder
        let realm: Realm
        let table: TableKey
        let name, n, tags: ColKey

        init() throws {
            let folder = try TemporaryFolder(), realm = try open(folder)
            try realm.write { for id in 1...2 { _ = try realm.create("Item", primaryKey: .int(Int64(id))) } }
            let item = try #require(realm.schema["Item"])
            func column(_ name: Name) throws -> ColKey { try #require(realm.property(name, of: item.key)).key }
            (self.folder, self.realm, table) = (folder, realm, item.key)
            (name, n, tags) = (try column("name"), try column("n"), try column("tags"))
            try realm.inside { () throws(RealmError) in try realm.enableSync([]) }
        }

        func key(_ id: Int64) throws -> ObjKey {
            let found = try realm.inside { () throws(RealmError) in try realm.find(table, primaryKey: .int(id)) }
            return try #require(found)
        }

        func write(_ body: () throws(RealmError) -> Void) throws {
            try realm.write { try realm.inside { () throws(RealmError) in try body() } }
        }

        func insert(_ text: String, _ object: ObjKey) throws(RealmError) {
            let path = CollectionPath(table: table, object: object, column: tags)
            try Array(text.utf8).withBytes { (bytes) throws(RealmError) in
                try realm.insert(.string(bytes), at: 0, in: path)
            }
        }
    }

    @Test func enablingAndDisablingMakeAndRemoveTheTables() throws {
        let folder = try TemporaryFolder(), realm = try open(folder)
        try realm.write { _ = try realm.create("Item", primaryKey: .int(1)) }
        #expect(try pending(realm).isEmpty)
        let table = try #require(realm.schema["Item"]).key
        let names = [
            MarkNames.settings, MarkNames.classes, MarkNames.inflight, MarkNames.refused, MarkNames.pending(table),
        ]
        func present() throws -> Int {
            let group = try realm.inside { () throws(RealmError) in try realm.reading().group }
            return names.count { group.tableIndex(named: $0) != nil }
        }
        #expect(try present() == 0)
        try realm.inside { () throws(RealmError) in try realm.enableSync([]) }
        #expect(throws: RealmError.self) { try realm.inside { () throws(RealmError) in try realm.enableSync([]) } }
        try realm.write { _ = try realm.create("Item", primaryKey: .int(2)) }
        #expect(try pending(realm).count == 1)
        #expect(try present() == names.count)
        try realm.inside { () throws(RealmError) in try realm.disableSync() }
        #expect(try present() == 0)
        #expect(throws: RealmError.self) { try realm.inside { () throws(RealmError) in try realm.disableSync() } }
    }

    @Test func aCommitMarksWhatItChanged() throws {
        let file = try Marked(), realm = file.realm, one = try file.key(1), two = try file.key(2)
        try file.write { () throws(RealmError) in
            try realm.addInteger(file.table, one, file.n, 5)
            try realm.addInteger(file.table, one, file.n, 6)
            try file.insert("t", one)
            try realm.delete(file.table, two)
        }
        try realm.write { _ = try realm.create("Item", primaryKey: .int(3)) }
        var found = try pending(realm)
        let first = try #require(found["1"])
        #expect(first.state == .changed)
        #expect(first.property(file.n)?.kind == .add && first.property(file.n)?.delta == 11)
        #expect(first.property(file.tags)?.before == Array("[]".utf8))
        #expect(first.property(file.name) == nil)
        #expect(found["2"]?.state == .deleted && found["3"]?.state == .created)

        try file.write { () throws(RealmError) in
            try realm.addInteger(file.table, one, file.n, 1)
            try file.insert("u", one)
        }
        found = try pending(realm)
        #expect(found["1"]?.property(file.n)?.delta == 12)
        #expect(
            found["1"]?.property(file.tags)?.before == Array("[]".utf8), "the elements before the first unsent change")
        #expect((found["1"]?.clock ?? 0) > first.clock)

        try file.write { () throws(RealmError) in
            try realm.set(file.table, one, file.n, .int(7))
            try realm.addInteger(file.table, one, file.n, 1)
        }
        #expect(try pending(realm)["1"]?.property(file.n)?.kind == .set)
    }

    @Test func whatIsUndoneIsNotMarked() throws {
        let file = try Marked(), realm = file.realm, one = try file.key(1)
        try realm.beginWrite()
        try realm.inside { () throws(RealmError) in try realm.addInteger(file.table, one, file.n, 5) }
        try realm.cancelWrite()
        #expect(try pending(realm).isEmpty)
        try file.write { () throws(RealmError) in
            try realm.addInteger(file.table, one, file.n, 5)
            let savepoint = try realm.transaction.beginSavepoint()
            try realm.addInteger(file.table, one, file.n, 100)
            try file.insert("undone", one)
            try realm.transaction.rollbackSavepoint(savepoint)
        }
        #expect(try pending(realm)["1"]?.property(file.n)?.delta == 5)
        #expect(try pending(realm)["1"]?.properties.count == 1)
    }

    @Test func anObjectThatWasMadeAndDeletedInOneTransactionIsNotMarked() throws {
        let file = try Marked(), realm = file.realm
        try realm.write {
            let made = try realm.create("Item", primaryKey: .int(9))
            try made.delete()
        }
        #expect(try pending(realm).isEmpty)
    }

    // MARK: Merging

    @Test func mergedListsHaveTheChangesOfBothSides() {
        #expect(merged([1, 2, 3], [0, 1, 2, 3], [1, 2, 3, 4]) == [0, 1, 2, 3, 4])
        #expect(merged([1, 2, 3], [1, 3], [1, 2]) == [1])
        #expect(merged([1, 2, 3], [1, 9, 3], [1, 2, 3, 3]) == [1, 9, 3, 3])
        // Both insert the same element at the same place: meant twice only if the lists around differ.
        #expect(merged([], [5], [5]) == [5])
        #expect(merged([1, 2], [2, 1], [2, 1]) == [2, 1])
        #expect(merged([1, 2, 3], [2, 3, 1], [3, 1, 2]).sorted() == [1, 2, 3])
        // A moved element that the other side removed stays removed.
        #expect(merged([1, 2, 3], [2, 3, 1], [2, 3]) == [2, 3])
    }

    /// All lists of up to three of three elements: nobody's insertion is lost, and no removal undone.
    @Test func smallListsMergeWithoutLoss() {
        var lists: [[Int]] = [[]]
        for length in 1...3 {
            var all: [[Int]] = [[]]
            for _ in 0..<length { all = all.flatMap { list in (0..<3).map { list + [$0] } } }
            lists += all
        }
        func count(_ list: [Int], _ element: Int) -> Int { list.count { $0 == element } }
        for base in lists {
            for mine in lists {
                #expect(merged(base, mine, base) == mine)
                #expect(merged(base, base, mine) == mine)
                for hub in lists where (base.count + mine.count + hub.count) % 2 == 0 {
                    let result = merged(base, mine, hub)
                    for element in 0..<3 {
                        let was = count(base, element), own = count(mine, element), other = count(hub, element)
                        let found = count(result, element)
                        // Between what both demand together and what is left if both mean the same.
                        #expect(found <= max(own, other, own + other - was), "\(base) \(mine) \(hub): \(result)")
                        #expect(found >= min(own, other, own + other - was), "\(base) \(mine) \(hub): \(result)")
                    }
                }
            }
        }
    }

    @Test func entriesOfDictionariesMergeByKey() throws {
        func value(_ text: String) throws -> JSONValue { try JSONValue.parse(Array(text.utf8)) }
        func merge(_ base: String, _ mine: String, _ hub: String) throws -> String {
            let merged = ThreeWayMerge.merge(
                base: try value(base), mine: try value(mine), hub: try value(hub), shape: .dictionary)
            return String(decoding: merged.json, as: UTF8.self)
        }
        #expect(try merge("{}", #"{"a":1}"#, #"{"b":2}"#) == #"{"a":1,"b":2}"#)
        #expect(try merge(#"{"a":1,"b":2}"#, #"{"b":2}"#, #"{"a":1,"b":3}"#) == #"{"b":3}"#)
        // A change wins over a removal, on either side.
        #expect(try merge(#"{"a":1}"#, "{}", #"{"a":5}"#) == #"{"a":5}"#)
        #expect(try merge(#"{"a":1}"#, #"{"a":5}"#, "{}") == #"{"a":5}"#)
        #expect(
            try merge(#"{"a":{"x":1,"y":1}}"#, #"{"a":{"x":2,"y":1}}"#, #"{"a":{"x":1,"y":2}}"#)
                == #"{"a":{"x":2,"y":2}}"#)
    }

    // MARK: Texts, clocks

    @Test(
        arguments: [
            (0, 0), (1, 500_000_000), (-1, -500_000_000), (1_700_000_000, 123_456_789), (-62_135_596_800, 0),
            (-62_167_219_201, 0), (253_402_300_799, 999_999_999), (-210_000_000_000, -1),
        ] as [(Int64, Int32)])
    func timesReadBackFromTheirTexts(seconds: Int64, nanoseconds: Int32) {
        let time = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
        #expect(Timestamp(wire: Array(time.wireText.utf8)) == time)
        #expect(Timestamp(wire: Array(time.description.utf8)) == time)
    }

    @Test func textsThatAreNoTimesAreRefused() {
        for text in ["", "-", "infinity", "2024-13-01 00:00:00+00", "2024-01-01", "1.5x", "99999999999999999999"] {
            #expect(Timestamp(wire: Array(text.utf8)) == nil, "\(text)")
        }
    }

    @Test func clocksAscend() {
        #expect(HybridClock.next(after: .max - 1) == .max)
        #expect(HybridClock.next(after: .max) == .max)
        let now = HybridClock.now()
        #expect(HybridClock.next(after: 0) >= now)
        #expect(HybridClock.next(after: now + (1 << 40)) == now + (1 << 40) + 1)
        #expect(HybridClock.now(offset: 3_600_000) > now)
    }

    // MARK: Conditions of subsets

    private static let strange = Schema([
        ObjectSchema(
            "Odd", primaryKey: "id",
            properties: [
                Property("id", .int, primary: true), Property("sort", .string), Property("contains", .string),
                Property("a b-c.d\\e", .string), Property("é", .string), Property("true", .bool),
                Property("d", .double),
                Property("f", .float), Property("t", .date), Property("u", .uuid), Property("o", .objectId),
                Property("dec", .decimal), Property("stored", .int, publicName: "shown"), Property("$K0", .int),
                Property("O7", .int), Property("not", .int),
            ])
    ])

    /// The JSON of a condition whose arguments became constants.
    private func json(_ realm: Realm, _ text: String, _ values: [RealmValue]) throws -> JSONValue {
        let bytes = try realm.inside { () throws(RealmError) in
            let stored = try realm.subsetText(text, values, of: "Odd")
            guard let table = try realm.reading().group.table(named: Format.classPrefix + "Odd") else {
                throw RealmError(.noSuchTable, "Odd")
            }
            return try SubsetCondition.json(stored, table)
        }
        return try bytes.withBytes { (bytes) throws(RealmError) in try JSONValue.parse(bytes) }
    }

    private func oddRealm() throws -> (Realm, TemporaryFolder) {
        let folder = try TemporaryFolder()
        return (
            try Realm(RealmConfiguration(path: folder.file(), schema: Self.strange, schemaVersion: 1)), folder
        )
    }

    @Test func argumentsOfConditionsBecomeConstants() throws {
        let (realm, folder) = try oddRealm()
        defer { withExtendedLifetime(folder) {} }
        for name in ["sort", "contains", "a b-c.d\\e", "é"] {
            for text in ["", "x", "it's \"so\"", "a\\nb\\", "\n\t\u{1}", "Größe 🐟", "B64\"AA\"", "') OR (true"] {
                let found = try json(realm, "$K0 == $1", [.string(name), .string(text)])
                let parts = try #require(found.elements)
                #expect(parts.map(\.text) == ["==", name, text])
            }
        }
        for name in ["$K0", "O7", "not", "stored"] {
            let found = try json(realm, "$K0 > $1", [.string(name), .int(.min)])
            #expect(found.elements?.map(\.text) == [">", name, "-9223372036854775808"])
        }
        #expect(try json(realm, "shown != 3", []).elements?.map(\.text) == ["!=", "stored", "3"])
        let yes = try json(realm, "$K0 == $1", [.string("true"), .bool(true)]).elements
        #expect(yes?[1].text == "true" && yes?[2].flag == true)
        let many = try json(realm, "id IN $0", [.list([.int(1), .int(2)])]).elements
        #expect(many?[2].elements?.map(\.text) == ["1", "2"])
        let between = try json(realm, "id BETWEEN {$0, $1} AND NOT (d < $2 OR t == NULL)", [1, 2, .double(0.1)])
        #expect(
            String(decoding: between.json, as: UTF8.self)
                == #"["and",["and",[">=","id","1"],["<=","id","2"]],["not",["or",["<","d","0.10000000000000001"],["==","t",null]]]]"#
        )
    }

    @Test func numbersAndTimesBecomeConstants() throws {
        let (realm, folder) = try oddRealm()
        defer { withExtendedLifetime(folder) {} }
        func constant(_ name: String, _ value: RealmValue) throws -> String? {
            try json(realm, "$K0 == $1", [.string(name), value]).elements?[2].text
        }
        for number in [1e300, 3, -0.5, 5e-200, 1.0 / 3] {
            #expect(try constant("d", .double(number)).flatMap { Double($0) } == number)
        }
        #expect(try constant("f", .float(0.1)).flatMap { Float($0) } == 0.1)
        for (seconds, nanoseconds) in [(-1, -500_000_000), (0, 1000), (1 << 33, 0)] as [(Int64, Int32)] {
            let time = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
            #expect(try constant("t", .date(time)) == time.wireText)
        }
        let id = AutomaticValues.objectId(), uuid = AutomaticValues.uuid()
        #expect(try constant("o", .objectId(id)) == "\\x\(id)")
        #expect(try constant("u", .uuid(uuid)) == "\(uuid)")
    }

    @Test func conditionsThatSQLCannotExpressAreRefused() throws {
        let (realm, folder) = try oddRealm()
        defer { withExtendedLifetime(folder) {} }
        let refused: [(String, [RealmValue])] = [
            ("d == $0", [.double(.nan)]), ("d == $0", [.double(.infinity)]), ("id == $0", [.string("x")]),
            ("id == $0", []), ("id == $0", [.list([.int(1)])]), ("$K0 == 1", [.int(3)]),
            ("$K0 == 1", [.string("id.d")]),
            ("sort == $0", [.string("a\0b")]), ("sort ==[c] $0", [.string("a")]), ("sort ==[u] 'a'", []),
            ("sort LIKE $0", [.string("a")]),
            ("id == 1 SORT(id ASC)", []), ("id == $0", [.link(TableKey(0), ObjKey(1))]), ("id > $0", [.null]),
            ("sort == $0", [.data([1])]), ("ANY sort == 'x'", []), ("id == d", []), ("@links.@count > 0", []),
            (String(repeating: "NOT (", count: 60) + "id == 1" + String(repeating: ")", count: 60), []),
        ]
        for (text, values) in refused {
            #expect(throws: RealmError.self, "\(text)") { try json(realm, text, values) }
        }
        _ = try json(realm, "id == 1", [])
    }
}
