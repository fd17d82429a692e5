/// Measures how the bytes of the file of a snapshot are used.
///
/// Every reachable node is counted for one part, so the parts of a sound file add up to its logical size. A damaged
/// file in which nodes are shared causes an error.
final class SpaceUsage {
    /// The use of bytes. Numbers: `crealm_space_kind_e`.
    enum Kind: UInt32 {
        /// Values of a property.
        case values = 1
        /// Backlinks: the objects that link to those of the class.
        case backlinks
        /// The search index of a property.
        case index
        /// Keys of the objects of a class, and the nodes above its clusters.
        case objects
        /// Names, columns and other facts of one class or of all classes.
        case schema
        /// Changes of earlier versions, for observers and for synchronization.
        case history
        /// Free, and not used by any version: the next commits write there.
        case free
        /// Lists of free space, the header, and bytes that are neither reachable nor free.
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

    /// Maximum bytes of all nodes; nil before the first node is counted.
    private var room: Int?

    init(_ transaction: Transaction) { self.transaction = transaction }

    /// - Returns: the parts, the largest first, and the size of the file.
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

    /// Counts a class. `root` is its top array.
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

    /// Counts a class of an old format, in which each column has its own tree.
    private func walk(_ table: OldTable) throws(RealmError) {
        let name = table.name.after(Format.classPrefix) ?? table.name
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

    /// Counts all nodes below a ref, except subtrees in `stops`, which are counted elsewhere.
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
