/// Rows in an order that the caller defines, with their indices. The list is stored in pieces: a change costs one piece
/// and a pass over the counts of the others.
///
/// Invariants: no piece is empty; `lengths` and `lasts` are the counts and the last rows of the pieces. They are stored
/// together, because reading each piece instead would access another place of memory: with many rows that would take
/// longer than everything else.
struct RowList {
    private var pieces: [[ObjKey]] = []
    private var lengths: [Int] = []
    private var lasts: [ObjKey] = []
    private(set) var count = 0
    private static let most = 2048

    /// The position of a row, or the position where it would be inserted. Valid until the list changes, and also while
    /// the list changes only behind it.
    struct Place: Comparable {
        fileprivate var piece: Int
        fileprivate var offset: Int

        static func < (a: Place, b: Place) -> Bool { a.piece == b.piece ? a.offset < b.offset : a.piece < b.piece }
    }

    /// - Parameter keys: in their order.
    init(_ keys: [ObjKey]) {
        count = keys.count
        for start in stride(from: 0, to: keys.count, by: Self.most / 2) {
            pieces.append(Array(keys[start..<min(start + Self.most / 2, keys.count)]))
        }
        lengths = pieces.map(\.count)
        lasts = pieces.map { $0[$0.count - 1] }
    }

    /// All rows, or the first of them.
    func keys(_ limit: Int = .max) -> [ObjKey] {
        var all: [ObjKey] = []
        all.reserveCapacity(min(count, limit))
        for piece in pieces where all.count < limit { all += piece.prefix(limit - all.count) }
        return all
    }

    /// The first position whose row does not precede the wanted row.
    func place(_ precedes: (ObjKey) throws(RealmError) -> Bool) throws(RealmError) -> Place {
        func first(_ count: Int, _ row: (Int) -> ObjKey) throws(RealmError) -> Int {
            var low = 0, high = count
            while low < high {
                let mid = (low + high) / 2
                if try precedes(row(mid)) { low = mid + 1 } else { high = mid }
            }
            return low
        }
        let piece = try first(lasts.count) { lasts[$0] }
        guard piece < pieces.count else { return Place(piece: max(0, piece - 1), offset: lengths.last ?? 0) }
        return Place(piece: piece, offset: try first(pieces[piece].count) { pieces[piece][$0] })
    }

    /// The row at a position; nil at the end.
    func row(at place: Place) -> ObjKey? {
        place.piece < pieces.count && place.offset < pieces[place.piece].count ? pieces[place.piece][place.offset] : nil
    }

    /// The indices of positions.
    ///
    /// - Parameter places: ascending.
    func indices(of places: [Place]) -> [Int] {
        var before = 0, at = 0
        return places.map { place in
            while at < place.piece {
                before += lengths[at]
                at += 1
            }
            return before + place.offset
        }
    }

    mutating func insert(_ key: ObjKey, at place: Place) {
        count += 1
        guard !pieces.isEmpty else {
            (pieces, lengths, lasts) = ([[key]], [1], [key])
            return
        }
        var target = place
        // An insertion behind the position may have split its piece.
        while target.offset > lengths[target.piece], target.piece + 1 < pieces.count {
            target = Place(piece: target.piece + 1, offset: target.offset - lengths[target.piece])
        }
        pieces[target.piece].insert(key, at: target.offset)
        if pieces[target.piece].count > Self.most {
            let half = pieces[target.piece].count / 2
            let rest = Array(pieces[target.piece][half...])
            pieces[target.piece].removeSubrange(half...)
            pieces.insert(rest, at: target.piece + 1)
            lengths.insert(rest.count, at: target.piece + 1)
            lasts.insert(rest[rest.count - 1], at: target.piece + 1)
        }
        note(target.piece)
    }

    /// Removes the row at a position.
    mutating func remove(at place: Place) {
        pieces[place.piece].remove(at: place.offset)
        count -= 1
        guard pieces[place.piece].isEmpty else { return note(place.piece) }
        pieces.remove(at: place.piece)
        lengths.remove(at: place.piece)
        lasts.remove(at: place.piece)
    }

    /// Updates the count and the last row of a changed piece.
    private mutating func note(_ piece: Int) {
        lengths[piece] = pieces[piece].count
        lasts[piece] = pieces[piece][lengths[piece] - 1]
    }
}
