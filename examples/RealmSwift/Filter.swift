import Foundation
import RealmSwift

/// Conditions as texts, with arguments; results are live.
func filter(_ folder: URL) throws {
    let realm = try open(folder, Book.self, Author.self)
    try realm.write {
        for (i, title) in ["Apples", "Bees", "Birds", "Boats"].enumerated() {
            realm.create(
                Book.self, value: ["title": title, "pages": 100 * i, "author": ["name": "A\(i % 2)"]], update: .modified
            )
        }
    }
    let books = realm.objects(Book.self)
    let b = books.filter("title BEGINSWITH %@ AND pages >= %@", "B", 200)
    expect(b.map(\.title) == ["Birds", "Boats"], "arguments stand for %@")
    expect(books.filter("author.name == 'A1' OR pages IN %@", [0]).count == 3, "along links, and in arrays")
    expect(
        books.filter("pages BETWEEN {100, 200}").count == 2 && books.filter("title CONTAINS[c] 'b'").count == 3,
        "operators of formats")
    expect(books.filter(NSPredicate(format: "%K == %@", "title", "Bees")).count == 1, "predicates with a format")
    expect(
        books.sorted(byKeyPath: "pages", ascending: false).first?.title == "Boats"
            && books.distinct(by: ["author.name"]).count == 2, "in order")
    try realm.write { realm.create(Book.self, value: ["title": "Bats", "pages": 900]) }
    expect(b.count == 3, "results follow the data")
}
