/// The cipher that seals the pages of an encrypted file. Numbers: `crealm_page_cipher_e`.
public enum PageCipher: Int32, Sendable {
    /// CRealm's form with XChaCha20-Poly1305.
    case xchacha20 = 0
    /// CRealm's form with AES-256-GCM, for processors that support it.
    case aes256gcm = 1
    /// Realm's form: AES-256-CBC and HMAC-SHA-224. Format: storage §7.
    case realm = 2
}

/// The secret of an encrypted file, and the settings for a new one.
public struct Encryption: Sendable, Equatable {
    /// The kinds of secrets.
    public enum Secret: Sendable, Equatable {
        /// A key of 64 bytes.
        case key(SecretKey)
        /// Any bytes; the key is derived with Argon2id.
        case passphrase(SecretKey)
    }

    /// The secret that opens the file.
    public var secret: Secret

    /// For a new file; an existing file names its cipher itself.
    public var cipher = PageCipher.xchacha20

    /// For a new file with a passphrase.
    public var cost = PassphraseCost()

    /// Bytes of decrypted pages to keep although no snapshot in use needs them; 0: a default for the machine.
    public var memory = 0

    /// Uses the default cipher and cost.
    public init(_ secret: Secret) { self.secret = secret }

    /// Whether both have the same secret, and so open the same files.
    public static func == (a: Encryption, b: Encryption) -> Bool { a.secret == b.secret }
}

/// The cost of one guess at a passphrase. Source: Argon2id, RFC 9106.
public struct PassphraseCost: Sendable, Equatable {
    /// Passes over the memory, 1 … 32.
    public var passes: UInt64 = 3

    /// Bytes, 8 KiB … 1 GiB.
    public var memory: UInt64 = 64 << 20

    /// The default cost.
    public init() {}

    /// - Parameters:
    ///   - passes: number of passes over the memory.
    ///   - memory: bytes.
    public init(passes: UInt64, memory: UInt64) {
        self.passes = passes
        self.memory = memory
    }

    var isSensible: Bool { passes >= 1 && passes <= 32 && memory >= 8 << 10 && memory <= 1 << 30 }

    /// Whether a file may claim this cost without the consent of the program. A higher cost takes a second or more, or
    /// memory that small machines lack: by forging the first bytes of a file, an attacker could make every program that
    /// opens it pay that cost.
    /// - Parameter asked: the cost that the program would choose for a new file.
    func isAcceptable(asked: PassphraseCost) -> Bool {
        guard isSensible else { return false }
        return memory <= 256 << 20 && passes * memory <= 1 << 30
            || memory <= asked.memory && passes * memory <= asked.passes * asked.memory
    }
}
