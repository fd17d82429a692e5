/// A set of indices of a collection: ascending half-open ranges that do not touch. Rules: live-objects §6.4.
package struct IndexSet: Equatable {
    package private(set) var ranges: [Range<Int>] = []

    package init() {}

    init(_ ranges: [Range<Int>]) { for range in ranges where !range.isEmpty { append(range) } }

    /// - Parameter indices: ascending.
    init(ascending indices: [Int]) { for index in indices { append(index..<index + 1) } }

    package var isEmpty: Bool { ranges.isEmpty }
    package var count: Int { ranges.reduce(0) { $0 + $1.count } }

    /// The indices, ascending.
    package var indices: [Int] { ranges.flatMap { Array($0) } }

    /// Position of the first range that ends after `index`.
    private func place(_ index: Int) -> Int { ranges.place { $0.upperBound <= index } }

    package func contains(_ index: Int) -> Bool {
        let rangeIndex = place(index)
        return rangeIndex < ranges.count && ranges[rangeIndex].lowerBound <= index
    }

    /// Number of members below `index`.
    func countBelow(_ index: Int) -> Int {
        var below = 0
        for range in ranges {
            if range.lowerBound >= index { break }
            below += min(range.upperBound, index) - range.lowerBound
        }
        return below
    }

    /// Adds a range that begins at or after the start of the last one.
    private mutating func append(_ range: Range<Int>) {
        if let last = ranges.last, last.upperBound >= range.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
        } else {
            ranges.append(range)
        }
    }

    // MARK: Operations without shifting

    mutating func add(_ index: Int) {
        if let last = ranges.last, index < last.upperBound {
            let rangeIndex = place(index)
            if ranges[rangeIndex].lowerBound <= index { return }
            let joinsBefore = rangeIndex > 0 && ranges[rangeIndex - 1].upperBound == index,
                joinsAfter = ranges[rangeIndex].lowerBound == index + 1
            switch (joinsBefore, joinsAfter) {
            case (true, true):
                ranges[rangeIndex - 1] = ranges[rangeIndex - 1].lowerBound..<ranges[rangeIndex].upperBound
                ranges.remove(at: rangeIndex)
            case (true, false): ranges[rangeIndex - 1] = ranges[rangeIndex - 1].lowerBound..<index + 1
            case (false, true): ranges[rangeIndex] = index..<ranges[rangeIndex].upperBound
            case (false, false): ranges.insert(index..<index + 1, at: rangeIndex)
            }
        } else {
            append(index..<index + 1)
        }
    }

    mutating func remove(_ index: Int) {
        let rangeIndex = place(index)
        guard rangeIndex < ranges.count, ranges[rangeIndex].lowerBound <= index else { return }
        let range = ranges[rangeIndex]
        let parts = [range.lowerBound..<index, index + 1..<range.upperBound].filter { !$0.isEmpty }
        ranges.replaceSubrange(rangeIndex...rangeIndex, with: parts)
    }

    func union(_ other: IndexSet) -> IndexSet {
        var all = IndexSet()
        var left = ranges[...], right = other.ranges[...]
        while let next = left.first ?? right.first {
            if let otherNext = right.first, left.isEmpty || otherNext.lowerBound < next.lowerBound {
                all.append(otherNext)
                right.removeFirst()
            } else {
                all.append(next)
                left.removeFirst()
            }
        }
        return all
    }

    func subtracting(_ other: IndexSet) -> IndexSet {
        var left = IndexSet()
        var from = other.ranges[...]
        for range in ranges {
            var low = range.lowerBound
            while let removed = from.first, removed.lowerBound < range.upperBound {
                if removed.lowerBound > low { left.append(low..<removed.lowerBound) }
                low = max(low, removed.upperBound)
                if removed.upperBound > range.upperBound { break }
                from.removeFirst()
            }
            if low < range.upperBound { left.append(low..<range.upperBound) }
        }
        return left
    }

    /// The members below `limit`.
    func below(_ limit: Int) -> IndexSet {
        IndexSet(ranges.map { min($0.lowerBound, limit)..<min($0.upperBound, limit) })
    }

    /// Indices that are not members, selected by their positions among all non-members.
    func gaps(_ places: Range<Int>) -> IndexSet {
        var found = IndexSet()
        var start = 0, before = 0
        for range in ranges + [Int.max..<Int.max] where before < places.upperBound {
            let next = before + (range.lowerBound - start)
            let part = places.clamped(to: before..<next)
            if !part.isEmpty { found.append(start + part.lowerBound - before..<start + part.upperBound - before) }
            (start, before) = (range.upperBound, next)
        }
        return found
    }

    // MARK: Insertion and removal of elements

    /// Inserts `count` elements before `index`, as members or as non-members.
    private mutating func makeRoom(_ index: Int, _ count: Int, asMembers: Bool) {
        var rangeIndex = place(index)
        if rangeIndex < ranges.count, ranges[rangeIndex].lowerBound < index {
            let range = ranges[rangeIndex]
            ranges[rangeIndex] = range.lowerBound..<index
            ranges.insert(index..<range.upperBound, at: rangeIndex + 1)
            rangeIndex += 1
        }
        for following in rangeIndex..<ranges.count {
            ranges[following] = ranges[following].lowerBound + count..<ranges[following].upperBound + count
        }
        guard asMembers else { return join(at: rangeIndex) }
        ranges.insert(index..<index + count, at: rangeIndex)
        join(at: rangeIndex + 1)
        join(at: rangeIndex)
    }

    /// Joins the range at `rangeIndex` with the one before it if they touch.
    private mutating func join(at rangeIndex: Int) {
        guard rangeIndex > 0, rangeIndex < ranges.count,
            ranges[rangeIndex - 1].upperBound == ranges[rangeIndex].lowerBound
        else { return }
        ranges[rangeIndex - 1] = ranges[rangeIndex - 1].lowerBound..<ranges[rangeIndex].upperBound
        ranges.remove(at: rangeIndex)
    }

    mutating func insert(at index: Int, count: Int = 1) { makeRoom(index, count, asMembers: true) }

    mutating func shiftForInsert(at index: Int, count: Int = 1) { makeRoom(index, count, asMembers: false) }

    /// - Parameter places: final indices of the new elements.
    mutating func insert(at places: IndexSet) {
        for range in places.ranges { insert(at: range.lowerBound, count: range.count) }
    }

    mutating func shiftForInsert(at places: IndexSet) {
        for range in places.ranges { shiftForInsert(at: range.lowerBound, count: range.count) }
    }

    mutating func erase(at index: Int, count: Int = 1) {
        var kept = IndexSet()
        let rangeIndex = place(index)
        if rangeIndex == ranges.count { return }
        kept.ranges = Array(ranges[..<rangeIndex])
        for range in ranges[rangeIndex...] {
            for part in [range.clamped(to: Int.min..<index), range.clamped(to: index + count..<Int.max)]
            where !part.isEmpty {
                kept.append(part.lowerBound >= index + count ? part.lowerBound - count..<part.upperBound - count : part)
            }
        }
        self = kept
    }

    /// - Parameter places: indices before the removal.
    mutating func erase(at places: IndexSet) {
        if places.isEmpty || isEmpty { return }
        var kept = IndexSet()
        var gone = places.ranges[...]
        var shift = 0
        for range in subtracting(places).ranges {
            while let erased = gone.first, erased.lowerBound <= range.lowerBound {
                shift += erased.count
                gone.removeFirst()
            }
            kept.append(range.lowerBound - shift..<range.upperBound - shift)
        }
        self = kept
    }

    // MARK: Index conversion between all elements and non-members

    /// Converts an index among the non-members to the index among all elements.
    func shift(_ index: Int) -> Int {
        var shifted = index
        for range in ranges {
            if range.lowerBound > shifted { break }
            shifted += range.count
        }
        return shifted
    }

    /// The inverse of `shift`, for an index that is not a member.
    func unshift(_ index: Int) -> Int { index - countBelow(index) }

    mutating func addShifted(_ index: Int) -> Int {
        let shifted = shift(index)
        add(shifted)
        return shifted
    }

    /// Adds the values that are not in `inserted`. `values` and `inserted` are indices in a collection without the
    /// members of this set, after the insertions.
    mutating func addShifted(by inserted: IndexSet, _ values: IndexSet) {
        var all = self
        for value in values.subtracting(inserted).indices { all.add(shift(inserted.unshift(value))) }
        self = all
    }

    /// Removes the element at `index`. nil when it was a member, otherwise its index among the non-members.
    mutating func eraseOrUnshift(_ index: Int) -> Int? {
        let found = contains(index) ? nil : unshift(index)
        erase(at: index)
        return found
    }
}
