#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Descriptors that a forked child closes at once: a child that only inherits them would keep their locks alive when its parent dies.
///
/// Thread rule: any.
enum ForkGuard {
    private static let capacity = 4096
    /// A word for each descriptor, one more than its number; 0: free.
    nonisolated(unsafe) private static let table: UnsafeMutableRawPointer = {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: capacity * 8, alignment: 64)
        Platform.zero(memory, capacity * 8)
        pthread_atfork(nil, nil) { ForkGuard.closeAll() }
        return memory
    }()
    private static func slot(_ i: Int) -> SharedWord { SharedWord(table + i * 8) }

    static func add(_ fd: Int32) {
        for i in 0..<capacity where slot(i).exchange(from: 0, to: UInt64(fd) + 1) { return }
    }
    static func remove(_ fd: Int32) {
        for i in 0..<capacity where slot(i).exchange(from: UInt64(fd) + 1, to: 0) { return }
    }
    private static func closeAll() {
        for i in 0..<capacity {
            let word = slot(i).load()
            guard word != 0 else { continue }
            slot(i).store(0)
            _ = system.close(Int32(word - 1))
        }
    }
}
