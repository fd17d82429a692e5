// Compares typed access with plain Swift and SQLite, in one run: properties of a managed object beside a plain stored
// property, conditions beside formats, and all objects of a class beside a loop of sqlite3_step over the same rows.
// TypedAccess [objects [accesses]]
import CSQLite
import Foundation
import RealmSwift

class Item: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var age: Int
    @Persisted var name: String
    @Persisted var score: Double
}

final class Plain {
    var age = 0
    var name = ""
}

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000_000
let rounds = 5
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("typed-access-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

/// Prints the best of several rounds, in nanoseconds for each of `n`.
func measure(_ title: String, _ n: Int, _ body: () throws -> Void) rethrows {
    var best = Double.infinity
    for _ in 0..<rounds {
        let start = ContinuousClock.now
        try body()
        let d = (ContinuousClock.now - start).components
        best = min(best, Double(d.seconds) * 1e9 + Double(d.attoseconds) / 1e9)
    }
    print(title.padding(toLength: 40, withPad: " ", startingAt: 0), String(format: "%8.1f ns", best / Double(n)))
}

@inline(never) func use(_ value: Int) { sink &+= value }
nonisolated(unsafe) var sink = 0

/// A call that the optimiser cannot see into: without it, it would remove a loop that reads one field.
@_optimize(none) func pass() {}

let realm = try Realm(configuration: .init(fileURL: folder.appendingPathComponent("a.realm"), objectTypes: [Item.self]))
try realm.write {
    for i in 0..<count { realm.create(Item.self, value: [i, i % 100, "name \(i)", Double(i)] as [Any]) }
}

let item = realm.objects(Item.self)[count / 2], plain = Plain(), all = realm.objects(Item.self)
let n = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 1_000_000

@inline(never) func getters(_ item: Item, _ plain: Plain, _ all: Results<Item>, _ n: Int) {
    let count = all.count
    var sum = 0
    measure("plain stored property, and a call", n) {
        for _ in 0..<n {
            sum &+= plain.age
            pass()
        }
    }
    measure("Int of a managed object", n) { for _ in 0..<n { sum &+= item.age } }
    measure("Double of a managed object", n) { for _ in 0..<n { sum &+= item.score > 1 ? 1 : 0 } }
    measure("String of a managed object", n) { for _ in 0..<n { sum &+= item.name.utf8.count } }
    measure("results[i], typed", n) { for i in 0..<n { withExtendedLifetime(all[i % count]) {} } }
    measure("by name: object[\"age\"]", n / 10) { for _ in 0..<n / 10 { sum &+= (item["age"] as? Int) ?? 0 } }
    measure("results.where { $0.age > 3 }, not run", n / 10) {
        for _ in 0..<n / 10 { withExtendedLifetime(all.where { $0.age > 3 }) {} }
    }
    measure("results.filter(\"age > %@\", 3), not run", n / 10) {
        for _ in 0..<n / 10 { withExtendedLifetime(all.filter("age > %@", 3)) {} }
    }
    use(sum)
}

@inline(never) func setters(_ realm: Realm, _ item: Item, _ n: Int) throws {
    try realm.write { measure("Int of a managed object, set", n) { for i in 0..<n { item.age = i } } }
}

@inline(never) func iterate(_ all: Results<Item>) {
    var sum = 0
    measure("all objects, three properties", all.count) {
        for i in all { sum &+= i.age &+ i.name.utf8.count &+ (i.score > 1 ? 1 : 0) }
    }
    use(sum)
}
getters(item, plain, all, n)
try setters(realm, item, n)
iterate(all)

/// Inserts objects into a new file, and prints the time for each. The best of three rounds.
func inserts(_ title: String, _ insert: (Realm, Int) throws -> Void) rethrows {
    var best = Double.infinity
    for round in 0..<3 {
        let file = folder.appendingPathComponent("insert-\(round).realm")
        try? FileManager.default.removeItem(at: file)
        guard let target = try? Realm(configuration: .init(fileURL: file, objectTypes: [Item.self])) else { return }
        let start = ContinuousClock.now
        try insert(target, count)
        let d = (ContinuousClock.now - start).components
        best = min(best, Double(d.seconds) * 1e9 + Double(d.attoseconds) / 1e9)
    }
    print(title.padding(toLength: 40, withPad: " ", startingAt: 0), String(format: "%8.1f ns", best / Double(count)))
}

try inserts("insert: Item(), set, add") { realm, count in
    try realm.write {
        for i in 0..<count {
            let item = Item()
            item.id = i
            item.age = i % 100
            item.name = "name \(i)"
            item.score = Double(i)
            realm.add(item)
        }
    }
}
try inserts("insert: a dictionary") { realm, count in
    try realm.write {
        for i in 0..<count {
            realm.create(
                Item.self, value: ["id": i, "age": i % 100, "name": "name \(i)", "score": Double(i)] as [String: Any])
        }
    }
}
measure("the first 1,000 by name, whole query", count) {
    var sum = 0
    for one in realm.objects(Item.self).sorted(by: \.name).prefix(1000) { sum &+= one.age }
    use(sum)
}

// The same rows in SQLite.
var db: OpaquePointer?
sqlite3_open(folder.appendingPathComponent("a.sqlite").path, &db)
let started = ContinuousClock.now
sqlite3_exec(db, "create table item(id integer primary key, age integer, name text, score real); begin", nil, nil, nil)
var insert: OpaquePointer?
sqlite3_prepare_v2(db, "insert into item values(?, ?, ?, ?)", -1, &insert, nil)
let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
for i in 0..<count {
    sqlite3_bind_int64(insert, 1, Int64(i))
    sqlite3_bind_int64(insert, 2, Int64(i % 100))
    sqlite3_bind_text(insert, 3, "name \(i)", -1, transient)
    sqlite3_bind_double(insert, 4, Double(i))
    sqlite3_step(insert)
    sqlite3_reset(insert)
}
sqlite3_finalize(insert)
sqlite3_exec(db, "commit", nil, nil, nil)
let spent = (ContinuousClock.now - started).components
print(
    "insert: sqlite3_step".padding(toLength: 40, withPad: " ", startingAt: 0),
    String(format: "%8.1f ns", (Double(spent.seconds) * 1e9 + Double(spent.attoseconds) / 1e9) / Double(count)))
measure("the first 1,000 by name, SQLite", count) {
    var select: OpaquePointer?, sum = 0
    sqlite3_prepare_v2(db, "select age from item order by name limit 1000", -1, &select, nil)
    while sqlite3_step(select) == SQLITE_ROW { sum &+= Int(sqlite3_column_int64(select, 0)) }
    sqlite3_finalize(select)
    use(sum)
}

struct Row {
    let id: Int, age: Int, name: String, score: Double
}
measure("the same, sqlite3_step", count) {
    var select: OpaquePointer?, sum = 0
    sqlite3_prepare_v2(db, "select id, age, name, score from item", -1, &select, nil)
    while sqlite3_step(select) == SQLITE_ROW {
        let row = Row(
            id: Int(sqlite3_column_int64(select, 0)), age: Int(sqlite3_column_int64(select, 1)),
            name: String(cString: sqlite3_column_text(select, 2)),
            score: sqlite3_column_double(select, 3))
        sum &+= row.age &+ row.name.utf8.count &+ (row.score > 1 ? 1 : 0)
    }
    sqlite3_finalize(select)
    use(sum)
}
sqlite3_close(db)
