import Foundation
import RealmSwift
import Testing

private actor Store {
    private var realm: Realm?
    private var tokens: [NotificationToken] = []
    private(set) var told: [String] = []

    func open(_ configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }

    func add(_ key: String) async throws {
        try await realm?.asyncWrite { _ = realm?.create(Base.self, value: [key, 1] as [Any]) }
    }

    /// Reads, waits for its turn, and adds one to what is there then.
    func increment(_ key: String) async throws {
        try await realm?.asyncWrite { realm?.object(ofType: Base.self, forPrimaryKey: key)?.first += 1 }
    }

    func refuse() async throws {
        struct Refused: Error {}
        try await realm?.asyncWrite {
            _ = realm?.create(Base.self, value: ["no", 1] as [Any])
            throw Refused()
        }
    }

    func count() async -> Int {
        await realm?.asyncRefresh()
        return realm?.objects(Base.self).count ?? -1
    }

    func first(_ key: String) -> Int { realm?.object(ofType: Base.self, forPrimaryKey: key)?.first ?? -1 }

    func hear(_ text: String) { told.append(text) }

    /// Answers each change that it is told of, until there are `most` objects.
    func answer(_ found: Results<Base>, most: Int) throws {
        told.append("\(found.count)")
        let next = found.count
        if next < most { try realm?.write { _ = realm?.create(Base.self, value: ["answer\(next)", 1] as [Any]) } }
    }

    func answerAll(_ configuration: Realm.Configuration, most: Int) async throws {
        guard let all = realm?.objects(Base.self) else { return }
        tokens.append(
            await all.observe(on: self) { store, change in
                guard case .update(let found, _, _, _) = change else { return }
                #expect(throws: Never.self) { try store.answer(found, most: most) }
            })
    }

    func keep(_ token: NotificationToken) { tokens.append(token) }
}

struct ActorTests {
    @Test func writesOfManyTasks() async throws {
        let folder = try Folder(), configuration = folder.configuration([Base.self]),
            stores = [Store(), Store(), Store()]
        for store in stores { try await store.open(configuration) }
        try await stores[0].add("k")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for i in 0..<50 { group.addTask { try await stores[i % 3].increment("k") } }
            try await group.waitForAll()
        }
        for store in stores { #expect(await store.count() == 1) }
        #expect(await stores[1].first("k") == 51)
        do {
            try await stores[0].refuse()
            Issue.record("the error of the block is lost")
        } catch {}
        #expect(await stores[0].count() == 1)
    }

    @Test func anObserverThatWrites() async throws {
        let folder = try Folder(), configuration = folder.configuration([Base.self]), store = Store(), other = Store()
        try await store.open(configuration)
        try await other.open(configuration)
        try await store.answerAll(configuration, most: 11)
        try await store.add("k")
        for _ in 0..<1000 where await store.told.count < 11 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(await store.told == (1...11).map { "\($0)" })
        #expect(await other.count() == 11)
    }

    @Test func observing() async throws {
        let folder = try Folder(), configuration = folder.configuration([Base.self]), store = Store(), other = Store()
        try await store.open(configuration)
        try await other.open(configuration)
        let (stream, line) = AsyncStream<String>.makeStream()
        let token = try await watch(configuration, store) { line.yield($0) }
        var seen: [String] = []
        for await text in stream {
            seen.append(text)
            if seen.count == 3 { break }
            try await other.add("\(seen.count)")
        }
        #expect(seen == ["initial 0", "+[0] of 1", "+[1] of 2"])
        #expect(await store.told == seen)
        token.invalidate()
    }

    /// From the main actor, on another one.
    @MainActor private func watch(
        _ configuration: Realm.Configuration, _ store: Store, _ tell: @escaping @Sendable (String) -> Void
    ) async throws -> NotificationToken {
        let realm = try await Realm.open(configuration: configuration)
        return await realm.objects(Base.self).observe(on: store) { store, change in
            let text =
                switch change {
                case .initial(let c): "initial \(c.count)"
                case .update(let c, _, let i, _): "+\(i) of \(c.count)"
                case .error(let e): "\(e)"
                }
            store.hear(text)
            tell(text)
        }
    }
}
