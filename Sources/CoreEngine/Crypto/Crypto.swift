import CSodium

/// # Crypto
///
/// Random bytes, secure wiping and (later) page encryption: a thin layer over libsodium; no primitive is written by hand.
///
/// May use: Platform, Values.
enum Crypto {
    /// libsodium picks its implementations once per process; every entry point here goes through this.
    private static let ready: Bool = sodium_init() >= 0

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
    /// Overwrites secrets in a way the compiler may not remove.
    static func wipe(_ buffer: UnsafeMutableRawBufferPointer) {
        guard ready, let base = buffer.baseAddress else { return }
        sodium_memzero(base, buffer.count)
    }
    /// Base64 with padding.
    static func base64(_ bytes: UnsafeRawBufferPointer) -> String {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return "" }
        let variant = Int32(sodium_base64_VARIANT_ORIGINAL)
        var text = [CChar](repeating: 0, count: sodium_base64_encoded_len(bytes.count, variant))
        sodium_bin2base64(&text, text.count, base.assumingMemoryBound(to: UInt8.self), bytes.count, variant)
        return String(decoding: text.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    /// Equality in constant time.
    static func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard ready, a.count == b.count else { return false }
        return sodium_memcmp(a, b, a.count) == 0
    }
}

/// A key in memory that is wiped when the last holder lets go of it.
final class SecretKey: Sendable, Equatable {
    let bytes: [UInt8]
    init(_ bytes: [UInt8]) { self.bytes = bytes }
    deinit {
        bytes.withUnsafeBytes { Crypto.wipe(UnsafeMutableRawBufferPointer(mutating: $0)) }
    }
    static func == (a: SecretKey, b: SecretKey) -> Bool { Crypto.constantTimeEqual(a.bytes, b.bytes) }
}
