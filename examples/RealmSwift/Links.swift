import Foundation
import RealmSwift

/// An object refers to another; the other knows who refers to it.
func links(_ folder: URL) throws {
    let realm = try open(folder, Book.self, Author.self)
    let author = Author(value: ["name": "Mira"])
    try realm.write {
        let book = Book("Tides")
        book.author = author
        realm.add(book)
        realm.create(Book.self, value: ["title": "Winds", "author": author])
        realm.create(Book.self, value: ["title": "Cakes", "author": ["name": "Otto"]])
    }
    expect(author.realm == realm && author.books.count == 2, "what an added object refers to is added with it")
    expect(
        realm.objects(Author.self).where { $0.books.title == "Cakes" }.first?.name == "Otto",
        "queries go along links, both ways")
    try realm.write { realm.delete(author) }
    expect(realm.objects(Book.self).where { $0.author == nil }.count == 2, "links to what is deleted are nil")
}
