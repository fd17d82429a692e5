import CSodium

/// Seals and opens blocks of CRealm's encrypted form: `nonce (24) | tag (16) | ciphertext`.
///
/// Every seal draws a new random nonce. Its first 8 bytes are the *stamp* of the block, which identifies its version.
/// Blocks that refer to it store the stamp, so that an older copy of the block is refused although it authenticates.
/// File identity, kind, number and stamp are associated data. With AES-256-GCM each block has a separate key, derived
/// from the first half of its nonce, so random nonces stay far below the limits of that cipher. Layout:
/// docs/security.md §3.
///
/// Thread rule: one thread at a time.
final class PageSeal {
    enum Kind: UInt8, CaseIterable { case root = 0, group = 1, table = 2, page = 3, announcement = 4 }
    @inline(__always) static var overhead: Int { 40 }

    private let cipher: PageCipher

    /// One key of 32 bytes per kind.
    private let keys: SecretKey

    /// identity (16) | kind (1) | zero (7) | number (8) | stamp (8)
    private var associated: [UInt8]

    /// The key of the current block, for AES-256-GCM.
    private let blockKey: SecretKey

    /// Derives the keys of all kinds. Layout: docs/security.md §2.
    static func keys(_ dataKey: SecretKey) throws(RealmError) -> SecretKey {
        try SecretKey(count: Kind.allCases.count * 32) { out in
            dataKey.with { keyBytes in
                for kind in 0..<Kind.allCases.count {
                    _ = crypto_kdf_derive_from_key(out + kind * 32, 32, UInt64(kind + 1), "CRealm24", keyBytes)
                }
            }
        }
    }

    init(_ cipher: PageCipher, keys: SecretKey, fileIdentity: ArraySlice<UInt8>) throws(RealmError) {
        guard cipher != .aes256gcm || (Crypto.ready && crypto_aead_aes256gcm_is_available() == 1) else {
            throw RealmError(
                .notSupported, "The file is encrypted with AES-256-GCM, for which this processor has no instructions")
        }
        self.cipher = cipher
        self.keys = keys
        associated = Array(fileIdentity) + [UInt8](repeating: 0, count: 24)
        blockKey = try SecretKey(count: 32) { _ in }
    }

    private func prepare(_ kind: Kind, _ number: UInt64, _ nonce: UnsafeRawPointer) {
        associated.withUnsafeMutableBytes {
            $0[16] = kind.rawValue
            $0.storeBytes(of: number.littleEndian, toByteOffset: 24, as: UInt64.self)
            $0.storeBytes(of: nonce.loadUnaligned(as: UInt64.self), toByteOffset: 32, as: UInt64.self)
        }
        guard cipher == .aes256gcm else { return }
        blockKey.refill { out in
            keys.with { keyBytes in
                _ = crypto_generichash(
                    out, 32, nonce.assumingMemoryBound(to: UInt8.self), 12, keyBytes + Int(kind.rawValue) * 32, 32)
            }
        }
    }

    /// Seals `count` bytes of `from` into `block`; returns the stamp, never 0.
    func seal(_ kind: Kind, _ number: Int, from: UnsafeRawPointer, count: Int, into block: UnsafeMutableRawPointer)
        -> UInt64
    {
        repeat { randombytes_buf(block, 24) } while block.loadUnaligned(as: UInt64.self) == 0
        prepare(kind, UInt64(number), block)
        let bytes = block.assumingMemoryBound(to: UInt8.self), plain = from.assumingMemoryBound(to: UInt8.self)
        if cipher == .aes256gcm {
            blockKey.with { keyBytes in
                _ = crypto_aead_aes256gcm_encrypt_detached(
                    bytes + 40, bytes + 24, nil, plain, UInt64(count), associated, 40, nil, bytes + 12, keyBytes)
            }
        } else {
            keys.with { keyBytes in
                _ = crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
                    bytes + 40, bytes + 24, nil, plain, UInt64(count), associated, 40, nil, bytes,
                    keyBytes + Int(kind.rawValue) * 32)
            }
        }
        return Self.stamp(block)
    }

    /// Opens `block` into `to`; false when it was not sealed with this kind and number for this file.
    func open(_ kind: Kind, _ number: Int, _ block: UnsafeRawPointer, count: Int, into to: UnsafeMutableRawPointer)
        -> Bool
    {
        prepare(kind, UInt64(number), block)
        let bytes = block.assumingMemoryBound(to: UInt8.self), plain = to.assumingMemoryBound(to: UInt8.self)
        if cipher == .aes256gcm {
            return blockKey.with { keyBytes in
                crypto_aead_aes256gcm_decrypt_detached(
                    plain, nil, bytes + 40, UInt64(count), bytes + 24, associated, 40, bytes + 12, keyBytes) == 0
            }
        }
        return keys.with { keyBytes in
            crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
                plain, nil, bytes + 40, UInt64(count), bytes + 24, associated, 40, bytes,
                keyBytes + Int(kind.rawValue) * 32)
                == 0
        }
    }

    @inline(__always) static func stamp(_ block: UnsafeRawPointer) -> UInt64 {
        block.loadUnaligned(as: UInt64.self).littleEndian
    }
}
