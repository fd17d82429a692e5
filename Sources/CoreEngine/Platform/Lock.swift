import Synchronization

#if THREAD_SANITIZER
    @preconcurrency import CHints
#endif

/// A value behind a mutex. (`Mutex` of the standard library, in a class so that it can be a stored property of one, with typed throws.)
package final class Lock<Value>: @unchecked Sendable {  // All access to `value` happens under `mutex`.
    private let mutex = Mutex(())
    private var value: Value
    package init(initial: Value) { value = initial }
    @inline(__always) package func with<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        mutex._unsafeLock()
        #if THREAD_SANITIZER
            // The mutex comes from the standard library, into which the sanitizer does not see.
            hint_sanitizer_locked(Unmanaged.passUnretained(self).toOpaque())
        #endif
        defer {
            #if THREAD_SANITIZER
                hint_sanitizer_unlocks(Unmanaged.passUnretained(self).toOpaque())
            #endif
            mutex._unsafeUnlock()
        }
        return try body(&value)
    }
}
