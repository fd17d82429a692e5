// A writer or an observer of run.py, which describes them.
//
//     live writer FILE JOURNAL SEED
//     live observer FILE REPORT
import CoreEngine
import Glibc

let longestList = 6000, keptList = 4000

func broken(_ text: String) -> Never {
    print("BROKEN Swift: \(text)")
    fflush(nil)
    exit(1)
}

func now() -> Int64 {
    var t = timespec()
    clock_gettime(CLOCK_MONOTONIC, &t)
    return Int64(t.tv_sec) * 1_000_000_000 + Int64(t.tv_nsec)
}

func integer(_ value: RealmValue) -> Int64 {
    guard case .int(let n) = value else { broken("\(value) is no integer") }
    return n
}

struct Board {
    let realm: Realm
    let numbers, times: RealmList

    init(_ path: String) throws {
        realm = try Realm(RealmConfiguration(path: path))
        guard let board = try realm.object("Board", primaryKey: 0) else { broken("no board") }
        numbers = try board.list("numbers")
        times = try board.list("times")
    }

    func writeOn(_ journalPath: String, _ seed: UInt32) throws -> Never {
        var seed = seed
        let journal = open(journalPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        while true {
            var number: Int64 = 1
            try realm.write {
                if let last = numbers.last { number = integer(last) + 1 }
                if numbers.count >= longestList {
                    for _ in keptList..<longestList {
                        try numbers.remove(at: 0)
                        try times.remove(at: 0)
                    }
                }
                try numbers.append(.int(number))
                try times.append(.int(now()))
            }
            if Glibc.write(journal, &number, 8) != 8 { broken("journal") }
            if rand_r(&seed) % 4 != 0 { usleep(UInt32(rand_r(&seed) % 20000)) }
        }
    }
}

/// The observer's state: the list, as built from the change sets, and its report.
final class Observer {
    let board: Board
    let file: Int32
    var copy: [Int64] = []
    var last: Int64 = 0, commits: Int64 = 0, callbacks: Int64 = 0, longest: Int64 = 0, missed: Int64 = 0
    var observation: Observation?

    init(_ board: Board, _ reportPath: String) throws {
        self.board = board
        file = open(reportPath, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        observation = try board.numbers.observe { [unowned self] in told($0) }
        copy = try board.numbers.values().map(integer)
        last = copy.last ?? 0
    }

    func told(_ change: CollectionChangeSet) {
        let arrived = now(), numbers = board.numbers
        guard change.modifications.isEmpty, change.moves.isEmpty, !change.isCleared, !change.isDeleted else {
            broken("not an insertion: \(change)")
        }
        for i in change.deletions.reversed() { copy.remove(at: i) }
        for i in change.insertions {
            if i != copy.count { broken("inserted at \(i) of \(copy.count)") }
            copy.append(integer(numbers[i]))
        }
        if copy.count != numbers.count || (!copy.isEmpty && copy[0] != integer(numbers[0])) {
            broken("\(copy.count) elements followed, \(numbers.count) are there")
        }
        for i in change.insertions {
            if copy[i] != last + 1 {
                // Only numbers that were removed from the list before a notification may be missing.
                if copy[i] <= last || copy[0] <= last + 1 { broken("commit \(copy[i]) told after \(last)") }
                missed += copy[i] - last - 1
            }
            last = copy[i]
            commits += 1
            longest = max(longest, arrived - integer(board.times[i]))
        }
        callbacks += 1
        let report = [last, commits, callbacks, longest, missed]
        if pwrite(file, report, report.count * 8, 0) != report.count * 8 { broken("report") }
    }
}

let arguments = CommandLine.arguments
do {
    let board = try Board(arguments[2])
    if arguments[1] == "writer" { try board.writeOn(arguments[3], UInt32(arguments[4]) ?? 1) }
    let observer = try Observer(board, arguments[3])
    while true {
        _ = ThreadScheduler.current.runPending(timeout: -1)
        withExtendedLifetime(observer) {}
    }
} catch {
    broken("\(error)")
}
