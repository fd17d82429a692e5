import Foundation
import RealmSwift
import Testing

final class Row: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var numbers: List<Int>
    @Persisted var next: Row?
    nonisolated(unsafe) static var made = 0

    required init() { Self.made += 1 }
}

final class Marked: Object {
    @Persisted(primaryKey: true) var id: Int

    /// Not stored: it belongs to the instance.
    var mark: Int?
}

/// A loop gives the instance of one row again for the next where the program cannot tell. Here the program tries to.
@Suite(.serialized) struct LoopTests {
    private func rows(_ n: Int) throws -> (Realm, Folder) {
        let (realm, folder) = try makeRealm(Row.self, Marked.self)
        try realm.write {
            var last: Row?
            for i in 0..<n {
                last = realm.create(Row.self, value: ["id": i, "numbers": [i, i * 2], "next": last as Any])
                realm.create(Marked.self, value: [i])
            }
        }
        return (realm, folder)
    }

    @Test func aLoopMakesFewInstances() throws {
        let (realm, folder) = try rows(1000)
        let before = Row.made
        var sum = 0
        for row in realm.objects(Row.self) { sum += row.id }
        #expect(sum == 999 * 500)
        #expect(Row.made - before < 10)
        _ = folder
    }

    private struct Unowned { unowned let row: Row }

    /// A program that refers to some of the rows, in each way that there is, and goes on using all of them behind the
    /// loop.
    @Test(arguments: 0..<20) func whatIsKeptStaysItsRow(seed: Int) throws {
        let (realm, folder) = try rows(300)
        var random = Numbers(seed: UInt64(seed) + 1)
        var kept: [(Int, Row)] = [], weak: [(Int, () -> Row?)] = [], unowned: [(Unowned, Int, Row)] = [],
            lists: [(Int, List<Int>)] = []
        var calls: [(Int, () -> Int)] = [], identifiers: Set<ObjectIdentifier> = []
        for row in realm.objects(Row.self).sorted(byKeyPath: "id", ascending: seed % 2 == 0) {
            let id = row.id
            switch random.next() % 7 {
            case 0: kept.append((id, row))
            case 1: weak.append((id, { [weak row] in row }))
            case 2:
                weak.append((id, { [weak row] in row }))
                kept.append((id, row))
            case 3: unowned.append((Unowned(row: row), id, row))
            case 4: calls.append((id, { row.id }))
            case 5: lists.append((id, row.numbers))
            default: #expect(row.numbers.last == id * 2 && row.next?.id == (id == 0 ? nil : id - 1))
            }
            if let row = kept.last?.1 { identifiers.insert(ObjectIdentifier(row)) }
        }
        for (id, row) in kept { #expect(row.id == id && Array(row.numbers) == [id, id * 2]) }
        #expect(identifiers.count == Set(kept.map { ObjectIdentifier($0.1) }).count && identifiers.count == kept.count)
        let strong = Set(kept.map(\.0))
        for (id, row) in weak {
            // What nobody kept is gone, and is no other row.
            #expect(strong.contains(id) ? row()?.id == id : row() == nil)
        }
        for (reference, id, row) in unowned { #expect(reference.row.id == id && reference.row === row) }
        for (id, call) in calls { #expect(call() == id) }
        for (id, list) in lists { #expect(Array(list) == [id, id * 2]) }
        _ = folder
    }

    @Test func whatIsNotStoredBelongsToOneRow() throws {
        let (realm, folder) = try rows(100)
        for object in realm.objects(Marked.self) {
            #expect(object.mark == nil)
            object.mark = object.id
        }
        _ = folder
    }

    /// Rows that the loop writes, deletes and adds; an instance of a row that a rollback took away never shows another.
    @Test func loopsThatWrite() throws {
        let (realm, folder) = try rows(100)
        var made: [Row] = []
        try realm.write {
            for row in realm.objects(Row.self).sorted(byKeyPath: "id") {
                row.numbers.append(row.id + 1000)
                if row.id % 3 == 0 { made.append(realm.create(Row.self, value: ["id": row.id + 1000])) }
                if row.id % 5 == 0 { realm.delete(row) }
            }
        }
        #expect(made.map(\.id) == (0..<34).map { $0 * 3 + 1000 })
        var seen: [Int] = []
        for row in realm.objects(Row.self) {
            seen.append(row.id)
            #expect(row.id >= 1000 || Array(row.numbers) == [row.id, row.id * 2, row.id + 1000])
        }
        #expect(seen.sorted() == (0..<100).filter { $0 % 5 != 0 } + made.map(\.id))
        realm.beginWrite()
        let lost = realm.create(Row.self, value: ["id": 5000])
        for row in realm.objects(Row.self) where row.id == 5000 { made.append(row) }
        realm.cancelWrite()
        #expect(lost.isInvalidated && made.last?.isInvalidated == true)
        for row in realm.objects(Row.self) { #expect(!row.isInvalidated && row.id < 5000) }
        #expect(lost.isInvalidated)
        _ = folder
    }

    /// What an observer was given, and what observes.
    @Test func observedRowsStayTheirs() throws {
        let (realm, folder) = try rows(20)
        var tokens: [NotificationToken] = [], told: [Int] = []
        for row in realm.objects(Row.self) {
            let id = row.id
            tokens.append(
                row.observe { change in
                    if case .change(let object, _) = change { told.append(object.id == id ? id : -1) }
                })
        }
        try realm.write { for row in realm.objects(Row.self) where row.id % 2 == 1 { row.numbers.append(1) } }
        realm.refresh()
        #expect(told.sorted() == Array(stride(from: 1, to: 20, by: 2)))
        for token in tokens { token.invalidate() }
        _ = folder
    }
}

/// The same numbers for the same seed.
private struct Numbers {
    var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}
