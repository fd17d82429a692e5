/// The description of a column or of a part of it: its name, its Arrow type, and metadata for types that Arrow lacks.
struct ColumnField {
    enum Kind {
        case int, bool, float, double, text, binary, timestamp, decimal, objectId, uuid
        /// An object key.
        case link
        /// A Mixed value, with one child: its JSON text.
        case mixed
        /// A list, with one child: its elements.
        case list
        /// Keys and values, with one child of kind `structure`, which has two children.
        case map
        case structure
    }

    /// The unit of points in time.
    enum TimeUnit: Int64, CaseIterable {
        /// Units per second.
        case nanoseconds = 1_000_000_000, microseconds = 1_000_000, milliseconds = 1000, seconds = 1

        /// The letter in a format.
        fileprivate var letter: String {
            switch self {
            case .nanoseconds: "n"
            case .microseconds: "u"
            case .milliseconds: "m"
            case .seconds: "s"
            }
        }

        /// The number of units since 1970; nil if it does not fit into 64 bits, or would be rounded.
        @inline(__always) func count(_ time: Timestamp) -> Int64? {
            var rest = Int64(time.nanoseconds)
            if self != .nanoseconds {
                let parts = rest.quotientAndRemainder(dividingBy: 1_000_000_000 / rawValue)
                guard parts.remainder == 0 else { return nil }
                rest = parts.quotient
            }
            let (whole, isTooFar) = time.seconds.multipliedReportingOverflow(by: rawValue)
            let (sum, overflows) = whole.addingReportingOverflow(rest)
            return isTooFar || overflows ? nil : sum
        }
    }

    var name: Name
    let kind: Kind
    var unit = TimeUnit.nanoseconds
    var isNullable: Bool

    /// For a link, the class of the linked objects. For other kinds, the class whose primary keys the values are; empty
    /// otherwise.
    var linkedClass: Name = ""
    var children: [ColumnField] = []

    /// Whether a value consists only of its children and takes no bytes itself.
    var isWhole: Bool { kind == .structure || kind == .mixed }

    /// The format text of an `ArrowSchema`.
    var format: String {
        switch kind {
        case .int, .link: "l"
        case .bool: "b"
        case .float: "f"
        case .double: "g"
        case .text: "u"
        case .binary: "z"
        case .timestamp: "ts\(unit.letter):UTC"
        case .decimal, .uuid: "w:16"
        case .objectId: "w:12"
        case .list: "+l"
        case .map: "+m"
        case .structure, .mixed: "+s"
        }
    }

    /// Bytes per value of a fixed-width kind; nil for other kinds.
    var width: Int? {
        switch kind {
        case .int, .link, .double, .timestamp: 8
        case .float: 4
        case .objectId: 12
        case .decimal, .uuid: 16
        case .bool, .text, .mixed, .binary, .list, .map, .structure: nil
        }
    }

    private var metadata: [(key: String, value: String)] {
        let primaryKeys = linkedClass == "" || kind == .link ? [] : [(key: "realm.primaryKey", value: linkedClass.text)]
        return primaryKeys + extensions
    }

    private var extensions: [(key: String, value: String)] {
        switch kind {
        case .decimal: [("ARROW:extension:name", "realm.decimal128"), ("ARROW:extension:metadata", "")]
        case .objectId: [("ARROW:extension:name", "realm.objectid"), ("ARROW:extension:metadata", "")]
        case .uuid: [("ARROW:extension:name", "arrow.uuid"), ("ARROW:extension:metadata", "")]
        case .mixed: [("realm.mixed", "json")]
        case .link: [("realm.link", linkedClass.text)]
        default: []
        }
    }

    /// The pairs as `ArrowSchema.metadata` stores them: the number of pairs, then each text preceded by its length. The
    /// numbers are 32-bit integers.
    private var encodedMetadata: [UInt8] {
        let pairs = metadata
        guard !pairs.isEmpty else { return [] }
        var bytes: [UInt8] = []
        func put(_ count: Int) {
            withUnsafeBytes(of: Int32(truncatingIfNeeded: count)) { bytes.append(contentsOf: $0) }
        }
        put(pairs.count)
        for text in pairs.flatMap({ [$0.key, $0.value] }) {
            put(text.utf8.count)
            bytes.append(contentsOf: text.utf8)
        }
        return bytes
    }

    /// Fills `schema`, which then owns one block of memory: the pointers to its children, the children, and its texts.
    func export(to schema: UnsafeMutablePointer<ArrowSchema>) throws(RealmError) {
        let format = Array(self.format.utf8) + [0], name = Array(self.name.utf8) + [0], metadata = encodedMetadata
        let pointers = children.count * MemoryLayout<UnsafeMutablePointer<ArrowSchema>?>.stride
        let structs = children.count * MemoryLayout<ArrowSchema>.stride
        guard let block = CMemory.allocate(pointers + structs + format.count + name.count + metadata.count) else {
            throw RealmError(.outOfMemory, "There is no memory for the schema of the columns")
        }
        var texts = block + pointers + structs
        func put(_ bytes: [UInt8]) -> UnsafePointer<CChar>? {
            guard !bytes.isEmpty else { return nil }
            bytes.withUnsafeBytes {
                texts.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(texts), byteCount: $0.count)
            }
            defer { texts += bytes.count }
            return UnsafePointer(texts.assumingMemoryBound(to: CChar.self))
        }
        var filled = ArrowSchema()
        filled.format = put(format)
        filled.name = put(name)
        filled.metadata = put(metadata)
        filled.flags = isNullable ? ArrowSchema.nullable : 0
        filled.childCount = Int64(children.count)
        let list = block.bindMemory(to: UnsafeMutablePointer<ArrowSchema>?.self, capacity: children.count)
        let first = (block + pointers).bindMemory(to: ArrowSchema.self, capacity: children.count)
        for i in children.indices {
            (first + i).initialize(to: ArrowSchema())
            (list + i).initialize(to: first + i)
        }
        if !children.isEmpty { filled.children = list }
        filled.release = ArrowSchema.releaseBlock
        filled.privateData = block
        schema.initialize(to: filled)
        do throws(RealmError) { for i in children.indices { try children[i].export(to: first + i) } } catch {
            ArrowSchema.releaseBlock(schema)
            throw error
        }
    }
}

extension ArrowSchema {
    /// Skips children whose `release` is nil: they were moved away or never filled.
    fileprivate static let releaseBlock: Release = { pointer in
        guard let schema = pointer?.assumingMemoryBound(to: ArrowSchema.self), schema.pointee.release != nil else {
            return
        }
        if let children = schema.pointee.children {
            for i in 0..<Int(schema.pointee.childCount) { if let child = children[i] { child.pointee.release?(child) } }
        }
        CMemory.release(schema.pointee.privateData)
        schema.pointee.release = nil
    }
}
