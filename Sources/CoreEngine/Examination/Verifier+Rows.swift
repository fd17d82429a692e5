/// Checks the rows of a table, its values, and the collections in them.
extension Verifier {
    // MARK: Clusters

    func checkRows(_ walk: TableWalk) throws(RealmError) {
        let table = walk.table
        let found = try walkCluster(walk, table.rows.root, offset: 0, depth: nil, last: .max)
        walk.isIncomplete = found == nil
        for key in walk.keys {
            try advance(0)
            let row = try reading(place(table, nil, key)) { () throws(RealmError) in try table.rows.locate(key) }
            if case .some(.none) = row { report(.tree, "the object is not found by its key", place(table, nil, key)) }
        }
    }

    /// - Parameters:
    ///   - offset: sum of the offsets on the path.
    ///   - depth: the depth that the node above requires.
    ///   - last: the largest key that belongs here.
    /// - Returns: the number of objects; nil if some could not be read.
    private func walkCluster(_ walk: TableWalk, _ ref: Ref, offset: UInt64, depth: Int?, last: UInt64)
        throws(RealmError) -> Int?
    {
        let here = place(walk.table)
        guard try enter(ref, here), let node = try reading(here, { () throws(RealmError) in try store.refsNode(ref) })
        else { return nil }
        guard node.isInner else {
            if let depth, depth != 0 { report(.tree, "a cluster \(depth) levels too high", here, offset: ref.offset) }
            return try walkLeaf(walk, node, offset: offset, last: last)
        }
        guard let inner = try reading(here, { () throws(RealmError) in try ClusterInner(store, node) }) else {
            return nil
        }
        let levels = depth ?? inner.depth
        if levels != inner.depth {
            report(
                .tree, "a cluster node of \(inner.depth) levels where \(levels) are expected", here, offset: ref.offset)
        }
        guard levels > 0 else {
            report(.node, "a cluster node that is too deep", here, offset: ref.offset)
            return nil
        }
        var sum: Int? = 0
        var start = UInt64(0)
        for i in 0..<inner.count {
            guard let child = try reading(here, { () throws(RealmError) in try inner.child(i) }) else {
                sum = nil
                continue
            }
            let first = inner.offset(i)
            if first < start || i == 0 && first != 0 {
                report(.tree, "offsets of a cluster node out of order: child \(i)", here, offset: ref.offset)
            }
            start = first
            let next = i + 1 < inner.count ? inner.offset(i + 1) : 0
            let end = next > first ? offset &+ next &- 1 : last
            let count = try walkCluster(walk, child, offset: offset &+ first, depth: levels - 1, last: min(end, last))
            if let known = sum, let count { sum = known + count } else { sum = nil }
        }
        let total = try reading(here) { () throws(RealmError) in try node.slot(2) }
        if let sum, let total, total.number != UInt64(sum) {
            report(
                .tree, "a cluster node that counts \(total.integer) objects but has \(sum)", here, offset: ref.offset)
        }
        return sum
    }

    private func walkLeaf(_ walk: TableWalk, _ node: Node, offset: UInt64, last: UInt64) throws(RealmError) -> Int? {
        let here = place(walk.table)
        guard let leaf = try reading(here, { () throws(RealmError) in try ClusterLeaf(store, node) }) else {
            return nil
        }
        let first = walk.keys.count
        for row in 0..<leaf.count {
            let localKey = leaf.key(row)
            let key = ObjKey(Int64(bitPattern: offset &+ localKey))
            if key.raw < 0 || localKey > last &- offset {
                report(.tree, "an object outside of its cluster", place(walk.table, nil, key), offset: node.ref.offset)
            }
            if let before = walk.keys.last, !(before < key) {
                report(.tree, "object keys out of order", place(walk.table, nil, key), offset: node.ref.offset)
            }
            try walk.keys.add(key)
        }
        let rows = first..<walk.keys.count
        try advance(rows.count)
        try walk.clusters.add((node.ref, rows))
        for column in walk.table.columns where column.leafKind != nil { try checkColumn(walk, column, node.ref, rows) }
        return rows.count
    }

    /// The leaf of a column in a cluster. If it cannot be read, marks its values as unread and returns nil.
    func columnLeaf(_ walk: TableWalk, _ column: Column, _ cluster: Ref, _ rows: Range<Int>) throws(RealmError) -> Node?
    {
        let here = place(walk.table, column)
        let leaf = try reading(here) { () throws(RealmError) -> Node in
            try store.node(try ClusterLeaf(store, try store.refsNode(cluster)).column(column.index))
        }
        if leaf == nil {
            for row in rows {
                try noteUnread(ValuePlace(table: walk.table.key, column: column.key, object: walk.keys[row]))
            }
        }
        return leaf
    }

    private func checkColumn(_ walk: TableWalk, _ column: Column, _ cluster: Ref, _ rows: Range<Int>) throws(RealmError)
    {
        let table = walk.table, here = place(table, column)
        guard let kind = column.leafKind, let leaf = try columnLeaf(walk, column, cluster, rows) else { return }
        let isEnumerated = !column.enumeratedValues.isNull && !leaf.hasRefs && leaf.widthType == 0
        let count =
            isEnumerated ? leaf.count : try reading(here) { () throws(RealmError) in try kind.count(store, leaf.ref) }
        if let count, count != rows.count {
            report(.tree, "\(count) values for \(rows.count) objects", here, offset: leaf.ref.offset)
        }
        if kind == .mixed { try checkPayloads(leaf.ref, here) }
        if !isEnumerated { try checkForm(leaf.ref, kind, here) }
        if column.isBacklink { return }
        for (i, row) in rows.enumerated() {
            let key = walk.keys[row], spot = place(table, column, key)
            let value =
                i < count ?? 0
                ? try reading(spot) { () throws(RealmError) in
                    if !isEnumerated { return try kind.get(store, leaf.ref, i) }
                    return try LeafKind.string.get(store, column.enumeratedValues, Int(truncatingIfNeeded: leaf.get(i)))
                }
                : nil
            let origin = ValuePlace(table: table.key, column: column.key, object: key)
            guard let value else {
                try noteUnread(origin)
                continue
            }
            if !(try checkValue(value, column, origin, spot)) { try noteUnread(origin) }
            while let collection = deepCollections.popLast() {
                if !(try checkNested(collection)) { try noteUnread(origin) }
            }
        }
    }

    // MARK: Values

    /// A collection in a Mixed value.
    struct NestedCollection {
        let root: Ref
        let isList: Bool
        let column: Column
        let origin: ValuePlace
        let here: Fault.Place

        /// The depth of the collection; its elements are one deeper.
        let depth: Int
    }

    /// The number of levels that are checked by recursion. Deeper collections wait until these are done, because the
    /// stack of a small thread is not large enough for all levels.
    private static let recursionLimit = 12

    /// - Returns: whether the whole value could be read.
    private func checkValue(_ element: Mixed, _ column: Column, _ origin: ValuePlace, _ here: Fault.Place)
        throws(RealmError)
        -> Bool
    {
        guard column.isCollection else {
            if element.isNull && !column.isNullable && column.type != .typedLink {
                report(.value, "null in a property that takes none", here)
            }
            return try checkElement(element, column, origin, here, depth: 0)
        }
        guard case .slot(let slot) = element else { return true }
        if slot.isTagged { report(.node, "a number where a collection is expected", here) }
        guard let root = slot.subtree else { return true }
        if column.isDictionary { return try walkDictionary(root, column, column.keyType, origin, here, depth: 0) }
        guard let kind = column.elementKind else { return true }
        let isOrdered = column.isSet && group.format >= 24
        var before: Mixed?
        if kind == .objKey, transaction.old == nil { try checkUnresolved(root, here) }
        return try walkTree(root, kind, here) { (value, i) throws(RealmError) in
            // A set of decimals stores null as a number.
            if value.isNull && !column.isNullable && column.type != .link {
                self.report(.value, "null at index \(i) of a collection that takes none", here)
            }
            if isOrdered, let earlier = before, ElementList.order(kind, earlier, value) >= 0 {
                self.report(.value, "a set out of order at index \(i)", here)
            }
            before = value
            if !(try self.checkElement(value, column, origin, here, depth: 1)) { try self.noteUnread(origin) }
        }
    }

    /// Checks a single value, or an element of a collection.
    private func checkElement(_ element: Mixed, _ column: Column, _ origin: ValuePlace, _ here: Fault.Place, depth: Int)
        throws(RealmError) -> Bool
    {
        switch element {
        case .link(let key): try noteLink(column.oppositeTable, key, origin)
        case .typedLink(let table, let key): try noteLink(table, key, origin)
        case .timestamp(let time):
            if time.nanoseconds.magnitude >= 1_000_000_000 || (time.seconds > 0 && time.nanoseconds < 0)
                || (time.seconds < 0 && time.nanoseconds > 0)
            {
                report(.value, "a timestamp of \(time.seconds) seconds and \(time.nanoseconds) nanoseconds", here)
            }
        case .list(let root), .dictionary(let root):
            guard !root.isNull, mayNest(depth, root, here) else { return root.isNull }
            var isList = false
            if case .list = element { isList = true }
            let collection = NestedCollection(
                root: root, isList: isList, column: column, origin: origin, here: here, depth: depth)
            guard nestedLevels < Self.recursionLimit else {
                try deepCollections.add(collection)
                return true
            }
            nestedLevels += 1
            defer { nestedLevels -= 1 }
            return try checkNested(collection)
        default: break
        }
        return true
    }

    private func checkNested(_ it: NestedCollection) throws(RealmError) -> Bool {
        guard it.isList else {
            return try walkDictionary(it.root, it.column, .string, it.origin, it.here, depth: it.depth + 1)
        }
        return try walkTree(it.root, .mixed, it.here) { (value, _) throws(RealmError) in
            if !(try self.checkElement(value, it.column, it.origin, it.here, depth: it.depth + 1)) {
                try self.noteUnread(it.origin)
            }
        }
    }

    private func mayNest(_ depth: Int, _ root: Ref, _ here: Fault.Place) -> Bool {
        if depth < Tables.maxNesting { return true }
        report(.node, "collections nested too deeply", here, offset: root.offset)
        return false
    }

    private func noteLink(_ table: TableKey, _ key: ObjKey, _ origin: ValuePlace) throws(RealmError) {
        guard key.raw >= 0 else { return }
        try links.makeRoom()
        try owners.makeRoom()
        let target = ObjectPlace(table: table, object: key)
        links[LinkEnd(target: target, origin: origin), default: 0] += 1
        owners[target, default: 0] += 1
    }

    /// Checks the flag of a tree of links: whether a link leads to an object that does not exist yet.
    private func checkUnresolved(_ root: Ref, _ here: Fault.Place) throws(RealmError) {
        let flags = try reading(here) { () throws(RealmError) -> (has: Bool, needs: Bool) in
            var needs = false
            try BPlusTree(store, kind: .objKey, root: root).forEachLeaf { (leaf, _, count) throws(RealmError) in
                let node = try store.integers(leaf)
                for i in 0..<node.count where node.get(i) < -1 { needs = true }
                return !needs
            }
            return (try store.node(root).context, needs)
        }
        if let flags, flags.has != flags.needs {
            report(.node, "a wrong flag for links to missing objects", here, offset: root.offset)
        }
    }

    // MARK: Trees

    /// Calls `body` with each readable element and its index. Returns whether all elements were readable.
    func walkTree(
        _ root: Ref, _ kind: LeafKind, _ here: Fault.Place, leafLimit: Int = Format.treeCapacity,
        _ body: (Mixed, Int) throws(RealmError) -> Void
    ) throws(RealmError) -> Bool {
        var first = 0
        return try walkTree(root, kind, here, leafLimit, depth: 0, &first, body) != nil
    }

    /// - Returns: the number of elements; nil if some could not be read.
    private func walkTree(
        _ ref: Ref, _ kind: LeafKind, _ here: Fault.Place, _ leafLimit: Int, depth: Int, _ first: inout Int,
        _ body: (Mixed, Int) throws(RealmError) -> Void
    ) throws(RealmError) -> Int? {
        guard try enter(ref, here), let node = try reading(here, { () throws(RealmError) in try store.node(ref) })
        else {
            return nil
        }
        if !node.isInner {
            guard let count = try reading(here, { () throws(RealmError) in try kind.count(store, ref) }) else {
                return nil
            }
            guard count <= leafLimit else {
                report(.tree, "a leaf of \(count) elements", here, offset: ref.offset)
                return nil
            }
            if kind == .mixed { try checkPayloads(ref, here) }
            try checkForm(ref, kind, here)
            var isWhole = true
            for i in 0..<count {
                if let value = try reading(here, { () throws(RealmError) in try kind.get(store, ref, i) }) {
                    try body(value, first + i)
                } else {
                    isWhole = false
                }
            }
            first += count
            return isWhole ? count : nil
        }
        guard node.count >= 3, depth < Trees.maxDepth else {
            report(.node, "an inner node without children, or too deep", here, offset: ref.offset)
            return nil
        }
        var ends: [Int] = []
        var isWhole = true
        let start = first
        for i in 1..<node.count - 1 {
            let child = try reading(here) { () throws(RealmError) in try node.child(i) }
            if let child, try walkTree(child, kind, here, leafLimit, depth: depth + 1, &first, body) != nil {
                try ends.add(first - start)
            } else {
                isWhole = false
            }
        }
        guard isWhole else { return nil }
        let total = first - start
        let stated = try reading(here) { () throws(RealmError) -> (total: UInt64?, ends: [UInt64]) in
            let per = try node.slot(0), inner = 1..<max(1, ends.count)
            if let per = per.number { return (try node.slot(node.count - 1).number, inner.map { per &* UInt64($0) }) }
            let offsets = try store.integers(per.ref)
            return (try node.slot(node.count - 1).number, (0..<offsets.count).map { offsets.getUnsigned($0) })
        }
        guard let stated else { return nil }
        if stated.total != UInt64(total) {
            report(.tree, "a tree that counts \(stated.total ?? 0) elements but has \(total)", here, offset: ref.offset)
        }
        if stated.ends != ends.dropLast().map({ UInt64($0) }) {
            report(.tree, "offsets of a tree that contradict its leaves", here, offset: ref.offset)
        }
        return total
    }

    /// - Parameter depth: 0 for the dictionary of a property, otherwise the depth of its elements.
    private func walkDictionary(
        _ root: Ref, _ column: Column, _ keyType: ColumnType, _ origin: ValuePlace, _ here: Fault.Place, depth: Int
    ) throws(RealmError) -> Bool {
        let element = { (value: Mixed) throws(RealmError) -> Void in
            if !(try self.checkElement(value, column, origin, here, depth: max(depth, 1))) {
                try self.noteUnread(origin)
            }
        }
        if group.format < 23 && depth == 0 {
            let whole: Void? = try reading(here) { () throws(RealmError) in
                let old = try ElementDictionary(store, root: root, keyType: keyType, format: group.format)
                for i in 0..<old.count { try element(try old.value(i)) }
                try checkOldDictionary(root, here, depth: 0)
            }
            return whole != nil
        }
        let parts = try reading(here) { () throws(RealmError) -> (keys: Ref, values: Ref) in
            let top = try store.refsNode(root)
            guard !top.isInner, top.count >= 2 else { throw .corrupt("not a dictionary", at: root.offset) }
            return (try top.child(0), try top.child(1))
        }
        guard try enter(root, here), let parts else { return false }
        var keys = 0, values = 0
        var before: Bytes?
        let hasKeys = try walkTree(parts.keys, keyType == .int ? .int : .string, here) { (key, i) throws(RealmError) in
            keys += 1
            guard case .string(let name) = key else {
                if key.isNull { self.report(.value, "null as key \(i) of a dictionary", here) }
                return
            }
            // Before format 24, keys with non-ASCII characters had another order.
            if let earlier = before, Mixed.compareBytes(earlier, name) >= 0, !earlier.contains(where: { $0 >= 0x80 }),
                !name.contains(where: { $0 >= 0x80 })
            {
                self.report(.tree, "keys of a dictionary out of order: key \(i)", here, offset: parts.keys.offset)
            }
            before = name
        }
        let hasValues = try walkTree(parts.values, .mixed, here) { (value, i) throws(RealmError) in
            values += 1
            let fits = value.isNull || column.type == .mixed || depth > 0 || value.columnType == column.type
            if !fits { self.report(.value, "a value of another type at index \(i) of a dictionary", here) }
            if value.isNull && !column.isNullable && depth == 0 {
                self.report(.value, "null at index \(i) of a collection that takes none", here)
            }
            try element(value)
        }
        if hasKeys && hasValues && keys != values {
            report(.tree, "\(keys) keys and \(values) values in a dictionary", here, offset: root.offset)
        }
        return hasKeys && hasValues
    }

    /// Checks the leaves of a dictionary of formats before 23, which is a tree of clusters. Format: logical §7.
    private func checkOldDictionary(_ ref: Ref, _ here: Fault.Place, depth: Int) throws(RealmError) {
        let node = try store.refsNode(ref)
        guard depth < Trees.maxDepth else { throw .corrupt("dictionary nested too deeply", at: ref.offset) }
        guard !node.isInner else {
            let inner = try ClusterInner(store, node)
            for i in 0..<inner.count { try checkOldDictionary(try inner.child(i), here, depth: depth + 1) }
            return
        }
        let leaf = try ClusterLeaf(store, node), keys = try leaf.column(0), values = try leaf.column(1)
        for (kind, column) in [(LeafKind.string, keys), (.mixed, values)]
        where try kind.count(store, column) != leaf.count {
            report(.tree, "a dictionary with keys and values that do not match", here, offset: column.offset)
        }
        try checkForm(keys, .string, here)
        try checkPayloads(values, here)
        try checkForm(values, .mixed, here)
    }

    /// Checks that each payload of a Mixed leaf belongs to one value, and that nested collections have keys.
    private func checkPayloads(_ ref: Ref, _ here: Fault.Place) throws(RealmError) {
        let uses = try reading(here) { () throws(RealmError) in try MixedLeaf.payloadUses(store, ref) }
        guard let uses else { return }
        if uses.shared { report(.value, "a payload that two Mixed values share", here, offset: ref.offset) }
        if uses.unused { report(.value, "a payload without its Mixed value", here, offset: ref.offset) }
        if uses.withoutKey { report(.value, "a nested collection without its key", here, offset: ref.offset) }
    }
}

extension MixedLeaf {
    /// How the values of a leaf use its payload arrays.
    fileprivate static func payloadUses(_ store: NodeStore, _ ref: Ref) throws(RealmError) -> (
        shared: Bool, unused: Bool, withoutKey: Bool
    ) {
        let node = try store.refsNode(ref)
        let composite = try store.integers(try node.child(0))
        var uses = (shared: false, unused: false, withoutKey: false)
        var counts = [Int](repeating: 0, count: 5)
        for slot in 1..<5 where slot < node.count {
            let payload = try node.child(slot)
            if payload.isNull { continue }
            counts[slot] =
                try slot == 3 ? StringLeaf.count(store, payload) : store.node(payload).count / (slot == 2 ? 2 : 1)
        }
        try CMemory.expect(counts.max() ?? 0)
        var used = counts.map { [Bool](repeating: false, count: $0) }
        for i in 0..<composite.count {
            let word = composite.get(i)
            let slot = Int(word >> 5 & 7), index = Int(word >> 8)
            guard word != 0, slot > 0 else { continue }
            // An index outside the array is damage that is found when the value is read.
            guard slot < used.count, index >= 0, index < used[slot].count else { continue }
            if used[slot][index] { uses.shared = true }
            used[slot][index] = true
            if slot == 4, try key(store, ref, i) == 0 { uses.withoutKey = true }
        }
        uses.unused = used.contains { $0.contains(false) }
        return uses
    }
}
