internal import CoreEngine
import Foundation

extension Realm {
    /// Returns the object with these values of a unique rule; nil if no object has them. Inside a write transaction the
    /// changes so far count, too.
    ///
    /// - Parameter values: The values by the names of the properties, in any order.
    /// - Throws: An error if the class has no unique rule for these properties.
    public func object<Element: Object>(
        ofType type: Element.Type, forUnique values: KeyValuePairs<String, Any?>
    ) throws -> Element? {
        try object(ofType: type, values.map { ($0.key, $0.value) })
    }

    /// Returns the object with this primary key of several properties; nil if no object has it. Inside a write
    /// transaction the changes so far count, too.
    ///
    /// - Parameter keys: The values, in the order of the rule `.primaryKey`.
    /// - Throws: An error if the class has no such rule.
    public func object<Element: Object>(
        ofType type: Element.Type, forPrimaryKeys keys: Any?...
    ) throws -> Element? {
        var names: [String] = []
        for rule in type.allRules {
            guard case .unique(let properties, Rule.primaryKeyName, _, _) = rule.kind else { continue }
            names = properties
        }
        guard names.count == keys.count else {
            misuse("The primary key of '\(type)' has \(names.count) properties, and \(keys.count) values were given.")
        }
        return try object(ofType: type, Array(zip(names, keys)))
    }

    private func object<Element: Object>(ofType type: Element.Type, _ values: [(String, Any?)]) throws -> Element? {
        let managed = core.managed(type)
        do throws(EngineError) {
            var names: [Name] = [], wanted: [EngineValue] = []
            for (name, value) in values {
                guard let property = managed.info.property(name) else {
                    misuse("Invalid property name '\(name)' for class '\(managed.info.name)'.")
                }
                names.append(Name(property.column))
                wanted.append(try core.value(value, for: property, managed.info))
            }
            let found = try wanted.withMixed { (mixed) throws(EngineError) in
                try engine.inside { () throws(EngineError) in
                    try engine.find(managed.table, unique: names, mixed)
                }
            }
            return managed.element(found, Element.self)
        } catch { throw Realm.Error.thrown(error) }
    }

    /// Sets a property if the object still has a certain revision: nobody changed it since the program read it. The
    /// class has the rule `.revision`.
    ///
    /// - Returns: Whether it had, and the property was set.
    /// - Throws: An error if the class has no property with the rule `.revision`.
    public func set<Element: Object>(
        _ object: Element, _ name: String, to value: Any?, ifRevision revision: Int
    ) throws -> Bool {
        guard let managed = object.managed, managed.core === core else {
            misuse("Only an object of this Realm has a revision.")
        }
        guard let property = managed.info.property(name) else {
            misuse("Invalid property name '\(name)' for class '\(managed.info.name)'.")
        }
        do throws(EngineError) {
            return try core.value(value, for: property, managed.info).withMixed { (mixed) throws(EngineError) in
                try engine.inside { () throws(EngineError) in
                    try engine.set(
                        managed.table, object.named.key, managed.columns[Int(property.index)], mixed,
                        ifRevision: Int64(revision))
                }
            }
        } catch { throw Realm.Error.thrown(error) }
    }
}

extension Object {
    /// The value of a computed property, which the rules of the class define.
    ///
    /// - Throws: An error if the class of the file has no such property, or the object is not valid.
    public func computed(_ name: String) throws -> AnyRealmValue {
        guard let managed else { misuse("Only an object of a Realm has computed properties.") }
        do throws(EngineError) {
            let engine = managed.core.realm
            let value = try engine.inside { () throws(EngineError) in
                try engine.computedValue(managed.table, named.key, Name(name))
            }
            return AnyRealmValue._rlmLoad(_StoredValue(value, managed.core)) ?? .none
        } catch { throw Realm.Error.thrown(error) }
    }
}

extension [EngineValue] {
    /// Calls `body` with the values. Their bytes are valid during the call.
    fileprivate func withMixed<R>(_ body: ([Mixed]) throws(EngineError) -> R) throws(EngineError) -> R {
        var taken: [Mixed] = []
        return try take(0, &taken, body)
    }

    private func take<R>(_ index: Int, _ taken: inout [Mixed], _ body: ([Mixed]) throws(EngineError) -> R)
        throws(EngineError) -> R
    {
        guard index < count else { return try body(taken) }
        var copy = taken
        return try self[index].withMixed { (mixed) throws(EngineError) in
            copy.append(mixed)
            return try take(index + 1, &copy, body)
        }
    }
}
