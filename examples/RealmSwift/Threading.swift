import Foundation
import RealmSwift

/// Live objects stay where their Realm lives; frozen ones, references and detached copies go anywhere.
func threading(_ folder: URL) throws {
    let realm = try open(folder, Book.self, Author.self)
    let book = Book("Tides", pages: 300)
    try realm.write { realm.add(book) }
    let configuration = realm.configuration, reference = ThreadSafeReference(to: book)
    let queue = DispatchQueue(label: "worker")
    let title: String = try queue.sync {
        // A Realm for this queue.
        let realm = try Realm(configuration: configuration, queue: queue)
        guard let here = realm.resolve(reference) else { return "" }
        try realm.write { here.pages = 301 }
        return here.title
    }
    realm.refresh()
    expect(title == "Tides" && book.pages == 301, "what one queue writes the others see")

    let frozen = book.freeze()
    try realm.write { book.pages = 302 }
    expect(frozen.pages == 301 && frozen.isFrozen && frozen.thaw()?.pages == 302, "frozen objects show one version")
    let copy = book.detach()  // here only
    try realm.write { realm.delete(book) }
    expect(copy.title == "Tides", "copies belong to the program")
}
