import CSodium

/// Secret bytes in separate memory: between guard pages, locked against swapping and excluded from core dumps where the
/// operating system allows it, and wiped when the last reference is released. Only `refill` changes the bytes; its
/// caller holds the only reference.
///
/// Thread rule: any, except for `refill`. Source: libsodium, `sodium_malloc`.
public final class SecretKey: @unchecked Sendable, Equatable {

    /// Number of bytes.
    public let count: Int
    private let memory: UnsafeMutablePointer<UInt8>

    /// - Parameter fill: writes the secret; bytes that it does not write are zero.
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

    /// Copies a secret; the caller wipes the original.
    public convenience init(copying bytes: UnsafeRawBufferPointer) throws(RealmError) {
        try self.init(count: bytes.count) { to in
            if let from = bytes.baseAddress { CMemory.copy(to, from, bytes.count) }
        }
    }

    deinit { sodium_free(memory) }

    /// Lends the bytes to `body`.
    @inline(__always) public func with<R, E: Error>(_ body: (UnsafePointer<UInt8>) throws(E) -> R) throws(E) -> R {
        try body(UnsafePointer(memory))
    }

    /// Overwrites the secret with another one. Only for the holder of the only reference.
    func refill(_ fill: (UnsafeMutablePointer<UInt8>) -> Void) { fill(memory) }

    /// Compares in constant time.
    public static func == (a: SecretKey, b: SecretKey) -> Bool {
        a.count == b.count && sodium_memcmp(a.memory, b.memory, a.count) == 0
    }
}
