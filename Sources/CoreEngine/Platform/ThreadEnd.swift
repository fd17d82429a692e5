#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What a thread does as the very last thing, however it ends: by returning or by `pthread_exit`. The end of the process ends no thread.
///
/// It runs so late that thread-local objects of the host are gone. In a forked child nothing runs of what the parent's thread had set.
enum ThreadEnd {
    private final class Work {
        let run: () -> Void
        let generation = ForkGuard.generation
        init(_ run: @escaping () -> Void) { self.run = run }
    }
    /// nil: the system has none left, and nobody learns of the end of a thread.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        let code = pthread_key_create(&key) { p in
            #if canImport(Darwin)
                ThreadEnd.run(p)
            #else
                if let p { ThreadEnd.run(p) }
            #endif
        }
        return code == 0 ? key : nil
    }()
    private static func run(_ p: UnsafeMutableRawPointer) {
        let work = Unmanaged<Work>.fromOpaque(p)
        // What it refers to may have been changing when the process was forked: it stays as it is.
        guard work._withUnsafeGuaranteedRef({ $0.generation == ForkGuard.generation }) else { return }
        work.takeRetainedValue().run()
    }
    /// Has the calling thread run `work` when it ends, in place of what was set before.
    static func set(_ work: @escaping () -> Void) {
        guard let key else { return }
        let earlier = pthread_getspecific(key).map { Unmanaged<Work>.fromOpaque($0) }
        let new = Unmanaged.passRetained(Work(work))
        guard pthread_setspecific(key, UnsafeRawPointer(new.toOpaque())) == 0 else { return new.release() }
        if let earlier, earlier._withUnsafeGuaranteedRef({ $0.generation == ForkGuard.generation }) { earlier.release() }
    }
}
