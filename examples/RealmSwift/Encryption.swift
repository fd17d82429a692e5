import Foundation
import RealmSwift

/// A file that only a key of 64 bytes opens.
func encryption(_ folder: URL) throws {
    let file = folder.appendingPathComponent("secret.realm")
    let key = Data((0..<64).map { _ in UInt8.random(in: 0...255) })
    func write() throws {
        let realm = try Realm(
            configuration: Realm.Configuration(fileURL: file, encryptionKey: key, objectTypes: [Song.self]))
        try realm.write { realm.create(Song.self, value: ["A very particular title", 1] as [Any]) }
    }
    try write()
    expect(try Data(contentsOf: file).range(of: Data("particular".utf8)) == nil, "nothing can be read in the file")
    do {
        _ = try Realm(
            configuration: Realm.Configuration(fileURL: file, encryptionKey: Data(count: 64), objectTypes: [Song.self]))
        expect(false, "another key does not open it")
    } catch let error as Realm.Error {
        expect(error.fileURL != nil, "the error names the file")
    }
    let realm = try Realm(
        configuration: Realm.Configuration(fileURL: file, encryptionKey: key, objectTypes: [Song.self]))
    expect(realm.objects(Song.self).first?.title == "A very particular title", "the key opens it")
}
