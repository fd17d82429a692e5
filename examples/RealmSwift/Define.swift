import Foundation
import RealmSwift

enum Shelf: String, PersistableEnum { case fiction, science, kitchen }

class Book: Object {
    @Persisted(primaryKey: true) var id: ObjectId
    @Persisted(indexed: true) var title: String
    @Persisted var pages = 100
    @Persisted var rating: Double?
    @Persisted var shelf: Shelf
    @Persisted var bought: Date
    @Persisted var anything: AnyRealmValue
    @Persisted var author: Author?

    /// Not stored: computed from what is.
    var isLong: Bool { pages > 500 }

    convenience init(_ title: String, pages: Int = 100) {
        self.init()
        self.title = title
        self.pages = pages
    }
}

class Author: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted(originProperty: "author") var books: LinkingObjects<Book>
}

/// A Realm for a chapter. Without `objectTypes` it has every class of the program.
func open(_ folder: URL, _ types: ObjectBase.Type...) throws -> Realm {
    try Realm(
        configuration: Realm.Configuration(fileURL: folder.appendingPathComponent("library.realm"), objectTypes: types))
}

/// Models are classes; what is stored says `@Persisted`.
func define(_ folder: URL) throws {
    let everything = try Realm(configuration: Realm.Configuration(fileURL: folder.appendingPathComponent("all.realm")))
    expect(everything.schema["Book"]?.primaryKeyProperty?.name == "id", "classes are found without being listed")
    let book = Book("A Field Guide", pages: 640)
    expect(
        book.realm == nil && book.isLong && book.rating == nil && book.shelf == .fiction, "an object is first unmanaged"
    )
}
