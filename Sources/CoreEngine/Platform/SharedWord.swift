import Synchronization

/// A 64-bit word in memory that several processes map; all access is atomic. The one place that lays an `Atomic` over raw bytes
/// (an `Atomic<UInt64>` is exactly its eight bytes, without header).
struct SharedWord {
    private let word: UnsafeMutablePointer<Atomic<UInt64>>
    /// - Parameter address: multiple of 8, mapped for as long as the word is used.
    init(_ address: UnsafeMutableRawPointer) { word = address.assumingMemoryBound(to: Atomic<UInt64>.self) }
    @inline(__always) func load() -> UInt64 { word.pointee.load(ordering: .sequentiallyConsistent) }
    @inline(__always) func store(_ value: UInt64) { word.pointee.store(value, ordering: .sequentiallyConsistent) }
    @inline(__always) func exchange(from old: UInt64, to new: UInt64) -> Bool {
        word.pointee.compareExchange(expected: old, desired: new, ordering: .sequentiallyConsistent).exchanged
    }
}
