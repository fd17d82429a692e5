/// A buffer of an Arrow array in the making: C memory that grows, and that goes to whoever takes it.
struct ColumnBuffer: ~Copyable {
    private(set) var start: UnsafeMutableRawPointer
    private var capacity = 0

    /// Bytes in use.
    var count = 0

    init() { start = Self.nothing }

    deinit { if capacity > 0 { CMemory.release(start) } }

    /// Stands for no memory at all.
    // Never read or written.
    nonisolated(unsafe) private static let nothing = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 16)

    /// Makes room for `more` bytes behind those in use.
    @inline(__always) mutating func reserve(_ more: Int) throws(RealmError) {
        if count &+ more > capacity { try grow(more) }
    }

    @inline(never) private mutating func grow(_ more: Int) throws(RealmError) {
        let wanted = max(count + more, capacity + capacity / 2, 64)
        guard let new = CMemory.reallocate(capacity > 0 ? start : nil, wanted) else {
            throw RealmError(.outOfMemory, "There is no memory for \(wanted) bytes of a column")
        }
        start = new
        capacity = wanted
    }

    /// Adds bytes; there is room for them.
    @inline(__always) mutating func append(_ from: UnsafeRawPointer, _ byteCount: Int) {
        Platform.copy(start + count, from, byteCount)
        count &+= byteCount
    }

    /// Adds `n` zero bytes.
    mutating func appendZeros(_ byteCount: Int) throws(RealmError) {
        try reserve(byteCount)
        Platform.zero(start + count, byteCount)
        count += byteCount
    }

    /// Gives the memory away; there is some, even for no bytes.
    mutating func take() throws(RealmError) -> UnsafeMutableRawPointer {
        if capacity == 0 { try grow(8) }
        defer { (start, capacity, count) = (Self.nothing, 0, 0) }
        return start
    }
}
