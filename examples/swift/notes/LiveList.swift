import Foundation
import RealmSwift

/// The list in the terminal, which shows what other processes write as they write it.
///
/// The Realm lives on the main queue: that is where changes arrive while the run loop turns.
final class LiveList {
    private let notes: Results<Note>
    private var token: NotificationToken?

    /// Ends the run loop.
    private(set) var isOver = false

    /// - Parameter limit: after so many changes the list ends; nil: never.
    init(_ notes: Results<Note>, until limit: Int?) {
        self.notes = notes
        var seen = 0
        token = notes.observe { [weak self] change in
            switch change {
            case .initial(let notes): show(notes)
            case .update(let notes, let deletions, let insertions, let modifications):
                print("-- changed: \(insertions.count) new, \(modifications.count) modified, \(deletions.count) gone")
                show(notes)
                seen += 1
                if let limit, seen >= limit { self?.isOver = true }
            case .error(let error): print("\(error)")
            }
        }
    }

    func run() {
        while !isOver { RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05)) }
        token?.invalidate()
    }
}
