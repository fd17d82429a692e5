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

/// A value behind a mutex. (Not the standard library's `Mutex`: that one knows its holder by a number which a forked
/// child does not have.)
///
/// A lock of the whole process is never held in a forked child; any other one that its parent made may be, so it is not
/// touched there.
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

    /// The lock of the whole process that is called `name`.
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

/// The locks of the whole process: each is used by one `static` value. Whoever takes two takes the upper one first, and
/// no code of the host runs under any of them, since `fork` waits for them.
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
