import Foundation
import RealmSwift
import Testing

/// The programs of examples/RealmSwift check what they show, and end with an error where it is not so.
struct ChapterTests {
    private static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent(
            "realm-swift-chapters")

    private func run(_ program: URL, _ arguments: [String] = []) throws -> (status: Int32, text: String) {
        let process = Process(), output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    @Test func chapters() throws {
        let (status, text) = try run(Self.program)
        #expect(status == 0 && text.components(separatedBy: ": ok").count == 14, "\(text)")
    }

    /// What the façade writes, as two programs that know nothing of the engine read it.
    @Test func filesAreSound() throws {
        let folder = try Folder(),
            types: [ObjectBase.Type] = [
                Person.self, Dog.self, Address.self, Country.self, Everything.self, Renamed.self,
            ]
        let file = folder.url.appendingPathComponent("sound.realm")
        do {
            let realm = try Realm(configuration: .init(fileURL: file, objectTypes: types))
            for round in 0..<20 {
                try realm.write {
                    for i in 0..<30 {
                        realm.create(
                            Person.self,
                            value: [
                                "id": (round * 7 + i) % 90, "name": "p\(i)", "dogs": [["name": "d\(round)"]],
                                "nicknames": ["a", "\(i)"],
                                "scores": ["k\(i % 3)": i], "address": ["street": "s", "country": ["name": "c"]],
                                "former": [["street": "f"]],
                            ], update: .modified)
                    }
                    realm.create(
                        Everything.self,
                        value: [
                            "ints": [1, round], "anys": [1, "x", ["k": [true, 2.5] as [Any]]] as [Any],
                            "points": ["1,2"], "optString": "s",
                        ])
                    realm.create(
                        Renamed.self, value: ["id": round, "title": "t", "other": ["id": round + 1]], update: .modified)
                    realm.delete(realm.objects(Person.self).filter("id < %@", round))
                    realm.delete(realm.objects(Dog.self).filter("owners.@count == 0"))
                }
            }
        }
        let tools = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Tools")
        for arguments in [["realm_data_check.py", "--check"], ["realm_storage_check.py"]] {
            let path = [tools.appendingPathComponent(arguments[0]).path] + arguments.dropFirst() + [file.path]
            let (status, text) = try run(URL(fileURLWithPath: "/usr/bin/env"), ["python3"] + path)
            #expect(status == 0 && text.contains("ok"), "\(text)")
        }
    }
}
