import CSodium

/// The first 512 bytes of a file in CRealm's encrypted form: the cipher, how the key is derived, and the encrypted data
/// key of the file.
///
///       0  magic "CRealmE1"                  48  passes, memory of the passphrase derivation, u64 each
///       8  cipher: 0 or 1                    64  nonce of the wrap, 24 bytes
///       9  secret: 0 key, 1 passphrase       88  data key, sealed: 32 bytes, then the tag of 16
///      12  generation, u32                  136  checksum: BLAKE2b of [0, 136), 16 bytes
///      16  file identity, 16 bytes          152  zero
///      32  salt, 16 bytes
///
/// The data key never changes, so that a change of the key or passphrase rewrites only this block. Layout:
/// docs/security.md §2.
struct KeyBlock: Equatable {
    static let size = 512
    static let magic: [UInt8] = Array("CRealmE1".utf8)
    private static let wrapAt = 88, checksumAt = 136, end = 152

    private(set) var bytes: [UInt8]

    var cipher: PageCipher { bytes[8] == 0 ? .xchacha20 : .aes256gcm }
    var generation: UInt32 { word(12) }
    var fileIdentity: ArraySlice<UInt8> { bytes[16..<32] }
    private var cost: PassphraseCost { PassphraseCost(passes: word(48), memory: word(56)) }

    private func word<T: FixedWidthInteger>(_ at: Int) -> T {
        bytes.withUnsafeBytes { T(littleEndian: $0.loadUnaligned(fromByteOffset: at, as: T.self)) }
    }

    private mutating func put<T: FixedWidthInteger>(_ at: Int, _ value: T) {
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: value.littleEndian, toByteOffset: at, as: T.self) }
    }

    private mutating func randomise(_ range: Range<Int>) {
        bytes.withUnsafeMutableBytes { Crypto.randomFill(UnsafeMutableRawBufferPointer(rebasing: $0[range])) }
    }

    static func isPresent(in bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= 8 && bytes.prefix(8).elementsEqual(magic)
    }

    /// A block for a new file, and the new data key.
    static func create(_ encryption: Encryption) throws(RealmError) -> (block: KeyBlock, dataKey: SecretKey) {
        var block = KeyBlock(bytes: [UInt8](repeating: 0, count: size))
        block.bytes.replaceSubrange(0..<8, with: magic)
        block.bytes[8] = encryption.cipher == .aes256gcm ? 1 : 0
        block.randomise(16..<32)
        let dataKey = try SecretKey(count: 32) { randombytes_buf($0, 32) }
        try block.wrap(dataKey, encryption)
        return (block, dataKey)
    }

    /// A block for the same file with another secret. Its generation is one higher.
    func rewrapped(_ dataKey: SecretKey, _ encryption: Encryption) throws(RealmError) -> KeyBlock {
        var copy = self
        copy.put(12, generation &+ 1)
        try copy.wrap(dataKey, encryption)
        return copy
    }

    /// Checks the content of a file: the checksum distinguishes damage from a wrong key.
    init(checking raw: UnsafeRawBufferPointer) throws(RealmError) {
        guard raw.count >= Self.size, Self.isPresent(in: raw) else {
            throw RealmError(.invalidDatabase, "the encryption header is missing or damaged")
        }
        let block = KeyBlock(bytes: Array(raw.prefix(Self.size)))
        guard block.checksum() == Array(block.bytes[Self.checksumAt..<Self.end]),
            raw[Self.end...].allSatisfy({ $0 == 0 })
        else {
            throw RealmError(.invalidDatabase, "the encryption header is damaged")
        }
        guard block.bytes[8] <= 1, block.bytes[9] <= 1, block.bytes[10] == 0, block.bytes[11] == 0 else {
            throw RealmError(.unsupportedFileFormat, "the file is encrypted in a way that this version does not know")
        }
        guard block.bytes[9] == 0 || block.cost.isSensible else {
            throw RealmError(.invalidDatabase, "the cost of the passphrase is out of range")
        }
        self = block
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func checksum() -> [UInt8] {
        var out = [UInt8](repeating: 0, count: 16)
        _ = Crypto.ready
        crypto_generichash(&out, 16, bytes, UInt64(Self.checksumAt), nil, 0)
        return out
    }

    // MARK: Wrapping

    /// The key that wraps the data key.
    private func wrappingKey(_ secret: Encryption.Secret) throws(RealmError) -> SecretKey {
        let salt = Array(bytes[32..<48])
        switch secret {
        case .key(let key):
            let message = Array("CRealm key wrap".utf8) + salt
            return try message.withBytes { (m) throws(RealmError) in try Crypto.hash(m, key: key) }
        case .passphrase(let words):
            let cost = cost
            return try SecretKey(count: 32) { (out) throws(RealmError) in
                let done = words.with { phrase in
                    phrase.withMemoryRebound(to: CChar.self, capacity: words.count) { text in
                        crypto_pwhash(
                            out, 32, text, UInt64(words.count), salt, cost.passes, Int(cost.memory),
                            crypto_pwhash_ALG_ARGON2ID13)
                    }
                }
                guard done == 0 else {
                    throw RealmError(
                        .outOfMemory, "No memory to derive a key from the passphrase (\(cost.memory) bytes)")
                }
            }
        }
    }

    private mutating func wrap(_ dataKey: SecretKey, _ encryption: Encryption) throws(RealmError) {
        switch encryption.secret {
        case .key(let key):
            guard key.count == 64 else { throw RealmError(.invalidEncryptionKey, "Encryption key must be 64 bytes.") }
            bytes[9] = 0
            put(48, UInt64(0))
            put(56, UInt64(0))
        case .passphrase:
            guard encryption.cost.isSensible else {
                throw RealmError(.invalidArgument, "The cost of a passphrase is 1 to 32 passes over 8 KiB to 1 GiB")
            }
            bytes[9] = 1
            put(48, encryption.cost.passes)
            put(56, encryption.cost.memory)
        }
        randomise(32..<48)
        randomise(64..<88)
        let key = try wrappingKey(encryption.secret)
        var sealed = [UInt8](repeating: 0, count: 48)
        let nonce = Array(bytes[64..<88]), head = Array(bytes[..<Self.wrapAt])
        key.with { keyBytes in
            dataKey.with { dataBytes in
                _ = crypto_aead_xchacha20poly1305_ietf_encrypt(
                    &sealed, nil, dataBytes, 32, head, UInt64(head.count), nil, nonce, keyBytes)
            }
        }
        bytes.replaceSubrange(Self.wrapAt..<Self.checksumAt, with: sealed)
        bytes.replaceSubrange(Self.checksumAt..<Self.end, with: checksum())
    }

    /// The data key; nil when the secret is wrong.
    func unwrap(_ encryption: Encryption) throws(RealmError) -> SecretKey? {
        switch (bytes[9], encryption.secret) {
        case (0, .key(let key)) where key.count == 64: break
        case (1, .passphrase):
            guard cost.isAcceptable(asked: encryption.cost) else {
                throw RealmError(
                    .invalidDatabase,
                    "deriving its key would take \(cost.passes) passes over \(cost.memory) bytes: more than is done unasked. "
                        + "Give the passphrase with that cost"
                )
            }
        default: return nil
        }
        let key = try wrappingKey(encryption.secret)
        let sealed = Array(bytes[Self.wrapAt..<Self.checksumAt]), nonce = Array(bytes[64..<88]),
            head = Array(bytes[..<Self.wrapAt])
        var opened = false
        let result = try SecretKey(count: 32) { out in
            key.with { keyBytes in
                opened =
                    crypto_aead_xchacha20poly1305_ietf_decrypt(
                        out, nil, nil, sealed, 48, head, UInt64(head.count), nonce, keyBytes) == 0
            }
        }
        return opened ? result : nil
    }

    /// Whether the file asks for a passphrase.
    var wantsPassphrase: Bool { bytes[9] == 1 }
}
