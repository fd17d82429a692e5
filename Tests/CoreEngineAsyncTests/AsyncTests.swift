import CoreEngineAsync
// Tasks and actors: an actor owns a Realm and its thread; changes come as sequences, writes are awaited, frozen objects
// go anywhere. The target is built with warnings as errors: this is also what programs may write in Swift 6.
import Foundation
import Testing

private let schema = Schema([
    ObjectSchema(
        "Thing",
        properties: [
            Property("id", .int, primary: true), Property("n", .int), Property("list", .int, collection: .list),
            Property("set", .int, collection: .set), Property("map", .int, collection: .dictionary),
        ])
])

/// A file that goes with the test.
final class Place: Sendable {
    let folder: URL
    var path: String { folder.appendingPathComponent("test.realm").path }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("crealm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}

private struct Refusal: Error {}

/// What goes from task to task.
private struct Parts: Sendable {
    let object: Frozen<RealmObject>, list: Frozen<RealmList>, set: Frozen<RealmSet>, map: Frozen<RealmDictionary>,
        results: Frozen<Results>
}

/// What does not, unless somebody says that they know better.
private struct Stolen: @unchecked Sendable {
    let realm: Realm, object: RealmObject
}

/// An actor that owns a Realm: its executor is the Realm's scheduler.
private actor Store {
    private let executor: RealmExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private let realm: Realm
    private(set) var log: [String] = []
    private var observations: [Observation] = []

    init(_ place: Place) async throws {
        executor = try RealmExecutor()
        realm = try await Self.open(place.path, executor.scheduler)
    }

    /// On any thread: the Realm lives where its scheduler is.
    private static func open(_ path: String, _ scheduler: ThreadScheduler) async throws -> Realm {
        var configuration = RealmConfiguration(path: path, schema: schema, schemaVersion: 1)
        configuration.scheduler = scheduler
        return try Realm(configuration)
    }

    func add(_ ids: [Int]) throws {
        try realm.write { for id in ids { try realm.create("Thing", primaryKey: .int(Int64(id))) } }
    }

    /// A function that awaits its write; the closure belongs to the actor and uses what it has.
    func addLater(_ id: Int) async throws -> Int {
        log.append("ask \(id)")
        let count = try await realm.writeAsync {
            self.log.append("write \(id)")
            try self.realm.create("Thing", primaryKey: .int(Int64(id)))
            return try self.realm.objects("Thing").count
        }
        log.append("done \(id)")
        return count
    }

    func refuse(_ id: Int) async throws {
        try await realm.writeAsync {
            try self.realm.create("Thing", primaryKey: .int(Int64(id)))
            throw Refusal()
        }
    }

    func set(_ id: Int, _ name: Name, _ value: RealmValue) throws {
        try realm.write { try thing(id).set(name, value) }
    }

    func delete(_ id: Int) throws { try realm.write { try thing(id).delete() } }

    func close() { realm.close() }

    /// While it has the write lock.
    func holding<R: Sendable>(_ body: @Sendable () async throws -> R) async throws -> R {
        try realm.beginWrite()
        let result = try await body()
        try realm.cancelWrite()
        return result
    }

    func hasAsked(_ count: Int) -> Bool { log.count { $0.hasPrefix("ask") } == count }

    private func thing(_ id: Int) throws -> RealmObject {
        guard let found = try realm.object("Thing", primaryKey: .int(Int64(id))) else { throw Refusal() }
        return found
    }

    func ids() throws -> [Int] {
        try realm.refresh()
        return Self.ids(try realm.objects("Thing"))
    }

    static func ids(_ things: Results) -> [Int] {
        things.map { if case .int(let id) = $0["id"] { Int(id) } else { -1 } }
    }

    func versions() throws -> AsyncStream<UInt64> { try realm.changes() }

    func objectChanges(_ id: Int) throws -> AsyncStream<ObjectChangeSet> { try thing(id).changes(keyPaths: ["n"]) }

    func resultChanges() throws -> AsyncStream<CollectionChangeSet> {
        try realm.objects("Thing").where("n >= 0").changes()
    }

    func listChanges(_ id: Int) throws -> AsyncStream<CollectionChangeSet> { try thing(id).list("list").changes() }

    func setChanges(_ id: Int) throws -> AsyncStream<CollectionChangeSet> { try thing(id).set("set").changes() }

    func mapChanges(_ id: Int) throws -> AsyncStream<DictionaryChangeSet> { try thing(id).dictionary("map").changes() }

    /// What is told is told on the actor.
    func observe() throws {
        observations.append(
            try realm.objects("Thing").observe { change in
                self.assumeIsolated { $0.log.append("insertions \(change.insertions)") }
            })
    }

    func frozen() throws -> Frozen<Realm> { try Frozen(realm) }

    func frozenParts(_ id: Int) throws -> Parts {
        let t = try thing(id)
        return try Parts(
            object: Frozen(t), list: Frozen(t.list("list")), set: Frozen(t.set("set")),
            map: Frozen(t.dictionary("map")),
            results: Frozen(realm.objects("Thing").where("n > 0")))
    }

    func live(_ object: Frozen<RealmObject>) throws -> RealmValue? { try object.value.resolved(in: realm)?["n"] }

    func references(_ id: Int) throws -> [ThreadSafeReference] {
        let t = try thing(id)
        return try [
            ThreadSafeReference(to: t), ThreadSafeReference(to: t.list("list")), ThreadSafeReference(to: t.set("set")),
            ThreadSafeReference(to: t.dictionary("map")), ThreadSafeReference(to: realm.objects("Thing")),
        ]
    }

    func read(_ references: [ThreadSafeReference]) throws -> [Int] {
        func count(_ collection: some LiveCollection) -> Int { collection.isValid ? collection.count : 0 }
        return try [
            references[0].object(in: realm).isValid ? 1 : 0, count(references[1].list(in: realm)),
            count(references[2].set(in: realm)),
            count(references[3].dictionary(in: realm)), count(references[4].results(in: realm)),
        ]
    }

    /// For those who may not use it.
    func stolen() throws -> Stolen { Stolen(realm: realm, object: try thing(1)) }
}

@Test func actorsOwnTheirRealms() async throws {
    let place = try Place(), store = try await Store(place), other = try await Store(place)
    try await store.add([1, 2])
    try await other.add([3])
    #expect(try await store.ids() == [1, 2, 3])
    // Elsewhere it is refused.
    let stolen = try await store.stolen()
    #expect(throws: RealmError.self) { try stolen.realm.beginWrite() }
    #expect(throws: RealmError.self) { try stolen.object.get("id") }
}

@Test func whatIsObservedIsToldOnTheActor() async throws {
    let place = try Place(), store = try await Store(place), other = try await Store(place)
    try await store.observe()
    var versions = try await store.versions().makeAsyncIterator()
    try await other.add([1, 2])
    _ = await versions.next()
    while await store.log.last != "insertions [0, 1]" { await Task.yield() }
    #expect(await store.log.allSatisfy { $0.hasPrefix("insertions") })
}

@Test func changesComeAsSequences() async throws {
    let place = try Place(), store = try await Store(place), other = try await Store(place)
    try await store.add([1])
    var results = try await store.resultChanges().makeAsyncIterator(),
        object = try await store.objectChanges(1).makeAsyncIterator()
    var list = try await store.listChanges(1).makeAsyncIterator(),
        set = try await store.setChanges(1).makeAsyncIterator()
    var map = try await store.mapChanges(1).makeAsyncIterator()
    // The first one is empty.
    #expect(await results.next()?.insertions == [])
    #expect(await object.next()?.properties == [])
    #expect(await list.next()?.insertions == [])
    #expect(await set.next()?.insertions == [])
    #expect(await map.next()?.insertions == [])
    try await other.set(1, "list", [5, 6])
    #expect(await list.next()?.insertions == [0, 1])
    #expect(await results.next()?.modificationsAfter == [0])
    try await other.set(1, "set", [5])
    #expect(await set.next()?.insertions == [0])
    try await store.set(1, "map", .dictionary([RealmValue.Entry(key: "k", value: 1)]))
    #expect(await map.next()?.insertions == ["k"])
    try await other.set(1, "n", 7)
    #expect(await object.next()?.properties == ["n"])
    try await other.delete(1)
    // Those of what is deleted end; results go on.
    #expect(await object.next()?.isDeleted == true)
    #expect(await object.next() == nil)
    #expect(await list.next()?.isDeleted == true)
    #expect(await list.next() == nil)
    #expect(await map.next()?.isDeleted == true)
    #expect(await map.next() == nil)
    try await other.add([9])
    var inserted: [Int] = []
    while inserted.isEmpty { inserted = await results.next()?.insertions ?? [-1] }
    #expect(inserted == [0])
}

@Test func everyVersionIsIteratedWhileAnotherWrites() async throws {
    let place = try Place(), store = try await Store(place), other = try await Store(place)
    let changes = try await store.resultChanges()
    async let writing: Void = { for id in 0..<40 { try await other.add([id]) } }()
    var copy = 0
    for await change in changes {
        #expect(change.deletions.isEmpty && change.insertions == Array(copy..<copy + change.insertions.count))
        copy += change.insertions.count
        if copy == 40 { break }
    }
    try await writing
    #expect(copy == 40)
}

@Test func sequencesEndWithTheRealmAndWithTheirTask() async throws {
    let place = try Place(), store = try await Store(place)
    try await store.add([1])
    let changes = try await store.listChanges(1), versions = try await store.versions()
    let cancelled = Task { [versions] in
        var count = 0
        for await _ in versions { count += 1 }
        return count
    }
    cancelled.cancel()
    _ = await cancelled.value
    let ended = Task {
        var count = 0
        for await _ in changes { count += 1 }
        return count
    }
    await store.close()
    #expect(await ended.value <= 1)
    await #expect(throws: RealmError.self) { try await store.versions() }
}

@Test func writesAreAwaitedTogether() async throws {
    let place = try Place(), store = try await Store(place), other = try await Store(place)
    // All of them wait for the lock.
    let writes = try await other.holding {
        let writes = (0..<5).map { id in Task { try await store.addLater(id) } }
        while await !store.hasAsked(5) { await Task.yield() }
        return writes
    }
    var counts: [Int] = []
    for write in writes { counts.append(try await write.value) }
    #expect(counts.sorted() == [1, 2, 3, 4, 5])
    // One after the other, each its own; to the disk together.
    let kinds = await store.log.map { $0.prefix { $0 != " " } }
    #expect(kinds == ["ask", "write", "done"].flatMap { Array(repeating: $0, count: 5) })
    #expect(try await store.addLater(7) == 6)
    #expect(try await other.ids() == [0, 1, 2, 3, 4, 7])
}

@Test func writesThatThrowChangeNothing() async throws {
    let place = try Place(), store = try await Store(place)
    await #expect(throws: Refusal.self) { try await store.refuse(1) }
    #expect(try await store.ids() == [])
    #expect(try await store.addLater(1) == 1)
    await #expect(throws: RealmError.self) { try await store.addLater(1) }
    await store.close()
    await #expect(throws: RealmError.self) { try await store.addLater(2) }
}

@Test func writesThatAreCancelledOrClosed() async throws {
    let place = try Place(), store = try await Store(place), other = try await Store(place),
        closed = try await Store(place)
    let (waiting, dropped) = try await other.holding {
        let waiting = Task { try await store.addLater(1) }, dropped = Task { try await closed.addLater(2) }
        while await !store.hasAsked(1) { await Task.yield() }
        while await !closed.hasAsked(1) { await Task.yield() }
        waiting.cancel()
        await closed.close()
        return (waiting, dropped)
    }
    await #expect(throws: CancellationError.self) { try await waiting.value }
    await #expect(throws: RealmError.self) { try await dropped.value }
    #expect(try await other.ids() == [])
}

@Test func theThreadEndsWithItsExecutor() async throws {
    var executor: RealmExecutor? = try RealmExecutor()
    weak let scheduler = executor?.scheduler
    #expect(scheduler != nil && executor?.isIsolatingCurrentContext() == false)
    executor = nil
    // The thread has it, as long as it runs.
    while scheduler != nil { await Task.yield() }
}

@Test func frozenValuesGoAnywhere() async throws {
    let place = try Place(), store = try await Store(place)
    try await store.add([1, 2])
    try await store.set(1, "n", 5)
    try await store.set(1, "list", [1, 2, 3])
    try await store.set(1, "set", [4])
    try await store.set(1, "map", .dictionary([RealmValue.Entry(key: "k", value: 1)]))
    let realm = try await store.frozen(), parts = try await store.frozenParts(1)
    try await store.set(1, "n", 6)
    try await store.set(1, "list", [])
    try await store.delete(2)
    let right = await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<8 {
            group.addTask {
                (0..<50).allSatisfy { _ in
                    let object = parts.object.value, list = parts.list.value
                    return object["n"] == 5 && list.count == 3 && list[2] == 3 && parts.set.value[0] == 4
                        && parts.map.count == 1
                        && Store.ids(parts.results.value) == [1] && (try? realm.value.objects("Thing").count) == 2
                }
            }
        }
        return await group.reduce(true) { $0 && $1 }
    }
    #expect(right)
    #expect(
        realm.isFrozen && parts.object.isFrozen && parts.list.isFrozen && parts.set.isFrozen && parts.map.isFrozen
            && parts.results.isFrozen)
    #expect(try Frozen(parts.object.value) == parts.object)
    #expect(try await store.live(parts.object) == 6)
    // On this thread, in a Realm of its own.
    try await Task {
        let live = try realm.value.thaw()
        defer { live.close() }
        let things = try live.objects("Thing")
        #expect(!live.isFrozen && Store.ids(things) == [1])
        #expect(try parts.list.value.resolved(in: live)?.isEmpty == true)
        #expect(try parts.set.value.resolved(in: live)?.count == 1)
        #expect(try parts.map.value.resolved(in: live)?.count == 1)
        #expect(try parts.results.value.resolved(in: live).count == 1)
        #expect(try realm.value.objects("Thing")[1].resolved(in: live) == nil)
    }.value
    realm.value.close()
    #expect(throws: RealmError.self) { try realm.value.objects("Thing") }
}

@Test func referencesCarryOver() async throws {
    let place = try Place(), store = try await Store(place), other = try await Store(place)
    try await store.add([1, 2])
    try await store.set(1, "list", [1, 2, 3])
    let references = try await store.references(1)
    #expect(try await other.read(references) == [1, 3, 0, 0, 2])
    await #expect(throws: RealmError.self) { try await other.read(Array(references.reversed())) }
    try await store.delete(1)
    #expect(try await other.ids() == [2])
    #expect(try await other.read(references) == [0, 0, 0, 0, 1])
}
