/// Type of a property. The numbers are those of the C API.
public enum PropertyType: Int32, Sendable, CaseIterable {
    /// The same types as in `RealmValue`.
    case int = 0, bool = 1, string = 2, data = 4, mixed = 6, date = 8, float = 9, double = 10, decimal = 11
    /// In this order: a link, the objects that link to this one through a property, two kinds of identifiers.
    case object = 12, linkingObjects = 14, objectId = 15, uuid = 17

    var name: String {
        switch self {
        case .data: "data"
        case .linkingObjects: "linking objects"
        case .objectId: "object id"
        default: "\(self)"
        }
    }
}

/// How many values a property holds. The numbers are those of the C API.
public enum CollectionKind: Int32, Sendable, CaseIterable {
    /// In this order: one value, ordered values, unique values, values by string keys.
    case none = 0, list = 1, set = 2, dictionary = 4
}

/// One property of a class.
public struct Property: Sendable, Equatable {
    /// The stored name.
    public var name: Name

    /// Alias in the application's code; never stored. Empty: no alias.
    public var publicName: Name = ""

    /// Type of the value, or of each element.
    public var type: PropertyType

    /// Whether the property is a collection, and of which kind.
    public var collection: CollectionKind = .none

    /// Whether the value, or an element, may be null.
    public var isNullable = false

    /// Whether it is the primary key of its class.
    public var isPrimary = false

    /// Whether an index serves queries for equal values.
    public var isIndexed = false

    /// Whether an index serves queries for words of the text.
    public var isFullTextIndexed = false

    /// Class at the other end of `.object` and `.linkingObjects`.
    public var linkTarget: Name = ""

    /// Property of `linkTarget` whose links `.linkingObjects` collects.
    public var linkOrigin: Name = ""

    /// Column in the open file; `ColKey.null` in a schema that is not bound to a file.
    package internal(set) var key = ColKey.null

    /// - Parameters:
    ///   - target: class at the other end of `.object` and `.linkingObjects`.
    ///   - origin: property of that class whose links `.linkingObjects` collects.
    public init(
        _ name: Name, _ type: PropertyType, nullable: Bool = false, collection: CollectionKind = .none,
        target: Name = "", origin: Name = "",
        primary: Bool = false, indexed: Bool = false, fullText: Bool = false, publicName: Name = ""
    ) {
        self.name = name
        self.type = type
        self.collection = collection
        isNullable = nullable
        linkTarget = target
        linkOrigin = origin
        isPrimary = primary
        isIndexed = indexed
        isFullTextIndexed = fullText
        self.publicName = publicName
    }

    /// Whether the property is computed, that is, not stored.
    public var isComputed: Bool { type == .linkingObjects }
    var needsIndex: Bool { isIndexed || isPrimary }

    /// Equality as used to compare schemas: keys and aliases are ignored.
    public static func == (a: Property, b: Property) -> Bool {
        a.name == b.name && a.sameType(as: b) && a.isNullable == b.isNullable && a.isPrimary == b.isPrimary
            && a.needsIndex == b.needsIndex
            && a.isFullTextIndexed == b.isFullTextIndexed && a.linkOrigin == b.linkOrigin
    }

    func sameType(as other: Property) -> Bool {
        type == other.type && collection == other.collection && linkTarget == other.linkTarget
    }

    /// The type as in error messages: `array<string?>`.
    package var typeText: String {
        let element = (type == .object ? "<\(linkTarget)>" : type.name) + (isNullable ? "?" : "")
        switch collection {
        case .none: return element
        case .list: return "array<\(element)>"
        case .set: return "set<\(element)>"
        case .dictionary: return "dictionary<string, \(element)>"
        }
    }
}

/// One class: a table of the file as the object store uses it.
public struct ObjectSchema: Sendable, Equatable {
    /// The numbers are those of the C API.
    public enum Kind: Int32, Sendable {
        /// In this order: independent objects, objects that another object owns, objects of Realm's sync service (local
        /// files refuse them).
        case topLevel = 0, embedded = 1, asymmetric = 2
        var text: String { self == .embedded ? "Embedded" : (self == .asymmetric ? "TopLevelAsymmetric" : "TopLevel") }
    }

    /// Name of the class.
    public var name: Name

    /// Whether objects of the class are independent, owned or asymmetric.
    public var kind: Kind

    /// Name of the primary key property; empty when there is none.
    public var primaryKey: Name

    /// The stored properties, in column order.
    public var properties: [Property]

    /// The computed properties: `.linkingObjects`.
    public var computedProperties: [Property]

    /// Table in the open file; `TableKey.null` in a schema that is not bound to a file.
    public internal(set) var key = TableKey.null

    /// - Parameter primaryKey: name of the property; nil: the property that is marked as primary.
    public init(_ name: Name, kind: Kind = .topLevel, primaryKey: Name? = nil, properties: [Property]) {
        self.name = name
        self.kind = kind
        self.properties = properties.filter { !$0.isComputed }
        computedProperties = properties.filter(\.isComputed)
        self.primaryKey = primaryKey ?? properties.first(where: \.isPrimary)?.name ?? ""
    }

    package init(name: Name, kind: Kind, primaryKey: Name, persisted: [Property], computed: [Property]) {
        self.name = name
        self.kind = kind
        self.primaryKey = primaryKey
        properties = persisted
        computedProperties = computed
    }

    public static func == (a: ObjectSchema, b: ObjectSchema) -> Bool {
        a.name == b.name && a.kind == b.kind && a.primaryKey == b.primaryKey && a.properties == b.properties
            && a.computedProperties == b.computedProperties
    }

    /// A property, stored or computed.
    public func property(named name: Name) -> Property? {
        properties.first { $0.name == name } ?? computedProperties.first { $0.name == name }
    }

    /// A stored property. It is probably at the index `at`, as in another schema of the class.
    func storedProperty(_ name: Name, at: Int) -> Property? {
        if at < properties.count, properties[at].name == name { return properties[at] }
        return properties.first { $0.name == name }
    }

    var tableName: Name { Format.classPrefix + name }
}

/// A set of classes, sorted by name.
public struct Schema: Sendable, Equatable {
    /// Sorted by name.
    public internal(set) var classes: [ObjectSchema]

    /// - Parameter classes: in any order.
    public init(_ classes: [ObjectSchema] = []) { self.classes = classes.sorted { $0.name < $1.name } }

    package func index(named name: Name) -> Int? {
        let at = classes.place { $0.name < name }
        return at < classes.count && classes[at].name == name ? at : nil
    }

    /// A class by its name.
    public subscript(name: Name) -> ObjectSchema? { index(named: name).map { classes[$0] } }

    /// A property of a class. Copies only the property it returns.
    package func property(_ name: Name, of table: TableKey) -> Property? {
        guard let classIndex = index(of: table) else { return nil }
        for i in classes[classIndex].properties.indices where classes[classIndex].properties[i].name == name {
            return classes[classIndex].properties[i]
        }
        return classes[classIndex].computedProperties.first { $0.name == name }
    }

    package func index(of key: TableKey) -> Int? { key.isNull ? nil : classes.firstIndex { $0.key == key } }
}

extension Schema {
    /// Checks in addition to the basic ones; bits of the C API.
    package struct ValidationMode: OptionSet, Sendable {
        package let rawValue: UInt64

        package init(rawValue: UInt64) { self.rawValue = rawValue }
        package static let partitionSync = ValidationMode(rawValue: 1)
        package static let rejectEmbeddedOrphans = ValidationMode(rawValue: 2)
        package static let flexibleSync = ValidationMode(rawValue: 4)
    }

    /// Throws 2016 with one line per problem. Rules and order: live-objects §1.2.
    public func validate() throws(RealmError) { try validate([]) }

    package func validate(_ mode: ValidationMode) throws(RealmError) {
        var problems: [String] = []
        for (a, b) in zip(classes, classes.dropFirst()) where a.name == b.name {
            problems.append("Type '\(a.name)' appears more than once in the schema.")
        }
        for objectClass in classes { check(objectClass, mode, &problems) }
        if problems.isEmpty {
            checkEmbeddedCycles(&problems)
            if mode.contains(.rejectEmbeddedOrphans) {
                let reachable = reachableEmbedded()
                for objectClass in classes where objectClass.kind == .embedded && !reachable.contains(objectClass.name)
                {
                    problems.append(
                        "Embedded object '\(objectClass.name)' is unreachable by any link path from top level objects.")
                }
            }
        }
        guard problems.isEmpty else {
            throw RealmError(
                .schemaValidationFailed,
                "Schema validation failed due to the following errors:\n"
                    + problems.map { "- " + $0 }.joined(separator: "\n"))
        }
    }

    /// The elements that a sorted array contains more than once.
    private static func repeated(_ names: [Name]) -> [Name] {
        var found: [Name] = []
        for i in names.indices.dropFirst() where names[i] == names[i - 1] && found.last != names[i] {
            found.append(names[i])
        }
        return found
    }

    private func check(_ objectClass: ObjectSchema, _ mode: ValidationMode, _ problems: inout [String]) {
        let all = objectClass.properties + objectClass.computedProperties
        let names = all.map(\.name).sorted(), aliases = all.map(\.publicName).filter { !$0.isEmpty }.sorted()
        for alias in Self.repeated(aliases) {
            problems.append("Alias '\(alias)' appears more than once in the schema for type '\(objectClass.name)'.")
        }
        for name in Self.repeated(names) {
            problems.append("Property '\(name)' appears more than once in the schema for type '\(objectClass.name)'.")
        }
        for property in all where !property.publicName.isEmpty {
            let at = names.place { $0 < property.publicName }
            guard at < names.count, names[at] == property.publicName else { continue }
            problems.append(
                "Property '\(objectClass.name).\(property.name)' has an alias '\(property.publicName)' that conflicts with a property of the same name."
            )
        }
        var primary: Name?
        for property in objectClass.properties {
            check(property, in: objectClass, &primary, &problems)
            if property.isComputed {
                problems.append(
                    "Linking Objects property '\(objectClass.name).\(property.name)' cannot be a stored property.")
            }
        }
        for property in objectClass.computedProperties { check(property, in: objectClass, &primary, &problems) }
        if !objectClass.primaryKey.isEmpty {
            if objectClass.kind == .embedded {
                problems.append("Embedded object type '\(objectClass.name)' cannot have a primary key.")
            } else if primary == nil, !all.contains(where: { $0.name == objectClass.primaryKey }) {
                problems.append("Specified primary key '\(objectClass.name).\(objectClass.primaryKey)' does not exist.")
            }
        }
        if objectClass.kind == .asymmetric {
            if mode.contains(.partitionSync) {
                problems.append("Asymmetric table '\(objectClass.name)' not allowed in partition based sync")
            } else if !mode.contains(.flexibleSync) {
                problems.append("Asymmetric table '\(objectClass.name)' not allowed in a local Realm")
            }
        }
        if !mode.isDisjoint(with: [.partitionSync, .flexibleSync]) && objectClass.kind != .embedded
            && objectClass.primaryKey != "_id"
        {
            problems.append(
                "The primary key property on a synchronized Realm must be named '_id' for type '\(objectClass.name)'.")
        }
    }

    private func check(
        _ property: Property, in objectClass: ObjectSchema, _ primary: inout Name?, _ problems: inout [String]
    ) {
        var name: String { "'\(objectClass.name).\(property.name)'" }
        if property.isNullable
            && ((property.type == .object && (property.collection == .list || property.collection == .set))
                || property.type == .linkingObjects)
        {
            problems.append("Property \(name) of type '\(property.typeText)' cannot be nullable.")
        } else if !property.isNullable && property.type == .object
            && (property.collection == .none || property.collection == .dictionary)
        {
            problems.append("Property \(name) of type 'object' must be nullable.")
        } else if !property.isNullable && property.type == .mixed {
            problems.append("Property \(name) of type 'mixed' must be nullable.")
        }
        if property.isPrimary {
            switch property.type {
            case .int where property.collection == .none, .string where property.collection == .none,
                .objectId where property.collection == .none,
                .uuid where property.collection == .none:
                break
            default: problems.append("Property \(name) of type '\(property.typeText)' cannot be made the primary key.")
            }
            if let primary {
                problems.append(
                    "Properties '\(primary)' and '\(property.name)' are both marked as the primary key of '\(objectClass.name)'."
                )
            }
            primary = property.name
        }
        if property.isIndexed {
            var indexable = false
            switch property.type {
            case .int, .bool, .date, .string, .objectId, .uuid, .mixed:
                indexable = property.collection == .none || (property.type == .string && property.collection == .list)
            default: break
            }
            if !indexable { problems.append("Property \(name) of type '\(property.typeText)' cannot be indexed.") }
        }
        if property.type == .linkingObjects && property.collection != .list {
            problems.append("Linking Objects property \(name) must be an array.")
        }
        if property.type != .linkingObjects && !property.linkOrigin.isEmpty {
            problems.append("Property \(name) of type '\(property.typeText)' cannot have an origin property name.")
        } else if property.type == .linkingObjects && property.linkOrigin.isEmpty {
            problems.append("Property \(name) of type '\(property.typeText)' must have an origin property name.")
        }
        checkTarget(property, name, in: objectClass, &problems)
    }

    /// Checks the class that a property links to and, for `.linkingObjects`, the origin property of that class.
    private func checkTarget(
        _ property: Property, _ name: String, in objectClass: ObjectSchema, _ problems: inout [String]
    ) {
        guard property.type == .object || property.type == .linkingObjects else {
            if !property.linkTarget.isEmpty {
                problems.append("Property \(name) of type '\(property.typeText)' cannot have an object type.")
            }
            return
        }
        guard let target = self[property.linkTarget] else {
            problems.append(
                "Property \(name) of type '\(property.typeText)' has unknown object type '\(property.linkTarget)'")
            return
        }
        if property.type == .object {
            if target.kind == .embedded && property.collection == .set {
                problems.append(
                    "Set property \(name) cannot contain embedded object type '\(target.name)'. "
                        + "Set properties can only contain top level object types."
                )
            }
            if target.kind == .asymmetric {
                problems.append(
                    "Property \(name) of type '\(property.typeText)' cannot be a link to an asymmetric object.")
            }
            return
        }
        guard let origin = target.properties.first(where: { $0.name == property.linkOrigin }) else {
            do {
                problems.append(
                    "Property '\(property.linkTarget).\(property.linkOrigin)' declared as origin of linking objects property \(name) does not exist"
                )
            }
            return
        }
        if origin.type != .object {
            problems.append(
                "Property '\(property.linkTarget).\(property.linkOrigin)' declared as origin of linking objects property \(name) is not a link"
            )
        } else if origin.linkTarget != objectClass.name {
            problems.append(
                "Property '\(property.linkTarget).\(property.linkOrigin)' declared as origin "
                    + "of linking objects property \(name) links to type '\(origin.linkTarget)'"
            )
        }
    }

    private func checkEmbeddedCycles(_ problems: inout [String]) {
        let graph = EmbeddedGraph(self)
        let cyclic = graph.cyclic()
        // The way back from each class may pass through all classes: limits on the searches and on the text keep time
        // and size bounded.
        var told = 0, steps = 0, length = 0
        for start in cyclic where steps < 4_000_000 && length < 1 << 20 {
            if let path = graph.way(backTo: start, &steps) {
                problems.append("Cycles containing embedded objects are not currently supported: '\(path)'")
                length += path.utf8.count
            }
            told += 1
        }
        if told < cyclic.count {
            problems.append("There are \(cyclic.count - told) more embedded classes on such cycles")
        }
    }

    /// Embedded classes that can be reached from a top-level class.
    func reachableEmbedded() -> Swift.Set<Name> {
        var found = Swift.Set<Name>()
        var pending = classes.filter { $0.kind != .embedded }
        while let objectClass = pending.popLast() {
            for property in objectClass.properties where property.type == .object {
                if let target = self[property.linkTarget], target.kind == .embedded, found.insert(target.name).inserted
                {
                    pending.append(target)
                }
            }
        }
        return found
    }
}

/// The links between the embedded classes of a schema. Walks keep their paths on the heap, because a chain of classes
/// may have any length.
private struct EmbeddedGraph {
    private let schema: Schema

    /// For each class, the properties that link to embedded classes, with the linked class.
    private let links: [[(property: Int, target: Int)]]

    init(_ schema: Schema) {
        self.schema = schema
        links = schema.classes.map { objectClass in
            guard objectClass.kind == .embedded else { return [] }
            return objectClass.properties.indices.compactMap { property in
                guard objectClass.properties[property].type == .object,
                    let target = schema.index(named: objectClass.properties[property].linkTarget),
                    schema.classes[target].kind == .embedded
                else { return nil }
                return (property, target)
            }
        }
    }

    /// The classes on cycles, ascending: the members of strongly connected components, found in one walk (Tarjan 1972).
    func cyclic() -> [Int] {
        let count = links.count
        var order = [Int](repeating: -1, count: count), lowest = order
        var isOpen = [Bool](repeating: false, count: count)
        var open: [Int] = [], found: [Int] = [], next = 0
        for start in 0..<count where order[start] < 0 && !links[start].isEmpty {
            var way: [(at: Int, link: Int)] = []
            func enter(_ index: Int) {
                (order[index], lowest[index]) = (next, next)
                next += 1
                open.append(index)
                isOpen[index] = true
                way.append((index, 0))
            }
            enter(start)
            while let (at, link) = way.last {
                if link < links[at].count {
                    way[way.count - 1].link += 1
                    let target = links[at][link].target
                    if order[target] < 0 {
                        enter(target)
                    } else if isOpen[target] {
                        lowest[at] = min(lowest[at], order[target])
                    }
                    continue
                }
                way.removeLast()
                if let above = way.last?.at { lowest[above] = min(lowest[above], lowest[at]) }
                guard lowest[at] == order[at] else { continue }
                let place = open.lastIndex(of: at) ?? 0
                let component = open[place...]
                for member in component { isOpen[member] = false }
                if component.count > 1 || links[at].contains(where: { $0.target == at }) { found += component }
                open.removeSubrange(place...)
            }
        }
        return found.sorted()
    }

    /// The first path back to a class, depth first, as the names of its properties.
    func way(backTo start: Int, _ steps: inout Int) -> String? {
        var seen = Swift.Set<Int>(), way = [(at: start, link: 0)]
        while let (at, link) = way.last {
            steps += 1
            guard link < links[at].count else {
                way.removeLast()
                continue
            }
            way[way.count - 1].link += 1
            let target = links[at][link].target
            if target == start {
                let names = way.map { schema.classes[$0.at].properties[links[$0.at][$0.link - 1].property].name.text }
                return ([schema.classes[start].name.text] + names).joined(separator: ".")
            }
            if seen.insert(target).inserted { way.append((target, 0)) }
        }
        return nil
    }
}
