/// Merges the changes of two sides to a collection, given what it was before both. Elements are compared by their
/// texts. Rules: docs/sync.md.
///
/// The result depends on the three collections only. What one side removed stays removed, unless it is an entry of a
/// dictionary that the other side has changed; what one side inserted stays inserted, at most as often as both sides
/// together demand.
enum ThreeWayMerge {
    /// - Parameter sharesChanges: the sides may have made the same change, and mean it once: they are copies of one
    ///   file.
    static func merge(
        base: JSONValue, mine: JSONValue, hub: JSONValue, shape: CollectionShape?, sharesChanges: Bool = false
    ) -> JSONValue {
        switch (mine, hub) {
        case (.object(let own), .object(let other)):
            return .object(entries(base.members ?? [], own, other))
        case (.array(let own), .array(let other)):
            let before = base.elements ?? []
            return .array(shape == .set ? set(before, own, other) : list(before, own, other, sharesChanges))
        default:
            // An embedded object that one side removed: removing wins.
            return mine.json == base.json ? hub : mine
        }
    }

    // MARK: Dictionaries, embedded objects

    private typealias Entries = [(name: [UInt8], value: JSONValue)]

    private static func entries(_ base: Entries, _ mine: Entries, _ hub: Entries) -> Entries {
        func find(_ name: [UInt8], _ all: Entries) -> JSONValue? { all.first { $0.name == name }?.value }
        var merged: Entries = []
        for entry in hub {
            let before = find(entry.name, base), own = find(entry.name, mine)
            if before?.json == own?.json {
                merged.append(entry)
            } else if let own {
                merged.append((entry.name, inner(before, own, entry.value)))
            } else if before?.json != entry.value.json {
                // This side removed it, and the hub changed it: a change is kept.
                merged.append(entry)
            }
        }
        for entry in mine where find(entry.name, hub) == nil {
            // The hub removed it, unless it is new. A value that this side has changed since is kept.
            if let before = find(entry.name, base), before.json == entry.value.json { continue }
            merged.append(entry)
        }
        return merged.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    private static func inner(_ base: JSONValue?, _ mine: JSONValue, _ hub: JSONValue) -> JSONValue {
        guard mine.members != nil, hub.members != nil else { return mine }
        return merge(base: base ?? .object([]), mine: mine, hub: hub, shape: .dictionary)
    }

    // MARK: Sets

    private static func set(_ base: [JSONValue], _ mine: [JSONValue], _ hub: [JSONValue]) -> [JSONValue] {
        let before = Set(base.map(\.json)), own = Set(mine.map(\.json)), other = Set(hub.map(\.json))
        return hub.filter { own.contains($0.json) || !before.contains($0.json) }
            + mine.filter { !other.contains($0.json) && !before.contains($0.json) }
    }

    // MARK: Lists

    /// Elements between two elements of the base.
    private struct Side {
        /// For each element of the base, whether this side still has it.
        var keeps: [Bool]

        /// What this side inserted before the element of the base with the same index; the last is behind all.
        var inserted: [[JSONValue]]

        init(_ base: [[UInt8]], _ elements: [JSONValue]) {
            keeps = Array(repeating: false, count: base.count)
            inserted = Array(repeating: [], count: base.count + 1)
            var next = 0
            for (element, match) in zip(elements, ThreeWayMerge.matches(elements.map(\.json), base)) {
                if let match {
                    keeps[match] = true
                    next = match + 1
                } else {
                    inserted[next].append(element)
                }
            }
        }
    }

    private static func list(
        _ base: [JSONValue], _ mine: [JSONValue], _ hub: [JSONValue], _ sharesChanges: Bool
    ) -> [JSONValue] {
        let before = base.map(\.json)
        let own = Side(before, mine), other = Side(before, hub)
        // How often an element may occur: an element that both sides moved is inserted by both, and meant once.
        var allowed: [[UInt8]: Int] = [:]
        for element in mine { allowed[element.json, default: 0] += 1 }
        for element in hub { allowed[element.json, default: 0] += 1 }
        for text in before { allowed[text, default: 0] -= 1 }
        if sharesChanges {
            allowed = [:]
            for element in mine { allowed[element.json, default: 0] += 1 }
            var others: [[UInt8]: Int] = [:]
            for element in hub { others[element.json, default: 0] += 1 }
            allowed.merge(others) { max($0, $1) }
        }
        var present: [[UInt8]: Int] = [:]
        for i in before.indices where own.keeps[i] && other.keeps[i] { present[before[i], default: 0] += 1 }
        func takes(_ element: JSONValue) -> Bool {
            let text = element.json
            guard present[text, default: 0] < allowed[text, default: 0] else { return false }
            present[text, default: 0] += 1
            return true
        }
        // An element that the hub moved and this side removed is not inserted.
        let hubs = other.inserted.map { $0.filter(takes) }
        var merged: [JSONValue] = []
        for gap in 0...before.count {
            merged += hubs[gap]
            if own.inserted[gap].map(\.json) != other.inserted[gap].map(\.json) {
                merged += own.inserted[gap].filter(takes)
            }
            if gap < before.count, own.keeps[gap], other.keeps[gap] { merged.append(base[gap]) }
        }
        return merged
    }

    /// Pairs of equal elements that each list has exactly once, in an order that both lists have: as many as possible.
    private static func anchors(_ list: ArraySlice<[UInt8]>, _ base: ArraySlice<[UInt8]>) -> [(list: Int, base: Int)] {
        func places(_ elements: ArraySlice<[UInt8]>) -> [[UInt8]: Int?] {
            var all: [[UInt8]: Int?] = [:]
            for (i, element) in zip(elements.indices, elements) {
                all[element] = all[element] == nil ? .some(i) : .some(nil)
            }
            return all
        }
        let inList = places(list), inBase = places(base)
        var pairs: [(list: Int, base: Int)] = []
        for (i, element) in zip(list.indices, list) {
            if case .some(.some) = inList[element], case .some(.some(let j)) = inBase[element] { pairs.append((i, j)) }
        }
        // A longest increasing subsequence: `ends[n]` is the pair with the smallest place in base that ends one of
        // n + 1 pairs.
        var ends: [Int] = [], before = [Int?](repeating: nil, count: pairs.count)
        for i in pairs.indices {
            var low = 0, high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if pairs[ends[middle]].base < pairs[i].base { low = middle + 1 } else { high = middle }
            }
            before[i] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(i) } else { ends[low] = i }
        }
        var chosen: [(list: Int, base: Int)] = [], next = ends.last
        while let i = next {
            chosen.append(pairs[i])
            next = before[i]
        }
        return chosen.reversed()
    }

    /// The most cells of a table of common subsequences.
    private static let mostCells = 4_000_000

    /// For each element of `list`, the element of `base` that it continues: a longest common subsequence. In long
    /// lists, elements that both have exactly once are anchors, and the parts between them are compared.
    private static func matches(_ list: [[UInt8]], _ base: [[UInt8]]) -> [Int?] {
        var result = [Int?](repeating: nil, count: list.count)
        var start = 0
        while start < min(list.count, base.count), list[start] == base[start] {
            result[start] = start
            start += 1
        }
        var end = 0
        while end < min(list.count, base.count) - start, list[list.count - 1 - end] == base[base.count - 1 - end] {
            result[list.count - 1 - end] = base.count - 1 - end
            end += 1
        }
        let rows = list.count - start - end, columns = base.count - start - end
        guard rows > 0, columns > 0 else { return result }
        guard rows <= mostCells / columns else {
            var row = start, column = start
            let anchors = anchors(list[start..<(start + rows)], base[start..<(start + columns)])
            guard !anchors.isEmpty else { return result }
            for anchor in anchors + [(list: start + rows, base: start + columns)] {
                let part = matches(Array(list[row..<anchor.list]), Array(base[column..<anchor.base]))
                for (i, match) in part.enumerated() where match != nil { result[row + i] = match.map { $0 + column } }
                if anchor.list < start + rows { result[anchor.list] = anchor.base }
                (row, column) = (anchor.list + 1, anchor.base + 1)
            }
            return result
        }
        // `length[i][j]`: of the longest common subsequence of the rests from i and j.
        let width = columns + 1
        var length = [Int32](repeating: 0, count: (rows + 1) * width)
        for i in stride(from: rows - 1, through: 0, by: -1) {
            for j in stride(from: columns - 1, through: 0, by: -1) {
                length[i * width + j] =
                    list[start + i] == base[start + j]
                    ? length[(i + 1) * width + j + 1] + 1
                    : max(length[(i + 1) * width + j], length[i * width + j + 1])
            }
        }
        var i = 0, j = 0
        while i < rows, j < columns {
            if list[start + i] == base[start + j] {
                result[start + i] = start + j
                (i, j) = (i + 1, j + 1)
            } else if length[(i + 1) * width + j] >= length[i * width + j + 1] {
                i += 1
            } else {
                j += 1
            }
        }
        return result
    }
}
