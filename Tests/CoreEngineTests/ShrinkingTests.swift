// Files that become shorter while they are in use: which space is kept free, what moves in one commit, and when the end
// is cut off. Contents are compared with models, and both checkers see the files between the steps.
import Foundation
import Testing

@testable import CoreEngine

private let schema = Schema([
    ObjectSchema(
        "Item",
        properties: [
            Property("id", .int, primary: true), Property("text", .string, indexed: true),
            Property("numbers", .int, collection: .list), Property("next", .object, nullable: true, target: "Item"),
        ])
])

private let key = (0..<64).map { UInt8(truncatingIfNeeded: $0 * 37 + 5) }

/// The forms of a file: not encrypted, in CRealm's form, in Realm's form.
enum ShrinkingForm: CaseIterable {
    case plain, sealed, realms
}

private func configuration(
    _ path: String, _ form: ShrinkingForm = .plain, percent: Int = 50
) throws -> RealmConfiguration {
    var configuration = RealmConfiguration(path: path, schema: schema, schemaVersion: 1)
    if form != .plain { try key.withUnsafeBytes { try configuration.setEncryptionKey($0) } }
    if form == .realms { configuration.pageCipher = .realm }
    configuration.shrinkingLeastSize = 64 << 10
    configuration.shrinkingFreePercent = percent
    return configuration
}

private func size(_ path: String) throws -> Int { try FileDescriptor(path: path, access: .readOnly).size() }

private func text(_ i: Int) -> String { "the text of object number \(i), which is not short" }

private func fill(_ realm: Realm, _ range: Range<Int>) throws {
    try realm.write {
        for i in range {
            let item = try realm.create("Item", primaryKey: .int(Int64(i)), ["text": .string(text(i))])
            let list = try item.list("numbers")
            for n in 0..<(i % 7) { try list.append(.int(Int64(n * i))) }
            if i > 0 { try item.set("next", to: realm.object("Item", primaryKey: 0)) }
        }
    }
}

/// The objects with these numbers, and no others, have what `fill` gave them.
private func expect(_ realm: Realm, _ numbers: some Sequence<Int>, at place: SourceLocation = #_sourceLocation) throws {
    var seen: [Int] = []
    for item in try realm.objects("Item") {
        let i = Int(try #require(try item.get("id").int))
        seen.append(i)
        let list = try item.list("numbers")
        let values = try (0..<list.count).map { try list.get($0).int }
        let shouldBe = (0..<(i % 7)).map { Int64($0 * i) }
        let isRight = try item.get("text").string == text(i) && values == shouldBe
        #expect(isRight, "object \(i)", sourceLocation: place)
    }
    #expect(seen.sorted() == Array(numbers), sourceLocation: place)
}

private func delete(_ realm: Realm, from first: Int) throws {
    try realm.write {
        for item in try realm.objects("Item") where try item.get("id").int! >= first { try item.delete() }
    }
}

// MARK: Free space

@Test(arguments: 1...40) func theShortestEndHasRoomForWhatIsBehindIt(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    var space = FreeSpace(), end = Format.headerSize
    var isFree: [(FileChunk, usable: Bool)] = []
    for _ in 0..<random.below(80) {
        let chunk = FileChunk(offset: end + 8 * (1 + random.below(30)), size: 8 * (1 + random.below(400)))
        let usable = random.below(4) > 0
        if usable { space.appendAtEnd(chunk) } else { space.lockAtEnd(chunk, version: 3) }
        isFree.append((chunk, usable))
        end = chunk.end
    }
    let logicalSize = end + 8 * random.below(300), reserve = 8 * random.below(200)
    let found = space.shortestEnd(logicalSize: logicalSize, reserve: reserve)
    #expect(Format.headerSize...max(logicalSize, Format.headerSize) ~= found.end)
    let free = isFree.reduce(0) { $0 + max(0, $1.0.end - max($1.0.offset, found.end)) }
    let behind = logicalSize - found.end - free
    let room = isFree.reduce(0) { $0 + ($1.usable ? max(0, min($1.0.end, found.end) - $1.0.offset) : 0) }
    if found.end < logicalSize {
        #expect(found.behind == behind)
        #expect(room >= behind + reserve, "room \(room), behind \(behind)")
    }
    // Eight bytes less would not be enough, where the end lies in a free chunk.
    if let chunk = isFree.first(where: { $0.usable && $0.0.offset < found.end && found.end <= $0.0.end }),
        found.end - chunk.0.offset > 8
    {
        #expect(room - 8 < behind + behind / 8 + reserve + 8)
    }
}

@Test(arguments: 1...20) func withheldSpaceIsUsedLast(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    var space = FreeSpace(), end = Format.headerSize
    for _ in 0..<50 {
        let chunk = FileChunk(offset: end + 8 * (1 + random.below(30)), size: 8 * (1 + random.below(400)))
        if random.below(4) > 0 { space.appendAtEnd(chunk) } else { space.lockAtEnd(chunk, version: 3) }
        end = chunk.end
    }
    let total = space.totalSize, cutoff = Format.roundUp(end / 2, to: 8)
    space.withhold(from: cutoff)
    try space.checkInvariants()
    #expect(space.totalSize == total)
    #expect(space.usable.allSatisfy { $0.end <= cutoff } && space.withheld.allSatisfy { $0.offset >= cutoff })
    var taken = 0
    while let chunk = space.takeExtent(wanted: 8 * (1 + random.below(300)), least: 8, logicalSize: end) {
        #expect(chunk.end <= cutoff && chunk.size > 0)
        taken += chunk.size
    }
    #expect(space.usableSize == 0)
    let withheld = space.withheld.reduce(0) { $0 + $1.size }
    let isReleased = space.releaseWithheld()
    #expect(isReleased == (withheld > 0))
    try space.checkInvariants()
    #expect(space.usableSize == withheld && space.totalSize == total - taken)
    let isReleasedAgain = space.releaseWithheld()
    #expect(!isReleasedAgain)
}

// MARK: Commits

@Test(arguments: ShrinkingForm.allCases) func smallCommitsShrinkAFileThatIsMostlyFree(form: ShrinkingForm) throws {
    let folder = try TemporaryFolder(), path = folder.file()
    let realm = try Realm(configuration(path, form))
    for start in stride(from: 0, to: 6000, by: 1500) { try fill(realm, start..<start + 1500) }
    let reader = try Realm(configuration(path, form))
    try reader.beginRead()
    let grown = try size(path)
    try delete(realm, from: 200)
    var sizes: [Int] = []
    for round in 0..<40 {
        try realm.write { try realm.create("Item", primaryKey: .int(Int64(10_000 + round)), ["text": .string("x")]) }
        try realm.write { try realm.object("Item", primaryKey: .int(Int64(10_000 + round)))?.delete() }
        if round == 10 {
            // The reader's version needs the end of the file.
            #expect(try size(path) == grown)
            try expect(reader, 0..<6000)
            reader.close()
        }
        sizes.append(try size(path))
        if form == .plain, round % 8 == 3 { try checkFile(path) }
    }
    #expect(sizes.last! * 4 < grown, "\(grown) → \(sizes)")
    try expect(realm, 0..<200)
    let copy = folder.file("copy.realm")
    try realm.convert(to: configuration(copy, form))
    let compact = try size(copy)
    #expect(sizes.last! <= compact * 2 + (128 << 10), "compact: \(compact)")
    realm.close()
    if form == .plain { try checkFile(path) }
    let again = try Realm(configuration(path, form))
    try expect(again, 0..<200)
    again.close()
}

@Test func aCommitMovesAShareOfTheData() throws {
    let folder = try TemporaryFolder(), path = folder.file()
    let realm = try Realm(configuration(path))
    try fill(realm, 0..<8000)
    // What stays is spread over the whole file.
    try realm.write {
        for item in try realm.objects("Item") where try item.get("id").int! % 6 != 0 { try item.delete() }
    }
    var most = 0, moves = 0, total = 0
    let kept = try size(path) / 6
    for i in 0..<60 {
        let before = realm.transaction.movedBytes
        try realm.write { try realm.object("Item", primaryKey: 0)?.list("numbers").append(.int(Int64(i))) }
        let moved = realm.transaction.movedBytes - before
        (most, total) = (max(most, moved), total + moved)
        moves += moved > 0 ? 1 : 0
    }
    #expect(moves > 1 && total > 0)
    #expect(most <= max(kept / 4, 3 * (64 << 10)), "\(most) bytes in one commit")
    try realm.write { try realm.object("Item", primaryKey: 0)?.list("numbers").removeAll() }
    try expect(realm, stride(from: 0, to: 8000, by: 6))
    realm.close()
    try checkFile(path)
}

@Test func aFileShrinksByItselfOnlyWhereItIsWanted() throws {
    let folder = try TemporaryFolder(), path = folder.file()
    let realm = try Realm(configuration(path, percent: 100))
    try fill(realm, 0..<4000)
    try delete(realm, from: 50)
    let grown = try size(path)
    for i in 0..<20 {
        try realm.write { try realm.object("Item", primaryKey: 1)?.set("text", .string(text(i))) }
        #expect(try size(path) == grown)
    }
    try realm.write { try realm.object("Item", primaryKey: 1)?.set("text", .string(text(1))) }
    let sizes = try realm.compactOnline()
    let now = try size(path)
    #expect(sizes.before == grown && sizes.after == now && now * 4 < grown, "grown \(grown), \(sizes), now \(now)")
    try expect(realm, 0..<50)
    // A second call finds nothing more.
    let second = try realm.compactOnline()
    #expect(second.after == second.before)
    realm.close()
    try checkFile(path)
}

@Test(arguments: ShrinkingForm.allCases) func anOnlineCompactionBesideAReaderThatMoves(form: ShrinkingForm) throws {
    let folder = try TemporaryFolder(), path = folder.file()
    let realm = try Realm(configuration(path, form, percent: 100))
    try fill(realm, 0..<5000)
    try delete(realm, from: 300)
    let grown = try size(path)
    let isOver = Lock(initial: false)
    let rounds = Lock(initial: 0)
    let wait = start {
        do {
            let reader = try Realm(configuration(path, form, percent: 100))
            repeat {
                try reader.refresh()
                try expect(reader, 0..<300)
                rounds.with { $0 += 1 }
            } while !isOver.with { $0 }
            reader.close()
        } catch { Issue.record(error) }
    }
    while rounds.with({ $0 }) == 0 { usleep(1000) }
    for _ in 0..<3 {
        try realm.compactOnline()
        usleep(20_000)
    }
    isOver.with { $0 = true }
    wait()
    try realm.compactOnline()
    let shrunk = try size(path)
    #expect(shrunk * 3 < grown, "\(grown) → \(shrunk)")
    try expect(realm, 0..<300)
    realm.close()
    if form == .plain { try checkFile(path) }
}

@Test func aFrozenVersionStaysWholeWhileTheFileShrinks() throws {
    let folder = try TemporaryFolder(), path = folder.file()
    let realm = try Realm(configuration(path))
    try fill(realm, 0..<3000)
    let frozen = try realm.freeze()
    try delete(realm, from: 100)
    try realm.compactOnline()
    try expect(frozen, 0..<3000)
    try expect(realm, 0..<100)
    frozen.close()
    let sizes = try realm.compactOnline()
    #expect(sizes.after * 4 < sizes.before, "\(sizes)")
    try expect(realm, 0..<100)
    realm.close()
    try checkFile(path)
}

@Test func onlineCompactionIsRefusedWhereItCannotBe() throws {
    let folder = try TemporaryFolder(), path = folder.file()
    let realm = try Realm(configuration(path))
    try realm.beginWrite()
    #expect(throws: RealmError.self) { try realm.compactOnline() }
    try realm.cancelWrite()
    let frozen = try realm.freeze()
    #expect(throws: RealmError.self) { try frozen.compactOnline() }
    frozen.close()
    realm.close()
    var reading = try configuration(path)
    reading.schemaMode = .readOnly
    let reader = try Realm(reading)
    #expect(throws: RealmError.self) { try reader.compactOnline() }
    reader.close()
    var memory = try configuration(folder.file("memory.realm"))
    memory.isInMemory = true
    let inMemory = try Realm(memory)
    #expect(throws: RealmError.self) { try inMemory.compactOnline() }
    inMemory.close()
    // A small file stays as it is.
    let again = try Realm(configuration(path))
    let sizes = try again.compactOnline()
    #expect(sizes.after <= sizes.before)
    again.close()
    try checkFile(path)
}
