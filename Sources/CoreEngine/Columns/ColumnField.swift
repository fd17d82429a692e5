/// What a column, or a part of one, is for whoever reads it: its name, its type in Arrow's terms, and what Arrow has no
/// type for as metadata.
struct ColumnField {
    enum Kind {
        case int, bool, float, double, text, binary, timestamp, decimal, objectId, uuid
        /// Key of an object.
        case link
        /// A Mixed value: one child, its JSON text.
        case mixed
        /// Elements; one child.
        case list
        /// Names and values: one child of kind `structure`, which has two.
        case map
        case structure
    }

    var name: Name
    let kind: Kind
    var isNullable: Bool

    /// Class of the objects that a link leads to; of other kinds: the values are primary keys of its objects.
    var linkedClass: Name = ""
    var children: [ColumnField] = []

    /// A value is there with its parts, which the children have; it takes no bytes itself.
    var isWhole: Bool { kind == .structure || kind == .mixed }

    /// How the type is written in an `ArrowSchema`.
    var format: String {
        switch kind {
        case .int, .link: "l"
        case .bool: "b"
        case .float: "f"
        case .double: "g"
        case .text: "u"
        case .binary: "z"
        case .timestamp: "tsn:UTC"
        case .decimal, .uuid: "w:16"
        case .objectId: "w:12"
        case .list: "+l"
        case .map: "+m"
        case .structure, .mixed: "+s"
        }
    }

    /// Bytes of a value that always takes as many; nil for other kinds.
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

    /// The pairs as `ArrowSchema.metadata` has them: their number, then each text behind its length, as 32-bit
    /// integers.
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

    /// Fills in `schema`, which then owns one block of memory: pointers to its children, these, and its texts.
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
    /// Children that were moved away, or never came to be, have no `release`.
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
