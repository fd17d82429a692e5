/// Reads and checks the header and the top array of a file. Nothing else of the file is trusted before.
extension DatabaseFile {
    /// What a validated file contains about its newest snapshot.
    struct State {
        var header: FileHeader
        var physicalSize: Int

        /// Null before the first commit.
        var topRef: Ref
        var format: UInt8
        var logicalSize: Int
        var version: UInt64
        var historyType: UInt64
        var historySchemaVersion: UInt64
        var isStreaming: Bool

        /// The places of the commits that lead from the header to this state, with their records: it is not known
        /// whether they were ever flushed.
        var ahead: [FileChunk] = []

        mutating func take(_ fields: TopFields) {
            logicalSize = fields.logicalSize
            version = fields.version
            historyType = fields.historyType
            historySchemaVersion = fields.historySchemaVersion
        }
    }

    /// Checks header and top array in the order of storage §1.4 and maps the file. Writers in other processes do not
    /// wait for this: a failed check is repeated when the header has changed meanwhile.
    func validate(readOnly: Bool) throws(RealmError) -> State {
        for _ in 0..<100 {
            let before = try? readHeader()
            do throws(RealmError) {
                let state = try examine(nil, readOnly: readOnly)
                try verifyWhole()
                return state
            } catch {
                try verifyWhole()
                guard let before, let after = try? readHeader(), after != before else { throw error }
            }
        }
        let state = try examine(nil, readOnly: readOnly)
        try verifyWhole()
        return state
    }

    /// - Parameter given: used instead of the header in the file.
    func examine(_ given: FileHeader?, readOnly: Bool) throws(RealmError) -> State {
        pages?.distrust()
        var size = try file.size()
        if size > 0, isEncrypted {
            _ = try readHeader()
            size = try dataSize()
        }
        if size == 0 { throw invalid(readOnly ? "Read-only access to empty Realm file" : "file is empty") }
        guard size >= Format.headerSize else {
            throw invalid("file is non-empty but too small (\(size) bytes) to be a valid Realm.")
        }
        let header = if let given { given } else { try readHeader() }
        // After a failed growth the last word of the file may be incomplete: no node is there.
        guard size % 8 == 0 || !header.isStreaming else { throw invalid("file has an invalid size (\(size))") }
        size &= ~7
        guard header.hasMnemonic else {
            throw invalid("not a Realm file, encrypted with a key that was not given, or corrupt (invalid mnemonic)")
        }
        var top = header.liveTopRef
        let streaming = header.isStreaming
        if streaming {
            guard size >= Format.headerSize + Format.streamingFooterSize else {
                throw invalid("file is in streaming format but too small (\(size) bytes)")
            }
            try ensureMapped(size)
            let footerAt = size - Format.streamingFooterSize
            let store = NodeStore(space: space, fileLimit: size, pages: pages)
            store.move(toFileLimit: size, version: 0)
            defer { store.rest() }
            try store.makeReadable(footerAt, Format.streamingFooterSize)
            let footer = space.base + footerAt
            top = footer.loadUnaligned(as: UInt64.self).littleEndian
            let magic = footer.loadUnaligned(fromByteOffset: 8, as: UInt64.self).littleEndian
            guard magic == FileHeader.footerMagic else {
                throw invalid(
                    "file in streaming format has an invalid footer cookie (\(magic)): the file is probably truncated")
            }
        }
        guard top % 8 == 0 else { throw invalid("top ref is not aligned (\(top))") }
        guard top < UInt64(size) else {
            throw invalid(
                "top ref is outside of the file (size: \(size), top ref: \(top)): the file is probably truncated")
        }
        var state = State(
            header: header, physicalSize: size, topRef: .null, format: header.liveFormat,
            logicalSize: Format.headerSize, version: 1,
            historyType: 0, historySchemaVersion: 0, isStreaming: streaming)
        if top == 0 { return state }
        try ensureMapped(size)
        state.topRef = Ref(Int(top))
        state.take(try topFields(state.topRef, physicalSize: size))
        return state
    }

    /// Scalars of a top array. Format: storage §3.1.
    struct TopFields {
        var logicalSize = Format.headerSize
        var version: UInt64 = 1
        var historyType: UInt64 = 0
        var historySchemaVersion: UInt64 = 0
        var syncFileId: UInt64 = 0
        var names = Ref.null
        var tables = Ref.null
        var history = Ref.null
        var freeLists = (positions: Ref.null, lengths: Ref.null, versions: Ref.null)

        /// Node of the evacuation state, if there is one.
        var evacuation = Ref.null
        var slotCount = 0
    }

    /// The elements of the longest top array. Format: storage §3.1.
    static let longestTop = 12

    /// Reads the top array of a version, which need not be pinned. A plain file is read by a system call and not
    /// through the map, because another process may truncate the file at any moment.
    func topFields(_ ref: Ref, physicalSize: Int) throws(RealmError) -> TopFields {
        guard pages == nil else {
            let store = NodeStore(space: space, fileLimit: physicalSize, pages: pages)
            store.move(toFileLimit: physicalSize, version: 0)
            return try topFields(store, ref, physicalSize: physicalSize)
        }
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: 8 + 8 * Self.longestTop, alignment: 8)
        defer { bytes.deallocate() }
        let node = try readNode(ref, physicalSize: physicalSize, into: bytes, atMost: 8 * Self.longestTop)
        return try topFields(of: node, physicalSize: physicalSize)
    }

    /// The size of a node of a plain file, which is read as in `topFields`.
    func nodeSize(_ ref: Ref, physicalSize: Int) throws(RealmError) -> Int {
        let word = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
        defer { word.deallocate() }
        return 8 + Format.padded(try readHeader(of: ref, physicalSize: physicalSize, into: word).payloadSize ?? 0)
    }

    private func readNode(
        _ ref: Ref, physicalSize: Int, into bytes: UnsafeMutableRawPointer, atMost most: Int
    ) throws(RealmError) -> Node {
        let header = try readHeader(of: ref, physicalSize: physicalSize, into: bytes)
        guard let payload = header.payloadSize, payload <= most,
            try file.read(into: bytes + 8, count: payload, at: ref.offset + 8) == payload
        else { throw invalid("Invalid top array (ref: \(ref.offset), array size: \(header.count))") }
        return Node(
            address: bytes, ref: ref, count: header.count, width: header.width, flags: header.flags,
            refLimit: Int64(physicalSize))
    }

    private func readHeader(
        of ref: Ref, physicalSize: Int, into word: UnsafeMutableRawPointer
    ) throws(RealmError) -> NodeHeader {
        guard ref.offset & 7 == 0, ref.offset >= Format.headerSize, ref.offset <= physicalSize - 8,
            try file.read(into: word, count: 8, at: ref.offset) == 8,
            case let header = NodeHeader(word: word.load(as: UInt64.self).littleEndian),
            let payload = header.payloadSize, payload <= physicalSize - 8 - ref.offset
        else { throw invalid("invalid top array: no node at \(ref.offset)") }
        return header
    }

    func topFields(_ store: NodeStore, _ ref: Ref, physicalSize: Int) throws(RealmError) -> TopFields {
        let node: Node
        do throws(RealmError) { node = try store.node(ref) } catch {
            throw error.isDamage ? invalid("invalid top array: \(error.message)") : error
        }
        return try topFields(of: node, physicalSize: physicalSize)
    }

    private func topFields(of node: Node, physicalSize: Int) throws(RealmError) -> TopFields {
        let ref = node.ref
        guard node.hasRefs, node.widthType == 0, !node.isInner, [3, 5, 7, 9, 10, 11, 12].contains(node.count) else {
            throw invalid("Invalid top array (ref: \(ref.offset), array size: \(node.count))")
        }
        func number(_ i: Int) throws(RealmError) -> UInt64? {
            guard i < node.count else { return nil }
            let slot = try node.slot(i)
            guard slot.subtree == nil else {
                throw invalid("Invalid top array: a ref stands where a number is expected")
            }
            return slot.number
        }
        func child(_ i: Int) throws(RealmError) -> Ref {
            guard i < node.count else { return .null }
            let slot = try node.slot(i)
            guard !slot.isTagged, slot.raw >= 0 else {
                throw invalid("Invalid top array: a number stands where a ref is expected")
            }
            return slot.ref
        }
        let logical = try number(2) ?? 0
        guard logical >= 24, logical <= UInt64(physicalSize) else {
            throw invalid(
                "Invalid logical file size: \(logical), actual file size: \(physicalSize), array size: \(node.count)")
        }
        guard ref.offset + node.size <= Int(logical) else {
            throw invalid("Invalid top array: it lies behind the end of its own version, \(logical)")
        }
        let names = try child(0), tables = try child(1)
        for root in [names, tables] where root.offset <= 0 || root.offset % 8 != 0 || root.offset > Int(logical) {
            throw invalid("Invalid top array (slots 0 and 1): ref \(root.offset)")
        }
        let version = node.count > 6 ? max(1, try number(6) ?? 0) : 1
        guard version < Self.versionLimit else { throw invalid("Impossible version number \(version)") }
        let slot11 = node.count > 11 ? try node.slot(11) : RefOrTagged(.null)
        return TopFields(
            logicalSize: Int(logical), version: version, historyType: try number(7) ?? 0,
            historySchemaVersion: try number(9) ?? 0,
            syncFileId: try number(10) ?? 0,
            names: names, tables: tables, history: try child(8),
            freeLists: (positions: try child(3), lengths: try child(4), versions: try child(5)),
            evacuation: slot11.subtree ?? .null, slotCount: node.count)
    }
}
