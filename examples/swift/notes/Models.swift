import Foundation
import RealmSwift

/// What the program keeps: notebooks with notes in an order, which have tags.
final class Note: Object {
    @Persisted(primaryKey: true) var id: ObjectId
    @Persisted var text: String
    @Persisted var isDone: Bool
    @Persisted(indexed: true) var priority = Priority.normal
    @Persisted var tags: MutableSet<String>
    @Persisted var made: Date
    @Persisted(originProperty: "notes") var notebooks: LinkingObjects<Notebook>
}

final class Notebook: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var notes: List<Note>
}

enum Priority: Int, PersistableEnum {
    case low = 1, normal = 5, high = 9
    var mark: String { self == .high ? "!" : (self == .low ? "·" : " ") }
}

/// The program's first version had other notes: a title, and no priority.
enum FirstVersion {
    final class Note: Object {
        @Persisted(primaryKey: true) var id: ObjectId
        @Persisted var title: String
        @Persisted var isUrgent: Bool

        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    static func configuration(_ file: URL) -> Realm.Configuration {
        Realm.Configuration(fileURL: file, schemaVersion: 1, objectTypes: [Note.self])
    }
}

extension Realm.Configuration {
    /// The file of notes as this version of the program has it; one of the first version becomes it.
    static func notes(_ file: URL) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: file, schemaVersion: 2,
            migrationBlock: { migration, oldVersion in
                guard oldVersion < 2 else { return }
                migration.renameProperty(onType: "Note", from: "title", to: "text")
                migration.enumerateObjects(ofType: "Note") { old, new in
                    new?["priority"] = (old?["isUrgent"] as? Bool == true ? Priority.high : .normal).rawValue
                    new?["made"] = (old?["id"] as? ObjectId)?.timestamp ?? Date()
                }
                migration.create("Notebook", value: ["name": "inbox"])
            }, objectTypes: [Note.self, Notebook.self])
    }
}
