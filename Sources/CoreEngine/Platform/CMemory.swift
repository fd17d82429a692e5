#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// Memory that goes to programs in C, which give it back through the library; and texts as C has them, with a zero byte
/// behind.
package enum CMemory {
    /// nil: there is none.
    package static func allocate(_ count: Int) -> UnsafeMutableRawPointer? { malloc(count) }

    /// The block with another size, its content moved along; nil: there is no memory, and the block is as it was.
    static func reallocate(_ block: UnsafeMutableRawPointer?, _ count: Int) -> UnsafeMutableRawPointer? {
        realloc(block, count)
    }

    package static func release(_ block: UnsafeMutableRawPointer?) { free(block) }

    /// A copy to be released; nil: no memory.
    package static func copy(_ text: String) -> UnsafeMutablePointer<CChar>? { strdup(text) }

    package static func copy(_ from: UnsafeRawPointer, to: UnsafeMutableRawPointer, _ count: Int) {
        memcpy(to, from, count)
    }

    /// The largest block that is taken without a question: so much there is in every program that works at all.
    static let smallBlock = 1 << 16

    /// Throws when there is no memory for `count` elements of `size` bytes. Swift's arrays and texts end the process
    /// when the system refuses them memory. So a caller asks here first where a file or the program decides how large
    /// they become: the block is taken, and given back at once.
    package static func expect(_ count: Int, each size: Int = 1) throws(RealmError) {
        let (bytes, isBeyond) = max(count, 0).multipliedReportingOverflow(by: size)
        if !isBeyond && bytes <= smallBlock { return }
        guard !isBeyond, let block = obtain(bytes) else { throw refused(bytes) }
        free(block)
    }

    /// A function of its own: the compiler leaves out a block that is taken and given back unused.
    @inline(never) private static func obtain(_ bytes: Int) -> UnsafeMutableRawPointer? { malloc(bytes) }

    @inline(never) private static func refused(_ bytes: Int) -> RealmError {
        RealmError(.outOfMemory, "There is no memory for \(bytes) bytes that the call needs")
    }

    /// Bytes before the zero.
    package static func length(_ text: UnsafePointer<CChar>) -> Int { strlen(text) }
}

extension Array {
    /// Makes room for `more` elements, at least twice as much as there was. Throws when there is no memory for it.
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
        // A table of a power of two, three quarters of it in use, and a bit for each place.
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

/// Numbers of the system's errors, for interfaces that tell of a failure by one.
enum ErrorNumber {
    static let outOfMemory = ENOMEM, overflow = EOVERFLOW, invalidArgument = EINVAL, inputOutput = EIO,
        illegalSequence = EILSEQ
}
