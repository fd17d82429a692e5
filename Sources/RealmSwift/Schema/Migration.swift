internal import CoreEngine

/// An object in a migration.
public typealias MigrationObject = DynamicObject
/// Called for each object of a class with what it was and what it is; nil where the class was not there, or is no more.
public typealias MigrationObjectEnumerateBlock = (_ oldObject: MigrationObject?, _ newObject: MigrationObject?) -> Void

/// What a migration block works on: the file as it was, and as it becomes. All happens in one write transaction.
///
/// What goes wrong in a call fails the whole migration: opening throws it, and the file stays as it was.
public struct Migration {
    private let old: RealmCore
    private let new: RealmCore

    private final class Failure { var first: EngineError? }
    private let failure = Failure()

    init(_ old: EngineRealm, _ new: EngineRealm, _ configuration: Realm.Configuration) {
        self.old = RealmCore(old, configuration, isMigrating: true)
        self.new = RealmCore(new, configuration, isMigrating: true)
    }

    /// Throws what went wrong in the block.
    func finish() throws { if let first = failure.first ?? new.takeFailure() { throw first } }

    private func trying<R>(_ body: () throws(EngineError) -> R) -> R? {
        do throws(EngineError) { return try body() } catch {
            if failure.first == nil { failure.first = error }
            return nil
        }
    }

    /// The classes before the migration.
    public var oldSchema: Schema { Schema(old.realm.schema, old) }

    /// The classes that the program has now.
    public var newSchema: Schema { Schema(new.realm.schema, new) }

    /// Goes over the objects that a class had and still has; where it was not there before, over its new ones.
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
            // What was deleted on the way is passed over.
            guard after == nil ? was != nil : becomes != nil else { continue }
            block(was, becomes)
        }
    }

    /// A new object of a class.
    @discardableResult
    public func create(_ typeName: String, value: Any = [String: Any]()) -> MigrationObject {
        let managed = new.dynamicClass(named: typeName)
        let made = must { () throws(EngineError) in try new.create(managed, value, Addition(.error, isCopying: true)) }
        return unsafeDowncast(made, to: DynamicObject.self)
    }

    /// Deletes an object.
    public func delete(_ object: MigrationObject) { Realm(new).delete(object) }

    /// Deletes all objects of a class, and the class where the program does not have it any more.
    ///
    /// - Returns: whether there was one.
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

    /// Gives a property of the file a new name and keeps its values.
    public func renameProperty(onType typeName: String, from oldName: String, to newName: String) {
        _ = trying { () throws(EngineError) in
            try new.realm.renameProperty(Name(typeName), from: Name(oldName), to: Name(newName))
        }
    }
}
