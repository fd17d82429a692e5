import CSodium

/// A hash of bytes that come piece by piece, 32 bytes long. Source: BLAKE2b of libsodium.
///
/// Thread rule: one thread at a time.
final class Digest {
    static let size = 32
    private let memory = UnsafeMutableRawPointer.allocate(byteCount: crypto_generichash_statebytes(), alignment: 64)
    private var state: OpaquePointer { OpaquePointer(memory) }

    init() {
        _ = Crypto.ready
        crypto_generichash_init(state, nil, 0, Self.size)
    }
    deinit { memory.deallocate() }

    func add(_ bytes: UnsafeRawPointer, _ count: Int) {
        crypto_generichash_update(state, bytes.assumingMemoryBound(to: UInt8.self), UInt64(count))
    }
    /// The hash of all that was added; nothing can be added after it.
    func finish() -> [UInt8] {
        var out = [UInt8](repeating: 0, count: Self.size)
        crypto_generichash_final(state, &out, Self.size)
        return out
    }
}
