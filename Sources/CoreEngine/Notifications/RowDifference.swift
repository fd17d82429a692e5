/// From one list of rows to the next: what came, went or changed its place. Rules: live-objects §6.7.
struct RowDifference {
    private(set) var result = ChangeBuilder()
    /// Of the rows in both lists: their number in the old order, in the order of the new one; and whether they were modified.
    private var old: [Int] = []
    private var new: [Int] = []
    private var isModified: [Bool] = []
    /// Where the row with a number stands in `new`.
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
        var inserted: [Int] = [], modified: [Int] = [], pairs: [(old: Int, new: Int)] = []
        for (i, key) in after.enumerated() {
            if let o = waiting[key]?.popLast() {
                pairs.append((o, i))
                if isChanged(key) { modified.append(i) }
            } else {
                inserted.append(i)
            }
        }
        var isPaired = [Bool](repeating: false, count: before.count)
        for p in pairs { isPaired[p.old] = true }
        result.deletions = IndexSet(ascending: before.indices.filter { !isPaired[$0] })
        result.insertions = IndexSet(ascending: inserted)
        result.modifications = IndexSet(ascending: modified)
        guard !isInTableOrder else { return }
        // Rows by their number in the old order.
        let inOldOrder = pairs.indices.sorted { pairs[$0].old < pairs[$1].old }
        var number = [Int](repeating: 0, count: pairs.count)
        for (n, p) in inOldOrder.enumerated() { number[p] = n }
        guard let first = number.indices.first(where: { number[$0] != $0 }) else { return }
        old = inOldOrder.map { pairs[$0].old }
        new = pairs.map(\.new)
        placeInNew = inOldOrder
        isModified = inOldOrder.map { result.modifications.contains(pairs[$0].new) }
        var staysOld = [Bool](repeating: false, count: old.count), staysNew = staysOld
        for i in 0..<first { (staysOld[i], staysNew[i]) = (true, true) }
        match(first..<old.count, first..<new.count, &staysOld, &staysNew)
        for i in old.indices where !staysOld[i] { result.deletions.add(old[i]) }
        for i in new.indices where !staysNew[i] { result.insertions.add(new[i]) }
    }

    /// Keeps the longest run that both parts have, then those left and right of it.
    private mutating func match(_ a: Range<Int>, _ b: Range<Int>, _ staysOld: inout [Bool], _ staysNew: inout [Bool]) {
        var open = [(a, b)]
        while let (a, b) = open.popLast() {
            guard !a.isEmpty, !b.isEmpty, budget > 0 else { continue }
            budget -= a.count
            var best = (start: 0, place: 0, length: 0, modified: 0)
            var start = a.lowerBound, length = 0
            func end(_ run: Int, _ length: Int) {
                guard length > 0, length >= best.length else { return }
                let modified = isModified[run..<run + length].reduce(0) { $0 + ($1 ? 1 : 0) }
                if length > best.length || modified < best.modified { best = (run, placeInNew[run], length, modified) }
            }
            for i in a {
                let place = placeInNew[i]
                if length > 0, b.contains(place), place == placeInNew[i - 1] + 1 {
                    length += 1
                } else {
                    end(start, length)
                    (start, length) = (i, b.contains(place) ? 1 : 0)
                }
            }
            end(start, length)
            guard best.length > 0 else { continue }
            for i in 0..<best.length { (staysOld[best.start + i], staysNew[best.place + i]) = (true, true) }
            open.append((best.start + best.length..<a.upperBound, best.place + best.length..<b.upperBound))
            open.append((a.lowerBound..<best.start, b.lowerBound..<best.place))
        }
    }
}
