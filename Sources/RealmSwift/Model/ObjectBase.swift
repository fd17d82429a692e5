internal import CoreEngine

/// The common base class of `Object` and `EmbeddedObject`. An instance is unmanaged and holds its own values, or
/// managed and shows a row of a Realm, or a stand-in that records which properties a key path reads.
open class ObjectBase {
    static var managed: UInt8 { 1 }
    @usableFromInline static var unmanaged: UInt8 { 0 }
    static var recording: UInt8 { 2 }

    /// The state of the instance: unmanaged, managed or recording. Property accessors are inlined into the program;
    /// they test this field first and read no other.
    @exclusivity(unchecked)
    @usableFromInline final var _rlmState: UInt8 = 0

    /// The keeper of the Realm, which stays open while its objects live; nil unless managed. It is manually retained,
    /// like `companion`: a nil field then costs nothing when an object is made and released, and these steps take half
    /// the time of a loop over objects.
    @exclusivity(unchecked)
    private final var keeper: Unmanaged<RealmKeeper>?
    final var core: RealmCore? { keeper?._withUnsafeGuaranteedRef { $0.core } }

    /// The engine's Realm. It is not retained.
    @exclusivity(unchecked)
    private final var engine: Unmanaged<EngineRealm>?

    /// The class in that Realm, which keeps it alive.
    @exclusivity(unchecked)
    private final var ofClass: Unmanaged<ManagedClass>?
    final var managed: ManagedClass? { ofClass?.takeUnretainedValue() }

    /// The key of the row.
    @exclusivity(unchecked)
    private final var row: Int64 = -1

    /// For managed objects, the write transaction that made the row, while that transaction is open. For stand-ins, the
    /// recorder.
    @exclusivity(unchecked)
    private final var companion: Unmanaged<AnyObject>?
    final var named: TrackedKey { TrackedKey(ObjKey(row), companion?.takeUnretainedValue() as? Creation) }

    /// The key for the engine; null if the creation of the object was rolled back.
    @inline(__always) private final var key: ObjKey { companion == nil ? ObjKey(row) : named.key }

    final var recorder: _Recording? {
        get { companion?.takeUnretainedValue() as? _Recording }
        set { accompany(newValue) }
    }

    /// The class of an object without a model. Its Realm keeps it alive.
    final unowned(unsafe) var dynamicClass: ClassInfo?

    public required init() {}

    deinit {
        keeper?.release()
        companion?.release()
        if _rlmState == Self.unmanaged { LettingGo.links(of: self) }
    }

    private final func accompany(_ other: AnyObject?) {
        let old = companion
        companion = other.map { .passRetained($0) }
        old?.release()
    }

    /// The description of the object's class.
    final var info: ClassInfo { dynamicClass ?? ClassInfo.of(type(of: self)) }
    var isManaged: Bool { _rlmState == Self.managed }

    // MARK: For models

    /// Returns the name of the class in files: the name of the Swift class without its module and enclosing types.
    open class func className() -> String { ClassInfo.name(of: self) }

    /// Returns whether the class is part of Realms whose configuration lists no classes.
    open class func shouldIncludeInDefaultSchema() -> Bool { true }

    /// Returns the names in the file of properties that have a different name there.
    open class func propertiesMapping() -> [String: String] { [:] }

    /// Returns the name of the primary key. An alternative to `@Persisted(primaryKey: true)`.
    open class func primaryKey() -> String? { nil }

    /// Returns the names of the indexed properties. An alternative to `@Persisted(indexed: true)`.
    open class func indexedProperties() -> [String] { [] }

    /// Returns the rules of the class, in addition to those of its property wrappers.
    open class func rules() -> [Rule] { [] }

    /// Returns the names of properties that are not stored. In a class that uses `@Persisted`, only properties with
    /// `@Persisted` are stored.
    open class func ignoredProperties() -> [String] { [] }

    /// Returns the schema of the class as the program declares it; nil for the base classes.
    public final class func sharedSchema() -> ObjectSchema? {
        self == ObjectBase.self || self == Object.self || self == EmbeddedObject.self || self == DynamicObject.self
            ? nil : ClassInfo.of(self).schema
    }

    // MARK: Realm and state

    /// The Realm that manages the object, or that managed it before it was deleted; nil for an unmanaged object.
    public final var realm: Realm? { managed.map { Realm($0.core) } }

    /// A Boolean value that indicates whether the object was deleted or its Realm was closed. It is always false for an
    /// unmanaged object.
    public final var isInvalidated: Bool {
        guard let managed else { return false }
        return managed.core.realm.isClosed || !managed.core.realm.isValid(managed.table, named.key)
    }

    /// The schema of the object's class.
    public final var objectSchema: ObjectSchema { managed?.schema ?? info.schema }

    /// A Boolean value that indicates whether the object is frozen. A frozen object shows one version and may be used
    /// on any thread.
    public final var isFrozen: Bool { managed?.core.realm.isFrozen ?? false }

    /// Returns whether both objects are the same object of the same file.
    public final func isSameObject(as other: ObjectBase?) -> Bool {
        guard let other else { return false }
        guard let mine = managed, let theirs = other.managed else { return self === other }
        return mine.core.isSame(as: theirs.core) && mine.table == theirs.table && named == other.named
    }

    // MARK: By name

    /// Accesses a property by its name. Collections are returned as `List`, `MutableSet` and `Map`; dates, numbers and
    /// strings as Swift types.
    public final subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    /// Returns the value of a property. An unknown name is misuse and ends the program.
    public final func value(forKey key: String) -> Any? {
        let found = property(key)
        return found.access.any(self, found).flatMap(unwrapped)
    }

    /// Returns the value at a key path through links, such as `best.name`.
    public final func value(forKeyPath keyPath: String) -> Any? {
        var at: Any? = self
        for name in keyPath.split(separator: ".") {
            guard let object = at as? ObjectBase else { return nil }
            at = object.value(forKey: String(name))
        }
        return at
    }

    public final func setValue(_ value: Any?, forKey key: String) {
        let found = property(key)
        if isManaged, found.isPrimary, let managed, managed.core.realm.isWriting, !managed.core.isMigrating {
            misuse("Primary key can't be changed after an object is inserted.")
        }
        if isManaged, found.isType {
            guard var text = value as? String else { misuse(found.mismatch(value, info.name)) }
            return text.withUTF8 { set(found.index, .string(UnsafeRawBufferPointer($0))) }
        }
        guard found.access.setAny(self, found, value as Any) else { misuse(found.mismatch(value, info.name)) }
    }

    /// Sets the value at a key path through links, such as `best.name`.
    public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
        let names = keyPath.split(separator: ".").map(String.init)
        guard let last = names.last else { return }
        let owner =
            names.count == 1 ? self : self.value(forKeyPath: names.dropLast().joined(separator: ".")) as? ObjectBase
        owner?.setValue(value, forKey: last)
    }

    public final func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value, forKey: key) }
    }

    private func property(_ name: String) -> PropertyInfo {
        guard let property = info.property(name) else {
            misuse("Invalid property name '\(name)' for class '\(info.name)'.")
        }
        return property
    }

    open var description: String { text(depth: 0) }
}

extension ObjectBase: Hashable, CustomStringConvertible {
    /// Returns whether two objects are equal. Managed objects with a primary key and frozen objects are equal if they
    /// show the same row. Other objects are equal if they are the same instance.
    public static func == (a: ObjectBase, b: ObjectBase) -> Bool {
        if a === b { return true }
        guard a.isIdentifiedByRow, b.isIdentifiedByRow else { return false }
        return a.isSameObject(as: b)
    }

    public func hash(into hasher: inout Hasher) {
        if isIdentifiedByRow { hashRow(into: &hasher) } else { hasher.combine(ObjectIdentifier(self)) }
    }

    /// Hashes the row, with the same result for all instances of the row. For an unmanaged object it hashes the
    /// instance.
    final func hashRow(into hasher: inout Hasher) {
        guard let managed else { return hasher.combine(ObjectIdentifier(self)) }
        hasher.combine(managed.table)
        hasher.combine(named)
    }

    private var isIdentifiedByRow: Bool {
        guard let managed else { return false }
        return managed.info.primaryKey != nil || managed.core.realm.isFrozen
    }

    /// Returns the description in Realm's format: one property per line, with links and collections indented.
    final func text(depth: Int) -> String {
        if isInvalidated { return "[invalid object]" }
        if depth > 5 { return "<Maximum depth exceeded>" }
        let blanks = String(repeating: "\t", count: depth + 1)
        var lines = ["\(info.name) {"]
        for property in info.properties where !property.shape.isComputed {
            lines.append(
                "\(blanks)\(property.name) = \(describe(property.access.any(self, property).flatMap(unwrapped), depth + 1));"
            )
        }
        lines.append(String(repeating: "\t", count: depth) + "}")
        return lines.joined(separator: "\n")
    }
}

/// Returns the text of one value in the description of an object.
func describe(_ value: Any?, _ depth: Int) -> String {
    switch value {
    case nil: "(null)"
    case let object as ObjectBase: object.text(depth: depth)
    case let collection as any AnyCollectionText: collection.text(depth: depth)
    case let value?: "\(value)"
    }
}

/// Returns the description of a collection in Realm's format: its type, its address, and a line for each element.
func collectionText(_ type: String, _ object: AnyObject?, _ lines: [String], _ depth: Int) -> String {
    let address = String(object.map { UInt(bitPattern: ObjectIdentifier($0)) } ?? 0, radix: 16)
    let blanks = String(repeating: "\t", count: depth)
    return "\(type) <0x\(address)> (\n" + (lines.isEmpty ? blanks : lines.joined(separator: ",\n")) + "\n\(blanks))"
}

/// Collections that print themselves inside the description of an object.
protocol AnyCollectionText { func text(depth: Int) -> String }

extension _PropertyShape { var isComputed: Bool { type == .linkingObjects } }

// MARK: Stored values

/// The functions that property accessors call for managed objects. Each makes one call to the engine, through its entry
/// point.
extension ObjectBase {
    final func propertyText(_ index: Int16) -> String { "\(info.name).\(info.properties[Int(index)].name)" }

    final func column(_ index: Int16) -> ColKey { managed?.columns[Int(index)] ?? .null }

    /// Reads a value of a type without bytes.
    @inline(__always) private final func mixed(_ index: Int16) -> Mixed {
        reading { (realm, table, columns) throws(EngineError) in try realm.read(table, key, columns[Int(index)]) }
    }

    @usableFromInline final func integer(_ index: Int16) -> Int64 {
        let value = reading { (realm, table, columns) throws(EngineError) in
            try realm.readInteger(table, key, columns[Int(index)])
        }
        guard let value else {
            verifyIsMissing("integer", index)
            return 0
        }
        return value
    }

    @usableFromInline final func double(_ index: Int16) -> Double {
        let value = reading { (realm, table, columns) throws(EngineError) in
            try realm.readDouble(table, key, columns[Int(index)])
        }
        guard let value else {
            verifyIsMissing("Double", index)
            return 0
        }
        return value
    }

    @usableFromInline final func bool(_ index: Int16) -> Bool {
        guard case .bool(let value) = mixed(index) else {
            verifyIsMissing("Bool", index)
            return false
        }
        return value
    }

    /// Called for a property without a value of its type. The properties of a subclass that shares its class of the file
    /// may be null there: another program did not set them. Anything else is misuse.
    @inline(never) private func verifyIsMissing(_ type: String, _ index: Int16) {
        guard mayMiss(index), case .null = mixed(index) else {
            misuse("'\(propertyText(index))' holds no \(type)")
        }
    }

    /// Whether the file may have no value for a property that always has one in the program.
    final func mayMiss(_ index: Int16) -> Bool {
        guard let membership = managed?.info.membership, membership.above != nil else { return false }
        return ClassInfo.of(membership.base).property(info.properties[Int(index)].name) == nil
    }

    /// Lends the engine's Realm and the keys of the class to `body`, without reference counting.
    @inline(__always) private func reading<R>(
        _ body: (EngineRealm, TableKey, UnsafePointer<ColKey>) throws(EngineError) -> R
    ) -> R {
        guard let realm = engine, let managed = ofClass else { misuse("The object is not managed") }
        return realm._withUnsafeGuaranteedRef { realm in
            managed._withUnsafeGuaranteedRef { managed in
                do throws(EngineError) { return try body(realm, managed.table, managed.columns) } catch {
                    misuse(error)
                }
            }
        }
    }

    @usableFromInline final func string(_ index: Int16) -> String {
        let text = reading { (realm, table, columns) throws(EngineError) in
            try realm.readText(table, key, columns[Int(index)])
        }
        guard let text else {
            verifyIsMissing("text", index)
            return ""
        }
        return text
    }

    final func stored(_ index: Int16) -> _StoredValue {
        guard let managed else { misuse("The object is not managed") }
        let value = must { () throws(EngineError) in
            try managed.core.realm.readOwned(managed.table, named.key, managed.columns[Int(index)])
        }
        switch value {
        case .list, .dictionary:
            return _StoredValue(
                value, managed.core, CollectionPath(table: managed.table, owner: named, column: column(index)))
        default: return _StoredValue(value, managed.core)
        }
    }

    final func place(_ index: Int16) -> _Place {
        guard let managed else { misuse("The object is not managed") }
        if managed.primaryKey == index { verifyKeyMayChange() }
        if managed.typeProperty == index, let membership = managed.info.membership { misuse(membership.stays) }
        return _Place(managed.core, .property(managed.table, named, column(index)))
    }

    /// Stores a value whose bytes are valid only during the call.
    final func set(_ index: Int16, _ value: Mixed) {
        let isFixed = ofClass?._withUnsafeGuaranteedRef { $0.primaryKey == index || $0.typeProperty == index }
        if isFixed ?? false { verifyMayChange(index, value) }
        reading { (realm, table, columns) throws(EngineError) in
            do throws(EngineError) { try realm.write(table, key, columns[Int(index)], value) } catch {
                guard let core else { throw error }
                try realm.write(table, key, columns[Int(index)], try core.fail(error, storing: value))
            }
        }
    }

    /// Called for the primary key and the type property.
    private func verifyMayChange(_ index: Int16, _ value: Mixed) {
        guard let managed, managed.typeProperty == index, let types = managed.types else { return verifyKeyMayChange() }
        if case .string(let text) = value, text.elementsEqual(types.text(of: named.key).utf8) { return }
        if let membership = managed.info.membership { misuse(membership.stays) }
    }

    private func verifyKeyMayChange() {
        guard let core, core.realm.isWriting, !core.isMigrating else { return }
        misuse("Primary key can't be changed after an object is inserted.")
    }

    final func recording(_ index: Int16) -> _Recording {
        guard let recorder else { misuse("The object is no stand-in") }
        return recorder.reading(info.properties[Int(index)].name, info)
    }

    /// Makes an instance that held its own values show a row.
    final func bind(_ managed: ManagedClass, _ named: TrackedKey) {
        let base = UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque())
        for property in managed.info.properties { property.access.bind(base + property.offset, property.index) }
        let keeper = RealmKeeper(managed.core)
        withExtendedLifetime(keeper) { show(managed, named, .passUnretained(keeper)) }
    }

    /// As `bind`, for a class of which all properties are in a plan.
    @inline(__always) final func bind(_ managed: ManagedClass, _ named: TrackedKey, _ plan: DirectPlan) {
        let base = UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque())
        for property in plan.properties { property.clear(base) }
        let keeper = RealmKeeper(managed.core)
        withExtendedLifetime(keeper) { show(managed, named, .passUnretained(keeper)) }
    }

    /// Makes a new instance show a row. Only the numbers of its wrappers are set. The function does not read their
    /// types, because that would be the most expensive part of making an object.
    ///
    /// - Parameter keeper: Lent by the caller. The object takes the only counted reference.
    @inline(__always) final func show(_ managed: ManagedClass, _ named: TrackedKey, _ keeper: Unmanaged<RealmKeeper>) {
        if managed.info.isDynamic {
            dynamicClass = managed.info
        } else {
            let base = UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque())
            managed.info.number(base)
        }
        let before = self.keeper
        self.keeper = keeper.retain()
        before?.release()
        engine = managed.engine
        ofClass = .passUnretained(managed)
        row = named.made.raw
        if let creation = named.creation { accompany(creation) }
        _rlmState = Self.managed
        if managed.info.isPlain { for property in managed.info.properties { property.access.attach(self, property) } }
    }

    /// Makes an instance show another row of its class. The instance must have no other references.
    ///
    /// - Returns: false if a new instance must be made instead. This is the case in a write transaction, where objects
    ///   know the transaction that made their rows.
    @inline(__always) final func showInstead(_ key: ObjKey) -> Bool {
        guard companion == nil, let engine, !engine._withUnsafeGuaranteedRef({ $0.isWriting }) else { return false }
        row = key.raw
        return true
    }

    /// Returns an object without properties that shows the same row.
    final func shadow() -> ObjectBase {
        let other = ObjectBase()
        (other.keeper, other.engine, other.ofClass, other.row) = (keeper?.retain(), engine, ofClass, row)
        other.accompany(companion?.takeUnretainedValue())
        other.dynamicClass = managed?.info
        other._rlmState = Self.managed
        return other
    }
}
