/// Counts the comparisons of a sort, because a comparison cannot throw. Once the call must end, the remaining
/// comparisons return without reading any value; the next test of the store throws.
struct Comparisons {
    private let store: NodeStore
    private var count = 0
    private var isEnding = false

    init(_ store: NodeStore) { self.store = store }

    /// Long texts count for more, because they may be equal up to their ends.
    ///
    /// - Parameters: the sizes of the values in bytes; 0 for values other than texts and binaries.
    /// - Returns: false when the call must end.
    @inline(__always) mutating func goOn(_ x: Int, _ y: Int) -> Bool {
        count &+= 1 &+ min(x, y) >> 10
        if count >= 256, !isEnding {
            count = 0
            isEnding = store.isEndWanted(0)
        }
        return !isEnding
    }
}
