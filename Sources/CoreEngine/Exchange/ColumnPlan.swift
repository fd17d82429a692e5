/// The columns of an export: paths over the properties of a class, bound to the places of their values.
///
///     name                 a property, by its public or its stored name
///     owner.address.city   a property behind links to one object each; null where a link is null
///     @key                 the key of the object, also behind links
struct ColumnPlan {
    /// The snapshot, and the classes as the Realm shows them.
    private let group: Group
    private let schema: Schema
    private let mostBytes: Int

    /// Number of columns so far, including the parts of embedded objects.
    private var made = 0

    /// Limit of columns: a file can describe more columns than fit in memory.
    private static let mostColumns = 20_000

    /// Embedded objects below this depth, or of a class that encloses them, are exported as keys only.
    private static let deepest = 16

    private init(_ group: Group, _ schema: Schema, mostBytes: Int) {
        self.group = group
        self.schema = schema
        self.mostBytes = mostBytes
    }

    /// - Parameters:
    ///   - paths: nil for all properties with values or collections, in schema order.
    ///   - mayLackObjects: some rows may have no object, so every column may have nulls.
    static func columns(
        _ group: Group, _ schema: Schema, of key: TableKey, paths: [Name]?, mayLackObjects: Bool, mostBytes: Int
    ) throws(RealmError) -> [ColumnReader] {
        guard let table = try group.table(key) else { throw RealmError(.noSuchTable, "No table with key \(key.raw)") }
        var plan = ColumnPlan(group, schema, mostBytes: mostBytes)
        var columns: [ColumnReader] = []
        guard let paths else {
            for (name, column) in plan.properties(table) {
                columns.append(try plan.reader(column, of: table, name, isNullable: mayLackObjects, around: [key]))
            }
            return columns
        }
        for path in paths { columns.append(try plan.reader(path, from: table, isNullable: mayLackObjects)) }
        return columns
    }

    // MARK: Names

    /// Name and column of each property.
    private func properties(_ table: Table) -> [(Name, Column)] {
        guard let i = schema.index(of: table.key) else { return table.publicColumns.map { ($0.name, $0) } }
        return schema.classes[i].properties.compactMap { property in
            table.column(property.key).map { (property.publicName.isEmpty ? property.name : property.publicName, $0) }
        }
    }

    private func column(_ name: Name, of table: Table) -> Column? {
        let properties = properties(table)
        if let known = properties.first(where: { $0.0 == name }) { return known.1 }
        guard let stored = table.column(named: name), !stored.isBacklink else { return nil }
        return properties.first { $0.1.key == stored.key }?.1
    }

    private func className(_ table: TableKey) throws(RealmError) -> Name {
        guard let owner = try group.table(table) else { return "" }
        return owner.className ?? owner.name
    }

    // MARK: Paths

    private mutating func reader(_ path: Name, from table: Table, isNullable: Bool) throws(RealmError) -> ColumnReader {
        var links: [(ColKey, TableKey)] = []
        var at = table, rest = Substring(path.text)
        while true {
            if rest == "@key" {
                let field = ColumnField(
                    name: path, kind: .link, isNullable: isNullable || !links.isEmpty,
                    linkedClass: try className(at.key))
                return try behind(links, ColumnReader(.key, try builder(field)))
            }
            if let last = column(Name(String(rest)), of: at) {
                let inner = try reader(last, of: at, path, isNullable: isNullable || !links.isEmpty, around: [at.key])
                return try behind(links, inner)
            }
            // A name may contain dots: the shortest prefix that names a link is used.
            guard let (link, end) = link(rest, of: at), let target = try group.table(link.oppositeTable) else {
                throw unknown(path, rest, at)
            }
            links.append((link.key, target.key))
            guard links.count <= Self.deepest else {
                throw RealmError(.limitExceeded, "'\(path)' leads over more than \(Self.deepest) links")
            }
            (at, rest) = (target, rest[rest.index(after: end)...])
        }
    }

    private func link(_ rest: Substring, of table: Table) -> (Column, Substring.Index)? {
        for end in rest.indices where rest[end] == "." {
            if let definition = column(Name(String(rest[..<end])), of: table), definition.type == .link,
                !definition.isCollection
            {
                return (definition, end)
            }
        }
        return nil
    }

    private func unknown(_ path: Name, _ rest: Substring, _ table: Table) -> RealmError {
        let first = Name(String(rest.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""))
        if column(first, of: table) != nil {
            return RealmError(
                .invalidProperty,
                "Column '\(path)': '\(first)' is no link to one object, so nothing can be read behind it")
        }
        return RealmError(
            .invalidProperty, "Column '\(path)': class '\(table.className ?? table.name)' has no property '\(first)'")
    }

    private func behind(_ links: [(ColKey, TableKey)], _ last: ColumnReader) throws(RealmError) -> ColumnReader {
        var reader = last
        for (link, target) in links.reversed() {
            reader = ColumnReader(.behind(link, TableReader(target, [reader])), last.builder)
        }
        return reader
    }

    // MARK: Properties

    private func builder(_ field: ColumnField) throws(RealmError) -> ColumnBuilder {
        guard field.kind == .mixed else { return ColumnBuilder(field, mostBytes: mostBytes) }
        // The enclosing structure distinguishes JSON text from a plain text value, even if a program drops the
        // metadata.
        let json = ColumnField(name: "json", kind: .text, isNullable: true)
        var whole = field
        whole.children = [json]
        return ColumnBuilder(whole, children: [ColumnBuilder(json, mostBytes: mostBytes)])
    }

    /// - Parameter around: the class, and the classes of the enclosing objects.
    private mutating func reader(
        _ column: Column, of table: Table, _ name: Name, isNullable: Bool, around: [TableKey]
    ) throws(RealmError) -> ColumnReader {
        made += 1
        guard made <= Self.mostColumns else {
            throw RealmError(
                .limitExceeded,
                "Class '\(table.className ?? table.name)' has too many columns with those of its embedded objects")
        }
        guard column.isCollection else {
            if column.type == .link, let target = try embedded(column, around) {
                let parts = try columns(of: target, around)
                let field = ColumnField(
                    name: name, kind: .structure, isNullable: true, children: parts.map(\.builder.field))
                return ColumnReader(
                    .embedded(column.key, TableReader(target.key, parts)),
                    ColumnBuilder(field, children: parts.map(\.builder)))
            }
            if let keys = try primaryKeys(column, name) {
                return ColumnReader(.behind(column.key, keys.reader), keys.builder)
            }
            let field = try field(column, name, isNullable: isNullable || column.isNullable)
            let source: ColumnReader.Source
            switch column.type {
            case .link: source = .link(column.key)
            case .mixed: source = .mixed(column.key)
            default:
                guard let kind = column.leafKind else { throw .corrupt("a property of an unknown type") }
                source = .value(column.key, kind)
            }
            return ColumnReader(source, try builder(field))
        }
        // Lists and sets of links have no null elements; dictionaries of links may have them.
        let hasNulls = column.type == .link || column.type == .linkList ? column.isDictionary : column.isNullable
        let elementName: Name = column.isDictionary ? "value" : "item"
        let elements: ColumnReader.Elements, element: ColumnBuilder
        if column.type == .link || column.type == .linkList, let target = try embedded(column, around) {
            let parts = try columns(of: target, around)
            element = ColumnBuilder(
                ColumnField(
                    name: elementName, kind: .structure, isNullable: hasNulls, children: parts.map(\.builder.field)),
                children: parts.map(\.builder))
            elements = .objects(TableReader(target.key, parts))
        } else if let keys = try primaryKeys(column, elementName) {
            (element, elements) = (keys.builder, .primaryKeys(keys.reader))
        } else {
            element = try builder(try field(column, elementName, isNullable: hasNulls))
            elements = column.type == .mixed ? .mixed : .values
        }
        return ColumnReader(
            .collection(column, elements: elements), collection(column, name, isNullable: isNullable, of: element))
    }

    /// Links to objects with a primary key are exported as that primary key: it means the same in every database, and
    /// programs need no object keys.
    private func primaryKeys(_ column: Column, _ name: Name) throws(RealmError) -> (
        reader: TableReader, builder: ColumnBuilder
    )? {
        guard column.type == .link || column.type == .linkList, let target = try group.table(column.oppositeTable),
            let key = target.primaryKey,
            let primary = target.column(key), let kind = primary.leafKind
        else { return nil }
        var field = try field(primary, name, isNullable: true)
        field.linkedClass = target.className ?? target.name
        let builder = try builder(field)
        return (TableReader(target.key, [ColumnReader(.primaryKey(key, kind), builder)]), builder)
    }

    private func collection(_ column: Column, _ name: Name, isNullable: Bool, of element: ColumnBuilder)
        -> ColumnBuilder
    {
        guard column.isDictionary else {
            return ColumnBuilder(
                ColumnField(name: name, kind: .list, isNullable: isNullable, children: [element.field]),
                children: [element], mostBytes: mostBytes)
        }
        let key = ColumnBuilder(ColumnField(name: "key", kind: .text, isNullable: false), mostBytes: mostBytes)
        let entries = ColumnBuilder(
            ColumnField(name: "entries", kind: .structure, isNullable: false, children: [key.field, element.field]),
            children: [key, element])
        return ColumnBuilder(
            ColumnField(name: name, kind: .map, isNullable: isNullable, children: [entries.field]), children: [entries],
            mostBytes: mostBytes)
    }

    /// The target class of a link to embedded objects, if they are exported with their values; otherwise nil.
    private func embedded(_ column: Column, _ around: [TableKey]) throws(RealmError) -> Table? {
        guard let target = try group.table(column.oppositeTable), target.isEmbedded else { return nil }
        return around.contains(target.key) || around.count > Self.deepest ? nil : target
    }

    private mutating func columns(of target: Table, _ around: [TableKey]) throws(RealmError) -> [ColumnReader] {
        var parts: [ColumnReader] = []
        for (name, column) in properties(target) {
            parts.append(try reader(column, of: target, name, isNullable: false, around: around + [target.key]))
        }
        return parts
    }

    /// The field for a single value of a property.
    private func field(_ column: Column, _ name: Name, isNullable: Bool) throws(RealmError) -> ColumnField {
        let kind: ColumnField.Kind
        switch column.type {
        case .int: kind = .int
        case .bool: kind = .bool
        case .float: kind = .float
        case .double: kind = .double
        case .string: kind = .text
        case .binary: kind = .binary
        case .timestamp: kind = .timestamp
        case .decimal: kind = .decimal
        case .objectId: kind = .objectId
        case .uuid: kind = .uuid
        case .mixed: kind = .mixed
        case .link, .linkList:
            let isNullable = isNullable || !column.isCollection
            return ColumnField(
                name: name, kind: .link, isNullable: isNullable, linkedClass: try className(column.oppositeTable))
        default: throw .corrupt("a property of an unknown type")
        }
        // A Mixed value is always nullable.
        return ColumnField(name: name, kind: kind, isNullable: isNullable || kind == .mixed)
    }
}
