@preconcurrency import CHints

/// Orders the memory accesses of threads when one of them must not pay for it.
///
/// The fast side stores, calls `keepOrder`, loads. The slow side stores, calls `fenceAllThreads`, loads. If that
/// returned true, at least one side sees what the other one stored.
extension Platform {
    @inline(__always) static func keepOrder() { hint_keep_order() }
    private static let canFence = hint_membarrier(16) == 0

    /// A full fence on every thread of the process; false when the operating system does not support it.
    static func fenceAllThreads() -> Bool { canFence && hint_membarrier(8) == 0 }
}
