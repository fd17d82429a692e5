/// The difference between two lists of rows: inserted, deleted and moved rows. Rules: live-objects §6.7.
struct RowDifference {
    private(set) var result = ChangeBuilder()

    /// Consecutive rows that are adjacent in both lists, handled as one.
    struct Run {
        /// Index of the first row in the old list; `new` is its index in the new list.
        let old: Int
        let new: Int
        let count: Int

        /// Number of modified rows among them.
        let modified: Int
    }

    /// In the order of the old list.
    private var runs: [Run] = []

    /// `firstPlace`, by run: its first place in the new order. `nextPlace`, by place: the next place of the same
    /// object, −1 after the last. Only an object that occurs several times in a list has more than one place.
    private var firstPlace: [Int] = []
    private var nextPlace: [Int] = []

    /// Steps of the comparison so far: runs and places visited.
    private(set) var steps = 0

    /// After this many steps the rest is reported as deleted and inserted again.
    private let mostSteps: Int

    /// - Parameters:
    ///   - isGone: whether the object that had a key in the old list was deleted; another object may have the key now.
    ///   - isInTableOrder: rows never change places with each other.
    init(
        _ before: [ObjKey], _ after: [ObjKey], isGone: (ObjKey) -> Bool, isChanged: (ObjKey) -> Bool,
        isInTableOrder: Bool, mostSteps: Int = 1 << 26
    ) {
        self.mostSteps = mostSteps
        var waiting: [ObjKey: [Int]] = [:]
        for i in before.indices.reversed() where !isGone(before[i]) { waiting[before[i], default: []].append(i) }
        let hasRepeated = waiting.values.contains { $0.count > 1 }
        var inserted: [Int] = [], modified: [Int] = [], pairs: [Run] = []
        var isPaired = [Bool](repeating: false, count: before.count)
        for (index, key) in after.enumerated() {
            if let old = waiting[key]?.popLast() {
                isPaired[old] = true
                let isModified = isChanged(key)
                pairs.append(Run(old: old, new: index, count: 1, modified: isModified ? 1 : 0))
                if isModified { modified.append(index) }
            } else {
                inserted.append(index)
            }
        }
        result.deletions = IndexSet(ascending: before.indices.filter { !isPaired[$0] })
        result.insertions = IndexSet(ascending: inserted)
        result.modifications = IndexSet(ascending: modified)
        if !isInTableOrder { tellMoves(pairs, hasRepeated ? after : []) }
    }

    /// - Parameters:
    ///   - builder: rows that are in only one of the lists, and modified rows.
    ///   - runs: rows that are in both lists.
    init(_ builder: ChangeBuilder, _ runs: [Run], mostSteps: Int = 1 << 26) {
        self.mostSteps = mostSteps
        result = builder
        tellMoves(runs, [])
    }

    /// Reports rows that changed places as deleted and inserted. The longest stretches stay in place, so that few rows
    /// are reported.
    /// - Parameter rows: the new list, when an object occurs in it several times; otherwise empty.
    private mutating func tellMoves(_ all: [Run], _ rows: [ObjKey]) {
        runs = all.sorted { $0.old < $1.old }
        let inNewOrder = runs.indices.sorted { runs[$0].new < runs[$1].new }
        guard let first = inNewOrder.indices.first(where: { inNewOrder[$0] != $0 }) else { return }
        firstPlace = [Int](repeating: 0, count: runs.count)
        nextPlace = [Int](repeating: -1, count: runs.count)
        for (place, run) in inNewOrder.enumerated() { firstPlace[run] = place }
        if !rows.isEmpty {
            var places: [ObjKey: Int] = [:]
            for (place, run) in inNewOrder.enumerated().reversed() {
                nextPlace[place] = places[rows[runs[run].new]] ?? -1
                places[rows[runs[run].new]] = place
            }
            for run in runs.indices { firstPlace[run] = places[rows[runs[run].new]] ?? firstPlace[run] }
        }
        var staysOld = [Bool](repeating: false, count: runs.count), staysNew = staysOld
        for i in 0..<first { (staysOld[i], staysNew[i]) = (true, true) }
        match(first..<runs.count, first..<runs.count, &staysOld, &staysNew)
        let gone = runs.indices.filter { !staysOld[$0] }.map { runs[$0].old..<runs[$0].old + runs[$0].count }
        let come = inNewOrder.indices.filter { !staysNew[$0] }.map { runs[inNewOrder[$0]] }.map {
            $0.new..<$0.new + $0.count
        }
        result.deletions = result.deletions.union(IndexSet(gone))
        result.insertions = result.insertions.union(IndexSet(come))
    }

    /// Runs that follow each other in both lists. `runs` is their number, `place` the place of the last one in the new
    /// order.
    private struct Stretch {
        var place = 0
        var runs = 0
        var rows = 0
        var modified = 0
    }

    /// Keeps the longest stretch that both parts share, then repeats this left and right of it.
    private mutating func match(
        _ old: Range<Int>, _ new: Range<Int>, _ staysOld: inout [Bool], _ staysNew: inout [Bool]
    ) {
        var open = [(old, new)]
        // Stretches that end at the previous run and at this one, ordered by their places.
        var before: [Stretch] = [], ending: [Stretch] = []
        while let (oldPart, newPart) = open.popLast() {
            guard !oldPart.isEmpty, !newPart.isEmpty else { continue }
            var best = Stretch(), bestEnd = 0
            before.removeAll(keepingCapacity: true)
            // A stretch found before the last allowed step is valid, even if a longer one exists.
            matching: for run in oldPart {
                guard steps < mostSteps else { break }
                steps += 1
                ending.removeAll(keepingCapacity: true)
                var place = firstPlace[run], next = 0
                while place >= 0, place < newPart.upperBound {
                    guard steps < mostSteps else { break matching }
                    steps += 1
                    if place >= newPart.lowerBound {
                        while next < before.count, before[next].place < place - 1 {
                            steps += 1
                            next += 1
                        }
                        var stretch = next < before.count && before[next].place == place - 1 ? before[next] : Stretch()
                        stretch.place = place
                        stretch.runs += 1
                        stretch.rows += runs[run].count
                        stretch.modified += runs[run].modified
                        ending.append(stretch)
                        if stretch.rows > best.rows || (stretch.rows == best.rows && stretch.modified < best.modified) {
                            (best, bestEnd) = (stretch, run + 1)
                        }
                    }
                    place = nextPlace[place]
                }
                swap(&before, &ending)
            }
            guard best.rows > 0 else { continue }
            let start = bestEnd - best.runs, place = best.place + 1 - best.runs
            for i in 0..<best.runs { (staysOld[start + i], staysNew[place + i]) = (true, true) }
            open.append((bestEnd..<oldPart.upperBound, place + best.runs..<newPart.upperBound))
            open.append((oldPart.lowerBound..<start, newPart.lowerBound..<place))
        }
    }
}
