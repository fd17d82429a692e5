/// Facts about a file, from its first bytes and, after decryption, from its header and the top arrays that the header
/// leads to.
///
/// The file is not opened for use, and nothing else of it is read.
package struct FileFacts: Sendable {
    /// Numbers: `crealm_file_kind_e`.
    package enum Kind: UInt32, Sendable {
        /// The file never had any content.
        case empty = 0
        /// A Realm file, plain or decrypted with its key. Its top array may be damaged.
        case realm = 1
        /// Probably encrypted. Nothing more is known without the key.
        case encrypted = 2
        /// Not a Realm file, or one whose first bytes are damaged.
        case other = 3
    }

    /// Numbers: `crealm_file_encryption_e`.
    package enum Form: UInt32, Sendable {
        case plain = 0
        /// CRealm's encrypted form.
        case sealed = 1
        /// Realm's encrypted form.
        case realm = 2
    }

    /// How the file can be opened. Numbers: `crealm_file_use_e`.
    package enum Use: UInt32, Sendable {
        case none = 0
        /// For reading only.
        case read = 1
        /// For reading in its present format; opening it for writing upgrades it.
        case upgrade = 2
        case write = 3
    }

    /// One of the two slots of the header, each of which leads to a version.
    package struct Slot: Sendable {
        /// Numbers: `crealm_slot_state_e`.
        package enum State: UInt32, Sendable {
            /// The slot never led to a version.
            case empty = 0
            /// The slot leads to a top array.
            case version = 1
            /// The slot should lead to a top array, but there is none.
            case damaged = 2
            /// All bits set: the mark of the streaming form. A file that was written in one piece keeps it until its
            /// second commit.
            case streamingMark = 3
            /// Unknown, because the header could not be read.
            case unknown = 4
        }

        package var state = State.unknown
        package var topRef: UInt64 = 0
        package var format: UInt8 = 0

        /// This and the following fields come from the top array; zero in any other state.
        package var version: UInt64 = 0
        package var logicalSize = 0
        package var historyType: UInt64 = 0
        package var historySchemaVersion: UInt64 = 0

        /// What is damaged.
        package var problem: String?

        fileprivate mutating func take(_ found: DatabaseFile.State) {
            state = .version
            topRef = UInt64(found.topRef.offset)
            (version, logicalSize) = (found.version, found.isStreaming ? found.physicalSize : found.logicalSize)
            (historyType, historySchemaVersion) = (found.historyType, found.historySchemaVersion)
        }
    }

    package let path: String
    package var kind = Kind.other
    package var form = Form.plain

    /// The page cipher; nil for a plain file. CRealm's encrypted form reveals it without the key.
    package var cipher: PageCipher?
    package var wantsPassphrase = false

    /// Bytes of the file.
    package var fileSize = 0

    /// Bytes of the decrypted content; 0 if it could not be decrypted.
    package var dataSize = 0

    /// The slot that the header selects; nil if there is no header.
    package var selectedSlot: Int?
    package var isStreaming = false
    package var slots = [Slot(), Slot()]

    /// The newest complete version. It is that of the selected slot, unless the header was not written after the last
    /// commit.
    package var newest = Slot()
    package var use = Use.none

    /// The libraries that write such files.
    package var writer: String?

    /// Why the file cannot be used, and what to do, with the path; nil if it can be used.
    package var problem: String?
}

extension FileFacts {
    /// - Throws: errors that prevent reading the file. Its content never causes an error.
    package static func read(path given: String, _ encryption: Encryption?) throws(RealmError) -> FileFacts {
        let path = try FileSystem.canonical(given)
        // Other processes may commit meanwhile. The facts are consistent if the beginning of the file did not change.
        for _ in 0..<attempts {
            let before = try Head(path)
            let facts = try read(path, encryption)
            if try Head(path) == before { return facts }
        }
        return try read(path, encryption)
    }

    private static let attempts = 50

    private static func read(_ path: String, _ encryption: Encryption?) throws(RealmError) -> FileFacts {
        var facts = FileFacts(path: path)
        let head = try Head(path)
        facts.fileSize = head.size
        guard head.size > 0 else {
            facts.becomeEmpty()
            return facts
        }
        try facts.recognise(head)
        do throws(RealmError) {
            let file = try DatabaseFile(
                path: path, access: .readOnly, needsSlab: false, encryption: head.isPlain ? nil : encryption)
            try facts.take(file)
        } catch {
            guard error.isDamage || error.code == .unsupportedFileFormat || error.code == .invalidEncryptionKey else {
                throw error
            }
            facts.refuse(error, hasKey: encryption != nil)
        }
        return facts
    }

    private mutating func becomeEmpty() {
        (kind, use) = (.empty, .write)
        slots[0].state = .empty
        slots[1].state = .empty
        newest.state = .empty
    }

    /// Reads what the first bytes reveal without a key.
    private mutating func recognise(_ head: Head) throws(RealmError) {
        if head.isSealed {
            (kind, form) = (.encrypted, .sealed)
            guard let block = try RealmError.unlessDamaged({ () throws(RealmError) in try head.keyBlock() }) else {
                return
            }
            (cipher, wantsPassphrase) = (block.cipher, block.wantsPassphrase)
        } else if !head.isPlain, head.looksLikeRealmForm {
            (kind, form, cipher) = (.encrypted, .realm, .realm)
        }
    }

    /// Records that the file could not be opened as far as its header.
    private mutating func refuse(_ error: RealmError, hasKey: Bool) {
        use = .none
        if kind == .encrypted, !hasKey {
            let asked = wantsPassphrase ? "passphrase" : "key of 64 bytes"
            problem =
                form == .sealed
                ? "The Realm file at path '\(path)' is encrypted: nothing else can be told without its \(asked)"
                : "The file at path '\(path)' looks like a Realm file in Realm's encrypted form: nothing else can be told without its \(asked)"
            return
        }
        let text = error.message
        let namesPath = text.hasPrefix("Failed to open Realm file at path") || text.hasPrefix("The Realm file at path")
        problem = namesPath ? text : "The file at path '\(path)' cannot be opened: \(text)"
        if kind == .other {
            problem =
                (problem ?? "") + ". If it was a Realm file, restore a copy of it: its first bytes are not those of one"
        }
    }

    /// Reads the facts of an opened file, or of a copy of it.
    mutating func take(_ file: DatabaseFile) throws(RealmError) {
        if let pages = file.pages {
            form = pages.form is SealedForm ? .sealed : .realm
            if form == .realm { cipher = .realm }
        }
        if try file.isUnfinished() {
            becomeEmpty()
            problem = "The making of the file at path '\(path)' was never finished: nothing is in it"
            return
        }
        let header = try file.readHeader()
        guard header.hasMnemonic else {
            throw file.invalid(
                "not a Realm file, encrypted with a key that was not given, or corrupt (invalid mnemonic)")
        }
        kind = .realm
        dataSize = try file.dataSize()
        (selectedSlot, isStreaming) = (header.liveSlot, header.isStreaming)
        for i in 0..<2 { slots[i] = try slot(i, header, file) }
        do throws(RealmError) { try take(try file.newestState(readOnly: true).state, file) } catch {
            guard error.isDamage else { throw error }
            problem = error.message
            newest = slots[header.liveSlot]
            writer = Self.writer(format: newest.format, hasRecord: form == .sealed)
        }
    }

    /// The newest version decides how the file can be used.
    private mutating func take(_ state: DatabaseFile.State, _ file: DatabaseFile) throws(RealmError) {
        newest.format = state.format
        newest.state = .empty
        if !state.topRef.isNull { newest.take(state) }
        let isOwn = form == .plain ? try file.hasRecord(behind: state) : form == .sealed
        writer = Self.writer(format: state.format, hasRecord: isOwn)
        do throws(RealmError) {
            try state.checkFormat(path: path, writing: false, upgrades: false)
            use = .read
            try state.checkFormat(path: path, writing: true, upgrades: true)
            use = state.format == 0 || state.format == Format.currentVersion ? .write : .upgrade
        } catch {
            problem = error.code == .incompatibleHistories && use == .read ? synchronized(state) : error.message
        }
    }

    private func synchronized(_ state: DatabaseFile.State) -> String {
        "The Realm file at path '\(path)' has the history of a synchronized Realm (\(History.name(state.historyType))): it can be read and not written. "
            + "Copy its objects into a file without that history to change them"
    }

    private func slot(_ i: Int, _ header: FileHeader, _ file: DatabaseFile) throws(RealmError) -> Slot {
        var slot = Slot()
        slot.topRef = i == 0 ? header.topRefs.0 : header.topRefs.1
        slot.format = i == 0 ? header.formats.0 : header.formats.1
        let isSelected = i == header.liveSlot
        if slot.topRef == FileHeader.streamingMark, !isSelected {
            slot.state = .streamingMark
            return slot
        }
        slot.state = .empty
        guard slot.topRef != 0 else { return slot }
        do throws(RealmError) { slot.take(try file.examine(header.selecting(slot: i), readOnly: true)) } catch {
            guard error.isDamage else { throw error }
            (slot.state, slot.problem) = (.damaged, error.message)
        }
        return slot
    }

    /// The releases that write a format. Sources: old-formats §1, logical §11, and the release notes of realm-core.
    private static func writer(format: UInt8, hasRecord: Bool) -> String? {
        if hasRecord { return "CRealm" }
        let core: String? =
            switch format {
            case 2: "0.92 or older, 2014 to 2015"
            case 3: "0.93 to 0.99, 2015 to 2016"
            case 4: "0.97 to 0.99, 2016"
            case 5: "0.100 to 1.5, 2016"
            case 6: "2.0 to 2.4, 2016 to 2017"
            case 7: "2.5 to 2.9, 2017"
            case 8: "3, 2017"
            case 9: "4 and 5, 2017 to 2019"
            case 10: "6.0.0 to 6.0.23, 2020"
            case 11: "6.0.24 to 6.2, 2020"
            case 20: "10, 2020 to 2021"
            case 21: "11.0 before its release, 2021"
            case 22: "11 and 12, 2021 to 2022"
            case 23: "13, 2023"
            case 24: "14, 2024 and later, or CRealm"
            default: nil
            }
        return core.map { "Realm's SDKs with realm-core \($0)" }
    }
}

/// The first two pages of a file, with its size and its identity.
struct Head: Equatable {
    private static let length = 2 * 4096

    /// In CRealm's encrypted form commits change the root records, behind the two key blocks.
    private static let sealedLength = 4 * 4096
    let identity: FileIdentity
    let size: Int
    private var bytes: [UInt8]

    init(_ path: String) throws(RealmError) {
        let file = try FileDescriptor(path: path, access: .readOnly)
        identity = try file.identity()
        size = try file.size()
        var found = [UInt8](repeating: 0, count: Self.sealedLength)
        var count = 0
        try found.withMutableBytes { (bytes) throws(RealmError) in
            if let to = bytes.baseAddress { count = try file.read(into: to, count: bytes.count, at: 0) }
        }
        found.removeLast(found.count - count)
        let isSealed = found.withUnsafeBytes { SealedForm.recognises($0) }
        bytes = isSealed ? found : Array(found.prefix(Self.length))
    }

    var isSealed: Bool { bytes.withUnsafeBytes { SealedForm.recognises($0) } }

    var isPlain: Bool {
        guard bytes.count >= Format.headerSize else { return false }
        return bytes.withUnsafeBytes { b in b.baseAddress.map { FileHeader(bytes: $0).hasMnemonic } ?? false }
    }

    func keyBlock() throws(RealmError) -> KeyBlock {
        try bytes.withBytes { (bytes) throws(RealmError) in
            try KeyBlock(checking: UnsafeRawBufferPointer(rebasing: bytes.prefix(4096)))
        }
    }

    /// Whether the first page may be the metadata of Realm's encrypted form: there is an entry for page 0, and unused
    /// entries are zero. Format: storage §7.3.
    var looksLikeRealmForm: Bool {
        guard size >= 8192, size % 4096 == 0, bytes.count == Self.length else { return false }
        let pages = min(64, size / 4096 - 1)
        return (0..<64).allSatisfy { i in
            let entry = bytes[i * 64..<(i + 1) * 64]
            let isUsed = entry.prefix(4).contains { $0 != 0 },
                hasMac = entry.dropFirst(4).prefix(28).contains { $0 != 0 }
            let isOlderUsed = entry.dropFirst(32).prefix(4).contains { $0 != 0 },
                hasOlderMac = entry.dropFirst(36).contains { $0 != 0 }
            // A written page has a counter and a MAC. The older half of an entry is empty after the first write.
            if i == 0, !isUsed { return false }
            // MACs look like random numbers.
            let macs = Array(entry.dropFirst(4).prefix(28)) + Array(entry.dropFirst(36))
            if isUsed, macs.prefix(28).count(where: { $0 == 0 }) > 6 { return false }
            if isOlderUsed, macs.dropFirst(28).count(where: { $0 == 0 }) > 6 { return false }
            return isUsed == hasMac && (isUsed || !isOlderUsed) && isOlderUsed == hasOlderMac && (i < pages || !isUsed)
        }
    }
}
