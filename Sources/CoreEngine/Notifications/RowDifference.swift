/// From one list of rows to the next: what came, went or changed its place. Rules: live-objects §6.7.
struct RowDifference {
    private(set) var result = ChangeBuilder()

    /// Rows that are in both lists, side by side in each of them, as one.
    struct Run {
        /// Index of the first in the old list, and in the new one.
        let old: Int
        let new: Int
        let count: Int

        /// Number of those that were modified.
        let modified: Int
    }

    /// In the old order.
    private var runs: [Run] = []

    /// By run: the first place in the new order at which the same stands; and by place: the next one, −1 after the
    /// last. Only an object that is several rows of a list stands at more than one.
    private var firstPlace: [Int] = []
    private var nextPlace: [Int] = []

    /// Steps of comparison so far: runs and places that were looked at.
    private(set) var steps = 0

    /// After so many the rest is told as deleted and inserted again.
    private let mostSteps: Int

    /// - Parameters:
    ///   - isGone: whether the object with a key of the old list was deleted meanwhile; another one may have its key
    ///     now.
    ///   - isInTableOrder: no row ever changes places with another.
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
    ///   - builder: rows that are in one of the lists only, and modified ones.
    ///   - runs: those that are in both.
    init(_ builder: ChangeBuilder, _ runs: [Run], mostSteps: Int = 1 << 26) {
        self.mostSteps = mostSteps
        result = builder
        tellMoves(runs, [])
    }

    /// Rows that changed places are deleted and inserted; as few as keep the longest stretches in place.
    /// - Parameter rows: the new list, when some object is several rows.
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

    /// What ends at a run and a place and is the same before and after.
    private struct Stretch {
        var place = 0
        var runs = 0
        var rows = 0
        var modified = 0
    }

    /// Keeps the longest stretch that both parts have, then those left and right of it.
    private mutating func match(
        _ old: Range<Int>, _ new: Range<Int>, _ staysOld: inout [Bool], _ staysNew: inout [Bool]
    ) {
        var open = [(old, new)]
        // Those that end at the run before, and at this one, in the order of their places.
        var before: [Stretch] = [], ending: [Stretch] = []
        while let (oldPart, newPart) = open.popLast() {
            guard !oldPart.isEmpty, !newPart.isEmpty else { continue }
            var best = Stretch(), bestEnd = 0
            before.removeAll(keepingCapacity: true)
            // What was found by the last step is the same before and after, be there a longer one or not.
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
