import CGuards

#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// A pointer of each thread, under a key of the system; and what a thread does as the very last thing, however it ends:
/// by returning or by `pthread_exit`. The end of the process ends no thread.
///
/// The last thing runs so late that thread-local objects of the host are gone. A forked child inherits the pointers of
/// the thread that forked: whoever keeps something that may have been changing then asks `ForkGuard.generation`.
package struct ThreadSlot: Sendable {
    package typealias End = @convention(c) (UnsafeMutableRawPointer?) -> Void

    /// nil: the system has no key left. Then no thread keeps anything here.
    @usableFromInline let key: pthread_key_t?

    /// - Parameter end: gets the pointer of a thread that ends, if it has one.
    package init(atEnd end: End? = nil) {
        var key = pthread_key_t()
        self.key = own_thread_key(&key, end) == 0 ? key : nil
    }

    @inlinable package var pointer: UnsafeMutableRawPointer? {
        @inline(__always) get {
            guard let key else { return nil }
            return pthread_getspecific(key)
        }
    }

    /// Whether the pointer is kept; the one before is the caller's again. nil: none, which always holds.
    @discardableResult package func set(_ pointer: UnsafeRawPointer?) -> Bool {
        guard let key else { return pointer == nil }
        return pthread_setspecific(key, pointer) == 0
    }
}

/// Work for the end of a thread. In a forked child nothing runs of what the parent's thread had set.
enum ThreadEnd {
    private final class Work {
        let run: () -> Void
        let generation = ForkGuard.generation

        init(_ run: @escaping () -> Void) { self.run = run }
    }

    private static let slot = ThreadSlot { p in
        if let p { ThreadEnd.own(p)?.takeRetainedValue().run() }
    }

    /// nil: what it refers to may have been changing when the process was forked. It stays as it is.
    private static func own(_ p: UnsafeMutableRawPointer) -> Unmanaged<Work>? {
        let work = Unmanaged<Work>.fromOpaque(p)
        return work._withUnsafeGuaranteedRef { $0.generation == ForkGuard.generation } ? work : nil
    }

    /// Has the calling thread run `work` when it ends, in place of what was set before. Where the system keeps nothing
    /// for a thread nobody learns of its end.
    static func set(_ work: @escaping () -> Void) {
        let earlier = slot.pointer
        let new = Unmanaged.passRetained(Work(work))
        guard slot.set(new.toOpaque()) else { return new.release() }
        if let earlier { own(earlier)?.release() }
    }
}
