#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Memory that goes to programs in C, which give it back through the library; and texts as C has them, with a zero byte behind.
package enum CMemory {
    /// nil: there is none.
    package static func allocate(_ count: Int) -> UnsafeMutableRawPointer? { malloc(count) }
    package static func release(_ block: UnsafeMutableRawPointer?) { free(block) }
    /// A copy to be released; nil: no memory.
    package static func copy(_ text: String) -> UnsafeMutablePointer<CChar>? { strdup(text) }
    package static func copy(_ from: UnsafeRawPointer, to: UnsafeMutableRawPointer, _ count: Int) { memcpy(to, from, count) }
    /// Bytes before the zero.
    package static func length(_ text: UnsafePointer<CChar>) -> Int { strlen(text) }
}
