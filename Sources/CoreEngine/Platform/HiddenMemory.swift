#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Memory for copies of what files hold, left out of core dumps where the system can do that (Linux): an encrypted file must not be readable
/// from the dump of a program that had it open. Given back to the system, not to the heap, when the last reference goes.
///
/// Thread rule: as its user's.
final class HiddenMemory {
    let base: UnsafeMutableRawPointer
    let count: Int
    private let isMapped: Bool

    /// - Parameter count: at least so many bytes; zero at first.
    init(_ count: Int) {
        self.count = (max(count, 1) + Platform.pageSize - 1) / Platform.pageSize * Platform.pageSize
        if let p = system.mmap(nil, self.count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), p != MAP_FAILED {
            base = p
            isMapped = true
            Self.hide(p, self.count)
        } else {
            // The heap says for itself when it has nothing left.
            base = .allocate(byteCount: self.count, alignment: Platform.pageSize)
            isMapped = false
            Platform.zero(base, self.count)
        }
    }
    deinit {
        if isMapped {
            _ = system.munmap(base, count)
        } else {
            Platform.zero(base, count)
            base.deallocate()
        }
    }
    /// Leaves memory of whole pages out of core dumps.
    static func hide(_ at: UnsafeMutableRawPointer, _ count: Int) {
        #if !canImport(Darwin)
            if count > 0 { _ = system.madvise(at, count, 16) }  // MADV_DONTDUMP
        #endif
    }
}
