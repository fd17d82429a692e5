internal import CoreEngine

/// A class of a Realm: its keys, looked up once.
///
/// Thread rule: that of the Realm. Keys of classes and properties never change while a Realm is open: a schema change that would take them away is
/// refused by the engine, and the Realm stays at its version.
/// Sendable: nothing changes.
final class ManagedClass: @unchecked Sendable {
    /// Which keeps this.
    unowned(unsafe) let core: RealmCore
    let info: ClassInfo
    let table: TableKey
    /// Keys in the order of the class's properties; null for linking objects.
    let columns: ContiguousArray<ColKey>
    /// Place of the primary key; −1 for none.
    let primaryKey: Int16
    /// The class as the file has it, with properties that the model does not name.
    let schema: ObjectSchema

    init(_ core: RealmCore, _ info: ClassInfo, _ found: EngineObjectSchema) {
        self.core = core
        self.info = info
        table = found.key
        columns = ContiguousArray(
            info.properties.map { p in found.properties.first { $0.name == Name(p.column) }?.key ?? .null })
        primaryKey = info.primaryKey.map { Int16($0) } ?? -1
        schema = ObjectSchema(found, info.type, names: info)
    }
    /// An instance for a row.
    @inline(__always) func object(_ key: ObjKey) -> ObjectBase { object(BornKey(key, core.birth(table, key))) }
    func object(_ named: BornKey) -> ObjectBase {
        let object = info.type.init()
        object.bind(self, named)
        return object
    }
}
