// Compaction, copies and changes of key through the Swift API: what C and Python tests leave out, nodes larger than the
// copy's buffer and files that reach over the boundary of a section among it.
import Foundation
import Testing

@testable import CoreEngine

private let schema = Schema([
    ObjectSchema(
        "Item",
        properties: [
            Property("id", .int, primary: true), Property("name", .string, nullable: true, indexed: true),
            Property("data", .data, nullable: true),
            Property("next", .object, nullable: true, target: "Item"),
        ])
])

private func open(
    _ path: String, _ encryption: Encryption? = nil, _ shouldCompact: (@Sendable (UInt64, UInt64) throws -> Bool)? = nil
) throws
    -> Realm
{
    var c = RealmConfiguration(path: path, schema: schema, schemaVersion: 1)
    c.secret = encryption?.secret
    if let encryption { c.pageCipher = encryption.cipher }
    c.shouldCompact = shouldCompact
    return try Realm(c)
}

private func key(_ n: UInt8, _ cipher: PageCipher = .xchacha20) throws -> Encryption {
    var e = Encryption(.key(try [UInt8](repeating: n, count: 64).withUnsafeBytes { try SecretKey(copying: $0) }))
    e.cipher = cipher
    return e
}

private func forms() throws -> [Encryption?] { [nil, try key(1), try key(1, .realm)] }

private func names(_ realm: Realm) throws -> [String] {
    try realm.objects("Item").map { try $0.get("name").string ?? "-" }
}

private func size(_ path: String) -> Int {
    ((try? FileManager.default.attributesOfItem(atPath: path)[.size]) as? Int) ?? -1
}

@Test func largeNodesAndSectionBoundariesSurviveCopies() throws {
    for form in try forms() {
        let folder = try TemporaryFolder()
        let realm = try open(folder.file(), form)
        let blobs = (0..<6).map { n in [UInt8](repeating: UInt8(n + 1), count: (15 << 20) - n * 12_345) }
        for (n, blob) in blobs.enumerated() {
            try realm.write {
                _ = try realm.create(
                    "Item", primaryKey: .int(Int64(n)), ["name": .string("item \(n)"), "data": .data(blob)])
            }
        }
        try realm.write {
            for n in 100..<3000 {
                _ = try realm.create(
                    "Item", primaryKey: .int(Int64(n)),
                    ["name": .string("x\(n)"), "data": .data([UInt8](repeating: 7, count: n))])
            }
        }
        #expect(try realm.compact())
        #expect(size(folder.file()) > 90 << 20)
        #expect(try realm.findFaults(limit: 1).count == 0)
        try realm.writeCopy(to: folder.file("copy.realm"), encryption: try key(2))
        let copy = try open(folder.file("copy.realm"), try key(2))
        for r in [realm, copy] {
            #expect(try r.objects("Item").count == 2906 && r.findFaults(limit: 1).count == 0)
            for (n, blob) in blobs.enumerated() {
                #expect(try r.object("Item", primaryKey: .int(Int64(n)))?.get("data") == .data(blob))
            }
        }
        realm.close()
        copy.close()
    }
}

@Test func compactionKeepsObjectsAndAsksAtTheOpen() throws {
    let folder = try TemporaryFolder()
    let realm = try open(folder.file())
    let object = try realm.write { try realm.create("Item", primaryKey: 1, ["name": "one"]) }
    try realm.write {
        for n in 2..<4000 {
            _ = try realm.create("Item", primaryKey: .int(Int64(n)), ["name": .string("name of \(n)")])
        }
    }
    try realm.write { for o in Array(try realm.objects("Item")).dropFirst() { try o.delete() } }
    try realm.write { try object.set("next", to: object) }
    let other = try open(folder.file())
    #expect(try !realm.compact())
    other.close()
    let before = size(folder.file())
    #expect(throws: RealmError.self) { try realm.write { _ = try realm.compact() } }
    realm.close()

    struct Refusal: Error {}
    #expect { try open(folder.file(), nil) { _, _ in throw Refusal() } } throws: {
        ($0 as? RealmError)?.code == .callback
    }
    #expect(size(folder.file()) == before)
    let again = try open(folder.file(), nil) { total, used in total > 2 * used }
    #expect(size(folder.file()) < before / 2)
    #expect(try names(again) == ["one"] && again.findFaults(limit: 1).count == 0)
    again.close()
}

@Test func keysChangeAndFilesMerge() throws {
    let folder = try TemporaryFolder()
    let realm = try open(folder.file())
    try realm.write {
        let a = try realm.create("Item", primaryKey: 1, ["name": "a"])
        try realm.create("Item", primaryKey: 2, ["name": "b"]).set("next", to: a)
    }
    for form in try [key(1), key(2), key(3, .realm), nil, key(1)] as [Encryption?] {
        try realm.changeKey(to: form)
        #expect(try names(realm) == ["a", "b"])
        let second = try open(folder.file(), form)
        #expect(try names(second) == ["a", "b"])
        #expect { try realm.changeKey(to: nil) } throws: { ($0 as? RealmError)?.code == .deleteOpenedRealm }
        second.close()
    }
    let target = folder.file("target.realm")
    let other = try open(target)
    try other.write {
        for n in [9, 2] as [Int64] { _ = try other.create("Item", primaryKey: .int(n), ["name": "old"]) }
    }
    #expect { try realm.convert(to: RealmConfiguration(path: target)) } throws: {
        ($0 as? RealmError)?.code == .fileAlreadyExists
    }
    try realm.convert(to: RealmConfiguration(path: target), merging: true)
    try other.refresh()
    #expect(try names(other).sorted() == ["a", "b", "old"] && other.findFaults(limit: 1).count == 0)
    #expect(try other.object("Item", primaryKey: 2)?.object("next")?.get("name") == "a")
    other.close()
    realm.close()
    #expect(throws: RealmError.self) { try open(folder.file(), try key(2)) }
    #expect(try names(open(folder.file(), try key(1))) == ["a", "b"])
}
