import Foundation
import RealmSwift

/// Create, read, update, delete: all changes are made in a write transaction, all or none.
func crud(_ folder: URL) throws {
    let realm = try open(folder, Book.self, Author.self)
    let guide = Book("A Field Guide", pages: 320)
    try realm.write {
        realm.add(guide)
        realm.create(Book.self, value: ["title": "Knots", "pages": 80, "shelf": "science"])
    }
    expect(guide.realm == realm && realm.objects(Book.self).count == 2, "the instance that was added is managed now")

    let found = realm.object(ofType: Book.self, forPrimaryKey: guide.id)
    expect(found == guide && found?.title == "A Field Guide", "found by its primary key")

    try realm.write {
        guide.rating = 4.5
        guide.anything = .string("signed")
        realm.create(Book.self, value: ["id": guide.id, "pages": 321], update: .modified)
    }
    expect(
        guide.pages == 321 && guide.rating == 4.5 && guide.anything.stringValue == "signed", "an update leaves the rest"
    )

    struct ChangedMyMind: Error {}
    do {
        try realm.write {
            guide.title = "?"
            throw ChangedMyMind()
        }
    } catch is ChangedMyMind {}
    expect(guide.title == "A Field Guide", "a write that throws leaves nothing")

    try realm.write { realm.delete(guide) }
    expect(guide.isInvalidated && realm.objects(Book.self).first?.title == "Knots", "what is deleted is invalidated")
}
