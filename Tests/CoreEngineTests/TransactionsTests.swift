// Seeded histories of transactions are compared with plain dictionaries: after every commit, rollback and reopening,
// and from older snapshots; the files are verified. Other tests check the rules of opening, growing and reusing space.
import Foundation
import Testing

@testable import CoreEngine

private let schema = Schema([
    ObjectSchema(
        "Item",
        properties: [
            Property("id", .int, primary: true), Property("name", .string, nullable: true, indexed: true),
            Property("n", .int, nullable: true),
            Property("when", .date, indexed: true),
            Property("data", .data), Property("next", .object, nullable: true, target: "Item"),
            Property("text", .string, fullText: true),
        ]),
    ObjectSchema(
        "Plain",
        properties: [
            Property("v", .double), Property("u", .uuid, nullable: true, indexed: true),
            Property("item", .object, nullable: true, target: "Item"),
        ]),
])

private func open(_ path: String) throws -> Realm {
    try Realm(RealmConfiguration(path: path, schema: schema, schemaVersion: 1))
}

private struct Item: Equatable {
    var name: String?
    var n: Int64?
    var when: Int64 = 0
    var data: [UInt8] = []
    var next: Int64?
    var text = ""
}

private func read(_ realm: Realm) throws -> [Int64: Item] {
    var all: [Int64: Item] = [:]
    for o in try realm.objects("Item") {
        var item = Item(name: try o.get("name").string, n: try o.get("n").int)
        if case .date(let t) = try o.get("when") { item.when = t.seconds }
        if case .data(let d) = try o.get("data") { item.data = d }
        item.next = try o.object("next")?.get("id").int
        item.text = try o.get("text").string ?? "?"
        all[try #require(try o.get("id").int)] = item
    }
    return all
}

@Test(arguments: 1...6) func historyAgainstAModel(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    let folder = try TemporaryFolder()
    var realm = try open(folder.file())
    var model: [Int64: Item] = [:]
    var older: (realm: Realm, model: [Int64: Item])?
    let texts = ["", "a", "fifteen letters", "The quick brown fox jumps", String(repeating: "long ", count: 40), "Ærø"]
    for round in 0..<25 {
        try realm.beginWrite()
        let before = model
        for _ in 0..<60 {
            let id = Int64(random.below(120))
            switch random.below(10) {
            case 0...3:
                let o = try realm.create("Item", primaryKey: .int(id), update: true)
                if model[id] == nil { model[id] = Item() }
                #expect(o.isValid)
            case 4...7:
                guard model[id] != nil, let o = try realm.object("Item", primaryKey: .int(id)) else {
                    #expect(model[id] == nil)
                    continue
                }
                switch random.below(6) {
                case 0:
                    let v: String? = random.below(3) == 0 ? nil : texts[random.below(texts.count)]
                    try o.set("name", v.map { .string($0) } ?? .null)
                    model[id]!.name = v
                case 1:
                    let v: Int64? =
                        random.below(4) == 0 ? nil : Int64(bitPattern: random.next() >> UInt64(random.below(63)))
                    try o.set("n", v.map { .int($0) } ?? .null)
                    model[id]!.n = v
                case 2:
                    let v = Int64(random.below(5))
                    try o.set("when", .date(Timestamp(seconds: v, nanoseconds: 0)))
                    model[id]!.when = v
                case 3:
                    let v = [UInt8](repeating: UInt8(round), count: [0, 3, 64, 65, 900][random.below(5)])
                    try o.set("data", .data(v))
                    model[id]!.data = v
                case 4:
                    let v = texts[random.below(texts.count)]
                    try o.set("text", .string(v))
                    model[id]!.text = v
                default:
                    let other = Int64(random.below(120))
                    let target = model[other] == nil ? nil : try realm.object("Item", primaryKey: .int(other))
                    try o.set("next", to: target)
                    model[id]!.next = target == nil ? nil : other
                }
            default:
                guard let o = try realm.object("Item", primaryKey: .int(id)) else { continue }
                try o.delete()
                #expect(!o.isValid)
                model[id] = nil
                for k in model.keys where model[k]!.next == id { model[k]!.next = nil }
            }
        }
        if random.below(4) == 0 {
            try realm.cancelWrite()
            model = before
        } else {
            try realm.commitWrite()
        }
        #expect(try read(realm) == model, "seed \(seed), round \(round)")
        if let o = older {
            #expect(try read(o.realm) == o.model, "an older snapshot changed: seed \(seed), round \(round)")
        }
        if round % 6 == 2 {
            older?.realm.close()
            let r = try open(folder.file())
            try r.beginRead()
            older = (r, model)
        }
        if round % 7 == 6 {
            older?.realm.close()
            older = nil
            realm.close()
            try checkFile(folder.file())
            realm = try open(folder.file())
            #expect(try read(realm) == model)
        }
    }
    older?.realm.close()
    realm.close()
    try checkFile(folder.file())
}

@Test func objectKeysAreThoseOfRealm() throws {
    let folder = try TemporaryFolder()
    let realm = try open(folder.file())
    try realm.write {
        var keys: [Int64] = []
        for _ in 0..<260 { keys.append(try realm.create("Plain").key.raw) }
        // Without a primary key the low byte of the sequence comes first, then a byte of file id.
        #expect(
            keys[0..<256].elementsEqual(0..<256) && keys[256...].elementsEqual([0x10000, 0x10001, 0x10002, 0x10003]))
        #expect(
            try (0..<300).map { try realm.create("Item", primaryKey: .int(Int64($0 * 7))).key.raw }
                == (0..<300).map { Int64($0) })
        try realm.object("Item", primaryKey: 0)?.delete()
        // Re-creating gives a new key.
        #expect(try realm.create("Item", primaryKey: 0).key.raw == 300)
    }
    realm.close()
    try checkFile(folder.file())
}

@Test func filesGrowAsTheFormatSays() throws {
    let folder = try TemporaryFolder()
    let realm = try open(folder.file())
    var sizes = [try FileDescriptor(path: folder.file(), access: .readOnly).size()]
    for i in 0..<40 {
        try realm.write {
            try realm.create("Item", primaryKey: .int(Int64(i)), ["data": .data([UInt8](repeating: 1, count: 30_000))])
        }
        let size = try FileDescriptor(path: folder.file(), access: .readOnly).size()
        if size != sizes.last { sizes.append(size) }
    }
    for (a, b) in zip(sizes, sizes.dropFirst()) {
        let step = min(max(a / 16, 64 << 10), 1 << 20)
        let least = a < 1 << 20 ? min(2 * a, max(1 << 20, a + step)) : a + step
        #expect(b % Platform.pageSize == 0 && b >= least, "\(a) → \(b)")
    }
    realm.close()
    try checkFile(folder.file())
}

@Test func spaceIsReusedOnlyWhenNobodyCanSeeIt() throws {
    let folder = try TemporaryFolder()
    let writer = try open(folder.file()), reader = try open(folder.file())
    try writer.write {
        for i in 0..<50 {
            try writer.create(
                "Item", primaryKey: .int(Int64(i)), ["data": .data([UInt8](repeating: UInt8(i), count: 500))])
        }
    }
    try reader.refresh()
    let seen = try read(reader)
    for round in 0..<30 {
        try writer.write {
            for o in try writer.objects("Item") {
                try o.set("data", .data([UInt8](repeating: UInt8(100 + round), count: 400 + round)))
            }
        }
    }
    #expect(try read(reader) == seen)
    let pinned = try FileDescriptor(path: folder.file(), access: .readOnly).size()
    try reader.refresh()
    #expect(try read(reader) == read(writer))
    // With nobody behind, the file stays as large as the pinned history made it, or one step larger.
    var sizes: [Int] = []
    for round in 0..<120 {
        try writer.write {
            for o in try writer.objects("Item") {
                try o.set("data", .data([UInt8](repeating: UInt8(round), count: 400 + round % 30)))
            }
        }
        sizes.append(try FileDescriptor(path: folder.file(), access: .readOnly).size())
    }
    #expect(sizes[119] == sizes[30] && sizes[119] <= 2 * pinned, "\(pinned) → \(sizes)")
    reader.close()
    writer.close()
    try checkFile(folder.file())
}

@Test func memoryOnlyFilesGoWithTheirLastUser() throws {
    let folder = try TemporaryFolder()
    var c = RealmConfiguration(path: folder.file(), schema: schema, schemaVersion: 1)
    c.isInMemory = true
    var a: Realm? = try Realm(c)
    var b: Realm? = try Realm(c)
    try a?.write { try a?.create("Item", primaryKey: 1) }
    try b?.refresh()
    #expect(try b?.objects("Item").count == 1)
    a?.close()
    a = nil
    #expect(FileManager.default.fileExists(atPath: folder.file()))
    b?.close()
    b = nil
    #expect(!FileManager.default.fileExists(atPath: folder.file()))
}

@Test func oneWriterAtATimeAcrossThreads() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file()
    do {
        let realm = try open(path)
        try realm.write { try realm.create("Item", primaryKey: 0, ["n": 0]) }
        realm.close()
    }
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
            group.addTask {
                await withCheckedContinuation { done in
                    Thread.detachNewThread {
                        do {
                            let realm = try open(path)
                            for _ in 0..<25 {
                                try realm.write {
                                    let o = try #require(try realm.object("Item", primaryKey: 0))
                                    try o.set("n", .int((try o.get("n").int ?? 0) + 1))
                                }
                            }
                            realm.close()
                        } catch { Issue.record(error) }
                        done.resume()
                    }
                }
            }
        }
    }
    let realm = try open(path)
    #expect(try realm.object("Item", primaryKey: 0)?.get("n") == 100)
    realm.close()
    try checkFile(path)
}

@Test func schemaRulesAreChecked() throws {
    func problems(_ classes: ObjectSchema...) -> String {
        do {
            try Schema(classes).validate()
            return ""
        } catch {
            #expect(error.code == .schemaValidationFailed)
            return error.message
        }
    }
    let dog = ObjectSchema("Dog", properties: [Property("name", .string)])
    #expect(problems(dog).isEmpty)
    #expect(problems(dog, dog).contains("more than once"))
    #expect(
        problems(ObjectSchema("A", properties: [Property("d", .object, target: "Dog")]), dog).contains(
            "must be nullable"))
    #expect(
        problems(
            ObjectSchema("A", properties: [Property("d", .object, nullable: true, collection: .list, target: "Dog")]),
            dog
        ).contains(
            "cannot be nullable"))
    #expect(problems(ObjectSchema("A", properties: [Property("m", .mixed)])).contains("must be nullable"))
    #expect(problems(ObjectSchema("A", properties: [Property("d", .double, primary: true)])).contains("primary key"))
    #expect(
        problems(ObjectSchema("A", properties: [Property("d", .double, indexed: true)])).contains("cannot be indexed"))
    #expect(
        problems(ObjectSchema("A", properties: [Property("d", .object, nullable: true, target: "Cat")])).contains(
            "unknown object type"))
    #expect(problems(ObjectSchema("A", primaryKey: "x", properties: [Property("d", .int)])).contains("does not exist"))
    #expect(
        problems(ObjectSchema("E", kind: .embedded, properties: [Property("e", .object, nullable: true, target: "E")]))
            .contains("Cycles"))
}

@Test func extentsBesideASectionBoundaryAreNotTakenForNodesThatWouldCrossIt() {
    // Commits took the same too small rest of a section again and again.
    let boundary = Format.sectionSize
    var free = FreeSpace()
    free.appendAtEnd(FileChunk(offset: boundary - 100 * 8, size: 100 * 8 + 64))
    #expect(!FreeSpace.holds(FileChunk(offset: boundary - 64, size: 128), 96))
    #expect(FreeSpace.holds(FileChunk(offset: boundary - 64, size: 256), 96))
    #expect(FreeSpace.holds(FileChunk(offset: boundary - 64, size: 64), 64))
    free.appendAtEnd(FileChunk(offset: boundary + 4096, size: 400))
    #expect(
        free.takeExtent(wanted: 100 * 8, least: 96, logicalSize: 1 << 30)
            == FileChunk(offset: boundary - 800, size: 864))
    free.giveBack(FileChunk(offset: boundary - 64, size: 128))
    #expect(
        free.takeExtent(wanted: 96, least: 96, logicalSize: 1 << 30) == FileChunk(offset: boundary + 4096, size: 400))
    #expect(free.takeExtent(wanted: 96, least: 96, logicalSize: 1 << 30) == nil)
}

@Test func filesBeyondASectionNeverPutANodeAcrossItsBoundary() throws {
    // The storage checker counts crossing nodes; here the file passes the first boundary with nodes of odd sizes.
    let folder = try TemporaryFolder()
    let realm = try open(folder.file())
    for round in 0..<3 {
        try realm.write {
            for i in 0..<80 where round == 0 || i % 3 == round {
                try realm.create(
                    "Item", primaryKey: .int(Int64(i)), update: true,
                    ["data": .data([UInt8](repeating: UInt8(i), count: 1_000_000 + i * 777 + round * 8))])
            }
        }
    }
    #expect(try FileDescriptor(path: folder.file(), access: .readOnly).size() > Format.sectionSize)
    for i in 0..<80 {
        let round = i % 3 == 1 ? 1 : (i % 3 == 2 ? 2 : 0)
        #expect(
            try realm.object("Item", primaryKey: .int(Int64(i)))?.get("data")
                == .data([UInt8](repeating: UInt8(i), count: 1_000_000 + i * 777 + round * 8)))
    }
    realm.close()
    try checkFile(folder.file())
}

@Test(arguments: [Durability.full, .unsafe]) func eachDurabilityLeavesASoundFile(durability: Durability) throws {
    let folder = try TemporaryFolder()
    let path = folder.file()
    do {
        let database = try Database.open(path: path, access: .readWrite(create: true), durability: durability)
        let t = try Transaction(database)
        for i in 0..<20 {
            _ = try t.beginWrite()
            let table = try t.group.table(named: "class_T") ?? t.group.addTable("class_T")
            if table.column(named: "v") == nil { try table.addColumn("v", .int, []) }
            let key = try table.createObject().key
            let column = try #require(table.column(named: "v").flatMap { table.facts($0.key) })
            #expect(try table.set(key, column, .int(Int64(i))))
            try t.commit()
        }
        #expect(t.version == 21)
        t.close()
    }
    try checkFile(path)
    let t = try Transaction(try Database.open(path: path, access: .readWrite(create: false)))
    try t.beginRead()
    #expect(try t.group.table(named: "class_T")?.count() == 20)
    t.close()
}

@Test func aSecondPinKeepsAVersion() throws {
    let folder = try TemporaryFolder()
    let writer = try open(folder.file())
    try writer.write { try writer.create("Item", primaryKey: 1, ["n": 1]) }
    let pin = try #require(try writer.reading().pin)
    #expect(pin.share())
    let pinned = try Transaction(reading: pin)
    for i in 2..<30 { try writer.write { try writer.object("Item", primaryKey: 1)?.set("n", .int(Int64(i))) } }
    let table = try #require(try pinned.group.table(named: "class_Item"))
    let n = try #require(table.column(named: "n").flatMap { table.facts($0.key) })
    guard case .int(1)? = try table.get(ObjKey(0), n) else {
        Issue.record("the pinned version changed")
        return
    }
    pinned.close()
    writer.close()
    try checkFile(folder.file())
}
