/// Rows in the order of their keys, with their indices: in pieces, so that a change costs no more than a piece and a look at the others' counts.
struct RowList {
    private var pieces: [[ObjKey]] = []
    private(set) var count = 0
    private static let most = 1024

    init() {}
    /// - Parameter keys: ascending, each once.
    init(_ keys: [ObjKey]) {
        count = keys.count
        for start in stride(from: 0, to: keys.count, by: Self.most / 2) { pieces.append(Array(keys[start..<min(start + Self.most / 2, keys.count)])) }
    }
    /// The piece in which a key is, or would be.
    private func piece(_ key: ObjKey) -> Int { min(pieces.place { $0[$0.count - 1] < key }, max(pieces.count - 1, 0)) }
    func contains(_ key: ObjKey) -> Bool {
        guard !pieces.isEmpty, case let p = pieces[piece(key)], case let i = p.place({ $0 < key }) else { return false }
        return i < p.count && p[i] == key
    }
    /// Where the rows among `keys` stand.
    /// - Parameter keys: ascending.
    func indices(of keys: [ObjKey]) -> [Int] {
        var found: [Int] = []
        var before = 0, at = 0
        for key in keys where !pieces.isEmpty {
            let wanted = piece(key)
            while at < wanted {
                before += pieces[at].count
                at += 1
            }
            let i = pieces[at].place { $0 < key }
            if i < pieces[at].count, pieces[at][i] == key { found.append(before + i) }
        }
        return found
    }
    mutating func insert(_ key: ObjKey) {
        count += 1
        guard !pieces.isEmpty else { return pieces.append([key]) }
        let p = piece(key)
        pieces[p].insert(key, at: pieces[p].place { $0 < key })
        if pieces[p].count > Self.most {
            let half = pieces[p].count / 2
            let rest = Array(pieces[p][half...])
            pieces[p].removeSubrange(half...)
            pieces.insert(rest, at: p + 1)
        }
    }
    mutating func remove(_ key: ObjKey) {
        guard !pieces.isEmpty, case let p = piece(key), case let i = pieces[p].place({ $0 < key }), i < pieces[p].count, pieces[p][i] == key else { return }
        pieces[p].remove(at: i)
        count -= 1
        if pieces[p].isEmpty { pieces.remove(at: p) }
    }
}
