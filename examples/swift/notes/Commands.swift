import Foundation
import RealmSwift

/// One call of the program: opens the file, does one thing, ends.
struct Commands {
    let realm: Realm

    /// The notes in the order in which they are shown: what is to be done first.
    var notes: Results<Note> {
        realm.objects(Note.self).sorted(by: [
            SortDescriptor(keyPath: \Note.isDone), SortDescriptor(keyPath: \Note.priority, ascending: false),
            SortDescriptor(keyPath: \Note.made),
        ])
    }

    func add(_ words: [String]) throws {
        let note = Note()
        note.text = words.filter { !$0.hasPrefix("+") && $0 != "!" }.joined(separator: " ")
        note.tags.insert(objectsIn: words.filter { $0.hasPrefix("+") }.map { String($0.dropFirst()) })
        note.priority = words.contains("!") ? .high : .normal
        note.made = Date()
        guard !note.text.isEmpty else { throw Problem("a note needs a text") }
        try realm.write {
            let inbox = realm.create(Notebook.self, value: ["name": "inbox"], update: .modified)
            inbox.notes.append(note)
        }
    }

    func finish(_ part: String) throws {
        let found = notes.where { $0.text.contains(part, options: .caseInsensitive) && $0.isDone == false }
        guard let note = found.first else { throw Problem("no open note with '\(part)'") }
        try realm.write { note.isDone = true }
    }

    /// Deletes what is done.
    func clean() throws {
        try realm.write { realm.delete(realm.objects(Note.self).where { $0.isDone }) }
    }

    func list(tag: String?) {
        show(tag.map { tag in notes.where { $0.tags.contains(tag) } } ?? notes)
    }
}

struct Problem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The list, a line for each note.
func show(_ notes: Results<Note>) {
    for note in notes {
        let tags = note.tags.sorted().reduce("") { $0 + " +" + $1 }
        print("[\(note.isDone ? "x" : " ")]\(note.priority.mark)\(note.text)\(tags)")
    }
    print("-- \(notes.where { $0.isDone == false }.count) open of \(notes.count)")
    fflush(nil)
}
