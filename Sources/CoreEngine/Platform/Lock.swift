import Synchronization

/// A value behind a mutex. (`Mutex` of the standard library, in a class so that it can be a stored property of one, with typed throws.)
final class Lock<Value>: @unchecked Sendable {  // All access to `value` happens under `mutex`.
    private let mutex = Mutex(())
    private var value: Value
    init(initial: Value) { value = initial }
    @inline(__always) func with<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        mutex._unsafeLock()
        defer { mutex._unsafeUnlock() }
        return try body(&value)
    }
}
