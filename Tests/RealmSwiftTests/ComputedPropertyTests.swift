import Foundation
import RealmSwift
import Testing

/// Computed properties have other values than the stored ones that they read: the engine cannot be asked for them.
struct ComputedPropertyTests {
    private static let types: [ObjectBase.Type] = [Cupboard.self, Drawer.self]

    private func check(_ body: @escaping @Sendable (Results<Cupboard>) -> Void, _ line: Int = #line) throws {
        let folder = try Folder()
        let message = misuse {
            let realm = try Realm(configuration: folder.configuration(Self.types))
            body(realm.objects(Cupboard.self))
        }
        #expect(message?.contains("'Cupboard' that is not stored") == true, "line \(line): \(message ?? "no misuse")")
    }

    @Test func conditions() throws {
        try check { _ = $0.where { $0.twice == 2 } }
        try check { _ = $0.where { $0.atLeastOne == 1 } }
        try check { _ = $0.where { $0.digit == 1 } }
        try check { _ = $0.where { $0.isEmpty == true } }
        try check { _ = $0.where { $0.isOpen } }
        try check { _ = $0.where { $0.upper == "A" } }
        try check { _ = $0.where { $0.trimmed.contains("A") } }
        try check { _ = $0.where { $0.shownNote == "none" } }
        try check { _ = $0.where { $0.slotName == "x" } }
        try check { _ = $0.where { $0.firstSlot.name == "x" } }
        try check { _ = $0.where { $0.nextDay > Date() } }
        try check { _ = $0.where { $0.other == .far } }
        try check { _ = $0.where { $0.both == 2 } }
        try check { _ = $0.where { $0.memory == 2 } }
        try check { _ = $0.index(matching: { $0.twice == 2 }) }
    }

    @Test func ordersAndAggregates() throws {
        try check { _ = $0.sorted(by: \.twice) }
        try check { _ = $0.sorted(by: [SortDescriptor(keyPath: \Cupboard.upper)]) }
        try check { _ = $0.distinct(by: [\.twice]) }
        try check { _ = $0.min(of: \.twice) }
        try check { _ = $0.max(of: \.digit) }
        try check { let _: Int = $0.sum(of: \.twice) }
        try check { let _: Double? = $0.average(of: \.half) }
        try check { _ = $0.sorted(by: \.slotName) }
        try check { _ = $0.sorted(by: \.shownNote) }
    }

    @Test func storedPropertiesOfAllTypes() throws {
        let (realm, folder) = try makeRealm(Cupboard.self, Drawer.self)
        try realm.write {
            for i in 1...3 {
                realm.create(
                    Cupboard.self,
                    value: [
                        "number": i, "name": "n\(i)", "isFull": i == 2, "slot": ["name": "s\(4 - i)"], "size": Size.far,
                        "tiny": i,
                    ])
            }
        }
        let all = realm.objects(Cupboard.self)
        #expect(
            all.where { $0.number == 2 && $0.isFull && $0.name == "n2" && $0.size == .far && $0.tiny == 2 }.count == 1)
        #expect(
            all.where { $0.note == nil && $0.day < Date.distantFuture && $0.any == .none && $0.slot.name == "s3" }.count
                == 1)
        #expect(
            all.where { $0.slots.count == 0 && $0.slots.name != "x" }.count == 0
                && all.where { $0.weight == 0 && $0.ratio < 1 }.count == 3)
        #expect(
            all.where { $0.bytes == Data() && $0.id == UUID() }.count == 0
                && all.where { $0.key != ObjectId() && $0.money == 0 }.count == 3)
        #expect(
            all.sorted(by: \.slot!.name).first?.number == 3
                && all.sorted(by: \.slot?.name, ascending: false).first?.number == 1)
        #expect(
            all.sorted(by: \.note).count == 3 && all.distinct(by: [\.isFull]).count == 2 && all.max(of: \.number) == 3)
        #expect(realm.objects(Drawer.self).where { $0.shelves.number == 2 }.count == 1)
        // The same value by another name, and inherited ones.
        #expect(all.where { $0.alias == 2 }.count == 1)
        let (derived, other) = try makeRealm(Derived.self, Base.self)
        #expect(derived.objects(Derived.self).where { $0.first == 3 && $0.second == "" }.count == 0)
        #expect(derived.objects(Derived.self).sorted(by: \.first).count == 0)
        _ = (folder, other)
    }

    /// Whoever wants to know on what a value depends may name a computed one.
    @Test func sectionsAndObservers() throws {
        let (realm, folder) = try makeRealm(Cupboard.self, Drawer.self)
        try realm.write { for name in ["b", "a"] { realm.create(Cupboard.self, value: ["name": name]) } }
        #expect(realm.objects(Cupboard.self).sectioned(by: \.upper).allKeys == ["A", "B"])
        var told = 0
        let token = realm.objects(Cupboard.self)[0].observe(keyPaths: [\.upper]) { (_: ObjectChange<Cupboard>) in
            told += 1
        }
        realm.refresh()
        try realm.write { realm.objects(Cupboard.self)[0].name = "z" }
        realm.refresh()
        #expect(told == 1)
        token.invalidate()
        _ = folder
    }
}

enum Size: Int, PersistableEnum { case near = 1, far = 2 }

private class Drawer: Object {
    @Persisted var name: String
    @Persisted(originProperty: "slot") var shelves: LinkingObjects<Cupboard>
}

private class Cupboard: Object {
    @Persisted var number: Int
    @Persisted var tiny: Int8
    @Persisted var name: String
    @Persisted var note: String?
    @Persisted var isFull: Bool
    @Persisted var day: Date
    @Persisted var size: Size
    @Persisted var slot: Drawer?
    @Persisted var slots: List<Drawer>
    @Persisted var any: AnyRealmValue
    @Persisted var weight: Double
    @Persisted var ratio: Float
    @Persisted var bytes: Data
    @Persisted var id: UUID
    @Persisted var key: ObjectId
    @Persisted var money: Decimal128

    var memory = 1
    var alias: Int { number }
    var twice: Int { number * 2 }
    var atLeastOne: Int { max(1, number) }
    var digit: Int { number % 10 }
    var half: Double { Double(number) / 2 }
    var isEmpty: Bool { number == 0 }
    var isOpen: Bool { !isFull }
    var upper: String { name.uppercased() }
    var trimmed: String { name.trimmingCharacters(in: .whitespaces) }
    var shownNote: String { note ?? "none" }
    var slotName: String { slot?.name ?? "" }
    var firstSlot: Drawer { slots[0] }
    var nextDay: Date { day.addingTimeInterval(86400) }
    var other: Size { size == .near ? .far : .near }
    var both: Int { number + Int(tiny) }
}
