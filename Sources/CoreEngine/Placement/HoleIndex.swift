/// Chunks of free space by size, to find the shortest one into which a node fits. Format: storage §3.5.
///
/// Invariants
/// 1. A chunk is entered at most once, under its size at that time: the caller checks the chunk again before it uses
///    it.
/// 2. Bit b of `filled` is set when the list of chunks of 8 × b bytes has entries.
///
/// The time of each operation is independent of the number of chunks.
struct HoleIndex {
    /// Chunks of this size and more are not entered: they are kept for whole commits.
    static let sizeLimit = 32 << 10

    /// `first`: the first chunk of each size, in units of 8 bytes. `next`: for each chunk, the next one of the same
    /// size. −1: end of the list.
    private var first = [Int32](repeating: -1, count: sizeLimit / 8)
    private var next: [Int32]
    private var filled = [UInt64](repeating: 0, count: sizeLimit / 8 / 64)

    init(_ chunks: [FileChunk]) {
        next = [Int32](repeating: -1, count: chunks.count)
        for i in chunks.indices.reversed() { enter(i, size: chunks[i].size) }
    }

    /// Enters chunk `i`, which must not be in the index.
    mutating func enter(_ i: Int, size: Int) {
        guard size >= 8, size < Self.sizeLimit else { return }
        let list = size / 8
        next[i] = first[list]
        first[list] = Int32(truncatingIfNeeded: i)
        filled[list / 64] |= 1 << UInt64(list % 64)
    }

    /// Removes a chunk of the least size ≥ `size` from the index and returns it; nil when there is none.
    mutating func take(atLeast size: Int) -> Int? {
        guard size < Self.sizeLimit else { return nil }
        let least = (size + 7) / 8
        var word = least / 64
        var bits = filled[word] & (~0 << UInt64(least % 64))
        while bits == 0 {
            word += 1
            guard word < filled.count else { return nil }
            bits = filled[word]
        }
        let list = word * 64 + bits.trailingZeroBitCount
        let i = Int(first[list])
        first[list] = next[i]
        if first[list] < 0 { filled[word] &= ~(1 << UInt64(list % 64)) }
        return i
    }
}
