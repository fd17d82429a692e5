import Foundation
import RealmSwift
import Testing

final class LongDocument: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var content: List<Data>
    @Persisted var text: List<String>
}

/// Lists of data and texts as long values.
struct BlobTests {
    @Test func likeAnArrayOfBytes() throws {
        let (realm, folder) = try makeRealm(LongDocument.self)
        let document = try realm.write { realm.create(LongDocument.self, value: ["id": 1]) }
        let blob = document.content.blob
        var model = [UInt8](), chance = SystemRandomNumberGenerator()
        for _ in 0..<60 {
            try realm.write {
                let data = Data((0..<Int.random(in: 0...90_000, using: &chance)).map { UInt8(truncatingIfNeeded: $0) })
                switch Int.random(in: 0..<4, using: &chance) {
                case 0:
                    try blob.append(data)
                    model += data
                case 1:
                    let size = Int.random(in: 0...(model.count + 1000), using: &chance)
                    try blob.truncate(to: size)
                    model = Array(model.prefix(size)) + [UInt8](repeating: 0, count: max(size - model.count, 0))
                case 2:
                    document.content.append(data)
                    model += data
                default:
                    let offset = Int.random(in: 0...model.count, using: &chance)
                    try blob.write(data, at: offset)
                    let end = min(offset + data.count, model.count)
                    model.replaceSubrange(offset..<end, with: data)
                }
                #expect(try blob.count == model.count)
            }
            #expect(try blob.read(at: 0, count: .max) == Data(model))
            let offset = Int.random(in: 0...model.count, using: &chance)
            #expect(try Array(blob.read(at: offset, count: 500)) == Array(model.dropFirst(offset).prefix(500)))
        }
        var all = Data()
        try realm.freeze().object(ofType: LongDocument.self, forPrimaryKey: 1)?.content.blob
            .forEachPart(ofCount: 7777) { all += $0 }
        #expect(all == Data(model))
        _ = folder
    }

    @Test func textsAndWhatIsRefused() throws {
        let (realm, folder) = try makeRealm(LongDocument.self)
        let document = try realm.write { realm.create(LongDocument.self, value: ["id": 1]) }
        let text = String(repeating: "aä€😀", count: 20_000)
        try realm.write { try document.text.blob.append(Data(text.utf8)) }
        #expect(document.text.count > 1 && document.text.joined() == text)
        #expect(throws: Realm.Error.self) { try document.text.blob.append(Data("x".utf8)) }
        try realm.write {
            #expect(throws: Realm.Error.self) { try document.text.blob.write(Data("x".utf8), at: 0) }
            #expect(throws: Realm.Error.self) { try document.text.blob.append(Data([0xFF])) }
            #expect(throws: Realm.Error.self) { try document.text.blob.truncate(to: text.utf8.count - 1) }
            #expect(throws: Realm.Error.self) { try document.content.blob.truncate(to: 1 << 40) }
            #expect(throws: Realm.Error.self) { try document.content.blob.truncate(to: -1) }
        }
        #expect(throws: Realm.Error.self) { try LongDocument().content.blob.count }
        #expect(try document.text.blob.read(at: text.utf8.count - 4, count: 10) == Data("😀".utf8))
        _ = folder
    }

    /// `BLOB_MB=1024` makes the value 1 GiB long.
    @Test func aLongValueInLittleMemory() throws {
        let megabytes = ProcessInfo.processInfo.environment["BLOB_MB"].flatMap { Int($0) } ?? 48
        let (realm, folder) = try makeRealm(LongDocument.self)
        let document = try realm.write { realm.create(LongDocument.self, value: ["id": 1]) }
        let blob = document.content.blob
        let before = ownMemory()
        var most = before, sum = 0
        for first in stride(from: 0, to: megabytes, by: 16) {
            try realm.write {
                for part in first..<min(first + 16, megabytes) {
                    try blob.append(Data(repeating: UInt8(truncatingIfNeeded: part), count: 1 << 20))
                }
            }
            most = max(most, ownMemory())
        }
        var part = 0
        try blob.forEachPart { data in
            #expect(data.count == 1 << 20 && data.allSatisfy { $0 == UInt8(truncatingIfNeeded: part) })
            sum += data.count
            part += 1
            most = max(most, ownMemory())
        }
        #expect(sum == megabytes << 20)
        // Other tests of this process use memory meanwhile.
        if ProcessInfo.processInfo.environment["BLOB_MB"] != nil {
            print("\(megabytes) MB, own memory \((most - before) >> 10) MB more than before")
            #expect(most - before < 64 << 10)
        }
        _ = folder
    }

    /// Anonymous memory of the process in KB.
    private func ownMemory() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return line.flatMap { $0.split(separator: " ").dropFirst().first.flatMap { Int($0) } } ?? 0
    }
}
