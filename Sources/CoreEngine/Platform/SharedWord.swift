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

/// A 64-bit word in memory that several processes map; all access is atomic. The one place that lays an `Atomic` over
/// raw bytes (an `Atomic<UInt64>` is exactly its eight bytes, without header).
///
/// Threads of all these processes can wait for the word to change. On Linux they sleep in the kernel (futex); elsewhere
/// they look again every few milliseconds.
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

    /// The half that the kernel compares. Little-endian, as the file.
    private var lowHalf: UnsafeMutablePointer<UInt32> {
        UnsafeMutableRawPointer(word).assumingMemoryBound(to: UInt32.self)
    }

    private static let waitOperation: Int32 = 9, wakeOperation: Int32 = 10, wakeAndAddOperation: Int32 = 5

    /// What the kernel can add in one step.
    static let greatestStep: UInt64 = 0x7FF

    /// Waits until the lower half of the word differs from that of `value`, or `wake` is called for one of `channels`;
    /// sometimes for less.
    func wait(while value: UInt64, channels: UInt32) {
        guard UInt32(truncatingIfNeeded: load()) == UInt32(truncatingIfNeeded: value) else { return }
        if system.futex(lowHalf, Self.waitOperation, UInt32(truncatingIfNeeded: value), 0, nil, channels) == 0 {
            return
        }
        // It has changed meanwhile, or a signal came. Else the system has no such call.
        if errno != EAGAIN, errno != EINTR { Platform.sleep(microseconds: 5000) }
    }

    /// Wakes those who wait for one of `channels`. The word was changed before, so that nobody begins to wait any more.
    func wake(channels: UInt32 = .max) {
        _ = system.futex(lowHalf, Self.wakeOperation, UInt32(Int32.max), 0, nil, channels)
    }

    /// Adds `step` to the word and wakes everybody who waits, in one step of the kernel: a process that is killed has
    /// done both or neither.
    ///
    /// - Parameter step: at most `greatestStep`. Where the lower half overflows, and where the system has no such call,
    ///   these are two steps.
    func addWaking(_ step: UInt64) {
        let isWithinHalf = load() & 0xFFFF_FFFF &+ step <= 0xFFFF_FFFF
        // Add `step` to the second word, which is the same; wake who waits for the first.
        let addition = 1 << 28 | UInt32(truncatingIfNeeded: step) << 12
        if isWithinHalf, system.futex(lowHalf, Self.wakeAndAddOperation, UInt32(Int32.max), 0, lowHalf, addition) >= 0 {
            return
        }
        word.pointee.wrappingAdd(step, ordering: .sequentiallyConsistent)
        wake()
    }
}
