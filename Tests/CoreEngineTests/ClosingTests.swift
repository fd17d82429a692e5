// `close` closes the file, whatever variables still refer to the Realm: no descriptor and no map of it is left, and the
// file may be deleted.
import Foundation
import Testing

@testable import CoreEngine

private let schema = Schema([
    ObjectSchema(
        "Thing",
        properties: [
            Property("id", .int, primary: true), Property("n", .int), Property("list", .int, collection: .list),
        ])
])

/// What this process has open or mapped of a folder.
private func traces(of folder: String) throws -> [String] {
    let files = FileManager.default
    let open = try files.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
        try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
    let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n").map(String.init)
    return (open + maps).filter { $0.contains(folder) }
}

/// Deletes files that nobody has open any more. A child process on its way to its program has the locks of its parent
/// for a moment, and other tests start some: so it is tried again.
private func deleting(_ delete: () throws -> Bool) throws -> Bool {
    for _ in 0..<200 {
        if let done = try? delete() { return done }
        Thread.sleep(forTimeInterval: 0.01)
    }
    return try delete()
}

private func open(_ path: String, _ change: (inout RealmConfiguration) throws -> Void = { _ in }) throws -> Realm {
    var c = RealmConfiguration(path: path, schema: schema, schemaVersion: 1)
    try change(&c)
    return try Realm(c)
}

@Test(arguments: [false, true]) func closeClosesTheFile(isEncrypted: Bool) throws {
    let folder = try TemporaryFolder(), path = folder.file()
    let realm = try open(path) { c in
        if isEncrypted { try [UInt8](repeating: 7, count: 64).withUnsafeBytes { try c.setEncryptionKey($0) } }
    }
    let thing = try realm.write { try realm.create("Thing", ["id": 1, "list": [1, 2]]) }
    let things = try realm.objects("Thing"), some = try things.where("n >= 0"), list = try thing.list("list")
    let observation = try some.observe { _ in }, fixed = try some.snapshot()
    var loop = things.makeIterator()
    let frozen = try realm.freeze(), frozenThing = try thing.freeze()
    #expect(frozenThing["id"] == 1 && list.count == 2 && some.count == 1)
    try realm.beginWrite()
    try thing.set("n", 5)
    #expect(try !traces(of: folder.path).isEmpty)
    realm.close()
    #expect(try !traces(of: folder.path).isEmpty && frozenThing["n"] == 0, "the frozen one still reads")
    frozen.close()
    frozenThing.realm.close()
    #expect(try traces(of: folder.path) == [])
    expectMisuses([2010, 2009, 2009]) { thing["n"] == nil && some.isEmpty && fixed.isEmpty }
    #expect(
        !list.isValid && loop.next()?.isValid == false && realm.versionCount == 0 && realm.isClosed && !realm.isWriting
            && realm.version == nil)
    observation.invalidate()
    realm.close()
    #expect(try deleting { try Realm.deleteFiles(at: path) })
    let again = try open(path)
    #expect(try again.objects("Thing").load() == 0)
    again.close()
    #expect(try traces(of: folder.path) == [])
    withExtendedLifetime((realm, frozen, thing, frozenThing, things, some, list, observation, fixed, again)) {}
}

@Test func anotherThreadClosesTheFile() throws {
    for round in 0..<20 {
        let folder = try TemporaryFolder(), realm = try open(folder.file()),
            thing = try realm.write { try realm.create("Thing", ["id": 1]) }
        let wait = start {
            for _ in 0..<(round * 50) { sched_yield() }
            realm.close()
        }
        while (try? thing.get("n")) != nil {}
        wait()
        #expect(try traces(of: folder.path) == [])
        _ = try deleting { try Database.deleteFiles(path: folder.file()) }
    }
}
