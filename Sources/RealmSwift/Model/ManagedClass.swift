internal import CoreEngine

/// A class of a Realm, with its keys, which are looked up once.
///
/// Thread rule: that of the Realm. Keys of classes and properties never change while a Realm is open: the engine
/// refuses a schema change that would remove them, and the Realm stays at its version. Sendable: the fields are
/// immutable.
final class ManagedClass: @unchecked Sendable {
    /// The owner of this object.
    unowned(unsafe) let core: RealmCore
    let engine: Unmanaged<EngineRealm>
    let info: ClassInfo
    let table: TableKey

    /// Keys in the order of the class's properties; null for linking objects. The count is that of the properties.
    let columns: UnsafePointer<ColKey>

    /// The index of the primary key; −1 if the class has none.
    let primaryKey: Int16

    /// The index of the property with the type of each object; −1 if the class has none.
    let typeProperty: Int16

    /// The types of the objects; nil if the class shares its class of the file with no other class.
    let types: ManagedTypes?

    /// `types`, if the program has subclasses of this class: then an object that is read may be of a subclass.
    let subclasses: ManagedTypes?

    /// The class as stored in the file, including properties that the model does not name. If classes share it, only
    /// the properties of this one.
    let schema: ObjectSchema

    init(_ core: RealmCore, _ info: ClassInfo, _ found: EngineObjectSchema, _ types: ManagedTypes? = nil) {
        self.core = core
        self.types = types
        subclasses = types.flatMap { $0.hasSubclasses ? $0 : nil }
        typeProperty = info.properties.first(where: \.isType)?.index ?? -1
        engine = .passUnretained(core.realm)
        self.info = info
        table = found.key
        let keys = UnsafeMutablePointer<ColKey>.allocate(capacity: max(info.properties.count, 1))
        for (i, property) in info.properties.enumerated() {
            (keys + i).initialize(to: found.properties.first { $0.name == Name(property.column) }?.key ?? .null)
        }
        columns = UnsafePointer(keys)
        primaryKey = info.primaryKey.map { Int16($0) } ?? -1
        var own = found
        if types != nil {
            let columns = Set(info.properties.map { Name($0.column) })
            own.properties = found.properties.filter { columns.contains($0.name) }
        }
        schema = ObjectSchema(own, info.type, names: info)
    }

    deinit { columns.deallocate() }

    /// Returns an instance for a row.
    func object(_ key: ObjKey) -> ObjectBase {
        let keeper = RealmKeeper(core)
        return withExtendedLifetime(keeper) { object(key, .passUnretained(keeper)) }
    }

    func object(_ named: TrackedKey) -> ObjectBase {
        let keeper = RealmKeeper(core)
        return withExtendedLifetime(keeper) { object(named, .passUnretained(keeper)) }
    }

    /// Returns an instance for a row, with a shared keeper. The caller lends the keeper.
    @inline(__always) func object(_ key: ObjKey, _ keeper: Unmanaged<RealmKeeper>) -> ObjectBase {
        // Outside of a write transaction no object is newer than its handle.
        let isWriting = engine._withUnsafeGuaranteedRef { $0.isWriting }
        return object(TrackedKey(key, isWriting ? core.creation(table, key) : nil), keeper)
    }

    @inline(__always) private func object(_ named: TrackedKey, _ keeper: Unmanaged<RealmKeeper>) -> ObjectBase {
        if let subclasses, let other = subclasses.subclass(of: named.key) { return other.instance(named, keeper) }
        return instance(named, keeper)
    }

    @inline(__always) private func instance(_ named: TrackedKey, _ keeper: Unmanaged<RealmKeeper>) -> ObjectBase {
        let object = info.type.init()
        object.show(self, named, keeper)
        return object
    }

    // MARK: Types

    /// Whether an object in the class of the file is of this class of the program, or of one of its subclasses.
    func holds(_ key: ObjKey) -> Bool { types?.holds(key) ?? true }

    /// Returns the instance for a row that was found by its values; nil if its object is of another class.
    func element<Element: ObjectBase>(_ key: ObjKey?, _ type: Element.Type) -> Element? {
        guard let key, holds(key) else { return nil }
        return unsafeDowncast(object(key), to: type)
    }

    /// Returns the rows whose objects are of this class or of a subclass. Called inside the engine's entry point.
    func narrowed(_ found: ResultSet) throws(EngineError) -> ResultSet { try types?.narrowed(found) ?? found }
}
