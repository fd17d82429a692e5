internal import CoreEngine

/// An object in a migration.
public typealias MigrationObject = DynamicObject
/// A block that is called for each object of a class, with its state before and after the schema change. `oldObject` is
/// nil if the class did not exist before. `newObject` is nil if the class does not exist any more.
public typealias MigrationObjectEnumerateBlock = (_ oldObject: MigrationObject?, _ newObject: MigrationObject?) -> Void

/// The argument of a migration block, which gives access to the file before and after the schema change. The migration
/// runs in one write transaction.
///
/// An error in any call fails the whole migration: opening the Realm throws the error, and the file is unchanged.
public struct Migration {
    private let old: RealmCore
    private let new: RealmCore

    private final class Failure { var first: EngineError? }
    private let failure = Failure()

    init(_ old: EngineRealm, _ new: EngineRealm, _ configuration: Realm.Configuration) {
        self.old = RealmCore(old, configuration, isMigrating: true)
        self.new = RealmCore(new, configuration, isMigrating: true)
    }

    /// Throws the first error that occurred in the block.
    func finish() throws { if let first = failure.first ?? new.takeFailure() { throw first } }

    private func trying<R>(_ body: () throws(EngineError) -> R) -> R? {
        do throws(EngineError) { return try body() } catch {
            if failure.first == nil { failure.first = error }
            return nil
        }
    }

    /// The schema before the migration.
    public var oldSchema: Schema { Schema(old.realm.schema, old) }

    /// The schema of the program.
    public var newSchema: Schema { Schema(new.realm.schema, new) }

    /// Calls `block` for each object of a class that existed before and still exists. If the class was removed, `block`
    /// gets its old objects; if the class is new, its new objects.
    public func enumerateObjects(ofType typeName: String, _ block: MigrationObjectEnumerateBlock) {
        let name = Name(typeName)
        let before = old.realm.schema[name].map(\.key), after = new.realm.schema[name].map(\.key)
        guard let any = before ?? after, !any.isNull else { return }
        let core = before == nil ? new : old
        let keys = trying { () throws(EngineError) in
            try core.realm.inside { () throws(EngineError) in try ResultSet(core.realm, .table(any)).keys() }
        }
        for key in keys ?? [] {
            let was = before.flatMap { old.realm.isValid($0, key) ? old.dynamic($0, key) as? DynamicObject : nil }
            let becomes = after.flatMap { new.realm.isValid($0, key) ? new.dynamic($0, key) as? DynamicObject : nil }
            // Objects that the block deleted meanwhile are skipped.
            guard after == nil ? was != nil : becomes != nil else { continue }
            block(was, becomes)
        }
    }

    /// Creates an object of a class.
    @discardableResult
    public func create(_ typeName: String, value: Any = [String: Any]()) -> MigrationObject {
        let managed = new.dynamicClass(named: typeName)
        let made = must { () throws(EngineError) in try new.create(managed, value, Addition(.error, isCopying: true)) }
        return unsafeDowncast(made, to: DynamicObject.self)
    }

    /// Deletes an object.
    public func delete(_ object: MigrationObject) { Realm(new).delete(object) }

    /// Deletes all objects of a class. If the program does not have the class any more, the class is deleted too.
    ///
    /// - Returns: true if the class existed.
    @discardableResult
    public func deleteData(forType typeName: String) -> Bool {
        if new.models[Name(typeName)] != nil {
            guard let table = new.realm.schema[Name(typeName)]?.key, !table.isNull else { return false }
            return trying { () throws(EngineError) in
                try new.realm.inside { () throws(EngineError) in try ResultSet(new.realm, .table(table)).deleteAll() }
            } != nil
        }
        return trying { () throws(EngineError) in try new.realm.removeClass(Name(typeName)) } ?? false
    }

    /// Renames a property in the file. Its values are kept.
    public func renameProperty(onType typeName: String, from oldName: String, to newName: String) {
        _ = trying { () throws(EngineError) in
            try new.realm.renameProperty(Name(typeName), from: Name(oldName), to: Name(newName))
        }
    }
}
