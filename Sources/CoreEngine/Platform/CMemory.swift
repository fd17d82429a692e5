#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// Memory that goes to programs in C, which give it back through the library; and texts as C has them, with a zero byte behind.
package enum CMemory {
    /// nil: there is none.
    package static func allocate(_ count: Int) -> UnsafeMutableRawPointer? { malloc(count) }
    /// The block with another size, its content moved along; nil: there is no memory, and the block is as it was.
    static func reallocate(_ block: UnsafeMutableRawPointer?, _ count: Int) -> UnsafeMutableRawPointer? { realloc(block, count) }
    package static func release(_ block: UnsafeMutableRawPointer?) { free(block) }
    /// A copy to be released; nil: no memory.
    package static func copy(_ text: String) -> UnsafeMutablePointer<CChar>? { strdup(text) }
    package static func copy(_ from: UnsafeRawPointer, to: UnsafeMutableRawPointer, _ count: Int) { memcpy(to, from, count) }
    /// Bytes before the zero.
    package static func length(_ text: UnsafePointer<CChar>) -> Int { strlen(text) }
}

/// Numbers of the system's errors, for interfaces that tell of a failure by one.
enum ErrorNumber {
    static let outOfMemory = ENOMEM, overflow = EOVERFLOW, invalidArgument = EINVAL, inputOutput = EIO, illegalSequence = EILSEQ
}
