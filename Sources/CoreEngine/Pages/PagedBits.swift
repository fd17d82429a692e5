/// One bit for each eight bytes of a file, in pieces that use memory only where one of their bits is set: a sparse file
/// may be larger than the memory.
struct PagedBits {
    /// Bits of a piece; it covers 1 MB of the file.
    private static let pieceBits = 1 << 17
    private static let pieceWords = pieceBits / 64

    /// An empty piece: no bit is set. A piece of one word: all bits are set.
    private var pieces: [[UInt64]]

    /// - Parameter size: bytes of the file.
    init(_ size: Int) { pieces = [[UInt64]](repeating: [], count: size / 8 / Self.pieceBits + 1) }

    @inline(__always) func isSet(_ bit: Int) -> Bool {
        let piece = pieces[bit / Self.pieceBits]
        guard piece.count > 1 else { return !piece.isEmpty }
        let i = bit % Self.pieceBits
        return piece[i >> 6] >> UInt64(i & 63) & 1 != 0
    }

    /// Whether any bit from `start` up to `end` is set.
    func isAnySet(_ start: Int, _ end: Int) -> Bool {
        var at = start
        while at < end {
            let piece = pieces[at / Self.pieceBits], base = at / Self.pieceBits * Self.pieceBits
            let stop = min(end, base + Self.pieceBits)
            if piece.count == 1 { return true }
            if !piece.isEmpty, Self.words(at - base, stop - base, { piece[$0] & $1 != 0 }) { return true }
            at = stop
        }
        return false
    }

    /// Sets the bits from `start` up to `end`.
    mutating func set(_ start: Int, _ end: Int) {
        var at = start
        while at < end {
            let index = at / Self.pieceBits, base = index * Self.pieceBits, stop = min(end, base + Self.pieceBits)
            if stop - at == Self.pieceBits {
                pieces[index] = [.max]
            } else if pieces[index].count != 1 {
                if pieces[index].isEmpty { pieces[index] = [UInt64](repeating: 0, count: Self.pieceWords) }
                _ = Self.words(at - base, stop - base) { word, mask in
                    pieces[index][word] |= mask
                    return false
                }
            }
            at = stop
        }
    }

    /// Calls `body` for the words of a piece that hold the bits from `start` up to `end`, with the mask of these bits,
    /// until it returns true.
    @inline(__always) private static func words(_ start: Int, _ end: Int, _ body: (Int, UInt64) -> Bool) -> Bool {
        var at = start
        while at < end {
            let word = at >> 6, stop = min(end, (word &+ 1) << 6)
            let width = stop &- at
            let mask = width == 64 ? UInt64.max : ((1 << UInt64(width)) - 1) << UInt64(at & 63)
            if body(word, mask) { return true }
            at = stop
        }
        return false
    }

    /// Calls `body` for each run of bits from `start` up to `end` that are not set.
    func forEachGap(_ start: Int, _ end: Int, _ body: (_ start: Int, _ end: Int) -> Void) {
        var gap: Int?, at = start
        while at < end {
            let piece = pieces[at / Self.pieceBits], base = at / Self.pieceBits * Self.pieceBits
            let stop = min(end, base + Self.pieceBits)
            if piece.count <= 1 {
                if piece.isEmpty {
                    gap = gap ?? at
                } else if let begin = gap {
                    body(begin, at)
                    gap = nil
                }
                at = stop
                continue
            }
            while at < stop {
                let i = at - base
                if i & 63 == 0, stop - at >= 64, piece[i >> 6] == (gap == nil ? .max : 0) {
                    at += 64
                    continue
                }
                let isSet = piece[i >> 6] >> UInt64(i & 63) & 1 != 0
                if isSet, let begin = gap {
                    body(begin, at)
                    gap = nil
                } else if !isSet, gap == nil {
                    gap = at
                }
                at += 1
            }
        }
        if let begin = gap { body(begin, end) }
    }
}
