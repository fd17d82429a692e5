import CHints

#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// Bytes in memory, with the functions of the C library; memory that is passed to C programs, which release it through
/// the library; and C strings, which end with a zero byte.
package enum CMemory {
    /// Requests the cache lines at an address; any address is allowed.
    @inline(__always) static func prefetch(_ at: UnsafeRawPointer, lines: Int) {
        for i in 0..<lines { hint_prefetch(at + i &* 64) }
    }

    @inline(__always) static func copy(_ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer, _ count: Int) {
        memcpy(to, from, count)
    }

    @inline(__always) static func move(_ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer, _ count: Int) {
        memmove(to, from, count)
    }

    @inline(__always) static func zero(_ at: UnsafeMutableRawPointer, _ count: Int) { memset(at, 0, count) }

    /// Whether all bytes are zero; there must be at least one byte.
    static func isZero(_ at: UnsafeRawPointer, _ count: Int) -> Bool {
        at.load(as: UInt8.self) == 0 && memcmp(at, at + 1, count - 1) == 0
    }

    /// Whether all bytes are below 0x80.
    static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return true }
        var at = 0, all: UInt64 = 0
        while at &+ 8 <= bytes.count {
            all |= start.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            at &+= 8
        }
        while at < bytes.count {
            all |= UInt64(start.load(fromByteOffset: at, as: UInt8.self))
            at &+= 1
        }
        return all & 0x8080_8080_8080_8080 == 0
    }

    /// memcmp that accepts null pointers for empty ranges.
    @inline(__always) static func compare(_ a: UnsafeRawPointer?, _ b: UnsafeRawPointer?, _ count: Int) -> Int {
        guard count > 0, let a, let b else { return 0 }
        return Int(memcmp(a, b, count))
    }

    /// nil: no memory.
    package static func allocate(_ count: Int) -> UnsafeMutableRawPointer? { malloc(count) }

    /// Resizes a block and keeps its content; nil: no memory, and the block is unchanged.
    static func reallocate(_ block: UnsafeMutableRawPointer?, _ count: Int) -> UnsafeMutableRawPointer? {
        realloc(block, count)
    }

    package static func release(_ block: UnsafeMutableRawPointer?) { free(block) }

    /// A copy that the caller must release; nil: no memory.
    package static func copy(_ text: String) -> UnsafeMutablePointer<CChar>? { strdup(text) }

    package static func copy(_ from: UnsafeRawPointer, to: UnsafeMutableRawPointer, _ count: Int) {
        memcpy(to, from, count)
    }

    /// The largest block that is allocated without a check: every working program has that much memory.
    static let smallBlock = 1 << 16

    /// Throws when there is no memory for `count` elements of `size` bytes. Swift's arrays and strings end the process
    /// when an allocation fails. So a caller checks here first when a file or the program decides their size: the block
    /// is allocated and released at once.
    package static func expect(_ count: Int, each size: Int = 1) throws(RealmError) {
        let (bytes, isBeyond) = max(count, 0).multipliedReportingOverflow(by: size)
        if !isBeyond && bytes <= smallBlock { return }
        guard !isBeyond, let block = obtain(bytes) else { throw refused(bytes) }
        free(block)
    }

    /// A separate function: otherwise the compiler removes an allocation that is released unused.
    @inline(never) private static func obtain(_ bytes: Int) -> UnsafeMutableRawPointer? { malloc(bytes) }

    @inline(never) private static func refused(_ bytes: Int) -> RealmError {
        RealmError(.outOfMemory, "There is no memory for \(bytes) bytes that the call needs")
    }

    /// Number of bytes before the zero byte.
    package static func length(_ text: UnsafePointer<CChar>) -> Int { strlen(text) }
}

extension Array {
    /// Makes room for `more` elements; the capacity at least doubles. Throws when there is no memory.
    @inline(__always) package mutating func makeRoom(for more: Int) throws(RealmError) {
        if more > capacity &- count { try grow(by: more) }
    }

    @inline(never) private mutating func grow(by more: Int) throws(RealmError) {
        let (needed, isBeyond) = count.addingReportingOverflow(more)
        let wanted = isBeyond ? Int.max : Swift.max(needed, capacity &* 2)
        try CMemory.expect(wanted, each: MemoryLayout<Element>.stride)
        reserveCapacity(wanted)
    }

    /// As `append`, but throws when there is no memory for a larger array.
    @inline(__always) package mutating func add(_ element: Element) throws(RealmError) {
        try makeRoom(for: 1)
        append(element)
    }
}

extension Set {
    /// Makes room for one more element. Throws when there is no memory for a larger set.
    @inline(__always) mutating func makeRoom() throws(RealmError) {
        if count == capacity { try grow() }
    }

    @inline(never) private mutating func grow() throws(RealmError) {
        // The table has a power of two places, at most three quarters of them in use, and a bit for each place.
        try CMemory.expect(capacity &* 4 &+ 8, each: MemoryLayout<Element>.stride + 1)
    }
}

extension Dictionary {
    /// Makes room for one more entry. Throws when there is no memory for a larger dictionary.
    @inline(__always) mutating func makeRoom() throws(RealmError) {
        if count == capacity { try grow() }
    }

    @inline(never) private mutating func grow() throws(RealmError) {
        try CMemory.expect(capacity &* 4 &+ 8, each: MemoryLayout<Key>.stride + MemoryLayout<Value>.stride + 1)
    }
}

/// The operating system's error numbers, for interfaces that report a failure by number.
enum ErrorNumber {
    static let outOfMemory = ENOMEM, overflow = EOVERFLOW, invalidArgument = EINVAL, inputOutput = EIO,
        illegalSequence = EILSEQ
}
