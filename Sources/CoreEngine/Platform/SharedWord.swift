import Synchronization

#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// A 64-bit word in memory that several processes map; all access is atomic. Only this type treats raw bytes as
/// an `Atomic` (an `Atomic<UInt64>` is exactly its eight bytes, without a header).
///
/// Threads of all these processes can wait until the word changes. On Linux they sleep in the kernel (futex); elsewhere
/// they check the word every few milliseconds.
struct SharedWord {
    private let word: UnsafeMutablePointer<Atomic<UInt64>>

    /// - Parameter address: multiple of 8, mapped for as long as the word is used.
    init(_ address: UnsafeMutableRawPointer) { word = address.assumingMemoryBound(to: Atomic<UInt64>.self) }

    @inline(__always) func load() -> UInt64 { word.pointee.load(ordering: .sequentiallyConsistent) }

    @inline(__always) func store(_ value: UInt64) { word.pointee.store(value, ordering: .sequentiallyConsistent) }

    @inline(__always) func exchange(from old: UInt64, to new: UInt64) -> Bool {
        word.pointee.compareExchange(expected: old, desired: new, ordering: .sequentiallyConsistent).exchanged
    }

    // MARK: Waiting

    /// The half that the kernel compares. Little-endian, like the file.
    private var lowHalf: UnsafeMutablePointer<UInt32> {
        UnsafeMutableRawPointer(word).assumingMemoryBound(to: UInt32.self)
    }

    private static let waitOperation: Int32 = 9, wakeOperation: Int32 = 10, wakeAndAddOperation: Int32 = 5

    /// The largest number that the kernel can add in the same step.
    static let greatestStep: UInt64 = 0x7FF

    /// Waits until the lower half of the word differs from that of `value`, or `wake` is called for one of `channels`;
    /// may return early.
    func wait(while value: UInt64, channels: UInt32) {
        guard UInt32(truncatingIfNeeded: load()) == UInt32(truncatingIfNeeded: value) else { return }
        if system.futex(lowHalf, Self.waitOperation, UInt32(truncatingIfNeeded: value), 0, nil, channels) == 0 {
            return
        }
        // EAGAIN: the word has changed meanwhile. EINTR: a signal came. Otherwise the operating system has no such
        // call.
        if errno != EAGAIN, errno != EINTR { Platform.sleep(microseconds: 5000) }
    }

    /// Wakes the threads that wait for one of `channels`. The caller has changed the word before, so that no thread
    /// begins to wait for the old value.
    func wake(channels: UInt32 = .max) {
        _ = system.futex(lowHalf, Self.wakeOperation, UInt32(Int32.max), 0, nil, channels)
    }

    /// Adds `step` to the word and wakes all waiting threads, in one step of the kernel: a process that is killed has
    /// done both or neither.
    ///
    /// - Parameter step: at most `greatestStep`. When the lower half overflows, or the operating system has no such
    ///   call, these are two steps.
    func addWaking(_ step: UInt64) {
        let isWithinHalf = load() & 0xFFFF_FFFF &+ step <= 0xFFFF_FFFF
        // The call takes two words: the kernel adds `step` to the second one, and wakes the threads that wait for the
        // first one. Here both are the same word.
        let addition = 1 << 28 | UInt32(truncatingIfNeeded: step) << 12
        if isWithinHalf, system.futex(lowHalf, Self.wakeAndAddOperation, UInt32(Int32.max), 0, lowHalf, addition) >= 0 {
            return
        }
        word.pointee.wrappingAdd(step, ordering: .sequentiallyConsistent)
        wake()
    }
}
