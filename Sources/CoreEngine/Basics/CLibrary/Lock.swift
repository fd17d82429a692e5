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

/// A value behind a mutex. (The standard library's `Mutex` identifies its holder by a number that is not valid in a
/// forked child.)
///
/// A process lock is never held in a forked child. Any other lock may be held there by a thread of the parent, so it
/// must not be touched in the child.
package final class Lock<Value>: @unchecked Sendable {  // All access to `value` happens under `mutex`.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let isOwn: Bool
    private var value: Value

    package init(initial: Value) {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        isOwn = true
        value = initial
    }

    /// The process lock `name`.
    init(initial: Value, of name: ProcessLock) {
        mutex = fork_guard_lock(name.number)
        isOwn = false
        value = initial
    }

    deinit {
        guard isOwn else { return }
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @inline(__always) package func with<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}

/// The locks that belong to the whole process: each is used by one `static` value. A thread that takes two of them
/// takes the one that is listed first before the other. No code of the host runs while one of them is held, because
/// `fork` waits for them.
enum ProcessLock {
    case databases, realms, schedulers, log, faults, descriptors

    fileprivate var number: fork_guard_lock {
        switch self {
        case .databases: FORK_GUARD_DATABASES
        case .realms: FORK_GUARD_REALMS
        case .schedulers: FORK_GUARD_SCHEDULERS
        case .log: FORK_GUARD_LOG
        case .faults: FORK_GUARD_FAULTS
        case .descriptors: FORK_GUARD_DESCRIPTORS
        }
    }
}
