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

/// A pointer for each thread, under a key of the operating system; and a function that runs as the last action of a
/// thread, whether it ends by returning or by `pthread_exit`. The end of the process does not run it.
///
/// The function runs so late that thread-local objects of the host no longer exist. A forked child inherits the
/// pointers of the thread that forked: users of objects that may have been changing at the fork check
/// `ForkGuard.generation`.
package struct ThreadSlot: Sendable {
    package typealias End = @convention(c) (UnsafeMutableRawPointer?) -> Void

    /// nil: the operating system has no key left. Then no pointer is kept.
    @usableFromInline let key: pthread_key_t?

    /// - Parameter end: called with the pointer of a thread that ends, unless the pointer is nil.
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

    /// Whether the pointer was stored; the previous pointer belongs to the caller again. Storing nil always succeeds.
    @discardableResult package func set(_ pointer: UnsafeRawPointer?) -> Bool {
        guard let key else { return pointer == nil }
        return pthread_setspecific(key, pointer) == 0
    }
}

/// Work for the end of a thread. A forked child does not run the work that a thread of the parent had set.
enum ThreadEnd {
    private final class Work {
        let run: () -> Void
        let generation = ForkGuard.generation

        init(_ run: @escaping () -> Void) { self.run = run }
    }

    private static let slot = ThreadSlot { pointer in
        if let pointer { ThreadEnd.own(pointer)?.takeRetainedValue().run() }
    }

    /// nil when the process was forked since: what the work refers to may have been changing. Then it is never touched.
    private static func own(_ pointer: UnsafeMutableRawPointer) -> Unmanaged<Work>? {
        let work = Unmanaged<Work>.fromOpaque(pointer)
        return work._withUnsafeGuaranteedRef { $0.generation == ForkGuard.generation } ? work : nil
    }

    /// Sets `work` to run when the calling thread ends, in place of earlier work. When the operating system keeps no
    /// pointers for threads, the work never runs.
    static func set(_ work: @escaping () -> Void) {
        let earlier = slot.pointer
        let new = Unmanaged.passRetained(Work(work))
        guard slot.set(new.toOpaque()) else { return new.release() }
        if let earlier { own(earlier)?.release() }
    }
}
