// Known answers: the primitives against published vectors, as they are called here; and everything that a file's layout
// derives from them against values that Tests/Encryption/reader.py computes (`subkeys`, `make_key_block`,
// `wrapping_key`, `seal`), which is written from docs/security.md over another library.
import COpenSSL
import CSodium
import Testing

@testable import CoreEngine

private func hex(_ text: String) -> [UInt8] {
    let digits = text.utf8.map { UInt8($0 > 0x39 ? $0 - 87 : $0 - 48) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

private func bytes(_ first: UInt8, _ count: Int) -> [UInt8] { (0..<count).map { first &+ UInt8($0) } }

private func secret(_ bytes: [UInt8]) throws -> SecretKey { try bytes.withUnsafeBytes { try SecretKey(copying: $0) } }

private func content(_ key: SecretKey) -> [UInt8] {
    key.with { Array(UnsafeBufferPointer(start: $0, count: key.count)) }
}

// MARK: Published vectors

/// draft-irtf-cfrg-xchacha-03, A.3.1.
@Test func xchacha20Poly1305() {
    let text = Array(
        "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
            .utf8)
    let expected = hex(
        "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b4522f8c"
            + "9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff921f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49"
    )
    let ad = hex("50515253c0c1c2c3c4c5c6c7")
    var sealed = [UInt8](repeating: 0, count: text.count + 16)
    crypto_aead_xchacha20poly1305_ietf_encrypt(
        &sealed, nil, text, UInt64(text.count), ad, UInt64(ad.count), nil, bytes(0x40, 24), bytes(0x80, 32))
    #expect(sealed == expected)
}

/// McGrew and Viega, "The Galois/Counter Mode of Operation", test case 16.
@Test func aes256GCM() {
    guard Crypto.ready, crypto_aead_aes256gcm_is_available() == 1 else { return }
    let text = hex(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
    )
    let key = hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"),
        ad = hex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
    var sealed = [UInt8](repeating: 0, count: text.count + 16)
    crypto_aead_aes256gcm_encrypt(
        &sealed, nil, text, UInt64(text.count), ad, UInt64(ad.count), nil, hex("cafebabefacedbaddecaf888"), key)
    #expect(
        sealed
            == hex(
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
                    + "76fc6ece0f4e1768cddf8853bb2d551b"))
}

/// The first of the keyed vectors that come with BLAKE2.
@Test func blake2bKeyed() {
    var out = [UInt8](repeating: 0, count: 64)
    crypto_generichash(&out, 64, nil, 0, bytes(0, 64), 64)
    #expect(
        out
            == hex(
                "10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568"
            ))
}

/// NIST SP 800-38A, F.2.5.
@Test func aes256CBC() throws {
    let text = hex(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
    )
    let key = hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    let context = try #require(EVP_CIPHER_CTX_new())
    defer { EVP_CIPHER_CTX_free(context) }
    var out = [UInt8](repeating: 0, count: 64), n: Int32 = 0
    #expect(EVP_EncryptInit_ex(context, EVP_aes_256_cbc(), nil, key, bytes(0, 16)) == 1)
    #expect(EVP_CIPHER_CTX_set_padding(context, 0) == 1 && EVP_EncryptUpdate(context, &out, &n, text, 64) == 1)
    #expect(
        out
            == hex(
                "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b"
            ))
}

/// RFC 4231, test case 1.
@Test func hmacSHA224() {
    var out = [UInt8](repeating: 0, count: 28), n: UInt32 = 0
    _ = HMAC(EVP_sha224(), [UInt8](repeating: 0x0b, count: 20), 20, Array("Hi There".utf8), 8, &out, &n)
    #expect(n == 28 && out == hex("896fb1128abbdf196832107cd49df33f47b4b1169912ba4f53684b22"))
}

// MARK: Values of the independent reader

private let dataKey = bytes(0, 32), identity = bytes(0xa0, 16), sealNonce = bytes(0x10, 24)
private let fileKey = (0..<64).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) }
private let passphrase = Array("correct horse battery staple".utf8)
private let text = (0..<48).map { UInt8(truncatingIfNeeded: $0 * 13 + 5) }

@Test func keyedHashAndSubkeys() throws {
    let hash = try Array("abc".utf8).withUnsafeBytes { try Crypto.hash($0, key: secret(fileKey)) }
    #expect(content(hash) == hex("8289adab35aefc87a3dad87d6fa15f43109bf30c4dd9f660d1e0bcb0fbfb16e9"))
    let expected = [
        "e5fede0ff57524708400c10bbffb67d1cd9654a51e73588a1a2df37e0639a1f5",
        "c2566a1f31794a3dabac3e4932695cbd49ba86ddff80e4f371d4a7582a4a36cf",
        "0ff04f47699d43105c54190e78d507d739508eab4f6508e1707ede1858367b9e",
        "20d8ee3354118d29d5eb180606d48ca9942fed91db82327545e0ef8d16a2b333",
        "835d8fff0e9e7af87923a428decfa88c4644287ed887c4a1757a3c6220d2973d",
    ]
    #expect(try content(PageSeal.keys(secret(dataKey))) == hex(expected.joined()))
}

private let headOfKey =
    "435265616c6d45310100000005000000a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf00000000000000000000000000000000"
    + "c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d76926ea8d357038ac054d1cb546f216492d7e001db056d75d3ded9b19ba523956aa682c7c7abdbfda"
    + "e8ec729724398f7ace9cd10e7dea365677f321cfd34c722e"

/// Argon2id over 64 KiB in two passes.
private let headOfPassphrase =
    "435265616c6d45310001000000000000a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf02000000000000000000010000000000"
    + "c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7c6db50c8f53efec675b0aeb23ddfe99804f0e93d68cf5036dc345bdbaee5519ade3e588088f5364a"
    + "ceec59e8c3d812bbd077d6fe18d649d0ef1742dc392310b5"

private func block(_ head: String) throws -> KeyBlock {
    try (hex(head) + [UInt8](repeating: 0, count: 4096 - 152)).withUnsafeBytes { try KeyBlock(checking: $0) }
}

@Test func keyBlocks() throws {
    let key = Encryption.Secret.key(try secret(fileKey)), words = Encryption.Secret.passphrase(try secret(passphrase))
    let a = try block(headOfKey), b = try block(headOfPassphrase)
    #expect(a.cipher == .aes256gcm && a.generation == 5 && !a.wantsPassphrase && Array(a.fileIdentity) == identity)
    #expect(b.cipher == .xchacha20 && b.generation == 0 && b.wantsPassphrase)
    #expect(try a.unwrap(Encryption(key)).map(content) == dataKey)
    #expect(try b.unwrap(Encryption(words)).map(content) == dataKey)
    #expect(try a.unwrap(Encryption(words)) == nil && b.unwrap(Encryption(key)) == nil)
    #expect(
        try a.unwrap(Encryption(.passphrase(secret(fileKey)))) == nil
            && a.unwrap(Encryption(.key(secret(Array(fileKey.dropLast()) + [0])))) == nil)
    #expect(try b.unwrap(Encryption(.passphrase(secret(passphrase.dropLast())))) == nil)
    // Another secret, and back: the data key stays.
    let c = try a.rewrapped(secret(dataKey), Encryption(words))
    #expect(c.generation == 6 && c.wantsPassphrase && Array(c.fileIdentity) == identity)
    #expect(try c.unwrap(Encryption(words)).map(content) == dataKey && c.unwrap(Encryption(key)) == nil)
}

@Test func changedKeyBlocksAreRefused() throws {
    // The checksum finds damage, the wrap what somebody has changed on purpose, checksum included.
    for at in 0..<512 {
        var raw = hex(headOfKey) + [UInt8](repeating: 0, count: 512 - 152)
        raw[at] ^= 1
        #expect(throws: RealmError.self, "byte \(at)") { try raw.withUnsafeBytes { _ = try KeyBlock(checking: $0) } }
        guard at < 136 else { continue }
        var sum = [UInt8](repeating: 0, count: 16)
        crypto_generichash(&sum, 16, raw, 136, nil, 0)
        raw.replaceSubrange(136..<152, with: sum)
        let opened = try? raw.withUnsafeBytes { try KeyBlock(checking: $0) }.unwrap(Encryption(.key(secret(fileKey))))
        #expect(opened == nil, "byte \(at)")
    }
}

@Test func seals() throws {
    let sealed = [
        "101112131415161718191a1b1c1d1e1f20212223242526276544db46abab4bb26ffc932ac0c30a737d0979c345e80188f1f5a5f06cff92bdb7f7fb5eec3a93e6"
            + "53451b4c1bb28e930ed00171671e27e3eebee6c7a41d3dde",
        "101112131415161718191a1b1c1d1e1f20212223242526279ab6282250a78ddbadd60e4ae55c0ad7c32d49392bc554f3897658c106cf48015628bd807da72d1a"
            + "c293d461efb14e80211ddc895b2c83604ee12f89fed108fe",
    ]
    for (cipher, expected) in zip([PageCipher.xchacha20, .aes256gcm], sealed) {
        if cipher == .aes256gcm, crypto_aead_aes256gcm_is_available() != 1 { continue }
        let seal = try PageSeal(cipher, keys: PageSeal.keys(secret(dataKey)), fileIdentity: identity[...])
        func open(_ kind: PageSeal.Kind, _ number: Int, _ block: [UInt8]) -> [UInt8]? {
            var out = [UInt8](repeating: 0, count: 48)
            let done = block.withUnsafeBytes { b in
                out.withUnsafeMutableBytes { seal.open(kind, number, b.baseAddress!, count: 48, into: $0.baseAddress!) }
            }
            return done ? out : nil
        }
        #expect(open(.page, 123_456_789, hex(expected)) == text)
        #expect(open(.page, 123_456_788, hex(expected)) == nil && open(.table, 123_456_789, hex(expected)) == nil)
        for at in 0..<88 {
            var changed = hex(expected)
            changed[at] ^= 0x80
            #expect(open(.page, 123_456_789, changed) == nil, "byte \(at)")
        }
        let other = try PageSeal(cipher, keys: PageSeal.keys(secret(dataKey)), fileIdentity: bytes(0xa1, 16)[...])
        var out = [UInt8](repeating: 0, count: 48)
        #expect(!other.open(.page, 123_456_789, hex(expected), count: 48, into: &out))
        // What is sealed here opens here, each time under another nonce.
        var stamps = Set<UInt64>()
        for _ in 0..<100 {
            var block = [UInt8](repeating: 0, count: 88)
            stamps.insert(
                block.withUnsafeMutableBytes { seal.seal(.root, 1, from: text, count: 48, into: $0.baseAddress!) })
            #expect(open(.root, 1, block) == text && open(.root, 0, block) == nil)
        }
        #expect(stamps.count == 100 && !stamps.contains(0))
    }
}

@Test func realmPages() throws {
    let cipher = try RealmPageCipher(secret(fileKey))
    let page = (0..<4096).map { UInt8(truncatingIfNeeded: $0 * 13 + 5) }
    var sealed = [UInt8](repeating: 0, count: 4096), mac = [UInt8](repeating: 0, count: 28), back = sealed
    try cipher.encrypt(page, into: &sealed, counter: 0x0102_0304, position: 0x1_2345_6000)
    #expect(Array(sealed.prefix(32)) == hex("5ed2f2048ce50aa842d06098ae6e71d8047f90c73b74d4ad939464faa2544023"))
    #expect(Array(sealed.suffix(32)) == hex("5935a8a7da6ca6221ed52d962d579b4c27f55014e0dfc0eb972b2f26eacc4f47"))
    cipher.mac(sealed, into: &mac)
    #expect(mac == hex("147cb3870ff2fd95c469be877a065dc3ce47afc5f66e127c24666977"))
    try cipher.decrypt(sealed, into: &back, counter: 0x0102_0304, position: 0x1_2345_6000)
    #expect(back == page)
}

/// A process that has read the entries of the copies before, and then meets a page 0 that another process left torn.
@Test func aTornFirstPageIsCompletedFromCopiesWrittenSince() throws {
    let folder = try TemporaryFolder()
    let key = Encryption(.key(try secret((0..<64).map { UInt8($0) })))
    let file = try FileDescriptor(path: folder.file(), access: .readWriteCreate)
    let writer = try RealmForm.create(file, key, durable: false)
    // The copies are in the second block of pages, whose entries are read apart from those of page 0.
    try writer.resize(to: 100, filled: true)
    func commit(_ top: UInt64) throws {
        let header = try writer.readHeader(again: true).selecting(top, format: 24)
        _ = try writer.prepare(header, logicalSize: 98 * 4096, announcing: false)
        try writer.commit()
    }
    try commit(8)
    let reader = try RealmForm(try FileDescriptor(path: folder.file(), access: .readOnly), key)
    #expect(try reader.readHeader(again: true).liveTopRef == 8)
    for page in 98..<100 { _ = try reader.stamp(of: page) }
    var old = [UInt8](repeating: 0, count: 4096)
    #expect(try old.withUnsafeMutableBytes { try file.read(into: $0.start, count: 4096, at: 4096) } == 4096)
    try commit(16)
    // The second half of page 0 was not written, at no boundary of a sector.
    try old.withUnsafeBytes { try file.write($0.start + 2001, count: 2095, at: 4096 + 2001) }
    #expect(try reader.readHeader(again: true).liveTopRef == 16)
}
