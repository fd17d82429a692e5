import Foundation
import RealmSwift
import Synchronization
import Testing

struct NotificationTests {
    private static let types: [ObjectBase.Type] = [Person.self, Dog.self, Address.self, Country.self]

    private func open() throws -> (Realm, Folder) {
        let folder = try Folder()
        let realm = try Realm(configuration: folder.configuration(Self.types))
        try realm.write {
            for i in 0..<3 {
                realm.create(Person.self, value: ["id": i, "name": "p\(i)", "dogs": [["name": "d\(i)"]]])
            }
        }
        return (realm, folder)
    }

    @Test func collections() throws {
        let (realm, folder) = try open()
        let all = realm.objects(Person.self).filter("age < 10")
        var told: [String] = []
        func text<C: RealmCollection>(_ change: RealmCollectionChange<C>) -> String {
            switch change {
            case .initial(let c): "initial \(c.count)"
            case .update(let c, let d, let i, let m): "\(c.count) -\(d) +\(i) *\(m)"
            case .error(let e): "\(e)"
            }
        }
        let token = all.observe { told.append(text($0)) }
        let names = all.observe(keyPaths: [\Person.name]) { told.append("names " + text($0)) }
        let list = try #require(all.first).dogs.observe { told.append("list " + text($0)) }
        realm.refresh()
        #expect(told == ["initial 3", "names initial 3", "list initial 1"])
        told = []
        try realm.write {
            all[1].age = 1
            realm.create(Person.self, value: ["id": 9])
            all[0].dogs.append(Dog("Bo"))
        }
        realm.refresh()
        #expect(told == ["4 -[] +[3] *[0, 1]", "names 4 -[] +[3] *[]", "list 2 -[] +[1] *[]"])
        told = []
        try realm.write(withoutNotifying: [token, list]) { realm.delete(all[2]) }
        realm.refresh()
        #expect(told == ["names 3 -[2] +[] *[]"])
        told = []
        names.invalidate()
        try realm.write { all[0].age = 50 }
        realm.refresh()
        #expect(told == ["2 -[0] +[] *[]"])
        withExtendedLifetime(token) {}
        _ = folder
    }

    /// The first transaction of a Realm that was only opened is no news; the version that another thread wrote is.
    @Test func silentCommitsOfARealm() throws {
        let (realm, folder) = try makeRealm(Crowd.self)
        var told = 0
        let token = realm.observe { _, _ in told += 1 }
        try realm.write(withoutNotifying: [token]) { realm.deleteAll() }
        realm.refresh()
        #expect(told == 0)
        let configuration = realm.configuration
        #expect(misuse { try Realm(configuration: configuration).write {} } == nil)
        try realm.write(withoutNotifying: [token]) { realm.add(Crowd()) }
        realm.refresh()
        #expect(told == 1)
        _ = folder
    }

    @Test func objects() throws {
        let (realm, folder) = try open()
        let p = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
        var told: [String] = []
        func text(_ change: ObjectChange<Person>) -> String {
            switch change {
            case .change(let o, let properties):
                "\(o.id): "
                    + properties.map { "\($0.name) \($0.oldValue ?? "nil")→\($0.newValue ?? "nil")" }.joined(
                        separator: ", ")
            case .deleted: "deleted"
            case .error(let e): "\(e)"
            }
        }
        let token = p.observe { told.append(text($0)) }
        let best = p.observe(keyPaths: [\.best?.name]) { told.append("best " + text($0)) }
        realm.refresh()
        #expect(told.isEmpty)
        try realm.write {
            p.age = 4
            p.name = "new"
            p.dogs.removeAll()
        }
        realm.refresh()
        #expect(told == ["1: age nil→4, name nil→new, dogs nil→nil"])
        told = []
        try realm.write { p.best = realm.object(ofType: Person.self, forPrimaryKey: 2) }
        realm.refresh()
        try realm.write { p.best?.name = "other" }
        realm.refresh()
        #expect(told.filter { $0.hasPrefix("best") }.count == 2 && told.count == 3)
        told = []
        try realm.write { realm.delete(p) }
        realm.refresh()
        #expect(told == ["deleted", "best deleted"])
        withExtendedLifetime((token, best)) {}
        _ = folder
    }

    @Test func maps() throws {
        let (realm, folder) = try open()
        let p = try #require(realm.objects(Person.self).first)
        var told: [String] = []
        let token = p.scores.observe { change in
            switch change {
            case .initial(let m): told.append("initial \(m.count)")
            case .update(_, let d, let i, let m): told.append("-\(d) +\(i) *\(m)")
            case .error(let e): told.append("\(e)")
            }
        }
        realm.refresh()
        try realm.write { (p.scores["a"], p.scores["b"]) = (1, 2) }
        realm.refresh()
        try realm.write { (p.scores["a"], p.scores["b"], p.scores["c"]) = (nil, 3, 4) }
        realm.refresh()
        #expect(told == ["initial 0", "-[] +[\"a\", \"b\"] *[]", "-[\"a\"] +[\"c\"] *[\"b\"]"])
        withExtendedLifetime(token) {}
        _ = folder
    }

    /// What a list was told: how many insertions, in how many calls.
    private struct Heard: Sendable, Equatable {
        var calls = 0, insertions = 0

        mutating func hear<C: RealmCollection>(_ change: RealmCollectionChange<C>) -> Bool {
            guard case .update(_, let deletions, let insertions, let modifications) = change else { return false }
            #expect(deletions.isEmpty && modifications.isEmpty)
            calls += 1
            self.insertions += insertions.count
            return true
        }
    }

    /// Two observers of a list: the first one answers each change with an insertion of its own, until there are `most`
    /// elements. The second one may be told of two at once, as it is not called while the first one writes.
    private static func observe(_ list: List<Int>, most: Int, _ heard: @escaping (Heard, Heard) -> Void)
        -> [NotificationToken]
    {
        nonisolated(unsafe) var first = Heard()
        nonisolated(unsafe) var second = Heard()
        let writer = list.observe { change in
            if first.hear(change), list.count < most, let realm = list.realm {
                #expect(throws: Never.self) { try realm.write { list.append(0) } }
            }
            heard(first, second)
        }
        let reader = list.observe { change in
            _ = second.hear(change)
            heard(first, second)
        }
        return [writer, reader]
    }

    @Test func anObserverThatWritesOnAQueue() throws {
        let folder = try Folder(), configuration = folder.configuration([Crowd.self])
        let queue = DispatchQueue(label: "writers"), done = DispatchSemaphore(value: 0), last = Mutex<[Heard]>([])
        nonisolated(unsafe) var kept: [Any] = []
        try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue), crowd = Crowd()
            try realm.write { realm.add(crowd) }
            let tokens = Self.observe(crowd.numbers, most: 11) { a, b in
                last.withLock { $0 = [a, b] }
                if a.insertions == 11, b.insertions == 11 { done.signal() }
            }
            kept = [realm, crowd, tokens]
        }
        queue.sync {}
        try queue.sync {
            let crowd = try #require(kept[1] as? Crowd)
            try crowd.realm?.write { crowd.numbers.append(0) }
        }
        #expect(done.wait(timeout: .now() + 20) == .success)
        let all = last.withLock { $0 }
        #expect(all.first == Heard(calls: 11, insertions: 11) && all.last?.insertions == 11)
        queue.sync { kept = [] }
        _ = folder
    }

    @MainActor @Test func anObserverThatWritesOnTheMainQueue() async throws {
        let folder = try Folder(), realm = try Realm(configuration: folder.configuration([Crowd.self]), queue: .main),
            crowd = Crowd()
        try realm.write { realm.add(crowd) }
        var last: [Heard] = []
        let tokens = Self.observe(crowd.numbers, most: 11) { last = [$0, $1] }
        for _ in 0..<200 where last.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
        try realm.write { crowd.numbers.append(0) }
        for _ in 0..<1000 where last.map(\.insertions) != [11, 11] { try await Task.sleep(for: .milliseconds(20)) }
        #expect(last.first == Heard(calls: 11, insertions: 11) && last.last?.insertions == 11)
        withExtendedLifetime(tokens) {}
        _ = folder
    }

    /// A transaction that begins tells what happened before, and those who are told write: each in a transaction of its
    /// own.
    @Test func observersThatWriteWhenATransactionBegins() throws {
        let (realm, folder) = try makeRealm(Crowd.self)
        let crowd = Crowd()
        try realm.write { realm.add(crowd) }
        var last: [Heard] = [], tokens: [NotificationToken] = []
        for _ in 0..<3 { tokens += Self.observe(crowd.numbers, most: 20) { last = [$0, $1] } }
        var moves = 0
        tokens.append(
            realm.observe { _, realm in
                moves += 1
                if moves % 5 == 0, moves < 40 {
                    #expect(throws: Never.self) { try realm.write { crowd.names.insert("\(moves)") } }
                }
            })
        realm.refresh()
        try realm.write { crowd.numbers.append(0) }
        try realm.write { crowd.numbers.append(0) }
        realm.beginWrite()
        #expect(realm.isInWriteTransaction)
        crowd.numbers.append(0)
        try realm.commitWrite()
        for _ in 0..<40 { realm.refresh() }
        #expect(crowd.numbers.count >= 20 && last.allSatisfy { $0.insertions == crowd.numbers.count })
        // One that throws undoes what it wrote, and nothing else.
        struct Refused: Error {}
        let refusing = crowd.ages.observe { change in
            guard case .update = change else { return }
            #expect(throws: Refused.self) {
                try realm.write {
                    crowd.ages["never"] = 1
                    throw Refused()
                }
            }
        }
        realm.refresh()
        try realm.write { crowd.ages["a"] = 1 }
        try realm.write { crowd.ages["b"] = 2 }
        #expect(crowd.ages.count == 2 && crowd.ages["never"] == nil)
        withExtendedLifetime((tokens, refusing)) {}
        _ = folder
    }

    @Test func onAQueue() throws {
        let (realm, folder) = try open()
        let queue = DispatchQueue(label: "observers"), told = Mutex<[String]>([]), arrived = DispatchSemaphore(value: 0)
        let all = realm.objects(Person.self)
        let token = all.observe(on: queue) { change in
            dispatchPrecondition(condition: .onQueue(queue))
            told.withLock {
                switch change {
                case .initial(let c): $0.append("initial \(c.count)")
                case .update(let c, _, let i, _): $0.append("\(c.count) +\(i) \(c[i[0]].name)")
                case .error(let e): $0.append("\(e)")
                }
            }
            arrived.signal()
        }
        #expect(arrived.wait(timeout: .now() + 20) == .success)
        try realm.write { realm.create(Person.self, value: ["id": 7, "name": "new"]) }
        #expect(arrived.wait(timeout: .now() + 20) == .success)
        #expect(told.withLock { $0 } == ["initial 3", "4 +[3] new"])
        token.invalidate()
        _ = folder
    }

    @Test func aRealmOfAQueue() throws {
        let folder = try Folder(), configuration = folder.configuration(Self.types)
        let queue = DispatchQueue(label: "owner"), done = DispatchSemaphore(value: 0), result = Mutex<[String]>([])
        try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            #expect(try Realm(configuration: configuration, queue: queue) == realm)
            realm.writeAsync {
                realm.create(Person.self, value: ["id": 1, "name": "async"])
            } onComplete: { error in
                dispatchPrecondition(condition: .onQueue(queue))
                result.withLock { $0 = ["\(error == nil)", realm.objects(Person.self).first?.name ?? ""] }
                done.signal()
            }
        }
        #expect(done.wait(timeout: .now() + 20) == .success && result.withLock { $0 } == ["true", "async"])
    }

    @Test func frozenObjectsGoAnywhere() throws {
        struct Carried<T>: @unchecked Sendable { let value: T }
        let (realm, folder) = try open()
        let p = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1)), all = realm.objects(Person.self)
        let frozen = Carried(value: (p.freeze(), all.freeze(), p.dogs.freeze()))
        #expect(frozen.value.0.isFrozen && !p.isFrozen && frozen.value.0.freeze() === frozen.value.0)
        let seen = Mutex<[String]>([])
        try realm.write {
            p.name = "later"
            p.dogs.removeAll()
            realm.create(Person.self, value: [99])
        }
        let message = misuse {
            let (object, rows, dogs) = frozen.value
            seen.withLock { $0 = [object.name, "\(rows.count)", dogs[0].name, "\(object.dogs.count)"] }
            let live = object.thaw()
            seen.withLock { $0.append(live?.name ?? "") }
            object.age = 1
        }
        #expect(
            seen.withLock { $0 } == ["p1", "3", "d1", "1", "later"]
                && message?.contains("outside of a write transaction") == true)
        let now = p.freeze()
        #expect(
            frozen.value.0.thaw()?.isSameObject(as: p) == true && now == p.freeze() && now != frozen.value.0
                && now.realm == p.freeze().realm)
        _ = folder
    }

    @Test func referencesLeadToOtherThreads() throws {
        let (realm, folder) = try open()
        let p = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1)),
            gone = try #require(realm.object(ofType: Person.self, forPrimaryKey: 2))
        let reference = ThreadSafeReference(to: p), list = ThreadSafeReference(to: p.dogs),
            deleted = ThreadSafeReference(to: gone)
        let results = ThreadSafeReference(to: realm.objects(Person.self).filter("id > 0"))
        let wrapped = ThreadSafe(wrappedValue: p), configuration = realm.configuration, seen = Mutex<[String]>([])
        try realm.write { realm.delete(gone) }
        let message = misuse {
            let realm = try Realm(configuration: configuration)
            let (p, dogs) = (realm.resolve(reference), realm.resolve(list))
            seen.withLock { $0 = [p?.name ?? "", dogs?[0].name ?? "", "\(realm.resolve(results)?.count ?? -1)"] }
            realm.refresh()
            seen.withLock { $0.append("\(realm.resolve(deleted) == nil)") }
            try realm.write { p?.age = 44 }
            seen.withLock { $0.append("\(wrapped.wrappedValue?.age ?? -1)") }
            _ = realm.resolve(reference)
        }
        #expect(seen.withLock { $0 } == ["p1", "d1", "2", "true", "44"] && message?.contains("once") == true)
        realm.refresh()
        #expect(p.age == 44 && reference.isInvalidated)
        _ = folder
    }
}

private class Card: Projection<Person> {
    @Projected(\Person.name) var headline
    @Projected(\Person.best?.name) var bestName
    @Projected(\Person.age) var age
}

private class DogName: Projection<Dog> {
    @Projected(\Dog.name) var name
}

private class LongCard: Card {
    @Projected(\Person.dogs) var dogs
}

struct ProjectionTests {
    /// What a projection inherits is observed and printed, too.
    @Test func inheritedProperties() throws {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        try realm.write { _ = realm.create(Person.self, value: ["id": 1, "name": "Ida"]) }
        let card = realm.objects(LongCard.self)[0]
        var told: [String] = []
        let token = card.observe { if case .change(_, let p) = $0 { told += p.map(\.name) } }
        realm.refresh()
        try realm.write {
            card.headline = "Eve"
            card.dogs.append(Dog("Rex"))
        }
        realm.refresh()
        #expect(told.sorted() == ["dogs", "headline"] && card.description.contains("headline(\\.name) = Eve"))
        withExtendedLifetime(token) {}
        _ = folder
    }

    /// Also of classes without a primary key, whose objects are equal only as instances.
    @Test func equalOnesHashTheSame() throws {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        try realm.write { for i in 0..<3 { realm.add(Dog("\(i)")) } }
        let all = realm.objects(DogName.self)
        #expect(Set(all.map { $0 } + all.map { $0 }).count == 3 && Set([all[0].freeze(), all[0].freeze()]).count == 1)
        #expect(Set([Card(projecting: Person()), Card(projecting: Person())]).count == 2)
        _ = folder
    }

    @Test func projections() throws {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        let ida = try realm.write {
            realm.create(Person.self, value: ["id": 1, "name": "Ida", "best": ["id": 2, "name": "Al"]])
        }
        let card = try #require(realm.objects(Card.self).first)
        #expect(
            card.headline == "Ida" && card.bestName == "Al" && card.rootObject == ida && card == Card(projecting: ida)
                && card.realm == realm)
        var told: [String] = []
        let token = card.observe { change in
            if case .change(let c, let p) = change {
                told.append("\(c.headline) \(p.map(\.name))")
            } else {
                told.append("deleted")
            }
        }
        realm.refresh()
        try realm.write {
            card.headline = "Eve"
            ida.dogs.append(Dog("Rex"))
        }
        realm.refresh()
        try realm.write { ida.best?.name = "Ed" }
        realm.refresh()
        #expect(
            told == ["Eve [\"headline\"]", "Eve [\"bestName\"]"] && card.freeze().headline == "Eve"
                && card.freeze().isFrozen)
        try realm.write { realm.delete(ida) }
        realm.refresh()
        #expect(told.last == "deleted" && card.isInvalidated)
        withExtendedLifetime(token) {}
        _ = folder
    }
}

struct SectionTests {
    @Test func sections() throws {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        try realm.write {
            for (i, name) in ["Ida", "Al", "Ivo", "Ann"].enumerated() {
                realm.create(Person.self, value: ["id": i, "name": name])
            }
        }
        let all = realm.objects(Person.self)
        let sections = all.sectioned(by: { String($0.name.prefix(1)) }, sortDescriptors: ["name"])
        #expect(
            sections.allKeys == ["A", "I"] && sections.map { $0.map(\.name) } == [["Al", "Ann"], ["Ida", "Ivo"]])
        #expect(
            sections[IndexPath(indexes: [1, 0])].name == "Ida" && sections[0].key == "A"
                && all.sectioned(by: \.age).allKeys == [0])
        var told: [String] = []
        let token = sections.observe { change in
            switch change {
            case .initial(let s): told.append("initial \(s.count)")
            case .update(let s, let d, let i, let m, let new, let gone):
                told.append(
                    "\(s.allKeys) -\(d.map(Array.init)) +\(i.map(Array.init)) *\(m.map(Array.init)) +\(Array(new)) -\(Array(gone))"
                )
            }
        }
        realm.refresh()
        try realm.write { realm.create(Person.self, value: ["id": 9, "name": "Bo"]) }
        realm.refresh()
        try realm.write {
            all[0].age = 3
            realm.delete(all[4])
        }
        realm.refresh()
        try realm.write { for p in all where p.name.hasPrefix("A") { p.name = "I" + p.name } }
        realm.refresh()
        // Ida, Ivo, IAl, IAnn by their names: IAl, IAnn, Ida, Ivo. One that is modified and has another place
        // afterwards went and came.
        try realm.write {
            realm.delete(all.filter("name == 'IAl'"))
            for p in all where p.name == "IAnn" { p.age = 1 }
        }
        realm.refresh()
        try realm.write { for p in all where p.name == "Ivo" { p.age = 1 } }
        realm.refresh()
        #expect(
            told == [
                "initial 2", "[\"A\", \"B\", \"I\"] -[] +[[1, 0]] *[] +[1] -[]",
                "[\"A\", \"I\"] -[] +[] *[[2, 0]] +[] -[1]",
                "[\"I\"] -[] +[[0, 0], [0, 1]] *[] +[] -[0]", "[\"I\"] -[[0, 0], [0, 1]] +[[0, 0]] *[] +[] -[]",
                "[\"I\"] -[] +[] *[[0, 2]] +[] -[]",
            ])
        let frozen = sections.freeze()
        try realm.write { realm.deleteAll() }
        #expect(frozen.allKeys == ["I"] && frozen[0].count == 3 && sections.isEmpty && frozen.thaw()?.isEmpty == true)
        withExtendedLifetime(token) {}
        _ = folder
    }

    /// A commit that the observers are not told of: the next change is told by what that commit left.
    @Test func silentCommits() throws {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        let ida = try realm.write {
            for (i, name) in ["Al", "Ann"].enumerated() { realm.create(Person.self, value: ["id": i, "name": name]) }
            return realm.create(Person.self, value: ["id": 9, "name": "Ida", "nicknames": ["b", "d"]])
        }
        let all = realm.objects(Person.self),
            sections = all.sectioned(by: { String($0.name.prefix(1)) }, sortDescriptors: ["name"])
        var told: [String] = [], ofSection: [String] = [], ofNames: [String] = []
        let tokens = [
            sections.observe { told += texts($0) }, sections[0].observe { ofSection += texts($0) },
            ida.nicknames.sorted().observe {
                if case .update(_, let d, let i, _) = $0 { ofNames.append("-\(d) +\(i)") }
            },
        ]
        realm.refresh()
        try realm.write(withoutNotifying: tokens) {
            for i in 10..<15 { realm.create(Person.self, value: ["id": i, "name": "Bo\(i)"]) }
            ida.nicknames.insert("a")
        }
        realm.refresh()
        #expect(told.isEmpty && ofSection.isEmpty && ofNames.isEmpty)
        try realm.write {
            realm.delete(all.filter("name == 'Bo14' or name == 'Ann'"))
            ida.nicknames.insert("c")
        }
        realm.refresh()
        #expect(
            told == ["-[[0, 1], [1, 4]] +[] *[[2, 0]] +[] -[]"] && ofSection == ["-[[0, 1]] +[] *[] +[] -[]"]
                && ofNames == ["-[] +[2]"])
        realm.beginWrite()
        realm.delete(all.filter("name != 'Ida'"))
        try realm.commitWrite(withoutNotifying: tokens)
        try realm.write { ida.age = 3 }
        realm.refresh()
        #expect(told.last == "-[] +[] *[[0, 0]] +[] -[]" && told.count == 2 && ofSection.count == 1)
        // Tokens of what is gone are tokens of nothing.
        realm.invalidate()
        try realm.write(withoutNotifying: tokens) { realm.deleteAll() }
        #expect(told.count == 2 && all.isInvalidated)
        _ = folder
    }

    private func texts<C>(_ change: SectionedResultsChange<C>) -> [String] {
        guard case .update(_, let d, let i, let m, let new, let gone) = change else { return [] }
        return ["-\(d.map(Array.init)) +\(i.map(Array.init)) *\(m.map(Array.init)) +\(Array(new)) -\(Array(gone))"]
    }
}
