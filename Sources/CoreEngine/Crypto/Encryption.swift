/// How the pages of an encrypted file are sealed. Numbers: `crealm_page_cipher_e`.
public enum PageCipher: Int32, Sendable {
    /// CRealm's form with XChaCha20-Poly1305.
    case xchacha20 = 0
    /// CRealm's form with AES-256-GCM, for processors that have it.
    case aes256gcm = 1
    /// Realm's form: AES-256-CBC and HMAC-SHA-224. Format: storage §7.
    case realm = 2
}

/// What opens an encrypted file, and how a new one is made.
public struct Encryption: Sendable, Equatable {
    /// What opens an encrypted file.
    public enum Secret: Sendable, Equatable {
        /// 64 bytes.
        case key(SecretKey)
        /// Any bytes; the key is derived with Argon2id.
        case passphrase(SecretKey)
    }

    /// What opens the file.
    public var secret: Secret

    /// For a new file; an existing one says itself what it is.
    public var cipher = PageCipher.xchacha20

    /// For a new file with a passphrase.
    public var cost = PassphraseCost()

    /// Bytes of decrypted pages to keep although no snapshot in use needs them; 0: what suits the machine.
    public var memory = 0

    /// With the usual cipher and cost.
    public init(_ secret: Secret) { self.secret = secret }

    /// Whether the same secret opens the same files.
    public static func == (a: Encryption, b: Encryption) -> Bool { a.secret == b.secret }
}

/// The price of one guess at a passphrase. Source: Argon2id, RFC 9106.
public struct PassphraseCost: Sendable, Equatable {
    /// Passes over the memory, 1 … 32.
    public var passes: UInt64 = 3

    /// Bytes, 8 KiB … 1 GiB.
    public var memory: UInt64 = 64 << 20

    /// The usual cost.
    public init() {}

    /// - Parameters:
    ///   - passes: how often the memory is gone over.
    ///   - memory: bytes.
    public init(passes: UInt64, memory: UInt64) {
        self.passes = passes
        self.memory = memory
    }

    var isSensible: Bool { passes >= 1 && passes <= 32 && memory >= 8 << 10 && memory <= 1 << 30 }

    /// Whether a file may claim this cost unasked. More takes a second or more, or memory that small machines lack:
    /// whoever forges the first bytes of a file could make every program that opens it pay for that. `asked`: what the
    /// program would pay for a new file.
    func isAcceptable(asked: PassphraseCost) -> Bool {
        guard isSensible else { return false }
        return memory <= 256 << 20 && passes * memory <= 1 << 30
            || memory <= asked.memory && passes * memory <= asked.passes * asked.memory
    }
}
