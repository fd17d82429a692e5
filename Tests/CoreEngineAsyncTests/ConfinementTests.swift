// A Realm belongs to a place, not to the number of a thread: queues, actors, run loops and threads, each with what is
// right on it and wrong elsewhere.
import CoreEngineAsync
import CoreEngineFoundation
import Dispatch
import Foundation
import Testing

private let schema = Schema([
    ObjectSchema("Thing", properties: [Property("id", .int, primary: true), Property("n", .int)])
])

private func configuration(_ place: Place) -> RealmConfiguration {
    RealmConfiguration(path: place.path, schema: schema, schemaVersion: 1)
}

/// The compiler would refuse what these tests try.
private struct Unchecked<Value>: @unchecked Sendable { var value: Value }

private func isRefused(_ realm: Realm) -> Bool {
    do { _ = try realm.objects("Thing") } catch { return error.code == .wrongThread }
    return false
}

/// Of what is told on another thread.
private final class Told: @unchecked Sendable {
    private let lock = NSLock()
    private var all: [String] = []

    func add(_ text: String) { lock.withLock { all.append(text) } }
    var texts: [String] { lock.withLock { all } }
    var count: Int { texts.count }

    func wait(for count: Int) async { while self.count < count { await Task.yield() } }
}

@Test func aQueueIsItselfOnAnyThread() async throws {
    let place = try Place(), queue = DispatchQueue(label: "own"), other = DispatchQueue(label: "other"),
        onTop = DispatchQueue(label: "top", target: queue)
    let realm = Unchecked(value: try Realm(configuration(place), queue: queue))
    #expect(isRefused(realm.value), "not on the queue")
    #expect(other.sync { isRefused(realm.value) })
    // `sync` runs on this thread, and is of the queue all the same.
    try queue.sync { _ = try realm.value.write { try realm.value.create("Thing", primaryKey: 1) } }
    #expect(try onTop.sync { try realm.value.objects("Thing").count } == 1, "a queue whose target it is")
    #expect(try queue.sync { try other.sync { () throws -> Bool in isRefused(realm.value) } })
    var threads: Set<UInt> = []
    for _ in 0..<50 {
        let thread = await withCheckedContinuation { done in
            queue.async {
                #expect((try? realm.value.objects("Thing").count) == 1)
                done.resume(returning: UInt(bitPattern: ObjectIdentifier(Thread.current).hashValue))
            }
        }
        threads.insert(thread)
    }
    #expect(!threads.isEmpty)
    queue.sync { realm.value.close() }
}

@Test func aQueueIsTold() async throws {
    let place = try Place(), queue = DispatchQueue(label: "own"), told = Told()
    let realm = Unchecked(value: try Realm(configuration(place), queue: queue))
    let observation = try queue.sync {
        try Unchecked(
            value: realm.value.objects("Thing").observe { change in
                told.add(isRefused(realm.value) ? "elsewhere" : "\(change.insertions)")
            })
    }
    await told.wait(for: 1)
    let writer = try Realm(configuration(place))
    try writer.write { try writer.create("Thing", primaryKey: 1) }
    writer.close()
    await told.wait(for: 2)
    #expect(told.texts == ["[]", "[0]"])
    // A write that is awaited, from a block of the queue.
    let done = Told()
    queue.async {
        _ = try? realm.value.beginWriteAsync { _ in
            _ = try? realm.value.create("Thing", primaryKey: 2)
            _ = try? realm.value.commitWriteAsync { error in done.add("\(String(describing: error))") }
        }
    }
    await done.wait(for: 1)
    #expect(done.texts == ["nil"])
    observation.value.invalidate()
    queue.sync { realm.value.close() }
}

@Test func globalQueuesAreRefusedAndCachesAreByQueue() throws {
    let place = try Place(), queue = DispatchQueue(label: "own"), other = DispatchQueue(label: "other")
    #expect { _ = try Realm(configuration(place), queue: .global()) } throws: {
        ($0 as? RealmError)?.code == .invalidArgument
    }
    var cached = configuration(place)
    cached.isCached = true
    let first = try Realm(cached, queue: queue), same = try Realm(cached, queue: queue),
        different = try Realm(cached, queue: other)
    #expect(first === same && first !== different)
    let here = try Realm(cached)
    #expect(try here !== first && here === Realm(cached) && here === Realm.open(cached), "opening finds what is cached")
    for realm in [first, different, here] { realm.close() }
    #expect(try Realm(cached) !== here)
}

/// An actor without an executor of its own.
private actor Keeper {
    private var realm: Realm?
    private var observation: Observation?
    private let told: Told

    init(_ told: Told) { self.told = told }

    func open(_ place: Place) throws { realm = try Realm(configuration(place), actor: self) }

    func add(_ id: Int) throws -> Int {
        guard let realm else { return -1 }
        return try realm.write {
            try realm.create("Thing", primaryKey: .int(Int64(id)))
            return try realm.objects("Thing").count
        }
    }

    func addAfterRests(_ id: Int) async throws -> Int {
        _ = try add(id)
        for _ in 0..<20 { await Task.yield() }
        return try realm?.objects("Thing").count ?? -1
    }

    func begin() throws { try realm?.beginWrite() }

    func cancel() throws { try realm?.cancelWrite() }

    /// The error of a write that waits a moment for others.
    func tryWriting(_ place: Place) throws -> RealmError.Code? {
        var own = configuration(place)
        own.lockTimeout = 0.002
        let second = try Realm(own, actor: self)
        defer { second.close() }
        do {
            try second.beginWrite()
            try second.cancelWrite()
        } catch { return error.code }
        return nil
    }

    func addLater(_ id: Int) async throws -> Int? {
        try await realm?.writeAsync {
            try self.realm?.create("Thing", primaryKey: .int(Int64(id)))
            return try self.realm?.objects("Thing").count
        }
    }

    func observe() throws {
        observation = try realm?.objects("Thing").observe { change in
            self.assumeIsolated { $0.told.add("\(change.insertions)") }
        }
    }

    func reference() throws -> ThreadSafeReference? {
        try realm.flatMap { try ThreadSafeReference(to: $0.objects("Thing")) }
    }

    func stolen() -> Unchecked<Realm?> { Unchecked(value: realm) }

    func close() { realm?.close() }
}

@Test func anActorIsItselfOnAnyThread() async throws {
    let place = try Place(), told = Told(), keeper = Keeper(told), other = Keeper(told)
    try await keeper.open(place)
    try await other.open(place)
    let stolen = try #require(await keeper.stolen().value)
    #expect(isRefused(stolen), "not on the actor")
    #expect(try await keeper.add(1) == 1)
    #expect(try await keeper.addAfterRests(2) == 2)
    try await keeper.observe()
    await told.wait(for: 1)
    #expect(try await other.add(3) == 3)
    await told.wait(for: 2)
    #expect(told.texts == ["[]", "[2]"])
    #expect(try await keeper.addLater(4) == 4)
    await keeper.close()
    await other.close()
}

@Test func fiftyWritersLoseNothing() async throws {
    let place = try Place(), told = Told(), keepers = (0..<4).map { _ in Keeper(told) }
    for keeper in keepers { try await keeper.open(place) }
    try await withThrowingTaskGroup(of: Void.self) { group in
        for id in 0..<50 {
            group.addTask {
                _ = id % 2 == 0 ? try await keepers[id % 4].add(id) : try await keepers[id % 4].addLater(id) ?? 0
            }
        }
        try await group.waitForAll()
    }
    let realm = try Realm(configuration(place))
    #expect(try realm.objects("Thing").count == 50)
    realm.close()
    for keeper in keepers { await keeper.close() }
}

/// Whoever has the write lock is an actor, not the thread on which it began.
@Test func theWriteLockIsTheActors() async throws {
    let place = try Place(), told = Told(), keeper = Keeper(told), others = (0..<4).map { _ in Keeper(told) }
    try await keeper.open(place)
    try await keeper.begin()
    #expect(try await keeper.tryWriting(place) == .wrongTransactionState, "it would wait for itself")
    for round in 0..<40 { #expect(try await others[round % 4].tryWriting(place) == .timedOut) }
    #expect(try await keeper.tryWriting(place) == .wrongTransactionState, "on whichever thread")
    try await keeper.cancel()
    #expect(try await others[0].tryWriting(place) == nil)
    await keeper.close()
}

@Test func aRealmOutlivesItsActor() async throws {
    let place = try Place(), told = Told()
    var keeper: Keeper? = Keeper(told)
    weak let scheduler = keeper
    try await keeper?.open(place)
    let stolen = try #require(await keeper?.stolen().value)
    keeper = nil
    #expect(scheduler == nil, "a Realm keeps no actor alive")
    #expect(isRefused(stolen) && !stolen.scheduler.canDeliver)
    stolen.close()
    #expect(stolen.isClosed)
}

@MainActor @Test func theMainActorKeepsItsRealm() async throws {
    let place = try Place(), realm = try Realm(configuration(place), actor: MainActor.shared),
        queued = try Realm(configuration(place), queue: .main)
    for id in 0..<20 {
        try realm.write { try realm.create("Thing", primaryKey: .int(Int64(id))) }
        await Task.yield()
        try await Task.sleep(for: .milliseconds(1))
        #expect(try realm.objects("Thing").count == id + 1)
        try queued.refresh()
        #expect(try queued.objects("Thing").count == id + 1)
    }
    let box = Unchecked(value: (realm, queued))
    #expect(await Task.detached { isRefused(box.value.0) && isRefused(box.value.1) }.value)
    realm.close()
    queued.close()
}

/// A queue that is always on one thread, as the main queue usually is, and cannot say so of others.
private final class OneThreadQueue: EngineScheduler {
    private let owner = pthread_self()
    var isOnThread: Bool { pthread_equal(pthread_self(), owner) != 0 }
    var surelyThreadId: UInt { UInt(owner) }
    var canDeliver: Bool { true }

    func isSame(as other: any Scheduler) -> Bool { other === self }

    func post(_ work: @escaping @Sendable () -> Void) {}
}

/// Who comes in without being asked stops doing so when another thread takes the Realm over.
@Test func aThreadThatNeedsNoCheckLosesItsRealm() throws {
    let place = try Place()
    try onNewThread { () throws -> Void in
        var c = configuration(place)
        c.scheduler = OneThreadQueue()
        let realm = try Realm(c)
        try realm.write { try realm.create("Thing", primaryKey: 1) }
        let things = try #require(realm.schema["Thing"]), column = try #require(things.properties.first?.key)
        let key = try realm.inside { () throws(RealmError) in try realm.objectKey(things.key, at: 0) }
        // The accessors of properties, which ask least.
        for _ in 0..<3 { #expect(try realm.readInteger(things.key, key, column) == 1) }
        let box = Unchecked(value: (realm, try ThreadSafeReference(realm)))
        let taken = DispatchSemaphore(value: 0), looked = DispatchSemaphore(value: 0),
            ended = DispatchSemaphore(value: 0)
        let thread = Thread {
            do { #expect(try box.value.1.takeRealm(to: ThreadScheduler.current).objects("Thing").count == 1) } catch {
                Issue.record("\(error)")
            }
            taken.signal()
            looked.wait()
            box.value.0.close()
            ended.signal()
        }
        thread.start()
        taken.wait()
        #expect(throws: RealmError.self) { try realm.readInteger(things.key, key, column) }
        #expect(isRefused(realm))
        looked.signal()
        ended.wait()
    }
}

/// Runs `body` on a thread of its own, to its end.
private func onNewThread(_ body: @escaping @Sendable () throws -> Void) throws {
    let done = DispatchSemaphore(value: 0), told = Told()
    let thread = Thread {
        do { try body() } catch { told.add("\(error)") }
        done.signal()
    }
    thread.start()
    done.wait()
    #expect(told.texts == [])
}

@Test func aThreadThatGetsTheNumberOfAnother() async throws {
    let place = try Place()
    let box = Unchecked(value: Holder())
    func onThread(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { done in
            let thread = Thread {
                body()
                done.resume()
            }
            thread.start()
        }
    }
    await onThread { box.value.realm = try? Realm(configuration(place)) }
    // The system gives the same number (and the same memory) again soon.
    for _ in 0..<200 {
        await onThread {
            guard let realm = box.value.realm else { return }
            if !isRefused(realm) { box.value.passed += 1 }
        }
    }
    #expect(box.value.realm != nil && box.value.passed == 0)
    box.value.realm?.close()
}

private final class Holder {
    var realm: Realm?
    var passed = 0
}

@Test func aRunLoopIsTold() async throws {
    let place = try Place(), told = Told(), ready = Told()
    let thread = Thread {
        do {
            var own = configuration(place)
            own.scheduler = RunLoopScheduler()
            let realm = try Realm(own),
                observation = try realm.objects("Thing").observe { told.add("\($0.insertions)") }
            ready.add("open")
            while told.count < 2 { _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01)) }
            observation.invalidate()
            realm.close()
        } catch { told.add("\(error)") }
        ready.add("done")
    }
    thread.start()
    await ready.wait(for: 1)
    await told.wait(for: 1)
    let writer = try Realm(configuration(place))
    try writer.write { try writer.create("Thing", primaryKey: 1) }
    writer.close()
    await ready.wait(for: 2)
    #expect(told.texts == ["[]", "[0]"])
}

/// One that a program makes.
private final class Own: Scheduler, @unchecked Sendable {
    private let thread = pthread_self()
    var isOnThread: Bool { pthread_equal(thread, pthread_self()) != 0 }

    func isSame(as other: any Scheduler) -> Bool { other === self }
    var canDeliver: Bool { false }

    func post(_ work: @escaping @Sendable () -> Void) {}
}

@Test func aSchedulerOfTheProgram() throws {
    let place = try Place(), own = Own()
    var own1 = configuration(place)
    own1.scheduler = own
    own1.isCached = true
    let realm = try Realm(own1)
    try realm.write { try realm.create("Thing", primaryKey: 1) }
    #expect(try realm.objects("Thing").count == 1 && realm.scheduler === own && Realm(own1) === realm)
    let box = Unchecked(value: realm), elsewhere = Told()
    let thread = Thread { elsewhere.add("\(isRefused(box.value))") }
    thread.start()
    while elsewhere.count == 0 { usleep(100) }
    #expect(elsewhere.texts == ["true"])
    realm.close()
}
