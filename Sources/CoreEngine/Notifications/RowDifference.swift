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
    /// Where a run stands in the new order.
    private var placeInNew: [Int] = []
    /// Steps of comparison that are left before the rest is told as deleted and inserted again.
    private var budget = 1 << 26

    /// - Parameters:
    ///   - isGone: whether the object with a key of the old list was deleted meanwhile; another one may have its key now.
    ///   - isInTableOrder: no row ever changes places with another.
    init(
        _ before: [ObjKey], _ after: [ObjKey], isGone: (ObjKey) -> Bool, isChanged: (ObjKey) -> Bool, isInTableOrder: Bool
    ) {
        var waiting: [ObjKey: [Int]] = [:]
        for i in before.indices.reversed() where !isGone(before[i]) { waiting[before[i], default: []].append(i) }
        var inserted: [Int] = [], modified: [Int] = [], pairs: [Run] = []
        var isPaired = [Bool](repeating: false, count: before.count)
        for (i, key) in after.enumerated() {
            if let o = waiting[key]?.popLast() {
                isPaired[o] = true
                let isModified = isChanged(key)
                pairs.append(Run(old: o, new: i, count: 1, modified: isModified ? 1 : 0))
                if isModified { modified.append(i) }
            } else {
                inserted.append(i)
            }
        }
        result.deletions = IndexSet(ascending: before.indices.filter { !isPaired[$0] })
        result.insertions = IndexSet(ascending: inserted)
        result.modifications = IndexSet(ascending: modified)
        if !isInTableOrder { tellMoves(pairs) }
    }
    /// - Parameters:
    ///   - builder: rows that are in one of the lists only, and modified ones.
    ///   - runs: those that are in both.
    init(_ builder: ChangeBuilder, _ runs: [Run]) {
        result = builder
        tellMoves(runs)
    }

    /// Rows that changed places are deleted and inserted; as few as keep the longest stretches in place.
    private mutating func tellMoves(_ all: [Run]) {
        runs = all.sorted { $0.old < $1.old }
        let inNewOrder = runs.indices.sorted { runs[$0].new < runs[$1].new }
        guard let first = inNewOrder.indices.first(where: { inNewOrder[$0] != $0 }) else { return }
        placeInNew = [Int](repeating: 0, count: runs.count)
        for (place, run) in inNewOrder.enumerated() { placeInNew[run] = place }
        var stays = [Bool](repeating: false, count: runs.count)
        for i in 0..<first { stays[i] = true }
        match(first..<runs.count, first..<runs.count, &stays)
        result.deletions = result.deletions.union(IndexSet(runs.indices.filter { !stays[$0] }.map { runs[$0].old..<runs[$0].old + runs[$0].count }))
        result.insertions = result.insertions.union(IndexSet(inNewOrder.filter { !stays[$0] }.map { runs[$0].new..<runs[$0].new + runs[$0].count }))
    }
    /// Keeps the longest stretch that both parts have, then those left and right of it.
    private mutating func match(_ a: Range<Int>, _ b: Range<Int>, _ stays: inout [Bool]) {
        var open = [(a, b)]
        while let (a, b) = open.popLast() {
            guard !a.isEmpty, !b.isEmpty, budget > 0 else { continue }
            budget -= a.count
            var best = (start: 0, end: 0, rows: 0, modified: 0)
            var stretch = best
            func finish() {
                guard stretch.rows > 0, stretch.rows >= best.rows else { return }
                if stretch.rows > best.rows || stretch.modified < best.modified { best = stretch }
            }
            for i in a {
                guard b.contains(placeInNew[i]) else {
                    finish()
                    stretch = (i + 1, i + 1, 0, 0)
                    continue
                }
                if stretch.rows == 0 || placeInNew[i] != placeInNew[i - 1] + 1 {
                    finish()
                    stretch = (i, i, 0, 0)
                }
                stretch = (stretch.start, i + 1, stretch.rows + runs[i].count, stretch.modified + runs[i].modified)
            }
            finish()
            guard best.rows > 0 else { continue }
            for i in best.start..<best.end { stays[i] = true }
            let place = placeInNew[best.start]
            open.append((best.end..<a.upperBound, place + (best.end - best.start)..<b.upperBound))
            open.append((a.lowerBound..<best.start, b.lowerBound..<place))
        }
    }
}
