// Realms that other threads close while their own threads are in the middle of everything: under a sanitizer, and in
// plain release builds.
//
//     closing FOLDER [ROUNDS [SEED]]
//
// Each round opens a file, and does one kind of work until the close is noticed. What is noticed is an error (or, where
// nothing can be thrown, a misuse), never a wrong value: each kind says what it must have read as long as there was no
// error.
import CoreEngine
import Glibc
import Synchronization

struct Seeded {
    var state: UInt64

    mutating func below(_ n: Int) -> Int {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return Int((state &* 0x2545_F491_4F6C_DD1D) >> 33) % n
    }
}

/// The threads of this program know what they do.
struct Unchecked<Value>: @unchecked Sendable { var value: Value }

final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Runs `body` on a thread of its own. The result waits for it.
func start(_ body: @escaping @Sendable () -> Void) -> () -> Void {
    var thread = pthread_t()
    pthread_create(
        &thread, nil,
        {
            if let work = $0 { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
            return nil
        }, Unmanaged.passRetained(Work(body)).toOpaque())
    return { pthread_join(thread, nil) }
}

let mistakes = Atomic(0), wrong = Atomic(0), calls = Atomic(0)
Misuse.handler = { _ in
    mistakes.add(1, ordering: .relaxed)
    return .goOn
}

/// A value that was read without an error must be this one.
func demand(_ isRight: Bool, _ what: String) {
    if !isRight, wrong.add(1, ordering: .relaxed).newValue < 20 { print("  wrong: \(what)") }
}

let schema = Schema([
    ObjectSchema(
        "Thing",
        properties: [
            Property("id", .int, primary: true), Property("n", .int), Property("text", .string),
            Property("link", .object, nullable: true, target: "Thing"),
            Property("list", .string, collection: .list), Property("set", .int, collection: .set),
            Property("map", .int, collection: .dictionary),
        ])
])

func open(_ path: String) throws -> Realm {
    try Realm(RealmConfiguration(path: path, schema: schema, schemaVersion: 1))
}

func fill(_ realm: Realm) throws {
    try realm.write {
        for id in 0..<40 {
            let t = try realm.create(
                "Thing", primaryKey: .int(Int64(id)), ["n": .int(Int64(id)), "text": .string("text of \(id)")])
            try t.set("link", to: t)
            for i in 0..<20 {
                try t.list("list").append(.string("element \(i)"))
                try t.set("set").insert(.int(Int64(i)))
                try t.dictionary("map").set(.int(Int64(i)), for: Name("\(i)"))
            }
        }
    }
}

/// Does `body` until it throws, or the Realm is closed.
func untilClosed(_ realm: Realm, _ body: (Int) throws -> Void) {
    var i = 0
    do {
        while !realm.isClosed {
            try body(i)
            i += 1
        }
    } catch {
        let code = (error as? RealmError)?.code
        demand([.closedRealm, .invalidatedObject, .staleAccessor].contains(code), "the error \(error)")
    }
    calls.add(i, ordering: .relaxed)
}

let kinds: [(name: String, work: (Realm) throws -> Void)] = [
    (
        "properties",
        { realm in
            let things = try realm.objects("Thing"), t = try things.object(at: 7)
            untilClosed(realm) { _ in
                demand(try t.get("n") == 7, "n")
                demand(try t.get("text") == "text of 7", "text")
                demand(try t.object("link") == t, "link")
            }
        }
    ),
    (
        "collections",
        { realm in
            let t = try realm.objects("Thing").object(at: 7), list = try t.list("list"), set = try t.set("set"),
                map = try t.dictionary("map")
            untilClosed(realm) { i in
                demand(try list.load() == 20 && set.load() == 20 && map.load() == 20, "counts")
                demand(try list.get(i % 20) == .string("element \(i % 20)"), "an element")
                demand(try list.values().count == 20 && map.get("5") == 5 && set.find(3) == 3, "elements")
            }
        }
    ),
    (
        "what cannot throw",
        { realm in
            let things = try realm.objects("Thing"), t = things[7], list = try t.list("list"),
                map = try t.dictionary("map")
            untilClosed(realm) { i in
                let before = mistakes.load(ordering: .relaxed)
                let all = [
                    things.count, list.count, Array(things).count, list[2..<8].count, map.keys.count,
                    things.map { $0.key }.count,
                ]
                let value = t["n"], isValid = t.isValid && things.isValid && list.isValid
                for thing in things { _ = thing["text"] }
                if mistakes.load(ordering: .relaxed) == before, !realm.isClosed {
                    demand(all == [40, 20, 40, 6, 20, 40] && value == 7 && isValid, "\(all) \(value)")
                }
            }
        }
    ),
    (
        "queries",
        { realm in
            untilClosed(realm) { i in
                let some = try realm.objects("Thing").where("n > $0 AND ANY list == 'element 3'", .int(Int64(i % 30)))
                    .sorted(by: "text")
                demand(try some.load() == 39 - i % 30, "count of a query")
                demand(try some.max(of: "n") == 39, "greatest")
            }
        }
    ),
    (
        "writes",
        { realm in
            untilClosed(realm) { i in
                try realm.write {
                    let t = try realm.objects("Thing").object(at: i % 40)
                    try t.set("text", .string("text \(i)"))
                    try t.set("list", [.string("one"), .string("two")])
                }
            }
        }
    ),
    (
        "notifications",
        { realm in
            let things = try realm.objects("Thing"), told = Atomic(0)
            let all = try things.observe { _ in told.add(1, ordering: .relaxed) }
            let one = try things.object(at: 3).observe { _ in told.add(1, ordering: .relaxed) }
            untilClosed(realm) { i in
                try realm.write { try things.object(at: 3).set("n", .int(Int64(i))) }
                try realm.refresh()
            }
            let box = Unchecked(value: (all, one))
            start { box.value.0.invalidate() }()
        }
    ),
    (
        "asynchronous writes",
        { realm in
            untilClosed(realm) { i in
                try realm.beginWriteAsync { error in
                    guard error == nil else { return }
                    try? realm.objects("Thing").object(at: 1).set("n", .int(Int64(i)))
                    _ = try? realm.commitWriteAsync(allowsGrouping: true)
                }
                _ = ThreadScheduler.current.runPending(timeout: 1)
            }
        }
    ),
]

/// A frozen Realm that four threads read and one closes.
func closeFrozen(_ realm: Realm, after spins: Int) throws {
    let frozen = try Frozen(realm), object = try Frozen(realm.objects("Thing").object(at: 7)),
        results = try Frozen(realm.objects("Thing").where("n >= 10"))
    let waits = (0..<4).map { _ in
        start {
            untilClosed(frozen.value) { _ in
                demand(try object.value.get("text") == "text of 7", "text of a frozen object")
                demand(try results.value.load() == 30, "frozen results")
                demand(try object.value.list("list").values().count == 20, "a frozen list")
            }
        }
    }
    for _ in 0..<spins { sched_yield() }
    frozen.value.close()
    for wait in waits { wait() }
}

let arguments = CommandLine.arguments
let folder = arguments.count > 1 ? arguments[1] : ".", rounds = arguments.count > 2 ? Int(arguments[2]) ?? 100 : 100
var random = Seeded(state: (arguments.count > 3 ? UInt64(arguments[3]) ?? 1 : 1) &* 0x9E37_79B9_7F4A_7C15 | 1)
let path = folder + "/closing.realm"
try fill(try open(path))
for round in 0..<rounds {
    let realm = try open(path), spins = random.below(600)
    if round % (kinds.count + 1) == kinds.count {
        try closeFrozen(realm, after: spins)
        realm.close()
        continue
    }
    let box = Unchecked(value: realm)
    let wait = start {
        for _ in 0..<spins { sched_yield() }
        box.value.close()
    }
    // Each starts with the data as they were filled.
    do { try kinds[round % (kinds.count + 1)].work(realm) } catch {
        demand(
            [.closedRealm, .invalidatedObject, .staleAccessor].contains((error as? RealmError)?.code),
            "the error \(error)")
    }
    wait()
    demand(realm.isClosed && !realm.isWriting, "closed")
    let next = try open(path)
    if round % (kinds.count + 1) > 3 {
        try next.write { try next.objects("Thing").deleteAll() }
        try fill(next)
    }
    next.close()
}

let ok = wrong.load(ordering: .relaxed) == 0
print(
    "\(rounds) rounds, \(calls.load(ordering: .relaxed)) turns, \(mistakes.load(ordering: .relaxed)) misuses told, \(ok ? "nothing wrong" : "WRONG VALUES")"
)
exit(ok ? 0 : 1)
