import CoreEngine
import Foundation

/// What the tests use of the untyped Objective-C interface: a file with a schema of their own.

final class RLMProperty {
    let property: CoreEngine.Property
    var columnName: String?

    init(
        name: String, type: CoreEngine.PropertyType, objectClassName: String?, linkOriginPropertyName: String?,
        indexed: Bool, optional: Bool
    ) {
        property = CoreEngine.Property(
            Name(name), type, nullable: optional, target: Name(objectClassName ?? ""),
            origin: Name(linkOriginPropertyName ?? ""), indexed: indexed)
    }

    var named: CoreEngine.Property {
        columnName.map { CoreEngine.Property(Name($0), property.type, nullable: property.isNullable) } ?? property
    }
}

typealias RLMPropertyType = CoreEngine.PropertyType

final class RLMSchema {
    let schema: CoreEngine.Schema

    init(_ schema: CoreEngine.Schema) { self.schema = schema }

    func schema(forClassName name: String) -> CoreEngine.ObjectSchema? { schema[Name(name)] }
}

final class RLMRealm {
    let realm: CoreEngine.Realm

    init(_ url: URL, _ schema: CoreEngine.Schema?) {
        var configuration = RealmConfiguration(path: url.path)
        configuration.schema = schema
        if schema != nil { configuration.schemaVersion = 0 }
        realm = try! CoreEngine.Realm(configuration)
    }

    var schema: RLMSchema { RLMSchema(realm.schema) }

    func transaction(_ body: () -> Void) throws { try realm.write(body) }

    func createObject(_ name: String, withValue values: [Any]) {
        let object = try! realm.create(Name(name))
        for (property, value) in zip(realm.schema[Name(name)]!.properties, values) {
            if let value = value as? Int { try! object.set(property.name, .int(Int64(value))) }
            if let value = value as? String { try! object.set(property.name, .string(value)) }
        }
    }
}

func realmWithSingleClassProperties(_ fileURL: URL, className: String, properties: [RLMProperty]) -> RLMRealm {
    RLMRealm(fileURL, Schema([ObjectSchema(Name(className), properties: properties.map(\.named))]))
}

func dynamicRealm(_ fileURL: URL) -> RLMRealm { RLMRealm(fileURL, nil) }
