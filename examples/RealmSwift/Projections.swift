import Foundation
import RealmSwift

class BookCard: Projection<Book> {
    @Projected(\Book.title) var headline
    @Projected(\Book.author?.name) var writtenBy
    @Projected(\Book.isLong) var isLong
}

/// What a part of a program needs to see, under names of its own.
func projections(_ folder: URL) throws {
    let realm = try open(folder, Book.self, Author.self)
    try realm.write { realm.create(Book.self, value: ["title": "Tides", "pages": 600, "author": ["name": "Mira"]]) }
    let cards = realm.objects(BookCard.self)
    guard let card = cards.first else { return expect(false, "there is one") }
    expect(card.headline == "Tides" && card.writtenBy == "Mira" && card.isLong, "reads through to the object")
    try realm.write { card.headline = "High Tides" }
    expect(
        realm.objects(Book.self).first?.title == "High Tides" && cards.filter("pages > 500").count == 1, "and writes")
}
