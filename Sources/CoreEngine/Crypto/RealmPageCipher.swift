import COpenSSL

/// The ciphers of Realm's encrypted form over pages of 4096 bytes: AES-256-CBC without padding, HMAC-SHA-224 over the
/// ciphertext. Format: storage §7.4.
///
/// Thread rule: one thread at a time.
final class RealmPageCipher {
    static let pageSize = 4096, macSize = 28

    private let key: SecretKey
    private let cipher, context: OpaquePointer

    /// - Parameter key: 64 bytes: first the AES key, then the HMAC key.
    init(_ key: SecretKey) throws(RealmError) {
        guard key.count == 64 else { throw RealmError(.invalidEncryptionKey, "Encryption key must be 64 bytes.") }
        guard let cipher = EVP_CIPHER_fetch(nil, "AES-256-CBC", nil) else {
            throw RealmError(.notSupported, "The system's libcrypto has no AES-256-CBC")
        }
        guard let context = EVP_CIPHER_CTX_new() else {
            EVP_CIPHER_free(cipher)
            throw RealmError(.outOfMemory, "No memory for a cipher")
        }
        (self.key, self.cipher, self.context) = (key, cipher, context)
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
        EVP_CIPHER_free(cipher)
    }

    private static func vector(_ counter: UInt32, _ position: Int) -> (UInt64, UInt64) {
        let offset = UInt64(position)
        return ((UInt64(counter) | offset << 32).littleEndian, (offset >> 32).littleEndian)
    }

    /// - Parameter position: data position of the page in bytes.
    func encrypt(_ from: UnsafeRawPointer, into to: UnsafeMutableRawPointer, counter: UInt32, position: Int)
        throws(RealmError)
    {
        try run(1, from, to, counter, position)
    }

    func decrypt(_ from: UnsafeRawPointer, into to: UnsafeMutableRawPointer, counter: UInt32, position: Int)
        throws(RealmError)
    {
        try run(0, from, to, counter, position)
    }

    /// libcrypto keeps the expanded key on the heap, so it is wiped after each page.
    private func run(
        _ encrypts: Int32, _ from: UnsafeRawPointer, _ to: UnsafeMutableRawPointer, _ counter: UInt32, _ position: Int
    ) throws(RealmError) {
        var vector = Self.vector(counter, position), written: Int32 = 0
        defer { EVP_CIPHER_CTX_reset(context) }
        let done = withUnsafeBytes(of: &vector) { vectorBytes in
            key.with { keyBytes in
                EVP_CipherInit_ex(
                    context, cipher, nil, keyBytes, vectorBytes.start.assumingMemoryBound(to: UInt8.self),
                    encrypts)
                    == 1
                    && EVP_CIPHER_CTX_set_padding(context, 0) == 1
                    && EVP_CipherUpdate(
                        context, to.assumingMemoryBound(to: UInt8.self), &written,
                        from.assumingMemoryBound(to: UInt8.self),
                        Int32(Self.pageSize)) == 1
            }
        }
        guard done, written == Int32(Self.pageSize) else {
            throw RealmError(.systemError, "AES-256-CBC failed in libcrypto")
        }
    }

    /// HMAC-SHA-224 of a page's ciphertext, 28 bytes.
    func mac(_ ciphertext: UnsafeRawPointer, into out: UnsafeMutableRawPointer) {
        var length: UInt32 = 0
        key.with { keyBytes in
            _ = HMAC(
                EVP_sha224(), keyBytes + 32, 32, ciphertext.assumingMemoryBound(to: UInt8.self), Self.pageSize,
                out.assumingMemoryBound(to: UInt8.self), &length)
        }
    }
}
