import CGuards

/// Separates what a forked child of this process may use from what belongs to its parent. The design: `fork_guard.h`.
///
/// Thread rule: any.
package enum ForkGuard {
    /// Differs between a process and its children: objects that were made under another number are inherited, and must
    /// not be touched.
    @inline(__always) package static var generation: UInt32 { fork_guard_generation() }

    /// Guards the descriptors that forked children close.
    private static let descriptors = Lock(initial: (), of: .descriptors)

    /// Runs `open`; the descriptor that it returns is closed in forked children immediately. A negative result: nothing
    /// was opened.
    static func opening(_ open: () -> Int32) throws(RealmError) -> Int32 {
        let fd = descriptors.with { _ -> Int32? in
            let fd = open()
            if fd < 0 || fork_guard_add(fd) { return fd }
            _ = system.close(fd)
            return nil
        }
        guard let fd else {
            throw RealmError(.limitExceeded, "More open files in this process than can be kept from its children")
        }
        return fd
    }

    static func close(_ fd: Int32) {
        descriptors.with { _ in
            fork_guard_remove(fd)
            _ = system.close(fd)
        }
    }
}
