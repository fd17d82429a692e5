/// A growing buffer of an Arrow array under construction, in C memory. `take` passes ownership of the memory to its
/// caller.
struct ColumnBuffer: ~Copyable {
    private(set) var start: UnsafeMutableRawPointer
    private var capacity = 0

    /// Bytes in use.
    var count = 0

    init() { start = Self.nothing }

    deinit { if capacity > 0 { CMemory.release(start) } }

    /// Placeholder address of a buffer without memory.
    // It is never read or written.
    nonisolated(unsafe) private static let nothing = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 16)

    /// Makes sure that `more` bytes fit behind the used ones.
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

    /// Adds bytes. The caller has reserved memory for them.
    @inline(__always) mutating func append(_ from: UnsafeRawPointer, _ byteCount: Int) {
        CMemory.copy(start + count, from, byteCount)
        count &+= byteCount
    }

    /// Adds zero bytes.
    mutating func appendZeros(_ byteCount: Int) throws(RealmError) {
        try reserve(byteCount)
        CMemory.zero(start + count, byteCount)
        count += byteCount
    }

    /// Passes ownership of the memory to the caller. The result is real memory even if the buffer is empty.
    mutating func take() throws(RealmError) -> UnsafeMutableRawPointer {
        if capacity == 0 { try grow(8) }
        defer { (start, capacity, count) = (Self.nothing, 0, 0) }
        return start
    }
}
