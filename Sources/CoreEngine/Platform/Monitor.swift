#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A value behind a mutex that threads of this process wait for: who waits sleeps in the kernel until somebody changed the value.
///
/// Not to be touched in a forked child of the process that made it.
package final class Monitor<Value>: @unchecked Sendable {  // All access to `value` and `waiting` happens under `mutex`.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value
    private var waiting = 0

    package init(_ initial: Value) {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        changed = .allocate(capacity: 1)
        changed.initialize(to: pthread_cond_t())
        pthread_cond_init(changed, nil)
        value = initial
    }
    deinit {
        pthread_cond_destroy(changed)
        changed.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }
    /// Changes the value; those who wait look at it again.
    package func with<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer {
            if waiting > 0 { pthread_cond_broadcast(changed) }
            pthread_mutex_unlock(mutex)
        }
        return try body(&value)
    }
    /// Waits until `body` has an answer: it is asked at once, and again after each change.
    package func wait<R, E: Error>(_ body: (inout Value) throws(E) -> R?) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer {
            if waiting > 0 { pthread_cond_broadcast(changed) }
            pthread_mutex_unlock(mutex)
        }
        while true {
            if let answer = try body(&value) { return answer }
            waiting += 1
            pthread_cond_wait(changed, mutex)
            waiting -= 1
        }
    }
}
