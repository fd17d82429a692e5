import CSodium

/// Secret bytes in memory of their own: between guard pages, locked against swapping and left out of core dumps where
/// the system allows it, and wiped when the last holder lets go.
///
/// Thread rule: any, but for `refill`. Source: libsodium, `sodium_malloc`.
// The bytes change in `refill` only, whose caller is the one holder.
public final class SecretKey: @unchecked Sendable, Equatable {

    /// Number of bytes.
    public let count: Int
    private let memory: UnsafeMutablePointer<UInt8>

    /// - Parameter fill: writes the secret; what it leaves out is zero.
    init(count: Int, _ fill: (UnsafeMutablePointer<UInt8>) throws(RealmError) -> Void) throws(RealmError) {
        guard Crypto.ready, count > 0, let block = sodium_malloc(count) else {
            throw RealmError(.outOfMemory, "No protected memory for a key")
        }
        self.count = count
        memory = block.assumingMemoryBound(to: UInt8.self)
        sodium_memzero(memory, count)
        do { try fill(memory) } catch {
            sodium_free(memory)
            throw error
        }
    }

    /// A copy; wiping the original is the caller's business.
    public convenience init(copying bytes: UnsafeRawBufferPointer) throws(RealmError) {
        try self.init(count: bytes.count) { to in
            if let from = bytes.baseAddress { Platform.copy(to, from, bytes.count) }
        }
    }

    deinit { sodium_free(memory) }

    /// The bytes, for as long as `body` runs.
    @inline(__always) public func with<R, E: Error>(_ body: (UnsafePointer<UInt8>) throws(E) -> R) throws(E) -> R {
        try body(UnsafePointer(memory))
    }

    /// Writes another secret in place of the first. Only for the one holder of the key.
    func refill(_ fill: (UnsafeMutablePointer<UInt8>) -> Void) { fill(memory) }

    /// In constant time.
    public static func == (a: SecretKey, b: SecretKey) -> Bool {
        a.count == b.count && sodium_memcmp(a.memory, b.memory, a.count) == 0
    }
}
