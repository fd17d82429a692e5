/// The structs of the Arrow C data interface and of its streams, as `include/crealm.h` declares them for C. Whoever
/// fills one sets `release`; whoever calls that gives back the struct's content, and finds `release` nil afterwards.

/// What the values of a column are.
struct ArrowSchema {
    typealias Release = @convention(c) (_ schema: UnsafeMutableRawPointer?) -> Void

    /// The type, in the letters of the interface: `l` for 64-bit integers.
    var format: UnsafePointer<CChar>?
    var name: UnsafePointer<CChar>?

    /// Pairs of texts with their lengths.
    var metadata: UnsafePointer<CChar>?
    var flags: Int64 = 0
    var childCount: Int64 = 0
    var children: UnsafeMutablePointer<UnsafeMutablePointer<ArrowSchema>?>?
    var dictionary: UnsafeMutablePointer<ArrowSchema>?
    var release: Release?
    var privateData: UnsafeMutableRawPointer?

    /// Bits of `flags`.
    static let nullable: Int64 = 2, mapKeysSorted: Int64 = 4
}

/// The values of a column, or of a range of its rows.
struct ArrowArray {
    typealias Release = @convention(c) (_ array: UnsafeMutableRawPointer?) -> Void

    var length: Int64 = 0

    /// -1: not counted.
    var nullCount: Int64 = 0

    /// Elements of the buffers before the first value.
    var offset: Int64 = 0
    var bufferCount: Int64 = 0
    var childCount: Int64 = 0
    var buffers: UnsafeMutablePointer<UnsafeRawPointer?>?
    var children: UnsafeMutablePointer<UnsafeMutablePointer<ArrowArray>?>?
    var dictionary: UnsafeMutablePointer<ArrowArray>?
    var release: Release?
    var privateData: UnsafeMutableRawPointer?
}

/// Arrays of one schema, one after the other. The functions return 0, or a number of the system's errors (errno).
struct ArrowArrayStream {
    typealias GetSchema = @convention(c) (_ stream: UnsafeMutableRawPointer?, _ out: UnsafeMutableRawPointer?) -> CInt
    typealias GetNext = @convention(c) (_ stream: UnsafeMutableRawPointer?, _ out: UnsafeMutableRawPointer?) -> CInt
    typealias GetLastError = @convention(c) (_ stream: UnsafeMutableRawPointer?) -> UnsafePointer<CChar>?
    typealias Release = @convention(c) (_ stream: UnsafeMutableRawPointer?) -> Void

    var getSchema: GetSchema?

    /// An array whose `release` is nil stands for the end.
    var getNext: GetNext?

    /// What the last failure was; nil when the call before did not fail.
    var getLastError: GetLastError?
    var release: Release?
    var privateData: UnsafeMutableRawPointer?
}
