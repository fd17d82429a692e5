import Foundation
import RealmSwift
import Testing

/// Small things that programs for Realm's package rely on.
struct ParityTests {
    class Preset: Object {
        @Persisted(primaryKey: true) var id = 1
        @Persisted var number: Int? = 5
        @Persisted var word: String? = "preset"
        @Persisted var friend: Preset?
        @Persisted var any: AnyRealmValue = .string("preset")
        @Persisted var flag = false
        @Persisted var double = 0.0
    }

    /// What an object does not have its copy has not either, whether the copy is new or there already.
    @Test func nilIsCopied() throws {
        let (realm, folder) = try makeRealm(Preset.self)
        let empty = Preset()
        (empty.number, empty.word, empty.any) = (nil, nil, .none)
        for policy in [Realm.UpdatePolicy.all, .modified] {
            try realm.write {
                realm.deleteAll()
                let fresh = realm.create(Preset.self, value: empty)
                #expect(fresh.number == nil && fresh.word == nil && fresh.any == .none)
                (fresh.number, fresh.word, fresh.any, fresh.friend) = (1, "x", 3, fresh)
                let same = realm.create(Preset.self, value: empty, update: policy)
                #expect(
                    same == fresh && fresh.number == nil && fresh.word == nil && fresh.any == .none
                        && fresh.friend == nil)
                (fresh.number, fresh.friend) = (1, fresh)
                realm.create(
                    Preset.self, value: ["id": 1, "number": NSNull(), "friend": Preset?.none as Any] as [String: Any],
                    update: policy)
                #expect(fresh.number == nil && fresh.friend == nil)
                #expect(
                    Preset(value: empty).number == nil && Preset(value: ["number": NSNull()]).number == nil
                        && Preset(value: ["id": 2]).number == 5)
            }
        }
        _ = folder
    }

    /// A number stands for another type of number where it is the same number.
    @Test func numbersThatAreNone() throws {
        let p = Preset()
        for (name, value) in [
            ("flag", NSNumber(value: 1)), ("number", NSNumber(value: 7.0)), ("double", NSNumber(value: 3)),
        ] { p[name] = value }
        p["flag"] = 1.0
        #expect(p.flag && p.number == 7 && p.double == 3)
        nonisolated(unsafe) let wrong: [(String, Any)] = [
            ("flag", 2), ("flag", 1.1), ("flag", NSNumber(value: 2)), ("number", NSNumber(value: 1.5)), ("number", 1.5),
            ("number", "7"),
            ("flag", "true"),
        ]
        for i in wrong.indices {
            let message = misuse { Preset()[wrong[i].0] = wrong[i].1 }
            #expect(message?.contains("Invalid value") ?? false, "\(wrong[i])")
        }
    }

    @Test func unmanagedObjectsAsArguments() throws {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        try realm.write {
            let ida = realm.create(Person.self, value: ["id": 1, "dogs": [["name": "Rex"]]])
            realm.create(Person.self, value: ["id": 2, "best": ida])
        }
        let all = realm.objects(Person.self), nobody = Person(), stray = Dog("Stray")
        #expect(
            all.where { $0.best == nobody }.isEmpty && all.where { $0.best != nobody }.count == 2
                && all.filter("best == %@", nobody).isEmpty)
        #expect(
            all.where { $0.dogs.contains(stray) }.isEmpty && all.filter("ANY dogs == %@", stray).isEmpty
                && all.filter("%@ IN dogs", stray).isEmpty)
        #expect(all.filter("best IN %@", [nobody, all[0]]).map(\.id) == [2] && all[0].dogs.index(of: stray) == nil)
        _ = folder
    }

    @Test func predicatesOfAValue() throws {
        let (realm, folder) = try makeRealm(Preset.self)
        try realm.write { realm.add(Preset()) }
        let all = realm.objects(Preset.self), yes = NSPredicate(value: true), no = NSPredicate(value: false)
        #expect(
            all.filter(yes).count == 1 && all.filter(no).isEmpty
                && all.filter(NSCompoundPredicate(andPredicateWithSubpredicates: [yes, no])).isEmpty)
        #expect(
            all.filter(NSCompoundPredicate(orPredicateWithSubpredicates: [no, NSPredicate(format: "id == 1")])).count
                == 1)
        _ = folder
    }

    @Test func aggregatesOfUnmanagedObjects() {
        let p = Person()
        #expect(p.dogs.min(of: \.age) == nil && p.dogs.sum(of: \.age) == 0 && p.friends.max(of: \.age) == nil)
        p.dogs.append(objectsIn: [Dog("a", 3), Dog("b", 5)])
        p.friends["x"] = .some(Person(value: ["id": 1, "age": 4]))
        p.friends["y"] = .some(nil)
        #expect(
            p.dogs.min(of: \.age) == 3 && p.dogs.max(ofProperty: "age") == 5 && p.dogs.sum(of: \.age) == 8
                && p.dogs.average(of: \.age) == 4)
        #expect(
            p.friends.max(of: \.age) == 4 && p.friends.sum(ofProperty: "age") == 4 && p.friends.average(of: \.age) == 4)
    }

    @Test func silentObserversOfRealms() throws {
        let (realm, folder) = try makeRealm(Preset.self)
        var told = 0
        let token = realm.observe { _, _ in told += 1 }
        realm.refresh()
        told = 0
        try realm.write(withoutNotifying: [token]) { realm.add(Preset()) }
        #expect(told == 0)
        try realm.write { realm.deleteAll() }
        #expect(told == 1 && token.invalidate() && !token.invalidate())
        _ = folder
    }

    @Test func otherSettingsOfAnOpenFile() throws {
        let (realm, folder) = try makeRealm(Preset.self)
        var other = realm.configuration
        other.readOnly = true
        #expect { _ = try Realm(configuration: other) } throws: { "\($0)".contains("different read permissions") }
        other = realm.configuration
        other.encryptionKey = Data(repeating: 1, count: 64)
        #expect { _ = try Realm(configuration: other) } throws: { "\($0)".contains("different encryption key") }
        #expect(
            Realm.fileExists(for: realm.configuration) && Realm.Error(.fail).code == .fail
                && Realm.Error(.fail) == Realm.Error(.fail))
        _ = folder
    }

    private func frozen<T: ThreadConfined>(_ confined: T) -> T { confined.freeze() }

    private func frozenCollection<C: RealmCollection>(_ c: C) -> (C, C?) { (c.freeze(), c.freeze().thaw()) }

    @Test func whateverIsConfinedCanBeFrozen() throws {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        let ida = try realm.write { realm.create(Person.self, value: ["id": 1, "dogs": [["name": "Rex"]]]) }
        let any = AnyRealmCollection(ida.dogs)
        let collections = [frozenCollection(any), frozenCollection(AnyRealmCollection(realm.objects(Dog.self)))]
        #expect(
            frozen(ida).isFrozen && frozen(ida.dogs).isFrozen && frozen(ida.scores).isFrozen
                && frozen(ida.dogs.projectTo.name).isFrozen)
        for (frozen, live) in collections {
            #expect(frozen.isFrozen && frozen[0].name == "Rex" && live?.isFrozen == false && live?.count == 1)
        }
        let message = misuse { _ = Person().thaw() }
        #expect(message == "Unmanaged objects cannot be thawed.")
        _ = folder
    }

    @Test func keyPathsOfMaps() throws {
        let (realm, folder) = try makeRealm(Person.self, Dog.self, Address.self, Country.self)
        let ida = try realm.write { () -> Person in
            let ida = realm.create(Person.self, value: ["id": 1])
            ida.friends["me"] = .some(ida)
            return ida
        }
        var changes = 0
        let token = ida.friends.observe(keyPaths: [\.name]) { change in if case .update = change { changes += 1 } }
        realm.refresh()
        for (expected, change) in [(0, { ida.age += 1 }), (1, { ida.name = "Ada" })] as [(Int, () -> Void)] {
            try realm.write(change)
            realm.refresh()
            #expect(changes == expected)
        }
        token.invalidate()
        _ = folder
    }
}

/// Writes of actors whose tasks are cancelled.
struct CancelledWriteTests {
    actor Store {
        private(set) var names: [String] = []

        func write(_ configuration: Realm.Configuration, _ name: String) async throws {
            let realm = try await Realm(configuration: configuration, actor: self)
            try await realm.asyncWrite {
                #expect(realm.isPerformingAsynchronousWriteOperations && realm.isInWriteTransaction)
                realm.add(Dog(name))
            }
            #expect(!realm.isInWriteTransaction)
            names = realm.objects(Dog.self).map(\.name)
        }
    }

    @Test func beforeTheTurn() async throws {
        let folder = try Folder(),
            configuration = folder.configuration([Dog.self, Person.self, Address.self, Country.self]), store = Store()
        try await store.write(configuration, "first")
        let queue = DispatchQueue(label: "blocking")
        let realm = try queue.sync { () -> UncheckedRealm in
            let realm = try Realm(configuration: configuration, queue: queue)
            realm.beginWrite()
            return UncheckedRealm(realm: realm)
        }
        let task = Task { try await store.write(configuration, "cancelled") }
        try await Task.sleep(nanoseconds: 20_000_000)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let early = Task {
            try await Task.sleep(nanoseconds: 1_000_000_000)
            try await store.write(configuration, "early")
        }
        early.cancel()
        await #expect(throws: CancellationError.self) { try await early.value }
        queue.sync { realm.realm.cancelWrite() }
        try await store.write(configuration, "last")
        #expect(await store.names == ["first", "last"])
    }

    private struct UncheckedRealm: @unchecked Sendable { let realm: Realm }
}
