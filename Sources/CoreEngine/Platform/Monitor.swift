#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// A value behind a mutex, with a condition that threads of this process can wait for: a waiting thread sleeps in the
/// kernel until another thread changes the value.
///
/// Must not be touched in a forked child of the process that made it.
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
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        #if !canImport(Darwin)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        #endif
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
        value = initial
    }

    deinit {
        pthread_cond_destroy(changed)
        changed.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Changes the value; waiting threads check it again.
    package func with<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer {
            if waiting > 0 { pthread_cond_broadcast(changed) }
            pthread_mutex_unlock(mutex)
        }
        return try body(&value)
    }

    /// Waits until `body` returns an answer: it is called immediately, and again after each change.
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

    /// The same with a time limit; nil when the time is over.
    package func wait<R>(milliseconds: Int, _ body: (inout Value) -> R?) -> R? {
        pthread_mutex_lock(mutex)
        defer {
            if waiting > 0 { pthread_cond_broadcast(changed) }
            pthread_mutex_unlock(mutex)
        }
        let end = Platform.monotonicSeconds + Double(milliseconds) / 1000
        while true {
            if let answer = body(&value) { return answer }
            let rest = end - Platform.monotonicSeconds
            guard rest > 0 else { return nil }
            waiting += 1
            wait(atMost: rest)
            waiting -= 1
        }
    }

    private func wait(atMost seconds: Double) {
        #if canImport(Darwin)
            var span = timespec(tv_sec: Int(seconds), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
            pthread_cond_timedwait_relative_np(changed, mutex, &span)
        #else
            let at = Platform.monotonicSeconds + seconds
            var end = timespec(tv_sec: Int(at), tv_nsec: Int((at - at.rounded(.down)) * 1e9))
            pthread_cond_timedwait(changed, mutex, &end)
        #endif
    }
}
