#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// Memory for copies of file content. Core dumps do not contain it where the operating system supports that (Linux): an
/// encrypted file must not be readable from the dump of a program that had it open. When the last reference is
/// released, the memory goes back to the operating system, not to the heap.
///
/// Thread rule: that of its user.
final class HiddenMemory {
    let base: UnsafeMutableRawPointer
    let count: Int

    /// - Parameter count: the minimum number of bytes; they are zero at first.
    init(_ count: Int) throws(RealmError) {
        self.count = (max(count, 1) + Platform.pageSize - 1) / Platform.pageSize * Platform.pageSize
        let address = system.mmap(nil, self.count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let address, address != MAP_FAILED else {
            throw Platform.error(errno, "No memory for \(self.count) bytes", path: nil)
        }
        base = address
        Self.hide(address, self.count)
    }

    deinit { _ = system.munmap(base, count) }

    /// Excludes memory of whole pages from core dumps.
    static func hide(_ at: UnsafeMutableRawPointer, _ count: Int) {
        #if !canImport(Darwin)
            if count > 0 { _ = system.madvise(at, count, 16) }  // MADV_DONTDUMP
        #endif
    }
}
