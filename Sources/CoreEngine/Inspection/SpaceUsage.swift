/// Where the bytes of a snapshot's file are.
///
/// Every node that is reachable counts for one part, so that the parts of a sound file add up to its logical size. A
/// damaged file, where a node is reached again and again, is an error.
final class SpaceUsage {
    /// What bytes are for. Numbers: `crealm_space_kind_e`.
    enum Kind: UInt32 {
        /// Values of a property.
        case values = 1
        /// The objects that link to those of the class.
        case backlinks
        /// The search index of a property.
        case index
        /// Keys of the objects of a class, and what leads to them.
        case objects
        /// Names, columns and other facts of a class, or of all.
        case schema
        /// Changes of earlier versions, for observers and for synchronization.
        case history
        /// Free, and in use by nobody: the next commits write there.
        case free
        /// Lists of free space, the header, and what is neither reachable nor free.
        case management
    }

    struct Part {
        let kind: Kind
        var className: Name?
        var property: Name?
        var bytes = 0
    }

    private let transaction: Transaction
    private var store: NodeStore { transaction.store }
    private var parts: [Part] = []
    private var reached = 0

    /// Bytes that nodes can lie in; nil until the first is counted.
    private var room: Int?

    init(_ transaction: Transaction) { self.transaction = transaction }

    /// - Returns: what there is of each part, the largest first, and the size of the file that they share.
    func run() throws(RealmError) -> (parts: [Part], size: Int) {
        let usage = try transaction.usage(), size = Int(usage.total)
        guard !transaction.topRef.isNull else { return ([Part(kind: .management, bytes: size)], size) }
        let top = try transaction.database.file.topFields(
            store, transaction.topRef, physicalSize: transaction.logicalSize)
        let schema = part(.schema)
        try walk(top.names, schema)
        let tables = try store.refsNode(top.tables)
        try count(tables.size, schema)
        if let old = transaction.old?.schema {
            for case let table? in old.tables + old.setAside { try walk(table) }
        } else {
            for i in 0..<tables.count {
                guard let root = try tables.slot(i).subtree else { continue }
                try walk(try transaction.group.table(at: i), root)
            }
        }
        if !top.history.isNull { try walk(top.history, part(.history)) }
        let free = part(.free), rest = part(.management)
        parts[free].bytes = size - Int(usage.used)
        parts[rest].bytes = max(0, size - parts[free].bytes - reached)
        let found = parts.filter { $0.bytes > 0 }
        return (found.sorted { ($0.bytes, $1.kind.rawValue) > ($1.bytes, $0.kind.rawValue) }, size)
    }

    private func part(_ kind: Kind, _ className: Name? = nil, _ property: Name? = nil) -> Int {
        parts.append(Part(kind: kind, className: className, property: property))
        return parts.count - 1
    }

    private func count(_ bytes: Int, _ part: Int) throws(RealmError) {
        reached += bytes
        let most = room ?? store.measuredExtent
        room = most
        guard reached <= most else { throw .corrupt("nodes shared between trees") }
        parts[part].bytes += bytes
        try store.test(reached, of: transaction.logicalSize)
    }

    /// Counts a class: `root` is its array of refs.
    private func walk(_ table: Table, _ root: Ref) throws(RealmError) {
        let name = table.className ?? table.name
        var columns: [Int: Int] = [:], stops: [Int: Int] = [:]
        let links = part(.backlinks, name), objects = part(.objects, name)
        for column in table.columns {
            columns[column.index] = column.isBacklink ? links : part(.values, name, column.name)
            guard !column.isBacklink, let index = try table.index(of: column.index) else { continue }
            stops[index.root.offset] = part(.index, name, column.name)
        }
        stops[table.rows.root.offset] = objects
        for (at, owner) in stops {
            if owner == objects {
                try walkCluster(Ref(at), objects, columns, depth: 0)
            } else {
                try walk(Ref(at), owner)
            }
        }
        try walk(root, part(.schema, name), except: stops)
    }

    /// The same of a class of an old format, where each column has a tree of its own.
    private func walk(_ table: OldTable) throws(RealmError) {
        let name = table.name.after(Tables.classPrefix) ?? table.name
        let links = part(.backlinks, name)
        var stops: [Int: Int] = [:]
        for column in table.columns {
            stops[column.root.offset] = column.form == .backlink ? links : part(.values, name, column.name)
            if !column.index.isNull { stops[column.index.offset] = part(.index, name, column.name) }
        }
        for (at, owner) in stops { try walk(Ref(at), owner) }
        try walk(table.top, part(.schema, name), except: stops)
    }

    private func walkCluster(_ ref: Ref, _ objects: Int, _ columns: [Int: Int], depth: Int) throws(RealmError) {
        guard depth < Format.maxNodeDepth else { throw .corrupt("cluster tree too deep", at: ref.offset) }
        let node = try store.refsNode(ref)
        try count(node.size, objects)
        for i in 0..<node.count {
            guard let child = try node.slot(i).subtree else { continue }
            if i == 0 {
                try walk(child, objects)
            } else if node.isInner {
                try walkCluster(child, objects, columns, depth: depth + 1)
            } else {
                try walk(child, columns[i - 1] ?? objects)
            }
        }
    }

    /// Counts all nodes below a ref, but for those that others count.
    private func walk(_ ref: Ref, _ part: Int, except stops: [Int: Int] = [:]) throws(RealmError) {
        var pending = [ref]
        while let next = pending.popLast() {
            let node = try store.node(next)
            try count(node.size, part)
            guard node.hasRefs else { continue }
            for i in 0..<node.count {
                if let child = try node.slot(i).subtree, stops[child.offset] == nil { pending.append(child) }
            }
        }
    }
}

extension Realm {
    /// Where the bytes of the snapshot's file are.
    package func spaceUsage() throws(RealmError) -> (
        parts: [(kind: UInt32, className: Name?, property: Name?, bytes: Int)], size: Int
    ) {
        let transaction = try reading()
        guard !isWriting else {
            throw RealmError(.wrongTransactionState, "What a write transaction has changed lies in no file yet")
        }
        return try transaction.store.during(.checking) { () throws(RealmError) in
            let found = try SpaceUsage(transaction).run()
            return (found.parts.map { ($0.kind.rawValue, $0.className, $0.property, $0.bytes) }, found.size)
        }
    }
}
