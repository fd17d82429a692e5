import CSodium

/// # Crypto
///
/// Random bytes, keys and page encryption: thin wrappers of libsodium, and of libcrypto for Realm's own form; no
/// cryptographic primitive is implemented here. Layouts and threat model: docs/security.md.
///
/// May use: Basics.
enum Crypto {
    /// libsodium chooses its implementations once per process; every call of libsodium needs this first.
    static let ready: Bool = sodium_init() >= 0

    /// Fills `buffer` with unpredictable bytes.
    static func randomFill(_ buffer: UnsafeMutableRawBufferPointer) {
        guard ready, let base = buffer.baseAddress else { return }
        randombytes_buf(base, buffer.count)
    }

    static func randomWord() -> UInt64 {
        var word: UInt64 = 0
        withUnsafeMutableBytes(of: &word) { randomFill($0) }
        return word
    }

    /// Comparison in constant time.
    static func isEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ count: Int) -> Bool {
        sodium_memcmp(a, b, count) == 0
    }

    /// A digest of `message` with `count` bytes, 16 to 64. Source: BLAKE2b.
    static func digest(_ message: UnsafeRawBufferPointer, count: Int) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: count)
        out.withUnsafeMutableBytes { digest(message, into: $0) }
        return out
    }

    /// A digest of a text.
    static func digest(_ text: String, count: Int) -> [UInt8] {
        var out: [UInt8] = []
        Array(text.utf8).withUnsafeBytes { out = digest($0, count: count) }
        return out
    }

    /// As `digest`, into a buffer, whose size is that of the digest.
    static func digest(_ message: UnsafeRawBufferPointer, into out: UnsafeMutableRawBufferPointer) {
        guard ready, let start = out.baseAddress else { return }
        crypto_generichash(
            start.assumingMemoryBound(to: UInt8.self), out.count,
            message.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(message.count), nil, 0)
    }

    /// A keyed hash of `message`, 8 bytes, for tables whose values an attacker may choose. Source: SipHash-2-4.
    ///
    /// - Parameter key: 16 bytes.
    static func shortHash(_ message: UnsafeRawBufferPointer, key: [UInt8]) -> UInt64 {
        guard ready, key.count == Int(crypto_shorthash_KEYBYTES) else { return 0 }
        var word: UInt64 = 0
        withUnsafeMutableBytes(of: &word) { out in
            if let start = out.baseAddress {
                _ = crypto_shorthash(
                    start.assumingMemoryBound(to: UInt8.self),
                    message.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(message.count), key)
            }
        }
        return UInt64(littleEndian: word)
    }

    /// A keyed hash of `message`, 32 bytes. Source: BLAKE2b.
    static func hash(_ message: UnsafeRawBufferPointer, key: SecretKey) throws(RealmError) -> SecretKey {
        try SecretKey(count: 32) { out in
            key.with { keyBytes in
                _ = crypto_generichash(
                    out, 32, message.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(message.count), keyBytes,
                    key.count)
            }
        }
    }
}
