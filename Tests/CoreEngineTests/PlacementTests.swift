// Where a commit writes its nodes: in few places, and without making the file longer. The number of places is counted,
// because each of them costs a write call and a page of the disk.
import Testing

@testable import CoreEngine

private let schema = Schema([
    ObjectSchema(
        "Person",
        properties: [
            Property("id", .int, primary: true), Property("name", .string), Property("city", .string, indexed: true),
            Property("age", .int), Property("score", .double),
            Property("friend", .object, nullable: true, target: "Person"),
            Property("numbers", .int, collection: .list),
        ])
])

private func person(_ i: Int) -> [Name: RealmValue] {
    [
        "name": .string("Person number \(i)"), "city": .string("City \(i % 50)"), "age": .int(Int64(i % 90)),
        "score": .double(Double(i)),
    ]
}

/// Makes a file of 20,000 persons; then `change` runs in each of 300 commits.
/// - Returns: the mean number of places that the second half of the commits wrote, and the file's sizes before and
///   after.
private func measure(_ path: String, _ change: (Realm, Int) throws -> Void) throws -> (
    places: Double, before: Int, after: Int
) {
    func size() throws -> Int { try FileDescriptor(path: path, access: .readOnly).size() }
    let realm = try Realm(RealmConfiguration(path: path, schema: schema, schemaVersion: 1))
    defer { realm.close() }
    try realm.write {
        for i in 0..<20_000 { _ = try realm.create("Person", primaryKey: .int(Int64(i * 7)), person(i)) }
    }
    let before = try size()
    var places = 0
    for n in 0..<300 {
        try realm.write { try change(realm, n) }
        let newest = realm.transaction.version
        if n >= 150 { places += realm.transaction.database.recent.lastCommit(newest).count }
    }
    return (Double(places) / 150, before, try size())
}

@Test func aCommitOfANewObjectWritesFewPlaces() throws {
    let folder = try TemporaryFolder()
    let result = try measure(folder.file()) { realm, n in
        _ = try realm.create("Person", primaryKey: .int(Int64(1_000_000 + n)), person(n))
    }
    #expect(result.places <= 4, "\(result)")
    #expect(result.after <= result.before * 5 / 4, "\(result)")
    try checkFile(folder.file())
}

@Test func anObjectThatReplacesAnotherIsWrittenInFewPlaces() throws {
    let folder = try TemporaryFolder()
    var random = Seeded(4), next = 1_000_000
    var ids = (0..<20_000).map { $0 * 7 }
    let result = try measure(folder.file()) { realm, n in
        let i = random.below(ids.count)
        try realm.object("Person", primaryKey: .int(Int64(ids[i])))?.delete()
        next += 1
        ids[i] = next
        _ = try realm.create("Person", primaryKey: .int(Int64(next)), person(n))
    }
    #expect(result.places <= 16, "\(result)")
    #expect(result.after <= result.before * 3 / 2, "\(result)")
    try checkFile(folder.file())
}

@Test func recentPlacesAreThoseOfTheLastTwoVersions() {
    func chunk(_ offset: Int) -> FileChunk { FileChunk(offset: offset, size: 8) }
    var recent = RecentPlaces()
    #expect(recent.places(before: 0).isEmpty)
    recent.add(5, [chunk(80), chunk(24)])
    recent.add(6, [chunk(48)])
    #expect(recent.places(before: 6) == [chunk(24), chunk(48), chunk(80)])
    #expect(recent.places(before: 5).isEmpty && recent.places(before: 7).isEmpty)
    let places = recent.places(before: 6)
    #expect([24, 31, 48, 87].allSatisfy { places.contains($0) })
    #expect(![0, 23, 32, 47, 56, 79, 88].contains { places.contains($0) })
    // A commit of another process lies between, or a commit that wrote too much.
    recent.add(8, [chunk(96)])
    #expect(recent.places(before: 8) == [chunk(96)])
    recent.add(9, nil)
    #expect(recent.places(before: 9) == [chunk(96)])
}

/// Each commit writes the list of all free chunks, so their number must not grow with the number of commits.
@Test func listsThatChangeOneByOneLeaveFewFreeChunks() throws {
    let folder = try TemporaryFolder()
    var configuration = RealmConfiguration(path: folder.file(), schema: schema, schemaVersion: 1)
    configuration.durability = .unsafe
    let realm = try Realm(configuration)
    defer { realm.close() }
    var random = Seeded(9)
    try realm.write {
        for i in 0..<10_000 {
            let list = try realm.create("Person", primaryKey: .int(Int64(i))).list("numbers")
            for _ in 0..<8 { try list.append(.int(Int64(random.below(100_000)))) }
        }
    }
    func freeChunks() throws -> Int {
        let transaction = try realm.reading(), file = transaction.database.file
        let lists = try file.topFields(transaction.store, transaction.topRef, physicalSize: transaction.logicalSize)
            .freeLists
        return try FreeSpace.chunks(
            transaction.store, (lists.positions, lists.lengths), logicalSize: transaction.logicalSize
        ).count
    }
    let persons = try realm.objects("Person")
    var halfWay = 0
    for n in 1...2_000 {
        try realm.write {
            for _ in 0..<5 {
                let list = try persons[random.below(10_000)].list("numbers")
                switch random.below(3) {
                case 0: try list.append(.int(Int64(random.below(100_000))))
                case 1 where list.count > 0: try list.remove(at: random.below(list.count))
                default: if list.count > 0 { try list.set(.int(Int64(random.below(100_000))), at: 0) }
                }
            }
        }
        if n == 1_000 { halfWay = try freeChunks() }
    }
    let end = try freeChunks()
    #expect(end < 4_000 && end < halfWay * 3 / 2, "\(halfWay) chunks after 1,000 commits, \(end) after 2,000")
    try checkFile(folder.file())
}
