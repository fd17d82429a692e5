import Foundation
import RealmSwift

/// Blocks hear of changes for as long as somebody has their token.
func notifications(_ folder: URL) throws {
    let realm = try open(folder, Book.self, Author.self)
    let long = realm.objects(Book.self).where { $0.pages > 200 }
    var told: [String] = []
    let token = long.observe { change in
        switch change {
        case .initial(let books): told.append("initial \(books.count)")
        case .update(let books, let deletions, let insertions, let modifications):
            told.append("\(books.count): -\(deletions) +\(insertions) *\(modifications)")
        case .error(let error): told.append("\(error)")
        }
    }
    realm.refresh()
    let book = Book("Tides", pages: 300)
    try realm.write { realm.add(book) }
    realm.refresh()
    let names = book.observe(keyPaths: [\.title]) { change in
        if case .change(_, let properties) = change { told.append(properties.map(\.name).joined()) }
    }
    realm.refresh()
    try realm.write { book.title = "Tides and Winds" }
    realm.refresh()
    try realm.write(withoutNotifying: [token]) { book.pages = 10 }
    realm.refresh()
    expect(
        told == ["initial 0", "1: -[] +[0] *[]", "1: -[] +[] *[0]", "title"]
            || told == ["initial 0", "1: -[] +[0] *[]", "title", "1: -[] +[] *[0]"],
        "\(told)")
    token.invalidate()
    names.invalidate()
}
