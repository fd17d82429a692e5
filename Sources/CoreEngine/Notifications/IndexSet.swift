/// Indices of a collection: ascending half-open ranges that do not touch. Rules: live-objects §6.4.
package struct IndexSet: Equatable {
    package private(set) var ranges: [Range<Int>] = []

    package init() {}

    init(_ ranges: [Range<Int>]) { for r in ranges where !r.isEmpty { append(r) } }

    /// - Parameter indices: ascending.
    init(ascending indices: [Int]) { for i in indices { append(i..<i + 1) } }

    package var isEmpty: Bool { ranges.isEmpty }
    package var count: Int { ranges.reduce(0) { $0 + $1.count } }

    /// The indices, ascending.
    package var indices: [Int] { ranges.flatMap { Array($0) } }

    /// Place of the first range that ends behind `i`.
    private func place(_ i: Int) -> Int { ranges.place { $0.upperBound <= i } }

    package func contains(_ i: Int) -> Bool {
        let p = place(i)
        return p < ranges.count && ranges[p].lowerBound <= i
    }

    /// Number of members below `i`.
    func countBelow(_ i: Int) -> Int {
        var n = 0
        for r in ranges {
            if r.lowerBound >= i { break }
            n += min(r.upperBound, i) - r.lowerBound
        }
        return n
    }

    /// A range at or behind the end of all.
    private mutating func append(_ r: Range<Int>) {
        if let last = ranges.last, last.upperBound >= r.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, r.upperBound)
        } else {
            ranges.append(r)
        }
    }

    // MARK: Without shifting

    mutating func add(_ i: Int) {
        if let last = ranges.last, i < last.upperBound {
            let p = place(i)
            if ranges[p].lowerBound <= i { return }
            let joinsBefore = p > 0 && ranges[p - 1].upperBound == i, joinsAfter = ranges[p].lowerBound == i + 1
            switch (joinsBefore, joinsAfter) {
            case (true, true):
                ranges[p - 1] = ranges[p - 1].lowerBound..<ranges[p].upperBound
                ranges.remove(at: p)
            case (true, false): ranges[p - 1] = ranges[p - 1].lowerBound..<i + 1
            case (false, true): ranges[p] = i..<ranges[p].upperBound
            case (false, false): ranges.insert(i..<i + 1, at: p)
            }
        } else {
            append(i..<i + 1)
        }
    }

    mutating func remove(_ i: Int) {
        let p = place(i)
        guard p < ranges.count, ranges[p].lowerBound <= i else { return }
        let r = ranges[p]
        let parts = [r.lowerBound..<i, i + 1..<r.upperBound].filter { !$0.isEmpty }
        ranges.replaceSubrange(p...p, with: parts)
    }

    func union(_ other: IndexSet) -> IndexSet {
        var all = IndexSet()
        var a = ranges[...], b = other.ranges[...]
        while let x = a.first ?? b.first {
            if let y = b.first, a.isEmpty || y.lowerBound < x.lowerBound {
                all.append(y)
                b.removeFirst()
            } else {
                all.append(x)
                a.removeFirst()
            }
        }
        return all
    }

    func subtracting(_ other: IndexSet) -> IndexSet {
        var left = IndexSet()
        var from = other.ranges[...]
        for r in ranges {
            var low = r.lowerBound
            while let o = from.first, o.lowerBound < r.upperBound {
                if o.lowerBound > low { left.append(low..<o.lowerBound) }
                low = max(low, o.upperBound)
                if o.upperBound > r.upperBound { break }
                from.removeFirst()
            }
            if low < r.upperBound { left.append(low..<r.upperBound) }
        }
        return left
    }

    /// The members below `limit`.
    func below(_ limit: Int) -> IndexSet {
        IndexSet(ranges.map { min($0.lowerBound, limit)..<min($0.upperBound, limit) })
    }

    /// Indices that are no members, by their place among those.
    func gaps(_ places: Range<Int>) -> IndexSet {
        var found = IndexSet()
        var start = 0, before = 0
        for r in ranges + [Int.max..<Int.max] where before < places.upperBound {
            let next = before + (r.lowerBound - start)
            let part = places.clamped(to: before..<next)
            if !part.isEmpty { found.append(start + part.lowerBound - before..<start + part.upperBound - before) }
            (start, before) = (r.upperBound, next)
        }
        return found
    }

    // MARK: Elements come and go

    /// `n` elements come before index `i`; they are members, or not.
    private mutating func makeRoom(_ i: Int, _ n: Int, asMembers: Bool) {
        var p = place(i)
        if p < ranges.count, ranges[p].lowerBound < i {
            let r = ranges[p]
            ranges[p] = r.lowerBound..<i
            ranges.insert(i..<r.upperBound, at: p + 1)
            p += 1
        }
        for q in p..<ranges.count { ranges[q] = ranges[q].lowerBound + n..<ranges[q].upperBound + n }
        guard asMembers else { return join(at: p) }
        ranges.insert(i..<i + n, at: p)
        join(at: p + 1)
        join(at: p)
    }

    /// Joins the range at place `p` with the one before when they touch.
    private mutating func join(at p: Int) {
        guard p > 0, p < ranges.count, ranges[p - 1].upperBound == ranges[p].lowerBound else { return }
        ranges[p - 1] = ranges[p - 1].lowerBound..<ranges[p].upperBound
        ranges.remove(at: p)
    }

    mutating func insert(at i: Int, count n: Int = 1) { makeRoom(i, n, asMembers: true) }

    mutating func shiftForInsert(at i: Int, count n: Int = 1) { makeRoom(i, n, asMembers: false) }

    /// - Parameter places: final indices of the new elements.
    mutating func insert(at places: IndexSet) { for r in places.ranges { insert(at: r.lowerBound, count: r.count) } }

    mutating func shiftForInsert(at places: IndexSet) {
        for r in places.ranges { shiftForInsert(at: r.lowerBound, count: r.count) }
    }

    mutating func erase(at i: Int, count n: Int = 1) {
        var kept = IndexSet()
        let p = place(i)
        if p == ranges.count { return }
        kept.ranges = Array(ranges[..<p])
        for r in ranges[p...] {
            for part in [r.clamped(to: Int.min..<i), r.clamped(to: i + n..<Int.max)] where !part.isEmpty {
                kept.append(part.lowerBound >= i + n ? part.lowerBound - n..<part.upperBound - n : part)
            }
        }
        self = kept
    }

    /// - Parameter places: indices before anything is erased.
    mutating func erase(at places: IndexSet) {
        if places.isEmpty || isEmpty { return }
        var kept = IndexSet()
        var gone = places.ranges[...]
        var shift = 0
        for r in subtracting(places).ranges {
            while let g = gone.first, g.lowerBound <= r.lowerBound {
                shift += g.count
                gone.removeFirst()
            }
            kept.append(r.lowerBound - shift..<r.upperBound - shift)
        }
        self = kept
    }

    // MARK: Between a collection and the same one without the members

    /// The index that an element has among all, from the one it has among those that are no members.
    func shift(_ i: Int) -> Int {
        var i = i
        for r in ranges {
            if r.lowerBound > i { break }
            i += r.count
        }
        return i
    }

    /// The opposite, for what is no member.
    func unshift(_ i: Int) -> Int { i - countBelow(i) }

    mutating func addShifted(_ i: Int) -> Int {
        let i = shift(i)
        add(i)
        return i
    }

    /// Adds those of `values` that are not in `inserted`, which index a collection without the members and with what
    /// was inserted.
    mutating func addShifted(by inserted: IndexSet, _ values: IndexSet) {
        var all = self
        for v in values.subtracting(inserted).indices { all.add(shift(inserted.unshift(v))) }
        self = all
    }

    /// Takes the element at `i` out: nil when it was a member, else its index among those that are none.
    mutating func eraseOrUnshift(_ i: Int) -> Int? {
        let found = contains(i) ? nil : unshift(i)
        erase(at: i)
        return found
    }
}
