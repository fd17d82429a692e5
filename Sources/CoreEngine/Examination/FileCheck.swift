/// All faults of a file that is not opened for use: of its header, and of each version that a slot of the header leads
/// to.
///
/// Only the newest version decides whether the file is sound. The version before it is opened only on request, and its
/// slot may contain anything that an interrupted commit left.
package struct FileCheck {
    /// Numbers: `crealm_check_result_e`.
    package enum Result: UInt32, Sendable {
        case sound = 0
        case faulty = 1
        /// The content is unknown: the file is encrypted and no key was given.
        case unreadable = 2
    }

    /// The result for a version.
    package struct Version: Sendable {
        /// Numbers: `crealm_version_state_e`.
        package enum State: UInt32, Sendable {
            case sound = 1
            case faulty = 2
            /// Later commits overwrote parts of it.
            case reused = 3
        }

        package var state = State.sound

        /// The slot that leads to the version. nil if only the record of a commit leads to it, because a crash kept the
        /// commit from the header.
        package let slot: Int?
        package let number: UInt64
        package let isNewest: Bool
        package var faultCount = 0
    }

    package private(set) var facts: FileFacts
    package private(set) var result = Result.sound

    /// Newest first.
    package private(set) var versions: [Version] = []

    /// Each fault with the slot of its version. nil for a fault of the whole file, or of a version without a slot.
    package private(set) var faults: [(fault: Fault, slot: Int?)] = []
    package private(set) var total = 0
    private let limit: Int

    /// - Parameters:
    ///   - limit: maximum number of listed faults.
    ///   - isSnapshot: checks a private copy, because other processes may be writing the file.
    /// - Throws: errors that prevent reading the file, and the error that stopped the check.
    package init(
        path: String, _ encryption: Encryption?, isSnapshot: Bool, limit: Int, _ interruption: Interruption
    ) throws(RealmError) {
        self.limit = limit
        facts = try FileFacts.read(path: path, encryption)
        let head = try Head(facts.path)
        switch facts.kind {
        case .empty: return
        case .encrypted: result = .unreadable
        case .other: note(Fault.ofFile(facts.problem ?? "no Realm file"), nil)
        case .realm:
            let key = facts.form == .plain ? nil : encryption
            try interruption.during(.checking) { () throws(RealmError) in
                let file =
                    isSnapshot
                    ? try PrivateCopy.take(
                        of: try FileDescriptor(path: facts.path, access: .readOnly), path: facts.path, key)
                    : try DatabaseFile(path: facts.path, access: .readOnly, needsSlab: false, encryption: key)
                try check(file, interruption)
                try file.verifyWhole()
            }
        }
        if !isSnapshot, try Head(facts.path) != head {
            throw RealmError(
                .fileKeepsChanging,
                "The Realm file at path '\(facts.path)' was changed while it was checked: have a snapshot of it checked",
                path: facts.path)
        }
    }

    private mutating func note(_ fault: Fault, _ slot: Int?) {
        result = .faulty
        total += 1
        if faults.count < limit { faults.append((fault, slot)) }
    }

    private mutating func check(_ file: DatabaseFile, _ interruption: Interruption) throws(RealmError) {
        try facts.take(file)
        let header = try file.readHeader()
        if !file.isEncrypted, facts.fileSize % 8 != 0 {
            note(
                Fault.ofFile(
                    "\(facts.fileSize % 8) bytes behind the last word of the file", offset: facts.fileSize & ~7), nil)
        }
        let newest = try newestState(of: file)
        if let newest { try check(newest, of: file, slot: slot(of: newest, header), before: nil, interruption) }
        for slot in [header.liveSlot, 1 - header.liveSlot] where facts.slots[slot].state == .version {
            guard
                let state = try RealmError.unlessDamaged({ () throws(RealmError) in
                    try file.examine(header.selecting(slot: slot), readOnly: true)
                }),
                state.topRef != newest?.topRef, state.version < newest?.version ?? .max, Format.isReadable(state.format)
            else { continue }
            if let newest,
                let proof = try SlotReuse.proof(that: state, isNotWholeBeside: newest, in: file, interruption)
            {
                noteReuse(of: state, slot, proof)
            } else {
                try check(state, of: file, slot: slot, before: newest, interruption)
            }
        }
    }

    /// The newest version. If it cannot be opened, adds a fault and returns nil.
    private mutating func newestState(of file: DatabaseFile) throws(RealmError) -> DatabaseFile.State? {
        do throws(RealmError) {
            let newest = try file.newestState(readOnly: true).state
            try newest.checkFormat(path: facts.path, writing: false, upgrades: false)
            return newest
        } catch {
            guard error.isDamage || error.code == .unsupportedFileFormat else { throw error }
            let top = facts.selectedSlot.map { facts.slots[$0].topRef } ?? 0
            note(Fault.ofFile(error, offset: Int(exactly: top) ?? 0), facts.selectedSlot)
            return nil
        }
    }

    private func slot(of newest: DatabaseFile.State, _ header: FileHeader) -> Int? {
        newest.isStreaming || UInt64(newest.topRef.offset) == header.liveTopRef ? header.liveSlot : nil
    }

    private mutating func noteReuse(of state: DatabaseFile.State, _ slot: Int?, _ proof: Fault) {
        versions.append(Version(state: .reused, slot: slot, number: state.version, isNewest: false, faultCount: 1))
        list([proof], of: 1, slot)
    }

    /// - Parameter newest: nil if `state` itself is the newest version.
    private mutating func check(
        _ state: DatabaseFile.State, of file: DatabaseFile, slot: Int?, before newest: DatabaseFile.State?,
        _ interruption: Interruption
    ) throws(RealmError) {
        let isNewest = newest == nil
        var found = Faults(limit: limit)
        do throws(RealmError) {
            let transaction = try Transaction(try Database(file, fixedAt: state, .immutable))
            defer { transaction.close() }
            transaction.interruption = interruption
            try transaction.beginRead()
            found = try Verifier(transaction, limit: limit).run()
        } catch {
            guard error.isDamage || error.code == .unsupportedFileFormat else { throw error }
            if let proof = SlotReuse.byUpgrade(of: state, to: newest, error) {
                return noteReuse(of: state, slot, Fault.ofFile(proof, offset: state.topRef.offset))
            }
            found.add(error, Fault.Place())
        }
        versions.append(
            Version(
                state: found.count == 0 ? .sound : .faulty, slot: slot, number: state.version, isNewest: isNewest,
                faultCount: found.count))
        if isNewest, found.count > 0 { result = .faulty }
        list(found.first, of: found.count, slot)
    }

    private mutating func list(_ found: [Fault], of count: Int, _ slot: Int?) {
        total += count
        for fault in found.prefix(max(0, limit - faults.count)) { faults.append((fault, slot)) }
    }
}

extension FileCheck {
    /// Faults of the newest version, including those of the whole file.
    private var newestFaults: Int { versions.reduce(total) { $1.isNewest ? $0 : $0 - $1.faultCount } }

    private static func faults(_ count: Int) -> String { count == 1 ? "1 fault" : "\(count) faults" }

    /// Readable text: one line per version and per fault.
    package var report: String {
        var lines: [String] = []
        switch result {
        case .unreadable: lines.append("\(facts.path): not checked. \(facts.problem ?? "")")
        case .sound: lines.append("\(facts.path): sound")
        case .faulty: lines.append("\(facts.path): \(Self.faults(newestFaults))")
        }
        for version in versions {
            let place = version.slot.map { "header slot \($0)" } ?? "no header slot yet"
            let state =
                switch version.state {
                case .sound: "sound"
                case .faulty: Self.faults(version.faultCount)
                case .reused: "parts of it were written over since"
                }
            lines.append(
                "  version \(version.number)\(version.isNewest ? "" : ", an earlier one") (\(place)): \(state)")
        }
        for (fault, slot) in faults { lines.append("  \(slot.map { "slot \($0): " } ?? "")\(fault.message)") }
        if total > faults.count { lines.append("  and \(total - faults.count) more") }
        return lines.joined(separator: "\n")
    }
}
