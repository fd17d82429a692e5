import COpenSSL

/// The ciphers of Realm's encrypted form over pages of 4096 bytes: AES-256-CBC without padding, HMAC-SHA-224 over the ciphertext.
/// Format: storage §7.4.
///
/// Thread rule: one thread at a time.
final class RealmPageCipher {
    static let pageSize = 4096, macSize = 28

    private let key: SecretKey
    private let encryption: OpaquePointer, decryption: OpaquePointer

    /// - Parameter key: 64 bytes: AES key, HMAC key.
    init(_ key: SecretKey) throws(RealmError) {
        guard key.count == 64 else { throw RealmError(.invalidEncryptionKey, "Encryption key must be 64 bytes.") }
        guard let e = EVP_CIPHER_CTX_new(), let d = EVP_CIPHER_CTX_new() else { throw RealmError(.outOfMemory, "No memory for a cipher") }
        self.key = key
        (encryption, decryption) = (e, d)
        let ready = key.with { k in EVP_EncryptInit_ex(e, EVP_aes_256_cbc(), nil, k, nil) == 1 && EVP_DecryptInit_ex(d, EVP_aes_256_cbc(), nil, k, nil) == 1 }
        EVP_CIPHER_CTX_set_padding(e, 0)
        EVP_CIPHER_CTX_set_padding(d, 0)
        guard ready else { throw RealmError(.notSupported, "The system's libcrypto has no AES-256-CBC") }
    }
    deinit {
        EVP_CIPHER_CTX_free(encryption)
        EVP_CIPHER_CTX_free(decryption)
    }

    private static func vector(_ counter: UInt32, _ position: Int) -> (UInt64, UInt64) {
        let p = UInt64(position)
        return ((UInt64(counter) | p << 32).littleEndian, (p >> 32).littleEndian)
    }
    /// - Parameter position: data position of the page in bytes.
    func encrypt(_ from: UnsafeRawPointer, into to: UnsafeMutableRawPointer, counter: UInt32, position: Int) throws(RealmError) {
        var vector = Self.vector(counter, position), n: Int32 = 0
        let done = withUnsafeBytes(of: &vector) { v in
            EVP_EncryptInit_ex(encryption, nil, nil, nil, v.baseAddress!.assumingMemoryBound(to: UInt8.self)) == 1
                && EVP_EncryptUpdate(encryption, to.assumingMemoryBound(to: UInt8.self), &n, from.assumingMemoryBound(to: UInt8.self), Int32(Self.pageSize)) == 1
        }
        guard done, n == Int32(Self.pageSize) else { throw RealmError(.systemError, "AES-256-CBC failed in libcrypto") }
    }
    func decrypt(_ from: UnsafeRawPointer, into to: UnsafeMutableRawPointer, counter: UInt32, position: Int) throws(RealmError) {
        var vector = Self.vector(counter, position), n: Int32 = 0
        let done = withUnsafeBytes(of: &vector) { v in
            EVP_DecryptInit_ex(decryption, nil, nil, nil, v.baseAddress!.assumingMemoryBound(to: UInt8.self)) == 1
                && EVP_DecryptUpdate(decryption, to.assumingMemoryBound(to: UInt8.self), &n, from.assumingMemoryBound(to: UInt8.self), Int32(Self.pageSize)) == 1
        }
        guard done, n == Int32(Self.pageSize) else { throw RealmError(.systemError, "AES-256-CBC failed in libcrypto") }
    }
    /// HMAC-SHA-224 of a page's ciphertext, 28 bytes.
    func mac(_ ciphertext: UnsafeRawPointer, into out: UnsafeMutableRawPointer) {
        var n: UInt32 = 0
        key.with { k in
            _ = HMAC(EVP_sha224(), k + 32, 32, ciphertext.assumingMemoryBound(to: UInt8.self), Self.pageSize, out.assumingMemoryBound(to: UInt8.self), &n)
        }
    }
}
