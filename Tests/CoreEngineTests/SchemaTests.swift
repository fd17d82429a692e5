// Schemas: what separates one from another, as a list of changes; and files that were brought from one to the other.
import Testing

@testable import CoreEngine

private let types: [PropertyType] = [
    .int, .bool, .string, .data, .mixed, .date, .float, .double, .decimal, .objectId, .uuid, .object,
]

/// A random schema that is sound: up to five classes.
private func randomSchema(_ random: inout Seeded) -> Schema {
    let names = (["A", "B", "C", "D", "é"] as [Name]).filter { _ in random.below(4) > 0 }
    var classes: [ObjectSchema] = []
    for name in names.isEmpty ? ["A"] : names {
        var properties: [Property] = []
        for (i, property) in (["a", "b", "c", "d", "e", "f", "g", "h"] as [Name]).enumerated() where random.below(3) > 0
        {
            let collection = random.below(3) == 0 ? [CollectionKind.list, .set, .dictionary][random.below(3)] : .none
            let type = types[random.below(types.count)]
            let isSingle = collection == .none
            switch type {
            case .object:
                let target = names.isEmpty ? "A" : names[random.below(names.count)]
                let isNullable = isSingle || collection == .dictionary
                properties.append(
                    Property(property, .object, nullable: isNullable, collection: collection, target: target))
            case .mixed:
                let isIndexed = isSingle && random.below(3) == 0
                properties.append(
                    Property(property, .mixed, nullable: true, collection: collection, indexed: isIndexed))
            case .int, .string, .objectId, .uuid:
                let isPrimary = i == 0 && isSingle
                let isText = type == .string && isSingle && !isPrimary && random.below(3) == 0
                let isIndexed = isSingle && !isText && random.below(3) == 0
                properties.append(
                    Property(
                        property, type, nullable: random.below(2) == 0, collection: collection, primary: isPrimary,
                        indexed: isIndexed,
                        fullText: isText))
            default: properties.append(Property(property, type, nullable: random.below(2) == 0, collection: collection))
            }
        }
        if properties.isEmpty { properties.append(Property("only", .int)) }
        classes.append(ObjectSchema(name, properties: properties))
    }
    return Schema(classes)
}

/// What the changes make of `file`: a model of the step from one schema to the other.
private func apply(_ changes: [SchemaChange], to file: Schema) -> Schema {
    var classes: [Name: ObjectSchema] = [:]
    for c in file.classes { classes[c.name] = c }
    func with(_ c: ObjectSchema, _ property: Name, _ body: (inout Property) -> Void) {
        guard var changed = classes[c.name], let i = changed.properties.firstIndex(where: { $0.name == property })
        else {
            Issue.record("no property \(property) in \(c.name)")
            return
        }
        body(&changed.properties[i])
        classes[c.name] = changed
    }
    for change in changes {
        switch change {
        case .addClass(let c):
            #expect(classes[c.name] == nil)
            classes[c.name] = ObjectSchema(name: c.name, kind: c.kind, primaryKey: "", persisted: [], computed: [])
        case .addInitialProperties(let c):
            #expect(classes[c.name]?.properties.isEmpty == true)
            classes[c.name]?.properties = c.properties
            classes[c.name]?.primaryKey = c.primaryKey
        case .removeProperty(let c, let p):
            with(c, p.name) { _ in }
            classes[c.name]?.properties.removeAll { $0.name == p.name }
        case .changeType(let c, let from, let to):
            with(c, from.name) {
                #expect($0 == from && from.name == to.name)
                $0 = to
            }
        case .makeNullable(let c, let p): with(c, p.name) { $0.isNullable = true }
        case .makeRequired(let c, let p): with(c, p.name) { $0.isNullable = false }
        case .addIndex(let c, let p, let fullText):
            with(c, p.name) { if fullText { $0.isFullTextIndexed = true } else { $0.isIndexed = true } }
        case .removeIndex(let c, let p, fullText: true): with(c, p.name) { $0.isFullTextIndexed = false }
        case .removeIndex(let c, let p, fullText: false):
            with(c, p.name) { ($0.isIndexed, $0.isPrimary) = (false, false) }
        case .addProperty(let c, let p), .addPropertyOfSubclass(let c, let p):
            #expect(classes[c.name]?.properties.contains { $0.name == p.name } == false)
            classes[c.name]?.properties.append(p)
        case .changePrimaryKey(let c, let from, let to):
            #expect(classes[c.name]?.primaryKey == from)
            classes[c.name]?.primaryKey = to
        case .changeKind(let c, let from, let to):
            #expect(classes[c.name]?.kind == from)
            classes[c.name]?.kind = to
        case .removeClass(let c): Issue.record("no schema asks for the removal of \(c.name)")
        }
    }
    return Schema(Array(classes.values))
}

/// The schema without what two schemas need not agree on: the order of properties, classes that were not asked for, and
/// that the primary key follows from the class.
private func normal(_ s: Schema, of wanted: Schema) -> [ObjectSchema] {
    s.classes.filter { wanted[$0.name] != nil }.map { c in
        var c = c
        c.properties = c.properties.sorted { $0.name < $1.name }.map { p in
            var p = p
            p.isPrimary = p.name == c.primaryKey
            return p
        }
        return c
    }
}

@Test(arguments: 1...60) func changesLeadFromOneSchemaToTheOther(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    for _ in 0..<30 {
        let a = randomSchema(&random), b = randomSchema(&random)
        try a.validate()
        #expect(SchemaChange.between(a, a).isEmpty)
        let changes = SchemaChange.between(a, b)
        #expect(normal(apply(changes, to: a), of: b) == normal(b, of: b))
        #expect(changes.isEmpty == (normal(a, of: b) == normal(b, of: b)))
        // From nothing, only additions: first the classes, then what they hold.
        let first = SchemaChange.between(Schema(), b)
        #expect(first.count == 2 * b.classes.count && first.allSatisfy(\.isClassAddition))
        #expect(normal(apply(first, to: Schema()), of: b) == normal(b, of: b))
        // Whether a step back is only one of indexes does not depend on the direction.
        let back = SchemaChange.between(b, a)
        let same = a.classes.map(\.name) == b.classes.map(\.name)
        if same { #expect(changes.allSatisfy(\.isIndexChange) == back.allSatisfy(\.isIndexChange)) }
        #expect(Set(changes.map { Name($0.text) }).count == changes.count)
    }
}

@Test(arguments: 1...8) func filesFollowTheirSchemas(seed: Int) throws {
    var random = Seeded(UInt64(seed) &+ 1000)
    let folder = try TemporaryFolder(), path = folder.file()
    for version in 1...UInt64(6) {
        let wanted = randomSchema(&random)
        let realm = try Realm(RealmConfiguration(path: path, schema: wanted, schemaVersion: version))
        #expect(realm.schemaVersion == version && normal(realm.schema, of: wanted) == normal(wanted, of: wanted))
        // One object of each class, so that there are values to convert, and no two with the same one that could become
        // the key.
        try realm.write {
            for c in realm.schema.classes where c.primaryKey.isEmpty {
                if try realm.objects(c.name).isEmpty { try realm.create(c.name) }
            }
        }
        realm.close()
        // What the file says of itself is what was asked for, and asks for no further change.
        let dynamic = try Realm(RealmConfiguration(path: path))
        #expect(SchemaChange.between(dynamic.schema, wanted).isEmpty)
        #expect(dynamic.schemaVersion == version)
        for c in wanted.classes where c.primaryKey.isEmpty { #expect(try dynamic.objects(c.name).count == 1) }
        dynamic.close()
        try checkFile(path)
    }
}
