@preconcurrency import CHints

/// Order between the memory accesses of threads where one of them must not pay for it.
///
/// The fast side stores, calls `keepOrder`, loads. The slow side stores, calls `fenceAllThreads`, loads. When that
/// returned true, at least one of them sees what the other one stored.
extension Platform {
    @inline(__always) static func keepOrder() { hint_keep_order() }
    private static let canFence = hint_membarrier(16) == 0

    /// A full fence on every thread of the process; false where the system has none.
    static func fenceAllThreads() -> Bool { canFence && hint_membarrier(8) == 0 }
}
